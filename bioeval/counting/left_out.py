"""Effect of leaving each subject out of the gallery on the probes of the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bioeval.counting.identification import Searches
from bioeval.scores.blocks import RowBlock, blocks_of
from bioeval.scores.matrix import Scores

# Pairs of a probe and a subject before its best mate, at most, which decide the number of ranks.
MOST_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Effect of leaving each subject out; their numbers are in the order of their codes."""

    people: int
    #: integer (m,): subject of each probe, and of the nearest candidate of another subject; -1 for
    #: none.
    person: np.ndarray
    nearest: np.ndarray
    #: float64 (m,): distance of the nearest candidate of any further subject; NaN for none.
    second: np.ndarray
    #: int32 (k,): pairs of a probe and another subject whose absence changes its rank: the
    #: candidates closer than its best mate, exactly as close, and those of the latter before it in
    #: the gallery.
    probe: np.ndarray
    subject: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray
    ranks: int  # up to which rank the pairs are complete, under one policy for ties

    @classmethod
    def of(cls, searches: Searches, scores: Scores, ties: str, ranks: int | None = None) -> LeftOut:
        """Read all scores; `searches` has the facts of each probe.

        The people are those of probes and gallery. The effect is known up to `ranks`, by default as
        many as there is memory for.
        """
        unit, gallery = searches.rank_unit, scores.gallery_order
        largest = int(np.diff(gallery.starts).max()) if unit == "template" else 1
        if ranks is None:
            ranks = _ranks_within(searches, ties, largest, len(gallery.subjects))
        fusion = searches.fusion if unit == "subject" else None
        arrays = _count(blocks_of(scores, reported=False), fusion, ties, ranks)
        who, person = cls.subjects_of(scores), scores.codes.probe
        subject = np.append(np.searchsorted(who, gallery.subjects), -1).astype(np.int32)
        arrays["nearest"] = subject[arrays["nearest"]]
        arrays["subject"] = subject[arrays["subject"]]
        return cls(len(who), np.searchsorted(who, person), ranks=ranks, **arrays)

    @staticmethod
    def subjects_of(scores: Scores) -> np.ndarray:
        """Return the codes of the subjects of probes and gallery, in the order of their numbers."""
        return np.union1d(scores.codes.probe, scores.codes.gallery)


def _before_mate(
    ties: str, closer: np.ndarray, tied: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of candidates certainly before the best mate, and of those possibly."""
    least = {"pessimistic": tied, "stable": before}.get(ties, 0)
    return closer + least, closer + (tied if ties == "expected" else least)


def _ranks_within(searches: Searches, ties: str, largest: int, groups: int) -> int:
    """Return the rank up to which pairs of probes and subjects fit into memory.

    A subject has `largest` candidates at most, by which a probe's rank may improve.
    """
    mated = searches.mates > 0
    least, most = _before_mate(
        ties, searches.closer[mated], searches.tied[mated], searches.tied_before[mated]
    )
    best_ranks = np.maximum(least + 1 - largest, 1)
    order = np.argsort(best_ranks, kind="stable")
    beyond = np.flatnonzero(np.cumsum(np.minimum(most, groups - 1)[order]) > MOST_PAIRS)
    if len(beyond):
        return int(best_ranks[order][beyond[0]]) - 1
    return np.iinfo(np.int64).max


def _count(
    blocks: Iterable[RowBlock], fusion: str | None, ties: str, ranks: int
) -> dict[str, np.ndarray]:
    """Return the facts of the rows of some blocks, and of pairs of a row and a group."""
    names = ("nearest", "second", "probe", "subject", "closer", "tied", "before")
    parts = []
    for block in blocks:
        if fusion is not None:
            block = block.fused(fusion)
        values = block.impostors()
        closer, tied, before = _up_to_mates(block, values)
        nearest, second = _nearest_groups(values, block.starts)
        least, most = _before_mate(ties, closer, tied, before)
        # The best rank that a probe may have without the subject.
        rank = 1 + least.sum(axis=1, dtype=np.int64)[:, None] - least
        kept = np.nonzero((most > 0) & (rank <= ranks))
        probe, group = (block.low + kept[0]).astype(np.int32), kept[1].astype(np.int32)
        parts.append((nearest, second, probe, group, *(x[kept] for x in (closer, tied, before))))
    return {
        name: np.concatenate(x) for name, x in zip(names, zip(*parts, strict=True), strict=True)
    }


def _up_to_mates(block: RowBlock, values: np.ndarray) -> np.ndarray:
    """Return how many candidates of each group are closer than the best mate of each row.

    And how many are exactly as close, and those of the latter before it in the gallery: int32 (3,
    rows, groups).
    """
    best, first = _mates_of(block)
    row, column = np.nonzero(values <= best[:, None])
    groups = len(block.starts) - 1
    group = np.repeat(np.arange(groups), np.diff(block.starts))[column]
    tied = values[row, column] == best[row]
    place = np.broadcast_to(block.columns, values.shape)[row, column]
    counts = np.zeros((3, *best.shape, groups), dtype=np.int32)
    for count, some in zip(counts, (~tied, tied, tied & (place < first[row])), strict=True):
        np.add.at(count, (row[some], group[some]), 1)
    return counts


def _nearest_groups(values: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of the nearest candidate of each row, -1 for none.

    And the distance (float64) of the nearest of any further group, NaN for none.
    """
    least = np.fmin.reduceat(values, starts[:-1], axis=1).astype(np.float64)
    nearest = np.argmax(least == np.fmin.reduce(least, axis=1)[:, None], axis=1)
    rows = np.arange(len(least))
    there = ~np.isnan(least[rows, nearest])
    least[rows, nearest] = np.nan
    return np.where(there, nearest, -1), np.fmin.reduce(least, axis=1)


def _mates_of(block: RowBlock) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance of the best mate of each row, NaN for none, and its first place."""
    row, position = block.genuine()
    value, place = block.values[row, position], np.broadcast_to(block.columns, block.values.shape)
    best = np.full(len(block.values), np.nan, dtype=value.dtype)
    first = np.full(len(best), np.iinfo(np.int64).max)
    np.fmin.at(best, row, value)
    nearest = value == best[row]
    np.minimum.at(first, row[nearest], place[row, position][nearest])
    return best, first

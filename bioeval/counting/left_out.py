"""Effect of leaving each subject out of the gallery on the probes of the other subjects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.counting.identification import Searches
from bioeval.protocol.choices import Ties
from bioeval.scores.blocks import Mates
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import blocks_of

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
    #: int32 (k,): pairs of a probe and another subject whose absence changes its rank: candidates
    #: of the subject closer than the best mate, exactly as close, and tied candidates before the
    #: mate in the gallery.
    probe: np.ndarray
    subject: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray
    ranks: int  # up to which rank the pairs are complete, under one policy for ties

    @classmethod
    def from_searches(
        cls, searches: Searches, scores: Scores, ties: Ties, ranks: int | None = None
    ) -> LeftOut:
        """Read all scores; `searches` has the facts of each probe.

        The people are the subjects of probes and gallery. The effect is known up to
        `ranks`, by default as many as there is memory for.
        """
        unit = searches.rank_unit
        gallery = scores.gallery_order
        largest = int(np.diff(gallery.starts).max()) if unit == "template" else 1
        if ranks is None:
            ranks = _ranks_within(searches, ties, largest, len(gallery.subjects))
        fusion = searches.fusion if unit == "subject" else None
        arrays = _count(scores, fusion, ties, ranks)
        people = cls.subjects_of(scores)
        person = scores.codes.probe
        subject = np.append(np.searchsorted(people, gallery.subjects), -1).astype(np.int32)
        arrays["nearest"] = subject[arrays["nearest"]]
        arrays["subject"] = subject[arrays["subject"]]
        return cls(len(people), np.searchsorted(people, person), ranks=ranks, **arrays)

    @staticmethod
    def subjects_of(scores: Scores) -> np.ndarray:
        """Return the codes of the subjects of probes and gallery, in the order of their numbers."""
        return np.union1d(scores.codes.probe, scores.codes.gallery)


def _before_mate(
    ties: Ties, closer: np.ndarray, tied: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of candidates that are certainly, and possibly, before the best mate.

    The numbers differ by the tied candidates if `ties` is "expected", and are equal otherwise.
    """
    least = {"pessimistic": tied, "stable": before}.get(ties, 0)
    return closer + least, closer + (tied if ties == "expected" else least)


def _ranks_within(searches: Searches, ties: Ties, largest: int, groups: int) -> int:
    """Return the rank up to which pairs of probes and subjects fit into memory.

    A subject has `largest` candidates at most, by which a probe's rank may improve.
    """
    mated = searches.mates > 0
    certain, possible = _before_mate(
        ties, searches.closer[mated], searches.tied[mated], searches.tied_before[mated]
    )
    best_ranks = np.maximum(certain + 1 - largest, 1)
    order = np.argsort(best_ranks, kind="stable")
    beyond = np.flatnonzero(np.cumsum(np.minimum(possible, groups - 1)[order]) > MOST_PAIRS)
    if len(beyond):
        return int(best_ranks[order][beyond[0]]) - 1
    return np.iinfo(np.int64).max


def _count(scores: Scores, fusion: str | None, ties: Ties, ranks: int) -> dict[str, np.ndarray]:
    names = ("nearest", "second", "probe", "subject", "closer", "tied", "before")
    starts = scores.gallery_order.starts
    parts = []
    for read in blocks_of(scores, reported=False):
        row, column, distance = read.genuine()
        low = read.number
        number = len(read.probes)
        mates = Mates(row - low, column, distance, number, rejected=read.rejected)
        block = read.impostors()
        place = block.candidates[None]
        groups = starts
        if fusion is not None:
            place = _first_nearest(block.values, starts, block.candidates)
            block = block.by_person(fusion)
            groups = np.arange(len(starts))
        values = block.values
        probes = block.probes
        best = mates.fused(fusion or "best")
        closer, tied, before = _up_to_mates(values, place, groups, best, mates.place)
        nearest, second = _nearest_groups(values, groups)
        certain, possible = _before_mate(ties, closer, tied, before)
        # The best rank that a probe may have without the subject.
        rank = 1 + certain.sum(axis=1, dtype=np.int64)[:, None] - certain
        in_reach = np.nonzero((possible > 0) & (rank <= ranks))
        probe = probes[in_reach[0]].astype(np.int32)
        group = in_reach[1].astype(np.int32)
        parts.append(
            (nearest, second, probe, group, *(x[in_reach] for x in (closer, tied, before)))
        )
    return {
        name: np.concatenate(x) for name, x in zip(names, zip(*parts, strict=True), strict=True)
    }


def _up_to_mates(
    values: np.ndarray, place: np.ndarray, starts: np.ndarray, best: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """Return numbers of candidates of each group beside the best mate: int32 (3, rows, groups).

    Closer, exactly as close, and tied candidates before it in the gallery. The best mate is `first`
    in the gallery, the candidates at `place`.
    """
    row, column = np.nonzero(values <= best[:, None])
    groups = len(starts) - 1
    group = np.repeat(np.arange(groups), np.diff(starts))[column]
    tied = values[row, column] == best[row]
    place = np.broadcast_to(place, values.shape)[row, column]
    counts = np.zeros((3, *best.shape, groups), dtype=np.int32)
    for count, chosen in zip(counts, (~tied, tied, tied & (place < first[row])), strict=True):
        np.add.at(count, (row[chosen], group[chosen]), 1)
    return counts


def _first_nearest(values: np.ndarray, starts: np.ndarray, columns: np.ndarray) -> np.ndarray:
    least = np.fmin.reduceat(values, starts[:-1], axis=1)
    nearest = values == np.repeat(least, np.diff(starts), axis=1)
    beyond = np.iinfo(np.int64).max
    return np.minimum.reduceat(np.where(nearest, columns, beyond), starts[:-1], axis=1)


def _nearest_groups(values: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of the nearest candidate of each row, -1 for none.

    And the distance (float64) of the nearest of any further group, NaN for none.
    """
    least = np.fmin.reduceat(values, starts[:-1], axis=1).astype(np.float64)
    nearest = np.argmax(least == np.fmin.reduce(least, axis=1)[:, None], axis=1)
    rows = np.arange(len(least))
    has_candidate = ~np.isnan(least[rows, nearest])
    least[rows, nearest] = np.nan
    return np.where(has_candidate, nearest, -1), np.fmin.reduce(least, axis=1)

"""Jackknife over subjects: how leaving out a subject changes the searches of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bioeval.counting.searches import Searches
from bioeval.counting.ties import tied_ahead
from bioeval.protocol.fields import Ties
from bioeval.scores.blocks import Block, Mates
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import blocks_of

# A pair is a probe and a subject that has candidates before the probe's best mate. Ranks are listed
# from the first on while they have no more pairs than this.
MOST_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Effect of leaving each subject out; subjects are numbered in the order of their codes.

    Leaving out the subject of a probe's nearest candidate changes its impostor attempt. Leaving out
    a subject with candidates before the probe's best mate changes its rank: the k pairs of a probe
    and such a subject are in `probe` to `before`.
    """

    people: int
    person: np.ndarray  # integer (m,): subject of each probe
    nearest: np.ndarray  # int32 (m,): other subject with the nearest candidate; -1 for none
    second: np.ndarray  # float64 (m,): nearest distance of any further subject; NaN for none
    probe: np.ndarray  # int32 (k,)
    subject: np.ndarray  # int32 (k,)
    closer: np.ndarray  # int32 (k,): the subject's candidates closer than the best mate
    tied: np.ndarray  # int32 (k,): the subject's candidates exactly as close as the best mate
    before: np.ndarray  # int32 (k,): tied candidates before the best mate in the gallery
    ranks: int  # all pairs that change ranks up to this one are listed, under one policy for ties

    @classmethod
    def from_searches(
        cls,
        searches: Searches,
        scores: Scores,
        ties: Ties,
        ranks: int | None = None,
        units: np.ndarray | None = None,
    ) -> LeftOut:
        """Read all scores, whose `searches` are known.

        The people are the subjects of probes and gallery. With `units`, int64 (codes,), the
        subjects of a unit are left out together: a unit is then what is called a subject here, and
        what is counted as one person. `ranks` is the last rank whose changes
        are found; by default, as many as there is memory for.
        """
        rank_unit = searches.rank_unit
        gallery = scores.gallery_order
        person, subjects = scores.codes.probe, gallery.subjects
        people = cls.subjects_of(scores, units)
        if units is not None:
            person, subjects = units[person], units[subjects]
        present, unit = np.unique(subjects, return_inverse=True)
        sizes = np.diff(gallery.starts) if rank_unit == "template" else np.ones(len(unit))
        if ranks is None:
            largest = int(np.bincount(unit, sizes).max())
            ranks = _ranks_in_memory(searches, ties, largest, len(present))
        fusion = searches.fusion if rank_unit == "subject" else None
        effects = _effects(scores, fusion, ties, ranks, unit)
        # (units of the gallery + 1,): their numbers; at index -1 (no candidate), -1.
        subject = np.append(np.searchsorted(people, present), -1).astype(np.int32)
        effects = effects._replace(
            nearest=subject[effects.nearest], subject=subject[effects.subject]
        )
        number = np.searchsorted(people, person)
        if units is not None:
            # Without the unit of a probe, there is no search of the probe.
            is_other = effects.subject != number[effects.probe]
            of_pairs = {x: getattr(effects, x)[is_other] for x in _OF_PAIRS}
            effects = effects._replace(**of_pairs)
        return cls(len(people), number, *effects, ranks)

    @staticmethod
    def subjects_of(scores: Scores, units: np.ndarray | None = None) -> np.ndarray:
        """Return the codes of the subjects of probes and gallery, in the order of their numbers.

        With `units` (codes,), these are units.
        """
        subjects = np.union1d(scores.codes.probe, scores.codes.gallery)
        return subjects if units is None else np.unique(units[subjects])


def _before_mate(
    ties: Ties, closer: np.ndarray, tied: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many candidates are certainly, and possibly, before the best mate.

    The numbers differ by the tied candidates if `ties` is "expected", and are equal otherwise.
    """
    if ties == "expected":
        return closer, closer + tied
    ahead = closer + tied_ahead(ties, tied, before)
    return ahead, ahead


def _ranks_in_memory(searches: Searches, ties: Ties, largest: int, groups: int) -> int:
    """Return the rank up to which pairs of probes and subjects fit into memory.

    `groups` is the number of subjects in the gallery. Each has at most `largest` candidates, by
    which the rank of a probe improves at most without the subject.
    """
    mated = searches.mates > 0
    certain, possible = _before_mate(
        ties, searches.closer[mated], searches.tied[mated], searches.tied_before[mated]
    )
    # (mated probes,): the best rank without a subject, and the most pairs of a probe. Pairs are
    # added from the best rank on, until they are too many.
    best_ranks = np.maximum(certain + 1 - largest, 1)
    most_pairs = np.minimum(possible, groups - 1)
    order = np.argsort(best_ranks, kind="stable")
    too_many = np.flatnonzero(np.cumsum(most_pairs[order]) > MOST_PAIRS)
    if len(too_many):
        return int(best_ranks[order][too_many[0]]) - 1
    return np.iinfo(np.int64).max


class _Effects(NamedTuple):
    """Arrays of :class:`LeftOut`; subjects are indices into the gallery's subjects."""

    nearest: np.ndarray
    second: np.ndarray
    probe: np.ndarray
    subject: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    before: np.ndarray


#: The arrays of pairs of a probe and a subject.
_OF_PAIRS = ("probe", "subject", "closer", "tied", "before")


def _effects(
    scores: Scores, fusion: str | None, ties: Ties, ranks: int, unit: np.ndarray
) -> _Effects:
    """Return the effects of each unit; `unit` (subjects of the gallery,) has their numbers."""
    effects = []
    for block in blocks_of(scores, reported=False):
        nearest, second, counts = _count_block(block, scores.gallery_order.starts, fusion, unit)
        certain, possible = _before_mate(ties, *counts)
        # (probes, subjects): the best rank that the probe may have without the subject, for which
        # only candidates count that are certainly before the mate. A subject may change the rank
        # as soon as one of its candidates is possibly before the mate.
        rank = 1 + certain.sum(axis=1, dtype=np.int64)[:, None] - certain
        row, subject = np.nonzero((possible > 0) & (rank <= ranks))
        probe = block.probes[row].astype(np.int32)
        pairs = probe, subject.astype(np.int32), *counts[:, row, subject]
        effects.append(_Effects(nearest, second, *pairs))
    return _Effects(*map(np.concatenate, zip(*effects, strict=True)))


def _count_block(
    rows: Block, starts: np.ndarray, fusion: str | None, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each probe's nearest group and second distance, and counts as :func:`_up_to_mates`.

    A group is the templates of the subjects of a unit. The columns of a subject begin at `starts`
    (subjects + 1,), and its unit is in `unit` (subjects,).
    """
    row, column, distance = rows.genuine()
    mates = Mates(row - rows.order, column, distance, len(rows.probes), rejected=rows.rejected)
    block = rows.impostors()
    position = block.candidates[None]  # (1, columns): place of each candidate in the gallery
    groups = starts
    if fusion is not None:
        # The first of `columns` with each subject's nearest template, (rows, subjects).
        distance_of_subject = np.fmin.reduceat(block.values, starts[:-1], axis=1)
        is_nearest = block.values == np.repeat(distance_of_subject, np.diff(starts), axis=1)
        no_column = np.iinfo(np.int64).max
        position = np.minimum.reduceat(
            np.where(is_nearest, block.candidates, no_column), starts[:-1], axis=1
        )
        block = block.by_person(fusion)
        groups = np.arange(len(starts))  # a column for each subject
    best = mates.fused(fusion or "best")
    unit_of_column = np.repeat(unit, np.diff(groups))
    counts = _up_to_mates(block.values, position, unit_of_column, best, mates.nearest_column)
    return *_nearest_groups(block.values, groups, unit), counts


def _up_to_mates(
    values: np.ndarray,
    position: np.ndarray,
    unit: np.ndarray,
    best: np.ndarray,
    position_of_mate: np.ndarray,
) -> np.ndarray:
    """Count the candidates of each unit not beyond the best mate, int32 (3, rows, units).

    The three numbers are: closer than the best mate; exactly as close; as close, and before it in
    the gallery. `unit` (columns,) is the unit of each column, `best` (rows,) the distance of the
    best mate, `position_of_mate` (rows,) its position in the gallery, and `position` (rows or 1,
    columns) the candidates' positions.
    """
    # An entry for each candidate that is not beyond the best mate.
    row, column = np.nonzero(values <= best[:, None])
    group = unit[column]
    is_tied = values[row, column] == best[row]
    position = np.broadcast_to(position, values.shape)[row, column]
    is_before = is_tied & (position < position_of_mate[row])
    counts = np.zeros((3, *best.shape, int(unit.max(initial=-1)) + 1), dtype=np.int32)
    for count, is_counted in zip(counts, (~is_tied, is_tied, is_before), strict=True):
        np.add.at(count, (row[is_counted], group[is_counted]), 1)
    return counts


def _nearest_groups(
    values: np.ndarray, starts: np.ndarray, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit of each row's nearest candidate (-1: none), and the second distance.

    The second distance, float64 (rows,), is the distance of the nearest candidate of another unit;
    NaN without one. `unit` (groups,) is the unit of each group of columns.
    """
    # (rows, units): the distance of each unit, NaN without an attempt.
    distance = np.fmin.reduceat(values, starts[:-1], axis=1).astype(np.float64)
    if (unit != np.arange(len(unit))).any():
        order = np.argsort(unit, kind="stable")
        first = np.flatnonzero(np.diff(unit[order], prepend=-1))
        distance = np.fmin.reduceat(distance[:, order], first, axis=1)
    nearest = np.argmax(distance == np.fmin.reduce(distance, axis=1)[:, None], axis=1)
    rows = np.arange(len(distance))
    has_candidate = ~np.isnan(distance[rows, nearest])
    distance[rows, nearest] = np.nan  # the nearest of the others is the second
    return np.where(has_candidate, nearest, -1), np.fmin.reduce(distance, axis=1)

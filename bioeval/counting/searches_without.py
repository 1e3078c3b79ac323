"""Jackknife over subjects: how leaving out a subject changes the searches of the others.

What is left out is a unit: a subject, or several subjects together, such as a family. If a probe of
A is at 0.1 from a template of B, at 0.2 from one of C, and at 0.3 from its best mate, the mate is
at rank 3, and at rank 2 without B or without C. The nearest other unit is B, and the distance of
the nearest impostor is 0.1, or 0.2 without B.

:class:`LeftOut` has these effects. `stats/search_columns.py` makes the rates without each unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.counting.searches import Searches
from bioeval.counting.ties import tied_ahead
from bioeval.protocol.tasks import Ties
from bioeval.scores.blocks import Block, Mates
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import blocks_of

# A pair is a probe and a unit that has candidates before the probe's best mate. Ranks are listed
# from the first on while they have no more pairs than this.
MOST_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Effect of leaving each unit out; units are numbered in the order of their codes.

    Leaving out the unit of a probe's nearest candidate changes its impostor attempt. Leaving out
    a unit with candidates before the probe's best mate changes its rank: the k pairs of a probe
    and such a unit are in `probe` to `before`.
    """

    units: int
    unit_of_probe: np.ndarray  # integer (m,)
    nearest: np.ndarray  # int32 (m,): other unit with the nearest candidate; -1 for none
    second: np.ndarray  # float64 (m,): nearest distance of any further unit; NaN for none
    probe: np.ndarray  # int32 (k,)
    unit: np.ndarray  # int32 (k,)
    closer: np.ndarray  # int32 (k,): the unit's candidates closer than the best mate
    tied: np.ndarray  # int32 (k,): the unit's candidates exactly as close as the best mate
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

        `units`, int64 (codes,), has the unit of each subject; by default, each subject is a unit,
        which is counted as one person. `ranks` is the last rank whose changes are found; by
        default, as many as there is memory for.
        """
        # The units are numbered in the order of their codes.
        gallery = scores.gallery_order
        unit_of_code = np.arange(len(scores.codes.values)) if units is None else units
        codes = cls.codes_of_units(scores, units)
        unit_of_probe = np.searchsorted(codes, unit_of_code[scores.codes.probe])
        # Columns of counts are the units of the gallery: `column_of_subject` (gallery subjects,) is
        # the column of each subject's unit, and `unit_of_column`, int32, the unit's number.
        enrolled_codes, column_of_subject = np.unique(
            unit_of_code[gallery.subjects], return_inverse=True
        )
        unit_of_column = np.searchsorted(codes, enrolled_codes).astype(np.int32)
        if ranks is None:
            # Candidates are templates or subjects.
            candidates_of_subject = np.ones(len(column_of_subject))
            if searches.rank_unit == "template":
                candidates_of_subject = np.diff(gallery.starts)
            largest = int(np.bincount(column_of_subject, candidates_of_subject).max())
            ranks = _ranks_in_memory(searches, ties, largest, len(unit_of_column))
        fusion = searches.fusion if searches.rank_unit == "subject" else None
        of_probes = []  # of each block: the nearest unit, and the second distance
        of_pairs = []  # of each block: the arrays from `probe` to `before`
        for block in blocks_of(scores, reported=False):
            nearest_column, second, counts = _count_block(
                block, gallery.starts, fusion, column_of_subject
            )
            nearest = np.where(nearest_column < 0, np.int32(-1), unit_of_column[nearest_column])
            of_probes.append((nearest, second))
            certain, possible = _before_mate(ties, *counts)
            # (probes, columns): the best rank that the probe may have without the unit, for which
            # only candidates count that are certainly before the mate. A unit may change the rank
            # as soon as one of its candidates is possibly before the mate.
            rank = 1 + certain.sum(axis=1, dtype=np.int64)[:, None] - certain
            # Without the unit of a probe, there is no search of the probe.
            is_other = unit_of_column != unit_of_probe[block.probes][:, None]
            row, column = np.nonzero((possible > 0) & (rank <= ranks) & is_other)
            probe = block.probes[row].astype(np.int32)
            of_pairs.append((probe, unit_of_column[column], *counts[:, row, column]))
        nearest, second = map(np.concatenate, zip(*of_probes, strict=True))
        probe, unit, closer, tied, before = map(np.concatenate, zip(*of_pairs, strict=True))
        return cls(
            units=len(codes),
            unit_of_probe=unit_of_probe,
            nearest=nearest,
            second=second,
            probe=probe,
            unit=unit,
            closer=closer,
            tied=tied,
            before=before,
            ranks=ranks,
        )

    @staticmethod
    def codes_of_units(scores: Scores, units: np.ndarray | None = None) -> np.ndarray:
        """Return the codes of the units of probes and gallery, in the order of their numbers.

        Without `units` (codes,), these are subjects.
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


def _ranks_in_memory(searches: Searches, ties: Ties, largest: int, units: int) -> int:
    """Return the rank up to which pairs of probes and units fit into memory.

    `units` is the number of units in the gallery. Each has at most `largest` candidates, by
    which the rank of a probe improves at most without the unit.
    """
    mated = searches.mates > 0
    certain, possible = _before_mate(
        ties, searches.closer[mated], searches.tied[mated], searches.tied_before[mated]
    )
    # (mated probes,): the best rank without a unit, and the most pairs of a probe. Pairs are
    # added from the best rank on, until they are too many.
    best_ranks = np.maximum(certain + 1 - largest, 1)
    most_pairs = np.minimum(possible, units - 1)
    order = np.argsort(best_ranks, kind="stable")
    too_many = np.flatnonzero(np.cumsum(most_pairs[order]) > MOST_PAIRS)
    if len(too_many):
        return int(best_ranks[order][too_many[0]]) - 1
    return np.iinfo(np.int64).max


def _count_block(
    rows: Block, starts: np.ndarray, fusion: str | None, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the unit of each probe's nearest candidate, the second distance, and counts.

    Subject s has the columns ``starts[s]:starts[s + 1]`` of the block, and is of the unit
    ``unit[s]``, which has a column in the counts. With `fusion`, candidates are subjects, otherwise
    templates. The nearest unit is -1 without a candidate. The second distance, float64 (rows,),
    is that of the nearest candidate of another unit; NaN without one. The counts, int32 (3, rows,
    units), are of the candidates of each unit that are closer than the best mate; exactly as close;
    as close, and before it in the gallery.
    """
    row, column, distance = rows.genuine()
    row_in_block = row - rows.order  # `order` is the first row of the block
    mates = Mates(row_in_block, column, distance, len(rows.probes), rejected=rows.rejected)
    block = rows.impostors()
    position = block.candidates[None]  # (1, columns): place of each candidate in the gallery
    if fusion is not None:
        # A subject is in the place of its nearest template, the first of equals: (rows, subjects).
        distance_of_subject = np.fmin.reduceat(block.values, starts[:-1], axis=1)
        is_nearest = block.values == np.repeat(distance_of_subject, np.diff(starts), axis=1)
        no_column = np.iinfo(np.int64).max
        position = np.minimum.reduceat(
            np.where(is_nearest, block.candidates, no_column), starts[:-1], axis=1
        )
        block = block.by_person(fusion)
        starts = np.arange(len(starts))  # a column for each subject
    values = block.values
    # An entry for each candidate that is not beyond the best mate.
    best = mates.fused(fusion or "best")
    row, column = np.nonzero(values <= best[:, None])
    is_tied = values[row, column] == best[row]
    position = np.broadcast_to(position, values.shape)[row, column]
    is_before = is_tied & (position < mates.nearest_column[row])
    unit_of_entry = np.repeat(unit, np.diff(starts))[column]
    counts = np.zeros((3, *best.shape, int(unit.max(initial=-1)) + 1), dtype=np.int32)
    for count, is_counted in zip(counts, (~is_tied, is_tied, is_before), strict=True):
        np.add.at(count, (row[is_counted], unit_of_entry[is_counted]), 1)
    # (rows, units): the distance of each unit, NaN without an attempt: the least of each subject's
    # columns, and then, unless each subject is a unit, of the unit's subjects, side by side.
    distance = np.fmin.reduceat(values, starts[:-1], axis=1).astype(np.float64)
    if (unit != np.arange(len(unit))).any():
        order = np.argsort(unit, kind="stable")
        first = np.flatnonzero(np.diff(unit[order], prepend=-1))
        distance = np.fmin.reduceat(distance[:, order], first, axis=1)
    nearest = np.argmax(distance == np.fmin.reduce(distance, axis=1)[:, None], axis=1)
    every_row = np.arange(len(distance))
    has_candidate = ~np.isnan(distance[every_row, nearest])
    distance[every_row, nearest] = np.nan  # the nearest of the others is the second
    return np.where(has_candidate, nearest, -1), np.fmin.reduce(distance, axis=1), counts

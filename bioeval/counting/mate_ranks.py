"""Ranks of all mates of each query, and numbers of candidates within thresholds."""

from __future__ import annotations

from dataclasses import InitVar, dataclass

import numpy as np

from bioeval.counting.grids import guide_to
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer
from bioeval.kernels import reidentification as kernel
from bioeval.kernels.reidentification import count_within
from bioeval.scores.blocks import Block
from bioeval.scores.distances import scored

# How many comparisons of a mate with another candidate NumPy makes at a time.
COMPARISONS_AT_ONCE = 1 << 20


@dataclass(eq=False)
class MatchLists:
    """The matches of each query that have a rank, from near to far.

    Equally close matches are in gallery order. Failed matches, which tie with each other, are at
    the end. Arrays are (matches,); numbers of non-matches may be (groups, matches).

    - `counts`, `positives` (int64 (m,)): the number of each query's matches with a rank, and of all
    - `query` (int64): the query of each match
    - `order` (int64): its rank among the query's matches, from 1
    """

    starts: np.ndarray  # int64 (m + 1,): query ``i`` has the matches ``starts[i]:starts[i + 1]``
    distance: np.ndarray  # float64: NaN if the match failed
    closer: np.ndarray  # int64: non-matches closer than the match
    tied: np.ndarray  # int64: non-matches exactly as close
    before: np.ndarray  # int64: tied non-matches before the match in the gallery
    #: int64 (m,): all matches of each query, also matches that a list lacks; None: all have a rank.
    all_matches: InitVar[np.ndarray | None] = None
    #: int64 (m,): the number of non-matches in each query's list, if lists lack matches.
    others: np.ndarray | None = None

    def __post_init__(self, all_matches: np.ndarray | None) -> None:
        self.counts = np.diff(self.starts)
        self.positives = self.counts if all_matches is None else all_matches
        self.query = np.repeat(np.arange(len(self.counts)), self.counts)
        self.order = np.arange(1, len(self.query) + 1) - self.starts[self.query]


class MateRanks(Reducer):
    """The ranks of all mates of each query among the other candidates, as :class:`MatchLists`.

    Mates that a list lacks have no rank, and are only counted. With `group` (int64 (n,)), the group
    of each gallery template, from 0, or -1, candidates of each of the `groups` are counted apart.
    """

    sums = ("closer", "tied", "before", "others")

    def __init__(self, group: np.ndarray | None = None, groups: int = 0):
        self.group, self.groups = group, groups

    def prepare(self, parts: Parts) -> None:
        mates = parts.mates
        self.distance = mates.distance.astype(parts.dtype, copy=False)
        self.rejected = mates.rejected
        order = by_distance(mates.probe, self.distance)
        order = order[~np.isnan(self.distance[order])]  # a list may lack mates
        self.query = mates.probe[order]
        self.gallery = mates.gallery[order]
        self.distance = self.distance[order]
        self.starts = self.query.searchsorted(np.arange(mates.probe_count + 1))
        self.complete = len(order) == len(mates.probe)
        self.positives = mates.counts
        shape: tuple[int, ...] = (len(order),)
        if self.group is not None:
            shape = (self.groups, len(order))
        self.closer, self.tied, self.before = np.zeros((3, *shape), np.int64)
        self.others = np.zeros(mates.probe_count, np.int64)

    def add(self, block: Block) -> None:
        for side in block.sides():
            values = rows_of_probes(side)
            probes = side.probes
            if not self.complete:
                self.others[probes] += np.count_nonzero(~np.isnan(values), axis=1)
            if side.few:
                self._rank_few(side)
                continue
            # Lists have no tied places: any numbers do.
            gallery = side.candidates[: values.shape[1]]
            rows = kernel.Rows(values, gallery, self.starts[probes], self.starts[probes + 1])
            mates = kernel.Ranked(self.distance, self.gallery)
            counts = kernel.Counts(self.closer, self.tied, self.before)
            if self.group is None:
                kernel.rank_mates.on_one_thread(rows, mates, counts)
            else:
                kernel.rank_mates_by_group.on_one_thread(rows, mates, counts, self.group)

    def _rank_few(self, side: Block) -> None:
        """Count by comparing each mate with a whole row: nothing is compiled."""
        values = side.values
        probes = side.probes
        sizes = self.starts[probes + 1] - self.starts[probes]
        # Both (mates of the block,): the row of the mate's probe, and the mate's index.
        row_of_mate = np.repeat(np.arange(len(probes)), sizes)
        first_mate = self.starts[probes] - (np.cumsum(sizes) - sizes)
        mate = np.arange(len(row_of_mate)) + first_mate[row_of_mate]
        gallery = np.broadcast_to(side.gallery, values.shape)
        mates_at_once = max(1, COMPARISONS_AT_ONCE // values.shape[1])
        for low in range(0, len(mate), mates_at_once):
            row = row_of_mate[low : low + mates_at_once]
            mates = mate[low : low + mates_at_once]
            distance = self.distance[mates, None]
            candidates = gallery[row]
            is_tied = values[row] == distance
            is_before = is_tied & (candidates < self.gallery[mates, None])
            self._add(self.closer, values[row] < distance, mates, candidates)
            self._add(self.tied, is_tied, mates, candidates)
            self._add(self.before, is_before, mates, candidates)

    def _add(
        self, counts: np.ndarray, is_counted: np.ndarray, mates: np.ndarray, candidates: np.ndarray
    ) -> None:
        """Add the candidates that are counted; all but `counts` have a row for each mate."""
        if self.group is None:
            counts[mates] += np.count_nonzero(is_counted, axis=1)
            return
        row, column = np.nonzero(is_counted)
        group = self.group[candidates[row, column]]
        np.add.at(counts, (group[group >= 0], mates[row[group >= 0]]), 1)

    def result(self) -> MatchLists:
        distance = scored(self.distance) if self.rejected else self.distance
        counts = self.closer, self.tied, self.before
        unlisted_counts = () if self.complete else (self.positives, self.others)
        return MatchLists(self.starts, distance.astype(np.float64), *counts, *unlisted_counts)


def by_distance(probe: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Return the order of mates by probe and then by distance; equally close mates keep theirs."""
    if distance.dtype != np.float32:
        return np.lexsort((distance, probe))
    # The bits of a float are sign and magnitude. With the magnitude of negative floats inverted,
    # the bits, as whole numbers, are in the order of the distances.
    bits = (distance + np.float32(0)).view(np.int32)  # no zero has a sign
    bits = np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
    return np.argsort((probe << 32) + bits, kind="stable")  # one key of 64 bits


def rows_of_probes(side: Block) -> np.ndarray:
    """Return the values of one side of a block with a row for each probe, in C order."""
    return np.ascontiguousarray(side.by_probe) if side.transposed else side.values


class Within(Reducer):
    """How many candidates, including mates, each query has within each threshold.

    - `thresholds` (float64 (t,)): increasing distances
    """

    sums = ("counts",)

    def __init__(self, thresholds: np.ndarray):
        self.thresholds = thresholds

    def prepare(self, parts: Parts) -> None:
        mates = parts.mates
        if mates.rejected:  # no threshold accepts a failed comparison
            self.thresholds = np.minimum(self.thresholds, np.finfo(parts.dtype).max)
        self.guide = guide_to(self.thresholds)
        self.counts = np.zeros((mates.probe_count, len(self.thresholds) + 1), np.int64)
        threshold_index = np.searchsorted(self.thresholds, mates.distance.astype(np.float64))
        np.add.at(self.counts, (mates.probe, threshold_index), 1)

    def add(self, block: Block) -> None:
        for side in block.sides():
            values = rows_of_probes(side)
            probes = side.probes
            if side.few:
                row, column = np.nonzero(~np.isnan(values))
                threshold_index = np.searchsorted(
                    self.thresholds, values[row, column].astype(np.float64)
                )
                np.add.at(self.counts, (probes[row], threshold_index), 1)
                continue
            count_within.on_one_thread(values, probes, self.thresholds, *self.guide, self.counts)

    def result(self) -> np.ndarray:
        return np.cumsum(self.counts, axis=1)[:, :-1]

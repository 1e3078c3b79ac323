"""Mates of probes that sites with parts of a gallery share, and the ranks counted by part.

The gallery is in the order of its sites, by name, and within a site of the positions in its data.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from bioeval.scores import Block
from bioeval.studies.reid.kernel import CandidateBlock, MatesAround, count_around
from bioeval.studies.reid.matches import MatchLists, concatenated, joined_starts
from bioeval.tallies import (
    ConcatenatedRows,
    Counter,
    Counts,
    IdentificationCounter,
    IdentificationTally,
    gather,
)

# A place behind all others.
BEHIND = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class MateLists:
    """The mates of each probe at all sites, from near to far, or the nearest one."""

    #: int64 (m + 1,): those of probe ``i`` are ``starts[i]:starts[i + 1]`` of the other arrays.
    starts: np.ndarray
    distance: np.ndarray  # float64
    #: int64: which site has the mate, and its position there: for ties in the order of the gallery.
    #: Empty where ties have another policy.
    site: np.ndarray
    place: np.ndarray
    nearest: bool  # whether a probe has its nearest mate only

    @classmethod
    def of(
        cls,
        probes: int,
        probe: np.ndarray,
        distance: np.ndarray,
        site: np.ndarray,
        place: np.ndarray,
        nearest: bool,
    ) -> MateLists:
        """Return the lists of unordered mates; empty sites and places mean unknown."""
        known = len(place) == len(probe)
        keys = [distance, probe]
        if known:
            keys = [place, site, *keys]
        order = np.lexsort(keys)
        if nearest:
            order = order[np.flatnonzero(np.diff(probe[order], prepend=-1))]
        starts = np.searchsorted(probe[order], np.arange(probes + 1))
        located = order if known else order[:0]
        return cls(starts, distance[order], site[located], place[located], nearest)

    @property
    def probe(self) -> np.ndarray:
        """The probe of each mate."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def merge(self, other: MateLists) -> MateLists:
        """Return the mates of both, or only the nearest."""
        both = concatenated([self, other], ("probe", "distance", "site", "place"))
        return MateLists.of(len(self.starts) - 1, **both, nearest=self.nearest)

    def numbered(self, numbers: np.ndarray) -> MateLists:
        """Return the same lists with other numbers of the sites."""
        return replace(self, site=numbers[self.site])

    def bounds(self, site: int) -> np.ndarray:
        """Return the place below which a site's candidates rank before each mate."""
        if len(self.place) < len(self.distance):
            return np.zeros(len(self.distance), dtype=np.int64)
        behind = np.where(self.site > site, BEHIND, -1)
        return np.where(self.site == site, self.place, behind)


@dataclass(frozen=True, eq=False)
class SharedMates:
    """The mates of probes at all sites, as seen from one of the sites."""

    lists: MateLists
    site: int

    def around(self, low: int, block: CandidateBlock) -> MatchLists:
        """Return the mates of a block of rows from `low` on, with the candidates around them."""
        lists = self.lists
        starts = lists.starts[low : low + len(block.values) + 1]
        part = slice(int(starts[0]), int(starts[-1]))
        distance = lists.distance[part]
        matches = MatchLists(
            starts - starts[0],
            distance,
            closer=np.zeros(len(distance), dtype=np.int64),
            tied=np.zeros(len(distance), dtype=np.int64),
            before=np.zeros(len(distance), dtype=np.int64),
        )
        mates = MatesAround(
            starts=matches.starts,
            distance=distance,
            bound=lists.bounds(self.site)[part],
            closer=matches.closer,
            tied=matches.tied,
            before=matches.before,
        )
        count_around(block, mates)
        return matches


class NearestMatesCounter(Counter[MateLists]):
    """Gathers the nearest mate of each probe, for identification."""

    def __init__(self, counter: IdentificationCounter, *, places: bool):
        self.scores, self.reader = counter.scores, counter.reader
        self.ranked, self.places = counter, places
        self.lists: list[MateLists] = []

    def add(self, block: Block) -> None:
        """Gather the mates of a block of rows."""
        if self.ranked.rank_unit == "subject":
            block = block.fused(self.ranked.fusion)
        value, row, position = gather(
            block.values, block.mate_start, block.mate_stop, block.probe_position
        )
        columns = block.columns
        # One row of columns is that of all rows.
        column = columns[0, position] if len(columns) == 1 else columns[row, position]
        place = self.scores.gallery_ids[column] if self.places else column[:0]
        site = np.zeros(len(place), dtype=np.int64)
        rows = len(block.values)
        mates = MateLists.of(rows, row, value.astype(np.float64), site, place, nearest=True)
        self.lists.append(mates)

    def fresh(self) -> Self:
        """Return the same counter before it has found anything."""
        counter = copy(self)
        counter.lists = []
        return counter

    def counts(self, low: int, high: int) -> dict[str, Counts]:
        """Return the mates of rows ``low:high``; see :mod:`bioeval.tallies.parts`."""
        lists = self.result()
        arrays = {name: getattr(lists, name) for name in ("distance", "site", "place")}
        arrays["number"] = np.diff(lists.starts)
        return {name: ConcatenatedRows.of(array) for name, array in arrays.items()}

    def merge(self, other: dict[str, Counts], low: int, high: int) -> None:
        """Add the mates of rows ``low:high``."""
        arrays = {name: joined.array() for name, joined in other.items()}
        starts = np.concatenate([[0], np.cumsum(arrays.pop("number"))])
        self.lists.append(MateLists(starts, **arrays, nearest=True))

    def result(self) -> MateLists:
        """Return the lists, for site 0."""
        each = concatenated(self.lists, ("distance", "site", "place"))
        return MateLists(joined_starts(self.lists), **each, nearest=True)


class SharedRanksCounter(Counter[IdentificationTally]):
    """Ranks the nearest mates of all sites among the candidates of one."""

    def __init__(self, counter: IdentificationCounter, shared: SharedMates):
        self.scores, self.reader = counter.scores, counter.reader
        self.ranked, self.shared = counter, shared
        self.joint = counter.fresh()  # ranks of all sites
        self.joint.template_facts = self.joint.facts

    def add(self, block: Block) -> None:
        """Count a block of rows."""
        self.ranked.add(block)
        low, shared = block.low, self.shared
        if self.ranked.rank_unit == "subject":
            block = block.fused(self.ranked.fusion)
        groups = np.arange(len(block.starts) - 1, dtype=np.int64)
        n = block.values.shape[1]
        candidates = CandidateBlock(
            values=block.values,
            identity=np.repeat(groups, np.diff(block.starts)),
            row_identity=block.probe_group,
            kept=np.ones((1, n), dtype=bool),
            list_index=np.zeros(len(block.values), dtype=np.int64),
            place=self.scores.gallery_ids[block.columns],
        )
        mates = shared.around(low, candidates)
        facts, probe = self.joint.facts, low + mates.query
        facts.mate[low : low + len(block.values)] = np.nan
        facts.mate[probe] = mates.distance
        facts.closer[probe], facts.tied[probe] = mates.closer, mates.tied
        facts.tied_before[probe] = mates.before

    def fresh(self) -> Self:
        """Return the same counter before it has ranked anything."""
        counter = copy(self)
        counter.ranked, counter.joint = self.ranked.fresh(), self.joint.fresh()
        return counter

    def counts(self, low: int, high: int) -> dict[str, Counts]:
        """Return the facts of rows ``low:high``; see :mod:`bioeval.tallies.parts`."""
        return {"ranked": self.ranked.counts(low, high), **self.joint.counts(low, high)}

    def merge(self, other: dict[str, Counts], low: int, high: int) -> None:
        """Add the facts of rows ``low:high``."""
        self.ranked.merge(other["ranked"], low, high)
        self.joint.merge(other, low, high)

    def result(self) -> IdentificationTally:
        """Return the tally of this part of the gallery, incomplete without the others."""
        tally, facts = self.ranked.result(), self.joint.facts
        return replace(
            tally,
            mate=facts.mate,
            closer=facts.closer,
            tied=facts.tied,
            tied_before=facts.tied_before,
            mates_tied=np.where(tally.mate == facts.mate, tally.mates_tied, 0),
            nearest_mate=tally.nearest_mate.copy(),
        )

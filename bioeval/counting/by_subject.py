"""Verification attempts by pair of subjects: lists, and the pass that fills them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from bioeval.base.errors import (
    Argument,
    Part,
    ProtocolError,
)
from bioeval.base.progress import report, rows_reported_to
from bioeval.counting.blocks import Block
from bioeval.counting.parts import Parts, RowParts, TileParts, parts_of
from bioeval.counting.people import CountPeople
from bioeval.counting.points import EqualError
from bioeval.counting.reduce import Reducer, reduce
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.thresholds import guide_to
from bioeval.counting.verification import Verified, Verifying, gather_claims
from bioeval.kernels import count as kernel
from bioeval.scores.arrays import scored
from bioeval.scores.blocks import among_distances, blocks_of
from bioeval.scores.disjoint import disjoint_among
from bioeval.scores.matrix import Scores
from bioeval.scores.people import ComparedPeople, knows_people, require_people


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Numbers of attempts of pairs of subjects in each layer, between two thresholds."""

    probe_people: np.ndarray  # int64 (s,): the people of probes
    starts: np.ndarray  # int64 (s + 1,): where the entries of each begin
    #: int32 (entries,).
    claimed_person: np.ndarray
    layer: np.ndarray
    count: np.ndarray  # int64 (entries,)

    @classmethod
    def of(
        cls,
        probe_person: np.ndarray,
        claimed_person: np.ndarray,
        layer: np.ndarray,
        count: np.ndarray,
    ) -> PairCounts:
        """Return entries in increasing order of the people of probes."""
        changes = np.flatnonzero(probe_person[1:] != probe_person[:-1]) + 1
        first = np.concatenate([[0] if len(probe_person) else [], changes]).astype(np.int64)
        return cls(
            probe_person[first].astype(np.int64),
            np.append(first, len(probe_person)),
            claimed_person.astype(np.int32),
            layer.astype(np.int32),
            count.astype(np.int64),
        )

    @property
    def probe_person(self) -> np.ndarray:
        """The person of the probes of each entry."""
        return np.repeat(self.probe_people, np.diff(self.starts))


class Sink(Protocol):
    """A consumer of impostor counts, in any order, with one layer between each two thresholds."""

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""

    def add(self, pairs: PairCounts) -> None:
        """Add attempts between different subjects."""

    def merge(self, other: Self) -> None:
        """Add what a copy has."""


# Up to this many impostor scores are sorted; of more, the cells of the tally are used.
FEW = 1 << 16

# Growth of the number of false accepts from one threshold to the next, at most about this.
_FACTOR = 1.2

# Proportions rejected, for thresholds at which nearly all attempts are accepted.
_REJECTED = np.array([0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001])

# The first thresholds have one more false accept each.
_SINGLE = 10

# Entries of a list of counts.
_MOST_ENTRIES = 1 << 21


class SubjectAttempts:
    """The attempts of a verification counter by subject, and by pair of subjects.

    Subjects are numbered in the order of their codes.

    - `people` (int): number of subjects, which are numbered from 0
    - `disjoint_pairs` (int): disjoint pairs of subjects with an impostor attempt, which are
      independent trials
    - `sides` (pair of int64): the subjects of the two sides
    - `names` (list): the label of each subject
    - `no_person` (bool (people,)): which of them are distractors or junk, and not left out
    """

    @staticmethod
    def require_people(scores: Scores, method: str | None = None, purpose: Part = "") -> None:
        """Raise :class:`ProtocolError` unless the subjects of all attempts are known.

        The message names the `method` of an interval, or another `purpose`.
        """
        if method is not None:
            purpose = Argument("interval", method)

        def instead(attempts: str) -> str:
            if method is None:
                return ""
            wilson = Argument("interval", "wilson")
            return f"; or give {wilson} to take all {attempts} as independent"

        if knows_people(scores):
            return
        if scores.layout == "pairs":
            require_people(scores, purpose, instead("pairs"))
        raise ProtocolError(
            f"{purpose} needs the subjects of probes and gallery; a mask does not give the "
            f"subjects of the templates. Give labels{instead('attempts')}"
        )

    def __init__(self, verifying: Verifying):
        """Number the people of the attempts."""
        scores = verifying.scores
        self.scores, self.use = scores, verifying.use
        self.claims = verifying.claims
        self._pairs: tuple[np.ndarray, np.ndarray] | None = None
        known = scores.codes
        if scores.layout == "pairs":
            self._pairs = codes = known.probe, known.gallery
        elif self.claims is not None:
            probes, groups = self.claims
            codes = scores.codes.probe[probes], scores.gallery_order.subjects[groups]
        else:
            codes = known.probe, known.gallery
        self.failed = False  # whether some attempts did, once they were counted
        who = np.unique(np.concatenate(codes))
        self.people = len(who)
        self._person = np.full(len(known.values), -1, dtype=np.int64)
        self._person[who] = np.arange(len(who))
        self.sides = tuple(self._person[np.unique(c)] for c in codes)
        self.names = known.values[who].tolist()
        self.no_person = known.no_person[who]
        if self._pairs is None and self.claims is None:
            everybody = np.arange(self.people)
            sizes = map(self.persons_among, (*self.sides, everybody))
            self.disjoint_pairs = ComparedPeople.of_sides(*sizes).disjoint
        else:
            probe_person, claimed_person = self._person[codes[0]], self._person[codes[1]]
            if self.no_person.any():
                both = ~(self.no_person[probe_person] | self.no_person[claimed_person])
                probe_person, claimed_person = probe_person[both], claimed_person[both]
            self.disjoint_pairs = disjoint_among(probe_person, claimed_person, self.people)

    def persons_among(self, subjects: np.ndarray) -> int:
        """Return how many people some subjects are: distractors and junk are none."""
        distinct = np.unique(subjects)
        return len(distinct) - int(self.no_person[distinct].sum())

    #: Up to this many distinct scores, each is a threshold, and nothing is interpolated.
    EXACT = 512

    def thresholds(self, tally: Verified) -> tuple[np.ndarray, bool]:
        """Return increasing thresholds, and whether they are all the distinct scores.

        They are denser around the equal error rate of the tally, and depend on the scores alone.
        """
        genuine = np.unique(tally.attempts.genuine.astype(np.float64))
        total = tally.attempts.impostors
        if total <= FEW and len(genuine) <= FEW:
            every_score = tally.attempts
            if every_score.marks is not None:
                every_score = Attempts.listed(genuine, np.concatenate([*self.impostors()]))
            edges, reached = every_score.values, every_score.accepted
            every = np.union1d(genuine, edges)
            if len(every) <= self.EXACT:
                return every, True
        else:
            cells = tally.attempts.cells
            edges = cells.grid.edges
            reached = cells.negative_infinite + np.cumsum(cells.counts)
        points = tally.points
        error = EqualError() if points is None else points.equal_error
        return self.thresholds_among(edges, reached, total, [error.eer * total], np.empty(0)), False

    @classmethod
    def thresholds_among(
        cls,
        places: np.ndarray,
        reached: np.ndarray,
        total: int,
        around: Sequence[float],
        wanted: np.ndarray,
    ) -> np.ndarray:
        """Return increasing finite thresholds: some of the `places`, and those `wanted`.

        `reached` are the false accepts at each place, of `total` at all; there are more thresholds
        `around` some numbers of false accepts.
        """
        chosen = places  # empty where no impostor score is finite
        if len(places):
            level = np.concatenate([cls.levels(total), *map(_around, around)])
            chosen = places[np.minimum(np.searchsorted(reached, level), len(places) - 1)]
        every = np.union1d(chosen, wanted)
        return every[np.isfinite(every)]

    @staticmethod
    def levels(total: int) -> np.ndarray:
        """Return numbers of false accepts from 1 to `total`: by ones, then by a constant factor."""
        steps = max(1, int(np.ceil(np.log(max(total, 2) / _SINGLE) / np.log(_FACTOR))))
        ratios = _SINGLE * _FACTOR ** np.arange(steps)
        few, most = np.arange(1, _SINGLE), total * (1 - _REJECTED)
        return np.concatenate([few, ratios[ratios < total], most, [total]])

    def impostors(self) -> Iterator[np.ndarray]:
        """Yield the impostor scores in parts, NaN of an attempt that failed."""
        for value, probe, claimed in self.listed_in_parts():
            yield value[probe != claimed]

    def _scored(self, distances: np.ndarray) -> np.ndarray:
        """Return the scores of attempts, NaN where one failed."""
        return scored(distances) if self.scores.nan == "reject" else distances

    def listed_in_parts(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield attempts one by one, of some rows at a time, in the order of the labels.

        Each part has float64 distances, NaN of an attempt that failed, and the people of probe and
        template (int32).
        """
        person = self._person.astype(np.int32)
        if self._pairs is not None:
            row = self.scores.pair_distances()
            there = ~np.isnan(row)
            yield (
                self._scored(row[there]).astype(np.float64),
                *(person[side[there]] for side in self._pairs),
            )
            return
        enrolled, probing = person[self.scores.gallery_order.subjects], self.scores.codes.probe
        claims = self.claims
        for block in blocks_of(self.scores, reported=False):
            if self.use.fused is not None:
                block = block.fused(self.use.fused)
            if claims is not None:
                value, made = gather_claims(block, claims)
                probes = person[probing[claims[0][made]]]
                value = self._scored(value).astype(np.float64)
                yield value, probes, enrolled[claims[1][made]]
                continue
            rows, columns = block.values.shape
            compared = np.arange(columns) != block.probe_position[:, None]
            compared &= ~np.isnan(block.values)
            probes = person[probing[block.low : block.low + rows]]
            groups = np.repeat(enrolled, np.diff(block.starts))
            places = np.nonzero(compared)
            value = self._scored(block.values[compared]).astype(np.float64)
            yield value, probes[places[0]], groups[places[1]]

    def pass_over(self, thresholds: np.ndarray, *sinks: Any) -> tuple[np.ndarray, np.ndarray]:
        """Count the impostor attempts into sinks; return the genuine scores and their subjects.

        Layer ``k`` of a sink receives the attempts above ``thresholds[k - 1]`` and not above
        ``thresholds[k]``; the last layer, all others. A genuine score is NaN where one failed.
        """
        if self._pairs is None and self.claims is None:
            scores, codes = self.scores, self.scores.codes.probe
            changes = np.count_nonzero(codes[1:] != codes[:-1]) + 1
            if changes > len(np.unique(codes)):  # make the probes of each subject adjacent
                scores = scores.select(probes=np.argsort(codes, kind="stable"))
            counting = _CountLayers(self._person, self.use.fused, thresholds, sinks)
            genuine = CountPeople(np.empty(0), self.use.fused)
            rows = parts_of(scores, nearest=False)
            tiles = parts_of(scores, nearest=self.use.fused in (None, "min"))
            if isinstance(tiles, TileParts):  # a few of them have all mates, as verification has
                assert isinstance(rows, RowParts)
                rows.mates_at_hand = tiles.mates
            genuine.prepare(rows)
            with rows_reported_to(report):  # of the stage that counts them
                reduce(scores, counting, parts=rows)
            self.failed = counting.failed
            return genuine.genuine, genuine.genuine_person
        parts = zip(*self.listed_in_parts(), strict=True)
        values, probe_person, claimed_person = map(np.concatenate, parts)
        self.failed = bool(np.isnan(values).any())
        same = probe_person == claimed_person
        layers, n = len(thresholds) + 1, self.people
        pair = probe_person[~same].astype(np.int64) * n + claimed_person[~same]
        layer = np.searchsorted(thresholds, values[~same])
        key, counts = np.unique(pair * layers + layer, return_counts=True)
        for sink in sinks:
            sink.add(PairCounts.of(key // layers // n, key // layers % n, key % layers, counts))
        return values[same], probe_person[same]


class _CountLayers(Reducer):
    """Counts the impostor attempts of each pair of subjects into sinks.

    - `person`: the number of each subject, by its code
    - `failed`: whether some attempts failed
    """

    def __init__(
        self,
        person: np.ndarray,
        fusion: str | None,
        thresholds: np.ndarray,
        sinks: Sequence[Any],
    ):
        self.person, self.fusion, self.thresholds, self.sinks = person, fusion, thresholds, sinks
        self.failed = False

    def prepare(self, parts: Parts) -> None:
        """Make a guide to the thresholds."""
        assert isinstance(parts, RowParts)
        self._limits = among_distances(parts.scores, self.thresholds)
        self._guide = guide_to(self._limits)  # of many thresholds it costs as much as a block
        self._probe = self.person[parts.scores.codes.probe]

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""
        other = super().fresh()
        other.sinks, other.failed = [sink.fresh() for sink in self.sinks], False
        return other

    def merge(self, other: Self) -> None:
        """Add what a copy has counted."""
        for mine, counted in zip(self.sinks, other.sinks, strict=True):
            mine.merge(counted)
        self.failed |= other.failed

    def add(self, block: Block) -> None:
        """Count a block, a few subjects at a time."""
        self.failed |= block.rejected and bool((block.values == np.inf).any())
        if self.fusion is None:
            assert block.columns is not None
            people, starts = block.columns.people, block.columns.starts
        else:
            block = block.by_person(self.fusion)
            people, starts = block.candidates, np.arange(len(block.candidates) + 1)
        who, layers = self._probe[block.probes], len(self._limits) + 1
        groups = self.person[people].astype(np.int32)
        first = np.concatenate([[0], np.nonzero(who[1:] != who[:-1])[0] + 1, [len(who)]])
        # A pair of subjects has at most one entry in each layer, and one for each score.
        longest = np.minimum(np.diff(first) * block.values.shape[1], len(groups) * layers)
        part = np.cumsum(longest) // _MOST_ENTRIES
        for some in np.split(np.arange(len(longest)), np.flatnonzero(np.diff(part)) + 1):
            ends = first[some[0] : some[-1] + 2]
            begin = np.cumsum(longest[some]) - longest[some]
            size, last = int(longest[some].sum()), np.empty_like(begin)
            claimed_person, layer = np.empty((2, size), dtype=np.int32)
            count = np.empty(size, dtype=np.int64)
            kernel.list_pairs(
                block.values[ends[0] : ends[-1]],
                starts,
                ends - ends[0],
                groups,
                self._limits,
                *self._guide,
                begin,
                claimed_person,
                layer,
                count,
                last,
            )
            filled = np.concatenate([np.arange(*x) for x in zip(begin, last, strict=True)])
            entries = PairCounts(
                who[ends[:-1]],
                np.append(0, np.cumsum(last - begin)),
                claimed_person[filled],
                layer[filled],
                count[filled],
            )
            for sink in self.sinks:
                sink.add(entries)


def _around(count: float) -> np.ndarray:
    """Return numbers of false accepts around that of the equal error rate."""
    return count * np.geomspace(0.5, 2.0, 33) if count > 0 else np.empty(0)

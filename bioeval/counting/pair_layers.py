"""The impostor attempts of each pair of people, counted in layers between many thresholds.

With the thresholds 0.2 and 0.4, a probe of person 1 at 0.1, 0.15 and 0.3 from templates of person 7
makes two entries (probe person, claimed person, layer, count): (1, 7, 0, 2) and (1, 7, 1, 1).
:func:`count_layers` hands such :class:`PairCounts` to sinks, which sum them up as a study needs;
:class:`_CountLayers` makes them of each block of the scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bioeval.base.progress import report, rows_reported
from bioeval.counting.grids import guide_to, indices_among
from bioeval.counting.parts import Parts, RowParts
from bioeval.counting.people import GenuineAttempts
from bioeval.counting.reduce import Reducer, Summed, parts_of, reduce
from bioeval.counting.tiles import TileParts
from bioeval.counting.verification import Verified, attempts_of_claims
from bioeval.kernels.people import list_pairs
from bioeval.scores.blocks import Block
from bioeval.scores.distances import scored
from bioeval.scores.people import People
from bioeval.scores.rows import among_distances

# Up to this number of attempts, NumPy counts the attempts of pairs of people: nothing is compiled.
FEW_ATTEMPTS = 1 << 18

# The most entries of a list of counts.
MOST_ENTRIES = 1 << 21


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Numbers of attempts of pairs of people in each layer, between two thresholds.

    Entries are sorted by the person of the probe, as compressed sparse rows: the entries of
    ``probe_people[k]`` are ``starts[k]:starts[k + 1]``.
    """

    probe_people: np.ndarray  # int64 (s,): the people of probes
    starts: np.ndarray  # int64 (s + 1,)
    claimed_person: np.ndarray  # int32 (entries,)
    layer: np.ndarray  # int32 (entries,)
    count: np.ndarray  # int64 (entries,): attempts of both people in the layer

    @classmethod
    def from_entries(
        cls,
        probe_person: np.ndarray,
        claimed_person: np.ndarray,
        layer: np.ndarray,
        count: np.ndarray,
    ) -> PairCounts:
        """Return the counts of entries that are sorted by the person of the probe."""
        changes = np.flatnonzero(probe_person[1:] != probe_person[:-1]) + 1
        first = np.concatenate([[0] if len(probe_person) else [], changes]).astype(np.int64)
        return cls(
            probe_person[first].astype(np.int64),
            np.append(first, len(probe_person)),
            claimed_person.astype(np.int32),
            layer.astype(np.int32),
            count.astype(np.int64),
        )

    @classmethod
    def from_attempts(
        cls,
        probe_person: np.ndarray,
        claimed_person: np.ndarray,
        distance: np.ndarray,
        thresholds: np.ndarray,
    ) -> PairCounts:
        """Count attempts, which may be in any order, between increasing thresholds."""
        columns = indices_among(distance, thresholds), claimed_person, probe_person
        # Whole numbers of 16 bits are sorted several times as fast as larger ones.
        narrow = [x.astype(np.min_scalar_type(x.max(initial=0))) for x in columns]
        order = np.lexsort(narrow)  # the last array, the person of the probe, decides first
        layer, claimed, probe = (x[order] for x in narrow)
        is_first = np.ones(len(order) + 1, dtype=bool)
        is_first[1:-1] = np.diff(layer) != 0
        is_first[1:-1] |= (np.diff(claimed) != 0) | (np.diff(probe) != 0)
        bounds = np.flatnonzero(is_first)
        first = bounds[:-1]
        return cls.from_entries(probe[first], claimed[first], layer[first], np.diff(bounds))

    @property
    def probe_person(self) -> np.ndarray:
        """The person of the probes of each entry."""
        return np.repeat(self.probe_people, np.diff(self.starts))

    @property
    def one_way(self) -> PairCounts:
        """The entries in which the person of the probe has the smaller number."""
        probe = self.probe_person
        entry = np.flatnonzero(probe < self.claimed_person)
        return PairCounts.from_entries(
            probe[entry], self.claimed_person[entry], self.layer[entry], self.count[entry]
        )


#: Thresholds, and the guide to them, as kernels take them.
Guided = tuple[np.ndarray, Any, Any, np.ndarray]


class Sink(Summed, ABC):
    """A consumer of impostor counts, which come in any order, by layers between thresholds."""

    needs_pairs: ClassVar[bool] = True  # whether attempts of many scores are listed by pair

    @abstractmethod
    def add(self, pairs: PairCounts) -> None:
        """Add attempts between different subjects."""

    def add_scores(
        self, block: Block, row_person: np.ndarray, column_person: np.ndarray, guided: Guided
    ) -> None:
        """Add attempts between different subjects that are not listed, if no pairs are needed.

        The people are of the block's rows (b,) and of its columns (n,), int64; there may be further
        columns, of NaN.
        """


def count_layers(
    verified: Verified, thresholds: np.ndarray, *sinks: Sink
) -> tuple[GenuineAttempts, bool]:
    """Give sinks the numbers of impostor attempts of each pair of people between thresholds.

    Layer ``k`` has the attempts above ``thresholds[k - 1]`` and not above ``thresholds[k]``; the
    last layer has all others. Return the genuine attempts, and whether an impostor attempt failed.
    """
    scores = verified.scores
    fused = verified.use.fused
    people = verified.people
    if verified.claims is not None or scores.layout == "pairs":
        return _count_listed(verified, thresholds, sinks)
    parts = verified.parts  # as they were counted: tiles of embeddings make no matrix
    assert parts is not None
    if any(sink.needs_pairs for sink in sinks):
        probing = scores.codes.probe
        changes = np.count_nonzero(probing[1:] != probing[:-1]) + 1
        # A block lists the pairs of adjacent probes of a person together. If the probes of people
        # are scattered, each would have a list of its own: sort them by person.
        if changes > len(np.unique(probing)):
            scores = scores.select(probes=np.argsort(probing, kind="stable"))
            parts = parts_of(scores, nearest=fused in (None, "best"))
        if isinstance(parts, TileParts):
            rows = parts_of(scores, nearest=False)
            assert isinstance(rows, RowParts)
            rows.take_mates(parts.mates)  # a few tiles have all mates, as in verification
            parts = rows
    with rows_reported(to=report):  # the stage that counts the rows reports them
        (has_failed,) = reduce(parts, _CountLayers(people, fused, thresholds, sinks))
    person_of_probe = people.of_code[scores.codes.probe]
    return GenuineAttempts.from_mates(parts.mates, person_of_probe, fused), has_failed


def _count_listed(
    verified: Verified, thresholds: np.ndarray, sinks: Sequence[Sink]
) -> tuple[GenuineAttempts, bool]:
    """Count attempts that are listed in memory: fixed pairs, or claims."""
    scores = verified.scores
    person = verified.people.of_code
    probe_person = person[scores.codes.probe]
    if verified.claims is None:
        claimed_person = person[scores.codes.gallery]
        values = scores.pair_distances()
        attempt = np.flatnonzero(~np.isnan(values))
        values = scored(values[attempt]) if scores.nan == "reject" else values[attempt]
    else:
        probe_person = probe_person[verified.claims.probe]
        claimed_person = person[scores.gallery_order.subjects][verified.claims.group]
        values, attempt = attempts_of_claims(scores, verified.use.fused, verified.claims)
    values = values.astype(np.float64)
    probe_person = probe_person[attempt]
    claimed_person = claimed_person[attempt]
    is_impostor = probe_person != claimed_person
    pairs = PairCounts.from_attempts(
        probe_person[is_impostor], claimed_person[is_impostor], values[is_impostor], thresholds
    )
    for sink in sinks:
        sink.add(pairs)
    genuine = GenuineAttempts(values[~is_impostor], probe_person[~is_impostor])
    return genuine, bool(np.isnan(values).any())


class _CountLayers(Reducer):
    """Gives sinks the impostor attempts of each pair; the result is whether any attempt failed."""

    def __init__(
        self, people: People, fusion: str | None, thresholds: np.ndarray, sinks: Sequence[Sink]
    ):
        self.person = people.of_code
        self.fusion = fusion
        self.thresholds = thresholds
        self.sinks = sinks
        self.failed = False

    def prepare(self, parts: Parts) -> None:
        self._limits = among_distances(parts.scores, self.thresholds)
        self._guide = guide_to(self._limits)  # a guide to many thresholds costs as much as a block
        codes = parts.scores.codes
        self._person_of_probe = self.person[codes.probe]
        self._person_of_gallery = self.person[codes.gallery]

    def fresh(self) -> Self:
        empty = super().fresh()
        empty.sinks = [sink.fresh() for sink in self.sinks]
        empty.failed = False
        return empty

    def merge(self, other: Self) -> None:
        for sink, copy_of_sink in zip(self.sinks, other.sinks, strict=True):
            sink.merge(copy_of_sink)
        self.failed |= other.failed

    def add(self, block: Block) -> None:
        self.failed |= block.rejected and bool((block.values == np.inf).any())
        is_listed = block.few and block.values.size <= FEW_ATTEMPTS
        if not is_listed and not any(sink.needs_pairs for sink in self.sinks):
            for side in [block] if self.fusion is None else block.sides():
                self._add_scores(side)
            return
        # The columns are templates or fused claims, person after person: `person[k]` of the gallery
        # has the columns ``starts[k]:starts[k + 1]``.
        if self.fusion is None:
            assert block.columns is not None
            assert block.columns.starts is not None
            person, starts = self.person[block.columns.people], block.columns.starts
        else:
            block = block.by_person(self.fusion)
            person = self.person[block.candidates]
            starts = np.arange(len(person) + 1)
        for pairs in self._pairs(block, person.astype(np.int32), starts):
            for sink in self.sinks:
                sink.add(pairs)

    def _add_scores(self, block: Block) -> None:
        """Hand the scores themselves to sinks, which need no pairs."""
        if self.fusion is None:
            claimed = self._person_of_gallery[block.candidates]
        else:
            block = block.by_person(self.fusion)
            claimed = self.person[block.candidates]
        people = self._person_of_probe[block.probes], claimed
        rows, columns = reversed(people) if block.transposed else people
        for sink in self.sinks:
            sink.add_scores(block, rows, columns, (self._limits, *self._guide))

    def _pairs(
        self, block: Block, person: np.ndarray, column_starts: np.ndarray
    ) -> Iterator[PairCounts]:
        """Yield the attempts of a block, for some adjacent people of probes at a time."""
        values = block.values
        probe_person = self._person_of_probe[block.probes]
        if block.few and values.size <= FEW_ATTEMPTS:
            is_attempt = ~np.isnan(values)
            claimed_person = np.repeat(person, np.diff(column_starts))
            probes, claims = np.broadcast_arrays(probe_person[:, None], claimed_person)
            yield PairCounts.from_attempts(
                probes[is_attempt], claims[is_attempt], values[is_attempt], self._limits
            )
            return
        changes = np.flatnonzero(probe_person[1:] != probe_person[:-1]) + 1
        # (s + 1,): where the rows of each person of probes begin, and the end.
        row_starts = np.concatenate([[0], changes, [len(probe_person)]])
        # (s,): a pair of people has at most one entry for each layer, and for each score.
        layers = len(self._limits) + 1
        longest = np.minimum(np.diff(row_starts) * values.shape[1], len(person) * layers)
        batch = np.cumsum(longest) // MOST_ENTRIES
        batch_starts = np.flatnonzero(np.diff(batch)) + 1
        for people_together in np.split(np.arange(len(longest)), batch_starts):
            starts = row_starts[people_together[0] : people_together[-1] + 2]
            # The list of each person begins after room for the longest lists before it.
            room = longest[people_together]
            begin = np.cumsum(room) - room
            end = np.empty_like(begin)
            claimed_person, layer = np.empty((2, int(room.sum())), dtype=np.int32)
            count = np.empty(len(layer), dtype=np.int64)
            list_pairs(
                values[starts[0] : starts[-1]], column_starts, starts - starts[0], person,
                self._limits, *self._guide, begin, claimed_person, layer, count, end,
            )  # fmt: skip
            # Take the lists without the unused room between them.
            filled = np.concatenate([np.arange(*x) for x in zip(begin, end, strict=True)])
            yield PairCounts(
                probe_person[starts[:-1]],
                np.append(0, np.cumsum(end - begin)),
                claimed_person[filled],
                layer[filled],
                count[filled],
            )

    def result(self) -> bool:
        return self.failed

"""The attempts of each pair of people, and how many of them each threshold accepts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from bioeval.base.memory import require_memory
from bioeval.base.progress import report, rows_reported_to
from bioeval.counting.floats import rounded_down
from bioeval.counting.parts import PairParts, Parts, RowParts, TileParts, parts_of
from bioeval.counting.reduce import Reducer, reduce
from bioeval.counting.thresholds import guide_to, indices_among
from bioeval.counting.verification import Verified, attempts_of_claims
from bioeval.kernels.people import list_pairs
from bioeval.scores.blocks import Block, Mates
from bioeval.scores.distances import scored
from bioeval.scores.people import People
from bioeval.scores.rows import among_distances

# The largest table of counts of all pairs of people; if it would be larger, only pairs with
# attempts are listed.
MOST_CELLS = 1 << 22

# Up to this number of attempts, NumPy counts the attempts of pairs of people: nothing is compiled.
FEW_ATTEMPTS = 1 << 18

# The most entries of a list of counts along many thresholds.
_MOST_ENTRIES = 1 << 21

# The most entries that are kept before the counts of equal keys are added.
_MOST_KEPT = 1 << 21


def summed(key: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct keys, increasing, and the sum of the counts of each key."""
    if (key[1:] > key[:-1]).all():
        return key, count
    distinct, index = np.unique(key, return_inverse=True)
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, index.reshape(-1), count)
    return distinct, totals


def _genuine_scores(
    mates: Mates, person: np.ndarray, fusion: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return genuine distances (k,), NaN for failed attempts, and their people (k,)."""
    distance = mates.distance
    owner = person[mates.probe]
    if fusion is not None:
        claims = mates.fused(fusion)
        is_claim = ~np.isnan(claims)
        distance = claims[is_claim]
        owner = person[is_claim]
    distance = scored(distance) if mates.rejected else distance
    return distance.astype(np.float64), owner


class CountPeople(Reducer):
    """Impostor attempts by the person of the probe and the claimed person, and genuine attempts.

    People are numbered in the order of their codes. If no comparison is left out, the number of
    attempts of two people is the product of their `sizes`. Only accepted attempts, and deviations
    from the product, are listed. The result has:

    - `people` (int): the number of people; `names` (list): their labels
    - `no_person` (bool (people,)): which of them are distractors or junk
    - `listed` (bool): whether the attempts are listed pairs
    - `sizes` (int64 (2, people)): the probes of each person, and the templates, or claims, of each
      person in the gallery; 0 for listed pairs
    - `probe`, `claimed`, `layer`, `number` (int64 (entries,)), sorted by the first three: how many
      attempts of two people are above ``thresholds[layer - 1]`` and not above
      ``thresholds[layer]``; in the layer beyond all thresholds, by how many the attempts in all
      exceed the product
    - `genuine` (float64), `genuine_person` (int64): distances, NaN for a failed attempt, and people

    Parameters
    ----------
    thresholds : ndarray of float64, shape (t,)
        Distances, increasing.
    fusion : str, optional
        The rule by which the templates of a person are fused; None: each comparison is an attempt.
    """

    probe: np.ndarray
    claimed: np.ndarray
    layer: np.ndarray
    number: np.ndarray

    def __init__(self, thresholds: np.ndarray, fusion: str | None = None):
        self.thresholds, self.fusion = thresholds, fusion

    def prepare(self, parts: Parts) -> None:
        scores = parts.scores
        codes = parts.scores.codes
        people = People(codes, codes.probe, codes.gallery)
        self.people = people.number
        self.names = people.names
        self.no_person = people.no_person
        self._person = people.of_code
        self._of_probe = self._person[codes.probe]
        self._of_gallery = self._person[codes.gallery]
        self.listed = isinstance(parts, PairParts)
        self.sizes = np.zeros((2, self.people), dtype=np.int64)
        if not self.listed:
            enrolled = self._of_gallery if self.fusion is None else np.unique(self._of_gallery)
            for size, side in zip(self.sizes, (self._of_probe, enrolled), strict=True):
                size += np.bincount(side, minlength=self.people)
        self._limits = among_distances(scores, self.thresholds)
        self.genuine, self.genuine_person = _genuine_scores(
            parts.mates, self._of_probe, self.fusion
        )
        self._begin()

    def _begin(self) -> None:
        cells = self.people**2 * (len(self.thresholds) + 1)
        self._table = np.zeros(cells if cells <= MOST_CELLS else 0, dtype=np.int64)
        self._entries = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        self._number_kept = 0

    def fresh(self) -> Self:
        empty = super().fresh()
        empty._begin()
        return empty

    def add(self, block: Block) -> None:
        if self.listed:
            self._add_listed(block)
        elif self.fusion is None:
            self._add_cells(block, self._of_gallery[block.candidates], twice=block.twice)
        else:
            for side in block.sides():
                claims = side.by_person(self.fusion)
                self._add_cells(claims, self._person[claims.candidates], twice=False)

    def _add_listed(self, block: Block) -> None:
        """Count listed attempts: all deviate from the product of `sizes`, which is 0."""
        attempt = np.flatnonzero(~np.isnan(block.values))
        probe, claimed = (
            self._of_probe[block.probe[attempt]],
            self._of_gallery[block.gallery[attempt]],
        )
        layer = self._first_accepting(block.values[attempt])
        is_accepted = layer < len(self.thresholds)
        self._keep(probe[is_accepted], claimed[is_accepted], layer[is_accepted], 1)
        self._keep(probe, claimed, len(self.thresholds), 1)

    def _add_cells(self, block: Block, claimed: np.ndarray, *, twice: bool) -> None:
        """Keep accepted and missing attempts: all others follow from the product of `sizes`.

        `claimed` has the person of each gallery template of the block; a block that counts `twice`
        stands for its mirror image, too.
        """
        probe = self._of_probe[block.probes]
        values = block.values
        loosest = rounded_down(np.append(-np.inf, self._limits)[-1:], values.dtype)
        row, column = np.divmod(np.flatnonzero(~(values > loosest)), values.shape[1])
        value = values[row, column]
        if block.transposed:
            row, column = column, row
        layer = self._first_accepting(value)
        is_missing = np.isnan(value)
        layer[is_missing] = len(self.thresholds)
        # A tile may have more rows and columns, of NaN. Without thresholds, -inf is no entry.
        is_entry = (row < len(probe)) & (column < len(claimed))
        is_entry &= is_missing | (layer < len(self.thresholds))
        number = 1 - 2 * is_missing.astype(np.int64)  # -1: a missing attempt is in the product
        if not is_entry.all():
            row, column, layer, number = (x[is_entry] for x in (row, column, layer, number))
        probe_person, claimed_person = probe[row], claimed[column]
        self._keep(probe_person, claimed_person, layer, number)
        if twice:
            self._keep(claimed_person, probe_person, layer, number)

    def _first_accepting(self, values: np.ndarray) -> np.ndarray:
        """Return the layer of each value: the index of the first threshold that accepts it."""
        limits = rounded_down(self._limits, values.dtype)
        if len(limits) == 1:
            return (~(values <= limits)).astype(np.int64)
        return limits.searchsorted(values)

    def _keep(self, probe: np.ndarray, claimed: np.ndarray, layer: Any, number: Any) -> None:
        """Add entries (k,) to the table of all pairs, or to the list if pairs are too many."""
        # Keys are in the order of the probe's person, then the claimed person, then the layer.
        key = (probe * self.people + claimed) * (len(self.thresholds) + 1) + layer
        if len(self._table):
            np.add.at(self._table, key, number)
        else:
            self._keep_entries([(key, np.broadcast_to(number, key.shape))])

    def _keep_entries(self, entries: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self._entries += entries
        self._number_kept += sum(len(key) for key, _ in entries)
        if self._number_kept > max(_MOST_KEPT, len(self._entries[0][0])):
            self._entries = [self._joined_entries()]
            self._number_kept = 0

    def _joined_entries(self) -> tuple[np.ndarray, np.ndarray]:
        keys, numbers = zip(*self._entries, strict=True)
        return summed(np.concatenate(keys), np.concatenate(numbers))

    def merge(self, other: Self) -> None:
        self._table += other._table
        self._keep_entries(other._entries)

    def result(self) -> Self:
        key, number = self._joined_entries()
        if len(self._table):
            key = np.flatnonzero(self._table)
            number = self._table[key]
        self.number = number
        pair, self.layer = np.divmod(key, len(self.thresholds) + 1)
        self.probe, self.claimed = np.divmod(pair, max(self.people, 1))
        self._begin()
        self._table = np.empty(0, dtype=np.int64)
        return self

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of people with attempts, ``probe * people + claimed``, and how many."""
        people = self.people
        require_memory(16 * people**2, f"a table of {people:,} people", "expected fewer people")
        nothing = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        pair, counts = map(np.concatenate, zip(nothing, *self.rows(), strict=True))
        return pair, counts

    def rows(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield :meth:`pairs` in parts by the person of the probe, to limit memory."""
        people = self.people
        is_deviation = self.layer == len(self.thresholds)
        pair = (self.probe * people + self.claimed)[is_deviation]
        deviation = self.number[is_deviation]
        people_together = max(1, MOST_CELLS // max(people, 1))
        for low in range(0, people, people_together):
            # (some people * people,): products of sizes, to which deviations are added.
            attempts = np.outer(self.sizes[0, low : low + people_together], self.sizes[1]).reshape(
                -1
            )
            first, end = np.searchsorted(pair, [low * people, (low + people_together) * people])
            attempts[pair[first:end] - low * people] += deviation[first:end]
            compared_pair = np.flatnonzero(attempts)
            yield compared_pair + low * people, attempts[compared_pair]

    def of_groups(
        self, of_probe: np.ndarray, of_claimed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the accepted attempts (t, g, h), and all attempts (g, h), of groups of people.

        `of_probe` and `of_claimed` (people,) are the groups of people as probes and as claimed
        people, from 0.
        """
        number_of_groups = tuple(int(x.max(initial=-1)) + 1 for x in (of_probe, of_claimed))
        thresholds = len(self.thresholds)
        cells = math.prod(number_of_groups)
        # (entries,): the pair of groups of each entry, numbered as in a flat table (g, h).
        group = of_probe[self.probe] * number_of_groups[1] + of_claimed[self.claimed]
        counts = np.zeros((thresholds + 1, cells), dtype=np.int64)  # a row for each layer
        np.add.at(counts.reshape(-1), self.layer * cells + group, self.number)
        # All attempts are the product of a group's probes and templates, plus the last layer.
        probes, templates = (
            np.rint(np.bincount(group_of_person, size, number)).astype(np.int64)
            for group_of_person, size, number in zip(
                (of_probe, of_claimed), self.sizes, number_of_groups, strict=True
            )
        )
        attempts = np.outer(probes, templates) + counts[thresholds].reshape(number_of_groups)
        accepted = counts[:thresholds].cumsum(axis=0)
        return accepted.reshape(thresholds, *number_of_groups), attempts


# ---------------------------------------------------------------------- along many thresholds


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
        numbers = indices_among(distance, thresholds), claimed_person, probe_person
        # Whole numbers of 16 bits are sorted several times as fast as larger ones.
        key = [x.astype(np.min_scalar_type(x.max(initial=0))) for x in numbers]
        # By the person of the probe, then the claimed person, then layer; equal keys are a run.
        order = np.lexsort(key)
        layer, claimed, probe = (x[order] for x in key)
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


class Sink(Protocol):
    """A consumer of impostor counts, which come in any order, by layers between thresholds."""

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""

    def add(self, pairs: PairCounts) -> None:
        """Add attempts between different subjects."""

    def merge(self, other: Self) -> None:
        """Add the counts of a copy."""


def count_layers(
    verified: Verified, thresholds: np.ndarray, *sinks: Sink
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Give sinks the numbers of impostor attempts of each pair of people between thresholds.

    Layer ``k`` has the attempts above ``thresholds[k - 1]`` and not above ``thresholds[k]``; the
    last layer has all others. Return the genuine scores (float64), NaN for failed attempts, the
    people of the genuine attempts, and whether an impostor attempt failed.
    """
    scores = verified.scores
    fused = verified.use.fused
    people = verified.people
    if verified.claims is not None or scores.layout == "pairs":
        return _count_listed(verified, thresholds, sinks)
    probing = scores.codes.probe
    changes = np.count_nonzero(probing[1:] != probing[:-1]) + 1
    if changes > len(np.unique(probing)):  # make the probes of each person adjacent
        scores = scores.select(probes=np.argsort(probing, kind="stable"))
    rows = parts_of(scores, nearest=False)
    tiles = parts_of(scores, nearest=fused in (None, "best"))
    if isinstance(tiles, TileParts):  # a few tiles have all mates, as in verification
        assert isinstance(rows, RowParts)
        rows.take_mates(tiles.mates)
    with rows_reported_to(report):  # the stage that counts the rows reports them
        (failed,) = reduce(rows, _CountLayers(people, fused, thresholds, sinks))
    return *_genuine_scores(rows.mates, people.of_code[scores.codes.probe], fused), failed


def _count_listed(
    verified: Verified, thresholds: np.ndarray, sinks: Sequence[Sink]
) -> tuple[np.ndarray, np.ndarray, bool]:
    scores = verified.scores
    people = verified.people
    codes = verified.scores.codes
    probe = people.of_code[codes.probe]
    claimed_person = people.of_code[codes.gallery]
    if verified.claims is None:
        values = scores.pair_distances()
        attempt = np.flatnonzero(~np.isnan(values))
        values = scored(values[attempt]) if scores.nan == "reject" else values[attempt]
    else:
        values, attempt = attempts_of_claims(scores, verified.use.fused, verified.claims)
        probe = probe[verified.claims.probe]
        enrolled = people.of_code[scores.gallery_order.subjects]
        claimed_person = enrolled[verified.claims.group]
    values = values.astype(np.float64)
    probe = probe[attempt]
    claimed_person = claimed_person[attempt]
    is_genuine = probe == claimed_person
    impostors = probe[~is_genuine], claimed_person[~is_genuine], values[~is_genuine]
    pairs = PairCounts.from_attempts(*impostors, thresholds)
    for sink in sinks:
        sink.add(pairs)
    return values[is_genuine], probe[is_genuine], bool(np.isnan(values).any())


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
        assert isinstance(parts, RowParts)
        self._limits = among_distances(parts.scores, self.thresholds)
        self._guide = guide_to(self._limits)  # a guide to many thresholds costs as much as a block
        self._probe = self.person[parts.scores.codes.probe]

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
        # `people` are the gallery people of the block, `person_of_column` (columns,) the index of
        # each column's person, and `starts` (people + 1,) where the columns of each begin.
        if self.fusion is None:
            assert block.columns is not None
            people, person_of_column, starts, _ = block.columns
            assert starts is not None
        else:
            block = block.by_person(self.fusion)
            people = block.candidates
            person_of_column = np.arange(len(block.candidates))
            starts = np.arange(len(people) + 1)
        probe_person = self._probe[block.probes]
        groups = self.person[people].astype(np.int32)
        if block.few and block.values.size <= FEW_ATTEMPTS:
            is_attempt = ~np.isnan(block.values)
            probe, claimed = np.broadcast_arrays(probe_person[:, None], groups[person_of_column])
            pairs = PairCounts.from_attempts(
                probe[is_attempt], claimed[is_attempt], block.values[is_attempt], self._limits
            )
            for sink in self.sinks:
                sink.add(pairs)
            return
        for entries in self._listed_entries(block.values, probe_person, groups, starts):
            for sink in self.sinks:
                sink.add(entries)

    def _listed_entries(
        self, values: np.ndarray, probe_person: np.ndarray, groups: np.ndarray, starts: np.ndarray
    ) -> Iterator[PairCounts]:
        """Yield the attempts of a block, for some adjacent people of probes at a time.

        `probe_person` (rows,) has the person of each probe, `groups` (g,) the gallery people.
        """
        layers = len(self._limits) + 1
        # (s + 1,): where the rows of each person of probes begin, and the end.
        first = np.concatenate(
            [[0], np.nonzero(probe_person[1:] != probe_person[:-1])[0] + 1, [len(probe_person)]]
        )
        # (s,): a pair of people has at most one entry for each layer, and for each score.
        longest = np.minimum(np.diff(first) * values.shape[1], len(groups) * layers)
        batch = np.cumsum(longest) // _MOST_ENTRIES
        for people_together in np.split(
            np.arange(len(longest)), np.flatnonzero(np.diff(batch)) + 1
        ):
            ends = first[people_together[0] : people_together[-1] + 2]
            # The list of each person begins after room for the longest lists before it.
            begin = np.cumsum(longest[people_together]) - longest[people_together]
            size = int(longest[people_together].sum())
            last = np.empty_like(begin)
            claimed_person, layer = np.empty((2, size), dtype=np.int32)
            count = np.empty(size, dtype=np.int64)
            list_pairs(
                values[ends[0] : ends[-1]],
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
            # Take the lists without the unused room between them.
            filled = np.concatenate([np.arange(*x) for x in zip(begin, last, strict=True)])
            yield PairCounts(
                probe_person[ends[:-1]],
                np.append(0, np.cumsum(last - begin)),
                claimed_person[filled],
                layer[filled],
                count[filled],
            )

    def result(self) -> bool:
        return self.failed

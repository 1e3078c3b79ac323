"""The attempts of each pair of people, and how many of them a few thresholds accept."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from bioeval.base.options import require_memory
from bioeval.counting.order import rounded_down
from bioeval.counting.parts import PairParts, Parts
from bioeval.counting.reduce import Reducer
from bioeval.scores.blocks import Block, Mates
from bioeval.scores.distances import scored
from bioeval.scores.people import People
from bioeval.scores.rows import among_distances

# The largest table of counts of all pairs of people; if it would be larger, only pairs with
# attempts are listed.
MOST_CELLS = 1 << 22

# The most entries that are kept before the counts of equal keys are added.
_MOST_KEPT = 1 << 21


class GenuineAttempts(NamedTuple):
    """Genuine attempts, and the person of each."""

    distance: np.ndarray  # float64 (k,): NaN for a failed attempt
    person: np.ndarray  # int64 (k,)

    @classmethod
    def from_mates(
        cls, mates: Mates, person_of_probe: np.ndarray, fusion: str | None
    ) -> GenuineAttempts:
        distance = mates.distance
        person = person_of_probe[mates.probe]
        if fusion is not None:
            claims = mates.fused(fusion)
            is_claim = ~np.isnan(claims)
            distance = claims[is_claim]
            person = person_of_probe[is_claim]
        distance = scored(distance) if mates.rejected else distance
        return cls(distance.astype(np.float64), person)


class NumbersByKey:
    """Numbers that are added by whole keys: in a table if there are few keys, or else in lists."""

    def __init__(self, keys: int):
        self._keys = keys
        self._table = np.zeros(keys if keys <= MOST_CELLS else 0, dtype=np.int64)
        #: Keys and numbers; of the first list, the keys are distinct and increasing.
        self._lists = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        self._listed = 0  # the number of entries of all lists but the first

    def fresh(self) -> NumbersByKey:
        return NumbersByKey(self._keys)

    def add(self, key: np.ndarray, number: Any) -> None:
        if len(self._table):
            np.add.at(self._table, key, number)
        else:
            self._add_lists([(key, np.broadcast_to(number, key.shape))])

    def merge(self, other: NumbersByKey) -> None:
        self._table += other._table
        self._add_lists(other._lists)

    def _add_lists(self, lists: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self._lists += lists
        self._listed += sum(len(key) for key, _ in lists)
        if self._listed > max(_MOST_KEPT, len(self._lists[0][0])):
            self._lists = [self._summed_lists()]
            self._listed = 0

    def _summed_lists(self) -> tuple[np.ndarray, np.ndarray]:
        key, number = (np.concatenate(x) for x in zip(*self._lists, strict=True))
        if (key[1:] > key[:-1]).all():
            return key, number
        distinct, index = np.unique(key, return_inverse=True)
        sums = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(sums, index.reshape(-1), number)
        return distinct, sums

    def totals(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct keys, increasing, and the sum of the numbers of each key."""
        if not len(self._table):
            return self._summed_lists()
        key = np.flatnonzero(self._table)
        return key, self._table[key]


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

    The `thresholds` (float64 (t,)) are increasing distances. Templates of a person are fused by a
    rule; if it is None, each comparison is an attempt.
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
        genuine = GenuineAttempts.from_mates(parts.mates, self._of_probe, self.fusion)
        self.genuine, self.genuine_person = genuine
        self._entries = NumbersByKey(self.people**2 * (len(self.thresholds) + 1))

    def fresh(self) -> Self:
        empty = super().fresh()
        empty._entries = self._entries.fresh()
        return empty

    def add(self, block: Block) -> None:
        if self.listed:
            # Count listed attempts: all deviate from the product of `sizes`, which is 0.
            attempt = np.flatnonzero(~np.isnan(block.values))
            probe = self._of_probe[block.probe[attempt]]
            claimed = self._of_gallery[block.gallery[attempt]]
            layer = self._first_accepting(block.values[attempt])
            is_accepted = layer < len(self.thresholds)
            self._add(probe[is_accepted], claimed[is_accepted], layer[is_accepted], 1)
            self._add(probe, claimed, len(self.thresholds), 1)
        elif self.fusion is None:
            self._add_cells(block, self._of_gallery[block.candidates], twice=block.twice)
        else:
            for side in block.sides():
                claims = side.by_person(self.fusion)
                self._add_cells(claims, self._person[claims.candidates], twice=False)

    def _add_cells(self, block: Block, claimed: np.ndarray, *, twice: bool) -> None:
        """Add accepted and missing attempts: all others follow from the product of `sizes`.

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
        self._add(probe[row], claimed[column], layer, number)
        if twice:
            self._add(claimed[column], probe[row], layer, number)

    def _first_accepting(self, values: np.ndarray) -> np.ndarray:
        """Return the layer of each value: the index of the first threshold that accepts it."""
        limits = rounded_down(self._limits, values.dtype)
        if len(limits) == 1:
            return (~(values <= limits)).astype(np.int64)
        return limits.searchsorted(values)

    def _add(self, probe: np.ndarray, claimed: np.ndarray, layer: Any, number: Any) -> None:
        # Keys are in the order of the probe's person, then the claimed person, then the layer.
        key = (probe * self.people + claimed) * (len(self.thresholds) + 1) + layer
        self._entries.add(key, number)

    def merge(self, other: Self) -> None:
        self._entries.merge(other._entries)

    def result(self) -> Self:
        key, self.number = self._entries.totals()
        self._entries = NumbersByKey(0)  # the memory is no longer needed
        pair, self.layer = np.divmod(key, len(self.thresholds) + 1)
        self.probe, self.claimed = np.divmod(pair, max(self.people, 1))
        return self

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of people with attempts, ``probe * people + claimed``, and how many."""
        people = self.people
        require_memory(16 * people**2, f"a table of {people:,} people", "expected fewer people")
        is_deviation = self.layer == len(self.thresholds)
        deviating_pair = (self.probe * people + self.claimed)[is_deviation]
        deviation = self.number[is_deviation]
        pairs = [np.empty(0, dtype=np.int64)]
        numbers = [np.empty(0, dtype=np.int64)]
        # For some people of probes at a time, to limit memory.
        people_together = max(1, MOST_CELLS // max(people, 1))
        for low in range(0, people, people_together):
            sizes = self.sizes[0, low : low + people_together], self.sizes[1]
            attempts = np.outer(*sizes).reshape(-1)  # the products, then with the deviations
            ends = [low * people, (low + people_together) * people]
            some = slice(*deviating_pair.searchsorted(ends))
            attempts[deviating_pair[some] - low * people] += deviation[some]
            compared_pair = np.flatnonzero(attempts)
            pairs.append(compared_pair + low * people)
            numbers.append(attempts[compared_pair])
        return np.concatenate(pairs), np.concatenate(numbers)

    def of_groups(
        self, of_probe: np.ndarray, of_claimed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the accepted attempts (t, g, h), and all attempts (g, h), of groups of people.

        `of_probe` and `of_claimed` (people,) are the groups of people as probes and as claimed
        people, from 0.
        """
        groups = int(of_probe.max(initial=-1)) + 1, int(of_claimed.max(initial=-1)) + 1
        thresholds = len(self.thresholds)
        # (entries,): the pair of groups of each entry, numbered as in a flat table (g, h).
        group_pair = of_probe[self.probe] * groups[1] + of_claimed[self.claimed]
        counts = np.zeros((thresholds + 1, math.prod(groups)), dtype=np.int64)  # by layer
        np.add.at(counts, (self.layer, group_pair), self.number)
        # All attempts are the product of a group's probes and templates, plus the last layer.
        sizes = (
            np.rint(np.bincount(group_of_person, size, number)).astype(np.int64)
            for group_of_person, size, number in zip(
                (of_probe, of_claimed), self.sizes, groups, strict=True
            )
        )
        attempts = np.outer(*sizes) + counts[thresholds].reshape(groups)
        return counts[:thresholds].cumsum(axis=0).reshape(thresholds, *groups), attempts

"""The attempts of each pair of people, and how many of them a few thresholds accept.

In words, for distances of a matrix and increasing thresholds::

    for probe, template in impostor_attempts:
        pair = person[probe], person[template]
        attempts[pair] += 1
        accepted[pair] += distance[probe, template] <= thresholds

Most pairs of people have as many attempts as the first person has probes times the second has
templates, and no accepted attempt. So :class:`CountPeople` lists only what departs from this, in a
sparse table, :class:`NumbersByKey`. Two probes of A against three templates of B, of which one
comparison is missing and one is accepted by the second of two thresholds, give two entries::

    probe  claimed  layer  number
    A      B        1      +1       accepted by thresholds[1], not by thresholds[0]
    A      B        2      -1       layer len(thresholds): 2 * 3 - 1 attempts in all
"""

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

# The most entries that are kept before the counts of equal keys are added: 32 MiB.
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
        self._unsummed = 0  # the number of entries of all lists but the first

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
        self._unsummed += sum(len(key) for key, _ in lists)
        # To wait until there are as many new entries as summed ones limits the time for sorting.
        summed = len(self._lists[0][0])
        if self._unsummed > max(_MOST_KEPT, summed):
            self._lists = [self._summed_lists()]
            self._unsummed = 0

    def _summed_lists(self) -> tuple[np.ndarray, np.ndarray]:
        key = np.concatenate([keys for keys, _ in self._lists])
        number = np.concatenate([numbers for _, numbers in self._lists])
        if (key[1:] > key[:-1]).all():  # already distinct and increasing
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
        #: The last layer: not the layer of a threshold, but of deviations from the product.
        self._deviations = len(thresholds)

    def prepare(self, parts: Parts) -> None:
        codes = parts.scores.codes
        # The people: numbered, and looked up by code, by probe and by gallery template.
        people = People(codes, codes.probe, codes.gallery)
        self.people = people.number
        self.names = people.names
        self.no_person = people.no_person
        self._person = people.of_code
        self._of_probe = self._person[codes.probe]
        self._of_gallery = self._person[codes.gallery]
        # The product of `sizes` is the number of attempts if all templates are compared. Listed
        # pairs are any comparisons: no product, so that every attempt is a deviation from 0.
        self.listed = isinstance(parts, PairParts)
        self.sizes = np.zeros((2, self.people), dtype=np.int64)
        if not self.listed:
            # With fusion, all templates of a person together are one claim.
            claimed = self._of_gallery if self.fusion is None else np.unique(self._of_gallery)
            self.sizes[0] = np.bincount(self._of_probe, minlength=self.people)
            self.sizes[1] = np.bincount(claimed, minlength=self.people)
        self._limits = among_distances(parts.scores, self.thresholds)
        genuine = GenuineAttempts.from_mates(parts.mates, self._of_probe, self.fusion)
        self.genuine, self.genuine_person = genuine
        self._entries = NumbersByKey(self.people**2 * (len(self.thresholds) + 1))

    def fresh(self) -> Self:
        empty = super().fresh()
        empty._entries = self._entries.fresh()
        return empty

    def add(self, block: Block) -> None:
        if self.listed:
            self._add_listed(block)
        elif self.fusion is None:
            self._add_cells(block, self._of_gallery[block.candidates])
        else:
            for side in block.sides():
                claims = side.by_person(self.fusion)
                self._add_cells(claims, self._person[claims.candidates])

    def _add_listed(self, block: Block) -> None:
        """Add the accepted attempts of listed pairs, and all attempts as deviations from 0."""
        attempt = np.flatnonzero(~np.isnan(block.values))
        probe = self._of_probe[block.probe[attempt]]
        claimed = self._of_gallery[block.gallery[attempt]]
        layer = self._first_accepting(block.values[attempt])
        is_accepted = layer < len(self.thresholds)
        self._add_entries(probe[is_accepted], claimed[is_accepted], layer[is_accepted], 1)
        self._add_entries(probe, claimed, self._deviations, 1)

    def _add_cells(self, block: Block, candidate_person: np.ndarray) -> None:
        """Add the accepted attempts of a block of comparisons, and its missing comparisons.

        `candidate_person` has the person of each gallery template, or claim, of the block.
        """
        probe_person = self._of_probe[block.probes]
        shape = len(probe_person), len(candidate_person)
        if block.transposed:
            shape = shape[::-1]
        values = block.values[: shape[0], : shape[1]]  # a tile may have more of both, of NaN
        # Most cells are rejected attempts, which the product of `sizes` counts. One comparison
        # finds all others: it is false for NaN, a missing comparison, as for accepted attempts.
        if len(self.thresholds):
            loosest = rounded_down(self._limits[-1:], values.dtype)
            index = np.flatnonzero(~(values > loosest))
        else:
            index = np.flatnonzero(np.isnan(values))
        row, column = np.divmod(index, values.shape[1])
        value = values[row, column]
        layer = self._first_accepting(value)  # of NaN, the layer of deviations
        number = np.where(np.isnan(value), -1, 1)  # the product counts a missing attempt, too
        if block.transposed:
            row, column = column, row
        probe, claimed = probe_person[row], candidate_person[column]
        self._add_entries(probe, claimed, layer, number)
        if block.twice:  # a tile that stands for its mirror image, too
            self._add_entries(claimed, probe, layer, number)

    def _first_accepting(self, values: np.ndarray) -> np.ndarray:
        """Return the index of the first threshold that accepts each value.

        It is the number of thresholds if none accepts the value, or if the value is NaN.
        """
        limits = rounded_down(self._limits, values.dtype)
        if len(limits) == 1:  # faster than a search
            return (~(values <= limits)).astype(np.int64)
        return limits.searchsorted(values)

    def _add_entries(self, probe: np.ndarray, claimed: np.ndarray, layer: Any, number: Any) -> None:
        # Keys are in the order of the probe's person, then the claimed person, then the layer.
        key = (probe * self.people + claimed) * (len(self.thresholds) + 1) + layer
        self._entries.add(key, number)

    def merge(self, other: Self) -> None:
        self._entries.merge(other._entries)

    def result(self) -> Self:
        key, self.number = self._entries.totals()  # keys of `_add_entries`, increasing
        self._entries = NumbersByKey(0)  # the memory is no longer needed
        pair, self.layer = np.divmod(key, len(self.thresholds) + 1)
        self.probe, self.claimed = np.divmod(pair, max(self.people, 1))
        return self

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of people with attempts, ``probe * people + claimed``, and how many."""
        people = self.people
        require_memory(16 * people**2, f"a table of {people:,} people", "expected fewer people")
        is_deviation = self.layer == self._deviations
        deviating_pair = (self.probe * people + self.claimed)[is_deviation]
        deviation = self.number[is_deviation]
        pairs = [np.empty(0, dtype=np.int64)]
        numbers = [np.empty(0, dtype=np.int64)]
        # Take some people of probes at a time, to limit memory.
        people_together = max(1, MOST_CELLS // max(people, 1))
        for low in range(0, people, people_together):
            high = low + people_together
            attempts = np.outer(self.sizes[0, low:high], self.sizes[1]).reshape(-1)
            first, end = deviating_pair.searchsorted([low * people, high * people])
            attempts[deviating_pair[first:end] - low * people] += deviation[first:end]
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
        # (entries,): the pair of groups of each entry, numbered as in a flat table (g, h).
        group_pair = of_probe[self.probe] * groups[1] + of_claimed[self.claimed]
        counts = np.zeros((len(self.thresholds) + 1, math.prod(groups)), dtype=np.int64)
        np.add.at(counts, (self.layer, group_pair), self.number)
        by_layer = counts.reshape(len(self.thresholds) + 1, *groups)
        # A threshold accepts the attempts of its own layer, and of those before.
        accepted = by_layer[: self._deviations].cumsum(axis=0)
        # All attempts are the product of two groups' sizes, plus the deviations.
        probes = np.zeros(groups[0], dtype=np.int64)
        claimed = np.zeros(groups[1], dtype=np.int64)
        np.add.at(probes, of_probe, self.sizes[0])
        np.add.at(claimed, of_claimed, self.sizes[1])
        return accepted, np.outer(probes, claimed) + by_layer[self._deviations]

"""The attempts of each pair of people, and how many of them a few thresholds accept.

In words, for distances of a matrix and increasing thresholds::

    for probe, template in impostor_attempts:
        pair = person[probe], person[template]
        attempts[pair] += 1
        accepted[pair] += distance[probe, template] <= thresholds

Most pairs of people have no accepted attempt, and as many attempts as the first person has probes
times the second has templates. So only accepted attempts are listed, each at the first threshold
that accepts it, and comparisons that are missing from the product, in two sparse tables,
:class:`NumbersByKey`. Two probes of A against three templates of B, of which one comparison is
missing and one is accepted by the second of two thresholds, are listed as::

    accepted     A  B  thresholds[1]  1
    beyond       A  B  -1               so that A has 2 * 3 - 1 attempts against B

:class:`CountPeople` counts the blocks of the scores, and returns :class:`CountedPeople`.
"""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class CountedPeople:
    """Impostor attempts by the person of the probe and the claimed person, and genuine attempts.

    People are numbered in the order of their codes. A pair of people is the number ``probe * people
    + claimed``.
    """

    names: list  # the label of each person
    no_person: np.ndarray  # bool (people,): which of them are distractors or junk
    listed: bool  # whether the attempts are listed pairs
    #: int64 (2, people): the probes of each person, and the templates, or claims, of each person in
    #: the gallery; 0 for listed pairs. All attempts of a pair are their product, and the `beyond`.
    sizes: np.ndarray
    genuine: GenuineAttempts
    thresholds: int  # how many
    #: Pairs, int64 (k,), the first threshold that accepts an attempt, and the number of attempts.
    accepted: tuple[np.ndarray, np.ndarray, np.ndarray]
    #: Increasing pairs, int64 (k,), and the attempts beyond the product of sizes, perhaps negative.
    beyond: tuple[np.ndarray, np.ndarray]

    @property
    def people(self) -> int:
        """The number of people."""
        return len(self.names)

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs of people with attempts, increasing, and the number of attempts."""
        people = self.people
        require_memory(16 * people**2, f"a table of {people:,} people", "expected fewer people")
        pair_beyond, number_beyond = self.beyond
        pairs = [np.empty(0, dtype=np.int64)]
        numbers = [np.empty(0, dtype=np.int64)]
        # Take some people of probes at a time, to limit memory.
        people_together = max(1, MOST_CELLS // max(people, 1))
        for low in range(0, people, people_together):
            high = low + people_together
            attempts = np.outer(self.sizes[0, low:high], self.sizes[1]).reshape(-1)
            first, end = pair_beyond.searchsorted([low * people, high * people])
            attempts[pair_beyond[first:end] - low * people] += number_beyond[first:end]
            compared_pair = np.flatnonzero(attempts)
            pairs.append(compared_pair + low * people)
            numbers.append(attempts[compared_pair])
        return np.concatenate(pairs), np.concatenate(numbers)

    def accepted_of_pairs(self, pairs: np.ndarray) -> np.ndarray:
        """Return how many attempts each threshold accepts, (t, pairs); `pairs` as :meth:`pairs`."""
        pair, threshold, number = self.accepted
        accepted_first = np.zeros((self.thresholds, len(pairs)), dtype=np.int64)
        accepted_first[threshold, pairs.searchsorted(pair)] = number
        return accepted_first.cumsum(axis=0)

    def of_groups(
        self, of_probe: np.ndarray, of_claimed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the accepted attempts (t, g, h), and all attempts (g, h), of groups of people.

        `of_probe` and `of_claimed` (people,) are the groups of people as probes and as claimed
        people, from 0.
        """
        shape = int(of_probe.max(initial=-1)) + 1, int(of_claimed.max(initial=-1)) + 1
        pair, threshold, number = self.accepted
        probe, claimed = np.divmod(pair, max(self.people, 1))
        accepted_first = np.zeros((self.thresholds, *shape), dtype=np.int64)
        np.add.at(accepted_first, (threshold, of_probe[probe], of_claimed[claimed]), number)
        pair, number = self.beyond
        probe, claimed = np.divmod(pair, max(self.people, 1))
        probes = np.zeros(shape[0], dtype=np.int64)
        templates = np.zeros(shape[1], dtype=np.int64)
        np.add.at(probes, of_probe, self.sizes[0])
        np.add.at(templates, of_claimed, self.sizes[1])
        attempts = np.outer(probes, templates)
        np.add.at(attempts, (of_probe[probe], of_claimed[claimed]), number)
        return accepted_first.cumsum(axis=0), attempts


class CountPeople(Reducer):
    """Counts :class:`CountedPeople`.

    The `thresholds` (float64 (t,)) are increasing distances. Templates of a person are fused by a
    rule; if it is None, each comparison is an attempt.
    """

    def __init__(self, thresholds: np.ndarray, fusion: str | None = None):
        self.thresholds, self.fusion = thresholds, fusion

    def prepare(self, parts: Parts) -> None:
        """Number the people, find the product of their sizes, and make empty tables."""
        codes = parts.scores.codes
        self._people = People(codes, codes.probe, codes.gallery)
        self._of_probe = self._people.of_code[codes.probe]
        self._of_gallery = self._people.of_code[codes.gallery]
        people = self._people.number
        # The product of `sizes` is the number of attempts if all templates are compared. Listed
        # pairs are any comparisons: no product, so that every attempt is beyond it.
        self._is_listed = isinstance(parts, PairParts)
        self._sizes = np.zeros((2, people), dtype=np.int64)
        if not self._is_listed:
            # With fusion, all templates of a person together are one claim.
            claimed = self._of_gallery if self.fusion is None else np.unique(self._of_gallery)
            self._sizes[0] = np.bincount(self._of_probe, minlength=people)
            self._sizes[1] = np.bincount(claimed, minlength=people)
        self._limits = among_distances(parts.scores, self.thresholds)
        self._genuine = GenuineAttempts.from_mates(parts.mates, self._of_probe, self.fusion)
        self._accepted = NumbersByKey(people**2 * len(self.thresholds))
        self._beyond = NumbersByKey(people**2)

    def fresh(self) -> Self:
        empty = super().fresh()
        empty._accepted = self._accepted.fresh()
        empty._beyond = self._beyond.fresh()
        return empty

    def merge(self, other: Self) -> None:
        self._accepted.merge(other._accepted)
        self._beyond.merge(other._beyond)

    def add(self, block: Block) -> None:
        if self._is_listed:
            self._add_listed(block)
        elif self.fusion is None:
            self._add_cells(block, self._of_gallery[block.candidates])
        else:
            for side in block.sides():
                claims = side.by_person(self.fusion)
                self._add_cells(claims, self._people.of_code[claims.candidates])

    def _add_listed(self, block: Block) -> None:
        """Add listed pairs: all their attempts are beyond the product, which is 0."""
        attempt = np.flatnonzero(~np.isnan(block.values))
        pair = self._pair(
            self._of_probe[block.probe[attempt]], self._of_gallery[block.gallery[attempt]]
        )
        self._beyond.add(pair, 1)
        threshold = self._first_accepting(block.values[attempt])
        is_accepted = threshold < len(self.thresholds)
        self._add_accepted(pair[is_accepted], threshold[is_accepted])

    def _add_cells(self, block: Block, candidate_person: np.ndarray) -> None:
        """Add the accepted attempts of a block of comparisons, and its missing comparisons.

        `candidate_person` has the person of each gallery template, or claim, of the block.
        """
        probe_person = self._of_probe[block.probes]
        rows, columns = probe_person, candidate_person
        if block.transposed:
            rows, columns = columns, rows
        values = block.values[: len(rows), : len(columns)]  # a tile may have more of both, of NaN
        # Most cells are rejected attempts. One comparison finds all others: it is false for NaN, a
        # missing comparison, as for accepted attempts.
        if len(self.thresholds):
            loosest = rounded_down(self._limits[-1:], values.dtype)
            index = np.flatnonzero(~(values > loosest))
        else:
            index = np.flatnonzero(np.isnan(values))
        row, column = np.divmod(index, values.shape[1])
        value = values[row, column]
        is_missing = np.isnan(value)
        is_accepted = ~is_missing
        threshold = self._first_accepting(value[is_accepted])
        first, second = rows[row], columns[column]
        people = [(second, first)] if block.transposed else [(first, second)]
        if block.twice:  # a tile that stands for its mirror image, too
            people.append((second, first))
        for probe, claimed in people:
            pair = self._pair(probe, claimed)
            self._add_accepted(pair[is_accepted], threshold)
            self._beyond.add(pair[is_missing], -1)

    def _pair(self, probe: np.ndarray, claimed: np.ndarray) -> np.ndarray:
        return probe * self._people.number + claimed

    def _first_accepting(self, values: np.ndarray) -> np.ndarray:
        """Return the index of the first threshold that accepts each value, which is not NaN.

        It is the number of thresholds if none accepts the value.
        """
        limits = rounded_down(self._limits, values.dtype)
        if len(limits) == 1:  # faster than a search
            return (values > limits).astype(np.int64)
        return limits.searchsorted(values)

    def _add_accepted(self, pair: np.ndarray, threshold: np.ndarray) -> None:
        self._accepted.add(pair * len(self.thresholds) + threshold, 1)

    def result(self) -> CountedPeople:
        key, number = self._accepted.totals()
        pair, threshold = np.divmod(key, max(len(self.thresholds), 1))
        return CountedPeople(
            names=self._people.names,
            no_person=self._people.no_person,
            listed=self._is_listed,
            sizes=self._sizes,
            genuine=self._genuine,
            thresholds=len(self.thresholds),
            accepted=(pair, threshold, number),
            beyond=self._beyond.totals(),
        )


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
        elif len(key):
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

"""Sums of attempts at weights of people, and sums without each person.

Every limit is computed from a measure at several weights of people. In the first column, the data,
everyone has weight 1. In the other columns one person has weight 0 (the jackknife: Quenouille 1956,
Tukey 1958), or people are drawn with replacement, and their weight is how often they were drawn
(the subsets bootstrap: Bolle, Ratha and Pankanti 2004). A genuine attempt of ``a`` counts ``w_a``
times, and an impostor attempt of ``a`` and ``b`` ``w_a w_b`` times. Copies of a person are not
compared with each other. Drawn weights and counts are integers, whose sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Self

import numpy as np
import scipy

from bioeval.counting.pair_layers import Guided, PairCounts, Sink
from bioeval.counting.people import GenuineAttempts
from bioeval.kernels.people import add_by_person, sort_by_layer, weigh_pairs
from bioeval.scores.blocks import Block

#: The most people who are left out one by one; more people are left out in this number of groups.
GROUPS = 1000


def groups_of(people: int) -> np.ndarray:
    """Return the group with which each person is left out: its own, up to a thousand people."""
    return np.arange(people) * min(people, GROUPS) // max(people, 1)


def groups_of_people(
    no_person: np.ndarray, units: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Return the group with which each subject is left out, and the number of groups.

    The people of a unit are in one group; without `units` (subjects,), each person is one.
    Templates of no person, such as distractors, are never left out: their group is the number of
    groups.
    """
    person = np.arange(int((~no_person).sum()))
    if units is not None:
        _, person = np.unique(units[~no_person], return_inverse=True)
    group = groups_of(int(person.max(initial=-1)) + 1)[person]
    groups = int(group.max(initial=-1)) + 1
    group_of_subject = np.full(len(no_person), groups)
    group_of_subject[~no_person] = group
    return group_of_subject, groups


def without_each(sums_of_person: np.ndarray, total: np.ndarray | None = None) -> np.ndarray:
    """Return sums, and the sums without each person, (..., 1 + people).

    `sums_of_person` (..., people) is missing without each person. `total` is their sum by default;
    it is another number if attempts have two people, or none.
    """
    if total is None:
        total = sums_of_person.sum(axis=-1)
    return np.concatenate([total[..., None], total[..., None] - sums_of_person], axis=-1)


def rates_without_each(
    errors_of_unit: np.ndarray,
    attempts_of_unit: np.ndarray,
    errors: np.ndarray | None = None,
    attempts: np.ndarray | None = None,
) -> np.ndarray:
    """Return rates, and the rates without each unit, (..., 1 + units); NaN without an attempt.

    A unit is a person or a group of people, with its comparisons, queries or searches. The errors
    and attempts in all are by default those of all units, see :func:`without_each`.
    """
    return ratio(without_each(errors_of_unit, errors), without_each(attempts_of_unit, attempts))


def kish(attempts: np.ndarray) -> float:
    """Return the effective number of people (Kish 1965), from the attempts of each person.

    The number is ``(sum n)^2 / sum n^2``: the number of people if all make equally many attempts,
    and 0 without an attempt.
    """
    attempts = np.asarray(attempts, dtype=np.float64)
    squares = float((attempts**2).sum())
    return float(attempts.sum()) ** 2 / squares if squares else 0.0


# The most columns of weights in a tile.
_TILE = 256

# Up to this number of products, no loop is used that may have to be compiled.
_FEW_PRODUCTS = 1 << 27

# The number of columns in a tile is a multiple of the lanes of an instruction.
_LANES = 32

# If fewer than one cell in this number is not 0, a sparse product is faster than a dense one, whose
# threads wait for each other.
_SPARSE = 10

# The most values of curves without some people, which fit into the cache.
_CURVES_AT_ONCE = 1 << 19

# The most values of a temporary array.
VALUES_AT_ONCE = 1 << 22


class QuadraticForms(Sink):
    """Sums of ``w_a w_b`` over the attempts between ``a`` and ``b``, for each column of weights.

    - `weights` (float32 (subjects, columns)): whole numbers
    - `layers`: the number of layers, such as the attempts between two thresholds
    - `layer_of_counted` (int32 (counted layers,)): the layer of each counted layer, if they differ
    - `both_ways`: whether attempts are the same in both directions: one is weighed and doubled
    - `totals` (float64 (layers, columns)): the sums
    """

    sums = ("_totals", "_sums")

    def __init__(
        self,
        weights: np.ndarray,
        layers: int,
        layer_of_counted: np.ndarray | None = None,
        *,
        both_ways: bool = False,
    ):
        self.weights = weights
        self.layers = layers
        self._layer_of_counted = layer_of_counted
        self._both_ways = both_ways
        self._largest = int(weights.max(initial=1))
        dtype = np.uint8 if self._largest <= np.iinfo(np.uint8).max else np.uint32
        self._tiles = _padded_tiles(weights.astype(dtype))
        tiles, _, width = self._tiles.shape
        self._totals = np.zeros((tiles, self.layers, width))
        self._sums = np.zeros((tiles, width), dtype=np.uint16)
        self._products = 0  # products of attempts and columns added so far
        self._on_one_thread = False  # whether other threads have work of their own

    @property
    def totals(self) -> np.ndarray:
        """The sums of each layer and column."""
        totals = np.concatenate(list(self._totals), axis=1)
        if self._both_ways:
            totals *= 2
        return totals[:, : self.weights.shape[1]]

    def fresh(self) -> Self:
        empty = super().fresh()
        empty._products = 0
        empty._on_one_thread = True
        return empty

    def add(self, pairs: PairCounts) -> None:
        """Add attempts, each between two subjects."""
        if self._both_ways:
            pairs = pairs.one_way
        layer = pairs.layer
        if self._layer_of_counted is not None:
            layer = self._layer_of_counted[layer]
        subjects, columns = self.weights.shape
        self._products += len(layer) * columns
        if max(self._products, subjects**2 * columns) <= _FEW_PRODUCTS:
            self._add_few(pairs, layer)
            return
        entries = pairs.claimed_person, layer, pairs.count
        by_layer = tuple(map(np.empty_like, entries))
        sort: Callable[..., None] = sort_by_layer
        weigh: Callable[..., None] = weigh_pairs
        if self._on_one_thread:
            sort = sort_by_layer.on_one_thread
            weigh = weigh_pairs.on_one_thread
        sort(pairs.probe_people, pairs.starts, self.layers, entries, by_layer)
        weigh(
            pairs.probe_people,
            pairs.starts,
            by_layer,
            self._tiles,
            self._largest,
            self._totals,
            self._sums,
        )

    def _add_few(self, pairs: PairCounts, layer: np.ndarray) -> None:
        columns = self.weights.shape[1]
        subjects = len(self.weights)
        probe = pairs.probe_person
        claimed = pairs.claimed_person
        # The product of two weights is computed once for both directions of a pair.
        key = np.minimum(probe, claimed).astype(np.int64) * subjects + np.maximum(probe, claimed)
        distinct, pair = np.unique(key, return_inverse=True)
        # Whole numbers below 2^24 are exact in float32.
        exact = float(pairs.count.sum()) * self._largest**2 < 1 << 24
        dtype = np.float32 if exact else np.float64
        # (layers, distinct pairs) @ (distinct pairs, columns)
        counts = scipy.sparse.csr_array(
            (pairs.count.astype(dtype), (layer, pair)), shape=(self.layers, len(distinct))
        )
        probe, claimed = np.divmod(distinct, subjects)
        width = self._tiles.shape[2]
        for tile in range(len(self._tiles)):
            weights = self.weights[:, tile * width : min((tile + 1) * width, columns)]
            weights = np.ascontiguousarray(weights, dtype)
            products = weights[probe] * weights[claimed]
            self._totals[tile, :, : weights.shape[1]] += counts @ products


def _padded_tiles(columns: np.ndarray) -> np.ndarray:
    """Return an array (rows, columns) as tiles of columns; the last tile is padded with 0."""
    rows, number = columns.shape
    tiles = max(1, -(-number // _TILE))
    width = -(-number // (tiles * _LANES)) * _LANES
    padded = np.zeros((rows, tiles * width), dtype=columns.dtype)
    padded[:, :number] = columns
    return np.ascontiguousarray(np.moveaxis(padded.reshape(rows, tiles, width), 1, 0))


def linear_forms(counts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return ``sum_a counts[t, a] w_a`` for each column of weights, (layers, columns).

    `counts` is (layers, subjects), `weights` (subjects, columns).
    """
    forms = np.empty((len(counts), weights.shape[1]))
    matrix = counts.astype(np.float64)
    # Sums of whole numbers are exact in any order.
    if np.count_nonzero(matrix) * _SPARSE < matrix.size and (matrix == np.floor(matrix)).all():
        matrix = scipy.sparse.csr_array(matrix)
    step = max(1, VALUES_AT_ONCE // max(len(weights), 1))
    for low in range(0, weights.shape[1], step):
        columns = slice(low, low + step)
        forms[:, columns] = matrix @ weights[:, columns].astype(np.float64)
    return forms


def ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return ``part / whole``, NaN where `whole` is 0."""
    with np.errstate(invalid="ignore"):
        return part / np.where(whole > 0, whole, np.nan)


def by_subject(
    values: np.ndarray,
    subjects: np.ndarray,
    thresholds: np.ndarray,
    number_of_subjects: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the number of values of each subject between consecutive increasing thresholds.

    Row ``i`` of the result, of shape (t + 1, number_of_subjects), is above ``thresholds[i - 1]``
    and not above ``thresholds[i]``.
    """
    layer = np.searchsorted(thresholds, values)
    # A cell of the flat result for each value.
    size = (len(thresholds) + 1) * number_of_subjects
    counts = np.bincount(layer * number_of_subjects + subjects, weights, minlength=size)
    return counts.reshape(len(thresholds) + 1, number_of_subjects)


class AttemptsMade(Sink):
    """A consumer of impostor counts: the attempts of each person."""

    sums: ClassVar[tuple[str, ...]] = ("made",)

    def __init__(self, people: int):
        #: Attempts of each person: as a probe, and as the person claimed.
        self.made = np.zeros((2, people), dtype=np.int64)

    def add(self, pairs: PairCounts) -> None:
        people = pairs.probe_person, pairs.claimed_person
        for attempts, person in zip(self.made, people, strict=True):
            attempts += np.bincount(person, pairs.count, len(attempts)).astype(np.int64)


class AttemptsOfEach(AttemptsMade):
    """A consumer of impostor counts: the attempts of each person, on either side, by layer.

    `group` has the index of each subject, or of the group of people with which the subject is left
    out. Templates of no person, such as distractors, are never left out, and have the index
    `groups`. `attempts` is the number of impostor attempts.
    """

    needs_pairs = False
    sums = ("made", "_all")

    def __init__(
        self, no_person: np.ndarray, layers: int, attempts: int, units: np.ndarray | None = None
    ):
        super().__init__(len(no_person))
        self.group, self.groups = groups_of_people(no_person, units)
        self._all = np.zeros(layers, dtype=np.int64)  # attempts in each layer
        #: Attempts in which each group takes part; the last column is for no person. The table is
        #: large: narrow numbers take half the time, and zeros none before they are counted.
        dtype = np.int32 if attempts < 1 << 31 else np.int64
        self._each = np.zeros((layers, self.groups + 1), dtype)

    def fresh(self) -> Self:
        empty = super().fresh()
        empty._each = np.zeros(self._each.shape, self._each.dtype)
        return empty

    def merge(self, other: Self) -> None:
        if self._all.any():
            self._each += other._each
        else:
            self._each = other._each
        super().merge(other)

    def add(self, pairs: PairCounts) -> None:
        super().add(pairs)
        probe, claimed = self.group[pairs.probe_person], self.group[pairs.claimed_person]
        is_other_group = probe != claimed
        np.add.at(self._all, pairs.layer, pairs.count)
        # Numbers of the table's type at flat places are added several times faster.
        count, each = pairs.count.astype(self._each.dtype, copy=False), self._each.reshape(-1)
        first = pairs.layer.astype(np.int64) * self._each.shape[1]
        np.add.at(each, first + probe, count)
        # An attempt within a group is counted once.
        np.add.at(each, (first + claimed)[is_other_group], count[is_other_group])

    def add_scores(
        self, block: Block, row_person: np.ndarray, column_person: np.ndarray, guided: Guided
    ) -> None:
        """Add attempts between different subjects."""
        people = row_person, column_person
        attempts = [np.zeros(len(person), dtype=np.int64) for person in people]
        groups = (self.group[person] for person in people)
        weight = block.weight
        add_by_person(block.values, *groups, *guided, weight, self._all, self._each, *attempts)
        probing, claimed = self.made[:: -1 if block.transposed else 1]
        for of_rows, of_columns in [(probing, claimed), (claimed, probing)][:weight]:
            np.add.at(of_rows, row_person, attempts[0])
            np.add.at(of_columns, column_person, attempts[1])

    def shares(self, attempts: np.ndarray) -> np.ndarray:
        """Return the share of each group in attempts of one person each, given by subject."""
        of_group = np.bincount(self.group, attempts, minlength=self.groups + 1)[: self.groups]
        return of_group / max(float(np.sum(attempts)), 1.0)

    @property
    def impostor_shares(self) -> np.ndarray:
        """The share of the impostor attempts in which each group takes part."""
        return self._each[:, :-1].sum(axis=0) / max(float(self._all.sum()), 1.0)

    def accepts_of_each(self, layer: int) -> np.ndarray:
        """Return the attempts of each group up to a layer; none for layer -1."""
        return self._each[: layer + 1, :-1].sum(axis=0)

    def curves(
        self, genuine: GenuineAttempts, thresholds: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield accepted impostor and genuine attempts, for some groups at a time.

        Both are (layers, 1 + groups), up to each layer: all attempts, and without each group.
        """
        layer = np.searchsorted(thresholds, genuine.distance)
        group = self.group[genuine.person]
        layers = len(self._all)
        genuine_by_layer = np.bincount(layer, minlength=layers)
        step = max(1, _CURVES_AT_ONCE // layers)
        for low in range(0, max(self.groups, 1), step):
            groups_at_once = min(low + step, self.groups) - low
            is_in_groups = (group >= low) & (group < low + groups_at_once)
            cell = layer[is_in_groups] * groups_at_once + group[is_in_groups] - low
            # Both (layers, groups at once): attempts in which each of these groups takes part.
            genuine_of_group = np.bincount(cell, minlength=layers * groups_at_once).reshape(
                layers, groups_at_once
            )
            impostor_of_group = self._each[:, low : low + groups_at_once]
            yield (
                np.cumsum(without_each(impostor_of_group, self._all), axis=0),
                np.cumsum(without_each(genuine_of_group, genuine_by_layer), axis=0),
            )

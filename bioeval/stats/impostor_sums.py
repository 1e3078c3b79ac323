"""Consumers of impostor counts: sums at weights of people, and by person who is left out.

:func:`bioeval.counting.pair_layers.count_layers` counts the impostor attempts of each pair of
people by layer, between two thresholds, and hands them to consumers. An impostor attempt of ``a``
and ``b`` counts ``w_a w_b`` times at weights of people (:class:`QuadraticForms`); copies of a
person are not compared with each other. Without a person, the attempts of the person are missing,
as the probe and as the person claimed (:class:`ImpostorsOfGroups`).
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
from bioeval.stats.weighted_sums import by_subject, groups_of_people, without_each

# The most columns of weights in a tile.
_TILE = 256

# Up to this number of products, no loop is used that may have to be compiled.
_FEW_PRODUCTS = 1 << 27

# The number of columns in a tile is a multiple of the lanes of an instruction.
_LANES = 32

# The most values of curves without some people, which fit into the cache.
_CURVES_AT_ONCE = 1 << 19


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


class ImpostorsOfPeople(Sink):
    """A consumer of impostor counts: the number of attempts of each person.

    `attempts` is int64 (2, people): as the person of the probe, and as the person claimed.
    """

    sums: ClassVar[tuple[str, ...]] = ("attempts",)

    def __init__(self, people: int):
        self.attempts = np.zeros((2, people), dtype=np.int64)

    def add(self, pairs: PairCounts) -> None:
        people = self.attempts.shape[1]
        for side, person in enumerate((pairs.probe_person, pairs.claimed_person)):
            attempts_of_person = np.bincount(person, pairs.count, people)
            self.attempts[side] += attempts_of_person.astype(np.int64)


class ImpostorsOfGroups(ImpostorsOfPeople):
    """A consumer of impostor counts: also the attempts of each group of people, by layer.

    The people of a group are left out together; most groups are one person, and `group` has the
    group of each subject (:func:`groups_of_people`). An attempt counts for the group of the probe
    and for the group claimed, and once if they are the same.
    """

    needs_pairs = False
    sums = ("attempts", "_of_layer")

    def __init__(
        self, no_person: np.ndarray, layers: int, attempts: int, units: np.ndarray | None = None
    ):
        """Prepare for a number of `attempts`."""
        super().__init__(len(no_person))
        self.group, self.groups = groups_of_people(no_person, units)
        self._of_layer = np.zeros(layers, dtype=np.int64)
        # The last column is for templates of no person. The table is large: narrow numbers take
        # half the time, and zeros none before they are counted.
        dtype = np.int32 if attempts < 1 << 31 else np.int64
        self._of_group = np.zeros((layers, self.groups + 1), dtype)

    def fresh(self) -> Self:
        empty = super().fresh()
        empty._of_group = np.zeros(self._of_group.shape, self._of_group.dtype)
        return empty

    def merge(self, other: Self) -> None:
        if self._of_layer.any():
            self._of_group += other._of_group
        else:  # no pass over a large table of zeros
            self._of_group = other._of_group
        super().merge(other)

    def add(self, pairs: PairCounts) -> None:
        super().add(pairs)
        np.add.at(self._of_layer, pairs.layer, pairs.count)
        probe_group = self.group[pairs.probe_person]
        claimed_group = self.group[pairs.claimed_person]
        # Numbers of the table's type are added several times faster at cells of the flat table.
        table = self._of_group.reshape(-1)
        count = pairs.count.astype(table.dtype, copy=False)
        first_of_layer = pairs.layer.astype(np.int64) * self._of_group.shape[1]
        np.add.at(table, first_of_layer + probe_group, count)
        is_other = probe_group != claimed_group
        np.add.at(table, (first_of_layer + claimed_group)[is_other], count[is_other])

    def add_scores(
        self, block: Block, row_person: np.ndarray, column_person: np.ndarray, guided: Guided
    ) -> None:
        """Add attempts between different subjects."""
        of_row = np.zeros(len(row_person), dtype=np.int64)
        of_column = np.zeros(len(column_person), dtype=np.int64)
        add_by_person(
            block.values, self.group[row_person], self.group[column_person], *guided,
            block.weight, self._of_layer, self._of_group, of_row, of_column,
        )  # fmt: skip
        of_probe, of_claimed = self.attempts
        # The rows are probes, unless the block is transposed. A block that counts twice has both:
        # the attempts in the other direction have the same scores.
        if block.twice or not block.transposed:
            np.add.at(of_probe, row_person, of_row)
            np.add.at(of_claimed, column_person, of_column)
        if block.twice or block.transposed:
            np.add.at(of_claimed, row_person, of_row)
            np.add.at(of_probe, column_person, of_column)

    def shares(self, attempts: np.ndarray) -> np.ndarray:
        """Return the share of each group in attempts of one person each, given by subject."""
        of_group = np.bincount(self.group, attempts, minlength=self.groups + 1)[: self.groups]
        return of_group / max(float(np.sum(attempts)), 1.0)

    @property
    def impostor_shares(self) -> np.ndarray:
        """The share of the impostor attempts in which each group takes part."""
        return self._of_group[:, :-1].sum(axis=0) / max(float(self._of_layer.sum()), 1.0)

    def accepts_of_each(self, layer: int) -> np.ndarray:
        """Return the attempts of each group up to a layer; none for layer -1."""
        return self._of_group[: layer + 1, :-1].sum(axis=0)

    def curves(
        self, genuine: GenuineAttempts, thresholds: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield accepted impostor and genuine attempts, for some groups at a time.

        Both are (layers, 1 + groups), up to each layer: all attempts, and without each group.
        """
        distance, group = genuine.distance, self.group[genuine.person]
        genuine_of_layer = by_subject(distance, np.zeros_like(group), thresholds, 1)[:, 0]
        groups_at_once = max(1, _CURVES_AT_ONCE // len(self._of_layer))
        for first in range(0, max(self.groups, 1), groups_at_once):
            last = min(first + groups_at_once, self.groups)
            is_some = (group >= first) & (group < last)
            # Both (layers, groups at once): attempts in which each of these groups takes part.
            of_impostor = self._of_group[:, first:last]
            of_genuine = by_subject(
                distance[is_some], group[is_some] - first, thresholds, last - first
            )
            yield (
                np.cumsum(without_each(of_impostor, self._of_layer), axis=0),
                np.cumsum(without_each(of_genuine, genuine_of_layer), axis=0),
            )

"""Reproducible shuffles, and their division into folds and parts.

Units (subjects or samples) are numbered in canonical order, permuted by a stream of portable random
numbers, and divided by integer arithmetic: the result is the same on every platform. For example,
five units in the random order 3 0 4 1 2 are divided into two folds: 3 0 4, and 1 2.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, received
from bioeval.base.random import Stream

# Streams of partitions are kept apart from streams of simulated populations: with the same seed, a
# partition that follows the population it divides would be no random partition.
_PARTITION = 0x50415254

# Purposes, whose streams are kept apart as well.
(
    SUBJECT_FOLDS,
    SAMPLE_FOLDS,
    SUBJECT_PARTS,
    SAMPLE_PARTS,
    GALLERY,
    UNENROLLED,
    CLAIMS,
    STRATA,
    PROBES,
    UNSEEN,
) = range(10)

# Samples, of all repeats together, that are drawn at once.
_DRAWN_AT_ONCE = 1 << 15

# Samples, of all splits together, whose parts are masks at once.
_FLAGS_AT_ONCE = 1 << 18


def stream(seed: np.random.SeedSequence, purpose: int, key: int = 0) -> Stream:
    """Return the random numbers for a purpose, in the order of the repeats."""
    inner = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _PARTITION, purpose))
    return Stream(inner, key)


def blocks(repeats: int, n: int) -> Iterator[int]:
    """Yield numbers of repeats to draw at once; every repeat has `n` samples."""
    step = max(1, _DRAWN_AT_ONCE // max(n, 1))
    for low in range(0, repeats, step):
        yield min(step, repeats - low)


class Shuffle:
    """Random orders of `n` units, or the ascending order without a seed.

    With `strata`, the units of each stratum are adjacent; the order of the strata is random, and so
    is the order of the units within each stratum.
    """

    def __init__(
        self,
        n: int,
        strata: np.ndarray | None,
        seed: np.random.SeedSequence | None,
        purpose: int,
    ):
        self._n = n
        self._strata = None
        if strata is not None:
            # The units in the order of their strata, and the stratum of each, both (n,).
            order = np.argsort(strata, kind="stable")
            self._strata = order, strata[order]
        self._draws = self._draws_of_strata = None
        if seed is not None:
            self._draws = stream(seed, purpose)
            self._draws_of_strata = stream(seed, STRATA, purpose)

    def folds(self, count: int, folds: int) -> np.ndarray:
        """Return the fold of each unit in the next `count` orders, (count, n).

        The folds differ by at most one unit, and with strata also within each stratum: the units
        are dealt like cards, stratum after stratum.
        """
        units = self._n
        if self._strata is None:
            sizes = units // folds + (np.arange(folds) < units % folds)
            place_of_unit = np.arange(units)[None]
            if self._draws is not None:
                place_of_unit = self._draws.permutations(count, units)
            fold_at_place = np.repeat(np.arange(folds), sizes)
            return fold_at_place[place_of_unit]
        unit_at_place, stratum_at_place = self._orders(count, *self._strata)
        # Places are dealt to folds in turn. Sorted by fold within each stratum, the units of a
        # stratum in the same fold are adjacent; their number does not change.
        dealt = stratum_at_place * folds + np.arange(units) % folds
        fold_at_place = np.sort(dealt, axis=1) % folds
        fold = np.empty(unit_at_place.shape, dtype=np.int64)
        np.put_along_axis(fold, unit_at_place, fold_at_place, axis=1)
        return fold

    def parts(self, count: int, sizes: Sequence[int]) -> np.ndarray:
        """Return the part of each unit in the next `count` random orders, (count, n).

        Parts have the `sizes`; the other units are in a last part. With strata, each stratum has
        its share of a part, give or take one unit, with three parts less than two units.
        """
        sizes = [*sizes, self._n - sum(sizes)]
        part_at_place = np.repeat(np.arange(len(sizes)), sizes)
        if self._strata is None:
            assert self._draws is not None
            return part_at_place[self._draws.permutations(count, self._n)]
        # The places of each part are evenly spread over the order: over the unit interval, in which
        # the places of all parts are then merged.
        position = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes])
        part_at_place = part_at_place[np.argsort(position, kind="stable")]
        unit_at_place, _ = self._orders(count, *self._strata)
        shape = unit_at_place.shape
        part = np.empty(shape, dtype=np.int64)
        np.put_along_axis(part, unit_at_place, np.broadcast_to(part_at_place, shape), axis=1)
        return part

    def _orders(
        self, count: int, unit: np.ndarray, stratum: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the unit and the stratum at each place of `count` orders, each (count, n).

        Units are in order stratum after stratum; strata are numbered anew, in their order.
        """
        if self._draws is None or self._draws_of_strata is None:
            return unit[None], stratum[None]
        strata = int(stratum[-1]) + 1
        new_stratum = self._draws_of_strata.permutations(count, strata)[:, stratum]
        unit_at_place = unit[self._draws.grouped(count, new_stratum, strata)]
        return unit_at_place, np.sort(new_stratum, axis=1)


def fold_flags(fold: np.ndarray, folds: int) -> Iterator[np.ndarray]:
    """Yield masks of the samples outside and inside each fold, (splits, 2, n).

    `fold` (repeats, n) is the fold of each sample. The folds of a repeat follow each other; some
    splits are yielded at a time.
    """
    splits = np.arange(len(fold) * folds)
    step = max(1, _FLAGS_AT_ONCE // fold.shape[1])
    for low in range(0, len(splits), step):
        repeat, number = np.divmod(splits[low : low + step], folds)
        is_inside = fold[repeat] == number[:, None]
        yield np.stack([~is_inside, is_inside], axis=1)


class ShuffledGroups:
    """Samples, group after group, in random order within each group.

    - `sample` (n,): the samples in the given order
    - `group` (n,): the group at each position, in all orders
    - `place` (n,): the place of each position within its group
    - `groups`: the number of groups
    """

    def __init__(self, sample: np.ndarray, group: np.ndarray, groups: int):
        """Group samples, whose groups are numbered from 0; the order within a group is kept."""
        order = np.argsort(group, kind="stable")
        self.sample = sample[order]
        self.group = group[order]
        self.groups = groups
        sizes = np.bincount(self.group, minlength=groups)
        starts = np.cumsum(sizes) - sizes  # (groups,): where each group begins
        self.place = np.arange(len(order)) - starts[self.group]

    def drawn(self, draws: Stream | None, count: int) -> np.ndarray:
        """Return the samples in `count` orders, (count, n); without `draws`, in the given order."""
        if draws is None:
            return np.broadcast_to(self.sample, (count, len(self.sample)))
        return self.sample[draws.grouped(count, self.group, self.groups)]


def flags(chosen: np.ndarray, n: int) -> np.ndarray:
    """Return masks of the chosen among `n` samples, bool (count, n), from indices (count, m)."""
    is_chosen = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(is_chosen, chosen, True, axis=1)
    return is_chosen


def as_size(splitter: str, name: str, size: Any) -> int | float:
    """Return a size as a number of units (int) or a proportion of them (float in (0, 1))."""
    try:
        number = operator.index(size) if not isinstance(size, bool | np.bool_) else 0
    except TypeError:
        number = 0
    if number >= 1:
        return number
    if isinstance(size, numbers.Real) and 0.0 < float(size) < 1.0:
        return float(size)
    raise DataError(
        f"{splitter}: {name} is {received(size)}; expected a share between 0 and 1 (both excluded) "
        "or a number >= 1"
    )


def number_of_units(size: int | float, total: int, *, up: bool) -> int:
    """Return the number of units of a size; a proportion is rounded up or down."""
    if isinstance(size, int):
        return size
    exact = size * total
    rounding = 1e-12 * total  # 0.07 of 100 is 7, not 7.000000000000001
    if up:
        return math.ceil(exact - rounding)
    return math.floor(exact + rounding)

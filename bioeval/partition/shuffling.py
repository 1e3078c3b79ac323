"""Reproducible shuffles, and their division into folds and parts.

Units (subjects or samples) are numbered in canonical order, permuted by a stream of portable random
numbers, and divided by integer arithmetic: the result is the same on every platform.
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
# The streams of different purposes are kept apart as well.
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

# Samples of all repeats that are drawn at once, and of all splits whose parts are flags at once.
_DRAWN = 1 << 15
_FLAGGED = 1 << 18


def stream(seed: np.random.SeedSequence, purpose: int, key: int = 0) -> Stream:
    """Return the random numbers of one purpose; the numbers of all repeats are consecutive."""
    inner = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _PARTITION, purpose))
    return Stream(inner, key)


def blocks(repeats: int, n: int) -> Iterator[int]:
    """Yield the numbers of repeats of `n` samples that are drawn at once."""
    step = max(1, _DRAWN // max(n, 1))
    for low in range(0, repeats, step):
        yield min(step, repeats - low)


class Shuffle:
    """Random orders of `n` units, or the ascending order without a seed.

    The units of a stratum are adjacent: the order of the strata is random, and the order within a
    stratum; how units of different strata are mixed has no influence.
    """

    def __init__(
        self,
        n: int,
        strata: np.ndarray | None,
        seed: np.random.SeedSequence | None,
        purpose: int,
    ):
        self._n, self._strata = n, strata
        self._members = None if strata is None else np.argsort(strata, kind="stable")
        self._draws = self._of_strata = None
        if seed is not None:
            self._draws = stream(seed, purpose)
            self._of_strata = stream(seed, STRATA, purpose)

    def folds(self, count: int, folds: int) -> np.ndarray:
        """Return the fold of each unit in the next `count` orders, (count, n).

        The folds differ by at most one unit, and with strata also within each stratum: the units
        are dealt like cards, stratum after stratum.
        """
        units = self._n
        if self._strata is None or self._members is None:
            sizes = units // folds + (np.arange(folds) < units % folds)
            place = np.arange(units)[None]
            if self._draws is not None:
                place = self._draws.permutations(count, units)
            return np.repeat(np.arange(folds), sizes)[place]  # the fold of each place in an order
        order, stratum = self._orders(count, self._strata, self._members)
        # Places are dealt to folds in turn; sorting by stratum, then fold, keeps how many units of
        # a stratum each fold has, and puts units of a fold side by side.
        dealt = np.sort(stratum * folds + np.arange(units) % folds, axis=1) % folds
        fold = np.empty(order.shape, dtype=np.int64)
        np.put_along_axis(fold, order, dealt, axis=1)
        return fold

    def parts(self, count: int, sizes: Sequence[int]) -> np.ndarray:
        """Return the part of each unit in the next `count` random orders, (count, n).

        Parts have these sizes; the other units are in a last part. With strata, the units of each
        part are evenly spread over the orders, so that each stratum has its share of a part, give
        or take one; of three parts, less than two.
        """
        sizes = [*sizes, self._n - sum(sizes)]
        part = np.repeat(np.arange(len(sizes)), sizes)  # (n,): the part of each place in an order
        if self._strata is None or self._members is None:
            assert self._draws is not None
            return part[self._draws.permutations(count, self._n)]
        # (n,): each part spreads its units evenly over the unit interval, and all are merged.
        place = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes])
        order, _ = self._orders(count, self._strata, self._members)
        drawn = np.empty(order.shape, dtype=np.int64)
        evenly = part[np.argsort(place, kind="stable")]
        np.put_along_axis(drawn, order, np.broadcast_to(evenly, order.shape), axis=1)
        return drawn

    def _orders(
        self, count: int, strata: np.ndarray, members: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the units stratum after stratum, and their strata numbered in this order."""
        stratum = strata[members][None]
        if self._draws is None or self._of_strata is None:
            return members[None], stratum
        number = int(strata.max()) + 1
        stratum = self._of_strata.permutations(count, number)[:, stratum[0]]
        order = members[self._draws.grouped(count, stratum, number)]
        return order, np.sort(stratum, axis=1)


def fold_flags(fold: np.ndarray, folds: int) -> Iterator[np.ndarray]:
    """Yield the samples outside and inside each fold, (splits, 2, n), repeat after repeat.

    `fold` (repeats, n) has the fold of each sample.
    """
    splits = np.arange(len(fold) * folds)
    step = max(1, _FLAGGED // fold.shape[1])
    for low in range(0, len(splits), step):
        repeat, number = np.divmod(splits[low : low + step], folds)
        is_inside = fold[repeat] == number[:, None]
        yield np.stack([~is_inside, is_inside], axis=1)


class ShuffledGroups:
    """Samples, group after group, in random order within each group.

    The group at each position, `group` (n,), and the place within the group, `place` (n,), are the
    same in all orders.
    """

    def __init__(self, sample: np.ndarray, group: np.ndarray, groups: int):
        """Group samples, whose groups are numbered from 0; the order within a group is kept."""
        order = np.argsort(group, kind="stable")
        self.sample = sample[order]
        self.group = group[order]
        self.groups = groups
        number = np.bincount(self.group, minlength=groups)
        starts = np.cumsum(number) - number  # (groups,): where each group begins
        self.place = np.arange(len(order)) - starts[self.group]

    def drawn(self, draws: Stream | None, count: int) -> np.ndarray:
        """Return the samples in `count` orders, (count, n); in the order given without `draws`."""
        if draws is None:
            return np.broadcast_to(self.sample, (count, len(self.sample)))
        return self.sample[draws.grouped(count, self.group, self.groups)]


def flags(chosen: np.ndarray, n: int) -> np.ndarray:
    """Return which of `n` samples are chosen, bool (count, n), of their numbers (count, m)."""
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
    dust = 1e-12 * total  # 0.07 of 100 is 7, not 7.000000000000001
    if up:
        return math.ceil(exact - dust)
    return math.floor(exact + dust)

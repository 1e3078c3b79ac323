"""Reproducible shuffles, and their division into folds and parts.

Units (subjects or samples) are numbered in canonical order, permuted by a stream of portable random
numbers, and divided by integer arithmetic: the result is the same on every platform.
"""

from __future__ import annotations

import math
import numbers
import operator
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, received
from bioeval.base.random import Stream

# Streams of partitions are kept apart from those of simulated populations: with the same seed,
# a partition that follows the population it divides would be no random partition.
_PARTITION = 0x50415254
# The streams of different purposes are kept apart as well.
SUBJECT_FOLDS, SAMPLE_FOLDS, SUBJECT_PARTS, SAMPLE_PARTS, GALLERY, UNENROLLED, CLAIMS = range(7)


def stream(seed: np.random.SeedSequence, purpose: int, key: int) -> Stream:
    """Return the random numbers for one repeat of one purpose."""
    inner = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _PARTITION, purpose))
    return Stream(inner, key)


def arrange(n: int, strata: np.ndarray | None, draws: Stream | None) -> np.ndarray:
    """Return the units in the order in which they are assigned to parts.

    The units of a stratum are kept adjacent. Random numbers make the order random, of the strata
    and within each; the order of units of different strata has no influence. Otherwise it is
    ascending.
    """
    if strata is None:
        if draws is None:
            return np.arange(n)
        return draws.permutation(n)
    grouped = np.argsort(strata, kind="stable")
    if draws is None:
        return grouped
    place = draws.permutation(n)
    block = draws.permutation(int(strata.max()) + 1)
    return grouped[np.lexsort((place, block[strata[grouped]]))]


def into_folds(order: np.ndarray, strata: np.ndarray | None, folds: int) -> np.ndarray:
    """Return the fold of each unit.

    The folds differ by at most one unit, and with strata also within each stratum: the units
    are dealt like cards, stratum after stratum.
    """
    n = len(order)
    fold = np.empty(n, dtype=np.int64)
    if strata is None:
        sizes = n // folds + (np.arange(folds) < n % folds)
        fold[order] = np.repeat(np.arange(folds), sizes)
    else:
        dealt = np.arange(n) % folds
        stratum = strata[order]
        block = np.cumsum(np.append(False, stratum[1:] != stratum[:-1]))
        # The same number of each stratum to each fold, but neighbours stay together.
        fold[order] = dealt[np.lexsort((dealt, block))]
    return fold


def as_size(who: str, name: str, size: Any) -> int | float:
    """Return a size as a number of units (int) or a proportion of them (float in (0, 1))."""
    try:
        whole = operator.index(size) if not isinstance(size, bool | np.bool_) else 0
    except TypeError:
        whole = 0
    if whole >= 1:
        return whole
    if isinstance(size, numbers.Real) and 0.0 < float(size) < 1.0:
        return float(size)
    raise DataError(
        f"{who}: {name} is {received(size)}; expected a share between 0 and 1 (both excluded) or a "
        "number >= 1"
    )


def number_of_units(size: int | float, total: int, *, up: bool) -> int:
    """Return the number of units of a size; a proportion is rounded up or down."""
    if isinstance(size, int):
        return size
    exact, dust = size * total, 1e-12 * total  # 0.07 of 100 is 7, not 7.000000000000001
    if up:
        return math.ceil(exact - dust)
    return math.floor(exact + dust)

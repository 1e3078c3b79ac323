"""Intervals of attacks and of their detection: people and instruments are resampled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array

from bioeval.stats.error_curves import ErrorColumns
from bioeval.stats.independent import korn_graubard, largest_limits
from bioeval.stats.limits import Limits, open_limits
from bioeval.stats.options import IntervalMethod, trials_of

#: What the limits of the largest rate of several species are by, as attributes of results.
KORN_GRAUBARD = "Korn and Graubard, all species at once"

_POINTS = 1000  # thresholds of a curve whose crossing is resampled, about the most


def drawn(units: int, options: IntervalMethod, key: int, columns: int) -> np.ndarray:
    """Return how often each of so many units is drawn, (units, columns): the data come first.

    Columns beyond the replicates, such as those without a person, have each unit once.
    """
    weights = np.ones((units, columns))
    if units > 1:
        seed = options.seed
        sequence = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))
        replicates = slice(1 + options.replicates)
        weights[:, replicates] = replace(options, random_state=sequence).weights(units)[
            :, replicates
        ]
    return weights


def joined(codes: list[np.ndarray], weights: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit of each attempt, and the weights of units.

    A unit is a combination of codes, such as a person with an instrument; its weight is the product
    of theirs.
    """
    pairs, unit = np.unique(np.stack(codes), axis=1, return_inverse=True)
    product = np.prod([w[x] for w, x in zip(weights, pairs, strict=True)], axis=0)
    return unit.reshape(-1), product


def independent(codes: list[np.ndarray]) -> int:
    """Return the fewest distinct values of any code; 0 for one, which cannot be resampled."""
    return trials_of(min(len(np.unique(x)) for x in codes))


def accepted_of_units(
    distances: np.ndarray, unit: np.ndarray, weights: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """Return weighted numbers accepted at increasing distances, by column of weights.

    The first row is that of reject-all, and the last one that of all. NaN is never accepted.
    """
    layer, shape = np.searchsorted(at, distances), (len(at) + 1, len(weights))
    counts = coo_array((np.ones(len(unit)), (layer, unit)), shape=shape).tocsr()
    reached = np.cumsum(counts @ weights, axis=0)
    return np.concatenate([np.zeros((1, weights.shape[1])), reached])


def species_limits(
    rate: np.ndarray,
    variance: np.ndarray,
    attempts: np.ndarray,
    units: np.ndarray,
    largest_of: np.ndarray,
    confidence: float,
) -> tuple[Limits, Limits]:
    """Return the limits of rates of species, (thresholds, species), and of the largest of some."""
    level = (1 + confidence) / 2
    low, high = open_limits(
        rate, *korn_graubard(rate, variance, attempts, units, level), units, confidence
    )
    lowest = highest = np.full(len(rate), np.nan)
    if largest_of.any():
        some = rate[:, largest_of], variance[:, largest_of], attempts[largest_of], units[largest_of]
        lowest, highest = largest_limits(*some, level)[0], high[:, largest_of].max(axis=1)
    return (low, high), (lowest, highest)


def along(low: np.ndarray, high: np.ndarray) -> Limits:
    """Return limits along increasing rates, the first axis, that are monotone as the rates are."""
    return np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)


def along_falling(low: np.ndarray, high: np.ndarray) -> Limits:
    """Return the same along falling rates."""
    low, high = along(low[::-1], high[::-1])
    return low[::-1], high[::-1]


def sampled_points(every: np.ndarray, crossing: float) -> np.ndarray:
    """Return at most about 1,000 increasing thresholds, all of those around a crossing."""
    if len(every) <= _POINTS:
        return every
    spread = np.linspace(0, len(every) - 1, _POINTS // 2).astype(np.int64)
    near = np.searchsorted(every, crossing) + np.arange(-_POINTS // 4, _POINTS // 4)
    return every[np.union1d(spread, np.clip(near, 0, len(every) - 1))]


def crossings(falling: np.ndarray, rising: np.ndarray, eer_of_data: float) -> np.ndarray:
    """Return the equal error rate of each column of two rates, the first column the data.

    What thresholds between the points change there moves every replicate, as it does the data.
    """
    errors = ErrorColumns(falling, rising).equal_error()
    errors = np.clip(errors + (eer_of_data - errors[0]), 0.0, 1.0)
    errors[0] = eer_of_data
    return errors

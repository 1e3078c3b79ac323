"""Confidence limits of means by identity: each identity is one observation.

A mean by identity is the mean of one value a person. Each person is left out: for a fixed gallery
as a probe alone, for new people from the gallery as well, by which the values of others change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bioeval.stats.bootstrap import VALUES_AT_ONCE, SubjectMeans
from bioeval.stats.hits import Hits
from bioeval.stats.jackknife import jackknife_limits
from bioeval.stats.limits import Limits, by_subject
from bioeval.stats.options import BOOTSTRAPS, IntervalOptions

# With fewer people, those who are left are no gallery.
_FEWEST = 3


@dataclass(frozen=True)
class IdentityRate:
    """A rate by identity at one rank and threshold, with its limits, and without each person."""

    value: float
    limits: tuple[float, float]
    without: np.ndarray  # float64 (people,)


def _at_one_distance(
    genuine: tuple[np.ndarray, np.ndarray],
    accepted: tuple[np.ndarray, np.ndarray],
    limits: dict[str, Limits],
) -> dict[str, IdentityRate]:
    """Return DIR, GRR and the open-set score at one distance.

    `genuine` and `accepted` are DIR and FAR there, each overall and without each person.
    """
    rates = {
        "dir_by_identity": genuine,
        "grr_by_identity": tuple(1 - x for x in accepted),
        "open_set_score": tuple(
            np.sqrt(x * (1 - y)) for x, y in zip(genuine, accepted, strict=True)
        ),
    }
    return {
        name: IdentityRate(
            float(rate[0]), (float(limits[name][0][0]), float(limits[name][1][0])), without[0]
        )
        for name, (rate, without) in rates.items()
    }


def means_of_identities(
    attempts: np.ndarray, weights: np.ndarray, options: IntervalOptions, nobody: np.ndarray
) -> tuple[SubjectMeans, np.ndarray]:
    """Return the means of one value a person, and what an attempt adds to its person's value.

    `attempts` are those of each person; people without one, and nobody, do not count. Limits are
    those of the jackknife by the recommended method, since percentiles of the mean of few values
    are too narrow.
    """
    counted = (attempts > 0) & ~nobody
    share = np.where(counted, 1 / np.maximum(attempts, 1), 0.0)
    values = counted.astype(np.int64)
    jackknife = _leaves_out(options)
    return SubjectMeans(values, weights, options, nobody, jackknife=jackknife), share


def _leaves_out(options: IntervalOptions) -> bool:
    """Whether limits are by leaving people out, and not by drawing them."""
    return options.method == BOOTSTRAPS[0]


@dataclass(frozen=True)
class ResampledIdentities:
    """Rates by identity of attempts, resampled by person, for a fixed gallery."""

    hits: Hits  # with the weight of each in the rate of its person
    means: SubjectMeans

    @classmethod
    def of(
        cls,
        hits: Hits,
        attempts: np.ndarray,
        weights: np.ndarray,
        options: IntervalOptions,
        nobody: np.ndarray,
    ) -> ResampledIdentities:
        """Return the rates of hits among the `attempts` of each person."""
        means, share = means_of_identities(attempts, weights, options, nobody)
        return cls(replace(hits, weight=hits.weight * share[hits.person]), means)

    def at_ranks(self, count: int) -> Limits:
        """Return the limits at ranks 1 to `count`."""
        hits = self.hits
        return self.means.limits_at_ranks(hits.person, hits.rank, hits.weight, count)

    def along(self, grid: np.ndarray) -> Limits:
        """Return the limits of the rate within increasing distances."""
        return self.means.limits(self._layers(grid))

    def _layers(self, grid: np.ndarray) -> np.ndarray:
        hits, people = self.hits, len(self.means.attempts)
        return by_subject(hits.distance, hits.person, grid, people, hits.weight)[:-1]

    def sums(self, grid: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the value of each person at some increasing distances, in parts of rows."""
        layers, columns = self._layers(grid), self.means.weights.shape[1]
        step = max(1, VALUES_AT_ONCE // max(columns, len(self.means.attempts)))
        before = np.zeros(layers.shape[1])
        for low in range(0, len(layers), step):
            sums = before + np.cumsum(layers[low : low + step], axis=0)
            before = sums[-1]
            yield sums

    def without_each(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rate of values of each person, and that without each person."""
        counted = self.means.attempts
        total = sums.sum(axis=1)
        others = np.maximum(counted.sum() - counted, 1)
        rate = total / max(int(counted.sum()), 1)
        return _proportions(rate), _proportions((total[:, None] - sums) / others)


def resampled_curves(
    genuine: ResampledIdentities, impostor: ResampledIdentities, grid: np.ndarray
) -> dict[str, Limits]:
    """Return the limits of DIR and GRR by identity, and of the open-set score if it is drawn."""
    low, high = impostor.along(grid)
    limits = {"dir_by_identity": genuine.along(grid), "grr_by_identity": (1 - high, 1 - low)}
    options = genuine.means.options
    if not options.resamples:
        return limits
    trials = min(genuine.means.trials, impostor.means.trials)
    people = (genuine.means.attempts > 0) | (impostor.means.attempts > 0)
    lows, highs = [], []
    for detected, accepted in zip(genuine.sums(grid), impostor.sums(grid), strict=True):
        if trials and _leaves_out(options):
            rate, without = genuine.without_each(detected)
            far, far_without = impostor.without_each(accepted)
            scores = np.sqrt(rate * (1 - far))
            without = np.sqrt(without * (1 - far_without))[:, people]
            below, above = jackknife_limits(scores, without, options.confidence, trials)
        else:
            rates = genuine.means.values(detected) * (1 - impostor.means.values(accepted))
            below, above = options.limits(np.sqrt(rates), trials)
        lows.append(below)
        highs.append(above)
    limits["open_set_score"] = np.concatenate(lows), np.concatenate(highs)
    return limits


def resampled_at(
    genuine: ResampledIdentities, impostor: ResampledIdentities, distance: float
) -> dict[str, IdentityRate]:
    """Return DIR and GRR by identity and the open-set score at a distance."""
    grid = np.array([distance])
    detected, accepted = (x.without_each(next(x.sums(grid))) for x in (genuine, impostor))
    return _at_one_distance(detected, accepted, resampled_curves(genuine, impostor, grid))


@dataclass(frozen=True)
class LeftOutIdentities:
    """Rates by identity of attempts, overall and without each person, for new people."""

    #: What is counted, and how much less that is without each person, with its weight in the rate
    #: of the person who made the attempt.
    hits: Hits
    losses: Hits
    counted: np.ndarray  # bool (people,): who has an attempt
    trials: int  # independent ones
    confidence: float

    def rates(
        self, hits: np.ndarray, losses: np.ndarray, count: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rate up to each place, and that without each person, in parts of places.

        `hits` and `losses` are the place of each along a curve of `count` places.
        """
        people, number = len(self.counted), int(self.counted.sum())
        order = np.argsort(losses, kind="stable")
        kept = hits < count
        total = np.cumsum(np.bincount(hits[kept], self.hits.weight[kept], minlength=count))
        without = np.maximum(number - self.counted, 1)
        lost = np.zeros(people)
        step = max(1, VALUES_AT_ONCE // max(people, 1))
        for first in range(0, count, step):
            last = min(first + step, count)
            part = order[slice(*np.searchsorted(losses[order], (first, last)))]
            layers = np.zeros((last - first, people))
            at = losses[part] - first, self.losses.person[part]
            np.add.at(layers, at, self.losses.weight[part])
            layers = lost + np.cumsum(layers, axis=0)
            lost = layers[-1]
            rate = total[first:last] / max(number, 1)
            yield _proportions(rate), _proportions((total[first:last, None] - layers) / without)

    def limits(self, rate: np.ndarray, without: np.ndarray) -> Limits:
        """Return the limits of rates from those without each person."""
        if len(self.counted) < _FEWEST or self.counted.sum() < _FEWEST:
            undefined = np.full(len(rate), np.nan)
            return undefined, undefined
        return jackknife_limits(rate, without, self.confidence, self.trials)

    def at_ranks(self, count: int, known: int) -> Limits:
        """Return the limits at ranks 1 to `count`; NaN beyond the last rank that is `known`."""
        parts = [
            self.limits(*both)
            for both in self.rates(self.hits.rank - 1, self.losses.rank - 1, count)
        ]
        low, high = map(np.concatenate, zip(*parts, strict=True))
        beyond = np.arange(count) >= known
        return np.where(beyond, np.nan, low), np.where(beyond, np.nan, high)

    def along(self, grid: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rates within increasing distances, as :meth:`rates`."""
        hits = np.searchsorted(grid, self.hits.distance)
        losses = np.searchsorted(grid, self.losses.distance)
        return self.rates(hits, losses, len(grid))


def left_out_curves(
    genuine: LeftOutIdentities, impostor: LeftOutIdentities, grid: np.ndarray
) -> dict[str, Limits]:
    """Return the limits of DIR and GRR by identity and of the open-set score."""
    parts: dict[str, list[Limits]] = {"dir_by_identity": [], "grr_by_identity": []}
    parts["open_set_score"] = []
    of_both = replace(
        genuine,
        trials=min(genuine.trials, impostor.trials),
        counted=genuine.counted & impostor.counted,
    )
    for (dir_, dir_without), (far, far_without) in zip(
        genuine.along(grid), impostor.along(grid), strict=True
    ):
        grr, grr_without = 1 - far, 1 - far_without
        parts["dir_by_identity"].append(genuine.limits(dir_, dir_without))
        parts["grr_by_identity"].append(impostor.limits(grr, grr_without))
        score, without = np.sqrt(dir_ * grr), np.sqrt(dir_without * grr_without)
        parts["open_set_score"].append(of_both.limits(score, without))
    limits = {}
    for name, of_name in parts.items():
        low, high = map(np.concatenate, zip(*of_name, strict=True))
        limits[name] = low, high
    return limits


def left_out_at(
    genuine: LeftOutIdentities, impostor: LeftOutIdentities, distance: float
) -> dict[str, IdentityRate]:
    """Return DIR and GRR by identity and the open-set score at a distance."""
    grid = np.array([distance])
    detected, accepted = (next(x.along(grid)) for x in (genuine, impostor))
    return _at_one_distance(detected, accepted, left_out_curves(genuine, impostor, grid))


def _proportions(values: np.ndarray) -> np.ndarray:
    """Return sums of shares without what is due to rounding."""
    values = np.clip(values, 0.0, 1.0)
    values[values < _ROUNDING] = 0.0
    values[values > 1 - _ROUNDING] = 1.0
    return values


# Rounding of a sum of shares.
_ROUNDING = 1e-12

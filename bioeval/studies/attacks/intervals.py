"""Intervals of attack detection and of morphing, by resampling people and instruments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array

from bioeval import DataError
from bioeval.base import Argument
from bioeval.stats import (
    ErrorColumns,
    IntervalOptions,
    by_subject,
    ratio,
)
from bioeval.studies.attacks.counts import GenuineAttempts, Presentations
from bioeval.studies.attacks.scores import BONA_FIDE

# Thresholds whose replicates are computed at once, and of a curve about the most.
_AT_ONCE, _POINTS = 256, 1000


def presentation_limits(
    data: Presentations,
    units: Mapping[str, np.ndarray],
    options: IntervalOptions,
    places: np.ndarray,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the limits of rates at distances and of ``d_eer``, by a bootstrap of units."""
    if not units:
        raise DataError(
            f"{Argument('interval', options.method)} resamples people or objects; give "
            f"{Argument('subjects')} or {Argument('instrument')}"
        )
    weighed = [_Weighed.of(data, units, options, i) for i in data.classes]
    trials = np.array([options.trials_of(x.units) for x in weighed])
    trials_of_rate = {"bpcer": trials[-1], "apcer_of_species": trials[:-1]}
    number = np.stack([x.number for x in weighed])[:, None]

    def rates_at(at: np.ndarray) -> dict[str, np.ndarray]:
        return data.rates_of(np.stack([x.accepted(at) for x in weighed]), number)

    lows = defaultdict(list)
    highs = defaultdict(list)
    for part in np.array_split(places, -(-len(places) // _AT_ONCE)):
        for rate, values in rates_at(part).items():
            few = trials_of_rate.get(rate, trials[:-1].min())
            low, high = options.limits(values, few)
            lows[rate].append(low)
            highs[rate].append(high)
    limits = {rate: (np.concatenate(lows[rate]), np.concatenate(highs[rate])) for rate in lows}
    if not np.isnan(data.d_eer.eer):
        curve = sampled_points(data.points.threshold[1:], data.d_eer.eer_threshold)
        rates = rates_at(curve)
        error = crossings(rates["apcer"], rates["bpcer"], data.d_eer.eer)
        low, high = options.limits(error, trials.min())
        limits["d_eer"] = np.atleast_1d(low), np.atleast_1d(high)
    return limits


def sampled_points(every: np.ndarray, crossing: float) -> np.ndarray:
    """Return at most about 1,000 increasing thresholds, all of those around a crossing."""
    if len(every) <= _POINTS:
        return every
    spread = np.linspace(0, len(every) - 1, _POINTS // 2).astype(np.int64)
    near = np.searchsorted(every, crossing) + np.arange(-_POINTS // 4, _POINTS // 4)
    return every[np.union1d(spread, np.clip(near, 0, len(every) - 1))]


def crossings(falling: np.ndarray, rising: np.ndarray, itself: float) -> np.ndarray:
    """Return the equal error rate of each column of two rates, the first column the data.

    What thresholds between the points change there moves every replicate, as it does the data.
    """
    errors = ErrorColumns(falling, rising).equal_error()
    errors = np.clip(errors + (itself - errors[0]), 0.0, 1.0)
    errors[0] = itself
    return errors


@dataclass(frozen=True)
class _Weighed:
    """Presentations of one class by unit, with the weights of the units in each replicate."""

    distances: np.ndarray  # of those with a response
    codes: np.ndarray  # of their units
    weights: np.ndarray  # (units, columns), the first column the data themselves
    number: np.ndarray  # weighted presentations by column
    units: int

    @classmethod
    def of(
        cls, data: Presentations, units: Mapping[str, np.ndarray], options: IntervalOptions, i: int
    ) -> _Weighed:
        """Draw people, who are in all classes, and the instruments of one species."""
        rows = data.codes == i
        if data.non_response == "exclude":
            rows &= ~np.isnan(data.distances)
        codes, drawn = [], []
        if "subjects" in units:
            everyone = units["subjects"]
            codes.append(everyone[rows])
            drawn.append(_drawn(int(everyone.max()) + 1, options, 0))
        if i != BONA_FIDE and "instrument" in units:
            instrument = np.unique(units["instrument"][rows], return_inverse=True)[1]
            codes.append(instrument)
            drawn.append(_drawn(int(instrument.max(initial=-1)) + 1, options, 1 + i))
        if not codes:
            codes.append(np.arange(rows.sum()))
            drawn.append(_drawn(int(rows.sum()), options, 0))
        pairs, unit = np.unique(np.stack(codes), axis=1, return_inverse=True)
        weights = np.prod([w[x] for w, x in zip(drawn, pairs, strict=True)], axis=0)
        unit = unit.reshape(-1)
        number = np.bincount(unit, minlength=len(weights)).astype(np.float64) @ weights
        known = ~np.isnan(data.distances[rows])
        few = min(len(np.unique(x)) for x in codes)
        return cls(data.distances[rows][known], unit[known], weights, number, few)

    def accepted(self, at: np.ndarray) -> np.ndarray:
        """Return the weighted presentations classified bona fide, shape (distances, columns)."""
        edges, place = np.unique(at, return_inverse=True)  # NaN last
        cells = np.searchsorted(edges, self.distances), self.codes
        shape = len(edges) + 1, len(self.weights)
        counts = coo_array((np.ones(len(self.codes)), cells), shape=shape).tocsr()
        totals = np.cumsum(counts @ self.weights, axis=0)[place.reshape(-1)]
        return np.where(np.isnan(at)[:, None], 0.0, totals)


def _drawn(units: int, options: IntervalOptions, key: int) -> np.ndarray:
    """Return how often each unit is drawn in each replicate; the first column is the data."""
    if units < 2:
        return np.ones((units, 1 + options.replicates))
    seed = options.seed
    sequence = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))
    return replace(options, seed=sequence).weights(units).astype(np.float64)


def relative_morph_limits(
    values: np.ndarray,
    people: list[list[str]],
    genuine: GenuineAttempts,
    at: np.ndarray,
    frr: np.ndarray,
    options: IntervalOptions,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of means over morphs plus FRR, by a bootstrap of all people.

    A person has one weight, as contributor and as subject of `genuine` attempts. `frr` is the rate
    at the distances `at` as it was counted.
    """
    who = genuine.subjects
    place = _places({*who}.union(*people))
    drawn = options.weights(len(place)).astype(np.float64)
    weights = _morph_weights(people, place, drawn)
    reached, order = np.unique(at, return_inverse=True)  # NaN last, which rejects all
    subject = np.array([place[x] for x in who], dtype=np.int64)
    counts = by_subject(genuine.distances, subject, reached[~np.isnan(reached)], len(place))
    accepted = np.cumsum(counts @ drawn, axis=0)
    whole = accepted[-1]
    none = np.zeros((int(np.isnan(reached).sum()), drawn.shape[1]))
    rejected = ratio(whole - np.concatenate([accepted[:-1], none])[order.reshape(-1)], whole[None])
    rejected[:, 0] = frr
    # The mean of both is a proportion; their sum has no logit.
    half = (ratio(values @ weights, weights.sum(axis=0)[None]) + rejected) / 2
    few = min(options.trials_of(len(place)) // 2, options.trials_of(len(set(who))))
    low, high = replace(options, method="subject-bootstrap").limits(half, few)
    return 2 * low, 2 * high


def _places(people: set[str]) -> dict[str, int]:
    """Return the place of each person among all, in the order of their names."""
    return {who: i for i, who in enumerate(sorted(people))}


def _morph_weights(people: list[list[str]], place: dict[str, int], drawn: np.ndarray) -> np.ndarray:
    """Return the product of the weights of each morph's contributors, in each replicate."""
    weights = []
    for contributors in people:
        rows = [place[who] for who in contributors]
        weights.append(drawn[rows].prod(axis=0))
    return np.stack(weights)


def morph_limits(
    values: np.ndarray, people: list[list[str]], options: IntervalOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of means over morphs, weighed by the product of contributors' weights."""
    place = _places(set().union(*people))
    drawn = options.weights(len(place)).astype(np.float64)
    weights = _morph_weights(people, place, drawn)
    rates = ratio(values @ weights, weights.sum(axis=0)[None])
    return options.limits(rates, options.trials_of(len(place)) // 2)

"""Intervals of attack detection, by resampling people and instruments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array

from bioeval.base.errors import Argument, DataError
from bioeval.stats.effective_number import drawn_variance, korn_graubard, largest_limits
from bioeval.stats.options import IntervalMethod
from bioeval.stats.replicates import open_limits
from bioeval.stats.verification import ErrorColumns
from bioeval.studies.attacks.counts import Presentations
from bioeval.studies.attacks.scores import BONA_FIDE

#: What the limits of the largest rate of several species are by, as attributes of results.
KORN_GRAUBARD = "Korn and Graubard, all species at once"

# Thresholds whose replicates are computed at once, and of a curve about the most.
_AT_ONCE, _POINTS = 256, 1000


def presentation_limits(
    data: Presentations,
    units: Mapping[str, np.ndarray],
    options: IntervalMethod,
    places: np.ndarray,
    targets: np.ndarray,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the limits of rates at distances, of ``d_eer``, and of ``bpcer_at_apcer``.

    All but those of the pooled APCER are by Korn and Graubard.
    """
    if not units:
        raise DataError(
            Argument("interval", options.method),
            " resamples people or objects; give ",
            Argument("subjects"),
            " or ",
            Argument("instrument"),
        )
    curve = sampled_points(data.points.threshold[1:], data.d_eer.eer_threshold)
    every = np.unique(np.concatenate([[np.nan], places, curve]))
    every = np.roll(every, 1)  # NaN, which rejects all, first
    place = np.where(np.isnan(places), 0, 1 + np.searchsorted(every[1:], places))
    shown, back = np.unique(place, return_inverse=True)
    classes = _Classes.of(data, units, options, every)
    tail = (1 - options.confidence) / 2
    # A rate of 0 has the same bound as elsewhere, at the confidence level.
    species = classes.rate[:, :-1], *classes.species(1 - tail), classes.units[:-1]
    low, high = open_limits(*species, options.confidence)
    largest = np.full(len(high), np.nan)
    if data.counted.any():
        largest = high[:, data.counted].max(axis=1)
    bona_fide = classes.rate[:, -1], *classes.bpcer(1 - tail), classes.units[-1]
    of_rates = {
        "apcer_pooled": classes.pooled,
        "bpcer": open_limits(*bona_fide, options.confidence),
        "apcer_of_species": (low, high),
        "apcer": (classes.apcer(1 - tail)[0], largest),
    }
    limits = {}
    for name, (low, high) in of_rates.items():
        low, high = low[shown], high[shown]
        if name == "bpcer":
            low, high = along_falling(low, high)
        elif name != "apcer_pooled":
            low, high = along(low, high)
        limits[name] = low[back], high[back]
    # Half of what may miss at an end is that of APCER, half that of BPCER.
    falling = along(*classes.apcer(1 - tail / 2))
    rising = along_falling(*classes.bpcer(1 - tail / 2))
    if not np.isnan(data.d_eer.eer):
        rates = classes.rates["apcer"], classes.rates["bpcer"]
        there = ~np.isnan(every)
        error = crossings(
            np.stack([rates[0], *falling], axis=1)[there],
            np.stack([rates[1], *rising], axis=1)[there],
            data.d_eer.eer,
        )
        limits["d_eer"] = error[1:2], error[2:]
    ends = []
    for apcer, bpcer in zip(falling, rising, strict=True):
        # APCER grows with the distance; before the first is the point that rejects all.
        within = np.searchsorted(apcer, targets, side="right")
        at = np.concatenate([[1.0], bpcer])[within]
        ends.append(np.where(np.isnan(apcer).any() | np.isnan(at), np.nan, at))
    limits["bpcer_at_apcer"] = ends[0], ends[1]
    return limits


def along(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return limits along increasing rates, the first axis, that are monotone as the rates are."""
    return np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)


def along_falling(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same along falling rates."""
    low, high = along(low[::-1], high[::-1])
    return low[::-1], high[::-1]


@dataclass(frozen=True)
class _Classes:
    """Rates of all classes at increasing distances, with their variances over units."""

    data: Presentations
    rates: dict[str, np.ndarray]
    rate: np.ndarray  # (distances, classes): accepted; bona fide last: rejected
    variance: np.ndarray
    number: np.ndarray  # (classes,)
    units: np.ndarray
    pooled: tuple[np.ndarray, np.ndarray]  # limits of the bootstrap that was asked for

    @classmethod
    def of(
        cls,
        data: Presentations,
        units: Mapping[str, np.ndarray],
        options: IntervalMethod,
        every: np.ndarray,
    ) -> _Classes:
        weighed = [_Weighed.of(data, units, options, i) for i in data.classes]
        trials = np.array([options.trials_of(x.units) for x in weighed])
        number = np.stack([x.number for x in weighed])[:, None]
        rates, rate, variance = defaultdict(list), [], []
        pooled = []
        for part in np.array_split(every, -(-len(every) // _AT_ONCE)):
            drawn = data.rates_of(np.stack([x.accepted(part) for x in weighed]), number)
            for name, values in drawn.items():
                rates[name].append(values[..., 0])
            each = np.concatenate([drawn["apcer_of_species"], drawn["bpcer"][:, None]], axis=1)
            rate.append(each[..., 0])
            variance.append(drawn_variance(each[..., 1:], trials))
            pooled.append(np.stack(options.limits(drawn["apcer_pooled"], trials[:-1].min())))
        low, high = np.concatenate(pooled, axis=1)
        return cls(
            data=data,
            rates={name: np.concatenate(x) for name, x in rates.items()},
            rate=np.concatenate(rate),
            variance=np.concatenate(variance),
            number=number[:, 0, 0],
            units=trials,
            pooled=(low, high),
        )

    def species(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return one-sided limits of APCER of each species."""
        of = self.rate[:, :-1], self.variance[:, :-1], self.number[:-1], self.units[:-1]
        return korn_graubard(*of, confidence)

    def apcer(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return one-sided limits of the largest APCER, by distance."""
        if not self.data.counted.any():
            return (np.full(len(self.rate), np.nan),) * 2
        over = np.flatnonzero(self.data.counted)
        of = self.rate[:, over], self.variance[:, over], self.number[over], self.units[over]
        return largest_limits(*of, confidence)

    def bpcer(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return one-sided limits of BPCER, by distance."""
        of = self.rate[:, -1], self.variance[:, -1], self.number[-1], self.units[-1]
        return korn_graubard(*of, confidence)


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
        cls, data: Presentations, units: Mapping[str, np.ndarray], options: IntervalMethod, i: int
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


def _drawn(units: int, options: IntervalMethod, key: int) -> np.ndarray:
    """Return how often each unit is drawn in each replicate; the first column is the data."""
    if units < 2:
        return np.ones((units, 1 + options.replicates))
    seed = options.seed
    sequence = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))
    return replace(options, random_state=sequence).weights(units).astype(np.float64)

"""Naive confidence limits from values without each person, by plain loops.

``columns`` are a value, and the value without each person.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import scipy

Columns = Sequence[float]
Ends = tuple[float, float]


def exact(rate: float, trials: float, miss: float) -> Ends:
    """Clopper and Pearson: the two rates at which so many errors have the probability `miss`."""
    errors = rate * trials
    low, high = 0.0, 1.0
    if rate > 0:
        low = float(scipy.stats.beta.ppf(miss, errors, trials - errors + 1))
    if rate < 1:
        high = float(scipy.stats.beta.ppf(1 - miss, errors + 1, trials - errors))
    return low, high


def jackknife(columns: Columns) -> tuple[float, float]:
    """The variance, and its degrees of freedom."""
    replicates = columns[1:]
    n = len(replicates)
    mean = sum(replicates) / n
    squares = [(x - mean) ** 2 for x in replicates]
    total = sum(squares)
    spread = sum(x**2 for x in squares) - total**2 / n
    if not total > 1e-20:
        return (n - 1) / n * total, 0.0
    return (n - 1) / n * total, min(2 * total**2 / spread if spread > 0 else n, n - 1)


def plain(columns: Columns, confidence: float = 0.95) -> tuple[float, float, float]:
    """Student's limits of a value without bounds, and the p-value that it is 0."""
    variance, freedom = jackknife(columns)
    error, student = math.sqrt(variance), scipy.stats.t(freedom)
    half = student.ppf(0.5 + confidence / 2) * error
    return columns[0] - half, columns[0] + half, 2 * student.sf(abs(columns[0]) / error)


def shares_of(columns: Columns, sides: int, shares: Sequence[float] | None) -> Sequence[float]:
    """The part of all attempts in which each person takes part: equal parts, if not given."""
    n = len(columns) - 1
    return [sides / n] * n if shares is None else shares


def alike(columns: Columns, sides: int, shares: Sequence[float] | None = None) -> float:
    """How many people, or disjoint pairs of them, who err alike are worth all errors."""
    own = shares_of(columns, sides, shares)
    errors = [max(0.0, 1 - (1 - s) * x / columns[0]) for x, s in zip(columns[1:], own, strict=True)]
    return sum(errors) ** 2 / sum(x**2 for x in errors) / sides if any(errors) else 0.0


def is_enough(columns: Columns, sides: int, shares: Sequence[float] | None = None) -> bool:
    """Whether enough people err, and enough do not."""
    if not all(1e-12 < x < 1 - 1e-12 for x in columns):
        return False
    least = min(6, kish(shares_of(columns, sides, shares)) / sides / 2)
    both = columns, [1 - x for x in columns]
    return all(alike(x, sides, shares) >= least - 1e-9 for x in both)


class Effective(NamedTuple):
    """Effective attempts: with (z / t)^2 the smaller ones by rates and by logits; without it."""

    known: bool
    least: float
    of_rates: float
    alone: float


def effective(
    columns: Columns, miss: float, sides: int, shares: Sequence[float] | None = None
) -> Effective | None:
    """None where the rate stays equal without each person."""
    variance, freedom = jackknife(columns)
    rate = columns[0]
    if not variance > 1e-20:
        return None
    z = scipy.stats.norm.ppf(miss)
    alone = rate * (1 - rate) / variance
    of_rates = alone * (z / scipy.stats.t.ppf(miss, max(freedom, 1))) ** 2
    if not is_enough(columns, sides, shares):
        return Effective(False, math.nan, of_rates, alone)
    variance, freedom = jackknife([math.log(x / (1 - x)) for x in columns])
    of_logits = (z / scipy.stats.t.ppf(miss, max(freedom, 1))) ** 2 / (rate * (1 - rate) * variance)
    return Effective(True, min(of_rates, of_logits), of_rates, alone)


def interpolated(x: float, at: Sequence[float], values: Sequence[float]) -> float:
    """The value at x, linear between increasing places, constant beyond them."""
    if x <= at[0]:
        return values[0]
    for k in range(1, len(at)):
        if x <= at[k]:
            share = (x - at[k - 1]) / (at[k] - at[k - 1])
            return values[k - 1] + share * (values[k] - values[k - 1])
    return values[-1]


def counted_twice(columns: Columns, sides: int, shares: Sequence[float] | None = None) -> float:
    """The rate with the two people counted twice who add most to the errors."""
    rate = columns[0]
    added = [
        ((rate - x) * (1 - s), s)
        for x, s in zip(columns[1:], shares_of(columns, sides, shares), strict=True)
    ]
    worst = sorted(added, key=lambda x: (-round(max(x[0], 0.0), 12), x[1]))[:2]
    # Of a person's errors, the part that the others' rate would make of as many attempts adds none.
    errors = rate + sum(max(x, 0.0) + s * rate for x, s in worst)
    return min(errors / (1 + sum(s for _, s in worst)), 1.0)


def curve(
    places: Sequence[Columns],
    attempts: float,
    units: float,
    sides: int,
    confidence: float = 0.95,
    least: float | None = None,
    raised: bool = False,
    one_sided: bool = False,
    shares: Sequence[float] | None = None,
    most: float | None = None,
) -> Callable[[float], Ends]:
    """The limits of a rate as a function of it, from its columns along a curve.

    Where enough people err it has at least so many units; where too few do, at most so many. With
    `raised`, the upper limit is of the rate in which two people are counted twice; the confidence
    is of each limit if `one_sided`.
    """
    n, miss = len(places[0]) - 1, (1 - confidence) / (1 if one_sided else 2)
    by_rate = {columns[0]: list(columns) for columns in reversed(places)}
    by_rate |= {0.0: [0.0] * (n + 1), 1.0: [1.0] * (n + 1)}
    rates = sorted(by_rate)
    effective_trials = [effective(by_rate[x], miss, sides, shares) for x in rates]
    known_rates = [
        (x, trials_there.of_rates)
        for x, trials_there in zip(rates, effective_trials, strict=True)
        if trials_there and trials_there.known
    ]
    ends = []
    for x, trials_there in zip(rates, effective_trials, strict=True):
        trials, fewest = units, units
        if trials_there and trials_there.known:
            trials, fewest = trials_there.least, units if least is None else least
        elif known_rates:
            trials = interpolated(x, *zip(*known_rates, strict=True))
            trials = min(trials, units if most is None else most)
        trials = min(max(trials, min(fewest, attempts)), attempts)
        tails = 2 if x in (0, 1) and not one_sided else 1
        upper = counted_twice(by_rate[x], sides, shares) if raised else x
        ends.append((exact(x, trials, tails * miss)[0], exact(upper, trials, tails * miss)[1]))
    low, high = (list(x) for x in zip(*ends, strict=True))
    for k in range(len(rates) - 2, -1, -1):
        low[k] = min(low[k], low[k + 1])
    for k in range(1, len(rates)):
        high[k] = max(high[k], high[k - 1])
    return lambda x: (interpolated(x, rates, low), interpolated(x, rates, high))


def rate(
    columns: Columns,
    attempts: float,
    units: float,
    sides: int,
    confidence: float = 0.95,
    shares: Sequence[float] | None = None,
) -> tuple[float, float]:
    """The limits of a rate that has no curve."""
    value, miss = columns[0], (1 - confidence) / 2
    if not units or math.isnan(value):
        return math.nan, math.nan
    trials, tails = units, 2 if value in (0, 1) else 1
    if len(columns) > 2 and all(x == x for x in columns):
        trials_found = effective(columns, miss, sides, shares)
        if trials_found and trials_found.known:
            trials, tails = trials_found.least, 1
    return exact(value, min(max(trials, min(units, attempts)), attempts), tails * miss)


def student(
    columns: Columns, units: float, confidence: float = 0.95, bounds: Ends = (0.0, 1.0)
) -> Ends:
    """Student's limits of logits, no wider than the limits of so many independent units."""
    scaled = [(x - bounds[0]) / (bounds[1] - bounds[0]) for x in columns]
    value, miss = scaled[0], (1 - confidence) / 2
    bound = 1 - (1 - confidence) ** (1 / units)
    low, high = max(value - bound, 0.0), min(value + bound, 1.0)
    if all(0 < x < 1 for x in scaled):
        logits = [math.log(x / (1 - x)) for x in scaled]
        variance, freedom = jackknife(logits)
        if variance >= 1e-20:
            half = scipy.stats.t.ppf(1 - miss, max(freedom, 1)) * math.sqrt(variance)
            ends = (1 / (1 + math.exp(-(logits[0] + s * half))) for s in (-1, 1))
            widest = exact(value, units, miss)
            (low, high), (least, greatest) = ends, widest
            low, high = max(low, least), min(high, greatest)
    return tuple(bounds[0] + (bounds[1] - bounds[0]) * x for x in (low, high))


def chosen_anew(columns: Columns, few: Ends, confidence: float = 0.95) -> Ends:
    """The limits of a rate whose threshold is chosen anew: everyone moves the threshold."""
    miss, n = (1 - confidence) / 2, len(columns) - 1
    variance, freedom = jackknife(columns)
    if not 0 < columns[0] < 1 or freedom < min(10, 0.4 * (n - 1)):
        return min(few[0], columns[0]), max(few[1], columns[0])
    z, t = scipy.stats.norm.ppf(miss), scipy.stats.t.ppf(miss, n - 1)
    return exact(columns[0], columns[0] * (1 - columns[0]) / variance * (z / t) ** 2, miss)


def at_target(
    target: float,
    columns: Columns,
    errors: Columns,
    chosen_by: Sequence[tuple[float, float, float]],
    rates: Sequence[tuple[float, float, float]],
    confidence: float = 0.95,
) -> Ends:
    """The limits of a rate at a target of another one.

    `columns` have the rate at thresholds that are chosen anew, `errors` at the data's threshold.
    `chosen_by` and `rates` have both rates with their limits at all scores, from reject-all on.
    """
    k = max(k for k in range(len(rates)) if chosen_by[k][0] <= target)
    value, n = columns[0], len(columns) - 1

    def at(x: float) -> float:
        return next(r[0] for c, r in reversed([*zip(chosen_by, rates, strict=True)]) if c[0] <= x)

    is_inside = all(0 < x < 1 for x in columns)
    if is_inside and jackknife(errors)[1] >= min(10, 0.4 * (n - 1)):
        logits = [math.log(x / (1 - x)) for x in columns]
        variance, freedom = jackknife(logits)
        half = scipy.stats.t.ppf(0.5 + confidence / 2, max(freedom, 1)) * math.sqrt(variance)
        low, high = (1 / (1 + math.exp(-(logits[0] + s * half))) for s in (-1, 1))
    else:
        strict, loose = (at(x) - value for x in chosen_by[k][1:])
        low = value - math.hypot(value - rates[k][1], min(loose, 0.0))
        high = value + math.hypot(rates[k][2] - value, max(strict, 0.0))
    low, high = max(min(low, value), 0.0), min(max(high, value), 1.0)
    if k > 0 and chosen_by[k][2] > target:
        high = max(high, rates[k - 1][2])
    if k + 1 < len(rates) and chosen_by[k + 1][1] <= target:
        low = min(low, rates[k + 1][1])
    return low, high


def crossing(far: Sequence[float], frr: Sequence[float]) -> float:
    """Where two curves cross, linear between their places, from reject-all to accept-all."""
    far, frr = [0.0, *far, 1.0], [1.0, *frr, 0.0]
    k = next(k for k in range(len(far)) if far[k] >= frr[k])
    before, after = frr[k - 1] - far[k - 1], far[k] - frr[k]
    return far[k - 1] + before / (before + after) * (far[k] - far[k - 1])


def equal_error(
    columns: Columns,
    frr: Sequence[Columns],
    low: Sequence[Sequence[float]],
    rates: Sequence[Sequence[float]],
    high: Sequence[Sequence[float]],
    confidence: float = 0.95,
) -> Ends:
    """The limits of the EER: `low`, `rates` and `high` are FAR and FRR along a curve."""
    crossing_place = next(k for k in range(len(frr)) if rates[0][k] >= rates[1][k])
    crossings, n = (crossing(*low), crossing(*high)), len(columns) - 1
    if jackknife(frr[crossing_place])[1] < min(10, 0.4 * (n - 1)):
        return min(crossings[0], columns[0]), max(crossings[1], columns[0])
    return chosen_anew(columns, crossings, confidence)


def kish(counts: Sequence[float]) -> float:
    """Return the number of people with equal numbers that carry the same information."""
    return sum(counts) ** 2 / sum(x**2 for x in counts)

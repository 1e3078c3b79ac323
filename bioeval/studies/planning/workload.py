"""The errors of a system in use: false alarms and rejected people per day."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.special
import xarray as xr

from bioeval.base.arguments import require_integer, require_list, require_number
from bioeval.base.errors import DataError, nearest_name, received
from bioeval.base.messages import Message, message_attrs, messages_of
from bioeval.counting.threshold_rules import Rule
from bioeval.results.dataset import Variables, dataset, variables_over
from bioeval.results.support import beyond_scores
from bioeval.results.threshold_lookup import ResultThresholds
from bioeval.results.variables import Variable
from bioeval.scores.completeness import MISSING
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod

WORKLOAD = {
    "days": Variable("length of the period", "day", label="days"),
    "event": Variable(
        "error of the system: false-alarm, an impostor accepted or somebody who is not "
        "on the list found there; rejected, a genuine person rejected or a listed one missed",
        label="error",
    ),
    "rate": Variable(
        "error rate of an attempt",
        "proportion",
        "FMR, FNMR; FPIR, FNIR",
        label="rate",
        direction="smaller",
    ),
    "rate_low": Variable("lower end of the interval of the rate; NaN where unknown", "proportion"),
    "rate_high": Variable("upper end of the interval of the rate; NaN where unknown", "proportion"),
    "people_per_day": Variable(
        "people a day who can cause the event, on average",
        "per day",
        shown="3",
        label="people a day",
    ),
    "per_day": Variable("expected events a day", "per day", shown="3", label="errors a day"),
    "expected": Variable(
        "expected events in the period; in brackets the range of most periods, if the rate is "
        "exact and people are independent",
        "events",
        shown="3",
        label="expected, known rate",
    ),
    "predicted": Variable(
        "expected events in the period; in brackets the range of most periods, if the rate is as "
        "uncertain as its interval and people are independent",
        "events",
        shown="3",
        label="estimated rate",
    ),
    "none_at_all": Variable(
        "probability of no event in the period, if the rate is exact",
        "p",
        label="probability of none",
    ),
}
WORKLOAD |= {
    f"{name}_{end}": Variable(
        f"{words} end of the events in the period, {rate}", "events", shown="count"
    )
    for name, rate in (
        ("expected", "if the rate is exact"),
        ("predicted", "the rate as uncertain as its interval; NaN without one"),
    )
    for end, words in (("low", "lower"), ("high", "upper"))
}

#: The labels of the dimension `event`.
EVENTS = ("false-alarm", "rejected")

#: Default periods, in days.
DAYS = (1, 30, 365)

#: An uncertain rate is represented by this number of equally likely values.
NODES = 400

# The attributes of a result that describe the data of its rates.
_DATA_ATTRIBUTES = (
    "system",
    "kind",
    "exclude",
    "fingerprint",
    "templates",
    "use",
    "most_tries",
    "rank_unit",
)

# The names of the rates of false alarms and of rejections, by task.
_VERIFICATION = "far", "frr"
_WATCH_LIST = "fpir", "fnir"


class Estimate(NamedTuple):
    """An error rate with its limits; NaN is unknown."""

    rate: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class _Rates:
    """The rates of false alarms and of rejections at an operating point."""

    names: tuple[str, str]
    alarms: Estimate
    rejections: Estimate
    #: The threshold or the FAR target of the operating point, by name; empty of given rates.
    where: Mapping[str, float] = field(default_factory=dict)
    confidence: float = IntervalMethod.CONFIDENCE


@warns_of_doubts
def workload(
    rates: xr.Dataset | Mapping[str, float] | None = None,
    *,
    people_per_day: int,
    impostor_share: float,
    alarms_per_day: float | None = None,
    threshold: Any = None,
    days: int | Sequence[int] = DAYS,
) -> xr.Dataset:
    """Return the false alarms and the rejected people that a system in use will have.

    Parameters
    ----------
    rates : xarray.Dataset or mapping of str to float, optional
        The error rates. Needed without `alarms_per_day`.

        - a result of :func:`verification` or :func:`open_set`; of ``with_failures``, the ISO rates
          are taken
        - rates by name: ``far`` and ``frr`` of verification, or ``fpir`` and ``fnir`` of a watch
          list, each also with the ends of its 95 % interval, ``_low`` and ``_high``
    people_per_day : int
        People per day, each once.
    impostor_share : float
        Proportion of people who are impostors, or not on the watch list.
    alarms_per_day : float, optional
        Operating point: the FAR at which so many false alarms a day are expected. A result is taken
        at its loosest threshold with at most this FAR; with rates by name, it replaces ``far`` or
        ``fpir``.
    threshold : float or str, optional
        Operating point: a threshold of the result, or eer, or far=X. ``"far=x"`` is one of its FAR
        targets, which is then taken as the FAR. Not needed where a result has one threshold.
    days : int or sequence of int
        Periods in days over which events are counted.

    Returns
    -------
    xarray.Dataset
        Over ``event`` (``"false-alarm"``, ``"rejected"``):

        - ``rate``, with ``rate_low`` and ``rate_high``
        - ``people_per_day``, ``per_day``

        Over ``event, days``:

        - ``none_at_all``
        - ``expected``, with ``expected_low`` and ``expected_high``: the middle of the counts, were
          the rate exact
        - ``predicted``, the same number, with ``predicted_low`` and ``predicted_high``, which allow
          for the uncertainty of the rate

        Variables that need the interval of a rate are NaN without one.

    Raises
    ------
    DataError
        If a number, a rate or an operating point is not usable; the message says which.

    Notes
    -----
    Limits have the confidence of the result's intervals, or 95 %. Counts are binomial over the
    people of the period, who are taken as independent of each other.
    An uncertain rate is normal on either side of its estimate, in the logit, with the limits of its
    interval. ISO/IEC 19795-1: FMR, FNMR, FPIR, FNIR.

    Examples
    --------
    A door, 2,000 people a day, one in a hundred with a borrowed card:

    >>> import bioeval as be
    >>> door = {"far": 0.001, "frr": 0.02, "frr_low": 0.015, "frr_high": 0.026}
    >>> ds = be.workload(door, people_per_day=2000, impostor_share=0.01, days=1)
    >>> [round(x, 2) for x in ds.per_day.values.tolist()]
    [0.02, 39.6]
    >>> ds.expected_low.values[1].tolist(), ds.expected_high.values[1].tolist()
    ([28.0], [52.0])
    >>> ds.predicted_low.values[1].tolist(), ds.predicted_high.values[1].tolist()
    ([25.0], [57.0])

    The FAR at which three false alarms a day are expected of 200 impostors:

    >>> ds = be.workload(people_per_day=2000, impostor_share=0.1, alarms_per_day=3)
    >>> ds.attrs["far"]
    0.015

    A watch list of 500 people, few of them present, whose comparisons are independent:

    >>> searches = {"fpir": 1 - (1 - 1e-5) ** 500, "fnir": 0.1}
    >>> ds = be.workload(searches, people_per_day=10_000, impostor_share=0.9999, days=1)
    >>> print(f"{ds.per_day.values[0]:.1f} false alarms a day")
    49.9 false alarms a day
    """
    people = require_integer("people_per_day", people_per_day, low=1)
    share = require_number("impostor_share", impostor_share, low=0.0, high=1.0)
    periods = _periods(days)

    attrs: dict[str, Any] = {}
    far = None
    if alarms_per_day is not None:
        if threshold is not None:
            chooses = " chooses the operating point; expected it without "
            raise DataError(f"`alarms_per_day`{chooses}`threshold`")
        far = far_of_alarms(alarms_per_day, people, share)
        attrs = {"alarms_per_day": float(alarms_per_day), "far": far}
    if isinstance(rates, xr.Dataset):
        point, about = _point_of_result(rates, threshold, far)
        attrs |= about
    elif threshold is not None:
        point_of = " chooses a point of a result; rates by name are of one point already"
        raise DataError(f"`threshold`{point_of}")
    else:
        point = _given_rates(rates, far)
    variables = _events(point, people, share, periods)
    attrs |= {
        "result_type": "workload",
        "task": "workload",
        "rates": " ".join(point.names),
        **point.where,
        "people": people,
        "impostor_share": share,
        "confidence": point.confidence,
    }
    _, per_day = variables["per_day"]
    attrs |= message_attrs([_errors_of_a_day(people, point.names, per_day)], attrs)
    coordinates = {"event": np.array(EVENTS, dtype=object), "days": np.array(periods)}
    return dataset(variables, WORKLOAD, coordinates, attrs)


def _periods(days: int | Sequence[int]) -> list[int]:
    if isinstance(days, int | np.integer):
        days = [days]
    periods = [require_integer("days", x, low=1) for x in require_list("days", days)]
    if not periods or len(set(periods)) < len(periods):
        raise DataError(
            f"`days` is {received(days)}; expected different numbers of days, such as [1, 30]"
        )
    return periods


def _point_of_result(
    result: xr.Dataset, threshold: Any, far: float | None
) -> tuple[_Rates, dict[str, Any]]:
    point = _rates_of_result(result, threshold if far is None else _loosest_threshold(result, far))
    messages = [x for x in messages_of(result.attrs) if x.code in MISSING]
    if "threshold" in point.where and "far_target" not in point.where:
        threshold_used = float(point.where["threshold"])
        messages += beyond_scores(threshold_used, point.alarms.rate, point.rejections.rate)
    attrs = {name: result.attrs[name] for name in _DATA_ATTRIBUTES if name in result.attrs}
    return point, attrs | message_attrs(messages)


def _events(point: _Rates, people: int, share: float, periods: list[int]) -> Variables:
    estimates = (point.alarms, point.rejections)
    rate, low, high = np.array(estimates).T
    shares = np.array([share, 1 - share])  # people who can cause false alarms, rejections
    per_day = people * shares * rate
    trials = people * np.array(periods)
    with np.errstate(divide="ignore"):
        none_at_all = np.exp(np.log1p(-shares * rate)[:, None] * trials.astype(float))
    expected = per_day[:, None] * periods
    exact_rates = [np.array([x.rate]) for x in estimates]
    expected_limits = _limits_of_counts(exact_rates, shares, trials, point.confidence)
    likely_rates = [_likely_rates(x, point.confidence) for x in estimates]
    predicted_limits = _limits_of_counts(likely_rates, shares, trials, point.confidence)
    return variables_over(
        ("event",),
        rate=rate,
        rate_low=low,
        rate_high=high,
        people_per_day=people * shares,
        per_day=per_day,
    ) | variables_over(
        ("event", "days"),
        expected=expected,
        expected_low=expected_limits[0],
        expected_high=expected_limits[1],
        predicted=np.where(np.isnan(predicted_limits[0]), np.nan, expected),
        predicted_low=predicted_limits[0],
        predicted_high=predicted_limits[1],
        none_at_all=none_at_all,
    )


def _limits_of_counts(
    rates: Sequence[np.ndarray], shares: np.ndarray, trials: np.ndarray, confidence: float
) -> np.ndarray:
    """Return the lower and the upper limits of the numbers of events, (2, events, periods).

    `rates` has equally likely values for each event; if they are NaN, so are the limits. `trials`
    are the people of each period; a person causes an event with the probability share times rate.
    """
    limits = np.full((2, len(EVENTS), len(trials)), np.nan)
    for i, likely_rates in enumerate(rates):
        if not np.isnan(likely_rates).any():
            for j, people in enumerate(trials.tolist()):
                limits[:, i, j] = count_limits(people, shares[i] * likely_rates, confidence)
    return limits


def _likely_rates(estimate: Estimate, confidence: float) -> np.ndarray:
    """Return equally likely values of a rate; a single NaN without an interval."""
    if math.isnan(sum(estimate)):
        return np.array([np.nan])
    rates = values_of_rate(*estimate, confidence)
    # A rate of 0 is likely itself, and not among the values.
    if estimate.rate == 0:
        rates[: NODES // 2] = 0
    return rates


def count_limits(trials: int, rate: np.ndarray, confidence: float) -> tuple[int, int]:
    """Return the central interval of the number of events in independent trials.

    - `rate` (float (k,)): equally likely values of the rate
    - `confidence`: smallest probability of a number within the limits, which are both included
    """
    from scipy.stats import binom  # slow to import: only here

    def quantile(level: float) -> int:
        def is_enough(count: int) -> bool:
            return bool(binom.cdf(count, trials, rate).mean() >= level - 1e-12)

        return bisect_left(range(min(trials, 1 << 62)), True, key=is_enough)

    tail = (1 - confidence) / 2
    return quantile(tail), quantile(1 - tail)


def values_of_rate(rate: float, low: float, high: float, confidence: float) -> np.ndarray:
    """Return equally likely values of a rate with a confidence interval, shape (NODES,).

    The logit of the rate is normal on either side of the estimate, with a standard deviation of its
    own by which the limit has its confidence. If there is no error (or nothing else), the limit is
    one-sided, and larger (smaller) rates are exponentially less likely.
    """
    level = (np.arange(NODES) + 0.5) / NODES
    if rate <= 0.0:
        return -np.expm1(np.log1p(-level) / np.log1p(-confidence) * np.log1p(-min(high, 1 - 1e-12)))
    if rate >= 1.0:
        return 1 - values_of_rate(0.0, 0.0, 1 - low, confidence)
    logit = scipy.special.logit
    quantile = scipy.special.ndtri(0.5 + confidence / 2)
    spread = np.abs([(logit(rate) - logit(low)) / quantile, (logit(rate) - logit(high)) / quantile])
    # A limit of 0 or 1 gives no standard deviation: the one of the other side is taken.
    down, up = np.where(np.isfinite(spread), spread, spread.min())
    normal = scipy.special.ndtri(level)
    return scipy.special.expit(logit(rate) + normal * np.where(normal < 0, down, up))


def _errors_of_a_day(people: int, rates: tuple[str, str], per_day: np.ndarray) -> Message:
    alarms, rejections = per_day.tolist()
    code, names = "errors-a-day", ("accepted", "rejected")
    if rates == _WATCH_LIST:
        code, names = "alarms-a-day", ("false_alarms", "missed")
    missed = {} if math.isnan(rejections) else {names[1]: rejections}
    return Message(code, people=people, **{names[0]: alarms}, **missed)


def far_of_alarms(alarms: Any, people: int, share: float) -> float:
    """Return the FAR, or the FPIR of a search, that makes this number of alarms a day."""
    alarms = require_number("alarms_per_day", alarms, above=0.0)
    impostors = people * share
    if alarms > impostors:
        raise DataError(
            f"`alarms_per_day` is {alarms:g}, and {impostors:g} people a day can cause a "
            "false alarm; expected at most as many"
        )
    return float(alarms / impostors)


def _loosest_threshold(ds: xr.Dataset, far: float) -> Any:
    """Return the loosest threshold of a result with at most this FAR.

    None if the result has no FAR over thresholds: :func:`_rates_of_result` refuses it.
    """
    rates = ds.get("far_iso" if "fta" in ds.attrs else "far")
    if rates is None or rates.dims != ("threshold",):
        return None
    candidates = np.flatnonzero(rates.values <= far)
    if not len(candidates):
        raise DataError(f"no threshold of the results has a FAR of at most {far:.4g}")
    return float(ds["threshold"].values[candidates[np.argmax(rates.values[candidates])]])


def _given_rates(rates: Any, far: float | None) -> _Rates:
    """Return the rates that are given by name.

    `far` is the FAR of a given number of alarms; then FRR need not be given, and is NaN.
    """
    if rates is None and far is not None:
        rates = {}
    if not isinstance(rates, Mapping):
        raise DataError(
            f"rates is {type(rates).__name__}; expected a result of be.verification or be.open_set,"
            ' or rates by name, such as {"far": 0.001, "frr": 0.02}'
        )
    names = (
        _WATCH_LIST if any(str(name).startswith(_WATCH_LIST) for name in rates) else _VERIFICATION
    )
    expected = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    for name in rates:
        if name not in expected:
            raise DataError(
                f"rates names {name!r}; expected {' and '.join(names)}, with _low and _high where "
                f"they have intervals.{nearest_name(name, expected)}"
            )
    alarm, rejected = names
    if far is not None and alarm in rates:
        raise DataError(
            f"`alarms_per_day` gives the {alarm.upper()}; expected rates without {alarm}"
        )
    alarms = _estimate_by_name(rates, alarm) if far is None else Estimate(far)
    rejections = Estimate()
    if far is None or rejected in rates:
        rejections = _estimate_by_name(rates, rejected)
    return _Rates(names, alarms, rejections)


def _estimate_by_name(rates: Mapping[str, float], name: str) -> Estimate:
    if name not in rates:
        raise DataError(f"rates has no {name!r}; expected it, as in {{{name!r}: 0.01, ...}}")
    rate = require_number(name, rates[name], low=0.0, high=1.0)
    low, high = f"{name}_low", f"{name}_high"
    if (low in rates) != (high in rates):
        raise DataError(f"rates has one of {low} and {high}; expected both or none")
    if low not in rates:
        return Estimate(rate)
    return Estimate(
        rate,
        require_number(low, rates[low], low=0.0, high=rate),
        require_number(high, rates[high], low=rate, high=1.0),
    )


def _rates_of_result(ds: xr.Dataset, threshold: Any) -> _Rates:
    is_open_set = "dir" in ds and "frr" in ds
    is_task = is_open_set or "templates" in ds.attrs
    if not is_task or "far" not in ds or ds["far"].dims != ("threshold",):
        raise DataError(
            "rates is not a result of be.verification or be.open_set; expected their far and frr "
            "over threshold"
        )
    if threshold is None and ds.sizes["threshold"] != 1:
        raise DataError(
            "`threshold` is not given; expected the operating point in use, a number "
            "or a rule such as eer or far=0.001"
        )
    rule = Rule.parse(float(ds["threshold"][0]) if threshold is None else threshold)
    names = _WATCH_LIST if is_open_set else _VERIFICATION
    rates_at = _at_target if rule.name == "far" else _at_threshold
    point = rates_at(ds, rule, names)
    for name, estimate in (("FAR", point.alarms), ("FRR", point.rejections)):
        if math.isnan(estimate.rate):
            where = [f"{x} {y:.6g}" for x, y in point.where.items() if x != "threshold_next"]
            raise DataError(
                f"the {name} at {', '.join(where)} is not defined: no attempt of its class"
            )
    return replace(point, confidence=float(ds.attrs.get("confidence", IntervalMethod.CONFIDENCE)))


def _at_target(ds: xr.Dataset, rule: Rule, names: tuple[str, str]) -> _Rates:
    lookup = ResultThresholds(ds)
    (target,) = rule.values
    if target not in lookup.far_targets:
        raise DataError(
            f'`threshold="{rule}"` is not a FAR target of the results; '
            f"{lookup.other_targets(target)}"
        )
    index = {"far_target": lookup.far_targets.tolist().index(target), "rank": 0}
    has_failures = "fta" in ds.attrs
    if names == _WATCH_LIST:
        detected = _rate_of(ds, "dir_at_far", index)
        rejections = Estimate(1 - detected.rate, 1 - detected.high, 1 - detected.low)
    else:
        rejections = _rate_of(ds, "frr_iso_at_far" if has_failures else "frr_at_far", index)
    alarms = Estimate(target * (1 - float(ds.attrs["fta"])) if has_failures else target)
    where = {"far_target": target}
    threshold = _rate_of(ds, "threshold_at_far", index).rate
    if not math.isnan(threshold):
        where["threshold"] = threshold
    return _Rates(names, alarms, rejections, where)


def _at_threshold(ds: xr.Dataset, rule: Rule, names: tuple[str, str]) -> _Rates:
    threshold = ResultThresholds(ds).of_rule(rule)
    indices = np.flatnonzero(ds["threshold"].values == threshold)
    if not len(indices):
        raise DataError(
            f"`threshold` is {received(threshold)}; expected one of the "
            f"{ds.sizes['threshold']} thresholds of the results. Or evaluate at this "
            f"threshold: be.verification(scores, thresholds=[{threshold!r}], interval=...)"
        )
    index = {"threshold": int(indices[0])}
    iso = "_iso" if "fta" in ds.attrs else ""
    alarms, rejections = (_rate_of(ds, f"{name}{iso}", index) for name in ("far", "frr"))
    where = {"threshold": threshold}
    if "threshold_next" in ds:
        where["threshold_next"] = float(ds["threshold_next"][index])
    return _Rates(names, alarms, rejections, where)


def _rate_of(ds: xr.Dataset, name: str, index: Mapping[str, int]) -> Estimate:
    """Return a rate of a result with its limits; NaN if the result does not have it."""
    names = (name, f"{name}_low", f"{name}_high")
    return Estimate(
        *(float(ds[x].isel(index, missing_dims="ignore")) if x in ds else math.nan for x in names)
    )

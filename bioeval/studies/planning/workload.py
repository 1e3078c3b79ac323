"""The errors of a day: false alarms and rejected people at a door, a border or a watch list."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np
import scipy.special
import scipy.stats
import xarray as xr

from bioeval.attempts.threshold_rules import Rule
from bioeval.base.arguments import require_integer, require_list, require_number, require_numbers
from bioeval.base.errors import Argument, DataError, ProtocolError, nearest_name, received
from bioeval.base.scalars import Name
from bioeval.base.version import __version__
from bioeval.results.dataset import Variables, along, build
from bioeval.results.support import ComparedPeople, RuleOf
from bioeval.results.threshold_lookup import ResultThresholds
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.stats.options import IntervalMethod

WORKLOAD = {
    "days": Name("length of the period", "days"),
    "event": Name(
        "error of the system: false-alarm, an impostor accepted or somebody who is not "
        "on the list found there; rejected, a genuine person rejected or a listed one missed"
    ),
    "rate": Name("error rate of an attempt", iso="FMR, FNMR; FPIR, FNIR"),
    "rate_low": Name("lower end of the interval of the rate; NaN where unknown"),
    "rate_high": Name("upper end of the interval of the rate; NaN where unknown"),
    "people_per_day": Name("people a day who can cause the event, on average", "people/day"),
    "per_day": Name("expected events a day", "events/day"),
    "expected": Name("expected events in the period", "events"),
    "count_low": Name("lower end of the events in the period, if the rate is exact", "events"),
    "count_high": Name("upper end of the events in the period, if the rate is exact", "events"),
    "predicted_low": Name(
        "lower end of the events in the period, the rate as uncertain as its interval; NaN without "
        "one",
        "events",
    ),
    "predicted_high": Name(
        "upper end of the events in the period, the rate as uncertain as its interval; NaN without "
        "one",
        "events",
    ),
    "none_at_all": Name("probability of no event in the period, if the rate is exact"),
}
for _rule in (RuleOf(3), RuleOf(30)):
    WORKLOAD[f"subjects_rule_of_{_rule}"] = Name(
        f"people that a test of the rate needs, rule of {_rule}: of a FAR all compared with "
        "each other, templates do not count",
        "subjects",
    )

# Values of an uncertain rate, at quantiles of equal weight.
NODES = 400


def count_limits(trials: int, rate: np.ndarray, confidence: float) -> tuple[int, int]:
    """Return the central interval of the number of events in independent trials.

    - `rate` (float (k,)): the rate, or values of it that are equally likely
    - `confidence`: the least proportion between the limits, both included
    """
    tail = (1 - confidence) / 2
    return _quantile(trials, rate, tail), _quantile(trials, rate, 1 - tail)


def _quantile(trials: int, rate: np.ndarray, level: float) -> int:
    """Return the smallest count that is not exceeded with probability `level` or more."""
    low, high = -1, trials
    while high - low > 1:
        middle = (low + high) // 2
        reached = scipy.stats.binom.cdf(middle, trials, rate).mean() >= level - 1e-12
        if reached:
            high = middle
        else:
            low = middle
    return high


def values_of_rate(rate: float, low: float, high: float, confidence: float) -> np.ndarray:
    """Return equally likely values of a rate with a confidence interval, shape (NODES,).

    Its logit is normal on either side of the estimate, so that the limits have their confidence.
    Without an error (or without a success) the limit is one-sided, and the rate falls off
    exponentially.
    """
    level = (np.arange(NODES) + 0.5) / NODES
    if rate <= 0.0:
        return -np.expm1(np.log1p(-level) / np.log1p(-confidence) * np.log1p(-min(high, 1 - 1e-12)))
    if rate >= 1.0:
        return 1 - values_of_rate(0.0, 0.0, 1 - low, confidence)
    logit = scipy.special.logit
    z = scipy.special.ndtri(0.5 + confidence / 2)
    spread = np.abs([(logit(rate) - logit(low)) / z, (logit(rate) - logit(high)) / z])
    down, up = np.where(np.isfinite(spread), spread, spread.min())  # a limit of 0 or 1
    normal = scipy.special.ndtri(level)
    return scipy.special.expit(logit(rate) + normal * np.where(normal < 0, down, up))


#: Attributes of a result that say what its rates are of.
_OF_THE_DATA = (
    *("system", "kind", "exclude", "fingerprint"),
    *("templates", "use", "most_tries"),
)

EVENTS = ("false-alarm", "rejected")
DAYS = (1, 30, 365)

_VERIFICATION, _WATCH_LIST = ("far", "frr"), ("fpir", "fnir")


@dataclass(frozen=True)
class _RateInUse:
    """An error rate with its limits, NaN where it or they are unknown."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    size: int | None = None  # of the watch list that verification is done against

    @property
    def known(self) -> bool:
        """Whether the rate and its limits are."""
        return not math.isnan(self.value + self.low + self.high)

    def in_use(self, rate: np.ndarray) -> np.ndarray:
        """Return values of the rate at the size of the gallery in use."""
        if self.size is None:
            return rate
        with np.errstate(divide="ignore"):
            return -np.expm1(self.size * np.log1p(-rate))


@dataclass(frozen=True)
class _Rates:
    """The rates of false alarms and of rejections at an operating point."""

    names: tuple[str, str]
    alarms: _RateInUse
    rejections: _RateInUse
    #: The operating point of a result: its threshold or its FAR target, and the rule that chose it.
    where: Mapping[str, float | str] = field(default_factory=dict)
    confidence: float | None = None  # of the limits, where they say it


@leaves_out_attacks
def workload(
    rates: xr.Dataset | Mapping[str, float] | None = None,
    *,
    people_per_day: int,
    impostor_share: float,
    alarms_per_day: float | None = None,
    gallery_size: int | None = None,
    threshold: Any = None,
    far_target: float | None = None,
    days: int | Sequence[int] = DAYS,
    confidence: float | None = None,
) -> xr.Dataset:
    """Return the false alarms and the rejected people that a system in use will have.

    Parameters
    ----------
    rates : xarray.Dataset or mapping of str to float, optional
        A result of :func:`verification` (also ``with_failures``: its ISO rates are taken) or
        of :func:`open_set`; or rates by name: ``far`` and ``frr`` of verification, or ``fpir`` and
        ``fnir`` of a watch list, each also with ``_low`` and ``_high``, the ends of its interval.
        Needed without `alarms_per_day`.
    people_per_day : int
        People who come each day, each once.
    impostor_share : float
        Proportion of them who are impostors, or who are not on the watch list.
    alarms_per_day : float, optional
        False alarms a day that are acceptable. The operating point has the FAR at which this
        number is expected: of a result, its loosest threshold with a FAR of at most that; of rates
        by name, in place of ``far`` or ``fpir``.
    gallery_size : int, optional
        Turns rates of verification into those of a watch list of so many people, by ``FPIR = 1 -
        (1 - FAR)^gallery_size``, comparisons taken as independent, and ``FNIR = FRR``. FPIR that is
        given, or of :func:`open_set`, is that of its own gallery.
    threshold : float or str, optional
        The operating point of a result: one of its thresholds, ``"eer"``, or ``"far=x"``, which
        is `far_target`. Not needed where a result has one threshold.
    far_target : float, optional
        One of the FAR targets of a result. It is then taken as the FAR, which is at most that.
    days : int or sequence of int
        Length of the periods in which events are counted.
    confidence : float, optional
        Of the limits of counts, and of given intervals; that of the result's intervals, or 0.95.

    Returns
    -------
    xarray.Dataset
        Over ``event`` (``"false-alarm"``, ``"rejected"``): ``rate rate_low rate_high
        people_per_day per_day``, and ``subjects_rule_of_3 subjects_rule_of_30``, the people that a
        test of the rate needs, as of :func:`sample_size`; over ``event, days``: ``expected
        none_at_all``, ``count_low count_high`` (the middle of the counts, were the rate exact) and
        ``predicted_low predicted_high`` (the rate uncertain as well; NaN without its interval).

    Raises
    ------
    DataError
        If a number, a rate or an operating point is not usable; the message says which.
    ProtocolError
        If `gallery_size` is given with rates that are of a gallery already.

    Notes
    -----
    Counts are binomial over the people of the period, who are taken as independent of each other.
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
    >>> ds.count_low.values[1].tolist(), ds.count_high.values[1].tolist()
    ([28.0], [52.0])
    >>> ds.predicted_low.values[1].tolist(), ds.predicted_high.values[1].tolist()
    ([25.0], [57.0])

    The FAR at which three false alarms a day are expected of 200 impostors:

    >>> ds = be.workload(people_per_day=2000, impostor_share=0.1, alarms_per_day=3)
    >>> ds.attrs["far"]
    0.015

    A watch list of 500 people, few of them present:

    >>> ds = be.workload({"far": 1e-5, "frr": 0.1}, people_per_day=10_000,
    ...     impostor_share=0.9999, gallery_size=500, days=1)
    >>> print(f"{ds.per_day.values[0]:.1f} false alarms a day")
    49.9 false alarms a day
    """
    people = require_integer("people_per_day", people_per_day, low=1)
    share = require_number("impostor_share", impostor_share, low=0.0, high=1.0)
    if isinstance(days, int | np.integer):
        days = [days]
    periods = [require_integer("days", x, low=1) for x in require_list("days", days)]
    if not periods or len(set(periods)) < len(periods):
        raise DataError(
            Argument("days"), f" is {received(days)}; expected different numbers of days"
        )
    if confidence is not None:
        confidence = require_number("confidence", confidence, above=0.0, high=0.9999)
    far = None
    if alarms_per_day is not None:
        if threshold is not None or far_target is not None:
            raise DataError(
                Argument("alarms_per_day"),
                " chooses the operating point; expected it without ",
                Argument("threshold"),
                " and ",
                Argument("far_target"),
            )
        far = far_of_alarms(alarms_per_day, people, share, gallery_size)
    if isinstance(rates, xr.Dataset):
        if far is not None:
            threshold = _loosest(rates, far)
        point = _of_result(rates, threshold, far_target)
        if None not in (confidence, point.confidence) and confidence != point.confidence:
            raise DataError(
                Argument("confidence"),
                f" is {confidence:g}, and the intervals of the results have {point.confidence:g}; "
                "leave it out, or evaluate with another",
            )
    else:
        point = _stated_rates(rates, far)
        if threshold is not None or far_target is not None:
            raise DataError(
                Argument("threshold"),
                " and ",
                Argument("far_target"),
                " choose a point of a result; rates by name are of one point already",
            )
    if gallery_size is not None:
        if point.names != _VERIFICATION:
            raise ProtocolError(
                Argument("gallery_size"),
                " applies to rates of verification; FPIR already includes its gallery "
                "(be.gallery_size shows how it grows)",
            )
        size = require_integer("gallery_size", gallery_size, low=1)
        point = replace(point, names=_WATCH_LIST, alarms=replace(point.alarms, size=size))
    level = confidence or point.confidence or IntervalMethod.CONFIDENCE
    attrs = {
        "result_type": "workload",
        "task": "workload",
        "rates": " ".join(point.names),
        **point.where,
        "people": people,
        "impostor_share": share,
        "confidence": level,
        "bioeval_version": __version__,
    }
    if far is not None:
        attrs |= {"alarms_per_day": float(alarms_per_day or 0), "far": far}
    if gallery_size is not None:
        attrs |= {"gallery_size": int(gallery_size), "model": "independent comparisons"}
    if isinstance(rates, xr.Dataset):
        attrs |= {name: rates.attrs[name] for name in _OF_THE_DATA if name in rates.attrs}
    coordinates = {"event": np.array(EVENTS, dtype=object), "days": np.array(periods)}
    return build(_variables(point, people, share, periods, level), WORKLOAD, coordinates, attrs)


def _variables(
    point: _Rates, people: int, share: float, periods: list[int], confidence: float
) -> Variables:
    """Return the rates of both events in use, and the numbers of each in each period."""
    shares = share, 1 - share
    exposed = people * np.array(shares)
    counted = np.full((4, len(EVENTS), len(periods)), np.nan)
    in_use = []
    for i, event in enumerate((point.alarms, point.rejections)):
        rates = event.in_use(np.array([event.value, event.low, event.high]))
        in_use.append(rates)
        if math.isnan(event.value):
            continue
        uncertain = np.empty(0)
        if event.known:
            values = values_of_rate(event.value, event.low, event.high, confidence)
            uncertain = event.in_use(values)
            if rates[0] == 0:  # which is possible, though no value of the rate is 0
                uncertain[: len(uncertain) // 2] = 0
        for j, period in enumerate(periods):
            # Who of the people is an impostor is drawn as well.
            counted[:2, i, j] = count_limits(people * period, shares[i] * rates[:1], confidence)
            if event.known:
                counted[2:, i, j] = count_limits(people * period, shares[i] * uncertain, confidence)
    rate, low, high = np.stack(in_use, axis=1)
    pairs = point.names == _VERIFICATION or point.alarms.size is not None  # of people, of a FAR
    tested = {}
    for rule in (RuleOf(3), RuleOf(30)):
        alarms = _people_tested(rule.attempts_for, point.alarms.value, pairs)
        rejections = _people_tested(rule.attempts_for, point.rejections.value, False)
        tested[f"subjects_rule_of_{rule}"] = np.array([alarms, rejections])
    expected = (exposed * rate)[:, None] * periods
    trials = people * np.array(periods, dtype=float)
    with np.errstate(divide="ignore"):
        none = np.exp(trials * np.log1p(-(exposed / people * rate))[:, None])
    return {
        **along(
            ("event",),
            rate=rate,
            rate_low=low,
            rate_high=high,
            people_per_day=exposed,
            per_day=exposed * rate,
            **tested,
        ),
        **along(
            ("event", "days"),
            expected=expected,
            count_low=counted[0],
            count_high=counted[1],
            predicted_low=counted[2],
            predicted_high=counted[3],
            none_at_all=none,
        ),
    }


def _people_tested(needed: Callable[[float], int], rate: float, pairs: bool) -> float:
    """Return how many people a test of a rate with `needed` attempts takes; NaN of a rate of 0."""
    if not rate > 0:
        return math.nan
    attempts = needed(rate)
    if pairs:
        attempts = ComparedPeople.least_with(attempts)
    return float(attempts)


def far_of_alarms(alarms: Any, people: int, share: float, size: int | None) -> float:
    """Return the FAR (FPIR of a search without `size`) that makes this number of alarms a day."""
    alarms = require_number("alarms_per_day", alarms, above=0.0)
    most = people * share
    if alarms > most:
        raise DataError(
            Argument("alarms_per_day"),
            f" is {alarms:g}, and {most:g} people a day can cause a false alarm; expected at most "
            "as many",
        )
    if size is None:
        return float(alarms / most)
    size = require_integer("gallery_size", size, low=1)
    with np.errstate(divide="ignore"):
        return float(-np.expm1(np.log1p(-alarms / most) / size))


def _loosest(ds: xr.Dataset, far: float) -> Any:
    """Return the loosest threshold of a result with a FAR of at most this."""
    rates = ds.get("far_iso" if "fta" in ds.attrs else "far")
    if rates is None or rates.dims != ("threshold",):
        return None  # which _of_result refuses
    within = np.flatnonzero(rates.values <= far)
    if not len(within):
        raise DataError(f"no threshold of the results has a FAR of at most {far:.4g}")
    return float(ds["threshold"].values[within[np.argmax(rates.values[within])]])


def _stated_rates(rates: Mapping[str, float] | None, far: float | None) -> _Rates:
    """Return the rates given by name; NaN for FRR that is not given beside a FAR of alarms."""
    if rates is None and far is not None:
        rates = {}
    if not isinstance(rates, Mapping):
        raise DataError(
            f"rates is {type(rates).__name__}; expected a result of be.verification or be.open_set,"
            ' or rates by name, such as {"far": 0.001, "frr": 0.02}'
        )
    names = _VERIFICATION
    for name in rates:
        if str(name).startswith(_WATCH_LIST):
            names = _WATCH_LIST
    known = []
    for name in names:
        known += [name, f"{name}_low", f"{name}_high"]
    for name in rates:
        if name not in known:
            raise DataError(
                f"rates names {name!r}; expected {' and '.join(names)}, with _low and _high where "
                f"they have intervals.{nearest_name(name, known)}"
            )
    alarm, rejected = names
    if far is None:
        return _Rates(
            names, _stated_rate(rates, names, alarm), _stated_rate(rates, names, rejected)
        )
    if alarm in rates:
        raise DataError(
            Argument("alarms_per_day"),
            f" gives the {alarm.upper()}; expected rates without {alarm}",
        )
    rejections = _RateInUse()
    alarms = _stated_rate({**rates, alarm: far}, names, alarm)
    if rejected in rates:
        rejections = _stated_rate(rates, names, rejected)
    return _Rates(names, alarms, rejections)


def _stated_rate(rates: Mapping[str, float], names: tuple[str, str], name: str) -> _RateInUse:
    """Return one of the rates given by name, with its limits if it has both."""
    if name not in rates:
        raise DataError(f"rates has no {name!r}; expected {' and '.join(names)}")
    rate = require_number(name, rates[name], low=0.0, high=1.0)
    low, high = f"{name}_low", f"{name}_high"
    if (low in rates) != (high in rates):
        raise DataError(f"rates has one of {low} and {high}; expected both or none")
    if low not in rates:
        return _RateInUse(rate)
    return _RateInUse(
        rate,
        require_number(low, rates[low], low=0.0, high=rate),
        require_number(high, rates[high], low=rate, high=1.0),
    )


def _of_result(ds: xr.Dataset, threshold: Any, far_target: float | None) -> _Rates:
    """Return the rates of a result at one of its operating points."""
    open_set = "dir" in ds and "frr" in ds
    of_verification = "templates" in ds.attrs
    if not (of_verification or open_set) or "far" not in ds or ds["far"].dims != ("threshold",):
        raise DataError(
            "rates is not a result of be.verification or be.open_set; expected their far and frr "
            "over threshold"
        )
    names = _WATCH_LIST if open_set else _VERIFICATION
    known = ds.attrs.get("confidence")
    if known is not None:
        known = float(known)
    iso = "_iso" if "fta" in ds.attrs else ""
    if (threshold is None) == (far_target is None):
        if threshold is not None or ds.sizes["threshold"] != 1:
            number = "both are given" if threshold is not None else "none is given"
            raise DataError(
                f"{number} of ",
                Argument("threshold"),
                " and ",
                Argument("far_target"),
                "; expected one, the operating point in use",
            )
        threshold = float(ds["threshold"][0])
    if threshold is not None:
        rule = Rule.parse(threshold)
        if rule.name == "far":
            threshold, far_target = None, rule.values[0]
        else:
            threshold = ResultThresholds(ds).of_rule(rule)
    if threshold is not None:
        if np.ndim(require_numbers("threshold", threshold)):
            raise DataError(
                Argument("threshold"), f" is {received(threshold)}; expected one number"
            )
        at = np.flatnonzero(ds["threshold"].values == threshold)
        if not len(at):
            raise DataError(
                Argument("threshold"),
                f" is {received(threshold)}; expected one of the {ds.sizes['threshold']} "
                "thresholds of the results. Or evaluate at this threshold: "
                f"be.verification(scores, thresholds=[{threshold!r}], interval=...)",
            )
        place = int(at[0])
        alarms = _rate_of(ds, f"far{iso}", threshold=place)
        rejections = _rate_of(ds, f"frr{iso}", threshold=place)
        where, point = f"threshold {threshold:.6g}", {"threshold": float(threshold)}
    else:
        alarms, rejections = _at_target(ds, far_target, iso, open_set)
        assert far_target is not None
        where, point = f"FAR <= {far_target:g}", {"far_target": float(far_target)}
        chosen = _value(ds, "threshold_at_far", **_place_of_target(ds, far_target))
        if not math.isnan(chosen):
            point["threshold"] = chosen
    for rate_name, rate in (("FAR", alarms), ("FRR", rejections)):
        if math.isnan(rate.value):
            raise DataError(f"the {rate_name} at {where} is not defined: no attempt of its class")
    return _Rates(names, alarms, rejections, point, known)


def _at_target(
    ds: xr.Dataset, target: float | None, iso: str, open_set: bool
) -> tuple[_RateInUse, _RateInUse]:
    """Return the rates at a FAR target, taken as the FAR."""
    thresholds = ResultThresholds(ds)
    there = thresholds.far_targets.tolist()
    if not isinstance(target, float | int | np.number):
        raise DataError(
            Argument("far_target"), f" is {received(target)}; expected one number, such as 0.01"
        )
    if target not in there:
        raise DataError(
            Argument("far_target"),
            f" is {received(target)}; the results do not have this target; ",
            thresholds.other_targets(float(target)),
        )
    at = _place_of_target(ds, target)
    if open_set:
        detected = _rate_of(ds, "dir_at_far", **at)
        rejections = _RateInUse(1 - detected.value, 1 - detected.high, 1 - detected.low)
    else:
        rejections = _rate_of(ds, f"frr{iso}_at_far", **at)
    if iso:
        target *= 1 - float(ds.attrs["fta"])
    return _RateInUse(target), rejections


def _place_of_target(ds: xr.Dataset, target: float) -> dict[str, int]:
    """Return the place of a FAR target of a result, at rank 1."""
    return {"far_target": ResultThresholds(ds).far_targets.tolist().index(target), "rank": 0}


def _rate_of(ds: xr.Dataset, name: str, **at: int) -> _RateInUse:
    """Return a rate of a result, with its limits."""
    return _RateInUse(
        _value(ds, name, **at), _value(ds, f"{name}_low", **at), _value(ds, f"{name}_high", **at)
    )


def _value(ds: xr.Dataset, name: str, **at: int) -> float:
    """Return one value; NaN where the result does not have it."""
    if name not in ds:
        return math.nan
    return float(ds[name].isel(at, missing_dims="ignore"))


def rounded_down(rate: float) -> float:
    """Return a rate with four significant digits, never larger than it."""
    with localcontext(prec=4, rounding=ROUND_FLOOR):
        return float(+Decimal(f"{rate:.12g}"))  # without the rounding error of a quotient

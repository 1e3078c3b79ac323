"""The errors of a day: false alarms and rejected people at a door, a border or a watch list."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np
import scipy.special
import scipy.stats
import xarray as xr

from bioeval.base import (
    Argument,
    DataError,
    Name,
    ProtocolError,
    __version__,
    nearest_name,
    require_integer,
    require_list,
    require_number,
    require_numbers,
)
from bioeval.results import (
    RULE_OF_3,
    RULE_OF_30,
    Block,
    Found,
    Sentence,
    Table,
    Variables,
    along,
    build,
    excluded,
    other_targets,
    people_with_pairs,
    threshold_of,
)
from bioeval.scores import leaves_out_attacks
from bioeval.stats import IntervalOptions
from bioeval.tallies import Rule

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
    **{
        f"subjects_rule_of_{rule}": Name(
            f"people that a test of the rate needs, rule of {rule}: of a FAR all compared with "
            "each other, templates do not count",
            "subjects",
        )
        for rule in ("3", "30")
    },
}

# Values of an uncertain rate, at quantiles of equal weight.
NODES = 400


def count_limits(trials: int, rate: np.ndarray, confidence: float) -> tuple[int, int]:
    """Return the central interval of the number of events in independent trials.

    Parameters
    ----------
    trials : int
    rate : float array, shape (k,)
        The rate, or values of it that are equally likely.
    confidence : float
        The least proportion between the limits, both included.
    """
    tail = (1 - confidence) / 2
    return _quantile(trials, rate, tail), _quantile(trials, rate, 1 - tail)


def _quantile(trials: int, rate: np.ndarray, level: float) -> int:
    """Return the smallest count that is not exceeded with probability `level` or more."""
    low, high = -1, trials
    while high - low > 1:
        middle = (low + high) // 2
        reached = scipy.stats.binom.cdf(middle, trials, rate).mean() >= level - 1e-12
        low, high = (low, middle) if reached else (middle, high)
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
    down = (logit(rate) - logit(low)) / z
    up = (logit(rate) - logit(high)) / z
    spread = [abs(x) for x in (down, up)]
    spread = [x if np.isfinite(x) else min(spread) for x in spread]  # a limit of 0 or 1
    normal = scipy.special.ndtri(level)
    return scipy.special.expit(logit(rate) + normal * np.where(normal < 0, *spread))


EVENTS = ("false-alarm", "rejected")
DAYS = (1, 30, 365)

_VERIFICATION, _WATCH_LIST = ("far", "frr"), ("fpir", "fnir")
_ENDS = ("", "_low", "_high")
_SPREAD = (
    "count_low..count_high: people independent of each other, the rate exact (binomial); "
    "predicted_low..predicted_high: the rate uncertain as well, by its confidence interval. The "
    "same people day after day vary more than either"
)
_INDEPENDENT = (
    "FPIR = 1 - (1 - FAR)^N for a list of N people, comparisons with them taken as independent; "
    "FNIR = FRR"
)


@dataclass(frozen=True)
class _Rates:
    """The rates of false alarms and of rejections, each with its limits, NaN if unknown."""

    names: tuple[str, str]
    values: tuple[tuple[float, float, float], ...]
    where: str  # the operating point
    confidence: float | None  # of the limits, where they say it
    size: int | None = None  # of the watch list that verification is done against

    def in_use(self, event: int, rate: np.ndarray) -> np.ndarray:
        """Return a rate, or values of it, at the size of the gallery in use."""
        if self.size is None or event:
            return rate
        with np.errstate(divide="ignore"):
            return -np.expm1(self.size * np.log1p(-rate))


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
    threshold : float, str or tuple, optional
        The operating point of a result: one of its thresholds, ``"eer"``, or ``("far", x)``, which
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
        given = [days]
    else:
        given = require_list("days", days)
    periods = [require_integer("days", x, low=1) for x in given]
    if not periods or len(set(periods)) < len(periods):
        raise DataError(f"{Argument('days')} is {days!r}; expected different numbers of days")
    if confidence is not None:
        confidence = require_number("confidence", confidence, above=0.0, high=0.9999)
    far = None
    if alarms_per_day is not None:
        if threshold is not None or far_target is not None:
            raise DataError(
                f"{Argument('alarms_per_day')} chooses the operating point; expected it without "
                f"{Argument('threshold')} and {Argument('far_target')}"
            )
        far = far_of_alarms(alarms_per_day, people, share, gallery_size)
    if isinstance(rates, xr.Dataset):
        if far is not None:
            threshold = _loosest(rates, far)
        point = _of_result(rates, threshold, far_target)
        if None not in (confidence, point.confidence) and confidence != point.confidence:
            raise DataError(
                f"{Argument('confidence')} is {confidence:g}, and the intervals of the results "
                f"have {point.confidence:g}; leave it out, or evaluate with another"
            )
    else:
        point = _given(rates, far)
        if threshold is not None or far_target is not None:
            raise DataError(
                f"{Argument('threshold')} and {Argument('far_target')} choose a point of a result; "
                "rates by name are of one point already"
            )
    if gallery_size is not None:
        if point.names != _VERIFICATION:
            raise ProtocolError(
                f"{Argument('gallery_size')} applies to rates of verification; FPIR already "
                "includes its gallery (be.gallery_size shows how it grows)"
            )
        size = require_integer("gallery_size", gallery_size, low=1)
        point = replace(point, names=_WATCH_LIST, size=size)
    level = confidence or point.confidence or IntervalOptions.CONFIDENCE
    attrs: dict[str, Any] = {
        "task": "verification" if point.names == _VERIFICATION else "watch list",
        "rates": " ".join(point.names),
        "operating_point": point.where,
        "people": people,
        "impostor_share": share,
        "confidence": level,
        "spread": _SPREAD,
        "bioeval_version": __version__,
    }
    if far is not None:
        attrs |= {"alarms_per_day": float(alarms_per_day or 0), "far": far}
    if gallery_size is not None:
        attrs |= {"gallery_size": int(gallery_size), "model": _INDEPENDENT}
    if isinstance(rates, xr.Dataset) and excluded({"": rates.attrs}):
        attrs["exclude"] = rates.attrs["exclude"]
    coordinates = {"event": np.array(EVENTS, dtype=object), "days": np.array(periods)}
    return build(_variables(point, people, share, periods, level), WORKLOAD, coordinates, attrs)


def _variables(
    point: _Rates, people: int, share: float, periods: list[int], confidence: float
) -> Variables:
    known = np.array(point.values)
    rate, low, high = np.stack([point.in_use(i, known[i]) for i in range(len(EVENTS))]).T
    exposed = people * np.array([share, 1 - share])
    counted = np.full((4, len(EVENTS), len(periods)), np.nan)
    for i, part in enumerate((share, 1 - share)):
        values = np.array([np.nan])
        if not np.isnan(known[i]).any():
            one, least, most = known[i].tolist()
            values = point.in_use(i, values_of_rate(one, least, most, confidence))
            if rate[i] == 0:  # which is possible, though no value of the rate is 0
                values[: len(values) // 2] = 0
        for j, period in enumerate(periods if rate[i] == rate[i] else []):
            # Who of the people is an impostor is drawn as well.
            counted[:2, i, j] = count_limits(people * period, part * rate[i : i + 1], confidence)
            if not np.isnan(values).any():
                counted[2:, i, j] = count_limits(people * period, part * values, confidence)
    pairs = point.names == _VERIFICATION or point.size is not None  # of people, of a FAR
    tested = {}
    alarms, rejections = known[:, 0].tolist()
    for rule in (RULE_OF_3, RULE_OF_30):
        needed = [
            _people_tested(rule.attempts_for, alarms, pairs),
            _people_tested(rule.attempts_for, rejections, False),
        ]
        tested[f"subjects_rule_of_{rule}"] = np.array(needed)
    event, both = ("event",), ("event", "days")
    expected = (exposed * rate)[:, None] * periods
    trials = people * np.array(periods, dtype=float)
    with np.errstate(divide="ignore"):
        none = np.exp(trials * np.log1p(-(exposed / people * rate))[:, None])
    return {
        **along(
            event,
            rate=rate,
            rate_low=low,
            rate_high=high,
            people_per_day=exposed,
            per_day=exposed * rate,
            **tested,
        ),
        **along(
            both,
            expected=expected,
            count_low=counted[0],
            count_high=counted[1],
            predicted_low=counted[2],
            predicted_high=counted[3],
            none_at_all=none,
        ),
    }


def _people_tested(needed: Callable[[float], int], rate: float, pairs: bool) -> float:
    """Return how many people a test of a rate needs; NaN of a rate of 0 or unknown.

    `needed` gives its attempts.
    """
    if not rate > 0:
        return math.nan
    attempts = needed(rate)
    return float(people_with_pairs(attempts) if pairs else attempts)


def far_of_alarms(alarms: Any, people: int, share: float, size: int | None) -> float:
    """Return the FAR (FPIR of a search without `size`) that makes this number of alarms a day."""
    alarms = require_number("alarms_per_day", alarms, above=0.0)
    most = people * share
    if alarms > most:
        raise DataError(
            f"{Argument('alarms_per_day')} is {alarms:g}, and {most:g} people a day can cause a "
            "false alarm; expected at most as many"
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


def _given(rates: Mapping[str, float] | None, far: float | None = None) -> _Rates:
    """Return the rates given by name; NaN for FRR that is not given beside a FAR of alarms."""
    if rates is None and far is not None:
        rates = {}
    if not isinstance(rates, Mapping):
        raise DataError(
            f"rates is {type(rates).__name__}; expected a result of be.verification or be.open_set,"
            ' or rates by name, such as {"far": 0.001, "frr": 0.02}'
        )
    if any(str(x).startswith(_WATCH_LIST) for x in rates):
        names = _WATCH_LIST
    else:
        names = _VERIFICATION
    known = [f"{name}{end}" for name in names for end in _ENDS]
    for name in rates:
        if name not in known:
            raise DataError(
                f"rates names {name!r}; expected {' and '.join(names)}, with _low and _high where "
                f"they have intervals.{nearest_name(name, known)}"
            )
    values = []
    if far is not None:
        if names[0] in rates:
            raise DataError(
                f"{Argument('alarms_per_day')} gives the {names[0].upper()}; expected rates "
                f"without {names[0]}"
            )
        rates = {**rates, names[0]: far}
    for name in names:
        if far is not None and name not in rates:
            values.append((math.nan,) * 3)
            continue
        if name not in rates:
            raise DataError(f"rates has no {name!r}; expected {' and '.join(names)}")
        rate = require_number(name, rates[name], low=0.0, high=1.0)
        ends = [f"{name}{end}" for end in _ENDS[1:]]
        there = [end in rates for end in ends]
        if any(there) and not all(there):
            raise DataError(f"rates has one of {' and '.join(ends)}; expected both or none")
        low = high = math.nan
        if all(there):
            low = require_number(ends[0], rates[ends[0]], low=0.0, high=rate)
            high = require_number(ends[1], rates[ends[1]], low=rate, high=1.0)
        values.append((rate, low, high))
    return _Rates(names, tuple(values), "as given", None)


def _of_result(ds: xr.Dataset, threshold: Any, far_target: float | None) -> _Rates:
    """Return the rates of a result at one of its operating points."""
    open_set = "dir" in ds and "frr" in ds
    if (
        "far" not in ds
        or ds["far"].dims != ("threshold",)
        or not ("templates" in ds.attrs or open_set)
    ):
        raise DataError(
            "rates is not a result of be.verification or be.open_set; expected their far and frr "
            "over threshold"
        )
    if open_set:
        names = _WATCH_LIST
    else:
        names = _VERIFICATION
    known = ds.attrs.get("confidence")
    iso = ""
    if "fta" in ds.attrs:
        iso = "_iso"
    if (threshold is None) == (far_target is None):
        if threshold is not None or ds.sizes["threshold"] != 1:
            given = "none is given"
            if threshold is not None:
                given = "both are given"
            raise DataError(
                f"{given} of {Argument('threshold')} and {Argument('far_target')}; expected one, "
                "the operating point in use"
            )
        threshold = float(ds["threshold"][0])
    if threshold is None:
        rule = Rule("none")
    else:
        rule = Rule.parse(threshold)
    if rule.name == "far":
        threshold, far_target = None, rule.values[0]
    elif threshold is not None:
        threshold = threshold_of(ds, rule)
    if threshold is not None:
        if np.ndim(require_numbers("threshold", threshold)):
            raise DataError(f"{Argument('threshold')} is {threshold!r}; expected one number")
        at = np.flatnonzero(ds["threshold"].values == threshold)
        if not len(at):
            raise DataError(
                f"{Argument('threshold')} is {threshold!r}; expected one of the "
                f"{ds.sizes['threshold']} thresholds of the results. Or evaluate at this "
                f"threshold: be.verification(scores, thresholds=[{threshold!r}], interval=...)"
            )
        values = []
        for name in ("far", "frr"):
            bounds = [_value(ds, f"{name}{iso}{end}", threshold=int(at[0])) for end in _ENDS]
            values.append(tuple(bounds))
        where = f"threshold {threshold:.6g}"
    else:
        values = _at_target(ds, far_target, iso, open_set)
        where = f"FAR <= {far_target:g}"
    for what, (rate, *_) in zip(("far", "frr"), values, strict=True):
        if math.isnan(rate):
            raise DataError(
                f"the {what.upper()} at {where} is not defined: no attempt of its class"
            )
    return _Rates(names, tuple(values), where, None if known is None else float(known))  # type: ignore[arg-type]


def _at_target(
    ds: xr.Dataset, target: float | None, iso: str, open_set: bool
) -> list[tuple[float, ...]]:
    """Return the rates at a FAR target, taken as the FAR."""
    there = ds["far_target"].values.tolist() if "far_target" in ds.dims else []
    if not isinstance(target, float | int | np.number):
        raise DataError(
            f"{Argument('far_target')} is {target!r}; expected one number, such as 0.01"
        )
    if target not in there:
        raise DataError(
            f"{Argument('far_target')} is {target!r}; the results do not have this target; "
            + other_targets(float(target), there)
        )
    at = {"far_target": there.index(target), "rank": 0}
    assert target is not None
    if iso:
        far = target * (1 - float(ds.attrs["fta"]))
    else:
        far = target
    if open_set:
        missed = 1 - _value(ds, "dir_at_far", **at)
        low = 1 - _value(ds, "dir_at_far_high", **at)
        high = 1 - _value(ds, "dir_at_far_low", **at)
        rejected = missed, low, high
    else:
        rejected = tuple(_value(ds, f"frr{iso}_at_far{end}", **at) for end in _ENDS)  # type: ignore[assignment]
    return [(far, math.nan, math.nan), rejected]


def _value(ds: xr.Dataset, name: str, **at: int) -> float:
    """Return one value; NaN where the result does not have it."""
    if name not in ds:
        return math.nan
    return float(ds[name].isel({k: v for k, v in at.items() if k in ds[name].dims}))


def blocks(found: Found) -> Iterator[Block]:
    """Yield a part for each event, with a line for each period."""
    ds = found[""]
    attrs, on_list = ds.attrs, ds.attrs["task"] == "watch list"
    size = ""
    if "gallery_size" in attrs:
        size = f" of {attrs['gallery_size']:,}"
    titles = "Impostors accepted", "Genuine people rejected"
    if on_list:
        titles = (
            f"False alarms: people who are not on the watch list{size} but are found",
            f"Misses: people on the watch list{size} who are not found",
        )
    yield Sentence(
        f"{attrs['people']:,} people a day, {100 * attrs['impostor_share']:g} % of them "
        + ("not on the list" if on_list else "impostors")
    )
    if "alarms_per_day" in attrs:
        name_of_rate = "FAR"
        if on_list and not size:
            name_of_rate = "FPIR"
        far = f"{name_of_rate} of {100 * rounded_down(attrs['far']):.4g} %"
        yield Sentence(f"{attrs['alarms_per_day']:g} false alarms a day are expected at a {far}")
    yield Sentence(f"Operating point: {attrs['operating_point']}")
    if text := excluded({"": attrs}):
        yield Sentence(f"Excluded: {text}")
    for i, (title, name) in enumerate(zip(titles, attrs["rates"].split(), strict=False)):
        one = ds.isel(event=i)
        rate = float(one["rate"])
        low = float(one["rate_low"])
        high = float(one["rate_high"])
        if rate != rate:  # not given
            continue
        between = " (no interval)"
        if low == low:
            between = f" [{100 * low:.4g}, {100 * high:.4g}]"
        each = float(one["per_day"])
        every = ""
        if 0 < each < 1:
            every = f", one in {_rounded(1 / each)} days"
        people = _rounded(float(one["people_per_day"]))
        yield Sentence()
        yield Sentence(title)
        yield Sentence(f"  {name.upper()} {100 * rate:.4g} %{between}")
        yield Sentence(f"  {people} people a day; expected {_rounded(each)} a day{every}")
        tested = [float(one[f"subjects_rule_of_{rule}"]) for rule in (3, 30)]
        if tested[0] == tested[0]:
            yield Sentence(
                f"  a test of it needs {tested[0]:,.0f} people (rule of 3), {tested[1]:,.0f} to "
                "measure it (rule of 30)"
            )
        rows = []
        for j, days in enumerate(ds["days"].values.tolist()):
            at = {x: float(one[x][j]) for x in one.data_vars if one[x].dims == ("days",)}
            ends = [(at[f"{x}_low"], at[f"{x}_high"]) for x in ("count", "predicted")]
            ranges = ("unknown" if x != x else f"{x:,.0f} to {y:,.0f}" for x, y in ends)
            chance = at["none_at_all"]
            if chance < 1e-4:
                none = "< 0.01 %"
            else:
                none = f"{100 * chance:.2f} %"
            rows.append([f"  {days:>6,}", _rounded(at["expected"]), *ranges, none])
        heads = ["    days", "expected", "rate exact", "rate uncertain", "none at all"]
        yield Table(heads, rows, widths=[8, 12, 20, 20, 14])
    yield Sentence()
    yield Sentence(
        f"Each range contains {100 * attrs['confidence']:g} % of the periods: with the rate as "
        "measured (rate exact), or with the interval of the rate (rate uncertain). People are "
        "independent; if the same people come every day, the variation is larger."
    )
    if "model" in attrs:
        yield Sentence(f"{attrs['model']}.")


def rounded_down(rate: float) -> float:
    """Return a rate with four significant digits, never larger than it."""
    with localcontext(prec=4, rounding=ROUND_FLOOR):
        return float(+Decimal(f"{rate:.12g}"))  # without the rounding error of a quotient


def _rounded(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"

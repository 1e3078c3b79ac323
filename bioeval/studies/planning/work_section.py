"""What is said of the work of a day: false alarms and rejected people."""

from __future__ import annotations

import math
from collections.abc import Iterator

import xarray as xr

from bioeval.attempts.threshold_rules import Rule
from bioeval.document.blocks import (
    Column,
    Fact,
    Facts,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
    Vocabulary,
)
from bioeval.document.cells import Count, Interval, Number, Probability, Rate, threshold_to_install
from bioeval.document.results import attempts_in_words, result_messages, rule_in_words
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Term, Text, say
from bioeval.results.words import excluded
from bioeval.studies.planning.workload import rounded_down


def section(results: ResultsBySystem) -> Section:
    """Return a part for each event, with the numbers of each period."""
    ds = results[""]
    attrs = ds.attrs
    on_list = not _is_verification(ds)
    people = say(
        "{people:count people} a day, {share:rate} of them {role}",
        people=int(attrs["people"]),
        share=float(attrs["impostor_share"]),
        role="not on the list" if on_list else "impostors",
    )
    facts = Facts(
        (
            Fact("People", people),
            *_alarms(ds),
            Fact("Operating point", _operating_point(ds)),
            Fact("Attempts", _attempts(ds)),
            Fact("Excluded", excluded({"": attrs})),
            Fact("Terms", Vocabulary()),
        )
    )
    events = list(_events(ds))
    return Section(
        "workload",
        "",
        (
            facts,
            *(_event(ds, i, name) for i, name in events),
            *_reading(ds),
            _rates(ds, [i for i, _ in events]),
            result_messages(results),
        ),
        task=rates_are_of(attrs, searches=on_list),
    )


def _attempts(ds: xr.Dataset) -> Text:
    """Return what an attempt is, where it is more than a comparison with one template."""
    attrs = ds.attrs
    if attrs.get("templates") == "multi" or "use" in attrs:
        return attempts_in_words(attrs)
    return ""


def _rate_names(ds: xr.Dataset) -> list[Text]:
    """Return the names of the rates of both events; a search has those of the standard alone."""
    return [Term("far"), Term("frr")] if _is_verification(ds) else ["FPIR", "FNIR"]


def _is_verification(ds: xr.Dataset) -> bool:
    return str(ds.attrs["rates"]) == "far frr"


def _events(ds: xr.Dataset) -> Iterator[tuple[int, str]]:
    """Yield the place and the name of each event whose rate is known."""
    for i, name in enumerate(ds["event"].values.tolist()):
        if not math.isnan(float(ds["rate"][i])):
            yield i, str(name)


def _alarms(ds: xr.Dataset) -> Iterator[Fact]:
    """Yield the rate at which a number of alarms is expected, if it was given."""
    if "alarms_per_day" not in ds.attrs:
        return
    rate = Term("far", "verification") if _is_verification(ds) else "FPIR"
    # Never above the rate that the alarms allow.
    value = Number(100 * rounded_down(float(ds.attrs["far"])), digits=4)
    alarms = float(ds.attrs["alarms_per_day"])
    statement = say(
        "{alarms} a day {are} expected at a {rate} of {value} %",
        alarms="1 false alarm"
        if alarms == 1
        else say("{n} false alarms", n=Number(alarms, digits=4)),
        are="is" if alarms == 1 else "are",
        rate=rate,
        value=value,
    )
    yield Fact("False alarms", statement)


def _operating_point(ds: xr.Dataset) -> Text:
    attrs = ds.attrs
    task = rates_are_of(attrs, searches=not _is_verification(ds))
    if "far_target" in attrs:
        return say("{far} at most {target:rate}", task=task, target=float(attrs["far_target"]))
    if "threshold" not in attrs:
        return "" if "alarms_per_day" in attrs else "rates as given"
    at = threshold_to_install(float(attrs["threshold"]), str(attrs.get("kind", "distance")))
    if "threshold_rule" not in attrs:
        return say("the threshold {at}", at=at)
    return say(
        "the threshold {at}: {rule}, chosen on the same data; its rates are optimistic",
        at=at,
        rule=rule_in_words(Rule.written(str(attrs["threshold_rule"]))),
        task=task,
    )


def _title(ds: xr.Dataset, name: str) -> Text:
    if _is_verification(ds):
        return "Impostors accepted" if name == "false-alarm" else "Genuine people rejected"
    if name == "false-alarm":
        return "False alarms: people who are not on the watch list but are found"
    return "Misses: people on the watch list who are not found"


def _event(ds: xr.Dataset, i: int, name: str) -> Section:
    """Return what is said of an event, below its title."""
    periods = _periods(ds.isel(event=i), name)
    return Section(name.replace("-", "_"), _title(ds, name), (*_numbers(ds, i, name), periods))


def _numbers(ds: xr.Dataset, i: int, name: str) -> Iterator[Paragraph]:
    """Yield the rate of an event, and the numbers of people and of errors."""
    one = ds.isel(event=i)
    limits = _limits(one, "rate")
    yield Paragraph(
        say(
            "{name} {rate}{no_interval}",
            name=_rate_names(ds)[i],
            rate=Rate(float(one["rate"]), limits, "rate", {"event": name}),
            no_interval="" if limits else " (no interval)",
        )
    )
    each = float(one["per_day"])
    every: Text = ""
    if 0 < each < 1:
        every = say(", one in {days} days", days=Number(1 / each, digits=3))
    yield Paragraph(
        say(
            "{people} people a day; {each} errors a day are expected{every}",
            people=Number(float(one["people_per_day"]), digits=3),
            each=Number(each, digits=3),
            every=every,
        )
    )


def _limits(ds: xr.Dataset, name: str) -> Interval | None:
    low, high = float(ds[f"{name}_low"]), float(ds[f"{name}_high"])
    return None if math.isnan(low) else (low, high)


def _periods(one: xr.Dataset, event: str) -> Table:
    """Return the numbers of errors of an event in each period."""
    rows = []
    for j, days in enumerate(one["days"].values.tolist()):
        period, at = one.isel(days=j), {"event": event, "days": days}
        limits = []
        for name in ("count_low", "count_high", "predicted_low", "predicted_high"):
            value = float(period[name])
            limits.append(None if math.isnan(value) else Count(value, variable=name, at=at))
        rows.append(
            (
                Count(days),
                Number(float(period["expected"]), variable="expected", at=at, digits=3),
                *limits,
                Probability(float(period["none_at_all"]), variable="none_at_all", at=at),
            )
        )
    return Table(
        f"periods_{event.replace('-', '_')}",
        (
            Column("days", "days"),
            Column("expected", "expected"),
            Column("count_low", "known rate: from"),
            Column("count_high", "to"),
            Column("predicted_low", "estimated rate: from", priority=1),
            Column("predicted_high", "to", priority=1),
            Column("none_at_all", "probability of none", priority=2),
        ),
        rows,
    )


def _reading(ds: xr.Dataset) -> Iterator[Paragraph]:
    """Yield how the ranges are read, and what is assumed."""
    yield Paragraph(
        say(
            "Each range (from, to) is expected to contain the number of errors in "
            "{confidence:rate} of the periods. Known rate: the rate is taken to be exactly the "
            "measured one. Estimated rate: the uncertainty of the measured rate is included. The "
            "ranges assume that people are independent; if the same people come every day, the "
            "variation is larger.",
            confidence=float(ds.attrs["confidence"]),
        ),
        "note",
    )


def _rates(ds: xr.Dataset, places: list[int]) -> Table:
    """Return the rate, the people and the errors of a day of each event, for data."""
    rows: list[tuple[Text | None, ...]] = []
    for i in places:
        one, at = ds.isel(event=i), {"event": str(ds["event"].values[i])}
        rate = Rate(float(one["rate"]), _limits(one, "rate"), "rate", at)
        numbers = []
        for name in ("people_per_day", "per_day"):
            numbers.append(Number(float(one[name]), variable=name, at=at, digits=3))
        rows.append((at["event"], rate, *numbers))
    return Table(
        "events",
        (
            Column("event"),
            Column("rate"),
            Column("people_per_day"),
            Column("per_day"),
        ),
        rows,
        shown=0,
    )

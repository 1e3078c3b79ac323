"""What is said of the work of a day: false alarms and rejected people."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from bioeval.base.kinds import Kept
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
from bioeval.document.cells import Number, threshold_to_install
from bioeval.document.results import (
    attempts_in_words,
    cell_of,
    result_messages,
    rule_in_words,
    table_of,
    threshold_rule,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Term, Text, say
from bioeval.results.words import excluded
from bioeval.studies.planning.workload import rounded_down


def section(results: ResultsBySystem) -> Section:
    """Return the errors of a day and of each period."""
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
    note = say(
        "Each range (from, to) is expected to contain the number of errors in {confidence:rate} of "
        "the periods. Known rate: the rate is taken to be exactly the measured one. Estimated "
        "rate: the uncertainty of the measured rate is included. The ranges assume that people "
        "are independent; if the same people come every day, the variation is larger.",
        confidence=float(attrs["confidence"]),
    )
    return Section(
        "workload",
        "",
        (facts, *_errors(ds), Paragraph(note, "note"), result_messages(results)),
        task=rates_are_of(attrs, searches=on_list),
    )


def _attempts(ds: xr.Dataset) -> Text:
    """Return what an attempt is, where it is more than a comparison with one template."""
    attrs = ds.attrs
    if attrs.get("templates") == "multi" or "use" in attrs:
        return attempts_in_words(attrs)
    return ""


def _is_verification(ds: xr.Dataset) -> bool:
    return str(ds.attrs["rates"]) == "far frr"


#: The errors, in verification and of a search of a list.
_TITLES = {
    "false-alarm": (
        "Impostors accepted: {far}",
        "False alarms, people who are not on the list but are found: FPIR",
    ),
    "rejected": (
        "Genuine people rejected: {frr}",
        "Misses, people on the list who are not found: FNIR",
    ),
}
_OF_DAY = ("people_per_day", "per_day")
_PERIODS = (
    Column("days", "days"),
    Column("expected", "expected"),
    Column("count_low", "known rate: from"),
    Column("count_high", "to"),
    Column("predicted_low", "estimated rate: from", priority=1),
    Column("predicted_high", "to", priority=1),
    Column("none_at_all", "probability of none", priority=2),
)


def _errors(ds: xr.Dataset) -> Iterator[Table]:
    """Yield the errors of each period, and of a day, where their rate is known."""
    known = ds.isel(event=~np.isnan(ds["rate"].values))
    for i, name in enumerate(known["event"].values.tolist()):
        of_day = {x: cell_of(known, x, {"event": i}) for x in ("rate", *_OF_DAY)}
        words = _TITLES[name][not _is_verification(ds)]
        text = f"{words} {{rate}}; {{people_per_day}} people and {{per_day}} errors a day"
        id = f"periods_{name.replace('-', '_')}"
        yield table_of(known.isel(event=i), id, _PERIODS, "days", title=say(text, **of_day))
    yield table_of(known, "events", ("event", "rate", *_OF_DAY), "event", shown=0)


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
    rule = threshold_rule(attrs) if "threshold_rule" in attrs else None
    keeps: Kept = "exact" if rule is None else rule.keeps
    at = threshold_to_install(float(attrs["threshold"]), str(attrs.get("kind", "distance")), keeps)
    if rule is None:
        return say("the threshold {at}", at=at)
    return say(
        "the threshold {at}: {rule}, chosen on the same data; its rates are optimistic",
        at=at,
        rule=rule_in_words(rule),
        task=task,
    )

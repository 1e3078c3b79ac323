"""What is said of two systems: how alike each treats groups, and whether one is fairer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from bioeval.document import (
    Block,
    Column,
    Count,
    Enumeration,
    Fact,
    Facts,
    Label,
    Number,
    Paragraph,
    Quantity,
    Rate,
    ResultsBySystem,
    Section,
    Strong,
    Table,
    Text,
    Vocabulary,
    rates_are_of,
    result_messages,
    rule_in_words,
    say,
    table_of_variables,
    threshold_to_install,
)
from bioeval.tallies import Rule

_LABELS = {
    "frr_gap": "{frr}, largest - smallest",
    "far_gap": "{far} within groups, largest - smallest",
    "fdr": "FDR (1: all groups equal; weight of {far} {alpha})",
    "garbe": "GARBE (0: all groups equal; weight of {far} {alpha})",
}
_SHORT = {
    "frr_gap": "the gap of {frr}",
    "far_gap": "the gap of {far}",
    "fdr": "FDR",
    "garbe": "GARBE",
}


def section(results: ResultsBySystem) -> Section:
    """Return what is said of the groups of two systems."""
    (ds,) = results.values()
    return Section(
        "group_gaps",
        "Groups in two systems",
        (
            _facts(ds),
            *_answer(ds),
            _measures(ds),
            _rates(ds),
            *_notes(ds),
            table_of_variables(ds, "group", id="groups"),
            result_messages(results),
        ),
        task=rates_are_of(ds.attrs),
    )


def _systems(ds: xr.Dataset) -> tuple[Label, Label]:
    return Label(str(ds.attrs["system_a"])), Label(str(ds.attrs["system_b"]))


def _facts(ds: xr.Dataset) -> Facts:
    """Return the systems, the people and the thresholds."""
    thresholds = []
    for side, rule in (("a", "threshold_rule"), ("b", "threshold_rule_b")):
        at = threshold_to_install(float(ds[f"threshold_{side}"]), str(ds.attrs[f"kind_{side}"]))
        chosen = Rule.written(str(ds.attrs[rule]))
        text: Text = at
        if chosen.name != "fixed":
            text = say("{threshold}, {rule}", threshold=at, rule=rule_in_words(chosen))
        name = str(ds.attrs[f"system_{side}"])
        thresholds.append(say("{system:name}: {threshold}", system=name, threshold=text))
    people = Count(int(ds["subjects"].sum()), noun="subjects")
    return Facts(
        (
            Fact("Systems", Enumeration(list(_systems(ds)), "")),
            Fact("People", people),
            Fact("Groups", Label(str(ds.attrs["by"])), "by"),
            Fact("Thresholds", Enumeration(thresholds, ";")),
            Fact("Terms", Vocabulary()),
        ),
        indented=True,
    )


def _answer(ds: xr.Dataset) -> Iterator[Paragraph]:
    """Yield which system is shown to treat groups more alike, and in what."""
    if np.isnan(ds["difference_low"].values).all():
        return
    fairer = ds["fairer"].values
    statements = []
    for name, sign in zip(_systems(ds), (1, -1), strict=True):
        places = np.flatnonzero(fairer == sign)
        if len(places):
            measures = [say(_SHORT[str(ds["measure"].values[i])]) for i in places.tolist()]
            statements.append(
                say("{system} by {measures}", system=name, measures=Enumeration(measures, ""))
            )
    level = float(ds.attrs["confidence"])
    if not statements:
        first, other = _systems(ds)
        text = say(
            "It is not shown that {first} or {other} treats the groups more alike (at "
            "{level:rate} confidence, for each measure by itself).",
            first=first,
            other=other,
            level=level,
        )
    else:
        text = say(
            "The groups are shown to be treated more alike in {statements} (at {level:rate} "
            "confidence, for each measure by itself).",
            statements=Enumeration(statements, ";"),
            level=level,
        )
    yield Paragraph(text, "answer")


def _cell(ds: xr.Dataset, variable: str, place: int) -> Quantity:
    """Return a value, or the difference with its limits, of a measure."""
    name = str(ds["measure"].values[place])
    value, at = float(ds[variable][place]), {"measure": name}
    is_difference, interval = variable == "difference", None
    if is_difference and not np.isnan(ds["difference_low"].values[place]):
        interval = float(ds["difference_low"][place]), float(ds["difference_high"][place])
    if name.endswith("_gap"):  # a difference of two rates, in percentage points
        return Rate(value, interval, variable, at, difference=True)
    return Number(value, interval, variable, at, decimals=4, difference=is_difference)


def _measures(ds: xr.Dataset) -> Table:
    """Return the measures of both systems and their differences."""
    alpha = Number(float(ds.attrs["alpha"]), digits=6)
    first, other = _systems(ds)
    level = float(ds.attrs["confidence"])
    rows: list[list[Text | None]] = []
    for i, name in enumerate(map(str, ds["measure"].values.tolist())):
        label = say(_LABELS[name], alpha=alpha)
        fairer = int(ds["fairer"].values[i])
        difference = _cell(ds, "difference", i)
        rows.append(
            [
                name,
                label,
                _cell(ds, "value_a", i),
                _cell(ds, "value_b", i),
                Strong(difference) if fairer else difference,
                Count(fairer, variable="fairer", at={"measure": name}),
            ]
        )
    return Table(
        "measures",
        (
            Column("measure", only="data"),
            Column("label", "measure", only="readers"),
            Column("value_a", first),
            Column("value_b", other),
            Column("difference", say("difference [{level:rate} interval]", level=level)),
            Column("fairer", only="data"),
        ),
        rows,
        title="Measures of inequality",
        notes=[
            say(
                "Difference: {first} - {other}; of rates in percentage points (pp).",
                first=first,
                other=other,
            )
        ],
    )


def _rates(ds: xr.Dataset) -> Table:
    """Return the rates of each group in both systems."""
    first, other = _systems(ds)
    rows: list[tuple[Text | None, ...]] = []
    for i, group in enumerate(ds["group"].values.tolist()):
        at = {"group": group}
        few = bool(ds["few_subjects"].values[i])
        people = Count(int(ds["subjects"][i]), variable="subjects", at=at, flagged=few)
        cells = [
            Rate(float(ds[name][i]), variable=name, at=at)
            for name in ("frr_a", "frr_b", "far_a", "far_b")
        ]
        rows.append((Label(group), people, *cells))
    return Table(
        "rates",
        (
            Column("group"),
            Column("subjects", "subjects"),
            Column("frr_a", say("{frr}, {system}", system=first)),
            Column("frr_b", say("{frr}, {system}", system=other)),
            Column("far_a", say("{far} within, {system}", system=first)),
            Column("far_b", say("{far} within, {system}", system=other)),
        ),
        rows,
    )


def _notes(ds: xr.Dataset) -> Iterator[Block]:
    """Yield for whom the limits are."""
    yield Paragraph(
        "Limits are for new people of these groups: each person is left out of its group in both "
        "systems at once. The thresholds stay. GARBE has limits of each system by itself, which "
        "are wider.",
        "note",
    )
    if any(Rule.written(str(ds.attrs[x])).name != "fixed" for x in _RULES):
        yield Paragraph(
            "A threshold was chosen on these data, so the rates are optimistic.", "note"
        )
    if ds["few_subjects"].values.any():
        yield Paragraph("*: too few subjects, not compared.", "note")


_RULES = ("threshold_rule", "threshold_rule_b")

"""What is said of groups: their rates, those of pairs of groups, and measures that compare them.

A rate that is flagged has an asterisk; groups are in the order of their names, never in that of
their rates.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

from bioeval.document.blocks import Block, Column, Fact, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Count, Label, Number, Probability, Rate
from bioeval.document.results import (
    answers,
    cell_of,
    data_facts,
    interval_note,
    result_messages,
    rule_of,
    table_of_variables,
    threshold_of,
)
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Enumeration, Strong, Text, say
from bioeval.results.support import RuleOf
from bioeval.studies.groups.group_rates import FEW_SUBJECTS, has_enough_subjects
from bioeval.studies.groups.measures import INEQUITY

#: Most groups whose pairs are shown, and of whose pairs the differences are.
_PAIRED, _PAIRS_SHOWN = 12, 6

_PAIRED_OVER_PEOPLE = (
    "Paired over people; p is adjusted for the number of pairs (Holm). Without limits, too few "
    "people have another rate: fewer than six at 95 %."
)

_LABELS = {
    "fdr": "FDR (1: all groups equal; weight of {far} {alpha})",
    "garbe": "GARBE (0: all groups equal; weight of {far} {alpha})",
    "far_max_over_min": "{far} within groups, largest / smallest",
    "far_max_over_geomean": "{far} within groups, largest / geometric mean",
    "frr_max_over_min": "{frr}, largest / smallest",
    "frr_max_over_geomean": "{frr}, largest / geometric mean",
}


def groups_section(results: ResultsBySystem) -> Section:
    """Return what is said of groups."""
    ds = results[""]
    pairs, of = [], [Fact("Groups", "of attempts, by the value of the probe")]
    if not _of_attempts(ds):
        pairs, of = [table_of_variables(ds, "group", "claimed_group", id="pairs")], []
    if "frr_difference" in ds:
        pairs.append(table_of_variables(ds, "group", "other_group", id="differences_of_groups"))
    left_out: Text = ""
    if ds.attrs.get("interval_method") == "people":
        left_out = say("; limits of {frr} and {far} by leaving out each person (jackknife)")
    return Section(
        "groups",
        "Verification by group",
        (
            data_facts(results, *of, Fact("Threshold", _threshold(ds), "threshold")),
            *answers(results),
            _rates(ds),
            *_pairs_of_groups(ds),
            *_measures(ds),
            *_whether_groups_differ(ds),
            *_differences(ds),
            *_notes(ds),
            *interval_note(results, more=left_out),
            table_of_variables(ds, "group", id="groups"),
            *pairs,
            result_messages(results),
        ),
        task=rates_are_of(ds.attrs),
    )


def _of_attempts(ds: xr.Dataset) -> bool:
    """Whether the probe alone decides the group of an attempt."""
    return "claimed_group" not in ds.dims


def _names(ds: xr.Dataset) -> list[Label]:
    """Return the names of the groups, without all groups together."""
    return [Label(name) for name in ds["group"].values.tolist()[:-1]]


def _threshold(ds: xr.Dataset) -> Text:
    """Return the threshold of all groups, and the rule that chose it."""
    at = threshold_of(ds)
    if ds.attrs["chosen_on"] == "given":
        return at
    return say("{threshold}, {rule} of all groups", threshold=at, rule=rule_of(ds.attrs))


def _rate(ds: xr.Dataset, name: str, i: int, j: int) -> Rate:
    """Return a rate of a group, or FAR of a group against another one."""
    rate = cell_of(ds, name, {"group": i, "claimed_group": j})
    assert isinstance(rate, Rate)
    return rate


def _rates(ds: xr.Dataset) -> Table:
    """Return the rates of each group, and of all together."""
    rows: list[tuple[Text | None, ...]] = []
    for i, name in enumerate(_names(ds)):
        at = {"group": i, "claimed_group": i}
        subjects = Count(int(ds["subjects"][i]), flagged=bool(ds["few_subjects"][i]))
        others = ("genuine_attempts", "impostor_attempts", "frr", "far")
        rows.append((name, subjects, *(cell_of(ds, x, at) for x in others)))
    last = {"group": -1, "claimed_group": -1}
    people, genuine, impostor, frr, far = (
        cell_of(ds, x, last)
        for x in ("subjects", "genuine_attempts", "impostor_attempts", "frr", "far")
    )
    if not _of_attempts(ds):
        impostor = far = None
    rows.append(("all", people, genuine, impostor, frr, far))
    columns = (
        Column("group"),
        Column("subjects", "subjects"),
        Column("genuine_attempts", "genuine"),
        Column("impostor_attempts", "impostor" if _of_attempts(ds) else "impostor within", 1),
        Column("frr", say("{frr}")),
        Column("far", _headings(ds)["far"]),
    )
    return Table("rates", columns, rows)


def _pairs_of_groups(ds: xr.Dataset) -> Iterator[Block]:
    """Yield FAR by the group of the probe and that of the claimed subject."""
    names = _names(ds)
    if _of_attempts(ds):
        return
    if len(names) > _PAIRED:
        yield Paragraph(
            say(
                "{far} of {pairs:count} pairs of groups: the variable far, or the file pairs.csv "
                "of a command with --out",
                pairs=len(names) ** 2,
            ),
            "note",
        )
    elif len(names) > 1:
        rows: list[tuple[Text | None, ...]] = []
        for i, name in enumerate(names):
            pairs = (_rate(ds, "far", i, j) for j in range(len(names)))
            rows.append((name, *(replace(rate, interval=None) for rate in pairs)))
        yield Table(
            "far_of_pairs",
            (Column("group"), *(Column(f"far_{name.text}", name) for name in names)),
            rows,
            title=say("{far} by group of the probe (row) and of the claimed subject (column)"),
        )


def _measures(ds: xr.Dataset) -> Iterator[Table]:
    """Yield the measures that compare groups of people."""
    if _of_attempts(ds):
        return
    alpha = Number(float(ds.attrs["alpha"]), digits=6)
    rows, notes = [], list[Text]()
    for name in INEQUITY:
        cell = cell_of(ds, name)
        assert isinstance(cell, Number)
        rows.append((name, say(_LABELS[name], alpha=alpha), replace(cell, decimals=4)))
    intervals = [cell.interval for *_, cell in rows if cell.interval]
    if intervals:
        notes.append("In brackets: their values within limits that all rates keep together.")
    if any(np.isinf(high) for _, high in intervals):
        notes.append("inf: there is no upper limit, since the smallest rate may be 0.")
    yield Table(
        "measures",
        (Column("measure", only="data"), Column("label", only="readers"), Column("value")),
        rows,
        title="Measures of inequality",
        notes=notes,
    )


def _headings(ds: xr.Dataset) -> dict[str, Text]:
    """Return the rates whose differences are compared, with their headings."""
    return {"frr": say("{frr}"), "far": say("{far}" if _of_attempts(ds) else "{far} within")}


def _whether_groups_differ(ds: xr.Dataset) -> Iterator[Block]:
    """Yield the limits of the rates of all groups together with their letters, and the tests."""
    if "frr_groups_p" not in ds:
        return
    lettered = "frr_difference" in ds and len(_compared(ds)) > 1
    rows: list[tuple[Text | None, ...]] = []
    for i, name in enumerate(_names(ds)):
        cells: list[Text | None] = []
        for rate in _headings(ds):
            low, high = (float(ds[f"{rate}_simultaneous_{end}"][i]) for end in ("low", "high"))
            limits = replace(_rate(ds, rate, i, i), interval=(low, high), flagged=False)
            cells.append(None if np.isnan(low) else limits)
            cells.append(Label(ds[f"{rate}_letters"].values[i]) if lettered else None)
        if any(cells):
            rows.append((name, *cells))
    columns = [Column("group")]
    for rate, heading in _headings(ds).items():
        columns += [Column(rate, heading), Column(f"{rate}_letters")]
    note = "Groups that share a letter in a column cannot be told apart; a: the smallest rate."
    yield Table(
        "simultaneous",
        columns,
        rows,
        title="Rates with limits that hold for all groups together",
        notes=[note] if lettered else [],
    )
    tests = []
    for rate, heading in _headings(ds).items():
        p = cell_of(ds, f"{rate}_groups_p")
        if isinstance(p, Probability) and p.is_defined:
            tests.append(say("{rate} p {p}", rate=heading, p=p))
    if tests:
        words = "Test that people of all groups have the same distribution (permutation): {tests}"
        yield Paragraph(say(words, tests=Enumeration(tests, "")), "note")


def _differences(ds: xr.Dataset) -> Iterator[Table]:
    """Yield the differences of each two of a few groups."""
    names, compared = _names(ds), _compared(ds)
    if "frr_difference" not in ds or not 1 < len(compared) <= _PAIRS_SHOWN:
        return
    rows: list[tuple[Text | None, ...]] = []
    columns, notes = [Column("pair", "difference", only="readers")], ["In percentage points (pp)."]
    for rate, heading in _headings(ds).items():
        columns.append(Column(rate, heading))
        if f"{rate}_p_value" in ds:
            columns.append(Column(f"{rate}_p_value", "p"))
            notes[1:] = [_PAIRED_OVER_PEOPLE]
    for i, j in itertools.combinations(compared, 2):
        row: list[Text | None] = [say("{first} - {other}", first=names[i], other=names[j])]
        for rate in _headings(ds):
            row.append(_difference(ds, rate, i, j))
            if f"{rate}_p_value" in ds:
                p = cell_of(ds, f"{rate}_p_value", {"group": i, "other_group": j})
                row.append(p if isinstance(p, Probability) and p.is_defined else None)
        rows.append(tuple(row))
    yield Table(
        "differences",
        columns,
        rows,
        title="Differences of two groups, with limits that hold for all pairs of a column together",
        notes=notes,
    )


def _compared(ds: xr.Dataset) -> list[int]:
    """Return the groups of enough people."""
    return np.flatnonzero(has_enough_subjects(ds)).tolist()


def _difference(ds: xr.Dataset, rate: str, i: int, j: int) -> Text | None:
    """Return the difference of a rate of two groups; it stands out where they are told apart."""
    value, low, high = (
        float(ds[f"{rate}_difference{end}"].values[i, j]) for end in ("", "_low", "_high")
    )
    if np.isnan(low):
        return (
            Rate(value, None, f"{rate}_difference", difference=True) if _of_attempts(ds) else None
        )
    cell = Rate(value, (low, high), f"{rate}_difference", difference=True)
    return Strong(cell) if ds[f"{rate}_separated"].values[i, j] else cell


def _notes(ds: xr.Dataset) -> Iterator[Paragraph]:
    """Yield what holds for all rates: where the threshold was chosen, and what a flag means."""
    if ds.attrs["chosen_on"] != "given":
        yield Paragraph(
            "The threshold was chosen on these data, so the rates are optimistic.", "note"
        )
    if any(ds[name].values.any() for name in ds.data_vars if str(name).endswith("_flagged")):
        yield Paragraph(
            f"*: fewer than {FEW_SUBJECTS} subjects or {RuleOf(30)} expected errors, too few to "
            "rank groups.",
            "note",
        )

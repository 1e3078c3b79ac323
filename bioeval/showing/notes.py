"""Notes below tables: what the numbers are, and which of them the data do not support.

:func:`support_notes` are on FAR and FRR targets of a task for which people or attempts are too few.
:func:`notes_of` are on the numbers of all tables: thresholds chosen on the data, intervals,
statistics over folds, and differences of systems.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import xarray as xr

from bioeval.base.errors import Message, messages_of
from bioeval.results.variables import method_in_words
from bioeval.showing.rows import Row, label_of
from bioeval.showing.tables import LETTERS
from bioeval.showing.text import Enumeration, Quantity, Section, Table, Text, say

#: Messages that stand below the table of their task: targets that the data do not support.
NOT_SUPPORTED = "target-not-supported"
_UNCERTAIN = "target-uncertain"
SUPPORT = (NOT_SUPPORTED, _UNCERTAIN)


def _support_messages(dataset: xr.Dataset) -> Iterator[Message]:
    """Yield the messages on targets that the data do not support, if the rate is shown at them."""
    for message in messages_of(dataset.attrs):
        about = message.arguments
        if message.code in SUPPORT and f"{about['rate']}_at_{about['chosen']}" in dataset:
            yield message


def support_notes(dataset: xr.Dataset) -> list[Text]:
    """Return the notes on unsupported targets; those of a part of the data behind its name."""
    task = str(dataset.attrs.get("task", ""))
    messages_of_parts: dict[tuple[str, ...], list[Message]] = {}
    for message in _support_messages(dataset):
        parts = tuple(x for x in message.about if not task.startswith(x))
        without_parts = Message(message.code, **message.arguments)
        messages_of_parts.setdefault(parts, []).append(without_parts)
    notes: list[Text] = list(messages_of_parts.pop((), ()))
    for parts, messages in messages_of_parts.items():
        notes.append(say("{parts:names}: {messages:messages}", parts=parts, messages=messages))
    if messages_of_parts and "fold" in dataset.dims:
        larger = "larger test parts" if "experiment" in dataset.attrs else "fewer, larger folds"
        notes.append(f"use {larger} or test more people")
    return notes


def short_support_notes(dataset: xr.Dataset, rows: Sequence[Row]) -> list[Text]:
    """Return a line for each rate of which no row is at a target that the data surely support."""
    messages_by_rate: dict[tuple[Any, ...], list[Message]] = {}
    for message in _support_messages(dataset):
        about = message.arguments
        key = (about["rate"], about["chosen"], about["unit"], message.about)
        messages_by_rate.setdefault(key, []).append(message)

    rows_of_dataset = [row for row in rows if row.node.dataset is dataset]
    notes: list[Text] = []
    for (rate, chosen, unit, parts), messages in messages_by_rate.items():
        targets = list(chain.from_iterable(x.arguments["targets"] for x in messages))
        needed = list(chain.from_iterable(x.arguments["needed"] for x in messages))
        points = {row.point for row in rows_of_dataset if row.at == f"{chosen}_target"}
        if points and points.isdisjoint(targets):
            continue
        is_uncertain = any(message.code == _UNCERTAIN for message in messages)
        fault = "is uncertain with" if is_uncertain else "cannot be estimated from"
        and_below = " and below" if len(targets) > 1 else ""
        text = (
            f"{{rate:term}} at {{chosen:term}} <= {{target:rate}}{and_below} {fault} "
            "fewer than {needed:count} {unit}"
        )
        task = messages[0].arguments.get("task", "")
        numbers = {"target": max(targets), "unit": unit, "needed": min(needed)}
        note = say(text, task=task, rate=rate, chosen=chosen, **numbers)
        notes.append(say("{parts:names}: {text}", parts=parts, text=note) if parts else note)
    return notes


# Notes below the tables: thresholds chosen on the data, intervals, the meaning of statistics.


#: The meaning of columns of statistics, by their headings.
_STATISTICS = {
    "training": "Training: mean over the training parts (optimistic).",
    "test": "Test: mean over the test parts; sd: their standard deviation.",
    "mean": "Mean, sd: over the parts, each with the same weight.",
    "sd of repeats": "sd of repeats: standard deviation of the means of the repeats.",
    "pooled": "Pooled: rate of all test parts counted together.",
}

#: Thresholds whose origin is in the attribute ``chosen_on``.
_CHOSEN_BY_RULE = ("threshold", "assured_threshold")


def notes_of(
    rows: Sequence[Row], sections: Sequence[Section], is_short: bool = False
) -> Iterator[Text]:
    """Yield the notes that explain the numbers in the tables of sections, perhaps in short."""
    headings: set[str] = set()
    cells: list[Quantity] = []
    for section in sections:
        for table in section.blocks:
            if isinstance(table, Table):
                headings.update(str(column.heading) for column in table.columns)
                for cells_of_row in table.rows:
                    cells += (x for x in cells_of_row if isinstance(x, Quantity))
    differences = [row for row in rows if row.statistic == "difference"]

    if any(row.statistic in ("mean", "pooled") for row in rows):
        yield from (text for heading, text in _STATISTICS.items() if heading in headings)
    if not is_short and any(map(_has_threshold_of_same_data, rows)):
        yield "Thresholds were chosen on these data, so errors at them are optimistic (too low)."
    yield from _notes_on_test_parts(rows)
    if any(x.flagged for x in cells):
        if any(row.flagged for row in rows):
            yield "*: too few subjects or independent errors to rank groups by this rate."
        else:
            yield "*: not supported: too few people or attempts for this target."
    if any(x.interval for x in cells):
        yield from _notes_on_intervals(rows, is_short)
    yield from _notes_on_differences(differences, is_short)
    if any(row.statistic == LETTERS for row in rows) and not differences:
        yield (
            "Systems that share a letter do not differ significantly; all pairs: `verbose=True`. A "
            "system that is chosen for its best value looks better than it is: report its value on "
            "new data."
        )


def _has_threshold_of_same_data(row: Row) -> bool:
    """Whether a number is at a threshold that was chosen on the data of the number."""
    if row.threshold_cell is None or "part" in row.places:
        return False
    is_of_rule = row.about.get("threshold") in _CHOSEN_BY_RULE
    return not is_of_rule or "chosen_on" not in row.node.dataset.attrs


def _notes_on_test_parts(rows: Iterable[Row]) -> Iterator[Text]:
    """Yield which means are too low or too high, since each test part chose its own threshold.

    These are the rates of a result over parts that have no training and test values.
    """
    too_low: list[Row] = []
    too_high: list[Row] = []
    for row in rows:
        is_rate = row.about.get("units") == "proportion" and row.supported is not False
        is_mean = row.statistic == "mean" and "part" not in row.places
        if not is_rate or not is_mean or "part" not in row.node.dataset.dims:
            continue
        # A threshold that is chosen on the data makes rates better than they are.
        if row.about.get("direction") == "larger":
            too_high.append(row)
        else:
            too_low.append(row)
    end = "with a threshold chosen on the test part itself."
    if too_low:
        yield say(f"{{labels}}: too low, {end}", labels=_labels_of(too_low))
    if too_high:
        yield say(f"{{labels}}: too high, {end}", labels=_labels_of(too_high))


def _labels_of(rows: Iterable[Row]) -> Enumeration:
    """Return the labels of rows, each once."""
    labels = [label_of(row, with_also=False) for row in rows]
    distinct = {repr(label): label for label in labels}
    return Enumeration(list(distinct.values()), ";")


def _notes_on_differences(rows: Sequence[Row], is_short: bool) -> Iterator[Text]:
    """Yield how the limits of differences between systems were computed, and what to beware of."""
    rows_by_method: dict[str, list[Row]] = {}
    for row in rows:
        method = str(row.about.get("interval_method") or "")
        if method and not math.isnan(row.low):
            rows_by_method.setdefault(method, []).append(row)
    if rows_by_method:
        yield _note_on_limits(rows_by_method, is_short)
    if any(row.other_system for row in rows):
        before = "" if is_short else "Differences are computed before rounding. "
        yield (
            f"{before}A system that is chosen for its best value looks better than it is: report "
            "its value on new data."
        )


def _note_on_limits(rows_by_method: Mapping[str, Sequence[Row]], is_short: bool) -> Text:
    """Return for what limits and p values of differences hold, and what they are corrected for."""
    # The rows are of one comparison, whose attributes say what is corrected; of several, the last.
    last_rows = list(rows_by_method.values())[-1]
    comparison = last_rows[0].node.dataset.attrs
    methods: list[Text] = []
    for method, rows in rows_by_method.items():
        attrs = rows[0].node.dataset.attrs
        drawn = ""
        if method == "subject-bootstrap" and "replicates" in attrs:
            drawn = f"; {attrs['replicates']:,} replicates, seed {attrs['seed']}"
        values = {"method": method_in_words(method), "labels": _labels_of(rows), "drawn": drawn}
        methods.append(say("by {method} ({labels}{drawn})", **values))
    has_more_pairs = int(comparison.get("systems_compared", 2)) > 2
    pairs = " and all pairs of systems together" if has_more_pairs else ""
    is_corrected = comparison["adjust"] == "holm"
    correction = "; conclusions are corrected" if is_corrected else ", not corrected"
    end = "." if is_short else "; Student's test, with standard errors {methods}."
    text = (
        f"Limits and p values of differences: for each measure by itself{pairs}{correction} for "
        f"the number of measures{end}"
    )
    return say(text, methods=Enumeration(methods, ";"))


#: Further attributes of intervals, with the words before their text.
_OF_INTERVALS = {
    "left_out": "left out in turn: ",
    "interval_of_test": "new people: ",
    "interval_of_differences": "after differences: ",
}

#: The populations of intervals in words, if the name of the population is no clear text.
_POPULATIONS = {
    "new people": "for people like these",
    "folds like these": "of the test mean",
}


def _notes_on_intervals(rows: Sequence[Row], is_short: bool) -> Iterator[Text]:
    """Yield what the numbers in square brackets are; each method once, with its tasks."""
    limited = [row for row in rows if not math.isnan(row.low)]
    dataset_of = {row.node.name: row.node.dataset for row in limited}
    method_of: dict[str, Text] = {}
    tasks_of: dict[str, list[str]] = {}
    for dataset in dataset_of.values():
        if "interval_method" not in dataset.attrs:
            continue
        method = _interval_in_words(dataset.attrs, is_short)
        key = repr(method)  # texts may hold lists, which cannot be keys
        method_of.setdefault(key, method)
        tasks_of.setdefault(key, []).append(str(dataset.attrs.get("task", "")))
    methods: list[Text] = []
    for key, method in method_of.items():
        # The first method is that of most tasks: the others have the names of theirs.
        text = "of {tasks}: {method}" if methods else "{method}"
        tasks = [task for task in dict.fromkeys(tasks_of[key]) if task]
        methods.append(say(text, method=method, tasks=Enumeration(tasks)))
    if not methods:
        return
    values = [row.value for row in limited if row.statistic in ("", "mean")]
    is_one_sided = any(value in (0, 1) for value in values)
    end = ""
    if is_one_sided and not is_short:
        end = " Where a value is 0 or 100 %, the interval is one-sided."
    yield say("In square brackets: {methods}.{end}", methods=Enumeration(methods, ";"), end=end)


def _interval_in_words(attrs: Mapping[Any, Any], is_short: bool) -> Text:
    """Return the level, the population and the method of the intervals of a result."""
    method = str(attrs["interval_method"])
    arguments: dict[str, Any] = {
        "level": float(attrs["confidence"]),
        "method": method_in_words(method),
    }
    limits = "interval" if method == "quantile" else "confidence interval"
    if attrs.get("limits") == "one-sided":
        limits = "one-sided confidence limits"
    text = f"{{level:rate}} {limits}, by {{method}}"
    population = str(attrs.get("interval_for", ""))
    if population and not is_short:
        text = f"{{level:rate}} {limits} {{population}}, by {{method}}"
        arguments["population"] = _POPULATIONS.get(population, f"for {population}")
    if "interval_of_test" in attrs:  # columns of a threshold study name the populations
        text = f"{{level:rate}} {limits}; same data: {{method}}"
    for name, words in _OF_INTERVALS.items():
        if name in attrs:
            text += f"; {words}{{{name}}}"
            arguments[name] = str(attrs[name])
    if "replicates" in attrs and method != "people":
        text += " ({replicates:count replicates})"
        arguments["replicates"] = int(attrs["replicates"])
    return say(text, **arguments)

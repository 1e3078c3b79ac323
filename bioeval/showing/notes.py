"""Notes below the tables: thresholds chosen on the data, intervals, the meaning of statistics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bioeval.results.words import method_in_words
from bioeval.showing.blocks import Section, Table
from bioeval.showing.cells import Quantity
from bioeval.showing.labels import label_of
from bioeval.showing.rows import Row
from bioeval.showing.text import Enumeration, Phrase, Text, say

#: The meaning of columns of statistics, by their headings.
_STATISTICS = {
    "training": "Training: mean over the training parts (optimistic).",
    "test": "Test: mean over the test parts; sd: their standard deviation.",
    "mean": "Mean, sd: over the parts, each with the same weight.",
    "sd of repeats": "sd of repeats: standard deviation of the means of the repeats.",
    "pooled": "Pooled: rate of all test parts counted together.",
}


def notes_of(rows: Sequence[Row], sections: Sequence[Section]) -> Iterator[Text]:
    """Yield the notes that explain the numbers in the tables of sections."""
    headings: set[str] = set()
    cells: list[Quantity] = []
    for section in sections:
        for table in section.blocks:
            if isinstance(table, Table):
                headings.update(str(column.heading) for column in table.columns)
                cells += (x for row in table.rows for x in row if isinstance(x, Quantity))
    has_chosen_thresholds = False  # chosen on the data of the rates
    has_statistics = False
    chosen_on_test: list[Row] = []
    differences: list[Row] = []
    for row in rows:
        attrs = row.node.dataset.attrs
        over_parts = "part" in row.node.dataset.dims
        has_statistics |= row.statistic in ("mean", "pooled")
        if row.threshold_cell is not None and "part" not in row.places:
            is_of_rule = row.about.get("threshold") in _CHOSEN_BY_RULE
            has_chosen_thresholds |= not is_of_rule or "chosen_on" not in attrs
        is_rate = row.about.get("units") == "proportion" and row.supported is not False
        if row.statistic == "mean" and over_parts and "part" not in row.places and is_rate:
            chosen_on_test.append(row)
        if row.statistic == "difference":
            differences.append(row)
    if has_statistics:
        yield from (text for heading, text in _STATISTICS.items() if heading in headings)
    if has_chosen_thresholds:
        yield "Thresholds were chosen on these data, so errors at them are optimistic (too low)."
    if chosen_on_test:
        text = "{labels}: too low, with a threshold chosen on the test part itself."
        yield say(text, labels=_labels_of(chosen_on_test))
    if any(x.flagged for x in cells):
        yield "*: too few subjects or independent errors to rank groups by this rate."
    if any(x.interval for x in cells):
        yield from _intervals(rows)
    yield from _of_differences(differences)


#: Thresholds whose origin is in the attribute ``chosen_on``.
_CHOSEN_BY_RULE = ("threshold", "threshold_used", "assured_threshold", "bayes_threshold")


def _labels_of(rows: Iterable[Row]) -> Enumeration:
    labels = {repr(x): x for x in (label_of(row, with_also=False) for row in rows)}
    return Enumeration(list(labels.values()), ";")


def _of_differences(rows: Sequence[Row]) -> Iterator[Text]:
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        if (method := row.about.get("interval_method")) and not math.isnan(row.low):
            by_method.setdefault(str(method), []).append(row)
    methods: list[Text] = []
    for method, of_method in by_method.items():
        attrs = of_method[0].node.dataset.attrs
        is_drawn = method == "subject-bootstrap" and "replicates" in attrs
        drawn = f"; {attrs['replicates']:,} replicates, seed {attrs['seed']}" if is_drawn else ""
        words, labels = method_in_words(method), _labels_of(of_method)
        text = "by {method} ({labels}{drawn})"
        methods.append(say(text, method=words, labels=labels, drawn=drawn))
    if methods:
        is_holm = attrs["adjust"] == "holm"
        text = (
            "Limits and p values of differences: for each measure by itself"
            + " and all pairs of systems together" * (int(attrs.get("systems_compared", 2)) > 2)
            + ("; conclusions are corrected" if is_holm else ", not corrected")
            + " for the number of measures; Student's test, with standard errors {methods}."
        )
        yield say(text, methods=Enumeration(methods, ";"))
    if any(row.other_system for row in rows):
        yield (
            "Differences are computed before rounding. A system that is chosen for its best value "
            "looks better than it is: report its value on new data."
        )


def _intervals(rows: Sequence[Row]) -> Iterator[Text]:
    tasks_of: dict[str, tuple[Text, dict[str, None]]] = {}
    for dataset in {row.node.name: row.node.dataset for row in rows}.values():
        if "interval_method" in dataset.attrs:
            method = _interval_method(dataset.attrs)
            tasks = tasks_of.setdefault(repr(method), (method, {}))[1]
            tasks[str(dataset.attrs.get("task", ""))] = None
    methods: list[Text] = []
    for words, tasks in tasks_of.values():
        named = Enumeration([task for task in tasks if task])
        text = "of {tasks}: {method}" if methods else "{method}"
        methods.append(say(text, method=words, tasks=named))
    if methods:
        limited = [x for x in rows if x.statistic in ("", "mean") and not math.isnan(x.low)]
        is_one_sided = any(x.value in (0, 1) for x in limited)
        end = " Where a value is 0 or 100 %, the interval is one-sided." if is_one_sided else ""
        yield say("In square brackets: {methods}.{end}", methods=Enumeration(methods, ";"), end=end)


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


def _interval_method(attrs: Mapping[Any, Any]) -> Phrase:
    limits = "one-sided confidence limits"
    if attrs.get("limits") != "one-sided":
        limits = "interval" if attrs["interval_method"] == "quantile" else "confidence interval"
    population = str(attrs.get("interval_for", ""))
    of_population = " {population}" if population else ""
    text = f"{{level:rate}} {limits}{of_population}, by {{method}}"
    if "interval_of_test" in attrs:  # columns of a threshold study name the populations
        text = f"{{level:rate}} {limits}; same data: {{method}}"
    arguments: dict[str, Any] = {
        "level": float(attrs["confidence"]),
        "method": method_in_words(str(attrs["interval_method"])),
        "population": _POPULATIONS.get(population, f"for {population}"),
    }
    for name, words in _OF_INTERVALS.items():
        if name in attrs:
            text += f"; {words}{{{name}}}"
            arguments[name] = str(attrs[name])
    if "replicates" in attrs and attrs["interval_method"] != "people":
        text += " ({replicates:count replicates})"
        arguments["replicates"] = int(attrs["replicates"])
    return say(text, **arguments)

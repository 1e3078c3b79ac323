"""What stands below the tables: thresholds chosen on the data, intervals, what statistics are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.results.words import method_in_words
from bioeval.showing.blocks import Section, Table
from bioeval.showing.cells import Quantity
from bioeval.showing.labels import label_of
from bioeval.showing.rows import Row
from bioeval.showing.text import Enumeration, Phrase, Text, say

#: What the columns of statistics are, by their headings.
_STATISTICS = {
    "training": "Training: mean over the parts on which the threshold was chosen (optimistic).",
    "test": "Test, sd: mean and standard deviation over the test parts.",
    "mean": "Mean, sd: over the parts, each with the same weight.",
    "sd of repeats": "sd of repeats: standard deviation of the means of the repeats.",
    "pooled": "Pooled: rate of the summed counts of all parts.",
}


def notes_of(rows: Sequence[Row], sections: Sequence[Section]) -> Iterator[Text]:
    """Yield what explains the numbers that are shown in the tables of sections."""
    tables = [x for section in sections for x in section.blocks if isinstance(x, Table)]
    headings: set[str] = set()
    if any(row.statistic in ("mean", "pooled") for row in rows):
        headings = {str(column.heading) for table in tables for column in table.columns}
    yield from (text for heading, text in _STATISTICS.items() if heading in headings)
    if any(_is_chosen_here(row) for row in rows):
        yield "Thresholds were chosen on these data, so the rates at them are optimistic."
    of_test = [row for row in rows if row.supported is not False and _is_of_test_alone(row)]
    if of_test:
        labels = _labels_of(of_test)
        yield say(
            "{labels}: at thresholds chosen on the same test part (optimistic).", labels=labels
        )
    cells = [x for table in tables for row in table.rows for x in row if isinstance(x, Quantity)]
    if any(x.flagged for x in cells):
        yield "*: fewer than 30 subjects or 30 expected errors, too few to rank groups."
    lettered = [row for row in rows if row.name.endswith("_letters") and row.text]
    for of_what in dict.fromkeys(
        "Groups" if row.places.get("group") else "Systems" for row in lettered
    ):
        yield (
            f"{of_what} that share a letter in a column are not significantly different; a: the "
            "best value."
        )
    if any(x.interval for x in cells):
        yield from _intervals({row.node.name: row.node.dataset for row in rows}.values())
    yield from _of_differences([row for row in rows if row.statistic == "difference"])


def _labels_of(rows: Iterable[Row]) -> Enumeration:
    """Return the labels of numbers, each once."""
    labels = {repr(x): x for x in (label_of(row, with_also=False) for row in rows)}
    return Enumeration(list(labels.values()), ";")


def _of_differences(rows: Sequence[Row]) -> Iterator[Text]:
    """Yield how the limits of differences were found, for which measures, and a caution."""
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        if (method := row.about.get("interval_method")) and not math.isnan(row.low):
            by_method.setdefault(str(method), []).append(row)
    methods: list[Text] = []
    for method, of_method in by_method.items():
        attrs = of_method[0].node.dataset.attrs
        text = "{method} ({labels}{drawn})"
        is_drawn = method == "subject-bootstrap" and "replicates" in attrs
        drawn = f"; {attrs['replicates']:,} replicates, seed {attrs['seed']}" if is_drawn else ""
        words = method_in_words(method)
        methods.append(say(text, method=words, labels=_labels_of(of_method), drawn=drawn))
    if methods:
        yield say(
            "Limits and p values of differences: {methods}.", methods=Enumeration(methods, ";")
        )
    if any(row.other_system for row in rows):
        yield (
            "A system that is chosen because it has the best value looks better than it is: report "
            "its value on other data."
        )


#: Thresholds of which the attribute ``chosen_on`` says where they are from.
_CHOSEN_BY_RULE = ("threshold", "threshold_used", "assured_threshold", "bayes_threshold")


def _is_chosen_here(row: Row) -> bool:
    """Whether the threshold of a number was chosen on the data that the number is of."""
    if row.threshold_cell is None or "part" in row.places:
        return False
    is_of_rule = row.about.get("threshold") in _CHOSEN_BY_RULE
    return not is_of_rule or "chosen_on" not in row.node.dataset.attrs


def _is_of_test_alone(row: Row) -> bool:
    is_rate = row.about.get("units") == "proportion"
    is_over_parts = "part" in row.node.dataset.dims
    return row.statistic == "mean" and is_over_parts and "part" not in row.places and is_rate


def _intervals(datasets: Iterable[xr.Dataset]) -> Iterator[Text]:
    """Yield the methods of the intervals of results, with their tasks where they differ."""
    of_tasks = [dataset for dataset in datasets if "interval_method" in dataset.attrs]
    tasks_of: dict[str, tuple[Text, list[str]]] = {}
    for dataset in of_tasks:
        method = _interval_method(dataset.attrs)
        tasks = tasks_of.setdefault(repr(method), (method, []))[1]
        tasks.append(str(dataset.attrs.get("task", "")))
    methods: list[Text] = []
    for words, tasks in tasks_of.values():
        named = Enumeration(list(dict.fromkeys(filter(None, tasks))))
        of_others = say("of {tasks}: {method}", method=words, tasks=named)
        methods.append(of_others if methods else words)
    if methods:
        end = " At 0 or 100 % it is one-sided." if any(map(_is_one_sided, of_tasks)) else ""
        yield say("In brackets: {methods}.{end}", methods=Enumeration(methods, ";"), end=end)


def _is_one_sided(dataset: xr.Dataset) -> bool:
    """Whether a number with limits is 0 or 1."""
    for name, value in dataset.data_vars.items():
        if f"{name}_low" not in dataset or {"threshold", "rank"} & {*value.dims}:
            continue
        if not {*value.dims} <= {*dataset[f"{name}_low"].dims}:
            continue  # of statistics, the mean has limits
        low = dataset[f"{name}_low"].transpose(*value.dims).values
        if (np.isin(value.values, [0, 1]) & ~np.isnan(low)).any():  # isin would import dask
            return True
    return False


#: What else attributes say of intervals, with the words before it.
_OF_INTERVALS = {
    "left_out": "left out in turn: ",
    "interval_threshold": "",
    "interval_of_test": "new people: ",
    "interval_of_largest": "of the largest over species: ",
    "interval_of_inequality": "FDR, GARBE and quotients of rates: ",
    "interval_of_differences": "differences: ",
}

#: What intervals are of, where the population that data name does not say it to readers.
_POPULATIONS = {
    "new people": "for the population of such people",
    "folds like these": "of the test mean",
}


def _interval_method(attrs: Mapping[Any, Any]) -> Phrase:
    """Return the method of a result's confidence intervals, and their population."""
    limits = "one-sided confidence limits"
    if attrs.get("limits") != "one-sided":
        limits = "interval" if attrs["interval_method"] == "quantile" else "confidence interval"
    population = str(attrs.get("interval_for", ""))
    of_population = " {population}" if population else ""
    text = f"{{level:rate}} {limits}{of_population}, by {{method}}"
    if "interval_of_test" in attrs:  # of a threshold study: columns say the populations
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

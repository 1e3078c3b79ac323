"""What stands below the tables: thresholds chosen on the data, intervals, what statistics are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from bioeval.results.words import method_in_words
from bioeval.showing.blocks import Table
from bioeval.showing.cells import Quantity
from bioeval.showing.facts import interval_note
from bioeval.showing.labels import label_of
from bioeval.showing.rows import Row
from bioeval.showing.text import Enumeration, Text, say

#: What the columns of statistics are, by their headings.
_STATISTICS = {
    "training": "Training: mean over the parts on which the threshold was chosen (optimistic).",
    "test": "Test, sd: mean and standard deviation over the test parts.",
    "mean": "Mean, sd: over the parts, each with the same weight.",
    "sd of repeats": "sd of repeats: standard deviation of the means of the repeats.",
    "pooled": "Pooled: rate of the summed counts of all parts.",
}


def notes_of(rows: Sequence[Row], tables: Sequence[Table]) -> Iterator[Text]:
    """Yield what explains the numbers that are shown."""
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
        of_tasks = {row.node.name: row.node.dataset for row in rows}
        yield from (note.text for note in interval_note(of_tasks))
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

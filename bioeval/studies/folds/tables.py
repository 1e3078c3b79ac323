"""Results over folds, and threshold studies, as tables for the terminal."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base import counted
from bioeval.document import messages_of_result
from bioeval.results import excluded
from bioeval.views import (
    averaged,
    datasets,
    dictionary,
    interval_method,
    sentence_about,
    systems,
    term_translator,
    unit_of,
)
from bioeval.views.tables import (
    grid,
    indented,
    mean_text,
    plain_table,
    title,
    warned,
)

_LONGEST = 160  # characters of a splitter that are shown

# Splitters that list the fold of each sample, in words.
_LISTED = {
    "PredefinedFolds": "folds as given, one for each template",
    "PredefinedPairFolds": "folds as given, one for each pair",
}


class FoldTable:
    """Results over folds for rich to print; `reword` is as for :class:`ResultTable`."""

    def __init__(self, tree: xr.DataTree | xr.Dataset, reword: Callable[[str], str] = str):
        self.datasets, self._reword = dict(datasets(tree, once=True)), reword

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield heading, tables of rates, what they show, and warnings."""
        width = options.max_width
        names = systems(self.datasets)
        for i, (path, dataset) in enumerate(self.datasets.items()):
            if i == 0:
                named = {}
                if len(names) > 1:
                    named["system"] = ", ".join(names)
                yield _head(dataset.attrs | named, dictionary(self.datasets.values()))
            yield Text("")
            yield Text(title(dataset, path, len(names) > 1), style="bold")
            for line in _details(dataset):
                yield indented(Text(line, style="dim"))
            table, left_out = _rates(dataset, width)
            yield indented(table)
            yield from not_shown(left_out, 80)
        yield Text("")
        first = next(iter(self.datasets.values())).attrs
        method = str(first.get("interval_method", first.get("band", "")))
        confidence = 100 * float(first["confidence"])
        words = {
            "nadeau-bengio": f"{confidence:g} % for the test mean by Nadeau and Bengio, a "
            "heuristic",
            "quantile": f"the middle {confidence:g} % of the {unit_of(first)}s (variation between "
            "draws, not a confidence interval for other people)",
            "normal": f"the middle {confidence:g} % of the {unit_of(first)}s by a normal "
            "approximation (variation between draws, not a confidence interval for other people)",
        }
        if method in words:
            of = words[method]
        else:
            of = f"{confidence:g} % for the pooled rate by {interval_method(first)}"
        rows = itertools.chain.from_iterable(map(averaged, self.datasets.values()))
        points = any(row.at_own_threshold for row in rows)
        if points and "pooled" in of:
            of += " (without a pooled rate: for the test mean by Nadeau and Bengio, a heuristic)"
        se = ""
        if any(map(_of_listed_pairs, self.datasets.values())):
            se = (
                "se: standard error of the mean as in LFW tables, too small for folds with "
                "shared training parts; "
            )
        units = f"{unit_of(first)}s"
        pooled = ""
        if "partitions" not in first:
            pooled = f"pooled: rate of the summed counts of all {units}; "
        optimistic = ""
        if points:
            optimistic = "Own thresholds: chosen on the test part itself (optimistic). "
        training = ""
        with_training = [ds for ds in self.datasets.values() if "train_subjects" in ds]
        if any(ds["train_subjects"].values.any() for ds in with_training):
            training = "Training: rate on the data of the threshold (optimistic). "
        yield Text(
            f"{training}Test, sd: mean and standard deviation over {units}; {se}{pooled}interval: "
            f"{of}. {optimistic}".rstrip(),
            style="dim",
        )
        lines: list[str] = []
        for dataset in self.datasets.values():
            translate = term_translator(dataset)
            lines += [translate(sentence_about(x)) for x in messages_of_result(dataset)]
        yield from warned(map(self._reword, lines))


def _attribute(dataset: xr.Dataset, attribute: str) -> str:
    """Return an attribute in the words of the table."""
    return term_translator(dataset)(str(dataset.attrs[attribute]))


def _head(attrs: dict[Any, Any], terms: str) -> Table:
    """Return the heading lines of a result."""
    splitter = str(attrs["splitter"])
    splitter = _LISTED.get(splitter.partition("(")[0], splitter)
    if len(splitter) > _LONGEST:
        splitter = f"{splitter[: _LONGEST - 4]} ..."
    shown = {
        "System": str(attrs.get("system", "")),
        "Made of": str(attrs.get("origin", "")),
        "Read": str(attrs.get("reading", "")),
        "Excluded": excluded({"": attrs}),
        "Protocol": str(attrs.get("protocol", "")),
        "Partition": splitter,
        "Terms": terms,
    }
    return grid((name, text) for name, text in shown.items() if text)


def _details(dataset: xr.Dataset) -> Iterator[str]:
    """Return what a result says of thresholds and galleries."""
    if dataset.attrs.get("galleries"):
        yield str(dataset.attrs["galleries"])
    if "partitions" in dataset.attrs:
        yield counted(int(dataset.attrs["partitions"]), "partitions")
    else:
        yield _divisions(dataset)
    if "experiment" in dataset.attrs:
        yield str(dataset.attrs["experiment"])
    if "seen" in dataset.attrs:
        yield str(dataset.attrs["seen"])
    attempts = [f"{int(dataset['genuine_attempts'].values.sum()):,} genuine"]
    if "impostor_attempts" in dataset:
        attempts.append(f"{int(dataset['impostor_attempts'].values.sum()):,} impostor")
    if "unenrolled_attempts" in dataset:
        number = int(dataset["unenrolled_attempts"].values.sum())
        attempts.append(f"{number:,} by probes not enrolled, counted separately")
    if "attack_attempts" in dataset:
        species = f"{dataset.sizes['species']:,} species"
        attempts.append(f"{int(dataset['attack_attempts'].values.sum()):,} attacks of {species}")
    yield f"test attempts of all {unit_of(dataset.attrs)}s: {', '.join(attempts)}"
    if "claims" in dataset.attrs:
        yield f"claims drawn for each part by {dataset.attrs['claims']}"
    if "threshold" in dataset and "chosen_on" in dataset.attrs:
        t = dataset["threshold"].values
        t = t[np.isfinite(t)]
        where = ""
        if len(t):
            where = f": {t.min():.4g} to {t.max():.4g}, mean {t.mean():.4g}"
        chosen = dataset.attrs["chosen_on"]
        yield f"threshold by {_attribute(dataset, 'threshold_rule_in_words')}, {chosen}{where}"
    if "assured_threshold" in dataset:
        yield _assured(dataset)


def _divisions(dataset: xr.Dataset) -> str:
    """Return in words how the data were divided, and how many subjects each part has."""
    repeats, folds = dataset.sizes["repeat"], dataset.sizes["fold"]
    trained = "trained on"
    if "experiment" in dataset.attrs:
        trained = "where thresholds are chosen"
    train, test = _span(dataset["train_subjects"].values), _span(dataset["test_subjects"].values)
    divided = f"{counted(repeats, 'divisions')} into {counted(folds, 'folds')}"
    if "experiment" in dataset.attrs:
        divided = counted(repeats, "repeats")
    return f"{divided}; {dataset.attrs['sizes_are_of']}: {train} {trained}, {test} tested"


def _assured(dataset: xr.Dataset) -> str:
    """Return in words the thresholds whose FAR is assured, and how many folds have none."""
    t, attrs = dataset["assured_threshold"].values, dataset.attrs
    refused, t = int(dataset["assured_refused"]), t[np.isfinite(t)]
    where = f": {t.min():.4g} to {t.max():.4g}, mean {t.mean():.4g}" if len(t) else ""
    folds = counted(dataset["genuine_attempts"].size, f"{unit_of(attrs)}s")
    left = f"; none in {refused} of {folds}" if refused else ""
    return (
        f"assured threshold, {100 * attrs['assure']:g} % confidence, {attrs['assurance']}, from "
        f"the same part{where}{left}"
    )


def _span(counts: np.ndarray) -> str:
    low, high = int(counts.min()), int(counts.max())
    if low == high:
        return f"{low:,}"
    return f"{low:,} to {high:,}"


def not_shown(columns: list[str], enough: int) -> Iterator[Any]:
    """Yield a line that names the columns left out of a narrow table."""
    if columns:
        text = f"Not shown in this width: {', '.join(columns)}. Needs {enough} columns of text."
        yield indented(Text(text, style="dim"))


def _rates(dataset: xr.Dataset, width: int) -> tuple[Table, list[str]]:
    """Return the table of rates, and the columns that do not fit."""
    rows = list(averaged(dataset))
    number = dataset.sizes["repeat"] * dataset.sizes["fold"]
    left_out = {
        "se": not _of_listed_pairs(dataset),
        "pooled": "partitions" in dataset.attrs,
        "folds": "partitions" in dataset.attrs
        or all(row.summary("folds") == number for row in rows),
        "training": not any(np.isfinite(row.training()) for row in rows),
    }
    kept = []
    too_wide: list[str] = []
    for head in ("", "training", "test", "sd", "se", "pooled", "interval", "folds"):
        if left_out.get(head):
            continue
        if width < 80 and head in ("pooled", "interval", "folds"):
            too_wide.append(head)
        else:
            kept.append(head)
    between = 1 if width < 90 else 2
    table = plain_table(kept, between)
    of_points = False
    for row in rows:
        if row.at_own_threshold > of_points:
            of_points = True
            table.add_row(Text("own thresholds:", "dim"))
        percent = row.scalar.percent
        low, high = row.summary("low"), row.summary("high")
        interval = "-"
        if np.isfinite([low, high]).all():
            interval = f"{mean_text(low, percent)} - {mean_text(high, percent)}"
        cells = {
            "": Text(row.label),
            "training": Text(mean_text(row.training(), percent)),
            "test": Text(mean_text(row.summary("mean"), percent), "bold"),
            "interval": Text(interval),
            "folds": Text(f"{row.summary('folds'):.0f}"),
        }
        for key in ("sd", "se", "pooled"):
            cells[key] = Text(mean_text(row.summary(key), percent))
        table.add_row(*map(cells.__getitem__, kept))
    return table, too_wide


def _of_listed_pairs(dataset: xr.Dataset) -> bool:
    """Whether the folds are of listed pairs, with a standard error."""
    return str(dataset.attrs["splitter"]).startswith("PredefinedPairFolds")

"""Results over folds as a table: test and training rates side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base.errors import counted
from bioeval.results.words import excluded
from bioeval.views.averaged import POINTS, averaged, once, unit_of
from bioeval.views.tables import with_joined_targets
from bioeval.views.tables.layout import grid, indented, mean_text, plain_table, warned
from bioeval.views.tables.tasks import datasets
from bioeval.views.terms import dictionary, term_translator

_LONGEST = 160  # characters of a splitter that are shown

# Splitters that list the fold of each sample, in words.
_GIVEN = {
    "PredefinedFolds": "folds as given, one for each template",
    "PredefinedPairFolds": "folds as given, one for each pair",
}


def has_folds(tree: xr.DataTree | xr.Dataset) -> bool:
    """Whether these are results over folds."""
    return any("fold" in dataset.dims for _, dataset in datasets(tree))


class FoldTable:
    """Results over folds that rich can print.

    They are of :func:`bioeval.cross_evaluate` or of a card with folds; `reword` is as for
    :class:`ResultTable`.
    """

    def __init__(self, tree: xr.DataTree | xr.Dataset, reword: Callable[[str], str] = str):
        self.datasets, self._reword = once(dict(datasets(tree))), reword

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        for i, dataset in enumerate(self.datasets.values()):
            attrs = dataset.attrs
            if i == 0:
                yield _head(attrs, dictionary(self.datasets.values()))
            yield Text("")
            task = str(attrs["task"])
            yield Text(f"{task[0].upper()}{task[1:]}", style="bold")
            for line in _details(dataset):
                yield indented(Text(line, style="dim"))
            yield indented(_rates(dataset, width))
        yield Text("")
        first = next(iter(self.datasets.values())).attrs
        method, confidence = str(first["interval_method"]), 100 * float(first["confidence"])
        of = {
            "nadeau-bengio": f"{confidence:g} % for the test mean by Nadeau and Bengio, a "
            "heuristic",
            "quantile": f"the middle {confidence:g} % of the {unit_of(first)}s (variation between "
            "draws, not a confidence interval for other people)",
        }.get(method, f"{confidence:g} % for the pooled rate by {method}")
        points = any(name in ds for ds in self.datasets.values() for name in POINTS)
        if points and "pooled" in of:
            of += " (without a pooled rate: for the test mean by Nadeau and Bengio, a heuristic)"
        se = ""
        if any(map(_of_given_folds, self.datasets.values())):
            se = (
                "se: standard error of the mean as in LFW tables, too small for folds with "
                "shared training parts; "
            )
        units = f"{unit_of(first)}s"
        own = ""
        if points:
            own = "Own thresholds: chosen on the test part itself (optimistic). "
        training = "Training: rate on the data of the threshold (optimistic). "
        if not any(ds["train_subjects"].values.any() for ds in self.datasets.values()):
            training = ""
        yield Text(
            f"{training}Test, sd: mean and standard deviation over {units}; {se}pooled: rate of "
            f"the summed counts of all {units}; interval: {of}. {own}".rstrip(),
            style="dim",
        )
        yield from warned(
            self._reword(with_joined_targets(w))
            for d in self.datasets.values()
            for w in _said(d, "warnings").split("\n")
        )


def _said(dataset: xr.Dataset, attribute: str) -> str:
    """Return an attribute in the words of the table."""
    return term_translator(dataset)(str(dataset.attrs[attribute]))


def _head(attrs: dict[Any, Any], terms: str) -> Table:
    splitter = str(attrs["splitter"])
    splitter = _GIVEN.get(splitter.partition("(")[0], splitter)
    if len(splitter) > _LONGEST:
        splitter = f"{splitter[: _LONGEST - 4]} ..."
    shown = {
        "System": str(attrs.get("system", "")),
        "Made of": str(attrs.get("origin", "")),
        "Read": str(attrs.get("reading", "")),
        "Excluded": excluded(attrs),
        "Protocol": str(attrs.get("protocol", "")),
        "Partition": splitter,
        "Terms": terms,
    }
    return grid((name, text) for name, text in shown.items() if text)


def _details(dataset: xr.Dataset) -> Iterator[str]:
    if dataset.attrs.get("galleries"):
        yield str(dataset.attrs["galleries"])
    repeats, folds = dataset.sizes["repeat"], dataset.sizes["fold"]
    trained = "where thresholds are chosen" if "experiment" in dataset.attrs else "trained on"
    sizes = [
        f"{_span(dataset[f'{part}_subjects'].values)} {words}"
        for part, words in (("train", trained), ("test", "tested"))
    ]
    divided = f"{counted(repeats, 'divisions')} into {counted(folds, 'folds')}"
    if "experiment" in dataset.attrs:
        divided = counted(repeats, "repeats")
    yield f"{divided}; {dataset.attrs['sizes_are_of']}: {', '.join(sizes)}"
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
    if "threshold" in dataset:
        t = dataset["threshold"].values
        t = t[np.isfinite(t)]
        where = f": {t.min():.4g} to {t.max():.4g}, mean {t.mean():.4g}" if len(t) else ""
        chosen = dataset.attrs["chosen_on"]
        yield f"threshold by {_said(dataset, 'threshold_rule_in_words')}, {chosen}{where}"
    if "assured_threshold" in dataset:
        yield _assured(dataset)


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
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _rates(dataset: xr.Dataset, width: int) -> Table:
    rows = list(averaged(dataset))
    number = dataset.sizes["repeat"] * dataset.sizes["fold"]
    left_out = {
        "se": not _of_given_folds(dataset),
        "folds": all(row.summary("folds") == number for row in rows),
        "training": not any(np.isfinite(row.training()) for row in rows),
    }
    heads = ["", "training", "test", "sd", "se", "pooled", "interval", "folds"]
    kept = [head for head in (heads[:5] if width < 80 else heads) if not left_out.get(head)]
    table = plain_table(kept, 1 if width < 90 else 2)
    of_points = False
    for row in rows:
        if (row.scalar.name in POINTS) > of_points:
            of_points = True
            table.add_row(Text("own thresholds:", "dim"))
        percent = row.scalar.percent
        written = {k: mean_text(row.summary(k), percent) for k in ("mean", "sd", "se", "pooled")}
        low, high = row.summary("low"), row.summary("high")
        interval = "-"
        if np.isfinite([low, high]).all():
            interval = f"{mean_text(low, percent)} - {mean_text(high, percent)}"
        cells = {
            **written, "": row.label, "training": mean_text(row.training(), percent),
            "test": written["mean"], "interval": interval, "folds": f"{row.summary('folds'):.0f}",
        }  # fmt: skip
        table.add_row(*(Text(cells[k], "bold" if k == "test" else "") for k in kept))
    return table


def _of_given_folds(dataset: xr.Dataset) -> bool:
    """Whether the folds are of listed pairs, with a standard error."""
    return str(dataset.attrs["splitter"]).startswith("PredefinedPairFolds")

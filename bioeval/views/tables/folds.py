"""Results over folds as a table: test and training rates side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base.errors import counted
from bioeval.base.scalars import CMS, DIR, RATES_OF, Scalar
from bioeval.views.one_template import once
from bioeval.views.tables.layout import grid, indented, plain_table, warned
from bioeval.views.tables.tasks import datasets
from bioeval.views.terms import dictionary, speaker

if TYPE_CHECKING:
    import xarray as xr

# First rows of a table; other scalars of folds that have a label follow.
_FIRST = ("accuracy", "far", "frr", "hter", "dir", "cms")

_LONGEST = 160  # characters of a splitter that are shown


def _shown() -> list[Scalar]:
    """Return the scalars of a table of folds, in the order of its rows."""
    labelled = [scalar for scalar in (*RATES_OF["folds"], DIR, CMS) if scalar.label]
    place = {name: i for i, name in enumerate(_FIRST)}
    return sorted(labelled, key=lambda scalar: place.get(scalar.name, len(place)))


def has_folds(tree: xr.DataTree | xr.Dataset) -> bool:
    """Return whether these are results over folds."""
    return any("fold" in dataset.dims for _, dataset in datasets(tree))


class FoldTable:
    """Results over folds that rich can print.

    Parameters
    ----------
    tree : xarray.DataTree or xarray.Dataset
        The result of :func:`bioeval.cross_evaluate` or of an evaluation by a card with folds.
    reword : callable
        As for :class:`ResultTable`.

    Examples
    --------
    >>> import bioeval as be
    >>> from bioeval.views.tables import plain
    >>> from bioeval.views.tables.folds import FoldTable
    >>> ds = be.cross_evaluate(be.simulate(20, 4), be.partition.SubjectKFold(4))
    >>> print(plain(FoldTable(ds), 100))  # doctest: +SKIP
    """

    def __init__(self, tree: xr.DataTree | xr.Dataset, reword: Callable[[str], str] = str):
        self.datasets, self._reword = once(dict(datasets(tree))), reword

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        narrow = options.max_width < 80
        for i, dataset in enumerate(self.datasets.values()):
            attrs = dataset.attrs
            if i == 0:
                yield _head(attrs, dictionary(self.datasets.values()))
            yield Text("")
            task = str(attrs["task"])
            yield Text(f"{task[0].upper()}{task[1:]}", style="bold")
            for line in _details(dataset):
                yield indented(Text(line, style="dim"))
            yield indented(_rates(dataset, narrow))
        yield Text("")
        first = next(iter(self.datasets.values())).attrs
        method = str(first["interval_method"])
        of = "of the test mean, Nadeau and Bengio, a heuristic"
        if method != "nadeau-bengio":
            of = f"of the pooled rate, by {method}"
        se = ""
        if any(map(_of_given_folds, self.datasets.values())):
            se = (
                "se: standard error of the mean, as in tables of LFW, too small for folds that "
                "share training parts; "
            )
        yield Text(
            "Training: the rate where the threshold was chosen, which is optimistic. Test, sd: "
            f"mean and standard deviation over folds; {se}pooled: the counts of all folds summed; "
            f"interval: {100 * float(first['confidence']):g} %, {of}.",
            style="dim",
        )
        yield from warned(
            self._reword(w)
            for d in self.datasets.values()
            for w in _said(d, "warnings").split("\n")
        )


def _said(dataset: xr.Dataset, attribute: str) -> str:
    """Return an attribute in the words of the table."""
    return speaker(dataset)(str(dataset.attrs[attribute]))


def _head(attrs: dict[Any, Any], terms: str) -> Table:
    splitter = str(attrs["splitter"])
    if len(splitter) > _LONGEST:
        splitter = f"{splitter[: _LONGEST - 4]} ..."
    shown = {
        "System": str(attrs.get("system", "")),
        "Made of": str(attrs.get("origin", "")),
        "Protocol": str(attrs.get("protocol", "")),
        "Partition": splitter,
        "Terms": terms,
    }
    return grid((name, text) for name, text in shown.items() if text)


def _details(dataset: xr.Dataset) -> Iterator[str]:
    if dataset.attrs.get("galleries"):
        yield str(dataset.attrs["galleries"])
    repeats, folds = dataset.sizes["repeat"], dataset.sizes["fold"]
    sizes = [
        f"{_span(dataset[f'{part}_subjects'].values)} {words}"
        for part, words in (("train", "trained on"), ("test", "tested"))
    ]
    divided = f"{repeats} x {folds} folds" if repeats > 1 else counted(folds, "folds")
    yield f"{divided}; {dataset.attrs['sizes_are_of']}: {', '.join(sizes)}"
    attempts = [f"{int(dataset['genuine_attempts'].sum()):,} genuine"]
    if "impostor_attempts" in dataset:
        attempts.append(f"{int(dataset['impostor_attempts'].sum()):,} impostor")
    yield f"test attempts of all folds: {', '.join(attempts)}"
    if "threshold" in dataset:
        t = dataset["threshold"].values
        t = t[np.isfinite(t)]
        where = f": {t.min():.4g} to {t.max():.4g}, mean {t.mean():.4g}" if len(t) else ""
        chosen = dataset.attrs["chosen_on"]
        yield f"threshold by {_said(dataset, 'threshold_rule_in_words')}, {chosen}{where}"


def _span(counts: np.ndarray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _rates(dataset: xr.Dataset, narrow: bool) -> Table:
    rows = list(_rows(dataset))
    number = dataset.sizes["repeat"] * dataset.sizes["fold"]
    left_out = {
        "se": not _of_given_folds(dataset),
        "folds": all(values["folds"] == number for _, _, values in rows),
    }
    heads = ["", "training", "test", "sd", "se", "pooled", "interval", "folds"]
    kept = [head for head in (heads[:5] if narrow else heads) if not left_out.get(head)]
    table = plain_table(kept)
    for label, percent, values in rows:
        written = {k: _written(value, percent) for k, value in values.items()}
        interval = "-"
        if np.isfinite([values["low"], values["high"]]).all():
            interval = f"{written['low']} - {written['high']}"
        cells = {
            "": label, "training": written["train"], "test": written["mean"],
            "interval": interval, "folds": f"{int(values['folds'])}",
        }  # fmt: skip
        bold = {"test": "bold"}
        table.add_row(*(Text(cells.get(k) or written[k], bold.get(k, "")) for k in kept))
    return table


def _of_given_folds(dataset: xr.Dataset) -> bool:
    """Return whether the folds are those of listed pairs, of which a standard error is reported."""
    return str(dataset.attrs["splitter"]).startswith("PredefinedPairFolds")


def _rows(dataset: xr.Dataset) -> Iterator[tuple[str, bool, dict[str, float]]]:
    """Return the label of each row, whether it is in per cent, and its values."""
    rule, say = str(dataset.attrs.get("threshold_rule", "")), speaker(dataset)
    for scalar in _shown():
        name, unit = scalar.name, ", %" if scalar.percent else ""
        if name not in dataset or (name == "accuracy" and rule != "accuracy"):
            continue
        keys = {"train": f"train_{name}_mean"} | {
            k: f"{name}_{k}" for k in ("mean", "sd", "se", "pooled", "low", "high", "folds")
        }
        if "rank" not in dataset[name].dims:
            values = {k: float(dataset[v]) for k, v in keys.items()}
            yield f"{say(scalar.label)}{unit}", scalar.percent, values
            continue
        for i, rank in enumerate(dataset["rank"].values.tolist()):
            values = {k: float(dataset[v].values[i]) for k, v in keys.items()}
            yield f"{say(scalar.label)}, rank {rank}{unit}", scalar.percent, values


def _written(value: float, percent: bool) -> str:
    if not np.isfinite(value):
        return "-"
    return f"{100 * value:.3f}" if percent else f"{value:.5f}"

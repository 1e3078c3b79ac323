"""Every plot that a result supports, written to a folder."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from bioeval.base.errors import DataError, require_choice
from bioeval.base.progress import stage
from bioeval.views.plots.registry import PLOTS, Plot
from bioeval.views.plots.save import FORMATS, save
from bioeval.views.plots.select_datasets import drawable, pick


def save_all(
    results: Any,
    of_scores: Iterable[tuple[str, str, Any]],
    directory: str | os.PathLike[str],
    formats: Sequence[str] = ("png",),
    overlaid: bool = False,
) -> list[Path]:
    """Write every plot that a result supports to a folder; see :func:`bioeval.plot.save_all`.

    Parameters
    ----------
    results : DataTree, Dataset, or mapping of str to either
    of_scores : iterable of (str, str, object)
        Plots of scores: the plot, the system, and what the display takes. Consumed one by one.
    directory : path
        Created if it does not exist.
    formats : sequence of {"png", "pdf", "svg"}
    overlaid : bool
        Leave out plots that show one system each.
    """
    for name in formats:
        require_choice("the format", name, FORMATS)
    folder = Path(directory)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; expected a folder, which is made if need be")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for stem, plot, data, options in chain(_of_results(results, overlaid), _of_scores(of_scores)):
        display = getattr(importlib.import_module(plot.home), plot.display)
        # Created directly, so that pyplot does not track it.
        figure = Figure(layout="constrained")
        with stage(f"drawing {stem}"):
            display.from_results(data).plot(figure, **options)
            written += [save(figure, folder / f"{stem}.{kind}") for kind in formats]
    return written


def _of_results(results: Any, overlaid: bool) -> Iterator[tuple[str, Plot, Any, Any]]:
    for plot in PLOTS.values():
        data = drawable(results, plot)
        if data is None or (overlaid and plot.one_system):
            continue
        for stem, options in plot.files.items():
            if not plot.one_system:
                yield stem, plot, data, options
                continue
            for system in pick(data, plot.name):
                yield _name(stem, system.name), plot, system, options


def _of_scores(of_scores: Iterable[tuple[str, str, Any]]) -> Iterator[tuple[str, Plot, Any, Any]]:
    for name, system, data in of_scores:
        for stem, options in PLOTS[name].files.items():
            yield _name(stem, system), PLOTS[name], data, options


def _name(stem: str, system: str) -> str:
    """Return the name of a file: letters, digits, dots and hyphens only."""
    tail = re.sub(r"[^\w.]+", "-", system).strip("-.")
    return f"{stem}-{tail}" if tail else stem

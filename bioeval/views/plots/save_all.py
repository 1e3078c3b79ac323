"""Every plot that a result supports, written to a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from bioeval.base.errors import DataError, require_choice
from bioeval.scores.matrix import PairScores, Scores
from bioeval.scores.top_k import TopKScores
from bioeval.views.plots import (
    cmc,
    det,
    dir_far,
    dir_surface,
    error_rates,
    matrix,
    roc,
)
from bioeval.views.plots import (
    save as files,
)
from bioeval.views.plots import score_distributions as distributions
from bioeval.views.plots import style as look
from bioeval.views.plots.select_datasets import System, pick


def save_all(
    tree: Any,
    scores: Any,
    directory: str | os.PathLike[str],
    formats: Sequence[str] = ("png",),
) -> list[Path]:
    """Write every plot that a result supports to a folder.

    Parameters
    ----------
    tree : DataTree, Dataset, or mapping of str to either
        What :func:`bioeval.evaluate` returned.
    scores : Scores, mapping of str to Scores, or None
        For the plots of the scores themselves; None leaves them out.
    directory : path
        Made if it is not there.
    formats : sequence of {"png", "pdf", "svg"}

    Returns
    -------
    list of Path
        The files written: ``roc``, ``roc-log``, ``det``, ``error-rates``, ``dir-far``,
        ``dir-far-log``, ``dir-surface``, ``cmc``, ``score-distributions`` and ``matrix``, as far
        as there is something to show. Plots that show one system each bear its name.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 4)
    >>> be.plot.save_all(be.evaluate(scores), scores, "plots")  # doctest: +SKIP
    """
    for name in formats:
        require_choice("the format", name, files.FORMATS)
    folder = Path(directory)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; expected a folder, which is made if need be")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, size, draw in [*_of_results(tree), *_of_scores(scores)]:
        # A figure of its own, which no window manager knows.
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        for kind in formats:
            written.append(files.save(figure, folder / f"{name}.{kind}"))
    return written


Draw = Callable[[Any], Any]
Plot = tuple[str, tuple[float, float], Draw]


def _of_results(tree: Any) -> list[Plot]:
    plots: list[Plot] = []
    verification = _pick(tree, roc.NEEDS)
    if verification:
        plots += [
            ("roc", (5.6, 5.7), lambda ax: roc.roc(tree, ax)),
            ("roc-log", look.SIZE, lambda ax: roc.roc(tree, ax, log=True)),
            ("det", look.SQUARE, lambda ax: det.det(tree, ax)),
        ]
        plots += [
            (_name("error-rates", system), look.SIZE, _bind(error_rates.error_rates, system))
            for system in verification
        ]
    open_set = _pick(tree, dir_far.NEEDS)
    if open_set:
        plots += [
            ("dir-far", look.SIZE, lambda ax: dir_far.dir_far(tree, ax)),
            ("dir-far-log", look.SIZE, lambda ax: dir_far.dir_far(tree, ax, log=True)),
        ]
        plots += [
            (_name("dir-surface", system), (7.0, 4.8), _bind(dir_surface.dir_surface, system))
            for system in open_set
        ]
    if _pick(tree, cmc.NEEDS) or _pick(tree, cmc.NEEDS_REID):
        plots.append(("cmc", look.SIZE, lambda ax: cmc.cmc(tree, ax)))
    return plots


def _of_scores(scores: Any) -> list[Plot]:
    if scores is None:
        return []
    given = dict(scores) if isinstance(scores, Mapping) else {"": scores}
    plots: list[Plot] = []
    for name, one in given.items():
        if not isinstance(one, Scores):
            raise DataError(f"scores is {type(one).__name__}; expected Scores, a mapping, or None")
        if isinstance(one, TopKScores):
            continue  # no matrix, and no scores of its own
        system = System(str(name), xr.Dataset())
        if one.kind != "order":
            plots.append(
                (
                    _name("score-distributions", system),
                    look.SIZE,
                    partial(distributions.score_distributions, one),
                )
            )
        if not isinstance(one, PairScores):
            plots.append(
                (
                    _name("matrix", system),
                    (6.6, 6.2),
                    partial(matrix.matrix, one),
                )
            )
    return plots


def _pick(tree: Any, needs: Mapping[str, Sequence[str]]) -> list[System]:
    """Return what a plot would draw; nothing where the tree has nothing for it."""
    if isinstance(tree, Mapping) and not isinstance(tree, (xr.Dataset, xr.DataTree)):
        return [
            System(", ".join(filter(None, (str(name), system.name))), system.dataset)
            for name, one in tree.items()
            for system in _pick(one, needs)
        ]
    try:
        return pick(tree, "save_all", needs)
    except DataError:
        return []


def _bind(function: Callable[..., Any], system: System) -> Draw:
    given = {system.name: system.dataset} if system.name else system.dataset
    return lambda ax: function(given, ax)


def _name(stem: str, system: System) -> str:
    """Return the name of a file: letters, digits, dots and hyphens only."""
    tail = re.sub(r"[^\w.]+", "-", system.name).strip("-.")
    return f"{stem}-{tail}" if tail else stem

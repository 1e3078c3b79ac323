"""Plots: ``be.plot.roc(result)`` and its companions, one function per plot.

Each takes a result (or several by name) and ``ax=None``, and returns a display object that holds
the arrays and has ``ax_`` and ``figure_``. Matplotlib is loaded with the first one used. Scores are
counted here, by way of :mod:`bioeval.evaluation`: the displays themselves compute nothing.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bioeval.views.plots.registry import PLOTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bioeval.mot.timeline import *  # noqa: F403
    from bioeval.scores.matrix import Scores
    from bioeval.views.plots.attacks import *  # noqa: F403
    from bioeval.views.plots.calibration import *  # noqa: F403
    from bioeval.views.plots.curve_plots import *  # noqa: F403
    from bioeval.views.plots.folds import *  # noqa: F403
    from bioeval.views.plots.over_time import *  # noqa: F403
    from bioeval.views.plots.ranks import *  # noqa: F403
    from bioeval.views.plots.rates import *  # noqa: F403
    from bioeval.views.plots.save import ImageFormat, save as save
    from bioeval.views.plots.score_plots import (
        MatrixDisplay as MatrixDisplay,
        RankedListsDisplay as RankedListsDisplay,
        RowWalkDisplay as RowWalkDisplay,
        ScoreDistributionsDisplay as ScoreDistributionsDisplay,
        row_walk as row_walk,
    )
    from bioeval.views.plots.subjects import *  # noqa: F403
    from bioeval.views.plots.worst_pairs import (
        WorstPairsDisplay as WorstPairsDisplay,
        worst_pairs as worst_pairs,
    )

_HOMES = {name: plot.home for name, plot in PLOTS.items()}
_HOMES |= {plot.display: plot.home for plot in PLOTS.values()}
_HOMES |= {"save": "bioeval.views.plots.save"}

__all__ = [*_HOMES, "save_all"]


def _of_name(name: str) -> Any:
    if name not in _HOMES:
        from bioeval.base.errors import nearest_name

        raise AttributeError(f"bioeval.plot has no {name!r}.{nearest_name(name, __all__)}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # which would take every name
    __getattr__ = _of_name


def __dir__() -> list[str]:
    return sorted(__all__)


def score_distributions(
    data: Any,
    ax: Axes | None = None,
    *,
    thresholds: float | Sequence[float] | Mapping[str, float] | None = None,
    log: bool = False,
    **style: Any,
) -> ScoreDistributionsDisplay:
    """Draw how genuine and impostor scores are distributed.

    Parameters
    ----------
    data : Scores, Tally, or mapping of str to either
        Scores are counted in one sweep in blocks of rows, however large the matrix. A tally must
        hold ``verification/single``.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    thresholds : float, sequence of float, or mapping of str to float, optional
        Thresholds to mark, with their names.
    log : bool
        Whether the axis of the density is logarithmic, which shows the tails.
    **style
        Properties of the outlines; ``name`` labels a single system.

    Returns
    -------
    ScoreDistributionsDisplay
        With ``genuine`` and ``impostor`` (edges, counts and density), ``ax_`` and ``figure_``.

    Notes
    -----
    Every comparison of two templates is a score (single-template verification). Each density is
    over the attempts of its own class: the areas are 1, however many more impostor scores there
    are. Counts in bins are exact.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.score_distributions(be.simulate(20, 4), thresholds={"vendor": 5.0})
    >>> int(display.impostor[""].counts.sum())
    6080
    """
    from bioeval.evaluation.plotted_scores import histograms_of
    from bioeval.views.plots.score_plots import ScoreDistributionsDisplay

    display = ScoreDistributionsDisplay.from_results(histograms_of(data))
    return display.plot(ax, thresholds=thresholds, log=log, **style)


def matrix(
    scores: Scores, ax: Axes | None = None, *, pixels: int = 600, **style: Any
) -> MatrixDisplay:
    """Draw the matrix of scores, probes and gallery sorted by subject.

    Parameters
    ----------
    scores : Scores
        Read once, in blocks of rows.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    pixels : int
        The largest number of pixels a side. Of a larger matrix each pixel is the mean of a block.
    **style
        Properties of the image, such as ``vmin=0``; ``name`` names it in the title.

    Returns
    -------
    MatrixDisplay
        With ``image``, ``state``, ``rows``, ``columns``, ``ax_``, ``figure_`` and ``image_``.

    Notes
    -----
    Dark is close, for distances and for similarities. Cells that are not compared (a template with
    itself, masked cells) and failed comparisons (NaN) have colours of their own and enter no mean.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.matrix(be.simulate(20, 4))
    >>> display.image.shape
    (80, 80)
    """
    from bioeval.evaluation.plotted_scores import matrix_image
    from bioeval.views.plots.score_plots import MatrixDisplay

    return MatrixDisplay.from_results(matrix_image(scores, pixels)).plot(ax, **style)


def ranked_lists(
    scores: Scores,
    ax: Axes | None = None,
    *,
    thresholds: Sequence[float],
    convention: Any = "market1501",
    budget: int | None = None,
    queries: Sequence[str] | None = None,
    **style: Any,
) -> RankedListsDisplay:
    """Draw the ranked lists of a few queries, with what each threshold retrieves.

    Parameters
    ----------
    scores : Scores
        At most 30 queries against a gallery; the nearest 40 entries of each are drawn.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    thresholds : increasing sequence of float
        Of distances that are not normalised; similarities are negated.
    convention, budget
        As for :func:`bioeval.gom`.
    queries : sequence of str, optional
        Names of the queries.
    **style
        Properties of the boxes; ``name`` names the system.

    Returns
    -------
    RankedListsDisplay
        With ``match``, ``within``, ``words``, ``ax_`` and ``figure_``.

    Notes
    -----
    Beside each list stand its average precision, and RP, VP and ReP at each threshold; of a query
    whose identity is not in the gallery, FR. The picture is that of Figure 2 of arXiv:2011.11506.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0.1, 0.2, 0.4, 0.7, 0.8], [0.4, 0.7, 0.75, 0.8, 0.9]]
    >>> display = be.plot.ranked_lists(
    ...     be.Scores(d, [1, 9], [1, 1, 1, 2, 3]), thresholds=[0.3, 0.6], convention="vehicleid")
    >>> display.words[0]
    ['AP 1.00', 'RP 1.00 VP 0.67 ReP 0.82', 'RP 1.00 VP 1.00 ReP 1.00']
    """
    from bioeval.evaluation.plotted_scores import ranked_lists as lists
    from bioeval.views.plots.score_plots import RankedListsDisplay

    display = RankedListsDisplay.from_results(lists(scores, thresholds, convention, budget))
    return display.plot(ax, queries=queries, **style)


def save_all(
    tree: Any,
    scores: Any,
    directory: str | os.PathLike[str],
    formats: Sequence[ImageFormat] = ("png",),
) -> list[Path]:
    """Write every plot that a result supports to a folder.

    Parameters
    ----------
    tree : DataTree, Dataset, or mapping of str to either
        A result of :func:`bioeval.evaluate` or of a single task.
    scores : Scores, mapping of str to Scores, or None
        For the plots of the scores themselves; None leaves them out.
    directory : path
        Created if it does not exist.
    formats : sequence of {"png", "pdf", "svg"}

    Returns
    -------
    list of Path
        The files written, each named after its plot, such as ``roc`` and ``roc-log``: one for
        every plot whose result is given. A plot in which no rate is defined is left out. The name
        of a plot of one system ends in the system's.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 4)
    >>> be.plot.save_all(be.evaluate(scores), scores, "plots")  # doctest: +SKIP
    """
    from bioeval.evaluation.plotted_scores import plotted
    from bioeval.views.plots import save as files

    return files.save_all(tree, plotted(scores), directory, formats)

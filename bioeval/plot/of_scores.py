"""Plots that count first, by :mod:`bioeval.tasks`: of scores, and of a whole result."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bioeval.plot.files import ImageFormat
    from bioeval.plot.score_plots import MatrixDisplay, ScoreDistributionsDisplay
    from bioeval.scores.matrix import Scores


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
    data : Scores, or mapping of str to Scores
        They are counted in one pass in blocks of rows, however large the matrix.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    thresholds : float, sequence of float, or mapping of str to float, optional
        Thresholds to mark, with their names; at most 30.
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
    from bioeval.plot.score_plots import ScoreDistributionsDisplay
    from bioeval.tasks.plotted_scores import histograms_of

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
    from bioeval.plot.score_plots import MatrixDisplay
    from bioeval.tasks.plotted_scores import matrix_image

    return MatrixDisplay.from_results(matrix_image(scores, pixels)).plot(ax, **style)


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
    from bioeval.plot import files
    from bioeval.tasks.plotted_scores import plotted

    return files.save_all(tree, plotted(scores), directory, formats)

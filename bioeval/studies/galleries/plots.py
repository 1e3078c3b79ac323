"""Rates against the templates of a subject, and the subjects of a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.document import Term, say
from bioeval.results import percent
from bioeval.views.plots import (
    Curve,
    CurvesDisplay,
    CurveSpec,
    Style,
    System,
)


def _templates_curve(system: System, x: str, y: str, name: str) -> Curve:
    if y != "frr_at_far":
        return Curve.of(system, x, y, name)
    targets = system.dataset["far_target"].values
    target = float(targets[np.argmin(np.abs(np.log10(np.maximum(targets, 1e-9)) + 2))])
    one = replace(system, dataset=system.dataset.sel(far_target=target))
    at = percent(target, ".3g")
    made = Curve.of(one, x, y, f"{name} {at}")
    return replace(made, system=system, word=say("{frr} at {far} {target}", target=at))


def _templates_limits(display: CurvesDisplay) -> dict[str, Any]:
    highest = max((np.nanmax(curve.y) for curve in display.defined), default=1.0)
    sizes = np.concatenate([curve.x for curve in display.curves.values()])
    display._rank_axis(int(sizes.max()), False)
    display._in_per_cent(display.ax_.yaxis)
    return {"ylim": (0.0, 1.08 * max(highest, 1e-9))}


def _templates_details(systems: Sequence[System]) -> list[str]:
    used, means = [], "means over all choices of templates"
    for system in systems:
        used.append(f"{float(system.dataset['threshold_used']):.6g}")
        if "frr_se" in system.dataset:
            means = "means over drawn galleries"
    return [f"one threshold for all numbers of templates: {', '.join(used)}", means]


class GalleryTemplatesDisplay(CurvesDisplay):
    """Curves of rates; ``x`` of a curve is the number of templates of each subject."""

    spec = CurveSpec(
        "gallery_templates",
        say("{frr} and {far}"),
        "gallery_templates",
        {
            "frr_at_threshold": say("{frr}, one threshold"),
            "far_at_threshold": say("{far}, one threshold"),
            "frr_at_far": say("{frr} at {far}"),
        },
        "Templates of each subject in the gallery",
        "Error rate",
        terms=("", ("frr", "far")),
        marked=True,
        curve=_templates_curve,
        limits=_templates_limits,
        details=_templates_details,
    )

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of one result, or of several by name; rates are of verification."""
        systems = []
        for system in System.pick(data, cls.spec.plot):
            verification = system.dataset.drop_vars(["dir", "cms"], errors="ignore")
            systems.append(replace(system, dataset=verification))
        return cls(cls.spec.curves_of(systems))


def gallery_templates(data: Any, ax: Axes | None = None, **style: Any) -> GalleryTemplatesDisplay:
    """Draw FRR and FAR against the number of templates that each subject has in the gallery.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.gallery_templates`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    GalleryTemplatesDisplay
        With ``curves``, ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    At one threshold FRR falls and FAR rises. At equal FAR, that of the result which is nearest to
    1 %, each number of templates has its own threshold: there is what the templates are worth.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.gallery_templates(be.gallery_templates(be.simulate(20, 4), [1, 2, 4]))
    >>> list(display.curves)
    ['FRR, one threshold', 'FAR, one threshold', 'FRR at FAR 1 %']
    """
    return GalleryTemplatesDisplay.from_results(data).plot(ax, **style)


# Line styles without the dotted one, which is for extrapolation.
DASHES = (0, 1, 3, 6)


class GallerySizeDisplay(CurvesDisplay):
    """Curves over gallery sizes; ``x`` of a curve is the size and ``y`` is CMS at one rank.

    Attributes
    ----------
    ranks : dict of str to int
        The rank of each curve.
    """

    ranks: dict[str, int]
    spec = CurveSpec(
        "gallery_size",
        Term("cms"),
        "gallery_size",
        {"cms": ""},
        "Subjects in the gallery, N",
        y_label=say("{Cumulative match score, cms}"),
        terms=("ISO: gallery size N", ("cms",)),
    )

    @classmethod
    def from_results(cls, data: Any, ranks: Sequence[int] = CurveSpec.RANKS) -> Self:
        """Take the curves over gallery sizes of one result, or of several by name."""
        curves = cls.spec.curves_at(System.pick(data, "gallery_size"), ranks)
        dashed, display_ranks = [], {}
        for curve, rank in curves:
            dashed.append(replace(curve, dash=DASHES[curve.dash % len(DASHES)]))
            display_ranks[curve.name] = rank
        display = cls(dashed)
        display.ranks = display_ranks
        return display

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves. See :func:`gallery_size`."""
        ax = self._start(ax, name, style)
        lowest, exact_up_to = 1.0, set()
        details = ["means over all galleries of N subjects; the rank counts subjects"]
        for curve in self.defined:
            dataset = curve.system.dataset
            if "cms_by_gallery" in dataset:
                galleries = dataset["cms_by_gallery"].sel(rank=self.ranks[curve.name]).values
                lowest = min(lowest, self._sampled(curve, curve.x, galleries))
                details[1:] = [f"thin lines: {len(galleries):,} galleries drawn at random"]
            exact = int((~dataset["extrapolated"].values.astype(bool)).sum())
            line = {"drawstyle": "default", **style}
            self._line(curve, curve.x[:exact], curve.y[:exact], line, marked=True)
            if exact < len(curve.x):
                self._extrapolated(curve, exact)
                exact_up_to.add(int(dataset.attrs["exact_up_to"]))
            lowest = float(np.nanmin(curve.y, initial=lowest))
        sizes = np.concatenate([curve.x for curve in self.curves.values()])
        self._rank_axis(int(sizes.max()), True, float(sizes.min()))
        if not self.lines_:
            lowest = 0.0
        details += filter(None, [self._rates_from(lowest)])
        if len(exact_up_to) == 1:
            (end,) = exact_up_to
            ax.axvline(end, color=Style.rule, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
            self._note(f"data end: {end:,}", (end, 0), (3, 6), va="bottom")
        if exact_up_to:
            details.append("dotted, hollow: extrapolated by a beta-binomial model")
        return self._finish(details=lambda _: details)

    def _extrapolated(self, curve: Curve, exact: int) -> None:
        """Draw the modelled part, hollow and dotted, after the last exact point."""
        start = max(exact - 1, 0)
        x, y = curve.x[start:], curve.y[start:]
        marks = {"marker": "o", "markersize": 3.6, "markerfacecolor": "white"}
        marks["markevery"] = list(range(exact - start, len(x)))
        colour = Style.colour(curve.hue, curve.shade)
        self._reference(x, y, color=colour, linewidth=1.1, zorder=1.9, **marks)


def gallery_size(
    data: Any, ax: Axes | None = None, *, ranks: Sequence[int] = CurveSpec.RANKS, **style: Any
) -> GallerySizeDisplay:
    """Draw CMS against the number of subjects in the gallery.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.gallery_size`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    ranks : sequence of int
        One curve each. Of the default ones, those that the result has.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    GallerySizeDisplay
        With ``curves`` (named ``"rank 1"`` ..., after the system's name where there are several),
        ``ax_``, ``figure_`` and ``lines_`` (of the exact parts).

    Notes
    -----
    Up to the number of subjects in the data, points are exact means over all smaller galleries;
    beyond, they come from the model that the result names, and are drawn hollow on dotted lines.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.gallery_size(be.gallery_size(be.simulate(20, 4), [2, 5, 20, 50]))
    >>> list(display.curves)
    ['rank 1', 'rank 5', 'rank 10']
    """
    return GallerySizeDisplay.from_results(data, ranks).plot(ax, **style)

"""GOM: mReP and mFR against the threshold, one panel above the other."""

from __future__ import annotations

from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import counted
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import agreed, scalar
from bioeval.views.plots.curves import Captions, CurvesDisplay, curve_of, numbered
from bioeval.views.plots.select_datasets import pick

#: Width and height of a figure of its own.
_SIZE = (6.4, 6.8)


class _Panel(CurvesDisplay):
    """Curves over the thresholds, on one of the two pairs of axes."""

    def _draw(self, ax: Axes, name: str | None, style: dict[str, Any]) -> None:
        """Draw the lines between the points, and the bands."""
        self._start(ax, name)
        self._lines(style)
        ax.set_ylim(-0.015, 1.015)


class GomDisplay(_Panel):
    """Curves of GOM; ``x`` of a curve is the threshold and ``y`` is mReP.

    Attributes
    ----------
    false_rate : a display
        The curves of mFR, with axes of its own below those of mReP.
    """

    false_rate: _Panel

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        systems = pick(data, "gom")
        display = cls(numbered([curve_of(system, "threshold", "mrep") for system in systems]))
        display.false_rate = _Panel(
            numbered([curve_of(system, "threshold", "mfr") for system in systems])
        )
        return display

    @property
    def why_empty(self) -> str:
        """Why there is neither mReP nor mFR; empty where one of them is drawn."""
        return "" if self.false_rate.defined else super().why_empty

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the curves. See :func:`gom`."""
        panels: dict[str, tuple[_Panel, str, float]] = {
            "mReP": (self, "Mean re-ID precision, mReP", 0.9),
            "mFR": (self.false_rate, "Mean false rate, mFR", 0.5),
        }
        shown = [word for word, (panel, *_) in panels.items() if panel.defined] or ["mReP"]
        first = look.axes_for(ax, _SIZE if len(shown) > 1 else look.SIZE)
        self._axes(first)
        normalized = agreed(self.systems, "normalised_span") != "1.0"
        x = "Threshold τ" + (", distances scaled to 0 ... 1" if normalized else "")
        details = _details(self, [super().why_empty, self.false_rate.why_empty])
        for place, word in zip(look.stacked(first, len(shown)), shown, strict=True):
            panel, y, at = panels[word]
            panel._draw(place, name, style)
            if panel is self:
                self._mark_largest()
            above = word == shown[0] and (" and ".join(shown), details)
            title, lines = above or ("", ())
            lowest = word == shown[-1]
            panel._finish(Captions(title, x if lowest else "", y, details=lines, at=at))
            place.tick_params(labelbottom=lowest)
        return self

    def _mark_largest(self) -> None:
        """Draw a dot at the largest mReP of each system."""
        for curve in self.defined:
            dataset, colour = curve.system.dataset, self.lines_[curve.name].get_color()
            top = scalar(dataset, "tau_max"), scalar(dataset, "max_mrep")
            self.ax_.plot(*top, "o", markersize=4, color=colour, zorder=4)


def _details(display: GomDisplay, lacking: list[str]) -> list[str]:
    """Return the convention and the numbers of queries, as far as all systems agree."""
    said = [
        agreed(display.systems, "convention"),
        agreed(display.systems, "budget", "B = {}"),
        "" if agreed(display.systems, "variant") != "reference" else "as the authors' program",
    ]
    queries = {
        (int(s.dataset["queries"]), int(s.dataset["open_queries"]))
        for s in display.systems
        if "open_queries" in s.dataset
    }
    if len(queries) == 1:
        ranked, absent = queries.pop()
        said.append(f"mReP over {counted(ranked, 'queries')}, mFR over {absent:,}")
    dots = "dots: largest mReP, at tau_max" if display.defined else ""
    return ["; ".join(filter(None, said)), dots, *lacking]


def gom(data: Any, ax: Axes | Figure | None = None, **style: Any) -> GomDisplay:
    """Draw mReP and mFR against the threshold: the figure of GOM.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.gom`, :func:`bioeval.gom_from_curves`, or
        :func:`bioeval.evaluate` under a card with ``[gom]``; or several by name.
    ax : matplotlib Axes, optional
        Whose place is divided into two; that of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    GomDisplay
        With ``curves`` (of mReP) and ``false_rate.curves`` (of mFR), ``ax_`` and
        ``false_rate.ax_``, ``figure_`` and ``lines_``. A panel in which no system has values is
        left out, and the lines below the title say why.

    Notes
    -----
    A good system has a high mReP over a wide range of thresholds, at which mFR is still low. The
    dot is the largest mReP, at ``tau_max``. Bands are the intervals at each threshold by itself,
    where the result has them. Figure 3 of Wang and others (arXiv:2011.11506, 2020).

    Examples
    --------
    >>> import bioeval as be
    >>> a = be.gom_from_curves([0, 0.5, 1], mrep=[0, 0.6, 0.4], mfr=[0, 0.2, 1])
    >>> b = be.gom_from_curves([0, 0.5, 1], mrep=[0, 0.7, 0.5], mfr=[0, 0.1, 1])
    >>> list(be.plot.gom({"old": a, "new": b}).curves)
    ['old', 'new']
    """
    return GomDisplay.from_results(data).plot(ax, **style)

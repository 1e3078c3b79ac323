"""The base of all displays: where a plot was drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bioeval.views.plots import style as look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Display:
    """The arrays of a plot, with the axes and the figure where they were drawn last."""

    ax_: Axes
    figure_: Figure

    def _axes(self, ax: Axes | Figure | None, size: tuple[float, float] = look.SIZE) -> Axes:
        """Begin a drawing in `ax`, in a figure, or in a new figure of this size."""
        self.ax_ = look.axes_for(ax, size)
        self.figure_ = look.figure_of(self.ax_)
        return self.ax_

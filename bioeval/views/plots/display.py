"""Base class of displays: the arrays and axes of a plot."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from typing import Any, Self

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.panels import panel
from bioeval.views.plots import style as look
from bioeval.views.plots.select_datasets import as_plot_text, pick_one


class Display:
    """The arrays of a plot, with the axes and the figure of its last drawing."""

    ax_: Axes
    figure_: Figure

    _why = ""

    @property
    def why_empty(self) -> str:
        """Why there is nothing to draw; empty if there is something."""
        return self._why

    def _repr_html_(self) -> str:
        rows = [("systems", ", ".join(getattr(self, "curves", {})))]
        figure = getattr(self, "figure_", None)
        if figure is None:
            return panel(type(self).__name__, [*rows, ("drawn", "not yet: .plot()")])
        return panel(type(self).__name__, rows, picture_of(figure))

    def _axes(self, ax: Axes | Figure | None, size: tuple[float, float] = look.SIZE) -> Axes:
        """Begin a drawing in `ax`, in a figure, or in a new figure of this size."""
        self.ax_ = look.axes_for(ax, size)
        self.figure_ = look.figure_of(self.ax_)
        return self.ax_


class OneResultDisplay(Display):
    """A display of one result."""

    _plot = ""  # the public function

    def __init__(self, dataset: xr.Dataset):
        self._dataset = dataset

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the one result in `data` that the plot draws."""
        return cls(pick_one(data, cls._plot).dataset)

    def _titled(self, title: str, name: str | None, lines: Iterable[str]) -> None:
        """Write the title with the given name of the system, or its own."""
        name = name or as_plot_text(self._dataset.attrs.get("system", ""))
        look.titled(self.ax_, f"{title}: {name}" if name else title, lines)


def picture_of(figure: Figure) -> str:
    """Return a figure as part of a page; nothing where pyplot shows the figure."""
    import matplotlib.pyplot as plt

    if plt.fignum_exists(getattr(figure, "number", None) or -1):
        return ""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=72)
    data = base64.b64encode(picture.getvalue()).decode()
    return f'<img alt="The plot" style="max-width:100%" src="data:image/png;base64,{data}">'

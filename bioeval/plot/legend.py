"""The legend of a plot: below its axes where the figure makes room for it, else inside them."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.legend import Legend

from bioeval.plot.plot_style import (
    Style,
    axes_size,
    figure_of,
    folded,
    laid_out_size,
    legend_place,
    text_width,
)

# By the size of the type: mean width of a letter; the line beside a name, and the gap to the next
# column.
_LETTER, _MARGIN = 0.53, 5.6
# Points that a legend below leaves to its axes, unless it takes at most a third; in flat figures.
_LEAST, _LEAST_FLAT = 85.0, 50.0


def name_in_legend(artist: Artist, text: str) -> None:
    """Give an artist its name in the legend; an artist without a text has none."""
    if text.startswith("_"):  # matplotlib would leave it out
        text = f" {text}"
    artist.set_label(text or "_nolegend_")


def draw_legend(ax: Axes, *, x_label: bool = True) -> Legend | None:
    """Name the labelled artists of axes in a legend, in the order in which they were drawn.

    It is below the axes, in as many columns as have room, if the figure has a layout engine, which
    makes room for it, and the axes stay high enough; else in the emptiest corner of the axes.
    Without an `x_label` it is nearer to the axes.
    """
    artists, texts = ax.get_legend_handles_labels()
    if not artists:
        return None
    size = Style.look.legend
    if Style.look.width is None:
        width, high = axes_size(ax)
        letters = max(16, int((width - _MARGIN * size) / (_LETTER * size)))
        texts = [textwrap.fill(text, letters, break_on_hyphens=False) for text in texts]
    else:
        width, high = laid_out_size(ax)
        texts = ["\n".join(folded(text, width - _MARGIN * size, size)) for text in texts]
    style: dict[str, Any] = {
        "alignment": "left",
        "borderpad": 0.1,
        "columnspacing": 1.6,
        "edgecolor": "none",
        "facecolor": "white",
        "fontsize": size,
        "framealpha": 0.8,
        "handlelength": 3.2,  # two gaps of a dash show beside a marker
        "handletextpad": 0.7,
        "labelcolor": Style.text,
        "labelspacing": 0.35,
    }
    figure = figure_of(ax)
    if figure.get_layout_engine() is not None:
        if Style.look.width is None:
            longest = max(len(line) for text in texts for line in text.splitlines())
            columns = max(1, min(len(texts), int(width / ((longest * _LETTER + _MARGIN) * size))))
        else:
            columns = _most_columns(texts, width, size)
        legend = ax.legend(
            artists,
            texts,
            loc="upper left",
            bbox_to_anchor=(0, 0),
            bbox_transform=legend_place(ax, x_label),
            borderaxespad=0.0,
            ncols=columns,
            **style,
        )
        left = axes_size(ax)[1]
        least = _LEAST_FLAT if Style.look.is_flat else _LEAST
        if left >= least or left >= 2 * (high - left):
            return legend
    return ax.legend(artists, texts, loc="best", borderaxespad=0.4, **style)


def _most_columns(texts: list[str], width: float, size: float) -> int:
    """Return how many columns of a legend fit into a width, in points, at a size of letters."""
    widths = []
    for text in texts:
        widths.append(max(text_width(line, size) for line in text.splitlines()))
    for columns in range(len(texts), 1, -1):
        # As matplotlib fills them: one after the other.
        needed = sum(max(part) for part in np.array_split(widths, columns))
        if needed + columns * _MARGIN * size <= width:
            return columns
    return 1

"""The ranked lists of a few queries, with thresholds and the measures of each query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import DataError, counted
from bioeval.results.words import threshold_text
from bioeval.views.plots import style as look
from bioeval.views.plots.display import Display

_MATCH, _OTHER = look.PALETTE[look.GENUINE], look.PALETTE[look.IMPOSTOR]


class RankedListsDisplay(Display):
    """The lists of a few queries, nearest first.

    Attributes
    ----------
    match : int array, shape (queries, places)
        1 for a match, 0 for another entry, -1 beyond the list.
    within : int array, shape (queries, thresholds)
        Number of entries within each threshold.
    words : list of list of str
        The measures of each query: over the whole list, and at each threshold.
    """

    def __init__(self, dataset: xr.Dataset):
        self._dataset = dataset
        self.match = dataset["match"].values
        sign = -1 if dataset.attrs["kind"] != "distance" else 1
        self.thresholds = dataset["threshold"].values  # of distances
        score = sign * dataset["entry_score"].values
        self.within = (score[:, :, None] <= self.thresholds).sum(axis=1)
        self.words = [self._measures(dataset.isel(probe=i)) for i in range(len(self.match))]

    @classmethod
    def from_results(cls, data: xr.Dataset) -> Self:
        """Take the lists of some queries."""
        return cls(data)

    @staticmethod
    def _measures(one: xr.Dataset) -> list[str]:
        found = float(one["average_precision"])
        if np.isnan(found):
            return ["-", *(f"FR {float(x):.2f}" for x in one["fr"].values)]
        at = zip(*(one[name].values.tolist() for name in ("rp", "vp", "rep")), strict=True)
        return [f"AP {found:.2f}", *(f"RP {a:.2f} VP {b:.2f} ReP {c:.2f}" for a, b, c in at)]

    def plot(
        self,
        ax: Axes | Figure | None = None,
        *,
        name: str | None = None,
        queries: Sequence[str] | None = None,
        **style: Any,
    ) -> Self:
        """Draw the lists. See :func:`bioeval.plot.ranked_lists`."""
        rows, places = self.match.shape
        ax = self._axes(ax, (0.42 * places + 1.9 * len(self.words[0]) + 0.8, 0.42 * rows + 1.4))
        for i, j in zip(*np.nonzero(self.match >= 0), strict=True):
            own = self.match[i, j] == 1
            box = {
                "facecolor": _MATCH if own else "white",
                "edgecolor": _MATCH if own else _OTHER,
                "linewidth": 1.4,
                **style,
            }
            ax.add_patch(Rectangle((j + 0.58, i - 0.36), 0.84, 0.72, **box))
            ax.text(j + 1, i, "+" if own else "-", ha="center", va="center",
                    color="white" if own else _OTHER, fontsize=look.LABEL_SIZE)  # fmt: skip
        for k in range(len(self.thresholds)):
            for i, end in enumerate(self.within[:, k]):
                ax.plot([end + 0.5] * 2, [i - 0.46, i + 0.46], color=look.TEXT, linewidth=1.6,
                        linestyle=look.dash(k), zorder=3)  # fmt: skip
        self._write(ax, places)
        ax.set_xlim(0.4, places + 1.0 + 4.6 * len(self.words[0]))
        ax.set_ylim(rows - 0.4, -0.9)
        ax.set_xticks(np.arange(1, places + 1))
        shown = (
            [f"query {i}" for i in range(rows)]
            if queries is None
            else require_list("queries", queries)
        )
        for word in shown:
            require_text("queries", word)
        if len(shown) != rows:
            raise DataError(
                f"queries has {counted(len(shown), 'names')} for {rows:,} queries; expected a name "
                "for each"
            )
        ax.set_yticks(np.arange(rows), shown)
        ax.set_xlabel("Rank k", fontsize=look.LABEL_SIZE, loc="left")
        ax.grid(visible=False)
        for side in ax.spines.values():
            side.set_visible(False)
        name = name or str(self._dataset.attrs["system"])
        lines = ["filled: a match; bars: entries that each threshold retrieves"]
        look.titled(ax, f"Ranked lists: {name}" if name else "Ranked lists", lines)
        return self

    def _write(self, ax: Axes, places: int) -> None:
        """Write the measures beside the lists, under what they are over."""
        heads = ["whole list", *(f"at {threshold_text(x)}" for x in self.thresholds)]
        for column, head in enumerate(heads):
            x = places + 1.0 + (0 if column == 0 else 2.4 + 5.2 * (column - 1))
            ax.text(x, -0.7, head, fontsize=look.SMALL_SIZE, color=look.QUIET, va="center")
            for i, words in enumerate(self.words):
                ax.text(x, i, words[column], fontsize=look.SMALL_SIZE, color=look.TEXT, va="center")

"""The rates of each group of subjects."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, to_rgba
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from bioeval.base.errors import short_name
from bioeval.document.results import rule_of
from bioeval.document.text import Text, say
from bioeval.plot.display import OneResultDisplay
from bioeval.plot.plot_style import LETTER, Style, note, room
from bioeval.plot.systems import as_plot_text
from bioeval.results.words import percent

# Most groups that are named; of more, some are.
NAMED = 40

# Colours of a FAR of 0 and of one that is not defined.
ZERO, UNDEFINED = "#f7f7f7", "#d4d4d4"


class GroupsDisplay(OneResultDisplay):
    """FRR of each group with its interval, and FAR of each pair of groups.

    Attributes
    ----------
    groups : list
    frr : ndarray, shape (groups,)
    far : ndarray, shape (groups, groups)
        By the group of the probe and that of the claimed subject.
    far_ax_ : Axes
        The axes of FAR, to the right of those of FRR, or below them.
    image_ : AxesImage or None
        FAR of pairs of groups as it was drawn last.
    """

    far_ax_: Axes
    image_: AxesImage | None = None
    _plot = "groups"

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        super().__init__(dataset, name)
        self.groups = dataset["group"].values.tolist()
        self.frr, self.far = dataset["frr"].values, dataset["far"].values

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw both panels. See :func:`groups`."""
        high = float(np.clip(2.4 + 0.42 * len(self.groups), 3.4, 11.0))
        narrow = Style.look.is_narrow
        left = self._begin(ax, style, (5.0, 1.6 * high) if narrow else (10.4, high))
        right = self._beside(2, 1) if narrow else self._beside(1, 2, width_ratios=(1, 1.15))
        self.far_ax_ = right
        self._rates(left, style)
        self._pairs(right)
        rule = say("at {rule}", rule=rule_of(self._dataset.attrs))
        flagged = self._dataset["frr_flagged"].values.any()
        caption: list[Text] = [rule, "hollow: few people or errors" if flagged else ""]
        label = self._named(say("{False reject rate, frr}"), "frr")
        self._finish(self._title(say("{frr} by group"), name), caption, label)
        starred = self._fills_cells and self._dataset["far_flagged"].values.any()
        about = ["*: few people or errors" if starred else ""]
        if not self._fills_cells and not (self.far > 0).all():
            about.append("white: 0; grey: not defined")
        unit = " (%)" if self._fills_cells else ""
        labels = "Group of the claimed subject", "" if not narrow else "Group of the probe"
        self._finish(say("{far} by pair of groups{unit}", unit=unit), about, *labels, right)
        return self

    @property
    def _fills_cells(self) -> bool:
        """Whether cells have room for their numbers."""
        return len(self.groups) <= (10 if Style.look.width is None else 5)

    def _rates(self, ax: Axes, style: dict[str, Any]) -> None:
        """Draw FRR of each group, from top to bottom."""
        ds, places = self._dataset, np.arange(len(self.groups))
        flagged, colour = ds["frr_flagged"].values.astype(bool), Style.colour(Style.hues["frr"])
        if "frr_low" in ds:
            ax.hlines(places, ds["frr_low"], ds["frr_high"], color=colour, linewidth=1.6, zorder=2)
        for members, face in ((~flagged, colour), (flagged, "white")):
            how: dict[str, Any] = {"color": colour, "markerfacecolor": face, "markersize": 6.5}
            ax.plot(self.frr[members], places[members], "o", **{"zorder": 3, **how, **style})
        overall = float(ds["frr_overall"])
        ax.set_xlim(0, 1.06 * ax.get_xlim()[1])
        ax.set_ylim(len(places) - 0.5, -0.5)
        if overall == overall:
            ax.axvline(overall, color=Style.rule, linewidth=0.8, linestyle=":", zorder=1)
            away, side = (-4, "right") if overall > 0.6 * ax.get_xlim()[1] else (4, "left")
            text = f"all: {percent(overall, 'fine')}"
            note(ax, text, (overall, 1), (away, -2), va="top", ha=side)
        self._in_per_cent(ax.xaxis)
        self._name_groups(ax, [f" ({number:,})" for number in ds["subjects"].values.tolist()])

    def _pairs(self, ax: Axes) -> None:
        """Draw FAR of each pair of groups, logarithmic; 0 and undefined rates differ."""
        ax.grid(False)
        far = self.far
        positive = far[far > 0]
        low, high = (positive.min(), positive.max()) if len(positive) else (1.0, 1.0)
        norm = LogNorm(low / 1.5, high * 1.5) if low == high else LogNorm(low, high)
        colours = ScalarMappable(norm, "cividis")
        picture = np.asarray(colours.to_rgba(np.where(far > 0, far, low)))
        picture[far == 0], picture[np.isnan(far)] = to_rgba(ZERO), to_rgba(UNDEFINED)
        self.image_ = ax.imshow(picture, aspect="auto", interpolation="nearest")
        if self._fills_cells:
            starred = self._dataset["far_flagged"].values
            for (i, j), rate in np.ndenumerate(far):
                text = percent(rate, "fine").removesuffix(" %") if rate else "0"
                text = f"{text}{'*' * starred[i, j]}" if rate == rate else "n/a"
                colour = "white" if picture[i, j, :3].mean() < 0.55 else Style.text
                how: dict[str, Any] = {"color": colour, "fontsize": Style.look.small}
                ax.text(j, i, text, ha="center", va="center", **how)
        elif len(positive):
            bar = self.figure_.colorbar(colours, ax=ax, pad=0.02, aspect=30)
            bar.ax.tick_params(labelsize=Style.look.small, labelcolor=Style.text)
            bar.outline.set_visible(False)
            self._in_per_cent(bar.ax.yaxis)
            bar.ax.yaxis.set_minor_formatter("")
            if high < 10 * low:  # no power of ten may be inside
                bar.set_ticks([low, (low * high) ** 0.5, high])
        self._name_groups(ax)

    def _name_groups(self, ax: Axes, people: list[str] | None = None) -> None:
        """Name the groups beside FRR with their people, and below FAR."""
        longest = 14 if Style.look.width else 24
        letters = min(max(len(str(x)) for x in self.groups), longest)
        # The title takes some, and the names below FAR as much as they are long.
        high = 0.75 * room(ax)[1] - letters * LETTER * Style.look.small
        every = -(-len(self.groups) // max(min(int(high / (1.25 * Style.look.small)), NAMED), 1))
        shown = range(0, len(self.groups), every)
        names = [as_plot_text(short_name(str(self.groups[i]), longest)) for i in shown]
        ax.tick_params(length=0)
        if people is not None:
            ax.set_yticks(shown, [name + people[i] for name, i in zip(names, shown, strict=True)])
            return
        ax.set_yticks(shown, names if Style.look.is_narrow else [""] * len(names))
        ax.set_xticks(shown, names)
        cell = room(ax)[0] / len(names) - 4
        if max(map(len, names)) * LETTER * Style.look.small > cell:
            ax.tick_params(axis="x", labelrotation=90)


def groups(data: Any, ax: Axes | Figure | None = None, **style: Any) -> GroupsDisplay:
    """Draw rates by group: FRR of each group beside FAR of each pair of groups.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.by_group`.
    ax : matplotlib Axes, optional
        Whose place is divided into two; that of a new figure unless given.
    **style
        Properties of the points of FRR; ``name`` names the system in the title.

    Returns
    -------
    GroupsDisplay
        With ``groups``, ``frr``, ``far``, ``ax_`` and ``far_ax_``, ``figure_`` and ``image_``.

    Notes
    -----
    Groups are in the order of their names, with their subjects in brackets, never in that of their
    rates. Hollow points and asterisks mark rates that rest on fewer than 30 subjects or 30 expected
    errors. FAR is on a logarithmic scale of colours; cells of 0 are white, undefined ones grey.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(80, 4, random_state=1)
    >>> display = be.plot.groups(be.by_group(scores, [s % 2 for s in scores.probe_labels]))
    >>> display.groups
    [0, 1]
    """
    return GroupsDisplay.from_results(data).plot(ax, **style)

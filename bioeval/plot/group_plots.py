"""The rates of each group of subjects."""

from __future__ import annotations

import math
import textwrap
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
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import as_plot_text
from bioeval.results.words import percent

# Most groups whose cells hold a number, and whose names are written.
NUMBERED, NAMED = 10, 40

# The same in figures of a style: in flat ones, and (cells) in those of a column; most groups whose
# names have two lines, and whose numbers have a sign of per cent.
NUMBERED_FLAT, NAMED_FLAT, NUMBERED_NARROW = 4, 12, 5
TWO_LINES, SIGNED = 5, 3


# Points above the left panel for the rate of all.
_ABOVE = 12.0


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
        The axes of FAR, to the right of those of FRR.
    image_ : AxesImage or None
        FAR of pairs of groups as it was drawn last.
    """

    far_ax_: Axes
    image_: AxesImage | None = None
    _numbers_groups = (
        False  # whether groups are named by numbers on the right, explained on the left
    )
    _plot = "groups"

    def __init__(self, dataset: xr.Dataset):
        super().__init__(dataset)
        self.groups = dataset["group"].values.tolist()
        self.frr, self.far = dataset["frr"].values, dataset["far"].values

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw both panels. See :func:`groups`."""
        number = len(self.groups)
        high = float(np.clip(2.2 + 0.42 * number, 3.4, 11.0))
        narrow = Style.look.is_narrow
        left = self._axes(ax, (5.0, 1.6 * high) if narrow else (10.4, high), style)
        place = left.get_subplotspec()
        if place is None:
            x, y, wide, tall = left.get_position().bounds
            left.set_position((x, y, 0.4 * wide, tall))
            right = self._more_axes((x + 0.52 * wide, y, 0.48 * wide, tall))
        else:
            parts = place.subgridspec(1, 2, width_ratios=(1, 1.5 if Style.look.is_flat else 1.15))
            if narrow:
                parts = place.subgridspec(2, 1)
            left.set_subplotspec(parts[0])
            right = self._more_axes(parts[1])
        self.far_ax_ = right
        lines = self._about_pairs()
        system = as_plot_text(name or self._dataset.attrs.get("system", "") or "")
        self._numbers_groups = self._is_headed and self._has_long_names()
        self._numbers_groups &= number > TWO_LINES or not narrow
        if self._is_headed:
            both: list[Text] = [*self._over(), *lines]
            if Style.look.is_narrow:
                both.insert(0, say("above {frr}; below {far} (%)"))
            self._titled(say("{frr} and {far} by group"), system, both)
        else:
            self._titled(say("{frr} by group"), system, self._over(), gap=_ABOVE)
            self._titled(say("{far} by pair of groups"), None, lines, right)
        self._rates(left, style)
        self._pairs()
        self._label_right(right)
        self._labelled(say("{False reject rate, frr}"), "", self._other("frr"), ax=left)
        self._label_right(right)  # again, in the height that the labels on the left leave
        return self

    def _label_right(self, ax: Axes) -> None:
        """Label the axes of FAR."""
        self._labelled("Group of the claimed subject", "Group of the probe", ax=ax)

    @property
    def _fills_cells(self) -> bool:
        """Whether cells have room for their numbers."""
        most = NUMBERED
        if Style.look.is_flat:
            most = NUMBERED_FLAT
        elif Style.look.is_narrow:
            most = NUMBERED_NARROW
        return len(self.groups) <= most

    def _about_pairs(self) -> list[str]:
        """Return the lines on FAR of pairs: flags, and colours without a rate."""
        lines = []
        if self._fills_cells and self._dataset["far_flagged"].values.any():
            lines.append("*: flagged, too few subjects or expected errors")
        colours = []
        if (self.far == 0).any():
            colours.append("white: 0")
        if np.isnan(self.far).any():
            colours.append("grey: not defined")
        if colours:
            lines.append("; ".join(colours))
        return lines

    def _over(self) -> list[Text]:
        """Return the lines below the title: threshold, intervals and flags."""
        attrs = self._dataset.attrs
        chosen = " of all groups, chosen on these data"
        if str(attrs.get("chosen_on", "")) == "given":
            chosen = ""
        lines: list[Text] = [say("at {rule}{chosen}", rule=rule_of(attrs), chosen=chosen)]
        if "interval_method" in attrs:
            lines.append(f"{100 * attrs['confidence']:g} % intervals, {attrs['interval_method']}")
        if self._dataset["frr_flagged"].values.any():
            lines.append("hollow: flagged, too few subjects or expected errors to be ranked")
        return lines

    def _rates(self, ax: Axes, style: dict[str, Any]) -> None:
        """Draw FRR of each group, from top to bottom."""
        ds, places = self._dataset, np.arange(len(self.groups))
        flagged, values = ds["frr_flagged"].values.astype(bool), self.frr
        colour = Style.colour(Style.hues["frr"])
        if "frr_low" in ds:
            low, high = ds["frr_low"].values, ds["frr_high"].values
            ax.hlines(places, low, high, color=colour, linewidth=1.6, zorder=2)
        for members, face in ((~flagged, colour), (flagged, "white")):
            properties: dict[str, Any] = {"color": colour, "markersize": 6.5, "zorder": 3}
            properties |= {"markerfacecolor": face, **style}
            ax.plot(values[members], places[members], "o", **properties)
        overall = float(ds["frr_overall"])
        if overall == overall:
            ax.axvline(overall, color=Style.rule, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        ax.set_ylim(len(self.groups) - 0.5, -0.5)
        most = np.nanmax([*values, *ds.get("frr_high", ds["frr"]).values, 1e-6])
        ax.set_xlim(-0.02 * most, 1.05 * most)
        if overall == overall:
            away, side = 3, "left"
            if overall > 0.7 * most:
                away, side = -3, "right"
            text = f"all: {percent(overall, 'fine')}"
            self._note(text, (overall, 1), (away, 2), ax, va="bottom", ha=side)
        self._in_per_cent(ax.xaxis)
        self._name_groups(ax, subjects=True)

    def _pairs(self) -> None:
        """Draw FAR of each pair of groups, logarithmic; 0 and undefined rates differ."""
        ax, ds, far = self.far_ax_, self._dataset, self.far
        ax.grid(False)
        positive = far[far > 0]
        low = high = 1.0
        if len(positive):
            low, high = float(positive.min()), float(positive.max())
        norm = LogNorm(low / 1.5, high * 1.5) if low == high else LogNorm(low, high)
        colours = ScalarMappable(norm, "cividis")
        picture = np.empty((*far.shape, 4))
        picture[:] = colours.to_rgba(np.where(far > 0, far, low))
        for cells, colour in ((far == 0, ZERO), (np.isnan(far), UNDEFINED)):
            picture[cells] = to_rgba(colour)
        self.image_ = ax.imshow(picture, aspect="auto", interpolation="nearest")
        if self._fills_cells:
            sign = Style.look.width is None or len(self.groups) <= SIGNED
            self._rates_in_cells(ax, far, picture, ds["far_flagged"].values, sign)
        if len(positive) and not (Style.look.is_narrow and self._fills_cells):
            label, term = say("{False accept rate, far}"), self._other("far")
            if self._is_headed:  # the axes may be too low for more
                label, term = say("{far}"), ""
            bar = self._colour_bar(colours, ax, label, term)
            self._in_per_cent(bar.ax.yaxis)
            bar.ax.yaxis.set_minor_formatter(lambda value, _: "")
            if high < 10 * low:  # no power of ten may be inside
                bar.set_ticks([low, (low * high) ** 0.5, high])
                bar.ax.minorticks_off()
        self._name_groups(ax)

    def _has_long_names(self) -> bool:
        """Whether the names of all groups are too long to stand below the right panel."""
        size = Style.look.tick
        names = [as_plot_text(short_name(str(group), 36)) for group in self.groups]
        width = sum(self._text_width(name, size) + size for name in names)
        return width > 0.3 * 72 * self.figure_.get_size_inches()[0]

    def _name_groups(self, ax: Axes, subjects: bool = False) -> None:
        """Name the groups along the axes of FAR, or beside FRR with their subjects."""
        number = len(self.groups)
        named = NAMED_FLAT if Style.look.is_flat else NAMED
        two_lines = NUMBERED if Style.look.width is None else TWO_LINES
        every = -(-number // named)
        shown = np.arange(0, number, every)
        # In two lines where there is room for them.
        most = 36 if number <= two_lines else 18
        names = []
        width = 0
        people = self._dataset["subjects"].values
        for i in shown:
            name = as_plot_text(short_name(str(self.groups[i]), most))
            if number <= two_lines or Style.look.width is None:
                name = textwrap.fill(name, 18, break_on_hyphens=False)
            width += max(map(len, name.split("\n")))
            if subjects:
                name = f"{name} ({people[i]:,})"
            if self._numbers_groups:
                name = f"{i + 1}: {name}" if subjects else f"{i + 1}"
            names.append(name)
        ax.set_yticks(shown, names)
        ax.tick_params(axis="y", length=0)
        if not subjects:
            ax.set_xticks(shown, names)
            ax.tick_params(axis="x", length=0)
            if self._is_headed and not Style.look.is_narrow:  # they stand on the left
                ax.set_yticklabels([])
            # Beside each other where each word has the width of its cell.
            cell = self._laid_out_size(ax)[0] / max(number, 1) - 4
            words = " ".join(names).split()
            if Style.look.width is None:
                turned = width > 48
            else:
                turned = any(self._text_width(x, Style.look.tick) > cell for x in words)
            if self._numbers_groups:
                wide = self._text_width(names[-1], Style.look.tick) + 4
                step = math.ceil(wide / max(every * (cell + 4), 1))
                ax.set_xticks(shown[::step], names[::step])
            elif turned:
                ax.tick_params(axis="x", labelrotation=90)
            elif Style.look.width is not None:
                size = Style.look.tick
                ax.set_xticklabels(["\n".join(self._folded(x, cell, size)) for x in names])


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
    errors. FAR is on a logarithmic scale of colours; 0 and undefined cells have their own. On a
    slide, long names are numbers beside FAR, which those beside FRR explain.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(80, 4, random_state=1)
    >>> display = be.plot.groups(be.by_group(scores, [s % 2 for s in scores.probe_labels]))
    >>> display.groups
    [0, 1]
    """
    return GroupsDisplay.from_results(data).plot(ax, **style)

"""Rates over time, and the ageing of templates, in panels one below another."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure

from bioeval.base import counted
from bioeval.document import Text, say
from bioeval.views.plots import (
    OneResultDisplay,
    Style,
)

# Width of a figure, height of a panel, and of everything around them, in inches.
_WIDE, _PANEL, _AROUND = 6.4, 1.75, 1.5

# Dates at ticks that are years, months, days, hours, minutes or seconds apart, and the letters of
# the longest that is usual.
_DATES = ["%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%d %H:%M", "%H:%M", "%H:%M:%S"]
_LETTERS = 10

# Of these rates, beside those of identification.
_CLAIMS = "verification"
_FRR = say("{False reject rate, frr}", task=_CLAIMS)
_FAR = say("{False accept rate, far}", task=_CLAIMS)
_IDENTIFICATION = {
    "dir": say("{dir}", task="identification"),
    "cms": say("{cms}, no threshold", task="identification"),
}


class _Panels(OneResultDisplay):
    """Bins of a result as steps, in panels that share the axis of bins.

    - `edges`: the edges of the bins, dates as matplotlib's numbers
    - `axes_` (list of Axes): the panels drawn last, from the top
    """

    axes_: list[Axes]
    _lowest: list[Axes]
    _over = ""  # the dimension of the bins

    def __init__(self, dataset: xr.Dataset):
        super().__init__(dataset)
        edges = np.append(dataset[self._over].values, dataset[f"{self._over}_end"].values[-1:])
        self.dated = edges.dtype.kind == "M"
        self.edges = date2num(edges) if self.dated else edges.astype(np.float64)

    def _start(self, ax: Axes | Figure | None, panels: int, style: dict[str, Any]) -> None:
        """Prepare axes over the bins."""
        self._axes(ax, (_WIDE, _AROUND + panels * _PANEL), style)
        self.axes_, self._lowest = self._panels(panels)
        for ax_ in self.axes_:
            ax_.tick_params(labelbottom=ax_ in self._lowest)
        if self.dated:
            most = int(self._axes_size()[0] / (0.65 * _LETTERS * Style.look.tick))
            locator = AutoDateLocator(minticks=2, maxticks=max(most, 3))
            axis = self.axes_[0].xaxis  # all panels share it
            axis.set_major_locator(locator)
            formats = dict.fromkeys(("formats", "zero_formats"), _DATES)
            axis.set_major_formatter(ConciseDateFormatter(locator, **formats, show_offset=False))
        self.axes_[0].set_xlim(self.edges[0], self.edges[-1])

    def _steps(
        self, ax: Axes, values: Any, hue: int, band: tuple[Any, Any] | None = None, **style: Any
    ) -> None:
        """Draw the value of each bin over its width, with a band from low to high."""
        properties = {"color": Style.colour(hue), "linestyle": Style.dash(hue), **style}
        properties = {"linewidth": 1.6, **properties}
        if band is not None:
            low, high = band
            ax.fill_between(
                self.edges,
                np.append(low, low[-1:]),
                np.append(high, high[-1:]),
                step="post",
                color=properties["color"],
                alpha=0.16,
                linewidth=0,
            )
        ax.stairs(np.asarray(values), self.edges, baseline=None, **properties)
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        ax.plot(middle, values, "o", markersize=3.2, color=properties["color"])

    def _rate(self, ax: Axes, name: str, label: Text, hue: int, style: dict[str, Any]) -> None:
        """Draw a rate with its interval, from 0 on, in per cent."""
        ds = self._dataset
        self._steps(ax, ds[name].values, hue, _band(ds, name), **style)
        ax.set_ylim(bottom=0, top=max(ax.get_ylim()[1], 1e-9))
        self._in_per_cent(ax.yaxis)
        self._labelled("", label, ax=ax)

    def _undefined(self, *names: str) -> list[str]:
        """Return the rates of the result that have no panel, since no bin has a value."""
        ds = self._dataset
        return [name for name in names if name in ds and np.isnan(ds[name].values).all()]

    def _title(self, title: str, name: str | None, lines: list[Text], of: Text = "") -> None:
        attrs = self._dataset.attrs
        for rate in self._undefined("frr", "far"):
            undefined = say("{rate:term} is not defined in any bin", rate=rate, task=_CLAIMS)
            lines.append(undefined)
        if "interval_method" in attrs:
            lines.append(self._band_in_words(attrs, "in each bin alone", of))
        self._titled(title, name, lines)

    def _threshold(self) -> str:
        """Return the threshold in words."""
        value, attrs = float(self._dataset["threshold"]), self._dataset.attrs
        where = ""
        if attrs["chosen_on"] != "given":
            where = f" ({attrs['threshold_rule']}, all data)"
        return f"threshold {value:.6g}{where}"


def _band(dataset: xr.Dataset, name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the confidence limits of a rate in each bin, if the result has them."""
    if f"{name}_low" not in dataset:
        return None
    return dataset[f"{name}_low"].values, dataset[f"{name}_high"].values


class OverTimeDisplay(_Panels):
    """FRR, FAR, identification, and the subjects enrolled, over time."""

    _plot, _over = "over_time", "time"

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the panels. See :func:`over_time`."""
        ds = self._dataset
        identifies = "dir" in ds
        rates = {"frr": _FRR, "far": _FAR}
        for rate in self._undefined("frr", "far"):
            del rates[rate]
        self._start(ax, len(rates) + identifies + 1, style)
        probes = counted(int(ds["probes"].sum()), "probes")
        genuine = int(ds["genuine_attempts"].sum())
        impostor = int(ds["impostor_attempts"].sum())
        lines: list[Text] = [
            f"{probes}: {genuine:,} genuine and {counted(impostor, 'impostor attempts')}",
            self._threshold(),
        ]
        if identifies and self._is_headed:  # the panel has no room for a legend
            for rate, text in _IDENTIFICATION.items():
                lines.append(
                    say("{dash}: {rate}", dash=Style.dash_words(Style.hues[rate]), rate=text)
                )
        self._title("Rates over time", name, lines)
        for place, (rate, label) in zip(self.axes_, rates.items(), strict=False):
            self._rate(place, rate, label, Style.hues[rate], style)
        if identifies:
            self._identification(self.axes_[len(rates)], style)
        last = self.axes_[-1]
        self._steps(last, ds["gallery_subjects"].values, 0, **{"color": Style.text, **style})
        last.set_ylim(bottom=0)
        self._labelled("Time at which the probe was seen", "Subjects enrolled", ax=last)
        self.figure_.align_ylabels(self.axes_)
        return self

    def _identification(self, ax: Axes, style: dict[str, Any]) -> None:
        """Draw DIR and CMS over time."""
        ds = self._dataset
        rank = int(ds["rank"].values[0])
        at_rank, lowest = ds.sel(rank=rank), 1.0
        for name, text in _IDENTIFICATION.items():
            values, band = at_rank[name].values, _band(at_rank, name)
            label = self._write(text)
            self._steps(ax, values, Style.hues[name], band, label=label, **style)
            lowest = float(np.nanmin(values, initial=lowest))
            if band is not None:
                lowest = float(np.nanmin(band[0], initial=lowest))
        self._rates_from(lowest, ax)
        self._in_per_cent(ax.yaxis)
        if not self._is_headed:
            self._legend(ax, x_label=False)
        self._labelled("", f"Rank {rank}", ax=ax)


class AgeingDisplay(_Panels):
    """Genuine scores and FRR by the age of the template."""

    _plot, _over = "ageing", "age"

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the panels. See :func:`ageing`."""
        ds = self._dataset
        defined = not self._undefined("frr")
        self._start(ax, 1 + defined, style)
        above, below = self.axes_[0], self.axes_[-1]
        number = counted(int(ds["genuine_attempts"].sum()), "genuine attempts")
        low = float(ds["slope_low"])
        high = float(ds["slope_high"])
        within = float(ds["slope_within"])
        slope, intercept = float(ds["slope"]), float(ds["intercept"])
        lines: list[Text] = [
            f"{number} of {counted(int(ds['subjects']), 'subjects')}; {self._threshold()}",
            f"line: slope {slope:.3g} [{low:.3g}, {high:.3g}]; within subjects {within:.3g}",
        ]
        above_it = "scores: " if defined else ""
        lines.append(f"{above_it}mean, with a band of one standard deviation")
        self._title("Ageing of templates", name, lines, say(" of {frr}", task=_CLAIMS))
        mean, spread = ds["genuine_mean"].values, ds["genuine_sd"].values
        self._steps(above, mean, 0, (mean - spread, mean + spread), **style)
        if np.isfinite(slope):
            above.axline((0, intercept), slope=slope, color=Style.text, linewidth=1.2)
        unit = " (days)" if ds.attrs["age_unit"] == "days" else ""
        age = f"Age of the template{unit}"
        if defined:
            self._labelled(age if above in self._lowest else "", "Genuine score", ax=above)
        label: Text = "Genuine score"
        if defined:
            label = _FRR
            self._rate(below, "frr", label, Style.hues["frr"], style)
        self._labelled(age, label, ax=below)
        self.figure_.align_ylabels(self.axes_)
        return self


def over_time(data: Any, ax: Axes | Figure | None = None, **style: Any) -> OverTimeDisplay:
    """Draw rates over time: FRR, FAR, DIR and CMS at the first rank, and the subjects enrolled.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.over_time`.
    ax : matplotlib Axes, optional
        Whose place is divided into panels; that of a new figure unless given.
    **style
        Properties of the lines; ``name`` is written in the title.

    Returns
    -------
    OverTimeDisplay
        With ``edges`` of the bins, ``axes_`` (the panels from the top), ``ax_`` and ``figure_``.

    Examples
    --------
    >>> import numpy as np, bioeval as be
    >>> scores = be.simulate(20, 4, random_state=1)
    >>> seen = {"seen_at": np.arange(80)}
    >>> ds = be.over_time(be.Scores(scores.values, scores.probe_labels, probe_meta=seen), 4)
    >>> len(be.plot.over_time(ds).axes_)
    4
    """
    return OverTimeDisplay.from_results(data).plot(ax, **style)


def ageing(data: Any, ax: Axes | Figure | None = None, **style: Any) -> AgeingDisplay:
    """Draw the ageing of templates: genuine scores and FRR by the age of the template.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.ageing`.
    ax : matplotlib Axes, optional
        Whose place is divided into two panels; that of a new figure unless given.
    **style
        Properties of the lines; ``name`` is written in the title.

    Returns
    -------
    AgeingDisplay
        With ``edges`` of the bins, ``axes_``, ``ax_`` and ``figure_``.

    Notes
    -----
    The band of the scores is one standard deviation around their mean; the line is that of least
    squares over all pairs.

    Examples
    --------
    >>> import numpy as np, bioeval as be
    >>> scores = be.simulate(20, 4, random_state=1)
    >>> meta = {"seen_at": np.arange(80), "enrolled_at": np.arange(80)}
    >>> ds = be.ageing(be.Scores(scores.values, scores.probe_labels, probe_meta=meta), 3)
    >>> len(be.plot.ageing(ds).axes_)
    2
    """
    return AgeingDisplay.from_results(data).plot(ax, **style)

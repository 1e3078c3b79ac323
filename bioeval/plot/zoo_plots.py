"""The zoo: each subject by its mean genuine and its mean impostor score."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from bioeval.base.errors import counted
from bioeval.base.kinds import LARGER_IS_CLOSER, noun_of
from bioeval.plot.display import OneResultDisplay
from bioeval.plot.plot_style import Style, note
from bioeval.plot.systems import as_plot_text
from bioeval.studies.zoo.results import ANIMALS, NAMED, NO_ANIMAL, highest_rates, number_of_best

# With more subjects, smaller points.
_MANY = 300

_MARKERS = {NO_ANIMAL: "o", "dove": "o", "worm": "s", "chameleon": "^", "phantom": "D"}


class ZooDisplay(OneResultDisplay):
    """Subjects in the plane of genuine and impostor means.

    `limits` are the means where the best end and where the worst begin, of genuine and of impostor
    scores. The `worst`, whose `labels_` have their names, are the subjects with the highest FRR,
    then those with the highest FAR by probe and by claim, each the worst first.
    """

    labels_: list[Annotation]
    _plot = "zoo"

    def __init__(self, dataset: xr.Dataset, name: str = ""):
        super().__init__(dataset, name)
        self.genuine = dataset["genuine_mean"].values
        self.impostor = dataset["impostor_mean"].values
        self.animals = dataset["animal_of_subject"].values.astype(str)
        self._there = ~(np.isnan(self.genuine) | np.isnan(self.impostor))
        worst = list[int]()
        for errors in ("fr", "fa_as_probe", "fa_as_claimed"):
            rates = dataset[f"{errors[0]}{errors[1]}r{errors[2:]}"].values
            worst += highest_rates(dataset[errors].values, rates, NAMED)
        self.worst = [i for i in dict.fromkeys(worst) if self._there[i]]
        self._better = 1 if str(dataset.attrs["kind"]) in LARGER_IS_CLOSER else -1
        best = number_of_best(float(dataset.attrs["quantile"]), int(self._there.sum()))
        of_genuine = _limits(self.genuine[self._there], self._better, best)
        of_impostor = _limits(self.impostor[self._there], -self._better, best)
        self.limits = np.array([of_genuine, of_impostor])
        if not self._there.any():
            self._why = "No subject has both genuine and impostor attempts"

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the subjects. See :func:`zoo`."""
        ax, ds = self._begin(ax, style, (6.4, 5.6)), self._dataset
        counts = dict(zip(ds["animal"].values.tolist(), ds["animal_count"].values, strict=True))
        size = 24 if self._there.sum() <= _MANY else 9
        for number, (animal, marker) in enumerate(_MARKERS.items()):
            members = self._there & (self.animals == animal)
            colour = Style.colour(number - 1) if number else Style.rule
            how: dict[str, Any] = {"s": size, "color": colour, "marker": marker, "linewidth": 0}
            ax.scatter(self.genuine[members], self.impostor[members], **{**how, **style})
        for limits, line in zip(self.limits, (ax.axvline, ax.axhline), strict=True):
            for at in limits[np.isfinite(limits)]:
                line(at, color=Style.rule, linewidth=0.8, linestyle="--", zorder=1)
        ax.margins(0.12)
        for animal, (by_genuine, by_impostor) in ANIMALS.items():
            right = (by_genuine == "best") == (self._better > 0)
            top = (by_impostor == "best") == (self._better < 0)
            how = {"color": Style.text, "fontweight": "bold"}
            how |= {"xycoords": "axes fraction", **_towards(not right, not top)}
            step = -6 if right else 6, -6 if top else 6
            note(ax, f"{animal}s {counts[animal]}", (float(right), float(top)), step, **how)
        if self.why_empty:
            ax.text(0.5, 0.5, self.why_empty, transform=ax.transAxes, ha="center")
        caption = [
            counted(int(self._there.sum()), "subjects"),
            f"dashed: best and worst {100 * float(ds.attrs['quantile']):g} %",
            "named: highest error rates" if self.worst else "",
        ]
        noun = noun_of(str(ds.attrs["kind"]))
        better, worse = ("larger", "smaller") if self._better > 0 else ("smaller", "larger")
        x, y = f"genuine {noun} ({better} is better)", f"impostor {noun} ({worse} is better)"
        self._finish(
            self._title("Mean scores of each subject", name), caption, f"Mean {x}", f"Mean {y}"
        )
        self._name_worst(ax)
        return self

    def _name_worst(self, ax: Axes) -> None:
        """Circle the worst subjects, and write their names beside them.

        Names lie towards the middle of the axes, and off the nearest other name, above or below.
        """
        x, y = self.genuine[self.worst], self.impostor[self.worst]
        ax.scatter(x, y, s=46, facecolors="none", edgecolors=Style.text, linewidth=1.0, zorder=4)
        ax.autoscale_view()
        places = ax.transLimits.transform(np.column_stack([x, y]))  # of the axes, from 0 to 1
        self.labels_ = []
        for k, i in enumerate(self.worst):
            apart = np.hypot(*(places - places[k]).T)
            apart[k] = np.inf
            other = int(np.argmin(apart))
            left, below = bool(places[k, 0] > 0.5), bool((y[k], k) < (y[other], other))
            step = -5 if left else 5, -5 if below else 5
            name = as_plot_text(self._dataset["subject"].values[i].item())
            how: dict[str, Any] = {"xycoords": "data", "color": Style.text, "zorder": 5}
            side = _towards(not left, not below)
            self.labels_.append(note(ax, name, (x[k], y[k]), step, **how, **side))


def _towards(right: bool, up: bool) -> dict[str, str]:
    """Return the alignment of a text that lies to this side of its place."""
    return {"ha": "left" if right else "right", "va": "bottom" if up else "top"}


def _limits(values: np.ndarray, better: int, best: int) -> tuple[float, float]:
    """Return values halfway between the best and the others, and the others and the worst."""
    if not best:
        return np.nan, np.nan
    ordered = np.append(-better * np.sort(-better * values), np.nan)  # from best to worst
    after = np.array([best, len(values) - best])
    first, last = (ordered[after - 1] / 2 + ordered[after] / 2).tolist()
    return first, last


def zoo(data: Any, ax: Axes | None = None, **style: Any) -> ZooDisplay:
    """Draw each subject by its mean genuine and mean impostor score, and name the animals.

    The plot of Yager and Dunstone (2010), "The biometric menagerie", IEEE TPAMI 32(2). Subjects
    outside the dashed lines on both axes are animals; `docs/who-fails.md` says what each means.
    Named are the three subjects with the highest rates of each kind of error.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.zoo`.
    ax, **style
        As for :func:`bioeval.plot.roc`; properties are of the points.
    """
    return ZooDisplay.from_results(data).plot(ax, **style)

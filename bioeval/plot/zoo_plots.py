"""Subjects: the zoo with its animals, and how unequally errors are shared."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from bioeval.base.arguments import require_integer
from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.plot.display import Display
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System, as_plot_text
from bioeval.studies.zoo.results import (
    ANIMALS,
    NAMED,
    NO_ANIMAL,
    most_errors,
    number_of_best,
)

_SIZE = (6.4, 5.6)

# With more subjects, smaller points.
_MANY = 300

_MARKERS = {"dove": "o", "worm": "s", "chameleon": "^", "phantom": "D", NO_ANIMAL: "o"}


class ZooDisplay(Display):
    """Subjects in the plane of genuine and impostor means.

    Attributes
    ----------
    genuine, impostor : ndarray of float, shape (subjects,)
        The two means of each subject.
    animals : ndarray of str, shape (subjects,)
    worst : list of int
        Subjects that are named: those with most false rejects, then those with most false accepts
        by probe and by claim, each the worst first.
    limits : ndarray, shape (2, 2)
        Of genuine and impostor means, where the best end and where the worst begin.
    labels_ : list of Annotation
        The names of the worst.
    """

    labels_: list[Annotation]

    def __init__(self, system: System, worst: int):
        """Take the means of a result, and find the `worst` subjects of each kind of error."""
        ds = system.dataset
        self.system = system
        worst = require_integer("worst", worst, low=0)
        self.genuine, self.impostor = ds["genuine_mean"].values, ds["impostor_mean"].values
        self.animals = ds["animal_of_subject"].values.astype(str)
        there = ~(np.isnan(self.genuine) | np.isnan(self.impostor))
        named = [
            i
            for kind in ("fr", "fa_as_probe", "fa_as_claimed")
            for i in most_errors(ds[kind].values, worst)
        ]
        self.worst = [i for i in dict.fromkeys(named) if there[i]]
        self.better = 1 if larger_is_closer(str(ds.attrs["kind"])) else -1
        best = number_of_best(float(ds.attrs["quantile"]), int(there.sum()))
        of_genuine = _limits(self.genuine[there], self.better, best)
        self.limits = np.array([of_genuine, _limits(self.impostor[there], -self.better, best)])

    @classmethod
    def from_results(cls, data: Any, worst: int = NAMED) -> Self:
        """Take the means of a result."""
        (system,) = System.pick(data, "zoo", single=True)
        return cls(system, worst)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the subjects. See :func:`zoo`."""
        ax = self._axes(ax, _SIZE, style)
        ds = self.system.dataset
        kind = str(ds.attrs["kind"])
        counts = dict(zip(ds["animal"].values.tolist(), ds["animal_count"].values, strict=True))
        there = ~(np.isnan(self.genuine) | np.isnan(self.impostor))
        size = 24 if there.sum() <= _MANY else 9
        for number, animal in enumerate([NO_ANIMAL, *ANIMALS]):
            members = there & (self.animals == animal)
            colour = Style.rule if animal == NO_ANIMAL else Style.colour(number - 1)
            properties = {
                "s": size,
                "color": colour,
                "marker": _MARKERS[animal],
                "linewidth": 0,
                **style,
            }
            ax.scatter(self.genuine[members], self.impostor[members], **properties)
        for limits, line in ((self.limits[0], ax.axvline), (self.limits[1], ax.axhline)):
            for at in limits[np.isfinite(limits)]:
                line(at, color=Style.rule, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        ax.margins(0.12)
        for number, animal in enumerate(ANIMALS):
            self._name_corner(animal, f"{animal}s {counts[animal]}", Style.colour(number))
        better, worse = ("larger", "smaller") if self.better > 0 else ("smaller", "larger")
        details = [
            f"{counted(int(there.sum()), 'subjects')}; dashed: best and worst "
            f"{100 * float(ds.attrs['quantile']):g} % on each axis"
        ]
        if self.worst:
            details.append(
                f"named: most errors of each kind at threshold {float(ds['threshold']):.6g}"
            )
        if not there.any():
            self._empty("No subject has both genuine and impostor attempts")
        if name is None:
            name = self.system.name
        self._titled("Zoo" if name else "Zoo of subjects", name, details)
        self._labelled(
            f"Mean genuine {noun_of(kind)} ({better} is better)",
            f"Mean impostor {noun_of(kind)} ({worse} is better)",
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
            left, below = places[k, 0] > 0.5, (y[k], k) < (y[other], other)
            name = as_plot_text(self.system.dataset["subject"].values[i].item())
            label = self._note(
                name,
                (x[k], y[k]),
                (-5 if left else 5, -5 if below else 5),
                xycoords="data",
                ha="right" if left else "left",
                va="top" if below else "bottom",
                color=Style.text,
                zorder=5,
            )
            self.labels_.append(label)

    def _name_corner(self, animal: str, text: str, colour: Any) -> None:
        """Write the name of an animal in its corner of the axes."""
        by_genuine, by_impostor = ANIMALS[animal]
        right = (by_genuine == "best") == (self.better > 0)
        top = (by_impostor == "best") == (self.better < 0)
        self._note(
            text,
            (float(right), float(top)),
            (-6 if right else 6, -6 if top else 6),
            xycoords="axes fraction",
            ha="right" if right else "left",
            va="top" if top else "bottom",
            color=Style.ink(colour),
            fontweight="bold",
        )


def _limits(values: np.ndarray, better: int, best: int) -> tuple[float, float]:
    """Return values halfway between the best and the others, and the others and the worst."""
    if not best:
        return np.nan, np.nan
    ordered = np.append(-better * np.sort(-better * values), np.nan)  # from best to worst
    after = np.array([best, len(values) - best])
    first, last = (ordered[after - 1] / 2 + ordered[after] / 2).tolist()
    return first, last


def zoo(data: Any, ax: Axes | None = None, *, worst: int = NAMED, **style: Any) -> ZooDisplay:
    """Draw each subject by its mean genuine and mean impostor score, and name the animals.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.zoo`.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    worst : int
        How many subjects with the most errors of each kind are named: false rejects, and false
        accepts by the subject of the probe and by the claimed one.
    **style
        Properties of the points; ``name`` names the system in the title.

    Returns
    -------
    ZooDisplay
        With ``genuine``, ``impostor``, ``animals``, ``limits``, ``worst``, ``ax_``, ``figure_``.

    Notes
    -----
    The plot of Yager and Dunstone (2010), "The biometric menagerie", IEEE TPAMI 32(2). Subjects
    outside the dashed lines on both axes are animals; `docs/who-fails.md` says what each means.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.zoo(be.zoo(be.simulate(20, 4)), worst=2)
    >>> len(display.worst), len(display.genuine)
    (4, 20)
    """
    return ZooDisplay.from_results(data, worst).plot(ax, **style)

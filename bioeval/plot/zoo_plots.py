"""Subjects: the zoo with its animals, and how unequally errors are shared."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
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
    Quantile,
    most_errors,
)

_SIZE = (6.4, 5.6)

# With more subjects, smaller points.
_MANY = 300

# Of a name, in points: how far its middle may be from its subject, and half the width of a ring.
_FAR, _RING = (15.0, 22.0, 30.0, 42.0, 56.0), 5.0

# Degrees from the direction outwards in which a name may lie, the best first.
_TURNS = (0, 30, -30, 60, -60, 90, -90, 120, -120, 150, -150, 180)

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
        best = Quantile.parse(ds.attrs["quantile"]).of(int(there.sum()))
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
        corners = []
        for number, animal in enumerate(ANIMALS):
            text = f"{animal}s {counts[animal]}"
            corners.append(self._name_corner(animal, text, Style.colour(number)))
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
        self._name_worst(ax, corners)
        return self

    def _name_worst(self, ax: Axes, corners: list[Annotation]) -> None:
        """Circle the worst subjects and write their names beside them, facing outwards.

        Names lie off each other, off rings and the words in the `corners`, and inside the axes, or
        where they cover the least of these.
        """
        x, y = self.genuine[self.worst], self.impostor[self.worst]
        ax.scatter(x, y, s=46, facecolors="none", edgecolors=Style.text, linewidth=1.0, zorder=4)
        ax.autoscale_view()
        self._laid_out_size(ax)
        size = Style.look.tick
        points = 72 / self.figure_.dpi
        place = points * ax.transData.transform(np.column_stack([x, y]))
        middle = points * ax.transAxes.transform((0.5, 0.5))
        frame = points * ax.get_window_extent().get_points()
        taken = [points * corner.get_window_extent().get_points() for corner in corners]
        for ring in place:
            taken.append(np.array([ring - _RING, ring + _RING]))
        self.labels_ = []
        for i, at in zip(self.worst, place, strict=True):
            angle = np.arctan2(*(at - middle)[::-1])
            turns = angle + np.radians(_TURNS)
            around = np.column_stack([np.cos(turns), np.sin(turns)])
            steps = np.multiply.outer(_FAR, around).reshape(-1, 2)
            name = as_plot_text(self.system.dataset["subject"].values[i].item())
            half = np.array([self._text_width(name, size) / 2 + 2, 0.65 * size])
            boxes = np.stack([at + steps - half, at + steps + half], axis=1)
            covered = (2 * half).prod() - _common(boxes, frame)  # what is outside the axes
            for box in taken:
                covered += _common(boxes, box)
            best = int(np.argmin(covered.round(3)))
            step = steps[best]
            taken.append(boxes[best])
            text = ax.annotate(
                name,
                (self.genuine[i], self.impostor[i]),
                tuple(step),
                textcoords="offset points",
                fontsize=size,
                color=Style.text,
                ha="center",
                va="center",
                zorder=5,
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
                arrowprops={"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4},
            )
            self.labels_.append(text)

    def _name_corner(self, animal: str, text: str, colour: Any) -> Annotation:
        """Write the name of an animal in its corner of the axes."""
        by_genuine, by_impostor = ANIMALS[animal]
        right = (by_genuine == "best") == (self.better > 0)
        top = (by_impostor == "best") == (self.better < 0)
        x, ha = 6, "left"
        if right:
            x, ha = -6, "right"
        y, va = 6, "bottom"
        if top:
            y, va = -6, "top"
        return self._note(
            text,
            (float(right), float(top)),
            (x, y),
            xycoords="axes fraction",
            ha=ha,
            va=va,
            color=Style.ink(colour),
            fontsize=Style.look.tick,
            fontweight="bold",
        )


def _common(boxes: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return the area that each of many boxes (their lower and upper corners) shares with one."""
    low = np.maximum(boxes[:, 0], box[0])
    high = np.minimum(boxes[:, 1], box[1])
    area: np.ndarray = np.maximum(high - low, 0.0).prod(axis=1)
    return area


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

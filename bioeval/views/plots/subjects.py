"""Subjects and groups: the zoo with its animals, and the rates of each group."""

from __future__ import annotations

import textwrap
from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation

from bioeval.base.arguments import require_integer
from bioeval.base.errors import counted, cut
from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.results.zoo import ANIMALS, NO_ANIMAL, Quantile
from bioeval.views.plots import style as look
from bioeval.views.plots.display import Display, OneResultDisplay
from bioeval.views.plots.systems import System, as_plot_text, pick_one
from bioeval.views.terms import term_translator

_SIZE = (6.4, 5.6)

# With more subjects, smaller points.
_MANY = 300

# Of a name, in points: how far from its subject, and the least distances between its middle and
# those of other names, and of rings.
_FAR, _ROOM, _RING = (15.0, 28.0, 42.0), (24.0, 11.0), (15.0, 9.0)

_MARKERS = {"dove": "o", "worm": "s", "chameleon": "^", "phantom": "D", NO_ANIMAL: "o"}


class ZooDisplay(Display):
    """Subjects in the plane of genuine and impostor means.

    Attributes
    ----------
    genuine, impostor : ndarray of float, shape (subjects,)
        The two means of each subject.
    animals : ndarray of str, shape (subjects,)
    worst : list of int
        Subjects that are named: those with the largest proportions of errors, worst first.
    limits : ndarray, shape (2, 2)
        Of genuine and impostor means, where the best end and where the worst begin.
    labels_ : list of Annotation
        The names of the worst.
    """

    labels_: list[Annotation]

    def __init__(self, system: System, worst: int):
        ds = system.dataset
        self.system = system
        worst = require_integer("worst", worst, low=0)
        self.genuine, self.impostor = ds["genuine_mean"].values, ds["impostor_mean"].values
        self.animals = ds["animal_of_subject"].values.astype(str)
        share = sum(
            np.nan_to_num(ds[name].values)
            for name in ("fr_share", "fa_share_as_probe", "fa_share_as_claimed")
        )
        order = np.argsort(-share, kind="stable")
        there = ~(np.isnan(self.genuine) | np.isnan(self.impostor))
        self.worst = [int(i) for i in order if there[i] and share[i] > 0][:worst]
        self.better = 1 if larger_is_closer(str(ds.attrs["kind"])) else -1
        best = Quantile.parse(ds.attrs["quantile"]).of(int(there.sum()))
        self.limits = np.array(
            [
                _limits(values[there], sign, best)
                for values, sign in ((self.genuine, self.better), (self.impostor, -self.better))
            ]
        )

    @classmethod
    def from_results(cls, data: Any, worst: int = 5) -> Self:
        """Take the means of a result."""
        return cls(pick_one(data, "zoo"), worst)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the subjects. See :func:`zoo`."""
        ax = self._axes(ax, _SIZE)
        ds = self.system.dataset
        kind = str(ds.attrs["kind"])
        counts = dict(zip(ds["animal"].values.tolist(), ds["animal_count"].values, strict=True))
        there = ~(np.isnan(self.genuine) | np.isnan(self.impostor))
        size = 24 if there.sum() <= _MANY else 9
        for number, animal in enumerate([NO_ANIMAL, *ANIMALS]):
            of = there & (self.animals == animal)
            colour = look.RULE if animal == NO_ANIMAL else look.colour(number - 1)
            given = {
                "s": size,
                "color": colour,
                "marker": _MARKERS[animal],
                "linewidth": 0,
                **style,
            }
            ax.scatter(self.genuine[of], self.impostor[of], **given)
        for limits, line in ((self.limits[0], ax.axvline), (self.limits[1], ax.axhline)):
            for at in limits[np.isfinite(limits)]:
                line(at, color=look.RULE, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
        ax.margins(0.12)
        for number, animal in enumerate(ANIMALS):
            self._name_corner(ax, animal, f"{animal}s {counts[animal]}", look.colour(number))
        self._name_worst(ax)
        better, worse = ("larger", "smaller") if self.better > 0 else ("smaller", "larger")
        said = [f"{counted(int(there.sum()), 'subjects')}; dashed: best and worst "
                f"{100 * float(ds.attrs['quantile']):g} % on each axis"]  # fmt: skip
        if self.worst:
            said.append(f"named: most errors at threshold {float(ds['threshold']):.6g}")
        if not there.any():
            look.empty(ax, ["No subject has both genuine and impostor attempts"])
        called = name if name is not None else self.system.name
        look.titled(ax, f"Zoo: {called}" if called else "Zoo of subjects", said)
        look.labelled(
            ax,
            f"Mean genuine {noun_of(kind)} ({better} is better)",
            f"Mean impostor {noun_of(kind)} ({worse} is better)",
        )
        return self

    def _name_worst(self, ax: Axes) -> None:
        """Circle the worst subjects and write their names beside them, facing outwards."""
        x, y = self.genuine[self.worst], self.impostor[self.worst]
        ax.scatter(x, y, s=46, facecolors="none", edgecolors=look.TEXT, linewidth=1.0, zorder=4)
        ax.autoscale_view()
        points = 72 / look.figure_of(ax).dpi
        place = points * ax.transData.transform(np.column_stack([x, y]))
        middle = points * ax.transAxes.transform((0.5, 0.5))
        taken: list[np.ndarray] = []
        self.labels_ = []
        for i, at in zip(self.worst, place, strict=True):
            angle = np.arctan2(*(at - middle)[::-1])
            turns = angle + np.radians([0, 40, -40, 80, -80, 120, -120, 160])
            around = np.column_stack([np.cos(turns), np.sin(turns)])
            steps = np.concatenate([far * around for far in _FAR])
            free = [
                all((abs(at + step - other) > _ROOM).any() for other in taken)
                and (abs(at + step - place) > _RING).any(axis=1).all()
                for step in steps
            ]
            step = steps[int(np.argmax(free))]
            taken.append(at + step)
            name = as_plot_text(self.system.dataset["subject"].values[i].item())
            text = ax.annotate(
                name, (self.genuine[i], self.impostor[i]), tuple(step),
                textcoords="offset points", fontsize=look.SMALL_SIZE + 1, color=look.TEXT,
                ha="center", va="center", zorder=5,
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
                arrowprops={"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4},
            )  # fmt: skip
            self.labels_.append(text)

    def _name_corner(self, ax: Axes, animal: str, text: str, colour: Any) -> None:
        """Write the name of an animal in its corner of the axes."""
        by_genuine, by_impostor = ANIMALS[animal]
        right = (by_genuine == "best") == (self.better > 0)
        top = (by_impostor == "best") == (self.better < 0)
        look.note(
            ax, text, (float(right), float(top)), (-6 if right else 6, -6 if top else 6),
            xycoords="axes fraction", ha="right" if right else "left",
            va="top" if top else "bottom", color=look.ink(colour), fontsize=look.SMALL_SIZE + 1,
            fontweight="bold",
        )  # fmt: skip


def _limits(values: np.ndarray, better: int, best: int) -> tuple[float, float]:
    """Return values halfway between the best and the others, and the others and the worst."""
    if not best:
        return np.nan, np.nan
    ordered = -better * np.sort(-better * values)  # from best to worst
    ends = [
        (ordered[i - 1] / 2 + ordered[i] / 2) if i < len(ordered) else np.nan
        for i in (best, len(ordered) - best)
    ]
    return float(ends[0]), float(ends[1])


def zoo(data: Any, ax: Axes | None = None, *, worst: int = 5, **style: Any) -> ZooDisplay:
    """Draw each subject by its mean genuine and mean impostor score, and name the animals.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.zoo`.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    worst : int
        How many subjects are named: those with the largest proportions of all errors.
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
    (2, 20)
    """
    return ZooDisplay.from_results(data, worst).plot(ax, **style)


# Most groups whose cells hold a number, and whose names are written.
NUMBERED, NAMED = 10, 40

# Colours of a FAR of 0 and of one that is not defined.
ZERO, UNDEFINED = "#f7f7f7", "#d4d4d4"


class GroupsDisplay(OneResultDisplay):
    """FRR of each group with its interval, and FAR of each pair of groups, or of each group.

    Attributes
    ----------
    groups : list
    frr : ndarray, shape (groups,)
    far : ndarray, shape (groups, groups) or (groups,)
        By the group of the probe and that of the claimed subject; of searches by the probe's.
    far_ax_ : Axes
        The axes of FAR, to the right of those of FRR.
    image_ : AxesImage or None
        FAR of pairs of groups as it was drawn last.
    """

    far_ax_: Axes
    image_: AxesImage | None = None
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
        left = self._axes(ax, (10.4, high))
        place = left.get_subplotspec()
        if place is None:
            x, y, wide, tall = left.get_position().bounds
            left.set_position((x, y, 0.4 * wide, tall))
            right = self.figure_.add_axes((x + 0.52 * wide, y, 0.48 * wide, tall))
        else:
            parts = place.subgridspec(1, 2, width_ratios=(1, 1.15))
            left.set_subplotspec(parts[0])
            right = left.figure.add_subplot(parts[1])
        self.far_ax_ = look.axes_for(right)
        self._rates(left, "frr", "False reject rate, FRR", style)
        translate, attrs = term_translator(self._dataset), self._dataset.attrs
        searches = self.far.ndim == 1
        if searches:
            self._rates(self.far_ax_, "far", "False accept rate, FAR", style)
        else:
            self._pairs()
        title = as_plot_text(name or attrs.get("system", "") or "")
        look.titled(
            left, translate("FRR by group" + (f": {title}" if title else "")), self._over(translate)
        )
        if searches:
            look.titled(
                right, translate("FAR by group"), ["searches without a mate in the gallery"]
            )
            return self
        flagged = number <= NUMBERED and self._dataset["far_flagged"].values.any()
        lines = ["*: flagged, too few subjects or expected errors"] if flagged else []
        apart = [("white: 0", self.far == 0), ("grey: not defined", np.isnan(self.far))]
        lines.append("; ".join(text for text, which in apart if which.any()))
        look.titled(right, translate("FAR by pair of groups"), filter(None, lines))
        return self

    @property
    def _hollow(self) -> tuple[str, ...]:
        """The rates that are drawn as points."""
        return ("frr",) if self.far.ndim == 2 else ("frr", "far")

    def _over(self, translate: Any) -> list[str]:
        attrs = self._dataset.attrs
        given = str(attrs.get("chosen_on", "")) == "given"
        chosen = "" if given else ", chosen on these data"
        lines = [translate(f"at {attrs['threshold_rule_in_words']} of all groups{chosen}")]
        if given:
            lines = [translate(f"at {attrs['threshold_rule_in_words']}")]
        if "interval_method" in attrs:
            lines.append(f"{100 * attrs['confidence']:g} % intervals, {attrs['interval_method']}")
        if any(self._dataset[f"{x}_flagged"].values.any() for x in self._hollow):
            lines.append("hollow: flagged, too few subjects or expected errors to be ranked")
        return lines

    def _rates(self, ax: Axes, rate: str, label: str, style: dict[str, Any]) -> None:
        """Draw a rate of each group, from top to bottom."""
        ds, places = self._dataset, np.arange(len(self.groups))
        flagged, values = ds[f"{rate}_flagged"].values.astype(bool), ds[rate].values
        colour = look.colour(look.HUES[rate])
        if f"{rate}_low" in ds:
            low, high = ds[f"{rate}_low"].values, ds[f"{rate}_high"].values
            ax.hlines(places, low, high, color=colour, linewidth=1.6, zorder=2)
        for which, face in ((~flagged, colour), (flagged, "white")):
            given = {"color": colour, "markersize": 6.5, **style}
            ax.plot(values[which], places[which], "o", markerfacecolor=face, zorder=3, **given)
        overall = float(ds[f"{rate}_overall"])
        if overall == overall:
            ax.axvline(overall, color=look.RULE, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        ax.set_ylim(len(self.groups) - 0.5, -0.5)
        most = np.nanmax([*values, *ds.get(f"{rate}_high", ds[rate]).values, 1e-6])
        ax.set_xlim(-0.02 * most, 1.05 * most)
        if overall == overall:
            left = overall > 0.7 * most
            look.note(ax, f"all: {look.measured(overall)}", (overall, 0), (-3 if left else 3, 4),
                      va="bottom", ha="right" if left else "left")  # fmt: skip
        look.percent_axis(ax.xaxis)
        self._name_groups(ax, subjects=True)
        translate = term_translator(ds)
        look.labelled(ax, translate(label), "", translate.other(rate))

    def _pairs(self) -> None:
        """Draw FAR of each pair of groups, logarithmic; 0 and undefined rates differ."""
        ax, ds, far = self.far_ax_, self._dataset, self.far
        ax.grid(False)
        positive = far[far > 0]
        low, high = (float(f(positive)) if len(positive) else 1.0 for f in (np.min, np.max))
        norm = LogNorm(low / 1.5 if low == high else low, high * 1.5 if low == high else high)
        colours = ScalarMappable(norm, "cividis")
        picture = np.empty((*far.shape, 4))
        picture[:] = colours.to_rgba(np.where(far > 0, far, low))
        for which, colour in ((far == 0, ZERO), (np.isnan(far), UNDEFINED)):
            picture[which] = [*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)), 1.0]
        self.image_ = ax.imshow(picture, aspect="auto", interpolation="nearest")
        if len(self.groups) <= NUMBERED:
            flagged = ds["far_flagged"].values
            for (i, j), rate in np.ndenumerate(far):
                text = "n/a" if rate != rate else look.measured(rate) if rate else "0"
                text += "*" * int(flagged[i, j] and rate == rate)
                look.in_cell(ax, (j, i), text, picture[i, j])
        self._name_groups(ax)
        translate = term_translator(ds)
        look.labelled(ax, "Group of the claimed subject", "Group of the probe")
        if len(positive):
            bar = self.figure_.colorbar(colours, ax=ax, pad=0.02, aspect=30)
            look.percent_axis(bar.ax.yaxis)
            bar.ax.yaxis.set_minor_formatter(lambda value, _: "")
            if high < 10 * low:  # no power of ten may be inside
                bar.set_ticks([low, (low * high) ** 0.5, high])
                bar.ax.minorticks_off()
            look.bar_labelled(bar, ax, translate("False accept rate, FAR"), translate.other("far"))

    def _name_groups(self, ax: Axes, subjects: bool = False) -> None:
        """Name the groups along the axes of FAR, or beside FRR with their subjects."""
        number = len(self.groups)
        shown = np.arange(0, number, -(-number // NAMED))
        # In two lines where there is room for them.
        most = 36 if number <= NUMBERED else 18
        names = [textwrap.fill(as_plot_text(cut(str(self.groups[i]), most)), 18) for i in shown]
        if subjects:
            people = self._dataset["subjects"].values
            names = [f"{name} ({people[i]:,})" for i, name in zip(shown, names, strict=True)]
        ax.set_yticks(shown, names)
        if not subjects:
            ax.set_xticks(shown, names)
            if sum(max(map(len, name.split("\n"))) for name in names) > 48:
                ax.tick_params(axis="x", labelrotation=90)
        ax.tick_params(axis="both" if not subjects else "y", length=0)


def groups(data: Any, ax: Axes | Figure | None = None, **style: Any) -> GroupsDisplay:
    """Draw rates by group: FRR of each group beside FAR of each pair of groups, or of each group.

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
    errors. FAR is on a logarithmic scale of colours; 0 and undefined cells have their own.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(80, 4, random_state=1)
    >>> display = be.plot.groups(be.by_group(scores, [s % 2 for s in scores.probe_labels]))
    >>> display.groups
    [0, 1]
    """
    return GroupsDisplay.from_results(data).plot(ax, **style)

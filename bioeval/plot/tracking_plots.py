"""Timeline of the targets, with identities and misses, and HOTA by localisation."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.ticker import MaxNLocator

from bioeval.base.errors import DataError, counted, received
from bioeval.plot import plot_style
from bioeval.plot.display import Curve, CurvesDisplay, Display
from bioeval.plot.plot_style import SHADES, Style
from bioeval.plot.systems import as_plot_text, joined

# Largest number of targets with a name on the axis.
NAMED = 30

# Colours (black is for the ticks of switches) and shades of each, for identities.
_COLOURS = 6
_LOOKS = _COLOURS * len(SHADES)


class TimelineDisplay(Display):
    """The track segments of each target.

    Attributes
    ----------
    targets : list
        From the top down.
    row : int64 ndarray
        The index of the target of each segment.
    first, last : int64 ndarray
        First and last frame of each segment.
    identity : int64 ndarray
        -1 where the target is missed.
    number : int64 ndarray
        Index of the identity among all that are drawn, by first appearance: the colour. An identity
        that follows two targets has one colour.
    switches : float64 ndarray, shape (n, 2)
        Frame and row of each identity switch.
    """

    bars_: list[PolyCollection]

    def __init__(self, targets: list[Any], spells: dict[str, np.ndarray], over: str):
        """Take the segments of the targets, and find the switches."""
        self.targets, self._over = targets, over
        self.row, self.identity = spells["row"], spells["identity"]
        self.first, self.last = spells["first"], spells["last"]
        self.switches = _switches(self.row, self.identity, self.first)
        numbers: dict[int, int] = {}
        self.number = np.full(len(self.row), -1, dtype=np.int64)
        for i in np.argsort(self.first, kind="stable").tolist():
            if self.identity[i] >= 0:
                self.number[i] = numbers.setdefault(int(self.identity[i]), len(numbers))

    @classmethod
    def from_results(
        cls, dataset: xr.Dataset, sequence: str | None = None, camera: str | None = None
    ) -> Self:
        """Take the track segments of one sequence and one camera."""
        if "spell_target" not in getattr(dataset, "variables", ()):
            raise DataError("be.plot.timeline needs a result of be.tracking(..., timeline=True)")
        targets, who = dataset["target"].values, dataset["spell_target"].values
        sequences = dataset["sequence"].values.tolist() if "sequence" in dataset else []
        over = []
        if sequence := _one("sequence", sequence, sequences):
            targets = targets[_of_sequence(targets, sequence)]
            over.append(f"sequence {sequence}")
        chosen = np.isin(who, targets)
        if camera := _one("camera", camera, cameras_of(dataset, sequence)):
            chosen &= dataset["spell_camera"].values == camera
            over.append(f"camera {camera}")
        place = {target: i for i, target in enumerate(targets.tolist())}
        spells = {
            "row": np.array([place[target] for target in who[chosen].tolist()], dtype=np.int64),
            "first": dataset["first_frame"].values[chosen],
            "last": dataset["last_frame"].values[chosen],
            "identity": dataset["spell_identity"].values[chosen],
        }
        names = [as_plot_text(str(t).rpartition("/")[2]) for t in targets.tolist()]
        return cls(names, spells, as_plot_text(", ".join(over)) if over else "")

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw a bar for each track segment. See :func:`timeline`."""
        n = len(self.targets)
        ax = self._begin(ax, style, (7.2, float(np.clip(1.6 + 0.24 * n, 2.4, 8.0))))
        ax.grid(False, axis="y")
        self.bars_ = []
        groups: list[tuple[np.ndarray, Any, float]] = [(self.number < 0, Style.rule, 0.055)]
        for look in range(_LOOKS):
            shade, hue = divmod(look, _COLOURS)
            of_look = (self.number >= 0) & (self.number % _LOOKS == look)
            groups.append((of_look, Style.colour(hue, shade), 0.31))
        for shown, colour, thick in groups:
            if not shown.any():
                continue
            left, right = self.first[shown] - 0.5, self.last[shown] + 0.5
            low, high = self.row[shown] - thick, self.row[shown] + thick
            x, y = np.stack([left, right, right, left]), np.stack([low, low, high, high])
            corners = list(np.stack([x.T, y.T], axis=2))
            bars = PolyCollection(corners, linewidth=0, **{"facecolor": colour, **style})
            self.bars_.append(bars)
            ax.add_collection(bars)
        x, y = self.switches.T
        ax.vlines(x - 0.5, y - 0.46, y + 0.46, color=Style.text, linewidth=1.2, zorder=3)
        begin, end = (self.first.min(), self.last.max()) if len(self.first) else (1, 1)
        margin = 0.5 + 0.01 * (end - begin + 1)
        ax.set(xlim=(begin - margin, end + margin), ylim=(max(n, 1) - 0.4, -0.6))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        step = 1 + max(n - 1, 0) // NAMED
        ax.set_yticks(range(0, n, step), self.targets[::step])
        ax.tick_params(axis="y", length=0)
        if not n:
            plot_style.empty(ax, "There are no targets")
        switches = counted(len(self.switches), "switches")
        key = f"colour: identity; thin line: missed; black tick: identity switch ({switches})"
        title = joined("Timeline of the targets", name or "", by=": ")
        self._finish(title, [self._over, key], "Frame", "Target")
        return self


def cameras_of(dataset: xr.Dataset, sequence: str | None = None) -> list[str]:
    """Return the cameras with targets; none if there is only one camera."""
    if "spell_camera" not in dataset:
        return []
    names, who = dataset["spell_camera"].values, dataset["spell_target"].values
    if sequence is not None:
        names = names[_of_sequence(who, sequence)]
    return sorted(set(names.tolist()))


def _of_sequence(targets: np.ndarray, sequence: str | None) -> np.ndarray:
    """Return a mask of the targets of a sequence, by their names."""
    return np.array([str(t).rpartition("/")[0] == sequence for t in targets], dtype=bool)


def _one(role: str, tracks: str | None, names: list[str]) -> str | None:
    """Return the name to show, by default the only one; None where there are no names."""
    listed = ", ".join(names[:12])
    if not names and tracks is not None:
        raise DataError(f"{role} is {received(tracks)}; expected None: the result has only one")
    if tracks is None and len(names) > 1:
        raise DataError(f"the result has {len(names)} {role}s; give {role}= one of {listed}")
    if tracks is None or not names:
        return names[0] if names else None
    if str(tracks) not in names:
        raise DataError(f"{role} is {received(tracks)}; expected one of {listed}")
    return str(tracks)


def _switches(row: np.ndarray, identity: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the frame and the target of each switch to another identity than before."""
    switches = []
    before: dict[int, int] = {}
    for who, now, frame in zip(row.tolist(), identity.tolist(), first.tolist(), strict=True):
        if now >= 0:
            if before.get(who, now) != now:
                switches.append((frame, who))
            before[who] = now
    return np.array(switches, dtype=np.float64).reshape(-1, 2)


def timeline(
    dataset: xr.Dataset,
    ax: Axes | None = None,
    *,
    sequence: str | None = None,
    camera: str | None = None,
    **style: Any,
) -> TimelineDisplay:
    """Draw the track segments of each target, coloured by identity, and its misses.

    Parameters
    ----------
    dataset : xarray.Dataset
        A result of :func:`bioeval.tracking` with ``timeline=True``.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    sequence, camera : str, optional
        Which one, where there are several.
    **style
        Properties of all bars, such as ``alpha=0.8``; ``name`` names the tracker in the title.

    Returns
    -------
    TimelineDisplay
        With ``row``, ``first``, ``last``, ``identity`` (the arrays), ``ax_``, ``figure_`` and
        ``bars_``.

    Notes
    -----
    Where nothing is drawn, the target is absent. A switch is marked where the new identity begins;
    one between two cameras is not shown in either. Colours repeat after 24 identities.

    Examples
    --------
    >>> import bioeval as be
    >>> truth = [(f, 1, 0, 0, 10, 10) for f in range(1, 9)]
    >>> result = [(f, 1 if f < 5 else 2, 0, 0, 10, 10) for f in range(1, 9) if f != 4]
    >>> display = be.plot.timeline(be.tracking(truth, result, timeline=True))
    >>> display.identity.tolist(), display.first.tolist()
    ([1, -1, 2], [1, 4, 5])
    """
    return TimelineDisplay.from_results(dataset, sequence, camera).plot(ax, **style)


class HotaDisplay(CurvesDisplay):
    """HOTA curves; ``x`` is the localisation threshold and ``y`` is HOTA, DetA or AssA."""

    _plot, _title, _x = "hota", "HOTA", "localisation_threshold"
    _y: ClassVar = {
        "hota_by_threshold": "HOTA",
        "deta_by_threshold": "DetA",
        "assa_by_threshold": "AssA",
    }
    _x_label = "Localisation threshold α: smallest overlap of a match"
    _y_label = "HOTA, DetA, AssA"

    def _limits(self) -> dict[str, Any]:
        return {"xlim": (0, 1), "ylim": (-0.015, 1.015)}

    def _label(self, curve: Curve) -> str:
        """Return the name of a curve with its mean over the thresholds."""
        mean = float(curve.system.dataset[curve.variable.removesuffix("_by_threshold")])
        return super()._label(curve) + ("" if np.isnan(mean) else f" {100 * mean:.1f} %")


def hota(data: Any, ax: Axes | None = None, **style: Any) -> HotaDisplay:
    """Draw HOTA, detection and association accuracy against the localisation threshold.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.tracking`, or those of several trackers by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    HotaDisplay
        With ``curves`` (the arrays; named ``"HOTA"``, ``"DetA"`` and ``"AssA"``, after the
        tracker's name where there are several), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    At each threshold HOTA is the geometric mean of DetA and AssA (Luiten et al., 2021). Of several
    sequences, the curves are of the whole.

    Examples
    --------
    >>> import bioeval as be
    >>> truth = [(f, 1, 0, 0, 10, 10) for f in range(1, 9)]
    >>> result = [(f, 1 if f < 5 else 2, 1, 0, 10, 10) for f in range(1, 9)]
    >>> display = be.plot.hota(be.tracking(truth, result))
    >>> display.curves["AssA"].y[[0, -1]].tolist()
    [0.5, 0.0]
    """
    return HotaDisplay.from_results(data).plot(ax, **style)

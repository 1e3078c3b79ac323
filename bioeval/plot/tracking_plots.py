"""Timeline of the targets, with identities and misses, and HOTA by localisation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

from bioeval.base.errors import DataError, counted, received
from bioeval.plot.display import Curve, CurvesDisplay, CurveSpec, Display
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import System, as_plot_text

# Largest number of targets with a name on the axis.
NAMED = 30

# Colours (black is for the ticks of switches) and shades of each, for identities.
_COLOURS = 6
_LOOKS = _COLOURS * Style.shades
_THICK, _THIN = 0.62, 0.11


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
    turn : int64 ndarray
        Index of the identity among the target's, by first appearance.
    number : int64 ndarray
        Index of the identity among all that are drawn, by first appearance: the colour. An identity
        that follows two targets has one colour.
    switches : float64 ndarray, shape (n, 2)
        Frame and row of each identity switch.
    """

    bars_: list[PolyCollection]

    def __init__(
        self,
        targets: list[Any],
        row: np.ndarray,
        first: np.ndarray,
        last: np.ndarray,
        identity: np.ndarray,
        over: list[str],
    ):
        """Take the segments of the targets, and find the switches."""
        self.targets, self.row, self.over = targets, row, over
        self.first, self.last, self.identity = first, last, identity
        self.turn, self.switches = _turns(row, identity, first)
        self.number = _numbered(identity, first)

    @classmethod
    def from_results(
        cls, dataset: xr.Dataset, sequence: str | None = None, camera: str | None = None
    ) -> Self:
        """Take the track segments of one sequence and one camera."""
        if "spell_target" not in getattr(dataset, "variables", ()):
            raise DataError("be.plot.timeline needs a result of be.tracking(..., timeline=True)")
        targets = dataset["target"].values
        who = dataset["spell_target"].values
        sequences = dataset["sequence"].values.tolist() if "sequence" in dataset else []
        over = []
        if sequence := _one("sequence", sequence, sequences):
            targets = targets[_of_sequence(targets, sequence)]
            over.append(f"sequence {sequence}")
        chosen = np.isin(who, targets)
        if camera := _one("camera", camera, cameras_of(dataset, sequence)):
            chosen &= dataset["spell_camera"].values == camera
            over.append(f"camera {camera}")
        titles = [as_plot_text(", ".join(over))] if over else []
        place = {target: i for i, target in enumerate(targets.tolist())}
        row = np.array([place[target] for target in who[chosen].tolist()], dtype=np.int64)
        first = dataset["first_frame"].values[chosen]
        last = dataset["last_frame"].values[chosen]
        identity = dataset["spell_identity"].values[chosen]
        names = [as_plot_text(str(t).rpartition("/")[2]) for t in targets.tolist()]
        return cls(names, row, first, last, identity, titles)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw a bar for each track segment. See :func:`timeline`."""
        n = len(self.targets)
        ax = self._axes(ax, (7.2, float(np.clip(1.6 + 0.24 * n, 2.4, 8.0))), style)
        ax.grid(False, axis="y")
        self.bars_ = []
        for shown, colour, thick in self._bars():
            left, right = self.first[shown] - 0.5, self.last[shown] + 0.5
            low, high = self.row[shown] - thick, self.row[shown] + thick
            x, y = np.stack([left, right, right, left]), np.stack([low, low, high, high])
            corners = list(np.stack([x.T, y.T], axis=2))
            bars = PolyCollection(corners, linewidth=0, **{"facecolor": colour, **style})
            self.bars_.append(bars)
            ax.add_collection(bars)
        if len(self.switches):
            x, y = self.switches.T
            ax.vlines(x - 0.5, y - 0.46, y + 0.46, color=Style.text, linewidth=1.2, zorder=3)
        begin, end = (self.first.min(), self.last.max()) if len(self.first) else (1, 1)
        margin = 0.01 * (end - begin + 1)
        ax.set(xlim=(begin - 0.5 - margin, end + 0.5 + margin), ylim=(max(n, 1) - 0.4, -0.6))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        step = 1 + max(n - 1, 0) // NAMED
        ax.yaxis.set_major_locator(FixedLocator(list(range(0, n, step))))
        ax.yaxis.set_major_formatter(FuncFormatter(self._name))
        ax.tick_params(axis="y", length=0)
        self._titled("Timeline of the targets", name, [*self.over, self._key()])
        self._labelled("Frame", "Target")
        if not n:
            self._empty("There are no targets.")
        return self

    def _bars(self) -> Iterator[tuple[np.ndarray, Any, float]]:
        """Yield groups of segments, each with its colour and thickness."""
        missed = self.identity < 0
        if missed.any():
            yield missed, Style.rule, _THIN / 2
        for look in range(_LOOKS):
            shown = ~missed & (self.number % _LOOKS == look)
            if shown.any():
                shade, hue = divmod(look, _COLOURS)
                yield shown, Style.colour(hue, shade), _THICK / 2

    def _name(self, value: float, _: Any) -> str:
        place = round(value)
        return self.targets[place] if 0 <= place < len(self.targets) else ""

    def _key(self) -> str:
        count = len(self.switches)
        entry = f"{count:,} {'switch' if count == 1 else 'switches'}"
        return (
            "bar: followed, in the colour of the identity; "
            f"thin line: missed; black tick: identity switch ({entry})"
        )


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
    if not names:
        return None
    if tracks is None and len(names) == 1:
        return names[0]
    if tracks is None:
        raise DataError(f"the result has {len(names)} {role}s; give {role}= one of {listed}")
    if str(tracks) not in names:
        raise DataError(f"{role} is {received(tracks)}; expected one of {listed}")
    return str(tracks)


def _numbered(identity: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Number the identities by first appearance; -1 where the target is missed."""
    numbers: dict[int, int] = {}
    number = np.full(len(identity), -1, dtype=np.int64)
    for i in np.argsort(first, kind="stable").tolist():
        if identity[i] >= 0:
            number[i] = numbers.setdefault(int(identity[i]), len(numbers))
    return number


def _turns(
    row: np.ndarray, identity: np.ndarray, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Number the identities of each target by first appearance, and find its switches."""
    turn = np.zeros(len(row), dtype=np.int64)
    switches = []
    had: dict[int, list[int]] = {}
    last: dict[int, int] = {}
    for i, (who, now, frame) in enumerate(
        zip(row.tolist(), identity.tolist(), first.tolist(), strict=True)
    ):
        if now < 0:
            continue
        if last.setdefault(who, now) != now:
            switches.append((frame, who))
        last[who] = now
        known = had.setdefault(who, [])
        if now not in known:
            known.append(now)
        turn[i] = known.index(now)
    return turn, np.array(switches, dtype=np.float64).reshape(-1, 2)


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


_MEASURES = {"hota": "HOTA", "deta": "DetA", "assa": "AssA"}


def _matched(system: System, x: str, y: str, name: str) -> Curve:
    curve = Curve.of(system, x, y, name)
    if curve.why_not:
        return replace(curve, why_not="nothing is matched")
    return curve


def _with_mean(curve: Curve, _: bool = False) -> str:
    mean = curve.variable.removesuffix("_by_threshold")
    return f"{curve.name} {100 * float(curve.system.dataset[mean]):.1f} %"


def _of_boxes(systems: Sequence[System]) -> list[str]:
    """Return the boxes compared; for several systems the ground truth, if it is the same."""
    first = systems[0].dataset
    statement = _in_boxes(first, "targets", "truth_boxes")
    if len(systems) == 1:
        return [f"{statement} against {_in_boxes(first, 'identities', 'result_boxes')}"]
    for system in systems:
        if _in_boxes(system.dataset, "targets", "truth_boxes") != statement:
            return []
    return [statement]


def _in_boxes(dataset: xr.Dataset, who: str, boxes: str) -> str:
    return f"{counted(int(dataset[who]), who)} in {counted(int(dataset[boxes]), 'boxes')}"


class HotaDisplay(CurvesDisplay):
    """HOTA curves; ``x`` is the localisation threshold and ``y`` is HOTA, DetA or AssA."""

    spec = CurveSpec(
        "hota",
        "HOTA",
        "localisation_threshold",
        {f"{name}_by_threshold": measure for name, measure in _MEASURES.items()},
        "Localisation threshold α: smallest overlap of a match",
        "HOTA, DetA, AssA",
        details=lambda _: ["per cent: means over the thresholds"],
        over=_of_boxes,
        curve=_matched,
        text=_with_mean,
        once=_with_mean,
        limits=lambda _: {"xlim": (0, 1), "ylim": (-0.015, 1.015)},
    )


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

"""One row of a matrix, walked through."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from bioeval.base import larger_is_closer, require_text
from bioeval.results import threshold_text
from bioeval.studies.explain.results import GENUINE, IMPOSTOR, LEFT_OUT, RowExplanation
from bioeval.studies.explain.tables import ShownList, lists_of, score_text, templates_of
from bioeval.views import Images, pictures_of_templates
from bioeval.views.plots import (
    QUIET,
    RULE,
    TEXT,
    Display,
    as_plot_text,
    colour_of,
    ink,
    score_label,
)

#: Of each role: colour (Okabe and Ito), and marker, so that colour is never the only difference.
_ROLES = {
    GENUINE: (colour_of(0), "o", True),
    IMPOSTOR: (colour_of(1), "s", False),
    LEFT_OUT: (RULE, "x", True),
}


_BAR = "#e8e8e8"  # of the lines from the edge to the scores


# Inches of a line of a list, of one with a picture, and of a head with the words around it.
_LINE, _PICTURED, _AROUND = 0.26, 0.36, 1.5


# Points of a picture beside a name, and of that of the probe.
_SMALL, _LARGE = 24.0, 46.0


# Points of the axes, and of a letter of the names on their left.
_AXES, _NAME_LETTER = 250.0, 5.2


# Points between the columns of words, by the longest word.
_LETTER, _GAP = 4.6, 14.0


class RowWalkDisplay(Display):
    """The lists of one row.

    Attributes
    ----------
    walk : RowExplanation
    lists : list of ShownList
        As they are drawn, long ones shortened.
    axes_ : list of Axes
        One for each list.
    """

    axes_: list[Axes]

    def __init__(self, walk: RowExplanation):
        self.walk = walk
        self.lists = lists_of(walk)
        faces = Images(folder=None)
        pictures = {
            name: faces.find(name) for name in pictures_of_templates(faces, templates_of(walk))
        }
        self._faces = {name: face for name, face in pictures.items() if face is not None}

    @classmethod
    def from_results(cls, data: RowExplanation) -> Self:
        """Take an explained row."""
        return cls(data)

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the lists. See :func:`row_walk`."""
        if name is not None:
            require_text("name", name)
        if self._faces:
            line = _PICTURED
        else:
            line = _LINE
        high = [line * max(len(x.lines), 1) + _LINE * _extra(x) + _AROUND for x in self.lists]
        first = self._axes(ax, (self._wide(), sum(high) + 0.2))
        self.axes_ = [first]
        place = first.get_subplotspec()
        if len(high) > 1 and place is not None:
            parts = place.subgridspec(len(high), 1, height_ratios=high)
            first.set_subplotspec(parts[0])
            self.axes_ += [self._more_axes(parts[k]) for k in range(1, len(high))]
        if name:
            title = f"{name}: {self.walk.title}"
        else:
            title = self.walk.title
        for k, (axes, shown) in enumerate(zip(self.axes_, self.lists, strict=False)):
            what = "templates"
            if shown.unit == "subject":
                what = "subjects"
            if shown.tasks[0].task == "reid":
                what = shown.tasks[0].role.removeprefix("the list of ") or "gallery entries"
            if k == 0:
                heading = f"{as_plot_text(title)}: list of {what}"
            else:
                heading = f"List of {what}"
            rows = max(head.count(",") + 1 for head in shown.heads)
            self._titled(heading, None, self._over() if k == 0 else (), axes, 12.0 * rows)
            self._draw(axes, shown, style)
        self._face(first, self.walk.name, 1, "axes fraction", (-_LARGE / 2 - 6, 34), _LARGE)
        return self

    def _face(
        self, ax: Axes, name: str, y: float, across: str, step: tuple[float, float], size: float
    ) -> None:
        """Draw the picture of a template, if it has one, beside a place of the left edge."""
        if name not in self._faces:
            return
        pixels = (round(2 * size),) * 2  # two to a point
        if pixels[0] < 64:
            shown = self._faces[name].resize(pixels)
        else:
            shown = self._faces[name]
        grey = np.asarray(shown)
        picture = OffsetImage(grey, zoom=size / grey.shape[0], cmap="gray", norm=Normalize(0, 255))
        box = AnnotationBbox(
            picture,
            (0, y),
            step,
            xycoords=("axes fraction", across),
            boxcoords="offset points",
            frameon=False,
            pad=0,
            annotation_clip=False,
        )
        ax.add_artist(box)

    def _over(self) -> list[str]:
        walk = self.walk
        if walk.system:
            said = [as_plot_text(walk.system)]
        else:
            said = []
        said += [walk.layout, f"protocol {walk.protocol}"]
        lines = ["; ".join(said)]
        if walk.threshold is not None and not math.isnan(walk.threshold):
            lines.append(f"threshold {threshold_text(walk.threshold)}: {walk.threshold_is}")
        return lines

    def _draw(self, ax: Axes, shown: ShownList, style: dict[str, Any]) -> None:
        """Draw one list, the first place on top."""
        n = len(shown.lines)
        ax.set_ylim(max(n, 1) + 0.5, 0.5)
        ax.grid(False)
        ax.spines["left"].set_visible(False)
        threshold = self.walk.threshold
        low, high = self._ends()
        margin = 0.06 * (high - low) or 0.5
        left, right = low - margin, high + margin
        if threshold is not None and math.isfinite(threshold):  # room for words on either side
            least = 0.2 * (right - left)
            left, right = min(left, threshold - least), max(right, threshold + least)
        ax.set_xlim(left, right)
        self._names(ax, shown)
        for y, line in enumerate(shown.lines, start=1):
            colour, marker, filled = _ROLES[line.role]
            if line.score is None:
                ax.text(
                    0.5,
                    y,
                    "⋮",
                    transform=ax.get_yaxis_transform(),
                    ha="center",
                    va="center",
                    color=QUIET,
                )
                continue
            score = min(max(line.score, left), right)
            if math.isnan(line.score):
                if larger_is_closer(self.walk.kind):
                    score = left
                else:
                    score = right
            if not math.isfinite(line.score):
                self._note(
                    score_text(line.score),
                    (score, y),
                    (-8 if score == right else 8, 0),
                    ax,
                    xycoords="data",
                    ha="right" if score == right else "left",
                    va="center",
                )
            ax.hlines(y, left, score, color=_BAR, linewidth=1.0, zorder=1)
            ax.plot(
                [score],
                [y],
                marker=marker,
                markersize=6.5,
                linestyle="",
                zorder=3,
                clip_on=False,
                **{
                    "color": colour,
                    "markerfacecolor": colour if filled else "white",
                    "markeredgewidth": 1.4,
                    **style,
                },
            )
        self._threshold(ax, shown, threshold)
        self._words(ax, shown)
        self._labelled(score_label(self.walk.kind), "", ax=ax)
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=self.walk.kind == "order"))
        below = [*shown.left_out]
        if shown.conditional:
            below.append("a | b: a if accepted, b if rejected")
        if below:
            self._note(
                "\n".join(row for text in below for row in _wrapped(text)),
                (0, 0),
                (0, -36),
                ax,
                xycoords="axes fraction",
                va="top",
                annotation_clip=False,
            )

    def _wide(self) -> float:
        """Return the width of a picture in inches: names, axes and words."""
        words = max(_columns(shown)[-1][2] + _length(_columns(shown)[-1]) for shown in self.lists)
        names = max(len(name) for shown in self.lists for name in ["", *_names(shown)])
        faces = 0.0
        if self._faces:
            faces = _SMALL + 8
        return max(8.2, (names * _NAME_LETTER + faces + _AXES + words) / 72)

    def _ends(self) -> tuple[float, float]:
        """Return the smallest and the largest finite score of all lists and the threshold."""
        scores = [self.walk.threshold, *(x.score for part in self.lists for x in part.lines)]
        finite = [x for x in scores if x is not None and math.isfinite(x)]
        if finite:
            return (min(finite), max(finite))
        return (0.0, 1.0)

    def _names(self, ax: Axes, shown: ShownList) -> None:
        """Name the entries on the left: place, template and subject."""
        texts = list(map(as_plot_text, _names(shown)))
        ax.yaxis.set_major_locator(FixedLocator(list(range(1, len(texts) + 1))))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.set_yticklabels(texts)
        ax.tick_params(axis="y", length=0)
        if self._faces:
            ax.tick_params(axis="y", pad=_SMALL + 8)
        for y, (label, line) in enumerate(
            zip(ax.get_yticklabels(), shown.lines, strict=True), start=1
        ):
            label.set_color(ink(_ROLES[line.role][0]))
            if line.number == 1:
                self._face(ax, line.template, y, "data", (-_SMALL / 2 - 4, 0), _SMALL)

    def _threshold(self, ax: Axes, shown: ShownList, threshold: float | None) -> None:
        """Draw the threshold, and the line between the accepted and the rejected."""
        if threshold is None or shown.tasks[0].task == "reid":
            return
        y = (shown.accepted or 0) + 0.5
        ax.axhline(y, color=TEXT, linewidth=1.0, linestyle=(0, (4, 2)), zorder=2)
        at = threshold
        if not math.isfinite(threshold):
            at = ax.get_xlim()[int(larger_is_closer(self.walk.kind) != (threshold > 0))]
        else:
            ax.axvline(threshold, color=TEXT, linewidth=1.0, linestyle="-", zorder=2)
        # Of an ordered list, these two corners beside the threshold hold no score.
        side = 1
        if larger_is_closer(self.walk.kind):
            side = -1
        for word, way in (("accepted", 1), ("rejected", -1)):
            self._note(
                word,
                (at, y),
                (4 * side * way, 2 * way),
                ax,
                xycoords="data",
                ha="left" if side * way > 0 else "right",
                va="bottom" if way > 0 else "top",
                annotation_clip=False,
            )

    def _words(self, ax: Axes, shown: ShownList) -> None:
        """Write the columns of words on the right: role, and counters by task."""
        given: dict[str, Any] = {"ha": "left", "annotation_clip": False, "linespacing": 1.2}
        for head, texts, at in _columns(shown):
            rows = head.replace(", ", "\n")
            self._note(rows, (1, 1), (at, 4), ax, xycoords="axes fraction", va="bottom", **given)
            for y, (text, line) in enumerate(zip(texts, shown.lines, strict=True), start=1):
                quiet = text in ("-", "left out") or not head
                self._note(
                    text,
                    (1, y),
                    (at, 0),
                    ax,
                    xycoords=("axes fraction", "data"),
                    color=QUIET if quiet else ink(_ROLES[line.role][0]),
                    va="center",
                    **given,
                )


def _names(shown: ShownList) -> list[str]:
    """Return the names of the entries: place, template and subject."""
    texts = []
    for line in shown.lines:
        first, second = line.template, line.subject
        if shown.unit == "subject":
            first, second = line.subject, f"by {line.template}"
        if line.number > 1:
            texts.append(line.template)
        else:
            texts.append(f"{line.place}.  {_cut(first)}" + f" ({_cut(second)})" * bool(second))
    return texts


def _columns(shown: ShownList) -> list[tuple[str, list[str], float]]:
    """Return the columns of words: heading, texts, and start in points."""
    columns = [("role", [line.role_text for line in shown.lines], _GAP)]
    texts = [(head, [x.cells[k] for x in shown.lines]) for k, head in enumerate(shown.heads)]
    if any(line.reason for line in shown.lines):
        texts.append(("", [textwrap.shorten(x.reason, 60) for x in shown.lines]))
    for head, words in texts:
        columns.append((head, words, columns[-1][2] + _length(columns[-1]) + _GAP))
    return columns


def _length(column: tuple[str, list[str], float]) -> float:
    """Return the width of a column of words in points."""
    head, texts, _ = column
    return _LETTER * max([*map(len, texts), *map(len, head.split(", "))])


def _cut(text: str) -> str:
    if len(text) <= 18:
        return text
    return text[:17] + "…"


def _extra(shown: ShownList) -> float:
    """Return the lines of text below a list."""
    texts: Sequence[str] = [*shown.left_out, *(["a | b"] if shown.conditional else [])]
    return 0.65 * sum(len(_wrapped(text)) for text in texts)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 105)


def row_walk(
    data: RowExplanation, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
) -> RowWalkDisplay:
    """Draw one row: its ordered list with roles, the threshold, and the counters.

    Parameters
    ----------
    data : Explanation
        What :func:`bioeval.explain` returns.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given. Other lists of the row, such as that
        of subjects, are drawn below the first.
    name : str, optional
        The system, for the title.
    **style
        Properties of the markers.

    Returns
    -------
    RowWalkDisplay
        With ``lists``, ``ax_``, ``axes_`` and ``figure_``.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.row_walk(be.explain(be.simulate(4, 3), 2))
    >>> [shown.unit for shown in display.lists]
    ['template', 'subject']
    """
    return RowWalkDisplay.from_results(data).plot(ax, name=name, **style)

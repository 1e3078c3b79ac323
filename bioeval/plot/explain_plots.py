"""One row of a matrix, walked through."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from bioeval.base.arguments import require_text
from bioeval.base.errors import Argument, DataError, printable, require_choice
from bioeval.base.kinds import larger_is_closer
from bioeval.plot.display import Display
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import as_plot_text
from bioeval.results.words import threshold_text
from bioeval.studies.explain.lists import OF_AP, OF_CMC
from bioeval.studies.explain.results import GENUINE, IMPOSTOR, LEFT_OUT, RowExplanation
from bioeval.studies.explain.shown_lists import ShownList, lists_of, score_text, templates_of
from bioeval.views.images import Images
from bioeval.views.thumbnails import pictures_of_templates
from bioeval.views.writers.lines import written

#: Of each role: colour (Okabe and Ito), and marker, so that colour is never the only difference.
_ROLES = {
    GENUINE: (Style.colour(0), "o", True),
    IMPOSTOR: (Style.colour(1), "s", False),
    LEFT_OUT: (Style.rule, "x", True),
}


#: What the list of a query is of, by the role of the query on it.
_LISTS_OF_QUERIES = {OF_CMC: "the CMC", OF_AP: "average precision"}


_BAR = "#e8e8e8"  # of the lines from the edge to the scores


# Inches of a line of a list, of one with a picture, and of a head with the words around it.
_LINE, _PICTURED, _AROUND = 0.26, 0.36, 1.5


# Points of a picture beside a name, and of that of the probe.
_SMALL, _LARGE = 24.0, 46.0


# Points of a flat figure around the lines of its only list: head, headings, axis and notes.
_AROUND_FLAT = 148.0


# Points of the axes, and of a letter of the names on their left.
_AXES, _NAME_LETTER = 250.0, 5.2


# Points between the columns of words, by the longest word.
_LETTER, _GAP = 4.6, 14.0


# The unit of the lists that are drawn; that of all is empty.
_UNITS = {"all": "", "templates": "template", "subjects": "subject"}


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

    def __init__(self, walk: RowExplanation, lists: str = "all"):
        require_choice("lists", lists, _UNITS)
        self.walk = walk
        self.lists = [x for x in lists_of(walk) if _UNITS[lists] in ("", x.unit)]
        if not self.lists:
            raise DataError(Argument("lists"), f" is {lists}; the row has no list of {lists}")
        faces = Images(folder=None)
        self._faces = {}
        for name in pictures_of_templates(faces, templates_of(walk)):
            face = faces.find(name)
            if face is not None:
                self._faces[name] = face

    @classmethod
    def from_results(cls, data: RowExplanation, lists: str = "all") -> Self:
        """Take an explained row, with all its lists, or those of templates or of subjects."""
        return cls(data, lists)

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the lists. See :func:`row_walk`."""
        if name is not None:
            require_text("name", name)
        lists, faces = self.lists, self._faces
        if Style.look.width is not None:  # there is no room for pictures
            faces = {}
        if Style.look.is_flat and not isinstance(ax, Axes):  # nor for a second list
            lists = [self._fitting(lists[0].unit)]
        self._shown_faces = faces
        line = _PICTURED if faces else _LINE
        high = []
        for shown in lists:
            high.append(line * max(len(shown.lines), 1) + _LINE * _extra(shown) + _AROUND)
        first = self._axes(ax, (self._wide(), sum(high) + 0.2), style, wordy=True)
        self.axes_ = [first]
        place = first.get_subplotspec()
        if len(high) > 1 and place is not None:
            parts = place.subgridspec(len(high), 1, height_ratios=high)
            first.set_subplotspec(parts[0])
            for k in range(1, len(high)):
                self.axes_.append(self._more_axes(parts[k]))
        title = self.walk.title
        if name:
            title = f"{name}: {title}"
        heading = f"{as_plot_text(title)}: list of"
        over = self._over()
        for axes, shown in zip(self.axes_, lists, strict=False):
            unit = "subjects" if shown.unit == "subject" else "templates"
            if shown.tasks[0].task == "reid":
                unit = _LISTS_OF_QUERIES.get(shown.tasks[0].role, "gallery entries")
            rows = max(head.count(",") + 1 for head in shown.heads)
            self._titled(f"{heading} {unit}", None, over, axes, 12.0 * rows)
            self._draw(axes, shown, style)
            heading, over = "List of", []
        self._face(first, self.walk.name, 1, "axes fraction", (-_LARGE / 2 - 6, 34), _LARGE)
        return self

    def _fitting(self, unit: str) -> ShownList:
        """Return the first list of this unit, with the lines that a flat figure has room for."""
        most = int((72 * (Style.look.height or 0.0) - _AROUND_FLAT) / (1.15 * Style.look.small))
        return next(shown for shown in lists_of(self.walk, most=most) if shown.unit == unit)

    def _face(
        self, ax: Axes, name: str, y: float, across: str, step: tuple[float, float], size: float
    ) -> None:
        """Draw the picture of a template, if it has one, beside a place of the left edge."""
        if name not in self._shown_faces:
            return
        shown, pixels = self._shown_faces[name], round(2 * size)  # two to a point
        if pixels < 64:
            shown = shown.resize((pixels, pixels))
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
        """Return what is said below the title: the data, and the threshold."""
        walk = self.walk
        parts = []
        if walk.system:
            parts.append(as_plot_text(walk.system))
        parts += [walk.layout, f"protocol {walk.protocol}"]
        lines = ["; ".join(parts)]
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
        self._names(ax, shown)
        self._words(ax, shown)
        word = (self._text_width("accepted", Style.look.small) + 8) / self._laid_out_size(ax)[0]
        has_room = word < 0.48  # for words on either side of the threshold
        if threshold is not None and math.isfinite(threshold) and has_room:
            least = max(0.2, word) / (1 - max(0.2, word))  # of the longer side
            right = max(right, threshold + least * (threshold - left))
            left = min(left, threshold - least * (right - threshold))
        ax.set_xlim(left, right)
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
                    color=Style.quiet,
                    fontsize=Style.look.label,
                )
                continue
            score = min(max(line.score, left), right)
            if math.isnan(line.score):
                score = left if larger_is_closer(self.walk.kind) else right
            if not math.isfinite(line.score):
                aside, side = (-8, "right") if score == right else (8, "left")
                self._note(
                    score_text(line.score),
                    (score, y),
                    (aside, 0),
                    ax,
                    xycoords="data",
                    ha=side,
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
        below = self._threshold(ax, shown, threshold, has_room)
        label = self._score_label(self.walk.kind)
        ticks = 6
        if Style.look.width is not None:
            label = label.partition(" (")[0]
            ticks = max(2, min(6, int(self._laid_out_size(ax)[0] / (3.2 * Style.look.tick))))
        self._labelled(label, "", ax=ax)
        ax.xaxis.set_major_locator(MaxNLocator(ticks, integer=self.walk.kind == "order"))
        below += [_wrapped(written(text)) for text in shown.left_out]
        if Style.look.width is not None:
            size = Style.look.small
            names = max(self._text_width(name, size) for name in ["", *_names(shown)])
            room = 72 * self.figure_.get_size_inches()[0] - names - 24
            below = ["\n".join(self._folded(text, room, size)) for text in below]
        if shown.conditional:
            below.append("a | b: a if accepted, b if rejected")
        if below:
            self._note(
                "\n".join(below),
                (0, 0),
                (0, -36 - 13 * ax.get_xlabel().count("\n")),
                ax,
                xycoords="axes fraction",
                va="top",
                annotation_clip=False,
            )

    def _wide(self) -> float:
        """Return the width of a picture in inches: names, axes and words."""
        words, names = 0.0, [""]
        for shown in self.lists:
            words = max(words, _columns(shown)[-1].end)
            names += _names(shown)
        faces = _SMALL + 8 if self._shown_faces else 0.0
        return max(8.2, (max(map(len, names)) * _NAME_LETTER + faces + _AXES + words) / 72)

    def _ends(self) -> tuple[float, float]:
        """Return the smallest and the largest finite score of all lists and the threshold."""
        scores = [self.walk.threshold]
        for shown in self.lists:
            scores += map(attrgetter("score"), shown.lines)
        finite = [score for score in scores if score is not None and math.isfinite(score)]
        return (min(finite), max(finite)) if finite else (0.0, 1.0)

    def _names(self, ax: Axes, shown: ShownList) -> None:
        """Name the entries on the left: place, template and subject."""
        texts = list(map(as_plot_text, _names(shown)))
        ax.yaxis.set_major_locator(FixedLocator(list(range(1, len(texts) + 1))))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.set_yticklabels(texts)
        ax.tick_params(axis="y", length=0)
        if self._shown_faces:
            ax.tick_params(axis="y", pad=_SMALL + 8)
        for y, (label, line) in enumerate(
            zip(ax.get_yticklabels(), shown.lines, strict=True), start=1
        ):
            label.set_color(Style.ink(_ROLES[line.role][0]))
            if line.number == 1:
                self._face(ax, line.template, y, "data", (-_SMALL / 2 - 4, 0), _SMALL)

    def _threshold(
        self, ax: Axes, shown: ShownList, threshold: float | None, has_room: bool
    ) -> list[str]:
        """Draw the threshold, and the line between the accepted and the rejected.

        Returns what is said below the axes, where these have no room for it.
        """
        if threshold is None or shown.tasks[0].task == "reid":
            return []
        y = (shown.accepted or 0) + 0.5
        ax.axhline(y, color=Style.text, linewidth=1.0, linestyle=(0, (4, 2)), zorder=2)
        at = threshold
        if not math.isfinite(threshold):
            at = ax.get_xlim()[int(larger_is_closer(self.walk.kind) != (threshold > 0))]
        else:
            ax.axvline(threshold, color=Style.text, linewidth=1.0, linestyle="-", zorder=2)
        if not has_room:
            return ["accepted above the dashed line, rejected below it"]
        # Of an ordered list, these two corners beside the threshold hold no score.
        side = -1 if larger_is_closer(self.walk.kind) else 1
        sides = {1: "left", -1: "right"}
        for word, way, va in (("accepted", 1, "bottom"), ("rejected", -1, "top")):
            self._note(
                word,
                (at, y),
                (4 * side * way, 2 * way),
                ax,
                xycoords="data",
                ha=sides[side * way],
                va=va,
                annotation_clip=False,
            )
        return []

    def _words(self, ax: Axes, shown: ShownList) -> None:
        """Write the columns of words on the right: role, and counters by task."""
        text_style = {"ha": "left", "annotation_clip": False, "linespacing": 1.2}
        for column in _columns(shown):
            head, at = column.head.replace(", ", "\n"), column.start
            self._note(
                head, (1, 1), (at, 4), ax, xycoords="axes fraction", va="bottom", **text_style
            )
            for y, (text, line) in enumerate(zip(column.texts, shown.lines, strict=True), start=1):
                colour: Any = Style.ink(_ROLES[line.role][0])
                if text in ("-", "left out") or not head:
                    colour = Style.quiet
                self._note(
                    text,
                    (1, y),
                    (at, 0),
                    ax,
                    xycoords=("axes fraction", "data"),
                    color=colour,
                    va="center",
                    **text_style,
                )


def _names(shown: ShownList) -> list[str]:
    """Return the names of the entries: place, template and subject."""
    texts = []
    for line in shown.lines:
        first, second = printable(line.template), printable(line.subject)
        if shown.unit == "subject":
            first, second = second, f"by {first}"
        if line.number > 1:
            texts.append(f"...  {line.number:,} more")
        else:
            text = f"{line.place}.  {_cut(first)}"
            if second:
                text += f" ({_cut(second)})"
            texts.append(text)
    return texts


@dataclass(frozen=True)
class WordColumn:
    """A column of words beside a list."""

    head: str
    texts: tuple[str, ...]
    start: float  # in points

    @property
    def end(self) -> float:
        """The place where it ends, in points."""
        return self.start + _LETTER * max(map(len, [*self.texts, *self.head.split(", ")]))


def _columns(shown: ShownList) -> list[WordColumn]:
    """Return the columns of words: role, counters by task, and reasons where there are any."""
    heads = ["role", *shown.heads]
    rows = [(line.role_text, *map(written, line.cells)) for line in shown.lines]
    if any(line.reason for line in shown.lines):
        heads.append("")
        for k, line in enumerate(shown.lines):
            rows[k] += (textwrap.shorten(written(line.reason), 60),)
    columns = []
    start = _GAP
    for k, head in enumerate(heads):
        columns.append(WordColumn(head, tuple(row[k] for row in rows), start))
        start = columns[-1].end + _GAP
    return columns


def _cut(text: str) -> str:
    return text if len(text) <= 18 else text[:17] + "…"


def _extra(shown: ShownList) -> float:
    """Return the lines of text below a list."""
    rows = int(shown.conditional)
    for text in shown.left_out:
        rows += 1 + _wrapped(written(text)).count("\n")
    return 0.65 * rows


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 105)


def row_walk(
    data: RowExplanation,
    ax: Axes | Figure | None = None,
    *,
    lists: Literal["all", "templates", "subjects"] = "all",
    name: str | None = None,
    **style: Any,
) -> RowWalkDisplay:
    """Draw one row: its ordered list with roles, the threshold, and the counters.

    Parameters
    ----------
    data : Explanation
        What :func:`bioeval.explain` returns.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given. Other lists of the row, such as that
        of subjects, are drawn below the first.
    lists : {"all", "templates", "subjects"}
        Which lists are drawn. A slide has room for one list; of a long one, it shows the first
        place, those on both sides of the threshold, and the mates, as far as there is room.
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
    return RowWalkDisplay.from_results(data, lists).plot(ax, name=name, **style)

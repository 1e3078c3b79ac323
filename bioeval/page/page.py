"""Write results as one self-contained HTML file: the answer, rates, figures, sections, origin."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import math
import os
import platform
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from html import escape, unescape
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import jinja2
import numpy as np
import xarray as xr
import xxhash
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from bioeval.base.arguments import require_list, require_number, require_path, require_text
from bioeval.base.environment import source_date
from bioeval.base.errors import BioevalWarning, DataError, printable
from bioeval.base.files import replacing
from bioeval.base.version import __version__
from bioeval.page.threshold import (
    COMPARISON,
    SUMMARIES,
    PageRates,
    PageResults,
    RatesByThreshold,
    doubts_of_systems,
    is_evaluation,
    rates_table,
    uncounted_thresholds,
)
from bioeval.plot.display import Display
from bioeval.plot.files import plot_files, svg_text
from bioeval.plot.plot_axes import GRID, PALETTE, SHADE, SHADES, Style
from bioeval.plot.rate_plots import det
from bioeval.plot.score_plots import draw_histograms, worst_pairs
from bioeval.plot.systems import joined
from bioeval.results.histogram import ScoreHistograms
from bioeval.results.variables import TASKS as VARIABLES_OF_TASKS
from bioeval.showing.images import Images
from bioeval.showing.markup import CSS, HtmlLines, body
from bioeval.showing.nodes import Node
from bioeval.showing.numbers import Lines
from bioeval.showing.show import sections_of
from bioeval.showing.text import (
    Block,
    Facts,
    Label,
    Messages,
    Paragraph,
    Picture,
    Section,
    Table,
    Text,
    Threshold,
    rates_are_of,
    say,
    task_of,
)

#: Pairs of each kind, at most, whose pictures are shown.
_MOST_PAIRS = 5

#: Other plots of a page, at most, and histograms of scores among them.
_MOST, _MOST_HISTOGRAMS = 8, 4

#: Plots that are above (the ROC has the rates of the DET), and what the table shows.
_SHOWN = ("worst_pairs", "det", "roc", "error_rates")

#: The rhombus of a mark on a curve, the colour of a line at a threshold, and the number of colours.
_RHOMBUS, _COLOUR_OF_LINE, _NUMBER_OF_COLOURS = "M0 -5L5 0L0 5L-5 0Z", 6, 7

#: Points of an inch, in which the places in a figure are counted.
_POINTS = 72


#: The variables of the style sheet that stand for the colours of plots.
_COLOURS = {
    "#ffffff": "var(--ground)",
    Style.text: "var(--text)",
    Style.quiet: "var(--quiet)",
    Style.rule: "var(--rule)",
    GRID: "var(--grid)",
    SHADE: "var(--panel)",
    **{colour.lower(): f"var(--c{i})" for i, colour in enumerate(PALETTE)},
}
for i in range(len(PALETTE)):  # darker shades are lighter on a dark ground
    for k, shade in enumerate(SHADES[1:], 1):
        mixed = f"var(--{'text' if shade < 0 else 'ground'}) {100 * abs(shade):g}%"
        _COLOURS[to_hex(Style.colour(i, k))] = f"color-mix(in srgb, var(--c{i}), {mixed})"

#: Places are rounded to this part of a point.
STEP = 0.1

_NUMBER = re.compile(r"-?\d+\.\d+")
_STYLE = re.compile(r' style="([^"]*)"')
_LINES = re.compile(r' d="([MLz\d\s.-]*)"')
_CURVES = re.compile(r' d="([^"]*[CQ][^"]*)"')


class PageFigures:
    """The figures of the results of a page, with marks at its threshold."""

    def __init__(self, results: PageResults, rates: PageRates | None, images: Images):
        self.results = results
        self.rates = rates
        self.images = images
        self.is_of_several = len(results.systems) > 1
        self._drawn_so_far = 0
        self._left_out: list[str] = []  # names of plots

    def first(self) -> list[str]:
        """Return the figures of the first view: the DET, and the images of the worst pairs."""
        figures = []
        if self.rates is not None:
            task = self.rates.leader.node.task
            curves = {
                curve: row for curve, row in self.rates.rows.items() if curve.node.task == task
            }
            data = {curve.system: curve.dataset for curve in curves}
            places = [
                (math.nan, math.nan) if row is None else (curve.far[row], curve.frr[row])
                for curve, row in curves.items()
            ]
            figures.append(self._drawn("DET", partial(det, self._alone(data)), places))
        pairs = {x.system: x.dataset for x in self.results.nodes if x.result_type == "worst-pairs"}
        if pairs:
            options: Any = {"images": self.images.column, "image_folder": self.images.folder}
            pictures = partial(worst_pairs, self._alone(pairs), pairs=_MOST_PAIRS, **options)
            figures.append(self._drawn("Worst pairs", pictures))
        return [*filter(None, figures)]

    def other_plots(self) -> list[str]:
        """Return the other figures that the results support, histograms of scores first."""
        figures: list[str] = []
        thresholds: dict[RatesByThreshold, float] = {}
        if self.rates is not None:
            for curve in self.rates.first_curves:
                thresholds[curve] = self.rates.cells(curve)["threshold"].value
        for curve, threshold in thresholds.items():
            if is_evaluation(curve.node):
                if len(figures) == _MOST_HISTOGRAMS:
                    self._left_out.append(f"scores {curve.system}")
                    continue
                histograms = ScoreHistograms.between_thresholds(curve.dataset)
                if len(histograms.by_class) > 1:
                    by_name = {curve.system if self.is_of_several else "": histograms}
                    draw = partial(draw_histograms, by_name)
                    figures.append(self._drawn(f"scores {curve.system}", draw, line=threshold))
        by_task: dict[str, dict[str, dict[str, xr.Dataset]]] = {}
        for node in sorted(self.results.nodes, key=lambda node: not is_evaluation(node)):
            task, _, part = node.task.partition("/")
            if node.task.startswith("threshold_study/"):  # a tree of its parts
                by_task[task][node.system][part] = node.dataset
            else:
                by_task.setdefault(node.task, {})[node.system] = {"/": node.dataset}
        if "verification/single" in by_task:
            by_task.pop("verification/multi", None)
        left_out = _SHOWN if self.rates is not None else _SHOWN[:1]
        for by_system in by_task.values():
            data: dict[str, Any] = {}
            for system, parts in by_system.items():
                data[system] = xr.DataTree.from_dict(parts) if len(parts) > 1 else parts["/"]
            for file in plot_files(data if len(data) > 1 else next(iter(data.values())), left_out):
                name = " ".join(filter(None, (file.stem.replace("-", " "), file.system)))
                if file.log:
                    continue
                if len(figures) < _MOST:
                    figures += filter(None, [self._drawn(name, file.draw)])
                else:
                    self._left_out.append(name)
        return figures

    def left_out(self) -> Text:
        """Return which plots the page left out for room, and the command that draws them."""
        if not self._left_out:
            return ""
        return say(
            "Not drawn for room: {plots}. bioeval run FILES --out FOLDER --plots draws them.",
            plots=", ".join(self._left_out),
        )

    def _alone(self, data: Mapping[str, Any]) -> Any:
        return data if self.is_of_several else next(iter(data.values()))

    def _drawn(
        self,
        title: str,
        draw: Callable[..., Display],
        places: Sequence[tuple[float, float]] = (),
        line: float | None = None,
    ) -> str:
        """Return a figure, with marks at `places`, or with a vertical line at a threshold.

        Empty if nothing can be drawn.
        """
        figure = Figure(layout="constrained")
        display = draw(ax=figure)
        if display.why_empty:
            return ""
        self._drawn_so_far += 1
        label = joined(title, display.caption, by=": ")
        text = svg_of(figure, f"figure-{self._drawn_so_far}", printable(label))
        axes = display.ax_
        marks = [_mark(figure, axes, x, y, i) for i, (x, y) in enumerate(places)]
        if line is not None:
            marks.append(_mark(figure, axes, line, 0.0, _COLOUR_OF_LINE, is_line=True))
        return text.removesuffix("</svg>") + "".join(marks) + "</svg>"


def _mark(
    figure: Figure, axes: Axes, x: float, y: float, colour: int, *, is_line: bool = False
) -> str:
    """Return a mark as SVG, at the edge of the axes if its place is outside of them.

    Empty if its place is not defined.
    """
    box = axes.get_window_extent()
    with np.errstate(all="ignore"):
        pixels = axes.transData.transform((x, y))
    right, up = np.clip(pixels, (box.x0, box.y0), (box.x1, box.y1)) * _POINTS / figure.dpi
    if not (math.isfinite(right) and math.isfinite(up)):
        return ""
    down = _POINTS * figure.get_size_inches()[1] - up
    kind, shape = "mark", _RHOMBUS
    if is_line:
        kind, shape = "limit", f"M0 0V-{_POINTS * box.height / figure.dpi:.0f}"
    place = f"translate({right:.4g} {down:.4g})"
    return f'<path class="{kind} c{colour % _NUMBER_OF_COLOURS}" d="{shape}" transform="{place}"/>'


def svg_of(figure: Figure, name: str, title: str) -> str:
    """Return a figure as an SVG element; `name` is the beginning of all its ids."""
    text = svg_text(figure)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->|<title>.*?</title>", "", text, flags=re.S)
    width, height = (72 * side for side in figure.get_size_inches())
    head = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}" '
        'xmlns:xlink="http://www.w3.org/1999/xlink">'
    )
    text = head + text[text.index(">") + 1 :]
    text = _STYLE.sub(lambda match: _attributes(match[1]), text)
    text = _LINES.sub(lambda match: f' d="{_thinned(match[1])}"', text)
    text = _CURVES.sub(lambda match: f' d="{_rounded(match[1])}"', text)
    text = re.sub(r' (x|y|transform)="([^"]*)"', lambda x: f' {x[1]}="{_rounded(x[2])}"', text)
    text = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", text)
    used = {*re.findall(r'href="#([^"]*)"', text), *re.findall(r"url\(#([^)]*)\)", text)}
    text = re.sub(r' id="([^"]*)"', lambda x: f' id="{name}-{x[1]}"' * (x[1] in used), text)
    text = re.sub(r"(href=\"|url\()#", rf"\1#{name}-", text)
    return re.sub(r">\s+<", "><", text).replace("</svg>", "").strip() + "</svg>"


def _attributes(style: str) -> str:
    written = ""
    for part in unescape(style).split(";"):
        name, _, value = part.strip().partition(":")
        value = value.strip()
        if not name or name == "font-family" or (name, value) == ("stroke-dashoffset", "0"):
            continue
        written += f' {name}="{escape(_COLOURS.get(value, value))}"'
    return written


def _rounded(text: str) -> str:
    return _NUMBER.sub(lambda x: f"{round(float(x[0]), 2):g}", text)


def _thinned(path: str) -> str:
    """Return lines in steps of a tenth of a point, without corners that cannot be seen.

    A horizontal or vertical run keeps only its ends.
    """
    written = ""
    for piece in path.split("M")[1:]:
        numbers = re.findall(r"-?[\d.]+", piece)
        points = np.round(np.array(numbers, dtype=float).reshape(-1, 2) / STEP) * STEP
        moved = np.append(True, (np.diff(points, axis=0) != 0).any(axis=1))
        points = points[moved]
        if len(points) > 2:
            steps = np.sign(np.diff(points, axis=0))
            same = (steps[1:] == steps[:-1]).all(axis=1) & (steps[1:] == 0).any(axis=1)
            points = points[~np.concatenate([[False], same, [False]])]
        written += f"M{points[0, 0]:.6g} {points[0, 1]:.6g}"
        for (x0, y0), (x, y) in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
            if y == y0:
                written += f"H{x:.6g}"
            elif x == x0:
                written += f"V{y:.6g}"
            else:
                written += f"L{x:.6g} {y:.6g}"
        written += "z" * ("z" in piece)
    return written


_Part = TypeVar("_Part")

#: Systems that the title of a page names, at most.
_MOST_NAMED = 4

#: The title of the section of evaluations.
_MEASURES = "Measures"

#: Pixels along the longer side of pictures that are stored without loss, and how others are.
_SMALL, _JPEG = 64, {"quality": 82}

#: Packages whose versions a page names, and the bytes of a file that are read at a time.
_PACKAGES = ("numpy", "numba", "scipy", "xarray")
_PIECE = 1 << 22


def report(
    results: Any,
    path: str | os.PathLike[str],
    *,
    threshold: float | None = None,
    title: str = "",
    files: Sequence[str | os.PathLike[str]] = (),
    command: str = "",
    images: str = "",
    image_folder: str | os.PathLike[str] = ".",
) -> Path:
    """Write results as one self-contained HTML page.

    The page has the answer, the rates at a threshold, and the DET; folded, the tables of all
    results, plots, notes, and what it was made from. It has no script, and needs no network, no
    server, and no other file.

    Parameters
    ----------
    results : xarray.Dataset, xarray.DataTree, explained row, or mapping or list of these
        What a function of bioeval returned, several systems by name, or several results of the same
        systems as a list: ``[be.evaluate(scores), be.study_threshold(scores, "far=0.01"),
        be.check_data(scores)]``. A dataset that was loaded from a file is one too. Checks of data
        and rows that :func:`explain` returned have a section each. With a threshold study the
        answer of the page is its threshold, at which the rates are; results at another threshold
        say so. Without one the rates are at the threshold of the results if they have one in
        common, as a promise and an evaluation at its threshold have, and the promise is the answer.
    path : path
        The HTML file to write, completely or not at all.
    threshold : float, optional
        Threshold of the rates on the page. The results need to have rates at it, as
        ``be.evaluate(scores, extra_thresholds=[threshold])`` has.
    title : str, optional
        Title of the page. Default: the names of the systems.
    files : sequence of paths, optional
        Files that the results were made from; the page has a digest (xxh3_128) of each.
    command : str, optional
        The command or call that makes the page again.
    images : str, optional
        Metadata column of the image files of samples: the worst pairs and the templates of
        explained rows, if the results have them, are shown with small pictures. The faces that come
        with bioeval are shown without it.
    image_folder : path
        The folder of these files. Files outside of it are not read, also by way of a link.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    DataError
        If the results are something else, two results have one name, results of one system are of
        other scores, none has rates over thresholds while `threshold` is given, or `path` cannot be
        written.

    Warns
    -----
    BioevalWarning
        Some images cannot be shown, with their number and the first of them.

    Examples
    --------
    >>> import bioeval as be
    >>> results = be.evaluate(be.simulate(20, 4), interval="people")
    >>> be.report(results, "report.html")  # doctest: +SKIP
    """
    with replacing(path) as part:
        title = printable(require_text("title", title))
        command = printable(require_text("command", command))
        if isinstance(files, str | os.PathLike):
            names = [files]
        else:
            names = require_list("files", files)
        read = [require_path("files", file) for file in names]
        missing = next((file for file in read if not file.exists()), None)
        if missing is not None:
            raise DataError(f"{missing}: no such file")
        folder = require_path("image_folder", image_folder)
        pictures = Images(require_text("images", images), folder if images else None)
        opening = None if threshold is None else require_number("threshold", threshold)
        # Results as the text of an HTML page.
        page = PageResults.collected(results)
        rates = PageRates.from_nodes(page.nodes, opening)
        uncounted = uncounted_thresholds(page.nodes, opening)
        kind_of_rates = ""
        if rates is not None:
            dataset = rates.leader.dataset
            of_searches = task_of(dataset) == "identification"
            kind_of_rates = rates_are_of(dataset.attrs, searches=of_searches)
        lines = _PageLines(kind_of_rates, pictures)
        document = _PageDocument(page, _PageLines("", pictures))
        about_threshold = _about_threshold(page, rates, uncounted)
        answer = [*document.answers, *map(lines.write, about_threshold)]
        table = None if rates is None else rates_table(rates, len(page.systems) > 1, lines)
        figures = PageFigures(page, rates, pictures)
        first, plots = figures.first(), figures.other_plots()
        alarms = [*map(lines.write, doubts_of_systems(page.nodes)), *document.alarms]
        style = CSS + _asset("page.css")
        digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
        names = [x["title"] for x in document.sections[:1]]
        heading = ", ".join(names)
        if page.evaluated:
            names, number = page.systems[:_MOST_NAMED], len(page.systems)
            heading = ", ".join(names)
            if number > _MOST_NAMED:
                heading = f"{number} systems: {heading} and {number - _MOST_NAMED} more"
        environment = jinja2.Environment(
            autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        text = environment.from_string(_asset("page.html.j2")).render(
            title=printable(title) or heading,
            version=__version__,
            answer=answer,
            alarms=list(dict.fromkeys(alarms)),
            first=first,
            table=table,
            # Where nothing is above it, the first section is not folded.
            unfolded=1 if table is None else 0,
            sections=document.sections,
            notes=list(dict.fromkeys(document.notes)),
            plots=plots,
            left_out=lines.write(figures.left_out()),
            origin=[*_origin_of(read, command, page.nodes)],
            style=style,
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
            "base-uri 'none'; form-action 'none'",
        )
        text = _DIRECTIONS.sub(lambda match: printable(match[0]), text)
        part.write_text(text, encoding="utf-8", newline="\n")
    if pictures.missing:
        warnings.warn(pictures.remark(), BioevalWarning, stacklevel=2)
    return Path(path)


def _about_threshold(
    results: PageResults, rates: PageRates | None, uncounted: Mapping[str, Threshold]
) -> Iterator[Text]:
    """Yield at which threshold the rates are, and why, where no answer of a study says it.

    `uncounted` has the thresholds without rates, by system.
    """
    for system, threshold in uncounted.items():
        yield say(
            "The evaluation of {system:name} has no rates at {threshold}, so none are shown here: "
            "evaluate with extra_thresholds=[{number}].",
            system=system,
            threshold=threshold,
            number=repr(threshold.value),
        )
    if rates is None:
        return
    if len(results.systems) > 1:
        if not any(x.result_type == COMPARISON for x in results.nodes):
            yield "Whether these systems differ was not tested: bioeval compare does."
        return
    opening = rates.opening
    if opening.of_study:
        if opening.about_target:
            yield opening.about_target
        return
    at = rates.cells(rates.leader)["threshold"]
    yield say("The rates are at the threshold {at}, {why}.", at=at, why=opening.why)
    if chosen_on := str(rates.leader.dataset.attrs.get("chosen_on", "")):
        yield say("The threshold was chosen on {data}.", data=chosen_on)
    elif opening.is_chosen:
        yield "It was chosen on these data: bioeval threshold tells the rates on new people."


# Controls of the direction of text, with which a label could show other words than it holds.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@cache
def _asset(name: str) -> str:
    return files("bioeval.page").joinpath(name).read_text(encoding="utf-8")


class _PageDocument:
    """The sections of a page as HTML by title, and what leaves them: its other parts."""

    def __init__(self, results: PageResults, lines: Lines):
        self.sections: list[dict[str, str]] = []
        self.answers: list[str] = []
        self.alarms: list[str] = []
        self.notes: list[str] = []
        self._said = set[str]()
        systems = results.systems
        by_title: dict[tuple[str, str], list[Node]] = {}
        for node in results.nodes:
            root = node.task.partition("/")[0]
            title = root.replace("_", " ").capitalize()
            if root in VARIABLES_OF_TASKS:
                summaries = (x for dim, x in SUMMARIES.items() if dim in node.dataset.dims)
                title = next(summaries, _MEASURES)
            by_title.setdefault((title, node.system if node.record else ""), []).append(node)
        studies = sorted(
            by_title.items(),
            key=lambda x: (not is_evaluation(x[1][0])) + (x[1][0].result_type != COMPARISON),
        )
        for (title, _), nodes in studies:
            heading: Text = title
            if len({node.system for node in nodes}) == 1:
                heading = _of_system(systems, nodes[0].system, title)
                nodes = [node._replace(system="") for node in nodes]
            (section,) = sections_of(nodes, "brief")
            self._add(heading, section, list(self._rest(section, lines)), lines)
        for document in results.documents:
            section = document.result._section()
            name = section.title or document.name or section.id.capitalize()
            heading = _of_system(systems, document.system, name)
            self._add(heading, section, section.blocks, lines)

    def _add(self, title: Text, section: Section, blocks: Sequence[Block], lines: Lines) -> None:
        lines = lines.of_task(section.task)
        text = body(replace(section, title="", blocks=blocks), lines).replace(
            '<div class="in"><table', '<div class="in" tabindex="0"><table'
        )
        if text:
            self.sections.append({"title": lines.write(title), "text": text})

    def _rest(self, section: Section, lines: Lines) -> Iterator[Block]:
        """Collect answers and messages of a section; yield other blocks without earlier notes."""
        lines = lines.of_task(section.task)
        for block in section.blocks:
            match block:
                case Messages():
                    sentences = self.alarms if block.alarm else self.notes
                    for about, texts in lines.sentences_about(block.messages).items():
                        sentences += [f"{about}: {x}" if about else x for x in texts]
                case Paragraph(role="answer"):
                    self.answers.append(lines.write(block.text))
                case Paragraph(role="note"):
                    yield from (replace(block, text=x) for x in self._new([block.text]))
                case Table():
                    yield replace(block, notes=self._new(block.notes))
                case Facts():
                    yield replace(block, facts=self._new(block.facts))
                case Section():
                    yield replace(block, blocks=list(self._rest(block, lines)))
                case _:
                    yield block

    def _new(self, parts: Iterable[_Part]) -> list[_Part]:
        new = [x for x in parts if repr(x) not in self._said]
        self._said |= {repr(x) for x in new}
        return new


def _of_system(systems: Sequence[str], system: str, title: Text) -> Text:
    if len(systems) == 1 or system not in systems:
        return title
    return say("{title}: {system}", title=title, system=Label(system))


class _PageLines(HtmlLines):
    """Lines of HTML with small pictures of templates."""

    def __init__(self, task: str, images: Images):
        super().__init__(task)
        self.images = images

    def picture(self, picture: Picture) -> str:
        name = picture.source
        if isinstance(name, Mapping):  # names by the column of metadata
            column = self.images.column_of(name)
            if not column:
                return ""
            name = name[column]
        elif not self.images.shows(str(name)):
            return ""
        image = self.images.find(name := str(name))
        if image is None:
            return escape(f"{name}: no image; {self.images.missing[name]}")
        raw = io.BytesIO()
        small = image.mode == "L" and max(image.size) <= _SMALL
        image.save(raw, "PNG" if small else "JPEG", optimize=True, **{} if small else _JPEG)
        data = base64.b64encode(raw.getvalue()).decode("ascii")
        source = f"data:image/{'png' if small else 'jpeg'};base64,{data}"
        return f'<img class="thumb" src="{source}" alt="{escape(name)}">'


def _origin_of(
    files: Iterable[str | os.PathLike[str]], command: str, nodes: Sequence[Node]
) -> Iterator[tuple[str, str]]:
    """Yield the origin of a page as names and texts: command, files, software, date, scores, seed.

    A file has its xxh3_128 digest; a folder that of the names and bytes of its files.
    """
    if command:
        yield "Command", command
    for file in dict.fromkeys(files):
        hashed, path = xxhash.xxh3_128(), Path(file)
        inner = sorted(filter(Path.is_file, path.rglob("*"))) if path.is_dir() else [path]
        for inner_file in inner:
            if path.is_dir():
                hashed.update(inner_file.relative_to(path).as_posix().encode())
            with open(inner_file, "rb") as stream:
                while piece := stream.read(_PIECE):
                    hashed.update(piece)
        yield "File", f"{printable(path.name)} xxh3_128:{hashed.hexdigest()}"
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    python = f"Python {platform.python_version()}"
    yield "Software", ", ".join([f"bioeval {__version__}", python, *versions])
    moment = source_date()
    date = datetime.fromtimestamp(int(time.time()) if moment is None else moment, tz=UTC)
    yield "Date", date.strftime("%Y-%m-%d")
    single = [x for x in nodes if x.result_type != COMPARISON]
    fingerprints = {x.system: str(x.dataset.attrs.get("fingerprint", "")) for x in single}
    for system, fingerprint in fingerprints.items():
        if fingerprint:
            yield f"Scores of {system}", fingerprint
    seeds = [x.dataset.attrs.get(k, "") for x in nodes for k in ("random_state", "splitter_seed")]
    if seeds := list(dict.fromkeys(str(x) for x in seeds if x != "")):
        yield "Seed", ", ".join(seeds)

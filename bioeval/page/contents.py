"""A page as text: the answer, the threshold with its table, the sections of results, figures."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from html import escape
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from bioeval.base.errors import printable
from bioeval.base.messages import Message
from bioeval.base.version import __version__
from bioeval.document.blocks import (
    Block,
    Facts,
    Messages,
    Paragraph,
    Section,
    Table,
    supported,
)
from bioeval.document.cells import Picture, Quantity
from bioeval.document.results import cell_of, rate_of, span_of_thresholds, threshold_rule
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Term, Text, say
from bioeval.page.items import Item, doubts_of_systems, items_of, systems_of
from bioeval.page.next_scores import with_shared_next
from bioeval.page.svg import places_in_svg, svg_of
from bioeval.page.threshold import RATES, Moving, RatesByThreshold
from bioeval.plot.display import Display
from bioeval.plot.files import PlotFile, plot_files
from bioeval.plot.rate_plots import det
from bioeval.plot.score_plots import draw_histograms
from bioeval.plot.worst_pair_plots import worst_pairs
from bioeval.results.dataset import THRESHOLD_STUDY
from bioeval.results.histogram import ScoreHistograms
from bioeval.showing.document import section_of
from bioeval.showing.nodes import Node
from bioeval.studies.thresholds.answers import new_people
from bioeval.tables.sections import study_sections
from bioeval.views.images import Images
from bioeval.views.tasks import value_of
from bioeval.views.terms import task_of, words_of
from bioeval.views.writers.html import CSS, HtmlLines, body
from bioeval.views.writers.numbers import printed

#: Systems, at most, that are columns of a table of measures, and that have sentences.
FEW = 5

#: Plots of a page, at most.
MOST = 8

#: Plots that are above (the ROC has the rates of the DET), and what the control shows.
_SHOWN = ("worst_pairs", "det", "roc", "error_rates")

#: Said of a study at whose threshold no rates of the evaluation were counted.
_UNCOUNTED = (
    "The evaluation of {system:name} has no rates at {at}, so none are shown here: evaluate with "
    "extra_thresholds=[{number}]."
)

#: Pixels along the longer side of pictures that are stored without loss, and how others are.
_SMALL, _JPEG = 64, {"quality": 82}

#: Facts of the data, which a page says once.
_OF_DATA = ("Data", "Scores", "Made of", "Read", "NaN", "Excluded", "Terms")


class PageLines(HtmlLines):
    """Lines of HTML with small pictures of templates."""

    def __init__(self, vocabulary: str, task: str, images: Images):
        super().__init__(vocabulary, task)
        self.images = images

    def picture(self, picture: Picture) -> str:
        """Return a small picture of a template; nothing where its name stands for none."""
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


@dataclass
class PageBlocks:
    """The blocks of sections by their places on a page: answers, doubts and messages leave them."""

    answers: list[tuple[Text, str]] = field(default_factory=list)  # with the task of their rates
    alarms: list[tuple[Messages, str]] = field(default_factory=list)
    notes: dict[Message, str] = field(default_factory=dict)
    explained: set[str] = field(default_factory=set)

    def rest_of(self, section: Section, answering: bool, facts: bool) -> Section:
        """Return a section without what stands elsewhere: its answers if it is `answering`."""
        return replace(section, blocks=list(self._rest(section, section.task, answering, facts)))

    def _rest(self, section: Section, task: str, answering: bool, facts: bool) -> Iterator[Block]:
        for block in section.blocks:
            match block:
                case Messages(alarm=True):
                    self.alarms.append((block, task))
                case Messages():
                    self.notes |= {x: task for x in block.messages if x not in self.notes}
                case Table():  # a note that explains several tables is said once
                    notes = [x for x in block.notes if repr(x) not in self.explained]
                    self.explained |= {repr(x) for x in notes if not isinstance(x, Message)}
                    yield replace(block, notes=notes)
                case Paragraph(role="answer") if answering:
                    self.answers.append((block.text, task))
                case Facts() if facts:
                    yield replace(block, facts=[x for x in block.facts if x.name not in _OF_DATA])
                case Section():
                    inner = list(self._rest(block, block.task or task, answering, facts))
                    yield replace(block, blocks=inner)
                case _:
                    yield block


class Page:
    """Results as the parts of a page."""

    def __init__(self, results: Any, images: Images, terms: str, threshold: float | None):
        self.items = with_shared_next(items_of(results))
        if terms:
            self.items = [
                replace(x, dataset=x.dataset.assign_attrs(terms=terms)) for x in self.items
            ]
        self.images, self.systems = images, systems_of(self.items)
        self.several = len(self.systems) > 1
        self.terms = terms or words_of(self.items[0].dataset)
        self.evaluated = [x for x in self.items if x.is_evaluation]
        self.moving = Moving(self.items, threshold)
        self.given = threshold
        self.parts = PageBlocks()
        leader = self.moving.leader
        self.lines = self._lines(_task_of(leader.item.dataset) if leader else "")
        self.figures = 0
        self.marks: list[list[Any]] = []  # each with its place at every point

    def _lines(self, task: str = "") -> PageLines:
        return PageLines(self.terms, task, self.images)

    def _written(self, section: Section) -> str:
        lines = self._lines(section.task)
        return body(section, lines).replace(
            '<div class="in"><table>', '<div class="in" tabindex="0"><table>'
        )

    # ---------------------------------------------------------------- sections

    def sections(self) -> list[dict[str, str]]:
        """Return the sections, each with its title; what stands elsewhere is taken out."""
        written = []
        for title, section in self._sections():
            text = self._written(section)
            if text:
                written.append({"title": title, "text": text})
        return written

    def _sections(self) -> Iterator[tuple[str, Section]]:
        if self.evaluated:
            nodes = [
                Node(x.system if self.several else "", "", x.path, x.dataset)
                for x in self.evaluated
            ]
            section = section_of(nodes, verbose=False)
            title = "Measures, each at its own threshold" if self.moving.curves else "Measures"
            yield title, self.parts.rest_of(section, answering=False, facts=False)
        studies: dict[str, dict[str, xr.Dataset]] = {}
        for x in self.items:
            if not x.is_evaluation and x.result is None:
                studies.setdefault(x.system, {})[x.path] = x.dataset
        sections = study_sections(studies)
        sections.sort(key=lambda x: x[1].id != "comparison")
        named = [("", system, section) for system, section in sections]
        for x in self.items:
            if x.result is not None:
                named += [(x.name, x.system, section) for section in x.sections()]
        first = bool(self.evaluated)
        for name, system, section in named:
            section = supported(section)
            title = self._lines().write(section.title) or escape(printable(name))
            title = title or section.id.replace("_", " ").capitalize()
            if self.several and system in self.systems:
                title += f": {escape(printable(system))}"
            # Of several systems, the table of the threshold has the thresholds of their studies.
            answering = not first or self._is_answer(section.id)
            yield title, self.parts.rest_of(replace(section, title=""), answering, facts=first)

    def _is_answer(self, section: str) -> bool:
        """Whether the answers of a section beside an evaluation are those of the page."""
        if section == "threshold_study":
            return self.given is None and not self.several
        return section in ("comparison", "promise")

    # ---------------------------------------------------------------- answer

    def answer(self) -> list[str]:
        """Return the sentences of the answer: those of studies, then the rates."""
        sentences = [self._lines(task).write(text) for text, task in self.parts.answers]
        for system, at in self.moving.uncounted.items():
            sentences.append(
                self.lines.write(say(_UNCOUNTED, system=system, at=at, number=repr(at.value)))
            )
        if self.moving.leader is not None and not self.several:
            sentences += map(self.lines.write, self._rates(self.moving.leader))
        elif self.moving.leader is not None:
            if not any(x.type == "comparison" for x in self.items):
                sentences.append(
                    "Whether these systems differ was not tested: bioeval compare does."
                )
        else:
            for system in self.systems[:FEW]:
                sentences += self._ranks([x for x in self.evaluated if x.system == system])
        return sentences

    def _rates(self, leader: RatesByThreshold) -> Iterator[Text]:
        """Yield the rates at the threshold with which the page opens."""
        cells, opening = self.moving.cells(leader)[self.moving.start], self.moving.opening
        dataset = leader.item.dataset
        study = None
        if self.given is None:
            study = next((x.dataset for x in self.items if x.type == THRESHOLD_STUDY), None)
        promised = study is not None and np.isfinite(study.get("assured_threshold", np.nan))
        which: Text = ""
        if not opening.of_study:
            which = say(", {why}", why=opening.why)
        elif study is not None and "assured_threshold" in study and not promised:
            which = ", the one without assurance"
        what = "impostor attempts"
        if leader.item.path == "open_set":
            what = "searches by people who are not enrolled"
        made: dict[str, Text] = {}
        for attempts in ("impostor", "genuine"):
            number = value_of(dataset, f"{attempts}_attempts")
            made[attempts] = say("{n:count} ", n=number) if number else ""
        yield say(
            "At the threshold {at}{which}, {far} of {impostor}{what} are accepted and {frr} of "
            "{genuine}genuine attempts are rejected on these data.",
            at=cells["threshold"],
            which=which,
            far=cells["far"],
            what=what,
            frr=cells["frr"],
            **made,
        )
        if opening.of_study:
            yield opening.why
        if study is not None and not promised:
            yield from _on_new_people(study)
        elif study is None and (chosen_on := str(dataset.attrs.get("chosen_on", ""))):
            yield say("The threshold was chosen on {data}.", data=chosen_on)
        elif study is None and opening.is_chosen:
            yield "It was chosen on these data: bioeval threshold tells the rates on new people."

    def _ranks(self, items: Sequence[Item]) -> Iterator[str]:
        """Yield how often the right person is among the first in the searches of a system."""
        for x in items:
            name = next((k for k in ("cms", "cmc") if k in x.dataset), "")
            if not name or x.dataset[name].dims != ("rank",):
                continue
            more: Text = ""
            if "mean_ap" in x.dataset:
                mean = cell_of(x.dataset, "mean_ap")
                more = say("; the mean average precision (mAP) is {mean}", mean=mean)
            text = say(
                "{whose}{rate} of searches find the right person at rank 1{more}.",
                whose=say("{system:name}: ", system=x.system) if self.several else "",
                rate=cell_of(x.dataset, name, {"rank": 0}),
                more=more,
            )
            yield self._lines(_task_of(x.dataset)).write(text)
            return

    # ---------------------------------------------------------------- threshold

    def table(self) -> dict[str, Any] | None:
        """Return the table of the threshold, a row for each system and task; None without one."""
        moving = self.moving
        if moving.leader is None:
            return None
        curves = moving.curves
        if self.several:  # the first task of each
            curves = [x for x in curves if self._is_first(x)]
        columns = ["threshold", *(x for x in RATES if any(x in c.item.dataset for c in curves))]
        keys: dict[str, Any] = {"system": lambda c: c.system} if self.several else {}
        if len({x.item.path for x in curves}) > 1:
            keys["task"] = lambda c: str(c.item.dataset.attrs["task"])
        rows = []
        for number, curve in enumerate(curves):
            lines = self._lines(_task_of(curve.item.dataset))
            at = moving.cells(curve)
            cells = []
            for name in columns:
                texts = [_cell(lines, x.get(name)) for x in at]
                cells.append((f"cell-{number}-{name}", texts))
            names = [escape(printable(key(curve))) for key in keys.values()]
            rows.append({"names": names, "cells": cells})
        terms = [self.lines.write(Term(x)) if x in RATES else x for x in columns]
        heads = [*keys, *terms]
        return {"heads": heads, "rows": rows, "start": moving.start, "note": self._note()}

    def _is_first(self, curve: RatesByThreshold) -> bool:
        return curve is self.moving._first_of(curve.system)

    def _note(self) -> str:
        """Return what the rows of the table are."""
        opening = self.moving.opening
        texts: list[Text] = []
        if self.several and opening.of_study:
            texts.append("Each system is at the threshold of its own study.")
            texts.append(opening.why)
        elif self.several and self.given is not None:
            texts.append("All systems are at the threshold that was given.")
        elif self.several and {x.system for x in self.moving.curves} == {*self.moving.opened}:
            texts.append("Each system is at the threshold of its own results.")
        elif self.several:
            text = (
                "Each system is at its own threshold: {leader:name} at {why}, the others at the "
                "loosest with this {far}."
            )
            texts.append(say(text, leader=self.moving.curves[0].system, why=opening.why))
        leader = self.moving.leader
        if leader is not None and "far_low" in leader.item.dataset:
            level = float(leader.item.dataset.attrs.get("confidence", 0.95))
            text = (
                "In brackets: {level:rate} intervals at this very threshold; those of {frr} at a "
                "{far} allow for another choice of it."
            )
            texts.append(say(text, level=level))
        return " ".join(map(self.lines.write, texts))

    # ---------------------------------------------------------------- figures

    def first(self) -> list[str]:
        """Return the figures of the first view: the DET, and the images of the worst pairs."""
        figures = []
        if self.moving.leader is not None:
            path = self.moving.leader.item.path
            curves = {x.system: x for x in self.moving.curves if x.item.path == path}
            data: Any = {name: x.item.dataset for name, x in curves.items()}
            figures.append(self._drawn("DET", partial(det, self._alone(data)), curves=curves))
        pairs: Any = {x.system: x.dataset for x in self.items if x.type == "worst-pairs"}
        if pairs:
            options: Any = {"images": self.images.column, "image_folder": self.images.folder}
            pictures = partial(worst_pairs, self._alone(pairs), pairs=FEW, **options)
            figures.append(self._drawn("Worst pairs", pictures))
        return [*filter(None, figures)]

    def _alone(self, data: Mapping[str, Any]) -> Any:
        """Return results by name, or the only one."""
        return data if self.several else next(iter(data.values()))

    def plots(self) -> list[str]:
        """Return the other figures that the results support, those of scores first."""
        figures: list[str] = []
        for curve in self.moving.curves:
            if curve.item.is_evaluation and self._is_first(curve) and len(figures) < MOST // 2:
                histograms = ScoreHistograms.between_thresholds(curve.item.dataset)
                if len(histograms.by_class) > 1:
                    by_name = {curve.system if self.several else "": histograms}
                    draw = partial(draw_histograms, by_name)
                    figures.append(self._drawn(f"scores {curve.system}", draw, line=curve))
        for file in self._files():
            if len(figures) < MOST:
                name = " ".join(filter(None, (file.stem.replace("-", " "), file.system)))
                figures += filter(None, [self._drawn(name, file.draw)])
        return figures

    def _files(self) -> Iterator[PlotFile]:
        """Yield the plots of the results, of each task those of several systems together."""
        by_path: dict[str, dict[str, xr.Dataset]] = {}
        for x in sorted(self.items, key=lambda x: not x.is_evaluation):
            if x.result is None:
                by_path.setdefault(x.path, {})[x.system] = x.dataset
        if "verification/single" in by_path:
            by_path.pop("verification/multi", None)
        without = _SHOWN if self.moving.leader is not None else _SHOWN[:1]
        for of_path in by_path.values():
            data: Any = of_path if len(of_path) > 1 else next(iter(of_path.values()))
            for file in plot_files(data, without):
                if not file.log:
                    yield file

    def _drawn(
        self,
        title: str,
        draw: Callable[..., Display],
        curves: Mapping[str, RatesByThreshold] | None = None,
        line: RatesByThreshold | None = None,
    ) -> str:
        """Return a figure, with a mark on each of its `curves`, or a `line` at a threshold.

        Empty if nothing can be drawn.
        """
        figure = Figure(layout="constrained")
        display = draw(ax=figure)
        if display.why_empty:
            return ""
        self.figures += 1
        name = f"figure-{self.figures}"
        text = svg_of(figure, name, printable(title))
        marks = ""
        axes = display.ax_
        high = 72 * axes.get_window_extent().height / figure.dpi
        shape = "M0 -5L5 0L0 5L-5 0Z" if line is None else f"M0 0V-{high:.0f}"
        for colour, x, y in self._marked(curves or {}, line):
            number = f"mark-{len(self.marks)}"
            at = places_in_svg(figure, axes, x, y)
            self.marks.append([number, at])
            place = at[self.moving.start]
            shown = f'transform="translate({place[0]} {place[1]})"' if place else ""
            kind = "mark" if line is None else "limit"
            shown = shown or 'visibility="hidden"'
            marks += f'<path id="{number}" class="{kind} c{colour % 7}" d="{shape}" {shown}/>'
        return text.removesuffix("</svg>") + marks + "</svg>"

    def _marked(
        self, curves: Mapping[str, RatesByThreshold], line: RatesByThreshold | None
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the colour of each curve, and its place at every point of the control."""
        for hue, curve in enumerate(curves.values()):
            rows = np.array(self.moving.rows[id(curve)])
            x, y = (np.where(rows < 0, np.nan, v[rows]) for v in (curve.far, curve.frr))
            yield hue, x, y
        if line is not None:
            rows = np.array(self.moving.rows[id(line)])
            x = np.where(rows < 0, np.nan, line.thresholds[rows])
            yield 6, x, np.zeros(len(x))


def _cell(lines: PageLines, cell: Quantity | None) -> str:
    """Return a number in a table; its interval may stand in the next line."""
    text = "" if cell is None else lines.number(printed(cell).text)
    return text.replace(" %", "\u00a0%").replace(", ", ",\u00a0")


def _task_of(dataset: xr.Dataset) -> str:
    return rates_are_of(dataset.attrs, searches=task_of(dataset) == "identification")


def _on_new_people(study: xr.Dataset) -> Iterator[Text]:
    """Yield the rates on new people, which are of other thresholds."""
    if threshold_rule(study.attrs).name == "fixed":
        return
    test = {"part": study["part"].values.tolist().index("test")}
    yield say(
        "On {who}, thresholds chosen in the same way ({span}) accept {far} of impostor attempts "
        "and reject {frr} of genuine attempts, on average.",
        who=new_people(study),
        span=span_of_thresholds(study, "folds/threshold"),
        far=rate_of(study, "far", test),
        frr=rate_of(study, "frr", test),
    )


# --------------------------------------------------------------------------------- text


def page_text(
    results: Any,
    title: str,
    origin: Sequence[tuple[str, str]],
    images: Images,
    terms: str,
    threshold: float | None,
) -> str:
    """Return results as the text of an HTML page, in their own terms unless others are given.

    `origin` are names and texts about what they were made from.
    """
    page = Page(results, images, terms, threshold)
    sections = page.sections()
    answer, table, first, plots = page.answer(), page.table(), page.first(), page.plots()
    lines = page._lines()
    alarms = list(map(lines.write, doubts_of_systems(page.items)))
    for block, task in page.parts.alarms:
        for whose, sentences in page._lines(task).sentences_about(block.messages).items():
            alarms += [f"{whose}: {x}" if whose else x for x in sentences]
    notes = []
    for message, task in page.parts.notes.items():
        notes.append(page._lines(task).message(message))
    style, script = CSS + _asset("page.css"), _asset("page.js")
    points: dict[str, Any] = {"cells": [], "marks": page.marks}
    for row in table["rows"] if table is not None else ():
        points["cells"] += row["cells"]
    names = page.systems[:4] if page.evaluated else [x["title"] for x in sections[:1]]
    text = _template().render(
        title=printable(title) or ", ".join(names),
        version=__version__,
        answer=answer,
        alarms=list(dict.fromkeys(alarms)),
        first=first,
        table=table,
        # Where nothing is above it, the first section is not folded.
        unfolded=1 if table is None else 0,
        sections=sections,
        notes=list(dict.fromkeys(notes)),
        plots=plots,
        origin=[*origin, *_made_from(page.items)],
        style=style,
        script=script,
        policy=_policy(style, script),
        points=_json(points),
    )
    return _DIRECTIONS.sub(lambda match: printable(match[0]), text)


def _made_from(items: list[Item]) -> Iterator[tuple[str, str]]:
    """Yield the fingerprints of the scores, and the seeds of the results."""
    fingerprints = {x.system: str(x.dataset.attrs.get("fingerprint", "")) for x in items}
    for system, fingerprint in fingerprints.items():
        if fingerprint:
            yield f"Scores of {system}", fingerprint
    seeds = [x.dataset.attrs.get(k, "") for x in items for k in ("random_state", "splitter_seed")]
    if seeds := list(dict.fromkeys(str(x) for x in seeds if x != "")):
        yield "Seed", ", ".join(seeds)


def _json(given: Any) -> str:
    """Return data as JSON that cannot end its element."""
    text = json.dumps(given, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return _ESCAPED_DIRECTIONS.sub(r"\1\\\\u\2", text)


def _policy(style: str, script: str) -> str:
    """Return the content security policy: no network, and only the page's style and script."""

    def digest(text: str) -> str:
        raw = hashlib.sha256(text.encode("utf-8")).digest()
        return f"'sha256-{base64.b64encode(raw).decode('ascii')}'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


# Controls of the direction of text, with which a label could show other words than it holds, in
# markup and as JSON has them.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ESCAPED_DIRECTIONS = re.compile(r"(?<!\\)((?:\\\\)*)\\u(061c|200[ef]|202[a-e]|206[6-9])")


@cache
def _asset(name: str) -> str:
    return files("bioeval.page").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    """Return the frame of a page."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("page.html.j2"))

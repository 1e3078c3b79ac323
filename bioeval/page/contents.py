"""The contents of a page, and its text: one template, one style sheet, one script."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import math
import os
import platform
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import jinja2
import xarray as xr
import xxhash
from matplotlib.figure import Figure as Drawn

from bioeval.base.environment import source_date
from bioeval.base.errors import CardError, DataError, printable
from bioeval.base.version import __version__
from bioeval.document.blocks import Fact, Facts, Figure, Messages, Paragraph, Section, Table, walk
from bioeval.document.cells import threshold_to_install
from bioeval.document.results import attempts_in_words, interval_note, is_doubt, messages_of_result
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Term, Text, say
from bioeval.page.figures import (
    GENUINE,
    IMPOSTOR,
    Drawing,
    PageFigure,
    as_address,
    figures_of,
    pictures_of,
)
from bioeval.page.parts import (
    BOTH,
    EVALUATED,
    OF_SYSTEMS,
    ArrayStore,
    LiveRow,
    LiveState,
    PageItem,
    doubts_of_systems,
    grouped,
    labelled,
    parts_of,
    section_of,
    systems_of,
)
from bioeval.page.sentences import Headline, headline
from bioeval.page.tables import (
    TaskParts,
    cost_table,
    figure_table,
    live_table,
    live_value,
    measure_table,
    target_table,
)
from bioeval.page.together import at_another_threshold, refuse_other_data
from bioeval.page.writer import PageWriter, digits, paragraph
from bioeval.plot.files import display_of
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import explain, load, of_claims
from bioeval.tables.sections import sections_of, study_sections
from bioeval.views.images import Images
from bioeval.views.sections.evaluation import details_of_task, is_identification
from bioeval.views.sections.header import about, alarms_of, optimistic
from bioeval.views.tasks import datasets
from bioeval.views.terms import words_of
from bioeval.views.writers.lines import Lines

_PACKAGES = ("numpy", "numba", "scipy", "xarray")
_PIECE = 1 << 22  # bytes of a file that are read at a time


@dataclass(frozen=True)
class PageSources:
    """What a page was made from."""

    files: Sequence[tuple[str, str]]  # the name of each file, and its digest
    command: str
    date: str

    @classmethod
    def of(cls, files: Iterable[str | os.PathLike[str]], command: str) -> PageSources:
        """Read files to compute their digests."""
        listed = []
        for file in dict.fromkeys(files):
            listed.append((printable(Path(os.fspath(file)).name), digest(file)))
        moment = source_date()
        if moment is None:
            moment = int(time.time())
        return cls(listed, command, datetime.fromtimestamp(moment, tz=UTC).strftime("%Y-%m-%d"))

    @property
    def versions(self) -> str:
        """The versions of Python and of the packages that compute."""
        listed = [f"Python {platform.python_version()}"]
        for name in _PACKAGES:
            listed.append(f"{name} {importlib.metadata.version(name)}")
        return ", ".join(listed)


def digest(file: str | os.PathLike[str]) -> str:
    """Return the xxh3_128 digest of a file; of a folder, of the names and bytes of its files."""
    hashed = xxhash.xxh3_128()
    path = Path(file)
    inner = sorted(filter(Path.is_file, path.rglob("*"))) if path.is_dir() else [path]
    for each in inner:
        if path.is_dir():
            hashed.update(each.relative_to(path).as_posix().encode())
        with open(each, "rb") as stream:
            while piece := stream.read(_PIECE):
                hashed.update(piece)
    return hashed.hexdigest()


@dataclass(frozen=True)
class Told:
    """A result that is no dataset, or has one of many partitions, with what is said of it."""

    name: str  # under which it was given
    result: Any
    section: Section
    system: str = ""  # that it is of

    @property
    def title(self) -> str:
        """Its name, or what it is."""
        return self.name or self.section.id.replace("_", " ").capitalize()

    def of_one_of(self, systems: Sequence[str]) -> Told:
        """Return it with its system: that under whose name it was given, or which it names."""
        if self.name in systems:
            return replace(self, system=self.name, name="")
        return replace(self, system=str(getattr(self.result, "system", "")))


def apart(results: Any, name: str = "") -> tuple[Any, list[Told]]:
    """Return results without those that are no datasets (None if nothing is left), and these."""
    if isinstance(results, xr.Dataset | xr.DataTree):
        if any("partition" in dataset.dims for _, dataset in datasets(results)):
            return None, [Told(name, results, section) for section in _sections_of(results)]
        return results, []
    if isinstance(results, list | tuple):
        pairs = [apart(result, name) for result in results]
        told = [x for _, of_it in pairs for x in of_it]
        rests = [rest for rest, _ in pairs if rest is not None]
        return (None if told and not rests else rests), told
    if not isinstance(results, Mapping):
        return None, [Told(name, results, section) for section in _sections_of(results)]
    others: dict[Any, Any] = {}
    told = []
    for key, result in results.items():
        rest, of_it = apart(result, str(key))
        told += of_it
        if rest is not None:
            others[key] = rest
    return (None if told and not others else others), told


def _sections_of(result: Any) -> list[Section]:
    """Return what a study says of a result that is no dataset."""
    try:
        sections = sections_of(result)
    except DataError:
        sections = []
    if not sections:
        raise DataError(
            f"a report got {type(result).__name__}; expected a Dataset or a DataTree of results, "
            "a check of data, a row of be.explain, or a mapping of name to these"
        )
    return sections


class Page:
    """Results as sections of a page, each written once."""

    def __init__(self, results: Any, images: Images, terms: str):
        rest, self.told = apart(results)
        self.parts = [] if self.told and rest is None else labelled(parts_of(rest))
        self.told = [x.of_one_of(systems_of(self.parts)) for x in self.told]
        refuse_other_data(self.parts, [(x.title, x.system, x.result) for x in self.told])
        if terms:
            self.parts = [
                replace(part, dataset=part.dataset.assign_attrs(terms=terms)) for part in self.parts
            ]
        self.images = images
        self.state, self.store = LiveState(self.parts), ArrayStore()
        self.systems = systems_of(self.parts)
        live = (live.part.system for live in self.state.parts)
        drawn = list(dict.fromkeys([*live, *self.systems]))
        self.hues = {name: drawn.index(name) for name in self.systems}
        self.drawing = Drawing(self.store, self.hues, self.several)
        vocabulary = next((words_of(part.dataset) for part in self.parts), "lecture")
        self.writer = PageWriter(terms or vocabulary, images, self.hues, self._picture)
        self.studies = {name: study_sections(x) for name, x in self._of_studies().items()}

    @property
    def several(self) -> bool:
        """Whether there are several systems."""
        return len(self.systems) > 1

    def _of_studies(self) -> dict[str, dict[str, dict[str, xr.Dataset]]]:
        """Return the results of studies by their section, their system and their task."""
        found: dict[str, dict[str, dict[str, xr.Dataset]]] = {}
        for part in self.parts:
            if part.task not in EVALUATED:
                of_section = found.setdefault(section_of(part), {})
                of_section.setdefault(part.system, {})[part.task] = part.dataset
        return found

    # -------------------------------------------------------------------- sections

    def task(self, name: str, parts: list[PageItem], rows: list[LiveRow]) -> dict[str, Any]:
        """Return the figures and the blocks of one section, of its parts and of those that move."""
        figures = figures_of([at.live for at in rows], self.drawing)
        histograms = 0
        for number, figure in enumerate(figures):
            _place(figure, f"{figure.plot}-{name.replace('/', '-')}-{number}", rows)
            histograms += figure.plot == "histogram"
        section = TaskParts(parts, len(parts) > 1)
        evaluated = [part for part in parts if part.task in EVALUATED]
        details, blocks, live = [], [], ""
        if rows and (table := live_table(section, rows, self.state)):
            live = self._table(table, section)
        if evaluated:
            details = self._details(section)
            for table in (target_table(section), measure_table(section), cost_table(section)):
                blocks.append(self._table(table, section))
            blocks.append(self._table(figure_table(section), section, folded=True))
        for system, said in self.studies.get(name, []):
            of_system = next((x.dataset for x in parts if x.system == system), None)
            if self.several and system:
                blocks.append(f"<h3>{self.writer.lines().system(system)}</h3>")
            if of_system is not None and name != "threshold_study":
                moved = at_another_threshold(of_system, self.state.answers.get(system))
                lines = self.writer.lines(said.task)
                blocks.append(paragraph(lines.write(moved), "alarm") if moved else "")
            blocks.append(
                self.writer.section(
                    said,
                    f"{name}-{system}" if self.several and system else name,
                    {"task": parts[0].task} | ({"system": system} if system else {}),
                    skip=("answer",) if name in self._answering() else (),
                    result=of_system,
                )
            )
        return {
            "name": name,
            "id": f"task-{as_id(name)}",
            "title": section.title,
            "details": details,
            "live": live,
            "scattered": self.several and histograms > 1,
            "figures": figures,
            "blocks": "".join(blocks),
        }

    def _table(self, table: Table | None, section: TaskParts, folded: bool | None = None) -> str:
        """Return a table of a task."""
        if table is None:
            return ""
        lines = self.writer.lines(_task_of_rates(section.parts[0].dataset))
        return self.writer.table(table, lines, f"{table.id}-{section.name}", folded)

    def _details(self, section: TaskParts) -> list[str]:
        """Return the options of the parts, each with those it is of where they differ."""
        written: dict[str, list[PageItem]] = {}
        for part in section.parts:
            lines = self.writer.lines(_task_of_rates(part.dataset))
            said = "; ".join(map(lines.write, details_of_task(part.dataset)))
            if said:
                written.setdefault(said, []).append(part)
        if len(written) < 2:
            return list(written)
        labels = {text: ", ".join(part.label for part in of) for text, of in written.items()}
        return [f"{escape(labels[text])}: {text}" for text in written]

    def row(self, told: Told, number: int) -> dict[str, Any]:
        """Return the section of a result that is no dataset."""
        lines = self.writer.lines(told.section.task)
        file = f"row-{number}"
        title = lines.write(told.section.title or told.title)
        if len(grouped(self.told, lambda x: x.system)) > 1:
            title = f"{title} of {lines.literal(told.system)}"
        return {
            "id": file,
            "title": title,
            "blocks": self.writer.section(told.section, file, result=told.result),
        }

    def _picture(self, figure: Figure, result: Any, name: str) -> str:
        """Return a plot of a result as a picture."""
        drawn = Drawn(layout="constrained")
        display_of(figure.plot).from_results(result, **figure.options).plot(drawn)
        source, wide = as_address(drawn)
        return picture(figure.plot, "", f"{name}-{figure.plot}", source, wide)

    # -------------------------------------------------------------------- messages, header

    def answer(self) -> Headline:
        """Return the answer of the page."""
        said = []
        for name in self._answering():
            said += self.studies[name]
        return headline(self.parts, self.state, said)

    def _answering(self) -> list[str]:
        """Return the sections whose answers are at the top: that of the threshold studies alone.

        Without one, all are there; where they are not, their answers are in their own sections.
        The verdict of a comparison is at the top as well, for it is about the systems themselves.
        """
        if "threshold_study" not in self.studies:
            return list(self.studies)
        first = [name for name in self.studies if name == OF_SYSTEMS]
        return ["threshold_study", *first]

    def messages(self) -> list[dict[str, Any]]:
        """Return each message with what it is about, doubts about whole results first."""
        found: dict[str, dict[str, Any]] = {}

        def add(text: str, of: str, serious: bool) -> None:
            entry = found.setdefault(text, {"text": text, "of": {}, "serious": serious})
            entry["of"][of] = None
            entry["serious"] |= serious

        lines = self.writer.lines()
        for title, text in doubts_of_systems(self.parts):
            add(lines.write(text), escape(title), True)
        for part in self.parts:
            if part.task not in EVALUATED:
                continue
            lines = self.writer.lines(_task_of_rates(part.dataset))
            of = escape(f"{part.system}: {part.title}" if self.several else part.title)
            doubts = list(alarms_of(part.dataset))
            for message in (*doubts, *messages_of_result(part.dataset)):
                add(lines.message(message), of, message in doubts)
        for sections in self.studies.values():
            for system, section in sections:
                self._add_messages(section, system if self.several else "", add)
        for told in self.told:
            self._add_messages(told.section, "", add)
        for entry in found.values():
            everywhere = len(entry["of"]) == len(self.parts)
            entry["of"] = "" if everywhere else "; ".join(filter(None, entry["of"]))
        return sorted(found.values(), key=lambda entry: not entry["serious"])

    def _add_messages(self, section: Section, system: str, add: Any) -> None:
        """Add the messages of a section, each with the names that it concerns."""
        for place, block in walk(section):
            if not isinstance(block, Messages):
                continue
            lines = self.writer.lines(place.task or section.task)
            for message in block.messages:
                of = [lines.literal(x) for x in (system, *message.about) if x]
                add(lines.message(message), "; ".join(of), block.alarm or is_doubt(message))

    def data(self) -> list[dict[str, Any]]:
        """Return in words the data of the systems: common facts first, then each system's."""
        by_system: dict[str, dict[str, xr.Dataset]] = {}
        for part in self.parts:
            # A comparison is of the data of its systems.
            if part.task != OF_SYSTEMS or len(self.parts) == 1:
                by_system.setdefault(part.system, {})[part.task] = part.dataset
        written: dict[str, dict[str, str]] = {}
        for name, tasks in by_system.items():
            evaluated = {x: ds for x, ds in tasks.items() if x in EVALUATED}
            facts = [x for x in about(evaluated or tasks).facts if x.variable != "system"]
            written[name] = self._written(facts, name, evaluated)
        if not written:
            return []
        first, *others = written.values()
        common = set(first.items()).intersection(*map(dict.items, others))
        self.writer.facts |= common
        said = [{"system": "", "lines": [fact for fact in first.items() if fact in common]}]
        for name, lines in written.items():
            own = [fact for fact in lines.items() if fact not in common]
            if len(written) == 1 or own:
                said.append({"system": name if others else "", "lines": own})
        return [data for data in said if data["lines"]]

    def _written(
        self, facts: list[Fact], system: str, tasks: Mapping[str, xr.Dataset]
    ) -> dict[str, str]:
        """Return facts of a system as HTML by name; the terms are those of its rates.

        They are of the tasks of an evaluation, or else of what studies say of the system.
        """
        rates = say("{far} {frr}")
        words = {"identification": say("{far} {dir}")}
        of_tasks = list(dict.fromkeys(map(_task_of_rates, tasks.values())))
        shown = [Section("", "", [Paragraph(words.get(x, rates))], task=x) for x in of_tasks]
        if not tasks:
            for of_section in self.studies.values():
                shown += [said for of, said in of_section if of in ("", system)]
        whole = Section("", "", shown, task="verification")
        written = self.writer.lines().facts(Facts(facts), whole)
        return {fact.name: text for fact, text in written}

    def remarks(self) -> list[str]:
        """Return what holds for all results: their intervals, and rates that are optimistic."""
        evaluated = {
            f"{part.system}/{part.task}": part.dataset
            for part in self.parts
            if part.task in EVALUATED
        }
        lines = self.writer.lines()
        texts: list[Text] = [note.text for note in interval_note(evaluated, "Intervals")]
        if not texts:
            for dataset in evaluated.values():
                if not {"far", "cms", "cmc"}.isdisjoint(dataset.data_vars):
                    texts = [_NO_INTERVALS]
        texts.append(optimistic(evaluated.values()))
        return [lines.write(text) for text in texts if text]


def _task_of_rates(dataset: xr.Dataset) -> str:
    return rates_are_of(dataset.attrs, searches=is_identification(dataset))


_NO_INTERVALS = say(
    "No confidence intervals were computed; evaluate with {arg.interval=subject-bootstrap}."
)


def picture(plot: str, title: str, file: str, source: str, wide: bool) -> str:
    """Return a picture with buttons that save it; the title is HTML."""
    return (
        f'<figure class="plot picture{" wide" if wide else ""}" data-file="{escape(file)}">'
        f'<figcaption>{title}</figcaption><img data-plot="{escape(plot)}" src="{source}" '
        f'alt="{escape(plot)}; the tables of this page have its numbers."><p class="tools">'
        '<button type="button" data-save="svg">SVG</button> '
        '<button type="button" data-save="png">PNG</button></p></figure>'
    )


def page_text(results: Any, title: str, provenance: PageSources, images: Images, terms: str) -> str:
    """Return results as the text of an HTML page, in their own terms unless others are given."""
    page = Page(results, images, terms)
    parts, state, drawing, writer = page.parts, page.state, page.drawing, page.writer
    data = page.data()
    tasks = []
    moved = grouped(state.rows, lambda at: section_of(at.part))
    for name, of_task in grouped(parts, section_of).items():
        tasks.append(page.task(name, of_task, moved.get(name, [])))
    answer = page.answer()
    first = None
    if not answer.is_empty:  # which it stands beside
        first = _taken_out(tasks, ("det" if drawing.several else "histogram", "cmc"), state)
    figures = list(chain.from_iterable(task["figures"] for task in tasks))
    if first is not None:
        figures.append(first)
    rows = [page.row(told, number) for number, told in enumerate(page.told, start=1)]
    alerts = page.messages()
    style, script = _asset("page.css"), _asset("page.js")
    lines = writer.lines(_task_of_rates(state.leader.part.dataset) if state.leader else "")
    table = ""
    if answer.table is not None:
        table = writer.table(answer.table, lines, "systems", folded=False)
    names = page.systems[:4] or [
        Lines(writer.vocabulary).write(x.section.title or x.name or x.section.id)
        for x in page.told[:4]
    ]
    context = {
        "title": printable(title) or ", ".join(names),
        "hues": page.hues,
        "several": page.several,
        "sentences": list(map(lines.write, answer.sentences)),
        "table": table,
        "of_systems": [
            (lines.system(name), list(map(lines.write, said))) for name, said in answer.systems
        ],
        "first": first,
        "chosen": _chosen_rates(page),
        "common": any(
            state.shares_units(live) and not state.follows(live) for live in state.anchors.values()
        ),
        "state": state,
        "control": _control(page),
        "tasks": tasks,
        "rows": rows,
        "pictures": [
            picture(x["plot"], escape(x["title"]), x["file"], x["source"], x["wide"])
            for x in pictures_of(parts, images)
        ],
        "data": data,
        "warnings": alerts,
        "alarming": any(entry["serious"] for entry in alerts),
        "remarks": page.remarks(),
        "card": _card(page),
        "provenance": provenance,
        "seeds": ", ".join(dict.fromkeys(filter(None, map(_seed, parts)))),
        "version": __version__,
        "fingerprints": _fingerprints(parts),
        "style": style,
        "script": script,
        "policy": _policy(style, script),
        "payload": _payload(state, figures, page.store),
        "arrays": page.store.text(),
    }
    text = _template().render(context)
    return _DIRECTIONS.sub(lambda found: printable(found[0]), text)


def _taken_out(tasks: list[dict], plots: tuple[str, ...], state: LiveState) -> PageFigure | None:
    """Take the picture of the answer out of its section: the first of a kind, of the leader."""
    wanted = section_of(state.leader.part) if state.leader is not None else None
    for task in tasks:
        for figure in task["figures"]:
            if figure.plot in plots and wanted in (None, task["name"]):
                task["figures"].remove(figure)
                return figure
    return None


def _chosen_rates(page: Page) -> list[tuple[str, int, str]]:
    """Return the rates beside the picture of one system, with their colours."""
    if page.several or page.state.leader is None:
        return []
    at = page.state.row_of(page.state.leader.part)
    if at is None or not {"far", "frr"} <= set(at.live.columns):
        return []
    lines = page.writer.lines(_task_of_rates(at.part.dataset))
    rates = []
    for name, hue in (("far", IMPOSTOR), ("frr", GENUINE)):
        value = replace(live_value(at, name), interval=None)
        rates.append((lines.write(Term(name)), hue, lines.write(value)))
    return rates


def _payload(state: LiveState, figures: list[PageFigure], store: ArrayStore) -> str:
    """Return the data for the script of the page, as JSON that cannot end its element."""
    given: dict[str, Any] = {
        "parts": {str(live.number): live.payload(store) for live in state.parts},
        "leader": None,
        "threshold": None,
        "far": None,
        "follows": {},
        "sameUnits": {},
        "ofStudy": {},
        "anchors": {},
        "movers": [],
        "bins": {},
    }
    if state.leader is not None and state.chosen is not None:
        given["leader"] = state.leader.number
        given["threshold"] = state.chosen.threshold
        given["far"] = state.chosen.target
    for group, live in state.anchors.items():
        name = "\n".join(group)
        given["follows"][name] = state.follows(live)
        given["sameUnits"][name] = state.shares_units(live)
        given["anchors"][name] = live.number
        if group in state.of_study:
            given["ofStudy"][name] = state.of_study[group]
    for figure in figures:
        for mover in figure.movers:
            mover.pop("xs", None)
            mover.pop("ys", None)
            given["movers"].append(mover)
        if figure.table is not None:
            given["bins"][figure.file] = figure.table
    text = json.dumps(given, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return _ESCAPED_DIRECTIONS.sub(r"\1\\\\u\2", text)


def as_id(name: str) -> str:
    """Return a name as an id of the page: other signs than letters and digits are hyphens."""
    return "".join(sign if sign.isalnum() or sign == "_" else "-" for sign in name)


def _place(figure: PageFigure, file: str, rows: list[LiveRow]) -> None:
    """Name a figure, and put its marks at their places when the page opens."""
    figure.file = as_id(file)
    at = {row.live.number: row for row in rows}
    for number, mover in enumerate(figure.movers):
        mover["id"] = f"{figure.file}-mark-{number}"
        mover["now"] = _now(mover, at[mover["part"]])


def _now(mover: dict[str, Any], at: LiveRow) -> tuple[float, float | None] | None:
    """Return the place of a mark when the page opens; None outside of its picture."""
    if mover["by"] == "threshold":
        share = (at.threshold - mover["low"]) / (mover["high"] - mover["low"])
        if not 0 <= share <= 1:
            return None
        return round(mover["start"] + share * (mover["end"] - mover["start"]), 1), None
    index = 0 if mover["by"] == "rank" else at.row
    if index < 0:
        return None
    x, y = mover["xs"][index], mover["ys"][index]
    if mover["by"] == "row-rank":
        y = y[0]
    if math.isfinite(x) and math.isfinite(y):
        return round(float(x), 1), round(float(y), 1)
    return None


def _control(page: Page) -> dict[str, Any] | None:
    """Return the values of the controls of the page; None if nothing is live."""
    state = page.state
    if state.leader is None or state.chosen is None:
        return None
    low, high = state.limits
    part = state.leader.part
    text = Lines().write(threshold_to_install(state.chosen.threshold, part.kind))
    return {
        "low": digits(low),
        "high": digits(high),
        "value": digits(state.chosen.threshold),
        "text": text,
        "has_far": not math.isnan(state.far),
        "larger": part.accepts_larger,
    }


def _card(page: Page) -> dict[str, str] | None:
    """Return the protocol in plain words, if its card ships with bioeval."""
    names = [str(part.dataset.attrs.get("protocol", "")) for part in page.parts]
    names += [str(getattr(told.result, "protocol", "")) for told in page.told]
    for name in filter(None, dict.fromkeys(names)):
        try:
            return {"name": name, "text": explain(_in_use(load(name), page.parts))}
        except (CardError, OSError):
            continue
    return None


def _in_use(card: Protocol, parts: Sequence[PageItem]) -> Protocol:
    """Return a card of the claims alone, and of how they are made, where a system is in use."""
    used = [part.dataset.attrs for part in parts if part.task in BOTH]
    if not used or not all("use" in attrs for attrs in used):
        return card
    summary = f"Evaluated here: {attempts_in_words(used[0])}."
    return replace(of_claims(card), summary=summary)


def _seed(part: PageItem) -> str:
    """Return the seed of the draws of a result: of its folds, or its intervals."""
    attrs = part.dataset.attrs
    return str(attrs.get("random_state", attrs.get("splitter_seed", "")))


def _fingerprints(parts: list[PageItem]) -> list[tuple[str, str]]:
    fingerprints = {p.system: str(p.dataset.attrs.get("fingerprint", "")) for p in parts}
    return [(system, text) for system, text in fingerprints.items() if text]


# ------------------------------------------------------------------------- the files beside


def _policy(style: str, script: str) -> str:
    """Return the content security policy: no network, and only the page's style and script."""

    def digest(text: str) -> str:
        raw = hashlib.sha256(text.encode("utf-8")).digest()
        return f"'sha256-{base64.b64encode(raw).decode('ascii')}'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
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

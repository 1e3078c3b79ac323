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
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from operator import itemgetter
from pathlib import Path
from typing import Any

import jinja2
import xarray as xr
import xxhash
from matplotlib.figure import Figure

from bioeval import CardError, __version__
from bioeval.base import printable, renamed, source_date
from bioeval.protocol import explain, load
from bioeval.studies.page import words
from bioeval.studies.page.figures import (
    GENUINE,
    IMPOSTOR,
    Drawing,
    PageFigure,
    as_address,
    figures_of,
    pictures_of,
)
from bioeval.studies.page.parts import (
    SECTIONS,
    ArrayStore,
    LiveRow,
    LiveState,
    PageItem,
    call_of_study,
    doubts_of_systems,
    grouped,
    labelled,
    parts_of,
    section_of,
    systems_of,
)
from bioeval.studies.page.sentences import headline, rate_of
from bioeval.studies.page.tables import (
    ScalarSection,
    cost_table,
    frr_target_table,
    live_table,
    mean_table,
    other_tables,
    rank_table,
    scalar_tables,
    study_tables,
    target_table,
)
from bioeval.studies.page.words import Bounded, Number, table_of
from bioeval.views import Images, Thumbnail, term_translator
from bioeval.views.tables import (
    about as about_contents,
    alarms,
    intervals,
    optimistic,
    section as terminal_section,
    warnings,
)

_PACKAGES = ("numpy", "numba", "scipy", "xarray")
_PIECE = 1 << 22  # bytes of a file that are read at a time


@dataclass(frozen=True)
class PageSources:
    """What a page was made from."""

    files: Sequence[tuple[str, str]] = ()  # the name of each file, and its digest
    command: str = ""
    date: str = ""

    @classmethod
    def of(cls, files: Iterable[str | os.PathLike[str]], command: str = "") -> PageSources:
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


def apart(results: Any, images: Images) -> tuple[Any, list[dict[str, Any]]]:
    """Return results without explained rows (None if nothing is left), and these as sections."""
    for kind in type(results).__mro__:
        if told := SECTIONS.get(kind.__name__):
            return None, [call_of_study(told.whole, results, images)]
    if not isinstance(results, Mapping) or isinstance(results, xr.Dataset | xr.DataTree):
        return results, []
    others, rows = {}, []
    for key, result in results.items():
        rest, rows_of_it = apart(result, images)
        rows += rows_of_it
        if rest is not None or result is None:
            others[key] = rest
    if rows and not others:
        return None, rows
    return others, rows


def row_section(row: dict[str, Any], number: int, several: bool) -> dict[str, Any]:
    """Return the section of an explained row, given its number, and whether there are systems."""
    title = printable(f"{row['title']} of {row['system']}" if several else row["title"])
    file = f"{row['name']}-{number}"
    tables = []
    for given in row["tables"]:
        tables.append(table_of({**given, "name": f"{file}-{given['name']}"}).trimmed())
    figure = Figure(layout="constrained")
    row["display"].plot(figure)
    source, _ = as_address(figure)
    return row | {
        "id": f"row-{number}",
        "title": title,
        "tables": tables,
        "picture": {
            "plot": row["plot"],
            "title": f"{title} as a picture",
            "file": file,
            "source": source,
            "wide": True,
        },
    }


def page_text(results: Any, title: str, provenance: PageSources, images: Images) -> str:
    """Return results as the text of an HTML page."""
    results, told = apart(results, images)
    parts = [] if told and results is None else labelled(parts_of(results))
    several = len(grouped(told, itemgetter("system"))) > 1
    rows = []
    for number, row in enumerate(told, start=1):
        rows.append(row_section(row, number, several))
    state, store = LiveState(parts), ArrayStore()
    systems = systems_of(parts)
    drawn = list(dict.fromkeys([*(live.part.system for live in state.parts), *systems]))
    hues = {name: drawn.index(name) for name in systems}
    drawing = Drawing(store, hues, len(systems) > 1)
    tasks = []
    moved = grouped(state.rows, lambda at: section_of(at.part))
    for name, of_task in grouped(parts, section_of).items():
        tasks.append(_task(name, of_task, moved.get(name, []), state, drawing, images))
    answer = headline(parts, state)
    first = None
    if answer.sentences or answer.table or answer.systems:  # which it stands beside
        first = _taken_out(tasks, ("det" if drawing.several else "histogram", "cmc"), state)
    figures = []
    for task in tasks:
        figures += task["figures"]
    if first is not None:
        figures.append(first)
    alerts = [*doubts_of_systems(parts), *_warnings(parts)]
    style, script = _asset("page.css"), _asset("page.js")
    context = {
        "title": printable(title) or ", ".join(systems[:4] or [row["title"] for row in rows[:4]]),
        "hues": hues,
        "several": len(systems) > 1,
        "headline": answer,
        "first": first,
        "chosen": _chosen_rates(state, drawing),
        "common": any(
            state.shares_units(live) and not state.follows(live) for live in state.anchors.values()
        ),
        "state": state,
        "control": _control(state),
        "tasks": tasks,
        "rows": rows,
        "pictures": list(pictures_of(parts, images)),
        "data": _data(parts),
        "warnings": alerts,
        "alarming": any(map(itemgetter("serious"), alerts)),
        "remarks": _remarks(parts),
        "card": _card(parts, rows),
        "provenance": provenance,
        "seeds": ", ".join(dict.fromkeys(filter(None, map(_seed, parts)))),
        "version": __version__,
        "fingerprints": _fingerprints(parts),
        "style": style,
        "script": script,
        "policy": _policy(style, script),
        "payload": _payload(state, figures, store),
        "arrays": store.text(),
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


def _chosen_rates(state: LiveState, drawing: Drawing) -> list[tuple[str, int, Number]]:
    """Return the rates beside the picture of one system, with their colours."""
    if drawing.several or state.leader is None:
        return []
    at = state.row_of(state.leader.part)
    if at is None or not {"far", "frr"} <= set(at.live.columns):
        return []
    say = term_translator(at.part.dataset)
    return [
        (say("FAR"), IMPOSTOR, rate_of(at, "far", strong=True)),
        (say("FRR"), GENUINE, rate_of(at, "frr", strong=True)),
    ]


def _payload(state: LiveState, figures: list[PageFigure], store: ArrayStore) -> str:
    """Return the data for the script of the page, as JSON that cannot end its element."""
    given: dict[str, Any] = {
        "parts": {str(live.number): live.payload(store) for live in state.parts},
        "leader": None,
        "threshold": None,
        "far": None,
        "follows": {},
        "sameUnits": {},
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


def _task(
    name: str,
    parts: list[PageItem],
    rows: list[LiveRow],
    state: LiveState,
    drawing: Drawing,
    images: Images,
) -> dict[str, Any]:
    """Return the figures and tables of one section, of its parts and of those that move."""
    figures = figures_of([at.live for at in rows], drawing)
    histograms = 0
    for number, figure in enumerate(figures):
        _place(figure, f"{figure.plot}-{name.replace('/', '-')}-{number}", rows)
        histograms += figure.plot == "histogram"
    section = ScalarSection(parts, any(part.label for part in parts))
    candidates = []
    if rows:
        candidates.append(live_table(section, rows, state))
    candidates += study_tables(section)
    candidates += [target_table(section), frr_target_table(section), rank_table(section)]
    candidates += [mean_table(section), *scalar_tables(section), cost_table(section)]
    for part in parts:
        candidates += other_tables(part, len(drawing.hues), images)
    tables = []
    for table in candidates:
        if table is not None:
            tables.append(table.trimmed())
    return {
        "name": name,
        "id": f"task-{name.replace('/', '-')}",
        "title": section.title,
        "details": _all_details(parts),
        "scattered": drawing.several and histograms > 1,
        "figures": figures,
        "tables": tables,
    }


def _place(figure: PageFigure, file: str, rows: list[LiveRow]) -> None:
    """Name a figure, and put its marks at their places when the page opens."""
    figure.file = re.sub(r"[^\w-]", "-", file)
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


def _all_details(parts: list[PageItem]) -> list[str]:
    """Return the options of the parts of a section, each with those it is of where they differ."""
    by_details = grouped(parts, _details)
    by_details.pop("", None)
    if len(by_details) <= 1:
        return [*by_details]
    said = []
    of_task = grouped(parts, lambda part: part.task)
    for text, alike in by_details.items():
        every = sum(len(of_task[task]) for task in grouped(alike, lambda part: part.task))
        label = alike[0].label.rpartition(", ")[2]
        if every != len(alike):
            label = ", ".join(part.label for part in alike)
        said.append(f"{label}: {text}")
    return said


def _details(part: PageItem) -> str:
    """Return the options of a task, and its independent attempts, in words."""
    try:
        told = terminal_section(part.dataset, part.task)
    except (KeyError, ValueError, TypeError):  # of other results the tables say it
        return ""
    return "; ".join(filter(None, [told.details, *told.notes]))


def _control(state: LiveState) -> dict[str, Any] | None:
    """Return the values of the controls of the page; None if nothing is live."""
    if state.leader is None or state.chosen is None:
        return None
    low, high = state.limits
    part = state.leader.part
    return {
        "low": words.digits(low),
        "high": words.digits(high),
        "value": words.digits(state.chosen.threshold),
        "text": words.threshold(state.chosen.threshold, part.kind),
        "has_far": not math.isnan(state.far),
        "larger": part.accepts_larger,
    }


def _data(parts: list[PageItem]) -> list[dict[str, Any]]:
    """Return in words the data of the systems: common facts first, then each system's."""
    by_system: dict[str, dict[str, Any]] = {}
    for part in parts:
        if part.task != "comparison" or len(parts) == 1:  # which is of the data of its systems
            by_system.setdefault(part.system, {})[part.task] = part.dataset
    lines = {}
    for name, tasks in by_system.items():
        lines[name] = dict(about_contents(tasks))
        lines[name].pop("System", None)
    if not lines:
        return []
    first, *others = lines.values()
    common = set(first.items()).intersection(*map(dict.items, others))
    said = [{"system": "", "lines": [fact for fact in first.items() if fact in common]}]
    for name, facts in lines.items():
        apart = [fact for fact in facts.items() if fact not in common]
        said.append({"system": name if others else "", "lines": apart})
    return [data for data in said if data["lines"]]


#: A result of a page by its system and task.
_Path = tuple[str, str]


def _by_path(parts: list[PageItem]) -> dict[_Path, xr.Dataset]:
    return {(part.system, part.task): part.dataset for part in parts}


def _warnings(parts: list[PageItem]) -> list[dict[str, Any]]:
    """Return warnings with the results they are about, doubts about whole results first."""
    by_path = _by_path(parts)
    listed = []
    for serious, groups in ((True, alarms(by_path)), (False, warnings(by_path))):
        for text, paths in groups.items():
            said = term_translator(by_path[paths[0]])(str(_plain(text)))
            listed.append({"text": said, "of": _warned(paths, parts), "serious": serious})
    return listed


def _warned(paths: list[_Path], parts: list[PageItem]) -> str:
    """Return the tasks that a warning is about, with their systems where these are not all."""
    if len(paths) == len(parts):
        return ""
    of_task = grouped(parts, lambda part: part.task)
    texts = []
    for task, of_paths in grouped(paths, lambda path: path[1]).items():
        text = of_task[task][0].title
        if len(of_paths) < len(of_task[task]):
            text = f"{', '.join(system for system, _ in of_paths)}: {text}"
        texts.append(text)
    return "; ".join(texts)


def _plain(text: str) -> str:
    return renamed(text, lambda name, value: name if value is None else f"{name}={value}")


def _remarks(parts: list[PageItem]) -> list[str]:
    """Return what holds for all results: their intervals, and rates that are optimistic."""
    by_path = _by_path(parts)
    lines = intervals(by_path, "Intervals")
    if not lines:
        for part in parts:
            if not {"far", "cms", "cmc"}.isdisjoint(part.dataset.data_vars):
                lines = [_NO_INTERVALS]
    return [*lines, *optimistic(by_path.values())]


_NO_INTERVALS = "No confidence intervals were computed; evaluate with interval = subject-bootstrap."


def _card(parts: list[PageItem], rows: list[dict[str, Any]]) -> dict[str, str] | None:
    """Return the protocol in plain words, if its card ships with bioeval."""
    names = []
    for part in parts:
        names.append(str(part.dataset.attrs.get("protocol", "")))
    names += map(itemgetter("protocol"), rows)
    for name in filter(None, dict.fromkeys(names)):
        try:
            return {"name": name, "text": explain(load(name))}
        except (CardError, OSError):
            continue
    return None


def _seed(part: PageItem) -> str:
    """Return the seed of the draws of a result: of its folds, or its intervals."""
    attrs = part.dataset.attrs
    in_splitter = re.search(r"random_state=(\w+)", str(attrs.get("splitter", "")))
    if "random_state" in attrs:
        return str(attrs["random_state"])
    if in_splitter:
        return in_splitter[1]
    return ""


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
    return files("bioeval.studies.page").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    """Return the template, with tests for the kinds of cells of a table."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.tests |= {
        "number": lambda x: isinstance(x, Number),
        "thumbnail": lambda x: isinstance(x, Thumbnail),
        "bounded": lambda x: isinstance(x, Bounded),
    }
    return environment.from_string(_asset("page.html.j2"))

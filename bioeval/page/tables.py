"""The tables of a page of evaluations: live rates, measures, FAR targets, costs, single figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.base.kinds import larger_is_closer
from bioeval.base.registry import scalar_registry
from bioeval.document.blocks import Column, Table
from bioeval.document.cells import Count, Label, Number, Quantity, Rate, Score, threshold_to_install
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Term, Text, say
from bioeval.page.parts import (
    RATES,
    LivePart,
    LiveRow,
    LiveState,
    PageItem,
    attempts_of,
    grouped,
    section_of,
)
from bioeval.page.support import people_of, support
from bioeval.page.writer import PART
from bioeval.views.sections.evaluation import rows_of_task
from bioeval.views.writers.lines import Lines

_ENDS = ("_low", "_high")

#: A row of a table, with the part that it is of.
Row = tuple[PageItem, Sequence[Text | None]]


@dataclass(frozen=True)
class TaskParts:
    """The parts of a section, each with its label before its rows if `several`."""

    parts: list[PageItem]
    several: bool

    @property
    def name(self) -> str:
        """The section as a part of names of files."""
        return section_of(self.parts[0]).replace("/", "-")

    @property
    def title(self) -> str:
        """The title: the task of the parts, or what their tasks have in common."""
        titles = list(grouped(self.parts, lambda part: part.title))
        return titles[0] if len(titles) == 1 else "Verification"

    @property
    def _keys(self) -> list[Column]:
        """The columns that tell the parts apart."""
        keys = []
        if len(grouped(self.parts, lambda part: part.system)) > 1:
            keys.append(Column("system", "system"))
        if len(grouped(self.parts, lambda part: part.templates)) > 1:
            keys.append(Column("templates", "templates"))
        return keys

    def table(
        self, name: str, title: Text, columns: Sequence[Column], rows: Iterable[Row], **more: Any
    ) -> Table | None:
        """Return a table of rows, each with the part that it is of; None without any."""
        keys = self._keys
        body: list[list[Text | None]] = []
        for part, cells in rows:
            of: dict[str, Text] = {"system": Label(part.system), "templates": part.templates}
            body.append([*(of[key.name] for key in keys), *cells])
        if not body:
            return None
        return Table(name, [*keys, *columns], body, title=title, **more)


def at_part(part: PageItem, /, **more: Any) -> dict[str, Any]:
    """Return the coordinates of a number of a part."""
    return {"system": part.system, "task": part.task, **more}


# ------------------------------------------------------------------------ live rates


def live_table(section: TaskParts, rows: list[LiveRow], state: LiveState) -> Table | None:
    """Return the rates of one task at the threshold and the rank of the page."""
    body: list[Row] = []
    moved: dict[str, Text] = {}
    for at in rows:
        for name in _rates_of(at.live):
            if name in at.live.ranked or name in at.live.by_rank:
                moved["rank"] = "rank"
            body.append((at.part, _live_row(at, name)))
    for at in rows:
        if len(at.live.thresholds):
            moved.setdefault("threshold", "threshold")
            anchor = state.anchors[at.live.group]
            if anchor is not at.live:  # the task whose threshold it is
                of = anchor.part.words
                if anchor.part.templates:
                    of = f"{anchor.part.templates}-template verification"
                moved["threshold"] = f"threshold of {of}"
                break
    columns = [
        Column("rate", "rate"),
        Column("value", "value"),
        Column("count", "count"),
        Column("attempts", "attempts"),
        Column("threshold", "threshold used"),
    ]
    where = list(moved.values())
    if not where:
        return None
    title = say("{title}: rates at the {where}", title=section.title, where=where[0])
    if len(where) > 1:
        title = say(
            "{title}: rates at the {first} and the {second}",
            title=section.title,
            first=where[0],
            second=where[1],
        )
    return section.table("rates", title, columns, body)


#: Labels of curves of re-identification that move with the threshold.
_OF_CURVES = {
    "cmc": "CMC",
    "mrp": "mRP",
    "mvp": "mVP",
    "mrep": "mReP",
    "mfr": "mFR",
    "f1": "F1",
    "micro_f1": "micro F1",
    "ttr": "TTR",
    "ttr_identity": "TTR of identities",
    "ftr": "FTR",
}

_COUNTS = dict(RATES.values())  # of the rates, with the names of their attempts


def _rates_of(live: LivePart) -> Iterator[str]:
    """Yield the rates that move, without counts and ends of intervals; others unless all NaN."""
    for name in dict.fromkeys([*RATES, *live.columns]):
        if not live.has(name) or name in _COUNTS or name.endswith(_ENDS):
            continue
        if name in live.columns and live.part.dataset[name].attrs.get("units") == "attempts":
            continue
        if name in RATES or not np.isnan(live.columns[name]).all():
            yield name


def _live_row(at: LiveRow, name: str) -> list[Text | None]:
    """Return a rate with its interval, its count, and the threshold that it is at."""
    count, attempts = RATES.get(name, ("", ""))
    total = attempts_of(at.part, attempts)
    return [
        _label(name),
        live_value(at, name),
        live_count(at, count) if count and at.live.has(count) else None,
        Count(total) if total else None,
        None if name in at.live.by_rank else live_threshold(at),
    ]


def _label(name: str) -> Text:
    """Return the label of a rate or of a scalar; of another variable its name."""
    if name in ("far", "frr", "gar", "grr", "dir", "cms"):
        return Term(name)
    scalar = scalar_registry().get(name)
    if scalar is not None and scalar.label and not scalar.places:
        return label_of(scalar)
    return _OF_CURVES.get(name) or Label(name)


def live_value(at: LiveRow, name: str) -> Quantity:
    """Return a rate, or another number, at the row where the page opens, with its interval."""
    interval = None
    if at.live.has(f"{name}_low"):
        interval = at.value(f"{name}_low"), at.value(f"{name}_high")
    total = attempts_of(at.part, RATES.get(name, ("", ""))[1]) or None
    more: dict[str, Any] = {"interval": interval, "variable": name, "at": _moves(at)}
    value = float(at.value(name))
    scalar = scalar_registry().get(name)
    if name in RATES:
        return Rate(value, attempts=total, **more)
    if scalar is not None:
        return cell_of_scalar(scalar, value, attempts=total, **more)
    return Number(value, decimals=3, **more)


def live_count(at: LiveRow, name: str) -> Quantity:
    """Return a count at the row where the page opens; a mean of counts has decimals."""
    value, place = at.value(name), _moves(at)
    if at.part.dataset[name].dtype.kind in "iu":
        return Count(value, variable=name, at=place)
    return Number(value, variable=name, at=place)


def live_threshold(at: LiveRow) -> Score:
    """Return the threshold of the row where the page opens."""
    return threshold_to_install(at.threshold, at.part.kind, variable="threshold", at=_moves(at))


def _moves(at: LiveRow) -> dict[str, Any]:
    return at_part(at.part, **{PART: at.live.number})


# ------------------------------------------------------------------------ measures


def measure_table(section: TaskParts) -> Table | None:
    """Return the measures of parts that the terminal shows, those of one label together."""
    by_label: dict[str, list[Row]] = {}
    lines, thresholds = Lines(), False
    for part in section.parts:
        for row in rows_of_task(part.dataset):
            if "far_target" in row.value.at and "expected_false_accepts" in part.dataset:
                continue  # which have a table with what supports them
            value = row.value
            if value.variable in part.dataset:
                value = replace(value, at=at_part(part, **value.at))
            else:
                value = replace(value, variable="")
            over = row.over
            cells: list[Text | None] = [
                row.label,
                value,
                None if row.threshold is None else _used(row.threshold, part),
                None if over.genuine is None else Count(over.genuine),
                None if over.impostor is None else Count(over.impostor),
                Count(over.subjects) if over.subjects else None,
            ]
            thresholds |= row.threshold is not None
            by_label.setdefault(lines.write(row.label), []).append((part, cells))
    columns = [
        Column("measure", "measure"),
        Column("value", "value"),
        Column("threshold", "threshold"),
        Column("genuine", "genuine" if thresholds else "searches"),
        Column("impostor", "impostor"),
        Column("subjects", "subjects"),
    ]
    rows = [row for of_label in by_label.values() for row in of_label]
    return section.table("measures", say("{title}: measures", title=section.title), columns, rows)


def _used(threshold: float, part: PageItem) -> Score:
    """Return a threshold, which people may install, rounded to the stricter side."""
    return Score(threshold, rounded="up" if larger_is_closer(part.kind) else "down")


def target_table(section: TaskParts) -> Table | None:
    """Return the values at each FAR target, with what supports it."""
    rows: list[Row] = []
    searched = "dir_at_far" in section.parts[0].dataset
    note = ""
    for part in section.parts:
        rate = "frr_at_far" if "frr_at_far" in part.dataset else "dir_at_far"
        if rate not in part.dataset or "far_target" not in part.dataset.coords:
            continue
        if not {"far_target", "rank"}.issuperset(part.dataset[rate].dims):
            continue
        if f"{rate}_low" in part.dataset:
            note = "The intervals include the uncertainty of the threshold for the {far} target."
        for i, target in enumerate(part.dataset["far_target"].values.tolist()):
            rows.append((part, _target_row(part, rate, i, target)))
    columns = [
        Column("far_target", say("{far} target")),
        Column("value", say("{dir} there, rank 1" if searched else "{frr} there")),
        Column("threshold", "threshold"),
        Column("expected_false_accepts", say("{false accepts} expected")),
        Column("support", "support"),
    ]
    what = "{title}: {dir} at {far} targets" if searched else "{title}: {frr} at {far} targets"
    title, notes = say(what, title=section.title), [say(note)] if note else []
    return section.table("far-targets", title, columns, rows, notes=notes)


def _target_row(part: PageItem, rate: str, i: int, target: float) -> list[Text | None]:
    """Return a rate at a FAR target with its threshold, and what supports it."""
    dataset = part.dataset

    def at(name: str) -> dict[str, Any]:
        ranked = "rank" in dataset[name].dims
        return at_part(part, far_target=target, **({"rank": 1} if ranked else {}))

    def value(name: str) -> float:
        values = dataset[name]
        return float((values.isel(rank=0) if "rank" in values.dims else values).values[i])

    interval = None
    if f"{rate}_low" in dataset:
        interval = value(f"{rate}_low"), value(f"{rate}_high")
    total = attempts_of(part, "genuine_attempts") or None
    threshold = expected = expected_cell = None
    if "threshold_at_far" in dataset:
        name = "threshold_at_far"
        threshold = replace(_used(value(name), part), variable=name, at=at(name))
    if "expected_false_accepts" in dataset:
        name = "expected_false_accepts"
        expected = value(name)
        expected_cell = Number(expected, None, name, at(name))
    return [
        say("{target:rate}", target=target),
        Rate(value(rate), interval, rate, at(rate), attempts=total),
        threshold,
        expected_cell,
        None if expected is None else support(target, expected, people_of(dataset)),
    ]


def cost_table(section: TaskParts) -> Table | None:
    """Return the smallest costs of the parts of a section, with what they are of."""
    headings: dict[str, Text] = {
        "cost_prior": "genuine attempts, proportion",
        "cost_miss": say("cost of a {false reject}"),
        "cost_false_accept": say("cost of a {false accept}"),
        "min_dcf": "minDCF",
        "min_cost": "smallest cost, not normalised",
        "min_cost_threshold": "at threshold",
    }
    rows: list[Row] = []
    for part in section.parts:
        for i in range(part.dataset.sizes.get("cost", 0)):
            cells: list[Text | None] = []
            for name in headings:
                value = float(part.dataset[name].values[i]) if name in part.dataset else math.nan
                at = at_part(part, cost=i)
                cell: Quantity = Number(value, digits=6, variable=name, at=at)
                if name == "min_cost_threshold":
                    cell = replace(_used(value, part), variable=name, at=at)
                elif name == "min_dcf":
                    cell = cell_of_scalar(scalar_registry()[name], value, at=at)
                cells.append(cell)
            rows.append((part, cells))
    columns = [Column(name, heading) for name, heading in headings.items()]
    return section.table("cost", say("{title}: values by cost", title=section.title), columns, rows)


def figure_table(section: TaskParts) -> Table | None:
    """Return every variable without dimensions, with its meaning."""
    rows: list[Row] = []
    by_name: dict[str, list[Row]] = {}
    for part in section.parts:
        ends = {
            f"{name}{end}"
            for name, x in part.dataset.data_vars.items()
            if not x.dims
            for end in _ENDS
        }
        for name, variable in part.dataset.data_vars.items():
            if variable.dims or variable.dtype.kind not in "iufb" or name in ends:
                continue
            meaning = str(variable.attrs.get("long_name", ""))
            cells: list[Text | None] = [Label(name), _figure(part, str(name)), Label(meaning)]
            by_name.setdefault(str(name), []).append((part, cells))
    rows = [row for of_name in by_name.values() for row in of_name]
    columns = [
        Column("variable", "variable"),
        Column("value", "value"),
        Column("meaning", "meaning"),
    ]
    return section.table(
        "figures", say("{title}: all single figures", title=section.title), columns, rows
    )


def _figure(part: PageItem, name: str) -> Quantity:
    """Return a variable without dimensions as a cell."""
    variable, interval = part.dataset[name], None
    value = variable.item()
    if f"{name}_low" in part.dataset:
        interval = part.dataset[f"{name}_low"].item(), part.dataset[f"{name}_high"].item()
    more: dict[str, Any] = {"variable": name, "at": at_part(part)}
    is_score = variable.attrs.get("units") == "score"
    if is_score and "threshold" in name and interval is None:  # as in the other tables
        return replace(_used(value, part), **more)
    scalar = scalar_registry().get(name)
    if scalar is not None:
        return cell_of_scalar(scalar, value, interval=interval, **more)
    if is_score:
        return Score(value, interval, **more)
    if variable.dtype.kind in "iub":
        return Count(value, interval, **more)
    return Number(value, interval, digits=6, **more)

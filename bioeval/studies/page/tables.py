"""The tables of a page: live rates, single figures, values at FAR targets and ranks, the rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from bioeval.base import scalar_registry
from bioeval.studies.page import words
from bioeval.studies.page.parts import (
    RATES,
    LivePart,
    LiveRow,
    LiveState,
    PageItem,
    call_of_study,
    grouped,
    section_of,
    section_told,
)
from bioeval.studies.page.support import people_of, support
from bioeval.studies.page.words import (
    LONG,
    Bounded,
    Number,
    PageTable,
    Text,
    attempts_of,
    searches_of,
    shape_of,
    table_of,
)
from bioeval.tallies import per_cent
from bioeval.views import Images, Thumbnail, report_ranks, term_translator
from bioeval.views.tables import decimals_for

#: Rows of a table, at most: more are cut, and the table says so.
MOST_ROWS = 400

_TARGETS = {"far_target": "FAR target", "frr_target": "FRR target"}

# Dimensions whose values are curves, or have a table of their own.
_CURVES = ("threshold", "rank", *_TARGETS, "recall_level")

_ENDS = ("_low", "_high")


@dataclass(frozen=True)
class ScalarSection:
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
        if len(titles) == 1:
            return titles[0]
        return titles[0].partition(",")[0]

    @property
    def label_head(self) -> str:
        """The heading above the labels of the parts."""
        if len(grouped(self.parts, lambda part: part.system)) > 1:
            return "System"
        return "Templates"

    @property
    def interval_heads(self) -> list[str]:
        """The headings above both ends of intervals."""
        said = {str(part.dataset.attrs.get("confidence", "")) for part in self.parts} - {""}
        level = f"{100 * float(said.pop()):g} % " if len(said) == 1 else ""
        return [f"{level}from", "to"]

    def table(
        self, name: str, title: str, heads: list[str], rows: Iterable[Row], **how: Any
    ) -> PageTable | None:
        """Return a table of rows, each with the part that it is of; None without any."""
        body = []
        for part, cells in rows:
            if self.several:
                body.append([part.label, *cells])
            else:
                body.append(cells)
        if self.several:
            heads = [self.label_head, *heads]
        if body:
            return PageTable(name, f"{self.title}: {title}", heads, body, **how)
        return None


#: A row of a table, with the part that it is of.
Row = tuple[PageItem, list[Any]]


def live_table(section: ScalarSection, rows: list[LiveRow], state: LiveState) -> PageTable | None:
    """Return the rates of one task at the threshold and the rank of the page."""
    body = []
    moved = {}
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
                of = " ".join(reversed(anchor.part.words.split(", ")))
                moved["threshold"] = f"threshold of {of}"
                break
    heads = ["Rate", "Value", *section.interval_heads, "Count", "Attempts"]
    return section.table(
        f"rates-{section.name}",
        f"rates at the {' and the '.join(moved.values())}",
        [*heads, "Threshold used"],
        body,
        live=True,
        closed=len(body) > LONG,
    )


_COUNTS = dict(RATES.values())  # of the rates, with the names of their attempts


def _rates_of(live: LivePart) -> Iterator[str]:
    """Yield the rates that move, without counts and ends of intervals; others unless all NaN."""
    for name in dict.fromkeys([*RATES, *live.columns]):
        if not live.has(name) or name in _COUNTS or name.endswith(_ENDS):
            continue
        if name in RATES or not np.isnan(live.columns[name]).all():
            yield name


def _live_row(at: LiveRow, name: str) -> list[Any]:
    """Return a rate with its interval, its counts, and the threshold that it is at."""
    part = at.part
    count, attempts = RATES.get(name, ("", ""))
    total = attempts_of(part, attempts)

    def number(variable: str, shape: str) -> Any:
        if not at.live.has(variable):
            return ""
        value = at.value(variable)
        return Number(part, variable, value, shape, decimals_for(total), live=True)

    shape = shape_of(part, name)
    label = term_translator(part.dataset)(words.label(name))
    row = [
        Text(label, str(part.dataset[name].attrs.get("long_name", ""))),
        number(name, shape),
        number(f"{name}_low", shape),
        number(f"{name}_high", shape),
        number(count, "count"),
        "",
        "",
    ]
    if total:
        row[5] = Text(f"{total:,}", right=True)
    if name not in at.live.by_rank:
        used = words.threshold(at.threshold, part.kind)
        row[6] = Text(used, used=at.live.number, right=True)
    return row


#: The figures that people quote, in their order; a page shows these and folds the others.
_QUOTED = (
    *("assured_threshold", "assured_far", "assured_frr"),
    *("threshold", "optimistic_far", "optimistic_frr"),
    *(name for name, scalar in scalar_registry().items() if scalar.quoted),
    *("genuine_attempts", "impostor_attempts"),
)


def _place(figure: tuple[str, str]) -> tuple[int, bool]:
    """Return the place of a figure by its name: quoted, labelled, others."""
    name = figure[0]
    labelled = words.has_label(name.removesuffix("_threshold"))
    if name in _QUOTED:
        return _QUOTED.index(name), not labelled
    return len(_QUOTED), not labelled


def scalar_tables(section: ScalarSection) -> list[PageTable]:
    """Return the single figures of a section, its parts side by side: those quoted, and all.

    More than two parts are rows of the first table, and columns of the second.
    """
    parts = section.parts
    meanings: dict[str, str] = {}
    for part in parts:
        for name in _figures(part):
            meanings.setdefault(name, str(part.dataset[name].attrs.get("long_name", "")))
    if not meanings:
        return []
    meanings = dict(sorted(meanings.items(), key=_place))
    quoted = {name: meanings[name] for name in _QUOTED if name in meanings}
    name, title = f"figures-{section.name}", f"{section.title}: single figures"
    whole = _figure_table(section, name, title, meanings)
    if len(meanings) <= len(_QUOTED) or not quoted:
        return [whole]
    if len(parts) > 2:
        first = _column_for_each(section, name, title, quoted)
    else:
        first = _figure_table(section, name, title, quoted)
    all_title = f"{section.title}: all single figures"
    return [first, replace(whole, name=f"all-{name}", caption=all_title, closed=True)]


def _column_for_each(
    section: ScalarSection, name: str, title: str, quoted: Iterable[str]
) -> PageTable:
    """Return a table with a column for each figure."""
    translate = term_translator(section.parts[0].dataset)
    heads = [section.label_head, *map(translate, map(words.label, quoted))]
    rows = []
    for part in section.parts:
        rows.append([part.label, *_figures_of(part, quoted)])
    return PageTable(name, title, heads, rows)


def _figure_table(
    section: ScalarSection, name: str, title: str, meanings: dict[str, str]
) -> PageTable:
    """Return a table with a row for each figure."""
    parts = section.parts
    translate, wide = term_translator(parts[0].dataset), len(parts) > 2
    body = []
    for figure, meaning in meanings.items():
        label = words.label(figure)
        row: list[Any] = [Text(translate(label), meaning)]
        for part in parts:
            row += _figures_of(part, [figure])
        if not wide:
            row.append("" if meaning == label else meaning)
        body.append(row)
    heads = ["Figure", _value_head(parts[0])]
    if section.several:
        heads[1:] = map(attrgetter("label"), parts)
    if not wide:
        heads.append("Meaning")
    return PageTable(name, title, heads, body)


def cost_table(section: ScalarSection) -> PageTable | None:
    """Return the smallest costs of the parts of a section, with what they are of."""
    body = []
    heads: list[str] = []
    for part in section.parts:
        names = part.names_over("cost")
        names.sort(key=lambda name: not name.startswith("cost_"))  # what they are of comes first
        heads = heads or list(map(_head, names))
        for i in range(part.dataset.sizes.get("cost", 0)):
            cells = [_cell(part, name, part.dataset[name].values[i], {"cost": i}) for name in names]
            body.append((part, cells))
    return section.table(f"{section.name}-cost", "values by cost", heads, body)


def _value_head(part: PageItem) -> str:
    said = str(part.dataset.attrs.get("confidence", ""))
    if said and any(f"{name}_low" in part.dataset for name in _figures(part)):
        return f"Value and {100 * float(said):g} % interval"
    return "Value"


def _figures(part: PageItem) -> list[str]:
    """Return the scalars shown in rows, without confidence limits and means over folds."""
    names = []
    hidden = {"independent_impostors"}  # impostor pairs by another name
    for name in part.names_over():
        if part.dataset[name].dtype.kind in "iufb":
            names.append(name)
            hidden |= {f"{name}_low", f"{name}_high"}
    for stem in _means(part):
        for key in _SUMMARIES:
            hidden.add(f"{stem}_{key}")
    return [name for name in names if name not in hidden]


def _figures_of(part: PageItem, names: Iterable[str]) -> Iterator[Any]:
    """Yield some figures of a part with their intervals; empty where it has none."""
    decimals = decimals_for(attempts_of(part, "impostor_attempts"))
    for name in names:
        if name not in part.dataset:
            yield ""
            continue
        shape = shape_of(part, name)
        value = _scalar(part, name, shape, decimals)
        low = _scalar(part, f"{name}_low", shape, decimals)
        assert value is not None
        yield Bounded(value, low, _scalar(part, f"{name}_high", shape, decimals))


def _scalar(part: PageItem, name: str, shape: str, decimals: int) -> Number | None:
    """Return a variable without dimensions; None where the dataset has none of the name."""
    if name not in part.dataset or part.dataset[name].ndim:
        return None
    return Number(part, name, part.dataset[name].item(), shape, decimals)


# Summaries over folds or repeats, with their heads.
_SUMMARIES = {
    "mean": "Mean",
    "low": "Interval from",
    "high": "to",
    "sd": "Standard deviation",
    "se": "Standard error",
    "pooled": "Pooled",
    "folds": "Folds",
}


def _means(part: PageItem) -> Iterator[str]:
    """Yield the scalars with a mean over folds or repeats."""
    for name in part.names_over():
        if name.endswith("_mean"):
            yield name.removesuffix("_mean")


def mean_table(section: ScalarSection) -> PageTable | None:
    """Return means over folds or repeats with their intervals, one row each."""
    body = []
    for part in section.parts:
        for stem in _means(part):
            shapes = dict.fromkeys(_SUMMARIES, shape_of(part, f"{stem}_mean"))
            shapes["folds"] = "count"
            cells: list[Any] = [words.label(stem)]
            for key, shape in shapes.items():
                cells.append(_scalar(part, f"{stem}_{key}", shape, 3) or "")
            body.append((part, cells))
    heads = ["Measure", *_SUMMARIES.values()]
    return section.table(f"means-{section.name}", "means over folds", heads, body)


def study_tables(section: ScalarSection) -> Iterator[PageTable]:
    """Yield the tables that studies make of their results; some are of all systems together."""
    joined: dict[str, list[tuple[PageItem, PageTable]]] = {}
    for part in section.parts:
        told = section_told(part.dataset)
        if told is None or not told.tables:
            continue
        for given in call_of_study(told.tables, part.dataset):
            table = table_of(given, part)
            if told.joined:
                joined.setdefault(table.name, []).append((part, table))
            else:
                yield replace(table, caption=f"{part.title}: {table.caption}")
    for name, tables in joined.items():
        first = tables[0][1]
        rows = []
        alike = True
        for part, table in tables:
            alike &= table.heads == first.heads
            for row in table.rows:
                rows.append((part, row))
        file = f"{name}-{section.name}"
        whole = section.table(file, first.caption, first.heads, rows, note=first.note)
        if whole is not None and alike:
            yield whole


def target_table(section: ScalarSection) -> PageTable | None:
    """Return the values at each FAR target, with a warning where the data cannot support it."""
    body = []
    what, title = "FRR", "FRR at FAR targets"
    if "dir_at_far" in section.parts[0].dataset:
        what, title = "DIR", "DIR at FAR targets, rank 1"
    note = ""
    for part in section.parts:
        if f"{what.lower()}_at_far_low" in part.dataset:
            note = "The intervals include the uncertainty of the threshold for the FAR target."
        rate = "frr_at_far" if "frr_at_far" in part.dataset else "dir_at_far"
        values = part.dataset.get(rate)
        if values is None or "far_target" not in part.dataset.coords:
            continue
        if {"far_target", "rank"}.issuperset(values.dims):
            for i, target in enumerate(part.dataset["far_target"].values.tolist()):
                body.append((part, _target_row(part, rate, i, target)))
    heads = ["FAR target", f"{what} there", *section.interval_heads]
    heads += ["Threshold", "False accepts expected", "Support"]
    return section.table(f"far-targets-{section.name}", title, heads, body, note=note)


def frr_target_table(section: ScalarSection) -> PageTable | None:
    """Return the FAR at each FRR target."""
    body = []
    for part in section.parts:
        values = part.dataset.get("far_at_frr")
        if values is not None and values.dims == ("frr_target",):
            for i, target in enumerate(part.dataset["frr_target"].values.tolist()):
                row = _target_row(part, "far_at_frr", i, target, "frr_target")
                body.append((part, row))
    heads = ["FRR target", "FAR there", *section.interval_heads, "Threshold"]
    return section.table(f"frr-targets-{section.name}", "FAR at FRR targets", heads, body)


def _target_row(
    part: PageItem, rate: str, i: int, target: float, dim: str = "far_target"
) -> list[Any]:
    """Return a rate at a target with its interval, its threshold, and what supports it."""
    dataset = part.dataset
    role = "genuine" if dim == "far_target" else "impostor"
    decimals = decimals_for(attempts_of(part, f"{role}_attempts"))

    def number(name: str, shape: str) -> Any:
        if name not in dataset:
            return ""
        values, more = dataset[name], {dim: target}
        if "rank" in values.dims:
            values, more = values.isel(rank=0), {**more, "rank": int(values["rank"][0])}
        return Number(part, name, values.values[i].item(), shape, decimals, more=more)

    row = [
        per_cent(target),
        number(rate, "percent"),
        number(f"{rate}_low", "percent"),
        number(f"{rate}_high", "percent"),
        number(f"threshold_at_{dim[:3]}", "score"),
    ]
    if dim == "far_target":
        expected = number("expected_false_accepts", "count")
        row += [expected, ""]
        if expected:
            row[-1] = support(target, float(expected.value), people_of(dataset))
    return row


def rank_table(section: ScalarSection) -> PageTable | None:
    """Return the values at each reported rank."""
    body = []
    ranked = []
    given = []
    for part in section.parts:
        if report_ranks(part.dataset) and part.dataset.get("rank", [0])[0] == 1:
            ranked.append(part)
            given += part.names_over("rank")
    shown = {}  # each column, with the rate that it is of
    for rate in given:
        if not rate.endswith((*_ENDS, "_count")):
            for name in (rate, f"{rate}_low", f"{rate}_high"):
                if name in given:
                    shown[name] = rate
    for part in ranked:
        dataset, decimals = part.dataset, decimals_for(searches_of(part))
        for rank in report_ranks(dataset):
            cells = [f"{rank:,}"]
            for name, rate in shown.items():
                cell: Any = ""
                if name in dataset:
                    value = dataset[name].sel(rank=rank).item()
                    cell = Number(
                        part, name, value, shape_of(part, rate), decimals, more={"rank": rank}
                    )
                cells.append(cell)
            body.append((part, cells))
    if not shown:
        return None
    heads = ["Rank", *map(_head, shown)]
    return section.table(f"ranks-{section.name}", "values at ranks", heads, body)


def _head(name: str) -> str:
    if name.endswith("_low"):
        return f"{words.label(name.removesuffix('_low'))}, from"
    if name.endswith("_high"):
        return f"{words.label(name.removesuffix('_high'))}, to"
    return words.label(name)


def other_tables(part: PageItem, systems: int, images: Images) -> Iterator[PageTable]:
    """Return the values over folds, groups, subjects and others, one table each."""
    dataset, told = part.dataset, section_told(part.dataset)
    if "value_a" in dataset:  # which has tables of its own
        return
    by_dims = grouped(map(str, dataset.data_vars), lambda name: tuple(map(str, dataset[name].dims)))
    for dims, names in by_dims.items():
        if not dims or dims == ("cost",) or not {"threshold", "rank"}.isdisjoint(dims):
            continue
        if set(_CURVES).issuperset(dims) or (dims == ("suspect",) and not dataset.sizes["suspect"]):
            continue
        if dims == ("reading",):  # whose calls are too wide for a page
            names = [name for name in names if name not in ("call", "also", "distance")]
        table = _values_by(part, dims, names, most=max(50, MOST_ROWS // systems))
        sides = told.images.get(dims[0]) if told and len(dims) == 1 else None
        if sides:
            for k, name in enumerate(images.columns(dataset, sides), start=1):
                table.heads.insert(k, f"{name.partition('_')[0].capitalize()} image")
                for row, image in zip(table.rows, dataset[name].values, strict=False):
                    row.insert(k, Thumbnail.of(images, str(image)))
        if systems > 1:
            name = f"{table.name}-{part.system}".replace("/", "-")
            caption = f"{part.title} ({part.system}): {table.caption}"
            yield replace(table, name=name, caption=caption)
        else:
            yield replace(table, caption=f"{part.title}: {table.caption}")


def _values_by(part: PageItem, dims: tuple[str, ...], names: list[str], most: int) -> PageTable:
    """Return the values of variables over some dimensions, with `most` rows at most."""
    body = []
    labels = [_labels(part.dataset, dim) for dim in dims]
    if dims == ("reading",):
        labels[0] = list(map(_with_same, labels[0], part.dataset["also"].values))
    for i, place in enumerate(itertools.islice(itertools.product(*labels), most)):
        more = dict(zip(dims, place, strict=True))
        row = []
        for dim, value in more.items():
            row.append(per_cent(value) if dim in _TARGETS else str(value))
        for name in names:
            row.append(_cell(part, name, part.dataset[name].values.flat[i], more))
        body.append(row)
    heads, over = [], []
    for dim in dims:
        over.append(dim.replace("_", " "))
        heads.append(_TARGETS.get(dim, over[-1].capitalize()))
    total, note = math.prod(map(len, labels)), ""
    if total > most:
        note = f"The first {most} of {total:,} rows."
    file = f"{part.task}-{'-'.join(dims)}".replace("/", "-")
    caption = f"values by {' and '.join(over)}"
    return PageTable(file, caption, [*heads, *map(_head, names)], body, note)


def _labels(dataset: Any, dim: str) -> list:
    if dim in dataset.coords:
        return dataset[dim].values.tolist()
    return list(range(dataset.sizes[dim]))


def _with_same(reading: str, also: str) -> str:
    """Return a reading with those that are the same."""
    if not also:
        return reading
    same = also.replace("\n", "; ")
    return f"{reading} (= {same})"


def _cell(part: PageItem, name: str, value: Any, more: dict) -> Any:
    """Return a value as a cell: yes or no, a text, or a number."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if not isinstance(value, int | float):
        return str(value)
    return Number(part, name, value, shape_of(part, name), more=more)

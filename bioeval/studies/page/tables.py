"""The tables of a page: live rates, single figures, values at FAR targets and ranks, the rest."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.base import SCALARS, TARGETS
from bioeval.results import RULE_OF_3, RULE_OF_30, ComparedPeople
from bioeval.stats import STEMS
from bioeval.studies.page import words
from bioeval.studies.page.parts import (
    RATES,
    LivePart,
    LiveState,
    PageItem,
    made,
    section_of,
    section_told,
)
from bioeval.studies.page.words import (
    LONG,
    Bounded,
    Number,
    PageTable,
    Text,
    attempts_of,
    shape_of,
    table_of,
)
from bioeval.tallies import per_cent
from bioeval.views import Images, Thumbnail, report_ranks, term_translator
from bioeval.views.tables import decimals_for

#: Rows of a table, at most: more are cut, and the table says so.
MOST_ROWS = 400

# Dimensions whose values are curves, or have a table of their own.
_CURVES = ("threshold", "rank", *TARGETS, "recall_level")

_ENDS = ("_low", "_high")

_DIMENSIONS = {"far_target": "FAR target", "frr_target": "FRR target"}


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
        titles = list(dict.fromkeys(part.title for part in self.parts))
        if len(titles) == 1:
            return titles[0]
        return titles[0].partition(",")[0]

    @property
    def label_head(self) -> str:
        """The heading above the labels of the parts."""
        if len({part.system for part in self.parts}) > 1:
            return "System"
        return "Templates"

    @property
    def interval_heads(self) -> list[str]:
        """The headings above both ends of intervals."""
        said = {str(part.dataset.attrs.get("confidence", "")) for part in self.parts} - {""}
        level = ""
        if len(said) == 1:
            level = f"{100 * float(said.pop()):g} % "
        return [f"{level}from", "to"]

    def table(
        self, name: str, title: str, heads: list[str], rows: Iterable[Row], **how: Any
    ) -> PageTable | None:
        """Return a table of rows, each with the part that it is of; None without any."""
        body = [[part.label, *cells] if self.several else cells for part, cells in rows]
        if self.several:
            heads = [self.label_head, *heads]
        if body:
            return PageTable(name, f"{self.title}: {title}", heads, body, **how)
        return None


#: A row of a table, with the part that it is of.
Row = tuple[PageItem, list[Any]]


def live_table(
    rows: list[tuple[LivePart, float, int]], several: bool, state: LiveState
) -> PageTable | None:
    """Return the rates of one task at the threshold and the rank of the page."""
    body: list[Row] = []
    with_rank = False
    for live, _, row in rows:
        names = [name for name in (*RATES, *live.columns) if live.has(name)]
        counts = {name for name, _ in RATES.values()}
        names = [n for n in dict.fromkeys(names) if n not in counts and not n.endswith(_ENDS)]
        names = [n for n in names if n in RATES or not np.isnan(live.columns[n]).all()]
        for name in names:
            count, attempts = RATES.get(name, ("", ""))
            with_rank |= name in live.ranked or name in live.by_rank
            body.append((live.part, _live_row(live, name, count, attempts, row, state.rank)))
    section = ScalarSection([live.part for live, *_ in rows], several)
    lives = [live for live, *_ in rows if len(live.thresholds)]
    led = (x.part.words for live in lives if (x := state.anchors[live.group]) is not live)
    of = " ".join(reversed(next(led, "").split(", ")))  # the task whose threshold it is
    moved = ["rank"] if with_rank else []
    if lives:
        moved.append(f"threshold of {of}" if of else "threshold")
    heads = ["Rate", "Value", *section.interval_heads, "Count", "Attempts"]
    return section.table(
        f"rates-{section.name}",
        f"rates at the {' and the '.join(moved)}",
        [*heads, "Threshold used"],
        body,
        live=True,
        closed=len(body) > LONG,
    )


def _live_row(
    live: LivePart, name: str, count: str, attempts: str, row: int, rank: int
) -> list[Any]:
    part, total = live.part, attempts_of(live.part, attempts)

    def number(variable: str, shape: str) -> Any:
        if not live.has(variable):
            return ""
        value = live.value(variable, row, rank)
        return Number(part, variable, value, shape, decimals_for(total), live=True)

    shape = shape_of(part, name, part.dataset[name].dtype.kind)
    if row >= 0:
        used = live.thresholds[row].item()
    else:
        used = float("nan")
    return [
        Text(
            term_translator(part.dataset)(words.label(name)),
            str(part.dataset[name].attrs.get("long_name", "")),
        ),
        number(name, shape),
        number(f"{name}_low", shape),
        number(f"{name}_high", shape),
        number(count, "count") if count else "",
        Text(f"{total:,}", right=True) if total else "",
        ""
        if name in live.by_rank
        else Text(words.threshold(used, part.kind), used=live.number, right=True),
    ]


#: The figures that people quote, in their order; a page shows these and folds the others.
_QUOTED = (
    *("assured_threshold", "assured_far", "assured_frr"),
    *("threshold", "optimistic_far", "optimistic_frr"),
    *(name for name, scalar in SCALARS.items() if scalar.quoted),
    *("genuine_attempts", "impostor_attempts"),
)


def _place(name: str) -> int:
    if name in _QUOTED:
        return _QUOTED.index(name)
    return len(_QUOTED)


def scalar_tables(section: ScalarSection) -> list[PageTable]:
    """Return the single figures of a section, its parts side by side: those quoted, and all.

    More than two parts are rows of the first table, and columns of the second.
    """
    parts = section.parts
    names: dict[str, str] = {}  # each figure, with its meaning
    for part in parts:
        for name in _figures(part.dataset):
            names.setdefault(name, str(part.dataset[name].attrs.get("long_name", "")))
    if not names:
        return []
    in_order = sorted(names, key=lambda name: (_place(name), not _known(name)))
    ordered = {name: names[name] for name in in_order}
    quoted = {name: meaning for name, meaning in ordered.items() if name in _QUOTED}
    if section.several:
        labels = [part.label for part in parts]
    else:
        labels = [_value_head(parts)]
    name, title = f"figures-{section.name}", f"{section.title}: single figures"
    whole = _figure_rows(parts, ordered, labels)
    if len(ordered) <= len(_QUOTED) or not quoted:
        return [PageTable(name, title, *whole)]
    first = _figure_rows(parts, quoted, labels)
    if len(parts) > 2:  # a column for each figure
        translate = term_translator(parts[0].dataset)
        heads = [section.label_head, *(translate(words.label(name)) for name in quoted)]
        rows = []
        for part in parts:
            rows.append([part.label, *(_figure(part, name) for name in quoted)])
        first = heads, rows
    all_title = f"{section.title}: all single figures"
    return [
        PageTable(name, title, *first),
        PageTable(f"all-{name}", all_title, *whole, closed=True),
    ]


def _figure_rows(
    parts: list[PageItem], names: dict[str, str], labels: list[str]
) -> tuple[list[str], list[list[Any]]]:
    """Return the heads and rows of a table with a row for each figure."""
    translate, wide = term_translator(parts[0].dataset), len(parts) > 2
    body = []
    for name, meaning in names.items():
        label = words.label(name)
        row = [Text(translate(label), meaning), *(_figure(part, name) for part in parts)]
        if not wide:
            row.append("" if meaning == label else meaning)
        body.append(row)
    heads = ["Figure", *labels]
    if not wide:
        heads.append("Meaning")
    return heads, body


def cost_table(section: ScalarSection) -> PageTable | None:
    """Return the smallest costs of the parts of a section, with what they are of."""
    body: list[Row] = []
    heads: list[str] = []
    for part in section.parts:
        names = [str(k) for k, v in part.dataset.data_vars.items() if v.dims == ("cost",)]
        names.sort(key=lambda name: not name.startswith("cost_"))  # what they are of comes first
        heads = heads or [_head(name) for name in names]
        for i in range(part.dataset.sizes.get("cost", 0)):
            cells = [_cell(part, name, part.dataset[name].values[i], {"cost": i}) for name in names]
            body.append((part, cells))
    return section.table(f"{section.name}-cost", "values by cost", heads, body)


def _value_head(parts: list[PageItem]) -> str:
    said = str(parts[0].dataset.attrs.get("confidence", ""))
    has = any(f"{name}_low" in parts[0].dataset for name in _figures(parts[0].dataset))
    if said and has:
        return f"Value and {100 * float(said):g} % interval"
    return "Value"


def _known(name: str) -> bool:
    return words.has_label(name.removesuffix("_threshold"))


def _figures(dataset: Any) -> list[str]:
    """Return the scalars shown in rows, without confidence limits and means over folds."""
    names = [str(k) for k, v in dataset.data_vars.items() if not v.ndim]
    names = [name for name in names if dataset[name].dtype.kind in "iufb"]
    stems = {f"{STEMS.get(name, name)}{end}" for name in names for end in _ENDS}
    means = {f"{stem}_{key}" for stem in _means(dataset) for key in _SUMMARIES}
    twice = {"independent_impostors"} & {*names}  # impostor pairs by another name
    return [name for name in names if name not in stems | means | twice]


def _figure(part: PageItem, name: str) -> Any:
    if name not in part.dataset:
        return ""
    shape = shape_of(part, name, part.dataset[name].dtype.kind)
    decimals = decimals_for(attempts_of(part, "impostor_attempts"))
    stem = STEMS.get(name, name)
    value = _scalar(part, name, shape, decimals)
    low = _scalar(part, f"{stem}_low", shape, decimals)
    high = _scalar(part, f"{stem}_high", shape, decimals)
    assert value is not None
    return Bounded(value, low, high)


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


def _means(dataset: Any) -> list[str]:
    """Return the scalars with a mean over folds or repeats."""
    names = [str(k) for k, v in dataset.data_vars.items() if not v.ndim]
    return [name.removesuffix("_mean") for name in names if name.endswith("_mean")]


def mean_table(section: ScalarSection) -> PageTable | None:
    """Return means over folds or repeats with their intervals, one row each."""
    body: list[Row] = []
    for part in section.parts:
        for stem in _means(part.dataset):
            shape = shape_of(part, f"{stem}_mean", "f")
            cells = (
                _scalar(part, f"{stem}_{key}", "count" if key == "folds" else shape, 3) or ""
                for key in _SUMMARIES
            )
            train = stem.removeprefix("train_")
            label = words.label(train) + (", training" if train != stem else "")
            body.append((part, [label, *cells]))
    heads = ["Measure", *_SUMMARIES.values()]
    return section.table(f"means-{section.name}", "means over folds", heads, body)


def study_tables(section: ScalarSection) -> Iterator[PageTable]:
    """Yield the tables that studies make of their results; some are of all systems together."""
    joined: dict[str, list[tuple[PageItem, PageTable]]] = {}
    for part in section.parts:
        told = section_told(part.dataset)
        if told is None or not told.tables:
            continue
        for given in made(told.tables, part.dataset):
            table = table_of(given, part)
            if told.joined:
                joined.setdefault(table.name, []).append((part, table))
            else:
                yield replace(table, caption=f"{part.title}: {table.caption}")
    for name, tables in joined.items():
        first = tables[0][1]
        rows: list[Row] = []
        for part, table in tables:
            rows += [(part, row) for row in table.rows]
        if all(table.heads == first.heads for _, table in tables):
            file = f"{name}-{section.name}"
            whole = section.table(file, first.caption, first.heads, rows, note=first.note)
            if whole is not None:
                yield whole


def target_table(section: ScalarSection) -> PageTable | None:
    """Return the values at each FAR target, with a warning where the data cannot support it."""
    body: list[Row] = []
    parts = section.parts
    for part in parts:
        rate = next((x for x in ("frr_at_far", "dir_at_far") if x in part.dataset), "")
        if not rate or "far_target" not in part.dataset.coords:
            continue
        if not {*part.dataset[rate].dims} <= {"far_target", "rank"}:
            continue
        for i, target in enumerate(part.dataset["far_target"].values.tolist()):
            body.append((part, _target_row(part, rate, i, target)))
    what = "FRR"
    if "dir_at_far" in parts[0].dataset:
        what = "DIR"
    heads = ["FAR target", f"{what} there", *section.interval_heads]
    heads += ["Threshold", "False accepts expected", "Support"]
    title = f"{what} at FAR targets" + (", rank 1" if what == "DIR" else "")
    bounded = any(f"{what.lower()}_at_far_low" in part.dataset for part in parts)
    note = "The intervals include the uncertainty of the threshold for the FAR target." * bounded
    return section.table(f"far-targets-{section.name}", title, heads, body, note=note)


def frr_target_table(section: ScalarSection) -> PageTable | None:
    """Return the FAR at each FRR target."""
    body: list[Row] = []
    for part in section.parts:
        values = part.dataset.get("far_at_frr")
        if values is not None and values.dims == ("frr_target",):
            for i, target in enumerate(part.dataset["frr_target"].values.tolist()):
                row = _target_row(part, "far_at_frr", i, target, "frr_target")
                body.append((part, row[:5]))
    heads = ["FRR target", "FAR there", *section.interval_heads, "Threshold"]
    return section.table(f"frr-targets-{section.name}", "FAR at FRR targets", heads, body)


def _target_row(
    part: PageItem, rate: str, i: int, target: float, dim: str = "far_target"
) -> list[Any]:
    dataset = part.dataset
    role = "impostor"
    if dim == "far_target":
        role = "genuine"
    decimals = decimals_for(attempts_of(part, f"{role}_attempts"))

    def number(name: str, shape: str) -> Any:
        if name not in dataset:
            return ""
        values, more = dataset[name], {dim: target}
        if "rank" in values.dims:
            values, more = values.isel(rank=0), {**more, "rank": int(values["rank"][0])}
        return Number(part, name, values.values[i].item(), shape, decimals, more=more)

    expected: Any = number("expected_false_accepts", "count") if dim == "far_target" else ""
    return [
        per_cent(target),
        *(number(f"{rate}{end}", "percent") for end in ("", *_ENDS)),
        number(TARGETS[dim], "score"),
        expected,
        support(target, float(expected.value), _people_of(dataset)) if expected else "",
    ]


def _people_of(dataset: Any) -> ComparedPeople | None:
    """Return the people of verification attempts; None where unknown, and of open set."""
    if "subjects" not in dataset or "impostor_pairs" not in dataset:
        return None
    both, attrs = int(dataset["subjects"]), dataset.attrs
    sides = int(attrs.get("probe_subjects", 0)), int(attrs.get("gallery_subjects", 0))
    # Sides of listed pairs and of drawn claims are not known: any two may be compared.
    known = max(sides) <= both <= sum(sides)
    if known:
        return ComparedPeople.of_sides((*sides, both))
    return ComparedPeople.among(both)


def support(target: float, expected: float, people: ComparedPeople | None = None) -> str:
    """Return the evidence for a FAR target, by the rules of 30 and 3.

    It is that of the pairs of people, or of the expected false accepts where these are fewer.
    """
    if np.isnan(expected) or not target > 0:
        return ""
    attempts = expected / target * (1 + 1e-12)
    if RULE_OF_30.supports(target, attempts, people):
        return ""
    if RULE_OF_3.supports(target, attempts, people):
        rule = RULE_OF_30
    else:
        rule = RULE_OF_3
    needed = rule.needed(target, attempts, people)
    if rule == RULE_OF_30:
        return f"weak: {needed} are needed (rule of 30)"
    if expected >= 1:
        return f"not supported at 95 %, even without an error: {needed} are needed (rule of 3)"
    return "not supported: the same as at FAR = 0"


def rank_table(section: ScalarSection) -> PageTable | None:
    """Return the values at each reported rank."""
    body: list[Row] = []
    ranked = [
        part
        for part in section.parts
        if report_ranks(part.dataset) and part.dataset.get("rank", [0])[0] == 1
    ]
    there = {str(k) for x in ranked for k, v in x.dataset.data_vars.items() if v.dims == ("rank",)}
    given = dict.fromkeys(str(k) for x in ranked for k in x.dataset.data_vars)
    rates = [x for x in given if x in there and not x.endswith((*_ENDS, "_count"))]
    shown = {f"{r}{end}": r for r in rates for end in ("", *_ENDS) if f"{r}{end}" in there}
    for part in ranked:
        dataset = part.dataset
        decimals = decimals_for(attempts_of(part, "attempts") or attempts_of(part, "queries"))
        for rank in report_ranks(dataset):
            cells: list[Any] = [f"{rank:,}"]
            for name, rate in shown.items():
                cell = ""
                if name in dataset:
                    value, shape = dataset[name].sel(rank=rank), shape_of(part, rate, "f")
                    cell = _cell(part, name, value.item(), {"rank": rank}, shape, decimals)
                cells.append(cell)
            body.append((part, cells))
    if not shown:
        return None
    heads = ["Rank", *(_head(name) for name in shown)]
    return section.table(f"ranks-{section.name}", "values at ranks", heads, body)


def _head(name: str) -> str:
    for end, word in (("_low", "from"), ("_high", "to")):
        if name.endswith(end):
            return f"{words.label(name.removesuffix(end))}, {word}"
    return words.label(name)


def other_tables(part: PageItem, systems: int, images: Images) -> Iterator[PageTable]:
    """Return the values over folds, groups, subjects and others, one table each."""
    dataset, several, most = part.dataset, systems > 1, max(50, MOST_ROWS // systems)
    told = section_told(dataset)
    by_dims: dict[tuple[str, ...], list[str]] = {}
    for name, values in dataset.data_vars.items():
        dims = tuple(map(str, values.dims))
        if dims == ("cost",) or "value_a" in dataset:  # which have tables of their own
            continue
        if dims and not (set(dims) <= set(_CURVES) or set(dims) & {"threshold", "rank"}):
            by_dims.setdefault(dims, []).append(str(name))
    for dims, names in by_dims.items():
        labels = [_labels(dataset, dim) for dim in dims]
        total = int(np.prod([len(x) for x in labels]))
        if dims == ("suspect",) and not total:
            continue
        if dims == ("reading",):  # whose calls are too wide for a page
            names = [x for x in names if x not in ("call", "also", "distance")]
            same = [str(x).replace("\n", "; ") for x in dataset["also"].values]
            labels = [[x + f" (= {y})" * bool(y) for x, y in zip(labels[0], same, strict=True)]]
        flat = {name: dataset[name].values.reshape(total) for name in names}
        body = []
        for i, place in enumerate(itertools.product(*labels)):
            if i == most:
                break
            more = dict(zip(dims, place, strict=True))
            cells = [_cell(part, name, flat[name][i], more) for name in names]
            at = (per_cent(x) if dim in TARGETS else str(x) for dim, x in more.items())
            body.append([*at, *cells])
        heads = [_DIMENSIONS.get(dim, dim.replace("_", " ").capitalize()) for dim in dims]
        heads += [_head(name) for name in names]
        if sides := told.images.get(dims[0]) if told and len(dims) == 1 else None:
            for k, name in enumerate(images.columns(dataset, sides), start=1):
                heads.insert(k, f"{name.partition('_')[0].capitalize()} image")
                for row, image in zip(body, dataset[name].values, strict=False):
                    row.insert(k, Thumbnail.of(images, str(image)))
        over = " and ".join(dim.replace("_", " ") for dim in dims)
        who = ""
        if several:
            who = f" ({part.system})"
        note = ""
        if total > most:
            note = f"The first {most} of {total:,} rows."
        stem = f"{part.task}-{'-'.join(dims)}{'-' + part.system if several else ''}"
        yield PageTable(
            stem.replace("/", "-"), f"{part.title}{who}: values by {over}", heads, body, note
        )


def _labels(dataset: Any, dim: str) -> list:
    if dim in dataset.coords:
        return dataset[dim].values.tolist()
    return list(range(dataset.sizes[dim]))


def _cell(
    part: PageItem, name: str, value: Any, more: dict, shape: str = "", decimals: int = 2
) -> Any:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if not isinstance(value, int | float):
        return str(value)
    shape = shape or shape_of(part, name, part.dataset[name].dtype.kind)
    return Number(part, name, value, shape, decimals, more=more)

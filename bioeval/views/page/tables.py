"""The tables of a page: live rates, single figures, values at FAR targets and ranks, the rest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from bioeval.stats.interval_variables import STEMS
from bioeval.tallies.points import per_cent
from bioeval.views.page import words
from bioeval.views.page.cells import (
    Bounded,
    Number,
    PageTable,
    Text,
    attempts_of,
    decimals_for,
    shape_of,
)
from bioeval.views.page.live import RATES, LivePart
from bioeval.views.page.parts import PageItem
from bioeval.views.page.pictures import Images
from bioeval.views.tables.tasks import report_ranks
from bioeval.views.terms import speaker

#: Rows of a table, at most: more are cut, and the table says so.
MOST_ROWS = 400

# Dimensions whose values are curves, or have a table of their own.
_CURVES = ("threshold", "rank", "far_target", "recall_level")

_ENDS = ("_low", "_high")


def live_table(
    rows: list[tuple[LivePart, float, int]], several: bool, rank: int
) -> PageTable | None:
    """Return the rates of one task at the threshold and the rank of the page."""
    body = []
    with_rank = False
    for live, threshold, row in rows:
        names = [name for name in (*RATES, *live.columns) if live.has(name)]
        counts = {name for name, _ in RATES.values()}
        names = [n for n in dict.fromkeys(names) if n not in counts and not n.endswith(_ENDS)]
        names = [n for n in names if n in RATES or not np.isnan(live.columns[n]).all()]
        for name in names:
            count, attempts = RATES.get(name, ("", ""))
            with_rank |= name in live.ranked or name in live.by_rank
            body.append(_live_row(live, name, count, attempts, (threshold, row, rank), several))
    if not body:
        return None
    part = rows[0][0].part
    moved = ["threshold"] if any(len(live.thresholds) for live, *_ in rows) else []
    moved += ["rank"] if with_rank else []
    heads = ["Rate", "Value", *_interval_heads([live.part for live, *_ in rows])]
    heads += ["Count", "Attempts", "Threshold used"]
    return PageTable(
        f"rates-{part.task.replace('/', '-')}",
        f"{part.title}: rates at the {' and '.join(moved)}",
        [*(["System"] if several else []), *heads],
        body,
        live=True,
    )


def _live_row(
    live: LivePart, name: str, count: str, attempts: str, at: tuple, several: bool
) -> list:
    threshold, row, rank = at
    part, total = live.part, attempts_of(live.part, attempts)

    def number(variable: str, shape: str) -> Any:
        if not live.has(variable):
            return ""
        value = live.value(variable, row, rank)
        return Number(part, variable, value, shape, decimals_for(total), live=True)

    shape = shape_of(part, name, part.dataset[name].dtype.kind)
    used = live.thresholds[row].item() if row >= 0 else float("nan")
    cells = [
        Text(
            speaker(part.dataset)(words.label(name)),
            str(part.dataset[name].attrs.get("long_name", "")),
        ),
        number(name, shape),
        number(f"{name}_low", shape),
        number(f"{name}_high", shape),
        number(count, "count") if count else "",
        Text(f"{total:,}", right=True) if total else "",
        "" if name in live.by_rank else Text(words.score(used), used=live.number, right=True),
    ]
    return [*([part.system] if several else []), *cells]


def _interval_heads(parts: list[PageItem]) -> list[str]:
    said = {str(part.dataset.attrs.get("confidence", "")) for part in parts} - {""}
    level = f"{100 * float(said.pop()):g} % " if len(said) == 1 else ""
    return [f"{level}from", "to"]


def scalar_table(parts: list[PageItem], several: bool) -> PageTable | None:
    """Return every single figure of a task, the systems side by side."""
    names: dict[str, str] = {}  # each figure, with its meaning
    for part in parts:
        for name in _figures(part.dataset):
            names.setdefault(name, str(part.dataset[name].attrs.get("long_name", "")))
    if not names:
        return None
    say = speaker(parts[0].dataset)
    body = [
        [Text(say(words.label(name)), meaning), *(_figure(part, name) for part in parts), meaning]
        for name, meaning in sorted(names.items(), key=lambda x: not _known(x[0]))
    ]
    heads = [part.system for part in parts] if several else [_value_head(parts)]
    task = parts[0].task.replace("/", "-")
    title = f"{parts[0].title}: single figures"
    return PageTable(f"figures-{task}", title, ["Figure", *heads, "Meaning"], body)


def _value_head(parts: list[PageItem]) -> str:
    said = str(parts[0].dataset.attrs.get("confidence", ""))
    has = any(f"{name}_low" in parts[0].dataset for name in _figures(parts[0].dataset))
    return f"Value and {100 * float(said):g} % interval" if said and has else "Value"


def _known(name: str) -> bool:
    return words.has_label(name.removesuffix("_threshold"))


def _figures(dataset: Any) -> list[str]:
    """Return the figures that have a row: not the ends of intervals, not means over folds."""
    names = [str(k) for k, v in dataset.data_vars.items() if not v.ndim]
    names = [name for name in names if dataset[name].dtype.kind in "iufb"]
    stems = {f"{STEMS.get(name, name)}{end}" for name in names for end in _ENDS}
    means = {f"{stem}_{key}" for stem in _means(dataset) for key in _SUMMARIES}
    return [name for name in names if name not in stems | means]


def _figure(part: PageItem, name: str) -> Any:
    if name not in part.dataset:
        return ""
    shape = shape_of(part, name, part.dataset[name].dtype.kind)
    decimals = decimals_for(attempts_of(part, "impostor_attempts"))
    stem = STEMS.get(name, name)

    def number(variable: str) -> Number | None:
        if variable not in part.dataset or part.dataset[variable].ndim:
            return None
        return Number(part, variable, part.dataset[variable].item(), shape, decimals)

    value = number(name)
    assert value is not None
    return Bounded(value, number(f"{stem}_low"), number(f"{stem}_high"))


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
    """Return what has a mean over folds or repeats."""
    names = [str(k) for k, v in dataset.data_vars.items() if not v.ndim]
    return [name.removesuffix("_mean") for name in names if name.endswith("_mean")]


def mean_table(parts: list[PageItem], several: bool) -> PageTable | None:
    """Return means over folds or repeats with their intervals, a row each."""
    body = []
    for part in parts:
        for stem in _means(part.dataset):
            shape = shape_of(part, f"{stem}_mean", "f")
            cells: list[Any] = []
            for key in _SUMMARIES:
                name = f"{stem}_{key}"
                if name in part.dataset and not part.dataset[name].ndim:
                    own = "count" if key == "folds" else shape
                    cells.append(Number(part, name, part.dataset[name].item(), own, 3))
                else:
                    cells.append("")
            train = stem.removeprefix("train_")
            label = words.label(train) + (", training" if train != stem else "")
            body.append([*([part.system] if several else []), label, *cells])
    if not body:
        return None
    heads = [*(["System"] if several else []), "Measure", *_SUMMARIES.values()]
    task = parts[0].task.replace("/", "-")
    return PageTable(f"means-{task}", f"{parts[0].title}: means over folds", heads, body)


def target_table(parts: list[PageItem], several: bool) -> PageTable | None:
    """Return what holds at each FAR target, with a warning where the data cannot support it."""
    body, names = [], ("frr_at_far", "dir_at_far")
    for part in parts:
        rate = next((name for name in names if name in part.dataset), "")
        if not rate or "far_target" not in part.dataset.coords:
            continue
        if not {*part.dataset[rate].dims} <= {"far_target", "rank"}:
            continue
        for i, target in enumerate(part.dataset["far_target"].values.tolist()):
            body.append(_target_row(part, rate, i, target, several))
    if not body:
        return None
    what = "DIR" if "dir_at_far" in parts[0].dataset else "FRR"
    task = parts[0].task.replace("/", "-")
    heads = [*(["System"] if several else []), "FAR target", f"{what} there"]
    heads += [*_interval_heads(parts), "Threshold", "False accepts expected", "Support"]
    title = f"{parts[0].title}: {what} at FAR targets"
    if what == "DIR":
        title += ", rank 1"
    return PageTable(f"far-targets-{task}", title, heads, body)


def _target_row(part: PageItem, rate: str, i: int, target: float, several: bool) -> list:
    dataset = part.dataset
    decimals = decimals_for(attempts_of(part, "genuine_attempts"))

    def number(name: str, shape: str) -> Any:
        if name not in dataset:
            return ""
        values, more = dataset[name], {"far_target": target}
        if "rank" in values.dims:
            values, more = values.isel(rank=0), {**more, "rank": int(values["rank"][0])}
        return Number(part, name, values.values[i].item(), shape, decimals, more=more)

    expected = number("expected_false_accepts", "count")
    return [
        *([part.system] if several else []),
        f"{per_cent(target)}",
        *(number(f"{rate}{end}", "percent") for end in ("", *_ENDS)),
        number("threshold_at_far", "score"),
        expected,
        support(float(expected.value)) if expected else "",
    ]


def support(expected: float) -> str:
    """Return what a number of expected false accepts supports, by the rules of 30, 3 and 1."""
    if np.isnan(expected) or expected >= 30:
        return ""
    if expected >= 3:
        return "weak: fewer than 30 errors expected (rule of 30)"
    if expected >= 1:
        return "not supported at 95 % even without an error (rule of 3)"
    return "not supported: the same as at FAR = 0"


def rank_table(parts: list[PageItem], several: bool) -> PageTable | None:
    """Return what holds at each reported rank."""
    body: list[list[Any]] = []
    heads: list[str] = []
    for part in parts:
        dataset = part.dataset
        ranks = report_ranks(dataset)
        names = [str(k) for k, v in dataset.data_vars.items() if v.dims == ("rank",)]
        if not names or not ranks or dataset["rank"].values.tolist()[0] != 1:
            continue
        rates = [name for name in names if not name.endswith((*_ENDS, "_count"))]
        shown = [n for r in rates for n in (r, *(f"{r}{end}" for end in _ENDS)) if n in names]
        heads = heads or [_head(name) for name in shown]
        total = attempts_of(part, "attempts") or attempts_of(part, "queries")
        for rank in ranks:
            cells = [
                Number(
                    part,
                    name,
                    dataset[name].sel(rank=rank).item(),
                    shape_of(part, name.removesuffix("_low").removesuffix("_high"), "f"),
                    decimals_for(total),
                    more={"rank": rank},
                )
                for name in shown
            ]
            body.append([*([part.system] if several else []), f"{rank:,}", *cells])
    if not body:
        return None
    task = parts[0].task.replace("/", "-")
    title = f"{parts[0].title}: values at ranks"
    return PageTable(
        f"ranks-{task}", title, [*(["System"] if several else []), "Rank", *heads], body
    )


def _head(name: str) -> str:
    for end, word in (("_low", "from"), ("_high", "to")):
        if name.endswith(end):
            return f"{words.label(name.removesuffix(end))}, {word}"
    return words.label(name)


def other_tables(part: PageItem, systems: int, images: Images | None = None) -> Iterator[PageTable]:
    """Return the values over folds, groups, subjects and the like, a table for each."""
    dataset, several, most = part.dataset, systems > 1, max(50, MOST_ROWS // systems)
    found: dict[tuple[str, ...], list[str]] = {}
    for name, values in dataset.data_vars.items():
        dims = tuple(map(str, values.dims))
        if name == "undecided" and not values.values.any():
            continue
        if dims and not (set(dims) <= set(_CURVES) or set(dims) & {"threshold", "rank"}):
            found.setdefault(dims, []).append(str(name))
    verdicts = str(dataset.attrs.get("verdicts", "")).splitlines()
    for dims, names in found.items():
        # Costs have no names, but what they are of: their numbers come first.
        numbered = dims != ("cost",)
        names.sort(key=lambda name: not (numbered or name.startswith("cost_")))
        labels = [_labels(dataset, dim) for dim in dims]
        total = int(np.prod([len(x) for x in labels]))
        if dims == ("suspect",) and not total:
            continue
        flat = {name: dataset[name].values.reshape(total) for name in names}
        body = []
        for i, place in enumerate(itertools.product(*labels)):
            if i == most:
                break
            more = dict(zip(dims, place, strict=True))
            cells = [_cell(part, name, flat[name][i], more) for name in names]
            body.append([*(str(x) for x in place if numbered), *cells])
        heads = [dim.replace("_", " ").capitalize() for dim in dims if numbered]
        heads += [_head(name) for name in names]
        if dims == ("measure",) and len(verdicts) == len(body):
            heads.append("Verdict")
            body = [[*row, verdict] for row, verdict in zip(body, verdicts, strict=True)]
        if dims in (("pair",), ("suspect",)) and images is not None:
            for head, shown in images.columns(part, dims[0], len(body)):
                heads.append(head)
                body = [[*row, image] for row, image in zip(body, shown, strict=True)]
        over = " and ".join(dim.replace("_", " ") for dim in dims)
        who = f" ({part.system})" if several else ""
        note = f"The first {most} of {total:,} rows." if total > most else ""
        stem = f"{part.task}-{'-'.join(dims)}{'-' + part.system if several else ''}"
        yield PageTable(
            stem.replace("/", "-"), f"{part.title}{who}: values by {over}", heads, body, note
        )


def _labels(dataset: Any, dim: str) -> list:
    if dim in dataset.coords:
        return dataset[dim].values.tolist()
    return list(range(dataset.sizes[dim]))


def _cell(part: PageItem, name: str, value: Any, more: dict) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    kind = part.dataset[name].dtype.kind
    return Number(part, name, value, shape_of(part, name, kind), more=more)

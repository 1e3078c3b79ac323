"""Results as a table for the terminal: values are picked from the datasets, never computed.

Each row says what it is over: the attempts of each class and the subjects that made them.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ResultTable", "as_text"]

#: With this many thresholds or fewer, they were asked for and each has its rows.
FEW = 12

#: Ranks shown where the protocol names none.
RANKS = (1, 5, 10)

_INDENT = "  "


@dataclass(frozen=True)
class Row:
    """One result: what it is, its value, and what it is over."""

    measure: str
    value: float
    unit: str = "%"
    threshold: float | None = None
    genuine: int | None = None
    impostor: int | None = None
    subjects: int | None = None
    decimals: int = 2
    why_not: str = ""


@dataclass(frozen=True)
class Section:
    """The rows of one task."""

    title: str
    details: str
    rows: list[Row]
    notes: list[str] = field(default_factory=list)


class ResultTable:
    """Results that rich can print.

    Parameters
    ----------
    tree : xarray.DataTree or xarray.Dataset
        What an evaluation returned.

    Examples
    --------
    >>> import bioeval as be
    >>> from rich import print  # doctest: +SKIP
    >>> print(ResultTable(be.evaluate(scores)))  # doctest: +SKIP
    """

    def __init__(self, tree: xr.DataTree | xr.Dataset):
        self.datasets = dict(datasets(tree))
        several = len({_system(path) for path in self.datasets}) > 1
        self.sections = [
            section(dataset, path, several) for path, dataset in self.datasets.items()
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._about()
        rows = [row for part in self.sections for row in part.rows]
        widths = _widths(rows)
        wide = sum(widths) + 2 * (len(widths) - 1) <= options.max_width
        for part in self.sections:
            yield Text("")
            yield Text(part.title, style="bold")
            if part.details:
                yield Text(_INDENT + part.details, style="dim")
            yield from self._lines(part, rows, widths, wide)
            for note in part.notes:
                yield Text(_INDENT + note, style="dim")
        yield from self._warnings()

    def _about(self) -> Iterator[Any]:
        """Say what was evaluated."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, text in about(self.datasets):
            grid.add_row(name, text)
        yield grid

    def _lines(
        self, part: Section, rows: list[Row], widths: list[int], wide: bool
    ) -> Iterator[Any]:
        fraction = max((len(_number(row).partition(".")[2]) for row in rows), default=0)
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        heads = ["", "value", "threshold", "genuine", "impostor", "subjects"]
        for i, (head, width) in enumerate(zip(heads, widths, strict=True)):
            if not wide and i > 2:
                break
            justify = "left" if i == 0 else "right"
            if i == 0:
                table.add_column(head, overflow="fold", min_width=width if wide else None)
            else:
                table.add_column(head, justify=justify, no_wrap=True, min_width=width)
        over: tuple | None = None
        for row in part.rows:
            this = (row.genuine, row.impostor, row.subjects)
            if not wide and this != over:
                table.add_row(Text(f"{_INDENT}{_over(*this)}", style="dim italic"), "", "")
                over = this
            cells: list[Any] = [
                f"{_INDENT}{row.measure}",
                Text(_aligned(row, fraction), style="bold" if row.value == row.value else "dim"),
                _threshold(row.threshold),
            ]
            if wide:
                cells += [_count(row.genuine), _count(row.impostor), _count(row.subjects)]
            table.add_row(*cells)
        yield table

    def _warnings(self) -> Iterator[Any]:
        said = list(warnings(self.datasets))
        if not said:
            return
        yield Text("")
        yield Text("Warnings", style="bold yellow")
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for text, tasks in said:
            table.add_row(" -", Text(text) + Text(f" ({tasks})" if tasks else "", style="dim"))
        yield table


def as_text(tree: xr.DataTree | xr.Dataset, width: int = 100) -> str:
    """Return the table as plain text, without colours."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, color_system=None, highlight=False, emoji=False)
    console.print(ResultTable(tree), markup=False)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


# ------------------------------------------------------------------------ picking


def datasets(tree: xr.DataTree | xr.Dataset) -> Iterator[tuple[str, xr.Dataset]]:
    """Return the path and the dataset of each task."""
    if not hasattr(tree, "subtree"):
        yield str(tree.attrs.get("task", "")), tree
        return
    for node in tree.subtree:
        if node.data_vars:
            yield node.path.strip("/"), node.to_dataset()


def _system(path: str) -> str:
    """Return what stands before the task in a path: the system, where there are several."""
    parts = path.split("/")
    tasks = ("verification", "open_set", "closed_set", "reid")
    first = next((i for i, part in enumerate(parts) if part in tasks), len(parts))
    return "/".join(parts[:first])


def section(dataset: xr.Dataset, path: str = "", several: bool = False) -> Section:
    """Return the rows of a task's dataset."""
    attrs = dataset.attrs
    task = str(attrs.get("task", path)) or "Results"
    title = task[0].upper() + task[1:]
    if several and _system(path):
        title = f"{_system(path)}: {title}"
    if "cms" in dataset:
        rows = list(_closed_set(dataset))
        details = _details(attrs, "rank_unit", "ties", "fusion")
    elif "dir" in dataset:
        rows = list(_open_set(dataset))
        details = _details(attrs, "rank_unit", "ties", "impostors", "fusion")
    else:
        rows = list(_verification(dataset))
        multi = attrs.get("templates") == "multi"
        details = _details(attrs, *(("fusion",) if multi else ()), "claims")
    notes = dict.fromkeys(f"n/a: {row.why_not}" for row in rows if math.isnan(row.value))
    return Section(title, details, rows, list(notes))


def _details(attrs: Any, *names: str) -> str:
    says: dict[str, Callable[[str], str]] = {
        "rank_unit": lambda x: f"ranks count {x}s",
        "ties": lambda x: f"{x} ties",
        "impostors": lambda x: f"impostors {x}",
        "fusion": lambda x: f"fusion {x}",
        "claims": lambda x: "" if x in ("", "all") else f"claims {x}",
    }
    said = [says[name](str(attrs[name])) for name in names if name in attrs]
    return ", ".join(text for text in said if text)


def _scalar(dataset: xr.Dataset, name: str) -> float | None:
    """Return a 0-d variable, or None where it is not there."""
    if name not in dataset or dataset[name].ndim:
        return None
    return float(dataset[name].item())


def _attempts(dataset: xr.Dataset) -> tuple[int, int, int]:
    """Return genuine attempts, impostor attempts and probe subjects."""
    genuine = _scalar(dataset, "genuine_attempts") or 0
    impostor = _scalar(dataset, "impostor_attempts") or 0
    return int(genuine), int(impostor), int(dataset.attrs.get("probe_subjects", 0))


def _verification(dataset: xr.Dataset) -> Iterator[Row]:
    genuine, impostor, subjects = _attempts(dataset)
    over = {"genuine": genuine, "impostor": impostor, "subjects": subjects or None}
    why = _why_not(genuine, impostor)
    fine, finer = _decimals(genuine), _decimals(impostor)

    def at(name: str) -> float | None:
        return _scalar(dataset, name)

    if (eer := at("eer")) is not None:
        yield Row("EER", eer, threshold=at("eer_threshold"), decimals=fine, why_not=why, **over)
    for target, frr, threshold in _targets(dataset, "frr_at_far"):
        name = f"FNMR at FMR <= {_per_cent(target)}{_fvc(target)}"
        yield Row(name, frr, threshold=threshold, decimals=fine, why_not=why, **over)
    if (zero := at("zero_far")) is not None:
        limit = at("zero_far_threshold")
        name = "FNMR at FMR = 0 (ZeroFMR)"
        yield Row(name, zero, threshold=limit, decimals=fine, why_not=why, **over)
    if (zero := at("zero_frr")) is not None:
        limit = at("zero_frr_threshold")
        name = "FMR at FNMR = 0 (ZeroFNMR)"
        yield Row(name, zero, threshold=limit, decimals=finer, why_not=why, **over)
    if (auc := at("auc")) is not None:
        yield Row("AUC", auc, unit="", decimals=5, why_not=why, **over)
    if (d_prime := at("d_prime")) is not None:
        spread = why or "the scores of both classes have no spread"
        yield Row("d'", d_prime, unit="", decimals=3, why_not=spread, **over)
    operating = "eer" in dataset or "frr_at_far" in dataset
    for i in _few_thresholds(dataset, operating):
        threshold = float(dataset["threshold"][i])
        yield Row(
            "FMR",
            float(dataset["far"][i]),
            threshold=threshold,
            impostor=impostor,
            subjects=subjects or None,
            decimals=finer,
            why_not="0 impostor attempts",
        )
        yield Row(
            "FNMR",
            float(dataset["frr"][i]),
            threshold=threshold,
            genuine=genuine,
            subjects=subjects or None,
            decimals=fine,
            why_not="0 genuine attempts",
        )


def _open_set(dataset: xr.Dataset) -> Iterator[Row]:
    genuine, impostor, subjects = _attempts(dataset)
    over = {"genuine": genuine, "impostor": impostor, "subjects": subjects or None}
    why = _why_not(genuine, impostor) or "no threshold where FAR and 1 - DIR cross"
    fine, finer = _decimals(genuine), _decimals(impostor)
    if (eer := _scalar(dataset, "eer")) is not None:
        threshold = _scalar(dataset, "eer_threshold")
        yield Row("EER, rank 1", eer, threshold=threshold, decimals=fine, why_not=why, **over)
    for target, rate, threshold in _targets(dataset, "dir_at_far"):
        name = f"DIR (TPIR), rank 1, at FAR (FPIR) <= {_per_cent(target)}"
        yield Row(name, rate, threshold=threshold, decimals=fine, why_not=why, **over)
    operating = "eer" in dataset or "dir_at_far" in dataset
    first = dataset["dir"].isel(rank=0)
    for i in _few_thresholds(dataset, operating):
        threshold = float(dataset["threshold"][i])
        yield Row(
            "DIR (TPIR), rank 1",
            float(first[i]),
            threshold=threshold,
            genuine=genuine,
            subjects=subjects or None,
            decimals=fine,
            why_not="0 genuine attempts",
        )
        yield Row(
            "FAR (FPIR)",
            float(dataset["far"][i]),
            threshold=threshold,
            impostor=impostor,
            subjects=subjects or None,
            decimals=finer,
            why_not="0 impostor attempts",
        )


def _closed_set(dataset: xr.Dataset) -> Iterator[Row]:
    attempts = int(_scalar(dataset, "attempts") or 0)
    subjects = int(dataset.attrs.get("probe_subjects", 0)) or None
    ranks = dataset["rank"].values.tolist()
    for rank in RANKS:
        if rank not in ranks:
            continue
        name = f"Rank {rank}" + (" (recognition rate)" if rank == 1 else "")
        yield Row(
            name,
            float(dataset["cms"][ranks.index(rank)]),
            genuine=attempts,
            subjects=subjects,
            decimals=_decimals(attempts),
            why_not="no probe with a mate",
        )


def _targets(dataset: xr.Dataset, name: str) -> Iterator[tuple[float, float, float | None]]:
    """Return target, rate and threshold at each FAR target; at rank 1, where there are ranks."""
    if name not in dataset:
        return
    rates, limits = dataset[name], dataset.get("threshold_at_far")
    if "rank" in rates.dims:
        rates = rates.isel(rank=0)
    if limits is not None and "rank" in limits.dims:
        limits = limits.isel(rank=0)
    if rates.dims != ("far_target",):
        return
    for i, target in enumerate(dataset["far_target"].values.tolist()):
        yield target, float(rates[i]), None if limits is None else float(limits[i])


def _few_thresholds(dataset: xr.Dataset, operating: bool) -> list[int]:
    """Return the places of all thresholds if they are few, else of some if nothing else is told."""
    count = dataset.sizes.get("threshold", 0)
    if count <= FEW:
        return list(range(count))
    return [] if operating else [round(i * (count - 1) / 4) for i in range(5)]


def _why_not(genuine: int, impostor: int) -> str:
    """Return why a result that needs both classes is not defined."""
    lacking = [n for n, count in (("genuine", genuine), ("impostor", impostor)) if not count]
    return f"0 {' and 0 '.join(lacking)} attempts" if lacking else ""


def about(found: dict[str, xr.Dataset]) -> Iterator[tuple[str, str]]:
    """Say, line by line, what the results are about."""
    if not found:
        return
    attrs = next(iter(found.values())).attrs
    layout, kind = str(attrs.get("layout", "")), str(attrs.get("kind", ""))
    systems = list(dict.fromkeys(filter(None, (_system(path) for path in found))))
    name = ", ".join(systems) or str(attrs.get("system", ""))
    if name:
        yield "System", name
    probes, subjects = int(attrs.get("probes", 0)), int(attrs.get("probe_subjects", 0))
    templates = int(attrs.get("gallery_templates", 0))
    gallery = int(attrs.get("gallery_subjects", 0))
    if layout == "pairs":
        yield "Data", f"{probes:,} pairs"
    elif layout == "all-against-all" and probes == templates:
        yield "Data", f"{probes:,} templates of {subjects:,} subjects, all against all"
    else:
        yield (
            "Data",
            f"{_of(probes, 'probes', subjects)} against {_of(templates, 'templates', gallery)}",
        )
    accepts = {
        "distance": "distances, accepted at or below the threshold",
        "similarity": "similarities, accepted at or above the threshold",
        "order": "order within each row; no thresholds",
    }
    if kind:
        yield "Scores", accepts.get(kind, kind)
    failed = {
        "reject": "rejected: an attempt at an infinite distance",
        "exclude": "excluded: no attempt",
    }
    if attrs.get("nan_policy") in failed:
        yield "Failed", failed[attrs["nan_policy"]]
    if attrs.get("protocol"):
        yield "Protocol", str(attrs["protocol"])


def _of(count: int, what: str, subjects: int) -> str:
    return f"{count:,} {what}" + (f" of {subjects:,} subjects" if subjects else "")


def warnings(found: dict[str, xr.Dataset]) -> Iterator[tuple[str, str]]:
    """Return each warning with the tasks that gave it; no tasks where all of them did."""
    said: dict[str, list[str]] = {}
    for dataset in found.values():
        for line in str(dataset.attrs.get("warnings", "")).splitlines():
            said.setdefault(line, []).append(str(dataset.attrs.get("task", "")))
    for line, tasks in said.items():
        yield line, "" if len(tasks) == len(found) else "; ".join(dict.fromkeys(tasks))


# ------------------------------------------------------------------------ writing numbers


def _decimals(attempts: int) -> int:
    """Return as many decimals of a per cent as make one attempt visible."""
    return min(6, max(1, len(str(attempts)) - 2))


def _per_cent(target: float) -> str:
    return f"{100 * target:.6g} %"


def _fvc(target: float) -> str:
    """Return the name that FVC gave to FNMR at a FMR target, such as FMR100."""
    inverse = 1 / target if target > 0 else math.nan
    whole = math.isfinite(inverse) and math.isclose(inverse, round(inverse), rel_tol=1e-9)
    ten = whole and set(str(round(inverse))[1:]) == {"0"} and str(round(inverse))[0] == "1"
    return f" (FMR{round(inverse)})" if ten else ""


def _number(row: Row) -> str:
    if math.isnan(row.value):
        return "n/a"
    scale = 100 if row.unit == "%" else 1
    return f"{scale * row.value:.{row.decimals}f}"


def _aligned(row: Row, fraction: int) -> str:
    """Return the value with its unit, blanks behind it so that points stand below each other."""
    number = _number(row)
    if number == "n/a":
        return f"{number}{' ' * (fraction + 1)}"
    behind = fraction - len(number.partition(".")[2])
    unit = f" {row.unit}" if row.unit else "  "
    return f"{number}{unit}{' ' * behind}"


def _threshold(value: float | None) -> str:
    if value is None:
        return ""
    if math.isnan(value):
        return "n/a"
    if value == int(value) if math.isfinite(value) else False:
        return str(int(value)) if abs(value) < 1e15 else f"{value:.6g}"
    return f"{value:.6g}"


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _over(genuine: int | None, impostor: int | None, subjects: int | None) -> str:
    """Say in words what a row is over."""
    parts = [
        f"{count:,} {name}"
        for name, count in (("genuine", genuine), ("impostor", impostor))
        if count is not None
    ]
    who = "" if subjects is None else f", {subjects:,} subjects"
    return f"over {' and '.join(parts)} attempts{who}:"


def _widths(rows: list[Row]) -> list[int]:
    """Return the width of each column, the same in all sections."""
    fraction = max((len(_number(row).partition(".")[2]) for row in rows), default=0)

    def widest(head: str, texts: Iterator[str]) -> int:
        return max([len(head), *map(len, texts)])

    return [
        widest("", (f"{_INDENT}{row.measure}" for row in rows)),
        widest("value", (_aligned(row, fraction) for row in rows)),
        widest("threshold", (_threshold(row.threshold) for row in rows)),
        widest("genuine", (_count(row.genuine) for row in rows)),
        widest("impostor", (_count(row.impostor) for row in rows)),
        widest("subjects", (_count(row.subjects) for row in rows)),
    ]

"""The benchmarks: what is run, in which order, and what the times say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import machine
from benchmarks.embeddings import embedding_rows
from benchmarks.files import file_rows
from benchmarks.lists import list_rows
from benchmarks.memory import memory_rows
from benchmarks.options import Options
from benchmarks.peers import NotRun
from benchmarks.pieces import Piece, pieces
from benchmarks.retrieval import reid_rows
from benchmarks.rows import Row, number, timed
from benchmarks.series import (
    bootstrap_rows,
    fold_rows,
    growth_rows,
    million_rows,
    partition_rows,
    read_pace,
)
from benchmarks.single_template import single_template_rows
from benchmarks.start import start_rows
from benchmarks.timing import Contender, Times, interleaved, most_threads, quartiles, wall
from benchmarks.workbench import Work, Workbench
from bioeval.base.errors import DataError

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Line:
    """A row to come: the work of a key, and its name."""

    part: str
    key: str
    name: str
    quiet: bool = False  # left out, and not spoken of, where it cannot be run


NO_AUC = "evaluate, no auc"

SWEEPS = (
    Line("counts", "counts", "counts: all tasks, counts and rates"),
    Line("evaluate", "evaluate", "be.evaluate: with the operating points"),
    Line("thresholds", "counts, thresholds", "counts, 1,000 thresholds of the user's"),
    Line("thresholds", "evaluate, thresholds", "be.evaluate, 1,000 thresholds of the user's"),
    Line("auc", NO_AUC, "be.evaluate, without AUC and hull"),
    Line("shuffled", "counts, shuffled", "counts, gallery not grouped by subject"),
    Line("shuffled", "evaluate, shuffled", "be.evaluate, gallery not grouped by subject"),
    Line("float64", "counts, float64", "counts, float64"),
    Line("float64", "evaluate, float64", "be.evaluate, float64"),
)

OTHERS = (
    Line("argsort", "argsort", "np.argsort of the rows"),
    Line("sort", "sort", "two np.sort, genuine and impostor"),
    Line("roc_curve", "roc_curve", "scikit-learn roc_curve"),
    Line("pyeer", "pyeer", "pyeer get_eer_stats"),
    Line("feerci", "feerci", "feerci"),
    Line("evalify", "evalify", "evalify Experiment"),
    Line("bob.measure", "bob.measure", "bob.measure eer"),
)


@dataclass(frozen=True)
class Versus:
    """A row to come: the work of one key against that of another, each byte."""

    part: str
    section: str
    work: str
    base: str
    name: str

    @property
    def key(self) -> str:
        """The key of the row."""
        return f"{self.work} / {self.base}"


_THOUSAND = "the same, with 1,000 thresholds of the user's"
_OTHER = {
    "similarity": "similarities",
    "float64": "float64",
    "mask": "a mask",
    "metadata": "pairs left out by metadata",
    "exclude": '0.1 % NaN, nan="exclude"',
}

VERSUS = (
    Versus("points", "points", "evaluate", "counts", "a simulated population"),
    Versus("points", "points", "evaluate, thresholds", "counts", _THOUSAND),
    Versus(
        "points", "points", "evaluate, uniform", "counts, uniform", "overlapping uniform scores"
    ),
    Versus("points", "points", "evaluate, uniform, thresholds", "counts, uniform", _THOUSAND),
    Versus("shuffled", "plain", "counts, shuffled", "counts", "counts, gallery in no order"),
    Versus(
        "shuffled", "plain", "evaluate, shuffled", "evaluate", "be.evaluate, gallery in no order"
    ),
    *(
        Versus("variants", "plain", f"{run}, {variant}", run, f"{run}, {name}")
        for run in ("counts", "evaluate")
        for variant, name in _OTHER.items()
    ),
)

#: What is compared on one thread and on two.
THREADED = {"read": "the vectorised read", "counts": "counts", "evaluate": "be.evaluate"}

#: Calls whose kernels are timed one by one.
TAKEN_APART = ("counts", "counts, thresholds", "evaluate")


@dataclass(frozen=True)
class Report:
    """Everything that a run found."""

    machine: dict[str, Any]
    rows: list[Row]
    pieces: list[Piece]

    def documents(self) -> list[dict[str, Any]]:
        """Return what each JSON line holds: the machine, then rows, then kernels."""
        found = [row.document() for row in self.rows]
        return [self.machine, *found, *(piece.document() for piece in self.pieces)]


def run(options: Options, tell: Tell = lambda _: None) -> Report:
    """Measure.

    Parameters
    ----------
    options : Options
    tell : callable
        Called with a short description of each step.

    Raises
    ------
    DataError
        If the machine has fewer threads or less memory.
    """
    if options.threads > most_threads():
        raise DataError(f"threads is {options.threads}; the kernels can have {most_threads()} here")
    _check_memory(options)
    about = {"record": "machine", **machine.limits(), **_sizes(options)}
    bench = Workbench(options)
    tell("making the matrix")
    about["read_bytes_per_second"] = read_pace(bench.grouped, options.threads)
    rows, taken_apart, about["processor_share"] = _against_reads(bench, about["load_average"], tell)
    del bench  # and its matrices
    more = {"embeddings": embedding_rows, "partitions": partition_rows, "growth": growth_rows}
    more |= {"folds": fold_rows, "files": file_rows, "lists": list_rows, "start": start_rows}
    more["bootstrap"] = bootstrap_rows
    more |= {"exact": single_template_rows, "reid": reid_rows, "million": million_rows}
    for part, measure in {**more, "memory": memory_rows}.items():
        if part in options.parts:
            rows += measure(options, tell)
    return Report(about, rows, taken_apart)


def _sizes(options: Options) -> dict[str, Any]:
    names = ("size", "templates", "repeat", "threads")
    return {name: getattr(options, name) for name in names}


def _check_memory(options: Options) -> None:
    """Refuse a size whose matrices do not fit, before any is made."""
    bytes_each = {"shuffled": 4, "float64": 8, "sort": 16, "points": 4, "variants": 17}
    needed = options.size**2 * (5 + sum(bytes_each.get(part, 0) for part in options.parts))
    free = machine.available()
    if free is not None and needed > free:
        raise DataError(
            f"size is {options.size:,}; that takes about {needed / 2**30:.1f} GiB, and "
            f"{free / 2**30:.1f} GiB are free. Choose a smaller size, or fewer parts"
        )


class _Queue:
    """Contenders of one round-robin, each once."""

    def __init__(self, bench: Workbench):
        self.bench = bench
        self.contenders: dict[str, Contender] = {}
        self.works: dict[str, Work] = {}

    def add(
        self, key: str, threads: int, *, beside_read: bool = True, foreign: bool = False
    ) -> str:
        """Queue the work of a key and return its name in the times."""
        name = f"{key} @{threads}"
        against = None
        if beside_read:
            read = "read float64" if key.endswith("float64") else "read"
            against = self.add(read, threads, beside_read=False)
        if name not in self.contenders:
            work = self.bench.work(key)
            self.works[name] = work
            self.contenders[name] = Contender(name, work.call, threads, against, foreign)
        return name


def _against_reads(
    bench: Workbench, load: float | None, tell: Tell
) -> tuple[list[Row], list[Piece], float | None]:
    """Measure, in one round-robin, everything that goes over one matrix."""
    options, queue = bench.options, _Queue(bench)
    skipped: dict[str, str] = {}
    lines = [line for line in (*SWEEPS, *OTHERS) if line.part in options.parts]
    for line in lines:
        tell(f"making the data: {line.name}")
        try:
            queue.add(line.key, options.threads, foreign=line in OTHERS)
        except NotRun as reason:
            skipped[line.key] = str(reason)
    versus = [line for line in VERSUS if line.part in options.parts]
    for key in dict.fromkeys(key for line in versus for key in (line.work, line.base)):
        tell(f"making the data: {key}")
        queue.add(key, options.threads)
    if f"{NO_AUC} @{options.threads}" in queue.contenders:
        queue.add("evaluate", options.threads)
    others = [line for line in lines if line in OTHERS and line.key not in skipped]
    if others:
        queue.add("counts", options.threads)
    if "threads" in options.parts and most_threads() > 1:
        for key in THREADED:
            for threads in (1, 2):
                queue.add(key, threads, beside_read=key != "read")
    if not queue.contenders:
        times: Times = {}
        failed: dict[str, str] = {}
    else:
        times, failed = interleaved(list(queue.contenders.values()), options.repeat, tell)
    shown = [line for line in lines if not (line.quiet and line.key in skipped)]
    rows = [_row(line, queue, times, skipped, failed) for line in shown]
    rows += [
        _against_counts(line, queue, times)
        for line in others
        if f"{line.key} @{options.threads}" in times
    ]
    rows += [_versus(line, queue, times) for line in versus]
    if f"{NO_AUC} @{options.threads}" in times:
        rows.append(_auc_apart(queue, times))
    if "threads" in options.parts:
        rows += _speed_ups(queue, times, load)
    found: list[Piece] = []
    for key in TAKEN_APART:
        work = queue.works.get(f"{key} @{options.threads}")
        if work is not None and any(line.key == key for line in lines):
            tell(f"taking apart: {key}")
            found += pieces(key, work.call, work.cells, options.threads)
    rows += _outside(found, options.size**2)
    return rows, found, _share(queue, times)


def _versus(line: Versus, queue: _Queue, times: Times) -> Row:
    """Return the row of one work against another."""
    name, base = (f"{key} @{queue.bench.options.threads}" for key in (line.work, line.base))
    ratios = times[name] / queue.works[name].bytes / (times[base] / queue.works[base].bytes)
    about: dict[str, Any] = {"part": line.part, "key": line.key, "section": line.section}
    return timed(ratios, times[name], queue.works[name].cells, **about, name=line.name)


def _outside(found: list[Piece], cells: int) -> Iterator[Row]:
    """Yield, of each call that was taken apart, the row of the time that no kernel took."""
    for key in dict.fromkeys(piece.key for piece in found):
        spent = {piece.kernel: piece.ns_per_cell for piece in found if piece.key == key}
        share = spent[""] / sum(spent.values())
        about: dict[str, Any] = {"part": key.split(", ")[-1], "section": "outside"}
        figure = f"{number(spent[''])} ns a cell"
        yield Row(
            **about,
            key=f"outside: {key}",
            name=f"be.{key}",
            ratio=share,
            low=share,
            high=share,
            figure=figure,
            seconds=spent[""] * cells * 1e-9,
            ns_per_cell=spent[""],
        )


def _share(queue: _Queue, times: Times) -> float | None:
    """Return the share of the time in which what had one thread really had it."""
    single = [name for name, c in queue.contenders.items() if c.threads == 1 and name in times]
    if not single:
        return None
    return float(sum(times[n].sum() for n in single) / sum(times[wall(n)].sum() for n in single))


def _row(
    line: Line, queue: _Queue, times: Times, skipped: dict[str, str], failed: dict[str, str]
) -> Row:
    name = f"{line.key} @{queue.bench.options.threads}"
    section = "others" if line in OTHERS else "read"
    about: dict[str, Any] = {
        "part": line.part,
        "key": line.key,
        "section": section,
        "name": line.name,
    }
    reason = skipped.get(line.key) or failed.get(name)
    if reason is not None:
        return Row(**about, note=reason)
    work, contender = queue.works[name], queue.contenders[name]
    assert contender.against is not None  # all lines stand beside a read
    read = times[contender.against] / queue.works[contender.against].cells
    return timed(times[name] / work.cells / read, times[name], work.cells, **about, note=work.note)


def _against_counts(line: Line, queue: _Queue, times: Times) -> Row:
    """Return the row of another program against the counts of all tasks, a score each."""
    name, counts = (f"{key} @{queue.bench.options.threads}" for key in (line.key, "counts"))
    work, counted = queue.works[name], queue.works[counts]
    ratios = times[name] / work.cells / (times[counts] / counted.cells)
    about: dict[str, Any] = {"part": line.part, "key": f"counts: {line.key}", "section": "counts"}
    return timed(ratios, times[name], work.cells, **about, name=line.name, note=work.note)


def _auc_apart(queue: _Queue, times: Times) -> Row:
    """Return the row of what AUC and hull cost: the difference of two calls."""
    threads = queue.bench.options.threads
    apart = times[f"evaluate @{threads}"] - times[f"{NO_AUC} @{threads}"]
    about: dict[str, Any] = {"part": "auc", "key": "auc apart", "section": "read"}
    about["name"] = "AUC and hull alone, the difference"
    ratios = apart / times[f"read @{threads}"]
    if min(quartiles(apart)[0], quartiles(ratios)[0]) <= 0:  # rounds disagree on the slower call
        return Row(**about, note="too little to tell from the noise")
    cells = queue.works[f"evaluate @{threads}"].cells
    return timed(ratios, apart, cells, **about)


def _speed_ups(queue: _Queue, times: Times, load: float | None) -> Iterator[Row]:
    for key, name in THREADED.items():
        about: dict[str, Any] = {
            "part": "threads",
            "key": f"speed-up: {key}",
            "section": "speed-up",
            "name": name,
        }
        if most_threads() < 2:
            yield Row(**about, note="skipped: one thread is all there is")
            continue
        one, two = times[wall(f"{key} @1")], times[f"{key} @2"]
        note = ""
        if load is not None and load > 0.25 * machine.cores():
            note = f"load average {load} at the start: threads have to wait for other programs"
        cells = queue.works[f"{key} @2"].cells
        yield timed(one / two, two, cells, **about, note=note)

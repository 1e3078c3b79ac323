"""What is measured apart from one large matrix: many small galleries, growth."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import bioeval as be
from benchmarks.machine import available, peak_bytes
from benchmarks.matrices import Matrix, features
from benchmarks.memory import elsewhere
from benchmarks.options import Options
from benchmarks.rows import Row, number, timed
from benchmarks.timing import Contender, interleaved, limited, quartiles, seconds
from benchmarks.workbench import counts, streamed
from bioeval.evaluation import evaluate
from bioeval.scores.matrix import Scores
from bioeval.stats.options import IntervalMethod
from bioeval.studies.partitions.repeat import repeat, summary

Tell = Callable[[str], None]

#: Rounds of what takes long.
_FEW_ROUNDS = 3

#: Replicates of the bootstrap.
RESAMPLES = 1_000

#: What is extrapolated to.
MILLION = 1_000_000

#: Templates on each side of the matrix that partitions are drawn from, at most.
_POOL = 2_000


def partition_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """Random probes and galleries of one matrix, as a study that repeats thousands of times."""
    matrix = Matrix(max(2 * options.templates, min(options.size, _POOL)), options.templates)
    drawn = _partitions(matrix, options)
    rounds = min(options.repeat, len(drawn))
    batch = len(drawn) // rounds
    values, scores = matrix.values, matrix.scores

    def each(run: Callable[[np.ndarray, np.ndarray], object]) -> Callable[[], None]:
        turns = itertools.cycle(drawn)

        def call() -> None:
            for probes, gallery in itertools.islice(turns, batch):
                run(probes, gallery)

        return call

    calls = {
        "copy": lambda p, g: values[np.ix_(p, g)],
        "counts": lambda p, g: counts(scores.select(probes=p, gallery=g)),
        "evaluate": lambda p, g: evaluate(scores.select(probes=p, gallery=g)),
        "summary": lambda p, g: summary(scores.select(probes=p, gallery=g)),
    }
    works: dict[str, Callable[[], object]] = {k: each(run) for k, run in calls.items()}
    works["repeat"] = lambda: repeat(scores, drawn)
    names = {
        "counts": "counts of all tasks",
        "evaluate": "be.evaluate, with operating points",
        "summary": "be.summary, its scalars alone",
        "repeat": "be.repeat, all in one call",
    }
    against = dict.fromkeys(names, "copy")
    times, _ = interleaved(
        [Contender(k, work, options.threads, against.get(k)) for k, work in works.items()],
        rounds,
        tell,
    )
    times["repeat"] = times["repeat"] * batch / len(drawn)  # of all in one call
    probes, gallery = drawn[0]
    cells = batch * len(probes) * len(gallery)
    for key, name in names.items():
        row_times = times[key]
        each_ms = float(np.median(row_times)) / batch * 1e3
        yield timed(
            row_times / times["copy"],
            row_times,
            cells,
            figure=f"{number(each_ms)} ms each",
            amount=each_ms,
            part="partitions",
            key=f"partition: {key}",
            section="copy",
            name=f"{name}, {len(probes)} x {len(gallery)}",
            note=f"{batch * rounds:,} partitions; the milliseconds are this machine's",
        )


def _partitions(matrix: Matrix, options: Options) -> list[tuple[np.ndarray, np.ndarray]]:
    """Draw people, and of each as many templates for the probes as for the gallery."""
    templates = options.templates
    people = matrix.size // templates
    half = templates // 2
    chosen = max(1, min(people, options.side // half))
    generator = np.random.default_rng(0)
    drawn = []
    for _ in range(options.partitions):
        who = generator.choice(people, chosen, replace=False)
        places = (
            np.argsort(generator.random((chosen, templates)), axis=1) + who[:, None] * templates
        )
        drawn.append((places[:, :half].ravel(), places[:, half : 2 * half].ravel()))
    return drawn


def fold_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """Ten folds by subject, against one verification without AUC and hull."""
    for place, size in enumerate(dict.fromkeys((min(options.size, _POOL), options.size))):
        matrix = Matrix(size, options.templates)
        splitter = be.partition.SubjectKFold(min(10, size // options.templates))
        calls: dict[str, Any] = {
            "one": partial(be.verification, matrix.scores, auc=False),
            "eer": partial(be.cross_evaluate, matrix.scores, splitter, threshold="eer"),
            "accuracy": partial(be.cross_evaluate, matrix.scores, splitter, threshold="accuracy"),
        }
        work = [Contender(key, call, options.threads) for key, call in calls.items()]
        times, _ = interleaved(work, options.repeat, tell)
        for rule, name in (("eer", "EER"), ("accuracy", "accuracy")):
            yield timed(
                times[rule] / times["one"],
                times[rule],
                matrix.values.size,
                part="folds",
                key=f"folds: {rule}{', large' if place else ''}",
                section="folds",
                name=f"threshold by {name}, {matrix.size:,} templates",
            )


def bootstrap_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """Resample 100 subjects with 5 templates, and evaluate them as often without."""
    scores = Matrix(500, 5, "float64").scores
    method = IntervalMethod("subject-bootstrap", replicates=RESAMPLES)
    resampled = partial(evaluate, scores, interval=method)
    work = [
        Contender("summary", partial(summary, scores), options.threads),
        Contender("bootstrap", resampled, options.threads),
    ]
    times, _ = interleaved(work, options.repeat, tell)
    yield timed(
        RESAMPLES * times["summary"] / times["bootstrap"],
        times["bootstrap"],
        RESAMPLES * scores.shape[0] * scores.shape[1],
        part="bootstrap",
        key="bootstrap",
        section="bootstrap",
        name="500 templates of 100 subjects",
        figure=f"{number(float(np.median(times['bootstrap'])) * 1e3)} ms",
    )


def growth_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """Fit time against cells: 1 is linear."""
    sizes, dropped = _affordable(sorted(options.growth))
    matrices = [Matrix(size, options.templates) for size in sizes]
    cells = np.array([matrix.values.size for matrix in matrices], dtype=float)
    for name, run in (("counts", counts), ("be.evaluate", evaluate)):
        about: dict[str, Any] = {"part": "growth", "section": "growth", "key": f"growth: {name}"}
        about["name"] = f"{name}, {sizes[0]:,} to {sizes[-1]:,} templates" if sizes else name
        if len(sizes) < 2:
            yield Row(**about, note="not run: too little memory for two sizes")
            continue
        work = [
            Contender(f"{name} {m.size:,}", _of(run, m.scores), options.threads) for m in matrices
        ]
        seconds(work[0])
        times, _ = interleaved(work, min(options.repeat, _FEW_ROUNDS), tell)
        by_size = np.array([times[w.key] for w in work])
        slopes = np.polyfit(np.log(cells), np.log(by_size), 1)[0]
        low, slope, high = quartiles(slopes)
        pace = np.median(by_size, axis=1) / cells * 1e9
        note = "ns a cell: " + ", ".join(
            f"{size:,}: {number(each)}" for size, each in zip(sizes, pace, strict=True)
        )
        if dropped:
            note += f"; {', '.join(f'{size:,}' for size in dropped)} left out, for want of memory"
        yield Row(
            **about,
            ratio=slope,
            low=low,
            high=high,
            ns_per_cell=float(pace[-1]),
            seconds=float(np.median(by_size[-1])),
            figure=f"{number(float(np.median(by_size[-1])))} s the largest",
            note=note,
        )


def million_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """Say what a million embeddings would take, from how smaller numbers grow."""
    largest, dimensions = options.embeddings
    sizes = sorted({max(2 * options.templates, largest // part) for part in (4, 2, 1)})
    work, cells = [], np.array(sizes, dtype=float) ** 2
    for size in sizes:
        x, labels = features(size // options.templates, options.templates, dimensions)

        def call(x: np.ndarray = x, labels: np.ndarray = labels) -> object:
            return counts(streamed(x, labels, "float32"))

        work.append(Contender(f"streamed {size:,}", call, options.threads))
    times, _ = interleaved(work, min(options.repeat, _FEW_ROUNDS), tell)
    by_size = np.array([times[w.key] for w in work])
    # The last of the sizes, grown at the pace of all.
    slopes = np.polyfit(np.log(cells), np.log(by_size), 1)[0] if len(sizes) > 1 else np.ones(1)
    low, slope, high = quartiles(slopes)
    seconds_each = float(np.median(by_size[-1])) * (MILLION**2 / cells[-1]) ** slope
    note = (
        f"counts of {dimensions} features, streamed in float32 on {options.threads} "
        f"thread{'s' if options.threads > 1 else ''}; from " + ", ".join(f"{n:,}" for n in sizes)
    )
    about: dict[str, Any] = {"part": "million", "section": "extrapolation"}
    yield Row(
        **about,
        key="million: time",
        name="time of counts",
        ratio=slope,
        low=low,
        high=high,
        seconds=float(np.median(by_size[-1])),
        ns_per_cell=float(np.median(by_size[-1])) / cells[-1] * 1e9,
        figure=f"{number(seconds_each / 3600)} hours",
        note=note,
    )
    yield _million_memory(options, sizes, tell, about)


def _million_memory(options: Options, sizes: list[int], tell: Tell, about: dict[str, Any]) -> Row:
    """Return the row of the memory above the embeddings: blocks of one size, and facts a probe."""
    about = {**about, "key": "million: memory", "name": "memory above the embeddings"}
    if peak_bytes() is None or len(sizes) < 2:
        return Row(**about, note="not offered: this system does not tell a process's peak")
    above = []
    for size in (sizes[0], sizes[-1]):
        tell(f"peak memory: {size:,} embeddings")
        found = elsewhere("embeddings", replace(options, embeddings=(size, options.embeddings[1])))
        if "reason" in found:
            return Row(**about, note=found["reason"])
        above.append(found["above"])
    each = (above[1] - above[0]) / (sizes[-1] - sizes[0])
    total = above[1] + each * (MILLION - sizes[-1])
    return Row(
        **about,
        note=f"about {number(max(0.0, total) / 2**30)} GiB: {above[1] / 2**20:,.0f} MiB at "
        f"{sizes[-1]:,} embeddings, and {number(each / 2**10)} KiB for each one more",
    )


def _of(run: Callable[[Scores], object], scores: Scores) -> Callable[[], object]:
    return lambda: run(scores)


def _affordable(sizes: list[int]) -> tuple[list[int], list[int]]:
    """Part the sizes into those whose float32 matrices fit in memory together, and the rest."""
    free = available()
    kept: list[int] = []
    held = 0
    for size in sizes:
        held += 4 * size * size
        if free is None or held < 0.6 * free:
            kept.append(size)
    return kept, [size for size in sizes if size not in kept]


def read_pace(matrix: Matrix, threads: int, repeat: int = 5) -> float:
    """Return the bytes that are read in a second."""
    reader = Contender("read", matrix.read, threads)
    with limited(threads):
        times = [seconds(reader)[0] for _ in range(repeat + 1)][1:]
    return matrix.values.nbytes / float(np.median(times))

"""How the processor time of each command grows when its data are doubled.

Each command runs in this process, on one thread, on data of one size and of twice that size: the
start of the program and the compiling of kernels are in neither. The two sizes take turns; a figure
is the least time of the one over the least time of the other, beside the ratio of the work:
comparisons, pairs, frames or probes. Less than that ratio means that fixed costs still show.

    scripts/growth                     a few minutes
    scripts/growth --only zoo --only check
    scripts/growth --docs              put the table into docs/contributing-benchmarks.md
    scripts/growth --embeddings        `be.evaluate` of 5,000 to 100,000 embeddings, ten minutes

Embeddings are evaluated beside the product of all with all, at the same moment: where classes
hardly overlap, and where the EER is about 3.5 %.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.embeddings import noises, product, scores_of
from benchmarks.matrices import vectors

import bioeval as be
from bioeval.cli import main

PAGE = Path(__file__).resolve().parents[1] / "docs" / "contributing-benchmarks.md"
TEMPLATES = 4
ROUNDS = 2

#: Templates of embeddings with as many features, and those whose cost a score is 1.
SIZES, FEATURES, REFERENCE = (5_000, 10_000, 20_000, 50_000, 100_000), 128, 10_000

#: Time beyond this multiple of the work needs an explanation.
TOLERANCE = 1.15


class Case(NamedTuple):
    """A command, how large its smaller data are, and by how much its work grows.

    `size` is in templates, pairs or frames; `work` is the ratio of `unit` at twice the size.
    """

    args: str
    size: int
    work: int = 4
    unit: str = "cells"
    note: str = ""


CASES = {
    "run": Case("run s.npz", 2000),
    "run, a list": Case("run pairs.csv --kind distance", 200_000, 2, "pairs"),
    "check": Case("check s.npz", 2000),
    "explain": Case(
        "explain s.npz --probe 2",
        2000,
        2,
        "cells of a row",
        "the EER, its threshold unless given, needs all cells",
    ),
    "threshold": Case("threshold s.npz --folds 3 --repeats 2 --replicates 100", 800),
    "compare": Case("compare s.npz other.npz --replicates 100", 1000),
    "report": Case("report s.npz --out page.html --interval none --folds 0 --force", 2000),
    "calibration": Case("calibration s.npz", 800),
    "fuse": Case("fuse s.npz other.npz --name a --name b --method mean", 1200),
    "normalise": Case(
        "normalise named.txt trials.txt --kind distance --cohort cohort.txt", 20_000, 2, "pairs"
    ),
    "gom": Case("gom q.npz --protocol market1501", 2400),
    "zoo": Case("zoo s.npz --permutations 99", 2400),
    "gallery-size": Case("gallery-size s.npz", 2000),
    "workload": Case("workload s.npz --people 100 --impostors 0.1 --far 0.01", 2000),
    "sample-size": Case("sample-size --frr 0.1 --icc 0.2 --width 0.1", 1, 1, "none: no data"),
    "groups": Case("groups s.npz --by g --meta g=group", 2400),
    "error-discard": Case("error-discard s.npz --quality q --meta q=quality --threshold eer", 2400),
    "conventions": Case("conventions s.npz", 1000),
    "vulnerability": Case("vulnerability a.npz", 1200),
    "pad": Case("pad pad.csv", 100_000, 2, "presentations"),
    "tracking": Case("tracking gt.txt tracks.txt", 1000, 2, "frames"),
    "explain-message": Case("explain-message rejects-all", 1, 1, "none: no data"),
    "protocols": Case("protocols", 1, 1, "none: no data"),
    "info": Case("info", 1, 1, "none: no data"),
    "convert": Case("convert s.npz out.csv", 400),
    "example": Case("example faces --system deep --out faces.npz --force", 1, 1, "none: no data"),
    "simulate": Case(
        "simulate --out made.npz --subjects {subjects}",
        1000,
        note="half is the first touch of new memory and half the writing of the file; the smaller "
        "matrix stays in the cache",
    ),
}


def write_data(folder: Path, name: str, size: int) -> None:
    """Write what a command reads, of a size, into a folder."""
    args = CASES[name].args
    rng = np.random.default_rng(size)
    if "pairs.csv" in args:
        genuine = rng.random(size) < 0.1
        scores = rng.normal(2.0 - genuine, 0.5)
        lines = (f"{s:.6f},{int(g)}\n" for s, g in zip(scores, genuine, strict=True))
        (folder / "pairs.csv").write_text("score,genuine\n" + "".join(lines))
    if "named.txt" in args:
        people = size // 20
        i, j = rng.integers(0, people, (2, size))
        pairs = sorted({(a, b) for a, b in zip(i.tolist(), j.tolist(), strict=True)})
        lines = (f"e{a} t{b} {abs(a - b) % 97 + 0.5}\n" for a, b in pairs)
        (folder / "named.txt").write_text("".join(lines))
        lines = (f"{int(a == b)} e{a} t{b}\n" for a, b in pairs)
        (folder / "trials.txt").write_text("".join(lines))
        lines = (
            f"{side}{a} c{c} {(a * 7 + c * 13) % 89 + 0.25}\n"
            for side in "et"
            for a in range(people)
            for c in range(20)
        )
        (folder / "cohort.txt").write_text("".join(lines))
    if "gt.txt" in args:
        frames = np.repeat(np.arange(1, size + 1), 10)
        who = np.tile(np.arange(1, 11), size)
        for file, moved in (("gt.txt", 0.0), ("tracks.txt", 3.0)):
            left = 50.0 * who + moved * rng.random(len(who))
            rows = zip(frames, who, left, strict=True)
            lines = [f"{f},{w},{x:.2f},{20 * (w % 3)},40,80,1,1,1\n" for f, w, x in rows]
            (folder / file).write_text("".join(lines))
    subjects = size // TEMPLATES
    for file, seed in (("s.npz", 1), ("other.npz", 2)):
        if file in args:
            made = be.simulate(subjects, TEMPLATES, random_state=seed)
            about = {"labels": made.probe_labels, "group": np.arange(size) // TEMPLATES % 3}
            about |= {"seen": np.arange(size) % TEMPLATES * 30, "quality": rng.random(size)}
            np.savez(folder / file, scores=np.asarray(made.values, dtype=np.float32), **about)
    if "q.npz" in args:
        made = be.simulate(subjects, TEMPLATES, random_state=1)
        probe = np.arange(size) % TEMPLATES == 0
        sides = {"probe": probe, "gallery": ~probe}
        about = {f"{side}_labels": made.probe_labels[chosen] for side, chosen in sides.items()}
        about |= {
            f"{side}_camera": np.arange(size)[chosen] % TEMPLATES for side, chosen in sides.items()
        }
        values = np.asarray(made.values, dtype=np.float32)[probe][:, ~probe]
        np.savez(folder / "q.npz", scores=values, **about)
    if "a.npz" in args.split():
        made = be.simulate(subjects, TEMPLATES, random_state=1)
        species = {"attack": np.where(np.arange(size) % TEMPLATES, "", "mask")}
        attacked = be.Scores(made.values, made.probe_labels, probe_meta=species)
        be.save(attacked, folder / "a.npz")
    if "pad.csv" in args:
        species = rng.choice(["", "print", "mask"], size)
        scores = rng.normal(size=size) + (species == "")
        lines = (f"{s:.6f},{x}\n" for s, x in zip(scores, species, strict=True))
        (folder / "pad.csv").write_text("score,attack\n" + "".join(lines))


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder, with what is printed thrown away."""
    with (
        contextlib.chdir(folder),
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def run(args: str, size: int) -> float:
    """Run a command in this folder, and return its processor time."""
    given = args.format(subjects=max(2, size // TEMPLATES)).split()
    for made in ("out.csv", "made.npz"):
        Path(made).unlink(missing_ok=True)
    before = time.process_time()
    code = main(given)
    taken = time.process_time() - before
    if code:
        raise SystemExit(f"growth: bioeval {' '.join(given)} ended with exit code {code}")
    return taken


def measured(name: str, factor: float) -> tuple[float, float]:
    """Return the seconds of a command at its size and at twice its size."""
    case = CASES[name]
    size = max(1, round(case.size * factor))
    sizes = [size // TEMPLATES * TEMPLATES, 2 * (size // TEMPLATES) * TEMPLATES]
    if case.work == 1 and case.size == 1:
        sizes = [1, 2]
    taken: dict[int, list[float]] = {each: [] for each in sizes}
    root = Path(tempfile.mkdtemp())
    try:
        for each in sizes:
            (root / str(each)).mkdir()
            write_data(root / str(each), name, each)
        for turn in range(ROUNDS + 1):
            for each in sizes:
                if turn or each == sizes[0]:  # the first turn compiles and imports
                    with working_in(root / str(each)):
                        seconds = run(case.args, each)
                    if turn:
                        taken[each].append(seconds)
    finally:
        shutil.rmtree(root)
    return min(taken[sizes[0]]), min(taken[sizes[1]])


def table(found: dict[str, tuple[float, float]]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| command | size | ms | time, 2n over n | work, 2n over n | |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for name, (once, twice) in found.items():
        case, ratio = CASES[name], twice / once
        shown = f"{case.size:,}" if case.size > 1 else ""
        lines.append(
            f"| `{name}` | {shown} | {1000 * once:,.0f} | {ratio:.2f} | {case.work} ({case.unit}) "
            f"| {case.note} |"
        )
    return "\n".join(lines) + "\n"


def of_embeddings(sizes: Sequence[int]) -> dict[str, dict[int, tuple[float, float]]]:
    """Return the seconds of `be.evaluate` and of the product, by overlap and number of templates.

    Up to 10,000 templates they are the least of some rounds.
    """
    found: dict[str, dict[int, tuple[float, float]]] = {}
    be.evaluate(scores_of(*vectors(2_000, FEATURES, 1.0, 10)))  # compiles
    for which, noise in noises(FEATURES).items():
        for size in sizes:
            x, labels = vectors(size, FEATURES, noise, 10)
            evaluate = partial(evaluated, x, labels)
            taken = []
            for _ in range(ROUNDS + 1 if size <= REFERENCE else 1):
                taken.append([processor_seconds(call) for call in (evaluate, product(x))])
            once, of_product = np.min(taken, axis=0).tolist()
            found.setdefault(which, {})[size] = once, of_product
            print(
                f"{which:12} {size:8,} templates: {once / of_product:5.2f} products, "
                f"{1e9 * once / size**2:6.2f} ns a score",
                flush=True,
            )
    return found


def evaluated(x: np.ndarray, labels: np.ndarray) -> object:
    """Evaluate embeddings, from the vectors on."""
    return be.evaluate(scores_of(x, labels))


def processor_seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    before = time.process_time()
    call()
    return time.process_time() - before


def table_of_embeddings(found: dict[str, dict[int, tuple[float, float]]]) -> str:
    """Return ratios as Markdown: to the product, and of a score to one of the reference."""
    lines = [
        "| templates | " + " | ".join(f"{x}: over the product | a score" for x in found) + " |",
        "|---:|" + "---:|" * 2 * len(found),
    ]
    sizes = list(next(iter(found.values())))
    reference = REFERENCE if REFERENCE in sizes else sizes[0]
    for size in sizes:
        cells = []
        for taken in found.values():
            once, of_product = taken[size]
            each = (reference / size) ** 2 * once / taken[reference][0]
            cells += [f"{once / of_product:.2f}", f"{each:.2f}"]
        lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def grows_faster(found: dict[str, tuple[float, float]]) -> list[str]:
    """Return the commands whose time grows faster than their work."""
    return [
        name for name, (once, twice) in found.items() if twice / once > TOLERANCE * CASES[name].work
    ]


def write_into(page: Path, rows: str, name: str = "growth") -> None:
    """Replace a table of growth of a page."""
    text = page.read_text(encoding="utf-8")
    pattern = rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)"
    page.write_text(
        re.sub(pattern, lambda m: f"{m[1]}{rows}{m[2]}", text, flags=re.S), encoding="utf-8"
    )


def cli() -> None:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=CASES, help="this command; repeatable")
    parser.add_argument("--factor", type=float, default=1.0, help="sizes times this (1)")
    parser.add_argument("--docs", action="store_true", help="write the table into the page")
    parser.add_argument(
        "--embeddings",
        nargs="*",
        type=int,
        metavar="TEMPLATES",
        help="`be.evaluate` of so many embeddings instead of the commands",
    )
    given = parser.parse_args()
    if given.embeddings is not None:
        growth = of_embeddings(given.embeddings or SIZES)
        if given.docs:
            write_into(PAGE, table_of_embeddings(growth), "growth of embeddings")
        return
    found = {}
    for name in given.only or CASES:
        found[name] = measured(name, given.factor)
        once, twice = found[name]
        print(
            f"{name:16} {1000 * once:8.0f} ms {1000 * twice:8.0f} ms  ratio {twice / once:5.2f}  "
            f"work {CASES[name].work}",
            flush=True,
        )
    for name in grows_faster(found):
        print(f"grows faster than its work: {name}")
    if given.docs:
        write_into(PAGE, table(found))


if __name__ == "__main__":
    cli()

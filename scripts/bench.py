"""How fast bioeval is on this machine, beside other work in the same run: see scripts/bench."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import importlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bioeval as be

RECORDED = Path(__file__).resolve().parents[1] / "docs" / "images" / "benchmarks.json"
ROUNDS = 3

Calls = Mapping[str, Callable[[], object]]


def processor_time(call: Callable[[], object]) -> float:
    """Return the processor time of this process and of those that the call starts and awaits."""
    start, others = time.process_time(), sum(os.times()[2:4])
    call()
    return time.process_time() - start + sum(os.times()[2:4]) - others


def medians(calls: Calls, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median processor time of each call; the calls alternate."""
    for call in calls.values():
        call()
    times = {name: [processor_time(calls[name])] for name in calls}
    for _ in range(rounds - 1):
        for name, call in calls.items():
            times[name].append(processor_time(call))
    return {name: float(np.median(x)) for name, x in times.items()}


def show(title: str, seconds: Mapping[str, float]) -> None:
    """Print a table of times and of their ratios to the first."""
    print(f"\n{title}\n")
    first = next(iter(seconds.values()))
    for name, taken in seconds.items():
        print(f"  {name:<48} {taken:9.3g} s {taken / max(first, 1e-9):8.3g} x", flush=True)


def people(templates: int, each: int = 10, dimensions: int = 16) -> Any:
    """Return simulated embeddings of people."""
    return be.simulate_embeddings(templates // each, each, dimensions=dimensions)


def matrix(templates: int, dtype: str = "float32") -> be.Scores:
    """Return the scores of all templates against all, in memory."""
    drawn = people(templates)
    x = drawn.embeddings.astype(dtype)
    squares = (x**2).sum(axis=1)
    values = np.sqrt(np.maximum(squares[:, None] + squares - 2 * x @ x.T, 0))
    return be.Scores(values, drawn.labels)


# ------------------------------------------------------------------------ the parts


def peers(size: int) -> dict[str, float]:
    """Verification of one matrix, beside programs that are given genuine and impostor scores."""
    scores = matrix(size)
    apart = ~np.eye(size, dtype=bool)
    values = scores.values[apart].astype(float)
    genuine = (scores.probe_labels[:, None] == scores.probe_labels)[apart]
    calls: dict[str, Callable[[], object]] = {"bioeval": lambda: be.verification(scores)}
    roc_curve = importlib.import_module("sklearn.metrics").roc_curve
    calls["scikit-learn"] = lambda: roc_curve(genuine, -values)
    with contextlib.suppress(ImportError):
        bob = importlib.import_module("bob.measure")
        calls["bob.measure"] = lambda: bob.eer(-values[~genuine], -values[genuine])
    with contextlib.suppress(ImportError):
        if size <= 1000:  # it takes minutes beyond
            pyeer = importlib.import_module("pyeer.eer_info")
            calls["PyEER"] = lambda: pyeer.get_eer_stats(values[genuine], values[~genuine], True)
    return medians(calls)


def calls_of_a_matrix(size: int) -> dict[str, float]:
    """What each call on a matrix costs, beside sorting its scores."""
    scores, worse = matrix(size), matrix(size)
    folds = be.partition.SubjectKFold(10, shuffle=True, random_state=0)
    result = be.verification(scores)
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "det.png"
        return medians(
            {
                "np.sort of all scores": lambda: np.sort(scores.values, axis=None),
                "be.verification": lambda: be.verification(scores),
                "with intervals": lambda: be.verification(scores, interval="people"),
                "in ten folds": lambda: be.cross_evaluate(scores, folds),
                "one plot (PNG)": lambda: be.plot.save(be.plot.det(result), picture),
                "be.open_set": lambda: be.open_set(scores),
                "be.closed_set": lambda: be.closed_set(scores),
                "be.evaluate": lambda: be.evaluate(scores),
                "be.compare of two systems": lambda: be.compare({"a": scores, "b": worse}),
                "be.zoo": lambda: be.zoo(scores, threshold="eer"),
            }
        )


def embeddings(size: int, dimensions: int) -> dict[str, float]:
    """Embeddings straight to results, beside their product in blocks of 500 rows."""
    drawn = people(size, dimensions=dimensions)
    x = drawn.embeddings.astype(np.float32)
    block = np.empty((500, size), dtype=np.float32)

    def product() -> None:
        for low in range(0, size, 500):
            rows = x[low : low + 500]
            np.matmul(rows, x.T, out=block[: len(rows)])

    def scores() -> be.Scores:
        return be.Scores.from_embeddings(x, drawn.labels)

    folds = be.partition.SubjectKFold(10, shuffle=True, random_state=0)
    return medians(
        {
            "X @ X.T": product,
            "be.verification": lambda: be.verification(scores()),
            "be.closed_set": lambda: be.closed_set(scores()),
            "be.evaluate": lambda: be.evaluate(scores()),
            "be.cross_evaluate, ten folds": lambda: be.cross_evaluate(scores(), folds),
        }
    )


def partitions(size: int, drawn: int) -> dict[str, float]:
    """Thousands of probes and galleries of one matrix, beside cutting them out."""
    scores = matrix(size)
    rng = np.random.default_rng(0)
    pairs = [np.split(rng.permutation(size)[:200], 2) for _ in range(drawn)]

    def cut() -> None:
        for probes, gallery in pairs:
            scores.values[np.ix_(probes, gallery)]

    def evaluate() -> None:
        for probes, gallery in pairs:
            be.evaluate(scores.select(probes=probes, gallery=gallery))

    return medians(
        {
            f"{drawn:,} cut out of the matrix, 100 x 100": cut,
            "be.repeat": lambda: be.repeat(scores, [be.partition.ProbesGallery(*x) for x in pairs]),
            "be.evaluate of each": evaluate,
        },
        rounds=1,
    )


def lists(lines: int) -> dict[str, float]:
    """A list of pairs of two named people and a score, beside its reading by pandas alone."""
    pandas = importlib.import_module("pandas")
    rng = np.random.default_rng(1)
    line = np.arange(lines)
    genuine, a, turn = line % 100 == 0, line % 5000, line // 5000
    table = pandas.DataFrame(
        {
            "similarity": (rng.normal(size=lines) + 2.5 * genuine).round(6),
            "subject_a": [f"s{x:05d}" for x in a],
            "subject_b": [f"s{x:05d}" for x in np.where(genuine, a, (a + 1 + turn) % 5000)],
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        text, parquet = Path(folder) / "pairs.csv", Path(folder) / "pairs.parquet"
        table.to_csv(text, index=False)
        calls: dict[str, Callable[[], object]] = {
            f"pandas.read_csv, {lines:,} lines": lambda: pandas.read_csv(text),
            "be.load of CSV": lambda: be.load(text),
        }
        with contextlib.suppress(ImportError):
            table.to_parquet(parquet)
            calls["be.load of Parquet"] = lambda: be.load(parquet)
        return medians(calls, rounds=1)


def reid(queries: int, gallery: int) -> dict[str, float]:
    """Re-identification in the shape of Market-1501, beside sorting every row."""
    rng = np.random.default_rng(0)
    who, of = rng.integers(0, 751, queries), rng.integers(0, 751, gallery)
    values = rng.standard_normal((queries, gallery), dtype=np.float32)
    values -= 4.5 * (who[:, None] == of)
    scores = be.Scores(
        values, who, of,
        probe_meta={"camera": rng.integers(0, 6, queries)},
        gallery_meta={"camera": rng.integers(0, 6, gallery)},
    )  # fmt: skip
    return medians(
        {
            "np.argsort of each row": lambda: np.argsort(values, axis=1),
            "be.reid": lambda: be.reid(scores, "market1501"),
            "be.gom": lambda: be.gom(scores),
        }
    )


def first_use() -> dict[str, float]:
    """Whole processes: the command where nothing is compiled, and later."""
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "scores.npz"
        be.save(matrix(400, "float64"), given)
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "kernels")}

        def python(*arguments: str) -> Callable[[], object]:
            line = [sys.executable, *arguments]
            return lambda: subprocess.run(line, check=True, capture_output=True, env=environment)

        run = python("-m", "bioeval", "run", str(given))
        cold = processor_time(run)
        loading = "import numba, xarray"
        seconds = medians({loading: python("-c", loading), "bioeval run, 400 x 400": run})
        return seconds | {"the first run, which compiles": cold}


# ------------------------------------------------------------------------ growth and memory


def growth(size: int) -> dict[str, float]:
    """Return seconds and bytes of all comparisons of embeddings, in this process."""
    small = people(2500, dimensions=128)  # as many as are counted, not listed
    be.verification(be.Scores.from_embeddings(small.embeddings.astype("f4"), small.labels))
    drawn = people(size, dimensions=128)
    scores = be.Scores.from_embeddings(drawn.embeddings.astype("f4"), drawn.labels)
    del drawn
    before = idle()
    seconds = processor_time(lambda: be.verification(scores))
    return {"seconds": round(seconds, 3), "bytes": 1024 * (kilobytes("VmHWM") - before)}


def sources(folder: Path, size: int) -> list[Path]:
    """Write scores in each form that is read, beside each other, and return the files."""
    scipy_io = importlib.import_module("scipy.io")
    h5py, pandas = map(importlib.import_module, ("h5py", "pandas"))
    drawn = people(size, dimensions=128)
    labels, x = np.asarray(drawn.labels), drawn.embeddings.astype("f4")
    values = be.Scores.from_embeddings(x, labels).values.astype("f8")
    arrays: dict[str, Any] = {"scores": values, "labels": labels}
    np.save(folder / "x.npy", values)
    pandas.DataFrame({"label": labels}).to_csv(folder / "x.labels.csv", index=False)
    np.savez(folder / "x.npz", **arrays)
    np.savez_compressed(folder / "packed.npz", **arrays)
    scipy_io.savemat(folder / "x.mat", arrays)
    scipy_io.savemat(folder / "packed.mat", arrays, do_compression=True)
    with h5py.File(folder / "x.h5", "w") as file:
        file.update(arrays)
    table = pandas.DataFrame(
        np.tile(values[:, :900], (2, 1)).round(6), np.tile(labels, 2), labels[:900]
    )
    table.to_csv(folder / "matrix.csv", index_label="probe")
    many = people(5 * size // 2, dimensions=128)
    x = many.embeddings.astype("f4")
    np.save(folder / "e.npy", x)
    pandas.DataFrame({"label": many.labels}).to_csv(folder / "e.labels.csv", index=False)
    np.savez(folder / "e.npz", embeddings=x, labels=many.labels)
    row, step = np.divmod(np.arange(size * size // 8), size // 2)
    column = (row + 1 + step) % size
    table = pandas.DataFrame(
        {
            "distance": values[row, column],
            "subject_a": np.char.add("s", labels[row].astype(str)),
            "subject_b": np.char.add("s", labels[column].astype(str)),
            "template_a": np.char.add("t", row.astype(str)),
            "template_b": np.char.add("t", column.astype(str)),
        }
    )
    table.to_csv(folder / "pairs.csv", index=False)
    table.to_parquet(folder / "pairs.parquet")
    return sorted(x for x in folder.glob("*.*") if ".labels." not in x.name)


def under_limit(path: Path, limit: str, is_mapped: bool) -> dict[str, Any]:
    """Return the peak of a verification in this process, in bytes, and an error's text."""

    def verify(file: Path) -> None:
        options: dict[str, Any] = {"kind": "distance"} if path.stem == "matrix" else {}
        if path.stem == "e" and path.suffix == ".npy":
            options = {"metric": "l2"}
        if not is_mapped:
            be.verification(be.load(file, **options))
            return
        labels = np.loadtxt(file.with_name("x.labels.csv"), dtype=int, skiprows=1)
        be.verification(be.Scores(np.load(file, mmap_mode="r"), labels))

    error = ""
    with be.set_options(memory_limit=limit):
        with be.set_options(memory_limit=None):
            verify(path.parent / "small" / path.name)  # libraries and kernels are loaded by now
        before = idle()
        try:
            verify(path)
        except be.DataError as refusal:
            error = str(refusal)
    return {"bytes": 1024 * (kilobytes("VmHWM") - before), "error": error}


def memory(size: int) -> dict[str, Any]:
    """Return the peaks of all sources under some limits, and at the least one, a process each."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "small").mkdir()
        sources(folder / "small", 1200)
        files = [(x, False) for x in sources(folder, size)] + [(folder / "x.npy", True)]
        for path, is_mapped in files:
            title = "x.npy, memory-mapped" if is_mapped else path.name
            found[title], limits = {}, ["100 MiB", "300 MiB", "1000 MiB"]
            for limit in limits:
                line = [sys.executable, __file__, "--memory", str(path), limit, "-m" * is_mapped]
                done = subprocess.run([*filter(None, line)], check=True, stdout=subprocess.PIPE)
                peak = found[title][limit] = json.loads(done.stdout)
                least = re.search(r"(?:at least|would take) ([\d,.]+ .iB)", peak["error"])
                if least and least[1].replace(",", "") not in limits:
                    limits.append(least[1].replace(",", ""))
                taken = f"{peak['bytes'] / 2**20:8,.0f} MiB"
                print(f"  {title:<24} {limit:>9} {taken} {least[0] if least else ''}", flush=True)
    return found


def idle() -> int:
    """Return the memory of this process in kB, whose peak is measured from here on."""
    with contextlib.suppress(OSError, AttributeError):
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    return kilobytes("VmRSS")


def kilobytes(name: str) -> int:
    """Return what Linux says of the memory of this process; 0 elsewhere."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
    return 0


def grown(sizes: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """Return the growth with the number of templates, of a process each."""
    found = {}
    for size in sizes:
        line = [sys.executable, __file__, "--growth", str(size)]
        done = subprocess.run(line, check=True, capture_output=True, text=True)
        found[str(size)] = json.loads(done.stdout)
        seconds, memory = found[str(size)]["seconds"], found[str(size)]["bytes"]
        pace = 1e9 * seconds / size / (size - 1)
        print(
            f"  {size:>9,} templates {seconds:9.3g} s {pace:8.3g} ns a comparison "
            f"{memory / 2**20:8,.0f} MiB; a matrix {4 * size**2 / 2**20:,.0f}",
            flush=True,
        )
    return found


def processor() -> str:
    """Return the name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    """Measure and print what the options name."""
    parser = argparse.ArgumentParser(prog="scripts/bench", add_help=False)
    names = ["peers", "matrix", "embeddings", "partitions", "lists", "reid"]
    names += ["start", "growth", "memory"]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="PART")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--growth", type=int)  # a process of its own
    parser.add_argument("--memory", nargs=2)  # also
    parser.add_argument("-m", action="store_true")
    options = parser.parse_args()
    if options.growth:
        print(json.dumps(growth(options.growth)))
        return
    if options.memory:
        path, limit = options.memory
        print(json.dumps(under_limit(Path(path), limit, options.m)))
        return
    less = 10 if options.quick else 1
    print(f"{time.strftime('%d %B %Y')}; {processor()}, {os.cpu_count()} cores; bioeval on one")
    found: dict[str, Any] = {"machine": processor(), "beside": {}}
    parts: dict[str, list[tuple[str, Callable[[], dict[str, float]]]]] = {
        "peers": [
            (f"One matrix of {n:,} templates, by several programs", partial(peers, n))
            for n in (500, 1000, 2000, 4000)[: 2 if options.quick else None]
        ],
        "matrix": [("Calls on one matrix", lambda: calls_of_a_matrix(2000 // less))],
        "embeddings": [
            (f"{n // less:,} x {d} embeddings", partial(embeddings, n // less, d))
            for n, d in ((2000, 128), (12_000, 512), (20_000, 128))
        ],
        "partitions": [("Partitions", lambda: partitions(1000, 1000 // less))],
        "lists": [("A list of pairs", lambda: lists(10_000_000 // less**2))],
        "reid": [("Re-identification", lambda: reid(3368 // less, 19_732 // less))],
        "start": [("A new process", first_use)],
    }
    for part, tables in parts.items():
        for title, measure in tables if part in options.only else []:
            seconds = measure()
            show(title, seconds)
            if part == "peers":
                found["beside"][title.split()[3].replace(",", "")] = seconds
            elif part == "matrix":
                found["costs"] = seconds
    if "growth" in options.only:
        print("\nbe.verification of embeddings of 128 numbers\n")
        sizes = (3_000, 10_000, 30_000, 100_000)[: 2 if options.quick else None]
        found["growth"] = grown(sizes)
    if "memory" in options.only:
        print("\nPeaks above the libraries of be.verification under memory limits\n")
        found["memory"] = memory(2400 if options.quick else 4000)
    if options.record:
        text = json.dumps(found, indent=1, default=float) + "\n"
        RECORDED.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other programs
        main()

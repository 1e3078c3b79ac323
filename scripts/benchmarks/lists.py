"""Long lists of pairs: text against pandas' C parser, Parquet against pyarrow's bare reading.

Each reading runs in a process of its own, by turns with what it is compared with, and tells its
processor time and its peak memory: ``python -m benchmarks.lists load pairs.csv``.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.machine import peak_bytes
from benchmarks.options import Options
from benchmarks.rows import Row, number, timed

#: The kinds of list: what they are, and how many lines they have.
CASES = {
    "csv": ("text of a similarity and two subjects, against pandas", 10_000_000),
    "txt": ("text of truth, two names and a score, against pandas", 10_000_000),
    "parquet": ("Parquet of a similarity and truth, against pyarrow", 100_000_000),
}
_PIECE, _SUBJECTS, _QUICK, _ROUNDS = 500_000, 5_000, 10, 3
_PATIENCE = 1_800


def list_rows(options: Options, tell: Callable[[str], None]) -> Iterator[Row]:
    """Measure each kind of list; with few rounds, lists of a tenth of the length."""
    for key, (name, lines) in CASES.items():
        about: dict[str, Any] = {"part": "lists", "section": "lists", "key": f"lists: {key}"}
        lines = lines // _QUICK if options.repeat < 5 else lines
        tell(f"a list of {lines:,} pairs: {key}")
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"pairs.{key}"
            try:
                _write(path, lines)
            except ImportError:
                yield Row(**about, name=name, note="skipped: not installed")
                continue
            ways = ("bare", "load")
            rounds = [[_elsewhere(way, path) for way in ways] for _ in range(_ROUNDS)]
        bare, ours = (np.array([found[i]["seconds"] for found in rounds]) for i in range(2))
        peaks = [max(found[i]["peak"] for found in rounds) >> 20 for i in range(2)]
        note = (
            f"{lines:,} pairs, processor time; {number(float(np.median(bare)))} s without bioeval"
        )
        yield timed(ours / bare, ours, lines, **about, name=name, note=note)
        about["key"] += ", memory"
        figure = f"{peaks[1]:,} MiB; without bioeval {peaks[0]:,}"
        ratio = peaks[1] / peaks[0]
        yield Row(
            **about,
            ratio=ratio,
            low=ratio,
            high=ratio,
            amount=float(peaks[1]),
            figure=figure,
            name=f"peak memory: {name}",
            note=f"{lines:,} pairs",
        )


def _write(path: Path, lines: int) -> None:
    """Write a list, a piece at a time."""
    rng = np.random.default_rng(1)
    arrow = parquet = writer = None
    if path.suffix == ".parquet":
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    with open(path, "w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write("similarity,subject_a,subject_b\n")
        for low in range(0, lines, _PIECE):
            n = min(_PIECE, lines - low)
            line = np.arange(low, low + n)
            genuine = line % 100 == 0
            scores = rng.normal(size=n) + 2.5 * genuine
            if parquet is not None and arrow is not None:
                values = scores.astype(np.float32)
                table = arrow.table({"similarity": values, "genuine": genuine})
                writer = writer or parquet.ParquetWriter(str(path), table.schema)
                writer.write_table(table)
                continue
            a, turn = line % _SUBJECTS, line // _SUBJECTS
            b = np.where(genuine, a, (a + 1 + turn) % _SUBJECTS)
            # No pair of templates is listed twice.
            template = np.where(genuine, 3 + turn, 2)
            columns = [x.tolist() for x in (genuine, a, b, template, scores)]
            lines_of = _csv if path.suffix == ".csv" else _text
            file.writelines(lines_of(*line) for line in zip(*columns, strict=True))
    if writer is not None:
        writer.close()


def _csv(genuine: bool, a: int, b: int, template: int, score: float) -> str:
    return f"{score:.6f},s{a:05d},s{b:05d}\n"


def _text(genuine: bool, a: int, b: int, template: int, score: float) -> str:
    return f"{genuine:d} id{a:05d}/1.wav id{b:05d}/{template}.wav {score:.6f}\n"


def _elsewhere(how: str, path: Path) -> dict[str, Any]:
    root = str(Path(__file__).resolve().parents[1])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.lists", how, str(path)],
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def _bare(path: Path) -> Callable[[], object]:
    """Return what reads a list without bioeval."""
    if path.suffix == ".parquet":
        parquet = importlib.import_module("pyarrow.parquet")
        return lambda: sum(x.num_rows for x in parquet.ParquetFile(path).iter_batches(1 << 17))
    pandas = importlib.import_module("pandas")
    given = {} if path.suffix == ".csv" else {"sep": " ", "header": None}
    return lambda: pandas.read_csv(path, engine="c", **given)


def main() -> None:
    """Read one list, and tell how it went."""
    how, path = sys.argv[1], Path(sys.argv[2])
    if how == "bare":
        read = _bare(path)
    else:
        from bioeval.scores.formats import load

        importlib.import_module("pandas")
        kind: Any = "similarity" if path.suffix == ".txt" else None

        def read() -> object:
            return load(path, kind=kind)

    start = time.process_time()
    read()
    print(json.dumps({"seconds": time.process_time() - start, "peak": peak_bytes() or 0}))


if __name__ == "__main__":
    main()

"""What a user waits for: seconds beside other programs, growth with the gallery, cost of options.

    OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 PYTHONPATH=scripts python -m benchmarks.users

writes docs/images/benchmarks.json, of which docs/images/make.py draws benchmarks.png. It is
processor time on one thread: what else a machine does hardly counts. Programs that are not
installed are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bioeval as be
from benchmarks import machine, peers
from benchmarks.matrices import Matrix, features
from benchmarks.timing import Contender, interleaved, limited

FOUND = Path(__file__).resolve().parents[2] / "docs" / "images" / "benchmarks.json"

SIZES, ROUNDS = (500, 1000, 2000, 4000), 3

#: The most templates of a program that takes minutes beyond.
MOST = {"PyEER": 1000}

#: Templates of the growth, embeddings of 128 numbers.
GALLERIES = (3_000, 10_000, 30_000, 100_000)


def beside(size: int, tell: Callable[[str], None]) -> dict[str, float]:
    """Return the seconds of each program on the same comparisons, alternating."""
    matrix = Matrix(size, 10)
    distances, genuine = matrix.pairs(size * size)
    contenders = [Contender("bioeval", lambda: be.verification(matrix.scores))]
    others = {
        "scikit-learn": peers.roc_curve,
        "bob.measure": peers.bob_measure,
        "PyEER": peers.pyeer,
    }
    for name, make in others.items():
        if size > MOST.get(name, size):
            continue
        try:
            contenders.append(Contender(name, make(distances, genuine), foreign=True))
        except peers.NotRun as why:
            tell(f"{name}: {why}")
    times, failed = interleaved(contenders, ROUNDS)
    for name, said in failed.items():
        tell(f"{name}: {said}")
    measured = [x.key for x in contenders if x.key in times]
    return {name: round(float(np.median(times[name])), 6) for name in measured}


def costs() -> dict[str, float]:
    """Return the seconds of an evaluation of 2,000 templates, and of what may be added."""
    matrix = Matrix(2000, 10)
    scores, result = matrix.scores, be.verification(matrix.scores)
    folds = be.partition.SubjectKFold(10, shuffle=True, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        contenders = [
            Contender("be.verification", lambda: be.verification(scores)),
            Contender(
                "with intervals (1,000 replicates)",
                lambda: be.verification(
                    scores, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=1000)
                ),
            ),
            Contender("in ten folds", lambda: be.cross_evaluate(scores, folds)),
            Contender(
                "one plot (PNG)",
                lambda: be.plot.save(be.plot.det(result), Path(folder) / "det.png"),
            ),
        ]
        times, _ = interleaved(contenders, ROUNDS)
    return {x.key: round(float(np.median(times[x.key])), 6) for x in contenders}


def growth(size: int) -> dict[str, float]:
    """Return seconds and bytes of all comparisons of embeddings, in this process."""
    small, who = features(60, 10, 128)
    be.verification(be.Scores.from_embeddings(small.astype(np.float32), who))  # compiles
    embeddings, labels = features(size // 10, 10, 128)
    scores = be.Scores.from_embeddings(embeddings.astype(np.float32), labels)
    del embeddings
    machine.forget_peak()
    before, start = machine.held_bytes() or 0, time.process_time()
    be.verification(scores)
    seconds = time.process_time() - start
    return {"seconds": round(seconds, 3), "bytes": (machine.peak_bytes() or 0) - before}


def main() -> None:
    """Measure and write; with a number, print the growth at that number of templates."""
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        with limited(1):
            print(json.dumps(growth(int(sys.argv[1]))))
        return
    galleries = [int(x) for x in sys.argv[2:]] or list(GALLERIES)
    document: dict[str, Any] = {
        "machine": f"{machine._processor()}, {machine.cores()} cores",
        "beside": {},
        "growth": {},
    }
    with limited(1):
        for size in SIZES:
            document["beside"][str(size)] = beside(size, tell)
            tell(f"{size}: {document['beside'][str(size)]}")
        document["costs"] = costs()
        tell(str(document["costs"]))
    for size in galleries:
        command = [sys.executable, "-m", "benchmarks.users", str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        document["growth"][str(size)] = json.loads(done.stdout.splitlines()[-1])
        tell(f"{size}: {document['growth'][str(size)]}")
        FOUND.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def tell(line: str) -> None:
    """Say how far it is."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""Planned against measured processor time of evaluations, printed as a table of docs/planning.md.

    scripts/run_planning [--sizes 8000 16000 32000] [--dims 128 512] [--recalibrate]

Processor time of one thread, so that other work on the machine changes it little. The data are of
people with normal embeddings, not those of the calibration; the more their genuine and impostor
scores overlap, the longer an exact AUC takes, and the last row shows it.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

import bioeval as be
from bioeval.evaluation.machine_speed import on_one_thread

#: The least time of so many evaluations is compared, as in the calibration.
ROUNDS = 2


def crowd(templates: int, dim: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Return embeddings of people with five templates each, and their labels."""
    rng = np.random.default_rng(templates + 1)
    labels = np.arange(templates) // 5
    people = rng.normal(size=(templates // 5 + 1, dim)).astype(np.float32)
    return people[labels] + noise * rng.normal(size=(templates, dim)).astype(np.float32), labels


def scores_of(kind: str, templates: int, dim: int, noise: float) -> be.Scores:
    """Return scores: streamed embeddings, or a matrix."""
    x, labels = crowd(templates, dim, noise)
    limit = (1 << 40) if kind == "matrix" else min(1 << 30, templates * templates * 4 - 1)
    return be.Scores.from_embeddings(x, labels, dtype="float32", memory_limit=limit)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8000, 16000, 32000])
    parser.add_argument("--dims", type=int, nargs="+", default=[128, 512])
    parser.add_argument("--recalibrate", action="store_true")
    options = parser.parse_args()
    again = options.recalibrate
    print("| scores | templates | EER | planned, s | measured, s | measured / planned |")
    print("|---|---|---|---|---|---|")
    rows = [(dim, size, 0.7) for dim in (0, *options.dims) for size in options.sizes]
    for dim, size, noise in [*rows, (0, options.sizes[0], 1.4)]:
        kind = f"embeddings, {dim}-d" if dim else "matrix"
        first = again and size == options.sizes[0] and noise < 1
        plan = be.plan_run(templates=size, dim=dim or None, subjects=size // 5, recalibrate=first)
        planned = 3600 * float(plan.core_hours.sel(run="everything"))
        scores = scores_of(kind, size, dim or 32, noise)
        spent = math.inf
        with on_one_thread():
            for _ in range(ROUNDS):
                before = time.process_time()
                tree = be.evaluate(scores)
                spent = min(spent, time.process_time() - before)
        eer = float(tree["verification/single"].eer)
        print(
            f"| {kind} | {size:,} | {eer:.2%} | {planned:.2f} | {spent:.2f} "
            f"| {spent / planned:.2f} |",
            flush=True,
        )
    print(f"\nCalibrated {plan.attrs['calibrated']}.")


if __name__ == "__main__":
    main()

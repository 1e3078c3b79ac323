"""Runs simulations on several cores."""

from __future__ import annotations

import os
import sys
import time
import warnings
import zlib
from collections.abc import Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context

import numpy as np

from simulations.claims import Claim, all_claims
from simulations.store import BATCH, Store, counted

SEED = 20260101

#: Part of a seed, so that no two cells draw the same data; and the number of the batch.
Task = tuple[int, str, str]


def simulate(task: Task) -> tuple[Task, dict]:
    """Return the counts of one batch of data sets of a cell; each data set has its own seed."""
    batch, claim_name, cell_text = task
    warnings.simplefilter("ignore")
    claim = next(x for x in all_claims() if x.name == claim_name)
    cell = next(x for x in claim.cells if str(x) == cell_text)
    key = zlib.crc32(f"{claim_name}: {cell_text}".encode())
    first = batch * BATCH
    outcomes = []
    for run in range(first, first + BATCH):
        outcomes.append(claim.once(cell, np.random.default_rng([SEED, key, run])))
    return task, counted(outcomes)


def run_all(
    claims: Sequence[Claim],
    store: Store,
    runs: int,
    populations: Collection[str] = (),
    people: Collection[int] = (),
    minutes: float = 0,
    jobs: int = 0,
) -> None:
    """Simulate the batches that are missing, and store the counts of each as it ends.

    Of all cells, or those of some populations and numbers of people. After some minutes, if not 0,
    no other batch begins. There are so many `jobs`, of 0 one for each core.
    """
    begun = time.monotonic()
    tasks: list[Task] = []
    for claim in claims:
        for cell in claim.cells:
            if populations and cell.population not in populations:
                continue
            if people and cell.people not in people:
                continue
            present = store.batches(claim.name, str(cell))
            for batch in range(-(-runs // BATCH)):
                if batch not in present:
                    tasks.append((batch, claim.name, str(cell)))
    tasks.sort()  # all cells grow together
    cores = jobs or os.cpu_count() or 1
    for name in ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"  # of the processes that begin below
    done = 0
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        queue = iter(tasks)
        waiting: set[Future] = set()
        while True:
            while len(waiting) < 2 * cores:
                out_of_time = 0 < minutes < (time.monotonic() - begun) / 60
                task = None if out_of_time else next(queue, None)
                if task is None:
                    break
                waiting.add(pool.submit(simulate, task))
            if not waiting:
                return
            finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                (batch, claim_name, cell_text), counts = future.result()
                store.add(claim_name, cell_text, batch, counts)
            done += len(finished)
            if sys.stderr.isatty() or done % 50 == 0:
                passed = (time.monotonic() - begun) / 60
                print(f"{done} of {len(tasks)} batches, {passed:.0f} min", file=sys.stderr)

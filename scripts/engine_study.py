"""What blocks of rows cost and bring: two workers against one, blocks against none, many tasks.

Times are of one run on a machine that may be busy: only their ratios mean anything.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import click
import numpy as np

import bioeval as be
from bioeval.base.executors import computed_by
from bioeval.cli.cluster_options import started_cluster
from bioeval.evaluation.blocks.cluster import ClusterWorkers
from bioeval.evaluation.blocks.executor import BlockExecutor, LocalWorkers
from bioeval.tallies.parts import ConcatenatedRows


def population(templates: int, features: int = 128) -> be.Scores:
    """Return a square matrix of float32 embeddings, computed as it is read."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(templates // 4, 1, features))
    points = centres + 0.8 * rng.normal(size=(templates // 4, 4, features))
    points = points.reshape(-1, features).astype(np.float32)
    labels = np.repeat(np.arange(templates // 4), 4)
    return be.Scores.from_embeddings(points, labels, dtype="float32", memory_limit="512 MiB")


def timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return wall-clock and processor seconds of a call, and what it returns."""
    wall, processor = time.perf_counter(), time.process_time()
    found = call()
    return time.perf_counter() - wall, time.process_time() - processor, found


def overhead(templates: int, repeats: int) -> None:
    """Compare blocks of the executor's own size with a sweep that knows no blocks."""
    scores = population(templates)
    be.tally(scores.select(probes=range(0, templates, 8)))
    plain, blocks = [], []
    for _ in range(repeats):
        plain.append(timed(lambda: be.tally(scores)))
        with computed_by(BlockExecutor(LocalWorkers())):
            blocks.append(timed(lambda: be.tally(scores)))
    same = plain[0][2].tree().identical(blocks[0][2].tree())
    wall, processor = (min(x[i] for x in blocks) / min(x[i] for x in plain) for i in (0, 1))
    click.echo(
        f"{templates:,} x {templates:,} in blocks against one sweep, in one process: "
        f"{processor:.2f} of the processor time, {wall:.2f} of the time; the counts are "
        f"{'the same' if same else 'OTHERS'}"
    )


def scaling(templates: int, repeats: int) -> None:
    """Compare workers of one thread with this process on one thread."""
    scores = population(templates)
    be.tally(scores.select(probes=range(0, templates, 8)))
    times: dict[int, list[float]] = {0: [], 1: [], 2: []}
    results = {}
    inside = contextlib.ExitStack()
    clients = {workers: inside.enter_context(started_cluster(workers)) for workers in (1, 2)}
    for client in clients.values():  # kernels are loaded, embeddings sent
        be.tally(scores.select(probes=range(0, templates, 8)), client=client)
    busiest: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for _ in range(repeats):
        wall, processor, results[0] = timed(lambda: be.tally(scores))
        times[0].append(wall)
        busiest[0].append(processor)
        for workers, client in clients.items():
            before = client.run(time.process_time)
            wall, own, results[workers] = timed(
                lambda client=client: be.tally(scores, client=client)
            )
            after = client.run(time.process_time)
            times[workers].append(wall)
            busiest[workers].append(own + max(after[x] - before[x] for x in before))
    inside.close()
    best = {workers: min(found) for workers, found in times.items()}
    same = all(results[0].tree().identical(results[k].tree()) for k in (1, 2))
    click.echo(
        f"{templates:,} x {templates:,}, one process of one thread against clusters: two workers "
        f"are {best[0] / best[2]:.2f} times as fast as the process, one worker "
        f"{best[0] / best[1]:.2f} times; the counts are {'the same' if same else 'OTHERS'}"
    )
    ratio = {k: min(busiest[0]) / min(busiest[k]) for k in (1, 2)}
    click.echo(
        f"  by processor time, of the busiest worker and the client one after the other: "
        f"{ratio[2]:.2f} with two workers, {ratio[1]:.2f} with one"
    )
    rate = templates**2 / best[2] / 1e6
    click.echo(f"  two workers: {best[2]:.0f} s, {rate:,.0f} million comparisons a second")


class Ready:
    """Work whose counts are ready: a thousand thresholds, a hundred ranks."""

    what, step = "ready", 1

    def __init__(self, tasks: int):
        self.scores = be.Scores(np.zeros((tasks, 2)), np.arange(tasks), [0, 1])

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Return counts."""
        counts = np.full((1000, 100), 1, dtype=np.int64)
        return {"counts": counts, "rows": ConcatenatedRows.of(np.arange(low, high))}


# What 256 workers in one process would do besides, many times a second each.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.interval": "60s",
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.low-level-log-length": 1_000_000,
}


def tasks(number: int, workers: int) -> None:
    """Reduce many ready tallies on many workers, and read the scheduler's own events."""
    import dask
    from distributed import Client, LocalCluster, get_task_stream

    work = Ready(number)
    with (
        dask.config.set(QUIET),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers)
        cluster.scheduler.transition_log.clear()
        executor = BlockExecutor(ClusterWorkers(client), rows=1)
        with get_task_stream(client) as stream:
            began = time.time()
            wall, processor, found = timed(lambda: executor.count(work, None))
        log = [x for x in cluster.scheduler.transition_log if x[-1] < began + wall]
    right = int(found["counts"][0, 0]) == number and len(found["rows"].array()) == number
    click.echo(
        f"{number:,} ready tallies on {workers} workers in this process, which has one processor: "
        f"{wall:.1f} s ({processor:.1f} s of processor), {number / processor:,.0f} a second of it; "
        f"the counts are "
        f"{'right' if right else 'WRONG'}"
    )
    click.echo(f"  {busy_with_transitions(log, wall)}; {busy_workers(stream.data, wall, workers)}")


def busy_with_transitions(log: list[Any], wall: float) -> str:
    """Say for how long a scheduler was at work: from the first to the last change of a stimulus."""
    busy, events = 0.0, 0
    for _, changes in itertools.groupby(log, key=lambda entry: entry[-2]):
        times = [entry[-1] for entry in changes]
        busy += (times[-1] - times[0]) * len(times) / max(len(times) - 1, 1)
        events += 1
    return (
        f"by its log the scheduler made {len(log):,} transitions in {events:,} events, in "
        f"{busy / wall:.0%} of the time"
    )


def busy_workers(stream: list[Any], wall: float, workers: int) -> str:
    """Say how the tasks of workers took their time."""
    took: dict[str, float] = {}
    for task in stream:
        for one in task["startstops"]:
            took[one["action"]] = took.get(one["action"], 0.0) + one["stop"] - one["start"]
    parts = [f"{name} {seconds:.1f} s" for name, seconds in sorted(took.items())]
    return f"workers ran {len(stream):,} tasks ({', '.join(parts)})"


PARTS = ("overhead", "scaling", "tasks")


@click.command()
@click.option("--templates", default=12_000, help="Of the square matrices.")
@click.option("--repeats", default=3, help="The least time of so many is taken.")
@click.option("--part", "chosen", type=click.Choice(PARTS))
def main(templates: int, repeats: int, chosen: str | None) -> None:
    """Measure what blocks of rows cost and bring."""
    one = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if any(os.environ.get(name) != "1" for name in one):  # read when libraries are loaded
        done = subprocess.run([sys.executable, *sys.argv], env={**os.environ, **one}, check=False)
        sys.exit(done.returncode)
    load = os.getloadavg()[0]
    click.echo(f"{os.cpu_count()} processors, {load:.1f} processes running before")
    if chosen in (None, "overhead"):
        overhead(templates, repeats)
    if chosen in (None, "scaling"):
        scaling(templates, repeats)
    if chosen in (None, "tasks"):
        tasks(4000, 256)


if __name__ == "__main__":
    main()

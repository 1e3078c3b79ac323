"""Evaluations that are killed, stopped and cut off, and what they count in the end.

Each trial is compared with one undisturbed evaluation, to the last bit.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

import bioeval as be
from bioeval.evaluation.blocks import executor as ranges
from bioeval.evaluation.blocks.cluster import ClusterWorkers

# Comparisons of a block in these trials: small ones, so that there are many to be killed in.
CELLS = 1 << 18

# How long the scheduler waits for a sign of life of a worker: one that loads its libraries on a
# busy machine gives none for a while.
WORKER_TTL = "15s"

#: A disturbance: called with the cluster, once.
Disturbance = Callable[["Processes"], None]


@dataclass
class Processes:
    """A scheduler and workers, each a process of this machine, by their numbers."""

    client: Any
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]
    start_worker: Callable[[], subprocess.Popen[bytes]]

    def renew(self) -> None:
        """Start a worker in place of each that has ended."""
        ended = [i for i, worker in enumerate(self.workers) if worker.poll() is not None]
        for i in ended:
            self.workers[i] = self.start_worker()
        number = len(self.workers)
        _wait(lambda: len(self.client.nthreads()) == number)


@contextlib.contextmanager
def processes(number: int) -> Iterator[Processes]:
    """Start a scheduler and some workers of one thread each; end them."""
    from distributed import Client

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as inside:
        file = Path(folder, "scheduler.json")
        environment = {**os.environ, "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "DASK_LOGGING__DISTRIBUTED": "critical"}
        environment["DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL"] = WORKER_TTL

        def start(what: str, *options: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.dask_{what}"]
            found = subprocess.Popen(
                [*command, "--scheduler-file", str(file), *options],
                env=environment, cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            inside.callback(_end, found)
            return found

        scheduler = start("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
        _wait(file.exists)
        one = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60")
        workers = [start("worker", *one) for _ in range(number)]
        client = inside.enter_context(Client(scheduler_file=str(file)))
        client.wait_for_workers(number, timeout=120)
        yield Processes(client, scheduler, workers, lambda: start("worker", *one))


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGCONT)
        process.kill()
    process.wait()


def _wait(there: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait until something is the case."""
    end = time.monotonic() + seconds
    while not there():
        if time.monotonic() > end:
            raise TimeoutError(f"waited for {seconds:.0f} seconds")
        time.sleep(0.001)


def population(subjects: int = 2000) -> be.Scores:
    """Return a square matrix of embeddings, computed as it is read."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(subjects, 1, 64))
    points = (centres + 0.8 * rng.normal(size=(subjects, 4, 64))).reshape(-1, 64)
    labels = np.repeat(np.arange(subjects), 4)
    return be.Scores.from_embeddings(points, labels, memory_limit=4 << 20)


# -- kill -9 of a run that keeps a checkpoint


def victim(folder: str, limit: int) -> None:
    """Count with a checkpoint, until killed; `limit` is the largest file, 0 for any."""
    ranges.CELLS_STREAMED = CELLS
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    scores = population()
    print("ready", flush=True)
    be.tally(scores, checkpoint=folder)


def kept(folder: Path) -> int:
    """Return how many blocks a checkpoint has."""
    return len(list(folder.glob("0*.part"))) if folder.exists() else 0


def killed(folder: Path, after: int, delay: float) -> tuple[int, bool]:
    """Kill a run once it has kept so many blocks, and a moment later; say how many it kept.

    And whether it was killed before its end.
    """
    run = _victim(folder)
    try:
        _wait(lambda: kept(folder) >= after or run.poll() is not None)
        time.sleep(delay)
        before = run.poll() is None
        run.send_signal(signal.SIGKILL)
    finally:
        _end(run)
    return kept(folder), before


def _victim(folder: Path, limit: int = 0) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--victim", str(folder), "--limit", str(limit)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def gone_on(folder: Path) -> tuple[be.Tally, int]:
    """Go on from a checkpoint; return the tally, and how many blocks were counted."""
    before = ranges.CELLS_STREAMED
    ranges.CELLS_STREAMED = CELLS
    try:
        there = kept(folder)
        return be.tally(population(), checkpoint=folder), kept(folder) - there
    finally:
        ranges.CELLS_STREAMED = before


def kill_checkpointed(trials: int, seed: int, say: Callable[[str], None]) -> bool:
    """Kill a run with a checkpoint at random points, and go on from what it kept."""
    rng, whole, right, in_time = random.Random(seed), be.tally(population()), 0, 0
    blocks: list[int] = []
    for _ in range(trials):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "kept")
            there, before = killed(folder, rng.randrange(16), rng.random() * 0.02)
            stamps = _stamps(folder)
            found, counted = gone_on(folder)
            again = stamps.items() - _stamps(folder).items()
            right += same(found, whole) and not again
            in_time += before
            blocks.append(there)
            total = there + counted
    say(
        f"kill -9 of a run with a checkpoint of {total} blocks: {trials} trials, {in_time} killed "
        f"before their end, with {min(blocks)} to {max(blocks)} blocks kept; {right} went on to "
        "the same counts, and counted no kept block again"
    )
    return right == trials


def _stamps(folder: Path) -> dict[str, int]:
    """Return when each block was kept."""
    return {x.name: x.stat().st_mtime_ns for x in folder.glob("0*.part")}


def full_disk(say: Callable[[str], None]) -> bool:
    """Let a run come to a file that it cannot write, and go on from what it kept."""
    whole = be.tally(population())
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "kept")
        run = _victim(folder, limit=20_000)
        code = run.wait(300)
        found, _ = gone_on(folder)
    right = code == 1 and same(found, whole)
    say(f"no room for a block: the run ended with code {code}; the counts after it: {_word(right)}")
    return right


# -- a cluster that is disturbed


#: When a cluster is disturbed: before anything is sent, when work is sent, when blocks are sent,
#: and once the first counts are back.
MOMENTS = ("before", "sending", "counting", "counted")

#: When a worker is killed, and how often each moment comes in a run, about; "fetched" is before
#: counts are fetched.
PHASES = {"before": 1, "sending": 4, "counting": 4, "fetched": 4, "counted": 4}


@contextlib.contextmanager
def at_moment(happens: Callable[[], None], moment: str, number: int = 0) -> Iterator[Any]:
    """Let something happen at a moment of a run, when it comes for another time than `number`.

    What is given is called as `progress` of the run.
    """
    lock, left = threading.Lock(), [number]

    def now(*_: Any) -> None:
        with lock:
            left[0] -= 1
            comes = left[0] == -1
        if comes:
            happens()

    def before(call: Any) -> Callable[..., Any]:
        return lambda *given: (now(), call(*given))[1]

    if moment == "before":
        now()
    places = {"sending": "_send", "counting": "_submit", "fetched": "_result"}
    with contextlib.ExitStack() as inside:
        if moment in places:
            name = places[moment]
            wrapped = before(getattr(ClusterWorkers, name))
            inside.enter_context(unittest.mock.patch.object(ClusterWorkers, name, wrapped))
        yield now if moment == "counted" else None


def counted_by(found: Processes, **options: Any) -> be.Tally | Exception:
    """Count on a cluster; return tally or error."""
    try:
        return be.tally(population(), client=found.client, **options)
    except Exception as error:  # whatever it is, it is not the tally
        return error


def disturbed(
    disturbance: Disturbance, workers: int = 3, moment: str = "counted"
) -> be.Tally | Exception:
    """Count on a cluster that is disturbed at some moment; return tally or error."""
    with (
        unittest.mock.patch.object(ranges, "CELLS_STREAMED", CELLS),
        processes(workers) as found,
        at_moment(lambda: disturbance(found), moment) as progress,
    ):
        return counted_by(found, progress=progress)


def kill_at_moments(trials: int, seed: int, say: Callable[[str], None]) -> bool:
    """Kill a worker of three at random moments of each phase; others take its place.

    A moment is up to a second after a phase began, for the first, or a later, time. A run that has
    ended by then is not one of the trials, but must have counted the same; where too many have, the
    worker is killed when the phase begins for the first time.
    """
    rng, fine = random.Random(seed), True
    whole = be.tally(population(), points=True)
    with unittest.mock.patch.object(ranges, "CELLS_STREAMED", CELLS), processes(3) as found:
        for phase, times in PHASES.items():
            runs, right, in_time, wrong = 0, 0, 0, list[str]()
            while in_time < trials and runs < 6 * trials:
                runs += 1
                late = runs <= 4 * trials
                victim, delay = rng.choice(found.workers), rng.random() ** 4 * late
                timer = threading.Timer(delay, victim.kill)
                with at_moment(timer.start, phase, rng.randrange(times) * late) as progress:
                    tally = counted_by(found, points=True, progress=progress)
                in_time += victim.poll() is not None
                timer.cancel()
                right += same(tally, whole)
                if isinstance(tally, Exception):
                    wrong.append(f"{type(tally).__name__}: {tally}")
                found.renew()
            say(
                f"a worker of three killed at a random moment, {phase}: {in_time} times in {runs} "
                f"runs; {right} of them had the same counts"
                + "".join(f"\n  {line}" for line in wrong)
            )
            fine &= right == runs and in_time > 0
    return fine


def kill_worker(found: Processes) -> None:
    """End a worker at once."""
    found.workers[0].kill()


def stop_worker(found: Processes) -> None:
    """Stop a worker, which stays connected and says nothing."""
    found.workers[0].send_signal(signal.SIGSTOP)


def resume_worker(found: Processes) -> None:
    """Stop a worker until the cluster has given it up."""
    number = len(found.workers)
    stop_worker(found)

    def resume() -> None:
        _wait(lambda: len(found.client.nthreads()) < number)
        found.workers[0].send_signal(signal.SIGCONT)

    threading.Thread(target=resume, daemon=True).start()


def slow_worker(found: Processes) -> None:
    """Let a worker run for a tenth of the time."""
    process = found.workers[0]

    def blink() -> None:
        while process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.18)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.02)

    threading.Thread(target=blink, daemon=True).start()


def kill_scheduler(found: Processes) -> None:
    """End the scheduler at once."""
    found.scheduler.kill()


DISTURBANCES = {
    "a worker killed": kill_worker,
    "a worker stopped": stop_worker,
    "a worker stopped and resumed": resume_worker,
    "a worker at a tenth of its speed": slow_worker,
}


def disturb_clusters(trials: int, say: Callable[[str], None]) -> bool:
    """Disturb clusters in every way, some times each."""
    whole, fine = be.tally(population()), True
    for name, disturbance in DISTURBANCES.items():
        start = time.monotonic()
        right = sum(same(disturbed(disturbance), whole) for _ in range(trials))
        took = (time.monotonic() - start) / trials
        say(f"{name}, of three: {right} of {trials} runs had the same counts ({took:.0f} s each)")
        fine &= right == trials
    for moment in MOMENTS:
        right = sum(same(disturbed(stop_worker, 2, moment), whole) for _ in range(trials))
        say(f"a worker stopped, of two, {moment}: {right} of {trials} had the same counts")
        fine &= right == trials
    start = time.monotonic()
    errors = [disturbed(kill_scheduler) for _ in range(trials)]
    ended = sum(isinstance(x, be.EngineError) for x in errors)
    took = (time.monotonic() - start) / trials
    say(f"the scheduler killed: {ended} of {trials} runs ended with an error ({took:.0f} s each)")
    return fine and ended == trials


def same(found: be.Tally | Exception, whole: be.Tally) -> bool:
    """Say whether two tallies give the same results to the last bit."""
    return isinstance(found, be.Tally) and found.tree().identical(whole.tree())


def _word(right: bool) -> str:
    return "the same" if right else "OTHERS"


@click.command()
@click.option("--kills", default=50, help="Random points at which a run is killed.")
@click.option("--moments", default=50, help="Random moments of each phase; a worker is killed.")
@click.option("--trials", default=3, help="Clusters disturbed in each way.")
@click.option("--seed", default=0, help="Of the random points.")
@click.option("--victim", "folder", hidden=True)
@click.option("--limit", default=0, hidden=True)
def main(kills: int, moments: int, trials: int, seed: int, folder: str | None, limit: int) -> None:
    """Kill, stop and cut off evaluations, and compare what they count with an undisturbed one."""
    if folder is not None:
        victim(folder, limit)
        return
    fine = kill_checkpointed(kills, seed, click.echo)
    fine &= full_disk(click.echo)
    fine &= kill_at_moments(moments, seed, click.echo)
    fine &= disturb_clusters(trials, click.echo)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()

"""Options of the cluster on which an evaluation runs and the checkpoint that it resumes from."""

from __future__ import annotations

import contextlib
import logging
import math
import queue
import re
import signal
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError, EngineError, counted
from bioeval.cli.command import F, option, option_group

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores

# How long a worker that gives no sign of life is waited for; seconds until a scheduler takes a
# connection, and until it answers then.
_SILENT, _CONNECT, _ANSWER = "60s", 30, 5

# What worker processes have in their environment: one thread, and memory that they keep. Dask would
# have them give it back at once, and the arrays of each block would be mapped and cleared anew. The
# environment of this process changes with it: the threads of numba would be an error here once they
# run, and a worker limits those of kernels itself.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": 1,
    "MKL_NUM_THREADS": 1,
    "OPENBLAS_NUM_THREADS": 1,
    "MALLOC_ARENA_MAX": 1,
    "MALLOC_MMAP_THRESHOLD_": 32 << 20,
    "MALLOC_TRIM_THRESHOLD_": 256 << 20,
}

# Comparisons that this process counts in less time than workers take to start and to read: some
# seconds. As many features of embeddings take as long as a comparison of a matrix.
WORTH_WORKERS, FEATURES = 1 << 31, 128

# Two threads of this process are at least as fast as two processes of one thread, which also take
# seconds to start, at any size that was timed. More have not been compared.
MOST_AS_THREADS = 2

# Threads and processes that are started have the mask of signals of the thread that starts them.
_MASKS = hasattr(signal, "pthread_sigmask")

_ADDRESS = re.compile(r"(\w+://)?[\w.\-\[\]:]+:\d+|.+\.json")


def _check_address(
    context: click.Context, option: click.Parameter, address: str | None
) -> str | None:
    """Refuse an invalid address before anything is read."""
    if address is not None and not _ADDRESS.fullmatch(address):
        raise click.UsageError(
            f"--scheduler is {address!r}; expected an address such as tcp://host:8786, or a "
            "scheduler file (.json)"
        )
    return address


def cluster_options(checkpoint: bool = True) -> Callable[[F], F]:
    """Return the options ``--workers`` and ``--scheduler``, and ``--checkpoint`` if it applies."""
    where = option_group(
        option(
            "--workers N",
            "Count on N processes of this machine, of one thread each.",
            click.IntRange(1, 256),
        ),
        option(
            "--scheduler ADDRESS",
            "Count on a dask.distributed cluster, given by an address such as "
            "tcp://host:8786 or a scheduler file (.json).",
            callback=_check_address,
        ),
    )
    if not checkpoint:
        return where
    keep = option(
        "--checkpoint DIR",
        "Keep the counts of finished blocks in DIR; after an interruption the same "
        "command continues from them.",
    )
    return option_group(where, keep)


@contextlib.contextmanager
def executor_from_options(
    options: dict[str, Any], stages: Callable[[str], None], *scores: Scores
) -> Iterator[dict[str, Any]]:
    """Remove the cluster options from a command's, and yield the library's arguments.

    No workers are started where this process is faster: for `scores` that are too few, and where
    its threads do as much. A cluster that was started for the command ends with it. What a
    checkpoint keeps is said where the evaluation ends before it is done.
    """
    workers, scheduler = options.pop("workers"), options.pop("scheduler")
    checkpoint = options.pop("checkpoint", None)
    arguments = {}
    if checkpoint is not None:
        arguments["checkpoint"] = checkpoint
    if workers is not None and scheduler is not None:
        raise click.UsageError("--workers starts a cluster, --scheduler uses one; give one of them")
    try:
        with contextlib.ExitStack() as inside:
            if workers is not None and (why := _faster_here(workers, scores)):
                logging.getLogger("bioeval").info(
                    "--workers %d: counting in this process, since %s", workers, why
                )
                inside.enter_context(_threads(workers))
                workers = None
            if workers is not None or scheduler is not None:
                from bioeval.evaluation.blocks.cluster import require_distributed

                require_distributed()
                if workers is None:
                    stages("connecting")
                    cluster = _connected(scheduler)
                else:
                    stages("starting workers")
                    cluster = started_cluster(workers)
                arguments["client"] = inside.enter_context(cluster)
            yield arguments
    except (KeyboardInterrupt, SystemExit, EngineError, OSError):
        if checkpoint is not None:
            from bioeval.evaluation.blocks.checkpoint import finished_blocks

            if kept := finished_blocks(checkpoint):
                logging.getLogger("bioeval").info(
                    "%s keeps %s: the same command continues from there",
                    checkpoint,
                    counted(kept, "finished blocks"),
                )
        raise


def _faster_here(workers: int, scores: tuple[Scores, ...]) -> str:
    """Return why this process counts faster than workers on this machine; empty if it does not."""
    if any(each.layout in ("pairs", "top-k") for each in scores):
        return ""  # refused where they are counted
    if scores and _too_few(scores):
        return "starting workers would take longer"
    import numba

    cores = int(getattr(numba.config, "NUMBA_DEFAULT_NUM_THREADS", 1))
    useful = min(workers, cores)
    if useful > min(numba.get_num_threads(), MOST_AS_THREADS):
        return ""
    them = f"{useful} threads are" if useful != 1 else "1 thread is"
    return f"its {them} faster than workers of one thread each"


@contextlib.contextmanager
def _threads(number: int) -> Iterator[None]:
    """Count on no more threads than the workers would have had."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(number, before))
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _too_few(scores: tuple[Scores, ...]) -> bool:
    """Whether this process counts scores in less time than workers take to start."""
    runs = 0.0
    for each in scores:
        features = each._base.features if each._streams else 0
        runs += math.prod(each.shape) * (1 + features / FEATURES)
    return runs < WORTH_WORKERS


@contextlib.contextmanager
def started_cluster(workers: int) -> Iterator[Any]:
    """Yield a client of a cluster of processes on this machine."""
    import dask
    from distributed import Client, LocalCluster

    settings = {
        "distributed.nanny.pre-spawn-environ": _ENVIRONMENT,
        "distributed.scheduler.worker-ttl": _SILENT,
    }
    started = contextlib.ExitStack()
    try:
        with _undisturbed():
            started.enter_context(dask.config.set(settings))
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
            started.enter_context(cluster)
            client = started.enter_context(Client(cluster))
        yield client
    finally:
        with _undisturbed():
            started.close()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back an interrupt until the block ends; processes started in it receive none.

    A cluster that is half started cannot be ended, and Ctrl-C goes to its processes as well, which
    would each print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = []
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, lambda number, frame: came.append(number))
    if _MASKS:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # what starts it would receive interrupts again
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if _MASKS:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


@contextlib.contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    """Yield a client of an existing cluster."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    address: object = scheduler
    if scheduler.endswith(".json"):
        from bioeval.base.json_text import parse_json
        from bioeval.scores.formats.files import MOST_SETTINGS, existing_file, read_bounded

        file = existing_file(scheduler, "a scheduler file")
        settings = parse_json(read_bounded(file, MOST_SETTINGS), scheduler)
        address = settings.get("address") if isinstance(settings, dict) else None
        if not isinstance(address, str):
            raise DataError(
                f"{scheduler}: has no address of a scheduler; expected a file that dask wrote"
            )
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def connect() -> None:
        from distributed import Client

        try:
            # One that never connects must not become what dask computes with.
            answers.put(Client(address, timeout=_CONNECT, set_as_default=False))
        except Exception as error:  # of any class, where something else answers than a scheduler
            answers.put(error)

    # In a thread, since a client waits for ever where a connection is taken and nothing is said.
    threading.Thread(target=connect, daemon=True).start()
    try:
        client = answers.get(timeout=_CONNECT + _ANSWER)
    except queue.Empty:
        client = TimeoutError("the server at this address accepts connections but does not answer")
    if isinstance(client, Exception):
        reason = " ".join(str(client).split())
        if not reason or not isinstance(client, (OSError, ValueError, ImportError)):
            reason = "the server at this address is not a dask scheduler"
        raise EngineError(f"no cluster answers at {scheduler}: {reason}") from client
    with client:
        yield client

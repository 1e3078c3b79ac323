"""Blocks of rows as tasks of dask.distributed.

A pass and its large arrays are tasks as well, which return what they hold: whatever is lost with
a worker, dask makes again, and a worker that gives no sign of life for ``worker-ttl`` it removes.
"""

from __future__ import annotations

import logging
import queue
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bioeval.base.distribution import how_to_install
from bioeval.base.errors import (
    Argument,
    BioevalError,
    DataError,
    EngineError,
    MissingDependencyError,
)
from bioeval.base.executors import Pass, counts_here
from bioeval.evaluation.blocks.sent_passes import (
    FileMissingOnWorker,
    Packed,
    count_rows,
    merge_counts,
    pack,
    returned,
    sent_rows,
)
from bioeval.tallies.parts import RowRangeCounts

if TYPE_CHECKING:
    from distributed import Client, Future

# Blocks whose counts are merged by one task; blocks a thread that are sent ahead.
FAN_IN, AHEAD = 8, 2

# How often a failed task is run again, and how often counts that do not arrive are asked for.
RETRIES, FETCHES = 2, 6

# Seconds between looks at the cluster; that the scheduler has for an answer, and the first fetch of
# counts for its end; without any worker, until the cluster is given up.
TICK, ANSWER, LOST = 2.0, 30.0, 60.0

_LOG = logging.getLogger("bioeval")

Range = tuple[int, int]


class ClusterWorkers:
    """Computes blocks of rows on a cluster.

    - `client`: distributed.Client
    """

    distributes = True

    def __init__(self, client: Client):
        self.client = require_client(client)
        self._by_path = True
        self._arrays: list[Future] = []  # of the last pass: the next one may need them, too
        self._workers: dict[str, int] = {}
        self._looked = self._heard = time.monotonic()

    def close(self) -> None:
        """Release the arrays that the cluster keeps."""
        self._arrays.clear()

    @property
    def number(self) -> int:
        """The number of threads of all workers."""
        self._check_workers()
        return sum(self._workers.values()) or 1

    def parts(
        self, row_pass: Pass, ranges: Sequence[Range], *, merging: bool
    ) -> Iterator[RowRangeCounts]:
        """Yield the counts of blocks as they finish, of several blocks at once if `merging`."""
        packed = pack(row_pass, by_path=self._by_path)
        size = FAN_IN if merging and not packed.matrices else 1
        groups = deque(ranges[i : i + size] for i in range(0, len(ranges), size))
        left = set(ranges)
        try:
            for group, part in self._counted(row_pass, packed, groups):
                left -= {*group}
                yield part
        except FileMissingOnWorker:
            self._by_path = False  # from now on the rows are sent
            rest = [rows for rows in ranges if rows in left]
            yield from self.parts(row_pass, rest, merging=merging)

    def _counted(
        self, row_pass: Pass, packed: Packed, groups: deque[Sequence[Range]]
    ) -> Iterator[tuple[Sequence[Range], RowRangeCounts]]:
        """Yield the counts of groups of blocks, a few of which are sent ahead."""
        self._heard = time.monotonic()
        threads, done = self.number, queue.SimpleQueue[Any]()
        running: dict[Any, tuple[Future, Sequence[Range]]] = {}
        try:
            shared = self._send(packed)
            while groups or running:
                while groups and sum(len(x) for _, x in running.values()) <= AHEAD * threads:
                    group = groups.popleft()
                    future = self._submit(packed, shared, group)
                    running[future.key] = future, group
                    future.add_done_callback(done.put)
                try:
                    future, group = running.pop(done.get(timeout=TICK).key)
                except queue.Empty:
                    threads = self.number
                    continue
                if time.monotonic() - self._looked > TICK:
                    threads = self.number
                yield group, self._result(row_pass, future, group)
        finally:
            for future, _ in running.values():
                future.release()

    # -- tasks

    def _send(self, packed: Packed) -> tuple[Future, list[Future]]:
        """Send a pass, with its large arrays that the last pass did not have."""
        arrays = []
        for digest, array in packed.arrays.items():
            arrays.append(self._task(returned, f"array-{digest}", array))
        self._arrays = arrays  # those of the last pass are released only now
        sent = self._task(returned, f"pass-{packed.token}", (packed.token, packed.data))
        return sent, arrays

    def _submit(
        self, packed: Packed, shared: tuple[Future, list[Future]], group: Sequence[Range]
    ) -> Future:
        """Send a group of blocks, with the rows of matrices that workers cannot read."""
        tasks = []
        for low, high in group:
            rows = sent_rows(packed, low, high)
            name = f"{packed.token}-{low}"
            tasks.append(self._task(count_rows, name, *shared, low, high, rows))
        if len(tasks) == 1:
            return tasks[0]
        return self._task(merge_counts, f"merge-{packed.token}-{group[0][0]}", tasks)

    def _task(self, function: Callable[..., Any], name: str, *arguments: Any) -> Future:
        """Send a task with its arguments; the scheduler keeps them until it is done."""
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
            return self.client.submit(
                function, *arguments, key=f"bioeval-{name}", pure=False, retries=RETRIES
            )

    def _result(self, row_pass: Pass, future: Future, group: Sequence[Range]) -> RowRangeCounts:
        """Return the counts that a task has made, or raise what it failed with."""
        from distributed.scheduler import KilledWorker

        where = f"rows {group[0][0]} to {group[-1][1]}"
        for fetch in range(FETCHES):
            try:
                counts = future.result(timeout=ANSWER * 2**fetch)
            except KilledWorker as error:
                raise EngineError(
                    f"{where}: several workers ended while they counted them; give workers more "
                    "memory"
                ) from error
            except Exception as error:  # of the task, or whatever a connection ends with
                if future.status == "error":
                    raise _failed(where, error) from error
                self._check_workers()
                if future.status == "cancelled":
                    raise _lost("has started again") from error
                continue
            if isinstance(counts, RowRangeCounts):
                return counts
            if not isinstance(counts, FileMissingOnWorker):
                for low, high in group:  # where all scores can be read, the error names their place
                    counts_here(row_pass, low, high)
            if isinstance(counts, BioevalError | FileMissingOnWorker):
                raise counts
            raise _failed(where, counts)
        raise EngineError(f"{where}: workers counted them, but do not send the counts")

    def _check_workers(self) -> None:
        """Check the workers, and log those that have ended.

        Raise :class:`EngineError` if the scheduler is lost or does not answer, or has had no worker
        for long.
        """
        if self.client.status != "running":
            raise _lost("is lost")
        scheduler: Any = self.client.scheduler
        try:
            cores = self.client.sync(scheduler.ncores, callback_timeout=ANSWER)
        except Exception as error:  # whatever the connection ends with
            raise _lost("does not answer") from error
        self._looked = time.monotonic()
        for address in sorted(self._workers.keys() - cores.keys()):
            _LOG.warning(
                "worker %s ended: its unfinished blocks are counted again by other workers; "
                "workers left: %d",
                address,
                len(cores),
            )
        self._workers = cores
        if cores:
            self._heard = self._looked
        elif self._looked - self._heard > LOST:
            raise EngineError(
                f"the cluster has had no worker for {LOST:.0f} seconds; wait for some to start "
                "(client.wait_for_workers(1))"
            )


def _failed(where: str, error: BaseException) -> EngineError:
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return EngineError(f"{where} failed on a worker: {words}")


def _lost(how: str) -> EngineError:
    return EngineError(
        f"the scheduler of the cluster {how}: the evaluation cannot continue. Start it again (",
        Argument("checkpoint"),
        " keeps finished work)",
    )


def require_distributed() -> None:
    """Raise an error that names the package to install, if dask.distributed is missing."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            f"a cluster needs dask.distributed: {how_to_install('distributed')}"
        ) from None


def require_client(client: Any) -> Client:
    """Return a client, or raise an error that says why it cannot be used."""
    require_distributed()
    from distributed import Client

    if not isinstance(client, Client):
        raise DataError(
            Argument("client"), f" is {type(client).__name__}; expected a dask.distributed.Client"
        )
    if client.asynchronous:
        raise DataError(Argument("client"), " is asynchronous; expected one that is not")
    if client.status != "running":
        raise EngineError(Argument("client"), f" is {client.status}: it has no scheduler")
    return client

"""Blocks of rows as tasks of a cluster, by dask.distributed.

Each block is a task, and the counts of a few are merged by another task before they are fetched, so
that little is lost with a worker. A block that is lost is sent again, and one that takes very long
is sent to another worker as well: whichever is there first is taken, by its rows, once. A worker
that stands still is taken out of the cluster, since others may wait for what it holds.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import queue
import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bioeval.base.engine import RowWork, computed_by
from bioeval.base.errors import (
    Argument,
    BioevalError,
    DataError,
    EngineError,
    MissingDependencyError,
)
from bioeval.evaluation.blocks.by_path import FileElsewhere
from bioeval.evaluation.blocks.heartbeats import Heartbeats
from bioeval.evaluation.blocks.rows import RowsElsewhere
from bioeval.evaluation.blocks.sending import Packed, Packer
from bioeval.evaluation.blocks.worker import count_rows, merge_counts
from bioeval.tallies.parts import Part

if TYPE_CHECKING:
    from distributed import Client, Future

# Blocks whose counts are merged by one task; blocks a thread that are sent ahead.
FAN_IN, AHEAD = 8, 2

# How often a block is sent, at most; seconds after which one is sent to another worker as well, and
# how many times as long as others it must have taken.
ATTEMPTS, PATIENCE, SLOWER = 8, 5.0, 4.0

# How often data are copied to all workers, at most: whoever lacks them fetches them when needed.
COPIES = 3

# How many workers count the same block at once, at most.
MOST_SENT = 3

# Seconds between looks at the cluster; without a sign of life, until a worker is given up (one that
# loads its libraries on a busy machine gives none for a while); without any worker, until the
# cluster is.
TICK, STILL, LOST = 1.0, 30.0, 60.0

# How messages about a cluster end on which an evaluation cannot go on.
_KEPT = (
    f": the evaluation cannot go on. Start it again ({Argument('checkpoint')} keeps what is done)"
)


@dataclass
class Block:
    """A block of rows, or several whose counts are merged, and the tasks that make it."""

    rows: tuple[tuple[int, int], ...]
    futures: list[Future] = field(default_factory=list)
    since: float = 0.0


class Cluster:
    """Computes blocks of rows on a cluster.

    Parameters
    ----------
    client : distributed.Client
    """

    distributes = True

    def __init__(self, client: Client):
        self.client = require_client(client)
        self.heartbeats = Heartbeats(client)
        self._packer = Packer()
        self._sent: dict[int, Future] = {}
        self._before: set[int] = set()

    @property
    def workers(self) -> int:
        """The number of threads of all workers."""
        self.heartbeats.look()
        return sum(self.heartbeats.threads.values()) or 1

    def parts(
        self, work: RowWork, ranges: Sequence[tuple[int, int]], *, merging: bool
    ) -> Iterator[Part]:
        """Yield the counts of blocks of rows as they are done; of several at once if `merging`."""
        yield from _Run(self, work, ranges, FAN_IN if merging else 1).parts()

    def send(self, work: RowWork) -> tuple[Future, list[Future], Packed]:
        """Send some work to all workers; large arrays that they have are not sent again.

        They keep those of this work and of the one before: there may be many, each of other parts.
        """
        packed = self._packer.pack(work)
        for key in self._sent.keys() - {*packed.arrays} - self._before:
            del self._sent[key], self._packer.arrays[key]
        self._before = {*packed.arrays}
        for key in packed.arrays:
            if key not in self._sent or self._sent[key].status != "finished":
                self._sent[key] = self._to_all(self._packer.arrays[key])
        return self._to_all(packed), [self._sent[key] for key in packed.arrays], packed

    def _to_all(self, data: Any) -> Future:
        """Send data to all workers, and again where the worker that had them has gone."""
        for _ in range(ATTEMPTS):
            future = self.scatter(data)
            self._replicate(future)
            if future.status == "finished":
                return future
        raise EngineError(f"what was sent was lost with its worker, {ATTEMPTS} times{_KEPT}")

    def scatter(self, data: Any, workers: list[str] | None = None) -> Future:
        """Send data to one worker."""
        end = time.monotonic() + LOST

        def without_workers() -> bool:
            return not self.heartbeats.threads and time.monotonic() > end

        failed: Exception | None = None
        for _ in range(ATTEMPTS):
            silent = self.heartbeats.silent(PATIENCE)
            heard = [x for x in workers or self.heartbeats.threads if x not in silent]
            call: Any = self.client.scatter(
                [data], workers=heard or None, hash=False, asynchronous=True
            )  # in a list, since of a dictionary each item would be sent by itself
            try:
                found = self.wait(call, until=without_workers)
            except EngineError:
                raise
            except Exception as error:  # whatever it ends with where a worker goes meanwhile
                self.watch()
                workers, found, failed = None, None, error
            if found is not None:
                return found[0]
            if without_workers():
                raise _without_workers()
        raise EngineError(
            f"no worker of the cluster took what was sent, {ATTEMPTS} times{_KEPT}"
        ) from failed

    def _replicate(self, future: Future) -> None:
        """Copy data to all workers; one that comes later fetches it when it needs it."""
        for _ in range(COPIES):
            call: Any = self.client.replicate(future, asynchronous=True)
            try:
                # The scheduler would wait for ever for a worker that has gone.
                self.wait(call, until=self.one_less())
                return
            except EngineError:
                raise
            except Exception:  # the scheduler counts its workers once, and one of them has gone
                self.watch()
                if future.status != "finished":
                    return

    def one_less(self) -> Callable[[], bool]:
        """Return what says whether a worker has gone from now on."""
        there = set(self.heartbeats.threads)
        return lambda: not there <= set(self.heartbeats.threads)

    def wait(
        self, call: Coroutine[Any, Any, Any], until: Callable[[], bool] = lambda: False
    ) -> Any:
        """Return what a coroutine of the client returns; None once `until` holds.

        Meanwhile the cluster is watched, so that no worker that stands still is waited for.
        """
        loop: Any = self.client.loop
        running = asyncio.run_coroutine_threadsafe(call, loop.asyncio_loop)
        try:
            while not concurrent.futures.wait([running], timeout=TICK).done:
                self.watch()
                if until():
                    return None
            return running.result()
        finally:
            running.cancel()

    def watch(self) -> None:
        """Look at the workers; give up those that stand still.

        Raises
        ------
        EngineError
            If the scheduler is lost, or no worker gives a sign of life.
        """
        self.heartbeats.look()
        self.heartbeats.give_up(STILL)
        silent = self.heartbeats.silent(LOST)
        if silent and len(silent) == len(self.heartbeats.threads):
            raise EngineError(
                f"all workers of the cluster stand still, {min(silent)} for {LOST:.0f} seconds: "
                f"the evaluation cannot go on. End them and start again ({Argument('checkpoint')} "
                "keeps what is done)"
            )


class _Run:
    """One work on a cluster: which blocks are to do, under way, and done."""

    def __init__(
        self, cluster: Cluster, work: RowWork, ranges: Sequence[tuple[int, int]], fan_in: int
    ):
        self.cluster, self.client, self.work = cluster, cluster.client, work
        self.packer = cluster._packer
        self.groups = [tuple(ranges[i : i + fan_in]) for i in range(0, len(ranges), fan_in)]
        self.group_of = {rows: group for group in self.groups for rows in group}
        self.todo = deque(ranges)
        self.flying: dict[Any, Block] = {}
        self.attempts: Counter[tuple[int, int]] = Counter()
        self.counted: dict[tuple[int, int], Future] = {}
        self.events: queue.SimpleQueue[tuple[Any, Future]] = queue.SimpleQueue()
        self.took: list[float] = []
        self.threads, self.looked = cluster.workers, time.monotonic()
        self.heard = self.looked
        self.sent: tuple[Future, list[Future], Packed] | None = None

    def parts(self) -> Iterator[Part]:
        """Yield counts as they are done."""
        missing = len(self.groups)
        try:
            while missing:
                self._submit()
                try:
                    key, future = self.events.get(timeout=TICK)
                except queue.Empty:
                    self._watch()
                    continue
                if time.monotonic() - self.looked > TICK:
                    self._watch()
                part = self._done(key, future)
                if part is not None:
                    missing -= 1
                    yield part
        finally:
            self._drop()

    # -- sending

    def _submit(self) -> None:
        """Send blocks ahead, so many that no worker waits and no memory fills."""
        leaves = sum(len(block.rows) == 1 for block in self.flying.values())
        while self.todo and leaves < AHEAD * self.threads + 1:
            self._send(self.todo.popleft())
            leaves += 1

    def _send(self, rows: tuple[int, int], workers: list[str] | None = None) -> None:
        """Send one block, or send it again."""
        block = self.flying.setdefault(rows, Block((rows,)))
        if self.attempts[rows] >= ATTEMPTS:
            raise EngineError(
                f"rows {rows[0]} to {rows[1]} were lost {ATTEMPTS} times with the worker that "
                "counted them; does a worker have too little memory?"
            )
        self.attempts[rows] += 1
        block.since = time.monotonic()
        if self.sent is None:
            self.sent = self.cluster.send(self.work)
        shared, arrays, packed = self.sent
        found: Any = self.packer.rows(self.work, *rows)
        if found:
            found = self.cluster.scatter(found, workers)
        future = self.client.submit(
            count_rows, shared, arrays, *rows, found,
            key=f"bioeval-{packed.token}-{rows[0]}-{self.attempts[rows]}", pure=False,
            workers=workers, allow_other_workers=workers is not None,
        )  # fmt: skip
        self._follow(rows, block, future)

    def _follow(self, key: Any, block: Block, future: Future) -> None:
        block.futures.append(future)
        future.add_done_callback(lambda done: self.events.put((key, done)))

    # -- what is done

    def _done(self, key: Any, future: Future) -> Part | None:
        """Take in what a task has done; return counts that are final."""
        block = self.flying.get(key)
        if block is None or future not in block.futures:
            return None  # the same rows, sent twice, were counted before
        error = _error_of(future)
        if error is not None:
            self._failed(block, error)
            return None
        if future.status != "finished":
            self._lost(key, block, future)
            return None
        self.heard = time.monotonic()
        if len(block.rows) == 1 and len(self.group_of[block.rows[0]]) > 1:
            self.took.append(time.monotonic() - block.since)
            self.counted[key] = future
            del self.flying[key]
            self._merge(self.group_of[key])
            return None
        if len(block.rows) == 1:
            self.took.append(time.monotonic() - block.since)
        try:
            part = self._fetched(future)
        except EngineError:
            raise
        except Exception:  # whatever the connection ends with
            part = None
        if part is None:  # gone with its worker, between its end and now
            self._lost(key, block, future)
            return None
        del self.flying[key]
        for rows in block.rows:
            self.counted.pop(rows, None)
        return part

    def _fetched(self, future: Future) -> Part | None:
        """Return the counts that a task has made; None if they do not come."""
        one_less, end = self.cluster.one_less(), time.monotonic() + LOST
        call: Any = self.client.gather(future, asynchronous=True)
        found: Part | None = self.cluster.wait(
            call, until=lambda: time.monotonic() > end or one_less()
        )
        return found

    def _merge(self, group: tuple[tuple[int, int], ...]) -> None:
        """Merge the counts of a group of blocks, once they are all there."""
        if group in self.flying or not all(rows in self.counted for rows in group):
            return
        block = self.flying[group] = Block(group, since=time.monotonic())
        found = [self.counted[rows] for rows in group]
        name = f"bioeval-merge-{group[0][0]}-{id(block)}"
        self._follow(group, block, self.client.submit(merge_counts, found, key=name, pure=False))

    def _failed(self, block: Block, error: BaseException) -> None:
        """Raise what a task failed with, as this process words it; or send rows in place of files.

        Counting again here finds an error of the scores where all of them can be read.
        """
        (low, high) = block.rows[0]
        if isinstance(error, FileElsewhere) and self.packer.by_path:
            self.packer.by_path = False
            self._start_again()
            return
        if isinstance(error, (BioevalError, RowsElsewhere)):
            with computed_by(None):
                self.work.part(low, high)
            if isinstance(error, BioevalError):
                raise error
        if type(error).__name__ == "KilledWorker":
            raise EngineError(
                f"rows {low} to {high}: several workers ended while they counted them; give "
                "workers more memory"
            ) from error
        raise EngineError(
            f"rows {low} to {high} failed on a worker: {type(error).__name__}: {error}"
        ) from error

    def _lost(self, key: Any, block: Block, future: Future) -> None:
        """Do again what was lost with a worker."""
        self.cluster.watch()
        block.futures.remove(future)
        if block.futures:
            return  # sent twice: the other may come
        shared_lost = self.sent is not None and any(
            x.status != "finished" for x in (self.sent[0], *self.sent[1])
        )
        if shared_lost:
            self.sent = None
        if key in self.group_of:
            self._send(key)
            return
        del self.flying[key]
        for rows in block.rows:
            self.counted.pop(rows, None)
            self._send(rows)

    def _start_again(self) -> None:
        """Send all blocks that are under way again, with work that is packed anew."""
        self.sent = None
        for block in self.flying.values():
            block.futures.clear()
        for rows in [key for key in self.flying if key in self.group_of]:
            self._send(rows)

    # -- the cluster

    def _watch(self) -> None:
        """Look for workers that came or went, for blocks that take too long, and for an end."""
        self.cluster.watch()
        self.looked = now = time.monotonic()
        workers = self.cluster.heartbeats.threads
        if workers:
            self.threads = sum(workers.values())
        elif now - self.heard > LOST:
            raise _without_workers()
        usual = statistics.median(self.took) if self.took else LOST / SLOWER
        patience = max(PATIENCE, SLOWER * usual)
        if len(workers) < 2 or self.todo and now - self.heard < patience:
            return
        silent = self.cluster.heartbeats.silent(PATIENCE)
        late = [key for key, block in self.flying.items() if now - block.since > patience]
        try:
            busy = self.client.processing() if late else {}
        except Exception:  # the scheduler is looked for again in a moment
            return
        for key in late:
            sent = {x.key for x in self.flying[key].futures}
            others = [w for w in workers if w not in silent and sent.isdisjoint(busy.get(w, ()))]
            if key in self.group_of and 0 < len(others) < len(workers) and len(sent) < MOST_SENT:
                self._send(key, others)

    def _drop(self) -> None:
        """Give up what is still under way."""
        futures = [x for block in self.flying.values() for x in block.futures]
        self.flying.clear()
        if futures and self.client.status == "running":
            with contextlib.suppress(Exception):  # what ended the run is what is said
                self.client.cancel(futures, force=True)


def _error_of(future: Future) -> BaseException | None:
    """Return what a task failed with; None where it did not, or is lost meanwhile."""
    if future.status != "error":
        return None
    try:
        return future.exception()
    except Exception:  # cancelled between both
        return None


def _without_workers() -> EngineError:
    return EngineError(
        f"the cluster has had no worker for {LOST:.0f} seconds; wait for some to start "
        "(client.wait_for_workers(1))"
    )


def require_client(client: Any) -> Client:
    """Return a client, or raise what a user should know."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingDependencyError(
            "a cluster needs dask.distributed; install bioeval[distributed]"
        ) from None
    if not isinstance(client, Client):
        raise DataError(
            f"{Argument('client')} is {type(client).__name__}; expected a dask.distributed.Client"
        )
    if client.asynchronous:
        raise DataError(f"{Argument('client')} is asynchronous; expected one that is not")
    if client.status != "running":
        raise EngineError(f"{Argument('client')} is {client.status}: it has no scheduler")
    return client

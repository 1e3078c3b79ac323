"""Threads on which parts of one piece of work run side by side.

Numba decides their number, and is loaded only if there is more than one part.
"""

from __future__ import annotations

import contextvars
import functools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

_MOST: contextvars.ContextVar[float] = contextvars.ContextVar("threads", default=math.inf)


@contextmanager
def at_most(threads: float) -> Iterator[None]:
    """Run the work inside on at most this number of threads."""
    before = _MOST.get()
    _MOST.set(min(threads, before))
    try:
        yield
    finally:
        _MOST.set(before)


def threads_for_parts(parts: int) -> int:
    """Return the number of threads for a number of parts, at least 1."""
    largest = min(parts, _MOST.get())
    if largest < 2:
        return 1
    import numba

    return int(min(largest, numba.get_num_threads()))


def in_turns(function: Callable[[Iterator[int]], None], steps: int) -> None:
    """Run `function` on all threads; each call takes the next of the steps from one iterator."""
    turns = iter(range(steps))
    side_by_side([functools.partial(function, turns)] * threads_for_parts(steps))


def side_by_side(parts: Sequence[Callable[[], None]]) -> None:
    """Run all parts at once, the first part on the calling thread."""
    futures = [_pool().submit(contextvars.copy_context().run, part) for part in parts[1:]]
    try:
        parts[0]()
    finally:
        wait(futures)  # the threads write to arrays of the caller
    for future in futures:
        future.result()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    import numba

    return ThreadPoolExecutor(
        numba.config.NUMBA_NUM_THREADS,  # type: ignore[attr-defined]
        thread_name_prefix="bioeval",
    )


if hasattr(os, "register_at_fork"):  # a child process lacks the threads of its parent
    os.register_at_fork(after_in_child=_pool.cache_clear)

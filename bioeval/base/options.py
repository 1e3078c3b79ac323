"""How to run: threads, memory, progress, and the cluster of all calls (:class:`set_options`).

Parts of one piece of work run side by side on threads, whose number numba decides; it is loaded
only if there is more than one part.
"""

from __future__ import annotations

import contextvars
import functools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from bioeval.base.arguments import require_callable, require_integer
from bioeval.base.errors import DataError, received, without_address
from bioeval.base.memory import require_bytes

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


#: The options in use.
OPTIONS: dict[str, Any] = {
    "threads": None,
    "memory_limit": None,
    "progress": None,
    "client": None,
}


def _progress_function(value: Any) -> Callable[[int, int], object] | bool | None:
    if value is False or value is None:
        return value
    return require_callable("progress", value)


def _threads(value: Any) -> int | None:
    return None if value is None else require_integer("threads", value, low=1)


def _memory_limit(value: Any) -> int | None:
    return None if value is None else require_bytes("memory_limit", value)


def _client(value: Any) -> Any:
    if value is None or all(callable(getattr(value, x, None)) for x in ("submit", "scatter")):
        return value
    raise DataError(f"`client` is {received(value)}; expected a dask.distributed.Client")


_CHECKED = {
    "threads": _threads,
    "memory_limit": _memory_limit,
    "progress": _progress_function,
    "client": _client,
}


class set_options:  # noqa: N801 (a call, as users see it)
    """Set how all calls run, from now on or within a context.

    Parameters
    ----------
    threads : int, optional
        The largest number of threads that count. By default, all that numba uses.
    memory_limit : int or str, optional
        The most memory that reading and counting take, besides the data that are in memory
        already: bytes, or text such as ``"2 GiB"``. A matrix of embeddings that is larger is
        computed block by block. Scores keep the limit under which they were made or read; the
        results are the same. An error says how much would do where the limit is too small. By
        default, matrices up to 1 GiB are made.
    progress : callable or False, optional
        Called as ``progress(rows_done, rows)`` while a call counts. By default, a notebook shows
        the progress below the cell, and nothing else does; with False, no notebook does either.
    client : dask.distributed.Client, optional
        A cluster whose workers count the scores of a large matrix, or of embeddings (it needs the
        extra ``cluster``); the results are the same. They open the file of scores that
        are read from HDF5 or .npy, under the same path. By default, all is counted here.

    Raises
    ------
    DataError
        If an option has no such name, or a value that it cannot have.

    Examples
    --------
    For all calls that follow:

    >>> import bioeval as be
    >>> options = be.set_options(memory_limit="2 GiB")

    Within a context; the options before are restored at its end:

    >>> scores, done = be.simulate(20, 4, random_state=1), []
    >>> with be.set_options(threads=1, progress=lambda rows, all_rows: done.append(rows)):
    ...     ds = be.verification(scores)
    >>> done[-1]
    80
    """

    def __init__(self, **options: Any) -> None:
        """Check the options, and set them."""
        checked = {}
        for name, value in options.items():
            if name not in _CHECKED:
                expected = ", ".join(_CHECKED)
                raise DataError(f"there is no option {name!r}; expected one of {expected}")
            checked[name] = _CHECKED[name](value)
        self._before = {name: OPTIONS[name] for name in checked}
        OPTIONS.update(checked)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={OPTIONS[name]!r}" for name in self._before)
        return without_address(f"set_options({shown})")

    def __enter__(self) -> set_options:
        return self

    def __exit__(self, *exception: object) -> None:
        OPTIONS.update(self._before)

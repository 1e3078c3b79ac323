"""How to run: threads, memory, progress, and the cluster of all calls (:class:`set_options`).

Parts of one piece of work run side by side on threads, whose number numba decides; it is loaded
only if there is more than one part.
"""

from __future__ import annotations

import contextvars
import functools
import math
import operator
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, SupportsIndex

from bioeval.base.arguments import require_callable, require_integer
from bioeval.base.errors import DataError, named, received, without_address

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


def row_spans(count: int, width: int, cells: int = 1 << 20) -> Iterator[tuple[int, int]]:
    """Yield the ends ``low, high`` of consecutive rows, which have at most `cells` together.

    There are `count` rows of `width` cells; a row with more cells is alone.
    """
    step = max(1, cells // max(width, 1))
    for low in range(0, count, step):
        yield low, min(low + step, count)


#: The options in use.
OPTIONS: dict[str, Any] = {
    "threads": None,
    "memory_limit": None,
    "progress": None,
    "client": None,
}


def _client(value: Any) -> Any:
    if value is None or all(callable(getattr(value, x, None)) for x in ("submit", "scatter")):
        return value
    raise DataError(f"`client` is {received(value)}; expected a dask.distributed.Client")


_CHECKED: dict[str, Callable[[Any], Any]] = {
    "threads": lambda x: None if x is None else require_integer("threads", x, low=1),
    "memory_limit": lambda x: None if x is None else require_bytes("memory_limit", x),
    "progress": lambda value: require_callable("progress", value or None),
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
    progress : callable, optional
        Called as ``progress(rows_done, rows)`` while a call counts.
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


# The bytes of each unit, in capitals: MB, and MIB for MiB.
_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)}
_UNITS |= {f"{letter}IB": 1024**power for power, letter in enumerate("KMGT", 1)}

#: A matrix of distances between embeddings is made if it takes no more bytes than this.
MEMORY_LIMIT = 1 << 30

# The limit of the work inside :func:`memory_limited`, in bytes.
_LIMIT: ContextVar[int | None] = ContextVar("memory limit", default=None)


def physical_memory() -> int:
    """Return the bytes of memory of this machine; 0 where they are unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 0


def require_memory(needed: int, data_name: str, remedy: str, *, limit: int | None = None) -> None:
    """Raise :class:`DataError` if data need more bytes than the machine has, or a limit allows."""
    if limit is not None and needed > limit:
        raise DataError(
            f"{data_name} would take {size_in_words(needed)} of memory, and the option "
            f"`memory_limit` is {size_in_words(limit)}; {remedy}"
        )
    available = physical_memory()
    if available and needed > available:
        raise DataError(
            f"{data_name} would take {needed / 2**30:,.0f} GiB of memory, and this machine has "
            f"{available / 2**30:,.0f} GiB; {remedy}"
        )


def require_address_space(needed: int, work: str) -> None:
    """Raise :class:`MemoryError` if ``ulimit -v`` leaves fewer bytes than a work needs."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    with suppress(OSError):  # without /proc, nothing is known
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        if used + needed > limit:
            raise MemoryError(
                f"{work} needs {size_in_words(used + needed)} of address space, and the limit of "
                f"the shell (ulimit -v) is {size_in_words(limit)}; raise the limit"
            )


def require_bytes(name: str, value: object) -> int:
    """Return a number of bytes, given as such or as text with a unit.

    Examples
    --------
    >>> require_bytes("memory_limit", "2 GiB"), require_bytes("memory_limit", "500MB")
    (2147483648, 500000000)
    """
    size = None
    if isinstance(value, str):
        parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", value)
        if parts and parts[2].upper() in _UNITS:
            size = int(float(parts[1]) * _UNITS[parts[2].upper()])
    elif isinstance(value, SupportsIndex) and not isinstance(value, bool):
        with suppress(TypeError):  # an array of several values is no number
            size = operator.index(value)
    if size is None or size < 1:
        raise DataError(
            f"{named(name)} is {received(value)}; expected a number of bytes >= 1, or text such "
            "as '2 GiB' or '500 MB'"
        )
    return size


def size_in_words(size: float) -> str:
    """Return a number of bytes in MiB or GiB, rounded up; below 1 MiB as it is.

    Examples
    --------
    >>> size_in_words(3 << 20), size_in_words(5 << 29), size_in_words(1000)
    ('3 MiB', '2.5 GiB', '1,000 bytes')
    """
    if 0 < size < 2**20:
        return f"{size:,.0f} bytes"
    mega = -(-size // 2**20)
    if mega < 1024:
        return f"{mega:,.0f} MiB"
    return f"{-(-10 * size // 2**30) / 10:,.4g} GiB"


@contextmanager
def memory_limited(limit: int | None) -> Iterator[None]:
    """Keep the memory of collected data below a part of the limit."""
    before = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(before)


def most_items(number: int, size: int) -> int:
    """Return `number`, or fewer if items of `size` bytes take more than a quarter of the limit."""
    limit = _LIMIT.get()
    if limit is None:
        return number
    return max(1, min(number, limit // (4 * size)))

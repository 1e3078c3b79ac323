"""Memory of the machine and limits on its use; work that does not fit is refused at once."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import SupportsIndex

from bioeval.base.errors import DataError, named, received

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


def at_most(number: int, size: int) -> int:
    """Return `number`, or fewer if items of `size` bytes take more than a quarter of the limit."""
    limit = _LIMIT.get()
    if limit is None:
        return number
    return max(1, min(number, limit // (4 * size)))

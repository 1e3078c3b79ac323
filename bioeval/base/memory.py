"""Memory of the machine, so that what does not fit is refused before it is begun."""

from __future__ import annotations

import os

from bioeval.base.errors import DataError


def physical_memory() -> int:
    """Return the bytes of memory of this machine; 0 where they are unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 0


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Raise :class:`DataError` where `what` takes more bytes than the machine has."""
    there = physical_memory()
    if there and needed > there:
        raise DataError(
            f"{what} would take {needed / 2**30:,.0f} GiB of memory, and this machine has "
            f"{there / 2**30:,.0f} GiB; {remedy}"
        )

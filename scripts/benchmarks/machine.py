"""What the machine can give: figures mean little without it."""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks.timing import most_threads
from bioeval.base.version import __version__

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def limits() -> dict[str, Any]:
    """Return processor, cores, caches, memory and versions; None where the system does not say."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": cores(),
        "caches": caches(),
        "memory_bytes": _memory("MemTotal"),
        "available_bytes": available(),
        "load_average": _load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "most_threads": most_threads(),
        "bioeval": __version__,
    }


def caches() -> dict[str, int]:
    """Return the bytes of each cache of the first core, such as ``{"L2": 1048576}``."""
    found = {}
    try:
        for index in sorted(_CACHES.glob("index*")):
            kind = (index / "type").read_text().strip()
            size = (index / "size").read_text().strip()
            if kind != "Instruction" and size.endswith("K"):
                found["L" + (index / "level").read_text().strip()] = int(size[:-1]) * 1024
    except (OSError, ValueError):
        return {}
    return found


def available() -> int | None:
    """Return the bytes of memory that a program can take."""
    return _memory("MemAvailable")


def peak_bytes() -> int | None:
    """Return the most memory that this process ever held, or since :func:`forget_peak`."""
    marked = _kilobytes(Path("/proc/self/status"), "VmHWM")
    if marked is not None:  # on Linux, getrusage includes the parent process
        return marked
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def held_bytes() -> int | None:
    """Return the memory that this process holds now, or its peak where that is not known."""
    held = _kilobytes(Path("/proc/self/status"), "VmRSS")
    return peak_bytes() if held is None else held


def forget_peak() -> None:
    """Give back what is free and start the peak anew, where the system can (Linux, glibc)."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _load() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except (OSError, AttributeError):
        return None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory(name: str) -> int | None:
    return _kilobytes(Path("/proc/meminfo"), name)


def _kilobytes(file: Path, name: str) -> int | None:
    try:
        for line in file.read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None

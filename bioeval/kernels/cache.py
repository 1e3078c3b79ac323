"""Compilation of loops, the folder where compiled loops are kept, and reports of compilations.

:func:`loop_of` makes the compiled loop of a function. Numba notices if the file of a loop is
edited, but not if a file is edited from which the loop uses a function. The folder of compiled
loops therefore has another name for each state of the kernels and of their libraries, such as
``bioeval-kernels-0f3a...``. It is beside the kernels, or in the user's cache if that place is not
writable, so that later runs with the same kernels find it. ``BIOEVAL_CACHE_DIR`` names another
folder for these kernels, and ``NUMBA_CACHE_DIR`` a folder for all that numba compiles.
:class:`Compilations` tells users who wait for a compilation.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config, event
from numba.extending import register_jitable

from bioeval.base.options import require_address_space
from bioeval.base.progress import is_shown, stage


def loop_of(function: Callable[..., Any], helpers: list[Callable[..., Any]]) -> Any:
    """Return a loop that is compiled when its arguments have new types, and kept in `CACHE`.

    `helpers` are functions that loops call; the list is emptied. Only one thread at a time may call
    this.
    """
    while helpers:
        register_jitable(helpers.pop())
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = CACHE  # type: ignore[attr-defined]
    try:
        return numba.njit(nogil=True, cache=True)(function)
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


# ------------------------------------------------------------ the folder of compiled loops

#: How many states of the kernels are kept; older states are removed.
_KEPT_STATES = 4
_PREFIX = "bioeval-kernels-"
_VARIABLE = "BIOEVAL_CACHE_DIR"


def _cache_folder() -> str:
    """Return the folder that a variable names, or the first place that can be written to."""
    for variable in (_VARIABLE, "NUMBA_CACHE_DIR"):
        if chosen := os.environ.get(variable):
            return _chosen_folder(variable, chosen)
    if config.CACHE_DIR:  # type: ignore[attr-defined]
        return _chosen_folder("NUMBA_CACHE_DIR", config.CACHE_DIR)  # type: ignore[attr-defined]
    parents = [Path(__file__).parent / "__pycache__"]
    with contextlib.suppress(RuntimeError):  # a user without a home
        parents.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"))
    for parent in parents:
        folder = parent / (_PREFIX + _digest_of_kernels())
        if _create_writable(folder):
            _remove_old_states(folder)
            return str(folder)
    return _temporary_folder("no folder for compiled kernels can be written to, so they")


def _create_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _digest_of_kernels() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _chosen_folder(variable: str, chosen: Any) -> str:
    if _create_writable(Path(chosen)):
        return str(chosen)
    return _temporary_folder(f"{variable}, {chosen}, cannot be written to, so kernels")


def _temporary_folder(problem: str) -> str:
    temporary = tempfile.mkdtemp(prefix="bioeval-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    os.environ[_VARIABLE] = temporary  # worker processes read the variable
    warn_once(f"{problem} are compiled anew each time; set {_VARIABLE} to a folder that can")
    return temporary


def _remove_old_states(newest: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(newest)
        states = sorted(newest.parent.glob(f"{_PREFIX}*"), key=os.path.getmtime)
        for old in states[:-_KEPT_STATES]:
            shutil.rmtree(old, ignore_errors=True)


# ------------------------------------------------------------ reports of compilations

#: Seconds of compilation before a line is written about it. Compiled loops are kept, so a script
#: that calls a function for the first time, or with scores of another dtype, may compile a loop or
#: two in a few seconds, and that is not worth a line.
PATIENCE = 10.0

# Bytes of addresses that compiling the loops of an evaluation takes, with some room.
_ADDRESSES = 512 << 20

_is_warned = False  # whether a line about compilation was written: no other line follows


def warn_once(line: str) -> None:
    """Write a line on standard error, unless one was written before."""
    global _is_warned  # noqa: PLW0603
    if _is_warned or sys.stderr is None:  # pythonw has no standard error
        return
    _is_warned = True
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"bioeval: {line}\n")


class Compilations(event.Listener):
    """Reports of compilations; a function that is compiled for another is part of its report.

    Where no progress is shown, a line on standard error says that compilation takes long.
    """

    def __init__(self) -> None:
        self._stages: list[AbstractContextManager[None]] = []
        self._spent = 0.0  # seconds of earlier compilations
        self._begun = 0.0  # when this compilation began

    def on_start(self, event: event.Event) -> None:
        """Begin a stage that names the dtype of the scores."""
        ours = str(getattr(event.data["dispatcher"], "__module__", "")).startswith("bioeval.")
        if not self._stages:
            self._begun = time.monotonic()
        spent = self._spent + time.monotonic() - self._begun
        if ours and spent >= PATIENCE and not is_shown():
            warn_once(
                "compiling loops that no earlier run needed, up to a minute; kept for later runs"
            )
        title = "compiling"
        arrays = (x for group in event.data["args"] for x in getattr(group, "types", [group]))
        dtype = next((x.dtype for x in arrays if isinstance(x, numba.types.Array)), None)
        if dtype is not None:
            title += f" for {dtype}"
        self._stages.append(nullcontext() if self._stages else stage(f"{title} (once)"))
        self._stages[-1].__enter__()
        # LLVM that runs out of memory leaves a fault that names no memory, or waits for ever.
        if len(self._stages) == 1 and not self._spent:  # all of them are counted at the first
            require_address_space(_ADDRESSES, "compiling the loops")

    def on_end(self, event: event.Event) -> None:
        """End the stage."""
        self._stages.pop().__exit__(None, None, None)
        if not self._stages:
            self._spent += time.monotonic() - self._begun


#: Where compiled kernels are kept.
CACHE = _cache_folder()

event.register("numba:compile", Compilations())

"""Compilation of loops, and the folder of compiled kernels.

Numba notices an edit of the file of a loop, but not of what the loop uses from another file. The
folder therefore has a name of its own for each state of the kernels and of their libraries. It lies
beside the kernels or, where nothing can be written there, in the cache of the user, so that every
start of the same kernels finds it. ``BIOEVAL_CACHE_DIR`` names another folder, for these kernels
alone, and ``NUMBA_CACHE_DIR`` one for all that numba compiles.
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

from bioeval.base.progress import is_shown, stage

#: States of the kernels that are kept in a folder; older states are removed.
_MOST = 4
_NAME = "bioeval-kernels-"
_OURS = "BIOEVAL_CACHE_DIR"


def _digest_of_kernels() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _create_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


#: Seconds of compilation before a line says so. Compiled loops are kept, each for the types of its
#: arguments: a script that first calls a function, or has scores of another dtype or number, may
#: compile a loop or two in a few seconds, and that is not worth a line.
PATIENCE = 10.0


class Compilations(event.Listener):
    """Reports of compilations; functions compiled on behalf of another are part of it.

    Where nothing shows the progress, a line on standard error says that they take long.

    - `warned`: whether a line on compilations is written, or need not be
    """

    warned = False

    @classmethod
    def warn(cls, line: str) -> None:
        """Write a line on standard error, after which no other is written."""
        cls.warned = True
        if sys.stderr is not None:  # as with pythonw
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(f"bioeval: {line}\n")

    def __init__(self) -> None:
        self._stages: list[AbstractContextManager[None]] = []
        self._spent = self._begun = 0.0  # seconds of earlier compilations; the start of this one

    def on_start(self, event: event.Event) -> None:
        """Begin a stage that names the dtype of the scores."""
        ours = str(getattr(event.data["dispatcher"], "__module__", "")).startswith("bioeval.")
        if not self._stages:
            self._begun = time.monotonic()
        spent = self._spent + time.monotonic() - self._begun
        if ours and spent >= PATIENCE and not is_shown() and not Compilations.warned:
            self.warn(
                "compiling loops that no earlier run needed, up to a minute; kept for later runs"
            )
        title = "compiling"
        arrays = (x for group in event.data["args"] for x in getattr(group, "types", [group]))
        dtype = next((x.dtype for x in arrays if isinstance(x, numba.types.Array)), None)
        if dtype is not None:
            title += f" for {dtype}"
        self._stages.append(nullcontext() if self._stages else stage(f"{title} (once)"))
        self._stages[-1].__enter__()

    def on_end(self, event: event.Event) -> None:
        """End the stage."""
        self._stages.pop().__exit__(None, None, None)
        if not self._stages:
            self._spent += time.monotonic() - self._begun


def _cache_folder() -> str:
    variable, named = _OURS, os.environ.get(_OURS)
    if not named:
        variable = "NUMBA_CACHE_DIR"
        named = os.environ.get(variable) or config.CACHE_DIR  # type: ignore[attr-defined]
    if named:
        if _create_writable(Path(named)):
            return str(named)
        problem = f"{variable}, {named}, cannot be written to, so kernels"
    else:
        places = [Path(__file__).parent / "__pycache__"]
        with contextlib.suppress(RuntimeError):  # a user without a home
            places.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"))
        for place in (place / (_NAME + _digest_of_kernels()) for place in places):
            if _create_writable(place):
                with contextlib.suppress(OSError):  # the newest is kept, and older ones are removed
                    os.utime(place)
                    for old in sorted(place.parent.glob(f"{_NAME}*"), key=os.path.getmtime)[
                        :-_MOST
                    ]:
                        shutil.rmtree(old, ignore_errors=True)
                return str(place)
        problem = "no folder for compiled kernels can be written to, so they"
    folder = tempfile.mkdtemp(prefix="bioeval-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[_OURS] = folder  # for worker processes
    Compilations.warn(f"{problem} are compiled anew each time; set {_OURS} to a folder that can")
    return folder


#: Where compiled kernels are kept.
CACHE = _cache_folder()


def loop_of(function: Callable[..., Any], helpers: list[Callable[..., Any]]) -> Any:
    """Return a loop that is compiled where its arguments have new types, and kept in `CACHE`.

    `helpers` are functions that loops call; none is left in the list. One thread calls this at a
    time.
    """
    while helpers:
        register_jitable(helpers.pop())
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = CACHE  # type: ignore[attr-defined]
    try:
        return numba.njit(nogil=True, cache=True)(function)
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


event.register("numba:compile", Compilations())

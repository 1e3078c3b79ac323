"""Compilation of loops, and the folder of compiled kernels.

Numba notices an edit of the file of a loop, but not of what the loop uses from another file. The
folder therefore has a name of its own for each state of the kernels and of their libraries. It lies
beside the kernels or, where nothing can be written there, in the cache of the user, so that every
start of the same kernels finds it. ``BIOEVAL_CACHE_DIR`` names another folder, for these kernels
alone, and ``NUMBA_CACHE_DIR`` one for all that numba compiles.

Loops run in parts on Python threads, compiled once as one plain loop: numba's own parallel loops
take several times as long to compile, and that is most of a first run. Nothing here is compiled
into a kernel, so that the caches of kernels do not depend on this file.
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import functools
import hashlib
import inspect
import operator
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config, event

from bioeval.base.progress import is_shown, stage

#: States of the kernels that are kept in one place; older ones are removed.
_MOST = 4
_NAME = "bioeval-kernels-"
_OURS = "BIOEVAL_CACHE_DIR"


def _digest() -> str:
    """Return a digest of all kernels and of the libraries that compile them."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _usable(folder: Path) -> bool:
    """Create a folder, and return whether files can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _say(line: str) -> None:
    """Write a line on standard error, if there is one."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"bioeval: {line}\n")


#: Seconds of compilation before a line says so. Compiled loops are kept, each for the types of its
#: arguments: a script that first calls a function, or has scores of another dtype or number, may
#: compile a loop or two in a few seconds, and that is not worth a line.
PATIENCE = 10.0


class Compilations(event.Listener):
    """Reports of compilations; functions compiled on behalf of another are part of it.

    Where nothing shows the progress, a line on standard error says that they take long.

    - `warned`: whether the line is written
    """

    warned = False

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
            Compilations.warned = True
            _say("compiling loops that no earlier run needed, up to a minute; kept for later runs")
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
    """Return the folder of compiled kernels; a temporary one where no other is writable."""
    variable, named = _OURS, os.environ.get(_OURS)
    if not named:
        variable = "NUMBA_CACHE_DIR"
        named = os.environ.get(variable) or config.CACHE_DIR  # type: ignore[attr-defined]
    if named:
        if _usable(Path(named)):
            return str(named)
        problem = f"{variable}, {named}, cannot be written to, so kernels"
    else:
        places = [Path(__file__).parent / "__pycache__"]
        with contextlib.suppress(RuntimeError):  # a user without a home
            places.append(Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"))
        for place in (place / (_NAME + _digest()) for place in places):
            if _usable(place):
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
    Compilations.warned = True
    _say(f"{problem} are compiled anew each time; set {_OURS} to a folder that can")
    return folder


#: Where compiled kernels are kept.
CACHE = _cache_folder()

_alone = threading.Lock()


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call with arguments of new types, and keep it in `CACHE`."""
    with _alone:
        before = config.CACHE_DIR  # type: ignore[attr-defined]
        config.CACHE_DIR = CACHE  # type: ignore[attr-defined]
        try:
            return numba.njit(nogil=True, cache=True)(function)
        finally:
            config.CACHE_DIR = before  # type: ignore[attr-defined]


def parallel_rows(over: str) -> Callable[[Callable[..., None]], ParallelRows]:
    """Compile a function that loops over ``range(begin, end)``, its first two arguments.

    The caller leaves them out: the loop has as many steps as the argument `over`, which may be a
    field such as ``"block.values"``, has rows. Each step writes to places of its own, so that the
    result is the same on any number of threads.
    """
    return lambda function: ParallelRows(function, over)


class ParallelRows:
    """A loop that runs in as many parts as numba may use threads.

    - `loop`: the compiled function, of ``begin``, ``end`` and the arguments of a call
    """

    def __init__(self, function: Callable[..., None], over: str):
        functools.update_wrapper(self, function)
        self.loop: Any = compiled(function)
        name, *field = over.split(".", 1)
        self._position = list(inspect.signature(function).parameters).index(name) - 2
        self._field = operator.attrgetter(*field) if field else None

    def __call__(self, *args: Any) -> None:
        """Run the loop; the calling thread takes the first part."""
        steps = self._steps(args)
        parts = min(numba.get_num_threads(), steps)
        if parts < 2:
            self.loop(0, steps, *args)
            return
        limits = [steps * part // parts for part in range(parts + 1)]
        _side_by_side(
            [
                functools.partial(self.loop, begin, end, *args)
                for begin, end in zip(limits[:-1], limits[1:], strict=True)
            ]
        )

    def on_one_thread(self, *args: Any) -> None:
        """Run the loop on the calling thread."""
        self.loop(0, self._steps(args), *args)

    def _steps(self, args: tuple[Any, ...]) -> int:
        rows = args[self._position]
        return len(rows if self._field is None else self._field(rows))


def in_turns(function: Callable[[Iterator[int]], None], steps: int) -> None:
    """Run `function` on as many threads as numba may use; each takes the next step in turn."""
    turns = iter(range(steps))
    parts = max(1, min(numba.get_num_threads(), steps))
    _side_by_side([functools.partial(function, turns)] * parts)


def _side_by_side(parts: Sequence[Callable[[], None]]) -> None:
    """Run parts on threads, the first on the calling one."""
    futures = [_threads().submit(contextvars.copy_context().run, part) for part in parts[1:]]
    try:
        parts[0]()
    finally:
        wait(futures)  # they write to the arrays of the caller
    for other in futures:
        other.result()


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        numba.config.NUMBA_NUM_THREADS,  # type: ignore[attr-defined]
        thread_name_prefix="bioeval",
    )


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_threads.cache_clear)


event.register("numba:compile", Compilations())

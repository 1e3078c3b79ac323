"""Loops run in parts on Python threads, compiled once as one plain loop.

numba's own parallel loops take several times as long to compile, and that is most of a first run.
Nothing here is compiled into a kernel, so that the caches of kernels do not depend on this file.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import operator
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numba

from bioeval.kernels.compiled import compiled


def parallel_rows(over: str) -> Callable[[Callable[..., None]], ParallelRows]:
    """Compile a function that loops over ``range(begin, end)``, its first two arguments.

    The caller leaves them out: the loop has as many steps as the argument `over`, which may be a
    field such as ``"block.values"``, has rows. Each step writes to places of its own, so that the
    result is the same on any number of threads.
    """
    return lambda function: ParallelRows(function, over)


class ParallelRows:
    """A loop that runs in as many parts as numba may use threads.

    Attributes
    ----------
    loop : the compiled function, of ``begin``, ``end`` and the arguments of a call
    """

    def __init__(self, function: Callable[..., None], over: str):
        functools.update_wrapper(self, function)
        self.loop: Any = compiled(function)
        name, *field = over.split(".", 1)
        self._position = list(inspect.signature(function).parameters).index(name) - 2
        self._field = operator.attrgetter(*field) if field else None

    def __call__(self, *args: Any) -> None:
        """Run the loop; the calling thread takes the first part."""
        rows = args[self._position]
        steps = len(rows if self._field is None else self._field(rows))
        parts = min(numba.get_num_threads(), steps)
        if parts <= 1:
            self.loop(0, steps, *args)
            return
        limits = [steps * part // parts for part in range(parts + 1)]
        others = [
            _threads().submit(contextvars.copy_context().run, self.loop, begin, end, *args)
            for begin, end in zip(limits[1:-1], limits[2:], strict=True)
        ]
        try:
            self.loop(0, limits[1], *args)
        finally:
            wait(others)  # they write to the arrays of the caller
        for other in others:
            other.result()


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        numba.config.NUMBA_NUM_THREADS,  # type: ignore[attr-defined]
        thread_name_prefix="bioeval",
    )


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_threads.cache_clear)

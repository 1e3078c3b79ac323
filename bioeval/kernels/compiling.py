"""Decorators of loops that numba compiles; numba is loaded when the first loop runs.

A loop is compiled as one plain loop, whose parts run on Python threads: numba's own parallel loops
take several times as long to compile, and compiling takes most of a first run. Nothing here is
compiled into a kernel.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import operator
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from bioeval.base.options import side_by_side, threads_for_parts

F = TypeVar("F", bound=Callable[..., Any])

# Functions that loops call: `loop_of` registers them with numba at the next loop, and empties the
# list.
_to_register: list[Callable[..., Any]] = []

_one_at_a_time = threading.Lock()


def called_by_loops(function: F) -> F:
    """Let loops call a function, which Python may still call."""
    _to_register.append(function)
    return function


class compiled:  # noqa: N801 (a decorator)
    """A function that is compiled at its first call with arguments of new types."""

    def __init__(self, function: Callable[..., Any]):
        functools.update_wrapper(self, function)
        self._function = function
        self._loop: Any = None

    @property
    def loop(self) -> Any:
        """The compiled function."""
        if self._loop is None:
            with _one_at_a_time:
                from bioeval.kernels.cache import loop_of

                if self._loop is None:  # another thread may have been faster
                    self._loop = loop_of(self._function, _to_register)
        return self._loop

    def __call__(self, *args: Any) -> Any:
        """Run the loop."""
        return self.loop(*args)


def parallel_rows(rows_of: str) -> Callable[[Callable[..., None]], ParallelRows]:
    """Compile a function that loops over ``range(begin, end)``, its first two arguments.

    A call leaves these two out: the loop has a step for each row of the argument that `rows_of`
    names, or of a field of an argument, such as ``"block.values"``. No two steps write to the same
    element, so that the result is the same on any number of threads.
    """
    return lambda function: ParallelRows(function, rows_of)


class ParallelRows(compiled):
    """A loop that is divided among threads.

    - `loop`: the compiled function, of ``begin``, ``end`` and the arguments of a call
    """

    def __init__(self, function: Callable[..., None], rows_of: str):
        super().__init__(function)
        argument, _, field = rows_of.partition(".")
        # A call leaves out `begin` and `end`.
        self._position = list(inspect.signature(function).parameters).index(argument) - 2
        self._rows_of = operator.attrgetter(field) if field else None

    def __call__(self, *args: Any) -> None:
        """Run the loop; the calling thread takes the first part."""
        steps = self._steps(args)
        parts = threads_for_parts(steps)
        limits = [steps * part // parts for part in range(parts + 1)]
        side_by_side(
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
        if self._rows_of is not None:
            rows = self._rows_of(rows)
        return len(rows)


def writable_alias(array: np.ndarray) -> np.ndarray:
    """Return an array over the same memory that numba takes for writable.

    For read-only arrays, such as memory maps, numba would compile every kernel once more. Kernels
    write to none of them.
    """
    if array.flags.writeable:
        return array.view(np.ndarray)
    memory = (ctypes.c_byte * array.nbytes).from_address(array.ctypes.data)
    vars(memory)["owner"] = array  # lives as long as the alias
    return np.frombuffer(memory, dtype=array.dtype).reshape(array.shape)

"""Where the time of a call goes: each kernel's share, and the bytes it was handed."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import bioeval.kernels
from benchmarks.timing import Clock, clock_of, limited
from bioeval.kernels.compiling import ParallelRows


@dataclass(frozen=True)
class Piece:
    """What one kernel took of a call; the kernel named ``""`` is all the rest."""

    key: str
    kernel: str
    ns_per_cell: float
    bytes_per_cell: float

    def document(self) -> dict[str, Any]:
        """Return the piece as plain values."""
        return {"record": "piece", **asdict(self)}


def pieces(key: str, call: Callable[[], object], cells: int, threads: int) -> list[Piece]:
    """Run `call` once more, with every kernel timed; the dearest comes first.

    `call` must have run before, so that nothing is compiled now.
    """
    spent: dict[str, list[float]] = {}
    clock = clock_of(threads)
    with limited(threads), _watched(spent, clock):
        start = clock()
        call()
        whole = clock() - start
    found = [
        Piece(key, kernel, seconds / cells * 1e9, handed / cells)
        for kernel, (seconds, handed) in spent.items()
    ]
    rest = max(0.0, whole - sum(seconds for seconds, _ in spent.values()))
    found.sort(key=lambda piece: -piece.ns_per_cell)
    return [*found, Piece(key, "", rest / cells * 1e9, 0.0)]


@contextmanager
def _watched(spent: dict[str, list[float]], clock: Clock) -> Iterator[None]:
    """Put a clock around each compiled function, wherever the library has it by a name."""
    clocked: dict[int, Any] = {}
    for info in pkgutil.iter_modules(bioeval.kernels.__path__):
        module = importlib.import_module(f"bioeval.kernels.{info.name}")
        for name, kernel in vars(module).items():
            if hasattr(kernel, "py_func") or isinstance(kernel, ParallelRows):
                clocked[id(kernel)] = _clocked(f"{info.name}.{name}", kernel, spent, clock)
    before: list[tuple[Any, str, Any]] = []
    for module in [m for name, m in sys.modules.items() if name.startswith("bioeval.")]:
        for name, kernel in list(vars(module).items()):
            if id(kernel) in clocked:
                before.append((module, name, kernel))
                setattr(module, name, clocked[id(kernel)])
    try:
        yield
    finally:
        for module, name, kernel in before:
            setattr(module, name, kernel)


def _clocked(
    name: str, kernel: Any, spent: dict[str, list[float]], clock: Clock
) -> Callable[..., Any]:
    if isinstance(kernel, ParallelRows):  # the limits of the loop are not given
        parameters = list(inspect.signature(kernel.loop.py_func).parameters)[2:]
    else:
        parameters = list(inspect.signature(kernel.py_func).parameters)

    def run(*args: Any, **named: Any) -> Any:
        start = clock()
        try:
            return kernel(*args, **named)
        finally:
            entry = spent.setdefault(name, [0.0, 0.0])
            entry[0] += clock() - start
            entry[1] += handed(parameters, args)

    return run


def handed(parameters: Sequence[str], args: Sequence[Any]) -> int:
    """Return the bytes of the scores that a kernel goes over.

    They are its first array, or the given rows of it where there is an argument ``rows``; both may
    be fields of a named tuple.
    """
    flat: list[tuple[str, Any]] = []
    for name, value in zip(parameters, args, strict=False):
        fields = getattr(value, "_fields", None)
        flat += [(name, value)] if fields is None else zip(fields, value, strict=True)
    scores = next((value for _, value in flat if isinstance(value, np.ndarray)), None)
    if scores is None:
        return 0
    rows = dict(flat).get("rows")
    if rows is not None and scores.ndim == 2:
        return int(np.size(rows) * scores.shape[1] * scores.itemsize)
    return int(scores.nbytes)

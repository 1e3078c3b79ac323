"""Choice of the executor that counts blocks of rows; by default this process.

As with progress, no executor is handed down: :func:`computed_by` chooses it for all that runs
inside, and the passes over the scores look for it.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from bioeval.base.errors import Argument, EngineError
from bioeval.base.progress import rows_reported_to

if TYPE_CHECKING:
    import numpy as np
    from distributed import Client as Client
else:
    #: The client of a cluster (`distributed.Client`).
    Client = Any  # of an optional dependency, which type checkers have


class Pass(ABC):
    """One reading of scores that counts; the counts of blocks of rows add up to those of all rows.

    - `name`: what is counted, in a word or two
    - `scores`: the scores (:class:`bioeval.Scores`)
    - `depends_on`: arrays besides scores and options that the counts depend on, such as folds that
      were drawn
    - `also_read`: other scores, whose same rows are read as well
    - `reads_rows`: whether rows of the scores are read, and not other parts of what they are of
    """

    name: str
    scores: Any
    depends_on: Sequence[np.ndarray] = ()
    also_read: Sequence[Any] = ()
    reads_rows: bool = True

    @property
    @abstractmethod
    def step(self) -> int:
        """Number of rows counted together: each block but the last has a multiple of it."""

    @abstractmethod
    def part(self, low: int, high: int) -> Any:
        """Return the counts of rows ``low:high``, for :func:`bioeval.tallies.parts.merged`.

        It depends on nothing that was counted before.
        """


class Executor(Protocol):
    """Where passes run: it computes the counts of blocks of rows, and merges them."""

    #: Whether this process may not read all scores itself, since others are to do it.
    distributes: bool

    def count(self, row_pass: Pass) -> Any:
        """Return the counts of all rows."""


_EXECUTOR: ContextVar[Executor | None] = ContextVar("executor", default=None)


def executor() -> Executor | None:
    """Return the executor that was chosen; None for this process."""
    return _EXECUTOR.get()


def refuse_executor(option: str = "interval") -> None:
    """Raise :class:`EngineError` where `option` takes a step here that an executor is to take."""
    chosen = executor()
    if chosen is not None and chosen.distributes:
        raise EngineError(
            "this evaluation has a step that reads all scores in one process, and cannot be "
            "distributed: leave out ",
            Argument("client"),
            ", or the option that takes the step (such as ",
            Argument(option),
            ")",
        )


def computed_here(option: str) -> contextlib.AbstractContextManager[None]:
    """Count in this process, as `option` has to; :class:`EngineError` where an executor is to."""
    refuse_executor(option)
    return computed_by(None)


@contextlib.contextmanager
def computed_by(chosen: Executor | None) -> Iterator[None]:
    """Count inside this context with an executor; None stands for this process."""
    token = _EXECUTOR.set(chosen)
    try:
        yield
    finally:
        _EXECUTOR.reset(token)


def counts_here(row_pass: Pass, low: int, high: int) -> Any:
    """Return the counts of a block, made in this process; its rows are not reported."""
    with computed_by(None), rows_reported_to(lambda done, total: None):
        return row_pass.part(low, high)

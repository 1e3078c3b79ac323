"""Choice of the engine that counts blocks of rows; by default this process.

As with progress, no engine is handed down: :func:`computed_by` chooses it for all that runs inside,
and the sweeps over the scores look for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from bioeval.base.errors import Argument, EngineError
from bioeval.base.progress import rows_reported_to

if TYPE_CHECKING:
    from distributed import Client as Client
else:
    #: The client of a cluster (`distributed.Client`).
    Client = Any  # of an optional dependency, which type checkers have


class Pass(Protocol):
    """Work that counts over rows of scores; the counts of blocks add up to those of all rows.

    Work may have two more attributes: `depends_on`, arrays besides scores and options that the
    counts depend on, such as folds that were drawn; and `beside`, other scores, whose same rows it
    reads as well.
    """

    #: What is counted, in a word or two.
    what: str

    @property
    def scores(self) -> Any:
        """The scores (:class:`bioeval.Scores`)."""

    def part(self, low: int, high: int) -> Any:
        """Return the counts of rows ``low:high``, for :func:`bioeval.tallies.parts.merged`.

        It depends on nothing that was counted before.
        """

    @property
    def step(self) -> int:
        """Number of rows counted together: each block but the last has a multiple of it."""


class Engine(Protocol):
    """An engine computes the counts of blocks of rows, and merges them."""

    #: Whether this process may not read all scores itself, since others are to do it.
    distributes: bool

    def count(self, work: Pass) -> Any:
        """Return the counts of all rows."""


_ENGINE: ContextVar[Engine | None] = ContextVar("engine", default=None)


def engine() -> Engine | None:
    """Return the engine that was chosen; None for this process."""
    return _ENGINE.get()


def refuse_executor(option: str = "interval") -> None:
    """Raise :class:`EngineError` where `option` may have work done here that an engine is to do."""
    chosen = engine()
    if chosen is not None and chosen.distributes:
        raise EngineError(
            "this evaluation has a step that reads all scores in one process, and cannot be "
            f"distributed: leave out {Argument('client')}, or the option that takes the step (such "
            f"as {Argument(option)})"
        )


def computed_here(option: str) -> contextlib.AbstractContextManager[None]:
    """Count in this process, as `option` has to; :class:`EngineError` where an engine is to."""
    refuse_executor(option)
    return computed_by(None)


@contextlib.contextmanager
def computed_by(chosen: Engine | None) -> Iterator[None]:
    """Count inside this context with an engine; None stands for this process."""
    token = _ENGINE.set(chosen)
    try:
        yield
    finally:
        _ENGINE.reset(token)


def counts_here(work: Pass, low: int, high: int) -> Any:
    """Return the counts of a block, made in this process; its rows are not reported."""
    with computed_by(None), rows_reported_to(lambda done, total: None):
        return work.part(low, high)

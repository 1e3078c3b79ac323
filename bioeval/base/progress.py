"""Progress of long work, from the work to its display.

No callback is handed down: :func:`shown_by` receives the reports of all that runs inside
it, and elsewhere a report costs next to nothing.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from bioeval.base.arguments import require_callable

#: Called with the stage, the steps done, and their number; 0 where it is not known.
Show = Callable[[str, int, int], None]

_SHOW: ContextVar[Show | None] = ContextVar("show", default=None)
_STAGE: ContextVar[str] = ContextVar("stage", default="")


@contextlib.contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """Send the progress reports of the work inside to `show`."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


@contextlib.contextmanager
def reported_to(progress: Callable[[int, int], None] | None) -> Iterator[None]:
    """Call `progress`, if given, with the steps done and their number of what runs inside."""
    call = require_callable("progress", progress)
    if call is None:
        yield
        return
    with shown_by(lambda _, done, total: call(done, total) if total else None), stage("rows"):
        yield


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Name the stage of the work inside; of a function, as its decorator."""
    token = _STAGE.set(name)
    report(0, 0)
    try:
        yield
    finally:
        _STAGE.reset(token)


def is_shown() -> bool:
    """Whether the reports are displayed."""
    return _SHOW.get() is not None or "ipykernel" in sys.modules


def reporter(progress: Callable[[int, int], object] | None) -> Callable[[int, int], object]:
    """Return the argument `progress`, or the default reporter."""
    return require_callable("progress", progress) or report


def ticker(progress: Callable[[int, int], object] | None, total: int) -> Callable[[int], None]:
    """Return a function that adds up the rows done, and reports them out of `total`."""
    done = 0

    def tick(rows: int) -> None:
        nonlocal done
        done = min(done + rows, total)
        reporter(progress)(done, total)

    return tick


def report(done: int, total: int) -> None:
    """Report the steps done of the current stage; do nothing outside a stage.

    In a notebook, where nothing else shows them, reports go below the cell.
    """
    show, name = _SHOW.get(), _STAGE.get()
    if show is None and "ipykernel" in sys.modules:
        from bioeval.base.notebook import in_notebook

        show, name = in_notebook(), name or "counting"
    if show is not None and name:
        show(name, done, total)

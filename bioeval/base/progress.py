"""Progress of long work, from the work to its display.

No callback is handed down: :func:`shown_by` receives the reports of all that runs inside
it, and elsewhere a report costs next to nothing. The option `progress` of
:class:`bioeval.set_options` gets the rows that are counted inside :func:`rows_reported`, and
nothing else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from bioeval.base.options import OPTIONS

#: Called with the stage, the steps done, and their number; 0 where it is not known.
Show = Callable[[str, int, int], None]

#: Called with the number of rows done, and the number of all rows.
Tell = Callable[[int, int], object]

# Where reports are displayed; None for nowhere.
_SHOW: ContextVar[Show | None] = ContextVar("show", default=None)

# The current stage; empty before the first.
_STAGE: ContextVar[str] = ContextVar("stage", default="")


def _outside(done: int, total: int) -> None:
    """Stand for `progress` outside of all public calls, and report nothing."""


# The option `progress` inside a public call, None without the option; `_outside` elsewhere.
_TELL: ContextVar[Tell | None] = ContextVar("tell", default=_outside)


@contextlib.contextmanager
def shown_by(show: Show) -> Iterator[None]:
    """Send the progress reports of the work inside to `show`."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


@contextlib.contextmanager
def steps_reported() -> Iterator[None]:
    """Call the option `progress` with the steps of the work inside."""
    call = OPTIONS["progress"]
    if not call:
        yield
        return
    with shown_by(lambda _, done, total: call(done, total) if total else None), stage("rows"):
        yield


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Name the stage of the work inside; as a decorator, of the work of a function."""
    token = _STAGE.set(name)
    report(0, 0)
    try:
        yield
    finally:
        _STAGE.reset(token)


def is_shown() -> bool:
    """Whether the reports are displayed."""
    return _SHOW.get() is not None


@contextlib.contextmanager
def rows_reported(passes: int = 1, *, to: Tell | None = _outside) -> Iterator[None]:
    """Call the option `progress` with the rows that a public call counts in several passes.

    Rows that are counted by other public calls inside are not reported. With `to`, call it instead
    with all rows that are counted inside; None for no report.
    """
    progress = to
    if to is _outside:
        progress = (OPTIONS["progress"] or None) if _TELL.get() is _outside else None
    before = 0  # rows of the passes that have ended

    def tell_of_all_passes(done: int, total: int) -> None:
        nonlocal before
        (progress or report)(min(before + done, passes * total), passes * total)
        if done >= total:
            before += done

    token = _TELL.set(progress if passes <= 1 else tell_of_all_passes)
    try:
        yield
    finally:
        _TELL.reset(token)


def reporter() -> Tell:
    """Return the function to call with rows done: the option `progress`, or :func:`report`."""
    tell = _TELL.get()
    return report if tell is None or tell is _outside else tell


def report_rows(done: int, total: int) -> None:
    """Call the option `progress` with the rows that a public call has counted."""
    if (tell := _TELL.get()) is not None:
        tell(done, total)


def report(done: int, total: int) -> None:
    """Report the steps done of the current stage, if any."""
    show, name = _SHOW.get(), _STAGE.get()
    if show is not None and name:
        show(name, done, total)

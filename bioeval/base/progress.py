"""Progress of long work, from the work to its display.

No callback is handed down: :func:`shown_by` receives the reports of all that runs inside
it, and elsewhere a report costs next to nothing. The option `progress` of
:class:`bioeval.set_options` gets the rows that are counted inside :func:`rows_reported`, and
nothing else.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from bioeval.base.errors import printable
from bioeval.base.options import OPTIONS

# Progress below the cell of a notebook.


# Seconds of work before the line appears, and between two changes of the line.
_SECONDS_BEFORE = 0.5
_SECONDS_BETWEEN = 0.2


class NotebookProgress:
    """Progress in the cells of a notebook: a line, which at last states the time of the work.

    `shell` is IPython's, which announces when a cell begins and ends. It is not changed, so that
    other outputs of the notebook are shown as ever.
    """

    def __init__(self, shell: Any):
        """Follow the cells from now on."""
        self._shell = shell
        self._publisher = shell.display_pub
        self.begin()
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)

    def begin(self, *_: object) -> None:
        self._handle: Any = None
        self._begun = time.monotonic()
        self._written = 0.0

    def end(self, *_: object) -> None:
        """End the line at the end of a cell."""
        if self._handle is not None:
            self._show(f"done in {time.monotonic() - self._begun:.1f} s")
        self._handle = None

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show a stage, and how much of it is done if its length is known."""
        now = time.monotonic()
        if now - self._begun < _SECONDS_BEFORE or now - self._written < _SECONDS_BETWEEN:
            return
        if self._shell.display_pub is not self._publisher:
            return  # the outputs of the cell are captured
        self._written = now
        self._show(f"{name} {100 * done / total:.0f} %" if total else name)

    def _show(self, text: str) -> None:
        data = {"text/plain": printable(text)}
        if self._handle is not None:
            self._handle.update(data, raw=True)
            return
        from IPython.display import display

        self._handle = display(data, raw=True, display_id=True)


_PROGRESS: list[NotebookProgress] = []


def in_notebook() -> NotebookProgress | None:
    """Return the progress display of the running notebook; None outside a notebook."""
    if _PROGRESS:
        return _PROGRESS[0]
    if threading.current_thread() is not threading.main_thread():
        return None
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    _PROGRESS.append(NotebookProgress(shell))
    return _PROGRESS[0]


#: Called with the stage, the steps done, and their number; 0 where it is not known.
Show = Callable[[str, int, int], None]

#: Called with the number of rows done, and the number of all rows.
Tell = Callable[[int, int], object]

# Where reports are displayed; None for nowhere but in a notebook.
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
    is_in_notebook = "ipykernel" in sys.modules and OPTIONS["progress"] is not False
    return _SHOW.get() is not None or is_in_notebook


def rows_reported(passes: int = 1) -> contextlib.AbstractContextManager[None]:
    """Call the option `progress` with the rows that a public call counts in several passes.

    Rows that are counted by other public calls inside are not reported.
    """
    progress = OPTIONS["progress"] if _TELL.get() is _outside else None
    return rows_reported_to(progress or None, passes)


@contextlib.contextmanager
def rows_reported_to(progress: Tell | None, passes: int = 1) -> Iterator[None]:
    """Call `progress`, if given, with the rows that are counted inside, in several passes."""
    tell = progress
    if passes > 1:
        tell = _RowsOfPasses(tell or report, passes)
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


class _RowsOfPasses:
    """Reports the rows done in all passes together."""

    def __init__(self, tell: Tell, passes: int):
        self.tell = tell
        self.passes = passes
        self.before = 0  # rows of the passes that have ended

    def __call__(self, done: int, total: int) -> None:
        self.tell(min(self.before + done, self.passes * total), self.passes * total)
        if done >= total:
            self.before += done


def reporter() -> Tell:
    """Return the function to call with rows done: the option `progress`, or :func:`report`."""
    tell = _TELL.get()
    return report if tell is None or tell is _outside else tell


def report_rows(done: int, total: int) -> None:
    """Call the option `progress` with the rows that a public call has counted.

    Without the option, a notebook shows them below the cell.
    """
    tell = _TELL.get()
    if tell is not None:
        tell(done, total)
    elif _SHOW.get() is None:
        report(done, total)


def report(done: int, total: int) -> None:
    """Report the steps done of the current stage, if any; a notebook shows them below the cell."""
    show = _SHOW.get()
    name = _STAGE.get()
    if show is None and "ipykernel" in sys.modules and OPTIONS["progress"] is not False:
        show = in_notebook()
        name = name or "counting"
    if show is not None and name:
        show(name, done, total)

"""Progress below the cell of a notebook."""

from __future__ import annotations

import threading
import time
from typing import Any

from bioeval.base.errors import printable

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

"""Progress in a notebook: one line below the cell, removed when the cell has ended.

Imported when work reports its progress inside a Jupyter kernel and nothing else shows it.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from bioeval.base.panels import safe

# Seconds of work that shows nothing, and between two changes of the line.
_SHORTEST, _BETWEEN = 0.5, 0.2

_BAR = (
    '<div role="status" style="color:inherit">{name} '
    '<progress {value} style="vertical-align:middle;width:16em"></progress> {share}</div>'
)


class NotebookProgress:
    """Progress display in the cells of a notebook.

    `shell` is that of IPython, which says when a cell ends.
    """

    def __init__(self, shell: Any):
        self._handle: Any = None
        self._begun, self._written = time.monotonic(), 0.0
        self._now = ""
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)

    def begin(self, *_: Any) -> None:
        """Begin a cell."""
        self._handle, self._begun, self._written, self._now = None, time.monotonic(), 0.0, ""

    def end(self, *_: Any) -> None:
        """Remove the line at the end of a cell."""
        if self._handle is not None:
            self._handle.update({"text/html": ""}, raw=True)
            self._handle = None

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show a stage, and how much of it is done where its length is known."""
        now = time.monotonic()
        soon = now - self._begun < _SHORTEST or now - self._written < _BETWEEN
        if soon and (name == self._now or self._handle is None):
            return
        self._written, self._now = now, name
        share = f"{100 * done / total:.0f} %" if total else ""
        value = f'value="{done}" max="{total}"' if total else ""
        text = f"{name} {share}".strip()
        shown = {
            "text/html": _BAR.format(name=safe(name), value=value, share=share),
            "text/plain": text,
        }
        if self._handle is None:
            from IPython.display import display

            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


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

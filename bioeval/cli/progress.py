"""Progress on a terminal, by rich; silent in a pipe.

Imported by a command when it runs, since rich takes a while to load.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from bioeval.base.errors import printable

_LONGEST = 70  # characters of what is being done


class TimeLeft(ProgressColumn):
    """The percentage done and the time left, of a stage whose length is known."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """Return the text; the time is rounded up, so that it is 0 only at the end."""
        left = task.time_remaining
        if task.total is None or left is None:
            return Text("")
        return Text(f"{task.percentage:.0f} %, {timedelta(seconds=left)} left")


class Stages:
    """The stages of a command, on one line that is wiped at the end.

    Call it with the name of a stage that begins; :meth:`counting` is the callback of an
    evaluation.

    Parameters
    ----------
    after : str
        The stage that follows when all rows are counted.
    stream : file, optional
        Standard error unless given. Nothing is written unless it is a terminal that can move its
        cursor.
    """

    def __init__(self, after: str = "finding operating points", stream: TextIO | None = None):
        self._after = after
        stream = sys.stderr if stream is None else stream
        terminal = stream is not None and stream.isatty()
        self._progress: Progress | None = None
        if terminal and os.environ.get("TERM") not in ("dumb", "unknown"):
            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TimeLeft(),
                console=Console(file=stream, force_terminal=True),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._task = self._progress.add_task("", total=None, visible=False)
        self._stage: tuple[str, int | None] = ("", None)

    def __enter__(self) -> Stages:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, stage: str) -> None:
        """Begin a stage of unknown length."""
        self._begin(f"{printable(stage[:_LONGEST])} ...", None)

    def counting(self, done: int, total: int) -> None:
        """Show the rows counted; and the next stage when all are."""
        if self._progress is None:
            return
        if done >= total:
            self(self._after)
            return
        self._begin("counting", total)
        self._progress.update(self._task, completed=done)

    def _begin(self, stage: str, total: int | None) -> None:
        if self._progress is None or self._stage == (stage, total):
            return
        self._stage = (stage, total)
        self._progress.remove_task(self._task)
        self._task = self._progress.add_task(stage, total=total)
        self._progress.refresh()

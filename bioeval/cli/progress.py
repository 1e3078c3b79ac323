"""Progress on a terminal, by rich; silent in a pipe."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from datetime import timedelta
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from bioeval.base.errors import printable
from bioeval.base.options import set_options
from bioeval.base.progress import shown_by

_LONGEST = 70  # characters of what is being done
_REFRESH_INTERVAL = 0.05  # least seconds between refreshes that new stages force


class TimeLeft(ProgressColumn):
    """Percentage done and time left; for a stage of unknown length, time elapsed."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """Return the text; the time left is rounded up."""
        if task.total is None:
            since = int(task.elapsed or 0)
            return Text(str(timedelta(seconds=since) or ""))
        if task.finished:
            return Text("finishing")
        left = task.time_remaining
        if left is None:
            return Text("")
        return Text(f"{task.percentage:.0f} %, {timedelta(seconds=left)} left")


class Stages:
    """The stages of a command, on one line that is wiped at the end.

    Call it with the name of a stage that begins; :meth:`counting` is the option
    `progress`. What runs inside shows its own stages, by :mod:`bioeval.base.progress`. None are
    shown unless `stream`, standard error by default, is a terminal that can move its cursor.
    """

    def __init__(self, stream: TextIO | None = None):
        """Prepare the line, if `stream` can show it."""
        if stream is None:
            stream = sys.stderr
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
        self._now: tuple[str, int] = ("", 0)
        self._done, self._written = 0, 0.0
        self._inside = contextlib.ExitStack()

    def __enter__(self) -> Stages:
        if self._progress is not None:
            self._progress.start()
            self._inside.enter_context(shown_by(self._show))
            self("starting")
        self._inside.enter_context(set_options(progress=self.counting))
        return self

    def __exit__(self, *exception: object) -> None:
        self._inside.close()
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, stage: str) -> None:
        """Begin a stage of unknown length."""
        self._show(printable(stage[:_LONGEST]), 0, 0)

    def counting(self, done: int, total: int) -> None:
        """Show the rows counted, and the next stage when all have been counted."""
        if done < total:
            self._show("counting", done, total)
        else:
            self("computing rates")

    def _show(self, stage: str, done: int, total: int) -> None:
        if self._progress is None:
            return
        if self._now != (stage, total) or done < self._done:
            self._progress.remove_task(self._task)
            name = stage
            if not total:
                name += " ..."
            self._task = self._progress.add_task(name, total=total or None)
            self._now = stage, total
            if time.monotonic() - self._written >= _REFRESH_INTERVAL:
                self._progress.refresh()
                self._written = time.monotonic()
        self._done = done
        self._progress.update(self._task, completed=done)

"""A line on the terminal that tells how far an evaluation is, and nothing in a pipe."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

_INTERVAL = 0.1
_PATIENCE = 0.5


class Progress:
    """Tell the share done and the time left, on one line that is wiped at the end.

    Call it with the rows done and their number; use it as a context manager. It is silent unless
    the stream is a terminal that can move its cursor, and for the first half second.

    Parameters
    ----------
    label : str
        What is being done.
    stream : file, optional
        Standard error unless given.
    enabled : bool, optional
        Whether to write anything; found out from the stream unless given.
    """

    def __init__(self, label: str, stream: TextIO | None = None, enabled: bool | None = None):
        self.label = label
        self.stream = sys.stderr if stream is None else stream
        if enabled is None:
            enabled = self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.enabled = enabled
        self._start = self._last = time.monotonic()
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` rows are done."""
        now = time.monotonic()
        if not self.enabled or now - self._last < (_INTERVAL if self._shown else _PATIENCE):
            return
        self._last, self._shown = now, True
        line = self.line(done, total, now - self._start)
        try:
            width = os.get_terminal_size(self.stream.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        self.stream.write(f"\r\x1b[K{line[: max(1, width - 1)]}")
        self.stream.flush()

    def line(self, done: int, total: int, seconds: float) -> str:
        """Return the line for so many rows done after so many seconds."""
        text = f"{self.label}: {done:,} of {total:,} rows, {done / max(total, 1):.0%}"
        if 0 < done < total:
            text += f", {_span(seconds * (total - done) / done)} left"
        return text


def _span(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"

"""Printing for people: width and colours as the terminal has them, plain text in a pipe.

What goes to standard output is flushed at once, so that lines on standard error come after it.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import sys
from collections.abc import Iterator
from typing import Any

from bioeval.base.errors import printable, without_controls

#: Columns of a table that goes to a file or into a pipe.
WIDTH = 100


def show(renderable: Any) -> None:
    """Print something that rich can print on standard output.

    Colours are left out in a pipe and where ``NO_COLOR`` is set; a table is as wide as the
    terminal, or as ``COLUMNS`` says.
    """
    from rich.console import Console

    from bioeval.views.tables import plain

    if sys.stdout is not None and sys.stdout.isatty():
        with _named_errors():
            Console(highlight=False, emoji=False, markup=False).print(_Printable(renderable))
        return
    put(plain(renderable, pipe_width()))


class _Printable:
    """A renderable whose text controls no terminal: styles are rich's own, the rest is escaped."""

    def __init__(self, inner: Any):
        self._inner = inner

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        for part in console.render(self._inner, options):
            yield part if part.control else part._replace(text=without_controls(part.text))


def pipe_width() -> int:
    """Return the width of output into a pipe: ``COLUMNS``, else `WIDTH`."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) else WIDTH


def terminal_width() -> int:
    """Return the width of the terminal, or of output into a pipe."""
    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size((WIDTH, 24)).columns
    return pipe_width()


def show_json(document: Any) -> None:
    """Print one JSON document, and nothing else, on standard output."""
    put(as_json(document) + "\n")


def as_json(document: Any) -> str:
    """Return JSON text: NaN becomes null, and infinities the words "inf" and "-inf".

    Text is readable, but what would not be printed, such as a control character, is escaped.
    """
    text = json.dumps(_plain(document), indent=2, allow_nan=False, ensure_ascii=False)
    return re.sub(
        r"[^ -~\n]", lambda c: c[0] if c[0].isprintable() else json.dumps(c[0])[1:-1], text
    )


def put(text: str) -> None:
    """Write text on standard output, through to the reader; control characters are escaped."""
    if sys.stdout is not None:
        with _named_errors():
            sys.stdout.write(without_controls(text))
            sys.stdout.flush()


def note(text: str) -> None:
    """Write a line on standard error, after all that was printed."""
    try:
        flush()
    except OSError:
        give_up_stdout()
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{printable(text)}\n")
            sys.stderr.flush()


def flush() -> None:
    """Write out what standard output still holds back."""
    if sys.stdout is not None:
        with _named_errors():
            sys.stdout.flush()


def give_up_stdout() -> None:
    """Replace a standard output that cannot be written to, so that exit does not flush it."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def _named_errors() -> Iterator[None]:
    """Add the name of the output to an error of writing."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value

"""Printing for people: width and colours as the terminal has them, plain text in a pipe.

What goes to standard output is flushed at once, so that lines on standard error come after it.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
from typing import Any

from bioeval.base.errors import printable
from bioeval.showing.printing import WIDTH, named_errors, pipe_width, put


def terminal_width() -> int:
    """Return the width of the terminal, or of output into a pipe."""
    import shutil

    if sys.stdout is not None and sys.stdout.isatty():
        return shutil.get_terminal_size((WIDTH, 24)).columns
    return pipe_width()


def show_json(document: Any) -> None:
    """Print one JSON document on standard output, escaped where its encoding lacks a character."""
    import json

    text = as_json(document) + "\n"
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = re.sub("[^\x00-\x7f]", lambda c: json.dumps(c[0])[1:-1], text)
    put(text)


def as_json(document: Any) -> str:
    """Return readable JSON: NaN becomes null, and infinities the words "inf" and "-inf"."""
    import json

    text = json.dumps(_plain(document), indent=2, allow_nan=False, ensure_ascii=False)
    return re.sub(
        r"[^ -~\n]", lambda c: c[0] if c[0].isprintable() else json.dumps(c[0])[1:-1], text
    )


def note(text: str) -> None:
    """Write a line on standard error, after standard output was flushed."""
    try:
        flush()
    except OSError:
        give_up_stdout()
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{printable(text)}\n")
            sys.stderr.flush()


def flush() -> None:
    """Flush standard output, and name it in an error."""
    if sys.stdout is not None:
        with named_errors():
            sys.stdout.flush()


def give_up_stdout() -> None:
    """Replace a standard output that cannot be written to, so that exit does not flush it."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return None
        return str(value)
    return value

"""Printing for people: width and colours as the terminal has them, plain text in a pipe."""

from __future__ import annotations

import json
import math
import os
import sys
from typing import Any

#: Columns of a table that goes to a file or into a pipe.
WIDTH = 100


def show(renderable: Any) -> None:
    """Print something that rich can print on standard output.

    Colours are left out in a pipe and where ``NO_COLOR`` is set; a table is as wide as the
    terminal, or as ``COLUMNS`` says.
    """
    from rich.console import Console

    from bioeval.tables import plain

    if sys.stdout.isatty():
        Console(highlight=False, emoji=False, markup=False).print(renderable)
        return
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() and int(columns) else WIDTH
    sys.stdout.write(plain(renderable, width))


def show_json(document: Any) -> None:
    """Print one JSON document, and nothing else, on standard output."""
    print(as_json(document))


def as_json(document: Any) -> str:
    """Return JSON text: NaN becomes null, and infinities the words "inf" and "-inf"."""
    return json.dumps(_plain(document), indent=2, allow_nan=False, ensure_ascii=False)


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

"""Results as the plain text of their table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bioeval.views.tables.layout import plain
from bioeval.views.tables.result_table import ResultTable


def as_text(results: Any, width: int = 100, reword: Callable[[str], str] | None = None) -> str:
    return plain(ResultTable(results, reword), width)

"""The kinds of matrices that are no arrays."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any


class RowSource(Enum):
    """The kinds of matrices that are no arrays, by the source of their rows."""

    EMBEDDINGS = auto()  # computed each time
    LAZY_MATRIX = auto()  # made of embeddings when rows are first read
    CONTAINER = auto()  # read from a file in chunks


def row_source(values: Any) -> RowSource | None:
    """Return the source of the rows of a matrix; None for an array."""
    return getattr(values, "row_source", None)

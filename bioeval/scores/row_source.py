"""The sources of rows of matrices that are no arrays."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any


class RowSource(Enum):
    """The source that computes or reads the rows of a matrix which is no array."""

    EMBEDDINGS = auto()  # computed each time
    LAZY_MATRIX = auto()  # made of embeddings when rows are first read
    CONTAINER = auto()


def row_source(values: Any) -> RowSource | None:
    """Return the source of the rows of a matrix; None for an array."""
    return getattr(values, "row_source", None)

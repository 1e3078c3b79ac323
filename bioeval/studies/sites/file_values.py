"""Whether what was read from a file is what it should be: no value is taken on trust."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_increasing(values: Any) -> bool:
    """Whether a value is a list of strictly increasing numbers."""
    return is_array(values, "f") and not np.isnan(values).any() and rises(values, strictly=True)


def rises(values: np.ndarray, *, strictly: bool) -> bool:
    """Whether no number is smaller than the one before, or each is larger."""
    later, earlier = values[1:], values[:-1]
    return bool((later > earlier if strictly else later >= earlier).all())


def is_array(value: Any, kind: str, dimensions: int = 1) -> bool:
    """Whether a value is an array of a kind of numbers."""
    right = isinstance(value, np.ndarray) and value.ndim == dimensions
    return right and value.dtype.kind == kind


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of at least 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_table(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value is a table of counts of a shape."""
    right = isinstance(value, np.ndarray) and value.dtype == np.int64 and value.shape == shape
    return right and value.ndim == 2 and not (value < 0).any()

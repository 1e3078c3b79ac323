"""Variables that data determine in part: the value where it is known, else its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bioeval.base.scalars import Name
from bioeval.base.variables import bounds
from bioeval.results.dataset import Variables

#: The dimensions of a variable, and its lower and upper bound.
Bounded = tuple[tuple[str, ...], Any, Any]


def bounded_variables(given: Mapping[str, Bounded]) -> Variables:
    """Return each variable ``X`` where its bounds are equal, NaN elsewhere, beside its bounds.

    Where it is known throughout, it stands alone; where it is known nowhere, its bounds
    ``X_at_least`` and ``X_at_most`` do.
    """
    found: Variables = {}
    for name, (dims, one, other) in given.items():
        # A bound that is NaN, as a threshold that may not exist, leaves that side open.
        low, high = np.fmin(one, other), np.maximum(one, other)
        known = (low == high) | np.isnan(low)
        if known.all():
            found[name] = dims, low
            continue
        if known.any():
            found[name] = dims, np.where(known, low, np.nan)
        found[f"{name}_at_least"], found[f"{name}_at_most"] = (dims, low), (dims, high)
    return found


def with_bounds(names: Mapping[str, Name]) -> dict[str, Name]:
    """Return the names of variables with those of their bounds."""
    more: dict[str, Name] = {}
    for name, each in names.items():
        more |= bounds(name, each.long_name, each.units)
    return more | dict(names)

"""Acceptance strictly beyond a threshold, in place of at or beyond it.

Attempts are counted as accepted at or within a threshold, ``d <= t``. Accepted strictly within it,
``d < t``, are those at or within the next stricter float; and an operating point that accepts up to
a score, inclusive, has the next looser float as its threshold. So nothing else is counted: given
thresholds are moved by one float before, and all thresholds of a result back after.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.kinds import larger_is_closer
from bioeval.tallies.thresholds import check_thresholds

#: Whether a score at the threshold is accepted, or only those beyond it.
Accept = Literal["at", "beyond"]
ACCEPT: tuple[Accept, ...] = get_args(Accept)


def check_accept(accept: Any) -> Accept:
    """Return whether scores are accepted at or strictly beyond a threshold."""
    require_choice("accept", accept, ACCEPT)
    return accept


def _loosest(kind: str) -> float:
    """Return the threshold that accepts every score."""
    return -np.inf if larger_is_closer(kind) else np.inf


def stricter(thresholds: Any, kind: str, accept: Accept) -> Any:
    """Return the thresholds at which attempts are counted that are accepted at given ones.

    None and a number of thresholds are returned as they are.
    """
    grid = check_thresholds(thresholds)
    if accept == "at" or not isinstance(grid, np.ndarray):
        return grid
    if (grid == -_loosest(kind)).any():
        raise DataError(
            Argument("thresholds"),
            f" hold {-_loosest(kind)}, and no score is beyond it; leave it out",
        )
    with np.errstate(over="ignore"):
        return np.nextafter(grid, -_loosest(kind))


def looser(values: Any, kind: str, accept: Accept) -> Any:
    """Return the thresholds beyond which scores are accepted, of those at which they are.

    The threshold that rejects all stays infinite.
    """
    if accept == "at":
        return values
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore"):  # beyond the largest float lies infinity
        moved = np.nextafter(values, _loosest(kind)) + 0.0  # which turns the other zero into 0
    return np.where(values == -_loosest(kind), values, moved)


def accepted_by(dataset: xr.Dataset, kind: str, accept: Accept) -> xr.Dataset:
    """Return a result counted at :func:`stricter` thresholds, with the thresholds of `accept`.

    Raise :class:`DataError` if scores are infinite: no threshold accepts these and is beyond them.
    """
    if accept == "at":
        return dataset
    moved = {}
    for name, variable in dataset.variables.items():
        if variable.attrs.get("units") == "score":
            if _at_infinite_scores(dataset, str(name), kind):
                raise DataError(
                    Argument("accept", "beyond"),
                    " has no threshold for scores that are infinite, or for failed comparisons of ",
                    Argument("nan", "reject"),
                    "; leave these comparisons out, state the thresholds, or give ",
                    Argument("accept", "at"),
                )
            moved[name] = looser(variable.values, kind, accept)
    result = dataset.copy()
    for name, values in moved.items():
        if name in dataset.coords:
            result = result.assign_coords({name: (name, values, dataset[name].attrs)})
        else:
            result[name] = dataset[name].copy(data=values)
    return result.assign_attrs(accept=accept)


def _at_infinite_scores(dataset: xr.Dataset, name: str, kind: str) -> bool:
    """Whether a threshold is that of infinite scores."""
    values = dataset[name].values
    if (values == _loosest(kind)).any():
        return True
    # The strictest one rejects all, and is a row, or no point, only where it is a score.
    if name == "threshold":
        return bool((values == -_loosest(kind)).any())
    if name == "zero_far_threshold":
        accepts_some = values == -_loosest(kind) and dataset["zero_far"].values < 1
        return bool(accepts_some or (np.isnan(values) and not np.isnan(dataset["zero_far"].values)))
    if name == "threshold_at_far" and "dir_at_far" in dataset:
        return bool(((values == -_loosest(kind)) & (dataset["dir_at_far"].values > 0)).any())
    return False

"""Half-open bins of time, or of age: edges, a number of bins, or months and the like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.scores.enrolment_times import as_times, missing

#: Calendar units, as numpy names them.
UNITS = {"year": "Y", "month": "M", "day": "D", "hour": "h"}

MOST_BINS = 10_000


@dataclass(frozen=True)
class TimeBins:
    """Bins ``edges[b] <= time < edges[b + 1]``.

    Attributes
    ----------
    edges : array of times, shape (bins + 1,)
    codes : int64 array
        The bin of each time; -1 where it is missing or in no bin.
    """

    edges: np.ndarray
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.edges) - 1

    @classmethod
    def of(cls, times: np.ndarray, bins: Any) -> TimeBins:
        """Return the bins of some times; see `bins` of :func:`bioeval.over_time`."""
        known = times[~missing(times)]
        if not len(known) or times.dtype.kind == "f" and not np.isfinite(known).all():
            raise DataError(
                "there is no time to divide into bins: all are missing"
                if not len(known)
                else "an infinite time has no place in a bin; expected finite times"
            )
        if isinstance(bins, str) and not bins.isdecimal():
            edges = _calendar(known, bins)
        elif np.ndim(bins) == 0:
            number = require_integer("bins", bins, low=1, high=MOST_BINS)
            edges = _equal(known, number)
        else:
            edges = _given(times.dtype, bins)
        if len(edges) > MOST_BINS + 1:
            raise DataError(
                f"{Argument('bins')} makes {len(edges) - 1:,} bins; expected at most {MOST_BINS:,}"
            )
        codes = np.searchsorted(edges, times, side="right") - 1
        codes[(codes >= len(edges) - 1) | missing(times)] = -1
        return cls(edges, codes.astype(np.int64))


def _calendar(known: np.ndarray, unit: str) -> np.ndarray:
    """Return the beginnings of the months, or the like, that there are times in."""
    require_choice("bins", unit, UNITS)
    if known.dtype.kind != "M":
        raise DataError(
            f"{Argument('bins', unit)} needs dates, but times are numbers; give edges, or a number "
            "of bins"
        )
    first, last = (x.astype(f"datetime64[{UNITS[unit]}]") for x in (known.min(), known.max()))
    if (last - first).astype(np.int64) >= MOST_BINS:
        raise DataError(f"{Argument('bins', unit)} makes more than {MOST_BINS:,} bins")
    return np.arange(first, last + 2).astype("datetime64[us]")


def _equal(known: np.ndarray, number: int) -> np.ndarray:
    """Return edges of equal width, of days to a day, the last one just above the last time."""
    low, high = known.min(), known.max()
    if known.dtype.kind == "M":
        # Of whole days, days.
        days = known.astype("datetime64[D]")
        unit = "datetime64[D]" if (days == known).all() else "datetime64[us]"
        start, stop = (int(x.astype(unit).astype(np.int64)) for x in (low, high))
        ends = [start + (stop + 1 - start) * k // number for k in range(number + 1)]
        return np.unique(np.array(ends)).view(unit).astype("datetime64[us]")
    last = np.nextafter(np.float64(high), np.inf)
    edges = np.linspace(float(low), float(high), number + 1)
    edges[-1] = last
    return np.unique(edges) if low < high else np.array([float(low), last])


def _given(dtype: np.dtype, bins: Any) -> np.ndarray:
    """Return the edges that were given, checked."""
    name = str(Argument("bins"))
    edges = as_times(np.asarray(bins), name)
    if edges.ndim != 1 or len(edges) < 2 or missing(edges).any() or (edges[1:] <= edges[:-1]).any():
        raise DataError(f"{name} is {bins!r}; expected two or more increasing edges")
    if (edges.dtype.kind == "M") != (dtype.kind == "M"):
        kinds = ("dates", "numbers") if edges.dtype.kind == "M" else ("numbers", "dates")
        raise DataError(f"{name} has {kinds[0]}, but times are {kinds[1]}")
    return edges

"""Thresholds given by a user, the default grid, and the cells that it lies on.

Inside bioeval everything is a distance: similarities are negated when they are read, and their
thresholds with them. :func:`to_internal` and :func:`to_user` are the only places that know.

A cell is ``((k - 1) w, k w]`` with ``w = 2 ** exponent``: its edges are exact floats, a score's
cell is found without rounding, and two neighbours make one cell of the next exponent. That is why
counts over parts of the data can be joined into those of the whole.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.base.arguments import as_float64, require_integer, require_numbers
from bioeval.base.array_libraries import as_numpy
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.scores.matrix import Scores

DEFAULT_COUNT = 1000

# The largest number of evenly spaced thresholds.
MOST = 10_000_000


#: The thresholds of a curve: increasing values in the units of the scores, their number, or None
#: for the default.
CurveThresholds = np.ndarray | int | None


def curve_thresholds(thresholds: Any, n_thresholds: Any) -> CurveThresholds:
    """Return the thresholds of a curve, by their values or by their number, checked."""
    if n_thresholds is None:
        return None if thresholds is None else check_thresholds(thresholds)
    if thresholds is not None:
        raise DataError(
            "`thresholds` and `n_thresholds` are both given; expected either the values of the "
            "thresholds, or how many a curve has"
        )
    return require_integer("n_thresholds", n_thresholds, low=2, high=MOST)


def check_thresholds(thresholds: Any, name: str = "thresholds") -> np.ndarray:
    """Return thresholds, a number or several, as an increasing float64 array."""
    thresholds, argument = as_numpy(thresholds, name), f"`{name}`"
    try:
        array = np.atleast_1d(np.asarray(thresholds))
    except (ValueError, TypeError, RuntimeError) as error:
        raise DataError(f"{argument} is not an array of numbers: {error}") from None
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise DataError(
            f"{argument} has shape {array.shape} and dtype {array.dtype}; expected a number, or "
            "several in increasing order"
        )
    array = np.atleast_1d(as_float64(name, thresholds))
    if np.isnan(array).any():
        raise DataError(f"{argument}[{int(np.argmax(np.isnan(array)))}] is NaN")
    falls = np.nonzero(~(array[1:] > array[:-1]))[0]
    if len(falls):
        i = int(falls[0])
        raise DataError(
            f"{argument} do not increase: {argument}[{i + 1}] = {array[i + 1]:g} after "
            f"{array[i]:g} ({len(falls)} such places); sort them and drop repeats. They increase "
            "for similarities too"
        )
    return array


def check_extra(thresholds: Any) -> np.ndarray | None:
    """Return thresholds in addition to a grid as an increasing float64 array, or None."""
    if thresholds is None:
        return None
    name = "`extra_thresholds`"
    try:
        array = np.atleast_1d(require_numbers("extra_thresholds", thresholds))
    except DataError:
        array = np.array([np.nan])
    if array.ndim != 1 or not np.isfinite(array).all():
        raise DataError(f"{name} is {received(thresholds)}; expected finite numbers")
    return np.unique(array)


def require_values(scores: Scores, task: str) -> None:
    """Raise :class:`ProtocolError` where one threshold for all rows is meaningless."""
    if scores.kind == "order":
        raise ProtocolError(
            f"{task} compares scores of different rows with one threshold, but these scores hold "
            'only the order within each row (`kind="order"`); closed_set and ranks '
            "can use them"
        )


def require_two_sets(train: Scores, test: Scores, task: str) -> None:
    """Raise unless a threshold of a training set means the same on another set."""
    for scores in (train, test):
        require_values(scores, task)
    if train.kind != test.kind:
        raise DataError(
            f"`train` holds {train.kind} scores and `test` {test.kind} scores; "
            "a threshold of one means nothing to the other"
        )


def to_internal(thresholds: np.ndarray, kind: str) -> np.ndarray:
    """Convert a user's increasing thresholds to increasing distances."""
    return -thresholds[::-1] if kind in LARGER_IS_CLOSER else thresholds


def to_user(values: Any, kind: str) -> Any:
    """Convert a distance to the user's units (a scalar or an array, order kept)."""
    # Adding 0.0 turns the other zero into plain 0.
    return 0.0 - values if kind in LARGER_IS_CLOSER else 0.0 + values


def default_grid(low: float, high: float, exponent: int, count: int) -> np.ndarray:
    """Return about `count` evenly spaced thresholds that lie on cell edges of an exponent.

    The first lies just below the smallest finite score, so that nothing is accepted there; the last
    is not below the largest, so that everything finite is. There are none if ``low > high``.
    """
    if not low <= high:
        return np.empty(0)
    first, last = cell_of(low, exponent) - 1, cell_of(high, exponent)
    step = max(1, round((last - first) / (count - 1)))
    number = -(-(last - first) // step) + 1
    with np.errstate(over="ignore"):
        grid = np.ldexp(first + step * np.arange(number, dtype=np.float64), exponent)
    # Past the largest float there is no finite edge, nor a finite score.
    return np.minimum(grid, sys.float_info.max)


def linear_grid(low: float, high: float, count: int | None) -> np.ndarray:
    """Return `count` thresholds evenly spaced from the smallest to the largest finite score."""
    if count is None:
        count = DEFAULT_COUNT
    if not low <= high:
        return np.empty(0)
    # Halves, whose difference is finite, only where the range is not.
    half = 1.0 if math.isfinite(high - low) else 0.5
    grid = np.linspace(half * low, half * high, count) / half
    grid[-1] = high
    return np.unique(grid)


def grid_over(
    low: float, high: float, *infinite: bool, number: int | None = None, count: int | None = None
) -> np.ndarray:
    """Return a given number of evenly spaced thresholds over a range, or about `count` of a grid.

    `infinite` says whether -inf and +inf are scores.
    """
    if number is None:
        exponent = cell_exponent(low, high) if low <= high else 0
        grid = default_grid(low, high, exponent, count or DEFAULT_COUNT)
    else:
        grid = linear_grid(low, high, number)
    return with_infinities(grid, *infinite)


def with_infinities(grid: np.ndarray, negative: bool, positive: bool) -> np.ndarray:
    """Add infinite thresholds where scores are infinite, or where there are no others."""
    parts = [grid]
    if negative and not (len(grid) and grid[0] == -np.inf):
        parts.insert(0, np.array([-np.inf]))
    if positive or (not negative and len(grid) == 0):
        parts.append(np.array([np.inf]))
    return np.concatenate(parts)


# -------------------------------------------------------------------------------------------- cells

# Finest cells of a count: at most this many between the smallest and the largest score.
CELLS = 1 << 12

# No cell is narrower than this power of two, so that its inverse stays finite.
LEAST_EXPONENT = -1022


@dataclass(frozen=True)
class CellGrid:
    """Consecutive cells of one width: cell ``k`` is ``((k - 1) w, k w]``, ``w = 2 ** exponent``."""

    exponent: int
    first: int
    count: int

    @classmethod
    def covering(cls, low: float, high: float) -> CellGrid:
        """Return the narrowest cells, at most `CELLS` of them, that cover ``low..high``."""
        exponent = cell_exponent(low, high)
        first = cell_of(low, exponent)
        return cls(exponent, first, cell_of(high, exponent) - first + 1)

    @property
    def edges(self) -> np.ndarray:
        """The upper edge of each cell; infinite past the largest float."""
        numbers = self.first + np.arange(self.count, dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.ldexp(numbers, self.exponent)

    def places_of(self, values: np.ndarray) -> np.ndarray:
        """Return the place of each value's cell, 0 for the first cell, as a float.

        Places outside the grid are returned as they are; infinite values have infinite ones.
        """
        with np.errstate(over="ignore"):
            k = np.ceil(np.ldexp(values, -self.exponent))
            return k + (np.ldexp(k, self.exponent) < values) - self.first


@dataclass
class CellCounts:
    """Scores counted into the cells of a :class:`CellGrid`, and infinite ones.

    The exponent is the least whose cells cover the scores (:func:`cell_exponent`); it follows
    from the scores alone, so merged counts have the very cells that counting everything at once
    would have had. The first and the last cell are not empty.
    """

    exponent: int = 0
    first: int = 0
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    negative_infinite: int = 0
    positive_infinite: int = 0

    @classmethod
    def of(
        cls, upper: np.ndarray, counts: np.ndarray, least: np.ndarray, *infinite: int
    ) -> CellCounts:
        """Return about how many scores are in cells: those up to each of increasing numbers.

        The cells begin at the `least` score, if one is given.
        """
        if not len(upper):
            return cls(0, 0, np.zeros(0, np.int64), *infinite)
        grid = CellGrid.covering(float(min([*least, upper[0]])), float(upper[-1]))
        places = np.clip(grid.places_of(upper), 0, grid.count - 1).astype(np.int64)
        in_cells = np.bincount(places, counts, minlength=grid.count).astype(np.int64)
        return cls(grid.exponent, grid.first, in_cells, *infinite)

    @property
    def grid(self) -> CellGrid:
        """The cells."""
        return CellGrid(self.exponent, self.first, len(self.counts))

    @property
    def range(self) -> tuple[float, float]:
        """Upper edges of the first and the last cell; (inf, -inf) without finite scores."""
        if not len(self.counts):
            return math.inf, -math.inf
        low, high = self.grid.edges[[0, -1]].tolist()
        # Past the largest float there is no finite edge, nor a finite score.
        return low, min(high, sys.float_info.max)

    @property
    def ends(self) -> tuple[float, float]:
        """Numbers below and above all finite scores, which are counted to about a cell."""
        low, high = self.range
        return low - math.ldexp(3.0, self.exponent), high + math.ldexp(2.0, self.exponent)


def cell_exponent(low: float, high: float, cells: int = CELLS) -> int:
    """Return the exponent of the narrowest cells that cover ``low..high`` in `cells` cells.

    It depends on the range alone and grows with it.
    """
    largest = max(abs(low), abs(high))
    least = LEAST_EXPONENT
    if largest > 0:
        # Edges must be exact: no finer than the spacing of floats at the largest score.
        least = max(least, math.frexp(largest)[1] - 53)
    exponent = least
    span = math.ldexp(high / 2.0 - low / 2.0, 1 - least) if high > low else 0.0
    if span >= cells:
        exponent = max(least, least + math.frexp(span / cells)[1] - 1)
    while cell_of(high, exponent) - cell_of(low, exponent) >= cells:
        exponent += 1
    while exponent > least and cell_of(high, exponent - 1) - cell_of(low, exponent - 1) < cells:
        exponent -= 1
    return exponent


def joint_exponent(exponent: int, ranges: Sequence[tuple[float, float]]) -> int:
    """Return the least exponent, at least the one given, such that cells cover all the ranges.

    That of two parts joined is that of the whole, however the whole was divided.
    """
    ranges = [(low, high) for low, high in ranges if low <= high]
    if not ranges:
        return exponent
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    while cell_of(high, exponent) - cell_of(low, exponent) >= CELLS:
        exponent += 1
    return exponent


def cell_of(value: float, exponent: int) -> int:
    """Return the number ``k`` of the cell ``((k - 1) 2**e, k 2**e]`` of a finite value."""
    k = math.ceil(math.ldexp(value, -exponent))  # exact, unless it is 0 for want of digits
    return 1 if k == 0 and value > 0 else k


def is_accepted(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return which distances a threshold accepts, compared without rounding; NaN accepts none.

    A plain ``distances <= threshold`` rounds a threshold that is no array to the dtype of the
    distances: 5e-324 becomes 0 beside float32.
    """
    return distances <= rounded_down(np.array([threshold]), distances.dtype)


def rounded_down(ends: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the largest numbers of a dtype that are not above the ends.

    A score of the dtype is above the one exactly when it is above the other, so that intervals
    keep their meaning.
    """
    with np.errstate(over="ignore"):
        near = ends.astype(dtype)
        return np.where(near > ends, np.nextafter(near, dtype.type(-np.inf)), near)


# -------------------------------------------------------------------------------------------- grids


def extent_of(scores: np.ndarray) -> tuple[float, float, bool, bool]:
    """Return the least and the largest finite score, and whether -inf and +inf are scores."""
    finite = scores[np.isfinite(scores)]
    low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
    infinite = bool((scores == -np.inf).any()), bool((scores == np.inf).any())
    return float(low), float(high), *infinite


# Places of the guide into thresholds: at least this many, and about four a threshold.
LEAST_GUIDE, LARGEST_GUIDE = 1 << 12, 1 << 20


def places_among(values: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return ``thresholds.searchsorted(values)``, sooner where many values are in no order.

    No value is NaN.
    """
    values = values.astype(np.float64, copy=False)
    base, scale, guide = guide_to(thresholds)
    with np.errstate(all="ignore"):  # without a scale an infinite value is in cell 0, as all are
        cell = np.fmin(np.fmax((values - base) * scale, 0), len(guide) - 2)
    place = guide[cell.astype(np.int64)]
    ends = np.append(thresholds, np.inf)
    later = np.flatnonzero(ends[place] < values)
    for _ in range(3):
        place[later] += 1
        later = later[ends[place[later]] < values[later]]
    place[later] = thresholds.searchsorted(values[later])
    return place


def guide_to(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return base, scale and first threshold of each place; see `threshold_of`."""
    places = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = 1.0
        if len(finite) > 1:
            scale = float(np.float64(places - 1) / (finite[-1] - base))
        place = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale, place = 0.0, np.zeros(len(thresholds))
    place = np.where(place > 0, np.minimum(place, places - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(place, np.arange(places + 1))

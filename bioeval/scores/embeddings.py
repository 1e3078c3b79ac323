"""Distances between embeddings, computed for the rows that are read.

:class:`EmbeddingSource` stands for the matrix of all distances, which is never needed whole::

    for i, p in enumerate(probe):  # (m, f)
        for j, g in enumerate(gallery):  # (n, f)
            distance[i, j] = norm(p - g)  # metric "l2"

For speed, most distances come from products of vectors, ``|p|^2 + |g|^2 - 2 p g``. Where two
vectors are nearly equal, the subtraction loses digits, and the distance is computed in float64 from
the difference of the embeddings as they were given: equal embeddings have the distance 0 exactly.

A matrix of up to 131,072 columns (65,536 in float64) is computed in tiles of fixed size and place,
so that a distance is the same to the last bit however many rows are read, and whether the matrix is
made or streamed. A set compared with itself has one tile for both directions of a pair: the matrix
is symmetric. One thread computes a tile, and uses it while it is in the cache of its core.

The last digits of a product depend on the linear algebra library and on the shape of its operands:
digits may differ on other machines, among templates with equal embeddings, and in selections of
single rows or columns. In float32 a distance is good to about 1e-6 of the lengths of its vectors,
and to 1e-7 of itself where the vectors are near: where the squared distance is below a thousandth
of the squared lengths.

The file has the source, the distances of a tile and of single pairs, the names of metrics, the
vectors that are compared (:class:`Side`), and the threads of linear algebra, in this order.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Literal, Self, get_args

import numpy as np

from bioeval.base.arguments import as_numpy, require_choice
from bioeval.base.errors import DataError, counted, received
from bioeval.base.kinds import METRICS, VALUED, Kind, MetricName
from bioeval.base.options import in_turns, row_spans
from bioeval.kernels.compiling import writable_alias
from bioeval.kernels.rows import Embeddings, finish_euclidean
from bioeval.scores.blocks import is_few

#: Templates on each side of a tile of distances.
TILE = 256

#: The most columns of a matrix that is computed in tiles, with distances of 4 bytes (half as many
#: with 8): the rows of a tile may not fit into memory if they are longer.
MOST_COLUMNS = 1 << 17

#: A matrix of at least this number of distances is made only if its rows are read.
LEAST_LAZY = 1 << 23

#: Values that are computed together: 32 MiB of float64.
VALUES_AT_ONCE = 1 << 22

# Values that stay in the cache of a core: 512 KiB of float64.
_CACHED_VALUES = 1 << 16

_MAKING = threading.Lock()  # one matrix is made at a time


class EmbeddingSource:
    """The matrix of distances between embeddings, whose rows are computed when they are read.

    `probe` has the shape (m, f) and `gallery` (n, f). A callable metric gets two blocks, ``(b, f)``
    and ``(n, f)``, and returns their scores, ``(b, n)``.
    """

    ndim = 2

    def __init__(
        self, probe: np.ndarray, gallery: np.ndarray, metric: Metric, dtype: str = "float64"
    ):
        metric = known_metric(metric)
        require_choice("dtype", dtype, get_args(FloatType))
        if probe.shape[1] != gallery.shape[1]:
            raise DataError(
                f"probe embeddings have {probe.shape[1]} features and gallery embeddings "
                f"{gallery.shape[1]}; expected the same number"
            )
        self.metric = metric
        self.dtype = np.dtype(dtype)
        self.embeddings = probe, gallery  # as they were given
        self.shape = (len(probe), len(gallery))
        self.near_share = self.dtype.type(NEAR[self.dtype.name])

        # The vectors that are compared, of probes and of the gallery: the embeddings, or unit
        # vectors, multiplied by `scale`, which keeps squares in range.
        self.sides: tuple[Side, ...] = ()  # empty with a callable metric
        self.scale = 1.0
        if not callable(metric):
            self.sides, self.scale = scaled_sides(probe, gallery, metric, self.dtype)
        self._tiles_of_sides: dict[tuple[int, int], Side] = {}  # by side and number of the tile

        # Rows that are computed together; 1: the rows that are read, alone.
        is_too_wide = len(gallery) * self.dtype.itemsize > 4 * MOST_COLUMNS
        self.tile = 1 if callable(metric) or is_too_wide else TILE

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again, so that little is sent to another process."""
        return self.__dict__ | {"_tiles_of_sides": {}}

    def require_kind(self, kind: Kind) -> None:
        kind_of_metric(self.metric, kind)

    @property
    def features(self) -> int:
        return self.embeddings[1].shape[1]

    @property
    def failed(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Which templates of both sides fail in every comparison; None with a callable metric."""
        if callable(self.metric):
            return None
        return np.isnan(self.sides[0].squared), np.isnan(self.sides[1].squared)

    @property
    def symmetric(self) -> bool:
        """Whether a set is compared with itself by a metric of :data:`METRICS`."""
        return self.embeddings[0] is self.embeddings[1] and not callable(self.metric)

    @property
    def _is_large(self) -> bool:
        return math.prod(self.shape) >= LEAST_LAZY

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the distances of some probes (a slice or indices) to the whole gallery."""
        index = np.arange(self.shape[0])[rows]
        if index.ndim == 0:  # a single row
            return self[index[None]][0]
        is_run = (np.diff(index) == 1).all()
        if self.tile == 1 or not is_run:
            return self.of_rows(rows)
        low = int(index[0]) if len(index) else 0
        return self.read(low, low + len(index))

    def matrix(self) -> np.ndarray | LazyMatrix:
        """Return all rows as an array; of a large matrix, one that is made when it is read.

        Before it is made, distances may be counted in other tiles, which must have the same bits.
        """
        can_wait = self._is_large and not callable(self.metric)
        if can_wait and same_in_any_tile(self.features, self.dtype):
            return LazyMatrix(self)
        return self.whole()

    def whole(self) -> np.ndarray:
        if self.tile > 1:
            return self.read(0, self.shape[0])
        out = np.empty(self.shape, dtype=self.dtype)
        for low, high in row_spans(*self.shape, VALUES_AT_ONCE):
            out[low:high] = self.of_rows(slice(low, high))
        return out

    def read(self, low: int, high: int) -> np.ndarray:
        """Return the distances of rows ``low:high``, computed in tiles."""
        is_part_of_tile = high - low < TILE
        if self._is_large and is_part_of_tile and same_in_any_tile(self.features, self.dtype):
            return self.of_rows(slice(low, high))  # a tile would compute more rows

        # Tile (i, j) has the rows from i * TILE and the columns from j * TILE on. In a symmetric
        # matrix, a tile below the diagonal is the mirror image of one above, if that is read, too.
        bands = range(low // TILE, _number_of_tiles(high))
        tiles = [
            (i, j)
            for i in bands
            for j in range(_number_of_tiles(self.shape[1]))
            if not (self.symmetric and j < i and j in bands)
        ]
        out = np.empty((high - low, self.shape[1]), dtype=self.dtype)

        def store(distances: np.ndarray, i: int, j: int) -> None:
            """Write the rows of tile ``(i, j)`` that are read; `out` begins at row `low`."""
            first, last = max(low, i * TILE), min(high, (i + 1) * TILE)
            columns = slice(j * TILE, (j + 1) * TILE)
            out[first - low : last - low, columns] = distances[first - i * TILE : last - i * TILE]

        def compute(turns: Iterator[int]) -> None:
            buffer = np.empty(TILE**2, dtype=self.dtype)
            for turn in turns:
                i, j = tiles[turn]
                distances = self._distances_of_tile(i, j, buffer)
                store(distances, i, j)
                if self.symmetric and i < j and j in bands:
                    store(distances.T, j, i)

        on_all_threads(compute, len(tiles))
        return out

    def _distances_of_tile(self, i: int, j: int, buffer: np.ndarray) -> np.ndarray:
        """Return the distances of a tile, in the memory of `buffer` where the metric can."""
        if self.symmetric and j < i:
            return self._distances_of_tile(j, i, buffer).T
        probe, gallery = self._tile_of_side(0, i), self._tile_of_side(1, j)
        return self.distances(probe, gallery, str(self.metric), buffer)

    def _tile_of_side(self, side: int, tile: int) -> Side:
        """Return the templates of a tile, which are kept, with their padded vectors."""
        key = (0 if self.symmetric else side, tile)
        if key not in self._tiles_of_sides:
            self._tiles_of_sides[key] = self.sides[side][tile * TILE : (tile + 1) * TILE]
        return self._tiles_of_sides[key]

    def of_rows(self, rows: Any, columns: Any = slice(None)) -> np.ndarray:
        """Return the distances of some rows from anywhere; no other rows are computed."""
        metric = self.metric
        if callable(metric):
            probes, templates = self.embeddings[0][rows], self.embeddings[1][columns]
            out = np.asarray(as_numpy(metric(probes, templates), "the scores of the metric"))
            expected = (len(probes), len(templates))
            if out.shape != expected or out.dtype.kind not in "biuf":
                raise DataError(
                    f"the metric returned shape {out.shape}, dtype {out.dtype}; expected real "
                    f"distances of shape {expected}"
                )
            return out.astype(self.dtype, copy=False)
        probe, gallery = self.sides[0][rows], self.sides[1][columns]
        distances = np.empty((len(probe.vectors), len(gallery.vectors)), dtype=self.dtype)

        def compute(turns: Iterator[int]) -> None:
            buffer = np.empty(len(distances) * TILE, dtype=self.dtype)
            for turn in turns:
                tile = slice(turn * TILE, (turn + 1) * TILE)
                distances[:, tile] = self.distances(probe, gallery[tile], metric, buffer)

        on_all_threads(compute, _number_of_tiles(distances.shape[1]))
        return distances

    def pairs(self, probes: np.ndarray, templates: np.ndarray) -> np.ndarray:
        """Return the distances of the pairs ``(probes[i], templates[i])`` alone, in float64."""
        out = np.empty(len(probes))
        if callable(self.metric):
            for pair, (row, column) in enumerate(zip(probes, templates, strict=True)):
                out[pair] = self.of_rows(row[None], column[None])[0, 0]
            return self.unscaled(out)
        for low, high in row_spans(len(probes), self.features, VALUES_AT_ONCE):
            probe, gallery = self.sides[0][probes[low:high]], self.sides[1][templates[low:high]]
            out[low:high] = distances_of_pairs(probe, gallery, self.metric)
        return self.unscaled(out)

    def distances(self, probe: Side, gallery: Side, metric: str, buffer: np.ndarray) -> np.ndarray:
        """Return the distances between parts of both sides; `buffer` may be their memory."""
        if metric in ("l1", "linf"):
            return _city_block_or_largest(probe, gallery, metric).astype(self.dtype, copy=False)
        products = _products(probe, gallery, buffer)
        if metric == "bhattacharyya":
            return _bhattacharyya(products, probe, gallery, self.near_share)
        # Few scores are counted without compiling anything.
        finish = finish_few if is_few(math.prod(self.shape)) else finish_euclidean.on_one_thread
        sides = probe.for_kernels, gallery.for_kernels
        finish(products, 0, *sides, self.near_share, metric == "cosine")
        return self.unscaled(products)

    def unscaled(self, distances: np.ndarray) -> np.ndarray:
        """Return distances of the embeddings as given, from distances in `sides`."""
        if self.scale == 1.0:
            return distances
        with np.errstate(over="ignore"):
            return distances / self.dtype.type(self.scale)


class LazyMatrix:
    """All distances of an :class:`EmbeddingSource`, made when they are first read, and kept.

    Views of the same scores share the matrix. A single count takes the distances from the
    embeddings, tile by tile, and needs no matrix.
    """

    def __init__(self, embeddings: EmbeddingSource, is_counted: bool = False):
        self.embeddings = embeddings
        self.shape = embeddings.shape
        self.dtype = embeddings.dtype
        self._is_counted = is_counted  # whether the distances were counted once without the matrix
        self._matrix: np.ndarray | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a matrix that is made as an array, otherwise the embeddings."""
        if self._matrix is not None:
            return np.asarray, (self._matrix,)
        return LazyMatrix, (self.embeddings, self._is_counted)

    @property
    def is_made(self) -> bool:
        return self._matrix is not None

    def made(self) -> np.ndarray:
        """Return the matrix, which is made now if this is the first time."""
        with _MAKING:
            if self._matrix is None:
                self._matrix = self.embeddings.whole()
            return self._matrix

    def begin_count(self) -> bool:
        """Return whether this is the first count, for which the matrix need not be made."""
        is_first = not self._is_counted
        self._is_counted = True
        return is_first


def _number_of_tiles(templates: int) -> int:
    return -(-templates // TILE)


# ------------------------------------------------------------------------- distances of two sides


#: A squared distance below this share of the squared lengths is summed from the differences.
NEAR = {"float64": 1e-6, "float32": 1e-3}


def _city_block_or_largest(probe: Side, gallery: Side, metric: str) -> np.ndarray:
    """Return the sums (l1) or maxima (linf) of the differences, float64 (probes, templates)."""
    from scipy.spatial.distance import cdist

    distances = cdist(probe.exact, gallery.exact, "cityblock" if metric == "l1" else "chebyshev")
    # The largest difference (linf) passes over NaN, which marks failed templates.
    distances[np.isnan(probe.exact).any(axis=1)] = np.nan
    distances[:, np.isnan(gallery.exact).any(axis=1)] = np.nan
    return distances


def _products(probe: Side, gallery: Side, buffer: np.ndarray) -> np.ndarray:
    """Return the products of all vectors of both sides, (probes, templates), in `buffer`."""
    shape = len(probe.vectors), len(gallery.vectors)
    products = buffer[: math.prod(shape)].reshape(shape)
    rows, columns = probe.padded_vectors, gallery.padded_vectors
    if shape == (len(rows), len(columns)):  # without padding
        np.matmul(rows, columns.T, out=products)
    else:
        products[...] = np.matmul(rows, columns.T)[: shape[0], : shape[1]]
    return products


def _bhattacharyya(
    products: np.ndarray, probe: Side, gallery: Side, near_share: np.floating
) -> np.ndarray:
    """Return the distances ``-log(product)`` of unit vectors."""
    with np.errstate(divide="ignore"):
        distances = np.maximum(-np.log(products), 0.0)
    # A product near 1 is rounded; it is 1 less half the squared difference of the vectors.
    near_cells = np.flatnonzero(products > 1 - near_share)
    for low, high in row_spans(len(near_cells), probe.exact.shape[1], _CACHED_VALUES):
        i, j = np.divmod(near_cells[low:high], products.shape[1])
        difference = probe.exact[i]
        difference -= gallery.exact[j]
        distances[i, j] = -np.log1p(-np.einsum("ij,ij->i", difference, difference) / 2)
    return distances


def finish_few(
    products: np.ndarray, first: int, x: Embeddings, y: Embeddings, near: Any, cosine: bool
) -> None:
    """Turn products into distances as :func:`finish_euclidean` does, bit for bit, uncompiled."""
    products = products[:, first : first + len(y.squared)]
    total = x.squared[:, None] + y.squared
    products *= -2
    products += total  # squared distances
    total *= near
    near_pairs = np.argwhere(products < total)  # (pairs, 2)
    for low, high in row_spans(len(near_pairs), x.exact.shape[1], VALUES_AT_ONCE):
        row, column = near_pairs[low:high].T
        i, j = x.rows[row], y.rows[column]
        difference = x.exact[i] * x.factor[i, None]
        difference = difference - y.exact[j] * y.factor[j, None]
        # A cumulative sum adds feature after feature, as the loop does.
        products[row, column] = np.square(difference).cumsum(axis=1)[:, -1]
    if cosine:
        products *= 0.5
    else:
        np.sqrt(np.maximum(products, 0, out=products), out=products)


def distances_of_pairs(probe: Side, gallery: Side, metric: str) -> np.ndarray:
    """Return the distances between corresponding rows of the two sides, float64 (n,)."""
    probe_vectors = probe.exact * probe.factor[:, None]
    gallery_vectors = gallery.exact * gallery.factor[:, None]
    with np.errstate(over="ignore"):
        difference = np.abs(probe_vectors - gallery_vectors)
        if metric == "l1":
            return difference.sum(axis=1)
    if metric == "linf":
        return difference.max(axis=1)
    squared = np.einsum("ij,ij->i", difference, difference)
    if metric == "cosine":
        return squared / 2.0
    if metric == "l2":
        return np.sqrt(squared)

    # Bhattacharyya: the logarithm of the product, or of 1 - squared / 2 where it is near 1.
    with np.errstate(divide="ignore"):
        products = np.einsum("ij,ij->i", probe_vectors, gallery_vectors)
        far = np.maximum(-np.log(products), 0.0)
    is_near = squared < 2 * NEAR["float64"]
    near = -np.log1p(-np.where(is_near, squared, 0.0) / 2)
    return np.where(is_near, near, far)


# ------------------------------------------------------------------------------------------ metrics


#: Names of metrics in SciPy and scikit-learn, beside those of :data:`METRICS`.
_OtherName = Literal["euclidean", "manhattan", "cityblock", "chebyshev"]
_OTHER_NAMES: dict[str, MetricName] = {
    "euclidean": "l2",
    "manhattan": "l1",
    "cityblock": "l1",
    "chebyshev": "linf",
}

#: Metrics of embeddings: a name, or a function of probe and gallery embeddings.
Metric = MetricName | _OtherName | Callable[[np.ndarray, np.ndarray], np.ndarray]

#: Precision in which distances are computed.
FloatType = Literal["float64", "float32"]


def known_metric(metric: Metric) -> Metric:
    """Return the name of a metric in :data:`METRICS`, or the callable itself."""
    if callable(metric):
        return metric
    if isinstance(metric, str):
        metric = _OTHER_NAMES.get(metric, metric)
    require_choice("metric", metric, METRICS)
    return metric


def kind_of_metric(metric: Metric, kind: Kind | None) -> Kind:
    """Return the kind of the scores that a metric gives; with a callable, `kind` must say it."""
    known_metric(metric)
    if callable(metric):
        if kind is None:
            raise DataError(
                "`metric` is a function, and does not say whether smaller or larger "
                'scores are closer; give `kind="distance"` or `kind="similarity"`'
            )
        require_choice("kind", kind, VALUED)
        return kind
    if kind is not None and not (isinstance(kind, str) and kind == "distance"):
        raise DataError(
            f"`kind` is {received(kind)}, but the metric {metric!r} gives distances; "
            "leave the kind out, or give a function as metric"
        )
    return "distance"


def describe_metric(metric: Metric, embeddings: np.ndarray) -> str:
    name = f"metric {metric}"
    if callable(metric):
        name = f"function {getattr(metric, '__name__', type(metric).__name__)}"
    return f"{embeddings.shape[1]}-dimensional {embeddings.dtype} embeddings, {name}"


# ------------------------------------------------------------------ embeddings as they are compared


@dataclass
class Side:
    """The embeddings of one side, in the form in which they are compared."""

    #: (n, f), in the dtype of the distances: the vectors whose products are computed. Unit vectors
    #: (cosine), square roots of proportions (Bhattacharyya), otherwise the embeddings.
    vectors: np.ndarray
    #: float32 or float64 (n, f): ``exact * factor[:, None]`` are `vectors` before rounding, from
    #: which near pairs are computed.
    exact: np.ndarray
    factor: np.ndarray  # float (n,)
    squared: np.ndarray  # float (n,): the squared lengths of `vectors`; NaN of a failed template

    def __getitem__(self, rows: Any) -> Self:
        vectors = self.vectors[rows]
        exact = vectors if self.exact is self.vectors else self.exact[rows]
        return replace(
            self, vectors=vectors, exact=exact, factor=self.factor[rows], squared=self.squared[rows]
        )

    @cached_property
    def padded_vectors(self) -> np.ndarray:
        """The vectors, and rows of zeros up to the size that :func:`padded` gives."""
        templates, features = self.vectors.shape
        padding = padded(templates) - templates
        if padding == 0:
            return self.vectors
        zeros = np.zeros((padding, features), self.vectors.dtype)
        return np.concatenate([self.vectors, zeros])

    @cached_property
    def for_kernels(self) -> Any:
        exact = writable_alias(np.ascontiguousarray(self.exact))
        factor = writable_alias(np.ascontiguousarray(self.factor))
        return Embeddings(exact, factor, self.squared, np.arange(len(self.squared)))


def scaled_sides(
    probe: np.ndarray, gallery: np.ndarray, metric: str, dtype: np.dtype
) -> tuple[tuple[Side, Side], float]:
    """Return both sides as they are compared, and the factor by which embeddings are multiplied.

    The factor keeps the squares of Euclidean distances in range. If both sides are the same array,
    they are one :class:`Side`.
    """
    floats = [_as_floats(probe, metric, "probe embeddings", dtype)]
    if probe is not gallery:
        floats.append(_as_floats(gallery, metric, "gallery embeddings", dtype))
    scale = 1.0
    if metric == "l2":
        scale = _scale_of_squares(floats, dtype)
    if scale != 1.0:
        floats = [x * x.dtype.type(scale) for x in floats]
    sides = [_side_of(exact, metric, dtype) for exact in floats]
    return (sides[0], sides[-1]), scale


def _scale_of_squares(embeddings: list[np.ndarray], dtype: np.dtype) -> float:
    """Return the power of two by which squares of embeddings neither overflow nor vanish."""
    largest = max(float(np.nanmax(np.abs(x), initial=0.0)) for x in embeddings)
    info = np.finfo(dtype)
    exponent = math.frexp(largest)[1]
    # A square has twice the exponent, and a sum over features up to 16 more. The lower end leaves
    # room for values that are far smaller than the largest.
    is_in_range = info.minexp // 4 < exponent < info.maxexp // 2 - 16
    if largest == 0 or is_in_range:
        return 1.0
    # For subnormal numbers the power would overflow; the largest brings them into range.
    return 2.0 ** min(-exponent, info.maxexp - 1)


def _side_of(embeddings: np.ndarray, metric: str, dtype: np.dtype) -> Side:
    """Return the :class:`Side` of embeddings of type float32 or float64."""
    ones = np.ones(len(embeddings))
    if metric in ("l1", "linf"):  # no products: the lengths say which templates failed
        squared = np.where(np.isnan(embeddings).any(axis=1), np.nan, ones)
        return Side(embeddings, embeddings, ones, squared)
    if metric == "l2":
        vectors, exact, factor = embeddings.astype(dtype, copy=False), embeddings, ones
    else:
        vectors, exact, factor = _unit_vectors(embeddings, metric, dtype)
    return Side(vectors, exact, factor, np.einsum("ij,ij->i", vectors, vectors))


def _as_floats(values: np.ndarray, metric: str, input_name: str, dtype: np.dtype) -> np.ndarray:
    """Return checked embeddings as float32 or float64, which holds their values exactly."""
    # Unit vectors are computed in float64, block by block (`_unit_vectors`), so that the embeddings
    # themselves may stay float32.
    uses_unit_vectors = metric in ("cosine", "bhattacharyya")
    fits_in_float32 = values.dtype.itemsize <= 2 or values.dtype == np.float32
    is_float32 = fits_in_float32 and (uses_unit_vectors or dtype != np.float64)
    floats: np.ndarray = np.ascontiguousarray(values, np.float32 if is_float32 else np.float64)
    checked = floats
    if not uses_unit_vectors:  # embeddings of any length, which may overflow in `dtype`
        with np.errstate(over="ignore"):
            checked = floats.astype(dtype, copy=False)
    infinite = np.isinf(checked).any(axis=1)
    if infinite.any():
        raise DataError(
            f"{input_name}: infinite values in {counted(infinite.sum(), 'rows')}, the first is row "
            f"{int(np.argmax(infinite))}; mark failed templates with NaN"
        )
    if metric == "bhattacharyya" and (floats < 0).any():
        row = int(np.argmax((floats < 0).any(axis=1)))
        raise DataError(
            f"{input_name}: row {row} has negative values; the Bhattacharyya distance is defined "
            "for non-negative features (histograms)"
        )
    return floats


def _unit_vectors(
    embeddings: np.ndarray, metric: str, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `vectors`, `exact` and `factor` of a :class:`Side` with unit vectors.

    For the Bhattacharyya distance they are the square roots of proportions, whose squares sum to 1.
    """
    vectors = np.empty(embeddings.shape, dtype)
    divisor = np.empty(len(embeddings))  # the length of each embedding, or the sum of its features
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for low, high in row_spans(len(embeddings), embeddings.shape[1], VALUES_AT_ONCE):
            block = embeddings[low:high].astype(np.float64, copy=False)
            if metric == "bhattacharyya":
                total = block.sum(axis=1, keepdims=True)
                vectors[low:high] = np.sqrt(block / total)
                divisor[low:high] = total[:, 0]
            else:
                largest = np.abs(block).max(axis=1, keepdims=True)  # keeps the squares in range
                block = block / largest
                length = np.sqrt(np.einsum("ij,ij->i", block, block))
                vectors[low:high] = block / length[:, None]
                divisor[low:high] = largest[:, 0] * length

        # In float64 the vectors are exact. In float32 they are rounded, so that near pairs are
        # computed from the embeddings.
        ones = np.ones(len(embeddings))
        if dtype == np.float64:
            return vectors, vectors, ones
        if metric == "bhattacharyya":
            return vectors, np.sqrt(embeddings / divisor[:, None]), ones
        factor = 1 / divisor
        if np.isinf(factor[divisor > 0]).any():  # a length that is too short to have an inverse
            return vectors, embeddings / divisor[:, None], ones
        return vectors, embeddings, factor


# ------------------------------------------------------------------------ threads of linear algebra


# Rows and columns of products are padded to multiples of 16, and to at least 64: libraries of
# linear algebra take other steps for cells beyond the last whole block, and for products with a
# short side. With the padding, most take the same steps for every cell.
_MULTIPLE = 16
_LEAST_ROWS = 64


class _OneThread:
    """A context in which libraries of linear algebra use one thread.

    The limit holds for the whole process, so contexts in several threads share it: the first to
    begin sets the limit, and the last to end restores the former numbers of threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._limit: Any = None  # restores the former numbers of threads

    def __enter__(self) -> None:
        with self._lock:
            if self._calls == 0:
                with _any_thread_may_limit():
                    self._limit = _libraries().limit(limits=1, user_api="blas")
            self._calls += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._calls -= 1
            if self._calls == 0:
                with _any_thread_may_limit():
                    self._limit.restore_original_limits()


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def _any_thread_may_limit() -> Iterator[None]:
    """Let this thread set or restore the limit of OpenBLAS, whichever thread set the limit before.

    Newer versions of threadpoolctl ignore all threads but the first that has set a limit, until
    that thread gives up its control.
    """
    import threadpoolctl

    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    give_up = getattr(openblas, "clear_controlling_thread", None)
    if give_up is not None:
        give_up(force=True)
    yield
    if give_up is not None:
        give_up(force=True)


_ONE_THREAD = _OneThread()


def on_all_threads(compute: Callable[[Iterator[int]], None], steps: int) -> None:
    """Run steps of work on all threads; each product is computed on one thread.

    No thread waits for another, and last digits do not depend on the number of threads.
    """
    with _ONE_THREAD:
        in_turns(compute, steps)


@cache
def same_in_any_tile(features: int, dtype: np.dtype) -> bool:
    """Whether a product of two vectors has the same bits in any matrix product.

    The size of the matrix product and the order of its factors vary between tiles. Most libraries
    sum over the features in the same order, but no library guarantees the order, so it is tested
    here on random vectors.
    """
    rng = np.random.default_rng(0)
    probe, gallery = rng.standard_normal((2, 512 + _MULTIPLE, features), dtype=dtype.type)
    with _ONE_THREAD:
        products = probe @ gallery.T
        # A large tile, and tiles with a short side.
        for height, width in ((480, 496), (_LEAST_ROWS, 464), (320, _LEAST_ROWS + _MULTIPLE)):
            rows = rng.permutation(len(probe))[:height]
            columns = rng.permutation(len(gallery))[:width]
            expected = products[np.ix_(rows, columns)]
            if not np.array_equal(probe[rows] @ gallery[columns].T, expected):
                return False
            if not np.array_equal((gallery[columns] @ probe[rows].T).T, expected):
                return False
    return True


def padded(rows: int) -> int:
    """Return the number of rows of a side of a product with the padding."""
    return max(-(-rows // _MULTIPLE) * _MULTIPLE, _LEAST_ROWS)

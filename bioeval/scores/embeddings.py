"""Distances between embeddings.

Distances are computed in blocks of rows, in float64 or float32, and the whole
matrix is never needed: :class:`EmbeddingSource` computes the rows that are read, and forgets them.
Distances of nearly equal vectors are computed in float64 from the difference of the embeddings as
they were given, where a product of rounded vectors would lose it: equal embeddings are at distance
0 exactly.

A matrix of up to 131,072 columns (65,536 in float64) is computed in tiles of fixed size and place,
so that a distance is the same to the last bit however many rows are read, and whether the matrix is
made or streamed. A set compared with itself has one tile for both directions of a pair: the matrix
is symmetric. One thread computes a tile, and uses it while it is in the cache of its core.

The last digits of a product depend on the linear algebra library and on the shape of its operands:
digits may differ on other machines, among templates with equal embeddings, and in selections of
single rows or columns. In float32 a distance is good to about 1e-6 of the lengths of its vectors,
and to 1e-7 of itself where the vectors are near: where the squared distance is below a thousandth
of the squared lengths.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from typing import Any, Literal, Self, get_args

import numpy as np

from bioeval.base.arguments import require_array, require_choice
from bioeval.base.array_libraries import as_numpy, joined
from bioeval.base.errors import DataError, counted, nearest_name, received
from bioeval.base.kinds import METRICS, VALUED, Kind, MetricName
from bioeval.base.threads import in_turns
from bioeval.kernels.distance import Embeddings, finish_euclidean
from bioeval.scores.arrays import in_memory, is_stored, writable_alias, wrong_dtype
from bioeval.scores.blocks import is_few
from bioeval.scores.labels import LABEL_COLUMNS, Codes, missing_values, plain
from bioeval.scores.row_source import RowSource

#: Other names of these metrics, as SciPy and scikit-learn have them.
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

# Values in one block of rows: 32 MiB of float64.
_BLOCK = 1 << 22

# Values in a block that stays in the cache of a core: 512 KiB of float64.
_CACHED = 1 << 16

# Templates on each side of a tile of distances, and columns of a matrix that is computed in tiles,
# with distances of 4 bytes: of longer rows, memory may not hold as many as a tile has.
TILE, MOST_COLUMNS = 256, 1 << 17

# A matrix of at least so many distances is made only where its rows are needed.
LEAST_LAZY = 1 << 23

# The rows and the columns of a product are filled up to a multiple of the first number, and to the
# second at least: most kernels of linear algebra take the same steps everywhere in it then.
MULTIPLE, LEAST = 16, 64


def as_embeddings(values: Any, input_name: str) -> np.ndarray:
    """Return embeddings as a 2-D real array, one row per template."""
    if isinstance(values, np.ma.MaskedArray):
        hidden = counted(np.ma.count_masked(values), "values")
        raise DataError(
            f"{input_name} is a masked array ({hidden} masked); fill it (NaN marks a failed "
            "template)"
        )
    values = joined(values, input_name, 2)
    array = require_array(
        input_name, in_memory(values, input_name) if is_stored(values) else values
    )
    if array.dtype.kind not in "biuf":
        raise wrong_dtype(input_name, array)
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"{input_name} has shape {array.shape}; expected (templates, features), neither of "
            "them 0"
        )
    return array


#: The fewest rows of which a first column that counts them, or has a value a person, is no chance.
_FEW_ROWS = 5
_NO_FEATURES = ("", "index", "unnamed: 0", "row", *LABEL_COLUMNS)


def names_features(columns: Any) -> bool:
    """Whether columns have names, of which the first is of no index and of no label."""
    names = [*columns]
    named = bool(names) and all(isinstance(x, str) and not x.isdigit() for x in names)
    return named and names[0].strip().casefold() not in _NO_FEATURES


def require_features(values: np.ndarray, labels: np.ndarray, input_name: str) -> None:
    """Raise where the first column of embeddings is an index of the rows, or their labels."""
    rows, columns = values.shape
    if rows < _FEW_ROWS or columns < 2:
        return
    first = values[:, 0]
    about = ""
    if first.min() in (0, 1) and np.array_equal(np.sort(first), first.min() + np.arange(rows)):
        about = "counts the rows"
    elif _tells_people(values, labels):
        about = "has one value for each person, which no other column has"
    if about:
        raise DataError(
            f"{input_name}: the first of {columns} columns {about}, and would be taken for a "
            "feature; leave it out (`x[:, 1:]`), or give a table whose columns have names if it "
            "is one"
        )


def _tells_people(values: np.ndarray, labels: np.ndarray) -> bool:
    if len(np.unique(values[:, 0])) == len(values):
        return False
    _, person = np.unique([*map(str, labels.tolist())], return_inverse=True)
    order = np.argsort(person, kind="stable")
    starts = np.flatnonzero(np.diff(person[order], prepend=-1))
    if not 2 < len(starts) < len(order):
        return False

    def is_constant(column: np.ndarray) -> bool:
        sorted_by_person = column[order]
        low = np.minimum.reduceat(sorted_by_person, starts)
        return np.array_equal(low, np.maximum.reduceat(sorted_by_person, starts))

    of_people = values[order[starts], 0]
    if len(np.unique(of_people)) < len(starts) or not is_constant(values[:, 0]):
        return False
    return not any(is_constant(values[:, i]) for i in range(1, values.shape[1]))


@dataclass
class _Side:
    """The embeddings of one side."""

    #: (n, f): vectors of the matrix products, in the dtype of the distances: unit vectors (cosine),
    #: square roots of proportions (Bhattacharyya), else the embeddings.
    products: np.ndarray
    #: float32 or float64 (n, f): ``exact * factor`` are `products` before rounding, from which near
    #: pairs are computed.
    exact: np.ndarray
    #: float (n,): the squared lengths are those of `products`.
    factor: np.ndarray
    squared: np.ndarray

    def __getitem__(self, rows: Any) -> Self:
        products = self.products[rows]
        exact = products if self.exact is self.products else self.exact[rows]
        return replace(
            self,
            products=products,
            exact=exact,
            factor=self.factor[rows],
            squared=self.squared[rows],
        )

    @cached_property
    def filled(self) -> np.ndarray:
        template_count, features = self.products.shape
        rows = filled_up(template_count)
        if rows == template_count:
            return self.products
        return np.concatenate(
            [self.products, np.zeros((rows - template_count, features), self.products.dtype)]
        )

    @cached_property
    def in_kernel(self) -> Any:
        exact, factor = map(writable_alias, map(np.ascontiguousarray, (self.exact, self.factor)))
        return Embeddings(exact, factor, self.squared, np.arange(len(self.squared)))


class EmbeddingSource:
    """The matrix of distances between embeddings, computed row by row as it is read.

    `probe` has the shape (m, f) and `gallery` (n, f). A callable metric gets two blocks, ``(b, f)``
    and ``(n, f)``, and returns ``(b, n)`` distances; they are computed and given in `dtype`.
    """

    row_source = RowSource.EMBEDDINGS

    ndim = 2

    def __init__(
        self,
        probe: np.ndarray,
        gallery: np.ndarray,
        metric: Metric,
        dtype: str = "float64",
    ):
        """Bring both sides into the form in which they are compared."""
        metric = known_metric(metric)
        require_choice("dtype", dtype, get_args(FloatType))
        if probe.shape[1] != gallery.shape[1]:
            raise DataError(
                f"probe embeddings have {probe.shape[1]} features and gallery embeddings "
                f"{gallery.shape[1]}; expected the same number"
            )
        self.metric = metric
        self.dtype = np.dtype(dtype)
        #: Both sides as they were given.
        self.sides = probe, gallery
        self.shape = (len(probe), len(gallery))
        self._scale = 1.0
        self._near = self.dtype.type(NEAR[self.dtype.name])
        #: Rows that are computed together, although fewer are read; 1 computes the rows read alone.
        self.tile = TILE
        if callable(metric) or len(gallery) * self.dtype.itemsize > 4 * MOST_COLUMNS:
            self.tile = 1
        if callable(metric):
            return
        plain = [_as_floats(probe, metric, "probe embeddings", self.dtype)]
        if probe is not gallery:
            plain.append(_as_floats(gallery, metric, "gallery embeddings", self.dtype))
        if metric == "l2":
            self._scale = _scale_of(plain, self.dtype)
        if self._scale != 1.0:
            plain = [x * x.dtype.type(self._scale) for x in plain]
        sides = [_side(x, metric, self.dtype) for x in plain]
        self._left, self._right = sides[0], sides[-1]

    @property
    def features(self) -> int:
        """The number of features of an embedding."""
        return self.sides[1].shape[1]

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the distances of some probes (a slice or indices) to the whole gallery."""
        if np.ndim(self.sides[0][rows]) == 1:
            return self[np.arange(self.shape[0])[rows][None]][0]
        index = np.arange(self.shape[0])[rows]
        if self.tile == 1 or (np.diff(index) != 1).any():
            return self._block(rows)
        low = int(index[0]) if len(index) else 0
        return self.read(low, low + len(index))

    def read(self, low: int, high: int, out: np.ndarray | None = None) -> np.ndarray:
        """Return the distances of rows ``low:high``, perhaps written to an array of their shape."""
        if out is None:
            out = np.empty((high - low, self.shape[1]), dtype=self.dtype)
        if self.tile == 1:
            out[...] = self[low:high]
            return out
        is_large = math.prod(self.shape) >= LEAST_LAZY
        if is_large and high - low < TILE and same_in_any_tile(self.features, self.dtype):
            out[...] = self._block(slice(low, high))  # a tile would have more rows
            return out
        bands = range(low // TILE, -(-high // TILE))
        columns = range(-(-self.shape[1] // TILE))
        places = [*product(bands, columns)]
        if self.symmetric:  # those below the diagonal are taken from those above
            places = [(i, j) for i, j in places if i <= j or j not in bands]

        def take(i: int, j: int, tile: np.ndarray) -> None:
            first, last = max(low, i * TILE), min(high, (i + 1) * TILE)
            rows = out[first - low : last - low, j * TILE : (j + 1) * TILE]
            rows[...] = tile[first - i * TILE : last - i * TILE]

        def compute(turns: Iterator[int]) -> None:
            buffer = np.empty(TILE**2, dtype=self.dtype)
            for turn in turns:
                i, j = places[turn]
                turned = self.symmetric and j < i
                sides = (j, i) if turned else (i, j)
                left = self._tile_of_side(0, sides[0])
                right = self._tile_of_side(1, sides[1])
                tile = self._distances(left, right, str(self.metric), buffer)
                take(i, j, tile.T if turned else tile)
                if self.symmetric and i < j and j in bands:
                    take(j, i, tile.T)

        on_all_threads(compute, len(places))
        return out

    def _tile_of_side(self, side: int, tile: int) -> _Side:
        """Return the embeddings of a side in a tile, as the same arrays in every call."""
        if self.symmetric:
            side = 0
        if (side, tile) not in self._parts:
            embeddings = (self._left, self._right)[side]
            self._parts[side, tile] = embeddings[tile * TILE : (tile + 1) * TILE]
        return self._parts[side, tile]

    @cached_property
    def _parts(self) -> dict[tuple[int, int], _Side]:
        return {}

    @property
    def failed(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Which templates of both sides fail in every comparison; None where a callable decides."""
        if callable(self.metric):
            return None
        return np.isnan(self._left.squared), np.isnan(self._right.squared)

    @property
    def symmetric(self) -> bool:
        """Whether a set is compared with itself by a metric of :data:`METRICS`."""
        return self.sides[0] is self.sides[1] and not callable(self.metric)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_parts", None)
        return state

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return a few rows from anywhere, computed by themselves."""
        return self._block(rows)

    def of_columns(self, columns: np.ndarray) -> EmbeddingSource:
        """Return the same probes against part of the gallery, computed alone."""
        return _SomeColumns(self, columns)

    def matrix(self) -> np.ndarray | LazyMatrix:
        """Return all rows, now or where they are needed; of small matrices, now.

        Until then distances are computed by other tiles, which must have the same bits.
        """
        is_large = math.prod(self.shape) >= LEAST_LAZY
        if is_large and not callable(self.metric) and same_in_any_tile(self.features, self.dtype):
            return LazyMatrix(self)
        return self.whole()

    def whole(self) -> np.ndarray:
        """Return all rows."""
        probe_count, gallery_count = self.shape
        if self.tile > 1:
            return self.read(0, probe_count)
        out = np.empty((probe_count, gallery_count), dtype=self.dtype)
        step = max(1, _BLOCK // gallery_count)
        for low in range(0, probe_count, step):
            out[low : low + step] = self[low : low + step]
        return out

    def pairs(self, probes: np.ndarray, templates: np.ndarray) -> np.ndarray:
        """Return the distances of the pairs ``(probes[i], templates[i])`` alone, in float64."""
        out = np.empty(len(probes))
        step = max(1, _BLOCK // self.features)
        for low in range(0, len(probes), step):
            i, j = probes[low : low + step], templates[low : low + step]
            if callable(self.metric):
                for place, (row, column) in enumerate(zip(i, j, strict=True), low):
                    out[place] = self._block(row[None], column[None])[0, 0]
            else:
                out[low : low + step] = _aligned(self._left[i], self._right[j], self.metric)
        return self._unscaled(out)

    def _block(self, rows: Any, columns: Any = slice(None)) -> np.ndarray:
        metric = self.metric
        if callable(metric):
            probe, gallery = self.sides[0][rows], self.sides[1][columns]
            out = np.asarray(as_numpy(metric(probe, gallery), "the scores of the metric"))
            if out.shape != (len(probe), len(gallery)) or out.dtype.kind not in "biuf":
                raise DataError(
                    f"the metric returned shape {out.shape}, dtype {out.dtype}; expected real "
                    f"distances of shape {(len(probe), len(gallery))}"
                )
            return out.astype(self.dtype, copy=False)
        left, right = self._left[rows], self._right[columns]
        distances = np.empty((len(left.products), len(right.products)), dtype=self.dtype)

        def compute(turns: Iterator[int]) -> None:
            buffer = np.empty(len(distances) * TILE, dtype=self.dtype)
            for turn in turns:
                columns_of_tile = slice(turn * TILE, (turn + 1) * TILE)
                distances[:, columns_of_tile] = self._distances(
                    left, right[columns_of_tile], metric, buffer
                )

        on_all_threads(compute, -(-distances.shape[1] // TILE))
        return distances

    def _distances(self, left: _Side, right: _Side, metric: str, buffer: np.ndarray) -> np.ndarray:
        if metric in ("l1", "linf"):
            from scipy.spatial.distance import cdist

            probe, gallery = left.exact, right.exact
            name = "cityblock" if metric == "l1" else "chebyshev"
            out = cdist(probe, gallery, name).astype(self.dtype, copy=False)
            # The largest difference leaves NaN out, and with it a failed template.
            out[np.isnan(probe).any(axis=1)] = np.nan
            out[:, np.isnan(gallery).any(axis=1)] = np.nan
            return out
        shape = len(left.products), len(right.products)
        products = buffer[: math.prod(shape)].reshape(shape)
        if metric == "bhattacharyya":
            _multiply(left, right, products)
            return _bhattacharyya_distances(products, left, right, self._near)
        _multiply(left, right, products)
        finish = _finish_few if is_few(math.prod(self.shape)) else finish_euclidean.on_one_thread
        finish(products, 0, left.in_kernel, right.in_kernel, self._near, metric == "cosine")
        return self._unscaled(products)

    def _unscaled(self, distances: np.ndarray) -> np.ndarray:
        if self._scale == 1.0:
            return distances
        with np.errstate(over="ignore"):
            return distances / self.dtype.type(self._scale)


class LazyMatrix:
    """A matrix of distances that is made when its rows are first read, and kept.

    Scores that are views of each other share the matrix.
    """

    row_source = RowSource.LAZY_MATRIX

    def __init__(self, source: EmbeddingSource):
        self._source = source
        self._matrix: np.ndarray | None = None
        self.shape = source.shape
        self.dtype = source.dtype
        #: Whether the distances were counted once without the matrix.
        self.is_counted = False
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the matrix once the matrix is made, before that time the embeddings."""
        if self._matrix is not None:
            return np.asarray, (self._matrix,)
        return LazyMatrix, (self._source,), {"is_counted": self.is_counted}

    @property
    def source(self) -> EmbeddingSource | None:
        """The source of the distances; None once the matrix is made."""
        return self._source if self._matrix is None else None

    def begin_count(self) -> bool:
        """Return whether distances can be counted without the matrix: only the first time."""
        is_first = not self.is_counted
        self.is_counted = True
        return is_first

    def matrix(self) -> np.ndarray:
        """Return the matrix, which the first call makes."""
        with self._lock:
            if self._matrix is None:
                self._matrix = self._source.whole()
            return self._matrix


class _SomeColumns(EmbeddingSource):
    def __init__(self, source: EmbeddingSource, columns: np.ndarray):
        self.__dict__.update(source.__dict__)
        self.tile = 1
        self.shape = (source.shape[0], len(columns))
        if callable(source.metric):
            self.sides = source.sides[0], source.sides[1][columns]
        else:
            self._right = source._right[columns]

    def __getitem__(self, rows: Any) -> np.ndarray:
        index = np.arange(self.shape[0])[rows]
        if index.ndim == 0:
            return self[index[None]][0]
        return self._block(index)


class _OneThread:
    """Limit of the libraries of linear algebra to one thread, while any call needs it.

    The number of threads belongs to the whole process. So calls side by side share the limit: the
    first call sets the limit, and the last call restores the former number, on whichever thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._limit: Any = None  # knows the former numbers of threads

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
    """Free the limit of OpenBLAS from its thread, before this thread sets it and afterwards.

    Newer versions of threadpoolctl ignore all threads but the first that has set a limit, until it
    gives that up.
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
    """Run steps of work side by side; a thread computes the products of its steps alone.

    No thread waits for another, and last digits do not depend on the number of threads.
    """
    with _ONE_THREAD:
        in_turns(compute, steps)


@cache
def same_in_any_tile(features: int, dtype: np.dtype) -> bool:
    """Whether a product has the same bits in any tile, and with its sides exchanged.

    Most libraries sum over the features in the same order, but no library guarantees this order.
    """
    rng = np.random.default_rng(0)
    probe, gallery = rng.standard_normal((2, 512 + MULTIPLE, features), dtype=dtype.type)
    with _ONE_THREAD:
        products = probe @ gallery.T
        for height, width in ((480, 496), (LEAST, 464), (320, LEAST + MULTIPLE)):
            rows, columns = (
                rng.permutation(len(probe))[:height],
                rng.permutation(len(gallery))[:width],
            )
            expected = products[np.ix_(rows, columns)]
            if not np.array_equal(probe[rows] @ gallery[columns].T, expected):
                return False
            if not np.array_equal((gallery[columns] @ probe[rows].T).T, expected):
                return False
    return True


def filled_up(rows: int) -> int:
    """Return how many rows a side of a product has, filled up."""
    return max(-(-rows // MULTIPLE) * MULTIPLE, LEAST)


def _multiply(left: _Side, right: _Side, out: np.ndarray) -> None:
    probe, gallery = left.filled, right.filled
    if out.shape == (len(probe), len(gallery)):
        np.matmul(probe, gallery.T, out=out)
    else:
        out[...] = np.matmul(probe, gallery.T)[: out.shape[0], : out.shape[1]]


def _finish_few(
    products: np.ndarray, first: int, x: Embeddings, y: Embeddings, near: Any, cosine: bool
) -> None:
    """Finish products as :func:`finish_euclidean` does, to the last bit, without compiling."""
    products = products[:, first : first + len(y.squared)]
    total = x.squared[:, None] + y.squared
    products *= -2
    products += total
    total *= near
    pairs = np.argwhere(products < total)
    step = max(1, _BLOCK // x.exact.shape[1])
    for low in range(0, len(pairs), step):
        row, column = pairs[low : low + step].T
        left, right = x.rows[row], y.rows[column]
        difference = x.exact[left] * x.factor[left, None]
        difference = difference - y.exact[right] * y.factor[right, None]
        # A cumulative sum adds feature after feature, as the loop does.
        products[row, column] = np.square(difference).cumsum(axis=1)[:, -1]
    if cosine:
        products *= 0.5
    else:
        np.sqrt(np.maximum(products, 0, out=products), out=products)


def _scale_of(sides: list[np.ndarray], dtype: np.dtype) -> float:
    """Return a power of two that keeps squares in range; 1 where none is needed."""
    largest = max(float(np.nanmax(np.abs(x), initial=0.0)) for x in sides)
    info = np.finfo(dtype)
    exponent = math.frexp(largest)[1]
    is_in_range = info.minexp // 4 < exponent < info.maxexp // 2 - 16
    # Of subnormal numbers the power would overflow; the largest one brings them into range.
    if largest == 0 or is_in_range:
        return 1.0
    return 2.0 ** min(-exponent, info.maxexp - 1)


# Share of the squared lengths below which a squared distance is summed from the differences.
NEAR = {"float64": 1e-6, "float32": 1e-3}


def known_metric(metric: Metric) -> Metric:
    """Return the metric's name in :data:`METRICS`; raise :class:`DataError` of an unknown name."""
    if callable(metric):
        return metric
    if isinstance(metric, str):
        metric = _OTHER_NAMES.get(metric, metric)
    require_choice("metric", metric, METRICS)
    return metric


def kind_of_metric(metric: Metric, kind: Kind | None) -> Kind:
    """Return the kind of the scores that a metric gives; a callable does not say it by itself."""
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
    """Describe how scores were computed from embeddings."""
    name = f"metric {metric}"
    if callable(metric):
        name = f"function {getattr(metric, '__name__', type(metric).__name__)}"
    return f"{embeddings.shape[1]}-dimensional {embeddings.dtype} embeddings, {name}"


def _as_floats(values: np.ndarray, metric: str, input_name: str, dtype: np.dtype) -> np.ndarray:
    small = values.dtype.itemsize <= 2 or values.dtype == np.float32
    made_unit = metric in ("cosine", "bhattacharyya")  # in float64, by blocks: see _units
    wide = np.float32 if small and (made_unit or dtype != np.float64) else np.float64
    plain: np.ndarray = np.ascontiguousarray(values, dtype=wide)
    with np.errstate(over="ignore"):  # other metrics have distances as long as the embeddings
        if made_unit:
            checked = plain
        else:
            checked = plain.astype(dtype, copy=False)
    infinite = np.isinf(checked).any(axis=1)
    if infinite.any():
        raise DataError(
            f"{input_name}: {int(infinite.sum())} rows hold infinite values, the first is row "
            f"{int(np.argmax(infinite))}; mark failed templates with NaN"
        )
    if metric == "bhattacharyya" and (plain < 0).any():
        row = int(np.argmax((plain < 0).any(axis=1)))
        raise DataError(
            f"{input_name}: row {row} has negative values; the Bhattacharyya distance is defined "
            "for non-negative features (histograms)"
        )
    return plain


def _side(plain: np.ndarray, metric: str, dtype: np.dtype) -> _Side:
    exact = plain
    factor = np.ones(len(plain))
    if metric in ("l1", "linf"):  # which make no products; failed templates have no length either
        squared = np.where(np.isnan(plain).any(axis=1), np.nan, factor)
        return _Side(plain, plain, factor, squared)
    if metric == "l2":
        products = plain.astype(dtype, copy=False)
    else:
        products, exact, factor = _units(plain, metric, dtype)
    return _Side(products, exact, factor, np.einsum("ij,ij->i", products, products))


def _units(
    plain: np.ndarray, metric: str, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return unit vectors in a dtype, embeddings, and the factors between the two."""
    products = np.empty(plain.shape, dtype)
    length = np.empty(len(plain))
    step = max(1, _BLOCK // plain.shape[1])
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for low in range(0, len(plain), step):
            rows = slice(low, low + step)
            products[rows], length[rows] = _unit(plain[rows].astype(np.float64, copy=False), metric)
        factor = 1 / length
        if dtype == np.float64:
            return products, products, np.ones(len(plain))
        if metric == "bhattacharyya":
            return products, np.sqrt(plain / length[:, None]), np.ones(len(plain))
        if np.isinf(factor[length > 0]).any():  # float64 has no inverse of so short a length
            return products, plain / length[:, None], np.ones(len(plain))
        return products, plain, factor


def _unit(embeddings: np.ndarray, metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors (n, f) and their divisors (n,): lengths, or sums of features."""
    if metric == "bhattacharyya":
        total = embeddings.sum(axis=1, keepdims=True)
        return np.sqrt(embeddings / total), total[:, 0]
    scale = np.abs(embeddings).max(axis=1, keepdims=True)  # keeps the squares in range
    embeddings = embeddings / scale
    length = np.sqrt(np.einsum("ij,ij->i", embeddings, embeddings))
    return embeddings / length[:, None], scale[:, 0] * length


def _bhattacharyya_distances(
    products: np.ndarray, left: _Side, right: _Side, near: np.floating
) -> np.ndarray:
    """Return Bhattacharyya distances; near coefficient 1, computed from differences."""
    places = np.flatnonzero(products > 1 - near)
    with np.errstate(divide="ignore"):
        distances = np.maximum(-np.log(products), 0.0)
    step = max(1, _CACHED // left.exact.shape[1])
    for low in range(0, len(places), step):
        i, j = np.divmod(places[low : low + step], distances.shape[1])
        difference = left.exact[i]
        difference -= right.exact[j]
        distances[i, j] = -np.log1p(-np.einsum("ij,ij->i", difference, difference) / 2)
    return distances


def _aligned(left: _Side, right: _Side, metric: str) -> np.ndarray:
    """Return distances of rows at the same place on both sides, float64 (n,)."""
    probe = left.exact * left.factor[:, None]
    gallery = right.exact * right.factor[:, None]
    with np.errstate(over="ignore"):
        difference = np.abs(probe - gallery)
        if metric == "l1":
            return difference.sum(axis=1)
    if metric == "linf":
        return difference.max(axis=1)
    squared = np.einsum("ij,ij->i", difference, difference)
    if metric == "bhattacharyya":
        with np.errstate(divide="ignore"):
            far = np.maximum(-np.log(np.einsum("ij,ij->i", probe, gallery)), 0.0)
        is_near = squared < 2 * NEAR["float64"]
        return np.where(is_near, -np.log1p(-np.where(is_near, squared, 0.0) / 2), far)
    if metric == "cosine":
        return squared / 2.0
    return np.sqrt(squared)


#: Labels and metadata of one side, by name; the labels have the name "".
Columns = dict[str, np.ndarray]


def average_embeddings(
    embeddings: np.ndarray, columns: Mapping[str, np.ndarray], names: Sequence[str], side: str
) -> tuple[np.ndarray, Columns, dict[str, str]]:
    """Return one embedding for each template, the mean of means within nested groups.

    Of the names ``("template", "media")``: the mean of the rows of each medium of a template, then
    the mean of these over the template's media, so that a video of a hundred frames weighs as much
    as one photograph. Failed rows (any NaN) are left out; a template of none but these is NaN.

    Parameters
    ----------
    embeddings : array, shape (n, f)
    columns : mapping of str to array, shape (n,)
        Labels (named "") and metadata; columns that differ within a template are left out.
    names : sequence of str
        The metadata columns of the groups, outermost first.
    side : str
        "probe" or "gallery", for messages.

    Returns
    -------
    tuple of array, shape (templates, f), and two dict
        In the order of the first row of each template; and why other columns are left out.
    """
    groups = [_group_codes(columns, name, side) for name in names]
    templates, first, template = np.unique(groups[0], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    is_valid = ~np.isnan(embeddings).any(axis=1)
    values = embeddings[is_valid]
    keys = np.column_stack(groups)[is_valid]
    for depth in range(len(names), 0, -1):
        values, keys = _means_by_key(values, keys[:, :depth])
    means = np.full((len(templates), embeddings.shape[1]), np.nan)
    means[np.searchsorted(templates, keys[:, 0])] = values
    shared = {}
    left_out = {}
    for name, column in columns.items():
        codes = Codes(column, column).gallery
        differ = codes != codes[first][template]
        if not differ.any():
            shared[name] = column[first][order]
            continue
        row = int(np.argmax(differ))
        before = int(first[template[row]])
        if not name:
            raise DataError(
                f"{len(np.unique(template[differ]))} {side} templates hold embeddings of several "
                f"subjects; {names[0]} {columns[names[0]][row]!r} has {column[row]!r} in row "
                f"{row} and {column[before]!r} in row {before}; expected one subject per template"
            )
        clip = plain(columns[names[0]][row])
        values = [*map(plain, column[[before, row]])]
        left_out[name] = (
            f"differs within a {side} template: {names[0]} {clip!r} has {values[0]!r} in row "
            f"{before} and {values[1]!r} in row {row}"
        )
    return means[order], shared, left_out


def _group_codes(columns: Mapping[str, np.ndarray], name: str, side: str) -> np.ndarray:
    if not name or name not in columns:
        named_columns = [column for column in columns if column]
        raise DataError(
            f"average names {name!r}, but the {side} metadata have "
            f"{', '.join(named_columns) or 'no columns'}.{nearest_name(str(name), named_columns)}"
        )
    missing = missing_values(columns[name])
    if missing.any():
        raise DataError(
            f"the {side} metadata {name!r} lack {int(missing.sum())} values, the first at position "
            f"{int(np.argmax(missing))}; every embedding that is averaged needs one"
        )
    return Codes(columns[name], columns[name], name).gallery


def _means_by_key(values: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not len(values):
        return values.astype(np.float64), keys
    order = np.lexsort(keys.T[::-1])
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]).any(axis=1)))
    counts = np.diff(np.append(starts, len(keys)))
    sums = np.add.reduceat(values[order].astype(np.float64), starts, axis=0)
    return sums / counts[:, None], keys[starts]

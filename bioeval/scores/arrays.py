"""Checks of scores, masks and indices; blocks of rows; distances; scores in equal steps."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.array_libraries import as_numpy, joined
from bioeval.base.errors import DataError, counted, cut
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.scores.row_source import RowSource, row_source

if TYPE_CHECKING:
    from bioeval.scores.codes import Codes


class Mask:
    """Values of a mask."""

    IGNORE, IMPOSTOR, GENUINE = 0, 1, 2


#: Libraries whose arrays are read in blocks of rows.
LIBRARIES = ("zarr", "h5py")


#: Whether a claim is compared with one template of the subject, or with all.
Templates = Literal["single", "multi"]


def as_array(values: Any, input_name: str) -> np.ndarray:
    """Return `values` as an array of real numbers."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(
            f"{input_name} is a masked array ({counted(np.ma.count_masked(values), 'values')} "
            "masked), True where there is no value; give x.data with mask=~x.mask (True: an "
            "attempt)"
        )
    try:
        array = in_memory(joined(values, input_name, 2), input_name)
    except DataError:
        raise
    except (ValueError, TypeError, RuntimeError) as error:
        raise DataError(f"{input_name} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise wrong_dtype(input_name, array)
    return array


def in_memory(values: Any, input_name: str) -> np.ndarray:
    """Return an array; a stored array of zarr or h5py is read whole."""
    if type(values).__module__.partition(".")[0] not in LIBRARIES:
        return np.asarray(as_numpy(values, input_name))
    return np.asarray(values[...])


def wrong_dtype(input_name: str, array: np.ndarray) -> DataError:
    """Return the error of values that are no numbers; numbers as text have a hint."""
    have = "have" if str(input_name).endswith("s") else "has"
    wrong = f"{input_name} {have} dtype {array.dtype}; expected an integer or float dtype"
    if array.dtype.kind not in "USO":
        return DataError(wrong)
    for place, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError):
            text = str(value) if isinstance(value, str) else value
            return DataError(f"{wrong}. {cut(repr(text), 80)} at {list(place)} is not a number")
    return DataError(f"{wrong}. They are numbers as text or objects: give values.astype(float)")


def is_stored(values: Any) -> bool:
    """Whether values are an array that a library keeps in chunks."""
    library = type(values).__module__.partition(".")[0]
    return row_source(values) is RowSource.CONTAINER or library in LIBRARIES


# The first rows and columns of a square matrix, by which it is judged.
_JUDGED_ROWS = 1000

# The largest share of templates that are nearest to themselves by chance.
_NEAREST_BY_CHANCE = 0.25


def as_values(values: Any) -> Any:
    """Return a checked matrix of scores; an array stored in chunks is not read."""
    stored = is_stored(values)
    base = values if stored or row_source(values) else as_array(values, "the scores")
    if np.dtype(base.dtype).kind not in "biuf":
        if isinstance(base, np.ndarray):
            raise wrong_dtype("the scores", base)
        raise DataError(f"the scores have dtype {base.dtype}; expected an integer or float dtype")
    if len(base.shape) != 2:
        raise DataError(
            f"the scores have shape {tuple(base.shape)}; expected two dimensions, (probes, "
            "gallery). For a list of pairs use Scores.from_pairs"
        )
    if 0 in base.shape:
        empty = "there are no probes" if base.shape[1] else "the gallery is empty"
        raise DataError(f"{empty}: the scores have shape {tuple(base.shape)}")
    if not stored or row_source(base):
        return base
    from bioeval.scores.stored import StoredRows

    return StoredRows(base)


def doubt_of_square(values: np.ndarray, similarity: bool) -> str:
    """Return the code of the message on a matrix that seems not to be of all against all.

    ``"half-matrix"``: one triangle holds a single value, such as 0, and the other triangle scores.
    ``"not-all-against-all"``: the matrix is not symmetric, and at most a quarter of the templates
    are nearest to themselves. The diagonal is not judged if it has a single value, which may have
    been filled in, nor where it is not finite. Empty without a doubt.
    """
    values = values[:_JUDGED_ROWS, :_JUDGED_ROWS]
    if len(values) < 3:
        return ""
    if _is_half(values) or _is_half(values.T):
        return "half-matrix"
    diagonal = values.diagonal()
    is_finite = np.isfinite(diagonal)
    if not is_finite.any() or len(np.unique(diagonal[is_finite])) == 1:
        return ""
    if similarity:
        nearest = diagonal >= np.fmax.reduce(values, axis=1)
    else:
        nearest = diagonal <= np.fmin.reduce(values, axis=1)
    if nearest[is_finite].mean() > _NEAREST_BY_CHANCE or _is_symmetric(values):
        return ""
    return "not-all-against-all"


def _is_half(values: np.ndarray) -> bool:
    """Whether the lower triangle holds a single value, and the upper triangle does not."""
    value = values[-1, 0]
    if len(values) < 4 or not np.isfinite(value) or (values[-1, :-1] != value).any():
        return False
    if (values[0, 1:] == value).all():
        return False
    return bool((values[np.tril_indices(len(values), -1)] == value).all())


def _is_symmetric(values: np.ndarray) -> bool:
    with np.errstate(invalid="ignore"):  # NaN of damaged files may raise a warning
        values = values.astype(np.float64)
    np.fill_diagonal(values, 0.0)
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.allclose(values, values.T, rtol=0.0, atol=1e-5 * largest, equal_nan=True)


def as_mask(mask: Any, shape: tuple[int, int], codes: Codes | None) -> np.ndarray:
    """Return a mask as uint8, checked for its shape and values.

    In a boolean mask, `codes` of the labels decide which cells are genuine.
    """
    array = require_array("mask", joined(mask, "mask", 2))
    if array.shape != shape:
        hint = ": is it transposed? Give mask.T" if array.shape == shape[::-1] else ""
        raise DataError(f"mask has shape {array.shape}; expected {shape}, as the scores{hint}")
    if array.dtype == bool:
        array = _classes_of(array, codes)
    if array.dtype.kind not in "iu":
        raise DataError(
            f"mask has dtype {array.dtype}; expected booleans (True: an attempt), or integers 0 "
            "(ignore), 1 (impostor) and 2 (genuine)"
        )
    if array.min() < 0 or array.max() > 2:
        wrong = (array < 0) | (array > 2)
        row, column = np.unravel_index(int(np.argmax(wrong)), shape)
        raise DataError(
            f"mask has {int(wrong.sum())} values other than 0 (ignore), 1 (impostor) and 2 "
            f"(genuine), the first is {array[row, column]} at row {row}, column {column}"
        )
    return array.astype(np.uint8, copy=False)


def _classes_of(attempts: np.ndarray, codes: Codes | None) -> np.ndarray:
    if codes is None:
        raise DataError(
            "mask is boolean, which says where attempts are and not which are genuine; give "
            "labels, or integers 0 (ignore), 1 (impostor) and 2 (genuine)"
        )
    if not attempts.any():
        raise DataError("mask is False everywhere; expected True where there is an attempt")
    mask = np.zeros(attempts.shape, np.uint8)
    for row, is_attempt in enumerate(attempts):
        genuine = codes.gallery[is_attempt] == codes.probe[row]
        mask[row, is_attempt] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)
    return mask


def subjects_of_mask(mask: np.ndarray, square: bool) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return subjects of the probes and of the gallery, and whether they are consistent.

    Templates that genuine cells connect have one subject; the subjects are inconsistent if two of
    its templates meet in an impostor cell. In a square matrix, row ``i`` and column ``i`` are the
    same template.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    row_count, column_count = mask.shape
    i, j = np.nonzero(mask == Mask.GENUINE)
    if square:
        i = np.append(i, np.arange(row_count))
        j = np.append(j, np.arange(row_count))
    graph = coo_matrix(
        (np.ones(len(i), dtype=np.int8), (i, row_count + j)),
        shape=(row_count + column_count, row_count + column_count),
    )
    _, subject = connected_components(graph, directed=False)
    gallery = subject[row_count:].astype(np.int64)
    probe = subject[:row_count].astype(np.int64) if not square else gallery
    is_consistent = not any(
        (mask[row, gallery == probe[row]] == Mask.IMPOSTOR).any() for row in range(row_count)
    )
    return probe, gallery, is_consistent


def as_index(index: Any, length: int, input_name: str) -> np.ndarray:
    """Return indices, a boolean choice or a slice as int64 indices from 0."""
    if isinstance(index, slice):
        index = np.arange(length)[index]
    array = require_array(input_name, index)
    if array.dtype == bool:
        if array.shape != (length,):
            raise DataError(
                f"{input_name} is a boolean choice of shape {array.shape}; expected ({length},)"
            )
        array = np.nonzero(array)[0]
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise DataError(
            f"{input_name} has shape {array.shape} and dtype {array.dtype}; expected a list of "
            "indices"
        )
    if array.size == 0:
        raise DataError(f"{input_name} is empty; expected at least one index")
    if array.min() < -length or array.max() >= length:
        wrong = (array < -length) | (array >= length)
        raise DataError(
            f"{input_name} has {counted(int(wrong.sum()), 'values')} outside 0..{length - 1}, the "
            f"first is {int(array[np.argmax(wrong)])}"
        )
    return array.astype(np.int64) % length


def named_choice(chosen: Any) -> tuple[Any, ...] | None:
    """Return the parts of a mapping or a named tuple; None for other choices.

    The parts are probes and gallery, or the test part, which is compared with itself.
    """
    if not isinstance(chosen, Mapping) and not hasattr(chosen, "_asdict"):
        return None
    parts = chosen if isinstance(chosen, Mapping) else chosen._asdict()
    if "probes" in parts and "gallery" in parts:
        return parts["probes"], parts["gallery"]
    if "test" in parts:
        return (parts["test"],)
    raise DataError(
        f"{type(chosen).__name__} names {', '.join(map(str, parts)) or 'nothing'}; expected "
        "probes and gallery, or train and test, as in bioeval.partition.ProbesGallery and TrainTest"
    )


def read_block(
    base: Any, rows: np.ndarray | None, low: int, high: int, columns: np.ndarray | None
) -> np.ndarray:
    """Return rows ``low:high`` of a selection of an array, a stored array or embeddings."""
    if rows is None:
        block = np.asarray(base[low:high])
    elif isinstance(base, np.ndarray):
        # Few columns are picked cell by cell; many columns are faster as whole rows.
        if columns is not None and 2 * len(columns) < base.shape[1]:
            return base[np.ix_(rows[low:high], columns)]
        block = base[rows[low:high]]
    else:
        # Each computed or stored row is read once.
        distinct_rows, place = np.unique(rows[low:high], return_inverse=True)
        block = np.asarray(base[distinct_rows])[place.reshape(-1)]
    if columns is None:
        return block
    return np.take(block, columns, axis=1)


def writable_alias(array: np.ndarray) -> np.ndarray:
    """Return an array over the same memory that numba takes for writable.

    For read-only arrays, such as memory maps, numba would compile every kernel once more. Kernels
    write to none of them.
    """
    if array.flags.writeable:
        return array.view(np.ndarray)
    memory = (ctypes.c_byte * array.nbytes).from_address(array.ctypes.data)
    vars(memory)["owner"] = array  # lives as long as the alias
    return np.frombuffer(memory, dtype=array.dtype).reshape(array.shape)


# The most steps for each score: with more, any floats would be in equal steps.
_STEPS_PER_SCORE = 8

# The largest distance of a difference from a whole number of steps, in steps.
_STEP_ROUNDING = 1e-3


def lattice_step(values: np.ndarray, least: int) -> float:
    """Return the step by which increasing scores differ, such as 0.01 of scores with two decimals.

    0 if they are not in equal steps, or are fewer than `least`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.diff(values)
        step = float(gaps.min(initial=np.inf))
        if len(values) < least or not 0 < step < np.inf:
            return 0.0
        steps = gaps / step
        if not steps.sum() <= _STEPS_PER_SCORE * len(values):
            return 0.0
        whole_steps = np.rint(steps)
        if not (abs(steps - whole_steps) <= _STEP_ROUNDING).all():
            return 0.0
        # The mean of all steps is more exact than a single step.
        return float((values[-1] - values[0]) / whole_steps.sum())


def distance_dtype(dtype: np.dtype) -> np.dtype:
    """Return the smaller dtype that holds scores of a dtype exactly for counting."""
    small = dtype.itemsize <= 2 or dtype == np.float32
    return np.dtype(np.float32 if small else np.float64)


def with_failures(distances: np.ndarray, failed: np.ndarray) -> np.ndarray:
    """Return distances in which failed comparisons are attempts that no threshold accepts.

    Failed comparisons are +inf, after every score. An infinite score, which the infinite threshold
    accepts, is the largest number of the dtype instead; see :func:`scored`.
    """
    attempts = np.minimum(distances, np.finfo(distances.dtype).max)  # NaN stays
    attempts[failed] = np.inf
    return attempts


def scored(attempts: np.ndarray) -> np.ndarray:
    """Return scores as they were before :func:`with_failures`, with NaN for failed comparisons."""
    scores = np.where(attempts == np.inf, attempts.dtype.type(np.nan), attempts)
    scores[attempts == np.finfo(attempts.dtype).max] = np.inf
    return scores


def farthest(attempts: np.ndarray) -> np.ndarray:
    """Return distances of :func:`with_failures` with +inf for infinite scores and for failures."""
    return np.where(attempts == np.finfo(attempts.dtype).max, np.inf, attempts)


def as_distances(
    raw: np.ndarray, kind: Kind, unread: Callable[[], np.ndarray] | None = None
) -> np.ndarray:
    """Return values as C-contiguous float32 or float64 distances, exactly.

    Similarities are negated. Raise where float64 cannot represent an integer or an extended float,
    except in the cells that `unread` returns as a mask.
    """
    target = distance_dtype(raw.dtype)
    with np.errstate(over="ignore"):
        values = np.require(raw, target, ("C", "A"))
    if raw.dtype.itemsize >= 8 and raw.dtype != np.float64:
        inexact = _inexact(raw, values)
        if inexact.any() and unread is not None:
            inexact &= ~unread()
        if inexact.any():
            row, column = np.unravel_index(int(np.argmax(inexact)), inexact.shape)
            raise DataError(
                f"{int(inexact.sum())} {raw.dtype} scores of one block of rows cannot be counted "
                f"exactly in float64, the first is {raw[row, column]}; scale the scores (whole "
                "numbers up to 2**53 are exact)"
            )
    if kind in LARGER_IS_CLOSER:
        values = np.negative(values)
    return values


def _inexact(raw: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return which numbers are not represented exactly in float64."""
    if raw.dtype.kind == "f":
        return (values != raw) & (raw == raw)
    if raw.dtype.kind == "u":
        return raw > 2**53
    return (raw > 2**53) | (raw < -(2**53))

"""Checks of arguments, and arrays of other libraries (PyTorch, JAX, any with DLPack) as NumPy's."""

from __future__ import annotations

import contextlib
import math
import operator
import os
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import numpy as np

from bioeval.base.errors import DataError, bad_choice, counted, cut, named, received

W = TypeVar("W", bound=str)

# The most replicates, repetitions or galleries that are drawn: more would not change a result.
_MOST_DRAWS = 1_000_000

#: Confidence level by default.
CONFIDENCE = 0.95

#: Types that Python and NumPy would convert to numbers, although their values are no numbers.
NO_NUMBERS = (bool, str, bytes, bytearray, memoryview)

_LONGEST_NAME = 255
_LONGEST_PATH = 4095  # bytes


def require_integer(
    name: str, value: Any, *, low: int, high: int | None = None, of_draws: bool = False
) -> int:
    """Return `value` as an int, or raise :class:`DataError` unless it is an integer >= `low`.

    It may not be greater than `high`; a number of draws may not be greater than a million.
    """
    if of_draws:
        high = _MOST_DRAWS
    try:
        integer = operator.index(value) if not isinstance(value, bool) else None
    except TypeError:
        integer = None
    if integer is None or integer < low:
        raise DataError(f"{named(name)} is {received(value)}; expected an integer >= {low}")
    if high is not None and integer > high:
        problem = f"is {integer}" if integer < 10**6 else "is too large"
        raise DataError(f"{named(name)} {problem}; expected an integer from {low} to {high:,}")
    return integer


def require_number(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
) -> float:
    """Return `value` as a float, or raise :class:`DataError` unless it is in the interval.

    The interval starts at `low` (included) or `above` (excluded) and ends at `high` (included);
    infinities are outside.
    """
    try:
        real = math.nan if isinstance(value, NO_NUMBERS) else float(value)
    except (TypeError, ValueError):
        real = math.nan
    is_inside = math.isfinite(real)
    is_inside = is_inside and (low is None or real >= low) and (above is None or real > above)
    if not is_inside or (high is not None and real > high):
        if low is None and above is None and high is None:
            raise DataError(f"{named(name)} is {received(value)}; expected a finite number")
        if low is None and above is None:
            above = -math.inf
        start = f"[{low:g}" if above is None else f"({above:g}"
        end = f"{high:g}]" if high is not None else "inf)"
        raise DataError(f"{named(name)} is {received(value)}; expected a number in {start}, {end}")
    return real


def overflows(text: str) -> bool:
    """Whether a finite number such as ``1e400`` is too large for float64."""
    return math.isinf(float(text)) and "inf" not in text.lower()


def number_in(text: str) -> float:
    """Parse a number; raise ValueError where it is beyond the range of float64.

    ``1e400`` is no infinity and ``1e-400`` no 0: scores may lie between.
    """
    number = float(text)
    underflow = number == 0 and bool(set(text.lower().partition("e")[0]) & set("123456789"))
    if overflows(text) or underflow:
        raise ValueError(text)
    return number


def rate_in(text: str) -> float:
    """Return the rate in a text like ``0.001``, ``0.1%`` or ``1/1000``, else raise ValueError."""
    number, percent, after_percent = text.strip().partition("%")
    if percent and not after_percent:
        if number_in(number):
            return float(Decimal(number) / 100)
        return 0.0
    number, slash, divisor = text.partition("/")
    if slash and not number_in(divisor):
        raise ValueError(f"{text!r} divides by 0")
    if slash:
        return number_in(number) / number_in(divisor)
    return number_in(text)


def as_float64(name: str, values: Any) -> np.ndarray:
    """Return numbers as float64, or raise :class:`DataError` where a number is not exact there."""
    array = require_array(name, values)
    with np.errstate(over="ignore"):
        doubles = array.astype(np.float64)
    # A list of integers and floats would be rounded when it becomes an array.
    listed = values if isinstance(values, (list, tuple)) else array.reshape(-1)
    wide = array.dtype.kind == "O" or array.dtype.itemsize > 8
    doubtful = doubles == doubles if wide else abs(doubles) >= 2.0**53
    for i in np.flatnonzero(doubtful).tolist():
        number = listed[i]
        double = doubles.reshape(-1)[i].item()
        if double != (number.item() if isinstance(number, np.generic) else number):
            raise DataError(
                f"{named(name)}: {number} is not exact in float64, the type in which scores are "
                f"compared; the nearest one is {double!r}"
            )
    return doubles


def check_confidence(confidence: Any, name: str = "confidence") -> float:
    """Return a confidence as a float, or raise :class:`DataError` unless it is in [0.5, 1)."""
    value = np.nan
    if not isinstance(confidence, NO_NUMBERS):
        with contextlib.suppress(TypeError, ValueError):
            value = float(confidence)
    if not 0.5 <= value < 1.0:  # 0.05 is the significance level of 0.95
        raise DataError(
            f"`{name}` is {received(confidence)}; expected a number from 0.5 to below 1, such as "
            "0.95"
        )
    return value


def require_flag(name: str, value: object) -> bool:
    """Return `value` as a bool, or raise :class:`DataError` unless it is a bool, 0, 1 or None."""
    if value is not None and not (isinstance(value, bool | int | np.bool_) and value in (0, 1)):
        raise DataError(f"{named(name)} is {received(value)}; expected True or False")
    return bool(value)


def require_text(name: str, value: object) -> str:
    """Return `value`, or raise :class:`DataError` unless it is text."""
    if not isinstance(value, str):
        raise DataError(f"{named(name)} is {received(value)}; expected text")
    return value


def require_choice(name: str, value: object, choices: Any) -> None:
    """Raise :class:`DataError` unless `value` is in `choices`, which may be a ``Literal``."""
    choices = get_args(choices) or list(choices)
    if not isinstance(value, str) or value not in choices:
        raise DataError(bad_choice(name, value, choices))


def chosen_task(task: object, tasks: Iterable[W]) -> W:
    """Return the task in the spelling of `tasks`: ``open_set`` for ``open-set``."""
    if isinstance(task, str):
        task = task.replace("-", "_")
    require_choice("task", task, tasks)
    return cast(W, task)


def require_list(name: str, values: Any) -> list[Any]:
    """Return the items of `values`; raise :class:`DataError` if it is a text, or no list."""
    try:
        items = list(values) if not isinstance(values, str | bytes) else None
    except TypeError:
        items = None
    if items is None:
        raise DataError(f"{named(name)} is {received(values)}; expected a list")
    return items


def require_path(name: str, value: Any) -> Path:
    """Return `value` as a path, or raise :class:`DataError` unless a file could have that name."""
    try:
        raw = os.fsencode(value) if isinstance(value, str | os.PathLike) else None
    except (TypeError, ValueError):
        raw = None
    if raw is None or b"\0" in raw:
        raise DataError(f"{named(name)} is {received(value)}; expected the path of a file")
    if len(raw) > _LONGEST_PATH or max(map(len, raw.split(b"/"))) > _LONGEST_NAME:
        raise DataError(f"{named(name)}: {os.fspath(value)!r} is too long for the name of a file")
    return Path(value)


def require_callable(name: str, value: Any) -> Any:
    """Return `value`, or raise :class:`DataError` unless it can be called or is None."""
    if value is not None and not callable(value):
        raise DataError(f"{named(name)} is {received(value)}; expected a function")
    return value


def require_array(name: str, values: Any) -> np.ndarray:
    """Return an array, or raise :class:`DataError` where lists are ragged or contain themselves.

    Values masked by numpy are an error, too: they would lose their mask.
    """
    if isinstance(values, np.ma.MaskedArray) and (hidden := np.ma.getmaskarray(values)).any():
        raise DataError(
            f"{named(name)} has {counted(int(hidden.sum()), 'masked values')}, the first at "
            f"{np.argwhere(hidden)[0].tolist()}; leave these entries out of all arrays, or fill "
            "them by filled(value)"
        )
    values = as_numpy(values, name)
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(
            f"{named(name)} is {received(values)}; expected an array ({error})"
        ) from None


def require_numbers(name: str, values: Any) -> np.ndarray:
    """Return numbers as float64; raise :class:`DataError` for text, complex and ragged lists."""
    array = require_array(name, values)
    holds_text = array.dtype.kind == "O" and any(
        isinstance(value, NO_NUMBERS[1:]) for value in array.ravel().tolist()
    )
    is_buffer = isinstance(values, bytearray | memoryview)
    if array.dtype.kind in "biufO" and not holds_text and not is_buffer:
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return array.astype(np.float64)
    raise DataError(f"{named(name)} is {received(values)}; expected real numbers")


def require_listed_numbers(
    name: str, values: Any, expected: str, valid: Callable[[np.ndarray], Any]
) -> np.ndarray:
    """Return one number or a list as float64 (n,), or raise :class:`DataError` unless `valid`.

    The error states what was `expected`.
    """
    try:
        array = np.atleast_1d(require_numbers(name, values))
    except DataError:
        array = np.empty((0, 0))
    if array.ndim != 1 or not valid(array):
        raise DataError(f"{named(name)} is {received(values)}; expected {expected}")
    return array


# The errors of libraries that cannot hand over their memory.
_ERRORS = (TypeError, ValueError, RuntimeError, BufferError, AttributeError)

# The NumPy dtypes that hold the values of types of ml_dtypes exactly, which JAX uses.
_WIDER = {"bfloat16": np.float32, "float": np.float32, "int": np.int8, "uint": np.uint8}


def as_numpy(values: Any, name: str) -> Any:
    """Return an array of another library as a NumPy array; other values unchanged.

    Raise :class:`DataError` if the array is sparse, or cannot be read.
    """
    if isinstance(values, np.ndarray):
        return widened(values)
    if isinstance(values, np.generic | str | bytes | list | tuple):
        return values
    if _is_sparse(values):
        dense = "to_dense" if hasattr(values, "to_dense") else "toarray"
        raise _unreadable_array(name, values, f"is sparse; give {dense}() of it")
    original = values
    try:
        if callable(getattr(values, "detach", None)) and callable(getattr(values, "cpu", None)):
            values = values.detach().cpu()  # PyTorch has these methods
            if str(values.dtype).rpartition(".")[2].startswith(("bfloat", "float8")):
                values = values.float()
        elif hasattr(values, "__cuda_array_interface__") and callable(getattr(values, "get", None)):
            values = values.get()  # CuPy has this method
        elif hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return widened(np.from_dlpack(values))
        elif not hasattr(values, "__array_namespace__"):
            return values
        return widened(np.asarray(values))
    except _ERRORS as error:
        reason = cut(" ".join(str(error).split()), 120)
        problem = f"cannot be read as an array ({reason}); give an array of NumPy"
        raise _unreadable_array(name, original, problem) from None


def _is_sparse(values: Any) -> bool:
    layout = str(getattr(values, "layout", ""))
    if layout.startswith("torch.sparse") or getattr(values, "is_sparse", False) is True:
        return True
    return type(values).__module__.partition(".")[0] in ("scipy", "sparse", "cupyx") and hasattr(
        values, "nnz"
    )


def _unreadable_array(name: str, values: Any, problem: str) -> DataError:
    kind = type(values)
    type_name = f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"
    shape = tuple(getattr(values, "shape", ()))
    dtype = getattr(values, "dtype", "unknown")
    return DataError(f"{named(name)}: the {type_name} of dtype {dtype} and shape {shape} {problem}")


def widened(array: np.ndarray) -> np.ndarray:
    """Return an array; a dtype of ml_dtypes becomes the NumPy dtype that holds it exactly."""
    if array.dtype.type.__module__.partition(".")[0] != "ml_dtypes":
        return array
    for start, wider in _WIDER.items():
        if array.dtype.name.startswith(start):
            return array.astype(wider)
    return array


def joined(values: Any, name: str, dimensions: int) -> Any:
    """Return a list of batches with this number of `dimensions` as one array; others unchanged.

    Embeddings, scores and masks have 2, and rows of one width; scores of pairs have 1.
    """
    if not isinstance(values, list | tuple) or not values:
        return values
    sizes = {_number_of_dimensions(batch) for batch in values}
    if dimensions == 2 and sizes == {1} and not all(isinstance(x, np.ndarray) for x in values):
        return [as_numpy(row, name) for row in values]  # each tensor is a row
    if sizes != {dimensions}:
        return values
    batches = [np.asarray(as_numpy(batch, name)) for batch in values]
    for i, batch in enumerate(batches):
        if batch.shape[1:] != batches[0].shape[1:]:
            raise DataError(
                f"{named(name)}: batch {i} has shape {batch.shape} and batch 0 "
                f"{batches[0].shape}; expected rows of one width"
            )
    return np.concatenate(batches)


def joined_labels(values: Any, name: str) -> Any:
    """Return a list of batches of labels as one list; any other value unchanged.

    A batch is an array or a list; a tuple is a label.
    """
    if not isinstance(values, list | tuple) or not values:
        return values
    if not all(isinstance(batch, list) or _number_of_dimensions(batch) == 1 for batch in values):
        return values
    labels: list[Any] = []
    for batch in values:
        batch = as_numpy(batch, name)
        labels += batch if isinstance(batch, list) else np.asarray(batch).tolist()
    return labels


def _number_of_dimensions(batch: Any) -> int:
    return len(getattr(batch, "shape", ()))

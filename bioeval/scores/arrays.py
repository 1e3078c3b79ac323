"""Arrays of scores as users give them: checked values, indices and choices of rows.

Values stay as they are, never copied and never converted; what a library keeps in chunks, and
embeddings, are not read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bioeval.base.arguments import as_numpy, joined, require_array
from bioeval.base.errors import DataError, counted, cut
from bioeval.base.options import OPTIONS
from bioeval.scores.embeddings import EmbeddingSource, LazyMatrix
from bioeval.scores.stored import LIBRARIES, StoredRows, library_of, rows_of_map


def as_array(values: Any, input_name: str) -> np.ndarray:
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
    if library_of(values) not in LIBRARIES:
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


def as_values(values: Any) -> Any:
    """Return a checked matrix of scores; an array stored in chunks is not read."""
    if OPTIONS["memory_limit"] is not None:
        # The pages of a map count as memory, which reading by rows does not keep.
        values = rows_of_map(values)
    is_of_library = library_of(values) in LIBRARIES
    if not is_of_library and not isinstance(values, StoredRows | EmbeddingSource | LazyMatrix):
        values = as_array(values, "the scores")
    if np.dtype(values.dtype).kind not in "biuf":
        raise DataError(f"the scores have dtype {values.dtype}; expected an integer or float dtype")
    if len(values.shape) != 2:
        raise DataError(
            f"the scores have shape {tuple(values.shape)}; expected two dimensions, (probes, "
            "gallery). For a list of pairs use Scores.from_pairs"
        )
    if 0 in values.shape:
        empty = "there are no probes" if values.shape[1] else "the gallery is empty"
        raise DataError(f"{empty}: the scores have shape {tuple(values.shape)}")
    return StoredRows(values) if is_of_library else values


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
    """Return the probes and gallery, or the test part, of a mapping or a named tuple; else None."""
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

"""Arrays of other libraries (PyTorch, JAX, CuPy, any with DLPack) as arrays of NumPy.

No library is imported: an array is known by the methods that it has. Values are never rounded:
bfloat16 and the floats of 8 bits, which NumPy lacks, become float32, which holds them exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import DataError, cut, named

# The errors of libraries that cannot hand over their memory.
_ERRORS = (TypeError, ValueError, RuntimeError, BufferError, AttributeError)

# The NumPy dtypes that hold the values of types of ml_dtypes exactly, which JAX uses.
_WIDER = {"bfloat16": np.float32, "float": np.float32, "int": np.int8, "uint": np.uint8}


def as_numpy(values: Any, name: str) -> Any:
    """Return an array of another library as a NumPy array; other values unchanged.

    Raises
    ------
    DataError
        If the array is sparse, or cannot be read; the message says its type, dtype
        and shape, and what to do.
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
    """Return a list of batches as one array; any other value unchanged.

    Parameters
    ----------
    values
        A list or tuple of arrays, each with this number of `dimensions`.
    name : str
        The name of the argument, for messages.
    dimensions : int
        2 for embeddings, scores or masks, whose rows have one width; 1 for scores of pairs.
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

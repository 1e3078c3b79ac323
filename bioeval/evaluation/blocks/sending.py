"""Work as it is sent to a cluster: large arrays once, files by their path, a matrix by its rows."""

from __future__ import annotations

import io
import pickle
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.engine import RowWork
from bioeval.evaluation.blocks.by_path import opened, place_in_file
from bioeval.evaluation.blocks.rows import RowsHere
from bioeval.scores.embeddings import EmbeddingSource
from bioeval.scores.matrix import Scores

# Bytes of an array that is sent by itself, once for all work.
LARGE = 1 << 20

#: Rows of the matrices of some work, by name: their numbers, and their values.
Rows = dict[str, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Packed:
    """Work without its large arrays, which follow in the order of `arrays`."""

    token: str
    data: bytes
    arrays: tuple[int, ...]
    matrices: tuple[str, ...]


class Packer:
    """Takes the large arrays out of work, and keeps them, so that each is sent once.

    `by_path` says whether workers read files of the scores themselves.
    """

    def __init__(self) -> None:
        self.by_path = True
        self.arrays: dict[int, np.ndarray] = {}

    def pack(self, work: RowWork) -> Packed:
        """Return some work as bytes."""
        import cloudpickle  # type: ignore[import-untyped]

        matrices = self.matrices(work)
        names = {id(values): name for name, values in matrices.items()}
        found: dict[int, None] = {}
        packer = self

        class Pickler(cloudpickle.Pickler):
            def persistent_id(self, value: Any) -> Any:
                if isinstance(value, (str, int)):  # most of what there is
                    return None
                if (name := names.get(id(value))) is not None:
                    return "rows", name, tuple(value.shape), np.dtype(value.dtype).str
                if packer.by_path and (where := place_in_file(value)) is not None:
                    return where
                if type(value) is np.ndarray and value.nbytes >= LARGE:
                    packer.arrays[id(value)] = value
                    found[id(value)] = None
                    return "array", list(found).index(id(value))
                return None

        file = io.BytesIO()
        Pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(work)
        return Packed(uuid.uuid4().hex, file.getvalue(), tuple(found), tuple(matrices))

    def matrices(self, work: RowWork) -> dict[str, Any]:
        """Return the matrices of some work that are sent by rows."""
        return {name: values for name, (values, _) in self._matrices(work).items()}

    def rows(self, work: RowWork, low: int, high: int) -> Rows:
        """Return rows ``low:high`` of the matrices that are sent by rows."""
        found = {}
        for name, (values, readers) in self._matrices(work).items():
            places = [scores.base_rows(np.arange(low, high)) for scores in readers]
            numbers = np.unique(np.concatenate(places))
            some: Any = numbers
            if numbers[-1] - numbers[0] == len(numbers) - 1:
                some = slice(int(numbers[0]), int(numbers[-1]) + 1)
            found[name] = numbers, np.ascontiguousarray(values[some])
        return found

    def _matrices(self, work: RowWork) -> dict[str, tuple[Any, list[Scores]]]:
        """Return the matrices that are sent by rows, each once, and the scores that read them."""
        found: dict[int, tuple[str, Any, list[Scores]]] = {}
        for k, scores in enumerate((work.scores, *getattr(work, "beside", ()))):
            for name, values in (("values", scores.base), ("mask", scores._mask)):
                computed = isinstance(values, EmbeddingSource) or not hasattr(values, "dtype")
                shared = self.by_path and place_in_file(values) is not None
                if values is not None and not (computed or shared):
                    found.setdefault(id(values), (f"{name} {k}", values, []))[2].append(scores)
        return {name: (values, readers) for name, values, readers in found.values()}


def unpack(packed: Packed, arrays: Sequence[np.ndarray]) -> tuple[RowWork, dict[str, RowsHere]]:
    """Return the work, and the matrices whose rows it is to be given."""
    matrices: dict[str, RowsHere] = {}
    # An array lies in its message at any byte, and a product would copy it for each block.
    aligned = [np.require(array, requirements="A") for array in arrays]

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, found: Any) -> Any:
            kind, *rest = found
            if kind == "array":
                return aligned[rest[0]]
            if kind == "rows":
                name, shape, dtype = rest
                none = np.empty(0, dtype=np.int64)
                empty = np.empty((0, *shape[1:]), dtype=dtype)
                return matrices.setdefault(name, RowsHere(shape, np.dtype(dtype), none, empty))
            return opened(kind, *rest)

    # From the process that started the work, through the cluster: never from a file.
    return Unpickler(io.BytesIO(packed.data)).load(), matrices

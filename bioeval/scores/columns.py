"""Long columns of lists: numbers that grow as a file is read, and names of both sides as codes."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bioeval.base.errors import (
    DataError,
    Part,
)
from bioeval.scores.labels import Codes, as_labels, as_objects

#: Bytes of a column that are held in memory; more are written to a temporary file and mapped.
MOST_BYTES = 1 << 25

#: Values of a column that are worked on together, so few that their memory is taken but once.
PIECE = 1 << 17


class GrowingColumn:
    """Numbers of one type, appended piece by piece."""

    def __init__(self, dtype: Any):
        self._held = np.empty(0, dtype)
        self._waiting = self._written = 0
        self._file: Any = None
        self._array: np.ndarray | None = None

    def __len__(self) -> int:
        return self._written + self._waiting

    def append(self, values: np.ndarray) -> None:
        """Append a copy of values."""
        most = MOST_BYTES // self._held.itemsize
        if self._waiting + len(values) > len(self._held):
            self._spool()
            if len(values) > len(self._held):
                # The system gives the memory as it is filled, and not at once.
                self._held = np.empty(max(most, len(values)), self._held.dtype)
        self._held[self._waiting : self._waiting + len(values)] = values
        self._waiting += len(values)
        if self._waiting > most:
            self._spool()

    def _spool(self) -> None:
        """Write the values that are held to a temporary file."""
        if not self._waiting:
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - mapped by `array`
            self._file.write(self._held[: self._waiting])
            self._file.flush()
        except OSError as error:
            raise DataError(
                "the data could not be written to a temporary file in "
                f"{tempfile.gettempdir()}: {error.strerror or error}; name a folder with room "
                "in TMPDIR"
            ) from error
        self._written, self._waiting = len(self), 0

    def array(self) -> np.ndarray:
        """Return all values; a long column is mapped from a temporary file without a name."""
        if self._array is None:
            if self._file is None:
                self._held.resize(self._waiting, refcheck=False)
                self._array = self._held
            else:
                self._spool()
                shape = (self._written,)
                self._array = np.memmap(self._file, self._held.dtype, "r+", shape=shape)
                self._file.close()
            self._held = np.empty(0, self._held.dtype)
        return self._array


def taken(column: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return some values of a column, by their places or by a boolean selection in pieces."""
    if rows.dtype != bool or len(column) <= PIECE:
        return column[rows]
    values = GrowingColumn(column.dtype)
    for low in range(0, len(column), PIECE):
        values.append(column[low : low + PIECE][rows[low : low + PIECE]])
    release(column)
    return values.array()


def united(names: Sequence[str], more: Iterable[str]) -> tuple[list[str], np.ndarray]:
    """Return names with the new ones among others after them, and the place of each other."""
    place = {name: i for i, name in enumerate(names)}
    places = [place.setdefault(name, len(place)) for name in more]
    return [*place], np.array(places, dtype=np.int64)


def places_among(names: Sequence[str], wanted: Iterable[str]) -> np.ndarray:
    """Return the place of each wanted name; -1 where it is none of the names."""
    place = {name: i for i, name in enumerate(names)}
    return np.array([place.get(name, -1) for name in wanted], dtype=np.int64)


def release(*columns: np.ndarray) -> None:
    """Release the memory of mapped columns; they are read again when needed."""
    for column in columns:
        base: Any = column
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "base", None)
        if base is not None and hasattr(mmap, "MADV_DONTNEED"):
            base.madvise(mmap.MADV_DONTNEED)


class CodedSides:
    """The subjects, or the templates, of both sides of pairs.

    - `values` (sequence): distinct names
    - `a`, `b` (int32 (p,)): the place in `values` of the name of each side of each pair
    """

    def __init__(self, values: Sequence[Any], a: np.ndarray, b: np.ndarray):
        self.values, self.a, self.b = list(values), a, b

    @classmethod
    def of(
        cls, names: np.ndarray, input_name: Part, checked: Callable[..., Any] = as_labels
    ) -> CodedSides:
        """Return names given as an array, (p, 2)."""
        a, b = names.T.tolist()
        coded = Codes(checked(a, input_name), checked(b, input_name), input_name)
        a, b = coded.probe.astype(np.int32), coded.gallery.astype(np.int32)
        return cls(coded.values.tolist(), a, b)

    def __len__(self) -> int:
        return len(self.a)

    def take(self, index: np.ndarray) -> CodedSides:
        """Return the names of some pairs, by their places or by a boolean selection."""
        return CodedSides(self.values, taken(self.a, index), taken(self.b, index))

    def exchanged(self, turned: np.ndarray) -> CodedSides:
        """Return the names with the sides of some pairs exchanged."""
        sides = (np.where(turned, self.b, self.a), np.where(turned, self.a, self.b))
        return CodedSides(self.values, *sides)

    def objects(self) -> np.ndarray:
        """Return the name of each side, (p, 2); equal names are one object."""
        values = as_objects(self.values)
        return np.column_stack([values[self.a], values[self.b]])

    def side(self, number: int) -> np.ndarray:
        """Return the name of side 0 or 1 of each pair; equal names are one object."""
        values = as_objects(self.values)
        return values[self.b if number else self.a]

    def codes(self) -> Codes:
        """Return the names that occur, in their order, and the code of each side: b the probes."""
        count = np.zeros(len(self.values), dtype=np.int64)
        for column in (self.a, self.b):
            for low in range(0, len(column), PIECE):
                count += np.bincount(column[low : low + PIECE], minlength=len(count))
        present = np.flatnonzero(count)
        values, place = np.unique([self.values[i] for i in present], return_inverse=True)
        new = np.zeros(len(self.values), dtype=np.int32)
        new[present] = place.reshape(-1)
        if np.array_equal(new, np.arange(len(new))):
            sides = [self.a, self.b]
        else:
            sides = [np.empty(len(self), dtype=np.int32) for _ in range(2)]
            for side, column in zip(sides, (self.a, self.b), strict=True):
                for low in range(0, len(column), PIECE):
                    side[low : low + PIECE] = new[column[low : low + PIECE]]
        release(self.a, self.b)
        enrolled, probes = sides
        return Codes.known(values, probes, enrolled)

"""Templates that come batch by batch, and their order, which no batch decides."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.embeddings import as_embeddings
from bioeval.scores.labels import as_labels, as_meta

#: Two embeddings of one template may differ by rounding; by this part of their length, they do not
#: come from one state of a model.
ROUNDING = 0.05


@dataclass(eq=False)
class Batch:
    """The templates of one batch, which no longer share memory with what the caller has."""

    embeddings: np.ndarray  # (n, f), in the dtype that was given; perhaps in a file
    labels: np.ndarray
    meta: dict[str, np.ndarray]
    index: np.ndarray | None  # the name of each template, by which repeats are found
    digests: np.ndarray  # uint64 (n, 2): equal for equal embeddings

    @classmethod
    def checked(cls, embeddings: Any, labels: Any, index: Any, meta: Mapping[str, Any]) -> Self:
        """Return a batch of what the caller gave, or raise :class:`DataError`."""
        values = np.array(as_embeddings(embeddings, "embeddings"), order="C")
        number = len(values)
        subjects = _column(labels, "labels", number)
        names = None if index is None else _column(index, "index", number)
        columns = {}
        for name, column in as_meta(meta, number, "meta").items():
            columns[name] = column.copy()
        return cls(values, subjects, columns, names, _digests(values))

    def __len__(self) -> int:
        return len(self.labels)


class Templates:
    """The batches of one role, and the templates of all of them in one order.

    The order is that of the index, or without one that of labels, digests of the embeddings, and
    metadata: it is the same in whichever batches the templates came.
    """

    def __init__(self, spill: Path | None):
        """Begin without templates; with `spill`, embeddings are kept in a folder in there."""
        self.batches: list[Batch] = []
        self._files = 0
        self._folder: Path | None = None
        if spill is not None:
            self._folder = Path(tempfile.mkdtemp(dir=spill, prefix="meter-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    def add(self, batch: Batch) -> None:
        """Take a batch that :meth:`require_fit` has let pass."""
        if self._folder is not None:
            path = self._folder / f"{self._files}.npy"
            np.save(path, batch.embeddings)
            batch.embeddings = np.load(path, mmap_mode="r")
            self._files += 1
        self.batches.append(batch)

    def require_fit(self, batch: Batch) -> None:
        """Raise :class:`DataError` if a batch has other features or columns than those before."""
        if not self.batches:
            return
        first = self.batches[0]
        features, expected = batch.embeddings.shape[1], first.embeddings.shape[1]
        if features != expected:
            raise DataError(
                f"embeddings have {features} features, but those of earlier batches have "
                f"{expected}; call reset() before templates of another model"
            )
        if batch.meta.keys() != first.meta.keys():
            raise DataError(
                f"the metadata of this batch are {_listed(batch.meta)}, those of earlier batches "
                f"{_listed(first.meta)}; give the same columns with every batch"
            )
        if (batch.index is None) != (first.index is None):
            raise DataError(
                "index is given for some batches only; give it with every batch, or with none"
            )

    def joined(self) -> Batch:
        """Return all templates in their order, each template of an index once."""
        batches = self.batches
        labels = _joined([batch.labels for batch in batches])
        meta = {}
        for name in batches[0].meta:
            meta[name] = _joined([batch.meta[name] for batch in batches])
        index = None
        if batches[0].index is not None:
            index = _joined([batch.index for batch in batches if batch.index is not None])
        digests = np.concatenate([batch.digests for batch in batches])
        keys = [*map(_sorting_key, meta.values()), digests[:, 1], digests[:, 0]]
        keys.append(_sorting_key(labels))
        if index is not None:
            keys.append(_sorting_key(index))
        order = np.lexsort(keys)
        if index is not None:
            order = self._without_repeats(order, keys)
        whole = Batch(
            self._embeddings_in(order),
            labels[order],
            {name: column[order] for name, column in meta.items()},
            None if index is None else index[order],
            digests[order],
        )
        if self._folder is None:
            self.batches = [whole]
        return whole

    def _embeddings_in(self, order: np.ndarray) -> np.ndarray:
        """Return the embeddings at some positions, in that order."""
        place = np.full(len(self), -1)
        place[order] = np.arange(len(order))
        dtype = np.result_type(*(batch.embeddings.dtype for batch in self.batches))
        features = self.batches[0].embeddings.shape[1]
        embeddings = np.empty((len(order), features), dtype=dtype)
        low = 0
        for batch in self.batches:
            places = place[low : low + len(batch)]
            kept = places >= 0
            embeddings[places[kept]] = batch.embeddings[kept]
            low += len(batch)
        return embeddings

    def _without_repeats(self, order: np.ndarray, keys: Sequence[np.ndarray]) -> np.ndarray:
        """Return the positions of an order without templates whose index has come before.

        The keys are those of the order: metadata, two digests, labels, index.
        """
        *columns, second, first, labels, index = (key[order] for key in keys)
        repeated = np.append(False, index[1:] == index[:-1])
        starts = np.flatnonzero(~repeated)
        kept = starts[np.cumsum(~repeated) - 1]  # of each place, the one that is kept
        for column in (labels, *columns):
            wrong = column != column[kept]
            if wrong.any():
                raise DataError(
                    f"template {self._name_at(order[np.argmax(wrong)])} of the index was given "
                    "twice, with different labels or metadata; expected one name for each template"
                )
        other = np.flatnonzero((first != first[kept]) | (second != second[kept]))
        for place in other.tolist():
            one, another = self._row(order[kept[place]]), self._row(order[place])
            if not _nearly_equal(one, another):
                raise DataError(
                    f"template {self._name_at(order[place])} of the index was given twice, with "
                    "different embeddings; call reset() before templates of another model"
                )
        return order[~repeated]

    def _row(self, position: int) -> np.ndarray:
        """Return the embedding at a position among those of all batches."""
        batch, row = self._place(position)
        return np.asarray(batch.embeddings[row], dtype=np.float64)

    def _name_at(self, position: int) -> str:
        batch, row = self._place(position)
        assert batch.index is not None
        return repr(batch.index[row : row + 1].tolist()[0])

    def _place(self, position: int) -> tuple[Batch, int]:
        """Return the batch of a position, and its row there."""
        low = 0
        for batch in self.batches:
            if position < low + len(batch):
                break
            low += len(batch)
        return batch, int(position) - low


def _column(values: Any, name: str, number: int) -> np.ndarray:
    """Return labels or names of templates as an array of their own."""
    column = as_labels(values, name)
    if len(column) != number:
        raise DataError(
            f"{name} has {len(column)} values, but there are {number} embeddings; expected one for "
            "each"
        )
    return column.copy()


def _digests(embeddings: np.ndarray) -> np.ndarray:
    """Return a digest of each row, as two whole numbers."""
    parts = []
    for row in embeddings:
        parts.append(hashlib.blake2b(row.tobytes(), digest_size=16).digest())
    return np.frombuffer(b"".join(parts), dtype="<u8").reshape(-1, 2).astype(np.uint64)


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Join columns without changing a label: 1 and "1" stay different."""
    kinds = {part.dtype.kind for part in parts}
    if kinds <= set("iub"):
        alike = np.result_type(*(part.dtype for part in parts)).kind in "iub"
    else:
        alike = len(kinds) == 1
    if not alike:
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def _sorting_key(column: np.ndarray) -> np.ndarray:
    """Return numbers that sort as the values do, or as their text where they are of any type."""
    if column.dtype.kind == "O":
        column = np.array([f"{type(x).__name__} {x!r}" for x in column.tolist()])
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def _nearly_equal(one: np.ndarray, another: np.ndarray) -> bool:
    """Whether two embeddings may be of one template, computed in other batches."""
    if not (np.isfinite(one).all() and np.isfinite(another).all()):
        return bool(np.array_equal(one, another, equal_nan=True))
    length = max(np.linalg.norm(one), np.linalg.norm(another))
    return bool(np.linalg.norm(one - another) <= ROUNDING * length)


def _listed(meta: Mapping[str, Any]) -> str:
    return ", ".join(sorted(meta)) or "none"

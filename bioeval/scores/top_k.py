"""Top-K lists: for each query, its nearest gallery entries alone.

Challenge servers take such lists in place of a matrix. A list determines its first K ranks;
of the entries below them only a bound is known, and what needs their scores is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NoReturn, Self

import numpy as np

from bioeval.base.arguments import require_array, require_flag
from bioeval.base.array_libraries import joined
from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.kinds import VALUED, Kind, larger_is_closer
from bioeval.base.messages import Message, MessageWarning
from bioeval.scores.arrays import as_array, as_index
from bioeval.scores.labelled_matrix import memory_attributes
from bioeval.scores.labels import (
    Codes,
    as_labels,
    as_meta,
    digest_of_values,
    fixed,
)
from bioeval.scores.matrix import Scores
from bioeval.scores.template_names import NamedTemplates

# Of lists that begin with the entry at the place of their query, if an index was searched with its
# own vectors: all but equal vectors and what an approximate index misses.
_NEARLY_ALL, _FEW = 0.9, 10

# A distance that is smaller than this part of the usual one is a rounded 0: searches in float32
# compute it as a difference of squares.
_NEAR_ZERO = 1e-4


class TopKScores(Scores):
    """For each query the indices of its K nearest gallery entries, nearest first.

    Parameters
    ----------
    indices : array_like of int, shape (q, k)
        Columns of the gallery, from 0, nearest first, none of them twice in a row; -1 at the end
        of a row where a list is shorter.
    labels : sequence, shape (q,)
        The identity of each query.
    gallery_labels : sequence, shape (n,), optional
        The identity of every gallery entry, listed or not: average precision divides by all
        matches in the gallery. If left out, queries and entries are the same templates, and each
        query is left out of its own list.
    distances : array_like, shape (q, k), optional
        The scores of the entries, in the order of the list.
    kind : {"distance", "similarity", "llr"}
        What `distances` are.
    probe_meta, gallery_meta, name
        As for :class:`Scores`.
    leave_out_query : bool, optional
        Whether a query that is itself a gallery entry is left out of its list and of its matches:
        an index that is searched with its own vectors returns each of them as its own nearest. True
        takes query i as entry i; by default only without `gallery_labels`.
    query_positions : array_like of int, shape (q,), optional
        The gallery entry that each query is itself, -1 for none, where the queries are other rows
        of the index than the first ones. They are left out of their lists.

    Attributes
    ----------
    indices : ndarray of int64, shape (q, k)
    distances : ndarray, shape (q, k), or None
        NaN or anything else where the index is -1.
    depth : int
        K, the length of the lists.
    gallery_size : int
        n, the number of gallery entries.

    Raises
    ------
    DataError
        If indices are outside of the gallery or repeated, or distances are not in the order of
        the list; if `leave_out_query` is True and the queries are not the gallery's first entries.

    Warns
    -----
    BioevalWarning
        If nearly every list begins with the entry at the place of its query, and `leave_out_query`
        is not given.

    Examples
    --------
    >>> import bioeval as be
    >>> lists = be.TopKScores([[2, 0], [1, 2]], ["ann", "bob"], ["ann", "bob", "ann"])
    >>> lists
    <TopKScores 2 queries, the nearest 2 of 3 gallery entries, 2 subjects>
    >>> be.verification(lists)
    Traceback (most recent call last):
    bioeval.base.errors.ProtocolError: ... the 2 nearest ...

    Three vectors of an index, searched with themselves:

    >>> who = ["ann", "ann", "bob"]
    >>> be.TopKScores([[0, 1], [1, 0], [2, 0]], who).indices
    array([[1],
           [0],
           [0]])
    """

    indices: np.ndarray
    distances: np.ndarray | None = None
    _kinds = VALUED
    _layout = "top-k"

    def __init__(
        self,
        indices: Any,
        labels: Any,
        gallery_labels: Any = None,
        *,
        distances: Any = None,
        kind: Kind = "distance",
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        name: str | None = None,
        leave_out_query: bool | None = None,
        query_positions: Any = None,
    ):
        """Check the lists and their distances."""
        self._set_words(kind, "raise", name)
        self._set(**memory_attributes())
        if gallery_labels is None:
            gallery_labels = labels
            gallery_meta = probe_meta if gallery_meta is None else gallery_meta
            if leave_out_query is None:
                leave_out_query = True
        enrolled = as_labels(gallery_labels, Argument("gallery_labels"))
        n = len(enrolled)
        if n == 0:
            raise DataError(f"the gallery is empty: {Argument('gallery_labels')} has no entries")
        lists = _as_lists(indices, n)
        q = len(lists)
        searched = as_labels(labels, Argument("labels"))
        if len(searched) != q:
            raise DataError(
                f"{Argument('labels')} has {len(searched)} labels for {q} lists; expected one per "
                "query"
            )
        self._set(
            indices=lists,
            probe_labels=searched,
            gallery_labels=enrolled,
            probe_ids=np.arange(n, n + q, dtype=np.int64),
            gallery_ids=np.arange(n, dtype=np.int64),
            _probe_meta=as_meta(probe_meta, q, "probe_meta"),
            _gallery_meta=as_meta(gallery_meta, n, "gallery_meta"),
            _codes=Codes(searched, enrolled),
        )
        if distances is not None:
            self._set(distances=fixed(self._as_distances(distances), distances))
        sides = self.probe_labels, self.gallery_labels
        named = NamedTemplates.of(self._probe_meta, self._gallery_meta, sides)
        if query_positions is not None:
            if leave_out_query is False:
                raise DataError(
                    f"{Argument('query_positions')} is given, and {Argument('leave_out_query')} is "
                    "False; leave one of them out"
                )
            self._leave_out(self._as_positions(query_positions))
        elif leave_out_query is None:
            if named is None:
                self._warn_of_own_entries()
        elif require_flag("leave_out_query", leave_out_query):
            if not self._begins_gallery:
                raise DataError(
                    f"{Argument('leave_out_query')} is stated, but the labels of the {q:,} queries "
                    "are not those of the first gallery entries; expected query i to be entry i, "
                    f"or the entry that each query is, as {Argument('query_positions')}"
                )
            self._leave_out(np.arange(q))
        if named is not None:
            self._leave_out_named(named.entries(self._codes))

    @classmethod
    def from_search(
        cls,
        distances: Any,
        indices: Any,
        labels: Any,
        gallery_labels: Any = None,
        *,
        kind: Kind = "distance",
        probe_meta: Mapping[str, Any] | None = None,
        gallery_meta: Mapping[str, Any] | None = None,
        name: str | None = None,
        leave_out_query: bool | None = None,
        query_positions: Any = None,
    ) -> Self:
        """Take the answer of a search for the nearest vectors, as FAISS and others return it.

        Parameters
        ----------
        distances : array_like, shape (q, k)
            What the search returns first: ``D`` of ``index.search(x, k)`` of FAISS, ``values`` of
            ``torch.topk``. hnswlib and ScaNN return the indices first.
        indices : array_like of int, shape (q, k)
            The gallery entries, from 0, nearest first. -1, wherever in a row, is a place for which
            the search found nothing.
        kind : {"distance", "similarity", "llr"}
            What `distances` are: ``"similarity"`` for inner products.
        labels, gallery_labels, probe_meta, gallery_meta, name, leave_out_query, query_positions
            As for :class:`TopKScores`.

        Returns
        -------
        TopKScores

        Examples
        --------
        >>> import bioeval as be
        >>> d, i = [[0.0, 0.1, 9.0], [0.0, 0.1, 3e38]], [[0, 1, 2], [1, 0, -1]]
        >>> be.TopKScores.from_search(d, i, ["ann", "ann", "bob"][:2], ["ann", "ann", "bob"],
        ...     leave_out_query=True).indices
        array([[ 1,  2],
               [ 0, -1]])
        """
        entries = require_array("indices", joined(indices, "indices", 2))
        values = as_array(joined(distances, "distances", 2), "distances")
        if entries.dtype.kind == "f" and values.dtype.kind in "iu":
            raise DataError(
                "the indices are fractions and the distances whole numbers; expected the distances "
                "first and the indices after them"
            )
        if entries.dtype.kind in "iu" and entries.ndim == 2 and entries.shape == values.shape:
            if entries.dtype.kind == "u":  # of hnswlib and ScaNN
                entries = entries.astype(np.int64)
            if (entries < 0).any():
                order = np.argsort(entries < 0, axis=1, kind="stable")
                entries = np.take_along_axis(entries, order, axis=1)
                values = np.take_along_axis(values, order, axis=1)
        return cls(
            entries,
            labels,
            gallery_labels,
            distances=values,
            kind=kind,
            probe_meta=probe_meta,
            gallery_meta=gallery_meta,
            name=name,
            leave_out_query=leave_out_query,
            query_positions=query_positions,
        )

    def _as_positions(self, positions: Any) -> np.ndarray:
        """Return the gallery entry that each query is, -1 for none, checked against the labels."""
        entry = require_array("query_positions", positions)
        q, n = len(self.indices), self.gallery_size
        if entry.shape != (q,) or entry.dtype.kind not in "iu":
            raise DataError(
                f"{Argument('query_positions')} has shape {entry.shape} and dtype {entry.dtype}; "
                f"expected the gallery entry of each of the {q:,} queries, -1 for none"
            )
        entry = entry.astype(np.int64)
        if (entry < -1).any() or (entry >= n).any():
            row = int(np.argmax((entry < -1) | (entry >= n)))
            raise DataError(
                f"{Argument('query_positions')} of query {row} is {entry[row]}; expected an entry "
                f"from 0 to {n - 1}, or -1"
            )
        other = (entry >= 0) & (self._codes.gallery[entry] != self._codes.probe)
        if other.any():
            row = int(np.argmax(other))
            raise DataError(
                f"{Argument('query_positions')} of query {row} is entry {entry[row]}, which has "
                "another label than the query; expected the entry that the query is itself"
            )
        return entry

    @property
    def _begins_gallery(self) -> bool:
        """Whether the labels of the queries are those of the first gallery entries."""
        return np.array_equal(self._codes.probe, self._codes.gallery[: len(self.indices)])

    def _warn_of_own_entries(self) -> None:
        """Warn, and remark, where nearly all lists seem to begin with their own query.

        That is the entry at their place, or one of their label at a distance of about 0.
        """
        q, nearest = len(self.indices), self.indices[:, 0]
        first = int((nearest == np.arange(q)).sum()) if self._begins_gallery else 0
        if self.distances is not None and not larger_is_closer(self.kind):
            usual = np.median(np.abs(self.distances[self.indices >= 0]))
            same = (self._codes.gallery[nearest] == self._codes.probe) & (nearest >= 0)
            near = np.abs(self.distances[:, 0]) <= _NEAR_ZERO * usual
            first = max(first, int((near & same).sum()))
        mates = np.bincount(self._codes.gallery, minlength=len(self._codes.values)) - 1
        if q >= _FEW and first >= _NEARLY_ALL * q and mates[self._codes.probe].any():
            self._set(_remarks=(Message("lists-begin-with-query", lists=first, queries=q),))
            doubt = (
                f"{first:,} of {q:,} lists may begin with their own query; state by "
                "leave_out_query whether they do"
            )
            warnings.warn(doubt, MessageWarning, stacklevel=3)

    def _leave_out(self, entry: np.ndarray) -> None:
        """Leave queries out of their own lists, by the gallery entry that each is, or -1."""
        is_query = self.indices == entry[:, None]
        order = np.argsort(is_query | (self.indices < 0), axis=1, kind="stable")
        indices = np.take_along_axis(np.where(is_query, -1, self.indices), order, axis=1)
        places = max(1, int((indices >= 0).any(axis=0).sum()))
        if self.distances is not None:
            distances = np.take_along_axis(self.distances, order, axis=1)[:, :places]
            self._set(distances=distances)
        self._set(
            indices=indices[:, :places],
            probe_ids=np.where(entry >= 0, entry, self.probe_ids),
        )

    def _leave_out_named(self, entry: np.ndarray) -> None:
        """Leave queries out of their own lists, by the entry of the same name, or -1."""
        stated = self._entry_of_query
        wrong = (entry >= 0) & (stated >= 0) & (entry != stated)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"query {row} is stated to be entry {stated[row]}, but has the name of entry "
                f"{entry[row]}; correct {Argument('query_positions')} or the names"
            )
        if (entry >= 0).any():
            self._leave_out(entry)

    @property
    def _entry_of_query(self) -> np.ndarray:
        """The gallery entry that each query is itself; -1 for another template."""
        return np.where(self.probe_ids < self.gallery_size, self.probe_ids, -1)

    def _as_distances(self, distances: Any) -> np.ndarray:
        """Return the distances of the lists, checked."""
        values = as_array(joined(distances, "distances", 2), "distances")
        if values.shape != self.indices.shape:
            raise DataError(
                f"distances have shape {values.shape}; expected {self.indices.shape}, as indices"
            )
        listed = self.indices >= 0
        if (np.isnan(values) & listed).any():
            row = int(np.argmax((np.isnan(values) & listed).any(axis=1)))
            raise DataError(f"distances of query {row} hold NaN; a list is in order of distance")
        before, after = values[:, :-1], values[:, 1:]
        wrong = (after > before if larger_is_closer(self.kind) else after < before) & listed[:, 1:]
        if wrong.any():
            row = int(np.argmax(wrong.any(axis=1)))
            word = "increase" if larger_is_closer(self.kind) else "decrease"
            other = "distance" if larger_is_closer(self.kind) else "similarity"
            raise DataError(
                f"{self.kind} scores of {int(wrong.any(axis=1).sum())} of {len(values)} lists "
                f"{word} along the list, the first is query {row}; a list has its nearest entry "
                f"first (or these are of {Argument('kind', other)})"
            )
        return values

    # ---------------------------------------------------------------- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of queries and of gallery entries, listed or not."""
        return len(self.indices), self.gallery_size

    @property
    def depth(self) -> int:
        """The length of the lists."""
        return self.indices.shape[1]

    @property
    def gallery_size(self) -> int:
        """The number of gallery entries."""
        return len(self.gallery_labels)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the distances; float64 where there are none."""
        return np.dtype(float) if self.distances is None else self.distances.dtype

    def __repr__(self) -> str:
        q, n = self.shape
        return (
            f"<TopKScores {q} queries, the nearest {self.depth} of {n} gallery entries, "
            f"{len(self.subjects)} subjects>"
        )

    def select(self, *index: Any, probes: Any = None, gallery: Any = None) -> Self:
        """Take some queries; part of the gallery would need entries that are not listed."""
        probes, gallery = self._chosen(index, probes, gallery)
        if gallery is not None:
            self._refuse()
        if probes is None:
            return self
        rows = as_index(probes, len(self.indices), "probes")
        codes = copy(self._codes)
        codes.probe = self._codes.probe[rows]
        return self._with(
            indices=self.indices[rows],
            distances=None if self.distances is None else self.distances[rows],
            probe_labels=self.probe_labels[rows],
            probe_ids=self.probe_ids[rows],
            _probe_meta={name: fixed(column[rows]) for name, column in self.probe_meta.items()},
            _codes=codes,
        )

    def replace(self, **changes: Any) -> Self:
        """Return the same lists as scores of another kind or name; see :meth:`Scores.replace`."""
        view = super().replace(**changes)
        if view.distances is not None:
            view._as_distances(view.distances)
        return view

    def _sides_of_one(self, index: Any) -> tuple[Any, Any]:
        """Return what a single index chooses: queries."""
        return index, None

    def _as_exclusions(self, exclude: Sequence[str]) -> NoReturn:
        """Raise: the argument ``removed`` of :func:`bioeval.reid` takes its place."""
        raise ProtocolError(
            f"{Argument('exclude')} needs a matrix of scores: top-K lists leave out by camera "
            "alone, with removed= of bioeval.reid"
        )

    # ---------------------------------------------------------------- what it lacks

    def _require_matrix(self) -> NoReturn:
        """Raise: the scores of entries that are not listed are missing."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ProtocolError(
            f"this needs the scores of all {self.gallery_size} gallery entries, and a top-K list "
            f"has the {self.depth} nearest alone. Evaluate top-K lists by "
            f"{Argument('protocol', 'top-k')}, or a card such as cityflow, for CMC and mean "
            "average precision up to this length; give the matrix of all scores for everything "
            "else"
        )

    @property
    def _base(self) -> NoReturn:
        """Raise: lists hold no matrix of values to read."""
        self._refuse()

    _source = _base

    def _digest_of_values(self) -> str:
        """Return a digest of the lists, and of their distances."""
        lists = [self.indices]
        if self.distances is not None:
            lists.append(self.distances)
        return digest_of_values(lists)

    @property
    def _streams(self) -> bool:
        """False: lists are never computed from embeddings."""
        return False


def _as_lists(indices: Any, n: int) -> np.ndarray:
    """Return lists as int64, each with distinct entries of the gallery and -1 only at its end."""
    array = require_array("indices", joined(indices, "indices", 2))
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "iu":
        raise DataError(
            f"indices have shape {array.shape} and dtype {array.dtype}; expected integers "
            "(queries, K)"
        )
    outside = (array < -1) | (array >= n)
    if outside.any():
        row = int(np.argmax(outside.any(axis=1)))
        index = int(array[row][np.argmax(outside[row])])
        hint = (
            "; these begin with 1, as it seems: subtract 1"
            if index == n and (array != 0).all()
            else ""
        )
        raise DataError(
            f"{int(outside.sum())} indices are outside of 0..{n - 1}, the first is {index} in list "
            f"{row}{hint}"
        )
    lists = array.astype(np.int64)
    ended = lists[:, :-1] < 0
    if (ended & (lists[:, 1:] >= 0)).any():
        row = int(np.argmax((ended & (lists[:, 1:] >= 0)).any(axis=1)))
        raise DataError(f"list {row} has entries after -1; -1 ends a list")
    ordered = np.sort(lists, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if twice.any():
        row = int(np.argmax(twice.any(axis=1)))
        entry = int(ordered[row, 1:][np.argmax(twice[row])])
        raise DataError(
            f"{int(twice.any(axis=1).sum())} lists hold an entry twice, the first is list {row} "
            f"with {entry}"
        )
    return lists

"""Top-K lists: for each query, its nearest gallery entries alone.

Challenge servers take such lists in place of a matrix. With two queries, a gallery of five entries
and K = 3:

    indices = [[4, 0, 2],      entry 4 is the nearest of query 0
               [1, 3, -1]]     only two entries were found for query 1

A list determines its first K ranks; entries below have no scores, and measures that need their
scores are refused. :func:`searched_lists` makes a :class:`TopKLists` and both its sides, for
:meth:`Scores.from_top_k`: :func:`numbered_from_zero` tells whether a program counts entries from 1,
and :func:`own_entries` what entry each query is itself, which is left out of its list.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NoReturn

import numpy as np

from bioeval.base.arguments import (
    joined,
    require_array,
    require_choice,
    require_flag,
    require_integer,
)
from bioeval.base.digests import digest_of_values
from bioeval.base.errors import DataError, Message, ProtocolError, counted
from bioeval.base.kinds import LARGER_IS_CLOSER, VALUED, Kind, Layout
from bioeval.scores.arrays import as_array
from bioeval.scores.codes import Codes
from bioeval.scores.joining import each_in_order, in_order
from bioeval.scores.keys import Keys, keys_of
from bioeval.scores.labels import NO_PERSON, are_of_no_person, as_subjects, read_only
from bioeval.scores.metadata import as_meta
from bioeval.scores.same import Scored, confirm_names
from bioeval.scores.sides import ARGUMENTS, Sides, identified, side_in_order


@dataclass(frozen=True, eq=False)
class TopKLists:
    """The lists of all queries: the source of scores of layout ``"top-k"``."""

    indices: np.ndarray  # int64 (q, k): entries, nearest first, -1 at the end of shorter lists
    #: (q, k): the scores of the entries, without meaning where the index is -1; None if not given.
    distances: np.ndarray | None
    gallery_size: int  # the number of gallery entries, listed or not
    #: Whether the user says which entry of the gallery each query is, or that it is none.
    own_entries_are_stated: bool = False

    layout: ClassVar[Layout] = "top-k"

    def __post_init__(self) -> None:
        read_only(self.indices)
        if self.distances is not None:
            read_only(self.distances)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, x.name) for x in fields(self))

    @classmethod
    def from_arrays(cls, indices: Any, distances: Any, gallery_size: int, kind: Kind) -> TopKLists:
        """Return checked lists; -1, anywhere in a row, is a place where nothing was found."""
        # Integers (q, k) from -1 to the last entry.
        array = require_array("indices", joined(indices, "indices", 2))
        if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "iu":
            raise DataError(
                f"indices have shape {array.shape} and dtype {array.dtype}; expected integers "
                "(queries, K); their scores are `distances`"
            )
        lists = array.astype(np.int64)  # the largest unsigned number becomes -1 again
        outside = (lists < -1) | (lists >= gallery_size)
        if outside.any():
            row = int(np.argmax(outside.any(axis=1)))
            index = int(array[row][np.argmax(outside[row])])
            raise DataError(
                f"the lists have {counted(outside.sum(), 'positions')} outside of "
                f"0..{gallery_size - 1}, the first is "
                f"{index} in list {row}"
            )
        # No entry twice in a list: equal numbers are neighbours when they are sorted.
        ordered = np.sort(lists, axis=1)
        is_again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)  # (q, k - 1)
        if is_again.any():
            has_twice = is_again.any(axis=1)
            row = int(np.argmax(has_twice))
            entry = int(ordered[row, 1:][np.argmax(is_again[row])])
            raise DataError(
                f"{int(has_twice.sum())} lists hold an entry twice, the first is list "
                f"{row} with {entry}"
            )
        values = None
        if distances is not None:
            values = as_array(joined(distances, "distances", 2), "distances")
            if values.shape != lists.shape:
                raise DataError(
                    f"distances have shape {values.shape}; expected {lists.shape}, as indices"
                )
            values = read_only(values, distances)
        # Places without an entry go to the end of their list; the others keep their order.
        is_empty = lists < 0
        if is_empty.any():
            order = np.argsort(is_empty, axis=1, kind="stable")
            lists = np.take_along_axis(lists, order, axis=1)
            if values is not None:
                values = np.take_along_axis(values, order, axis=1)
        checked = cls(lists, values, gallery_size)
        checked.require_kind(kind)
        return checked

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indices), self.gallery_size

    @property
    def depth(self) -> int:
        return self.indices.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the distances; float64 if there are none."""
        return np.dtype(float) if self.distances is None else self.distances.dtype

    def in_words(self) -> str:
        query_count, entry_count = self.shape
        return f"{query_count} queries, the nearest {self.depth} of {entry_count} gallery entries"

    def digest(self, *ids: np.ndarray) -> str:
        return digest_of_values([x for x in (self.indices, self.distances) if x is not None])

    def select(self, rows: np.ndarray) -> TopKLists:
        distances = None if self.distances is None else self.distances[rows]
        return replace(self, indices=self.indices[rows], distances=distances)

    def leave_out(self, entry: np.ndarray) -> TopKLists:
        """Return lists without the query itself, whose `entry` (q,) is -1 if it has none."""
        is_query = self.indices == entry[:, None]  # (q, k); also -1 == -1, where both are absent
        indices = np.where(is_query, -1, self.indices)
        order = np.argsort(indices < 0, axis=1, kind="stable")  # -1 goes to the end
        indices = np.take_along_axis(indices, order, axis=1)
        # Where every list had its query, the last column is empty now; one column stays always.
        depth = max(1, int((indices >= 0).any(axis=0).sum()))
        distances = self.distances
        if distances is not None:
            distances = np.take_along_axis(distances, order, axis=1)[:, :depth]
        return replace(self, indices=indices[:, :depth], distances=distances)

    def refuse_matrix(self) -> NoReturn:
        """Raise :class:`ProtocolError`, since entries outside of the lists have no scores."""
        raise ProtocolError(
            f"this needs the scores of all {self.gallery_size} gallery entries, and a top-K list "
            f"has the {self.depth} nearest alone. Evaluate top-K lists by "
            '`protocol="top-k"`, or a card such as cityflow, for CMC and mean '
            "average precision up to this length; give the matrix of all scores for everything "
            "else"
        )

    def require_kind(self, kind: Kind) -> None:
        """Raise :class:`DataError` unless each list is sorted by distance, nearest first."""
        require_choice("kind", kind, VALUED)
        values = self.distances
        if values is None:
            return
        is_listed = self.indices >= 0
        has_nan = (np.isnan(values) & is_listed).any(axis=1)
        if has_nan.any():
            row = int(np.argmax(has_nan))
            raise DataError(f"distances of query {row} hold NaN; a list is in order of distance")
        before, after = values[:, :-1], values[:, 1:]
        is_closer = after > before if kind in LARGER_IS_CLOSER else after < before
        is_wrong = (is_closer & is_listed[:, 1:]).any(axis=1)  # (q,)
        if is_wrong.any():
            row = int(np.argmax(is_wrong))
            word = "increase" if kind in LARGER_IS_CLOSER else "decrease"
            other_kind = "distance" if kind in LARGER_IS_CLOSER else "similarity"
            raise DataError(
                f"{kind} scores of {int(is_wrong.sum())} of {len(values)} lists "
                f"{word} along the list, the first is query {row}; a list has its nearest entry "
                f'first (or these are of `kind="{other_kind}"`)'
            )


def searched_lists(
    indices: Any,
    labels: tuple[Any, Any],
    metas: tuple[Any, Any],
    *,
    distances: Any,
    kind: Kind,
    leave_out_query: bool | None,
    query_positions: Any,
    first_index: int | None,
    shared: bool | None,
) -> tuple[TopKLists, Sides, tuple[Message, ...]]:
    """Return the lists, with their queries and gallery entries; arguments of `from_top_k`."""
    query_labels, gallery_labels = labels
    query_meta, gallery_meta = metas

    # Without labels of the gallery, its entries are the queries. If lists are in another order than
    # their labels, numbers tell which entry each query is.
    entry_by_number = None
    if gallery_labels is None:
        gallery_labels = query_labels
        if gallery_meta is None:
            gallery_meta = query_meta
        if leave_out_query is None:
            leave_out_query = True
        if query_positions is None and require_flag("leave_out_query", leave_out_query):
            entry_by_number = _entries_by_number(query_labels, indices)

    # Labels, metadata, distances and positions in the order of the lists.
    entries = side_in_order(gallery_labels, gallery_meta, Keys(), "auto", ARGUMENTS[1])
    queries = side_in_order(query_labels, query_meta, keys_of(indices), "auto")
    enrolled = as_subjects(entries.labels, "`gallery_labels`")
    if not len(enrolled):
        raise DataError("the gallery is empty: `gallery_labels` has no entries")
    inputs = {"distances": distances, "query_positions": query_positions}
    brought = each_in_order(inputs, queries.keys, may_be_plain=True)
    searched = as_subjects(queries.labels, "`labels`")
    subjects = searched, enrolled
    indices = numbered_from_zero(indices, "indices", first_index, subjects)
    positions = numbered_from_zero(
        brought.values["query_positions"], "`query_positions`", first_index, subjects
    )
    if positions is None:
        positions = entry_by_number
    lists = TopKLists.from_arrays(indices, brought.values["distances"], len(enrolled), kind)
    if len(searched) != len(lists.indices):
        raise DataError(
            f"`labels` has {counted(len(searched), 'labels')} for "
            f"{counted(len(lists.indices), 'lists')}; expected one per query"
        )
    checked_metas = (
        as_meta(queries.meta, len(searched), "probe_meta"),
        as_meta(entries.meta, len(enrolled), "gallery_meta"),
    )
    codes = Codes(searched, enrolled, of_any_type=NO_PERSON)
    sides = Sides.unrelated(subjects, codes, checked_metas, (brought.keys, entries.keys))
    sides = identified(sides, "auto")

    # The entry that each query is itself: as it is stated, or by equal names if scores confirm it.
    is_stated = positions is not None or leave_out_query is not None
    names, probe_ids = sides.probe.keys.names, sides.probe.ids
    entry_by_name = None
    if names is not None and sides.gallery.keys.names is not None:
        entry_by_name = np.where(probe_ids < len(enrolled), probe_ids, -1)
        if not is_stated and (entry_by_name >= 0).any():
            scored = Scored.of_lists(lists, kind, codes)
            are_shared, _ = confirm_names(scored, entry_by_name, names, shared=shared)
            if not are_shared:
                entry_by_name = np.full(len(searched), -1)
    entry = own_entries(lists, codes, leave_out_query, positions, entry_by_name)
    if entry is not None:
        sides = sides.separate()
        sides = sides.with_ids(np.where(entry >= 0, entry, sides.probe.ids))
        lists = lists.leave_out(entry)
    if is_stated:
        lists = replace(lists, own_entries_are_stated=True)
    remarks = dict.fromkeys([*queries.remarks, *brought.remarks, *entries.remarks])
    return lists, sides, tuple(remarks)


def _entries_by_number(labels: Any, indices: Any) -> np.ndarray | None:
    """Return the place in `labels` of each list by its number; None if both are in one order."""
    numbers, keys = keys_of(labels).numbers, keys_of(indices)
    if numbers is None or keys.numbers is None:
        return None
    import pandas as pd

    place = pd.Series(np.arange(len(labels)), index=numbers)
    entry = in_order(place, keys, "`labels`", templates="the lists").values.to_numpy()
    return None if np.array_equal(entry, place) else entry


def own_entries(
    lists: TopKLists,
    codes: Codes,
    leave_out: bool | None,
    positions: Any,
    named: np.ndarray | None,
) -> np.ndarray | None:
    """Return the gallery entry that each query is itself, int64 (q,), -1 for none; None if unknown.

    `leave_out` and `positions` are arguments of :meth:`Scores.from_top_k`, and `named` (q,) is the
    entry with the name of each query, -1 for none.
    """
    query_count = len(lists.indices)
    stated = None
    if positions is not None:
        if leave_out is False:
            raise DataError(
                "`query_positions` is given, and `leave_out_query` is False; leave one of them out"
            )
        stated = _checked_positions(positions, lists.gallery_size, codes)
    elif leave_out is not None and require_flag("leave_out_query", leave_out):
        if not np.array_equal(codes.probe, codes.gallery[:query_count]):
            raise DataError(
                f"`leave_out_query` is stated, but the labels of the {query_count:,} queries "
                "are not those of the first gallery entries; expected query i to be entry i, "
                "or the entry that each query is, as `query_positions`"
            )
        stated = np.arange(query_count)
    if named is None:
        return stated
    if stated is None:
        return named if (named >= 0).any() else None
    contradicts = (named >= 0) & (stated >= 0) & (named != stated)
    if contradicts.any():
        row = int(np.argmax(contradicts))
        raise DataError(
            f"query {row} is stated to be entry {stated[row]}, but has the name of entry "
            f"{named[row]}; correct `query_positions` or the names"
        )
    return np.where(named >= 0, named, stated)


def _checked_positions(positions: Any, entry_count: int, codes: Codes) -> np.ndarray:
    """Return `query_positions` as int64 (q,); each is an entry of the query's subject, or -1."""
    query_count = len(codes.probe)
    entry = require_array("query_positions", positions)
    if entry.shape != (query_count,) or entry.dtype.kind not in "iu":
        raise DataError(
            f"`query_positions` has shape {entry.shape} and dtype {entry.dtype}; "
            f"expected the gallery entry of each of the {query_count:,} queries, -1 for none"
        )
    entry = entry.astype(np.int64)
    is_outside = (entry < -1) | (entry >= entry_count)
    if is_outside.any():
        row = int(np.argmax(is_outside))
        raise DataError(
            f"`query_positions` of query {row} is {entry[row]}; expected an entry "
            f"from 0 to {entry_count - 1}, or -1"
        )
    is_other_person = (entry >= 0) & (codes.gallery[entry] != codes.probe)
    if is_other_person.any():
        row = int(np.argmax(is_other_person))
        raise DataError(
            f"`query_positions` of query {row} is entry {entry[row]}, which has "
            "another label than the query; expected the entry that the query is itself"
        )
    return entry


# ------------------------------------------------------------------------- the first number


def numbered_from_zero(
    numbers: Any, noun: str, first_index: int | None, subjects: tuple[np.ndarray, np.ndarray]
) -> Any:
    """Return numbers of gallery entries, such as lists, as they are from 0; negative ones stay.

    `first_index` is the number of the first entry. None is 0, but raises :class:`DataError` for
    lists that seem to count from 1. `subjects` are the labels of the queries (q,) and of the
    entries. Other faults of `numbers` are left to the checks of :class:`TopKLists`.
    """
    if first_index is not None:
        require_integer("first_index", first_index, low=0, high=1)
    if first_index == 0 or numbers is None:
        return numbers
    array = require_array(noun, joined(numbers, noun, 2 if noun == "indices" else 1))
    if array.dtype.kind not in "iu":
        return numbers
    lists = array.astype(np.int64)
    if first_index == 1:
        if (lists == 0).any():
            row = int(np.argwhere(lists == 0)[0, 0])
            raise DataError(
                f"{noun}: row {row} holds 0, and `first_index=1` says that the first gallery entry "
                "is 1; give `first_index=0` if it is 0, and -1 where there is no entry"
            )
        return np.where(lists > 0, lists - 1, lists)
    query_labels, gallery_labels = subjects
    if lists.ndim != 2 or len(lists) != len(query_labels):
        return numbers
    evidence = _evidence_of_one(lists, query_labels, gallery_labels)
    if evidence:
        raise DataError(
            f"the lists {evidence}: do they count the gallery entries from 1? Give "
            "`first_index=1` if they do, or `first_index=0` if they do not"
        )
    return numbers


def _evidence_of_one(
    lists: np.ndarray, query_labels: np.ndarray, gallery_labels: np.ndarray
) -> str:
    """Return why lists (q, k) seem to count entries from 1, for a message; "" if they do not.

    They never hold 0, and either hold the number of entries, which is the last entry then, or list
    more entries of the query's own subject if they are read so. How often an entry is listed says
    little: many stand in no list.
    """
    entry_count = len(gallery_labels)
    is_listed = lists >= 0
    listed = lists[is_listed]
    if not listed.size:
        return ""
    low, high = int(listed.min()), int(listed.max())
    if low == 0 or high > entry_count:  # an entry 0, or no entry of this gallery either way
        return ""
    if high == entry_count:
        row = int(np.argmax((lists == high).any(axis=1)))
        return f"hold {entry_count:,}, of {entry_count:,} entries, in list {row}, and never 0"

    # Equal subjects have equal codes, and no person is nobody's own.
    codes = Codes(query_labels, gallery_labels)
    may_be_own = is_listed & ~are_of_no_person(query_labels, NO_PERSON)[:, None]
    from_zero, from_one = (
        int((may_be_own & (codes.gallery[lists - first] == codes.probe[:, None])).sum())
        for first in (0, 1)
    )
    # Where 1 is listed and 0 is not, any surplus tells. Where neither is listed, the numbers
    # themselves say nothing, and the surplus must exceed what chance gives: a difference of two
    # counts has at most the standard deviation sqrt(their sum).
    surplus_by_chance = 0 if low == 1 else np.sqrt(from_zero + from_one)
    if from_one <= from_zero + surplus_by_chance:
        return ""
    row = int(np.argmax((lists == low).any(axis=1)))
    return (
        f"hold {low} in list {row}, and never 0, and {from_one:,} entries of the query's own "
        f"subject if they count from 1, {from_zero:,} if from 0"
    )

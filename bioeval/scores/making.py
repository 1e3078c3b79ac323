"""The attributes of scores from their arguments: checked labels, identities and metadata."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from bioeval.base.arguments import require_choice, require_integer, require_list, require_text
from bioeval.base.errors import DataError, counted, short_name
from bioeval.base.kinds import KINDS, NAN_POLICIES, Kind, NanPolicy
from bioeval.base.options import OPTIONS
from bioeval.scores.codes import Codes
from bioeval.scores.labels import as_subjects, one_dimensional, plain
from bioeval.scores.masks import as_mask, subjects_of_mask
from bioeval.scores.metadata import as_meta, columns_of, names_of_table
from bioeval.scores.missing import NO_PERSON
from bioeval.scores.same import Scored, confirm_names
from bioeval.scores.sides import (
    GivenSide,
    Keys,
    RowOrder,
    are_subjects,
    as_names,
    counts_rows,
    declared_names,
    first_twice,
    in_order,
    keys_of,
    refuse_unknown_names,
    same_templates,
    table_in_order,
)
from bioeval.scores.top_k import OwnEntries, TopKLists, numbered_from_zero

if TYPE_CHECKING:
    import pandas as pd


#: A matrix of distances between embeddings is made if it takes no more bytes than this.
MEMORY_LIMIT = 1 << 30

#: Attributes of scores, by name.
Attributes = dict[str, Any]

#: The arguments of the labels and of the metadata of each side.
ARGUMENTS = (("labels", "probe_meta"), ("gallery_labels", "gallery_meta"))


def length_of(labels: Any) -> int:
    """Return the number of labels; -1 if they have no length."""
    try:
        return len(labels)
    except TypeError:  # such as an array of no dimension
        return -1


def as_ids(ids: Any, name: str = "distractor_ids") -> tuple[int | str, ...] | None:
    """Return labels of no person, numbers or texts, each once; None if none are stated."""
    if ids is None:
        return None
    listed = (plain(x) for x in require_list(name, ids))
    return tuple(
        dict.fromkeys(
            x if isinstance(x, str) else require_integer(name, x, low=-(2**62)) for x in listed
        )
    )


def memory_attributes() -> Attributes:
    """Return the attributes of scores that come from the option `memory_limit`."""
    limit = OPTIONS["memory_limit"]
    return {"_memory_limit": limit or MEMORY_LIMIT, "_limited": limit is not None}


def checked_words(kind: Kind, nan: NanPolicy, name: Any) -> Attributes:
    require_choice("kind", kind, KINDS)
    require_choice("nan", nan, NAN_POLICIES)
    if name is not None and not isinstance(name, os.PathLike):
        require_text("name", name)
    return {"kind": kind, "nan": nan, "name": short_name(str(name)) if name else None}


class SideArguments(NamedTuple):
    """Arguments of :class:`bioeval.Scores`: first of the probes, then of the gallery."""

    labels: tuple[Any, Any]
    metas: tuple[Any, Any]
    names: Any = "auto"  # the argument `names`, which is of both sides
    shared: bool | None = None
    #: The keys of both sides, if the values are not asked for them.
    keys: tuple[Keys, Keys] | None = None
    #: The rows of labels that were joined before, in the other order, see `InOrder`.
    other_order: np.ndarray | None = None


class _Subjects(NamedTuple):
    """The subjects of both sides, and the identities of the templates."""

    probe_labels: np.ndarray
    gallery_labels: np.ndarray
    probe_ids: np.ndarray  # int64; the array `gallery_ids` if both sides are one set of templates
    gallery_ids: np.ndarray  # int64
    codes: Codes
    is_labelled: bool = True  # whether labels give the subjects, and not a mask
    mask: np.ndarray | None = None  # the checked mask that gives the subjects
    mask_is_consistent: bool = False  # whether the genuine cells of the mask make subjects

    @classmethod
    def of_two_sets(cls, probe_labels: np.ndarray, gallery_labels: np.ndarray) -> Self:
        entries = len(gallery_labels)
        return cls(
            probe_labels,
            gallery_labels,
            np.arange(entries, entries + len(probe_labels), dtype=np.int64),
            np.arange(entries, dtype=np.int64),
            Codes(probe_labels, gallery_labels, of_any_type=NO_PERSON),
        )

    @property
    def is_one_set(self) -> bool:
        return self.probe_ids is self.gallery_ids


class _NamedTemplates(NamedTuple):
    """The keys of both sides, and the identities of the probes by their names, int64."""

    probe: Keys
    gallery: Keys
    probe_ids: np.ndarray


class MatrixSides(NamedTuple):
    """The attributes of both sides of a matrix, and its checked mask."""

    attributes: Attributes
    mask: np.ndarray | None
    #: The labels of one set in the other order are those at these rows, see `InOrder`.
    other_order: np.ndarray | None


def sides_of_matrix(
    values: Any, shape: tuple[int, int], mask: Any, given: SideArguments, no_person: Sequence[Any]
) -> MatrixSides:
    """Return both sides of a matrix.

    `values` are the scores as they were given: a table may name its rows and columns. `no_person`
    are labels of no person.
    """
    probe, gallery = _given_sides(values, mask, given)
    for side in (probe, gallery):
        side.join(given.names)
    one_side = shape[0] == shape[1] and gallery.labels is None and gallery.meta is None
    keys = probe.order.keys, (probe if one_side else gallery).order.keys
    brought = table_in_order(mask, keys, "`mask`")
    mask, remarks = brought.values, brought.remarks
    subjects = _subjects_of_sides(probe, gallery, mask, shape)
    probe_meta = as_meta(probe.meta, shape[0], "probe_meta")
    gallery_meta = as_meta(gallery.meta, shape[1], "gallery_meta")
    if subjects.is_one_set:
        gallery_meta = probe_meta
    named = _named_templates(subjects, (probe_meta, gallery_meta), keys, given.names)
    codes = subjects.codes
    if subjects.is_labelled:
        codes = codes.apart(no_person, named.probe_ids, subjects.gallery_ids)
        mask = None if mask is None else as_mask(mask, shape, codes)
    attributes = _attributes(subjects, codes, named, probe_meta, gallery_meta) | {
        "remarks": tuple(probe.order.remarks | gallery.order.remarks | dict.fromkeys(remarks)),
        "_without_gallery_labels": subjects.is_labelled and gallery.labels is None,
    }
    other_order = probe.other_order if subjects.is_one_set else None
    mask = mask if subjects.is_labelled else subjects.mask
    return MatrixSides(attributes, mask, other_order)


def _attributes(
    subjects: _Subjects,
    codes: Codes,
    named: _NamedTemplates,
    probe_meta: Mapping[str, np.ndarray],
    gallery_meta: Mapping[str, np.ndarray],
) -> Attributes:
    return {
        "probe_labels": subjects.probe_labels,
        "gallery_labels": subjects.gallery_labels,
        "probe_ids": named.probe_ids,
        "gallery_ids": subjects.gallery_ids,
        "_codes": codes,
        "_labelled": subjects.is_labelled,
        "_mask_is_consistent": subjects.mask_is_consistent,
        "_probe_meta": probe_meta,
        "_gallery_meta": gallery_meta,
        "_probe_keys": named.probe,
        "_gallery_keys": named.gallery,
    }


def _given_sides(values: Any, mask: Any, given: SideArguments) -> tuple[GivenSide, GivenSide]:
    names = given.names
    probe_labels, gallery_labels = given.labels
    table = _table_of_labels(values, mask, given)
    if table is not None:
        has_names = names is not None and all(
            x is not None and declared_names(columns_of(x) or {}) is not None for x in given.metas
        )
        probe_labels, gallery_labels = labels_of_table(*table, has_names=has_names)
        values = None  # index and columns do not name templates
    labels_of_columns = probe_labels if gallery_labels is None else gallery_labels
    orders = [RowOrder(keys, is_indexed=False) for keys in given.keys or ()] or [
        order_of_side(values, labels, names, axis=axis, side=axis)
        for axis, labels in enumerate((probe_labels, labels_of_columns))
    ]
    probe_order, gallery_order = orders
    probe = GivenSide(probe_labels, given.metas[0], probe_order, ARGUMENTS[0])
    gallery = GivenSide(gallery_labels, given.metas[1], gallery_order, ARGUMENTS[1])
    if probe_labels is not None and gallery_labels is None and gallery.meta is None:
        gallery.take_from_rows(probe, names)
    return probe, gallery


def _table_of_labels(
    values: Any, mask: Any, given: SideArguments
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return index and columns of a table if they are the labels of both sides; else None."""
    labels, gallery_labels = given.labels
    if gallery_labels is not None or mask is not None:
        return None
    table = names_of_table(values)
    if labels is None or table is None or are_subjects(keys_of(values), labels):
        return table
    return None


def order_of_side(values: Any, labels: Any, names: Any, *, axis: int, side: int) -> RowOrder:
    """Return the order of the templates along an axis; without keys if the index has labels.

    `names` is the argument of :class:`bioeval.Scores`.
    """
    keys = keys_of(values, axis)
    listed = names[side] if isinstance(names, tuple) and len(names) == 2 else names
    if listed is not None and not isinstance(listed, str):
        stated = as_names(one_dimensional(listed, "`names`"))
        return RowOrder(Keys(stated, keys.numbers), is_indexed=False)
    return RowOrder(Keys() if are_subjects(keys, labels) else keys)


def labels_of_table(
    rows: np.ndarray, columns: np.ndarray, *, has_names: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the index and the columns of a table as labels; no labels of the gallery if equal.

    Raise where both hold the same labels in another order, unless metadata name the templates.
    """
    if np.array_equal(rows, columns):
        return rows, None
    if not has_names and Counter(rows.tolist()) == Counter(columns.tolist()):
        raise DataError(
            "the rows and the columns of the table have the same labels in another order: it is "
            "not known whether they are the same templates, which are not compared with "
            "themselves; bring rows and columns into one order, or, of two sets of templates, "
            "give `labels` and `gallery_labels`"
        )
    return rows, columns


def _named_templates(
    subjects: _Subjects,
    metas: tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]],
    keys: tuple[Keys, Keys],
    names: Any,
) -> _NamedTemplates:
    """Return the keys of both sides, without names that only repeat the labels or count the rows.

    `names` is the argument of :class:`bioeval.Scores`.
    """
    probe, gallery = keys
    if subjects.is_one_set:
        gallery = probe
    labels: tuple[Any, Any] = (None, None)
    if subjects.is_labelled:
        labels = (subjects.probe_labels, subjects.gallery_labels)
    named = [(x, y) for x, y in zip((probe, gallery), labels, strict=True) if x.names is not None]
    merely_count = all(counts_rows(np.array(x.names)) for x, _ in named)
    if merely_count or all(are_subjects(x, y) for x, y in named):
        probe, gallery = Keys(numbers=probe.numbers), Keys(numbers=gallery.numbers)
    _require_distinct_names(probe.names, len(subjects.probe_ids), "row")
    _require_distinct_names(gallery.names, len(subjects.gallery_ids), "column")
    ids = subjects.probe_ids
    if not subjects.is_one_set:
        if probe.names is not None and gallery.names is not None:
            ids = _ids_by_name(subjects, probe.names, gallery.names)
        elif names is not None:
            refuse_unknown_names(*metas, labels)
    return _NamedTemplates(probe, gallery, ids)


def _require_distinct_names(names: pd.Index | None, length: int, noun: str) -> None:
    if names is None:
        return
    if len(names) != length:
        raise DataError(
            f"`names` has {len(names)} names, but the scores have {length} {noun}s; expected one "
            "name for each"
        )
    if (twice := first_twice(names)) is not None:
        name, rows = twice
        raise DataError(
            f"the name {plain(name)!r} stands twice, in {noun}s {', '.join(map(str, rows))}; equal "
            "names are one template, and a matrix has each template once: give each its own name, "
            "drop the index or call the column otherwise if it does not name templates, or make "
            "one template of several embeddings by `average`"
        )


def _ids_by_name(subjects: _Subjects, probe: pd.Index, gallery: pd.Index) -> np.ndarray:
    """Return identities of the probes: of the gallery template with the same name, if any."""
    codes = subjects.codes
    people = (codes.probe, codes.gallery, codes.values) if subjects.is_labelled else None
    entry = same_templates(probe, gallery, people)
    return np.where(entry >= 0, subjects.gallery_ids[entry], subjects.probe_ids)


def _subjects_of_sides(
    probe: GivenSide, gallery: GivenSide, mask: Any, shape: tuple[int, int]
) -> _Subjects:
    if probe.labels is None:
        return _subjects_of_mask(mask, gallery, shape)
    if gallery.labels is None:
        return _subjects_of_one_set(probe.labels, gallery.meta, shape)
    transposed = shape[::-1]
    if shape != transposed and (length_of(probe.labels), length_of(gallery.labels)) == transposed:
        raise DataError(
            f"the scores have shape {shape}, but there are {counted(shape[1], 'labels')} of probes "
            f"and {shape[0]:,} of the gallery: is the matrix transposed? Expected a row for each "
            "probe; give scores.T, or exchange the labels"
        )
    return _Subjects.of_two_sets(
        as_subjects(probe.labels, "`labels`", shape[0]),
        as_subjects(gallery.labels, "`gallery_labels`", shape[1]),
    )


def _subjects_of_one_set(labels: Any, gallery_meta: Any, shape: tuple[int, int]) -> _Subjects:
    if shape[0] != shape[1]:
        raise DataError(
            f"the scores have shape {shape}; without gallery_labels the same templates are on both "
            "sides, and the matrix must be square. Give gallery_labels for a probe-against-gallery "
            "matrix"
        )
    if gallery_meta is not None:
        raise DataError("gallery_meta without `gallery_labels`; probe_meta serves both sides")
    subjects = as_subjects(labels, "`labels`", shape[0])
    ids = np.arange(len(subjects), dtype=np.int64)
    codes = Codes(subjects, subjects, of_any_type=NO_PERSON)
    return _Subjects(subjects, subjects, ids, ids, codes)


def _subjects_of_mask(mask: Any, gallery: GivenSide, shape: tuple[int, int]) -> _Subjects:
    if mask is None:
        raise DataError(
            "`labels` is missing; expected the subject of each row, or a mask of genuine and "
            "impostor"
        )
    if gallery.labels is not None:
        raise DataError("`gallery_labels` is given without `labels`; expected both")
    mask = as_mask(mask, shape, None)
    may_be_one_set = gallery.meta is None or not columns_of(gallery.meta)
    is_one_set = may_be_one_set and shape[0] == shape[1] and not mask.diagonal().any()
    probe_subjects, gallery_subjects, is_consistent = subjects_of_mask(mask, is_one_set)
    gallery_ids = probe_ids = np.arange(shape[1], dtype=np.int64)
    if not is_one_set:
        probe_ids = np.arange(shape[1], sum(shape), dtype=np.int64)
    return _Subjects(
        probe_subjects,
        gallery_subjects,
        probe_ids,
        gallery_ids,
        Codes(probe_subjects, gallery_subjects),
        is_labelled=False,
        mask=mask,
        mask_is_consistent=is_consistent,
    )


def _entries_by_number(labels: Any, indices: Any) -> np.ndarray | None:
    """Return the entry that each query is, where lists are in another order than their labels."""
    numbers, keys = keys_of(labels).numbers, keys_of(indices)
    if numbers is None or keys.numbers is None:
        return None
    import pandas as pd

    place = pd.Series(np.arange(len(numbers)), index=numbers)
    entry = in_order(place, keys, "`labels`", templates="the lists").values.to_numpy()
    return None if np.array_equal(entry, place) else entry


def searched_lists(
    indices: Any,
    distances: Any,
    kind: Kind,
    given: SideArguments,
    leave_out_query: bool | None,
    query_positions: Any,
    first_index: int | None,
) -> Attributes:
    """Return the attributes of top-K lists, of their queries and of their entries."""
    (labels, gallery_labels), (probe_meta, gallery_meta) = given.labels, given.metas
    if gallery_labels is None:
        gallery_labels = labels
        gallery_meta = probe_meta if gallery_meta is None else gallery_meta
        leave_out_query = True if leave_out_query is None else leave_out_query
        if query_positions is None and leave_out_query:
            query_positions = _entries_by_number(labels, indices)
    queries = GivenSide(labels, probe_meta, RowOrder(keys_of(indices)), ARGUMENTS[0])
    entries = GivenSide(gallery_labels, gallery_meta, RowOrder(Keys()), ARGUMENTS[1])
    entries.join(given.names)
    queries.join(given.names)
    enrolled = as_subjects(entries.labels, "`gallery_labels`")
    if not len(enrolled):
        raise DataError("the gallery is empty: `gallery_labels` has no entries")
    distances = queries.order.bring(distances, "`distances`", may_be_plain=True)
    query_positions = queries.order.bring(query_positions, "`query_positions`", may_be_plain=True)
    searched = as_subjects(queries.labels, "`labels`")
    indices, query_positions = (
        numbered_from_zero(x, noun, first_index, (searched, enrolled))
        for x, noun in ((indices, "indices"), (query_positions, "`query_positions`"))
    )
    lists = TopKLists.from_arrays(indices, distances, len(enrolled), kind)
    if len(searched) != len(lists.indices):
        raise DataError(
            f"`labels` has {len(searched)} labels for {len(lists.indices)} lists; expected one per "
            "query"
        )
    subjects = _Subjects.of_two_sets(searched, enrolled)
    metas = (
        as_meta(queries.meta, len(searched), "probe_meta"),
        as_meta(entries.meta, len(enrolled), "gallery_meta"),
    )
    keys = queries.order.keys, entries.order.keys
    named = _named_templates(subjects, metas, keys, given.names)
    entry_by_name = None
    if named.probe.names is not None and named.gallery.names is not None:
        entry_by_name = np.where(named.probe_ids < len(enrolled), named.probe_ids, -1)
        if leave_out_query is None and query_positions is None and (entry_by_name >= 0).any():
            scored = Scored.of_lists(lists, kind, subjects.codes)
            are_shared, _ = confirm_names(
                scored, entry_by_name, named.probe.names, shared=given.shared
            )
            entry_by_name = entry_by_name if are_shared else np.full(len(searched), -1)
    own = OwnEntries(lists, subjects.codes, kind, leave_out_query, query_positions, entry_by_name)
    entry = own.find()
    if entry is not None:
        named = named._replace(probe_ids=np.where(entry >= 0, entry, subjects.probe_ids))
        lists = lists.leave_out(entry)
    return _attributes(subjects, subjects.codes, named, *metas) | {
        "_source": lists,
        "_own_entries_are_stated": query_positions is not None or leave_out_query is not None,
        "remarks": tuple(queries.order.remarks | entries.order.remarks),
    }

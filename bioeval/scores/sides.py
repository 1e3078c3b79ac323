"""Both sides of scores: the labels, identities, metadata and keys of probes and gallery templates.

For a matrix of 2 probes and 3 gallery templates, :class:`Sides` has::

    probe    labels ["ann", "bob"]           ids [3, 4]
    gallery  labels ["ann", "bob", "cem"]    ids [0, 1, 2]

A probe that is a gallery template has its identity: 1 in place of 4.

The labels and metadata of a side are brought into the order of the scores once, by
:func:`side_in_order`, and are a :class:`Side` then. A matrix, embeddings and top-K lists differ in
the keys that the sides have: :func:`sides_in_order` takes those of a matrix. Last,
:func:`sides_of_matrix` checks labels, metadata and the mask, and :func:`identified` finds the
templates with equal names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.errors import DataError, Message, counted
from bioeval.scores.codes import Codes
from bioeval.scores.joining import (
    are_plain,
    each_in_order,
    in_order,
    in_place,
    joined,
    may_be_names_of,
    table_in_order,
)
from bioeval.scores.keys import (
    Keys,
    are_subjects,
    as_names,
    counts_rows,
    declared_names,
    first_twice,
    index_of,
    keys_of,
    names_in_columns,
    places,
    refuse_other_orders,
    refuse_unknown_names,
)
from bioeval.scores.labels import NO_PERSON, as_subjects, one_dimensional, plain, read_only
from bioeval.scores.masks import as_mask, subjects_of_mask
from bioeval.scores.metadata import as_meta, columns_of, names_of_table

if TYPE_CHECKING:
    import pandas as pd

#: The arguments of labels and of metadata, of the probes and of the gallery.
ARGUMENTS = (("labels", "probe_meta"), ("gallery_labels", "gallery_meta"))


# ------------------------------------------------------------------------- inputs of one side


@dataclass(frozen=True, eq=False)
class Side:
    """The labels and metadata of one side, in the order of its rows, but not checked yet."""

    labels: Any  # None if not given
    meta: Any  # columns by name; what is no table stays as it was given, for an error
    keys: Keys  # of the scores; where these have none, those of labels or metadata
    remarks: tuple[Message, ...]  # on inputs that were taken by place
    other_order: np.ndarray | None  # of the labels, see :class:`bioeval.scores.joining.InOrder`


def template_keys(keys: Keys, labels: Any, names: Any, side: int) -> Keys:
    """Return the keys of the templates of a side of scores, or embeddings, whose rows have `keys`.

    `names` is the argument of :class:`Scores`, which may list names. Keys that are the labels of
    the templates are no keys of templates.
    """
    names_of_side = names[side] if isinstance(names, tuple) and len(names) == 2 else names
    if names_of_side is not None and not isinstance(names_of_side, str):
        return Keys(as_names(one_dimensional(names_of_side, "`names`")), keys.numbers)
    return Keys() if are_subjects(keys, labels) else keys


def side_in_order(
    labels: Any, meta: Any, keys: Keys, names: Any, arguments: tuple[str, str] = ARGUMENTS[0]
) -> Side:
    """Return labels and metadata in the order of the rows that have `keys`.

    `names` is the argument of :class:`Scores`; messages name the `arguments` of the labels and of
    the metadata.
    """
    labels_argument, meta_argument = arguments
    noun_of_column = f"{meta_argument}[{{!r}}]"
    columns = None if meta is None else columns_of(meta)
    is_table = index_of(meta) is not None  # a table is joined as a whole, by its index
    are_ordered = is_table
    # Whether the scores themselves have the keys. If `names` lists them, inputs without keys are
    # known to be in order.
    is_indexed = bool(keys.stated) and (names is None or isinstance(names, str))
    remarks = dict[Message, None]()  # each once

    # A column of metadata may name the rows, for the other columns and for the labels.
    if columns is not None and not is_table:
        if keys.stated and names is not None:
            columns, are_ordered = _joined_by_column(columns, keys, meta_argument)
        if keys.names is None:
            if keys.numbers is not None:  # columns with numbers, which names come from
                numbered = {x: y for x, y in columns.items() if keys_of(y).numbers is not None}
                brought = each_in_order(numbered, keys, noun_of_column, may_be_plain=not is_indexed)
                columns, keys = {**columns, **brought.values}, brought.keys
                remarks |= dict.fromkeys(brought.remarks)
            keys = _named_by_column(columns, keys, names)

    # With names in a plain column, all plain columns share one order.
    may_be_plain = bool(keys.stated) and not is_indexed
    brought = in_order(labels, keys, f"`{labels_argument}`", may_be_plain=may_be_plain)
    labels, keys, other_order = brought.values, brought.keys, brought.other_order
    remarks |= dict.fromkeys(brought.remarks)

    # The metadata, if there are any and they are a table.
    if columns is not None:
        if is_table:
            brought = in_order(meta, keys, f"`{meta_argument}`")
            columns = columns_of(brought.values) or {}
            remarks |= dict.fromkeys(brought.remarks)
            has_index = keys_of(meta).names is not None
            if names is not None or has_index:
                keys = brought.keys
            else:  # a column of the table names nothing
                keys = Keys(keys.names, brought.keys.numbers)
        may_be_plain = are_ordered or not is_indexed
        brought = each_in_order(columns, keys, noun_of_column, may_be_plain=may_be_plain)
        meta, keys = brought.values, brought.keys
        remarks |= dict.fromkeys(brought.remarks)
        if keys.names is None:
            keys = _named_by_column(meta, keys, names)
        if names is not None:
            refuse_other_orders(meta, keys.names)
    return Side(labels, meta, keys, tuple(remarks), other_order)


def _joined_by_column(
    columns: Mapping[str, Any], keys: Keys, noun: str
) -> tuple[Mapping[str, Any], bool]:
    """Return the columns in the order of the rows, and whether one of them names the rows.

    Columns that have keys themselves stay as they are.
    """
    plain_columns = {x: y for x, y in columns.items() if are_plain(y)}
    own_names = [*names_in_columns(plain_columns).values()]
    names_of_rows = keys.names
    if names_of_rows is None:  # names may be the numbers of rows
        names_of_rows = as_names(keys.numbers)
        own_names = [x for x in own_names if x.isin(names_of_rows).any()]
    if not any(may_be_names_of(names_of_rows, x) for x in own_names):
        return columns, False
    rows = joined(own_names, names_of_rows, f"`{noun}`")
    if rows is None:
        return columns, True
    ordered = {x: np.asarray(y)[rows] for x, y in plain_columns.items()}
    return {**columns, **ordered}, True


def _named_by_column(columns: Mapping[str, Any], keys: Keys, names: Any) -> Keys:
    """Return the keys with the names that a column states: one that names templates, or `names`."""
    if names is None:
        return keys
    plain_columns = {x: y for x, y in columns.items() if are_plain(y)}
    stated = declared_names(plain_columns)
    if isinstance(names, str) and names != "auto":
        if names not in columns:
            raise DataError(
                f"`names` is {names!r}, but the metadata have no such column; they have "
                f"{', '.join(map(repr, columns)) or 'none'}"
            )
        stated = as_names(plain_columns[names]) if names in plain_columns else None
    return Keys(stated, keys.numbers)


# ------------------------------------------------------------------------- inputs of a matrix


def sides_in_order(
    values: Any, labels: tuple[Any, Any], metas: tuple[Any, Any], names: Any, mask: Any = None
) -> tuple[Side, Side]:
    """Return the probes and the gallery of a matrix in the order of its values.

    A table may name its rows and columns, or have the labels of both sides as index and columns.
    """
    probe_labels, gallery_labels = labels
    probe_meta, gallery_meta = metas
    row_keys, column_keys = keys_of(values, 0), keys_of(values, 1)
    table = names_of_table(values) if gallery_labels is None and mask is None else None
    if table is not None and (probe_labels is None or are_subjects(row_keys, probe_labels)):
        probe_labels, gallery_labels = _labels_of_table(*table, metas, names)
        row_keys = column_keys = Keys()
    labels_of_columns = probe_labels if gallery_labels is None else gallery_labels
    row_keys = template_keys(row_keys, probe_labels, names, 0)
    column_keys = template_keys(column_keys, labels_of_columns, names, 1)

    # A mask without keys is taken in the order of scores that were given with keys.
    remarks_on_mask = []
    if mask is not None and index_of(mask) is index_of(mask, 1) is None:
        remarks_on_mask = [
            in_place("the scores", "`mask`", x) for x in (row_keys, column_keys) if x.stated
        ]

    # Columns of a table may be some of its rows: these have the labels and metadata of the rows.
    row_of_column = None
    if probe_labels is not None and gallery_labels is None and gallery_meta is None:
        column_keys, row_of_column = _columns_as_rows(row_keys, column_keys)
    probe = side_in_order(probe_labels, probe_meta, row_keys, names)
    if row_of_column is not None:
        row_count = len(row_keys)
        gallery_labels = as_subjects(probe.labels, "`labels`", row_count)[row_of_column]
        metadata = as_meta(probe.meta, row_count, "probe_meta")
        gallery_meta = {name: column[row_of_column] for name, column in metadata.items()}
    gallery = side_in_order(gallery_labels, gallery_meta, column_keys, names, ARGUMENTS[1])
    return probe, replace(gallery, remarks=(*gallery.remarks, *remarks_on_mask))


def _columns_as_rows(rows: Keys, columns: Keys) -> tuple[Keys, np.ndarray | None]:
    """Return the keys of the columns of a table, and the row of each; None if they are all rows."""
    if rows.names is None or columns.names is None or first_twice(rows.names) is not None:
        return columns, None
    if rows.names.equals(columns.names):
        return columns, None
    is_row = columns.names.isin(rows.names[rows.names.notna()])
    if len(columns) == len(rows) and not is_row.any():
        return Keys(), None  # a square table whose columns are called otherwise
    if not is_row.all():
        raise DataError(
            f"`gallery_labels` is missing: the table has the column "
            f"{columns.names[int(np.argmin(is_row))]!r}, which is the name of no row, so that its "
            "rows and columns are not the same templates"
        )
    return columns, places(columns.names, rows.names)


def _labels_of_table(
    row_labels: np.ndarray, column_labels: np.ndarray, metas: Sequence[Any], names: Any
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the labels of rows and of columns of a table; the second are None for one set."""
    if np.array_equal(row_labels, column_labels):
        return row_labels, None
    has_names = names is not None and all(
        meta is not None and declared_names(columns_of(meta) or {}) is not None for meta in metas
    )
    # Names tell which templates are the same. Without them, equal labels in two orders may be one
    # set or two.
    if not has_names and Counter(row_labels.tolist()) == Counter(column_labels.tolist()):
        raise DataError(
            "the rows and the columns of the table have the same labels in another order: it "
            "is not known whether they are the same templates, which are not compared with "
            "themselves; bring rows and columns into one order, or, of two sets of templates, "
            "give `labels` and `gallery_labels`"
        )
    return row_labels, column_labels


# ------------------------------------------------------------------------- both sides


@dataclass(frozen=True, eq=False)
class Templates:
    """The templates of one side; all arrays are read-only, also after unpickling."""

    labels: np.ndarray  # (n,)
    ids: np.ndarray  # int64 (n,): the identities
    meta: Mapping[str, np.ndarray]  # columns (n,) by name
    keys: Keys

    def __post_init__(self) -> None:
        for array in (self.labels, self.ids, *self.meta.values()):
            read_only(array)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, x.name) for x in fields(self))

    @classmethod
    def numbered(cls, first: int, labels: np.ndarray, meta: Mapping[str, Any], keys: Keys) -> Self:
        """Return templates with the identities `first`, `first` + 1 ..."""
        return cls(labels, first + np.arange(len(labels), dtype=np.int64), meta, keys)

    def take(self, rows: np.ndarray) -> Self:
        meta = {name: column[rows] for name, column in self.meta.items()}
        return type(self)(self.labels[rows], self.ids[rows], meta, self.keys.take(rows))


@dataclass(frozen=True, eq=False)
class Sides:
    """The probes and the gallery of scores, which are one object if they are one set."""

    probe: Templates
    gallery: Templates
    codes: Codes  # the subjects
    are_labelled: bool = True  # or a mask decides which comparisons are genuine
    #: Whether no genuine cells of a mask contradict its impostor cells.
    mask_is_consistent: bool = False

    @property
    def are_one_set(self) -> bool:
        return self.probe is self.gallery

    @classmethod
    def unrelated(
        cls,
        labels: tuple[np.ndarray, np.ndarray],
        codes: Codes,
        metas: tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]],
        keys: tuple[Keys, Keys],
    ) -> Self:
        """Return two sets of templates, of which no probe is a gallery template."""
        gallery = Templates.numbered(0, labels[1], metas[1], keys[1])
        probe = Templates.numbered(len(labels[1]), labels[0], metas[0], keys[0])
        return cls(probe, gallery, codes)

    def with_ids(self, probe: np.ndarray, gallery: np.ndarray | None = None) -> Self:
        """Return the sides with other identities of the probes and, if given, of the gallery."""
        entries = self.gallery if gallery is None else replace(self.gallery, ids=gallery)
        return replace(self, probe=replace(self.probe, ids=probe), gallery=entries)

    def separate(self) -> Self:
        """Return the sides with new identities of the probes, of which none is in the gallery."""
        ids = len(self.gallery.ids) + np.arange(len(self.probe.ids), dtype=np.int64)
        return self.with_ids(ids)

    def apart(self, no_person: Sequence[Any]) -> Self:
        """Return the sides with a code for each template of no person, if labels are known."""
        if not self.are_labelled:
            return self
        codes = self.codes.apart(no_person, self.probe.ids, self.gallery.ids)
        return replace(self, codes=codes)

    def select(self, rows: np.ndarray | None, columns: np.ndarray | None) -> Self:
        """Return some probes and some gallery templates; None: all."""
        return replace(
            self,
            probe=self.probe if rows is None else self.probe.take(rows),
            gallery=self.gallery if columns is None else self.gallery.take(columns),
            codes=self.codes.select(rows, columns),
        )


def sides_of_matrix(
    probe: Side,
    gallery: Side,
    shape: tuple[int, int],
    mask: Any,
    names: Any,
    no_person: Sequence[Any],
) -> tuple[Sides, np.ndarray | None, tuple[Message, ...]]:
    """Return both sides with identities, the checked mask, and remarks.

    `names` is the argument of :class:`Scores`; templates with a label of `no_person` have a code of
    their own each.
    """
    # The mask in the order of the scores.
    is_square = shape[0] == shape[1]
    has_one_side = is_square and gallery.labels is None and gallery.meta is None
    column_keys = probe.keys if has_one_side else gallery.keys
    brought = table_in_order(mask, (probe.keys, column_keys), "`mask`")
    mask = brought.values
    remarks = tuple(dict.fromkeys([*probe.remarks, *gallery.remarks, *brought.remarks]))

    # The subjects, by labels or by a mask.
    are_labelled = probe.labels is not None
    is_consistent = False
    if are_labelled:
        is_one_set = gallery.labels is None
        labels = _checked_labels(probe, gallery, shape)
        codes = Codes(*labels, of_any_type=NO_PERSON)
    elif mask is None:
        raise DataError(
            "`labels` is missing; expected the subject of each row, or a mask of genuine and "
            "impostor"
        )
    elif gallery.labels is not None:
        raise DataError("`gallery_labels` is given without `labels`; expected both")
    else:
        mask = as_mask(mask, shape, None)
        may_be_one_set = gallery.meta is None or not columns_of(gallery.meta)
        is_one_set = may_be_one_set and is_square and not mask.diagonal().any()
        labels, is_consistent = subjects_of_mask(mask, is_one_set)
        codes = Codes(*labels)

    # Identities, and codes of subjects.
    probe_meta = as_meta(probe.meta, shape[0], "probe_meta")
    gallery_meta = as_meta(gallery.meta, shape[1], "gallery_meta")
    if is_one_set:
        templates = Templates.numbered(0, labels[0], probe_meta, probe.keys)
        sides = Sides(templates, templates, codes, are_labelled, is_consistent)
    else:
        metas, keys = (probe_meta, gallery_meta), (probe.keys, gallery.keys)
        sides = Sides.unrelated(labels, codes, metas, keys)
        sides = replace(sides, are_labelled=are_labelled, mask_is_consistent=is_consistent)
    sides = identified(sides, names).apart(no_person)
    if are_labelled and mask is not None:
        mask = as_mask(mask, shape, sides.codes)
    return sides, mask, remarks


def _checked_labels(
    probe: Side, gallery: Side, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of probes and gallery, one array for both if they are one set."""
    if gallery.labels is not None:
        transposed = shape[::-1]
        lengths = length_of(probe.labels), length_of(gallery.labels)
        if shape != transposed and lengths == transposed:
            raise DataError(
                f"the scores have shape {shape}, but there are {counted(shape[1], 'labels')} of "
                f"probes and {shape[0]:,} of the gallery: is the matrix transposed? Expected a row "
                "for each probe; give scores.T, or exchange the labels"
            )
        searched = as_subjects(probe.labels, "`labels`", shape[0])
        return searched, as_subjects(gallery.labels, "`gallery_labels`", shape[1])
    if shape[0] != shape[1]:
        raise DataError(
            f"the scores have shape {shape}; without gallery_labels the same templates are on "
            "both sides, and the matrix must be square. Give gallery_labels for a "
            "probe-against-gallery matrix"
        )
    if gallery.meta is not None:
        raise DataError("gallery_meta without `gallery_labels`; probe_meta serves both sides")
    labels = as_subjects(probe.labels, "`labels`", shape[0])
    return labels, labels


def length_of(labels: Any) -> int:
    try:
        return len(labels)
    except TypeError:  # such as an array of no dimension
        return -1


# ------------------------------------------------------------------------- equal names


def identified(sides: Sides, names: Any) -> Sides:
    """Return sides in which equal names of two sides are one template.

    Names that repeat the labels or count the rows go. `names` is the argument of :class:`Scores`.
    """
    named = [side for side in (sides.probe, sides.gallery) if side.keys.names is not None]
    merely_count = all(counts_rows(np.array(side.keys.names)) for side in named)
    if merely_count or all(
        are_subjects(side.keys, side.labels if sides.are_labelled else None) for side in named
    ):
        sides = _without_names(sides)
    probe, gallery = sides.probe, sides.gallery
    _require_distinct_names(probe.keys.names, len(probe.labels), "row")
    _require_distinct_names(gallery.keys.names, len(gallery.labels), "column")
    if sides.are_one_set:
        return sides
    if probe.keys.names is None or gallery.keys.names is None:
        if names is not None:
            labels = (probe.labels, gallery.labels) if sides.are_labelled else (None, None)
            refuse_unknown_names(probe.meta, gallery.meta, labels)
        return sides

    entry = places(probe.keys.names, gallery.keys.names)  # (probes,); -1: no gallery template
    codes = sides.codes
    is_other_person = (entry >= 0) & (codes.gallery[entry] != codes.probe)
    if sides.are_labelled and is_other_person.any():
        row = int(np.argmax(is_other_person))
        column = int(entry[row])
        label = plain(codes.values[codes.probe[row]])
        other_label = plain(codes.values[codes.gallery[column]])
        raise DataError(
            f"the name {plain(probe.keys.names[row])!r} is of two people, in "
            f"{int(is_other_person.sum()):,} of {len(is_other_person):,} rows: {label!r} in "
            f"row {row} and {other_label!r} in column {column}; equal names are one template: "
            "correct the labels or the names, or give `names=None` if these are not names of "
            "templates"
        )
    return sides.with_ids(np.where(entry >= 0, gallery.ids[entry], probe.ids))


def _without_names(sides: Sides) -> Sides:
    gallery = replace(sides.gallery, keys=Keys(numbers=sides.gallery.keys.numbers))
    if sides.are_one_set:
        return replace(sides, probe=gallery, gallery=gallery)
    probe = replace(sides.probe, keys=Keys(numbers=sides.probe.keys.numbers))
    return replace(sides, probe=probe, gallery=gallery)


def _require_distinct_names(names: pd.Index | None, length: int, noun: str) -> None:
    if names is None:
        return
    if len(names) != length:
        raise DataError(
            f"`names` has {len(names)} names, but the scores have {length} {noun}s; expected one "
            "name for each"
        )
    twice = first_twice(names)
    if twice is not None:
        name, rows = twice
        raise DataError(
            f"the name {plain(name)!r} stands twice, in {noun}s {', '.join(map(str, rows))}; equal "
            "names are one template, and a matrix has each template once: give each its own name, "
            "drop the index or call the column otherwise if it does not name templates, or make "
            "one template of several embeddings by `average`"
        )

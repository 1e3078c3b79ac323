"""The one join by names of templates.

Whatever has a value for each template (labels, metadata, a mask, another system, a file) is brought
into the order of the scores here: by names if values and scores have names, else by place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.scores.labels import as_subjects, one_dimensional, plain
from bioeval.scores.metadata import LABEL_COLUMNS, as_meta, columns_of
from bioeval.scores.missing import CAMERA_COLUMNS
from bioeval.scores.names import (
    NamedColumn,
    are_subjects,
    as_names,
    as_texts,
    counts_in_order,
    declared_names,
    example,
    first_twice,
    index_names,
    index_of,
    names_in_columns,
    numbering_in_other_order,
    other_order,
    places,
    row_names,
)

if TYPE_CHECKING:
    import pandas as pd

# Columns whose equal values on both sides do not suggest names of templates.
_NO_NAMES = {*CAMERA_COLUMNS, *LABEL_COLUMNS, "session", "group"}

# In fewer rows, two columns may have the same texts by chance.
_FEW_ROWS = 5

# In place of the row of a name: no row has the name, or several rows have it.
_NO_ROW, _SEVERAL_ROWS = -1, -2


class InOrder(NamedTuple):
    """Values in the order of the templates."""

    values: Any
    names: pd.Index | None = None  # the names that the values have
    remarks: tuple[Message, ...] = ()


def in_order(
    values: Any, names: pd.Index | None, noun: str, templates: str = "the scores"
) -> InOrder:
    """Return values in the order of the `names` of templates.

    Values with names are joined to templates with names by these. If either has no names, values
    are taken by place, with a remark. Messages call the values `noun`.

    Raises
    ------
    DataError
        If a template has no value, or several; if no name is common; or if the values are numbered
        in another order, and the templates have no names.
    """
    own_names = row_names(values)
    sources: tuple[str, ...] = (f"the index of {noun}",)
    if isinstance(values, NamedColumn):
        sources, values = values.sources, values.values
    if not own_names:
        are_listed = values is not None and not isinstance(values, str | bytes)
        by_place = names is not None and are_listed
        return InOrder(values, None, (in_place(templates, noun),) if by_place else ())
    if names is None:
        for index, source in zip(own_names, sources, strict=False):
            _refuse_other_order(index, source)
        distinct = next((x for x in own_names if first_twice(x) is None), None)
        return InOrder(values, distinct, () if distinct is None else (in_place(noun, templates),))
    if not any(_may_be_names_of(names, x) for x in own_names):
        return InOrder(values, None, (in_place(templates, noun),))
    row = joined(own_names, names, noun)
    return InOrder(values if row is None else rows_at(values, row), names)


def _may_be_names_of(names: pd.Index, own_names: pd.Index) -> bool:
    """Whether `own_names` may name templates: they are distinct, or some name is in `names`."""
    return first_twice(own_names) is None or bool(as_texts(own_names).isin(as_texts(names)).any())


def _refuse_other_order(own_names: pd.Index, noun: str) -> None:
    if numbering_in_other_order(own_names):
        raise other_order(noun, own_names)


def in_place(named: str, unnamed: str) -> Message:
    """Return the remark that values are taken by place, since an input has no names."""
    return Message("taken-in-order", named=named, unnamed=unnamed)


def without_names(
    names_a: pd.Index | None, names_b: pd.Index | None, systems: Sequence[str]
) -> list[Message]:
    """Return the remark that two systems are taken by place, if only one system has names."""
    if (names_a is None) == (names_b is None):
        return []
    named, unnamed = systems if names_b is None else systems[::-1]
    names = names_b if names_a is None else names_a
    _refuse_other_order(names, f"the index of {named}")
    return [in_place(named, unnamed)]


def joined(own_names: Sequence[pd.Index], names: pd.Index, noun: str) -> np.ndarray | None:
    """Return the row of every name in `names`; None if the rows are in the order of the names.

    `own_names` are possible names of the rows, of which the first with a common name is used.
    """
    rows_by_index = [
        places(names, x) if first_twice(x) is None else _rows_of_several(names, x)
        for x in own_names
    ]
    best = next((i for i, row in enumerate(rows_by_index) if (row != _NO_ROW).any()), 0)
    row = rows_by_index[best]
    if (row == _SEVERAL_ROWS).any():
        name = names[int(np.argmax(row == _SEVERAL_ROWS))]
        raise DataError(
            f"{noun} has the name {plain(name)!r} twice, and one value is needed for each "
            "template; give each row its own name, or values without names in the order of the "
            "templates"
        )
    if (row == _NO_ROW).any():
        raise _missing(names, own_names[best], row == _NO_ROW, noun)
    is_whole = len(row) == len(own_names[best])
    return None if is_whole and np.array_equal(row, np.arange(len(row))) else row


def _rows_of_several(searched: pd.Index, names: pd.Index) -> np.ndarray:
    """Return :func:`places` among names of which several rows may have one."""
    searched, names = as_texts(searched), as_texts(names)
    is_of_several = names.duplicated(keep=False)
    row_of_one = np.flatnonzero(~is_of_several)
    row = np.append(row_of_one, _NO_ROW)[places(searched, names[row_of_one])]
    row[searched.isin(names[is_of_several]) & searched.notna()] = _SEVERAL_ROWS
    return row


def _missing(names: pd.Index, own_names: pd.Index, is_missing: np.ndarray, noun: str) -> DataError:
    row = int(np.argmax(is_missing))
    number = int(is_missing.sum())
    name = "without a name" if names[row] is None else repr(plain(names[row]))
    return DataError(
        f"{noun} has no value of the template {name} (row {row}), and of {number:,} of "
        f"{len(names):,} templates in all; its names are such as {example(own_names)}: complete "
        "them, or give values without names in the order of the templates"
    )


def rows_at(values: Any, rows: np.ndarray, axis: int = 0) -> Any:
    """Return some rows of an array, a list, or a table; or columns, along axis 1."""
    index = rows if axis == 0 else (slice(None), rows)
    return values.iloc[index] if hasattr(values, "iloc") else values[index]


def table_in_order(
    table: Any, sides: Sequence[pd.Index | None], noun: str, templates: str = "the scores"
) -> InOrder:
    """Return a table of pandas or xarray with rows and columns in the order of both sides."""
    if index_of(table) is None:
        return InOrder(table)
    remarks: list[Message] = []
    for axis, names in enumerate(sides):
        own_names = index_names(table, axis)
        if own_names is not None and names is not None:
            rows = joined((own_names,), names, noun)
            table = table if rows is None else rows_at(table, rows, axis)
        elif own_names is not None:
            _refuse_other_order(own_names, f"the index of {noun}")
            remarks.append(in_place(noun, templates))
        elif names is not None:
            remarks.append(in_place(templates, noun))
    return InOrder(table, None, tuple(dict.fromkeys(remarks)))


class RowOrder:
    """The order of rows, such as templates or pairs, into which all inputs are brought.

    - `names`: the names of the rows, from the first input that has names; None until then
    - `remarks`: on inputs that were taken by place
    - `is_indexed`: whether an index names the rows: inputs without names are then taken by place
    """

    def __init__(
        self,
        values: Any,
        *,
        names: pd.Index | None = None,
        axis: int = 0,
        templates: str = "the scores",
    ):
        """Take the order of values along an axis, and their names if `names` are not given."""
        self.is_indexed = names is None and index_names(values, axis) is not None
        self.names = index_names(values, axis) if names is None else names
        self.templates = templates
        self.remarks = dict[Message, None]()
        self._may_count = names is None and index_of(values, axis) is not None

    def bring(self, values: Any, noun: str, *, may_be_plain: bool = False) -> Any:
        """Return values in this order; if they `may_be_plain`, values without names as they are."""
        if self.names is None and self._may_count and _renumbers(values):
            self.names = as_names(range(len(values)))
        if may_be_plain and not row_names(values):
            return values
        brought = in_order(values, self.names, noun, self.templates)
        if self.names is None:
            self.names = brought.names
        self.remarks |= dict.fromkeys(brought.remarks)
        return brought.values

    def take_names(self, names: pd.Index | None) -> None:
        self.names = names

    def bring_each(self, columns: Any, noun: str) -> Any:
        """Return a mapping with each column in this order; other values unchanged."""
        if not isinstance(columns, Mapping):
            return columns
        return {x: self.bring(y, f"{noun}[{x!r}]", may_be_plain=True) for x, y in columns.items()}


def _renumbers(values: Any) -> bool:
    """Whether the index of values counts the rows from 0, but in another order."""
    index = index_of(values)
    if index is None or getattr(index, "nlevels", 1) != 1 or index.dtype.kind not in "iu":
        return False
    return not counts_in_order(index) and np.array_equal(np.sort(index), np.arange(len(index)))


class GivenSide:
    """Labels and metadata of one side, as they were given.

    - `order` (RowOrder): the order of the templates; its names may come from a column of metadata
    - `called`: the names of the arguments of labels and of metadata
    """

    def __init__(self, labels: Any, meta: Any, order: RowOrder, called: tuple[str, str]):
        self.labels = labels
        self.meta = meta
        self.order = order
        self.called = called

    def join(self, names: Any) -> None:
        """Bring labels and metadata into the order; `names` is the argument of :class:`Scores`."""
        order = self.order
        labels_argument, meta_argument = self.called
        columns = None if self.meta is None else columns_of(self.meta)
        has_names = order.names is not None
        if not has_names and columns is not None and index_of(self.meta) is None:
            order.take_names(_stated_names(columns, names))
        # With names in a plain column, all plain columns share one order.
        may_be_plain = order.names is not None and not order.is_indexed
        self.labels = order.bring(self.labels, f"`{labels_argument}`", may_be_plain=may_be_plain)
        if columns is None:
            return  # there are no metadata, or they are no table
        if index_of(self.meta) is not None:
            columns = columns_of(order.bring(self.meta, f"`{meta_argument}`")) or {}
        elif has_names:
            columns = self._in_order_of_names(columns, names)
        self.meta = order.bring_each(columns, meta_argument)
        if order.names is None:
            order.take_names(_stated_names(self.meta, names))
        if names is not None:
            refuse_other_orders(self.meta, order.names)

    def take_from_rows(self, probe: GivenSide, names: Any) -> None:
        """Give the columns of a table the labels and metadata of the rows with the same names.

        Nothing happens if the columns have the names of the rows in the same order, or none of
        these names.
        """
        names_of_rows, names_of_columns = probe.order.names, self.order.names
        if (
            names_of_rows is None
            or names_of_columns is None
            or first_twice(names_of_rows) is not None
        ):
            return
        row_of_column = places(names_of_columns, names_of_rows)
        row_count = len(names_of_rows)
        if np.array_equal(row_of_column, np.arange(row_count)):
            return
        if len(row_of_column) == row_count and (row_of_column < 0).all():
            self.order = RowOrder(None)  # a square table whose columns are called otherwise
            return
        if (row_of_column < 0).any():
            name = names_of_columns[int(np.argmin(row_of_column))]
            raise DataError(
                f"`gallery_labels` is missing: the table has the column {name!r}, which is the "
                "name of no row, so that its rows and columns are not the same templates"
            )
        probe.join(names)
        self.labels = as_subjects(probe.labels, "`labels`", row_count)[row_of_column]
        metadata = as_meta(probe.meta, row_count, "probe_meta")
        self.meta = {name: column[row_of_column] for name, column in metadata.items()}

    def _in_order_of_names(self, columns: Mapping[str, Any], names: Any) -> Mapping[str, Any]:
        """Return columns, of which those without an index are joined by a column of names."""
        if self.order.names is None or names is None:
            return columns
        plain_columns = {x: y for x, y in columns.items() if not row_names(y)}
        own_names = [*names_in_columns(plain_columns).values()]
        if not any(_may_be_names_of(self.order.names, x) for x in own_names):
            return columns
        rows = joined(own_names, self.order.names, f"`{self.called[1]}`")
        if rows is None:
            return columns
        return {**columns, **{x: np.asarray(y)[rows] for x, y in plain_columns.items()}}


def refuse_other_orders(columns: Mapping[str, Any], names: pd.Index | None) -> None:
    """Raise where two columns hold the same texts, each once, in different orders.

    The columns were joined by place, and seem to name the templates; `names` count as a column.
    """
    texts = {x: y for x, column in columns.items() if (y := _distinct_texts(x, column))}
    if names is not None and not names.isna().any():
        texts = {"": names.tolist(), **texts}
    for column, other_column in combinations(texts, 2):
        texts_of_column = texts[column]
        other_texts = texts[other_column]
        if texts_of_column != other_texts and {*texts_of_column} == {*other_texts}:
            named = f"the column {column!r}" if column else "the names of the templates"
            raise DataError(
                f"the column {other_column!r} holds the same texts as {named}, each once, in "
                f"another order: {other_texts[0]!r} in row 0, and {texts_of_column[0]!r}. Do they "
                "name templates? Say "
                f'`names="{other_column}"` if they do, or `names=None` if they do not'
            )


def _distinct_texts(name: str, values: Any) -> list[str]:
    """Return the texts of a column that may name templates, since each stands once; else none."""
    try:
        array = one_dimensional(values.values if isinstance(values, NamedColumn) else values, name)
    except DataError:  # raised again where metadata are checked
        return []
    if name.casefold() in _NO_NAMES or array.dtype.kind not in "UO" or len(array) < _FEW_ROWS:
        return []
    listed = array.tolist()
    are_texts = all(isinstance(x, str) and x for x in listed)
    return listed if are_texts and len({*listed}) == len(listed) else []


def _stated_names(columns: Mapping[str, Any], names: Any) -> pd.Index | None:
    """Return the names of templates that a column states; None without such a column.

    `names` is the column, ``"auto"`` for a column of known name, or None for no column.
    """
    if names is None:
        return None
    plain_columns = {x: y for x, y in columns.items() if not row_names(y)}
    if isinstance(names, str) and names != "auto":
        if names not in columns:
            raise DataError(
                f"`names` is {names!r}, but the metadata have no such column; they have "
                f"{', '.join(map(repr, columns)) or 'none'}"
            )
        return as_names(plain_columns[names]) if names in plain_columns else None
    return declared_names(plain_columns)


def same_templates(
    probe: pd.Index, gallery: pd.Index, subjects: tuple[np.ndarray, np.ndarray, Any] | None
) -> np.ndarray:
    """Return the gallery template with the name of each probe, -1 if there is none.

    `subjects` are the codes of the probes, the codes of the gallery, and the label of each code;
    raise :class:`DataError` if two templates of one name have different subjects.
    """
    entry = places(probe, gallery)
    if subjects is None:
        return entry
    probe_codes, gallery_codes, labels = subjects
    is_other_person = (entry >= 0) & (gallery_codes[entry] != probe_codes)
    for row in np.flatnonzero(is_other_person)[:1]:
        column = int(entry[row])
        label = plain(labels[probe_codes[row]])
        other_label = plain(labels[gallery_codes[column]])
        raise DataError(
            f"the name {plain(probe[row])!r} is of two people, in {int(is_other_person.sum()):,} "
            f"of {len(is_other_person):,} rows: {label!r} in row {row} and {other_label!r} in "
            f"column {column}; equal names are one template: correct the labels or the names, or "
            "give `names=None` if these are not names of templates"
        )
    return entry


def refuse_unknown_names(
    probe: Mapping[str, np.ndarray], gallery: Mapping[str, np.ndarray], labels: tuple[Any, Any]
) -> None:
    """Raise where columns seem to be names of templates, but are not known as such.

    In such columns each text stands once, the texts are no `labels`, and one side has all texts of
    the other.
    """
    texts = _texts_but_subjects(probe, labels[0])
    other_texts = _texts_but_subjects(gallery, labels[1])
    for column, probe_texts in texts.items():
        for other_column, gallery_texts in other_texts.items():
            smaller, larger = sorted(({*probe_texts}, {*gallery_texts}), key=len)
            if smaller <= larger:
                raise DataError(
                    f"the column {column!r} of the probes and {other_column!r} of the gallery hold "
                    f"the same texts, each once, such as {probe_texts[0]!r}: do they name "
                    "templates? Say "
                    f'`names="{column}"` if they do, or `names=None` if they do not'
                )


def _texts_but_subjects(meta: Mapping[str, np.ndarray], labels: Any) -> dict[str, list[str]]:
    texts = {x: _distinct_texts(x, y) for x, y in meta.items()}
    return {x: y for x, y in texts.items() if y and not are_subjects(as_names(meta[x]), labels)}

"""Names of templates, and the one join by them.

Each side of scores has an index of names, or none. Whatever has a value for each template (labels,
metadata, a mask, another system, a file) is brought into the order of the scores here: by names
where values and scores have names, else by place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.scores.labels import (
    CAMERA_COLUMNS,
    LABEL_COLUMNS,
    NAME_COLUMNS,
    as_meta,
    as_objects,
    as_subjects,
    columns_of,
    likeness,
    missing_values,
    one_dimensional,
    plain,
)
from bioeval.scores.numbering import numbering_in_other_order, other_order

if TYPE_CHECKING:
    import pandas as pd

#: The columns that name templates whatever they hold. Further columns of `NAME_COLUMNS` name
#: templates if each value stands once: faces of one photograph are several templates.
_OF_TEMPLATES = ("template", "name", "names")

# Columns whose equal values on both sides are no sign of one template.
_NO_NAMES = {*CAMERA_COLUMNS, *LABEL_COLUMNS, "session", "group", "attack", "species"}

# Fewer templates may have the same texts on both sides by chance.
_FEW = 5


# ---------------------------------------------------------------- names, and their places


def as_names(values: Any) -> pd.Index:
    """Return values as names: text, whole numbers or another comparable value; None if missing."""
    import pandas as pd

    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return pd.Index([_as_name(x) for x in listed], dtype=object, tupleize_cols=False)


def _as_name(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, str | os.PathLike):
        return os.fspath(value) or None
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape") or None
    if isinstance(value, tuple):
        return tuple(map(_as_name, value))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None if missing_values(as_objects([value])).any() else value


def places(searched: pd.Index, names: pd.Index) -> np.ndarray:
    """Return the place among `names` of each wanted name, -1 where the name is missing.

    A number equals a text that is `str` of it, a missing name equals nothing, and a known one must
    stand once among `names`.
    """
    if {searched.inferred_type, names.inferred_type} not in ({"string"}, {"integer"}):
        searched, names = _as_texts(searched), _as_texts(names)
    present = np.flatnonzero(names.notna())
    if names[present].has_duplicates:
        name = names[present][names[present].duplicated()][0]
        raise DataError(f"the name {name!r} stands twice; expected each name once")
    place = names[present].get_indexer(searched)
    place[searched.isna()] = -1
    return np.append(present, -1)[place]


def united(names: Sequence[Any], new_names: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    """Return names followed by the unknown `new_names`, and the place of all `new_names`."""
    place = places(as_names(new_names), as_names(names))
    new = np.flatnonzero(place < 0)
    place[new] = len(names) + np.arange(len(new))
    return [*names, *(new_names[i] for i in new.tolist())], place


def _as_texts(names: pd.Index) -> pd.Index:
    return as_names([str(x) if isinstance(x, Number) else x for x in names])


def first_twice(names: pd.Index) -> tuple[Any, list[int]] | None:
    """Return a name that stands twice, with its first two places; None where each stands once."""
    texts = _as_texts(names)
    again = np.flatnonzero(texts.duplicated() & texts.notna())
    if not len(again):
        return None
    rows = np.flatnonzero(texts == texts[again[0]])
    return names[again[0]], rows[:2].tolist()


# ---------------------------------------------------------------- what has names


@dataclass(frozen=True, eq=False)
class NamedColumn:
    """A value for each row of a table, and the possible names of rows, the likeliest first."""

    values: np.ndarray
    names: tuple[pd.Index, ...]
    called: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)


def index_of(values: Any, axis: int = 0) -> Any:
    """Return the index of a pandas object along an axis, or the coordinate of xarray's dimension.

    None where there is none.
    """
    if hasattr(values, "iloc"):
        return values.axes[axis] if axis < len(values.axes) else None
    dims = getattr(values, "dims", None)
    coords = getattr(values, "coords", None)
    if isinstance(dims, tuple) and coords is not None and axis < len(dims):
        return coords[dims[axis]].to_index() if dims[axis] in coords else None
    return None


def counts_in_order(index: Any) -> bool:
    """Whether an index counts the rows from 0, as pandas does where nothing else is asked for."""
    if getattr(index, "nlevels", 1) != 1 or index.dtype.kind not in "iuf":
        return False
    return np.array_equal(index, np.arange(len(index)))


def index_names(values: Any, axis: int = 0) -> pd.Index | None:
    """Return the names in an index; None without, or where it counts from 0 in order."""
    index = index_of(values, axis)
    if index is None or counts_in_order(index):
        return None
    names = as_names(index)
    return None if names.isna().all() else names


def row_names(values: Any) -> tuple[pd.Index, ...]:
    """Return the possible names of rows, likeliest first: an index, or columns of names."""
    if isinstance(values, NamedColumn):
        return values.names
    index = index_names(values)
    if index is not None:
        return (index,)
    columns = columns_of(values) or {} if hasattr(values, "iloc") else {}
    return tuple(names_in_columns(columns).values())


def names_in_columns(columns: Mapping[str, Any]) -> dict[str, pd.Index]:
    """Return the columns of a table that may name its rows."""
    candidates = {}
    for name in NAME_COLUMNS:
        if name not in columns or len(np.shape(columns[name])) != 1:
            continue
        values = one_dimensional(columns[name], name)
        if not counts_rows(values) and not missing_values(values).all():
            candidates[name] = as_names(values)
    return candidates


def declared_names(columns: Mapping[str, Any]) -> pd.Index | None:
    """Return the column that names the templates of scores whose values have no names."""
    return next(
        (
            names
            for column, names in names_in_columns(columns).items()
            if column in _OF_TEMPLATES or first_twice(names) is None
        ),
        None,
    )


def counts_rows(values: np.ndarray) -> bool:
    """Whether values are numbers, or texts of them, that count from 0 or from 1 in order."""
    if not len(values) or likeness(values[0]) not in (0, 1):
        return False
    first = likeness(values[0])
    return [*map(likeness, values.tolist())] == [*range(first, first + len(values))]


# ---------------------------------------------------------------- the join


class InOrder(NamedTuple):
    """Values in the order of the templates, the names of the values, and remarks."""

    values: Any
    names: pd.Index | None = None
    remarks: tuple[Message, ...] = ()


def in_order(
    values: Any, names: pd.Index | None, noun: str, templates: str = "the scores"
) -> InOrder:
    """Return values in the order of the `names` of templates.

    Values with names are joined by them to templates with names. If either has no names, values are
    taken by place, with a remark. `what` and `of` call the values and the templates in messages.

    Raises
    ------
    DataError
        If a template has no value, or several; if no name is common; or if the values are numbered
        in another order, and the templates have no names.
    """
    own_names = row_names(values)
    nouns: tuple[str, ...] = (f"the index of {noun}",)
    if isinstance(values, NamedColumn):
        nouns, values = values.called, values.values
    if not own_names:
        if names is None or values is None or isinstance(values, str | bytes):
            return InOrder(values)
        return InOrder(values, None, (in_place(templates, noun),))
    if names is None:
        for index, name in zip(own_names, nouns, strict=False):
            _refuse_other_order(index, name)
        unique = [x for x in own_names if first_twice(x) is None]
        return (
            InOrder(values, unique[0], (in_place(noun, templates),)) if unique else InOrder(values)
        )
    if not any(_may_be_names_of(names, x) for x in own_names):
        return InOrder(values, None, (in_place(templates, noun),))
    place = joined(own_names, names, noun)
    return InOrder(values if place is None else rows_at(values, place), names)


def _may_be_names_of(names: pd.Index, own_names: pd.Index) -> bool:
    """Whether values name templates: each stands once, or one value is among the names.

    Values that stand twice, as the photograph of several faces, name nothing.
    """
    return first_twice(own_names) is None or bool(_as_texts(own_names).isin(_as_texts(names)).any())


def _refuse_other_order(own_names: pd.Index, noun: str) -> None:
    if numbering_in_other_order(own_names):
        raise other_order(noun, own_names)


def in_place(named: str, unnamed: str) -> Message:
    """Return the remark on values taken by place, as values or templates have no names."""
    return Message("taken-in-order", named=named, unnamed=unnamed)


def without_names(
    names_a: pd.Index | None, names_b: pd.Index | None, systems: Sequence[str]
) -> list[Message]:
    """Return the remark on two systems taken by place, as one system has no names."""
    if (names_a is None) == (names_b is None):
        return []
    named, unnamed = systems if names_b is None else systems[::-1]
    names = names_b if names_a is None else names_a
    _refuse_other_order(names, f"the index of {named}")
    return [in_place(named, unnamed)]


def joined(own_names: Sequence[pd.Index], names: pd.Index, noun: str) -> np.ndarray | None:
    """Return the row of each of the `names`, by the first index of `own` that has a common name.

    None where the rows are in the order of the names.
    """
    place_by_index = [
        places(names, x) if first_twice(x) is None else _where_once(names, x) for x in own_names
    ]
    best = next((i for i, place in enumerate(place_by_index) if (place != -1).any()), 0)
    place = place_by_index[best]
    if (place == -2).any():
        name = names[int(np.argmax(place == -2))]
        raise DataError(
            f"{noun} has the name {plain(name)!r} twice, and one value is needed for each "
            "template; give each row its own name, or values without names in the order of the "
            "templates"
        )
    if (place == -1).any():
        raise _missing(names, own_names[best], place == -1, noun)
    in_place = len(place) == len(own_names[best]) and np.array_equal(place, np.arange(len(place)))
    return None if in_place else place


def _where_once(searched: pd.Index, names: pd.Index) -> np.ndarray:
    """Return :func:`places` among names of which some stand twice: -2 for a name that does."""
    searched, names = _as_texts(searched), _as_texts(names)
    several = names.duplicated(keep=False)
    once = np.flatnonzero(~several)
    place = np.append(once, -1)[places(searched, names[once])]
    place[searched.isin(names[several]) & searched.notna()] = -2
    return place


def _missing(names: pd.Index, own_names: pd.Index, is_missing: np.ndarray, noun: str) -> DataError:
    row = int(np.argmax(is_missing))
    number = int(is_missing.sum())
    name = "without a name" if names[row] is None else repr(plain(names[row]))
    return DataError(
        f"{noun} has no value of the template {name} (row {row}), and of {number:,} of "
        f"{len(names):,} templates in all; its names are such as {example(own_names)}: complete "
        "them, or give values without names in the order of the templates"
    )


def rows_at(values: Any, place: np.ndarray) -> Any:
    """Return some rows of values of any container."""
    return values.iloc[place] if hasattr(values, "iloc") else values[place]


def table_in_order(
    table: Any, sides: Sequence[pd.Index | None], noun: str, templates: str = "the scores"
) -> InOrder:
    """Return a table of pandas or xarray with rows and columns in the order of both sides."""
    if index_of(table) is None:
        return InOrder(table)
    remarks: list[Message] = []
    for axis, names in enumerate(sides):
        own_names = index_names(table, axis)
        if own_names is None or names is None:
            if own_names is not None:
                _refuse_other_order(own_names, f"the index of {noun}")
            if (own_names is None) != (names is None):
                remarks.append(
                    in_place(*((templates, noun) if own_names is None else (noun, templates)))
                )
            continue
        place = joined((own_names,), names, noun)
        if place is not None:
            table = (
                table.iloc[(slice(None),) * axis + (place,)]
                if hasattr(table, "iloc")
                else table[(slice(None),) * axis + (place,)]
            )
    return InOrder(table, None, tuple(dict.fromkeys(remarks)))


# ---------------------------------------------------------------- rows that come together


class RowOrder:
    """The order of rows, such as templates or pairs, into which all inputs of the rows are brought.

    - `names`: of the first input that has names; None until then
    - `remarks`: on inputs that were taken by place
    """

    def __init__(
        self,
        values: Any,
        *,
        names: pd.Index | None = None,
        axis: int = 0,
        templates: str = "the scores",
    ):
        """Take the order of values along an axis; `names` may be stated otherwise."""
        #: Whether an index names the rows: values without names beside it are taken by place.
        self.is_indexed = names is None and index_names(values, axis) is not None
        self.names = index_names(values, axis) if names is None else names
        self.templates = templates
        self.remarks = dict[Message, None]()
        self._counts = names is None and index_of(values, axis) is not None

    def bring(self, values: Any, noun: str, *, may_be_plain: bool = False) -> Any:
        """Return values in this order; plain values without names may need no remark."""
        if self.names is None and self._counts and _renumbers(values):
            self.names = as_names(range(len(values)))
        if may_be_plain and not row_names(values):
            return values
        in_this_order = in_order(values, self.names, noun, self.templates)
        if (
            self.names is None
            and in_this_order.names is not None
            and first_twice(in_this_order.names) is None
        ):
            self.names = in_this_order.names
        self.remarks |= dict.fromkeys(in_this_order.remarks)
        return in_this_order.values

    def take_names(self, names: pd.Index | None) -> None:
        """Take the names of rows whose values have none, for the inputs that follow."""
        self.names = names

    def bring_each(self, columns: Any, noun: str) -> Any:
        """Return a mapping with each column in this order; other values unchanged."""
        if not isinstance(columns, Mapping):
            return columns
        return {x: self.bring(y, f"{noun}[{x!r}]", may_be_plain=True) for x, y in columns.items()}


def _renumbers(values: Any) -> bool:
    index = index_of(values)
    if index is None or getattr(index, "nlevels", 1) != 1 or index.dtype.kind not in "iu":
        return False
    return not counts_in_order(index) and np.array_equal(np.sort(index), np.arange(len(index)))


class GivenSide:
    """Labels and metadata of one side, as given.

    - `order` (RowOrder): the order of the values; its names may be a column of metadata
    - `called`: the names of the arguments of labels and of metadata
    """

    def __init__(self, labels: Any, meta: Any, order: RowOrder, called: tuple[str, str]):
        self.labels = labels
        self.meta = meta
        self.order = order
        self.called = called

    def join(self, names: Any) -> None:
        """Bring labels and metadata into the order; `names` is the argument of :class:`Scores`."""
        order, (of_labels, of_meta) = self.order, self.called
        columns = None if self.meta is None else columns_of(self.meta)
        has_names = order.names is not None
        if not has_names and columns is not None and index_of(self.meta) is None:
            order.take_names(_names_in(columns, names))
        # With names in a plain column, all plain columns share one order.
        may_be_plain = order.names is not None and not order.is_indexed
        self.labels = order.bring(self.labels, f"`{of_labels}`", may_be_plain=may_be_plain)
        if columns is None:
            return  # no metadata, or none that are a table
        if index_of(self.meta) is not None:
            columns = columns_of(order.bring(self.meta, f"`{of_meta}`")) or {}
        elif has_names:
            columns = self._in_order_of_names(columns, names)
        self.meta = order.bring_each(columns, of_meta)
        if order.names is None:
            order.take_names(_names_in(self.meta, names))
        if names is not None:
            refuse_other_orders(self.meta, order.names)

    def take_from_rows(self, probe: GivenSide, names: Any) -> None:
        """Take labels and metadata of a table's columns from the rows of the same names.

        Columns that are the rows in their order, or have no name of a row, take nothing.
        """
        rows, columns = probe.order.names, self.order.names
        if rows is None or columns is None or first_twice(rows) is not None:
            return
        place = places(columns, rows)
        if np.array_equal(place, np.arange(len(rows))):
            return
        if len(place) == len(rows) and (place < 0).all():
            self.order = RowOrder(None)  # columns of a square table that are called otherwise
            return
        if (place < 0).any():
            name = columns[int(np.argmin(place))]
            raise DataError(
                f"`gallery_labels` is missing: the table has the column {name!r}, which is the "
                "name of no row, so that its rows and columns are not the same templates"
            )
        probe.join(names)
        self.labels = as_subjects(probe.labels, "`labels`", len(rows))[place]
        metadata = as_meta(probe.meta, len(rows), "probe_meta")
        self.meta = {name: column[place] for name, column in metadata.items()}

    def _in_order_of_names(self, columns: Mapping[str, Any], names: Any) -> Mapping[str, Any]:
        plain_columns = {x: y for x, y in columns.items() if not row_names(y)}
        own_names = [] if names is None else [*names_in_columns(plain_columns).values()]
        if self.order.names is None or not any(
            _may_be_names_of(self.order.names, x) for x in own_names
        ):
            return columns
        place = joined(own_names, self.order.names, f"`{self.called[1]}`")
        if place is None:
            return columns
        is_plain = {name: not row_names(column) for name, column in columns.items()}
        return {x: np.asarray(y)[place] if is_plain[x] else y for x, y in columns.items()}


def refuse_other_orders(columns: Mapping[str, Any], names: pd.Index | None) -> None:
    """Raise where rows that were joined by place hold the same texts, each once, in two orders."""
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
    try:
        array = one_dimensional(values.values if isinstance(values, NamedColumn) else values, name)
    except DataError:  # which is raised again where metadata are checked
        return []
    if name.casefold() in _NO_NAMES or array.dtype.kind not in "UO" or len(array) < _FEW:
        return []
    listed = array.tolist()
    texts = all(isinstance(x, str) and x for x in listed)
    return listed if texts and len({*listed}) == len(listed) else []


def _names_in(columns: Mapping[str, Any], names: Any) -> pd.Index | None:
    """Return the names of templates in a column without names; None without such a column.

    `names` is the column, ``"auto"`` for a column of known name, or None.
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


def names_of_given(names: Any, side: int) -> pd.Index | None:
    """Return the names of a side that the argument `names` lists; None of a column or "auto"."""
    if names is None or isinstance(names, str):
        return None
    of_side = names[side] if isinstance(names, tuple) and len(names) == 2 else names
    return None if of_side is None else as_names(one_dimensional(of_side, "`names`"))


# ---------------------------------------------------------------- both sides


def are_subjects(names: pd.Index | None, labels: Any) -> bool:
    """Whether names are the labels of the templates, and so no names."""
    if names is None or labels is None or isinstance(labels, NamedColumn):
        return False
    try:
        labels_as_names = as_names(one_dimensional(labels, "labels"))
    except DataError:  # which is raised again where labels are checked
        return False
    return _as_texts(labels_as_names).equals(_as_texts(names))


def are_no_names(sides: tuple[pd.Index | None, pd.Index | None], labels: tuple[Any, Any]) -> bool:
    """Whether the names of both sides are the labels of their templates, or merely count them."""
    named_sides = [(x, y) for x, y in zip(sides, labels, strict=True) if x is not None]
    return all(are_subjects(x, y) for x, y in named_sides) or all(
        counts_rows(np.array(x)) for x, _ in named_sides
    )


def require_each_once(names: pd.Index | None, side: str, column: str = "") -> None:
    """Raise :class:`DataError` where two templates of a side of a matrix have one name."""
    twice = None if names is None else first_twice(names)
    if twice is None:
        return
    name, rows = twice
    raise DataError(
        f"the name {plain(name)!r} stands twice, in {side}s {', '.join(map(str, rows))}; equal "
        "names are one template, and a matrix has each template once: give each its own name, "
        "drop the index or call the column otherwise if it does not name templates, or make one "
        "template of several embeddings by `average`"
    )


def same_templates(
    probe: pd.Index, gallery: pd.Index, subjects: tuple[np.ndarray, np.ndarray, Any] | None
) -> np.ndarray:
    """Return the gallery template that each probe is, by its name; -1 for none.

    `subjects` are the codes of both sides and the label of each code; :class:`DataError` where a
    name is of two of them.
    """
    entry = places(probe, gallery)
    if subjects is None:
        return entry
    of_probe, of_gallery, labels = subjects
    is_other_person = (entry >= 0) & (of_gallery[entry] != of_probe)
    for row in np.flatnonzero(is_other_person)[:1]:
        column = int(entry[row])
        label, other_label = (plain(labels[code]) for code in (of_probe[row], of_gallery[column]))
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
    """Raise where columns of both sides that are not known as names seem to be names.

    Such columns hold different texts, no `labels`, and the larger side has all texts of the
    smaller.
    """
    texts = [
        {
            x: texts_of_column
            for x, y in meta.items()
            if (texts_of_column := _distinct_texts(x, y))
            and not are_subjects(as_names(y), subjects)
        }
        for meta, subjects in zip((probe, gallery), labels, strict=True)
    ]
    for column, probe_texts in texts[0].items():
        for other_column, gallery_texts in texts[1].items():
            smaller, larger = sorted(({*probe_texts}, {*gallery_texts}), key=len)
            if smaller <= larger:
                raise DataError(
                    f"the column {column!r} of the probes and {other_column!r} of the gallery hold "
                    f"the same texts, each once, such as {probe_texts[0]!r}: do they name "
                    "templates? Say "
                    f'`names="{column}"` if they do, or `names=None` if they do not'
                )


def in_words(names: pd.Index | None, number: int) -> list[str]:
    """Return the names of templates as text, or their places where they have none."""
    return [*map(str, range(number) if names is None else names)]


def example(names: Iterable[Any]) -> str:
    """Return the first of some names, for a message."""
    return next((repr(plain(x)) for x in names if x is not None), "none")

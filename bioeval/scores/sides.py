"""Keys of rows, and the join that brings values for each row into the order of the rows.

:func:`in_order` joins whatever has a value for each row: labels, metadata, a mask, folds, groups,
claims, another system, a file. If the rows of the scores are ``b.png, a.png`` and the labels are
``a.png: ann, b.png: bob``, the labels in order are ``bob, ann``. The rule:

- Rows have names (texts), or numbers (an index of integers), or both, or neither (:class:`Keys`).
- Names on both sides of a join: by names, in any order.
- Numbers on both sides: by numbers, as pandas aligns.
- Anything else: by place. A remark says so if one side has names, or numbers other than 0, 1, 2 ...

Keys that do not fit are an error with a key of each side: a join never falls back to the place.
Names alone may say that a probe and a gallery template are one; numbers never do.

:class:`GivenSide` joins all inputs of one side of a matrix, and finds the column that names its
rows. The last functions refuse columns that may be names, but are not known as such.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, Message, counted
from bioeval.scores.labels import (
    CAMERA_COLUMNS,
    as_objects,
    as_subjects,
    missing_values,
    normal,
    one_dimensional,
    plain,
    without_type,
)
from bioeval.scores.metadata import LABEL_COLUMNS, NAME_COLUMNS, as_meta, columns_of

if TYPE_CHECKING:
    import pandas as pd

# The columns that name templates in any case. Other columns of `NAME_COLUMNS` do so only if each
# value stands once: several faces, and so several templates, may have one photograph.
_OF_TEMPLATES = ("template", "name", "names")

# Columns whose equal values on both sides do not suggest names of templates.
_NO_NAMES = {*CAMERA_COLUMNS, *LABEL_COLUMNS, "session", "group"}

# In fewer rows, two columns may have the same texts by chance.
_FEW_ROWS = 5

# A text that is a whole number, as `str` writes it.
_NUMERAL = re.compile(r"0|-?[1-9][0-9]{0,17}")

# The dimensions of xarray that are probes, and those that are gallery templates.
_DIMENSIONS = (
    {"probe", "probes", "query", "queries"},
    {"gallery", "galleries", "reference", "references"},
)

_WAYS_OUT = (
    "If both are in one order, drop an index by `reset_index(drop=True)` or `to_numpy()`; else "
    "give both the same index"
)


# ------------------------------------------------------------------------------- keys


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of rows."""

    names: pd.Index | None = None  # texts, None where a row has none
    numbers: pd.Index | None = None  # whole numbers

    @property
    def merely_count(self) -> bool:
        """Whether rows have the numbers 0, 1, 2 ..., which pandas writes by default."""
        return self.numbers is not None and np.array_equal(self.numbers, np.arange(len(self)))

    @property
    def stated(self) -> str:
        """By what a user has keyed the rows, in words: names or row numbers; empty for neither."""
        if self.names is not None:
            return "names"
        return "" if self.numbers is None or self.merely_count else "row numbers"

    def __len__(self) -> int:
        return len(next(x for x in (self.names, self.numbers) if x is not None))

    def take(self, rows: np.ndarray) -> Keys:
        names = None if self.names is None else self.names[rows]
        numbers = None if self.numbers is None else self.numbers[rows]
        return Keys(names, numbers)

    def completed(self, other: Keys) -> Keys:
        """Return these keys, and those of `other` where there are none."""
        names = other.names if self.names is None else self.names
        numbers = other.numbers if self.numbers is None else self.numbers
        return Keys(names, numbers)


def index_of(values: Any, axis: int = 0) -> Any:
    """Return the index of a pandas object, or the coordinate of an xarray object; None without."""
    if hasattr(values, "iloc"):  # pandas
        return values.axes[axis] if axis < len(values.axes) else None
    dims = getattr(values, "dims", None)
    coords = getattr(values, "coords", None)
    if isinstance(dims, tuple) and coords is not None and axis < len(dims):  # xarray
        return coords[dims[axis]].to_index() if dims[axis] in coords else None
    return None


def keys_of(values: Any, axis: int = 0) -> Keys:
    """Return the keys along an axis: numbers if all are whole numbers, or texts of these."""
    index = index_of(values, axis)
    return Keys() if index is None else as_keys(index)


def as_keys(index: Any) -> Keys:
    if getattr(index, "nlevels", 0) == 1 and index.dtype.kind in "iu" and not index.hasnans:
        return Keys(numbers=index)
    names = as_names(index)
    if names.isna().all():
        return Keys()
    if all(isinstance(x, str) and _NUMERAL.fullmatch(x) for x in names):
        return Keys(numbers=names.astype(np.int64))
    return Keys(names)


def as_names(values: Any) -> pd.Index:
    """Return values as names: texts, tuples of texts, None if missing."""
    import pandas as pd

    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return pd.Index([_as_name(x) for x in listed], dtype=object, tupleize_cols=False)


def _as_name(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, str | os.PathLike | bytes):
        text = os.fspath(value)
        if isinstance(text, bytes):
            text = text.decode(errors="surrogateescape")
        return normal(text) or None
    if isinstance(value, tuple):
        return tuple(map(_as_name, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if missing_values(as_objects([value])).any():
        return None
    if isinstance(value, date):  # a date is the same name as its midnight
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)


def places(searched: pd.Index, names: pd.Index) -> np.ndarray:
    """Return the place of each searched name among `names`, -1 if it is not there.

    A missing name (None) equals nothing. Raise if a name stands twice among `names`.
    """
    present = np.flatnonzero(names.notna())
    if names[present].has_duplicates:
        name = names[present][names[present].duplicated()][0]
        raise DataError(f"the name {name!r} stands twice; expected each name once")
    place_in_present = names[present].get_indexer(searched)
    place_in_present[searched.isna()] = -1
    return np.append(present, -1)[place_in_present]  # -1 takes the last entry, -1


def united(names: Any, new_names: Any) -> tuple[list[Any], np.ndarray]:
    """Return names and the `new_names` that are not among them, and the place of each new name."""
    place = places(as_names(new_names), as_names(names))
    added = np.flatnonzero(place < 0)
    place[added] = len(names) + np.arange(len(added))
    return [*names, *(new_names[i] for i in added.tolist())], place


def first_twice(names: pd.Index) -> tuple[Any, list[int]] | None:
    """Return the first name that stands twice, with two of its places; None if there is none."""
    repeated = np.flatnonzero(names.duplicated() & names.notna())
    if not len(repeated):
        return None
    rows = np.flatnonzero(names == names[repeated[0]])
    return names[repeated[0]], rows[:2].tolist()


@dataclass(frozen=True, eq=False)
class NamedColumn:
    """A value for each row of a file, and possible names of the rows, the likeliest first."""

    values: np.ndarray
    names: Mapping[str, pd.Index]  # by their sources, which are for messages
    numbers: pd.Index | None = None

    def __len__(self) -> int:
        return len(self.values)


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
    """Return the names in the first column that names templates; None if there is none."""
    for column, names in names_in_columns(columns).items():
        if column in _OF_TEMPLATES or first_twice(names) is None:
            return names
    return None


def counts_rows(values: np.ndarray) -> bool:
    """Whether values count the rows in order from 0 or from 1, as numbers or as texts."""
    if not len(values) or without_type(values[0]) not in (0, 1):
        return False
    first = int(without_type(values[0]))  # of the text "0.0", too
    numbers = [without_type(x) for x in values.tolist()]
    return numbers == [*range(first, first + len(values))]


def _own_keys(values: Any, axis: int = 0) -> tuple[tuple[pd.Index, ...], pd.Index | None]:
    """Return the possible names of the rows of values, likeliest first, and their numbers."""
    if isinstance(values, NamedColumn):
        return tuple(values.names.values()), values.numbers
    keys = keys_of(values, axis)
    if keys.names is not None:
        return (keys.names,), None
    is_table = axis == 0 and hasattr(values, "iloc") and values.ndim == 2
    if is_table:
        return tuple(names_in_columns(values).values()), keys.numbers
    return (), keys.numbers


def _are_plain(values: Any) -> bool:
    """Whether values have no keys, or merely count."""
    names, numbers = _own_keys(values)
    return not names and not Keys(numbers=numbers).stated


def are_subjects(keys: Keys, labels: Any) -> bool:
    """Whether keys are the labels of the templates, and so are no keys of templates."""
    if not keys.stated or labels is None or isinstance(labels, NamedColumn):
        return False
    names = as_names(keys.numbers) if keys.names is None else keys.names
    try:
        return as_names(one_dimensional(labels, "labels")).equals(names)
    except DataError:  # raised again where labels are checked
        return False


def in_words(names: pd.Index | None, number: int) -> list[str]:
    """Return the names of templates as text, or their numbers from 0 if they have no names."""
    return [*map(str, range(number) if names is None else names)]


def _example(names: Iterable[Any]) -> str:
    return next((repr(plain(x)) for x in names if x is not None), "none")


# ------------------------------------------------------------------------------- the join


class InOrder(NamedTuple):
    """Values in the order of the rows to which they are joined."""

    values: Any
    keys: Keys = Keys()  # of values that were taken by place: their own
    remarks: tuple[Message, ...] = ()
    is_joined: bool = False  # whether by names or numbers, and not by place
    #: int64 (rows,): the values in the other order, by place for by number or the reverse, are
    #: `values[other_order]`; None where both orders are one, or numbers are not 0..n-1.
    other_order: np.ndarray | None = None


def in_order(
    values: Any, keys: Keys, noun: str, *, axis: int = 0, templates: str = "the scores"
) -> InOrder:
    """Return values, along an axis, in the order of the rows that have `keys`.

    Messages call the values `noun`, and what has the keys `templates`.
    """
    own_names, own_numbers = _own_keys(values, axis)
    own = Keys(next((x for x in own_names if first_twice(x) is None), None), own_numbers)

    # By names. The numbers of one side may be the names of the other.
    names = keys.names
    if names is None and own_names and keys.stated:
        names = _numbers_as_names(own_names, own_numbers, keys, noun)
    elif names is not None and own.stated == "row numbers":
        own_names = (as_names(own_numbers),)
    if names is not None and any(_may_be_names_of(names, x) for x in own_names):
        return _taken(values, joined(own_names, names, noun), axis)

    # By numbers.
    if keys.numbers is not None and own_numbers is not None:
        rows = _rows_by_numbers(own_numbers, keys, noun, templates)
        taken = _taken(values, rows, axis)
        if rows is not None and np.array_equal(np.sort(own_numbers), np.arange(len(rows))):
            taken = taken._replace(other_order=np.argsort(rows))
        return taken

    # By place, with a remark if one side has keys.
    if isinstance(values, NamedColumn):
        if keys.names is None:
            _refuse_numbering_in_other_order(values)
        values = values.values
    remarks: tuple[Message, ...] = ()
    if values is not None and not isinstance(values, str | bytes):
        if keys.stated:
            remarks = (in_place(templates, noun, keys),)
        elif own.stated:
            remarks = (in_place(noun, templates, own),)
    return InOrder(values, own, remarks, other_order=_order_by_numbers(own, keys))


def _order_by_numbers(own: Keys, keys: Keys) -> np.ndarray | None:
    """Return the order by numbers of values that are taken by place, as in :class:`InOrder`."""
    own_are_stated = bool(Keys(numbers=own.numbers).stated)
    numbered = own if own_are_stated else keys
    if numbered.numbers is None or numbered.merely_count:
        return None
    numbers = np.asarray(numbered.numbers)
    numbers = numbers - min(numbers, default=0)  # files may count from 1
    if not np.array_equal(np.sort(numbers), np.arange(len(numbers))):
        return None
    return np.argsort(numbers) if own_are_stated else numbers


def _refuse_numbering_in_other_order(column: NamedColumn) -> None:
    """Raise if names count the rows, but not in order, where the scores have no names."""
    for source, names in column.names.items():
        if not numbering_in_other_order(names):
            continue
        cells = [plain(x) for x in names.tolist()]
        first = min(int(cell) for cell in cells)
        row = next(i for i, cell in enumerate(cells) if int(cell) != first + i)
        raise DataError(
            f"{source} numbers the rows in another order: row {row} has {cells[row]!r}, "
            f"expected {first + row}, and the scores have no names by which rows could be "
            "found. Sort the rows by these numbers, or drop them if the rows are in the "
            "order of the scores"
        )


def _numbers_as_names(
    own_names: tuple[pd.Index, ...], own_numbers: pd.Index | None, keys: Keys, noun: str
) -> pd.Index | None:
    """Return the numbers of rows as names, if these join the rows to a column of names."""
    assert keys.numbers is not None
    names = as_names(keys.numbers)
    if own_numbers is None:
        return names
    own_names = tuple(x for x in own_names if x.isin(names).any())
    if not own_names:
        return None
    if not keys.numbers.isin(own_numbers).all():
        return names
    # The numbers join the rows as well, and in the same order as the names.
    by_number = own_numbers.get_indexer(keys.numbers)
    has_all_names = first_twice(own_names[0]) is None and names.isin(own_names[0]).all()
    if has_all_names and not np.array_equal(by_number, places(names, own_names[0])):
        raise DataError(
            f"{noun} has an index, and a column of names, which hold the same numbers as the index "
            f"of the scores, such as {names[0]}, in different orders. Drop the index by "
            "`reset_index(drop=True)` or `to_numpy()`, or say `names=None` if the column does not "
            "name templates"
        )
    return None


def _taken(values: Any, rows: np.ndarray | None, axis: int) -> InOrder:
    """Return joined values; None: their rows are in order."""
    if isinstance(values, NamedColumn):
        values = values.values
    if rows is not None:
        index = rows if axis == 0 else (slice(None), rows)
        values = values.iloc[index] if hasattr(values, "iloc") else values[index]
    return InOrder(values, is_joined=True)


def _may_be_names_of(names: pd.Index, own_names: pd.Index) -> bool:
    """Whether `own_names` may name templates: they are distinct, or some name is in `names`."""
    return first_twice(own_names) is None or bool(own_names.isin(names).any())


def in_place(named: str, unnamed: str, keys: Keys) -> Message:
    """Return the remark that values are taken by place, since one side has no such keys."""
    return Message("taken-in-order", named=named, keys=keys.stated, unnamed=unnamed)


def _rows_by_numbers(own: pd.Index, keys: Keys, noun: str, templates: str) -> np.ndarray | None:
    """Return the row of each number of `keys`, None if all are in order.

    Values of more numbers than needed are chosen from, unless the rows merely count.
    """
    numbers = keys.numbers
    assert numbers is not None
    if np.array_equal(own, numbers):
        return None
    if not len(numbers):  # scores without rows, which their reader refuses
        return np.zeros(0, dtype=np.intp)
    if len(own) > len(numbers) and keys.merely_count:
        raise DataError(
            f"{noun} has {len(own):,} rows, such as {own[-1]}, and {templates} {len(numbers):,}, "
            f"which merely count from 0 to {len(numbers) - 1:,}: it is not known which rows these "
            f"are. {_WAYS_OUT}"
        )
    for index, owner in ((own, noun), (numbers, templates)):
        if index.has_duplicates:
            number = index[index.duplicated()][0]
            raise DataError(
                f"the number {number} stands twice in the index of {owner}, and the rows of {noun} "
                f"and of {templates} are numbered differently. {_WAYS_OUT}"
            )
    rows = own.get_indexer(numbers)
    if (rows >= 0).all():
        return rows
    raise DataError(
        f"{noun} has no row {numbers[int(np.argmin(rows))]}, which {templates} have, nor "
        f"{int((rows < 0).sum()):,} of {len(rows):,} rows in all; its rows have numbers such as "
        f"{own[0] if len(own) else 'none'}. {_WAYS_OUT}"
    )


def joined(own_names: Sequence[pd.Index], names: pd.Index, noun: str) -> np.ndarray | None:
    """Return the row of every name in `names`; None if the rows are in the order of the names.

    `own_names` are possible names of the rows, of which the first with a common name is used.
    """
    if any(x.equals(names) and x.notna().all() for x in own_names):
        return None
    present = names[names.notna()]
    own = next((x for x in own_names if x.isin(present).any()), own_names[0])
    is_double = names.notna() & names.isin(own[own.duplicated()])
    if is_double.any():
        raise DataError(
            f"{noun} has the name {plain(names[int(np.argmax(is_double))])!r} twice, and one value "
            "is needed for each template; give each row its own name, or values without names in "
            "the order of the templates"
        )
    rows = places(names, own.where(~own.duplicated(), None))  # names that stand twice are unused
    if (rows < 0).any():
        row = int(np.argmin(rows))
        name = "without a name" if names[row] is None else repr(plain(names[row]))
        raise DataError(
            f"{noun} has no value of the template {name} (row {row}), and of "
            f"{int((rows < 0).sum()):,} of {len(names):,} templates in all; its names are such as "
            f"{_example(own)}: complete them, or give values without names in the order of the "
            "templates"
        )
    return None if np.array_equal(rows, np.arange(len(own))) else rows


def table_in_order(table: Any, sides: Sequence[Keys], noun: str) -> InOrder:
    """Return a table of pandas or xarray with rows and columns in the order of both sides."""
    table = probes_first(table)
    if all(index_of(table, axis) is None for axis in range(len(sides))):
        return InOrder(table)
    remarks = dict[Message, None]()
    for axis, keys in enumerate(sides):
        brought = in_order(table, keys, noun, axis=axis)
        table = brought.values
        remarks |= dict.fromkeys(brought.remarks)
    return InOrder(table, remarks=tuple(remarks))


# ------------------------------------------------------------------------- rows of two systems


#: The rows, columns or pairs that two systems have in common, int64, in the order of the first, of
#: the first system and of the second (None: all, in the order given), and remarks.
CommonRows = tuple[np.ndarray | None, np.ndarray | None, list[Message]]


def common_rows(keys: Keys, other_keys: Keys, noun: str, systems: Sequence[str]) -> CommonRows:
    """Return the common rows of both systems; all in the order given if one has no keys."""
    # The row numbers of one system may be the names of the other.
    if "names" in (keys.stated, other_keys.stated):
        names, other_names = (
            as_names(x.numbers) if x.stated == "row numbers" else x.names
            for x in (keys, other_keys)
        )
        if names is not None and other_names is not None:
            return common_names(names, other_names, noun, systems)
    if keys.numbers is not None and other_keys.numbers is not None:
        numbers, other_numbers = keys.numbers, other_keys.numbers
        if np.array_equal(numbers, other_numbers):
            return None, None, []
        if len(numbers) != len(other_numbers) and min(keys, other_keys, key=len).merely_count:
            raise DataError(
                f"the systems have {counted(len(numbers), noun)} ({systems[0]}) and "
                f"{len(other_numbers):,} ({systems[1]}), and the fewer rows merely count from 0: "
                "it is not known which rows the systems have in common. Give both the index of one "
                "table"
            )
        return common_names(as_names(numbers), as_names(other_numbers), noun, systems)
    # By place: one system has no keys that the other could have.
    if keys.stated and not other_keys.stated:
        return None, None, [in_place(systems[0], systems[1], keys)]
    if other_keys.stated and not keys.stated:
        return None, None, [in_place(systems[1], systems[0], other_keys)]
    return None, None, []


def common_names(
    names: pd.Index,
    other_names: pd.Index,
    noun: str,
    systems: Sequence[str],
    examples: Sequence[str] = (),
) -> CommonRows:
    """Return the common names of both systems; messages show the `examples`, or first names."""
    other_place = places(names, other_names)
    common = np.flatnonzero(other_place >= 0)
    if not len(common):
        first_example, other_example = examples or (_example(names), _example(other_names))
        raise DataError(
            f"the systems have different data: none of the {counted(len(names), noun)} of "
            f"{systems[0]} is among those of {systems[1]}, such as {first_example} and "
            f"{other_example}; expected the same names"
        )
    lacking = [len(names) - len(common), len(other_names) - len(common)]
    notes = [not_in_common(noun, systems, lacking)] if any(lacking) else []
    return common, other_place[common], notes


def not_in_common(noun: str, systems: Sequence[str], lacking: Sequence[int]) -> Message:
    return Message("not-in-common", what=noun, left_out=dict(zip(systems, lacking, strict=True)))


# ------------------------------------------------------------------------- orders of a matrix


def probes_first(values: Any, labels: Sequence[Any] = (None, None)) -> Any:
    """Return scores or a mask with the probes as rows, by the names of the dimensions of xarray.

    A dimension has the name of a side, or of its labels; other names are taken by position.
    """
    dims = getattr(values, "dims", None)
    if not isinstance(dims, tuple) or len(dims) != 2:
        return values
    dims_of_labels = [next(iter(getattr(x, "dims", None) or ()), None) for x in labels]
    sides = [_side_of_dimension(dim, dims_of_labels) for dim in dims]
    if None not in sides and sides[0] == sides[1]:
        raise DataError(
            f"the dimensions {dims[0]!r} and {dims[1]!r} are both of the "
            f"{('probes', 'gallery')[sides[0] or 0]}; expected one of probes and one of the gallery"
        )
    if sides[0] == 1 or sides[1] == 0:
        return values.transpose(*dims[::-1])
    return values


def _side_of_dimension(dim: Any, dims_of_labels: Sequence[Any]) -> int | None:
    """Return 0 for a dimension of probes, 1 for one of the gallery, None for another name."""
    by_word = None
    for side, words in enumerate(_DIMENSIONS):
        if str(dim).casefold() in words:
            by_word = side
    by_labels = None
    if dims_of_labels[0] != dims_of_labels[1] and dim in dims_of_labels:
        by_labels = dims_of_labels.index(dim)
    if by_word is None:
        return by_labels
    if by_labels is not None and by_labels != by_word:
        raise DataError(
            f"the dimension {dim!r} is that of the labels of the other side; give `labels` of "
            "the probes, and `gallery_labels` of the gallery"
        )
    return by_word


def columns_in_order_of_rows(values: Any, labels: Any) -> Any:
    """Return a square table of one set whose columns have the numbers of its rows, in one order."""
    rows, columns = keys_of(values, 0), keys_of(values, 1)
    if rows.numbers is None or columns.numbers is None or are_subjects(rows, labels):
        return values
    if len(rows) != len(columns) or rows.numbers.has_duplicates:
        return values
    if rows.merely_count != columns.merely_count and {*rows.numbers} != {*columns.numbers}:
        return values  # 0, 1, 2 ... beside chosen numbers
    if not rows.numbers.isin(columns.numbers).any():
        return values  # columns that are called otherwise
    return in_order(values, rows, "the header", axis=1, templates="the rows").values


# ------------------------------------------------------------------------- inputs of one side


class GivenSide:
    """Labels and metadata of one side, and the order of its rows, into which inputs are brought.

    The rows have `keys`; where the scores have none, those of the first input that has some.
    """

    def __init__(
        self,
        keys: Keys | None = None,
        labels: Any = None,
        meta: Any = None,
        called: tuple[str, str] = ("labels", "probe_meta"),
        templates: str = "the scores",
    ):
        self.keys = Keys() if keys is None else keys
        self.has_keys = keys is not None
        self.labels = labels  # as given, until they are joined; so are metadata
        self.meta = meta
        self.called = called  # the arguments of labels and of metadata
        self.templates = templates  # what has the keys, in messages
        self.remarks = dict[Message, None]()  # on inputs that were taken by place; a set in order
        self.other_order: np.ndarray | None = None  # of the labels, see :class:`InOrder`
        self._is_indexed = bool(self.keys.stated)  # whether the scores have the keys themselves
        self._is_joined = False

    def take_keys(
        self, values: Any, labels: Any = None, names: Any = "auto", side: int = 0, *, axis: int = 0
    ) -> None:
        """Take the keys of the templates along an axis; none if the index has the labels.

        If `names` lists the names, other inputs without keys are known to be in order.
        """
        self.keys = keys_of(values, axis)
        self.has_keys = True
        names_of_side = names[side] if isinstance(names, tuple) and len(names) == 2 else names
        if names_of_side is not None and not isinstance(names_of_side, str):
            listed = as_names(one_dimensional(names_of_side, "`names`"))
            self.keys = Keys(listed, self.keys.numbers)
        elif are_subjects(self.keys, labels):
            self.keys = Keys()
        are_listed = names is not None and not isinstance(names, str)
        self._is_indexed = bool(self.keys.stated) and not are_listed

    def bring(self, values: Any, noun: str, *, may_be_plain: bool = False) -> Any:
        """Return values in this order, without a remark if they are plain and `may_be_plain`."""
        return self._brought(values, noun, may_be_plain).values

    def _brought(self, values: Any, noun: str, may_be_plain: bool) -> InOrder:
        brought = in_order(values, self.keys, noun, templates=self.templates)
        self.keys = self.keys.completed(brought.keys)
        if brought.remarks and not (may_be_plain and _are_plain(values)):
            self.remarks |= dict.fromkeys(brought.remarks)
        return brought

    def bring_each(self, columns: Any, noun: str, *, are_ordered: bool = False) -> Any:
        """Return a mapping with each column in this order; other values unchanged.

        There is no remark on plain columns that `are_ordered`, or whose order names the rows.
        """
        if not isinstance(columns, Mapping):
            return columns
        may_be_plain = are_ordered or not self._is_indexed
        return {
            name: self.bring(column, f"{noun}[{name!r}]", may_be_plain=may_be_plain)
            for name, column in columns.items()
        }

    def join(self, names: Any) -> None:
        """Bring labels and metadata into the order; `names` is the argument of :class:`Scores`."""
        if self._is_joined:
            return
        self._is_joined = True
        labels_argument, meta_argument = self.called
        columns = None if self.meta is None else columns_of(self.meta)
        is_table = index_of(self.meta) is not None  # a table is joined as a whole, by its index
        are_ordered = is_table

        # A column of metadata may name the rows, for the other columns and for the labels.
        if columns is not None and not is_table:
            if self.keys.stated and names is not None:
                columns, are_ordered = self._joined_by_column(columns, meta_argument)
            if self.keys.names is None:
                if self.keys.numbers is not None:  # columns with numbers, which names come from
                    numbered = {x: y for x, y in columns.items() if keys_of(y).numbers is not None}
                    columns = {**columns, **self.bring_each(numbered, meta_argument)}
                self._take_names(columns, names)

        # With names in a plain column, all plain columns share one order.
        may_be_plain = bool(self.keys.stated) and not self._is_indexed
        brought = self._brought(self.labels, f"`{labels_argument}`", may_be_plain)
        self.labels, self.other_order = brought.values, brought.other_order

        if columns is None:
            return  # there are no metadata, or they are no table
        if is_table:
            names_before, has_index = self.keys.names, keys_of(self.meta).names is not None
            columns = columns_of(self.bring(self.meta, f"`{meta_argument}`")) or {}
            if names is None and not has_index:  # a column of the table names nothing
                self.keys = Keys(names_before, self.keys.numbers)
        self.meta = self.bring_each(columns, meta_argument, are_ordered=are_ordered)
        if self.keys.names is None:
            self._take_names(self.meta, names)
        if names is not None:
            refuse_other_orders(self.meta, self.keys.names)

    def _joined_by_column(
        self, columns: Mapping[str, Any], noun: str
    ) -> tuple[Mapping[str, Any], bool]:
        """Return the columns in this order, and whether one of them has the names of the rows.

        Columns that have keys themselves stay as they are.
        """
        plain_columns = {x: y for x, y in columns.items() if _are_plain(y)}
        own_names = [*names_in_columns(plain_columns).values()]
        names_of_rows = self.keys.names
        if names_of_rows is None:  # names may be the numbers of rows
            names_of_rows = as_names(self.keys.numbers)
            own_names = [x for x in own_names if x.isin(names_of_rows).any()]
        if not any(_may_be_names_of(names_of_rows, x) for x in own_names):
            return columns, False
        rows = joined(own_names, names_of_rows, f"`{noun}`")
        if rows is None:
            return columns, True
        ordered = {x: np.asarray(y)[rows] for x, y in plain_columns.items()}
        return {**columns, **ordered}, True

    def _take_names(self, columns: Mapping[str, Any], names: Any) -> None:
        """Take the names of templates that a column states, or the column `names`."""
        if names is None:
            return
        plain_columns = {x: y for x, y in columns.items() if _are_plain(y)}
        stated = declared_names(plain_columns)
        if isinstance(names, str) and names != "auto":
            if names not in columns:
                raise DataError(
                    f"`names` is {names!r}, but the metadata have no such column; they have "
                    f"{', '.join(map(repr, columns)) or 'none'}"
                )
            stated = as_names(plain_columns[names]) if names in plain_columns else None
        self.keys = Keys(stated, self.keys.numbers)

    def take_from_rows(self, probe: GivenSide, names: Any) -> None:
        """Give the columns of a table the labels and metadata of the rows with the same names."""
        rows, columns = probe.keys.names, self.keys.names
        if rows is None or columns is None or first_twice(rows) is not None or rows.equals(columns):
            return
        is_row = columns.isin(rows[rows.notna()])
        if len(columns) == len(rows) and not is_row.any():
            self.keys = Keys()  # a square table whose columns are called otherwise
            return
        if not is_row.all():
            raise DataError(
                f"`gallery_labels` is missing: the table has the column "
                f"{columns[int(np.argmin(is_row))]!r}, which is the name of no row, so that its "
                "rows and columns are not the same templates"
            )
        probe.join(names)
        row = places(columns, rows)
        self.labels = as_subjects(probe.labels, "`labels`", len(rows))[row]
        metadata = as_meta(probe.meta, len(rows), "probe_meta")
        self.meta = {name: column[row] for name, column in metadata.items()}


# ------------------------------------------------------------------------- names of both sides


def refuse_other_orders(columns: Mapping[str, Any], names: pd.Index | None) -> None:
    """Raise where two columns, or names, hold the same texts, each once, in different orders."""
    texts = columns_of_distinct_texts(columns)
    if names is not None and not names.isna().any():
        texts = {"": names.tolist(), **texts}
    for (column, first), (other_column, other) in combinations(texts.items(), 2):
        if first != other and {*first} == {*other}:
            named = f"the column {column!r}" if column else "the names of the templates"
            raise DataError(
                f"the column {other_column!r} holds the same texts as {named}, each once, in "
                f"another order: {other[0]!r} in row 0, and {first[0]!r}. Do they name templates? "
                f'Say `names="{other_column}"` if they do, or `names=None` if they do not'
            )


def columns_of_distinct_texts(columns: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the columns that may name templates, as texts."""
    texts = {name: distinct_texts(name, column) for name, column in columns.items()}
    return {name: listed for name, listed in texts.items() if listed}


def distinct_texts(name: str, values: Any) -> list[str]:
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


def refuse_unknown_names(
    probe: Mapping[str, np.ndarray], gallery: Mapping[str, np.ndarray], labels: tuple[Any, Any]
) -> None:
    """Raise where columns seem to be names of templates, but are not known as such.

    Each text stands once, and is no label, and one side has all texts of the other.
    """
    texts, other_texts = (
        {
            column: listed
            for column, listed in columns_of_distinct_texts(meta).items()
            if not are_subjects(Keys(as_names(listed)), labels_of_side)
        }
        for meta, labels_of_side in zip((probe, gallery), labels, strict=True)
    )
    for (column, first), (other_column, other) in product(texts.items(), other_texts.items()):
        smaller, larger = sorted(({*first}, {*other}), key=len)
        if smaller <= larger:
            raise DataError(
                f"the column {column!r} of the probes and {other_column!r} of the gallery hold the "
                f"same texts, each once, such as {first[0]!r}: do they name templates? Say "
                f'`names="{column}"` if they do, or `names=None` if they do not'
            )


# ------------------------------------------------------------------------- numbers in files


def numbering_in_other_order(values: Any) -> bool:
    """Whether values are 0..n-1 or 1..n, whole numbers or texts of them, but not in order."""
    numbers = []
    for cell in map(plain, np.asarray(values).tolist()):
        is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
        is_text = isinstance(cell, str) and cell.isascii() and cell.isdigit()
        if not is_text and not (is_number and cell % 1 == 0):
            return False
        numbers.append(int(cell))
    if len(numbers) < 2:
        return False
    first = min(numbers)
    if first not in (0, 1):
        return False
    in_order_of_rows = [*range(first, first + len(numbers))]
    return numbers != in_order_of_rows and sorted(numbers) == in_order_of_rows

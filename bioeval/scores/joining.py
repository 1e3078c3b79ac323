"""The join that brings values for each row into the order of the rows.

:func:`in_order` joins whatever has a value for each row: labels, metadata, a mask, folds, groups,
claims, another system, a file. If the rows of the scores are ``b.png, a.png`` and the labels are
``a.png: ann, b.png: bob``, the labels in order are ``bob, ann``. The rule, by the
:class:`~bioeval.scores.keys.Keys` of both:

- Names on both sides of a join: by names, in any order.
- Numbers on both sides: by numbers, as pandas aligns.
- Anything else: by place. A remark says so if one side has names, or numbers other than 0, 1, 2 ...

Keys that do not fit are an error with a key of each side: a join never falls back to the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, Message, counted
from bioeval.scores.keys import (
    Keys,
    NamedColumn,
    are_subjects,
    as_names,
    first_twice,
    index_of,
    keys_of,
    names_in_columns,
    numbering_in_other_order,
    places,
)
from bioeval.scores.labels import plain

if TYPE_CHECKING:
    import pandas as pd

# The dimensions of xarray that are probes, and those that are gallery templates.
_DIMENSIONS = (
    {"probe", "probes", "query", "queries"},
    {"gallery", "galleries", "reference", "references"},
)

_WAYS_OUT = (
    "If both are in one order, drop an index by `reset_index(drop=True)` or `to_numpy()`; else "
    "give both the same index"
)


class InOrder(NamedTuple):
    """Values in the order of the rows to which they are joined."""

    values: Any
    keys: Keys = Keys()  # of the rows; where these have none, those of the values
    remarks: tuple[Message, ...] = ()
    is_joined: bool = False  # whether by names or numbers, and not by place
    #: int64 (rows,): the values in the other order, by place for by number or the reverse, are
    #: `values[other_order]`; None where both orders are one, or numbers are not 0..n-1.
    other_order: np.ndarray | None = None


def in_order(
    values: Any,
    keys: Keys,
    noun: str,
    *,
    axis: int = 0,
    templates: str = "the scores",
    may_be_plain: bool = False,
) -> InOrder:
    """Return values, along an axis, in the order of the rows that have `keys`.

    Messages call the values `noun`, and what has the keys `templates`. There is no remark on
    values without keys if they `may_be_plain`.
    """
    own_names, own_numbers = _own_keys(values, axis)
    own = Keys(next((x for x in own_names if first_twice(x) is None), None), own_numbers)

    # By names. The numbers of one side may be the names of the other.
    names = keys.names
    if names is None and own_names and keys.stated:
        names = _numbers_as_names(own_names, own_numbers, keys, noun)
    elif names is not None and own.stated == "row numbers":
        own_names = (as_names(own_numbers),)
    if names is not None and any(may_be_names_of(names, x) for x in own_names):
        rows = joined(own_names, names, noun)
        return InOrder(_taken(values, rows, axis), keys, is_joined=True)

    # By numbers.
    if keys.numbers is not None and own_numbers is not None:
        rows = _rows_by_numbers(own_numbers, keys, noun, templates)
        other_order = None
        if rows is not None and np.array_equal(np.sort(own_numbers), np.arange(len(rows))):
            other_order = np.argsort(rows)
        return InOrder(_taken(values, rows, axis), keys, is_joined=True, other_order=other_order)

    # By place, with a remark if one side has keys.
    if isinstance(values, NamedColumn):
        if keys.names is None:
            _refuse_numbering_in_other_order(values)
        values = values.values
    remarks: tuple[Message, ...] = ()
    if values is not None and not isinstance(values, str | bytes):
        has_keys = bool(own_names or own.stated)
        if keys.stated and (has_keys or not may_be_plain):
            remarks = (in_place(templates, noun, keys),)
        elif own.stated and not keys.stated:
            remarks = (in_place(noun, templates, own),)
    other_order = _order_by_numbers(own, keys)
    return InOrder(values, keys.completed(own), remarks, other_order=other_order)


def each_in_order(
    inputs: Mapping[str, Any],
    keys: Keys,
    noun: str = "`{}`",
    *,
    templates: str = "the scores",
    may_be_plain: bool = False,
) -> InOrder:
    """Return a mapping with each of several inputs in the order of the rows that have `keys`.

    If the rows have no keys, those of the first input that has some are the keys for the next. In
    messages, the name of an input stands in the braces of `noun`.
    """
    values: dict[str, Any] = {}
    remarks = dict[Message, None]()  # each once
    for name, column in inputs.items():
        options: dict[str, Any] = {"templates": templates, "may_be_plain": may_be_plain}
        brought = in_order(column, keys, noun.format(name), **options)
        values[name], keys = brought.values, brought.keys
        remarks |= dict.fromkeys(brought.remarks)
    return InOrder(values, keys, tuple(remarks))


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


def _taken(values: Any, rows: np.ndarray | None, axis: int) -> Any:
    """Return some rows, or columns, of values; None: all, which are in order."""
    if isinstance(values, NamedColumn):
        values = values.values
    if rows is None:
        return values
    index = rows if axis == 0 else (slice(None), rows)
    return values.iloc[index] if hasattr(values, "iloc") else values[index]


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


def are_plain(values: Any) -> bool:
    """Whether values have no keys, or merely count."""
    names, numbers = _own_keys(values)
    return not names and not Keys(numbers=numbers).stated


def may_be_names_of(names: pd.Index, own_names: pd.Index) -> bool:
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


def _example(names: Iterable[Any]) -> str:
    return next((repr(plain(x)) for x in names if x is not None), "none")


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


# ------------------------------------------------------------------------------ rows of two systems


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


# ------------------------------------------------------------------------------- orders of a matrix


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

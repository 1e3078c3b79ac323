"""Labels of subjects, and other values of templates: any hashable values, as checked arrays.

A cell has no value if it is empty, None, NaN, NaT or NA, or a text that a program or a person
writes in its place. A cell without a value equals nothing, not even another one: templates
without a subject are of no person, and an unknown session is no session that two templates share.
"""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime
from enum import Enum
from numbers import Number
from typing import Any, Literal

import numpy as np

from bioeval.base.arguments import (
    as_numpy,
    joined_labels,
    require_array,
    require_integer,
    require_list,
)
from bioeval.base.errors import DataError, counted

# Types whose values are labels as they are: a list of them needs no check of each label.
_SINGLE = {str, int, float, bool, bytes, type(None)}

# Python types whose values NumPy holds unchanged, and the kinds of dtype that hold them.
_NATIVE_KINDS = {int: "iu", float: "f", bool: "b", str: "U"}

#: The first whole number that shares its float64 with the next whole number.
LEAST_INEXACT = 2.0**53

#: The names of the labels of distractors and of junk, in files and as attributes of scores.
IDS_OF_NO_PERSON = ("distractor_ids", "junk_ids")


def normal(text: str) -> str:
    """Return a text in the Unicode form NFC, in which equal characters have equal codes."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def as_labels(labels: Any, input_name: str) -> np.ndarray:
    """Return labels as a 1-D array with integers in place of whole floats; none may be missing."""
    array = _whole_labels(labels, input_name)
    missing = missing_values(array)
    if missing.any():
        raise DataError(
            f"{input_name} has {counted(int(missing.sum()), 'missing labels')} (None, NaN or "
            f"empty), the first at position {int(np.argmax(missing))}; expected a value for each"
        )
    return array


def as_subjects(labels: Any, input_name: str, length: int | None = None) -> np.ndarray:
    """Return labels as a 1-D array with integers in place of whole floats, checked for length.

    A missing label is of no person: it becomes None, or "" if all other labels are texts.
    """
    array = _whole_labels(labels, input_name)
    if length is not None and len(array) != length:
        side = "columns" if "gallery" in str(input_name) else "rows"
        raise DataError(
            f"{input_name} has {counted(len(array), 'labels')}, but the scores have "
            f"{counted(length, side)}; expected "
            "one label for each"
        )
    missing = missing_values(array) if array.dtype.kind in "Of" else np.zeros(0, dtype=bool)
    if missing.any():
        are_texts = all(isinstance(label, str) for label in array[~missing].tolist())
        array = array.astype(object)
        array[missing] = None
        if are_texts:
            array = _with_native_dtype(
                as_objects(["" if x is None else str(x) for x in array.tolist()])
            )
    return read_only(array)


def _whole_labels(labels: Any, input_name: str) -> np.ndarray:
    """Return labels as a read-only 1-D array with integers in place of whole floats."""
    array = with_whole_numbers(one_dimensional(labels, input_name), input_name)
    return read_only(array, labels)


def with_whole_numbers(array: np.ndarray, input_name: str) -> np.ndarray:
    """Return labels with integers in place of whole floats, 1 in place of 1.0.

    Raise if floats are so large that two whole numbers may have the same value.
    """
    if array.dtype.kind == "O":
        kinds = {kind for kind in set(map(type, array)) if issubclass(kind, float | np.floating)}
        if not kinds:
            return array
        array = array.copy()
        for kind in kinds:
            places = np.flatnonzero([type(x) is kind for x in array])
            dtype = np.dtype(kind)
            labels = with_whole_numbers(np.array(array[places].tolist(), dtype), input_name)
            array[places] = labels.tolist()
        return array
    if array.dtype.kind != "f":
        return array
    digits = np.finfo(array.dtype).nmant + 1
    too_large = np.abs(array) >= 2.0**digits
    if too_large.any():
        place = int(np.argmax(too_large))
        raise DataError(
            f"{input_name} holds {array.dtype} numbers from 2**{digits} on, where different whole "
            f"numbers are one, the first at position {place}: {array[place].item()!r}. Give "
            "integers or text"
        )
    is_whole = array == np.floor(array)
    if is_whole.all():
        return array.astype(np.int64)
    if not is_whole.any():
        return array
    mixed = as_objects(array.tolist())
    mixed[is_whole] = array[is_whole].astype(np.int64).tolist()
    return mixed


def read_only(array: np.ndarray, original: Any = None) -> np.ndarray:
    """Return a read-only array, a copy where `original` may share the memory."""
    lent = hasattr(original, "__dlpack__") and not isinstance(original, np.ndarray)
    if lent or (array.flags.writeable and hasattr(original, "__array__")):
        array = array.copy()
    array.setflags(write=False)
    return array


def one_dimensional(labels: Any, input_name: str) -> np.ndarray:
    """Return labels as a 1-D array of hashable values; `input_name` is their name in messages."""
    labels = as_numpy(joined_labels(labels, input_name), input_name)
    if isinstance(labels, (str, bytes)) or not (
        hasattr(labels, "__array__") or isinstance(labels, Sequence)
    ):
        raise DataError(f"{input_name} is {type(labels).__name__}; expected a sequence of labels")
    if hasattr(labels, "__array__"):
        array = require_array(input_name, labels)
        if array.dtype.kind == "O" and array.ndim == 1:
            array = _single_values(array.tolist(), input_name)
    else:
        # A list of mixed types (1, "1") must not be turned into strings, nor tuples into rows.
        array = _single_values(labels, input_name)
        kinds = {*map(type, array)}
        if len(kinds) == 1 and kinds <= _NATIVE_KINDS.keys():
            array = _with_native_dtype(array)
    if array.ndim != 1:
        raise DataError(f"{input_name} has shape {array.shape}; expected one dimension")
    is_complex = array.dtype.kind == "O" and any(
        issubclass(kind, complex | np.complexfloating) for kind in set(map(type, array.tolist()))
    )
    if array.dtype.kind not in "biufSUOMm" or is_complex:
        contents = f"dtype {array.dtype}" if array.dtype.kind != "O" else "complex numbers"
        raise DataError(
            f"{input_name} has {contents}; expected hashable labels, such as real numbers or text"
        )
    return array


def _single_values(labels: Sequence[Any], input_name: str) -> np.ndarray:
    array = np.empty(len(labels), dtype=object)
    if isinstance(labels, list | tuple) and {*map(type, labels)} <= _SINGLE:
        array[:] = labels
        return array
    for i, label in enumerate(labels):
        array[i] = label
    if all(kind in _SINGLE or issubclass(kind, np.generic) for kind in {*map(type, array)}):
        return array
    for i, label in enumerate(labels):
        try:
            array[i] = _single_value(label)
        except DataError as error:
            raise error.preceded_by(f"{input_name}: the value at position {i} is ") from None
    return array


def _single_value(label: Any) -> Any:
    """Return a label as one value; raise :class:`DataError` where equal labels are not equal.

    An object that Python compares by its place in memory would be another subject each time.
    """
    if isinstance(label, tuple):
        return tuple(map(_single_value, label))
    value = scalar_of(label)
    kind = type(value)
    if value is np.ma.masked:
        return value
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        raise DataError(
            f"of type {kind.__name__} and shape {np.shape(value)}; expected a single value, such "
            "as a number or text"
        )
    if kind.__hash__ is None:
        raise DataError(f"of type {kind.__name__}; expected a hashable value")
    compares_by_place = kind.__eq__ is object.__eq__
    if compares_by_place and value is not None and not isinstance(value, Enum | type):
        raise DataError(
            f"of type {kind.__name__}, which does not define when two of its values are equal "
            "(__eq__); expected values such as numbers or text"
        )
    return value


def scalar_of(value: Any) -> Any:
    """Return the value that an array or tensor of no dimension holds; other values unchanged."""
    if isinstance(value, np.generic) or not hasattr(value, "__array__"):
        return value
    is_array = isinstance(value, np.ndarray)
    if not is_array and getattr(value, "shape", None) == () and hasattr(value, "item"):
        return value.item()  # also of a dtype that NumPy lacks, or in the memory of a device
    try:
        array = np.asanyarray(value)
    except (TypeError, ValueError, RuntimeError):
        return value
    if array.ndim:
        return value
    scalar = array[()]
    if isinstance(scalar, np.generic) and scalar.dtype.kind not in "mM":
        return scalar.item()
    return scalar  # item() of nanoseconds is a number, and of a masked value the hidden value


def _with_native_dtype(array: np.ndarray) -> np.ndarray:
    """Return objects of one Python type in the dtype of NumPy, unless it would change a value."""
    values = array.tolist()
    native = np.array(values)
    if native.dtype.kind == "U" and np.char.str_len(native).sum() != sum(map(len, values)):
        return array  # numpy strips trailing NULs, which would join different labels
    # Whole numbers that only float64 could hold together would be rounded.
    if native.dtype.kind in _NATIVE_KINDS[type(array[0])]:
        return native
    return array


def concatenated(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate columns without changing a label: 1 and "1" stay different."""
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.concatenate(columns)


def missing_values(array: np.ndarray) -> np.ndarray:
    """Return for each label whether it is None, NaN, NaT or an empty text."""
    if array.dtype.kind in "fMm":
        return np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
    if array.dtype.kind in "US":
        return array == array.dtype.type()
    if array.dtype.kind == "O":
        return np.array([_is_missing(x) for x in array], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def require_one_type(left: np.ndarray, right: np.ndarray, input_name: str) -> None:
    """Raise :class:`DataError` where values of two sides never compare equal, but should.

    Either no type occurs on both sides, or two values of different types are written alike, such
    as 1 and "1". Missing values have no type.
    """
    left, right = (side[~missing_values(side)] for side in (left, right))
    example, other_example = _example_of_type(left), _example_of_type(right)
    types, other_types = example.keys(), other_example.keys()
    pair = None  # values of two types that should be equal
    if types and other_types and not types & other_types:
        pair = next(iter(example.values())), next(iter(other_example.values()))
    elif len(types | other_types) > 1:
        value_as_written: dict[Any, Any] = {}
        for value in map(plain, [*python_objects(left), *python_objects(right)]):
            first = value_as_written.setdefault(without_type(value), value)
            if _comparable_type(first) != _comparable_type(value):
                pair = first, value
                break
    if pair is not None:
        raise DataError(
            f"{input_name}: values of two types, such as {pair[0]!r} and {pair[1]!r}, are compared "
            "and never equal; write all as numbers, or all as text"
        )


def _example_of_type(array: np.ndarray) -> dict[Any, Any]:
    values = python_objects(array if array.dtype.kind == "O" else array[:1])
    first = {type(x): x for x in reversed(values) if type(x) is not tuple}
    tuples = [x for x in values if type(x) is tuple]
    return {_comparable_type(x): x for x in map(plain, [*first.values(), *tuples])}


def _comparable_type(value: Any) -> Any:
    """Return the type of a value; all numbers have one type, and a tuple the types of its items."""
    if isinstance(value, tuple):
        return tuple(map(_comparable_type, value))
    for name, types in (("number", Number), ("text", str)):
        if isinstance(value, types):
            return name
    for kind in (bytes, datetime, date):
        if isinstance(value, kind):
            return kind
    return type(value)


def without_type(value: Any) -> Any:
    """Return a label without its type: bytes become text, and the text of a number the number."""
    value = plain(value)
    if isinstance(value, tuple):
        return tuple(map(without_type, value))
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str):
        for number in (int, float):
            with contextlib.suppress(ValueError):
                return number(value)
    return value


def _is_missing(value: Any) -> bool:
    # Also the missing values of pandas and of masked arrays.
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    is_nan = isinstance(value, (float, np.generic)) and bool(value != value)
    return is_nan or value in ("", b"")


def python_objects(array: Any) -> Any:
    """Return the values as Python objects; dates are cut to microseconds, as `datetime` is."""
    if array.dtype.kind in "Mm":
        array = array.astype(f"{array.dtype.kind}8[us]")
    return array.tolist()


def plain(label: Any) -> Any:
    """Return the Python value of a scalar of NumPy or of another library; other values as is."""
    label = scalar_of(label)
    return python_objects(label) if isinstance(label, np.generic) else label


def is_written(value: Any, text: str) -> bool:
    """Whether a text of a card or a command means a value; numbers are compared as numbers."""
    value = plain(value)
    if str(value) == text:
        return True
    try:
        return isinstance(value, int | float) and value == float(text)
    except ValueError:
        return False


def as_objects(values: list) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# --------------------------------------------------------------------------------------- no value


#: Words for no value in any column; case and outer blanks do not matter.
WORDS = frozenset(
    ("nan", "none", "null", "nil", "na", "n/a", "#n/a", "#na", "<na>", "nat", "?", "-", ".")
    + ("unknown", "missing", "unbekannt", "#ref!", "#value!", "#name?")
)
#: So written, these words are names of people, and no program writes them for a missing value.
NAMES_OF_PEOPLE = frozenset(("Na", "Nan", "Nat", "Nil"))
#: Words that are values of a group: whoever wears no glasses may have the value "none".
WORDS_OF_GROUPS = frozenset(("none", "-", "unknown"))

#: Names of the column of cameras, in order of preference; a camera -1 is unknown.
CAMERA_COLUMNS = ("camera", "cam", "camid", "cam_id", "camera_id", "cameraid", "camids", "cams")

#: Labels of no person if `distractor_ids` is not given; "" stands for a missing label.
NO_PERSON: tuple[Any, ...] = ("", -1, "unidentified", "new_individual", *sorted(WORDS))

#: What a column says of templates, where this decides which words are values.
Role = Literal["camera", "group", ""]


def no_value(column: np.ndarray, role: Role = "") -> np.ndarray:
    """Return which cells of a column (n,) have no value, bool (n,); those of cameras also -1."""
    words = WORDS - WORDS_OF_GROUPS if role == "group" else WORDS
    return are_of_no_person(column, ("", *words, *([-1] if role == "camera" else ())))


def role_of(column: str) -> Role:
    return "camera" if column.casefold() in CAMERA_COLUMNS else ""


def ids_of_no_person(distractor_ids: Sequence[Any] | None) -> tuple[Any, ...]:
    """Return the labels of no person: "" and the stated labels, or by default `NO_PERSON`."""
    return NO_PERSON if distractor_ids is None else ("", *distractor_ids)


def as_ids(ids: Any, name: str = "distractor_ids") -> tuple[int | str, ...] | None:
    """Return labels of no person, numbers or texts, each once; None if none are stated."""
    if ids is None:
        return None
    checked = []
    for label in map(plain, require_list(name, ids)):
        is_text = isinstance(label, str)
        checked.append(label if is_text else require_integer(name, label, low=-(2**62)))
    return tuple(dict.fromkeys(checked))


def are_of_no_person(labels: np.ndarray, ids: Sequence[Any]) -> np.ndarray:
    """Return which labels are among `ids`; texts are compared in any case, without outer blanks.

    The names of people among the words, such as "Nan", are labels of no person only if `ids` have
    them as written.
    """
    compared_ids = {*map(_as_id, ids)}
    missing = missing_values(labels) if "" in compared_ids else np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind in "iufb":
        return missing | np.isin(labels, [x for x in compared_ids if not isinstance(x, str)])
    if labels.dtype.kind not in "USO":
        return missing
    cells, kinds = labels.tolist(), str | bytes | Number
    nobody = {x for x in {x for x in cells if isinstance(x, kinds)} if _as_id(x) in compared_ids}
    return missing | np.array([isinstance(x, kinds) and x in nobody for x in cells], dtype=bool)


def _as_id(label: Any) -> Any:
    value = label.decode(errors="replace") if isinstance(label, bytes) else plain(label)
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text in NAMES_OF_PEOPLE:
        return text
    may_be_number = text[:1].isdigit() or text[:1] in ("+", "-", ".")
    return without_type(text) if may_be_number else text.casefold()

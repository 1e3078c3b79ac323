"""Identities and metadata as integer codes.

Labels may be any hashable values. Everything below this layer sees only codes: equal codes mean
the same subject. Codes number the distinct labels from 0, gallery first, in order of appearance
or sorted order; no result depends on which.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from datetime import date, datetime
from enum import Enum
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.array_libraries import as_numpy, joined_labels
from bioeval.base.errors import (
    DataError,
    counted,
)

#: The metadata column of attack instrument species that every study reads.
ATTACK = "attack"

#: Names under which the column of identities is recognised, the first that is there wins.
LABEL_COLUMNS = ("label", "subject", "identity", "person", "pid", "id", "subject_id")

#: Metadata columns of names of images, and of names of templates; the first column present wins.
_IMAGES = (
    *("name", "image", "image_name", "image_path", "image_id", "img_name", "img_path"),
    *("file", "filename", "file_name", "file_path", "path"),
)
IMAGE_COLUMNS = (*_IMAGES, *(f"{name}s" for name in _IMAGES))
NAME_COLUMNS = ("template", *IMAGE_COLUMNS)

#: Metadata columns that number the templates of a subject, the first there wins.
NUMBER_COLUMNS = ("impression", "image_number")

#: Names of the column of cameras, the first that is there wins; a camera -1 is unknown.
CAMERA_COLUMNS = ("camera", "cam", "camid", "cam_id", "camera_id", "cameraid", "camids", "cams")

# Types of labels that need no check of each label.
_SINGLE = {str, int, float, bool, bytes, type(None)}

# Python types of labels that numpy holds as they are, and its kinds of dtype for them.
_NARROW = {int: "iu", float: "f", bool: "b", str: "U"}

#: The first whole number that shares its float64 with the next whole number.
LEAST_INEXACT = 2.0**53

_PIECE = 1 << 20  # numbers of a digest


def as_labels(labels: Any, input_name: str) -> np.ndarray:
    """Return `labels`, of which none may be missing, as a 1-D array; whole floats are integers."""
    array = fixed(with_whole_numbers(one_dimensional(labels, input_name), input_name), labels)
    missing = missing_values(array)
    if missing.any():
        raise DataError(
            f"{input_name} has {counted(int(missing.sum()), 'missing labels')} (None, NaN or "
            f"empty), the first at position {int(np.argmax(missing))}; expected a value for each"
        )
    return array


def as_subjects(labels: Any, input_name: str, length: int | None = None) -> np.ndarray:
    """Return the labels of subjects as a 1-D array, checked for length; whole floats are integers.

    A missing label is of no person, and becomes None, or empty where all other labels are texts.
    """
    array = fixed(with_whole_numbers(one_dimensional(labels, input_name), input_name), labels)
    if length is not None and len(array) != length:
        side = "columns" if "gallery" in str(input_name) else "rows"
        raise DataError(
            f"{input_name} has {len(array)} labels, but the scores have {length} {side}; expected "
            "one label for each"
        )
    missing = missing_values(array) if array.dtype.kind in "Of" else np.zeros(0, dtype=bool)
    if missing.any():
        of_texts = all(isinstance(label, str) for label in array[~missing].tolist())
        array = array.astype(object)
        array[missing] = None
        if of_texts:
            array = _narrow(as_objects(["" if x is None else str(x) for x in array.tolist()]))
        array = fixed(array)
    return array


def with_whole_numbers(array: np.ndarray, input_name: str) -> np.ndarray:
    """Return labels with integers in place of whole floats: 1.0 is 1.

    Raise where floats are so large that two whole numbers may have the same value.
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


def fixed(array: np.ndarray, original: Any = None) -> np.ndarray:
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
        if len(kinds) == 1 and kinds <= _NARROW.keys():
            array = _narrow(array)
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

    An array or tensor of no dimension is the value that it holds. An object that Python compares by
    its place in memory would be another subject each time.
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
    if not isinstance(value, np.ndarray):
        if getattr(value, "shape", None) == () and hasattr(value, "item"):
            return value.item()  # also of a dtype that NumPy lacks, or in the memory of a device
        try:
            array = np.asarray(value)
        except (TypeError, ValueError, RuntimeError):
            return value
    else:
        array = value
    if array.ndim:
        return value
    scalar = array[()]
    if isinstance(scalar, np.generic) and scalar.dtype.kind not in "mM":
        return scalar.item()
    return scalar  # item() of nanoseconds is a number, and of a masked value the hidden value


def _narrow(array: np.ndarray) -> np.ndarray:
    plain = np.array(list(array))
    if plain.dtype.kind == "U" and any(str(x).endswith("\0") for x in array):
        return array  # numpy strips trailing NULs, which would join different labels
    # Whole numbers that only float64 could hold together would be rounded.
    if plain.dtype.kind in _NARROW[type(array[0])]:
        return plain
    return array


def concatenated(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Concatenate columns without changing a label: 1 and "1" stay different."""
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.concatenate(columns)


def missing_values(array: np.ndarray) -> np.ndarray:
    """Return for each label whether it is None, NaN, NaT or an empty text."""
    if array.dtype.kind in "fMm":
        if array.dtype.kind == "f":
            return np.isnan(array)
        return np.isnat(array)
    if array.dtype.kind in "US":
        return array == array.dtype.type()
    if array.dtype.kind == "O":
        return np.array([x is None or _is_nan(x) or x in ("", b"") for x in array], dtype=bool)
    return np.zeros(len(array), dtype=bool)


def unknown_values(column: np.ndarray, name: str) -> np.ndarray:
    """Return which values of a metadata column are missing, or a camera -1."""
    unknown = missing_values(column)
    if name.casefold() in CAMERA_COLUMNS:
        if column.dtype.kind in "iuf":
            return unknown | (column == -1)
        unknown = unknown | np.array([likeness(x) == -1 for x in column.tolist()], dtype=bool)
    return unknown


def known_texts(column: np.ndarray, name: str) -> set[str]:
    """Return the distinct known values of a metadata column as text."""
    return set(map(str, column[~unknown_values(column, name)].tolist()))


def require_one_type(left: np.ndarray, right: np.ndarray, input_name: str) -> None:
    """Raise :class:`DataError` where compared values are written alike and are never equal.

    Either no type occurs on both sides, or two values of different types are written alike, such
    as 1 and "1". Missing values are of no type.
    """
    sides = [_python_objects(side[~missing_values(side)]) for side in (left, right)]
    types, other_types = (
        _examples(side[:1] if x.dtype.kind != "O" else side)
        for x, side in zip((left, right), sides, strict=True)
    )
    pair: tuple[Any, ...] = ()
    if types and other_types and not types.keys() & other_types.keys():
        pair = next(iter(types.values())), next(iter(other_types.values()))
    elif len(types.keys() | other_types.keys()) > 1:
        written: dict[Any, Any] = {}
        for value in map(plain, [*sides[0], *sides[1]]):
            like = written.setdefault(likeness(value), value)
            if _comparable_type(like) != _comparable_type(value):
                pair = like, value
                break
    if not pair:
        return
    raise DataError(
        f"{input_name}: values of two types, such as {pair[0]!r} and {pair[1]!r}, are compared and "
        "never equal; write all as numbers, or all as text"
    )


def _examples(values: list) -> dict[Any, Any]:
    first = {type(x): x for x in reversed(values) if type(x) is not tuple}
    tuples = [x for x in values if type(x) is tuple]
    return {_comparable_type(x): x for x in map(plain, [*first.values(), *tuples])}


def _comparable_type(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_comparable_type, value))
    for name, types in (("number", Number), ("text", str)):
        if isinstance(value, types):
            return name
    for kind in (bytes, datetime, date):
        if isinstance(value, kind):
            return kind
    return type(value)


def likeness(value: Any) -> Any:
    """Return a label as it is written, whatever its type: the text of a number is the number."""
    value = plain(value)
    if isinstance(value, tuple):
        return tuple(map(likeness, value))
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str):
        for number in (int, float):
            with contextlib.suppress(ValueError):
                return number(value)
    return value


def _is_nan(value: Any) -> bool:
    if type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):  # of pandas, and np.ma
        return True
    scalar = isinstance(value, (float, np.generic))
    return scalar and bool(value != value)


class Codes:
    """Distinct labels of templates, and codes of both sides: ``values[code]`` is the label.

    Each distractor, and all junk, is a subject of its own once :meth:`apart` has their labels.
    """

    # The first codes are of people (None: all codes), beside the codes and values of labels.
    _people: int | None = None
    _label: np.ndarray
    _labels: np.ndarray

    def __init__(
        self,
        probe: np.ndarray,
        gallery: np.ndarray,
        input_name: str = "labels",
        of_any_type: Sequence[Any] = (),
    ):
        """Number the labels of both sides together; a single array of both sides stays one array.

        Labels `of_any_type` may be texts among numbers.
        """
        same = probe is gallery
        if probe.dtype.kind != "O" and gallery.dtype.kind != "O" and _comparable(probe, gallery):
            joined = np.concatenate([gallery, probe]) if not same else gallery
            self.values, codes = np.unique(joined, return_inverse=True)
            codes = codes.reshape(-1).astype(np.int64)
        else:
            typed = [
                side[~are_of_no_person(side, of_any_type)] if of_any_type else side
                for side in (probe, gallery)
            ]
            require_one_type(typed[0], typed[1], input_name)
            objects = _python_objects(gallery)
            if not same:
                objects += _python_objects(probe)
            self.values, codes = _factorize(objects, input_name)
        self.gallery = codes[: len(gallery)]
        self.probe = self.gallery if same else codes[len(gallery) :]

    @classmethod
    def known(cls, values: np.ndarray, probe: np.ndarray, gallery: np.ndarray) -> Codes:
        """Return codes that need no numbering; all `values` must occur."""
        codes = cls.__new__(cls)
        codes.values = values
        codes.probe = probe
        codes.gallery = gallery
        return codes

    def code(self, label: Any) -> int:
        """Return the code of a person's label, or -1 if no template bears it."""
        label = plain(label)
        if isinstance(label, Hashable):
            return self.lookup.get(label, -1)
        return -1

    def select(self, rows: np.ndarray | None, columns: np.ndarray | None) -> Codes:
        """Return the codes of a part of both sides; None stands for a whole side."""
        codes = copy(self)
        if rows is not None:
            codes.probe = self.probe[rows]
        if columns is not None:
            codes.gallery = self.gallery[columns]
        return codes

    @cached_property
    def lookup(self) -> Mapping[Any, int]:
        """The code of the label of each person."""
        return {plain(v): i for i, v in enumerate(_python_objects(self.values[: self._people]))}

    def apart(self, ids: Sequence[Any], probe_ids: np.ndarray, gallery_ids: np.ndarray) -> Codes:
        """Return codes in which each template with a label among `ids` has a code of its own."""
        by_label = self.labelled
        no_person = by_label.of_no_person(ids)
        if not no_person.any():
            return by_label
        order = np.argsort(no_person, kind="stable")  # people first
        place = np.argsort(order).astype(by_label.probe.dtype)
        values = by_label.values[order]
        people = int(np.count_nonzero(~no_person))
        sides = place[by_label.probe], place[by_label.gallery]
        distractors = [side >= people for side in sides]
        templates = [probe_ids[distractors[0]], gallery_ids[distractors[1]]]
        distinct, first = np.unique(np.concatenate(templates), return_index=True)
        labels = np.concatenate(
            [side[is_distractor] for side, is_distractor in zip(sides, distractors, strict=True)]
        )[first]
        for side, is_distractor, ids_of_side in zip(sides, distractors, templates, strict=True):
            side[is_distractor] = people + np.searchsorted(distinct, ids_of_side)
        codes = Codes.known(values[np.append(np.arange(people), labels)], *sides)
        codes._people = people
        codes._labels = values
        codes._label = np.append(np.arange(people), labels)
        return codes

    @cached_property
    def in_many_spellings(self) -> list[list[Any]]:
        """The values in several spellings, side by side; none unless they are many."""
        if self._people is not None:
            return self.labelled.in_many_spellings
        alike = spellings(self.values)
        return alike if sum(map(len, alike)) >= _MANY * len(self.values) else []

    def unmated(self, ids: Sequence[Any]) -> Codes:
        """Return the codes of labels; probes with a label among `ids` have a code of no person.

        In the gallery all templates with a label among `ids` have one code.
        """
        by_label = self.labelled
        no_person = by_label.of_no_person(ids)
        if not no_person.any():
            return by_label
        order, number = np.argsort(no_person, kind="stable"), len(no_person)  # people first
        place = np.argsort(order)
        codes = Codes.known(
            by_label.values[np.append(order, 0)], place[by_label.probe], place[by_label.gallery]
        )
        codes.probe[no_person[by_label.probe]] = number
        codes._people = int(np.count_nonzero(~no_person))
        codes._labels = by_label.values
        codes._label = np.append(order, 0)
        return codes

    @property
    def labelled(self) -> Codes:
        """The codes of the labels, in which all distractors of a label have one code."""
        if self._people is None:
            return self
        return Codes.known(self._labels, self._label[self.probe], self._label[self.gallery])

    @cached_property
    def no_person(self) -> np.ndarray:
        """Which codes are of distractors or junk."""
        codes = np.arange(len(self.values))
        return codes >= (len(codes) if self._people is None else self._people)

    def people(self, *sides: np.ndarray) -> np.ndarray:
        """Return the distinct codes of sides that are of people, in order."""
        distinct = np.unique(np.concatenate(sides))
        return distinct[~self.no_person[distinct]]

    def of_no_person(self, ids: Sequence[Any]) -> np.ndarray:
        return are_of_no_person(self.values, ids)

    def labels_of_no_person(self, ids: Sequence[Any]) -> list[str]:
        """Return the distinct labels of no person that templates bear, as they are shown."""
        by_label = self.labelled
        is_borne = present(np.concatenate([by_label.probe, by_label.gallery]), len(by_label.values))
        labels = by_label.values[is_borne & by_label.of_no_person(ids)]
        missing = are_of_no_person(labels, [""])
        labels_in_words = [*map(repr, map(plain, labels[~missing].tolist()))]
        return [*labels_in_words, "missing"] if missing.any() else labels_in_words

    def codes_of(self, labels: np.ndarray, input_name: str) -> np.ndarray:
        """Return the codes of `labels`, -1 where no template has the label."""
        require_one_type(labels, self.values, input_name)
        return np.array([*map(self.code, _python_objects(labels))], dtype=np.int64)


def column_codes(probe: np.ndarray, gallery: np.ndarray, name: str) -> Codes:
    """Return a metadata column of both sides as codes to be compared.

    An unknown value equals nothing: its code is -1 in the probes and -2 in the gallery.
    """
    is_known = [~unknown_values(side, name) for side in (probe, gallery)]
    codes_of_known = Codes(probe[is_known[0]], gallery[is_known[1]], f"the column {name!r}")
    codes = [np.full(len(probe), -1), np.full(len(gallery), -2)]
    codes[0][is_known[0]], codes[1][is_known[1]] = codes_of_known.probe, codes_of_known.gallery
    return Codes.known(codes_of_known.values, *codes)


# Zeros before a number, and zeros after the point.
_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)|(?<=\d)\.0+(?![\d.])")

# Values in several spellings are a fault of a file from this part of all values on.
_MANY = 0.05


def spelling(value: object) -> str:
    """Return a value as text, without differences that a reader does not see or mean.

    The differences are case, blanks, characters without a width, forms of Unicode, zeros before a
    number and zeros after the point.
    """
    text = "".join(str(value).split()).casefold()
    if not text.isascii():
        text = "".join(character for character in text if unicodedata.category(character) != "Cf")
        text = unicodedata.normalize("NFC", text)
    return _ZEROS.sub("", text)


def spellings(values: np.ndarray) -> list[list[Any]]:
    """Return the groups of distinct values that are spellings of a single value."""
    if values.dtype.kind not in "UO":
        return []
    alike = defaultdict[str, list[Any]](list)
    for value in map(plain, values.tolist()):
        alike[spelling(value)].append(value)
    return [same for same in alike.values() if len(same) > 1]


#: Labels of distractors and of junk: their names in files, and the attributes of scores.
IDS_OF_NO_PERSON = ("distractor_ids", "junk_ids")

#: Labels of no person unless `distractor_ids` says which are; the empty label stands for a missing
#: label.
NO_PERSON: tuple[Any, ...] = ("", -1)
NO_PERSON += ("nan", "null", "none", "n/a", "unknown", "unidentified", "new_individual")


def ids_of_no_person(distractor_ids: Sequence[Any] | None) -> tuple[Any, ...]:
    """Return the stated labels of no person, or the labels of the rule; "" for missing labels."""
    return NO_PERSON if distractor_ids is None else ("", *distractor_ids)


def are_of_no_person(labels: np.ndarray, ids: Sequence[Any]) -> np.ndarray:
    """Return which labels are among `ids`, as numbers or as texts of any case, blanks stripped."""
    compared_ids = {*map(_as_id, ids)}
    missing = missing_values(labels) if "" in compared_ids else np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind in "iufb":
        return missing | np.isin(labels, [x for x in compared_ids if not isinstance(x, str)])
    return missing | np.array([_as_id(x) in compared_ids for x in labels.tolist()], dtype=bool)


def _as_id(label: Any) -> Any:
    value = label.decode(errors="replace") if isinstance(label, bytes) else plain(label)
    if not isinstance(value, str):
        return value
    text = value.strip().casefold()
    may_be_number = text[:1].isdigit() or text[:1] in ("+", "-", ".")
    return likeness(text) if may_be_number else text


def present(codes: np.ndarray, number: int) -> np.ndarray:
    """Return which of the codes below a number occur."""
    occurs = np.zeros(number, dtype=bool)
    occurs[codes] = True
    return occurs


def _python_objects(array: Any) -> Any:
    if array.dtype.kind in "Mm":
        array = array.astype(f"{array.dtype.kind}8[us]")
    return array.tolist()


def _comparable(left: np.ndarray, right: np.ndarray) -> bool:
    if left.dtype.kind in "iub" and right.dtype.kind in "iub":
        return np.result_type(left, right).kind in "iub"
    return left.dtype.kind == right.dtype.kind


def plain(label: Any) -> Any:
    """Return a scalar, of NumPy or of any library, as the Python value that it holds."""
    label = scalar_of(label)
    if isinstance(label, np.generic):
        return _python_objects(label)
    return label


def is_written(value: Any, text: str) -> bool:
    """Whether a text of a card or a command is a value; numbers are compared as numbers."""
    value = plain(value)
    if str(value) == text:
        return True
    try:
        return isinstance(value, int | float) and value == float(text)
    except ValueError:
        return False


def _factorize(labels: list, input_name: str) -> tuple[np.ndarray, np.ndarray]:
    numbers: dict[Any, int] = {}
    codes = np.empty(len(labels), dtype=np.int64)
    for i, label in enumerate(labels):
        try:
            codes[i] = numbers.setdefault(plain(label), len(numbers))
        except TypeError:
            raise DataError(
                f"{input_name}: the label {label!r} is a {type(label).__name__}; expected a "
                "hashable label"
            ) from None
    return as_objects([*numbers]), codes


def as_objects(values: list) -> np.ndarray:
    """Return values as a one-dimensional array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def as_meta(meta: Mapping[str, Any] | None, length: int, input_name: str) -> dict[str, np.ndarray]:
    """Return metadata columns as arrays of the right length."""
    if meta is None:
        return {}
    named = columns_of(meta)
    if named is None:
        raise DataError(
            f"{input_name} is {type(meta).__name__}; expected a mapping of name to column, or a "
            "table"
        )
    columns = {}
    for name, column in named.items():
        array = one_dimensional(column, f"{input_name}[{name!r}]")
        if len(array) != length:
            raise DataError(
                f"{input_name}[{name!r}] has {len(array)} values; expected {length}, one per "
                "template"
            )
        columns[str(name)] = fixed(with_known_order(array, column), column)
    return columns


# The name of a known order among the metadata of a dtype, which a selection keeps.
_ORDER = "order"


def with_known_order(array: np.ndarray, original: Any) -> np.ndarray:
    """Return an array that keeps the order of an ordered Categorical that it was made of."""
    dtype: Any = getattr(original, "dtype", None)
    if getattr(dtype, "ordered", False) is not True:
        order = known_order(original) if isinstance(original, np.ndarray) else ()
    else:
        order = tuple(map(plain, dtype.categories))
    if not order:
        return array
    return array.view(np.dtype(array.dtype, metadata={_ORDER: order}))


def known_order(array: np.ndarray) -> tuple[Any, ...]:
    """Return the values of a column in their known order; empty without an order."""
    metadata: Mapping[str, Any] = array.dtype.metadata or {}
    return tuple(metadata.get(_ORDER, ()))


def natural_places(names: np.ndarray) -> np.ndarray:
    """Return the place of each name in natural order, 2 before 10; equal names have one place.

    >>> natural_places(np.array(["7_10", "7_2", "10_1"]))
    array([1, 0, 2])
    """
    distinct, place = np.unique(list(map(str, names.tolist())), return_inverse=True)

    def key(number: int) -> list[Any]:
        parts: list[Any] = re.split("([0-9]+)", str(distinct[number]))
        for i in range(1, len(parts), 2):
            digits = parts[i].lstrip("0")
            parts[i] = (len(digits), digits)
        return parts

    of_distinct = np.empty(len(distinct), dtype=np.int64)
    of_distinct[sorted(range(len(distinct)), key=key)] = np.arange(len(distinct))
    return of_distinct[place.reshape(-1)]


def places_in_order(
    meta: Mapping[str, np.ndarray], number: int, names: Any = None
) -> tuple[np.ndarray, str]:
    """Return the place of each template, and the name of the column that decides it.

    A column that numbers the templates of a subject comes first, then their names, then the order
    of the templates. Without both columns the name is empty.
    """
    if names is not None:
        meta = {**meta, "template": names.to_numpy()}
    columns_in_use = [
        next((x for x in columns if x in meta and not missing_values(meta[x]).any()), "")
        for columns in (NUMBER_COLUMNS, NAME_COLUMNS)
    ]
    keys = [natural_places(meta[x]) for x in reversed(columns_in_use) if x]
    place = np.empty(number, dtype=np.int64)
    place[np.lexsort([np.arange(number), *keys])] = np.arange(number)
    return place, columns_in_use[0] or columns_in_use[1]


def columns_of(table: Any) -> Mapping[str, Any] | None:
    """Return the columns of a mapping or of a table (pandas, polars); None of another object."""
    if isinstance(table, Mapping):
        return table
    names = getattr(table, "column_names", getattr(table, "columns", None))
    if names is None or not hasattr(table, "__getitem__") or not len(names):
        return None
    if not all(isinstance(name, str) for name in names):
        return None
    columns = {name: with_known_order(np.asarray(table[name]), table[name]) for name in names}
    index = getattr(table, "index", None)  # of pandas
    levels = [x for x in getattr(index, "names", ()) if isinstance(x, str) and x not in columns]
    return {x: np.asarray(index.get_level_values(x)) for x in levels} | columns  # type: ignore[union-attr]


def names_of_table(table: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the index and the columns of a DataFrame of pandas.

    None of another object, and of a DataFrame whose rows are merely numbered.
    """
    index: Any = getattr(table, "index", None)
    columns: Any = getattr(table, "columns", None)
    if getattr(index, "nlevels", 0) != 1 or getattr(columns, "nlevels", 0) != 1:
        return None
    counted = np.asarray(index).dtype.kind in "iu" and np.asarray(columns).dtype.kind not in "iu"
    numbered = counted and index.names == [None]
    if numbered or "RangeIndex" in (type(index).__name__, type(columns).__name__):
        return None
    return np.asarray(index), np.asarray(columns)


def digest_of_values(arrays: Iterable[np.ndarray]) -> str:
    """Return a short digest of scores, whatever the order of their bytes; all NaN are equal."""
    import xxhash

    hashed = xxhash.xxh3_64()
    for array in arrays:
        flat = array.reshape(-1)
        for low in range(0, len(flat), _PIECE):
            piece = flat[low : low + _PIECE]
            copied = piece.astype(piece.dtype.newbyteorder("<"))
            if copied.dtype.kind == "f":
                copied[np.isnan(copied)] = np.nan
            hashed.update(copied)
    return hashed.hexdigest()


def digest(*arrays: np.ndarray) -> str:
    """Return a short digest of label arrays, independent of platform and dtype width."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(f"{len(array)}\n".encode())
        if array.dtype.kind in "iu":
            sha.update(b"i")
            for low in range(0, len(array), _PIECE):
                sha.update(array[low : low + _PIECE].astype("<i8").tobytes())
        else:
            sha.update("\0".join(map(repr, array.tolist())).encode("utf-8", "backslashreplace"))
    return sha.hexdigest()[:16]

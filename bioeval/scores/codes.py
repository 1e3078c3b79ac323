"""Subjects, and the values of metadata columns, as integer codes.

Other packages see only codes: equal codes mean the same subject. Codes number the distinct labels
from 0, in order of appearance (gallery first) or in sorted order; no result depends on which.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.labels import as_objects, plain, python_objects, require_one_type
from bioeval.scores.missing import are_of_no_person, no_value, role_of


class Codes:
    """The distinct labels of templates, `values`, and the code of each template of both sides.

    The label of a template is ``values[code]``. After :meth:`apart` each template of no person has
    a code of its own, so that a label may occur several times among the values; codes of people
    come first.
    """

    # The number of codes of people; None if all codes are of people.
    _people: int | None = None
    # If some codes are of no person: the distinct labels, and the place of each value among them.
    _labels: np.ndarray
    _label: np.ndarray

    def __init__(
        self,
        probe: np.ndarray,
        gallery: np.ndarray,
        input_name: str = "labels",
        of_any_type: Sequence[Any] = (),
    ):
        """Number the labels of both sides together.

        If both sides are the same array, so are their codes. The labels `of_any_type` may be texts
        among numbers.
        """
        is_one_side = probe is gallery
        if probe.dtype.kind != "O" and gallery.dtype.kind != "O" and _comparable(probe, gallery):
            joined = gallery if is_one_side else np.concatenate([gallery, probe])
            self.values, codes = np.unique(joined, return_inverse=True)
            codes = codes.reshape(-1).astype(np.int64)
        else:
            typed = [
                side[~are_of_no_person(side, of_any_type)] if of_any_type else side
                for side in (probe, gallery)
            ]
            require_one_type(typed[0], typed[1], input_name)
            objects = python_objects(gallery)
            if not is_one_side:
                objects += python_objects(probe)
            self.values, codes = _factorize(objects, input_name)
        self.gallery = codes[: len(gallery)]
        self.probe = self.gallery if is_one_side else codes[len(gallery) :]

    @classmethod
    def known(cls, values: np.ndarray, probe: np.ndarray, gallery: np.ndarray) -> Codes:
        """Return codes that are known already; all `values` must occur."""
        codes = cls.__new__(cls)
        codes.values = values
        codes.probe = probe
        codes.gallery = gallery
        return codes

    def code(self, label: Any) -> int:
        """Return the code of a person's label, -1 if no template has it."""
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
        return {plain(v): i for i, v in enumerate(python_objects(self.values[: self._people]))}

    def apart(self, ids: Sequence[Any], probe_ids: np.ndarray, gallery_ids: np.ndarray) -> Codes:
        """Return codes in which each template with a label among `ids` has a code of its own."""
        by_label = self.labelled
        no_person = by_label.of_no_person(ids)
        if not no_person.any():
            return by_label
        # Labels of people come first.
        order = np.argsort(no_person, kind="stable")
        labels = by_label.values[order]
        new_code = np.argsort(order).astype(by_label.probe.dtype)
        people = int(np.count_nonzero(~no_person))
        sides = new_code[by_label.probe], new_code[by_label.gallery]
        # Templates of no person are numbered after the people, by their identities.
        is_nobody = [side >= people for side in sides]
        nobody_ids = [probe_ids[is_nobody[0]], gallery_ids[is_nobody[1]]]
        nobody_labels = [sides[0][is_nobody[0]], sides[1][is_nobody[1]]]
        distinct_ids, first = np.unique(np.concatenate(nobody_ids), return_index=True)
        for side, is_nobody_of_side, ids_of_side in zip(sides, is_nobody, nobody_ids, strict=True):
            side[is_nobody_of_side] = people + np.searchsorted(distinct_ids, ids_of_side)
        label_of_code = np.append(np.arange(people), np.concatenate(nobody_labels)[first])
        codes = Codes.known(labels[label_of_code], *sides)
        codes._people = people
        codes._labels = labels
        codes._label = label_of_code
        return codes

    @cached_property
    def in_many_spellings(self) -> list[list[Any]]:
        """Groups of values that are spellings of a single value; empty if such values are few."""
        if self._people is not None:
            return self.labelled.in_many_spellings
        groups = spellings(self.values)
        return groups if sum(map(len, groups)) >= _MANY * len(self.values) else []

    def unmated(self, ids: Sequence[Any]) -> Codes:
        """Return codes by label, in which probes with a label among `ids` have no mates.

        These probes share a code that no gallery template has; gallery templates of such a label
        share the code of the label.
        """
        by_label = self.labelled
        no_person = by_label.of_no_person(ids)
        if not no_person.any():
            return by_label
        order = np.argsort(no_person, kind="stable")  # labels of people come first
        new_code = np.argsort(order)
        label_of_code = np.append(order, 0)  # the last code, of the probes, needs some label
        codes = Codes.known(
            by_label.values[label_of_code], new_code[by_label.probe], new_code[by_label.gallery]
        )
        codes.probe[no_person[by_label.probe]] = len(no_person)
        codes._people = int(np.count_nonzero(~no_person))
        codes._labels = by_label.values
        codes._label = label_of_code
        return codes

    @property
    def labelled(self) -> Codes:
        """The codes by label: templates of no person with equal labels have equal codes."""
        if self._people is None:
            return self
        return Codes.known(self._labels, self._label[self.probe], self._label[self.gallery])

    @cached_property
    def no_person(self) -> np.ndarray:
        """Which codes are of distractors or junk."""
        codes = np.arange(len(self.values))
        return codes >= (len(codes) if self._people is None else self._people)

    def people(self, *sides: np.ndarray) -> np.ndarray:
        """Return the distinct codes of people in some arrays of codes, in order."""
        distinct = np.unique(np.concatenate(sides))
        return distinct[~self.no_person[distinct]]

    def of_no_person(self, ids: Sequence[Any]) -> np.ndarray:
        return are_of_no_person(self.values, ids)

    def labels_of_no_person(self, ids: Sequence[Any]) -> list[str]:
        """Return the distinct labels of no person that templates have, in words."""
        by_label = self.labelled
        codes = np.concatenate([by_label.probe, by_label.gallery])
        is_present = present(codes, len(by_label.values))
        labels = by_label.values[is_present & by_label.of_no_person(ids)]
        missing = are_of_no_person(labels, [""])
        labels_in_words = [*map(repr, map(plain, labels[~missing].tolist()))]
        return [*labels_in_words, "missing"] if missing.any() else labels_in_words

    def codes_of(self, labels: np.ndarray, input_name: str) -> np.ndarray:
        """Return the codes of `labels`, -1 where no template has the label."""
        require_one_type(labels, self.values, input_name)
        return np.array([*map(self.code, python_objects(labels))], dtype=np.int64)


def column_codes(probe: np.ndarray, gallery: np.ndarray, name: str) -> Codes:
    """Return a metadata column of both sides as codes.

    An unknown value equals no other: its code is -1 in the probes and -2 in the gallery.
    """
    is_known = [~no_value(side, role_of(name)) for side in (probe, gallery)]
    codes_of_known = Codes(probe[is_known[0]], gallery[is_known[1]], f"the column {name!r}")
    codes = [np.full(len(probe), -1), np.full(len(gallery), -2)]
    codes[0][is_known[0]], codes[1][is_known[1]] = codes_of_known.probe, codes_of_known.gallery
    return Codes.known(codes_of_known.values, *codes)


# Zeros before a number, and zeros after the point.
_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)|(?<=\d)\.0+(?![\d.])")

# Spellings are a fault of a file if at least this share of its values have several.
_MANY = 0.05


def spelling(value: object) -> str:
    """Return a value as text, without differences that mean nothing.

    These are case, blanks, characters without a width, forms of Unicode, zeros before a number and
    zeros after the point.
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
    groups = defaultdict[str, list[Any]](list)
    for value in map(plain, values.tolist()):
        groups[spelling(value)].append(value)
    return [group for group in groups.values() if len(group) > 1]


def present(codes: np.ndarray, number: int) -> np.ndarray:
    """Return which of the codes 0 to ``number - 1`` occur, bool (number,)."""
    occurs = np.zeros(number, dtype=bool)
    occurs[codes] = True
    return occurs


def places_of_ids(searched: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the place of each searched identity among `ids`, -1 if it is not there."""
    place = np.full(1 + max(ids.max(initial=0), searched.max(initial=0)), -1, dtype=np.int64)
    place[ids] = np.arange(len(ids))
    return place[searched]


def _comparable(left: np.ndarray, right: np.ndarray) -> bool:
    if left.dtype.kind in "iub" and right.dtype.kind in "iub":
        return np.result_type(left, right).kind in "iub"
    return left.dtype.kind == right.dtype.kind


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

"""Subjects, and the values of metadata columns, as integer codes.

Other packages see only codes: equal codes mean the same subject. Codes number the distinct labels
from 0, in order of appearance (gallery first) or in sorted order; no result depends on which.
The names of listed pairs are codes, too, and :class:`GalleryOrder` has the gallery subject by
subject.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.labels import (
    are_of_no_person,
    as_labels,
    as_objects,
    as_subjects,
    no_value,
    plain,
    python_objects,
    require_one_type,
    role_of,
)


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
        kinds = {probe.dtype.kind, gallery.dtype.kind}
        are_comparable = len(kinds) == 1 and "O" not in kinds
        if kinds <= set("iub"):
            are_comparable = np.result_type(probe, gallery).kind in "iub"
        if are_comparable:
            joined = gallery if is_one_side else np.concatenate([gallery, probe])
            self.values, codes = np.unique(joined, return_inverse=True)
            codes = codes.reshape(-1).astype(np.int64)
        else:
            typed = [
                side[~are_of_no_person(side, of_any_type)] if of_any_type else side
                for side in (probe, gallery)
            ]
            require_one_type(typed[0], typed[1], input_name)
            labels = python_objects(gallery)
            if not is_one_side:
                labels += python_objects(probe)
            code_of: dict[Any, int] = {}
            codes = np.empty(len(labels), dtype=np.int64)
            for i, label in enumerate(labels):
                try:
                    codes[i] = code_of.setdefault(plain(label), len(code_of))
                except TypeError:
                    raise DataError(
                        f"{input_name}: the label {label!r} is a {type(label).__name__}; expected "
                        "a hashable label"
                    ) from None
            self.values = as_objects([*code_of])
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
        return self._code_of.get(label, -1) if isinstance(label, Hashable) else -1

    def select(self, rows: np.ndarray | None, columns: np.ndarray | None) -> Codes:
        """Return the codes of a part of both sides; None stands for a whole side."""
        codes = copy(self)
        if rows is not None:
            codes.probe = self.probe[rows]
        if columns is not None:
            codes.gallery = self.gallery[columns]
        return codes

    @cached_property
    def _code_of(self) -> Mapping[Any, int]:
        return {plain(v): i for i, v in enumerate(python_objects(self.values[: self._people]))}

    def apart(self, ids: Sequence[Any], probe_ids: np.ndarray, gallery_ids: np.ndarray) -> Codes:
        """Return codes in which each template with a label among `ids` has a code of its own.

        If the label -1 is of no person::

            labels  2, -1, 7, -1    codes  0, 2, 1, 3    values  2, 7, -1, -1
        """
        by_label = self.labelled
        no_person = by_label.of_no_person(ids)
        if not no_person.any():
            return by_label
        # Labels of people come first, and the codes follow the new order of labels.
        order = np.argsort(no_person, kind="stable")
        labels = by_label.values[order]
        people = int(np.count_nonzero(~no_person))
        new_code = np.argsort(order).astype(by_label.probe.dtype)
        probe, gallery = new_code[by_label.probe], new_code[by_label.gallery]
        # Templates of no person are numbered after the people, by their distinct identities.
        probe_is_nobody, gallery_is_nobody = probe >= people, gallery >= people
        nobody_probe_ids = probe_ids[probe_is_nobody]
        nobody_gallery_ids = gallery_ids[gallery_is_nobody]
        nobody_ids = np.concatenate([nobody_probe_ids, nobody_gallery_ids])
        nobody_labels = np.concatenate([probe[probe_is_nobody], gallery[gallery_is_nobody]])
        distinct_ids, first = np.unique(nobody_ids, return_index=True)
        probe[probe_is_nobody] = people + np.searchsorted(distinct_ids, nobody_probe_ids)
        gallery[gallery_is_nobody] = people + np.searchsorted(distinct_ids, nobody_gallery_ids)
        label_of_code = np.append(np.arange(people), nobody_labels[first])
        codes = Codes.known(labels[label_of_code], probe, gallery)
        codes._people, codes._labels, codes._label = people, labels, label_of_code
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
        no_gallery_label = np.full(len(by_label.probe), len(by_label.values))
        return by_label.apart(ids, no_gallery_label, by_label.gallery)

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
        is_present = np.zeros(len(self.values), dtype=bool)
        for side in sides:
            is_present[side] = True
        return np.flatnonzero(is_present & ~self.no_person)

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

    # ------------------------------------------------------- names and subjects of listed pairs

    @classmethod
    def of_pairs(
        cls,
        names: np.ndarray,
        input_name: str,
        check: Callable[..., np.ndarray] = as_labels,
        of_any_type: Sequence[Any] = (),
    ) -> Codes:
        """Return the checked names of both sides of pairs, (p, 2), the enrolled ones first.

        The values are Python objects, of which some may occur in no pair of a selection.
        """
        enrolled, probe = (check(side, input_name) for side in names.T.tolist())
        codes = cls(enrolled, probe, input_name, of_any_type)  # numbered from the probes on
        sides = codes.gallery.astype(np.int32), codes.probe.astype(np.int32)
        return cls.known(as_objects(codes.values.tolist()), *sides)

    def take(self, pairs: np.ndarray) -> Codes:
        return self.select(pairs, pairs)

    def exchanged(self, is_exchanged: np.ndarray) -> Codes:
        """Return the names with the sides of some pairs exchanged; the argument is bool (p,)."""
        probe = np.where(is_exchanged, self.gallery, self.probe)
        return Codes.known(self.values, probe, np.where(is_exchanged, self.probe, self.gallery))

    def objects(self) -> np.ndarray:
        """Return the names of each pair, (p, 2), the enrolled one first; equal ones are one."""
        return self.values[np.column_stack([self.gallery, self.probe])]

    @cached_property
    def labels(self) -> np.ndarray:
        """The distinct names as labels of subjects."""
        return as_subjects(self.values.tolist(), "subjects")

    def of_subjects(self) -> Codes:
        """Return the labels that occur as codes of subjects, texts in order."""
        number = len(self.values)
        is_present = present(self.gallery, number) | present(self.probe, number)
        values, place = self.labels[is_present], np.arange(np.count_nonzero(is_present))
        if values.dtype.kind == "U" and not (values[1:] > values[:-1]).all():
            values, place = np.unique(values, return_inverse=True)
        new_code = np.zeros(number, dtype=np.int32)
        new_code[is_present] = place.reshape(-1)
        return Codes.known(values, new_code[self.probe], new_code[self.gallery])


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


def spellings(values: np.ndarray) -> list[list[Any]]:
    """Return the groups of distinct values that are spellings of a single value.

    These differ in case, blanks, characters without a width, and idle zeros alone.
    """
    if values.dtype.kind not in "UO":
        return []
    groups = defaultdict[str, list[Any]](list)
    for value in map(plain, values.tolist()):
        text = "".join(str(value).split()).casefold()
        if not text.isascii():
            text = "".join(x for x in text if unicodedata.category(x) != "Cf")
            text = unicodedata.normalize("NFC", text)
        groups[_ZEROS.sub("", text)].append(value)
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


# ------------------------------------------------------------------ the gallery, subject by subject


class BlockLines(NamedTuple):
    """The people of the templates along an axis of a block, side by side or in layers.

    In layers, the first templates of all people come first, then the second, and so on, the people
    with most templates first: the people of a layer begin the layer before.
    """

    people: np.ndarray  # int64 (g,): the code of each person
    person: np.ndarray  # int64 (w,): the place in `people` of each template's person
    starts: np.ndarray | None = None  # int64 (g + 1,): the first template of each, side by side
    layers: np.ndarray | None = None  # int64 (k,): the number of people in each layer


class GalleryOrder:
    """The order of the gallery templates in blocks of rows.

    Templates have numbers in three spaces:

    - column: of the scores
    - grouped: the templates of a subject are side by side, subjects in the order of their first
      columns; a group is a subject's number in this order
    - position: of blocks, either grouped (the default) or the columns

    The attributes are

    - `subjects` (groups,): the subject code of each group
    - `starts` (groups + 1,): group ``g`` has the templates ``starts[g]:starts[g + 1]``, grouped
    - `columns` (1, n): the column at each position
    - `order` (n,): the same; None if positions are columns
    - `by_subject` (n,): the position of each grouped template; None if both are the same
    - `probe_group`, `probe_position` (probes,): the group of each probe's subject, and the position
      of the probe's own template; -1 if the gallery lacks it
    - `mate_start`, `mate_stop` (probes,): the grouped templates of the probe's subject
    """

    def __init__(
        self, codes: Codes, probe_ids: np.ndarray, gallery_ids: np.ndarray, *, grouped: bool = True
    ):
        # In the order of the first columns, names of subjects do not change even the last digit of
        # a sum.
        _, first_columns = np.unique(codes.gallery, return_index=True)
        self.subjects = codes.gallery[np.sort(first_columns)]
        self._group = np.full(len(codes.values), -1, dtype=np.int64)  # of each subject code
        self._group[self.subjects] = np.arange(len(self.subjects))
        group_of_column = self._group[codes.gallery]
        grouped_columns = np.argsort(group_of_column, kind="stable")
        is_in_order = bool((group_of_column[1:] >= group_of_column[:-1]).all())
        self.order = None if is_in_order or not grouped else grouped_columns
        self.by_subject = None if is_in_order or grouped else grouped_columns
        self.columns = (grouped_columns if grouped else np.arange(len(grouped_columns)))[None]
        self.starts = np.append(0, np.cumsum(np.bincount(group_of_column))).astype(np.int64)
        self.probe_group = self._group[codes.probe]
        self.mate_start = np.where(self.probe_group >= 0, self.starts[self.probe_group], 0)
        self.mate_stop = np.where(self.probe_group >= 0, self.starts[self.probe_group + 1], 0)
        ids = gallery_ids if self.order is None else gallery_ids[self.order]
        self.probe_position = places_of_ids(probe_ids, ids)

    def group_of(self, subject: np.ndarray) -> np.ndarray:
        """Return the group of each subject code, -1 if the subject is not enrolled."""
        return np.where(subject >= 0, self._group[subject], -1)

    @cached_property
    def lines(self) -> BlockLines:
        person = np.repeat(np.arange(len(self.subjects)), np.diff(self.starts))
        return BlockLines(self.subjects, person, starts=self.starts)

    def same_subject_cells(self, rows: slice | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells of each probe's own subject: places in `rows`, and positions."""
        row, grouped = cells_between(self.mate_start[rows], self.mate_stop[rows])
        return row, grouped if self.by_subject is None else self.by_subject[grouped]


def cells_between(start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the columns of the cells ``start[i]:stop[i]`` of each row ``i``."""
    size = stop - start
    row = np.repeat(np.arange(len(size)), size)
    return row, np.arange(len(row)) + np.repeat(start - (np.cumsum(size) - size), size)

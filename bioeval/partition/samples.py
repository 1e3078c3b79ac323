"""The samples that splitters divide: their subjects, metadata and strata."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, bad_choice, counted
from bioeval.scores.arrays import digest
from bioeval.scores.codes import Codes
from bioeval.scores.labels import NO_PERSON, as_labels, as_subjects, no_value, role_of
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import as_meta, places_in_order
from bioeval.scores.people import knows_people, people_of_probes


class LabelCodes:
    """Integer codes of labels, which do not depend on the order of the samples.

    Numbers are ordered by value and strings by code point; everything else, mixtures included, by
    the name of its type and its ``repr``.

    - `labels` (n,), `codes` (n,): the label and the code of each sample
    - `values`, `counts` (labels,): the distinct labels, and the number of samples of each
    """

    def __init__(self, labels: Any, name: str, *, may_be_missing: bool = False):
        """Number the labels, which messages call `name`."""
        self.labels = array = (as_subjects if may_be_missing else as_labels)(labels, name)
        coded = Codes(array, array, name, of_any_type=NO_PERSON)
        self.values = coded.values
        self.codes = coded.gallery
        if array.dtype.kind == "O":
            # The indices that sort values: by themselves, or else by type and ``repr``.
            values = coded.values.tolist()
            kinds = set(map(type, values))
            keys: list[Any] = values
            if not (kinds <= {bool, int, float} or kinds == {str} or kinds == {bytes}):
                keys = [(f"{type(x).__module__}.{type(x).__qualname__}", repr(x)) for x in values]
            order = np.array(sorted(range(len(values)), key=keys.__getitem__), dtype=np.int64)
            code_of_coded = np.empty(len(order), dtype=np.int64)
            code_of_coded[order] = np.arange(len(order))
            self.values = coded.values[order]
            self.codes = code_of_coded[coded.gallery]
        self.counts = np.bincount(self.codes, minlength=len(self.values)).astype(np.int64)

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _code_of_label(self) -> dict[Any, int]:
        return {value: code for code, value in enumerate(self.values.tolist())}

    def code(self, label: Any) -> int:
        """Return the code of a label, or -1 if no sample has it."""
        if isinstance(label, np.generic):
            label = label.item()
        try:
            return self._code_of_label.get(label, -1)
        except TypeError:  # not hashable
            return -1

    @property
    def digest(self) -> str:
        """A short digest of the labels, independent of platform and dtype width."""
        return digest(self.labels)

    def select(self, index: np.ndarray) -> LabelCodes:
        """Return the codes of samples by index, renumbered from 0 among their labels."""
        part = copy(self)
        part.__dict__.pop("_code_of_label", None)
        codes = self.codes[index]
        counts = np.bincount(codes, minlength=len(self))
        part.labels = self.labels[index]
        part.values = self.values[counts > 0]
        part.codes = (np.cumsum(counts > 0) - 1)[codes]
        part.counts = counts[counts > 0]
        return part

    def combined(self, other: LabelCodes) -> LabelCodes:
        """Return codes of the combinations of two labels of the same samples."""
        part = copy(self)
        part.__dict__.pop("_code_of_label", None)
        codes = self.codes * len(other) + other.codes
        part.values, new, part.counts = np.unique(codes, return_inverse=True, return_counts=True)
        part.codes = new.reshape(-1)
        return part

    def show(self, codes: np.ndarray, most: int = 3) -> str:
        """Name a few labels, and state how many more there are."""
        names = ", ".join(map(repr, self.values[codes[:most]].tolist()))
        if len(codes) > most:
            names += f" and {len(codes) - most} more"
        return names


class SplitInput:
    """The samples that a splitter was given.

    - `splitter`: the name of the splitter in messages
    - `n`: the number of samples
    - `no_person` (bool (n,)): the samples of templates of no person
    """

    def __init__(self, splitter: str, X: object, y: object, groups: object, meta: Any):
        """Take the arguments of :meth:`Division.split`."""
        self.splitter = splitter
        if isinstance(X, Scores):
            y, groups, meta = _of_scores(splitter, X, y, groups, meta)
        lengths = {}
        for name, array in {"X": X, "y": y, "groups": groups}.items():
            if array is not None:
                lengths[name] = _length(splitter, name, array)
        if not lengths:
            raise DataError(f"{splitter}: nothing to divide; give X, y or groups")
        self.n = next(iter(lengths.values()))
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{k} has {v}" for k, v in lengths.items())
            raise DataError(f"{splitter}: {listed} samples; expected as many in each")
        if self.n == 0:
            raise DataError(f"{splitter}: there are no samples to divide")
        self._labels = y
        self._source = "y"
        if groups is not None:
            self._labels = groups
            self._source = "groups"
        self._meta = meta
        self.no_person = np.zeros(self.n, dtype=bool)
        if isinstance(X, Scores) and X.layout != "pairs":
            self.no_person = people_of_probes(X) < 0

    def select(self, index: np.ndarray, name: str = "") -> SplitInput:
        """Return samples by index, with their subjects and metadata; `name` is for messages."""
        part = copy(self)
        part.splitter = f"{self.splitter} ({name})" if name else self.splitter
        part.n = len(index)
        part.no_person = self.no_person[index]
        part.subjects = self.subjects.select(index)
        part._columns = {name: column[index] for name, column in self._columns.items()}
        part.place = np.empty(part.n, dtype=np.int64)
        part.place[np.argsort(self.place[index])] = np.arange(part.n)
        return part

    @cached_property
    def place(self) -> np.ndarray:
        """The place of each sample in the order of names, so that draws do not depend on rows.

        Without names, samples are in the order of rows.
        """
        return places_in_order(self._columns, self.n)[0]

    @cached_property
    def subjects(self) -> LabelCodes:
        if self._labels is None:
            raise DataError(
                f"{self.splitter}: no subjects are given; pass the subject of each sample as y (or "
                "as groups if y is something else)"
            )
        if getattr(self._labels, "ndim", 1) == 2 and self._source == "groups":
            raise DataError(
                f"{self.splitter}: groups names two subjects for each sample, as for pairs; divide "
                "pairs by PredefinedPairFolds, or as samples by SampleKFold. be.cross_evaluate "
                "divides the subjects of pairs"
            )
        return LabelCodes(self._labels, self._source, may_be_missing=bool(self.no_person.any()))

    def column(self, name: str) -> np.ndarray:
        columns = self._columns
        if name not in columns:
            if not columns:
                raise DataError(
                    f"{self.splitter} needs the metadata column {name!r}, but no metadata are "
                    f"given; pass them as split(..., meta={{{name!r}: ...}})"
                )
            raise DataError(f"{self.splitter}: {bad_choice('the metadata column', name, columns)}")
        return columns[name]

    def has(self, name: str) -> bool:
        """Whether there is a metadata column of the name."""
        return name in self._columns

    def labelled(self, name: str) -> LabelCodes:
        """Return a metadata column as labels; none may be missing."""
        column = self.column(name)
        column_name = f"{self.splitter}: meta[{name!r}]"
        missing = no_value(column, role_of(name))
        if missing.any():
            raise DataError(
                f"{column_name} has {counted(int(missing.sum()), 'missing values')} (empty, NaN, "
                "or a word such as 'unknown'), the first at position "
                f"{int(np.argmax(missing))}; every template needs one"
            )
        return LabelCodes(column, column_name)

    @cached_property
    def _columns(self) -> dict[str, np.ndarray]:
        meta = self._meta
        if meta is not None and not isinstance(meta, Mapping) and hasattr(meta, "keys"):
            meta = {name: meta[name] for name in meta.keys()}  # noqa: SIM118 (a data frame)
        return as_meta(meta, self.n, "meta")

    def numbers(self, name: str) -> np.ndarray | None:
        """Return a metadata column in float64; None where it holds something else."""
        column = self.column(name)
        if column.dtype.kind == "O":
            with contextlib.suppress(TypeError, ValueError):
                column = column.astype(np.float64)
        if column.dtype.kind in "biuf":
            return column.astype(np.float64)
        return None

    def strata(self, stratify: str | None, *, by_subject: bool = False) -> np.ndarray | None:
        """Return the stratum of each sample, or of each subject; None if `stratify` is None.

        The stratum of a sample is its subject or its value in a column; the stratum of a subject
        is the value that all its samples have.
        """
        if stratify is None:
            return None
        if by_subject:
            return self._strata_of_subjects(stratify)
        return (self.subjects if stratify == "subject" else self.labelled(stratify)).codes

    def _strata_of_subjects(self, stratify: str) -> np.ndarray:
        subjects = self.subjects
        column = self.labelled(stratify)
        stratum_of_subject = np.empty(len(subjects), dtype=np.int64)
        stratum_of_subject[subjects.codes] = column.codes
        differing = np.flatnonzero(stratum_of_subject[subjects.codes] != column.codes)
        if len(differing):
            subject = subjects.codes[differing[:1]]
            two_values = np.append(column.codes[differing[0]], stratum_of_subject[subject])
            raise DataError(
                f"{self.splitter}: the subject {subjects.show(subject)} has several values in "
                f"meta[{stratify!r}], {column.show(two_values)}; stratification needs a value that "
                "is the same in all samples of a subject"
            )
        return stratum_of_subject


def _of_scores(
    splitter: str, scores: Scores, y: object, groups: object, meta: Any
) -> tuple[object, object, Any]:
    """Return `y`, `groups` and `meta`, taken from scores where they are None."""
    if scores.layout == "pairs":
        if groups is None:
            groups = scores.pair_subjects
        return y, groups, {"genuine": scores.genuine} if meta is None else meta
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        raise DataError(
            f"{splitter}: the rows and the columns of these scores are different templates; divide "
            "the labels of both sides together, split(y=np.concatenate([scores.probe_labels, "
            "scores.gallery_labels])), and tell the sides apart by index"
        )
    if y is None and groups is None and knows_people(scores):
        y = scores.probe_labels
    return y, groups, scores.probe_meta if meta is None else meta


def by_name(samples: SplitInput) -> np.ndarray:
    """Return the samples in the order of subjects, and of names within a subject.

    So draws depend on the order of rows only if there are no names.
    """
    return np.lexsort((samples.place, samples.subjects.codes))


def _length(splitter: str, name: str, value: Any) -> int:
    shape = getattr(value, "shape", None)
    try:
        if shape is not None:
            return int(shape[0])
        return len(value)
    except (TypeError, IndexError):
        raise DataError(
            f"{splitter}: {name} is {type(value).__name__}; expected one entry a sample"
        ) from None

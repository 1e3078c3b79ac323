"""The samples that a splitter divides, and the base class of splitters.

:class:`Division` has the public method ``split``; a splitter has a method ``_blocks``, which yields
masks of the samples in each part::

    samples = SplitInput(name, X, y, groups, meta)  # n samples
    for block in splitter._blocks(samples):  # bool (splits, parts, n), some splits at once
        for masks in block:  # bool (parts, n)
            yield TrainTest(*(np.flatnonzero(mask) for mask in masks))

Subjects and values of metadata columns are codes (:class:`LabelCodes`): of the labels ``["bob",
"ann", "bob"]``, `values` are ``["ann", "bob"]`` and `codes` are ``[1, 0, 1]``.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cached_property
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.digests import digest
from bioeval.base.errors import DataError, bad_choice, counted, without_address
from bioeval.base.random import seed_sequence
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
        array = as_subjects(labels, name) if may_be_missing else as_labels(labels, name)
        coded = Codes(array, array, name, of_any_type=NO_PERSON)
        values, codes = coded.values, coded.gallery
        if array.dtype.kind == "O":
            # Labels of other dtypes are sorted; these are in the order of their appearance.
            order = _order_of_objects(values.tolist())
            new_code = np.empty(len(order), dtype=np.int64)
            new_code[order] = np.arange(len(order))
            values, codes = values[order], new_code[codes]
        self._assign(array, values, codes)

    def _assign(self, labels: np.ndarray, values: np.ndarray, codes: np.ndarray) -> None:
        self.labels = labels
        self.values = values
        self.codes = codes
        self.counts = np.bincount(codes, minlength=len(values)).astype(np.int64)

    @classmethod
    def _from_codes(cls, labels: np.ndarray, values: np.ndarray, codes: np.ndarray) -> LabelCodes:
        """Return codes that need no checks and no sorting."""
        label_codes = cls.__new__(cls)
        label_codes._assign(labels, values, codes)
        return label_codes

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
        codes = self.codes[index]
        occurs = np.bincount(codes, minlength=len(self)) > 0  # (labels,)
        new_code = np.cumsum(occurs) - 1
        return self._from_codes(self.labels[index], self.values[occurs], new_code[codes])

    def combined(self, other: LabelCodes) -> LabelCodes:
        """Return codes of the combinations of two labels of the same samples."""
        pair_numbers = self.codes * len(other) + other.codes
        values, codes = np.unique(pair_numbers, return_inverse=True)
        return self._from_codes(self.labels, values, codes.reshape(-1))

    def show(self, codes: np.ndarray, most: int = 3) -> str:
        """Name a few labels, and state how many more there are."""
        names = ", ".join(map(repr, self.values[codes[:most]].tolist()))
        if len(codes) > most:
            names += f" and {len(codes) - most} more"
        return names


def _order_of_objects(values: list[Any]) -> np.ndarray:
    """Return the indices that sort labels of any types: by value, or else by type and ``repr``."""
    types = set(map(type, values))
    are_numbers = types <= {bool, int, float}
    keys: list[Any] = values
    if not (are_numbers or types == {str} or types == {bytes}):
        keys = [(f"{type(x).__module__}.{type(x).__qualname__}", repr(x)) for x in values]
    return np.array(sorted(range(len(values)), key=keys.__getitem__), dtype=np.int64)


class SplitInput:
    """The samples that a splitter was given.

    - `splitter`: the name of the splitter in messages
    - `n`: the number of samples
    - `no_person` (bool (n,)): the samples of templates of no person

    Subjects and metadata are checked when a splitter first reads them, since many need neither.
    """

    def __init__(self, splitter: str, X: Any, y: Any, groups: Any, meta: Any):
        """Take the arguments of :meth:`Division.split`."""
        self.splitter = splitter
        if isinstance(X, Scores):
            y, groups, meta = _with_columns_of_scores(splitter, X, y, groups, meta)
        self.n = _number_of_samples(splitter, {"X": X, "y": y, "groups": groups})
        self._labels, self._source = (y, "y") if groups is None else (groups, "groups")
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
        # These are cached properties: without these values they would be those of all samples.
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
        if not by_subject:
            labels = self.subjects if stratify == "subject" else self.labelled(stratify)
            return labels.codes
        subjects = self.subjects
        column = self.labelled(stratify)
        # Each subject gets the value of its last sample, and all its samples must agree with it.
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


def _with_columns_of_scores(
    splitter: str, scores: Scores, y: Any, groups: Any, meta: Any
) -> tuple[Any, Any, Any]:
    """Return y, groups and metadata, with those of the scores in place of None."""
    if scores.layout == "pairs":
        if groups is None:
            groups = scores.pair_subjects
        if meta is None:
            meta = {"genuine": scores.genuine}
        return y, groups, meta
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        raise DataError(
            f"{splitter}: the rows and the columns of these scores are different "
            "templates; divide the labels of both sides together, "
            "split(y=np.concatenate([scores.probe_labels, scores.gallery_labels])), and "
            "tell the sides apart by index"
        )
    if y is None and groups is None and knows_people(scores):
        y = scores.probe_labels
    if meta is None:
        meta = scores.probe_meta
    return y, groups, meta


def _number_of_samples(splitter: str, arguments: dict[str, Any]) -> int:
    """Return the length of the arguments that are not None; it must be the same for all."""
    lengths = {}
    for name, array in arguments.items():
        if array is None:
            continue
        shape = getattr(array, "shape", None)  # a sparse matrix has a shape, but no length
        try:
            lengths[name] = len(array) if shape is None else int(shape[0])
        except (TypeError, IndexError):
            raise DataError(
                f"{splitter}: {name} is {type(array).__name__}; expected one entry a sample"
            ) from None
    if not lengths:
        raise DataError(f"{splitter}: nothing to divide; give X, y or groups")
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{k} has {v}" for k, v in lengths.items())
        raise DataError(f"{splitter}: {listed} samples; expected as many in each")
    n = next(iter(lengths.values()))
    if n == 0:
        raise DataError(f"{splitter}: there are no samples to divide")
    return n


def by_name(samples: SplitInput) -> np.ndarray:
    """Return the samples in the order of subjects, and of names within a subject.

    So draws depend on the order of rows only if there are no names.
    """
    return np.lexsort((samples.place, samples.subjects.codes))


class TrainTest(NamedTuple):
    """Training and test part: ascending, disjoint index arrays."""

    train: np.ndarray
    test: np.ndarray


class ProbesGallery(NamedTuple):
    """Probes and the gallery that they are compared with, as the rows and columns of scores.

    Ascending, disjoint index arrays.
    """

    probes: np.ndarray
    gallery: np.ndarray


Parts = TypeVar("Parts", bound=NamedTuple)


class Parameters:
    """Constructor arguments as parameters, in the form of scikit-learn.

    Every argument is kept unchanged in an attribute of its own name.
    """

    @classmethod
    def _names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor arguments by name, whatever `deep` is.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor arguments, with the same checks.

        Parameters
        ----------
        **params
            Arguments by name.

        Returns
        -------
        splitter
            This one.
        """
        for name in params:
            if name not in self._names():
                raise DataError(bad_choice("parameter", name, self._names()))
        changed = type(self)(**{**self.get_params(), **params})  # which checks them together
        self.__dict__.update(changed.__dict__)
        return self

    def __repr__(self) -> str:
        """Return the class with the arguments that differ from the default."""
        short = reprlib.Repr()
        short.maxother = short.maxstring = 1000
        arguments = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, name)
            if type(value) is type(parameter.default) and value == parameter.default:
                continue
            text = short.repr(value.tolist() if isinstance(value, np.ndarray) else value)
            text = without_address(text)
            arguments.append(f"{name}={text}")
        return f"{type(self).__name__}({', '.join(arguments)})"


class Division(Parameters, ABC, Generic[Parts]):
    """A rule that divides samples into parts, several times."""

    @property
    def by_subject(self) -> bool:
        """Whether whole subjects are divided, so that none is in two parts."""
        return False

    def split(
        self,
        X: object = None,
        y: object = None,
        groups: object = None,
        *,
        meta: Mapping | None = None,
    ) -> Iterator[Parts]:
        """Divide the samples.

        Parameters
        ----------
        X : array_like, Scores or None
            Only its number of samples is used. Of all-against-all :class:`bioeval.Scores`, the
            labels and the metadata are used as well, unless `y`, `groups` or `meta` are given.
            Templates of no person are not divided: they are in every part, but never probes.
        y : sequence of hashable, optional
            The subject of each sample; here all labels are names.
        groups : sequence of hashable, optional
            The subject of each sample, where `y` is something else; it overrides `y`.
        meta : mapping of str to sequence, optional
            Metadata columns, one value a sample; a pandas data frame will do.

        Returns
        -------
        iterator of named tuple
            Index arrays, ascending: :class:`TrainTest`, :class:`ProbesGallery`,
            :class:`ThreeParts` or :class:`ExperimentParts`. ``scores.select`` takes each whole:
            the probes and the gallery, or the test part.

        Raises
        ------
        DataError
            If these samples cannot be divided so.
        """
        samples = SplitInput(type(self).__name__, X, y, groups, meta)
        splits = self._splits(samples)
        first = next(splits)  # so that errors come now, and not at the first use
        return itertools.chain([first], splits)

    def _splits(self, samples: SplitInput) -> Iterator[Parts]:
        blocks = self._blocks_of_people if samples.no_person.any() else self._blocks
        for block in blocks(samples):
            for masks in block:  # (parts, n)
                yield self._parts._make([np.flatnonzero(mask) for mask in masks])

    def _blocks_of_people(self, samples: SplitInput) -> Iterator[np.ndarray]:
        """Yield masks as `_blocks`, where only the templates of people are divided.

        Templates of no person are in every part that is not empty, but for the probes.
        """
        is_person = ~samples.no_person
        if not is_person.any():
            raise DataError(
                f"{samples.splitter}: all {samples.n} templates are of no person; expected people "
                "to divide"
            )
        of_people = np.flatnonzero(is_person)
        divides_people = self.restricted_to(of_people, samples.n)
        are_probes = np.array(["probes" in name for name in self._parts._fields])  # (parts,)
        for block in divides_people._blocks(samples.select(of_people)):  # (splits, parts, people)
            splits, parts, _ = block.shape
            takes_others = block.any(axis=2) & ~are_probes  # (splits, parts)
            masks = np.empty((splits, parts, samples.n), dtype=bool)
            masks[:, :, is_person] = block
            masks[:, :, ~is_person] = takes_others[:, :, None]
            yield masks

    def _require_counts_and_seed(self, **lowest: int) -> None:
        for name, low in lowest.items():
            require_integer(f"{type(self).__name__}: {name}", getattr(self, name), low=low)
        require_seed(self.random_state)

    def restricted_to(self, index: np.ndarray, n: int) -> Self:
        """Return the division of the samples `index` among `n`.

        It is the splitter itself, unless the splitter was given a fold for each sample.
        """
        return self

    n_splits: int = 1
    n_repeats: int = 1
    random_state: Any

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return how many splits there are; the arguments are not needed."""
        return self.n_splits * self.n_repeats

    #: The named tuple that is yielded for a split.
    _parts: type[Parts]

    @abstractmethod
    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        """Yield masks of the samples of each part, bool (splits, parts, n), some splits at once."""


class Splitter(Division[Parts]):
    """A division in two, in scikit-learn's form."""

    def get_metadata_routing(self) -> Any:
        """Request ``groups`` from scikit-learn if its metadata routing is on.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=type(self).__name__)
        request.split.add_request(param="groups", alias=True)
        return request


def require_seed(random_state: Any) -> None:
    """Raise :class:`DataError` unless the argument is a seed; a generator is not advanced."""
    if not isinstance(random_state, np.random.Generator | np.random.RandomState):
        seed_sequence(random_state)

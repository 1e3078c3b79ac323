"""Splitters: the samples that are divided, the base classes, and splitters of all kinds."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import json
import reprlib
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, bad_choice, counted, received, without_address
from bioeval.base.random import seed_sequence
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

    def __init__(self, splitter: str, X: Any, y: Any, groups: Any, meta: Any):
        """Take the arguments of :meth:`Division.split`."""
        self.splitter = splitter
        if isinstance(X, Scores) and X.layout == "pairs":
            if groups is None:
                groups = X.pair_subjects
            meta = {"genuine": X.genuine} if meta is None else meta
        elif isinstance(X, Scores):
            if not np.array_equal(X.probe_ids, X.gallery_ids):
                raise DataError(
                    f"{splitter}: the rows and the columns of these scores are different "
                    "templates; divide the labels of both sides together, "
                    "split(y=np.concatenate([scores.probe_labels, scores.gallery_labels])), and "
                    "tell the sides apart by index"
                )
            if y is None and groups is None and knows_people(X):
                y = X.probe_labels
            meta = X.probe_meta if meta is None else meta
        lengths = {}
        for name, array in {"X": X, "y": y, "groups": groups}.items():
            shape = getattr(array, "shape", None)
            try:
                if array is not None:
                    lengths[name] = len(array) if shape is None else int(shape[0])
            except (TypeError, IndexError):
                raise DataError(
                    f"{splitter}: {name} is {type(array).__name__}; expected one entry a sample"
                ) from None
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
            return (self.subjects if stratify == "subject" else self.labelled(stratify)).codes
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


class SplitterLike(Protocol):
    """An object that divides samples into parts: a splitter of this package or of scikit-learn."""

    def split(self, X: Any, y: Any, groups: Any, /) -> Iterable[Any]:
        """Yield the parts as index arrays."""
        ...


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
        self.__dict__.update(type(self)(**{**self.get_params(), **params}).__dict__)
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
        blocks = self._blocks_of_people if samples.no_person.any() else self._blocks
        splits = (
            self._parts._make([flags.nonzero()[0] for flags in parts])
            for block in blocks(samples)
            for parts in block
        )
        first = next(splits)  # so that errors come now, and not at the first use
        return itertools.chain([first], splits)

    def _blocks_of_people(self, samples: SplitInput) -> Iterator[np.ndarray]:
        """Yield splits of people's templates; other templates are in every part but the probes."""
        is_person = ~samples.no_person
        if not is_person.any():
            raise DataError(
                f"{samples.splitter}: all {samples.n} templates are of no person; expected people "
                "to divide"
            )
        of_people = np.flatnonzero(is_person)
        is_of_probes = np.array(["probes" in name for name in self._parts._fields])  # (parts,)
        for block in self.restricted_to(of_people, samples.n)._blocks(samples.select(of_people)):
            masks = np.empty((*block.shape[:2], samples.n), dtype=bool)
            masks[:, :, is_person] = block
            masks[:, :, ~is_person] = (block.any(axis=2) & ~is_of_probes)[:, :, None]
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


class ListedParts:
    """A list of pairs (training, test), in the form of a splitter of scikit-learn."""

    def __init__(self, parts: Iterable[Any]):
        """Check the pairs, and keep them, since an iterator could be read only once."""
        self.parts = list(parts)
        are_pairs = bool(self.parts)
        for pair in self.parts:
            try:
                arrays = [np.asarray(part) for part in pair]
            except (TypeError, ValueError):
                arrays = []
            are_indices = [x.ndim == 1 and (x.dtype.kind in "iu" or not x.size) for x in arrays]
            are_pairs &= are_indices == [True, True]
        if not are_pairs:
            raise DataError(
                f"`splitter` is {received(self.parts)}; expected an object with "
                "split(), or a list of pairs (training, test) of indices"
            )

    def __repr__(self) -> str:
        return f"{counted(len(self.parts), 'listed pairs')} of training and test"

    def split(self, X: object, y: object, groups: object) -> list[Any]:
        """Return the pairs; the arguments are not needed."""
        return self.parts


def as_splitter(splitter: Any) -> Any:
    """Return a splitter, or the splitter of listed pairs (training, test)."""
    if isinstance(splitter, type):
        name = splitter.__name__
        raise DataError(
            f"`splitter` is the class {name}; expected a splitter of it: give {name}(), perhaps "
            "with its arguments"
        )
    if isinstance(splitter, str | bytes | Mapping | np.ndarray):
        pass
    elif hasattr(splitter, "split"):
        return splitter
    elif isinstance(splitter, Iterable):
        return ListedParts(splitter)
    raise DataError(
        f"splitter is {type(splitter).__name__}; expected an object with split(), such as "
        "bioeval.partition.SubjectKFold(5), or a list of pairs (training, test)"
    )


def name_of(splitter: Any) -> str:
    if isinstance(splitter, ListedParts):
        return "the list of splits"
    return type(splitter).__name__


def split_samples(
    splitter: Any, n: int, labels: Any, groups: Any, meta: Mapping | None
) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield the parts of `n` samples from a splitter of any kind.

    A splitter whose ``split`` takes `meta`, such as a splitter of this package, gets labels and
    metadata as they are; others, such as scikit-learn's, get the labels as numbers.
    """
    if "meta" in inspect.signature(splitter.split).parameters:
        splits = splitter.split(range(n), labels, groups, meta=meta)
    else:
        codes = np.zeros(n) if labels is None else LabelCodes(labels, "labels").codes
        group_codes = codes
        if groups is not None and np.ndim(groups) <= 1:
            group_codes = LabelCodes(groups, "groups").codes
        with warnings.catch_warnings():
            # Whether a scikit-learn splitter uses y or groups cannot be known beforehand.
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            splits = list(splitter.split(np.zeros((n, 1)), codes, group_codes))
    for parts in splits:
        if hasattr(parts, "_fields"):
            yield parts
        elif isinstance(parts, tuple | list) and len(parts) == 2:
            yield tuple(parts)
        else:
            raise DataError(
                f"{name_of(splitter)} yields {type(parts).__name__}; expected pairs (training, "
                "test) of indices"
            )


# What a result records of its splitter, and the splitter of such a record.

#: Longer records are left out: an attribute of a netCDF file has at most 64 KiB.
_LONGEST = 60_000


def seeded(splitter: Any) -> Any:
    """Return a splitter with a seed that can be recorded; its draws are those of the splitter.

    A splitter of this package that has no seed gets a random one, and a generator is advanced.
    """
    seed = getattr(splitter, "random_state", 0)
    may_be_seeded = isinstance(splitter, Division) and getattr(splitter, "shuffle", True)
    if not may_be_seeded or isinstance(seed, int | np.integer | np.random.SeedSequence):
        return splitter
    entropy = seed_sequence(seed).entropy
    if seed is None:  # a number that people can copy
        entropy = int(np.random.SeedSequence().generate_state(1)[0])
    return copy(splitter).set_params(random_state=entropy)


def record_of(splitter: Any) -> dict[str, str | int]:
    """Return the attributes of results that say which splitter divided the data."""
    attrs: dict[str, str | int] = {
        "splitter": repr(splitter),
        "splitter_class": type(splitter).__name__,
    }
    seed = getattr(splitter, "random_state", None)
    if isinstance(seed, int | np.integer) and seed < 2**63:
        attrs["splitter_seed"] = int(seed)
    if not isinstance(splitter, ListedParts):
        try:
            record = json.dumps(_recorded(splitter))
        except TypeError:
            return attrs
        if len(record) <= _LONGEST:
            attrs["splitter_record"] = record
    return attrs


def _recorded(value: Any) -> Any:
    """Return a splitter, or a parameter of one, in the types of JSON, or raise TypeError."""
    if hasattr(value, "split") and not isinstance(value, str | bytes):
        names = inspect.signature(type(value)).parameters
        others = getattr(value, "cvargs", {})  # repeated folds of scikit-learn
        parameters = {x: getattr(value, x) if hasattr(value, x) else others[x] for x in names}
        place = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        return {place: {name: _recorded(x) for name, x in parameters.items()}}
    if isinstance(value, np.random.SeedSequence):
        return {"SeedSequence": [value.entropy, [*value.spawn_key]]}
    if isinstance(value, Mapping):
        return {"mapping": [[_recorded(key), _recorded(x)] for key, x in value.items()]}
    if hasattr(value, "tolist"):
        return _recorded(value.tolist())
    if isinstance(value, list | tuple):
        return [_recorded(x) for x in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(type(value).__name__)


def splitter_of(result: Any) -> Any:
    """Return the splitter by which the data of a result were divided, to draw the parts again.

    Parameters
    ----------
    result : xarray.Dataset or xarray.DataTree
        A result of :func:`bioeval.repeat` or :func:`bioeval.cross_evaluate`, perhaps read from a
        file.

    Returns
    -------
    splitter
        With the parameters and the seed that it had; with the same scores it draws the same parts.

    Raises
    ------
    DataError
        If the parts were listed, or drawn by a splitter that is neither of this package nor of
        scikit-learn, or by one of scikit-learn without a seed.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 2, random_state=1)
    >>> result = be.cross_evaluate(scores, be.partition.SubjectShuffleSplit(8, random_state=3))
    >>> be.partition.splitter_of(result)
    SubjectShuffleSplit(n_splits=8, random_state=3)
    """
    leaves = (
        [result] if "splitter" in getattr(result, "attrs", {}) else getattr(result, "leaves", ())
    )
    attrs = next((x.attrs for x in leaves if "splitter" in x.attrs), None)
    if attrs is None:
        raise DataError(
            f"`result` is a {type(result).__name__} without a record of a splitter; expected a "
            "result of be.repeat or be.cross_evaluate"
        )
    if "splitter_record" not in attrs:
        raise DataError(
            f"the parts of this result were made by {attrs['splitter']}, which is not recorded in "
            "full; keep it, or the list, beside the result"
        )
    return _splitter(json.loads(str(attrs["splitter_record"])))


def _splitter(record: Any) -> Any:
    """Return the splitter, or the parameter of one, of a record."""
    if isinstance(record, list):
        return [_splitter(x) for x in record]
    if not isinstance(record, dict):
        return record
    ((name, content),) = record.items()
    if name == "mapping":
        return {_splitter(key): _splitter(x) for key, x in content}
    if name == "SeedSequence":
        return np.random.SeedSequence(content[0], spawn_key=content[1])
    package, _, kind = name.partition(".")
    modules = {"bioeval": "bioeval.partition", "sklearn": "sklearn.model_selection"}
    module = importlib.import_module(modules[package]) if package in modules else None
    made = getattr(module, kind, None)
    if not (isinstance(made, type) and hasattr(made, "split")):  # nothing else of a file is called
        raise DataError(
            f"the parts of this result were made by {name}, which is neither of bioeval nor of "
            "scikit-learn; make this splitter again by its own code"
        )
    parameters = {key: _splitter(x) for key, x in content.items()}
    if package == "sklearn" and parameters.get("random_state", 0) is None:
        is_drawn = parameters.get("shuffle", True)
        if is_drawn:
            raise DataError(
                f"the parts of this result were drawn by scikit-learn's {kind} without a seed: "
                "they cannot be drawn again"
            )
    return made(**parameters)

"""Splitters into folds and into random parts.

Each is a dataclass of its options. ``split`` of the base class (:class:`Division`) calls its method
``_blocks``, which yields masks of the samples in each part, bool (splits, parts, n), for some
splits at once: of the training and the test part, or of the probes and the gallery.
Random orders are those of :mod:`bioeval.partition.shuffling`, which are the same on every platform.
Galleries and probes are in :mod:`bioeval.partition.gallery_splitters`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_flag
from bioeval.base.errors import DataError, received
from bioeval.base.random import RandomState, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import (
    Division,
    LabelCodes,
    ProbesGallery,
    SplitInput,
    Splitter,
    TrainTest,
    by_name,
)


@dataclass(eq=False, repr=False)
class _Folds(Splitter[Any]):
    """Splitters into folds of about the same size: the samples outside a fold, and those inside."""

    n_splits: int = 5
    _: KW_ONLY
    n_repeats: int = 1
    shuffle: bool = False
    random_state: RandomState = None

    def __post_init__(self) -> None:
        splitter = type(self).__name__
        self._require_counts_and_seed(n_splits=2, n_repeats=1)
        require_flag(f"{splitter}: shuffle", self.shuffle)
        if not self.shuffle and (self.random_state is not None or self.n_repeats > 1):
            raise DataError(
                f"{splitter}: n_repeats or random_state is given, but nothing is random; set "
                "shuffle=True"
            )

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        seed = seed_sequence(self.random_state) if self.shuffle else None
        folds = self._folds(samples, seed)
        for repeats in shuffling.blocks(self.n_repeats, samples.n):
            yield from shuffling.fold_flags(folds(repeats), self.n_splits)

    @abstractmethod
    def _folds(
        self, samples: SplitInput, seed: np.random.SeedSequence | None
    ) -> Callable[[int], np.ndarray]:
        """Return a function that draws the folds of the next repeats, (repeats, n)."""

    def _require_enough(self, units: int, unit: str) -> None:
        splitter = type(self).__name__
        if units == 1:
            raise DataError(
                f"{splitter}: there is only one {unit}; expected at least one to train on and one "
                "to test"
            )
        if units < self.n_splits:
            raise DataError(
                f"{splitter}: {self.n_splits} folds are asked for, but there are only {units} "
                f"{unit}s; each fold needs one to test, so give at most {units} folds"
            )


@dataclass(eq=False, repr=False)
class _StratifiedFolds(_Folds):
    _: KW_ONLY
    stratify: str | None = None

    _parts = TrainTest

    def __post_init__(self) -> None:
        super().__post_init__()
        require_column(type(self).__name__, self.stratify)


@dataclass(eq=False, repr=False)
class SubjectKFold(_StratifiedFolds):
    """K folds of subjects: no subject is in both training and test.

    Every sample is tested exactly once. Which samples a fold gets depends on the subjects
    alone, not on the order of the samples.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2 and at most the number of subjects.
    n_repeats : int
        Number of times the subjects are divided. More than one needs ``shuffle=True``; each repeat
        uses another random order. More repeats never change those before them.
    shuffle : bool
        Take the subjects in random order. Otherwise they are taken in the order of their
        labels, in blocks.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed, with ``shuffle=True`` only. None draws other partitions each time.
    stratify : str, optional
        A metadata column, such as ``"sex"``: each fold gets the same number of subjects of each
        of its values, give or take one. It must be constant within each subject.

    See Also
    --------
    SampleKFold : subjects may be on both sides, samples never.

    References
    ----------
    Kohavi, R. (1995). A study of cross-validation and bootstrap for accuracy estimation
    and model selection. IJCAI 14, 1137-1143.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import SubjectKFold
    >>> subject = np.array(["ann", "ann", "bob", "cem", "cem", "dan"])
    >>> for train, test in SubjectKFold(2).split(y=subject):
    ...     print(subject[train], subject[test])
    ['cem' 'cem' 'dan'] ['ann' 'ann' 'bob']
    ['ann' 'ann' 'bob'] ['cem' 'cem' 'dan']

    Several times:

    >>> splitter = SubjectKFold(2, n_repeats=3, shuffle=True, random_state=0)
    >>> splitter.get_n_splits()
    6
    """

    by_subject = True

    def _folds(
        self, samples: SplitInput, seed: np.random.SeedSequence | None
    ) -> Callable[[int], np.ndarray]:
        subjects = samples.subjects
        self._require_enough(len(subjects), "subject")
        strata = samples.strata(self.stratify, by_subject=True)
        shuffle = shuffling.Shuffle(len(subjects), strata, seed, shuffling.SUBJECT_FOLDS)
        return lambda repeats: shuffle.folds(repeats, self.n_splits)[:, subjects.codes]


@dataclass(eq=False, repr=False)
class SampleKFold(_StratifiedFolds):
    """K folds of samples: a subject may be on both sides, a sample never.

    This is the partition where the tested subjects are known to the system, such as a classifier
    that is trained on the subjects it has to recognise. A system that has to recognise new
    subjects needs :class:`SubjectKFold`. Every sample is tested exactly once, and the folds
    differ by at most one sample.

    Parameters
    ----------
    n_splits, n_repeats, shuffle, random_state
        As for :class:`SubjectKFold`, but of samples, which are taken as they come without
        `shuffle`.
    stratify : str, optional
        ``"subject"`` gives each fold the same number of each subject's samples, give or take
        one; the name of a metadata column does so for each of its values. Subjects with fewer
        samples than folds are welcome.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import SampleKFold
    >>> subject = np.array(["ann", "ann", "bob", "bob", "cem", "cem"])
    >>> for train, test in SampleKFold(2, stratify="subject").split(y=subject):
    ...     print(train, test)
    [1 3 5] [0 2 4]
    [0 2 4] [1 3 5]
    """

    def _folds(
        self, samples: SplitInput, seed: np.random.SeedSequence | None
    ) -> Callable[[int], np.ndarray]:
        self._require_enough(samples.n, "sample")
        strata = samples.strata(self.stratify)
        place = np.arange(samples.n) if seed is None else samples.place
        if strata is not None:
            strata = strata[np.argsort(place)]
        shuffle = shuffling.Shuffle(samples.n, strata, seed, shuffling.SAMPLE_FOLDS)
        return lambda repeats: shuffle.folds(repeats, self.n_splits)[:, place]


@dataclass(eq=False, repr=False)
class GalleryKFold(_Folds):
    """K folds of the templates of each subject: each fold is enrolled once, and the others probe.

    Yields ``ProbesGallery(probes, gallery)``. With as many folds as a subject has templates, each
    of them is enrolled in turn.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2 and at most the templates of the subject with the fewest.
    n_repeats, shuffle, random_state
        As for :class:`SubjectKFold`, but of the templates of each subject. Without `shuffle` they
        are taken in turn, in the order of their names (metadata ``template`` or ``name``), without
        names as they come.

    Examples
    --------
    >>> from bioeval.partition import GalleryKFold
    >>> for probes, gallery in GalleryKFold(3).split(y=["ann", "ann", "ann", "bob", "bob", "bob"]):
    ...     print(probes, gallery)
    [1 2 4 5] [0 3]
    [0 2 3 5] [1 4]
    [0 1 3 4] [2 5]
    """

    _parts = ProbesGallery

    def _folds(
        self, samples: SplitInput, seed: np.random.SeedSequence | None
    ) -> Callable[[int], np.ndarray]:
        subjects = samples.subjects
        too_small = np.flatnonzero(subjects.counts < self.n_splits)
        if len(too_small):
            fewest = int(subjects.counts.min())
            instead = f"give at most {fewest} folds, or leave those subjects out"
            if fewest < 2:
                instead = "leave those subjects out, or draw galleries by ProbeGallerySplit"
            raise DataError(
                f"{samples.splitter}: n_splits is {self.n_splits}, but {len(too_small)} of "
                f"{len(subjects)} subjects have fewer templates ({subjects.show(too_small)}); each "
                f"needs one for each fold: {instead}"
            )
        order = by_name(samples)
        groups = shuffling.ShuffledGroups(order, subjects.codes[order], len(subjects))
        draws = None if seed is None else shuffling.stream(seed, shuffling.GALLERY)

        def folds(repeats: int) -> np.ndarray:
            fold = np.empty((repeats, samples.n), dtype=np.int64)
            fold_at_position = groups.place[None] % self.n_splits
            np.put_along_axis(fold, groups.drawn(draws, repeats), fold_at_position, axis=1)
            return fold

        return folds


def require_column(splitter: str, stratify: object) -> None:
    """Raise :class:`DataError` unless `stratify` is None or a name."""
    if stratify is not None and not isinstance(stratify, str):
        raise DataError(
            f"{splitter}: stratify is {received(stratify)}; "
            "expected None or the name of a metadata column"
        )


class _FoldsByColumn(Splitter[TrainTest]):
    """Splitters into given folds."""

    _parts = TrainTest
    _unit = "sample"

    def __init__(self, column: Any, name: str):
        splitter = type(self).__name__
        labels = LabelCodes(column, f"{splitter}: {name}")
        if not len(labels):
            raise DataError(f"{splitter}: {name} is empty; expected the fold of each {self._unit}")
        untested = labels.code(-1)  # the code of the label -1, or -1 if there is none
        tested = [code for code in range(len(labels)) if code != untested]
        if len(tested) < 2 and (untested < 0 or not tested):
            raise DataError(
                f"{splitter}: {name} has {len(tested)} folds to test; expected at least 2, or one "
                "and -1 for samples that are never tested"
            )
        fold_of_code = np.full(len(labels), -1, dtype=np.int64)
        fold_of_code[tested] = np.arange(len(tested))
        self._fold = fold_of_code[labels.codes]  # of each sample; -1: never tested
        self.n_splits = len(tested)

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        if samples.n != len(self._fold):
            raise DataError(
                f"{samples.splitter}: folds are given for {len(self._fold)} {self._unit}s, but "
                f"there are {samples.n}; expected one for each"
            )
        yield from shuffling.fold_flags(self._fold[None], self.n_splits)

    def restricted_to(self, index: np.ndarray, n: int) -> Self:
        if len(self._fold) != n:
            return self
        part = copy(self)
        part._fold = self._fold[index]
        return part


class PredefinedFolds(_FoldsByColumn):
    """Folds as given, one for each sample.

    Each fold is tested once, in sorted order, and all others are trained on.

    Parameters
    ----------
    fold_of_sample : sequence of hashable, shape (n,)
        The fold of each sample: numbers or names. The number -1 marks samples that are never
        tested and always trained on, as in scikit-learn's ``PredefinedSplit``.

    Examples
    --------
    >>> from bioeval.partition import PredefinedFolds
    >>> for train, test in PredefinedFolds(["b", "a", "a", "b", "c"]).split(X=range(5)):
    ...     print(train, test)
    [0 3 4] [1 2]
    [1 2 4] [0 3]
    [0 1 2 3] [4]
    """

    def __init__(self, fold_of_sample: Any):
        self.fold_of_sample = fold_of_sample
        super().__init__(fold_of_sample, "fold_of_sample")


class LeaveOneGroupOut(Splitter[TrainTest]):
    """A fold for each value of a metadata column: it is tested, and all others are trained on.

    The test part of each fold has the templates of one session, camera or device, so that attempts
    are within it, and the threshold was chosen without it. Folds are in the order of the values,
    numbers by size and names by alphabet. The same people may be in both parts.

    Parameters
    ----------
    column : str
        The metadata column, such as ``"session"``. Each template needs a value, and there are at
        least two values.

    See Also
    --------
    PredefinedFolds : folds of values that are no metadata.

    Examples
    --------
    >>> from bioeval.partition import LeaveOneGroupOut
    >>> camera = ["door", "gate", "door", "hall", "gate", "hall"]
    >>> for train, test in LeaveOneGroupOut("camera").split(X=range(6), meta={"camera": camera}):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 2 3 5] [1 4]
    [0 1 2 4] [3 5]
    """

    _parts = TrainTest

    def __init__(self, column: str):
        if not isinstance(column, str):
            raise DataError(
                f"{type(self).__name__}: column is {received(column)}; expected the name of a "
                "metadata column (PredefinedFolds takes the fold of each sample)"
            )
        self.column = column

    def get_n_splits(
        self,
        X: object = None,
        y: object = None,
        groups: object = None,
        *,
        meta: Mapping | None = None,
    ) -> int:
        """Return how many values the column has, of samples as for ``split``.

        Returns
        -------
        int
        """
        return len(self._values(SplitInput(type(self).__name__, X, y, groups, meta)))

    def _values(self, samples: SplitInput) -> LabelCodes:
        values = samples.labelled(self.column)
        if len(values) < 2:
            raise DataError(
                f"{samples.splitter}: meta[{self.column!r}] is {values.show(np.arange(1))} in all "
                "templates; expected at least two values, one to test and one to train on"
            )
        return values

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        values = self._values(samples)
        yield from shuffling.fold_flags(values.codes[None], len(values))


class PredefinedPairFolds(_FoldsByColumn):
    """Folds of fixed pairs as given, one for each pair, such as the ten of LFW's view 2.

    The samples are pairs here: ``split`` takes pair scores (or anything with one entry a pair)
    and yields indices of pairs.

    Parameters
    ----------
    fold_of_pair : sequence of hashable, shape (p,)
        The fold of each pair; -1 as for :class:`PredefinedFolds`.

    References
    ----------
    Huang, G. B., Ramesh, M., Berg, T., Learned-Miller, E. (2007). Labeled Faces in the
    Wild: a database for studying face recognition in unconstrained environments. University
    of Massachusetts Amherst, Technical Report 07-49.

    Examples
    --------
    LFW lists ten folds of 300 genuine and then 300 impostor pairs:

    >>> import numpy as np
    >>> from bioeval.partition import PredefinedPairFolds
    >>> lfw = PredefinedPairFolds(np.repeat(np.arange(10), 600))
    >>> train, test = next(lfw.split(X=np.zeros(6000)))
    >>> len(train), len(test)
    (5400, 600)
    """

    _unit = "pair"

    def __init__(self, fold_of_pair: Any):
        self.fold_of_pair = fold_of_pair
        super().__init__(fold_of_pair, "fold_of_pair")


PartitionUnit = Literal["subject", "sample"]
UNITS: tuple[PartitionUnit, ...] = get_args(PartitionUnit)
_DEFAULT_TEST = 0.2


class ThreeParts(NamedTuple):
    """Ascending, disjoint index arrays."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


@dataclass(eq=False, repr=False)
class _Shuffle(Splitter[TrainTest]):
    n_splits: int = 10
    _: KW_ONLY
    test_size: float | int | None = None
    train_size: float | int | None = None
    random_state: RandomState = None

    _parts = TrainTest

    def __post_init__(self) -> None:
        self._require_counts_and_seed(n_splits=1)
        sizes = {"test_size": self.test_size, "train_size": self.train_size}
        check_sizes(type(self).__name__, sizes)

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        test = self.test_size
        if test is None and self.train_size is None:
            test = _DEFAULT_TEST
        sizes = {"train_size": self.train_size, "test_size": test}
        seed = seed_sequence(self.random_state)
        yield from drawn_parts(samples, self.by_subject, sizes, seed, self.n_splits)


class SubjectShuffleSplit(_Shuffle):
    """Random subjects for the test and others for training, as often as wanted.

    Unlike folds, the test parts of different splits overlap, and a subject may never be tested.

    Parameters
    ----------
    n_splits : int
        Number of splits.
    test_size, train_size : float, int or None
        A proportion of the subjects in (0, 1), or their number. None means all the others; if
        both are None, a fifth is tested. Proportions are rounded up for the test and down for
        training, as in scikit-learn.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws other partitions each time.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import SubjectShuffleSplit
    >>> subject = np.array(["ann", "ann", "bob", "cem", "cem", "dan"])
    >>> for train, test in SubjectShuffleSplit(2, test_size=1, random_state=0).split(y=subject):
    ...     print(subject[train], subject[test])
    ['ann' 'ann' 'cem' 'cem' 'dan'] ['bob']
    ['ann' 'ann' 'bob' 'cem' 'cem'] ['dan']
    """

    by_subject = True


class SampleShuffleSplit(_Shuffle):
    """Random samples for the test and others for training, as often as wanted.

    A subject may be on both sides, a sample never.

    Parameters
    ----------
    n_splits, test_size, train_size, random_state
        As for :class:`SubjectShuffleSplit`, with sizes in samples.

    Examples
    --------
    >>> from bioeval.partition import SampleShuffleSplit
    >>> next(SampleShuffleSplit(1, test_size=0.5, random_state=0).split(X=range(4)))
    TrainTest(train=array([2, 3]), test=array([0, 1]))
    """

    by_subject = False


@dataclass(eq=False, repr=False)
class TrainValidationTest(Division[ThreeParts]):
    """Training, validation and test: fit on the first, choose on the second, report the third.

    Unlike the other splitters it yields three index arrays, so that scikit-learn's
    cross-validation, which expects two, cannot use it.

    Parameters
    ----------
    validation_size, test_size : float or int
        A proportion of the subjects (or samples) in (0, 1), rounded up, or their number.
    train_size : float, int or None
        A proportion, rounded down, or a number; None means all the others.
    unit : {"subject", "sample"}
        The unit of division. By subject, no subject is in two parts; by sample, a subject may
        be, a sample never.
    n_splits, random_state
        As for :class:`SubjectShuffleSplit`.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import TrainValidationTest
    >>> subject = np.repeat(["ann", "bob", "cem", "dan", "eve"], 2)
    >>> parts = next(TrainValidationTest(1, 1, random_state=0).split(y=subject))
    >>> for name, index in parts._asdict().items():
    ...     print(name, np.unique(subject[index]))
    train ['ann' 'dan' 'eve']
    validation ['bob']
    test ['cem']
    """

    validation_size: float | int = 0.2
    test_size: float | int = 0.2
    _: KW_ONLY
    train_size: float | int | None = None
    unit: PartitionUnit = "subject"
    n_splits: int = 1
    random_state: RandomState = None

    _parts = ThreeParts

    def __post_init__(self) -> None:
        splitter = type(self).__name__
        for name in ("validation_size", "test_size"):
            shuffling.as_size(splitter, name, getattr(self, name))
        check_sizes(splitter, self._sizes)
        require_choice(f"{splitter}: unit", self.unit, UNITS)
        self._require_counts_and_seed(n_splits=1)

    @property
    def by_subject(self) -> bool:
        """Whether the unit is the subject."""
        return self.unit == "subject"

    @property
    def _sizes(self) -> dict[str, Any]:
        return {
            "train_size": self.train_size,
            "validation_size": self.validation_size,
            "test_size": self.test_size,
        }

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        seed = seed_sequence(self.random_state)
        yield from drawn_parts(samples, self.by_subject, self._sizes, seed, self.n_splits)


def check_sizes(splitter: str, sizes: Mapping[str, Any]) -> None:
    """Raise :class:`DataError` unless the sizes of parts are valid, and shares are at most 1."""
    given_sizes = {name: size for name, size in sizes.items() if size is not None}
    shares = 0.0
    for name, size in given_sizes.items():
        if isinstance(shuffling.as_size(splitter, name, size), float):
            shares += float(size)
    if shares > 1 + 1e-12:
        listed = ", ".join(f"{name}={size!r}" for name, size in given_sizes.items())
        raise DataError(
            f"{splitter}: {listed}: the shares are {shares:g} together; expected at most 1"
        )


def drawn_parts(
    samples: SplitInput,
    by_subject: bool,
    sizes: Mapping[str, Any],
    seed: np.random.SeedSequence,
    repeats: int,
    strata: np.ndarray | None = None,
) -> Iterator[np.ndarray]:
    """Yield masks of the samples of each part, bool (repeats, parts, n), some repeats at once.

    Parts are in the order of `sizes`. Units are subjects or samples; each of the `strata` of units
    has its share of each part.
    """
    if by_subject:
        unit_of_sample = samples.subjects.codes
        purpose = shuffling.SUBJECT_PARTS
        units = "subjects"
        total = len(samples.subjects)
    else:
        unit_of_sample = samples.place
        purpose = shuffling.SAMPLE_PARTS
        units = "samples"
        total = samples.n
    counts = {}
    for name, size in sizes.items():
        if size is not None:
            checked = shuffling.as_size(samples.splitter, name, size)
            counts[name] = shuffling.number_of_units(checked, total, up=name != "train_size")
    remaining = total - sum(counts.values())
    for name in sizes:
        if name not in counts:
            counts[name] = remaining
            remaining = 0
    if remaining < 0 or min(counts.values()) < 1:
        listed = ", ".join(f"{name.removesuffix('_size')} {counts[name]}" for name in sizes)
        raise DataError(
            f"{samples.splitter}: the sizes ask for {listed} of {total} {units}; each part needs "
            "at least one, and all together no more than there are"
        )
    shuffle = shuffling.Shuffle(total, strata, seed, purpose)
    for count in shuffling.blocks(repeats, samples.n):
        part_of_unit = shuffle.parts(count, [counts[name] for name in sizes])
        part_of_sample = part_of_unit[:, unit_of_sample]
        yield part_of_sample[:, None] == np.arange(len(sizes))[:, None]

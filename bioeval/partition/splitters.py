"""Splitters: folds, random parts, gallery and probes, and whole experiments.

Each is a dataclass of its options. ``split`` of the base class (:class:`Division`) calls its method
``_blocks``, which yields masks of the samples in each part, bool (splits, parts, n), for some
splits at once: of the training and the test part, or of the probes and the gallery.
Random orders are those of :mod:`bioeval.partition.shuffling`, which are the same on every platform.
:class:`Enrolment` draws galleries and probes, for three of the splitters.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_flag, require_integer
from bioeval.base.errors import DataError, counted, enumerated, nearest_name, received
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import (
    Division,
    LabelCodes,
    ProbesGallery,
    SplitInput,
    Splitter,
    TrainTest,
    by_name,
    require_seed,
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


TooFew = Literal["raise", "enrol", "probe", "drop"]
TOO_FEW: tuple[TooFew, ...] = get_args(TooFew)

_MORE_TEMPLATES = "enrol fewer templates, or make a part that has more of each subject"


@dataclass(eq=False, repr=False)
class ProbeGallerySplit(Splitter[ProbesGallery]):
    """Some templates of each subject are enrolled, the others probe.

    Yields ``ProbesGallery(probes, gallery)``. Every subject is enrolled; for some that are
    not, see :class:`EnrolledSplit`.

    Parameters
    ----------
    n_gallery : int, float or None
        Enrolled templates of each subject.

        - int: their number;
        - float in (0, 1): a proportion of the templates that may be enrolled, rounded to the
          nearest number, but at least 1; without `enrol`, at least one template probes;
        - None: all that `enrol` lets.
    by : str or sequence of str
        Unit of the number: each subject, or with ``by=("subject", "camera")`` each combination of a
        subject with a value of this metadata column. A combination with fewer templates enrols all.
    quality : str, optional
        A metadata column: the templates with the **largest** values are enrolled, the earlier
        one of two equals. Otherwise the choice is random.
    enrol : mapping of str to value or list of values, optional
        Which templates may be enrolled, by metadata: ``{"session": 1}`` or
        ``{"session": [1, 2], "camera": "door"}``, where all have to hold. All other templates
        probe. Templates that may be enrolled and are not are left out, since probes of the
        enrolling session would flatter the system.
    too_few : {"raise", "enrol", "probe", "drop"}
        Treatment of a subject that cannot have both its gallery templates and a probe: an error, or
        all its templates are enrolled, or probe, or are left out.
    n_probe : int, optional
        At most this number of templates of each enrolled subject probe, drawn at random from those
        that are not enrolled; the others are left out. None: all of them probe.
    n_repeats : int
        How often to draw.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws another partition each time.

    Examples
    --------
    One random template of each subject, or of each subject and camera:

    >>> import numpy as np
    >>> from bioeval.partition import ProbeGallerySplit
    >>> subject = ["ann", "ann", "ann", "bob", "bob"]
    >>> next(ProbeGallerySplit(1, random_state=0).split(y=subject))
    ProbesGallery(probes=array([0, 2, 4]), gallery=array([1, 3]))
    >>> by_camera = ProbeGallerySplit(1, by=("subject", "camera"), random_state=0)
    >>> next(by_camera.split(y=subject, meta={"camera": [1, 1, 2, 1, 1]})).gallery
    array([1, 2, 3])

    The best one, and the first session:

    >>> meta = {"sharpness": [0.1, 0.9, 0.5, 0.7, 0.3], "session": [1, 2, 2, 1, 2]}
    >>> next(ProbeGallerySplit(1, quality="sharpness").split(y=subject, meta=meta)).gallery
    array([1, 3])
    >>> next(ProbeGallerySplit(enrol={"session": 1}).split(y=subject, meta=meta))
    ProbesGallery(probes=array([1, 2, 4]), gallery=array([0, 3]))
    """

    n_gallery: int | float | None = None
    _: KW_ONLY
    by: str | Sequence[str] = "subject"
    quality: str | None = None
    enrol: Mapping[str, Any] | None = None
    too_few: TooFew = "raise"
    n_probe: int | None = None
    n_repeats: int = 1
    random_state: RandomState = None

    _parts = ProbesGallery

    def __post_init__(self) -> None:
        splitter = type(self).__name__
        quality = self.quality
        enrol = self.enrol
        if not isinstance(self.by, str | Sequence) or "subject" not in self._by:
            raise DataError(
                f"{splitter}: by is {received(self.by)}; expected 'subject', or a list of it and "
                "metadata columns, such as ('subject', 'camera')"
            )
        if self.n_probe is not None:
            self._require_counts_and_seed(n_probe=1)
        if self.n_gallery is not None:
            shuffling.as_size(splitter, "n_gallery", self.n_gallery)
        elif enrol is None:
            raise DataError(
                f"{splitter}: neither n_gallery nor enrol is given; give the number of templates "
                "of each subject to enrol (n_gallery=1) or which (enrol={'session': 1})"
            )
        elif quality is not None:
            raise DataError(
                f"{splitter}: quality is given without n_gallery; give the number of templates to "
                "enrol"
            )
        if quality is not None and not isinstance(quality, str):
            raise DataError(
                f"{splitter}: quality is {type(quality).__name__}; expected the name of a metadata "
                "column of split(..., meta=...)"
            )
        if enrol is not None and not (isinstance(enrol, Mapping) and enrol):
            raise DataError(
                f"{splitter}: enrol is {received(enrol)}; expected a mapping of column to value, "
                "such as {'session': 1}"
            )
        require_choice(f"{splitter}: too_few", self.too_few, TOO_FEW)
        self._require_counts_and_seed(n_repeats=1)
        if self.n_repeats > 1 and self.n_probe is None and not self._random_gallery:
            raise DataError(
                f"{splitter}: n_repeats is {self.n_repeats}, but nothing is random; all repeats "
                "would be the same"
            )

    @property
    def _by(self) -> tuple[str, ...]:
        return (self.by,) if isinstance(self.by, str) else tuple(self.by)

    @property
    def _random_gallery(self) -> bool:
        return self.n_gallery is not None and self.quality is None

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        yield from _enrolments(self, self, samples)


@dataclass(eq=False, repr=False)
class EnrolledSplit(Splitter[ProbesGallery]):
    """Some subjects are not enrolled; all their templates are non-mated probes.

    Yields ``ProbesGallery(probes, gallery)``. The templates of the enrolled subjects are divided by
    a :class:`ProbeGallerySplit`; all templates of other subjects probe. The probes of enrolled
    subjects are mated (PG), the others non-mated (PN); their labels say which.

    Parameters
    ----------
    probe_gallery : ProbeGallerySplit
        How enrolled subjects are divided; seed and repeats are those of this splitter.
    unenrolled : float or int
        The proportion of subjects in (0, 1) that are not enrolled, rounded up, or their number.
    enrolled : float or int, optional
        The subjects that are enrolled, in place of `unenrolled`: a number, or a proportion, rounded
        down, of the subjects with templates enough. No other subject is enrolled; subjects with too
        few templates are left out with ``too_few="drop"``.
    n_repeats, random_state
        As for :class:`ProbeGallerySplit`.

    Notes
    -----
    Whether a subject has too few templates is decided for all subjects, before some are drawn.
    With ``too_few="probe"`` in `probe_gallery`, these subjects are unenrolled besides the drawn
    ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import EnrolledSplit, ProbeGallerySplit
    >>> subject = np.repeat(["ann", "bob", "cem", "dan"], 2)
    >>> splitter = EnrolledSplit(ProbeGallerySplit(1), unenrolled=0.5, random_state=0)
    >>> probes, gallery = next(splitter.split(y=subject))
    >>> print(subject[gallery], subject[probes])
    ['ann' 'dan'] ['ann' 'bob' 'bob' 'cem' 'cem' 'dan']
    """

    probe_gallery: ProbeGallerySplit
    _: KW_ONLY
    unenrolled: float | int = 0.5
    enrolled: float | int | None = None
    n_repeats: int = 1
    random_state: RandomState = None

    _parts = ProbesGallery

    def __post_init__(self) -> None:
        splitter = type(self).__name__
        if not isinstance(self.probe_gallery, ProbeGallerySplit):
            raise DataError(
                f"{splitter}: `probe_gallery` is {received(self.probe_gallery)}; expected a "
                "ProbeGallerySplit"
            )
        if self.probe_gallery.n_repeats > 1 or self.probe_gallery.random_state is not None:
            raise DataError(
                f"{splitter}: probe_gallery has n_repeats or random_state; give them to "
                f"{splitter}, which draws the galleries, too"
            )
        shuffling.as_size(splitter, "unenrolled", self.unenrolled)
        if self.enrolled is not None:
            shuffling.as_size(splitter, "enrolled", self.enrolled)
            if self.probe_gallery.too_few == "enrol":
                raise DataError(
                    f"{splitter}: `enrolled` says who is enrolled, but "
                    '`too_few="enrol"` enrols all with too few templates besides; '
                    "expected 'probe', 'drop' or 'raise'"
                )
        self._require_counts_and_seed(n_repeats=1)

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        unenrolled = self.unenrolled if self.enrolled is None else None
        yield from _enrolments(self, self.probe_gallery, samples, unenrolled, self.enrolled)


def _enrolments(
    splitter: ProbeGallerySplit | EnrolledSplit,
    rule: ProbeGallerySplit,
    samples: SplitInput,
    unenrolled: float | int | None = None,
    enrolled: float | int | None = None,
) -> Iterator[np.ndarray]:
    enrolment = Enrolment(rule, samples, enrolment_draws(seed_sequence(splitter.random_state)))
    for count in shuffling.blocks(splitter.n_repeats, samples.n):
        yield enrolment.drawn(count, unenrolled, enrolled)


def enrolment_draws(seed: np.random.SeedSequence) -> list[Stream]:
    """Return random numbers for enrolled templates, for probes, and for people."""
    purposes = shuffling.GALLERY, shuffling.PROBES, shuffling.UNENROLLED
    return [shuffling.stream(seed, purpose) for purpose in purposes]


class Enrolment:
    """Draws the enrolled templates and the probes among samples, by the rule of ProbeGallerySplit.

    A unit is a subject, or with `by` a subject with a value of further columns, such as a camera.
    Candidates are the samples that may be enrolled; they are in places, unit after unit.

    - `is_able` (bool (subjects,)): which subjects have enough templates
    """

    def __init__(self, rule: ProbeGallerySplit, samples: SplitInput, draws: Sequence[Stream]):
        self._rule, self._samples = rule, samples
        self._gallery_draws, self._probe_draws, self._subject_draws = draws
        units = samples.subjects
        for name in rule._by:
            if name != "subject":
                units = units.combined(samples.labelled(name))
        self._is_candidate = _candidates(rule, samples)
        candidates = np.bincount(units.codes[self._is_candidate], minlength=len(units))
        wanted = _wanted_of_units(rule, samples.splitter, candidates)
        if units is not samples.subjects:  # a camera with fewer templates enrols all
            wanted = np.minimum(wanted, candidates)
        self.is_able = self._subjects_with_enough(units, candidates, wanted)

        # The candidates in the order in which they are enrolled.
        order = by_name(samples)
        if rule.quality is not None:
            quality = _quality_of_samples(samples, rule.quality)
            order = order[np.argsort(-quality[order], kind="stable")]
        order = order[self._is_candidate[order]]
        self._groups = shuffling.ShuffledGroups(order, units.codes[order], len(units))
        #: bool (candidates,): the places whose samples are enrolled, in each draw.
        self._is_enrolled_place = self._groups.place < wanted[self._groups.group]

    def _subjects_with_enough(
        self, units: LabelCodes, candidates: np.ndarray, wanted: np.ndarray
    ) -> np.ndarray:
        """Return which subjects can have all enrolled templates and a probe, bool (subjects,).

        `candidates` and `wanted` (units,) are the templates that a unit may and should enrol.
        """
        rule, subjects = self._rule, self._samples.subjects
        subject_of_unit = np.empty(len(units), dtype=np.int64)
        subject_of_unit[units.codes] = subjects.codes
        available, needed = np.zeros((2, len(subjects)), dtype=np.int64)
        np.add.at(available, subject_of_unit, candidates)
        np.add.at(needed, subject_of_unit, wanted)
        needed = np.maximum(needed, 1)
        # With `enrol`, no candidate probes, whether it is enrolled or not.
        no_probes = needed if rule.enrol is None else available
        has_too_few = (available < needed) | (subjects.counts - no_probes < 1)
        if has_too_few.any() and rule.too_few == "raise":
            needed_by_first = int(needed[np.argmax(has_too_few)])
            need = f"{needed_by_first} to enrol and one to probe"
            if rule.enrol is not None:
                least = 1 if rule.n_gallery is None else needed_by_first
                need = f"{least} to enrol by metadata and another to probe"
            treatments = enumerated([f'`too_few="{x}"`' for x in TOO_FEW[1:]], "or")
            better = f". Better: {_MORE_TEMPLATES}" if has_too_few.all() else ""
            raise DataError(
                f"{self._samples.splitter}: {has_too_few.sum()} of {len(subjects)} subjects have "
                f"too few templates ({subjects.show(np.flatnonzero(has_too_few))}): each needs "
                f"{need}. Choose their treatment: {treatments}{better}"
            )
        return ~has_too_few

    def drawn(
        self, count: int, unenrolled: float | int | None = None, enrolled: float | int | None = None
    ) -> np.ndarray:
        """Return masks of the probes and of the gallery in the next repeats, bool (count, 2, n).

        If `unenrolled` or `enrolled` is given, some subjects are not enrolled.
        """
        rule, n, subjects = self._rule, self._samples.n, self._samples.subjects

        # The masks (count, n), right for subjects with enough templates, who are all enrolled.
        draws = self._gallery_draws if rule._random_gallery else None
        gallery = shuffling.flags(self._groups.drawn(draws, count)[:, self._is_enrolled_place], n)
        probe = ~gallery if rule.enrol is None else np.tile(~self._is_candidate, (count, 1))
        if rule.n_probe is not None:
            probe = self._some_of_each_subject(probe, rule.n_probe)

        # Subjects with too few templates, and subjects who are not enrolled.
        is_able = self.is_able[subjects.codes]
        gallery[:, ~is_able] = rule.too_few == "enrol"
        probe[:, ~is_able] = rule.too_few == "probe"
        if unenrolled is not None or enrolled is not None:
            if unenrolled is not None:
                is_unenrolled = self._drawn_unenrolled(count, unenrolled)
            else:
                is_unenrolled = self._all_but_drawn(count, enrolled)
            is_unenrolled = is_unenrolled[:, subjects.codes]  # (count, n)
            may_probe = np.ones(n, dtype=bool)
            if enrolled is not None and rule.too_few == "drop":
                may_probe = is_able
            gallery &= ~is_unenrolled
            probe = np.where(is_unenrolled, may_probe, probe)
        for name, role in (("gallery", gallery), ("probes", probe)):
            if not role.any(axis=1).all():
                raise DataError(
                    f"{self._samples.splitter}: no {name} left: all subjects that could be "
                    "enrolled have too few templates, with "
                    f'`too_few="{rule.too_few}"`; {_MORE_TEMPLATES}'
                )
        return np.stack([probe, gallery], axis=1)

    def _some_of_each_subject(self, probe: np.ndarray, number: int) -> np.ndarray:
        """Return masks of at most a number of the probes of each subject, bool (count, n)."""
        subjects, n = self._samples.subjects, self._samples.n
        order = by_name(self._samples)
        # Samples that are no probes are a last group, which is left out.
        group = np.where(probe, subjects.codes, len(subjects))[:, order]
        drawn = self._probe_draws.grouped(len(probe), group, len(subjects) + 1)
        # In each repeat, a group has the same number of samples, and so the same places.
        group_at_place = np.sort(group[0])
        place_in_group = np.arange(n) - np.searchsorted(group_at_place, group_at_place)
        is_drawn = (place_in_group < number) & (group_at_place < len(subjects))
        return shuffling.flags(order[drawn[:, is_drawn]], n)

    def _drawn_unenrolled(self, count: int, unenrolled: float | int) -> np.ndarray:
        """Draw the subjects who are not enrolled, bool (count, subjects)."""
        splitter, total = self._samples.splitter, len(self._samples.subjects)
        size = shuffling.as_size(splitter, "unenrolled", unenrolled)
        number = shuffling.number_of_units(size, total, up=True)
        if number >= total:
            raise DataError(
                f"{splitter}: unenrolled is {unenrolled!r}: {number} of {total} "
                "subjects; at least one has to be enrolled"
            )
        order = self._subject_draws.permutations(count, total)
        return shuffling.flags(order[:, :number], total)

    def _all_but_drawn(self, count: int, enrolled: float | int | None) -> np.ndarray:
        """Draw the subjects who are enrolled; return all others, bool (count, subjects)."""
        splitter, total = self._samples.splitter, len(self._samples.subjects)
        able = np.flatnonzero(self.is_able)
        size = shuffling.as_size(splitter, "enrolled", enrolled)
        number = shuffling.number_of_units(size, len(able), up=False)
        if not 1 <= number <= len(able):
            raise DataError(
                f"{splitter}: `enrolled` is {enrolled!r}: {number} "
                f"subjects, but {len(able)} of {total} have templates enough to be "
                f"enrolled and to probe; expected 1 to {len(able)}, or a larger proportion"
            )
        order = self._subject_draws.permutations(count, len(able))
        return ~shuffling.flags(able[order[:, :number]], total)


def _candidates(rule: ProbeGallerySplit, samples: SplitInput) -> np.ndarray:
    """Return which samples may be enrolled by their metadata, bool (n,)."""
    is_candidate = np.ones(samples.n, dtype=bool)
    for name, value in (rule.enrol or {}).items():
        column = samples.labelled(name)
        is_list = isinstance(value, list | tuple | set | frozenset | np.ndarray)
        values = list(value) if is_list else [value]
        codes = [column.code(x) for x in values]
        if not codes or min(codes) < 0:
            missing = values[codes.index(-1)] if codes else value
            raise DataError(
                f"{samples.splitter}: enrol has {name!r}: {missing!r}, but no template "
                f"has this value; meta[{name!r}] has {column.show(np.arange(len(column)), 8)}."
                f"{nearest_name(missing, column.values.tolist()[:10_000])}"
            )
        is_candidate &= np.isin(column.codes, codes)
    return is_candidate


def _wanted_of_units(rule: ProbeGallerySplit, splitter: str, candidates: np.ndarray) -> np.ndarray:
    """Return how many of its candidates (units,) each unit should enrol, at least 1."""
    if rule.n_gallery is None:
        return np.maximum(candidates, 1)
    size = shuffling.as_size(splitter, "n_gallery", rule.n_gallery)
    if isinstance(size, int):
        return np.full(len(candidates), size, dtype=np.int64)
    # A proportion is rounded to the nearest number, a half up despite rounding errors.
    nearest = np.floor(size * candidates + 0.5 + 1e-9).astype(np.int64)
    # Without `enrol` one candidate is left to probe; with it, other templates do.
    largest = candidates - 1 if rule.enrol is None else candidates
    return np.maximum(np.minimum(nearest, largest), 1)


def _quality_of_samples(samples: SplitInput, name: str) -> np.ndarray:
    """Return the column by which the best templates are enrolled, float64 (n,)."""
    quality = samples.numbers(name)
    if quality is None:
        dtype = samples.column(name).dtype
        raise DataError(f"{samples.splitter}: meta[{name!r}] has dtype {dtype}; expected numbers")
    is_missing = np.isnan(quality)
    if is_missing.any():
        raise DataError(
            f"{samples.splitter}: meta[{name!r}] has "
            f"{counted(int(is_missing.sum()), 'missing values')}, the first at position "
            f"{int(np.argmax(is_missing))}; give -inf to what should not be enrolled"
        )
    return quality


class ExperimentParts(NamedTuple):
    """Ascending index arrays of one repeat.

    The threshold is chosen on the validation part, or without validation on the training part.
    Without galleries, the probes and the gallery of a part are both the whole part.
    """

    train: np.ndarray  # may be empty
    validation: np.ndarray  # may be empty
    probes: np.ndarray  # of the test part
    gallery: np.ndarray  # of the test part
    threshold_probes: np.ndarray  # of the part on which the threshold is chosen
    threshold_gallery: np.ndarray


@dataclass(eq=False, repr=False)
class Experiment(Division[ExperimentParts]):
    """Training and test by subject or sample, gallery and probes by sample, PG and PN by subject.

    For :func:`bioeval.cross_evaluate`, which chooses a threshold on the validation part (or the
    training part) and judges it on the test part, and for :func:`bioeval.repeat`, which evaluates
    the test part. The part on which the threshold is chosen is divided like the test part, so
    that the threshold meets galleries alike in both.

    Parameters
    ----------
    train, validation : float, int or None
        A proportion of the subjects in (0, 1), rounded down for training and up for validation, or
        their number. None or 0: there is no such part. All other subjects are tested. With
        ``unit="sample"`` of the templates of each seen subject.
    gallery_templates : int, float, mapping or None
        Templates that each enrolled subject has in the gallery: their number, or a proportion of
        the subject's templates in (0, 1); ``{"quality": "sharpness", "number": 2}`` enrols the
        templates with the largest values in this metadata column, the earlier of two equals; other
        mappings are the metadata of those that are enrolled, such as ``{"session": 1}`` (see
        `enrol` of :class:`ProbeGallerySplit`). The others probe. None: the templates of a part are
        all compared with each other.
    unenrolled : float, int or None
        The proportion of the test subjects in (0, 1) that are not enrolled, rounded up, or their
        number: all their templates probe (PN). The same proportion is left unenrolled where the
        threshold is chosen. None or 0: all are enrolled (PG).
    too_few : {"raise", "enrol", "probe", "drop"}
        Treatment of a subject with too few templates, as for :class:`ProbeGallerySplit`.
    enrolled : float, int or None
        The test subjects that are enrolled, in place of `unenrolled`: their number or the
        proportion of those with templates enough, as for :class:`EnrolledSplit`. The same
        proportion is enrolled where the threshold is chosen.
    probe_templates : int or None
        At most this number of templates of each enrolled subject probe, drawn at random; the others
        are left out. None: all that are not enrolled.
    unit : {"subject", "sample"}
        What training, validation and test divide. By subject, the test subjects are new. By
        sample, seen subjects have templates in training and other templates in the test: at least
        one in each, so that a subject with one template is only tested.
    unseen : float, int or None
        With ``unit="sample"``, the subjects who are only tested, beside those with one template: a
        proportion of the others in (0, 1), rounded up, or their number.
    stratify : str, optional
        A metadata column, such as ``"sex"``: training, validation and test have the same
        proportions of subjects with each of its values, give or take one subject, or two if there
        are three parts. It must be constant within each subject.
    repeats : int
        How often all this is drawn.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws another experiment each time.

    Notes
    -----
    The tree of partitions of the biometrics lecture. The same seed gives the same experiment on
    every platform; more repeats never change those before them.

    Examples
    --------
    >>> import numpy as np
    >>> from bioeval.partition import Experiment
    >>> subject = np.repeat(["ann", "bob", "cem", "dan", "eve", "fay"], 3)
    >>> experiment = Experiment(
    ...     train=2, gallery_templates=1, unenrolled=0.25, repeats=2, random_state=0
    ... )
    >>> for parts in experiment.split(y=subject):
    ...     enrolled, probes = subject[parts.gallery], subject[parts.probes]
    ...     print(np.unique(subject[parts.train]), enrolled, np.setdiff1d(probes, enrolled))
    ['ann' 'fay'] ['bob' 'dan' 'eve'] ['cem']
    ['bob' 'fay'] ['cem' 'dan' 'eve'] ['ann']

    One template in three of each seen subject trains, and one subject is only tested:

    >>> experiment = Experiment(train=1 / 3, unit="sample", unseen=1, random_state=0)
    >>> parts = next(experiment.split(y=subject))
    >>> print(subject[parts.train])
    ['ann' 'bob' 'dan' 'eve' 'fay']
    """

    train: float | int | None = None
    validation: float | int | None = None
    gallery_templates: int | float | Mapping[str, Any] | None = None
    unenrolled: float | int | None = None
    _: KW_ONLY
    too_few: TooFew = "raise"
    enrolled: float | int | None = None
    probe_templates: int | None = None
    unit: PartitionUnit = "subject"
    unseen: float | int | None = None
    stratify: str | None = None
    repeats: int = 1
    random_state: RandomState = None

    _parts = ExperimentParts

    def __post_init__(self) -> None:
        experiment = type(self).__name__
        check_sizes(experiment, self._sizes)
        require_choice(f"{experiment}: unit", self.unit, UNITS)
        require_integer(f"{experiment}: repeats", self.repeats, low=1, of_draws=True)
        require_seed(self.random_state)
        for name in ("unseen", "unenrolled", "enrolled"):
            if not _is_absent(getattr(self, name)):
                shuffling.as_size(experiment, name, getattr(self, name))
        require_column(experiment, self.stratify)
        rule = self.gallery_templates
        options: dict[str, Any] = {"too_few": self.too_few, "n_probe": self.probe_templates}
        self._galleries = None
        if isinstance(rule, Mapping) and set(rule) == {"quality", "number"}:
            shuffling.as_size(experiment, "number in gallery_templates", rule["number"])
            options["quality"] = rule["quality"]
            self._galleries = ProbeGallerySplit(rule["number"], **options)
        elif isinstance(rule, Mapping):
            self._galleries = ProbeGallerySplit(enrol=rule, **options)
        elif rule is not None:
            shuffling.as_size(experiment, "gallery_templates", rule)
            self._galleries = ProbeGallerySplit(rule, **options)
        parts, enrols = "`train=0.5`", "`gallery_templates=2`"
        if not self.by_subject:
            self._require(self.chooses, parts, "unit")
        self._require(not self.by_subject, '`unit="sample"`', "unseen")
        self._require(self.chooses, parts, "stratify")
        self._require(self.by_subject, '`unit="subject"`', "stratify")
        self._require(self.has_galleries, enrols, "unenrolled", "enrolled")
        self._require(_is_absent(self.unenrolled), "`unenrolled=0`", "enrolled")
        self._require(self.has_galleries, enrols, "probe_templates")
        if self.enrolled is not None and self._galleries is not None:
            EnrolledSplit(self._galleries, enrolled=self.enrolled)  # refuses impossible sizes

    def _require(self, is_met: bool, need: str, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not is_met and not _is_absent(value):
                raise DataError(
                    f"{type(self).__name__}: `{name}` is {received(value)}, which needs {need}"
                )

    @property
    def _sizes(self) -> dict[str, float | int | None]:
        parts = {"train_size": self.train, "validation_size": self.validation}
        return {**{k: v for k, v in parts.items() if not _is_absent(v)}, "test_size": None}

    @property
    def by_subject(self) -> bool:
        """Whether whole subjects are divided into training, validation and test."""
        return self.unit == "subject"

    @property
    def chooses(self) -> bool:
        """Whether there is a part to choose a threshold on."""
        return len(self._sizes) > 1

    @property
    def has_galleries(self) -> bool:
        """Whether parts are divided into gallery and probes."""
        return self._galleries is not None

    @property
    def impostors(self) -> str:
        """Which probes are the impostors of open-set identification unless said otherwise."""
        not_all = not _is_absent(self.unenrolled) or self.enrolled is not None
        if not_all or (self.has_galleries and self.too_few == "probe"):
            return "unenrolled"
        return "leave-subject-out"

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of repeats; the arguments are not needed."""
        return self.repeats

    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        seed = seed_sequence(self.random_state)
        # The part of the threshold has draws of its own, so that it does not change the test part.
        second_seed = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 1))
        draws, draws_of_threshold = enrolment_draws(seed), enrolment_draws(second_seed)
        for block in self._divided(samples, seed):
            if self._galleries is None:
                train, validation, test = np.moveaxis(block, 1, 0)  # each (repeats, n)
                chosen_on = np.where(validation.any(axis=1, keepdims=True), validation, train)
                yield np.stack([train, validation, test, test, chosen_on, chosen_on], axis=1)
                continue
            masks = np.zeros((len(block), len(ExperimentParts._fields), samples.n), dtype=bool)
            masks[:, :2] = block[:, :2]
            for mask, (train, validation, test) in zip(masks, block, strict=True):
                unenrolled = self._size_of("unenrolled", samples.splitter)
                enrolled = self._size_of("enrolled", samples.splitter)
                part = samples.select(np.flatnonzero(test))
                enrolment = Enrolment(self._galleries, part, draws)
                mask[2:4, test] = enrolment.drawn(1, unenrolled, enrolled)[0]
                chosen_on = validation if validation.any() else train
                if not chosen_on.any():
                    continue
                # The same proportion is enrolled where the threshold is chosen, not the number.
                if isinstance(unenrolled, int):
                    unenrolled = min(unenrolled / len(part.subjects), 1 - 1e-9)
                if isinstance(enrolled, int):
                    enrolled = min(enrolled / int(np.count_nonzero(enrolment.is_able)), 1 - 1e-9)
                part = samples.select(np.flatnonzero(chosen_on), "part of the threshold")
                enrolment = Enrolment(self._galleries, part, draws_of_threshold)
                mask[4:, chosen_on] = enrolment.drawn(1, unenrolled, enrolled)[0]
            yield masks

    def _size_of(self, name: str, splitter: str) -> int | float | None:
        """Return the option `unenrolled` or `enrolled` as a size; None if it asks for nothing."""
        value = getattr(self, name)
        return None if _is_absent(value) else shuffling.as_size(splitter, "size", value)

    def _divided(self, samples: SplitInput, seed: np.random.SeedSequence) -> Iterator[np.ndarray]:
        """Yield masks of training, validation and test in some repeats, bool (repeats, 3, n)."""
        if not self.by_subject:
            yield from self._parts_by_sample(samples, seed)
            return
        has_part = ["train_size" in self._sizes, "validation_size" in self._sizes, True]
        if self.chooses:
            strata = samples.strata(self.stratify, by_subject=True)
            blocks = drawn_parts(samples, True, self._sizes, seed, self.repeats, strata)
        else:
            counts = shuffling.blocks(self.repeats, samples.n)
            blocks = (np.ones((count, 1, samples.n), dtype=bool) for count in counts)
        for block in blocks:
            parts = np.zeros((len(block), 3, samples.n), dtype=bool)
            parts[:, has_part] = block
            yield parts

    def _parts_by_sample(
        self, samples: SplitInput, seed: np.random.SeedSequence
    ) -> Iterator[np.ndarray]:
        """Yield masks as `_divided`; a subject with one template, or not seen, is only tested."""
        subjects = samples.subjects
        able = np.flatnonzero(subjects.counts > 1)  # the subjects that can be seen in training
        unseen = 0
        if not _is_absent(self.unseen):
            size = shuffling.as_size(samples.splitter, "unseen", self.unseen)
            unseen = shuffling.number_of_units(size, len(able), up=True)
        if unseen >= len(able):
            raise DataError(
                f"{samples.splitter}: {unseen} of the {len(able)} subjects with two templates or "
                "more are unseen; at least one has to be seen in training: fewer `unseen` "
                f"subjects, or more templates of the {len(subjects)} subjects"
            )
        # How many templates of each seen subject train, and train or validate. Training has its
        # share of the templates, rounded down, but at least one; validation has its share, rounded
        # up; and the test has at least one.
        templates = subjects.counts
        rounding = 1e-12 * templates  # 0.07 of 100 is 7, not 7.000000000000001
        number: Any = self.train or 0
        if not isinstance(number, int):
            number = np.floor(number * templates + rounding)
        trained = np.clip(number, not _is_absent(self.train), templates - 1).astype(np.int64)
        number = self.validation or 0
        if not isinstance(number, int):
            number = np.ceil(number * templates - rounding)
        validated = np.clip(number, 0, templates - 1 - trained).astype(np.int64)
        not_tested = trained + validated
        draws = shuffling.stream(seed, shuffling.SAMPLE_PARTS)
        draws_of_subjects = shuffling.stream(seed, shuffling.UNSEEN)
        order = by_name(samples)
        groups = shuffling.ShuffledGroups(order, subjects.codes[order], len(subjects))
        for count in shuffling.blocks(self.repeats, samples.n):
            seen = able[draws_of_subjects.permutations(count, len(able))[:, unseen:]]
            is_seen = shuffling.flags(seen, len(subjects))
            place = np.empty((count, samples.n), dtype=np.int64)
            np.put_along_axis(place, groups.drawn(draws, count), groups.place[None], axis=1)
            is_train = place < np.where(is_seen, trained, 0)[:, subjects.codes]
            is_test = place >= np.where(is_seen, not_tested, 0)[:, subjects.codes]
            yield np.stack([is_train, ~is_train & ~is_test, is_test], axis=1)


def _is_absent(size: object) -> bool:
    """Whether an argument asks for nothing: None or 0, but not False, which is no size."""
    return size is None or (isinstance(size, int | float) and size == 0 and size is not False)

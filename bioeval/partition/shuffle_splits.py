"""Random splitters into training and test, or training, validation and test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError
from bioeval.base.random import RandomState, seed_sequence
from bioeval.partition import shuffling
from bioeval.partition.base import Division, Splitter, TrainTest
from bioeval.partition.samples import SplitInput

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
    n_splits : int
        Number of splits.
    test_size, train_size : float, int or None
        A proportion of the samples in (0, 1) or their number; as for :class:`SubjectShuffleSplit`.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws other partitions each time.

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
    n_splits : int
        Number of splits.
    random_state : int, None, numpy.random.SeedSequence, Generator or RandomState
        The seed. None draws another partition each time.

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
    counts = _count_units(samples.splitter, sizes, total, units)
    shuffle = shuffling.Shuffle(total, strata, seed, purpose)
    for count in shuffling.blocks(repeats, samples.n):
        part_of_sample = shuffle.parts(count, counts)[:, unit_of_sample]
        yield part_of_sample[:, None] == np.arange(len(sizes))[:, None]


def _count_units(splitter: str, sizes: Mapping[str, Any], total: int, units: str) -> list[int]:
    counts = {}
    for name, size in sizes.items():
        if size is not None:
            checked = shuffling.as_size(splitter, name, size)
            counts[name] = shuffling.number_of_units(checked, total, up=name != "train_size")
    remaining = total - sum(counts.values())
    for name, size in sizes.items():
        if size is None:
            counts[name] = remaining
            remaining = 0
    if remaining < 0 or min(counts.values()) < 1:
        listed = ", ".join(f"{name.removesuffix('_size')} {counts[name]}" for name in sizes)
        raise DataError(
            f"{splitter}: the sizes ask for {listed} of {total} {units}; each part needs at least "
            "one, and all together no more than there are"
        )
    return [counts[name] for name in sizes]

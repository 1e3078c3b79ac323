"""Folds as given: by the publisher of a data set, or by another program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, nearest_name
from bioeval.partition.base import Splitter, TrainTest, require_flag
from bioeval.partition.samples import LabelCodes, SplitInput


class _Given(Splitter[TrainTest]):
    _what = "sample"

    def __init__(self, given: Any, name: str, folds: Sequence | None, disjoint_subjects: bool):
        who = type(self).__name__
        self.folds, self.disjoint_subjects = folds, disjoint_subjects
        require_flag(who, "disjoint_subjects", disjoint_subjects)
        labels = LabelCodes(given, f"{who}: {name}")
        if not len(labels):
            raise DataError(f"{who}: {name} is empty; expected the fold of each {self._what}")
        untested = labels.code(-1)
        found = [code for code in range(len(labels)) if code != untested]
        order = found if folds is None else self._in_order(labels, found, name)
        if len(order) < 2 and (untested < 0 or not order):
            raise DataError(
                f"{who}: {name} has {len(order)} folds to test; expected at least 2, or one and "
                "-1 for samples that are never tested"
            )
        number = np.full(len(labels), -1, dtype=np.int64)
        number[order] = np.arange(len(order))
        self._fold, self._n_splits = number[labels.codes], len(order)
        self._fold_names = [*labels.values[order].tolist(), -1]

    def _in_order(self, labels: LabelCodes, found: list[int], name: str) -> list[int]:
        who = type(self).__name__
        listed = LabelCodes(self.folds, f"{who}: folds")
        wanted = [] if self.folds is None else list(self.folds)
        order = [labels.code(fold) for fold in wanted]
        if len(listed) < len(wanted):
            raise DataError(f"{who}: folds names a fold more than once; expected each once")
        for fold, code in zip(wanted, order, strict=True):
            if code not in found:
                near = nearest_name(fold, labels.values.tolist())
                raise DataError(
                    f"{who}: the fold {fold!r} has no {self._what} to test; {name} has "
                    f"{labels.show(np.array(found), 12)}.{near}"
                )
        unlisted = np.array([code for code in found if code not in order], dtype=np.int64)
        if len(unlisted):
            raise DataError(
                f"{who}: {name} has {labels.show(unlisted)}, not listed in folds; list every "
                "fold, or leave folds out"
            )
        return order

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; the arguments are not needed."""
        return self._n_splits

    def _splits(self, samples: SplitInput) -> Iterator[TrainTest]:
        if samples.n != len(self._fold):
            raise DataError(
                f"{samples.who}: folds are given for {len(self._fold)} {self._what}s, but there "
                f"are {samples.n}; expected one for each"
            )
        if self.disjoint_subjects:
            self._require_disjoint(samples)
        for k in range(self._n_splits):
            yield np.flatnonzero(self._fold != k), np.flatnonzero(self._fold == k)

    def _subjects(self, samples: SplitInput) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return codes of subjects, the fold of each, and the labels of the codes."""
        return samples.subjects.codes, self._fold, samples.subjects.values

    def _require_disjoint(self, samples: SplitInput) -> None:
        codes, fold, values = self._subjects(samples)
        first = np.empty(len(values), dtype=np.int64)
        first[codes[::-1]] = fold[::-1]
        twice = np.flatnonzero(fold != first[codes])
        if len(twice):
            subject = codes[twice[0]]
            label = values[subject : subject + 1].tolist()[0]
            raise DataError(
                f"{samples.who}: {len(np.unique(codes[twice]))} subjects are in several folds, "
                f"such as {label!r} in the folds {self._fold_names[first[subject]]!r} and "
                f"{self._fold_names[fold[twice[0]]]!r}; expected each subject in one fold, or "
                "disjoint_subjects=False"
            )


class PredefinedFolds(_Given):
    """Folds as given, one for each sample.

    Each fold is tested once, and all others are trained on.

    Parameters
    ----------
    fold_of_sample : sequence of hashable, shape (n,)
        The fold of each sample: numbers or names. The number -1 marks samples that are never
        tested and always trained on, as in scikit-learn's ``PredefinedSplit``.
    folds : sequence, optional
        The folds in the order wanted. Each must have a sample, and no sample may be in another.
        Without it, the folds are taken in sorted order.
    disjoint_subjects : bool
        Refuse folds that share a subject.

    Examples
    --------
    >>> from bioeval.partition import PredefinedFolds
    >>> for train, test in PredefinedFolds(["b", "a", "a", "b", "c"]).split(X=range(5)):
    ...     print(train, test)
    [0 3 4] [1 2]
    [1 2 4] [0 3]
    [0 1 2 3] [4]
    """

    def __init__(
        self, fold_of_sample: Any, *, folds: Sequence | None = None, disjoint_subjects: bool = False
    ):
        self.fold_of_sample = fold_of_sample
        super().__init__(fold_of_sample, "fold_of_sample", folds, disjoint_subjects)


class PredefinedPairFolds(_Given):
    """Folds of fixed pairs as given, one for each pair, such as the ten of LFW's view 2.

    The samples are pairs here: ``split`` takes pair scores (or anything with one entry a pair)
    and yields indices of pairs.

    Parameters
    ----------
    fold_of_pair : sequence of hashable, shape (p,)
        The fold of each pair; -1 as for :class:`PredefinedFolds`.
    folds : sequence, optional
        As for :class:`PredefinedFolds`.
    disjoint_subjects : bool
        Refuse folds that share a subject. The subjects of both sides, shape (p, 2), are taken
        from the pair scores or given as `groups`.

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

    _what = "pair"

    def __init__(
        self, fold_of_pair: Any, *, folds: Sequence | None = None, disjoint_subjects: bool = False
    ):
        self.fold_of_pair = fold_of_pair
        super().__init__(fold_of_pair, "fold_of_pair", folds, disjoint_subjects)

    def _subjects(self, samples: SplitInput) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sides = samples.pairs
        return sides.reshape(-1), np.repeat(self._fold, 2), samples.pair_values

"""The test fold of each sample as an integer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from bioeval.base.arguments import require_list
from bioeval.base.errors import Argument, DataError, counted, received
from bioeval.partition.base import LabelCodes, SplitInput, Splitter, SplitterLike
from bioeval.partition.enrolment import EnrolledSplit, GalleryKFold, ProbeGallerySplit
from bioeval.partition.experiment import Experiment
from bioeval.partition.shuffle_splits import TrainValidationTest
from bioeval.scores.labels import as_labels
from bioeval.scores.matrix import Scores, are_pairs

_WITHOUT_FOLDS = (ProbeGallerySplit, EnrolledSplit, GalleryKFold, TrainValidationTest, Experiment)


class ListedParts:
    """Pairs (training, test) that are listed, in the form of a splitter of scikit-learn."""

    def __init__(self, parts: Iterable[Any]):
        """Check the pairs, and keep them, so that they can be read again."""
        self.parts = list(parts)
        if not self.parts or not all(map(_are_two_lists, self.parts)):
            raise DataError(
                Argument("splitter"),
                f" is {received(self.parts)}; expected an object with split(), or a list of pairs "
                "(training, test) of indices",
            )

    def __repr__(self) -> str:
        return f"{counted(len(self.parts), 'listed pairs')} of training and test"

    def split(self, X: object, y: object, groups: object) -> list[Any]:
        """Return the pairs, whatever is divided."""
        return self.parts


def _are_two_lists(pair: Any) -> bool:
    try:
        arrays = [np.asarray(part) for part in pair]
    except (TypeError, ValueError):
        return False
    whole = [array.dtype.kind in "iu" or not array.size for array in arrays]
    return len(arrays) == 2 and all(whole) and all(array.ndim == 1 for array in arrays)


def as_splitter(splitter: Any) -> Any:
    """Return a splitter, or one of the pairs (training, test) that are listed."""
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
    """Return what messages call a splitter."""
    if isinstance(splitter, ListedParts):
        return "the list of splits"
    return type(splitter).__name__


def fold_codes(splitter: SplitterLike, labels: Any, *, meta: Mapping | None = None) -> np.ndarray:
    """Return the number of the fold in which each sample is tested.

    Parameters
    ----------
    splitter : splitter
        Of this package or of scikit-learn; each fold is tested once, with all other samples for
        training.
    labels : sequence of hashable, or Scores
        The subject of each sample; or all-against-all or pair scores.
    meta : mapping of str to sequence, optional
        Metadata columns, for a splitter that needs them.

    Returns
    -------
    ndarray of int64, shape (n,)
        Folds count from 0 in the order in which the splitter yields them; -1 marks samples
        that are never tested (and always trained on).

    Raises
    ------
    DataError
        If the splitter has repeats (see :func:`repeated_fold_codes`), or no such folds.

    Examples
    --------
    >>> from bioeval.partition import SubjectKFold, fold_codes
    >>> fold_codes(SubjectKFold(2), ["cem", "ann", "bob", "cem", "ann"])
    array([1, 0, 0, 1, 0])
    """
    codes = repeated_fold_codes(splitter, labels, meta=meta)
    if len(codes) > 1:
        raise DataError(
            f"{type(splitter).__name__} tests each sample {len(codes)} times; use "
            "repeated_fold_codes, with a row for each repeat"
        )
    return codes[0]


def repeated_fold_codes(
    splitter: SplitterLike, labels: Any, *, meta: Mapping | None = None
) -> np.ndarray:
    """Return the number of the fold in which each sample is tested, for each repeat.

    Parameters
    ----------
    splitter, labels, meta
        As for :func:`fold_codes`.

    Returns
    -------
    ndarray of int64, shape (n_repeats, n)

    Examples
    --------
    >>> from bioeval.partition import RepeatedSubjectKFold, repeated_fold_codes
    >>> splitter = RepeatedSubjectKFold(2, n_repeats=3, random_state=0)
    >>> repeated_fold_codes(splitter, ["ann", "ann", "bob", "cem"])
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [0, 0, 1, 0]])
    """
    splitter = as_splitter(splitter)
    name = name_of(splitter)
    if isinstance(splitter, _WITHOUT_FOLDS):
        raise DataError(f"{name} has no folds: its parts play different roles")
    if isinstance(labels, Scores):
        n = labels.shape[0]
    else:
        n = len(require_list("labels", labels))
        as_labels(labels, Argument("labels"), n)
    rows: list[np.ndarray] = []
    fold = 0
    no_person = np.empty(0, dtype=np.int64)
    if isinstance(splitter, Splitter) and isinstance(labels, Scores):
        no_person = np.flatnonzero(SplitInput(name, labels, None, None, meta).no_person)
    for train, part in _splits(splitter, labels, meta):
        test = np.setdiff1d(part, no_person) if len(no_person) else part
        trained = np.zeros(n, dtype=bool)
        trained[train] = True
        if len(train) + len(test) != n or trained[test].any():
            raise DataError(f"{name} has no folds: some samples are in neither part, or in both")
        if not rows or (rows[-1][test] >= 0).any():
            rows.append(np.full(n, -1, dtype=np.int64))
            fold = 0
        rows[-1][test] = fold
        fold += 1
    codes = np.array(rows)
    if ((codes >= 0) != (codes[0] >= 0)).any():
        raise DataError(f"{name} has no folds: some samples are tested more often than others")
    return codes


def _splits(splitter: Any, labels: Any, meta: Mapping | None) -> Iterable:
    """Return the splits of labels by any splitter, with metadata where it takes them."""
    if isinstance(splitter, Splitter):
        if isinstance(labels, Scores):
            return splitter.split(labels, meta=meta)
        return splitter.split(y=labels, meta=meta)
    if isinstance(labels, Scores):
        labels = labels.genuine if are_pairs(labels) else labels.probe_labels
    codes = LabelCodes(labels, "labels").codes
    return _splits_of_other(splitter, codes, codes)


def split_samples(
    splitter: Any, n: int, labels: Any, groups: Any, meta: Mapping | None
) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield the parts of `n` samples from a splitter of this package or of scikit-learn."""
    if isinstance(splitter, Splitter | TrainValidationTest):
        yield from splitter.split(range(n), labels, groups, meta=meta)
        return
    codes = np.zeros(n) if labels is None else LabelCodes(labels, "labels").codes
    by = codes
    if groups is not None and np.ndim(groups) <= 1:
        by = LabelCodes(groups, "groups").codes
    for parts in _splits_of_other(splitter, codes, by):
        if hasattr(parts, "_fields"):
            yield parts
        elif isinstance(parts, tuple | list) and len(parts) == 2:
            yield tuple(parts)
        else:
            raise DataError(
                f"{name_of(splitter)} yields {type(parts).__name__}; expected pairs (training, "
                "test) of indices"
            )


def _splits_of_other(splitter: Any, codes: np.ndarray, groups: np.ndarray) -> list[Any]:
    """Return the parts of samples from a splitter of scikit-learn."""
    with warnings.catch_warnings():
        # Whether a scikit-learn splitter uses y or groups cannot be known beforehand.
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
        return list(splitter.split(np.zeros((len(codes), 1)), codes, groups))

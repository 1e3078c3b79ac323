"""Confidence intervals of the AUC: DeLong, and the jackknife by subject."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from bioeval.base.arguments import CONFIDENCE, check_confidence, require_array, require_numbers
from bioeval.base.errors import DataError, require_choice
from bioeval.base.kinds import VALUED, Kind, larger_is_closer
from bioeval.scores.disjoint import disjoint_among
from bioeval.scores.labels import Codes, as_labels
from bioeval.stats.options import IntervalOptions
from bioeval.stats.replicates import Interval, open_limits


def delong(
    genuine: Any,
    impostor: Any,
    confidence: float = CONFIDENCE,
    kind: Kind = "distance",
) -> Interval:
    """Return the AUC with the interval of DeLong, DeLong and Clarke-Pearson.

    **It assumes independent attempts.** Attempts that share a subject are dependent, and the
    interval is then far too narrow: use the subject bootstrap.

    Parameters
    ----------
    genuine, impostor : array_like of float, shape (g,) and (i,)
        The scores of each class; infinite ones are legal, NaN is not.
    confidence : float
        Two-sided confidence level.
    kind : {"distance", "similarity", "llr"}

    Returns
    -------
    Interval
        NaN where a class has no attempt; the limits are NaN where a class has only one.

    Notes
    -----
    DeLong, DeLong and Clarke-Pearson (1988), Biometrics 44. Ties count one half. By sorting, as
    in Sun and Xu (2014), IEEE Signal Processing Letters 21.

    Examples
    --------
    >>> from bioeval import stats
    >>> found = stats.delong([0.1, 0.2, 0.5, 0.4], [0.3, 0.6, 0.9, 0.8, 0.7])
    >>> print(f"{found.estimate:.2f} [{found.low:.3f}, {found.high:.3f}]")
    0.90 [0.674, 1.000]
    """
    require_choice("kind", kind, VALUED)
    confidence = check_confidence(confidence)
    sign = -1.0 if larger_is_closer(kind) else 1.0
    g = _scores(genuine, "genuine") * sign
    i = _scores(impostor, "impostor") * sign
    label = "delong (independent attempts)"
    if not len(g) or not len(i):
        return Interval(np.nan, np.nan, np.nan, confidence, label)
    right, left = _right(g, np.sort(i)) / len(i), _below(i, np.sort(g)) / len(g)
    area = float(right.mean())
    if min(len(g), len(i)) < 2:
        return Interval(area, np.nan, np.nan, confidence, label)
    spread = np.sqrt(right.var(ddof=1) / len(g) + left.var(ddof=1) / len(i))
    half = float(scipy.special.ndtri(0.5 + confidence / 2) * spread)
    return Interval(area, max(0.0, area - half), min(1.0, area + half), confidence, label)


def auc_jackknife(
    genuine: Any,
    subjects: Any,
    impostor: Any,
    pairs: Any,
    confidence: float = CONFIDENCE,
    kind: Kind = "distance",
) -> Interval:
    """Return the AUC with a normal interval from the jackknife by subject.

    A check of the subject bootstrap that draws no random numbers.

    Parameters
    ----------
    genuine : array_like of float, shape (g,)
        Scores; infinite ones are legal, NaN is not.
    subjects : array_like, shape (g,)
        The subject of each genuine attempt.
    impostor : array_like of float, shape (i,)
    pairs : array_like, shape (i, 2)
        The two subjects of each impostor attempt.
    confidence : float
        Two-sided confidence level.
    kind : {"distance", "similarity", "llr"}

    Returns
    -------
    Interval
        Clipped to [0, 1]. Where the AUC is exactly 1 (or 0), a one-sided bound by subjects. The
        estimate is NaN where a class has no attempt; the limits are NaN where a class has no
        attempt without one of the subjects.

    Notes
    -----
    Without subject ``a`` there are neither the genuine attempts of ``a`` nor the impostor attempts
    with ``a`` on either side. With ``x_a`` the AUC of what is left, ``m`` the mean of these and
    ``n`` subjects, the variance is ``(n - 1) / n * sum_a (x_a - m)^2`` (Efron and Tibshirani 1993,
    An Introduction to the Bootstrap, chapter 11).

    Examples
    --------
    >>> import numpy as np
    >>> import bioeval as be
    >>> scores = be.simulate(60, 4, within=0.8, random_state=1)
    >>> i, j = np.triu_indices(240, 1)
    >>> who = np.stack([scores.probe_labels[i], scores.probe_labels[j]], axis=1)
    >>> value, same = scores.values[i, j], who[:, 0] == who[:, 1]
    >>> found = be.stats.auc_jackknife(value[same], who[same, 0], value[~same], who[~same])
    >>> print(f"{found.estimate:.4f} [{found.low:.4f}, {found.high:.4f}]")
    0.9635 [0.9517, 0.9754]
    """
    require_choice("kind", kind, VALUED)
    confidence = check_confidence(confidence)
    sign = -1.0 if larger_is_closer(kind) else 1.0
    g = _scores(genuine, "genuine") * sign
    i = _scores(impostor, "impostor") * sign
    owner, left_of, other = _people(subjects, pairs, len(g), len(i))
    label = "jackknife (by subject)"
    if not len(g) or not len(i):
        return Interval(np.nan, np.nan, np.nan, confidence, label)
    order = np.argsort(i, kind="stable")
    i, left_of, other = i[order], left_of[order], other[order]
    who = np.unique(np.concatenate([owner, left_of, other]))
    owner = np.searchsorted(who, owner)
    left_of = np.searchsorted(who, left_of)
    other = np.searchsorted(who, other)
    n = len(who)

    def of(person: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(person, weights, minlength=n)

    right, left = _right(g, i), _below(i, np.sort(g))
    # Pairs of a genuine and an impostor score without each subject: all of them, less those with
    # a genuine score of the subject, less those with an impostor one, plus those with both.
    both, genuine_of, impostor_of = np.zeros(n), of(owner), of(left_of) + of(other)
    mine = _of_each(owner, n)
    for side in (left_of, other):
        theirs = _of_each(side, n)
        for a in range(n):
            both[a] += _right(g[mine[a]], i[theirs[a]]).sum()
    whole = float(right.sum())
    kept = whole - of(owner, right) - of(left_of, left) - of(other, left) + both
    attempts = (len(g) - genuine_of) * (len(i) - impostor_of)
    area = whole / (len(g) * len(i))
    people = IntervalOptions.trials_of(int((genuine_of > 0).sum()))
    trials = min(people, disjoint_among(left_of, other, n))
    if not attempts.all():
        trials = 0
    without = kept / np.maximum(attempts, 1)
    half = float(scipy.special.ndtri(0.5 + confidence / 2)) * np.sqrt((n - 1) * without.var())
    limits = np.array(max(area - half, 0.0)), np.array(min(area + half, 1.0))
    low, high = open_limits(np.array(area), *limits, trials, confidence)
    return Interval(area, float(low), float(high), confidence, label)


def _of_each(person: np.ndarray, number: int) -> list[np.ndarray]:
    """Return the ascending positions of each subject."""
    if number < 1 << 16:
        person = person.astype(np.uint16)  # sorts several times faster
    counts = np.bincount(person, minlength=number)
    return np.split(np.argsort(person, kind="stable"), np.cumsum(counts)[:-1])


def _right(genuine: np.ndarray, impostor: np.ndarray) -> np.ndarray:
    """Return the number of sorted impostor scores above each genuine one, ties as one half."""
    below = np.searchsorted(impostor, genuine) + np.searchsorted(impostor, genuine, "right")
    return len(impostor) - below / 2


def _below(impostor: np.ndarray, genuine: np.ndarray) -> np.ndarray:
    """Return the number of sorted genuine scores below each impostor one, ties as one half."""
    return (np.searchsorted(genuine, impostor) + np.searchsorted(genuine, impostor, "right")) / 2


def _people(
    subjects: Any, pairs: Any, genuine: int, impostor: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return codes of the subject of each genuine, and both of each impostor, attempt."""
    compared, owner = require_array("pairs", pairs), require_array("subjects", subjects)
    if owner.shape != (genuine,):
        raise DataError(
            f"subjects has shape {owner.shape}; expected ({genuine},), the subject of each genuine "
            "attempt"
        )
    if compared.size == 0:
        compared = compared.reshape(0, 2)
    if compared.shape != (impostor, 2):
        raise DataError(
            f"pairs has shape {compared.shape}; expected ({impostor}, 2), the two subjects of each "
            "impostor attempt"
        )
    codes = Codes(as_labels(subjects, "subjects"), as_labels(compared.ravel().tolist(), "pairs"))
    one, other = codes.gallery[::2], codes.gallery[1::2]
    if (one == other).any():
        same = one == other
        at = int(np.argmax(same))
        raise DataError(
            f"{int(same.sum())} impostor attempts compare a subject with itself, the first is "
            f"pairs[{at}]: {compared[at].tolist()}"
        )
    return codes.probe, one, other


def _scores(values: Any, name: str) -> np.ndarray:
    array = require_numbers(name, values)
    if array.ndim != 1 or np.isnan(array).any():
        raise DataError(f"{name} has shape {array.shape}; expected one dimension without NaN")
    return array

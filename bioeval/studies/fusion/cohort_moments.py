"""Mean and standard deviation of the scores of templates against a cohort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import larger_is_closer
from bioeval.scores.labels import plain


class CohortMoments(NamedTuple):
    """Mean and standard deviation of cohort scores, one per template."""

    mean: np.ndarray
    sd: np.ndarray


def moments_of_rows(
    values: np.ndarray,
    top: int | None,
    kind: str,
    input_name: str,
    labels: Sequence[Any] | np.ndarray,
    done: int = 0,
) -> CohortMoments:
    """Return mean and standard deviation of the finite scores of each row, or of the closest.

    Raise :class:`DataError` where a row has too few of them, or none that differ; `labels` name the
    rows, of which the first is template `done`.
    """
    closer = -1.0 if larger_is_closer(kind) else 1.0
    finite = np.isfinite(values)
    number = finite.sum(axis=1)
    least = top or 1
    few = f"{input_name} has fewer than {counted(least, 'finite scores')} of"
    _refuse(number < least, done, labels, few)
    if top is not None and top < values.shape[1]:
        ordered = np.where(finite, closer * values, np.inf)
        values = closer * np.sort(np.partition(ordered, top - 1, axis=1)[:, :top], axis=1)
        finite, number = np.isfinite(values), np.full(len(values), top)
    with np.errstate(invalid="ignore"):
        mean = np.where(finite, values, 0.0).sum(axis=1) / number
        spread = np.where(finite, values - mean[:, None], 0.0)
        sd = np.sqrt(np.square(spread).sum(axis=1) / number)
        largest = np.where(finite, values, -np.inf).max(axis=1)
        same = largest == np.where(finite, values, np.inf).min(axis=1)
    no_spread = f"{input_name} has no spread (standard deviation 0) in the scores of"
    _refuse(same | (sd == 0), done, labels, no_spread)
    return CohortMoments(mean, sd)


def _refuse(
    wrong: np.ndarray, done: int, labels: Sequence[Any] | np.ndarray, statement: str
) -> None:
    if wrong.any():
        first = int(np.argmax(wrong))
        raise DataError(
            f"{statement} {counted(int(wrong.sum()), 'templates')}, the first is template "
            f"{done + first} ({plain(labels[first])!r}); leave them out, or give a larger cohort"
        )

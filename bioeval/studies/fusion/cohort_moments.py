"""Scores of templates against a cohort, and their mean and standard deviation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from bioeval.base.errors import Argument, DataError, counted
from bioeval.base.kinds import larger_is_closer
from bioeval.base.memory import require_memory
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people

# Cells that are worked on together.
_BLOCK = 1 << 20


class CohortMoments(NamedTuple):
    """Mean and standard deviation of cohort scores, one per template."""

    mean: np.ndarray
    sd: np.ndarray


def require_cells(rows: int, columns: int) -> None:
    """Raise unless the scores of templates against a cohort fit into memory."""
    require_memory(
        8 * rows * columns,
        f"the scores of {rows:,} templates against a cohort of {columns:,}",
        "give a smaller cohort",
    )


def cells_of_matrix(cohort: Scores, by_rows: bool, input_name: str) -> np.ndarray:
    """Return the scores of a matrix with a template of the data in each row.

    They are NaN for a template or a subject against itself, and where the mask leaves them out.
    """
    m, n = cohort.shape
    require_cells(*(cohort.shape if by_rows else cohort.shape[::-1]))
    codes = cohort.codes if knows_people(cohort) else None
    parts = []
    step = max(1, _BLOCK // max(1, n))
    for low in range(0, m, step):
        high = min(low + step, m)
        values = np.array(cohort.cells.read(low, high), dtype=np.float64)
        left_out = cohort.probe_ids[low:high, None] == cohort.gallery_ids
        if codes is not None:
            left_out |= codes.probe[low:high, None] == codes.gallery
        if (ignored := left_out_rows(cohort, low, high)) is not None:
            left_out |= ignored
        failed = np.argwhere(np.isnan(values) & ~left_out)
        if len(failed) and cohort.nan == "raise":
            i, j = failed[0].tolist()
            refuse_failed(len(failed), f"at row {low + i}, column {j}", input_name)
        values[left_out] = np.nan
        parts.append(values)
    values = np.concatenate(parts)
    return values if by_rows else values.T


def refuse_failed(number: int, where: str, input_name: str) -> NoReturn:
    """Raise :class:`DataError` of failed comparisons, of which the scores say nothing."""
    raise DataError(
        f"{input_name} holds {counted(number, 'failed comparisons')} (NaN), the first {where}; "
        f"choose how to treat failed comparisons: with {Argument('nan', 'reject')} or "
        f"{Argument('nan', 'exclude')} they are left out of mean and standard deviation"
    )


def require_other_people(people: Iterable[Any], data: set[Any], cohort: str, whose: str) -> None:
    """Raise :class:`DataError` where people of the data are in the cohort."""
    if shared := [label for label in dict.fromkeys(people) if label in data]:
        raise DataError(
            f"{cohort} shares {counted(len(shared), 'subjects')} with {whose}, the first is "
            f"{shared[0]!r}; expected other people"
        )


def moments_of(
    values: np.ndarray,
    top: int | None,
    kind: str,
    input_name: str,
    labels: Sequence[Any] | np.ndarray,
) -> CohortMoments:
    """Return mean and standard deviation of the finite scores of each row, or of the closest.

    Raise :class:`DataError` where a row has too few of them, or none that differ; `labels` name the
    rows.
    """
    parts = []
    step = max(1, _BLOCK // max(1, values.shape[1]))
    for low in range(0, len(values), step):
        part = values[low : low + step], top, kind, input_name, labels[low : low + step], low
        parts.append(_moments_of_rows(*part))
    return CohortMoments(*map(np.concatenate, zip(*parts, strict=True)))


def _moments_of_rows(
    values: np.ndarray,
    top: int | None,
    kind: str,
    input_name: str,
    labels: Sequence[Any] | np.ndarray,
    done: int,
) -> CohortMoments:
    """Return the moments of some rows, of which the first is template `done`."""
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

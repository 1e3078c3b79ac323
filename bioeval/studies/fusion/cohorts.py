"""Scores of templates against a cohort: their mean and standard deviation by template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from bioeval.base.errors import DataError, ProtocolError, counted
from bioeval.base.kinds import LARGER_IS_CLOSER, PLURALS, Kind
from bioeval.base.memory import require_memory
from bioeval.counting.thresholds import require_values
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.joining import joined
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.names import as_names, places
from bioeval.scores.people import knows_people
from bioeval.scores.requirements import require_all_scores, require_scores

if TYPE_CHECKING:
    import pandas as pd


# Number of cells in memory at a time.
_BLOCK = 1 << 20


def in_order_of(names: pd.Index | None, cohort: Scores, input_name: str) -> Scores:
    """Return a cohort's matrix with the templates that have these names, in the order of the names.

    If the templates or the cohort have no names, the cohort is returned unchanged.
    """
    if names is None:
        return cohort
    sides = {"probes": cohort.probe_names, "gallery": cohort.gallery_names}
    for side, own in sides.items():
        if own is None or not (places(names, own) >= 0).any():
            continue
        index = joined((own,), names, input_name)
        return cohort if index is None else cohort.select(**{side: index})
    given_names = [own for own in sides.values() if own is not None]
    if len(given_names) == len(sides):
        joined(given_names, names, input_name)  # raises an error, since no name is shared
    return cohort


class CohortMoments(NamedTuple):
    """The mean and the standard deviation of each template's scores against a cohort."""

    mean: np.ndarray
    sd: np.ndarray

    def of_templates(self, index: Any) -> CohortMoments:
        """Return the moments of some templates, by any index of arrays."""
        return CohortMoments(self.mean[index], self.sd[index])


def require_cells(rows: int, columns: int) -> None:
    """Raise an error unless the scores of templates against a cohort fit into memory."""
    require_memory(
        8 * rows * columns,
        f"the scores of {rows:,} templates against a cohort of {columns:,}",
        "give a smaller cohort",
    )


def cells_of_matrix(cohort: Scores, by_rows: bool, input_name: str) -> np.ndarray:
    """Return the scores of a cohort's matrix, with a row for each template of the data.

    The templates are the rows of the matrix (`by_rows`), or its columns. Scores of a template or a
    subject against itself, and scores that a mask leaves out, are NaN.
    """
    rows, columns = cohort.shape
    require_cells(*(cohort.shape if by_rows else cohort.shape[::-1]))
    codes = cohort.codes if knows_people(cohort) else None
    blocks = []
    step = max(1, _BLOCK // max(1, columns))
    for low in range(0, rows, step):
        high = min(low + step, rows)
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
        blocks.append(values)
    values = np.concatenate(blocks)
    return values if by_rows else values.T


def refuse_failed(number: int, where: str, input_name: str) -> NoReturn:
    """Raise :class:`DataError` for failed comparisons without a policy."""
    raise DataError(
        f"{input_name} holds {counted(number, 'failed comparisons')} (NaN), the first {where}; "
        'choose how to treat failed comparisons: with `nan="reject"` or '
        '`nan="exclude"` they are left out of mean and standard deviation'
    )


def require_other_people(people: Iterable[Any], data: set[Any], cohort: str, whose: str) -> None:
    """Raise :class:`DataError` if people of the data are in the cohort."""
    if shared := [label for label in dict.fromkeys(people) if label in data]:
        raise DataError(
            f"{cohort} shares {counted(len(shared), 'subjects')} with {whose}, the first is "
            f"{shared[0]!r}; expected other people"
        )


def cohort_moments(
    values: np.ndarray,
    top: int | None,
    kind: Kind,
    input_name: str,
    labels: Sequence[Any] | np.ndarray,
) -> CohortMoments:
    """Return the mean and the standard deviation of the finite scores of each row.

    With `top`, only this number of the closest scores count. Raise :class:`DataError` if a row has
    too few finite scores, or if they are all equal; `labels` name the rows.
    """
    moments = []
    step = max(1, _BLOCK // max(1, values.shape[1]))
    for low in range(0, len(values), step):
        high = low + step
        moments.append(
            _moments_of_rows(values[low:high], top, kind, input_name, labels[low:high], low)
        )
    return CohortMoments(*map(np.concatenate, zip(*moments, strict=True)))


def _moments_of_rows(
    values: np.ndarray,
    top: int | None,
    kind: Kind,
    input_name: str,
    labels: Sequence[Any] | np.ndarray,
    first_row: int,
) -> CohortMoments:
    sign = -1.0 if kind in LARGER_IS_CLOSER else 1.0
    is_finite = np.isfinite(values)
    number = is_finite.sum(axis=1)
    fewest = top or 1
    too_few = f"{input_name} has fewer than {counted(fewest, 'finite scores')} of"
    _refuse_templates(number < fewest, first_row, labels, too_few)
    if top is not None and top < values.shape[1]:
        distances = np.where(is_finite, sign * values, np.inf)
        values = sign * np.sort(np.partition(distances, top - 1, axis=1)[:, :top], axis=1)
        is_finite, number = np.isfinite(values), np.full(len(values), top)
    with np.errstate(invalid="ignore"):
        mean = np.where(is_finite, values, 0.0).sum(axis=1) / number
        deviation = np.where(is_finite, values - mean[:, None], 0.0)
        sd = np.sqrt(np.square(deviation).sum(axis=1) / number)
        largest = np.where(is_finite, values, -np.inf).max(axis=1)
        are_equal = largest == np.where(is_finite, values, np.inf).min(axis=1)
    no_spread = f"{input_name} has no spread (standard deviation 0) in the scores of"
    _refuse_templates(are_equal | (sd == 0), first_row, labels, no_spread)
    return CohortMoments(mean, sd)


def _refuse_templates(
    is_wrong: np.ndarray, first_row: int, labels: Sequence[Any] | np.ndarray, statement: str
) -> None:
    if is_wrong.any():
        first = int(np.argmax(is_wrong))
        raise DataError(
            f"{statement} {counted(int(is_wrong.sum()), 'templates')}, the first is template "
            f"{first_row + first} ({plain(labels[first])!r}); leave them out, or give a larger "
            "cohort"
        )


def moments_of_list(scores: Scores, side: int, cohort: Scores, top: int | None) -> CohortMoments:
    """Return the moments of the template of each pair on a side, 0 or 1."""
    name = ("first", "second")[side]
    input_name = f"the cohort of the {name} names of the trials"
    require_scores(cohort, f"{'probe' if side else 'gallery'}_cohort")
    require_values(cohort, "score normalisation")
    if cohort.kind != scores.kind:
        raise DataError(
            f"the cohort holds {PLURALS[cohort.kind]}, and the trials are "
            f"{PLURALS[scores.kind]}; expected scores of one system"
        )
    listed = scores.pairs.templates
    assert listed is not None
    trial_names = set(map(str, listed.values))
    if cohort.layout == "pairs":
        cohort = _trials_first(cohort, trial_names)
    used, template_of_pair = np.unique(listed.b if side else listed.a, return_inverse=True)
    names = as_names([str(listed.values[i]) for i in used.tolist()])
    found = _found_templates(cohort, names, input_name)
    if shared := [x for x in found.cohort_names if x in trial_names]:
        raise DataError(
            f"the cohort shares {counted(len(shared), 'templates')} with the trials, the first is "
            f"{shared[0]!r}; expected templates of other people"
        )
    _require_different_people(scores, cohort, 1 - found.side)
    require_cells(len(names), len(found.cohort_names))
    if cohort.layout == "pairs":
        values = _values_of_list(cohort, found, names, name)
    else:
        values = cells_of_matrix(cohort, not found.side, "the cohort")[found.row]
    if top is not None and top > values.shape[1]:
        raise DataError(
            f"`top={top}` is more than there are in {input_name}, which has "
            f"{counted(values.shape[1], 'templates')}"
        )
    moments = cohort_moments(values, top, scores.kind, input_name, names)
    return moments.of_templates(template_of_pair.reshape(-1))


class _FoundTemplates(NamedTuple):
    """Where templates of trials are in the scores of a cohort."""

    side: int  # their side, 0 or 1; the other side has the cohort
    row: np.ndarray  # (templates,): the index of each among the templates of this side
    cohort_names: pd.Index


def _found_templates(cohort: Scores, names: pd.Index, input_name: str) -> _FoundTemplates:
    names_of_sides = _names_of_sides(cohort)
    in_common = [np.count_nonzero(names.isin(x)) for x in names_of_sides]
    side = int(in_common[1] > in_common[0])
    row = joined((names_of_sides[side],), names, input_name)
    row = np.arange(len(names)) if row is None else row
    return _FoundTemplates(side, row, names_of_sides[1 - side])


def _values_of_list(
    cohort: Scores, found: _FoundTemplates, names: pd.Index, side_name: str
) -> np.ndarray:
    """Return the scores of a list, (templates, cohort), without columns that have none of them."""
    values = _cells_of_list(cohort, found.side)[found.row]
    # One list may have the cohorts of both sides: the other cohort has no scores here.
    columns = np.flatnonzero(~np.isnan(values).all(axis=0))
    values = values[:, columns]
    missing = np.argwhere(np.isnan(values))
    if len(missing) and cohort.nan == "raise":
        i, j = missing[0].tolist()
        raise DataError(
            f"the cohort scores lack {len(missing):,} of the {values.size:,} pairs of the "
            f"{side_name} names of the trials and the cohort, the first is {names[i]!r} and "
            f'{found.cohort_names[columns[j]]!r}; give the scores of all, or `nan="exclude"` '
            "to leave these pairs out of mean and standard deviation"
        )
    return values


def _trials_first(cohort: Scores, trial_names: set[str]) -> Scores:
    """Return the list with templates of the trials first in their pairs."""
    names = cohort.pairs.templates
    if names is None:
        return cohort
    is_trial = np.array([str(name) in trial_names for name in names.values])
    return cohort.with_pairs(cohort.pairs.exchanged(is_trial[names.b] & ~is_trial[names.a]))


def _names_of_sides(cohort: Scores) -> tuple[pd.Index, pd.Index]:
    if cohort.layout == "pairs":
        listed = cohort.pairs.templates
        if listed is None:
            raise ProtocolError("the cohort is a list of pairs that does not name its templates")
        values = list(map(str, listed.values))
        first, second = (
            [values[i] for i in np.unique(side).tolist()] for side in (listed.a, listed.b)
        )
        return as_names(first), as_names(second)
    require_all_scores(cohort)
    sides = []
    for names, labels in (
        (cohort.probe_names, cohort.probe_labels),
        (cohort.gallery_names, cohort.gallery_labels),
    ):
        column = labels if names is None else names
        if names is None and not knows_people(cohort):
            raise ProtocolError(
                "the cohort is a matrix that does not name its templates; give the metadata column "
                "template, or the names as labels"
            )
        sides.append(as_names([*map(str, column.tolist())]))
    return sides[0], sides[1]


def _cells_of_list(cohort: Scores, side: int) -> np.ndarray:
    """Return the scores of a list as a matrix, NaN where the list has no score.

    The rows are the distinct names on this side, and the columns those on the other side. Raise
    :class:`DataError` for failed comparisons without a policy.
    """
    if cohort.nan == "raise" and (failed := np.isnan(cohort.values)).any():
        failed_at = cohort.pairs.failed_at
        line = "in the list" if failed_at is None else failed_at[1]
        refuse_failed(int(failed.sum()), line, "the cohort")
    listed = cohort.pairs.templates
    assert listed is not None
    sides = [np.unique(codes, return_inverse=True) for codes in (listed.a, listed.b)]
    (names, row), (other_names, column) = sides[side], sides[1 - side]
    values = np.full((len(names), len(other_names)), np.nan)
    values[row.reshape(-1), column.reshape(-1)] = cohort.values
    return values


def _require_different_people(scores: Scores, cohort: Scores, side: int) -> None:
    if not (knows_people(scores) and knows_people(cohort)):
        return
    if cohort.layout == "pairs":
        listed = cohort.pairs.sides
        assert listed is not None
        codes = np.unique(listed.b if side else listed.a).tolist()
        people = [listed.values[code] for code in codes]
    else:
        people = (cohort.gallery_labels if side else cohort.probe_labels).tolist()
    trial_people = set(map(str, scores.subjects.tolist()))
    require_other_people(map(str, people), trial_people, "the cohort", "the trials")

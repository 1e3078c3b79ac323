"""The templates of a list of pairs against a cohort, by their names."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError, counted
from bioeval.base.kinds import noun_of
from bioeval.counting.thresholds import require_values
from bioeval.scores.labels import NAME_COLUMNS
from bioeval.scores.matrix import Scores, require_all_scores, require_scores
from bioeval.scores.people import knows_people
from bioeval.studies.fusion.cohort_moments import (
    CohortMoments,
    cells_of_matrix,
    moments_of,
    refuse_failed,
    require_cells,
    require_other_people,
)


def moments_of_list(scores: Scores, side: int, cohort: Scores, top: int | None) -> CohortMoments:
    """Return mean and standard deviation of each pair's template on a side, 0 or 1."""
    name = ("first", "second")[side]
    input_name = f"the cohort of the {name} names of the trials"
    require_scores(cohort, f"{'probe' if side else 'gallery'}_cohort")
    require_values(cohort, "score normalisation")
    if cohort.kind != scores.kind:
        raise DataError(
            f"the cohort holds {noun_of(cohort.kind, plural=True)}, and the trials are "
            f"{noun_of(scores.kind, plural=True)}; expected scores of one system"
        )
    listed = scores.pairs.templates
    assert listed is not None
    everyone = set(map(str, listed.values))
    if cohort.layout == "pairs":
        cohort = _trials_first(cohort, everyone)
    used, row = np.unique(listed.b if side else listed.a, return_inverse=True)
    wanted = [str(listed.values[i]) for i in used.tolist()]
    names = _names_of_sides(cohort)
    mine = int(len({*wanted} & {*names[1]}) > len({*wanted} & {*names[0]}))
    counts = Counter(names[mine])
    if missing := [x for x in wanted if not counts[x]]:
        raise DataError(
            f"the cohort has no scores of {len(missing):,} of the {len(wanted):,} {name} "
            f"names of the trials, the first is {missing[0]!r}; its names are such as "
            f"{names[0][0]!r} and {names[1][0]!r}; expected the scores of every name against the "
            "cohort, with the same spelling"
        )
    if twice := [x for x in wanted if counts[x] > 1]:
        raise DataError(
            f"{counts[twice[0]]:,} templates of the cohort scores are called {twice[0]!r}; "
            "expected one of each name of the trials"
        )
    others = names[1 - mine]
    if shared := [x for x in others if x in everyone]:
        raise DataError(
            f"the cohort shares {counted(len(shared), 'templates')} with the trials, the first is "
            f"{shared[0]!r}; expected templates of other people"
        )
    _require_different_people(scores, cohort, 1 - mine)
    require_cells(len(wanted), len(others))
    place = {x: i for i, x in enumerate(names[mine])}
    at = np.array([place[x] for x in wanted], dtype=np.int64)
    if cohort.layout == "pairs":
        if cohort.nan == "raise" and (failed := np.isnan(cohort.values)).any():
            failed_at = cohort.pairs.failed_at
            line = "in the list" if failed_at is None else failed_at[1]
            refuse_failed(int(failed.sum()), line, "the cohort")
        values = _cells_of_list(cohort, mine)[at]
        # One list may have the cohorts of both sides.
        of_side = np.flatnonzero(~np.isnan(values).all(axis=0))
        values, lacking = values[:, of_side], np.argwhere(np.isnan(values[:, of_side]))
        if len(lacking) and cohort.nan == "raise":
            i, j = lacking[0].tolist()
            raise DataError(
                f"the cohort scores lack {len(lacking):,} of the {values.size:,} pairs of the "
                f"{name} names of the trials and the cohort, the first is {wanted[i]!r} and "
                f"{others[of_side[j]]!r}; give the scores of all, or {Argument('nan', 'exclude')} "
                "to leave these pairs out of mean and standard deviation"
            )
    else:
        values = cells_of_matrix(cohort, not mine, "the cohort")[at]
    if top is not None and top > values.shape[1]:
        raise DataError(
            f"{Argument('top', top)} is more than there are in {input_name}, which has "
            f"{counted(values.shape[1], 'templates')}"
        )
    mean, sd = moments_of(values, top, scores.kind, input_name, wanted)
    return CohortMoments(mean[row.reshape(-1)], sd[row.reshape(-1)])


def _trials_first(cohort: Scores, everyone: set[str]) -> Scores:
    """Return a list of cohort scores with the name of the trials first on each line."""
    names = cohort.pairs.templates
    if names is None:
        return cohort
    tried = np.array([str(name) in everyone for name in names.values])
    return cohort.with_pairs(cohort.pairs.exchanged(tried[names.b] & ~tried[names.a]))


def _names_of_sides(cohort: Scores) -> tuple[list[str], list[str]]:
    """Return the names of the templates of both sides of cohort scores."""
    if cohort.layout == "pairs":
        listed = cohort.pairs.templates
        if listed is None:
            raise ProtocolError("the cohort is a list of pairs that does not name its templates")
        values = list(map(str, listed.values))
        first, second = (
            [values[i] for i in np.unique(side).tolist()] for side in (listed.a, listed.b)
        )
        return first, second
    require_all_scores(cohort)
    sides = []
    for meta, labels in (
        (cohort.probe_meta, cohort.probe_labels if knows_people(cohort) else None),
        (cohort.gallery_meta, cohort.gallery_labels if knows_people(cohort) else None),
    ):
        column = next((meta[name] for name in NAME_COLUMNS if name in meta), labels)
        if column is None:
            raise ProtocolError(
                "the cohort is a matrix that does not name its templates; give the metadata column "
                "template, or the names as labels"
            )
        sides.append(list(map(str, column.tolist())))
    return sides[0], sides[1]


def _cells_of_list(cohort: Scores, mine: int) -> np.ndarray:
    """Return the scores of a list as a matrix, NaN where there is none.

    The rows are the distinct names of side `mine`.
    """
    listed = cohort.pairs.templates
    assert listed is not None
    sides = [np.unique(side, return_inverse=True) for side in (listed.a, listed.b)]
    (names, row), (others, column) = sides[mine], sides[1 - mine]
    values = np.full((len(names), len(others)), np.nan)
    values[row.reshape(-1), column.reshape(-1)] = cohort.values
    return values


def _require_different_people(scores: Scores, cohort: Scores, side: int) -> None:
    """Raise :class:`DataError` where people of the trials are on this side of the cohort scores."""
    if not (knows_people(scores) and knows_people(cohort)):
        return
    if cohort.layout == "pairs":
        listed = cohort.pairs.sides
        assert listed is not None
        codes = np.unique(listed.b if side else listed.a).tolist()
        people = [listed.values[code] for code in codes]
    else:
        people = (cohort.gallery_labels if side else cohort.probe_labels).tolist()
    tried = set(map(str, scores.subjects.tolist()))
    require_other_people(map(str, people), tried, "the cohort", "the trials")

"""Score normalisation of lists: the templates of each pair against a cohort, by their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bioeval.attempts.thresholds import require_values
from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, ProtocolError, counted
from bioeval.base.kinds import larger_is_closer, noun_of
from bioeval.base.messages import Message
from bioeval.scores.labels import NAME_COLUMNS
from bioeval.scores.matrix import Scores, are_pairs, knows_people, require_scores
from bioeval.scores.pairs import PairScores
from bioeval.studies.calibration.derived_rows import derived
from bioeval.studies.fusion.cohort_moments import (
    CohortMoments,
    blocks_of,
    cells_of_matrix,
    check_nan,
    moments_of,
    moments_of_rows,
    require_cells,
    require_other_people,
)


def normalised_list(
    scores: PairScores,
    method: str,
    enrolled_cohort: Scores | None,
    probe_cohort: Scores | None,
    top: int | None,
    select: str,
) -> Scores:
    """Return the pairs, normalised; see :func:`bioeval.normalise`."""
    require_values(scores, "score normalisation")
    if scores._templates is None:
        raise ProtocolError(
            "the pairs do not name their templates, and score normalisation finds the scores of a "
            "template against the cohort by its name; give a list with both names on each line, or "
            "pair_templates= to Scores.from_pairs"
        )
    best = None if top is None else require_integer("top", top, low=2)
    sides = {"first": (0, enrolled_cohort), "second": (1, probe_cohort)}
    wanted = {"z": ("first",), "t": ("second",)}.get(method, ("first", "second"))
    tables = []
    for name in wanted:
        number, cohort = sides[name]
        if cohort is None:
            cohort = probe_cohort if number == 0 else enrolled_cohort
        if cohort is None:
            raise DataError(
                Argument("probe_cohort" if wanted == ("second",) else "gallery_cohort"),
                " is missing; ",
                Argument("method", method),
                " needs the scores of the templates against a cohort",
            )
        tables.append(_table(scores, number, name, cohort))
    if select == "each" or method != "as":
        moments = [_of_each(table, best, scores.kind) for table in tables]
    else:
        assert best is not None
        first, second = _over_one_cohort(tables)
        of_first = second if select == "other" else first
        moments = [
            _of_chosen(first, of_first, best, scores.kind),
            _of_chosen(second, first, best, scores.kind),
        ]

    def rule(blocks: list[np.ndarray], index: np.ndarray) -> np.ndarray:
        """Normalise by one side, or by the mean of both."""
        made = [(blocks[0] - side.mean[index]) / side.sd[index] for side in moments]
        return made[0] if len(made) == 1 else (made[0] + made[1]) / 2

    kind = "similarity" if scores.kind == "llr" else scores.kind
    origin = scores._origin or noun_of(scores.kind, plural=True)
    made = derived([scores], rule, kind, f"{method}-norm of {origin}")
    remarks = list(scores._remarks)
    cohorts = [cohort for cohort in (enrolled_cohort, probe_cohort) if cohort is not None]
    if not all(map(knows_people, (scores, *cohorts))):
        remarks.append(Message("people-of-cohort-not-known"))
    return made._with(_remarks=tuple(remarks))


@dataclass(frozen=True)
class _Table:
    """The templates of one side of a list against a cohort.

    - `row` (int64 (p,)): the template of each pair
    - `names`, `cohort`: of the templates (rows) and of the cohort (columns)
    - `values` (float64 (rows, columns)): NaN where there is no score
    """

    side: str
    row: np.ndarray
    names: list[str]
    cohort: list[str]
    values: np.ndarray

    @property
    def input_name(self) -> str:
        """What the table is called in messages."""
        return f"the cohort of the {self.side} names of the trials"


def _require_size(table: _Table, top: int | None) -> None:
    """Raise :class:`DataError` where the cohort has fewer templates than are to be taken."""
    size = len(table.cohort)
    if top is not None and top > size:
        raise DataError(
            Argument("top", top),
            f" is more than there are in {table.input_name}, which has "
            f"{counted(size, 'templates')}; expected at most {size:,}",
        )


def _of_each(table: _Table, top: int | None, kind: str) -> CohortMoments:
    """Return the moments of each pair by the template's own cohort scores, or the closest."""
    _require_size(table, top)
    mean, sd = moments_of(table.values, top, kind, table.input_name, table.names)
    return CohortMoments(mean[table.row], sd[table.row])


def _of_chosen(table: _Table, chooser: _Table, top: int, kind: str) -> CohortMoments:
    """Return the moments of each pair by the templates of the cohort closest to the chooser's."""
    _require_size(chooser, top)
    closer = -1.0 if larger_is_closer(kind) else 1.0
    finite = np.isfinite(chooser.values).sum(axis=1)
    few = np.flatnonzero(finite < top)
    if len(few):
        raise DataError(
            f"{chooser.input_name} has fewer than {counted(top, 'finite scores')} of "
            f"{counted(len(few), 'templates')}, the first is {chooser.names[few[0]]!r}; give a "
            "larger cohort, or a smaller ",
            Argument("top"),
        )
    nearest = np.empty((len(chooser.names), top), dtype=np.int64)
    for low, high in blocks_of(*chooser.values.shape):
        block = chooser.values[low:high]
        ordered = np.where(np.isfinite(block), closer * block, np.inf)
        nearest[low:high] = np.argsort(ordered, axis=1, kind="stable")[:, :top]
    pairs = np.column_stack([table.row, chooser.row])
    distinct, place = np.unique(pairs, axis=0, return_inverse=True)
    parts = []
    for low, high in blocks_of(len(distinct), top):
        of, by = distinct[low:high].T
        values = table.values[of[:, None], nearest[by]]
        names = [table.names[i] for i in of.tolist()]
        parts.append(moments_of_rows(values, top, kind, table.input_name, names, low))
    mean, sd = map(np.concatenate, zip(*parts, strict=True))
    place = place.reshape(-1)
    return CohortMoments(mean[place], sd[place])


def _over_one_cohort(tables: Sequence[_Table]) -> list[_Table]:
    """Return the tables over the templates of both cohorts, in the order of the first."""
    names = list(dict.fromkeys([*tables[0].cohort, *tables[1].cohort]))
    place = {name: i for i, name in enumerate(names)}
    made = []
    for table in tables:
        values = np.full((len(table.names), len(names)), np.nan)
        values[:, [place[name] for name in table.cohort]] = table.values
        made.append(_Table(table.side, table.row, table.names, names, values))
    return made


# ------------------------------------------------------------------------- reading a cohort


def _table(scores: PairScores, side: int, side_name: str, cohort: Scores) -> _Table:
    """Return the scores of one side of the pairs against the cohort."""
    require_scores(cohort, f"{'probe' if side else 'gallery'}_cohort")
    require_values(cohort, "score normalisation")
    if cohort.kind != scores.kind:
        raise DataError(
            f"the cohort holds {noun_of(cohort.kind, plural=True)}, and the trials are "
            f"{noun_of(scores.kind, plural=True)}; expected scores of one system"
        )
    listed = scores._templates
    assert listed is not None
    codes = listed.b if side else listed.a
    used, row = np.unique(codes, return_inverse=True)
    wanted = [str(listed.values[i]) for i in used.tolist()]
    names = _names_of_sides(cohort)
    common = [len(set(wanted).intersection(of_side)) for of_side in names]
    mine = int(common[1] > common[0])
    missing = sorted(set(wanted).difference(names[mine]), key=wanted.index)
    if missing:
        raise DataError(
            f"the cohort has no scores of {len(missing):,} of the {len(wanted):,} {side_name} "
            f"names of the trials, the first is {missing[0]!r}; its names are such as "
            f"{names[0][0]!r} and {names[1][0]!r}; expected the scores of every name against the "
            "cohort, with the same spelling"
        )
    counts = Counter(names[mine])
    twice = [name for name in wanted if counts[name] > 1]
    if twice:
        raise DataError(
            f"{counts[twice[0]]:,} templates of the cohort scores are called {twice[0]!r}; "
            "expected one of each name of the trials"
        )
    others = _each_once(names[1 - mine])
    everyone = set(map(str, listed.values))
    shared = [name for name in others if name in everyone]
    if shared:
        raise DataError(
            f"the cohort shares {counted(len(shared), 'templates')} with the trials, the first is "
            f"{shared[0]!r}; expected templates of other people"
        )
    _require_different_people(scores, cohort, 1 - mine)
    require_cells(len(wanted), len(others))
    place = {name: i for i, name in enumerate(names[mine])}
    at = np.array([place[name] for name in wanted], dtype=np.int64)
    if are_pairs(cohort):
        values, there = _cells_of_list(cohort, mine)
        values, there = values[at], there[at]
        # One list may have the cohorts of both sides.
        of_side = np.flatnonzero(there.any(axis=0))
        values, there = values[:, of_side], there[:, of_side]
        others = [others[j] for j in of_side.tolist()]
        if cohort.nan == "raise":
            _require_all(there, wanted, others, side_name)
    else:
        values = cells_of_matrix(cohort, not mine, "the cohort")[at]
    return _Table(side_name, row.reshape(-1), wanted, others, values)


def _require_all(there: np.ndarray, names: list[str], cohort: list[str], side: str) -> None:
    """Raise :class:`DataError` where a template has no score against one of the cohort."""
    missing = there.size - int(there.sum())
    if not missing:
        return
    i, j = np.argwhere(~there)[0].tolist()
    raise DataError(
        f"the cohort scores lack {missing:,} of the {there.size:,} pairs of the {side} names of "
        f"the trials and the cohort, the first is {names[i]!r} and {cohort[j]!r}; give the scores "
        "of all, or ",
        Argument("nan", "exclude"),
        " to leave these pairs out of mean and standard deviation",
    )


def _names_of_sides(cohort: Scores) -> tuple[list[str], list[str]]:
    """Return the names of the templates of both sides of cohort scores."""
    if are_pairs(cohort):
        listed = cohort._templates
        if listed is None:
            raise ProtocolError("the cohort is a list of pairs that does not name its templates")
        values = list(map(str, listed.values))
        first, second = (
            [values[i] for i in np.unique(side).tolist()] for side in (listed.a, listed.b)
        )
        return first, second
    cohort._require_matrix()
    sides = []
    for meta, labels in (
        (cohort.probe_meta, cohort.probe_labels if cohort._labelled else None),
        (cohort.gallery_meta, cohort.gallery_labels if cohort._labelled else None),
    ):
        column = next((meta[name] for name in NAME_COLUMNS if name in meta), labels)
        if column is None:
            raise ProtocolError(
                "the cohort is a matrix that does not name its templates; give the metadata column "
                "template, or the names as labels"
            )
        sides.append(list(map(str, column.tolist())))
    return sides[0], sides[1]


def _each_once(names: list[str]) -> list[str]:
    """Return names in which those of several templates, such as their subject, are numbered."""
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({i})" for i, name in enumerate(names)]


def _cells_of_list(cohort: PairScores, mine: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of a list as a matrix, and which of its cells are listed.

    The rows are the distinct names of side `mine`.
    """
    listed = cohort._templates
    assert listed is not None
    sides = [np.unique(side, return_inverse=True) for side in (listed.a, listed.b)]
    (names, row), (others, column) = sides[mine], sides[1 - mine]
    values = np.full((len(names), len(others)), np.nan)
    there = np.zeros(values.shape, dtype=bool)
    cells = row.reshape(-1), column.reshape(-1)
    values[cells], there[cells] = cohort.values, True
    check_nan(np.isnan(cohort.values), cohort, "the cohort")
    return values, there


def _require_different_people(scores: PairScores, cohort: Scores, side: int) -> None:
    """Raise :class:`DataError` where people of the trials are on this side of the cohort scores."""
    if not (knows_people(scores) and knows_people(cohort)):
        return
    if are_pairs(cohort):
        listed = cohort._sides
        assert listed is not None
        codes = np.unique(listed.b if side else listed.a).tolist()
        people = [listed.values[code] for code in codes]
    else:
        people = (cohort.gallery_labels if side else cohort.probe_labels).tolist()
    tried = set(map(str, scores.subjects.tolist()))
    require_other_people(map(str, people), tried, "the cohort", "the trials")

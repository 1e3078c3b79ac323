"""Many selections of one matrix, counted in one call: their attempts, ranks and operating points.

The scores of a matrix are put in order once. Each selection then gathers places in that order,
which are sorted as whole numbers; every operating point follows from the sorted attempts. Whatever
a selection counts is what it would count alone, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from bioeval.attempts.finding import PointsWanted
from bioeval.attempts.lists import runs
from bioeval.attempts.points import (
    EqualError,
    VerificationPoints,
    allowed_errors,
    d_prime,
    hull_equal_errors,
    min_costs,
    moments_of,
)
from bioeval.attempts.symmetry import same_both_ways, sample_of
from bioeval.kernels import selections as kernel
from bioeval.kernels.order import increasing_order
from bioeval.scores.arrays import as_distances, writable_alias
from bioeval.scores.matrix import Scores

#: Rows and columns of a selection.
IndexSet = tuple[np.ndarray, np.ndarray]

# Cells that are gathered before points are looked for, so that they stay in the cache.
BATCH = 1 << 19


@dataclass(frozen=True, eq=False)
class IdentificationRules:
    """Rules of identification by task: open set, then closed set."""

    by_subject: tuple[bool, ...] = (False, False)
    ties_first: tuple[bool, ...] = (True, True)
    impostors: int = kernel.AUTO
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class OrderedScores:
    """Scores as places among the distinct ones."""

    matrix: kernel.RankedMatrix
    #: float64 (d + 1,): the distinct distances, increasing, and NaN for no attempt.
    values: np.ndarray
    raw: np.ndarray  # the scores themselves
    both_ways: bool  # whether both directions of each pair of templates have one score

    #: Cells of a matrix that is put in order at once, at most.
    MOST: ClassVar = 1 << 24

    @staticmethod
    def can_hold(scores: Scores) -> bool:
        """Whether partitions of scores can be counted together: all of a matrix in memory."""
        whole = isinstance(scores._base, np.ndarray) and not scores._limited
        left_out = scores._has_mask or bool(scores.exclude) or not scores._labelled
        if not whole or left_out or scores.kind == "order":
            return False
        if scores._no_person.any():  # subjects are counted, and distractors are none
            return False
        values = scores._codes.values.tolist()
        return len(set(map(repr, values))) == len(values)  # subjects are counted by their names

    @classmethod
    def of(cls, scores: Scores) -> OrderedScores:
        """Put the scores of a matrix in order."""
        raw = scores._read_rows(0, scores.shape[0])
        distances = as_distances(raw, scores.kind)
        ordered = increasing_order(distances.reshape(-1))
        increasing = distances.reshape(-1)[ordered]
        there = len(increasing) - int(np.isnan(increasing).sum())
        first = np.ones(there, dtype=bool)
        np.not_equal(increasing[1:there], increasing[: max(there - 1, 0)], out=first[1:])
        values = increasing[:there][first].astype(np.float64)
        place = np.full(len(ordered), len(values), dtype=np.int32)
        place[:there] = np.cumsum(first, dtype=np.int32) - np.int32(1)
        if there < len(ordered) and scores.nan == "reject":
            if not (len(values) and values[-1] == np.inf):
                values = np.append(values, np.inf)
            place[there:] = len(values) - 1
        places = np.empty(len(ordered), dtype=np.int32)
        places[ordered] = place
        square = np.array_equal(scores.probe_ids, scores.gallery_ids)
        matrix = kernel.RankedMatrix(
            places=places.reshape(distances.shape),
            missing=len(values),
            probe=writable_alias(np.ascontiguousarray(scores._codes.probe)),
            gallery=writable_alias(np.ascontiguousarray(scores._codes.gallery)),
            probe_ids=writable_alias(scores.probe_ids),
            gallery_ids=writable_alias(scores.gallery_ids),
        )
        return cls(matrix, np.append(values, np.nan), raw, square and same_both_ways(raw))

    def is_symmetric(self, rows: np.ndarray, columns: np.ndarray) -> bool:
        """Whether a selection seems symmetric, by the templates that a matrix is judged by."""
        if len(rows) < 2 or not np.array_equal(
            self.matrix.probe_ids[rows], self.matrix.gallery_ids[columns]
        ):
            return False
        some = sample_of(len(rows))
        return self.both_ways or same_both_ways(self.raw[np.ix_(rows[some], columns[some])])

    def counts(
        self,
        sets: Sequence[IndexSet],
        searches: IdentificationRules,
        wanted: PointsWanted,
        *,
        square: bool,
        tasks: Sequence[str],
        thresholds: np.ndarray | None = None,
    ) -> Iterator[SelectionCounts]:
        """Yield the counts of selections, some at a time; `tasks` are those with points.

        With `thresholds`, increasing distances, also the attempts accepted at each of these.
        """
        for batch in _batches(sets):
            yield _Batch(self, batch, searches, square).counts(wanted, tasks, thresholds)


@dataclass(frozen=True, eq=False)
class SelectionCounts:
    """Counts and operating points of selections, arrays with one entry a selection."""

    probes: np.ndarray  # int64: number of probes
    table: np.ndarray  # int64 (k, c): the counts by column, as `COUNTED` names them
    ranked: np.ndarray  # int64 (k, r): mated probes at each rank or better, of closed set
    #: Points of the tasks that are wanted, of arrays in place of numbers; of open set with DIR in
    #: place of FRR.
    single: Any
    multi: Any
    open_set: Any
    #: int64 (2, k, t) of each task: genuine and impostor attempts accepted at the thresholds.
    accepted: Mapping[str, np.ndarray]

    def attempts_of(self, task: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the genuine and the impostor attempts of a task in each selection."""
        genuine, impostor = {
            "single": ("genuine", "impostor"),
            "multi": ("subjects_genuine", "subjects_impostor"),
            "open_set": ("mated", "searches"),
        }[task]
        return self.of(genuine), self.of(impostor)

    def of(self, name: str) -> np.ndarray:
        """Return a count of each selection."""
        return self.table[:, kernel.COUNTED.index(name)]

    @property
    def impostor_subjects(self) -> np.ndarray:
        """Subjects of the impostor attempts of identification, of each selection."""
        people, among, role = map(self.of, ("probe_subjects", "enrolled_subjects", "role"))
        outside = np.where(role == kernel.UNENROLLED, people - among, people)
        return np.where(role == kernel.LEAVE_OUT, among, outside)


def packed(sets: Sequence[IndexSet]) -> tuple[np.ndarray, np.ndarray, list[IndexSet]]:
    """Return the rows and the columns that some selections use, and the selections among these."""
    none = np.empty(0, dtype=np.int64)
    rows, columns = (np.unique(np.concatenate([none, *(x[i] for x in sets)])) for i in (0, 1))
    local = [(np.searchsorted(rows, x), np.searchsorted(columns, y)) for x, y in sets]
    return rows, columns, local


def _batches(sets: Sequence[IndexSet]) -> Iterator[list[IndexSet]]:
    """Yield selections, some at a time."""
    batch = []
    filled = 0
    for rows, columns in sets:
        batch.append((rows, columns))
        filled += len(rows) * len(columns)
        if filled >= BATCH:
            yield batch
            batch, filled = [], 0
    if batch:
        yield batch


class _Batch:
    """Some selections, with their attempts in order."""

    def __init__(
        self,
        ordered: OrderedScores,
        sets: Sequence[IndexSet],
        searches: IdentificationRules,
        square: bool,
    ):
        """Gather the scores of all selections, one after another."""
        self.ordered, self.sets = ordered, sets
        rows, columns = zip(*sets, strict=True)
        self.m = np.array([len(x) for x in rows])
        self.n = np.array([len(x) for x in columns])
        self.row_starts, self.cells = _starts(self.m), _starts(self.m * self.n)
        chosen = kernel.Selections(
            np.concatenate(rows),
            self.row_starts,
            np.concatenate(columns),
            _starts(self.n),
            self.cells,
        )
        total, every = int(self.cells[-1]), int(self.row_starts[-1])
        self.places = np.empty(2 * total + 2 * every, dtype=np.int32)
        single, multi, open_set = np.split(self.places, [total, 2 * total])
        self.output = kernel.SelectionOutput(
            counts=np.zeros((len(sets), len(kernel.COUNTED)), dtype=np.int64),
            ranked=np.zeros((len(sets), len(searches.ranks)), dtype=np.int64),
            single=single,
            multi=multi,
            searches=open_set,
            lines=np.empty(total, dtype=np.int32),
            nearest=np.empty(total, dtype=np.int32),
            start=np.empty(every, dtype=np.int64),
            stop=np.empty(every, dtype=np.int64),
            probe_group=np.empty(every, dtype=np.int64),
            best=np.empty(every, dtype=np.int32),
            other=np.empty(every, dtype=np.int32),
            place=np.zeros((2, every), dtype=np.int64),
        )
        rules = kernel.SearchRules(
            searches.by_subject,
            searches.ties_first,
            searches.impostors,
            square,
            np.array(searches.ranks, dtype=np.int64),
        )
        scratch = kernel.SelectionScratch.for_any(ordered.matrix, chosen)
        kernel.count_selections(ordered.matrix, chosen, rules, self.output, scratch)

    def counts(
        self, wanted: PointsWanted, tasks: Sequence[str], thresholds: np.ndarray | None
    ) -> SelectionCounts:
        """Return the counts, with the points of tasks."""
        table, number = self.output.counts, len(self.sets)
        names = [name for name in ("single", "multi", "open_set") if name in tasks]
        points = {}
        accepted = {}
        if names:
            lists = _lists(self.places, [self._attempts_of(name) for name in names])
            verified = [name for name in names if name != "open_set"]
            finder = _Points(self.ordered.values, lists, wanted, number * len(verified))
            finder.find_more()
            for i, name in enumerate(names):
                its = slice(i * number, (i + 1) * number)
                points[name] = finder.of(its, name in verified)
                if thresholds is not None:
                    accepted[name] = finder.accepted(its, thresholds)
            for name in verified:
                points[name].symmetric = np.zeros(number, dtype=bool)
            if "single" in points:
                points["single"].symmetric[:] = [self.ordered.is_symmetric(*x) for x in self.sets]
        return SelectionCounts(
            self.m,
            table,
            self.output.ranked,
            single=points.get("single"),
            multi=points.get("multi"),
            open_set=points.get("open_set"),
            accepted=accepted,
        )

    def _attempts_of(self, task: str) -> _TaskAttempts:
        """Return where the attempts of a task are among the places."""
        table, total = self.output.counts, int(self.cells[-1])
        nothing = np.zeros(len(self.sets), dtype=np.int64)
        if task == "single":
            return _TaskAttempts.of(self.cells, table[:, 0], table[:, 1], nothing)
        if task == "multi":
            return _TaskAttempts.of(total + self.cells, table[:, 2], table[:, 3], nothing)
        mated, searches, hits = table[:, 4:7].T
        return _TaskAttempts.of(2 * total + 2 * self.row_starts, hits, searches, mated - hits)


class _Points:
    """The operating points of some lists of attempts, those of verification first."""

    def __init__(
        self, values: np.ndarray, lists: kernel.AttemptLists, wanted: PointsWanted, verified: int
    ):
        """Number the errors that each target allows in each list."""
        self.values, self.lists, self.wanted, self.verified = values, lists, wanted, verified
        self.more: dict[str, np.ndarray] = {}
        self.optima: dict[str, np.ndarray] = {}
        self.genuine = np.diff(lists.genuine)[:, 0] + lists.missed
        self.impostor = np.diff(lists.impostor)[:, 0]
        self.defined = (self.genuine > 0) & (self.impostor > 0)
        number = len(lists.missed)
        targets = [*wanted.targets.tolist(), 0.0]
        sizes, size_of_each = np.unique(self.impostor, return_inverse=True)
        known = np.empty((len(sizes), len(targets)), dtype=np.int64)
        for i, size in enumerate(sizes.tolist()):
            known[i] = [allowed_errors(x, size) for x in targets]
        allowed = known[size_of_each]
        cornered = verified if wanted.every_score else 0
        corners = int(self.genuine[:cornered].sum()) + cornered
        self.output = kernel.PointOutput(
            equal_error=np.full((number, 5), np.nan),
            equal_error_place=np.full(number, -2, dtype=np.int64),
            accepted=np.zeros_like(allowed),
            places=np.full_like(allowed, -2),
            pairs=np.zeros(number, dtype=np.int64),
            zero_frr=np.zeros(number, dtype=np.int64),
            corners=np.empty((3, corners), dtype=np.int64),
            corner_starts=np.zeros(number + 1, dtype=np.int64),
        )
        kernel.find_points(lists, allowed, cornered, self.output)
        self.target_thresholds = self.thresholds(self.output.places)
        self.at_equal = self.thresholds(self.output.equal_error_place)
        accepted = self.output.accepted
        accepted[:verified] = self.genuine[:verified, None] - accepted[:verified]
        self.rates = self._quotient(accepted, self.genuine)  # FRR of verification, DIR of open set

    @cached_property
    def reject_all(self) -> np.ndarray:
        """The threshold that rejects everything; NaN where some score has that value."""
        lowest = np.zeros(len(self.defined), dtype=bool)
        if self.values[0] == -np.inf:
            for ends in (self.lists.genuine, self.lists.impostor):
                first = np.minimum(ends[:, 0], len(self.lists.places) - 1)
                lowest |= (ends[:, 1] > ends[:, 0]) & (self.lists.places[first] == 0)
        return np.where(lowest, np.nan, -np.inf)

    def thresholds(self, places: np.ndarray) -> np.ndarray:
        """Return the thresholds at places, one or several of each list, or of the first lists."""
        rejecting = self.reject_all[: len(places)].reshape(-1, *[1] * (places.ndim - 1))
        at = np.where(places == -1, rejecting, self.values[np.maximum(places, 0)])
        return np.where(places == -2, np.nan, at)

    def accepted(self, at: slice, thresholds: np.ndarray) -> np.ndarray:
        """Return the scores of both classes up to some distances, (2, lists, thresholds)."""
        below = self.values[:-1].searchsorted(thresholds, side="right")
        found = []
        for ends in (self.lists.genuine[at], self.lists.impostor[at]):
            found.append([self.lists.places[low:high].searchsorted(below) for low, high in ends])
        return np.array(found).reshape(2, -1, len(thresholds))

    def _quotient(self, counts: np.ndarray, attempts: np.ndarray) -> np.ndarray:
        """Return rates, NaN where there are no attempts of both classes; or of the first lists."""
        defined = self.defined[: len(counts)]
        attempts = np.where(defined, attempts, 1).reshape(-1, *[1] * (counts.ndim - 1))
        defined = defined.reshape(attempts.shape)
        return np.where(defined, counts / attempts, np.nan)

    def of(self, at: slice, verifies: bool) -> Any:
        """Return the points of some lists, as arrays, of open set with DIR in place of FRR."""
        equal_error: Any = self.output.equal_error[at].T
        at_equal: Any = self.at_equal[at]
        thresholds, rates = self.target_thresholds[at], self.rates[at]
        arrays: dict[str, Any] = {
            "equal_error": EqualError(
                eer=equal_error[kernel.EER],
                eer_threshold=at_equal,
                far_at_eer=equal_error[kernel.FAR],
                frr_at_eer=equal_error[kernel.FRR],
                eer_bracket_low=equal_error[kernel.BRACKET_LOW],
                eer_bracket_high=equal_error[kernel.BRACKET_HIGH],
            ),
            "zero_far": rates[:, -1],
            "zero_far_threshold": thresholds[:, -1],
        }
        points = VerificationPoints(
            **arrays,
            far_target=self.wanted.targets,
            frr_at_far=rates[:, :-1],
            threshold_at_far=thresholds[:, :-1],
            frr_target=self.wanted.frr_targets,
            costs=self.wanted.costs,
            every_score=self.wanted.every_score,
        )
        if verifies:
            for name, values in self.more.items():
                setattr(points, name, values[at])
            best: dict[str, Any] = {name: values[at] for name, values in self.optima.items()}
            points.optima = best
        return points

    def find_more(self) -> None:
        """Find the further points of verification."""
        number = self.verified
        genuine = self.genuine[:number]
        impostor = self.impostor[:number]
        defined = self.defined[:number]
        last = np.full(number, -2)
        last[defined] = self.lists.places[self.lists.genuine[:number][defined, 1] - 1]
        self.more["zero_frr"] = self._quotient(self.output.zero_frr[:number], impostor)
        self.more["zero_frr_threshold"] = self.thresholds(last)
        if len(self.wanted.frr_targets):
            self.more |= self._at_frr(number)
        if self.wanted.every_score and number:
            pairs = self.output.pairs[:number]
            self.more["auc"] = self._quotient(pairs, 2 * genuine * impostor)
            self._find_corners(genuine, impostor, np.flatnonzero(defined))
            self.more["d_prime"] = self.d_prime()

    def _at_frr(self, number: int) -> dict[str, np.ndarray]:
        """Return the smallest FAR at each FRR target, and its threshold, of the first lists."""
        at = np.full((number, len(self.wanted.frr_targets)), -2)
        accepted = np.zeros_like(at)
        for k in np.flatnonzero(self.defined[:number]):
            genuine = self.lists.places[slice(*self.lists.genuine[k])]
            impostor = self.lists.places[slice(*self.lists.impostor[k])]
            most = [allowed_errors(x, len(genuine)) for x in self.wanted.frr_targets.tolist()]
            strictest = len(genuine) - np.array(most)  # the genuine attempts that are accepted
            at[k] = np.where(strictest > 0, genuine[strictest - 1], -1)
            accepted[k] = np.searchsorted(impostor, at[k], side="right")
        return {
            "far_at_frr": self._quotient(accepted, self.impostor[:number]),
            "threshold_at_frr": self.thresholds(at),
        }

    def _find_corners(self, genuine: np.ndarray, impostor: np.ndarray, some: np.ndarray) -> None:
        """Find hull, optima, and least costs; near ties are compared without rounding."""
        number = self.verified
        starts = self.output.corner_starts[: number + 1]
        place, fa, fr = self.output.corners[:, : starts[-1]]
        size = np.diff(starts)
        far = fa / np.repeat(impostor, size)
        frr = fr / np.repeat(genuine, size)
        shape = number, len(self.wanted.costs)
        least_cost = np.full(shape, np.nan)
        self.more |= {"eer_hull": hull_equal_errors(far, frr, starts), "min_cost": least_cost}
        self.more["min_cost_threshold"] = np.full(shape, np.nan)
        for scalar in self.wanted.optima:
            best, at = np.full(number, np.nan), np.full(number, -2, dtype=np.int64)
            for k in some.tolist():
                part = slice(starts[k], starts[k + 1])
                best[k] = scalar.over_points(far[part], frr[part])
                at[k] = place[part][scalar.place_of_best(far[part], frr[part])]
            self.optima |= {scalar.name: best, scalar.threshold: self.thresholds(at)}
        if not len(some):
            return
        attempts = list(zip(genuine[some].tolist(), impostor[some].tolist(), strict=True))
        ends = np.append(starts[some], starts[-1])  # without attempts there are no points
        least_cost[some], best = min_costs(fa, fr, ends, attempts, self.wanted.costs)
        at = np.full(shape, -2, dtype=np.int64)
        at[some] = place[best]
        self.more["min_cost_threshold"] = self.thresholds(at)

    def d_prime(self) -> np.ndarray:
        """Return d' of each selection."""
        values = np.full(self.verified, np.nan)
        for k in np.flatnonzero(self.defined[: self.verified]).tolist():
            genuine, impostor = map(self._finite, (self.lists.genuine[k], self.lists.impostor[k]))
            place, starts = runs(impostor)
            number = np.diff(starts, append=len(impostor))
            of_impostor = moments_of(self.values[place], number)
            values[k] = d_prime(moments_of(self.values[genuine]), of_impostor)
        return values

    def _finite(self, ends: np.ndarray) -> np.ndarray:
        """Return the places of a list whose scores are finite."""
        places = self.lists.places[ends[0] : ends[1]]
        first, last = int(self.values[0] == -np.inf), len(self.values) - 1
        last -= int(self.values[last - 1] == np.inf)
        low, high = places.searchsorted((first, last))
        return places[low:high]


class _TaskAttempts(NamedTuple):
    """The attempts of one task in all selections.

    Where the selections start and stop; the numbers of genuine scores, which come first, of
    impostor scores, which come last, and of missed ones.
    """

    first: np.ndarray
    last: np.ndarray
    genuine: np.ndarray
    impostor: np.ndarray
    missed: np.ndarray

    @classmethod
    def of(
        cls, starts: np.ndarray, genuine: np.ndarray, impostor: np.ndarray, missed: np.ndarray
    ) -> Self:
        """Return attempts of selections that follow each other."""
        return cls(starts[:-1], starts[1:], genuine, impostor, missed)


def _lists(places: np.ndarray, tasks: Sequence[_TaskAttempts]) -> kernel.AttemptLists:
    """Return the lists of selections of several tasks, one task after the other."""
    of_all = _TaskAttempts(*map(np.concatenate, zip(*tasks, strict=True)))
    return kernel.AttemptLists(
        places,
        np.stack([of_all.first, of_all.first + of_all.genuine], axis=1),
        np.stack([of_all.last - of_all.impostor, of_all.last], axis=1),
        of_all.missed,
    )


def _starts(sizes: np.ndarray) -> np.ndarray:
    """Return where each of several pieces begins, and where the last ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

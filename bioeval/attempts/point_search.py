"""Operating points of a tally, exactly: from its counts and from second passes at the scores.

Genuine scores and impostor counts in cells say in which few cells each point lies. The impostor
scores of these alone are needed; a pass may have kept them on the way, and whatever it does not
hold is looked for by second passes, where the counts say. Without the scores, a point is exact
where the kept scores hold it, which is checked; any other point has bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from bioeval.attempts.cells import rounded_down
from bioeval.attempts.counters import ImpostorBlock, impostor_scores
from bioeval.attempts.counting import KernelCounters
from bioeval.attempts.counts import VerificationTally
from bioeval.attempts.points import (
    ErrorCurve,
    Moments,
    VerificationPoints,
    d_prime,
    hull_equal_error,
    min_costs,
    moments_of,
)
from bioeval.attempts.second_pass import PointsWanted, SecondPass, Windows
from bioeval.attempts.threshold_search import Attempts, distinct, optimal_bins, runs
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.errors import DataError
from bioeval.base.memory import at_most
from bioeval.base.progress import rows_reported_to, stage
from bioeval.base.scalars import Scalar
from bioeval.kernels.argument_groups import PointTables
from bioeval.scores.matrix import are_pairs

SecondPasses = Sequence[tuple[VerificationCounter, SecondPass]]


# Scores of a bin that are looked for; a bin with more is divided before, and so are all if together
# they have too many. Scores that divide bins, and windows of one second pass.
COLLECT, COLLECT_ALL = 1 << 20, 1 << 24
DIVIDING, MOST_WINDOWS = 1 << 11, 16

# So few impostor scores are all put in order, and no bins are looked for.
FEW = 1 << 18

Impostors = Callable[[], Iterable[ImpostorBlock]]

# Bins of one second pass, the scores that it kept there, increasing, and how many each stands for.
_KeptInBins = list[tuple[np.ndarray, np.ndarray, int]]


class PointFinder:
    """Finds the operating points of one tally, by as many second passes as it takes.

    `symmetric` says whether each pair was counted in both directions, None if unknown;
    `second_pass` is what the pass that counted the tally has collected.
    """

    def __init__(
        self,
        tally: VerificationTally,
        wanted: PointsWanted,
        *,
        symmetric: bool | None,
        second_pass: SecondPass | None = None,
    ):
        """Begin with the counts of the tally, or with finer ones of a second pass."""
        self._wanted, self._symmetric = wanted, symmetric
        self._genuine, self._cells = tally.genuine, tally.impostor
        self._with_rows = wants_rows(tally, wanted)
        if second_pass is not None and second_pass.cells.total == tally.impostor.total:
            self._cells = second_pass.cells
        genuine = tally.genuine.astype(np.float64)
        self._attempts = Attempts.of_cells(genuine, self._cells, tally.missed)
        self._uncut = self._attempts.counts
        self._second_pass: SecondPass | None = None
        self._known: list[SecondPass] = []
        self._needed = np.zeros(0, dtype=bool)
        self._pairs: int | None = None
        self._moments: Moments | None = None
        if second_pass is not None and self._attempts.defined:
            self._take(second_pass)

    @staticmethod
    def of(
        tally: VerificationTally,
        impostors: Impostors,
        wanted: PointsWanted,
        *,
        symmetric: bool | None,
        second_pass: SecondPass | None,
        few: bool | None = None,
    ) -> PointFinder:
        """Return a finder; of `few` impostor scores (by default by their number), with all."""
        if tally.impostor.total <= FEW if few is None else few:
            return FewScores(tally, impostors, wanted, symmetric)
        return PointFinder(tally, wanted, symmetric=symmetric, second_pass=second_pass)

    @staticmethod
    @rows_reported_to(None)
    def take(second_passes: SecondPasses) -> None:
        """Read all impostor scores of some counters of one reader again, in one pass."""
        reader = second_passes[0][0].reader
        of_tiles = KernelCounters.of(counter for counter, _ in second_passes) is not None
        if reader.second_reading is not None and of_tiles:
            reader.second_reading(second_passes).run()
            return
        if are_pairs(reader.scores):
            for counter, second_pass in second_passes:
                for impostors in counter.impostors_again():
                    second_pass.add(impostors)
            return
        # Claims are a line of scores a block, whose sums depend on where blocks end.
        by_row = all(counter.claims is None for counter, _ in second_passes)
        for block in reader.blocks(in_place=by_row):
            for counter, second_pass in second_passes:
                for impostors in counter.impostors(block):
                    second_pass.add(impostors)

    @staticmethod
    @stage("finding operating points")
    def points_of(
        tally: VerificationTally,
        counter: VerificationCounter,
        wanted: PointsWanted,
        *,
        symmetric: bool | None,
        second_pass: SecondPass | None = None,
    ) -> VerificationPoints:
        """Return the exact operating points of a tally, by further passes over its impostor scores.

        `counter` counted it; `second_pass` is what that pass has collected.
        """
        finder = PointFinder.of(
            tally, counter.impostors_again, wanted, symmetric=symmetric, second_pass=second_pass
        )
        while (another := finder.next_second_pass()) is not None:
            PointFinder.take([(counter, another)])
        return finder.points()

    def next_second_pass(self) -> SecondPass | None:
        """Return the next second pass, to take before the next call; None if all is known."""
        attempts = self._attempts
        if not attempts.defined:
            return None
        if self._second_pass is not None:
            self._take(self._second_pass)
        if not len(self._needed):
            self._find_bins()
        bins = self._open()
        for known in self._known:
            bins = bins[~self._held(known, bins)]
        counts = attempts.counts[bins]
        divided = bins[counts > at_most(COLLECT, 32)]
        if not (counts.sum() <= at_most(COLLECT_ALL, 32)):
            divided = bins
        windows = self._windows(divided if len(divided) else bins)
        every = self._wanted.every_score
        genuine = self._genuine if every and self._pairs is None else None
        moments = every and self._moments is None
        if not (windows or moments or genuine is not None):
            return None
        rest = windows, genuine, self._cells.grid.finite_ends
        if len(divided):
            intervals = [attempts.interval(b) for b in divided]
            at = [None if self._near[b] else attempts.genuine_within(b) for b in divided]
            self._second_pass = _Division(intervals, at, *rest, moments=moments)
        else:
            self._second_pass = SecondPass(*rest, moments=moments)
            grid = self._cells.grid.with_margin()
            # The last bins end at the largest float, where cells may go on.
            if attempts.counts is self._uncut and np.isfinite(grid.boundaries).all():
                self._second_pass.keep_cells(grid)
        return self._second_pass

    def points(self) -> VerificationPoints:
        """Return the points, once no second pass is missing."""
        wanted, attempts = self._wanted, self._attempts
        points = undefined_points(wanted, self._symmetric)
        if not attempts.defined:
            return points
        scores = self._kept_in(self._open())
        near = self._list_group(scores)
        _add_points(points, near, wanted, self._with_rows)
        if wanted.every_score:
            assert self._pairs is not None and self._moments is not None
            corners = self._corners(scores)
            _add_every_score(
                points, corners, wanted, self._with_rows, attempts, self._pairs, self._moments
            )
        return points

    def want_rows(self, thresholds: np.ndarray) -> None:
        """Want the false accepts at more thresholds; second passes may be missing again."""
        self._wanted, self._with_rows = replace(self._wanted, rows=thresholds), True
        self._needed = self._needed[:0]

    # -- which bins

    def _find_bins(self) -> None:
        """Find the bins whose scores are needed: near points, or where an optimum can lie."""
        attempts = self._attempts
        near = attempts.up_to(attempts.crossing_bin())
        for target in (0.0, *self._wanted.targets):
            near |= attempts.up_to(attempts.bin_past(target))
        near[attempts.bin_of(attempts.genuine[-1:])] = True
        at_frr = [attempts.at_frr(x) for x in self._wanted.frr_targets.tolist()]
        near[attempts.bin_of([x for x in at_frr if x is not None and not math.isnan(x)])] = True
        if self._wanted.rows is not None:
            near[attempts.bin_of(self._wanted.rows)] = True
        self._near, self._optimal = near, np.zeros(len(near), dtype=bool)
        if self._wanted.every_score:
            self._optimal = optimal_bins(attempts, self._wanted.optima, self._wanted.costs)
        self._needed = (near | self._optimal) & (attempts.counts > 0)

    def _open(self) -> np.ndarray:
        """Return the bins whose scores are needed, and are not said by their counts."""
        return np.flatnonzero(self._needed & ~self._said())

    def _said(self) -> np.ndarray:
        """Return the bins whose counts say what is needed of their scores, as flags.

        They can hold one value only, or an optimum only: it is at a genuine score, and these bins
        have none but at their upper edge.
        """
        attempts = self._attempts
        return attempts.single_valued() | (attempts.genuine_at_ends() & ~self._near)

    def _windows(self, bins: np.ndarray) -> Windows:
        """Return windows that hold bins, at most as many as a pass has; the gaps with fewest."""
        if not len(bins):
            return []
        attempts = self._attempts
        before = np.cumsum(attempts.counts)
        between = before[bins[1:] - 1] - before[bins[:-1]]
        between[np.diff(bins) == 1] = -1
        widest = np.argsort(between, kind="stable")[::-1][: MOST_WINDOWS - 1]
        cuts = np.sort(widest[between[widest] >= 0]) + 1
        windows = []
        for some in np.split(bins, cuts):
            low, _ = attempts.interval(some[0])
            _, high = attempts.interval(some[-1])
            windows.append((low, high))
        return windows

    # -- what second passes found

    def _take(self, second_pass: SecondPass) -> None:
        """Take in the findings of a second pass."""
        counts = self._attempts.counts
        if self._pairs is None:
            self._pairs = second_pass.pairs_with(self._genuine)
        if second_pass.with_moments:
            self._moments = second_pass.moments()
            finite = int(self._cells.counts.sum())
            require_same(sum(int(x.number.sum()) for x in second_pass.rows), finite)
        if isinstance(second_pass, _Division):
            for edges, counted in second_pass.parts():
                b = int(self._attempts.bin_of(edges[-1]))
                require_same(int(counted.sum()), int(counts[b]))
                self._attempts.split(b, edges, counted)
                counts = self._attempts.counts
            self._needed = self._needed[:0]
        elif second_pass.windows:
            self._known.append(second_pass)
        if len(second_pass.divisions):
            self._attempts.divide(second_pass.divisions, second_pass.up_to)
        self._second_pass = None

    def _interval(self, bins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of bins."""
        edges = self._attempts.edges
        return np.append(-np.inf, edges[:-1])[bins], edges[bins]

    def _held(self, second_pass: SecondPass, bins: np.ndarray) -> np.ndarray:
        """Say for each bin whether a second pass kept all scores in it."""
        first, last = self._interval(bins)
        held = np.zeros(len(bins), dtype=bool)
        for low, high in second_pass.windows:
            held |= (low <= first) & (last <= high)
        return held

    def _kept_in(self, bins: np.ndarray) -> _KeptInBins:
        """Return for each pass the bins that it holds first, and its scores there, increasing."""
        parts = []
        for second_pass in self._known:
            held = self._held(second_pass, bins)
            if held.any():
                parts.append((bins[held], *second_pass.within(self._windows(bins[held]))))
            bins = bins[~held]
        return parts

    def _list_group(self, kept_in_bins: _KeptInBins) -> Attempts:
        """Return the attempts with the scores near points, all other bins joined."""
        attempts, single = self._attempts, self._attempts.single_valued()
        wanted = self._near & (attempts.counts > 0)
        alone = np.flatnonzero(wanted & single)
        values, weights = [attempts.edges[alone]], [attempts.counts[alone]]
        for bins, scores, times in kept_in_bins:
            bins = bins[wanted[bins]]
            lower, upper = self._interval(bins)
            first, last = _places(scores, lower), _places(scores, upper)
            require_same(times * int((last - first).sum()), int(attempts.counts[bins].sum()))
            for a, b in zip(first, last, strict=True):  # of many scores, few are distinct
                some, starts = runs(scores[a:b])
                values.append(some.astype(np.float64))
                weights.append(times * np.diff(starts, append=b - a))
        kept = np.append(self._near[1:], True) | self._near
        kept[[0, -1]] = True
        before = np.cumsum(attempts.counts)[kept]
        fewer = replace(attempts, edges=attempts.edges[kept], counts=np.diff(before, prepend=0))
        order = np.argsort(np.concatenate(values), kind="stable")
        fewer.take_scores(np.concatenate(values)[order], np.concatenate(weights)[order])
        return fewer

    def _corners(self, kept_in_bins: _KeptInBins) -> ErrorCurve:
        """Return the points where optima can lie, and the reject-all point."""
        attempts, said, wanted = self._attempts, self._said(), self._optimal
        scores = distinct(attempts.genuine)
        bins = attempts.bin_of(scores)
        scores, bins = scores[wanted[bins]], bins[wanted[bins]]
        fa = (np.cumsum(attempts.counts) - attempts.counts)[bins]
        fa += np.where(said[bins], attempts.counts[bins], 0)
        for some, kept, times in kept_in_bins:
            here = np.isin(bins, some)
            lows = self._interval(bins[here])[0]
            fa[here] += times * (_places(kept, scores[here]) - _places(kept, lows))
        return attempts.curve(scores, fa)


class FewScores(PointFinder):
    """Finds the operating points of one tally from all its impostor scores, in order."""

    def __init__(
        self,
        tally: VerificationTally,
        impostors: Impostors,
        wanted: PointsWanted,
        symmetric: bool | None,
    ):
        self.tally, self.impostors, self.wanted, self.symmetric = (
            tally,
            impostors,
            wanted,
            symmetric,
        )

    def next_second_pass(self) -> None:
        """Return None: no second pass is missing."""

    def attempts(self) -> Attempts:
        """Return the attempts with all impostor scores, in one bin."""
        return _listed(self.tally, list(self.impostors()))

    def want_rows(self, thresholds: np.ndarray) -> None:
        """Request the false accepts at more thresholds."""
        self.wanted = replace(self.wanted, rows=thresholds)

    def points(self) -> VerificationPoints:
        """Return the points."""
        blocks, wanted = list(self.impostors()), self.wanted
        points = undefined_points(wanted, self.symmetric)
        attempts = _listed(self.tally, blocks)
        if attempts.defined:
            with_rows = wants_rows(self.tally, wanted)
            _add_points(points, attempts, wanted, with_rows)
            if wanted.every_score:
                ends = self.tally.impostor.grid.finite_ends
                second_pass = SecondPass((), None, ends, moments=True)
                for block in blocks:
                    second_pass.add(block)
                moments = second_pass.moments()
                assert moments is not None
                corners, pairs = attempts.corners(), attempts.pairs()
                _add_every_score(points, corners, wanted, with_rows, attempts, pairs, moments)
        return points


def _listed(tally: VerificationTally, blocks: list[ImpostorBlock]) -> Attempts:
    """Return the attempts of a tally with the impostor scores of blocks."""
    scores = np.concatenate([np.empty(0, dtype=np.float16), *map(impostor_scores, blocks)])
    require_same(len(scores), tally.impostor.total)
    return Attempts.listed(tally.genuine, scores, *tally.missed)


def undefined_points(wanted: PointsWanted, symmetric: bool | None) -> VerificationPoints:
    """Return points that are not yet defined."""
    return VerificationPoints(
        far_target=wanted.targets,
        frr_at_far=np.full(len(wanted.targets), np.nan),
        threshold_at_far=np.full(len(wanted.targets), np.nan),
        frr_target=wanted.frr_targets,
        far_at_frr=np.full(len(wanted.frr_targets), np.nan),
        threshold_at_frr=np.full(len(wanted.frr_targets), np.nan),
        costs=wanted.costs,
        min_cost=np.full(len(wanted.costs), np.nan),
        min_cost_threshold=np.full(len(wanted.costs), np.nan),
        symmetric=symmetric,
        every_score=wanted.every_score,
    )


def _add_points(
    points: VerificationPoints, attempts: Attempts, wanted: PointsWanted, with_rows: bool
) -> None:
    """Add the EER, the points at FAR and FRR targets, and those without errors of one kind."""
    points.equal_error = attempts.equal_error()
    for i, target in enumerate(points.far_target.tolist()):
        points.frr_at_far[i], points.threshold_at_far[i] = attempts.at_far(target)
    for i, target in enumerate(points.frr_target.tolist()):
        points.far_at_frr[i], points.threshold_at_frr[i] = attempts.far_at_frr(target)
    points.zero_far, points.zero_far_threshold = attempts.at_far(0.0)
    if not attempts.missed and len(attempts.genuine):  # else no threshold accepts all
        points.zero_frr_threshold = float(attempts.genuine[-1])
        accepted = attempts.false_accepts(points.zero_frr_threshold)
        points.zero_frr = int(accepted) / attempts.impostor_attempts
    if with_rows:  # in bins with known scores
        rows = np.append(points.thresholds, np.empty(0) if wanted.rows is None else wanted.rows)
        points.add_rows(rows, attempts.false_accepts(rows))


def _add_every_score(
    points: VerificationPoints,
    corners: ErrorCurve,
    wanted: PointsWanted,
    with_rows: bool,
    attempts: Attempts,
    pairs: int,
    moments: Moments,
) -> None:
    """Add what needs every score: AUC, d', and what is best over all points."""
    genuine = attempts.genuine
    points.d_prime = d_prime(moments_of(genuine[np.isfinite(genuine)]), moments)
    points.auc = pairs / (2 * corners.genuine * corners.impostor)
    add_optima(points, corners, wanted.optima, with_rows=with_rows)


def add_optima(
    points: VerificationPoints, corners: ErrorCurve, optima: Sequence[Scalar], *, with_rows: bool
) -> None:
    """Add hull, optima and least costs, with rows at their thresholds if wanted."""
    for x in optima:
        place = x.place_of_best(corners.fars, corners.frrs)
        points.optima[x.name] = float(x.over_points(corners.fars, corners.frrs))
        points.optima[x.threshold] = float(corners.threshold[place])
    points.eer_hull = hull_equal_error(corners.fars, corners.frrs)
    attempts, ends = [(corners.genuine, corners.impostor)], np.array([0, len(corners.fa)])
    least, places = min_costs(corners.fa, corners.fr, ends, attempts, points.costs)
    points.min_cost, points.min_cost_threshold = least[0], corners.threshold[places[0]]
    if with_rows:
        points.add_rows(points.min_cost_threshold, corners.fa[places[0]])


def wants_rows(tally: VerificationTally, wanted: PointsWanted) -> bool:
    """Whether the rows of the result include its points; not if thresholds are given."""
    return tally.given is None or wanted.rows is not None


class _Division(SecondPass):
    """A pass that divides crowded bins: it counts scores between and at dividing scores.

    `at` are the scores at which each bin is divided; None for some of the first scores there.
    """

    def __init__(
        self,
        bins: Windows,
        at: Sequence[np.ndarray | None],
        windows: Windows,
        *rest: Any,
        **options: Any,
    ):
        super().__init__(windows, *rest, **options)
        self._bins, self._at = bins, at
        self._edges = np.empty(0)
        self._counts = np.zeros(1, dtype=np.int64)
        if all(edges is not None for edges in at):
            self._divide(np.empty(0))

    def include(self, tables: PointTables) -> None:
        """Include the findings in some rows; the first scores divide the bins."""
        super().include(tables)
        scores = np.concatenate([np.empty(0), *self.kept])
        self.kept = []
        if len(scores) and not len(self._edges):
            self._divide(np.sort(scores))
        self._counts += np.bincount(self._edges.searchsorted(scores), minlength=len(self._counts))

    def _divide(self, scores: np.ndarray) -> None:
        """Place the dividing scores, some of them among these, which are increasing."""
        edges = [np.array(self._bins).reshape(-1)]
        places = _places(scores, np.array(self._bins).T)
        for first, last, at in zip(*places, self._at, strict=True):
            if at is None:
                some = distinct(scores[first:last])
                some = some[:: -(-len(some) * len(self._bins) // DIVIDING) or 1]
                edges += [some, np.nextafter(some, -np.inf)]
            else:
                edges.append(at)
        self._edges = distinct(np.sort(np.concatenate(edges)))
        self._counts = np.zeros(len(self._edges) + 1, dtype=np.int64)

    @property
    def starts_with_any(self) -> bool:
        """Whether the dividing scores are still to be taken from a first block."""
        return not len(self._edges)

    def fresh(self) -> Self:
        """Return the same second pass before it has found anything, with the scores that divide."""
        second_pass = super().fresh()
        second_pass._counts = np.zeros_like(self._counts)
        return second_pass

    def counts(self) -> dict[str, Any]:
        """Return the findings as counts of rows, to merge with those of others."""
        return {**super().counts(), "divided": self._counts}

    def count_twice(self) -> None:
        """Let each score found stand for both directions of a pair of templates."""
        super().count_twice()
        self._counts = 2 * self._counts

    def include_counts(self, counts: dict[str, Any]) -> None:
        """Take in the findings of second passes over all rows."""
        super().include_counts(counts)
        self._counts = counts["divided"]

    def parts(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the upper edges and the counts of the parts of each bin."""
        for low, high in self._bins:
            first, last = np.searchsorted(self._edges, [low, high])
            if len(self._edges):
                yield self._edges[first + 1 : last + 1], self._counts[first + 1 : last + 1]
            else:
                yield np.array([high]), self._counts


def require_same(seen: int, counted: int) -> None:
    """Raise :class:`DataError` unless another pass finds as many scores as were counted."""
    if seen != counted:
        raise DataError(
            f"the scores hold {seen} impostor attempts where the tally counted {counted}; "
            "refine a tally with the very scores that it counted"
        )


def _places(scores: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the number of increasing scores at or below each of the ends."""
    return np.searchsorted(scores, rounded_down(ends, scores.dtype), side="right")

"""Choice of the impostor scores that a tally keeps: those closest to its operating points.

A tally of some probes is a sample of those it may be merged with, whose points are elsewhere. How
far cannot be known beforehand; so as many scores are kept as may be, in the order of their distance
from a point, in standard errors of the rates there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bioeval.tallies.cells import CellGrid
from bioeval.tallies.counts import VerificationTally
from bioeval.tallies.kept_scores import KeptScores
from bioeval.tallies.point_search import require_same
from bioeval.tallies.second_pass import PointsWanted, SecondPass, Windows
from bioeval.tallies.threshold_search import Objective, crossing_weight, objectives

# Standard errors of the pilot within which a point is looked for.
ERRORS = 4.0

# Cells that a window begins and ends between: as much wider may the final cells be.
ALIGNED = 4

# How many times as far an optimum is looked for, which is flat, and cells with genuine scores that
# it may be beside: a few scores more are kept, and another pass is seldom needed.
FLAT, BESIDE = 2.0, 8

# FAR targets that every window of the lowest scores covers.
LEAST_TARGETS = (0.0, 1e-6, 1e-5)


def expected_windows(
    grid: CellGrid, counts: np.ndarray, genuine: np.ndarray, wanted: PointsWanted, most: float
) -> tuple[Windows, float]:
    """Return where operating points are expected, and the proportion of impostor scores there.

    `counts`, shape (groups, cells), are those of a pilot, by groups of its rows: the differences
    between groups say how far off it may be. At most the proportion `most` is kept, of the points
    with the fewest scores first.
    """
    pilot = Pilot(grid, counts, genuine)
    before = np.concatenate([[0.0], pilot.far])
    found = np.zeros(grid.count, dtype=bool)
    spans = [pilot.aligned(span) for span in pilot.spans(wanted)]
    for span in sorted(spans, key=lambda span: float(np.diff(before)[span].sum())):
        if np.diff(before)[found | span].sum() <= most:
            found |= span
    change = np.flatnonzero(np.diff(found.astype(np.int8), prepend=0, append=0))
    ends = grid.boundaries
    ends[0], ends[-1] = -np.inf, np.inf
    windows = [(float(ends[a]), float(ends[b])) for a, b in change.reshape(-1, 2)]
    return windows, float(np.diff(before)[found].sum())


class Pilot:
    """Counts of a pilot by groups of its rows, with the genuine scores."""

    def __init__(self, grid: CellGrid, counts: np.ndarray, genuine: np.ndarray):
        self.grid, self.groups = grid, len(counts)
        self.total = counts.sum()
        self.filled = np.flatnonzero(counts.any(axis=0))
        self.accepted = np.cumsum(counts, axis=1) / np.maximum(counts.sum(axis=1), 1)[:, None]
        self.far = np.cumsum(counts.sum(axis=0)) / self.total
        within = np.searchsorted(genuine, grid.edges, side="right")
        self.frr = 1 - within / len(genuine)
        self.held = np.diff(within, prepend=0) > 0
        self.last = int(np.searchsorted(grid.edges, genuine[-1]))

    def spans(self, wanted: PointsWanted) -> Iterator[np.ndarray]:
        """Yield the cells in which each point may lie."""
        error = self.error_of(self.accepted, self.far)
        for target in (*LEAST_TARGETS, *wanted.targets):
            yield self.crossing(self.far - target, error)
        yield self.crossing(self.far - self.frr, error)
        yield np.arange(len(self.far)) == min(self.last, len(self.far) - 1)
        if wanted.expected is not None:
            yield from wanted.expected(self)
        if wanted.every_score:
            weight = crossing_weight(np.append(0.0, self.far), np.append(1.0, self.frr))
            for objective in objectives(wanted.costs, [weight]):
                yield self.optimum(objective)

    def error_of(self, groups: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Return the possible error of the mean of the groups, in proportions of the scores."""
        return ERRORS * np.sqrt(
            groups.var(axis=0) / (self.groups - 1) + (share + 1 / self.total) / self.total
        )

    def crossing(self, over: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return the cells where increasing numbers may cross 0, down to the scores before."""
        first = int(np.argmax(over + error >= 0)) if (over + error >= 0).any() else len(over) - 1
        last = len(over) - 1 - int(np.argmax((over - error <= 0)[::-1]))
        before = np.searchsorted(self.filled, first) - 1
        cells = np.arange(len(over))
        return (cells >= (self.filled[before] if before >= 0 else 0)) & (cells <= last + 1)

    def optimum(self, objective: Objective) -> np.ndarray:
        """Return the cells of genuine scores in which a function of the rates may be least."""
        cost = objective(self.far, self.frr)
        best = int(np.argmin(cost))
        groups = objective(self.accepted, self.frr)
        error = FLAT * self.error_of(groups - groups[:, [best]], abs(self.far - self.far[best]))
        near = objective(np.append(0.0, self.far[:-1]), self.frr) - error <= cost[best]
        held = near[self.held]
        found = np.convolve(held, np.ones(2 * BESIDE + 1))[BESIDE : BESIDE + len(held)] > 0
        span = np.zeros(len(near), dtype=bool)
        span[self.held] = found
        return span

    def aligned(self, span: np.ndarray) -> np.ndarray:
        """Return the cells of a span, widened to whole wider cells."""
        shift = (self.grid.first - 1) % ALIGNED
        count = -(-(shift + len(span)) // ALIGNED) * ALIGNED
        padded = np.zeros(count, dtype=bool)
        padded[shift : shift + len(span)] = span
        wide = np.repeat(padded.reshape(-1, ALIGNED).any(axis=1), ALIGNED)
        return wide[shift : shift + len(span)]


def closest_windows(
    grid: CellGrid,
    counts: np.ndarray,
    genuine: np.ndarray,
    wanted: PointsWanted,
    most: float,
    kept: np.ndarray | None = None,
) -> tuple[Windows, float]:
    """Return windows of the cells closest to the points, and the proportion of scores in them.

    `counts`, shape (cells,), are those of impostor scores, of which at most so many are in the
    windows; `kept` is how many of each cell count for that, by default all.
    """
    if not counts.any():
        return [(-np.inf, np.inf)], 1.0
    kept = counts if kept is None else kept
    found = kept == 0
    distance = np.full(len(counts), np.inf)
    for each in _distances(grid, counts, genuine, wanted):
        np.minimum(distance, each, out=distance)
    for cell in np.argsort(distance, kind="stable"):
        if 0 < kept[cell] <= most:
            found[cell] = True
            most -= kept[cell]
    ends = grid.boundaries
    ends[0], ends[-1] = -np.inf, np.inf
    change = np.flatnonzero(np.diff(found, prepend=False, append=False)).reshape(-1, 2)
    # A window without scores is of no use.
    windows = [(float(ends[a]), float(ends[b])) for a, b in change if kept[a:b].any()]
    return windows, float(kept[found].sum() / counts.sum())


def _distances(
    grid: CellGrid, counts: np.ndarray, genuine: np.ndarray, wanted: PointsWanted
) -> Iterator[np.ndarray]:
    """Yield the distance of each cell from each point, in standard errors up to a common factor."""
    total = counts.sum()
    ends = np.append(0, np.cumsum(counts)) / total
    far0, far = ends[:-1], ends[1:]
    for target in (*LEAST_TARGETS, *wanted.targets.tolist()):
        yield _outside(far0 - target, far - target) / np.sqrt(target + 1 / total)
    if not len(genuine):
        return
    within = np.searchsorted(genuine, grid.edges, side="right")
    frr = 1 - within / len(genuine)
    frr0 = np.append(1.0, frr[:-1])
    at = min(int(np.argmax(far >= frr)), len(far) - 1)
    rates = far[at] + frr[at] + 1 / len(genuine)
    yield _outside(far0 - frr0, far - frr) / np.sqrt(rates)
    # The farthest genuine score of others may be anywhere: only its own cell.
    last = far[min(int(np.searchsorted(grid.edges, genuine[-1])), len(far) - 1)]
    yield _outside(far0 - last, far - last) / np.sqrt(1 / total)
    weight = crossing_weight(np.append(0.0, far), np.append(1.0, frr))
    costs = [(p * miss, (1 - p) * accept) for p, miss, accept in wanted.costs.tolist()]
    for miss, accept in [*costs, (1 - weight, weight)]:
        best = int(np.argmin(miss * frr + accept * far))
        more = miss * (frr - frr[best]) + accept * (far0 - far[best])
        error = miss**2 * (abs(frr - frr[best]) + 1 / len(genuine))
        error += accept**2 * (abs(far0 - far[best]) + 1 / total)
        far_off = np.maximum(more, 0) / np.sqrt(error + np.finfo(float).tiny)
        # No farther than the cells behind, seen from the best one: what is kept is in one piece.
        yield np.maximum(np.minimum.accumulate(far_off), np.minimum.accumulate(far_off[::-1])[::-1])


def _outside(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the distance of 0 from increasing intervals; 0 inside."""
    return np.maximum(np.maximum(low, -high), 0)


def second_pass_near_points(tally: VerificationTally, wanted: PointsWanted) -> SecondPass:
    """Return a second pass over the scores of a tally that keeps those closest to its points."""
    cells = tally.impostor
    found = closest_windows(cells.grid, cells.counts, tally.genuine, wanted, wanted.keep)[0]
    second_pass = SecondPass(found)
    grid = cells.grid.with_margin()
    # The last cells end at the largest float, beyond which there is no grid.
    if len(cells.counts) and np.isfinite(grid.boundaries).all():
        second_pass.keep_cells(grid)
    return second_pass


def kept_of(
    second_pass: SecondPass, tally: VerificationTally, wanted: PointsWanted, *, rare: bool
) -> KeptScores:
    """Return the scores of a tally that a second pass kept, in windows between its cells."""
    cells = tally.impostor
    ends = cells.grid.boundaries
    below = np.append(0, np.cumsum(cells.counts)) + cells.negative_infinite
    places = [
        (np.searchsorted(ends, low), np.searchsorted(ends, high, side="right") - 1)
        for low, high in second_pass.windows
    ]
    if len(cells.counts):
        places = [(a, b) for a, b in places if a < b]
    first, last = np.array(places, dtype=np.int64).reshape(-1, 2).T
    # The tally counted nothing finite outside of its cells.
    lows = np.where(first == 0, -np.inf, ends[first])
    highs = np.where(last == len(ends) - 1, np.inf, ends[last])
    scores = second_pass.within(list(zip(lows.tolist(), highs.tolist(), strict=True)))
    scores = scores[np.isfinite(scores)]
    require_same(len(scores), int((below[last] - below[first]).sum()))
    return KeptScores(lows, highs, below[first], scores, wanted.targets, wanted.costs, rare)


def at_most_kept(tally: VerificationTally, most: int) -> VerificationTally:
    """Return a tally that keeps at most a number of scores, those closest to its points."""
    kept, cells = tally.kept, tally.impostor
    if kept is None or len(kept.scores) <= most:
        return tally
    ends = cells.grid.boundaries
    counts = np.diff(np.searchsorted(kept.scores, ends[1:-1], side="right"), prepend=0)
    counts = np.append(counts, len(kept.scores) - counts.sum())
    wanted = PointsWanted(kept.targets, kept.costs, every_score=True)
    windows, _ = closest_windows(cells.grid, cells.counts, tally.genuine, wanted, most, counts)
    lows, highs = np.array(windows, dtype=np.float64).reshape(-1, 2).T
    return replace(tally, kept=kept.within(*kept.common(lows, highs)))

"""Where operating points are expected, by the counts of a pilot of some rows.

A pilot that missed costs another look, and changes no result.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bioeval.tallies.cells import CellGrid
from bioeval.tallies.look import PointsWanted, Windows
from bioeval.tallies.optimal_bins import Objective, crossing_weight, objectives

# Standard errors of the pilot within which a point is looked for.
ERRORS = 4.0

# Cells that a window begins and ends between: as much wider may the final cells be.
ALIGNED = 4

# How many times as far an optimum is looked for, which is flat, and cells with genuine scores that
# it may be beside: a few scores more are kept, and another look is seldom needed.
FLAT, BESIDE = 2.0, 8

# FAR targets that every window of the lowest scores covers.
LEAST_TARGETS = (0.0, 1e-6, 1e-5)


def expected_windows(
    grid: CellGrid, counts: np.ndarray, genuine: np.ndarray, wanted: PointsWanted, most: float
) -> tuple[Windows, float]:
    """Return where operating points are expected, and the share of impostor scores there.

    `counts`, shape (groups, cells), are those of a pilot, by groups of its rows: the differences
    between groups say how far off it may be. At most the proportion `most` is kept, of the points
    with the fewest scores first.
    """
    pilot = _Pilot(grid, counts, genuine)
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


class _Pilot:
    """Counts of a pilot by groups of its rows, and the genuine scores."""

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
        """Yield the cells where each point may be."""
        error = self._error(self.accepted, self.far)
        for target in (*LEAST_TARGETS, *wanted.targets):
            yield self._crossing(self.far - target, error)
        yield self._crossing(self.far - self.frr, error)
        yield np.arange(len(self.far)) == min(self.last, len(self.far) - 1)
        if wanted.every_score:
            weight = crossing_weight(np.append(0.0, self.far), np.append(1.0, self.frr))
            for objective in objectives(wanted.costs, [weight]):
                yield self._optimum(objective)

    def _error(self, groups: np.ndarray, share: np.ndarray) -> np.ndarray:
        """Return how far off the mean of the groups may be, of shares of the scores."""
        return ERRORS * np.sqrt(
            groups.var(axis=0) / (self.groups - 1) + (share + 1 / self.total) / self.total
        )

    def _crossing(self, over: np.ndarray, error: np.ndarray) -> np.ndarray:
        """Return the cells where increasing numbers may pass 0, down to the scores before."""
        first = int(np.argmax(over + error >= 0)) if (over + error >= 0).any() else len(over) - 1
        last = len(over) - 1 - int(np.argmax((over - error <= 0)[::-1]))
        before = np.searchsorted(self.filled, first) - 1
        cells = np.arange(len(over))
        return (cells >= (self.filled[before] if before >= 0 else 0)) & (cells <= last + 1)

    def _optimum(self, objective: Objective) -> np.ndarray:
        """Return the cells with genuine scores where a function of the rates may be least."""
        cost = objective(self.far, self.frr)
        best = int(np.argmin(cost))
        groups = objective(self.accepted, self.frr)
        error = FLAT * self._error(groups - groups[:, [best]], abs(self.far - self.far[best]))
        near = objective(np.append(0.0, self.far[:-1]), self.frr) - error <= cost[best]
        held = near[self.held]
        found = np.convolve(held, np.ones(2 * BESIDE + 1))[BESIDE : BESIDE + len(held)] > 0
        span = np.zeros(len(near), dtype=bool)
        span[self.held] = found
        return span

    def aligned(self, span: np.ndarray) -> np.ndarray:
        """Return the cells of a span, and those around that make wider cells with them."""
        shift = (self.grid.first - 1) % ALIGNED
        count = -(-(shift + len(span)) // ALIGNED) * ALIGNED
        padded = np.zeros(count, dtype=bool)
        padded[shift : shift + len(span)] = span
        wide = np.repeat(padded.reshape(-1, ALIGNED).any(axis=1), ALIGNED)
        return wide[shift : shift + len(span)]

"""Sentinels: scores that stand for a failed comparison, such as -1 in a whole row or column.

Rows are looked at while they are counted. Columns, and values far from all others, are suspected
from a sample of these rows, so that no score is read twice but those of a suspected column.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.kernels.constant_rows import constant_rows
from bioeval.scores.arrays import IGNORE
from bioeval.scores.growing_column import release
from bioeval.scores.matrix import PairScores, Scores

# Sampled values, about, and the least and the largest number of sampled rows.
SAMPLE_VALUES, SAMPLE_ROWS = 1 << 16, (8, 128)

# Least comparisons of a constant row or column; how many such are expected by chance, at most,
# where each comparison has the value as often as the others have.
LEAST_COMPARISONS, CHANCE = 8, 1e-3

# A value is far from the others if it is further from them than this part of their range. It must
# be shared by some comparisons, and the others must not be the few values of quantised scores.
FAR, LEAST_SHARED, LEAST_OTHERS = 1 / 3, 10, 16

# Rows of a suspected column that are read together.
_BLOCK_ROWS = 4096

_SHOWN = 3
REMEDY = (
    'if comparisons failed there, make these scores NaN and give `nan="exclude"` (no attempt) or '
    '`nan="reject"`, or mask them'
)


class Sentinels(NamedTuple):
    """Constant rows and columns with their values, and a value far from all others."""

    rows: np.ndarray
    row_values: np.ndarray
    columns: np.ndarray
    column_values: np.ndarray
    value: float | None
    hits: np.ndarray  # row and column of the sampled comparisons that have the value
    compared: int  # sampled comparisons


class SentinelWatch:
    """Looks for constant rows and columns, and for values far from all others, during a sweep.

    `itself` is the column of each probe itself, -1 for none, and `positions` the position of each
    column in a block.
    """

    def __init__(self, scores: Scores, itself: np.ndarray, positions: np.ndarray):
        self.scores, self.itself, self.positions = scores, itself, positions
        m, n = scores.shape
        least, most = SAMPLE_ROWS
        rows = min(m, most, max(least, SAMPLE_VALUES // n))
        self.sampled = np.unique(np.linspace(0, m - 1, rows).astype(np.int64))
        self.sample = np.full((len(self.sampled), n), np.nan)
        self.value, self.count = np.full(m, np.nan), np.zeros(m, dtype=np.int64)

    def look(
        self, low: int, values: np.ndarray, rows: np.ndarray, places: np.ndarray, sign: float
    ) -> None:
        """Look at the rows of the scores from `low` on: `rows` of `values`, times `sign`.

        Column ``j`` of the scores is ``values[:, places[j]]``.
        """
        high = low + len(rows)
        found = self.value[low:high]
        constant_rows(values, rows, places, self.itself[low:high], found, self.count[low:high])
        found *= sign
        first, last = np.searchsorted(self.sampled, [low, high])
        chosen = self.sampled[first:last]
        if not len(chosen):
            return
        sample = sign * values[np.ix_(rows[chosen - low], places)].astype(np.float64)
        sample[~np.isfinite(sample)] = np.nan
        itself = self.itself[chosen]
        sample[itself >= 0, itself[itself >= 0]] = np.nan
        self.sample[first:last] = sample

    def of_rows(self, low: int, high: int) -> Self:
        """Return a watch of rows ``low:high`` alone, which has seen none."""
        watch = copy(self)
        watch.sampled = self.sampled[(self.sampled >= low) & (self.sampled < high)]
        watch.sample = np.full((len(watch.sampled), self.sample.shape[1]), np.nan)
        watch.value, watch.count = np.full_like(self.value, np.nan), np.zeros_like(self.count)
        return watch

    def found(self) -> Sentinels:
        """Return the constant rows and columns, and the value far from all others."""
        known = ~np.isnan(self.sample)
        seen = known.sum(axis=0)
        low, high = np.fmin.reduce(self.sample), np.fmax.reduce(self.sample)
        least = min(LEAST_COMPARISONS, len(self.sampled))
        columns = np.flatnonzero((low == high) & (seen >= least))
        rows = np.flatnonzero(~np.isnan(self.value) & (self.count >= LEAST_COMPARISONS))
        known[np.isin(self.sampled, rows)] = False
        known[:, columns] = False
        others = self.sample[known]
        if len(rows) or len(columns):
            others.sort()
        rows = rows[_rare(self.value[rows], self.count[rows], others, len(self.value))]
        columns = columns[_rare(low[columns], seen[columns], others, len(low))]
        columns = columns[self._constant(columns, low[columns])]
        value = far_value(others, self.scores.kind)
        hits = np.empty((0, 2), dtype=np.int64)
        if value is not None:
            hits = np.argwhere(self.sample == value)
            hits[:, 0] = self.sampled[hits[:, 0]]
        return Sentinels(
            rows, self.value[rows], columns, low[columns], value, hits, int(seen.sum())
        )

    def notes(self) -> list[str]:
        """Return warnings about what was found."""
        found = self.found()
        notes = _constant_note(found.rows, found.row_values, found.columns, found.column_values)
        if found.value is not None:
            first = [f"({i}, {j})" for i, j in found.hits[:_SHOWN]]
            compared = counted(found.compared, "sampled comparisons")
            notes.append(_far_note(found.value, len(found.hits), compared, "row, column", first))
        return notes

    def _constant(self, columns: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Say of suspected columns whether all their finite scores are the value."""
        scores, ids = self.scores, self.scores.gallery_ids[columns]
        constant, number = np.ones(len(columns), dtype=bool), np.zeros(len(columns), dtype=int)
        for low in range(0, scores.shape[0] if len(columns) else 0, _BLOCK_ROWS):
            high = min(low + _BLOCK_ROWS, scores.shape[0])
            found = scores.read_rows(low, high, columns).astype(np.float64)
            compared = np.isfinite(found) & (scores.probe_ids[low:high, None] != ids)
            if scores.has_mask:
                compared &= scores.read_mask(low, high, columns) != IGNORE
            constant &= ((found == value) | ~compared).all(axis=0)
            number += compared.sum(axis=0)
        return constant & (number >= LEAST_COMPARISONS)


def _rare(value: np.ndarray, count: np.ndarray, others: np.ndarray, lines: int) -> np.ndarray:
    """Say of constant rows or columns whether so many equal scores are no chance.

    `others` are sampled scores of all other rows and columns, in order; there are `lines` rows or
    columns.
    """
    ends = (np.searchsorted(others, value, side=side) for side in ("right", "left"))
    same = next(ends) - next(ends)
    share = (same + 1) / (len(others) + 1)
    return (share < 0.5) & (share**count * lines < CHANCE)


def _constant_note(
    rows: np.ndarray, of_rows: np.ndarray, columns: np.ndarray, of_columns: np.ndarray
) -> list[str]:
    places = [_listed(*x) for x in (("row", rows), ("column", columns)) if len(x[1])]
    if not places:
        return []
    values = np.unique(np.concatenate([of_rows, of_columns]))
    some = ", ".join(f"{x:.6g}" for x in values[:_SHOWN]) + ", ..." * (len(values) > _SHOWN)
    hold = "holds" if len(rows) + len(columns) == 1 else "hold"
    return [f"{' and '.join(places)} {hold} one value in every comparison: {some}; {REMEDY}"]


def _listed(what: str, places: np.ndarray) -> str:
    names = ", ".join(map(str, places[:_SHOWN])) + ", ..." * (len(places) > _SHOWN)
    return f"{what} {names}" if len(places) == 1 else f"{len(places):,} {what}s ({names})"


def far_value(scores: np.ndarray, kind: str) -> float | None:
    """Return the least similar score, if it is shared and far from all others; None if not."""
    distances = -scores if larger_is_closer(kind) else scores
    last = distances.max(initial=-np.inf)
    others = distances[distances < last]
    shared = len(distances) - len(others)
    if kind == "order" or shared < LEAST_SHARED or not len(others) > shared:
        return None
    near, far = others.min() / 2, others.max() / 2  # halves, whose difference is finite
    if last / 2 - far <= FAR * (far - near) or len(np.unique(others)) < LEAST_OTHERS:
        return None
    return float(-last if larger_is_closer(kind) else last)


def notes_of_pairs(scores: PairScores) -> list[str]:
    """Return warnings about pairs."""
    step = -(-scores.shape[0] // SAMPLE_VALUES)
    sample = scores.values[::step].astype(np.float64)
    release(scores.values)
    finite = sample[np.isfinite(sample)]
    value = far_value(finite, scores.kind)
    if value is None:
        return []
    hits = np.flatnonzero(sample == value)
    compared = counted(len(finite), "pairs" if step == 1 else "sampled pairs")
    return [_far_note(value, len(hits), compared, "pair", map(str, step * hits[:_SHOWN]))]


def _far_note(value: float, shared: int, of: str, what: str, first: Iterable[str]) -> str:
    places = f"first {what}: {', '.join(first)}"
    return (
        f"{shared:,} of {of} have the score {value:.6g}, far from all others ({places}); {REMEDY}"
    )

"""Failure codes: scores that stand for a failed comparison, such as -1 in a whole row or column.

All rows are scanned. Columns, and values at the ends of the others, are suspected from a sample of
these rows, so that no score is read twice but those of a suspected column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bioeval.base.kinds import larger_is_closer
from bioeval.scores.matrix import Scores

# Sampled values, about, and the least and the largest number of sampled rows.
SAMPLE_VALUES, SAMPLE_ROWS = 1 << 16, (8, 128)

# Least comparisons of a constant row or column; how many such are expected by chance, at most,
# where each comparison has the value as often as the others have.
LEAST_COMPARISONS, CHANCE = 8, 1e-3

# A value is far from the others if it is further from them than this part of their range. It must
# be shared by some comparisons, and the others must not be the few values of quantised scores.
FAR, LEAST_SHARED, LEAST_OTHER_VALUES = 1 / 3, 10, 16

# A value at the end is beyond what ties explain if it is there more often, by this factor, than any
# of its next neighbours. It is apart from them if it is further away than they reach.
TIES, NEIGHBOURS = 10, 8

# Rows of a suspected column that are read together.
_BLOCK_ROWS = 4096

FAR_OFF, NEGATIVE = "far from all others", "the only value below 0"
APART, CUT_OFF = "apart from all others", "at the end of all others"


@dataclass(frozen=True)
class EndValue:
    """A value at one end of the range that suspiciously many scores share."""

    value: float
    how: str  # how it differs from the others
    accepted: bool  # whether it is at the end that is accepted

    @property
    def severity(self) -> str:
        """How serious it is: scores that were cut off have neighbours, and are no failure codes."""
        if self.how == CUT_OFF:
            return "note"
        if self.how in (APART, NEGATIVE) and not self.accepted:
            return "warning"
        return "error"

    @classmethod
    def among(
        cls, scores: np.ndarray, impostor: np.ndarray, kind: str, copies: bool = False
    ) -> list[EndValue]:
        """Return the least and the most similar score, if suspiciously many comparisons share them.

        At the end that is accepted impostor scores count alone, and of these the score of a copy
        (distance 0, similarity 1) only with `copies`.
        """
        of_copy = {"distance": 0.0, "similarity": 1.0}.get(kind)
        shared_ends = []
        for accepted in (False, True):
            turn = -1.0 if accepted != larger_is_closer(kind) else 1.0
            ends = turn * (scores[impostor] if accepted else scores)
            last = ends.max(initial=-np.inf)
            other_ends = ends[ends < last]
            shared, value = len(ends) - len(other_ends), float(0.0 + turn * last)
            if kind == "order" or shared < LEAST_SHARED or not len(other_ends) > shared:
                continue
            if accepted and value == of_copy and not copies:
                continue
            how = _how(last, other_ends, shared)
            # No distance is below 0, nor most similarities; log-likelihood ratios are.
            lower = kind != "llr" and accepted != larger_is_closer(kind)
            if lower and last > 0 >= other_ends.max() and (accepted or how != FAR_OFF):
                how = NEGATIVE
            if how:
                shared_ends.append(cls(value, how, accepted))
        return shared_ends


class FailureCodes(NamedTuple):
    """Constant rows and columns with their values, and values at the ends."""

    rows: np.ndarray
    row_values: np.ndarray
    columns: np.ndarray
    column_values: np.ndarray
    ends: list[EndValue]
    hits: list[np.ndarray]  # of each: row and column of the sampled comparisons that have it
    compared: int  # sampled comparisons


class FailureCodeScan:
    """Looks for constant rows and columns, and for values far from all others.

    `self_columns` is the column of each probe itself, -1 for none.
    """

    def __init__(self, scores: Scores, self_columns: np.ndarray):
        self.scores, self.self_columns = scores, self_columns
        m, n = scores.shape
        least, most = SAMPLE_ROWS
        rows = min(m, most, max(least, SAMPLE_VALUES // n))
        self.sampled = np.unique(np.linspace(0, m - 1, rows).astype(np.int64))
        self.sample = np.full((len(self.sampled), n), np.nan)
        self.value, self.count = np.full(m, np.nan), np.zeros(m, dtype=np.int64)

    def add(self, low: int, distances: np.ndarray, ends: np.ndarray) -> None:
        """Scan rows from `low` on, NaN where there is no comparison.

        `ends` are the nearest and the farthest finite distance of each row.
        """
        sign = -1.0 if larger_is_closer(self.scores.kind) else 1.0
        high = low + len(distances)
        constant = np.flatnonzero(ends[:, 0] == ends[:, 1])
        self.value[low + constant] = sign * ends[constant, 0]
        self.count[low + constant] = self._finite(low, constant, distances).sum(axis=1)
        first, last = np.searchsorted(self.sampled, [low, high])
        chosen = self.sampled[first:last] - low
        finite = self._finite(low, chosen, distances)
        self.sample[first:last] = np.where(finite, sign * distances[chosen], np.nan)

    def _finite(self, low: int, rows: np.ndarray, distances: np.ndarray) -> np.ndarray:
        """Return which distances of some rows are finite, but for those of a probe to itself."""
        finite = np.isfinite(distances[rows])
        self_column = self.self_columns[low + rows]
        finite[self_column >= 0, self_column[self_column >= 0]] = False
        return finite

    def found(self) -> FailureCodes:
        """Return the constant rows and columns, and the value far from all others."""
        known = ~np.isnan(self.sample)
        seen = known.sum(axis=0)
        low, high = np.fmin.reduce(self.sample), np.fmax.reduce(self.sample)
        least = min(LEAST_COMPARISONS, len(self.sampled))
        columns = np.flatnonzero((low == high) & (seen >= least))
        rows = np.flatnonzero(~np.isnan(self.value) & (self.count >= LEAST_COMPARISONS))
        if len(rows) or len(columns):
            known[np.isin(self.sampled, rows)] = False
            known[:, columns] = False
            ordered = np.sort(self.sample[known])
            rows = rows[_rare(self.value[rows], self.count[rows], ordered, len(self.value))]
            columns = columns[_rare(low[columns], seen[columns], ordered, len(low))]
            columns = columns[self._constant(columns, low[columns])]
        sample = self.sample[known]
        ends = EndValue.among(sample, self._impostors()[known], self.scores.kind)
        hits = [np.argwhere(self.sample == end.value) for end in ends]
        for places in hits:
            places[:, 0] = self.sampled[places[:, 0]]
        return FailureCodes(
            rows, self.value[rows], columns, low[columns], ends, hits, int(seen.sum())
        )

    def _impostors(self) -> np.ndarray:
        """Return which of the sampled comparisons are impostor; all, if unknown."""
        if not self.scores._labelled:
            return np.ones(self.sample.shape, dtype=bool)
        codes = self.scores._codes
        return codes.probe[self.sampled][:, None] != codes.gallery

    def _constant(self, columns: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return which suspected columns have the same value in all finite scores."""
        scores, ids = self.scores, self.scores.gallery_ids[columns]
        constant, number = np.ones(len(columns), dtype=bool), np.zeros(len(columns), dtype=int)
        for low in range(0, scores.shape[0] if len(columns) else 0, _BLOCK_ROWS):
            high = min(low + _BLOCK_ROWS, scores.shape[0])
            rows = scores._read_rows(low, high, columns).astype(np.float64)
            compared = np.isfinite(rows) & (scores.probe_ids[low:high, None] != ids)
            left_out = scores._left_out(low, high, columns)
            if left_out is not None:
                compared &= ~left_out
            constant &= ((rows == value) | ~compared).all(axis=0)
            number += compared.sum(axis=0)
        return constant & (number >= LEAST_COMPARISONS)


def _rare(value: np.ndarray, count: np.ndarray, sample: np.ndarray, lines: int) -> np.ndarray:
    """Return which constant rows or columns have too many equal scores to be chance.

    `sample` are sampled scores of all other rows and columns, in order; there are `lines` rows or
    columns.
    """
    same = np.searchsorted(sample, value, "right") - np.searchsorted(sample, value, "left")
    share = (same + 1) / (len(sample) + 1)
    return (share < 0.5) & (share**count * lines < CHANCE)


def _how(last: float, other_ends: np.ndarray, shared: int) -> str:
    """Return how a value above all others differs from them, in words; empty where it does not."""
    values, counts = np.unique(other_ends, return_counts=True)
    if len(values) < LEAST_OTHER_VALUES:
        return ""
    low, high, neighbour = values[[0, -1, -NEIGHBOURS]] / 2  # halves: differences are finite
    if last / 2 - high > FAR * (high - low):
        return FAR_OFF
    if shared <= TIES * counts[-NEIGHBOURS:].max():
        return ""
    if last / 2 - high > high - neighbour:
        return APART
    return CUT_OFF

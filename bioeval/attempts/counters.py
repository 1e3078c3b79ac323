"""Counts of impostor scores between given thresholds, and scores gathered from blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numba
import numpy as np

from bioeval.attempts.thresholds import grid_over
from bioeval.kernels import count as kernel
from bioeval.scores.blocks import Block, cells_between


class ImpostorBlock(NamedTuple):
    """Impostor scores: a block of rows, and where each row's own subject starts and stops."""

    values: np.ndarray
    mate_start: np.ndarray
    mate_stop: np.ndarray

    @classmethod
    def of_rows(cls, scores: np.ndarray) -> ImpostorBlock:
        """Return rows of scores without genuine ones, or listed scores as one row."""
        rows = np.ascontiguousarray(np.atleast_2d(scores))
        return cls(rows, *np.zeros((2, len(rows)), dtype=np.int64))


def grid_over_attempts(
    scores: Iterable[np.ndarray], number: int | None, count: int | None = None
) -> np.ndarray:
    """Return a given number of thresholds over scores that come in parts, or about `count`."""
    low, high, negative, positive = np.inf, -np.inf, False, False
    for some in scores:
        finite = some[np.isfinite(some)]
        if len(finite):
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
        negative |= bool((some == -np.inf).any())
        positive |= bool((some == np.inf).any())
    return grid_over(low, high, negative, positive, number=number, count=count)


# Places of the guide into thresholds: at least this many, and about four a threshold.
LEAST_GUIDE, LARGEST_GUIDE = 1 << 12, 1 << 20


class ThresholdCounter:
    """Counts scores between given thresholds (internal, increasing)."""

    def __init__(self, thresholds: np.ndarray):
        self.thresholds = thresholds
        self.counts = np.zeros(len(thresholds) + 1, dtype=np.int64)
        self.guide = guide_to(thresholds)

    def add(self, block: ImpostorBlock) -> None:
        """Count the scores of a block, without the rows' own subjects."""
        tables = _tables(len(self.counts))
        kernel.count_thresholds(*block, self.thresholds, *self.guide, tables)
        self.counts += tables.sum(axis=0)

    def by_row(
        self, values: np.ndarray, mate_start: np.ndarray, mate_stop: np.ndarray
    ) -> np.ndarray:
        """Return the counts of each row of a block, int64 of shape (b, t + 1)."""
        tables = np.zeros((len(values), len(self.counts)), dtype=np.int64)
        kernel.count_thresholds(values, mate_start, mate_stop, self.thresholds, *self.guide, tables)
        return tables

    def ranges(self, blocks: Iterable[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest score between thresholds, over blocks of rows."""
        shape = (numba.get_num_threads(), len(self.counts))
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        for block in blocks:
            kernel.ranges_between(*block, self.thresholds, *self.guide, low, high)
        return low.min(axis=0), high.max(axis=0)


def gather_claims(
    block: Block, claims: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the claims of the rows of a block, and the claims' numbers.

    Claim ``c`` is made by the probe ``claims[0][c]`` for the group ``claims[1][c]``; each template
    of the group makes one attempt.
    """
    probes, groups = claims
    low, high = np.searchsorted(probes, [block.low, block.low + len(block.values)])
    chosen = groups[low:high]
    start, stop = block.starts[chosen], block.starts[chosen + 1]
    claim, position = cells_between(start, stop)
    row = probes[low:high][claim] - block.low
    value = block.values[row, position]
    there = (position != block.probe_position[row]) & ~np.isnan(value)
    return value[there], claim[there] + low


def guide_to(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return base, scale and first threshold of each place; see ``count_thresholds``."""
    places = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = 1.0
        if len(finite) > 1:
            scale = float(np.float64(places - 1) / (finite[-1] - base))
        place = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale, place = 0.0, np.zeros(len(thresholds))
    place = np.where(place > 0, np.minimum(place, places - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(place, np.arange(places + 1))


def _tables(width: int) -> np.ndarray:
    """Return empty tables, one for each thread."""
    return np.zeros((numba.get_num_threads(), width), dtype=np.int64)

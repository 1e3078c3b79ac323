"""Blocks and mates: the attempts of a part of the comparisons, and all genuine attempts.

A block holds distances, in C order, float32 or float64, with NaN where there is no attempt: for a
template against itself, and for comparisons that are left out. Genuine attempts, :class:`Mates`,
are few; they are read first, and decide how impostor attempts are counted. Reducers then get blocks
of impostor attempts, with NaN in place of mates. Blocks of :func:`bioeval.scores.rows.blocks_of`
have whole rows, with the attempts of both classes. Where failures are rejected, a failed attempt is
+inf, after every score, and an infinite score is the largest number of the dtype
(:func:`bioeval.scores.distances.with_failures`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bioeval.kernels.claims import (
    MEAN,
    WORST,
    fuse_groups,
    fuse_nearest,
    nearest_in_layers,
    nearest_of_row_layers,
)
from bioeval.scores.codes import BlockLines
from bioeval.scores.distances import parse_fusion, scored, with_failures

#: The most scores that are read at once: their attempts are listed and sorted, without compiling.
LISTED = 1 << 18

# If every person has the same number of templates, up to this number, NumPy compares the first
# templates with the second, the third and so on, for all people together.
MOST_LAYERS = 16


def is_few(cells: int) -> bool:
    """Whether scores are so few that NumPy alone works on them, and nothing is compiled."""
    return cells <= LISTED


class Genuine(NamedTuple):
    """Genuine attempts of a block; all arrays are (g,)."""

    probe: np.ndarray
    gallery: np.ndarray
    distance: np.ndarray


class Block(NamedTuple):
    """Attempts of a part of the comparisons; only whole rows hold genuine attempts, too.

    - rows and tiles: `values` (h, w), `probe` (h, 1), `gallery` (1, w)
    - pairs: all three (k,); the probe and the gallery template are places in the list
    - lists of candidates: `values` and `gallery` (h, K), `probe` (h, 1)

    `values` of a tile may have further rows and columns, of NaN. After :meth:`by_person`, `gallery`
    holds the codes of the people claimed.
    """

    values: np.ndarray
    probe: np.ndarray
    gallery: np.ndarray
    #: The order of the block, in which floats are summed; of whole rows, their first row.
    order: int
    columns: BlockLines | None = None  # the people of the gallery templates
    #: The people of the probes, if the block is a tile that stands for its mirror image, too.
    rows: BlockLines | None = None
    rejected: bool = False  # whether failures are attempts
    transposed: bool = False  # whether the probes are along the columns
    few: bool = False  # whether NumPy alone works on the block, so that nothing is compiled
    #: Row and column in `values` of the cells of mates, in order; None if there are no mates.
    mated: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def twice(self) -> bool:
        """Whether the block stands for its mirror image, too."""
        return self.rows is not None and not self.transposed

    @property
    def weight(self) -> int:
        """The number of attempts that each value stands for."""
        return 1 + self.twice

    def sides(self) -> Iterator[Block]:
        """Yield the block, and its mirror image, whose probes are along the columns."""
        yield self._replace(rows=None)
        if self.twice:
            yield self._replace(
                probe=self.gallery, gallery=self.probe, columns=self.rows, transposed=True
            )

    def every_nth_row(self, first: int, step: int) -> Block:
        """Return every `step`-th row of the block, from row `first` on."""
        rows = slice(first, None, step)
        values = np.ascontiguousarray(self.values[rows])
        return self._replace(values=values, probe=self.probe[rows])

    def rows_between(self, low: int, high: int) -> Block:
        """Return the rows ``low:high`` of the scores, from a block of whole rows."""
        assert self.mated is not None
        rows = slice(low - self.order, high - self.order)
        row, column = self.mated
        cells = slice(*row.searchsorted([rows.start, rows.stop]))
        mated = row[cells] - rows.start, column[cells]
        return self._replace(
            values=self.values[rows], probe=self.probe[rows], order=low, mated=mated
        )

    def genuine(self) -> Genuine:
        """Return the genuine attempts of a block of whole rows."""
        assert self.mated is not None
        row, column = self.mated
        distance = self.values[row, column]
        is_attempt = ~np.isnan(distance)
        return Genuine(
            self.probe[row[is_attempt], 0],
            self.gallery[0, column[is_attempt]],
            distance[is_attempt],
        )

    def impostors(self) -> Block:
        """Return a copy with NaN in place of the mates."""
        values = self.values.copy()
        values[self.mated] = np.nan
        return self._replace(values=values, mated=None)

    @property
    def probes(self) -> np.ndarray:
        """The probes of the block, as rows of the scores."""
        return self.probe.reshape(-1)

    @property
    def candidates(self) -> np.ndarray:
        """The gallery templates of the block, as columns of the scores, or the people claimed."""
        return self.gallery.reshape(-1)

    @property
    def by_probe(self) -> np.ndarray:
        """A view of the values of rows or of a tile: a row for each probe, without padding."""
        values = self.values.T if self.transposed else self.values
        return values[: len(self.probes), : len(self.candidates)]

    def scores(self) -> tuple[np.ndarray, int]:
        """Return the scores, with NaN where there is none, and the number of failed attempts."""
        if not self.rejected:
            return self.values, 0
        failed = int(np.count_nonzero(self.values == np.inf))
        return scored(self.values), failed

    def by_person(self, fusion: str = "best") -> Block:
        """Return the claims of each probe, with one distance for each person, NaN for no attempt.

        The distance is fused over the person's templates. A claim fails only if all its comparisons
        failed.
        """
        columns = self.columns
        assert columns is not None
        if columns.layers is not None:  # tiles are laid out in layers, for the nearest template
            number, probes = int(columns.layers[0]), len(self.probes)
            values = self.values[:, :probes] if self.transposed else self.values[:probes]
            shape = (number, probes) if self.transposed else (probes, number)
            nearest = np.empty(shape, dtype=values.dtype)
            loop = nearest_of_row_layers if self.transposed else nearest_in_layers
            loop(values, columns.layers, nearest)
        else:
            assert columns.starts is not None
            if self.few or fusion != "best":
                nearest = fused(self.values, columns.starts, fusion, rejected=self.rejected)
            else:
                shape = len(self.values), len(columns.people)
                nearest = np.empty(shape, dtype=self.values.dtype)
                fuse_nearest.on_one_thread(self.values, columns.starts, nearest)
        gallery = columns.people[:, None] if self.transposed else columns.people[None]
        return self._replace(values=nearest, gallery=gallery, columns=None)


def fused(values: np.ndarray, starts: np.ndarray, fusion: str, *, rejected: bool) -> np.ndarray:
    """Return the distances of claims, (h, g), fused by a rule, with NaN for no attempt.

    Claim ``k`` of a row of `values` (h, n) has the templates ``starts[k]:starts[k + 1]``; for the
    rule ``"best"`` at least one.
    """
    method, kth = parse_fusion(fusion)
    if method == "best":
        size = int(starts[1] - starts[0]) if len(starts) > 1 else 0
        if 0 < size <= MOST_LAYERS and (np.diff(starts) == size).all():
            return functools.reduce(np.fmin, (values[:, k::size] for k in range(size)))
        return np.fmin.reduceat(values, starts[:-1], axis=1)
    rule = {"worst": WORST, "mean": MEAN}.get(method, kth)
    dtype = values.dtype if method == "worst" and not rejected else np.float64

    def by_rule(values: np.ndarray) -> np.ndarray:
        claims = np.empty((len(values), len(starts) - 1), dtype=dtype)
        fuse_groups.on_one_thread(values, starts, rule, claims)
        return claims

    claims = by_rule(values)
    if not rejected:
        return claims
    # A claim with failures and scores is fused of its scores alone.
    scores = scored(values)
    fused_scores = by_rule(scores)
    failed = np.isnan(fused_scores) & ~np.isnan(claims)
    # The mean of infinite scores of both signs is not defined: the claim failed.
    if (fused_scores == np.inf).any() and (scores == -np.inf).any():
        finite = by_rule(np.minimum(scores, np.finfo(scores.dtype).max))
        failed |= (fused_scores == np.inf) & (finite == -np.inf)
    return with_failures(fused_scores, failed)


@dataclass(eq=False)
class Mates:
    """All genuine attempts, in the order of their probes, then of the gallery."""

    #: int64 (g,): rows and columns of the scores; of pairs, places in the list.
    probe: np.ndarray
    gallery: np.ndarray
    distance: np.ndarray  # float (g,): no NaN; +inf where an attempt failed
    probe_count: int  # all probes, with and without mates
    rejected: bool = False  # whether failures are attempts

    @cached_property
    def first(self) -> np.ndarray:
        """The place of the first mate of each probe, and the end: int64 (probes + 1,)."""
        return self.probe.searchsorted(np.arange(self.probe_count + 1))

    @property
    def counts(self) -> np.ndarray:
        return np.diff(self.first)

    def fused(self, fusion: str = "best") -> np.ndarray:
        """Return the distance of each probe to its own person, (probes,), NaN without mates."""
        if fusion == "best":
            return self._nearest
        return fused(self.distance[None], self.first, fusion, rejected=self.rejected)[0]

    def scores(self, fusion: str | None = None) -> tuple[np.ndarray, int]:
        """Return the scores of genuine attempts, and the number of failed attempts.

        With `fusion`, an attempt is the claim of a probe of its own person.
        """
        attempts = self.distance if fusion is None else self.fused(fusion)
        attempts = attempts[~np.isnan(attempts)]
        if not self.rejected:
            return attempts, 0
        scores = scored(attempts)
        is_score = ~np.isnan(scores)
        return scores[is_score], len(scores) - int(np.count_nonzero(is_score))

    @cached_property
    def _nearest(self) -> np.ndarray:
        nearest = np.full(self.probe_count, np.nan, dtype=self.distance.dtype)
        probe = np.flatnonzero(self.counts)
        if len(probe):
            nearest[probe] = np.minimum.reduceat(self.distance, self.first[probe])
        return nearest

    @cached_property
    def nearest_count(self) -> np.ndarray:
        """The number of each probe's mates at the distance of the nearest mate, int64 (probes,)."""
        is_nearest = self.distance == self._nearest[self.probe]
        return np.bincount(self.probe[is_nearest], minlength=self.probe_count)

    @cached_property
    def nearest_column(self) -> np.ndarray:
        """The first column of each probe's nearest mates, (probes,); the largest int64 without."""
        column = np.full(self.probe_count, np.iinfo(np.int64).max)
        is_nearest = self.distance == self._nearest[self.probe]
        np.minimum.at(column, self.probe[is_nearest], self.gallery[is_nearest])
        return column

"""Blocks and mates: the attempts of a part of the comparisons, and all genuine attempts.

A block holds distances, in C order, float32 or float64, and NaN where there is no attempt: for a
template against itself, and for comparisons that are left out. Reducers get blocks of impostor
attempts, with NaN in place of mates: genuine attempts, :class:`Mates`, are few and read first, and
decide how impostor attempts are counted. A block of rows that were read holds the attempts of both
classes. An attempt that failed is +inf, after every score, where failures are rejected; an infinite
score is then the largest number of the dtype (:func:`bioeval.scores.arrays.with_failures`).
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
from bioeval.scores.arrays import scored, with_failures
from bioeval.scores.fusion_rules import parse_fusion
from bioeval.scores.gallery_order import BlockLines

# So many scores are read once, and their attempts are listed and sorted.
LISTED = 1 << 18

# Up to so many templates of each person, NumPy fuses first templates, second templates and so on.
ALIKE = 16


def is_few(cells: int) -> bool:
    """Whether scores are so few that NumPy alone works on them, and nothing is compiled."""
    return cells <= LISTED


#: Probe, gallery template and distance of genuine attempts, each (g,).
Genuine = tuple[np.ndarray, np.ndarray, np.ndarray]


class Block(NamedTuple):
    """Attempts of a part of the comparisons: of impostors, but for rows that were read.

    - rows and tiles: `values` (h, w), `probe` (h, 1), `gallery` (1, w)
    - pairs: all three (k,); the probe and the gallery template are places in the list
    - lists of candidates: `values` and `gallery` (h, K), `probe` (h, 1)

    `values` of a tile may have further rows and columns, of NaN. After :meth:`by_person`, `gallery`
    holds the codes of the people claimed.
    """

    values: np.ndarray
    probe: np.ndarray
    gallery: np.ndarray
    #: The order of the block, in which floats are summed; of rows that were read, their first row.
    number: int
    columns: BlockLines | None = None  # the people of the gallery templates
    #: The people of the probes, for a tile that stands for its mirror image, too.
    rows: BlockLines | None = None
    rejected: bool = False  # whether failures are attempts
    turned: bool = False  # whether the probes are along the columns
    few: bool = False  # whether NumPy alone works on the block, so that nothing is compiled
    #: Line and position of the cells of mates, in order, if the values hold mates.
    mated: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def twice(self) -> bool:
        """Whether the block stands for its mirror image, too."""
        return self.rows is not None and not self.turned

    @property
    def weight(self) -> int:
        """How many attempts each value stands for."""
        return 1 + self.twice

    def sides(self) -> Iterator[Block]:
        """Yield the block, and its mirror image, whose probes are along the columns."""
        yield self._replace(rows=None)
        if self.twice:
            yield self._replace(
                probe=self.gallery, gallery=self.probe, columns=self.rows, turned=True
            )

    def lines(self, first: int, step: int) -> Block:
        """Return every `step`-th row of the block, from row `first` on."""
        rows = slice(first, None, step)
        values = np.ascontiguousarray(self.values[rows])
        return self._replace(values=values, probe=self.probe[rows])

    def adjacent(self, low: int, high: int) -> Block:
        """Return the probes ``low:high`` of adjacent rows that were read."""
        assert self.mated is not None
        rows = slice(low - self.number, high - self.number)
        line, position = self.mated
        cells = slice(*line.searchsorted([rows.start, rows.stop]))
        mated = line[cells] - rows.start, position[cells]
        values, probe = self.values[rows], self.probe[rows]
        return self._replace(values=values, probe=probe, number=low, mated=mated)

    def genuine(self) -> Genuine:
        """Return probe, gallery template and distance of the genuine attempts among the values."""
        assert self.mated is not None
        line, position = self.mated
        distance = self.values[line, position]
        is_attempt = ~np.isnan(distance)
        return (
            self.probe[line[is_attempt], 0],
            self.gallery[0, position[is_attempt]],
            distance[is_attempt],
        )

    def impostors(self) -> Block:
        """Return a copy without mates: NaN in their place."""
        values = self.values.copy()
        values[self.mated] = np.nan
        return self._replace(values=values, mated=None)

    @property
    def probes(self) -> np.ndarray:
        """The probe of each line, as a row of the scores."""
        return self.probe.reshape(-1)

    @property
    def candidates(self) -> np.ndarray:
        """The gallery templates, as columns of the scores, or the people claimed."""
        return self.gallery.reshape(-1)

    @property
    def by_probe(self) -> np.ndarray:
        """The values of rows or of a tile with a line for each probe, as a view, and no more."""
        values = self.values.T if self.turned else self.values
        return values[: len(self.probes), : len(self.candidates)]

    def scores(self) -> tuple[np.ndarray, int]:
        """Return the scores, NaN where there is none, and how many attempts failed."""
        if not self.rejected:
            return self.values, 0
        failed = int(np.count_nonzero(self.values == np.inf))
        return scored(self.values), failed

    def by_person(self, fusion: str = "best") -> Block:
        """Return the claims of each probe: one fused distance a person, NaN where there is none.

        A claim fails only if all its comparisons failed.
        """
        assert self.columns is not None
        people = self.columns.people
        gallery = people[:, None] if self.turned else people[None]
        return self._replace(values=self._fused(fusion), gallery=gallery, columns=None)

    def _fused(self, fusion: str) -> np.ndarray:
        columns = self.columns
        assert columns is not None
        if columns.layers is not None:  # of tiles, which are laid out for the nearest template
            people = int(columns.layers[0])
            probes = len(self.probes)
            values = self.values[:probes]
            shape = (probes, people)
            if self.turned:
                values = self.values[:, :probes]
                shape = (people, probes)
            nearest = np.empty(shape, dtype=values.dtype)
            loop = nearest_of_row_layers if self.turned else nearest_in_layers
            loop(values, columns.layers, nearest)
            return nearest
        assert columns.starts is not None
        if self.few or fusion != "best":
            return fused(self.values, columns.starts, fusion, rejected=self.rejected)
        nearest = np.empty((len(self.values), len(columns.people)), dtype=self.values.dtype)
        fuse_nearest.on_one_thread(self.values, columns.starts, nearest)
        return nearest


def fused(values: np.ndarray, starts: np.ndarray, fusion: str, *, rejected: bool) -> np.ndarray:
    """Return the distances of claims (h, g), NaN where there is none, by a rule of distances.

    Claim ``k`` of a row of `values` (h, n) has the templates ``starts[k]:starts[k + 1]``, of which
    there is at least one for the rule ``"best"``.
    """
    method, kth = parse_fusion(fusion)
    if method == "best":
        size = int(starts[1] - starts[0]) if len(starts) > 1 else 0
        if 0 < size <= ALIKE and (np.diff(starts) == size).all():
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
    scores = scored(values)  # of a claim that has scores, these are fused
    of_scores = by_rule(scores)
    failed = np.isnan(of_scores) & ~np.isnan(claims)
    if (of_scores == np.inf).any() and (scores == -np.inf).any():  # of both signs: undefined
        finite = by_rule(np.minimum(scores, np.finfo(scores.dtype).max))
        failed |= (of_scores == np.inf) & (finite == -np.inf)
    return with_failures(of_scores, failed)


@dataclass(eq=False)
class Mates:
    """Genuine attempts in the order of their probes, then of the gallery."""

    #: int64 (g,): rows and columns of the scores; of pairs, places in the list.
    probe: np.ndarray
    gallery: np.ndarray
    distance: np.ndarray  # float (g,): without NaN; as of a block, +inf where an attempt failed
    probes: int  # how many there are, with and without mates
    rejected: bool = False  # whether failures are attempts

    @cached_property
    def first(self) -> np.ndarray:
        """Where the mates of each probe begin, and the end: int64 (probes + 1,)."""
        return self.probe.searchsorted(np.arange(self.probes + 1))

    @property
    def number(self) -> np.ndarray:
        """The number of mates of each probe, int64 (probes,)."""
        return np.diff(self.first)

    def fused(self, fusion: str = "best") -> np.ndarray:
        """Return the claim of each probe of its own person (probes,); NaN where there is none."""
        if fusion == "best":
            return self._nearest
        return fused(self.distance[None], self.first, fusion, rejected=self.rejected)[0]

    def scores(self, fusion: str | None = None) -> tuple[np.ndarray, int]:
        """Return the scores of genuine attempts, and how many failed; claims of people if fused."""
        attempts = self.distance if fusion is None else self.fused(fusion)
        attempts = attempts[~np.isnan(attempts)]
        if not self.rejected:
            return attempts, 0
        scores = scored(attempts)
        is_score = ~np.isnan(scores)
        return scores[is_score], len(scores) - int(np.count_nonzero(is_score))

    @cached_property
    def _nearest(self) -> np.ndarray:
        nearest = np.full(self.probes, np.nan, dtype=self.distance.dtype)
        probe = np.flatnonzero(self.number)
        if len(probe):
            nearest[probe] = np.minimum.reduceat(self.distance, self.first[probe])
        return nearest

    @cached_property
    def tied(self) -> np.ndarray:
        """How many mates of each probe are as close as its nearest, itself among them."""
        nearest = self.distance == self._nearest[self.probe]
        return np.bincount(self.probe[nearest], minlength=self.probes)

    @cached_property
    def place(self) -> np.ndarray:
        """The first nearest mate in the gallery's own order; beyond all without mates."""
        place = np.full(self.probes, np.iinfo(np.int64).max)
        nearest = self.distance == self._nearest[self.probe]
        np.minimum.at(place, self.probe[nearest], self.gallery[nearest])
        return place

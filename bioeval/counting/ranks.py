"""Ranks: how the best mate of each probe stands among the candidates."""

from __future__ import annotations

from typing import Self

import numpy as np

from bioeval.counting.blocks import Block
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer


class RankFacts(Reducer):
    """How the best mate of each probe stands among the others: templates, or people.

    Each probe has an entry in every array of the result:

    - `best` (float): the distance of its best mate, NaN without one
    - `mates`, `mates_tied` (int64): usable mates, and those as close as the best
    - `closer`, `tied`, `before` (int64): candidates closer than the best mate, exactly as close,
      and those of the latter before it in the gallery
    - `others` (int64): candidates in all; `nearest` (float): the nearest of them, NaN without one

    Parameters
    ----------
    fusion : str, optional
        Rank people, each by the fused distance of its templates; None: rank templates.
    """

    sums = ("closer", "within", "before", "others")

    def __init__(self, fusion: str | None = None):
        self.fusion = fusion

    def prepare(self, parts: Parts) -> None:
        """Take the mates, against which others are ranked."""
        mates, probes = parts.mates, parts.scores.shape[0]
        self.mates, self.mates_tied, self.place = mates.number, mates.tied, mates.place
        self.best = mates.fused(self.fusion or "min")
        if self.fusion is not None:  # a person is one candidate, if there is a claim of it
            self.mates = self.mates_tied = (~np.isnan(self.best)).astype(np.int64)
        self.closer, self.within, self.before, self.others = np.zeros((4, probes), np.int64)
        self.nearest = np.full(probes, np.inf, dtype=self.best.dtype)

    def fresh(self) -> Self:
        """Return an empty copy, for a thread."""
        other = super().fresh()
        other.nearest = np.full_like(self.nearest, np.inf)
        return other

    def add(self, block: Block) -> None:
        """Rank the candidates of a block."""
        for side in block.sides():
            ranked = side if self.fusion is None else side.by_person(self.fusion)
            probes = side.probes
            closer, within, others, nearest = _facts(ranked, self.best[probes])
            self.closer[probes] += closer
            self.within[probes] += within
            self.others[probes] += others
            self.nearest[probes] = np.minimum(self.nearest[probes], nearest)
            ties = np.flatnonzero(within > closer)
            if len(ties):
                self.before[probes[ties]] += self._before(side, ranked, ties)

    def _before(self, templates: Block, ranked: Block, ties: np.ndarray) -> np.ndarray:
        """Return how many candidates as close as some best mates stand before them.

        A person stands at its nearest template, the first of these.
        """
        probes, gallery = templates.probes[ties], templates.candidates
        lines = templates.by_probe[ties]
        tied = ranked.by_probe[ties] == self.best[probes, None]
        if self.fusion is None:
            return (tied & (gallery < self.place[probes, None])).sum(axis=1)
        assert templates.columns is not None
        nearest = templates.by_person("min").by_probe[ties]
        line, column = np.nonzero(lines == nearest[:, templates.columns.person])
        place = np.full(nearest.shape, np.iinfo(np.int64).max)
        np.minimum.at(place, (line, templates.columns.person[column]), gallery[column])
        return (tied & (place < self.place[probes, None])).sum(axis=1)

    def merge(self, other: Self) -> None:
        """Add what a copy has found."""
        super().merge(other)
        np.minimum(self.nearest, other.nearest, out=self.nearest)

    def result(self) -> Self:
        """Return the facts of all probes."""
        mated = self.mates > 0
        self.tied = (self.within - self.closer) * mated
        self.closer = self.closer * mated
        self.before = self.before * mated
        self.nearest[self.others == 0] = np.nan
        return self


def _facts(block: Block, best: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return for each probe: closer, as close or closer, all others; and the nearest of them."""
    values = block.values
    if block.few:
        return (
            np.count_nonzero(values < best[:, None], axis=1),
            np.count_nonzero(values <= best[:, None], axis=1),
            np.count_nonzero(~np.isnan(values), axis=1),
            np.fmin.reduce(values, axis=1, initial=np.inf),
        )
    from bioeval.kernels import ranks as kernel

    closer, within, others = np.zeros((3, len(best)), dtype=np.int32)
    nearest = np.full(len(best), np.inf, dtype=values.dtype)
    loop = kernel.rank_columns if block.turned else kernel.rank_rows
    loop(values, best.astype(values.dtype, copy=False), closer, within, others, nearest)
    return closer, within, others, nearest

"""What tiles, or blocks of rows, find about the ranks of best mates: the facts of each probe."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bioeval.attempts.squares import Mates
from bioeval.attempts.tiles import Side, Tile
from bioeval.kernels import ranks as kernel
from bioeval.scores.blocks import Block


class Ranks:
    """What one thread finds of the ranks of all probes, among templates or subjects."""

    def __init__(self, probes: int, dtype: np.dtype):
        #: int32 (m,): candidates closer than the best mate, up to it, and in all; those as close
        #: that are before it in the gallery.
        self.closer, self.within, self.there, self.before = np.zeros((4, probes), dtype=np.int32)
        self.other = np.full(probes, np.inf, dtype=dtype)  # the nearest candidate

    def add(self, tile: Tile, values: np.ndarray, k: int, *, by_subject: bool) -> None:
        """Add the candidates of a tile: of its rows, or of its columns (`k` is 1)."""
        side = (tile.rows, tile.columns)[k]
        assert side is not None
        at, loop = side.probes, (kernel.rank_rows, kernel.rank_columns)[k]
        closer, within = self.closer[at], self.within[at]
        before = within - closer
        loop(values, side.mates.best, closer, within, self.there[at], self.other[at])
        ties = np.flatnonzero(within - closer > before)
        if len(ties):
            subjects = tile.subjects[k] if by_subject else None
            lines = (tile.values, values) if k == 0 else (tile.values.T, values.T)
            self.before[at][ties] += ties_before(*lines, side, ties, subjects)

    def take(self, other: Ranks) -> None:
        """Add what was found elsewhere, in other tiles."""
        for name in ("closer", "within", "there", "before"):
            getattr(self, name)[:] += getattr(other, name)
        np.minimum(self.other, other.other, out=self.other)


def ties_before(
    templates: np.ndarray,
    values: np.ndarray,
    side: Side,
    probes: np.ndarray,
    subjects: np.ndarray | None,
) -> np.ndarray:
    """Return how many ties of some probes come before their best mates in the gallery.

    `templates` are the scores of the probes in a tile, and `values` those that are ranked: the
    same, or those of the `subjects` of the templates.
    """
    best, last = side.mates.best[probes, None], side.mates.place[probes, None]
    before = (templates[probes, : len(side.places)] == best) & (side.places < last)
    if subjects is not None:
        by_subject = np.zeros((len(probes), int(subjects.max(initial=-1)) + 1), dtype=bool)
        line, candidate = np.nonzero(before)
        by_subject[line, subjects[candidate]] = True
        before = by_subject & (values[probes, : by_subject.shape[1]] == best)
    return before.sum(axis=1, dtype=np.int32)


def facts_of(found: Sequence[Ranks], mates: Mates, *, by_subject: bool) -> dict[str, np.ndarray]:
    """Return the facts of all probes by name, those of :class:`IdentificationTally`."""
    mated = mates.number > 0
    closer, within, there, before = (
        np.array([getattr(x, name) for x in found]).sum(axis=0, dtype=np.int64)
        for name in ("closer", "within", "there", "before")
    )
    other = np.minimum.reduce([x.other for x in found])
    return {
        "mate": np.where(mated, mates.best, mates.best.dtype.type(np.nan)),
        "other": np.where(there > 0, other, other.dtype.type(np.nan)),
        "closer": closer * mated,
        "tied": (within - closer) * mated,
        "tied_before": before * mated,
        "mates_tied": mated if by_subject else mates.tied,
        "mates": mated if by_subject else mates.number,
        "others": there,
    }


def mates_of(block: Block) -> Mates:
    """Return the mates of the rows of a block."""
    own = block.own()
    places = np.broadcast_to(block.columns, block.values.shape)[own]
    return Mates.of(block.values[own], own[0], places, len(block.values))


def facts_of_block(block: Block) -> dict[str, np.ndarray]:
    """Return the same of the rows of a block."""
    mates, columns = mates_of(block), np.broadcast_to(block.columns, block.values.shape)
    others, best = block.impostors(), mates.best[:, None]
    tied = others == best
    before = np.zeros(len(tied), dtype=np.int64)
    some = np.flatnonzero(tied.any(axis=1))
    before[some] = (tied[some] & (columns[some] < mates.place[some, None])).sum(axis=1)
    return {
        "mate": mates.best,
        "other": np.fmin.reduce(others, axis=1, initial=np.nan),
        "closer": np.count_nonzero(others < best, axis=1),
        "tied": np.count_nonzero(tied, axis=1),
        "tied_before": before,
        "mates_tied": mates.tied,
        "mates": mates.number,
        "others": np.count_nonzero(~np.isnan(others), axis=1),
    }

"""Fused scores of templates drawn of each subject: of every choice of them, or of some at random.

A choice takes the place of a template: of the choices of a subject one is drawn, all alike. With a
fusion other than the nearest, that is the only way to rates over all galleries.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from bioeval.base.random import Stream
from bioeval.scores.blocks import Block, BlockReader

#: Choices of the templates of a subject that are all made; of more, some are drawn.
MOST_CHOICES = 10_000

#: Galleries that are drawn where there are more choices.
DRAWS = 200

# Scores of choices that are made together.
CELLS = 1 << 21


def are_few(reader: BlockReader, size: int) -> bool:
    """Whether no subject has more than `MOST_CHOICES` choices of this many templates."""
    counts = np.unique(np.diff(reader.gallery.starts)).tolist()
    return all(math.comb(n, min(size, n)) <= MOST_CHOICES for n in counts)


class EveryChoice:
    """Blocks of the fused scores of every choice of `size` templates of each subject.

    Of a subject with fewer templates there is one choice, of all that it has. The scores of a
    subject increase; where fewer templates are usable, NaN takes the last places. `starts` are
    those of the choices.
    """

    in_order = True

    def __init__(self, reader: BlockReader, size: int, fusion: str, *, by_row: bool = False):
        self.reader, self.size, self.fusion, self.by_row = reader, size, fusion, by_row
        counts = np.diff(reader.gallery.starts)
        self._choices: dict[int, np.ndarray] = {}
        self.starts = np.concatenate([[0], np.cumsum([len(self._of(n)) for n in counts.tolist()])])

    def _of(self, n: int) -> np.ndarray:
        """Return the choices among `n` templates, each an increasing row."""
        if n not in self._choices:
            found = itertools.combinations(range(n), min(self.size, n))
            self._choices[n] = np.array(list(found), dtype=np.int64)
        return self._choices[n]

    def blocks(self, block: Block) -> Iterator[Block]:
        """Yield the rows of a block, a few at a time; with `by_row` one, with its own columns."""
        whole = len(block.values)
        rows = 1 if self.by_row else max(1, CELLS // (int(self.starts[-1]) * self.size))
        for low in range(0, whole, rows):
            part = slice(low, min(low + rows, whole))
            values = block.values[part].astype(np.float64)
            at = block.self_position[part]
            values[np.flatnonzero(at >= 0), at[at >= 0]] = np.nan
            fused, place = self._fused(values, block, low)
            yield Block(
                low=block.low + low,
                values=fused,
                columns=place[:1],
                starts=self.starts,
                own=block.own[part],
                mate_start=np.where(block.own[part] >= 0, self.starts[block.own[part]], 0),
                mate_stop=np.where(block.own[part] >= 0, self.starts[block.own[part] + 1], 0),
                self_position=np.full(len(fused), -1, dtype=np.int64),
            )

    def _fused(self, values: np.ndarray, block: Block, low: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of the choices of some rows, and the columns of their nearest."""
        fused = np.full((len(values), int(self.starts[-1])), np.nan)
        place = np.zeros(fused.shape, dtype=np.int64)
        gone = np.isnan(values)
        for g, (start, stop) in enumerate(itertools.pairwise(block.starts.tolist())):
            whole = ~gone[:, start:stop].any(axis=1)
            alike = [(np.flatnonzero(whole), np.arange(start, stop))]
            alike += [
                (np.array([row]), start + np.flatnonzero(~gone[row, start:stop]))
                for row in np.flatnonzero(~whole)
            ]
            for rows, templates in alike:
                if len(rows) and len(templates):
                    choices = templates[self._of(len(templates))]
                    to = slice(self.starts[g], self.starts[g] + len(choices))
                    made = self._scores(values[rows], choices)
                    if not self.by_row:  # columns have no meaning
                        fused[rows, to] = np.sort(made.values.reshape(len(rows), -1), axis=1)
                        continue
                    row, columns = rows[0], block.columns[0][choices]
                    order = np.argsort(made.values[:, 0], kind="stable")
                    fused[row, to] = made.values[order, 0]
                    place[row, to] = columns[order, made.columns[order, 0]]
        return fused, place

    def _scores(self, values: np.ndarray, choices: np.ndarray) -> Block:
        """Return the fused scores of choices in some rows, one below the other."""
        size = choices.shape[1]
        each = np.ascontiguousarray(values[:, choices]).reshape(-1, size)
        return _rows(each, np.arange(size)[None], np.array([0, size])).fused(self.fusion)


class DrawnChoices(EveryChoice):
    """Blocks of the fused scores of some choices of each subject, drawn for each probe anew.

    The templates of a subject are put into a random order for each draw, of which the first are
    enrolled: other numbers of templates are of the same orders. Scores are in the order of the
    draws.
    """

    in_order = False

    def __init__(
        self,
        reader: BlockReader,
        size: int,
        fusion: str,
        *,
        draws: int,
        seed: np.random.SeedSequence,
        by_row: bool = False,
    ):
        self.reader, self.size, self.fusion, self.by_row = reader, size, fusion, by_row
        self.draws, self.seed = draws, seed
        self.starts = np.arange(len(reader.gallery.subjects) + 1, dtype=np.int64) * draws

    def _fused(self, values: np.ndarray, block: Block, low: int) -> tuple[np.ndarray, np.ndarray]:
        starts, columns = block.starts, block.columns
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        ids = self.reader.scores.probe_ids[block.low + low :]
        fused = np.empty((len(values), int(self.starts[-1])))
        place = np.empty(fused.shape, dtype=np.int64)
        for i, row in enumerate(values):
            order = Stream(self.seed, int(ids[i])).uniforms(self.draws * len(row))
            order = order.reshape(self.draws, -1)
            order[:, np.isnan(row)] = 2.0  # after all that can be drawn
            sorted_ = np.lexsort((order, np.broadcast_to(group, order.shape)))
            chosen = np.empty(order.shape, dtype=bool)
            taken = np.arange(len(row)) - starts[group] < self.size
            np.put_along_axis(chosen, sorted_, np.broadcast_to(taken, order.shape), axis=1)
            made = _rows(np.where(chosen, row, np.nan), columns, starts).fused(self.fusion)
            fused[i], place[i] = made.values.T.ravel(), made.columns.T.ravel()
        return fused, place


def _rows(values: np.ndarray, columns: np.ndarray, starts: np.ndarray) -> Block:
    """Return rows to be fused."""
    none = np.full(len(values), -1, dtype=np.int64)
    return Block(0, values, columns, starts, none, none, none, none)

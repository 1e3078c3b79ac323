"""The nearest impostor comparisons and the farthest genuine ones, found in one sweep."""

from __future__ import annotations

import numpy as np

from bioeval.scores.blocks import Block, BlockReader, Progress, cells_between, threads_for
from bioeval.scores.matrix import Scores
from bioeval.tallies.label_medians import block_medians
from bioeval.tallies.look import Look


class LeastCells:
    """The least values of all that were added, up to `most`, with their rows and columns.

    In order of value, ties by row, then column.
    """

    def __init__(self, most: int):
        self.most = most
        self.value = np.empty(0)
        self.row = self.column = np.empty(0, dtype=np.int64)

    @property
    def limit(self) -> float:
        """The largest value with which a cell of a later row is among them."""
        return np.inf if len(self.value) < self.most else np.nextafter(self.value[-1], -np.inf)

    def add(self, value: np.ndarray, row: np.ndarray, column: np.ndarray) -> None:
        """Take in some cells, without NaN."""
        value = np.concatenate([self.value, value.astype(np.float64)])
        row, column = np.concatenate([self.row, row]), np.concatenate([self.column, column])
        if len(value) > self.most:
            near = value <= np.partition(value, self.most - 1)[self.most - 1]
            value, row, column = value[near], row[near], column[near]
        order = np.lexsort((column, row, value))[: self.most]
        self.value, self.row, self.column = value[order], row[order], column[order]

    def without_mirrored(self, scores: Scores, most: int) -> None:
        """Keep each pair of templates once, where it is first, and up to `most` of them."""
        ids = np.stack([scores.probe_ids[self.row], scores.gallery_ids[self.column]])
        _, first = np.unique(np.sort(ids, axis=0), axis=1, return_index=True)
        first = np.sort(first)[:most]
        self.value, self.row, self.column = self.value[first], self.row[first], self.column[first]


def worst_cells(
    reader: BlockReader,
    n: int,
    templates: str,
    mirrored: bool,
    medians: np.ndarray,
    progress: Progress | None = None,
) -> tuple[LeastCells, LeastCells]:
    """Return the `n` nearest impostor cells, and the `n` farthest genuine ones.

    The values of the one are distances; those of the other are negated distances.

    With multi templates a cell is that of a subject's nearest template. Of a `mirrored` matrix, in
    which two templates may be compared both ways, each pair of templates is taken once. The median
    distances of each row to its own label and to the nearest other one are written to `medians`.
    """
    scores, most = reader.scores, 2 * n if mirrored else n
    impostor, genuine = LeastCells(most), LeastCells(most)
    with threads_for(scores):
        for block in reader.blocks(progress):
            block_medians(block, medians)
            rows = block.fused("min") if templates == "multi" else block
            _add_impostors(impostor, rows)
            _add_genuine(genuine, rows)
    if mirrored:
        impostor.without_mirrored(scores, n)
        genuine.without_mirrored(scores, n)
    return impostor, genuine


def _add_impostors(found: LeastCells, block: Block) -> None:
    look = Look([(-np.inf, found.limit)], places=True)
    look.add(block.values, block.own_start, block.own_stop)
    row, position = np.concatenate(look.places).astype(np.int64).T
    found.add(np.concatenate(look.kept), block.low + row, _columns(block, row, position))


def _add_genuine(found: LeastCells, block: Block) -> None:
    row, position = own_cells(block)
    value = -block.values[row, position].astype(np.float64)
    near = value <= found.limit  # which NaN is not
    row, position, value = row[near], position[near], value[near]
    found.add(value, block.low + row, _columns(block, row, position))


def own_cells(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Return row and position of the cells of each probe's own subject, but for the probe."""
    row, position = cells_between(block.own_start, block.own_stop)
    other = position != block.self_position[row]
    return row[other], position[other]


def _columns(block: Block, row: np.ndarray, position: np.ndarray) -> np.ndarray:
    return np.broadcast_to(block.columns, block.values.shape)[row, position]

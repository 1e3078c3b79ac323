"""The parts of scores as blocks: rows of a matrix, and pieces of a list.

A block is read and counted by one thread while it is in the cache of a core. It has distances, with
NaN where there is no impostor attempt; genuine attempts are apart, as the `mates` of all blocks: a
mate of a probe is a template of its own subject.

:class:`Parts` is what all layouts have in common: a matrix has :class:`RowParts`, listed pairs
:class:`PairParts`, and lists of nearest candidates :class:`ListParts`. Tiles of embeddings are in
:mod:`bioeval.counting.tiles`. :func:`bioeval.counting.reduce.reduce` uses them: few scores are one
block, `whole`; otherwise it takes `mates` and `sample` first, then visits all blocks, perhaps
several times.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.options import in_turns
from bioeval.base.progress import report_rows
from bioeval.kernels.compiling import writable_alias
from bioeval.kernels.rows import impostors
from bioeval.scores.attempts import Exclusion, are_left_out, excluded
from bioeval.scores.blocks import Block, Genuine, Mates, is_few
from bioeval.scores.codes import GalleryOrder
from bioeval.scores.distances import distance_dtype, with_failures
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, mate_cells
from bioeval.scores.rows import (
    distances_at,
    give_back,
    has_few,
    mapped_pages,
    raise_nan,
    read_rows,
    rows_per_block,
    rows_within,
    stated_memory_limit,
)

#: Counts a block; used by one thread.
Add = Callable[[Block], None]

# Bytes of the rows of a block, which fit into the caches.
BLOCK_BYTES = 1 << 20

# How many scores in memory are read together.
VALUES_IN_MEMORY = 1 << 22

# How many genuine scores of a mapped file are read together.
TOGETHER = 1 << 11

# How many scattered rows of a mapped file are read together.
PAGED_ROWS = 64

# The number of rows in a sample.
SAMPLE_ROWS = 256

# The number of blocks in a sample of rows or pairs, whose differences say how far to trust it.
GROUPS = 16

# The number of pairs, or entries of lists, read together.
PIECE = 1 << 20


class Parts(ABC):
    """The source of the blocks of some scores, which are the same on every visit."""

    scores: Scores
    dtype: np.dtype  # dtype of distances
    few: bool  # whether one block has all scores, and NumPy counts them: nothing is compiled

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of scores, including comparisons that are no attempt."""

    @property
    @abstractmethod
    def mates(self) -> Mates:
        """The genuine attempts."""

    @abstractmethod
    def sample(self) -> list[Block]:
        """Return blocks from all over the scores; none if a sample would take another pass."""

    @abstractmethod
    def visit(self, make_adder: Callable[[], Add], part: range | None = None) -> None:
        """Show all blocks, or the blocks of a part; each thread makes a function for its blocks."""

    @abstractmethod
    def whole(self) -> Block:
        """Return all impostor attempts, which are few, as one block."""


class RowParts(Parts):
    """Blocks of rows of a matrix."""

    def __init__(self, scores: Scores, grouped: bool = True, step: int | None = None):
        self.scores, self.grouped, self._step = scores, grouped, step
        self.gallery = scores.gallery_order
        if not grouped:
            sides = scores.codes, scores.probe_ids, scores.gallery_ids
            self.gallery = GalleryOrder(*sides, grouped=False)
        self.dtype = distance_dtype(self.scores.dtype)
        self.few = has_few(self.scores)

    @property
    def size(self) -> int:
        return math.prod(self.scores.shape)

    @cached_property
    def mates_by_cell(self) -> Mates | None:
        """The genuine attempts; None if cells cannot be read by themselves."""
        scores = self.scores
        cells = scores.cells
        has_labels = isinstance(cells.mask, np.ndarray | None) and knows_people(scores)
        if not has_labels or not cells.in_memory:
            return None
        row, position, _ = self._own_cells
        # A template is not compared with itself.
        is_other = position != self.gallery.probe_position[row]
        row, column = row[is_other], self.gallery.columns[0][position[is_other]]
        is_attempt = ~(excluded(scores, row, column) | cells.is_ignored(row, column))
        row, column = row[is_attempt], column[is_attempt]
        distances = []
        reads = max(len(row), 1)  # one read of nothing gives the dtype
        step = reads if mapped_pages(scores) is None else TOGETHER
        for low in range(0, reads, step):
            together = slice(low, low + step)
            distances.append(distances_at(scores, row[together], column[together]))
            give_back(scores)
        distance = np.concatenate(distances)
        failed = np.isnan(distance)
        if scores.nan == "reject":
            return self.mates_of([Genuine(row, column, with_failures(distance, failed))])
        if scores.nan == "raise" and failed.any():
            raise_nan(scores)
        return self.mates_of([Genuine(row[~failed], column[~failed], distance[~failed])])

    @cached_property
    def _own_cells(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cells of the probes' own subjects: their rows, positions, and starts by probe.

        A position is the column's place in the order of the gallery. Cells are in the order of the
        probes, and probe ``i`` has the cells ``starts[i]:starts[i + 1]``.
        """
        row, position = self.gallery.same_subject_cells(slice(None))
        return row, position, row.searchsorted(np.arange(self.scores.shape[0] + 1))

    @cached_property
    def mates(self) -> Mates:
        if not self.few and self.mates_by_cell is not None:
            return self.mates_by_cell
        return self.mates_of(self.mates_in(range(self.scores.shape[0])))

    def take_mates(self, mates: Mates) -> None:
        """Set genuine attempts that were read before, to avoid a second reading."""
        self.mates = mates

    def mates_in(self, part: range) -> list[Genuine]:
        """Return probes, columns and distances of the genuine attempts of a range of rows."""
        mates = []
        for first in range(part.start, part.stop, self.step):
            mates.append(self._read(first, min(first + self.step, part.stop)).genuine())
            give_back(self.scores)
        return mates

    def mates_of(self, mates: list[Genuine]) -> Mates:
        """Return the genuine attempts of all rows from their parts."""
        rejected = self.scores.nan == "reject"
        probe, gallery, distance = map(np.concatenate, zip(*mates, strict=True))
        return Mates(probe, gallery, distance, self.scores.shape[0], rejected=rejected)

    def whole(self) -> Block:
        """Return all impostor attempts; the mates, which are read with them, are taken, too."""
        rows_within(self.scores, self.scores.cells.row_chunk)
        block = self._read(0, self.scores.shape[0])
        self.take_mates(self.mates_of([block.genuine()]))
        block.values[block.mated] = np.nan
        return block._replace(mated=None)

    def _read(self, low: int, high: int) -> Block:
        return read_rows(self.scores, slice(low, high), self.gallery)

    def sample(self) -> list[Block]:
        scores = self.scores
        if self.few or not scores.cells.in_memory:
            return []
        height, width = scores.shape
        scores_limit = (1 << 22) // width
        rows_limit = SAMPLE_ROWS * max(1, (1 << 14) // width)  # more of narrow rows
        if stated_memory_limit(scores) is not None:  # its cells and their order take as much again
            rows_limit = min(rows_limit, rows_within(scores, 1) // 4)
        rows_in_sample = max(1, min(height // 16, rows_limit, scores_limit))
        rows = np.linspace(0, height - 1, rows_in_sample).astype(np.int64)
        # Rows far apart in a mapped file map more pages than their own: few are read together.
        step = rows_in_sample if mapped_pages(scores) is None else PAGED_ROWS
        blocks = []
        for low in range(0, rows_in_sample, step):
            sampled = rows[low : low + step]
            try:
                block = read_rows(scores, sampled, self.gallery).impostors()
            except DataError:  # the count of all rows raises it, and names the right rows
                return []
            groups = min(GROUPS, len(sampled))
            blocks += [block.every_nth_row(k, groups) for k in range(groups)]
            give_back(scores)
        return blocks

    def first(self) -> Block:
        """Return the impostor attempts of a few rows, where a sample would take another pass."""
        return self._read(0, min(16, self.scores.shape[0])).impostors()

    @cached_property
    def step(self) -> int:
        """The number of rows that are read together."""
        if self._step is not None:
            return self._step
        scores = self.scores
        step = rows_per_block(self.scores)
        if scores.cells.in_memory and not scores.streams:
            step = max(step, min(VALUES_IN_MEMORY // scores.shape[1], rows_within(scores, step)))
        return step

    def parts(self, number: int) -> list[range]:
        """Return the rows in about `number` parts; a part has whole reads of :attr:`step` rows."""
        height = self.scores.shape[0]
        step = self.step
        rows = max(1, -(-height // (step * number))) * step
        return [range(low, min(low + rows, height)) for low in range(0, height, rows)]

    def visit(self, make_adder: Callable[[], Add], part: range | None = None) -> None:
        probes, width = self.scores.shape
        rows = range(probes) if part is None else part
        rows_at_once = max(1, BLOCK_BYTES // (width * self.dtype.itemsize))
        in_memory = self.scores.cells.in_memory and mapped_pages(self.scores) is None
        if in_memory:
            _ = self._own_cells, self._left_out  # cached before threads use them
        # Adders, each with room for a block, that no thread is using; kept from read to read.
        idle: list[tuple[Add, np.ndarray]] = []
        for first in range(rows.start, rows.stop, self.step):
            stop = min(first + self.step, rows.stop)
            # Threads read a matrix in memory themselves; otherwise, this thread reads for all.
            read = None if in_memory else self._read(first, stop)
            self._count_rows(range(first, stop, rows_at_once), read, make_adder, idle)
            give_back(self.scores)
            report_rows(stop, probes)

    def _count_rows(
        self,
        starts: range,
        read: Block | None,
        make_adder: Callable[[], Add],
        idle: list[tuple[Add, np.ndarray]],
    ) -> None:
        """Count blocks of rows on all threads; each block begins at one of the `starts`.

        The rows are those of `read`, or are read from memory if it is None. A thread takes an
        adder from `idle`, or makes one, and returns it there.
        """

        def count(turns: Iterator[int]) -> None:
            try:
                add, room = idle.pop()
            except IndexError:  # not asked before: another thread could take the last one
                add, room = make_adder(), np.empty((starts.step, self.scores.shape[1]), self.dtype)
            for turn in turns:
                low = starts[turn]
                high = min(low + starts.step, starts.stop)
                if read is None:
                    add(self._impostors_in_memory(low, high, room))
                else:
                    add(read.rows_between(low, high).impostors())
            idle.append((add, room))

        in_turns(count, len(starts))

    @cached_property
    def _left_out(self) -> tuple[np.ndarray, list[Exclusion]]:
        """The positions that are left out for every probe, and other exclusions of all pairs."""
        is_left_out = np.zeros(self.scores.shape[1], dtype=bool)
        further_exclusions = []
        for exclusion in (x for x in self.scores.exclusions if x.of_all):
            probe = exclusion.codes.probe
            if len(probe) and (probe == probe[0]).all():
                is_left_out |= exclusion.holds(slice(0, 1), slice(None))
            else:
                further_exclusions.append(exclusion)
        return np.flatnonzero(is_left_out[self.gallery.columns[0]]), further_exclusions

    def _impostors_in_memory(self, low: int, high: int, room: np.ndarray) -> Block:
        """Return rows of a matrix in memory as a block, written into `room`.

        If an attempt failed, or there is a mask, they are read cell by cell.
        """
        scores = self.scores
        if scores.cells.mask is not None or scores.nan == "reject" or self.dtype != scores.dtype:
            return self._read(low, high).impostors()
        raw = scores.cells.read(low, high)
        values = room[: len(raw)]
        _, own_positions, starts = self._own_cells
        order = np.empty(0, np.int64) if self.gallery.order is None else self.gallery.order
        sign = self.dtype.type(-1 if scores.kind == "similarity" else 1)
        failed = np.empty(len(raw), np.int64)  # the failed comparisons of each row
        impostors.on_one_thread(
            writable_alias(np.require(raw, self.dtype, ("C", "A"))), sign, order,
            starts[low : low + len(raw) + 1], own_positions, values, failed,
        )  # fmt: skip
        if scores.nan == "raise" and failed.any():
            return self._read(low, high).impostors()
        probe = np.arange(low, high)[:, None]
        positions, exclusions = self._left_out
        values[:, positions] = np.nan
        if exclusions:
            columns = slice(None) if self.gallery.order is None else order
            np.copyto(values, np.nan, where=are_left_out(exclusions, probe, columns, False))
        return Block(values, probe, self.gallery.columns, low, self.gallery.lines)


class PairParts(Parts):
    """Pieces of listed pairs."""

    def __init__(self, scores: Any):
        self.scores = scores
        self.dtype = distance_dtype(scores.dtype)
        self.few = is_few(self.size)

    @property
    def size(self) -> int:
        return int(self.scores.shape[0])

    @cached_property
    def mates(self) -> Mates:
        distance = self.scores.pair_distances()
        place = np.flatnonzero(self.scores.genuine & ~np.isnan(distance))
        rejected = self.scores.nan == "reject"
        return Mates(place, place, distance[place], self.size, rejected=rejected)

    def sample(self) -> list[Block]:
        sampled = np.arange(0, self.size, max(1, self.size >> 20))
        return [] if self.few else [self._block(sampled[k::GROUPS], k) for k in range(GROUPS)]

    def whole(self) -> Block:
        return self._block(np.arange(self.size), 0)

    def visit(self, make_adder: Callable[[], Add], part: range | None = None) -> None:
        add = make_adder()
        for low in range(0, self.size, PIECE):
            high = min(low + PIECE, self.size)
            add(self._block(np.arange(low, high), low))
            report_rows(high, self.size)

    def _block(self, indices: np.ndarray, number: int) -> Block:
        scores = self.scores
        distance = scores.pair_distances(scores.values[indices])
        distance = np.where(scores.genuine[indices], distance.dtype.type(np.nan), distance)
        rejected = scores.nan == "reject"
        return Block(distance, indices, indices, number, few=self.few, rejected=rejected)


class ListParts(Parts):
    """Pieces of lists of the nearest candidates of each probe; a score is a place in the list.

    An unlisted mate has not failed: its score is no better than the last listed score.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, scores: Any):
        self.scores = scores
        self.few = is_few(self.size)

    @property
    def size(self) -> int:
        return int(self.scores.indices.size)

    @cached_property
    def mates(self) -> Mates:
        """The genuine attempts; an unlisted attempt has no distance."""
        queries = self.scores.shape[0]
        row, column = mate_cells(self.scores, np.arange(queries))
        is_attempt = ~excluded(self.scores, row, column)
        row, column = row[is_attempt], column[is_attempt]
        # The place of each column in its query's list, float64; NaN if it is not listed.
        indices = self.scores.indices
        width = self.scores.shape[1]
        listed_query, place = np.nonzero(indices >= 0)
        listed_cell = listed_query * width + indices[listed_query, place]
        cell = row * width + column
        places = np.full(len(cell), np.nan)
        if len(listed_cell):
            order = np.argsort(listed_cell)
            index = np.minimum(listed_cell[order].searchsorted(cell), len(order) - 1)
            is_listed = listed_cell[order[index]] == cell
            places[is_listed] = place[order[index[is_listed]]]
        return Mates(row, column, places, queries)

    def sample(self) -> list[Block]:
        """Return no block: lists have no thresholds, for which samples are taken."""
        return []

    def whole(self) -> Block:
        return self._block(np.arange(self.scores.shape[0]))

    def visit(self, make_adder: Callable[[], Add], part: range | None = None) -> None:
        add = make_adder()
        queries, depth = self.scores.indices.shape
        step = max(1, PIECE // depth)
        for low in range(0, queries, step):
            high = min(low + step, queries)
            add(self._block(np.arange(low, high)))
            report_rows(high, queries)

    def _block(self, probe: np.ndarray) -> Block:
        scores = self.scores
        gallery = scores.indices[probe]
        row, place = np.nonzero(gallery >= 0)
        column = gallery[row, place]
        codes = scores.codes
        is_impostor = codes.probe[probe[row]] != codes.gallery[column]
        is_impostor &= ~excluded(scores, probe[row], column)
        values = np.full(gallery.shape, np.nan)
        values[row[is_impostor], place[is_impostor]] = place[is_impostor]
        return Block(values, probe[:, None], gallery, int(probe[0]), few=self.few)


def show_blocks(
    parts: Parts, reducers: Sequence[Any], part: range | None = None
) -> list[list[Any]]:
    """Show all blocks, or the blocks of a part, to copies of the reducers for each thread.

    Return the copies of all threads.
    """
    copies: list[list[Any]] = []

    def make_adder() -> Add:
        copies_of_thread = [reducer.fresh() for reducer in reducers]
        copies.append(copies_of_thread)

        def add(block: Block) -> None:
            for reducer in copies_of_thread:
                reducer.add(block)

        return add

    parts.visit(make_adder, part)
    return copies

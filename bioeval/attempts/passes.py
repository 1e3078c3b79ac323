"""One pass over the scores for all tasks.

The kernels of tiles count finite scores with labels: tiles of embeddings where they can, and else
whole rows. The general kernels count all else, block by block: infinite scores, fusions other than
the nearest template (and the farthest, of embeddings), claims. The counts are the same either way.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bioeval.attempts.counting import Counter, KernelCounters
from bioeval.attempts.second_pass import PointsWanted, SecondPass
from bioeval.scores.blocks import BlockReader, is_small, threads_for
from bioeval.scores.matrix import Scores, are_pairs

R = TypeVar("R")


class Counted(NamedTuple):
    """Results of one pass, in the order of the counters."""

    results: list[Any]
    #: What the pass has collected of the operating points, by counter; of some, or of none.
    second_passes: dict[Counter[Any], SecondPass]


def count_together(reader: BlockReader, counters: Sequence[Counter[R]]) -> list[R]:
    """Fill counters in one pass over the scores and return their results, in order."""
    return count_with_points(reader, counters, None).results


def count_with_points(
    reader: BlockReader, counters: Sequence[Counter[Any]], wanted: PointsWanted | None
) -> Counted:
    """Fill counters in one pass over the scores, which may collect what points will need.

    `wanted` are the operating points of verification that are looked for next.
    """
    kernel = kernel_counters(reader.scores, counters)
    with threads_for(reader.scores):
        second_passes = None
        if kernel is not None:
            second_passes = count_by_tiles(reader, counters, kernel, wanted)
            if second_passes is None and not kernel.farthest:
                second_passes = count_by_rows(reader, counters, kernel, wanted)
        if second_passes is None:
            count_by_blocks(reader, counters)
    return Counted([counter.result() for counter in counters], second_passes or {})


def count_by_blocks(reader: BlockReader, counters: Sequence[Counter[Any]]) -> None:
    """Fill counters with the blocks of one pass."""
    if are_pairs(reader.scores):
        for counter in counters:
            counter.add_pairs()
        return
    for block in reader.blocks():
        for counter in counters:
            counter.add(block)


def kernel_counters(scores: Scores, counters: Sequence[Counter[Any]]) -> KernelCounters | None:
    """Return counters by what the kernels of tiles count for them; None if they cannot."""
    if are_pairs(scores) or not scores._labelled or is_small(scores):
        return None
    kernel = KernelCounters.of(counters)
    if kernel is None or not (kernel.attempts or kernel.ranks):
        return None
    grids = []
    for counter in kernel.attempts:
        grids.append(
            np.empty(0)
            if counter.threshold_counter is None
            else counter.threshold_counter.thresholds
        )
    if all(itertools.starmap(np.array_equal, itertools.pairwise(grids))):
        return kernel
    return None


def count_by_tiles(
    reader: BlockReader,
    counters: Sequence[Counter[Any]],
    kernel: KernelCounters,
    wanted: PointsWanted | None,
) -> dict[Counter[Any], SecondPass] | None:
    """Fill counters from tiles of embeddings; None, and nothing, where tiles cannot serve them."""
    from bioeval.attempts.tiled_scores import TiledScores

    tiled = TiledScores.of(reader)
    if tiled is None:
        return None
    from bioeval.attempts.tile_pass import TilePass
    from bioeval.attempts.tile_reading import TileReading

    tile_pass = TilePass(tiled, counters, kernel, wanted)
    if not tile_pass.placed:
        return None
    second_passes = tile_pass.run()
    if second_passes is not None:
        reader.second_reading = partial(TileReading, tiled)
    return second_passes


def count_by_rows(
    reader: BlockReader,
    counters: Sequence[Counter[Any]],
    kernel: KernelCounters,
    wanted: PointsWanted | None = None,
) -> dict[Counter[Any], SecondPass] | None:
    """Fill counters from whole rows; None, and nothing, where no cells are exact."""
    from bioeval.attempts.matrix_pass import MatrixPass

    matrix_pass = MatrixPass(reader, counters, kernel, wanted)
    if not matrix_pass.placed:
        return None
    return matrix_pass.run()

"""Second passes over tiles of embeddings: only those that may hold scores of their windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np

from bioeval.attempts.counters import ImpostorBlock
from bioeval.attempts.parts import merged
from bioeval.attempts.second_pass import RowMoments, SecondPass
from bioeval.attempts.tile_pass import LINE
from bioeval.attempts.tiled_scores import FusedTiles, TiledScores
from bioeval.attempts.verification_counter import VerificationCounter


class TileReading:
    """Second passes over the impostor scores that were counted by tiles.

    - `tiled` (TiledScores): the tiles
    """

    def __init__(
        self,
        tiled: TiledScores,
        second_passes: Sequence[tuple[VerificationCounter, SecondPass]],
    ):
        self.tiled, self.second_passes = tiled, second_passes
        self.farthest = any(counter.farthest for counter, _ in second_passes)
        self.reader, self.scores = tiled.reader, tiled.scores
        self.fuses = any(counter.templates == "multi" for counter, _ in second_passes)
        # What divides crowded bins is taken from the first tiles.
        starting = [pair for pair in second_passes if pair[1].starts_with_any]
        if starting:
            for i, j in tiled.places(range(len(tiled.rows))):
                tile = tiled.tiles.compute(i, j, np.empty(tiled.tiles.size, tiled.source.dtype))
                reading = _ReadingThread(self, [second_pass for _, second_pass in second_passes])
                reading.add(i, j, tile, only=starting)
                starting = [pair for pair in starting if pair[1].starts_with_any]
                if not starting:
                    break

    def run(self) -> None:
        """Read the tiles that may hold scores that are looked for."""
        tiled = self.tiled
        places = [x for x in tiled.places(range(len(tiled.rows))) if self._may(x)]
        threads: list[_ReadingThread] = []

        def take() -> Any:
            fresh = [second_pass.fresh() for _, second_pass in self.second_passes]
            threads.append(_ReadingThread(self, fresh))
            return threads[-1].visit

        tiled.visit(places, take, progress=True)
        for k, (counter, second_pass) in enumerate(self.second_passes):
            found = [thread.second_passes[k] for thread in threads] or [second_pass.fresh()]
            rows: dict[int, list[RowMoments]] = {}
            for thread in threads:
                rows |= thread.rows[k]
            each = [x.counts() for x in found]
            total = each[0]
            for one in each[1:]:
                total = merged(total, one)
            whole = second_pass.fresh()
            whole.include_counts(total)
            # In the order of the tiles, whichever thread had them.
            whole.rows = [moments for turn in sorted(rows) for moments in rows[turn]]
            if tiled.symmetric and counter.templates == "single":
                whole.count_twice()
            second_pass.include_counts(whole.counts())

    def _may(self, place: tuple[int, int]) -> bool:
        """Whether a tile may hold scores that are looked for."""
        least = self.tiled.least.get(place)
        if least is None:
            return True
        for _, second_pass in self.second_passes:
            if second_pass.genuine is not None or second_pass.with_moments:
                return True
            if any(high >= least for _, high in second_pass.windows):
                return True
        return False


class _ReadingThread:
    """Second passes of one thread."""

    def __init__(self, reading: TileReading, second_passes: Sequence[SecondPass]):
        self.reading, self.second_passes = reading, second_passes
        self.tiled = reading.tiled
        self.fused_tiles = None
        if reading.fuses:
            self.fused_tiles = FusedTiles(self.tiled, farthest=reading.farthest)
        #: The moments of each tile, by second pass.
        self.rows: list[dict[int, list[RowMoments]]] = [{} for _ in second_passes]

    def visit(self, turn: int, i: int, j: int, tile: np.ndarray) -> None:
        """Take in a tile, on this thread alone."""
        before = [len(x.rows) for x in self.second_passes]
        threads = numba.get_num_threads()
        numba.set_num_threads(1)
        try:
            self.add(i, j, tile)
        finally:
            numba.set_num_threads(threads)
        for k, x in enumerate(self.second_passes):
            self.rows[k][turn] = x.rows[before[k] :]

    def add(
        self,
        i: int,
        j: int,
        tile: np.ndarray,
        only: Sequence[tuple[VerificationCounter, SecondPass]] | None = None,
    ) -> None:
        """Take in a tile, for all second passes or `only` some of them."""
        self.tiled.without_mates(i, j, tile)
        wanted = self.reading.second_passes if only is None else only
        for k, (counter, given) in enumerate(self.reading.second_passes):
            if any(given is second_pass for _, second_pass in wanted):
                for block in self.impostors(counter, i, j, tile):
                    self.second_passes[k].add(block)

    def impostors(
        self, counter: VerificationCounter, i: int, j: int, tile: np.ndarray
    ) -> Iterator[ImpostorBlock]:
        """Yield the impostor scores of a tile, each pair of templates once; NaN is none."""
        tiled, height = self.tiled, int(self.tiled.rows.sizes()[i])
        if counter.templates == "multi":
            assert self.fused_tiles is not None
            for fused in self.fused_tiles.of(i, j, tile):
                yield from _without_genuine(fused)
            return
        scores = tile[:height]
        if tiled.symmetric and i == j:
            scores = scores.copy()
            scores[np.tril_indices(height, m=scores.shape[1])] = np.nan
        yield from _without_genuine(scores)


def _without_genuine(scores: np.ndarray) -> Iterator[ImpostorBlock]:
    """Yield scores none of which is genuine, in lines of several rows, and the rows left over."""
    width = scores.shape[1]
    together = max(1, LINE // width)
    whole = len(scores) - len(scores) % together
    for some in (scores[:whole].reshape(-1, together * width), scores[whole:]):
        if len(some):
            none = np.zeros(len(some), dtype=np.int64)
            yield ImpostorBlock(some, none, none)

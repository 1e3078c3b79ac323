"""Tiles that are looked at by the workers of a cluster: the counts are the same, to the last bit.

Nothing else knows of it. The workers get the scores once, and each look with a part of the tiles;
what they have seen is added up as it arrives. Values in an HDF5 file, or a mapped one, are not
sent: each worker opens the file.
"""

from __future__ import annotations

import io
import mmap
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import cloudpickle
import numba
import numpy as np
from distributed import CancelledError, KilledWorker
from distributed.comm import CommClosedError

from bioeval.attempts.squares import Squares
from bioeval.attempts.tiles import Rows, SquareTiles
from bioeval.base.errors import Argument, DataError
from bioeval.base.progress import report_rows
from bioeval.base.version import __version__
from bioeval.scores.blocks import BlockReader

if TYPE_CHECKING:
    from bioeval.attempts.passes import Look, Seen

# Parts of the tiles for each thread of a worker: some may be slower.
PARTS = 4

# Seconds to wait for the first worker, and before scores are sent again that workers have lost; and
# how often they are sent.
WAIT, PAUSE, SENT = 30, 2, 4


class Workers:
    """The workers of a client, which look at the same tiles each time."""

    def __init__(self, client: Any, tiles: Rows | SquareTiles):
        self.client, self.tiles = client, tiles
        self._sent: Any = None

    def look(self, look: Look) -> list[Seen]:
        """Look at all tiles; return what the workers have seen."""
        for _ in range(SENT):
            try:
                return self._look(look)
            except (CancelledError, CommClosedError):  # workers have ended that had the scores
                self._sent = None
                time.sleep(PAUSE)
            except KilledWorker as error:
                raise DataError(
                    f"workers of the cluster ended while they counted ({error}): expected ones "
                    "that have enough memory"
                ) from error
        raise DataError(f"the workers of the cluster have lost the scores {SENT} times")

    def _look(self, look: Look) -> list[Seen]:
        client, tiles = self.client, self.tiles
        if client.status == "closed":
            raise DataError(Argument("client"), " is closed: expected one that runs, or None")
        try:
            client.wait_for_workers(1, timeout=WAIT)
            if self._sent is None:
                self._sent = client.scatter(Sent(tiles), hash=False, broadcast=True)
            wanted = client.scatter(look, hash=False, broadcast=True)
        except TimeoutError as error:
            text = f" has no worker, after {WAIT} seconds: expected at least one"
            raise DataError(Argument("client"), text) from error
        parts = tiles.parts(PARTS * max(1, sum(client.nthreads().values())))
        futures = [client.submit(_seen, self._sent, wanted, x, pure=False) for x in parts]
        seen: list[Seen] = []
        m = tiles.reader.scores.shape[0]
        try:
            for part, future in zip(parts, futures, strict=True):
                some, mates = future.result()
                future.release()
                if mates:
                    for of_all, of_part in zip(tiles.mates, mates, strict=True):
                        of_all[part.start : part.stop] = of_part
                for one in some:
                    if seen:
                        seen[0].add(one)
                    else:
                        seen.append(one)
                report_rows(m * part.stop // parts[-1].stop, m)
        except BaseException:
            client.cancel(futures)
            raise
        return seen


class Sent:
    """Scores as they are sent to workers, each of which makes their tiles when it first looks.

    They are read there, so that an error is that of a look.
    """

    def __init__(self, tiles: Rows | SquareTiles):
        buffers: list[Any] = []
        file = io.BytesIO()
        scores, step, source = tiles.reader.scores, 0, None
        if isinstance(tiles, SquareTiles):
            source = tiles.squares.source
        else:
            step = tiles.step
        pickler = _Pickler(file, protocol=5, buffer_callback=buffers.append)
        pickler.dump((__version__, scores, step, source))
        self.pickled, self.buffers = file.getvalue(), buffers

    def __getstate__(self) -> dict[str, Any]:
        return {"pickled": self.pickled, "buffers": self.buffers}

    @cached_property
    def tiles(self) -> Rows | SquareTiles:
        """The tiles."""
        try:
            version, scores, step, source = cloudpickle.loads(self.pickled, buffers=self.buffers)
        except (OSError, KeyError, ValueError) as error:  # as libraries say that there is no file
            raise DataError(
                f"a worker of the cluster cannot read the scores ({error}); expected their file "
                "under the same path on all workers, or an array in memory"
            ) from error
        if version != __version__:
            raise DataError(
                f"a worker of the cluster has bioeval {__version__}, and the scores are sent by "
                f"{version}; expected one version"
            )
        reader = BlockReader(scores)
        if source is not None:
            return SquareTiles(Squares(reader, source, fused=True))
        rows = Rows(reader)
        rows.step = step  # whatever holds the scores here
        return rows


def _seen(sent: Sent, look: Look, part: range) -> tuple[list[Seen], Sequence[np.ndarray]]:
    """Look at a part of the tiles on a worker; return what is seen, and the mates of rows."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)  # other parts are looked at on the other threads of the worker
    try:
        tiles = sent.tiles
        seen = look.over(tiles, part)
    finally:
        numba.set_num_threads(before)
    for one in seen:
        one.drop_room()
    if isinstance(tiles, Rows) and look.wants_mates:
        return seen, [x[part.start : part.stop] for x in tiles.mates]
    return seen, ()


class _Pickler(cloudpickle.Pickler):
    """Pickles arrays in a mapped file as the place in this file."""

    def reducer_override(self, value: Any) -> Any:
        """Return how a value is made again."""
        place = _place_in_file(value) if isinstance(value, np.ndarray) else None
        return super().reducer_override(value) if place is None else (_mapped, place)


def _place_in_file(array: np.ndarray) -> tuple[Any, ...] | None:
    """Return where the values of an array are in a mapped file; None if in no file with a name."""
    base: Any = array
    while not isinstance(pages := getattr(base, "_mmap", None), mmap.mmap):
        if not isinstance(base, np.ndarray):
            return None
        base = base.base
    if base.filename is None or base.mode == "c" or not array.size or min(array.strides) < 0:
        return None  # others would not see private changes
    if base.mode != "r":
        pages.flush()
    low, high = np.lib.array_utils.byte_bounds(array)
    start = base.offset - base.offset % mmap.ALLOCATIONGRANULARITY
    start += low - np.frombuffer(pages, np.uint8).ctypes.data
    return str(base.filename), start, high - low, array.dtype, array.shape, array.strides


def _mapped(
    file: str, start: int, size: int, dtype: np.dtype, shape: tuple[int, ...], strides: tuple
) -> np.ndarray:
    """Map an array in a file."""
    values = np.memmap(file, np.uint8, "r", start, (size,))
    return np.ndarray(shape, dtype, values, 0, strides)

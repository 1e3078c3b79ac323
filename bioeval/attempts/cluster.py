"""Tiles that are looked at by the workers of a cluster: the counts are the same, to the last bit.

Nothing else knows of it. A worker gets the scores once, and a look with a part of the tiles each
time; what it has seen is added to what the others have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba

from bioeval.attempts.squares import Squares, source_of_tiles
from bioeval.attempts.tiles import Rows, SquareTiles
from bioeval.base.progress import report_rows
from bioeval.scores.blocks import BlockReader

# Parts of the tiles for each worker: some may be slower.
PARTS = 4

#: The tiles that a worker has looked at last, by the scores as they were sent.
_LAST: dict[str, Rows | SquareTiles] = {}


def look_on(client: Any, look: Any, tiles: Rows | SquareTiles) -> list[Any]:
    """Return what the workers of a client see in all tiles."""
    scores = tiles.reader.scores
    number = PARTS * max(1, len(client.scheduler_info()["workers"]))
    parts = tiles.parts(number)
    sent = client.scatter(scores, hash=False)
    key = str(sent.key)
    futures = [
        client.submit(_seen, sent, key, isinstance(tiles, SquareTiles), look, part, pure=False)
        for part in parts
    ]
    seen, done = [], 0
    for part, future in zip(parts, futures, strict=True):
        found, mates = future.result()
        seen += found
        if isinstance(tiles, Rows) and look.wants_mates:
            for of_all, of_part in zip(tiles.mates, mates, strict=True):
                of_all[part.start : part.stop] = of_part
        done += len(part)
        report_rows(scores.shape[0] * done // parts[-1].stop, scores.shape[0])
    return seen


def _seen(
    scores: Any, key: str, squares: bool, look: Any, part: range
) -> tuple[list[Any], Sequence[Any]]:
    """Look at a part of the tiles on a worker; return what is seen, and the mates of rows."""
    numba.set_num_threads(1)  # a worker has one thread
    if key not in _LAST:
        _LAST.clear()
        reader = BlockReader(scores)
        source = source_of_tiles(scores) if squares else None
        _LAST[key] = Rows(reader) if source is None else SquareTiles(Squares(reader, source))
    tiles = _LAST[key]
    found = look.over(tiles, part)
    if isinstance(tiles, Rows) and look.wants_mates:
        return found, [x[part.start : part.stop] for x in tiles.mates]
    return found, ()

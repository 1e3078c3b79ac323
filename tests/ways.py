"""The ways in which attempts are found: sorted, or counted in blocks, cells and tiles of any size.

Each sets constants of the modules that count, so that a few scores take the way of many.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

_CELLS = ("cells.LEAST_CELLS", "cells.MOST_CELLS", "folds.LEAST_CELLS", "folds.MOST_CELLS")
FEW_CELLS = {f"counting.{name}": 8 for name in _CELLS}
WAYS: dict[str, dict[str, Any]] = {
    "listed": {"scores.blocks.LISTED": 1 << 18},
    "counted": {},
    "few cells": FEW_CELLS,
    "two cells, nothing kept at first": {
        **FEW_CELLS,
        "counting.cells.LEAST_CELLS": 2,
        "counting.cells.MOST_CELLS": 2,
        "counting.cells.MOST_KEPT": 0.0,
    },
    "small tiles": {
        "counting.parts.BLOCK_BYTES": 64,
        "counting.parts.VALUES_IN_MEMORY": 99,
        "counting.parts.SAMPLE_ROWS": 2,
        "counting.parts.TOGETHER": 3,
        "counting.counted.JOIN": 4,
        "counting.counted.MOST_IN_CELL": 30,
        "scores.rows.SERIAL_CELLS": 0,
        "scores.rows.BLOCK_VALUES": 50,
    },
    "sparse tables of people": {"counting.people.MOST_CELLS": 0, "counting.people._MOST_KEPT": 20},
}


@contextmanager
def counted_by(way: str, tile: int | None = None) -> Iterator[pytest.MonkeyPatch]:
    """Find attempts in a way, in tiles of at most so many templates."""
    from bioeval.counting.tiles import LARGEST

    tile = 8 if way == "small tiles" else tile
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"scores.blocks.LISTED": 0, **WAYS[way]}.items():
            patch.setattr(f"bioeval.{name}", value)
        for size in LARGEST if tile else ():
            patch.setitem(LARGEST, size, tile)
        yield patch

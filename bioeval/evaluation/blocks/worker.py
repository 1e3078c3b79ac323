"""What a worker of a cluster does: it counts a block of rows, or merges counts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

import numba
import numpy as np

from bioeval.base.engine import RowWork, computed_by
from bioeval.base.progress import shown_by
from bioeval.evaluation.blocks.rows import RowsHere
from bioeval.evaluation.blocks.sending import Packed, Rows, unpack
from bioeval.tallies.parts import Part, merged_parts

# Kernels run their own threads, and two kernels at a time would disturb each other.
_ALONE = threading.Lock()

# The work that was unpacked last, by its token.
_unpacked: dict[str, tuple[RowWork, dict[str, RowsHere]]] = {}


def count_rows(
    packed: Packed, arrays: Sequence[np.ndarray], low: int, high: int, rows: Rows
) -> Part:
    """Return the counts of rows ``low:high``."""
    with _ALONE, computed_by(None), _one_line():
        if packed.token not in _unpacked:
            _unpacked.clear()
            _unpacked[packed.token] = unpack(packed, arrays)
        work, matrices = _unpacked[packed.token]
        for name, found in rows.items():
            matrices[name].numbers, matrices[name].values = found
        before = numba.get_num_threads()
        numba.set_num_threads(min(_threads(), _most_threads()))
        try:
            return Part(((low, high),), work.part(low, high))
        finally:
            numba.set_num_threads(before)
            for matrix in matrices.values():
                matrix.numbers, matrix.values = matrix.numbers[:0], matrix.values[:0]


def merge_counts(parts: Sequence[Part]) -> Part:
    """Return the counts of some blocks, in the order of their rows."""
    return merged_parts(parts)


def _one_line() -> AbstractContextManager[None]:
    """Let one of several workers write the line about compilation, and none into a terminal."""
    from distributed import get_worker

    name = get_worker().name  # a number in a cluster that was started on this machine
    quiet = isinstance(name, int) and name > 0 or sys.stderr is None or sys.stderr.isatty()
    return shown_by(lambda *what: None) if quiet else nullcontext()


def _most_threads() -> int:
    """Return the threads that kernels may have in this process."""
    return int(getattr(numba.config, "NUMBA_NUM_THREADS"))  # noqa: B009 (set when it is loaded)


def _threads() -> int:
    """Return the threads that this worker was given."""
    from distributed import get_worker

    return int(get_worker().state.nthreads)

"""Products of matrices on threads: each product on one thread, several products side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from bioeval.base.threads import in_turns

# Rows and columns of products are padded, so that most libraries of linear algebra take the same
# steps for every cell.
MULTIPLE = 16  # the numbers of rows and of columns are multiples of it
LEAST = 64  # the least number of rows, and of columns


class _OneThread:
    """A context in which libraries of linear algebra use one thread.

    The limit holds for the whole process, so contexts in several threads share it: the first to
    begin sets the limit, and the last to end restores the former numbers of threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = 0
        self._limit: Any = None  # restores the former numbers of threads

    def __enter__(self) -> None:
        with self._lock:
            if self._calls == 0:
                with _any_thread_may_limit():
                    self._limit = _libraries().limit(limits=1, user_api="blas")
            self._calls += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._calls -= 1
            if self._calls == 0:
                with _any_thread_may_limit():
                    self._limit.restore_original_limits()


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def _any_thread_may_limit() -> Iterator[None]:
    """Let this thread set or restore the limit of OpenBLAS, whichever thread set the limit before.

    Newer versions of threadpoolctl ignore all threads but the first that has set a limit, until
    that thread gives up its control.
    """
    import threadpoolctl

    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    give_up = getattr(openblas, "clear_controlling_thread", None)
    if give_up is not None:
        give_up(force=True)
    yield
    if give_up is not None:
        give_up(force=True)


_ONE_THREAD = _OneThread()


def on_all_threads(compute: Callable[[Iterator[int]], None], steps: int) -> None:
    """Run steps of work on all threads; each product is computed on one thread.

    No thread waits for another, and last digits do not depend on the number of threads.
    """
    with _ONE_THREAD:
        in_turns(compute, steps)


@cache
def same_in_any_tile(features: int, dtype: np.dtype) -> bool:
    """Whether a product of two vectors has the same bits in any matrix product.

    The size of the matrix product and the order of its factors vary between tiles. Most libraries
    sum over the features in the same order, but no library guarantees the order, so it is tested
    here on random vectors.
    """
    rng = np.random.default_rng(0)
    probe, gallery = rng.standard_normal((2, 512 + MULTIPLE, features), dtype=dtype.type)
    with _ONE_THREAD:
        products = probe @ gallery.T
        # A large tile, and tiles with a short side, for which libraries may take other steps.
        for height, width in ((480, 496), (LEAST, 464), (320, LEAST + MULTIPLE)):
            rows = rng.permutation(len(probe))[:height]
            columns = rng.permutation(len(gallery))[:width]
            expected = products[np.ix_(rows, columns)]
            if not np.array_equal(probe[rows] @ gallery[columns].T, expected):
                return False
            if not np.array_equal((gallery[columns] @ probe[rows].T).T, expected):
                return False
    return True


def padded(rows: int) -> int:
    """Return the number of rows of a side of a product with the padding."""
    return max(-(-rows // MULTIPLE) * MULTIPLE, LEAST)

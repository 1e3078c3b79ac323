"""Arrays over the same memory, as compiled kernels take them."""

from __future__ import annotations

import ctypes

import numpy as np


def writable_alias(array: np.ndarray) -> np.ndarray:
    """Return an array over the same memory that numba takes for writable.

    Read-only arrays (memory maps) would make it compile every kernel once more. The kernels write
    to none of them.
    """
    if array.flags.writeable:
        return array.view(np.ndarray)
    memory = (ctypes.c_byte * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # type: ignore[attr-defined]  # which is kept with the alias
    return np.frombuffer(memory, dtype=array.dtype).reshape(array.shape)

"""Arrays as the kernels take them."""

from __future__ import annotations

import gc
import weakref

import numba
import numpy as np
import pytest

import bioeval as be
from bioeval.scores.arrays import writable_alias
from bioeval.scores.blocks import blocks_of


def read_only(shape: tuple[int, int], dtype: str = "float64") -> np.ndarray:
    array = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
    array.flags.writeable = False
    return array


@pytest.mark.slow
def test_an_alias_is_the_same_memory_and_keeps_it():
    array = read_only((3, 4))
    alias = writable_alias(array)
    assert alias.flags.writeable and not array.flags.writeable
    assert np.shares_memory(alias, array)
    expected, owner = array.copy(), weakref.ref(array)
    part = alias[1:]
    del array, alias
    gc.collect()
    assert owner() is not None
    np.testing.assert_array_equal(part, expected[1:])
    del part
    gc.collect()
    assert owner() is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_blocks_have_one_type_for_the_kernels(dtype):
    """Those of read-only scores too: each type is compiled anew."""
    values, labels = read_only((6, 6), dtype), list("aabbcc")
    fixed, free = (next(blocks_of(be.Scores(x, labels))).values for x in (values, values.copy()))
    assert np.shares_memory(fixed, values)
    assert numba.typeof(fixed) == numba.typeof(free)

"""What few numbers are counted by, in place of a compiled loop: the same bits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bioeval.counting import points
from bioeval.kernels import fuse, hull
from bioeval.scores.blocks import Block, BlockLines

SPECIAL = np.array([0.0, -0.0, 0.5, 1.0, 1e300, 5e-324, np.inf, -np.inf, np.nan])


def assert_same_bits(ours, theirs):
    assert_array_equal(ours, theirs)
    assert_array_equal(np.signbit(ours), np.signbit(theirs))


@pytest.mark.parametrize("seed", range(24))
def test_the_nearest_of_few_groups_are_those_of_the_loop(seed):
    """Rows of scores, with ties and what is no finite number, over groups of unequal size."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, rng.integers(1, 40))
    m, n = int(rng.integers(1, 30)), int(sizes.sum())
    values = rng.normal(size=(m, n)) * 10.0 ** rng.integers(-3, 4)
    if seed % 3:
        values = np.round(values / (1, 4)[seed % 2], 1)  # with zeros of either sign
    odd = rng.random(values.shape) < (0, 0, 0.1, 1)[seed % 4]
    with np.errstate(over="ignore"):
        values = np.where(odd, rng.choice(SPECIAL, values.shape), values)
        values = values.astype(np.float32 if seed % 2 else np.float64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    nearest = np.empty((m, len(sizes)), values.dtype)
    fuse.fuse_groups(values, starts, 1, nearest)
    templates = BlockLines(np.arange(len(sizes)), np.repeat(np.arange(len(sizes)), sizes), starts)
    for few in (True, False):
        block = Block(values, np.arange(m)[:, None], np.arange(n)[None], 0, templates, few=few)
        assert_array_equal(block.by_person("min").values, nearest)


@pytest.mark.parametrize("seed", range(6))
def test_the_interpreted_hull_is_the_compiled_one(seed):
    rng = np.random.default_rng(seed)
    far, frr = np.round(rng.random((2, 5, int(rng.integers(1, 30)))), 1 + seed % 2)
    far.sort(axis=1)
    frr = np.ascontiguousarray(np.sort(frr, axis=1)[:, ::-1])
    if seed % 3:  # nothing has failed
        far[:, -1], frr[:, -1] = 1, 0
    of_loop = np.zeros(5)
    hull.hull_equal_errors(far, frr, of_loop)
    assert_same_bits(points.hull_equal_errors(far, frr), of_loop)

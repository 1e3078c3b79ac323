"""Kernels of few numbers by NumPy: the same bits as the compiled loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bioeval.kernels import compiling, fuse, hull

SPECIAL = np.array([0.0, -0.0, 0.5, 1.0, 1e300, 5e-324, np.inf, -np.inf, np.nan])


def both(kernel, arguments, *outputs):
    """What the compiled loop and NumPy write into outputs, and what they return."""
    result = []
    for fake_pass in (kernel.kernel, kernel.twin):
        written = [np.zeros(shape, dtype) for shape, dtype in outputs]
        with np.errstate(all="ignore"):
            result.append([fake_pass(*arguments(written)), *written])
    return result


def assert_same_bits(kernel, arguments, *outputs):
    compiled, numpy = both(kernel, arguments, *outputs)
    assert numpy[0] == compiled[0]
    for ours, theirs in zip(numpy[1:], compiled[1:], strict=True):
        assert_array_equal(ours, theirs)
        assert_array_equal(np.signbit(ours), np.signbit(theirs))


class Rows:
    """Rows of scores, with ties and what is no finite number, over groups of unequal size."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, rng.integers(1, 40))
        self.m, self.n = int(rng.integers(1, 30)), int(sizes.sum())
        dtype = np.float32 if seed % 2 else np.float64
        values = rng.normal(size=(self.m, self.n)) * 10.0 ** rng.integers(-3, 4)
        if seed % 3:
            values = np.round(values / (1, 4)[seed % 2], 1)  # with zeros of either sign
        odd = rng.random(values.shape) < (0, 0, 0.1, 1)[seed % 4]
        with np.errstate(over="ignore"):
            self.values = np.where(odd, rng.choice(SPECIAL, values.shape), values).astype(dtype)
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        group = rng.integers(-1, len(sizes), self.m)
        self.start = np.where(group >= 0, self.starts[group], 0)
        self.stop = np.where(group >= 0, self.starts[group + 1], 0)
        inside = self.start + rng.integers(0, 3, self.m)
        self.probe_position = np.where(inside < self.stop, inside, -1)
        self.columns = rng.permutation(self.n)[None]
        self.sides = self.values, self.start, self.stop


@pytest.mark.parametrize("seed", range(24))
def test_numpy_counts_the_same_bits(seed):
    rows = Rows(seed)
    m, groups = rows.m, len(rows.starts) - 1
    assert_same_bits(
        fuse.fuse_groups,
        lambda out: (rows.values, rows.columns, rows.starts, rows.probe_position, 1, *out),
        ((m, groups), rows.values.dtype), ((m, groups), np.int64),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_the_interpreted_hull_is_the_compiled_one(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 30, 5)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    far, frr = np.round(rng.random((2, starts[-1])), 1 + seed % 2)
    for a, b in zip(starts[:-1], starts[1:], strict=True):
        far[a:b].sort()
        frr[a:b] = np.sort(frr[a:b])[::-1]
    assert_same_bits(hull.hull_equal_errors, lambda out: (far, frr, starts, *out), (5, float))


class Loop:
    """A kernel that is compiled at its first call."""

    def __init__(self):
        self.signatures = []

    def __call__(self, x):
        self.signatures = ["compiled"]
        return "compiled"


@pytest.mark.parametrize(
    ("size", "most"), [(compiling.FEW, compiling.CALLS), (compiling.FEW + 1, 0)]
)
def test_numpy_works_for_few_numbers_until_a_kernel_is_at_hand(size, most):
    kernel = compiling.by_numpy(lambda x: "numpy", lambda x: x)(Loop())
    assert [kernel(size) for _ in range(most + 2)] == ["numpy"] * most + ["compiled"] * 2
    assert kernel(1) == "compiled"  # it is at hand now

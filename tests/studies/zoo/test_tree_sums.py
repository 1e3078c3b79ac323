"""Sums of floats in a tree are the same in any order of the chunks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from naive_zoo import tree_total

from bioeval.base.errors import MergeError
from bioeval.studies.zoo.tree_sums import TreeSums


@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_a_tree_of_sums_is_that_of_halves_in_any_order(chunks, random):
    leaves = [random.uniform(-1, 1) * 10.0 ** random.randint(-3, 9) for _ in range(chunks)]
    parts = [TreeSums.of(i, np.array([x, 2 * x])) for i, x in enumerate(leaves)]
    while len(parts) > 1:
        first, second = (parts.pop(random.randrange(len(parts))) for _ in range(2))
        parts.append(first.merge(second))
    assert len(parts[0].nodes) == bin(chunks).count("1")
    assert parts[0].total().tolist() == [tree_total(leaves), 2 * tree_total(leaves)]


def test_sums_of_a_chunk_do_not_count_twice():
    one = TreeSums.of(3, np.ones(2))
    with pytest.raises(MergeError, match="would count twice"):
        one.merge(one)


def test_floats_do_not_add_alike_in_any_order():
    leaves = [0.1 * 3**k for k in range(12)]
    assert tree_total(leaves) != sum(leaves)

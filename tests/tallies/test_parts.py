"""Counts of blocks add up to those of the whole, whatever the blocks and their order."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st
from naive_zoo import tree_total

import bioeval as be
from bioeval.base.engines import computed_by
from bioeval.base.errors import MergeError
from bioeval.evaluation.blocks.engine import BlockEngine
from bioeval.scores.blocks import BlockReader
from bioeval.tallies.parts import (
    ConcatenatedRows,
    Extent,
    RowRangeCounts,
    TreeSums,
    merged,
    merged_parts,
)
from tests.shuffled import Shuffled

SCORES = be.simulate(7, 2, random_state=4)
WHOLE = be.evaluate(SCORES, thresholds=9)


@pytest.mark.slow
@given(
    cuts=st.sets(st.integers(1, 13)),
    order=st.permutations(range(12)),
    twice=st.lists(st.booleans(), max_size=12),
)
def test_any_blocks_in_any_order_give_the_whole(cuts, order, twice):
    engine = BlockEngine(Shuffled(cuts, order, twice))
    with mock.patch.object(BlockReader, "rows_per_block", lambda self: 1), computed_by(engine):
        found = be.evaluate(SCORES, thresholds=9)
    assert found.identical(WHOLE)


def part(low, high):
    rows = np.arange(low, high)
    return RowRangeCounts(
        ((low, high),), {"rows": ConcatenatedRows.of(rows), "sum": int(rows.sum())}
    )


@given(st.sets(st.integers(1, 99)), st.randoms())
def test_parts_are_joined_in_the_order_of_their_rows(cuts, random):
    ends = [0, *sorted(cuts), 100]
    parts = [part(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    random.shuffle(parts)
    found = merged_parts(parts)
    assert found.rows == ((0, 100),)
    assert found.counts["sum"] == 4950
    np.testing.assert_array_equal(found.counts["rows"].array(), np.arange(100))


@pytest.mark.parametrize("other", [(0, 10), (5, 6), (9, 20)])
def test_rows_do_not_count_twice(other):
    with pytest.raises(MergeError, match="would count twice"):
        part(0, 10).merge(part(*other))
    with pytest.raises(MergeError, match="would count twice"):
        merged_parts([part(0, 10), part(*other), part(30, 40)])


def test_rows_between_others_do_not_merge_out_of_order():
    with pytest.raises(MergeError, match="between others"):
        part(0, 10).merge(part(20, 30)).merge(part(10, 20))


def test_only_counts_add_up():
    assert merged({"a": 1, "b": True}, {"a": 2, "b": False}) == {"a": 3, "b": False}
    assert merged(Extent(1, 2), Extent(-1, 1)) == Extent(-1, 2)
    for first, second in ((1.5, 1.5), (np.ones(2), np.ones(2)), ({"a": 1}, {"b": 1}), (1, True)):
        with pytest.raises(MergeError):
            merged(first, second)


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

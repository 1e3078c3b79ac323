"""Counts of blocks add up to those of the whole, whatever the blocks and their order."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bioeval as be
from bioeval.base.errors import DataError
from bioeval.base.executors import computed_by
from bioeval.evaluation.blocks.executor import BlockExecutor
from bioeval.scores.blocks import BlockReader
from bioeval.tallies.parts import (
    ConcatenatedRows,
    Extent,
    RowRangeCounts,
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
    executor = BlockExecutor(Shuffled(cuts, order, twice))
    with mock.patch.object(BlockReader, "rows_per_block", lambda self: 1), computed_by(executor):
        result = be.evaluate(SCORES, thresholds=9)
    assert result.identical(WHOLE)


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
    result = merged_parts(parts)
    assert result.rows == ((0, 100),)
    assert result.counts["sum"] == 4950
    np.testing.assert_array_equal(result.counts["rows"].array(), np.arange(100))


@pytest.mark.parametrize("other", [(0, 10), (5, 6), (9, 20)])
def test_rows_do_not_count_twice(other):
    with pytest.raises(DataError, match="would count twice"):
        part(0, 10).merge(part(*other))
    with pytest.raises(DataError, match="would count twice"):
        merged_parts([part(0, 10), part(*other), part(30, 40)])


def test_rows_between_others_do_not_merge_out_of_order():
    with pytest.raises(DataError, match="between others"):
        part(0, 10).merge(part(20, 30)).merge(part(10, 20))


def test_only_counts_add_up():
    assert merged({"a": 1, "b": True}, {"a": 2, "b": False}) == {"a": 3, "b": False}
    assert merged(Extent(1, 2), Extent(-1, 1)) == Extent(-1, 2)
    for first, second in ((1.5, 1.5), (np.ones(2), np.ones(2)), ({"a": 1}, {"b": 1}), (1, True)):
        with pytest.raises(DataError):
            merged(first, second)

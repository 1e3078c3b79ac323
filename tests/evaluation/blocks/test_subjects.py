"""Zoo, resampled intervals and comparisons are the same whatever the blocks and their order."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import examples_of

import bioeval as be
from bioeval.base.executors import computed_by
from bioeval.base.random import Stream, seed_sequence
from bioeval.evaluation.blocks.executor import BlockExecutor
from bioeval.scores.blocks import BlockReader
from bioeval.stats.options import IntervalOptions
from bioeval.tallies.by_subject import SubjectAttempts
from bioeval.tallies.verification_counter import VerificationCounter
from tests.shuffled import Shuffled

# Templates of each subject: unequal, some alone; 18 in all.
SIZES = (4, 1, 3, 2, 1, 5, 2)


@functools.cache
def systems():
    """Return two systems over the same data, of every kind of scores."""
    first, second = (
        np.asarray(be.simulate(len(SIZES), SIZES, random_state=k).values) for k in (1, 2)
    )
    labels = np.repeat(np.arange(len(SIZES)), SIZES)
    holes, far = first.copy(), np.round(second, 1)
    holes[2, 7] = holes[16, 4] = np.nan
    far[3, 11] = far[12, 0] = np.inf
    order = np.random.default_rng(0).permutation(len(labels))
    mask = np.where(labels[:, None] == labels, 2, 1).astype(np.uint8)
    mask[1, 5:9] = 0
    scores = functools.partial(be.Scores, probe_labels=labels)
    return {
        "float64": (scores(first), scores(second)),
        "float32": (scores(first.astype(np.float32)), scores(-second, kind="similarity")),
        "float16": (scores(first.astype(np.float16)), scores(far, nan="reject")),
        "holes": (scores(holes, nan="exclude"), scores(second, mask=mask)),
        "interleaved": tuple(
            be.Scores(x[np.ix_(order, order)], labels[order]) for x in (first, second)
        ),
        "gallery": tuple(
            be.Scores(x[order][:, ::2], labels[order], labels[::2]) for x in (first, second)
        ),
    }


CALLS = {
    "zoo": lambda a, b: be.zoo(a, permutations=5),
    "zoo of multi-template": lambda a, b: be.zoo(
        a, threshold=("far", 0.1), templates="multi", fusion="mean", permutations=5
    ),
    "interval": lambda a, b: be.verification(
        a, thresholds=5, interval="subject-bootstrap", replicates=100
    ),
    "interval of multi-template": lambda a, b: be.verification(
        b, templates="multi", interval="subject-bootstrap-bca", replicates=100
    ),
    "card": lambda a, b: be.evaluate(a, interval="subject-bootstrap-logit", replicates=100),
    "groups": lambda a, b: be.by_group(
        a, (a.probe_labels % 2, a.gallery_labels % 2), interval="subject-bootstrap", replicates=100
    ),
    "comparison": lambda a, b: be.compare(a, b, replicates=100),
}


def in_blocks(monkeypatch):
    """Let blocks be of single rows, sums of three, and no attempts by group be listed."""
    from bioeval.studies.zoo import counts as subject_sums

    monkeypatch.setattr("bioeval.studies.groups.groups.LISTED", 0)
    monkeypatch.setattr(BlockReader, "rows_per_block", lambda self: 1)
    monkeypatch.setattr(subject_sums, "CHUNK_CELLS", 0)
    monkeypatch.setattr(subject_sums, "CHUNK_ROWS", 3)


@functools.cache
def whole(call, system):
    with pytest.MonkeyPatch.context() as patched:
        in_blocks(patched)
        return CALLS[call](*systems()[system])


@pytest.mark.slow
@settings(max_examples=examples_of(60))
@given(
    call=st.sampled_from(sorted(CALLS)),
    system=st.sampled_from(sorted(systems())),
    cuts=st.sets(st.integers(1, 17)),
    order=st.permutations(range(18)),
    twice=st.lists(st.booleans(), max_size=18),
)
def test_any_blocks_in_any_order_give_the_whole(call, system, cuts, order, twice):
    expected = whole(call, system)
    with pytest.MonkeyPatch.context() as patched:
        in_blocks(patched)
        with computed_by(BlockExecutor(Shuffled(cuts, order, twice))):
            assert CALLS[call](*systems()[system]).identical(expected)


def test_many_attempts_are_compared_on_thresholds_in_any_blocks(monkeypatch):
    a, b = systems()["gallery"]
    monkeypatch.setattr("bioeval.studies.compare.counts.EXACT_ATTEMPTS", 20)
    for where in ("by_subject.SubjectAttempts.EXACT", "by_subject.FEW"):
        monkeypatch.setattr(f"bioeval.tallies.{where}", 20)
    monkeypatch.setattr("bioeval.studies.compare.measures.EXACT_ATTEMPTS", 20)
    expected = be.compare(a, b, replicates=100)
    in_blocks(monkeypatch)
    with computed_by(BlockExecutor(Shuffled({3, 4, 11}, [2, 0, 1], [True]))):
        assert be.compare(a, b, replicates=100).identical(expected)


def test_comparisons_that_one_system_alone_made_are_counted_in_any_blocks(monkeypatch):
    from bioeval.studies.compare.counts import unpaired_attempts

    in_blocks(monkeypatch)
    for executor in (None, BlockExecutor(Shuffled({2, 9, 17}, [2, 1, 0], [True]))):
        with computed_by(executor):
            # Two that failed, and four that the mask leaves out.
            assert unpaired_attempts(*systems()["holes"]) == 6


@pytest.mark.parametrize("rows", [1, 5, 18])
def test_sums_by_claimed_subject_are_those_of_plain_loops(monkeypatch, rows):
    """Of each group of subjects chunk by chunk, in the order of the rows; chunks exactly."""
    from bioeval.studies.zoo import counts as subject_sums

    scores = systems()["float64"][0]
    monkeypatch.setattr(subject_sums, "CHUNK_CELLS", 0)
    monkeypatch.setattr(subject_sums, "CHUNK_ROWS", rows)
    args = BlockReader(scores), 0.5, Stream(seed_sequence(0), 0)
    group = subject_sums.SubjectPass(*args, None).halves.group
    result = subject_sums.count_by_subject(*args[:2], Stream(seed_sequence(0), 0))
    values, labels = np.asarray(scores.values), np.asarray(scores.probe_labels)
    expected = [0.0] * len(SIZES)
    for j in range(18):
        of_groups = []
        for g in range(subject_sums.GROUPS):
            chunks = []
            for low in range(0, 18, rows):
                total = 0.0
                for i in range(low, min(low + rows, 18)):
                    if labels[i] != labels[j] and group[labels[i]] == g:
                        total += float(values[i, j])
                chunks.append(total)
            of_groups.append(math.fsum(chunks))
        expected[labels[j]] += sum(of_groups)
    assert result.as_claimed.total.tolist() == expected


def attempts_of(scores):
    reader = BlockReader(scores)
    return SubjectAttempts(VerificationCounter(reader))


@pytest.mark.parametrize("system", ["float64", "interleaved", "holes"])
def test_groups_and_folds_are_weighed_the_same_in_any_blocks(monkeypatch, system):
    from bioeval.studies.folds.intervals import PooledRates
    from bioeval.studies.groups.group_rates import _ByGroup

    scores = systems()[system][0]
    in_blocks(monkeypatch)
    weights = Stream(np.random.SeedSequence(1), 0).resampled(len(SIZES), 50)
    group = np.array([0, 1, 1, 0, 0, 1, 1])
    grid = np.nanquantile(np.asarray(scores.values), [0.2, 0.4, 0.5, 0.8])
    sink = _ByGroup(weights, group, grid[1:2], (grid[[0, 3]], grid[2:3]), grid)
    sinks = sink, sink.fresh()
    rates = []
    executors = None, BlockExecutor(Shuffled({2, 9}, [1, 0], [True]))
    for sink, executor in zip(sinks, executors, strict=True):
        with computed_by(executor):
            attempts_of(scores).pass_over(grid, sink)
            pooled = PooledRates(
                list(range(len(SIZES))), IntervalOptions.parse("subject-bootstrap", 0.9, 100, 1)
            )
            for threshold in (grid[2], np.nan):
                pooled.add(attempts_of(scores), threshold)
            rates.append(pooled.rates())
    assert np.nansum(sinks[0].far) > 0 and rates[0]["far"][0] > 0
    assert all(counts.any() for counts in sinks[0].within)
    np.testing.assert_equal(sinks[0].counts(), sinks[1].counts())
    np.testing.assert_equal(*rates)

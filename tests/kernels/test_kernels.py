"""Each kernel against plain loops, on tiny blocks, compiled and not.

``NUMBA_DISABLE_JIT=1 pytest tests/kernels/test_kernels.py`` runs the kernels as Python: every
branch is then seen by a coverage tool, and an integer that wraps around is an error. So do the
tests of the kernels of cells, folds and squares in the files beside this one.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import naive
import numba
import numpy as np
import pytest
from twins import assert_all_tasks, assert_verification, one_thread  # noqa: F401

import bioeval as be
from bioeval.attempts.counters import guide_to
from bioeval.kernels import compiling, count, fuse, hull, ranks
from bioeval.kernels.ranks import RankFacts

INF, NAN = np.inf, np.nan
POOL = [0.0, -0.0, 0.1, 0.25, 0.5, 1.0, -1.0, 3.0, 5e-324, 1e300, INF, -INF, NAN, NAN]
SIZES = [(1,), (3,), (1, 1), (2, 1, 3), (1, 4, 1, 2)]

CASES = [
    pytest.param(seed, dtype, id=f"{dtype} {seed}")
    for seed in range(12)
    for dtype in ("float64", "float32")
]


@pytest.fixture(autouse=True, params=["compiled", "numpy"])
def by_numpy(request, monkeypatch):
    """Each kernel compiled, and by NumPy where it has a twin of few numbers."""
    if request.param == "numpy":
        monkeypatch.setattr(compiling.FewByNumpy, "__call__", twin_where_few)
    else:
        monkeypatch.setattr(compiling, "CALLS", 0)


def twin_where_few(kernel, *args):
    return (kernel.twin if kernel.numbers(*args) <= compiling.FEW else kernel.kernel)(*args)


class Case:
    """A block of rows over a gallery of groups, with own groups and selves."""

    def __init__(self, seed: int, dtype: str):
        rng = np.random.default_rng(seed)
        sizes = SIZES[seed % len(SIZES)]
        b, n = 1 + seed % 4, sum(sizes)
        pool = np.array(POOL if seed % 3 else POOL[:8])
        with np.errstate(over="ignore"):
            self.block = rng.choice(pool, (b, n)).astype(dtype)
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.columns = rng.permutation(n).astype(np.int64)[None]
        self.probe_group = rng.integers(-1, len(sizes), b)
        enrolled = self.probe_group >= 0
        self.mate_start = np.where(enrolled, self.starts[self.probe_group], 0)
        self.mate_stop = np.where(enrolled, self.starts[self.probe_group + 1], 0)
        inside = self.mate_start + rng.integers(0, 5, b)
        self.probe_position = np.where(enrolled & (inside < self.mate_stop), inside, -1)

    def tame(self) -> None:
        """Take the finite scores that are too large for a table of a few cells."""
        self.block[np.isfinite(self.block) & (np.abs(self.block) > 10)] = 2.0

    @property
    def rows(self) -> range:
        return range(len(self.block))

    def impostors(self, i: int) -> list[float]:
        """The scores of a row that are of other subjects, in order, NaN included."""
        row = self.block[i].astype(np.float64).tolist()
        return row[: self.mate_start[i]] + row[self.mate_stop[i] :]

    def group(self, i: int, g: int) -> list[tuple[float, int]]:
        """Score and place in the gallery of each usable template of a group."""
        return [
            (float(self.block[i, p]), int(self.columns[0, p]))
            for p in range(self.starts[g], self.starts[g + 1])
            if p != self.probe_position[i] and not np.isnan(self.block[i, p])
        ]

    def every_impostor(self) -> list[float]:
        return [x for i in self.rows for x in self.impostors(i) if not math.isnan(x)]


def each_case(function):
    return pytest.mark.parametrize(("seed", "dtype"), CASES)(function)


@each_case
@pytest.mark.parametrize("chunks", [1, 3])
@pytest.mark.parametrize(
    "thresholds",
    [[0.25], [-INF, 0.1, INF], [-1.0, 0.0, 5e-324, 0.5], [-1e308, 0.3, 1e308], [-INF], [INF]],
)
@pytest.mark.cases()
def test_count_thresholds(seed, dtype, chunks, thresholds):
    case = Case(seed, dtype)
    t = np.array(thresholds)
    tables = np.zeros((chunks, len(t) + 1), dtype=np.int64)
    with np.errstate(all="ignore"):
        count.count_thresholds(case.block, case.mate_start, case.mate_stop, t, *guide_to(t), tables)
    scores = case.every_impostor()
    expected = [sum(x <= edge for x in scores) for edge in [*thresholds, INF]]
    assert tables.sum(axis=0).cumsum().tolist() == expected


@each_case
def test_gather(seed, dtype):
    case = Case(seed, dtype)
    rng = np.random.default_rng(seed + 100)
    rows = rng.integers(0, len(case.block), 7)
    groups = rng.integers(0, len(case.starts) - 1, 7)
    value = np.full(200, 77, dtype=case.block.dtype)
    index, position = (np.full(200, -7, dtype=np.int64) for _ in range(2))
    filled = count.gather(
        case.block, rows, case.starts[groups], case.starts[groups + 1], case.probe_position,
        value, index, position,
    )  # fmt: skip
    expected = [
        (x, k, column)
        for k, (row, group) in enumerate(zip(rows, groups, strict=True))
        for x, column in case.group(row, group)
    ]
    columns = case.columns[0, position[:filled]]
    result = zip(value[:filled].tolist(), index[:filled].tolist(), columns.tolist(), strict=True)
    assert list(result) == expected and (value[filled:] == 77).all()


@each_case
@pytest.mark.parametrize("fusion", ["min", "max", "mean", "median", "kth:1", "kth:2", "kth:9"])
@pytest.mark.cases()
def test_fusion(seed, dtype, fusion):
    case = Case(seed, dtype)
    shape = (len(case.block), len(case.starts) - 1)
    extreme = fusion in ("min", "max")
    fused = np.empty(shape, dtype=dtype if extreme else np.float64)
    place = np.empty(shape, dtype=np.int64)
    arguments = (case.block, case.columns, case.starts, case.probe_position)
    with np.errstate(invalid="ignore"):
        rules = {"min": 1, "max": fuse.MAX, "mean": fuse.MEAN, "median": fuse.MEDIAN}
        rule = rules[fusion] if fusion in rules else int(fusion[4:])
        fuse.fuse_groups(*arguments, rule, fused, place)
    for i in case.rows:
        for g in range(shape[1]):
            members = case.group(i, g)
            expected = naive.fuse([x for x, _ in members], fusion)
            if expected is None:
                assert np.isnan(fused[i, g])
            else:
                assert fused[i, g] == expected
            if members:  # the first of the nearest, in the order of the group
                best = min(x for x, _ in members)
                assert place[i, g] == next(c for x, c in members if x == best)


@each_case
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.cases()
def test_rank_facts(seed, dtype, shared):
    case = Case(seed, dtype)
    b, n = case.block.shape
    columns = case.columns
    if not shared:
        rng = np.random.default_rng(seed)
        columns = np.array([rng.permutation(n) for _ in case.rows], dtype=np.int64)
    floats = ("mate", "other")
    out = RankFacts(
        *(np.full(b, -7, float if x in floats else np.int64) for x in RankFacts._fields)
    )
    ranks.rank_facts(case.block, columns, case.mate_start, case.mate_stop, case.probe_position, out)
    for i in case.rows:
        place = columns[0 if shared else i]
        mine, non_mates = [], []
        for p in range(n):
            x = float(case.block[i, p])
            if p == case.probe_position[i] or math.isnan(x):
                continue
            mate = case.mate_start[i] <= p < case.mate_stop[i]
            (mine if mate else non_mates).append((x, int(place[p])))
        best = min((x for x, _ in mine), default=NAN)
        first = min((c for x, c in mine if x == best), default=0)
        expected = {
            "mate": best,
            "closer": sum(x < best for x, _ in non_mates),
            "tied": sum(x == best for x, _ in non_mates),
            "tied_before": sum(x == best and c < first for x, c in non_mates),
            "mates_tied": sum(x == best for x, _ in mine),
            "mates": len(mine),
            "other": min((x for x, _ in non_mates), default=NAN),
            "others": len(non_mates),
        }
        for name, value in expected.items():
            np.testing.assert_equal(getattr(out, name)[i], value, err_msg=name)


@each_case
def test_fuse_nearest(seed, dtype):
    case = Case(seed, dtype)
    fused = np.empty((len(case.block), len(case.starts) - 1), dtype=dtype)
    fuse.fuse_nearest(case.block, case.starts, case.probe_position, fused)
    for i in case.rows:
        for g in range(fused.shape[1]):
            expected = min((x for x, _ in case.group(i, g)), default=NAN)
            np.testing.assert_equal(float(fused[i, g]) + 0.0, expected + 0.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", range(1, 13))
def test_groups_of_one_size(size, dtype):
    """Common sizes have loops of their own; a NaN is no template."""
    rng = np.random.default_rng(size)
    block = rng.normal(size=(4, 5, size)).astype(dtype)
    starts = np.arange(0, 5 * size + 1, size)
    block[rng.random(block.shape) < 0.4] = NAN
    probe_position = np.array([-1, 0, 2 * size, 5 * size - 1])
    fused = np.empty((4, 5), dtype=dtype)
    fuse.fuse_nearest(block.reshape(4, -1), starts, probe_position, fused)
    for i, row in enumerate(block.reshape(4, -1).tolist()):
        for g in range(5):
            places = [p for p in range(g * size, (g + 1) * size) if p != probe_position[i]]
            expected = min((row[p] for p in places if not math.isnan(row[p])), default=NAN)
            np.testing.assert_equal(float(fused[i, g]), expected)


@pytest.mark.parametrize("seed", range(20))
def test_lower_hull(seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.integers(0, 6, 9)).astype(float)
    y = np.sort(rng.integers(0, 6, 9)).astype(float)[::-1].copy()
    out = np.empty(9, dtype=np.int64)
    corners = out[: hull.lower_hull(x, y, out)]
    assert (np.diff(x[corners]) > 0).all() and (np.diff(y[corners]) < 0).all()
    slopes = np.diff(y[corners]) / np.diff(x[corners])
    assert (np.diff(slopes) > 0).all()  # convex, nothing in line
    on_hull = np.interp(x, x[corners], y[corners])
    assert (on_hull <= y + 1e-12).all()  # below all points


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("failed", [False, True])
def test_all_kernels_together(dtype, kind, failed):
    """A whole evaluation, of a size that Python can do as well."""
    rng = np.random.default_rng(1)
    labels = [f"s{x}" for x in rng.integers(0, 5, 12)]
    d = rng.integers(0, 6, (12, 12)).astype(dtype)
    if failed:
        d[0, 5], d[3, 4], d[7, 7] = INF, NAN, NAN
    case = {"values": d.tolist(), "probe_labels": labels, "nan": "reject", "kind": kind}
    scores = be.Scores(d, labels, nan="reject", kind=kind)
    with np.errstate(invalid="ignore", over="ignore"):
        assert_all_tasks(scores, [0.0, 1.5, 3.0, INF], **case)
        tree = be.evaluate(scores)
    for templates, twin in (("single", naive.attempts_single), ("multi", naive.attempts_multi)):
        genuine, impostor = twin(**case)
        ds = tree[f"verification/{templates}"].to_dataset()
        assert_verification(ds, genuine, impostor, kind)
        assert float(ds.eer) == pytest.approx(float(naive.eer(genuine, impostor, kind).value))
        assert float(ds.auc) == pytest.approx(float(naive.auc(genuine, impostor, kind)))
    expected = naive.closed_set(**case)
    np.testing.assert_array_equal(tree["closed_set"].cms_count[:11], expected.cms_count[:11])


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="this is the run without the compiler")
@pytest.mark.slow
@pytest.mark.parametrize("by_numpy", ["compiled"], indirect=True)
def test_the_kernels_give_the_same_without_the_compiler(by_numpy):
    here = Path(__file__).parent
    files = [str(here / f"test_{x}.py") for x in ("kernels", "cells", "folds", "squares")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout and "1 skipped" in done.stdout

"""One look finds what a second look finds, to the last bit, wherever the pilot says to look."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from limits import streaming
from twins import assert_same_but_d_prime

import bioeval as be
from bioeval.attempts import (
    kinds,
    matrix_pass,
    point_search as search,
    second_pass as piloting,
    tile_pass,
)
from bioeval.attempts.cells import CellGrid
from bioeval.attempts.counters import ImpostorBlock
from bioeval.attempts.second_pass import Expected, PointsWanted, SecondPass, expected_points

TARGETS = (0.0, 0.3, 0.1, 0.01, 0.0001, 1.0)
COSTS = ((0.5, 1.0, 1.0), (0.01, 10.0, 1.0))


def scores_of(
    dtype="float32", kind="distance", shuffled=False, decimals=9, scale=1, gaps=""
) -> be.Scores:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    x = rng.normal(size=(40, 6))[labels] + 0.8 * rng.normal(size=(len(labels), 6))
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)).round(decimals)
    d = (scale * d).astype(dtype)
    out = rng.random(d.shape) < 0.2 if gaps else None
    if gaps == "nan":
        d[out] = np.nan
        return be.Scores(d, labels, nan="exclude")
    if gaps:
        mask = np.where(out, 0, np.where(labels[:, None] == labels, 2, 1))
        return be.Scores(d, labels, mask=mask, probe_meta={"s": np.arange(len(d)) % 3}, exclude="s")
    order = rng.permutation(len(labels)) if shuffled else np.arange(len(labels))
    values = np.ascontiguousarray(d[:, order])
    return be.Scores(-values if kind == "similarity" else values, labels, labels[order], kind=kind)


def points(scores, **options):
    return [
        be.verification(scores, templates=x, far_targets=TARGETS, costs=COSTS, **options)
        for x in ("single", "multi")
    ]


@pytest.fixture
def second_passes(monkeypatch) -> list[SecondPass]:
    """Every further look of a finder, which is what the points have without the first."""
    seen = []
    next_second_pass = search.PointFinder.next_second_pass

    def counted(self):
        second_pass = next_second_pass(self)
        seen.extend([] if second_pass is None else [second_pass])
        return second_pass

    monkeypatch.setattr(search.PointFinder, "next_second_pass", counted)
    return seen


@pytest.fixture(autouse=True, params=[6000, 1 << 24], ids=["many calls", "one call"])
def _small(monkeypatch, request):
    """A pilot and several calls even of small scores."""
    monkeypatch.setattr(matrix_pass, "KEEP_ALL", 0)
    monkeypatch.setattr(matrix_pass, "VALUES_IN_MEMORY", request.param)


def without_looks(monkeypatch, scores, **options):
    with monkeypatch.context() as patch:
        patch.setattr(matrix_pass.MatrixPass, "_want_second_passes", lambda self, wanted: None)
        return points(scores, **options)


def check_same(result, expected) -> None:
    for a, b in zip(result, expected, strict=True):
        assert a.identical(b)


CASES = {
    "float32": {},
    "float64": {"dtype": "float64"},
    "similarity": {"kind": "similarity"},
    "no order": {"shuffled": True},
    "ties": {"decimals": 1},
    "nan": {"gaps": "nan"},
    "mask and sessions": {"gaps": "mask"},
    "whole numbers": {"dtype": "int16", "scale": 1000},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("auc", [True, False])
@pytest.mark.cases(2)
def test_a_good_pilot_needs_no_second_look(name, auc, monkeypatch, second_passes):
    scores = scores_of(**CASES[name])
    result = points(scores, auc=auc)
    assert not second_passes
    expected = without_looks(monkeypatch, scores, auc=auc)
    assert second_passes
    check_same(result, expected)


@pytest.mark.slow
def test_few_scores_are_all_kept(monkeypatch, second_passes):
    monkeypatch.setattr(matrix_pass, "KEEP_ALL", 1 << 16)
    result = points(scores_of())
    assert not second_passes
    check_same(result, without_looks(monkeypatch, scores_of()))


WINDOWS = {
    "none": [],
    "far off": [(-9.0, -8.0), (1e6, 2e6)],
    "narrow": [(2.0, 2.25)],
    "most": [(-np.inf, 4.0)],
    "all": [(-np.inf, np.inf)],
}


def expect(monkeypatch, windows, *, divided=1):
    """Let a pass keep scores in windows, and count them up to each or some genuine scores."""

    def expected(grid, counts, genuine, *_):
        return Expected(windows, 1.0, np.unique(genuine)[::divided])

    monkeypatch.setattr(kinds, "expected_points", expected)


@pytest.mark.parametrize("divided", [1, 3, 10**6])
@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("case", ["float32", "similarity", "ties"])
@pytest.mark.cases(1)
def test_windows_and_divisions_change_no_result(name, case, divided, monkeypatch, second_passes):
    scores = scores_of(**CASES[case])
    expect(monkeypatch, [(a, b) for a, b in WINDOWS[name]], divided=divided)
    result = points(scores)
    assert bool(second_passes) == (name != "all")
    check_same(result, without_looks(monkeypatch, scores))


@pytest.mark.parametrize("thresholds", [None, np.linspace(1, 5, 9)])
@pytest.mark.cases(1)
def test_an_optimum_among_too_many_scores_is_found_by_counts(
    thresholds, monkeypatch, second_passes
):
    """It may be anywhere, and not all scores are kept: those up to each genuine score are."""
    scores = scores_of()
    monkeypatch.setattr(kinds, "KEPT_ANYWAY", 0)
    monkeypatch.setattr(kinds, "MOST_KEPT", 0.99)
    monkeypatch.setattr(piloting.Pilot, "optimum", lambda self, _: np.ones_like(self.held))
    result = points(scores, thresholds=thresholds)
    assert not second_passes
    expected = without_looks(monkeypatch, scores, thresholds=thresholds)
    check_same(result, expected)


@pytest.mark.slow
def test_more_scores_than_expected_in_the_windows(monkeypatch, second_passes):
    scores = scores_of()
    expect(monkeypatch, [(-np.inf, np.inf)], divided=10**6)
    monkeypatch.setattr(matrix_pass, "TILE_BYTES", 1)  # so that there are many tiles
    monkeypatch.setattr(tile_pass, "ROOM", 0)
    monkeypatch.setattr(piloting.PointsWanted, "MOST_SCORES", 1)
    result = points(scores)
    assert second_passes
    check_same(result, without_looks(monkeypatch, scores))


@pytest.mark.slow
@pytest.mark.parametrize("thresholds", [None, 20, np.linspace(1, 5, 9)])
@pytest.mark.cases(2)
def test_thresholds_and_threads(thresholds, monkeypatch):
    scores = scores_of()
    expected = without_looks(monkeypatch, scores, thresholds=thresholds)
    before = numba.get_num_threads()
    for threads in {1, before}:
        numba.set_num_threads(threads)
        monkeypatch.setattr("bioeval.scores.blocks.SERIAL_CELLS", 0)
        try:
            check_same(points(scores, thresholds=thresholds), expected)
        finally:
            numba.set_num_threads(before)


@pytest.mark.slow
def test_scores_that_later_rows_reach_farther(monkeypatch):
    d = np.asarray(scores_of().values)
    labels = scores_of().probe_labels
    grown = be.Scores(
        np.ascontiguousarray(d * np.linspace(0.1, 8, len(d), dtype="float32")[:, None]), labels
    )
    check_same(points(grown), without_looks(monkeypatch, grown))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("metric", ["cosine", "l2", "l1"])
@pytest.mark.cases(1)
def test_streamed_embeddings(dtype, metric, monkeypatch, second_passes):
    """A pass by tiles knows all genuine scores before it begins."""
    monkeypatch.setattr("bioeval.attempts.tiled_scores.LARGEST", {4: 32, 8: 32})
    rng = np.random.default_rng(1)
    labels = rng.permutation(np.repeat(np.arange(30), 5))
    x = rng.normal(size=(30, 16))[labels] + rng.normal(size=(150, 16))
    scores = streaming(x, labels, metric=metric, dtype=dtype, limit=1 << 16)
    assert scores._streams
    actual = points(scores)
    assert not second_passes
    monkeypatch.setattr(kinds.KindOfTemplates, "take_second_pass", lambda self: None)
    expected = points(scores)
    assert second_passes
    for a, b in zip(actual, expected, strict=True):
        assert_same_but_d_prime(a, b)


@pytest.mark.slow
def test_windows_hold_the_points_of_the_whole():
    """Of scores that are drawn alike in every row, as far as the margin says."""
    rng = np.random.default_rng(2)
    grid = CellGrid(-7, 1, 128)
    genuine = np.sort(rng.beta(2, 6, 2000))
    impostor = rng.beta(6, 2, (800, 500))
    pilot = np.array([np.histogram(x, grid.boundaries)[0] for x in impostor[::50]])
    wanted = PointsWanted(np.array([0.1, 0.01]), np.array([[0.5, 1.0, 1.0]]), True)
    windows, share, _ = expected_points(grid, pilot, genuine, wanted, 1.0)
    every = np.sort(impostor.ravel())
    far = np.searchsorted(every, genuine, side="right") / len(every)
    equal = genuine[np.argmax(far >= 1 - np.arange(1, 2001) / 2000)]
    for point in (every[0], every[int(0.01 * len(every))], every[len(every) // 10], equal):
        assert any(low < point <= high for low, high in windows)
    inside = sum(((every > low) & (every <= high)).mean() for low, high in windows)
    assert share == pytest.approx(inside, abs=0.01)
    less, kept, divisions = expected_points(grid, pilot, genuine, wanted, share / 2)
    assert np.isin(divisions, genuine).all() and (np.diff(divisions) > 0).all()
    assert any(low < equal <= high for low, high in less) or equal in divisions
    assert kept <= share / 2
    assert all(any(a <= low and high <= b for a, b in windows) for low, high in less)
    assert piloting.ERRORS >= 3


def test_scores_that_are_kept_take_no_more_memory_than_they_need():
    """Tables have room for more."""
    values, none = np.linspace(0, 1, 40_000).reshape(4, -1), np.zeros(4, dtype=np.int64)
    second_pass = SecondPass([(0.1, 0.2)])
    second_pass.add(ImpostorBlock(values, none, none))
    assert sum(map(len, second_pass.kept)) == 4000
    assert all(kept.base is None for kept in second_pass.kept)

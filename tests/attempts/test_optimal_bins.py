"""No optimum, and no corner of the hull at FAR = FRR, lies outside the bins that may hold one."""

from __future__ import annotations

from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import examples_of

from bioeval.attempts.threshold_search import Attempts, optimal_bins
from bioeval.base.registry import scalar_registry

OPTIMA = scalar_registry().optima
COSTS = np.array([[0.5, 1.0, 1.0], [0.01, 10.0, 1.0], [0.9, 1.0, 3.0]])

# Whole numbers, so that many are tied, and few, so that rates are as far apart as they can be.
SCORES = st.lists(st.integers(0, 12), min_size=1, max_size=25).map(sorted)
EDGES = st.lists(st.sampled_from([x / 2 for x in range(-1, 26)]), max_size=9, unique=True)


def check(genuine, impostor, edges, missed=0) -> None:
    """Compare the points at genuine scores in the bins with all points."""
    edges = np.array([*sorted(edges), np.inf])
    bins_of = {x: int(np.searchsorted(edges, x)) for x in {*genuine, *impostor}}
    counts = np.zeros(len(edges), dtype=np.int64)
    for x in impostor:
        counts[bins_of[x]] += 1
    attempts = Attempts(np.array(genuine, dtype=float), edges, counts, missed=missed)
    wanted = optimal_bins(attempts, OPTIMA, COSTS)
    assert wanted.dtype == bool and len(wanted) == len(edges)
    held = {bins_of[x] for x in genuine}
    assert set(np.flatnonzero(wanted).tolist()) <= held  # others have no corner

    points = naive.roc_points([*genuine, *[np.inf] * missed], impostor, "distance")
    points = [p for p in points if p.threshold != np.inf]
    found = [p for p in points[1:] if p.threshold in genuine and wanted[bins_of[p.threshold]]]

    def least_of(function) -> None:
        """The least of all points is that of reject-all, or of a point in the bins."""
        values = [function(p) for p in points]
        best = min(values)
        assert best == min(function(p) for p in (points[0], *found))
        # So are all that have it, where they are at genuine scores: a rule may take any of them.
        for p, value in zip(points[1:], values[1:], strict=True):
            if value == best and p.threshold in genuine:
                assert wanted[bins_of[p.threshold]]

    for p, miss, accept in COSTS.tolist():
        a, b = Fraction(p) * Fraction(miss), (1 - Fraction(p)) * Fraction(accept)
        least_of(lambda x, a=a, b=b: a * x.frr + b * x.far)
    for scalar in OPTIMA:
        sign = -1 if scalar.best == "max" else 1
        rates = scalar.of_rates
        values = [sign * float(rates(np.float64(p.far), np.float64(p.frr))) for p in points]
        kept = [x for x, p in zip(values, points, strict=True) if p is points[0] or p in found]
        assert min(kept) <= min(values) + 1e-12
    assert crossing_of([points[0], *found]) == crossing_of(points)


def crossing_of(points) -> Fraction | None:
    """The lowest place of FAR = FRR on a segment between two points, or to accept-all."""
    points = {(p.far, p.frr) for p in points} | {(Fraction(1), Fraction(0))}
    best = None
    for f, r in points:
        for far, frr in points:
            if r >= f and frr <= far:
                gap, other = r - f, frr - far
                part = gap / (gap - other) if gap != other else Fraction(0)
                place = f + part * (far - f)
                best = place if best is None else min(best, place)
    return best


@given(SCORES, SCORES, EDGES)
@settings(max_examples=examples_of(500))
def test_every_optimum_is_in_the_bins(genuine, impostor, edges):
    check(genuine, impostor, edges)


@given(SCORES, SCORES, EDGES, st.integers(1, 9))
@settings(max_examples=examples_of(500))
def test_with_attempts_that_no_threshold_accepts(genuine, impostor, edges, missed):
    check(genuine, impostor, edges, missed)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.cases(12)
def test_every_optimum_of_many_scores_is_in_the_bins(seed):
    """Of scores that overlap little or much, in few bins or many."""
    rng = np.random.default_rng(seed)
    apart = (0.0, 3.0, 12.0)[seed % 3]
    genuine = np.sort(rng.normal(0, 3, 40).round(seed % 2)).tolist()
    impostor = np.sort(rng.normal(apart, 3, 120).round(seed % 2)).tolist()
    edges = np.linspace(-10, 20, (5, 60)[seed // 20]).tolist()
    check(genuine, impostor, edges)

"""Thresholds: those that may be given, and the default grid."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import examples_of
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.counting import thresholds as thr
from bioeval.counting.thresholds import cell_exponent

INF = math.inf
LARGEST = float(np.finfo(float).max)
TINY = 5e-324

RNG = np.random.default_rng(11)
D = RNG.random((8, 9)).round(3)
PROBES = list("aabbcxyz")
GALLERY = list("aaabbbccd")


def scores(values=D, **options) -> be.Scores:
    return be.Scores(values, PROBES, GALLERY, **options)


TASKS = [be.verification, be.open_set]


# ------------------------------------------------------------------------------- given thresholds


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "given_as",
    [
        [0.25, 0.5, 0.75],
        (0.25, 0.5, 0.75),
        np.array([0.25, 0.5, 0.75]),
        np.array([0.25, 0.5, 0.75], dtype="float16"),
        np.array([0.25, 0.5, 0.75], dtype=">f4"),
        np.array([0.0, 0.25, 0, 0.5, 0, 0.75])[1::2],
    ],
)
@pytest.mark.cases(1)
def test_an_array_of_thresholds_is_used_as_given(task, given_as):
    ds = task(scores(), thresholds=given_as)
    assert ds.threshold.dtype == np.float64
    assert ds.threshold.values.tolist() == [0.25, 0.5, 0.75]
    assert (np.diff(ds.far) >= 0).all()
    mirror = task(scores(-D, kind="similarity"), thresholds=[-0.75, -0.5, -0.25])
    assert mirror.threshold.values.tolist() == [-0.75, -0.5, -0.25]
    np.testing.assert_array_equal(mirror.fa, ds.fa[::-1])


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_one_threshold_is_enough_and_may_be_infinite(task):
    whole = scores()
    attempts = int(task(whole).impostor_attempts)
    for t, accepted in ((0.0, 0), (INF, attempts), (-INF, 0), (10**6, attempts)):
        for given_as in ([t], float(t), np.float64(t)):
            ds = task(whole, thresholds=given_as)
            assert ds.threshold.values.tolist() == [t]
            assert ds.fa.values.tolist() == [accepted]
    similar = scores(D, kind="similarity")
    ds = task(similar, thresholds=[-INF, 0.0, INF])
    assert ds.fa.values.tolist() == [attempts, attempts, 0]


@pytest.mark.parametrize("task", [*TASKS, be.evaluate])
@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ([], r"shape \(0,\).*at least one number"),
        ([[0.1, 0.2]], r"shape \(1, 2\)"),
        ([[1.0], [2.0, 3.0]], "not an array of numbers"),
        ("auto", "dtype <U4"),
        ([0.1, None], "dtype object"),
        ([1 + 0j], "dtype complex128"),
        ([0.1, math.nan], r"thresholds\[1\] is NaN"),
        ([0.3, 0.2], r"do not increase: thresholds\[1\] = 0.2 after 0.3 \(1 such places\)"),
        ([0.1, 0.2, 0.2, 0.3, 0.1], r"thresholds\[2\] = 0.2 after 0.2 \(2 such places\)"),
        ([INF, INF], "do not increase"),
        ([0.0, -0.0], "do not increase"),
        (True, "thresholds is a bool"),
        (np.True_, "thresholds is a bool"),
        ([True, False], "dtype bool"),
        (1, "thresholds = 1; expected at least 2"),
        (0, "thresholds = 0; expected at least 2"),
        (-5, "thresholds = -5; expected at least 2"),
        (np.int64(1), "thresholds = 1"),
    ],
)
def test_thresholds_that_are_none_are_refused(task, wrong, match):
    with pytest.raises(be.DataError, match=match):
        task(scores(), thresholds=wrong)


# ------------------------------------------------------------------------------- a number of them


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("number", [2, 3, 101, np.int32(7)])
@pytest.mark.cases(2)
def test_a_number_gives_that_many_from_the_smallest_to_the_largest_score(task, kind, number):
    ds = task(scores(kind=kind), thresholds=number)
    t = ds.threshold.values
    assert len(t) == number
    if task is be.verification:
        assert (t[0], t[-1]) == (D.min(), D.max())
    gaps = np.diff(t)
    assert (gaps > 0).all() and np.ptp(gaps) < 1e-12
    ends = (ds.fa[0].item(), ds.fa[-1].item())
    total = ds.impostor_attempts.item()
    assert (max(ends) == total) and min(ends) <= 1
    pairs = be.Scores.from_pairs(D[0], [1, 0] * 4 + [1], kind=kind)
    assert be.verification(pairs, thresholds=number).threshold[-1] == D[0].max()


def test_a_number_of_thresholds_where_scores_are_infinite_or_all_equal():
    d = D.copy()
    d[0, 0], d[1, 5] = INF, -INF
    t = be.verification(scores(d), thresholds=5).threshold.values
    assert (t[0], t[-1], len(t)) == (-INF, INF, 7) and np.isfinite(t[1:-1]).all()
    t = be.verification(scores(np.full_like(D, 0.5)), thresholds=5).threshold.values
    assert t.tolist() == [0.5]
    d = np.full_like(D, INF)
    assert be.verification(scores(d), thresholds=5).threshold.values.tolist() == [INF]


@pytest.mark.parametrize(
    ("low", "high"), [(-LARGEST, LARGEST), (0.0, LARGEST), (0.0, TINY), (-TINY, TINY), (1e-310, 1)]
)
def test_a_linear_grid_reaches_over_any_range(low, high):
    grid = thr.linear_grid(low, high, 5)
    assert (grid[0], grid[-1]) == (low, high) and (np.diff(grid) > 0).all()
    steps = [Fraction(low) + (Fraction(high) - Fraction(low)) * i / 4 for i in range(5)]
    if high > 1e-300:
        assert len(grid) == 5
        np.testing.assert_allclose(grid, [float(x) for x in steps], rtol=1e-12, atol=1e-300)


# ------------------------------------------------------------------------------- the default grid


def check_grid(t: np.ndarray, low: float, high: float, count: int = 1000) -> None:
    """Ascending, about as many as wanted, evenly spaced, just below the smallest to the end."""
    # Below the lowest scores of all there is no edge but -inf.
    assert np.isfinite(t if low > -LARGEST / 2 else t[1:]).all() and (np.diff(t) > 0).all()
    assert t[0] < low and t[-1] >= high
    wide = Fraction(high) - Fraction(low)
    gaps = {Fraction(b) - Fraction(a) for a, b in zip(t[1:-1], t[2:-1], strict=False)}
    assert len(gaps) <= 1, "evenly spaced, but for the ends"
    if wide > Fraction(max(abs(low), abs(high))) / 2**40 and wide > 1e-300:
        assert 0.6 * count < len(t) < 1.5 * count
        step = max(gaps, default=wide)
        assert Fraction(t[1]) - Fraction(low) < step and Fraction(high) - Fraction(t[-2]) >= 0


@pytest.mark.slow
@settings(max_examples=examples_of(150))
@given(st.data())
def test_the_default_grid_covers_the_range(data):
    number = st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(-1, 1),
        st.sampled_from([0.0, -0.0, TINY, -TINY, LARGEST, -LARGEST, 1.0, 2.0**-1022]),
    )
    low, high = sorted([data.draw(number), data.draw(number)])
    check_grid(thr.default_grid(low, high, cell_exponent(low, high), 1000), low, high)


@pytest.mark.parametrize("count", [10, 100, 5000])
def test_the_default_grid_of_another_number(count):
    grid = thr.default_grid(0.137, 0.9, cell_exponent(0.137, 0.9), count)
    check_grid(grid, 0.137, 0.9, count)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
@pytest.mark.cases(1)
def test_the_first_threshold_counts_nothing_and_the_last_everything(task, kind, dtype):
    d = (D * 255).astype(dtype) if dtype == "uint8" else D.astype(dtype)
    ds = task(scores(d, kind=kind))
    t = ds.threshold.values
    assert (np.diff(t) > 0).all() and 600 < len(t) < 1500
    strict, loose = (0, -1) if kind == "distance" else (-1, 0)
    assert ds.fa[strict] == 0 and ds.fa[loose] == ds.impostor_attempts > 0
    accepted = ds.ga if task is be.verification else ds.di.sum("rank")
    assert accepted[strict] == 0 and accepted[loose] == ds.genuine_attempts > 0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("infinite", [(INF,), (-INF,), (INF, -INF)])
@pytest.mark.cases(1)
def test_infinite_scores_add_the_infinite_threshold(task, kind, infinite):
    d = D.copy()
    assert np.isfinite(task(scores(d, kind=kind)).threshold).all()
    cells = [(0, 8), (5, 3)] if task is be.verification else [(5, slice(None)), (6, slice(None))]
    for value, cell in zip(infinite, cells, strict=False):
        d[cell] = value
    ds = task(scores(d, kind=kind))
    ends = [x for x in (ds.threshold[0].item(), ds.threshold[-1].item()) if math.isinf(x)]
    assert sorted(ends) == sorted(infinite)
    assert np.isfinite(ds.threshold[1:-1]).all()
    loose = -1 if kind == "distance" else 0
    if (INF if kind == "distance" else -INF) in infinite:
        assert ds.fa[loose] == ds.impostor_attempts
        one_in = -2 if kind == "distance" else 1
        assert ds.fa[one_in] == ds.impostor_attempts - (d[cells[0]] == d[cells[0]]).all().sum()


def test_infinite_genuine_scores_add_the_infinite_threshold_too():
    d = D.copy()
    d[0, 0] = INF  # genuine: verification sees it, the best mate of the probe is another
    assert be.verification(scores(d)).threshold[-1] == INF
    assert np.isfinite(be.open_set(scores(d)).threshold).all()
    d[0, :3] = INF
    ds = be.open_set(scores(d))
    assert ds.threshold[-1] == INF
    assert ds.di[-1].sum() == ds.di[-2].sum() + 1


EXTREMES = [
    ([[5.0, 0.0]], "all impostor scores 0, genuine ones far away"),
    ([[1e300, 1e-300]], "classes 600 orders apart"),
    ([[-1e300, 1e-300]], "a huge negative genuine score"),
    ([[1e-300, 1e300]], "huge impostor scores"),
    ([[0.0, 0.0]], "all zero"),
    ([[1.0, 1.0]], "all equal"),
    ([[1.0, 1.0 + 2**-52]], "neighbouring floats"),
    ([[TINY, 0.0]], "the smallest of all floats"),
    ([[-TINY, TINY]], "both sides of zero, denormal"),
    ([[LARGEST, -LARGEST]], "the ends of the floats"),
    ([[LARGEST, LARGEST]], "the largest float alone"),
    ([[-LARGEST, -LARGEST]], "the smallest float alone"),
    ([[LARGEST, INF]], "the largest float and infinity"),
    ([[-LARGEST, -INF]], "the smallest float and minus infinity"),
    ([[INF, -INF]], "both infinities"),
    ([[INF, INF]], "infinity alone"),
    ([[-INF, 0.5]], "minus infinity"),
]


@pytest.mark.parametrize(("d", "why"), EXTREMES, ids=[why for _, why in EXTREMES])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_the_default_grid_of_extreme_scores(d, why, task, kind):
    for labels in (["a", "b"], ["b", "a"]):
        ds = task(be.Scores(d, ["a"], labels, kind=kind))
        t = ds.threshold.values
        assert (t[1:] > t[:-1]).all()
        loose = -1 if kind == "distance" else 0
        assert ds.fa[loose] == ds.impostor_attempts == 1
        impostor = d[0][labels.index("b")]
        expected = impostor <= t if kind == "distance" else impostor >= t
        np.testing.assert_array_equal(ds.fa, expected)
        genuine = d[0][labels.index("a")]
        accepted = ds.ga if task is be.verification else ds.di.sum("rank")
        expected = genuine <= t if kind == "distance" else genuine >= t
        np.testing.assert_array_equal(accepted, expected)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize(
    "impostors",
    [
        [LARGEST, -LARGEST],
        [LARGEST, -LARGEST, 0.0],
        [LARGEST, 1e-300],
        [-LARGEST, -1e308],
        [LARGEST, LARGEST / 2],
        [INF, LARGEST, -LARGEST],
        [-INF, -LARGEST, LARGEST],
        [0.0, TINY, LARGEST],
        [-1e-300, 0.0, 1e-300, 1.0],
        [1e200, 1e-300, 0.0, TINY, -TINY, -1e-300],
        [-1e200, 1e-300, 0.0, TINY, -TINY, -1e-300],
        [np.float32(x) for x in (1e25, 1e-40, 0.0, -1e-40)],
        [np.float32(x) for x in (-1e25, 1e-40, 0.0, -1e-40)],
    ],
)
@pytest.mark.cases(1)
def test_scores_at_the_ends_of_the_floats_are_counted_like_any_other(impostors, kind):
    """The largest float is a common mark of a failed comparison."""
    dtype = np.array(impostors).dtype
    for genuine in [*impostors, 0.5]:
        d = np.array([[genuine, *impostors]], dtype=dtype)
        ds = be.verification(be.Scores(d, ["a"], ["a", *"b" * len(impostors)], kind=kind))
        t = ds.threshold.values
        assert (np.diff(t) > 0).all()
        accepted = [sum(x <= u if kind == "distance" else x >= u for x in impostors) for u in t]
        assert ds.fa.values.tolist() == accepted
        better = [x < genuine if kind == "distance" else x > genuine for x in impostors]
        equal = [x == genuine for x in impostors]
        assert ds.auc == pytest.approx(1 - (sum(better) + sum(equal) / 2) / len(impostors))
        assert ds.zero_frr == pytest.approx((sum(better) + sum(equal)) / len(impostors))
        strict = not any(better) and not any(equal)
        assert ds.zero_far == (0 if strict else 1)


def test_thresholds_of_similarities_have_no_negative_zero():
    ds = be.verification(be.Scores([[0.0, 0.0]], ["a"], ["a", "b"], kind="similarity"))
    assert not np.signbit(ds.threshold.values[ds.threshold.values == 0]).any()


# ------------------------------------------------------------------------------- units

"""Thresholds: those that may be given, and the default grid."""

import math

import numpy as np
import pytest
from limits import blocks_of
from reference import one_thread  # noqa: F401

import bioeval as be
from bioeval.counting.grids import indices_among

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
def test_an_array_of_thresholds_is_used_as_given(task, given_as):
    ds = task(scores(), thresholds=given_as)
    assert ds.threshold.dtype == np.float64
    assert ds.threshold.values.tolist() == [0.25, 0.5, 0.75]
    assert (np.diff(ds.far) >= 0).all()
    mirror = task(scores(-D, kind="similarity"), thresholds=[-0.75, -0.5, -0.25])
    assert mirror.threshold.values.tolist() == [-0.75, -0.5, -0.25]
    np.testing.assert_array_equal(mirror.fa, ds.fa[::-1])


@pytest.mark.parametrize("task", [*TASKS, be.evaluate])
@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ([], r"shape \(0,\).*expected a number, or several"),
        ([[0.1, 0.2]], r"shape \(1, 2\)"),
        ([[1.0], [2.0, 3.0]], "not an array of numbers"),
        ("auto", "dtype <U4"),
        ([0.1, None], "dtype object"),
        ([1 + 0j], "dtype complex128"),
        ([0.1, math.nan], r"`thresholds`\[1\] is NaN"),
        ([0.3, 0.2], r"do not increase: `thresholds`\[1\] = 0.2 after 0.3 \(1 such places\)"),
        ([0.1, 0.2, 0.2, 0.3, 0.1], r"`thresholds`\[2\] = 0.2 after 0.2 \(2 such places\)"),
        ([INF, INF], "do not increase"),
        ([0.0, -0.0], "do not increase"),
        (True, "dtype bool"),
        (np.True_, "dtype bool"),
        ([True, False], "dtype bool"),
    ],
)
def test_thresholds_that_are_none_are_refused(task, wrong, match):
    with pytest.raises(be.DataError, match=match):
        task(scores(), thresholds=wrong)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("as_given", [int, float, np.int64, np.float32, lambda x: [x]])
def test_one_number_is_a_threshold_whether_whole_or_not(task, kind, as_given):
    whole_distances = (D * 1000).round().astype(int)
    ds = task(scores(whole_distances, kind=kind), thresholds=as_given(612))
    assert ds.threshold.values.tolist() == [612.0]
    accepted = (whole_distances <= 612) if kind == "distance" else (whole_distances >= 612)
    if task is be.verification:
        genuine = np.equal.outer(PROBES, GALLERY)
        assert (ds.ga, ds.fa) == (accepted[genuine].sum(), accepted[~genuine].sum())
    else:
        is_unenrolled = ~np.isin(PROBES, GALLERY)
        assert ds.fa == accepted[is_unenrolled].any(axis=1).sum()


# ---------------------------------------------------------------------------- beyond the scores


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize(
    ("thresholds", "is_said"),
    [
        ([-1.0], True),
        (612, True),
        ([-2, -1], True),
        ([-2, 612], True),
        ([-1, None], False),
        ([None], False),
        ([None, 612], False),
        ([-INF, INF], False),  # which is asked for
        ([-INF, -1.0, INF], True),
    ],
)
def test_thresholds_that_are_all_beyond_the_scores_are_said(kind, thresholds, is_said):
    nearest = D.min(axis=1) if kind == "distance" else D.max(axis=1)
    median_distance = float(np.median(nearest))  # which tells searches apart, too
    if isinstance(thresholds, list):
        thresholds = [median_distance if x is None else x for x in thresholds]
    data = scores(kind=kind)
    results = {
        "verification": be.verification(data, thresholds=thresholds),
        "open_set": be.open_set(data, thresholds=thresholds),
        "single": be.open_set(data, thresholds=thresholds, gallery="single"),
        "gallery_size": be.gallery_size(data, [1, 3], thresholds=thresholds),
        "reid": be.reid(data, "viper", thresholds=thresholds),
    }
    for name, result in results.items():
        codes_of_messages = [x.code for x in be.messages(result) if "beyond-scores" in x.code]
        is_single = np.isfinite(thresholds).sum() == 1
        code = "threshold-beyond-scores" if is_single else "thresholds-beyond-scores"
        assert codes_of_messages == [code] * is_said, name


# ------------------------------------------------------------------------------- a number of them


@pytest.mark.parametrize("task", [*TASKS, be.evaluate, be.gallery_size])
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_thresholds": True}, "`n_thresholds` is True"),
        ({"n_thresholds": 1}, "`n_thresholds` is 1; expected an integer >= 2"),
        ({"n_thresholds": -5}, "`n_thresholds` is -5"),
        ({"n_thresholds": np.int64(1)}, "`n_thresholds` is"),
        ({"n_thresholds": 2.5}, "`n_thresholds` is 2.5"),
        ({"n_thresholds": [5]}, "`n_thresholds` is"),
        ({"thresholds": [0.5], "n_thresholds": 5}, "`thresholds` and `n_thresholds` are both"),
    ],
)
def test_numbers_of_thresholds_that_are_none_are_refused(task, options, match):
    with pytest.raises(be.DataError, match=match):
        task(scores(), **options)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("number", [2, 3, 101, np.int32(7)])
@pytest.mark.cases(2)
def test_a_number_gives_that_many_from_the_smallest_to_the_largest_score(task, kind, number):
    ds = task(scores(kind=kind), n_thresholds=number)
    thresholds = ds.threshold.values
    assert len(thresholds) == number
    if task is be.verification:
        assert (thresholds[0], thresholds[-1]) == (D.min(), D.max())
    gaps = np.diff(thresholds)
    assert (gaps > 0).all() and np.ptp(gaps) < 1e-12
    ends = (ds.fa[0].item(), ds.fa[-1].item())
    total = ds.impostor_attempts.item()
    assert (max(ends) == total) and min(ends) <= 1


def test_a_number_of_thresholds_where_scores_are_infinite_or_all_equal():
    distances = D.copy()
    distances[0, 0], distances[1, 5] = INF, -INF
    thresholds = be.verification(scores(distances), n_thresholds=5).threshold.values
    assert (thresholds[0], thresholds[-1], len(thresholds)) == (-INF, INF, 7) and np.isfinite(
        thresholds[1:-1]
    ).all()
    thresholds = be.verification(scores(np.full_like(D, 0.5)), n_thresholds=5).threshold.values
    assert thresholds.tolist() == [0.5]
    distances = np.full_like(D, INF)
    assert be.verification(scores(distances), n_thresholds=5).threshold.values.tolist() == [INF]


# ------------------------------------------------------------------------------- the default grid


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
def test_the_first_threshold_counts_nothing_and_the_last_everything(task, kind, dtype):
    distances = (D * 255).astype(dtype) if dtype == "uint8" else D.astype(dtype)
    ds = task(scores(distances, kind=kind))
    thresholds = ds.threshold.values
    assert (np.diff(thresholds) > 0).all() and 600 < len(thresholds) < 1500
    strict, loose = (0, -1) if kind == "distance" else (-1, 0)
    assert ds.fa[strict] == 0 and ds.fa[loose] == ds.impostor_attempts > 0
    accepted = ds.ga if task is be.verification else ds.di.sum("rank")
    assert accepted[strict] == 0 and accepted[loose] == ds.genuine_attempts > 0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("infinite", [(INF,), (-INF,), (INF, -INF)])
def test_infinite_scores_add_the_infinite_threshold(task, kind, infinite):
    distances = D.copy()
    assert np.isfinite(task(scores(distances, kind=kind)).threshold).all()
    cells = [(0, 8), (5, 3)] if task is be.verification else [(5, slice(None)), (6, slice(None))]
    for value, cell in zip(infinite, cells, strict=False):
        distances[cell] = value
    ds = task(scores(distances, kind=kind))
    ends = [x for x in (ds.threshold[0].item(), ds.threshold[-1].item()) if math.isinf(x)]
    assert sorted(ends) == sorted(infinite)
    assert np.isfinite(ds.threshold[1:-1]).all()
    loose = -1 if kind == "distance" else 0
    if (INF if kind == "distance" else -INF) in infinite:
        assert ds.fa[loose] == ds.impostor_attempts
        one_in = -2 if kind == "distance" else 1
        assert (
            ds.fa[one_in]
            == ds.impostor_attempts - (distances[cells[0]] == distances[cells[0]]).all().sum()
        )


def test_infinite_genuine_scores_add_the_infinite_threshold_too():
    distances = D.copy()
    distances[0, 0] = INF  # genuine: verification sees it, the best mate of the probe is another
    assert be.verification(scores(distances)).threshold[-1] == INF
    assert np.isfinite(be.open_set(scores(distances)).threshold).all()
    distances[0, :3] = INF
    ds = be.open_set(scores(distances))
    assert ds.threshold[-1] == INF
    assert ds.di[-1].sum() == ds.di[-2].sum() + 1


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
def test_scores_at_the_ends_of_the_floats_are_counted_like_any_other(impostors, kind):
    """The largest float is a common mark of a failed comparison."""
    dtype = np.array(impostors).dtype
    for genuine in [*impostors, 0.5]:
        distances = np.array([[genuine, *impostors]], dtype=dtype)
        ds = be.verification(be.Scores(distances, ["a"], ["a", *"b" * len(impostors)], kind=kind))
        thresholds = ds.threshold.values
        assert (np.diff(thresholds) > 0).all()
        accepted = [
            sum(x <= u if kind == "distance" else x >= u for x in impostors) for u in thresholds
        ]
        assert ds.fa.values.tolist() == accepted
        better = [x < genuine if kind == "distance" else x > genuine for x in impostors]
        equal = [x == genuine for x in impostors]
        assert ds.auc == pytest.approx(1 - (sum(better) + sum(equal) / 2) / len(impostors))
        assert ds.zero_frr == pytest.approx((sum(better) + sum(equal)) / len(impostors))
        strict = not any(better) and not any(equal)
        assert ds.zero_far == (0 if strict else 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(8))
def test_indices_among_thresholds_are_those_of_a_search(seed, dtype):
    """Thresholds may be close together, infinite or the largest number."""
    rng = np.random.default_rng(seed)
    wide = np.array([0, TINY, 1e-30, 1e30, LARGEST, -LARGEST, INF, -INF])
    cases = (rng.normal(size=60), rng.integers(0, 5, 60), np.exp(9 * rng.normal(size=60)), wide)
    for numbers in cases:
        for size in (0, 1, 2, 30):
            thresholds = np.sort(rng.choice(numbers, size).astype(np.float64))
            with np.errstate(over="ignore"):
                values = np.append(rng.choice(numbers, 99), [INF, -INF, 0.0]).astype(dtype)
            expected = [sum(t < x for t in thresholds.tolist()) for x in values.tolist()]
            assert indices_among(values, thresholds).tolist() == expected


# ------------------------------------------------------------------------------- infinite scores


@pytest.mark.parametrize("gallery", ["c", "cd"])
@pytest.mark.parametrize(("kind", "nearest"), [("distance", -INF), ("similarity", INF)])
def test_infinite_scores_without_a_mate_are_accepted_at_infinity(kind, nearest, gallery):
    """Counted in blocks: without genuine attempts no cell of scores needs to be kept."""
    values = np.zeros((2, len(gallery)))
    values[0, 0] = nearest
    with blocks_of():
        dataset = be.verification(be.Scores(values, ["a", "b"], [*gallery], kind=kind))
    at_infinity = dataset.far.values[dataset.threshold.values == nearest]
    assert at_infinity.tolist() == [1 / values.size]
    assert dataset.far.values.max() == 1

"""Every task against its naive implementation, on small cases with failures, ties and gaps."""

import contextlib
import math
from itertools import permutations

import naive
import numba
import numpy as np
import pytest
import strategies as cases
from hypothesis import given, strategies as st
from reference import (
    assert_closed_set,
    assert_open_set,
    assert_verification,
    one_thread,  # noqa: F401
)
from result_messages import codes

import bioeval as be


@given(st.data())
def test_verification_single_equals_the_definition(data):
    case = data.draw(cases.matrices(masks=("none", "labelled", "alone")))
    thresholds = data.draw(cases.thresholds(case))
    ds = be.verification(be.Scores(**case.scores()), thresholds=thresholds)
    np.testing.assert_array_equal(ds.threshold, thresholds)
    assert_verification(ds, *naive.attempts_single(**case.naive()), case.kind)


@given(st.data(), st.sampled_from(cases.FUSIONS))
def test_verification_multi_equals_the_definition(data, fusion):
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    genuine, impostor = naive.attempts_multi(**case.naive(), fusion=fusion)
    thresholds = data.draw(cases.thresholds(case, extra=[*genuine, *impostor]))
    ds = be.verification(
        be.Scores(**case.scores()), templates="multi", fusion=fusion, thresholds=thresholds
    )
    assert_verification(ds, genuine, impostor, case.kind)


@given(st.data(), st.sampled_from(("single", "multi")), st.sampled_from(cases.FUSIONS))
def test_explicit_claims_equal_the_definition(data, templates, fusion):
    case = data.draw(cases.matrices())
    claims = data.draw(cases.claims(case, unenrolled=data.draw(st.booleans())))
    options = {"claims": claims, "unenrolled_claims": "skip"}
    if templates == "single":
        attempts = naive.attempts_single(**case.naive(), **options)
        fusion = "best"
    else:
        attempts = naive.attempts_multi(**case.naive(), **options, fusion=fusion)
    thresholds = data.draw(cases.thresholds(case, extra=[*attempts[0], *attempts[1]]))
    scores = be.Scores(**case.scores())
    ds = be.verification(
        scores, templates=templates, fusion=fusion, thresholds=thresholds, **options
    )
    assert_verification(ds, *attempts, case.kind)
    skipped = naive.skipped_claims(**case.naive(), claims=claims)
    assert ds.skipped_claims == skipped
    if skipped:
        with pytest.raises(be.DataError, match="not enrolled"):
            be.verification(scores, claims=claims, thresholds=thresholds)


@given(
    st.data(),
    st.sampled_from(cases.UNITS),
    st.sampled_from(cases.FUSIONS),
    st.sampled_from(cases.TIES),
    st.sampled_from(cases.IMPOSTORS),
)
def test_open_set_equals_the_definition(data, unit, fusion, ties, impostors):
    fusion = fusion if unit == "subject" else "best"
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    thresholds = data.draw(cases.thresholds(case))
    ds = be.open_set(
        be.Scores(**case.scores()), thresholds=thresholds, rank_unit=unit, fusion=fusion, ties=ties,
        impostors=impostors, max_rank=7,
    )  # fmt: skip
    expected = naive.open_set(
        **case.naive(), thresholds=thresholds, max_rank=7, unit=unit, fusion=fusion, ties=ties,
        impostors=impostors,
    )  # fmt: skip
    assert_open_set(ds, expected)


@given(
    st.data(),
    st.sampled_from(cases.UNITS),
    st.sampled_from(cases.FUSIONS),
    st.sampled_from(cases.TIES),
)
def test_closed_set_equals_the_definition(data, unit, fusion, ties):
    fusion = fusion if unit == "subject" else "best"
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    scores = be.Scores(**case.scores())
    options = {"ties": ties, "fusion": fusion, "unmated": "skip", "max_rank": 6}
    ds = be.closed_set(scores, rank_unit=unit, **options)
    expected = naive.closed_set(**case.naive(), unit=unit, **options)
    assert_closed_set(ds, expected)


def contradicts_itself(mask) -> bool:
    """Whether two templates that genuine cells connect meet in an impostor cell."""
    mask = np.asarray(mask)
    m, n = mask.shape
    square = m == n and not mask.diagonal().any()
    column = [j if square else m + j for j in range(n)]
    person = list(range(m + n))
    for i, j in np.argwhere(mask == 2).tolist():
        old, new = person[i], person[column[j]]
        person = [new if x == old else x for x in person]
    return any(person[i] == person[column[j]] for i, j in np.argwhere(mask == 1).tolist())


@given(st.data(), st.sampled_from(cases.TIES))
def test_a_mask_alone_identifies_templates_where_it_is_consistent(data, ties):
    case = data.draw(cases.matrices(masks=("alone",)))
    scores = be.Scores(**case.scores())
    with contextlib.suppress(be.ProtocolError):
        ds = be.closed_set(scores, ties=ties, unmated="skip", max_rank=6)
        expected = naive.closed_set(**case.naive(), ties=ties, unmated="skip", max_rank=6)
        assert_closed_set(ds, expected)
        return
    assert contradicts_itself(case.scores()["mask"])


@given(st.data(), st.sampled_from(cases.UNITS), st.sampled_from(cases.TIES))
def test_a_selection_equals_the_definition_on_its_cells(data, unit, ties):
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    rows, columns = data.draw(cases.selections(case))
    view = be.Scores(**case.scores()).select(probes=rows, gallery=columns)
    data_of_case = case.naive(rows, columns)
    thresholds = data.draw(cases.thresholds(case))
    ds = be.verification(view, thresholds=thresholds)
    assert_verification(ds, *naive.attempts_single(**data_of_case), case.kind)
    multi = be.verification(view, thresholds=thresholds, templates="multi")
    assert_verification(multi, *naive.attempts_multi(**data_of_case), case.kind)
    options = {"ties": ties, "unmated": "skip", "max_rank": 6}
    closed = be.closed_set(view, rank_unit=unit, **options)
    expected = naive.closed_set(**data_of_case, unit=unit, **options)
    assert_closed_set(closed, expected)


@given(st.data(), st.sampled_from(cases.UNITS), st.sampled_from(("stable", "expected")))
def test_ranks_equal_the_definition(data, unit, ties):
    case = data.draw(cases.matrices())
    ds = be.ranks(be.Scores(**case.scores()), rank_unit=unit, ties=ties)
    for i, probe in enumerate(naive.ranks(**case.naive(), unit=unit, ties=ties)):
        of_probe = ds.isel(probe=i)
        assert bool(of_probe.enrolled) == probe.enrolled
        for name, expected in (("mate_distance", probe.best_mate),
                               ("nearest_other", probe.nearest_other)):  # fmt: skip
            has_no_score = expected is None or expected is naive.FAILED  # a failure has no score
            assert np.isnan(of_probe[name]) if has_no_score else of_probe[name] == expected
        if probe.rank is None:
            assert np.isnan(of_probe.identification_rank)
        elif isinstance(probe.rank, dict):
            mean = sum(rank * float(p) for rank, p in probe.rank.items())
            assert float(of_probe.identification_rank) == pytest.approx(mean)
        else:
            assert of_probe.identification_rank == probe.rank


def test_data_with_cameras_are_told_of_the_conventions_that_know_them():
    rng = np.random.default_rng(1)
    cameras = {"probe_meta": {"camera": [1, 2, 1, 2]}}
    scores = be.Scores(rng.random((4, 4)), [0, 0, 1, 1], **cameras)
    assert "same-value-counted" in codes(be.evaluate(scores)["closed_set"])
    named = be.evaluate(scores, "course-all-vs-all")["closed_set"]
    assert "same-value-counted" not in codes(named), "who names a card knows what it does"
    one_camera = be.Scores(rng.random((4, 4)), [0, 0, 1, 1], probe_meta={"camera": [1, 1, 1, 1]})
    assert "same-value-counted" not in codes(be.evaluate(one_camera)["closed_set"])
    camera = {"probe_meta": {"camera": [1] * 4}, "gallery_meta": {"camera": [2] * 4}}
    two_sides = be.Scores(rng.random((4, 4)), [0, 0, 1, 1], [0, 0, 1, 1], **camera)
    assert "cameras-not-used" in codes(be.evaluate(two_sides)["verification/single"])
    assert "cameras-not-used" not in codes(be.verification(two_sides))


@pytest.mark.parametrize(
    ("task", "options"),
    [
        (be.verification, {"far_targets": [2]}),
        (be.verification, {"costs": [(2, 1, 1)]}),
        (be.open_set, {"ties": "pesimistic"}),
        (be.open_set, {"impostors": "others"}),
        (be.open_set, {"max_rank": 0}),
        (be.open_set, {"thresholds": [2, 1]}),
        (be.open_set, {"gallery": "single", "far_targets": [-1]}),
        (be.closed_set, {"ties": "pesimistic"}),
        (be.closed_set, {"unmated": "drop"}),
        (be.closed_set, {"max_rank": 1.5}),
        (be.closed_set, {"gallery": "single", "unmated": "drop"}),
        (be.evaluate, {"max_rank": 0}),
        (be.evaluate, {"n_thresholds": 1}),
    ],
)
def test_options_are_checked_before_the_scores_are_read(task, options):
    def progress(done, rows):
        raise AssertionError("the sweep has begun")

    scores = be.simulate(6, 2, random_state=0)
    expected = pytest.raises(be.DataError, match=list(options)[-1])
    with be.set_options(progress=progress), expected:
        task(scores, **options)


# ------------------------------------------------------------------------------- ranks beyond


@pytest.mark.parametrize("ranks", [10_001, 10**9, 10**20])
@pytest.mark.parametrize(
    "evaluate",
    [
        be.open_set,
        be.closed_set,
        be.gallery_size,
        be.evaluate,
        lambda scores, max_rank: be.closed_set(scores, gallery="single", max_rank=max_rank),
        lambda scores, max_rank: be.open_set(scores, gallery="single", max_rank=max_rank),
        lambda scores, max_rank: be.repeat(
            scores, be.partition.SubjectKFold(2), curves=True, max_rank=max_rank
        ),
    ],
)
def test_ranks_far_beyond_the_gallery_are_refused(evaluate, ranks):
    scores = be.simulate(6, 3, random_state=1)
    with pytest.raises(
        be.DataError, match=f"`max_rank` is {ranks}; expected at most 10000.*(18|9) temp"
    ):
        evaluate(scores, max_rank=ranks)


# ------------------------------------------------------------------------------- fusion by the mean


MULTI = {"templates": "multi", "fusion": "mean"}


def assert_mean(distances, expected, dtype=float):
    """Two neighbouring thresholds find the mean to the last bit."""
    scores = be.Scores(np.array([distances], dtype=dtype), ["ann"], ["ann"] * len(distances))
    below = np.nextafter(expected, -math.inf)
    ds = be.verification(scores, thresholds=[below, expected], **MULTI)
    assert ds.gar.values.tolist() == [0.0, 1.0], (distances, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_the_mean_is_the_rounded_exact_sum_over_the_number(dtype):
    rng = np.random.default_rng(3)
    for size in (2, 5, 33):
        for spread in (0, 16, 150):
            scores = rng.normal(size=size) * 2.0 ** rng.integers(-spread, spread + 1, size)
            with np.errstate(over="ignore"):
                scores = scores.astype(dtype)
            scores = np.where(np.isfinite(scores), scores, dtype == "float16").astype(dtype)
            expected = math.fsum(scores.tolist()) / size
            assert expected == naive.fuse(scores.tolist(), "mean")
            assert_mean(scores, expected, dtype)
            assert_mean(rng.permutation(scores), expected, dtype)


@pytest.mark.parametrize(
    "distances",
    [
        [1.0, 2.0**-53, 2.0**-53],  # one by one, both are lost
        [1.0, 2.0**-53, 2.0**-120],  # between two numbers, and a little more
        [1.0, 2.0**-53, -(2.0**-120)],
        [-1.0, -(2.0**-53), -(2.0**-120)],
        [1e300, 1.0, -1e300],
        [1e308, 1.0, -1e308],
        [1.5e308, 1.6e308],
        [1.7e308] * 7,
        [-1.5e308, -1.6e308, 2.0],
        [1.7e308, 1.7e308, -1.7e308],
        [5e-324, 5e-324, 5e-324],
    ],
)
def test_the_mean_of_scores_of_any_size(distances):
    expected = naive.fuse(distances, "mean")
    assert math.isfinite(expected)
    for order in set(permutations(distances)):
        assert_mean(order, expected)


# ------------------------------------------------------------------------------- no attempts


DEGENERATE = {
    "one subject": (["a", "a", "a"], None, (6, 0)),
    "singletons only": (["a", "b", "c"], None, (0, 6)),
    "one template": (["a"], None, (0, 0)),
    "none enrolled": (["x", "y", "z"], ["a", "b", "b"], (0, 9)),
    "one enrolled subject": (["a", "a", "a"], ["a", "a", "a"], (9, 0)),
    "one unknown probe": (["x"], ["a"], (0, 1)),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_a_class_without_attempts_has_no_rate(name, kind):
    probes, gallery, (genuine, impostor) = DEGENERATE[name]
    n = len(probes if gallery is None else gallery)
    distances = np.arange(len(probes) * n, dtype=float).reshape(len(probes), n)
    tree = be.evaluate(be.Scores(distances, probes, gallery, kind=kind))
    for node in ("verification/single", "verification/multi", "open_set"):
        ds = tree[node]
        expected = [("genuine", genuine, ["frr"]), ("impostor", impostor, ["far", "grr"])]
        for class_name, attempts, rates in expected:
            number = int(ds[f"{class_name}_attempts"])
            assert (number == 0) == (attempts == 0)
            if node == "verification/single":
                assert number == attempts
            for rate in rates:
                assert np.isnan(ds[rate]).all() == (attempts == 0)
            said = [x.arguments["what"] for x in be.messages(ds) if x.code == "no-attempt"]
            assert (f"{class_name} attempt" in said) == (attempts == 0)
        assert len(ds.threshold) >= 1 and ds.fa.dtype == np.int64
        if not (genuine and impostor):
            assert np.isnan(ds.eer)
    closed = tree["closed_set"]
    if genuine and not impostor:
        assert closed.recognition_rate == 1
    if not genuine:
        assert closed.attempts == 0 and np.isnan(closed.cms).all()
        assert "no-attempt" in codes(closed)


# ------------------------------------------------------------------------------- threads


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_number_of_threads_changes_nothing(dtype):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("this machine has one thread")
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 40, 301)
    distances = rng.normal(size=(301, 301)).round(2).astype(dtype)
    distances[rng.random(distances.shape) < 0.01] = np.nan
    scores = be.Scores(distances, labels, nan="reject")
    results = []
    try:
        for threads in (1, 2, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            results.append(be.evaluate(scores))
            for fusion in ("mean", "median", "kth:3"):
                results[-1][fusion] = be.verification(scores, templates="multi", fusion=fusion)
            results[-1]["given"] = be.verification(scores, thresholds=np.linspace(-3, 3, 50))
    finally:
        numba.set_num_threads(1)
    assert results[0].identical(results[1]) and results[0].identical(results[2])

"""Intervals of re-identification and GOM: queries of resampled people, against naive_reid.py."""

from fractions import Fraction

import naive_limits
import naive_reid
import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st
from limits import few_replicates, people_drawn
from named_arguments import raises_about
from reference import one_thread  # noqa: F401
from strategies import examples_of
from ways import counted_by

import bioeval as be
from bioeval import stats

REPLICATES = 7
OPTIONS = few_replicates("subject-bootstrap", REPLICATES)
SIZES = ((2, 2, 1), (3, 1, 2, 2), (1, 4), (5,))


@st.composite
def cases(draw, **options):
    case = draw(strategies.matrices(sizes=SIZES, kinds=("distance",), nans=("raise",), **options))
    m, n = case.values.shape
    probe = draw(st.lists(st.sampled_from("ab"), min_size=m, max_size=m))
    gallery = draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    return case, (probe, probe if case.square else gallery)


def scores_of(case, cameras) -> be.Scores:
    meta = {"probe_meta": {"camera": cameras[0]}}
    if not case.square:
        meta["gallery_meta"] = {"camera": cameras[1]}
    return be.Scores(**case.scores(), **meta)


def replicates(scores, cameras, case, counted, evaluate):
    """Evaluate the queries of the people of each replicate, as often as they were drawn.

    People none of whose queries is counted are not drawn.
    """
    people = np.unique(scores.codes.probe[counted]).tolist()
    weights = people_drawn(len(people), REPLICATES)
    owners = [people.index(x) if x in people else None for x in scores.codes.probe.tolist()]
    queries_of = naive_reid.queries
    for column in weights.T.astype(int):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                naive_reid, "queries",
                lambda *args, column=column, **options: [
                    query
                    for query, owner in zip(queries_of(*args, **options), owners, strict=True)
                    for _ in range(0 if owner is None else column[owner])
                ],
            )  # fmt: skip
            yield evaluate(case.naive(), cameras)


def assert_percentiles(result, name, drawn, counted):
    """Assert that the limits are percentiles of the replicates, or the bound by subjects."""
    drawn = np.array([np.asarray(x, dtype=float) for x in drawn])
    value = result[name].values
    numbers = [counted.count(x) for x in set(counted)]
    people = naive_limits.kish(numbers) if len(numbers) > 1 else 0
    for end, share in (("low", 0.025), ("high", 0.975)):
        defined = [x[~np.isnan(x)] for x in drawn.reshape(len(drawn), -1).T]
        ends = np.array([np.quantile(x, share) if len(x) else np.nan for x in defined])
        ends = np.where(np.isnan(value), np.nan, ends.reshape(value.shape))
        bound = 1 - 0.05 ** (1 / people) if people else np.nan  # of a rate of exactly 0 or 1
        none, is_one = value <= 1e-12, value >= 1 - 1e-12
        sure = none if end == "low" else is_one
        expected = np.where(none | is_one, np.where(none, bound, 1 - bound), ends)
        expected = np.where(sure, float(end == "high"), expected)
        expected = np.where(people > 0, expected, np.nan)
        np.testing.assert_allclose(result[f"{name}_{end}"].values, expected, atol=1e-12)


@pytest.mark.slow
@settings(max_examples=examples_of(15))
@given(
    cases(),
    st.sampled_from(("first-match", "allshots", "identity-dedup")),
    st.sampled_from(("skip", "zero")),
)
def test_intervals_are_those_of_resampled_queries(drawn, cmc, unmatched):
    case, cameras = drawn
    scores = scores_of(case, cameras)
    listed = naive_reid.queries(case.naive(), cameras, "same-id-same-camera")
    included = np.array([q.matches > 0 or unmatched == "zero" for q in listed])
    if not any(q.matches for q in listed):
        return
    result = be.reid(
        scores, cmc=cmc, unmatched=unmatched, max_rank=5, rank_k=3, junk="keep", interval=OPTIONS
    )
    expected = list(
        replicates(
            scores, cameras, case, included,
            lambda data, cameras: naive_reid.reid(
                data, cameras, removed="same-id-same-camera", counts=cmc, unmatched=unmatched
            ),
        )
    )  # fmt: skip
    counted = scores.codes.probe[included].tolist()
    means = ("mean_ap", "rank_k_mean_ap", "interpolated_precision", "cmc")
    means += tuple(name for name, _ in naive_reid.OF_LISTS)
    for name in ("precision_at_k", "recall_at_k", *means):
        assert_percentiles(result, name, [getattr(x, name) for x in expected], counted)


@pytest.mark.slow
@settings(max_examples=10)
@given(cases(), st.integers(1, 4))
def test_intervals_of_gom_are_those_of_resampled_queries(drawn, budget):
    case, cameras = drawn
    scores, taus = scores_of(case, cameras), np.array([0.1, 0.5, 2.0])
    listed = naive_reid.queries(case.naive(), cameras, "same-id-same-camera")
    matched = np.array([q.matches > 0 for q in listed])
    unknown = np.array([not q.enrolled for q in listed])
    if not matched.any():
        return
    result = be.gom(
        scores, thresholds=taus, budget=budget, max_rank=3, scaled=False, interval=OPTIONS
    )
    expected = list(
        replicates(
            scores, cameras, case, matched | unknown,
            lambda data, cameras: naive_reid.gom(
                data, cameras, taus.tolist(), removed="same-id-same-camera", budget=budget
            ),
        )
    )  # fmt: skip
    counted, opened = (scores.codes.probe[x].tolist() for x in (matched, unknown))
    for name in ("mrp", "mvp", "mrep", "precision", "recall", "f1", "ttr", "ttr_identity"):
        assert_percentiles(result, name, [getattr(x, name) for x in expected], counted)
    for name in ("mfr", "far"):
        assert_percentiles(result, name, [getattr(x, name) for x in expected], opened)
    for curve_name, name in (("mrep", "max_mrep"), ("mvp", "max_mvp")):
        assert_percentiles(result, name, [max(getattr(x, curve_name)) for x in expected], counted)
    width = taus[-1] - taus[0]
    for curve_name, name, people in (("mrep", "mrep_area", counted), ("mfr", "mfr_area", opened)):
        areas = [np.trapezoid(getattr(x, curve_name), taus) / width for x in expected]
        shares = result[[name, f"{name}_low", f"{name}_high"]] / width
        assert_percentiles(shares, name, areas, people)


@pytest.fixture(scope="module")
def scores():
    """Four queries for each of 30 people, against further templates, from two cameras."""
    crowd = be.simulate_embeddings(30, 8, within=1.2, random_state=5)
    values, labels = crowd.scores("l2").values, crowd.labels
    camera = np.tile([1, 2, 1, 2], 30)
    query = np.tile([True] * 4 + [False] * 4, 30)
    return be.Scores(
        values[np.ix_(query, ~query)], labels[query], labels[~query],
        probe_meta={"camera": camera}, gallery_meta={"camera": camera},
    )  # fmt: skip


def test_independent_queries(scores):
    binomial = be.reid(scores, interval="clopper-pearson")
    low, high = stats.clopper_pearson(binomial.cmc_count[0], 120)
    assert (binomial.cmc_low[0], binomial.cmc_high[0]) == (low, high)
    assert "mean_ap_low" not in binomial
    assert "no-interval" in [message.code for message in be.messages(binomial)]


def test_a_perfect_system_has_the_bound_by_subjects():
    rows = np.repeat(np.arange(12), 2)
    values = (rows[:, None] != np.arange(12)).astype(float)
    ds = be.reid(be.Scores(values, rows, np.arange(12)), "vehicleid", interval="subject-bootstrap")
    bound = 0.05 ** Fraction(1, 12)
    for name in ("mean_ap", "mean_inp", "cmc"):
        assert float(np.min(ds[f"{name}_low"])) == pytest.approx(bound)
        assert float(np.max(ds[f"{name}_high"])) == 1


@pytest.mark.parametrize("method", ["people", "subject-bootstrap"])
def test_lists_and_matrices_have_the_same_intervals(scores, method):
    order = np.argsort(scores.values, axis=1, kind="stable")[:, :100]
    lists = be.Scores.from_top_k(order, scores.probe_labels, scores.gallery_labels)
    options = {
        "interval": be.stats.IntervalMethod(method, replicates=100, random_state=4),
        "rank_k": 50,
    }
    ours, matrix = (be.reid(x, "cityflow", max_rank=20, **options) for x in (lists, scores))
    for name in ("cmc_low", "cmc_high", "rank_k_mean_ap_low", "rank_k_mean_ap_high"):
        np.testing.assert_allclose(ours[name], matrix[name], atol=1e-12)
    tree = be.evaluate(lists, "cityflow", interval=be.stats.IntervalMethod(method, replicates=100))
    assert "cmc_low" in tree["reid"]
    assert not any("confidence interval" in x.sentence for x in be.messages(tree["reid"]))


def test_one_person_has_no_interval():
    single = be.Scores([[0.1, 0.2], [0.3, 0.1]], [1, 1], [1, 2])
    ds = be.reid(single, "vehicleid", interval="subject-bootstrap")
    assert np.isnan(ds.mean_ap_low)
    assert "interval-of-few-subjects" in [message.code for message in be.messages(ds)]
    with raises_about(be.DataError, "interval"):
        be.gom(single, convention="vehicleid", interval="bootstrap")


@pytest.mark.slow
def test_limits_of_many_scores_are_those_of_few():
    """People are left out of blocks that are counted as of scores that are sorted at once."""
    crowd = be.simulate(9, 6, within=0.9, random_state=1)
    values = np.round(4 * crowd.values) / 4  # with ties
    query, camera = np.arange(54) % 6 < 2, np.arange(54) % 4
    labels = crowd.probe_labels
    scores = be.Scores(
        values[np.ix_(query, ~query)], labels[query], labels[~query],
        probe_meta={"camera": camera[query]}, gallery_meta={"camera": camera[~query]},
    )  # fmt: skip
    options = {"protocol": "market1501", "measures": ["mean_ap", "cmc=1"]}
    worse = scores.values + np.random.default_rng(0).integers(0, 3, scores.shape) / 4
    two_systems = scores, scores.with_values(worse, "distance")
    of_sorted = be.compare(*two_systems, **options)
    with counted_by("counted"):
        of_counted = be.compare(*two_systems, **options)
    assert of_counted.identical(of_sorted)

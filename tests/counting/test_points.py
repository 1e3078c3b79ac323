"""Operating points against brute force over all thresholds, and against scikit-learn."""

import itertools
import math
import warnings

import naive
import numpy as np
import pytest
import strategies as cases
from hypothesis import example, given, strategies as st
from named_arguments import raises_about
from ways import counted_by

import bioeval as be

TARGETS = (0.0, 0.05, 0.1, 1 / 3, 0.3, 0.5, 2 / 3, 1.0)
COSTS = ((0.5, 1.0, 1.0), (0.01, 10.0, 1.0), (0.9, 1.0, 0.0), (0.3, 0.0, 1.0), (1.0, 1.0, 1.0))
WANTED = {"far_targets": TARGETS, "frr_targets": TARGETS, "costs": COSTS}


def same(result, expected, tolerance=1e-12) -> None:
    """Equal as numbers, NaN included, within rounding."""
    expected = float(expected)
    result = float(result)
    if math.isnan(expected) or math.isinf(expected):
        np.testing.assert_equal(result, expected)
    else:
        assert result == pytest.approx(expected, rel=tolerance, abs=tolerance)


def same_threshold(result, expected) -> None:
    """Thresholds are equal to the last bit; both zeros are equal."""
    np.testing.assert_equal(float(result) + 0.0, float(expected) + 0.0)


def check_points(ds, genuine, impostor, kind) -> None:
    attempts = (genuine, impostor, kind)
    error = naive.eer(*attempts)
    same(ds.eer, error.value)
    same(ds.far_at_eer, error.far_at_eer)
    same(ds.frr_at_eer, error.frr_at_eer)
    same(ds.eer_bracket_low, error.low)
    same(ds.eer_bracket_high, error.high)
    same_threshold(ds.eer_threshold, error.threshold)
    same(ds.eer_hull, naive.eer_hull(*attempts))
    same(ds.auc, naive.auc(*attempts))
    same(ds.zero_far, naive.frr_at_far(*attempts, 0)[0])
    same(ds.zero_frr, naive.far_at_frr(*attempts, 0)[0])
    for target in ds.far_target.values:
        at_target = ds.sel(far_target=target)
        frr, threshold = naive.frr_at_far(*attempts, target)
        same(at_target.frr_at_far, frr)
        same_threshold(at_target.threshold_at_far, threshold)
    for target in ds.frr_target.values:
        at_target = ds.sel(frr_target=target)
        far, threshold = naive.far_at_frr(*attempts, target)
        same(at_target.far_at_frr, far)
        same_threshold(at_target.threshold_at_frr, threshold)
    for i, cost in enumerate(COSTS):
        least, threshold = naive.min_cost(*attempts, *cost)
        same(ds.min_cost[i], least)
        # Rounding may prefer another threshold of the same cost; that cost is checked above.
        if math.isnan(float(threshold)):
            assert math.isnan(ds.min_cost_threshold[i])


WAYS = ("listed", "counted", "few cells")
ways = st.sampled_from(WAYS)


@given(st.data(), st.sampled_from((None, "best", "mean")), ways)
def test_verification_points_of_matrices_equal_brute_force(data, fusion, way):
    """Of templates, or of the templates of each subject, fused."""
    case = data.draw(cases.matrices(masks=("none", "alone") if fusion is None else ("none",)))
    use = {} if fusion is None else {"templates": "multi", "fusion": fusion}
    with counted_by(way):
        ds = be.verification(be.Scores(**case.scores()), **use, **WANTED)
    attempts = (
        naive.attempts_single(**case.naive())
        if fusion is None
        else naive.attempts_multi(**case.naive(), fusion=fusion)
    )
    check_points(ds, *attempts, case.kind)


# At two neighbours of the crossing FAR and FRR have one sum: 0 and 3/8, 1/4 and 1/8.
EQUAL_SUMS = [0, 0, 0, 0, 0, 1, 1, 2], [1, 1, 2, 3, 3, 3, 3, 3], "distance"


@given(cases.attempts(), ways)
@example(EQUAL_SUMS, "listed")
def test_verification_points_of_pairs_equal_brute_force(attempts, way):
    genuine, impostor, kind = attempts
    if not genuine and not impostor:
        return
    scores = be.Scores.from_pairs(
        np.array([*genuine, *impostor], dtype=float),
        [True] * len(genuine) + [False] * len(impostor),
        kind=kind,
    )
    with counted_by(way):
        ds = be.verification(scores, **WANTED)
    check_points(ds, genuine, impostor, kind)
    finite = np.array([x for x in (*genuine, *impostor) if math.isfinite(x)])
    if len(finite) and finite.std() > 1e-6 * np.abs(finite).max():  # else all is rounding
        same(ds.d_prime, naive.d_prime(genuine, impostor), 1e-12)


@given(
    st.data(),
    st.sampled_from(cases.UNITS),
    st.sampled_from(cases.TIES),
    st.sampled_from(cases.IMPOSTORS),
    ways,
)
def test_open_set_points_equal_brute_force(data, unit, ties, impostors, way):
    case = data.draw(cases.matrices())
    options = {"ties": ties, "impostors": impostors}
    with counted_by(way):
        ds = be.open_set(
            be.Scores(**case.scores()), rank_unit=unit, far_targets=TARGETS, max_rank=4, **options
        )
    options |= {**case.naive(), "unit": unit}
    error = naive.open_set_eer(1, **options)
    same(ds.eer, error.value, 1e-9)
    same(ds.eer_bracket_low, error.low, 1e-9)
    same(ds.eer_bracket_high, error.high, 1e-9)
    if ties != "expected":
        same_threshold(ds.eer_threshold, error.threshold)
    for target in TARGETS:
        for k in (1, 2, 4):
            at_target = ds.sel(far_target=target, rank=k)
            rate, threshold = naive.dir_at_far(target, k, **options)
            same(at_target.dir_at_far, rate, 1e-9)
            same_threshold(at_target.threshold_at_far, threshold)


@pytest.mark.parametrize("way", WAYS)
def test_scores_at_minus_infinity_leave_no_threshold_that_rejects_all(way):
    """Of the mates alone, of other people alone, of both and of none."""
    sides = {"probe_labels": ["a", "x", "b"], "gallery_labels": ["a", "b", "c"]}
    for mate, other in itertools.product((-np.inf, -1.0), repeat=2):
        values = np.array([[mate, 1, 2], [other, 1, 2], [3, 0.5, 1]])
        with counted_by(way):
            ds = be.open_set(be.Scores(values, *sides.values()), far_targets=TARGETS, max_rank=2)
        for k, target in ((k, x) for k in (1, 2) for x in TARGETS):
            at_target = ds.sel(far_target=target, rank=k)
            rate, threshold = naive.dir_at_far(target, k, values=values, **sides)
            same(at_target.dir_at_far, rate)
            same_threshold(at_target.threshold_at_far, threshold)


def failing(seed: int, kind: str) -> dict[str, np.ndarray]:
    """Few whole scores of seven people, with ties, infinities and failures."""
    rng = np.random.default_rng(seed)
    subject = np.repeat(np.arange(7), rng.integers(1, 5, 7))
    values = rng.integers(0, 6, (len(subject), len(subject))).astype(float)
    values += 2 * (subject[:, None] != subject) * (1 if kind == "distance" else -1)
    share = rng.choice([0.05, 0.3, 0.6])
    for value, part in ((np.inf, 0.06), (-np.inf, 0.03), (np.nan, share)):
        values[rng.random(values.shape) < part] = value
    return {"values": values, "labels": subject}


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("way", ["listed", "few cells"])
@pytest.mark.parametrize(
    "rule", ["eer", "far=0.2", "far=1.0", "frr=0.1", "frr=0.5", "frr=1.0", "hter", "accuracy"]
)
@pytest.mark.cases(2)
def test_no_rule_chooses_a_threshold_that_accepts_failures(seed, kind, way, rule):
    """A threshold chosen on all data, and judged there; by all pairs of the list, too."""
    values, subject = failing(seed, kind).values()
    case = {
        "values": values.tolist(),
        "probe_labels": subject.tolist(),
        "kind": kind,
        "nan": "reject",
    }
    attempts = *naive.attempts_single(**case), kind
    threshold = naive.threshold_of(rule, *attempts)
    value = naive.far_at_frr(*attempts, float(rule[4:]))[0] if rule[:3] == "frr" else 0
    none = math.isnan(naive.eer(*attempts).value if rule == "eer" else value)
    off, mates = ~np.eye(len(values), dtype=bool), np.equal.outer(subject, subject)
    options = {"kind": kind, "nan": "reject"}
    pairs = be.Scores.from_pairs(values[off], mates[off], **options)
    for scores in (be.Scores(values, subject, **options), pairs):
        with counted_by(way):
            if none:
                with pytest.raises(be.ProtocolError, match="because none accepts"):
                    be.judge_threshold(scores, scores, rule, interval="wilson")
                continue
            ds = be.judge_threshold(scores, scores, rule, interval="wilson")
            check_points(be.verification(scores, **WANTED), *attempts)
        assert math.isnan(threshold) or ds.threshold == float(threshold)
        _, (fr,), (fa,), _ = naive.verification_counts(*attempts[:2], [threshold], kind)
        for part in ("train", "test"):
            of_part = ds.sel(part=part)
            assert (of_part.fa, of_part.fr, of_part.far) == (fa, fr, fa / len(attempts[1]))


def test_a_failed_genuine_attempt_bounds_frr():
    """FRR is never below 1/3: no threshold has FRR at most 10 %."""
    scores_and_classes = [0.9, 0.8, np.nan, 0.1, 0.2, 0.3], [1, 1, 1, 0, 0, 0]
    scores = be.Scores.from_pairs(*scores_and_classes, kind="similarity", nan="reject")
    ds = be.verification(scores, frr_targets=[0.1, 0.4])
    assert np.isnan(ds.far_at_frr[0]) and np.isnan(ds.threshold_at_frr[0])
    assert (ds.far_at_frr[1], ds.threshold_at_frr[1]) == (0, 0.8)
    assert ds.failed_attempts == 1
    words = r"failed attempts \(1 of 3 genuine and 0 of 3 impostor"
    with pytest.raises(be.ProtocolError, match=words):
        be.judge_threshold(scores, scores, "frr=0.1")
    study = be.study_threshold(scores, "frr=0.1", folds=2, repeats=1)
    assert np.isnan(study.threshold) and "no-threshold" in study.attrs["messages"]


def test_a_symmetric_matrix_counts_unordered_pairs_for_support():
    rng = np.random.default_rng(0)
    distances = rng.uniform(size=(60, 60))
    labels = np.repeat(np.arange(30), 2)
    both_ways = be.verification(be.Scores(distances + distances.T, labels))
    one_way = be.verification(be.Scores(distances, labels))
    assert (both_ways.expected_false_accepts * 2 == one_way.expected_false_accepts).all()
    # 30 people are 435 pairs, whatever their templates: 1,740 pairs of these, in one or two orders.
    for ds in (both_ways, one_way):
        support = [x.arguments["have"] for x in be.messages(ds) if x.code.startswith("target-")]
        assert support == [{"people": 30}] * 2


@pytest.mark.parametrize("targets", [[-0.1], [1.5], [np.nan], "x", [[0.1, 0.2]]])
def test_targets_are_rates(targets):
    for name in ("far_targets", "frr_targets"):
        with raises_about(be.DataError, name):
            be.verification(be.simulate(4, 2), **{name: targets})


@pytest.mark.parametrize("costs", [
    [(0.5, 1)], [(2, 1, 1)], [(0.5, -1, 1)], "abc", [[0.5, 1], [1, 0.5], [1, 1]], [0.5, 1] * 3,
])  # fmt: skip
def test_costs_are_rows_of_prior_and_two_costs(costs):
    with pytest.raises(be.DataError, match="costs"):
        be.verification(be.simulate(4, 2), costs=costs)


@pytest.mark.parametrize(
    "values", [[1 - 2**-53, 1.0], [5e-324, 1e-323], [0.5, 1.0], [3.0, 3.0], [1e308, 1.7e308]]
)
@pytest.mark.parametrize("way", WAYS)
def test_crowds_closer_than_any_cell_are_told_apart(values, way):
    rng = np.random.default_rng(0)
    genuine, impostor = rng.choice(values, 9).tolist(), rng.choice(values, 20).tolist()
    scores = be.Scores.from_pairs([*genuine, *impostor], np.arange(29) < 9)
    with counted_by(way):
        ds = be.verification(scores, **WANTED)
    check_points(ds, genuine, impostor, "distance")


STEPS = np.random.default_rng(3).integers(0, 9, 40) + 4.0 * (np.arange(40) > 14)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("form", ["matrix", "pairs"])
@pytest.mark.parametrize(
    ("genuine", "impostor"),
    [
        *(
            (origin + step * STEPS[:15], origin + step * STEPS[15:])
            for origin, step in (
                (1.0, 2.0**-50), (-3.0, 1e-13), (1e9, 1e-6), (0.0, 1e-165), (0.0, 1e-310),
                (0.0, 1e155), (1e300, 1e290), (0.0, 1e307),
            )
        ),
        ([1e-150, 3e-150], [1.0, 1.0]),
        ([0.5, 0.5], [1e-150, 2e-150]),
        ([-1.7e308, -1.6e308], [1.6e308, 1.7e308]),
        ([1e308, 1e308], [-1e308, -1e308, -1.1e308]),
        ([0.25, 0.25], [0.25, 0.25 + 2.0**-54]),
    ],
)  # fmt: skip
def test_d_prime_keeps_its_digits(genuine, impostor, form, kind):
    """Of scores that hardly differ, of any magnitude, and of very different spreads."""
    values, flags = [*genuine, *impostor], np.arange(len(genuine) + len(impostor)) < len(genuine)
    if form == "matrix":
        scores = be.Scores([values], ["a"], np.where(flags, "a", "b"), kind=kind)
    else:
        scores = be.Scores.from_pairs(values, flags, kind=kind)
    expected = naive.d_prime(genuine, impostor)
    assert float(be.verification(scores).d_prime) == pytest.approx(expected, rel=1e-12)


def test_rounding_does_not_choose_among_equal_costs():
    scores = [5, 3, 1, 3, 2, 3, 4, 0, 2, 3, 1, 5.0]
    flags = [1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0]
    ds = be.verification(be.Scores.from_pairs(scores, flags))
    assert ds.min_cost_threshold.item() == 0.0


@pytest.mark.parametrize("given", [{"far_targets": [1]}, {"far_targets": [0.1, 0.6]}])
def test_a_rate_that_may_be_meant_in_per_cent_is_warned_of(given):
    rate = given["far_targets"][-1]
    with pytest.warns(be.BioevalWarning, match=f"FAR {rate:g} is {100 * rate:g} %; for {rate:g} %"):
        be.verification(be.simulate(4, 2), **given)
    with pytest.warns(be.BioevalWarning, match="FRR 1 is 100 %"):
        be.by_group(be.simulate(4, 2), ["a"] * 8, threshold="frr=1")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "FA?RR? .* write")
        be.verification(be.simulate(4, 2), far_targets=[0.5], frr_targets=[0.0])
        be.by_group(be.simulate(4, 2), ["a"] * 8, threshold="far=100%")

"""Calibration against naive_calibration.py and scikit-learn: Cllr, costs, intervals."""

import math

import naive
import naive_calibration
import naive_limits
import numpy as np
import pytest
import strategies
from hypothesis import example, given, settings, strategies as st
from named_arguments import raises_about
from reference import one_thread  # noqa: F401
from result_messages import codes
from sklearn.base import clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import bioeval as be

PRIORS, COSTS = (0.5, 0.1, 0.01), (2.0, 1.0)
NAN = math.nan


def listed(scores: be.Scores) -> tuple[np.ndarray, np.ndarray]:
    """Genuine and impostor scores of an all-against-all matrix, in the user's units."""
    is_other_template = ~np.eye(len(scores.values), dtype=bool)
    mates = scores.probe_labels[:, None] == scores.gallery_labels
    return scores.values[mates & is_other_template], scores.values[~mates]


@pytest.fixture(scope="module")
def people() -> be.Scores:
    """Similarities of 12 subjects, rounded to have ties."""
    result = be.simulate(
        12, 3, model="gaussian-scores", kind="similarity", d_prime=1.5, random_state=4
    )
    return be.Scores(
        np.round(result.values.astype(float), 1), result.probe_labels, kind="similarity"
    )


@given(strategies.matrices(kinds=("llr",), dtypes=("float64",), masks=("none", "labelled")))
def test_ratios_are_those_of_the_definition(case):
    scores = be.Scores(**case.scores())
    scored, (genuine, impostor) = (  # failures: no threshold accepts them, their ratio is the least
        [
            [failed if x is naive.FAILED else x for x in side]
            for side in naive.attempts_single(**case.naive())
        ]
        for failed in (math.nan, -math.inf)
    )
    result = be.calibration(scores, PRIORS, costs=COSTS)
    assert (result.genuine_attempts, result.impostor_attempts) == (len(genuine), len(impostor))
    names = ("cllr", "min_cllr", "calibration_loss", "act_dcf", "min_dcf")
    if not genuine or not impostor:
        assert all(np.isnan(result[name]).all() for name in names)
        return
    close = dict(rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(result.cllr, naive_calibration.cllr(genuine, impostor), **close)
    np.testing.assert_allclose(
        result.min_cllr, naive_calibration.min_cllr(genuine, impostor), **close
    )
    for name, expected in (
        ("act_dcf", naive_calibration.act_dcf),
        ("min_dcf", naive_calibration.min_dcf),
    ):
        values = [expected(*scored, prior, COSTS) for prior in PRIORS]
        np.testing.assert_allclose(result[name], values, err_msg=name, **close)
    k = 17
    expected = naive_calibration.cross_entropy(genuine, impostor, result.prior_log_odds.values[k])
    np.testing.assert_allclose(result.ece[k], expected, **close)
    llr = result.llr.values[101:104]
    for name, values in (("genuine_above", genuine), ("impostor_above", impostor)):
        expected = [np.mean(np.array(values, dtype=float) > x) for x in llr]
        np.testing.assert_allclose(result[name][101:104], expected, atol=1e-15)


@settings(max_examples=strategies.examples_of(60))
@given(data=st.data())
def test_primary_cost_is_that_of_its_parts(data):
    drawn = strategies.matrices(kinds=("llr",), dtypes=("float64",), masks=("none", "labelled"))
    case = data.draw(drawn)
    scores = be.Scores(**case.scores())
    rows = naive.read(**case.naive()).rows
    attempts = tuple(
        [
            NAN if c.distance is naive.FAILED else -float(c.distance)
            for row in rows
            for c in row
            if c.mate is mate
        ]
        for mate in (True, False)
    )
    result = be.calibration(scores, PRIORS, costs=COSTS)
    if not all(attempts):
        assert np.isnan(result.c_primary) and np.isnan(result.min_c_primary)
        return
    expected = np.mean(
        [naive_calibration.primary(*attempts, prior, COSTS) for prior in PRIORS], axis=0
    )
    np.testing.assert_allclose([result.c_primary, result.min_c_primary], expected, rtol=1e-11)


@given(strategies.matrices(dtypes=("float64",), masks=("none", "alone")))
def test_other_kinds_have_the_minima_alone(case):
    result = be.calibration(be.Scores(**case.scores()), PRIORS)
    genuine, impostor = (
        [NAN if x is naive.FAILED else -naive.sign_of(case.kind) * x for x in side]
        for side in naive.attempts_single(**case.naive())
    )
    assert "cllr" not in result and "act_dcf" not in result
    if genuine and impostor:
        # What failed is the farthest.
        ratios = [[-math.inf if math.isnan(x) else x for x in side] for side in (genuine, impostor)]
        np.testing.assert_allclose(
            result.min_cllr, naive_calibration.min_cllr(*ratios), rtol=1e-11, atol=1e-12
        )
        expected = [
            naive_calibration.min_dcf(genuine, impostor, prior, (1.0, 1.0)) for prior in PRIORS
        ]
        np.testing.assert_allclose(result.min_dcf, expected, rtol=1e-11)


def test_blocks_are_those_of_isotonic_regression(people):
    genuine, impostor = listed(people)
    all_scores = np.concatenate([genuine, impostor])
    y = np.concatenate([np.ones(len(genuine)), np.zeros(len(impostor))])
    probabilities = np.unique(IsotonicRegression().fit(all_scores, y).predict(all_scores))[::-1]
    result = be.calibration(people)
    with np.errstate(divide="ignore"):
        expected = (
            np.log(probabilities)
            - np.log1p(-probabilities)
            - math.log(len(genuine) / len(impostor))
        )
    np.testing.assert_allclose(result.pav_llr, expected, atol=1e-9)
    np.testing.assert_allclose(
        result.min_cllr, naive_calibration.min_cllr(genuine.tolist(), impostor.tolist())
    )
    assert (np.diff(result.pav_llr) < 0).all()


@pytest.mark.parametrize("prior", [0.5, 0.03])
@pytest.mark.parametrize("kind", ["similarity", "distance"])
def test_the_logistic_map_is_that_of_scikit_learn(people, prior, kind):
    sign = 1 if kind == "similarity" else -1
    scores = be.Scores(sign * people.values, people.probe_labels, kind=kind)
    genuine, impostor = listed(scores)
    weights = [prior / len(genuine)] * len(genuine) + [(1 - prior) / len(impostor)] * len(impostor)
    classes = [1] * len(genuine) + [0] * len(impostor)
    all_scores = np.concatenate([genuine, impostor])[:, None]
    expected = LogisticRegression(C=1e12, tol=1e-12, max_iter=1000).fit(
        all_scores, classes, weights
    )
    result = be.Calibrator(prior=prior).fit(scores)
    offset = expected.intercept_[0] - math.log(prior / (1 - prior))
    np.testing.assert_allclose(
        [result.slope_, result.offset_], [expected.coef_[0, 0], offset], 1e-6
    )
    assert not result.separable_
    calibrated = result.transform(scores)
    np.testing.assert_allclose(calibrated.values, result.slope_ * scores.values + result.offset_)
    assert calibrated.kind == "llr" and calibrated.probe_labels is scores.probe_labels


def test_separable_classes_are_penalised_with_a_warning():
    labels = [1, 1, 1, 2, 2, 2]
    mates = np.equal.outer(labels, labels)
    rng = np.random.default_rng(0)
    values = np.where(mates, 10.0, 0.0) + rng.random((6, 6))
    scores = be.Scores(values, labels, kind="similarity")
    with pytest.warns(be.BioevalWarning):
        result = be.Calibrator().fit(scores)
    assert [message.code for message in result.remarks_] == ["training-scores-separable"]
    genuine, impostor = listed(scores)
    all_scores = np.concatenate([genuine, impostor])
    scaled = ((all_scores - all_scores.mean()) / all_scores.std())[:, None]
    weights = [0.5 / len(genuine)] * len(genuine) + [0.5 / len(impostor)] * len(impostor)
    classes = [1] * len(genuine) + [0] * len(impostor)
    expected = LogisticRegression(C=1 / 2e-6, tol=1e-12, max_iter=1000).fit(
        scaled, classes, weights
    )
    np.testing.assert_allclose(result.slope_, expected.coef_[0, 0] / all_scores.std(), rtol=1e-5)
    assert result.separable_
    new = be.Scores([[-np.inf, -5.0, 5.0, 50.0, np.inf]], [1], range(5), kind="similarity")
    # 12 genuine attempts above 18 others, and one of each class added at each end.
    ratios = be.Calibrator("pav").fit(scores).transform(new).values[0]
    top, bottom = math.log(13 / 1 * 18 / 12), math.log(1 / 19 * 18 / 12)
    np.testing.assert_allclose(ratios[[0, 1, 3, 4]], [bottom, bottom, top, top])


@given(case=strategies.matrices(dtypes=("float64",), sizes=((2, 2), (3, 1, 2))))
@example(
    case=strategies.Case(np.diag([5e-324, 0, 0], -1), [7, -3, 7, -3], None, "distance", "raise")
)
def test_pav_is_monotone_and_never_nan(case):
    scores = be.Scores(**case.scores())
    genuine, impostor = naive.attempts_single(**case.naive())
    if not genuine or not impostor:
        with pytest.raises(be.DataError, match="both classes"):
            be.Calibrator("pav").fit(scores)
        return
    fitted = be.Calibrator("pav").fit(scores)
    grid = np.sort([*np.linspace(-10, 10, 41), -np.inf, np.inf, -1e308, 1e308, *genuine, *impostor])
    new = be.Scores(grid[None], [0], range(len(grid)), kind=case.kind)
    ratios = fitted.transform(new).values[0]
    assert not np.isnan(ratios).any()
    assert np.isfinite(ratios).all()
    steps = -naive.sign_of(case.kind) * (
        ratios[1:] - np.nan_to_num(ratios[:-1], posinf=1e9, neginf=-1e9)
    )
    assert (steps[np.isfinite(ratios[1:])] >= -1e-9).all()
    # At the training scores it is the isotonic regression.
    sign = -naive.sign_of(case.kind)
    sides = [  # what failed is the farthest
        [-math.inf if s is naive.FAILED else sign * s for s in side] for side in (genuine, impostor)
    ]
    expected = naive_calibration.pav_ratios(*sides, laplace=True)
    all_scores = [-sign * math.inf if s is naive.FAILED else s for s in (*genuine, *impostor)]
    fitted_ratios = fitted.transform(
        be.Scores([all_scores], [0], range(len(all_scores)), kind=case.kind)
    ).values[0]
    np.testing.assert_allclose(fitted_ratios, [expected[sign * s] for s in all_scores], atol=1e-9)


def test_calibrators_are_clonable():
    again = clone(be.Calibrator("logistic", prior=0.2))
    assert again.get_params() == {"method": "logistic", "prior": 0.2}


def with_nan(scores):
    values = scores.values.copy()
    values[0, 1] = np.nan
    return values


ALIKE = be.Scores(np.ones((6, 6)), [1, 1, 2, 2, 3, 3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: be.Calibrator().transform(s), "not fitted"),
        (
            lambda s: be.Calibrator().fit(s).transform(s.replace(kind="distance")),
            "are distances, and the training scores were similarities",
        ),
        (lambda s: be.Calibrator(prior=1), "prior"),
        (lambda s: be.Calibrator("isotonic"), "'logistic', 'pav'"),
        (lambda s: be.Calibrator().fit(ALIKE), "all 30 scores .* are equal"),
        (
            lambda s: be.Calibrator().fit(s.with_values(with_nan(s), s.kind)),
            "1 NaN, the first at row 0, column 1",
        ),
        (
            lambda s: be.Calibrator().fit(be.Scores(s.values, s.probe_labels, kind="order")),
            "order",
        ),
    ],
)
def test_what_a_calibrator_refuses(people, call, message):
    with pytest.raises((be.DataError, be.ProtocolError), match=message):
        call(people)


def test_a_calibration_that_turns_the_order_is_told(people):
    upside_down = be.Scores(-people.values, people.probe_labels, kind="similarity")
    with pytest.warns(be.BioevalWarning):
        turned = be.Calibrator().fit(upside_down)
    assert [message.code for message in turned.remarks_] == ["calibration-turns-order"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"priors": [0.0]}, "`priors` is"),
        ({"priors": "many"}, "`priors` is"),
        ({"priors": [0.5, 0.5]}, "each prior once"),
        ({"costs": (1, 0)}, "`costs` is"),
    ],
)
def test_bad_options_are_refused(people, options, message):
    with pytest.raises(be.DataError, match=message):
        be.calibration(people, **options)


def test_infinite_ratios_cost_what_they_say():
    """A rejected comparison is a ratio of -inf: infinitely wrong where it is genuine."""
    values = [[0.0, np.nan, -1.0], [2.0, 0.0, -np.inf], [-1.0, -2.0, 0.0]]
    scores = be.Scores(values, ["a", "a", "b"], kind="llr", nan="reject")
    result = be.calibration(scores)
    assert result.cllr == np.inf and np.isfinite(result.min_cllr)
    by_code = {message.code: message.arguments for message in be.messages(result)}
    assert "1 genuine" in by_code["cllr-infinite"]["where"] and "cllr-above-1" in by_code
    right = be.calibration(be.Scores([[0, 2, -np.inf]] * 1, ["a"], ["b", "a", "c"], kind="llr"))
    np.testing.assert_allclose(right.cllr, naive_calibration.cllr([2.0], [0.0, -np.inf]))


def test_in_folds_nothing_is_learnt_from_the_test_part(people):
    folds = be.partition.SubjectKFold(3)
    result = be.cross_evaluate(people, folds, estimator=be.Calibrator(), threshold=0.0)
    subjects = np.unique(people.probe_labels)
    for k, test in enumerate(np.array_split(subjects, 3)):
        is_test = np.isin(people.probe_labels, test)
        train, test_scores = (people.select(which, which) for which in (~is_test, is_test))
        ratios = be.Calibrator().fit(train).transform(test_scores)
        of_one_prior = be.calibration(ratios, [0.5])
        np.testing.assert_allclose(result.cllr[0, k], of_one_prior.cllr)
        np.testing.assert_allclose(result.min_cllr[0, k], of_one_prior.min_cllr)
        np.testing.assert_allclose(2 * result.hter.sel(part="test")[0, k], of_one_prior.act_dcf[0])
    assert result.attrs["kind"] == "llr" and "Calibrator" in result.attrs["origin"]
    listed_ = be.Scores.from_pairs(*_as_pairs(people), kind="similarity")
    steps = be.partition.SampleKFold(3, shuffle=True, random_state=0, stratify=None)
    by_pair = be.cross_evaluate(listed_, steps, estimator=be.Calibrator(), threshold="eer")
    assert np.isfinite(by_pair.cllr).all() and by_pair.attrs["sizes_are_of"] == "pairs"
    with pytest.raises(be.DataError, match="y is given with Scores"):
        be.cross_evaluate(people, folds, estimator=be.Calibrator(), y=people.probe_labels)


def _as_pairs(scores):
    genuine, impostor = listed(scores)
    return np.concatenate([genuine, impostor]), [1] * len(genuine) + [0] * len(impostor)


METHODS = ["subject-bootstrap"]


def replicates_by_loop(attempts, weights):
    """Return Cllr in each column of weights; `attempts` are (ratio, probe, claimed)."""
    people = sorted({who for _, *both in attempts for who in both})
    place = {who: i for i, who in enumerate(people)}
    replicates = []
    for column in weights.T.astype(float):
        sums = {True: [0.0, 0.0], False: [0.0, 0.0]}
        for ratio, probe, claimed in attempts:
            if ratio != ratio:
                continue
            same = probe == claimed
            weight = column[place[probe]] * (1 if same else column[place[claimed]])
            loss = math.log2(1 + math.exp(-ratio if same else ratio))
            sums[same][0] += weight * loss
            sums[same][1] += weight
        if sums[True][1] and sums[False][1]:
            replicates.append(sum(loss / number for loss, number in sums.values()) / 2)
        else:
            replicates.append(math.nan)
    return np.array(replicates)


def trials(seed, people=7, dtype=float, holes=False):
    """Return attempts as lines, and as scores: unequal numbers, and people of a single side."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(150):
        enrolled, probe = (f"s{i}" for i in rng.integers(0, people, 2))
        ratio = rng.normal(1.5 if enrolled == probe else -1.0, 2)
        lines.append((float(dtype(ratio)), probe, enrolled))
    if holes:
        lines[3] = (math.nan, *lines[3][1:])
    scores = be.Scores.from_pairs(
        np.array([x for x, *_ in lines], dtype=dtype), [a == b for _, a, b in lines],
        kind="llr", subjects=[[b, a] for _, a, b in lines], nan="exclude" if holes else "raise",
    )  # fmt: skip
    return lines, scores


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "holes"), [(float, False), (np.float32, True)])
def test_limits_are_those_of_the_replicates(method, dtype, holes):
    lines, scores = trials(1, dtype=dtype, holes=holes)
    options = be.stats.IntervalMethod(method, 0.9, 200, 5)
    expected = replicates_by_loop(lines, options.weights(7))
    ds = be.calibration(
        scores,
        interval=be.stats.IntervalMethod(method, confidence=0.9, replicates=200, random_state=5),
    )
    assert ds.cllr.item() == pytest.approx(expected[0], abs=1e-12)
    low, high = np.nanquantile(expected[1:], [0.05, 0.95])
    assert ds.cllr_low.item() == pytest.approx(float(low), abs=1e-12)
    assert ds.cllr_high.item() == pytest.approx(float(high), abs=1e-12)
    assert ds.cllr_low < ds.cllr < ds.cllr_high
    assert ds.attrs["interval_method"] == method and ds.attrs["replicates"] == 200


def test_limits_are_those_of_leaving_out_each_person():
    """Cllr has no largest value: Student's limits on its own scale."""
    _, scores = trials(1)
    ds = be.calibration(scores, interval="people")
    subjects = np.asarray(scores.pair_subjects)
    people = np.unique(subjects)
    rows_without = [np.flatnonzero((subjects != person).all(axis=1)) for person in people]
    columns = [
        ds.cllr.item(),
        *(be.calibration(scores.select(x)).cllr.item() for x in rows_without),
    ]
    low, high, _ = naive_limits.plain(columns)
    expected = max(low, 0.0), high
    assert (ds.cllr_low.item(), ds.cllr_high.item()) == pytest.approx(expected, abs=1e-9)
    assert ds.attrs["interval_method"] == "people" and "replicates" not in ds.attrs


def test_a_matrix_and_its_list_have_the_same_limits():
    scores = be.simulate(12, 3, random_state=1)
    ratios = be.Calibrator().fit(be.simulate(12, 3, random_state=2)).transform(scores)
    options = {"interval": be.stats.IntervalMethod(METHODS[0], replicates=100)}
    ds = be.calibration(ratios, **options)
    assert ds.cllr_low < ds.cllr < ds.cllr_high
    i, j = np.nonzero(~np.eye(36, dtype=bool))
    of_list = be.calibration(ratios.at_pairs(i, j), **options)
    for name in ("cllr", "cllr_low", "cllr_high", "act_dcf_low", "act_dcf_high"):
        np.testing.assert_allclose(of_list[name], ds[name], rtol=0, atol=1e-9)


def test_limits_of_a_cost_are_those_of_its_rates():
    """As of the threshold that `judge_threshold` is given."""
    _, scores = trials(2, people=30)
    method = be.stats.IntervalMethod(METHODS[0], replicates=300)
    ds = be.calibration(scores, [0.5, 0.1], costs=(2, 1), interval=method)
    for k, prior in enumerate((0.5, 0.1)):
        judged = be.judge_threshold(
            scores.replace(name="train"), scores, f"cost={prior},2,1", interval=method
        )
        bayes = float(ds.bayes_threshold[k])
        rates = be.verification(scores, thresholds=[bayes], far_targets=(), interval=method)
        assert ds.frr_at_bayes[k] == rates.frr[0] and ds.far_at_bayes[k] == rates.far[0]
        trivial = min(2 * prior, 1 - prior)
        ends = {}
        for end in ("", "_low", "_high"):
            ends[end] = (
                2 * prior / trivial * rates[f"frr{end}"].item(),
                (1 - prior) / trivial * rates[f"far{end}"].item(),
            )
        value = sum(ends[""])
        low = value - math.hypot(*(a - b for a, b in zip(ends[""], ends["_low"], strict=True)))
        high = value + math.hypot(*(b - a for a, b in zip(ends[""], ends["_high"], strict=True)))
        assert ds.act_dcf[k].item() == pytest.approx(value)
        assert ds.act_dcf_low[k].item() == pytest.approx(low)
        assert ds.act_dcf_high[k].item() == pytest.approx(high)
        assert (judged.dcf <= value + 1e-12).all()  # its threshold is the best of the same scores


def test_few_people_infinite_ratios_and_one_subject():
    _, scores = trials(3, people=4)
    ds = be.calibration(scores, interval=be.stats.IntervalMethod(METHODS[0], replicates=100))
    assert "interval-of-few-subjects" in codes(ds)
    values = scores.values.copy()
    values[np.flatnonzero(scores.genuine)[0]] = -np.inf
    infinite = be.calibration(
        scores.with_values(values, "llr"),
        interval=be.stats.IntervalMethod(METHODS[0], replicates=100),
    )
    assert np.isinf(infinite.cllr) and np.isnan(infinite.cllr_low) and np.isnan(infinite.cllr_high)
    scores_of_one_subject = be.Scores.from_pairs(
        [1.0, 2.0], [1, 1], kind="llr", subjects=[["a", "a"]] * 2
    )
    of_one_subject = be.calibration(
        scores_of_one_subject, interval=be.stats.IntervalMethod(METHODS[0], replicates=100)
    )
    assert np.isnan(of_one_subject.cllr) and np.isnan(of_one_subject.cllr_low)


def test_what_is_refused():
    lines, scores = trials(4)
    with raises_about(be.ProtocolError, "interval"):
        be.calibration(scores.with_values(scores.values, "similarity"), interval=METHODS[0])
    unknown = be.Scores.from_pairs(scores.values, scores.genuine, kind="llr")
    with raises_about(be.ProtocolError, "interval") as refused:
        be.calibration(unknown, interval=METHODS[0])
    assert "wilson" not in str(refused.value)
    with raises_about(be.DataError, "interval"):
        be.calibration(scores, interval="wilson")


def test_the_reference_is_the_entropy_of_the_prior_in_bits(people):
    ds = be.calibration(people)
    for odds, entropy in zip(ds.prior_log_odds.values, ds.reference_ece.values, strict=True):
        prior = 1 / (1 + math.exp(-odds))
        bits = -prior * math.log2(prior) - (1 - prior) * math.log2(1 - prior)
        assert entropy == pytest.approx(bits, abs=1e-12)

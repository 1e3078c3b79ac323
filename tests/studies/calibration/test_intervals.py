"""Intervals of Cllr and of actual costs, against plain loops."""

import math

import naive_limits
import numpy as np
import pytest
import scipy
from named_arguments import raises_about
from result_messages import codes

import bioeval as be

METHODS = ["subject-bootstrap"]


def replicates_by_loop(attempts, weights):
    """Return Cllr in each column of weights; `attempts` are (ratio, probe, claimed)."""
    people = sorted({who for _, *both in attempts for who in both})
    place = {who: i for i, who in enumerate(people)}
    made = []
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
            made.append(sum(loss / number for loss, number in sums.values()) / 2)
        else:
            made.append(math.nan)
    return np.array(made)


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
    kept = [np.flatnonzero((subjects != person).all(axis=1)) for person in people]
    columns = [ds.cllr.item(), *(be.calibration(scores.select(x)).cllr.item() for x in kept)]
    variance, freedom = naive_limits.jackknife(columns)
    half = scipy.stats.t.ppf(0.975, freedom) * math.sqrt(variance)
    expected = max(columns[0] - half, 0.0), columns[0] + half
    assert (ds.cllr_low.item(), ds.cllr_high.item()) == pytest.approx(expected, abs=1e-9)
    assert ds.attrs["interval_method"] == "people" and "replicates" not in ds.attrs


def test_a_matrix_and_its_list_have_the_same_limits():
    scores = be.simulate(12, 3, random_state=1)
    ratios = be.Calibrator().fit(be.simulate(12, 3, random_state=2)).transform(scores)
    options = {"interval": be.stats.IntervalMethod(METHODS[0], replicates=100)}
    ds = be.calibration(ratios, **options)
    assert ds.cllr_low < ds.cllr < ds.cllr_high
    i, j = np.nonzero(~np.eye(36, dtype=bool))
    listed = be.calibration(ratios.at_pairs(i, j), **options)
    for name in ("cllr", "cllr_low", "cllr_high", "act_dcf_low", "act_dcf_high"):
        np.testing.assert_allclose(listed[name], ds[name], rtol=0, atol=1e-9)


def test_limits_of_a_cost_are_those_of_its_rates():
    """As of the threshold that `judge_threshold` is given."""
    _, scores = trials(2, people=30)
    method = be.stats.IntervalMethod(METHODS[0], replicates=300)
    ds = be.calibration(scores, [0.5, 0.1], costs=(2, 1), interval=method)
    for k, prior in enumerate((0.5, 0.1)):
        judged = be.judge_threshold(
            scores.replace(name="dev"), scores, f"cost={prior},2,1", interval=method
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
        assert judged.dcf <= value + 1e-12  # its threshold is the best of the same scores


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
    alone = be.Scores.from_pairs([1.0, 2.0], [1, 1], kind="llr", subjects=[["a", "a"]] * 2)
    one = be.calibration(alone, interval=be.stats.IntervalMethod(METHODS[0], replicates=100))
    assert np.isnan(one.cllr) and np.isnan(one.cllr_low)


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

"""FAR by a model of the closest impostors: against a slow twin, and what is refused."""

from __future__ import annotations

import math

import naive_extrapolated as twin
import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.colors import to_rgb

import bioeval as be
from bioeval.stats.options import IntervalOptions


def drawn(
    people: int = 20, seed: int = 0, each: int = 6, metric: str = "l2", dimensions: int = 6
) -> be.Scores:
    """Embeddings of people."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(people), each)
    x = rng.normal(size=(people, dimensions))[labels]
    x = x + 0.7 * rng.normal(size=(len(labels), dimensions))
    return be.Scores.from_embeddings(x, labels, metric=metric)


def codes(result) -> list[str]:
    """The codes of the messages of a result."""
    return [message.code for message in be.messages(result)]


def near(scores: be.Scores, *proportions: float) -> np.ndarray:
    """Distances of which these proportions of the impostor attempts are within."""
    d = [d for d, _, _ in twin.impostors(scores.values, scores.probe_labels.tolist())]
    return np.quantile(d, proportions)


def plain(scores: be.Scores) -> be.Scores:
    """The same matrix without where it came from."""
    return be.Scores(scores.values, scores.probe_labels)


@pytest.mark.parametrize("metric", ["l2", "l1", "linf", "cosine"])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
@pytest.mark.cases(1)
def test_power_laws_are_those_of_the_definition(metric, confidence):
    scores = drawn(seed=1, metric=metric)
    at = near(scores, 0.003, 0.008, 0.02)
    result = be.extrapolate_far(scores, at, confidence=confidence)
    pairs = twin.impostors(scores.values, scores.probe_labels.tolist())
    expected = np.array([twin.power_law(pairs, x, confidence) for x in at])
    assert np.isfinite(expected[1:]).all()
    np.testing.assert_allclose(result.far, expected[:, 0], rtol=1e-9)
    np.testing.assert_allclose(result.far_low, expected[:, 1], rtol=1e-8)
    np.testing.assert_allclose(result.far_high, expected[:, 2], rtol=1e-8)
    assert codes(result)[0] == "extrapolated"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_the_pareto_tail_is_that_of_the_definition(kind):
    scores = plain(drawn(seed=2))
    at = near(scores, 0.005, 0.01, 0.02)
    pairs = twin.impostors(scores.values, scores.probe_labels.tolist())
    weights = IntervalOptions.parse("subject-bootstrap", 0.95, 100, 5).weights(20)[:, 1:]
    by_person = dict(enumerate(weights.tolist()))
    expected = [twin.generalised_pareto(pairs, x, 0.9, by_person) for x in at]
    if kind == "similarity":
        scores = be.Scores(-scores.values, scores.probe_labels, kind=kind)
        at, expected = -at[::-1], expected[::-1]
    result = be.extrapolate_far(scores, at, confidence=0.9, replicates=100, random_state=5)
    np.testing.assert_allclose(result.far_high, expected, rtol=1e-9)
    assert np.isnan(result.far).all()
    assert np.isnan(result.far_low).all()
    assert "upper limit alone" in result.attrs["model"]


def test_a_hand_example():
    """With each distance of a person and the next slightly apart, the tail is a known one."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), 2)
    n = len(labels)
    i, j = np.triu_indices(n, 1)
    different = labels[i] != labels[j]
    # The impostor distances are (k / N) ** (1 / 4) for k = 1 ... N: FAR(t) = t^4.
    total = int(different.sum())
    d = np.zeros((n, n))
    d[i[different], j[different]] = (rng.permutation(total) + 1) ** 0.25 / total**0.25
    scores = be.Scores(d + d.T, labels)
    result = be.extrapolate_far(scores, [0.2, 0.25, 0.3], zero=True)
    # Of 3,120 the closest 32 and 94 are the tails: fewer than 50 pairs.
    assert total == 3120
    assert codes(result) == ["extrapolated", "tail-too-small"]
    assert be.messages(result)[1].arguments["pairs"] == 32
    assert np.isnan(result.far).all()
    twice = np.repeat(np.repeat(d + d.T, 2, 0), 2, 1)
    twice = twice * (1 + 1e-6 * (lambda x: x + x.T)(rng.random(twice.shape)))
    result = be.extrapolate_far(be.Scores(twice, np.repeat(labels, 2)), [0.2, 0.25, 0.3], zero=True)
    # K / sum ln(u / d) of the places 1 ... K among N: 4 within 5 %; so is FAR = t^4.
    np.testing.assert_allclose(result.far[1:], [0.25**4, 0.3**4], rtol=0.1)
    assert (result.far_low < result.far).sum() == 3
    assert codes(result) == ["extrapolated"]


@pytest.mark.slow
def test_rules_find_the_loosest_threshold():
    scores = drawn(40, seed=3)
    for same, options in ((scores, {}), (plain(scores), {"replicates": 200})):
        result = be.extrapolate_far(same, "far=0.003", **options)
        t = result.threshold.item()
        assert result.far_high.item() == pytest.approx(0.003, rel=1e-9)
        around = be.extrapolate_far(same, [t * (1 - 1e-6), t * (1 + 1e-6)], **options)
        assert around.far_high[0] <= 0.003 < around.far_high[1]
    turned = be.Scores(-scores.values, scores.probe_labels, kind="similarity")
    same = be.extrapolate_far(turned, ("far", 0.003), replicates=200)
    assert same.threshold.item() == pytest.approx(-t)


@pytest.mark.slow
def test_a_matrix_is_natural_only_if_said():
    scores = drawn(30, seed=4)
    at = near(scores, 0.005)
    assert np.isfinite(be.extrapolate_far(scores, at).far).all()
    assert np.isnan(be.extrapolate_far(plain(scores), at).far).all()
    forced = be.extrapolate_far(plain(scores), at, zero=True)
    np.testing.assert_array_equal(forced.far_high, be.extrapolate_far(scores, at).far_high)
    fused = be.fuse({"a": scores, "b": plain(scores)})
    assert "upper limit alone" in be.extrapolate_far(fused, at).attrs["model"]


def test_probes_of_other_people_than_the_gallery():
    """The gallery stays, and the probe people are left out in turn."""
    rng = np.random.default_rng(5)
    x = np.repeat(rng.normal(size=(45, 5)), 6, 0) + 0.5 * rng.normal(size=(270, 5))
    labels = np.repeat(np.arange(45), 6)
    d = np.linalg.norm(x[:120, None] - x[None, 120:], axis=2)
    scores = be.Scores(d, labels[:120], labels[120:])
    at = np.quantile(d, 0.004)
    result = be.extrapolate_far(scores, at, zero=True)
    without = []
    for tail in (0.01, 0.03):
        u = np.quantile(d, tail, method="inverted_cdf")
        rates = []
        for person in range(20):
            own = d[labels[:120] != person].ravel()
            tailed = own[own <= u]
            a = len(tailed) / np.log(u / tailed).sum()
            rates.append(math.log(len(tailed) / len(own)) + a * math.log(at / u))
        own = d.ravel()[d.ravel() <= u]
        far = math.log(len(own) / d.size) + len(own) / np.log(u / own).sum() * math.log(at / u)
        s = math.sqrt(19 * np.var(rates))
        without.append(far + twin.student.ppf(0.975, 19) * s)
    assert result.far_high.item() == pytest.approx(math.exp(max(without)), rel=1e-9)
    assert result.attrs["independent_pairs"] == 20


def refusals():
    scores = drawn(20, seed=6)
    zero = scores.values.copy()
    zero[0, 10] = zero[10, 0] = zero[3, 30] = zero[30, 3] = 0
    d, labels = scores.values, scores.probe_labels
    small = d[:60, :60]
    one = d + 5.0
    one[labels == 0] -= 4.9
    one[:, labels == 0] -= 4.9
    return {
        "impostors-at-zero": be.Scores(zero, labels),
        "tail-too-small": be.Scores(small, labels[:60]),
        "closest-impostors-tied": be.Scores(np.round(d, 2), labels),
        "people-on-both-sides": be.Scores(d[:60], labels[:60], labels),
        "model-too-uncertain": be.Scores(np.abs(one), labels),
    }


@pytest.mark.parametrize("code", refusals())
def test_what_is_refused_has_a_reason(code):
    scores = refusals()[code]
    result = be.extrapolate_far(scores, np.quantile(scores.values, 0.004), zero=True)
    assert codes(result) == ["extrapolated", code]
    for name in ("far", "far_low", "far_high"):
        assert np.isnan(result[name]).all()


def test_thresholds_are_refused_one_by_one():
    scores = drawn(30, seed=7)
    at = [-1.0, 0.0, *near(scores, 0.004), 100.0]
    result = be.extrapolate_far(scores, at)
    assert np.isnan(result.far).values.tolist() == [True, True, False, True]
    refused = {x.code: x.arguments.get("refused") for x in be.messages(result)[1:]}
    assert refused == {"looser-than-the-tail": 1, "thresholds-at-zero": 2}


def test_a_target_below_a_hundredth_of_the_people_is_refused():
    scores = drawn(30, seed=7)
    result = be.extrapolate_far(scores, "far=1e-6")
    assert codes(result) == ["extrapolated", "too-deep-to-extrapolate"]
    assert be.messages(result)[1].arguments["people"] == 20_000
    assert np.isnan(result.threshold).all()
    assert "far-is-measured" in codes(be.extrapolate_far(scores, "far=0.05"))


@pytest.mark.parametrize(
    ("thresholds", "options", "match"),
    [
        ("eer", {}, "thresholds is eer; expected a FAR"),
        ("far=0", {}, "expected a FAR above 0"),
        (None, {}, "give one or several numbers"),
        ([2.0, 1.0], {}, "do not increase"),
        (1.0, {"confidence": 1}, "confidence is 1"),
        (1.0, {"zero": "yes"}, "zero is 'yes'"),
        (1.0, {"replicates": 3}, "replicates"),
    ],
)
def test_wrong_input(thresholds, options, match):
    with pytest.raises(be.DataError, match=match):
        be.extrapolate_far(drawn(), thresholds, **options)


def test_similarities_have_no_zero_and_lists_need_people():
    scores = be.Scores(-drawn().values, drawn().probe_labels, kind="similarity")
    with pytest.raises(
        be.DataError, match="of scores of kind similarity; expected True, of distances"
    ):
        be.extrapolate_far(scores, -1.0, zero=True)
    with pytest.raises(be.DataError, match="rests on the number of people"):
        be.extrapolate_far(be.Scores.from_pairs([0.1, 0.2, 0.3], [1, 0, 0]), 0.1)


def test_a_list_has_what_its_matrix_has():
    scores = drawn(20, seed=8)
    n = len(scores.probe_labels)
    i, j = np.triu_indices(n, 1)
    who = np.stack([scores.probe_labels[i], scores.probe_labels[j]], axis=1)
    listed = be.Scores.from_pairs(scores.values[i, j], who[:, 0] == who[:, 1], subjects=who)
    at = near(scores, 0.005)
    result, expected = (be.extrapolate_far(x, at, zero=True) for x in (listed, plain(scores)))
    assert result.far_high.item() == pytest.approx(expected.far_high.item(), rel=1e-12)


@pytest.mark.slow
@given(st.integers(0, 50), st.floats(0.1, 10))
def test_scale_does_not_matter_and_limits_enclose(seed, factor):
    scores = drawn(20, seed=seed)
    at = near(scores, 0.004, 0.01, 0.02)
    result = be.extrapolate_far(scores, at)
    assert (np.diff(result.far.values[np.isfinite(result.far)]) > 0).all()
    kept = np.isfinite(result.far.values)
    assert (result.far_low <= result.far).values[kept].all()
    assert (result.far <= result.far_high).values[kept].all()
    scaled = be.Scores(factor * scores.values, scores.probe_labels)
    other = be.extrapolate_far(scaled, factor * at, zero=True)
    np.testing.assert_allclose(other.far_high, result.far_high, rtol=1e-6)


@pytest.mark.parametrize("kind", ["natural", "distance", "similarity"])
@pytest.mark.cases(2)
def test_what_is_drawn_is_the_model_and_what_was_measured(kind):
    scores = drawn(people=30, seed=3)
    if kind != "natural":
        sign = 1 if kind == "distance" else -1
        scores = be.Scores(sign * scores.values, scores.probe_labels, kind=kind)
    result = be.extrapolate_far(scores, "far=0.01")
    at = result.model_threshold.values
    assert (np.diff(at) > 0).all()
    again = be.extrapolate_far(scores, at)
    for name in ("far", "far_low", "far_high"):
        np.testing.assert_allclose(result[f"model_{name}"], again[name], rtol=1e-12)
    pairs = twin.impostors(scores.values, scores.probe_labels.tolist())
    accepted = [
        sum(d >= t if kind == "similarity" else d <= t for d, _, _ in pairs) / len(pairs)
        for t in at.tolist()
    ]
    np.testing.assert_allclose(result.measured_far, accepted, rtol=1e-12)
    assert accepted[-1 if kind != "similarity" else 0] >= 0.03
    display = be.plot.extrapolated_far(result)
    lines = {line.get_label(): line for line in display.ax_.get_lines()}
    name, drawn_far = "FAR, model, not measured", result.model_far
    if kind != "natural":
        name, drawn_far = "upper limit at 95 %, model, not measured", result.model_far_high
    np.testing.assert_array_equal(lines[name].get_ydata(), drawn_far)
    assert lines[name].get_linestyle() == "--"
    measured = lines["FAR, measured"]
    assert to_rgb(measured.get_color()) == to_rgb("#D55E00") != to_rgb(lines[name].get_color())
    assert measured.get_linestyle() == "--"


def test_a_refusal_draws_its_reason():
    refused = be.extrapolate_far(drawn(people=4), "far=0.001")
    assert refused.sizes["model"] == 0
    assert be.plot.extrapolated_far(refused).why_empty == be.messages(refused)[1].sentence

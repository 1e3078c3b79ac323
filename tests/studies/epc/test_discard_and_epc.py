"""Error against discard and expected performance, held to their definitions."""

import math

import matplotlib as mpl
import naive
import naive_groups
import numpy as np
import pytest
import strategies as cases
from hypothesis import example, given, settings, strategies as st
from result_messages import codes
from twins import floats, one_thread  # noqa: F401

import bioeval as be

FRACTIONS = (0.0, 0.1, 0.25, 0.29, 0.5, 1.0)
ALPHAS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0)


@st.composite
def discards(draw):
    """Draw a case, the qualities of its probes and its gallery, and a threshold."""
    case = draw(cases.matrices(dtypes=cases.FLOATS, masks=("none", "labelled")))
    m, n = case.values.shape
    few = st.sampled_from((0.0, 1.0, 1.5, -2.0, math.inf))
    probe = draw(st.lists(few, min_size=m, max_size=m))
    gallery = probe if case.square else draw(st.lists(few, min_size=n, max_size=n))
    return case, probe, gallery, draw(cases.thresholds(case, max_size=1)).item()


#: Half floats that are all 0: none is accepted at the smallest number above 0.
ZEROS = cases.Case(np.zeros((3, 3), np.float16), ["a"] * 3, None, "similarity", "raise")


@settings(max_examples=cases.examples_of(20))
@given(drawn=discards())
@example(drawn=(ZEROS, [0.0] * 3, [0.0] * 3, 5e-324))
def test_discarding_is_as_defined(drawn):
    case, probe, gallery, at = drawn
    m, n = case.values.shape
    given_quality = probe if case.square else (probe, gallery)
    ds = be.error_discard(
        be.Scores(**case.scores()), given_quality, threshold=at, fractions=FRACTIONS
    )
    read = naive.read(**case.naive())
    result = [
        naive_groups.error_discard(read, (probe, gallery), at, f, case.kind) for f in FRACTIONS
    ]
    for name in ("discarded", "genuine_attempts", "impostor_attempts", "fr", "fa", "frr", "far"):
        np.testing.assert_array_equal(ds[name], floats([x[name] for x in result]), err_msg=name)
    area = naive_groups.pauc(FRACTIONS, [x["frr"] for x in result])
    np.testing.assert_allclose(ds.pauc, float(area), rtol=1e-12)
    assert ds.samples.item() == (m if case.square else m + n)


@pytest.fixture(scope="module")
def scores():
    return be.simulate(40, 5, random_state=3)


def test_fractions_count_samples_by_their_decimal_value(scores):
    view = scores.select(probes=range(100), gallery=range(100))
    ds = be.error_discard(view, ([0.0] * 100,) * 2, threshold=4.0, fractions=[0.29, 0.57, 0.58])
    assert ds.discarded.values.tolist() == [29, 57, 58]
    # All alike: the first are discarded.
    kept = scores.select(probes=range(29, 100), gallery=range(29, 100))
    assert ds.frr[0] == be.verification(kept, thresholds=[4.0]).frr.item()


def test_a_rule_is_applied_to_all_attempts(scores):
    quality = np.arange(200.0)
    ds = be.error_discard(scores, quality, threshold="far=0.01")
    whole = be.verification(scores, far_targets=[0.01])
    assert ds.threshold == whole.threshold_at_far[0] and ds.frr[0] == whole.frr_at_far[0]
    assert ds.sizes["fraction"] == 51 and "optimistic" in ds.attrs["chosen_on"]


def test_qualities_as_text_in_a_column(scores):
    meta = {"sharp": [str(x) for x in range(200)]}
    made = be.Scores(scores.values, scores.probe_labels, probe_meta=meta)
    ds = be.error_discard(made, "sharp", threshold=4.0)
    expected = be.error_discard(scores, np.arange(200), threshold=4.0)
    np.testing.assert_array_equal(ds.frr, expected.frr)


@pytest.mark.parametrize(
    ("quality", "options", "message"),
    [
        ("sharp", {}, "'sharp', but the metadata have no such column; probes and gallery have no"),
        ([math.nan] * 200, {}, "200 missing values"),
        (["a"] * 200, {}, "`quality` is 'a' at position 0"),
        (["1"] * 199 + ["nan"], {}, "`quality` is 'nan' at position 199"),
        ([1.0] * 7, {}, "7 values; expected 200"),
        ([1.0] * 200, {"fractions": [0.2, 0.1]}, "`fractions` is .*increasing"),
        ([1.0] * 200, {"fractions": [1.1]}, "from 0 to 1"),
        ([1.0] * 200, {"fractions": []}, "from 0 to 1"),
        ([1.0] * 200, {"threshold": "eerr"}, "`threshold` is 'eerr'"),
        (([1.0] * 200, [2.0] * 200), {}, "200 templates that are on both sides have two qualities"),
    ],
)
def test_wrong_qualities_are_named(scores, quality, options, message):
    with pytest.raises(be.DataError, match=message):
        be.error_discard(scores, quality, **({"threshold": 4.0} | options))


def test_pairs_have_no_samples_to_discard():
    with pytest.raises(be.ProtocolError, match="error against discard needs a matrix"):
        be.error_discard(be.Scores.from_pairs([0.1], [True]), ([1], [1]), threshold=1.0)


def test_nothing_left_is_not_a_rate(scores):
    ds = be.error_discard(scores, np.arange(200), threshold=4.0, fractions=[0.5, 1])
    assert np.isnan(ds.frr[1]) and ds.genuine_attempts[1] == 0
    early = be.error_discard(scores, np.arange(200), threshold=4.0, fractions=[0.1])
    assert codes(early) == ["pauc-undefined"]
    none = be.error_discard(scores, np.arange(200), threshold=1e9)
    assert codes(none) == ["pauc-undefined", "threshold-beyond-scores"]


@settings(max_examples=8)
@given(data=st.data())
def test_epc_is_as_defined(data):
    kind = data.draw(st.sampled_from(("distance", "similarity")))
    train, test = (
        data.draw(cases.matrices(kinds=(kind,), dtypes=("float64",), masks=("none", "labelled")))
        for _ in range(2)
    )
    ds = be.epc(be.Scores(**train.scores()), be.Scores(**test.scores()), alphas=ALPHAS)
    made = [naive.attempts_single(**case.naive()) for case in (train, test)]
    expected = [naive_groups.epc(*made, kind, alpha) for alpha in ALPHAS]
    for name, values in zip(("threshold", "far", "frr"), zip(*expected, strict=True), strict=True):
        values = list(values)
        if not all(made[0]):
            values = [math.nan] * len(ALPHAS)
        np.testing.assert_array_equal(ds[name], floats(values), err_msg=name)
    np.testing.assert_array_equal(ds.hter, (ds.far + ds.frr) / 2)


def test_ties_of_epc_are_exact_and_go_to_the_stricter():
    genuine, impostor = [1.0, 2.0, 4.0], [3.0] * 3 + [9.0] * 4
    train = be.Scores.from_pairs(genuine + impostor, [True] * 3 + [False] * 7)
    expected = naive_groups.epc((genuine, impostor), (genuine, impostor), "distance", 0.4375)
    ds = be.epc(train, train, alphas=[0.4375])
    # 0.4375 * 3 / 7 = 0.1875 = 0.5625 / 3: accepting 4.0 costs what rejecting it saves.
    assert ds.threshold.item() == expected[0] == 2.0 and ds.least_error.dtype == np.float64
    loose = be.epc(train, train, alphas=[0.4374])
    assert loose.threshold.item() == 4.0
    # By decimal value: 0.7 * 1 / 7 = 0.3 / 3.
    pairs = be.Scores.from_pairs([1.0, 2.0, 4.0, 3.0, *[9.0] * 6], [True] * 3 + [False] * 7)
    assert be.epc(pairs, pairs, alphas=[0.7]).threshold.item() == 2.0


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("distance", {"alphas": [0.5, 0.4]}, "`alphas` is .*increasing"),
        ("distance", {"alphas": [-0.1]}, "from 0 to 1"),
        ("distance", {"alphas": "x"}, "`alphas` is 'x'"),
        ("similarity", {}, "`train` holds distance scores and `test` similarity scores"),
    ],
)
def test_what_epc_refuses(scores, kind, options, message):
    test = be.Scores(scores.values, scores.probe_labels, kind=kind)
    with pytest.raises(be.DataError, match=message):
        be.epc(scores, test, **options)


def test_epc_without_a_class_is_not_defined(scores):
    alone = be.Scores(np.ones((3, 3)), ["a", "b", "c"])
    ds = be.epc(alone, scores, alphas=[0.5])
    assert np.isnan(ds.hter).all() and np.isnan(ds.threshold).all()
    found = [(m.code, m.about) for m in be.messages(ds)]
    assert ("no-attempt", ("training set",)) in found
    ds = be.epc(scores, alone, alphas=[0.5])
    assert np.isnan(ds.frr).all() and not np.isnan(ds.far).any()


def test_a_test_set_that_is_the_training_set_is_told(scores):
    (message,) = be.messages(be.epc(scores, scores, alphas=[0.5]))
    assert (message.code, message.arguments["who"]) == ("people-of-both-sets", "all attempts")


def words(display):
    return " ".join(text.get_text() for text in display.figure_.findobj(mpl.text.Text))


def test_epc_draws_several_systems(scores):
    other = be.simulate(40, 4, random_state=4)
    a, b = be.epc(scores, other), be.epc(other, scores, alphas=[0.2, 0.8])
    display = be.plot.epc({"a": a, "b": b})
    np.testing.assert_array_equal(display.curves["a"].y, a.hter)
    assert list(display.lines_) == ["a", "b"]
    alone = be.Scores(np.ones((2, 2)), ["a", "b"])
    assert "not defined" in words(be.plot.epc(be.epc(scores, alone)))


def test_error_discard_draws_several_measures(scores):
    good = be.error_discard(scores, np.arange(200), threshold=4.0)
    display = be.plot.error_discard({"row": good, "last": good})
    np.testing.assert_array_equal(display.curves["row"].y, good.frr)
    assert f"pAUC {good.pauc.item():.3f}" in words(display)
    none = be.Scores(np.ones((2, 2)), ["a", "b"])
    message = words(be.plot.error_discard(be.error_discard(none, [1, 2], threshold=4.0)))
    assert "FRR is not defined" in message

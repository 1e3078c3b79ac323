"""Failures to acquire and to enrol, against the formulas of ISO/IEC 19795-1."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, strategies as st
from named_arguments import raises_about

import bioeval as be

D = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
WHO = ["ann", "ann", "bob", "bob"]


def by_people(far, frr, fta, fte):
    """Return the four rates by counting: of a million people, who fails where."""
    enrolled = 1 - fte
    acquired = enrolled * (1 - fta)
    gfrr = fte + (enrolled - acquired) + acquired * frr
    return (
        (enrolled - acquired + acquired * frr) / enrolled,
        acquired * far / enrolled,
        gfrr,
        (acquired * far),
    )


@given(st.floats(0, 1), st.floats(0, 0.99))
def test_the_rates_count_people(fta, fte):
    ds = be.with_failures(
        be.verification(be.Scores(D, WHO), thresholds=[1, 2, 3]), fta=fta, fte=fte
    )
    expected = by_people(ds.far.values, ds.frr.values, fta, fte)
    for name, rate in zip(("frr_iso", "far_iso", "gfrr", "gfar"), expected, strict=True):
        np.testing.assert_allclose(ds[name], rate, atol=1e-12)
        assert ds[name].attrs["long_name"]
    rates = by_people(float(ds.far_at_eer), float(ds.frr_at_eer), fta, fte)
    names = ("frr_iso_at_eer", "far_iso_at_eer", "gfrr_at_eer", "gfar_at_eer")
    for name, rate in zip(names, rates, strict=True):
        assert float(ds[name]) == pytest.approx(rate)
    target = by_people(0, ds.frr_at_far.values, fta, fte)
    np.testing.assert_allclose(ds.frr_iso_at_far, target[0], atol=1e-12)
    np.testing.assert_allclose(ds.gfrr_at_far, target[2], atol=1e-12)
    assert "far_iso_at_far" not in ds and (ds.attrs["fta"], ds.attrs["fte"]) == (fta, fte)


def test_limits_and_undefined_rates():
    scores = be.simulate(20, 3, random_state=1)
    ds = be.with_failures(be.verification(scores, interval="wilson"), fta=0.1)
    np.testing.assert_allclose(ds.frr_iso_high, 0.1 + 0.9 * ds.frr_high)
    np.testing.assert_allclose(ds.gfrr_at_far_low, 0.1 + 0.9 * ds.frr_at_far_low)
    one_subject = be.with_failures(
        be.verification(be.Scores([[0, 1], [1, 0]], ["a", "a"])), fta=0.1
    )
    assert np.isnan(one_subject.far_iso).all() and np.isnan(one_subject.gfar).all()
    assert isinstance(xr.Dataset.from_dict(ds.to_dict()), xr.Dataset)


def test_a_tree_has_them_in_verification_alone():
    tree = be.with_failures(be.evaluate(be.simulate(20, 3, random_state=1)), fte=0.5)
    assert (tree["verification/multi"].gfrr >= 0.5).all()
    assert "gfar" not in tree["open_set"]


def test_what_is_refused():
    scores = be.Scores(D, WHO, probe_meta={"visit": [1, 1, 1, 2]})
    ds = be.verification(scores)
    for wrong in (-0.1, 1.5, np.nan, "some", True):
        with raises_about(be.DataError, "fta"):
            be.with_failures(ds, fta=wrong)
    with pytest.raises(be.ProtocolError, match="include failures already"):
        be.with_failures(be.with_failures(ds, fta=0.1), fta=0.1)
    with pytest.raises(be.ProtocolError, match="attempts are of several"):
        be.with_failures(be.verification(be.claim_scores(scores, attempts="visit")), fta=0.1)
    with pytest.raises(be.DataError, match=r"not a result of be\.verification"):
        be.with_failures(be.open_set(scores), fta=0.1)
    with pytest.raises(be.DataError, match="need results of verification"):
        be.with_failures(xr.DataTree(be.closed_set(scores)), fta=0.1)
    failed = np.array(D, dtype=float)
    failed[0, 1] = np.nan
    with pytest.raises(
        be.ProtocolError, match="1 failed comparisons are rejected attempts already"
    ):
        be.with_failures(be.verification(be.Scores(failed, WHO, nan="reject")), fta=0.1)
    be.with_failures(be.verification(be.Scores(failed, WHO, nan="exclude")), fta=0.1)
    be.with_failures(be.verification(be.Scores(D, WHO, nan="reject")), fta=0.1)


def test_a_change_of_results_with_failures_leaves_the_tree_as_it_was():
    tree = be.evaluate(be.simulate(12, 3, random_state=1))
    with_more = be.with_failures(tree, fta=0.1)
    with_more["open_set"].attrs["task"] = "changed"
    with_more["open_set"]["dir"].attrs["units"] = "changed"
    assert tree["open_set"].attrs["task"] == "open-set identification"
    assert tree["open_set"]["dir"].attrs["units"] == "proportion"

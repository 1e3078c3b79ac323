"""Plots of groups, expected performance and discarding: their arrays, marks and words."""

import matplotlib as mpl
import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval import plot


@pytest.fixture(scope="module")
def scores():
    return be.simulate(40, 4, random_state=2)


@pytest.fixture(scope="module")
def grouped(scores):
    group = ["abc"[min(x % 4, 2)] for x in scores.probe_labels]
    return be.by_group(scores, group, threshold=4.0, interval="people")


def words(display):
    return " ".join(text.get_text() for text in display.figure_.findobj(mpl.text.Text))


@pytest.mark.slow
def test_groups_show_frr_with_intervals_and_far_of_pairs(grouped):
    display = plot.groups(grouped)
    lines = [x for x in display.ax_.lines if x.get_marker() == "o"]
    drawn = {tuple(p) for line in lines for p in zip(*line.get_data(), strict=True)}
    assert drawn == {(x, i) for i, x in enumerate(grouped.frr.values)}
    hollow = next(x for x in lines if x.get_markerfacecolor() == "white")
    assert len(hollow.get_xdata()) == grouped.frr_flagged.sum()
    (image,) = display.figure_.axes[1].images
    np.testing.assert_array_equal(image.get_array() == image.norm.vmin / 2, grouped.far == 0)
    message = words(display)
    assert "c (20)" in message and "hollow: few people" in message
    assert message.count("*") >= 1


def test_epc_draws_several_systems(scores):
    other = be.simulate(40, 4, random_state=3)
    a, b = be.epc(scores, other), be.epc(other, scores, alphas=[0.2, 0.8])
    display = plot.epc({"a": a, "b": b})
    np.testing.assert_array_equal(display.curves["a"].y, a.hter)
    assert list(display.lines_) == ["a", "b"]
    alone = be.Scores(np.ones((2, 2)), ["a", "b"])
    assert "not defined" in words(plot.epc(be.epc(scores, alone)))


def test_error_discard_draws_several_measures(scores):
    good = be.error_discard(scores, np.arange(160), threshold=4.0)
    display = plot.error_discard({"row": good, "last": good})
    np.testing.assert_array_equal(display.curves["row"].y, good.frr)
    assert f"pAUC {good.pauc.item():.3f}" in words(display)
    none = be.Scores(np.ones((2, 2)), ["a", "b"])
    message = words(plot.error_discard(be.error_discard(none, [1, 2], threshold=4.0)))
    assert "FRR is not defined" in message

"""A probe of which all comparisons with mates failed (``nan="reject"``) is at no rank."""

import numpy as np
import pytest

import bioeval as be


@pytest.fixture
def failing():
    """Two templates for each of eight people; the genuine comparisons of the first two failed."""
    random = np.random.default_rng(5)
    labels = np.repeat(list("abcdefgh"), 2)
    values = random.integers(0, 6, (16, 16)).astype(float)  # with ties
    for i in (0, 2):
        values[i, i + 1] = values[i + 1, i] = np.nan
    values[5, 9] = np.nan  # a comparison with another person
    return values, labels


@pytest.mark.parametrize("rank_unit", ["template", "subject"])
def test_folds_agree_with_a_call_of_each_test_part(failing, rank_unit):
    values, labels = failing
    scores = be.Scores(values, labels, nan="reject")
    folds = np.repeat([0, 1], 8)
    options = {"task": "closed_set", "ranks": [1, 2, 3], "rank_unit": rank_unit}
    result = be.cross_evaluate(scores, be.partition.PredefinedFolds(folds), **options)
    expected = [
        be.closed_set(scores.select(folds == k), rank_unit=rank_unit).cms[:3] for k in (0, 1)
    ]
    cms = result.cms.sel(part="test") if "part" in result.cms.dims else result.cms
    np.testing.assert_array_equal(cms.values[0], expected)


def test_intervals_leave_out_people_who_failed(failing):
    values, labels = failing
    scores = be.Scores(values, labels, nan="reject")
    for method in ("people", be.stats.IntervalMethod("subject-bootstrap", random_state=1)):
        limits = be.closed_set(scores, interval=method)
        assert (limits.cms_high >= limits.cms).all()
        assert limits.cms_low[-1] < 12 / 16  # rates at all ranks vary with who is there

"""Scorers by a function of one's own: it takes all genuine and all impostor scores.

Scorers by name are in test_fitted_systems.py.
"""

import copy
import pickle

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from limits import blocks_of
from named_arguments import raises_about
from scipy import stats
from strategies import examples_of, matrices

import bioeval as be


def kept(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """Remember the scores, and return their numbers as one."""
    kept.scores = np.sort(genuine), np.sort(impostor)
    return len(genuine) / len(impostor)


@settings(max_examples=examples_of(25))
@given(matrices(masks=("none", "labelled")))
def test_the_function_takes_the_scores_of_all_attempts(case):
    both = naive.attempts_single(**case.naive())
    result = be.make_scorer(kept).of_scores(be.Scores(**case.scores()))
    if not all(map(len, both)):
        assert np.isnan(result)
        return
    assert result == len(both[0]) / len(both[1])
    for scores, expected in zip(kept.scores, both, strict=True):
        assert scores.dtype == np.float64
        np.testing.assert_array_equal(scores, np.sort(np.array(expected, dtype=float)))


def test_pairs_and_failed_comparisons():
    values, genuine = [0.1, 0.2, 0.5, np.nan], [True, True, False, False]
    scorer = be.make_scorer(kept)
    assert scorer.of_scores(be.Scores.from_pairs(values, genuine, nan="exclude")) == 2
    scorer.of_scores(be.Scores.from_pairs(values, genuine, nan="reject", kind="similarity"))
    assert [x.tolist() for x in kept.scores] == [[0.1, 0.2], [-np.inf, 0.5]]


@pytest.mark.parametrize("listed", [1 << 18, 0])
def test_a_test_of_scipy_gives_its_statistic(listed):
    scores = be.simulate(12, 3, random_state=1)
    label, values = scores.probe_labels, np.asarray(scores.values)
    same = label[:, None] == label
    genuine, impostor = values[same & ~np.eye(36, dtype=bool)], values[~same]
    with blocks_of(listed=listed):
        result = be.make_scorer(stats.ks_2samp).of_scores(scores)
    assert result == stats.ks_2samp(genuine, impostor).statistic
    less = be.make_scorer(stats.wasserstein_distance, larger_is_better=False)
    assert less.of_scores(scores) == pytest.approx(-stats.wasserstein_distance(genuine, impostor))
    assert be.eer_scorer.of_scores(scores) == -be.verification(scores).eer
    for scorer in (less, be.make_scorer(stats.ks_2samp)):
        assert pickle.loads(pickle.dumps(scorer)) == scorer == copy.deepcopy(scorer)
    assert repr(less) == (
        "make_scorer(wasserstein_distance, metric='cosine', larger_is_better=False)"
    )


@pytest.mark.parametrize("value", ["x", None, 1j, np.ones(2)])
@pytest.mark.cases(2)
def test_a_function_returns_a_number(value):
    scores = be.simulate(5, 2, random_state=1)
    with pytest.raises(be.DataError, match=f"returned {type(value).__name__}; expected a number"):
        be.make_scorer(lambda genuine, impostor: value).of_scores(scores)


def test_bad_options_are_refused():
    with raises_about(be.DataError, "measure"):
        be.make_scorer(3)
    with pytest.raises(be.DataError, match="a larger eer is better is known"):
        be.make_scorer("eer", larger_is_better=True)
    with pytest.raises(be.DataError, match="scores is list"):
        be.make_scorer(kept).of_scores([[1.0]])

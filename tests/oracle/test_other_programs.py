"""The same numbers by other programs: scikit-learn and SciPy, from lists of scores and labels.

Where limits of other programs are compared, see ``tests/stats/test_other_programs.py``; precision,
recall and F1 are in ``tests/tasks/reid/test_reid.py``.
"""

import numpy as np
import pytest
from sklearn import metrics

import bioeval as be

KINDS = ("distance", "similarity")


def pairs(kind: str) -> tuple[be.Scores, np.ndarray, np.ndarray]:
    """Genuine and impostor scores, many of them equal: as pairs, flags, and larger if closer."""
    rng = np.random.default_rng(4)
    flags = np.arange(400) < 90
    closer = np.round(rng.normal(np.where(flags, 1.5, 0.0)) / 0.25) * 0.25
    values = -closer if kind == "distance" else closer
    return be.Scores.from_pairs(values, flags, kind=kind), flags, closer


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_of_the_roc_is_that_of_scikit_learn(kind):
    scores, flags, closer = pairs(kind)
    far, gar, thresholds = metrics.roc_curve(flags, closer, drop_intermediate=False)
    kept_thresholds = (
        thresholds[1:] if kind == "similarity" else -thresholds[1:]
    )  # the first accepts nothing
    order = np.argsort(kept_thresholds)
    ds = be.verification(scores, thresholds=kept_thresholds[order])
    np.testing.assert_allclose(ds.far, far[1:][order], rtol=1e-14)
    np.testing.assert_allclose(ds.gar, gar[1:][order], rtol=1e-14)
    assert ds.auc.item() == pytest.approx(metrics.roc_auc_score(flags, closer), rel=1e-12)


def test_counts_and_least_costs_are_those_of_the_confusion_matrix_of_scikit_learn():
    scores, flags, closer = pairs("similarity")
    costs = [(flags.mean(), 1, 1), (0.5, 1, 1)]  # prior of genuine attempts, costs of both errors
    ds = be.verification(scores, thresholds=[0.5], costs=costs)
    (gr, fa), (fr, ga) = metrics.confusion_matrix(flags, closer >= 0.5)
    assert [ds[name].item() for name in ("gr", "fa", "fr", "ga")] == [gr, fa, fr, ga]
    accuracies = [metrics.accuracy_score(flags, closer >= x) for x in np.unique(closer)]
    balanced = [metrics.balanced_accuracy_score(flags, closer >= x) for x in np.unique(closer)]
    np.testing.assert_allclose(ds.min_cost, [1 - max(accuracies), 1 - max(balanced)], rtol=1e-12)


def ranked() -> be.Scores:
    """Queries that all have matches, and no equal scores."""
    rng = np.random.default_rng(2)
    gallery = np.repeat(np.arange(6), [1, 2, 3, 5, 8, 10])
    queries = rng.integers(0, 6, 25)
    values = rng.random((25, len(gallery))) - 0.3 * (queries[:, None] == gallery)
    return be.Scores(values, queries, gallery)


def test_average_precision_is_that_of_scikit_learn():
    scores = ranked()
    ds = be.reid(scores, "viper", per_query=True)
    truth = scores.probe_labels[:, None] == scores.gallery_labels
    expected = [
        metrics.average_precision_score(mates, -row)
        for mates, row in zip(truth, scores.values, strict=True)
    ]
    np.testing.assert_allclose(ds.average_precision, expected, rtol=1e-12)
    assert ds.mean_ap.item() == pytest.approx(
        metrics.label_ranking_average_precision_score(truth, -scores.values), rel=1e-12
    )


def test_the_cmc_is_the_top_k_accuracy_of_scikit_learn():
    """With one template a person in the gallery."""
    rng = np.random.default_rng(5)
    people = np.arange(12)
    subject = rng.permutation(np.repeat(people, 4))
    values = rng.normal(size=(48, 12)) - 1.2 * (subject[:, None] == people)
    ds = be.closed_set(be.Scores(values, subject, people))
    for rank in (1, 2, 5, 11):
        expected = metrics.top_k_accuracy_score(subject, -values, k=rank, labels=people)
        assert ds.cms.sel(rank=rank).item() == pytest.approx(expected, rel=1e-14), rank

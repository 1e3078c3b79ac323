"""The area under the ROC up to a FAR: against scikit-learn, in commands, and where it is refused.

Against its slow twin it is in tests/tallies/test_points.py.
"""

from __future__ import annotations

import json
from dataclasses import replace

import naive
import numpy as np
import pytest
from named_arguments import raises_about
from sklearn.metrics import roc_auc_score

import bioeval as be
from bioeval.cli import main
from bioeval.protocol import load
from bioeval.tallies import point_search

LIMITS = [0.001, 0.01, 0.1, 0.5, 1.0]


def attempts(scores: be.Scores) -> tuple[np.ndarray, np.ndarray]:
    """Whether each attempt of a square matrix is genuine, and its score, larger if closer."""
    off = ~np.eye(len(scores.probe_labels), dtype=bool)
    genuine = (scores.probe_labels[:, None] == scores.probe_labels)[off]
    sign = 1 if scores.kind == "similarity" else -1
    return genuine, sign * np.asarray(scores.values)[off]


def tied(kind: str = "distance", dtype: type = np.float64) -> be.Scores:
    rng = np.random.default_rng(0)
    label = np.repeat([f"p{i}" for i in range(12)], 3)
    d = rng.integers(0, 30, (36, 36)) - 8 * (label[:, None] == label)
    return be.Scores((d if kind == "distance" else -d).astype(dtype), label, kind=kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize("few", [0, 1 << 18])
def test_it_is_that_of_scikit_learn(kind, dtype, few, monkeypatch):
    monkeypatch.setattr(point_search, "FEW", few)
    scores = tied(kind, dtype)
    ds = be.verification(scores, max_fars=LIMITS)
    genuine, values = attempts(scores)
    expected = [roc_auc_score(genuine, values.astype(float), max_fpr=x) for x in LIMITS]
    np.testing.assert_allclose(ds.partial_auc_standardised, expected, rtol=1e-12)
    assert ds.partial_auc[-1].item() == pytest.approx(ds.auc.item(), rel=1e-14)
    alone = be.verification(scores, max_fars=LIMITS, auc=False)
    np.testing.assert_array_equal(alone.partial_auc, ds.partial_auc)
    assert "auc" not in alone


def test_by_hand():
    """Genuine 1 and 3, impostors 2, 3, 4 and 5: the ROC rises to 1/2, and to 1 from 1/4 to 1/2."""
    scores = be.Scores.from_pairs([1.0, 3, 2, 3, 4, 5], [True] * 2 + [False] * 4)
    ds = be.verification(scores, max_fars=[0.25, 0.375, 0.5])
    np.testing.assert_allclose(ds.partial_auc, [0.125, 0.125 + 0.125 * 0.625, 0.125 + 0.25 * 0.75])
    np.testing.assert_allclose(
        ds.partial_auc_standardised[0], (1 + (0.125 - 1 / 32) / (1 / 4 - 1 / 32)) / 2
    )


@pytest.mark.parametrize("nan", ["reject", "exclude"])
def test_failed_and_infinite_scores(nan):
    rng = np.random.default_rng(1)
    label = np.repeat(np.arange(6), 3)
    d = rng.integers(0, 9, (18, 18)).astype(float)
    d[rng.random(d.shape) < 0.1] = np.nan
    d[rng.random(d.shape) < 0.1] = np.inf
    d[rng.random(d.shape) < 0.05] = -np.inf
    ds = be.verification(be.Scores(d, label, nan=nan), max_fars=LIMITS)
    classes = naive.attempts_single(values=d.tolist(), probe_labels=label.tolist(), nan=nan)
    for limit in LIMITS:
        area, _ = naive.partial_auc(*classes, "distance", limit)
        assert ds.partial_auc.sel(max_far=limit).item() == pytest.approx(float(area), rel=1e-12)


def test_without_a_class_it_is_undefined():
    ds = be.verification(be.Scores([[0.0, 1], [1, 0]], ["ann", "ann"]), max_fars=[0.1])
    assert np.isnan(ds.partial_auc).all() and np.isnan(ds.partial_auc_standardised).all()


def test_multi_template_attempts_and_a_card_have_it():
    scores = tied()
    tree = be.evaluate(scores, max_fars=[0.1])
    for templates in ("single", "multi"):
        alone = be.verification(scores, templates=templates, max_fars=[0.1])
        assert tree[f"verification/{templates}"].partial_auc.item() == alone.partial_auc.item()
    classes = naive.attempts_multi(
        values=np.asarray(scores.values).tolist(), probe_labels=scores.probe_labels.tolist()
    )
    area, _ = naive.partial_auc(*classes, "distance", 0.1)
    assert alone.partial_auc.item() == pytest.approx(float(area))


@pytest.mark.parametrize("limits", [[0.0], [-0.1], [1.5], [np.nan], "all", [[0.1]]])
def test_limits_that_are_no_rates_are_refused(limits):
    with raises_about(be.DataError, "max_fars"):
        be.verification(tied(), max_fars=limits)


def test_it_is_refused_where_it_does_nothing():
    scores = tied()
    with pytest.raises(be.ProtocolError, match="max_fars"):
        be.evaluate(scores, "course-kfold", max_fars=[0.1])
    with pytest.raises(be.ProtocolError, match="max_fars"):
        searches = replace(load("course-all-vs-all"), verification=None)
        be.evaluate(scores, searches, max_fars=[0.1])


def test_the_command_prints_and_writes_it(tmp_path, capsys):
    scores, file = tied(), str(tmp_path / "s.npz")
    be.save(scores, file)
    assert main(["run", file, "--max-far", "10%", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["tasks"]["verification/single"]["max_fars"]
    ds = be.verification(scores, max_fars=[0.1])
    assert row == {
        "max_far": 0.1,
        "partial_auc": ds.partial_auc.item(),
        "partial_auc_standardised": ds.partial_auc_standardised.item(),
    }
    assert main(["run", file, "--max-far", "0.1"]) == 0
    out = capsys.readouterr().out
    line = next(x for x in out.splitlines() if "partial AUC to FAR 10 %, standardised" in x)
    assert f"{ds.partial_auc_standardised.item():.5f}" in line

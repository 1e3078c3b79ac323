"""Folds that choose the threshold with the largest open-set score on other people."""

from __future__ import annotations

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.views.registry import table_of
from bioeval.views.writers.terminal import plain

NAMES = ("dir_by_identity", "grr_by_identity", "open_set_score")


def uneven(kind: str = "distance") -> be.Scores:
    rng = np.random.default_rng(6)
    label = np.repeat(np.arange(24), rng.integers(2, 6, 24))
    points = rng.normal(size=(24, 4))[label] + 0.5 * rng.normal(size=(len(label), 4))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    return be.Scores(distances if kind == "distance" else -distances, label, kind=kind)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("ties", ["pessimistic", "stable"])  # counted together, and alone
def test_the_threshold_is_the_best_of_the_training_part(kind, ties):
    scores = uneven(kind)
    splitter = be.partition.SubjectKFold(3, shuffle=True, random_state=0)
    ds = be.cross_evaluate(scores, splitter, task="open_set", threshold="open-set-score", ties=ties)
    for fold, (train, test) in enumerate(splitter.split(scores.probe_labels, scores.probe_labels)):
        best = be.open_set(scores[train], average="identity", ties=ties)
        threshold = float(best.best_open_set_score_threshold)
        assert ds.threshold.values[0, fold] == threshold
        tested = be.open_set(scores[test], thresholds=[threshold], average="identity", ties=ties)
        for name in NAMES:
            assert ds[name].values[0, fold] == pytest.approx(float(tested[name][0]), abs=1e-12)
    summary = ds.open_set_score_summary
    assert summary.sel(statistic="mean") == pytest.approx(ds.open_set_score.mean().item())
    assert ds.attrs["threshold_rule"] == "open-set-score"
    assert "open-set score" in plain(table_of(ds), 100)


def test_of_an_experiment_strangers_are_the_impostors():
    splitter = be.partition.Experiment(
        train=0.5, gallery_templates=1, unenrolled=0.3, repeats=2, random_state=0
    )
    ds = be.cross_evaluate(uneven(), splitter, task="open_set", threshold="open-set-score")
    assert ds.attrs["impostors"] == "unenrolled"
    assert ((ds.open_set_score >= 0) & (ds.open_set_score <= 1)).all()


def test_other_tasks_have_no_open_set_score():
    splitter = be.partition.SubjectKFold(3)
    with pytest.raises(be.ProtocolError) as caught:
        be.cross_evaluate(uneven(), splitter, threshold="open-set-score")
    assert "threshold" in caught.value.arguments


def test_folds_of_a_card_have_no_means_by_identity(tmp_path):
    from bioeval.cli import main

    be.save(uneven(), tmp_path / "s.npz")
    options = ["--protocol", "course-kfold", "--means", "identity"]
    assert main(["run", str(tmp_path / "s.npz"), *options]) == 2

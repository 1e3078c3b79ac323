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
        chosen = ds.train_open_set_score.values[0, fold]
        assert chosen == pytest.approx(float(best.best_open_set_score), abs=1e-12)
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


def sightings(seed: int = 0) -> be.Scores:
    """Return images of 18 animals, of which the first ten have images in the database."""
    rng = np.random.default_rng(seed)
    animal = rng.normal(size=(18, 3))
    sides = np.repeat(np.arange(18), rng.integers(1, 7, 18)), np.repeat(np.arange(10), 2)
    images = [animal[who] + 0.6 * rng.normal(size=(len(who), 3)) for who in sides]
    distances = np.linalg.norm(images[0][:, None] - images[1][None], axis=2).round(1)
    known, names = [who < 10 for who in sides], [np.array([f"a{i:02}" for i in x]) for x in sides]
    return be.Scores(
        distances, *names, probe_meta={"known": known[0]}, gallery_meta={"known": known[1]}
    )


def by_hand(scores: be.Scores, people: set[str], threshold: float) -> list[float]:
    """Return DIR and GRR by identity, and the score, of one part, by a loop over its images."""
    detected: dict[str, list[bool]] = {}
    rejected: dict[str, list[bool]] = {}
    for i, who in enumerate(scores.probe_labels):
        if who not in people:
            continue
        columns = [j for j, x in enumerate(scores.gallery_labels) if x in people]
        own = [scores.values[i, j] for j in columns if scores.gallery_labels[j] == who]
        rest = [scores.values[i, j] for j in columns if scores.gallery_labels[j] != who]
        if own:
            found = min(own) <= threshold and min(own) < min(rest)
            detected.setdefault(who, []).append(found)
        else:
            rejected.setdefault(who, []).append(min(rest) > threshold)
    rates = [float(np.mean([np.mean(x) for x in of.values()])) for of in (detected, rejected)]
    return [*rates, (rates[0] * rates[1]) ** 0.5]


def test_known_and_unknown_animals_are_divided_evenly():
    scores = sightings()
    splitter = be.partition.SubjectKFold(3, shuffle=True, random_state=1, stratify="known")
    ds = be.cross_evaluate(scores, splitter, task="open_set", threshold="open-set-score")
    animals = np.unique(scores.probe_labels)
    meta = {"known": animals < "a10"}
    for fold, (train, test) in enumerate(splitter.split(y=animals, meta=meta)):
        people = set(animals[train].tolist())
        at = {t: by_hand(scores, people, t)[2] for t in np.unique(scores.values).tolist()}
        best = max(at.values())
        threshold = min(t for t, score in at.items() if score >= best - 1e-12)
        assert ds.threshold.values[0, fold] == threshold
        for prefix, part in (("", set(animals[test].tolist())), ("train_", people)):
            for name, expected in zip(NAMES, by_hand(scores, part, threshold), strict=True):
                assert ds[f"{prefix}{name}"].values[0, fold] == pytest.approx(expected, abs=1e-12)
    summary = ds.open_set_score_summary.sel(statistic="train_mean")
    assert summary == pytest.approx(ds.train_open_set_score.mean().item())
    (row,) = (x for x in plain(table_of(ds), 100).splitlines() if "open-set score " in x)
    assert f" {100 * summary.item():.2f} %" in row


def test_a_part_without_unknown_animals_has_no_score():
    splitter = be.partition.SubjectKFold(3)  # the last animals, which are unknown, are together
    ds = be.cross_evaluate(sightings(), splitter, task="open_set", threshold="open-set-score")
    assert np.isnan(ds.open_set_score.values).any()
    assert ds.open_set_score_summary.sel(statistic="folds") < 3


@pytest.mark.parametrize("text", ["open_set_score", "open-set-scores", "Open set score"])
def test_a_name_that_is_nearly_the_rule_is_told(text):
    with pytest.raises(be.DataError, match=r"accuracy, open-set-score, .*Did you mean"):
        be.cross_evaluate(uneven(), be.partition.SubjectKFold(3), task="open_set", threshold=text)

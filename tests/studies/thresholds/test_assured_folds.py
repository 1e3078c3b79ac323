"""Assured thresholds in folds: found on the training part as on data by itself, judged by loops."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from result_messages import arguments
from twins import crossed

import bioeval as be
from bioeval import protocol
from bioeval.cli.program import main

TARGET = "far=0.1"
FOLDS = be.partition.SubjectKFold(3, shuffle=True, random_state=0)
EASY = {"threshold": TARGET, "assure": 0.9}
FEW = be.stats.IntervalMethod("subject-bootstrap", replicates=100)


@pytest.fixture(scope="module")
def scores() -> be.Scores:
    """People with unequal numbers of templates, and ties."""
    rng = np.random.default_rng(5)
    people = np.repeat(np.arange(60), rng.integers(1, 4, 60))
    points = rng.normal(size=(60, 3))[people] + 0.4 * rng.normal(size=(len(people), 3))
    d = np.linalg.norm(points[:, None] - points[None], axis=2)
    return be.Scores(np.round(d, 2), people)


def split_of(scores: be.Scores, fold: int) -> tuple[np.ndarray, np.ndarray]:
    parts = list(FOLDS.split(range(scores.shape[0]), scores.probe_labels.tolist()))
    return parts[fold]


def rates(scores: be.Scores, samples: np.ndarray, at: float) -> tuple[float, float]:
    """FAR and FRR of the attempts among some templates, by plain loops."""
    d, people = scores.values, scores.probe_labels
    same = [d[i, j] for i in samples for j in samples if i != j and people[i] == people[j]]
    others = [d[i, j] for i in samples for j in samples if people[i] != people[j]]
    return sum(x <= at for x in others) / len(others), sum(x > at for x in same) / len(same)


@pytest.mark.slow
def test_each_fold_is_a_study_of_its_training_part(scores):
    ds = crossed(scores, FOLDS, **EASY)
    for fold in range(3):
        train, test = split_of(scores, fold)
        one = ds.isel(repeat=0, fold=fold)
        alone = be.study_threshold(
            scores.select(train, train),
            TARGET,
            folds=2,
            repeats=1,
            assure=0.9,
            interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
        )
        at = one.assured_threshold.item()
        assert at == alone.assured_threshold
        assert at < one.threshold
        assert one.assured_limit == alone.assured_far_high
        assert one.assured_reason.item() == ""
        assert rates(scores, test, at) == (one.assured_far.item(), one.assured_frr.item())
        trained = one.train_assured_far.item(), one.train_assured_frr.item()
        assert rates(scores, train, at) == trained
        assert trained[0] == alone.assured_far_attempts
    assert ds.assured_refused == 0
    assert ds.assured_far_mean == pytest.approx(ds.assured_far.mean().item(), rel=1e-12)
    attempts = ds.impostor_attempts.sum()
    assert ds.assured_far_pooled == (ds.assured_fa.sum() / attempts).item()
    assert ds.attrs["assure"] == 0.9


@pytest.mark.slow
def test_refused_folds_are_nan_with_their_reason_and_counted(scores):
    ds = crossed(scores, FOLDS, **{**EASY, "threshold": "far=0.001"})
    assert ds.assured_refused == 3
    assert ds.assured_far_folds == 0
    assert np.isnan(ds.assured_threshold).all()
    assert np.isnan(ds.assured_far_mean)
    assert np.isfinite(ds.far_mean)
    assert (ds.assured_fa == 0).all()
    for reason in ds.assured_reason.values.ravel():
        assert "40 people are too few" in reason
    found = arguments(ds, "no-promise-in-any-part")
    assert found == {"refused": 3, "number": 3, "unit": "fold"}


@pytest.mark.slow
def test_one_refused_fold_is_left_out_of_the_means():
    """The training part of one fold has three people, too few for anything."""
    scores = be.simulate(43, 2, random_state=1)
    codes = np.where(scores.probe_labels < 40, 0, 1)
    folds = be.partition.PredefinedFolds(codes)
    ds = crossed(scores, folds, threshold="far=0.3", assure=0.9)
    assert ds.assured_refused == 1
    assert [bool(x) for x in ds.assured_reason.values.ravel()] == [True, False]
    assert ds.assured_far_folds == 1
    assert ds.assured_far_mean == ds.assured_far[0, 1]


@pytest.mark.slow
def test_similarities_mirror(scores):
    turned = be.Scores(-scores.values, scores.probe_labels, kind="similarity")
    ds, other = (crossed(x, FOLDS, **EASY) for x in (scores, turned))
    assert (other.assured_threshold == -ds.assured_threshold).all()
    assert (other.assured_far == ds.assured_far).all()


@pytest.mark.slow
def test_without_assure_nothing_changes(scores):
    plain = crossed(scores, FOLDS, threshold=TARGET)
    ds = crossed(scores, FOLDS, **EASY)
    assert not [name for name in plain if "assured" in name]
    for name in plain:
        assert plain[name].identical(ds[name])


def test_intervals_by_subject_are_of_each_threshold(scores):
    ds = crossed(scores, FOLDS, **EASY, interval=FEW)
    given = crossed(scores, FOLDS, threshold=TARGET, interval=FEW)
    assert ds.far_high == given.far_high
    assert ds.assured_far_low <= ds.assured_far_pooled <= ds.assured_far_high < ds.far_high


@pytest.mark.slow
def test_lists_of_pairs_with_people(scores):
    n = scores.shape[0]
    first, second = np.triu_indices(n, 1)
    people = scores.probe_labels
    listed = be.Scores.from_pairs(
        scores.values[first, second], people[first] == people[second],
        subjects=np.column_stack([people[first], people[second]]),
    )  # fmt: skip
    ds, matrix = (crossed(x, FOLDS, **EASY) for x in (listed, scores))
    assert ds.assured_refused == 0
    # Both directions of a pair of templates have the same distance.
    thresholds = zip(np.sort(ds.assured_threshold[0]), np.sort(matrix.assured_threshold[0]),
                     strict=True)  # fmt: skip
    assert ds.sizes["fold"] == 3
    assert all(abs(a - b) < 0.2 for a, b in thresholds)


def test_people_on_one_side_only_can_be_promised_a_threshold():
    other = be.simulate(60, 2, random_state=2)
    probes = np.flatnonzero(other.probe_labels < 50)
    gallery = np.flatnonzero(other.probe_labels >= 10)
    ds = crossed(
        other.select(probes, gallery), be.partition.SubjectKFold(2), threshold=TARGET, assure=0.9
    )
    assert ds.assured_refused == 0
    assert np.isfinite(ds.assured_threshold).all()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"assure": 1}, be.DataError, "assure is 1; expected a number between 0 and 1"),
        ({"assure": 0}, be.DataError, "assure is 0; expected a number between 0 and 1"),
        ({"threshold": "far=0"}, be.DataError, "far=0; what can be assured is a FAR above 0"),
        ({"threshold": "far=1"}, be.DataError, "far=1; what can be assured is a FAR above 0"),
        ({"threshold": "eer"}, be.DataError, "is eer; what can be assured is a FAR"),
        ({"threshold": None, "far_targets": [0.1]}, be.DataError, "what can be assured is a FAR"),
        ({"task": "open_set"}, be.ProtocolError, "the task is open_set"),
        ({"claims": be.partition.ClaimSampler(1)}, be.ProtocolError, "not of drawn claims"),
    ],
)
def test_what_cannot_be_assured_is_refused(scores, options, error, match):
    with pytest.raises(error, match=match) as result:
        crossed(scores, FOLDS, **{**EASY, **options})
    assert "\n" not in str(result.value)


def test_lists_without_people_and_fitted_systems_are_refused(scores):
    listed = be.Scores.from_pairs([0.1, 0.2, 0.3, 0.4] * 5, [1, 0, 1, 0] * 5)
    with pytest.raises(be.DataError, match="rests on the number of people"):
        crossed(listed, be.partition.SampleKFold(2), **EASY)
    with pytest.raises(be.ProtocolError, match="fitted to the people of that part"):
        crossed(scores, FOLDS, estimator=be.Calibrator(), **EASY)


CARD = """
schema = 1
name = "mine"
title = "t"
summary = "s"
layout = "all-against-all"
[source]
text = "x"
[verification]
templates = ["single"]
[partition]
by = "subject-folds"
folds = 3
[decision]
rule = "far"
far = 0.1
"""


@pytest.mark.slow
def test_a_card_says_what_is_assured(scores, tmp_path):
    (tmp_path / "mine.toml").write_text(CARD + "assure = 0.9\n")
    card = protocol.load(tmp_path / "mine.toml")
    tree = be.evaluate(scores, card)
    ds = tree["folds/verification/single"].to_dataset()
    splitter = be.partition.RepeatedSubjectKFold(3, n_repeats=1, random_state=0)
    expected = crossed(scores, splitter, threshold=TARGET, assure=0.9)
    assert (ds.assured_threshold == expected.assured_threshold).all()
    (tmp_path / "wrong.toml").write_text(CARD.replace('"far"\nfar = 0.1', '"eer"\nassure = 0.9'))
    with pytest.raises(be.CardError, match=r'assure = 0\.9 .*with rule = "eer"'):
        protocol.load(tmp_path / "wrong.toml")
    claims = "assure = 0.9\n[claims]\nper_probe = 1\n"
    (tmp_path / "claims.toml").write_text(CARD + claims)
    with pytest.raises(be.CardError, match="FAR of all comparisons"):
        protocol.load(tmp_path / "claims.toml")


@pytest.mark.slow
def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    be.save(be.simulate(50, 2, random_state=1), "a.npz")
    run = ["run", "a.npz", "--protocol", "course-kfold", "--target", "far=10%", "--assure", "0.9"]
    assert main([*run, "--out", "found", "--json", "--report", "page.html"]) == 0
    task = json.loads(capsys.readouterr().out)["tasks"]["folds/verification/single"]
    assert task["assured_refused"] == 0
    assert task["assured_far_mean"] < task["far_mean"]
    assert task["folds"][3]["assured_reason"] == ""
    table = (tmp_path / "found" / "table.txt").read_text()
    assert "FAR assured" in table
    assert "assured threshold, 90 % confidence" in table
    page = (tmp_path / "page.html").read_text()
    assert "FAR assured" in page
    tree = xr.open_datatree(tmp_path / "found" / "results.nc", engine="h5netcdf")
    kept = tree["folds/verification/single"]
    assert kept["assured_threshold"].values[0].tolist() == [
        fold["assured_threshold"] for fold in task["folds"]
    ]
    tree.close()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--assure", "0.9"], "--assure needs folds"),
        (["--assure", "0.9", "--protocol", "course-kfold"], "what can be assured is a FAR"),
        (["--assure", "1", "--protocol", "course-kfold"], "--assure"),
    ],
)
def test_wrong_use_is_one_line(tmp_path, monkeypatch, capsys, words, says):
    monkeypatch.chdir(tmp_path)
    be.save(be.simulate(20, 2, random_state=1), "a.npz")
    assert main(["run", "a.npz", *words]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert "\n" not in error


@pytest.mark.slow
def test_an_assured_threshold_does_not_depend_on_the_blocks_of_rows(scores, monkeypatch):
    from bioeval.scores.blocks import BlockReader

    plain = be.study_threshold(
        scores,
        TARGET,
        assure=0.9,
        folds=3,
        repeats=1,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    monkeypatch.setattr(BlockReader, "rows_per_block", lambda self: 7)
    again = be.study_threshold(
        scores,
        TARGET,
        assure=0.9,
        folds=3,
        repeats=1,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    assert plain.identical(again)

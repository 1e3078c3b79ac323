"""Scores of claims, as a matrix: a row for each attempt, a column for each subject."""

from __future__ import annotations

import numpy as np
import pytest
from naive_use import claims as slow_claims

import bioeval as be

FUSIONS = ("min", "mean", "max", "median", "kth:2")


def made(square=False, kind="distance", seed=0, number=20):
    """Scores in steps, of subjects with unequal numbers of templates and visits."""
    rng = np.random.default_rng(seed)
    people = rng.integers(0, 5, number).astype(str)
    gallery = people if square else rng.integers(0, 6, 15).astype(str)
    values = rng.integers(0, 30, (number, len(gallery))).astype(float)
    meta = {"visit": rng.integers(0, 3, number), "camera": np.arange(number)}
    if square:
        return be.Scores(values, people, kind=kind, probe_meta=meta)
    columns = {"camera": np.arange(15), "sex": np.where(gallery.astype(int) % 2, "f", "m")}
    return be.Scores(values, people, gallery, kind=kind, probe_meta=meta, gallery_meta=columns)


def by_claim(scores):
    """The scores of claims, sorted, by the person and the subject claimed."""
    found = {}
    for i, person in enumerate(scores.probe_labels.tolist()):
        for j, claimed in enumerate(scores.gallery_labels.tolist()):
            if not np.isnan(scores.values[i, j]):
                found.setdefault((person, claimed), []).append(float(scores.values[i, j]))
    return {claim: sorted(values) for claim, values in found.items()}


@pytest.mark.parametrize("square", [False, True])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("attempts", [None, "visit"])
@pytest.mark.cases(6)
def test_claims_are_those_of_loops(square, kind, fusion, attempts):
    scores = made(square, kind)
    sign = -1 if kind == "similarity" else 1
    visits = None if attempts is None else scores.probe_meta["visit"]
    expected = {}
    listed = slow_claims(
        sign * scores.values,
        scores.probe_labels.tolist(),
        scores.gallery_labels.tolist(),
        visits=visits,
        square=square,
        fusion=fusion,
    )
    for claim in listed:
        expected.setdefault((claim.person, claim.claimed), []).append(sign * claim.scores[0])
    found = be.claim_scores(scores, attempts=attempts, fusion=fusion)
    assert by_claim(found) == {claim: sorted(values) for claim, values in expected.items()}


@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.parametrize("attempts", [None, "visit"])
def test_verification_of_claims_is_that_in_use(templates, attempts):
    scores, thresholds = made(kind="similarity"), [5.0, 12.0, 20.0]
    use = {"templates": templates, "attempts": attempts}
    found = be.verification(be.claim_scores(scores, **use), thresholds=thresholds)
    expected = be.verification(scores, thresholds=thresholds, **use)
    for name in ("fa", "fr", "genuine_attempts", "impostor_attempts", "eer", "auc"):
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize("nan", ["reject", "exclude"])
@pytest.mark.parametrize("fusion", ["min", "mean"])
def test_failed_comparisons_are_treated_as_in_verification(nan, fusion):
    scores, thresholds = made(), [5.0, 12.0, 20.0]
    values = np.array(scores.values)
    values[np.random.default_rng(1).random(values.shape) < 0.4] = np.nan
    labels = scores.probe_labels, scores.gallery_labels
    failed = be.Scores(values, *labels, nan=nan, probe_meta=dict(scores.probe_meta))
    use = {"fusion": fusion, "attempts": "visit"}
    found = be.verification(be.claim_scores(failed, **use), thresholds=thresholds)
    expected = be.verification(failed, templates="multi", thresholds=thresholds, **use)
    for name in ("fa", "fr", "genuine_attempts", "impostor_attempts"):
        np.testing.assert_array_equal(found[name], expected[name])


def test_the_first_templates_are_enrolled():
    scores = made()
    found = be.claim_scores(scores, enrol="first:1")
    for j, subject in enumerate(found.gallery_labels.tolist()):
        first = scores.gallery_labels.tolist().index(subject)
        np.testing.assert_array_equal(found.values[:, j], scores.values[:, first])


def test_metadata_are_of_the_first_try_and_of_the_subject():
    scores = made()
    found = be.claim_scores(scores, attempts="visit")
    firsts = {}
    for i, attempt in enumerate(zip(scores.probe_labels, scores.probe_meta["visit"], strict=True)):
        firsts.setdefault(attempt, i)
    attempts = zip(found.probe_labels, found.probe_meta["visit"], strict=True)
    assert found.probe_meta["camera"].tolist() == [firsts[x] for x in attempts]
    assert list(found.gallery_meta) == ["sex"]  # cameras differ within a subject


def test_a_mean_over_choices_has_no_single_score():
    with pytest.raises(be.ProtocolError, match="enrol is 2.*no single score.*first:2"):
        be.claim_scores(made(), enrol=2)
    three = be.simulate(10, 3, layout="probe-against-gallery", probes=2)
    np.testing.assert_array_equal(
        be.claim_scores(three, enrol=3).values, be.claim_scores(three).values
    )


def test_studies_at_the_threshold_of_a_system_in_use():
    """They count the claims of the study."""
    scores = be.simulate(
        40, 3, layout="probe-against-gallery", probes=4, sessions=2, random_state=3
    )
    use = {"templates": "multi", "attempts": "session"}
    study = be.study_threshold(scores, "far=0.002", repeats=2, folds=3, **use)
    at = be.verification(scores, thresholds=[study.threshold.item()], **use)
    claims = be.claim_scores(scores, **use)
    zoo = be.zoo(claims, threshold=study.threshold.item())
    assert int(zoo.fr.sum()) == int(at.fr.item()) > 0
    sexes = [np.where(x % 2, "f", "m") for x in (scores.probe_labels, scores.gallery_labels)]
    scores = be.Scores(
        scores.values,
        scores.probe_labels,
        scores.gallery_labels,
        probe_meta={**scores.probe_meta, "sex": sexes[0]},
        gallery_meta={"sex": sexes[1]},
    )
    claims = be.claim_scores(scores, **use)
    groups = be.by_group(claims, "sex", threshold=study.threshold.item())
    assert int(groups.fr.sum()) == int(at.fr.item())

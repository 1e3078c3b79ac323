"""The zoo of claims whose templates are any of a subject's: means over all choices, by loops."""

from __future__ import annotations

import naive_use as twin
import numpy as np
import pytest

import bioeval as be


def made(square, kind):
    rng = np.random.default_rng(0)
    people = np.repeat([f"p{i}" for i in range(9)], rng.integers(2, 6, 9))
    n = len(people)
    values = np.round(rng.random((n, n)) * 20) / 10 + 0.8 * (people[:, None] != people)
    values[rng.random(values.shape) < 0.05] = np.nan
    labels = {} if square else {"gallery_labels": people}
    sign = -1 if kind == "similarity" else 1
    meta = {"visit": rng.integers(0, 2, n)}
    scores = be.Scores(sign * values, people, kind=kind, nan="exclude", probe_meta=meta, **labels)
    return scores, values


@pytest.mark.parametrize("square", [False, True])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("use", [{}, {"attempts": "visit"}, {"fusion": "mean"}])
def test_the_errors_of_a_person_are_means_over_all_choices(square, kind, use):
    scores, values = made(square, kind)
    people = scores.probe_labels.tolist()
    study = be.study_threshold(
        scores,
        "far=0.2",
        folds=3,
        repeats=1,
        replicates=100,
        templates="multi",
        enrol=2,
        **use,
    )
    zoo = be.zoo(scores, threshold=study)
    visits = scores.probe_meta["visit"] if use.get("attempts") else None
    fusion = use.get("fusion", "min")
    listed = twin.claims(
        values, people, people, visits=visits, square=square, enrol=2, fusion=fusion
    )
    at = (-1 if kind == "similarity" else 1) * study.threshold.item()
    for person, frr in twin.own_frr(listed, at).items():
        assert zoo.frr.sel(subject=person) == pytest.approx(frr, abs=1e-12)
    for person in np.unique(people):
        for role, name in (("person", "as_probe"), ("claimed", "as_claimed")):
            of_role = [x for x in listed if getattr(x, role) == person and x.person != x.claimed]
            fa = sum(twin.accepted(x, at) for x in of_role)
            assert zoo[f"fa_{name}"].sel(subject=person) == pytest.approx(fa, abs=1e-9)
            assert zoo[f"impostor_attempts_{name}"].sel(subject=person) == len(of_role)
    assert np.isnan(zoo.goat_p)
    assert "zoo-without-tests" in [x.code for x in be.messages(zoo)]
    assert zoo.attrs["enrol"] == "2" and zoo.attrs["fingerprint"] == scores.fingerprint

    # Who is confused with whom: both directions of a pair together.
    confused = be.check_data(scores, threshold=study).confusions
    options = {"templates": "multi", "enrol": 2, **use}
    at_rule = be.check_data(scores, threshold="far=0.2", **options).confusions
    assert at_rule.threshold == study.threshold
    assert at_rule.listed == confused.listed and at_rule.false_accepts == confused.false_accepts
    assert confused.false_accepts == pytest.approx(zoo.fa_as_probe.sum().item())
    shares = {}
    for claim in listed:
        if claim.person != claim.claimed:
            pair = frozenset([claim.person, claim.claimed])
            shares.setdefault(pair, []).append(twin.accepted(claim, at))
    assert confused.pairs == sum(any(x) for x in shares.values())
    most = confused.listed[0]
    assert most.false_accepts == pytest.approx(max(map(sum, shares.values())))
    for pair in confused.listed:
        of_pair = shares[frozenset([pair.probe.subject, pair.claimed.subject])]
        assert pair.false_accepts == pytest.approx(sum(of_pair))
        assert pair.attempts == len(of_pair)

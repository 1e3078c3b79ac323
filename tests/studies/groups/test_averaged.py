"""Groups of claims whose templates are any of a subject's: means over all choices, by loops."""

from __future__ import annotations

import naive_use as twin
import numpy as np
import pytest

import bioeval as be


def made(square, kind):
    """Scores of people of two groups, in steps, and their distances."""
    rng = np.random.default_rng(0)
    people = np.repeat([f"p{i}" for i in range(9)], rng.integers(2, 6, 9))
    n = len(people)
    values = np.round(rng.random((n, n)) * 20) / 10 + 0.8 * (people[:, None] != people)
    sex = np.where(np.isin(people, ["p2", "p5", "p7"]), "f", "m")
    labels = {} if square else {"gallery_labels": people, "gallery_meta": {"sex": sex}}
    sign = -1 if kind == "similarity" else 1
    meta = {"visit": rng.integers(0, 2, n), "sex": sex}
    scores = be.Scores(sign * values, people, kind=kind, probe_meta=meta, **labels)
    return scores, values, dict(zip(people.tolist(), sex.tolist(), strict=True))


@pytest.mark.parametrize("square", [False, True])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("use", [{}, {"attempts": "visit", "fusion": "median"}])
def test_rates_by_group_are_means_over_all_choices(square, kind, use):
    scores, values, sex = made(square, kind)
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
    found = be.by_group(scores, "sex", threshold=study, far_targets=[0.3])
    visits = scores.probe_meta["visit"] if use else None
    listed = twin.claims(
        values,
        people,
        people,
        visits=visits,
        square=square,
        enrol=2,
        fusion=use.get("fusion", "min"),
    )
    sign = -1 if kind == "similarity" else 1
    at = sign * study.threshold.item()
    for group in "fm":
        within = [x for x in listed if sex[x.person] == sex[x.claimed] == group]
        far, frr = twin.rates(within, at)
        there = found.sel(group=group)
        assert there.frr == pytest.approx(frr, abs=1e-12)
        assert there.far.sel(claimed_group=group) == pytest.approx(far, abs=1e-12)
        across = [x for x in listed if sex[x.person] == group != sex[x.claimed]]
        (other,) = set("fm") - {group}
        far = sum(twin.accepted(x, at) for x in across) / len(across)
        assert there.far.sel(claimed_group=other) == pytest.approx(far, abs=1e-12)
        best = [t for t in twin.points(within) if twin.rates(within, t)[0] <= 0.3 + 1e-12]
        assert there.frr_at_far.item() == pytest.approx(twin.rates(within, best[-1])[1], abs=1e-12)
        assert there.threshold_at_far.item() == sign * best[-1]
    assert found.attrs["enrol"] == "2" and found.attrs["templates"] == "multi"
    assert found.attrs["fingerprint"] == scores.fingerprint
    with pytest.raises(be.ProtocolError, match="interval is not for a study with enrol=2"):
        be.by_group(scores, "sex", threshold=study, interval="subject-bootstrap")

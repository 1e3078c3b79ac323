"""All tasks of a card with some templates of each subject enrolled, and not all."""

from __future__ import annotations

import json
from dataclasses import replace

import naive_use as twin
import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

AT = [4.0, 9.0, 15.0]


def made(square=False, kind="distance", dtype=np.float64, seed=0):
    """Scores in steps, of text labels and unequal numbers of templates; some are not there."""
    rng = np.random.default_rng(seed)
    people = np.repeat([f"p{i}" for i in range(6)], rng.integers(3, 6, 6))
    n = len(people)
    values = rng.integers(0, 20, (n, n)).astype(dtype) + 4 * (people[:, None] != people)
    values[rng.random(values.shape) < 0.1] = np.nan
    meta = {"visit": rng.integers(0, 2, n), "taken": rng.permutation(n)}
    labels = {} if square else {"gallery_labels": people, "gallery_meta": {"taken": meta["taken"]}}
    return be.Scores(
        (-1 if kind == "similarity" else 1) * values,
        people,
        kind=kind,
        nan="exclude",
        probe_meta=meta,
        **labels,
    )


def card(attempts, fusion="min", square=False):
    name = "course-all-vs-all" if square else "course-probe-vs-gallery"
    found = be.protocol.load(name)
    section = replace(found.verification, templates=("multi",), fusion=fusion, attempts=attempts)
    return replace(found, verification=section)


@pytest.mark.parametrize("square", [False, True])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("attempts", [None, "visit"])
@pytest.mark.parametrize("fusion", ["min", "mean"])
@pytest.mark.cases(8)
def test_rates_over_all_choices_are_those_of_loops(square, kind, dtype, attempts, fusion):
    scores = made(square, kind, dtype)
    sign = -1 if kind == "similarity" else 1
    listed = twin.claims(
        (sign * scores.values).astype(np.float64),
        scores.probe_labels.tolist(),
        scores.gallery_labels.tolist(),
        visits=None if attempts is None else scores.probe_meta["visit"],
        square=square,
        enrol=2,
        fusion=fusion,
    )
    thresholds = sorted(sign * x for x in AT)
    tree = be.evaluate(scores, card(attempts, fusion, square), enrol=2, thresholds=thresholds)
    assert [node.path for node in tree.leaves] == ["/verification/multi"]
    found = tree["verification/multi"]
    for i, threshold in enumerate(thresholds):
        far, frr = twin.rates(listed, sign * threshold)
        assert found["far"][i] == pytest.approx(far, abs=1e-12)
        assert found["frr"][i] == pytest.approx(frr, abs=1e-12)
    assert "averaged-verification-alone" in [x.code for x in be.messages(tree)]


@pytest.mark.parametrize("enrol", ["first:2", "first:2:taken"])
def test_the_first_templates_are_the_gallery_of_all_tasks(enrol):
    scores = made()
    places = np.arange(scores.shape[1])
    if enrol.endswith("taken"):
        places = scores.gallery_meta["taken"]
    kept = []
    for subject in np.unique(scores.gallery_labels):
        of_subject = np.flatnonzero(scores.gallery_labels == subject)
        kept += of_subject[np.argsort(places[of_subject])][:2].tolist()
    expected = be.evaluate(scores.select(gallery=np.sort(kept)), thresholds=AT)
    found = be.evaluate(scores, enrol=enrol, thresholds=AT)
    assert [x.path for x in found.leaves] == [x.path for x in expected.leaves]
    for node in expected.leaves:
        for name, values in node.data_vars.items():
            np.testing.assert_array_equal(found[node.path][name], values)
        assert found[node.path].attrs["enrol"] == enrol
        assert found[node.path].attrs["fingerprint"] == scores.fingerprint


def test_the_other_templates_of_a_square_matrix_are_the_probes():
    scores = be.simulate(12, 5, sessions=2, random_state=1)
    tree = be.evaluate(scores, enrol="first:2")
    assert tree["verification/multi"].attrs["gallery_templates"] == 24
    assert tree["verification/multi"].attrs["probes"] == 36
    study = {"templates": "multi", "attempts": "session", "enrol": "first:2"}
    at = be.verification(scores, thresholds=AT, **study)
    found = be.evaluate(scores, card("session", square=True), enrol="first:2", thresholds=AT)[
        "verification/multi"
    ]
    np.testing.assert_array_equal(found["fa"], at["fa"])
    np.testing.assert_array_equal(found["fr"], at["fr"])


def test_a_given_threshold_and_further_ones_are_rows():
    scores = be.simulate(12, 4, layout="probe-against-gallery", probes=3, random_state=1)
    found = be.evaluate(scores, enrol=2, target="fixed=3.3", extra_thresholds=[3.7, 3.9])
    of_claims = found["verification/multi"]
    assert {3.3, 3.7, 3.9} <= set(of_claims["threshold"].values.tolist())
    exact = be.verification(scores, templates="multi", enrol=2, thresholds=[3.3])
    assert of_claims["frr_at_fixed"] == exact["frr"][0]
    assert of_claims["far_at_fixed"] == exact["far"][0]
    assert of_claims["frr_at_fixed_low"] <= of_claims["frr_at_fixed"]


@pytest.mark.parametrize(
    ("protocol", "options", "says"),
    [
        ("course-kfold", {"enrol": 2}, "enrol is not for folds"),
        ("course-all-vs-all", {"enrol": 2, "frr_targets": [0.1]}, "frr_targets and enrol=2"),
        ("course-all-vs-all", {"enrol": 9}, "no subject has more than 4 templates"),
        ("course-all-vs-all", {"enrol": "last:2"}, "enrol is 'last:2'"),
        ("market1501", {"enrol": "first:2"}, "evaluates reid, which enrol nobody"),
        ("fvc2004", {"enrol": 2}, "fvc2004 does not evaluate; enrol the first ones"),
        ("fvc2004", {"enrol": "first:2"}, "compares each pair of templates once"),
    ],
)
def test_what_cannot_be_enrolled_is_refused(protocol, options, says):
    scores = be.simulate(12, 4, random_state=1)
    with pytest.raises(be.BioevalError, match=says):
        be.evaluate(scores, protocol, **options)


def test_the_command_takes_the_use_of_a_system(tmp_path, capsys):
    scores = be.simulate(
        20, 4, layout="probe-against-gallery", probes=4, sessions=2, random_state=1
    )
    be.save(scores, tmp_path / "door.npz")
    use = {"templates": "multi", "attempts": "session", "enrol": 2}
    words = [f"--{name}={value}" for name, value in use.items()]
    assert main(["run", str(tmp_path / "door.npz"), *words, "--target=fixed=3.3", "--json"]) == 0
    (task,) = json.loads(capsys.readouterr().out)["tasks"].values()
    exact = be.verification(scores, thresholds=[3.3], **use)
    assert task["frr_at_fixed"] == exact["frr"].item()
    assert main(["run", str(tmp_path / "door.npz"), "--enrol=2", "--min-dcf=0.01"]) == 2
    assert "no minDCF" in capsys.readouterr().err

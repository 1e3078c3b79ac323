"""A given threshold is a target: FAR and FRR there, each with an interval."""

import numpy as np
import pytest

import bioeval as be
from bioeval.cli.program import main

LABELS = ["ann", "ann", "bob", "bob", "cat", "cat"]


def tied(kind="distance"):
    """Scores of few values, so that many are equal to a threshold."""
    rng = np.random.default_rng(1)
    d = rng.integers(0, 5, (6, 6)).astype(float)
    values = d if kind == "distance" else 10 - d
    return be.Scores(values, LABELS, kind=kind)


def counted(scores, threshold, beyond=False):
    """FRR and FAR by the definition, one comparison after the other."""
    rejected, accepted, genuine, impostor = 0, 0, 0, 0
    for i, one in enumerate(LABELS):
        for j, other in enumerate(LABELS):
            if i == j:
                continue
            value = scores.values[i, j]
            if scores.kind == "distance":
                accept = value < threshold if beyond else value <= threshold
            else:
                accept = value > threshold if beyond else value >= threshold
            if one == other:
                genuine += 1
                rejected += not accept
            else:
                impostor += 1
                accepted += accept
    return rejected / genuine, accepted / impostor


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("threshold", [-1.0, 0.0, 2.0, 2.5, 8.0, 20.0])
@pytest.mark.parametrize("accept", ["at", "beyond"])
def test_the_rates_are_those_of_the_definition(kind, threshold, accept):
    scores = tied(kind)
    ds = be.verification(scores, target=("fixed", threshold), accept=accept, interval="wilson")
    wanted = counted(scores, threshold, accept == "beyond")
    assert (float(ds.frr_at_fixed), float(ds.far_at_fixed)) == wanted
    assert float(ds.fixed_threshold) == threshold


@pytest.mark.parametrize("interval", ["subject-bootstrap", "analytic", "wilson"])
@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_limits_are_those_of_a_result_at_this_threshold(interval, templates, dtype):
    scores = be.simulate(20, 3, random_state=2)
    scores = be.Scores(np.asarray(scores.values).astype(dtype), scores.probe_labels)
    how = {"templates": templates, "interval": interval}
    ds = be.verification(scores, target="fixed=4.25", **how)
    there = be.verification(scores, thresholds=[4.25], **how)
    for name in ("frr", "far"):
        for end in ("", "_low", "_high"):
            assert float(ds[f"{name}_at_fixed{end}"]) == float(there[f"{name}{end}"][0])
    assert "eer_low" in ds or interval != "subject-bootstrap"


def test_without_a_method_people_are_resampled_or_attempts_are_independent():
    scores = be.simulate(20, 3, random_state=2)
    ds = be.verification(scores, target=4)
    assert ds.attrs["interval_method"] == "subject-bootstrap"
    assert "far_low" not in ds  # the curves have intervals only if these are asked for
    same = be.verification(scores, target=4, interval="subject-bootstrap")
    assert float(ds.far_at_fixed_high) == float(same.far_at_fixed_high)
    pairs = be.Scores.from_pairs([0.1, 0.2, 0.3, 0.4], [True, True, False, False])
    ds = be.verification(pairs, target="fixed=0.3")
    assert ds.attrs["interval_method"] == "wilson"
    assert (float(ds.frr_at_fixed), float(ds.far_at_fixed)) == (0, 0.5)


def test_a_row_at_the_threshold_has_the_same_limits():
    scores = be.simulate(20, 3, random_state=2)
    tree = be.evaluate(
        scores, target="fixed=4.25", extra_thresholds=[4.25], interval="subject-bootstrap"
    )
    for node in ("verification/single", "verification/multi", "open_set"):
        ds = tree[node].to_dataset()
        row = ds.sel(threshold=4.25)
        for end in ("", "_low", "_high"):
            assert float(row[f"far{end}"]) == float(ds[f"far_at_fixed{end}"])


def test_every_task_with_a_threshold_has_its_rates():
    scores = be.simulate(20, 3, random_state=2)
    tree = be.evaluate({"a": scores, "b": scores}, target=("fixed", 4.25))
    for system in ("a", "b"):
        single = tree[f"{system}/verification/single"].to_dataset()
        assert float(single.far_at_fixed) == float(be.at(scores, 4.25).far)
        searches = be.open_set(scores, thresholds=[4.25])
        open_set = tree[f"{system}/open_set"].to_dataset()
        assert float(open_set.far_at_fixed) == float(searches.far[0])
        assert float(open_set.dir_at_fixed) == float(searches.dir[0, 0])
        assert float(open_set.dir_at_fixed_low) <= float(open_set.dir_at_fixed)
        assert "far_at_fixed" not in tree[f"{system}/closed_set"].to_dataset()


def test_failures_one_subject_and_transactions():
    values = np.array(tied().values)
    values[0, 1] = values[1, 0] = np.nan
    ds = be.verification(be.Scores(values, LABELS, nan="reject"), target=2)
    assert np.isfinite(ds.frr_at_fixed) and np.isfinite(ds.far_at_fixed)
    one = be.verification(be.Scores([[0, 1], [1, 0]], ["ann", "ann"]), target=1, interval="wilson")
    assert float(one.frr_at_fixed) == 0
    assert np.isnan(one.far_at_fixed)
    visits = be.Scores([[0, 4], [3, 1]], ["a", "a"], ["a", "b"], probe_meta={"visit": [1, 1]})
    claims = be.claim_scores(visits, attempts="visit")
    ds = be.verification(claims, target=1, interval="wilson")
    assert (float(ds.frr_at_fixed), float(ds.far_at_fixed)) == (0, 1)


def test_a_card_with_folds_takes_any_rule():
    scores = be.simulate(20, 3, random_state=2)
    tree = be.evaluate(scores, "course-kfold", target="far=0.05")
    folds = tree["folds/verification/single"].to_dataset()
    assert folds.attrs["threshold_rule"] == "far=0.05"


def test_what_cannot_be_a_target():
    scores = be.simulate(20, 3, random_state=2)
    with pytest.raises(be.ProtocolError, match="no part to choose it on"):
        be.evaluate(scores, target="far=0.01")
    with pytest.raises(be.ProtocolError, match="study_threshold"):
        be.verification(scores, target="eer")
    with pytest.raises(be.DataError, match="finite"):
        be.verification(scores, target=np.inf)
    with pytest.raises(be.DataError, match="target"):
        be.verification(scores, target="4 or so")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    be.save(be.simulate(20, 3, random_state=2), "scores.npz")


def test_the_command_has_the_same_numbers(file, capsys):
    import json

    assert main(["run", "scores.npz", "--target", "fixed=4.25", "--json"]) == 0
    task = json.loads(capsys.readouterr().out)["tasks"]["verification/single"]
    ds = be.verification(be.load("scores.npz"), target="fixed=4.25")
    for name in ("far_at_fixed", "far_at_fixed_low", "frr_at_fixed_high", "fixed_threshold"):
        assert task[name] == float(ds[name])
    assert main(["run", "scores.npz", "--target", "fixed=4.25", "--latex"]) == 0
    assert "FAR at the given threshold" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "far=1%"], "--thresholds T,T; bioeval threshold FILE --target far=0.01"),
        (["--target", "fixed=4", "--protocol", "market1501"], "protocol market1501 has neither"),
    ],
)
def test_a_refused_target_says_what_to_do(file, capsys, words, said):
    assert main(["run", "scores.npz", *words]) == 2
    assert said in capsys.readouterr().err

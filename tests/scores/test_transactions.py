"""Transactions: all probes of a subject that share a value make one attempt."""

from __future__ import annotations

import json

import naive
import numpy as np
import pytest
import strategies as cases
from hypothesis import HealthCheck, given, settings, strategies as st
from result_messages import arguments
from strategies import examples_of

import bioeval as be
from bioeval import protocol
from bioeval.base.errors import DataError, ProtocolError
from bioeval.cli import main
from bioeval.scores import blocks

RELAXED = settings(
    max_examples=examples_of(15),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check(ds, genuine, impostor, thresholds, kind):
    counts = naive.verification_counts(genuine, impostor, thresholds, kind)
    assert (ds.genuine_attempts, ds.impostor_attempts) == (len(genuine), len(impostor))
    for name, expected in zip(("ga", "fr", "fa", "gr"), counts, strict=True):
        np.testing.assert_array_equal(ds[name], expected)
    if genuine and impostor:
        eer = naive.eer(genuine, impostor, kind).value
        np.testing.assert_allclose(float(ds.eer), float(eer), rtol=0, atol=1e-12)


@RELAXED
@given(
    st.data(), st.sampled_from(("single", "multi")), st.sampled_from(cases.FUSIONS), st.booleans()
)
def test_they_equal_the_definition(data, templates, fusion, one_row_at_a_time):
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    m = len(case.values)
    column = data.draw(st.lists(st.sampled_from(["x", "y"]), min_size=m, max_size=m))
    scores = be.Scores(**case.scores(), probe_meta={"visit": column})
    genuine, impostor = naive.attempts_of_transactions(
        **case.naive(), column=column, templates=templates, fusion=fusion
    )
    t = data.draw(cases.thresholds(case, extra=[*genuine, *impostor]))
    whole, small = blocks.BLOCK_VALUES, blocks.SMALL_CELLS
    if one_row_at_a_time:  # transactions are then read in parts
        blocks.BLOCK_VALUES = blocks.SMALL_CELLS = 1
    try:
        ds = be.verification(
            scores, templates=templates, fusion=fusion, thresholds=t, attempts="visit"
        )
    finally:
        blocks.BLOCK_VALUES, blocks.SMALL_CELLS = whole, small
    check(ds, genuine, impostor, t, case.kind)
    assert ds.attrs["attempts"] == "visit"


def people(square=True, visits=2, order=None):
    """Return scores of 12 people with 4 templates each, `visits` templates a visit."""
    scores = be.simulate(12, 4, random_state=3)
    order = np.arange(48) if order is None else order
    values = np.asarray(scores.values)
    who = np.asarray(scores.probe_labels)
    visit = np.arange(48) // visits
    if square:
        values = values[np.ix_(order, order)]
        return be.Scores(values, who[order], probe_meta={"visit": visit[order]})
    return be.Scores(values[order], who[order], who, probe_meta={"visit": visit[order]})


@pytest.mark.slow
@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.cases(1)
def test_a_try_each_changes_nothing(square, templates):
    scores = people(square, visits=1)
    plain = be.verification(scores, templates=templates, interval="subject-bootstrap")
    tries = be.verification(
        scores, templates=templates, interval="subject-bootstrap", attempts="visit"
    )
    del tries.attrs["attempts"]
    assert plain.identical(tries)


@pytest.mark.slow
@pytest.mark.parametrize("square", [True, False])
def test_the_order_of_the_templates_changes_nothing(square):
    order = np.random.default_rng(0).permutation(48)
    options = {"interval": "subject-bootstrap", "attempts": "visit", "replicates": 200}
    a, b = (be.verification(people(square, order=x), **options) for x in (None, order))
    for name in ("eer", "auc", "genuine_attempts", "impostor_attempts", "frr_at_far"):
        np.testing.assert_allclose(a[name], b[name], rtol=1e-12)
    for name in ("genuine_subjects", "disjoint_pairs"):
        assert a[name] == b[name]


def test_more_tries_are_accepted_more_often_at_every_threshold():
    scores = people(False)
    grid = np.linspace(scores.values.min(), scores.values.max(), 50)
    one = be.verification(scores, thresholds=grid)
    two = be.verification(scores, thresholds=grid, attempts="visit")
    assert (two.gar >= one.gar).all() and (two.far >= one.far).all()
    assert (two.far > one.far).any()
    assert two.genuine_attempts * 2 == one.genuine_attempts


def test_intervals_count_each_attempt_at_its_subjects():
    """The replicate in which every subject is drawn once is the data: limits hold the rate."""
    ds = be.verification(people(), attempts="visit", interval="subject-bootstrap", replicates=500)
    assert ds.eer_low < ds.eer < ds.eer_high
    assert ds.genuine_subjects == 12
    analytic = be.verification(people(), attempts="visit", interval="analytic")
    inner = (ds.frr > 0.02).values & (ds.frr < 0.98).values
    np.testing.assert_allclose(
        (ds.frr_high - ds.frr_low)[inner], (analytic.frr_high - analytic.frr_low)[inner], atol=0.15
    )


def test_all_tasks_of_a_card_in_one_call(tmp_path):
    card = tmp_path / "visits.toml"
    card.write_text(
        'schema = 1\nname = "visits"\ntitle = "Visits"\nsummary = "Two tries."\n'
        'layout = "all-against-all"\n[source]\ntext = "Test plan"\nyear = 2024\n'
        '[verification]\nattempts = "visit"\nfusion = "mean"\n[closed_set]\n'
    )
    scores = people()
    tree = be.evaluate(scores, str(card), interval="subject-bootstrap", replicates=200)
    for templates, options in (("single", {}), ("multi", {"fusion": "mean"})):
        alone = be.verification(
            scores, templates=templates, attempts="visit", **options,
            interval="subject-bootstrap", replicates=200,
        )  # fmt: skip
        node = tree[f"verification/{templates}"].to_dataset()
        for name in ("eer", "eer_low", "gar", "far_high"):
            np.testing.assert_array_equal(node[name], alone[name])
    assert tree["closed_set"].attempts == be.closed_set(scores).attempts
    claims = card.read_text() + "[claims]\n"
    with pytest.raises(be.CardError, match=r'attempts = "visit" has no meaning beside \[claims\]'):
        protocol.parse(claims, "visits.toml")


def test_errors_say_what_and_where():
    scores = people()
    with pytest.raises(DataError, match=r"attempts names 'visits'.*Did you mean 'visit'\?"):
        be.verification(scores, attempts="visits")
    gaps = be.Scores(np.ones((3, 3)), ["a", "a", "b"], probe_meta={"visit": ["x", None, "y"]})
    with pytest.raises(DataError, match="1 probes have no value in 'visit', the first is probe 1"):
        be.verification(gaps, attempts="visit")
    with pytest.raises(ProtocolError, match="fixed pairs"):
        be.verification(be.Scores.from_pairs([0.1, 0.2], [1, 0]), attempts="visit")
    with pytest.raises(ProtocolError, match="needs the subjects"):
        mask = np.array([[0, 1], [2, 0]])
        be.verification(
            be.Scores(np.ones((2, 2)), mask=mask, probe_meta={"visit": [1, 2]}), attempts="visit"
        )
    with pytest.raises(ProtocolError, match="claims are of probes"):
        be.verification(scores, attempts="visit", claims=np.asarray(scores.probe_labels))


def test_an_error_names_the_row_of_the_scores_whatever_their_order():
    values = np.ones((4, 4))
    values[2, 0] = values[2, 1] = np.nan
    scores = be.Scores(values, ["a", "b", "a", "b"], probe_meta={"visit": [1, 2, 2, 2]})
    with pytest.raises(DataError, match="2 NaN, the first at row 2, column 0"):
        be.verification(scores, attempts="visit")
    same = be.Scores(values[:, :2], ["a", "b", "b", "b"], ["a", "b"], nan="exclude",
                     probe_meta={"visit": [1, 1, 2, 1]})  # fmt: skip
    ds = be.verification(same, attempts="visit")
    assert (ds.genuine_attempts, ds.impostor_attempts) == (2, 2)


def test_a_row_of_sentinels_is_named_by_its_row():
    rng = np.random.default_rng(0)
    values = rng.random((40, 40))
    values[7] = -1
    who, visit = np.arange(40) % 10, np.arange(40) // 20
    ds = be.verification(be.Scores(values, who, probe_meta={"visit": visit}), attempts="visit")
    assert arguments(ds, "constant-rows")["first"] == [7]


def test_the_command_line(tmp_path, capsys):
    file = tmp_path / "scores.npz"
    be.save(people(), str(file))
    assert main(["run", str(file), "--attempts", "visit", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["tasks"]["verification/single"]
    ds = be.verification(people(), attempts="visit")
    assert (found["attempts"], found["eer"]) == ("visit", float(ds.eer))
    assert main(["run", str(file), "--attempts", "visit"]) == 0
    assert "one attempt for all probes of a subject with the same visit" in capsys.readouterr().out
    assert main(["run", str(file), "--attempts", "visi"]) == 2
    assert "--attempts names 'visi'" in capsys.readouterr().err
    assert main(["run", str(file), "--attempts", "visit", "--protocol", "course-kfold"]) == 2
    assert "--attempts does not apply in folds" in capsys.readouterr().err

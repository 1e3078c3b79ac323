"""The plan of a run: its arithmetic, its measurement and its command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import bioeval as be
from bioeval.cli.lazy_group import root
from bioeval.scores.blocks import BlockReader
from bioeval.studies.planning import planned_run


@pytest.fixture
def known_speed(monkeypatch):
    monkeypatch.setattr(planned_run, "_seconds", lambda *given: 3e-9 * given[-1])


@pytest.mark.usefixtures("known_speed")
def test_the_whole_run_is_counted_as_it_is():
    plan = be.plan_run(templates=40, dim=16, subjects=10, workers=4, dtype="float64")
    pairs = [(i, j) for i in range(40) for j in range(40)]
    genuine = [(i, j) for i, j in pairs if i % 10 == j % 10 and i != j]
    assert float(plan.comparisons) == len(pairs)
    assert float(plan.genuine_comparisons) == len(genuine)
    assert float(plan.core_hours) == pytest.approx(3e-9 * len(pairs) / 3600)
    assert float(plan.hours) == pytest.approx(float(plan.core_hours) / 4)
    assert float(plan.embedding_bytes) == np.zeros((40, 16)).nbytes
    assert float(plan.matrix_bytes) == np.zeros((40, 40)).nbytes


@pytest.mark.usefixtures("known_speed")
def test_probes_against_a_gallery():
    plan = be.plan_run(templates=60, subjects=20, probes=40, dim=8)
    assert float(plan.comparisons) == 40 * 60
    assert float(plan.genuine_comparisons) == 40 * 3
    assert float(plan.embedding_bytes) == 100 * 8 * 4


@pytest.mark.usefixtures("known_speed")
def test_what_is_too_large_for_the_machine_is_said(monkeypatch):
    monkeypatch.setattr(planned_run, "physical_memory", lambda: 1 << 30)
    plan = be.plan_run(templates=1e8, dim=512)
    (message,) = be.messages(plan)
    assert message.code == "run-exceeds-memory" and message.arguments["parts"] > 1
    assert message.arguments["needed"] == float(plan.working_bytes)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "templates"),
        ({"templates": 1}, r"templates is 1; expected a number in \[4"),
        ({"templates": 10, "subjects": 20}, "more than templates"),
        ({"templates": 10, "subjects": 10}, "no genuine comparison"),
        ({"templates": 10, "dtype": "int8"}, "dtype is 'int8'"),
        ({"templates": float("nan")}, "templates is nan"),
        ({"templates": 100, "workers": 0}, "workers is 0"),
    ],
)
def test_bad_numbers_are_refused(given, match):
    with pytest.raises(be.DataError, match=match):
        be.plan_run(**given)


@pytest.mark.usefixtures("known_speed")
@pytest.mark.slow
def test_scores_describe_themselves():
    scores = be.simulate(20, 3, random_state=1)
    plan = be.plan_run(scores)
    assert float(plan.comparisons) == 60 * 60
    assert float(plan.genuine_comparisons) == 20 * 3 * 2
    with pytest.raises(be.DataError, match="give either"):
        be.plan_run(scores, templates=10)


@pytest.mark.usefixtures("known_speed")
def test_the_command_prints_a_table_and_json():
    given = ["plan", "--templates", "1e8", "--dim", "512", "--workers", "64"]
    table = CliRunner().invoke(root, given)
    assert table.exit_code == 0, table.output
    assert "time on 64 workers" in table.output
    assert max(map(len, table.output.splitlines())) <= 100
    document = json.loads(CliRunner().invoke(root, [*given, "--json"]).output)
    assert document["comparisons"] == 1e16
    assert document["hours"] == pytest.approx(document["core_hours"] / 64)
    cost = {row["quantity"]: (row["value"], row["unit"]) for row in document["cost"]}
    assert cost["comparisons"] == (1e16, "comparisons")
    assert cost["processor time"] == (pytest.approx(3600 * document["core_hours"]), "seconds")


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"dim": 8}, {"probes": 2e3}, {"dim": 8, "probes": 2e3}])
@pytest.mark.cases(2)
def test_a_measurement_runs(monkeypatch, given):
    monkeypatch.setattr(planned_run, "MEASURED", 300)
    plan = be.plan_run(templates=1e4, metric="l2", **given)
    assert 0 <= float(plan.hours) < 1


def _how(dtype="float32", **given):
    return planned_run._Measured(8, dtype, "cosine", 10, given.pop("share", None), dtype, **given)


def test_the_measured_blocks_hold_whole_tiles():
    """A block of fewer rows than a tile would compute the tile for each of its rows."""
    for share in (None, 0.5):
        example = planned_run._example(_how(share=share), planned_run.MEASURED)()
        assert example._streams
        assert BlockReader(example).rows_per_block() >= example._base.tile > 1


def test_an_example_is_compared_as_the_planned_scores():
    for dtype in ("float32", "float64"):
        streamed = planned_run._example(_how(dtype), 600)()
        assert streamed._streams
        assert streamed.dtype == dtype
    assert not planned_run._example(_how(held=True), 600)()._streams
    assert planned_run._example(_how(tiled=False), 600)()._base.tile == 1


@pytest.mark.parametrize("templates", [1_000, 100_000])
def test_the_time_has_a_part_that_does_not_grow(monkeypatch, templates):
    clock = [0.0]

    def evaluate(scores, *_, **__):
        clock[0] += 0.02 + 5e-9 * scores.shape[0] * scores.shape[1]

    monkeypatch.setattr(planned_run, "MEASURED", 600)
    monkeypatch.setattr(planned_run, "evaluate", evaluate)
    monkeypatch.setattr(planned_run.time, "process_time", lambda: clock[0])
    plan = be.plan_run(templates=templates, dim=8)
    assert float(plan.core_hours) * 3600 == pytest.approx(0.02 + 5e-9 * templates**2)


def _planned(monkeypatch, **given):
    """Return a plan, and how its example is made."""
    kept = []
    monkeypatch.setattr(planned_run, "_seconds", lambda how, *_: kept.append(how) or 1.0)
    return be.plan_run(**given), kept[0]


def test_a_small_matrix_of_embeddings_is_made_whole(monkeypatch):
    small, how = _planned(monkeypatch, templates=2_000, dim=128)
    assert how.held
    assert how.distances == "float64"
    assert float(small.working_bytes) > float(small.matrix_bytes) == 8 * 2_000**2
    made_later, how = _planned(monkeypatch, templates=10_000, dim=128)
    assert not how.held
    assert float(made_later.working_bytes) < float(made_later.matrix_bytes) / 2
    large, how = _planned(monkeypatch, templates=20_000, dim=128)
    assert not how.held
    assert float(large.working_bytes) < float(large.matrix_bytes) / 10


def test_embeddings_are_planned_in_the_dtype_of_their_distances(monkeypatch):
    x = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    labels = np.arange(40) // 4
    for limit, held in ((1, False), (1 << 30, True)):
        scores = be.Scores.from_embeddings(x, labels, dtype="float32", memory_limit=limit)
        plan, how = _planned(monkeypatch, scores=scores)
        assert (how.distances, how.held) == ("float32", held)
        assert float(plan.embedding_bytes) == x.nbytes
    wide = be.Scores.from_embeddings(x, labels, memory_limit=1)
    plan, how = _planned(monkeypatch, scores=wide)
    assert how[:3] == (8, "float32", "cosine") and how.distances == "float64"
    assert float(plan.embedding_bytes) == x.nbytes
    monkeypatch.setattr("bioeval.scores.embeddings.MANY_TO_MAKE", 0)
    later = be.Scores.from_embeddings(x, labels, metric="l1")
    plan, how = _planned(monkeypatch, scores=later)
    assert how.metric == "l1" and how.held == (later._embedding_source is None)
    plan, how = _planned(monkeypatch, scores=be.Scores(scores.values, labels))
    assert how.features == 0

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
    monkeypatch.setattr(planned_run, "_seconds_per_comparison", lambda scores, *_: 3e-9)


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
    assert "gallery into" in be.plan_run(templates=1e8, dim=512).attrs["warnings"]


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
    assert max(map(len, table.output.splitlines())) <= 80
    document = json.loads(CliRunner().invoke(root, [*given, "--json"]).output)
    assert document["comparisons"] == 1e16
    assert document["hours"] == pytest.approx(document["core_hours"] / 64)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"dim": 8}, {"probes": 2e3}, {"dim": 8, "probes": 2e3}])
@pytest.mark.cases(2)
def test_a_measurement_runs(monkeypatch, given):
    monkeypatch.setattr(planned_run, "MEASURED", 300)
    plan = be.plan_run(templates=1e4, metric="l2", **given)
    assert 0 <= float(plan.hours) < 1


def test_the_measured_blocks_hold_whole_tiles():
    """A block of fewer rows than a tile would compute the tile for each of its rows."""
    for share in (None, 0.5):
        example = planned_run._example((8, "float32", "cosine"), 10, share)
        assert example.streams
        assert BlockReader(example).rows_per_block() >= example.base.tile > 1

"""The plan of a run: its arithmetic, its calibration and its command."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import bioeval as be
from bioeval.cli import main as _  # noqa: F401  (loads the group)
from bioeval.cli.lazy_group import root
from bioeval.evaluation import machine_speed, planned_run
from bioeval.evaluation.machine_speed import Speed, Work

SPEED = Speed(2.0, 1e-3, 1e-8, "2026-01-01", "a machine", 0.0)


@pytest.fixture(autouse=True)
def known_speed(monkeypatch):
    monkeypatch.setattr(planned_run, "speed_of", lambda work, again: SPEED)


def test_the_whole_run_is_counted_as_it_is():
    plan = be.plan_run(
        templates=40, dim=16, subjects=10, workers=4, price=0.5, dtype="float64"
    ).sel(run="everything")
    pairs = [(i, j) for i in range(40) for j in range(40)]
    genuine = [(i, j) for i, j in pairs if i % 10 == j % 10 and i != j]
    assert float(plan.comparisons) == len(pairs)
    assert float(plan.genuine_comparisons) == len(genuine)
    seconds = 2.0 + 1e-3 * (40 + 40) + 1e-8 * len(pairs)
    assert float(plan.core_hours) == pytest.approx(seconds / 3600)
    assert float(plan.hours) == pytest.approx(seconds / 3600 / 4)
    assert float(plan.cost) == pytest.approx(seconds / 3600 * 0.5)
    assert float(plan.embedding_bytes) == np.zeros((40, 16)).nbytes
    assert float(plan.matrix_bytes) == np.zeros((40, 40)).nbytes


def test_probes_against_a_gallery():
    plan = be.plan_run(templates=60, subjects=20, probes=40, dim=8)
    whole = plan.sel(run="everything")
    assert float(whole.comparisons) == 40 * 60
    assert float(whole.genuine_comparisons) == 40 * 3
    assert "one probe a subject" not in plan.run.values


@pytest.mark.parametrize("given", [{"max_hours": 0.5}, {"max_cost": 3.0, "price": 2.0}])
def test_smaller_runs_fit_the_limit(given):
    plan = be.plan_run(templates=1e6, dim=8, workers=3, **given)
    limit = given.get("max_hours", 0) * 3 or given["max_cost"] / given["price"]
    assert float(plan.core_hours.sel(run="everything")) > limit
    for run in ("fewer subjects", "fewer probes"):
        assert 0.98 * limit < float(plan.core_hours.sel(run=run)) <= limit
    assert "more than the limit" in plan.attrs["warnings"]


def test_fewer_people_are_less_certain_and_one_probe_each_hardly():
    frr = be.plan_run(templates=1e6, subjects=1e5, dim=8, icc=0.5).frr_interval
    whole = float(frr.sel(run="everything"))
    assert float(frr.sel(run="one probe a subject")) < 1.2 * whole
    assert float(frr.sel(run="fewer subjects")) == pytest.approx(whole / 0.1**0.25, rel=1e-4)


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
        ({"templates": 10, "max_cost": 1.0}, "max_cost needs price"),
        ({"templates": 10, "dtype": "int8"}, "dtype is 'int8'"),
        ({"templates": float("nan")}, "templates is nan"),
        ({"templates": 100, "workers": 0}, "workers is 0"),
    ],
)
def test_bad_numbers_are_refused(given, match):
    with pytest.raises(be.DataError, match=match):
        be.plan_run(**given)


def test_scores_describe_themselves():
    scores = be.simulate(20, 3, random_state=1)
    plan = be.plan_run(scores).sel(run="everything")
    assert float(plan.comparisons) == 60 * 60
    assert float(plan.planned_subjects) == 20
    with pytest.raises(be.DataError, match="give either"):
        be.plan_run(scores, templates=10)


def test_the_command_prints_a_table_and_json():
    given = ["plan", "--templates", "1e8", "--dim", "512", "--workers", "64", "--price", "0.04"]
    table = CliRunner().invoke(root, given)
    assert table.exit_code == 0, table.output
    assert "everything" in table.output
    document = json.loads(CliRunner().invoke(root, [*given, "--json"]).output)
    assert document["runs"][0]["comparisons"] == 1e16
    assert document["runs"][0]["cost"] == pytest.approx(0.04 * document["runs"][0]["core_hours"])


def test_a_calibration_is_measured_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    measured = []

    def measure(work, machine):
        measured.append(work)
        return Speed(1.0, 0.0, 1e-9, machine_speed.time.strftime("%Y-%m-%d"), machine, 0.0)

    monkeypatch.setattr(machine_speed, "_measured", measure)
    work = Work("auto", 16, "float32", "cosine", 5, 0.0, True)
    other = Work("auto", 32, "float32", "cosine", 5, 0.0, True)
    first = machine_speed.speed_of(work)
    assert machine_speed.speed_of(work) == first
    machine_speed.speed_of(other)
    machine_speed.speed_of(work, again=True)
    assert measured == [work, other, work]
    monkeypatch.setattr(machine_speed, "machine_facts", lambda: "another machine")
    machine_speed.speed_of(work)
    assert len(measured) == 4
    (tmp_path / "bioeval" / "speed.json").write_text("{not json")
    machine_speed.speed_of(work)
    assert len(measured) == 5


@pytest.mark.slow
@pytest.mark.parametrize("dim", [0, 8])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_calibration_runs(tmp_path, monkeypatch, dim, share):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(machine_speed, "SIZES", (300, 600, 900))
    monkeypatch.setattr(machine_speed, "MATRICES", (300, 600, 900))
    speed = machine_speed.speed_of(Work("auto", dim, "float32", "l2", 5, share, True))
    assert speed.seconds(1000, 1000) > 0
    assert speed.cell >= 0

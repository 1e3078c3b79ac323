"""Runs that are killed, stopped and cut off, with real processes: the trials of `scripts/soak`."""

from __future__ import annotations

import pytest

import bioeval as be
from bioeval.evaluation.blocks import cluster
from tests.optional import optional_import

optional_import("distributed")

import soak_study  # noqa: E402 (starts clusters)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of connections that break: they are to
]


@pytest.fixture(scope="module")
def whole():
    return be.tally(soak_study.population())


@pytest.fixture(autouse=True)
def patience_is_short(monkeypatch):
    """A worker is removed soon, though not while it loads its libraries."""
    monkeypatch.setattr(soak_study, "WORKER_TTL", "10s")


@pytest.mark.parametrize("name", soak_study.DISTURBANCES)
def test_a_cluster_that_is_disturbed_counts_the_same(name, whole):
    result = soak_study.disturbed(soak_study.DISTURBANCES[name])
    assert soak_study.same(result, whole), result


def test_a_worker_may_be_killed_at_any_moment():
    message = []
    assert soak_study.kill_at_moments(1, 3, message.append), message
    assert len(message) == len(soak_study.PHASES)


@pytest.mark.parametrize("moment", soak_study.MOMENTS)
def test_of_two_workers_one_may_stand_still_at_any_moment(moment, whole):
    result = soak_study.disturbed(soak_study.stop_worker, 2, moment)
    assert soak_study.same(result, whole), result


def test_a_run_ends_with_an_error_when_its_only_worker_stands_still(monkeypatch):
    monkeypatch.setattr(cluster, "LOST", 5.0)
    result = soak_study.disturbed(soak_study.stop_worker, 1)
    assert isinstance(result, be.EngineError)
    assert "has had no worker for 5 seconds" in str(result)


def test_without_a_scheduler_a_run_ends_with_an_error():
    result = soak_study.disturbed(soak_study.kill_scheduler)
    assert isinstance(result, be.EngineError)
    assert "the scheduler of the cluster" in str(result)


def test_a_run_that_is_killed_goes_on_from_its_checkpoint():
    message = []
    assert soak_study.kill_checkpointed(3, 5, message.append), message


def test_a_run_without_room_goes_on_once_there_is_some():
    message = []
    assert soak_study.full_disk(message.append), message

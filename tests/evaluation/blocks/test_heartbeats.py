"""Workers that stand still are found by their heartbeats."""

from __future__ import annotations

import types

import pytest

import bioeval as be
from bioeval.evaluation.blocks import heartbeats
from bioeval.evaluation.blocks.heartbeats import Heartbeats


class Client:
    """A client whose scheduler says when each worker was last seen."""

    def __init__(self):
        self.status, self.seen, self.removed = "running", {}, []
        self.scheduler = types.SimpleNamespace(
            identity=lambda n_workers: {
                "workers": {x: {"last_seen": t, "nthreads": 2} for x, t in self.seen.items()}
            },
            restart_workers=lambda workers, **_: self.removed.extend(map(self.remove, workers)),
        )

    def remove(self, name):
        del self.seen[name]
        return name

    def sync(self, call, callback_timeout=None, **options):
        return call(**options)


@pytest.fixture
def looks(monkeypatch):
    """Return heartbeats, and a function that looks again after some seconds."""
    clock = [0.0]
    monkeypatch.setattr(heartbeats.time, "monotonic", lambda: clock[0])
    client = Client()
    found = Heartbeats(client)

    def look(seconds, **seen):
        clock[0] += seconds
        client.seen = seen
        found.look()

    return found, client, look


def test_a_worker_is_silent_while_its_last_sign_of_life_stays(looks):
    found, _, look = looks
    for second in range(5):
        look(1.0, a=0.0, b=float(second))
    assert found.threads == {"a": 2, "b": 2}
    assert found.silent(3.9) == {"a"}
    assert found.silent(4.0) == set()
    look(1.0, a=9.0, b=4.0)
    assert found.silent(0.5) == {"b"}


def test_while_a_scheduler_does_not_answer_nobody_is_silent(looks):
    found, _, look = looks
    look(1.0, a=0.0, b=0.0)
    look(600.0, a=0.0, b=601.0)
    assert found.silent(heartbeats.BETWEEN) == set()


def test_a_worker_that_ended_is_logged_once(looks, caplog):
    _, _, look = looks
    look(1.0, a=0.0, b=0.0)
    assert not caplog.records
    look(1.0, b=1.0)
    look(1.0, b=2.0)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == (
        "worker a ended: what was under way there is counted again elsewhere; workers left: 1"
    )


def test_workers_are_given_up_while_others_are_heard(looks, caplog):
    found, client, look = looks
    for _ in range(5):
        look(1.0, a=0.0, b=0.0)
    found.give_up(3.0)
    assert client.removed == []
    look(1.0, a=0.0, b=1.0)
    found.give_up(6.0)
    assert client.removed == []
    found.give_up(3.0)
    assert client.removed == ["a"]
    assert found.threads == {"b": 2}
    (record,) = caplog.records
    assert record.getMessage() == (
        "worker a gave no sign of life for 3 s, and is taken out of the cluster"
    )


def test_without_a_scheduler_there_are_no_workers(looks):
    found, client, look = looks
    client.status = "closed"
    with pytest.raises(be.EngineError, match="the scheduler of the cluster is lost"):
        look(1.0)
    client.status, client.scheduler = "running", None
    with pytest.raises(be.EngineError, match="does not answer"):
        look(1.0)

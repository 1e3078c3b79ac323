"""Commands whose call takes claim scores count the attempts of a system, as it is used."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bioeval as be
from bioeval.cli.program import main

USE = ["--templates", "multi", "--fusion", "mean"]


def claims(scores: be.Scores) -> tuple[np.ndarray, np.ndarray]:
    """Genuine and impostor claims by loops: means over the other templates of a subject."""
    values, who = np.asarray(scores.values), np.asarray(scores.probe_labels)
    genuine, impostor = [], []
    for i in range(len(who)):
        for subject in dict.fromkeys(who):
            others = [j for j in range(len(who)) if who[j] == subject and j != i]
            fused = sum(values[i, j] for j in others) / len(others)
            (genuine if subject == who[i] else impostor).append(fused)
    return np.array(genuine), np.array(impostor)


def auc(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """How often a genuine distance is the smaller one; half where they are equal."""
    less = (genuine[:, None] < impostor).mean()
    return less + (genuine[:, None] == impostor).mean() / 2


@pytest.fixture
def systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = {"a": be.simulate(12, 3, random_state=1), "b": be.simulate(12, 3, random_state=2)}
    for name, scores in found.items():
        be.save(scores, f"{name}.npz")
    return found


@pytest.fixture
def document(capsys):
    def run(*words: str):
        assert main([*words, *USE, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_claims_are_compared(systems, document):
    found = document("compare", "a.npz", "b.npz", "--measure", "auc")
    assert found["use"].endswith("fused by mean")
    shown = {row["system"]: row["value"] for row in found["ranking"]}
    right = {name: auc(*claims(scores)) for name, scores in systems.items()}
    assert shown == pytest.approx(right)


def test_claims_are_fused(systems, document):
    found = document("fuse", "a.npz", "b.npz", "--normalise", "none")
    shown = {row["system"]: row["auc"] for row in found["systems"]}
    (one, other) = map(claims, systems.values())
    both = [(x + y) / 2 for x, y in zip(one, other, strict=True)]
    assert shown == pytest.approx({"a": auc(*one), "b": auc(*other), "fused": auc(*both)})


def test_a_day_is_of_claims(systems, document):
    genuine, impostor = claims(systems["a"])
    at = float(np.median(impostor))
    found = document(
        *("workload", "a.npz", "--people", "1000", "--impostors", "0.1", "--threshold", str(at))
    )
    rates = {row["event"]: row["rate"] for row in found["events"]}
    right = {"false-alarm": (impostor <= at).mean(), "rejected": (genuine > at).mean()}
    assert rates == pytest.approx(right)


def test_a_gallery_has_no_claims(systems, capsys):
    assert main(["gallery-size", "a.npz", *USE]) == 2
    assert "these are claim scores, which are for verification" in capsys.readouterr().err

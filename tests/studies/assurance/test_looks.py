"""A claim looked at again as data grow: looks are planned, recognised and share the error."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr

import bioeval as be
from bioeval.cli import main

CLAIM = {"far": 0.05}


def grown(people: int) -> be.Scores:
    """The first people of one collection."""
    whole = be.simulate(60, 3, random_state=4)
    first = np.flatnonzero(whole.probe_labels < people)
    return whole.select(probes=first, gallery=first)


def test_each_look_has_an_equal_part_of_the_error():
    planned = be.check_claim(grown(60), 3.0, looks=5, **CLAIM)
    alone = be.check_claim(grown(60), 3.0, confidence=0.99, **CLAIM)
    assert planned.far_high == alone.far_high and planned.far_low == alone.far_low
    assert planned.attrs["confidence"] == 0.95
    assert planned.attrs["confidence_of_a_look"] == pytest.approx(0.99)


def test_data_with_people_of_an_earlier_look_are_looks():
    first = be.check_claim(grown(20), 3.0, looks=2, **CLAIM)
    second = be.check_claim(grown(40), 3.0, looks=2, previous=first, **CLAIM)
    assert (first.look, second.look) == (1, 2)
    with pytest.raises(be.DataError, match="this is look 3 at the claim") as raised:
        be.check_claim(grown(60), 3.0, looks=2, previous=[first, second], **CLAIM)
    assert "2 earlier results" in str(raised.value)


def test_a_look_that_was_not_planned_is_refused():
    first = be.check_claim(grown(20), 3.0, **CLAIM)
    with pytest.raises(be.DataError, match="this is look 2 at the claim"):
        be.check_claim(grown(40), 3.0, previous=first, **CLAIM)
    with pytest.raises(be.DataError, match="expected the number planned before"):
        be.check_claim(grown(40), 3.0, looks=2, previous=first, **CLAIM)


def test_other_people_are_a_test_of_their_own():
    first = be.check_claim(grown(20), 3.0, **CLAIM)
    whole = be.simulate(60, 3, random_state=4)
    others = np.flatnonzero(whole.probe_labels >= 20)
    second = be.check_claim(
        whole.select(probes=others, gallery=others), 3.0, previous=[first], **CLAIM
    )
    assert second.look == 1 and second.attrs["looks_at_other_people"] == 1


@pytest.mark.parametrize(
    ("threshold", "options", "wrong"),
    [
        (3.1, {"far": 0.05}, "threshold is 3"),
        (3.0, {"far": 0.04}, "claim is 0.05"),
        (3.0, {"frr": 0.05}, "rate is far"),
        (3.0, {"far": 0.05, "confidence": 0.9}, "confidence is 0.95"),
    ],
)
def test_earlier_looks_are_at_the_same_claim(threshold, options, wrong):
    first = be.check_claim(grown(20), 3.0, looks=3, **CLAIM)
    with pytest.raises(be.DataError, match=f"has a result whose {wrong}"):
        be.check_claim(grown(40), threshold, looks=3, previous=first, **options)


@pytest.mark.parametrize("previous", [3, [None], xr.Dataset()])
def test_what_is_no_result_is_refused(previous):
    with pytest.raises(be.DataError, match="expected a result of be.check_claim"):
        be.check_claim(grown(20), 3.0, previous=previous, **CLAIM)


def test_looks_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for people in (20, 40, 60):
        be.save(grown(people), f"{people}.npz")
    claim = ["--at", "3.0", "--claim", "far=5%", "--looks", "2"]
    assert main(["threshold", "20.npz", *claim, "--out", "first"]) == 0
    assert "Look 1 of at most 2" in capsys.readouterr().out
    again = ["--previous", "first", "--json", "--out", "second"]
    assert main(["threshold", "40.npz", *claim, *again]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["look"], document["looks"]) == (2, 2)
    both = ["--previous", "first", "--previous", "second/results.nc"]
    assert main(["threshold", "60.npz", *claim, *both]) != 0
    assert "this is look 3 at the claim" in capsys.readouterr().err
    assert main(["threshold", "60.npz", "--looks", "2"]) == 2

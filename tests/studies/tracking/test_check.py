"""Checks of tracks: each planted fault is found, and sound tracks have none."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given
from mot_scenes import COLUMNS, scenes
from named_arguments import raises_about

import bioeval as be
from bioeval.base.messages import Message
from bioeval.cli import main

CHECKS = ["sequences", "boxes", "frames", "identities", "tracks", "duplicates"]


def truth():
    return np.array([
        (f, who, 100 * who + 12 * f, 50 + 30 * who, 40, 80)
        for f in range(1, 41) for who in range(1, 6)
    ], dtype=float)  # fmt: skip


def tracked():
    result = truth()
    result[:, 2:4] += np.random.default_rng(0).normal(0, 2, (len(result), 2))
    return result


def planted(fault):
    result = tracked()
    match fault:
        case "half":
            result[:, 2:] /= 2
        case "unit":
            result[:, [2, 4]] /= 1920
            result[:, [3, 5]] /= 1080
        case "corners":
            result[:, 4:] += result[:, 2:4]
        case "centres":
            result[:, 2:4] += result[:, 4:] / 2
        case "late":
            result[:, 0] += 1
        case "far":
            result[:, 0] += 500
        case "thirds":
            result = result[result[:, 0] % 3 == 0]
        case "halves":
            result = result[result[:, 0] % 2 == 0]
        case "one away":
            result[result[:, 1] == 3, 3] += 5000
        case "detections":
            result[:, 1] = np.arange(len(result))
        case "away":
            result[:, 2] += 50_000
        case "twice":
            result = np.concatenate([result, result[:3]])
        case "strangers":
            result = np.concatenate([result, result + [0, 100, 5000, 0, 0, 0]])
    return result


def test_sound_tracks_have_no_finding():
    result = be.check_tracks(truth(), tracked())
    assert [x.check for x in result] == CHECKS
    assert not result.misleads and result.in_words() == "nothing found"


@pytest.mark.parametrize(
    ("fault", "check", "severity", "code", "arguments"),
    [
        ("half", "boxes", "error", "boxes-of-another-scale", {"share": 1, "wide": 2}),
        ("unit", "boxes", "error", "boxes-of-another-scale", {"share": 1}),
        ("corners", "boxes", "error", "boxes-are-corners", {}),
        ("centres", "boxes", "error", "boxes-are-centres", {}),
        ("away", "boxes", "error", "no-box-found", {"iou": 0.5}),
        ("late", "frames", "error", "frames-shifted", {"frames": -1}),
        ("far", "frames", "error", "frames-shifted", {"frames": -500}),
        ("thirds", "frames", "error", "frames-without-boxes", {"lacking": 27, "frames": 40}),
        ("halves", "frames", "error", "frames-without-boxes", {"lacking": 20, "frames": 40}),
        (
            "one away",
            "identities",
            "warning",
            "identities-displaced",
            {},
        ),
        ("detections", "tracks", "error", "ids-of-detections", {}),
        ("twice", "duplicates", "error", "ids-used-twice", {"boxes": 3}),
        ("strangers", "identities", "warning", "identities-without-target", {}),
    ],
)
def test_a_planted_fault_is_found(fault, check, severity, code, arguments):
    result = be.check_tracks(truth(), planted(fault))
    one = result[check]
    assert (one.severity, one.code) == (severity, code)
    for name, value in arguments.items():
        assert one.found.arguments[name] == pytest.approx(value, rel=0.05)
    assert result.misleads is (severity == "error")
    alone = [x.check for x in result.of("error") if x.check != "identities"]
    assert fault in ("far", "strangers", "one away") or alone == [check]


def test_one_of_many_identities_away_from_its_target_is_a_warning():
    """Below a tenth of all, which is a note where the identity is in no target's frames."""
    many = truth()[:40]  # as far apart as they are
    many = np.concatenate([many + [0, 10 * k, 0, 400 * k, 0, 0] for k in range(3)])
    away = many.copy()
    away[away[:, 1] == 14, 2] += 5000
    result = be.check_tracks(many, away)["identities"]
    assert result.severity == "warning" and result.where == "identity 14"
    beside = Message("identity-beside-target", identity="14", target=14)
    assert result.code == "identities-displaced" and beside in result.found.arguments["findings"]
    alarm = np.concatenate([many, [[1, 99, 9000, 9000, 5, 5]]])
    result = be.check_tracks(many, alarm)["identities"]
    assert result.severity == "note" and result.code == "identities-without-target"


def test_frames_that_were_not_labelled_are_found():
    """Where the result has about as many boxes there as elsewhere; a false alarm is none."""
    labelled = truth()[truth()[:, 0] % 2 == 0]
    result = be.check_tracks(labelled, tracked())["frames"]
    assert result.severity == "error" and result.where == "frame 1, 3, 5, ..."
    assert result.found == Message("frames-not-labelled", full=20, frames=40)
    most = truth()[truth()[:, 0] % 4 > 0]
    assert be.check_tracks(most, tracked())["frames"].severity == "warning"
    alarms = np.concatenate([tracked()[np.isin(tracked()[:, 0], labelled[:, 0])],
                             truth()[(truth()[:, 0] % 2 == 1) & (truth()[:, 1] == 1)]])  # fmt: skip
    assert be.check_tracks(labelled, alarms)["frames"].severity == "ok"


def test_frames_and_identities_are_named():
    result = be.check_tracks({"a": truth(), "b": truth()}, {"a": tracked(), "b": planted("thirds")})
    assert result["frames"].where == "frame b: 1, b: 2, b: 4"
    assert result["frames"].count == 27 and result["frames"].severity == "warning"
    assert "2 sequences" in result.data
    twice = be.check_tracks(truth(), planted("twice"))["duplicates"]
    assert twice.where.startswith("id 1 in frame 1")
    nothing = be.check_tracks(truth(), np.zeros((0, 6)))
    assert nothing["boxes"].code == "result-without-boxes"


@given(scenes())
def test_any_scene_is_checked(drawn):
    assume(all(drawn))
    result = be.check_tracks(*drawn, columns=COLUMNS)
    assert [x.check for x in result] == CHECKS


@pytest.mark.parametrize("name", ["iou", "ignored", "parts", "progress"])
def test_wrong_options_are_refused(name):
    with raises_about(be.DataError, name):
        be.check_tracks(truth(), tracked(), **{name: "none"})


def test_the_command(tmp_path, capsys):
    for name, rows in (("gt", truth()), ("good", tracked()), ("half", planted("half"))):
        np.savetxt(tmp_path / f"{name}.txt", rows, delimiter=",", fmt="%.3f")

    def run(*words):
        code = main(["check", *map(str, words)])
        return code, capsys.readouterr()

    code, output = run(tmp_path / "gt.txt", tmp_path / "good.txt")
    assert code == 0 and "nothing found" in output.out
    code, output = run(tmp_path / "gt.txt", tmp_path / "half.txt", "--json")
    document = json.loads(output.out)
    assert code == 1 and document["misleads"] and document["protocol"] == "tracking"
    assert [x["check"] for x in document["findings"] if x["severity"] == "error"] == [
        "boxes", "identities"
    ]  # fmt: skip
    folder = tmp_path / "out"
    assert run(tmp_path / "gt.txt", tmp_path / "half.txt", "--out", folder)[0] == 1
    assert sorted(x.name for x in folder.iterdir()) == [
        "findings.csv", "summary.json", "table.txt"
    ]  # fmt: skip
    code, output = run(tmp_path / "gt.txt", "--columns", "motchallenge")
    assert code == 2 and "give a ground truth and a result" in output.err

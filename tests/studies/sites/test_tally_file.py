"""Saved tallies of schema 1 are read, and damaged ones are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import bioeval as be
from bioeval import protocol
from bioeval.cli import main
from bioeval.studies.sites.gallery_parts import best_mates
from bioeval.tallies.counts import ThresholdCounts
from bioeval.tallies.points import EqualError

SAVED = Path(__file__).parent / "saved"


EXAMPLE = [[0.0, 1, 3, 4], [1, 0, 5, 6], [3, 5, 0, 2], [4, 6, 2, 0]]

CARD = """
schema = 1
name = "both"
title = "T"
summary = "S"
layout = "probe-against-gallery"
[source]
text = "X"
[reid]
removed = "same-id-same-camera"
[gom]
"""


def scattered() -> be.Scores:
    """24 probes and 24 templates of 8 people in three cameras, without a random number."""
    values = np.arange(24 * 24).reshape(24, 24) * 37 % 101 / 10
    people, cameras = np.repeat(np.arange(8), 3), {"camera": np.tile(np.arange(3), 8)}
    return be.Scores(values, people, people, probe_meta=cameras, gallery_meta=cameras)


def tally_of(kind: str) -> be.Tally:
    scores, grid = scattered(), [1.0, 2.0, 4.0, 8.0]
    if kind == "tasks":
        lecture = be.Scores(EXAMPLE, ["ann", "ann", "bob", "bob"])
        return be.tally(lecture, thresholds=[1, 2, 3, 4], points=True, site="north", key="k")
    if kind == "reid":
        return be.tally(scores, protocol.parse(CARD), site="north", key="k")
    if kind == "shared":
        return be.tally(scores, thresholds=grid, site="north", key="k").share(grid, salt="salt")
    parts = [scores.select(gallery=np.arange(i, 24, 3)) for i in range(3)]
    mates = reduce(lambda a, b: a.merge(b), map(best_mates, parts))
    first, second = (be.tally(part, thresholds=grid, mates=mates) for part in parts[:2])
    return first.merge(second, union_of_galleries=True)


def saved(kind: str) -> be.Tally:
    """Return the tally of :func:`tally_of` that was saved in the layout of schema 1."""
    return be.Tally.load(SAVED / f"{kind}-1.npz")


@pytest.mark.parametrize("kind", ["tasks", "reid", "shared", "part"])
def test_a_saved_tally_of_schema_1_is_the_one_of_today(kind, tmp_path):
    tally_of(kind).save(tmp_path / "today.npz")
    with np.load(SAVED / f"{kind}-1.npz") as first, np.load(tmp_path / "today.npz") as today:
        assert json.loads(first["header"].tobytes())["schema"] == 1
        assert set(first.files) == set(today.files)
    one, other = saved(kind), be.Tally.load(tmp_path / "today.npz")
    assert (one.protocol, list(one.parts)) == (other.protocol, list(other.parts))
    assert (one.ranks, one.shared, one.part) == (other.ranks, other.shared, other.part)
    if one.counted is not None:
        np.testing.assert_array_equal(one.counted.probes, other.counted.probes)
    for node in one.parts if kind != "part" else ():
        for name, values in one.dataset(node).data_vars.items():
            np.testing.assert_allclose(other.dataset(node)[name], values, rtol=1e-12, err_msg=name)


def test_saved_counts_of_all_tasks():
    """The lecture's 4 x 4 example: distances 1 ... 6 of two subjects."""
    tally = saved("tasks")
    assert tally.protocol == "course-all-vs-all"
    single = tally.dataset("verification/single")
    np.testing.assert_array_equal(single.threshold, [1, 2, 3, 4])
    np.testing.assert_array_equal(single.ga, [2, 4, 4, 4])
    np.testing.assert_array_equal(single.fa, [0, 0, 2, 4])
    assert (single.eer, single.auc, single.eer_threshold) == (0, 1, 2)
    np.testing.assert_array_equal(tally.dataset("open_set").dir.values[:, 0], [0.5, 1, 1, 1])
    np.testing.assert_array_equal(tally.dataset("closed_set").cms, [1, 1, 1])


def test_saved_counts_of_reidentification():
    found = saved("reid").dataset("reid")
    alone = be.reid(scattered(), removed="same-id-same-camera")
    assert found.mean_ap == pytest.approx(alone.mean_ap.item())
    np.testing.assert_array_equal(found.cmc, alone.cmc[: len(found.cmc)])


def test_saved_counts_that_were_shared():
    tally = saved("shared")
    assert tally.shared.salted and tally.shared.min_count == 5
    single = tally.dataset("verification/single")
    values, same = scattered().values, np.repeat(np.arange(8), 3)
    genuine = values[same[:, None] == same]
    np.testing.assert_array_equal(
        single.ga, [(genuine <= x).sum() for x in single.threshold.values]
    )


def test_saved_counts_of_parts_of_a_gallery_go_on():
    tally = saved("part")
    assert (len(tally.part.covered), len(tally.part.missing)) == (2, 1)
    scores = scattered()
    parts = [scores.select(gallery=np.arange(i, 24, 3)) for i in range(3)]
    mates = reduce(lambda a, b: a.merge(b), map(best_mates, parts))
    third = be.tally(parts[2], thresholds=[1.0, 2.0, 4.0, 8.0], mates=mates)
    whole = tally.merge(third, union_of_galleries=True)
    expected = be.tally(scores, thresholds=[1.0, 2.0, 4.0, 8.0])
    for node in whole.parts:
        for name in ("ga", "fa", "di", "cms"):
            if name in expected.dataset(node):
                np.testing.assert_array_equal(
                    whole.dataset(node)[name], expected.dataset(node)[name]
                )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("auc", []),
        ("optima", {"max_accuracy": None}),
        ("symmetric", np.ones(2)),
        ("far_target", np.zeros(3)),
        ("frr_at_far", []),
        ("min_cost", None),
        ("rows", np.array([np.nan])),
        ("rows_fa", np.array([1, 2, 3])),
        ("costs", np.zeros((2, 1))),
        ("costs", np.zeros(2)),
        ("equal_error", EqualError(eer_threshold=[])),
    ],
)
@pytest.mark.cases(4)
def test_damaged_operating_points_are_refused(tmp_path, name, value):
    counted = be.tally(be.simulate(6, 3, random_state=1), points=True)
    single = counted.parts["verification/single"].tally
    single.points = replace(single.points, **{name: value})
    counted.save(tmp_path / "x.tally")
    with pytest.raises(be.DataError, match="verification/single: the operating points are damaged"):
        be.Tally.load(tmp_path / "x.tally")


def edited(path, change, name):
    """Change one array of a file, whose checksums stay right."""
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays[name] = change(arrays[name])
    with open(path, "wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (
            "tallies.0.genuine",
            lambda x: x[:0],
            "0 values, 0 of them NaN.* its header has 36 values",
        ),
        ("tallies.0.genuine", lambda x: np.repeat(x, 2), "more than the 324 comparisons"),
        (
            "tallies.0.impostor.counts",
            lambda x: 2 * x,
            "genuine and 540 impostor attempts are more than",
        ),
        (
            "tallies.2.mate",
            lambda x: x * np.nan,
            "open_set: mate and mates disagree for 18 probes, the",
        ),
        (
            "tallies.2.other",
            lambda x: x * np.nan,
            "open_set: other and others disagree for 18 probes",
        ),
        (
            "tallies.2.nearest_mate",
            lambda x: x * np.nan,
            "nearest_mate and mates disagree for 18 probes",
        ),
        (
            "tallies.2.mates",
            lambda x: 2 * x,
            "the array 'tallies.2.mates' has 18 values.* with the sum 72; .* 36",
        ),
        ("tallies.2.closer", lambda x: x + 1, "closer, mate and other disagree for 1[0-9] probes"),
        ("tallies.2.closer", lambda x: x + 16, "closer, tied and others disagree for 18 probes"),
        ("tallies.2.tied_before", lambda x: x + 1, "tied_before and tied disagree for 18 probes"),
        ("tallies.2.mates_tied", lambda x: x + 2, "mates_tied and mates disagree for 18 probes"),
    ],
)
def test_counts_that_disagree_are_named(tmp_path, name, change, says):
    path = tmp_path / "x.tally"
    be.tally(be.simulate(6, 3, random_state=1)).save(path)
    edited(path, change, name)
    with pytest.raises(be.DataError, match=f"the tally is damaged: .*{says}"):
        be.Tally.load(path)


@pytest.mark.parametrize(
    ("what", "change", "says"),
    [
        ("genuine", lambda x: x[:0], "false rejects at the operating points disagree"),
        ("genuine", lambda x: x + 9, "false rejects at the operating points disagree"),
        ("rows_fa", lambda x: x + 200, "false accepts at the operating points disagree"),
        ("given", lambda x: x + 1, "between thresholds are 273, those in cells 270"),
        ("unenrolled", lambda x: np.array([np.nan]), "more than the impostor attempts"),
    ],
)
def test_numbers_of_attempts_that_disagree_are_named(tmp_path, what, change, says):
    """Although the totals of the file are those of the changed counts."""
    found = be.tally(be.simulate(6, 3, random_state=1), points=True)
    single = found.parts["verification/single"].tally
    if what == "rows_fa":
        single.points = replace(single.points, rows_fa=change(single.points.rows_fa))
    elif what == "given":
        edges = np.array([3.0, 5.0])
        counts = np.diff(single.impostor.at_most(np.append(edges, np.inf)), prepend=0)
        single.given = ThresholdCounts(edges, change(counts))
    else:
        setattr(single, what, change(getattr(single, what)))
    found.save(tmp_path / "x.tally")
    with pytest.raises(be.DataError, match=f"verification/single: .*{says}"):
        be.Tally.load(tmp_path / "x.tally")


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("ties", "first", "open_set: ties is 'first'; expected one of 'pessimistic'"),
        ("impostors", 3, "open_set: impostors is 3; expected one of 'auto'"),
        ("max_rank", 10**12, "open_set: max_rank is 1000000000000; expected at most 10000"),
        ("max_rank", 0, "open_set: max_rank is 0; expected an integer >= 1"),
    ],
)
def test_searches_that_are_none_are_named(tmp_path, option, value, says):
    found = be.tally(be.simulate(6, 3, random_state=1))
    found.parts["open_set"].options[option] = value
    found.save(tmp_path / "x.tally")
    with pytest.raises(be.DataError, match=f"the tally is damaged: {says}"):
        be.Tally.load(tmp_path / "x.tally")


def test_a_command_names_what_disagrees(tmp_path, capsys):
    path = tmp_path / "x.tally"
    be.tally(be.simulate(6, 3, random_state=1)).save(path)
    edited(path, lambda x: x[:0], "tallies.0.genuine")
    assert main(["merge", str(path)]) == 2
    said = capsys.readouterr().err
    assert (
        "x.tally: the tally is damaged: the array 'tallies.0.genuine'" in said
        and said.count("\n") == 1
    )

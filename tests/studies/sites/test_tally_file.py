"""Saved tallies of every layout that was ever written are still read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main
from bioeval.tallies.counts import ThresholdCounts
from bioeval.tallies.points import EqualError

SAVED = Path(__file__).parent / "saved"


def test_layout_1_of_biometric_tasks():
    """The lecture's 4 x 4 example, refined: distances 1 ... 6 of two subjects."""
    tally = be.Tally.load(SAVED / "tally-layout-1.npz")
    assert tally.protocol == "course-all-vs-all"
    assert tally.ranks == (1, 5, 10)
    np.testing.assert_array_equal(tally.far_targets, [0.1, 0.01, 0.001, 0.0001])
    assert list(tally.parts) == [
        "verification/single",
        "verification/multi",
        "open_set",
        "closed_set",
    ]
    single = tally.dataset("verification/single")
    np.testing.assert_array_equal(single.threshold, [1, 2, 3, 4])
    np.testing.assert_array_equal(single.ga, [2, 4, 4, 4])
    np.testing.assert_array_equal(single.fa, [0, 0, 2, 4])
    assert single.eer == 0 and single.auc == 1
    assert single.attrs["protocol"] == "course-all-vs-all"
    np.testing.assert_array_equal(tally.dataset("open_set").dir.values[:, 0], [0.5, 1, 1, 1])
    np.testing.assert_array_equal(tally.dataset("closed_set").cms, [1, 1, 1])


def test_layout_1_of_reidentification():
    tally = be.Tally.load(SAVED / "tally-layout-1-reid.npz")
    assert tally.protocol == "market1501"
    found = tally.dataset()
    np.testing.assert_array_equal(found.cmc, [0, 1, 1])
    assert found.mean_ap == found.mean_inp == 0.5


def test_layout_2_knows_its_probes():
    """The same example, counted at the same thresholds, with digests under a key."""
    tally = be.Tally.load(SAVED / "tally-layout-2.npz")
    older = be.Tally.load(SAVED / "tally-layout-1.npz")
    assert tally.protocol == "course-all-vs-all"
    for node in ("verification/single", "closed_set"):
        assert tally.dataset(node).equals(older.dataset(node))
    assert older.counted is None and len(tally.counted.probes) == 4
    same = be.Scores(
        [[0.0, 1, 3, 4], [1, 0, 5, 6], [3, 5, 0, 2], [4, 6, 2, 0]], ["ann", "ann", "bob", "bob"]
    )
    fresh = be.tally(same, thresholds=[1, 2, 3, 4], site="north", key="shared").counted
    np.testing.assert_array_equal(tally.counted.probes, fresh.probes)
    assert (tally.counted.gallery, tally.counted.key) == (fresh.gallery, fresh.key)


def test_layout_3_has_kept_scores():
    """The same example, merged of the probes of either subject, with the scores it kept."""
    tally = be.Tally.load(SAVED / "tally-layout-3.npz")
    older = be.Tally.load(SAVED / "tally-layout-2.npz")
    assert tally.dataset("open_set").di.equals(older.dataset("open_set").di)
    single = tally.dataset("verification/single")
    assert (single.eer, single.auc, single.eer_threshold) == (0, 1, 2)
    np.testing.assert_array_equal(single.threshold_at_far, [2, 2, 2, 2])
    kept = tally.parts["verification/single"].tally.kept
    np.testing.assert_array_equal(kept.scores, [3, 3, 4, 4, 5, 5, 6, 6])
    assert older.parts["verification/single"].tally.kept is None


@pytest.mark.slow
def test_layout_4_has_no_false_accepts_at_the_operating_points(tmp_path):
    """The same example, refined, on the default thresholds; a later one has more rows there."""
    older = be.Tally.load(SAVED / "tally-layout-4-points.npz")
    same = be.Scores(
        [[0.0, 1, 3, 4], [1, 0, 5, 6], [3, 5, 0, 2], [4, 6, 2, 0]], ["ann", "ann", "bob", "bob"]
    )
    be.tally(same, points=True).save(tmp_path / "later.npz")
    later = be.Tally.load(tmp_path / "later.npz")
    assert len(older.parts["verification/single"].tally.points.rows) == 0
    points = later.parts["verification/single"].tally.points
    assert dict(zip(points.rows.tolist(), points.rows_fa.tolist(), strict=True)) == {2: 0}
    for name in ("eer", "auc", "eer_threshold", "threshold_at_far"):
        one, other = (x.dataset("verification/single")[name] for x in (older, later))
        np.testing.assert_array_equal(one, other)
    single = older.dataset("verification/single")
    assert (single.eer, single.auc, single.eer_threshold) == (0, 1, 2)


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


def test_a_file_keeps_the_names_of_classes_that_the_code_renamed(tmp_path):
    tally = be.Tally.load(SAVED / "tally-layout-1.npz")
    tally.save(tmp_path / "again.npz")
    for path in (tmp_path / "again.npz", SAVED / "tally-layout-1.npz"):
        header = json.loads(np.load(path)["header"].tobytes())
        assert header["tallies"][0]["about"]["class"] == "About"


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
        ("0.genuine", lambda x: x[:0], "0 values, 0 of them NaN.* its header has 36 values"),
        ("0.genuine", lambda x: np.repeat(x, 2), "more than the 324 comparisons"),
        ("0.impostor.counts", lambda x: 2 * x, "genuine and 540 impostor attempts are more than"),
        ("2.mate", lambda x: x * np.nan, "open_set: mate and mates disagree for 18 probes, the"),
        ("2.other", lambda x: x * np.nan, "open_set: other and others disagree for 18 probes"),
        ("2.nearest_mate", lambda x: x * np.nan, "nearest_mate and mates disagree for 18 probes"),
        ("2.mates", lambda x: 2 * x, "the array '2.mates' has 18 values.* with the sum 72; .* 36"),
        ("2.closer", lambda x: x + 1, "closer, mate and other disagree for 1[0-9] probes"),
        ("2.closer", lambda x: x + 16, "closer, tied and others disagree for 18 probes"),
        ("2.tied_before", lambda x: x + 1, "tied_before and tied disagree for 18 probes"),
        ("2.mates_tied", lambda x: x + 2, "mates_tied and mates disagree for 18 probes"),
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
    edited(path, lambda x: x[:0], "0.genuine")
    assert main(["merge", str(path)]) == 2
    said = capsys.readouterr().err
    assert "x.tally: the tally is damaged: the array '0.genuine'" in said and said.count("\n") == 1

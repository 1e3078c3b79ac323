"""Saved tallies of every layout that was ever written are still read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bioeval as be
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

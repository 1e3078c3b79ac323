"""Counts for means by identity merge exactly, are saved, and name nobody."""

from __future__ import annotations

import numpy as np
import pytest

import bioeval as be
from bioeval import protocol
from bioeval.base.errors import MergeError, ProtocolError
from bioeval.tallies import ProbeIdentities

HEAD = """
schema = 1
name = "mine"
title = "T"
summary = "S"
layout = "probe-against-gallery"
[source]
text = "X"
"""

SEARCHES = (
    HEAD
    + """
[open_set]
average = "identity"
[closed_set]
average = "identity"
unmated = "skip"
"""
)
REID = HEAD + '[reid]\nremoved = "none"\naverage = "identity"\n'


def population(text: bool = False) -> be.Scores:
    rng = np.random.default_rng(8)
    probes, gallery = rng.integers(0, 12, 50), rng.integers(0, 9, 40)
    distances = rng.random((50, 40))
    if text:
        return be.Scores(distances, [f"p{x}" for x in probes], [f"p{x}" for x in gallery])
    return be.Scores(distances, probes, gallery)


@pytest.mark.slow
@pytest.mark.parametrize("card", [SEARCHES, REID])
@pytest.mark.parametrize("text", [False, True])
def test_merged_and_saved_counts_are_those_of_all_probes(card, text, tmp_path):
    scores, mine = population(text), protocol.parse(card)
    whole = be.tally(scores, mine)
    parts = [scores.select(probes=rows) for rows in (np.arange(17), np.arange(17, 50))]
    first, second = (be.tally(part, mine) for part in parts)
    merged = first.merge(second)
    merged.save(tmp_path / "x.tally")
    again = be.Tally.load(tmp_path / "x.tally")
    expected = be.evaluate(scores, mine)
    by_identity = 0
    for node in expected.leaves:
        for name, values in node.data_vars.items():
            for tally in (whole, merged, again):
                found = tally.tree()[node.path][name]
                if "by_identity" in name:  # digests are in another order than labels
                    np.testing.assert_allclose(found, values, rtol=0, atol=1e-14, err_msg=name)
                else:
                    np.testing.assert_array_equal(found, tally.tree()[node.path][name])
                assert np.array_equal(found, whole.tree()[node.path][name], equal_nan=True)
            by_identity += "by_identity" in name
    assert by_identity >= 4


def test_a_file_has_digests_in_place_of_labels(tmp_path):
    tally = be.tally(population(text=True), protocol.parse(SEARCHES))
    for part in tally.parts.values():
        assert part.tally.people.labels.dtype == np.uint64
    assert any("digest of the subject of each probe" in line for line in tally.disclosed())


def test_counts_on_a_grid_know_no_identities():
    tally = be.tally(population(), protocol.parse(SEARCHES))
    with pytest.raises(ProtocolError, match="who each probe is"):
        tally.folded()


def test_counts_with_and_without_identities_do_not_merge():
    known = ProbeIdentities(np.array([1, 2]), np.zeros(2, dtype=bool))
    from bioeval.tallies import merged_identities

    assert merged_identities(None, None) is None
    with pytest.raises(MergeError, match="the other does not"):
        merged_identities(known, None)
    words = ProbeIdentities(np.array(["1"]), np.zeros(1, dtype=bool))
    with pytest.raises(MergeError, match="the same labels"):
        merged_identities(known, words)


def test_damaged_identities_are_refused(tmp_path):
    tally = be.tally(population(), protocol.parse(SEARCHES))
    counts = tally.parts["open_set"].tally
    counts.people = ProbeIdentities(counts.people.labels[:-1], counts.people.nobody)
    tally.save(tmp_path / "x.tally")
    with pytest.raises(be.DataError, match="the identities of its probes are damaged"):
        be.Tally.load(tmp_path / "x.tally")
    counts.people = None
    tally.save(tmp_path / "y.tally")
    with pytest.raises(be.DataError, match="the identities of its probes are missing"):
        be.Tally.load(tmp_path / "y.tally")


def test_parts_of_a_gallery_keep_the_identities():
    from bioeval.studies.sites.gallery_parts import best_mates

    scores, mine = population(), protocol.parse(SEARCHES)
    halves = [scores.select(gallery=np.arange(k, 40, 2)) for k in range(2)]
    mates = best_mates(halves[0], mine).merge(best_mates(halves[1], mine))
    first, second = (be.tally(half, mine, mates=mates) for half in halves)
    union = first.merge(second, union_of_galleries=True).tree()["open_set"]
    expected = be.evaluate(scores, mine)["open_set"]
    np.testing.assert_allclose(
        union.best_open_set_score, expected.best_open_set_score, rtol=0, atol=1e-14
    )

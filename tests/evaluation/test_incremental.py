"""Tallies that grow and shrink are those of a count from the beginning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from optional import optional_import

import bioeval as be
from bioeval.protocol import load

LAYOUTS = ("all-against-all", "probe-against-gallery")


def draw(seed: int, layout: str, *, values: str = "tied") -> be.Scores:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(6, 16, 2)
    n = m if layout == "all-against-all" else n
    d = rng.integers(0, 8, (m, n)).astype("float32")
    if values == "distinct":
        d = rng.random((m, n))
    if layout == "all-against-all":
        return be.Scores(d, rng.integers(0, 5, m))
    return be.Scores(d, rng.integers(0, 5, m), rng.integers(1, 6, n))


def card_of(layout: str, **sections):
    card = load("course-all-vs-all" if layout == LAYOUTS[0] else "course-probe-vs-gallery")
    changes = {k: replace(getattr(card, k), **options) for k, options in sections.items()}
    return replace(card, **changes)


def same(found: be.Tally, whole: be.Tally) -> None:
    assert list(found.parts) == list(whole.parts)
    for node in whole.parts:
        assert found.dataset(node).equals(whole.dataset(node)), node
    np.testing.assert_array_equal(found.counted.probes, whole.counted.probes)
    assert found.counted.same(whole.counted)


CARDS = [
    {"closed_set": {"unmated": "skip"}},
    {"closed_set": {"unmated": "skip", "ties": "stable"}, "open_set": {"ties": "expected"}},
    {"closed_set": {"unmated": "skip"}, "open_set": {"rank_unit": "subject", "fusion": "mean"},
     "verification": {"fusion": "mean"}},
]  # fmt: skip


@given(
    seed=st.integers(0, 2**20),
    layout=st.sampled_from(LAYOUTS),
    sections=st.sampled_from(CARDS),
    values=st.sampled_from(["tied", "distinct"]),
)
@settings(max_examples=40)
def test_what_is_new_is_added(seed, layout, sections, values):
    scores, card = draw(seed, layout, values=values), card_of(layout, **sections)
    rng = np.random.default_rng(seed)
    m = rng.integers(2, scores.shape[0] + 1)
    n = m if layout == "all-against-all" else rng.integers(2, scores.shape[1] + 1)
    old = be.tally(scores.select(np.arange(m), np.arange(n)), card)
    same(be.extend_tally(old, scores, protocol=card), be.tally(scores, card))


@given(
    seed=st.integers(0, 2**20),
    layout=st.sampled_from(LAYOUTS),
    sections=st.sampled_from(CARDS),
    values=st.sampled_from(["tied", "distinct"]),
)
@settings(max_examples=40)
def test_what_is_withdrawn_is_subtracted(seed, layout, sections, values):
    scores, card = draw(seed, layout, values=values), card_of(layout, **sections)
    rng = np.random.default_rng(seed)
    rows = rng.choice(scores.shape[0], rng.integers(0, 4), replace=False)
    columns = rows
    if layout != "all-against-all":
        columns = rng.choice(scores.shape[1], rng.integers(0, 4), replace=False)
    found = be.withdraw(be.tally(scores, card), scores, probes=rows, gallery=columns, protocol=card)
    left = [np.delete(np.arange(k), x) for k, x in zip(scores.shape, (rows, columns), strict=True)]
    same(found, be.tally(scores.select(*left), card))


def test_a_day_of_new_templates_costs_little():
    """1 % of new subjects: 2 % of the cells; nothing is swept again."""
    whole = be.simulate(200, 3, random_state=2)
    n = 594
    old = be.tally(whole.select(np.arange(n), np.arange(n)), thresholds=np.linspace(1, 6, 21))
    grown = be.extend_tally(old, whole)
    same(grown, be.tally(whole, thresholds=np.linspace(1, 6, 21)))
    # What is new, and of some rows the new columns once more.
    assert 600**2 - n**2 <= grown.cells < 600**2 - n**2 + n * (600 - n) // 2


SESSIONS = np.arange(36) % 3


@pytest.mark.parametrize("exclude", [(), ("session",)])
def test_points_are_those_of_all_scores(exclude):
    values = np.array(be.simulate(12, 3, random_state=3).values)
    scores = be.Scores(values, np.repeat(np.arange(12), 3), probe_meta={"session": SESSIONS})
    card = replace(card_of(LAYOUTS[0]), exclude=exclude)
    whole, first = be.tally(scores, card), np.arange(30)
    grown = be.extend_tally(
        be.tally(scores.select(first, first), card), scores, protocol=card, points=True
    )
    rest = be.withdraw(whole, scores, probes=[30, 31], gallery=[30, 31], protocol=card, points=True)
    left = np.setdiff1d(np.arange(36), [30, 31])
    for found, of in ((grown, scores), (rest, scores.select(left, left))):
        assert found.cells > 0
        expected = be.evaluate(of, card)
        for node in ("verification/single", "verification/multi"):
            got, wanted = found.dataset(node), expected[node].to_dataset()
            for name in ("eer", "frr_at_far", "auc", "eer_threshold"):
                np.testing.assert_array_equal(got[name], wanted[name], err_msg=f"{node} {name}")


@pytest.mark.parametrize("metric", ["l2", "cosine", "l1"])
@pytest.mark.parametrize("chunks", [None, (7, 10)])
def test_only_columns_that_are_new_are_computed_or_read(metric, chunks, tmp_path):
    """Of embeddings of whole numbers, whose products are exact, and of a container."""
    rng = np.random.default_rng(3)
    x, who = rng.integers(1, 9, (60, 4)).astype(float), np.arange(60) // 3
    scores = be.Scores.from_embeddings(x, who, metric=metric, memory_limit=1)
    if metric == "cosine":  # unit vectors are not whole numbers: signs alone
        x = np.where(x > 4, 1.0, -1.0)
        scores = be.Scores.from_embeddings(x, who, metric=metric, memory_limit=1)
    if chunks is not None:
        h5py = optional_import("h5py")
        with h5py.File(tmp_path / "x.h5", "w") as file:
            file.create_dataset("scores", data=scores.values, chunks=chunks)
        scores = be.Scores(h5py.File(tmp_path / "x.h5")["scores"], who)
    old = be.tally(scores.select(np.arange(57), np.arange(57)))
    few = scores.select(gallery=[57, 58, 59]).reading_own_columns()
    assert few.base.shape == (60, 3)
    assert np.array_equal(few.values, scores.values[:, 57:])
    assert np.array_equal(few.base[[5, 2]], scores.values[[5, 2], 57:])
    assert np.array_equal(few.base[4], scores.values[4, 57:])
    same(be.extend_tally(old, scores), be.tally(scores))
    same(be.withdraw(be.tally(scores), scores, probes=[57, 58, 59], gallery=[57, 58, 59]), old)


def test_files_that_grow():
    """Probes against a gallery that comes anew, with a column more, have other positions."""
    rng = np.random.default_rng(0)
    d, probes, gallery = rng.random((6, 8)), [1, 2, 3, 1, 2, 9], [1, 1, 2, 2, 3, 3, 4, 4]
    old = be.tally(be.Scores(d[:5, :7], probes[:5], gallery[:7]))
    whole = be.Scores(d, probes, gallery)
    same(be.extend_tally(old, whole), be.tally(whole))


def test_what_does_not_fit_is_refused():
    whole = be.simulate(8, 3, random_state=1)
    some = np.arange(20)
    old = be.tally(whole.select(some, some))
    with pytest.raises(be.MergeError, match="not of the first probes"):
        be.extend_tally(old, be.Scores(whole.values, whole.probe_labels + 1))
    with pytest.raises(be.MergeError, match="withdrawing subtracts"):
        be.extend_tally(old, whole.select(some[:9], some[:9]))
    with pytest.raises(be.MergeError, match="give the scores that were counted"):
        be.withdraw(old, whole)
    full = be.tally(whole)
    with pytest.raises(be.DataError, match="from both sides"):
        be.withdraw(full, whole, probes=[1])
    with pytest.raises(be.DataError, match="nothing would be left"):
        be.withdraw(full, whole, probes=range(24), gallery=range(24))
    others = be.Scores(whole.values + 1, whole.probe_labels)
    with pytest.raises(be.MergeError, match="not among those that were counted"):
        be.withdraw(full, others, probes=[1], gallery=[1])
    with pytest.raises(be.ProtocolError, match="number of thresholds"):
        be.extend_tally(be.tally(whole.select(some, some), thresholds=9), whole)
    with pytest.raises(be.MergeError, match="cannot be changed"):
        be.extend_tally(be.tally(whole.select(some, some)).folded().share(), whole)
    reid = be.Scores(
        np.ones((2, 2)), [1, 2], [1, 2], probe_meta={"camera": [1, 1]},
        gallery_meta={"camera": [2, 2]},
    )  # fmt: skip
    with pytest.raises(be.ProtocolError, match="reid cannot be changed"):
        be.extend_tally(be.tally(reid, "market1501"), reid)

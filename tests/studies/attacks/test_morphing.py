"""Morphing attacks: the twin, the definition's identities, and wrong input."""

from __future__ import annotations

import math

import naive_morphing as slow
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import examples_of

import bioeval as be
from bioeval.stats.options import IntervalOptions

POOL = [0.0, 0.5, 1.0, 2.0, 3.0, math.inf, math.nan]


@st.composite
def cases(draw):
    """Probes of three to four people, some morphs of two or three, one to three systems."""
    people = list("abcd")[: draw(st.integers(3, 4))]
    probes = [x for x in people for _ in range(draw(st.integers(1, 3)))]
    probes = draw(st.permutations([*probes, "z"]))
    number = draw(st.integers(1, 4))
    size = st.integers(2, 3)
    morphs = [tuple(draw(st.permutations(people))[: draw(size)]) for _ in range(number)]
    cell = st.sampled_from(POOL)
    row = st.lists(cell, min_size=number, max_size=number)
    matrix = st.lists(row, min_size=len(probes), max_size=len(probes))
    systems = draw(st.lists(matrix, min_size=1, max_size=3))
    return probes, morphs, [np.array(x) for x in systems]


@settings(max_examples=examples_of(100))
@given(cases(), st.sampled_from(["distance", "similarity"]), st.sampled_from([0.5, 1.0, 2.5]))
def test_morphing_is_the_twin(case, kind, at):
    probes, morphs, matrices = case
    names = [f"m{j}" for j in range(len(morphs))][::-1]
    systems = {
        f"s{i}": be.Scores(x, probes, names, kind=kind, nan="reject")
        for i, x in enumerate(matrices)
    }
    thresholds, sign = [0.0, 0.5, 0.75, 2.0, 3.5], -1 if kind == "similarity" else 1
    ds = be.morphing(systems, morphs, thresholds=thresholds, threshold=at)
    every = [
        [
            [slow.attempts(x, probes, j, who, kind, "reject") for who in morph]
            for j, morph in enumerate(morphs)
        ]
        for x in matrices
    ]
    for name, one in zip(systems, every, strict=True):
        here = ds.sel(system=name)
        for t in thresholds:
            value = here.sel(threshold=t)
            assert float(value.mmpmr) == float(slow.mmpmr(one, sign * t))
            np.testing.assert_allclose(float(value.mmpmr_prod), float(slow.prod(one, sign * t)))
        assert float(here.mmpmr_at_threshold) == float(slow.mmpmr(one, sign * at))
        sizes = [len(x) for morph in one for x in morph]
        assert (int(here.attempts_min), int(here.attempts_max)) == (min(sizes), max(sizes))
    table = slow.potential(every, [sign * at] * len(every))
    np.testing.assert_array_equal(ds["map"].values, np.array(table, dtype=float))
    alone = be.morphing(systems["s0"], morphs, thresholds=thresholds, threshold=at)
    np.testing.assert_array_equal(alone.mmpmr, ds.mmpmr[0])
    if alone.attempts_min == alone.attempts_max:
        assert float(alone["map"][0, 0]) == float(alone.mmpmr_at_threshold)


HAND = [[1, 5], [4, 2], [2, 1], [3, 6], [4, 3], [9, 2]]
PROBES = ["ann", "ann", "bob", "bob", "eve", "eve"]
MORPHS = [("ann", "bob"), ("bob", "eve")]


def test_hand_example():
    ds = be.morphing(be.Scores(HAND, PROBES, ["m1", "m2"]), MORPHS, threshold=2, thresholds=[2, 3])
    # Up to 2, m1 is accepted for ann (1) and bob (2), m2 for bob (1) and eve (2).
    assert ds.mmpmr.values.tolist() == [1, 1]
    # m1: 1/2 of ann's times 1/2 of bob's; m2: 1/2 times 1/2.
    assert ds.mmpmr_prod.values.tolist() == [0.25, (0.5 * 1 + 0.5 * 1) / 2]
    assert ds["map"].values.tolist() == [[1], [0]]


def test_contributors_and_sources_of_the_metadata():
    meta = {"contributor_1": ["ann", "bob"], "contributor_2": ["bob", "eve"]}
    both = be.Scores(HAND, PROBES, ["m1", "m2"], gallery_meta=meta)
    ds = be.morphing(both, thresholds=[1, 2, 3])
    assert ds.mmpmr.values.tolist() == [0, 1, 1]
    sources = meta | {"source_1": ["0", "2"], "source_2": ["2", "99"]}
    left = be.Scores(HAND, PROBES, ["m1", "m2"], gallery_meta=sources)
    ds = be.morphing(left, thresholds=[2, 3, 4, 6])
    # m1 is left with ann's 4 and bob's 3, m2 with bob's 6.
    assert ds.mmpmr.values.tolist() == [0, 0, 0.5, 1]
    assert int(ds.attempts_min) == 1
    named = {"template": ["p0", "p1", "p2", "p3", "p4", "p5"]}
    sources |= {"source_1": ["p0", "p2"], "source_2": ["p2", ""]}
    other = be.Scores(HAND, PROBES, ["m1", "m2"], gallery_meta=sources, probe_meta=named)
    np.testing.assert_array_equal(be.morphing(other, thresholds=[2, 3, 4, 6]).mmpmr, ds.mmpmr)


def test_excluded_failures_are_no_attempts():
    values = [[math.nan], [1.0], [1.0]]
    scores = be.Scores(values, ["a", "a", "b"], ["m"], nan="exclude")
    ds = be.morphing(scores, [("a", "b")], thresholds=[1.0])
    assert float(ds.mmpmr_prod[0]) == 1
    assert int(ds.attempts_max) == 1


def test_bona_fide_scores_give_frr_and_thresholds_at_far():
    bona_fide = be.simulate(30, 4, random_state=1)
    rng = np.random.default_rng(2)
    values = rng.uniform(2, 9, (40, 15))
    scores = be.Scores(values, np.arange(40) % 20, [f"m{j}" for j in range(15)])
    people = [(j, j + 5) for j in range(15)]
    ds = be.morphing(
        scores, people, bona_fide=bona_fide, far_targets=[0.1, 0.01], threshold=("far", 0.01)
    )
    one = be.verification(bona_fide, far_targets=[0.1, 0.01])
    np.testing.assert_array_equal(ds.threshold_at_far, one.threshold_at_far)
    np.testing.assert_array_equal(ds.rmmr, ds.mmpmr + ds.frr)
    np.testing.assert_array_equal(ds.rmmr_at_far, ds.mmpmr_at_far + one.frr_at_far.values)
    assert float(ds.threshold_used) == float(ds.threshold_at_far[1])
    assert float(ds.mmpmr_at_threshold) == float(ds.mmpmr_at_far[1])
    assert (np.diff(ds.mmpmr) >= 0).all()
    assert (ds.mmpmr >= ds.mmpmr_prod).all()


def test_intervals_are_of_people():
    rng = np.random.default_rng(4)
    scores = be.Scores(rng.random((60, 30)), np.arange(60) % 20, [f"m{j}" for j in range(30)])
    people = [(j % 20, (j + 7) % 20) for j in range(30)]
    how = {"thresholds": [0.3, 0.5], "interval": "subject-bootstrap", "replicates": 300}
    ds = be.morphing(scores, people, threshold=0.4, **how)
    assert ((ds.mmpmr_low <= ds.mmpmr) & (ds.mmpmr <= ds.mmpmr_high)).all()
    assert float(ds.mmpmr_at_threshold_low) < float(ds.mmpmr_at_threshold_high)
    assert ds.identical(be.morphing(scores, people, threshold=0.4, **how))


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_limits_of_rmmr_weigh_a_person_once(kind):
    """Contributors of morphs and subjects of bona fide attempts are the same people."""
    rng = np.random.default_rng(4)
    sign = 1 if kind == "distance" else -1
    values = rng.random((24, 12))
    scores = be.Scores(sign * values, np.arange(24) % 8, [f"m{j}" for j in range(12)], kind=kind)
    people = [(j % 8, (j + 3) % 8) for j in range(12)]
    genuine = rng.random((9, 9))
    who = np.arange(9)  # one who contributed to no morph
    bona = be.Scores(sign * genuine, who, who, kind=kind)
    grid = [0.1, 0.3] if kind == "distance" else [-0.3, -0.1]
    how = {"interval": "subject-bootstrap", "replicates": 100, "thresholds": grid}
    ds = be.morphing(scores, people, bona_fide=bona, far_targets=[0.1], **how)
    weights = IntervalOptions.parse("subject-bootstrap", 0.95, 100, 0).weights(9)
    for at, result in zip([0.1, 0.3], (0, 1)[:: int(sign)], strict=True):
        every = np.array([
            all((values[np.arange(24) % 8 == x, j] <= at).any() for x in people[j])
            for j in range(12)
        ])  # fmt: skip
        sums = []
        for w in weights.T.astype(float):
            of_morph = np.array([w[a] * w[b] for a, b in people])
            rejected = (w * (np.diag(genuine) > at)).sum() / w.sum()
            if of_morph.sum():  # at least one morph is drawn
                sums.append((of_morph * every).sum() / of_morph.sum() + rejected)
        assert float(ds.rmmr[result]) == pytest.approx(sums[0])
        low, high = np.quantile(sums[1:], [0.025, 0.975])
        ends = float(ds.rmmr_low[result]), float(ds.rmmr_high[result])
        np.testing.assert_allclose(ends, [low, high])
    assert float(ds.rmmr_at_far_low[0]) <= float(ds.rmmr_at_far[0]) <= float(ds.rmmr_at_far_high[0])
    assert (ds.rmmr_prod_low <= ds.rmmr_prod).all()


@pytest.mark.parametrize(
    ("morphs", "options", "said"),
    [
        (None, {}, "give contributors, or gallery metadata columns"),
        ([("ann", "bob")], {}, "1 tuple for 2 morphs"),
        ([("ann", "bob"), ("eve", "eve")], {}, "the morph 'm2' has 1 contributor"),
        ([("ann", "bob"), ("eve", "joe")], {}, "'joe' of the morph 'm2' has no attempt"),
        (MORPHS, {"threshold": "eer"}, "expected a number or far=X"),
        (MORPHS, {"threshold": ("far", 0.1)}, "needs the impostors of bona_fide"),
        (MORPHS, {"bona_fide": {}}, "expected Scores"),
        (MORPHS, {"bona_fide": 3}, "bona_fide is int"),
        (MORPHS, {"interval": "wilson"}, "interval is 'wilson'"),
    ],
)
def test_wrong_input_is_named(morphs, options, said):
    with pytest.raises(be.DataError, match=said):
        be.morphing(be.Scores(HAND, PROBES, ["m1", "m2"]), morphs, **options)


def test_other_layouts_and_systems_are_refused():
    square = be.Scores(np.zeros((2, 2)), ["a", "b"])
    with pytest.raises(be.ProtocolError, match="layout is all-against-all"):
        be.morphing(square, [("a", "b")] * 2)
    one, two = (be.Scores(HAND, PROBES, x) for x in (["m1", "m2"], ["m1", "m3"]))
    with pytest.raises(be.DataError, match="'b' has other labels"):
        be.morphing({"a": one, "b": two}, MORPHS)
    with pytest.raises(be.DataError, match="empty mapping"):
        be.morphing({}, MORPHS)
    with pytest.raises(be.DataError, match="no threshold of the system 'b'"):
        be.morphing({"a": one, "b": one}, MORPHS, threshold={"a": 1})

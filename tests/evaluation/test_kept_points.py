"""Merged tallies have the operating points of the whole, or bounds that contain them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import naive
import numpy as np
import pytest
import strategies as cases
from hypothesis import HealthCheck, given, settings, strategies as st
from result_messages import arguments, codes
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.scores import blocks
from bioeval.tallies import kept_points, matrix_pass

RELAXED = settings(
    max_examples=5, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
INF = np.inf
SINGLE, MULTI = NODES = ("verification/single", "verification/multi")

EQUAL_ERROR = (
    "eer",
    "eer_threshold",
    "far_at_eer",
    "frr_at_eer",
    "eer_bracket_low",
    "eer_bracket_high",
)
# Variables that are left out where there are bounds of the first.
GROUPS = {
    "eer": EQUAL_ERROR,
    "auc": ("auc",),
    "zero_far": ("zero_far", "zero_far_threshold"),
    "zero_frr": ("zero_frr",),
    "min_cost": ("min_cost", "min_cost_threshold", "eer_hull"),
    "min_dcf": ("min_dcf",),
}


def saved(tally: be.Tally) -> be.Tally:
    """The same, written and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.npz"
        tally.save(path)
        return be.Tally.load(path)


def split(scores: be.Scores, seed: int, number: int) -> list[be.Scores]:
    rng = np.random.default_rng(seed)
    m = scores.shape[0]
    cuts = np.sort(rng.choice(np.arange(1, m), min(number, m) - 1, replace=False))
    return [scores.select(probes=rows) for rows in np.split(rng.permutation(m), cuts)]


def merged(parts: list[be.Tally], seed: int = 0, step=lambda x: x) -> be.Tally:
    """Merge in a random order and grouping."""
    rng, parts = np.random.default_rng(seed), list(parts)
    while len(parts) > 1:
        i, j = rng.choice(len(parts), 2, replace=False)
        joined = step(parts[i].merge(parts[j]))
        parts = [x for k, x in enumerate(parts) if k not in (i, j)] + [joined]
    return parts[0]


def counted(scores, points, seed=0, number=3, step=lambda x: x, **options) -> be.Tally:
    parts = [be.tally(x, points=points, **options) for x in split(scores, seed, number)]
    return merged([step(x) for x in parts], seed, step)


def check(result, whole) -> set[str]:
    """Each point is that of the whole to the last bit, or there are bounds that contain it.

    Return the names of those with bounds.
    """
    bounded = {name.removesuffix("_at_least") for name in result if name.endswith("_at_least")}
    for name, names in GROUPS.items():
        for variable in names:
            assert (variable in result) == (name not in bounded), variable
            if variable in result:
                np.testing.assert_array_equal(result[variable], whole[variable], variable)
    for name in bounded:
        low, high = (result[f"{name}_at_{end}"].values for end in ("least", "most"))
        assert (low <= whole[name].values).all() and (whole[name].values <= high).all(), name
        assert name in arguments(result, "points-within-bounds")["points"]
    np.testing.assert_array_equal(result.zero_frr_threshold, whole.zero_frr_threshold)
    np.testing.assert_array_equal(result.far_target, whole.far_target)
    for name in ("frr_at_far", "threshold_at_far"):
        unlike = result[name].values != whole[name].values
        unlike &= ~(np.isnan(result[name].values) & np.isnan(whole[name].values))
        assert np.isnan(result[name].values[unlike]).all(), name
        assert not unlike.any() or "frr_at_far" in bounded
    if "d_prime" in result:
        np.testing.assert_allclose(result.d_prime, whole.d_prime, rtol=1e-9)
    return bounded


@pytest.mark.slow
@RELAXED
@given(
    st.data(),
    st.integers(0, 2**32 - 1),
    st.integers(2, 4),
    st.sampled_from((True, 1, 2, 5, 12, 40)),
)
def test_any_tree_of_merges_has_the_points_of_the_whole(data, seed, number, points):
    """Of any matrix: ties, infinities, similarities, masks, NaN; saved and read at each step."""
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    scores = be.Scores(**case.scores())
    if scores.shape[0] == 1:
        return
    result = counted(scores, points, seed, number, saved)
    whole = be.evaluate(scores)
    for node in NODES:
        bounded = check(result.dataset(node), whole[node].to_dataset())
        assert points is not True or not bounded


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_points_are_those_of_the_definition(kind):
    """Against the slow twin, with ties, infinite scores, and parts of other ranges."""
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(8), 3)
    d = rng.normal(size=(24, 24)).round(1) + (labels[:, None] != labels)
    d[3:6] *= 64
    d[7, ::5], d[11, ::7] = INF, -INF
    scores = be.Scores(d, labels, kind=kind)
    result = counted(scores, True, 5).dataset(SINGLE)
    attempts = (
        *naive.attempts_single(values=d.tolist(), probe_labels=labels.tolist(),
                               gallery_labels=None, kind=kind),
        kind,
    )  # fmt: skip
    assert result.eer == pytest.approx(float(naive.eer(*attempts).value), abs=1e-15)
    assert result.eer_threshold == naive.eer(*attempts).threshold
    assert result.auc == float(naive.auc(*attempts))
    assert result.zero_frr == float(naive.zero_frr(*attempts))
    assert result.min_cost[0] == pytest.approx(float(naive.min_cost(*attempts, 0.5, 1, 1)[0]))
    for target in result.far_target.values:
        frr, threshold = naive.frr_at_far(*attempts, target)
        at = result.sel(far_target=target)
        assert at.frr_at_far == float(frr)
        np.testing.assert_equal(float(at.threshold_at_far), float(threshold))


def many(kind="distance", dtype="float32") -> be.Scores:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), rng.integers(2, 9, 40))
    x = rng.normal(size=(40, 6))[labels] + 0.5 * rng.normal(size=(len(labels), 6))
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)).astype(dtype)
    return be.Scores(-d if kind == "similarity" else d, labels, kind=kind)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("sweeps", [True, False])
@pytest.mark.cases(2)
def test_some_of_the_scores_are_enough(kind, sweeps, monkeypatch):
    """A fifth of them; in the sweep that counts, where a pilot finds the windows, or afterwards."""
    taken = []
    near_points = kept_points.second_pass_near_points
    monkeypatch.setattr(
        kept_points, "second_pass_near_points", lambda *x: taken.append(x) or near_points(*x)
    )
    monkeypatch.setattr(blocks, "SMALL_CELLS", 0 if sweeps else 1 << 18)
    if sweeps:
        monkeypatch.setattr(matrix_pass, "KEEP_ALL", 0)
        monkeypatch.setattr(matrix_pass, "PILOT_GROUPS", 4)
        monkeypatch.setattr(matrix_pass, "VALUES_IN_MEMORY", 6000)
    scores = many(kind)
    most = scores.shape[0] ** 2 // 10
    result = counted(scores, most, 4, 2, far_targets=(0.1, 0.01, 0.001))
    assert bool(taken) != sweeps
    whole = be.evaluate(scores, far_targets=(0.1, 0.01, 0.001))
    for node in NODES:
        bounded = check(result.dataset(node), whole[node].to_dataset())
        assert not bounded & {"eer", "frr_at_far", "zero_far"}
        kept = result.parts[node].tally.kept
        assert 0 < len(kept.scores) <= 2 * most
    assert "auc" in check(result.dataset(SINGLE), whole[SINGLE].to_dataset())


@pytest.mark.slow
def test_what_is_kept_are_the_windows_of_all_parts():
    """Each part places its own; the numbers at their ends are those of all scores."""
    scores = many()
    parts = [be.tally(x, points=900) for x in split(scores, 1, 4)]
    together = merged(parts, 2)
    for node in NODES:
        kept = together.parts[node].tally.kept
        each = [x.parts[node].tally.kept for x in parts]
        assert len({x.lows.tobytes() for x in each}) == 4
        ends = np.unique([x for k in each for x in (*k.lows, *k.highs)])
        inner = ends[np.isfinite(ends)]
        for x in [*inner, *(inner[1:] + inner[:-1]) / 2]:

            def held(k, x=x):
                return any(a < x <= b for a, b in zip(k.lows, k.highs, strict=True))

            assert held(kept) == all(map(held, each))
        genuine, impostor = attempts_of(scores, node)
        assert len(genuine) == len(together.parts[node].tally.genuine)
        starts = np.cumsum(kept.inside) - kept.inside
        for a, b, below, n, start in zip(
            kept.lows, kept.highs, kept.below, kept.inside, starts, strict=True
        ):
            assert below == (impostor <= a).sum()
            expected = np.sort(impostor[(impostor > a) & (impostor <= b)])
            np.testing.assert_array_equal(kept.scores[start : start + n], expected)


def attempts_of(scores, node) -> tuple[np.ndarray, np.ndarray]:
    """Genuine and impostor scores of a square matrix."""
    d, labels = np.array(scores.values), scores.probe_labels
    np.fill_diagonal(d, INF)
    if node == MULTI:
        d = np.array([d[:, labels == x].min(axis=1) for x in np.unique(labels)]).T
    mated = labels[:, None] == (np.unique(labels) if node == MULTI else labels)
    return d[mated & (d < INF)], d[~mated]


def test_forced_misses_have_bounds():
    """One score kept of each part: hardly a point is held, and no number is approximate."""
    scores = many()
    result, whole = counted(scores, 1, 2, 3), be.evaluate(scores)
    for node in NODES:
        ds = result.dataset(node)
        bounded = check(ds, whole[node].to_dataset())
        assert bounded >= {"eer", "auc", "frr_at_far", "min_cost"}
        assert ds.eer_at_least <= ds.eer_at_most < ds.eer_at_least + 0.02
        assert "d_prime" not in ds and "points-within-bounds" in codes(ds)
    summary = result.parts[SINGLE].scalars(SINGLE).plain(())
    assert summary["eer_at_least"] <= summary["eer_at_most"] and "eer" not in summary


@pytest.mark.slow
def test_a_merged_tally_keeps_no_more_than_its_bound(monkeypatch):
    from bioeval.studies.sites import protocol_tally as tallying

    monkeypatch.setattr(tallying, "MOST_KEPT", 2500)
    scores = many()
    whole = be.evaluate(scores)
    result = counted(scores, 2500, 1, 4, saved)
    for node in NODES:
        assert 0 < len(result.parts[node].tally.kept.scores) <= 2500
        bounded = check(result.dataset(node), whole[node].to_dataset())
    assert "eer" not in bounded


@pytest.mark.slow
def test_points_of_a_part_are_those_of_its_evaluation():
    scores = many()
    alone, whole = be.tally(scores, points=50), be.evaluate(scores)
    for node in alone.parts:
        assert alone.dataset(node).identical(whole[node].to_dataset())


@pytest.mark.slow
def test_looking_again_finds_what_was_not_kept():
    from bioeval.studies.sites.tally import refine_tally

    parts = split(many(), 3, 2)
    joined = refine_tally(merged([be.tally(x, points=1) for x in parts]), parts)
    check(joined.dataset(SINGLE), be.evaluate(many())[SINGLE].to_dataset())
    assert "eer" in joined.dataset(SINGLE)


@pytest.mark.slow
def test_streamed_embeddings_are_kept():
    from bioeval.studies.sites.tally import refine_tally

    crowd = be.simulate_embeddings(20, 4, random_state=1)
    scores = be.Scores.from_embeddings(crowd.embeddings, crowd.labels, memory_limit=1)
    parts = split(scores, 1, 3)
    tallies = [be.tally(x, points=300) for x in parts]
    result, refined = merged(tallies), refine_tally(merged(tallies), parts)
    for node in NODES:
        check(result.dataset(node), refined.dataset(node))


def test_pairs_and_rare_targets(monkeypatch):
    """A target that the whole supports, and no part."""
    monkeypatch.setattr("bioeval.tallies.points.RARE_TARGETS", (2e-4,))
    rng = np.random.default_rng(0)
    genuine = np.arange(200_000) < 500
    scores = be.Scores.from_pairs(rng.normal(3, 1, 200_000) - 3 * genuine, genuine)
    result, whole = counted(scores, 20_000, 0, 2), be.evaluate(scores)[SINGLE].to_dataset()
    assert not check(result.dataset(SINGLE), whole) & {"eer", "frr_at_far"}
    assert result.dataset(SINGLE).far_target[-1] == 2e-4


def test_a_part_without_kept_scores_leaves_the_bounds_of_counts():
    a, b = split(many(), 1, 2)
    plain = be.tally(a).merge(be.tally(b)).dataset(SINGLE)
    for one, other in ((True, False), (False, True)):
        mixed = be.tally(a, points=one).merge(be.tally(b, points=other))
        assert mixed.dataset(SINGLE).identical(plain)


CARD = """
schema = 1
name = "mine"
title = "Mine"
summary = "One task."
layout = "all-against-all"
[source]
text = "Mine"
[verification]
templates = ["single"]
[report]
far_targets = [TARGET]
"""


def test_refusals():
    scores = many()
    a, b = split(scores, 1, 2)
    one = be.tally(a, points=True)
    with pytest.raises(be.MergeError, match="would count twice"):
        one.merge(be.tally(scores, points=True))
    card = be.protocol.parse(CARD.replace("TARGET", "0.1"))
    other = be.protocol.parse(CARD.replace("TARGET", "0.2"))
    with pytest.raises(be.MergeError, match="kept for different targets"):
        be.tally(a, card, points=True).merge(be.tally(b, other, points=True))
    for points in (0, -1, 2.5, "yes", None):
        with pytest.raises(be.DataError, match=r"points is .*largest number of\s+scores"):
            be.tally(a, points=points)
    with pytest.raises(be.ProtocolError, match="points do nothing under protocol market1501"):
        be.tally(be.simulate(4, 2, layout="probe-against-gallery"), "market1501", points=True)

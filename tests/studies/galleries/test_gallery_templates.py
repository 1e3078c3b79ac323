"""Rates against the templates of each subject, held to every choice of templates there is."""

from __future__ import annotations

import math
from fractions import Fraction

import naive
import naive_galleries
import numpy as np
import pytest
import strategies as own
from hypothesis import example, given, settings, strategies as st
from twins import floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.base.errors import BioevalError, DataError, ProtocolError
from bioeval.studies.galleries import random_claims as choices

SMALL = ((2,), (1, 1), (2, 1), (2, 2), (3, 1, 2), (2, 2, 2), (4, 1, 2), (3, 3))
FUSIONS = ("min", "mean", "max", "median")
TARGETS = (0.5, 0.25, 0.1, 0.0)


@st.composite
def cases(draw):
    case = draw(own.matrices(nans=("raise", "reject", "exclude"), masks=("none", "labelled"),
                             sizes=SMALL))  # fmt: skip
    limits = draw(own.thresholds(case, max_size=4))
    return case, limits, draw(st.sampled_from(own.TIES)), draw(st.sampled_from(FUSIONS))


def largest(case) -> int:
    labels = case.probe_labels if case.gallery_labels is None else case.gallery_labels
    return max(np.unique(list(map(str, labels)), return_counts=True)[1].tolist())


def assert_points(result, genuine, impostor, kind) -> None:
    """Hold EER and FRR at FAR targets to the points of the expected curve."""
    sign = -1 if kind == "similarity" else 1
    points = naive_galleries.claimed_points(genuine, impostor)
    expected = naive.crossing(points)
    np.testing.assert_allclose(result.eer, floats(expected.value), atol=1e-12)
    at = {float(p.threshold): p for p in points}
    if points:
        chosen = at.get(sign * float(result.eer_threshold))
        if chosen is not None and not math.isnan(float(result.eer)):
            largest_error = max(expected.far_at_eer, expected.frr_at_eer)
            assert float(max(chosen.far, chosen.frr)) == pytest.approx(float(largest_error))
    for k, x in enumerate(TARGETS):
        allowed = [p for p in points if float(p.far) <= x]
        frr = float(min(p.frr for p in allowed)) if points else math.nan
        np.testing.assert_allclose(result.frr_at_far[k], frr, atol=1e-12)
        t = sign * float(result.threshold_at_far[k])
        np.testing.assert_array_equal(t, float(allowed[-1].threshold) if points else math.nan)


@settings(max_examples=own.examples_of(40))
@given(cases(), st.sampled_from(own.IMPOSTORS))
def test_every_choice_of_templates(drawn_case, impostors):
    case, limits, ties, fusion = drawn_case
    scores, sizes = be.Scores(**case.scores()), list(range(1, largest(case) + 1))
    sign = -1 if case.kind == "similarity" else 1
    ds = be.gallery_templates(
        scores, sizes, fusion=fusion, thresholds=limits, ties=ties, impostors=impostors,
        far_targets=TARGETS,
    )  # fmt: skip
    assert ds.draws.values.tolist() == [0] * len(sizes)
    assert "frr_se" not in ds
    for size in sizes:
        one = ds.sel(gallery_templates=size)
        options = {**case.naive(), "size": size, "fusion": fusion}
        expected = naive_galleries.expected(
            **options, thresholds=limits, impostors=impostors, ties=ties
        )
        assert one.mated_searches == expected.genuine_attempts
        assert one.non_mated_searches == expected.impostor_attempts
        for name, twin in (("dir", "dir"), ("cms", "cms"), ("open_set_far", "far")):
            wanted = floats(getattr(expected, twin))
            np.testing.assert_allclose(one[name], wanted, rtol=0, atol=1e-12, err_msg=name)
        genuine, impostor = naive_galleries.claims(**options)
        assert one.genuine_attempts == sum(chance for chance, _ in genuine)
        assert one.impostor_attempts == sum(chance for chance, _ in impostor)
        assert_points(one, genuine, impostor, case.kind)
        curves = naive_galleries.claimed_points(genuine, impostor)
        rates = {"frr": {}, "far": {}}
        for name, claimed in (("frr", genuine), ("far", impostor)):
            total = sum(chance for chance, _ in claimed)
            for t in [*limits, float(ds.threshold_used)]:
                within = sum(c for c, d in claimed if d <= sign * naive.number(t))
                share = float(Fraction(within, total)) if total else math.nan
                rates[name][float(t)] = 1 - share if name == "frr" else share
            wanted = [rates[name][float(t)] for t in limits]
            np.testing.assert_allclose(one[name], wanted, rtol=0, atol=1e-12)
            if curves and not math.isnan(float(ds.threshold_used)):
                at = float(one[f"{name}_at_threshold"])
                assert at == pytest.approx(rates[name][float(ds.threshold_used)], abs=1e-12)
        assert_verification(be.verification(
            scores, templates="multi", gallery=size, fusion=fusion, thresholds=limits,
            far_targets=TARGETS,
        ), one)  # fmt: skip


def assert_verification(result, one) -> None:
    """Hold verification in drawn galleries to the same rates."""
    for name in ("frr", "far", "eer", "eer_threshold", "frr_at_far", "threshold_at_far"):
        np.testing.assert_array_equal(result[name], one[name], err_msg=name)
    np.testing.assert_allclose(result.gar, 1 - one.frr, atol=1e-15)
    np.testing.assert_allclose(result.fa, one.far.fillna(0) * result.impostor_attempts, atol=1e-9)


@pytest.mark.slow
@given(cases())
def test_all_templates_are_the_whole_gallery(drawn_case):
    case, limits, ties, fusion = drawn_case
    scores, size = be.Scores(**case.scores()), largest(case)
    ds = be.gallery_templates(
        scores, size, fusion=fusion, thresholds=limits, ties=ties, far_targets=TARGETS
    ).isel(gallery_templates=0)
    whole = be.verification(
        scores, templates="multi", fusion=fusion, thresholds=limits, far_targets=TARGETS
    )
    at = whole.sel(threshold=ds.threshold) if len(limits) else whole.isel(threshold=[])
    for name in ("frr", "far"):
        np.testing.assert_allclose(ds[name], at[name], rtol=0, atol=1e-15)
    for name in ("eer", "frr_at_far"):
        np.testing.assert_allclose(ds[name], whole[name], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(ds.threshold_at_far, whole.threshold_at_far)
    ranks = {"fusion": fusion, "rank_unit": "subject", "ties": ties}
    searched = be.open_set(scores, thresholds=limits, **ranks)
    ranks["max_rank"] = len(ds["rank"])
    np.testing.assert_allclose(ds.open_set_far, searched.far, atol=1e-15)
    closed = be.closed_set(scores, unmated="skip", **ranks)
    np.testing.assert_allclose(ds.cms, closed.cms, atol=1e-14)


@pytest.mark.slow
@given(cases(), st.integers(0, 5))
@example((own.Case(np.arange(16.0).reshape(4, 4), list("aabb"), None, "distance", "raise"),
          np.array([3.0, 9.0]), "pessimistic", "min"), 0)  # fmt: skip
def test_with_more_templates_frr_falls_and_far_rises(drawn_case, seed):
    case, limits, ties, _ = drawn_case
    scores = be.Scores(**case.scores())
    ds = be.gallery_templates(scores, range(1, largest(case) + 1), thresholds=limits, ties=ties)
    for name, sign in (("frr", -1), ("far", 1), ("open_set_far", 1)):
        assert not (sign * np.diff(ds[name].values, axis=0) < -1e-14).any(), name
    assert not (np.diff(ds.frr_at_threshold) > 1e-14).any()


# ----------------------------------------------------------------------------- larger data


@pytest.fixture(scope="module")
def people():
    return be.simulate(25, (3, 6), random_state=2)


@pytest.mark.slow
def test_points_do_not_depend_on_the_thresholds(people):
    """Bins of any width hold the same points."""
    first = be.gallery_templates(people, [1, 2, 4], far_targets=(0.1, 0.01, 0.002))
    for thresholds in ([4.0], np.linspace(1, 9, 2000)):
        again = be.gallery_templates(
            people, [1, 2, 4], thresholds=thresholds, far_targets=(0.1, 0.01, 0.002)
        )
        for name in ("eer", "eer_threshold", "frr_at_far", "threshold_at_far", "far_at_threshold"):
            np.testing.assert_array_equal(first[name], again[name], err_msg=name)
    single = be.gallery_templates(people, 2, far_targets=(0.1, 0.01, 0.002))
    np.testing.assert_array_equal(single.frr_at_far[0], first.frr_at_far[1])
    assert first.fewer.values.tolist() == [
        int((np.unique(people.probe_labels, return_counts=True)[1] < n).sum()) for n in (1, 2, 4)
    ]
    codes = {(x.code, x.arguments["templates"]) for x in be.messages(first)}
    assert ("fewer-templates-than-drawn", 4) in codes


@pytest.mark.slow
@pytest.mark.parametrize("fusion", ["min", "mean", "kth:2"])
@pytest.mark.cases(1)
def test_drawn_galleries_agree_with_all(people, fusion):
    sizes = [2, 3]
    exact = be.gallery_templates(people, sizes, fusion=fusion)
    drawn = be.gallery_templates(people, sizes, fusion=fusion, sampling=150, random_state=3)
    assert drawn.draws.values.tolist() == [150, 150] and drawn.attrs["sampling"] == "150"
    for name in ("frr", "far"):
        se = drawn[f"{name}_se"].values
        assert (np.abs(drawn[name] - exact[name]) <= 5 * se + 2e-4).all(), name
        assert se.max() > 0
    np.testing.assert_allclose(drawn.cms, exact.cms, atol=0.02)
    np.testing.assert_allclose(drawn.open_set_far, exact.open_set_far, atol=0.05)
    again = be.gallery_templates(people, sizes, fusion=fusion, sampling=150, random_state=3)
    assert again.identical(drawn)
    result = be.verification(
        people, templates="multi", fusion=fusion, gallery=3, sampling=150, random_state=3,
        thresholds=exact.threshold.values,
    )  # fmt: skip
    np.testing.assert_array_equal(result.frr_se, drawn.frr_se[1])
    np.testing.assert_array_equal(result.far, drawn.far[1])


@pytest.mark.slow
def test_the_standard_error_is_that_of_the_draws(people):
    """Means of many seeds spread as the standard error of each says."""
    given_ = {"sampling": 10, "thresholds": [3.5, 4.5]}
    many = [be.gallery_templates(people, 2, random_state=k, **given_) for k in range(24)]
    for name in ("frr", "far"):
        spread = np.std([ds[name].values[0] for ds in many], axis=0, ddof=1)
        stated = np.mean([ds[f"{name}_se"].values[0] for ds in many], axis=0)
        assert (np.abs(spread / stated - 1) < 0.5).all()


def test_too_many_choices_are_drawn(people, monkeypatch):
    exact = be.gallery_templates(people, [1, 3], fusion="mean")
    monkeypatch.setattr(choices, "MOST_CHOICES", 19)  # of 6 templates there are 20 choices of 3
    ds = be.gallery_templates(people, [1, 3], fusion="mean", random_state=0)
    assert ds.draws.values.tolist() == [0, 200]
    (message,) = be.messages(ds)
    assert message.code == "choices-drawn" and message.arguments["templates"] == [3]
    assert np.isnan(ds.frr_se[0]).all()
    assert (np.abs(ds.far - exact.far) <= 5 * ds.far_se.fillna(0) + 2e-4).all()


def test_probes_against_a_gallery_and_other_kinds():
    given_ = {"layout": "probe-against-gallery", "probes": 3, "unenrolled": 5}
    distances = be.simulate(12, 4, random_state=1, **given_)
    d = np.asarray(distances.values)
    mirrored = be.Scores(-d, distances.probe_labels, distances.gallery_labels, kind="similarity")
    one, other = (be.gallery_templates(x, [1, 3], thresholds=9) for x in (distances, mirrored))
    np.testing.assert_array_equal(one.frr, other.frr[:, ::-1])
    np.testing.assert_array_equal(one.threshold_at_far, -other.threshold_at_far)
    assert float(one.threshold_used) == -float(other.threshold_used)
    np.testing.assert_array_equal(one.far_at_threshold, other.far_at_threshold)
    assert one.attrs["impostors"] == "unenrolled" and one.non_mated_searches == 15
    assert one.fewer.values.tolist() == [0, 0]


def test_one_threshold_for_all():
    scores = be.simulate(20, 5, random_state=4)
    by_far = be.gallery_templates(scores, [1, 4], threshold=("far", 0.01))
    assert by_far.attrs["threshold_rule"] == "far=0.01"
    assert float(by_far.threshold_used) == float(by_far.threshold_at_far[0, 1])
    assert float(by_far.frr_at_threshold[0]) == float(by_far.frr_at_far[0, 1])
    used = float(by_far.threshold_used)
    fixed = be.gallery_templates(scores, [1, 4], threshold=used, thresholds=[used])
    for name in ("frr", "far"):
        np.testing.assert_array_equal(fixed[f"{name}_at_threshold"], fixed[name][:, 0])
        np.testing.assert_array_equal(fixed[f"{name}_at_threshold"], by_far[f"{name}_at_threshold"])


@pytest.mark.slow
def test_excluded_pairs_and_failed_ones_are_not_drawn():
    simulated = be.simulate(8, 4, random_state=1)
    values = np.array(simulated.values, dtype=float)
    values[3, 9] = np.nan
    sessions = {"session": np.tile([1, 1, 2, 2], 8)}
    labels = simulated.probe_labels
    scores = be.Scores(values, labels, probe_meta=sessions, exclude=("session",), nan="exclude")
    mask = np.where(labels[:, None] == labels, 2, 1).astype(np.uint8)
    same = (labels[:, None] == labels) & (sessions["session"][:, None] == sessions["session"])
    mask[same] = 0
    masked = be.Scores(values, labels, mask=mask, nan="exclude")
    for fusion in ("min", "mean"):
        one, other = (be.gallery_templates(x, [1, 2, 3], fusion=fusion) for x in (scores, masked))
        for name in ("frr", "far", "cms", "open_set_far"):
            np.testing.assert_array_equal(one[name], other[name])
    assert one.fewer.values.tolist() == [0, 0, 0]


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("sizes", "options", "words"),
    [
        (0, {}, "sizes is 0; expected increasing whole numbers of templates from 1 up"),
        ([2, 1], {}, r"sizes is \[2, 1\]; expected increasing"),
        ([1.5], {}, r"sizes is \[1.5\]"),
        ([1, 5], {}, "sizes has 5, but no subject has more than 4 templates in the gallery; exp"),
        (1, {"fusion": "middle"}, "fusion"),
        (
            [1, 2],
            {"fusion": "kth:2"},
            "fusion is 'kth:2', but 1 template of each subject is enrolled",
        ),
        (1, {"sampling": 0}, "sampling is 0"),
        (1, {"sampling": "all"}, "sampling is 'all'"),
        (1, {"ties": "any"}, "ties is 'any'"),
        (1, {"impostors": "all"}, "impostors is 'all'"),
        (1, {"threshold": "hter"}, "threshold is 'hter'; expected a number, 'eer' or"),
        (1, {"far_targets": [2]}, "far_targets"),
        (1, {"max_rank": 0}, "max_rank"),
        (1, {"random_state": -1, "sampling": 3}, "random_state"),
    ],
)
def test_arguments_that_cannot_be(sizes, options, words):
    with pytest.raises(DataError, match=words):
        be.gallery_templates(be.simulate(5, 4, random_state=1), sizes, **options)


def test_scores_that_have_no_such_galleries():
    pairs = be.Scores.from_pairs([0.1, 0.2], [True, False])
    with pytest.raises(ProtocolError):
        be.gallery_templates(pairs, 1)
    alone = be.Scores(np.eye(3), mask=np.ones((3, 3), dtype=np.uint8))
    with pytest.raises(ProtocolError, match="a gallery of some templates of each subject"):
        be.gallery_templates(alone, 1)
    scores = be.simulate(5, 4, random_state=1)
    for options, words in (
        ({"templates": "single"}, 'give templates="multi"'),
        ({"templates": "multi", "claims": ["a"] * 20}, "claims"),
        ({"templates": "multi", "interval": "wilson"}, "intervals are of the whole gallery"),
        ({"templates": "multi", "gallery": 0}, "gallery is 0"),
        ({"templates": "multi", "gallery": 5}, "gallery has 5, but no subject has more than 4"),
        ({"templates": "multi", "gallery": "all", "sampling": 3}, "leaves nothing to draw"),
    ):
        with pytest.raises(BioevalError, match=words):
            be.verification(scores, **{"gallery": 2, **options})


def test_a_class_without_attempts():
    one = be.gallery_templates(be.Scores(np.ones((2, 2)), ["a", "a"]), 1)
    assert np.isnan(one.far).all() and np.isnan(one.eer).all()
    assert ("no-impostor-attempt", {"rates": ["far"]}) in [x[:2] for x in be.messages(one)]


def test_the_thresholds_of_each_number_of_templates_are_shown(capsys):
    """In the text, as in the result and in its JSON, where FRR is at equal FAR."""
    scores = be.simulate(12, 4, random_state=1)
    ds = be.gallery_templates(scores, [1, 2, 3], far_targets=(0.1, 0.02))
    be.show(ds)
    _, _, rest = capsys.readouterr().out.partition("Thresholds of these rates")
    head, *rows = rest.strip().splitlines()[:4]
    assert head.split("  ")[0].strip() == "templates" and "EER" in head and "FAR <= 2 %" in head
    for i, row in enumerate(rows):
        shown = [float(cell) for cell in row.split()[1:]]
        expected = [ds.eer_threshold[i].item(), *ds.threshold_at_far[i].values.tolist()]
        assert shown == pytest.approx(expected, rel=1e-5)
    assert len({row.split()[1] for row in rows}) == 3

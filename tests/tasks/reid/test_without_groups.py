"""Re-identification without each group of people, against a count of the others anew."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import bioeval as be
from bioeval.results.variables import QUERY_MEANS
from bioeval.tasks.reid import without_groups
from bioeval.tasks.reid.convention import convention_of
from bioeval.tasks.reid.counts import plan_reid
from bioeval.tasks.reid.results import reid_measures
from bioeval.tasks.reid.without_groups import means_without_groups

GROUPS = 4
RANKS = (1, 5)


@pytest.fixture(scope="module", params=["few", "many"], autouse=True)
def number(request):
    """Ranked by NumPy as few scores are, and by the loops of many."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "many":
            patch.setattr("bioeval.scores.blocks.LISTED", 0)
        yield request.param


def labels_of(rng: np.random.Generator, number: int, kind: str) -> np.ndarray:
    """Labels of 12 people, with some junk (-1) and distractors (0)."""
    who = np.arange(number) % 12 + 1
    if kind == "unequal":  # from one to very many templates
        who = np.minimum(rng.geometric(0.25, number), 12)
    elif kind == "singletons":
        who = np.where(np.arange(number) < 6, np.arange(number) + 1, np.arange(number) % 3 + 8)
    return np.where(rng.random(number) < 0.1, rng.choice([-1, 0], number), who)


def scores_of(kind: str = "equal", steps: float = 0, dtype: type = np.float64) -> be.Scores:
    rng = np.random.default_rng(5)
    shape = 50, 60
    probes, gallery = labels_of(rng, shape[0], kind), labels_of(rng, shape[1], kind)
    values = rng.random(shape) + 0.4 * (probes[:, None] != gallery)
    if steps:
        values = np.round(values * steps)
    cameras = [{"camera": rng.integers(1, 4, n)} for n in shape]
    return be.Scores(
        values.astype(dtype), probes, gallery, distractor_ids=[0],
        probe_meta=cameras[0], gallery_meta=cameras[1],
    )  # fmt: skip


def group_of(scores: be.Scores) -> dict[int, int]:
    """The group of each label; junk, distractors and the last person stay."""
    people = np.union1d(scores.probe_labels, scores.gallery_labels)
    return {x: -1 if x < 1 or x == 12 else int(x) % GROUPS for x in people.tolist()}


def wanted(measures) -> dict[str, object]:
    means = {name: measures.means[name] for name in QUERY_MEANS if name in measures.means}
    return means | {f"cmc {rank}": measures.cmc.within(rank) for rank in RANKS}


def measured(scores: be.Scores, convention, groups: dict[int, int]) -> dict[str, np.ndarray]:
    group = np.array([groups[x] for x in scores.codes.values.tolist()])
    tally = plan_reid(scores, convention)()
    means = [*wanted(reid_measures(tally, curves=False)).values()]
    left_out = means_without_groups(scores, convention, group, wanted, means)
    names = [x for x in QUERY_MEANS if x != "rank_k_mean_ap" or convention.rank_k]
    names += [f"cmc {rank}" for rank in RANKS]
    return dict(zip(names, left_out, strict=True))


def counted_anew(scores: be.Scores, convention, groups: dict[int, int]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for group in range(GROUPS):
        kept = [
            np.array([groups[x] != group for x in side.tolist()])
            for side in (scores.probe_labels, scores.gallery_labels)
        ]
        result = be.reid(scores.select(probes=kept[0], gallery=kept[1]), convention)
        for name in QUERY_MEANS:
            if name in result:
                values.setdefault(name, []).append(result[name].item())
        for rank in RANKS:
            values.setdefault(f"cmc {rank}", []).append(result.cmc.sel(rank=rank).item())
    return values


def check(scores: be.Scores, convention) -> None:
    groups = group_of(scores)
    one, other = measured(scores, convention, groups), counted_anew(scores, convention, groups)
    assert one.keys() == other.keys()
    assert not np.isnan(one["cmc 1"]).any()
    for name, values in other.items():
        np.testing.assert_allclose(one[name], values, rtol=1e-13, atol=0, err_msg=name)


def rules(card: str, **options) -> object:
    return convention_of(card, max_rank=10, **options)


@pytest.mark.parametrize("kind", ["equal", "unequal", "singletons"])
@pytest.mark.parametrize("ties", ["stable", "optimistic", "pessimistic", "expected"])
@pytest.mark.parametrize("steps", [0, 6], ids=["distinct", "tied"])
@pytest.mark.cases(4)
def test_means_without_each_group_are_those_of_the_others(kind, ties, steps):
    check(scores_of(kind, steps), rules("market1501", ties=ties))


@pytest.mark.parametrize(
    ("card", "options"),
    [
        ("cuhk03", {}),  # lists of one entry of each identity
        ("cuhk03", {"ties": "expected"}),
        ("identity-dedup", {}),
        ("identity-dedup", {"ties": "pessimistic"}),
        ("open-reid", {}),  # every match is counted
        ("market1501", {"removed": "same-camera", "removed_for_ap": "same-id-same-camera"}),
        ("market1501", {"junk": "keep"}),
        ("market1501", {"unmatched": "zero"}),
        ("market1501", {"rank_k": 4, "rank_k_over": "smaller"}),
        ("market1501", {"ap": "trapezoid"}),
        ("market1501", {"ap": "tied-once", "ties": "expected"}),
    ],
)
@pytest.mark.cases(3)
def test_means_under_other_conventions(card, options):
    check(scores_of("unequal", 6), rules(card, **options))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_means_of_other_types(dtype):
    check(scores_of("unequal", 20, dtype), rules("market1501"))


def test_means_of_similarities_and_of_templates_against_each_other():
    scores = scores_of("unequal", 6)
    check(scores.with_values(-scores.values, "similarity"), rules("market1501"))
    who, cameras = scores.gallery_labels, scores.gallery_meta
    values = np.random.default_rng(2).integers(0, 9, (len(who),) * 2) / 8
    check(be.Scores(values, who, probe_meta=cameras), rules("market1501"))


@pytest.mark.parametrize("policy", ["exclude", "reject"])
def test_means_with_failed_comparisons(policy):
    scores = scores_of("unequal", 6)
    values = scores.values.copy()
    values[np.random.default_rng(1).random(values.shape) < 0.2] = np.nan
    check(
        be.Scores(
            values, scores.probe_labels, scores.gallery_labels, nan=policy,
            probe_meta=scores.probe_meta, gallery_meta=scores.gallery_meta,
        ),
        rules("market1501"),
    )  # fmt: skip


def test_means_of_masked_scores():
    scores = scores_of("unequal", 6)
    left_out = np.random.default_rng(1).random(scores.shape) < 0.2
    genuine = scores.probe_labels[:, None] == scores.gallery_labels
    check(
        scores.with_mask(np.where(left_out, 0, 1 + genuine).astype(np.uint8)), rules("market1501")
    )


def test_a_group_without_whom_no_query_is_left():
    scores = scores_of()
    groups = dict.fromkeys(group_of(scores), 0)
    groups[-1] = groups[0] = -1
    for values in measured(scores, rules("market1501"), groups).values():
        assert np.isnan(values).all()


@pytest.mark.parametrize("card", ["market1501", "cuhk03", "identity-dedup"])
def test_means_on_any_number_of_threads_and_in_any_blocks(card, monkeypatch):
    scores, convention = scores_of("unequal", 6), rules(card)
    groups, threads = group_of(scores), numba.get_num_threads()
    expected = measured(scores, convention, groups)
    try:
        for number in range(1, threads + 1):
            numba.set_num_threads(number)
            for most in (1, 1 << 10, 1 << 21):
                monkeypatch.setattr(without_groups, "COUNTS_IN_MEMORY", most)
                for name, values in measured(scores, convention, groups).items():
                    np.testing.assert_array_equal(values, expected[name])
    finally:
        numba.set_num_threads(threads)

"""Intervals of the difference of two systems for new people."""

import numpy as np
import pytest
import scipy

import bioeval as be

PEOPLE = 25
TARGETS = (0.3, 0.1)


def matrix(seed: int, people: int = PEOPLE, each: int = 4) -> np.ndarray:
    """Distances in whole steps, so that many are the same."""
    crowd = np.random.default_rng(2).normal(size=(people, 1, 6))
    noise = np.random.default_rng(seed).normal(size=(people, each, 6))
    x = (crowd + 0.8 * noise).reshape(-1, 6)
    return np.round(4 * np.linalg.norm(x[:, None] - x, axis=-1))


def scores_of(values: np.ndarray, layout: str, people: int = PEOPLE, extra: int = 0) -> be.Scores:
    """All against all; or half of the templates against the other half, of which some are of
    people who are not searched for.
    """
    who = np.repeat(np.arange(people), len(values) // people)
    if layout == "square":
        return be.Scores(values, who)
    probe, camera = np.arange(len(who)) % 4 < 2, np.arange(len(who)) % 3
    searched = probe & (who >= extra)
    return be.Scores(
        values[np.ix_(searched, ~probe)], who[searched], who[~probe],
        probe_meta={"camera": camera[searched]}, gallery_meta={"camera": camera[~probe]},
    )  # fmt: skip


def without(scores: be.Scores, person: int) -> be.Scores:
    kept = [np.flatnonzero(x != person) for x in (scores.probe_labels, scores.gallery_labels)]
    return scores.select(probes=kept[0], gallery=kept[1])


def people_of(scores: be.Scores) -> np.ndarray:
    return np.union1d(scores.probe_labels, scores.gallery_labels)


def jackknife(value: float, others: np.ndarray) -> tuple[float, float]:
    """Limits from the definition."""
    n = len(others)
    squares = [(x - others.mean()) ** 2 for x in others]
    error = np.sqrt((n - 1) / n * sum(squares))
    varies = sum(x**2 for x in squares) - sum(squares) ** 2 / n  # Satterthwaite
    half = scipy.stats.t.ppf(0.975, min(2 * sum(squares) ** 2 / varies, n - 1)) * error
    return value - half, value + half


def of_pair(comparison):
    """The first system minus the second."""
    return comparison.isel(system=0, other_system=1)


@pytest.mark.parametrize("layout", ["more enrolled", "square", "gallery"])
@pytest.mark.cases(1)
def test_limits_are_those_of_people_left_out_on_both_sides(layout):
    extra = 5 * (layout == "more enrolled")
    pair = [scores_of(matrix(seed), layout.split()[0], extra=extra) for seed in (3, 4)]
    compared = of_pair(
        be.compare(
            *pair,
            far_targets=TARGETS,
            interval=be.stats.IntervalMethod("people", replicates=200),
        )
    )
    names = ["recognition rate", "DIR at FAR <= 30 %, rank 1", "DIR at FAR <= 10 %, rank 1"]
    others = {name: [] for name in names}
    for person in people_of(pair[0]):
        values = []
        for scores in pair:
            opened = be.open_set(without(scores, person), far_targets=TARGETS)
            values.append([opened.dir.values[-1, 0], *opened.dir_at_far.values[:, 0]])
        for name, change in zip(names, np.subtract(*values), strict=True):
            others[name].append(change)
    for name in names:
        row = compared.sel(measure=name)
        low, high = jackknife(row.difference.item(), np.array(others[name]))
        if row.discordant >= 6:
            ends = max(low, -1), min(high, 1)
            assert (row.difference_low, row.difference_high) == pytest.approx(ends)
        assert row.interval_for == "new people"


@pytest.mark.parametrize(
    ("card", "people"),
    [
        ("market1501", PEOPLE),
        ("cuhk03", PEOPLE),  # of one entry of each identity, in the mean of all galleries
        ("identity-dedup", PEOPLE),
        ("open-reid", PEOPLE),  # every match is counted
        ("market1501-original", PEOPLE),
        pytest.param("vehicleid", 210, marks=pytest.mark.slow),
    ],
)
@pytest.mark.cases(2)
def test_retrieval_is_counted_anew_without_people(card, people):
    """Each of few people is left out; of more, groups of two or three, so that limits are near."""
    pair = [scores_of(matrix(seed, people), "gallery", people) for seed in (3, 4)]
    compared = of_pair(
        be.compare(
            *pair,
            protocol=card,
            interval=be.stats.IntervalMethod("people", replicates=200),
        )
    )
    assert set(compared.interval_for.values) == {"new people"}
    few = people == PEOPLE
    assert compared.attrs["jackknifed"] == (
        "each person" if few else "each of 100 groups of people"
    )
    assert set(compared.interval_method.values) == {"people"}
    assert compared.attrs["interval_method"] == "people"
    assert "replicates" not in compared.attrs
    for label, name in (("mAP", "mean_ap"), ("CMC(1)", "cmc")):
        change = []
        for person in range(people):
            results = [be.reid(without(x, person), card) for x in pair]
            values = [x[name].values.reshape(-1)[0] for x in results]
            change.append(values[0] - values[1])
        row = compared.sel(measure=label)
        ends = jackknife(row.difference.item(), np.array(change))
        measured = row.difference_low.item(), row.difference_high.item()
        if few:
            assert measured == pytest.approx(ends)
        else:
            assert np.diff(measured) == pytest.approx(np.diff(ends), rel=0.5)


@pytest.mark.parametrize(("people", "population"), [(2, "this gallery"), (8, "new people")])
def test_limits_of_too_few_people_to_leave_one_out_are_for_this_gallery(people, population):
    one = scores_of(matrix(1, people), "square", people)
    other = one.with_values(np.random.default_rng(0).random(one.shape), "distance")
    compared = be.compare(
        one,
        other,
        far_targets=[0.3],
        interval=be.stats.IntervalMethod("people", replicates=100),
    )
    rate = compared.sel(measure="recognition rate")
    assert rate.difference[0, 1] != 0
    assert rate.interval_for.item() == population

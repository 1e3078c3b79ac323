"""Two systems compared by how alike they treat groups."""

from __future__ import annotations

import naive
import naive_groups
import numpy as np
import pytest
from named_arguments import raises_about
from rendered import require_names_kept
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.studies.groups import gaps as module
from bioeval.studies.groups.gaps import MEASURES
from bioeval.studies.groups.gaps_section import section
from bioeval.studies.groups.measures import gini_limits, inequity


def systems(seed=1, people=66, groups="ab", worse=0.0):
    """Two systems of the same people; the first is worse for the first group."""
    crowd = be.simulate_embeddings(people, 2, random_state=seed)
    a, b = crowd.scores("l2"), crowd.scores("l1")
    who = np.asarray(a.probe_labels)
    group = np.array(list(groups))[who % len(groups)]
    values = a.values.copy()
    mates = (who[:, None] == who) & (group == groups[0])[:, None] & ~np.eye(len(who), dtype=bool)
    values[mates] *= 1 + worse
    return be.Scores(values, who), b, group


def attempts_of(scores, group, at):
    """Return the attempts within groups of each rate: errors or not, with their people."""
    of = dict(zip(scores.probe_labels.tolist(), group.tolist(), strict=True))
    made = {"frr": [], "far": []}
    for a in naive_groups.attempts(naive.read(scores.values, scores.probe_labels)):
        if a.genuine:
            made["frr"].append((a.score > at, (a.probe,)))
        elif of[a.probe] == of[a.claimed]:
            made["far"].append((a.score <= at, (a.probe, a.claimed)))
    return made, of


def of_group(made, of, g):
    outcomes = {True: [], False: []}
    for wrong, people in made:
        if of[people[0]] == g:
            outcomes[wrong].append(people)
    return outcomes


def rate_of(outcomes, left_out=None):
    kept = {x: [p for p in rows if left_out not in p] for x, rows in outcomes.items()}
    return len(kept[True]) / (len(kept[True]) + len(kept[False]))


def correlation(first, second, people):
    one = [rate_of(first, x) for x in people]
    other = [rate_of(second, x) for x in people]
    one = [x - sum(one) / len(one) for x in one]
    other = [x - sum(other) / len(other) for x in other]
    scale = (sum(x * x for x in one) * sum(x * x for x in other)) ** 0.5
    return sum(x * y for x, y in zip(one, other, strict=True)) / scale if scale else 0.0


@pytest.mark.parametrize("groups", ["ab", "abc"])
def test_limits_of_gaps_are_those_of_their_definition(groups, monkeypatch):
    levels = iter([0.97, 0.98, 0.99, 0.995])  # of FRR, FAR, and of both together
    monkeypatch.setattr(module, "level_together", lambda *given: next(levels))
    a, b, group = systems(groups=groups, people=33 * len(groups))
    at = 4.4, 14.0
    ds = be.compare_groups(a, b, group, threshold=at[0], threshold_b=at[1], alpha=0.25)
    counted = [attempts_of(x, group, t) for x, t in zip((a, b), at, strict=True)]
    of = counted[0][1]
    rates, low, high = {}, {}, {}
    both = {}
    for level, measure in ((0.97, "frr"), (0.98, "far"), (0.99, "frr both"), (0.995, "far both")):
        name = measure[:3]
        outcomes = [[of_group(made[name], of, g) for g in groups] for made, _ in counted]
        trials = {"frr": 33, "far": 16}[name]
        rates[name] = [[rate_of(x) for x in row] for row in outcomes]
        limits = [[naive_groups.left_out_limits(x, trials, level) for x in row] for row in outcomes]
        shared = [
            correlation(outcomes[0][i], outcomes[1][i], [x for x in of if of[x] == g])
            for i, g in enumerate(groups)
        ]
        ends = naive_groups.limits_of_gaps(rates[name], limits, shared)
        if measure.endswith("both"):
            both[name] = ends
        else:
            low[name], high[name] = ends
    for name in ("frr", "far"):
        row = ds.sel(measure=f"{name}_gap")
        values = [max(x) - min(x) for x in rates[name]]
        np.testing.assert_allclose([row.value_a, row.value_b], values, rtol=1e-12)
        np.testing.assert_allclose(
            [row.difference_low, row.difference_high], [low[name], high[name]], rtol=1e-8
        )
        assert row.difference_low <= row.difference <= row.difference_high
    row = ds.sel(measure="fdr")
    ends = [-(0.25 * both["far"][i] + 0.75 * both["frr"][i]) for i in (1, 0)]
    np.testing.assert_allclose([row.difference_low, row.difference_high], ends, rtol=1e-8)
    for side, i in (("a", 0), ("b", 1)):
        measured = inequity(np.array(rates["far"][i]), np.array(rates["frr"][i]), 0.25)
        assert ds.sel(measure="fdr")[f"value_{side}"] == pytest.approx(float(measured["fdr"]))
        assert ds.sel(measure="garbe")[f"value_{side}"] == pytest.approx(float(measured["garbe"]))
        np.testing.assert_allclose(ds[f"frr_{side}"], rates["frr"][i], rtol=1e-12)
        np.testing.assert_allclose(ds[f"far_{side}"], rates["far"][i], rtol=1e-12)
    level = 0.95 ** (1 / (4 * len(groups)))
    of_systems = []
    for made, _ in counted:
        ends = []
        for name, trials, weight in (("frr", 33, 0.75), ("far", 16, 0.25)):
            limits = [
                naive_groups.left_out_limits(of_group(made[name], of, g), trials, level)
                for g in groups
            ]
            ends.append(weight * np.array(gini_limits(*np.array(limits).T)))
        of_systems.append(sum(ends))
    row = ds.sel(measure="garbe")
    expected = of_systems[0][0] - of_systems[1][1], of_systems[0][1] - of_systems[1][0]
    np.testing.assert_allclose([row.difference_low, row.difference_high], expected, rtol=1e-8)


def test_the_system_that_treats_groups_alike_is_named():
    a, b, group = systems(people=120, worse=0.8)
    ds = be.compare_groups(a, b, group, threshold=("far", 0.02))
    assert ds.fairer.sel(measure=["frr_gap", "fdr"]).values.tolist() == [-1, -1]
    assert ds.fairer.sel(measure="far_gap") == 0
    turned = be.compare_groups(b, a, group, threshold=("far", 0.02))
    assert turned.fairer.sel(measure=["frr_gap", "fdr"]).values.tolist() == [1, 1]
    np.testing.assert_allclose(turned.difference, -ds.difference, atol=1e-12)
    np.testing.assert_allclose(turned.difference_low, -ds.difference_high, atol=0.01)


def test_a_system_is_not_fairer_than_itself():
    a, _, group = systems(groups="abc", people=99, worse=0.5)
    ds = be.compare_groups(a, a, group, threshold=("far", 0.02))
    assert (ds.difference == 0).all() and (ds.fairer == 0).all()
    np.testing.assert_allclose(ds.difference_low, -ds.difference_high, rtol=1e-9)


def test_people_are_paired_by_their_names():
    a, b, group = systems(worse=0.3)
    order = np.random.default_rng(1).permutation(len(group))
    other = be.Scores(
        -b.values[np.ix_(order, order)],
        b.probe_labels[order],
        kind="similarity",
        probe_meta={"sex": group[order]},
    )
    a = be.Scores(a.values, a.probe_labels, probe_meta={"sex": group})
    plain = be.Scores(b.values, b.probe_labels, probe_meta={"sex": group})
    ds = be.compare_groups(a, plain, "sex", threshold=("far", 0.02))
    shuffled = be.compare_groups(a, other, "sex", threshold=("far", 0.02))
    for name in ("value_b", "difference", "difference_low", "difference_high", "frr_b"):
        np.testing.assert_allclose(shuffled[name], ds[name], rtol=1e-9, atol=1e-12)
    assert shuffled.threshold_b == -ds.threshold_b


def test_a_list_of_all_pairs_is_a_matrix():
    a, b, group = systems(people=64)
    listed = []
    for scores in (a, b):
        i, j = np.nonzero(~np.eye(len(group), dtype=bool))
        who = np.asarray(scores.probe_labels)
        listed.append(
            be.Scores.from_pairs(
                scores.values[i, j], who[i] == who[j], subjects=np.stack([who[i], who[j]], axis=1),
                meta={"sex": np.stack([group[i], group[j]], axis=1)},
            )
        )  # fmt: skip
    of_matrices = be.compare_groups(a, b, group, threshold=("far", 0.05))
    of_lists = be.compare_groups(*listed, "sex", threshold=("far", 0.05))
    for name in ("value_a", "value_b", "frr_a", "far_b"):
        np.testing.assert_allclose(of_lists[name], of_matrices[name], rtol=1e-12)


def test_small_groups_are_left_out():
    a, b, _ = systems(people=75)
    who = np.asarray(a.probe_labels)
    group = np.where(who <= 10, "c", np.where(who % 2, "a", "b"))
    ds = be.compare_groups(a, b, group, threshold=("far", 0.05))
    assert [x.code for x in be.messages(ds)] == ["groups-left-out-of-gaps"]
    largest = ds.frr_a.sel(group=["a", "b"])
    assert ds.value_a.sel(measure="frr_gap") == largest.max() - largest.min()
    few = be.compare_groups(a, b, np.where(who <= 10, "c", "a"), threshold=("far", 0.05))
    assert [x.code for x in be.messages(few)] == ["group-gaps-not-compared"]
    assert few.difference.isnull().all() and (few.fairer == 0).all()


def test_other_people_and_other_groups_are_refused():
    a, b, group = systems(people=64)
    with pytest.raises(
        be.DataError, match="1 subject of the first are not|not over the same people"
    ):
        some = np.flatnonzero(np.asarray(b.probe_labels) != 5)
        be.compare_groups(
            be.Scores(a.values, a.probe_labels, probe_meta={"g": group}),
            be.Scores(b.values, b.probe_labels, probe_meta={"g": group}).select(
                probes=some, gallery=some
            ),
            "g",
        )
    other = np.where(np.asarray(b.probe_labels) == 5, "x", group)
    with raises_about(be.DataError, "group"):
        be.compare_groups(
            be.Scores(a.values, a.probe_labels, probe_meta={"g": group}),
            be.Scores(b.values, b.probe_labels, probe_meta={"g": other}),
            "g",
        )
    with raises_about(be.DataError, "group"):
        be.compare_groups(a, b, np.asarray(a.probe_labels) % 13)
    with raises_about(be.DataError, "threshold_b"):
        be.compare_groups(a, b, group, threshold_b="none of them")
    with pytest.raises(be.DataError):
        be.compare_groups(a, 3, group)


def test_names_are_kept_in_what_is_said():
    a, b, group = systems(people=64)

    def of_name(name):
        return section({"": be.compare_groups(a.replace(name=name), b, group)})

    require_names_kept(of_name)


def test_measures_are_declared():
    a, b, group = systems(people=64)
    ds = be.compare_groups(a, b, group)
    assert ds.measure.values.tolist() == list(MEASURES)
    assert all("long_name" in ds[name].attrs for name in ds.data_vars)

"""Verification by group: counts, own thresholds, inequity, intervals and errors."""

from __future__ import annotations

import math
from unittest import mock

import naive
import naive_groups
import numpy as np
import pytest
import scipy
import strategies as cases
from hypothesis import given, settings, strategies as st
from naive_folds import RULES, naive_threshold
from named_arguments import raises_about
from twins import floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.base.random import Stream
from bioeval.stats.options import IntervalOptions
from bioeval.studies.groups import groups as module
from bioeval.studies.groups.group_rates import inequity

TARGETS = (0.5, 0.25, 0.0)


@st.composite
def grouped(draw, **options):
    """Draw a case, and the group of each of its subjects."""
    case = draw(cases.matrices(masks=("none", "labelled"), **options))
    labels = set(naive.as_list(case.probe_labels)) | set(naive.as_list(case.gallery_labels) or ())
    number = draw(st.integers(1, 3))
    group = {x: draw(st.integers(0, number - 1)) for x in sorted(labels, key=str)}
    return case, group


def of_templates(case, group):
    probe = [group[x] for x in naive.as_list(case.probe_labels)]
    if case.gallery_labels is None:
        return probe
    return probe, [group[x] for x in naive.as_list(case.gallery_labels)]


def assert_groups(ds, expected, group, alpha):
    names = sorted(set(group.values()))
    assert ds.group.values.tolist() == names == ds.claimed_group.values.tolist()
    for name in ("fr", "genuine_attempts", "frr"):
        np.testing.assert_array_equal(
            ds[name], floats([expected[name][g] for g in names]), err_msg=name
        )
    for name in ("fa", "impostor_attempts", "far"):
        values = [[expected[name][g, h] for h in names] for g in names]
        np.testing.assert_array_equal(ds[name], floats(values), err_msg=name)
    for name in ("frr_at_far", "threshold_at_far"):
        values = [[expected[name][g, x] for x in TARGETS] for g in names]
        np.testing.assert_array_equal(ds[name], floats(values), err_msg=name)
    for name in ("eer", "min_dcf"):
        values = floats([expected[name][g] for g in names])
        np.testing.assert_allclose(ds[name], values, rtol=1e-12, atol=1e-15, err_msg=name)
    rates = [expected["far"][g, g] for g in names], [expected["frr"][g] for g in names]
    for name, value in naive_groups.inequity(*rates, alpha).items():
        np.testing.assert_allclose(ds[name], float(value), rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("listed", [True, False])
@settings(max_examples=8)
@given(data=st.data())
def test_groups_are_those_of_their_definition(listed, data):
    case, group = data.draw(grouped())
    templates = data.draw(st.sampled_from(("single", "multi")))
    fusion = data.draw(st.sampled_from(cases.FUSIONS)) if templates == "multi" else "min"
    rule = data.draw(st.sampled_from(sorted(RULES)))
    with mock.patch.object(module, "LISTED", 1 << 17 if listed else 0):
        ds = be.by_group(
            be.Scores(**case.scores()), of_templates(case, group), threshold=RULES[rule],
            far_targets=TARGETS, templates=templates, fusion=fusion, alpha=0.25,
        )  # fmt: skip
    made = naive_groups.attempts(naive.read(**case.naive()), templates, fusion)
    genuine, impostor = ([a.score for a in made if a.genuine is x] for x in (True, False))
    threshold = naive_threshold(rule, genuine, impostor, case.kind)
    if threshold is None:
        assert math.isnan(ds.threshold) and np.isnan(ds.frr).all() and np.isnan(ds.far).all()
        return
    np.testing.assert_array_equal(ds.threshold, float(threshold))
    assert_groups(
        ds, naive_groups.by_group(made, group, threshold, TARGETS, case.kind), group, 0.25
    )
    assert ds.subjects.values.tolist() == [
        sum(x == g for x in group.values()) for g in sorted(set(group.values()))
    ]


# ------------------------------------------------------------------------- worked numbers


def test_measures_of_inequity_of_worked_numbers():
    far, frr = np.array([0.001, 0.003]), np.array([0.02, 0.06])
    result = inequity(far, frr, 0.5)
    # 1 - (0.5 * 0.002 + 0.5 * 0.04); of two groups the corrected Gini is |a - b| / (a + b).
    assert result["fdr"] == pytest.approx(0.979)
    assert result["garbe"] == pytest.approx(0.5)
    assert result["far_max_over_min"] == pytest.approx(3)
    assert result["frr_max_over_geomean"] == pytest.approx(math.sqrt(3))
    assert inequity(far, frr, 1.0)["fdr"] == pytest.approx(0.998)


def test_gini_is_one_where_one_group_has_all_errors_and_zero_without_any():
    none, one = np.zeros(4), np.array([0.0, 0.0, 0.3, 0.0])
    assert inequity(none, one, 0.5)["garbe"] == pytest.approx(0.5)
    assert inequity(one, one, 0.3)["garbe"] == pytest.approx(1)
    assert inequity(none, none, 0.5)["garbe"] == 0
    assert math.isnan(inequity(none, one, 0.5)["frr_max_over_min"])
    # Gini of 1, 2, 3: 8 / (2 * 9 * 2) = 2 / 9, times 3 / 2.
    assert inequity(np.array([1.0, 2, 3]), none[:3], 1.0)["garbe"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("far", [[0.1], [0.1, math.nan]])
def test_measures_of_one_group_or_an_unknown_rate_are_not_defined(far):
    result = inequity(np.array(far), np.full(len(far), 0.1), 0.0)
    assert math.isnan(result["fdr"]) and math.isnan(result["garbe"])


# ------------------------------------------------------------------------- a population


@pytest.fixture(scope="module")
def scores():
    made = be.simulate(30, 4, random_state=5)
    meta = {
        "sex": np.array(["fm"[x % 2] for x in made.probe_labels.tolist()]),
        "height": np.arange(120.0),
    }
    return made._with(_probe_meta=meta, _gallery_meta=meta)


@pytest.fixture(scope="module")
def drawn(scores):
    return be.by_group(
        scores, "sex", threshold=("far", 0.02), far_targets=[0.02], interval="subject-bootstrap",
        replicates=100, random_state=7,
    )  # fmt: skip


def disjoint_pairs(pairs, within):
    """The most pairs without a person in common; within a group all people were compared."""
    probes, claimed = (sorted({pair[side] for pair in pairs}) for side in (0, 1))
    if within:
        return min(len(probes), len(claimed), len({*probes, *claimed}) // 2)
    among = np.zeros((len(probes), len(claimed)), dtype=np.int8)
    for one, other in pairs:
        among[probes.index(one), claimed.index(other)] = 1
    match = scipy.sparse.csgraph.maximum_bipartite_matching(scipy.sparse.csr_array(among))
    return int((match >= 0).sum())


@pytest.mark.parametrize("layout", ["square", "gallery", "pairs"])
def test_rates_of_groups_have_limits_by_leaving_out_each_person(scores, layout):
    """Of both groups, on all sides; the rates of pairs of groups too, with one error or none."""
    labels = np.asarray(scores.probe_labels)
    group = np.where(labels % 3, "m", "f")
    given, group_of = group, dict(zip(labels.tolist(), group.tolist(), strict=True))
    rows, columns = np.nonzero(~np.eye(len(labels), dtype=bool))
    of_scores = scores
    if layout == "gallery":  # other templates of most people, and more people
        probes, gallery = (np.flatnonzero(x) for x in (labels % 7, np.arange(120) % 4 == 0))
        rows, columns = (x.ravel() for x in np.meshgrid(probes, gallery, indexing="ij"))
        of_scores = be.Scores(
            scores.values[np.ix_(probes, gallery)], labels[probes], labels[gallery]
        )
        given = group[probes], group[gallery]
    elif layout == "pairs":
        rows, columns = rows[rows < columns], columns[rows < columns]
        of_scores, given = scores.at_pairs(rows, columns), (group[rows], group[columns])
    made = list(zip(labels[rows].tolist(), labels[columns].tolist(), strict=True))
    values = scores.values[rows, columns]
    for at in (2.0, 3.0, 3.5):
        ds = be.by_group(
            of_scores, given, threshold=at, far_targets=[], interval="subject-bootstrap",
            replicates=100,
        )  # fmt: skip
        for g in "fm":
            mates = [(bool(x > at), (p,)) for x, (p, c) in zip(values, made, strict=True)
                     if p == c and group_of[p] == g]  # fmt: skip
            people = len({p for _, (p,) in mates})
            ends = [float(ds[f"frr_{end}"].sel(group=g)) for end in ("low", "high")]
            np.testing.assert_allclose(ends, naive_groups.limits_alone(mates, people), rtol=1e-9)
            for h in "fm":
                others = [(bool(x <= at), (p, c)) for x, (p, c) in zip(values, made, strict=True)
                          if p != c and (group_of[p], group_of[c]) == (g, h)]  # fmt: skip
                disjoint = disjoint_pairs([people for _, people in others], g == h)
                cell = ds.sel(group=g, claimed_group=h)
                expected = naive_groups.limits_alone(others, disjoint)
                ends = [float(cell[f"far_{end}"]) for end in ("low", "high")]
                np.testing.assert_allclose(ends, expected, rtol=1e-9, err_msg=f"{at} {g} {h}")


def messages(ds):
    return {message.code: message.arguments for message in be.messages(ds)}


def test_a_group_of_one_person_has_no_limits_of_frr_and_says_so(scores):
    group = np.where(np.asarray(scores.probe_labels) == 1, "x", "y")
    ds = be.by_group(scores, group, threshold=3.0, interval="subject-bootstrap", replicates=100)
    assert np.isnan(ds.frr_low.sel(group="x")) and not np.isnan(ds.frr_low.sel(group="y"))
    assert messages(ds)["groups-of-one-subject"] == {"groups": ["x"]}
    # Of one probe, its FAR against the others is that of one trial.
    assert ds.far_high.sel(group="x", claimed_group="y") >= 0.95


def test_other_intervals_are_of_resampled_subjects(scores):
    labels = scores.probe_labels.tolist()
    group = {x: "fm"[x % 2] for x in labels}
    made = naive_groups.attempts(naive.read(scores.values, scores.probe_labels))
    options = IntervalOptions.parse("subject-bootstrap", 0.95, 100, 7)
    weights = Stream(options.seed, 0).resampled(30, 100)
    people = sorted(set(labels))
    drawn = be.by_group(
        scores, "sex", threshold=("far", 0.02), far_targets=[], interval="subject-bootstrap-logit",
        replicates=100, random_state=7,
    )  # fmt: skip
    at = drawn.threshold.item()
    far, frr = np.zeros((2, 2, 100)), np.zeros((2, 100))
    total, genuine = np.zeros((2, 2, 100)), np.zeros((2, 100))
    for a in made:
        g, h = ("fm".index(group[x]) for x in (a.probe, a.claimed))
        w = weights[people.index(a.probe)].astype(float)
        if a.genuine:
            genuine[g] += w
            frr[g] += w * (a.score > at)
        else:
            w = w * weights[people.index(a.claimed)]
            total[g, h] += w
            far[g, h] += w * (a.score <= at)
    far, frr = far / total, frr / genuine
    for name, values in (("far", far), ("frr", frr)):
        rate = drawn[name].values
        half = scipy.stats.norm.ppf(0.975) * values.std(axis=-1) / (rate * (1 - rate))
        for end, sign in (("low", -1), ("high", 1)):
            expected = scipy.special.expit(scipy.special.logit(rate) + sign * half)
            np.testing.assert_allclose(drawn[f"{name}_{end}"], expected)


def test_own_thresholds_are_chosen_anew_in_each_replicate(scores):
    few = be.Scores(np.round(scores.values * 2), scores.probe_labels)  # few distinct scores
    sex = [x % 2 for x in scores.probe_labels]
    ds = be.by_group(few, sex, far_targets=[0.01], interval="subject-bootstrap", replicates=100)
    weights = Stream(IntervalOptions.parse("subject-bootstrap").seed, 0).resampled(30, 100)
    values, labels = few.values, np.asarray(scores.probe_labels)
    own, others = np.empty((2, 100)), np.empty((2, 100))
    for g in (0, 1):
        index = np.flatnonzero(np.array(sex) == g)
        for r in range(100):
            w = weights[labels[index] - 1, r].astype(float)
            d, pair = values[np.ix_(index, index)], w[:, None] * w
            same = labels[index][:, None] == labels[index]
            mates = same & ~np.eye(len(index), dtype=bool)
            at = [t for t in np.unique(d[~np.eye(len(d), dtype=bool)])
                  if (pair * (d <= t))[~same].sum() / pair[~same].sum() <= 0.01]  # fmt: skip
            t = max(at, default=-np.inf)
            per_row = np.broadcast_to(w[:, None], d.shape)[mates]
            own[g, r] = (per_row * (d[mates] > t)).sum() / per_row.sum()
            others[g, r] = t
    np.testing.assert_allclose(ds.frr_at_far_low[:, 0], np.quantile(own, 0.025, axis=1))
    np.testing.assert_allclose(ds.frr_at_far_high[:, 0], np.quantile(own, 0.975, axis=1))
    np.testing.assert_allclose(ds.threshold_at_far_high[:, 0], np.quantile(others, 0.975, axis=1))


def test_counted_intervals_are_those_of_listed_ones(scores, drawn, monkeypatch):
    monkeypatch.setattr(module, "LISTED", 0)
    ds = be.by_group(
        scores, "sex", threshold=("far", 0.02), far_targets=[0.02], interval="subject-bootstrap",
        replicates=100, random_state=7,
    )  # fmt: skip
    for name in drawn.data_vars:
        if name.endswith("letters"):
            assert ds[name].values.tolist() == drawn[name].values.tolist()
            continue
        near = 1e-12
        if "at_far_" in name or name.startswith(("eer_", "min_dcf_")):
            near = 0.05  # interpolated between fewer thresholds
        np.testing.assert_allclose(ds[name], drawn[name], atol=near, err_msg=name)


def test_similarities_mirror_distances(scores, drawn):
    other = be.Scores(-scores.values, scores.probe_labels, kind="similarity")
    ds = be.by_group(
        other, [x % 2 for x in scores.probe_labels], threshold=("far", 0.02), far_targets=[0.02],
        interval="subject-bootstrap", replicates=100, random_state=7,
    )  # fmt: skip
    assert ds.threshold == -drawn.threshold
    for name in ("frr_low", "far_high", "frr_at_far_high"):
        np.testing.assert_allclose(ds[name], drawn[name], atol=1e-12)
    np.testing.assert_allclose(ds.threshold_at_far_low, -drawn.threshold_at_far_high)


@pytest.mark.parametrize("variant", ["bca", "logit"])
def test_other_bootstraps_enclose_the_rates(scores, variant):
    ds = be.by_group(scores, "sex", interval=f"subject-bootstrap-{variant}", replicates=200)
    for name in ("frr", "far"):
        assert (ds[f"{name}_low"] <= ds[name]).all() and (ds[name] <= ds[f"{name}_high"]).all()


def test_no_error_is_no_certainty(scores):
    ds = be.by_group(scores, "sex", threshold=-1.0, interval="subject-bootstrap", replicates=100)
    assert (ds.far == 0).all() and (ds.frr == 1).all()
    within, across = be.stats.zero_error_bound([7, 15])
    np.testing.assert_allclose(ds.far_high, [[within, across], [across, within]])
    np.testing.assert_allclose(ds.frr_low, 1 - be.stats.zero_error_bound(15))
    assert np.isnan(ds.fdr_low) and "groups-not-compared" in messages(ds)
    zero = {"rate": "far", "groups": ["f", "m"]}
    assert np.isnan(ds.far_max_over_min) and messages(ds)["groups-with-rate-of-zero"] == zero


def test_groups_too_small_to_rank_are_flagged(scores, drawn):
    assert drawn.few_subjects.values.tolist() == [1, 1]
    few = {"needed": 30, "groups": ["f", "m"]}
    assert messages(drawn)["groups-of-few-subjects"] == few
    one = be.by_group(scores, ["x"] * 120, threshold=1e9)
    assert one.few_subjects.item() == 0
    # FRR is 0: no false reject is expected; each pair of a symmetric matrix is counted once.
    assert one.frr_flagged.item() == 1 and one.far_flagged.item() == 0
    assert one.expected_fa.item() == 120 * 116 // 2
    np.testing.assert_allclose(one.expected_fa_at_far[0], 6960 * one.far_target)
    assert one.frr_at_far_flagged.values.tolist() == [[0, 0, 1, 1]]
    assert messages(one)["only-one-group"] == {"group": "x"} and np.isnan(one.fdr)
    at_target = [x.arguments for x in be.messages(one) if x.code == "few-expected-errors-at-target"]
    assert [x["target"] for x in at_target] == [1e-3, 1e-4]


def test_pairs_are_grouped_by_both_sides(scores):
    rows, columns = np.nonzero(~np.eye(120, dtype=bool))
    pairs = scores.at_pairs(rows, columns)
    sex = scores.probe_meta["sex"]
    listed = be.by_group(
        pairs, (sex[rows], sex[columns]), interval="subject-bootstrap", replicates=100
    )
    whole = be.by_group(scores, "sex", interval="subject-bootstrap", replicates=100)
    for name in ("frr", "far", "frr_at_far", "fdr", "far_low", "frr_at_far_high"):
        np.testing.assert_allclose(listed[name], whole[name], atol=1e-12, err_msg=name)


def test_a_selection_keeps_its_groups(scores):
    view = scores.select(probes=np.arange(0, 120, 2))
    ds = be.by_group(view, "sex", threshold=5.0)
    assert ds.genuine_attempts.sum() == 60 * 3
    again = be.by_group(view, (scores.probe_meta["sex"][::2], scores.probe_meta["sex"]),
                        threshold=5.0)  # fmt: skip
    np.testing.assert_array_equal(ds.far, again.far)


@pytest.mark.slow
def test_results_survive_netcdf(drawn, tmp_path):
    drawn.to_netcdf(tmp_path / "g.nc", engine="h5netcdf")
    import xarray as xr

    with xr.open_dataset(tmp_path / "g.nc", engine="h5netcdf") as again:
        xr.testing.assert_identical(again.load(), drawn)


# ------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("group", "error", "message"),
    [
        ("race", be.DataError, "'race', but .* no such column; both sides have: sex, height"),
        ("sx", be.DataError, "Did you mean 'sex'"),
        (["a"] * 119, be.DataError, "group has 119 values; expected 120"),
        (["a"] * 119 + [None], be.DataError, "1 missing value .*probe 119"),
        (["a"] * 100 + [""] * 20, be.DataError, "20 missing values .*probe 100"),
        ([math.nan] * 120, be.DataError, "120 missing values"),
        (["a"] * 119 + ["b"], be.DataError, "subject 30 is in the groups 'a', 'b'"),
        (["a", "b"] * 60, be.DataError, r"subject 1 is in the groups 'a', 'b' \(30 subjects"),
        (7, be.DataError, "group is int; expected a sequence"),
    ],
)  # fmt: skip
def test_wrong_groups_are_named(scores, group, error, message):
    with pytest.raises(error, match=message):
        be.by_group(scores, group)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": "err"}, "threshold is 'err'.*eer"),
        ({"threshold": math.nan}, "NaN"),
        ({"alpha": 1.5}, "alpha is 1.5"),
        ({"interval": "wilson"}, "interval is 'wilson'"),
        ({"templates": "both"}, "templates is 'both'"),
        ({"far_targets": [2]}, "far_targets"),
    ],
)
def test_wrong_options_are_named(scores, options, message):
    with pytest.raises(be.DataError, match=message):
        be.by_group(scores, "sex", **options)


def test_scores_that_cannot_be_grouped_are_refused(scores):
    pairs = be.Scores.from_pairs([0.1, 0.2], [True, False])
    with pytest.raises(be.DataError, match="list of pairs has no metadata"):
        be.by_group(be.Scores.from_pairs([0.1], [True], subjects=[["a", "a"]]), "sex")
    with pytest.raises(be.ProtocolError, match="subjects of both sides"):
        be.by_group(pairs, (["a", "a"], ["a", "b"]))
    with pytest.raises(be.ProtocolError, match="order"):
        be.by_group(be.Scores([[1, 2], [2, 1]], ["a", "b"], ["a", "b"], kind="order"),
                    (["a", "b"], ["a", "b"]))  # fmt: skip
    other = be.Scores(np.ones((2, 3)), ["a", "b"], ["a", "b", "c"])
    with pytest.raises(be.DataError, match="pair of arrays: of the 2 probes and of the 3 gallery"):
        be.by_group(other, ["x", "y", "z"])
    with pytest.raises(be.DataError, match="at most 256"):
        many = be.Scores(np.ones((300, 300)), np.arange(300))
        be.by_group(many, np.arange(300))


# ------------------------------------------------------------------------- searches

SEARCHED = (0.5, 0.1)


def searched_by_group(case, of_probe, rule, unit, ties):
    """Return the threshold, and of each group FR, TG, FA and TI."""
    data = naive.read(**case.naive())
    genuine, nearest, probes = naive.roles(data, unit, "min", ties, "auto")
    points = naive.open_set_points(**case.naive(), unit=unit, ties=ties)
    if rule == "eer":
        threshold = naive.crossing(points).threshold if points else math.nan
    elif isinstance(rule, tuple):
        allowed = [p for p in points if naive.at_most(p.far, rule[1])]
        threshold = allowed[-1].threshold if allowed else math.nan
    else:
        threshold = rule
    result = {g: [0, 0, 0, 0] for g in set(of_probe)}
    if isinstance(threshold, float) and math.isnan(threshold):
        return threshold, result
    some = any(not r.enrolled for r in probes)
    at = data.sign * naive.number(threshold)
    for g, r in zip(of_probe, probes, strict=True):
        counts = result[g]
        if r.rank is not None:
            counts[1] += 1
            counts[0] += 1 - (r.rank == 1 and r.best_mate <= at)
        plays = data.all_against_all or r.enrolled == (not some)
        if plays and r.nearest_other is not None:
            counts[3] += 1
            counts[2] += r.nearest_other <= at
    return threshold, result


@settings(max_examples=cases.examples_of(60))
@given(data=st.data())
def test_searches_are_counted_under_the_probe_s_group(data):
    case, group = data.draw(grouped())
    unit, ties = (
        data.draw(st.sampled_from(("template", "subject"))),
        data.draw(st.sampled_from(("pessimistic", "optimistic", "stable"))),
    )
    rule = data.draw(st.sampled_from(("eer", ("far", 0.5), ("far", 0.0), 1.5)))
    of_probe = [group[x] for x in naive.as_list(case.probe_labels)]
    threshold, result = searched_by_group(case, of_probe, rule, unit, ties)
    options = {"threshold": rule, "far_targets": SEARCHED, "rank_unit": unit, "ties": ties}
    scores, given_ = be.Scores(**case.scores()), of_templates(case, group)
    if isinstance(threshold, float) and math.isnan(threshold):
        with pytest.raises(be.ProtocolError, match="no threshold on these searches"):
            be.by_group(scores, given_, task="open_set", **options)
        return
    ds = be.by_group(scores, given_, task="open_set", **options)
    names = sorted(set(of_probe))
    assert ds.group.values.tolist() == names
    np.testing.assert_array_equal(ds.threshold, float(threshold))
    for k, name in enumerate(("fr", "genuine_attempts", "fa", "impostor_attempts")):
        np.testing.assert_array_equal(ds[name], [result[g][k] for g in names], err_msg=name)
    rates = {"frr": (0, 1), "far": (2, 3)}
    for name, (a, b) in rates.items():
        expected = [naive.rate(result[g][a], result[g][b]) for g in names]
        np.testing.assert_allclose(ds[name], floats(expected), rtol=1e-15, err_msg=name)
    whole = be.open_set(scores, thresholds=[float(threshold)], rank_unit=unit, ties=ties)
    assert int(ds.fa.sum()) == int(whole.fa[0])
    assert float(ds.frr_overall) == pytest.approx(float(whole.frr[0]), nan_ok=True)


@pytest.fixture
def searches():
    made = be.simulate(
        40, 3, layout="probe-against-gallery", probes=2, unenrolled=20, random_state=3
    )
    sexes = np.array(["fm"[x % 2] for x in made.probe_labels.tolist()])
    return made._with(_probe_meta={"sex": sexes})


def test_a_column_of_the_probes_is_enough(searches):
    ds = be.by_group(searches, "sex", task="open_set", threshold=("far", 0.1), far_targets=[0.1])
    assert ds.subjects.values.tolist() == [30, 30]
    assert ds.genuine_attempts.values.tolist() == [40, 40]
    assert ds.impostor_attempts.values.tolist() == [20, 20]
    for i, sex in enumerate("fm"):
        part = searches.select(probes=np.flatnonzero(searches.probe_meta["sex"] == sex))
        alone = be.open_set(part, far_targets=[0.1], max_rank=1)
        assert float(ds.frr_at_far[i, 0]) == pytest.approx(1 - float(alone.dir_at_far[0, 0]))
        assert float(ds.threshold_at_far[i, 0]) == float(alone.threshold_at_far[0, 0])
    assert ds.attrs["by"] == "sex" and ds.attrs["chosen_on"].startswith("the same data")
    with pytest.raises(be.DataError, match="the gallery metadata have no such column"):
        be.by_group(searches, "sex")


def test_intervals_resample_the_people_of_a_group(searches):
    options = {"task": "open_set", "threshold": 3.5, "interval": "subject-bootstrap"}
    ds = be.by_group(searches, "sex", **options)
    for name in ("frr", "far"):
        assert (ds[f"{name}_low"] <= ds[name]).all() and (ds[name] <= ds[f"{name}_high"]).all()
    assert ds.attrs["interval_method"] == "subject-bootstrap"
    assert (ds.attrs["interval_unit"], ds.attrs["interval_for"]) == ("people", "this gallery")
    assert (ds.frr_at_far_low <= ds.frr_at_far).all()


def test_what_is_wrong_is_said(searches):
    with pytest.raises(be.DataError, match="of open-set identification; expected a number"):
        be.by_group(searches, "sex", task="open_set", threshold="hter")
    with pytest.raises(be.DataError, match='templates="multi" does not apply to the task open_set'):
        be.by_group(searches, "sex", task="open_set", templates="multi")
    with pytest.raises(be.DataError, match='ties="optimistic" does not apply to the task verific'):
        be.by_group(searches, "sex", ties="optimistic")
    with raises_about(be.DataError, "task"):
        be.by_group(searches, "sex", task="closed_set")
    with pytest.raises(be.ProtocolError, match="fixed pairs"):
        be.by_group(be.Scores.from_pairs([0.1, 0.2], [True, False]), "sex", task="open_set")
    mixed = list("ab" * 60)
    with pytest.raises(be.DataError, match="expected one group for all templates"):
        be.by_group(searches, (mixed, list("a" * 120)), task="open_set")


def as_listed(matrix):
    """Return the attempts of a matrix as a list."""
    i, j = np.triu_indices(len(matrix.values), 1)
    who = matrix.probe_labels
    sides = np.column_stack([who[i], who[j]])
    return be.Scores.from_pairs(
        matrix.values[i, j], who[i] == who[j], kind=matrix.kind, subjects=sides
    )


@pytest.mark.parametrize("people", [60, 130])  # few comparisons and many
@pytest.mark.parametrize("listed", [False, True])
def test_similarities_read_as_distances_are_told(people, listed):
    drawn = be.simulate(people, 3, random_state=1)
    noise = 2.3 * drawn.values.std() * np.random.default_rng(1).normal(size=drawn.shape)
    right = be.Scores(noise + noise.T - drawn.values, drawn.probe_labels, kind="similarity")
    group = np.where(right.probe_labels.astype(int) % 2, "f", "m")
    if listed:
        i, j = np.triu_indices(len(right.values), 1)
        right, group = as_listed(right), (group[j], group[i])
    wrong = right.replace(kind="distance")
    told = "worse than chance .* state similarity as `kind`"
    with pytest.warns(be.BioevalWarning, match=told):
        ds = be.by_group(wrong, group)
    assert "kind-wrong" in {x.code for x in be.messages(ds)}
    if people > 60:
        with pytest.warns(be.BioevalWarning, match=told):
            ds = be.compare_groups(right, wrong, group)
        (doubt,) = [x for x in be.messages(ds) if x.code == "kind-wrong"]
        assert doubt.about == (str(wrong.name),)
    assert "kind-wrong" not in {x.code for x in be.messages(be.by_group(right, group))}

"""Systems over the same data: values, differences for new people, ranks and letters."""

import itertools
import json
import re

import naive_limits
import numpy as np
import pytest
import xarray as xr
from compared import by_measure
from reference import one_thread  # noqa: F401
from result_messages import arguments, codes
from result_text import as_text

import bioeval as be
from bioeval.cli import main

FEW = be.stats.IntervalMethod("people", replicates=200)
PEOPLE = 25
ALL = [
    *("eer", "eer_hull", "auc", "frr_at_far=0.2", "far_at_frr=0.2", "min_dcf=0.3"),
    *("frr_at_threshold=11", "far_at_threshold=12"),
    *("recognition_rate", "cms=2", "dir_at_far=0.3"),
]


def evaluated(scores):
    """The values of all measures by the public calls."""
    single = be.verification(
        scores, thresholds=[11, 12], far_targets=[0.2], frr_targets=[0.2], costs=[(0.3, 1, 1)]
    )
    closed_set, open_set = be.closed_set(scores), be.open_set(scores, far_targets=[0.3])
    measures = [
        *(single.eer, single.eer_hull, single.auc),
        *(single.frr_at_far[0], single.far_at_frr[0], single.min_dcf[0]),
        *(single.frr.sel(threshold=11), single.far.sel(threshold=12)),
        *(closed_set.recognition_rate, closed_set.cms.sel(rank=2), open_set.dir_at_far[0, 0]),
    ]
    return np.array(measures, dtype=float)


def scores_of(seed, layout="square", people=PEOPLE, unsearched=0):
    """Distances in whole steps, so that many are the same: all against all, or half of the
    templates against the other half, of which some are of people who are not searched for.
    """
    subject = np.repeat(np.arange(people), 4)
    crowd = np.random.default_rng(2).normal(size=(people, 1, 6))
    noise = np.random.default_rng(seed).normal(size=(people, 4, 6))
    embeddings = (crowd + 0.8 * noise).reshape(-1, 6)
    values = np.round(4 * np.linalg.norm(embeddings[:, None] - embeddings, axis=-1))
    if layout == "square":
        return be.Scores(values, subject)
    probe, camera = np.arange(len(subject)) % 4 < 2, np.arange(len(subject)) % 3
    is_search = probe & (subject >= unsearched)
    return be.Scores(
        values[np.ix_(is_search, ~probe)], subject[is_search], subject[~probe],
        probe_meta={"camera": camera[is_search]}, gallery_meta={"camera": camera[~probe]},
    )  # fmt: skip


def without_person(scores, person):
    remaining = [np.flatnonzero(x != person) for x in (scores.probe_labels, scores.gallery_labels)]
    return scores.select(probes=remaining[0], gallery=remaining[1])


def jackknife(value, others):
    """Limits from the definition, of a difference of two rates."""
    low, high, _ = naive_limits.plain([value, *others])
    return max(low, -1), min(high, 1)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["square", "gallery", "more enrolled"])
def test_values_and_limits_are_those_of_evaluations_without_each_person(layout):
    """People are left out on both sides; where a threshold is chosen, limits are drawn."""
    pair = [scores_of(seed, layout, unsearched=5 * (layout[0] == "m")) for seed in (3, 4)]
    ds = be.compare(*pair, measures=ALL, interval=FEW)
    measures = by_measure(ds)
    assert [*measures] == ALL
    values = np.transpose([x.value for x in measures.values()])
    np.testing.assert_allclose(values, [evaluated(x) for x in pair], atol=1e-12)
    people = np.union1d(pair[0].probe_labels, pair[0].gallery_labels)
    changes = [
        np.subtract(*(evaluated(without_person(x, person)) for x in pair)) for person in people
    ]
    compared_limits = 0
    for i, row in enumerate(x.isel(system=0, other_system=1) for x in measures.values()):
        assert row.value.attrs["interval_for"] == row.difference.attrs["interval_for"]
        assert row.value.attrs["interval_for"] == "new people"
        if row.difference.attrs["interval_method"] == "people" and row.discordant >= 6:
            ends = jackknife(row.difference.item(), np.array(changes)[:, i])
            assert (row.difference_low, row.difference_high) == pytest.approx(ends), ALL[i]
            compared_limits += 1
        else:
            assert row.discordant < 6 or i in (0, 3, 4)
    assert compared_limits >= 5


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
def test_retrieval_is_counted_anew_without_people(card, people):
    """Each person of a few is left out; of many people, groups of two or three."""
    pair = [scores_of(seed, "gallery", people) for seed in (3, 4)]
    compared = be.compare(*pair, protocol=card, interval=FEW).isel(system=0, other_system=1)
    measures = by_measure(compared)
    about = [x.difference.attrs for x in measures.values()]
    assert {x["interval_for"] for x in about} == {"new people"}
    assert {x["interval_method"] for x in about} == {"people"}
    assert "replicates" not in compared.attrs
    each_person = people == PEOPLE
    left_out = "each person" if each_person else "each of 100 groups of people"
    assert compared.attrs["jackknifed"] == left_out
    for measure, name in (("mean_ap", "mean_ap"), ("cmc=1", "cmc")):
        change = []
        for person in range(people):
            results = [be.reid(without_person(x, person), card) for x in pair]
            values = [x[name].values.reshape(-1)[0] for x in results]
            change.append(values[0] - values[1])
        row = measures[measure]
        ends = jackknife(row.difference.item(), np.array(change))
        limits = row.difference_low.item(), row.difference_high.item()
        if each_person:
            assert limits == pytest.approx(ends)
        else:
            assert np.diff(limits) == pytest.approx(np.diff(ends), rel=0.5)


@pytest.mark.parametrize(("people", "population"), [(2, "this gallery"), (8, "new people")])
def test_limits_of_too_few_people_to_leave_one_out_are_for_this_gallery(people, population):
    first = scores_of(1, people=people)
    second = first.with_values(np.random.default_rng(0).random(first.shape), "distance")
    ds = be.compare(first, second, interval=FEW)
    assert ds.recognition_rate_difference[0, 1] != 0
    assert ds.recognition_rate.attrs["interval_for"] == population
    assert np.isfinite(ds.recognition_rate_low).all()


@pytest.mark.slow
def test_values_have_the_limits_of_evaluations():
    scores = be.simulate(30, 4, random_state=2)
    ranking = be.compare(
        {"a": scores, "b": be.simulate(30, 4, random_state=3), "c": scores},
        measures=["eer", "min_dcf=0.01", "auc", "recognition_rate", "cms=3", "dir_at_far=0.1"],
    )
    options = {"interval": "people"}
    single = be.verification(scores, costs=[(0.01, 1, 1)], far_targets=[0.1], **options)
    closed = be.closed_set(scores, **options)
    open_set = be.open_set(scores, far_targets=[0.1], **options)
    parts = [
        *((single, "eer", ()), (single, "min_dcf", 0), (single, "auc", ())),
        *((closed, "recognition_rate", ()), (closed, "cms", 2), (open_set, "dir_at_far", (0, 0))),
    ]
    for (ds, name, place), comparison in zip(parts, by_measure(ranking).values(), strict=True):
        for variable, end in (("value", ""), ("low", "_low"), ("high", "_high")):
            limit, expected = comparison[variable].sel(system="a"), ds[f"{name}{end}"].values[place]
            assert float(limit) == pytest.approx(float(expected), abs=1e-12), name + end


def test_a_measure_that_was_not_asked_for_at_a_place_has_no_number():
    """FRR is requested at both targets, DIR at 0.2 alone; the frame has the requested measures."""
    measures = ["frr_at_far=0.1", "dir_at_far=0.2", "cms=5", "frr_at_far=0.2"]
    ds = be.compare(scores_of(3), scores_of(4), measures=measures, interval=FEW)
    assert ds.far_target.values.tolist() == [0.1, 0.2] and ds["rank"].values.tolist() == [1, 5]
    assert ds.frr_at_far_separated.dtype == np.int64 and ds.frr_at_far.notnull().all()
    places = {"far_target": 0.2, "rank": 1}
    for statistic in ("", "_rank", "_difference", "_separated", "_discordant", "_supported"):
        values = ds[f"dir_at_far{statistic}"]
        assert values.sel(places).notnull().all()
        assert values.isel(far_target=0).isnull().all() and values.sel(rank=5).isnull().all()
    frame = be.to_frame(ds)
    assert (frame["system"] != frame["other_system"]).all()
    rows = frame.query("statistic.isna()").groupby("measure").size().to_dict()
    assert rows == {"frr_at_far": 4, "dir_at_far": 2, "cms": 2}
    assert [*by_measure(ds)] == ["frr_at_far=0.1", "frr_at_far=0.2", "dir_at_far=0.2", "cms=5"]


def test_a_frame_has_the_differences_at_their_places():
    measures = ["min_dcf=0.3", "frr_at_threshold=11", "cms=3"]
    ds = be.compare(scores_of(3), scores_of(4), measures=measures, interval=FEW)
    places = {"min_dcf": {"cost": 0.3}, "frr_at_threshold": {"threshold": 11.0}, "cms": {"rank": 3}}
    rows = be.to_frame(ds).query("statistic == 'difference'").to_dict("records")
    assert {x["measure"] for x in rows} == {*places}
    for row in rows:
        if row["measure"] == "min_dcf":
            assert (row["at"], row["point"], row["unit"]) == ("prior", 0.3, "cost")
        place = places[row["measure"]] | {x: row[x] for x in ("system", "other_system")}
        for column, end in (("value", ""), ("low", "_low"), ("high", "_high")):
            expected = ds[f"{row['measure']}_difference{end}"].sel(place)
            np.testing.assert_equal(row[column], float(expected))


# ------------------------------------------------------------------------- ranks and letters


def crowd_systems(people=40, **more):
    crowd = be.simulate_embeddings(people, 4, random_state=1, **more)
    return {metric: crowd.scores(metric) for metric in ("l2", "l1", "cosine")}


@pytest.mark.slow
def test_a_ranking_holds_together():
    ds = be.compare(crowd_systems(within=0.8))
    sizes = {"system": 3, "other_system": 3, "far_target": 4, "rank": 1}
    assert dict(ds.sizes) == sizes and len(by_measure(ds)) == 11
    ranking = xr.concat(
        by_measure(ds).values(),
        "measure",
        coords="minimal",
        compat="override",
        combine_attrs="drop",
    ).transpose("system", "other_system", "measure")
    low, high = ranking["difference_low"].values, ranking["difference_high"].values
    difference, separated = ranking["difference"].values, ranking["separated"].values
    has_limits = ~np.isnan(low)
    assert (low <= difference)[has_limits].all() and (difference <= high)[has_limits].all()
    value = ranking["value"].values
    np.testing.assert_allclose(difference, value[:, None] - value)
    larger = [x.value.attrs["direction"] == "larger" for x in by_measure(ds).values()]
    np.testing.assert_array_equal(separated != 0, ranking["p_value"].values <= 0.05)
    assert separated.any() and not separated.all()
    assert (separated * difference * np.where(larger, 1, -1) >= 0).all()
    rank, first, last = (ranking[x].values for x in ("rank", "rank_low", "rank_high"))
    assert (first <= rank).all() and (rank <= last).all()
    np.testing.assert_array_equal(first, 1 + (separated == -1).sum(axis=1))
    letters = ranking["letters"].values
    for i, j, measure in itertools.product(range(3), range(3), range(11)):
        shared = set(letters[i, measure]) & set(letters[j, measure])
        assert bool(shared) == (separated[i, j, measure] == 0)


def test_systems_do_not_differ_by_form():
    """A monotone transformation changes no system, and equal systems never differ."""
    first, second, _ = crowd_systems(people=12, within=0.8).values()
    similar = be.Scores(-np.exp(second.values), second.probe_labels, kind="similarity")
    of_second, of_similar = (by_measure(be.compare(first, x)) for x in (second, similar))
    for measure, name in itertools.product(
        of_second, ("difference_low", "p_value", "separated", "discordant")
    ):
        np.testing.assert_allclose(of_second[measure][name], of_similar[measure][name], atol=1e-9)
    systems = {"a": second, "b": similar, "c": second}
    for comparison in by_measure(be.compare(systems, measures=["eer", "auc", "cms=2"])).values():
        assert not comparison["separated"].any() and (comparison["letters"] == "a").all()
        assert (comparison["rank"] == 1).all() and (comparison["rank_high"] == 3).all()
        assert comparison["difference_low"].isnull().all()  # nothing says how much they may differ
        assert not comparison["discordant"].any()


def test_people_who_are_decided_differently_are_counted():
    scores = scores_of(1, people=7)
    first, second = (scores.probe_labels == x for x in (0, 1))

    def discordant(*places, value):
        changed = scores.values.copy()
        for place in places:
            changed[np.ix_(*place)] = value
        changed_scores = be.Scores(changed, scores.probe_labels)
        ds = be.compare(
            scores, changed_scores, measures=["frr_at_threshold=8", "far_at_threshold=8"]
        )
        of_each = [x.discordant.sel(system="a", other_system="b") for x in by_measure(ds).values()]
        return [*map(int, of_each)]

    assert discordant((first, first), value=99) == [1, 0]  # all genuine attempts of one person
    assert discordant((first, second), (second, first), value=0) == [0, 1]  # two people, one pair


def test_unsupported_targets_declare_no_winner():
    crowd = be.simulate_embeddings(30, 4, random_state=1, within=0.3)
    noise = be.Scores(np.random.default_rng(0).random((120, 120)), crowd.labels)
    ds = be.compare(crowd.scores("l2"), noise)
    # 435 pairs of 30 people do not support FAR 0.1 and 0.01 %, 120 searches not 1 % either.
    assert ds.frr_at_far_supported.sel(far_target=[0.001, 1e-4]).values.tolist() == [0, 0]
    assert ds.dir_at_far_supported.values[:, 0].tolist() == [1, 0, 0, 0]
    weak = [x for x in by_measure(ds).values() if "supported" in x and not x.supported]
    assert len(weak) == 5
    assert not any(x.separated.any() or x.p_value.notnull().any() for x in weak)
    differences = be.to_frame(ds).query("statistic == 'difference'")
    assert (~differences["supported"]).sum() == 2 * 5  # each way


def test_pairs_are_ranked_by_the_people_of_both_sides():
    rng = np.random.default_rng(0)
    people = np.arange(30)
    subjects = np.concatenate(
        [np.stack([people, people], 1), np.stack([people, (people + 1) % 30], 1)]
    )
    genuine = subjects[:, 0] == subjects[:, 1]
    subjects, genuine = np.tile(subjects, (4, 1)), np.tile(genuine, 4)
    noise = rng.normal(size=len(genuine))
    systems = {
        f"d{d}": be.Scores.from_pairs(d * ~genuine + noise, genuine, subjects=subjects)
        for d in (0.5, 2, 4)
    }
    ranking = be.compare(systems, measures=["eer", "auc", "min_dcf=0.1"])
    assert ranking.attrs["probes"] == len(genuine)
    for of_measure in by_measure(ranking).values():
        best = of_measure.sel(system="d4")
        assert best["rank"] == 1 and best["rank_high"] < 3


def test_an_undefined_number_has_no_rank():
    measure = be.Measure("odd", lambda scores: np.inf if scores.shape[0] > 20 else 1.0)
    ds = be.compare(crowd_systems(people=6), measures=["eer", measure])
    assert ds["odd"].isnull().all() and (ds["odd_letters"] == "").all()
    assert ds["odd_rank_low"].isnull().all()


def test_data_without_an_attempt_or_of_one_person():
    none = be.Scores([[0.5]], ["a"], ["b"], mask=[[0]])
    ds = be.compare(none, none)
    for row in by_measure(ds).values():
        assert row["value"].isnull().all() and row["difference_low"].isnull().all()
    answer = arguments(ds, "systems-not-concluded")
    assert answer["why"] == "the values are not defined"
    assert "eer" in [x["measure"] for x in answer["measures"]]
    one_subject = be.Scores([[0.0, 1.0], [1.0, 0.0]], ["a", "a"])
    ds = be.compare(one_subject, one_subject)
    assert ds["recognition_rate"].values.tolist() == [1, 1]
    assert "interval-of-few-subjects" in codes(ds)


# ------------------------------------------------------------------------- systems that go together


def test_systems_are_ranked_on_the_templates_that_all_have():
    systems = {}
    for name, scores in crowd_systems(people=12).items():
        names = np.array([f"{x}-{i}" for i, x in enumerate(scores.probe_labels)])
        meta = {"template": names}
        systems[name] = be.Scores(scores.values, scores.probe_labels, probe_meta=meta)
    less = np.arange(4, systems["l1"].shape[0])[::-1]  # in another order, too
    systems["l1"] = systems["l1"].select(probes=less, gallery=less)
    ranking = be.compare(systems, measures=["eer"])
    common = np.arange(4, systems["l2"].shape[0])
    for name in ("l2", "cosine"):
        part = systems[name].select(probes=common, gallery=common)
        expected = be.verification(part).eer
        np.testing.assert_allclose(ranking["eer"].sel(system=name), expected)
    assert ranking.attrs["probes"] == len(common)
    assert arguments(ranking, "not-in-common")["left_out"] == {"l2": 4, "cosine": 4}


def test_systems_are_read_one_after_another():
    systems, read = crowd_systems(people=12), []
    lazy = {name: lambda name=name: read.append(name) or systems[name] for name in systems}
    ranking = be.compare(lazy, measures=["eer"])
    assert read == list(systems)
    xr.testing.assert_identical(ranking, be.compare(systems, measures=["eer"]))


def test_attempts_that_one_system_lacks_are_left_out_of_all():
    systems = crowd_systems(people=12)
    values, has_attempt = systems["l1"].values.copy(), np.ones(systems["l1"].shape, dtype=bool)
    values[3, 7] = values[7, 3] = np.nan
    has_attempt[3, 7] = has_attempt[7, 3] = False
    systems["l1"] = be.Scores(values, systems["l1"].probe_labels, nan="exclude")
    ranking = be.compare(systems, measures=["eer"])
    masked = {name: scores.with_mask(has_attempt) for name, scores in systems.items()}
    np.testing.assert_array_equal(ranking.eer, be.compare(masked, measures=["eer"]).eer)
    assert arguments(ranking, "not-in-common")["left_out"] == {"l2": 2, "cosine": 2}


ODD = be.Measure("odd", lambda scores: np.array([0.3]))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"measures": ["min_dcf"]}, r"min_dcf, which needs a prior; expected as in min_dcf=0.01"),
        ({"measures": ["min_dcf=1"]}, "'min_dcf=1'; expected a prior behind ="),
        ({"measures": ["cms=0"]}, "'cms=0'; expected a whole number from 1 behind ="),
        ({"measures": ["eer=0.1"]}, "'eer=0.1'; expected eer alone"),
        ({"measures": ["frr_at_threshold=5%"]}, "'frr_at_threshold=5%'; expected a threshold"),
        ({"measures": ["far_at_frr=2"]}, "'far_at_frr=2'; expected an FRR target behind ="),
        ({"measures": ["erd"]}, "a measure of `measures` is 'erd'"),
        ({"measures": []}, "`measures` is empty"),
        ({"measures": ["mean_ap"]}, "mean_ap, a measure of re-identification; give `protocol"),
        ({"measures": [ODD]}, "l2: the measure odd is .*; expected a number"),
        ({"measures": [be.Measure("eer", len)]}, "a Measure called eer, and there is one of this"),
        ({"measures": [be.Measure("rank", len)]}, "a function called rank, and results have this"),
        ({"measures": [be.Measure("of/one", len)]}, "of/one; expected a name without a slash"),
        ({"measures": ["eer", be.Measure("eer_low", len)]}, "a function called eer_low"),
        ({"adjust": "bonferroni"}, "`adjust` is 'bonferroni'"),
        ({"b": be.simulate(6, 3)}, "systems are given by name and as `b`"),
    ],
)
def test_wrong_options_are_refused(options, says):
    with pytest.raises(be.BioevalError, match=says):
        be.compare(crowd_systems(people=6), **options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ties": "optimistic"}, "`ties` has no effect on pairs, which have no identification"),
        ({"impostors": "both", "measures": "eer"}, "`impostors` has no effect on pairs"),
        ({"rank_unit": "subject"}, "`rank_unit` has no effect on pairs.* or give a matrix"),
    ],
)
def test_options_of_searches_without_searches_are_refused(options, says):
    systems = crowd_systems(people=6)
    with pytest.raises(be.ProtocolError, match=says):
        be.compare({k: x.at_pairs(*np.triu_indices(24, 1)) for k, x in systems.items()}, **options)
    with pytest.raises(be.ProtocolError, match="has no effect on these measures, of which none"):
        be.compare(systems, **options | {"measures": "eer"})


def _failed(scores):
    values = np.array(scores.values)
    values[3, 5] = np.nan
    return be.Scores(values, scores.probe_labels)


_MASK = [[0, 2, 1], [2, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("systems", "says"),
    [
        (lambda s: [{"only": s}], "needs two systems or more, and 1 is given"),
        (
            lambda s: [s, be.Scores(s.values[:8, :8], s.probe_labels[:8])],
            r"b: the system is not like .*\(48, 48\)",
        ),
        (lambda s: [s, be.Scores(s.values, s.probe_labels[::-1])], "labels differ at 48 of 48"),
        (lambda s: [s, be.Scores(s.values, *[s.probe_labels] * 2)], "all-against-all"),
        (lambda s: [s, s.values], "^b: the system is of type"),
        (lambda s: [s], "^one system is given; expected two as `a` and `b`"),
        (
            lambda s: [[s, s]],
            r"^`a` is a list of 2 systems; expected each .* be.compare\(\{\"old\"",
        ),
        (lambda s: [_failed(s), s], "^a: the scores hold 1 NaN"),
        (lambda s: [be.Scores(np.ones((3, 3)), mask=_MASK)] * 2, "comparing.*Give labels$"),
        (lambda s: [be.Scores.from_pairs([1.0, 2.0], [1, 0])] * 2, "subjects="),
    ],
)
def test_systems_that_cannot_be_compared_are_named(systems, says):
    with pytest.raises((be.DataError, be.ProtocolError), match=says):
        be.compare(*systems(crowd_systems(people=12)["l2"].replace(name="")))


# ------------------------------------------------------------------------- the command


def test_the_last_file_may_have_the_trials_of_all_systems(tmp_path, capsys):
    rng = np.random.default_rng(1)
    pairs = [(f"s{i}-0", f"s{j}-1") for i in range(12) for j in range(12)]
    for name in ("a", "b", "c"):
        lines = (f"{x} {y} {rng.normal(2.0 * (x[:-2] == y[:-2])):.4f}\n" for x, y in pairs)
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    marks = (f"{int(x[:-2] == y[:-2])} {x} {y}\n" for x, y in pairs)
    (tmp_path / "trials").write_text("genuine model probe\n" + "".join(marks))
    files = [str(tmp_path / f"{name}.txt") for name in ("a", "b", "c")]
    trials = str(tmp_path / "trials")
    arguments = ["--kind", "similarity", "--subject-from", r"(s\d+)-", "--measure", "eer"]
    arguments += ["--replicates", "200", "--format", "kaldi", "--json"]
    for systems in (files[:2], files):
        assert main(["compare", *systems, *arguments, "--trials", trials]) == 0
        expected = json.loads(capsys.readouterr().out)
        assert main(["compare", *systems, trials, *arguments]) == 0
        assert json.loads(capsys.readouterr().out)["rows"] == expected["rows"]
    for words, says in (
        ([files[0], trials], "one system is given"),
        ([*files, "--name", "x", "--name", "x", "--name", "y"], "'x' is given twice"),
        ([files[0], *files], "is given twice"),
    ):
        assert main(["compare", *words, *arguments]) == 2
        assert says in capsys.readouterr().err


def test_an_area_and_its_own_function_have_one_p_value():
    """Of two systems that differ by rounding: the function is computed anew without each person."""
    scores = be.simulate(30, 4, random_state=8, within=1.0)
    rounded = be.Scores(np.round(scores.values, 1), scores.probe_labels)

    def area(x):
        return 1 - float(be.verification(x).auc)

    ds = be.compare(scores, rounded, measures=["auc", area]).isel(system=0, other_system=1)
    assert "cost" not in ds.dims  # it has no prior
    auc, function = ds.auc_p_value.item(), ds.area_p_value.item()
    assert ds.auc_difference.item() == pytest.approx(-ds.area_difference.item())
    assert auc == pytest.approx(function, rel=1e-6) and auc < 1


def test_answers_say_which_systems_are_better():
    """One answer for each outcome, with the measures that have it."""
    crowd = be.simulate_embeddings(60, 4, within=0.8, random_state=1)
    two_systems = {metric: crowd.scores(metric) for metric in ("l2", "linf")}
    ds = be.compare(two_systems, measures=["eer", "frr_at_far"], far_targets=[0.1, 1e-4])
    better = arguments(ds, "system-better")
    assert (better["best"], better["worse"]) == ("l2", ["linf"])
    measures_and_targets = [(x["measure"], x.get("target")) for x in better["measures"]]
    assert measures_and_targets == [("eer", None), ("frr_at_far", 0.1)]
    (unsupported,) = arguments(ds, "systems-not-concluded")["measures"]
    assert unsupported["target"] == 1e-4
    same = be.compare(two_systems["l2"], two_systems["l2"], measures="eer")
    assert codes(same)[0] == "systems-not-different"


def adjusted_by_hand(by_measure_of_pairs, p):
    """Return the least level at which Holm's steps over measures reject a p-value of a measure.

    At each step every measure whose p-values all are below the level over the number of measures
    that are left is told apart; `p` belongs to one of the measures.
    """
    number = len(by_measure_of_pairs)
    levels = {1.0, *(x * k for of in by_measure_of_pairs for x in of for k in range(1, number + 1))}
    for level in sorted(x for x in levels if x <= 1):
        remaining = list(by_measure_of_pairs)
        while decided := [x for x in remaining if max(x) <= level / len(remaining) * (1 + 1e-12)]:
            remaining = [x for x in remaining if x not in decided]
            if not remaining:
                break
        if p <= level / max(len(remaining), 1) * (1 + 1e-12):
            return level
    return 1.0


def test_p_values_are_adjusted_for_the_number_of_measures():
    crowd = be.simulate_embeddings(30, 3, within=0.9, random_state=1)
    systems = {metric: crowd.scores(metric) for metric in ("l2", "l1", "linf")}
    ds = be.compare(systems, measures=["eer", "auc", "recognition_rate"], interval=FEW)
    pairs = [(0, 1), (0, 2), (1, 2)]
    names = ("eer", "auc", "recognition_rate")
    of_measures = [[ds[f"{name}_p_value"].values[pair] for pair in pairs] for name in names]
    assert len({*itertools.chain(*of_measures)}) > 5
    for name, of_pairs in zip(names, of_measures, strict=True):
        for pair, p in zip(pairs, of_pairs, strict=True):
            expected = adjusted_by_hand(of_measures, p)
            assert ds[f"{name}_p_adjusted"].values[pair] == pytest.approx(expected, rel=1e-9)


def test_thresholds_that_agree_in_six_digits_are_two():
    systems = {x: be.simulate(10, 4, within=w, random_state=1) for x, w in (("a", 0.5), ("b", 0.8))}
    at = [4.0, 4.0000001]
    compared = be.compare(systems, measures=[f"frr_at_threshold={x!r}" for x in at])
    assert compared.threshold.values.tolist() == at


def test_each_system_may_have_a_threshold_of_its_own():
    """Distances and similarities, each at a threshold: the rates are those of verification."""
    near = be.simulate(15, 4, random_state=1)
    far = be.simulate(15, 4, within=1.2, random_state=2)
    similar = be.Scores(-np.asarray(far.values), far.probe_labels, kind="similarity")
    at = {"frr": 0, "far": 0}
    names = [f"{rate}_at_thresholds=4.5:-5.0" for rate in at]
    compared = be.compare({"near": near, "similar": similar}, measures=names)
    of_each = [be.verification(near, thresholds=[4.5]), be.verification(similar, thresholds=[-5.0])]
    for rate in at:
        expected = [float(x[rate][0]) for x in of_each]
        assert compared[f"{rate}_at_thresholds"].values.tolist() == expected
    assert compared.attrs["thresholds_of_systems"] == "near 4.5, similar -5"
    assert "near 4.5, similar -5" in as_text(compared)
    assert not [x for x in be.messages(compared) if x.code == "one-rate-at-threshold"]
    for wrong in (["4.5"], ["1:2:3"], ["4.5:x"], ["4.5:inf"], ["4.5:5", "4.5:6"]):
        wrong_measures = [f"frr_at_thresholds={x}" for x in wrong]
        with pytest.raises(be.DataError, match="threshold"):
            be.compare({"a": near, "b": similar}, measures=wrong_measures)


@pytest.mark.parametrize(("rate", "other"), [("frr", "far"), ("far", "frr")])
def test_one_rate_at_a_threshold_decides_nothing(rate, other):
    a, b = be.simulate(15, 4, random_state=1), be.simulate(15, 4, random_state=2)
    alone = be.compare(a, b, measures=[f"{rate}_at_threshold=4.5"])
    (message,) = [x for x in be.messages(alone) if x.code == "one-rate-at-threshold"]
    assert f"{rate.upper()} alone decides nothing" in message.sentence
    assert f"{other}_at_threshold=4.5" in message.sentence
    both = be.compare(a, b, measures=[f"{x}_at_threshold=4.5" for x in (rate, other)])
    assert not [x for x in be.messages(both) if x.code == "one-rate-at-threshold"]
    with pytest.warns(be.BioevalWarning, match="accepts all attempts"):
        be.compare(a, b, measures=["frr_at_threshold=612", "far_at_threshold=612"])


def test_six_systems_fit_a_screen_of_sixty_lines(capsys, monkeypatch):
    """Letters stand beside each measure; all pairs are in the full view."""
    monkeypatch.setenv("COLUMNS", "100")
    names = ["arcface", "cosface", "sphereface", "facenet", "eigenfaces", "lbp"]
    systems = {
        name: be.simulate(30, 4, within=0.6 + 0.06 * i, random_state=5)
        for i, name in enumerate(names)
    }
    result = be.compare(systems)
    be.show(result)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 60
    start = next(
        i for i, line in enumerate(lines) if line.split()[:3] == ["system", "EER", "letters"]
    )
    printed = [re.search(r"\]\s+([a-z]+)", line)[1] for line in lines[start + 1 : start + 7]]
    assert printed == result["eer_letters"].values.tolist()
    assert not any(" minus " in line for line in lines)
    be.show(result, verbose=True)
    assert capsys.readouterr().out.count("eigenfaces minus lbp") > 1

"""Systems over the same data: measures without each person, differences, ranks and letters."""

import itertools

import numpy as np
import pytest
import xarray as xr

import bioeval as be
from bioeval.cli import main
from bioeval.protocol.tasks import OpenSet
from bioeval.studies.calibration.calibration import MEASURES as OF_CALIBRATION
from bioeval.studies.compare.measures import by_attempts
from bioeval.studies.compare.section import comparison_section
from bioeval.studies.compare.wanted import WantedMeasures
from bioeval.views.writers.terminal import as_text as text_of_section

FEW = be.stats.IntervalMethod("people", replicates=200)

ALL = [
    *("eer", "eer_hull", "auc", "frr_at_far=0.2", "far_at_frr=0.2", "min_dcf=0.3"),
    *("frr_at_threshold=1", "far_at_threshold=1.5"),
    *("recognition_rate", "cms=2", "dir_at_far=0.3"),
]


def as_text(ranking):
    return text_of_section(comparison_section({"": ranking}), 140, "lecture")


def few_scores(seed, people=7, kind="distance"):
    """Scores of few values, so that all are thresholds; people have unequal templates."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([f"p{i}" for i in range(people)], rng.integers(2, 5, people))
    n = len(labels)
    values = rng.normal(1 + (labels[:, None] != labels), 0.7, (n, n)).round(1)
    values = np.triu(values, 1) + np.triu(values, 1).T
    return be.Scores(values if kind == "distance" else -values, labels, kind=kind)


def measured(scores, measures=tuple(ALL)):
    wanted = WantedMeasures.parse(
        list(measures),
        np.array([0.1]),
        np.empty(0),
        retrieval=False,
        functions=OF_CALIBRATION,
    )
    return by_attempts(scores, wanted, OpenSet(), FEW).measures


def evaluated(scores):
    """The same numbers by the public calls, each over all of the scores that are given."""
    single = be.verification(
        scores,
        thresholds=[1, 1.5],
        far_targets=[0.2],
        frr_targets=[0.2],
        costs=[(0.3, 1, 1)],
    )
    closed = be.closed_set(scores)
    searched = be.open_set(scores, far_targets=[0.3])
    return [
        float(single.eer),
        float(single.eer_hull),
        float(single.auc),
        float(single.frr_at_far[0]),
        float(single.far_at_frr[0]),
        float(single.min_dcf[0]),
        float(single.frr.sel(threshold=1)),
        float(single.far.sel(threshold=1.5)),
        float(closed.recognition_rate),
        float(closed.cms.sel(rank=2)),
        float(searched.dir_at_far[0, 0]),
    ]


@pytest.mark.parametrize("seed", range(2))
def test_values_and_values_without_each_person_are_those_of_whole_evaluations(seed):
    scores = few_scores(seed)
    measures = measured(scores)
    assert [x.scalar.name for x in measures] == [x.partition("=")[0] for x in ALL]
    np.testing.assert_allclose([x.value for x in measures], evaluated(scores), atol=1e-12)
    for place, person in enumerate(np.unique(scores.probe_labels)):
        kept = np.flatnonzero(scores.probe_labels != person)
        rest = scores.select(probes=kept, gallery=kept)
        without = [x.columns[1 + place] for x in measures]
        np.testing.assert_allclose(without, evaluated(rest), atol=1e-12)


def crowd_systems(people=40, **more):
    crowd = be.simulate_embeddings(people, 4, random_state=1, **more)
    return {metric: crowd.scores(metric) for metric in ("l2", "l1", "cosine")}


def test_a_ranking_holds_together():
    ranking = be.compare(crowd_systems(within=0.8))
    assert dict(ranking.sizes) == {"measure": 11, "system": 3, "other_system": 3}
    assert ranking.attrs["result_type"] == "comparison"
    low, high = ranking["difference_low"].values, ranking["difference_high"].values
    difference, separated = ranking["difference"].values, ranking["separated"].values
    np.testing.assert_allclose(low, -np.swapaxes(high, 0, 1))
    np.testing.assert_array_equal(separated, -np.swapaxes(separated, 0, 1))
    there = ~np.isnan(low)
    assert (low <= difference)[there].all() and (difference <= high)[there].all()
    value = ranking["value"].values
    np.testing.assert_allclose(difference, value[:, None] - value)
    sign = np.where(ranking["larger_is_better"].values == 1, 1, -1)
    apart = (np.minimum(low, high) > 0) | (np.maximum(low, high) < 0)
    assert (separated != 0)[apart].all()  # Holm's method tells at least these apart
    np.testing.assert_array_equal(separated != 0, ranking["p_value"].values <= 0.05)
    assert separated.any() and not separated.all()
    assert (separated * difference * sign >= 0).all()
    rank, first, last = (ranking[x].values for x in ("rank", "rank_low", "rank_high"))
    assert (first <= rank).all() and (rank <= last).all()
    np.testing.assert_array_equal(first, 1 + (separated == -1).sum(axis=1))
    np.testing.assert_array_equal(last, 3 - (separated == 1).sum(axis=1))
    letters = ranking["letters"].values
    for i, j, m in itertools.product(range(3), range(3), range(11)):
        shared = set(letters[i, m]) & set(letters[j, m])
        assert bool(shared) == (separated[i, j, m] == 0)


def test_that_equal_systems_are_never_told_apart():
    scores = be.simulate(20, 4, random_state=1)
    monotone = be.Scores(-np.exp(scores.values), scores.probe_labels, kind="similarity")
    ranking = be.compare(
        {"a": scores, "b": monotone, "c": scores}, measures=["eer", "auc", "cms=2"]
    )
    assert not ranking["separated"].any() and (ranking["letters"] == "a").all()
    assert (ranking["rank"] == 1).all() and (ranking["rank_high"] == 3).all()
    assert np.ptp(ranking["value"].values, axis=0).max() < 1e-12
    assert ranking["difference_low"].isnull().all()  # nothing says how much they may differ
    assert not ranking["discordant"].any()


@pytest.mark.slow
def test_measures_of_ratios_need_ratios():
    systems = crowd_systems(people=10)
    with pytest.raises(be.ProtocolError, match="cllr is of log-likelihood ratios"):
        be.compare(systems, measures=["cllr"])
    ratios = {
        name: be.Scores(3 - 2 * x.values, x.probe_labels, kind="llr") for name, x in systems.items()
    }
    ranking = be.compare(ratios, measures=["cllr", "min_cllr", "act_dcf=0.1"])
    for name, scores in ratios.items():
        alone = be.calibration(scores, [0.1])
        expected = [float(alone.cllr), float(alone.min_cllr), float(alone.act_dcf[0])]
        np.testing.assert_allclose(ranking["value"].sel(system=name).values, expected)


def named(scores, names):
    meta = {"template": np.array(names)}
    return be.Scores(scores.values, scores.probe_labels, probe_meta=meta)


def test_that_systems_are_ranked_on_the_templates_that_all_have():
    systems = {}
    for name, scores in crowd_systems(people=12).items():
        names = [f"{x}-{i}" for i, x in enumerate(scores.probe_labels)]
        systems[name] = named(scores, names)
    less = np.arange(4, systems["l1"].shape[0])[::-1]  # in another order, too
    systems["l1"] = systems["l1"].select(probes=less, gallery=less)
    ranking = be.compare(systems, measures=["eer"])
    kept = np.arange(4, systems["l2"].shape[0])
    for name in ("l2", "cosine"):
        part = systems[name].select(probes=kept, gallery=kept)
        expected = be.verification(part).eer
        np.testing.assert_allclose(ranking["value"].sel(system=name).values[0], expected)
    assert ranking.attrs["probes"] == len(kept)
    (message,) = [x for x in be.messages(ranking) if x.code == "not-in-common"]
    assert message.arguments["left_out"] == {"l2": 4, "cosine": 4}


def test_systems_are_read_one_after_another():
    systems, read = crowd_systems(people=12), []

    def reader(name):
        def reading():
            read.append(name)
            return systems[name]

        return reading

    lazy = be.compare({x: reader(x) for x in systems}, measures=["eer"])
    assert read == list(systems)
    xr.testing.assert_identical(lazy, be.compare(systems, measures=["eer"]))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"measures": ["min_dcf"]}, r"min_dcf, which needs a prior; expected as in min_dcf=0.01"),
        ({"measures": ["min_dcf=1"]}, "'min_dcf=1'; expected a prior behind ="),
        ({"measures": ["cms=0"]}, "'cms=0'; expected a whole number from 1 behind ="),
        ({"measures": ["eer=0.1"]}, "'eer=0.1'; expected eer alone"),
        ({"measures": ["frr_at_far=2"]}, "'frr_at_far=2'; expected a FAR target behind ="),
        ({"measures": ["frr_at_threshold=5%"]}, "'frr_at_threshold=5%'; expected a threshold"),
        ({"measures": ["far_at_frr=2"]}, "'far_at_frr=2'; expected an FRR target behind ="),
        ({"measures": ["erd"]}, "a measure of `measures` is 'erd'"),
        ({"measures": []}, "`measures` is empty"),
        ({"measures": ["mean_ap"]}, "mean_ap, a measure of re-identification; give `protocol"),
        ({"adjust": "bonferroni"}, "`adjust` is 'bonferroni'"),
    ],
)
def test_wrong_options_are_refused(options, says):
    with pytest.raises(be.BioevalError, match=says):
        be.compare(crowd_systems(people=6), **options)


def test_one_system_is_refused():
    scores = be.simulate(6, 3)
    with pytest.raises(be.DataError, match="needs two systems or more, and 1 is given"):
        be.compare({"only": scores})
    with pytest.raises(be.DataError, match="systems are given by name and as `b`"):
        be.compare({"a": scores, "c": scores}, scores)


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
    ranking = be.compare(systems, measures=["eer", "auc", "min_cllr"])
    assert (ranking["rank"].sel(system="d4") == 1).all()
    assert ranking.attrs["probes"] == len(genuine)
    assert (ranking["rank_high"].sel(system="d4") < 3).all()


@pytest.mark.parametrize("measures", [None, ["cmc=3", "mean_ap", "mean_inp"]])
def test_retrieval_is_ranked_by_a_convention(measures):
    systems = crowd_systems(people=15)
    ranking = be.compare(systems, measures=measures, protocol="vehicleid")
    labels = ranking["measure"].values.tolist()
    if measures:
        assert labels == ["CMC(3)", "mAP", "mINP"]
    for name, scores in systems.items():
        alone = be.reid(scores, "vehicleid")
        found = ranking["value"].sel(system=name)
        np.testing.assert_allclose(found.sel(measure="mAP"), alone.mean_ap)
        np.testing.assert_allclose(found.sel(measure="mINP"), alone.mean_inp)
        if measures:
            np.testing.assert_allclose(found.sel(measure="CMC(3)"), alone.cmc.sel(rank=3))


def test_people_who_are_decided_differently_are_counted():
    scores = few_scores(1)

    def discordant(changed):
        other = be.Scores(changed, scores.probe_labels)
        ds = be.compare(scores, other, measures=["frr_at_threshold=1", "far_at_threshold=1.5"])
        return ds["discordant"].sel(system="a", other_system="b").values.tolist()

    changed = scores.values.copy()
    mine, theirs = (scores.probe_labels == x for x in ("p0", "p1"))
    changed[np.ix_(mine, mine)] = 9.0  # all genuine attempts of one person are rejected
    assert discordant(changed) == [1, 0]
    changed = scores.values.copy()
    changed[np.ix_(mine, theirs)] = changed[np.ix_(theirs, mine)] = 0.0
    assert discordant(changed) == [0, 1]  # two people, one pair


def test_systems_do_not_differ_by_form():
    """Pairs in another order, and a monotone transformation, are the same system."""
    a, b, _ = crowd_systems(people=12, within=0.8).values()
    similar = be.Scores(-np.exp(b.values), b.probe_labels, kind="similarity")
    one, other = (be.compare(a, x) for x in (b, similar))
    for name in ("difference_low", "p_value", "separated", "discordant"):
        np.testing.assert_allclose(one[name], other[name], atol=1e-9)
    back = be.compare(b, a)
    np.testing.assert_allclose(back["difference_low"][0, 1], -one["difference_high"][0, 1])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda s: be.Scores(s.values[:8, :8], s.probe_labels[:8]),
            r"b: the system is not like .*\(48, 48\)",
        ),
        (lambda s: be.Scores(s.values, s.probe_labels[::-1]), "labels differ at 48 of 48"),
        (lambda s: be.Scores(s.values, s.probe_labels, s.probe_labels), "all-against-all"),
        (lambda s: s.values, "^b: the system is of type"),
        (lambda s: None, "^b: the system is None"),
    ],
)
def test_other_data_are_refused(change, says):
    scores = crowd_systems(people=12)["l2"].replace(name="")
    with pytest.raises(be.DataError, match=says):
        be.compare(scores, change(scores))


def test_errors_name_their_system():
    scores = crowd_systems(people=6)["l2"].replace(name="")
    values = np.array(scores.values)
    values[3, 5] = np.nan
    failed = be.Scores(values, scores.probe_labels)
    with pytest.raises(be.DataError, match="^a: the scores hold 1 NaN"):
        be.compare(failed, scores)


def test_data_without_an_attempt_or_a_person():
    none = be.Scores([[0.5]], ["a"], ["b"], mask=[[0]])
    ds = be.compare(none, none)
    assert ds["value"].isnull().all() and ds["difference_low"].isnull().all()
    assert "Not defined: EER" in as_text(ds)
    mask = be.Scores(np.ones((3, 3)), mask=[[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    with pytest.raises(be.ProtocolError, match="comparing systems.*Give labels$"):
        be.compare(mask, mask)
    with pytest.raises(be.ProtocolError, match="subjects="):
        be.compare(*[be.Scores.from_pairs([1.0, 2.0], [True, False])] * 2)
    one = be.Scores([[0.0, 1.0], [1.0, 0.0]], ["a", "a"])
    ds = be.compare(one, one)
    assert ds["value"].sel(measure="recognition rate").values.tolist() == [1, 1]
    assert "interval-of-few-subjects" in [message.code for message in be.messages(ds)]


def test_unsupported_targets_declare_no_winner():
    crowd = be.simulate_embeddings(30, 4, random_state=1, within=0.3)
    noise = be.Scores(np.random.default_rng(0).random((120, 120)), crowd.labels)
    ds = be.compare(crowd.scores("l2"), noise)
    weak = ds["supported"] == 0
    # 435 pairs of 30 people do not support FAR 0.1 and 0.01 %, 120 searches not 1 % either.
    assert weak.sum() == 5
    assert not ds["separated"].where(weak, 0).any()
    assert ds["p_value"].where(weak).isnull().all()
    conclusions = be.to_frame(ds, table="differences")["conclusion"]
    assert conclusions.str.startswith("no conclusion: too few people or attempts").sum() == 5


# ------------------------------------------------------------------------- files and commands


@pytest.fixture
def folder(tmp_path):
    for i, scores in enumerate(crowd_systems(people=12).values()):
        be.save(scores, tmp_path / f"team{i}.npz")
    return tmp_path


def test_that_systems_with_other_attempts_are_named():
    systems = crowd_systems(people=12)
    values = systems["l1"].values.copy()
    values[3, 7] = values[7, 3] = np.nan
    systems["l1"] = be.Scores(values, systems["l1"].probe_labels, nan="exclude")
    text = as_text(be.compare(systems, measures=["eer"]))
    assert "l1 did not make the same attempts as l2" in text


def test_cameras_of_all_systems_are_the_same_where_they_count():
    systems = {}
    for i, (name, scores) in enumerate(crowd_systems(people=8).items()):
        cameras = (np.arange(scores.shape[0]) + (i == 2)) % 4
        meta = {"camera": cameras}
        systems[name] = be.Scores(scores.values, scores.probe_labels, probe_meta=meta)
    with pytest.raises(
        be.DataError, match="cosine: the system is not like l2: .*cameras differ at 32"
    ):
        be.compare(systems, protocol="market1501")


def test_lists_have_the_measures_that_their_ends_allow():
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(20), 3)
    lists = {}
    for i in range(3):
        values = 3.0 * (who[:, None] != who) + (1 + i) * rng.normal(size=(60, 60))
        order = np.argsort(values, axis=1)[:, : 3 + i]
        near = np.take_along_axis(values, order, axis=1)
        lists[f"top {3 + i}"] = be.Scores.from_top_k(order, who, who, distances=near)
    how = {"protocol": "vehicleid", "interval": FEW}
    ranking = be.compare(lists, measures=["mean_ap", "cmc=1"], **how)
    assert ranking["measure"].values.tolist() == ["CMC(1)"]
    assert "which are left out: mean_ap" in as_text(ranking)
    with pytest.raises(be.DataError, match="none of the measures is defined"):
        be.compare(lists, measures=["mean_ap"], **how)
    with pytest.raises(be.DataError, match="none of the measures is defined"):
        be.compare(lists["top 3"], lists["top 4"], measures=["mean_ap"], **how)


@pytest.mark.parametrize("value", [np.array([0.3]), "0.3", None])
def test_a_function_that_returns_no_number_is_named(value):
    measure = be.Measure("odd", lambda scores: value)
    with pytest.raises(be.DataError, match="l2: the measure odd is .*; expected a number"):
        be.compare(crowd_systems(people=6), measures=[measure])
    with pytest.raises(be.DataError, match="a Measure called eer, and there is one of this name"):
        be.compare(crowd_systems(people=6), measures=[be.Measure("eer", len)])


def test_an_undefined_number_has_no_rank():
    measure = be.Measure("odd", lambda scores: np.inf if scores.shape[0] > 20 else 1.0)
    ranking = be.compare(crowd_systems(people=6), measures=["eer", measure])
    row = ranking.isel(measure=1)
    assert row["value"].isnull().all() and (row["letters"] == "").all()
    assert row["rank_low"].isnull().all()


def test_names_and_files_are_given_once(folder, capsys):
    files = [str(folder / f"team{i}.npz") for i in range(3)]
    assert main(["compare", *files, "--name", "x", "--name", "x", "--name", "y"]) == 2
    assert "'x' is given twice" in capsys.readouterr().err
    assert main(["compare", files[0], *files]) == 2
    assert "is given twice" in capsys.readouterr().err


@pytest.mark.slow
def test_that_values_have_the_limits_of_evaluations():
    scores = be.simulate(30, 4, random_state=2)
    ranking = be.compare(
        {"a": scores, "b": be.simulate(30, 4, random_state=3), "c": scores},
        measures=["eer", "min_dcf=0.01", "auc", "recognition_rate", "cms=3", "dir_at_far=0.1"],
    )
    how = {"interval": "people"}
    single = be.verification(scores, costs=[(0.01, 1, 1)], far_targets=[0.1], **how)
    closed = be.closed_set(scores, **how)
    opened = be.open_set(scores, far_targets=[0.1], **how)
    expected = [
        (single.eer, single.eer_low, single.eer_high),
        (single.min_dcf[0], single.min_dcf_low[0], single.min_dcf_high[0]),
        (single.auc, single.auc_low, single.auc_high),
        (closed.recognition_rate, closed.recognition_rate_low, closed.recognition_rate_high),
        (closed.cms[2], closed.cms_low[2], closed.cms_high[2]),
        (opened.dir_at_far[0, 0], opened.dir_at_far_low[0, 0], opened.dir_at_far_high[0, 0]),
    ]
    found = ranking[["value", "value_low", "value_high"]].sel(system="a").to_dataarray().values.T
    np.testing.assert_allclose(found, np.array(expected, dtype=float), atol=1e-12)

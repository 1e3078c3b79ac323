"""The scalars of many partitions in one call."""

import json
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from json_rows import row
from result_messages import arguments, codes
from result_text import as_text
from scipy.spatial.distance import cdist
from sklearn import model_selection

import bioeval as be
from bioeval import protocol as cards
from bioeval.cli import main

SIZES = {"gallery_templates", "gallery_subjects"}


def check(tree, scores, sets, protocol="auto", over=("partition",), **options) -> None:
    """Compare all variables with each partition alone; `sets` are (probes, gallery)."""
    parts = [scores.select(probes, gallery) for probes, gallery in sets]
    trees_of_parts = [be.evaluate(part, protocol, **options) for part in parts]
    assert [leaf.path for leaf in tree.leaves] == [leaf.path for leaf in trees_of_parts[0].leaves]
    for node in tree.leaves:
        of_node = node.to_dataset().stack(place=over)
        singles = [dataset[node.path].to_dataset() for dataset in trees_of_parts]
        if "thresholds" not in options:
            singles = [dataset.drop_dims("threshold", errors="ignore") for dataset in singles]
        assert {*of_node.data_vars} - SIZES == {*singles[0].data_vars}
        for name, count in (("templates", len), ("subjects", lambda x: len({*x}))):
            if f"gallery_{name}" in of_node:
                sizes = [count(part.gallery_labels.tolist()) for part in parts]
                assert of_node[f"gallery_{name}"].values.tolist() == sizes
        for name in {*of_node.data_vars} - SIZES:
            check_variable(of_node[name], [single[name] for single in singles])


def check_variable(variable, singles) -> None:
    """Compare a variable over partitions with the variable of each partition.

    Values are equal at the labels that a partition has, for example its ranks, and NaN elsewhere. A
    variable of whole numbers is float only if it has such a NaN.
    """
    has_all_labels = True
    for k, single in enumerate(singles):
        in_part = variable.isel(place=k) if "place" in variable.dims else variable
        assert in_part.dims == single.dims, variable.name
        assert in_part.attrs == single.attrs, variable.name
        in_both = {
            dimension: np.isin(variable[dimension], single[dimension])
            for dimension in single.dims
            if dimension in variable.indexes
        }
        labels = {
            dimension: variable[dimension].values[is_in_both]
            for dimension, is_in_both in in_both.items()
        }
        np.testing.assert_array_equal(in_part.isel(in_both), single.sel(labels), variable.name)
        for dimension, is_in_both in in_both.items():
            assert in_part.isel({dimension: ~is_in_both}).isnull().all(), variable.name
            has_all_labels = has_all_labels and is_in_both.all()
    dtype = singles[0].dtype if has_all_labels else np.dtype(np.float64)
    assert variable.dtype == dtype, f"{variable.name}: {variable.dtype}, expected {dtype}"


def scores_of(kind="distance", square=True) -> be.Scores:
    """Scores of subjects with 1 to 5 templates, in mixed order, with ties."""
    random = np.random.default_rng(7)
    subjects = random.permutation(np.repeat(np.arange(16), random.integers(1, 6, 16)))
    points = random.normal(size=(len(subjects), 3)) + 1.5 * random.normal(size=(16, 3))[subjects]
    values = np.round(cdist(points, points), 1)
    sides = (subjects,) if square else (subjects, subjects)
    return be.Scores(-values if kind == "similarity" else values, *sides, kind=kind)


# A card without the closed set, which random probes are not all enrolled for.
OPEN = {
    layout: replace(cards.load(f"course-{name}"), closed_set=None)
    for layout, name in (("square", "all-vs-all"), ("other", "probe-vs-gallery"))
}


def test_ranks_beyond_a_gallery_are_nan_and_counts_then_floats():
    scores = be.simulate(8, 2, random_state=0)
    sets = [be.partition.ProbesGallery(np.arange(n), np.arange(n)) for n in (4, 16, 8)]
    tree = be.repeat(scores, sets)
    check(tree, scores, sets)
    counts = tree["closed_set"]["cms_count"]
    assert counts.dtype == np.float64
    assert np.isnan(counts.sel(rank=10).values).tolist() == [True, False, True]
    assert tree["closed_set"]["attempts"].dtype == np.int64
    assert tree["closed_set"]["rank"].values.tolist() == [1, 5, 10]


def test_an_asymmetric_matrix_is_judged_by_partition():
    values = np.random.default_rng(0).random((30, 30))
    values[:10, :10] = values[:10, :10] + values[:10, :10].T
    scores = be.Scores(values, np.repeat(np.arange(10), 3))
    sets = [
        be.partition.ProbesGallery(x, x) for x in (np.arange(10), np.arange(20), np.arange(9)[::-1])
    ]
    tree = be.repeat(scores, sets)
    check(tree, scores, sets)
    pairs = tree["verification/single"]
    half = pairs["impostor_pairs"].values == pairs["impostor_attempts"].values // 2
    assert half.tolist() == [True, False, True]


@pytest.mark.parametrize("name", ["market1501", "gom-market1501"])
def test_re_identification(name):
    random = np.random.default_rng(0)
    labels = random.integers(0, 8, 40)
    meta = {"camera": random.integers(0, 3, 40)}
    scores = be.Scores(random.random((40, 40)), labels, labels, probe_meta=meta, gallery_meta=meta)
    sets = [
        be.partition.ProbesGallery(random.permutation(40)[:12], random.permutation(40)[:30])
        for _ in range(3)
    ]
    check(be.repeat(scores, sets, name), scores, sets, name)


def test_failures_name_their_partition():
    scores = be.simulate(6, 3, random_state=0)
    templates = np.arange(12)
    with pytest.raises(be.DataError, match="no partitions"):
        be.repeat(scores, [])
    with pytest.raises(be.DataError, match=r"^partition 1: probes has 1 value outside 0\.\.17"):
        be.repeat(scores, [templates, [0, 18]])
    with pytest.raises(be.DataError, match=r"^partition 2: gallery selects a template more than"):
        be.repeat(scores, [templates, templates, [1, 1, 2]])
    with pytest.raises(be.DataError, match=r"^partition 1: probes is empty"):
        be.repeat(scores, [templates, be.partition.ProbesGallery([], templates)])
    values = np.array(scores.values)
    values[3, 14] = np.nan
    failed = be.Scores(values, scores.probe_labels)
    assert len(be.repeat(failed, [templates])["open_set"]["partition"]) == 1
    with pytest.raises(be.DataError, match=r"^partition 1: the scores hold 1 NaN"):
        be.repeat(failed, [templates, np.arange(18)])
    card = cards.load("course-probe-vs-gallery")
    strict = replace(card, closed_set=replace(card.closed_set, unmated="raise"))
    with pytest.raises(be.ProtocolError, match=r"^partition 0: closed-set identification requires"):
        be.repeat(
            scores,
            [
                be.partition.ProbesGallery(templates + 1, templates),
                be.partition.ProbesGallery(templates[:6], templates[:6]),
            ],
            strict,
        )


class OwnSplitter:
    """A splitter that is not of the library."""

    def __init__(self, parts):
        self.parts = parts

    def split(self, X, y, groups):
        yield from self.parts


@pytest.mark.slow
def test_probes_come_first_in_every_form_of_a_partition():
    scores = scores_of()
    labels = scores.probe_labels
    galleries = be.partition.ProbeGallerySplit(1, n_repeats=2, too_few="enrol", random_state=0)
    partitions = list(galleries.split(scores))
    pairs = [(x.probes, x.gallery) for x in partitions]
    for parts in (
        galleries,
        partitions,
        OwnSplitter(partitions),
        [{"probes": p, "gallery": g} for p, g in pairs],
    ):
        tree = be.repeat(scores, parts, OPEN["other"])
        check(tree, scores, pairs, OPEN["other"])
        genuine = [sum(labels[i] == labels[j] for i in p for j in g) for p, g in pairs]
        assert tree["verification/single"].genuine_attempts.values.tolist() == genuine


def test_each_template_is_enrolled_in_turn_by_a_loop():
    scores = be.simulate(8, 3, random_state=1)
    labels = scores.probe_labels
    distances = np.asarray(scores.values)
    recognition_rates = []
    genuine_attempts = []
    for k in range(3):
        gallery = [np.flatnonzero(labels == x)[k] for x in dict.fromkeys(labels.tolist())]
        probes = [i for i in range(24) if i not in gallery]
        nearest = [min(gallery, key=lambda j, i=i: distances[i, j]) for i in probes]
        recognition_rates.append(np.mean(labels[probes] == labels[nearest]))
        genuine_attempts.append(sum(labels[i] == labels[j] for i in probes for j in gallery))
    tree = be.repeat(scores, be.partition.GalleryKFold(3))
    closed_set = tree["closed_set"]
    assert closed_set.recognition_rate.values.tolist() == pytest.approx(recognition_rates)
    assert tree["verification/single"].genuine_attempts.values.tolist() == genuine_attempts


def test_gallery_folds_of_a_card_are_shuffled(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    scores = be.simulate(8, 3, random_state=1)
    be.save(scores, "a.npz")
    card = be.protocol.load("course-all-vs-all").to_toml()
    partition = '[partition]\nby = "gallery-folds"\nfolds = 3\n[decision]\nrule = "none"\n'
    Path("card.toml").write_text(f"{card}\n{partition}")
    assert main(["run", "a.npz", "--protocol", "card.toml", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rates = [row(document, "recognition_rate", partition=i)["value"] for i in range(3)]
    shuffled = be.partition.GalleryKFold(3, shuffle=True, random_state=0)
    closed_set = be.repeat(scores, shuffled)["closed_set"]
    assert rates == closed_set.recognition_rate.values.tolist()
    assert main(["run", "a.npz", "--protocol", "card.toml", "--folds", "4"]) == 2
    assert "give at most 3 folds" in capsys.readouterr().err
    assert main(["run", "a.npz", "--protocol", "card.toml", "--target", "far=0.1"]) == 2


@pytest.mark.slow
def test_of_training_and_test_the_test_part_is_evaluated():
    scores = scores_of()
    folds = be.partition.SubjectKFold(2)
    partitions = list(folds.split(scores))
    plain = [tuple(x) for x in partitions]
    sets = [(x.test, x.test) for x in partitions]
    for parts in (folds, OwnSplitter(partitions), OwnSplitter(plain)):
        check(be.repeat(scores, parts), scores, sets, over=("repeat", "fold"))
    for parts in (partitions, plain):
        check(be.repeat(scores, parts), scores, sets)
    mixed = [plain[0], be.partition.ProbesGallery(*plain[1]), plain[1][1]]
    check(be.repeat(scores, mixed), scores, [sets[0], plain[1], sets[1]])
    genuine_attempts = [int(be.verification(scores[x]).genuine_attempts) for x in partitions]
    for parts in (folds, partitions, OwnSplitter(partitions), plain):
        ds = be.cross_evaluate(scores, parts).isel(repeat=0).sel(part="test")
        assert ds.genuine_attempts.values.tolist() == genuine_attempts
    both = np.arange(12)
    with pytest.raises(
        be.DataError, match=r"pair 1 .*both training and test; .*`be\.partition\.Pro"
    ):
        be.repeat(scores, [plain[0], (both, both)])


@pytest.mark.parametrize("random_state", range(3))
def test_plain_pairs_of_two_sets_are_of_templates_of_both(random_state):
    """The templates are numbered rows first; the test part has its probes and its gallery."""
    scores = scores_of(square=False)
    rows, columns = scores.shape
    assert not set(scores.probe_ids) & set(scores.gallery_ids)
    order = np.random.default_rng(random_state).permutation(rows + columns)
    train, test = order[: (rows + columns) // 3], order[(rows + columns) // 3 :]
    found = be.repeat(scores, [(train, test)], OPEN["other"])["verification/single"]
    genuine = impostor = 0
    for i in range(rows):
        for j in range(columns):
            if i in test and rows + j in test:
                same = scores.probe_labels[i] == scores.gallery_labels[j]
                genuine, impostor = genuine + same, impostor + (not same)
    assert int(found.genuine_attempts[0]) == genuine
    assert int(found.impostor_attempts[0]) == impostor


def test_galleries_are_no_training_parts():
    scores = scores_of()
    galleries = be.partition.ProbeGallerySplit(1, too_few="enrol", random_state=0)
    for parts in (galleries, OwnSplitter([*galleries.split(scores)]), [*galleries.split(scores)]):
        with pytest.raises(be.DataError, match=r"not training from test; be\.repeat"):
            be.cross_evaluate(scores, parts)
    foreign_pair = namedtuple("Other", "gallery probe")([0], [1])
    with pytest.raises(be.DataError, match="names gallery, probe; expected probes and gallery"):
        scores.select(foreign_pair)


def test_what_is_no_list_of_partitions_is_refused():
    scores = be.simulate(4, 2)
    for wrong in (3, "galleries", None, {"a": [1, 2]}):
        with pytest.raises(be.DataError, match=r"^partitions is .*expected a splitter"):
            be.repeat(scores, wrong)
    for wrong in (None, (None, None), (None, [0, 1])):
        with pytest.raises(be.DataError, match=r"a side is None; expected a list"):
            be.repeat(scores, [[0, 1, 2], wrong])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "thresholds"),
    [("distance", [-3.0, 1.0, 2.5, 4.0]), ("similarity", [-4.0, -2.5, -1.0, 3.0])],
)
def test_curves_are_those_of_each_partition(kind, thresholds):
    scores = scores_of(kind=kind)
    halves = be.partition.SubjectShuffleSplit(4, test_size=0.5, random_state=0)
    options = {"thresholds": thresholds, "max_rank": 30}
    tree = be.repeat(scores, halves, curves=True, **options)
    sets = [(test, test) for _, test in halves.split(scores)]
    check(tree, scores, sets, **options)
    assert tree["open_set"]["dir"].dims == ("partition", "threshold", "rank")
    assert {"gar", "grr", "fa", "threshold_next"} <= {*tree["verification/single"].data_vars}
    for node in be.repeat(scores, halves).leaves:  # numbers do not depend on curves
        for name, variable in node.data_vars.items():
            without_curves = tree[node.path][name]
            if "rank" not in variable.dims:
                assert variable.identical(without_curves)


@pytest.mark.slow
def test_repeated_folds_are_never_flattened():
    scores = scores_of()
    folds = be.partition.SubjectKFold(3, n_repeats=2, shuffle=True, random_state=0)
    tree = be.repeat(scores, folds)
    sets = [(test, test) for _, test in folds.split(scores)]
    check(tree, scores, sets, over=("repeat", "fold"))
    eer = tree["verification/single"]["eer"]
    assert (eer.dims, eer.shape) == (("repeat", "fold"), (2, 3))
    means = be.aggregate(tree, ("repeat", "fold"))["verification/single"]["eer"]
    assert means.sel(statistic="repeats_sd") == pytest.approx(
        eer.mean("fold").std("repeat", ddof=1)
    )
    sample_folds = be.partition.SampleKFold(3, stratify="subject")
    assert be.repeat(scores, sample_folds)["closed_set"]["cms"].dims == ("repeat", "fold", "rank")
    unequal = OwnSplitter([*folds.split(scores)][:5])
    unequal_tree = be.repeat(scores, unequal)["verification/single"]
    assert unequal_tree["eer"].dims == ("partition",)


@pytest.mark.slow
def test_curves_of_thresholds_over_the_whole_range():
    galleries = be.partition.ProbeGallerySplit(1, n_repeats=3, random_state=1)
    tree = be.repeat(be.simulate(8, 3, random_state=3), galleries, curves=True)
    single = tree["verification/single"]
    assert 900 < single.sizes["threshold"] < 1200
    assert single.far.mean("partition").values[[0, -1]].tolist() == [0, 1]
    assert tree["closed_set"].sizes["rank"] == 24
    curves = be.plot.repeated({"a": tree["closed_set"], "b": tree["closed_set"]}).curves
    cms = tree["closed_set"].cms
    np.testing.assert_allclose(curves["b"].y, cms.mean("partition"))
    np.testing.assert_allclose(curves["b"].low, cms.quantile(0.025, "partition"))
    assert list(be.plot.repeated(single).bands_) == ["FAR", "FRR"]
    assert list(be.plot.repeated(tree["open_set"]).bands_) == ["FAR", "DIR at rank 1"]


def test_a_partition_without_impostors_is_in_no_mean_curve():
    tree = be.repeat(be.simulate(4, 3, random_state=1), be.partition.SubjectKFold(4), curves=True)
    assert np.isnan(tree["verification/single"].far).all()
    assert np.isfinite(tree["verification/single"].frr).all()
    be.plot.repeated(tree["verification/single"])


@pytest.mark.parametrize(("thresholds", "is_said"), [([-5, 1e6], True), ([-5, 3.0], False)])
def test_thresholds_beyond_the_scores_of_all_partitions_are_said(thresholds, is_said):
    scores = be.simulate(12, 3, random_state=1)
    options = {"curves": True, "thresholds": thresholds}
    tree = be.repeat(scores, be.partition.SubjectKFold(3), **options)
    result = tree["verification/single"].to_dataset()
    assert ("thresholds-beyond-scores" in codes(result)) == is_said
    assert is_said == np.isin([result.far, result.frr], [0, 1]).all()


def test_curves_larger_than_the_memory_name_the_ways_out():
    with be.set_options(memory_limit="64 MiB"):
        scores = be.Scores(be.simulate(12, 3, random_state=1).values, np.repeat(np.arange(12), 3))
        halves = be.partition.SubjectShuffleSplit(50, test_size=0.5, random_state=0)
        with pytest.raises(
            be.DataError, match=r"[GM]iB.*`memory_limit`.*`n_thresholds`.*`max_rank`"
        ):
            be.repeat(scores, halves, curves=True, n_thresholds=40_000)
        be.repeat(scores, halves, curves=True, n_thresholds=20, max_rank=2)


def test_options_of_curves_need_curves():
    for name in ("thresholds", "n_thresholds"):
        with pytest.raises(be.DataError, match=f"`{name}` .* `curves=True`"):
            be.repeat(be.simulate(4, 2), be.partition.SubjectKFold(2), **{name: 5})


def test_every_number_that_is_not_defined_has_a_message():
    labels = np.repeat(np.arange(8), 3)
    meta = {"camera": np.tile([1, 1, 2], 8)}
    values = np.random.default_rng(0).random((24, 24))
    scores = be.Scores(values, labels, labels, probe_meta=meta, gallery_meta=meta)
    same = np.flatnonzero(meta["camera"] == 1)
    tree = be.repeat(
        scores,
        [
            be.partition.ProbesGallery(same, same),
            be.partition.ProbesGallery(np.arange(24), np.arange(24)),
        ],
        "market1501",
    )
    assert np.isnan(tree["reid"].mean_ap.values).tolist() == [True, False]
    message = arguments(tree["reid"], "undefined-in-parts")
    assert (message["what"], message["missing"], message["number"]) == ("all rates", 1, 2)
    tree = be.repeat(be.simulate(8, 2, random_state=0), [np.arange(4), np.arange(16)])
    by_code = {x.code: x.arguments for x in be.messages(tree["closed_set"])}
    measures = by_code["undefined-in-parts"]["measures"]
    assert [(x["measure"], x["rank"]) for x in measures] == [("cms", 5), ("cms", 10)]
    sentence = next(
        x.sentence for x in be.messages(tree["closed_set"]) if "measures" in x.arguments
    )
    assert sentence.startswith("CMS, rank 5; CMS, rank 10 had no value (NaN) in 1 of 2 partitions")
    assert by_code["undefined-in-parts"]["missing"] == 1


def test_ties_that_decide_ranks_are_said():
    scores = be.simulate(10, 5, random_state=1)
    tied = scores.with_values(np.round(scores.values), scores.kind)
    splitter = be.partition.SampleKFold(3, stratify="subject")
    closed = be.repeat(tied, splitter)["closed_set"].to_dataset()
    stated_numbers = {x.code: x.arguments for x in be.messages(closed)}["ties-in-partitions"]
    assert stated_numbers == {"tied": int(closed.tied.sum()), "probes": 40, "number": 3}
    without_ties = be.repeat(scores, splitter)["closed_set"].to_dataset()
    assert "ties-in-partitions" not in codes(without_ties)


def test_impostors_are_decided_once_for_all_partitions():
    scores = be.simulate(10, 3, random_state=1)
    gallery = np.arange(0, 30, 3)
    probes = np.setdiff1d(np.arange(30), gallery)
    # Four people are not enrolled in the second gallery.
    both_galleries = [
        be.partition.ProbesGallery(probes, gallery),
        be.partition.ProbesGallery(probes, gallery[:6]),
    ]
    for partitions, role in (
        (both_galleries, "unenrolled"),
        (both_galleries[:1], "leave-subject-out"),
    ):
        tree = be.repeat(scores, partitions)["open_set"]
        for k, sides in enumerate(partitions):
            of_part = be.open_set(scores.select(*sides), impostors=role)
            for name in ("impostor_attempts", "eer", "genuine_attempts"):
                np.testing.assert_equal(tree[name].values[k], of_part[name].item())
    assert tree["impostor_attempts"].item() == 20


def test_points_of_partitions_end_at_the_last_rank_of_the_card():
    card = cards.load("course-all-vs-all")
    card = replace(card, open_set=replace(card.open_set, max_rank=2))
    tree = be.repeat(be.simulate(20, 4, random_state=1), be.partition.SubjectKFold(2), card)
    assert tree["open_set"]["rank"].values.tolist() == [1]


RECORDED = {
    "system": "doors",
    "layout": "all-against-all",
    "kind": "distance",
    "exclude": "session",
    "probes": 48,
    "probe_subjects": 12,
    "metric": "l2",
    "splitter_class": "SubjectShuffleSplit",
    "splitter_seed": 4,
}


@pytest.fixture
def doors() -> be.Scores:
    crowd = be.simulate_embeddings(12, 4, random_state=2)
    meta = {"session": np.arange(48) % 2}
    return be.Scores.from_embeddings(
        crowd.embeddings, crowd.labels, metric="l2", probe_meta=meta, exclude=["session"],
        name="doors",
    )  # fmt: skip


def test_a_result_says_what_was_done(doors):
    splitter = be.partition.SubjectShuffleSplit(5, test_size=0.5, random_state=4)
    tree = be.repeat(doors, splitter, fusion="mean", ranks=[1, 2])
    whole = be.evaluate(doors)
    for node in tree.leaves:
        attrs = node.attrs
        assert {**attrs, **RECORDED} == attrs
        assert attrs["splitter"] == repr(splitter)
        for name in ("fingerprint", "origin", "probes", "gallery_templates", "nan_policy"):
            assert attrs[name] == whole[node.path].attrs[name], name
    of_task = {
        "verification/multi": {"templates": "multi", "fusion": "mean", "claims": "all"},
        "open_set": {
            "rank_unit": "template",
            "fusion": "none",
            "ties": "pessimistic",
            "impostors": "leave-subject-out",
        },
        "closed_set": {"rank_unit": "template", "ties": "pessimistic", "unmated": "auto"},
    }
    for path, options in of_task.items():
        assert {**tree[path].attrs, **options} == tree[path].attrs
    text = as_text(tree, verbose=True)
    for words in (
        "doors: 48 templates of 12 subjects, all against all",
        "SubjectShuffleSplit(n_splits=5, test_size=0.5, random_state=4)",
        "at ties, the right subject ranks last (pessimistic)",
        "the score of a subject is the mean distance",
    ):
        assert words in " ".join(text.split())
    listed = be.repeat(doors, [range(24), range(24, 48)])
    assert listed["open_set"].attrs["splitter"] == "2 listed partitions"
    with pytest.raises(be.DataError, match="2 listed partitions, which is not recorded in full"):
        be.partition.splitter_of(listed)
    with pytest.raises(be.DataError, match=r"expected a result of be\.repeat"):
        be.partition.splitter_of(whole)


SPLITTERS = [
    be.partition.SubjectKFold(3, n_repeats=2, shuffle=True, random_state=1),
    be.partition.SubjectKFold(3, shuffle=True),
    be.partition.SubjectKFold(4),
    be.partition.SubjectShuffleSplit(4, test_size=0.5, random_state=np.random.default_rng(3)),
    be.partition.ProbeGallerySplit(
        1, n_repeats=3, random_state=np.random.SeedSequence(5, spawn_key=(1,))
    ),
    be.partition.ProbeGallerySplit(enrol={"session": 1}),
    be.partition.EnrolledSplit(be.partition.ProbeGallerySplit(1), unenrolled=3, random_state=1),
    be.partition.Experiment(0.5, None, 1, 0.25, repeats=3),
    be.partition.PredefinedFolds(np.arange(48) // 4 % 3),
    be.partition.LeaveOneGroupOut("session"),
    model_selection.GroupKFold(4),
    model_selection.ShuffleSplit(3, random_state=4),
    model_selection.RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
]


@pytest.mark.slow
@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda x: type(x).__name__)
def test_the_partitions_of_a_saved_result_are_drawn_again(splitter, tmp_path):
    crowd = be.simulate(12, 4, random_state=2)
    meta = {"session": np.arange(48) % 2}
    scores = be.Scores(crowd.values, crowd.probe_labels, probe_meta=meta)
    path = tmp_path / "tree.nc"
    tree = be.repeat(scores, splitter)
    tree.to_netcdf(path, engine="h5netcdf")
    saved = xr.load_dataset(path, group="verification/single", engine="h5netcdf")
    again = be.repeat(scores, be.partition.splitter_of(saved))
    for node in tree.leaves:
        xr.testing.assert_identical(again[node.path].to_dataset(), node.to_dataset())


def test_a_splitter_that_cannot_be_made_again_is_named(doors):
    own = OwnSplitter([(range(24), range(24, 48))])
    for splitter, message in (
        (own, "OwnSplitter"),
        (model_selection.ShuffleSplit(3), "ShuffleSplit without a seed"),
    ):
        with pytest.raises(be.DataError, match=message):
            be.partition.splitter_of(be.repeat(doors, splitter))


def test_ranks_and_fusion_need_no_card_of_their_own(doors):
    halves = be.partition.SubjectShuffleSplit(4, test_size=0.5, random_state=4)
    tree = be.repeat(doors, halves, ranks=range(1, 6), fusion="mean")
    assert tree["closed_set"]["rank"].values.tolist() == [1, 2, 3, 4, 5]
    card = cards.load("course-all-vs-all")
    card = replace(
        card,
        report=replace(card.report, ranks=(1, 2, 3, 4, 5)),
        verification=replace(card.verification, fusion="mean"),
    )
    expected = be.repeat(doors, halves, card)
    for node in tree.leaves:
        for name in {*node.data_vars} & {"eer", "cms", "dir_at_far", "auc"}:
            np.testing.assert_array_equal(node[name], expected[node.path][name])
    for options, error in (
        ({"fusion": "median of"}, be.DataError),
        ({"ranks": [0]}, be.DataError),
        ({"fusion": "mean", "protocol": "market1501"}, be.ProtocolError),
    ):
        with pytest.raises(error, match=f"{[*options][0]}"):
            be.repeat(doors, halves, **options)


@pytest.mark.parametrize("name", ["sklearn.train_test_split", "sklearn.GridSearchCV", "os.system"])
def test_nothing_but_a_splitter_is_made_of_a_saved_record(name):
    result = be.repeat(
        be.simulate(12, 2, random_state=1), be.partition.SubjectShuffleSplit(3, random_state=1)
    )
    for leaf in result.leaves:
        leaf.attrs["splitter_record"] = json.dumps({name: {}})
    with pytest.raises(be.DataError, match="neither of bioeval nor of scikit-learn"):
        be.partition.splitter_of(result)

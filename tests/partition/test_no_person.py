"""Distractors and junk: never divided, in the gallery of every part, no probes of any."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from named_arguments import raises_about
from twins import in_folds

import bioeval as be
from bioeval.base.errors import BioevalWarning, DataError
from bioeval.base.random import Stream
from bioeval.partition import (
    EnrolledSplit,
    Experiment,
    PredefinedFolds,
    ProbeGallerySplit,
    RepeatedSubjectKFold,
    SampleKFold,
    SubjectKFold,
    SubjectShuffleSplit,
    TrainValidationTest,
)
from bioeval.stats.options import IntervalMethod
from bioeval.studies.folds.splits import SplitSides

QUERIES = np.repeat(np.arange(1, 21), 2)
GALLERY = np.concatenate([np.repeat(np.arange(1, 21), 3), np.zeros(60, dtype=int), [-1] * 6])
PEOPLE = GALLERY > 0
CAMERAS = np.arange(40) % 2, np.arange(126) % 3
OF_SUBJECTS = [
    SubjectKFold(5),
    RepeatedSubjectKFold(4, n_repeats=2, random_state=1),
    SubjectShuffleSplit(3, test_size=0.3, random_state=2),
]


def distances() -> np.ndarray:
    noise = np.random.default_rng(49).random((40, 126))
    return noise + 0.3 * (QUERIES[:, None] != GALLERY)


def queries_and_gallery(**options) -> be.Scores:
    meta = {
        f"{side}_meta": {"camera": x} for side, x in zip(("probe", "gallery"), CAMERAS, strict=True)
    }
    return be.Scores(distances(), QUERIES, GALLERY, **meta, **options)


def square(**options) -> be.Scores:
    who = GALLERY[30:90]  # ten people with 3 templates each, and 30 distractors among them
    who = np.random.default_rng(3).permutation(who)
    values = np.random.default_rng(4).random((60, 60))
    return be.Scores(values + values.T, who, **options)


def mean_ap(rows: np.ndarray, columns: np.ndarray) -> float:
    """The mAP of Market-1501 in a plain loop."""
    d, found = distances(), []
    for i in rows:
        listed = [
            (d[i, j], GALLERY[j] == QUERIES[i])
            for j in columns
            if GALLERY[j] != -1
            and not (GALLERY[j] == QUERIES[i] and CAMERAS[0][i] == CAMERAS[1][j])
        ]
        hits, precisions = 0, []
        for rank, (_, match) in enumerate(sorted(listed), 1):
            hits += match
            if match:
                precisions.append(hits / rank)
        if precisions:
            found.append(np.mean(precisions))
    return float(np.mean(found))


def parts_of_people(splitter) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows and columns of each test part, of the people alone divided and then all others."""
    columns = np.flatnonzero(PEOPLE)
    parts = []
    for _, test in splitter.split(y=np.concatenate([QUERIES, GALLERY[columns]])):
        own = columns[test[test >= 40] - 40]
        parts.append((test[test < 40], np.sort(np.append(own, np.flatnonzero(~PEOPLE)))))
    return parts


@pytest.mark.parametrize("splitter", OF_SUBJECTS, ids=lambda x: type(x).__name__)
def test_map_of_each_part_is_that_of_its_people_and_all_distractors(splitter):
    tree = be.repeat(queries_and_gallery(distractor_ids=[0]), splitter, "market1501")
    wanted = [mean_ap(*part) for part in parts_of_people(splitter)]
    np.testing.assert_allclose(tree["reid"]["mean_ap"], wanted, rtol=1e-12)
    subjects = [len(np.unique(QUERIES[rows])) for rows, _ in parts_of_people(splitter)]
    np.testing.assert_array_equal(tree["reid"]["subjects"], subjects)


@pytest.mark.parametrize("splitter", OF_SUBJECTS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("templates", ["single", "multi"])
def test_folds_compare_with_all_distractors(splitter, templates):
    scores = queries_and_gallery(distractor_ids=[0, -1])
    ds = in_folds(scores, splitter, templates=templates)
    genuine, impostor = [], []
    for rows, columns in parts_of_people(splitter):
        who = np.where(PEOPLE, GALLERY, -100 - np.arange(126))[columns]
        who = who if templates == "single" else np.unique(who)
        same = QUERIES[rows][:, None] == who
        genuine.append(same.sum())
        impostor.append((~same).sum())
    np.testing.assert_array_equal(ds.genuine_attempts.values.ravel(), genuine)
    np.testing.assert_array_equal(ds.impostor_attempts.values.ravel(), impostor)
    assert ds.attrs["subjects_in_both_parts"] == 0
    if templates == "single":
        tree = be.repeat(scores, splitter)
        np.testing.assert_array_equal(tree["verification/single"].impostor_attempts, impostor)


@pytest.mark.parametrize(
    "splitter",
    [
        *OF_SUBJECTS,
        SampleKFold(3, shuffle=True, random_state=0),
        PredefinedFolds(np.arange(60) % 4),
        TrainValidationTest(0.3, 0.3, random_state=0),
        ProbeGallerySplit(1, random_state=0),
        EnrolledSplit(ProbeGallerySplit(1), unenrolled=3, random_state=0),
        Experiment(0.5, gallery_templates=1, random_state=0),
        Experiment(random_state=0),
    ],
    ids=repr,
)
def test_every_part_but_its_probes_holds_all_distractors(splitter):
    scores = square(distractor_ids=[0])
    nobody, people = (np.flatnonzero((scores.probe_labels == 0) == x) for x in (True, False))
    plain = splitter
    if isinstance(splitter, PredefinedFolds):
        plain = PredefinedFolds(splitter.fold_of_sample[people])
    wanted = list(plain.split(y=scores.probe_labels[people]))
    found = list(splitter.split(scores))
    assert len(found) == len(wanted)
    for parts, others in zip(found, wanted, strict=True):
        assert type(parts) is type(others)
        for name, part, other in zip(
            getattr(parts, "_fields", ["train", "test"]), parts, others, strict=True
        ):
            extra = nobody if len(other) and "probe" not in name else []
            np.testing.assert_array_equal(part, np.union1d(people[other], extra))
    if isinstance(splitter, TrainValidationTest | ProbeGallerySplit | EnrolledSplit):
        return
    sides = SplitSides(scores)
    plan = sides.plan(splitter)
    for split in plan.splits.values():
        for part in (split.train, split.test):
            rows, columns = sides.places(part)
            assert not np.isin(rows, nobody).any()
            assert np.isin(nobody, columns).all() == (len(rows) > 0)


def test_galleries_of_an_experiment_and_of_many_partitions():
    scores = square(distractor_ids=[0])
    ds = be.cross_evaluate(
        scores, Experiment(0.5, gallery_templates=1, random_state=0), task="closed_set"
    )
    assert int(ds.genuine_attempts.values.sum()) == 10  # five people, two probes each
    galleries = ProbeGallerySplit(1, random_state=0)
    tree = be.repeat(scores, galleries)
    assert tree["verification/single"]["impostor_attempts"].item() == 20 * (9 + 30)


def test_pairs_with_a_distractor_are_in_the_part_of_the_other():
    scores = queries_and_gallery(distractor_ids=[0, -1])
    rows, columns = np.nonzero(np.ones(scores.shape, dtype=bool))
    pairs = scores.at_pairs(rows, columns)
    ds = be.cross_evaluate(pairs, SubjectKFold(5))
    assert ds.genuine_attempts.values.tolist() == [[4 * 2 * 3] * 5]
    assert ds.impostor_attempts.values.tolist() == [[4 * 2 * (3 * 3 + 66)] * 5]
    assert ds.attrs["subjects_in_both_parts"] == 0


def test_systems_are_divided_alike():
    first, other = queries_and_gallery(distractor_ids=[0]), queries_and_gallery()
    ds = be.cross_evaluate(
        {"a": first, "b": other}, SubjectKFold(2), estimator=be.SystemFusion("mean", "none")
    )
    assert ds.genuine_attempts.values.tolist() == [[60, 60]]


def test_names_of_images_and_cards_say_who_is_no_person(tmp_path):
    def names(labels, cameras):
        return [
            f"{x if x < 0 else f'{x:04}'}_c{c + 1}s1_{k}_1"
            for k, (x, c) in enumerate(zip(labels, cameras, strict=True))
        ]

    given = {"probe": names(QUERIES, CAMERAS[0]), "gallery": names(GALLERY, CAMERAS[1])}
    np.savez(tmp_path / "x.npz", scores=distances(), **given)
    columns = {"labels": "probe", "gallery_labels": "gallery"}
    read = be.load(tmp_path / "x.npz", names_of="market1501", kind="distance", columns=columns)
    assert (read.distractor_ids, read.junk_ids) == ((0,), (-1,))
    own = be.repeat(read, SubjectKFold(5), "market1501")
    stated = be.repeat(queries_and_gallery(distractor_ids=[0]), SubjectKFold(5), "market1501")
    np.testing.assert_array_equal(own["reid"]["mean_ap"], stated["reid"]["mean_ap"])


def test_plain_labels_are_divided_as_before_with_a_warning():
    plain = queries_and_gallery()
    with pytest.warns(BioevalWarning, match=r"identity 0 has 60 gallery templates.*ds=\(0,\)"):
        ds = be.cross_evaluate(plain, SubjectKFold(11))
    assert ds.sizes["fold"] == 11  # of 22 labels
    words = be.Scores(
        distances(), QUERIES.astype(str), np.where(GALLERY == 0, "x", GALLERY.astype(str))
    )
    with pytest.warns(BioevalWarning, match=r"identity 'x' .*distractor_ids=\(their number,\)"):
        be.cross_evaluate(words, SubjectKFold(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        be.cross_evaluate(plain, SampleKFold(2))
        be.repeat(queries_and_gallery(distractor_ids=[0]), SubjectKFold(2), "market1501")


def test_scores_take_distractors_as_reid_does():
    ds = be.reid(queries_and_gallery(distractor_ids=[0, 0]))
    assert ds.attrs["reading"] == "distractors: identity 0"
    assert ds.equals(be.reid(queries_and_gallery(), distractor_ids=[0]))
    x = np.eye(3)
    made = be.Scores.from_embeddings(x, [1, 0, 0], x, [1, 0, 0], distractor_ids=[0])
    assert made.select(probes=[0]).distractor_ids == (0,)
    for wrong in ("0", [0.5], 0):
        with raises_about(DataError, "distractor_ids"):
            queries_and_gallery(distractor_ids=wrong)
    with pytest.raises(DataError, match=r"all 2 templates are of distractors or junk"):
        next(SubjectKFold(2).split(be.Scores(np.eye(2), [0, 0], distractor_ids=[0])))
    with pytest.raises(DataError, match=r"all 2 templates are of distractors or junk \(0\)"):
        be.repeat(be.Scores(np.eye(2), [0, 0], distractor_ids=[0]), SubjectKFold(2))


# ------------------------------------------------------------------ nobody is resampled or counted

LIMITS = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}


def searched(probe: np.ndarray, gallery: np.ndarray, ids) -> be.Scores:
    rng = np.random.default_rng(7)
    values = rng.random((len(probe), len(gallery))) + 0.5 * (probe[:, None] != gallery)
    values += (gallery[None] <= 0) * rng.random(len(gallery))
    return be.Scores(values, probe, gallery, distractor_ids=ids)


@pytest.mark.parametrize("call", [be.verification, be.open_set, be.closed_set])
def test_limits_do_not_depend_on_how_no_person_is_labelled(call):
    """One number for all distractors, or several: they are in every replicate as they are."""
    probe = np.concatenate([np.repeat(np.arange(1, 19), 2), np.zeros(6, dtype=int)])
    gallery = np.concatenate([np.repeat(np.arange(1, 13), 2), np.full(20, -3)])
    if call is be.closed_set:
        probe = probe[:24]
    several = [np.where(x > 0, x, x - np.arange(len(x)) % 3 * 10) for x in (probe, gallery)]
    ids = [x - step for x in (0, -3) for step in (0, 10, 20)]
    one = call(searched(probe, gallery, ids), **LIMITS)
    other = call(searched(*several, ids), **LIMITS)
    plain = call(searched(probe, gallery, []), **LIMITS)
    names = [x for x in one.data_vars if x.endswith(("_low", "_high"))]
    assert names
    for name in names:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    if call is not be.closed_set:
        assert not one["far_low"].equals(plain["far_low"])


def test_queries_of_no_person_are_in_no_replicate():
    """The mean of AP by plain loops; in the card's convention as in that of the call."""
    probe = np.concatenate([np.repeat(np.arange(1, 9), 2), np.zeros(8, dtype=int)])
    gallery = np.concatenate([np.repeat(np.arange(1, 9), 3), np.zeros(5, dtype=int)])
    scores = searched(probe, gallery, [])
    given = {"convention": "identity-dedup", "per_query": True, **LIMITS}
    found = be.reid(scores, distractor_ids=[0], **given)
    ap = found["average_precision"].values
    assert np.isnan(ap[probe == 0]).all() and found["left_out"] == 8
    people = probe > 0
    options = IntervalMethod("subject-bootstrap", 0.95, 100, 0)
    means = []
    for w in Stream(options.seed, 0).resampled(8, 100).T:
        weight = w[probe[people] - 1]
        means.append(sum(k * x for k, x in zip(weight, ap[people], strict=True)) / sum(weight))
    limits = found["mean_ap_low"].item(), found["mean_ap_high"].item()
    np.testing.assert_allclose(limits, np.quantile(means, [0.025, 0.975]), rtol=1e-12)
    marked = be.reid(searched(probe, gallery, [0]), **given)
    assert marked["mean_ap_low"].equals(found["mean_ap_low"])
    assert not be.reid(scores, **given)["mean_ap_low"].equals(found["mean_ap_low"])


def test_an_open_set_threshold_is_of_the_searches_of_people():
    probe = np.concatenate([np.repeat(np.arange(1, 25), 2), np.zeros(10, dtype=int)])
    gallery = np.concatenate([np.arange(1, 13), np.zeros(8, dtype=int)])
    marked = searched(probe, gallery, [0])
    given = {
        "interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100),
        "task": "open_set",
        "folds": 3,
        "repeats": 2,
        "random_state": 0,
    }
    found = be.study_threshold(marked, "far=0.1", **given)
    people = marked.select(probes=np.flatnonzero(probe))
    assert found.equals(be.study_threshold(people, "far=0.1", **given))
    assert (found["subjects"], found["unenrolled_people"]) == (24, 12)
    assert (found["genuine_attempts"], found["impostor_attempts"]) == (24, 24)
    enrolled = marked.select(probes=np.flatnonzero(probe <= 12))
    who = np.where(enrolled.probe_labels, enrolled.probe_labels, -9)
    unmarked = be.Scores(enrolled.values, who, gallery, distractor_ids=[0, -9])
    with pytest.raises(be.ProtocolError, match="all people of these probes are enrolled"):
        be.study_threshold(unmarked, "far=0.1", **given)

"""Distractors and junk: never divided, in the gallery of every part, no probes of any."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bioeval as be
from bioeval.base.errors import BioevalWarning, DataError
from bioeval.evaluation.cross.splits import SplitSides
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
    fold_codes,
)

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
    tree = be.summaries(queries_and_gallery(distractor_ids=[0]), splitter, "market1501")
    wanted = [mean_ap(*part) for part in parts_of_people(splitter)]
    np.testing.assert_allclose(tree["reid"]["mean_ap"], wanted, rtol=1e-12)
    subjects = [len(np.unique(QUERIES[rows])) for rows, _ in parts_of_people(splitter)]
    np.testing.assert_array_equal(tree["reid"]["subjects"], subjects)


@pytest.mark.parametrize("splitter", OF_SUBJECTS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("templates", ["single", "multi"])
def test_folds_compare_with_all_distractors(splitter, templates):
    scores = queries_and_gallery(distractor_ids=[0, -1])
    ds = be.cross_evaluate(scores, splitter, templates=templates)
    genuine, impostor = [], []
    for rows, columns in parts_of_people(splitter):
        who = GALLERY[columns] if templates == "single" else np.unique(GALLERY[columns])
        same = QUERIES[rows][:, None] == who
        genuine.append(same.sum())
        impostor.append((~same).sum())
    np.testing.assert_array_equal(ds.genuine_attempts.values.ravel(), genuine)
    np.testing.assert_array_equal(ds.impostor_attempts.values.ravel(), impostor)
    assert ds.attrs["subjects_in_both_parts"] == 0
    if templates == "single":
        curves = be.repeat(scores, splitter, thresholds=5)
        np.testing.assert_array_equal(curves.impostor_attempts.values.ravel(), impostor)


@pytest.mark.parametrize(
    "splitter",
    [
        *OF_SUBJECTS,
        SampleKFold(3, shuffle=True, random_state=0),
        PredefinedFolds(np.arange(60) % 4),
        TrainValidationTest(0.3, 0.3, random_state=0),
        ProbeGallerySplit(1, random_state=0),
        EnrolledSplit(ProbeGallerySplit(1, random_state=0), unenrolled=3, random_state=0),
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
    for place in plan.places:
        for part in plan.split(*place).sides:
            rows, columns = sides.places(*part)
            assert not np.isin(rows, nobody).any()
            assert np.isin(nobody, columns).all() == (len(rows) > 0)


def test_galleries_of_an_experiment_and_of_summaries():
    scores = square(distractor_ids=[0])
    ds = be.cross_evaluate(
        scores, Experiment(0.5, gallery_templates=1, random_state=0), task="closed_set"
    )
    assert int(ds.genuine_attempts.values.sum()) == 10  # five people, two probes each
    galleries = ProbeGallerySplit(1, random_state=0)
    tree = be.summaries(scores, galleries)
    assert tree["verification/single"]["impostor_attempts"].item() == 20 * (9 + 30)
    curves = be.repeat(scores, galleries)
    assert curves.impostor_attempts.item() == 20 * (9 + 30)


def test_pairs_with_a_distractor_are_in_the_part_of_the_other():
    scores = queries_and_gallery(distractor_ids=[0, -1])
    rows, columns = np.nonzero(np.ones(scores.shape, dtype=bool))
    pairs = scores.at_pairs(rows, columns)
    ds = be.cross_evaluate(pairs, SubjectKFold(5))
    assert ds.genuine_attempts.values.tolist() == [[4 * 2 * 3] * 5]
    assert ds.impostor_attempts.values.tolist() == [[4 * 2 * (3 * 3 + 66)] * 5]
    assert ds.attrs["subjects_in_both_parts"] == 0


def test_folds_as_numbers_never_test_distractors():
    scores = square(distractor_ids=[0])
    codes = fold_codes(SubjectKFold(5), scores)
    people = scores.probe_labels != 0
    assert (codes[~people] == -1).all()
    np.testing.assert_array_equal(
        codes[people], fold_codes(SubjectKFold(5), scores.probe_labels[people])
    )


def test_systems_are_divided_alike():
    first, other = queries_and_gallery(distractor_ids=[0]), queries_and_gallery()
    ds = be.cross_evaluate(
        {"a": first, "b": other}, SubjectKFold(2), estimator=be.Fusion("mean", "none")
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
    read = be.load(
        tmp_path / "x.npz", names_of="market1501", kind="distance",
        probe_labels_key="probe", gallery_labels_key="gallery",
    )  # fmt: skip
    assert (read.distractor_ids, read.junk_ids) == ((0,), (-1,))
    own = be.summaries(read, SubjectKFold(5), "market1501")
    stated = be.summaries(queries_and_gallery(distractor_ids=[0]), SubjectKFold(5), "market1501")
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
        be.repeat(words, SubjectKFold(2), thresholds=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        be.repeat(plain, SampleKFold(2))
        be.repeat(queries_and_gallery(distractor_ids=[0]), SubjectKFold(2))


def test_scores_take_distractors_as_reid_does():
    ds = be.reid(queries_and_gallery(distractor_ids=[0, 0]))
    assert ds.attrs["reading"] == "distractors: identity 0"
    assert ds.equals(be.reid(queries_and_gallery(), distractor_ids=[0]))
    x = np.eye(3)
    made = be.Scores.from_embeddings(x, [1, 0, 0], x, [1, 0, 0], distractor_ids=[0])
    assert made.select(probes=[0]).distractor_ids == (0,)
    for wrong in ("0", [0.5], 0):
        with pytest.raises(DataError, match="distractor_ids is"):
            queries_and_gallery(distractor_ids=wrong)
    with pytest.raises(DataError, match=r"all 2 templates are of distractors or junk"):
        next(SubjectKFold(2).split(be.Scores(np.eye(2), [0, 0], distractor_ids=[0])))
    with pytest.raises(DataError, match=r"all 2 templates are of distractors or junk \(0\)"):
        be.summaries(be.Scores(np.eye(2), [0, 0], distractor_ids=[0]), SubjectKFold(2))

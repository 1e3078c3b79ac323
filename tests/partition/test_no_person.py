"""Distractors and junk: never divided, in the gallery of every part, no probes of any."""

import warnings

import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be
from bioeval.partition import (
    EnrolledSplit,
    Experiment,
    PredefinedFolds,
    ProbeGallerySplit,
    SampleKFold,
    SubjectKFold,
    SubjectShuffleSplit,
    TrainValidationTest,
)

QUERIES = np.repeat(np.arange(1, 21), 2)
GALLERY = np.concatenate([np.repeat(np.arange(1, 21), 3), np.zeros(60, dtype=int), [-1] * 6])
CAMERAS = np.arange(40) % 2, np.arange(126) % 3
OF_SUBJECTS = [
    SubjectKFold(5),
    SubjectKFold(4, n_repeats=2, shuffle=True, random_state=1),
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
    labels = GALLERY[30:90]  # ten people with 3 templates each, and 30 distractors among them
    labels = np.random.default_rng(3).permutation(labels)
    values = np.random.default_rng(4).random((60, 60))
    return be.Scores(values + values.T, labels, **options)


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
    expected = list(plain.split(y=scores.probe_labels[people]))
    splits = list(splitter.split(scores))
    assert len(splits) == len(expected)
    for parts, expected_parts in zip(splits, expected, strict=True):
        assert type(parts) is type(expected_parts)
        for name, part, expected_part in zip(
            getattr(parts, "_fields", ["train", "test"]), parts, expected_parts, strict=True
        ):
            extra = nobody if len(expected_part) and "probe" not in name else []
            np.testing.assert_array_equal(part, np.union1d(people[expected_part], extra))


def test_names_of_images_and_cards_say_who_is_no_person(tmp_path):
    def names(labels, cameras):
        return [
            f"{x if x < 0 else f'{x:04}'}_c{c + 1}s1_{k}_1"
            for k, (x, c) in enumerate(zip(labels, cameras, strict=True))
        ]

    image_names = {"probe": names(QUERIES, CAMERAS[0]), "gallery": names(GALLERY, CAMERAS[1])}
    np.savez(tmp_path / "x.npz", scores=distances(), **image_names)
    columns = {"labels": "probe", "gallery_labels": "gallery"}
    read = be.load(tmp_path / "x.npz", names_of="market1501", kind="distance", columns=columns)
    assert (read.distractor_ids, read.junk_ids) == ((0,), (-1,))
    own = be.repeat(read, SubjectKFold(5), "market1501")
    with_distractors = be.repeat(
        queries_and_gallery(distractor_ids=[0]), SubjectKFold(5), "market1501"
    )
    np.testing.assert_array_equal(own["reid"]["mean_ap"], with_distractors["reid"]["mean_ap"])


def test_plain_labels_are_divided_as_before_with_a_warning():
    plain = queries_and_gallery()
    with pytest.warns(be.BioevalWarning, match=r"identity 0 has 60 gallery templates.*ds=\(0,\)"):
        ds = be.cross_evaluate(plain, SubjectKFold(11))
    assert ds.sizes["fold"] == 11  # of 22 labels
    words = be.Scores(
        distances(), QUERIES.astype(str), np.where(GALLERY == 0, "x", GALLERY.astype(str))
    )
    with pytest.warns(be.BioevalWarning, match=r"identity 'x' .*distractor_ids=\('x',\)"):
        be.cross_evaluate(words, SubjectKFold(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "the identity")
        be.cross_evaluate(plain, SampleKFold(2))
        be.repeat(queries_and_gallery(distractor_ids=[0]), SubjectKFold(2), "market1501")
        # Six templates of -1 are not five times the three of the others, whatever the distractors.
        be.cross_evaluate(queries_and_gallery(distractor_ids=[0]), SubjectKFold(2))


def test_scores_take_distractors_as_reid_does():
    ds = be.reid(queries_and_gallery(distractor_ids=[0, 0]))
    assert ds.attrs["reading"] == "distractors: identity 0"
    assert ds.equals(be.reid(queries_and_gallery(), distractor_ids=[0]))
    embeddings = np.eye(3)
    constructed = be.Scores.from_embeddings(
        embeddings, [1, 0, 0], embeddings, [1, 0, 0], distractor_ids=[0]
    )
    assert constructed.select(probes=[0]).distractor_ids == (0,)
    for wrong in ("0", [0.5], 0):
        with raises_about(be.DataError, "distractor_ids"):
            queries_and_gallery(distractor_ids=wrong)
    with pytest.raises(be.DataError, match=r"all 2 templates are of no person"):
        next(SubjectKFold(2).split(be.Scores(np.eye(2), [0, 0], distractor_ids=[0])))
    with pytest.raises(be.DataError, match=r"all 2 templates are of no person \(0\)"):
        be.repeat(be.Scores(np.eye(2), [0, 0], distractor_ids=[0]), SubjectKFold(2))

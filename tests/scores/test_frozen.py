"""Scores do not change: what was evaluated keeps what it says."""

import copy
import pickle

import numpy as np
import pytest
from limits import streaming
from named_arguments import refused

import bioeval as be

VALUES = np.random.default_rng(0).random((4, 4))
META = {"session": [1, 2, 1, 2]}


def all_kinds() -> dict[str, be.Scores]:
    embeddings = np.random.default_rng(1).normal(size=(4, 3))
    return {
        "matrix": be.Scores(VALUES, list("aabb"), probe_meta=META, exclude=("session",)),
        "rectangle": be.Scores(VALUES, list("aabb"), list("aabc"), probe_meta=META),
        "mask": be.Scores(VALUES, mask=np.ones((4, 4), dtype=int)),
        "selection": be.Scores(VALUES, list("aabb"), probe_meta=META).select([0, 1, 3]),
        "embeddings": streaming(embeddings, list("aabb")),
        "pairs": be.Scores.from_pairs(
            [0.1, 0.4, 0.3], [1, 0, 1], pair_folds=[0, 1, 1], subjects=[[1, 1], [1, 2], [2, 2]]
        ),
        "lists": be.Scores.from_top_k([[0, 1], [1, 0]], [1, 2], [1, 2], distances=[[1, 2], [1, 2]]),
    }


KINDS = [*all_kinds()]
ARRAYS = (
    *("probe_labels", "gallery_labels", "probe_ids", "gallery_ids", "genuine", "pair_folds"),
    *("pair_ids", "pair_subjects", "indices", "distances"),
)


@pytest.mark.parametrize("of", KINDS)
def test_no_attribute_can_be_set_or_deleted(of):
    scores = all_kinds()[of]
    public = [name for name in dir(scores) if name[0] != "_"]
    for name in (*public, "_base", "no_such_name"):
        with pytest.raises(AttributeError, match=f"Scores do not change: {name} cannot be set; "):
            setattr(scores, name, 1)
        with pytest.raises(AttributeError, match="do not change"):
            delattr(scores, name)


@pytest.mark.parametrize("of", KINDS)
def test_no_array_and_no_mapping_of_scores_can_be_changed(of):
    scores = all_kinds()[of]
    for copied in (scores, copy.copy(scores), copy.deepcopy(scores), pickled(scores)):
        for name in ARRAYS:
            array = getattr(copied, name, None)
            if array is not None:
                with pytest.raises(ValueError, match="read-only"):
                    array[0] = array[1]
        for meta in (copied.probe_meta, copied.gallery_meta):
            with pytest.raises(TypeError):
                meta["short"] = [1, 2]
            for column in meta.values():
                with pytest.raises(ValueError, match="read-only"):
                    column[0] = 7


def pickled(scores):
    return pickle.loads(pickle.dumps(scores))


@pytest.mark.parametrize("of", KINDS)
def test_copies_are_the_same_scores(of):
    scores = all_kinds()[of]
    _ = scores.fingerprint, scores.layout
    for copied in (copy.copy(scores), copy.deepcopy(scores), pickled(scores)):
        assert repr(copied) == repr(scores) and copied.fingerprint == scores.fingerprint
        assert copied.layout == scores.layout and copied.exclude == scores.exclude
        assert {**copied.probe_meta}.keys() == {**scores.probe_meta}.keys()
        if of not in ("mask", "lists"):
            assert be.verification(copied, thresholds=[0.3]).identical(
                be.verification(scores, thresholds=[0.3])
            )


@pytest.mark.parametrize("of", ["matrix", "rectangle", "selection", "pairs"])
def test_scores_of_another_kind_are_counted_as_such(of):
    scores = all_kinds()[of]
    before = be.verification(scores, thresholds=[0.3])
    similar = scores.replace(kind="similarity", nan="reject", name="net")
    assert (similar.kind, similar.nan, similar.name) == ("similarity", "reject", "net")
    assert similar.fingerprint != scores.fingerprint
    results = be.verification(similar, thresholds=[0.3])
    assert results.attrs["kind"] == "similarity" and "similarity" in results.attrs["fingerprint"]
    mirrored = be.verification(scores.with_values(-scores.values, "distance"), thresholds=[-0.3])
    np.testing.assert_array_equal(results.far, mirrored.far)
    assert (scores.kind, scores.nan, scores.name) == ("distance", "raise", None)
    assert be.verification(scores, thresholds=[0.3]).identical(before)
    assert similar.replace(name="").name is None and similar.replace().name == "net"


def test_what_is_left_out_is_replaced():
    scores = all_kinds()["matrix"]
    assert scores.replace(exclude=()).exclude == ()
    assert scores.replace(kind="similarity").exclude == ("session",)
    with refused("exclude names 'nope', but the probe metadata"):
        scores.replace(exclude=("nope",))
    for layout, reason in (
        ("pairs", "excludes nothing by metadata"),
        ("lists", "leave out by camera alone"),
    ):
        with pytest.raises(be.ProtocolError, match=reason):
            all_kinds()[layout].replace(exclude=("session",))


def test_replaced_scores_fit_what_they_hold():
    with refused("similarity scores of 2 of 2 lists increase along"):
        all_kinds()["lists"].replace(kind="similarity")
    with refused("the metric 'cosine' gives distances"):
        all_kinds()["embeddings"].replace(kind="similarity")
    with refused(r"values has shape \(2, 2\); expected \(4, 4\), as"):
        all_kinds()["matrix"].with_values(VALUES[:2, :2], "distance")
    with refused(r"mask has shape \(2, 4\); expected \(4, 4\)"):
        all_kinds()["matrix"].with_mask(np.ones((2, 4), dtype=int))

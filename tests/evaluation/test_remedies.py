"""Messages of the library say what to do: each names the remedy that fits the data at hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bioeval as be

RNG = np.random.default_rng(0)
RECTANGLE = RNG.random((4, 6))
LABELS = np.repeat(np.arange(10), 3)
SCORES = be.Scores(RNG.random((30, 30)) + (LABELS[:, None] != LABELS), LABELS)


def message(call, *args, **options) -> str:
    with pytest.raises(be.DataError) as caught:
        call(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("fnmr=0.01", "frr=0.01"),
        ("fmr=0.01", "far=0.01"),
        ("gar=0.99", "frr=0.01"),
        ("tar=99%", "frr=0.01"),
        ("FRR@0.01", "frr=0.01"),
        ("frr<=0.01", "frr=0.01"),
        ("far 0.01", "far=0.01"),
        ("far:1/100", "far=1/100"),
        ("frr", "frr=0.01"),
        ("acuracy", "accuracy"),
    ],
)
def test_a_target_that_is_not_understood_gets_the_one_that_is(given, meant):
    text = message(be.study_threshold, SCORES, target=given)
    assert text.endswith(f"Did you mean '{meant}'?")
    be.at(SCORES, meant)


def test_a_rule_that_a_result_does_not_hold_gets_the_nearest_and_the_argument():
    found = be.verification(SCORES, far_targets=[0.1, 0.01, 0.001])
    text = message(be.at, found, "far=0.02")
    assert "the nearest are far=0.01 and far=0.1" in text
    assert "far_targets=[0.02]" in text
    assert "the nearest is far=0.1;" in message(be.at, found, "far=0.5")
    assert 'be.at(scores, "frr=0.01")' in message(be.at, found, "frr=0.01")
    text = message(be.workload, found, people_per_day=10, impostor_share=0.1, far_target=0.02)
    assert "the nearest are far=0.01 and far=0.1" in text
    assert "far_targets=[0.02]" in text


def test_labels_that_fit_crosswise_ask_whether_the_matrix_is_transposed():
    rows, columns = list("abab"), list("aabbab")
    assert "transposed?" in message(be.Scores, RECTANGLE, columns, rows)
    assert "transposed?" in message(
        be.Scores, RECTANGLE, rows, columns, mask=np.ones((6, 4), dtype=int)
    )
    assert "transposed?" in message(be.Scores.from_embeddings, RECTANGLE, columns)
    assert "transposed?" not in message(be.Scores, RECTANGLE, rows, rows)


@pytest.mark.parametrize("kind", ["U32", "S32", object])
def test_numbers_that_are_text_get_the_conversion(kind):
    text = RECTANGLE.astype("U32").astype(kind)
    assert "astype(float)" in message(be.Scores, text, list("abab"), list("aabbab"))
    assert "astype(float)" in message(be.Scores.from_embeddings, text, list("abab"))


def test_text_that_is_no_number_is_named_with_its_place():
    text = RECTANGLE.astype("U32")
    text[1, 2] = "n/a"
    found = message(be.Scores, text, list("abab"), list("aabbab"))
    assert "'n/a' at [1, 2]" in found
    assert "astype" not in found


def test_a_claim_of_someone_not_enrolled_names_another_who_is():
    scores = be.Scores(RNG.random((3, 2)), ["ann", "bob", "anna"], ["ann", "bob"])
    text = message(be.verification, scores, claims=["ann", "bob", "anna"])
    assert "claims 'anna'. Did you mean 'ann'?" in text
    text = message(be.verification, scores, claims=["ann", "bob", "zoe"])
    assert "Did you mean" not in text


@pytest.mark.parametrize(
    ("labels", "said"),
    [([7] * 4, "all templates are of one subject"), (range(4), "one template of each subject")],
)
def test_one_subject_or_one_template_each_is_warned_of(labels, said):
    scores = be.Scores(RNG.random((4, 4)), list(labels))
    assert said in be.verification(scores).attrs["warnings"]
    assert said in be.open_set(scores).attrs["warnings"]
    assert said in be.evaluate(scores)["verification/single"].attrs["warnings"]


def test_a_table_of_pandas_has_its_labels():
    labels = ["ann", "ann", "bob"]
    values = [[0.0, 0.2, 0.9], [0.2, 0.0, 0.8], [0.9, 0.8, 0.0]]
    table = pd.DataFrame(values, index=labels, columns=labels)
    for found in (be.Scores(table), be.load(table, kind="distance")):
        assert found.layout == "all-against-all"
        assert found.probe_labels.tolist() == labels
        np.testing.assert_array_equal(found.values, values)
    part = be.Scores(table.iloc[:2])
    assert part.layout == "probe-against-gallery"
    assert part.gallery_labels.tolist() == labels
    numbered = pd.DataFrame(values, index=[7, 7, 8], columns=[7, 7, 8])
    assert be.Scores(numbered).probe_labels.tolist() == [7, 7, 8]
    assert be.load(numbered, kind="distance").layout == "all-against-all"
    assert be.Scores(numbered, labels).probe_labels.tolist() == labels
    # The numbers that pandas gives to rows and columns are no labels.
    assert "probe_labels is missing" in message(be.Scores, pd.DataFrame(values))


def test_labels_and_metadata_are_levels_of_an_index():
    levels = pd.MultiIndex.from_arrays(
        [["ann", "ann", "bob"], [1, 2, 1]], names=["subject", "session"]
    )
    table = pd.DataFrame(RNG.random((3, 3)), index=levels, columns=levels)
    for found in (be.Scores(table), be.load(table, kind="distance")):
        assert found.layout == "all-against-all"
        assert found.probe_labels.tolist() == ["ann", "ann", "bob"]
        assert found.probe_meta["session"].tolist() == [1, 2, 1]


def test_a_list_has_columns_in_its_index():
    table = pd.DataFrame(
        {"subject_a": ["ann", "ann"], "subject_b": ["ann", "bob"], "distance": [0.1, 0.9]}
    )
    found = be.load(table.set_index(["subject_a", "subject_b"]))
    assert found.genuine.tolist() == [True, False]

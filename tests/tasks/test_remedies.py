"""Messages of the library say what to do: each names the remedy that fits the data at hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bioeval as be
from bioeval.attempts.threshold_rules import Rule

RNG = np.random.default_rng(0)
RECTANGLE = RNG.random((4, 6))
LABELS = np.repeat(np.arange(10), 3)
SCORES = be.Scores(RNG.random((30, 30)) + (LABELS[:, None] != LABELS), LABELS)


def message(call, *args, **options) -> str:
    with pytest.raises(be.DataError) as caught:
        call(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("target", "meant"),
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
def test_a_target_that_is_not_understood_gets_the_one_that_is(target, meant):
    text = message(be.study_threshold, SCORES, target=target)
    assert text.endswith(f"Did you mean '{meant}'?")
    Rule.parse(meant)


def test_a_rule_that_a_result_does_not_hold_gets_the_nearest_and_the_argument():
    result = be.verification(SCORES, far_targets=[0.1, 0.01, 0.001])
    text = message(be.workload, result, people_per_day=10, impostor_share=0.1, threshold="far=0.02")
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
    result = message(be.Scores, text, list("abab"), list("aabbab"))
    assert "'n/a' at [1, 2]" in result
    assert "astype" not in result


def test_a_claim_of_someone_not_enrolled_names_another_who_is():
    scores = be.Scores(RNG.random((3, 2)), ["ann", "bob", "anna"], ["ann", "bob"])
    text = message(be.verification, scores, claims=["ann", "bob", "anna"])
    assert "claims 'anna'. Did you mean 'ann'?" in text
    text = message(be.verification, scores, claims=["ann", "bob", "zoe"])
    assert "Did you mean" not in text


@pytest.mark.parametrize(("labels", "role"), [([7] * 4, "impostor"), (range(4), "genuine")])
def test_one_subject_or_one_template_each_is_warned_of(labels, role):
    def codes(result):
        return [x.arguments.get("role") for x in be.messages(result) if x.code == "labels-doubtful"]

    scores = be.Scores(RNG.random((4, 4)), list(labels))
    assert role in codes(be.verification(scores))
    assert role in codes(be.open_set(scores))
    assert role in codes(be.evaluate(scores)["verification/single"])


def test_a_table_of_pandas_has_its_labels():
    labels = ["ann", "ann", "bob"]
    values = [[0.0, 0.2, 0.9], [0.2, 0.0, 0.8], [0.9, 0.8, 0.0]]
    table = pd.DataFrame(values, index=labels, columns=labels)
    result = be.Scores(table)
    assert result.layout == "all-against-all"
    assert result.probe_labels.tolist() == labels
    np.testing.assert_array_equal(result.values, values)
    part = be.Scores(table.iloc[:2])
    assert part.layout == "probe-against-gallery"
    assert part.gallery_labels.tolist() == labels
    numbered = pd.DataFrame(values, index=[7, 7, 8], columns=[7, 7, 8])
    assert be.Scores(numbered).probe_labels.tolist() == [7, 7, 8]
    assert be.Scores(numbered, labels).probe_labels.tolist() == labels
    # The numbers that pandas gives to rows and columns are no labels.
    assert "labels is missing" in message(be.Scores, pd.DataFrame(values))


NAMES = {
    "s1-3": (["s1-1", "s1-3", "s2-1", "s2-2"], r"^(.+)-\d+$"),
    "lfw": (["A_B_0001.jpg", "A_B_0002.jpg", "C_0001.jpg", "C_0002.jpg"], r"^(.+)_\d+\.\w+$"),
    "voxceleb": (["id1/x/1.wav", "id1/y/2.wav", "id2/x/3.wav", "id2/z/1.wav"], "^([^/]+)/"),
    "folder": (["a/ann/1.png", "a/ann/2.png", "a/bob/1.png", "a/bob/2.png"], "/([^/]+)/[^/]+$"),
    "market": (["0002_c1s1_1", "0002_c2s1_9", "0007_c1s1_1", "0007_c2s1_9"], "([^/_]+)_[^/]*$"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.cases(1)
def test_the_pattern_of_subjects_fits_the_names_at_hand(name, tmp_path):
    names, pattern = NAMES[name]
    place = tmp_path / "x.csv"
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    rows = "\n".join(f"{a},{b},{i / 10}" for i, (a, b) in enumerate(pairs))
    place.write_text(f"probe,gallery,distance\n{rows}\n")
    assert f'subject_from="{pattern}"' in message(be.load, place)
    assert be.load(place, subject_from=pattern).genuine.sum() == 2
    assert f"such as '{pattern}'" in message(be.load, place, subject_from="(nobody)")


def test_the_pattern_agrees_with_the_pairs_that_are_genuine():
    names = [["p-1-1", "p-1-2"], ["p-1-1", "p-2-1"], ["p-2-1", "p-2-2"], ["p-2-2", "q-1-1"],
             ["q-1-1", "q-1-2"]]  # fmt: skip
    pairs = be.Scores.from_pairs([0.1, 0.7, 0.2, 0.9, 0.1], [1, 0, 1, 0, 1], templates=names)
    with pytest.raises(be.ProtocolError) as caught:
        be.by_group(pairs, group="x")
    assert r"--subject-from '^(.+)-\d+$'" in str(caught.value)


@pytest.mark.parametrize("wrong", ["galery", "galllery", "Gallry"])
def test_a_misspelt_column_gets_the_one_it_means(wrong, tmp_path):
    place = tmp_path / "x.csv"
    place.write_text(f"probe,{wrong},distance\na,b,0.1\nc,d,0.2\n")
    text = message(be.load, place)
    assert text.endswith(f"The column '{wrong}' is not known. Did you mean 'gallery'?")
    place.write_text("probe,gallery,distence\na,b,0.1\nc,d,0.2\n")
    assert "Did you mean 'distance'?" in message(be.load, place)

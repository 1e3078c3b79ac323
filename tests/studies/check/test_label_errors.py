"""Templates under a wrong label: the rule against plain loops, and against planted errors."""

from typing import Any

import naive_label_errors
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from limits import blocks_of, streaming
from result_text import as_text
from strategies import examples_of

import bioeval as be


def people(rng: np.random.Generator, labels: np.ndarray, within: float = 0.4) -> np.ndarray:
    """Return distances of templates around their people."""
    centres = rng.normal(size=(labels.max() + 1, 8))
    embeddings = centres[labels] + within * rng.normal(size=(len(labels), 8))
    return np.linalg.norm(embeddings[:, None] - embeddings[None], axis=2)


def planted(rng: np.random.Generator, labels: np.ndarray, number: int) -> tuple[np.ndarray, set]:
    """Return labels with some wrong labels, and the places of wrong labels."""
    wrong = rng.choice(len(labels), number, replace=False)
    labels_given = labels.copy()
    labels_given[wrong] = (labels_given[wrong] + rng.integers(1, labels.max() + 1, number)) % (
        labels.max() + 1
    )
    return labels_given, set(wrong.tolist())


def case(seed: int, layout: str, kind: str, form: str) -> dict[str, Any]:
    """Return scores with a few wrong labels, of one to several templates a person."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(8), rng.integers(1, 6, 8)))
    values = people(rng, labels, rng.choice([0.1, 0.3, 0.6]))
    labels, _ = planted(rng, labels, int(rng.integers(0, 5)))
    names = np.array([f"p{x}" for x in labels], dtype=object)
    if form == "whole numbers":
        values = np.rint(3 * values).astype(np.int16)
    elif form == "failed":
        values[rng.random(values.shape) < 0.1] = np.nan
        values[rng.random(values.shape) < 0.1] = np.inf
    elif form == "one-way":
        values += 0.3 * rng.random(values.shape)
    elif form == "negative":
        values -= 2
    naive_case: dict[str, Any] = {"values": values, "probe_labels": names, "gallery_labels": None}
    if layout == "probe-against-gallery":
        naive_case |= {"values": values[::2, 1::2], "probe_labels": names[::2],
                  "gallery_labels": names[1::2]}  # fmt: skip
    mask = None
    if form == "masked":
        probe_labels, gallery = naive_case["probe_labels"], naive_case["gallery_labels"]
        mask = np.where(
            probe_labels[:, None] == (probe_labels if gallery is None else gallery), 2, 1
        )
        mask[rng.random(mask.shape) < 0.2] = 0
    sign = 1 if kind == "distance" else -1
    naive_case["values"] = sign * naive_case["values"]
    return {**naive_case, "mask": mask, "kind": kind, "nan": "exclude"}


@settings(max_examples=examples_of(100))
@given(
    layout=st.sampled_from(["all-against-all", "probe-against-gallery"]),
    kind=st.sampled_from(["distance", "similarity", "llr"]),
    seed=st.integers(0, 2**32 - 1),
    form=st.sampled_from(["plain", "whole numbers", "failed", "one-way", "negative", "masked"]),
)
def test_against_the_definition(layout, kind, seed, form):
    naive_case = case(seed, layout, kind, form)
    arguments = {**naive_case, "labels": naive_case["probe_labels"]}
    del arguments["probe_labels"]
    scores = be.Scores(**arguments)
    if seed % 2:  # several blocks, and no column kept
        with blocks_of(3 * scores.shape[1]) as patch:
            patch.setattr("bioeval.studies.check.wrong_labels._KEPT_VALUES", 1)
            check = be.check_data(scores, worst=100)
    else:
        check = be.check_data(scores, worst=100)
    expected_errors = naive_label_errors.on_both_sides(**naive_case)
    errors = check.label_errors
    errors_found = {(error.side, error.template.place, error.nearest_label) for error in errors}
    # Templates of a person with two names are no errors of labels.
    assert errors_found <= expected_errors
    assert check["two-names"].count or errors_found == expected_errors
    finding = check["label-errors"]
    assert finding.count == len(errors)
    assert finding.severity == ("warning" if errors else "ok")
    for error in errors:
        compare_with_loops(naive_case, error)


def compare_with_loops(given: dict[str, Any], x: Any) -> None:
    """Compare the report about a suspect with loops over its row, or its column."""
    values, rows, columns = given["values"], given["probe_labels"], given["gallery_labels"]
    mask = given["mask"]
    if columns is None:
        columns = rows
    turned = values.T, columns, rows, None if mask is None else mask.T
    as_row = told_by_loops(x, values, rows, columns, mask, given["kind"])
    as_column = told_by_loops(x, *turned, given["kind"])
    assert {"both": as_row or as_column, "probe": as_row, "gallery": as_column}[x.side]


def told_by_loops(x: Any, values: Any, rows: Any, columns: Any, mask: Any, kind: str) -> bool:
    """Whether a row of the scores agrees with the report about its template."""
    i = x.template.place
    sign = 1 if kind == "distance" else -1
    own, distances_to_others = [], []
    if i >= len(rows) or x.nearest.place >= len(columns) or x.template.subject != rows[i]:
        return False
    for j, label in enumerate(columns):
        usable = mask is None or mask[i, j] != 0
        if not usable or (x.side == "both" and i == j) or np.isnan(values[i, j]):
            continue
        if label == x.nearest_label:
            distances_to_others.append(sign * float(values[i, j]))
        elif label == rows[i]:
            own.append(sign * float(values[i, j]))
    if columns[x.nearest.place] != x.nearest_label or not distances_to_others:
        return False
    right = sign * values[i, x.nearest.place] == min(distances_to_others)
    for score, distances in ((x.own_score, own), (x.nearest_score, distances_to_others)):
        finite = sorted(d for d in distances if np.isfinite(d))
        if not finite:  # on this side nothing can be said of the template
            return False
        right &= sign * score == finite[(len(finite) - 1) // 2]
    return bool(right)


@pytest.mark.parametrize("enrolled", [1, 2, 3])
@pytest.mark.parametrize("side", ["probe", "gallery"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_three_exchanged_labels_of_180_people(side, enrolled, kind):
    rng = np.random.default_rng(enrolled)
    centres = rng.normal(size=(180, 12))
    subjects = {
        "gallery": np.repeat(np.arange(180), enrolled),
        "probe": np.repeat(np.arange(180), 4),
    }
    embeddings = {
        name: centres[p] + 0.25 * rng.normal(size=(len(p), 12)) for name, p in subjects.items()
    }
    values = np.linalg.norm(embeddings["probe"][:, None] - embeddings["gallery"][None], axis=2)
    labels_given = {name: people.copy() for name, people in subjects.items()}
    wrong = {}
    people = rng.choice(180, 6, replace=False).tolist()
    for i in range(3):
        place = int(np.flatnonzero(subjects[side] == people[i])[0])
        labels_given[side][place] = people[3 + i]
        wrong[place] = people[i]
    values = values if kind == "distance" else 20 - values
    files = {"file": [f"{i}.png" for i in range(len(labels_given[side]))]}
    scores = be.Scores(values, labels_given["probe"], labels_given["gallery"], kind=kind,
                       **{f"{side}_meta": files})  # fmt: skip
    check = be.check_data(scores, threshold=None)
    nearest_labels = {(x.side, x.template.place): x.nearest_label for x in check.label_errors}
    assert nearest_labels == {(side, place): person for place, person in wrong.items()}
    for error in check.label_errors:
        assert error.template.names == {"file": f"{error.template.place}.png"}
    assert check["label-errors"].severity == "warning"


def test_silence_where_nothing_can_be_told():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(50), 5)
    values = people(rng, labels)
    shuffled = be.check_data(be.Scores(values, rng.permutation(labels)))["label-errors"]
    assert (shuffled.severity, shuffled.count) == ("ok", 0)
    turned = be.check_data(be.Scores(values, labels, kind="similarity"))["label-errors"]
    assert turned.severity == "ok"
    of_single_templates = be.check_data(be.Scores(values[::5, ::5], labels[::5]))["label-errors"]
    assert of_single_templates.severity == "ok"
    constant = be.check_data(be.Scores(np.ones((250, 250)), labels))["label-errors"]
    assert constant.severity == "ok"
    genuine = np.arange(400) < 100
    check_of_list = be.check_data(be.Scores.from_pairs(rng.random(400), genuine))
    assert "label-errors" not in {x.check for x in check_of_list}


def test_streamed_embeddings_and_files(tmp_path):
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(30), 5)
    embeddings = rng.normal(size=(30, 8))[labels] + 0.3 * rng.normal(size=(150, 8))
    labels_given, wrong = planted(rng, labels, 3)
    streamed = streaming(embeddings, labels_given, metric="l2")
    assert streamed.streams
    result = [x.template.place for x in be.check_data(streamed).label_errors]
    assert set(result) >= wrong
    rows_text = ", ".join(map(str, sorted(result)))
    assert be.check_data(streamed)["label-errors"].where == f"rows {rows_text}"
    in_memory = be.Scores.from_embeddings(embeddings, labels_given, metric="l2")
    be.save(in_memory, tmp_path / "s.npz")
    assert be.check_data(be.load(tmp_path / "s.npz"))["label-errors"].where == f"rows {rows_text}"


def test_a_failed_capture_is_no_wrong_label():
    """Of similarities, ten probes match nobody, and three have the label of another person."""
    rng = np.random.default_rng(5)
    subject, enrolled = np.repeat(np.arange(60), 5), np.arange(60)
    values = rng.normal(30, 5, (300, 60))
    values[np.arange(300), subject] = rng.normal(70, 4, 300)
    failed_templates = rng.choice(300, 10, replace=False)
    values[failed_templates] = rng.normal(30, 5, (10, 60))
    mislabelled = rng.choice(np.setdiff1d(np.arange(300), failed_templates), 3, replace=False)
    labels_given = subject.copy()
    labels_given[mislabelled] = (subject[mislabelled] + 7) % 60
    check = be.check_data(be.Scores(values, labels_given, enrolled, kind="similarity"), worst=100)
    assert {x.template.place for x in check.label_errors} == set(mislabelled.tolist())
    captures = check["failed-captures"]
    assert captures.severity == "warning" and 0 < captures.count <= 10
    assert "failed captures or wrong labels" in captures.message
    stated_templates = {
        int(word.strip(",")) for word in captures.where.split() if word.strip(",").isdigit()
    }
    assert len(stated_templates) == captures.count
    assert stated_templates <= set(failed_templates.tolist())


def test_probes_are_not_called_wrong_for_the_labels_of_the_gallery():
    """Three templates of the first person are exchanged with the second, who has two fewer."""
    rng = np.random.default_rng(0)
    probes = np.repeat(np.arange(20), 2)
    enrolled = np.concatenate([np.repeat([0, 1], [5, 3]), np.repeat(np.arange(2, 20), 2)])
    labels = np.concatenate([[0, 0, 1, 1, 1, 0, 0, 0], enrolled[8:]])
    values = people(rng, np.concatenate([probes, enrolled]), within=0.1)[:40, 40:]
    naive_case: dict[str, Any] = {
        "values": values, "probe_labels": probes, "gallery_labels": labels,
        "mask": None, "kind": "distance", "nan": "exclude",
    }  # fmt: skip
    check = be.check_data(be.Scores(values, probes, labels))
    errors_found = {(x.side, x.template.place, x.nearest_label) for x in check.label_errors}
    assert errors_found == naive_label_errors.on_both_sides(**naive_case)
    assert ("probe", 0, 1) not in errors_found and ("gallery", 5, 1) in errors_found
    lines = [{*line.split()} for line in as_text(check).splitlines()]
    assert any({"gallery", "5"} <= words for words in lines)

"""An array or a column with the name of a role is used, or an error says what to do with it."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd
import pytest
from array_files import write

import bioeval as be
from bioeval.cli import main

RNG = np.random.default_rng(5)
WHO = np.repeat(np.arange(10), 3)
OTHER = np.random.default_rng(1).permutation(WHO)
X = RNG.normal(size=(10, 5))[WHO] + 0.6 * RNG.normal(size=(30, 5))
D = np.linalg.norm(X[:, None] - X, axis=-1)
SAME = (WHO[:, None] == WHO).astype(np.uint8)
PAIRS = 80
GENUINE = np.arange(PAIRS) % 2
SUBJECTS = np.c_[np.arange(PAIRS) // 4, np.arange(PAIRS) // 4 + 1 - GENUINE]
DISTANCE = RNG.normal(size=PAIRS) - GENUINE
TOP = np.argsort(D, axis=1)[:, :5]

MATRIX = {"scores": D, "labels": WHO}
LIST = {"scores": DISTANCE, "genuine": GENUINE}
LISTS = {"indices": TOP, "probe_labels": WHO, "gallery_labels": WHO}
EMBEDDINGS = {"embeddings": X, "labels": WHO}

# A file, and arrays beside its own that say something else, or nothing that it reads.
UNUSED = [
    (MATRIX, {"genuine": SAME}),
    (MATRIX, {"subject_a": WHO}),
    (MATRIX, {"subjects": SUBJECTS}),
    (MATRIX, {"templates": SUBJECTS}),
    (MATRIX, {"distances": D}),
    (MATRIX, {"query_positions": np.arange(30)}),
    (LIST, {"labels": SUBJECTS[:, 0]}),
    (LIST, {"probe_labels": SUBJECTS[:, 0]}),
    (LIST, {"mask": GENUINE}),
    (LIST, {"indices": TOP}),
    (LIST, {"gallery_embeddings": X}),
    (LIST, {"template_names": np.array([f"t{i}" for i in range(PAIRS)])}),
    (LIST, {"probe_ids": SUBJECTS[:, 1], "gallery_ids": SUBJECTS[:, 0]}),
    (LISTS, {"genuine": SAME}),
    (LISTS, {"mask": SAME}),
    (LISTS, {"subjects": SUBJECTS}),
    (EMBEDDINGS, {"genuine": SAME}),
    (EMBEDDINGS, {"gallery_labels": OTHER}),
    (EMBEDDINGS, {"probe_embeddings": X}),
    (EMBEDDINGS, {"subject_b": WHO}),
]
# Two arrays of which each states the same.
DOUBLE = [
    (MATRIX, {"probe_labels": OTHER}),
    (MATRIX, {"query_labels": OTHER}),
    (EMBEDDINGS, {"probe_labels": OTHER}),
    (EMBEDDINGS, {"query_f": -X}),
    (LISTS, {"labels": OTHER}),
    ({**LIST, "subjects": SUBJECTS}, {"subject_a": SUBJECTS[:, 1], "subject_b": SUBJECTS[:, 0]}),
    (
        {**LIST, "subject_a": SUBJECTS[:, 0], "subject_b": SUBJECTS[:, 1]},
        {"claimed_id": SUBJECTS[:, 1]},
    ),
    ({**LISTS, "distances": np.sort(D)[:, :5]}, {"similarities": -np.sort(D)[:, :5]}),
]


def written(folder, form, arrays):
    if form == "mat":  # entries are numbered from 1
        from_one = {x: arrays[x] + 1 for x in ("indices", "query_positions") if x in arrays}
        arrays = arrays | from_one
    return write(folder / f"x{len([*folder.iterdir()])}.{form}", arrays)


def same(scores, other):
    assert scores.layout == other.layout and scores.shape == other.shape
    labels = "probe_labels" if scores.layout != "pairs" else "genuine"
    assert np.array_equal(getattr(scores, labels), getattr(other, labels))


@pytest.mark.parametrize("form", ["npz", "mat", "h5"])
@pytest.mark.parametrize(("arrays", "more"), UNUSED + DOUBLE)
def test_an_array_that_is_not_read_or_states_the_same_is_asked_about(tmp_path, form, arrays, more):
    path = written(tmp_path, form, arrays | more)
    problem = "the array .* is not read|.* could each be the array of"
    with pytest.raises(be.DataError, match=rf"{path.name}: ({problem})") as e:
        be.load(path)
    assert any(f'`columns={{"{name}": None}}`' in str(e.value) for name in more)
    same(be.load(path, columns=dict.fromkeys(more)), be.load(written(tmp_path, form, arrays)))


def test_two_equal_arrays_of_one_role_are_one_also_where_a_label_is_missing(tmp_path):
    enrolled, probe = SUBJECTS.astype(float).T
    enrolled[:3] = np.nan
    arrays = {**LIST, "genuine": enrolled == probe, "subject_a": enrolled, "subject_b": probe}
    twice = written(tmp_path, "npz", arrays | {"subject_1": enrolled.copy()})
    same(be.load(twice), be.load(written(tmp_path, "npz", arrays)))


@pytest.mark.parametrize("form", ["npz", "mat", "h5"])
@pytest.mark.parametrize(
    ("arrays", "values"),
    [
        (MATRIX, SAME),
        (MATRIX, 1 - D),
        (EMBEDDINGS, SAME),
        (LISTS, TOP),
        (LIST, np.c_[SUBJECTS, GENUINE]),
    ],
)
def test_a_value_for_each_comparison_under_an_unknown_name_is_asked_about(
    tmp_path, form, arrays, values
):
    path = written(tmp_path, form, arrays | {"target": values})
    with pytest.raises(be.DataError, match=rf"{path.name}: the array 'target', .* each comp") as e:
        be.load(path)
    assert '`columns={"target": None}`' in str(e.value) and "scores, genuine, labels" in str(
        e.value
    )
    same(be.load(path, columns={"target": None}), be.load(written(tmp_path, form, arrays)))


def test_an_array_that_is_stated_as_metadata_states_no_labels(tmp_path):
    numbers = np.arange(30) + 100
    two_sides = {"distmat": D, "query_label": WHO, "gallery_label": WHO}
    path = written(tmp_path, "npz", two_sides | {"query_id": numbers, "gallery_id": numbers + 30})
    image = {"probe_image": "query_id", "gallery_image": "gallery_id"}
    scores = be.load(path, columns=image)
    same(scores, be.load(written(tmp_path, "npz", two_sides)))
    assert scores.probe_meta["image"].tolist() == numbers.tolist()
    # Equal arrays state the same; a list under the name of a matrix is metadata, too.
    path = written(tmp_path, "npz", MATRIX | {"probe_labels": WHO, "dist": OTHER})
    scores = be.load(path)
    same(scores, be.load(written(tmp_path, "npz", MATRIX)))
    assert scores.probe_meta["dist"].tolist() == OTHER.tolist()


def test_classes_of_cells_are_a_mask(tmp_path):
    """What the error of `genuine` says: the answer is the right number, by loops."""
    cells = np.where(WHO[:, None] == WHO, 2, 1)
    cells[RNG.random((30, 30)) < 0.2] = 0
    np.fill_diagonal(cells, 0)
    path = written(tmp_path, "npz", {"scores": D, "mask": cells.astype(np.uint8)})
    genuine = sum(int(cells[i, j] == 2) for i in range(30) for j in range(30))
    assert int(be.verification(be.load(path)).genuine_attempts) == genuine
    both = written(tmp_path, "npz", MATRIX | {"genuine": SAME})
    with pytest.raises(be.DataError, match=r"a `mask` of 0 \(ignore\), 1 \(impostor\) and 2"):
        be.load(both)
    target = written(tmp_path, "npz", MATRIX | {"target": 1 + SAME})
    with pytest.raises(be.DataError, match=r"""`columns=\{"mask": "target"\}`"""):
        be.load(target)
    assert np.array_equal(be.load(target, columns={"mask": "target"}).mask, 1 + SAME)


NAMES = [f"t{i:03d}" for i in range(PAIRS)]
TABLE = {"distance": DISTANCE, "genuine": GENUINE}
COLUMNS = [
    {"subject_a": SUBJECTS[:, 0]},
    {"template_b": NAMES},
    {"probe": NAMES},
    {"mask": GENUINE},
    {"labels": GENUINE},
    {"probe_labels": SUBJECTS[:, 0], "gallery_labels": SUBJECTS[:, 1]},
    {"subjects": SUBJECTS[:, 0]},
    {"subject_a": SUBJECTS[:, 0], "subject_b": SUBJECTS[:, 1], "subject_1": SUBJECTS[:, 1]},
]


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
@pytest.mark.parametrize("more", COLUMNS)
def test_a_column_of_a_list_that_is_not_read_is_asked_about(tmp_path, form, more):
    table = pd.DataFrame(TABLE | more)
    source = table if form == "frame" else tmp_path / f"x.{form}"
    if form == "csv":
        table.to_csv(source, index=False)
    elif form == "parquet":
        table.to_parquet(source)
    answer = r"one side|could each be|is not read"
    with pytest.raises(be.DataError, match=answer) as e:
        be.load(source)
    assert ": None}`" in str(e.value)
    read = be.load(source, columns=dict.fromkeys(more))
    assert np.array_equal(read.genuine, GENUINE == 1) and read.pair_subjects is None


def test_a_column_of_one_value_names_no_side(tmp_path):
    table = pd.DataFrame(TABLE | {"model": "resnet"})
    assert be.load(table).shape == (PAIRS,)


@pytest.mark.parametrize("arrays", [MATRIX | {"genuine": SAME}, MATRIX | {"probe_labels": OTHER}])
def test_the_command_says_its_option(tmp_path, capsys, arrays):
    path = written(tmp_path, "npz", arrays)
    assert main(["run", str(path)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    option = next(x for x in shlex.split(said.split("--columns ")[1]) if x.endswith("=None"))
    assert main(["run", str(path), "--columns", option]) == 0
    assert "is not read" not in capsys.readouterr().err


@pytest.mark.parametrize("word", [("bonafide", "spoof"), ("genuine", "impostor")])
@pytest.mark.parametrize("options", [{}, {"format": "asvspoof"}, {"columns": {"scores": "3"}}])
def test_a_name_a_word_and_a_score_are_no_damaged_file(tmp_path, word, options):
    lines = [f"utt{i} {word[i % 2]} {i / 7:.3f}" for i in range(20)]
    (tmp_path / "x.txt").write_text("\n".join(lines))
    if word[0] == "genuine" and "format" in options:
        scores = be.load(tmp_path / "x.txt", kind="similarity", **options)
        assert scores.genuine.tolist() == [i % 2 == 0 for i in range(20)]
        return
    with pytest.raises(be.DataError, match=r"x\.txt: .*(genuine|names no columns)") as e:
        be.load(tmp_path / "x.txt", kind="similarity", **options)
    assert "damaged" not in str(e.value)

"""The first line of a text: names or numbers of columns, as pandas writes them, or data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bioeval as be

SAME = [1, 0, 1, 0, 0]
SCORES = [0.1, 1.0, 0.3, np.nan, 2.5]
LIST = pd.DataFrame({0: SAME, 1: SCORES})
HOW = {"kind": "distance", "nan": "exclude"}


def written(folder, frame, **how):
    """Write a frame as pandas does, and return its path."""
    frame.to_csv(folder / "x.csv", **how)
    return folder / "x.csv"


def holds(pairs):
    """Require the attempts of `LIST`, and none of its header."""
    assert pairs.genuine.tolist() == [*map(bool, SAME)]
    np.testing.assert_array_equal(pairs.values, SCORES)


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_numbers_of_columns_are_asked_about(tmp_path, mark):
    """In a list, in either order of its columns, in scores alone, in trials and in a matrix."""
    for frame, first in ((LIST, "0.+1"), (LIST[[1, 0]], "1.+0")):
        path = written(tmp_path, frame, index=False, sep=mark)
        with pytest.raises(be.DataError, match=rf"line 1: '{first}' .*`to_csv\(header=False\)`"):
            be.load(path, **HOW)
        frame.dropna().to_csv(path, index=False, sep=mark, header=False)
        assert be.load(path, kind="distance").values.tolist() == [0.1, 1, 0.3, 2.5]
    columns = {"scores": 2, "genuine": 1}
    with pytest.raises(be.DataError, match="1, 2 of `columns` may be numbers of columns, or their"):
        be.load(written(tmp_path, LIST.set_axis([1, 2], axis=1), index=False), columns=columns)
    trials = tmp_path / "trials.txt"
    trials.write_text("1 0 2\n0 3 4\n1 5 6\n")
    path.write_text("0 2 0.5\n3 4 0.7\n5 6 0.1\n")
    with pytest.raises(be.DataError, match="trials.txt: line 1: '1 0 2'"):
        be.load(path, trials=trials, kind="distance", format="voxceleb")


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_a_blank_cell_before_the_numbers_makes_them_a_header(tmp_path, mark):
    holds(be.load(written(tmp_path, LIST, sep=mark), **HOW))
    holds(be.load(written(tmp_path, LIST.set_axis([7, 3, 9, 1, 0]), sep=mark), **HOW))
    holds(be.load(written(tmp_path, LIST[[1, 0]], sep=mark), **HOW))


def test_lines_that_all_number_columns_are_data(tmp_path):
    (tmp_path / "x.txt").write_text("0\n0\n0\n")
    (tmp_path / "y.txt").write_text("0\n0\n")
    pairs = be.load([tmp_path / "x.txt", tmp_path / "y.txt"], kind="distance")
    assert pairs.genuine.tolist() == [True, True, True, False, False]
    (tmp_path / "x.txt").write_text("0.0 1\n1 0.5\n1 0\n0 1\n")  # pandas writes no point
    assert be.load(tmp_path / "x.txt", kind="distance").values.tolist() == [1, 0.5, 0, 1]


def test_two_files_of_scores(tmp_path):
    places = [tmp_path / "genuine.txt", tmp_path / "impostor.txt"]
    for place, scores in zip(places, ([0.1, 0.2], [0.9, 1, 0.3]), strict=True):
        pd.DataFrame(scores).to_csv(place)
    assert be.load(places, kind="distance").values.tolist() == [0.1, 0.2, 0.9, 1, 0.3]
    pd.DataFrame([0.1, 0.2]).to_csv(places[0], index=False)
    with pytest.raises(be.DataError, match="genuine.txt: line 1: '0' .*header=False"):
        be.load(places, kind="distance")


WHO = ["ann", "ann", "bob", "bob"]
MATRIX = np.array([[0, 0.5, 2, 3.5], [0.5, 0, 1, 4], [2, 1, 0, 0.25], [3.5, 4, 0.25, 0]])


@pytest.mark.parametrize(("index", "header"), [(True, True), (False, True), (False, False)])
def test_a_matrix_of_numbers(tmp_path, index, header):
    (tmp_path / "who.csv").write_text("label\n" + "\n".join(WHO))
    blank = np.where(np.eye(4), np.nan, MATRIX)  # pandas writes nothing for NaN
    path = written(tmp_path, pd.DataFrame(blank), index=index, header=header)
    if header and not index:
        with pytest.raises(be.DataError, match="'0,1,2,3' may number the columns"):
            be.load(path, labels=tmp_path / "who.csv", kind="distance")
        return
    loaded = be.load(path, labels=tmp_path / "who.csv", kind="distance")
    np.testing.assert_array_equal(loaded.values, blank)
    truth = be.verification(be.Scores(MATRIX, WHO))
    assert be.verification(loaded).eer == truth.eer
    assert be.verification(loaded).genuine_attempts == truth.genuine_attempts == 4


@pytest.mark.parametrize("columns", [[0, 1, 2, 3], [2, 0, 3, 1]])
def test_numbers_of_a_matrix_join_its_rows_its_columns_and_its_labels(tmp_path, columns):
    order = [1, 3, 0, 2]
    pd.DataFrame({"label": WHO}).to_csv(tmp_path / "who.csv")
    path = written(tmp_path, pd.DataFrame(MATRIX).iloc[order, columns])
    scores = be.load(path, labels=tmp_path / "who.csv", kind="distance")
    np.testing.assert_array_equal(scores.values, np.array(MATRIX)[np.ix_(order, order)])
    assert scores.layout == "all-against-all"
    (tmp_path / "who.csv").write_text("label\n" + "\n".join(WHO))
    scores = be.load(path, labels=tmp_path / "who.csv", kind="distance")
    assert "taken-in-order" in {x.code for x in be.messages(be.verification(scores))}


@pytest.mark.parametrize("label", [None, "probe"])
def test_an_empty_corner(tmp_path, label):
    values = np.array([[0.5, 0.75], [1.25, 0.25], [2, np.nan]])
    table = pd.DataFrame(values, index=["a_1", "b_1", "b_2"], columns=["a_3", "b_3"])
    path = written(tmp_path, table, index_label=label)
    loaded = be.load(path, kind="distance", nan="exclude", subject_from="(.)_")
    np.testing.assert_array_equal(loaded.values, values)
    assert loaded.layout == "probe-against-gallery"
    assert loaded.probe_labels.tolist() == ["a", "b", "b"]
    assert loaded.gallery_labels.tolist() == ["a", "b"]

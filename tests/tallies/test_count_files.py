"""Files of counts: what is written is read again, and nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bioeval as be
from bioeval.tallies import kind_of_counts, read_counts, write_counts
from bioeval.tallies.parts import ConcatenatedRows, Extent

CLASSES = {"ConcatenatedRows": ConcatenatedRows, "Extent": Extent}


def test_contents_are_read_as_they_were_written(tmp_path):
    contents = {
        "plain": {"text": "a", "number": 0.1, "none": None, "holds": True, "list": [1, [2.5]]},
        "dots": {"a.b": np.arange(2), "a": {"b": np.arange(3.0)}},
        "rows": ConcatenatedRows.of(np.float32([[1, 2]]), np.array(["x", "yz"])),
        "extent": Extent(-math.inf, 2.0),
        "sets": (frozenset({"b", "a"}), frozenset()),
        "empty": {},
    }
    path = tmp_path / "x.counts"
    write_counts(path, "examples", contents, CLASSES)
    assert [x.name for x in tmp_path.iterdir()] == ["x.counts"]
    assert kind_of_counts(path, "examples") == "examples"
    file = read_counts(path, "examples", "an example", CLASSES)
    assert file.damage() == ""
    result = file.contents
    for name in ("plain", "extent", "sets", "empty"):
        assert result[name] == contents[name]
    np.testing.assert_array_equal(result["dots"]["a.b"], [0, 1])
    np.testing.assert_array_equal(result["dots"]["a"]["b"], [0.0, 1.0, 2.0])
    for one, other in zip(result["rows"].arrays, contents["rows"].arrays, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_arrays_have_the_names_of_their_fields(tmp_path):
    path = tmp_path / "x.npz"
    write_counts(path, "examples", {"rows": ConcatenatedRows.of(np.arange(4))}, CLASSES)
    with np.load(path, allow_pickle=False) as file:
        assert file.files == ["header", "rows.arrays.0"]
        np.testing.assert_array_equal(file["rows.arrays.0"], np.arange(4))


def test_files_of_other_kinds_are_named(tmp_path):
    path = tmp_path / "x.npz"
    write_counts(path, "examples", {}, {})
    with pytest.raises(be.DataError, match="is a file of examples; expected a saved tally"):
        be.Tally.load(path)
    np.savez(path, scores=np.zeros((2, 3)))
    expected = r"holds no counts, but scores \(2, 3\) float64; expected a saved tally"
    with pytest.raises(be.DataError, match=expected):
        be.Tally.load(path)


def test_classes_that_no_reader_knows_are_not_written(tmp_path):
    with pytest.raises(TypeError, match=r"x\.0 of counts is a Extent"):
        write_counts(tmp_path / "x", "examples", {"x": (Extent(),)}, {})
    assert not [*tmp_path.iterdir()]

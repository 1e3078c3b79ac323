"""Stores and tables: HDF5, Parquet, and every format in which lists are written."""

import inspect
import re
import sys
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from named_arguments import refused
from optional import optional_import

import bioeval as be
from bioeval.cli import main
from bioeval.scores.formats import lists as of_parquet

RNG = np.random.default_rng(5)
SQUARE = be.Scores(
    RNG.random((6, 6)), list("aabbcä"), kind="similarity", probe_meta={"day": [1, 2, 1, 2, 1, 2]}
)
TABLE = {
    "similarity": [0.5, -1.0, 2.0],
    "genuine": [True, False, False],
    "subject_a": ["a", "a", "c"],
    "subject_b": ["a", "b", "a"],
}


# ------------------------------------------------------------------------- lists that are written

WRITTEN = [".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz", ".npz"]
ROWS = st.lists(st.tuples(st.floats(-1e6, 1e6, width=32), st.booleans()), min_size=1, max_size=20)


@pytest.mark.parametrize("suffix", WRITTEN)
def test_a_list_is_read_back_as_it_was_written(tmp_path, suffix):
    if suffix == ".parquet":
        optional_import("pyarrow")
    path = tmp_path / f"x{suffix}"

    @given(ROWS, st.sampled_from(["distance", "similarity"]), st.booleans(), st.booleans())
    def holds(pairs, kind, subjects, names):
        values, same = (list(column) for column in zip(*pairs, strict=True))
        subject_names = [["ann", "ann" if x else f"é {i}"] for i, x in enumerate(same)]
        options = {"subjects": subject_names} if subjects else {}
        options |= {"pair_templates": [["e", f"p{i}"] for i in range(len(same))]} if names else {}
        scores = be.Scores.from_pairs(values, same, kind=kind, **options)
        path.unlink(missing_ok=True)
        be.save(scores, path)
        loaded = be.load(path)
        np.testing.assert_array_equal(loaded.values, scores.values)
        assert loaded.genuine.tolist() == same and loaded.kind == kind
        np.testing.assert_array_equal(loaded.pair_subjects, scores.pair_subjects)
        np.testing.assert_array_equal(loaded.pair_templates, scores.pair_templates)

    holds()


def test_the_options_and_the_formats_of_convert_are_those_of_load_and_save(capsys):
    assert main(["convert", "--help-all"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    with refused("expected one of ") as caught:
        be.save(SQUARE, "x.doc")
    for ending in (".npz", ".parquet", ".csv"):
        assert ending in str(caught.value) and f"{ending} (" in text
    options = {name.replace("_", "-") for name in inspect.signature(be.load).parameters}
    missing = {name for name in options if f"--{name}" not in text}
    assert missing == {"path"}


# ------------------------------------------------------------------------- Parquet


def test_parquet(tmp_path):
    arrow, parquet = optional_import("pyarrow"), optional_import("pyarrow.parquet")
    path = tmp_path / "x.parquet"

    def load(table, **options):
        parquet.write_table(arrow.table(table), path)
        return be.load(path, **options)

    loaded = load(TABLE)
    assert (loaded.values.tolist(), loaded.kind) == ([0.5, -1, 2], "similarity")
    assert loaded.genuine.tolist() == TABLE["genuine"]
    assert loaded.pair_subjects.tolist() == [["a", "a"], ["a", "b"], ["c", "a"]]
    loaded = load({"probe": ["a", "c"], "a": [0.0, 1.0], "b": [2.0, 3.0]}, kind="distance")
    assert loaded.values.tolist() == [[0, 2], [1, 3]] and loaded.gallery_labels.tolist() == [
        "a",
        "b",
    ]
    # Whole numbers as scores, and words of which a dictionary has more than the rows.
    words = arrow.DictionaryArray.from_arrays(arrow.array([0, 1]), ["target", "nontarget", "2"])
    loaded = load({"distance": [3, 4], "genuine": words, "more": [None, 1]})
    assert (loaded.values.tolist(), loaded.genuine.tolist()) == ([3, 4], [True, False])
    with refused("row 0: distance is .*; expected a number"):
        load({"distance": [[1.0], [2.0]], "genuine": [1, 0]})
    with refused("x.parquet: row 1: genuine has no value"):
        load({**TABLE, "genuine": [True, None, False]})
    path.write_bytes(path.read_bytes()[:-20])
    with refused("x.parquet: is truncated or damaged"):
        be.load(path, kind="distance")


def test_a_list_of_one_group_of_rows(tmp_path, monkeypatch):
    """A long Parquet file: its columns are read and counted in pieces."""
    arrow, parquet = optional_import("pyarrow"), optional_import("pyarrow.parquet")
    n = 5000
    first_subject, second_subject = RNG.integers(0, 40, (2, n))
    table = {
        "similarity": RNG.normal(size=n).astype(np.float32) + (first_subject == second_subject),
        "subject_a": [f"s{x}" for x in first_subject],
        "subject_b": arrow.array([f"s{x}" for x in second_subject]).dictionary_encode(),
    }
    parquet.write_table(arrow.table(table), tmp_path / "x.parquet", row_group_size=n)
    whole = be.load(tmp_path / "x.parquet")
    monkeypatch.setattr(of_parquet, "_ROWS_PER_PIECE", 300)
    loaded = be.load(tmp_path / "x.parquet")
    for name in ("values", "genuine", "pair_subjects"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(whole, name))
    np.testing.assert_array_equal(loaded.values, table["similarity"])
    assert loaded.codes.values.tolist() == sorted({*loaded.pair_subjects.ravel().tolist()})


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_does_not_go_with_a_matrix_as_a_table(tmp_path, suffix):
    optional_import("pyarrow")
    path = tmp_path / f"x{suffix}"
    table = pd.DataFrame({"probe": ["a", "b"], "c": [0.0, 1.0], "d": [1.0, 0.0]})
    getattr(table, f"to_{suffix[1:]}")(path, index=False)
    assert be.load(path, kind="distance").gallery_labels.tolist() == ["c", "d"]
    for options, message in (
        ({"lists": {"unordered": True}}, "no meaning for a matrix of scores"),
        ({"lists": {"as": "pairs"}}, '`lists={"as": ...}` has no meaning for a matrix'),
        ({"trials": path}, "`trials` has no meaning for a matrix of scores"),
    ):
        with refused(message):
            be.load(path, kind="distance", **options)


def test_a_file_whose_library_is_missing_says_how_to_install_it(tmp_path, monkeypatch, capsys):
    """Read and written, by a call and by a command: as one line."""
    optional_import("pyarrow")
    path = tmp_path / "x.parquet"
    be.save(SQUARE, path)
    for module in [module for module in sys.modules if module.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    hint = r"which needs pyarrow: python -m pip install '[\w-]+\[formats\]'"
    with refused(hint):
        be.load(path)
    with refused(hint):
        be.save(SQUARE, tmp_path / "other.parquet")
    assert main(["run", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(hint, line)


# ------------------------------------------------------------------------- HDF5


def test_arrays_in_groups_attributes_and_damage(tmp_path):
    path, columns = tmp_path / "x.h5", {"scores": "run7/sim", "labels": "run7/deep/who"}
    with h5py.File(path, "w") as out:
        out["run7/sim"] = np.asarray(SQUARE.values)
        out["run7/deep/who"] = np.char.encode([*"aabbcä"], "utf-8")  # of ASCII by its type
        out["run7/again"] = out["run7"]  # a circle
        out.attrs["kind"] = "similarity"
    loaded = be.load(path, columns=columns)
    np.testing.assert_array_equal(loaded.values, SQUARE.values)
    assert loaded.kind == "similarity"
    assert loaded.probe_labels.tolist() == [*"aabbcä"]
    options = [x for key, name in columns.items() for x in ("--columns", f"{key}={name}")]
    assert main(["run", str(path), *options]) == 0
    with refused("no array 'run7'; .*names it. Did you mean 'run7/"):
        be.load(path, columns={"scores": "run7"})
    with refused('name the array .*"scores": "run7/'):
        be.load(path)
    (tmp_path / "y.h5").write_bytes(path.read_bytes()[:-600])
    with refused("y.h5.* is truncated or damaged"):
        be.load(tmp_path / "y.h5")


@pytest.mark.parametrize("name", ["scores", "labels", "probe_sex", "mask"])
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("external", "is a link, and bioeval follows none"),
        ("soft", "is a link, and bioeval follows none"),
        ("virtual", "has its values in other files"),
        ("raw", "has its values in other files"),
    ],
)
def test_hdf5_reads_no_other_file(tmp_path, monkeypatch, name, kind, said):
    monkeypatch.chdir(tmp_path)
    with h5py.File("other.h5", "w") as file:
        file["x"] = np.zeros((4, 4))
    Path("raw.bin").write_bytes(bytes(128))
    with h5py.File("x.h5", "w") as file:
        if name != "scores":
            file["scores"] = np.eye(4)
        if name != "labels":
            file["labels"] = [1, 1, 2, 2]
        if kind == "external":
            file[name] = h5py.ExternalLink("other.h5", "/x")
        elif kind == "soft":
            file[name] = h5py.SoftLink("/gone")
        elif kind == "virtual":
            layout = h5py.VirtualLayout((4, 4), "f8")
            layout[:] = h5py.VirtualSource("other.h5", "x", (4, 4))
            file.create_virtual_dataset(name, layout)
        else:
            file.create_dataset(name, (4, 4), "f8", external=[("raw.bin", 0, 128)])
    with refused(f"x.h5: '{name}' {said}"):
        be.load("x.h5")

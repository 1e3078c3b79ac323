"""Stores and tables: HDF5, Parquet, BEE."""

import json
import re
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from optional import optional_import

import bioeval as be
from bioeval.base.distribution import how_to_install
from bioeval.cli import main

RNG = np.random.default_rng(5)
SQUARE = be.Scores(
    RNG.random((6, 6)), list("aabbcä"), kind="similarity", probe_meta={"day": [1, 2, 1, 2, 1, 2]}
)
PAIRS = be.Scores.from_pairs(
    [0.5, -1.0, 2.0], [1, 0, 0], kind="similarity", subjects=[["a", "a"], ["a", "b"], ["c", "a"]]
)
TABLE = {
    "similarity": [0.5, -1.0, 2.0],
    "genuine": [True, False, False],
    "subject_a": ["a", "a", "c"],
    "subject_b": ["a", "b", "a"],
}


def same(found, scores):
    np.testing.assert_array_equal(np.asarray(found.values), scores.values)
    assert (found.kind, found.dtype) == (scores.kind, scores.dtype)
    if isinstance(scores, type(PAIRS)):
        assert found.genuine.tolist() == scores.genuine.tolist()
        assert found.pair_subjects.tolist() == scores.pair_subjects.tolist()
    else:
        assert found.probe_labels.tolist() == scores.probe_labels.tolist()
        assert found.layout == scores.layout


# ------------------------------------------------------------------------- stores


@pytest.mark.parametrize("suffix", [".parquet", ".tsv"])
@pytest.mark.cases(1)
def test_a_matrix_becomes_a_list(tmp_path, suffix):
    optional_import("pyarrow")
    be.save(SQUARE, tmp_path / f"x{suffix}")
    found, expected = be.load(tmp_path / f"x{suffix}"), be.verification(SQUARE)
    assert len(found.values) == 30 and found.kind == "similarity"
    assert be.verification(found).eer == expected.eer


def test_hdf5_attributes_and_links(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["scores"] = np.eye(3)
        file["labels"] = np.array([b"a", b"b", b"a"])
        file.attrs["kind"] = "similarity"
        file["elsewhere"] = h5py.ExternalLink("y.h5", "/scores")
    assert be.load(tmp_path / "x.h5").kind == "similarity"
    with pytest.raises(be.DataError, match="'elsewhere' is a link"):
        be.load(tmp_path / "x.h5", columns={"scores": "elsewhere", "labels": "labels"})
    raw = (tmp_path / "x.h5").read_bytes()
    (tmp_path / "y.h5").write_bytes(raw[:-600])
    with pytest.raises(be.DataError, match="y.h5.* is truncated or damaged"):
        be.load(tmp_path / "y.h5")


# ------------------------------------------------------------------------- tables


def test_parquet(tmp_path):
    arrow = optional_import("pyarrow")
    write, name = optional_import("pyarrow.parquet").write_table, "x.parquet"
    write(arrow.table(TABLE), str(tmp_path / name))
    same(be.load(tmp_path / name), PAIRS)
    write(arrow.table({**TABLE, "genuine": [True, None, False]}), str(tmp_path / name))
    with pytest.raises(be.DataError, match=f"{name}: row 1: genuine has no value"):
        be.load(tmp_path / name)
    write(
        arrow.table({"probe": ["a", "c"], "a": [0.0, 1.0], "b": [2.0, 3.0]}), str(tmp_path / name)
    )
    found = be.load(tmp_path / name, kind="distance")
    assert found.values.tolist() == [[0, 2], [1, 3]] and found.gallery_labels.tolist() == ["a", "b"]
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-20])
    with pytest.raises(be.DataError, match=f"{name}: is truncated or damaged"):
        be.load(tmp_path / name, kind="distance")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_does_not_go_with_a_matrix_as_a_table(tmp_path, suffix):
    pandas = optional_import("pandas")
    optional_import("pyarrow")
    path = tmp_path / f"x{suffix}"
    table = pandas.DataFrame({"probe": ["a", "b"], "c": [0.0, 1.0], "d": [1.0, 0.0]})
    getattr(table, f"to_{suffix[1:]}")(path, index=False)
    assert be.load(path, kind="distance").gallery_labels.tolist() == ["c", "d"]
    for options, message in (
        ({"lists": {"unordered": True}}, "no meaning for a matrix of scores"),
        ({"lists": {"as": "pairs"}}, "is a matrix, not a list of pairs"),
        ({"trials": path}, "`trials` has no meaning for a matrix of scores"),
    ):
        with pytest.raises(be.DataError, match=message):
            be.load(path, kind="distance", **options)


# ------------------------------------------------------------------------- files of other programs

TRUTHS = {
    "bob_dev-4col.txt": {"kind": "similarity"},
    "bob_test-4col.txt": {"kind": "similarity"},
    "bob_atnt_scores-nonorm-dev.txt": {"kind": "distance"},
    "bob_atnt_scores-nonorm-openset-dev.txt": {"kind": "distance"},
    "bob_scores-cmc-4col.txt": {"kind": "similarity"},
    "pyeer_exp1": {"kind": "similarity"},
    "pyeer_cmc_exp1": {"kind": "similarity", "trials": "pyeer_cmc_exp1_tp.txt"},  # probes first
}
FILES = {
    "pyeer_exp1": ["pyeer_exp1_true.txt", "pyeer_exp1_false.txt"],
    "pyeer_cmc_exp1": ["pyeer_cmc_exp1_scores.txt"],
}


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.cases(1)
def test_files_of_other_programs(shared, name, tmp_path):
    folder: Path = shared / "score_files"
    known = json.loads((folder / "README.json").read_text())["basic_truth_sklearn"]
    truth = next(value for key, value in known.items() if key.split(" ")[0] == name)
    options = {
        key: folder / value if key in ("mask", "trials") else value
        for key, value in TRUTHS[name].items()
    }
    if "trials" in options:
        named = tmp_path / "trials.txt"
        named.write_text("probe gallery\n" + options["trials"].read_text())
        options["trials"] = named
    path = [folder / file for file in FILES.get(name, [name])]
    readings = [{}] if "n_probes_with_mate" not in truth else [{}, {"lists": {"as": "matrix"}}]
    for reading in readings:
        scores = be.load(path, **options, **reading)
        ds = be.verification(scores, far_targets=[0.1, 0.01])
        assert int(ds.genuine_attempts) == truth["n_genuine"]
        assert int(ds.impostor_attempts) == truth["n_impostor"]
        assert float(ds.auc) == pytest.approx(truth["auc"], rel=1e-12)
        assert float(ds.eer) == pytest.approx(truth["eer_linear_interp"], abs=2e-3)
        np.testing.assert_allclose(
            ds.frr_at_far, [truth["fnmr_at_fmr<=0.1"], truth["fnmr_at_fmr<=0.01"]], rtol=1e-12
        )
        if reading:
            cms = be.closed_set(scores, unmated="skip").cms
            for rank in (1, 5):
                best, worst = (truth.get(f"rank{rank}_ties_{x}_probe") for x in ("for", "against"))
                found = float(cms.sel(rank=rank))
                assert (worst if worst is not None else 0) <= found + 1e-12 <= best + 2e-12


@pytest.mark.parametrize("name", ["scores", "labels", "probe_attack", "mask"])
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
    (tmp_path / "raw.bin").write_bytes(bytes(128))
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
    with pytest.raises(be.DataError, match=f"x.h5: '{name}' {said}"):
        be.load("x.h5")


# ------------------------------------------------------------- without an optional library


def test_a_file_whose_library_is_missing_says_how_to_install_it(tmp_path, monkeypatch, capsys):
    """Read and written, by a call and by a command: as one line."""
    library = "pyarrow"
    optional_import(library)
    path = tmp_path / "x.parquet"
    be.save(SQUARE, path)
    for module in [module for module in sys.modules if module.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    hint = f"which needs {library}: {how_to_install('formats')}"
    with pytest.raises(be.DataError, match=re.escape(hint)):
        be.load(path)
    with pytest.raises(be.DataError, match=re.escape(hint)):
        be.save(SQUARE, tmp_path / f"other{path.suffix}")
    assert main(["run", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert hint in line

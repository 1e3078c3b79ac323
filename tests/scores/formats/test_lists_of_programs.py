"""Lists and matrices as other programs leave them: their names, comments, compression, orders."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from optional import optional_import

import bioeval as be
from bioeval.base.errors import DataError
from bioeval.cli import main
from bioeval.scores.formats import losses

VALUES = [0.5, -1e3, 2.0]
SAME = [True, False, False]
LIST = "genuine,similarity\n1,0.5\n0,-1e3\n0,2\n"
LINES = [{"genuine": int(x), "similarity": v} for x, v in zip(SAME, VALUES, strict=True)]
JSON = "".join(json.dumps(line) + "\n" for line in LINES)
WHO = ["ann", "ann", "bob", "bob", "eve"]
MATRIX = np.arange(20.0).reshape(5, 4) + 0.5


def put(folder, name, data):
    place = folder / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


def holds(pairs, kind="similarity"):
    assert pairs.values.tolist() == VALUES
    assert pairs.genuine.tolist() == SAME
    assert pairs.kind == kind
    return pairs


def read_line(capsys, *args):
    """What `bioeval run` prints under Read."""
    assert main(["run", *map(str, args)]) == 0
    out = capsys.readouterr().out
    return " ".join(out[out.index("Read") :].split())


# ------------------------------------------------------------------------- text


def test_the_names_of_scikit_learn(tmp_path):
    text = "y_true,y_score\n1,0.5\n0,-1e3\n0,2\n"
    found = holds(be.load(put(tmp_path, "x.csv", text), kind="similarity"))
    assert found.reading == ("genuine from 'y_true', scores from 'y_score'",)
    with pytest.raises(DataError, match="does not say whether its scores are distances or simil"):
        be.load(tmp_path / "x.csv")


@pytest.mark.parametrize("mark", [",", " ", "\t", ";"])
@pytest.mark.parametrize("sign", ["#", "# ", "## "])
@pytest.mark.parametrize("before", ["", "\n", "# made by x\n\n#\n# on monday, at 3\n", "\ufeff"])
def test_names_of_columns_behind_a_number_sign(tmp_path, mark, sign, before):
    text = before + sign + LIST.replace(",", mark)
    found = holds(be.load(put(tmp_path, "x.txt", text)))
    line = before.count("\n") + 1
    assert f"names of columns on line {line}, after #" in found.reading


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.csv.gz"])
@pytest.mark.parametrize("between", ["", "\n"])
def test_a_text_that_begins_with_comments(tmp_path, name, between):
    text = f"\n# made by x\n# 3 pairs of ann\n{between}"
    data = (text + LIST).encode()
    place = put(tmp_path, name, gzip.compress(data) if name.endswith("gz") else data)
    found = holds(be.load(place))
    assert "2 comment lines at the start left out" in found.reading
    plain = (text + LIST.partition("\n")[2]).encode()
    place = put(tmp_path, name, gzip.compress(plain) if name.endswith("gz") else plain)
    if name != "x.csv":
        holds(be.load(place, kind="similarity"))


def test_lines_after_comments_are_named_by_their_number(tmp_path):
    place = put(tmp_path, "x.txt", "# made by x\n\n# genuine similarity\n1 0.5\n\n0 x\n")
    with pytest.raises(DataError, match="x.txt: line 6: similarity is 'x'; expected a number"):
        be.load(place)


def test_a_row_of_scores_is_no_comment(tmp_path):
    place = put(tmp_path, "x.txt", "# made by x\n#ann a 0.5\nbob b 0.2\neve c 0.1\n")
    with pytest.raises(DataError, match="line 2 begins with # and has 3 cells like the rows below"):
        be.load(place, kind="similarity", subject_from="(.)")


def test_comments_alone(tmp_path):
    with pytest.raises(DataError, match="holds nothing but blank lines and comments"):
        be.load(put(tmp_path, "x.csv", "# a\n\n# b\n"))


@pytest.mark.parametrize("name", ["scores", "x.txt", "x.csv", "x.dat", "x.csv.gz"])
def test_gzip_by_its_bytes(tmp_path, name):
    holds(be.load(put(tmp_path, name, gzip.compress(LIST.encode()))))


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.gz", "x.jsonl", "x.txt", "x.csv", "x.json", "x"])
def test_lines_of_json_by_their_first_line(tmp_path, name):
    data = JSON.encode()
    holds(be.load(put(tmp_path, name, gzip.compress(data) if "z" in name else data)))


@pytest.mark.parametrize("name", ["x.jsonl", "x.npz", "x.mtx", "x.dat", "x.scores", "x"])
def test_names_of_columns_decide_whatever_the_suffix(tmp_path, name):
    holds(be.load(put(tmp_path, name, LIST)))


def test_a_text_of_no_format_keeps_the_error_of_its_suffix(tmp_path):
    with pytest.raises(DataError, match="x.npz: is named .npz but holds text"):
        be.load(put(tmp_path, "x.npz", "once upon a time\n"))
    with pytest.raises(DataError, match="x.jsonl: line 1: expected one JSON object a line"):
        be.load(put(tmp_path, "x.jsonl", "[1, 2]\n"))


@pytest.mark.parametrize("name", ["x.csv.gz", "x.tsv.gz", "x.txt.gz", "x.jsonl.gz"])
def test_compressed_text_is_written(tmp_path, name, capsys):
    scores = be.Scores.from_pairs(VALUES, SAME, kind="similarity")
    be.save(scores, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    assert first[:2] == b"\x1f\x8b"
    be.save(scores, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first  # no time of writing
    holds(be.load(tmp_path / name))
    assert losses(scores, tmp_path / name) == losses(scores, tmp_path / "x.csv")
    assert main(["convert", str(tmp_path / name), str(tmp_path / "y.npz")]) == 0
    with pytest.raises(DataError, match="has the suffix '.gz'; expected one of"):
        be.save(scores, tmp_path / "x.npz.gz")


def test_a_compressed_table_is_written(tmp_path):
    scores = be.Scores([[1.0, 2.0], [2.5, 1.0]], ["ann", "bob"])
    be.save(scores, tmp_path / "x.wide.csv.gz")
    back = be.load(tmp_path / "x.wide.csv.gz", kind="distance")
    np.testing.assert_array_equal(back.values, scores.values)


# ------------------------------------------------------------------------- Arrow streams


@pytest.mark.parametrize("name", ["x.arrows", "x.arrow", "x"])
def test_a_stream_of_arrow(tmp_path, name):
    arrow = optional_import("pyarrow")
    table = arrow.table({"genuine": [1, 0, 0], "similarity": VALUES})
    with arrow.ipc.new_stream(tmp_path / name, table.schema) as out:
        out.write_table(table, max_chunksize=2)
    holds(be.load(tmp_path / name))
    raw = (tmp_path / name).read_bytes()
    with pytest.raises(DataError, match=f"{name}: is truncated or damaged"):
        be.load(put(tmp_path, name, raw[: len(raw) // 2]))


def test_a_stream_is_written(tmp_path):
    optional_import("pyarrow")
    be.save(be.Scores.from_pairs(VALUES, SAME, kind="similarity"), tmp_path / "x.arrows")
    holds(be.load(tmp_path / "x.arrows"))
    be.save(be.Scores([[1.0, 2.0], [2.5, 1.0]], ["ann", "bob"]), tmp_path / "x.wide.arrows")
    assert be.load(tmp_path / "x.wide.arrows", kind="distance").shape == (2, 2)


# ------------------------------------------------------------------------- two vectors


def test_genuine_and_impostor_scores_as_arrays(tmp_path, capsys):
    g, i = tmp_path / "g.npy", tmp_path / "i.npy"
    np.save(g, [0.5])
    np.save(i, np.array([[-1e3], [2.0]]))
    found = holds(be.load(g, impostor=i, kind="similarity"))
    assert found.reading == ("genuine scores from g.npy, impostor scores from i.npy",)
    assert "genuine scores from g.npy" in read_line(capsys, g, i, "--kind", "similarity")
    with pytest.raises(DataError, match=r"g.npy: does not say whether its scores are dist"):
        be.load(g, impostor=i)
    with pytest.raises(DataError, match=r"g.npy: has the same scores as .*i.npy"):
        np.save(g, [-1e3, 2.0])
        be.load(g, impostor=i, kind="similarity")
    with pytest.raises(
        DataError, match=r"i.npy: has shape \(2, 2\); expected one score an attempt"
    ):
        np.save(i, np.eye(2))
        be.load(g, impostor=i, kind="similarity")
    with pytest.raises(DataError, match=r"i.txt: is text; expected a .npy file of impostor scores"):
        be.load(g, impostor=put(tmp_path, "i.txt", "1\n2\n"), kind="similarity")


@pytest.mark.parametrize("suffix", [".mat", ".npz", ".h5"])
@pytest.mark.parametrize(
    "names", [("genuine", "impostor"), ("gen", "imp"), ("Genuine_Scores", "Impostor_Scores")]
)
def test_two_vectors_in_a_file(tmp_path, suffix, names, capsys):
    place = tmp_path / f"x{suffix}"
    arrays = {names[1]: np.array([[-1e3, 2.0]]), names[0]: np.array([0.5])}
    if suffix == ".mat":
        from scipy.io import savemat

        savemat(place, arrays)
    elif suffix == ".npz":
        np.savez(place, **arrays)
    else:
        with optional_import("h5py").File(place, "w") as out:
            for name, array in arrays.items():
                out[name] = array
    found = holds(be.load(place, kind="similarity"))
    said = f"genuine scores from {names[0]!r}, impostor scores from {names[1]!r}"
    assert found.reading == (said,)
    assert said in read_line(capsys, place, "--kind", "similarity")
    assert be.load(place).reading[1].startswith("taken as distances")
    assert main(["convert", str(place), str(tmp_path / "y.csv"), "--kind", "llr"]) == 0


# ------------------------------------------------------------------------- stores


def test_arrays_in_groups(tmp_path, capsys):
    h5py = optional_import("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["run7/sim"] = MATRIX
        out["run7/deep/who"] = np.arange(5)
        out["run7/them"] = np.arange(4)
        out["run7/again"] = out["run7"]  # a circle
        out["else"] = h5py.ExternalLink("other.h5", "/x")
        out["run7/soft"] = h5py.SoftLink("/run7/sim")
    keys = {"probe_labels_key": "run7/deep/who", "gallery_labels_key": "run7/them"}
    found = be.load(tmp_path / "x.h5", scores_key="run7/sim", kind="similarity", **keys)
    np.testing.assert_array_equal(found.values, MATRIX)
    options = ["--scores", "run7/sim", "--kind", "similarity"]
    options += ["--probe-labels", "run7/deep/who", "--gallery-labels", "run7/them"]
    assert main(["run", str(tmp_path / "x.h5"), *options]) == 0
    with pytest.raises(
        DataError, match="no array 'run7', which scores_key names. Did you mean 'run7/"
    ):
        be.load(tmp_path / "x.h5", scores_key="run7")
    for link in ("else", "run7/soft"):
        with pytest.raises(DataError, match=f"'{link}' is a link to another place"):
            be.load(tmp_path / "x.h5", scores_key=link)
    with pytest.raises(DataError, match='say, for instance, scores_key="run7/sim"'):
        be.load(tmp_path / "x.h5")


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy", "zarr"])
@pytest.mark.parametrize("dims", [("gallery", "probe"), ("enrolled", "query"), ("x", "y")])
def test_named_dimensions_that_are_transposed(tmp_path, engine, dims, capsys):
    xarray, _ = optional_import("xarray"), optional_import(engine)
    name = "x.zarr" if engine == "zarr" else "x.nc"
    them = WHO[:4]
    data = xarray.Dataset(
        {
            "scores": (dims, np.ascontiguousarray(MATRIX.T)),
            "probe_labels": (dims[1:], np.array([1, 1, 2, 2, 3])),
            "gallery_labels": (dims[:1], np.array([1, 1, 2, 2])),
        },
        attrs={"kind": "similarity"},
    )
    if engine == "zarr":
        data.to_zarr(tmp_path / name, zarr_format=3, consolidated=False)
    else:
        data.to_netcdf(tmp_path / name, engine=engine)
    found = be.load(tmp_path / name)
    np.testing.assert_array_equal(found.values, MATRIX)
    assert found.shape == (5, len(them))
    said = f"'scores' is transposed: its dimensions are {dims[0]} x {dims[1]}"
    assert found.reading == (said,)
    assert said in read_line(capsys, tmp_path / name)
    same = data.transpose(dims[1], dims[0])
    if engine != "zarr":
        same.to_netcdf(tmp_path / "y.nc", engine=engine)
        assert be.load(tmp_path / "y.nc").reading == ()
        np.testing.assert_array_equal(be.load(tmp_path / "y.nc").values, MATRIX)


def test_a_square_matrix_of_named_dimensions(tmp_path):
    xarray = optional_import("xarray")
    data = xarray.Dataset(
        {"similarity": (("gallery", "probe"), MATRIX[:4])},
        coords={"probe": [1, 1, 2, 2], "gallery": [1, 2, 2, 3]},
    )
    data.to_netcdf(tmp_path / "x.nc", engine="scipy")
    with pytest.raises(
        DataError, match='probe_labels_key="probe" and gallery_labels_key="gallery"'
    ):
        be.load(tmp_path / "x.nc", scores_key="similarity")
    keys = {"probe_labels_key": "probe", "gallery_labels_key": "gallery"}
    found = be.load(tmp_path / "x.nc", scores_key="similarity", kind="similarity", **keys)
    np.testing.assert_array_equal(found.values, MATRIX[:4].T)

"""MATLAB files: read as MATLAB shows them, in every version, and never trusted."""

import struct
import zlib

import h5py
import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings, strategies as st
from strategies import examples_of

import bioeval as be
from bioeval.scores.formats.arrays import Arrays
from bioeval.scores.formats.containers import open_mat
from bioeval.scores.formats.options import Given

RNG = np.random.default_rng(5)
QUERY, GALLERY = RNG.normal(size=(4, 3)), RNG.normal(size=(6, 3))
LAYOUT = {
    "query_f": QUERY,
    "gallery_f": GALLERY,
    "query_label": np.array([1.0, 1.0, 2.0, 3.0]),
    "gallery_label": np.array([1.0, 2.0, -1.0, 0.0, 3.0, 3.0]),
    "query_cam": np.array([1, 2, 1, 1]),
    "gallery_cam": np.array([2, 2, 1, 1, 2, 3]),
}
KINDS = {"f8": b"double", "f4": b"single", "i8": b"int64", "u1": b"uint8", "b1": b"logical"}


def arrays(path):
    """The arrays of a file, each read as a role has it."""
    return Arrays(path, open_mat(path), Given({}), matlab=True)


def matlab_73(path, arrays) -> None:
    """Write a file as MATLAB does: a header of 512 bytes, dimensions turned round, classes."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            array = np.atleast_2d(np.asarray(array))
            if array.dtype.kind == "U":
                width = array.dtype.itemsize // 4
                rows = array.reshape(-1)
                codes = [[ord(c) for c in word.ljust(width)] for word in rows]
                item = file.create_dataset(name, data=np.array(codes, "u2").T)
                item.attrs["MATLAB_class"] = np.bytes_(b"char")
                item.attrs["MATLAB_int_decode"] = np.int32(2)
                continue
            kind = KINDS[array.dtype.str[1:]]
            stored = array.astype("u1") if kind == b"logical" else array
            item = file.create_dataset(name, data=stored.T)
            item.attrs["MATLAB_class"] = np.bytes_(kind)
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + b"\0" * 8 + b"\0\x02IM")


def matlab_5(path, arrays, **options) -> None:
    scipy.io.savemat(path, arrays, **options)


WRITERS = {
    "5": matlab_5,
    "5, compressed": lambda path, arrays: matlab_5(path, arrays, do_compression=True),
    "5, columns": lambda path, arrays: matlab_5(path, arrays, oned_as="column"),
    "7.3": matlab_73,
}
every_version = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())


def checked(scores: be.Scores) -> None:
    plain = be.Scores.from_embeddings(QUERY, [1, 1, 2, 3], GALLERY, [1, 2, -1, 0, 3, 3])
    np.testing.assert_array_equal(scores.values, plain.values)
    for side in ("probe", "gallery"):
        labels = getattr(scores, f"{side}_labels")
        assert labels.dtype == np.int64
        np.testing.assert_array_equal(labels, getattr(plain, f"{side}_labels"))
    assert list(scores.probe_meta) == list(scores.gallery_meta) == ["camera"]
    assert scores.probe_meta["camera"].tolist() == [1, 2, 1, 1]
    assert scores.gallery_meta["camera"].tolist() == [2, 2, 1, 1, 2, 3]


@every_version
def test_the_usual_layout(tmp_path, write):
    write(tmp_path / "result.mat", LAYOUT)
    checked(be.load(tmp_path / "result.mat"))


@every_version
def test_features_that_stand_in_columns(tmp_path, write):
    write(tmp_path / "r.mat", {**LAYOUT, "query_f": QUERY.T, "gallery_f": GALLERY.T})
    checked(be.load(tmp_path / "r.mat"))


@every_version
def test_as_many_features_as_templates_are_turned_with_the_other_side(tmp_path, write):
    """(3, 3) fits both ways; the other side decides."""
    arrays = {**LAYOUT, "query_f": QUERY[:3].T, "gallery_f": GALLERY.T}
    arrays |= {"query_label": LAYOUT["query_label"][:3], "query_cam": LAYOUT["query_cam"][:3]}
    write(tmp_path / "r.mat", arrays)
    plain = be.Scores.from_embeddings(QUERY[:3], [1, 1, 2], GALLERY, [1, 2, -1, 0, 3, 3])
    np.testing.assert_array_equal(be.load(tmp_path / "r.mat").values, plain.values)


def test_the_layout_in_npz_too(tmp_path):
    np.savez(
        tmp_path / "r.npz", **{k: v.astype(int) if "_f" not in k else v for k, v in LAYOUT.items()}
    )
    checked(be.load(tmp_path / "r.npz"))


@every_version
def test_labels_as_characters(tmp_path, write):
    """MATLAB pads the rows of a matrix of characters with blanks."""
    names = {"query_label": np.array(["ann", "ann", "bo", "c"])}
    names["gallery_label"] = np.array(["ann", "bo", "é", "dd", "c", "c"])
    write(tmp_path / "r.mat", {**LAYOUT, **names})
    scores = be.load(tmp_path / "r.mat")
    assert scores.probe_labels.tolist() == ["ann", "ann", "bo", "c"]
    assert scores.gallery_labels.tolist() == ["ann", "bo", "é", "dd", "c", "c"]


@every_version
@pytest.mark.parametrize("shape", [(1, 6), (4, 1), (1, 1), (4, 6)])
def test_a_matrix_of_scores_under_other_names(tmp_path, write, shape):
    m, n = shape
    values = np.arange(m * n, dtype=float).reshape(shape)
    write(
        tmp_path / "d.mat", {"far": values, "who": np.arange(m) + 1.0, "other": np.arange(n) + 1.0}
    )
    scores = be.load(
        tmp_path / "d.mat", columns={"scores": "far", "labels": "who", "gallery_labels": "other"}
    )
    np.testing.assert_array_equal(scores.values, values)
    write(
        tmp_path / "d.mat",
        {"far": values.T, "who": np.arange(m) + 1.0, "other": np.arange(n) + 1.0},
    )
    scores = be.load(
        tmp_path / "d.mat", columns={"scores": "far", "labels": "who", "gallery_labels": "other"}
    )
    np.testing.assert_array_equal(scores.values, values)


@every_version
def test_own_names_words_and_pairs(tmp_path, write):
    own = {"scores": np.eye(2), "labels": np.array([1.0, 2.0]), "kind": np.array(["similarity"])}
    write(tmp_path / "s.mat", own)
    assert be.load(tmp_path / "s.mat").kind == "similarity"
    pairs = {"scores": np.array([0.5, 0.25]), "genuine": np.array([True, False])}
    write(tmp_path / "p.mat", pairs)
    assert be.load(tmp_path / "p.mat").genuine.tolist() == [True, False]


@every_version
def test_bad_layouts(tmp_path, write):
    place = tmp_path / "r.mat"
    write(place, {**LAYOUT, "gallery_f": GALLERY[:, :2]})
    with pytest.raises(be.DataError, match=r"r.mat: .* 3 features and gallery embeddings 2"):
        be.load(place)
    write(place, {**LAYOUT, "gallery_label": np.arange(5.0)})
    with pytest.raises(be.DataError, match=r"'gallery_label' have shape \(5,\); expected \(6,\)"):
        be.load(place)
    write(place, {k: v for k, v in LAYOUT.items() if "label" not in k})
    with pytest.raises(
        be.DataError, match="no labels, the subject of each of 4 rows.*It holds: .*query_f"
    ):
        be.load(place)
    write(place, {"x": np.zeros((2, 3, 4))})
    with pytest.raises(be.DataError, match="no array 'scores' or 'embeddings'"):
        be.load(place)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array(["a", "bc", "d", "e"], dtype=object), r"a MATLAB cell.*char\(x\)"),
        ({"x": 1}, "a MATLAB struct.*one by one"),
        (np.array([1j, 2, 3, 4]), "complex numbers"),
        (scipy.sparse.eye_array(4), r"a MATLAB sparse.*full\(x\)"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path, value, message):
    matlab_5(tmp_path / "r.mat", {**LAYOUT, "who": value})
    checked(be.load(tmp_path / "r.mat"))  # it was not requested
    with pytest.raises(be.DataError, match=message):
        arrays(tmp_path / "r.mat").read("who")
    matlab_5(tmp_path / "r.mat", {**LAYOUT, "query_f": value})
    with pytest.raises(be.DataError, match=f"'query_f'.*{message}"):
        be.load(tmp_path / "r.mat")


def test_matlab_4_is_named(tmp_path):
    scipy.io.savemat(tmp_path / "r.mat", LAYOUT, format="4")
    with pytest.raises(be.DataError, match="of version 5 to 7.3 .*save -v4.* with save -v7"):
        be.load(tmp_path / "r.mat")


def test_characters_of_any_width(tmp_path):
    """A damaged file may claim more columns than text can have."""
    matlab_5(tmp_path / "x.mat", {"c": np.array(["ab", "cd"])})
    raw = (tmp_path / "x.mat").read_bytes()
    wide = raw.replace(struct.pack("<ii", 2, 2), struct.pack("<ii", 2, 2**30))
    assert wide != raw
    (tmp_path / "x.mat").write_bytes(wide)
    with pytest.raises(be.DataError, match=r"claims the shape \(2, 1073741824\) in 48 bytes"):
        arrays(tmp_path / "x.mat")


def test_what_is_no_matrix_is_refused_in_73(tmp_path):
    (tmp_path / "secret").write_bytes(b"12345678" * 8)
    place = tmp_path / "r.mat"
    matlab_73(place, LAYOUT)
    with h5py.File(place, "r+") as file:
        cell = file.create_dataset("cell", (2, 1), dtype=h5py.ref_dtype)
        cell.attrs["MATLAB_class"] = np.bytes_(b"cell")
        file.create_group("struct").attrs["MATLAB_class"] = np.bytes_(b"struct")
        file.create_group("sparse").attrs["MATLAB_sparse"] = np.uint64(4)
        file.create_group("#refs#")
        file["soft"] = h5py.SoftLink("/query_f")
        file["other"] = h5py.ExternalLink(str(tmp_path / "x.h5"), "/y")
        raw = [(str(tmp_path / "secret"), 0, 64)]
        file.create_dataset("raw", (8,), "u8", external=raw)
        layout = h5py.VirtualLayout((2, 2), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "x.h5"), "y", (2, 2))
        file.create_virtual_dataset("virtual", layout)
    archive = arrays(place)
    assert "#refs#" not in archive.arrays
    for key, message in {
        "cell": "a MATLAB cell",
        "struct": "a MATLAB struct",
        "sparse": "a MATLAB sparse",
        "soft": "is a link",
        "other": "is a link",
        "raw": "its values in other files",
        "virtual": "its values in other files",
    }.items():
        with pytest.raises(be.DataError, match=message):
            archive.read(key)
    checked(be.load(place))


def test_hdf5_that_matlab_did_not_write(tmp_path):
    with h5py.File(tmp_path / "r.mat", "w") as file:
        for name, array in LAYOUT.items():
            file[name] = array
    checked(be.load(tmp_path / "r.mat"))


def test_empty_arrays(tmp_path):
    matlab_5(tmp_path / "a.mat", {**LAYOUT, "none": np.zeros((0, 0))})
    assert arrays(tmp_path / "a.mat").read("none").shape == (0, 0)
    with h5py.File(tmp_path / "b.mat", "w") as file:
        none = file.create_dataset("none", data=np.uint64([0, 0]))
        none.attrs["MATLAB_class"], none.attrs["MATLAB_empty"] = np.bytes_(b"double"), np.uint8(1)
    assert arrays(tmp_path / "b.mat").read("none").shape == (0, 0)


def test_logical_is_bool(tmp_path):
    truth = np.array([[True, False, True], [False, False, True]])
    matlab_5(tmp_path / "x.mat", {"x": truth})
    found = arrays(tmp_path / "x.mat").read("x")
    assert found.dtype == bool
    np.testing.assert_array_equal(found, truth)


def test_whole_numbers_beyond_int64_stay_as_they_are(tmp_path):
    matlab_5(tmp_path / "x.mat", {"x": np.array([1e300, 2.0]), "y": np.array([2.0**53, 2.0])})
    found = arrays(tmp_path / "x.mat")
    assert found.read("x").tolist() == [1e300, 2.0]
    assert found.read("y").dtype == np.int64


def big_endian(name: str, array: np.ndarray) -> bytes:
    """A MATLAB 5 file of a machine with the other order of bytes, its values stored as int16."""
    flags = struct.pack(">IIII", 6, 8, 6, 0)
    shape = struct.pack(">IIii", 5, 8, *array.shape)
    title = struct.pack(">II", 1, len(name)) + name.encode().ljust(-(-len(name) // 8) * 8, b"\0")
    data = array.astype(">i2").tobytes(order="F")
    values = struct.pack(">II", 3, len(data)) + data.ljust(-(-len(data) // 8) * 8, b"\0")
    body = flags + shape + title + values
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    return head + struct.pack(">II", 14, len(body)) + body


def test_bytes_in_the_other_order(tmp_path):
    (tmp_path / "x.mat").write_bytes(big_endian("values", np.array([[1, -2, 3], [4, 5, 600]])))
    found = arrays(tmp_path / "x.mat").read("values")
    assert found.dtype == np.float64 and found.tolist() == [[1, -2, 3], [4, 5, 600]]
    np.testing.assert_array_equal(found, scipy.io.loadmat(tmp_path / "x.mat")["values"])


# ------------------------------------------------------------------------ damage


def damaged(path) -> None:
    """Reading every array of the file gives arrays or one clear error, and nothing else."""
    try:
        archive = arrays(path)
        for key in archive.arrays:
            try:
                archive.read(key)
            except be.DataError as error:
                assert "\n" not in str(error)
    except be.DataError as error:
        assert str(path) in str(error)


@every_version
def test_a_file_that_is_cut_off(tmp_path, write):
    write(tmp_path / "r.mat", LAYOUT)
    whole = (tmp_path / "r.mat").read_bytes()
    place = tmp_path / "cut.mat"
    for length in (20, 127, 130, 140, 300, len(whole) // 2, len(whole) - 9):
        place.write_bytes(whole[:length])
        with pytest.raises(be.DataError, match="truncated or damaged|no array|is text") as error:
            be.load(place)
        assert "\n" not in str(error.value)


WHOLE: dict[bool, bytes] = {}


@given(
    data=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4),
    compress=st.booleans(),
)
@settings(max_examples=examples_of(300))
def test_any_damage_is_an_array_or_an_error(tmp_path_factory, data, compress):
    folder = tmp_path_factory.getbasetemp()
    if compress not in WHOLE:
        arrays = {"x": np.arange(6.0).reshape(2, 3), "c": np.array(["ab", "c"]), "s": {"y": 1}}
        matlab_5(folder / "whole.mat", arrays, do_compression=compress)
        WHOLE[compress] = (folder / "whole.mat").read_bytes()
    raw = bytearray(WHOLE[compress])
    for at, value in data:
        raw[128 + at % (len(raw) - 128)] = value
    (folder / "damaged.mat").write_bytes(raw)
    damaged(folder / "damaged.mat")


@pytest.mark.parametrize("stored", [0, 8, 11, 15, 19, 40, 2**16 - 1])
@pytest.mark.cases(2)
def test_values_of_a_type_that_matlab_does_not_have(tmp_path, stored):
    """SciPy 1.17 ends the process where it reads such a file."""
    raw = big_endian("scores", np.ones((2, 2), int))
    tag = struct.pack(">II", 3, 8)
    assert raw.count(tag) == 1
    (tmp_path / "x.mat").write_bytes(raw.replace(tag, struct.pack(">II", stored, 8)))
    message = (
        rf"x.mat: the array 'scores' is truncated or damaged \(numbers stored as type {stored}"
    )
    with pytest.raises(be.DataError, match=message):
        arrays(tmp_path / "x.mat").read("scores")


def test_values_that_are_compressed_and_cut_off(tmp_path):
    body = big_endian("x", RNG.integers(0, 99, (200, 30)))[128:]
    packed = zlib.compress(body)[:-20]
    raw = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + struct.pack(">II", 15, len(packed))
    (tmp_path / "x.mat").write_bytes(raw + packed)
    found = arrays(tmp_path / "x.mat")
    assert found.shape("x") == (200, 30)
    with pytest.raises(be.DataError, match="the array 'x' is truncated or damaged"):
        found.read("x")

"""MATLAB files: read as MATLAB shows them, in every version, and never trusted."""

import struct
import zlib

import h5py
import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings, strategies as st
from named_arguments import refused
from strategies import examples_of

import bioeval as be

RNG = np.random.default_rng(5)
QUERY, GALLERY = RNG.normal(size=(4, 3)), RNG.normal(size=(6, 3))
WHO, ENROLLED = [1, 1, 2, 3], [1, 2, -1, 0, 3, 3]
LAYOUT = {
    "query_f": QUERY,
    "gallery_f": GALLERY,
    "query_label": np.array(WHO, float),
    "gallery_label": np.array(ENROLLED, float),
    "query_cam": np.array([1, 2, 1, 1]),
    "gallery_cam": np.array([2, 2, 1, 1, 2, 3]),
}
KINDS = {"f8": b"double", "f4": b"single", "i8": b"int64", "u1": b"uint8", "b1": b"logical"}
SCORES = {"scores": "x", "labels": "who"}
HEAD = b"MATLAB 5.0 MAT-file".ljust(124)


def matlab_73(path, arrays) -> None:
    """Write a file as MATLAB does: a header of 512 bytes, dimensions turned round, classes."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            array = np.atleast_2d(np.asarray(array))
            if array.dtype.kind == "U":
                width = array.dtype.itemsize // 4
                codes = [[ord(c) for c in word.ljust(width)] for word in array.reshape(-1)]
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


WRITERS = {
    "5": scipy.io.savemat,
    "5, compressed": lambda path, arrays: scipy.io.savemat(path, arrays, do_compression=True),
    "5, columns": lambda path, arrays: scipy.io.savemat(path, arrays, oned_as="column"),
    "7.3": matlab_73,
}


@pytest.fixture(params=WRITERS)
def load(request, tmp_path):
    """Write arrays in one version of the format, and read them."""

    def written(arrays, **options):
        WRITERS[request.param](tmp_path / "r.mat", arrays)
        return be.load(tmp_path / "r.mat", **options)

    return written


def checked(scores: be.Scores, queries: int = 4) -> None:
    plain = be.Scores.from_embeddings(QUERY[:queries], WHO[:queries], GALLERY, ENROLLED)
    np.testing.assert_array_equal(scores.values, plain.values)
    for side in ("probe", "gallery"):
        labels = getattr(scores, f"{side}_labels")
        assert labels.dtype == np.int64
        np.testing.assert_array_equal(labels, getattr(plain, f"{side}_labels"))
    assert list(scores.probe_meta) == list(scores.gallery_meta) == ["camera"]
    assert scores.probe_meta["camera"].tolist() == [1, 2, 1, 1][:queries]
    assert scores.gallery_meta["camera"].tolist() == [2, 2, 1, 1, 2, 3]


def test_the_usual_layout(load):
    checked(load(LAYOUT))
    # MATLAB pads the rows of a matrix of characters with blanks.
    names = {"query_label": ["ann", "ann", "bo", "c"]}
    names["gallery_label"] = ["ann", "bo", "é", "dd", "c", "c"]
    scores = load({**LAYOUT, **{key: np.array(x) for key, x in names.items()}})
    assert scores.probe_labels.tolist() == names["query_label"]
    assert scores.gallery_labels.tolist() == names["gallery_label"]


def test_the_layout_in_other_containers(tmp_path):
    arrays = {k: v.astype(int) if "_f" not in k else v for k, v in LAYOUT.items()}
    np.savez(tmp_path / "r.npz", **arrays)
    with h5py.File(tmp_path / "r.mat", "w") as file:  # which MATLAB did not write
        for name, array in LAYOUT.items():
            file[name] = array
    for name in ("r.npz", "r.mat"):
        checked(be.load(tmp_path / name))


@pytest.mark.parametrize("shape", [(1, 6), (4, 1), (1, 1), (4, 6)])
def test_a_matrix_of_scores_under_other_names(load, shape):
    m, n = shape
    values = np.arange(m * n, dtype=float).reshape(shape)
    sides = {"who": np.arange(m) + 1.0, "other": np.arange(n) + 1.0}
    columns = {**SCORES, "gallery_labels": "other"}
    np.testing.assert_array_equal(load({"x": values, **sides}, columns=columns).values, values)


def test_types_of_values(load):
    truth = np.array([[True, False], [False, True]])
    loaded = load({"x": truth, "who": np.array([2.0**53 - 1, 2.5])}, columns=SCORES)
    assert loaded.dtype == bool and loaded.probe_labels.tolist() == [2**53 - 1, 2.5]
    np.testing.assert_array_equal(loaded.values, truth)
    loaded = load({"x": truth, "who": np.array([2.0**53 - 1, 2.0])}, columns=SCORES)
    assert loaded.probe_labels.dtype == np.int64
    with pytest.raises(be.DataError, match="float64 numbers from 2..53 on"):
        load({"x": truth, "who": np.array([2.0**53, 2.0])}, columns=SCORES)


def test_bad_layouts(load):
    for arrays, message in (
        ({**LAYOUT, "gallery_f": GALLERY[:, :2]}, "r.mat: .* 3 features and gallery embeddings 2"),
        ({**LAYOUT, "gallery_label": np.arange(5.0)}, r"label' have shape \(5,\); expected \(6,\)"),
        (
            {k: v for k, v in LAYOUT.items() if "label" not in k},
            "no labels, the subject of each of 4 rows.*It holds: .*query_f",
        ),
        ({"x": np.zeros((2, 3, 4))}, "no array 'scores' or 'embeddings'"),
    ):
        with refused(message):
            load(arrays)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array(["a", "bc", "d", "e"], dtype=object), r"a MATLAB cell.*char\(x\)"),
        ({"x": 1}, "a MATLAB struct.*one by one"),
        (np.array([1j, 2, 3, 4]), "complex numbers"),
        (scipy.sparse.eye_array(4), r"a MATLAB sparse.*full\(x\)"),
        (np.zeros((0, 0)), r"\(0, 0\)"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path, value, message):
    scipy.io.savemat(tmp_path / "r.mat", {**LAYOUT, "who": value})
    checked(be.load(tmp_path / "r.mat"))  # it was not requested
    scipy.io.savemat(tmp_path / "r.mat", {**LAYOUT, "query_f": value})
    with refused(f"query_f.*{message}"):
        be.load(tmp_path / "r.mat")


def test_what_is_no_matrix_is_refused_in_73(tmp_path):
    place = tmp_path / "r.mat"
    matlab_73(place, LAYOUT)
    with h5py.File(place, "r+") as file:
        cell = file.create_dataset("cell", (2, 1), dtype=h5py.ref_dtype)
        cell.attrs["MATLAB_class"] = np.bytes_(b"cell")
        file.create_group("struct").attrs["MATLAB_class"] = np.bytes_(b"struct")
        file.create_group("sparse").attrs["MATLAB_sparse"] = np.uint64(4)
        file.create_group("#refs#")
        none = file.create_dataset("none", data=np.uint64([0, 0]))
        none.attrs["MATLAB_class"], none.attrs["MATLAB_empty"] = np.bytes_(b"double"), np.uint8(1)
    for key, message in {
        "cell": "a MATLAB cell",
        "struct": "a MATLAB struct",
        "sparse": "a MATLAB sparse",
        "#refs#": "no array '#refs#'",
        "none": r"\(0, 0\)",
    }.items():
        with refused(message):
            be.load(place, columns={"scores": key, "labels": "query_label"})
    checked(be.load(place))


def test_matlab_4_is_named(tmp_path):
    scipy.io.savemat(tmp_path / "r.mat", LAYOUT, format="4")
    with refused("of version 5 to 7.3 .*save -v4.* with save -v7"):
        be.load(tmp_path / "r.mat")


# ------------------------------------------------------------------------ bytes


def big_endian(array: np.ndarray) -> bytes:
    """A MATLAB 5 file of a machine with the other order of bytes, its values stored as int16."""
    flags = struct.pack(">IIII", 6, 8, 6, 0)
    shape = struct.pack(">IIii", 5, 8, *array.shape)
    title = struct.pack(">II", 1, 6) + b"scores\0\0"
    data = array.astype(">i2").tobytes(order="F")
    values = struct.pack(">II", 3, len(data)) + data.ljust(-(-len(data) // 8) * 8, b"\0")
    body = flags + shape + title + values
    return HEAD + b"\x01\x00MI" + struct.pack(">II", 14, len(body)) + body


def read(folder, raw: bytes, labels: int = 2) -> be.Scores:
    """Read the array ``scores`` of a file of these bytes."""
    (folder / "x.mat").write_bytes(raw)
    (folder / "who.csv").write_text("label\n" + "a\n" * labels)
    return be.load(folder / "x.mat", labels=folder / "who.csv")


def test_bytes_in_the_other_order(tmp_path):
    values = read(tmp_path, big_endian(np.array([[1, -2, 3], [4, 5, 600], [7, 8, 9]])), 3).values
    assert values.dtype == np.float64 and values.tolist() == [[1, -2, 3], [4, 5, 600], [7, 8, 9]]
    np.testing.assert_array_equal(values, scipy.io.loadmat(tmp_path / "x.mat")["scores"])


def test_characters_of_any_width(tmp_path):
    """A damaged file may claim more columns than text can have."""
    scipy.io.savemat(tmp_path / "x.mat", {"c": np.array(["ab", "cd"])})
    raw = (tmp_path / "x.mat").read_bytes()
    wide = raw.replace(struct.pack("<ii", 2, 2), struct.pack("<ii", 2, 2**30))
    assert wide != raw
    with refused(r"claims the shape \(2, 1073741824\) in 48 bytes"):
        read(tmp_path, wide)


def test_a_file_that_is_cut_off(load, tmp_path):
    load(LAYOUT)
    complete = (tmp_path / "r.mat").read_bytes()
    for length in (20, 127, 130, 140, 300, len(complete) // 2, len(complete) - 9):
        (tmp_path / "cut.mat").write_bytes(complete[:length])
        with refused("truncated or damaged|no array|is text") as error:
            be.load(tmp_path / "cut.mat")
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("compress", [False, True])
def test_any_damage_is_an_array_or_an_error(tmp_path, compress):
    arrays = {"x": np.arange(4.0).reshape(2, 2), "who": np.array(["ab", "c"]), "s": {"y": 1}}
    scipy.io.savemat(tmp_path / "x.mat", arrays, do_compression=compress)
    undamaged = (tmp_path / "x.mat").read_bytes()
    places = st.tuples(st.integers(0, 10**6), st.integers(0, 255))

    @given(st.lists(places, min_size=1, max_size=4))
    @settings(max_examples=examples_of(150))
    def holds(damage):
        raw = bytearray(undamaged)
        for offset, value in damage:
            raw[128 + offset % (len(raw) - 128)] = value
        (tmp_path / "x.mat").write_bytes(raw)
        try:
            be.load(tmp_path / "x.mat", columns=SCORES)
        except be.DataError as error:
            assert "\n" not in str(error) and str(tmp_path) in str(error)

    holds()


@pytest.mark.parametrize("stored", [0, 8, 11, 15, 19, 40, 2**16 - 1])
@pytest.mark.cases(2)
def test_values_of_a_type_that_matlab_does_not_have(tmp_path, stored):
    """SciPy 1.17 ends the process where it reads such a file."""
    raw, tag = big_endian(np.ones((2, 2), int)), struct.pack(">II", 3, 8)
    assert raw.count(tag) == 1
    with refused(rf"x.mat: the array 'scores' is truncated .* \(numbers stored as type {stored}"):
        read(tmp_path, raw.replace(tag, struct.pack(">II", stored, 8)))


def test_values_that_are_compressed_and_cut_off(tmp_path):
    packed = zlib.compress(big_endian(RNG.integers(0, 99, (80, 80)))[128:])[:-20]
    with refused("the array 'scores' is truncated or damaged"):
        read(tmp_path, HEAD + b"\x01\x00MI" + struct.pack(">II", 15, len(packed)) + packed, 80)

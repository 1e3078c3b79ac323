"""Damaged files: whatever a reader raises is one error that names the file and what to do."""

import io
import struct
import tokenize
import tracemalloc
import zipfile
import zlib
from fractions import Fraction
from pathlib import Path

import h5py
import numpy as np
import pytest

import bioeval as be
from bioeval.scores.formats.faults import guarded


def npy(header: str, values: bytes = b"") -> bytes:
    """An array in .npy form (version 1.0) under a header that may claim anything."""
    padded = header.encode("latin-1").ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + values


def described(shape: object, dtype: str = "<f8") -> str:
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"


def npz(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


SCORES = npy(described((2, 2)), np.eye(2).tobytes())
LABELS = npy(described((2,), "<U1"), np.array(["a", "b"]).tobytes())
# The place of the first member, as the directory at the end of a zip file has it.
OFFSET = npz({"scores": SCORES, "labels": LABELS})
PLACE = OFFSET.index(b"PK\x01\x02") + 42

HEADERS = {
    "unfinished": "{'descr': '<f8', 'shape': (2,",
    "a length beyond int64": described((2**70, 2)),
    "more values than bytes": described((10**12, 10**12)),
    "a bool as length": described((True, True)),
    "a negative length": described((-1, 2)),
    "no such dtype": described((2, 2), "<q9"),
    "no header": "",
    "values without bytes": described((10**12, 2), "|V0"),
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_headers_of_npy(tmp_path, header):
    (tmp_path / "x.labels.csv").write_text("label\na\nb\n")
    (tmp_path / "x.npy").write_bytes(npy(header, bytes(32)))
    with pytest.raises(be.DataError, match=r"x\.npy: is truncated or damaged \(.+\); expected a"):
        be.load(tmp_path / "x.npy")


def test_an_unknown_version_of_npy(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPYav\xff\xff\xff\xff" + bytes(200))
    with pytest.raises(be.DataError, match=r"x\.npy: is truncated or damaged \(it is of version"):
        be.load(tmp_path / "x.npy")


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_headers_of_npz(tmp_path, header, compression):
    content = npz({"scores": npy(header, bytes(32)), "labels": LABELS}, compression)
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(be.DataError, match=r"x\.npz: the array 'scores' is truncated .*write the"):
        be.load(tmp_path / "x.npz")


CODES = np.array([ord("a"), 0x110000], dtype="<u4").tobytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            npz({"scores": SCORES, "labels": npy(described((2,), "<U1"), CODES)}),
            "code point 0x1100",
        ),
        (npz({"scores": SCORES, "labels": npy(described((2,), ">U1"), CODES)}), "point 0x"),
        (OFFSET[:PLACE] + b"\xff\xff\xff\xf0" + OFFSET[PLACE + 4 :], "x.npz: .*is trunc"),
        (OFFSET[:PLACE] + b"\x07\x00\x00\x00" + OFFSET[PLACE + 4 :], "x.npz: .*is trunc"),
    ],
)
def test_bytes_of_npz(tmp_path, content, message):
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(be.DataError, match=message):
        be.load(tmp_path / "x.npz")


def test_the_largest_code_point_is_text(tmp_path):
    np.savez(tmp_path / "x.npz", scores=np.eye(2), labels=["\U0010ffff", "b"])
    assert be.load(tmp_path / "x.npz").probe_labels.tolist() == ["\U0010ffff", "b"]


@pytest.mark.parametrize(
    "error",
    [
        tokenize.TokenError("EOF"),
        OverflowError("too large"),
        SystemError("bad call"),
        struct.error("short"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        zlib.error("bad"),
        EOFError(),
        KeyError("scores"),
        RecursionError("deep"),
        OSError(22, "Invalid argument"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_of_a_reader_is_ours(error):
    expected = r"x\.npz: is truncated or damaged \(.+\); expected a \.npz file, write it again"
    with (
        pytest.raises(be.DataError, match=expected) as found,
        guarded(Path("x.npz"), "", "a .npz file"),
    ):
        raise error
    assert found.value.__cause__ is error


@pytest.mark.parametrize(
    "error", [be.ProtocolError("x"), be.DataError("x"), KeyboardInterrupt(), ImportError("h5py")]
)
def test_what_is_no_damage_passes(error):
    with pytest.raises(type(error)) as found, guarded(Path("x.npz")):
        raise error
    assert found.value is error


def test_the_reason_is_one_printable_line():
    with pytest.raises(be.DataError) as found, guarded(Path("x.npz")):
        raise ValueError("a\nb\x1b[31m" + "c" * 1000)
    text = str(found.value)
    assert text.isprintable() and "a b\\x1b[31mc" in text and len(text) < 300


# ------------------------------------------------------------------------ memory

HUGE = 1 << 26


def mat5(shape: tuple[int, int], body: bytes, compressed: bool) -> bytes:
    """A MATLAB 5 file of one array ``scores`` of doubles that claims `shape`."""
    parts = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, *shape)
    parts += struct.pack("<II", 1, 6) + b"scores\0\0" + struct.pack("<II", 9, len(body)) + body
    element = struct.pack("<II", 14, len(parts)) + parts
    if compressed:
        deflated = zlib.compress(element)
        element = struct.pack("<II", 15, len(deflated)) + deflated
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + element


@pytest.mark.parametrize("name", ["stored.npz", "deflated.npz", "a.npy", "bomb.mat", "hdf5.mat"])
def test_memory_is_bounded_by_the_file(tmp_path, name):
    """Neither a header nor a compressed stream makes a reader take more than the file holds."""
    path = tmp_path / name
    claim = npy(described((HUGE >> 8, 32)), bytes(64))
    if name == "a.npy":
        path.write_bytes(claim)
        (tmp_path / "a.labels.csv").write_text("label\na\n")
    elif name == "hdf5.mat":
        with h5py.File(path, "w") as file:
            file.create_dataset("scores", (HUGE >> 8, 32), "f8", chunks=(100, 32))
    elif name == "bomb.mat":
        path.write_bytes(mat5((2, 2), bytes(HUGE), compressed=True))
    else:
        kind = zipfile.ZIP_STORED if name.startswith("stored") else zipfile.ZIP_DEFLATED
        path.write_bytes(npz({"scores": claim, "labels": LABELS}, kind))
    (tmp_path / "l.csv").write_text("label\na\nb\n")
    labels = {"labels": tmp_path / "l.csv"} if path.suffix == ".mat" else {}
    tracemalloc.start()
    with pytest.raises(be.DataError, match=f"{name}: .*truncated or damaged"):
        be.load(path, **labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < HUGE >> 4


# ------------------------------------------------------------------------ subnormal numbers


def test_distances_of_subnormal_embeddings():
    """Embeddings near the smallest float are a valid input: their distance is exact."""
    tiny = 5e-324
    x = np.array([[0.0, 0.0], [3 * tiny, 4 * tiny], [0.0, 8 * tiny]])
    found = be.Scores.from_embeddings(x, [1, 1, 2], metric="l2").values
    assert Fraction(found[0, 1]) == 5 * Fraction(tiny)
    assert Fraction(found[0, 2]) == 8 * Fraction(tiny)
    assert Fraction(found[1, 2]) == 5 * Fraction(tiny)
    small = np.float32(1e-45)
    pair = np.array([[0, 0], [3 * small, 4 * small]], dtype="f4")
    single = be.Scores.from_embeddings(pair, [1, 1], metric="l2", dtype="float32").values
    assert Fraction(float(single[0, 1])) == 5 * Fraction(float(small))


# ------------------------------------------------------------------------ published files

DAMAGED = ("badcodepoint.npz", "badoffset.npz", "boolshape.npy", "hugedim.npy", "hugeshape.npy")
DAMAGED += ("tokenerror.npy", "tokenerror.npz")


@pytest.mark.parametrize("name", DAMAGED)
def test_a_collection_of_damaged_files(shared, name):
    resource = pytest.importorskip("resource")  # Windows has none
    path = shared / "damaged" / name
    options = {"labels": shared / "damaged" / "l.csv"} if name.endswith(".npy") else {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(be.DataError, match=f"{name}: .*truncated or damaged.*write"):
        be.load(path, **options)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 18  # KiB


@pytest.mark.parametrize("name", ["denormal.npz", "evil.npz", "evil.csv"])
def test_a_collection_of_odd_but_valid_files(shared, name):
    assert be.load(shared / "damaged" / name, kind="distance").shape

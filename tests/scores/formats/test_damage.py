"""Damaged files: whatever a reader raises is one error that names the file and what to do."""

import io
import pickle
import struct
import tokenize
import tracemalloc
import zipfile
import zlib

import h5py
import numpy as np
import pandas as pd
import pytest
from named_arguments import refused

import bioeval as be
from bioeval.cli import main


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


def saved(save, *arrays, **named) -> bytes:
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


EYE = np.eye(2)
SCORES = npy(described((2, 2)), EYE.tobytes())
LABELS = npy(described((2,), "<U1"), np.array(["a", "b"]).tobytes())
CODES = np.array([ord("a"), 0x110000], dtype="<u4").tobytes()
BEYOND = np.full(2, 0x7FFFFFFF, dtype="<u4").tobytes()
# The place of the first member, as the directory at the end of a zip file has it.
OFFSET = npz({"scores": SCORES, "labels": LABELS})
PLACE = OFFSET.index(b"PK\x01\x02") + 42
# The place of that directory, as the end of the file has it.
END = OFFSET.index(b"PK\x05\x06") + 16
WHOLE = saved(np.savez, scores=np.arange(10_000.0).reshape(100, 100), probe_labels=np.arange(100))
BROKEN = bytearray(WHOLE)
BROKEN[5000] ^= 255  # in the scores, so that the checksum does not fit

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

#: The name of a file, its bytes, and words of the message.
FILES = [
    ("x.npy", b"\x93NUMPYav\xff\xff\xff\xff" + bytes(200), r"or damaged \(it is of version"),
    ("x.npz", npz({"scores": SCORES, "labels": npy(described((2,), "<U1"), CODES)}), "point 0x11"),
    ("x.npz", npz({"scores": SCORES, "labels": npy(described((2,), "<U1"), BEYOND)}), "damaged"),
    ("x.npz", npz({"scores": SCORES, "labels": npy(described((2,), ">U1"), CODES)}), "point 0x"),
    ("x.npz", OFFSET[:PLACE] + b"\xff\xff\xff\xf0" + OFFSET[PLACE + 4 :], "is trunc"),
    ("x.npz", OFFSET[:PLACE] + b"\x07\x00\x00\x00" + OFFSET[PLACE + 4 :], "is trunc"),
    ("x.npz", OFFSET[:END] + b"\x88\x13\x00\x00" + OFFSET[END + 4 :], "damaged.*write the"),
    ("x.npz", WHOLE[:5000], "truncated or damaged.*write it again"),
    ("x.npz", bytes(BROKEN), "'scores' is truncated or damaged"),
    ("x.npz", WHOLE[:3], "named .npz but holds text"),
    ("x.npz", npz({"a": b"hello"}).replace(b"a.npy", b"a.txt"), "none of them an array"),
    ("x.npz", saved(np.savez, scores=np.array([[{}]], object), labels=["a"]), "never unpickles"),
    ("x.npz", saved(np.savez, scores=EYE, labels=np.array([1, "a"], object)), "never unpickles"),
    ("x.npz", saved(np.savez, scores=np.zeros((2, 2, 2)), labels=[1, 2]), r"2\); expected a mat"),
    ("x.npz", saved(np.savez, scores=EYE, labels=[1, 2], kind="far"), "kind is 'far'; expected"),
    ("x.npz", saved(np.savez, scores=EYE, labels=[1, 2], kind=[1, 2]), "expected one word of text"),
    ("x.npz", saved(np.savez, scores=np.array([["a"]]), labels=[1]), "x.npz: .*dtype <U1"),
    ("x.npz", saved(np.savez, header=[1]), "no array 'scores' or 'embeddings'"),
    ("x.npy", saved(np.save, np.eye(9))[:-8], "truncated or damaged"),
    ("x.npy", saved(np.save, np.eye(9))[:20], "truncated or damaged"),
    ("x.npy", saved(np.save, np.array([[{}]], object)), "never unpickles"),
    ("x.npy", saved(np.save, np.zeros(3)), r"\(3,\); expected a matrix.*list of their trials"),
    ("x.npy", saved(np.save, np.zeros((2, 2, 2))), r"\(2, 2, 2\); expected a matrix"),
    ("x.npy", b"", "is empty"),
    ("x.npz", pickle.dumps([1, 2], protocol=4), "pickle .never unpickled."),
    ("x.npz", b"\x89HDF\r\n\x1a\n rest", "truncated or damaged.*expected an HDF5 file"),
    ("x.mat", b"MATLAB 5.0 MAT-file", "header is not whole.*expected a MATLAB file"),
    ("x.npz", b"\x1f\x8b\x08 rest", "a gzip file"),
    ("x.bin", b"\x00\x01\x02", "an unknown binary file"),
    ("x.txt", b"1 2 0.5\n", "'1 2 0.5' names no columns"),
    *(("x.npy", npy(x, bytes(32)), r"damaged \(.+\); expected a") for x in HEADERS.values()),
    *(
        ("x.npz", npz({"scores": npy(x, bytes(32)), "labels": LABELS}, how), "'scores' is .*write")
        for x in HEADERS.values()
        for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), FILES)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "x.labels.csv").write_text("label\na\n")
    with refused(message) as error:
        be.load(tmp_path / name)
    assert str(tmp_path / name) in str(error.value) and "\n" not in str(error.value)


def test_the_largest_code_point_is_text(tmp_path):
    np.savez(tmp_path / "x.npz", scores=EYE, labels=["\U0010ffff", "b"])
    assert be.load(tmp_path / "x.npz").probe_labels.tolist() == ["\U0010ffff", "b"]


ERRORS = [
    tokenize.TokenError("EOF"), OverflowError("too large"), SystemError("bad call"),
    struct.error("short"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), zlib.error("bad"),
    EOFError(), KeyError("scores"), RecursionError("deep"), OSError(22, "Invalid argument"),
    IndexError(0), TypeError("bad header"), ValueError("a\nb\x1b[31m" + "c" * 1000),
]  # fmt: skip


@pytest.mark.parametrize("error", [*ERRORS, KeyboardInterrupt(), ImportError("h5py")], ids=type)
def test_every_error_of_a_reader_is_ours_but_those_that_are_no_damage(tmp_path, monkeypatch, error):
    names = {"__name__": "zipfile", "error": error}
    exec("def fail(*args, **options):\n    raise error", names)
    (tmp_path / "x.npz").write_bytes(WHOLE)
    monkeypatch.setattr(zipfile, "ZipFile", names["fail"])
    with pytest.raises(be.DataError if error in ERRORS else type(error)) as caught:
        be.load(tmp_path / "x.npz")
    if error not in ERRORS:
        assert caught.value is error
        return
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / 'x.npz'}: is truncated or damaged (")
    assert (
        said.endswith("); expected a .npz file, write it again") and caught.value.__cause__ is error
    )
    assert said.isprintable() and len(said) < 300 + len(str(tmp_path))


FAULTS = [KeyError(0), TypeError("None"), AttributeError("x"), IndexError(0), AssertionError()]


@pytest.mark.parametrize("fault", FAULTS, ids=type)
@pytest.mark.parametrize("form", ["npz", "csv", "parquet", "h5"])
def test_a_fault_of_bioeval_is_no_damage_of_a_file(tmp_path, monkeypatch, capsys, form, fault):
    path = tmp_path / f"x.{form}"
    if form == "npz":
        path.write_bytes(WHOLE)
    elif form == "h5":
        with h5py.File(path, "w") as file:
            file["scores"], file["labels"] = np.eye(4), np.arange(4) // 2
    else:
        table = pd.DataFrame({"distance": np.arange(8.0), "genuine": [0, 1] * 4})
        table.to_csv(path) if form == "csv" else table.to_parquet(path)

    def fail(*args, **options):
        raise fault

    monkeypatch.setattr(be.Scores, "__init__", fail)
    monkeypatch.setattr(be.Scores, "_of_pairs", fail)
    with pytest.raises(type(fault)) as caught:
        be.load(path)
    assert caught.value is fault
    assert main(["run", str(path), "--protocol", "pairs"]) == 70
    said = capsys.readouterr().err
    assert "a fault of bioeval" in said and "truncated" not in said and "Traceback" in said


# ------------------------------------------------------------------------ memory

HUGE = 1 << 26


def mat5(shape: tuple[int, int], body: bytes) -> bytes:
    """A compressed MATLAB 5 file of one array ``scores`` of doubles that claims `shape`."""
    parts = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, *shape)
    parts += struct.pack("<II", 1, 6) + b"scores\0\0" + struct.pack("<II", 9, len(body)) + body
    deflated = zlib.compress(struct.pack("<II", 14, len(parts)) + parts)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    return head + struct.pack("<II", 15, len(deflated)) + deflated


@pytest.mark.parametrize("name", ["stored.npz", "deflated.npz", "a.npy", "bomb.mat", "hdf5.mat"])
def test_memory_is_bounded_by_the_file(tmp_path, name):
    """Neither a header nor a compressed stream makes a reader take more than the file holds."""
    path, claim = tmp_path / name, npy(described((HUGE >> 8, 32)), bytes(64))
    if name == "hdf5.mat":
        with h5py.File(path, "w") as file:
            file.create_dataset("scores", (HUGE >> 8, 32), "f8", chunks=(100, 32))
    elif name.endswith("npz"):
        kind = zipfile.ZIP_STORED if name.startswith("stored") else zipfile.ZIP_DEFLATED
        path.write_bytes(npz({"scores": claim, "labels": LABELS}, kind))
    else:
        path.write_bytes(claim if name == "a.npy" else mat5((2, 2), bytes(HUGE)))
    (tmp_path / "l.csv").write_text("label\na\nb\n")
    labels = {} if path.suffix == ".npz" else {"labels": tmp_path / "l.csv"}
    tracemalloc.start()
    with refused(f"{name}: .*truncated or damaged"):
        be.load(path, **labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < HUGE >> 4

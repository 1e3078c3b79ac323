"""Flat indexes of FAISS, files of torch.save, and tensors of types that NumPy lacks."""

import io
import json
import pickle
import struct
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bioeval as be
from bioeval import DataError
from bioeval.base.narrow_floats import float32_of

X = np.arange(12, dtype="<f4").reshape(4, 3) + 1
WHO = ["a", "a", "b", "b"]


def flat(path, word=b"IxF2", metric=1, values=X, more=b""):
    """Write the bytes that ``faiss.write_index`` writes of a flat index."""
    n, d = values.shape
    head = struct.pack("<4siqqq?i", word, d, n, 1 << 20, 1 << 20, True, metric)
    path.write_bytes(head + more + struct.pack("<Q", n * d) + values.tobytes())
    path.with_name(f"{path.stem}.labels.csv").write_text("label\na\na\nb\nb\n")
    return path


@pytest.mark.parametrize(
    ("word", "metric", "more", "expected"),
    [
        (b"IxF2", 1, b"", "l2"),
        (b"IxFl", 2, b"\0\0\0\0", "l1"),
        (b"IxFl", 3, b"\0\0\0\0", "linf"),
    ],
)
def test_flat_indexes_have_their_metric(tmp_path, word, metric, more, expected):
    scores = be.load(flat(tmp_path / "x.faiss", word, metric, more=more))
    other = be.Scores.from_embeddings(X, WHO, metric=expected)
    np.testing.assert_array_equal(scores.values, other.values)


def test_inner_products_are_cosines_of_unit_vectors_alone(tmp_path):
    unit = (X / np.linalg.norm(X, axis=1)[:, None]).astype("<f4")
    scores = be.load(flat(tmp_path / "u.index", b"IxFI", 0, unit))
    np.testing.assert_array_equal(scores.values, be.Scores.from_embeddings(unit, WHO).values)
    path = flat(tmp_path / "x.index", b"IxFI", 0)
    with pytest.raises(DataError, match=r"inner products of vectors that are not all of length 1;"):
        be.load(path)
    assert be.load(path, metric="cosine").shape == (4, 4)


def test_other_indexes_and_damaged_ones(tmp_path):
    path = flat(tmp_path / "x.faiss")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match="x.faiss: is truncated or damaged"):
        be.load(path)
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(DataError, match="x.faiss: is truncated or damaged"):
        be.load(path)
    path = flat(tmp_path / "h.faiss", b"IHNf")
    with pytest.raises(DataError, match="FAISS index of the kind 'IHNf', .*reconstruct_n"):
        be.load(path)
    no_labels = flat(tmp_path / "y.faiss")
    (tmp_path / "y.labels.csv").unlink()
    with pytest.raises(DataError, match="the labels of its 4 rows are missing; expected y.labels"):
        be.load(no_labels)


def converted(message):
    """Run the line of Python of a message."""
    code = message.partition('python -c "')[2].rpartition('"')[0]
    subprocess.run([sys.executable, "-c", code], check=True)


def test_faiss_itself(tmp_path):
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexFlatL2(3)
    index.add(X)
    path = tmp_path / "x.faiss"
    faiss.write_index(index, str(path))
    (tmp_path / "labels.csv").write_text("label\na\na\nb\nb\n")
    scores = be.load(path, labels=tmp_path / "labels.csv")
    other = be.Scores.from_embeddings(X, WHO, metric="l2")
    np.testing.assert_array_equal(scores.values, other.values)
    named = faiss.IndexIDMap(faiss.IndexFlatL2(3))
    named.add_with_ids(X, np.arange(4) + 9)
    graph = faiss.IndexHNSWFlat(3, 4)
    graph.add(X)
    for other in (named, graph):
        faiss.write_index(other, str(path))
        with pytest.raises(DataError) as error:
            be.load(path)
        converted(str(error.value))
        np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), X)


def test_files_of_torch_are_refused_and_not_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    with zipfile.ZipFile(tmp_path / "x.pt", "w") as out:
        out.writestr("x/data.pkl", pickle.dumps(Evil()))
    (tmp_path / "old.pth").write_bytes(pickle.dumps(Evil(), protocol=2))
    for name in ("x.pt", "old.pth"):
        with pytest.raises(DataError, match=r"torch.save, which pickles.*torch.load\(.*\.npz"):
            be.load(tmp_path / name)


def shard(path):
    """Write vectors and subjects as WebDataset does: two files of each sample."""
    with tarfile.open(path, "w") as out:
        for i, (vector, who) in enumerate(zip(X, (0, 0, 1, 1), strict=True)):
            held = io.BytesIO()
            np.save(held, vector)
            for suffix, raw in (("npy", held.getvalue()), ("cls", b"%d" % who)):
                member = tarfile.TarInfo(f"{i:04}.{suffix}")
                member.size = len(raw)
                out.addfile(member, io.BytesIO(raw))


@pytest.mark.parametrize("name", ["x.tar", "x.bin"])
def test_shards_are_refused_with_the_line_that_converts_them(name, tmp_path):
    shard(tmp_path / name)
    with pytest.raises(DataError, match=r"is a tar archive.*webdataset.WebDataset\(.*x\.npz"):
        be.load(tmp_path / name)


def test_webdataset_itself(tmp_path):
    pytest.importorskip("webdataset")
    shard(tmp_path / "x.tar")
    with pytest.raises(DataError) as caught:
        be.load(tmp_path / "x.tar")
    line = str(caught.value).partition("python -c ")[2]
    subprocess.run([sys.executable, "-c", line.strip('"')], check=True)
    scores = be.load(tmp_path / "x.npz")
    np.testing.assert_array_equal(scores.values, be.Scores.from_embeddings(X, [0, 0, 1, 1]).values)


def test_torch_itself(tmp_path):
    torch = pytest.importorskip("torch")
    kept = {"embeddings": torch.as_tensor(X).bfloat16(), "labels": torch.tensor([0, 0, 1, 1])}
    for held, expected in ((kept, {"embeddings", "labels"}), (torch.as_tensor(X), {"embeddings"})):
        torch.save(held, tmp_path / "x.pt")
        with pytest.raises(DataError) as error:
            be.load(tmp_path / "x.pt")
        converted(str(error.value))
        with np.load(tmp_path / "x.npz") as read:
            assert set(read) == expected
            np.testing.assert_array_equal(read["embeddings"], X)


def safetensors(path, **tensors):
    """Write a safetensors file from types, shapes and bytes."""
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_narrow_floats_in_safetensors(tmp_path):
    pytest.importorskip("safetensors")
    bits = (X.view(np.uint32) >> 16).astype("<u2")
    labels = ("I64", np.array([0, 0, 1, 1]))
    safetensors(tmp_path / "x.safetensors", labels=labels, embeddings=("BF16", bits))
    scores = be.load(tmp_path / "x.safetensors", metric="l2")
    expected = be.Scores.from_embeddings(X, [0, 0, 1, 1], metric="l2")
    np.testing.assert_array_equal(scores.values, expected.values)  # small whole numbers are exact


def value_of(pattern, exponent_bits, fraction_bits, finite=False):
    """Return the value of a float from its bits, by the definition."""
    fraction = pattern & (2**fraction_bits - 1)
    exponent = (pattern >> fraction_bits) & (2**exponent_bits - 1)
    sign = -1.0 if pattern >> (fraction_bits + exponent_bits) else 1.0
    bias = 2 ** (exponent_bits - 1) - 1
    top = 2**exponent_bits - 1
    if exponent == top and (not finite or fraction == 2**fraction_bits - 1):
        return sign * np.inf if fraction == 0 and not finite else np.nan
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - fraction_bits)
    return sign * (1 + fraction / 2**fraction_bits) * 2.0 ** (exponent - bias)


@given(st.integers(0, 2**16 - 1))
def test_bfloat16_by_its_definition(pattern):
    (value,) = float32_of(np.array([pattern], dtype=np.uint16), "BF16")
    np.testing.assert_array_equal(value, np.float32(value_of(pattern, 8, 7)))


def test_floats_of_8_bits_by_their_definition():
    codes = np.arange(256, dtype=np.uint8)
    e4m3 = [value_of(int(code), 4, 3, finite=True) for code in codes]
    np.testing.assert_array_equal(float32_of(codes, "F8_E4M3"), np.float32(e4m3))
    e5m2 = [value_of(int(code), 5, 2) for code in codes]
    np.testing.assert_array_equal(float32_of(codes, "F8_E5M2"), np.float32(e5m2))

"""Matrices in containers: each chunk once, under a memory limit."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numba
import numpy as np
import pytest
from hypothesis import given, strategies as st
from limits import limited
from named_arguments import raises_about
from optional import optional_import
from scipy.spatial.distance import cdist

import bioeval as be
from bioeval.base.memory import require_bytes
from bioeval.scores.rows import rows_per_block
from bioeval.scores.stored import StoredRows


class Chunked:
    """An array in chunks that notes which rows are read."""

    def __init__(self, values, rows, columns=None, broken=()):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.chunks = (rows, columns or values.shape[1])
        self.reads, self.broken = [], broken

    def __getitem__(self, key):
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        low, high, _ = rows.indices(self.shape[0])
        left, right, _ = columns.indices(self.shape[1])
        for row, column in self.broken:
            if low <= row < high and left <= column < right:
                raise OSError("inflate error -3")
        self.reads.append((low, high))
        return self.values[rows, columns]


def matrix(n=300, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) // 5
    x = rng.normal(size=(n // 5, 8))[labels] + 0.8 * rng.normal(size=(n, 8))
    return cdist(x, x).astype(np.float32), labels


# ------------------------------------------------------------------------- rows


@given(
    *(st.integers(1, 20), st.integers(1, 7)),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8),
)
def test_any_rows_are_those_of_the_array(number, chunk, spans):
    values = np.arange(number * 3.0).reshape(-1, 3)
    rows = StoredRows(Chunked(values, chunk), "x")
    for low, high in spans:
        assert (rows[low:high] == values[low:high]).all()
        index = np.array([low, high, low]) % len(values)
        assert (rows[index] == values[index]).all()


@given(st.integers(1, 20), st.integers(1, 7), st.integers(1, 9))
def test_a_sweep_reads_each_row_once_and_whole_chunks(number, chunk, step):
    array = Chunked(np.zeros((number, 2)), chunk)
    rows = StoredRows(array, "x")
    for low in range(0, number, step):
        rows[low : low + step]
    read = np.zeros(number, dtype=int)
    for low, high in array.reads:
        read[low:high] += 1
        assert low % chunk == 0 and (high % chunk == 0 or high == number)
    assert (read == 1).all()


# ------------------------------------------------------------------------- errors


def test_a_chunk_that_cannot_be_read_is_named():
    d, labels = matrix()
    array = Chunked(d, 50, 100, broken=[(210, 130)])
    scores = be.Scores(StoredRows(array, "x.h5: 'scores'"), labels)
    message = r"x.h5: 'scores': rows 200..249, columns 100..199 cannot be read \(inflate error -3\)"
    with pytest.raises(be.DataError, match=message):
        be.evaluate(scores)


# ------------------------------------------------------------------------- results


def containers(d, folder):
    path = folder / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("scores", data=d, chunks=(70, 90), compression="gzip")
    yield h5py.File(path)["scores"]
    zarr = optional_import("zarr")
    yield zarr.create_array(folder / "x.zarr", data=d, chunks=(70, 90))


@pytest.mark.slow
def test_results_are_those_of_the_array_on_any_number_of_threads(tmp_path):
    d, labels = matrix(600)
    order = np.random.default_rng(1).permutation(600)
    shuffled = labels[order]
    expected = be.evaluate(be.Scores(d, shuffled))
    before = numba.get_num_threads()
    try:
        for values in containers(d, tmp_path):
            for threads in {1, before}:
                numba.set_num_threads(threads)
                found = be.evaluate(limited(be.Scores(values, shuffled), "200 MiB"))
                for node in expected.leaves:
                    same, counted = node.to_dataset(), found[node.path].to_dataset()
                    if (
                        "d_prime" in same
                    ):  # a sum over tiles: its last digits are those of the tiles
                        np.testing.assert_allclose(counted.d_prime, same.d_prime, rtol=1e-12)
                        same, counted = same.drop_vars("d_prime"), counted.drop_vars("d_prime")
                    assert counted.equals(same)
    finally:
        numba.set_num_threads(before)


@pytest.mark.parametrize("evaluation", [be.evaluate, be.verification])
def test_a_small_container_is_read_once_for_operating_points(evaluation):
    d, labels = matrix(600)
    array = Chunked(d, 60, 100)
    scores = be.Scores(StoredRows(array, "x"), labels)
    evaluation(scores)
    assert sum(high - low for low, high in array.reads) == 600
    assert scores.cells.is_stored  # what was read is not kept


def test_a_dataset_travels_to_another_process(tmp_path, monkeypatch):
    d, _ = matrix(60)
    monkeypatch.chdir(tmp_path)
    with h5py.File("x.h5", "w") as file:
        file["scores"] = d
    sent = pickle.dumps(StoredRows(h5py.File("x.h5")["scores"]))
    monkeypatch.chdir(tmp_path.parent)  # the other one may be elsewhere
    assert (pickle.loads(sent)[10:20] == d[10:20]).all()


# ------------------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("given_", "number"),
    [("2 GiB", 2 << 30), ("500MB", 500_000_000), ("1.5kib", 1536), (7, 7), ("7", 7), ("3 B", 3)],
)
def test_bytes_are_read_with_their_units(given_, number):
    assert require_bytes("memory_limit", given_) == number


@pytest.mark.parametrize("wrong", ["", "GiB", "2 apples", "-1", 0, 1.5, True, "1e9", None])
def test_what_is_no_number_of_bytes_is_refused(wrong):
    with raises_about(be.DataError, "memory_limit"):
        require_bytes("memory_limit", wrong)


@pytest.mark.parametrize("chunk", [1, 100])
def test_the_smallest_limit_that_is_named_works(chunk, tmp_path):
    d, labels = matrix(600)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("scores", data=d, chunks=(chunk, 600))
    scores = be.Scores(h5py.File(tmp_path / "x.h5")["scores"], labels)
    with pytest.raises(
        be.DataError, match="`memory_limit` is 1 MiB, too little.*at least"
    ) as found:
        be.evaluate(limited(scores, "1 MiB"))
    least = re.search(r"at least ([\d.]+ .iB)", str(found.value))
    assert least is not None
    enough = limited(scores, least[1])
    assert rows_per_block(enough) >= chunk
    assert be.verification(enough).eer == be.verification(be.Scores(d, labels)).eer


#: Bytes that an evaluation takes at its peak, beyond those of one of a few templates before it.
PEAK = """
import re
import sys
from pathlib import Path

import h5py
import numpy as np
import bioeval as be

def status(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

def values(path):
    return np.load(path, mmap_mode="r") if path.endswith("npy") else h5py.File(path)["scores"]

few, many, limit = sys.argv[1:]
be.evaluate(be.Scores(values(few), np.arange(600) // 5))
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
before = status("VmRSS")
with be.set_options(memory_limit=limit):
    scores = be.Scores(values(many), np.arange(5000) // 5)
be.evaluate(scores)
print(status("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("kind", ["npy", "h5"])
def test_peak_memory_is_within_the_limit(kind, tmp_path):
    files = []
    for size in (600, 5000):
        files.append(str(tmp_path / f"{size}.{kind}"))
        if kind == "npy":
            np.save(files[-1], matrix(size)[0])
            continue
        with h5py.File(files[-1], "w") as out:
            chunks = {"chunks": (200, 500), "compression": "gzip"}
            out.create_dataset("scores", data=matrix(size)[0], **chunks)
    program = [sys.executable, "-c", PEAK, *files, "170 MiB"]
    # Once more, since a first run may compile a kernel, which takes memory that no limit knows.
    runs = (subprocess.run(program, capture_output=True, text=True, check=True) for _ in range(2))
    assert any(int(done.stdout) < 170 << 20 for done in runs)

"""Matrices in containers: each chunk once, under a memory limit."""

import itertools
import os
import pickle
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import h5py
import numba
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from limits import limited
from named_arguments import refused
from optional import optional_import
from reference import assert_same_but_d_prime
from result_messages import codes
from scipy.io import savemat
from scipy.spatial.distance import cdist

import bioeval as be


class Chunked:
    """An array in chunks, as of zarr, that notes which rows are read.

    Reading a cell of `broken`, (row, column), raises.
    """

    __module__ = "zarr.test"

    def __init__(self, values, rows, columns=None, broken=()):
        self.values = values
        self.shape = values.shape
        self.dtype = values.dtype
        self.chunks = (rows, columns or values.shape[1])
        self.broken = broken
        self.reads = []  # first row and end of each read
        self.store_path = "x.zarr: 'scores'"

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
    embeddings = rng.normal(size=(n // 5, 8))[labels] + 0.8 * rng.normal(size=(n, 8))
    return cdist(embeddings, embeddings).astype(np.float32), labels


def in_hdf5(path, d, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("scores", data=d, **options)
    return h5py.File(path)["scores"]


@given(
    *(st.integers(1, 20), st.integers(1, 7), st.integers(1, 9)),
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8),
)
def test_any_rows_are_those_of_the_array_and_a_sweep_reads_whole_chunks_once(
    number, chunk, step, spans
):
    values = np.arange(number * 3.0).reshape(-1, 3)
    array = Chunked(values, chunk)
    cells = be.Scores(array, np.arange(number), np.arange(3)).cells
    for low in range(0, number, step):
        cells.read(low, min(number, low + step))
    read = np.zeros(number, dtype=int)
    for low, high in array.reads:
        read[low:high] += 1
        assert low % chunk == 0 and (high % chunk == 0 or high == number)
    assert (read == 1).all()
    for low, high in spans:
        low, high = low % number, max(low % number, high % number)
        assert (cells.read(low, high) == values[low:high]).all()
        rows = [low, high, low]
        selected = be.Scores(array, np.arange(number), np.arange(3)).select(probes=rows)
        np.testing.assert_array_equal(selected.cells.read(0, 3), values[rows])


def test_a_chunk_that_cannot_be_read_is_named():
    distances, labels = matrix()
    scores = be.Scores(Chunked(distances, 50, 100, broken=[(210, 130)]), labels)
    with refused(r"x.zarr: 'scores': rows 200..249, columns 100..199 cannot be read \(inflate err"):
        be.evaluate(scores)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["h5py", "zarr"])
def test_results_are_those_of_the_array_on_any_number_of_threads(tmp_path, library):
    distances, labels = matrix(600)
    # Rows and columns are shuffled along with the labels: shuffled labels alone would give scores
    # near chance, and a message whose AUC is estimated from a sample of chunks.
    order = np.random.default_rng(1).permutation(600)
    distances = distances[np.ix_(order, order)]
    shuffled = labels[order]
    expected = be.evaluate(be.Scores(distances, shuffled))
    before = numba.get_num_threads()
    if library == "h5py":
        values = in_hdf5(tmp_path / "x.h5", distances, chunks=(70, 90), compression="gzip")
    else:
        zarr = optional_import("zarr")
        values = zarr.create_array(tmp_path / "x.zarr", data=distances, chunks=(70, 90))
    try:
        for threads in {1, before}:
            numba.set_num_threads(threads)
            evaluated = be.evaluate(limited(be.Scores(values, shuffled), "200 MiB"))
            for node in expected.leaves:
                assert_same_but_d_prime(evaluated[node.path].to_dataset(), node.to_dataset())
    finally:
        numba.set_num_threads(before)


@pytest.mark.parametrize("evaluation", [be.evaluate, be.verification])
def test_a_small_container_is_read_once_for_operating_points(evaluation):
    distances, labels = matrix(600)
    array = Chunked(distances, 60, 100)
    scores = be.Scores(array, labels)
    evaluation(scores)
    assert sum(high - low for low, high in array.reads) == 600
    assert scores.cells.is_stored  # what was read is not kept


def test_a_dataset_travels_to_another_process(tmp_path, monkeypatch):
    distances, labels = matrix(60)
    monkeypatch.chdir(tmp_path)
    sent = pickle.dumps(be.Scores(in_hdf5("x.h5", distances), labels))
    monkeypatch.chdir(tmp_path.parent)  # the other one may be elsewhere
    assert (np.asarray(pickle.loads(sent).values)[10:20] == distances[10:20]).all()


@pytest.mark.parametrize("read", [1 << 20, "1048576", "1 MiB", "1024kib", "1.048576MB", "1048576B"])
def test_bytes_are_read_with_their_units(read):
    distances, labels = matrix(600)
    with be.set_options(memory_limit=read):
        scores = be.Scores(Chunked(distances, 600), labels)
    with refused("`memory_limit` is 1 MiB, too little"):
        be.verification(scores)


@pytest.mark.parametrize("chunk", [1, 100])
def test_the_smallest_limit_that_is_named_works(chunk, tmp_path):
    distances, labels = matrix(600)
    scores = be.Scores(in_hdf5(tmp_path / "x.h5", distances, chunks=(chunk, 600)), labels)
    with refused("`memory_limit` is 1 MiB, too little.*at least") as raised:
        be.evaluate(limited(scores, "1 MiB"))
    least = re.search(r"at least ([\d.]+ .iB)", str(raised.value))
    enough = be.verification(limited(scores, least[1]))
    assert enough.eer == be.verification(be.Scores(distances, labels)).eer


#: Program that prints the peak bytes of an evaluation of many templates, beyond the bytes that are
#: in use after an evaluation of a few.
PEAK = """
import re
import sys
import tracemalloc
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import bioeval as be

def status(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

def scores_of(path, templates):
    labels = np.arange(templates) // 5
    if path.endswith("features.npy"):
        return be.Scores.from_embeddings(np.load(path), labels, metric="l2")
    if path.endswith("h5"):
        return be.Scores(h5py.File(path)["scores"], labels)
    return be.Scores(np.load(path, mmap_mode="r"), labels)

few, many, limit = sys.argv[1:]
with be.set_options(memory_limit=limit):
    be.evaluate(scores_of(few, 1100), max_rank=20)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status("VmRSS")
    scores = scores_of(many, 5000)
    assert scores.streams or "features" not in many
    be.evaluate(scores, max_rank=20)
print(status("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("kind", ["npy", "h5", "features.npy"])
def test_peak_memory_is_within_the_limit(kind, tmp_path):
    """5,000 x 5,000 distances of embeddings, of which no matrix is made, are 200 MB in float64."""
    files = []
    for size in (1100, 5000):
        files.append(str(tmp_path / f"{size}.{kind}"))
        if kind.endswith("npy"):
            features = be.simulate_embeddings(size // 5, 5, dimensions=64).embeddings
            np.save(files[-1], matrix(size)[0] if kind == "npy" else features)
            continue
        with h5py.File(files[-1], "w") as out:
            chunks = {"chunks": (200, 500), "compression": "gzip"}
            out.create_dataset("scores", data=matrix(size)[0], **chunks)
    program = [sys.executable, "-c", PEAK, *files, "170 MiB"]
    # Once more, since a first run may compile a kernel, which takes memory that no limit knows.
    runs = (subprocess.run(program, capture_output=True, text=True, check=True) for _ in range(2))
    assert any(int(done.stdout) < 170 << 20 for done in runs)


def stored_matrix(path, distances, **options):
    """Write a matrix with labels as .h5, or as .npy in either order of its values."""
    labels = np.arange(len(distances)) // 5
    if path.suffix == ".h5":
        with h5py.File(path, "w") as file:
            file.create_dataset("scores", data=distances, **options)
            file["labels"] = labels
        return
    if path.suffix == ".npz":
        np.savez(path, labels=labels, scores=distances)
        return
    np.save(path, distances)
    path.with_suffix(".labels.csv").write_text("label\n" + "\n".join(map(str, labels)))


def halved(path):
    with open(path, "rb+") as file:
        file.truncate(path.stat().st_size // 2)


def touched(path):
    os.utime(path, ns=(0, 1_000_000_007))


def removed_values(path):
    path.write_bytes(b"")


FILES = ["x.h5", "x.npy", "columns.npy", "x.npz", "mapped.npy"]
CHANGES = [
    (halved, "changed while it was read .*bytes became"),
    (touched, "changed while it was read .it was written to"),
    (removed_values, "changed while it was read .*bytes became 0"),
]


def loaded_by_rows(path):
    with be.set_options(memory_limit="1 GiB"):
        if not path.name.startswith("mapped"):
            return be.load(path)
        values = np.load(path, mmap_mode="r")
        return be.Scores(values, np.arange(len(values)) // 5)


@pytest.mark.parametrize("change, message", CHANGES)
@pytest.mark.parametrize("file", FILES)
def test_a_file_that_changes_before_or_between_its_blocks_is_an_error(
    file, change, message, tmp_path
):
    distances, _ = matrix(1100)
    path = tmp_path / file
    stored_matrix(path, np.asfortranarray(distances) if file.startswith("col") else distances)
    scores = loaded_by_rows(path)
    blocks = []

    def interfere(done, rows):
        blocks.append(done)
        if len(blocks) == 2:
            change(path)

    with be.set_options(threads=1, progress=interfere), refused(f"{file}: {message}"):
        be.verification(scores)
    assert len(blocks) == 2
    with refused(f"{file}: {message}"):
        be.verification(scores)
    with refused(f"{file}: {message}"):
        be.Scores(scores.cells.source, np.arange(1100)).cells.read(0, 3)


@pytest.mark.parametrize("order", "CF")
def test_a_mapped_file_that_was_removed_or_replaced_is_read_as_it_was(order, tmp_path):
    """The map has the values of the file that was opened."""
    distances, labels = matrix(200)
    path = tmp_path / "x.npy"
    expected = be.verification(be.Scores(distances, labels))
    for other in (None, 2.0 + distances, distances[:3]):
        np.save(path, np.array(distances, order=order))
        mapped = np.load(path, mmap_mode="r")
        path.unlink()
        if other is not None:
            np.save(path, np.array(other, order=order))
        with be.set_options(memory_limit="1 GiB"):
            scores = be.Scores(mapped, labels)
            assert be.verification(scores).identical(expected)
            assert not scores.cells.is_stored


def test_a_memory_limit_hides_no_doubt_of_a_square_matrix(tmp_path):
    values = np.random.default_rng(5).random((40, 40))
    np.save(tmp_path / "x.npy", values)
    labels = np.arange(40) // 4
    said = codes(be.verification(be.Scores(values, labels)))
    assert "not-all-against-all" in said
    with be.set_options(memory_limit="1 GiB"):
        mapped = be.Scores(np.load(tmp_path / "x.npy", mmap_mode="r"), labels)
        assert codes(be.verification(mapped)) == said


@pytest.mark.parametrize("file", FILES)
def test_rows_of_a_file_are_those_of_the_array(file, tmp_path):
    distances, labels = matrix(1100)
    path = tmp_path / file
    stored_matrix(path, np.asfortranarray(distances) if file.startswith("col") else distances)
    scores = loaded_by_rows(path)
    for low, high in [(0, 1100), (3, 3), (7, 900), (1099, 1100)]:
        np.testing.assert_array_equal(scores.cells.read(low, high), distances[low:high])
    np.testing.assert_array_equal(scores.values, distances)
    chosen = scores.select(probes=[5, 3, 1000], gallery=range(100, 400))
    np.testing.assert_array_equal(chosen.cells.read(0, 3), distances[[5, 3, 1000], 100:400])
    received = pickle.loads(pickle.dumps(scores))
    np.testing.assert_array_equal(received.cells.read(4, 9), distances[4:9])
    expected = be.verification(be.Scores(distances, labels))
    for loaded in (scores, be.load(path)):
        read = be.verification(loaded)
        read.attrs = expected.attrs
        assert_same_but_d_prime(read, expected)


@pytest.mark.parametrize("file", FILES)
def test_another_process_refuses_a_file_that_changed_on_the_way(file, tmp_path):
    distances, _ = matrix(60)
    path = tmp_path / file
    stored_matrix(path, distances)
    sent = pickle.dumps(loaded_by_rows(path))
    touched(path)
    with refused(f"{file}: changed while it was read"):
        pickle.loads(sent)


def test_a_file_that_is_replaced_as_a_whole_is_read_as_it_was(tmp_path):
    distances, labels = matrix(600)
    path = tmp_path / "x.npy"
    stored_matrix(path, distances)
    scores = loaded_by_rows(path)
    np.save(tmp_path / "new.npy", np.zeros_like(distances))
    os.replace(tmp_path / "new.npy", path)
    assert be.verification(scores).eer == be.verification(be.Scores(distances, labels)).eer


def test_a_process_may_write_to_its_own_container(tmp_path):
    distances, labels = matrix(600)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        values = file.create_dataset("scores", data=distances, chunks=(100, 600))
        scores = be.Scores(values, labels)
        file["more"] = np.zeros(100_000)
        file.flush()
        assert be.verification(scores).eer == be.verification(be.Scores(distances, labels)).eer


@pytest.mark.parametrize(
    "file, part",
    [("pairs.csv", "scores"), *itertools.product(["x.npz", "x.npy", "x.h5"], ["scores", "labels"])],
)
def test_a_file_that_changes_while_it_is_loaded_is_an_error(file, part, tmp_path, monkeypatch):
    distances, labels = matrix(60)
    path = tmp_path / file
    if file == "x.npz":
        np.savez(path, scores=distances, probe_labels=labels)
    elif file == "pairs.csv":
        rows = [
            f"{i},{j},{labels[i]},{labels[j]},{distances[i, j]}"
            for i in range(60)
            for j in range(i)
        ]
        header = "template_a,template_b,subject_a,subject_b,score"
        path.write_text("\n".join([header, *rows]))
    else:
        stored_matrix(path, distances)
    changed = path if part == "scores" else tmp_path / "labels.csv"
    options = {"kind": "distance"}
    if part == "labels":
        changed.write_text("label\n" + "\n".join(map(str, labels)))
        options["labels"] = changed

    def interfere(scores, *ids):
        with open(changed, "ab") as out:
            out.write(b"\n")
        return scores

    monkeypatch.setattr("bioeval.scores.formats.marking", interfere)
    with refused(f"{changed.name}: changed while it was read"):
        be.load(path, **options)


@pytest.mark.parametrize(
    "file", ["x.npz", "x.mat", "pairs.csv", "pairs.parquet", "pairs.npz", "embeddings.npz"]
)
def test_a_file_that_is_read_whole_is_refused_with_the_least_limit(file, tmp_path):
    distances, labels = matrix(1100)
    path = tmp_path / file
    row, column = np.divmod(np.arange(200_000), 1100)
    pairs = {"distance": distances[row, column], "genuine": labels[row] == labels[column]}
    if file == "x.mat":
        savemat(path, {"scores": distances, "labels": labels}, do_compression=True)
    elif file == "x.npz":
        np.savez_compressed(path, scores=distances, labels=labels)
    elif file == "pairs.csv":
        pd.DataFrame(pairs).astype({"genuine": int}).to_csv(path, index=False)
    elif file == "pairs.parquet":
        pd.DataFrame(pairs).to_parquet(path)
    elif file == "pairs.npz":
        np.savez(path, scores=pairs["distance"], genuine=pairs["genuine"])
    else:
        np.savez(path, embeddings=distances, labels=labels)
    expected = be.verification(be.load(path)).eer
    with be.set_options(memory_limit="3 MiB"), refused("is read whole|are read whole") as raised:
        be.load(path)
    least = re.search(r"(?:at least|would take) ([\d.]+ .iB)", str(raised.value))
    with be.set_options(memory_limit=least[1]):
        assert be.verification(be.load(path)).eer == expected
    tracemalloc.start()
    with be.set_options(memory_limit=f"{int(least[1].split()[0]) - 1} MiB"), refused("whole"):
        be.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 << 20  # the values were not read


def test_embeddings_are_compared_within_the_limit_or_refused():
    drawn = be.simulate_embeddings(110, 10, dimensions=8)
    expected = be.verification(be.Scores.from_embeddings(drawn.embeddings, drawn.labels)).eer
    with be.set_options(memory_limit="1 MiB"):
        scores = be.Scores.from_embeddings(drawn.embeddings, drawn.labels)
    with refused("`memory_limit` is 1 MiB, too little.*at least"):
        be.verification(scores)
    assert be.verification(limited(scores, "60 MiB")).eer == expected


def test_damage_of_an_archive_that_is_read_by_rows_is_an_error(tmp_path):
    distances, _ = matrix(60)
    path = tmp_path / "x.npz"
    stored_matrix(path, distances)
    raw = bytearray(path.read_bytes())
    place = bytes(raw).index(distances[30].tobytes())
    raw[place] ^= 1
    path.write_bytes(raw)
    with refused("x.npz: the array 'scores' is truncated or damaged"):
        loaded_by_rows(path)

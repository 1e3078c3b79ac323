"""Large stored arrays of an archive are mapped where they lie, and verified as they are counted."""

from __future__ import annotations

import pickle
import shutil
import zipfile
from threading import Event
from time import sleep
from types import SimpleNamespace

import numpy as np
import pytest

import bioeval as be
from bioeval.scores.formats import archive
from bioeval.scores.stored import SpooledRows


@pytest.fixture
def mapped(monkeypatch):
    monkeypatch.setattr(archive, "MAPPED_BYTES", 1)


def archived(path):
    values = np.random.default_rng(1).random((40, 40))
    labels = np.repeat(["ann", "bob", "cai", "dee"], 10)
    np.savez(path, scores=values, labels=labels)
    return be.Scores(values, labels)


def damage(path):
    """Change one bit of a score."""
    data = bytearray(path.read_bytes())
    data[data.index(b"NUMPY") + 128 + 8000] ^= 1
    path.write_bytes(data)


@pytest.mark.slow
@pytest.mark.parametrize("length", range(8))
@pytest.mark.cases(2)
def test_mapped_wherever_they_lie(tmp_path, mapped, length):
    path = tmp_path / "s.npz"
    scores = archived(path)
    # Another array before the scores moves them to any place of an 8-byte word.
    np.savez(path, a=np.zeros(length, "uint8"), scores=scores.values, labels=scores.probe_labels)
    found = be.load(path)
    assert found._verification is not None and not found.values.flags.owndata
    for task in (be.verification, be.closed_set, be.open_set):
        assert task(found).drop_attrs().identical(task(scores).drop_attrs())


def test_own_files_are_aligned(tmp_path, mapped):
    path = tmp_path / "s.npz"
    be.save(archived(path), path)
    found = be.load(path)
    assert found.values.ctypes.data % 64 == 0 and found._in_memory


@pytest.mark.parametrize(
    "use",
    [
        *(be.verification, be.evaluate, be.ranks, be.plot.matrix),
        lambda scores: scores.at_pairs([0], [1]),
        lambda scores: be.cross_evaluate(scores, be.partition.SubjectKFold(2)),
        lambda scores: be.study_threshold(
            scores,
            "eer",
            folds=2,
            repeats=1,
            interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
        ),
    ],
)
@pytest.mark.cases(1)
def test_damaged_scores_give_no_result(tmp_path, mapped, use):
    path = tmp_path / "s.npz"
    archived(path)
    damage(path)
    with pytest.raises(be.DataError, match="'scores'.*checksum.*write the file again"):
        use(be.load(path))


def test_damaged_scores_are_not_saved(tmp_path, mapped):
    path = tmp_path / "s.npz"
    archived(path)
    damage(path)
    with pytest.raises(be.DataError, match="checksum"):
        be.save(be.load(path), tmp_path / "again.npy")
    assert not (tmp_path / "again.npy").exists()


def test_a_pickled_copy_is_verified(tmp_path, mapped):
    path = tmp_path / "s.npz"
    scores = archived(path)
    copy = pickle.loads(pickle.dumps(be.load(path)))
    assert np.array_equal(copy.values, scores.values)
    copy._verify()


def test_transposed_arrays_are_read(tmp_path, mapped):
    path = tmp_path / "s.npz"
    scores = archived(path)
    np.savez(path, scores=np.asfortranarray(scores.values), labels=scores.probe_labels)
    found = be.load(path)
    assert found._verification is None and np.array_equal(found.values, scores.values)


# ---------------------------------------------------------------- compressed arrays


@pytest.fixture
def inflated(tmp_path, mapped, monkeypatch):
    """A compressed archive that is inflated in pieces that end anywhere in a row."""
    monkeypatch.setattr(archive, "_PIECE_BYTES", 1000)
    path = tmp_path / "s.npz"
    scores = archived(path)
    np.savez_compressed(path, scores=scores.values, labels=scores.probe_labels)
    return path, scores


def test_compressed_arrays_are_inflated_as_they_are_counted(inflated):
    path, scores = inflated
    found = be.load(path)
    assert isinstance(found._base, SpooledRows)
    for task in (be.verification, be.open_set, be.verification):
        assert task(found).drop_attrs().identical(task(scores).drop_attrs())
    some = [5, 39, 0]
    assert np.array_equal(found.select(some, some).values, scores.select(some, some).values)
    assert (
        found.at_pairs([0, 39], [1, 2]).values.tolist() == scores.values[[0, 39], [1, 2]].tolist()
    )
    copy = pickle.loads(pickle.dumps(found))
    assert np.array_equal(copy.values, scores.values)
    copy._verify()


def test_rows_are_there_when_they_have_arrived():
    values = np.arange(12.0).reshape(4, 3)
    first, rest = Event(), Event()

    def pieces():
        yield values[:2].tobytes()
        assert first.wait(10)
        yield values[2:].tobytes()
        assert rest.wait(10)

    rows = SpooledRows("x", values.shape, values.dtype, pieces())
    assert rows[0:2].tolist() == values[:2].tolist()
    first.set()
    assert rows[np.array([3, 1])].tolist() == values[[3, 1]].tolist()
    rest.set()
    rows.verification.verify()


@pytest.mark.parametrize("use", [be.verification, be.evaluate, lambda s: s.at_pairs([0], [1])])
def test_damaged_compressed_scores_give_no_result(inflated, use):
    path, _ = inflated
    with zipfile.ZipFile(path) as file:
        member = file.getinfo("scores.npy")
    data = bytearray(path.read_bytes())
    middle = member.header_offset + int(member.compress_size * 0.5)
    data[middle : middle + 40] = bytes(40)
    path.write_bytes(data)
    scores = be.load(path)
    for _ in range(2):
        with pytest.raises(be.DataError, match="'scores' is truncated or damaged"):
            use(scores)


def test_a_matrix_that_is_dropped_is_read_no_further():
    seen = []

    def pieces():
        for i in range(1000):
            seen.append(i)
            yield bytes(8)
            sleep(0.001)

    rows = SpooledRows("x", (1000, 1), np.dtype(float), pieces())
    verification = rows.verification
    del rows
    with pytest.raises(be.DataError, match="not read to its end"):
        verification.verify()
    assert len(seen) < 1000


def test_without_room_for_a_temporary_file_the_array_is_read(inflated, monkeypatch):
    path, scores = inflated
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=100))
    found = be.load(path)
    assert found._verification is None and np.array_equal(found.values, scores.values)


def test_a_temporary_file_that_cannot_be_written_is_named(monkeypatch):
    def pieces():
        yield bytes(4)
        raise OSError(28, "No space left on device")

    rows = SpooledRows("x.npz", (2, 1), np.dtype(float), pieces())
    with pytest.raises(
        be.DataError, match="x.npz could not be decompressed to .*No space left .*TMPDIR"
    ):
        rows[0:2]

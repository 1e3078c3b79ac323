"""Large stored arrays of an archive are mapped where they lie, and verified as they are counted."""

from __future__ import annotations

import pickle
import zipfile

import numpy as np
import pytest

import bioeval as be
from bioeval.scores.formats import archive


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
        be.save(be.load(path), tmp_path / "again.npz")
    assert not (tmp_path / "again.npz").exists()


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


def test_compressed_arrays_are_read_and_verified(tmp_path, mapped):
    path = tmp_path / "s.npz"
    scores = archived(path)
    np.savez_compressed(path, scores=scores.values, labels=scores.probe_labels)
    found = be.load(path)
    assert found._verification is None and np.array_equal(found.values, scores.values)
    with zipfile.ZipFile(path) as file:
        member = file.getinfo("scores.npy")
    data = bytearray(path.read_bytes())
    middle = member.header_offset + member.compress_size // 2
    data[middle : middle + 40] = bytes(40)
    path.write_bytes(data)
    with pytest.raises(be.DataError, match="'scores' is truncated or damaged"):
        be.load(path)

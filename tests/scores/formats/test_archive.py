"""Large stored arrays of an archive are mapped where they lie, and verified as they are counted."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import bioeval as be
from bioeval.scores.checksum import Checksum
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


@pytest.mark.parametrize("length", range(8))
def test_mapped_wherever_they_lie(tmp_path, mapped, length):
    path = tmp_path / "s.npz"
    scores = archived(path)
    # Another array before the scores moves them to any place of an 8-byte word.
    np.savez(path, a=np.zeros(length, "uint8"), scores=scores.values, labels=scores.probe_labels)
    found = be.load(path)
    assert found.checksum is not None and not found.values.flags.owndata
    for task in (be.verification, be.closed_set, be.open_set):
        assert task(found).drop_attrs().identical(task(scores).drop_attrs())


def test_own_files_are_aligned(tmp_path, mapped):
    path = tmp_path / "s.npz"
    be.save(archived(path), path)
    found = be.load(path)
    assert found.values.ctypes.data % 64 == 0 and found.in_memory


@pytest.mark.parametrize(
    "use",
    [
        *(be.verification, be.evaluate, be.tally, be.ranks, be.plot.matrix),
        lambda scores: scores.at_pairs([0], [1]),
        lambda scores: be.cross_evaluate(scores, be.partition.SubjectKFold(2)),
        lambda scores: be.study_threshold(scores, "eer", folds=2, repeats=1, replicates=100),
    ],
)
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
    copy.verify()


def test_compressed_and_transposed_arrays_are_read(tmp_path, mapped):
    path = tmp_path / "s.npz"
    scores = archived(path)
    np.savez_compressed(path, scores=scores.values, labels=scores.probe_labels)
    assert be.load(path).checksum is None
    np.savez(path, scores=np.asfortranarray(scores.values), labels=scores.probe_labels)
    assert np.array_equal(be.load(path).values, scores.values)


def test_a_file_that_has_gone_is_not_verified(tmp_path, capfd):
    gone = Checksum("s.npz: the array 'scores'", tmp_path / "gone.npz", 0, 8, 0)
    with pytest.raises(be.DataError, match="'scores'.*checksum"):
        gone.verify()
    assert capfd.readouterr().err == ""

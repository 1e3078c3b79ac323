"""Files that workers read themselves: the same values, and never those of another file."""

from __future__ import annotations

import io
import os
import types

import numpy as np
import pytest

import bioeval as be
from bioeval.evaluation.blocks.sent_passes import (
    FileMissingOnWorker,
    pack,
    place_in_file,
    sent_rows,
    unpack,
)
from bioeval.scores.formats import archive
from tests.optional import optional_import

optional_import("distributed")


def saved(tmp_path, kind):
    """Return scores that are loaded from a file of some kind, and the file that dates it."""
    scores = be.simulate(12, 3, random_state=1)
    if kind in ("zarr 2", "zarr 3"):
        zarr = optional_import("zarr")
        path = tmp_path / "s.zarr"
        group = zarr.open_group(str(path), mode="w", zarr_format=int(kind[-1]))
        values = np.asarray(scores.values)
        group.create_array("scores", shape=values.shape, dtype="f8", chunks=(5, 36))[:] = values
        array = zarr.open_array(str(path), path="scores", mode="r")
        metadata = ".zarray" if kind == "zarr 2" else "zarr.json"
        return be.Scores(array, scores.probe_labels), path / "scores" / metadata
    path = tmp_path / kind
    if kind == "s.npy":
        np.save(path, scores.values)
        return be.Scores(np.load(path, mmap_mode="r"), scores.probe_labels), path
    if kind == "s.npz":
        np.savez(path, scores=scores.values, probe_labels=scores.probe_labels)
        return be.load(path), path
    be.save(scores, path)
    return be.load(path), path


def fake_pass(scores):
    return types.SimpleNamespace(scores=scores, also_read=(), reads_rows=True)


KINDS = ("s.npy", "s.npz", "s.h5", "zarr 2", "zarr 3")


@pytest.mark.parametrize("kind", KINDS)
def test_a_worker_reads_a_file_itself(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(archive, "MAPPED_BYTES", 0)
    scores, dated = saved(tmp_path, kind)
    packed = pack(fake_pass(scores))
    assert packed.arrays == packed.matrices == sent_rows(packed, 3, 9) == {}
    result, matrices = unpack(packed.data, [])
    assert matrices == {}
    assert type(result.scores._base) is type(scores._base)
    np.testing.assert_array_equal(result.scores._base[3:9], scores._base[3:9])
    os.utime(dated, ns=(1, 1))
    with pytest.raises(FileMissingOnWorker):
        unpack(packed.data, [])
    dated.rename(dated.with_name("elsewhere"))
    with pytest.raises(FileMissingOnWorker):
        unpack(packed.data, [])


def test_arrays_that_arrive_at_any_byte_of_a_message_are_aligned():
    features = np.random.default_rng(1).normal(size=(2000, 70))
    scores = be.Scores.from_embeddings(features, np.repeat(np.arange(500), 4), memory_limit=1 << 20)
    packed = pack(fake_pass(scores))
    sent = []
    for array in packed.arrays.values():
        message = np.zeros(array.nbytes + 1, dtype=np.uint8)
        there = message[1:].view(array.dtype).reshape(array.shape)
        there[:] = array
        sent.append(there)
    assert sent and not any(array.flags.aligned for array in sent)
    found, _ = unpack(packed.data, sent)
    assert all(x.flags.aligned for x in found.scores._base.sides)
    np.testing.assert_array_equal(found.scores._base[3:9], scores._base[3:9])


def test_what_others_do_not_see_is_sent(tmp_path):
    values = np.arange(36.0).reshape(6, 6)
    np.save(tmp_path / "s.npy", values)
    assert place_in_file(values) is None
    assert place_in_file(np.load(tmp_path / "s.npy", mmap_mode="c")) is None
    mapped = np.load(tmp_path / "s.npy", mmap_mode="r")
    assert place_in_file(mapped[:, ::2]) is None
    assert place_in_file(mapped[2:])[4] == place_in_file(mapped)[4] + 2 * 6 * 8
    (tmp_path / "s.npy").unlink()
    assert place_in_file(mapped) is None
    h5py = optional_import("h5py")
    with h5py.File(tmp_path / "s.h5", "w") as file:
        file["scores"] = values
        assert place_in_file(file["scores"]) is None  # may not be on the disk yet
    buffer = h5py.File(io.BytesIO((tmp_path / "s.h5").read_bytes()), "r")
    assert place_in_file(buffer["scores"]) is None
    zarr = optional_import("zarr")
    assert place_in_file(zarr.create_array({}, shape=(2, 2), dtype="f8")) is None

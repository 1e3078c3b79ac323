"""A chunk that a container lacks is an error, unless the user says that it is the fill value."""

from __future__ import annotations

import asyncio
import json
import shutil

import h5py
import numpy as np
import pytest
from optional import optional_import

import bioeval as be

VALUES = np.random.default_rng(4).random((12, 12)) + 1
WHO = np.repeat(np.arange(6), 2) + 1


def store(path, form, **chunking):
    """Write scores and labels in a group of zarr; return the folder of the scores."""
    zarr = optional_import("zarr")
    attributes = {"kind": "distance"}
    group = zarr.open_group(str(path), mode="w", zarr_format=form, attributes=attributes)
    group.create_array("scores", data=VALUES, **chunking)
    group.create_array("labels", data=WHO)
    return path / "scores"


def chunks_of(folder):
    found = (x for x in folder.rglob("*") if x.is_file())
    return sorted(x for x in found if x.name not in (".zarray", ".zattrs", "zarr.json"))


LAYOUTS = [
    (2, {"chunks": (3, 6)}),
    (3, {"chunks": (3, 6)}),
    (3, {"chunks": (3, 6), "shards": (6, 12)}),
]


@pytest.mark.parametrize(("form", "chunking"), LAYOUTS, ids=["2", "3", "shards"])
@pytest.mark.parametrize("array", ["scores", "labels"])
def test_a_lost_chunk_of_zarr_is_refused(tmp_path, form, chunking, array):
    store(tmp_path / "x.zarr", form, **chunking)
    expected = be.verification(be.Scores(VALUES, WHO)).eer
    assert be.verification(be.load(tmp_path / "x.zarr")).eer == expected
    lost = chunks_of(tmp_path / "x.zarr" / array)[-1]
    lost.unlink()
    with pytest.raises(be.DataError, match=rf"{array}.* is missing.*missing_chunks=\"fill\""):
        be.verification(be.load(tmp_path / "x.zarr"))
    found = be.load(tmp_path / "x.zarr", missing_chunks="fill")
    if array == "labels":
        assert found.probe_labels.tolist() == [0] * 12
    else:
        rows = 6 if "shards" in chunking else 3
        assert (np.asarray(found.values)[-rows:, -1] == 0).all()


def test_arrays_of_a_library_lack_no_chunk_either(tmp_path):
    zarr = optional_import("zarr")
    chunks_of(store(tmp_path / "x.zarr", 3, chunks=(3, 6)))[0].unlink()
    array = zarr.open_group(str(tmp_path / "x.zarr"), mode="r")["scores"]
    with pytest.raises(be.DataError, match="the chunk 'scores/c/0/0' is missing"):
        be.verification(be.Scores(array, WHO))
    with pytest.raises(be.DataError, match="the chunk 'scores/c/0/0' is missing"):
        be.Scores.from_embeddings(array, WHO)


def test_a_chunk_of_hdf5_that_was_not_written_is_refused(tmp_path):
    for name in ("x.h5", "x.mat"):
        with h5py.File(tmp_path / name, "w") as file:
            file.create_dataset("scores", (12, 12), "f8", chunks=(3, 12))[:9] = VALUES[:9]
            file["labels"], file.attrs["kind"] = WHO, "distance"
        with pytest.raises(be.DataError, match="'scores': lacks 1 of its 4 chunks; .*missing_chu"):
            be.load(tmp_path / name)
        assert (np.asarray(be.load(tmp_path / name, missing_chunks="fill").values)[9:] == 0).all()
    with h5py.File(tmp_path / "y.h5", "w") as file:
        file["scores"] = VALUES
        file.create_dataset("labels", (12,), "i8")
    with pytest.raises(be.DataError, match="'labels': lacks 1 of its 1 chunk;"):
        be.load(tmp_path / "y.h5")


def test_arrays_of_zeros_that_bioeval_writes_are_whole(tmp_path):
    optional_import("zarr")
    nothing = be.Scores(
        np.zeros((3, 3)), [0, 0, 0], mask=np.zeros((3, 3), "u1"), probe_meta={"camera": [0, 0, 0]}
    )
    be.save(nothing, tmp_path / "x.zarr")
    found = be.load(tmp_path / "x.zarr")
    assert found.probe_meta["camera"].tolist() == [0, 0, 0]
    np.testing.assert_array_equal(found.values, np.zeros((3, 3)))


@pytest.mark.parametrize("form", [2, 3])
def test_metadata_that_contradict_their_chunks(tmp_path, form):
    folder = store(tmp_path / "x.zarr", form, chunks=(3, 6))
    meta = folder / (".zarray" if form == 2 else "zarr.json")
    said = json.loads(meta.read_text())
    coarse = {**said, "chunks": [4, 6]}
    if form == 3:
        coarse = json.loads(json.dumps(said))
        coarse["chunk_grid"]["configuration"]["chunk_shape"] = [4, 6]
    meta.write_text(json.dumps(coarse))
    with pytest.raises(be.DataError, match=r"'scores': 8 chunks contradict its metadata"):
        be.load(tmp_path / "x.zarr")
    narrow = {"dtype": "<f4"} if form == 2 else {"data_type": "float32"}
    meta.write_text(json.dumps({**said, **narrow}))
    with pytest.raises(be.DataError, match="rows 0..2, columns 0..5 cannot be read"):
        be.verification(be.load(tmp_path / "x.zarr"))


def test_metadata_of_a_group_that_are_out_of_date(tmp_path):
    zarr = optional_import("zarr")
    store(tmp_path / "x.zarr", 2, chunks=(3, 6))
    zarr.consolidate_metadata(str(tmp_path / "x.zarr"))
    shutil.copytree(tmp_path / "x.zarr", tmp_path / "y.zarr")
    meta = tmp_path / "y.zarr/scores/.zarray"
    meta.write_text(meta.read_text().replace("<f8", "<i8"))
    assert be.load(tmp_path / "x.zarr").shape == (12, 12)
    with pytest.raises(be.DataError, match="contradict those of its group"):
        be.load(tmp_path / "y.zarr")


def test_an_error_leaves_no_task_of_zarr_behind(tmp_path):
    """Tasks that are pending when a program ends print a traceback each."""
    zarr = optional_import("zarr")
    for file in chunks_of(store(tmp_path / "x.zarr", 3, chunks=(1, 1))):
        file.write_bytes(b"")
    with pytest.raises(be.DataError, match="cannot be read"):
        be.verification(be.load(tmp_path / "x.zarr"))
    assert not asyncio.all_tasks(zarr.core.sync.loop[0])

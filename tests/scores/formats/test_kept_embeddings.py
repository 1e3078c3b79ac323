"""Embeddings that are written as they were read, and not their distances."""

import numpy as np
import pytest

import bioeval as be
from bioeval.cli.program import main
from bioeval.scores.formats import losses, read_with

RNG = np.random.default_rng(5)


def _written(folder, sides):
    x = RNG.normal(size=(6, 4)).astype(np.float32)
    x[2] = np.nan  # a failed template
    arrays = {"embeddings": x, "metric": "l2", "nan": "reject"}
    if sides == 1:
        arrays |= {"labels": list("aabbcc"), "day": [1, 2, 1, 2, 1, 2], "exclude": ["day"]}
    else:
        arrays |= {"gallery_embeddings": RNG.normal(size=(3, 4)), "probe_labels": list("aabbcc")}
        arrays |= {"gallery_labels": list("abc"), "gallery_day": [1, 2, 3]}
    np.savez(folder / "in.npz", **arrays)
    return x, arrays.get("gallery_embeddings")


@pytest.mark.parametrize("sides", [1, 2])
def test_embeddings_come_back_as_they_were(tmp_path, sides):
    x, y = _written(tmp_path, sides)
    original = be.load(tmp_path / "in.npz")
    path = tmp_path / "out.npz"
    assert main(["convert", str(tmp_path / "in.npz"), str(path), "--keep-embeddings"]) == 0
    again = read_with(path, keep_embeddings=True)
    probe, gallery = again._base.sides
    np.testing.assert_array_equal(probe, x)
    np.testing.assert_array_equal(gallery, x if y is None else y)
    assert probe.dtype == x.dtype
    found = be.load(path)
    np.testing.assert_allclose(found.values, original.values, rtol=1e-12)
    assert (found.layout, found.nan, found.exclude) == (
        *(original.layout, original.nan),
        original.exclude,
    )
    assert found.probe_labels.tolist() == original.probe_labels.tolist()
    for name in ("probe_meta", "gallery_meta"):
        meta, expected = getattr(found, name), getattr(original, name)
        assert {k: v.tolist() for k, v in meta.items()} == {
            k: v.tolist() for k, v in expected.items()
        }


def test_a_selection_of_embeddings(tmp_path):
    x, y = _written(tmp_path, 2)
    scores = read_with(tmp_path / "in.npz", keep_embeddings=True).select(probes=[4, 0], gallery=[2])
    be.save(scores, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as file:
        assert "scores" not in file
        np.testing.assert_array_equal(file["embeddings"], x[[4, 0]])
        np.testing.assert_array_equal(file["gallery_embeddings"], y[[2]])
    assert losses(scores, "x.npz") == []
    assert "only their distances" in losses(scores, "x.csv")[0]


def test_what_has_no_embeddings_to_keep(tmp_path, capsys):
    path = tmp_path / "s.npz"
    be.save(be.Scores(np.eye(3), list("aab")), path)
    with pytest.raises(be.DataError, match="holds no embeddings that could be kept"):
        read_with(path, keep_embeddings=True)
    _written(tmp_path, 1)
    command = ["convert", str(tmp_path / "in.npz"), str(tmp_path / "x.csv"), "--keep-embeddings"]
    assert main(command) == 2
    assert "--keep-embeddings has no meaning for x.csv" in capsys.readouterr().err
    both = read_with(tmp_path / "in.npz", keep_embeddings=True)
    overlapping = both.select(probes=[0, 1], gallery=[1, 3])
    with pytest.raises(be.DataError, match="are on both sides"):
        be.save(overlapping, tmp_path / "o.npz")
    assert not (tmp_path / "o.npz").exists()

"""Tiles of distances between embeddings: every pair in one of them, and the plain distances."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import examples_of

from bioeval.scores.embedding_tiles import (
    LARGEST,
    SIDE_BY_SIDE,
    EmbeddingTiles,
    TemplateTiles,
    same_in_any_tile,
)
from bioeval.scores.embeddings import METRICS, EmbeddingSource

NAN = np.nan
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=40)


def starts_of(sizes) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@given(SIZES, st.integers(1, 30))
@settings(max_examples=examples_of(200))
def test_a_gallery_in_tiles(sizes, most):
    """Every template once, subjects whole, in layers, the subjects with most templates first."""
    starts = starts_of(sizes)
    tiles = TemplateTiles.of_subjects(starts, most)
    n = sum(sizes)
    assert sorted(tiles.order.tolist()) == list(range(n))
    assert tiles.starts[0] == 0 and tiles.starts[-1] == n and (tiles.sizes() > 0).all()
    of_template = np.repeat(np.arange(len(sizes)), sizes)
    assert tiles.subjects.tolist() == of_template[tiles.order].tolist()
    seen: set[int] = set()
    for t in range(len(tiles)):
        subjects, layers = tiles.subjects[tiles[t]].tolist(), tiles.layers[t].tolist()
        templates = tiles.order[tiles[t]].tolist()
        assert len(tiles.layers) == len(tiles) and sum(layers) == len(subjects)
        here = subjects[: layers[0]]
        assert len(set(here)) == layers[0] == len(set(subjects))
        assert not seen & set(here) and min(here) == len(seen)  # of runs of whole subjects
        seen |= set(here)
        assert all(a >= b for a, b in pairwise([sizes[s] for s in here]))
        start = 0
        for k, size in enumerate(layers):
            assert subjects[start : start + size] == [s for s in here if sizes[s] > k]
            for s, template in zip(subjects[start:], templates[start : start + size], strict=False):
                assert template == starts[s] + k
            start += size
        # As large as they may be, but for whole subjects, and numbers of them that are quick.
        assert len(subjects) <= most or layers[0] == 1
        if t < len(tiles) - 1 and layers[0] > SIDE_BY_SIDE:
            assert layers[0] % SIDE_BY_SIDE == 0
        following = len(subjects) + sum(sizes[len(seen) : len(seen) + SIDE_BY_SIDE])
        if t < len(tiles) - 1 and layers[0] >= SIDE_BY_SIDE:
            assert following > most
    assert seen == set(range(len(sizes)))


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=40), st.integers(1, 9))
@settings(max_examples=examples_of(100))
def test_probes_in_tiles(subjects, most):
    tiles = TemplateTiles.of_probes(np.array(subjects), most)
    assert sorted(tiles.order.tolist()) == list(range(len(subjects)))
    assert tiles.subjects.tolist() == sorted(subjects)
    assert tiles.subjects.tolist() == [subjects[i] for i in tiles.order]
    sizes = tiles.sizes().tolist()
    assert sizes[:-1] == [most] * (len(sizes) - 1) and 0 < sizes[-1] <= most
    assert all(a < b for a, b in pairwise(tiles.order) if subjects[a] == subjects[b])


def tiles_of(source, row_sizes, column_sizes, most, symmetric, rng) -> EmbeddingTiles:
    columns = TemplateTiles.of_subjects(starts_of(column_sizes), most)
    columns = TemplateTiles(
        rng.permutation(source.shape[1])[columns.order],
        columns.starts, columns.subjects, columns.layers,
    )  # fmt: skip
    rows = columns if symmetric else TemplateTiles.of_probes(rng.integers(-1, 3, row_sizes), most)
    return EmbeddingTiles(source, rows, columns, symmetric)


@pytest.mark.parametrize("bands", range(1, 14))
def test_bands_go_round(bands):
    """Each pair of bands has one tile, and so has each band with itself; all bands have as many."""
    rng, x = np.random.default_rng(0), np.ones((bands, 2))
    tiles = tiles_of(EmbeddingSource(x, x, "l1"), 0, [1] * bands, 1, True, rng)
    pairs = [(i, j) for i in range(bands) for j in tiles.of_band(i)]
    unordered = Counter(tuple(sorted(pair)) for pair in pairs)
    assert unordered == Counter((i, j) for i in range(bands) for j in range(i, bands))
    assert all((i, i) in pairs for i in range(bands))
    number = Counter(i for i, _ in pairs)
    assert max(number.values()) - min(number.values()) <= 1
    rectangle = tiles_of(EmbeddingSource(x, x.copy(), "l1"), bands, [1] * bands, 1, False, rng)
    assert [list(rectangle.of_band(i)) for i in range(bands)] == [list(range(bands))] * bands


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1e-30])
@pytest.mark.cases()
def test_tiles_hold_the_plain_distances(metric, dtype, symmetric, scale):
    """Filled up with NaN; nothing has a sign, so that integers are in the order of the scores."""
    rng = np.random.default_rng(3)
    sizes = [3, 1, 20, 1, 1, 7, 2, 2, 40, 1, 5]
    n = sum(sizes)
    x = rng.random((n, 19)) + 0.01
    x[50:55] = x[3]  # at distance 0
    x[60:64] = x[10:14] * (1 + 1e-6 * rng.random((4, 19)))  # close
    x *= scale
    y = x if symmetric else np.concatenate([x[:20], rng.random((17, 19)) * scale])
    source = EmbeddingSource(y, x, metric, dtype)
    assert source.symmetric == symmetric
    whole = source.whole()
    tiles = tiles_of(source, len(y), sizes, 16, symmetric, rng)
    buffer = np.full(tiles.size, -7, dtype=dtype)
    found = np.full(whole.shape, -1, dtype=dtype)
    for i in range(len(tiles.rows)):
        for j in tiles.of_band(i):
            tile = tiles.compute(i, j, buffer)
            assert np.shares_memory(tile, buffer) and tile.flags.c_contiguous
            assert not np.signbit(tile).any()
            rows, columns = tiles.rows.order[tiles.rows[i]], tiles.columns.order[tiles.columns[j]]
            h, w = len(rows), len(columns)
            assert tile.shape[0] >= h and tile.shape[1] >= w
            assert np.isnan(tile[h:]).all() and np.isnan(tile[:, w:]).all()
            found[np.ix_(rows, columns)] = tile[:h, :w]
            if symmetric:
                found[np.ix_(columns, rows)] = tile[:h, :w].T
    if same_in_any_tile(19, source.dtype):
        np.testing.assert_array_equal(found, whole)
    np.testing.assert_allclose(found, whole, rtol=1e-5, atol=1e-6 * scale * (metric != "cosine"))


def test_tiles_fit_into_the_cache_of_a_core():
    for size, most in LARGEST.items():
        assert most**2 * size <= 1 << 20

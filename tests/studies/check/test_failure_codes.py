"""Scores that stand for failed comparisons: they are found, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from optional import optional_import
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.studies.check.counts import scan
from bioeval.studies.check.failure_codes import (
    APART,
    FAR_OFF,
    LEAST_COMPARISONS,
    NEGATIVE,
    constant_lines,
    sampled_ends,
)

WHO = np.repeat(np.arange(12), 3)


def distances(seed: int = 0, who: np.ndarray = WHO) -> np.ndarray:
    rng = np.random.default_rng(seed)
    templates = 2 * rng.normal(size=(len(who), 4))[who] + rng.normal(size=(len(who), 4))
    return np.linalg.norm(templates[:, None] - templates[None], axis=2)


def lines(scores: be.Scores) -> tuple[list[int], list[int]]:
    """Return the constant rows and columns."""
    found = constant_lines(scores, scan(scores))
    return found.rows.tolist(), found.columns.tolist()


def ends_with_hits(scores: be.Scores) -> list[Any]:
    scanned = scan(scores)
    return sampled_ends(scores, scanned, constant_lines(scores, scanned), False)


def ends(scores: be.Scores) -> list[tuple[float, str]]:
    """Return the values that are suspected, with the reason."""
    return [(end.value, end.how) for end, _ in ends_with_hits(scores)]


def constant_by_hand(values: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the rows and columns of a square matrix whose finite scores are all the same."""

    def is_constant(line: np.ndarray, itself: int) -> bool:
        finite = [x for k, x in enumerate(line.tolist()) if k != itself and np.isfinite(x)]
        return len(finite) >= LEAST_COMPARISONS and len(set(finite)) == 1

    rows = [i for i, line in enumerate(values) if is_constant(line, i)]
    return rows, [j for j, line in enumerate(values.T) if is_constant(line, j)]


def forms(values: np.ndarray, folder: Any) -> Iterator[Any]:
    """The same matrix in memory, turned round, mapped, and as a library stores it."""
    yield values
    yield np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    np.save(folder / "scores.npy", values)
    yield np.load(folder / "scores.npy", mmap_mode="r")
    memory = {"driver": "core", "backing_store": False}
    with optional_import("h5py").File(folder / "scores.h5", "w", **memory) as file:
        yield file.create_dataset("scores", data=values, chunks=(7, len(values)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.cases(1)
def test_findings_do_not_depend_on_how_a_matrix_is_held(tmp_path, dtype, sign):
    values = np.round(sign * 100 * distances()).astype(dtype)
    values[5] = values[:, [2, 9]] = sign * 9999
    for held in forms(values, tmp_path):
        scores = be.Scores(held, WHO, kind="distance" if sign > 0 else "similarity")
        assert lines(scores) == ([5], [2, 9])


@given(st.data(), st.sampled_from([8, 9, 12, 40]), st.booleans(), st.booleans())
def test_constant_rows_and_columns_by_hand(data, n, with_nan, similarity):
    places = st.sets(st.integers(0, n - 1), max_size=2)
    values = distances(data.draw(st.integers(0, 99)), np.arange(n) // 2)
    rows, columns = data.draw(places), data.draw(places)
    values[:, sorted(columns)] = -7
    values[sorted(rows)] = -7
    if with_nan:
        values[::3, 1::2] = np.nan
    kind = "similarity" if similarity else "distance"
    scores = be.Scores(values, np.arange(n) // 2, nan="exclude", kind=kind)
    assert lines(scores) == constant_by_hand(values)
    found = constant_lines(scores, scan(scores))
    assert set(found.row_values) | set(found.column_values) <= {-7}


def test_what_a_mask_or_a_selection_leaves_out_is_not_seen():
    values = distances()
    values[:, 7] = 99
    assert lines(be.Scores(values, WHO)) == ([], [7])
    others = np.delete(np.arange(36), 7)
    assert lines(be.Scores(values, WHO).select(others, others)) == ([], [])
    moved = be.Scores(values, WHO).select(gallery=others[::-1][:30].tolist() + [7])
    assert lines(moved) == ([], [30])
    mask = np.where(WHO[:, None] == WHO, 2, 1)
    mask[:, 7] = 0
    assert lines(be.Scores(values, WHO, mask=mask)) == ([], [])


@pytest.mark.parametrize("value", [99.0, 1e6, 3e38])
@pytest.mark.cases(1)
def test_a_value_far_from_all_others(value):
    values = distances()
    hit = np.random.default_rng(1).random(values.shape) < 0.03
    np.fill_diagonal(hit, False)
    values[hit] = value
    ((end, hits),) = ends_with_hits(be.Scores(values, WHO))
    assert (end.value, end.how) == (value, FAR_OFF)
    np.testing.assert_array_equal(hits, np.argwhere(hit))
    assert ends(be.Scores(-values, WHO, kind="similarity")) == [(-value, FAR_OFF)]
    # On the side of what is accepted impostors alone are looked at, and all are counted.
    ((end, hits),) = ends_with_hits(be.Scores(-values, WHO))
    assert (end.value, end.how) == (-value, FAR_OFF) and len(hits) == hit.sum()
    assert not ends(be.Scores(values, WHO, kind="order"))


def test_a_negative_distance():
    values = distances()
    hit = np.random.default_rng(1).random(values.shape) < 0.03
    np.fill_diagonal(hit, False)
    values[hit] = -1
    assert ends(be.Scores(values, WHO)) == [(-1, NEGATIVE)]
    assert ends(be.Scores(values - 3, WHO)) == [(-4, APART)]  # others are negative, too
    values[hit] = 0  # may be of copies
    assert not ends(be.Scores(values, WHO))


@pytest.mark.parametrize("levels", [1, 2, 3, 7, 15, 255])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_ordinary_scores_are_not_suspected(levels, kind):
    values = distances(3, np.repeat(np.arange(60), 2))
    who = np.repeat(np.arange(60), 2)
    quantised = np.round(levels * values / values.max()).astype(np.int16)
    clipped = np.minimum(values, np.quantile(values, 0.6))
    identity = (who[:, None] != who).astype(float)
    few = np.where(values < np.quantile(values, 0.05), np.round(40 * values), 0)
    for matrix in (quantised, clipped, identity, few, 1 - identity):
        scores = be.Scores(matrix, who, kind=kind)
        assert not ends(scores) and lines(scores) == ([], [])


@given(st.integers(2, 6), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_small_matrices_are_not_suspected(n, levels, seed):
    values = np.random.default_rng(seed).integers(0, levels, (n, n))
    scores = be.Scores(values, np.arange(n) // 2)
    assert not ends(scores) and lines(scores) == ([], [])

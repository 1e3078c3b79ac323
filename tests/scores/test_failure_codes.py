"""Scores that stand for failed comparisons: they are found, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from optional import optional_import
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.scores.failure_codes import LEAST_COMPARISONS

WHO = np.repeat(np.arange(12), 3)


def distances(seed: int = 0, who: np.ndarray = WHO) -> np.ndarray:
    rng = np.random.default_rng(seed)
    templates = 2 * rng.normal(size=(len(who), 4))[who] + rng.normal(size=(len(who), 4))
    return np.linalg.norm(templates[:, None] - templates[None], axis=2)


def notes(ds: Any) -> list[str]:
    lines = str(ds.attrs["warnings"]).splitlines()
    return [
        line.partition("; if comparisons failed")[0] for line in lines if "failed there" in line
    ]


def constant_by_hand(values: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the rows and columns of a square matrix whose finite scores are all the same."""

    def constant(line: np.ndarray, itself: int) -> bool:
        finite = [x for k, x in enumerate(line.tolist()) if k != itself and np.isfinite(x)]
        return len(finite) >= LEAST_COMPARISONS and len(set(finite)) == 1

    rows = [i for i, line in enumerate(values) if constant(line, i)]
    return rows, [j for j, line in enumerate(values.T) if constant(line, j)]


def forms(values: np.ndarray, folder: Any) -> Iterator[Any]:
    """The same matrix in memory, turned round, mapped, and as three libraries store it."""
    yield values
    yield np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    np.save(folder / "scores.npy", values)
    yield np.load(folder / "scores.npy", mmap_mode="r")
    memory = {"driver": "core", "backing_store": False}
    with optional_import("h5py").File(folder / "scores.h5", "w", **memory) as file:
        yield file.create_dataset("scores", data=values, chunks=(7, len(values)))
    yield optional_import("zarr").array(values, chunks=(9, 11))
    yield optional_import("dask.array").from_array(values, chunks=(8, 13))


EVALUATIONS = {
    "evaluate": be.evaluate,
    "ranks": be.ranks,
    "reid": lambda scores: be.reid(scores, "cityflow"),
    "compare": lambda scores: be.compare(scores, be.Scores(distances(), WHO), replicates=100),
    "study": lambda scores: be.study_threshold(
        scores, ("far", 0.1), folds=3, repeats=1, replicates=100
    ),
}


def _whole_numbers(ds: Any) -> dict[str, int]:
    return {k: v.item() for k, v in ds.data_vars.items() if not v.ndim and v.dtype.kind == "i"}


@settings(max_examples=2)
@given(
    st.sets(st.integers(0, 35), max_size=3),
    st.sets(st.integers(0, 35), max_size=3),
    st.sampled_from(["float32", "float64", "int32"]),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@pytest.mark.slow
def test_attempts_units_and_warnings_do_not_depend_on_how_a_matrix_is_held(
    tmp_path_factory, rows, columns, dtype, similarity, seed
):
    sign = -1 if similarity else 1
    values = np.round(sign * 100 * distances(seed)).astype(dtype)
    values[sorted(rows)] = values[:, sorted(columns)] = sign * 9999
    found = []
    for held in forms(values, tmp_path_factory.mktemp("forms")):
        scores = be.Scores(
            held, WHO, kind="similarity" if similarity else "distance",
            probe_meta={"camera": np.arange(36) % 3},
        )  # fmt: skip
        results = [evaluate(scores) for evaluate in EVALUATIONS.values()]
        leaves = [leaf for ds in results for leaf in getattr(ds, "leaves", [ds])]
        assert all(bool(notes(ds)) == bool(rows or columns) for ds in leaves)
        found.append([(_whole_numbers(ds), ds.attrs["warnings"]) for ds in leaves])
    assert all(one == found[0] for one in found)


@given(st.data(), st.sampled_from([8, 9, 12, 40]), st.booleans(), st.booleans())
def test_constant_rows_and_columns_by_hand(data, n, with_nan, similarity):
    lines = st.sets(st.integers(0, n - 1), max_size=2)
    values = distances(data.draw(st.integers(0, 99)), np.arange(n) // 2)
    rows, columns = data.draw(lines), data.draw(lines)
    values[:, sorted(columns)] = -7
    values[sorted(rows)] = -7
    if with_nan:
        values[::3, 1::2] = np.nan
    expected = constant_by_hand(values)
    scores = be.Scores(
        values, np.arange(n) // 2, nan="exclude", kind="similarity" if similarity else "distance"
    )
    said = []
    for what, places in zip(("row", "column"), expected, strict=True):
        listed = ", ".join(map(str, places[:3]))
        if places:
            one = len(places) == 1
            said.append(f"{what} {listed}" if one else f"{len(places)} {what}s ({listed})")
    hold = "holds" if sum(map(len, expected)) == 1 else "hold"
    text = [f"{' and '.join(said)} {hold} one value in every comparison: -7"] if said else []
    for ds in (be.verification(scores), be.closed_set(scores, unmated="skip")):
        assert [line for line in notes(ds) if "one value" in line] == text


def test_what_a_mask_or_a_selection_leaves_out_is_not_seen():
    values = distances()
    values[:, 7] = 99
    assert notes(be.verification(be.Scores(values, WHO))) == [
        "column 7 holds one value in every comparison: 99"
    ]
    others = np.delete(np.arange(36), 7)
    assert not notes(be.verification(be.Scores(values, WHO).select(others, others)))
    moved = be.Scores(values, WHO).select(gallery=others[::-1][:30].tolist() + [7])
    assert notes(be.verification(moved)) == ["column 30 holds one value in every comparison: 99"]
    mask = np.where(WHO[:, None] == WHO, 2, 1)
    mask[:, 7] = 0
    assert not notes(be.verification(be.Scores(values, WHO, mask=mask)))
    values[:, 7] = np.nan
    values[3, 8] = 99
    assert not notes(be.verification(be.Scores(values, WHO, nan="exclude")))


@pytest.mark.parametrize("value", [99.0, 1e6, 3e38])
@pytest.mark.cases(1)
def test_a_value_far_from_all_others(value):
    values = distances()
    hit = np.random.default_rng(1).random(values.shape) < 0.03
    np.fill_diagonal(hit, False)
    values[hit] = value
    places = ", ".join(f"({i}, {j})" for i, j in np.argwhere(hit)[:3])
    text = (
        f"{hit.sum()} of 1,260 sampled comparisons have the score {value:g}, far from all others "
        f"(first row, column: {places})"
    )
    assert notes(be.verification(be.Scores(values, WHO))) == [text]
    turned = be.Scores(-values, WHO, kind="similarity")
    assert notes(be.closed_set(turned)) == [text.replace(f"{value:g},", f"{-value:g},")]
    # On the side of what is accepted impostors alone are looked at, and all are counted.
    assert notes(be.verification(be.Scores(-values, WHO))) == [
        text.replace(f"{value:g},", f"{-value:g},")
    ]
    assert not notes(be.closed_set(be.Scores(values, WHO, kind="order")))
    listed = be.Scores.from_pairs(values.ravel(), (WHO[:, None] == WHO).ravel())
    first = ", ".join(map(str, np.flatnonzero(hit.ravel())[:3]))
    assert notes(be.verification(listed)) == [
        f"{hit.sum()} of 1,296 pairs have the score {value:g}, far from all others "
        f"(first pair: {first})"
    ]


def test_a_negative_distance():
    values = distances()
    hit = np.random.default_rng(1).random(values.shape) < 0.03
    np.fill_diagonal(hit, False)
    values[hit] = -1
    (note,) = notes(be.verification(be.Scores(values, WHO)))
    assert note.startswith(f"{hit.sum()} of 1,260 sampled comparisons have the score -1, the only")
    (note,) = notes(be.verification(be.Scores(values - 3, WHO)))  # others are negative, too
    assert "the score -4, apart from all others" in note
    # The score of a copy may be that of copies, which an evaluation does not look for.
    values[hit] = 0
    assert not notes(be.verification(be.Scores(values, WHO)))


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
        assert not notes(be.verification(be.Scores(matrix, who, kind=kind), auc=False))
        assert not notes(be.closed_set(be.Scores(matrix, who, kind=kind)))


@given(st.integers(2, 6), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_small_matrices_are_not_suspected(n, levels, seed):
    values = np.random.default_rng(seed).integers(0, levels, (n, n))
    assert not notes(be.closed_set(be.Scores(values, np.arange(n) // 2)))


def test_each_compared_system_and_each_merged_part_says_so():
    values = distances()
    values[:, 7] = 99
    failed, right = be.Scores(values, WHO, name="A"), be.Scores(distances(), WHO, name="B")
    compared = be.compare(right, failed, replicates=100)
    assert notes(compared) == ["A: column 7 holds one value in every comparison: 99"]
    both = be.tally(failed.select(probes=range(18))).merge(
        be.tally(failed.select(probes=range(18, 36)))
    )
    assert notes(both.dataset("closed_set")) == ["column 7 holds one value in every comparison: 99"]


def test_computed_distances_have_no_sentinels():
    x = np.random.default_rng(0).normal(size=(36, 4))
    x[:, 0] = 0
    scores = be.Scores.from_embeddings(x, WHO, kind="distance",
                                       metric=lambda a, b: np.ones((len(a), len(b))),
                                       memory_limit=1)  # fmt: skip
    assert not notes(be.verification(scores))

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
from bioeval.base.messages import messages_of
from bioeval.scores.failure_codes import APART, LEAST_COMPARISONS, NEGATIVE

WHO = np.repeat(np.arange(12), 3)


def distances(seed: int = 0, who: np.ndarray = WHO) -> np.ndarray:
    rng = np.random.default_rng(seed)
    templates = 2 * rng.normal(size=(len(who), 4))[who] + rng.normal(size=(len(who), 4))
    return np.linalg.norm(templates[:, None] - templates[None], axis=2)


CODES = ("constant-rows", "constant-columns", "value-at-the-end")


def notes(ds: Any) -> list[tuple[str, dict[str, Any]]]:
    found = be.messages(ds)
    return [(x.code, dict(x.arguments)) for x in found if x.code in CODES]


def constant(what: str, *places: int, value: float) -> tuple[str, dict[str, Any]]:
    """The message that rows or columns have one value."""
    first = list(places[:3])
    return f"constant-{what}", {"number": len(places), "first": first, "values": [value]}


def constant_by_hand(values: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the rows and columns of a square matrix whose finite scores are all the same."""

    def is_constant(line: np.ndarray, itself: int) -> bool:
        finite = [x for k, x in enumerate(line.tolist()) if k != itself and np.isfinite(x)]
        return len(finite) >= LEAST_COMPARISONS and len(set(finite)) == 1

    rows = [i for i, line in enumerate(values) if is_constant(line, i)]
    return rows, [j for j, line in enumerate(values.T) if is_constant(line, j)]


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
        found.append([(_whole_numbers(ds), be.messages(ds)) for ds in leaves])
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
    lines_of = zip(("rows", "columns"), expected, strict=True)
    messages = [constant(what, *places, value=-7) for what, places in lines_of if places]
    for ds in (be.verification(scores), be.closed_set(scores, unmated="skip")):
        assert [note for note in notes(ds) if note[0].startswith("constant")] == messages


def test_what_a_mask_or_a_selection_leaves_out_is_not_seen():
    values = distances()
    values[:, 7] = 99
    assert notes(be.verification(be.Scores(values, WHO))) == [constant("columns", 7, value=99)]
    others = np.delete(np.arange(36), 7)
    assert not notes(be.verification(be.Scores(values, WHO).select(others, others)))
    moved = be.Scores(values, WHO).select(gallery=others[::-1][:30].tolist() + [7])
    assert notes(be.verification(moved)) == [constant("columns", 30, value=99)]
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
    places = [f"row {i} column {j}" for i, j in np.argwhere(hit)[:3]]
    how = {"how": "far from all others"}
    of_all = {"shared": hit.sum(), "compared": 1260, "places": places, **how}

    def at_the_end(value: float, about: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        return [("value-at-the-end", {"value": value, **about})]

    assert notes(be.verification(be.Scores(values, WHO))) == at_the_end(value, of_all)
    turned = be.Scores(-values, WHO, kind="similarity")
    assert notes(be.closed_set(turned)) == at_the_end(-value, of_all)
    # On the side of what is accepted impostors alone are looked at, and all are counted.
    assert notes(be.verification(be.Scores(-values, WHO))) == at_the_end(-value, of_all)
    assert not notes(be.closed_set(be.Scores(values, WHO, kind="order")))
    listed = be.Scores.from_pairs(values.ravel(), (WHO[:, None] == WHO).ravel())
    first = [f"pair {i}" for i in np.flatnonzero(hit.ravel())[:3]]
    of_list = {"shared": hit.sum(), "compared": 1296, "places": first, **how}
    assert notes(be.verification(listed)) == at_the_end(value, of_list)


def test_a_negative_distance():
    values = distances()
    hit = np.random.default_rng(1).random(values.shape) < 0.03
    np.fill_diagonal(hit, False)
    values[hit] = -1
    ((_, about),) = notes(be.verification(be.Scores(values, WHO)))
    expected = {"shared": hit.sum(), "compared": 1260, "value": -1, "how": NEGATIVE}
    assert about.items() >= expected.items()
    ((_, about),) = notes(be.verification(be.Scores(values - 3, WHO)))  # others are negative, too
    assert about.items() >= {"value": -4, "how": APART}.items()
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


def test_each_compared_system_says_so():
    values = distances()
    values[:, 7] = 99
    failed, right = be.Scores(values, WHO, name="A"), be.Scores(distances(), WHO, name="B")
    compared = be.compare(right, failed, replicates=100)
    assert notes(compared) == [constant("columns", 7, value=99)]
    (of_one,) = [x for x in messages_of(compared.attrs) if x.code == "constant-columns"]
    assert of_one.about == ("A",)


def test_computed_distances_have_no_sentinels():
    x = np.random.default_rng(0).normal(size=(36, 4))
    x[:, 0] = 0
    scores = be.Scores.from_embeddings(x, WHO, kind="distance",
                                       metric=lambda a, b: np.ones((len(a), len(b))),
                                       memory_limit=1)  # fmt: skip
    assert not notes(be.verification(scores))

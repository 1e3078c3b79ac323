"""Re-identification by tiles of embeddings gives what the matrix gives, and the slow twin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import naive_reid
import numba
import numpy as np
import pytest
from hypothesis import given, strategies as st
from limits import streaming
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.counting import squares
from bioeval.counting.parts import TileParts
from bioeval.scores.embedding_tiles import MOST_OF_SUBJECT
from bioeval.scores.embeddings import same_in_any_tile
from bioeval.tasks.reid import candidates

parts_of = candidates.parts_of

FEATURES = 5
RULES = ("same-id-same-camera", "same-camera", "none")


@dataclass
class Case:
    """Embeddings of some identities, some of them junk (-1) and distractors (0)."""

    sizes: tuple[int, ...]
    seed: int = 0
    metric: str = "l2"
    dtype: str = "float32"
    whole: bool = False  # whole numbers, so that most distances are tied
    layout: str = "square"
    most: int = 8  # templates of a tile

    def scores(self) -> be.Scores:
        """The scores, computed where they are read."""
        rng = np.random.default_rng(self.seed)
        n = sum(self.sizes)
        labels = np.repeat(np.arange(-1, len(self.sizes) - 1), self.sizes)[rng.permutation(n)]
        x = 2 * rng.random((len(self.sizes), FEATURES))[labels] + rng.random((n, FEATURES)) + 0.1
        x = np.round(x) + [1, 0, 0, 0, 0] if self.whole else x
        meta = {"camera": rng.integers(0, 3, n), "session": rng.integers(0, 3, n)}
        metric = self.metric
        if not same_in_any_tile(FEATURES, np.dtype(self.dtype)):
            metric = "l1"
        options: dict[str, Any] = {"metric": metric, "dtype": self.dtype}
        if self.layout == "gallery":
            cut = max(1, n // 3)
            sides = [
                {name: column[some] for name, column in meta.items()}
                for some in (slice(cut), slice(cut, None))
            ]
            return streaming(
                x[:cut], labels[:cut], x[cut:], labels[cut:],
                probe_meta=sides[0], gallery_meta=sides[1], **options,
            )  # fmt: skip
        scores = streaming(x, labels, probe_meta=meta, **options)
        if self.layout == "selection":
            return scores[rng.permutation(n)[: max(2, 3 * n // 4)]]
        return scores


def in_memory(scores: be.Scores) -> be.Scores:
    """The same distances as a matrix."""
    return scores.with_values(np.array(scores.values), "distance")


cases = st.builds(
    Case,
    sizes=st.one_of(
        st.lists(st.integers(1, 6), min_size=3, max_size=14),
        st.lists(st.integers(1, 25), min_size=3, max_size=5),
    ).map(tuple),
    seed=st.integers(0, 999),
    metric=st.sampled_from(("cosine", "l2", "l1", "linf", "bhattacharyya")),
    dtype=st.sampled_from(("float32", "float64")),
    whole=st.booleans(),
    layout=st.sampled_from(("square", "gallery", "selection")),
    most=st.sampled_from((4, 8, 480)),
)


@contextmanager
def by_tiles(most: int, held: int = squares.HELD) -> Iterator[list[bool]]:
    """Small tiles, and whether each evaluation was counted by them."""
    answers: list[bool] = []

    def noted(*args, **options):
        found = parts_of(*args, **options)
        answers.append(isinstance(found, TileParts))
        return found

    with (
        mock.patch.object(squares, "LARGEST", {4: most, 8: most}),
        mock.patch.object(squares, "HELD", held),
        mock.patch.object(candidates, "parts_of", noted),
        mock.patch("bioeval.scores.blocks.LISTED", 0),
    ):
        yield answers


def outcome(scores: be.Scores, **options: Any) -> Any:
    """What an evaluation gives; the message where it refuses."""
    try:
        return be.reid(scores, per_query=True, **options)
    except be.BioevalError as error:
        return str(error)


def assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, str):
        assert found == expected
        return
    for name in expected.variables:
        np.testing.assert_array_equal(found[name].values, expected[name].values, err_msg=name)


@given(
    cases,
    st.sampled_from(RULES),
    st.sampled_from(("pessimistic", "optimistic", "stable")),
    st.sampled_from((0, squares.HELD)),
)
def test_the_slow_twin_says_the_same(case, removed, ties, held):
    scores = case.scores()
    square = case.layout in ("square", "selection")
    naive = {
        "values": scores.values.tolist(),
        "probe_labels": scores.probe_labels.tolist(),
        "gallery_labels": None if square else scores.gallery_labels.tolist(),
        "kind": "distance",
        "nan": "raise",
    }
    cameras = (scores.probe_meta["camera"].tolist(), scores.gallery_meta["camera"].tolist())
    expected = naive_reid.reid(
        naive, cameras, removed=removed, ties=ties, junk_ids=(-1,), kept_ids=(0,), max_rank=2
    )
    options = {
        "removed": removed, "ties": ties, "junk_ids": (-1,), "distractor_ids": (0,), "max_rank": 2
    }  # fmt: skip
    with by_tiles(case.most, held) as answers:
        found = outcome(scores, **options)
    if not expected.queries:
        assert isinstance(found, str)
        return
    if max(case.sizes) <= MOST_OF_SUBJECT * case.most:
        assert answers == [True]
    assert found.queries == expected.queries
    np.testing.assert_allclose(found.cmc, np.array(expected.cmc, dtype=float), atol=1e-12)
    np.testing.assert_allclose(found.mean_ap, float(expected.mean_ap), atol=1e-12)
    seen = naive_reid.queries(naive, cameras, removed, junk_ids=(-1,), kept_ids=(0,))
    assert found.matches.values.tolist() == [query.matches for query in seen]
    assert found.removed_entries.values.tolist() == [query.removed for query in seen]


@pytest.mark.parametrize("change", ["failed", "mask"])
def test_failed_templates_and_masks_are_read_by_rows(change):
    case = Case((3, 2, 5, 1, 4, 6, 3), metric="l1")
    scores = case.scores()
    if change == "mask":
        mask = np.where(scores.probe_labels[:, None] == scores.gallery_labels, 2, 1)
        mask[:, 3] = 0
        scores = scores.with_mask(mask.astype(np.uint8))
    else:
        x = np.random.default_rng(0).random((12, 3))
        x[4] = np.nan
        scores = streaming(
            x, np.arange(12) // 3, metric="l1", nan="exclude",
            probe_meta={"camera": np.arange(12) % 2},
        )  # fmt: skip
    with by_tiles(4) as answers:
        assert_same(outcome(scores), outcome(in_memory(scores)))
    assert not any(answers)


def test_a_matrix_that_is_yet_to_be_made_is_counted_by_tiles_once(monkeypatch):
    monkeypatch.setattr("bioeval.scores.embeddings.MANY_TO_MAKE", 0)
    x = np.random.default_rng(0).integers(0, 5, (40, 16)).astype(float)
    scores = be.Scores.from_embeddings(
        x, np.arange(40) // 4, metric="l1", probe_meta={"camera": np.arange(40) % 3}
    )
    if scores.cells.embeddings is None:
        pytest.skip("the matrix is made at once with this library of linear algebra")
    with by_tiles(8) as answers:
        first, second = outcome(scores), outcome(scores)
    assert answers == [True, False]
    assert first.identical(second)


@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.cases(1)
def test_the_same_on_any_number_of_threads(layout, monkeypatch):
    monkeypatch.setattr("bioeval.scores.blocks.SERIAL_CELLS", 0)
    scores = Case((3, 2, 5, 1, 4, 7) * 6, layout=layout, whole=True).scores()
    found = []
    with by_tiles(8) as answers:
        for threads in range(1, min(3, numba.config.NUMBA_NUM_THREADS) + 1):
            numba.set_num_threads(threads)
            found.append(outcome(scores))
    numba.set_num_threads(1)
    assert all(answers)
    assert all(found[0].identical(other) for other in found)

"""Folds of embeddings are counted by tiles: as those of their matrix, and by the definition."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numba
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from strategies import examples_of
from twins import in_folds, one_thread  # noqa: F401

import bioeval as be
from bioeval.attempts import fold_counts, fold_passes, fold_tiles, tiled_scores
from bioeval.attempts.fold_counts import Groups, Subset
from bioeval.attempts.fold_passes import FoldPasses
from bioeval.base.errors import BioevalError
from bioeval.scores.blocks import BlockReader
from tests.attempts.test_tile_pass import FALLBACKS, METRICS, Case, cases

CASE = Case((3, 1, 4, 4, 2, 5, 1, 3, 3, 2, 6, 1), metric="cosine")
GALLERY = replace(CASE, sizes=CASE.sizes * 3, layout="gallery")
RULES = ("eer", "far=0.05", "far=0.0", "frr=0.1", "hter", "accuracy", 0.5)


@contextmanager
def by_tiles(most: int = 8, **constants: Any) -> Iterator[list[str]]:
    """Small tiles, and the passes that are taken, by name; `constants` of the passes."""
    taken: list[str] = []

    def noted(name, call):
        def whole(self):
            taken.append(name)
            return call(self)

        return whole

    ways = {
        **{one: "whole" for one in (fold_tiles.TileCountPass, fold_counts.CountPass)},
        **{one: "collected" for one in (fold_tiles.TileCollectPass, fold_counts.CollectPass)},
    }
    patches = [
        mock.patch.object(one, way, noted(one.__name__, getattr(one, way)))
        for one, way in ways.items()
    ]
    with (
        mock.patch.object(tiled_scores, "LARGEST", {4: most, 8: most}),
        mock.patch.multiple(fold_passes, **{"REFINE": 1, "REFINE_SHARE": 0.0, **constants}),
        patches[0], patches[1], patches[2], patches[3],
    ):  # fmt: skip
        yield taken


def crossed(scores: be.Scores, splitter: Any, **options: Any) -> xr.Dataset | str:
    """The folds, or why there are none."""
    with warnings.catch_warnings():  # of subjects who look like distractors
        warnings.simplefilter("ignore", be.BioevalWarning)
        try:
            return in_folds(scores, splitter, **options)
        except BioevalError as error:
            return str(error)


def check(case: Case, splitter: Any, change=None, nan="raise", **options: Any) -> None:
    """Compare the folds with those of the matrix in memory, to the last bit."""
    found, expected = (
        crossed(case.scores(matrix=x, change=change).replace(nan=nan), splitter, **options)
        for x in (False, True)
    )
    with_notes = "messages"  # no distances computed are failure codes
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    for one in (found, expected):
        one.attrs.pop(with_notes, None)
        one.attrs.pop("warnings", None)
    xr.testing.assert_identical(found, expected)


SPLITTERS = {
    "subjects": be.partition.SubjectKFold(3, shuffle=True, random_state=1),
    "repeats": be.partition.RepeatedSubjectKFold(2, n_repeats=3, random_state=2),
    "samples": be.partition.SampleKFold(3, shuffle=True, random_state=3),
    "shuffled": be.partition.SubjectShuffleSplit(2, test_size=0.4, random_state=4),
}
TEMPLATES = (("single", "min"), ("multi", "min"), ("multi", "max"), ("multi", "mean"))


@given(
    cases(),
    st.sampled_from(list(SPLITTERS)),
    st.sampled_from(TEMPLATES),
    st.sampled_from(RULES),
    st.sampled_from((256, 8)),
    st.sampled_from((1, 16)),
)
@settings(max_examples=examples_of(300))
@pytest.mark.slow
def test_embeddings_give_what_their_matrix_gives(case, splitter, templates, rule, cells, pilot):
    if 0 in case.scores().shape:
        return
    options = {"templates": templates[0], "fusion": templates[1], "threshold": rule}
    with by_tiles(case.most, LEAST_CELLS=cells, MOST_CELLS=cells, HELD_TILES=pilot):
        check(case, SPLITTERS[splitter], **options)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["square", "gallery", "selection", "overlap"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("templates", TEMPLATES)
@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.cases()
def test_tiles_are_what_is_counted(layout, metric, templates, splitter):
    """No pass over the rows replaces them, but for the mean."""
    case = Case((1, 5, 2, 2, 3, 1, 1, 4, 6, 2), metric=metric, layout=layout, exclude=("session",))
    with by_tiles() as taken:
        check(case, SPLITTERS[splitter], templates=templates[0], fusion=templates[1])
    apart = splitter == "samples" and templates[0] == "multi"  # subjects in several folds
    if not apart and not taken[0].startswith("Tile"):
        assert templates[1] == "mean"


def brute(scores: np.ndarray, labels: np.ndarray, fold: np.ndarray, k: int, threshold: float):
    """False accepts, impostor attempts, false rejects and genuine attempts within a fold."""
    fa = impostors = fr = genuine = 0
    for i in range(len(labels)):
        for j in range(len(labels)):
            if i == j or fold[i] != k or fold[j] != k:
                continue
            if labels[i] == labels[j]:
                genuine += 1
                fr += not scores[i, j] <= threshold
            else:
                impostors += 1
                fa += scores[i, j] <= threshold
    return [fa, impostors, fr, genuine]


def equal_error(scores: np.ndarray, labels: np.ndarray, fold: np.ndarray, k: int) -> float:
    """The threshold of the EER among those in no part of a fold, by all thresholds in turn."""
    inside = np.where(fold != k, 0, -1)
    for t in sorted(set(scores[np.ix_(inside == 0, inside == 0)].ravel().tolist())):
        fa, impostors, fr, genuine = brute(scores, labels, inside, 0, t)
        if fa * genuine >= fr * impostors:
            return t
    return np.inf


@pytest.mark.parametrize("pilot", [1, 16])
def test_the_definition(pilot):
    """Rates of each fold, at a threshold beyond which training pairs have no fewer accepts."""
    case = replace(CASE, metric="l1", whole=True)
    matrix = case.scores(matrix=True)
    values, labels = np.asarray(matrix.values), matrix.probe_labels
    fold = (np.unique(labels, return_inverse=True)[1] + 1) % 3
    with by_tiles(HELD_TILES=pilot) as taken:
        result = be.cross_evaluate(case.scores(), be.partition.PredefinedFolds(fold))
    assert taken[0] == "TileCountPass"
    for k, name in enumerate(sorted(set(fold.tolist()))):
        one = result.isel(repeat=0, fold=k)
        counts = [int(one[x]) for x in ("fa", "impostor_attempts", "fr", "genuine_attempts")]
        assert counts == brute(values, labels, fold, name, one.threshold.item())
        # The point is at the first crossing, or at the score before it.
        at = equal_error(values, labels, fold, name)
        known = sorted({*values[np.ix_(fold != name, fold != name)].ravel().tolist(), -np.inf})
        assert one.threshold.item() in (at, known[known.index(at) - 1])


@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (fold_counts, "PAIR_ENTRIES", 1),
        (fold_tiles, "FLUSH", 1),
        (fold_tiles, "TOGETHER", 1),
        (fold_tiles, "MOST_KEPT", 0),
        (fold_passes, "MOST_KEPT", 0),
        (fold_passes, "KEPT_WIDER", 50),
        (fold_passes, "WIDER", 1),
        (fold_counts, "COLLECT", 3),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
@pytest.mark.cases(14)
def test_limits_change_nothing(templates, layout, module, name, value):
    case = replace(CASE if layout == "square" else GALLERY, metric="l1", whole=True)
    with by_tiles() as taken, mock.patch.object(module, name, value):
        check(case, SPLITTERS["repeats"], templates=templates)
    assert taken[0] == "TileCountPass"


@contextmanager
def misled(low: float, high: float) -> Iterator[None]:
    """Let every pilot expect the thresholds between two distances."""
    with mock.patch.object(FoldPasses, "_ends", lambda *_: (low, high)):
        yield


@pytest.mark.parametrize("ends", [(0.0, 1e-6), (0.4, 0.5), (1.0, 1.2)], ids=str)
@pytest.mark.parametrize("rule", ["eer", "far=0.01", "hter"], ids=str)
@pytest.mark.cases(6)
def test_a_pilot_that_is_wrong_costs_time_alone(ends, rule):
    with by_tiles(), misled(*ends):
        for templates in ("single", "multi"):
            check(CASE, SPLITTERS["subjects"], threshold=rule, templates=templates)


def test_scores_that_were_kept_need_no_second_pass():
    with by_tiles(KEPT_WIDER=4.0) as taken:
        check(CASE, SPLITTERS["subjects"])
    assert taken[:1] == ["TileCountPass"] and "TileCollectPass" not in taken


@pytest.mark.slow
def test_tiles_without_such_scores_are_skipped():
    """Around a small threshold, few tiles are computed again."""
    case = Case((4,) * 12, seed=3, metric="l2", dtype="float64")
    computed: list[int] = []
    visit = tiled_scores.ComputedTiles.visit

    def noted(self, places, *args, **options):
        computed.append(len(places))
        return visit(self, places, *args, **options)

    with by_tiles(MOST_KEPT=-1), mock.patch.object(tiled_scores.ComputedTiles, "visit", noted):
        check(case, SPLITTERS["subjects"], threshold="far=0.0")
    tiles, (*_, second) = 6 * 7 // 2, computed
    assert tiles in computed and 0 < second < tiles


@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.cases(4)
def test_the_same_on_any_number_of_threads(templates, layout, monkeypatch):
    monkeypatch.setattr("bioeval.scores.blocks.SERIAL_CELLS", 0)
    scores = Case((3, 2, 5, 1, 4) * 6, layout=layout, metric="cosine").scores()
    found = []
    with by_tiles() as taken:
        for threads in range(1, min(3, numba.config.NUMBA_NUM_THREADS) + 1):
            numba.set_num_threads(threads)
            found.append(in_folds(scores, SPLITTERS["repeats"], templates=templates))
    numba.set_num_threads(1)
    assert taken[0] == "TileCountPass"
    for other in found[1:]:
        xr.testing.assert_identical(other, found[0])


@pytest.mark.parametrize("name", FALLBACKS)
@pytest.mark.parametrize("nan", ["reject", "exclude", "raise"])
@pytest.mark.cases(12)
def test_failed_and_infinite_distances(name, nan):
    case, change = FALLBACKS[name]
    with by_tiles(case.most):
        for templates in ("single", "multi"):
            check(case, SPLITTERS["subjects"], change, nan, templates=templates)


@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.cases(2)
def test_groups(layout, monkeypatch):
    """Each group has windows of its own, and a pair of two groups has another in each direction."""
    monkeypatch.setattr("bioeval.studies.groups.groups.LISTED", 0)
    case = CASE if layout == "square" else GALLERY
    found = []
    with by_tiles() as taken:
        for matrix in (False, True):
            scores = case.scores(matrix=matrix)
            made = be.by_group(scores, "team")
            for name in ("messages", "warnings"):
                made.attrs.pop(name, None)
            found.append(made)
    assert taken[0] == "TileCountPass"
    xr.testing.assert_identical(*found)


@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.parametrize("by_fold", [False, True])
def test_scores_of_groups_are_collected_in_both_directions(templates, layout, by_fold):
    """Each with the groups of its probe and of its gallery template."""
    case = replace(CASE if layout == "square" else GALLERY, metric="l1", whole=True)
    both = []
    with by_tiles():
        for matrix in (False, True):
            scores = case.scores(matrix=matrix)
            names = scores._codes
            code = names.probe % 3, names.gallery % 3
            passes = FoldPasses(BlockReader(scores), templates, "min", [code], Groups)
            assert (passes.tiles is None) == matrix
            passes.count()
            (one,) = passes.partitions
            assert one.counts.sum() == passes.total.sum()
            wanted = np.zeros((3, len(passes.edges)), dtype=bool)
            for fold in range(3):  # the same windows, or others of each
                wanted[fold, passes.edges <= (1.0, 2.0, 4.0)[fold * by_fold]] = True
            ((values, pairs, weights),) = passes.collect(wanted if by_fold else wanted[0])
            both.append(
                sorted(
                    (value, pair)
                    for value, pair, weight in zip(values, pairs, weights, strict=True)
                    for _ in range(weight)
                )
            )
    assert both[0] and both[0] == both[1]


def test_intervals_for_new_people_use_the_cells_of_the_matrix():
    """Where thresholds are chosen anew, others than those of the folds matter."""
    with by_tiles() as taken:
        check(CASE, SPLITTERS["subjects"], interval="subject-bootstrap")
    assert taken[0] == "TileCountPass"


def test_genuine_scores_have_their_folds():
    """The fold of each mate is that of its template, in any order of the gallery."""
    case = replace(CASE, exclude=("session",))
    scores, matrix = case.scores(), case.scores(matrix=True)
    fold = np.arange(scores.shape[0]) % 3
    both = []
    with by_tiles():
        for some in (scores, matrix):
            passes = FoldPasses(BlockReader(some), "single", "min", [(fold, fold)])
            assert (passes.tiles is not None) == (some is scores)
            passes.count()
            (one,) = passes.partitions
            both.append([passes.attempts(one, Subset(k, inside=False)).genuine for k in range(3)])
    for found, expected in zip(*both, strict=True):
        np.testing.assert_array_equal(found, expected)


# ------------------------------------------------------------------------- parts of a pass

"""Embeddings counted by tiles give what their matrix gives, and what the slow twins say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from limits import streaming
from strategies import examples_of
from twins import assert_all_tasks, assert_same_but_d_prime, one_thread  # noqa: F401

import bioeval as be
from bioeval.attempts import kinds, passes, point_search, tile_pass, tiled_scores
from bioeval.attempts.counts import IdentificationTally
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.point_search import PointFinder
from bioeval.attempts.second_pass import Expected, PointsWanted
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.protocol.tasks import Search
from bioeval.scores.blocks import BlockReader
from bioeval.scores.embeddings import same_in_any_tile

METRICS = ("cosine", "l2", "l1", "linf", "bhattacharyya")
FEATURES = 7
TEAMS = np.array(list("aabbc"))


@dataclass
class Case:
    """Embeddings of some subjects, and how they are compared."""

    sizes: tuple[int, ...]
    seed: int = 0
    metric: str = "l2"
    given: str = "float64"  # dtype of the embeddings
    dtype: str = "float32"  # and of their distances
    text: bool = False  # whether labels are strings
    ordered: bool = False
    whole: bool = False  # whole numbers, so that most distances are tied
    layout: str = "square"
    exclude: tuple[str, ...] = ()
    most: int = 8  # templates of a tile

    def scores(self, *, matrix: bool = False, change=None) -> be.Scores:
        """The scores, computed where they are read, or as a matrix in memory."""
        rng = np.random.default_rng(self.seed)
        n, k = sum(self.sizes), len(self.sizes)
        labels = np.repeat(np.arange(k), self.sizes)
        if not self.ordered:
            labels = labels[rng.permutation(n)]
        x = 2 * rng.random((k, FEATURES))[labels] + rng.random((n, FEATURES)) + 0.01
        if self.whole:
            x = np.round(x)
            x[:, 0] += 1
        for _ in range(n // 6):  # equal embeddings, of one subject or of two
            x[rng.integers(n)] = x[rng.integers(n)]
        if change is not None:
            change(x)
        x = x.astype(self.given)
        names = (
            np.array([f"s{7 * i % 10}-{i}" for i in range(k + 1)])
            if self.text
            else 3 * np.arange(k + 1)
        )
        meta = {"session": rng.integers(0, 3, n), "camera": rng.integers(0, 4, n)}
        meta["team"] = TEAMS[labels % len(TEAMS)]
        options: dict[str, Any] = {"metric": self.exact_metric, "dtype": self.dtype}
        embed = be.Scores.from_embeddings if matrix else streaming
        exclude = {"exclude": self.exclude} if self.exclude else {}
        if self.layout == "gallery":  # some probes are not enrolled, and some templates alone
            cut = max(1, n // 3)
            probes = np.where(rng.random(cut) < 0.2, k, labels[:cut])
            sides = [
                {name: column[some] for name, column in meta.items()}
                for some in (slice(cut), slice(cut, None))
            ]
            sides[0]["team"] = TEAMS[probes % len(TEAMS)]
            return embed(
                x[:cut], names[probes], x[cut:], names[labels[cut:]],
                probe_meta=sides[0], gallery_meta=sides[1], **options, **exclude,
            )  # fmt: skip
        scores = embed(x, names[labels], probe_meta=meta, **options, **exclude)
        some = rng.permutation(n)
        if self.layout == "selection":
            return scores[some[: max(2, 3 * n // 4)]]
        if self.layout == "overlap":
            return scores.select(probes=some[: n // 2 + 1], gallery=some[n // 4 :])
        return scores

    @property
    def exact_metric(self) -> str:
        """A metric whose distances are the same in any tile and in the matrix."""
        products = self.metric in ("cosine", "l2", "bhattacharyya")
        exact = same_in_any_tile(FEATURES, np.dtype(self.dtype))
        return "l1" if products and not exact else self.metric


SIZES = st.one_of(
    st.lists(st.integers(1, 6), min_size=2, max_size=12),
    st.lists(st.just(1), min_size=3, max_size=30),
    st.lists(st.just(2), min_size=2, max_size=15),
    st.lists(st.integers(1, 16), min_size=2, max_size=4),
).map(tuple)


def cases(**fixed) -> st.SearchStrategy[Case]:
    drawn = {
        "sizes": SIZES,
        "seed": st.integers(0, 999),
        "metric": st.sampled_from(METRICS),
        "given": st.sampled_from(("float64", "float32", "float16")),
        "dtype": st.sampled_from(("float32", "float64")),
        "text": st.booleans(),
        "ordered": st.booleans(),
        "whole": st.booleans(),
        "layout": st.sampled_from(("square", "gallery", "selection", "overlap")),
        "exclude": st.sampled_from(((), ("session",), ("session", "camera"))),
        "most": st.sampled_from((8, 16, 480)),
    }
    return st.builds(Case, **(drawn | {name: st.just(value) for name, value in fixed.items()}))


@contextmanager
def by_tiles(most: int, **constants) -> Iterator[list[bool]]:
    """Small tiles, and whether each pass was counted by them."""
    answers: list[bool] = []
    count = passes.count_by_tiles

    def noted(*args):
        found = count(*args)
        answers.append(found is not None)
        return found

    with (
        mock.patch.object(tiled_scores, "LARGEST", {4: most, 8: most}),
        mock.patch.object(passes, "count_by_tiles", noted),
        mock.patch.multiple(tile_pass, **{"ROOM": tile_pass.ROOM, **constants}),
    ):
        yield answers


THRESHOLDS = np.array([0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 3.0, np.inf])


def results(scores: be.Scores) -> Iterator[Any]:
    """All that is counted by tiles."""
    yield be.evaluate(scores)
    options = {"far_targets": (0.0, 0.2, 0.01, 1.0), "costs": ((0.1, 2.0, 1.0),)}
    for templates in ("single", "multi"):
        yield be.verification(scores, templates=templates, thresholds=THRESHOLDS, **options)
    yield be.verification(scores, templates="multi", fusion="max", thresholds=THRESHOLDS, **options)
    yield be.verification(scores, thresholds=9, auc=False)
    unmated = {"unmated": "skip", "max_rank": 9}
    yield be.closed_set(scores, rank_unit="subject", ties="stable", **unmated)
    yield be.closed_set(scores, ties="stable", **unmated)
    yield be.closed_set(scores, ties="expected", **unmated)
    yield be.open_set(scores, rank_unit="subject", ties="expected", max_rank=3)


def check(case: Case) -> None:
    """Compare all results."""
    streamed, matrix = results(case.scores()), results(case.scores(matrix=True))
    for found, expected in zip(streamed, matrix, strict=True):
        assert_same_but_d_prime(found, expected)


@given(cases())
@settings(max_examples=examples_of(300))
@pytest.mark.slow
def test_embeddings_give_what_their_matrix_gives(case):
    with by_tiles(case.most) as answers:
        if 0 in case.scores().shape:
            return
        check(case)
    assert any(answers) or min(case.sizes) != max(case.sizes) or len(set(case.sizes)) < 3


@pytest.mark.parametrize("layout", ["square", "gallery", "selection", "overlap"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.cases(3)
def test_tiles_are_what_is_counted(layout, metric):
    """No pass over the rows replaces them."""
    case = Case((1, 5, 2, 2, 3, 1, 1, 4, 6, 2), metric=metric, layout=layout, exclude=("session",))
    case = replace(case, whole=metric in ("cosine", "l1"))
    with by_tiles(8) as answers:
        check(case)
    assert answers and all(answers[:1])
    assert sum(answers) == len(answers) // 2  # those of the matrix in memory are counted by rows


@pytest.mark.slow
@given(cases(layout="square", exclude=(), most=8, given="float64"))
@settings(max_examples=examples_of(60))
def test_slow_twins_say_the_same(case):
    """Counts, rates and ranks, from the definitions."""
    streamed, matrix = case.scores(), case.scores(matrix=True)
    values = np.asarray(matrix.values)
    thresholds = sorted({0.0, float(np.median(values)), float(values[0, -1]), np.inf})
    with by_tiles(case.most):
        assert_all_tasks(
            streamed, thresholds, values=values.tolist(), probe_labels=matrix.probe_labels.tolist()
        )


@given(cases(layout="gallery", exclude=(), most=8, given="float64"))
@settings(max_examples=examples_of(60))
@pytest.mark.slow
def test_slow_twins_say_the_same_of_probes_against_a_gallery(case):
    streamed, matrix = case.scores(), case.scores(matrix=True)
    values = np.asarray(matrix.values)
    labels = [x.tolist() for x in (matrix.probe_labels, matrix.gallery_labels)]
    if not set(labels[0]) & set(labels[1]):
        return
    with by_tiles(case.most):
        assert_all_tasks(
            streamed, sorted({0.0, float(np.median(values)), np.inf}),
            values=values.tolist(), probe_labels=labels[0], gallery_labels=labels[1],
        )  # fmt: skip


@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.parametrize("rules", [("max",), ("min", "max")])
@pytest.mark.cases(4)
def test_the_farthest_template_beside_other_tasks(layout, rules):
    """Ranks are those of the nearest templates even so; two rules of fusion need rows."""
    case = Case((1, 5, 2, 2, 3, 1, 1, 4, 6, 2), layout=layout, exclude=("session",))
    found = []
    with by_tiles(8) as answers:
        for matrix in (False, True):
            reader = BlockReader(case.scores(matrix=matrix))
            counters = [
                VerificationCounter(reader),
                *(VerificationCounter(reader, templates="multi", fusion=x) for x in rules),
                IdentificationCounter(reader),
                IdentificationCounter(reader, Search(rank_unit="subject")),
            ]
            found.append(passes.count_together(reader, counters))
    assert answers == ([True, False] if len(rules) == 1 else [])
    for one, other in zip(*found, strict=True):
        if isinstance(one, IdentificationTally):
            for name in ("mate", "closer", "tied", "tied_before", "mates_tied", "other"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            continue
        assert one.fusion == other.fusion
        assert one.genuine.tolist() == other.genuine.tolist()
        assert one.impostor.counts.tolist() == other.impostor.counts.tolist()


OVERLAPPING = Case((3, 1, 4, 4, 2, 5, 1, 3, 3, 2, 6, 1), whole=True, metric="l1")
APART = Case((4,) * 12, seed=3, metric="l2", dtype="float64")


@contextmanager
def windows(*some: tuple[float, float], divided: bool = False) -> Iterator[None]:
    """Let a pass keep the scores of these windows, wherever points may be.

    And count them up to each genuine score if `divided`.
    """

    def expected(grid, counts, genuine, *_):
        return Expected([*some], 1.0, np.unique(genuine) if divided else genuine[:0])

    with mock.patch.object(kinds, "expected_points", expected):
        yield


@contextmanager
def second_passes() -> Iterator[list[str]]:
    """The names of the second passes that are taken."""
    seen: list[str] = []
    following = point_search.PointFinder.next_second_pass

    def noted(self):
        found = following(self)
        seen.extend([] if found is None else [type(found).__name__])
        return found

    with mock.patch.object(point_search.PointFinder, "next_second_pass", noted):
        yield seen


@pytest.mark.parametrize("case", [OVERLAPPING, APART], ids=["overlapping", "apart"])
@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.parametrize("kept", ["nothing", "a part", "all but moments", "counts"])
@pytest.mark.cases(2)
def test_second_passes_find_the_same(case, layout, kept):
    """Only tiles that may hold what is looked for are read again."""
    case = replace(case, layout=layout)
    where = ((0.5, 1.0), (1.5, 2.0)) if kept == "a part" else ()
    constants = {} if kept == "nothing" else {"ROOM": 0}
    divided = kept == "counts"
    with by_tiles(8, **constants), windows(*where, divided=divided), second_passes() as seen:
        if kept == "all but moments":
            with mock.patch.object(PointsWanted, "MOST_SCORES", 1):
                check(case)
        else:
            check(case)
    assert "SecondPass" in seen


@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.parametrize("metric", ["l1", "l2"])
@pytest.mark.cases(1)
def test_crowded_bins_are_divided(layout, metric):
    """Of a set with itself, each score found stands for both directions."""
    case = Case((3, 1, 4, 4, 2, 5, 1, 3, 3, 2, 6, 1) * 3, layout=layout, metric=metric)
    case = replace(case, whole=metric == "l2")
    with by_tiles(8), windows(), second_passes() as seen:
        with mock.patch.object(point_search, "COLLECT", 2):
            found = [be.verification(case.scores(), templates=x) for x in ("single", "multi")]
        expected = [
            be.verification(case.scores(matrix=True), templates=x) for x in ("single", "multi")
        ]
    assert "_Division" in seen
    for one, other in zip(found, expected, strict=True):
        assert_same_but_d_prime(one, other)


@pytest.mark.parametrize(
    "constants", [{"TILES_COUNTED": 2}, {"ROOM": 0}, {"LINE": 5}, {"PILOT_TILES": 1}], ids=str
)
@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.slow
def test_tables_that_are_set_aside_add_up(layout, constants):
    with by_tiles(8, **constants):
        check(replace(OVERLAPPING, layout=layout))
        check(replace(APART, layout=layout))


@pytest.mark.slow
def test_tiles_need_not_be_held(monkeypatch):
    monkeypatch.setattr(tiled_scores, "HELD", 0)
    with by_tiles(8):
        check(OVERLAPPING)


@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.cases(2)
def test_the_same_bits_on_any_number_of_threads(layout, kept, monkeypatch):
    """Even of d', whose sums are by tile."""
    monkeypatch.setattr("bioeval.scores.blocks.SERIAL_CELLS", 0)
    scores = Case((3, 2, 5, 1, 4) * 6, layout=layout, metric="cosine").scores()
    found = []
    with by_tiles(8) as answers:
        for threads in range(1, min(3, numba.config.NUMBA_NUM_THREADS) + 1):
            numba.set_num_threads(threads)
            if kept:
                found.append(list(results(scores)))
            else:
                with windows():
                    found.append(list(results(scores)))
    numba.set_num_threads(1)
    assert all(answers)
    for other in found[1:]:
        assert all(a.identical(b) for a, b in zip(found[0], other, strict=True))


def large(x):
    """No change."""


def failed(x):
    x[5, 2] = np.nan
    x[-1] = np.nan


def without_direction(x):
    x[3] = 0


def disjoint(x):
    x[4], x[-2] = 0, 0
    x[4, 0] = x[-2, 1] = 1


FALLBACKS = {
    "large subject": (Case((2, 3, 40, 1, 4)), large),
    "failed, l1": (Case((2, 3, 5, 1, 4), metric="l1"), failed),
    "failed, linf": (Case((2, 3, 5, 1, 4), metric="linf"), failed),
    "failed, l2": (Case((2, 3, 5, 1, 4)), failed),
    "failed, cosine": (Case((2, 3, 5, 1, 4), metric="cosine"), failed),
    "without direction": (Case((2, 3, 5, 1, 4), metric="cosine"), without_direction),
    "failed, one tile": (Case((2, 3, 5, 1, 4), metric="l1", most=480), failed),
    "infinite": (Case((2, 3, 5, 1, 4, 6), metric="bhattacharyya", dtype="float64"), disjoint),
    "one subject": (Case((9,)), large),
    "one template": (Case((1,)), large),
}


@pytest.mark.parametrize("name", FALLBACKS)
@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.parametrize("nan", ["reject", "exclude"])
@pytest.mark.cases(5)
def test_what_tiles_cannot_count_is_counted_by_rows(name, layout, nan):
    case, change = FALLBACKS[name]
    case = replace(case, layout=layout)
    if layout == "gallery" and len(case.sizes) == 1:
        return
    found, expected = (
        case.scores(matrix=matrix, change=change).replace(nan=nan) for matrix in (False, True)
    )
    with by_tiles(case.most) as answers:
        for task in (be.verification, be.evaluate):
            assert_same_but_d_prime(task(found), task(expected))
    assert not any(answers)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("most", [8, 480])
@pytest.mark.cases(2)
def test_failed_templates_are_refused_by_default(metric, most):
    case = Case((2, 3, 5, 1, 4), metric=metric)
    messages = []
    with by_tiles(most):
        for matrix in (True, False):
            with pytest.raises(be.DataError, match="NaN, the first at row 0, column") as error:
                be.verification(case.scores(matrix=matrix, change=failed))
            messages.append(str(error.value))
    assert messages[0] == messages[1]


# ------------------------------------------------------------------------- parts of a pass


def test_second_passes_of_what_tiles_have_not_counted_read_rows():
    """On one reader: nearest templates by tiles, and then the farthest, which tiles do not have."""
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(300), 4)
    x = rng.normal(size=(300, 8))[labels] + rng.normal(size=(1200, 8))
    wanted = PointsWanted(np.array([0.01]), np.empty((0, 3)), every_score=True)
    found = []
    for limit in ("1 MB", "1 GiB"):
        scores = streaming(x, labels, limit=limit)
        reader = BlockReader(scores)
        if limit == "1 MB":
            passes.count_with_points(reader, [VerificationCounter(reader)], wanted)
            assert reader.second_reading is not None
        counter = VerificationCounter(reader, templates="multi", fusion="max")
        (tally,) = passes.count_together(reader, [counter])
        found.append(PointFinder.points_of(tally, counter, wanted, symmetric=False))
    streamed, whole = found
    assert streamed.frr_at_far.tolist() == whole.frr_at_far.tolist()
    assert streamed.auc == whole.auc


# ------------------------------------------------- libraries whose last bits depend on the shape

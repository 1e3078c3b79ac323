"""Embeddings that are counted by tiles give what their matrix gives, sorted."""

import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from limits import streaming
from reference import assert_same_but_d_prime, one_thread  # noqa: F401
from strategies import examples_of
from ways import counted_by

import bioeval as be
from bioeval.counting import tiles
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
        embeddings = 2 * rng.random((k, FEATURES))[labels] + rng.random((n, FEATURES)) + 0.01
        if self.whole:
            embeddings = np.round(embeddings)
            embeddings[:, 0] += 1
        for _ in range(n // 6):  # equal embeddings, of one subject or of two
            embeddings[rng.integers(n)] = embeddings[rng.integers(n)]
        if change is not None:
            change(embeddings)
        embeddings = embeddings.astype(self.given)
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
                {name: column[rows] for name, column in meta.items()}
                for rows in (slice(cut), slice(cut, None))
            ]
            sides[0]["team"] = TEAMS[probes % len(TEAMS)]
            return embed(
                embeddings[:cut], names[probes], embeddings[cut:], names[labels[cut:]],
                probe_meta=sides[0], gallery_meta=sides[1], **options, **exclude,
            )  # fmt: skip
        scores = embed(embeddings, names[labels], probe_meta=meta, **options, **exclude)
        chosen = rng.permutation(n)
        if self.layout == "selection":
            return scores[chosen[: max(2, 3 * n // 4)]]
        if self.layout == "overlap":
            return scores.select(probes=chosen[: n // 2 + 1], gallery=chosen[n // 4 :])
        return scores

    @property
    def exact_metric(self) -> str:
        """A metric whose distances are equal in any tile and in the matrix."""
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
        "exclude": st.sampled_from(((), ("session",), ("session!=", "camera"), ("all:session",))),
        "most": st.sampled_from((8, 16, 480)),
    }
    return st.builds(Case, **(drawn | {name: st.just(value) for name, value in fixed.items()}))


@contextmanager
def by_tiles(most: int, **constants: Any) -> Iterator[list[bool]]:
    """Count small tiles; whether each pass was counted by them."""
    answers: list[bool] = []
    tiles_of_scores = tiles.TileParts.from_scores

    def noted(scores, **options):
        parts = tiles_of_scores(scores, **options)
        answers.append(parts is not None)
        return parts

    with counted_by("counted", tile=most) as patch:
        patch.setattr(tiles.TileParts, "from_scores", noted)
        for name, value in constants.items():
            patch.setattr(tiles, name, value)
        yield answers


THRESHOLDS = np.array([0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 3.0, np.inf])
SPLITTERS = {
    "subjects": be.partition.SubjectKFold(3, shuffle=True, random_state=1),
    "repeats": be.partition.SubjectKFold(2, n_repeats=3, shuffle=True, random_state=2),
    "samples": be.partition.SampleKFold(3, shuffle=True, random_state=3),
    "shuffled": be.partition.SubjectShuffleSplit(2, test_size=0.4, random_state=4),
}
TEMPLATES = (("single", "best"), ("multi", "best"), ("multi", "worst"), ("multi", "mean"))


def found_by(call, *args, **options) -> Any:
    """Return a result without its messages, or why there is none."""
    try:
        with warnings.catch_warnings():  # of subjects who look like distractors
            warnings.simplefilter("ignore", be.BioevalWarning)
            result = call(*args, **options)
    except be.BioevalError as error:
        return str(error)
    for name in ("messages", "warnings"):  # no distances computed are failure codes
        result.attrs.pop(name, None)
    return result


def results(scores: be.Scores) -> Iterator[Any]:
    """All results that are counted by tiles, except curves whose thresholds depend on the way."""
    options = {"far_targets": (0.0, 0.2, 0.01, 1.0), "costs": ((0.1, 2.0, 1.0),)}
    for templates, fusion in TEMPLATES[:3]:
        settings = {"templates": templates, "fusion": fusion, "thresholds": THRESHOLDS}
        yield found_by(be.verification, scores, **settings, **options)
    yield found_by(be.verification, scores, n_thresholds=9, auc=False)
    unmated = {"unmated": "skip", "max_rank": 9}
    yield found_by(be.closed_set, scores, rank_unit="subject", ties="stable", **unmated)
    yield found_by(be.closed_set, scores, ties="stable", **unmated)
    yield found_by(be.closed_set, scores, ties="expected", **unmated)
    yield found_by(be.open_set, scores, rank_unit="subject", ties="expected", max_rank=3)


def of_folds(scores: be.Scores) -> Iterator[Any]:
    """Folds, whose thresholds are chosen by rules."""
    rules = ("eer", "far=0.05", "far=0.0", "frr=0.1", "hter", "accuracy", 0.5)
    for k, rule in enumerate(rules):
        templates, fusion = TEMPLATES[k % 4]
        options = {"templates": templates, "fusion": fusion, "threshold": rule}
        yield found_by(be.cross_evaluate, scores, list(SPLITTERS.values())[k % 3], **options)
    yield found_by(be.by_group, scores, "team")


def of_retrieval(scores: be.Scores) -> Iterator[Any]:
    """Lists of queries, where one subject is junk and another subject is no person."""
    junk, nobody = np.unique(scores.gallery_labels)[[0, -1]].tolist()
    options = {"junk_ids": [junk], "distractor_ids": [nobody], "per_query": True}
    for removed, ties in (
        ("same-id-same-camera", "stable"), ("same-camera", "pessimistic"), ("none", "optimistic")
    ):  # fmt: skip
        yield found_by(be.reid, scores, removed=removed, ties=ties, **options)


def check(case: Case, call=results, change=None, nan="raise", **constants: Any) -> list[bool]:
    """Compare all results; return whether each pass was counted by tiles."""
    with counted_by("listed"):
        expected = list(call(case.scores(matrix=True, change=change).replace(nan=nan)))
    with by_tiles(case.most, **constants) as answers:
        results_found = list(call(case.scores(change=change).replace(nan=nan)))
    for result, expected_result in zip(results_found, expected, strict=True):
        if isinstance(expected_result, str):
            # A part that is selected counts its own failures, and names the first of its own.
            of_part = re.compile(r"hold \d+ NaN|column \d+|row \d+")
            assert of_part.sub("", result) == of_part.sub("", expected_result)
        else:
            assert_same_but_d_prime(result, expected_result)
    return answers


@given(cases())
@settings(max_examples=examples_of(300))
@pytest.mark.slow
def test_embeddings_give_what_their_matrix_gives(case):
    if 0 in case.scores().shape:
        return
    answers = check(case)
    check(case, of_folds)
    check(case, of_retrieval)
    assert any(answers) or min(case.sizes) != max(case.sizes) or len(set(case.sizes)) < 3


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["square", "gallery", "selection", "overlap"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("call", [results, of_folds, of_retrieval])
def test_tiles_are_what_is_counted(layout, metric, call):
    """No pass over the rows replaces them; and tiles of mates need not be held."""
    case = Case((1, 5, 2, 2, 3, 1, 1, 4, 6, 2), metric=metric, layout=layout, exclude=("session",))
    case = replace(case, whole=metric in ("cosine", "l1"))
    answers = check(case, call, MOST_KEPT=0 if metric == "l1" else tiles.MOST_KEPT)
    assert answers.count(True) > len(answers) // 2


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


@pytest.mark.slow
@pytest.mark.parametrize("name", FALLBACKS)
@pytest.mark.parametrize("layout", ["square", "gallery"])
@pytest.mark.parametrize("nan", ["reject", "exclude", "raise"])
def test_what_tiles_cannot_count_is_counted_by_rows(name, layout, nan):
    case, change = FALLBACKS[name]
    case = replace(case, layout=layout)
    if layout == "gallery" and len(case.sizes) == 1:
        return
    for call in (results, of_folds, of_retrieval):
        check(case, call, change, nan)


def test_a_matrix_that_is_yet_to_be_made_is_counted_by_tiles_once(monkeypatch):
    monkeypatch.setattr("bioeval.scores.embeddings.LEAST_LAZY", 0)
    embeddings = np.random.default_rng(0).integers(0, 5, (40, 16)).astype(float)
    scores = be.Scores.from_embeddings(embeddings, np.arange(40) // 4, metric="l1")
    if scores.cells.embeddings is None:
        pytest.skip("the matrix is made at once with this library of linear algebra")
    with by_tiles(8) as answers:
        first, second = (be.verification(scores, thresholds=THRESHOLDS) for _ in range(2))
    assert answers[0] and not answers[-1]
    assert_same_but_d_prime(first, second)


def test_progress_is_of_whole_passes_and_from_the_thread_of_the_call():
    progress: list[int] = []
    caller = threading.get_ident()

    def report(rows_done: int, rows: int) -> None:
        assert threading.get_ident() == caller and rows == 27
        progress.append(rows_done)

    case = Case((1, 5, 2, 2, 3, 1, 1, 4, 6, 2))
    with by_tiles(8), be.set_options(threads=2, progress=report):
        be.verification(case.scores(), thresholds=THRESHOLDS)
    first, last = np.flatnonzero(np.array(progress) == 0), np.flatnonzero(np.array(progress) == 27)
    assert first.tolist() == [0, *(last[:-1] + 1)]
    assert last[-1] == len(progress) - 1
    assert (np.delete(np.diff(progress), last[:-1]) > 0).all()

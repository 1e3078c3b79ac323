"""Who is which row: one rule at every door that takes a value for each template or pair.

Every door is fed the same table in every scene: in which order the scores are, in which order the
values, and what each of them has as keys. The right numbers are counted by loops over the rows of
the table, which know no order. The scenes are sound (the right numbers) or faults (a question).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from joined_worlds import Numbers, counted, says_taken_in_order
from named_arguments import refused
from sklearn.preprocessing import FunctionTransformer

import bioeval as be

#: What is said of small worlds as Python warnings is held by other tests.
pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")

RIGHT, SAID, ASKED = "right", "right, and said", "asked"

# ------------------------------------------------------------------------------- the table

ROWS = range(24)
RNG = np.random.default_rng(3)
SUBJECT = {i: f"p{i % 6}" for i in ROWS}
POINT = dict(enumerate(3.0 * RNG.normal(size=(6, 4))[np.arange(24) % 6] + RNG.normal(size=(24, 4))))
SESSION = {i: i % 5 % 2 for i in ROWS}
FOLD = {i: "ab"[int(SUBJECT[i][1]) % 2] for i in ROWS}
IS_CHOSEN = {i: i % 7 not in (2, 5) for i in ROWS}
#: Each row is a line of a list of pairs, too: the comparison of a row with one of the next rows.
PARTNER = {i: (i + (6 if i % 2 else 1 + i % 4)) % 24 for i in ROWS}
DEPTH = 5
THRESHOLD = 4.0


def distance(i: int, j: int) -> float:
    return float(np.linalg.norm(POINT[i] - POINT[j]))


def is_genuine(i: int, j: int) -> bool:
    return SUBJECT[i] == SUBJECT[j]


def comparisons(rows: Sequence[int]) -> list[tuple[int, int]]:
    return [(i, j) for i in rows for j in rows if i != j]


def counted_pairs(pairs: Sequence[tuple[int, int]]) -> Numbers:
    return counted((is_genuine(i, j), distance(i, j)) for i, j in pairs)


# ------------------------------------------------------------------------------- keys

KEYS: dict[str, Callable[[list[int]], Any]] = {
    "none": lambda rows: None,
    "numbers": lambda rows: rows,
    "new numbers": lambda rows: range(len(rows)),
    "numerals": lambda rows: [str(i) for i in rows],
    "names": lambda rows: [f"t{i}" for i in rows],
    "other names": lambda rows: [f"x{i}" for i in rows],
    "dates": lambda rows: pd.Timestamp("2020-01-01") + pd.to_timedelta(rows, unit="D"),
    "two levels": lambda rows: pd.MultiIndex.from_tuples([(SUBJECT[i], i) for i in rows]),
    "repeated numbers": lambda rows: [i // 2 for i in rows],
}


class Keyed(NamedTuple):
    """Rows of the table, in an order, and the keys that they have."""

    rows: list[int]
    keys: str
    as_xarray: bool = False

    def column(self, value: dict[int, Any]) -> Any:
        values = np.array([value[i] for i in self.rows])
        return self._keyed(values, "row")

    def table(self, values: np.ndarray, *, square: bool = False) -> Any:
        return self._keyed(values, *(("probe", "gallery") if square else ("row", "column")))

    def matrix(self, value: Callable[[int, int], Any]) -> Any:
        values = np.array([[value(i, j) for j in self.rows] for i in self.rows])
        return self.table(values, square=True)

    def points(self) -> Any:
        return self.table(np.array([POINT[i] for i in self.rows]))

    def _keyed(self, values: np.ndarray, *dims: str) -> Any:
        keys = KEYS[self.keys](self.rows)
        if keys is None:
            return values
        if self.as_xarray:
            keyed = [x for x in dims if x != "column"]
            return xr.DataArray(values, {x: list(keys) for x in keyed}, dims)
        if values.ndim == 1:
            return pd.Series(values, index=keys)
        return pd.DataFrame(values, index=keys, columns=keys if "gallery" in dims else None)


# ------------------------------------------------------------------------------- scenes

NATURAL = list(ROWS)
SHUFFLED, OTHERWISE = (random.Random(i).sample(NATURAL, 24) for i in (1, 2))
SOME = [i for i in ROWS if i not in (0, 4, 9, 13, 14)]
SCENES: dict[str, tuple[tuple[list[int], str], tuple[list[int], str], str]] = {
    "scores shuffled, values natural": ((SHUFFLED, "numbers"), (NATURAL, "numbers"), RIGHT),
    "scores natural, values shuffled": ((NATURAL, "numbers"), (SHUFFLED, "numbers"), RIGHT),
    "both shuffled": ((SHUFFLED, "numbers"), (OTHERWISE, "numbers"), RIGHT),
    "values an array": ((SHUFFLED, "numbers"), (SHUFFLED, "none"), SAID),
    "scores an array": ((SHUFFLED, "none"), (SHUFFLED, "numbers"), SAID),
    "chosen, values of all": ((SOME, "numbers"), (NATURAL, "numbers"), RIGHT),
    "chosen, values of the chosen": ((SOME, "numbers"), (SOME, "numbers"), RIGHT),
    "chosen, values an array": ((SOME, "numbers"), (SOME, "none"), SAID),
    "chosen as an array": ((SOME, "none"), (SOME, "numbers"), SAID),
    "chosen, new numbers": ((SOME, "numbers"), (SOME, "new numbers"), ASKED),
    "first rows, values of all": ((NATURAL[:20], "numbers"), (NATURAL, "numbers"), ASKED),
    "values of a part": ((NATURAL, "numbers"), (SOME, "numbers"), ASKED),
    "equal numbers that repeat": (
        (NATURAL, "repeated numbers"),
        (NATURAL, "repeated numbers"),
        RIGHT,
    ),
    "numerals as texts": ((SHUFFLED, "numerals"), (NATURAL, "numbers"), RIGHT),
    "names": ((SHUFFLED, "names"), (OTHERWISE, "names"), RIGHT),
    "names, values of all": ((SOME, "names"), (OTHERWISE, "names"), RIGHT),
    "names of scores alone": ((SHUFFLED, "names"), (SHUFFLED, "none"), SAID),
    "names beside a count": ((NATURAL, "names"), (NATURAL, "numbers"), SAID),
    "names of values alone": ((NATURAL, "none"), (NATURAL, "names"), SAID),
    "other names": ((NATURAL, "names"), (NATURAL, "other names"), ASKED),
    "dates": ((SHUFFLED, "dates"), (OTHERWISE, "dates"), RIGHT),
    "two levels": ((SHUFFLED, "two levels"), (OTHERWISE, "two levels"), RIGHT),
}

# ------------------------------------------------------------------------------- doors

#: A result, its numbers, and the right ones.
Found = tuple[Any, Numbers, Numbers]
DOORS: dict[str, Callable[[Keyed, Keyed], Found]] = {}


def door(feed: Callable[[Keyed, Keyed], Found]) -> Callable[[Keyed, Keyed], Found]:
    DOORS[feed.__name__] = feed
    return feed


def verified(scores: be.Scores, **options: Any) -> tuple[Any, Numbers]:
    result = be.verification(scores, **options)
    return result, {
        "genuine": int(result.genuine_attempts),
        "impostor": int(result.impostor_attempts),
        "eer": float(result.eer),
    }


def labels_of(rows: Sequence[int]) -> list[str]:
    return [SUBJECT[i] for i in rows]


def scores_of(given: Keyed, **options: Any) -> be.Scores:
    return be.Scores(given.matrix(distance), labels_of(given.rows), **options)


@door
def labels(given: Keyed, fed: Keyed) -> Found:
    scores = be.Scores(given.matrix(distance), fed.column(SUBJECT))
    return *verified(scores), counted_pairs(comparisons(given.rows))


@door
def labels_of_embeddings(given: Keyed, fed: Keyed) -> Found:
    scores = be.Scores.from_embeddings(given.points(), fed.column(SUBJECT), metric="l2")
    return *verified(scores), counted_pairs(comparisons(given.rows))


@door
def gallery_labels(given: Keyed, fed: Keyed) -> Found:
    """Three further probes, against all rows."""
    probes = [5, 11, 20]
    points = np.array([POINT[i] + 0.5 for i in probes])
    sides = points, labels_of(probes), given.points(), fed.column(SUBJECT)
    truth = counted(
        (is_genuine(i, j), float(np.linalg.norm(POINT[i] + 0.5 - POINT[j])))
        for i in probes
        for j in given.rows
    )
    return *verified(be.Scores.from_embeddings(*sides, metric="l2")), truth


def between_sessions(rows: Sequence[int]) -> Numbers:
    pairs = comparisons(rows)
    return counted_pairs(
        [(i, j) for i, j in pairs if not is_genuine(i, j) or SESSION[i] != SESSION[j]]
    )


@door
def exclusions(given: Keyed, fed: Keyed) -> Found:
    scores = scores_of(given, probe_meta={"session": fed.column(SESSION)}, exclude=["session"])
    return *verified(scores), between_sessions(given.rows)


@door
def exclusions_of_embeddings(given: Keyed, fed: Keyed) -> Found:
    scores = be.Scores.from_embeddings(
        given.points(), labels_of(given.rows), metric="l2", exclude=["session"],
        probe_meta={"session": fed.column(SESSION)},
    )  # fmt: skip
    return *verified(scores), between_sessions(given.rows)


def is_kept(i: int, j: int) -> bool:
    return (3 * i + 5 * j) % 7 > 1


def kept_comparisons(rows: Sequence[int]) -> Numbers:
    return counted_pairs([x for x in comparisons(rows) if is_kept(*x)])


@door
def mask(given: Keyed, fed: Keyed) -> Found:
    return *verified(scores_of(given, mask=fed.matrix(is_kept))), kept_comparisons(given.rows)


@door
def mask_of_embeddings(given: Keyed, fed: Keyed) -> Found:
    people = labels_of(given.rows)
    options = {"metric": "l2", "mask": fed.matrix(is_kept)}
    scores = be.Scores.from_embeddings(given.points(), people, **options)
    return *verified(scores), kept_comparisons(given.rows)


@door
def with_mask(given: Keyed, fed: Keyed) -> Found:
    scores = scores_of(given).with_mask(fed.matrix(is_kept))
    return *verified(scores), kept_comparisons(given.rows)


def city_block(i: int, j: int) -> float:
    return float(np.abs(POINT[i] - POINT[j]).sum())


@door
def with_values(given: Keyed, fed: Keyed) -> Found:
    scores = scores_of(given).with_values(fed.matrix(city_block), "distance")
    truth = counted((is_genuine(*x), city_block(*x)) for x in comparisons(given.rows))
    return *verified(scores), truth


@door
def select(given: Keyed, fed: Keyed) -> Found:
    scores = scores_of(given).select(fed.column(IS_CHOSEN))
    return *verified(scores), counted_pairs(comparisons([i for i in given.rows if IS_CHOSEN[i]]))


@door
def groups(given: Keyed, fed: Keyed) -> Found:
    result = be.by_group(scores_of(given), fed.column(FOLD), threshold=THRESHOLD)
    pairs = [x for x in comparisons(given.rows) if is_genuine(*x) and distance(*x) > THRESHOLD]
    truth = {x: sum(FOLD[i] == x for i, _ in pairs) for x in "ab"}
    return result, {x: int(result.fr.sel(group=x)) for x in "ab"}, truth


CLAIMED = {i: SUBJECT[i] if i % 3 else SUBJECT[(i + 1) % 24] for i in ROWS}


@door
def claims(given: Keyed, fed: Keyed) -> Found:
    truth = counted_pairs([(i, j) for i, j in comparisons(given.rows) if SUBJECT[j] == CLAIMED[i]])
    return *verified(scores_of(given), claims=fed.column(CLAIMED)), truth


def of_folds(result: Any, pairs_of_fold: dict[str, list[tuple[int, int]]]) -> Found:
    numbers, truth = {}, {}
    for place, (fold, pairs) in enumerate(pairs_of_fold.items()):
        of_fold = result.isel(repeat=0, fold=place).sel(part="test")
        numbers[fold] = int(of_fold.fr)
        truth[fold] = sum(is_genuine(*x) and distance(*x) > THRESHOLD for x in pairs)
    return result, numbers, truth


@door
def folds(given: Keyed, fed: Keyed) -> Found:
    splitter = be.partition.PredefinedFolds(fed.column(FOLD))
    result = be.cross_evaluate(scores_of(given), splitter, threshold=THRESHOLD)
    return of_folds(result, {x: comparisons([i for i in given.rows if FOLD[i] == x]) for x in "ab"})


def cross_evaluated(given: Keyed, y: Any, folds: Any) -> Found:
    result = be.cross_evaluate(
        given.points(), be.partition.PredefinedFolds(folds), y=y, threshold=THRESHOLD,
        estimator=FunctionTransformer(), metric="l2",
    )  # fmt: skip
    return of_folds(result, {x: comparisons([i for i in given.rows if FOLD[i] == x]) for x in "ab"})


@door
def y_of_an_estimator(given: Keyed, fed: Keyed) -> Found:
    return cross_evaluated(given, fed.column(SUBJECT), [FOLD[i] for i in given.rows])


@door
def folds_of_an_estimator(given: Keyed, fed: Keyed) -> Found:
    return cross_evaluated(given, labels_of(given.rows), fed.column(FOLD))


@door
def scorer(given: Keyed, fed: Keyed) -> Found:
    score = be.make_scorer("eer", metric="l2")
    found = score(FunctionTransformer(), given.points(), fed.column(SUBJECT))
    return None, {"eer": -found}, {"eer": counted_pairs(comparisons(given.rows))["eer"]}


# Lists of pairs: a row is a line.

LINE_DISTANCE = {i: distance(i, PARTNER[i]) for i in ROWS}
LINE_IS_GENUINE = {i: is_genuine(i, PARTNER[i]) for i in ROWS}


def lines_of(rows: Sequence[int]) -> list[tuple[int, int]]:
    return [(i, PARTNER[i]) for i in rows]


def list_of(given: Keyed, **options: Any) -> be.Scores:
    genuine = [LINE_IS_GENUINE[i] for i in given.rows]
    return be.Scores.from_pairs(given.column(LINE_DISTANCE), genuine, **options)


@door
def genuine(given: Keyed, fed: Keyed) -> Found:
    flags = fed.column(LINE_IS_GENUINE)
    scores = be.Scores.from_pairs(given.column(LINE_DISTANCE), flags)
    return *verified(scores), counted_pairs(lines_of(given.rows))


@door
def select_pairs(given: Keyed, fed: Keyed) -> Found:
    scores = list_of(given).select(fed.column(IS_CHOSEN))
    return *verified(scores), counted_pairs(lines_of([i for i in given.rows if IS_CHOSEN[i]]))


FOLD_OF_LINE = {i: "ab"[i % 5 > 2] for i in ROWS}


@door
def pair_folds(given: Keyed, fed: Keyed) -> Found:
    scores = list_of(given, pair_folds=fed.column(FOLD_OF_LINE))
    splitter = be.partition.PredefinedPairFolds(scores.pair_folds)
    result = be.cross_evaluate(scores, splitter, threshold=THRESHOLD)
    return of_folds(
        result, {x: lines_of([i for i in given.rows if FOLD_OF_LINE[i] == x]) for x in "ab"}
    )


@door
def folds_of_pairs(given: Keyed, fed: Keyed) -> Found:
    splitter = be.partition.PredefinedPairFolds(fed.column(FOLD_OF_LINE))
    result = be.cross_evaluate(list_of(given), splitter, threshold=THRESHOLD)
    return of_folds(
        result, {x: lines_of([i for i in given.rows if FOLD_OF_LINE[i] == x]) for x in "ab"}
    )


# Top-K lists: queries are rows, which search all other rows of another session.


def nearest(query: int) -> list[int]:
    others = [i for i in ROWS if SESSION[i] != SESSION[query]]
    return sorted(others, key=lambda i: distance(query, i))[:DEPTH]


@door
def labels_of_lists(given: Keyed, fed: Keyed) -> Found:
    lists = given.table(np.array([nearest(i) for i in given.rows]))
    gallery = labels_of(ROWS)
    result = be.reid(be.Scores.from_top_k(lists, fed.column(SUBJECT), gallery), "vehicleid")
    hits = [is_genuine(i, nearest(i)[0]) for i in given.rows]
    numbers = {"queries": int(result.queries), "rank 1": float(result.cmc.sel(rank=1))}
    return result, numbers, {"queries": len(hits), "rank 1": sum(hits) / len(hits)}


@door
def distances_of_lists(given: Keyed, fed: Keyed) -> Found:
    lists = given.table(np.array([nearest(i) for i in given.rows]))
    values = np.array([[distance(i, j) for j in nearest(i)] for i in fed.rows])
    people = labels_of(given.rows), labels_of(ROWS)
    scores = be.Scores.from_top_k(lists, *people, distances=fed.table(values))
    first = {str(k): float(x) for k, x in enumerate(scores.distances[:, 0])}
    truth = {str(k): distance(i, nearest(i)[0]) for k, i in enumerate(given.rows)}
    return be.reid(scores, "vehicleid"), first, truth


# Systems.


def second_system(given: Keyed, fed: Keyed) -> tuple[be.Scores, be.Scores]:
    return scores_of(given), be.Scores(fed.matrix(city_block), labels_of(fed.rows))


def fused_truth(rows: Sequence[int]) -> Numbers:
    pairs = comparisons(rows)
    return counted((is_genuine(*x), (distance(*x) + city_block(*x)) / 2) for x in pairs)


@door
def fuse(given: Keyed, fed: Keyed) -> Found:
    """What one system lacks is left out of both."""
    first, second = second_system(given, fed)
    return *verified(be.fuse({"a": first, "b": second})), fused_truth(
        [*{*given.rows} & {*fed.rows}]
    )


@door
def compare(given: Keyed, fed: Keyed) -> Found:
    first, second = second_system(given, fed)
    result = be.compare({"a": first, "b": second}, measures="eer")
    pairs = comparisons(sorted({*given.rows} & {*fed.rows}))
    truth = {
        "a": counted_pairs(pairs)["eer"],
        "b": counted((is_genuine(*x), city_block(*x)) for x in pairs)["eer"],
    }
    return result, {x: float(result.eer.sel(system=x).item()) for x in "ab"}, truth


# ------------------------------------------------------------------------------- all of them


OF_XARRAY = ("scores shuffled, values natural", "values an array", "chosen, new numbers", "names")


@pytest.mark.parametrize(
    ("scene", "as_xarray"), [*((x, False) for x in SCENES), *((x, True) for x in OF_XARRAY)]
)
@pytest.mark.parametrize("name", DOORS)
def test_every_door_joins_by_one_rule(name, scene, as_xarray):
    given, fed, expected = SCENES[scene]
    sides = Keyed(*given, as_xarray), Keyed(*fed, as_xarray)
    if scene == "values of a part" and name in ("fuse", "compare"):
        expected = RIGHT  # what one system lacks is left out of both
    if expected == ASKED:
        with pytest.raises(be.DataError):
            DOORS[name](*sides)
        return
    result, numbers, truth = DOORS[name](*sides)
    assert numbers == pytest.approx(truth)
    if expected == SAID and result is not None and hasattr(result, "attrs"):
        assert says_taken_in_order(result)


LABEL_DOORS = (labels, labels_of_embeddings)


@pytest.mark.parametrize("name", [x.__name__ for x in LABEL_DOORS])
@pytest.mark.parametrize(
    ("given", "fed"),
    [
        ((SHUFFLED, "numbers"), (NATURAL, "none")),
        ((NATURAL, "none"), (SHUFFLED, "numbers")),
        ((SHUFFLED, "numbers"), (SHUFFLED, "new numbers")),
    ],
    ids=["values an array in natural order", "scores an array", "values numbered anew"],
)
def test_labels_that_fit_the_scores_in_another_order_are_asked_about(name, given, fed):
    with refused(r"numbered in different orders.*reset_index\(drop=True\)"):
        DOORS[name](Keyed(*given), Keyed(*fed))


@pytest.mark.parametrize("keys", ["numbers", "numerals", "names"])
def test_columns_of_a_square_table_may_be_in_another_order(keys):
    rows, columns = (KEYS[keys](x) for x in (SHUFFLED, OTHERWISE))
    values = [[distance(i, j) for j in OTHERWISE] for i in SHUFFLED]
    table = pd.DataFrame(values, rows, columns)
    scores = be.Scores(table, labels_of(SHUFFLED))
    assert scores.layout == "all-against-all"
    assert verified(scores)[1] == pytest.approx(counted_pairs(comparisons(ROWS)))


@pytest.mark.parametrize("make", ["frames", "matrix"])
def test_numbers_never_say_that_a_probe_and_a_gallery_template_are_one(make):
    """Two sessions, whose frames have numbers with gaps."""
    probes, gallery = [i for i in ROWS if i != 7], [i for i in ROWS if i != 9]
    second = {i: POINT[i] + 0.4 * ((i % 3) - 1) for i in ROWS}

    def between(i: int, j: int) -> float:
        return float(np.linalg.norm(POINT[i] - second[j]))

    people = (pd.Series(labels_of(x), index=x) for x in (probes, gallery))
    if make == "frames":
        points = (
            pd.DataFrame([x[i] for i in y], y) for x, y in ((POINT, probes), (second, gallery))
        )
        x, y = points
        a, b = people
        scores = be.Scores.from_embeddings(x, a, y, b, metric="l2")
    else:
        values = [[between(i, j) for j in gallery] for i in probes]
        scores = be.Scores(pd.DataFrame(values, probes, gallery), *people)
    assert scores.probe_names is None and scores.gallery_names is None
    pairs = itertools.product(probes, gallery)
    truth = counted((is_genuine(i, j), between(i, j)) for i, j in pairs)
    assert verified(scores)[1] == pytest.approx(truth)


@pytest.mark.parametrize(
    ("dims", "of_labels"),
    [
        (("gallery", "probe"), (None, None)),
        (("references", "q"), (None, None)),
        (("g", "p"), ("p", "g")),
        (("g", "Query"), (None, None)),
    ],
)
def test_dimensions_of_xarray_are_known_by_their_names(dims, of_labels):
    """Scores and a mask of as many rows as columns, with the gallery first."""
    probes, gallery = NATURAL[:12], NATURAL[12:]

    def labelled(rows: Sequence[int], dim: str | None) -> Any:
        people = np.array(labels_of(rows))
        return people if dim is None else xr.DataArray(people, dims=dim)

    values = xr.DataArray([[distance(i, j) for i in probes] for j in gallery], dims=dims)
    people = labelled(probes, of_labels[0]), labelled(gallery, of_labels[1])
    kept = values.copy(data=[[is_kept(i, j) for i in probes] for j in gallery])
    pairs = [*itertools.product(probes, gallery)]
    assert verified(be.Scores(values, *people))[1] == pytest.approx(counted_pairs(pairs))
    np.testing.assert_array_equal(be.Scores(values, *people).values, values.to_numpy().T)
    if dims[0] != "g":
        scores = be.Scores(values, *people, mask=kept)
        truth = counted_pairs([x for x in pairs if is_kept(*x)])
        assert verified(scores)[1] == pytest.approx(truth)


def test_dimensions_of_other_names_are_taken_by_position():
    values = xr.DataArray(
        [[distance(i, j) for j in NATURAL[9:]] for i in NATURAL[:9]], dims=("a", "b")
    )
    scores = be.Scores(values, labels_of(NATURAL[:9]), labels_of(NATURAL[9:]))
    np.testing.assert_array_equal(scores.values, values)


@pytest.mark.parametrize(
    ("dims", "of_labels", "message"),
    [
        (("probe", "query"), ("x", "y"), "'probe' and 'query' are both of the probes"),
        (("probe", "gallery"), ("gallery", "probe"), "'probe' is that of the labels of the other"),
    ],
)
def test_dimensions_that_contradict_are_refused(dims, of_labels, message):
    values = xr.DataArray(np.ones((3, 3)), dims=dims)
    people = [xr.DataArray(["a", "b", "c"], dims=x) for x in of_labels]
    with refused(message):
        be.Scores(values, *people)


@pytest.mark.parametrize(
    ("fed", "message"),
    [
        ((SOME, "numbers"), r"`labels` has no row 0, which the scores have, nor 5 of 24"),
        ((NATURAL, "repeated numbers"), "the number 0 stands twice in the index of `labels`"),
        ((NATURAL, "other names"), "no value of the template 't0'.* such as 'x0'"),
    ],
)
def test_an_error_names_a_key_of_each_side(fed, message):
    given = Keyed(NATURAL, "names" if fed[1] == "other names" else "numbers")
    with refused(message):
        labels(given, Keyed(*fed))


def test_a_selection_keeps_the_numbers_of_its_rows():
    """Of a matrix, and of a list of pairs."""
    given, chosen = Keyed(SHUFFLED, "numbers"), pd.Series(IS_CHOSEN)
    rows = [i for i in SHUFFLED[3:] if IS_CHOSEN[i]]
    found = verified(scores_of(given).select(np.arange(3, 24)).select(chosen))[1]
    assert found == pytest.approx(counted_pairs(comparisons(rows)))
    found = verified(list_of(given).select(np.arange(3, 24)).select(chosen))[1]
    assert found == pytest.approx(counted_pairs(lines_of(rows)))


def test_lists_of_one_set_leave_out_the_query_by_its_number():
    """Lists in another order than the labels, which are those of the entries, too."""
    lists = {i: sorted(ROWS, key=lambda j, i=i: distance(i, j))[:DEPTH] for i in ROWS}
    given = pd.DataFrame([lists[i] for i in SHUFFLED], SHUFFLED)
    scores = be.Scores.from_top_k(given, pd.Series(labels_of(ROWS)))
    for row, indices in zip(SHUFFLED, scores.indices.tolist(), strict=True):
        assert [x for x in indices if x >= 0] == [x for x in lists[row] if x != row]


def test_names_in_a_column_and_numbers_of_an_index_are_kept_side_by_side():
    """Labels are joined by numbers, and templates on both sides are known by their names."""
    meta = pd.DataFrame({"name": [f"t{i}" for i in ROWS]})
    scores = be.Scores(
        Keyed(SHUFFLED, "numbers").matrix(distance), pd.Series(SUBJECT), probe_meta=meta
    )
    assert scores.probe_names.tolist() == [f"t{i}" for i in SHUFFLED]
    chosen = scores.select(pd.Series(IS_CHOSEN))
    again = scores.select(pd.Series({f"t{i}": IS_CHOSEN[i] for i in OTHERWISE}))
    assert chosen.probe_names.tolist() == again.probe_names.tolist()
    assert chosen.probe_names.tolist() == [f"t{i}" for i in SHUFFLED if IS_CHOSEN[i]]


def test_no_column_of_a_table_has_names_where_names_is_none():
    meta = pd.DataFrame({"name": [f"t{i}" for i in ROWS], "session": SESSION.values()})
    for given in (meta, dict(meta)):
        scores = scores_of(Keyed(NATURAL, "none"), probe_meta=given, names=None)
        assert scores.probe_names is None
        assert scores.probe_meta["session"].tolist() == [*SESSION.values()]


@pytest.mark.parametrize("keys", ["numbers", "names"])
def test_a_plain_column_of_metadata_beside_scores_with_keys_is_said(keys):
    given = Keyed(SHUFFLED, keys)
    meta = {"session": [SESSION[i] for i in SHUFFLED]}
    people = given.column(SUBJECT)
    scores = be.Scores(given.matrix(distance), people, probe_meta=meta, exclude=["session"])
    result, numbers = verified(scores)
    assert numbers == pytest.approx(between_sessions(ROWS))
    assert says_taken_in_order(result)
    named = {"name": KEYS["names"](OTHERWISE), "session": [SESSION[i] for i in OTHERWISE]}
    if keys == "names":
        scores = be.Scores(given.matrix(distance), people, probe_meta=named, exclude=["session"])
        result, numbers = verified(scores)
        assert numbers == pytest.approx(between_sessions(ROWS))
        assert not says_taken_in_order(result)

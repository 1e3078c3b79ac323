"""Attempts that are sorted, and attempts that are counted, give the same results.

Whatever the cells, the tiles and the threads are, and however often the scores are looked at: bit
for bit, but for the last digits of d' and the thresholds of the curve that are there by default.
"""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from limits import limited
from reference import assert_same_but_d_prime
from strategies import FUSIONS, TIES, UNITS, examples_of, matrices
from ways import WAYS, counted_by

import bioeval as be
from bioeval.counting import folds
from bioeval.counting.folds import FoldTables

TARGETS = (0.0, 0.01, 0.1, 1 / 3, 1.0)
COSTS = ((0.5, 1.0, 1.0), (0.01, 10.0, 1.0), (0.9, 1.0, 0.0))
POINTS = {"far_targets": TARGETS, "frr_targets": TARGETS, "costs": COSTS}
RULES = (
    "eer", "far=0.1", "far=0.0", "frr=0.1", "frr=1.0", "min-dcf=0.1", "hter", "cost=0.01,1,1",
    "accuracy", 0.5,
)  # fmt: skip


# ------------------------------------------------------------------------------------ worlds


@dataclass
class World:
    """Scores of a few people."""

    values: np.ndarray
    probes: np.ndarray
    gallery: np.ndarray | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def scores(self) -> be.Scores:
        """The scores."""
        return be.Scores(self.values, self.probes, self.gallery, **self.options)


SIZES = (3, 1, 4, 4, 2, 5, 1, 3)


def population(sizes: tuple[int, ...] = SIZES, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Distances between points of people, and the people, in no order."""
    rng = np.random.default_rng(seed)
    subjects = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    points = 1.2 * rng.normal(size=(len(sizes), 5))[subjects] + 0.7 * rng.normal(
        size=(len(subjects), 5)
    )
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1)), subjects


def square(change: Callable[[np.ndarray], Any] = lambda d: d, **options: Any) -> World:
    """All against all."""
    d, subjects = population()
    return World(change(d), subjects, None, options)


def against_gallery(change: Callable[[np.ndarray], Any] = lambda d: d, **options: Any) -> World:
    """Probes against a gallery in which some probes are not enrolled."""
    d, subjects = population((4, 2, 5, 1, 3, 6, 2), seed=3)
    gallery = np.arange(len(subjects)) % 3 > 0
    gallery[subjects == 2] = False
    return World(
        change(d[np.ix_(~gallery, gallery)]), subjects[~gallery], subjects[gallery], options
    )


def infinite(d: np.ndarray) -> np.ndarray:
    """Some scores are infinite, genuine and impostor."""
    d = d.copy()
    d[0, 3:6], d[4], d[7, ::4], d[9, 1] = np.inf, np.inf, -np.inf, -np.inf
    return d


def failed(d: np.ndarray) -> np.ndarray:
    """Some comparisons failed, and all of one probe."""
    rows, columns = map(np.arange, d.shape)
    return np.where(np.add.outer(rows, 3 * columns) % 7 == 0, np.nan, d)


def stored_by_quality(d: np.ndarray) -> np.ndarray:
    """Later rows have larger scores, some of them enormous, which a sample of the rows misses."""
    d = d * np.linspace(0.2, 6, len(d))[:, None]
    d[-2, ::5] = 1e200
    d[1, 2] = -1e30
    return d


def masked(*, labels: bool) -> World:
    """A mask leaves out a third of the comparisons; without labels it says who is who."""
    world = square()
    distances, subjects = world.values, world.probes
    out = np.random.default_rng(5).random(distances.shape) < 1 / 3
    mask = np.where(
        out | np.eye(len(distances), dtype=bool), 0, 1 + np.equal.outer(subjects, subjects)
    )
    mask = mask.astype(np.uint8)
    return World(distances, subjects if labels else None, None if labels else None, {"mask": mask})


def sessions(*exclude: str) -> dict[str, Any]:
    return {"probe_meta": {"session": np.arange(sum(SIZES)) % 3}, "exclude": exclude}


WORLDS: dict[str, Callable[[], World]] = {
    "unequal people": square,
    "ties": lambda: square(lambda d: np.round(d)),
    "equal": lambda: square(np.ones_like),
    "two values": lambda: square(lambda d: np.where(d < 2.5, 0.0, 1.0)),
    "infinite": lambda: square(infinite),
    "rejected": lambda: square(failed, nan="reject"),
    "most rejected": lambda: square(lambda d: np.where(d > 2, np.nan, d), nan="reject"),
    "infinite and rejected": lambda: square(lambda d: failed(infinite(d)), nan="reject"),
    "infinite similarities and rejected": lambda: against_gallery(
        lambda d: -failed(infinite(d)).astype(np.float32), nan="reject", kind="similarity"
    ),
    "excluded": lambda: square(failed, nan="exclude"),
    "mask": lambda: masked(labels=True),
    "mask alone": lambda: masked(labels=False),
    "sessions": lambda: square(**sessions("session")),
    "sessions of all": lambda: square(**sessions("all:session=1/2", "session!=")),
    "singletons": lambda: World(*population((1,) * 12 + (2,))),
    "one person": lambda: World(*population((6,))),
    "two people": lambda: World(*population((1, 4))),
    "float16": lambda: square(lambda d: d.astype(np.float16)),
    "float32": lambda: square(lambda d: d.astype(np.float32)),
    "int16": lambda: square(lambda d: (50 * d).astype(np.int16)),
    "uint8 similarities": lambda: square(
        lambda d: (200 - 20 * d).astype(np.uint8), kind="similarity"
    ),
    "similarities": lambda: square(lambda d: 5 - d, kind="similarity"),
    "gallery": against_gallery,
    "gallery, similarities": lambda: against_gallery(lambda d: -d.round(1), kind="similarity"),
    "far from zero": lambda: square(lambda d: 1000 + d / d.max()),
    "far from zero, float32": lambda: square(lambda d: (1000 + d / d.max()).astype(np.float32)),
    "close to one": lambda: square(lambda d: 1 + np.round(d * 4) * 2.0**-52),
    "tiny": lambda: square(lambda d: d * 1e-310),
    "huge": lambda: square(lambda d: d * 1e307),
    "sample misses the range": lambda: square(stored_by_quality),
}  # fmt: skip


def found_by(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return a result, or why there is none."""
    try:
        return call(*args, **options)
    except be.BioevalError as error:
        return f"{type(error).__name__}: {error}"


# ---------------------------------------------------------------------------------- comparison


def assert_same(found: Any, expected: Any, *, curve: bool = True) -> None:
    """Hold a result to another, to the last bit and with attributes; without its curve or with."""
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
        return
    for dataset, expected_dataset in zip(nodes(found), nodes(expected), strict=True):
        if not curve and "fr" in expected_dataset:
            dataset, expected_dataset = (
                x.drop_dims("threshold", errors="ignore") for x in (dataset, expected_dataset)
            )
        assert_same_but_d_prime(dataset, expected_dataset)


def nodes(found: Any) -> list[xr.Dataset]:
    """The datasets of a tree, or a single dataset."""
    tree = isinstance(found, xr.DataTree)
    return [node.to_dataset() for node in found.subtree] if tree else [found]


def check_rows(found: xr.Dataset, expected: xr.Dataset, more: Sequence[float]) -> None:
    """Compare the rows at all operating points, and at more thresholds, with another result."""
    points = [
        x.values.ravel() for name, x in expected.data_vars.items()
        if x.attrs.get("shown") == "threshold" and "threshold" not in x.dims
    ]  # fmt: skip
    rows = np.unique(np.concatenate([more, *points]))
    rows = rows[np.isfinite(rows)]
    rows_found, expected_rows = (
        x[["fa", "fr", "far", "frr"]].sel(threshold=rows) for x in (found, expected)
    )
    xr.testing.assert_identical(rows_found, expected_rows)


def check_curve(found: xr.Dataset, call: Callable[..., Any], scores: be.Scores, **options) -> None:
    """Compare false accepts and rejects of a curve with the counts of sorted scores."""
    with counted_by("listed"):
        expected = call(scores, thresholds=found.threshold.values, **options)
    for name in ("fa", "fr", "ga", "gr", "far", "frr"):
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def check(scores: be.Scores, way: str, call: Callable[..., Any], *, curve: bool = True, **options):
    """Compare one call both ways; return the counted result."""
    with counted_by("listed"):
        expected = found_by(call, scores, **options)
    with counted_by(way), be.set_options(threads=1 + (way == "small tiles")):
        result = found_by(call, scores, **options)
    assert_same(result, expected, curve=curve)
    return result


COUNTED = list(WAYS)[1:-1]
each_way = pytest.mark.parametrize("way", COUNTED)
each_world = pytest.mark.parametrize("world", WORLDS)


def thresholds_of(scores: be.Scores) -> np.ndarray:
    """Some scores, numbers between them, and the ends."""
    values = np.asarray(scores.values, dtype=np.float64)
    finite = np.unique(values[np.isfinite(values)])
    if not len(finite):
        return np.array([-np.inf, 0.0, np.inf])
    spread_scores = finite[:: max(1, len(finite) // 5)]
    return np.unique(
        [
            -np.inf,
            *spread_scores,
            *((spread_scores[1:] + spread_scores[:-1]) / 2),
            spread_scores[-1] * 1.5 + 0.0,
            np.inf,
        ]
    )


def check_verification(scores: be.Scores, way: str, **options: Any) -> None:
    """Points, curves and rows at thresholds of verification."""
    result = check(scores, way, be.verification, curve=False, **POINTS, **options)
    if not isinstance(result, str):
        check_curve(result, be.verification, scores, **options)
    thresholds = thresholds_of(scores)
    check(scores, way, be.verification, thresholds=thresholds, **POINTS, **options)
    check(scores, way, be.verification, n_thresholds=7, auc=False, **options)


@each_world
@each_way
def test_verification(world, way):
    scores = WORLDS[world]().scores()
    check_verification(scores, way)
    check_verification(scores, way, templates="multi")


@pytest.mark.parametrize("world", ["gallery", "similarities"])
@each_way
@pytest.mark.cases(2)
def test_claims(world, way):
    """Each probe makes two."""
    scores = WORLDS[world]().scores()
    m, people = scores.shape[0], np.unique(scores.gallery_labels)
    claims = np.repeat(np.arange(m), 2), np.resize(people, 2 * m)
    check_verification(scores, way, claims=claims)
    check_verification(scores, way, claims=claims, templates="multi", fusion="median")


@each_world
@each_way
def test_evaluation(world, way):
    """Of all tasks at once; with rows at all operating points, and at more thresholds."""
    scores = WORLDS[world]().scores()
    check(scores, way, be.evaluate, curve=False)
    extra = thresholds_of(scores)[1:-1:3].tolist()
    for extra_points, options in (
        ([], {"frr_targets": [0.0, 0.2]}),
        (extra, {"far_targets": [0.0, 0.3]}),
    ):
        options = {"extra_thresholds": extra_points, **options}
        tree = check(scores, way, be.evaluate, curve=False, **options)
        if isinstance(tree, str):
            continue
        with counted_by("listed"):
            expected = be.evaluate(scores, **options)
        for name in tree["verification"].children:
            check_rows(
                *(x[f"verification/{name}"].to_dataset() for x in (tree, expected)), extra_points
            )


@each_world
@each_way
def test_identification(world, way):
    """Ranks under every tie policy, among templates and among subjects, by any rule of fusion."""
    scores = WORLDS[world]().scores()
    for unit in UNITS:
        for ties in TIES:
            options = {"rank_unit": unit, "ties": ties}
            check(scores, way, be.closed_set, unmated="skip", **options)
            check(scores, way, be.open_set, max_rank=3, far_targets=TARGETS, **options)
    check(scores, way, be.closed_set, rank_unit="subject", fusion="mean", unmated="skip")
    check(scores, way, be.ranks)
    for impostors in ("unenrolled", "both"):
        check(scores, way, be.open_set, impostors=impostors, max_rank=2)


@each_world
@each_way
def test_folds(world, way):
    """Thresholds chosen on training parts by every rule, of disjoint people and of templates."""
    scores = WORLDS[world]().scores()
    splitters = (
        be.partition.SubjectKFold(3, shuffle=True, random_state=1),
        be.partition.SampleKFold(2, shuffle=True, random_state=2),
    )
    for k, rule in enumerate(RULES):
        options = {"threshold": rule, "splitter": splitters[k % 2]}
        check(scores, way, be.cross_evaluate, **options)
        options |= {"templates": "multi", "fusion": ("best", "mean")[k % 2]}
        check(scores, way, be.cross_evaluate, **options)


def test_no_table_of_folds_counts_more_than_it_has_room_for(monkeypatch):
    most_counted = 300
    in_table = []
    count_by_fold = folds.kernel.count_by_fold

    def count(values, centre, window, rows, columns, table, *more):
        number = count_by_fold(values, centre, window, rows, columns, table, *more)
        in_table.append(table.sum())
        return number

    monkeypatch.setattr("bioeval.counting.folds.MOST_COUNTED", most_counted)
    monkeypatch.setattr(folds.kernel, "count_by_fold", count)
    splitter = be.partition.SubjectKFold(3, shuffle=True, random_state=1)
    check(square().scores(), "small tiles", be.cross_evaluate, splitter=splitter, threshold="eer")
    assert most_counted / 2 < max(in_table) <= most_counted


@pytest.mark.parametrize("is_fused", [False, True])
def test_tables_of_folds_that_were_merged_are_merged_again(is_fused):
    tables = FoldTables(divisions=1, folds=2, cells=3, tables=2)
    copies = [tables.fresh() for _ in range(3)]
    rng = np.random.default_rng(0)
    for k, copy in enumerate(copies):
        for table in range(2):
            counts = copy.table_for(10, table)
            counts += rng.integers(0, 10, counts.shape, dtype=np.int32)
        copy.add_failed(np.array([[k % 2]]), np.array([[1]]))
    copies = pickle.loads(pickle.dumps(copies))  # as answers of workers are
    one_by_one = tables.fresh()
    for copy in copies:
        one_by_one.merge(copy, is_fused=is_fused)
    copies[0].merge(copies[1], is_fused=is_fused)
    copies[0].merge(copies[2], is_fused=is_fused)
    tables.merge(copies[0], is_fused=is_fused)
    np.testing.assert_array_equal(tables.counts, one_by_one.counts)
    np.testing.assert_array_equal(tables.failed, one_by_one.failed)


@each_world
@each_way
def test_groups(world, way):
    """Attempts of groups of people, at the threshold that every rule chooses on all of them."""
    scores = WORLDS[world]().scores()
    sides = scores.probe_labels.astype(str), scores.gallery_labels.astype(str)
    _, person = np.unique(np.concatenate(sides), return_inverse=True)
    groups = tuple(np.split(person % 3, [len(sides[0])]))
    for rule in RULES:
        check(scores, way, be.by_group, group=groups, threshold=rule)


# ------------------------------------------------------------------- stored, and in parts


@pytest.mark.parametrize("stored", ["limited", "HDF5", "mapped", "columns", "strided"])
@pytest.mark.parametrize("world", ["infinite", "float32", "gallery", "similarities", "rejected"])
@each_way
def test_stored_matrices(world, stored, way, tmp_path):
    """Genuine scores that are not at hand are found by a first look."""
    world = WORLDS[world]()
    with h5py.File(tmp_path / "scores.h5", "w") as file:
        file["scores"] = world.values
        np.save(tmp_path / "scores.npy", world.values)
        np.save(tmp_path / "columns.npy", np.asfortranarray(world.values))
        values = {
            "limited": file["scores"],
            "HDF5": file["scores"],
            "mapped": np.load(tmp_path / "scores.npy", mmap_mode="r"),
            "columns": np.load(tmp_path / "columns.npy", mmap_mode="r"),
            "strided": np.repeat(world.values, 2, axis=1)[:, ::2],
        }[stored]
        scores = be.Scores(values, world.probes, world.gallery, **world.options)
        if stored == "limited":  # read again for each look, and not held
            scores = limited(scores, "100 MB")
        check_verification(scores, way)
        check(scores, way, be.verification, curve=False, templates="multi", **POINTS)
        check(scores, way, be.evaluate, curve=False, extra_thresholds=[1.0])
        splitter = be.partition.SubjectKFold(3)
        check(scores, way, be.cross_evaluate, splitter=splitter, threshold="far=0.1")


@pytest.mark.slow
@given(matrices(masks=("none", "labelled", "alone")), st.sampled_from(COUNTED), st.data())
@settings(max_examples=examples_of(40))
def test_any_small_world(case, way, data):
    scores = be.Scores(**case.scores())
    check_verification(scores, way)
    check_verification(scores, way, templates="multi", fusion=data.draw(st.sampled_from(FUSIONS)))
    check(scores, way, be.evaluate, curve=False)
    options = {
        x: data.draw(st.sampled_from(of)) for x, of in (("rank_unit", UNITS), ("ties", TIES))
    }
    check(scores, way, be.open_set, max_rank=3, **options)
    check(scores, way, be.closed_set, unmated="skip", **options)
    splitter = be.partition.SampleKFold(2, shuffle=True, random_state=data.draw(st.integers(0, 9)))
    rule = data.draw(st.sampled_from(RULES))
    check(scores, way, be.cross_evaluate, splitter=splitter, threshold=rule)

"""Counts: exact at every cell edge, merged in any way, saved, loaded, refused where they differ."""

from __future__ import annotations

import copy
import json
import math
import zipfile
from fractions import Fraction
from typing import Any

import naive
import numpy as np
import pytest
import strategies as cases
from hypothesis import HealthCheck, example, given, settings, strategies as st
from result_messages import codes
from strategies import examples_of
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval import protocol
from bioeval.scores import blocks
from bioeval.scores.formats.archive import ArchiveWriter
from bioeval.tallies import matrix_pass
from bioeval.tallies.cells import cell_exponent
from bioeval.tallies.counters import CellCounter, ImpostorBlock, ThresholdCounter
from bioeval.tallies.counts import CellCounts

INF = math.inf
LARGEST = float(np.finfo(float).max)
RELAXED = settings(
    max_examples=examples_of(100),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# Scores of every size: neighbours, denormals, both zeros, the ends of the floats, infinities.
VALUES = [
    0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e-300, 0.1, 0.1 + 2**-56, 0.1 - 2**-56, 0.25, 0.5,
    1.0, -1.0, 1.0 + 2**-52, 3.0, -7.5, 1e10, 1e300, LARGEST, -LARGEST, INF, -INF,
]  # fmt: skip
SCORE = st.one_of(
    st.sampled_from(VALUES),
    st.floats(allow_nan=False),
    st.floats(-1, 1),
    st.integers(-50, 50).map(float),
)
COUNTED = st.lists(SCORE, max_size=30)


# ------------------------------------------------------------------------------- counting cells


def rows_of(
    values: list[float], data: Any, with_mates: bool = True
) -> list[tuple[np.ndarray, ...]]:
    """Spread scores over blocks of rows, beside genuine ones and NaN that must not count."""
    parts = []
    rest = list(values)
    while rest:
        cut = data.draw(st.integers(1, len(rest)))
        part, rest = rest[:cut], rest[cut:]
        rows = data.draw(st.integers(1, 3))
        width = -(-len(part) // rows)
        block = np.full((rows, width + 3), np.nan)
        starts = np.zeros(rows, dtype=np.int64)
        for i in range(rows):
            row = part[i * width : (i + 1) * width]
            starts[i] = data.draw(st.integers(0, len(row)))
            line = [*row[: starts[i]], 0.3, -1e200, *row[starts[i] :]]
            block[i, : len(line)] = line
        parts.append((block, starts, starts + 2))
    return parts


def counted(values: list[float], data: Any) -> CellCounts:
    counter = CellCounter()
    for part in rows_of(values, data):
        counter.add(ImpostorBlock(*part))
    return counter.cells


def edges_of(cells: CellCounts) -> np.ndarray:
    """Every finite cell edge, and a little beyond the ends."""
    numbers = range(cells.first - 2, cells.first + len(cells.counts) + 2)
    width = Fraction(2) ** cells.exponent
    if width <= 1 and max(map(abs, numbers)) < 2**53:  # exact in float64 at once
        return np.array(numbers) * float(width)
    edges = [k * width for k in numbers]
    return np.array([float(x) for x in edges if abs(x) <= LARGEST], dtype=np.float64)


def at_most(values: list[float], thresholds: np.ndarray) -> list[int]:
    return [sum(x <= t for x in values) for t in thresholds.tolist()]


def assert_counts(cells: CellCounts, values: list[float]) -> None:
    """Hold the counts to the scores at every edge that a score is near, and at the ends."""
    finite = [x for x in values if math.isfinite(x)]
    assert cells.total == len(values)
    assert cells.counts.dtype == np.int64 and (cells.counts >= 0).all()
    assert cells.negative_infinite == values.count(-INF)
    assert cells.positive_infinite == values.count(INF)
    if finite:
        assert cells.exponent == cell_exponent(min(finite), max(finite))
        assert len(cells.counts) <= 8192 and cells.counts[0] > 0 and cells.counts[-1] > 0
        low, high = cells.range  # the upper edges of the first and of the last cell
        width = Fraction(2) ** cells.exponent
        assert Fraction(low) - width < Fraction(min(finite)) <= Fraction(low)
        assert Fraction(high) - width < Fraction(max(finite)) <= Fraction(high)
    else:
        assert cells.range == (INF, -INF) and not len(cells.counts)
    edges = edges_of(cells)
    near = np.searchsorted(edges, finite)  # the edge above each score, and its neighbours
    kept = np.unique(np.clip(np.concatenate([near - 1, near, near + 1, [0]]), 0, len(edges) - 1))
    # Counts are exact at edges, beyond the ends of the range, and at the infinities.
    beyond = [-LARGEST / 2, LARGEST / 2] if all(abs(x) < LARGEST / 4 for x in finite) else []
    thresholds = np.array([-INF, *edges[kept.astype(int)], *finite[-1:], *beyond, INF])
    if finite:
        thresholds[-2 - len(beyond)] = max(finite)
    expected = np.searchsorted(np.sort(values), thresholds, side="right")
    np.testing.assert_array_equal(cells.at_most(thresholds), expected)


def same_counts(a: CellCounts, b: CellCounts) -> None:
    assert (a.exponent, a.first) == (b.exponent, b.first)
    assert (a.negative_infinite, a.positive_infinite) == (b.negative_infinite, b.positive_infinite)
    np.testing.assert_array_equal(a.counts, b.counts)


@pytest.mark.slow
@settings(max_examples=examples_of(200))
@given(st.data(), COUNTED)
@example(None, [])
def test_cell_counts_are_exact_at_every_edge(data, values):
    cells = counted(values, data) if values else CellCounter().cells
    assert_counts(cells, values)


@pytest.mark.parametrize(
    "values",
    [
        [5e-324] * 3 + [0.0] * 2,
        [-5e-324, 5e-324, -0.0],
        [LARGEST, -LARGEST, 0.0, 5e-324, -5e-324],
        [1.0, 1.0 + 2**-52, 1.0 + 2**-51],
        [-1.0, -1.0 - 2**-52],
        [2.0**-1022, 2.0**-1021, 2.0**1023],
        [0.5, INF, INF, -INF],
        [INF],
        np.linspace(-1, 1, 777).tolist(),
        (np.arange(20000) / 8192).tolist(),
        np.random.default_rng(1).normal(size=2000).tolist(),
        (10.0 ** np.arange(-307, 308)).tolist(),
    ],
    ids=lambda values: f"{len(values)} from {values[0]:g}",
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.cases(1)
def test_cell_counts_of_whole_ranges(values, dtype):
    with np.errstate(over="ignore"):
        block = np.array([values], dtype=dtype)
    counter = CellCounter()
    counter.add(ImpostorBlock.of_listed(block[0]))
    assert_counts(counter.cells, block[0].astype(float).tolist())


@pytest.mark.slow
@settings(max_examples=examples_of(150))
@given(st.data(), COUNTED, st.integers(0, 2**32 - 1))
def test_cells_merge_into_those_of_the_whole_in_any_way(data, values, seed):
    if not values:
        return
    whole = counted(values, data)
    rng = np.random.default_rng(seed)
    number = data.draw(st.integers(1, 5))
    part_of = rng.integers(0, number, len(values))
    parts = [
        counted([x for x, p in zip(values, part_of, strict=True) if p == i], data)
        for i in range(number)
    ]
    left = CellCounts()
    for part in parts:
        left = left.merge(part)
    right = CellCounts()
    for i in rng.permutation(number):
        right = parts[i].merge(right)
    pairs = [a.merge(b) for a, b in zip(parts[::2], [*parts[1::2], CellCounts()], strict=False)]
    for merged in (left, right, whole.merge(CellCounts()), CellCounts().merge(whole)):
        same_counts(merged, whole)
    tree = pairs[0]
    for pair in pairs[1:]:
        tree = tree.merge(pair)
    same_counts(tree, whole)


def test_coarser_cells_keep_every_score():
    cells = CellCounter()
    values = [-1.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0]
    cells.add(ImpostorBlock.of_listed(np.array(values)))
    fine = cells.cells
    for exponent in range(fine.exponent, 1023, 7):
        coarse = fine.coarsened(exponent)
        assert (coarse.total, coarse.exponent) == (7, exponent)
        assert coarse.counts[0] > 0 and coarse.counts[-1] > 0
        edges = edges_of(coarse)
        np.testing.assert_array_equal(coarse.at_most(edges), at_most(values, edges))
    same_counts(fine.coarsened(fine.exponent), fine)
    empty = CellCounts(negative_infinite=2)
    same_counts(empty.coarsened(5), empty)


@settings(max_examples=examples_of(200))
@given(st.data(), COUNTED, st.lists(SCORE, min_size=1, max_size=12))
def test_counts_between_given_thresholds_are_exact(data, values, thresholds):
    with np.errstate(over="ignore"):
        near = [float(np.nextafter(t, INF)) for t in thresholds[:3]]
    exact = np.array(sorted({t + 0.0 for t in [*thresholds, *near]}))
    counter = ThresholdCounter(exact)
    for part in rows_of(values, data) if values else []:
        counter.add(ImpostorBlock(*part))
    counts = counter.result()
    assert counts.total == len(values)
    np.testing.assert_array_equal(counts.at_most(exact), at_most(values, exact))
    part = data.draw(st.sampled_from([exact[:1], exact[-1:], exact[::2]]))
    np.testing.assert_array_equal(counts.at_most(part), at_most(values, part))
    twice = counts.merge(counts)
    np.testing.assert_array_equal(twice.at_most(exact), 2 * counts.at_most(exact))


def test_counts_are_known_only_where_they_were_made():
    counts = ThresholdCounter(np.array([0.0, 0.5])).result()
    for unknown in (0.25, 0.75, -1.0):
        with pytest.raises(be.MergeError, match="only at the thresholds"):
            counts.at_most(np.array([unknown]))
    with pytest.raises(be.MergeError, match=r"different thresholds \(2 and 1 of them\)"):
        counts.merge(ThresholdCounter(np.array([0.0])).result())


# ------------------------------------------------------------------------------- merging tallies

# What merging keeps exactly: every count, rate and rank. Operating points need the scores again.
VERIFICATION = ["gar", "far", "frr", "grr", "ga", "fa", "fr", "gr", "genuine_attempts",
                "impostor_attempts", "skipped_claims"]  # fmt: skip


def assert_same_counts(a: be.Tally, b: be.Tally) -> None:
    """Hold every task of one tally to the other's."""
    assert list(a.parts) == list(b.parts)
    for node in a.parts:
        mine, theirs = a.dataset(node), b.dataset(node)
        if node.startswith("verification"):
            mine, theirs = mine[VERIFICATION], theirs[VERIFICATION]
        assert mine.equals(theirs), node
        drop = ("fingerprint", "warnings", "messages")
        assert [(k, v) for k, v in mine.attrs.items() if k not in drop] == [
            (k, v) for k, v in theirs.attrs.items() if k not in drop
        ], node


def split(scores: be.Scores, seed: int, number: int) -> list[be.Scores]:
    """Disjoint sets of probes, none empty, in any order."""
    rng = np.random.default_rng(seed)
    m = scores.shape[0]
    order = rng.permutation(m)
    cuts = np.sort(rng.choice(np.arange(1, m), min(number, m) - 1, replace=False))
    return [scores.select(probes=rows) for rows in np.split(order, cuts)]


def merged(parts: list[be.Tally], seed: int) -> be.Tally:
    """Merge in a random order and grouping."""
    rng = np.random.default_rng(seed)
    parts = list(parts)
    while len(parts) > 1:
        i, j = rng.choice(len(parts), 2, replace=False)
        joined = parts[i].merge(parts[j])
        parts = [x for k, x in enumerate(parts) if k not in (i, j)] + [joined]
    return parts[0]


@pytest.mark.slow
@RELAXED
@given(st.data(), st.integers(0, 2**32 - 1), st.integers(2, 4), st.booleans())
def test_merging_any_split_of_the_probes_gives_the_whole(data, seed, number, given_thresholds):
    case = data.draw(
        cases.matrices(masks=("none", "labelled"), sizes=[s for s in cases.SIZES if sum(s) > 1])
    )
    t = data.draw(cases.thresholds(case)) if given_thresholds else None
    scores = be.Scores(**case.scores())
    if scores.shape[0] == 1:
        return
    whole = be.tally(scores, thresholds=t)
    parts = [be.tally(part, thresholds=t) for part in split(scores, seed, number)]
    assert_same_counts(merged(parts, seed), whole)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("thresholds", [None, np.linspace(-3, 3, 7)])
@pytest.mark.cases(2)
def test_parts_of_very_different_ranges_merge(kind, thresholds):
    rng = np.random.default_rng(4)
    labels = np.repeat(np.arange(6), 3)
    d = rng.normal(size=(18, 18))
    d[3:6] *= 1e-200
    d[6:9] *= 1e200
    d[9:12] = INF
    d[12:15] = 0.5
    scores = be.Scores(d, labels, kind=kind)
    whole = be.tally(scores, thresholds=thresholds)
    rows = np.arange(18).reshape(6, 3)
    parts = [be.tally(scores.select(probes=r), thresholds=thresholds) for r in rows]
    for seed in range(5):
        assert_same_counts(merged(parts, seed), whole)
    tree = be.evaluate(scores, thresholds=thresholds)
    same = labels[:, None] == labels[None]
    rest, genuine = d[~same], d[same & ~np.eye(18, dtype=bool)]
    # The variances are beyond all floats.
    assert float(tree["verification/single"].d_prime) == pytest.approx(
        naive.d_prime(genuine, rest), rel=1e-12
    )
    assert np.isfinite(tree["verification/single"].eer)


@pytest.mark.slow
def test_a_block_at_a_time_is_the_whole(monkeypatch):
    scores = be.simulate(12, 3, random_state=3)
    whole = be.tally(scores)
    for values in (1, 50, 100, 500, 1295):
        monkeypatch.setattr(blocks, "BLOCK_VALUES", values)
        monkeypatch.setattr(matrix_pass, "VALUES_IN_MEMORY", values)
        assert_same_counts(be.tally(scores), whole)


@pytest.mark.parametrize("layout", ["square", "rectangular", "pairs"])
@pytest.mark.cases(1)
def test_a_merged_tally_is_refined_into_the_whole_evaluation(layout):
    from bioeval.studies.sites.tally import refine_tally

    rng = np.random.default_rng(9)
    d = rng.random((14, 14)).round(2)
    labels = rng.integers(0, 4, 14)
    if layout == "pairs":
        scores = be.Scores.from_pairs(d.ravel(), rng.integers(0, 2, d.size))
    else:
        scores = be.Scores(d, labels, None if layout == "square" else labels[::-1].copy())
    parts = split(scores, 1, 3)
    joined = refine_tally(merged([be.tally(p) for p in parts], 2), parts)
    node = "verification/single"
    result, expected = joined.dataset(node), be.evaluate(scores)[node].to_dataset()
    for name in ("eer", "eer_threshold", "eer_hull", "auc", "zero_far", "zero_frr", "frr_at_far",
                 "threshold_at_far", "min_cost", "min_cost_threshold", *VERIFICATION):  # fmt: skip
        np.testing.assert_array_equal(result[name], expected[name], err_msg=name)
    np.testing.assert_allclose(result.d_prime, expected.d_prime)
    bounds = merged([be.tally(p) for p in parts], 3).dataset(node)
    assert "eer" not in bounds and bounds.eer_at_least <= expected.eer <= bounds.eer_at_most
    assert bounds.auc_at_least <= expected.auc <= bounds.auc_at_most


@pytest.mark.slow
def test_merging_leaves_the_parts_as_they_were():
    scores = be.simulate(6, 3, random_state=1)
    a, b, c = (be.tally(scores.select(probes=range(i, i + 6))) for i in (0, 6, 12))
    before = copy.deepcopy(a.tree()), copy.deepcopy(b.tree())
    a.merge(b).merge(c)
    assert a.tree().identical(before[0]) and b.tree().identical(before[1])


def test_a_merged_tally_says_where_it_comes_from():
    scores = be.simulate(6, 3, random_state=1)
    a, b = (be.tally(scores.select(probes=rows)) for rows in (range(7), range(7, 18)))
    attrs = a.merge(b).dataset("closed_set").attrs
    assert (attrs["probes"], attrs["gallery_templates"], attrs["gallery_subjects"]) == (18, 18, 6)
    assert attrs["probe_subjects"] == 6
    prints = [scores.select(probes=rows).fingerprint for rows in (range(7), range(7, 18))]
    assert attrs["fingerprint"] == "; ".join(prints)
    assert repr(a.merge(b)) == (
        "<Tally course-all-vs-all, 18 probes, verification/single, verification/multi, open_set, "
        "closed_set>"
    )


# ------------------------------------------------------------------------------- refusals


def tally_of(seed: int = 1, **options: Any) -> be.Tally:
    options_of_scores = {k: options.pop(k) for k in ("kind", "nan", "gallery") if k in options}
    simulated = be.simulate(5, 3, random_state=seed)
    gallery = simulated.probe_labels.copy() if options_of_scores.pop("gallery", False) else None
    return be.tally(
        be.Scores(simulated.values, simulated.probe_labels, gallery, **options_of_scores), **options
    )


@pytest.mark.parametrize(
    ("one", "other", "match"),
    [
        ({}, {"kind": "similarity"}, "tallies of different kind: 'distance' and 'similarity'"),
        ({}, {"nan": "reject"}, "tallies of different nan: 'raise' and 'reject'"),
        ({}, {"gallery": True}, "different protocols: course-all-vs-all"),
        ({}, {"thresholds": [0.5]}, "different thresholds"),
        ({"thresholds": [0.5]}, {"thresholds": [0.6]}, "different"),
        ({"thresholds": [0.5]}, {"thresholds": [0.5, 0.6]}, "different"),
        ({"thresholds": 5}, {"thresholds": 5, "seed": 2}, "different thresholds"),
        ({"thresholds": 5}, {"thresholds": 6}, "different"),
        ({"max_rank": 3}, {"max_rank": 4}, "different (max_rank|tasks|protocols)"),
        ({}, {"max_rank": 4}, "different (max_rank|tasks|protocols)"),
    ],
)
@pytest.mark.cases(1)
def test_tallies_that_do_not_belong_together_refuse_to_merge(one, other, match):
    a, b = tally_of(**one), tally_of(**other)
    with pytest.raises(be.MergeError, match=match):
        a.merge(b)
    with pytest.raises(be.MergeError):
        b.merge(a)


def test_tallies_of_different_cards_refuse_to_merge():
    card = protocol.load("course-all-vs-all")
    text = card.to_toml()
    scores = be.simulate(5, 3, random_state=1)
    plain = be.tally(scores)
    for old, new in (
        ('name = "course-all-vs-all"', 'name = "other"'),
        ('templates = ["single", "multi"]', 'templates = ["single"]'),
        ('ties = "pessimistic"', 'ties = "optimistic"'),
        ('fusion = "min"', 'fusion = "max"'),
    ):
        assert old in text
        other = be.tally(scores, protocol.parse(text.replace(old, new)))
        with pytest.raises(be.MergeError):
            plain.merge(other)
    with pytest.raises(be.MergeError, match="a Tally cannot be merged with dict"):
        plain.merge({})


@pytest.mark.parametrize(
    "same",
    [
        [{"thresholds": [1, 2]}, {"thresholds": np.array([1.0, 2.0])}],
        [{"thresholds": (0.5, 1)}, {"thresholds": np.array([0.5, 1], dtype="float32")}],
        [{"max_rank": 3}, {"max_rank": np.int64(3)}],
    ],
)
@pytest.mark.cases(1)
def test_the_same_options_in_other_words_merge(same, tmp_path):
    a, b = (tally_of(**options, site=site) for options, site in zip(same, "AB", strict=True))
    assert_same_counts(a.merge(b), b.merge(a))
    b.save(tmp_path / "b.npz")
    assert_same_counts(a.merge(be.Tally.load(tmp_path / "b.npz")), a.merge(b))


def test_a_tally_is_asked_for_a_task_by_name():
    tally = tally_of()
    with pytest.raises(be.DataError, match="several tasks .verification/single, .*name one"):
        tally.dataset()
    with pytest.raises(be.DataError, match="node is 'closed'.* Did you mean 'closed_set'"):
        tally.dataset("closed")
    pairs = be.tally(be.Scores.from_pairs([0.1, 0.2], [1, 0]))
    assert pairs.dataset().identical(pairs.dataset("verification/single"))


# ------------------------------------------------------------------------------- files


def examples() -> dict[str, be.Tally]:
    from bioeval.studies.sites.tally import refine_tally

    rng = np.random.default_rng(3)
    d = rng.random((6, 5)).astype(np.float32)
    d[0, 0], d[1, 1], d[2, 2] = INF, -INF, np.nan
    labels = ["a", "b", "Zoë", "", "a", "x"]
    scores = be.Scores(d, labels, labels[:5], nan="reject", kind="similarity", name="Größe\n2")
    simulated = be.simulate(5, 3, random_state=1)
    return {
        "square": be.tally(simulated),
        "given": be.tally(simulated, thresholds=[-INF, 0.5, 1, INF], max_rank=2),
        "number": be.tally(simulated, thresholds=7),
        "rectangular": be.tally(scores),
        "pairs": be.tally(be.Scores.from_pairs([0.1, 0.2], [1, 0])),
        "merged": be.tally(simulated.select(probes=range(7))).merge(
            be.tally(simulated.select(probes=range(7, 15)))
        ),
        "refined": refine_tally(be.tally(scores), scores),
        "empty class": be.tally(be.Scores(np.zeros((2, 2)), ["a", "b"])),
    }


EXAMPLES = ["square", "given", "number", "rectangular", "pairs", "merged", "refined", "empty class"]


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.cases(1)
def test_a_saved_tally_is_loaded_as_it_was(name, tmp_path):
    tally = examples()[name]
    assert list(examples()) == EXAMPLES
    path = tmp_path / "a tally"  # no suffix is added
    tally.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a tally"]
    loaded = be.Tally.load(str(path))
    assert loaded.protocol == tally.protocol and list(loaded.parts) == list(tally.parts)
    assert repr(loaded) == repr(tally)
    for node in tally.parts:
        mine, theirs = tally.dataset(node), loaded.dataset(node)
        assert mine.identical(theirs)
        assert {k: type(v) for k, v in mine.attrs.items()} == {
            k: type(v) for k, v in theirs.attrs.items()
        }
        for variable in mine.variables:
            assert mine[variable].dtype == theirs[variable].dtype
    with pytest.raises(be.MergeError, match="would count twice"):
        loaded.merge(tally)
    again = tmp_path / "again"
    loaded.save(again)
    assert be.Tally.load(again).tree().identical(tally.tree())


def test_parts_that_share_a_sweep_share_it_after_loading(tmp_path):
    tally = tally_of()
    tally.save(tmp_path / "t.npz")
    loaded = be.Tally.load(tmp_path / "t.npz")
    assert loaded.parts["open_set"].tally is loaded.parts["closed_set"].tally


def test_a_truncated_file_is_an_error(tmp_path):
    path = tmp_path / "t.npz"
    tally_of(thresholds=[0.5]).save(path)
    whole = path.read_bytes()
    for size in {1, 3, 4, 10, 30, 100, len(whole) // 2, len(whole) - 100, len(whole) - 1}:
        path.write_bytes(whole[:size])
        with pytest.raises(be.DataError, match=r"t\.npz: is truncated or damaged.*saved tally"):
            be.Tally.load(path)
    path.write_bytes(b"")
    with pytest.raises(be.DataError, match=r"t\.npz: is empty"):
        be.Tally.load(path)


@pytest.mark.slow
def test_a_damaged_file_is_an_error_or_makes_no_difference(tmp_path):
    """No flipped byte gives another error than DataError, or other counts."""
    path = tmp_path / "t.npz"
    tally = tally_of(thresholds=[0.5])
    tally.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    head = np.linspace(0, 199, examples_of(200), dtype=int)
    anywhere = rng.integers(0, len(whole), examples_of(400))
    places = np.unique(np.concatenate([head, anywhere, len(whole) - 1 - head]))
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            loaded = be.Tally.load(path)
        except be.DataError as error:
            assert str(path) in str(error)
            refused += 1
        else:
            assert_same_counts(loaded, tally)
    assert refused > 0.4 * len(places)


def rewritten(path, change) -> None:
    """Change the header of a saved tally."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = change(json.loads(arrays["header"].tobytes()))
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    arrays["header"] = np.frombuffer(text, dtype=np.uint8)
    np.savez(path, **arrays)


def without(key: str):
    return lambda header: {k: v for k, v in header.items() if k != key}


@pytest.mark.parametrize(
    "change",
    [
        lambda h: b"not json",
        lambda h: b"\xff\xfe",
        lambda h: [],
        lambda h: 3,
        *(without(key) for key in ("schema", "kind", "tallies", "nodes", "protocol")),
        without("far_targets"),
        lambda h: {**h, "schema": 99},
        lambda h: {**h, "schema": 0},
        lambda h: {**h, "schema": 2},
        lambda h: {**h, "schema": "1"},
        without("counted"),
        lambda h: {**h, "counted": None},
        without("totals"),
        lambda h: {**h, "tallies": []},
        lambda h: {**h, "tallies": [{"class": "Popen"}] * 9},
        lambda h: {**h, "tallies": [{"array": "nowhere"}] * 9},
        lambda h: {**h, "tallies": [{"class": "Provenance"}] * 9},
        lambda h: {**h, "tallies": None},
        lambda h: {**h, "nodes": []},
        lambda h: {**h, "nodes": {"dict": {"closed_set": 0}}},
        lambda h: {**h, "nodes": {"dict": {"closed_set": {"dict": {"tally": "x", "options": {}}}}}},
    ],
)
@pytest.mark.cases(1)
def test_a_header_that_makes_no_sense_is_an_error(change, tmp_path):
    path = tmp_path / "t.npz"
    tally_of().save(path)
    rewritten(path, lambda header: header)
    be.Tally.load(path)
    rewritten(path, change)
    with pytest.raises(be.DataError, match=r"t\.npz: "):
        be.Tally.load(path)


def test_other_files_are_no_tallies(tmp_path):
    text, array, archive, packed = (tmp_path / x for x in ("a.txt", "a.npy", "a.npz", "a.zip"))
    text.write_text("0.1 0.2\n")
    np.save(array, np.zeros(3))
    np.savez(archive, scores=np.zeros((2, 2)))
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("readme", "hello")
    objects = tmp_path / "objects.npz"
    np.savez(objects, header=np.array([{}], dtype=object))  # would need unpickling
    for path in (text, array, archive, packed, objects):
        with pytest.raises(be.DataError, match="expected a saved tally|never unpickles"):
            be.Tally.load(path)
    with pytest.raises(be.DataError, match="no such file. Did you mean 'a.npz'"):
        be.Tally.load(tmp_path / "aa.npz")
    with pytest.raises(be.DataError, match="is a folder"):
        be.Tally.load(tmp_path)


def test_a_failed_save_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "t.npz"
    tally_of().save(path)
    before = path.read_bytes()

    def fails(out: ArchiveWriter, key: str, array: Any) -> None:
        if key != "header":
            raise OSError(28, "No space left on device")
        written(out, key, array)

    written = ArchiveWriter.add
    monkeypatch.setattr(ArchiveWriter, "add", fails)
    with pytest.raises(OSError, match="No space left"):
        tally_of(seed=2).save(path)
    with pytest.raises(OSError, match="No space left"):
        tally_of(seed=2).save(tmp_path / "new.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["t.npz"]
    assert path.read_bytes() == before
    with pytest.raises(be.DataError, match="there is no folder"):
        tally_of().save(tmp_path / "nowhere" / "t.npz")
    with pytest.raises(be.DataError, match="is a folder"):
        tally_of().save(tmp_path)


# ------------------------------------------------------------------------------- hostile files


def rewrite(path, change):
    """Save a tally's file again with another header or other arrays."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


def nodes(header):
    return header["nodes"]["dict"]


HOSTILE = {
    "no node": lambda h, a: h.update(nodes={"dict": {}}),
    "unknown node": lambda h, a: nodes(h).update(x=nodes(h)["open_set"]),
    "infinite ranks": lambda h, a: h.update(ranks=[float("inf")]),
    "words as targets": lambda h, a: h.update(far_targets="all"),
    "no tally": lambda h, a: h["tallies"].__setitem__(0, {"array": "tallies.0.genuine"}),
    "another class": lambda h, a: h["tallies"][0].update({"class": "Provenance"}),
    "unknown class": lambda h, a: h["tallies"][0].update({"class": "os.system"}),
    "about a number": lambda h, a: h["tallies"][0].update(about=5),
    "unknown field": lambda h, a: h["tallies"][0].update(shell="rm"),
    "unknown option": lambda h, a: nodes(h)["open_set"]["dict"]["options"]["dict"].update(
        shell="rm"
    ),
    "unsorted genuine": lambda h, a: a.update({"tallies.0.genuine": a["tallies.0.genuine"][::-1]}),
    "words as genuine": lambda h, a: a.update({"tallies.0.genuine": np.array(["a"])}),
    "negative counts": lambda h, a: a.update(
        {"tallies.0.impostor.counts": -a["tallies.0.impostor.counts"]}
    ),
    "flat facts": lambda h, a: a.update({"tallies.2.mate": a["tallies.2.mate"][None]}),
    "short facts": lambda h, a: a.update({"tallies.2.closer": a["tallies.2.closer"][:3]}),
    "missing array": lambda h, a: a.pop("tallies.2.other"),
    "short digests": lambda h, a: a.update({"counted.probes": a["counted.probes"][1:]}),
    "words as digests": lambda h, a: a.update({"counted.probes": np.array(["a"] * 18)}),
    "gallery a number": lambda h, a: h["counted"].update(gallery=1),
    "counted by another class": lambda h, a: h.update(counted=h["tallies"][0]["about"]),
    "sites a number": lambda h, a: h["tallies"][0]["about"].update(sites=3),
    "kept of another class": lambda h, a: h["tallies"][0].update(kept=h["tallies"][0]["about"]),
    "unsorted kept": lambda h, a: a.update(
        {"tallies.0.kept.scores": a["tallies.0.kept.scores"][::-1]}
    ),
    "fewer kept": lambda h, a: a.update({"tallies.0.kept.scores": a["tallies.0.kept.scores"][1:]}),
    "kept outside": lambda h, a: a.update({"tallies.0.kept.lows": np.array([5.0])}),
    "kept in no window": lambda h, a: a.update({"tallies.0.kept.highs": np.array([-INF])}),
    "more below": lambda h, a: a.update(
        {"tallies.0.kept.below": a["tallies.0.kept.below"] + 10**6}
    ),
    "kept for FAR 2": lambda h, a: a.update({"tallies.0.kept.targets": np.array([2.0])}),
    "kept for flat costs": lambda h, a: a.update({"tallies.0.kept.costs": np.zeros(3)}),
    "kept for words": lambda h, a: h["tallies"][0]["kept"].update(rare="yes"),
    "fraction of a cell": lambda h, a: h["tallies"][0]["impostor"].update(first=1.5),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.cases(8)
def test_a_file_is_not_taken_on_trust(change, tmp_path):
    path = tmp_path / "tally.npz"
    be.tally(be.simulate(6, 3, random_state=1), points=True).save(path)
    be.Tally.load(path)
    rewrite(path, change)
    with pytest.raises(be.DataError, match="damaged"):
        be.Tally.load(path)


def test_a_tally_does_not_merge_with_itself():
    counted = be.tally(be.simulate(6, 3, random_state=1))
    with pytest.raises(be.MergeError, match="itself"):
        counted.merge(counted)


def test_other_sites_of_all_against_all_data_are_said_to_be_pooled():
    scores = be.simulate(6, 3, random_state=1)
    other_parts = be.simulate(6, 3, random_state=2)
    merged = be.tally(scores, site="A").merge(be.tally(other_parts, site="B"))
    assert "galleries-pooled" in codes(merged.dataset("open_set"))
    halves = [be.tally(scores.select(probes=rows)) for rows in (range(9), range(9, 18))]
    assert "galleries-pooled" not in codes(halves[0].merge(halves[1]).dataset("open_set"))

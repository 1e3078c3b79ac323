"""The kernels of tiles against plain loops, compiled and not.

``NUMBA_DISABLE_JIT=1 pytest tests/kernels/test_tiles.py`` runs the kernels as Python: every branch
is then seen by a coverage tool, and an integer that wraps around is an error.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from twins import one_thread  # noqa: F401

from bioeval.attempts.cells import CellGrid
from bioeval.attempts.counters import HistogramWithThresholds
from bioeval.attempts.counts import CellCounts
from bioeval.attempts.matrix_pass import RowFacts, ends_of, ordered_bits
from bioeval.attempts.second_pass import SecondPass, scratch_of
from bioeval.kernels.argument_groups import (
    GalleryColumns,
    Matrix,
    Probes,
    RawRows,
    TaskFlags,
    VerificationTables,
)
from bioeval.kernels.tiles import (
    Mates,
    TileKind,
    TileOutput,
    TileSide,
    WholeRows,
    arrange_rows,
    count_rows,
    count_tile,
    leave_out_subjects,
    take_mates,
)

INF, NAN = np.inf, np.nan
POOL = [0.0, 0.25, 0.3, 0.5, 0.75, 1.0, 1.4]  # few, so that most are tied
# Templates of each subject of a side: alone, many with one each, unequal, of odd numbers.
SIZES = [(1,), (5,), (1, 1, 1), (2, 3, 1), (3, 1, 4, 1, 5), (1,) * 20, (2,) * 9 + (7,)]
GRID = CellGrid(-3, -1, 16)
WINDOWS = [(0.0, 0.25), (0.5, 0.75)]
GENUINE = np.array([0.25, 0.25, 0.6, 1.0])
COUNTS = ("closer", "tied", "tied_before")
FACTS = (*COUNTS, *(f"subjects_{name}" for name in COUNTS))


class Side:
    """Templates in layers, as a tile has them: the first of each subject, the second, ..."""

    def __init__(self, rng, sizes, places, dtype):
        largest_first = sorted(range(len(sizes)), key=lambda s: -sizes[s])
        self.subjects, self.layers = [], []
        for k in range(max(sizes)):
            layer = [s for s in largest_first if sizes[s] > k]
            self.subjects += layer
            self.layers.append(len(layer))
        n = len(self.subjects)
        self.places = places
        best = rng.choice([*POOL, 0.1, INF], n).astype(dtype)
        before = {name: rng.integers(0, 5, n).astype(np.int32) for name in FACTS}
        key = np.dtype(f"i{best.itemsize}")
        self.kernel = TileSide(
            best=best,
            best_key=best.view(key),
            best_place=rng.integers(0, 60, n),
            places=places,
            layers=np.array(self.layers, dtype=np.int64),
            other=rng.choice([0.1, 0.6, INF], n).astype(dtype).view(key),
            **before,
        )
        self.expected = {name: before[name].tolist() for name in FACTS}
        self.expected["other"] = self.kernel.other.view(dtype).tolist()

    def found(self, name):
        values = getattr(self.kernel, name)
        return (values.view(self.kernel.best.dtype) if name == "other" else values).tolist()

    def without_probes(self):
        """The same columns, whose templates are no probes."""
        side = self.kernel
        none = {name: getattr(side, name)[:0] for name in (*FACTS, "other", "best", "best_key")}
        return side._replace(**none, best_place=side.best_place[:0])

    def include(self, p, candidates, line, fuse=min):
        """Add what a line of scores says about a probe: its candidates', NaN for mates.

        Return the fused score of each subject.
        """
        best, place = float(self.kernel.best[p]), self.kernel.best_place[p]
        scores = [(x, q) for q, x in enumerate(line) if not math.isnan(x)]
        by_subject: dict = {}
        for x, q in scores:
            by_subject.setdefault(candidates.subjects[q], []).append((x, candidates.places[q]))
        units = {"": [[(x, candidates.places[q])] for x, q in scores]}
        units["subjects_"] = list(by_subject.values())
        for prefix, unit in units.items():
            for group in unit:
                nearest = min(x for x, _ in group)
                first = min(where for x, where in group if x == nearest)
                self.expected[f"{prefix}closer"][p] += nearest < best
                self.expected[f"{prefix}tied"][p] += nearest == best
                self.expected[f"{prefix}tied_before"][p] += nearest == best and first < place
        for x, _ in scores:
            self.expected["other"][p] = min(self.expected["other"][p], x)
        return [fuse(x for x, _ in group) for group in by_subject.values()]


class Findings:
    """Where the scores of templates or of subjects are counted, and what is found there."""

    def __init__(self, dtype, most, columns=3):
        flat = CellCounts(GRID.exponent, GRID.first, np.ones(GRID.count, dtype=np.int64))
        self.marks = np.array([0.0, 0.3, 0.31, 1.0], dtype=dtype)
        self.cells = HistogramWithThresholds.at(flat, GRID, self.marks, 2)
        self.second_pass = SecondPass(WINDOWS, GENUINE.astype(dtype), (0.0, 1.5), moments=True)
        self.second_pass.keep_cells(GRID)
        points = self.second_pass.tables(np.dtype(dtype), 1, most + 5000, columns)
        shift = np.uint32(GRID.exponent - self.cells.narrow.exponent)
        points.moments[...] = 0
        self.tables = VerificationTables(self.cells.tables(1), points._replace(shift=shift))
        # Cells whose scores are looked at: those of windows, and some more, never that of NaN.
        self.flags = np.repeat(self.second_pass.flags, 1 << int(shift))
        self.flags |= np.random.default_rng(most).integers(0, 2, len(self.flags), dtype=np.uint8)
        self.flags[0] = 0

    def check(self, scores):
        """Hold what was found to a plain list of scores."""
        counts, within = self.cells.counted(self.tables.counts)
        expected = [0] * self.cells.narrow.count
        for x in scores:
            expected[int(self.cells.narrow.places_of(np.array(x)))] += 1
        assert counts.tolist() == expected
        assert within.tolist() == [sum(x <= t for x in scores) for t in self.marks.tolist()]
        points = self.tables.points
        kept = points.kept[0, : points.filled[0]].tolist()
        assert sorted(kept) == sorted(x for x in scores if any(a < x <= b for a, b in WINDOWS))
        genuine = GENUINE.astype(self.marks.dtype).tolist()
        places = [int(self.cells.narrow.places_of(np.array(x))) for x in scores]
        looked_at = [x for x, place in zip(scores, places, strict=True) if self.flags[place]]
        assert points.pairs[0] == sum((x > g) + (x >= g) for x in looked_at for g in genuine)

    def check_moments(self, scores, column=1):
        """Hold the moments in a column to a plain list of scores."""
        number, origin, total, square = self.tables.points.moments[:, column]
        assert number == len(scores)
        np.testing.assert_allclose(origin * number + total, math.fsum(scores), rtol=1e-12)
        squares = math.fsum((x - origin) ** 2 for x in scores)
        np.testing.assert_allclose(square, squares, rtol=1e-12, atol=1e-300)


def run_count_tile(*arguments):
    """Count a tile; bits are counted by a product that wraps around."""
    with np.errstate(over="ignore"):
        count_tile(*arguments)


CASES = [
    pytest.param(seed, dtype, id=f"{dtype} {seed}")
    for seed in range(2 * len(SIZES))
    for dtype in ("float64", "float32")
]


@pytest.mark.parametrize(("seed", "dtype"), CASES)
@pytest.mark.parametrize("kind", ["both sides", "diagonal", "one side", "one side with mates"])
@pytest.mark.parametrize("piece", [5, 64], ids=["in pieces", "at once"])
@pytest.mark.cases(12)
def test_count_tile(seed, dtype, kind, piece):
    """Facts of rows and of columns, counts of templates and of subjects: NaN is no score."""
    rng = np.random.default_rng(seed)
    farthest = seed % 2 == 1
    fuse = max if farthest else min
    sizes, other_sizes = SIZES[seed % len(SIZES)], SIZES[(3 * seed + 1) % len(SIZES)]
    if kind == "diagonal":
        other_sizes = sizes
    places = rng.permutation(sum(sizes) + sum(other_sizes))
    rows = Side(rng, sizes, places[: sum(sizes)], dtype)
    columns = rows if kind == "diagonal" else Side(rng, other_sizes, places[sum(sizes) :], dtype)
    h, w = len(rows.subjects), len(columns.subjects)
    tile = np.full((h + 3, w + seed % 4), NAN, dtype=dtype)
    tile[:h, :w] = rng.choice(POOL, (h, w))
    scores = tile[:h, :w]
    if kind == "diagonal":
        scores[...] = np.tril(scores) + np.tril(scores, -1).T
        scores[np.equal.outer(rows.subjects, rows.subjects)] = NAN
    elif kind == "one side with mates":
        own = rng.integers(-1, len(other_sizes), h)
        scores[np.equal.outer(own, columns.subjects)] = NAN
    plain = scores.tolist()

    # One direction of each pair is counted, but for the scores of subjects.
    single = [x for i in range(h) for x in plain[i] if not math.isnan(x)]
    if kind == "diagonal":
        single = [plain[i][j] for i in range(h) for j in range(i + 1, w)]
        single = [x for x in single if not math.isnan(x)]
    multi = [x for i in range(h) for x in rows.include(i, columns, plain[i], fuse)]
    if kind == "both sides":
        for j in range(w):
            multi += columns.include(j, rows, [plain[i][j] for i in range(h)], fuse)

    key = np.dtype(f"i{tile.itemsize}")
    found = [Findings(dtype, 2 * tile.size) for _ in range(2)]
    least = np.full(3, INF, dtype=dtype).view(key)
    fused = np.empty((2, 40 * 40), dtype=dtype)
    of_columns = columns.kernel if kind == "both sides" else columns.without_probes()
    gaps = kind in ("diagonal", "one side with mates")
    run_count_tile(
        tile,
        tile.view(key),
        rows.kernel,
        of_columns,
        TileKind(kind == "both sides", kind == "diagonal", gaps),
        TaskFlags(True, True, True, farthest),
        TileOutput(*(x.tables for x in found), *(x.flags for x in found), 1, least),
        fused,
        fused.view(key),
        scratch_of(np.dtype(dtype), 1, piece),
        tile.dtype.type(NAN),
    )
    for side in (rows, columns) if kind == "both sides" else (rows,):
        for name, values in side.expected.items():
            assert side.found(name) == values, name
    every = [x for line in plain for x in line if not math.isnan(x)]
    assert least.view(dtype).tolist() == [INF, min(every, default=INF), INF]
    for its, scores in zip(found, (single, multi), strict=True):
        its.check(scores)
        its.check_moments(scores)
        assert not its.tables.points.moments[:, [0, 2]].any()


@pytest.mark.parametrize(
    "wanted", [(True, False, False), (False, True, False), (False, False, True)]
)
def test_count_tile_counts_only_what_is_wanted(wanted):
    rng = np.random.default_rng(0)
    rows, columns = (Side(rng, (2, 1, 3), rng.permutation(6), "float64") for _ in range(2))
    tile = rng.choice(POOL, (6, 6))
    before = {name: getattr(rows.kernel, name).copy() for name in FACTS}
    found = [Findings("float64", 100) for _ in range(2)]
    fused = np.empty((2, 18))
    least = np.full(2, INF).view("i8")
    run_count_tile(
        tile, tile.view("i8"), rows.kernel, columns.kernel, TileKind(True, False, False),
        TaskFlags(*wanted),
        TileOutput(*(x.tables for x in found), *(x.flags[:0] for x in found), 1, least),
        fused, fused.view("i8"), scratch_of(tile.dtype, 1, 64), NAN,
    )  # fmt: skip
    changed = any((getattr(rows.kernel, f"subjects_{x}") != before[f"subjects_{x}"]).any()
                  for x in ("closer", "tied"))  # fmt: skip
    assert changed == wanted[2]
    counted = [int(x.cells.counted(x.tables.counts)[0].sum()) for x in found]
    assert counted == [36 * wanted[0], 36 * wanted[1]]


class Rows:
    """Rows of a matrix in an order of its own, some scores of which are left out."""

    def __init__(self, rng, seed, dtype, negative):
        sizes = SIZES[seed % len(SIZES)]
        self.m, self.n, self.groups = 2 + seed % 5, sum(sizes), len(sizes)
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.subject = np.repeat(np.arange(len(sizes)), sizes)
        self.group = rng.integers(-1, len(sizes), self.m)
        own = [np.append(-1, np.flatnonzero(self.subject == g)) for g in self.group]
        self.itself = np.array([rng.choice(x) for x in own])
        self.order = rng.permutation(self.n) if seed % 2 else np.arange(self.n)
        self.places = rng.permutation(self.n)
        pool = [*POOL, NAN, -NAN] + [-0.0, -0.1, -0.2] * negative
        lines = rng.choice(pool, (self.m, self.n)).astype(dtype)
        self.sign = -1 if seed % 3 == 0 else 1
        self.values = np.full((self.m + 2, self.n), 9, dtype=dtype)
        self.rows = rng.permutation(self.m + 2)[: self.m]
        self.values[self.rows[:, None], self.order] = self.sign * lines
        mask = np.where(self.group[:, None] == self.subject, 2, 1).astype(np.uint8)
        mask[rng.random(mask.shape) < 0.2] = 0
        self.mask = np.empty((0, 0), dtype=np.uint8)
        if seed % 4 == 1:
            self.mask = np.empty_like(mask)
            self.mask[:, self.order] = mask
            lines[mask == 0] = NAN
        self.lines = lines.astype(float).tolist()
        self.single, self.mates = [], []
        for i, line in enumerate(self.lines):
            there = [(x, p) for p, x in enumerate(line) if not math.isnan(x)]
            mine = [p for _, p in there if self.subject[p] == self.group[i]]
            self.mates.append([(line[p], p) for p in mine if p != self.itself[i]])
            self.single.append([(x, p) for x, p in there if self.subject[p] != self.group[i]])

    def arguments(self):
        """Return what the kernel takes to arrange the rows."""
        dtype = self.values.dtype.type
        raw = RawRows(self.values, self.rows, self.mask, np.arange(self.m))
        matrix = Matrix(raw, dtype(self.sign), dtype(0), dtype(NAN), np.uint8(2), False)
        gathered = bool((self.order != np.arange(self.n)).any())
        gallery = GalleryColumns(self.order.astype(np.uint32), self.places, gathered, self.starts)
        return matrix, gallery

    def nearest(self, i):
        """Return the least score of each other subject, and where it is first in the gallery."""
        found: dict = {}
        for x, p in self.single[i]:
            found.setdefault(self.subject[p], []).append((x, self.places[p]))
        return [min(group) for group in found.values()]


@pytest.mark.parametrize(("seed", "dtype"), CASES)
@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.cases(10)
def test_whole_rows(seed, dtype, negative, limited):
    """Rows are put in order, their mates are taken out, and all that is left is counted."""
    rng = np.random.default_rng(seed)
    case = Rows(rng, seed, dtype, negative)
    matrix, gallery = case.arguments()
    m, n, ends = case.m, case.n, ends_of(np.dtype(dtype))
    found = RowFacts.none(np.where(case.group >= 0, np.bincount(case.subject)[case.group], 0),
                          np.dtype(dtype))  # fmt: skip
    tile = np.empty((m, n), dtype=dtype)
    keys = tile.view(f"i{tile.itemsize}")
    ordered = np.empty_like(keys)
    probes = Probes(case.group, case.itself, found.mates.offsets)
    refused, least, largest = arrange_rows(
        0, m, matrix, gallery, probes, (found.mates, found.missing), tile, keys, ordered,
        np.empty(n, dtype=np.uint8), ends,
    )  # fmt: skip
    assert refused == 0
    every = [x for row in case.single for x, _ in row]
    limits = np.array([min(every, default=INF), max(every, default=-INF)], dtype=dtype) + 0.0
    if every:
        assert ordered_bits(limits.view(keys.dtype), ends).tolist() == [least, largest]
    for i in range(m):
        expected = [NAN] * n
        for x, p in case.single[i]:
            expected[p] = x
        np.testing.assert_array_equal(tile[i], np.array(expected, dtype=dtype))
        assert found.missing[i] == n - len(case.single[i])
        best = min((x for x, _ in case.mates[i]), default=INF)
        assert found.mates.best[i] == best and found.mates.number[i] == len(case.mates[i])
        assert found.mates.tied[i] == sum(x == best for x, _ in case.mates[i])
        first = min((case.places[p] for x, p in case.mates[i] if x == best), default=0)
        assert found.mates.best_place[i] == first
    genuine = found.mates.genuine[~np.isnan(found.mates.genuine)].tolist()
    assert genuine == [x for row in case.mates for x, _ in row]

    best = ordered_bits(found.mates.best.view(keys.dtype), ends)
    side = TileSide(
        found.mates.best, best, found.mates.best_place, case.places[:0], case.starts[:0],
        other=found.other, **found.facts,
    )  # fmt: skip
    columns = TileSide(*(x[:0] for x in side))._replace(places=case.places, layers=case.starts)
    fused = np.empty((1, m * case.groups), dtype=dtype)
    counts = [Findings(dtype, 2 * tile.size, m) for _ in range(2)]
    of_subjects = [[x for x, _ in case.nearest(i)] for i in range(m)]
    narrow = np.array([-INF, min(sum(of_subjects, []), default=INF)], dtype=dtype)
    upto = ordered_bits(narrow.view(keys.dtype), ends)[: 2 * limited]
    signed = bool(least < 0)
    whole = WholeRows(case.group, found.missing, found.subjects_missing, upto, signed)
    with np.errstate(over="ignore"):
        counted = count_rows(
            tile, ordered if signed else keys, side, columns, whole, TaskFlags(True, True, True),
            TileOutput(*(x.tables for x in counts), *(x.flags for x in counts), 0, keys[0, :0]),
            fused, fused.view(keys.dtype), scratch_of(tile.dtype, 1, 7), ends,
        )  # fmt: skip
    if limited and len({x for row in of_subjects for x in row}) > 1:
        assert not counted and not any(values.any() for values in found.facts.values())
        return
    assert counted
    counts[0].check(every)
    counts[1].check(sum(of_subjects, []))
    for i in range(m):
        mine, place = float(found.mates.best[i]), found.mates.best_place[i]
        counts[0].check_moments([x for x, _ in case.single[i]], i)
        counts[1].check_moments(of_subjects[i], i)
        units = {"": [(x, case.places[p]) for x, p in case.single[i]]}
        units["subjects_"] = case.nearest(i)
        for prefix, those in units.items():
            assert found.facts[f"{prefix}closer"][i] == sum(x < mine for x, _ in those)
            assert found.facts[f"{prefix}tied"][i] == sum(x == mine for x, _ in those)
            before = sum(x == mine and where < place for x, where in those)
            assert found.facts[f"{prefix}tied_before"][i] == before
        other = ordered_bits(found.other[i : i + 1], ends).view(dtype)[0]
        assert other == min((x for x, _ in case.single[i]), default=INF)
        assert found.subjects_missing[i] == case.groups - len(of_subjects[i])


@pytest.mark.parametrize(("seed", "dtype"), CASES)
@pytest.mark.cases(10)
def test_take_mates(seed, dtype):
    """Of each row: its genuine scores, the best one, where it stands, and how many are as close."""
    rng = np.random.default_rng(seed)
    h, w = 1 + seed, 1 + (5 * seed) % 13
    of_rows, of_columns = rng.integers(-1, 4, h), rng.integers(0, 5, w)
    tile = rng.choice(POOL, (h + 2, w + 1)).astype(dtype)
    places, itself = rng.permutation(30)[:w], rng.integers(-3, w + 2, h)
    number = seed % 3  # of columns of metadata that leave out
    same = rng.integers(0, 3, (number, h)), rng.integers(0, 3, (number, w))
    offsets = np.arange(h) * w
    genuine = np.full(h * w, -1, dtype=dtype)
    mates = Mates(offsets, genuine, np.full(h, INF, dtype=dtype), *np.zeros((3, h), dtype=np.int64))
    before = tile.copy()
    take_mates(tile, of_rows, of_columns, places, itself, same, mates)
    np.testing.assert_array_equal(tile, before)
    for i in range(h):
        mine = [
            (float(tile[i, j]), int(places[j]))
            for j in range(w)
            if of_columns[j] == of_rows[i]
            and j != itself[i]
            and not any(same[0][c, i] == same[1][c, j] for c in range(number))
        ]
        filled = genuine[i * w : i * w + len(mine)].tolist()
        assert filled == [x for x, _ in mine] and mates.number[i] == len(mine)
        assert (genuine[i * w + len(mine) : (i + 1) * w] == -1).all()
        best = min((x for x, _ in mine), default=INF)
        assert mates.best[i] == best
        assert mates.tied[i] == sum(x == best for x, _ in mine)
        assert mates.best_place[i] == min((p for x, p in mine if x == best), default=0)


@pytest.mark.parametrize("mirrored", [False, True])
def test_leave_out_subjects(mirrored):
    rng = np.random.default_rng(1)
    of_rows, of_columns = rng.integers(-1, 3, 7), rng.integers(0, 3, 7)
    tile = rng.random((9, 8))
    before = tile.copy()
    leave_out_subjects(tile, of_rows, of_columns, NAN, mirrored)
    for i in range(9):
        for j in range(8):
            expected = before[j, i] if mirrored and j < i < 7 else before[i, j]
            if i < 7 and j < 7 and of_rows[i] == of_columns[j]:
                expected = NAN
            np.testing.assert_equal(tile[i, j], expected)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="this is the run without the compiler")
@pytest.mark.slow
def test_the_kernels_give_the_same_without_the_compiler():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__))]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout and "1 skipped" in done.stdout

"""The one-sweep kernel counts what the general kernels count, to the last bit."""

from __future__ import annotations

import itertools
import math

import numba
import numpy as np
import pytest
from optional import optional_import

import bioeval as be
from bioeval.kernels import sweep
from bioeval.scores.blocks import BlockReader
from bioeval.tallies import sweep as sweeping
from bioeval.tallies.cells import CellGrid
from bioeval.tallies.divided_cells import DividedCells
from bioeval.tallies.identification_job import IdentificationJob
from bioeval.tallies.sweep import run_blocks
from bioeval.tallies.verification_job import VerificationJob


def jobs_for(scores, reader, thresholds=None):
    return [
        VerificationJob(scores, reader, thresholds=thresholds),
        VerificationJob(scores, reader, templates="multi", thresholds=thresholds),
        IdentificationJob(scores, reader),
        IdentificationJob(scores, reader, rank_unit="subject"),
    ]


def both_ways(scores, choose=slice(None), thresholds=None):
    """Tallies by the sweep and by blocks."""
    out = []
    for run in (sweeping.run_sweep, run_blocks):
        reader = BlockReader(scores)
        jobs = jobs_for(scores, reader, thresholds)[choose]
        if run is sweeping.run_sweep and not sweeping.sweepable(scores, jobs):
            assert thresholds is not None  # too uneven for the sweep
            run = run_blocks
        out.append(run(scores, reader, jobs, None))
    return zip(*out, strict=True)


def check_same(scores, choose=slice(None), thresholds=None) -> None:
    for swept, blocked in both_ways(scores, choose, thresholds):
        assert type(swept) is type(blocked)
        for name, value in vars(swept).items():
            expected = getattr(blocked, name)
            if isinstance(value, np.ndarray):
                assert value.dtype == expected.dtype, name
                np.testing.assert_array_equal(value, expected, err_msg=name)
            elif name == "impostor":
                assert (value.exponent, value.first) == (expected.exponent, expected.first)
                np.testing.assert_array_equal(value.counts, expected.counts)
                assert value.negative_infinite == expected.negative_infinite
                assert value.positive_infinite == expected.positive_infinite
            elif name == "given" and value is not None:
                np.testing.assert_array_equal(value.counts, expected.counts)
                assert value.total == swept.impostor.total


def population(seed=0, sizes=(1, 12), n=40, dtype="float32"):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n), rng.integers(*sizes, n, endpoint=True))
    x = rng.normal(size=(n, 6))[labels] + 0.6 * rng.normal(size=(len(labels), 6))
    d = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)).astype(dtype)
    return d, labels


@pytest.fixture(params=[1 << 24, 2000], ids=["one call", "many calls"])
def _calls(request, monkeypatch):
    monkeypatch.setattr(sweeping, "SWEEP_VALUES", request.param)
    monkeypatch.setattr(sweeping, "READ_VALUES", request.param)
    monkeypatch.setattr(sweeping, "SAMPLE_ROWS", 2)


@pytest.mark.usefixtures("_calls")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("threads", [1, 2])
def test_square(dtype, kind, threads):
    d, labels = population(dtype=dtype)
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    try:
        check_same(be.Scores(1 - d if kind == "similarity" else d, labels, kind=kind))
    finally:
        numba.set_num_threads(before)


@pytest.mark.usefixtures("_calls")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("decimals", [1, 7], ids=["ties", "no ties"])
def test_shuffled_gallery_with_strangers(dtype, decimals):
    d, labels = population(1, dtype=dtype)
    rng = np.random.default_rng(2)
    order = rng.permutation(len(labels))
    rows, columns = order[:90], order[90:]
    scores = be.Scores(
        np.ascontiguousarray(d.round(decimals)[np.ix_(rows, columns)]),
        labels[rows],
        labels[columns],
    )
    assert not np.isin(labels[rows], labels[columns]).all()
    check_same(scores)
    check_same(scores, slice(2, 4))  # ranks alone, without cells
    check_same(scores, slice(1, 2))  # multi-template alone


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_selections(kind):
    d, labels = population(3)
    scores = be.Scores(d, labels, kind=kind)
    rng = np.random.default_rng(4)
    for _ in range(5):
        view = scores.select(
            probes=rng.permutation(len(labels))[:30], gallery=rng.permutation(len(labels))[:50]
        )
        check_same(view)


@pytest.mark.usefixtures("_calls")
@pytest.mark.parametrize("nan", ["reject", "exclude"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_has_no_place_is_counted_by_the_general_kernels(nan, value):
    d, labels = population(5)
    d[3, 100] = d[50, 51] = d[70, 2] = value
    np.fill_diagonal(d, np.nan)
    scores = be.Scores(d, labels, nan=nan)
    check_same(scores)
    check_same(scores, slice(2, 4))


def test_a_nan_raises_whatever_the_tasks():
    d, labels = population(6)
    d[3, 100] = np.nan
    scores = be.Scores(d, labels)
    for task in (be.verification, be.open_set, be.closed_set):
        with pytest.raises(be.DataError, match="1 NaN, the first at row 3, column 100"):
            task(scores)


@pytest.mark.usefixtures("_calls")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e4, 1e30])
@pytest.mark.parametrize("shift", [0.0, -3.0, 1e6])
def test_any_scale_and_place_of_scores(dtype, scale, shift):
    d, labels = population(7, n=15)
    # Later rows reach farther, so that the cells must widen on the way.
    grown = (d * np.linspace(0.1, 8, len(d))[:, None] + shift) * scale
    check_same(be.Scores(np.ascontiguousarray(grown, dtype=dtype), labels))


def test_equal_scores_everywhere():
    for value in (0.0, 1.0, -2.5):
        d = np.full((12, 12), value, dtype="float32")
        check_same(be.Scores(d, np.repeat(np.arange(4), 3)))


def test_read_only_and_mapped_memory(tmp_path):
    d, labels = population(8)
    np.save(tmp_path / "d.npy", d)
    mapped = np.load(tmp_path / "d.npy", mmap_mode="r")
    before = mapped.copy()
    check_same(be.Scores(mapped, labels))
    fixed = d.copy()
    fixed.flags.writeable = False
    check_same(be.Scores(fixed, labels))
    np.testing.assert_array_equal(mapped, before)


def unaligned(d):
    """The same values at an odd place of the memory."""
    memory = bytearray(1) + d.tobytes()
    return np.frombuffer(memory, d.dtype, offset=1).reshape(d.shape)


@pytest.mark.parametrize(
    "stored",
    [
        unaligned,
        np.asfortranarray,
        lambda d: np.repeat(d, 2, axis=1)[:, ::2],
        lambda d: optional_import("dask.array").from_array(d, chunks=(7, 50)),
    ],
    ids=["unaligned", "transposed", "strided", "dask"],
)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_memory_of_any_layout_is_swept(stored, kind, monkeypatch):
    monkeypatch.setattr(sweeping, "READ_VALUES", 2000)
    monkeypatch.setattr(sweeping, "SAMPLE_ROWS", 2)
    d, labels = population(9)
    scores = be.Scores(stored(d), labels, kind=kind)
    order = np.random.default_rng(4).permutation(len(labels))
    for view in (scores, scores.select(probes=np.arange(5, 40), gallery=order)):
        assert not view.in_memory
        check_same(view)
        plain = be.Scores(d, labels, kind=kind).select(view.probe_ids, view.gallery_ids)
        assert be.verification(view).equals(be.verification(plain))
        assert be.open_set(view).equals(be.open_set(plain))


@pytest.mark.usefixtures("_calls")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("thresholds", ["even", "uneven", "scores", "one", "beyond"])
def test_given_thresholds(dtype, kind, thresholds):
    d, labels = population(9, dtype=dtype)
    values = -d if kind == "similarity" else d
    even = np.linspace(0.5, 5, 300)
    grid = {
        "even": even,
        "uneven": np.concatenate([np.geomspace(1e-6, 1, 200), [2, 2.00001, 2.00002, 1e9]]),
        "scores": np.unique(d[::7, ::5]).astype(float),
        "one": np.array([2.0]),
        "beyond": np.array([-np.inf, -5.0, 1e6, np.inf]),
    }[thresholds]
    grid = -grid[::-1] if kind == "similarity" else grid
    check_same(be.Scores(values, labels, kind=kind), thresholds=grid)
    shuffled = np.random.default_rng(1).permutation(len(labels))
    part = np.ascontiguousarray(values[:, shuffled])
    check_same(be.Scores(part, labels, labels[shuffled], kind=kind), thresholds=grid)


# ------------------------------------------------------------------------ divided cells

GRIDS = {
    "none": None,
    "one in a cell": [0.30, 1.7, 2.4, 7.9],
    "at edges": [-1.0, 0.0, 0.5, 1.0, 6.0],
    "two in a cell": [0.30, 0.40, 3.2],
    "neighbours": [1.25, 1.25000005, float(np.nextafter(np.float32(1.25), np.float32(2))), 3.0],
    "closer than float32": [1.25, 1.25 + 1e-12, 1.25 + 2e-12],
    "crowd": list(np.linspace(0.51, 0.99, 40)),
    "outside": [-np.inf, -1e9, 1e9, np.inf],
}
FINER = {"none": 0, "one in a cell": 0, "at edges": 0, "two in a cell": 2}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", GRIDS)
def test_divided_cells_count_both(name, dtype):
    """The cells as without thresholds, and how many scores lie between these."""
    grid = CellGrid(exponent=-1, first=-3, count=24)
    given = None if GRIDS[name] is None else np.array(GRIDS[name])
    divided = DividedCells.at(grid, given, np.dtype(dtype))
    bits = grid.exponent - divided.narrow.exponent
    assert bits == FINER.get(name, bits)
    rng = np.random.default_rng(3)
    line = np.concatenate([rng.uniform(-1.4, 8.9, 501), [0.0, -0.0, 0.5, 1.25, 0.75, 2.0]])
    if given is not None:
        line = np.concatenate([line, given[np.abs(given) < 8]])
    line = line.astype(dtype)
    index = np.empty(len(line), dtype=np.uint16)
    tables = divided.tables(1)
    sweep.find_cells(line, index, tables)
    sweep.count_cells(line, index, tables, 0)
    # Taken out again, as the probe's own subject is.
    sweep.uncount_cells(line[5:9], index[5:9], tables, 0)
    line = np.delete(line, slice(5, 9)).astype(float)
    counted = tables.counts.sum(axis=(0, 1))
    expected = [0] * grid.count
    for x in line:
        expected[math.ceil(x / 0.5) - grid.first] += 1
    assert divided.by_cell(counted).tolist() == expected
    if given is not None:
        ends = [-math.inf, *given]
        between = [sum(a < x <= b for x in line) for a, b in itertools.pairwise(ends)]
        between[0] = sum(x <= given[0] for x in line)
        between.append(sum(x > given[-1] for x in line))
        assert divided.by_threshold(counted).tolist() == between


def test_crowded_thresholds_are_searched_for():
    """Where not even the narrowest cells separate them."""
    for thresholds, searched in (([0.3, 0.31], True), ([0.3, 1.3], False)):
        divided = DividedCells.at(CellGrid(-1, 0, 24), np.array(thresholds), np.dtype(np.float32))
        assert bool(len(divided.bounds)) == searched
        assert bool(len(divided.limits)) != searched

"""The kernel of whole rows counts what the general kernels count, to the last bit."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

import bioeval as be
from bioeval.attempts import counters, matrix_pass, passes
from bioeval.attempts.cells import CellGrid
from bioeval.attempts.counters import HistogramWithThresholds
from bioeval.attempts.counts import CellCounts
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.second_pass import SecondPass, scratch_of
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.kernels.argument_groups import VerificationTables
from bioeval.kernels.tiles import count_flat
from bioeval.protocol.tasks import Search
from bioeval.scores import blocks
from bioeval.scores.blocks import BlockReader


def counters_for(scores, reader, thresholds=None):
    return [
        VerificationCounter(reader, thresholds=thresholds),
        VerificationCounter(reader, templates="multi", thresholds=thresholds),
        IdentificationCounter(reader),
        IdentificationCounter(reader, Search(rank_unit="subject")),
    ]


def both_ways(scores, choose=slice(None), thresholds=None):
    """Tallies by the kernel of whole rows and by blocks."""
    out = []
    for kernel in (True, False):
        reader = BlockReader(scores)
        counters = counters_for(scores, reader, thresholds)[choose]
        if kernel and passes.kernel_counters(scores, counters) is None:
            assert thresholds is not None  # too uneven for the kernel
            kernel = False
        (by_kernel if kernel else passes.count_by_blocks)(reader, counters)
        out.append([counter.result() for counter in counters])
    return zip(*out, strict=True)


def by_kernel(reader, counters):
    kernel = passes.kernel_counters(reader.scores, counters)
    if passes.count_by_rows(reader, counters, kernel) is None:  # no cells are exact
        passes.count_by_blocks(reader, counters)


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
    monkeypatch.setattr(matrix_pass, "VALUES_IN_MEMORY", request.param)
    monkeypatch.setattr(matrix_pass, "READ_VALUES", request.param)
    monkeypatch.setattr(matrix_pass, "SAMPLE_ROWS", 2)


@pytest.mark.usefixtures("_calls")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.cases(1)
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
@pytest.mark.cases(1)
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
@pytest.mark.cases(1)
def test_what_has_no_place_is_counted_by_the_general_kernels(nan, value):
    d, labels = population(5)
    d[3, 100] = d[50, 51] = d[70, 2] = value
    np.fill_diagonal(d, np.nan)
    scores = be.Scores(d, labels, nan=nan)
    check_same(scores)
    check_same(scores, slice(2, 4))


def with_gaps(name, kind="distance", dtype="float32") -> be.Scores:
    """Scores of which a mask, NaN or sessions leave out some, in no order, with strangers."""
    d, labels = population(11, sizes=(1, 6), n=60)
    rng = np.random.default_rng(12)
    rows, columns = rng.permutation(len(labels))[:110], rng.permutation(len(labels))[:130]
    values = (d[np.ix_(rows, columns)] * 8).astype(dtype)  # many ties, where they are whole
    values = -values if kind == "similarity" else values
    genuine = labels[rows][:, None] == labels[columns]
    out = rng.random(values.shape) < 0.3
    out[5], out[:, 7] = True, True
    out[20:40] |= genuine[20:40]
    session = {"probe_meta": {"s": rows % 2}, "gallery_meta": {"s": columns % 2}}
    options = {
        "mask": {"mask": np.where(out, 0, 1 + genuine)},
        "mask over nan": {"mask": np.where(out, 0, 1 + genuine)},
        "nan": {"nan": "exclude"},
        "session": {"exclude": "s"} | session,
        "all": {"mask": np.where(out, 0, 1 + genuine), "nan": "exclude", "exclude": "s"} | session,
        "dtype": {},
    }[name]
    if name in ("mask over nan", "nan"):
        values[out] = np.copysign(np.nan, rng.choice([-1.0, 1.0], np.count_nonzero(out)))
    return be.Scores(values, labels[rows], labels[columns], kind=kind, **options)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *[(x, "float32") for x in ("mask", "mask over nan", "nan", "session", "all")],
        *[(x, "float64") for x in ("nan", "all")],
        *[("all", x) for x in ("int8", "float16", "int32")],
        ("dtype", "int16"),
    ],
)
@pytest.mark.cases(1)
def test_gaps_and_other_dtypes_are_swept(name, dtype, kind, monkeypatch):
    monkeypatch.setattr("bioeval.scores.blocks.BLOCK_VALUES", 2000)
    scores = with_gaps(name, kind, dtype)
    check_same(scores, thresholds=np.linspace(-90, 90, 50))
    check_same(scores, slice(2, 4))
    check_same(scores, slice(1, 2))
    reader = BlockReader(scores)
    counters = counters_for(scores, reader)
    for counter in (VerificationCounter, IdentificationCounter):
        monkeypatch.setattr(counter, "add", None)  # no general kernel
    by_kernel(reader, counters)


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "name", ["mask", "mask over nan", "nan", "session", "select", "square", "read-only"]
)
@pytest.mark.cases(1)
def test_what_is_left_out_in_the_kernel_and_in_blocks_is_the_same(
    name, kind, threads, monkeypatch, tmp_path
):
    monkeypatch.setattr(passes, "is_small", lambda _: False)
    if name == "square":
        d, labels = population(21)
        out = np.random.default_rng(3).random(d.shape) < 0.2
        mask = np.where(out, 0, 1 + (labels == labels[:, None]))
        np.fill_diagonal(d, np.nan)
        scores = be.Scores(-d if kind == "similarity" else d, labels, kind=kind, mask=mask)
    else:
        scores = with_gaps(name if name in ("nan", "session", "mask over nan") else "mask", kind)
    if name == "select":
        rng = np.random.default_rng(4)
        scores = scores.select(probes=rng.permutation(110)[:90], gallery=rng.permutation(130)[:95])
    if name == "read-only":
        scores._mask.setflags(write=False)
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, before))
    result = []
    try:
        for in_kernel in (True, False):
            # A matrix that is not in memory as floats is counted by blocks.
            monkeypatch.setattr(be.Scores, "_in_memory", property(lambda _, x=in_kernel: x))
            result.append(be.evaluate(scores, "auto"))
    finally:
        numba.set_num_threads(before)
    in_the_kernel, in_blocks = result
    assert in_the_kernel.identical(in_blocks)


@pytest.mark.slow
def test_gaps_beside_scores_that_have_no_cell(monkeypatch):
    monkeypatch.setattr("bioeval.scores.blocks.BLOCK_VALUES", 2000)
    for value, nan in ((np.inf, "raise"), (-np.inf, "exclude"), (np.nan, "reject")):
        scores = with_gaps("mask")
        values = scores.values
        values[60:62, 20:24] = value
        labels = scores.probe_labels, scores.gallery_labels
        check_same(be.Scores(values, *labels, mask=scores.mask, nan=nan))
        check_same(be.Scores(values, *labels, mask=scores.mask, nan=nan), slice(1, 4))


def test_a_mask_of_another_class_and_a_nan_beside_it_are_errors(monkeypatch):
    monkeypatch.setattr(passes, "is_small", lambda _: False)
    scores = with_gaps("mask")
    labels = scores.probe_labels, scores.gallery_labels
    row, column = np.argwhere(scores.mask == 1)[-1]
    mask = scores.mask.copy()
    mask[row, column] = 2
    with pytest.raises(be.DataError, match=f"contradicts.*row {row}, column {column} "):
        be.verification(be.Scores(scores.values, *labels, mask=mask))
    values = scores.values.copy()
    values[row, column] = np.nan
    with pytest.raises(be.DataError, match=f"1 NaN, the first at row {row}, column {column}"):
        be.verification(be.Scores(values, *labels, mask=scores.mask))


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
@pytest.mark.cases(1)
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
    ],
    ids=["unaligned", "transposed", "strided"],
)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_memory_of_any_layout_is_swept(stored, kind, monkeypatch):
    monkeypatch.setattr(matrix_pass, "READ_VALUES", 2000)
    monkeypatch.setattr(matrix_pass, "SAMPLE_ROWS", 2)
    d, labels = population(9)
    scores = be.Scores(stored(d), labels, kind=kind)
    order = np.random.default_rng(4).permutation(len(labels))
    for view in (scores, scores.select(probes=np.arange(5, 40), gallery=order)):
        assert not view._in_memory
        check_same(view)
        plain = be.Scores(d, labels, kind=kind).select(view.probe_ids, view.gallery_ids)
        assert be.verification(view).equals(be.verification(plain))
        assert be.open_set(view).equals(be.open_set(plain))


@pytest.mark.usefixtures("_calls")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("thresholds", ["even", "uneven", "scores", "one", "beyond"])
@pytest.mark.cases(1)
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


# ------------------------------------------------------------------------ cells with marks

MARKS = {
    "none": [],
    "one in a cell": [0.30, 1.7, 2.4, 7.9],
    "at edges": [-1.0, 0.0, 0.5, 1.0, 6.0],
    "two in a cell": [0.30, 0.40, 3.2],
    "neighbours": [1.25, float(np.nextafter(np.float32(1.25), np.float32(2))), 3.0],
    "crowd": list(np.linspace(0.51, 0.99, 40)),
    "outside": [-np.inf, -1e9, 1e9, np.inf],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MARKS)
@pytest.mark.parametrize("narrow", [False, True])
def test_marked_cells_count_both(name, dtype, narrow, monkeypatch):
    """The cells as without marks, and how many scores are at most each mark."""
    monkeypatch.setattr(counters, "MARKED_SHARE", 0.0 if narrow else 1.0)
    grid = CellGrid(exponent=-1, first=-3, count=24)
    marks = np.unique(np.array(MARKS[name], dtype=dtype))
    cells = HistogramWithThresholds.at(CellCounts(-1, -2, np.ones(20, dtype=np.int64)), grid, marks)
    second_pass = SecondPass([(-np.inf, 0.0), (1.0, 2.5)])
    second_pass.keep_cells(grid)
    assert (cells.narrow.count > grid.count) == (narrow and name not in ("none", "outside"))
    rng = np.random.default_rng(3)
    line = np.concatenate([rng.uniform(-1.4, 8.9, 501), [0.0, -0.0, 0.5, 1.25, 0.75, 2.0]])
    line = np.concatenate([line, marks[np.abs(marks) < 8]]).astype(dtype)
    points = second_pass.tables(line.dtype, 1, 3 * len(line))
    shift = np.uint32(grid.exponent - cells.narrow.exponent)
    tables = VerificationTables(cells.tables(1), points._replace(shift=shift))
    flags = np.repeat(second_pass.flags, cells.narrow.count // grid.count)
    flags[0] = 0
    gaps = line.copy()
    gaps[5:9] = np.nan
    scratch = scratch_of(line.dtype, 1, len(line))
    count_flat(gaps, len(line) - 4, 4, tables, flags, 0, scratch, False)
    by_cell, at_marks = cells.counted(tables.counts)
    line = np.delete(line, slice(5, 9)).astype(float)
    expected = [0] * grid.count
    for x in line:
        expected[math.ceil(x / 0.5) - grid.first] += 1
    assert by_cell.reshape(grid.count, -1).sum(axis=1).tolist() == expected
    kept = sorted(points.kept[0, : points.filled[0]].tolist())
    assert kept == sorted(x for x in line if -1.5 < x <= 0 or 1 < x <= 2.5)
    assert at_marks.tolist() == [sum(x <= t for x in line) for t in marks]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16"])
@pytest.mark.parametrize("shape", [(600, 600), (300, 1200)])
@pytest.mark.cases(1)
def test_a_small_pilot_of_a_large_matrix_has_its_dtype(monkeypatch, dtype, shape):
    """The first rows are few enough for float64; the others are counted as float32."""
    monkeypatch.setattr(blocks, "SMALL_CELLS", 1 << 18)  # as it is outside these tests
    m, n = shape
    values = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    labels = [np.arange(m) // 3] if m == n else [np.arange(m) % (n // 3), np.arange(n) // 3]
    result, wide = (be.evaluate(be.Scores(x, *labels)) for x in (values, values.astype(float)))
    for node in wide.subtree:
        for name, expected in node.data_vars.items():
            np.testing.assert_array_equal(result[node.path][name].values, expected.values, name)

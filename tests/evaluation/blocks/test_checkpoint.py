"""An evaluation goes on from its checkpoint, and from no other."""

from __future__ import annotations

import functools
import json
import shutil
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from named_arguments import raises_about

import bioeval as be
from bioeval.base.executors import computed_by
from bioeval.evaluation.blocks.checkpoint import plain_option, read_part, write_part
from bioeval.evaluation.blocks.executor import BlockExecutor, LocalWorkers
from bioeval.tallies.counts import CellCounts
from bioeval.tallies.matrix_pass import MatrixPass
from bioeval.tallies.parts import ConcatenatedRows, Extent, KeptRows, NarrowCells, RowRangeCounts
from bioeval.tallies.passes import CounterPass

SAVED = Path(__file__).parent / "saved"


@pytest.fixture(autouse=True)
def blocks_are_small(monkeypatch):
    """Rows are read few at a time, so that there are many blocks."""
    monkeypatch.setattr("bioeval.scores.blocks.BLOCK_VALUES", 1200)


class _Interrupted(Exception):
    """Stands for whatever ends a run."""


def population(seed=1):
    return be.simulate(30, 4, random_state=seed)


def interrupted(scores, folder, after, **options):
    """Evaluate until so many blocks are kept."""

    def progress(done, total):
        if len(list(folder.glob("0*.part"))) >= after:
            raise _Interrupted

    with pytest.raises(_Interrupted):
        be.tally(scores, checkpoint=folder, progress=progress, **options)


def counted_parts(monkeypatch):
    """Return a list of the blocks that are counted from now on."""
    rows: list = []
    for passes in (MatrixPass, CounterPass):

        def noted(self, low, high, part=passes.part):
            rows.append((low, high))
            return part(self, low, high)

        monkeypatch.setattr(passes, "part", noted)
    return rows


@pytest.mark.slow
def test_a_run_goes_on_where_it_was_interrupted(tmp_path, monkeypatch):
    scores, folder = population(), tmp_path / "kept"
    expected = be.tally(scores, points=True).tree()
    rows = counted_parts(monkeypatch)
    interrupted(scores, folder, 3, points=True)
    first = list(rows)
    result = be.tally(scores, points=True, checkpoint=folder).tree()
    assert result.identical(expected)
    assert len(first) == 3
    assert not set(first) & set(rows[3:])
    assert sorted(rows)[-1][1] == 120
    rows.clear()
    assert be.tally(scores, points=True, checkpoint=folder).tree().identical(expected)
    assert not rows


@pytest.mark.slow
@pytest.mark.parametrize("interval", ["subject-bootstrap", "subject-bootstrap-bca", "wilson"])
@pytest.mark.parametrize("task", ["open_set", "closed_set"])
@pytest.mark.cases(2)
def test_intervals_of_identification_go_on_where_they_were_interrupted(
    tmp_path, monkeypatch, task, interval
):
    """Rates and limits of a run that was stopped are those of one that was not, bit by bit."""
    scores, folder = population(), tmp_path / "kept"
    options = {"interval": interval, "replicates": 100, "random_state": 3}
    whole = getattr(be, task)(scores, **options)
    assert ("cms_low" if task == "closed_set" else "dir_low") in whole

    def stop(done, total):
        if len(list(folder.glob("0*.part"))) >= 3:
            raise _Interrupted

    rows = counted_parts(monkeypatch)
    with pytest.raises(_Interrupted):
        getattr(be, task)(scores, **options, checkpoint=folder, progress=stop)
    first = list(rows)
    assert len(first) == 3
    result = getattr(be, task)(scores, **options, checkpoint=folder)
    assert result.identical(whole)
    assert not set(first) & set(rows[3:]) and rows[3:]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda s: (s, {"thresholds": 7}), "options, thresholds: None there, 7 here"),
        (lambda s: (s, {"far_targets": [0.5]}), "options, far_targets"),
        (lambda s: (s.excluding(), {"protocol": "frte-11"}), "protocol"),
        (
            lambda s: (s.select(probes=range(60)), {}),
            "evaluation: scores, shape: 120 x 120 there, 60",
        ),
        (lambda s: (be.Scores(s.values, np.arange(120) // 3), {}), "evaluation: scores, labels"),
        (lambda s: (be.Scores(-s.values, s.probe_labels, kind="similarity"), {}), "kind"),
    ],
)
@pytest.mark.cases(1)
def test_a_checkpoint_of_another_evaluation_is_refused(tmp_path, other, message):
    scores = population()
    be.tally(scores, checkpoint=tmp_path / "kept")
    changed, options = other(scores)
    with pytest.raises(be.CheckpointError, match=message):
        be.tally(changed, checkpoint=tmp_path / "kept", **options)


@pytest.mark.parametrize("cell", [(0, 1), (119, 0)])
def test_a_single_other_score_is_refused(tmp_path, cell):
    scores = population()
    be.tally(scores, checkpoint=tmp_path / "kept")
    values = np.array(scores.values)
    values[cell] = np.nextafter(values[cell], np.inf)
    with pytest.raises(be.CheckpointError, match=f"the scores of rows .*{cell[0] and 120}"):
        be.tally(be.Scores(values, scores.probe_labels), checkpoint=tmp_path / "kept")


def test_a_single_other_embedding_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    points, who = rng.normal(size=(90, 6)), np.repeat(np.arange(30), 3)
    options = {"memory_limit": 20_000, "dtype": "float32"}
    scores = be.Scores.from_embeddings(points, who, **options)
    whole = be.tally(scores, checkpoint=tmp_path / "kept")
    assert whole.tree().identical(be.tally(scores).tree())
    points[17, 3] += 1e-3
    with pytest.raises(be.CheckpointError, match="scores, embeddings"):
        be.tally(be.Scores.from_embeddings(points, who, **options), checkpoint=tmp_path / "kept")


def test_another_version_is_refused(tmp_path, monkeypatch):
    scores, folder = population(), tmp_path / "kept"
    be.tally(scores, checkpoint=folder)
    monkeypatch.setattr("bioeval.evaluation.blocks.checkpoint.__version__", "99.0")
    with pytest.raises(be.CheckpointError, match=r"version of bioeval: .* 99\.0 here"):
        be.tally(scores, checkpoint=folder)


def test_damaged_blocks_alone_are_counted_again(tmp_path, monkeypatch, caplog):
    scores, folder = population(), tmp_path / "kept"
    expected = be.tally(scores, checkpoint=folder).tree()
    first, *other_parts = sorted(folder.glob("0*.part"))
    whole, rows = first.read_bytes(), counted_parts(monkeypatch)
    cut = [
        whole[:-1],
        whole[:40],
        b"",
        whole[:400] + b"x" + whole[401:],
        other_parts[0].read_bytes(),
    ]
    for damaged in cut:
        first.write_bytes(damaged)
        rows.clear(), caplog.clear()
        assert be.tally(scores, checkpoint=folder).tree().identical(expected)
        (low, high), (record,) = rows[0], caplog.records
        assert len(rows) == 1 and low == 0 and first.read_bytes() == whole
        assert record.levelname == "WARNING" and f"{first}: " in record.getMessage()
        assert f": rows 0 to {high} are counted again" in record.getMessage()
    first.write_bytes(b""), other_parts[-1].write_bytes(b"")
    rows.clear()
    assert be.tally(scores, checkpoint=folder).tree().identical(expected)
    assert len(rows) == 2


def test_a_damaged_manifest_is_refused(tmp_path):
    scores, folder = population(), tmp_path / "kept"
    be.tally(scores, checkpoint=folder)
    manifest = folder / "checkpoint.json"
    manifest.write_text(manifest.read_text().replace('"raise"', '"reject"'))
    with pytest.raises(be.CheckpointError, match="is damaged"):
        be.tally(scores, checkpoint=folder)


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(be.CheckpointError, match="is neither a checkpoint nor empty"):
        be.tally(population(), checkpoint=tmp_path)
    assert [x.name for x in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(be.CheckpointError, match=r"thesis\.tex: is a file; give a new folder"):
        be.tally(population(), checkpoint=tmp_path / "thesis.tex")


@pytest.mark.slow
def test_blocks_may_have_any_size(tmp_path):
    scores = population()
    expected = be.evaluate(scores)
    for rows in (1, 7, 64, 500):
        with computed_by(BlockExecutor(LocalWorkers(), rows=rows)):
            assert be.evaluate(scores).identical(expected)


def example():
    """Return a part with every kind of counts."""
    cells = CellCounts(-3, 5, np.array([1, 0, 4]), 2, 0)
    return RowRangeCounts(
        ((3, 9),),
        {
            "joined": ConcatenatedRows.of(np.arange(6, dtype=np.float32), np.empty(0)),
            "extent": Extent(-1.5, float("inf")),
            "narrow": NarrowCells(cells, 77),
            "kept": KeptRows.of([(-np.inf, 0.25)], [np.array([0.125])]),
            "number": 12,
            "said": True,
            "counts": np.arange(4).reshape(2, 2),
        },
    )


def test_a_part_is_read_as_it_was_written(tmp_path):
    write_part(tmp_path / "x.part", example(), "abc")
    part, digest = read_part(tmp_path / "x.part")
    assert (part.rows, digest) == (((3, 9),), "abc")
    require_example(part)


def test_a_saved_part_of_schema_1_is_read():
    require_example(read_part(SAVED / "part-1.npz")[0])


def require_example(part):
    counts, wanted = part.counts, example().counts
    assert counts.keys() == wanted.keys()
    assert [x.dtype for x in counts["joined"].arrays] == [np.float32, np.float64]
    np.testing.assert_array_equal(counts["joined"].array(), wanted["joined"].array())
    assert counts["extent"] == wanted["extent"]
    assert (counts["number"], counts["said"]) == (12, True)
    np.testing.assert_array_equal(counts["counts"], wanted["counts"])
    assert counts["kept"].windows == wanted["kept"].windows
    narrow = counts["narrow"]
    assert (narrow.most, narrow.cells.exponent, narrow.cells.first) == (77, -3, 5)
    assert narrow.cells.negative_infinite == 2
    np.testing.assert_array_equal(narrow.cells.counts, [1, 0, 4])


def test_parts_and_checkpoints_of_other_schemas_are_refused(tmp_path):
    with np.load(SAVED / "part-1.npz") as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes()) | {"schema": 9}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(be.DataError, match=r"schema 9; this version of bioeval reads schema 1"):
        read_part(tmp_path / "x.npz")
    be.tally(population(), checkpoint=tmp_path / "kept")
    path = tmp_path / "kept" / "checkpoint.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 9}))
    with pytest.raises(be.CheckpointError, match="is of schema 9"):
        be.tally(population(), checkpoint=tmp_path / "kept")


@pytest.mark.slow
def test_options_that_hold_arrays_are_distinguished(tmp_path):
    """The text of an array of another library leaves most values out."""
    scores = population()
    grid = xr.DataArray(np.linspace(1, 9, 2000))
    be.verification(scores, thresholds=grid, checkpoint=tmp_path / "grid")
    grid[1000] = float(grid[999]) + 1e-9
    with pytest.raises(be.CheckpointError, match=r"options, thresholds: array .* there"):
        be.verification(scores, thresholds=grid, checkpoint=tmp_path / "grid")


@pytest.mark.slow
def test_mates_of_another_gallery_are_refused(tmp_path):
    from bioeval.studies.sites.gallery_parts import best_mates

    scores = population()
    values = np.array(scores.values)
    values[:, 1::2] /= 4
    wholes = scores, be.Scores(values, scores.probe_labels)

    def mates(whole):
        parts = [whole.select(gallery=np.arange(i, 120, 2)) for i in (0, 1)]
        result = [
            best_mates(x, "course-all-vs-all", site=s) for x, s in zip(parts, "ab", strict=True)
        ]
        return result[0].merge(result[1])

    one, other = map(mates, wholes)
    part, place = scores.select(gallery=np.arange(0, 120, 2)), tmp_path / "kept"
    be.tally(part, mates=one, site="a", checkpoint=place)
    with pytest.raises(be.CheckpointError, match="options, mates, lists"):
        be.tally(part, mates=other, site="a", checkpoint=place)


@pytest.mark.slow
def test_no_key_is_written(tmp_path):
    for key in (b"a long secret", "a long secret"):
        be.tally(population(), key=key, checkpoint=tmp_path / "kept")
    kept = [x for x in (tmp_path / "kept").iterdir() if b"a long secret" in x.read_bytes()]
    assert not kept


def test_two_runs_at_a_time_are_refused(tmp_path):
    scores, folder, reported = population(), tmp_path / "kept", []

    def progress(done, total):
        with pytest.raises(be.CheckpointError, match="is in use by another run"):
            be.tally(scores, checkpoint=folder)
        reported.append(done)

    be.tally(scores, checkpoint=folder, progress=progress)
    assert reported
    assert be.tally(scores, checkpoint=folder).tree().identical(be.tally(scores).tree())


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(be.CheckpointError, match="is a file; give a new folder"):
        be.tally(population(), checkpoint=tmp_path / "file")


def test_what_a_killed_process_left_is_removed(tmp_path):
    scores, folder = population(), tmp_path / "kept"
    interrupted(scores, folder, 2)
    part = min(folder.glob("0*.part"))
    shutil.copy(part, folder / f".{part.name}.12ab34cd.part")
    be.tally(scores, checkpoint=folder)
    assert not list(folder.glob(".*"))


def test_a_gallery_in_parts_goes_on_in_both_rounds(tmp_path, monkeypatch):
    """A checkpoint of other mates is refused, though these be as many, and as near."""
    from bioeval.studies.sites.gallery_parts import best_mates

    scores, card = population(), be.protocol.load("course-all-vs-all")
    ranked = replace(card.closed_set, ties="stable")
    card = replace(card, verification=None, open_set=None, closed_set=ranked)
    parts = [scores.select(gallery=np.arange(i, 120, 2)) for i in (0, 1)]
    mates = [best_mates(x, card, site=str(i)) for i, x in enumerate(parts)]
    rows = counted_parts(monkeypatch)
    for _ in range(2):
        result = best_mates(parts[0], card, site="0", checkpoint=tmp_path / "mates")
        assert result.digest == mates[0].digest
    assert len(rows) > 1 and rows == sorted(set(rows))
    both = mates[0].merge(mates[1])
    options = {"protocol": card, "site": "0", "checkpoint": tmp_path / "kept"}
    be.tally(parts[0], card, mates=both, site="0").save(tmp_path / "expected")
    for again in (False, True):
        rows.clear()
        be.tally(parts[0], mates=both, **options).save(tmp_path / "found")
        assert (tmp_path / "found").read_bytes() == (tmp_path / "expected").read_bytes()
        assert bool(rows) != again
    other = {name: replace(x, distance=x.distance + 1) for name, x in both.lists.items()}
    with pytest.raises(be.CheckpointError, match="options, mates"):
        be.tally(parts[0], mates=replace(both, lists=other), **options)
    other = {name: replace(x, place=x.place + 1) for name, x in both.lists.items()}
    with pytest.raises(be.CheckpointError, match="options, mates"):
        be.tally(parts[0], mates=replace(both, lists=other), **options)


def test_a_secret_is_not_written(tmp_path):
    scores, folder = population(), tmp_path / "kept"
    be.tally(scores, key="open sesame", checkpoint=folder)
    assert not [x for x in folder.iterdir() if b"open sesame" in x.read_bytes()]


# What is the same evaluation in another process.


class Head:
    """A metric whose text says nothing of it."""

    def __init__(self, weights):
        self.weights = np.asarray(weights, dtype=float)

    def __repr__(self):
        return "Head()"

    def __call__(self, x, y):
        return np.abs((x * self.weights)[:, None] - (y * self.weights)[None]).sum(axis=2)


def streamed(metric, **options):
    rng = np.random.default_rng(0)
    points, who = rng.normal(size=(90, 6)), np.repeat(np.arange(30), 3)
    options_of_scores = {"kind": "distance", "memory_limit": 20_000, **options}
    return be.Scores.from_embeddings(points, who, metric=metric, **options_of_scores)


def test_metrics_of_one_text_do_not_share_a_checkpoint(tmp_path):
    one, other = Head([1, 1, 1, 1, 1, 1]), Head([1, 0, 0, 0, 0, 0])
    assert repr(one) == repr(other)
    whole = be.closed_set(streamed(one), checkpoint=tmp_path / "kept")
    assert whole.identical(be.closed_set(streamed(one)))
    with pytest.raises(be.CheckpointError, match="metric: function with scores .* there"):
        be.closed_set(streamed(other), checkpoint=tmp_path / "kept")
    one.weights[2] = np.nextafter(1, 2)
    with pytest.raises(be.CheckpointError, match="metric: function with scores .* there"):
        be.closed_set(streamed(one), checkpoint=tmp_path / "kept")


def defined(text):
    """Return the function `f` of a text, a new one in each call as in each process."""
    names = {"np": np}
    exec(text, names)
    return names["f"]


def test_a_function_goes_on_in_another_process(tmp_path, monkeypatch):
    text = "def f(x, y): return np.abs(x[:, None] - y[None]).sum(axis=2)"
    one, same = defined(text), defined(text)
    assert repr(one) != repr(same)
    expected = be.tally(streamed(one), checkpoint=tmp_path / "kept").tree()
    rows = counted_parts(monkeypatch)
    assert be.tally(streamed(same), checkpoint=tmp_path / "kept").tree().identical(expected)
    assert not rows


def test_the_name_of_a_metric_is_taken_at_its_word(tmp_path, monkeypatch):
    noisy = Head(np.ones(6))
    be.tally(streamed(noisy, metric_name="head 1"), checkpoint=tmp_path / "kept")
    noisy.weights += 1e-12
    rows = counted_parts(monkeypatch)
    be.tally(streamed(noisy, metric_name="head 1"), checkpoint=tmp_path / "kept")
    assert not rows
    with pytest.raises(be.CheckpointError, match="metric: function head 1 there, function head 2"):
        be.tally(streamed(noisy, metric_name="head 2"), checkpoint=tmp_path / "kept")
    with pytest.raises(be.DataError, match='metric_name is the name .* but metric="cosine"'):
        streamed("cosine", metric_name="head 1")
    with raises_about(be.DataError, "metric_name"):
        streamed(noisy, metric_name=3)


def test_evaluate_keeps_extra_thresholds(tmp_path):
    scores, more = population(), np.array([0.3, 0.5])
    whole = be.evaluate(scores, extra_thresholds=more)
    for _ in range(2):
        result = be.evaluate(scores, extra_thresholds=more, checkpoint=tmp_path / "kept")
        assert result.identical(whole)
    with pytest.raises(be.CheckpointError, match="options, extra_thresholds"):
        be.evaluate(scores, extra_thresholds=more + 1, checkpoint=tmp_path / "kept")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lambda: np.random.default_rng(1), lambda: np.random.default_rng(2)),
        (lambda: defined("f = lambda x: x + 1"), lambda: defined("f = lambda x: x + 2")),
        (lambda: defined("def f(x, y=1): return x"), lambda: defined("def f(x, y=2): return x")),
        (lambda: functools.partial(max, 1), lambda: functools.partial(max, 2)),
        (lambda: {"b", "a", "c"}, lambda: {"b", "a"}),
        (lambda: Head([1, 2]), lambda: Head([1, 3])),
        (lambda: Fraction(1, 3), lambda: Fraction(1, 2)),
        (lambda: b"one", lambda: b"other"),
        (lambda: datetime(2024, 1, 2), lambda: datetime(2024, 1, 3)),
        (lambda: Path("a"), lambda: Path("b")),
        (lambda: be.partition.SubjectKFold(3), lambda: be.partition.SubjectKFold(4)),
        (lambda: population(1), lambda: population(2)),
        (lambda: Head, lambda: Path),
    ],
)  # fmt: skip
def test_options_are_the_same_by_their_contents(one, other):
    """Those of two processes are equal, and JSON keeps them."""
    assert json.loads(json.dumps(plain_option(one()))) == plain_option(one())
    assert plain_option(one()) != plain_option(other())

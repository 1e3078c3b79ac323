"""Folds, groups and rates over time are the same whatever the blocks, wherever they are counted."""

from __future__ import annotations

import functools
import pickle

import cloudpickle
import numpy as np
import pytest
import xarray as xr
from named_arguments import raises_about

import bioeval as be
from bioeval.base.executors import computed_by
from bioeval.evaluation.blocks.checkpoint import Checkpoint
from bioeval.evaluation.blocks.executor import BlockExecutor
from bioeval.scores.blocks import BlockReader
from bioeval.studies.folds import parts
from bioeval.tallies import fold_counts as passes, fold_passes as sweep
from bioeval.tallies.fold_counts import DivisionIntoFolds, FoldPass, FoldRowReader
from tests.optional import optional_import
from tests.shuffled import Shuffled

# Templates of each subject: unequal, some alone; 26 in all.
SIZES = (4, 1, 3, 2, 1, 5, 2, 3, 3, 2)
TEMPLATES = sum(SIZES)


@pytest.fixture(autouse=True)
def blocks_are_single_rows(monkeypatch):
    """Rows are read one at a time, so that blocks may have any size; and groups are not listed."""
    monkeypatch.setattr(BlockReader, "rows_per_block", lambda self: 1)
    monkeypatch.setattr("bioeval.studies.groups.groups.LISTED", 0)


@functools.cache
def systems():
    """Return scores of every kind."""
    rng = np.random.default_rng(0)
    values = np.asarray(be.simulate(len(SIZES), SIZES, random_state=1).values)
    labels = np.repeat(np.arange(len(SIZES)), SIZES)
    meta = {
        "sex": np.array(["f", "m"])[labels % 2],
    }
    holes, far, failed = values.copy(), np.round(values, 1), values.astype(np.float32)
    holes[2, 7] = holes[16, 4] = failed[25, 0] = np.nan
    far[3, 11] = far[12, 0] = np.inf
    far[5, 20] = -np.inf
    order = rng.permutation(TEMPLATES)
    mask = np.where(labels[:, None] == labels, 2, 1).astype(np.uint8)
    mask[1, 5:9] = 0
    scores = functools.partial(be.Scores, probe_labels=labels, probe_meta=meta)
    points = rng.normal(size=(len(SIZES), 6))[labels] + 0.6 * rng.normal(size=(TEMPLATES, 6))
    whole = scores(values)
    return {
        "float64": whole,
        "float32": scores(values.astype(np.float32)),
        "float16": scores(values.astype(np.float16)),
        "similarity": scores(-values, kind="similarity"),
        "excluded": scores(holes, nan="exclude"),
        "rejected": scores(failed, nan="reject"),
        "ties and infinities": scores(far),
        "mask": scores(values, mask=mask),
        "streamed": be.Scores.from_embeddings(points, labels, probe_meta=meta, dtype="float32"),
        "interleaved": be.Scores(
            values[np.ix_(order, order)], labels[order], probe_meta=_chosen(meta, order)
        ),
        "selected": whole.select(probes=order[:20], gallery=np.sort(order[3:])),
    }


def _chosen(meta, index):
    return {name: column[index] for name, column in meta.items()}


folds = be.partition.RepeatedSubjectKFold(3, n_repeats=2, random_state=1)
by_sample = be.partition.SampleKFold(3, shuffle=True, random_state=1)
experiment = be.partition.Experiment(
    0.5, gallery_templates=1, too_few="enrol", repeats=2, random_state=1
)

CALLS = {
    "folds": lambda s, **k: be.cross_evaluate(s, folds, threshold=("far", 0.1), **k),
    "folds of multi-template": lambda s, **k: be.cross_evaluate(
        s, folds, templates="multi", fusion="mean", far_targets=(0.1,), **k
    ),
    "folds of samples": lambda s, **k: be.cross_evaluate(
        s, by_sample, templates="multi", threshold="hter", **k
    ),
    "groups": lambda s, **k: be.by_group(s, "sex", **k),
    "groups of multi-template": lambda s, **k: be.by_group(s, "sex", templates="multi", **k),
}

# Of the first system alone.
MORE = {
    "open set": lambda s, **k: be.cross_evaluate(s, folds, task="open_set", **k),
    "closed set": lambda s, **k: be.cross_evaluate(
        s, folds, task="closed_set", rank_unit="subject", **k
    ),
    "claims": lambda s, **k: be.cross_evaluate(
        s, folds, claims=be.partition.ClaimSampler(2, genuine=0.3, random_state=1), **k
    ),
    "experiment": lambda s, **k: be.cross_evaluate(s, experiment, interval="quantile", **k),
    "by probe": lambda s, **k: be.cross_evaluate(
        s, be.partition.SubjectShuffleSplit(2, test_size=0.4, random_state=1), **k
    ),
    # Thresholds that are chosen anew without each person are counted in one process.
    "interval in folds": lambda s, **k: be.cross_evaluate(
        s, folds, threshold=1.0, interval="subject-bootstrap", replicates=100, **k
    ),
    "interval by group": lambda s, **k: be.by_group(
        s, "sex", interval="subject-bootstrap", replicates=100, **k
    ),
    "study": lambda s, **k: be.study_threshold(s, "eer", folds=3, repeats=2, replicates=100, **k),
}


def in_blocks(seed):
    """Return an executor that counts random blocks in random order, some of them twice."""
    rng = np.random.default_rng(seed)
    cuts = rng.choice(TEMPLATES, rng.integers(0, 9))
    return BlockExecutor(Shuffled(cuts, rng.permutation(TEMPLATES), rng.random(9) < 0.3))


def require_same(call, scores, seed):
    """Raise unless a call gives the same in blocks as in one process."""
    expected = call(scores)
    with computed_by(in_blocks(seed)):
        result = call(scores)
    xr.testing.assert_identical(result, expected)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("system", systems())
@pytest.mark.cases(1)
def test_any_blocks_in_any_order_give_the_whole(system, name):
    require_same(CALLS[name], systems()[system], len(system) + len(name))


@pytest.mark.parametrize("name", MORE)
@pytest.mark.cases(4)
def test_every_task_in_any_blocks(name):
    require_same(MORE[name], systems()["float64"], len(name))


@pytest.mark.parametrize("system", ["float32", "ties and infinities", "interleaved"])
@pytest.mark.parametrize("name", ["folds", "groups"])
@pytest.mark.cases(1)
def test_crowded_bins_are_divided_and_collected_in_blocks(monkeypatch, name, system):
    expected = CALLS[name](systems()[system])
    monkeypatch.setattr(sweep, "REFINE", 1)
    monkeypatch.setattr(sweep, "REFINE_SHARE", 0.0)
    monkeypatch.setattr(passes, "FEW", 0)
    made = []
    for one in (passes.CountPass, passes.RangePass, passes.CollectPass):
        note_passes(monkeypatch, one, made)
    with computed_by(in_blocks(3)):
        xr.testing.assert_identical(CALLS[name](systems()[system]), expected)
    assert made.count("CountPass") > 1
    assert ("RangePass" in made) == (name == "groups")


def note_passes(monkeypatch, one, made):
    whole = one.whole

    def noted(self):
        made.append(type(self).__name__)
        return whole(self)

    monkeypatch.setattr(one, "whole", noted)


@pytest.mark.slow
def test_large_parts_are_counted_in_blocks(monkeypatch):
    expected = CALLS["folds of samples"](systems()["float64"])
    monkeypatch.setattr(parts, "MOST_LISTED", 1)
    require_same(CALLS["folds of samples"], systems()["float64"], 1)
    xr.testing.assert_identical(CALLS["folds of samples"](systems()["float64"]), expected)


def collected(values, monkeypatch):
    """Return what a block sends of collected scores, of two partitions."""
    monkeypatch.setattr(passes, "FEW", 10)
    scores = be.Scores(values, np.arange(len(values)) // 2)
    rows = FoldRowReader(BlockReader(scores), "single", "min")
    code = np.arange(len(values)) % 2
    windows = passes.RowWindows(
        np.array([0, 1]), np.array([np.nan]), np.array([np.inf]), values.size
    )
    two = [DivisionIntoFolds(code, code), DivisionIntoFolds(code, 1 - code)]
    result = passes.CollectPass(rows, two, windows, None, values.dtype).part(0, len(values))
    return sum(map(len, result["kept"]["0"].arrays)), result["joined"]["1"]["2"].arrays


@pytest.mark.slow
def test_equal_scores_are_joined_before_they_are_sent(monkeypatch):
    rng = np.random.default_rng(0)
    kept, weights = collected(rng.integers(0, 3, (40, 40)).astype(np.float32), monkeypatch)
    assert kept == 0
    assert len(weights[0]) == 3 * 4  # values times pairs of folds
    assert weights[0].sum() == 40 * 38
    kept, weights = collected(rng.random((40, 40), dtype=np.float32), monkeypatch)
    assert (kept, weights) == (40 * 38, ())


def test_what_is_sent_does_not_grow_with_what_was_counted(monkeypatch):
    """Of a collecting pass: neither the counts nor the genuine scores of the passes before."""
    sent, part = [], FoldPass.part

    def noted(self, low, high):
        sent.append(len(cloudpickle.dumps(self.partitions)))
        assert pickle.loads(cloudpickle.dumps(self)).step == self.step
        return part(self, low, high)

    monkeypatch.setattr(FoldPass, "part", noted)
    with computed_by(in_blocks(1)):
        CALLS["folds"](systems()["float64"])
    assert max(sent) - min(sent) < 64  # the number of folds is found once


# ------------------------------------------------------------------------------ checkpoints


class _Interrupted(Exception):
    """Stands for whatever ends a run."""


@pytest.fixture
def of_eight_rows(monkeypatch):
    """Let a checkpoint keep blocks of eight rows, and note those that are counted."""
    counted, begin = [], Checkpoint.begin
    monkeypatch.setattr(BlockReader, "rows_per_block", lambda self: 8)

    def noted(self, work, ranges):
        result = begin(self, work, ranges)
        counted.append((self.passes, tuple(result.missing)))
        return result

    monkeypatch.setattr(Checkpoint, "begin", noted)
    return counted


@pytest.mark.parametrize("name", ["folds", "groups"])
@pytest.mark.parametrize("after", [1, 3, 5])
@pytest.mark.cases(1)
def test_a_run_goes_on_where_it_was_interrupted(tmp_path, of_eight_rows, name, after):
    scores, folder = systems()["float64"], tmp_path / "kept"
    expected = CALLS[name](scores)

    def progress(done, total):
        if len(list(folder.glob("0*.part"))) >= after:
            raise _Interrupted

    with pytest.raises(_Interrupted):
        CALLS[name](scores, checkpoint=folder, progress=progress)
    assert len(list(folder.glob("0*.part"))) == after
    del of_eight_rows[:]
    xr.testing.assert_identical(CALLS[name](scores, checkpoint=folder), expected)
    blocks = -(-TEMPLATES // 8)
    assert sum(len(missing) for _, missing in of_eight_rows) == 2 * blocks - after
    del of_eight_rows[:]
    xr.testing.assert_identical(CALLS[name](scores, checkpoint=folder), expected)
    assert not any(missing for _, missing in of_eight_rows)


@pytest.mark.parametrize("name", [*CALLS, *MORE])
@pytest.mark.cases(1)
def test_with_a_checkpoint_it_is_the_same_the_first_time_and_again(tmp_path, name, of_eight_rows):
    call, scores = {**CALLS, **MORE}[name], systems()["float64"]
    expected = call(scores)
    for _ in range(2):
        xr.testing.assert_identical(call(scores, checkpoint=tmp_path / "kept"), expected)
    passes_made = len(of_eight_rows) // 2
    assert all(missing for _, missing in of_eight_rows[:passes_made])
    assert not any(missing for _, missing in of_eight_rows[passes_made:])


@pytest.mark.parametrize("name", ["folds", "groups", "experiment", "folds of samples"])
@pytest.mark.parametrize("cell", [(TEMPLATES - 1, 0), (13, 4)])
@pytest.mark.cases(1)
def test_a_single_other_score_is_refused(tmp_path, name, cell):
    call, scores = {**CALLS, **MORE}[name], systems()["float64"]
    call(scores, checkpoint=tmp_path / "kept")
    values = np.array(scores.values)
    values[cell] = values[cell[::-1]] = np.nextafter(values[cell], np.inf)
    other = be.Scores(values, scores.probe_labels, probe_meta=dict(scores.probe_meta))
    with pytest.raises(be.CheckpointError, match="is the checkpoint of other"):
        call(other, checkpoint=tmp_path / "kept")


@pytest.mark.slow
@pytest.mark.parametrize(
    "splitter",
    [
        lambda: be.partition.SubjectKFold(3, shuffle=True, random_state=None),
        lambda: be.partition.Experiment(0.5, gallery_templates=1, random_state=None),
    ],
)
def test_other_folds_are_refused(tmp_path, splitter):
    scores = be.simulate(20, 2, random_state=1)
    be.cross_evaluate(scores, splitter(), interval="quantile", checkpoint=tmp_path)
    with pytest.raises(be.CheckpointError, match="random_state") as raised:
        be.cross_evaluate(scores, splitter(), interval="quantile", checkpoint=tmp_path)
    assert "other folds" in str(raised.value)


def test_other_claims_are_refused(tmp_path):
    scores, claims = be.simulate(20, 2, random_state=1), be.partition.ClaimSampler
    be.verification(scores, claims=claims(1, random_state=1), checkpoint=tmp_path / "same")
    be.verification(scores, claims=claims(1, random_state=1), checkpoint=tmp_path / "same")
    be.verification(scores, claims=claims(1, random_state=None), checkpoint=tmp_path / "new")
    with raises_about(be.CheckpointError, "random_state", "key", "checkpoint"):
        be.verification(scores, claims=claims(1, random_state=None), checkpoint=tmp_path / "new")


# ---------------------------------------------------------------------------------- clusters


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of processes that end
def test_two_processes_give_what_one_gives(tmp_path, monkeypatch):
    """Rows of memory are sent, those of a file are read where they are counted."""
    monkeypatch.undo()
    distributed = optional_import("distributed")
    made = be.simulate(200, 5, random_state=1)
    np.save(tmp_path / "scores.npy", np.asarray(made.values, dtype=np.float32))
    mapped = np.load(tmp_path / "scores.npy", mmap_mode="r")
    sex = np.asarray(made.probe_labels) % 2
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for scores in (made, be.Scores(mapped, made.probe_labels)):
            for call in (
                lambda scores, **place: be.cross_evaluate(scores, folds, **place),
                lambda scores, **place: be.by_group(scores, (sex, sex), **place),
            ):
                xr.testing.assert_identical(call(scores, client=client), call(scores))

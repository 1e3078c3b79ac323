"""Evaluations on a cluster give what one process gives, to the last bit."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from named_arguments import raises_about

import bioeval as be
from bioeval.base.errors import EngineError
from bioeval.base.executors import computed_by
from bioeval.base.studies import manifests
from bioeval.cli import main
from bioeval.cli.cluster_options import started_cluster
from bioeval.evaluation.blocks.cluster import ClusterWorkers
from bioeval.evaluation.blocks.executor import BlockExecutor
from bioeval.tallies.matrix_pass import MatrixPass
from tests.optional import optional_import

distributed = optional_import("distributed")


@pytest.fixture(scope="module")
def client():
    """Two workers in this process."""
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as result:
        yield result


@pytest.fixture(autouse=True)
def blocks_are_small(monkeypatch):
    """Rows are read few at a time, so that there are many blocks."""
    monkeypatch.setattr("bioeval.scores.blocks.BLOCK_VALUES", 1200)
    if "zoo" in manifests():
        monkeypatch.setattr("bioeval.studies.zoo.counts.CHUNK_CELLS", 0)
        monkeypatch.setattr("bioeval.studies.zoo.counts.CHUNK_ROWS", 16)


def embeddings(seed=0):
    """Return points around the centres of 40 subjects, three each, and their subjects."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(40, 1, 8))
    points = (centres + 0.6 * rng.normal(size=(40, 3, 8))).reshape(-1, 8)
    return points, np.repeat(np.arange(40), 3)


def systems(tmp_path):
    """Return scores of every kind of source."""
    square = be.simulate(30, 4, random_state=1)
    values, labels = np.asarray(square.values), square.probe_labels
    holes = values.copy()
    holes[3, 7] = holes[50, 2] = np.nan
    points, who = embeddings()
    mapped = np.lib.format.open_memmap(tmp_path / "s.npy", "w+", np.float32, values.shape)
    mapped[:] = values
    mapped.flush()
    rng = np.random.default_rng(5)
    mask = np.where(labels[:, None] == labels, 2, 1) * (rng.random(values.shape) < 0.9)
    camera = rng.integers(0, 3, len(labels))
    return {
        "square": square,
        "selection": square.select(probes=rng.permutation(120)[:70], gallery=range(10, 120)),
        "similarity": be.Scores(-values[:80], labels[:80], labels, kind="similarity"),
        "float16": be.Scores(values.astype(np.float16), labels),
        "holes": be.Scores(holes, labels, nan="exclude"),
        "ties": be.Scores(np.round(values, 1), labels),
        "mask": be.Scores(values, labels, mask=mask.astype(np.uint8)),
        "excluding": be.Scores(
            values, labels, probe_meta={"session": camera}, exclude=("session",)
        ),
        "mapped": be.Scores(np.load(tmp_path / "s.npy", mmap_mode="r"), labels),
        **stored(tmp_path, square),
        "streamed": be.Scores.from_embeddings(points, who, memory_limit=60_000, dtype="float32"),
        "names": be.Scores(values, [f"person {x}" for x in labels]),
    }


def stored(tmp_path, scores):
    """Return scores that are left in files."""
    be.save(scores, tmp_path / "scores.h5")
    return {"scores.h5": be.load(tmp_path / "scores.h5")}


NAMES = (
    *("square", "selection", "similarity", "float16", "holes", "ties", "mask", "excluding"),
    *("mapped", "scores.h5", "streamed", "names"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.cases(1)
def test_a_card_on_a_cluster_is_that_of_one_process(client, tmp_path, name):
    scores = systems(tmp_path)[name]
    expected = be.evaluate(scores, thresholds=30)
    with computed_by(BlockExecutor(ClusterWorkers(client), rows=17)):
        result = be.evaluate(scores, thresholds=30)
    assert result.identical(expected)


def reid_scores():
    values = np.asarray(be.simulate(20, 6, random_state=3).values, dtype=np.float32)
    labels, camera = np.repeat(np.arange(20), 6), np.tile([0, 1, 2], 40)
    probes = np.arange(0, 120, 6)
    rest = np.setdiff1d(np.arange(120), probes)
    meta = {"probe_meta": {"camera": camera[probes]}, "gallery_meta": {"camera": camera[rest]}}
    return be.Scores(values[np.ix_(probes, rest)], labels[probes], labels[rest], **meta)


FOLDS = be.partition.SubjectKFold(3, shuffle=True, random_state=1)


def streamed():
    points, who = embeddings()
    return be.Scores.from_embeddings(points, who, memory_limit=60_000, dtype="float32")


def two_systems():
    """Return a matrix with failed comparisons, and embeddings of the same people."""
    values = np.asarray(be.simulate(40, 3, random_state=2).values).copy()
    values[3, 7] = values[50, 2] = values[50, 3] = np.nan
    first = be.Scores(values, np.repeat(np.arange(40), 3), nan="exclude")
    return first, streamed()


def digests(scores, **place):
    """Return what the probes are known by, wherever they are counted."""
    return xr.DataArray(be.tally(scores, **place).counted.scores)


CALLS = {
    "tally": lambda **place: be.tally(be.simulate(30, 4), points=True, **place).tree(),
    "digests": lambda **place: digests(be.simulate(30, 4), **place),
    "digests of embeddings": lambda **place: digests(streamed(), **place),
    "verification": lambda **place: be.verification(be.simulate(30, 4), **place),
    "claims": lambda **place: be.verification(
        be.simulate(30, 4), claims=be.partition.ClaimSampler(2, random_state=1), **place
    ),
    "fused": lambda **place: be.verification(
        be.simulate(30, 4), templates="multi", fusion="mean", thresholds=[0.2, 0.5], **place
    ),
    "open_set": lambda **place: be.open_set(be.simulate(30, 4), rank_unit="subject", **place),
    "single": lambda **place: be.open_set(
        be.simulate(10, 3), gallery="single", thresholds=[0.3, 0.6], **place
    ),
    "closed_set": lambda **place: be.closed_set(be.simulate(30, 4), ties="expected", **place),
    "reid": lambda **place: be.reid(reid_scores(), thresholds=[0.2, 0.4], **place),
    "cuhk03": lambda **place: be.reid(reid_scores(), "cuhk03", **place),
    "gom": lambda **place: be.gom(reid_scores(), budget=20, **place),
    "interval": lambda **place: be.closed_set(
        be.simulate(30, 4), interval="subject-bootstrap", replicates=100, **place
    ),
    "folds": lambda **place: be.cross_evaluate(be.simulate(30, 4), FOLDS, **place),
    "folds without each person": lambda **place: be.cross_evaluate(
        be.simulate(30, 4),
        be.partition.RepeatedSubjectKFold(3, n_repeats=2, random_state=1),
        threshold=("far", 0.02),
        interval="subject-bootstrap",
        **place,
    ),
    "fused folds without each person": lambda **place: be.cross_evaluate(
        streamed(), FOLDS, templates="multi", interval="subject-bootstrap", **place
    ),
    "folds at a given threshold": lambda **place: be.cross_evaluate(
        be.simulate(30, 4), FOLDS, threshold=0.3, interval="subject-bootstrap", **place
    ),
    "identification in folds": lambda **place: be.cross_evaluate(
        be.simulate(30, 4), FOLDS, task="open_set", **place
    ),
    "card with folds": lambda **place: be.evaluate(be.simulate(30, 4), "course-kfold", **place),
    "groups": lambda **place: be.by_group(be.simulate(30, 4), np.arange(120) // 4 % 3, **place),
    "resampled": lambda **place: be.verification(
        be.simulate(30, 4), interval="subject-bootstrap", replicates=100, **place
    ),
    "resampled claims": lambda **place: be.verification(
        be.simulate(30, 4),
        claims=be.partition.ClaimSampler(2, random_state=1),
        interval="subject-bootstrap",
        replicates=100,
        **place,
    ),
    "card with intervals": lambda **place: be.evaluate(
        be.simulate(30, 4), interval="subject-bootstrap", replicates=100, **place
    ),
    "zoo": lambda **place: be.zoo(be.simulate(30, 4), permutations=20, **place),
    "zoo of embeddings": lambda **place: be.zoo(
        streamed(), threshold=0.5, templates="multi", permutations=20, **place
    ),
    "compare": lambda **place: be.compare(*two_systems(), replicates=100, **place),
    "compare reid": lambda **place: be.compare(
        reid_scores(), reid_scores(), protocol="market1501", replicates=100, **place
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.cases(1)
def test_a_task_on_a_cluster_is_that_of_one_process(client, name):
    assert CALLS[name](client=client).identical(CALLS[name]())


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.cases(2)
def test_a_task_with_a_checkpoint_is_that_of_one_process(tmp_path, name):
    expected = CALLS[name]()
    for _ in range(2):
        assert CALLS[name](checkpoint=tmp_path / "kept").identical(expected)


def union(scores, protocol, place):
    """Return the result of a gallery in two parts; `place` gives the arguments of each step."""
    from bioeval.studies.sites.gallery_parts import best_mates

    odd = np.asarray(scores.gallery_labels) % 2
    parts = {x: scores.select(gallery=np.flatnonzero(odd == i)) for i, x in enumerate("ab")}
    mates = [
        best_mates(part, protocol, site=site, **place(f"mates {site}"))
        for site, part in parts.items()
    ]
    both = mates[0].merge(mates[1])
    one, other = (
        be.tally(part, protocol, mates=both, site=site, **place(f"tally {site}"))
        for site, part in parts.items()
    )
    return one.merge(other, union_of_galleries=True).tree()


UNIONS = {
    "course-all-vs-all": lambda: be.simulate(30, 4),
    "market1501": reid_scores,
    "gom-market1501": reid_scores,
}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", UNIONS)
@pytest.mark.cases(1)
def test_a_gallery_in_parts_on_a_cluster_is_that_of_one_process(client, tmp_path, protocol):
    scores = UNIONS[protocol]()
    expected = union(scores, protocol, lambda step: {})
    assert union(scores, protocol, lambda step: {"client": client}).identical(expected)
    for _ in range(2):
        kept = union(scores, protocol, lambda step: {"checkpoint": tmp_path / step})
        assert kept.identical(expected)
    assert all(list((tmp_path / step).glob("*.part")) for step in ("mates a", "tally b"))


def test_large_arrays_are_sent_once_and_nothing_is_left_on_a_cluster(client, monkeypatch):
    monkeypatch.setattr("bioeval.evaluation.blocks.sent_passes.LARGE", 1)
    submit, keys = client.submit, []

    def noted(*arguments, key, **options):
        if key.startswith("bioeval-array-"):
            keys.append((key, key in client.futures))
        return submit(*arguments, key=key, **options)

    monkeypatch.setattr(client, "submit", noted)
    scores = be.simulate(30, 4)
    expected = be.cross_evaluate(scores, FOLDS, task="open_set")
    assert be.cross_evaluate(scores, FOLDS, task="open_set", client=client).identical(expected)
    assert any(there for _, there in keys)  # in this case dask sends nothing
    for _ in range(200):  # the client drops them in a thread of its own
        if not client.futures:
            break
        gc.collect()
        time.sleep(0.05)
    assert not client.futures


@pytest.mark.parametrize("times", [2, 999])
def test_counts_that_do_not_come_are_fetched_again(client, monkeypatch, times):
    left, result = itertools.count(times, -1), distributed.Future.result

    def fail(self, timeout=None):
        if next(left) > 0:
            raise OSError("the connection broke")
        return result(self, timeout)

    scores = be.simulate(30, 4)
    expected = be.tally(scores, points=True).tree()
    monkeypatch.setattr(distributed.Future, "result", fail)
    if times == 2:
        assert be.tally(scores, points=True, client=client).tree().identical(expected)
        return
    with pytest.raises(EngineError, match="rows .* do not send the counts"):
        be.tally(scores, points=True, client=client)


@pytest.mark.slow
@pytest.mark.parametrize("times", [2, 999])
@pytest.mark.cases(1)
def test_a_block_that_fails_on_a_worker_is_counted_again(client, monkeypatch, times):
    left, part = itertools.count(times, -1), MatrixPass.part

    def fail(self, low, high):
        if next(left) > 0:
            raise MemoryError("no room\nat all")
        return part(self, low, high)

    scores = be.simulate(30, 4)
    expected = be.tally(scores, points=True).tree()
    monkeypatch.setattr(MatrixPass, "part", fail)
    if times == 2:
        assert be.tally(scores, points=True, client=client).tree().identical(expected)
        return
    message = "rows .* failed on a worker: MemoryError: no room at all"
    with pytest.raises(EngineError, match=message):
        be.tally(scores, points=True, client=client)


@pytest.mark.slow
def test_a_cluster_without_workers_is_given_up(monkeypatch):
    monkeypatch.setattr("bioeval.evaluation.blocks.cluster.LOST", 0.2)
    options = {"processes": False, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(n_workers=0, **options) as cluster,
        distributed.Client(cluster, timeout="0.5s") as alone,
        pytest.raises(EngineError, match="has had no worker for 0 seconds; wait for some"),
    ):
        be.tally(be.simulate(30, 4), client=alone)


@pytest.mark.slow
def test_processes_of_their_own_count_the_same():
    with distributed.Client(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as processes:
        for name in (
            *("resampled", "card with intervals", "zoo", "compare"),
            "folds without each person",
        ):
            assert CALLS[name](client=processes).identical(CALLS[name]()), name


@pytest.mark.parametrize("command", [["zoo"], ["compare", "b.npz"], ["run"]])
@pytest.mark.cases(1)
def test_a_command_on_a_cluster_with_a_checkpoint_says_the_same(
    client, tmp_path, monkeypatch, capsys, command
):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("a.npz", 1), ("b.npz", 2)):
        be.save(be.simulate(12, 3, random_state=seed), name)
    arguments = [command[0], "a.npz", *command[1:], "--json"]
    if command != ["zoo"]:
        arguments += ["--replicates", "100"]
    if command == ["run"]:
        arguments += ["--interval", "subject-bootstrap"]
    assert main(arguments) == 0
    alone = capsys.readouterr().out
    started = "bioeval.cli.cluster_options.started_cluster"
    monkeypatch.setattr(started, lambda workers: contextlib.nullcontext(client))
    monkeypatch.setattr("bioeval.cli.cluster_options._faster_here", lambda *_: "")
    assert main([*arguments, "--workers", "2", "--checkpoint", "kept"]) == 0
    assert capsys.readouterr().out == alone
    assert list(Path("kept").glob("*.part"))


def test_what_cannot_be_distributed_is_an_error(client):
    with pytest.raises(EngineError, match="cannot be distributed"):
        be.verification(be.simulate(20, 4), interval="analytic", client=client)


def test_lists_and_trained_systems_are_not_distributed(client):
    pairs = be.Scores.from_pairs([0.1, 0.8, 0.4], [True, False, True])
    for call in (
        lambda: be.verification(pairs, client=client),
        lambda: be.cross_evaluate(pairs, FOLDS, client=client),
        lambda: calibrated(client=client),
        lambda: be.verification(visits(), attempts="visit", client=client),
    ):
        with pytest.raises(EngineError, match="cannot be distributed"):
            call()


def calibrated(**place):
    return be.cross_evaluate(be.simulate(20, 4), FOLDS, estimator=be.Calibrator(), **place)


def visits():
    labels = np.repeat(np.arange(10), 4)
    meta = {"visit": np.tile([1, 1, 2, 2], 10)}
    return be.Scores(np.asarray(be.simulate(10, 4).values), labels, probe_meta=meta)


@pytest.mark.parametrize(
    "call",
    [
        lambda **place: be.verification(visits(), attempts="visit", thresholds=9, **place),
        lambda **place: be.closed_set(be.simulate(9, 3), gallery="single", **place),
        lambda **place: be.verification(be.simulate(20, 4), interval="analytic", **place),
        calibrated,
    ],
)
@pytest.mark.cases(1)
def test_what_has_no_blocks_is_evaluated_beside_a_checkpoint(tmp_path, call):
    assert call(checkpoint=tmp_path / "kept").identical(call())


def test_an_error_of_the_scores_is_that_of_one_process(client):
    values = np.asarray(be.simulate(30, 4).values).copy()
    values[100, 3] = values[110, 5] = np.nan
    scores = be.Scores(values, np.repeat(np.arange(30), 4))
    with pytest.raises(be.DataError, match="hold 2 NaN, the first at row 100, column 3"):
        be.tally(scores, client=client)


def test_a_client_is_one_of_distributed():
    with raises_about(be.DataError, "client"):
        be.tally(be.simulate(5, 2), client="tcp://localhost:8786")


@pytest.mark.slow
def test_starting_workers_leaves_the_threads_of_kernels_here_alone(monkeypatch):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    with started_cluster(1) as started:
        assert "NUMBA_NUM_THREADS" not in os.environ
        assert started.submit(int).result() == 0

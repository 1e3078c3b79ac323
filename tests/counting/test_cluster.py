"""The workers of a cluster: the same results, to the last bit, and errors that say what to do."""

import os
import signal
import sys

import h5py
import numpy as np
import pytest
from limits import blocks_of
from optional import optional_import

import bioeval as be
from bioeval.cli import main

distributed = optional_import("distributed")

RNG = np.random.default_rng(1)
LABELS = np.repeat(np.arange(300), 4)
SAME = LABELS[:, None] == LABELS
VALUES = (RNG.normal(3, 1, SAME.shape) - 2.5 * SAME).astype(np.float32)
CAMERAS = {"camera": np.arange(len(LABELS)) % 3}
OF_EMBEDDINGS = np.repeat(np.arange(300), 5)
EMBEDDINGS = (RNG.normal(size=(300, 32))[OF_EMBEDDINGS] + RNG.normal(size=(1500, 32))).astype("f4")


@pytest.fixture(scope="module")
def client():
    """Two workers of one thread each, which have the paths of this process."""
    before, path = os.environ.get("PYTHONPATH"), os.pathsep.join(filter(None, sys.path))
    os.environ["PYTHONPATH"] = path
    try:
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


@pytest.fixture
def looks(monkeypatch):
    """The requests to workers; a test without requests fails."""
    from bioeval.counting import cluster

    requests = []

    ask = cluster.Workers.ask
    monkeypatch.setattr(
        cluster.Workers, "ask", lambda self, *x: requests.append(x) or ask(self, *x)
    )
    return requests


def assert_same_bits(one, other):
    assert one.identical(other)
    nodes = (
        zip(one.subtree, other.subtree, strict=True) if hasattr(one, "subtree") else [(one, other)]
    )
    for first, second in nodes:
        for name in first.variables:
            value, other_value = np.asarray(first[name]), np.asarray(second[name])
            assert value.dtype == other_value.dtype
            assert value.dtype.kind not in "fi" or value.tobytes() == other_value.tobytes(), name


def local_and_remote(client, call):
    """Return the results of a call here and on workers."""
    local = call()
    with be.set_options(client=client):
        return local, call()


def with_nan():
    values = VALUES.copy()
    values[[5, 700], [300, 2]] = np.nan
    return values


def square(values=VALUES, **options):
    return be.Scores(values, LABELS, probe_meta=CAMERAS, **options)


def embedded(*sides, **options):
    """Embeddings of all people, or of some people against other people, seen by cameras."""
    (embeddings, subject), *gallery = ((EMBEDDINGS[some], OF_EMBEDDINGS[some]) for some in sides)
    meta = {"probe_meta": {"camera": np.arange(len(subject)) % 3}}
    if gallery:
        meta |= dict(zip(("gallery", "gallery_labels"), *gallery, strict=True))
        meta["gallery_meta"] = {"camera": np.arange(len(gallery[0][1])) % 5}
    return be.Scores.from_embeddings(embeddings, subject, **meta, **options)


def against_gallery():
    sides = {"probe_meta": CAMERAS, "gallery_meta": {"camera": CAMERAS["camera"][80:]}}
    return be.Scores(VALUES[:, 80:], LABELS, LABELS[80:], **sides)


CASES = {
    "memory": lambda folder: square(),
    "float64": lambda folder: square(VALUES.astype(float)),
    "similarities": lambda folder: square(-VALUES, kind="similarity"),
    "nan": lambda folder: square(with_nan(), nan="reject"),
    "exclude": lambda folder: square(exclude="camera"),
    "gallery": lambda folder: against_gallery(),
    "mapped": lambda folder: be.Scores(mapped(folder), LABELS),
    "part of mapped": lambda folder: be.Scores(mapped(folder)[8:, :900], LABELS[8:], LABELS[:900]),
    "transposed": lambda folder: be.Scores(mapped(folder).T, LABELS),
    "private": lambda folder: be.Scores(mapped(folder, "c"), LABELS),
    "HDF5": lambda folder: be.Scores(stored(folder), LABELS),
    "compressed": lambda folder: be.load(compressed(folder)),
    "embeddings": lambda folder: embedded(slice(None)),
    "probes": lambda folder: embedded(slice(700), slice(300, None)),
    "function": lambda folder: embedded(
        slice(None), metric=lambda a, b: a @ b.T, kind="similarity"
    ),
}


def mapped(folder, mode="r"):
    np.save(folder / "x.npy", VALUES)
    return np.load(folder / "x.npy", mmap_mode=mode)


def stored(folder):
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("x", data=VALUES, chunks=(100, 300))
    return h5py.File(folder / "x.h5", "r")["x"]


def compressed(folder):
    np.savez_compressed(folder / "x.npz", scores=VALUES, probe_labels=LABELS)
    return folder / "x.npz"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("limit", [None, "80 MiB"])
def test_results_are_the_same(client, looks, case, limit, tmp_path):
    with be.set_options(memory_limit=limit):
        scores = CASES[case](tmp_path)
        assert_same_bits(*local_and_remote(client, lambda: be.evaluate(scores)))
    assert looks


@pytest.mark.slow
def test_intervals_are_the_same(client, looks):
    method = be.stats.IntervalMethod("subject-bootstrap", replicates=100, random_state=0)
    assert_same_bits(*local_and_remote(client, lambda: be.verification(square(), interval=method)))
    assert looks


@pytest.mark.slow
@pytest.mark.parametrize(
    "count",
    [
        lambda scores: be.cross_evaluate(
            scores, be.partition.SubjectKFold(3), threshold="far=0.01"
        ),
        lambda scores: be.by_group(scores, "camera", threshold="far=0.01"),
        lambda scores: be.verification(scores, auc=False),
    ],
    ids=["folds", "groups", "verification"],
)
def test_answers_on_several_parts_are_added(client, looks, count, monkeypatch):

    def quarters(self, number):
        rows = self.scores.shape[0]
        return [range(low, min(low + 300, rows)) for low in range(0, rows, 300)]

    monkeypatch.setattr("bioeval.counting.parts.RowParts.parts", quarters)
    assert_same_bits(*local_and_remote(client, lambda: count(square())))
    assert looks


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["market1501", "identity-dedup", "cuhk03", "open-reid"])
@pytest.mark.parametrize("case", ["memory", "similarities", "gallery", "embeddings", "probes"])
def test_re_identification_has_the_same_results(client, looks, case, convention, tmp_path):
    options = {"thresholds": [2.0, 3.0]} if convention == "open-reid" else {}
    scores = CASES[case](tmp_path)
    assert_same_bits(*local_and_remote(client, lambda: be.reid(scores, convention, **options)))
    assert looks


@pytest.mark.slow
def test_another_look_has_what_the_workers_got(client, looks, monkeypatch, tmp_path):
    """Workers read the genuine scores of a file, cells, and the scores near the points."""
    sent = []
    from bioeval.counting.cluster import Sent

    make = Sent.__init__
    monkeypatch.setattr(Sent, "__init__", lambda self, *x: sent.append(1) or make(self, *x))
    with be.set_options(memory_limit="80 MiB"):
        scores = CASES["HDF5"](tmp_path)
    assert_same_bits(*local_and_remote(client, lambda: be.verification(scores)))
    assert len(looks) == 3 and len(sent) == 1


@pytest.mark.slow
def test_errors_are_those_of_one_process(client, looks, tmp_path):
    scores = be.Scores(with_nan(), LABELS)
    with pytest.raises(be.DataError) as local:
        be.evaluate(scores)
    with be.set_options(client=client), pytest.raises(be.DataError) as remote:
        be.evaluate(scores)
    assert looks and str(remote.value) == str(local.value)
    assert_same_bits(*local_and_remote(client, lambda: be.evaluate(be.Scores(VALUES, LABELS))))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a file that is open is not removed there")
@pytest.mark.parametrize("case", ["mapped", "HDF5"])
def test_a_file_that_workers_lack_is_named(client, case, tmp_path):
    with be.set_options(client=client, memory_limit="80 MiB"):
        scores = CASES[case](tmp_path)
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(be.DataError, match=r"a worker of the cluster cannot read.*x\.(npy|h5)"):
            be.evaluate(scores)


@pytest.mark.slow
def test_other_versions_are_refused(client, monkeypatch):
    from bioeval.counting import cluster

    monkeypatch.setattr(cluster, "__version__", "0.0")
    with (
        be.set_options(client=client),
        pytest.raises(be.DataError, match=f"has bioeval {be.__version__}.* by 0.0"),
    ):
        be.evaluate(be.Scores(VALUES, LABELS))


@pytest.mark.slow
def test_an_address_without_a_scheduler_is_one_line(tmp_path, capsys, monkeypatch):
    from bioeval.cli.commands import run

    monkeypatch.setattr(run, "_PATIENCE", 1)
    be.save(be.simulate(20, 4, random_state=1), tmp_path / "x.npz")
    assert main(["run", str(tmp_path / "x.npz"), "--cluster", "tcp://127.0.0.1:9"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--cluster tcp://127.0.0.1:9: no scheduler" in line


def test_a_missing_package_is_named_with_its_extra(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["run", "x.npz", "--cluster", "tcp://127.0.0.1:9"]) == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert "[cluster]" in line


@pytest.mark.slow
def test_small_scores_stay_here(looks):
    with blocks_of(listed=1 << 18), be.set_options(client=Nothing()):  # as users have it
        be.evaluate(be.simulate(20, 4, random_state=1))
    assert not looks


class Nothing:
    """A client that is never used."""

    def submit(self):
        raise AssertionError

    scatter = submit


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_a_worker_that_ends_loses_nothing(client, looks):
    """The worker is killed after the first part of the tiles."""
    with be.set_options(memory_limit="60 MiB"):
        scores = be.Scores.from_embeddings(EMBEDDINGS, OF_EMBEDDINGS)
    local, pids = be.evaluate(scores), list(client.run(os.getpid).values())

    def kill(done: int, rows: int) -> None:
        if len(pids) > 1:
            os.kill(pids.pop(), signal.SIGKILL)

    with be.set_options(client=client, progress=kill):
        remote = be.evaluate(scores)
    assert looks and len(pids) == 1
    assert_same_bits(local, remote)


@pytest.mark.slow
def test_progress_is_in_probes(client, looks):
    done: list[tuple[int, int]] = []
    with be.set_options(client=client, progress=lambda *rows: done.append(rows)):
        be.verification(against_gallery())
    assert looks and done[-1] == (1200, 1200) and {rows for _, rows in done} == {1200}


@pytest.mark.slow
def test_a_client_that_is_closed_is_named(client):
    with distributed.Client(client.scheduler.address, set_as_default=False) as second_client:
        pass
    with (
        be.set_options(client=second_client),
        pytest.raises(be.DataError, match="`client` is closed"),
    ):
        be.evaluate(be.Scores(VALUES, LABELS))

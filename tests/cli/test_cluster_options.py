"""Commands in blocks: the same output with a checkpoint, again from it, and on a cluster."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.__main__ import main
from bioeval.cli import cluster_options
from bioeval.cli.cluster_options import _undisturbed
from bioeval.evaluation.blocks.checkpoint import KeptPass
from tests.optional import optional_import


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "s.npz"
    made = be.simulate(20, 4, random_state=2)
    meta = {
        "sex": np.array(["f", "m"])[np.asarray(made.probe_labels) % 2],
    }
    be.save(be.Scores(made.values, made.probe_labels, probe_meta=meta), path)
    return str(path)


COMMANDS = {
    "groups": ["--by", "sex"],
    "threshold": ["--folds", "3", "--repeats", "2", "--replicates", "100"],
    "run": ["--protocol", "course-kfold"],
}


def said(capsys, name, file, *options):
    assert main([name, file, *COMMANDS[name], "--json", *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("absent.json", None, "no such file"), ("odd.json", "[1]", "has no address of a scheduler")],
)
def test_a_scheduler_file_that_is_none(file, tmp_path, capsys, name, text, said):
    optional_import("distributed")
    if text:
        (tmp_path / name).write_text(text)
    assert main(["run", file, "--scheduler", str(tmp_path / name)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (b"", "accepts connections but does not answer"),
        (b"HTTP/1.1 400", "is not a dask scheduler"),
    ],
)
def test_what_is_no_scheduler_is_not_waited_for(file, monkeypatch, capsys, words, said):
    optional_import("distributed")
    monkeypatch.setattr("bioeval.cli.cluster_options._CONNECT", 0.3)
    monkeypatch.setattr("bioeval.cli.cluster_options._ANSWER", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, args=(server, words), daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert main(["run", file, "--scheduler", address]) == 1
    error = capsys.readouterr().err
    assert f"no cluster answers at {address}: " in error and said in error


def answer(server, words):
    """Take connections, and say something."""
    taken = []
    with contextlib.suppress(OSError):
        while True:
            taken.append(server.accept()[0])
            taken[-1].sendall(words)


@pytest.fixture
def not_ignored():
    """Let an interrupt raise, which a background job may ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("not_ignored")
def test_an_interrupt_waits_until_a_cluster_is_started():
    found = []

    def note():
        found.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))

    def run():
        thread = threading.Thread(target=note)
        thread.start()
        thread.join()

    with pytest.raises(KeyboardInterrupt), _undisturbed():
        signal.raise_signal(signal.SIGINT)
        run()
    run()
    assert found == [True, False]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


SLOW = pytest.mark.slow


@pytest.fixture
def _worth_workers(monkeypatch):
    """Workers are started for any number of scores."""
    monkeypatch.setattr(cluster_options, "_faster_here", lambda *_: "")


@SLOW
@pytest.mark.usefixtures("not_ignored")
def test_ctrl_c_while_workers_start_ends_with_one_line(file):
    """The signal goes to all processes of a terminal, as here to the whole group."""
    import psutil

    optional_import("distributed")
    code = (
        "import sys, bioeval.cli, bioeval.cli.cluster_options as options; "
        "options._faster_here = lambda *_: ''; sys.exit(bioeval.cli.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "run", file, "--workers", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        started = psutil.Process(process.pid)
        end = time.monotonic() + 60
        while len(children := started.children(recursive=True)) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error.strip()) == (130, "bioeval: interrupted")
    assert len(children) >= 2
    assert not psutil.wait_procs(children, timeout=20)[1]


@pytest.mark.parametrize("name", ["groups", "run", pytest.param("threshold", marks=SLOW)])
@pytest.mark.cases(1)
def test_a_command_goes_on_from_its_checkpoint(file, tmp_path, capsys, name):
    expected = said(capsys, name, file)
    folder = tmp_path / "kept"
    given = [name, file, *COMMANDS[name], "--json", "--checkpoint", str(folder)]
    for again in (False, True):
        assert main(given) == 0
        shown = capsys.readouterr()
        assert shown.out == expected
        parts = sorted(folder.rglob("*.part"))
        kept = f"{len(parts)} finished block{'s' * (len(parts) > 1)}"
        assert shown.err.startswith(f"bioeval: going on from {kept} in {folder}\n" * again)
        assert again or not shown.err
    assert parts
    parts[0].write_bytes(b"")
    assert main(given) == 0
    shown = capsys.readouterr()
    assert shown.out == expected
    assert f"{parts[0]}: cannot be read" in shown.err and "counted again" in shown.err


@pytest.mark.parametrize(("end", "code"), [(KeyboardInterrupt, 130), (be.EngineError("x"), 1)])
def test_what_a_checkpoint_keeps_is_said_at_an_early_end(
    file, tmp_path, capsys, monkeypatch, end, code
):
    folder, keep = tmp_path / "kept", KeptPass.keep

    def ended(self, part):
        keep(self, part)
        raise end

    monkeypatch.setattr(KeptPass, "keep", ended)
    assert main(["run", file, "--checkpoint", str(folder)]) == code
    said = f"bioeval: {folder} keeps 1 finished block: the same command continues from there\n"
    assert said in capsys.readouterr().err


@SLOW
@pytest.mark.usefixtures("not_ignored")
def test_an_interrupt_of_the_terminal_ends_workers_without_a_word(file):
    """Ctrl-C goes to all processes of a terminal: the command, and its workers."""
    optional_import("distributed")
    assert main(["run", file]) == 0  # compiles, which another process would announce
    text = (
        "import os, signal, sys\n"
        "from bioeval.__main__ import main\n"
        "from bioeval.cli import cluster_options\n"
        "cluster_options._faster_here = lambda *_: ''\n"
        "from bioeval.evaluation.blocks.cluster import ClusterWorkers\n"
        "def interrupt(*_):\n"
        "    os.killpg(os.getpgid(0), signal.SIGINT) or signal.pause()\n"
        "ClusterWorkers._send = interrupt\n"
        "if __name__ == '__main__':\n"
        f"    sys.exit(main(['run', {file!r}, '--workers', '2']))\n"
    )
    script = Path(file).with_name("interrupted.py")
    script.write_text(text)
    ended = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True, text=True, start_new_session=True, timeout=60, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (130, "\nbioeval: interrupted\n")


def test_workers_are_not_started_for_few_scores(file, capsys, monkeypatch):
    started: list[int] = []
    monkeypatch.setattr(cluster_options, "started_cluster", started.append)
    expected = said(capsys, "run", file)
    assert main(["run", file, *COMMANDS["run"], "--json", "--workers", "2"]) == 0
    shown = capsys.readouterr()
    assert shown.out == expected
    assert shown.err == (
        "bioeval: --workers 2: counting in this process, since starting workers would take longer\n"
    )
    assert not started


@pytest.mark.parametrize(
    ("workers", "cores", "threads", "why"),
    [
        (1, 8, 8, "its 1 thread is faster than workers of one thread each"),
        (2, 8, 8, "its 2 threads are faster than workers of one thread each"),
        (4, 2, 2, "its 2 threads are faster than workers of one thread each"),
        (2, 8, 1, ""),
        (4, 8, 8, ""),
    ],
)
def test_two_workers_are_threads_of_this_process(monkeypatch, workers, cores, threads, why):
    monkeypatch.setattr(numba.config, "NUMBA_DEFAULT_NUM_THREADS", cores)
    monkeypatch.setattr(numba, "get_num_threads", lambda: threads)
    matrix = SimpleNamespace(layout="all-against-all", shape=(80_000, 80_000), _streams=False)
    assert cluster_options._faster_here(workers, (matrix,)) == why
    pairs = SimpleNamespace(layout="pairs", shape=(80_000,), _streams=False)
    assert cluster_options._faster_here(workers, (pairs,)) == ""  # refused elsewhere


def test_this_process_counts_on_the_threads_of_the_workers(monkeypatch, caplog):
    monkeypatch.setattr(cluster_options, "_faster_here", lambda *_: "a reason")
    before = numba.get_num_threads()
    options = {"workers": 1, "scheduler": None}
    with (
        caplog.at_level("INFO", "bioeval"),
        cluster_options.executor_from_options(options, print) as place,
    ):
        assert numba.get_num_threads() == 1
    assert not place
    assert numba.get_num_threads() == before
    assert "--workers 1: counting in this process, since a reason" in caplog.text


def test_embeddings_count_by_their_features():
    def streamed(n, features):
        source = SimpleNamespace(features=features)
        return SimpleNamespace(layout="all-against-all", shape=(n, n), _streams=True, _base=source)

    few = cluster_options._too_few
    matrix = SimpleNamespace(layout="all-against-all", shape=(12_000, 12_000), _streams=False)
    assert few((matrix,)) and few((matrix, matrix)) and not few((matrix,) * 20)
    assert few((streamed(16_000, 512),)) and not few((streamed(32_000, 512),))


@SLOW
@pytest.mark.usefixtures("_worth_workers")
def test_what_cannot_be_distributed_is_said_in_options(file, capsys):
    optional_import("distributed")
    assert main(["run", file, "--interval", "analytic", "--workers", "1"]) == 1
    assert "leave out --workers and --scheduler, or" in capsys.readouterr().err


@SLOW
@pytest.mark.usefixtures("_worth_workers")
# Where the machine is busy, distributed leaves a socket to the garbage collector.
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("name", list(COMMANDS))
def test_workers_say_what_one_process_says(file, capsys, name):
    optional_import("distributed")
    assert said(capsys, name, file, "--workers", "2") == said(capsys, name, file)


@SLOW
@pytest.mark.usefixtures("_worth_workers")
def test_the_page_and_gom_of_workers_are_those_of_one_process(tmp_path, monkeypatch, capsys):
    optional_import("distributed")
    monkeypatch.chdir(tmp_path)
    made = be.simulate(30, 4, random_state=1)
    labels, queries = np.asarray(made.probe_labels), np.arange(0, 120, 4)
    gallery = np.flatnonzero((np.arange(120) % 4 != 0) & (labels % 5 != 0))
    values = np.asarray(made.values)[np.ix_(queries, gallery)]
    cameras = {
        "probe_meta": {"camera": np.zeros(len(queries), dtype=int)},
        "gallery_meta": {"camera": np.ones(len(gallery), dtype=int)},
    }
    be.save(be.Scores(values, labels[queries], labels[gallery], **cameras), "reid.npz")
    be.save(made, "s.npz")
    documents, pages = [], []
    for workers in ([], ["--workers", "2"]):
        assert main(["gom", "reid.npz", "--json", *workers]) == 0
        documents.append(capsys.readouterr().out)
        given = ["s.npz", "--out", "page.html", "--force", "--interval", "wilson", *workers]
        assert main(["report", *given]) == 0
        pages.append(Path("page.html").read_text().replace(" --workers 2", ""))
        capsys.readouterr()
    assert documents[0] == documents[1]
    assert pages[0] == pages[1]

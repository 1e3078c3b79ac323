"""Hostile input to the command line: bounds, pipes, full disks and odd names of files."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import fuzz_inputs
import numpy as np
import pytest
from commands import COMMANDS, command_of

import bioeval as be
from bioeval.cli import main
from bioeval.scores.formats import tables, texts


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def scores() -> str:
    be.save(be.simulate(4, 3, random_state=3), "s.npz")
    np.savez("plain.npz", scores=np.eye(4))
    return "s.npz"


def error_of(capsys, *args: str) -> str:
    """The one line on standard error of a command that fails."""
    assert main(list(args)) in (1, 2, 70)
    text = capsys.readouterr().err
    assert text.startswith("bioeval: error: ") and text.count("\n") == 1, text
    return text


def test_every_command_is_tried_with_odd_options():
    assert set(fuzz_inputs.WORKING) <= set(COMMANDS)
    for name in set(COMMANDS) - set(fuzz_inputs.WORKING):
        required = {x.name for x in command_of(name).params if x.required}
        assert required <= {"data"}, (
            f"bioeval {name} needs more than data. Add a command "
            "line that works to WORKING of scripts/fuzz_inputs.py."
        )


@pytest.mark.parametrize("size", ["inf", "-inf", "nan", "1e300", "1.5", "-1"])
def test_a_size_that_is_none(scores, capsys, size):
    assert "a proportion (0.3), or a whole n" in error_of(
        capsys, "run", scores, "--unenrolled", size
    )


# ------------------------------------------------------------------------- bounds

TEXTS = {
    "names": ["run", "plain.npz", "--labels", "x.txt", "--names-of", "market1501"],
    "tracks": ["tracking", "x.txt", "x.txt"],
    "tracks gzip": ["tracking", "x.txt.gz", "x.txt.gz"],
}


@pytest.mark.slow
@pytest.mark.parametrize("args", TEXTS.values(), ids=TEXTS)
def test_a_text_beyond_the_bound_is_refused(args, scores, capsys, monkeypatch):
    import gzip

    monkeypatch.setattr(texts, "MOST_TEXT", 1 << 20)
    Path("l.csv").write_text("label\na\nb\n")
    Path("x.txt").write_text("1\n" * (1 << 20))
    Path("x.txt.gz").write_bytes(gzip.compress(b"1\n" * (1 << 20)))
    text = error_of(capsys, *args)
    assert "x.txt" in text and "has more than 1 MiB of text" in text and "expected" in text


def test_many_columns_are_refused_at_once(scores, capsys):
    header = ",".join(f"c{i}" for i in range(80_000))
    Path("l.csv").write_text(f"label,{header}\n")
    text = error_of(capsys, "run", "plain.npz", "--labels", "l.csv")
    expected = f"has more than {tables.MOST_COLUMNS:,} columns; a matrix of scores is read from"
    assert f"l.csv: line 1: {expected}" in text


def test_many_arrays_of_metadata_are_refused(capsys):
    columns = {f"probe_{i}": np.zeros(4) for i in range(tables.MOST_COLUMNS + 1)}
    np.savez("x.npz", scores=np.eye(4), labels=[1, 1, 2, 2], **columns)
    assert "holds 1,001 arrays of metadata" in error_of(capsys, "run", "x.npz")


def test_one_long_value_does_not_widen_all_the_others(scores, capsys, monkeypatch):
    monkeypatch.setattr(texts, "MOST_TEXT", 1000)
    Path("l.csv").write_text(f"label\n{'x' * 500}\na\na\nb\n")
    text = error_of(capsys, "run", "plain.npz", "--labels", "l.csv")
    assert "the longest of 4 values has 500 characters" in text


# ------------------------------------------------------------------------- pipes


@pytest.mark.parametrize(
    "args",
    [
        ["run", "pipe"],
        ["run", "/dev/zero"],
        ["run", "plain.npz", "--labels", "pipe.csv"],
        ["tracking", "pipe", "pipe"],
    ],
    ids=" ".join,
)
def test_a_pipe_is_refused_with_the_reason(args, scores, capsys):
    os.mkfifo("pipe")
    os.mkfifo("pipe.csv")
    text = error_of(capsys, *args)
    assert "is a pipe or a device" in text and "write it to a file first" in text


# ------------------------------------------------------------------------- full disks


@pytest.fixture
def small_files(monkeypatch):
    """No file may become larger than 3 KiB; Python ignores the signal."""
    import resource  # Windows has none

    # Bytecode of a module that is first imported here would be cut short, and kept.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before, limits = signal.getsignal(signal.SIGXFSZ), resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 10, limits[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    signal.signal(signal.SIGXFSZ, before)


WRITERS = fuzz_inputs.writers()


@pytest.fixture(scope="module")
def matrix(tmp_path_factory) -> bytes:
    """Scores that exceed the limit of `small_files` in every format."""
    path = tmp_path_factory.mktemp("scores") / "s.npz"
    simulated = be.simulate(20, 2, random_state=3)
    be.save(be.Scores(simulated.values, [f"person {x}" for x in simulated.probe_labels]), path)
    assert main(["run", str(path)]) == 0  # kernels are compiled, and kept, before that
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("name", WRITERS)
def test_output_cut_short_is_our_error_and_leaves_nothing(name, matrix, capsys, small_files):
    Path("s.npz").write_bytes(matrix)
    Path("old").touch()
    small_files()
    assert f"bioeval: error: {name}: File too large" in error_of(capsys, *WRITERS[name])
    assert sorted(os.listdir()) == ["old", "s.npz"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("name", ["x.png", "x.pdf", "x.svg"])
@pytest.mark.cases(2)
def test_a_plot_cut_short_leaves_nothing(name, small_files):
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot(np.random.default_rng(1).random(500))
    small_files()
    with pytest.raises(OSError, match=f"File too large: '{name}'"):
        be.plot.save(figure, name)
    assert os.listdir() == []


# ------------------------------------------------------------------------- targets

#: Commands that write, and what they would replace.
TARGETS = {
    **{name: args for name, args in WRITERS.items() if name != "out"},
    "out/summary.json": WRITERS["out"],
}


@pytest.mark.parametrize("name", TARGETS)
def test_every_command_refuses_to_replace_in_the_same_words(name, scores, capsys):
    place = Path(name)
    place.parent.mkdir(exist_ok=True)
    place.write_text("mine")
    text = error_of(capsys, *TARGETS[name])
    assert text == f"bioeval: error: {name} would be replaced; give --force or another name\n"


@pytest.mark.parametrize("name", ["out", "out.npz", "page.html", "simulated.npz"])
def test_a_loop_of_links_is_refused(name, scores, capsys):
    Path(name).symlink_to("other")
    Path("other").symlink_to(name)
    text = error_of(capsys, *WRITERS[name])
    assert f"{name}: is a loop of symbolic links" in text


def test_links_that_lead_to_no_file_are_not_read(capsys):
    """A link to nothing is not its own remedy."""
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    assert "a: is a loop of symbolic links; expected" in error_of(capsys, "run", "a")
    Path("a.npz").symlink_to("elsewhere.npz")
    text = error_of(capsys, "run", "a.npz")
    assert "a.npz: no such file" in text and "Did you mean" not in text


# ------------------------------------------------------------------------- names


FORMULAS = ["=1+1", "'=2", "''@x", "-5", "'-5", "+a", "@b", "-b", "'tis", "-inf", "100%", "a\x1b[3"]


def test_formulas_are_escaped_in_files_and_read_back():
    """No cell of a CSV file begins as a formula; bioeval reads the labels as they were."""
    labels = np.repeat(FORMULAS, 2)
    scores = be.Scores(np.random.default_rng(1).random((24, 24)), labels)
    for name in ("f.csv", "f.tsv", "f.npz"):
        be.save(scores, name)
    assert main(["zoo", "f.npz", "--threshold", "0.5", "--out", "o"]) == 0
    files = [Path("f.csv"), Path("f.tsv"), Path("o/numbers.csv")]
    for file in files:
        for cell in file.read_text().replace("\t", ",").replace("\n", ",").split(","):
            assert (
                not cell or cell[0] not in "=+@" and (cell[0] != "-" or cell[1:2] in "0123456789i")
            )
    assert ",a\\x1b[3," in files[-1].read_text() and "\x1b" not in files[-1].read_text()
    for file in files[:2]:
        scores_read = be.load(file, kind="distance")
        assert np.unique(scores_read.pair_subjects).tolist() == sorted(FORMULAS)


def titled(title: str) -> None:
    """A card of this title."""
    card = be.protocol.load("lfw-view2").to_toml().replace('title = "', f'title = "{title}', 1)
    Path("evil.toml").write_text(card, encoding="utf-8")


def test_text_of_a_card_controls_no_terminal(capsys, monkeypatch):
    titled("\\u001b[2Jb\\u0007")
    for arguments in (["evil.toml"], ["evil.toml", "--toml"]):
        assert main(["protocols", *arguments]) == 0
        out = capsys.readouterr().out
        assert "\x1b" not in out and ("--toml" in arguments or "\\x1b[2J" in out)
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", terminal)
    assert main(["protocols", "evil.toml"]) == 0
    assert "\\x1b[2Jb" in terminal.getvalue() and "\x1b[2J" not in terminal.getvalue()


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_characters_that_the_output_lacks_are_escaped(form, monkeypatch):
    """A pipe on Windows has the 250 characters of its code page."""
    titled("Zoë 名前 😀")
    raw = io.BytesIO()
    pipe = io.TextIOWrapper(raw, encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", pipe)
    assert main(["protocols", "evil.toml", *form]) == 0
    assert pipe.errors == "strict"
    text = raw.getvalue().decode("cp1252")
    if form:
        assert json.loads(text)["title"].startswith("Zoë 名前 😀")
    else:
        assert r"Zoë \u540d\u524d \U0001f600" in text


def test_a_pipe_that_windows_calls_an_invalid_argument_is_broken(monkeypatch, capsys):
    class Pipe(io.StringIO):
        def flush(self) -> None:
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(sys, "stdout", Pipe())
    assert main(["protocols"]) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_limit_of_addresses_that_is_too_small_to_compile_is_named(tmp_path):
    program = """
import resource
import sys
from pathlib import Path
import numpy as np
import bioeval as be
from bioeval.cli import main

be.save(be.Scores(np.random.default_rng(1).random((1200, 1200)), np.arange(1200) // 2), "x.npz")
import bioeval.kernels.cache
import bioeval.evaluation
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (300 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.exit(main(["run", "x.npz"]))
"""
    environment = {**os.environ, "BIOEVAL_CACHE_DIR": str(tmp_path / "kernels")}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 70, done.stderr
    assert "not enough memory: compiling the loops needs" in done.stderr
    assert "(ulimit -v)" in done.stderr and "Traceback" not in done.stderr

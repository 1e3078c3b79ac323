"""The command line: what it prints where, what it writes, and its exit codes."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import click
import numpy as np
import pytest
import xarray as xr
from commands import COMMANDS
from json_rows import row, value

import bioeval as be
from bioeval.base.options import OPTIONS
from bioeval.cli import main


@pytest.fixture(autouse=True)
def plain_output(monkeypatch, tmp_path):
    """Wide, without colours, in a folder of its own."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def scores(tmp_path) -> Path:
    """Write scores of four subjects with three templates."""
    be.save(be.simulate(4, 3, random_state=3), tmp_path / "scores.npz")
    return Path("scores.npz")


def run(*args: object) -> int:
    return main([str(arg) for arg in args])


def bioeval(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bioeval", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **env},
    )


def one_line(text: str) -> str:
    assert text.endswith("\n")
    assert text.count("\n") == 1, text
    assert "Traceback" not in text
    return text[:-1]


# ------------------------------------------------------------------------ in general


def test_version_and_help(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"bioeval {be.__version__}\n"
    assert run() == 0
    without_arguments = capsys.readouterr().out
    assert run("--help") == 0
    assert capsys.readouterr().out == without_arguments
    for command in COMMANDS:
        assert command in without_arguments


def test_help_of_help(capsys):
    assert run("help") == 0
    assert capsys.readouterr().out.startswith("Usage: bioeval ")
    assert run("help", "zoo") == 0
    assert capsys.readouterr().out.startswith("Usage: bioeval zoo ")
    assert run("help", "runn") == 2
    assert "Did you mean 'run'?" in one_line(capsys.readouterr().err)


def test_help_imports_no_numpy():
    program = (
        "import sys; from bioeval.cli import main; from bioeval.cli.lazy_group import COMMANDS; "
        "names = ('numpy', 'rich', 'bioeval.cli.commands.run'); "
        "codes = [main(['--help']), [n for n in names if n in sys.modules]]; "
        "codes += [{main([name, '--help']) for name in COMMANDS}]; "
        "print(codes, [n for n in names[:2] if n in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.stdout.splitlines()[-1] == "[0, [], {0}] []"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["runn"], "no command 'runn'; expected one of run, .* Did you mean 'run'?"),
        (["run"], "Missing argument 'DATA'"),
        (["run", "--protcol", "x", "scores.npz"], "--protcol.*--protocol.*bioeval run --help"),
        (["run", "scores.npz", "--kind", "far"], "'far'"),
        (["run", "scores.npz", "--max-rank", "0"], "--max-rank"),
        (["run", "scores.npz", "--columns", "=camera"], "'=camera'; expected KEY=VALUE"),
        (["run", "scores.npz", "--columns", "camera"], "'camera'; --columns camera=NAME names it"),
        (["run", "scores.npz", "--columns", "a=b", "--columns", "a=c"], "'a' is given twice"),
        (["run", "scores.npz", "--thresholds", "many"], "'many'; expected a number, or several"),
        (["run", "scores.npz", "--far", "x"], "'x'; expected a rate"),
        (["run", "scores.npz", "--max-rank", "x"], "'x' is not a valid integer"),
        (["run", "scores.npz", "--n-thresholds", "1"], "--n-thresholds is 1; expected an integer"),
        (["run", "scores.npz", "--thresholds", "5,4"], "error: --thresholds do not increase"),
        (["run", "scores.npz", "--protocol", "pair"], "'pair'.*Did you mean 'pairs'"),
        (["run", "scores.npz", "--protocol", "pairs"], "for the layout pairs"),
        (["run", "scores.npz", "--protocol", "x.toml"], "x.toml: there is no such file"),
        (["run", "scores.npz", "--metric", "l2"], "--metric"),
        (["run", "scores.npz", "--columns", "scores=x"], "no array 'x'"),
        (["threshold", "scores.npz", "--far", "1%", "--target", "eer"], "give --far or --target"),
        (["run", "nowhere.npz"], "nowhere.npz: no such file"),
        (["run", "scors.npz"], "Did you mean 'scores.npz'?"),
        (["run", "."], "is a folder; expected a file$"),
        (["run", "scores.npz", "--out", "scores.npz"], "is a file"),
        (["run", "scores.npz", "--out", "a/b/c"], "there is no folder"),
        (["run", "scores.npz", "--out", "scores.npz/b"], "scores.npz is a file, not a folder"),
        (["scores.npz"], "no command 'scores.npz'.* bioeval run scores.npz"),
        (["lost.csv"], "no command 'lost.csv'.* bioeval run lost.csv"),
        (["mine.toml"], "no command 'mine.toml'.* bioeval protocols mine.toml"),
        (["reid", "s.npz"], "no command .reid.*To evaluate reid: bioeval run FILE --protocol CARD"),
        (["protocols", "pair"], "'pair'"),
        (["simulate"], "Missing option '--out'"),
        (["simulate", "--out", "x.npz", "--templates", "a"], "'a'; expected a whole number"),
        (["simulate", "--out", "x.npz", "--subjects", "0"], "error: --subjects is 0"),
        (["simulate", "--out", "x.npz", "--d-prime", "2"], "error: --d-prime is 2"),
        (["simulate", "--out", "x.npz", "--probes", "2"], "Expected --layout probe-against-gal"),
        (["simulate", "--out", "x.npz", "--seed", "-1"], "'-1'; expected a whole number from 0 up"),
        (["simulate", "--out", "x.doc", "--subjects", "2"], "suffix '.doc'"),
    ],
)
def test_wrong_usage_and_bad_input(scores, capsys, args, says):
    before = sorted(os.listdir())
    assert run(*args) == 2
    output = capsys.readouterr()
    assert output.out == ""
    line = one_line(output.err)
    assert line.startswith("bioeval: error: ")
    assert re.search(says, line), line
    assert sorted(os.listdir()) == before


def test_control_characters_do_not_reach_the_terminal(capsys):
    assert run("run", "\x1b[31mred\n.npz") == 2
    assert "\x1b" not in one_line(capsys.readouterr().err)


@pytest.mark.slow
def test_streams_and_codes_of_the_real_program(scores):
    assert main(["run", str(scores)]) == 0  # which compiles
    success = bioeval("run", scores)
    assert (success.returncode, success.stderr) == (0, "")
    assert "Verification, single-template" in success.stdout
    failure = bioeval("run", "lost.npz")
    assert (failure.returncode, failure.stdout) == (2, "")
    assert one_line(failure.stderr) == "bioeval: error: lost.npz: no such file."


class Broken(io.StringIO):
    """A standard output whose every write fails."""

    def __init__(self, error: OSError):
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


COMMAND_LINES = [
    "run scores.npz",
    "run scores.npz --json",
    "convert scores.npz copy.npz",
    "protocols",
    "protocols pairs",
    "--help",
    "run --help",
]


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_reader_that_has_left_and_an_output_that_is_full(scores, capsys, monkeypatch, line):
    for error, code in ((BrokenPipeError(32, "Broken pipe"), 141), (OSError(28, "No space"), 70)):
        Path("copy.npz").unlink(missing_ok=True)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", Broken(error))
            assert run(*line.split()) == code
        said = capsys.readouterr().err
        assert said == "" if code == 141 else one_line(said).endswith("No space")


def test_an_output_that_is_closed(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)  # as Python has it after >&-
    assert run("protocols") == 70
    monkeypatch.undo()
    assert one_line(capsys.readouterr().err) == "bioeval: error: standard output is closed"


def test_no_file_takes_the_number_of_a_closed_stream(tmp_path, monkeypatch):
    """With such a file, the output of a library would go into the file."""

    @click.command("inner")
    def command() -> None:
        numbers.append(os.open(tmp_path, os.O_RDONLY))

    monkeypatch.setattr("bioeval.cli.lazy_group.root", command)
    numbers, saved = [], os.dup(0)
    os.close(0)
    try:
        assert main([]) == 0
    finally:
        os.dup2(saved, 0)
    for number in (saved, *numbers):
        os.close(number)
    assert numbers[0] > 2


def test_the_end_of_a_file_is_no_interruption(capsys, monkeypatch):
    @click.command("inner")
    def command() -> None:
        raise EOFError("marshal data too short")

    monkeypatch.setattr("bioeval.cli.lazy_group.root", command)
    assert main([]) == 70
    assert "a file ended too early (marshal data too short)" in capsys.readouterr().err


# ------------------------------------------------------------------------ run


def test_table(scores, capsys):
    assert run("run", scores) == 0
    output = capsys.readouterr()
    assert output.err == ""
    assert "\x1b" not in output.out
    assert "12 templates of 4 subjects, all against all" in output.out
    # 4 subjects with 3 templates: 12 x 2 genuine and 12 x 9 impostor comparisons
    title = "Verification, single-template: 24 genuine and 108 impostor attempts"
    assert title in output.out.splitlines()


@pytest.mark.parametrize("columns", [44, 120])
@pytest.mark.parametrize("command", [["run", "scores.npz"], ["protocols"]])
def test_the_table_is_as_wide_as_it_may_be(scores, capsys, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(*command) == 0
    lines = capsys.readouterr().out.splitlines()
    joined = " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= columns
    for words in ("AUC", "CMS, rank 1") if command[0] == "run" else ("Fixed pair list",):
        assert words in joined


@pytest.mark.slow
def test_json_has_null_for_what_is_not_defined(tmp_path, capsys):
    """One subject: no impostor attempt, so FAR and everything that needs it is not defined."""
    be.save(be.Scores(np.ones((2, 2)), ["a", "a"]), tmp_path / "one.npz")
    assert run("run", "one.npz", "--json") == 0
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    single = partial(value, document, task="verification/single")
    assert (single("genuine_attempts"), single("impostor_attempts")) == (2, 0)
    assert single("eer") is None
    assert run("run", "one.npz", "--verbose") == 0
    assert "n/a: 0 impostor attempts" in capsys.readouterr().out


def test_json_has_words_for_infinities(tmp_path, capsys):
    """No threshold accepts a genuine pair without the impostor: reject all, at -inf."""
    pairs = be.Scores.from_pairs([1.0, 2.0], [False, True])
    be.save(pairs, tmp_path / "p.npz")
    assert run("run", "p.npz", "--json", "--far", "0.5") == 0
    document = json.loads(capsys.readouterr().out)
    target = row(document, "frr_at_far", point=0.5)
    assert (target["value"], target["threshold"]) == (1.0, "-inf")


def test_nan_policy(tmp_path, capsys):
    values = np.array([[0, 1, 5], [np.nan, 0, 5], [5, 5, 0]])
    be.save(be.Scores(values, ["a", "a", "b"]), tmp_path / "x.npz")
    assert run("run", "x.npz") == 2
    line = one_line(capsys.readouterr().err)
    assert "--nan reject (" in line
    assert "--nan exclude (" in line
    assert "=" not in line
    assert run("run", "x.npz", "--nan", "exclude", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert value(document, "genuine_attempts", task="verification/single") == 1


# ------------------------------------------------------------------------ --out

FILES = [
    "check.csv",
    "closed_set_rank.csv",
    "numbers.csv",
    "open_set_rank.csv",
    "open_set_threshold.csv",
    "results.nc",
    "summary.json",
    "table.txt",
    "verification_multi_threshold.csv",
    "verification_single_threshold.csv",
]


@pytest.mark.slow
def test_out(scores, capsys):
    assert run("run", scores, "--out", "results", "--verbose") == 0
    output = capsys.readouterr()
    assert output.err == f"wrote {len(FILES)} files to results\n"
    assert sorted(os.listdir("results")) == FILES
    assert sorted(os.listdir()) == ["results", "scores.npz"]
    folder = Path("results")
    assert (folder / "table.txt").read_text() == output.out

    truth = be.evaluate(be.load(scores), interval="people")
    with xr.open_datatree(folder / "results.nc", engine="h5netcdf") as tree:
        for path in ("verification/single", "verification/multi", "open_set", "closed_set"):
            xr.testing.assert_identical(tree[path].to_dataset().load(), truth[path].to_dataset())

    summary = json.loads((folder / "summary.json").read_text())
    assert summary["files"] == FILES
    with open(folder / "verification_single_threshold.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    single = truth["verification/single"]
    for name in ("threshold", "far", "frr"):
        assert [float(row[name]) for row in rows] == single[name].values.tolist()


def names(folder: str = ".") -> set[str]:
    return {*os.listdir(folder)}


@pytest.mark.slow
@pytest.mark.parametrize("notes", [True, False])
def test_a_folder_holds_the_files_of_the_last_run_alone(notes, tmp_path):
    """Plots of the run before go, and what killed runs have left, beside and in the folder."""
    be.save(be.Scores.from_pairs([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0]), "p.npz")
    assert run("run", "p.npz", "--out", "results", "--plots", "--plot-format", "svg") == 0
    assert any(x.endswith(".svg") for x in names("results"))
    number = os.stat("results").st_ino
    if notes:
        Path("results/notes.csv").write_text("mine")
    killed = [".results.0123abcd.part", "results/.results.0123abcd.part"]
    for folder in killed:
        Path(folder).mkdir()
        Path(folder, "table.txt").write_text("half")
    Path("results/.table.txt.0123abcd.part").write_text("half")
    Path(".other.0123abcd.part").mkdir()  # of another folder
    assert run("run", "p.npz", "--out", "results") == 2
    assert any(x.endswith(".svg") for x in names("results"))
    assert run("run", "p.npz", "--out", "results", "--force") == 0
    written = {*json.loads(Path("results/summary.json").read_text())["files"]}
    assert names("results") == written | ({"notes.csv"} if notes else set())
    assert not any(x.endswith(".svg") for x in written)
    assert names() == {"p.npz", "results", ".other.0123abcd.part"}
    assert (os.stat("results").st_ino == number) == notes  # exchanged as a whole


@pytest.mark.slow
def test_a_summary_names_no_file_outside_of_its_folder():
    be.save(be.Scores.from_pairs([1.0, 2.0], [1, 0]), "p.npz")
    Path("results").mkdir()
    Path("kept.csv").write_text("mine")
    for files in (["../kept.csv", "/etc/passwd"], 3, None, [["a"]]):
        Path("results/summary.json").write_text(json.dumps({"files": files}))
        assert run("run", "p.npz", "--out", "results", "--force") == 0
    assert Path("kept.csv").read_text() == "mine"


def test_a_folder_that_another_run_writes_is_refused_at_once(capsys):
    fcntl = pytest.importorskip("fcntl")
    be.save(be.Scores.from_pairs([1.0, 2.0], [1, 0]), "p.npz")
    with open(".results.lock", "w+") as lock:
        lock.write("process 7 of host (bioeval run q.npz --out results)")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run("run", "p.npz", "--out", "results", "--force") == 2
        error = one_line(capsys.readouterr().err)
        assert "results: is written to by process 7 of host (bioeval run q.npz --out" in error
        assert "wait until it ends, or name another folder" in error
        assert names() == {"p.npz", ".results.lock"}
    # A lock that a killed run has left is nobody's.
    assert run("run", "p.npz", "--out", "results", "--force") == 0
    assert names() == {"p.npz", "results"}


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_a_folder_whose_name_is_no_text_is_written(scores):
    assert run("run", scores, "--out", os.fsdecode(b"r\xff")) == 0
    assert b"table.txt" in os.listdir(b"r\xff")


def test_a_limit_of_memory_ends_with_a_command_that_is_wrong(scores):
    before = dict(OPTIONS)
    assert run("run", scores, "--memory", "3MB", "--confidence", "none") == 2
    assert before == OPTIONS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "kill"]
)
def test_a_signal_leaves_no_debris(number, code):
    """The signal comes while the file is half written."""
    program = f"""
import os, signal, sys
from bioeval.scores.formats import writing
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a background job may ignore
whole = writing._arrays
def half(scores, path):
    for name, values in whole(scores, path):
        if name == "scores":
            shape, dtype, read = values
            def interrupted(low, high):
                os.kill(os.getpid(), {int(number)})
                return read(low, high)
            values = shape, dtype, interrupted
        yield name, values
writing._arrays = half
from bioeval.cli import main
sys.exit(main(["simulate", "--subjects", "3", "--templates", "2", "--out", "x.npz"]))
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert process.returncode == code
    assert "Traceback" not in process.stderr
    assert os.listdir() == []


# ------------------------------------------------------------------------ the other commands


def test_protocols(capsys):
    assert run("protocols") == 0
    out = capsys.readouterr().out
    for name in ("course-all-vs-all", "course-probe-vs-gallery", "pairs"):
        assert name in out
    assert run("protocols", "pairs") == 0
    assert "pair" in capsys.readouterr().out
    assert run("protocols", "course-all-vs-all") == 0
    out = capsys.readouterr().out
    assert "\n  FAR " in out and "\n  FAR(t) " in out and "\n  DIR(t, k) " in out
    assert run("protocols", "--json") == 0
    cards = json.loads(capsys.readouterr().out)
    assert {"course-all-vs-all", "pairs"} <= {card["name"] for card in cards}


def test_order_alone_says_what_is_left_out(scores, capsys):
    assert run("run", scores, "--kind", "order") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Left out single-template verification, multi-template verification and open set" in out


@pytest.mark.parametrize(
    ("kind", "code"), [("similarity", "kind-wrong"), ("distance", "near-chance")]
)
def test_a_run_begins_with_what_makes_all_doubtful(tmp_path, capsys, kind, code):
    """Scores of the other kind, and labels in another order."""
    simulated = be.simulate(20, 4, random_state=1)
    labels = simulated.probe_labels
    if kind == "distance":
        labels = np.random.default_rng(3).permutation(labels)
    be.save(be.Scores(simulated.values, labels, kind=kind), tmp_path / "x.npz")
    assert run("run", "x.npz") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(f"Warning: the scores, of kind {kind}, ")
    assert out.count(f"of kind {kind}, ") == 1
    assert run("run", "x.npz", "--json") == 0
    first = json.loads(capsys.readouterr().out)["messages"][0]
    assert first["code"] == code


@pytest.fixture
def unmated(tmp_path):
    """Sides without a subject in common."""
    simulated = be.simulate(20, 4, random_state=1)
    labels = simulated.probe_labels[:40].astype(int)
    camera = {"camera": np.arange(40) % 2}
    scores = be.Scores(
        simulated.values[:40, 40:], labels, labels + 100,
        probe_meta=camera, gallery_meta=camera,
    )  # fmt: skip
    be.save(scores, tmp_path / "x.npz")
    be.save(scores, tmp_path / "y.npz")
    return "x.npz"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("run",), ("run", "--json"), ("run", "--out", "results"),
        ("run", "--protocol", "course-kfold-probe-vs-gallery"),
        ("report", "--out", "x.html"), ("threshold",), ("compare", "y.npz"),
        ("gom",), ("gallery-size", "--out", "results"),
        ("fuse", "x.npz", "--name", "x", "--name", "y"),
    ],
)  # fmt: skip
def test_nothing_evaluated_is_no_success(unmated, tmp_path, capsys, command):
    name, *options = command
    assert run(name, unmated, *options) == 2
    printed = capsys.readouterr()
    assert not printed.out and printed.err.count("\n") == 1
    assert printed.err.startswith("bioeval: error: nothing could be evaluated of x: ")
    reason = be.check_data(be.load(unmated)).with_severity("error")[0]
    assert reason.message in printed.err
    assert not {"results", "x.html"} & {path.name for path in tmp_path.iterdir()}


def test_a_rate_of_impostors_at_given_thresholds_is_a_result(unmated, capsys):
    assert run("run", unmated, "--thresholds", "4,5") == 0
    assert "FAR" in capsys.readouterr().out


def test_simulate(capsys):
    args = ["--layout", "probe-against-gallery", "--probes", "2-3", "--unenrolled", "3"]
    assert (
        run("simulate", "--subjects", 6, "--templates", "1,2,3,1,2,3", *args, "--out", "x.npz") == 0
    )
    assert capsys.readouterr().out.startswith("wrote x.npz: <Scores probe-against-gallery")
    scores = be.load("x.npz")
    truth = be.simulate(
        6,
        [1, 2, 3, 1, 2, 3],
        layout="probe-against-gallery",
        probes=(2, 3),
        unenrolled=3,
        random_state=0,
    )
    np.testing.assert_array_equal(scores.values, truth.values)
    np.testing.assert_array_equal(scores.probe_labels, truth.probe_labels)
    assert run("simulate", "--subjects", 2, "--out", "y.npz", "--json") == 0
    assert json.loads(capsys.readouterr().out)["shape"] == [20, 20]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--train", 0.5, "--protocol", "course-kfold"], "--train has no effect on protocol"),
        (["--repeats", 5, "--protocol", "lfw-view2"], "--repeats has no effect on protocol lfw"),
        (["--folds", 5, "--protocol", "market1501"], "it sets folds of [partition], which this"),
        (
            ["--templates", "single", "--fusion", "mean", "--protocol", "fvc2004"],
            "--fusion has no ef",
        ),
        (["--protocol", "market1501", "--fusion", "mean"], "it sets fusion of [open_set], [closed"),
        (["--protocol", "fvc2004", "--templates", "multi"], "does not go with pairs = first-imp"),
        (["--protocol", "lfw-view2", "--single-gallery"], "--single-gallery has no effect"),
        (["--fusion", "kth:0"], "--fusion is 'kth:0'; expected kth:K"),
        (["--min-dcf", "0.1", "--no-auc"], "leave out --no-auc"),
        (["--train", "half"], "'half'; expected a proportion (0.3), or a whole number (20)"),
        (["--train", 4], "the sizes ask for train 4, test 0 of 4 subjects"),
        (["--gallery-templates", "session=1"], "the metadata column is 'session'"),
        (["--gallery-templates", 9], 'too_few = "enrol" in a protocol card'),
        (["--train", 0], "such as --train 0.5, or a threshold that is fixed"),
        (["--target", "far=0.1"], "--target far=0.1 needs a part to choose a threshold on"),
    ],
)
def test_experiments_that_cannot_be(scores, capsys, options, words):
    assert run("run", scores, *options) == 2
    assert words in one_line(capsys.readouterr().err)


@pytest.mark.slow
def test_a_system_is_named_after_its_file_and_array_or_as_it_is_called(tmp_path, capsys):
    embeddings = np.random.default_rng(0).normal(size=(8, 3))
    np.savez("faces.npz", first=embeddings, second=embeddings[:, :2], who=np.arange(8) // 2)
    read = ["faces.npz", "--columns", "embeddings=first,labels=who"]
    for command in ("run", "threshold"):
        folds = ["--folds", 2, "--repeats", 1] if command == "threshold" else []
        for name_options, expected in (([], "faces:first"), (["--name", "old"], "old")):
            assert run(command, *read, *folds, *name_options) == 0
            assert re.search(rf"^ *Data +{expected}: ", capsys.readouterr().out, re.MULTILINE)
            assert run(command, *read, *folds, *name_options, "--json") == 0
            assert json.loads(capsys.readouterr().out)["system"] == expected
    be.save(be.simulate(4, 2, random_state=1), "plain.npz")
    assert run("run", "plain.npz", "--json") == 0
    assert json.loads(capsys.readouterr().out)["system"] == "plain"


# ------------------------------------------------------------------------- systems side by side


def test_an_unknown_column_of_images_is_refused_before_anything_is_counted(tmp_path, capsys):
    be.save(be.simulate(5, 2, sessions=2, random_state=1), tmp_path / "s.npz")
    assert run("report", "s.npz", "--out", "x.html", "--worst", "2", "--images", "photo") == 2
    error = capsys.readouterr().err
    assert "s: no metadata column 'photo' of images; it has session" in error
    assert "counting" not in error


def test_a_run_of_few_people_has_their_limits(monkeypatch, capsys):
    """Of at most 1,000 people and 10,000,000 comparisons, unless the limits are refused."""
    drawn = be.simulate(12, 3, random_state=1)
    be.save(drawn, "few.npz")
    right = be.verification(drawn, interval="people")
    for words, limited in (([], True), (["--interval", "none"], False)):
        assert run("run", "few.npz", *words, "--json") == 0
        printed_row = row(json.loads(capsys.readouterr().out), "eer", task="verification/single")
        assert ("low" in printed_row) == limited
        if limited:
            assert printed_row["low"] == pytest.approx(right["eer_low"].item())
    monkeypatch.setattr("bioeval.scores.people.MOST_PEOPLE", 11)
    assert run("run", "few.npz", "--json") == 0
    printed_row = row(json.loads(capsys.readouterr().out), "eer", task="verification/single")
    assert "low" not in printed_row

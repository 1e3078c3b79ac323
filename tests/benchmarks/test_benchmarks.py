"""The benchmarks run and say what they should; how fast anything is, is not tested."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import sys
import types
from collections import namedtuple

import numpy as np
import pytest
from benchmarks import memory, peers, start, suite, users
from benchmarks.__main__ import command
from benchmarks.embeddings import CALLS, FLAT, noises
from benchmarks.matrices import Matrix, features, vectors
from benchmarks.options import PARTS, QUICK, Options
from benchmarks.pieces import handed, pieces
from benchmarks.rows import AT_LEAST, AT_MOST, SECTIONS, WITHIN, Row
from benchmarks.suite import OTHERS, SWEEPS, VERSUS, Report, run
from benchmarks.table import BenchTable, aim, json_lines, missed
from benchmarks.timing import Contender, interleaved, most_threads
from benchmarks.workbench import WORK, Workbench, streamed, without_auc

import bioeval as be
from bioeval.base.errors import DataError
from bioeval.cli.program import main
from bioeval.views.writers.terminal import plain

TINY = {
    "size": 60,
    "templates": 6,
    "repeat": 2,
    "growth": (12, 24, 36),
    "embeddings": (24, 4),
    "vectors": ((24, 4), (36, 4)),
    "partitions": 4,
    "reid": (20, 60),
    "side": 12,
    "pairs": 1_000,
}


#: Parts, and sections, whose rows take processes of their own.
PROCESSES = {"memory", "start", "imports"}


@pytest.fixture(scope="module")
def report() -> Report:
    """Everything but what needs processes of its own."""
    return run(Options(**TINY, only=[part for part in PARTS if part not in PROCESSES]))


def by_key(report: Report) -> dict[str, Row]:
    return {row.key: row for row in report.rows}


@pytest.mark.slow
def test_seconds_beside_other_programs_are_of_the_same_scores(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(peers, "imported", not_there)
    found = users.beside(30, said.append)
    assert set(found) == {"bioeval", "scikit-learn"} and min(found.values()) > 0
    assert said == ["bob.measure: skipped: not installed", "PyEER: skipped: not installed"]


def not_there(name: str) -> None:
    raise peers.NotRun("skipped: not installed")


def test_the_recorded_seconds_are_those_of_the_page():
    found = json.loads(users.FOUND.read_text(encoding="utf-8"))
    page = (users.FOUND.parents[1] / "benchmarks.md").read_text(encoding="utf-8")
    for size, times in found["beside"].items():
        assert (
            f"| {int(size):,} | {int(size) * (int(size) - 1):,} | {times['bioeval']:.3f} |" in page
        )
    for size, one in found["growth"].items():
        assert f"| {int(size):,} | {int(size) * (int(size) - 1):,} | {one['seconds']:.3g} |" in page


@pytest.mark.slow
def test_every_part_has_its_rows(report):
    assert {row.part for row in report.rows} == set(PARTS) - PROCESSES
    assert len(by_key(report)) == len(report.rows)
    assert {row.section for row in report.rows} == set(SECTIONS) - PROCESSES


@pytest.mark.slow
def test_ratios_are_positive_and_finite(report):
    for row in report.rows:
        if row.ratio is None:
            assert row.note, row
            continue
        times = () if row.part == "lists" else (row.seconds, row.ns_per_cell)  # or memory
        for value in (row.low, row.ratio, row.high, *times):
            assert value is not None, row
            assert math.isfinite(value), row
        if row.section not in (
            "growth",
            "extrapolation",
        ):  # an exponent of tiny sizes may be anything
            assert 0 < row.low <= row.ratio <= row.high, row


@pytest.mark.slow
def test_only_what_is_missing_here_has_no_ratio(report):
    may_miss = {"pyeer", "feerci", "evalify", "bob.measure", "auc", "threads", "million"}
    for row in report.rows:
        if row.ratio is None:
            assert row.part in may_miss or FLAT in row.name, row
            says = ("skipped: ", "not offered", "failed: ", "too little", "about ")
            assert row.note.startswith(says)


@pytest.mark.slow
def test_json_lines_parse(report):
    documents = [json.loads(line) for line in json_lines(report).splitlines()]
    assert [d["record"] for d in documents[:2]] == ["machine", "row"]
    assert {d["record"] for d in documents} == {"machine", "row", "piece"}
    machine = documents[0]
    assert machine["size"] == 60
    assert machine["cores"] >= 1
    assert machine["read_bytes_per_second"] > 0
    row = next(d for d in documents if d.get("key") == "counts")
    assert row["against"] == SECTIONS["read"]
    assert row["at_most"] == 6
    assert row["reached"] == (row["ratio"] <= 6)


@pytest.mark.slow
def test_the_table_has_the_rows_and_the_machine(report):
    text = plain(BenchTable(report), 100)
    assert max(map(len, text.splitlines())) <= 100
    for row in report.rows:
        assert row.name[:8] in text  # the rest may be on the next line
    for section in {row.section for row in report.rows}:
        assert SECTIONS[section][1:60] in text
    assert "GB/s" in text
    assert f"NumPy {np.__version__}" in text


@pytest.mark.slow
def test_what_is_not_reached_is_explained(report):
    row = Row("counts", "counts", "read", "counts", ratio=7.0, low=6.5, high=7.5, ns_per_cell=1.4)
    missed = Report(report.machine, [row], report.pieces)
    text = " ".join(plain(BenchTable(missed), 100).split())
    assert "at most 6: no" in text
    assert "1.40 ns a cell, where 6 reads would take 1.20." in text
    assert "bytes a cell; the dearest piece" in text
    fine = Report(report.machine, [Row("counts", "counts", "read", "x", 3.0, 3.0, 3.0)], [])
    text = plain(BenchTable(fine), 100)
    assert "at most 6: yes" in text
    assert "would take" not in text


@pytest.mark.slow
def test_aims_at_least(report):
    rows = [
        Row("sort", "counts: sort", "counts", "two sorts", 4.0, 4.0, 4.0, ns_per_cell=4.0),
        Row("counts", "counts", "read", "counts", 3.0, 3.0, 3.0, ns_per_cell=1.0),
        Row("threads", "speed-up: counts", "speed-up", "counts", 1.8, 1.8, 1.8),
        Row("memory", "memory: counts", "memory", "x", 0.1, 0.1, 0.1, "9 MiB", bytes_per_cell=0.4),
        Row(
            "embeddings", "embeddings: be.evaluate, 20,000 x 128, apart", "product", "x", 2.0, 2.0,
            2.0, ns_per_cell=20.0,
        ),
    ]  # fmt: skip
    assert [row.reached for row in rows] == [False, True, True, False, False]
    text = " ".join(plain(BenchTable(Report(report.machine, rows, [])), 100).split())
    assert "at least 5: no" in text
    assert "two sorts: 4.00, where 5 is aimed at. counts takes 1.00 ns a cell; 0.80 would" in text
    assert "at least 1.7: yes" in text
    assert "9 MiB, where 5% is aimed at. That is 0.40 bytes a cell." in text
    assert "One product takes 10.0 ns a cell, everything 20.0: 10.0 more." in text


@pytest.mark.slow
def test_every_aim_belongs_to_a_row(report):
    keys = {row.key for row in report.rows} | {f"memory: {key}" for key in memory.CASES}
    keys |= {f"start: {x}" for x in ("cold", "dtype", "warm", "experiment")}
    keys |= {"folds: eer, large"}
    keys |= {"folds: accuracy, large", "partition: summary"}
    keys |= {"partition: repeat"}
    sizes = [f"{n:,} x {d}" for n, d in Options(large=True).sizes_of_vectors]
    for size, which in itertools.product(sizes, ("apart", "overlapping")):
        keys |= {f"embeddings: {call}, {size}, {which}" for call in CALLS}
    keys |= {f"memory: {size}" for size in sizes}
    assert {*AT_MOST, *AT_LEAST, *WITHIN} <= keys


def test_processes_are_held_against_their_aims(monkeypatch):
    taken = iter([9.0, 5.0, 3.0] + 3 * [4.0, 5.0, 2.0])
    monkeypatch.setattr(start, "taken_by", lambda *_: next(taken))
    rows = list(start.start_rows(Options(**TINY), lambda step: None))
    assert [(row.key, row.ratio, row.reached) for row in rows] == [
        ("start: cold", 2.25, False),
        ("start: dtype", 0.25, True),
        ("start: warm", 2.0, False),
        ("start: experiment", 2.5, False),
    ]
    assert next(missed(Report({}, rows, []))) == "the first run: 2.25, where 2 is aimed at."


def test_a_process_is_timed(tmp_path):
    taken = start.taken_by(("-c", "print(sum(range(10**6)))"), tmp_path, 1)
    assert 0 < taken < 60


def test_amounts_are_held_against_their_aims():
    row = Row("partitions", "partition: summary", "copy", "x", 9.0, 9.0, 9.0, amount=1.5)
    assert (row.reached, aim(row)) == (False, "at most 1.2 ms: no")
    assert list(missed(Report({}, [row], []))) == ["x: 1.50 ms, where 1.2 is aimed at."]


@pytest.mark.slow
def test_a_million_is_extrapolated(report):
    rows = by_key(report)
    time = rows["million: time"]
    assert time.figure.endswith(" hours")
    assert "from 12, 24" in time.note
    memory_row = rows["million: memory"]
    assert memory_row.note.startswith(("about ", "not offered"))
    assert "not measured" in SECTIONS[time.section]


@pytest.mark.slow
def test_the_read_sees_every_value():
    for dtype in ("float32", "float64"):
        matrix = Matrix(24, 6, dtype)
        words = matrix.values.view(f"i{matrix.values.itemsize}")
        assert matrix.read().tolist() == words.max(axis=1).tolist()


def test_a_shuffled_matrix_is_the_same_in_another_order():
    a, b = Matrix(24, 6), Matrix(24, 6, shuffled=True)
    assert a.labels.tolist() == sorted(a.labels)
    assert b.labels.tolist() != sorted(b.labels)
    order = np.random.default_rng(0).permutation(24)
    np.testing.assert_allclose(a.values[np.ix_(order, order)], b.values, atol=1e-3)
    assert len(a.thresholds) > 100
    assert (np.diff(a.thresholds) > 0).all()


def test_pairs_leave_out_the_comparison_with_itself():
    matrix = Matrix(24, 6)
    scores, genuine = matrix.pairs(24 * 24)
    assert scores.size == 24 * 23
    assert genuine.sum() == 24 * 5
    assert matrix.pairs(50)[0].size == 2 * 23


def test_every_line_has_work_of_its_own():
    keys = [line.key for line in (*SWEEPS, *OTHERS)]
    assert len(set(keys)) == len(keys)
    keys += [key for line in VERSUS for key in (line.work, line.base)]
    assert set(keys) <= set(WORK)
    assert set(memory.CASES) <= set(WORK)
    assert {line.part for line in (*SWEEPS, *OTHERS)} <= set(PARTS)


@pytest.mark.slow
def test_kernels_are_as_they_were_after_being_timed():
    from benchmarks import read_kernel as read

    matrix = Matrix(24, 6)
    before = read.read_rows
    found = pieces("counts", Workbench(Options(**TINY)).work("counts").call, 24 * 24, 1)
    assert read.read_rows is before
    assert found[-1].kernel == ""
    assert all(piece.ns_per_cell >= 0 for piece in found)
    assert matrix.read() is not None


def test_contenders_take_turns():
    order: list[str] = []
    contenders = [
        Contender("read", lambda: order.append("r")),
        Contender("a", lambda: order.append("a"), against="read"),
        Contender("b", lambda: order.append("b"), against="read"),
    ]
    times, failed = interleaved(contenders, 2)
    assert "".join(order) == "rab" + "rrarb" * 2
    assert set(times) == {*"ab", "read", "a, wall", "b, wall", "read, wall"}
    assert {len(taken) for taken in times.values()} == {2}
    assert failed == {}


def test_another_program_may_fail():
    def broken() -> None:
        raise RuntimeError("no")

    times, failed = interleaved([Contender("x", broken, foreign=True)], 1)
    assert times == {}
    assert failed == {"x": "failed: RuntimeError: no"}
    with pytest.raises(RuntimeError):
        interleaved([Contender("x", broken)], 1)


# ------------------------------------------------------------------------ other programs


@pytest.mark.slow
def test_what_is_not_installed_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "feerci", None)  # as if it were not there
    (row,) = run(Options(**TINY, only=["feerci"])).rows
    assert (row.ratio, row.note) == (None, "skipped: not installed")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import no_such_thing_here", "skipped: it lacks no_such_thing_here"),
        ("raise AttributeError('np.float')", "skipped: import failed: AttributeError: np.float"),
    ],
)
def test_why_an_import_failed_is_said(tmp_path, monkeypatch, source, says):
    (tmp_path / "broken_peer.py").write_text(source + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(peers.NotRun) as caught:
        peers.imported("broken_peer")
    assert str(caught.value) == says


@pytest.mark.slow
def test_installed_programs_are_called_with_both_classes(monkeypatch):
    seen = {}

    def feerci(impostors, genuines, is_sorted, m):
        assert (is_sorted, m) == (False, -1)
        seen["feerci"] = (len(genuines), len(impostors), genuines.mean() > impostors.mean())

    def get_eer_stats(genuine, impostor, ds_scores):
        assert ds_scores
        seen["pyeer"] = (len(genuine), len(impostor), genuine.mean() < impostor.mean())

    def eer(negatives, positives):
        seen["bob"] = (len(positives), len(negatives), positives.mean() > negatives.mean())

    class Experiment:
        def __init__(self, metric, same, different):
            assert different == ("full", "full")

        def run(self, x, labels):
            seen["evalify"] = len(x) == len(labels)

        def eer(self):
            return 0.0

    fakes = {
        "feerci": {"feerci": feerci},
        "pyeer": {},
        "pyeer.eer_info": {"get_eer_stats": get_eer_stats},
        "bob": {},
        "bob.measure": {"eer": eer},
        "evalify": {"Experiment": Experiment},
    }
    for name, content in fakes.items():
        module = types.ModuleType(name)
        vars(module).update(content, __path__=[])
        monkeypatch.setitem(sys.modules, name, module)
    only = ["feerci", "pyeer", "bob.measure", "evalify"]
    rows = by_key(run(Options(**TINY, only=only)))
    assert all(rows[name].ratio > 0 for name in only)
    classes = (16 * 5, 16 * 54, True)  # 16 rows of 60 are 960 scores
    assert seen == {"feerci": classes, "pyeer": classes, "bob": classes, "evalify": True}


# ------------------------------------------------------------------------ what may be offered


def test_without_a_switch_for_auc_it_says_so():
    def plain_call(scores):
        """Have no switch."""

    def switched(scores, auc=True):
        """Have one."""

    assert without_auc(switched) == {"auc": False}
    with pytest.raises(peers.NotRun, match="not offered: plain_call has no switch"):
        without_auc(plain_call)


@pytest.mark.slow
def test_auc_apart_is_the_difference(monkeypatch):
    from benchmarks import workbench

    def evaluate(scores, auc=True):
        sum(range(2_000_000 if auc else 10))

    monkeypatch.setattr(workbench, "evaluate", evaluate)
    rows = by_key(run(Options(**TINY, only=["auc"])))
    assert rows["evaluate, no auc"].ratio > 0
    assert rows["auc apart"].ratio > 0


def test_rounds_that_disagree_on_which_call_is_slower_give_no_ratio():
    """The quartile of the differences may be positive where that of their ratios is not."""
    queue = types.SimpleNamespace(
        bench=types.SimpleNamespace(options=types.SimpleNamespace(threads=1)),
        works={"evaluate @1": types.SimpleNamespace(cells=100)},
    )
    times = {"evaluate @1": np.array([4.0, 10.0]), "evaluate, no auc @1": np.array([5.0, 5.0])}
    noisy = suite._auc_apart(queue, times | {"read @1": np.array([0.5, 2.0])})
    assert (noisy.ratio, noisy.note) == (None, "too little to tell from the noise")
    times["evaluate @1"][0] = 6.0
    clear = suite._auc_apart(queue, times | {"read @1": np.array([0.5, 2.0])})
    assert (clear.low, clear.ratio, clear.high) == (2.125, 2.25, 2.375)


def test_vectors_overlap_as_is_said():
    for features_of, which in itertools.product((128, 512), ("apart", "overlapping")):
        x, labels = vectors(2_000, features_of, noises(features_of)[which], 10)
        assert x.dtype == np.float32 and np.allclose(np.linalg.norm(x, axis=1), 1, atol=1e-6)
        eer = be.verification(be.Scores.from_embeddings(x, labels)).eer.item()
        assert 0.03 < eer < 0.04 if which == "overlapping" else eer < 0.005


@pytest.mark.slow
def test_embeddings_are_held_against_their_product(report):
    rows = by_key(report)
    for call in CALLS:
        assert rows[f"embeddings: {call}, 24 x 4, apart"].ratio > 0
        assert rows[f"embeddings: {call}, 36 x 4, overlapping, float64"].ratio > 0
    row = rows["embeddings: be.evaluate, 24 x 4, overlapping"]
    assert row.note.startswith("unit vectors, EER ") and "ns a cell" in row.note
    assert f"embeddings: {FLAT}, 24 x 4, apart" in rows


def test_embeddings_are_streamed():
    x, labels = features(6, 4, 8)
    for dtype in ("float32", "float64"):
        scores = streamed(x, labels, dtype)
        assert scores._streams
        assert scores.dtype == dtype


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (["block", "start"], 24 * 4),
        (["base", "rows"], 2 * 4 * 4),
        (["base", "other", "rows"], 24 * 4),
    ],
)
def test_the_bytes_that_a_kernel_goes_over(parameters, expected):
    args = [np.zeros((6, 4), dtype=np.float32), np.zeros(2, dtype=np.int64)]
    assert handed(parameters, args) == expected
    assert handed(["x"], [1.0]) == 0
    grouped = namedtuple("Matrix", ["values", "rows"])(*args)
    assert handed(["matrix", "other"], [grouped, 3]) == 2 * 4 * 4


@pytest.mark.slow
def test_memory_is_measured_in_another_process(monkeypatch):
    monkeypatch.setattr(memory, "CASES", {"argsort": "np.argsort of the rows"})
    (row,) = run(
        Options(**{**TINY, "size": 600, "pairs": 360_000, "vectors": ()}, only=["memory"])
    ).rows
    if row.ratio is None:
        assert row.note.startswith("not offered")
    else:
        assert 0 <= row.ratio < math.inf
        assert row.bytes_per_cell == pytest.approx(4 * row.ratio)
        if sys.platform == "linux":
            assert row.ratio >= 1  # eight bytes of index for four of score


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("false") is None, reason="there is no program that fails")
def test_a_process_that_fails_is_a_line(monkeypatch):
    monkeypatch.setattr(memory, "CASES", {"counts": "counts"})
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    (row,) = run(Options(**{**TINY, "vectors": ()}, only=["memory"])).rows
    assert row.ratio is None
    assert row.note.startswith(("failed: the process ended with 1", "not offered"))


# ------------------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"only": ["cuonts"]}, "'cuonts'.*'counts'.*Did you mean 'counts'"),
        ({"size": 3}, "size is 3; expected .* at least 20"),
        ({"templates": 1}, "templates is 1"),
        ({"repeat": 0}, "repeat is 0"),
        ({"threads": 0}, "threads is 0"),
    ],
)
def test_bad_options(given, says):
    with pytest.raises(DataError, match=says):
        Options(**given)


def test_quick_is_smaller():
    plain, quick = Options(), Options(**QUICK)
    assert quick.size < plain.size
    assert quick.repeat < plain.repeat
    assert quick.embeddings == (3_000, 128)
    assert len(quick.sizes_of_vectors) < len(plain.sizes_of_vectors)
    assert Options(large=True).sizes_of_vectors[-1] == (100_000, 128)
    assert quick.growth == (500, 1_000, 2_000, 4_000)
    assert quick.parts == plain.parts == tuple(PARTS)
    assert Options(only=["memory", "counts"]).parts == ("counts", "memory")


def test_more_than_the_machine_has(monkeypatch):
    with pytest.raises(DataError, match="the kernels can have"):
        run(Options(**{**TINY, "threads": most_threads() + 1}))
    monkeypatch.setattr(suite.machine, "available", lambda: 10_000)
    with pytest.raises(DataError, match="GiB are free"):
        run(Options(**TINY))


# ------------------------------------------------------------------------ the command


@pytest.mark.slow
def test_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    small = ["--size", "60", "--templates", "6", "--repeat", "1", "--only", "counts"]
    assert main([*small, "--json", "figures.jsonl"], command=command) == 0
    said = capsys.readouterr()
    assert "counts" in said.out
    assert said.err == "wrote figures.jsonl\n"
    lines = (tmp_path / "figures.jsonl").read_text().splitlines()
    assert [json.loads(line)["record"] for line in lines[:2]] == ["machine", "row"]
    assert main([*small, "--quick", "--json", "-"], command=command) == 0
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert documents[0]["size"] == 60
    assert {d["part"] for d in documents if d["record"] == "row"} == {"counts"}


def test_command_lists_the_parts(capsys):
    assert main(["--list"], command=command) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(PARTS)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--only", "memry"], "Did you mean 'memory'?"),
        (["--size", "1"], "1 is not in the range x>=4"),
        (["--size", "8"], "size is 8; expected a whole number of at least 20"),
        (["--json", "nowhere/x"], "there is no folder nowhere"),
        (["--repeat", "0"], "is not in the range x>=1"),
    ],
)
def test_command_says_what_is_wrong(args, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*args], command=command) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert said.err.count("\n") == 1

"""The benchmarks run and say what they should; how fast anything is, is not tested."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import sys
import types

import numpy as np
import pytest
from benchmarks import memory, start, suite, users
from benchmarks.__main__ import command
from benchmarks.embeddings import CALLS
from benchmarks.matrices import Matrix
from benchmarks.options import PARTS, Options
from benchmarks.rows import AT_LEAST, AT_MOST, SECTIONS, WITHIN, Row
from benchmarks.suite import OTHERS, SWEEPS, VERSUS, Report, run
from benchmarks.table import json_lines, missed
from benchmarks.timing import Contender, interleaved
from benchmarks.workbench import WORK

from bioeval.base.errors import DataError
from bioeval.cli.program import main

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

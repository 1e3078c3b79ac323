"""Damaged files and odd options through every reader and command, by the rule in scripts/fuzz."""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

from fuzz_inputs import Input, number, valid_inputs, working_commands

SECONDS = 10
MEMORY = 1 << 30
_OURS = ("bioeval: ", "wrote ")
_NO_ROOM = re.compile("not enough memory|does not fit into memory")
_THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}


@dataclass(frozen=True)
class Outcome:
    """What an input did: its exit code (None: an exception), and what it wrote."""

    code: int | None
    error: str
    seconds: float  # of the processor
    memory: int = 0  # bytes above those before
    output: str = ""
    expected: str | None = None  # the output of the same input before it was damaged

    def complaint(self) -> str:
        """Return which part of the rule is broken; an empty string if none is."""
        if "Traceback" in self.error or self.code is None:
            return "traceback: " + (self.error.strip().splitlines() or ["?"])[-1]
        if self.code not in (0, 1, 2, 70):  # 70 without a traceback: no room for an output
            return f"exit code {self.code}"
        foreign = [line for line in self.error.splitlines() if not line.startswith(_OURS)]
        if foreign:
            return f"not a line of ours: {foreign[0]}"
        if self.code == 0 and self.expected not in (None, self.output):
            return "another result than that of the undamaged files"
        if self.code and "bioeval: error: " not in self.error:
            return "no error"
        if self.seconds > SECONDS:
            return f"{self.seconds:.1f} s"
        if self.memory > MEMORY or _NO_ROOM.search(self.error):
            return f"memory: {self.memory >> 20} MiB; {self.error}"
        return ""


@dataclass
class Row:
    """A line of the summary: one reader."""

    codes: Counter = field(default_factory=Counter)
    broken: int = 0
    seconds: float = 0.0
    memory: int = 0


def lay_out(found: Input, folder: Path) -> None:
    """Write the files of an input into an empty folder, and a pipe that nobody writes to."""
    for name, raw in found.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    os.mkfifo(folder / "fifo")


def _names(folder: str) -> set[str]:
    return {str(path) for path in Path(folder).rglob("*")}


@contextlib.contextmanager
def _room(size: int | None) -> Iterator[None]:
    """Let no file become larger than some bytes, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writes_none = sys.dont_write_bytecode
    try:
        if size is not None:
            sys.dont_write_bytecode = True  # it would be cut short, and kept
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        yield
    finally:
        sys.dont_write_bytecode = writes_none
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


def run_here(found: Input) -> Outcome:
    """Run an input in this process."""
    import bioeval as be
    from bioeval.cli.program import main

    start, code = time.process_time(), None
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        lay_out(found, Path(name))
        there, before = _names(name), _reset_peak()
        with _room(found.room), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(found.args)
            except be.BioevalError as error:
                code = 2
                err.write(f"bioeval: error: {error}\n")
            except (Exception, SystemExit):
                err.write(traceback.format_exc())
        peak = _memory("VmHWM") - before
        if code and found.room is not None and (left := _names(name) - there):
            err.write(f"left behind: {', '.join(sorted(left))}\n")
    seconds = time.process_time() - start
    output, expected = out.getvalue(), None
    if found.same_as:
        run_of_same_scores = run_here(found.same_as)
        expected = run_of_same_scores.output
        if found.names:  # a line may end within a name
            output, expected = (" ".join(text.split()) for text in (output, expected))
        for other, name in found.names.items():
            expected = expected.replace(other, name)
        if found.names and code != run_of_same_scores.code:
            err.write(f"exit code {code}, and {run_of_same_scores.code} with other names\n")
    return Outcome(code, err.getvalue(), seconds, max(0, peak), output, expected)


def run_apart(found: Input) -> Outcome:
    """Run an input as a process of its own, whose processor time is limited.

    Imports and compiling count, for which there is more time; a process that does nothing is
    waited for as long as a worker.
    """
    start = time.monotonic()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (6 * SECONDS,) * 2)
        if found.room is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (found.room,) * 2)

    with tempfile.TemporaryDirectory() as name:
        lay_out(found, Path(name))
        try:
            done = subprocess.run(
                [sys.executable, *["-B"] * (found.room is not None), "-m", "bioeval", *found.args],
                cwd=name, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, timeout=60 * SECONDS, check=False,
                preexec_fn=limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(None, "still running", time.monotonic() - start)
        except ValueError:  # a NUL in an argument, which no process can be given
            return Outcome(2, "bioeval: error: not an argument", 0.0)
    if done.returncode == -signal.SIGKILL:  # at the limit
        return Outcome(None, "still running", time.monotonic() - start)
    error = done.stderr.decode("utf-8", "replace")
    return Outcome(done.returncode, error, 0.0)  # imports and compiling are not timed


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    return 0


def _reset_peak() -> int:
    """Let the peak of this process's memory begin anew, and return the bytes it has now."""
    Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def worker(channel: Connection, seed: int, folder: str) -> None:
    """Run the inputs whose numbers come through the channel."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    own = Path(tempfile.mkdtemp(dir=folder))
    valid = valid_inputs(own)
    # Everything is imported and compiled before memory is limited.
    for found in (*valid, *working_commands(valid).values()):
        outcome = run_here(found)
        if outcome.code != 0 or outcome.complaint().startswith(("trace", "not", "exit")):
            channel.send(f"{found.reader}: {outcome.code} {outcome.error}")
            return
    resource.setrlimit(resource.RLIMIT_AS, (_memory("VmSize") + MEMORY,) * 2)
    channel.send("ready")
    while (index := channel.recv()) is not None:
        found = number(valid, seed, index)
        outcome = run_here(found)
        if outcome.seconds > SECONDS:  # a kernel was compiled for other types, which is kept
            outcome = run_here(found)
        channel.send(outcome)


@dataclass(frozen=True)
class Job:
    """An input that runs, since when, and the processor time that its worker had used before."""

    process: multiprocessing.process.BaseProcess
    index: int
    since: float
    used: float


def _processor_time(process: multiprocessing.process.BaseProcess) -> float:
    stat = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


class Workers:
    """Worker processes, each with the number of the input that it runs."""

    def __init__(self, jobs: int, seed: int, folder: str):
        self._seed, self._folder = seed, folder
        self._spawn = multiprocessing.get_context("spawn")
        self._busy: dict[Connection, Job] = {}
        self._jobs = jobs

    def _start(self) -> tuple[Connection, multiprocessing.process.BaseProcess]:
        ours, theirs = self._spawn.Pipe()
        process = self._spawn.Process(
            target=worker, args=(theirs, self._seed, self._folder), daemon=True
        )
        process.start()
        theirs.close()
        said = ours.recv() if ours.poll(600) else "a worker does not start"
        if said != "ready":
            raise SystemExit(f"fuzz: a valid input fails: {said}")
        return ours, process

    def run(self, indices: range):
        """Yield the number and the outcome of each input, in the order in which they end."""
        left = list(reversed(indices))
        for _ in range(min(self._jobs, len(left))):
            self._give(*self._start(), left)
        while self._busy:
            ready = wait(list(self._busy), timeout=1)
            for channel in [c for c in self._busy if c in ready or self._late(c)]:
                job = self._busy.pop(channel)
                try:
                    if channel not in ready:
                        raise TimeoutError
                    yield job.index, channel.recv()
                    self._give(channel, job.process, left)
                except (EOFError, OSError, TimeoutError) as error:
                    seconds = time.monotonic() - job.since
                    job.process.kill()
                    job.process.join()
                    late = isinstance(error, TimeoutError)
                    why = "still running" if late else f"ended by {job.process.exitcode}"
                    yield job.index, Outcome(None, why, seconds)
                    if left:
                        self._give(*self._start(), left)

    def _late(self, channel: Connection) -> bool:
        """Whether an input takes too long; on a busy machine, of the processor's time."""
        job = self._busy[channel]
        used = _processor_time(job.process) - job.used
        return used > 2 * SECONDS or time.monotonic() - job.since > 60 * SECONDS

    def _give(
        self, channel: Connection, process: multiprocessing.process.BaseProcess, left: list[int]
    ) -> None:
        channel.send(left[-1] if left else None)
        if left:
            used = _processor_time(process)
            self._busy[channel] = Job(process, left.pop(), time.monotonic(), used)


def keep(found: Input, index: int, outcome: Outcome, folder: Path) -> None:
    """Keep the files of an input that broke the rule, its error, and the command to repeat it."""
    place = folder / str(index)
    place.mkdir(parents=True)
    lay_out(found, place)
    said = f"{shlex.join(['bioeval', *found.args])}\n# {outcome.complaint()}\n"
    (place / "command").write_bytes(said.encode("utf-8", "replace"))
    (place / "error").write_bytes(outcome.error.encode("utf-8", "replace"))


def show(rows: dict[str, Row]) -> None:
    """Print the summary."""
    print("| reader | inputs | exit 0 | exit 1 | exit 2 | broken | slowest, s | most memory, MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for name, row in sorted(rows.items()):
        codes = " | ".join(str(row.codes[code]) for code in (0, 1, 2))
        print(
            f"| {name} | {row.codes.total()} | {codes} | {row.broken} | {row.seconds:.1f} | "
            f"{row.memory >> 20} |"
        )


def main() -> int:
    """Run the inputs; exit code 1 if one of them broke the rule."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", add_help=False)
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--calls", type=int)
    given = parser.parse_args()
    os.environ |= _THREADS
    if given.calls is not None:
        from fuzz_calls import run

        return 1 if run(given.calls, given.seed) else 0
    rows: dict[str, Row] = defaultdict(Row)
    kept = Path(tempfile.gettempdir()) / f"bioeval-fuzz-{given.seed}-{os.getpid()}"
    start = time.monotonic()
    end = given.first + given.inputs
    apart = min(given.processes, given.inputs)
    with tempfile.TemporaryDirectory() as folder:
        own = Path(tempfile.mkdtemp(dir=folder))
        valid = valid_inputs(own)

        def note(index: int, outcome: Outcome) -> None:
            found = number(valid, given.seed, index)
            row = rows[found.reader]
            row.codes[outcome.code] += 1
            row.seconds = max(row.seconds, outcome.seconds)
            row.memory = max(row.memory, outcome.memory)
            if complaint := outcome.complaint():
                row.broken += 1
                print(f"input {index} ({found.reader}): {complaint[:300]}", file=sys.stderr)
                keep(found, index, outcome, kept)

        for index, outcome in Workers(given.jobs, given.seed, folder).run(
            range(given.first, end - apart)
        ):
            note(index, outcome)
        for index in range(end - apart, end):
            found = number(valid, given.seed, index)
            note(index, run_apart(found) if found.args else run_here(found))
    show(rows)
    broken = sum(row.broken for row in rows.values())
    seconds = time.monotonic() - start
    print(f"\n{given.inputs:,} inputs, {broken} broken, {seconds:.0f} s")
    if broken:
        print(f"kept in {kept}: in each folder, run what `command` says")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

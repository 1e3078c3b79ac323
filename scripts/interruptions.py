"""Whether a folder of results is always one run's: `bioeval run --force` stopped at random moments.

    .venv/bin/python scripts/interruptions.py [ROUNDS]

Two systems are run into one folder, one of them with a plot. In each round a run is killed,
terminated or interrupted at a random moment, or two runs start at once. After it, the folder must
hold exactly the files of one run. At the end, one run more must leave nothing else beside or in the
folder. The same is done with a file of another program in the folder, so that results are put in
place one by one: a run that is killed meanwhile may leave no summary, and no other mixture.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import bioeval as be
from bioeval.cli import main

WORDS = {
    "a": ["run", "a.npz", "--out", "out", "--force", "--plots"],
    "b": ["run", "b.npz", "--out", "out", "--force"],
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(x.relative_to(folder)): x.read_bytes() for x in folder.rglob("*") if x.is_file()}


def started(name: str) -> int:
    """Run a system in another process, which has all libraries already."""
    if child := os.fork():
        return child
    try:
        os._exit(run(name))
    finally:  # an interruption outside of the command ends this process, and no more
        os._exit(1)


def run(name: str) -> int:
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        return main(WORDS[name])


def state(runs: dict[str, dict[str, bytes]]) -> str:
    """Return whose files the folder holds; "mixed" and "missing" are faults."""
    if not Path("out").is_dir():
        return "missing"
    held = contents(Path("out"))
    is_one_by_one = held.pop("notes.txt", None) is not None
    if is_one_by_one and "summary.json" not in held:
        return "no summary"
    held = {name: text for name, text in held.items() if ".part" not in name}
    return next((name for name, files in runs.items() if held == files), "mixed")


def rounds(number: int, *notes: str) -> Counter[str]:
    """Return how often each way to end left each state; `notes` are other files in the folder."""
    draw = random.Random(1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    be.save(be.Scores.from_pairs([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0]), "a.npz")
    be.save(be.simulate(5, 2, random_state=2), "b.npz")
    runs, longest = {}, {}
    for name in WORDS:
        run(name)  # here, so that all libraries are loaded
        start = time.monotonic()
        os.waitpid(started(name), 0)
        longest[name] = time.monotonic() - start
        runs[name] = contents(Path("out"))
        shutil.rmtree("out")
    os.waitpid(started("a"), 0)
    for name in notes:
        Path("out", name).touch()
    found = Counter[str]()
    for place in range(number):
        how = ["SIGKILL", "SIGTERM", "SIGINT", "two at once"][place % 4]
        if how == "two at once":
            children = [started("a"), started("b")]
            codes = sorted(os.waitstatus_to_exitcode(os.waitpid(x, 0)[1]) for x in children)
            how += f", exit codes {codes}"
        else:
            name = "ab"[place // 4 % 2]
            child = started(name)
            end = time.monotonic() + draw.uniform(0.3, 1.2) * longest[name]
            while not (ended := os.waitpid(child, os.WNOHANG)[0]) and time.monotonic() < end:
                time.sleep(0.001)
            if not ended:
                os.kill(child, getattr(signal, how))
                os.waitpid(child, 0)
            how += " after the end" if ended else ""
        found[f"{how}: {state(runs)}"] += 1
    os.waitpid(started("b"), 0)
    found[f"a whole run at the end: {state(runs)}"] += 1
    debris = {*os.listdir(), *os.listdir("out")} - {"a.npz", "b.npz", "out", *runs["b"], *notes}
    shutil.rmtree("out")
    found[f"left by killed runs: {sorted(debris) or 'nothing'}"] += 1
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
        found = rounds(number)
        one_by_one = rounds(number // 4, "notes.txt")
        for line, count in [*sorted(found.items()), *sorted(one_by_one.items())]:
            print(f"{count:5} {line}")
    wrong = [x for x in found | one_by_one if ": m" in x or "['" in x]
    sys.exit(f"a folder was not one run's: {', '.join(wrong)}" if wrong else 0)

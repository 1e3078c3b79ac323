"""Packages beside bioeval that lie: a part of scripts/fuzz.

Each package is drawn: what its modules do when they are imported, and what its views, measures,
answers and formats do when they are called. The rule: a command of bioeval gives what it gives
without the package, and what is its own besides; files of a format of the package are read, or are
one line of error; on standard error are lines of bioeval, and what the package printed.

``python scripts/fuzz_packages.py FOLDER`` runs the commands in a folder, and prints what they did.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

#: What a package prints.
SAYS = "from a package"

#: What code of a package may do anywhere; VALUE stands for what is asked of it.
DEEDS = {
    "does what it must": "return VALUE",
    "prints": f"print({SAYS!r}); return VALUE",
    "writes bytes": f"sys.stdout.buffer.write(b'{SAYS}\\n'); return VALUE",
    "changes the directory": "os.chdir('/'); return VALUE",
    "ends the program": "sys.exit(0)",
    "ends it with a text": "sys.exit('the end')",
    "fails": "raise ValueError('of the\\n package')",
    "returns None": "return None",
    "returns a number": "return 5",
    "returns a text": "return 'text'",
    "returns a list": "return [1, None]",
    "returns itself": "return sys.modules[__name__]",
}

#: The same for functions of arrays.
OF_ARRAYS = {
    "changes its arguments": "far[...] = 0; frr[...] = 1; return far",
    "returns a part": "return far[:1]",
    "rises and falls": "return (far - 0.3) ** 2",
    "is out of bounds": "return far - 7",
    "returns NaN": "return far * float('nan')",
}

AT_IMPORT = {
    "nothing": "", "prints": f"print({SAYS!r})", "changes the directory": "os.chdir('/')",
    "changes it to a folder that goes":
        "import tempfile; d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)",
    "both": f"print({SAYS!r}); os.chdir('..')", "ends the program": "sys.exit(0)",
    "fails": "1 / 0", "closes standard output": "sys.stdout.close()",
}  # fmt: skip

VIEWS = (
    '("verification",), "code"',
    '("",), "code"',
    '("open-set", "closed"), "code"',
    '(), "code", dim="threshold"',
    '(), "code", of="Dataset"',
    '(), "code", of="DataTree"',
    '("lab",), "code"',
    '("zoo",), "code", whole=True',
    '("verification",), "code", whole=True',
    '(1,), "code"',
    '("re-identification",), "nowhere"',
    '(), "code", dim="rank"',
)

MANIFEST = """
import os, sys
{at_import}
from bioeval.base.manifest import StudyManifest, View
STUDY = StudyManifest(
    calls={{"code": ("lab_of_lies",)}}, views=(View({view}),), scalars="code.SCALARS",
    hooks={{"with_doubts": "code.with_doubts", "why_undefined": "code.why_undefined"}},
)
"""

CODE = """
import os, sys
{at_import}
from pathlib import Path
from bioeval import Scores
from bioeval.base import Scalar
from bioeval.document import Section
from bioeval.scores import Format
def lab_of_lies(): {call}
def section(results): {section}
def of_rates(far, frr): {of_rates}
def with_doubts(tree, scores, protocol): {with_doubts}
def why_undefined(scores, protocol): {why_undefined}
def recognise(file): {recognise}
def read(path, options): {read}
def write(scores, path): {write}
def losses(scores): {losses}
SCALARS = (Scalar("lies", name="min_lies", of_rates=of_rates, best="min", label="lies",
                  results=("task",)),)
FORMAT = Format(name="lies", holds="a lie", recognise=recognise, read=read, suffixes=(".lie",),
                written="lies", write=write, losses=losses)
"""

#: What is asked of each function.
ASKED = {
    "call": "1", "section": "Section('lies', '', ())",
    "of_rates": "far + frr", "with_doubts": "tree",
    "why_undefined": "''", "recognise": "path_of(file)", "losses": "[]",
    "read": "Scores.from_pairs([0.1, 0.9], [1, 0], kind='distance')",
    "write": "path.write_text('0')",
}  # fmt: skip

#: The commands that are run; the last ones are about files of the package's own format.
COMMANDS = (
    ["run", "s.npz", "--json", "--interval", "wilson"],
    ["run", "s.npz", "--interval", "wilson", "--protocol", "course-all-vs-all"],
    ["over-time", "s.npz", "--meta", "seen_at=camera"],
    ["convert", "s.npz", "out.csv"],
    ["run", "x.lie", "--json", "--interval", "wilson"],
    ["convert", "s.npz", "out.lie"],
)
_OWN = 4  # commands without the format of the package


def drawn(rng: random.Random) -> dict[str, str]:
    """Return the files of a package: one or two lies, all else as it must be."""
    functions = {name: "return " + value for name, value in ASKED.items()}
    functions["recognise"] = "return True"
    at_import, view = ["", ""], VIEWS[6]
    for _ in range(rng.choice((1, 2, 3))):
        what = rng.choice((*functions, "import", "import", "view", "view"))
        if what == "import":
            at_import[rng.randrange(2)] = rng.choice(list(AT_IMPORT.values()))
        elif what == "view":
            view = rng.choice(VIEWS)
        else:
            deeds = list(DEEDS.values()) + list(OF_ARRAYS.values()) * (what == "of_rates")
            value = "True" if what == "recognise" else ASKED[what]
            functions[what] = rng.choice(deeds).replace("VALUE", value)
    return {
        "lies/__init__.py": MANIFEST.format(at_import=at_import[0], view=view),
        "lies/code.py": CODE.format(at_import=at_import[1], **functions),
        "lies-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: lies\nVersion: 1.0\n",
        "lies-1.0.dist-info/entry_points.txt":
            "[bioeval.studies]\nlab = lies\n[bioeval.formats]\nlab = lies.code\n",
    }  # fmt: skip


def lay_out(folder: Path, files: dict[str, str], scores: bytes) -> None:
    """Write a package, and a folder of data to run commands in."""
    for name, text in files.items():
        path = folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "here").mkdir(parents=True)
    (folder / "here" / "s.npz").write_bytes(scores)
    (folder / "here" / "x.lie").write_text("0.1 1\n", encoding="utf-8")


def commands_apart(folder: Path, switch: str = "") -> list[dict[str, Any]]:
    """Run the commands in a process of their own; return what each did."""
    found = subprocess.run(
        [sys.executable, __file__, str(folder)],
        env={**os.environ, "PYTHONPATH": str(folder / "site"), "BIOEVAL_PLUGINS": switch},
        cwd=folder / "here", capture_output=True, text=True, timeout=300, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    path = folder / "outcomes.json"
    if not path.exists():
        last = (found.stderr.strip().splitlines() or ["nothing was said"])[-1]
        return [{"code": found.returncode, "out": "", "err": f"Traceback: no outcome; {last}"}]
    return json.loads(path.read_text(encoding="utf-8"))


def complaints(outcomes: list[dict[str, Any]], expected: list[dict[str, Any]]) -> Iterator[str]:
    """Yield which parts of the rule are broken."""
    for number, did in enumerate(outcomes):
        command, error = " ".join(COMMANDS[number]), did["err"]
        # What is wrong with a package is said once a process.
        is_named = any("lies 1.0" in earlier["err"] for earlier in outcomes[: number + 1])
        lines = [line for line in error.splitlines() if SAYS not in line]
        foreign = [line for line in lines if not line.startswith(("bioeval: ", "wrote "))]
        errors = [line for line in lines if line.startswith("bioeval: error: ")]
        if "Traceback" in error or did["code"] not in (0, 1, 2):
            yield f"{command}: exit {did['code']}: {error.strip().splitlines()[-1:]}"
        elif foreign:
            yield f"{command}: not a line of ours: {foreign[0]}"
        elif did["code"] and not (is_named and len(errors) == 1):
            yield f"{command}: not one error that names the package: {errors}"
        elif did["code"] and did["out"]:
            yield f"{command}: exit {did['code']} with an output"
        elif did["code"] == 0 and not did["out"] and not did["new"]:
            yield f"{command}: exit 0 and nothing was done"
        elif number < _OWN and did["new"] != expected[number]["new"]:
            yield f"{command}: wrote {did['new']}; expected {expected[number]['new']}"
        elif number < _OWN and did["code"]:
            yield f"{command}: fails by a package that it does not need: {errors[0]}"
        elif "--json" in COMMANDS[number] and not did["code"]:
            wanted = json.loads(expected[number]["out"]) if number < _OWN else None
            with contextlib.suppress(ValueError):
                document = json.loads(did["out"])
                if wanted is not None and (where := lacking(wanted, document)):
                    yield f"{command}: {where} is not what it is without the package"
                continue
            yield f"{command}: the output is no JSON: {did['out'][:80]!r}"
        elif number < _OWN and (rows := rows_of(expected[number]) - rows_of(did)):
            yield f"{command}: without the package, the table has {min(rows)}"


def rows_of(did: dict[str, Any]) -> set[tuple[str, ...]]:
    """Return the lines of an output as words; a package may add some, and widths change by them."""
    return {tuple(line.split()) for line in did["out"].splitlines()}


def lacking(wanted: Any, document: Any, where: str = "the document") -> str:
    """Return where a document lacks a part of another one; more members of objects are allowed."""
    if isinstance(wanted, dict) and isinstance(document, dict):
        for name, value in wanted.items():
            if name not in document:
                return f"{where}: {name}"
            if inside := lacking(value, document[name], name):
                return inside
        return ""
    if isinstance(wanted, list) and isinstance(document, list) and len(wanted) == len(document):
        pairs = zip(wanted, document, strict=True)
        return next(filter(None, (lacking(one, other, where) for one, other in pairs)), "")
    return "" if wanted == document else where


def run_packages(number: int, seed: int, scores: bytes, folder: Path) -> dict[int, list[str]]:
    """Install packages one after the other; return what is broken, by the number of the package."""
    plain = folder / "plain"
    lay_out(plain, {}, scores)
    folders = [folder / str(index) for index in range(number)]
    for index, place in enumerate(folders):
        lay_out(place, drawn(random.Random(f"{seed}/package/{index}")), scores)
    with ThreadPoolExecutor(2) as pool:
        expected = pool.submit(commands_apart, plain, "off")
        outcomes = list(pool.map(commands_apart, folders))
        found = {i: [*complaints(x, expected.result())] for i, x in enumerate(outcomes)}
    return {index: said for index, said in found.items() if said}


def run_here(folder: Path) -> None:
    """Run the commands in this process, and write what each did."""
    from bioeval.cli import main

    here, outcomes = os.getcwd(), []
    for words in COMMANDS:
        before = {path.name for path in Path(here).iterdir()}
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
        code: int | None = None
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except (Exception, SystemExit):
                err.write(traceback.format_exc())
        texts = [stream.detach().getvalue().decode() for stream in map(flushed, (out, err))]
        new = sorted(path.name for path in Path(here).iterdir() if path.name not in before)
        outcomes.append({"code": code, "out": texts[0], "err": texts[1], "new": new})
        os.chdir(here)  # for the next command; what was written elsewhere is missing in `new`
    (folder / "outcomes.json").write_text(json.dumps(outcomes), encoding="utf-8")


def flushed(stream: io.TextIOWrapper) -> Any:
    """Return a stream, written out."""
    stream.flush()
    return stream


if __name__ == "__main__":
    run_here(Path(sys.argv[1]))

"""How many one-line mistakes in the code the nearest tests find.

    scripts/mutants [--number 40] [--seed 1] [--seconds 60] [FILE ...]

Each mutant changes one operator, comparison, constant or returned value in a copy of the
repository. The tests nearest to the file (`scripts/near.py`), and then to the modules that import
it, run on the copy until one fails: the mutant is killed. A mutant that lives is equivalent to the
code, or a gap in the tests. Without files, mutants come in turn from kernels, tallies, results,
stats, partition and file formats.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from near import ROOT, near

PACKAGES = ("kernels", "tallies", "results", "stats", "partition", "scores/formats")
SOURCES = sorted((ROOT / "bioeval").rglob("*.py"))
_LEFT_OUT = shutil.ignore_patterns(".venv*", ".git", ".*_cache", "_build", "generated", "*.pyc")
_SKIPPED = (ast.Raise, ast.JoinedStr)
_COMPARISONS = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
}  # fmt: skip
_OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
    ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed place of one line: columns count bytes, as those of ``ast`` do."""

    path: Path
    line: int
    start: int
    end: int
    new: str

    def lines(self) -> tuple[str, str]:
        """Return the line as it is and as it becomes."""
        old = self.path.read_bytes().splitlines(keepends=True)[self.line - 1]
        return old.decode(), (old[: self.start] + self.new.encode() + old[self.end :]).decode()

    def write(self, path: Path) -> None:
        """Write the file with the mistake."""
        lines = self.path.read_bytes().splitlines(keepends=True)
        lines[self.line - 1] = self.lines()[1].encode()
        path.write_bytes(b"".join(lines))


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what computes: no annotations, default arguments, raised errors or ``strict=True``."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "args", "decorator_list") and not isinstance(
            node, ast.Call
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            strict = isinstance(child, ast.keyword) and child.arg == "strict"
            if isinstance(child, ast.AST) and not (strict or isinstance(child, _SKIPPED)):
                yield child
                yield from _code(child)


def _between(text: list[bytes], left: ast.expr, right: ast.expr, pair: tuple[str, str]) -> Iterator:
    """Yield line, start, end and new text of the operator between two operands of one line."""
    if left.end_lineno == right.lineno:
        gap = text[right.lineno - 1][left.end_col_offset : right.col_offset]
        if found := re.search(rb"(?<!\w)%b(?!\w)" % re.escape(pair[0].encode()), gap):
            at = left.end_col_offset
            yield right.lineno, at + found.start(), at + found.end(), pair[1]


def mutants(path: Path) -> list[Mutant]:
    """Return every mutant of a file."""
    source = path.read_bytes()
    text, found = source.splitlines(keepends=True), []
    for node in _code(ast.parse(source)):
        if isinstance(node, ast.Compare):
            for left, op, right in zip(
                [node.left, *node.comparators], node.ops, node.comparators, strict=False
            ):
                found += _between(text, left, right, _COMPARISONS[type(op)])
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            found += _between(text, node.left, node.right, _OPERATORS[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                found += _between(text, left, right, _OPERATORS[type(node.op)])
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
            value = node.value
            new = not value if isinstance(value, bool) else value + 1
            found.append((node.lineno, node.col_offset, node.end_col_offset, repr(new)))
        elif (
            isinstance(node, ast.Return)
            and node.value is not None
            and node.value.lineno == node.value.end_lineno
        ):
            value = node.value
            found.append((value.lineno, value.col_offset, value.end_col_offset, "None"))
    return [Mutant(path, *place) for place in found]


def draw(number: int, seed: int, files: list[Path]) -> Iterator[Mutant]:
    """Yield mutants in turn from each group of files, drawn without replacement."""
    groups = [[path] for path in files] or [
        sorted((ROOT / "bioeval" / package).rglob("*.py")) for package in PACKAGES
    ]
    pools = [[m for path in group for m in mutants(path)] for group in groups]
    for i, pool in enumerate(pools):
        random.Random(f"{seed} {i}").shuffle(pool)
    drawn = 0
    while drawn < number and any(pools):
        for pool in filter(None, pools):
            if drawn < number:
                drawn += 1
                yield pool.pop()


def nearest(file: Path) -> list[str]:
    """Return the tests near a file, and then those near the modules that import it."""
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    name = re.compile(rf"\b{module}\b|from {module.rpartition('.')[0]} import .*\b{file.stem}\b")
    importers = [x for x in SOURCES if name.search(x.read_text(encoding="utf-8"))]
    chosen: dict[str, None] = {}
    for path in [file, *importers]:
        for why, tests in near(path):
            if why == "uses its public name":  # and all that come after
                break
            chosen |= dict.fromkeys(() if why == "limits of every module" else tests)
    return list(chosen)


def killer(copy: Path, file: Path, seconds: float) -> str:
    """Return the test that fails on the copy; an empty string if none does."""
    call = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "--no-header", "--all"]
    try:
        done = subprocess.run(
            [*call, f"--seconds={seconds}", *nearest(file)],
            cwd=copy,
            env=os.environ
            | {"PYTHONPATH": str(copy), "OPENBLAS_NUM_THREADS": "1"}
            | {"NUMBA_CACHE_DIR": str(copy.parent / "kernels")},  # a file is compiled anew, not all
            capture_output=True,
            text=True,
            timeout=3 * seconds + 60,
        )
    except subprocess.TimeoutExpired:
        return "the tests do not end"
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if not failed and done.returncode not in (0, 2):  # 2: the time is up
        return f"exit code {done.returncode}"
    return failed[1] if failed else ""


def main() -> None:
    """Draw mutants, run the tests near each and print the share that is killed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60, help="begin no test after so long")
    parser.add_argument("files", type=Path, nargs="*")
    wanted = parser.parse_args()
    killed = number = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "bioeval"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=_LEFT_OUT)
        if (data := ROOT.parent / "shared").is_dir():
            (copy.parent / "shared").symlink_to(data)
        for mutant in draw(wanted.number, wanted.seed, [x.resolve() for x in wanted.files]):
            inside = mutant.path.relative_to(ROOT)
            mutant.write(copy / inside)
            by = killer(copy, mutant.path, wanted.seconds)
            shutil.copy(mutant.path, copy / inside)
            number += 1
            killed += bool(by)
            old, new = (line.strip() for line in mutant.lines())
            print(f"{'killed' if by else 'LIVES'}  {inside}:{mutant.line}  {by}")
            print(f"    {old}\n    {new}", flush=True)
    print(f"{killed} of {number} mutants are killed")


if __name__ == "__main__":
    main()

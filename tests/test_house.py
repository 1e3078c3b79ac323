"""The size and the shape of the package: each figure beside its bound.

``pytest --all tests/test_house.py -s`` prints the figures. A bound is never raised to make room:
what a change adds, it takes away elsewhere, or the change says why the house must grow.
"""

from __future__ import annotations

import ast
import functools
import io
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # in scripts/lint

PACKAGE = Path(__file__).resolve().parents[1] / "bioeval"
MODULES = sorted(PACKAGE.rglob("*.py"))
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)

# Data of 600 x 600, on which a call loads what it needs and nothing else.
DATA = """
import numpy as np, bioeval as be
scores = be.Scores(np.random.default_rng(0).random((600, 600)), np.repeat(np.arange(100), 6))
"""


def figure(what: str, found: int, bound: int) -> None:
    """Print a figure beside its bound, and hold it."""
    print(f"\n{what}: {found:,} (at most {bound:,})", end="")
    assert found <= bound, f"{what}: {found:,}, at most {bound:,}"


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def tokens(path: Path) -> int:
    """Tokens of code: without comments, and a docstring is one."""
    text = path.read_text(encoding="utf-8")
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    return sum(t.type not in skipped for t in tokenize.generate_tokens(io.StringIO(text).readline))


def nodes(kind: type | tuple[type, ...]) -> Iterator[tuple[Path, ast.AST]]:
    return ((path, node) for path, node in all_nodes() if isinstance(node, kind))


@functools.cache
def all_nodes() -> list[tuple[Path, ast.AST]]:
    trees = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES]
    return [(path, node) for path, tree in trees for node in ast.walk(tree)]


CORE = [path for path in MODULES if "studies" not in path.relative_to(PACKAGE).parts[:1]]


def test_modules_lines_and_tokens_of_the_core():
    figure("modules of the core", len(CORE), 220)
    figure("lines of the core", sum(map(lines, CORE)), 58_160)
    figure("tokens of the core", sum(map(tokens, CORE)), 377_400)


def test_lines_of_studies():
    """Who carries on a study reads no more; a new study is a new folder."""
    of_study = Counter()
    for path in set(MODULES) - set(CORE):
        of_study[path.relative_to(PACKAGE).parts[1]] += lines(path)
    name, most = of_study.most_common(1)[0]
    print(f"\nlines of all studies: {of_study.total():,}", end="")
    figure(f"lines of the largest study, {name}", most, 5_240)


@pytest.mark.parametrize(("call", "bound"), [("verification", 13_950), ("evaluate", 17_780)])
def test_a_call_loads_few_lines(call, bound):
    code = f"{DATA}be.{call}(scores)\nimport sys\nprint(*[m for m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "sklearn" not in loaded
    assert "matplotlib" not in loaded
    assert "dask" not in loaded
    own = [name for name in loaded if name == "bioeval" or name.startswith("bioeval.")]
    paths = [PACKAGE.joinpath(*name.split(".")[1:]) for name in own]
    files = [p / "__init__.py" if p.is_dir() else p.with_suffix(".py") for p in paths]
    figure(f"lines that be.{call} loads", sum(map(lines, files)), bound)


def test_texts_are_written_with_line_feeds_on_every_system():
    """Without an argument `newline`, Windows writes CR LF, and another digest of the file."""
    for path, node in nodes(ast.Call):
        name = ast.unparse(node.func)
        mode = ast.unparse(node.args[1]) if name == "open" and node.args[1:] else ""
        given = {x.arg for x in node.keywords}
        if name.endswith(".write_text") and "encoding" in given or mode in ("'w'", "'a'", "'x'"):
            assert {"encoding", "newline"} <= given, f"{path}:{node.lineno}"


def test_a_name_of_a_class_is_used_once():
    names = Counter(node.name for _, node in nodes(ast.ClassDef))
    figure("names of classes used twice", sum(n > 1 for n in names.values()), 0)


def test_kinds_of_counts_and_scores_are_seldom_asked():
    kinds = ("Tally", "Job", "Scores", "FoldedVerification", "FoldedIdentification")
    asked = 0
    for _, node in nodes(ast.Call):
        if getattr(node.func, "id", "") == "isinstance":
            asked += any(ast.unparse(node.args[1]).endswith(kind) for kind in kinds)
    figure("questions for the kind of a tally, a job or scores", asked, 55)


def test_private_functions_have_few_parameters():
    found = []
    for path, node in nodes(FUNCTION):
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        count = len([a for a in given if a.arg not in ("self", "cls")])
        if count > 8 and node.name.startswith("_") and not node.name.startswith("__"):
            found.append(f"{path.name}: {node.name}")
    figure(f"private functions over 8 parameters {found}", len(found), 0)


def test_bodies_of_functions_are_short():
    found = []
    for path, node in nodes(FUNCTION):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body and node.end_lineno - body[0].lineno + 1 > 90:
            found.append(f"{path.name}: {node.name}")
    figure(f"bodies over 90 lines {found}", len(found), 0)


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

#: Turns at which a reader stops, for each 1,000 lines of code (no comments, no docstrings): what
#: was reached. CONTRIBUTING, "How we write code", says what to write in their place.
READING = {
    "comprehensions": 17.5,
    "comprehensions in comprehensions": 0.0,
    "conditional expressions": 9.0,
    "a, b = (f(x) for ...)": 0.08,
    "functions with a variable `found`": 0.11,
    "tuples only to be starred": 3.8,
    "fmt: skip": 0.1,
    "functions of more than 8 lines without docstring": 0.0,
}


def is_named_for_nothing(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has a variable `found`."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    return any(name.id == "found" and isinstance(name.ctx, ast.Store) for name in names)


def lines_of_code(path: Path) -> int:
    """Lines with code: without comments, blank lines and docstrings."""
    text = path.read_text(encoding="utf-8")
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    skipped |= {tokenize.ENDMARKER}
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTION)) and ast.get_docstring(node):
            code -= {*range(node.body[0].lineno, node.body[0].end_lineno + 1)}
    return len(code)


def turns_of(node: ast.AST) -> Iterator[str]:
    """Yield the turns at which a reader stops in a node, without those inside it."""
    if isinstance(node, COMPREHENSIONS):
        yield "comprehensions"
        inside = [x for child in ast.iter_child_nodes(node) for x in ast.walk(child)]
        if any(isinstance(x, COMPREHENSIONS) for x in inside):
            yield "comprehensions in comprehensions"
    elif isinstance(node, ast.IfExp):
        yield "conditional expressions"
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        if isinstance(node.value, (ast.GeneratorExp, ast.ListComp)):
            yield "a, b = (f(x) for ...)"
    elif isinstance(node, ast.Call):
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                yield "tuples only to be starred"
    elif isinstance(node, FUNCTION):
        if node.end_lineno - node.lineno > 8 and not ast.get_docstring(node):
            yield "functions of more than 8 lines without docstring"
        if is_named_for_nothing(node):
            yield "functions with a variable `found`"


def test_code_reads_by_itself():
    places = defaultdict(list)
    for path, node in all_nodes():
        for turn in turns_of(node):
            places[turn].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    for path in MODULES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "fmt: skip" in line:
                places["fmt: skip"].append(f"{path.relative_to(PACKAGE)}:{number}")
    code = sum(map(lines_of_code, MODULES)) / 1000
    print(f"\n{code:.1f} thousand lines of code; for each:", end="")
    beyond = {}
    for turn, bound in READING.items():
        number = len(places[turn])
        print(f"\n  {turn}: {number / code:.2f} (at most {bound})", end="")
        if number / code > bound:
            beyond[turn] = places[turn][:9]
    assert not beyond

"""Each study can be taken away, with those that need it: the rest stands.

Every other module is imported, every public name and command is there, the help is printed, and
scores are evaluated. Three studies are taken away with their tests, and all other default tests
pass; ``BIOEVAL_WITHOUT="zoo reid"`` takes others.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import near
import pytest

import bioeval as be
from bioeval.base.studies import manifests

pytestmark = pytest.mark.slow  # a copy of the package for each study

PACKAGE = Path(be.__file__).parent
TESTS = Path(__file__).parent

REST = """
import importlib, pathlib, sys
import click
import bioeval as be
from bioeval.cli.lazy_group import COMMANDS, root

gone = sys.argv[1:]
assert str(pathlib.Path(be.__file__).parents[1]) == str(pathlib.Path.cwd()), be.__file__
for path in sorted(pathlib.Path("bioeval").rglob("*.py")):
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    if not name.endswith("__main__"):
        importlib.import_module(name)
for public in (be, be.plot, be.stats):
    for name in dir(public):
        getattr(public, name)
for name in COMMANDS:
    assert root.get_command(click.Context(root), name) is not None, name
assert not {f"bioeval.studies.{name}" for name in gone} & sys.modules.keys()
scores = be.simulate(6, 3)
for result in (be.evaluate(scores), be.open_set(scores), be.verification(scores)):
    be.show(result)
if "summaries" not in gone:
    be.show(be.summary(scores))
"""


def needing(name: str) -> set[str]:
    """Return a study and all that need it, by way of others, too."""
    found = {name}
    while more := {x for x, study in manifests().items() if found & {*study.needs}} - found:
        found |= more
    return found


@pytest.fixture(scope="module")
def rest(tmp_path_factory):
    """Return what copies the package without some studies, and runs a program there."""

    def run(taken, *arguments):
        folder = tmp_path_factory.mktemp("rest")
        gone = [PACKAGE / "studies" / name for name in taken]

        def left_out(where, names):
            return [name for name in names if Path(where) / name in gone]

        copy = folder / "bioeval"
        shutil.copytree(PACKAGE, copy, ignore=left_out, copy_function=shutil.copy2)
        given = {**os.environ, "PYTHONPATH": str(folder)}
        return subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=given, capture_output=True, text=True
        )

    return run


@pytest.mark.parametrize("name", manifests())
def test_the_rest_stands_without_a_study(name, rest):
    taken = needing(name)
    done = rest(taken, "-W", "error", "-c", REST, *taken)
    assert done.returncode == 0, done.stderr[-2000:]


def test_nothing_of_studies_is_left_where_all_are_taken(rest):
    done = rest(manifests(), "-m", "bioeval", "--help")
    assert done.returncode == 0, done.stderr[-2000:]
    for study in manifests().values():
        for command in study.commands:
            assert f"  {command.name} " not in done.stdout
    missing = rest(manifests(), "-c", "import bioeval as be; be.zoo")
    assert "AttributeError: bioeval has no 'zoo'" in missing.stderr


#: Arguments, options and cards that are studies' work.
OTHER_WORDS = {
    "compare": r"--margin\b",
    "folds": r"-kfold\b|--train\b|--repeats\b|--test-subjects\b",
    "galleries": r"\b(gallery|sampling)=(?!\w*labels|\w*meta)",
    "lists": r"\bTopKScores\b",
    "page": r"--report\b",
    "thresholds": r"--folds\b",
}


def calls_of(studies: Iterable[str]) -> str:
    """Return a pattern of the names of studies that are looked up when Python meets them."""
    patterns = []
    for name in studies:
        study = manifests()[name]
        calls = [x for names in study.calls.values() for x in names]
        calls += study.other_names
        calls += [x for names in study.stats.values() for x in names]
        patterns.append(rf"\bbioeval\.studies\.{name}\b")
        for call in calls:
            patterns.append(rf"\b(be|bioeval|stats)\.{call}\b|from bioeval.* import .*\b{call}\b")
        patterns += [rf"\bplot\.({x.name}|{x.display})\b" for x in study.plots]
    return "|".join(patterns)


def words_of(studies: Iterable[str]) -> str:
    """Return a pattern of all by which a test names studies: modules, calls, plots and commands.

    A test that uses one without such a name is marked with it: ``@pytest.mark.uses("folds")``.
    """
    patterns = [calls_of(studies)]
    for name in studies:
        study = manifests()[name]
        calls = [x for names in study.calls.values() for x in names]
        calls += study.other_names
        calls += [x for names in study.stats.values() for x in names]
        commands = [x.name for x in study.commands]
        commands += study.not_options
        patterns.append(rf"\bstudies\.{name}\b|\bmark\.uses\([^)]*['\"]{name}['\"]")
        patterns += [rf"[\"']{x}\b" for x in [*calls, *commands, *(x.name for x in study.plots)]]
        patterns += [rf"\bbioeval {x}\b" for x in commands]
        patterns += [OTHER_WORDS[name]] if name in OTHER_WORDS else []
    return "|".join(patterns)


class WithoutLambdas(ast.NodeTransformer):
    """Leaves out what runs later."""

    def visit_Lambda(self, node: ast.Lambda) -> ast.Constant:
        return ast.Constant(None)


def run_at_once(path: Path) -> str:
    """Return what runs of a file when it is imported."""
    statements: list[ast.AST] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            statements += node.decorator_list
        elif not isinstance(node, ast.ClassDef):
            statements.append(node)
    return "\n".join(ast.unparse(WithoutLambdas().visit(node)) for node in statements)


def examples_of(path: Path) -> str:
    """Return the lines of examples in the docstrings of a module."""
    return "\n".join(re.findall(r"^ +(?:>>>|\.\.\.) .*", path.read_text("utf-8"), re.MULTILINE))


def files_and_tests_that_use(taken: set[str]) -> tuple[list[str], list[str]]:
    """Return the files that need some studies at once, and the tests of others that use them."""
    calls, words = calls_of(taken), words_of(taken)
    helpers = [path for path in TESTS.glob("*.py") if not path.stem.startswith("test_")]
    helpers += (TESTS.parent / "scripts" / "benchmarks").glob("*.py")
    while new := [path for path in helpers if re.search(calls, run_at_once(path))]:
        helpers = [path for path in helpers if path not in new]
        calls += "".join(rf"|\bimport .*\b{x.stem}\b|\bfrom (\w+\.)?{x.stem} import" for x in new)
    files, tests = [], []
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.parent.parent.name == "studies" and path.parent.name in taken:
            continue
        if re.search(calls, run_at_once(path)):
            files.append(str(path.relative_to(TESTS.parent)))
        else:
            tests += near.tests_using(path, f"{words}|{calls}")
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE.parent).with_suffix("")
        if "studies" not in inside.parts and re.search(words, examples_of(path)):
            module = ".".join(inside.parts).removesuffix(".__init__")
            tests.append(f"tests/test_docstrings.py::test_examples[{module}]")
    return files, tests


#: The studies that are taken away together, with those that need them: one that uses others, one
#: that others need, and one that stands alone. The list is fixed, so that what fails in one run of
#: a commit fails in the next.
TAKEN = ("fusion", "lists", "zoo")


def taken_away() -> set[str]:
    """Return these studies, or those that the environment names, with all that need them."""
    names = os.environ.get("BIOEVAL_WITHOUT", "").split() or TAKEN
    return set.union(*map(needing, names))


def test_all_other_tests_pass_without_three_studies(tmp_path):
    """The default tests that use none of them: neither a module, a call, a plot nor a command."""
    root = TESTS.parent
    taken = taken_away()
    files, tests = files_and_tests_that_use(taken)
    gone = {Path(where) / name for where in ("bioeval/studies", "tests/studies") for name in taken}
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in map(Path, listed.stdout.splitlines()):
        if not (gone & {*name.parents} or str(name) in files) and (root / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, tmp_path / name, follow_symlinks=False)
    options = ["-m", "not all_studies", *(f"--deselect={test}" for test in tests)]
    given = {**os.environ, "PYTHONPATH": str(tmp_path), "CI": ""}
    for script in ("stub", "page_tables"):  # as whoever deletes a study does
        command = [sys.executable, f"scripts/{script}.py"]
        subprocess.run(command, cwd=tmp_path, env=given, check=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *options],
        cwd=tmp_path,
        env=given,
        capture_output=True,
        text=True,
    )
    print(f"\nwithout {' '.join(sorted(taken))}: {done.stdout.splitlines()[-1]}")
    print(f"left out: {len(tests)} tests and these files:", *files)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    assert done.returncode == 0, "\n".join([*failed, done.stdout[-3000:]])

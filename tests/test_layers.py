"""What each part may import, where the contracts in ``pyproject.toml`` cannot say it.

``lint-imports`` in ``scripts/lint`` holds the contracts: packages import downward, and nothing
imports by way of the public names.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # in scripts/lint

PACKAGE = Path(__file__).resolve().parents[1] / "bioeval"

# What a kernel may know: arrays in, arrays out.
KERNEL_LIBRARIES = {"__future__", "collections", "math", "numba", "numpy", "typing"}
SHARED_BY_KERNELS = "bioeval.kernels.compiling"  # decorators, which nothing compiles
STEP_OF_KERNELS = "bioeval.kernels.layers.threshold_of"


def imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports that run, wherever they stand."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            yield from imports(ast.Module(child.orelse, []))
        elif not isinstance(child, ast.expr):  # which holds no import
            yield from imports(child)


@functools.cache
def targets(path: Path, source: str) -> list[tuple[int, str]]:
    """(line, dotted name) of everything imported; relative imports are resolved."""
    package = ["bioeval", *path.relative_to(PACKAGE).parts[:-1]]
    imported = []
    for node in imports(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported += [(node.lineno, alias.name) for alias in node.names]
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            imported += [(node.lineno, f"{stem}.{alias.name}") for alias in node.names]
    return imported


def test_no_use_of_private_names_of_scores():
    """A name that a task or a study needs is public (CONTRIBUTING.md, "The inner interface")."""
    uses = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if not path.is_relative_to(PACKAGE / "scores"):
            private_names = re.findall(r"scores\._[a-z]\w*", path.read_text(encoding="utf-8"))
            uses |= {str(path.relative_to(PACKAGE)): private_names} if private_names else {}
    assert not uses


def test_files_import_each_other_in_no_circle():
    files = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        files[".".join(["bioeval", *parts]).removesuffix(".__init__")] = path

    def module_of(name: str) -> str:
        while name not in files:
            name = name.rpartition(".")[0]
        return name

    graph = {}
    for module, path in files.items():
        names = [name for _, name in targets(path, path.read_text(encoding="utf-8"))]
        own_modules = {module_of(name) for name in names if name.partition(".")[0] == "bioeval"}
        graph[module] = own_modules - {module}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"files import each other: {' <- '.join(error.args[1])}")


def test_intervals_know_no_scores_and_no_jobs():
    """Intervals take attempts by subject, subjects of probes, and counts."""
    counting = PACKAGE / "stats/people.py"  # the public table of people, which counts scores
    for path in sorted({*(PACKAGE / "stats").glob("*.py")} - {counting}):
        source = path.read_text(encoding="utf-8").replace("if TYPE_CHECKING:", "if True:")
        names = {name.rpartition(".")[2] for _, name in targets(path, source)}
        unknown = {name for name in names if name.endswith(("Reader", "Job", "Scores"))}
        assert not unknown, f"{path.name} imports {unknown}"


@pytest.mark.parametrize(
    "path",
    sorted((PACKAGE / "plot").glob("*_plots.py")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_plots_compute_nothing(path):
    """Plots take computed results and pictures: no scores, no counter."""
    names = {name for _, name in targets(path, path.read_text(encoding="utf-8"))}
    counting = ("bioeval.scores.blocks", "bioeval.scores.matrix.", "bioeval.counting")
    counted = {name for name in names if name.startswith(counting)}
    assert not counted, (
        f"{path.name} imports {counted}. CONTRIBUTING.md, 'Rules', Plots: a plot takes results; "
        "compute what it shows in the study, as a variable or an object of its own."
    )


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "kernels").glob("[!_]*.py")), ids=lambda path: path.stem
)
def test_a_kernel_file_stands_alone(path):
    """A kernel calls no kernel of another file; the kernels of the package share one step.

    Numba's cache sees no change in another file, but the folder of the compiled kernels has a new
    name after an edit of any of them.
    """
    names = {name for _, name in targets(path, path.read_text(encoding="utf-8"))}
    names = {name for name in names if not name.startswith(SHARED_BY_KERNELS)} - {STEP_OF_KERNELS}
    allowed = KERNEL_LIBRARIES
    if path.stem in ("cache", "compiling"):
        allowed = KERNEL_LIBRARIES | {"atexit", "bioeval", "contextlib", "ctypes"}
        allowed |= {"functools", "hashlib", "inspect", "operator", "os"}
        allowed |= {"pathlib", "shutil", "sys", "tempfile", "threading", "time"}
    outside_modules = {name for name in names if name.partition(".")[0] not in allowed}
    assert not outside_modules, (
        f"{path.name} imports {outside_modules}. CONTRIBUTING.md, 'Rules', Kernels: copy the loop, "
        "or make it an argument."
    )

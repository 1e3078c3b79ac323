"""Imports go downward only.

Reads the source of every module, also the imports inside functions: to import late makes the
command line quick, and lets no layer know one above it.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bioeval.base.study import doors

pytestmark = pytest.mark.slow  # in scripts/lint

PACKAGE = Path(__file__).resolve().parents[1] / "bioeval"

# From the top down; each package may import what is listed below it.
LAYERS = [
    "studies",
    "cli",
    "evaluation",
    "views",
    "stats",
    "results",
    "tallies",
    "partition",
    "protocol",
    "datasets",
    "scores",
    "kernels",
    "base",
]
HEIGHT = {unit: -row for row, unit in enumerate(LAYERS)}
FACADE = {"__init__", "__main__", "plot"}  # the public names, from every layer
STUDIES = sorted(path.parent.name for path in PACKAGE.glob("studies/*/__init__.py"))

# Imports of a study by the core, in all: none is the aim, and no new one comes.
KNOTS = 0

OF_STUDY = re.compile(r"bioeval\.studies\.\w+\.")

# Studies that need each other; no other one joins them.
IN_CIRCLES: set[str] = set()

# What a kernel may know: arrays in, arrays out.
KERNEL_LIBRARIES = {"__future__", "collections", "math", "numba", "numpy", "typing"}
SHARED_BY_KERNELS = (  # nothing that is compiled into a kernel: named tuples and decorators alone
    "bioeval.kernels.argument_groups",
    "bioeval.kernels.compiling",
    "bioeval.kernels.compiled",  # as studies name these
    "bioeval.kernels.parallel_rows",
)


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py"))


def unit_of(path: Path) -> str:
    """The top-level module or package of bioeval that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports that run, wherever they stand; those for the type checker do not."""
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
    found = []
    for node in imports(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            found += [(node.lineno, f"{stem}.{alias.name}") for alias in node.names]
    return found


def inner_units(path: Path, source: str) -> Iterator[tuple[int, str]]:
    """(line, unit) for each part of bioeval that a module imports."""
    for line, name in targets(path, source):
        first, *rest = name.split(".")
        if first == "bioeval" and rest[:1] != ["__version__"]:
            yield line, rest[0] if rest else "__init__"


def complaints(path: Path, source: str) -> list[str]:
    here = unit_of(path)
    found = []
    for line, there in dict.fromkeys(inner_units(path, source)):
        if there == here:
            continue
        where = f"bioeval/{path.relative_to(PACKAGE)}:{line}"
        if there not in HEIGHT:
            found.append(f"{where} imports {there!r} by way of the public names; name its module")
        elif HEIGHT[there] > HEIGHT[here] and there != "studies":
            found.append(f"{where} imports bioeval.{there}, which is a layer above it")
    return found


def test_every_module_has_its_layer():
    unplaced = {unit_of(path) for path in modules()} - set(HEIGHT) - FACADE
    assert not unplaced, f"give them a place in LAYERS (and in CONTRIBUTING.md): {unplaced}"


def test_imports_go_downward():
    found = []
    for path in modules():
        if unit_of(path) in HEIGHT:
            found += complaints(path, path.read_text(encoding="utf-8"))
    assert not found, "\n".join(found)


def test_the_core_knows_no_study():
    """Late imports count, and those for the type checker; what studies offer is at their doors."""
    knots = []
    for path in modules():
        if unit_of(path) == "studies":
            continue
        source = path.read_text(encoding="utf-8").replace("if TYPE_CHECKING:", "if True:")
        for line, name in targets(path, source):
            if name.startswith("bioeval.studies."):
                knots.append(f"bioeval/{path.relative_to(PACKAGE)}:{line} {name}")
    print(f"\nimports of a study by the core: {len(knots)} (at most {KNOTS})", end="")
    assert len(knots) <= KNOTS, "\n".join(knots)


@pytest.mark.parametrize("study", STUDIES)
def test_a_door_is_plain_data(study):
    """It imports what describes a study, and nothing of the study itself."""
    path = PACKAGE / "studies" / study / "__init__.py"
    names = {name for _, name in targets(path, path.read_text(encoding="utf-8"))}
    assert names and all(name.startswith("bioeval.base.study.") for name in names)


def studies_imported(study: str) -> set[str]:
    """The other studies that a study imports, late or for the type checker too."""
    found = set()
    for path in (PACKAGE / "studies" / study).rglob("*.py"):
        source = path.read_text(encoding="utf-8").replace("if TYPE_CHECKING:", "if True:")
        found |= {name.split(".")[2] for _, name in targets(path, source) if OF_STUDY.match(name)}
    return found - {study}


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_names_the_studies_that_it_needs(study):
    needs = doors()[study].needs
    assert list(needs) == sorted(studies_imported(study)), f"needs of bioeval/studies/{study}"


def reached_from(study: str) -> set[str]:
    """The studies that a study needs, and all that these need."""
    found: set[str] = set()
    wanted = {*doors()[study].needs}
    while wanted - found:
        found |= wanted
        wanted = {x for one in found for x in doors()[one].needs}
    return found


def test_few_studies_need_each_other():
    """None is the aim: those of a circle can only be taken away together."""
    circles = {
        tuple(x for x in STUDIES if x in reached_from(study) and study in reached_from(x))
        for study in STUDIES
    }
    circles -= {()}
    print("\nstudies in a circle:", *(" ".join(circle) for circle in sorted(circles)), sep="\n  ")
    assert {x for circle in circles for x in circle} <= IN_CIRCLES


def dotted(path: Path) -> str:
    """The name of a module below ``bioeval``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts).removesuffix("__init__").removesuffix(".")


def test_no_circle_of_files():
    """The modules that each one imports, for the type checker too, are in some order."""
    known = {dotted(path): path for path in modules()}
    graph = {}
    for name, path in known.items():
        source = path.read_text(encoding="utf-8")
        found = set()
        for _, target in targets(path, source.replace("if TYPE_CHECKING:", "if True:")):
            inner = target.removeprefix("bioeval").removeprefix(".")
            found |= {inner if inner in known else inner.rpartition(".")[0]} & set(known)
        graph[name] = found - {name, ""}
    del graph[""], graph["plot"]
    graph["scores.matrix"].discard("scores.pairs")  # pairs are taken of a matrix, and are scores
    assert list(graphlib.TopologicalSorter(graph).static_order())  # raises on a circle


def test_intervals_know_no_scores_and_no_jobs():
    """They are given attempts by subject, subjects of probes, and tallies."""
    for path in [*(PACKAGE / "stats").glob("*.py"), *PACKAGE.glob("studies/*/intervals.py")]:
        source = path.read_text(encoding="utf-8").replace("if TYPE_CHECKING:", "if True:")
        names = {name.rpartition(".")[2] for _, name in targets(path, source)}
        unknown = {name for name in names if name.endswith(("Reader", "Job", "Scores"))}
        assert not unknown, f"{path.name} imports {unknown}"


@pytest.mark.parametrize(
    "path",
    sorted([*(PACKAGE / "views" / "plots").glob("*.py"), *PACKAGE.glob("studies/*/plots.py")]),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_plots_compute_nothing(path):
    """They take results and pictures that are computed: no reader, no job, no sweep."""
    names = {name for _, name in targets(path, path.read_text(encoding="utf-8"))}
    counting = ("bioeval.scores.blocks", "bioeval.scores.matrix.", "bioeval.tallies")
    assert not {name for name in names if name.startswith(counting)}


def test_the_package_is_a_few_words_and_little_else():
    entries = {
        path.name
        for path in PACKAGE.iterdir()
        if not path.name.startswith("__") and path.name != "py.typed"
    }
    assert entries == {*LAYERS, "plot"}


@pytest.mark.parametrize(
    "path",
    sorted([*(PACKAGE / "kernels").glob("[!_]*.py"), *PACKAGE.glob("studies/*/kernel.py")]),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_a_kernel_file_stands_alone(path):
    """numba's cache does not see a change in another file, so no compiled code is used of any."""
    names = {name for _, name in targets(path, path.read_text(encoding="utf-8"))}
    names = {name for name in names if not name.startswith(SHARED_BY_KERNELS)}
    allowed = KERNEL_LIBRARIES
    if path.stem == "argument_groups":
        allowed = KERNEL_LIBRARIES - {"numba"}
    elif path.stem == "compiling":
        allowed = KERNEL_LIBRARIES | {"atexit", "bioeval", "concurrent", "contextlib"}
        allowed |= {"contextvars", "functools", "hashlib", "inspect", "operator", "os"}
        allowed |= {"pathlib", "shutil", "sys", "tempfile", "threading", "time"}
    assert {name.partition(".")[0] for name in names} <= allowed, names


@pytest.mark.parametrize(
    ("where", "source", "expected"),
    [
        ("scores/matrix.py", "from ..base.errors import DataError", 0),
        ("scores/matrix.py", "from .labels import encode", 0),
        ("scores/matrix.py", "from bioeval import __version__", 0),
        ("scores/matrix.py", "from ..evaluation import evaluate", 1),
        ("scores/matrix.py", "def late():\n    from bioeval.results import verification", 1),
        ("scores/matrix.py", "import bioeval.views.plots.rates", 1),
        ("scores/matrix.py", "from .. import cli, base", 1),
        ("scores/matrix.py", "from bioeval import Tally", 1),
        ("scores/matrix.py", "if TYPE_CHECKING:\n    from ..evaluation import evaluate", 0),
        ("results/verification.py", "from ..tallies import Tally\nfrom ._common import rate", 0),
        ("results/verification.py", "from ..views import page", 1),
        ("kernels/rank.py", "from ..scores import Scores", 1),
    ],
)
def test_the_reader_sees_what_it_should(where, source, expected):
    assert len(complaints(PACKAGE / where, source)) == expected

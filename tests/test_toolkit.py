"""What studies use of the core: names of its packages, each declared in a stub."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import bioeval as be
from bioeval.base.offers import own_doors as doors

pytestmark = pytest.mark.slow  # in scripts/lint

PACKAGE = Path(__file__).resolve().parents[1] / "bioeval"

#: Modules that studies import by their own name: a door loads no package.
MODULES = {"bioeval.base.study"}


def imports(path: Path) -> Iterator[tuple[int, str, str]]:
    """(line, place, name) of all that a file imports of bioeval, late and for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bioeval."):
            yield from ((node.lineno, str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, x.name, "") for x in node.names if "bioeval" in x.name)


def of_core() -> Iterator[tuple[str, str, str]]:
    """(where, place, name) of all that studies import of the core."""
    for path in sorted(PACKAGE.glob("studies/*/*.py")):
        for line, place, name in imports(path):
            if not place.startswith("bioeval.studies."):
                yield f"{path.relative_to(PACKAGE.parent)}:{line}", place, name


def stub_of(place: str) -> Path:
    return PACKAGE.parent.joinpath(*place.split("."), "__init__.pyi")


def declared(place: str) -> set[str]:
    """The names that the stub of a package imports."""
    stub = stub_of(place)
    if not stub.exists():
        return set()
    tree = ast.parse(stub.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.asname for node in found for alias in node.names if alias.asname}


def test_studies_import_from_packages_alone():
    deep = [
        f"{where} {place}.{name}"
        for where, place, name in of_core()
        if place not in MODULES and not stub_of(place).exists()
    ]
    assert not deep, "\n".join(deep)


def test_studies_use_what_stubs_declare():
    undeclared = [
        f"{where} {place}.{name}"
        for where, place, name in of_core()
        if place not in MODULES and stub_of(place).exists() and name not in declared(place)
    ]
    assert not undeclared, "\n".join(undeclared)


def public_names_used(path: Path) -> Iterator[str]:
    """What a file takes of ``from bioeval import X``: X, or of a module X.NAME."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    taken = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "bioeval":
            taken |= {alias.name for alias in node.names}
    yield from taken
    modules = {name for name in taken if stub_of(f"bioeval.{name}").exists()}
    for node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
            yield ast.unparse(node)


def test_public_names_that_studies_use_are_public_names_of_the_core():
    public = {*be.__all__, "__version__"}
    for study in doors().values():
        public.difference_update(*study.calls.values())
    for module in ("partition", "stats", "plot", "datasets"):
        public |= {f"{module}.{name}" for name in getattr(be, module).__all__}
    for path in sorted(PACKAGE.glob("studies/*/*.py")):
        private = set(public_names_used(path)) - public
        assert not private, f"{path}: {private}"


PUBLIC = {f"bioeval.{x}" for x in ("cli", "protocol", "partition", "stats", "plot", "datasets")}
FACES = [
    ".".join(stub.relative_to(PACKAGE.parent).parent.parts)
    for stub in sorted(PACKAGE.glob("*/**/__init__.pyi"))
]


@pytest.mark.parametrize("face", FACES)
def test_a_stub_tells_the_truth(face):
    """Each name that it declares is there; of a package without public names, a study uses it."""
    for name in declared(face):
        getattr(importlib.import_module(face), name)
    if face not in PUBLIC:
        unused = declared(face) - {name for _, place, name in of_core() if place == face}
        assert not unused, f"no study uses {unused} of {face}"

"""The study API: what studies use of the core, declared in the tables of its packages."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import stub

import bioeval as be
from bioeval.base.studies import manifests

pytestmark = pytest.mark.slow  # in scripts/lint

PACKAGE = Path(__file__).resolve().parents[1] / "bioeval"

#: Modules that studies import by their own name: a manifest loads no package.
MODULES = {"bioeval.base.manifest"}


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


#: What each package of the core declares for studies.
DECLARED = {package.__name__: stub.names_of(package) for package in stub.packages()}


def test_studies_import_from_packages_alone():
    deep = [
        f"{where} {place}.{name}"
        for where, place, name in of_core()
        if place not in MODULES and place not in DECLARED
    ]
    assert not deep, "\n".join(deep)


def test_studies_use_what_packages_declare():
    undeclared = [
        f"{where} {place}.{name}"
        for where, place, name in of_core()
        if name not in DECLARED.get(place, {name})
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
    modules = {name for name in taken if f"bioeval.{name}" in DECLARED}
    for node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in modules:
            yield ast.unparse(node)


def test_public_names_that_studies_use_are_public_names_of_the_core():
    public = {*be.__all__, "__version__"}
    for study in manifests().values():
        public.difference_update(*study.calls.values())
    for module in ("partition", "stats", "plot", "datasets"):
        public |= {f"{module}.{name}" for name in getattr(be, module).__all__}
    for path in sorted(PACKAGE.glob("studies/*/*.py")):
        private = set(public_names_used(path)) - public
        assert not private, f"{path}: {private}"


#: Packages of public names, and the model of documents, which writers use too.
PUBLIC = {
    f"bioeval.{x}"
    for x in ("cli", "protocol", "partition", "stats", "plot", "datasets", "document")
}


@pytest.mark.parametrize("package", [name for name in DECLARED if name != "bioeval"])
def test_a_table_of_names_tells_the_truth(package):
    """Each name is that of its module; of a package without public names, a study uses it."""
    for name, module in DECLARED[package].items():
        value = getattr(importlib.import_module(package), name)
        assert value is getattr(importlib.import_module(module), name), name
    if package not in PUBLIC:
        unused = DECLARED[package].keys() - {
            name for _, place, name in of_core() if place == package
        }
        assert not unused, f"no study uses {unused} of {package}"

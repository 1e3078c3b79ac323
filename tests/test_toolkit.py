"""What studies use of the core: names of its packages, each declared in a stub.

``pytest --all tests/test_toolkit.py -s`` prints the figures and the names by package.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import bioeval as be
from bioeval.base.lazy import TOOLKIT
from bioeval.base.offers import own_doors as doors

pytestmark = pytest.mark.slow  # in scripts/lint

PACKAGE = Path(__file__).resolve().parents[1] / "bioeval"

#: Modules that studies import by their own name: a door loads no package.
MODULES = {"bioeval.base.study"}

#: Names and places: they only fall.
NAMES, PLACES = 269, 14


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


def test_the_toolkit_can_be_known():
    names = defaultdict(set)
    for _, place, name in of_core():
        names[place].add(name)
    for place in sorted(names):
        print(f"\n{place} ({len(names[place])}):", *sorted(names[place]), end="")
    count = sum(map(len, names.values()))
    print(f"\nnames: {count} (at most {NAMES}), places: {len(names)} (at most {PLACES})", end="")
    assert count <= NAMES
    assert len(names) <= PLACES


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


#: Names and arguments of the toolkit as they are promised to other packages; written anew, by
#: ``python tests/test_toolkit.py``, only before a release and for names that are new.
PROMISED = Path(__file__).parent / "toolkit.txt"


def signature(thing: object) -> str:
    """The arguments of a function or a class: ``(a, b=, *, c=)``; empty of a value or a type."""
    if not (inspect.isfunction(thing) or inspect.isclass(thing)):
        return ""
    try:
        arguments = inspect.signature(thing).parameters.values()
    except ValueError:  # of an exception
        return ""
    shown = []
    for argument in arguments:
        star = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
        if argument.kind == argument.KEYWORD_ONLY and not any(x.startswith("*") for x in shown):
            shown.append("*")
        default = "=" if argument.default is not argument.empty else ""
        shown.append(f"{star}{argument.name}{default}")
    return f"({', '.join(shown)})"


def toolkit() -> dict[str, str]:
    """The arguments of each name, by place and name."""
    names = {}
    for place in (*MODULES, *FACES):
        stub = stub_of(place)
        text = stub.read_text(encoding="utf-8") if stub.exists() else ""
        if place in MODULES:
            offered = {name for _, used, name in of_core() if used == place}
        elif TOOLKIT in text:
            own = ast.parse(text.partition(TOOLKIT)[2])
            offered = {x.name for node in own.body for x in getattr(node, "names", ())}
        else:
            offered = declared(place) if place not in PUBLIC else set()
        for name in offered:
            value = getattr(importlib.import_module(place), name)
            names[f"{place}.{name}"] = signature(value)
    return dict(sorted(names.items()))


def test_a_changed_name_of_the_toolkit_is_in_the_changelog():
    """Other packages build on it: what goes or takes other arguments is told, for two versions."""
    promised = {}
    for line in PROMISED.read_text(encoding="utf-8").splitlines():
        name, _, arguments = line.partition("(")
        promised[name] = arguments and f"({arguments}"
    changelog = (PACKAGE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = changelog.partition("## [Unreleased]")[2].partition("\n## [")[0]
    now = toolkit()
    assert now.keys() <= promised.keys(), f"new: run python {Path(__file__).name}, and promise them"
    untold = []
    for name, arguments in promised.items():
        if now.get(name) != arguments and f"`{name}" not in unreleased:
            untold.append(f"{name}{arguments} is {now.get(name, 'gone')}")
    assert not untold, "tell in CHANGELOG, Unreleased, and keep it working:\n" + "\n".join(untold)


if __name__ == "__main__":
    text = "\n".join(f"{name}{arguments}" for name, arguments in toolkit().items())
    PROMISED.write_text(f"{text}\n", encoding="utf-8", newline="\n")

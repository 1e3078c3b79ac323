"""Write the stubs, ``__init__.pyi``, in which type checkers look for the names of packages.

    scripts/stub

The names stand in the tables of ``__init__.py``, and in the manifests of the studies; nothing reads
the stubs when the package runs.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from bioeval.base.lazy import NamesByModule, StudyNames, modules_of

ROOT = Path(__file__).resolve().parents[1]


def packages() -> list[ModuleType]:
    """Return the packages whose names are loaded at first use."""
    packages = []
    for file in sorted((ROOT / "bioeval").rglob("__init__.py")):
        if "_NAMES: NamesByModule" in file.read_text(encoding="utf-8"):
            folder = file.parent.relative_to(ROOT)
            packages.append(importlib.import_module(".".join(folder.parts)))
    return packages


def names_of(package: ModuleType) -> dict[str, str]:
    """Return the module of each name of a package, and not those of studies."""
    tables: list[NamesByModule] = [vars(package)["_NAMES"], vars(package).get("_FOR_STUDIES", {})]
    return modules_of(tables[0]) | modules_of(tables[1])


def stub(package: ModuleType) -> str:
    """Return the text of the stub of a package, as a formatter leaves it."""
    studies: StudyNames = vars(package).get("_of_studies", StudyNames)()
    lines = ['"""The names of this package, for type checkers; written by scripts/stub."""', ""]
    for name, module in {**names_of(package), **studies.modules}.items():
        lines.append(f"from {module} import {name} as {name}")
    lines += ["", *(f"{alias} = {name}" for alias, name in sorted(studies.aliases.items()))]
    text = "\n".join(lines) + "\n"
    for command in (["check", "--fix"], ["format"]):
        ruff = ["ruff", *command, "--quiet", "--stdin-filename", f"{package.__file__}i", "-"]
        text = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True).stdout
    return text


def main() -> int:
    """Write the stubs."""
    for package in packages():
        Path(f"{package.__file__}i").write_text(stub(package), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

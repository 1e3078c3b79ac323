"""``bioeval info``: versions, for a report of a fault."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from typing import Any

from bioeval.base.distribution import distribution
from bioeval.base.version import __version__
from bioeval.cli.command import option
from bioeval.cli.console import put, show_json


@option("--json", "Print one JSON document.", bool, name="as_json")
def info_command(as_json: bool) -> None:
    """Print versions: paste them into a report of a fault.

    bioeval info
    """
    document = {
        "bioeval": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.platform()}, {os.cpu_count()} processors",
        "packages": _versions(),
    }
    if as_json:
        show_json(document)
    else:
        put("\n".join(_lines(document)) + "\n")


def _versions() -> dict[str, str]:
    """Return the version of each package that bioeval can use; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, requires, version

    versions: dict[str, str] = {}
    try:
        required = requires(distribution()) or []
    except PackageNotFoundError:  # run from its source
        required = ["numpy", "numba", "xarray", "scipy", "scikit-learn", "matplotlib"]
    for entry in required:
        if "extra == 'test'" in entry.replace('"', "'"):
            continue
        name = re.split(r"[^\w.-]", entry)[0]
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = ""
    versions.pop(distribution(), None)  # extras that name other extras
    return versions


def _lines(document: dict[str, Any]) -> Iterator[str]:
    yield f"bioeval {document['bioeval']}, Python {document['python']}"
    yield document["system"]
    versions = document["packages"]
    installed, missing = [], []
    for name, version in versions.items():
        if version:
            installed.append(f"{name} {version}")
        else:
            missing.append(name)
    yield f"packages: {', '.join(installed)}"
    if missing:
        yield f"not installed: {', '.join(missing)}"

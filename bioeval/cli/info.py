"""``bioeval info``: versions, and what other packages add, for a report of a fault."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.distribution import distribution
from bioeval.base.plugins import GROUPS, entry_points, package_of, problems
from bioeval.base.studies import manifests
from bioeval.base.version import __version__
from bioeval.cli.command import Command, option
from bioeval.cli.console import put, show_json
from bioeval.cli.lazy_group import COMMANDS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@click.command("info", cls=Command)
@option("--json", "Print one JSON document.", bool, name="as_json")
def command(as_json: bool) -> None:
    """Print versions, and what other packages add: paste it into a report of a fault."""
    from bioeval.base.plugin_manifests import clashes

    has = {"studies": _of_study, "formats": _formats, "protocols": _cards}
    offers = [
        {
            "package": package_of(point),
            "group": group,
            "name": point.name,
            "where": _place(point),
            "has": [*has[group](point)],
        }
        for group in GROUPS
        for point in entry_points(group)
    ]
    document = {
        "bioeval": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.platform()}, {os.cpu_count()} processors",
        "packages": _versions(),
        "from_other_packages": offers,
        "problems": [*problems, *clashes.values()],
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


def _formats(point: EntryPoint) -> Iterator[str]:
    """Yield the formats of the package of an entry point."""
    from bioeval.scores.formats.registry import formats

    yield from (form.word for form in formats() if form.package == package_of(point))


def _cards(point: EntryPoint) -> Iterator[str]:
    """Yield the protocol cards in the folder of an entry point."""
    from bioeval.protocol.loading import from_elsewhere

    for name, card in from_elsewhere().items():
        if os.path.dirname(card.path or "") == _place(point):
            yield name


def _of_study(point: EntryPoint) -> Iterator[str]:
    """Yield the public names, the plots and the commands of a study of another package."""
    study = manifests().get(f"{package_of(point).partition(' ')[0]}/{point.name}")
    if study is None:
        return
    for names in study.calls.values():
        yield from (f"be.{name}" for name in names)
    yield from (f"be.plot.{plot.name}" for plot in study.plots)
    yield from (f"bioeval {x.name}" for x in study.commands if COMMANDS.get(x.name) is x)


def _place(point: EntryPoint) -> str:
    """Return the file or the folder of the module of an entry point."""
    try:
        spec = importlib.util.find_spec(point.module)
    except Exception:  # what it raises is among the problems
        return ""
    if spec is None:
        return ""
    return (spec.submodule_search_locations or [spec.origin or ""])[0]


def _lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of what is printed."""
    yield f"bioeval {document['bioeval']}, Python {document['python']}"
    yield document["system"]
    versions = document["packages"]
    there, missing = [], []
    for name, version in versions.items():
        if version:
            there.append(f"{name} {version}")
        else:
            missing.append(name)
    yield f"packages: {', '.join(there)}"
    if missing:
        yield f"not installed: {', '.join(missing)}"
    offers = document["from_other_packages"]
    if not offers:
        yield "from other packages: nothing"
    for offer in offers:
        has = ", ".join(offer["has"]) or "nothing that can be used"
        yield f"{offer['package']}: bioeval.{offer['group']} {offer['name']!r} has {has}"
        yield f"  in {offer['where'] or 'no folder that Python finds'}"
    for problem in document["problems"]:
        yield f"problem: {problem}"

"""Commands about the program: a tour on real faces, the protocol cards, versions."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.environment import distribution
from bioeval.base.version import __version__
from bioeval.cli.command import option
from bioeval.cli.console import put, show_json, terminal_width
from bioeval.cli.shared import shared

if TYPE_CHECKING:
    from bioeval.cli.running import Output, Run


#: The files of scores, and the systems that compared the faces.
SYSTEMS = {"faces-1991": "eigenfaces", "faces-2017": "deep"}


@option("--out DIR", "Folder to write, a new one.", str, "bioeval-demo")
@option("--force", "Write into DIR even if it has files.", bool)
def demo_command(out: str, force: bool) -> None:
    """Evaluate two face recognition systems: a tour of half a minute.

    bioeval demo
    bioeval demo --out tour

    Two systems compare the same 200 images of 20 people: eigenfaces (1991) and a deep network
    (2017). Each command of the tour is printed before its table. The last one writes a page that
    opens in a browser. Everything is computed here; no network is needed.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"{out} is a file; --out expects a folder")
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise click.UsageError(f"{out} has files; --force writes into it, --out names another one")
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.npz" for name in SYSTEMS]
    for file, system in zip(files, SYSTEMS.values(), strict=True):
        _show_and_run("example", "faces", "--system", system, "--out", str(file))
        _show_and_run("run", str(file), "--out", str(file.with_suffix("")))
    page = folder / "report.html"
    _show_and_run("report", *map(str, files), "--worst", "5", "--out", str(page))
    put("\n  ".join(["What was found", *_findings(files)]) + "\n\n")
    put(f"Open the page: {page.resolve().as_uri()}\n")
    put("Beside it, for each system: table.txt, summary.json, results.nc (xarray) and curves.\n")
    put("Faces: Database of Faces, AT&T Laboratories Cambridge (F. Samaria and A. Harter, 1994).\n")


def _show_and_run(*words: str) -> None:
    """Print a command and run it; where it fails, the tour ends with its exit code."""
    from bioeval.cli.lazy_group import root

    put(f"$ bioeval {' '.join(words)}\n\n")
    code = root.main([*words, "--force"], prog_name="bioeval", standalone_mode=False)
    put("\n")
    if isinstance(code, int) and code:
        raise click.exceptions.Exit(code)


def _findings(files: Sequence[Path]) -> list[str]:
    """Return sentences on the two systems, of 1991 and of 2017."""
    from bioeval.scores.formats import load
    from bioeval.studies.compare import compare
    from bioeval.studies.worst_pairs import worst_pairs

    systems = {file.stem: load(file) for file in files}
    compared = compare(*systems.values()).sel(far_target=0.1)
    # Percentages of each measure, for both systems: (1991, 2017).
    eer = 100 * compared["eer"].values
    frr = 100 * compared["frr_at_far"].values
    recognised = 100 * compared["recognition_rate"].values
    # Differences are (system, other_system): here the first system and the second.
    low, high = (100 * compared[f"eer_difference_{end}"].values[0, 1] for end in ("low", "high"))
    alike = []
    for name, scores in systems.items():
        pair = worst_pairs(scores, 1).isel(pair=0)
        year = name[-4:]  # of faces-1991
        alike.append(f"{pair.probe_label:s} and {pair.gallery_label:s} in {year}")
    people = len(systems[files[0].stem].subjects)
    return [
        f"EER of single pairs: {eer[0]:.2f} % in 1991, {eer[1]:.2f} % in 2017.",
        f"At most 10 % of impostors accepted: {frr[0]:.2f} % of genuine attempts are rejected "
        f"in 1991, {frr[1]:.2f} % in 2017.",
        f"The nearest of all other images is of the same person: {recognised[0]:.2f} % in 1991, "
        f"{recognised[1]:.2f} % in 2017.",
        f"Two people, but most alike: {', '.join(alike)}; the page shows their faces.",
        f"The difference of the EERs is {low:.1f} to {high:.1f} percentage points with 95 % "
        f"confidence, from {people} people.",
    ]


_LEAST_WIDTH = 20


@click.argument("card", required=False)
@option("--toml", "Print the card as TOML, to copy and change.", bool)
@shared(files=False, page=False, name=False, reading=False)
def protocols_command(run: Run, toml: bool, card: str | None = None) -> Output:
    """List the protocols, or explain CARD, a protocol's name or card file (.toml).

    bioeval protocols
    bioeval protocols course-all-vs-all
    """
    from bioeval.cli.running import Output
    from bioeval.protocol.explanation import explain
    from bioeval.protocol.loading import available, load
    from bioeval.showing.terminal import TerminalDocument
    from bioeval.showing.text import Column, Section, Table

    if run.markup and card is not None:
        raise click.UsageError(f"--{run.markup} is for the table of all cards, without CARD")
    if toml and (card is None or run.as_json):
        raise click.UsageError("--toml needs one CARD, and no --json")
    cards = list(map(load, available() if card is None else [card]))
    if card is None:
        columns = Column("protocol", "protocol"), Column("layout", "layout"), Column("title")
        table = Table("protocols", columns, [(x.name, x.layout, x.title) for x in cards])
        listed = TerminalDocument(Section("protocols", "", (table,)))
        return Output(listed, [x.as_tables() for x in cards])
    if toml:
        return Output(cards[0].to_toml(), cards[0].as_tables())
    # Lines longer than usual would be hard to read, however wide the terminal.
    width = max(min(terminal_width(), 92), _LEAST_WIDTH)
    return Output(explain(cards[0], width).rstrip("\n") + "\n", cards[0].as_tables())


@option("--json", "Print one JSON document.", bool, name="as_json")
def info_command(as_json: bool) -> None:
    """Print versions: paste them into a report of a fault.

    bioeval info
    """
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
    document: dict[str, Any] = {
        "bioeval": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.platform()}, {os.cpu_count()} processors",
        "packages": versions,
    }
    if as_json:
        show_json(document)
        return
    put(f"bioeval {__version__}, Python {document['python']}\n{document['system']}\n")
    installed = [f"{name} {number}" for name, number in versions.items() if number]
    put(f"packages: {', '.join(installed)}\n")
    if missing := [name for name, number in versions.items() if not number]:
        put(f"not installed: {', '.join(missing)}\n")

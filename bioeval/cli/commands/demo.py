"""``bioeval demo``: a tour on real faces, which come with bioeval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from bioeval.cli.command import option
from bioeval.cli.console import put

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
    """Return what the tour shows, in five sentences."""
    from bioeval.scores.formats import load
    from bioeval.studies.compare.compare import compare
    from bioeval.studies.worst_pairs.worst_pairs import worst_pairs

    systems = {file.stem: load(file) for file in files}
    compared = compare(*systems.values()).sel(far_target=0.1)
    rates = [100 * compared[x].values for x in ("eer", "frr_at_far", "recognition_rate")]
    old, new = zip(*rates, strict=True)
    low, high = (100 * compared[f"eer_difference_{end}"].values[0, 1] for end in ("low", "high"))
    worst = {name: worst_pairs(scores, 1).isel(pair=0) for name, scores in systems.items()}
    alike = (f"{x.probe_label:s} and {x.gallery_label:s} in {n[-4:]}" for n, x in worst.items())
    people = len(systems[files[0].stem].subjects)
    return [
        f"EER of single pairs: {old[0]:.2f} % in 1991, {new[0]:.2f} % in 2017.",
        f"At most 10 % of impostors accepted: {old[1]:.2f} % of genuine attempts are rejected "
        f"in 1991, {new[1]:.2f} % in 2017.",
        f"The nearest of all other images is of the same person: {old[2]:.2f} % in 1991, "
        f"{new[2]:.2f} % in 2017.",
        f"Two people, but most alike: {', '.join(alike)}; the page shows their faces.",
        f"The difference of the EERs is {low:.1f} to {high:.1f} percentage points with 95 % "
        f"confidence, from {people} people.",
    ]

"""A tour on real faces, which come with bioeval: 1991 against 2017.

Two face recognition systems compare the same 200 images of 20 people: eigenfaces (1991) and a deep
network (2017). The tables of both appear on the terminal. The last command writes the page to
send: both systems side by side, with the pairs of faces that fool each.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import bioeval as be
from bioeval.cli.program import main as bioeval

SYSTEMS = {"faces-1991": "eigenfaces", "faces-2017": "deep"}


def command(*words: str) -> None:
    """Show a command and run it; end the tour if it fails."""
    print("$ bioeval", *words, end="\n\n", flush=True)
    code = bioeval([*words, "--force"])
    print(flush=True)
    if code:
        sys.exit(code)


def found(files: list[Path]) -> list[str]:
    """Return what was found, in five lines."""
    systems = {file.stem: be.load(file) for file in files}
    compared = be.compare(*systems.values()).sel(far_target=0.1)
    rates = [100 * compared[x].values for x in ("eer", "frr_at_far", "recognition_rate")]
    old, new = zip(*rates, strict=True)
    low, high = (100 * compared[f"eer_difference_{end}"].values[0, 1] for end in ("low", "high"))
    worst = {name: be.worst_pairs(scores, 1).isel(pair=0) for name, scores in systems.items()}
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


def main() -> int:
    """Run the tour."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="output folder")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    files = [out / f"{name}.npz" for name in SYSTEMS]
    for file, system in zip(files, SYSTEMS.values(), strict=True):
        command("example", "faces", "--system", system, "--out", str(file))
        command("run", str(file), "--out", str(file.with_suffix("")))
    page = out / "report.html"
    command("report", *map(str, files), "--worst", "5", "--out", str(page))
    print("What was found", *found(files), sep="\n  ")
    print(f"\nOpen the page: {page.resolve().as_uri()}")
    print("Beside it, for each system: table.txt, summary.json, results.nc (xarray) and curves.")
    print("Faces: Database of Faces, AT&T Laboratories Cambridge (F. Samaria and A. Harter, 1994).")
    return 0


if __name__ == "__main__":
    sys.exit(main())

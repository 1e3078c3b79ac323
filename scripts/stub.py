"""Write the names that studies offer into the stubs, where type checkers look for them.

    scripts/stub

The package itself reads them in the doors of the studies.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from bioeval.base.lazy import OF_STUDIES
from bioeval.base.offers import own_doors

PACKAGE = Path(__file__).resolve().parents[1] / "bioeval"
TOP, PLOTS, STATS = (PACKAGE / folder / "__init__.pyi" for folder in ("", "plot", "stats"))


def imports(offered: Iterable[tuple[str, str]]) -> str:
    """Return the import of each name of a module."""
    of_module: dict[str, list[str]] = {}
    for home, name in sorted(offered):
        of_module.setdefault(home, []).append(name)
    return "".join(
        f"from {home} import ({', '.join(f'{name} as {name}' for name in names)})\n"
        for home, names in of_module.items()
    )


def calls_of_studies() -> str:
    """Return the public names of the studies, and their other names."""
    studies = own_doors().values()
    homes = [(home, x) for study in studies for home, names in study.calls.items() for x in names]
    others = [f"{other} = {x}\n" for study in studies for other, x in study.other_names.items()]
    return f"{imports(homes)}\n# Other names: those of the commands.\n{''.join(sorted(others))}"


def plots_of_studies() -> str:
    """Return the functions and the displays of the plots of the studies."""
    plots = [plot for study in own_doors().values() for plot in study.plots]
    return imports((plot.home, name) for plot in plots for name in (plot.display, plot.name))


def stats_of_studies() -> str:
    """Return the statistics of the studies."""
    offered = [item for study in own_doors().values() for item in study.stats.items()]
    return imports((home, name) for home, names in offered for name in names)


def stubs() -> dict[Path, str]:
    """Return the text of each stub, as a formatter leaves it."""
    found = {}
    for path, offered in (
        (TOP, calls_of_studies()),
        (PLOTS, plots_of_studies()),
        (STATS, stats_of_studies()),
    ):
        own = path.read_text(encoding="utf-8").partition(OF_STUDIES)[0]
        text = f"{own}{OF_STUDIES}, as their doors offer them; written by scripts/stub.\n{offered}"
        for command in (["check", "--fix"], ["format"]):
            given = ["ruff", *command, "--quiet", "--stdin-filename", str(path), "-"]
            done = subprocess.run(given, input=text, capture_output=True, text=True, check=True)
            text = done.stdout
        found[path] = text
    return found


def main() -> int:
    """Write the stubs."""
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

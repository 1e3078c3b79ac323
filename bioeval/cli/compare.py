"""``bioeval compare``: two systems over the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli.arguments import Numbers, Whole
from bioeval.cli.reading_options import reading, reading_options

HELP = """Compare systems A and B, which scored the same templates in the same order.

A and B are files as `bioeval run` reads them; both may be the same file, where --scores and
--scores-b name different arrays in it. What is said of A is said of B as well, unless there is an
option for B. Both systems are resampled together by subject, and each line says whether they
differ.

\b
Examples:
  bioeval compare old.npz new.npz
  bioeval compare distances.npz similarities.npz --kind-b similarity
  bioeval compare both.npz both.npz --scores first --scores-b second --labels subject
  bioeval compare old.npz new.npz --meta session=visit --exclude session
  bioeval compare old.npz new.npz --far 0.001 --json
"""

# Options that may differ between the systems.
_OF_B = ("kind", "scores", "embeddings", "gallery_embeddings", "metric")

# What is said of A's array has no meaning for B's, where that is of the other sort.
_APART = {"scores": ("embeddings", "gallery_embeddings", "metric"), "embeddings": ("scores",)}


@click.command("compare", help=HELP, short_help="Compare two systems over the same data.")
@click.argument("a")
@click.argument("b")
@click.option("--out", metavar="DIR", help="Write comparison.nc, summary.json and table.txt.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, not a table.")
@click.option("--name", metavar="NAME", help="What to call A.  [the file's name]")
@click.option("--name-b", metavar="NAME", help="What to call B.  [the file's name]")
@reading_options
@click.option(
    "--kind-b",
    type=click.Choice(["distance", "similarity", "order"]),
    help="What the scores of B are.  [as for A]",
)
@click.option("--scores-b", metavar="KEY", help="Array of scores of B.  [as for A]")
@click.option("--embeddings-b", metavar="KEY", help="Array of embeddings of B.  [as for A]")
@click.option(
    "--gallery-embeddings-b", metavar="KEY|NPY", help="The gallery's embeddings of B.  [as for A]"
)
@click.option("--metric-b", metavar="M", help="How to compare embeddings of B.  [as for A]")
@click.option(
    "--templates",
    type=click.Choice(["single", "multi"]),
    default="single",
    show_default=True,
    help="Whether each template makes an attempt of verification, or each subject.",
)
@click.option(
    "--far", type=Numbers(), multiple=True, help="FAR to compare at, as 0.001; repeatable."
)
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="Of each difference."
)
@click.option(
    "--replicates", type=Whole(100), default=2000, show_default=True, help="How often to resample."
)
@click.option("--seed", type=Whole(0), default=0, show_default=True, help="Of the resampling.")
def command(
    a: str,
    b: str,
    out: str | None,
    as_json: bool,
    name: str | None,
    name_b: str | None,
    templates: str,
    far: tuple[tuple[float, ...], ...],
    confidence: float,
    replicates: int,
    seed: int,
    **options: Any,
) -> None:
    """Compare two files and show, or write, what differs."""
    of_b = {what: value for what in _OF_B if (value := options.pop(f"{what}_b")) is not None}
    not_of_b = {what for other, apart in _APART.items() if other in of_b for what in apart}
    shared = {what: None if what in not_of_b else value for what, value in options.items()}
    systems = [
        (file, given or (_array(said) if a == b else None), reading(file, dict(said)))
        for file, given, said in ((a, name, options), (b, name_b, {**shared, **of_b}))
    ]
    from bioeval.cli.console import Stages, note, show, show_json
    from bioeval.cli.outputs import check_folder, write_comparison

    folder = None if out is None else check_folder(out)
    from bioeval.evaluation.compare import compare
    from bioeval.scores.formats import load
    from bioeval.tallies.points import FAR_TARGETS
    from bioeval.views.tables.comparison import ComparisonTable

    read = []
    with Stages() as tell:
        for file, called, given in systems:
            tell(f"reading {file}")
            scores = load(file, **given)
            scores.name = called or Path(file).stem
            read.append(scores)
        found = compare(
            *read,
            templates=templates,
            far_targets=[x for numbers in far for x in numbers] or FAR_TARGETS,
            confidence=confidence,
            replicates=replicates,
            random_state=seed,
            progress=tell.counting,
        )
        document = _document(found, a, b)
        if folder is not None:
            tell(f"writing to {folder}")
            names = write_comparison(found, document, folder)
    if as_json:
        show_json(document)
    else:
        show(ComparisonTable(found))
    if folder is not None:
        note(f"wrote {len(names)} files to {folder}")


def _array(options: dict[str, Any]) -> str | None:
    """Return the name of the array that holds a system."""
    return options["scores"] or options["embeddings"]


def _document(found: Any, a: str, b: str) -> dict[str, Any]:
    """Return what was found as one document."""
    attrs = {
        key: value
        for key, value in found.attrs.items()
        if key not in ("conclusions", "warnings", "bioeval_version")
    }
    said = str(found.attrs["conclusions"]).splitlines()
    return {
        "bioeval": found.attrs["bioeval_version"],
        "file_a": a,
        "file_b": b,
        **attrs,
        "measures": [
            {
                "measure": measure,
                **{name: found[name].values[i].item() for name in found.data_vars},
                "conclusion": said[i],
            }
            for i, measure in enumerate(found["measure"].values.tolist())
        ],
        "warnings": str(found.attrs["warnings"]).splitlines(),
    }

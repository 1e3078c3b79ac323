"""``bioeval compare``: two systems over the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli.arguments import Numbers, Whole, labels

HELP = """Compare systems A and B, which scored the same templates in the same order.

A and B are files as `bioeval run` reads them; both may be the same file, where --scores and
--scores-b name different arrays in it. Both systems are resampled together by subject, and each
line says whether they differ.

\b
Examples:
  bioeval compare old.npz new.npz
  bioeval compare distances.npz similarities.npz --kind-b similarity
  bioeval compare both.npz both.npz --scores first --scores-b second --labels subject
  bioeval compare old.npz new.npz --far 0.001 --json
"""

_KINDS = ("distance", "similarity", "order")


@click.command("compare", help=HELP, short_help="Compare two systems over the same data.")
@click.argument("a")
@click.argument("b")
@click.option("--out", metavar="DIR", help="Write comparison.nc, summary.json and table.txt.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, not a table.")
@click.option("--name", metavar="NAME", help="What to call A.  [the file's name]")
@click.option("--name-b", metavar="NAME", help="What to call B.  [the file's name]")
@click.option("--kind", type=click.Choice(_KINDS), help="What the scores are.")
@click.option("--kind-b", type=click.Choice(_KINDS), help="The same, of B.  [as for A]")
@click.option(
    "--nan", type=click.Choice(["raise", "reject", "exclude"]), help="What a NaN means, in both."
)
@click.option("--scores", metavar="KEY", help="Array of scores.")
@click.option("--scores-b", metavar="KEY", help="The same, in B.  [as for A]")
@click.option("--embeddings", metavar="KEY", help="Array of embeddings.")
@click.option("--embeddings-b", metavar="KEY", help="The same, in B.  [as for A]")
@click.option("--metric", metavar="M", help="How to compare embeddings.  [cosine]")
@click.option("--metric-b", metavar="M", help="The same, of B.  [as for A]")
@click.option("--labels", "both_labels", metavar="KEY|CSV", help="Subjects, of both sides.")
@click.option("--probe-labels", metavar="KEY|CSV", help="Subjects of the rows.")
@click.option("--gallery-labels", metavar="KEY|CSV", help="Subjects of the columns.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="NAME",
    help="Leave out pairs of one subject that agree in this metadata column; repeatable.",
)
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
    nan: str | None,
    both_labels: str | None,
    probe_labels: str | None,
    gallery_labels: str | None,
    exclude: tuple[str, ...],
    templates: str,
    far: tuple[tuple[float, ...], ...],
    confidence: float,
    replicates: int,
    seed: int,
    **options: Any,
) -> None:
    """Compare two files and show, or write, what differs."""
    from bioeval.cli.console import Stages, note, show, show_json
    from bioeval.cli.outputs import check_folder, write_comparison

    folder = None if out is None else check_folder(out)
    from bioeval.formats import load
    from bioeval.points import FAR_TARGETS
    from bioeval.tables.comparison import ComparisonTable
    from bioeval.two_systems import compare

    files = {"": a, "_b": b}
    systems = []
    with Stages() as tell:
        for suffix, file in files.items():
            tell(f"reading {file}")
            kind, scores, embeddings, metric = (
                options[f"{what}{suffix}"] or options[what]
                for what in ("kind", "scores", "embeddings", "metric")
            )
            reading: dict[str, Any] = {
                **{"kind": kind, "nan": nan, "metric": metric},
                **{"scores_key": scores, "embeddings_key": embeddings, "exclude": exclude},
                **labels("labels", both_labels, file),
                **labels("probe_labels", probe_labels, file),
                **labels("gallery_labels", gallery_labels, file),
            }
            system = load(file, **reading)
            given = {"": name, "_b": name_b}[suffix]
            system.name = given or ((scores or embeddings) if a == b else None) or Path(file).stem
            systems.append(system)
        found = compare(
            *systems,
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

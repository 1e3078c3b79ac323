"""``bioeval gallery-templates``: rates against the templates of each subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import THRESHOLD, WHOLE_NUMBERS, ThresholdsOption
from bioeval.cli.documents import as_columns, described, rows_over, scalars
from bioeval.cli.options import (
    Command,
    far_option,
    fusion_option,
    name_option,
    output_options,
    ranks_option,
    reading_options,
    seed_option,
    terms_option,
)
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr


@click.command("gallery-templates", cls=Command)
@click.argument("data")
@click.option(
    "--templates",
    "sizes",
    type=WHOLE_NUMBERS,
    help="Templates of each subject in the gallery.  [six, up to those of most subjects]",
)
@click.option(
    "--threshold",
    type=THRESHOLD,
    default="eer",
    metavar="T|RULE",
    help="Where all numbers of templates are compared: a number, or eer or far=X of the smallest.",
)
@far_option
@fusion_option
@click.option(
    "--thresholds",
    type=ThresholdsOption(),
    help="Number of thresholds, a file with one a line, or the thresholds.  [100]",
)
@ranks_option
@click.option(
    "--ties",
    type=click.Choice(["pessimistic", "optimistic", "stable", "expected"]),
    default="pessimistic",
    help="Rank of a mate among subjects at exactly its distance.",
)
@click.option(
    "--impostors",
    type=click.Choice(["auto", "unenrolled", "leave-subject-out", "both"]),
    default="auto",
    help="Which probes make non-mated searches.",
)
@click.option(
    "--sampling",
    type=click.IntRange(1),
    metavar="R",
    help="Draw R galleries for each probe, in place of the exact means over all.",
)
@seed_option("Seed of the draws.", default=None)
@name_option
@output_options("results.nc, summary.json, table.txt and curves", "draw the plots", report=True)
@terms_option
@reading_options
def command(data: str, **options: Any) -> None:
    """Evaluate DATA against the number of templates that each subject has in the gallery.

    With more templates FRR falls, and FAR rises at the same threshold; at equal FAR the table
    shows what the templates are worth. Rates are exact means over all choices of templates.

    Examples
    --------
      bioeval gallery-templates scores.npz
      bioeval gallery-templates scores.npz --templates 1,3,6
      bioeval gallery-templates scores.npz --templates 1,2,5 --fusion mean --threshold far=0.001
      bioeval gallery-templates faces.npz --embeddings dlib128 --labels subject --out g --plots
    """
    with StudyCommand(data, options) as run:
        from bioeval.cli.result_checks import require_values
        from bioeval.evaluation.gallery_templates import blocks, gallery_templates

        scores = run.read()
        found = run.count(gallery_templates, scores, **run.options)
        require_values([found["frr"], found["far"]], [scores])
        document = {"file": data, **_document(found)}
        run.finish(found, blocks, document, _csv(found))


def _document(ds: xr.Dataset) -> dict[str, Any]:
    """Return everything but the long curves as plain values; rates are fractions."""
    from bioeval.results.dataset import shown_ranks

    ranks = shown_ranks((), ds["rank"].values.tolist())
    rows = []
    for row in rows_over(ds, "gallery_templates"):
        one = ds.sel(gallery_templates=row["gallery_templates"])
        row["cms"] = {str(k): float(one["cms"].sel(rank=k)) for k in ranks}
        row["at_far"] = rows_over(one, "far_target")
        rows.append(row)
    return described(ds, **scalars(ds), by_templates=rows)


def _csv(ds: xr.Dataset) -> dict[str, dict[str, list[Any]]]:
    """Return the columns of the table, and of the curves for each number of templates."""
    files: dict[str, dict[str, list[Any]]] = {
        "gallery_templates.csv": as_columns(rows_over(ds, "gallery_templates"))
    }
    over = {"cms": "rank", "far": "threshold", "frr": "threshold", "open_set_far": "threshold"}
    for name, dim in over.items():
        curves = ds[name].transpose("gallery_templates", dim).values.tolist()
        sizes = ds["gallery_templates"].values.tolist()
        columns = {f"templates_{n}": curve for n, curve in zip(sizes, curves, strict=True)}
        files[f"{name}.csv"] = {dim: ds[dim].values.tolist(), **columns}
    return files

"""``bioeval gallery-templates``: rates against the templates of each subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import THRESHOLD, WHOLE_NUMBERS
from bioeval.cli.documents import as_columns, described, rows_over, scalars
from bioeval.cli.options import (
    Command,
    far_option,
    fusion_option,
    gallery_options,
    name_option,
    output_options,
    reading_options,
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
    help="Numbers of gallery templates per subject.  [six, up to that of most subjects]",
)
@click.option(
    "--threshold",
    type=THRESHOLD,
    default="eer",
    help="Threshold for the comparison: a number, or eer or far=X at the smallest number of "
    "templates.",
)
@far_option
@fusion_option
@gallery_options("Draw R galleries for each probe, instead of exact means over all galleries.")
@name_option
@output_options("results.nc, summary.json, table.txt and curves", "draw the plots", report=True)
@terms_option
@reading_options
def command(data: str, **options: Any) -> None:
    """Evaluate DATA by number of gallery templates per subject.

    With more templates, FRR falls and FAR rises at the same threshold; at equal FAR the table shows
    what more templates gain. Rates are exact means over all choices of templates.
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

"""``bioeval groups``: verification by demographic group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import THRESHOLD
from bioeval.cli.cluster_options import cluster_options, executor_from_options
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    Command,
    Output,
    far_option,
    fusion_option,
    interval_options,
    name_option,
    output_options,
    read_system,
    reading_options,
    require_method,
    reword,
    take_reading,
    templates_option,
    terms_option,
)

if TYPE_CHECKING:
    import xarray as xr

# Methods that resample subjects, as in bioeval.base.variables.
_METHODS = ("subject-bootstrap", "subject-bootstrap-bca", "subject-bootstrap-logit")


@click.command("groups", cls=Command)
@click.argument("data")
@click.option(
    "--by", "group", required=True, metavar="COLUMN", help="Metadata column of the groups."
)
@click.option(
    "--threshold",
    type=THRESHOLD,
    default="eer",
    metavar="T|RULE",
    help="A number, or how to choose one on all groups together: eer, far=0.001, hter, cost=P,M,A.",
)
@far_option
@templates_option
@fusion_option
@click.option("--alpha", type=float, default=0.5, help="Weight of FAR in FDR and GARBE, 0 to 1.")
@click.option(
    "--interval", type=click.Choice(_METHODS), help="Add confidence intervals by subject.  [none]"
)
@interval_options
@cluster_options()
@name_option
@output_options(
    "results.nc, summary.json, table.txt, groups.csv and pairs.csv", "draw the groups", report=True
)
@terms_option
@reading_options
def command(data: str, name: str | None, terms: str, **options: Any) -> None:
    """Evaluate verification of DATA by demographic group.

    FRR of each group, FAR of each pair of groups, the threshold that each group would need for
    itself, and how unequal they are: FDR, GARBE, and ratios of the largest rate. Groups with fewer
    than 30 subjects or expected errors are flagged.

    Examples
    --------
      bioeval groups scores.npz --by sex
      bioeval groups scores.npz --by country --threshold far=0.001 --interval subject-bootstrap
      bioeval groups faces.npz --embeddings dlib128 --labels subject --meta sex=sex --by sex
      bioeval groups scores.npz --by sex --threshold 0.42 --out groups --plots
      bioeval groups scores.npz --by sex --workers 4 --checkpoint counted
    """
    require_method(options["interval"])
    output = Output.take(options)
    files_read = [data, options.get("second")]
    reading = take_reading(data, options)
    if options["far_targets"] is None:
        del options["far_targets"]
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.groups import by_group
        from bioeval.views.tables.groups import GroupsTable
        from bioeval.views.terms import in_terms

        scores = read_system(data, name, reading, stages)
        stages("counting")
        with executor_from_options(options, stages) as place:
            given = {**options, **place}
            ds = by_group(scores, given.pop("group"), **given, progress=stages.counting)
        document, shown = _document(ds, data), in_terms(ds, terms)
        table = GroupsTable(shown, reword)
        files = output.save(document, ds, table, stages, csv=_csv(ds), drawn=shown)
        output.write_page({scores.name: shown}, files_read, stages)
    output.show(table, document, files)


def _document(ds: xr.Dataset, file: str) -> dict[str, Any]:
    return {
        **attributes(ds, file),
        "groups": rows_over(ds, "group"),
        "pairs": rows_over(ds, "group", "claimed_group"),
        "own_thresholds": rows_over(ds, "group", "far_target"),
    }


def _csv(ds: xr.Dataset) -> dict[str, dict[str, list[Any]]]:
    """Return the columns of the groups, with those of their own thresholds, and of their pairs."""
    groups, own = rows_over(ds, "group"), rows_over(ds, "group", "far_target")
    for row in groups:
        for one in (x for x in own if x["group"] == row["group"]):
            row |= {
                f"{key}_{one['far_target']:g}": value
                for key, value in one.items()
                if key not in ("group", "far_target")
            }
    pairs = rows_over(ds, "group", "claimed_group")
    return {"groups.csv": as_columns(groups), "pairs.csv": as_columns(pairs)}

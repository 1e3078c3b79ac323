"""``bioeval groups``: verification by demographic group."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import THRESHOLD
from bioeval.cli.cluster_options import cluster_options
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    Command,
    far_option,
    fusion_option,
    name_option,
    output_options,
    reading_options,
    require_method,
    subject_interval_options,
    templates_option,
    terms_option,
)
from bioeval.cli.study_command import StudyCommand


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
@click.option(
    "--task",
    type=click.Choice(["verification", "open-set"]),
    default="verification",
    help="Verification, or searches of the gallery at rank 1, by group of the probe.",
)
@templates_option
@fusion_option
@click.option("--alpha", type=float, default=0.5, help="Weight of FAR in FDR and GARBE, 0 to 1.")
@subject_interval_options
@cluster_options()
@name_option
@output_options(
    "results.nc, summary.json, table.txt, groups.csv and pairs.csv", "draw the groups", report=True
)
@terms_option
@reading_options
def command(data: str, **options: Any) -> None:
    """Evaluate verification of DATA, or its searches, by demographic group.

    FRR of each group, FAR of each pair of groups, the threshold that each group would need for
    itself, and how unequal they are: FDR, GARBE, and ratios of the largest rate. Groups with fewer
    than 30 subjects or expected errors are flagged.

    Examples
    --------
      bioeval groups scores.npz --by sex
      bioeval groups scores.npz --by country --threshold far=0.001 --interval subject-bootstrap
      bioeval groups faces.npz --embeddings dlib128 --labels subject --meta sex=sex --by sex
      bioeval groups scores.npz --by sex --threshold 0.42 --out groups --plots
      bioeval groups scores.npz --by sex --task open-set --threshold far=0.01
      bioeval groups scores.npz --by sex --workers 4 --checkpoint counted
    """
    require_method(options["interval"])
    with StudyCommand(data, options) as run:
        from bioeval.evaluation.groups import blocks, by_group

        searches = run.options["task"] == "open-set"
        run.options["task"] = run.options["task"].replace("-", "_")
        found = run.count(by_group, run.read(), run.options.pop("group"), **run.options)
        groups, own = rows_over(found, "group"), rows_over(found, "group", "far_target")
        pairs = rows_over(found, "group", "claimed_group") if "claimed_group" in found.dims else []
        document = {
            **attributes(found, data), "groups": groups, "pairs": pairs, "own_thresholds": own
        }  # fmt: skip
        table = [
            row
            | {
                f"{key}_{one['far_target']:g}": value
                for one in own
                if one["group"] == row["group"]
                for key, value in one.items()
                if key not in ("group", "far_target")
            }
            for row in groups
        ]
        csv = {"groups.csv": as_columns(table)}
        if pairs:
            csv["pairs.csv"] = as_columns(pairs)
        rates_of = "identification" if searches else "verification"
        run.finish(found, blocks, document, csv, task=rates_of)

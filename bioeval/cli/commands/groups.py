"""``bioeval groups``: verification by demographic group."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options
from bioeval.cli.study_command import StudyCommand


@click.command("groups", cls=Command)
@click.argument("data")
@click.argument("second", metavar="[TRIALS]", required=False)
@option("--by COLUMN", "Metadata column of the groups.", required=True, name="group")
@option(
    "--threshold",
    "Threshold: a number, or a rule applied to all groups together: eer, far=0.001, hter, "
    "cost=P,M,A.",
    Value.THRESHOLD,
    "eer",
)
@shared_options(use=True)
@option("--alpha", "Weight of FAR in FDR and GARBE, 0 to 1.", float, 0.5)
@output_options(
    "results.nc, summary.json, table.txt and a CSV file of each table",
    "draw the groups",
)
@shared_options(
    interval="Add confidence intervals by subject.  [none]",
    name=True,
    reading=True,
)
def command(data: str, **options: Any) -> None:
    """Evaluate verification of DATA by demographic group.

    The table gives the FRR of each group, the FAR of each pair of groups, and measures of
    inequality: FDR, GARBE, and ratios of the largest rate. With --interval, which groups differ.
    Groups with fewer than 30 subjects or expected errors are flagged.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.groups.groups import by_group

        dataset = run.count(by_group, run.read(), run.options.pop("group"), **run.options)
        run.finish(dataset)

"""``bioeval error-discard``: whether measures of quality foretell errors."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options
from bioeval.cli.study_command import StudyCommand


@click.command("error-discard", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--quality COLUMN",
    "Metadata column of a quality (larger is better); repeatable, to compare measures.",
    multiple=True,
    required=True,
)
@option(
    "--threshold",
    "Threshold: a number, or a rule applied to all attempts: eer, far=0.001, hter, cost=P,M,A.",
    Value.THRESHOLD,
    required=True,
)
@option(
    "--fractions F,F",
    "Proportions of the samples to discard, increasing.  [0,0.01 ... 0.5]",
    Value.NUMBERS,
)
@output_options(
    "results.nc, summary.json, table.txt, measures.csv and curves.csv", "draw the curves"
)
@shared_options(name=True, reading=True)
def command(data: str, **options: Any) -> None:
    """Evaluate FRR and FAR of DATA when samples of low quality are discarded.

    A useful measure of quality makes FRR fall. The quality of an attempt is the lower quality of
    its two samples. pAUC is the area under FRR up to a discarded fifth, 1 if nothing changes.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.quality.error_discard import error_discard

        scores = run.read()
        qualities = dict.fromkeys(run.options.pop("quality"))
        datasets = {x: run.count(error_discard, scores, x, **run.options) for x in qualities}
        # Names of columns may hold characters that paths in a tree may not.
        run.finish(
            datasets,
            nodes=lambda column: column.replace("/", "_") or "_",
        )

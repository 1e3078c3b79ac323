"""The command ``bioeval accepted-impostors``."""

import click

from bioeval.cli import Command, StudyCommand, option, output_options, shared_options


@click.command("accepted-impostors", cls=Command)
@click.argument("data")
@option("--impostors", "Proportion of all claims that are impostors'.  [0.01]", float)
@output_options("results.nc, summary.json, table.txt and accepted.csv", "draw the curve")
@shared_options(reading=True)
def command(data, **options):
    """Evaluate how many of the claims accepted at a threshold are impostors'."""
    with StudyCommand(data, options) as run:
        from bioeval_lab.accepted import accepted_impostors

        found = run.count(accepted_impostors, run.read(), **run.options)
        run.finish(found)

"""``bioeval conventions``: the same scores by every card that fits."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options
from bioeval.cli.study_command import StudyCommand


@click.command("conventions", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--card CARD",
    "Card to evaluate; repeatable.  [all that fit the data]",
    Value.CARD,
    multiple=True,
    name="cards",
)
@output_options("results.nc, summary.json, table.txt and a CSV file of each table")
@shared_options(name=True, reading=True)
def command(data: str, cards: tuple[str, ...], **options: Any) -> None:
    """Evaluate DATA by every protocol card that fits, one row each.

    The same distances have other rates by other conventions: which entries are removed, how ranks,
    ties and average precision are counted.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.conventions.conventions import conventions

        run.finish(run.count(conventions, run.read(), cards=[*cards] or None, **run.options))

"""``bioeval conventions``: the same scores by every convention."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import card
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import Command, name_option, output_options, reading_options
from bioeval.cli.study_command import StudyCommand


@click.command("conventions", cls=Command)
@click.argument("data")
@click.option(
    "--measure",
    metavar="M",
    help="eer, auc, frr_at_far=X, dir_at_far=X, recognition_rate, cms=K, mean_ap, mean_inp, cmc=K "
    "...  [all of the task]",
)
@click.option(
    "--published", metavar="N", help="Published number as printed, such as 88.40 (per cent)."
)
@click.option(
    "--unit", type=click.Choice(["percent", "fraction"]), help="Unit of --published, if 1 or less."
)
@click.option(
    "--card",
    "cards",
    multiple=True,
    metavar="CARD",
    help="Card to depart from; repeatable, to compare several.  [all cards that suit the data]",
)
@name_option
@output_options("results.nc, summary.json, table.txt and readings.csv", report=True)
@reading_options
def command(data: str, cards: tuple[str, ...], **options: Any) -> None:
    """Evaluate DATA by every convention, to find the one behind a number.

    Each reading departs from the card in one point: kind, ties, ranks, fusion, sessions, templates
    against themselves, forms of average precision, rules of EER and of FRR at a FAR. Readings that
    agree with a published number come first. Each row of readings.csv has the call that reproduces
    it.
    """
    with StudyCommand(data, options) as run:
        from bioeval.evaluation.conventions import blocks, conventions, verdict

        chosen = [card(x) for x in cards] or None
        found = run.count(conventions, run.read(), cards=chosen, **run.options)
        rows = rows_over(found, "reading")
        document = {**attributes(found, data), "rows": rows}
        if "agrees" in found:
            document["verdict"] = verdict(found)
        run.finish(found, blocks, document, {"readings.csv": as_columns(rows)})

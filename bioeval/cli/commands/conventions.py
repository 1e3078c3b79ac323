"""``bioeval conventions``: the same scores by every convention."""

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
    "--measure M",
    "eer, auc, frr_at_far=X, dir_at_far=X, recognition_rate, cms=K, mean_ap, mean_inp, mrr, "
    "r_precision, mean_ap_at_r, ndcg, cmc=K ...  [all of the task]",
)
@option("--published N", "Published number as printed, such as 88.40 (per cent).")
@option("--unit", "Unit of --published, if 1 or less.", ["percent", "fraction"])
@option(
    "--card CARD",
    "Card to depart from; repeatable, to compare several.  [all cards that suit the data]",
    Value.CARD,
    multiple=True,
    name="cards",
)
@output_options("results.nc, summary.json, table.txt and readings.csv")
@shared_options(name=True, reading=True)
def command(data: str, cards: tuple[str, ...], **options: Any) -> None:
    """Evaluate DATA by every convention, to find the one behind a number.

    Each reading departs from the card in one point: kind, ties, ranks, fusion, sessions, templates
    against themselves, forms of average precision, rules of EER and of FRR at a FAR. Readings that
    agree with a published number come first. Each row of readings.csv has the call that reproduces
    it.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.conventions.conventions import conventions
        from bioeval.studies.conventions.section import verdict
        from bioeval.views.writers.lines import written

        dataset = run.count(conventions, run.read(), cards=[*cards] or None, **run.options)
        more = {"verdict": written(verdict(dataset))} if "agrees" in dataset else {}
        run.finish(dataset, more=more)

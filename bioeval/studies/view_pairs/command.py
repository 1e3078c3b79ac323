"""``bioeval by-view``: identification by view of the probe and view of the gallery."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli import Command, StudyCommand, option, output_options, shared_options


@click.command("by-view", cls=Command)
@click.argument("data")
@option("--view COLUMN", "Metadata column of the views, on both sides.", None, "view")
@option(
    "--rank-unit",
    "Rank templates, or subjects by their fused score.",
    ["template", "subject"],
    "template",
)
@shared_options(fusion=True)
@option(
    "--ties",
    "Rank of a non-mate exactly as close as the mate.",
    ["pessimistic", "optimistic", "stable", "expected"],
    "pessimistic",
)
@output_options("results.nc, summary.json, table.txt and a CSV file of each table")
@shared_options(name=True, reading=True)
def command(data: str, **options: Any) -> None:
    """Evaluate identification of DATA by view of the probe and view of the gallery.

    Each probe searches the gallery templates of one view at a time. The table gives the recognition
    rate of each pair of views, and means over pairs of two different views.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.view_pairs.by_view import by_view

        dataset = run.count(by_view, run.read(), run.options.pop("view"), **run.options)
        run.finish(dataset)

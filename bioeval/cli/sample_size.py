"""``bioeval sample-size``: how many subjects, templates and sessions a test needs."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import THRESHOLD, WHOLE_NUMBERS
from bioeval.cli.documents import described, rows_over, scalars
from bioeval.cli.options import (
    Command,
    output_options,
    reading_options,
    seed_option,
)
from bioeval.cli.study_command import StudyCommand


@click.command("sample-size", cls=Command)
@click.argument("pilot", required=False)
@click.option("--far", type=float, default=1e-4, metavar="X", help="FAR of the operating point.")
@click.option(
    "--width",
    "frr_width",
    type=float,
    default=0.01,
    metavar="W",
    help="Largest width of the interval.",
)
@click.option(
    "--measure",
    type=click.Choice(["frr", "eer"]),
    default="frr",
    help="Measure whose interval is planned.",
)
@click.option(
    "--threshold", type=THRESHOLD, help="Threshold of the pilot.  [the loosest that keeps --far]"
)
@click.option("--frr", type=float, metavar="P", help="Without a pilot: expected FRR.")
@click.option(
    "--icc",
    type=float,
    metavar="R",
    help="Without a pilot: correlation of two genuine errors of a subject.",
)
@click.option(
    "--template-icc",
    type=float,
    default=0.0,
    metavar="R",
    help="Without a pilot: increase of --icc for two errors that share a template.",
)
@click.option(
    "--templates", type=WHOLE_NUMBERS, help="Numbers of templates per subject.  [2,3,5,10]"
)
@click.option(
    "--templates-per-session",
    type=int,
    default=1,
    metavar="N",
    help="Templates per subject and visit.",
)
@click.option(
    "--confidence", type=float, default=0.95, metavar="C", help="Confidence of the interval."
)
@click.option(
    "--assurance",
    type=float,
    default=0.92,
    metavar="P",
    help="Planned probability that the interval is at most as wide as --width.",
)
@seed_option("Random seed, for an EER.")
@output_options("results.nc, summary.json and table.txt")
@reading_options
def command(pilot: str | None, **options: Any) -> None:
    """Find how many subjects, templates and sessions a verification test needs.

    PILOT is the scores of a first, small test, which gives the variation between subjects. Without
    it, --frr and --icc are assumed.
    """
    with StudyCommand(pilot or "", options) as run:
        from bioeval.evaluation.sample_size import blocks, sample_size

        scores = None if pilot is None else run.read()
        run.stages("counting")
        ds = sample_size(scores, **run.options)
        document = {
            "file": pilot,
            **described(ds, **scalars(ds), plans=rows_over(ds, "templates")),
        }
        run.finish(ds, blocks, document, lines=True)

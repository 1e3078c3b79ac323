"""``bioeval sample-size``: what a test takes."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import (
    FUSION_IN_USE,
    TRIES_AND_ENROLMENT,
    shared_options,
)
from bioeval.cli.study_command import StudyCommand


def _numbers_or_multi(text: str) -> Any:
    """Read numbers of templates, or the word for claims at all templates of a subject."""
    return text if text.strip() == "multi" else Value.WHOLE_NUMBERS.read(text)


@click.command("sample-size", cls=Command)
@click.argument("pilot", required=False)
@click.argument("second", required=False, metavar="[FILE]")
@option("--far X", "FAR of the operating point.", Value.RATE, 0.0001)
@option(
    "--width W",
    "Largest width of the interval of the FRR.",
    Value.PROPORTION,
    0.01,
    name="frr_width",
)
@option(
    "--threshold T|RULE",
    "Threshold of the pilot: a number, or a rule; the loosest that keeps the FAR by default.",
    Value.THRESHOLD,
)
@option("--frr P", "Without a pilot: expected FRR.", Value.PROPORTION)
@option("--icc X", "Without a pilot: correlation of two genuine errors of a subject.", float)
@option("--confidence P", "Confidence of the interval, and of the rule of 3.", Value.CONFIDENCE)
@option(
    "--templates N,N",
    "Numbers of templates per subject; or multi, with PILOT: a claim is compared with all enrolled "
    "templates of the subject.  [2,3,5,10]",
    Value("numbers", _numbers_or_multi, "whole numbers such as 2,3,5, or multi"),
    name="n_templates",
)
@TRIES_AND_ENROLMENT
@FUSION_IN_USE
@shared_options(name=False)
def sample_size_command(pilot: str | None, **options: Any) -> None:
    """Find how many subjects and templates a verification test needs.

    bioeval sample-size pilot.npz --far 1e-4 --width 0.01
    bioeval sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6

    PILOT is the scores of a first, small test, which gives the variation between subjects. Without
    it, --frr and --icc are assumed.
    """
    numbers = options.pop("n_templates")
    if numbers == "multi":
        numbers, options["templates"] = None, "multi"
    with StudyCommand(pilot or "", options) as run:
        from bioeval.studies.planning.sample_size import sample_size

        if pilot is None and run.use:
            raise click.UsageError(f"--{next(iter(run.use))} is of a pilot: give PILOT")
        scores = run.read() if pilot is not None else None
        run.stages("counting")
        ds = sample_size(scores, n_templates=numbers, **run.options)
        run.finish(ds)

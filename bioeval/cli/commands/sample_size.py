"""``bioeval sample-size``: what a test takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import CONFIDENCE, PROPORTION, RATE, THRESHOLD, WHOLE_NUMBERS, Value
from bioeval.cli.command import Command, option
from bioeval.cli.shared import FUSION_IN_USE, TRIES_AND_ENROLMENT, shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


def _numbers_or_multi(text: str) -> Any:
    """Read numbers of templates, or the word for claims at all templates of a subject."""
    return text if text.strip() == "multi" else WHOLE_NUMBERS.read(text)


@click.command("sample-size", cls=Command)
@click.argument("pilot", required=False)
@click.argument("second", required=False, metavar="[FILE]")
@option("--far X", "FAR of the operating point.", RATE, 0.0001)
@option(
    "--width W",
    "Largest width of the interval of the FRR.",
    PROPORTION,
    0.01,
    name="frr_width",
)
@option(
    "--threshold T|RULE",
    "Threshold of the pilot: a number, or a rule; the loosest that keeps the FAR by default.",
    THRESHOLD,
)
@option("--frr P", "Without a pilot: expected FRR.", PROPORTION)
@option("--icc X", "Without a pilot: correlation of two genuine errors of a subject.", float)
@option("--confidence P", "Confidence of the interval, and of the rule of 3.", CONFIDENCE)
@option(
    "--templates N,N",
    "Numbers of templates per subject; or multi, with PILOT: a claim is compared with all enrolled "
    "templates of the subject.  [2,3,5,10]",
    Value("numbers", _numbers_or_multi, "whole numbers such as 2,3,5, or multi"),
    name="n_templates",
)
@TRIES_AND_ENROLMENT
@FUSION_IN_USE
@shared(name=False, fails=("frr > 5%",))
def sample_size_command(
    run: Run,
    pilot: str | None = None,
    second: str | None = None,
    n_templates: Any = None,
    **options: Any,
) -> None:
    """Find how many subjects and templates a verification test needs.

    bioeval sample-size pilot.npz --far 1e-4 --width 0.01
    bioeval sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6

    PILOT is the scores of a first, small test, which gives the variation between subjects. Without
    it, --frr and --icc are assumed.
    """
    from bioeval.studies.planning.sample_size import sample_size

    if n_templates == "multi":
        n_templates = None
        run.claim_all_templates()
    if pilot is None and run.use:
        raise click.UsageError(f"--{next(iter(run.use))} is of a pilot: give PILOT")
    scores = None if pilot is None else run.read(pilot, second)
    run.finish(sample_size(scores, n_templates=n_templates, **options))

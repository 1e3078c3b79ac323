"""``bioeval error-discard``: whether measures of quality foretell errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import NUMBERS, THRESHOLD
from bioeval.cli.command import Command, option
from bioeval.cli.shared import DATA, shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@click.command("error-discard", cls=Command)
@DATA
@option(
    "--quality COLUMN",
    "Metadata column of a quality (larger is better).",
    required=True,
    multiple=True,
)
@option(
    "--threshold T|RULE",
    "Threshold: a number, or a rule applied to all attempts, before any is discarded.",
    THRESHOLD,
    required=True,
)
@option(
    "--fractions F,F",
    "Proportions of the samples to discard, increasing from 0.",
    NUMBERS,
)
@shared(use=True, plots=True)
def error_discard_command(
    run: Run, data: str, quality: tuple[str, ...], second: str | None = None, **options: Any
) -> None:
    """Evaluate FRR and FAR of DATA when samples of low quality are discarded.

    bioeval error-discard scores.npz --quality sharpness --threshold far=0.001

    A useful measure of quality makes FRR fall. The quality of an attempt is the lower quality of
    its two samples. pAUC is the area under FRR up to a discarded fifth, 1 if nothing changes.
    """
    from bioeval.studies.quality.error_discard import error_discard

    scores = run.read(data, second)
    run.finish({name: error_discard(scores, name, **options) for name in quality})

"""``bioeval error-discard``: whether measures of quality foretell errors."""

from __future__ import annotations

from bioeval.cli.arguments import Value
from bioeval.cli.command import option
from bioeval.cli.study_command import StudyCommand, study


@study(
    "error-discard",
    option(
        "--quality COLUMN",
        "Metadata column of a quality (larger is better).",
        required=True,
        multiple=True,
    ),
    option(
        "--threshold T|RULE",
        "Threshold: a number, or a rule applied to all attempts, before any is discarded.",
        Value.THRESHOLD,
        required=True,
    ),
    option(
        "--fractions F,F",
        "Proportions of the samples to discard, increasing from 0.",
        Value.NUMBERS,
    ),
    plots=True,
)
def error_discard_command(run: StudyCommand) -> None:
    """Evaluate FRR and FAR of DATA when samples of low quality are discarded.

    bioeval error-discard scores.npz --quality sharpness --threshold far=0.001

    A useful measure of quality makes FRR fall. The quality of an attempt is the lower quality of
    its two samples. pAUC is the area under FRR up to a discarded fifth, 1 if nothing changes.
    """
    from bioeval.studies.quality.error_discard import error_discard

    scores = run.read()
    qualities = dict.fromkeys(run.options.pop("quality"))
    datasets = {x: run.count(error_discard, scores, x, **run.options) for x in qualities}
    run.finish(datasets)

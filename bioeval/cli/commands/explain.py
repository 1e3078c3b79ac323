"""``bioeval explain``: one row, comparison by comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import option
from bioeval.cli.study_command import StudyCommand, study

if TYPE_CHECKING:
    from bioeval.studies.explain.section import Explanation, Steps


@study(
    "explain",
    option("--probe N|NAME", "Row: its position, from 0, or the name of its template."),
    option(
        "--step-by-step",
        "Explain every row of a small matrix, with running totals of each counter.",
        bool,
        name="steps",
    ),
    option(
        "--threshold T|RULE",
        "Threshold: a number, or a rule applied to these data; the EER by default.",
        Value.THRESHOLD,
    ),
    option(
        "--protocol CARD",
        "Card whose tasks are explained: a name (bioeval protocols lists all) or a path; "
        "auto: all of verification and identification.",
        str,
        "auto",
    ),
    use=True,
)
def explain_command(run: StudyCommand) -> None:
    """Explain a row of DATA: its sorted list, and what it adds to the rates.

    bioeval explain scores.npz --probe 17 --threshold 0.4

    The table lists the comparisons of one probe in order of score, with their roles (genuine,
    impostor) and what is accepted at the threshold; below it stands what the row adds to the
    counters of every task, and why. With --step-by-step, the running totals end in the rates of
    `bioeval run`.
    """
    probe = run.options.pop("probe", None)
    if run.options.pop("steps") == (probe is not None):
        raise click.UsageError("give --probe N, or --step-by-step for every row of a small matrix")
    from bioeval.studies.explain.explain import explain, step_by_step

    scores = run.read()
    run.stages("explaining")
    explained: Explanation | Steps
    if probe is None:
        explained = step_by_step(scores, **run.options)
    else:
        explained = explain(scores, probe, **run.options)
    run.finish(explained, files=filter(None, (run.data, run.reading.get("labels"))))

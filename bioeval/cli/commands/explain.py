"""``bioeval explain``: one row, comparison by comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bioeval.cli.calls import options_of
from bioeval.cli.command import option
from bioeval.cli.study_command import StudyCommand, study

if TYPE_CHECKING:
    from bioeval.studies.explain.section import Explanation, Steps


@study(
    "explain",
    options_of("explain", "probe", probe={"required": False}),
    option(
        "--step-by-step",
        "Explain every row of a small matrix, with running totals of each counter.",
        bool,
        name="steps",
    ),
    options_of("explain", "threshold", "protocol"),
    use=True,
)
def command(run: StudyCommand) -> None:
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

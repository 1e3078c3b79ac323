"""``bioeval explain``: one row, comparison by comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import THRESHOLD
from bioeval.cli.command import Command, option
from bioeval.cli.shared import DATA, shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@click.command("explain", cls=Command)
@DATA
@option("--probe N|NAME", "Row: its position, from 0, or the name of its template.")
@option(
    "--step-by-step",
    "Explain every row of a small matrix, with running totals of each counter.",
    bool,
    name="steps",
)
@option(
    "--threshold T|RULE",
    "Threshold: a number, or a rule applied to these data; the EER by default.",
    THRESHOLD,
)
@option(
    "--protocol CARD",
    "Card whose tasks are explained: a name (bioeval protocols lists all) or a path; "
    "auto: all of verification and identification.",
    str,
    "auto",
)
@shared(use=True)
def explain_command(
    run: Run,
    data: str,
    steps: bool,
    second: str | None = None,
    probe: str | None = None,
    **options: Any,
) -> None:
    """Explain a row of DATA: its sorted list, and what it adds to the rates.

    bioeval explain scores.npz --probe 17 --threshold 0.4

    The table lists the comparisons of one probe in order of score, with their roles (genuine,
    impostor) and what is accepted at the threshold; below it stands what the row adds to the
    counters of every task, and why. With --step-by-step, the running totals end in the rates of
    `bioeval run`.
    """
    if steps == (probe is not None):
        raise click.UsageError("give --probe N, or --step-by-step for every row of a small matrix")
    from bioeval.cli.running import Extras
    from bioeval.studies.explain.explain import explain, step_by_step

    scores = run.read(data, second)
    extras = Extras(name=str(scores.name))
    if probe is None:
        run.finish(step_by_step(scores, **options), extras)
    else:
        run.finish(explain(scores, probe, **options), extras)

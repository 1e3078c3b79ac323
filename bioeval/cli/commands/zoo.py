"""``bioeval zoo``: who fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import THRESHOLD, at_least
from bioeval.cli.command import Command, option
from bioeval.cli.shared import DATA, shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@click.command("zoo", cls=Command)
@DATA
@option(
    "--threshold T|RULE",
    "Threshold at which errors are counted: a number, or a rule applied to these data.",
    THRESHOLD,
    "eer",
)
@option("--quantile X", "Proportion of subjects that count as best, and as worst.", float, 0.25)
@option("--permutations N", "Number of permutations of the tests.", int, 2000)
@option("--seed N", "Seed of the halves and permutations.", at_least(0), 0, name="random_state")
@shared(use=True, plots=True, fails=("gini@error=fr > 0.8",))
def zoo_command(run: Run, data: str, second: str | None = None, **options: Any) -> None:
    """Evaluate DATA by subject, and test for goats, wolves and lambs.

    bioeval zoo scores.npz --threshold far=0.001

    The table gives the mean scores of each subject, its false rejects, the false accepts by its
    probes (many for a wolf) and by claims of its identity (many for a lamb), and the rates without
    the subject. The tests compare two halves of each subject's templates. Embeddings usually have
    wolves and lambs, also those of `bioeval simulate`: subjects near the common centre are near to
    all others.
    """
    from bioeval.studies.zoo.zoo import zoo

    run.finish(zoo(run.read(data, second), **options))

"""``bioeval groups``: verification by group of people, or by condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import THRESHOLD
from bioeval.cli.command import Command, option
from bioeval.cli.shared import DATA, shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@click.command("groups", cls=Command)
@DATA
@option(
    "--by COLUMN",
    "Metadata column of the groups; or one value a template of all-against-all scores; "
    "or the values of the probes and those of the gallery (of listed pairs, of the "
    "second and of the first names): of people then, so that all templates of a subject"
    " are of one group.",
    name="group",
    required=True,
)
@option(
    "--threshold T|RULE",
    "Threshold: a number, or a rule applied to all groups together.",
    THRESHOLD,
    "eer",
)
@option("--alpha X", "Weight of FAR in FDR and GARBE, from 0 to 1.", float, 0.5)
@option(
    "--interval METHOD",
    "Add confidence intervals by subject: those of the jackknife over the people of each group.",
    ["people"],
)
@shared(use=True, interval=True, plots=True, fails=("garbe > 0.2",))
def groups_command(
    run: Run,
    data: str,
    group: str,
    second: str | None = None,
    interval: str | None = None,
    **options: Any,
) -> None:
    """Evaluate verification of DATA by group of people, or by a condition such as light.

    bioeval groups scores.npz --by sex --interval people

    Of people, the table gives the FRR of each group, the FAR of each pair of groups, and measures
    of inequality: FDR, GARBE, and ratios of the largest rate. Where a person has several values, it
    gives FRR and FAR by the value of the probe. With --interval, which groups differ. Groups with
    fewer than 30 subjects or expected errors are flagged.
    """
    from bioeval.studies.groups.groups import by_group

    limits = run.interval(interval)
    run.finish(by_group(run.read(data, second), group, interval=limits, **options))

"""``bioeval groups``: verification by demographic group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli import (
    Command,
    StudyCommand,
    Value,
    option,
    output_options,
    shared_options,
)


@click.command("groups", cls=Command)
@click.argument("data")
@click.argument("b", metavar="[B]", required=False)
@option("--by COLUMN", "Metadata column of the groups.", required=True, name="group")
@option(
    "--threshold",
    "Threshold: a number, or a rule applied to all groups together: eer, far=0.001, hter, "
    "cost=P,M,A.",
    Value.THRESHOLD,
    "eer",
)
@option(
    "--threshold-b",
    "Threshold of B: a number or a rule.  [as for DATA]",
    Value.THRESHOLD,
)
@shared_options(far=True)
@option(
    "--task",
    "Verification, or open-set searches at rank 1, by group of the probe.",
    ["verification", "open_set"],
    "verification",
)
@shared_options(templates=True, fusion=True)
@option("--alpha", "Weight of FAR in FDR and GARBE, 0 to 1.", float, 0.5)
@option(
    "--cost",
    "Of the minDCF of each group: prior, cost of a false reject and of a false accept.",
    Value.NUMBERS,
    "0.01,1,1",
)
@output_options(
    "results.nc, summary.json, table.txt and a CSV file of each table",
    "draw the groups",
)
@shared_options(
    interval="Add confidence intervals by subject.  [none]",
    name=True,
    reading=True,
    workers=True,
    checkpoint=True,
)
def command(data: str, b: str | None, **options: Any) -> None:
    """Evaluate verification or searches of DATA by demographic group.

    The table gives the FRR of each group, the FAR of each pair of groups, the threshold that each
    group needs for the same rate, its EER and minDCF, and measures of inequality: FDR, GARBE, and
    ratios of the largest rate. With --interval, which groups differ. Groups with fewer than 30
    subjects or expected errors are flagged.

    With a second file B, the scores of another system of the same people: in which of the two are
    the groups more alike? Columns, thresholds and other options hold for both. Where B is a list of
    trials without scores, it has the trials of DATA.
    """
    from bioeval.scores import lists_trials

    threshold_b = options.pop("threshold_b")
    if b is not None and lists_trials(b):
        options["second"], b = b, None
    if b is not None:
        _compare(data, b, threshold_b, options)
        return
    if threshold_b is not None:
        raise click.UsageError("--threshold-b is of a second system B, and there is one file")
    with StudyCommand(data, options) as run:
        from bioeval.studies.groups.groups import by_group

        dataset = run.count(by_group, run.read(), run.options.pop("group"), **run.options)
        run.finish(dataset)


#: Options of one system alone, and their defaults.
_OF_ONE = {
    "task": "verification",
    "far_targets": None,
    "cost": (0.01, 1.0, 1.0),
    "interval": None,
    "replicates": None,
    "name": None,
}


def _compare(data: str, b: str, threshold_b: Any, options: dict[str, Any]) -> None:
    """Compare how alike two systems treat groups."""
    source = click.get_current_context().get_parameter_source
    for name in _OF_ONE:
        if name in options and getattr(source(name), "name", "") == "COMMANDLINE":
            flag = name.removesuffix("_targets").replace("_", "-")
            raise click.UsageError(f"--{flag} is of one system, and there are two files")
    with StudyCommand(data, options) as run:
        from bioeval.studies.groups.gaps import compare_groups

        of_two = {x: y for x, y in run.options.items() if x not in _OF_ONE}
        group = of_two.pop("group")
        if threshold_b is not None:
            of_two["threshold_b"] = threshold_b
        if run.output.plots:
            raise click.UsageError(
                "--plots draws the groups of one system, and there are two files"
            )
        systems = [run.read(file, Path(file).stem) for file in (data, b)]
        dataset = run.count(compare_groups, *systems, group, **of_two)
        run.finish(dataset)

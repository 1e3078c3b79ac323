"""``bioeval groups``: verification by demographic group."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli import (
    Command,
    StudyCommand,
    Value,
    option,
    output_options,
    rows_over,
    shared_options,
)


@click.command("groups", cls=Command)
@click.argument("data")
@option("--by COLUMN", "Metadata column of the groups.", required=True, name="group")
@option(
    "--threshold",
    "Threshold: a number, or a rule applied to all groups together: eer, far=0.001, hter, "
    "cost=P,M,A.",
    Value.THRESHOLD,
    "eer",
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
@output_options(
    "results.nc, summary.json, table.txt, groups.csv and pairs.csv", "draw the groups", report=True
)
@shared_options(
    interval="Add confidence intervals by subject.  [none]",
    name=True,
    terms=True,
    reading=True,
    workers=True,
    checkpoint=True,
)
def command(data: str, **options: Any) -> None:
    """Evaluate verification or searches of DATA by demographic group.

    The table gives the FRR of each group, the FAR of each pair of groups, the threshold that each
    group needs for the same rate, and measures of inequality: FDR, GARBE, and ratios of the largest
    rate. Groups with fewer than 30 subjects or expected errors are flagged.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.groups.groups import by_group

        dataset = run.count(by_group, run.read(), run.options.pop("group"), **run.options)
        groups, at_targets = rows_over(dataset, "group"), rows_over(dataset, "group", "far_target")
        if "claimed_group" in dataset.dims:
            pairs = rows_over(dataset, "group", "claimed_group")
        else:
            pairs = []
        document = {
            **run.document(dataset),
            "groups": groups,
            "pairs": pairs,
            "own_thresholds": at_targets,
        }
        table = {row["group"]: dict(row) for row in groups}
        for at_target in at_targets:
            of_group, target = table[at_target["group"]], at_target["far_target"]
            for key, value in at_target.items():
                if key not in ("group", "far_target"):
                    of_group[f"{key}_{target:g}"] = value
        csv = {"groups.csv": list(table.values())}
        if pairs:
            csv["pairs.csv"] = pairs
        run.finish(dataset, document, csv)

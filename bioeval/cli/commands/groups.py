"""``bioeval groups``: verification by group of people, or by condition."""

from __future__ import annotations

from bioeval.cli.calls import options_of
from bioeval.cli.study_command import StudyCommand, study


@study(
    "groups",
    options_of("by_group", "group", "threshold", "alpha", "interval"),
    use=True,
    interval=True,
    plots=True,
)
def command(run: StudyCommand) -> None:
    """Evaluate verification of DATA by group of people, or by a condition such as light.

    bioeval groups scores.npz --by sex --interval people

    Of people, the table gives the FRR of each group, the FAR of each pair of groups, and measures
    of inequality: FDR, GARBE, and ratios of the largest rate. Where a person has several values, it
    gives FRR and FAR by the value of the probe. With --interval, which groups differ. Groups with
    fewer than 30 subjects or expected errors are flagged.
    """
    from bioeval.studies.groups.groups import by_group

    run.finish(run.count(by_group, run.read(), run.options.pop("group"), **run.options))

"""Commands of planning: errors per day, and people needed for a test."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import (
    CONFIDENCE,
    PROPORTION,
    RATE,
    THRESHOLD,
    WHOLE_NUMBERS,
    Value,
)
from bioeval.cli.command import option
from bioeval.cli.shared import (
    FUSION_IN_USE,
    INTERVAL,
    TRIES_AND_ENROLMENT,
    rule_of,
    shared,
)

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.scores.matrix import Scores
    from bioeval.stats.options import IntervalMethod


TASKS = ("verification/single", "verification/multi", "open_set")


def _by_name(text: str) -> dict[str, float]:
    rates = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        rates[name.strip()] = PROPORTION.read(value)
    return rates


@click.argument("data", required=False)
@click.argument("second", required=False, metavar="[FILE]")
@option("--people N", "People per day, each once.", int, name="people_per_day", required=True)
@option(
    "--impostors P",
    "Proportion of people who are impostors, or not on the watch list.",
    PROPORTION,
    name="impostor_share",
    required=True,
)
@option("--far X", "Operating point: FAR at most X.", RATE)
@option(
    "--alarms-per-day X",
    "Operating point: the FAR at which so many false alarms a day are expected.",
    float,
)
@option(
    "--threshold T|RULE", "Operating point: a threshold of the result, or eer, or far=X.", THRESHOLD
)
@option(
    "--rates NAME=P,...",
    "Rates instead of DATA; each may have _low and _high.",
    Value("rates", _by_name, "rates by name, as far=0.001,frr=0.02 or fpir=0.01,fnir=0.1"),
)
@option("--days N,N", "Periods in days over which events are counted.", WHOLE_NUMBERS)
@option("--task", "Task of DATA that gives the rates.", TASKS, TASKS[0])
@INTERVAL
@shared(use=True, interval=True, name=False, fails=("per_day@event=false-alarm > 10",))
def workload_command(
    run: Run,
    task: str,
    data: str | None = None,
    second: str | None = None,
    far: float | None = None,
    threshold: Any = None,
    rates: dict[str, float] | None = None,
    interval: str | None = None,
    **options: Any,
) -> None:
    """Estimate the false alarms and rejected people of a system per day.

    bioeval workload scores.npz --people 2000 --impostors 0.01 --far 0.001
    bioeval workload --people 2000 --impostors 0.1 --alarms-per-day 3

    DATA is scores, which are evaluated at the operating point. With --alarms-per-day the FAR is
    found that a number of false alarms allows; DATA and --rates are then optional.
    """
    from bioeval.studies.planning.workload import far_of_alarms, workload

    alarms = options.get("alarms_per_day")
    if None not in (data, rates) or (data is rates is alarms is None):
        raise click.UsageError("give DATA or --rates, one of the two")
    threshold = rule_of(far, "threshold", threshold)
    if None not in (threshold, alarms):
        raise click.UsageError("--alarms-per-day chooses the operating point; give it alone")
    if data is None:
        run.finish(workload(rates, threshold=threshold, **options))
        return
    if alarms is not None:
        allowed = far_of_alarms(alarms, options["people_per_day"], options["impostor_share"])
        threshold = f"far={allowed}"
    scores = run.read(data, second)
    results, choice = _evaluated(scores, task, threshold, run.interval_for(scores, interval))
    planned = workload(results, **options)  # planned at the threshold of the results
    run.finish(planned.assign_attrs(choice))


def _evaluated(
    scores: Scores, task: str, threshold: Any, interval: IntervalMethod | None
) -> tuple[xr.Dataset, dict[str, str]]:
    from bioeval.counting.threshold_rules import Rule
    from bioeval.results.threshold_lookup import ResultThresholds
    from bioeval.tasks.identification import open_set
    from bioeval.tasks.verification_task import verification

    if threshold is None:
        raise click.UsageError(
            "give --far X, --threshold T or --alarms-per-day K, the operating point in use"
        )
    name, _, templates = task.partition("/")
    evaluate: Any = partial(open_set, max_rank=1)
    if name == "verification":
        multi = templates == "multi"
        evaluate = partial(verification, templates="multi" if multi else "single", auc=False)
    rule = Rule.parse(threshold)
    targets = {"far_targets": rule.values} if rule.name == "far" else {}
    if rule.name == "fixed":
        return evaluate(scores, thresholds=rule.values, interval=interval), {}
    point = ResultThresholds(evaluate(scores, **targets)).of_rule(rule)
    rates = evaluate(scores, thresholds=[point], interval=interval)
    return rates, {"threshold_rule": str(rule), "chosen_on": "these data"}


def _numbers_or_multi(text: str) -> Any:
    return text if text.strip() == "multi" else WHOLE_NUMBERS.read(text)


@click.argument("pilot", required=False)
@click.argument("second", required=False, metavar="[FILE]")
@option("--far X", "FAR of the operating point.", RATE, 0.0001)
@option(
    "--width W", "Largest width of the interval of the FRR.", PROPORTION, 0.01, name="frr_width"
)
@option(
    "--threshold T|RULE",
    "Threshold of the pilot: a number, or a rule; the loosest that keeps the FAR by default.",
    THRESHOLD,
)
@option("--frr P", "Without a pilot: expected FRR.", PROPORTION)
@option("--icc X", "Without a pilot: correlation of two genuine errors of a subject.", float)
@option("--confidence P", "Confidence of the interval, and of the rule of 3.", CONFIDENCE)
@option(
    "--templates N,N",
    "Numbers of templates per subject; or multi, with PILOT: a claim is compared with all "
    "enrolled templates of the subject.  [2,3,5,10]",
    Value("numbers", _numbers_or_multi, "whole numbers such as 2,3,5, or multi"),
    name="n_templates",
)
@TRIES_AND_ENROLMENT
@FUSION_IN_USE
@shared(name=False, fails=("frr > 5%",))
def sample_size_command(
    run: Run,
    pilot: str | None = None,
    second: str | None = None,
    n_templates: Any = None,
    **options: Any,
) -> None:
    """Find how many subjects and templates a verification test needs.

    bioeval sample-size pilot.npz --far 1e-4 --width 0.01
    bioeval sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6

    PILOT is the scores of a first, small test, which gives the variation between subjects. Without
    it, --frr and --icc are assumed.
    """
    from bioeval.studies.planning.sample_size import sample_size

    if n_templates == "multi":
        n_templates = None
        run.use["templates"] = "multi"
    if pilot is None and run.use:
        raise click.UsageError(f"--{next(iter(run.use))} is of a pilot: give PILOT")
    scores = None if pilot is None else run.read(pilot, second)
    run.finish(sample_size(scores, n_templates=n_templates, **options))

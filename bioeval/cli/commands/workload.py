"""``bioeval workload``: what the use of a system brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import INTERVAL, shared_options, take_far, take_interval
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr


TASKS = ("verification/single", "verification/multi", "open_set")


def _by_name(text: str) -> dict[str, float]:
    rates = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        rates[name.strip()] = Value.PROPORTION.read(value)
    return rates


@click.command("workload", cls=Command)
@click.argument("data", required=False)
@click.argument("second", required=False, metavar="[FILE]")
@option("--people N", "People per day, each once.", int, name="people_per_day", required=True)
@option(
    "--impostors P",
    "Proportion of people who are impostors, or not on the watch list.",
    Value.PROPORTION,
    name="impostor_share",
    required=True,
)
@option("--far X", "Operating point: FAR at most X.", Value.RATE)
@option(
    "--alarms-per-day X",
    "Operating point: the FAR at which so many false alarms a day are expected.",
    float,
)
@option(
    "--threshold T|RULE",
    "Operating point: a threshold of the result, or eer, or far=X.",
    Value.THRESHOLD,
)
@option(
    "--rates NAME=P,...",
    "Rates instead of DATA; each may have _low and _high.",
    Value("rates", _by_name, "rates by name, as far=0.001,frr=0.02 or fpir=0.01,fnir=0.1"),
)
@option("--days N,N", "Periods in days over which events are counted.", Value.WHOLE_NUMBERS)
@option("--task", "Task of DATA that gives the rates.", TASKS, TASKS[0])
@INTERVAL
@shared_options(use=True, interval=True, name=False)
def workload_command(data: str | None, **options: Any) -> None:
    """Estimate the false alarms and rejected people of a system per day.

    bioeval workload scores.npz --people 2000 --impostors 0.01 --far 0.001
    bioeval workload --people 2000 --impostors 0.1 --alarms-per-day 3

    DATA is scores, which are evaluated at the operating point. With --alarms-per-day the FAR is
    found that a number of false alarms allows; DATA and --rates are then optional.
    """
    alarms, sources = options["alarms_per_day"], (data, options["rates"])
    if None not in sources or (sources == (None, None) and alarms is None):
        raise click.UsageError("give DATA or --rates, one of the two")
    take_far(options, "threshold")
    if None not in (options["threshold"], alarms):
        raise click.UsageError("--alarms-per-day chooses the operating point; give it alone")
    names = ("interval", "confidence", "replicates", "random_state")
    of_scores = {name: options.pop(name) for name in names}
    with StudyCommand(data or "", options) as run:
        from bioeval.studies.planning.workload import far_of_alarms, workload

        arguments = run.options
        task, rates = arguments.pop("task"), arguments.pop("rates", None)
        choice: dict[str, str] = {}
        if data is not None:
            scores = run.read()
            run.stages("counting")
            take_interval(of_scores, run.interval_for(scores, of_scores["interval"]))
            rule = arguments.get("threshold")
            if alarms is not None:
                people, share = arguments["people_per_day"], arguments["impostor_share"]
                rule = f"far={far_of_alarms(alarms, people, share)}"
            rates, choice = _evaluated(scores, task, rule, of_scores)
            arguments["threshold"] = None  # the results have this one
        ds = workload(rates, **arguments)
        ds.attrs |= choice
        run.finish(ds)


def _evaluated(
    scores: Any, task: str, threshold: Any, of_scores: dict[str, Any]
) -> tuple[xr.Dataset, dict[str, str]]:
    """Return the rates of scores at the operating point, and its rule."""
    from functools import partial

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
        return evaluate(scores, thresholds=rule.values, **of_scores), {}
    at = ResultThresholds(evaluate(scores, **targets)).of_rule(rule)
    rates = evaluate(scores, thresholds=[at], **of_scores)
    return rates, {"threshold_rule": str(rule), "chosen_on": "these data"}

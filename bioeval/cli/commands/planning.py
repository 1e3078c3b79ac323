"""``bioeval sample-size`` and ``workload``: what a test takes, and what use brings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import Value
from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, option
from bioeval.cli.options import (
    FUSION_IN_USE,
    TRIES_AND_ENROLMENT,
    shared_options,
    take_interval,
)
from bioeval.cli.outputs import MoreResults
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr


def _numbers_or_multi(text: str) -> Any:
    """Read numbers of templates, or the word for claims at all templates of a subject."""
    return text if text.strip() == "multi" else Value.WHOLE_NUMBERS.read(text)


TASKS = ("verification/single", "verification/multi", "open_set")


@click.command("sample-size", cls=Command)
@click.argument("pilot", required=False)
@click.argument("second", required=False, metavar="[FILE]")
@options_of("sample_size", "far", "frr_width", "threshold", "frr", "icc", "confidence")
@option(
    "--templates N,N",
    "Numbers of templates per subject; or multi, with PILOT: a claim is compared with all enrolled "
    "templates of the subject.  [2,3,5,10]",
    Value("numbers", _numbers_or_multi, "whole numbers such as 2,3,5, or multi"),
    name="n_templates",
)
@TRIES_AND_ENROLMENT
@FUSION_IN_USE
@shared_options(name=False)
def sample_size_command(pilot: str | None, **options: Any) -> None:
    """Find how many subjects and templates a verification test needs.

    bioeval sample-size pilot.npz --far 1e-4 --width 0.01
    bioeval sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6

    PILOT is the scores of a first, small test, which gives the variation between subjects. Without
    it, --frr and --icc are assumed.
    """
    numbers = options.pop("n_templates")
    if numbers == "multi":
        numbers, options["templates"] = None, "multi"
    with StudyCommand(pilot or "", options) as run:
        from bioeval.studies.planning.sample_size import sample_size

        if pilot is None and run.use:
            raise click.UsageError(f"--{next(iter(run.use))} is of a pilot: give PILOT")
        scores = run.read() if pilot is not None else None
        run.stages("counting")
        ds = sample_size(scores, n_templates=numbers, **run.options)
        run.finish(ds)


def _by_name(text: str) -> dict[str, float]:
    rates = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        rates[name.strip()] = Value.PROPORTION.read(value)
    return rates


def _use(text: str) -> dict[str, float]:
    """Read the use of a system: ``people=2000,impostors=0.01``."""
    use: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name.strip() == "people":
            use["people_per_day"] = int(value)
        elif name.strip() == "impostors":
            use["impostor_share"] = Value.PROPORTION.read(value)
        else:
            raise ValueError
    if len(use) < 2:
        raise ValueError
    return use


class ReportedWorkload(MoreResults):
    """The errors of a day of each system of a page, at its threshold."""

    add_options = (
        option(
            "--workload USE",
            "Add errors per day: people=2000,impostors=0.01.",
            Value("people=N,impostors=P", _use, "people=2000,impostors=0.01"),
        ),
    )

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._use: dict[str, Any] | None = options.pop("workload")

    def of_results(self, results: xr.DataTree, target: str | None) -> dict[str, xr.Dataset]:
        """Return the work of a day at the threshold."""
        if self._use is None:
            return {}
        from bioeval.studies.planning.workload import workload

        task = next((name for name in TASKS if f"/{name}" in results.groups), None)
        if task is None or target is None:
            raise DataError(
                "--workload needs FAR and FRR at a threshold: verification or open-set "
                "identification"
            )
        rates = results[task].to_dataset()
        return {"workload": workload(rates, **self._use, threshold=target)}


@click.command("workload", cls=Command)
@click.argument("data", required=False)
@click.argument("second", required=False, metavar="[FILE]")
@options_of("workload", "people_per_day", "impostor_share")
@option("--far X", "Operating point: FAR at most X.", Value.RATE)
@options_of("workload", "alarms_per_day", "threshold")
@option(
    "--rates NAME=P,...",
    "Rates instead of DATA; each may have _low and _high.",
    Value("rates", _by_name, "rates by name, as far=0.001,frr=0.02 or fpir=0.01,fnir=0.1"),
)
@options_of("workload", "days")
@option("--task", "Task of DATA that gives the rates.", TASKS, TASKS[0])
@options_of("verification", "interval")
@shared_options(interval=True, name=False)
def workload_command(data: str | None, **options: Any) -> None:
    """Estimate the false alarms and rejected people of a system per day.

    bioeval workload scores.npz --people 2000 --impostors 0.01 --far 0.001
    bioeval workload --people 2000 --impostors 0.1 --alarms-per-day 3

    DATA is scores, evaluated at the operating point, or the results of `bioeval run --out`: the
    folder or its results.nc. Results at a FAR have no interval of the FAR itself. Results at a
    threshold have one if the results have intervals. With --alarms-per-day the FAR is found that a
    number of false alarms allows; DATA and --rates are then optional.
    """
    alarms, sources = options["alarms_per_day"], (data, options["rates"])
    if None not in sources or (sources == (None, None) and alarms is None):
        raise click.UsageError("give DATA or --rates, one of the two")
    points = [options["far"], options["threshold"], alarms]
    if sum(point is not None for point in points) > 1:
        raise click.UsageError(
            "--far, --threshold and --alarms-per-day each choose the operating point; give one"
        )
    if (far := options.pop("far")) is not None:
        options["threshold"] = f"far={far}"
    names = ("interval", "confidence", "replicates", "random_state")
    of_scores = {name: options.pop(name) for name in names}
    with StudyCommand(data or "", options) as run:
        from bioeval.studies.planning.workload import far_of_alarms, workload

        arguments = run.options
        task, rates = arguments.pop("task"), arguments.pop("rates", None)
        choice: dict[str, str] = {}
        saved = Path(data or "")
        if data is not None and (saved.suffix == ".nc" or (saved / "results.nc").exists()):
            rates = _of_results(saved, task)
        elif data is not None:
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


def _of_results(path: Path, task: str) -> xr.Dataset:
    """Return the results of a task from a file of ``bioeval run``, or from its folder."""
    from bioeval.results.saved import read_results

    tree = read_results(path, "results of bioeval run")
    there = [node.path.strip("/") for node in tree.leaves]
    if task not in there:
        usable = [name for name in there if name in TASKS]
        advice = f"it has {', '.join(there)}"
        if usable:
            advice = f"--task is one of {', '.join(usable)}"
        raise DataError(f"{path}: has no {task}; {advice}")
    return tree[task].to_dataset()


def _evaluated(
    scores: Any, task: str, threshold: Any, of_scores: dict[str, Any]
) -> tuple[xr.Dataset, dict[str, str]]:
    """Return the rates of scores at the operating point, and its rule."""
    from functools import partial

    from bioeval.attempts.threshold_rules import Rule
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

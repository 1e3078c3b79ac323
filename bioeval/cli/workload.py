"""``bioeval workload``: how many false alarms and rejected people a day."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.variables import INTERVALS
from bioeval.cli.arguments import THRESHOLD, WHOLE_NUMBERS, Typed
from bioeval.cli.documents import rows_over, scalars
from bioeval.cli.options import (
    Command,
    interval_by_default,
    interval_options,
    output_options,
    reading_options,
)
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.tallies.threshold_rules import Rule

TASKS = ("verification/single", "verification/multi", "open_set")


def _by_name(text: str) -> dict[str, float]:
    parts = [part.partition("=") for part in text.split(",")]
    return {name.strip(): float(value) for name, _, value in parts}


@click.command("workload", cls=Command)
@click.argument("data", required=False)
@click.option(
    "--people",
    "people_per_day",
    type=int,
    required=True,
    metavar="N",
    help="People per day.",
)
@click.option(
    "--impostors",
    "impostor_share",
    type=float,
    required=True,
    metavar="P",
    help="Proportion of people who are impostors, or who are not on the watch list.",
)
@click.option(
    "--far", "far_target", type=float, metavar="X", help="Operating point: FAR at most X."
)
@click.option("--threshold", type=THRESHOLD, help="Operating point: a threshold, or eer.")
@click.option(
    "--gallery-size",
    type=int,
    metavar="N",
    help="Watch list of N people: FPIR = 1 - (1 - FAR)^N, if comparisons are independent.",
)
@click.option(
    "--rates",
    type=Typed("rates", _by_name, "rates by name, as far=0.001,frr=0.02 or fpir=0.01,fnir=0.1"),
    help="Rates instead of DATA; each may have _low and _high.",
)
@click.option(
    "--days", type=WHOLE_NUMBERS, help="Periods in days over which events are counted.  [1,30,365]"
)
@click.option(
    "--task", type=click.Choice(TASKS), default=TASKS[0], help="Task of DATA that gives the rates."
)
@click.option(
    "--interval",
    type=click.Choice(INTERVALS),
    metavar="METHOD",
    help="Method of the confidence intervals: subject-bootstrap, subject-bootstrap-bca, "
    "subject-bootstrap-logit, analytic, wilson or clopper-pearson.  [subject-bootstrap, or "
    "wilson for pairs without subjects]",
)
@interval_options
@output_options("results.nc, summary.json and table.txt")
@reading_options
def command(data: str | None, **options: Any) -> None:
    """Estimate the false alarms and rejected people of a system per day.

    DATA is scores, evaluated at the operating point, or the results of `bioeval run --out`: the
    folder or its results.nc. Results at a FAR have no interval of the FAR itself. Results at a
    threshold have one if the results have intervals.
    """
    if (data is None) == (options["rates"] is None):
        raise click.UsageError("give DATA or --rates, one of the two")
    names = ("interval", "confidence", "replicates", "random_state")
    of_scores = {name: options.pop(name) for name in names}
    with StudyCommand(data or "", options) as run:
        from bioeval.evaluation.workload import blocks, workload

        given = run.options
        task, found, words = given.pop("task"), given.pop("rates", None), ""
        if data is not None and _is_results(data):
            found = _of_results(Path(data), task)
        elif data is not None:
            scores = run.read()
            run.stages("counting")
            of_scores["interval"] = interval_by_default(scores, of_scores["interval"])
            found, threshold, words = _evaluated(scores, task, given, of_scores)
            given |= {"threshold": threshold, "far_target": None}
        source = click.get_current_context().get_parameter_source("confidence")
        if source is ParameterSource.COMMANDLINE:
            given["confidence"] = of_scores["confidence"]
        ds = workload(found, **given)
        ds.attrs["operating_point"] += words
        run.finish(ds, blocks, _document(ds, data), lines=True)


def _is_results(data: str) -> bool:
    return Path(data).suffix == ".nc" or (Path(data) / "results.nc").exists()


def _of_results(path: Path, task: str) -> xr.Dataset:
    """Return the results of a task from a file of ``bioeval run``, or from its folder."""
    import xarray as xr

    from bioeval.base.errors import DataError
    from bioeval.scores.formats.files import existing_file, guarded

    file = path / "results.nc" if path.is_dir() else path
    existing_file(file, "results of bioeval run")
    with guarded(file, expected="results of bioeval run"):
        tree = xr.load_datatree(file, engine="h5netcdf")
    if task not in {node.path.strip("/") for node in tree.leaves}:
        there = [node.path.strip("/") for node in tree.leaves]
        named = [name for name in there if name in TASKS]
        raise DataError(
            f"{file}: has no {task}; "
            + (f"--task is one of {', '.join(named)}" if named else f"it has {', '.join(there)}")
        )
    return tree[task].to_dataset()


def _evaluated(
    scores: Any, task: str, options: dict[str, Any], of_scores: dict[str, Any]
) -> tuple[xr.Dataset, float, str]:
    """Return the rates of scores at the operating point, its threshold, and how it is chosen."""
    from functools import partial

    from bioeval.evaluation.identification import open_set
    from bioeval.evaluation.verification import verification
    from bioeval.results.threshold_lookup import threshold_of

    name, _, templates = task.partition("/")
    evaluate: Any = partial(verification, templates=templates, auc=False)
    if name == "open_set":
        evaluate = partial(open_set, max_rank=1)
    if (rule := _rule(options)) is None:
        raise click.UsageError("give --far X or --threshold T, the operating point in use")
    threshold, words = rule.values[0] if rule.values else 0.0, ""
    if rule.name != "fixed":
        targets = {"far_targets": rule.values} if rule.name == "far" else {}
        threshold = threshold_of(evaluate(scores, **targets), rule)
        words = f"the loosest with FAR <= {rule.values[0]:g}" if targets else rule.words
        words = f", {words} on these data (optimistic)"
    return evaluate(scores, thresholds=[threshold], **of_scores), threshold, words


def _rule(options: dict[str, Any]) -> Rule | None:
    """Return the rule of the operating point; None unless one is given."""
    from bioeval.tallies.threshold_rules import parse_rule

    threshold, target = options.get("threshold"), options.get("far_target")
    if (threshold is None) == (target is None):
        return None
    return parse_rule(("far", target) if threshold is None else threshold)


def _document(ds: xr.Dataset, file: str | None) -> dict[str, Any]:
    """Return the workload as plain values; rates are fractions."""
    events = []
    for i, event in enumerate(ds["event"].values.tolist()):
        one = ds.isel(event=i)
        events.append({"event": event, **scalars(one), "periods": rows_over(one, "days")})
    return {"file": file, **{str(k): v for k, v in ds.attrs.items()}, "events": events}

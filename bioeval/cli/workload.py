"""``bioeval workload``: how many false alarms and rejected people a day."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.variables import INTERVALS
from bioeval.cli.arguments import NUMBER, WHOLE_NUMBERS, Typed
from bioeval.cli.documents import scalars
from bioeval.cli.options import (
    Command,
    Output,
    interval_by_default,
    interval_options,
    output_options,
    read_scores,
    reading_options,
    take_reading,
)

if TYPE_CHECKING:
    import xarray as xr

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
    help="People who come a day.",
)
@click.option(
    "--impostors",
    "impostor_share",
    type=float,
    required=True,
    metavar="P",
    help="Proportion of them who are impostors, or not on the watch list.",
)
@click.option("--far", "far_target", type=float, metavar="X", help="Operate at FAR <= X.")
@click.option("--threshold", type=NUMBER, metavar="T", help="Operate at this threshold.")
@click.option(
    "--gallery-size",
    type=int,
    metavar="N",
    help="Watch list of N people: FPIR = 1 - (1 - FAR)^N, comparisons taken as independent.",
)
@click.option(
    "--rates",
    type=Typed("rates", _by_name, "rates by name, as far=0.001,frr=0.02 or fpir=0.01,fnir=0.1"),
    help="Rates in place of DATA; each may have _low and _high.",
)
@click.option("--days", type=WHOLE_NUMBERS, help="Periods in which events are counted.  [1,30,365]")
@click.option(
    "--task", type=click.Choice(TASKS), default=TASKS[0], help="Task of DATA whose rates are taken."
)
@click.option(
    "--interval",
    type=click.Choice(INTERVALS),
    help="Interval of the rates of scores.  [subject-bootstrap; wilson where the subjects of pairs "
    "are not known]",
)
@interval_options
@output_options("results.nc, summary.json and table.txt")
@reading_options
def command(data: str | None, **options: Any) -> None:
    """Say how many false alarms and rejected people a system has each day in use.

    DATA is scores, evaluated at the operating point; or results of bioeval run --out: the folder,
    or its results.nc. Rates of results at a FAR have no interval of the FAR itself; those at a
    threshold have, where the results have intervals.

    Examples
    --------
      bioeval workload scores.npz --people 2000 --impostors 0.01 --far 0.001
      bioeval workload scores.npz --people 10000 --impostors 0.9999 --gallery-size 500 --far 1e-5
      bioeval workload results --people 2000 --impostors 0.01 --far 0.001 --days 1,7
      bioeval workload --rates far=0.001,frr=0.02 --people 2000 --impostors 0.01
    """
    output = Output.take(options)
    reading = take_reading(data or "", options)
    of_scores = {
        k: options.pop(k) for k in ("interval", "confidence", "replicates", "random_state")
    }
    task, rates = options.pop("task"), options.pop("rates")
    if (data is None) == (rates is None):
        raise click.UsageError("give DATA or --rates, one of the two")
    if options["days"] is None:
        del options["days"]
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.workload import workload

        source = click.get_current_context().get_parameter_source("confidence")
        said = source is ParameterSource.COMMANDLINE
        found, target = rates, options["far_target"]
        if data is not None and _is_results(data):
            found = _of_results(Path(data), task)
        elif data is not None:
            scores = read_scores(data, reading, stages)
            stages("counting")
            of_scores["interval"] = interval_by_default(scores, of_scores["interval"])
            found, options["threshold"] = _evaluated(scores, task, options, of_scores)
            options["far_target"] = None
        if said:
            options["confidence"] = of_scores["confidence"]
        ds = workload(found, **options)
        if target is not None and options["far_target"] is None:
            chosen = f", the loosest with FAR <= {target:g} on these data (optimistic)"
            ds.attrs["operating_point"] += chosen
        document = _document(ds, data)
        text = _text(ds)
        files = output.save(document, ds, text, stages)
    output.show(text, document, files)


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
) -> tuple[xr.Dataset, float]:
    """Return the rates of scores at the operating point, with intervals, and its threshold."""
    from functools import partial

    from bioeval.base.errors import DataError
    from bioeval.evaluation.identification import open_set
    from bioeval.evaluation.verification import verification

    name, _, templates = task.partition("/")
    evaluate: Any = partial(verification, templates=templates, auc=False)
    if name == "open_set":
        evaluate = partial(open_set, max_rank=1)
    threshold, target = options["threshold"], options["far_target"]
    if (threshold is None) == (target is None):
        raise click.UsageError("give --far X or --threshold T, the operating point in use")
    if threshold is None:
        limit = evaluate(scores, far_targets=[target])["threshold_at_far"].values.ravel()[0]
        threshold = float(limit)
        if threshold != threshold:
            raise DataError(f"there is no threshold with FAR <= {target:g}: no attempt of a class")
    return evaluate(scores, thresholds=[threshold], **of_scores), threshold


def _document(ds: xr.Dataset, file: str | None) -> dict[str, Any]:
    """Return the workload as plain values; rates are fractions."""
    events = []
    for i, event in enumerate(ds["event"].values.tolist()):
        one = ds.isel(event=i)
        over = [name for name in one.data_vars if one[name].dims == ("days",)]
        periods = [
            {"days": int(days), **{str(x): one[x].values[j].item() for x in over}}
            for j, days in enumerate(one["days"].values)
        ]
        events.append({"event": event, **scalars(one), "periods": periods})
    return {"file": file, **{str(k): v for k, v in ds.attrs.items()}, "events": events}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _text(ds: xr.Dataset) -> str:
    """Return the table: a part for each event, a line for each period."""
    import textwrap

    attrs = ds.attrs
    on_list = attrs["task"] == "watch list"
    size = f" of {attrs['gallery_size']:,}" if "gallery_size" in attrs else ""
    what = (
        f"False alarms: people who are not on the watch list{size}, found there",
        f"Missed: people on the watch list{size}, not found",
    )
    if not on_list:
        what = "Impostors accepted", "Genuine people rejected"
    lines = [
        f"{attrs['people']:,} people a day, {100 * attrs['impostor_share']:g} % of them "
        + ("not on the list" if on_list else "impostors"),
        f"Operating point: {attrs['operating_point']}",
    ]
    level = f"{100 * attrs['confidence']:g} %"
    for i, title in enumerate(what):
        one = ds.isel(event=i)
        rate, low, high = (float(one[x]) for x in ("rate", "rate_low", "rate_high"))
        name = attrs["rates"].split()[i].upper()
        between = f" [{100 * low:.4g}, {100 * high:.4g}]" if low == low else " (no interval)"
        each = float(one["per_day"])
        every = f", one in {_number(1 / each)} days" if 0 < each < 1 else ""
        lines += [
            "",
            title,
            f"  {name} {100 * rate:.4g} %{between}",
            f"  {_number(float(one['people_per_day']))} people a day; "
            f"expected {_number(each)} a day{every}",
            f"  {'days':>6}{'expected':>12}{'rate exact':>20}{'rate uncertain':>20}"
            f"{'none at all':>14}",
        ]
        for j, days in enumerate(ds["days"].values.tolist()):
            at = {x: float(one[x][j]) for x in one.data_vars if one[x].dims == ("days",)}
            ends = [
                f"{at[f'{x}_low']:,.0f} to {at[f'{x}_high']:,.0f}"
                if at[f"{x}_low"] == at[f"{x}_low"]
                else "unknown"
                for x in ("count", "predicted")
            ]
            chance = at["none_at_all"]
            none = "< 0.01 %" if chance < 1e-4 else f"{100 * chance:.2f} %"
            lines.append(
                f"  {days:>6,}{_number(at['expected']):>12}{ends[0]:>20}{ends[1]:>20}{none:>14}"
            )
    notes = [
        f"Ranges hold {level} of the periods. Rate exact: chance alone, people independent of each "
        "other. Rate uncertain: the test's own uncertainty too, by the interval of the rate. Where "
        "the same people come every day, the same ones are rejected every day, and days vary more."
    ]
    if "model" in attrs:
        notes.append(f"{attrs['model']}.")
    lines += [""] + [line for note in notes for line in textwrap.wrap(note, 80)]
    return "\n".join(lines) + "\n"

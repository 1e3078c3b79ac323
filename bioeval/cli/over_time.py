"""``bioeval over-time``: rates over time, and the ageing of templates."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import counted
from bioeval.base.variables import INTERVALS
from bioeval.cli.arguments import BINS, THRESHOLD, WHOLE_NUMBERS
from bioeval.cli.cluster_options import cluster_options, placed
from bioeval.cli.documents import scalars
from bioeval.cli.options import (
    Command,
    Output,
    interval_options,
    output_options,
    read_scores,
    reading_options,
    require_method,
    take_reading,
    templates_option,
    terms_option,
    warning_lines,
    warnings_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import xarray as xr

_WIDTH = 80


@click.command("over-time", cls=Command)
@click.argument("data")
@click.option(
    "--bins",
    type=BINS,
    default="10",
    help="Bins of time: a number, year, month, day or hour, or edges (2020-01-01,2021-01-01).",
)
@click.option(
    "--threshold",
    type=THRESHOLD,
    default="eer",
    help="A threshold, or a rule that chooses it on all data: eer, far=0.001, hter ...",
)
@click.option("--ages", type=BINS, help="Also by the age of the template: bins, or edges in days.")
@click.option("--ranks", type=WHOLE_NUMBERS, default="1", help="Ranks of DIR and CMS.")
@templates_option
@click.option(
    "--interval",
    type=click.Choice(INTERVALS[:3]),
    help="Add confidence intervals of FRR, DIR and CMS.  [none]",
)
@interval_options
@cluster_options()
@output_options("results.nc, summary.json, table.txt and CSV files", "draw the plots")
@terms_option
@reading_options
def command(data: str, ages: Any, terms: str, **options: Any) -> None:
    """Evaluate DATA over the time at which probes were seen.

    Each probe is compared with the templates that are enrolled then: enrolled_at <= seen_at <
    withdrawn_at, metadata of gallery and probes, numbers or dates. A missing one means always.

    Examples
    --------
      bioeval over-time scores.npz --bins month --threshold far=0.001
      bioeval over-time scores.npz --meta seen_at=date --bins 2020-01-01,2021-01-01,2022-01-01
      bioeval over-time scores.npz --ages 8 --interval subject-bootstrap --out time --plots
      bioeval over-time scores.npz --bins month --workers 4
    """
    if ages is None:
        require_method(options["interval"])
    output = Output.take(options)
    reading = take_reading(data, options)
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.over_time import ageing, over_time
        from bioeval.views.terms import in_terms

        scores = read_scores(data, reading, stages)
        stages("counting")
        shared = ("threshold", "confidence", "replicates", "random_state")
        given = {name: options[name] for name in shared}
        with placed(options, stages) as place:
            place["progress"] = stages.counting
            found = {"over_time": over_time(scores, **options, **place)}
            if ages is not None:
                if place.get("checkpoint"):  # each folder belongs to one evaluation
                    place["checkpoint"] = os.path.join(place["checkpoint"], "ageing")
                found["ageing"] = ageing(scores, ages, **given, **place)
        shown = {name: in_terms(ds, terms) for name, ds in found.items()}
        text = "\n".join(_text(ds) for ds in shown.values())
        document = {"file": data, **{name: _document(ds) for name, ds in found.items()}}
        files = output.write(document, lambda at: _fill(found, text, at, shown, output), stages)
    output.show(text, document, files)


def _times(values: np.ndarray) -> list[Any]:
    """Return times as JSON and CSV have them: numbers, or dates as text."""
    if values.dtype.kind != "M":
        return values.tolist()
    import numpy as np

    whole = (values == values.astype("datetime64[D]")).all()
    return np.datetime_as_string(values, unit="D" if whole else "s").tolist()


def _columns(ds: xr.Dataset) -> dict[str, list[Any]]:
    """Return what there is of each bin, with a column for each rank."""
    over = "time" if "time" in ds.dims else "age"
    columns = {over: _times(ds[over].values), f"{over}_end": _times(ds[f"{over}_end"].values)}
    for name, values in ds.data_vars.items():
        if values.dims == (over,) and name not in columns:
            columns[str(name)] = values.values.tolist()
        elif values.dims == (over, "rank"):
            for rank in ds["rank"].values.tolist():
                columns[f"{name}_rank_{rank}"] = values.sel(rank=rank).values.tolist()
    return columns


def _document(ds: xr.Dataset) -> dict[str, Any]:
    """Return a result as plain values; rates are fractions."""
    columns = _columns(ds)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    found = {str(k): v for k, v in ds.attrs.items() if k != "warnings"}
    return {**found, **scalars(ds), "bins": rows, "warnings": warnings_of(ds)}


def _percent(rate: float) -> str:
    if rate != rate:
        return "n/a"
    return f"{100 * rate:.2g} %" if 0 < rate < 0.001 else f"{100 * rate:.2f} %"


def _text(ds: xr.Dataset) -> str:
    """Return a table with a line for each bin."""
    import textwrap

    from bioeval.results.words import excluded
    from bioeval.views.terms import Speaker, interval_method, words_of, written

    over, title = (
        ("age", "Ageing of templates") if "age" in ds.dims else ("time", "Rates over time")
    )
    say, of = (Speaker(words_of(ds), task) for task in ("verification", "identification"))
    begins = [x if isinstance(x, str) else f"{x:.6g}" for x in _columns(ds)[over]]
    counts = ["probes", "gallery_subjects"] if over == "time" else []
    names = {"gallery_subjects": "enrolled", "genuine_attempts": "genuine"}
    table = {"from": begins}
    for name in (*counts, "genuine_attempts"):
        digits = "" if ds[name].dtype.kind == "i" else ".1f"
        table[names.get(name, name)] = [
            f"{x:,{digits}}" if x == x else "n/a" for x in ds[name].values.tolist()
        ]
    if over == "age":
        for name in ("mean", "sd"):
            table[name] = [f"{x:.4g}" if x == x else "n/a" for x in ds[f"genuine_{name}"].values]
    table |= _rates(ds, "frr", say("FRR")) | (_rates(ds, "far", say("FAR")) if "far" in ds else {})
    for rank in ds["rank"].values.tolist() if "rank" in ds.dims else ():
        for name, more in (("dir", ""), ("cms", ", no T" if of("CMS") == of("DIR") else "")):
            table |= _rates(ds.sel(rank=rank), name, f"{of(name.upper())} {rank}{more}")
    shown = {"verification": ["frr", *(["far"] if "far" in ds else [])]}
    shown["identification"] = ["dir", "cms"] if "dir" in ds else []
    given = ds.attrs["chosen_on"] == "given"
    chosen = "" if given else f" ({ds.attrs['threshold_rule']}, chosen on all data)"
    lines = [f"{title}, at the threshold {float(ds['threshold']):.6g}{chosen}"]
    lines += textwrap.wrap(f"excluded: {excluded(ds.attrs)}", _WIDTH) if ds.attrs["exclude"] else []
    lines += [*textwrap.wrap(written(shown, words_of(ds)), _WIDTH), "", *_lines(table), ""]
    if over == "age":
        lines += _slopes(ds)
    else:
        lines.append("enrolled: subjects enrolled when a probe is seen, mean")
    if "interval_method" in ds.attrs:
        lines.append(f"intervals: {interval_method(ds.attrs)}")
    return "\n".join([*lines, *warning_lines(ds, _WIDTH, say)]) + "\n"


def _rates(ds: xr.Dataset, name: str, label: str) -> dict[str, list[str]]:
    """Return a column of a rate, and of its interval where it has one."""
    found = {label: [_percent(x) for x in ds[name].values.tolist()]}
    if f"{name}_low" in ds:
        ends = (100 * ds[f"{name}_{side}"].values for side in ("low", "high"))
        texts = [
            f"[{low:.1f}, {high:.1f}]" if low == low else "n/a"
            for low, high in zip(*ends, strict=True)
        ]
        found[f"{label}, {100 * float(ds.attrs['confidence']):g} %"] = texts
    return found


def _lines(table: dict[str, list[str]]) -> list[str]:
    """Return the lines of a table, the first column flush left."""
    columns = [[name, *cells] for name, cells in table.items()]
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in zip(*columns, strict=True)
    ]


def _slopes(ds: xr.Dataset) -> list[str]:
    """Return the slopes of the genuine score over age, with their intervals."""
    unit = "day" if ds.attrs["age_unit"] == "days" else "unit of age"
    people = counted(int(ds["subjects"]), "subjects")
    lines = [f"change of the genuine score with a {unit}, {people}:"]
    for name, words in (("slope", "over all pairs"), ("slope_within", "within subjects")):
        value, low, high = (float(ds[f"{name}{end}"]) for end in ("", "_low", "_high"))
        lines.append(f"  {words:<16}{value:.4g} [{low:.4g}, {high:.4g}]")
    return lines


def _fill(
    found: dict[str, xr.Dataset],
    text: str,
    part: Path,
    shown: dict[str, xr.Dataset],
    output: Output,
) -> None:
    """Write the results, the table, the bins and the plots into a folder."""
    import xarray as xr

    from bioeval.cli.outputs import write_csv, write_results

    write_results(part, xr.DataTree.from_dict(found), text)
    for name, ds in found.items():
        write_csv(part / f"{name.replace('_', '-')}.csv", _columns(ds))
    if output.plots:
        from bioeval.views.plots.save import save_all

        for ds in shown.values():
            save_all(ds, (), part, tell=output.remarks.append)

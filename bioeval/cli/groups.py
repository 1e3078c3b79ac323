"""``bioeval groups``: verification by demographic group."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.options import (
    Command,
    Output,
    far_option,
    interval_options,
    name_option,
    naming,
    output_options,
    read_scores,
    reading_options,
    require_method,
    system_name,
    take_reading,
    templates_option,
    terms_option,
)

if TYPE_CHECKING:
    import xarray as xr

# Methods that resample subjects, as in bioeval.base.variables.
_METHODS = ("subject-bootstrap", "subject-bootstrap-bca", "subject-bootstrap-logit")


@click.command("groups", cls=Command)
@click.argument("data")
@click.option(
    "--by", "group", required=True, metavar="COLUMN", help="Metadata column of the groups."
)
@click.option(
    "--threshold",
    default="eer",
    metavar="T|RULE",
    help="A number, or how to choose one on all groups together: eer, far=0.001, hter, cost=P,M,A.",
)
@far_option
@templates_option
@click.option("--fusion", default="min", help="How a subject's templates are fused.")
@click.option("--alpha", type=float, default=0.5, help="Weight of FAR in FDR and GARBE, 0 to 1.")
@click.option(
    "--interval", type=click.Choice(_METHODS), help="Add confidence intervals by subject.  [none]"
)
@interval_options
@name_option
@output_options("results.nc, summary.json, table.txt, groups.csv and pairs.csv", "draw the groups")
@terms_option
@reading_options
def command(data: str, name: str | None, terms: str, **options: Any) -> None:
    """Evaluate verification of DATA by demographic group.

    FRR of each group, FAR of each pair of groups, the threshold that each group would need for
    itself, and how unequal they are: FDR, GARBE, and ratios of the largest rate. Groups with fewer
    than 30 subjects or expected errors are flagged.

    Examples
    --------
      bioeval groups scores.npz --by sex
      bioeval groups scores.npz --by country --threshold far=0.001 --interval subject-bootstrap
      bioeval groups faces.npz --embeddings dlib128 --labels subject --meta sex=sex --by sex
      bioeval groups scores.npz --by sex --threshold 0.42 --out groups --plots
    """
    require_method(options["interval"])
    output = Output.take(options)
    reading = take_reading(data, options)
    if options["far_targets"] is None:
        del options["far_targets"]
    options["threshold"] = number_or_rule(options["threshold"])
    from bioeval.base.errors import renamed
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        stages("starting")
        from bioeval.evaluation.groups import by_group
        from bioeval.views.tables.groups import GroupsTable
        from bioeval.views.terms import in_terms

        scores = read_scores(data, reading, stages)
        scores.name = system_name(data, name, reading)
        stages("counting")
        ds = by_group(scores, options.pop("group"), **options, progress=stages.counting)
        reword = partial(renamed, naming=naming())
        document, shown = _document(ds, data, reword), in_terms(ds, terms)
        table = GroupsTable(shown, reword)
        files = output.write(
            document, lambda folder: _write(ds, shown, table, folder, output.plots), stages
        )
    output.show(table, document, files)


def number_or_rule(text: str) -> float | str:
    """Return a threshold as a number, or the text of a rule."""
    try:
        return float(text)
    except ValueError:
        return text


def attributes(ds: xr.Dataset, file: str, reword: Any) -> dict[str, Any]:
    """Return the file, the attributes and the scalars of a result, warnings as a list."""
    from bioeval.base.version import __version__

    attrs = {str(k): v for k, v in ds.attrs.items() if k != "bioeval_version"}
    attrs["warnings"] = [reword(text) for text in str(attrs["warnings"]).splitlines()]
    scalars = {str(k): v.item() for k, v in ds.data_vars.items() if not v.ndim}
    return {"bioeval": __version__, "file": file, **attrs, **scalars}


def rows_over(ds: xr.Dataset, *dims: str) -> list[dict[str, Any]]:
    """Return the variables over exactly these dimensions as rows of plain values."""
    import itertools

    names = [str(k) for k, v in ds.data_vars.items() if v.dims == dims]
    labels = [ds[dim].values.tolist() for dim in dims]
    values = {name: ds[name].values.reshape(-1).tolist() for name in names}
    return [
        {**dict(zip(dims, place, strict=True)), **{name: values[name][i] for name in names}}
        for i, place in enumerate(itertools.product(*labels))
    ]


def write_rows(target: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows that have the same keys as CSV."""
    from bioeval.cli.outputs import write_csv

    write_csv(target, {key: [row[key] for row in rows] for key in rows[0]} if rows else {})


def _document(ds: xr.Dataset, file: str, reword: Any) -> dict[str, Any]:
    return {
        **attributes(ds, file, reword),
        "groups": rows_over(ds, "group"),
        "pairs": rows_over(ds, "group", "claimed_group"),
        "own_thresholds": rows_over(ds, "group", "far_target"),
    }


def _write(ds: xr.Dataset, shown: xr.Dataset, table: Any, folder: Path, plots: bool) -> None:
    """Write the results into a folder; the table and the plot as they are shown."""
    from bioeval.cli.outputs import write_results

    write_results(folder, ds, table)
    groups, own = rows_over(ds, "group"), rows_over(ds, "group", "far_target")
    for row in groups:
        for one in (x for x in own if x["group"] == row["group"]):
            row |= {
                f"{key}_{one['far_target']:g}": value
                for key, value in one.items()
                if key not in ("group", "far_target")
            }
    write_rows(folder / "groups.csv", groups)
    write_rows(folder / "pairs.csv", rows_over(ds, "group", "claimed_group"))
    if plots:
        from bioeval.views.plots.save import save_all

        save_all(shown, (), folder)

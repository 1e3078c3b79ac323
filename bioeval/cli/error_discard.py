"""``bioeval error-discard``: whether measures of quality foretell errors."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import NUMBERS, THRESHOLD
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    Command,
    Output,
    name_option,
    output_options,
    read_system,
    reading_options,
    reword,
    take_reading,
    terms_option,
)


@click.command("error-discard", cls=Command)
@click.argument("data")
@click.option(
    "--quality",
    multiple=True,
    required=True,
    metavar="COLUMN",
    help="Metadata column of a quality, larger is better; repeatable, to compare measures.",
)
@click.option(
    "--threshold",
    type=THRESHOLD,
    required=True,
    metavar="T|RULE",
    help="A number, or how to choose one on all attempts: eer, far=0.001, hter, cost=P,M,A.",
)
@click.option(
    "--fractions",
    type=NUMBERS,
    metavar="F,F",
    help="Proportions of the samples to discard, increasing.  [0,0.01 ... 0.5]",
)
@name_option
@output_options("results.nc, summary.json, table.txt and curves.csv", "draw the curves")
@terms_option
@reading_options
def command(
    data: str, quality: tuple[str, ...], name: str | None, terms: str, **options: Any
) -> None:
    """Evaluate FRR and FAR of DATA when samples of low quality are discarded.

    A useful measure of quality makes FRR fall. The quality of an attempt is the lower of its two
    samples'; pAUC is the area under FRR up to a discarded fifth, 1 where nothing changes.

    Examples
    --------
      bioeval error-discard scores.npz --quality sharpness --threshold far=0.001
      bioeval error-discard scores.npz --quality sharpness --quality size --threshold 0.4 --json
      bioeval error-discard scores.npz --quality sharpness --threshold eer --out discard --plots
    """
    output = Output.take(options)
    reading = take_reading(data, options)
    if options["fractions"] is None:
        del options["fractions"]
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        import xarray as xr

        from bioeval.evaluation.error_discard import error_discard
        from bioeval.views.tables.curve_points import ErrorDiscardTable
        from bioeval.views.terms import in_terms

        scores = read_system(data, name, reading, stages)
        stages("counting")
        found = {
            column: error_discard(scores, column, **options, progress=stages.counting)
            for column in dict.fromkeys(quality)
        }
        shown = {column: in_terms(ds, terms) for column, ds in found.items()}
        table = ErrorDiscardTable(shown, reword)
        curves = {column: rows_over(ds, "fraction") for column, ds in found.items()}
        qualities = {
            column: {**attributes(ds, data), "curve": curves[column]}
            for column, ds in found.items()
        }
        rows = [{"quality": column, **row} for column, curve in curves.items() for row in curve]
        # Names of columns may hold characters that paths in a tree may not.
        nodes = {column.replace("/", "_") or "_": ds for column, ds in found.items()}
        document = {"file": data, "qualities": qualities}
        files = output.save(
            document, xr.DataTree.from_dict(nodes), table, stages,
            csv={"curves.csv": as_columns(rows)}, drawn=shown,
        )  # fmt: skip
    output.show(table, document, files)

"""``bioeval epc``: expected performance, of thresholds that are chosen on other data."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import NUMBERS
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    Command,
    Output,
    fusion_option,
    name_option,
    output_options,
    read_scores,
    reading_options,
    reword,
    system_name,
    take_reading,
    templates_option,
    terms_option,
)


@click.command("epc", cls=Command)
@click.argument("dev")
@click.argument("test")
@click.option(
    "--alphas", type=NUMBERS, metavar="A,A", help="Weights of FAR, increasing.  [0,0.01 ... 1]"
)
@templates_option
@fusion_option
@name_option
@output_options("results.nc, summary.json, table.txt and curve.csv", "draw the curve")
@terms_option
@reading_options
def command(dev: str, test: str, name: str | None, terms: str, **options: Any) -> None:
    """Evaluate the errors on TEST at thresholds that are chosen on DEV.

    For each weight alpha the threshold minimises alpha FAR + (1 - alpha) FRR on DEV. Both are files
    as `bioeval run` reads them; options of reading apply to both.

    Examples
    --------
      bioeval epc dev.npz test.npz
      bioeval epc dev.npz test.npz --alphas 0.1,0.5,0.9 --json
      bioeval epc dev.npz test.npz --out epc --plots
    """
    output = Output.take(options)
    reading = take_reading(dev, options)
    if options["alphas"] is None:
        del options["alphas"]
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.expected_performance import epc
        from bioeval.views.tables.curve_points import EpcTable
        from bioeval.views.terms import in_terms

        both = [read_scores(file, reading, stages) for file in (dev, test)]
        both[1].name = system_name(test, name, reading)
        stages("counting")
        ds = epc(*both, **options, progress=stages.counting)
        shown = in_terms(ds, terms)
        curve = rows_over(ds, "alpha")
        document = {**attributes(ds, test), "dev": dev, "curve": curve}
        table = EpcTable(shown, reword)
        csv = {"curve.csv": as_columns(curve)}
        files = output.save(document, ds, table, stages, csv=csv, drawn=shown)
    output.show(table, document, files)

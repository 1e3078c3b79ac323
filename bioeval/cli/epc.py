"""``bioeval epc``: expected performance, of thresholds that are chosen on other data."""

from __future__ import annotations

from typing import Any

import click

from bioeval.base.errors import counted
from bioeval.cli.arguments import NUMBERS
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    Command,
    fusion_option,
    names_option,
    output_options,
    reading_options,
    system_names,
    templates_option,
    terms_option,
)
from bioeval.cli.study_command import StudyCommand


@click.command("epc", cls=Command)
@click.argument("files", nargs=-1, metavar="")
@click.option(
    "--dev", multiple=True, metavar="FILE", help="Development set, on which thresholds are chosen."
)
@click.option(
    "--test",
    multiple=True,
    metavar="FILE",
    help="Test set of the same system, on which errors are counted; --dev and --test are given "
    "once per system.",
)
@click.option(
    "--alphas", type=NUMBERS, metavar="A,A", help="Weights of FAR, increasing.  [0,0.01 ... 1]"
)
@templates_option
@fusion_option
@names_option
@output_options("results.nc, summary.json, table.txt and curve.csv", "draw the curve")
@terms_option
@reading_options
def command(
    files: tuple[str, ...],
    dev: tuple[str, ...],
    test: tuple[str, ...],
    name: tuple[str, ...],
    **options: Any,
) -> None:
    """Evaluate errors on a test set at thresholds chosen on a development set.

    For each weight alpha, the threshold minimises alpha FAR + (1 - alpha) FRR on the development
    set. Each system has its own two sets, since a threshold holds for the scores of one system
    only. All files are read as by `bioeval run`; options for reading apply to all of them.
    """
    if files:
        raise click.UsageError(
            f"{files[0]!r} is given without --dev or --test; give --dev FILE --test FILE once for "
            "each system"
        )
    if not dev or len(dev) != len(test):
        raise click.UsageError(
            f"--dev is given {counted(len(dev), 'times')}, --test {counted(len(test), 'times')}; "
            "expected both for each system"
        )
    with StudyCommand(dev[0], options) as run:
        names = system_names(test, name, run.reading)
        if len(set(names)) < len(names):
            raise click.UsageError("two systems have one name; name each with --name")
        from bioeval.cli.result_checks import require_values
        from bioeval.evaluation.expected_performance import blocks, epc

        found = {}
        for called, *both in zip(names, dev, test, strict=True):
            sets = [run.read(file) for file in both]
            sets[1].name = called
            found[called] = run.count(epc, *sets, **run.options)
            require_values([found[called]["hter"]], sets)
        curves = [rows_over(ds, "alpha") for ds in found.values()]
        documents = [
            {**attributes(ds, file), "dev": other, "curve": curve}
            for ds, file, other, curve in zip(found.values(), test, dev, curves, strict=True)
        ]
        if len(found) == 1:
            csv = {"curve.csv": as_columns(curves[0])}
            run.finish(found[names[0]], blocks, documents[0], csv)
            return
        rows = [{"system": x, **row} for x, y in zip(names, curves, strict=True) for row in y]
        document = {"systems": dict(zip(names, documents, strict=True))}
        run.finish(found, blocks, document, {"curve.csv": as_columns(rows)}, overlaid=True)

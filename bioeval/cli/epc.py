"""``bioeval epc``: expected performance, of thresholds that are chosen on other data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import counted
from bioeval.cli.arguments import NUMBERS
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    Command,
    Output,
    fusion_option,
    names_option,
    output_options,
    read_scores,
    reading_options,
    reword,
    system_names,
    take_reading,
    templates_option,
    terms_option,
)

if TYPE_CHECKING:
    import xarray as xr


@click.command("epc", cls=Command)
@click.argument("files", nargs=-1, metavar="")
@click.option(
    "--dev", multiple=True, metavar="FILE", help="Development set: thresholds are chosen on it."
)
@click.option(
    "--test",
    multiple=True,
    metavar="FILE",
    help="Test set of the same system, on which errors are counted; --dev and --test once for "
    "each system.",
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
    terms: str,
    **options: Any,
) -> None:
    """Evaluate the errors of a system on its test set, at thresholds chosen on its development set.

    For each weight alpha the threshold minimises alpha FAR + (1 - alpha) FRR on the development
    set. A threshold holds for the scores of one system, so that each system has its own two sets.
    All are files as `bioeval run` reads them; options of reading apply to all.

    Examples
    --------
      bioeval epc --dev dev.npz --test test.npz
      bioeval epc --dev dev.npz --test test.npz --alphas 0.1,0.5,0.9 --json
      bioeval epc --dev a-dev.npz --test a-test.npz --dev b-dev.npz --test b-test.npz
      bioeval epc --dev dev.npz --test test.npz --out epc --plots
    """
    if files:
        raise click.UsageError(
            f"{files[0]!r} does not say which set it is; give the development and the test set of "
            "one system as --dev FILE --test FILE, and for another system its own two"
        )
    if not dev or len(dev) != len(test):
        raise click.UsageError(
            f"--dev is given {counted(len(dev), 'times')}, --test {counted(len(test), 'times')}; "
            "expected both for each system"
        )
    output = Output.take(options)
    reading = take_reading(dev[0], options)
    names = system_names(test, name, reading)
    if len(set(names)) < len(names):
        raise click.UsageError("two systems have one name; name each with --name")
    if options["alphas"] is None:
        del options["alphas"]
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        import xarray as xr

        from bioeval.evaluation.expected_performance import epc
        from bioeval.views.tables.curve_points import EpcTable
        from bioeval.views.terms import in_terms

        found = {}
        for called, *both in zip(names, dev, test, strict=True):
            sets = [read_scores(file, reading, stages) for file in both]
            sets[1].name = called
            stages("counting")
            found[called] = epc(*sets, **options, progress=stages.counting)
        shown = {called: in_terms(ds, terms) for called, ds in found.items()}
        table = EpcTable(shown, reword)
        documents = [
            {**attributes(ds, file), "dev": other, "curve": rows_over(ds, "alpha")}
            for ds, file, other in zip(found.values(), test, dev, strict=True)
        ]
        several = len(found) > 1
        document = documents[0]
        results: Any = found[names[0]]
        if several:
            document = {"systems": dict(zip(names, documents, strict=True))}
            results = xr.DataTree.from_dict(found)
        drawn = shown if several else shown[names[0]]
        csv = {"curve.csv": as_columns(_rows(found))}
        written = output.save(
            document, results, table, stages, csv=csv, drawn=drawn, overlaid=several
        )
    output.show(table, document, written)


def _rows(found: dict[str, xr.Dataset]) -> list[dict[str, Any]]:
    """Return the points of all curves; of several systems with their names."""
    several = len(found) > 1
    return [
        {**({"system": called} if several else {}), **row}
        for called, ds in found.items()
        for row in rows_over(ds, "alpha")
    ]

"""Options of commands that choose thresholds on a development set and count errors on another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from bioeval.base.errors import counted
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    fusion_option,
    names_option,
    option_group,
    output_options,
    reading_options,
    system_names,
    templates_option,
    terms_option,
)
from bioeval.cli.study_command import StudyCommand

sets_arguments = option_group(
    click.argument("files", nargs=-1, metavar=""),
    click.option(
        "--dev", multiple=True, metavar="FILE", help="Development set: thresholds are chosen on it."
    ),
    click.option(
        "--test",
        multiple=True,
        metavar="FILE",
        help="Test set of the same system, to count errors; --dev and --test once for each system.",
    ),
)

sets_options = option_group(
    templates_option,
    fusion_option,
    names_option,
    output_options(
        "results.nc, summary.json, table.txt and curve.csv", "draw the curve", report=True
    ),
    terms_option,
    reading_options,
)


def evaluate_sets(
    study: Callable[..., Any], blocks: Callable[..., Any], over: str, defined: str,
    given: Mapping[str, Any],
) -> None:  # fmt: skip
    """Evaluate each system on its two sets, over one dimension of the result."""
    options = dict(given)
    files, dev, test, name = (options.pop(x) for x in ("files", "dev", "test", "name"))
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

        found = {}
        for called, *both in zip(names, dev, test, strict=True):
            sets = [run.read(file) for file in both]
            sets[1].name = called
            found[called] = run.count(study, *sets, **run.options)
            require_values([found[called][defined]], sets)
        curves = [rows_over(ds, over) for ds in found.values()]
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

"""``bioeval gom``: systems of open-world re-identification side by side."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import INTERVAL, shared_options
from bioeval.cli.study_command import StudyCommand


@click.command("gom", cls=Command)
@click.argument("systems", nargs=-1, required=True, metavar="A [B ...]")
@option(
    "--protocol CARD",
    "Card with [gom] or [reid], which defines the gallery of each query.",
    str,
    "gom-market1501",
    name="convention",
)
@option(
    "--as-given",
    "Distances stay as they are, and are not scaled to 0 ... 1 over all finite ones.",
    bool,
)
@option("--budget N", "Budget B of mFR: the number of false retrievals at which FR reaches 1.", int)
@option(
    "--variant",
    "Definitions of the paper's text, or of the program of its figures.",
    ["paper", "reference"],
)
@option(
    "--thresholds N|T,T", "Thresholds; the card's, or 0, 0.01 ... 1, by default.", Value.THRESHOLDS
)
@option("--max-rank N", "Number of ranks of CMC and DIR.", int)
@INTERVAL
@shared_options(interval=True, plots=True, names=True)
def gom_command(systems: tuple[str, ...], **options: Any) -> None:
    """Evaluate systems A, B ... by GOM: retrieval and verification at a threshold.

    bioeval gom osnet.npz agw.npz

    Each system is a file as `bioeval run` reads it, with queries against a gallery; options apply
    to all files. The table is that of the paper (arXiv:2011.11506): CMC(1), mAP, largest mVP,
    largest mReP and its threshold, and the areas under mReP and mFR.
    """
    if options.pop("as_given"):
        options["scaled"] = False
    with StudyCommand(systems[0], options) as run:
        names = run.names(systems)
        from bioeval.tasks.reid.reid import gom

        results = {}
        for file, called in zip(systems, names, strict=True):
            scores = run.read(file, called)
            results[called] = result = run.count(gom, scores, **run.options)
            run.require_defined([result["mean_ap"]], [scores], run.options["convention"], [result])
        from bioeval.cli.commands.run_outputs import curve_rows

        rows = []
        for called, ds in results.items():
            rows += [{"system": called, **row} for row in curve_rows(ds, "threshold")]
        run.finish(
            results,
            csv={"curves.csv": rows},
            more={"inputs": dict(zip(names, systems, strict=True))},
            slash="-",
            overlaid=True,
            files=systems,
        )

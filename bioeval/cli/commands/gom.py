"""``bioeval gom``: systems of open-world re-identification side by side."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.calls import options_of
from bioeval.cli.command import Command
from bioeval.cli.options import shared_options
from bioeval.cli.study_command import StudyCommand


@click.command("gom", cls=Command)
@click.argument("systems", nargs=-1, required=True, metavar="A [B ...]")
@options_of("gom", "convention", convention={"default": "gom-market1501"})
@options_of("gom", "normalize", "budget", "variant", "thresholds", "max_rank", "interval")
@shared_options(interval=True, plots=True, names=True)
def command(systems: tuple[str, ...], **options: Any) -> None:
    """Evaluate systems A, B ... by GOM: retrieval and verification at a threshold.

    bioeval gom osnet.npz agw.npz

    Each system is a file as `bioeval run` reads it, with queries against a gallery; options apply
    to all files. The table is that of the paper (arXiv:2011.11506): CMC(1), mAP, largest mVP,
    largest mReP and its threshold, and the areas under mReP and mFR.
    """
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

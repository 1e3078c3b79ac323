"""``bioeval gom``: systems of open-world re-identification side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, option
from bioeval.cli.options import shared_options
from bioeval.cli.study_command import StudyCommand


@click.command("gom", cls=Command)
@click.argument("systems", nargs=-1, required=True, metavar="A [B ...]")
@options_of("gom", "convention", convention={"default": "gom-market1501"})
@option(
    "--open-queries FILE",
    "Queries of subjects that are not in the gallery, such as another data set's; once per "
    "system, in order.",
    multiple=True,
)
@options_of("gom", "normalize", "budget", "variant", "thresholds", "max_rank", "interval")
@shared_options(interval=True, plots=True, names=True)
def command(systems: tuple[str, ...], open_queries: tuple[str, ...], **options: Any) -> None:
    """Evaluate systems A, B ... by GOM: retrieval and verification at a threshold.

    Each system is a file as `bioeval run` reads it, with queries against a gallery; options apply
    to all files. The table is that of the paper (arXiv:2011.11506): CMC(1), mAP, largest mVP,
    largest mReP and its threshold, and the areas under mReP and mFR.
    """
    if open_queries and len(open_queries) != len(systems):
        raise click.UsageError(
            f"--open-queries is given {len(open_queries)} times for {len(systems)} systems; "
            "expected a file for each"
        )
    with StudyCommand(systems[0], options) as run:
        names = run.names(systems)
        _require_distinct(names)
        from bioeval.tasks.reid.reid import gom

        results = {}
        query_files = open_queries or (None,) * len(systems)
        for file, called, other in zip(systems, names, query_files, strict=True):
            gom_options = run.options
            if other is not None:
                gom_options = {
                    **gom_options,
                    "open_queries": run.read(other, Path(other).stem, mates=False),
                }
            scores = run.read(file, called, mates=False)
            results[called] = run.count(gom, scores, **gom_options)
            result, card = results[called], run.options["convention"]
            run.require_defined([result["mean_ap"]], [scores], card, [result])
        rows = []
        for called, ds in results.items():
            rows += [{"system": called, **row} for row in run.curves(ds, "threshold")]
        inputs = {"inputs": dict(zip(names, systems, strict=True))}
        run.finish(
            results,
            None,
            {"curves.csv": rows},
            more=inputs,
            overlaid=True,
            files=[*systems, *open_queries],
        )


def _require_distinct(names: tuple[str, ...]) -> None:
    """Raise unless the names of the systems of one result are distinct."""
    for called in names:
        if names.count(called) > 1:
            raise click.UsageError(
                f"{names.count(called)} systems are called {called!r}; name each with --name"
            )
        if not called or "/" in called:
            raise click.BadParameter(
                f"{called!r}; expected a word without '/'", param_hint="'--name'"
            )

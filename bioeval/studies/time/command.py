"""``bioeval over-time``: rates over time, and the ageing of templates."""

from __future__ import annotations

import os
from typing import Any

import click

from bioeval.cli import Command, StudyCommand, Value, option, output_options, shared_options


def _bins(text: str) -> int | str | list[str]:
    if text.isdecimal():
        return int(text)
    if "," in text:
        return text.split(",")
    return text


BINS = Value("n|unit|t,t", _bins, "a number of bins, year, month, day or hour, or edges")


@click.command("over-time", cls=Command)
@click.argument("data")
@option(
    "--bins",
    "Bins of time: their number, year, month, day or hour, or edges (2020-01-01,2021-01-01).",
    BINS,
    "10",
)
@option(
    "--threshold",
    "Threshold: a number, or a rule applied to all data: eer, far=0.001, hter ...",
    Value.THRESHOLD,
    "eer",
)
@shared_options(threshold_of=True)
@option(
    "--ages",
    "Also evaluate by age of the template, seen_at of the probe less enrolled_at of the gallery: "
    "number of bins, or edges in days.",
    BINS,
)
@option("--ranks", "Ranks of DIR and CMS.", Value.WHOLE_NUMBERS, "1")
@shared_options(templates=True)
@option(
    "--reid CARD",
    "Also evaluate mAP, mReP and mFR under a card with [gom] or [reid], such as gom-market1501.",
    Value.CARD,
)
@option("--budget B", "Budget B of mFR.  [the card's]", click.IntRange(1))
@output_options("results.nc, summary.json, table.txt and CSV files", "draw the plots")
@shared_options(
    interval="Add confidence intervals of FRR, DIR and CMS.  [none]",
    reading=True,
    workers=True,
    checkpoint=True,
)
def command(data: str, ages: Any, **options: Any) -> None:
    """Evaluate DATA over the time at which probes were seen.

    Each probe is compared with the templates that are enrolled at its time: enrolled_at <= seen_at
    < withdrawn_at, which are metadata of the gallery and the probes, numbers or dates. A missing
    time sets no limit.
    """
    if ages is not None and options["interval"] is None:
        del options["interval"]  # the confidence is that of the ages
    if ages is not None and options["templates"] == "multi":
        raise click.UsageError(
            "--ages is of single templates, each of which has an age of its own; leave out "
            "--templates multi, or --ages"
        )
    with StudyCommand(data, options) as run:
        from bioeval.studies.time.over_time import ageing, over_time

        scores = run.read()
        datasets = {"over_time": run.count(over_time, scores, **run.options)}
        if ages is not None:
            if checkpoint := run.place().get("checkpoint"):  # each folder is of one evaluation
                run.place()["checkpoint"] = os.path.join(checkpoint, "ageing")
            shared = ("threshold", "confidence", "replicates", "random_state")
            shared_values = {name: run.options[name] for name in shared}
            datasets["ageing"] = run.count(ageing, scores, ages, **shared_values)
        run.finish(datasets, apart=True)

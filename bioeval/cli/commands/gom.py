"""``bioeval gom``: systems of open-world re-identification side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import NUMBERS
from bioeval.cli.command import option
from bioeval.cli.shared import INTERVAL, shared
from bioeval.cli.undefined import require_defined

if TYPE_CHECKING:
    from bioeval.cli.running import Run


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
@option("--thresholds T,T", "Thresholds; the card's, or 0, 0.01 ... 1, by default.", NUMBERS)
@option("--max-rank N", "Number of ranks of CMC and DIR.", int)
@INTERVAL
@shared(interval=True, plots=True, names=True, fails=("mean_ap < 50%",))
def gom_command(
    run: Run,
    systems: tuple[str, ...],
    as_given: bool,
    interval: str | None = None,
    **options: Any,
) -> None:
    """Evaluate systems A, B ... by GOM: retrieval and verification at a threshold.

    bioeval gom osnet.npz agw.npz

    Each system is a file as `bioeval run` reads it, with queries against a gallery; options apply
    to all files. The table is that of the paper (arXiv:2011.11506): CMC(1), mAP, largest mVP,
    largest mReP and its threshold, and the areas under mReP and mFR.
    """
    from bioeval.tasks.reid.gom import gom

    results = {}
    limits = run.interval(interval)
    for file, name in zip(systems, run.names(systems), strict=True):
        scores = run.read(file, name=name)
        dataset = gom(scores, scaled=not as_given, interval=limits, **options)
        require_defined([dataset["mean_ap"]], [scores], options["convention"], [dataset])
        results[name] = dataset
    run.finish(results)

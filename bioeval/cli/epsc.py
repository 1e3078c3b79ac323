"""``bioeval epsc``: expected performance and spoofability, of thresholds that weigh attacks."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import NUMBERS
from bioeval.cli.development_sets import evaluate_sets, sets_arguments, sets_options
from bioeval.cli.options import Command


@click.command("epsc", cls=Command)
@sets_arguments
@click.option(
    "--omegas",
    type=NUMBERS,
    metavar="W,W",
    help="Weights of attacks among the negatives, increasing.  [0,0.01 ... 1]",
)
@click.option(
    "--beta",
    type=float,
    default=0.5,
    help="Weight of the negatives' rate far_w, 0 to 1; that of FRR is the rest.",
)
@click.option(
    "--criterion",
    type=click.Choice(["eer", "wer"]),
    default="eer",
    help="Smallest difference of the weighted rates (eer), or smallest sum (wer).",
)
@sets_options
def command(**options: Any) -> None:
    """Evaluate errors and accepted attacks on a test set at thresholds of a development set.

    For each weight omega, far_w = (1 - omega) FAR + omega IAPAR is set against FRR on the
    development set, and the threshold holds for the test set. Both have attack presentations, as
    for `bioeval vulnerability`; each system has its own two sets.
    """
    from bioeval.evaluation.expected_performance import epsc, epsc_blocks

    evaluate_sets(epsc, epsc_blocks, "omega", "hter_w", options)

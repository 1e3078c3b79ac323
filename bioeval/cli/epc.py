"""``bioeval epc``: expected performance, of thresholds that are chosen on other data."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import NUMBERS
from bioeval.cli.development_sets import evaluate_sets, sets_arguments, sets_options
from bioeval.cli.options import Command


@click.command("epc", cls=Command)
@sets_arguments
@click.option(
    "--alphas", type=NUMBERS, metavar="A,A", help="Weights of FAR, increasing.  [0,0.01 ... 1]"
)
@sets_options
def command(**options: Any) -> None:
    """Evaluate errors on a test set at thresholds chosen on a development set.

    For each weight alpha, the threshold minimises alpha FAR + (1 - alpha) FRR on the development
    set. Each system has its own two sets, since a threshold holds for the scores of one system
    only. All files are read as by `bioeval run`; options for reading apply to all of them.
    """
    from bioeval.evaluation.expected_performance import epc, epc_blocks

    evaluate_sets(epc, epc_blocks, "alpha", "hter", options)

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
    from bioeval.evaluation.expected_performance import blocks, epc

    evaluate_sets(epc, blocks, "alpha", "hter", options)

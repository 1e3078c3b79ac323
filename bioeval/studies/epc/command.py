"""``bioeval epc`` and ``bioeval epsc``: errors on one set at thresholds of another."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import click

from bioeval.base import counted
from bioeval.cli import (
    Command,
    StudyCommand,
    Value,
    option,
    option_group,
    output_options,
    shared_options,
)

sets_arguments = option_group(
    click.argument("files", nargs=-1, metavar=""),
    option(
        "--dev FILE [TRIALS]",
        "Development set: thresholds are chosen on it.",
        Value.FILES,
        multiple=True,
    ),
    option(
        "--test FILE [TRIALS]",
        "Test set of the same system, to count errors; --dev and --test once for each system.",
        Value.FILES,
        multiple=True,
    ),
)

sets_options = option_group(
    output_options(
        "results.nc, summary.json, table.txt and curve.csv", "draw the curve", report=True
    ),
    shared_options(templates=True, fusion=True, names=True, reading=True),
)


def evaluate_sets(study: Callable[..., Any], defined: str, arguments: Mapping[str, Any]) -> None:
    """Evaluate each system on its two sets; one of the values `defined` must be defined."""
    options = dict(arguments)
    files = options.pop("files")
    dev = options.pop("dev")
    test = options.pop("test")
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
    with StudyCommand(dev[0][0], options) as run:
        names = run.names(tuple(files[0] for files in test))
        if len(set(names)) < len(names):
            raise click.UsageError("two systems have one name; name each with --name")
        datasets, sets = {}, []
        for called, dev_files, test_files in zip(names, dev, test, strict=True):
            development = run.read_set(dev_files, called)
            tested = run.read_set(test_files, called)
            ds = run.count(study, development, tested, **run.options)
            run.require_defined([ds[defined]], [development, tested])
            datasets[called] = ds
            sets.append({"system": called, "dev": dev_files[0], "test": test_files[0]})
        results = datasets if len(datasets) > 1 else ds
        run.finish(
            results,
            more={"file": test[0][0], "sets": sets},
            overlaid=True,
            files=[*itertools.chain.from_iterable(itertools.chain(*zip(dev, test, strict=True)))],
        )


@click.command("epc", cls=Command)
@sets_arguments
@option("--alphas A,A", "Weights of FAR, increasing.  [0,0.01 ... 1]", Value.NUMBERS)
@sets_options
def epc_command(**options: Any) -> None:
    """Evaluate errors on a test set at thresholds chosen on a development set.

    For each weight alpha, the threshold minimises alpha FAR + (1 - alpha) FRR on the development
    set. Each system has its own two sets, since a threshold holds for the scores of one system
    only. All files are read as by `bioeval run`; options for reading apply to all of them, and a
    file of scores may be followed by the list of its trials.
    """
    from bioeval.studies.epc.epc import epc

    evaluate_sets(epc, "hter", options)


@click.command("epsc", cls=Command)
@sets_arguments
@option(
    "--omegas W,W",
    "Weights of attacks among the negatives, increasing.  [0,0.01 ... 1]",
    Value.NUMBERS,
)
@option(
    "--beta", "Weight of the negatives' rate far_w, 0 to 1; that of FRR is the rest.", float, 0.5
)
@option(
    "--criterion",
    "Smallest difference of the weighted rates (eer), or smallest sum (wer).",
    ["eer", "wer"],
    "eer",
)
@sets_options
def epsc_command(**options: Any) -> None:
    """Evaluate errors and accepted attacks on a test set at thresholds of a development set.

    For each weight omega, far_w = (1 - omega) FAR + omega IAPAR is set against FRR on the
    development set, and the threshold holds for the test set. Both have attack presentations, as
    for `bioeval vulnerability`; each system has its own two sets.
    """
    from bioeval.studies.epc.epc import epsc

    evaluate_sets(epsc, "hter_w", options)

"""``bioeval compare``: systems over the same data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.command import Command, option
from bioeval.cli.conditions import FAIL_IF
from bioeval.cli.options import rates, shared_options, take_interval
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr


@click.command("compare", cls=Command)
@click.argument("data", nargs=-1, required=True)
@option(
    "--measure M",
    "Measures to compare, such as eer, frr_at_far=0.001, auc, cms=5, mean_ap.",
    name="measures",
    multiple=True,
)
@option("--protocol CARD", "Card of re-identification by which to compare.")
@rates("--far X", "FAR at which to report FRR.", "far_targets")
@rates("--frr X", "FRR at which to report FAR.", "frr_targets")
@option(
    "--adjust",
    "Adjust the tests for the number of measures, by Holm's method.",
    ["none", "holm"],
    "none",
)
@FAIL_IF
@shared_options(use=True, interval=True, plots=True, names=True)
def compare_command(data: tuple[str, ...], **options: Any) -> None:
    """Compare systems on the same templates, with intervals and tests of their differences.

    bioeval compare old.npz new.npz
    bioeval compare old.npz new.npz others.npz --measure eer --out results --plots
    bioeval compare old.mat new.mat --protocol market1501

    DATA are two files or more as `bioeval run` reads them, with the same templates in the same
    order, or with names of the templates. Differences are paired by person. Each line of the
    differences says whether two systems differ; of three and more, systems are ranked by each
    measure, and those that share a letter do not differ significantly. Options apply to all
    systems. A system that was chosen because it is the best on these data,
    such as the best of several epochs, looks better than it is: choose it on other people. Where
    the last of DATA is a list of trials without scores, it has the trials of all systems.
    """
    from bioeval.evaluation import evaluate
    from bioeval.scores.formats.comparisons import lists_trials
    from bioeval.studies.compare.compare import compare

    if len(data) > 1 and lists_trials(data[-1]):
        *files, options["second"] = data
        data = tuple(files)
    if len(data) == 1:
        raise click.UsageError(f"one system is given, {data[0]}; expected two or more")
    options["measures"] = list(options["measures"]) or None
    take_interval(options, "people")
    with StudyCommand(data[0], options) as run:
        systems = {}
        for name, file in zip(run.names(data), data, strict=True):
            systems[name] = partial(run.read, file, name, reading=run.reading_of(file))
        comparison = run.count(compare, systems, **run.options)
        protocol = run.options.get("protocol") or "auto"
        read = (reader() for reader in systems.values())
        run.require_defined([comparison["value"]], read, protocol)
        run.name = f"{len(systems)} systems"
        by_name = dict(zip(systems, data, strict=True))
        drawn = None
        if run.output.formats:
            each = {x: run.count(evaluate, read(), protocol) for x, read in systems.items()}
            drawn = partial(_draw, run, comparison, each)
        run.finish(comparison, more={"files": by_name}, files=list(data), drawn=drawn)


def _draw(
    run: StudyCommand, comparison: xr.Dataset, systems: Mapping[str, xr.DataTree], folder: Path
) -> None:
    """Draw the ranks, and the curves of all systems in one figure each."""
    from bioeval.plot.files import save_plots

    formats, tell = run.output.formats, run.output.remarks.append
    curves = {name: run.in_terms(tree) for name, tree in systems.items()}
    save_plots(run.in_terms(comparison), (), folder, formats, tell=tell)
    save_plots(curves, (), folder, formats, overlaid=True, tell=tell)

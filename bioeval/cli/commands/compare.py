"""``bioeval compare``: systems over the same data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.command import option
from bioeval.cli.shared import rates, shared
from bioeval.cli.undefined import require_defined

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from bioeval.cli.running import Run


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
@shared(use=True, interval=True, plots=True, names=True, fails=("eer > 5%", "worse"))
def compare_command(run: Run, data: tuple[str, ...], **options: Any) -> None:
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
    from bioeval.cli.running import Extras
    from bioeval.evaluation import evaluate
    from bioeval.scores.formats.comparisons import lists_trials
    from bioeval.studies.compare.compare import compare

    files, trials = list(data), None
    if len(files) > 1 and lists_trials(files[-1]):
        trials = files.pop()
    if len(files) == 1:
        raise click.UsageError(f"one system is given, {files[0]}; expected two or more")
    by_name = dict(zip(run.names(files), files, strict=True))
    systems = {name: partial(run.read, file, trials, name) for name, file in by_name.items()}
    limits = run.interval("people")
    comparison = compare(systems, interval=limits, **options)
    protocol = options.get("protocol", "auto")
    values = [comparison[x] for x in comparison if f"{x}_difference" in comparison]
    require_defined(values, (read() for read in systems.values()), protocol)
    draw = None
    if run.formats:
        evaluated = {name: evaluate(read(), protocol) for name, read in systems.items()}
        draw = partial(_draw, run, comparison, evaluated)
    if "measures" in options:
        comparison = comparison.assign_attrs(measures=" ".join(options["measures"]))
    run.finish(comparison, Extras(draw=draw, name=f"{len(systems)} systems"))


def _draw(
    run: Run, comparison: xr.Dataset, systems: Mapping[str, xr.DataTree], folder: Path
) -> None:
    run.draw(comparison, folder)
    run.draw(systems, folder)

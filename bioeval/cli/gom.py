"""``bioeval gom``: systems of open-world re-identification side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.variables import INTERVALS
from bioeval.cli.arguments import NUMBERS, ThresholdsOption, card
from bioeval.cli.cluster_options import cluster_options
from bioeval.cli.documents import as_columns, rows_of
from bioeval.cli.options import (
    Command,
    interval_options,
    names_option,
    output_options,
    ranks_option,
    reading_options,
    require_method,
    system_names,
    warnings_of,
)
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr


@click.command("gom", cls=Command)
@click.argument("systems", nargs=-1, required=True, metavar="A [B ...]")
@output_options(
    "results.nc, summary.json, table.txt and curves.csv",
    "draw all systems in one figure each of mReP and mFR, CMC, and DIR at FAR",
    ": rates are fractions",
)
@names_option
@reading_options
@click.option(
    "--protocol",
    "convention",
    default="gom-market1501",
    show_default=True,
    metavar="CARD",
    help="Name or path of a card with [gom] or [reid], for what a query sees.",
)
@click.option(
    "--open-queries",
    multiple=True,
    metavar="FILE",
    help="Queries of another data set against the same gallery, none of whom is in it; once for "
    "each system, in their order.",
)
@click.option(
    "--normalize",
    type=NUMBERS,
    metavar="LOW,HIGH",
    help="The distances that become 0 and 1; top-K lists need them.  [smallest and largest]",
)
@click.option("--budget", type=click.IntRange(1), metavar="B", help="B of mFR.  [the card's]")
@click.option(
    "--variant",
    type=click.Choice(["paper", "reference"]),
    help="The text of the paper, or the program behind its figures.  [the card's]",
)
@click.option(
    "--thresholds", type=ThresholdsOption(), help="Thresholds, or a file.  [0, 0.01 ... 1]"
)
@ranks_option
@click.option(
    "--interval",
    type=click.Choice(INTERVALS),
    help="Add confidence intervals by the identity of the queries; subject-bootstrap is "
    "recommended.  [none]",
)
@interval_options
@cluster_options(checkpoint=False)
def command(
    systems: tuple[str, ...], name: tuple[str, ...], open_queries: tuple[str, ...], **options: Any
) -> None:
    """Evaluate systems A, B ... by GOM: retrieval and verification within a threshold.

    Each is a file as `bioeval run` reads it, of queries against a gallery; options apply to all.
    The table is that of the paper (arXiv:2011.11506): CMC(1), mAP, largest mVP and mReP, the
    threshold of the latter, and the areas under mReP and mFR.

    Examples
    --------
      bioeval gom osnet.npz agw.npz
      bioeval gom old.npz new.npz --name before --name after --interval subject-bootstrap
      bioeval gom resnet.mat osnet.mat agw.mat --out gom --plots
      bioeval gom osnet.npz --variant reference --budget 100 --json
      bioeval gom osnet.npz agw.npz --workers 4
      bioeval gom osnet.npz --open-queries osnet-of-others.npz
      bioeval gom lists.npz --normalize 0,2
    """
    require_method(options["interval"])
    if open_queries and len(open_queries) != len(systems):
        raise click.UsageError(
            f"--open-queries is given {len(open_queries)} times for {len(systems)} systems; "
            "expected a file for each"
        )
    with StudyCommand(systems[0], options) as run:
        names = system_names(systems, name, run.reading)
        _require_distinct(names)
        run.options["convention"] = card_of = card(run.options["convention"])
        from bioeval.cli.result_checks import require_values
        from bioeval.cli.run_outputs import curve_columns
        from bioeval.evaluation.reid import gom, gom_blocks

        found = {}
        others = open_queries or (None,) * len(systems)
        for file, called, other in zip(systems, names, others, strict=True):
            own = run.options
            if other is not None:
                own = {**own, "open_queries": run.read(other, Path(other).stem, mates=False)}
            scores = run.read(file, called, mates=False)
            found[called] = run.count(gom, scores, **own)
            known = "mean_ap" if "mean_ap" in found[called] else "mean_ap_at_least"
            require_values([found[called][known]], [scores], card_of)
        rows = [
            {"system": called, **row}
            for called, ds in found.items()
            for row in rows_of(curve_columns(ds, "threshold"))
        ]
        csv = {"curves.csv": as_columns(rows)}
        run.finish(found, gom_blocks, _document(found, systems), csv, overlaid=True)


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


def _document(found: dict[str, xr.Dataset], files: tuple[str, ...]) -> dict[str, Any]:
    """Return all results but the curves."""
    from bioeval.base.version import __version__
    from bioeval.cli.run_outputs import task_document

    rows = {}
    for (called, dataset), file in zip(found.items(), files, strict=True):
        rows[called] = {
            "file": file,
            "fingerprint": dataset.attrs["fingerprint"],
            **task_document(dataset),
            "warnings": warnings_of(dataset),
        }
    return {"bioeval": __version__, "systems": rows}

"""``bioeval plan``: what a large evaluation will take."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import card
from bioeval.cli.documents import scalars
from bioeval.cli.options import (
    Command,
    Output,
    output_options,
    read_scores,
    reading_options,
    take_reading,
    warning_lines,
    warnings_of,
)

if TYPE_CHECKING:
    import xarray as xr

_WIDTH = 96


@click.command("plan", cls=Command)
@click.argument("data", required=False)
@click.option("--templates", type=float, metavar="N", help="Gallery templates, as 1e8.")
@click.option("--dim", type=int, metavar="D", help="Features of an embedding.  [a matrix]")
@click.option("--subjects", type=float, metavar="N", help="People.  [a fifth of the templates]")
@click.option("--probes", type=float, metavar="N", help="Probes.  [all against all]")
@click.option(
    "--dtype", type=click.Choice(["float16", "float32", "float64"]), default="float32",
    help="Of embeddings or scores.",
)  # fmt: skip
@click.option("--protocol", default="auto", metavar="CARD", help="Name of a protocol, or a card.")
@click.option("--no-auc", is_flag=True, help="Without AUC, d' and the like.")
@click.option("--workers", type=int, default=1, metavar="N", help="Processor cores.")
@click.option("--price", type=float, default=0.0, metavar="P", help="Of a core for an hour.")
@click.option("--max-hours", type=float, metavar="H", help="More is too much: what fits?")
@click.option("--max-cost", type=float, metavar="P", help="More is too much: what fits?")
@click.option("--frr", type=float, default=0.02, metavar="X", help="The FRR that is expected.")
@click.option(
    "--icc", type=float, default=0.2, metavar="R",
    help="Correlation of two genuine errors of a person.",
)  # fmt: skip
@click.option("--far", type=float, default=1e-4, metavar="X", help="The FAR that is expected.")
@click.option(
    "--far-icc", type=float, default=0.001, metavar="R",
    help="Correlation of two false accepts that share a person.",
)  # fmt: skip
@click.option(
    "--width", "frr_width", type=float, default=0.01, metavar="W",
    help="How wide the interval of the FRR may be.",
)  # fmt: skip
@click.option("--recalibrate", is_flag=True, help="Measure this machine anew.")
@output_options("results.nc, summary.json and table.txt")
@reading_options
def command(data: str | None, protocol: str, **options: Any) -> None:
    """Say what an evaluation will take: comparisons, memory, hours, cost, and certainty.

    DATA is what will be evaluated; without it, --templates and --dim describe embeddings, or
    --templates alone a matrix. A short run is measured on this machine, and remembered for 30 days.

    Examples
    --------
      bioeval plan --templates 1e6 --dim 512 --workers 64 --price 0.04
      bioeval plan --templates 1e8 --subjects 2e7 --dim 512 --workers 64 --max-hours 24
      bioeval plan --templates 2e5 --probes 1e4 --dim 128 --protocol market1501
      bioeval plan scores.zarr --workers 8
    """
    options["auc"] = not options.pop("no_auc")
    output = Output.take(options)
    metric = options["metric"]
    reading = take_reading(data or "", options)
    protocol = card(protocol)
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.planned_run import plan_run

        scores = None if data is None else read_scores(data, reading, stages)
        ds = plan_run(scores, protocol=protocol, metric=metric or "cosine", **options)
        document, text = _document(ds, data), _text(ds)
        files = output.save(document, ds, text, stages)
    output.show(text, document, files)


def _document(ds: xr.Dataset, file: str | None) -> dict[str, Any]:
    """Return the plan as plain values."""
    attrs = {str(k): v for k, v in ds.attrs.items() if k != "warnings"}
    over = [str(k) for k, v in ds.data_vars.items() if v.ndim]
    runs = [
        {"run": str(run), **{name: ds[name].values[i].item() for name in over}}
        for i, run in enumerate(ds["run"].values)
    ]
    return {"file": file, **attrs, **scalars(ds), "runs": runs, "warnings": warnings_of(ds)}


def _text(ds: xr.Dataset) -> str:
    """Return the table: a line for each run, then memory and what was measured."""
    from bioeval.base.memory import in_words

    attrs, priced = ds.attrs, ds.attrs["price"] > 0
    lines = [
        f"{'':<20}{'comparisons':>12}{'subjects':>12}{'core hours':>12}{'hours':>10}"
        + (f"{'cost':>11}" if priced else "")
        + f"{'FRR +-':>9} {'FAR +-':>9}"
    ]
    for i, run in enumerate(ds["run"].values.tolist()):
        row = {str(k): float(v.values[i]) for k, v in ds.data_vars.items() if v.ndim}
        lines.append(
            f"{run:<20}{row['comparisons']:>12.3g}{row['planned_subjects']:>12,.0f}"
            f"{_short(row['core_hours']):>12}{_short(row['hours']):>10}"
            + (f"{row['cost']:>11,.2f}" if priced else "")
            + f"{50 * row['frr_interval']:>9.2g} {row['far_interval'] / 2 / attrs['far']:>9.1%}"
        )
    one = {str(k): float(v) for k, v in ds.data_vars.items() if not v.ndim}
    sizes = [("embeddings", "embedding_bytes"), ("their matrix, not made", "matrix_bytes")]
    if not attrs["dim"]:
        sizes = [("matrix", "matrix_bytes")]
    sizes.append(("memory of a worker", "working_bytes"))
    lines += ["", *(f"{what:<24}{in_words(one[name]):>14}" for what, name in sizes)]
    note = (
        f"Half widths of 95 % intervals by subject: of an FRR of {attrs['frr']:.3g} in percentage "
        f"points (correlation {attrs['icc']:g}), of an FAR of {attrs['far']:.3g} relative to it "
        f"({attrs['far_icc']:g}). {one['subjects_for_width']:,.0f} subjects make the FRR's "
        f"{100 * attrs['frr_width']:g} points wide (bioeval sample-size). Fewer probes: of a part "
        "of the people, against all. Time is for processor cores that are never idle."
    )
    cell = one["calibrated_cell"] * 1e9
    measured = (
        f"Measured {attrs['calibrated']}: {one['calibrated_start']:.2f} s, "
        f"{one['calibrated_template'] * 1e6:.2f} us a template, {cell:.2f} ns a comparison"
        + (f", {attrs['read_seconds'] * 1e9:.2f} ns to read it" if attrs["read_seconds"] else "")
    )
    lines += ["", *textwrap.wrap(note, _WIDTH), *textwrap.wrap(measured, _WIDTH)]
    lines += warning_lines(ds, _WIDTH, lambda text: text)
    return "\n".join(lines) + "\n"


def _short(hours: float) -> str:
    """Return hours with three digits, and small ones in seconds."""
    if hours * 3600 < 100:
        return f"{hours * 3600:.3g} s"
    return f"{hours:,.3g}" if hours < 1000 else f"{hours:,.0f}"

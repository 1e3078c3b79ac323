"""``bioeval plan``: what a large evaluation will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import card
from bioeval.cli.documents import described, scalars
from bioeval.cli.options import Command, output_options, reading_options, warning_lines
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr


@click.command("plan", cls=Command)
@click.argument("data", required=False)
@click.option(
    "--templates", type=float, metavar="N", help="Number of gallery templates, such as 1e8."
)
@click.option(
    "--dim", type=int, metavar="D", help="Dimensions of the embeddings.  [a matrix of scores]"
)
@click.option(
    "--subjects", type=float, metavar="N", help="Number of subjects.  [a fifth of the templates]"
)
@click.option("--probes", type=float, metavar="N", help="Number of probes.  [all against all]")
@click.option(
    "--dtype", type=click.Choice(["float16", "float32", "float64"]), default="float32",
    help="Data type of the embeddings or scores.",
)  # fmt: skip
@click.option(
    "--protocol",
    default="auto",
    metavar="CARD",
    help="Name of a protocol, or path of a card (.toml).",
)
@click.option("--no-auc", is_flag=True, help="Plan without AUC, d' and similar measures.")
@click.option("--workers", type=int, default=1, metavar="N", help="Processor cores.")
@output_options("results.nc, summary.json and table.txt")
@reading_options
def command(data: str | None, protocol: str, workers: int, **options: Any) -> None:
    """Estimate the comparisons, memory and processor time of an evaluation.

    DATA is what will be evaluated. Without it, --templates and --dim describe embeddings, and
    --templates alone describes a matrix. A short evaluation is timed on this machine.
    """
    options["auc"] = not options.pop("no_auc")
    with StudyCommand(data or "", options) as run:
        from bioeval.evaluation.planned_run import plan_run

        about: dict[str, Any] = {
            "protocol": card(protocol),
            "metric": run.reading["metric"] or "cosine",
        }
        scores = None if data is None else run.read()
        ds = plan_run(scores, **about, workers=workers, **run.options)
        run.save({"file": data, **described(ds, **scalars(ds))}, ds, _text(ds))


def _text(ds: xr.Dataset) -> str:
    """Return the table: a line for each quantity."""
    from bioeval.base.errors import counted, wrapped
    from bioeval.base.memory import in_words

    one = {str(k): float(v) for k, v in ds.data_vars.items()}
    sizes = [("matrix", "matrix_bytes")]
    if ds.attrs["dim"]:
        sizes = [("embeddings", "embedding_bytes"), ("their matrix, not stored", "matrix_bytes")]
    rows = [
        ("comparisons", f"{one['comparisons']:.4g}"),
        ("genuine comparisons", f"{one['genuine_comparisons']:.4g}"),
        *((what, in_words(one[name])) for what, name in sizes),
        ("memory of a worker", in_words(one["working_bytes"])),
        ("processor time", _time(one["core_hours"])),
        (f"time on {counted(ds.attrs['workers'], 'workers')}", _time(one["hours"])),
    ]
    note = (
        "The time is scaled from a short evaluation on this machine, on processor cores that are "
        "never idle. How many people a test needs: bioeval sample-size."
    )
    lines = [f"{what:<26}{value:>16}" for what, value in rows]
    lines += ["", *wrapped(note)]
    lines += warning_lines(ds, lambda text: text)
    return "\n".join(lines) + "\n"


def _time(hours: float) -> str:
    """Return hours with three digits, and less than an hour in seconds."""
    return f"{hours:,.3g} hours" if hours >= 1 else f"{hours * 3600:,.3g} s"

"""``bioeval gallery-size``: rates against the size of the gallery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    pass


@click.command("gallery-size", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option("--sizes", "Numbers of subjects in the gallery.  [a dozen, up to all]", Value.WHOLE_NUMBERS)
@shared_options(
    thresholds="Number of thresholds, the thresholds, or a file with one threshold per "
    "line.  [100]",
    max_rank=True,
)
@option(
    "--ties",
    "Rank of a mate among subjects with exactly the same score.",
    ["pessimistic", "optimistic", "stable", "expected"],
    "pessimistic",
)
@option(
    "--impostors",
    "Probes of non-mated searches.",
    ["auto", "unenrolled", "leave-subject-out", "both"],
    "auto",
)
@output_options("results.nc, summary.json, table.txt and curves", "draw the plots")
@shared_options(reading=True)
def gallery_size_command(data: str, **options: Any) -> None:
    """Evaluate identification of DATA by number of enrolled subjects.

    Rates are exact means over all galleries of as many subjects.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.galleries.gallery_size import gallery_size

        scores = run.read()
        dataset = run.count(gallery_size, scores, **run.options)
        run.require_defined([dataset["cms"]], [scores])
        sizes = dataset["gallery_size"].values.tolist()
        csv: dict[str, dict[str, list[Any]]] = {}
        for name, over in {"cms": "rank", "far": "threshold", "frr": "threshold"}.items():
            values = dataset[name].transpose("gallery_size", over).values.tolist()
            columns = {f"gallery_size_{n}": x for n, x in zip(sizes, values, strict=True)}
            csv[f"{name}.csv"] = {over: dataset[over].values.tolist(), **columns}
        run.finish(dataset, csv=csv)

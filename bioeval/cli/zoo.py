"""``bioeval zoo``: who fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import THRESHOLD
from bioeval.cli.cluster_options import cluster_options, executor_from_options
from bioeval.cli.documents import attributes
from bioeval.cli.options import (
    Command,
    Output,
    fusion_option,
    name_option,
    output_options,
    read_system,
    reading_options,
    reword,
    seed_option,
    take_reading,
    templates_option,
    terms_option,
)

if TYPE_CHECKING:
    import xarray as xr


@click.command("zoo", cls=Command)
@click.argument("data")
@click.option(
    "--threshold",
    type=THRESHOLD,
    default="eer",
    metavar="T|RULE",
    help="Where errors are counted: a number, or eer, far=X, hter, accuracy, cost=P,M,A, chosen on "
    "these data.",
)
@templates_option
@fusion_option
@click.option(
    "--quantile",
    type=float,
    default=0.25,
    metavar="Q",
    help="Proportion of subjects that are best, and worst, of which animals are made.",
)
@click.option(
    "--permutations",
    type=click.IntRange(1),
    metavar="N",
    default=2000,
    help="Permutations of the tests.",
)
@seed_option("Seed of the halves and the permutations.")
@cluster_options()
@name_option
@output_options(
    "results.nc, summary.json, table.txt and subjects.csv", "draw the plots", report=True
)
@terms_option
@reading_options
def command(data: str, name: str | None, terms: str, **options: Any) -> None:
    """Evaluate DATA by subject: whose errors they are, and whether goats, wolves and lambs exist.

    For each subject: mean scores, false rejects, and false accepts by its probes (a wolf has many)
    and by claims of it (a lamb has many), with what the rates would be without it. Tests compare
    two halves of each subject's templates.

    Examples
    --------
      bioeval zoo scores.npz
      bioeval zoo scores.npz --threshold far=0.001 --out zoo --plots
      bioeval zoo faces.npz --embeddings dlib128 --labels subject --threshold 0.6 --json
      bioeval zoo scores.npz --workers 2
    """
    output = Output.take(options)
    files_read = [data, options.get("second")]
    reading = take_reading(data, options)
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.zoo import zoo
        from bioeval.views.tables.zoo import ZooTable, columns_of
        from bioeval.views.terms import in_terms

        scores = read_system(data, name, reading, stages)
        stages("counting")
        with executor_from_options(options, stages) as place:
            found = zoo(scores, **options, **place, progress=stages.counting)
        shown = in_terms(found, terms)
        table = ZooTable(shown, reword)
        document = _document(found, data)
        csv = {"subjects.csv": columns_of(found)}
        files = output.save(document, found, table, stages, csv=csv, drawn=shown)
        output.write_page({scores.name: shown}, files_read, stages)
    output.show(table, document, files)


def _document(zoo: xr.Dataset, file: str) -> dict[str, Any]:
    """Return the whole result as plain values; rates are fractions."""
    from bioeval.views.tables.zoo import records

    animals = {
        animal: {
            str(k).removeprefix("animal_"): v.sel(animal=animal).item()
            for k, v in zoo.data_vars.items()
            if v.dims == ("animal",)
        }
        for animal in zoo["animal"].values.tolist()
    }
    subjects = list(records(zoo))
    return {**attributes(zoo, file), "animals": animals, "subjects": subjects}

"""``bioeval zoo``: who fails."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import THRESHOLD
from bioeval.cli.cluster_options import cluster_options
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    Command,
    fusion_option,
    name_option,
    output_options,
    reading_options,
    seed_option,
    templates_option,
    terms_option,
)
from bioeval.cli.study_command import StudyCommand


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
def command(data: str, **options: Any) -> None:
    """Evaluate DATA by subject: whose errors they are, and whether goats, wolves and lambs exist.

    For each subject: mean scores, false rejects, and false accepts by its probes (a wolf has many)
    and by claims of it (a lamb has many), with what the rates would be without it. Tests compare
    two halves of each subject's templates. Embeddings usually have wolves and lambs, and so do the
    data of `bioeval simulate`: subjects near the common centre are near to all others.

    Examples
    --------
      bioeval zoo scores.npz
      bioeval zoo scores.npz --threshold far=0.001 --out zoo --plots
      bioeval zoo faces.npz --embeddings dlib128 --labels subject --threshold 0.6 --json
      bioeval zoo scores.npz --workers 2
    """
    with StudyCommand(data, options) as run:
        from bioeval.evaluation.zoo import blocks, zoo

        found = run.count(zoo, run.read(), **run.options)
        subjects = rows_over(found, "subject")
        animals = {
            row.pop("animal"): {name.removeprefix("animal_"): x for name, x in row.items()}
            for row in rows_over(found, "animal")
        }
        document = {**attributes(found, data), "animals": animals, "subjects": subjects}
        run.finish(found, blocks, document, {"subjects.csv": as_columns(subjects)})

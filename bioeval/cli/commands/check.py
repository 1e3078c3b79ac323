"""``bioeval check``: look at data before they are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.conditions import FAIL_IF
from bioeval.cli.images import ImageOptions
from bioeval.cli.options import rates, shared_options
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    from pathlib import Path

    from bioeval.scores.matrix import Scores


@click.command("check", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option("--protocol CARD", "Card of the later evaluation.", str, "auto")
@rates("--far X", "FAR for which to check the number of subjects.", "far_targets")
@option(
    "--threshold T|RULE",
    "Threshold at which people are confused: a number, or a rule applied to these data.",
    Value.THRESHOLD,
    "far=0.001",
)
@option("--worst N", "Number of pairs of people, and of doubtful labels, that are listed.", int, 10)
@FAIL_IF
@shared_options(use=True, name=False)
@ImageOptions.add
def check_command(
    data: str,
    protocol: str,
    far_targets: list[float] | None,
    threshold: Any,
    worst: int,
    **options: Any,
) -> None:
    """Check DATA before an evaluation; each finding says what to do.

    bioeval check scores.npz --far 0.001
    bioeval check faces.npz --columns embeddings=dlib128,labels=subject

    Checked are labels and copies, wrong labels, failed comparisons, the kind of scores and the
    number of subjects. Below the findings are the templates whose label is likely wrong, with the
    person that each looks like, and the pairs of people that are confused with each other most, by
    name; a page has their pictures.

    The exit code is 1 if an error is found that makes results misleading, or by --fail-if, as
    "warnings > 0" or "duplicates > 0"; 0 otherwise.
    """
    images = ImageOptions(options)
    options["threshold"] = threshold
    folder = images.folder(data)
    column = images.column
    with StudyCommand(data, options) as run:
        from bioeval.studies.check.check_data import check_data

        claims = run.read()
        scores = run.as_read[run.name]
        images.require(scores)
        if run.output.page is not None and not column:
            column = _column_of_images(scores, folder)
        run.stages("looking")
        checked = check_data(
            scores,
            protocol,
            far_targets=far_targets,
            threshold=run.options["threshold"],
            worst=worst,
            claims=None if claims is scores else claims,
        )
        run.finish(
            checked,
            more={"misleads": checked.misleads},
            images=column,
            image_folder=folder,
        )
        if checked.misleads:
            run.fail("an error in the data makes results misleading")


def _column_of_images(scores: Scores, folder: Path) -> str:
    """Return the column whose names are image files below a folder; empty for none."""
    from bioeval.scores.labels import NAME_COLUMNS
    from bioeval.views.images import Images

    if scores.layout == "pairs":
        return ""
    for column in NAME_COLUMNS:
        files, sides = Images(column, folder), (scores.probe_meta, scores.gallery_meta)
        named = all(column in meta and len(meta[column]) for meta in sides)
        if named and all(files.find(str(meta[column][0])) is not None for meta in sides):
            return column
    return ""

"""``bioeval check``: look at data before they are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bioeval.cli.arguments import THRESHOLD
from bioeval.cli.command import option
from bioeval.cli.images import IMAGES, image_folder, require_images
from bioeval.cli.shared import DATA, rates, shared

if TYPE_CHECKING:
    from pathlib import Path

    from bioeval.cli.running import Run
    from bioeval.scores.matrix import Scores


@DATA
@option("--protocol CARD", "Card of the later evaluation.", str, "auto")
@rates("--far X", "FAR for which to check the number of subjects.", "far_targets")
@option(
    "--threshold T|RULE",
    "Threshold at which people are confused: a number, or a rule applied to these data.",
    THRESHOLD,
    "far=0.001",
)
@option("--worst N", "Number of pairs of people, and of doubtful labels, that are listed.", int, 10)
@shared(use=True, name=False, fails=("warnings > 0",))
@IMAGES
def check_command(
    run: Run,
    data: str,
    second: str | None = None,
    images: str = "",
    images_root: str | None = None,
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
    "warnings > 0" or "count@check=duplicates > 0"; 0 otherwise.
    """
    from bioeval.cli.running import Extras
    from bioeval.studies.check.check_data import check_data

    folder = image_folder(images_root, data)
    scores, claims, _ = run.read_system(data, second)
    require_images(scores, images)
    if run.page is not None and not images:
        images = _column_of_images(scores, folder)
    run.stages("looking")
    checked = check_data(scores, claims=None if claims is scores else claims, **options)
    of_page = {"images": images, "image_folder": folder}
    run.finish(checked, Extras(name=str(scores.name), page_options=of_page))
    if checked.misleads:
        run.fail("an error in the data makes results misleading")


def _column_of_images(scores: Scores, folder: Path) -> str:
    """Return the column whose names are image files below a folder; empty for none."""
    from bioeval.scores.labels import NAME_COLUMNS
    from bioeval.showing.images import Images

    if scores.layout == "pairs":
        return ""
    for column in NAME_COLUMNS:
        files, sides = Images(column, folder), (scores.probe_meta, scores.gallery_meta)
        named = all(column in meta and len(meta[column]) for meta in sides)
        if named and all(files.find(str(meta[column][0])) is not None for meta in sides):
            return column
    return ""

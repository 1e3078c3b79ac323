"""``bioeval withdraw``: a tally without probes and templates that are withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import Argument, DataError, nearest_name
from bioeval.cli.arguments import WHOLE_NUMBERS
from bioeval.cli.options import Command
from bioeval.cli.site_options import change_options, change_tally

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


@click.command("withdraw", cls=Command)
@change_options
@click.option(
    "--subject",
    "subjects",
    multiple=True,
    metavar="NAME",
    help="Withdraw all probes and templates of a subject; repeatable.",
)
@click.option("--probes", type=WHOLE_NUMBERS, help="Rows of DATA to withdraw, the first is 0.")
@click.option("--gallery", type=WHOLE_NUMBERS, help="Columns of DATA to withdraw.")
def command(
    old: str,
    data: str,
    subjects: tuple[str, ...],
    probes: list[int] | None,
    gallery: list[int] | None,
    **options: Any,
) -> None:
    """Subtract withdrawn probes and templates from the tally OLD of DATA.

    DATA are the scores as they were counted, the withdrawn ones still among them. The counts
    written are those of the rest; site and key are given as they were.

    Examples
    --------
      bioeval withdraw monday.tally monday.npz --subject anna --out left.tally
      bioeval withdraw monday.tally monday.npz --probes 3,70 --gallery 3,70 --out left.tally
    """
    if not subjects and probes is None and gallery is None:
        raise click.UsageError("name what is withdrawn: --subject, --probes or --gallery")

    def chosen(scores: Scores) -> dict[str, list[int]]:
        return {
            "probes": (probes or []) + _of_subjects(scores, "probe_labels", subjects),
            "gallery": (gallery or []) + _of_subjects(scores, "gallery_labels", subjects),
        }

    change_tally("withdraw", old, data, options, chosen)


def _of_subjects(scores: Scores, side: str, subjects: tuple[str, ...]) -> list[int]:
    """Return the positions of the templates of some subjects on one side."""
    if not subjects:
        return []
    if not scores.labelled:
        raise DataError(f"{Argument('subjects')} needs labels, which these scores do not have")
    known = set(map(str, scores.subjects.tolist()))
    for name in subjects:
        if name not in known:
            raise DataError(
                f"{Argument('subjects', name)}: no template is of this subject."
                f"{nearest_name(name, known)}"
            )
    labels = map(str, getattr(scores, side).tolist())
    return [place for place, label in enumerate(labels) if label in subjects]

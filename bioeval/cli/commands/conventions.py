"""``bioeval conventions``: the same scores by every card that fits."""

from __future__ import annotations

from bioeval.cli.command import option
from bioeval.cli.study_command import StudyCommand, study


@study(
    "conventions",
    option(
        "--card CARD", "Cards to evaluate; all that fit by default.", name="cards", multiple=True
    ),
)
def conventions_command(run: StudyCommand) -> None:
    """Evaluate DATA by every protocol card that fits, one row each.

    bioeval conventions reid.npz --card market1501 --card cuhk03

    The same distances have other rates by other conventions: which entries are removed, how ranks,
    ties and average precision are counted.
    """
    from bioeval.studies.conventions.conventions import conventions

    cards = [*run.options.pop("cards")] or None
    run.finish(run.count(conventions, run.read(), cards=cards, **run.options))

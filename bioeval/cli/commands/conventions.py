"""``bioeval conventions``: the same scores by every card that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.command import Command, option
from bioeval.cli.shared import DATA, shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@click.command("conventions", cls=Command)
@DATA
@option("--card CARD", "Cards to evaluate; all that fit by default.", name="cards", multiple=True)
@shared()
def conventions_command(run: Run, data: str, second: str | None = None, **options: Any) -> None:
    """Evaluate DATA by every protocol card that fits, one row each.

    bioeval conventions reid.npz --card market1501 --card cuhk03

    The same distances have other rates by other conventions: which entries are removed, how ranks,
    ties and average precision are counted.
    """
    from bioeval.studies.conventions.conventions import conventions

    run.finish(conventions(run.read(data, second), **options))

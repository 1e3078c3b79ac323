"""Progress of several passes over the same rows."""

from __future__ import annotations

from collections.abc import Callable

from bioeval.base.progress import reporter
from bioeval.scores.blocks import Progress


def ticker(progress: Progress | None, total: int) -> Callable[[int], None]:
    """Return a function that adds up the rows done, and reports them out of `total`."""
    done = 0

    def tick(rows: int) -> None:
        nonlocal done
        done = min(done + rows, total)
        reporter(progress)(done, total)

    return tick

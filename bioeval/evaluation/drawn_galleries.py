"""Galleries drawn at random: the options of tasks, and what a study does with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from bioeval.base.errors import Argument, DataError, received
from bioeval.base.random import RandomState

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from bioeval.protocol.tasks import ClosedSet, OpenSet
    from bioeval.scores.blocks import BlockReader
    from bioeval.scores.matrix import Scores
    from bioeval.stats.options import IntervalOptions


class DrawnGalleries(Protocol):
    """Galleries of some templates of each subject, drawn at random; a study offers them."""

    def counter(
        self, reader: BlockReader, task: OpenSet | ClosedSet, thresholds: np.ndarray | int | None
    ) -> tuple[Any, str]:
        """Return the counter that counts a task in them, and a note on its ranks."""

    def identification(self, plan: Callable[[], Any], limits: IntervalOptions | None) -> xr.Dataset:
        """Return the result of the task of `plan`; intervals may be refused."""

    def verification(
        self, scores: Scores, templates: str, refused: dict[str, Any], **options: Any
    ) -> xr.Dataset:
        """Return the result of verification; the `refused` options are errors if given."""


def drawn_galleries(
    gallery: Any, sampling: Any = "exact", random_state: RandomState = None
) -> DrawnGalleries | None:
    """Return the galleries of a task's options; None where all templates are enrolled.

    Raise :class:`DataError` for bad options, or if no study that draws galleries is installed.
    """
    words = isinstance(gallery, str) and isinstance(sampling, str)
    if words and (gallery, sampling) == ("all", "exact"):
        return None
    from bioeval.base.studies import offered

    study = offered("galleries", "drawn")
    if study is None:
        raise DataError(
            Argument("gallery"),
            f" is {received(gallery)} and ",
            Argument("sampling"),
            f" is {received(sampling)}, but no study that draws galleries is installed; leave "
            "both out: all templates are enrolled",
        )
    return study.RandomGalleries.parse(gallery, sampling, random_state)

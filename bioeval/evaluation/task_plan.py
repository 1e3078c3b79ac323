"""The job that counts one task, and the options of its result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_text
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.random import RandomState
from bioeval.base.study import offered
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.scores.matrix import Scores
from bioeval.stats.options import IntervalOptions
from bioeval.tallies.identification_job import TIES, IdentificationJob, check_max_rank
from bioeval.tallies.thresholds import require_values

Searches = TypeVar("Searches", bound=OpenSet | ClosedSet)


def with_last_rank(task: Searches, given: int | None, gallery: int, section: str) -> Searches:
    """Return a task of a card's section with the last rank that is given, or that of the card.

    The card's own is checked here, by its place; `gallery` is the number of templates.
    """
    if given is not None:
        return replace(task, max_rank=given)
    check_max_rank(task.max_rank, gallery, f"protocol {section} max_rank")
    return task


class TaskPlan(NamedTuple):
    """The job that counts one task, and the options of its result."""

    job: Any
    options: dict[str, Any]


class DrawnGalleries(Protocol):
    """Galleries of some templates of each subject, drawn at random; a study offers them."""

    def job(
        self, reader: BlockReader, task: OpenSet | ClosedSet, thresholds: np.ndarray | int | None
    ) -> tuple[Any, str]:
        """Return the job that counts a task in them, and a note on its ranks."""

    def identification(
        self,
        planner: TaskPlanner,
        task: OpenSet | ClosedSet,
        limits: IntervalOptions | None,
        progress: Progress | None,
    ) -> xr.Dataset:
        """Return the result of a task; intervals may be refused."""

    def verification(
        self, scores: Scores, templates: str, others: dict[str, Any], **options: Any
    ) -> xr.Dataset:
        """Return the result of verification; those of its `others` that are given are refused."""


def drawn_galleries(
    gallery: Any, sampling: Any = "exact", random_state: RandomState = None
) -> DrawnGalleries | None:
    """Return the galleries of a task's options; None where all templates are enrolled.

    Raises
    ------
    DataError
        Bad options, or no study that draws galleries is installed.
    """
    words = isinstance(gallery, str) and isinstance(sampling, str)
    if words and (gallery, sampling) == ("all", "exact"):
        return None
    study = offered("galleries", "drawn")
    if study is None:
        raise DataError(
            f"{Argument('gallery')} is {gallery!r} and {Argument('sampling')} is {sampling!r}, but "
            "no study that draws galleries is installed; leave both out: all templates are enrolled"
        )
    found: DrawnGalleries = study.RandomGalleries.parse(gallery, sampling, random_state)
    return found


@dataclass(eq=False)
class TaskPlanner:
    """Plans identification tasks over the same scores, each with the options of its section.

    Options are checked here, before any score is read; thresholds and FAR targets are given
    checked.
    """

    reader: BlockReader
    thresholds: np.ndarray | int | None = None
    far_targets: np.ndarray | None = None
    _shared: dict[tuple[str, str], IdentificationJob] = field(default_factory=dict)

    def identification(
        self, task: OpenSet | ClosedSet, drawn: DrawnGalleries | None = None
    ) -> TaskPlan:
        """Return the plan of identification, in `drawn` galleries if given."""
        from bioeval.results.identification import IMPOSTORS, UNMATED

        require_choice("ties", task.ties, TIES)
        check_max_rank(task.max_rank, self.reader.scores.shape[-1])
        options: dict[str, Any]
        if isinstance(task, OpenSet):
            require_choice("impostors", task.impostors, IMPOSTORS)
            require_values(self.reader.scores, "open-set identification")
            options = {"impostors": task.impostors, "far_targets": self.far_targets}
        else:
            require_choice("unmated", task.unmated, UNMATED)
            options = {"unmated": task.unmated}
        drawn = drawn_galleries(task.gallery) if drawn is None else drawn
        if drawn is not None:
            job, options["note"] = drawn.job(self.reader, task, self.thresholds)
            return TaskPlan(job, options)
        options |= {"ties": task.ties, "max_rank": task.max_rank}
        if isinstance(task, OpenSet):
            options["thresholds"] = self.thresholds
        return TaskPlan(self._ranked(task), options)

    def _ranked(self, task: OpenSet | ClosedSet) -> IdentificationJob:
        """Return the job that open and closed set share where their ranks are alike."""
        key = require_text("rank_unit", task.rank_unit), require_text("fusion", task.fusion)
        if key not in self._shared:
            self._shared[key] = IdentificationJob(
                self.reader, rank_unit=task.rank_unit, fusion=task.fusion
            )
        return self._shared[key]

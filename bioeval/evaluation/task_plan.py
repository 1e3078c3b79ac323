"""The job that counts one task, and the options of its result; galleries drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_text
from bioeval.base.errors import require_choice
from bioeval.base.kinds import larger_is_closer
from bioeval.base.study import offered
from bioeval.protocol.card import LAYOUTS
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.results.dataset import max_ranks
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.scores.matrix import Scores
from bioeval.studies.galleries.drawn import Drawn, parse_drawn, require_drawable
from bioeval.tallies.identification_job import TIES, IdentificationJob, check_max_rank
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import require_values, to_user

if TYPE_CHECKING:
    from bioeval.studies.galleries.random_galleries import GalleryJob

Searches = TypeVar("Searches", bound=OpenSet | ClosedSet)


def with_last_rank(task: Searches, given: int | None, gallery: int, section: str) -> Searches:
    """Return a task of a card's section with the last rank that is given, or that of the card.

    The card's own is checked here, by its place; `gallery` is the number of templates.
    """
    if given is not None:
        return replace(task, max_rank=given)
    check_max_rank(task.max_rank, gallery, f"protocol {section} max_rank")
    return task


def runner_of(scores: Any) -> Any:
    """Return the module of a study that evaluates scores of their layout; None of matrix and pairs.

    It has the functions `evaluate` and `open_set`.
    """
    layout = scores.layout if isinstance(scores, Scores) else ""
    return offered("runners", layout) if layout and layout not in LAYOUTS else None


class TaskPlan(NamedTuple):
    """The job that counts one task, and the options of its result."""

    job: Any  # by whose `form` it is known
    options: dict[str, Any]


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

    def identification(self, task: OpenSet | ClosedSet, drawn: Drawn | None = None) -> TaskPlan:
        """Return the plan of identification, in `drawn` galleries if given."""
        from bioeval.results.identification import DIR_LIMIT, IMPOSTORS, RANK_LIMIT, UNMATED

        open_set = isinstance(task, OpenSet)
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
        drawn = parse_drawn(task.gallery, "exact") if drawn is None else drawn
        if not drawn.size:
            options |= {"ties": task.ties, "max_rank": task.max_rank}
            if open_set:
                options["thresholds"] = self.thresholds
            return TaskPlan(self._ranked(task), options)
        from bioeval.studies.galleries.random_galleries import GalleryJob, grid_over

        require_drawable(self.reader.scores, drawn, task.rank_unit, task.fusion)
        grid = grid_over(self.reader, self.thresholds) if open_set else np.empty(0)
        subjects = len(self.reader.gallery.subjects)
        room = (len(grid), task.max_rank, DIR_LIMIT) if open_set else (1, task.max_rank, RANK_LIMIT)
        count, note = max_ranks(subjects, *room)
        job = GalleryJob(self.reader, size=drawn.size, ties=task.ties, thresholds=grid, ranks=count)
        return TaskPlan(job, {**options, "note": note})

    def _ranked(self, task: OpenSet | ClosedSet) -> IdentificationJob:
        """Return the job that open and closed set share where their ranks are alike."""
        key = require_text("rank_unit", task.rank_unit), require_text("fusion", task.fusion)
        if key not in self._shared:
            self._shared[key] = IdentificationJob(
                self.reader, rank_unit=task.rank_unit, fusion=task.fusion
            )
        return self._shared[key]


def sampled_identification(
    job: GalleryJob, options: dict[str, Any], drawn: Drawn, progress: Progress | None
) -> xr.Dataset:
    """Evaluate identification in galleries drawn at random, at the ranks of the exact mean.

    `job` is that of the exact mean, `options` those of its result.
    """
    from bioeval.results.identification import closed_set_dataset, open_set_dataset
    from bioeval.studies.galleries.random_galleries import SampledJob
    from bioeval.studies.galleries.results import sampled_dataset

    note = options["note"]
    options = {k: v for k, v in options.items() if k != "note"}
    options |= {"max_rank": job.ranks, "ties": job.ties}
    make: Callable[..., xr.Dataset] = closed_set_dataset
    scores = job.reader.scores
    if "impostors" in options:
        make, grid = open_set_dataset, to_user(job.thresholds, scores.kind)
        options["thresholds"] = grid[::-1] if larger_is_closer(scores.kind) else grid
    sampled = SampledJob(job.reader, drawn)
    (tallies,) = run_jobs(job.reader, [sampled], progress)
    return sampled_dataset(tallies, partial(make, **options), drawn, note, sampled.fewer_mates)

"""The job that counts one task, and the options of its result, from the options of the task."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bioeval.base.errors import require_choice
from bioeval.evaluation.random_galleries import closed_set_job, open_set_job
from bioeval.protocol.biometric_tasks import ClosedSet, OpenSet, Verification
from bioeval.results.closed_set import UNMATED
from bioeval.results.open_set import IMPOSTORS
from bioeval.scores.blocks import BlockReader
from bioeval.tallies.identification_job import IdentificationJob
from bioeval.tallies.random_galleries.counts import GalleryJob
from bioeval.tallies.random_galleries.options import Drawn, parse_drawn
from bioeval.tallies.thresholds import require_values
from bioeval.tallies.tie_policies import TIES, check_max_rank
from bioeval.tallies.verification_job import VerificationJob


class TaskPlan(NamedTuple):
    """The job that counts one task, and the options of its result."""

    job: VerificationJob | IdentificationJob | GalleryJob
    options: dict[str, Any]


class TaskPlanner:
    """Plans tasks over the same scores, with the options of each as a section of a card.

    Options are checked here, before any score is read.

    Parameters
    ----------
    reader : BlockReader
    thresholds : None, int or increasing float64 array
        The thresholds of the curves, checked.
    far_targets : float64 array
        FAR targets, checked.
    """

    def __init__(
        self,
        reader: BlockReader,
        thresholds: np.ndarray | int | None = None,
        far_targets: np.ndarray | None = None,
    ):
        self.reader, self.thresholds, self.far_targets = reader, thresholds, far_targets
        self._shared: dict[tuple[str, str], IdentificationJob] = {}

    def verification(
        self, templates: str, task: Verification, claims: Any = None
    ) -> VerificationJob:
        """Return the job of verification with single or multi templates."""
        return VerificationJob(
            self.reader.scores,
            self.reader,
            templates=templates,
            fusion=task.fusion,
            thresholds=self.thresholds,
            claims=claims,
            unenrolled_claims=task.unenrolled_claims,
        )

    def open_set(self, task: OpenSet, drawn: Drawn | None = None) -> TaskPlan:
        """Return the plan of open-set identification, in `drawn` galleries if given."""
        require_choice("ties", task.ties, TIES)
        require_choice("impostors", task.impostors, IMPOSTORS)
        check_max_rank(task.max_rank, self.reader.scores.shape[-1])
        require_values(self.reader.scores, "open-set identification")
        drawn = parse_drawn(task.gallery, "exact") if drawn is None else drawn
        if not drawn.size:
            options = {
                "impostors": task.impostors,
                "ties": task.ties,
                "max_rank": task.max_rank,
                "thresholds": self.thresholds,
                "far_targets": self.far_targets,
            }
            return TaskPlan(self._identification(task), options)
        job, note = open_set_job(self.reader, drawn, task, self.thresholds)
        options = {"impostors": task.impostors, "far_targets": self.far_targets, "note": note}
        return TaskPlan(job, options)

    def closed_set(self, task: ClosedSet, drawn: Drawn | None = None) -> TaskPlan:
        """Return the plan of closed-set identification, in `drawn` galleries if given."""
        require_choice("ties", task.ties, TIES)
        require_choice("unmated", task.unmated, UNMATED)
        check_max_rank(task.max_rank, self.reader.scores.shape[-1])
        drawn = parse_drawn(task.gallery, "exact") if drawn is None else drawn
        if not drawn.size:
            options = {"ties": task.ties, "max_rank": task.max_rank, "unmated": task.unmated}
            return TaskPlan(self._identification(task), options)
        job, note = closed_set_job(self.reader, drawn, task)
        return TaskPlan(job, {"unmated": task.unmated, "note": note})

    def _identification(self, task: OpenSet | ClosedSet) -> IdentificationJob:
        """Return the job that open and closed set share where their ranks are alike."""
        key = task.rank_unit, task.fusion
        if key not in self._shared:
            self._shared[key] = IdentificationJob(
                self.reader.scores, self.reader, rank_unit=task.rank_unit, fusion=task.fusion
            )
        return self._shared[key]

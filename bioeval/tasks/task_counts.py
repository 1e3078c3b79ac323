"""What was counted of one task: its numbers, its dataset, and its intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import xarray as xr

from bioeval.counting.identification import Searches
from bioeval.counting.verification import Verification
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.results.dataset import Scalars
from bioeval.results.identification import (
    closed_set_counts,
    closed_set_dataset,
    open_set_dataset,
    open_set_scalars,
)
from bioeval.results.verification import verification_dataset, verification_scalars
from bioeval.scores.matrix import Scores
from bioeval.scores.people import people_of_probes, require_people
from bioeval.views.messages import warn_of_kinds

if TYPE_CHECKING:
    from bioeval.counting.left_out import LeftOut
    from bioeval.stats.options import IntervalMethod


class CountedTask(Protocol):
    """What was counted of one task."""

    def scalars(self) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        ...

    def dataset(self) -> xr.Dataset:
        """Return the result."""
        ...

    def with_intervals(self, dataset: xr.Dataset, limits: IntervalMethod) -> xr.Dataset:
        """Return the result with confidence intervals, or a message."""
        ...


class VerificationTask(Verification):
    """Verification, with its results."""

    def scalars(self) -> Scalars:
        """Return the attempts and the operating points."""
        return verification_scalars(self)

    def dataset(self) -> xr.Dataset:
        """Return the result."""
        return warn_of_kinds(verification_dataset(self))

    def with_intervals(self, dataset: xr.Dataset, limits: IntervalMethod) -> xr.Dataset:
        """Return the result with confidence intervals."""
        from bioeval.stats.verification import verification_intervals

        return verification_intervals(dataset, self, limits)


@dataclass(frozen=True, eq=False)
class SearchCounted:
    """Open-set or closed-set identification.

    `left_out` holds what leaving each subject out changes, by tie policy, once it was needed; tasks
    with the same searches share it.
    """

    scores: Scores
    searches: Searches
    task: OpenSet | ClosedSet
    left_out: dict[str, LeftOut]
    far_targets: np.ndarray
    thresholds: np.ndarray | int | None = None
    rows: np.ndarray | None = None  # thresholds of further rows

    def scalars(self) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        task = self.task
        if isinstance(task, OpenSet):
            return open_set_scalars(
                self.searches,
                ties=task.ties,
                impostors=task.impostors,
                far_targets=self.far_targets,
            )
        counts, _ = closed_set_counts(
            self.searches, ties=task.ties, max_rank=task.max_rank, unmated=task.unmated
        )
        return counts.scalars(self.searches.about)

    def dataset(self) -> xr.Dataset:
        """Return the result."""
        task = self.task
        if isinstance(task, OpenSet):
            return open_set_dataset(
                self.searches,
                thresholds=self.thresholds,
                max_rank=task.max_rank,
                ties=task.ties,
                impostors=task.impostors,
                far_targets=self.far_targets,
                rows=self.rows,
            )
        return closed_set_dataset(
            self.searches, max_rank=task.max_rank, ties=task.ties, unmated=task.unmated
        )

    def with_intervals(self, dataset: xr.Dataset, limits: IntervalMethod) -> xr.Dataset:
        """Return the result with confidence intervals: of all against all, for new people."""
        from bioeval.counting.left_out import LeftOut
        from bioeval.stats.identification import closed_set_intervals, open_set_intervals

        scores, ties = self.scores, self.task.ties
        add = open_set_intervals if isinstance(self.task, OpenSet) else closed_set_intervals
        if not limits.by_subject:
            return add(dataset, self.searches, None, limits, None)
        require_people(scores, method=limits.method)
        codes, square = scores.codes, scores.layout == "all-against-all"
        same = square and np.array_equal(np.unique(codes.probe), np.unique(codes.gallery))
        if limits.resamples:  # of searches it draws those who search
            return add(dataset, self.searches, people_of_probes(scores), limits, None)
        if same and not scores.codes.no_person.any() and ties not in self.left_out:
            self.left_out[ties] = LeftOut.of(self.searches, self.scores, ties)
        people = people_of_probes(scores)
        return add(dataset, self.searches, people, limits, self.left_out.get(ties))

"""Results of expected counts over all galleries of one template of each subject."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.messages import Message, message_attrs
from bioeval.counting.identification import ENDS, role_of
from bioeval.counting.single_template import (
    ENROLLED,
    MATE,
    TARGET,
    UNENROLLED,
    SingleTemplateCounter,
    SingleTemplateCounts,
    sums_of,
    thresholds_over,
)
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.results.dataset import Scalars, rate
from bioeval.results.identification import (
    CMS_WORDS,
    ClosedSetCounts,
    OpenSetAttempts,
    OpenSetCounts,
)
from bioeval.results.support import rank_message, tie_message
from bioeval.scores.blocks import require_subjects
from bioeval.scores.matrix import Scores

if TYPE_CHECKING:
    from bioeval.stats.options import IntervalMethod

#: Attributes that describe the galleries.
ATTRS = {
    "rank_unit": "subject",
    "fusion": "none",
    "gallery": "single",
    "draw": "uniformly without replacement, independently for each probe and subject",
}


@dataclass(frozen=True, eq=False)
class SingleTemplateCounted:
    """Identification in galleries of one template of each subject; of open set, at FAR targets."""

    tally: SingleTemplateCounts
    task: OpenSet | ClosedSet
    far_targets: np.ndarray
    notes: list[Message]

    @classmethod
    def of(
        cls,
        scores: Scores,
        task: OpenSet | ClosedSet,
        far_targets: np.ndarray,
        thresholds: np.ndarray | int | None,
    ) -> Self:
        """Count the searches of a task."""
        require_subjects(scores, 'a gallery of one template of each subject (gallery="single")')
        if task.rank_unit == "subject" and task.fusion != "min":
            raise DataError(
                f"gallery='single' with fusion={task.fusion!r}: one template of each subject "
                f"leaves nothing to fuse. Give {Argument('fusion', 'min')}"
            )
        if scores.layout == "pairs":
            raise ProtocolError(
                "fixed pairs have no gallery to take one template of each subject from"
            )
        grid = thresholds_over(scores, thresholds) if isinstance(task, OpenSet) else np.empty(0)
        subjects = len(scores.gallery_order.subjects)
        ranks, notes = ClosedSetCounts.max_ranks(subjects, task.max_rank, len(grid))
        counter = SingleTemplateCounter(scores, ties=task.ties, thresholds=grid, ranks=ranks)
        return cls(counter.count(), task, far_targets, notes)

    def scalars(self) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        return Scalars.of_dataset(self.dataset())

    def dataset(self) -> xr.Dataset:
        """Return the result."""
        if isinstance(self.task, OpenSet):
            return self._open_set(self.task.impostors)
        return self._closed_set(self.task.unmated)

    def with_intervals(self, dataset: xr.Dataset, limits: IntervalMethod) -> xr.Dataset:
        """Return the result with the message that it has no intervals."""
        of = "means over all galleries of one template of each subject"
        without = Message("no-interval", of=of, why="their galleries share templates")
        return dataset.assign_attrs(message_attrs([without], dataset.attrs))

    def _closed_set(self, unmated: str) -> xr.Dataset:
        """Return the expected CMS over the ranks; probes without a mate as in one gallery."""
        tally, notes = self.tally, self.notes
        tied = sums_of(tally.tied)[0, 0]
        counts = ClosedSetCounts(_expected_ranks(tally)[-1], tally.genuine, tally.unmated, tied)
        counts.require_mated(tally.about.layout, unmated, tally.first_unmated)

        def curve(ties: str) -> np.ndarray:
            return rate(_expected_ranks(tally, ties)[-1], tally.genuine)

        if tally.at_ends:
            notes = [*notes, *rank_message("cms", curve, CMS_WORDS)]
        options = {**ATTRS, "ties": tally.ties, "unmated": unmated}
        return counts.dataset(tally.about, options, notes)

    def _open_set(self, impostors: str) -> xr.Dataset:
        """Return expected DIR over thresholds and ranks, and FAR over thresholds."""
        tally, notes, far_targets = self.tally, self.notes, self.far_targets
        role = role_of(tally.about.layout, impostors, not tally.non_targets)
        expected = _expected_ranks(tally)
        within = sums_of(tally.within)
        accepted, impostor = _expected_accepts(tally, role)
        counts = OpenSetCounts(
            attempts=OpenSetAttempts(
                genuine=tally.genuine,
                impostor=impostor,
                tied=sums_of(tally.tied)[0, 0],
                targets=tally.targets,
                non_targets=tally.non_targets,
                unmated=tally.unmated_targets,
            ),
            thresholds=tally.thresholds,
            detected=sums_of(tally.di[:, :-1].cumsum(axis=1)),
            identified=expected[:-1],
            accepted=accepted,
            targets_within=within[TARGET],
            own_within=within[MATE],
            non_targets_within=within[UNENROLLED],
        )
        points = counts.bounds(expected[-1], far_targets)
        if tally.at_ends:
            ends = []
            for ties in ENDS:
                other = _expected_ranks(tally, ties)
                at_end = replace(counts, identified=other[:-1]).bounds(other[-1], far_targets)
                ends.append(at_end["eer_at_most"])
            notes = [*notes, *tie_message("eer_at_most", ends, "the upper bound of EER")]
        options = {**ATTRS, "ties": tally.ties, "impostors": role}
        return counts.dataset(points, far_targets, tally.about, options, notes, [])


def _expected_accepts(tally: SingleTemplateCounts, role: str) -> tuple[np.ndarray, int]:
    """Return the expected number of impostor searches accepted within each threshold, of all."""
    by_role = {"leave-subject-out": [ENROLLED], "unenrolled": [UNENROLLED]}
    kinds = by_role.get(role, [ENROLLED, UNENROLLED])
    attempts = {ENROLLED: tally.impostors_enrolled, UNENROLLED: tally.impostors_unenrolled}
    impostor = sum(attempts[kind] for kind in kinds)
    return np.minimum(sums_of(tally.within[:, kinds].sum(axis=1)), impostor), impostor


def _expected_ranks(tally: SingleTemplateCounts, ties: str = "") -> np.ndarray:
    """Return the expected number at each rank or better, within each threshold and overall.

    That is under the tally's ties, or at one of `ENDS`.
    """
    sums = tally.at_ends[[*ENDS].index(ties)] if ties else tally.di
    table = sums_of(sums.cumsum(axis=1).cumsum(axis=2))
    # The chances of a probe add up to 1 but for their rounding.
    return np.minimum(table, tally.genuine)

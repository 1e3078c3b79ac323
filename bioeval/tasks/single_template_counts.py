"""Results of expected counts over all galleries of one template of each subject."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.messages import Message, message_attrs
from bioeval.counting.identification import ENDS, role_of
from bioeval.counting.single_template import (
    ENROLLED,
    MATE,
    TARGET,
    UNENROLLED,
    CountSingleTemplates,
    SingleTemplateCounts,
    sums_of,
    thresholds_over,
)
from bioeval.counting.thresholds import CurveThresholds
from bioeval.protocol.choices import ImpostorProbes, PlainTies, Unmated
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.results.dataset import Scalars, rate
from bioeval.results.identification import (
    CMS_WORDS,
    ClosedSetCounts,
    OpenSetAttempts,
    OpenSetCounts,
)
from bioeval.results.support import note_thresholds_beyond_scores, rank_message, tie_message
from bioeval.scores.matrix import Scores
from bioeval.scores.requirements import require_subjects

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
    """Identification in galleries of one template of each subject.

    `far_targets` are the targets of open-set identification.
    """

    counts: SingleTemplateCounts
    task: OpenSet | ClosedSet
    far_targets: np.ndarray
    notes: list[Message]
    given: CurveThresholds

    @classmethod
    def from_scores(
        cls,
        scores: Scores,
        task: OpenSet | ClosedSet,
        far_targets: np.ndarray,
        given: CurveThresholds,
    ) -> Self:
        """Count the searches of a task."""
        require_subjects(scores, 'a gallery of one template of each subject (gallery="single")')
        if task.rank_unit == "subject" and task.of_kind(scores.kind).fusion != "best":
            raise DataError(
                f"gallery='single' with fusion={task.fusion!r}: one template of each subject "
                'leaves nothing to fuse. Give `fusion="best"`'
            )
        if scores.layout == "pairs":
            raise ProtocolError(
                "fixed pairs have no gallery to take one template of each subject from"
            )
        grid = thresholds_over(scores, given) if isinstance(task, OpenSet) else np.empty(0)
        subjects = len(scores.gallery_order.subjects)
        ranks, notes = ClosedSetCounts.max_ranks(subjects, task.max_rank, len(grid))
        counting = CountSingleTemplates(scores, ties=task.ties, thresholds=grid, ranks=ranks)
        return cls(counting.count(), task, far_targets, notes, given)

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
        measures = "means over all galleries of one template of each subject"
        reason = "their galleries share templates"
        message = Message("no-interval", of=measures, why=reason)
        return dataset.assign_attrs(message_attrs([message], dataset.attrs))

    def _closed_set(self, unmated: Unmated) -> xr.Dataset:
        counts, notes = self.counts, self.notes
        tied = sums_of(counts.tied)[0, 0]
        closed_set = ClosedSetCounts(
            _expected_ranks(counts)[-1], counts.genuine, counts.unmated, tied
        )
        closed_set.require_mated(
            counts.about.layout, unmated, counts.unmated_people, counts.first_unmated
        )

        def curve(ties: PlainTies) -> np.ndarray:
            return rate(_expected_ranks(counts, ties)[-1], counts.genuine)

        if counts.at_ends:
            notes = [*notes, *rank_message("cms", curve, CMS_WORDS)]
        options = {**ATTRS, "ties": counts.ties, "unmated": unmated}
        return closed_set.dataset(counts.about, options, notes)

    def _open_set(self, impostors: ImpostorProbes) -> xr.Dataset:
        counts = self.counts
        notes = self.notes
        far_targets = self.far_targets
        role = role_of(counts.about.layout, impostors, not counts.non_targets)
        expected = _expected_ranks(counts)
        within = sums_of(counts.within)
        accepted, impostor = _expected_accepts(counts, role)
        open_set = OpenSetCounts(
            attempts=OpenSetAttempts(
                genuine=counts.genuine,
                impostor=impostor,
                tied=sums_of(counts.tied)[0, 0],
                targets=counts.targets,
                non_targets=counts.non_targets,
                unmated=counts.unmated_targets,
            ),
            thresholds=counts.thresholds,
            detected=sums_of(counts.di[:, :-1].cumsum(axis=1)),
            identified=expected[:-1],
            accepted=accepted,
            targets_within=within[TARGET],
            own_within=within[MATE],
            non_targets_within=within[UNENROLLED],
        )
        points = open_set.bounds(expected[-1], far_targets)
        if counts.at_ends:
            ends = []
            for ties in ENDS:
                ranks_at_end = _expected_ranks(counts, ties)
                at_end = replace(open_set, identified=ranks_at_end[:-1]).bounds(
                    ranks_at_end[-1], far_targets
                )
                ends.append(at_end["eer_at_most"])
            notes = [*notes, *tie_message("eer_at_most", ends, "the upper bound of EER")]
        options = {**ATTRS, "ties": counts.ties, "impostors": role}
        result = open_set.dataset(points, far_targets, counts.about, options, notes, [])
        if isinstance(self.given, np.ndarray):
            note_thresholds_beyond_scores(result, self.given)
        return result


def _expected_accepts(counts: SingleTemplateCounts, role: str) -> tuple[np.ndarray, int]:
    """Return the expected number of impostor searches within each threshold, and their number.

    The expectation, float64 (thresholds,), is over all galleries with one template a subject.
    """
    by_role = {"leave-subject-out": [ENROLLED], "unenrolled": [UNENROLLED]}
    kinds = by_role.get(role, [ENROLLED, UNENROLLED])
    attempts = {ENROLLED: counts.impostors_enrolled, UNENROLLED: counts.impostors_unenrolled}
    impostor = sum(attempts[kind] for kind in kinds)
    return np.minimum(sums_of(counts.within[:, kinds].sum(axis=1)), impostor), impostor


def _expected_ranks(counts: SingleTemplateCounts, ties: PlainTies | None = None) -> np.ndarray:
    """Return the expected number at each rank or better, within each threshold and overall.

    Ties are treated as they were counted, or as `ties`, one of :data:`ENDS`.
    """
    sums = counts.at_ends[ENDS.index(ties)] if ties else counts.di
    table = sums_of(sums.cumsum(axis=1).cumsum(axis=2))
    # The chances of a probe add up to 1 but for their rounding.
    return np.minimum(table, counts.genuine)

"""Results of expected counts over all galleries of one template of each subject."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, Message, ProtocolError, message_attrs
from bioeval.counting.searches import role_of
from bioeval.counting.single_template import (
    ENROLLED,
    MATE,
    TARGET,
    UNENROLLED,
    SingleTemplateCounts,
    sums_of,
    thresholds_over,
)
from bioeval.counting.thresholds import CurveThresholds
from bioeval.counting.ties import ENDS
from bioeval.protocol.tasks import ClosedSet, ImpostorProbes, OpenSet, PlainTies, Unmated
from bioeval.results.dataset import Scalars, rate
from bioeval.results.identification import (
    CMS_WORDS,
    ClosedSetCounts,
    OpenSetAttempts,
    OpenSetCounts,
    ranks_to_report,
)
from bioeval.results.support import note_thresholds_beyond_scores, rank_message, tie_message
from bioeval.scores.matrix import Scores, require_subjects

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
    """A task of identification, counted over all galleries of one template of each subject."""

    counts: SingleTemplateCounts
    task: OpenSet | ClosedSet
    far_targets: np.ndarray  # FAR targets of open-set identification
    notes: list[Message]
    requested_thresholds: CurveThresholds  # curve of open-set identification

    @classmethod
    def from_scores(
        cls,
        scores: Scores,
        task: OpenSet | ClosedSet,
        far_targets: np.ndarray,
        requested_thresholds: CurveThresholds,
    ) -> Self:
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
        grid = np.empty(0)
        if isinstance(task, OpenSet):
            grid = thresholds_over(scores, requested_thresholds)
        subjects = len(scores.gallery_order.subjects)
        ranks, notes = ranks_to_report(subjects, task.max_rank, len(grid))
        counts = SingleTemplateCounts(scores, ties=task.ties, thresholds=grid, ranks=ranks)
        return cls(counts.count(), task, far_targets, notes, requested_thresholds)

    def scalars(self) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        return Scalars.of_dataset(self.dataset())

    def dataset(self) -> xr.Dataset:
        if isinstance(self.task, OpenSet):
            return self._open_set(self.task.impostors)
        return self._closed_set(self.task.unmated)

    def with_intervals(self, dataset: xr.Dataset, interval_method: IntervalMethod) -> xr.Dataset:
        """Return the result without intervals, and with a message that says why."""
        del interval_method  # every task has the same arguments
        measures = "means over all galleries of one template of each subject"
        reason = "their galleries share templates"
        message = Message("no-interval", of=measures, why=reason)
        return dataset.assign_attrs(message_attrs([message], dataset.attrs))

    @property
    def _tied_searches(self) -> Any:
        return sums_of(self.counts.tied)[0, 0]

    def _closed_set(self, unmated: Unmated) -> xr.Dataset:
        counts = self.counts
        notes = self.notes
        _, at_any_threshold = _expected_ranks(counts)
        closed_set = ClosedSetCounts(
            at_any_threshold, counts.genuine, counts.unmated, self._tied_searches
        )
        closed_set.require_mated(
            counts.about.layout, unmated, counts.unmated_people, counts.first_unmated
        )

        def curve(ties: PlainTies) -> np.ndarray:
            _, at_any_threshold = _expected_ranks(counts, ties)
            return rate(at_any_threshold, counts.genuine)

        if counts.at_ends:  # the counts under both orders of equal scores may differ
            notes = [*notes, *rank_message("cms", curve, CMS_WORDS)]
        options = {**ATTRS, "ties": counts.ties, "unmated": unmated}
        return closed_set.dataset(counts.about, options, notes)

    def _open_set(self, impostors: ImpostorProbes) -> xr.Dataset:
        counts = self.counts
        role = role_of(counts.about.layout, impostors, not counts.non_targets)
        identified, at_any_threshold = _expected_ranks(counts)
        within = sums_of(counts.within)
        # The expected number of accepted impostor searches, and the number of these searches.
        probes_of_role = {"leave-subject-out": [ENROLLED], "unenrolled": [UNENROLLED]}
        probes = probes_of_role.get(role, [ENROLLED, UNENROLLED])
        searches = {ENROLLED: counts.impostors_enrolled, UNENROLLED: counts.impostors_unenrolled}
        impostor = sum(searches[kind] for kind in probes)
        open_set = OpenSetCounts(
            attempts=OpenSetAttempts(
                genuine=counts.genuine,
                impostor=impostor,
                tied=self._tied_searches,
                targets=counts.targets,
                non_targets=counts.non_targets,
                unmated=counts.unmated_targets,
            ),
            thresholds=counts.thresholds,
            detected=sums_of(counts.di[:, :-1].cumsum(axis=1)),
            identified=identified,
            accepted=np.minimum(sums_of(counts.within[:, probes].sum(axis=1)), impostor),
            targets_within=within[TARGET],
            own_within=within[MATE],
            non_targets_within=within[UNENROLLED],
        )
        points = open_set.bounds(at_any_threshold, self.far_targets)
        notes = self.notes
        if counts.at_ends:  # the counts under both orders of equal scores may differ
            eer_bounds = []
            for ties in ENDS:
                identified, at_any_threshold = _expected_ranks(counts, ties)
                at_end = replace(open_set, identified=identified)
                bounds = at_end.bounds(at_any_threshold, self.far_targets)
                eer_bounds.append(bounds["eer_at_most"])
            notes = [*notes, *tie_message("eer_at_most", eer_bounds, "the upper bound of EER")]
        options = {**ATTRS, "ties": counts.ties, "impostors": role}
        result = open_set.dataset(points, self.far_targets, counts.about, options, notes, [])
        if isinstance(self.requested_thresholds, np.ndarray):
            note_thresholds_beyond_scores(result, self.requested_thresholds)
        return result


def _expected_ranks(
    counts: SingleTemplateCounts, ties: PlainTies | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected number of mated searches with the mate at each rank or better.

    The first array, (thresholds, ranks), is within each threshold, and the second, (ranks,), at any
    threshold. Ties are treated as they were counted, or as `ties`, one of :data:`ENDS`.
    """
    sums = counts.at_ends[ENDS.index(ties)] if ties else counts.di
    table = sums_of(sums.cumsum(axis=1).cumsum(axis=2))
    # The chances of a probe add up to 1, except for rounding.
    table = np.minimum(table, counts.genuine)
    return table[:-1], table[-1]

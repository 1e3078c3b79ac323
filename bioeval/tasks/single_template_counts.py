"""Identification with ``gallery="single"``: one template of each subject is enrolled, by chance.

A result is the mean over all galleries that can be drawn so. If the probe's subject A has the
templates a1 and a2, at the distances 1 and 3, and subject B has b1 at 2, then the mate is at rank 1
in the gallery (a1, b1), and at rank 2 in (a2, b1): the probe adds 0.5 to the number of mated
searches at rank 1, and 1 to the number at rank 2 or better.

:mod:`bioeval.counting.single_template` finds these expected counts without drawing galleries. Here
they become the counts of closed-set and open-set identification, from which
:mod:`bioeval.results.closed_set` and :mod:`bioeval.results.open_set` make results, as from the
counts of one gallery.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

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
    count_single_templates,
    sums_of,
    thresholds_over,
)
from bioeval.counting.thresholds import CurveThresholds
from bioeval.counting.ties import ENDS
from bioeval.protocol.tasks import ClosedSet, ImpostorProbes, OpenSet, PlainTies, Unmated
from bioeval.results.beyond_scores import note_thresholds_beyond_scores
from bioeval.results.closed_set import CMS_WORDS, ClosedSetCounts, ranks_to_report
from bioeval.results.dataset import Scalars, rate
from bioeval.results.open_set import OpenSetAttempts, OpenSetCounts
from bioeval.results.support import rank_message, tie_message
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
    notes: list[Message]  # such as: not all ranks are reported
    requested_thresholds: CurveThresholds  # of the curve of open-set identification

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
        thresholds = np.empty(0)  # closed-set identification counts ranks alone
        if isinstance(task, OpenSet):
            thresholds = thresholds_over(scores, requested_thresholds)
        subjects = len(scores.gallery_order.subjects)
        ranks, notes = ranks_to_report(subjects, task.max_rank, len(thresholds))
        counts = count_single_templates(scores, ties=task.ties, thresholds=thresholds, ranks=ranks)
        return cls(counts, task, far_targets, notes, requested_thresholds)

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

    def _closed_set(self, unmated: Unmated) -> xr.Dataset:
        counts = self.counts
        _, at_any_threshold = _expected_at_ranks(counts.at_ranks, counts.genuine)
        closed_set = ClosedSetCounts(
            identified=at_any_threshold,
            attempts=counts.genuine,
            skipped=counts.unmated,
            tied=_expected_tied(counts),
        )
        closed_set.require_mated(
            counts.about.layout, unmated, counts.unmated_people, counts.first_unmated
        )
        notes = self.notes
        if counts.at_ends:  # there are ties

            def cms(ties: PlainTies) -> np.ndarray:
                sums = counts.at_ends[ENDS.index(ties)]
                _, at_any_threshold = _expected_at_ranks(sums, counts.genuine)
                return rate(at_any_threshold, counts.genuine)

            notes = [*notes, *rank_message("cms", cms, CMS_WORDS)]
        options = {**ATTRS, "ties": counts.ties, "unmated": unmated}
        return closed_set.dataset(counts.about, options, notes)

    def _open_set(self, impostors: ImpostorProbes) -> xr.Dataset:
        counts = self.counts
        role = role_of(counts.about.layout, impostors, not counts.non_targets)
        impostor, accepted = _impostor_counts(counts, role)
        identified, at_any_threshold = _expected_at_ranks(counts.at_ranks, counts.genuine)
        within = sums_of(counts.within)  # (4, thresholds)
        open_set = OpenSetCounts(
            attempts=OpenSetAttempts(
                genuine=counts.genuine,
                impostor=impostor,
                tied=_expected_tied(counts),
                targets=counts.targets,
                non_targets=counts.non_targets,
                unmated=counts.unmated_targets,
            ),
            thresholds=counts.thresholds,
            # The last row of `at_ranks` has the mates beyond the last threshold.
            detected=sums_of(counts.at_ranks[:, :-1].cumsum(axis=1)),
            identified=identified,
            accepted=accepted,
            targets_within=within[TARGET],
            own_within=within[MATE],
            non_targets_within=within[UNENROLLED],
        )
        points = open_set.bounds(at_any_threshold, self.far_targets)
        notes = self.notes
        if counts.at_ends:  # there are ties
            eer_bounds = []
            for sums in counts.at_ends:
                identified, at_any_threshold = _expected_at_ranks(sums, counts.genuine)
                at_end = replace(open_set, identified=identified)
                bounds = at_end.bounds(at_any_threshold, self.far_targets)
                eer_bounds.append(bounds["eer_at_most"])
            notes = [*notes, *tie_message("eer_at_most", eer_bounds, "the upper bound of EER")]
        options = {**ATTRS, "ties": counts.ties, "impostors": role}
        result = open_set.dataset(points, self.far_targets, counts.about, options, notes, [])
        if isinstance(self.requested_thresholds, np.ndarray):
            note_thresholds_beyond_scores(result, self.requested_thresholds)
        return result


def _expected_at_ranks(sums: np.ndarray, genuine: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected number of mated searches with the mate at each rank or better.

    The first array, (thresholds, ranks), is within each threshold, and the second, (ranks,), at any
    threshold. `sums` are `SingleTemplateCounts.at_ranks`, or these under one order of equal scores.
    """
    table = sums_of(sums.cumsum(axis=1).cumsum(axis=2))  # (thresholds + 1, ranks)
    # The chances of a probe add up to 1, except for rounding.
    table = np.minimum(table, genuine)
    return table[:-1], table[-1]


def _expected_tied(counts: SingleTemplateCounts) -> np.float64:
    """Return the expected number of mated searches with a non-mate exactly as close."""
    tied: np.float64 = sums_of(counts.tied)[0, 0]
    return tied


def _impostor_counts(counts: SingleTemplateCounts, role: str) -> tuple[int, np.ndarray]:
    """Return the number of impostor searches, and the expected number accepted, (thresholds,)."""
    searches = {ENROLLED: counts.impostors_enrolled, UNENROLLED: counts.impostors_unenrolled}
    if role == "leave-subject-out":
        probes = [ENROLLED]
    elif role == "unenrolled":
        probes = [UNENROLLED]
    else:
        probes = [ENROLLED, UNENROLLED]
    impostor = sum(searches[kind] for kind in probes)
    # The chances of both kinds are added before they are rounded to float64.
    accepted = sums_of(counts.within[:, probes].sum(axis=1))
    return impostor, np.minimum(accepted, impostor)

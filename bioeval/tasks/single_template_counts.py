"""Results of expected counts over all galleries of one template of each subject."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.messages import Message
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
from bioeval.results.dataset import rate
from bioeval.results.identification import (
    CMS_WORDS,
    ClosedSetCounts,
    OpenSetAttempts,
    OpenSetCounts,
)
from bioeval.results.support import rank_message, tie_message
from bioeval.scores.blocks import require_subjects
from bioeval.scores.matrix import Scores

#: Attributes that describe the galleries.
ATTRS = {
    "rank_unit": "subject",
    "fusion": "none",
    "gallery": "single",
    "draw": "uniformly without replacement, independently for each probe and subject",
}


def single_template_counter(
    scores: Scores, task: OpenSet | ClosedSet, thresholds: np.ndarray | int | None
) -> tuple[SingleTemplateCounter, list[Message]]:
    """Return the counter of a task, and messages on its ranks."""
    require_subjects(scores, 'a gallery of one template of each subject (gallery="single")')
    if task.rank_unit == "subject" and task.fusion != "min":
        raise DataError(
            f"gallery='single' with fusion={task.fusion!r}: one template of each subject leaves "
            f"nothing to fuse. Give {Argument('fusion', 'min')}"
        )
    if scores.layout == "pairs":
        raise ProtocolError("fixed pairs have no gallery to take one template of each subject from")
    grid = np.empty(0)
    if isinstance(task, OpenSet):
        grid = thresholds_over(scores, thresholds)
    subjects = len(scores.gallery_order.subjects)
    ranks, notes = ClosedSetCounts.max_ranks(subjects, task.max_rank, len(grid))
    return SingleTemplateCounter(scores, ties=task.ties, thresholds=grid, ranks=ranks), notes


def single_template_dataset(
    tally: SingleTemplateCounts, node: str, options: dict[str, Any]
) -> xr.Dataset:
    """Return the result; `node` is ``"open_set"`` or ``"closed_set"``."""
    return (_open_set if node == "open_set" else _closed_set)(tally, **options)


def _closed_set(tally: SingleTemplateCounts, *, unmated: str, notes: list[Message]) -> xr.Dataset:
    """Return the expected CMS over the ranks; probes without a mate as in one gallery."""
    tied = sums_of(tally.tied)[0, 0]
    counts = ClosedSetCounts(_expected_ranks(tally)[-1], tally.genuine, tally.unmated, tied)
    counts.require_mated(tally.about.layout, unmated, tally.first_unmated)
    options = {**ATTRS, "ties": tally.ties, "unmated": unmated}

    def curve(ties: str) -> np.ndarray:
        return rate(_expected_ranks(tally, ties)[-1], tally.genuine)

    if tally.at_ends:
        notes = [*notes, *rank_message("cms", curve, CMS_WORDS)]
    return counts.dataset(tally.about, options, notes)


def _open_set(
    tally: SingleTemplateCounts, *, impostors: str, far_targets: np.ndarray, notes: list[Message]
) -> xr.Dataset:
    """Return expected DIR over thresholds and ranks, and FAR over thresholds."""
    about = tally.about
    role = role_of(about.layout, impostors, not tally.non_targets)
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
    return counts.dataset(points, far_targets, about, options, notes, [])


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

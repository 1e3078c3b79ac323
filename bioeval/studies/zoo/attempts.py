"""Verification attempts by subject, in one pass: sums of scores in halves, and errors.

Memory is of the size of the subjects and of the genuine and the accepted attempts. Scores are
distances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.counting.thresholds import is_accepted
from bioeval.scores.arrays import farthest
from bioeval.scores.blocks import among_distances
from bioeval.scores.labels import Codes
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import blocks_of, threads_for
from bioeval.stats.people import ratio
from bioeval.studies.zoo.existence import GROUPS, Halves
from bioeval.studies.zoo.kernel import add_scores

# Columns whose sums one thread takes together, about.
PIECE = 1024


class Genuine(NamedTuple):
    """The genuine attempts, the smallest distance first."""

    distance: np.ndarray  # float64
    person: np.ndarray
    half: np.ndarray  # 0 or 1 if both templates are of this half, else -1
    accepted: np.ndarray

    def means(self, subjects: int) -> np.ndarray:
        """Return the mean distances of each subject over each half, shape (subjects, 2)."""
        used = (self.half >= 0) & np.isfinite(self.distance)
        place = 2 * self.person[used] + self.half[used]
        sums = np.bincount(place, self.distance[used], 2 * subjects)
        return ratio(sums, np.bincount(place, minlength=2 * subjects)).reshape(subjects, 2)

    def size(self, subjects: int) -> np.ndarray:
        """Return the number of pairs in the second half of each subject."""
        return np.bincount(self.person[self.half == 1], minlength=subjects)


class Impostors(NamedTuple):
    """Impostor attempts of each subject in one role, shape (subjects,), and in halves.

    The sums, and the numbers of finite distances in them, have the shape (subjects, 2, groups): the
    half of the subject's templates, and the group of the opponent.
    """

    attempts: np.ndarray
    sums: np.ndarray
    finite: np.ndarray
    size: np.ndarray  # templates in the second half
    accepted: np.ndarray  # false accepts

    @property
    def means(self) -> np.ndarray:
        """The mean distances, shape (subjects, 2, groups)."""
        return ratio(self.sums, self.finite)


class ZooAttempts(NamedTuple):
    """The attempts of a zoo."""

    genuine: Genuine
    as_probe: Impostors
    as_claimed: Impostors


def attempts_by_subject(
    scores: Scores, person: Codes, halves: Halves, threshold: float
) -> ZooAttempts:
    """Return the attempts by subject, the codes of `person`; NaN accepts nothing."""
    order = scores.gallery_order.columns[0]
    threshold = float(among_distances(scores, threshold))
    (m, n), pieces = scores.shape, -(-scores.shape[1] // PIECE)
    subjects, group = len(person.values), halves.group
    # Blocks have the gallery in the order of its subjects.
    probe, claimed = person.probe, person.gallery[order]
    half_of_column = halves.gallery[order]
    genuine, accepted = [], np.zeros((2, subjects), dtype=np.int64)
    row_sums, row_lacking = np.zeros((m, GROUPS)), np.zeros((m, GROUPS + 1), dtype=np.int64)
    column_sums, column_lacking = np.zeros((GROUPS, n)), np.zeros((GROUPS + 1, n), dtype=np.int64)
    with threads_for(scores), np.errstate(over="ignore", invalid="ignore"):
        for block in blocks_of(scores):
            rows = block.probes
            row, column, value = block.genuine()
            own_half = halves.probe[row]
            own_half[own_half != halves.gallery[column]] = -1
            genuine.append((value, probe[row], own_half))
            others = block.impostors().values
            taken = np.flatnonzero(is_accepted(others, threshold))
            if block.rejected:
                others = farthest(others)
            sums = np.zeros((pieces, len(others), GROUPS))
            lacking = np.zeros((pieces, len(others), GROUPS + 1), dtype=np.int64)
            of_row, of_column = group[probe[rows]], group[claimed]
            add_scores(others, of_row, of_column, sums, lacking, column_sums, column_lacking)
            row_sums[rows], row_lacking[rows] = sums.sum(axis=0), lacking.sum(axis=0)
            row, position = np.divmod(taken, n)
            accepted[0] += np.bincount(probe[rows][row], minlength=subjects)
            accepted[1] += np.bincount(claimed[position], minlength=subjects)
        whole = [np.bincount(group[side], minlength=GROUPS) for side in (claimed, probe)]
        as_probe = _by_subject(row_sums, row_lacking, whole[0], accepted[0], probe, halves.probe)
        as_claimed = _by_subject(
            column_sums.T, column_lacking.T, whole[1], accepted[1], claimed, half_of_column
        )
    distance, who, own_half = map(np.concatenate, zip(*genuine, strict=True))
    added = np.argsort(distance)  # added in this order, whatever the order of the templates
    distance = distance[added]
    genuine_accepted = is_accepted(distance, threshold)
    if scores.nan == "reject":
        distance = farthest(distance)
    return ZooAttempts(
        Genuine(distance.astype(np.float64), who[added], own_half[added], genuine_accepted),
        as_probe,
        as_claimed,
    )


def _by_subject(
    sums: np.ndarray,
    lacking: np.ndarray,
    whole: np.ndarray,
    accepted: np.ndarray,
    person: np.ndarray,
    half: np.ndarray,
) -> Impostors:
    """Add up rows or columns by subject, of `whole` scores in each group less those lacking."""
    subjects = len(accepted)
    sums_of_halves = np.zeros((subjects, 2, GROUPS))
    finite = np.zeros((subjects, 2, GROUPS), dtype=np.int64)
    infinite = np.zeros(subjects, dtype=np.int64)
    np.add.at(sums_of_halves, (person, half), sums)
    np.add.at(finite, (person, half), whole - lacking[:, :GROUPS])
    np.add.at(infinite, person, lacking[:, GROUPS])
    size = np.bincount(person[half == 1], minlength=subjects)
    return Impostors(finite.sum(axis=(1, 2)) + infinite, sums_of_halves, finite, size, accepted)

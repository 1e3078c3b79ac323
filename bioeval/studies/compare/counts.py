"""Verification attempts of two systems side by side, and disjoint units with discordant decisions.

A unit of subjects is one subject, two, or three: that of a genuine attempt and those of an impostor
attempt. Each is evidence that two systems differ. Where they differ in the scores of `n` subjects
alone, each unit has one of these, so that at most `n` units are disjoint.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.points import VerificationPoints
from bioeval.base.progress import report, stage
from bioeval.base.random import Stream
from bioeval.scores.blocks import BlockReader
from bioeval.scores.disjoint import mates_among
from bioeval.scores.matrix import Scores
from bioeval.stats.error_curves import CurveMeasure
from bioeval.studies.compare import kernel
from bioeval.studies.compare.kernel import OrderedAttempts

_SEED = np.random.SeedSequence(0x4F52444552)

# Odd constants of splitmix64 (Steele, Lea and Flood 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def numbers_by_scores(
    members: Sequence[np.ndarray], rows: tuple[np.ndarray, np.ndarray], people: int
) -> np.ndarray:
    """Return a number for each subject, 0 to `people` - 1, from two systems' scores alone.

    The numbers do not change where the systems, the rows or the subjects change places. Subjects
    are sorted by the sums of their rows, equal sums by digests of their rows and of those whom they
    share them with; random numbers then decide, so that neighbours need not be alike.

    - `members` (int, each of (k,)): the subject of each row; the second array of rows between two
      subjects
    - `rows` (pair of int64 (k,)): what each system says in each row, as whole numbers that do not
      depend on its scale
    """
    first, second = sorted(rows, key=summary)
    size = np.zeros(people, dtype=np.int64)
    for side in members:
        np.add.at(size, side, first + second)
    content = _mixed(first.astype(np.uint64) * _STEP + second.astype(np.uint64))
    digest = size.astype(np.uint64)
    before, distinct = 0, len(np.unique(digest))
    while before < distinct < people:  # until digests of digests tell no more subjects apart
        known, digest = digest, _mixed(digest)
        for side, other in zip(members, members[::-1], strict=True):
            np.add.at(digest, side, _mixed(content + known[other] * _SECOND))
        before, distinct = distinct, len(np.unique(digest))
    number = np.empty(people, dtype=np.int64)
    number[np.lexsort((digest, size))] = Stream(_SEED, people).permutation(people)
    return number


def summary(values: np.ndarray) -> tuple[int, int]:
    """Return two numbers that distinguish systems, whatever the order of their int64 values."""
    return int(values.sum()), int(values @ values)


def ranks_among(values: np.ndarray, other_values: np.ndarray) -> np.ndarray:
    """Return the ranks of values among the distinct ones of both arrays, from 1; 0 for NaN."""
    distinct = np.unique(np.concatenate([values, other_values]))
    distinct = distinct[~np.isnan(distinct)]
    return np.where(np.isnan(values), 0, np.searchsorted(distinct, values) + 1)


def _mixed(x: np.ndarray) -> np.ndarray:
    """Return well-mixed bits of integers, equal for equal integers."""
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


def unpaired_attempts(a: Scores, b: Scores) -> int:
    """Return the number of comparisons that only one of two systems made."""
    first, second = BlockReader(a), BlockReader(b)
    step, alone = min(first.rows_per_block(), second.rows_per_block()), 0
    for low in range(0, a.shape[0], step):
        high = min(low + step, a.shape[0])
        first_block, second_block = first.block(low, high), second.block(low, high)
        differ = np.isnan(first_block.values) != np.isnan(second_block.values)
        position = first_block.probe_position
        rows = np.nonzero(position >= 0)[0]
        differ[rows, position[rows]] = False
        alone += int(differ.sum())
    return alone


#: Of this many units and more, it is no longer tried to replace one by two.
ENOUGH = 16

Search = Callable[[np.ndarray, int], list[np.ndarray]]


def count_units(
    probe_person: np.ndarray,
    claimed_person: np.ndarray,
    people: int,
    changes: OrderChanges | None = None,
) -> int:
    """Return the number of disjoint units of subjects.

    Single subjects come first, then as many pairs of the others as there are, then units of three.
    Fewer than :data:`ENOUGH` are improved: one unit is replaced by two wherever that is possible.

    - `probe_person`, `claimed_person` (int (k,)): the units of one subject, where both are equal,
      and of two
    - `changes`: has the units of three
    """
    alive = np.ones(people, dtype=bool)
    alive[probe_person[probe_person == claimed_person]] = False
    singles = int((~alive).sum())
    key = np.unique(
        np.minimum(probe_person, claimed_person).astype(np.int64) * people
        + np.maximum(probe_person, claimed_person)
    )
    pairs = np.stack([key // max(people, 1), key % max(people, 1)])

    def search(some: np.ndarray, most: int) -> list[np.ndarray]:
        """Return disjoint units of some subjects, and remove their members from these."""
        one, other = pairs[:, some[pairs].all(axis=0)]
        mate = mates_among(one, other, people)
        first = np.flatnonzero(mate > np.arange(people))
        disjoint = [*np.stack([first, mate[first]], axis=1)]
        some[mate >= 0] = False
        if changes is not None and len(disjoint) < most:
            disjoint += list(changes.triples(some, most - len(disjoint)))
        return disjoint

    units = search(alive, people)
    while singles + len(units) < ENOUGH and _replace_one_by_two(units, alive, search):
        units += search(alive, people)
    return singles + len(units)


def _replace_one_by_two(units: list[np.ndarray], alive: np.ndarray, search: Search) -> bool:
    """Replace a unit by two, if possible, of the subjects in no unit: those still `alive`."""
    for k, unit in enumerate(units):
        for member in unit:
            free = alive.copy()
            free[member] = True
            one = search(free, 1)
            if one:
                free[unit[unit != member]] = True
                two = search(free, 1)
                if two:
                    units[k : k + 1] = [*one, *two]
                    alive[:] = free
                    return True
    return False


class OrderChanges:
    """Genuine and impostor attempts that two systems rank in another order.

    - `genuine`, `impostor` (pairs of int64 (g,) and (i,)): :func:`layers` of each system, of
      attempts that both made
    - `owner` (int (g,)): the subject of each genuine attempt
    - `between` (pair of int (i,)): the subjects of each impostor attempt
    - `pairs` (pair of int64): the subjects of each impostor attempt in another order with a genuine
      one of theirs
    """

    def __init__(
        self,
        genuine: tuple[np.ndarray, np.ndarray],
        owner: np.ndarray,
        impostor: tuple[np.ndarray, np.ndarray],
        between: tuple[np.ndarray, np.ndarray],
        people: int,
    ):
        """Find the pairs; the systems are put in an order that their scores decide."""
        if summary(impostor[1]) < summary(impostor[0]):
            genuine, impostor = genuine[::-1], impostor[::-1]
        owner = owner.astype(np.int64)
        one, other = between
        probe_person, claimed_person = np.minimum(one, other), np.maximum(one, other)
        attempts = OrderedAttempts(genuine[0], genuine[1], owner, owner)
        self._genuine = _chosen(attempts, np.lexsort((attempts.second, attempts.first)))
        self._impostor = OrderedAttempts(
            impostor[0], impostor[1], probe_person.astype(np.int64), claimed_person.astype(np.int64)
        )
        by_owner = _chosen(self._genuine, np.argsort(self._genuine.probe_person, kind="stable"))
        near = _marked(by_owner, np.bincount(owner, minlength=people), self._impostor)
        self.pairs = self._impostor.probe_person[near], self._impostor.claimed_person[near]

    def triples(self, alive: np.ndarray, most: int) -> np.ndarray:
        """Return disjoint units of three subjects, int64 of shape (units, 3).

        `alive`, bool of shape (people,), is changed: the members of the units are taken out. There
        are at most `most` units.
        """
        genuine, impostor = _among(self._genuine, alive), _among(self._impostor, alive)
        none = np.zeros(len(impostor.probe_person), dtype=np.int64)
        changed = _marked(
            genuine,
            np.array([len(genuine.probe_person)]),
            impostor._replace(probe_person=none, claimed_person=none),
        )
        impostor = _chosen(impostor, np.flatnonzero(changed))
        impostor = _chosen(impostor, np.lexsort(impostor))
        units = np.empty((min(most, int(alive.sum()) // 2), 3), dtype=np.int64)
        return units[: kernel.take_order_changes(genuine, impostor, alive, units)]


def _marked(genuine: OrderedAttempts, sizes: np.ndarray, impostor: OrderedAttempts) -> np.ndarray:
    """Mark impostor attempts that change order with a genuine attempt of a group."""
    marked = np.empty(len(impostor.probe_person), dtype=np.bool_)
    kernel.mark_order_changes(genuine, np.append(0, np.cumsum(sizes)), impostor, marked)
    return marked


def _among(attempts: OrderedAttempts, alive: np.ndarray) -> OrderedAttempts:
    """Return the attempts between some subjects."""
    return _chosen(
        attempts, np.flatnonzero(alive[attempts.probe_person] & alive[attempts.claimed_person])
    )


def _chosen(attempts: OrderedAttempts, places: np.ndarray) -> OrderedAttempts:
    return OrderedAttempts._make(np.ascontiguousarray(column[places]) for column in attempts)


def layers(values: np.ndarray, genuine: np.ndarray) -> np.ndarray:
    """Return the places of distances among the distinct genuine ones, in ascending order.

    Layer ``2 j + 1`` is at ``genuine[j]``, and layer ``2 j`` below it; of NaN -1.
    """
    below = np.searchsorted(genuine, values)
    layer = 2 * below + (np.append(genuine, np.nan)[below] == values)
    return np.where(np.isnan(values), -1, layer)


#: Up to this many attempts, replicates of a comparison are exact.
EXACT_ATTEMPTS = 1 << 23

# Values of a temporary array, and replicates in one call of the kernel.
_MOST_VALUES = 1 << 24
_COLUMNS = 256


@dataclass(frozen=True)
class ReplicatedCurve:
    """FAR and FRR of listed attempts in replicates, as :class:`bioeval.stats.ErrorCurve`.

    The corners, points of the ROC from strict to loose, are there where a measure needs them.
    """

    points: kernel.ReplicatePoints
    far_targets: np.ndarray

    def equal_error(self) -> np.ndarray:
        """Return the interpolated EER of each replicate."""
        return self.points.eer

    def frr_at_far(self, target: float, exact: bool) -> np.ndarray:
        """Return the smallest FRR with FAR at most one of the targets, for each replicate."""
        return self.points.frr[self.far_targets.tolist().index(target)]

    def far_at_frr(self, target: float, exact: bool) -> np.ndarray:
        """Return the smallest FAR with FRR at most the target, for each replicate."""
        far, frr = self.points.corners
        # Points go from strict to loose: the first with FRR at most the target.
        return far[np.argmax(frr <= target, axis=0), np.arange(far.shape[1])]

    def area(self) -> np.ndarray:
        """Return the area under the ROC of each replicate."""
        return self.points.auc

    def with_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Return FAR and FRR of the corners."""
        far, frr = self.points.corners
        return far, frr


@dataclass(frozen=True)
class PairedAttempts:
    """The attempts of two systems in the same order, and their subjects."""

    #: float64 (k,): distances of each system; NaN = no attempt.
    values: tuple[np.ndarray, np.ndarray]
    #: int64 (k,): their places among the genuine distances of the system, as in :func:`layers`.
    layers: tuple[np.ndarray, np.ndarray]
    #: int64 (k,): the subjects of probe and template; equal for a genuine attempt.
    probe_person: np.ndarray
    claimed_person: np.ndarray
    #: int64 (people,): the number that each subject has here, which follows from the scores alone.
    numbers: np.ndarray

    @classmethod
    def of(cls, a: SubjectAttempts, b: SubjectAttempts) -> PairedAttempts | None:
        """List the attempts of two systems; None where they are too many to list."""
        if a.scores.layout != "pairs" and math.prod(a.scores.shape) > EXACT_ATTEMPTS:
            return None
        return cls.listed(a, b)

    @classmethod
    def listed(cls, a: SubjectAttempts, b: SubjectAttempts) -> PairedAttempts:
        """List the attempts of two systems, whatever their number."""
        first, probe_person, claimed_person = a.listed()
        second, _, _ = b.listed()
        same = probe_person == claimed_person
        one = layers(first, np.unique(first[same & ~np.isnan(first)]))
        other = layers(second, np.unique(second[same & ~np.isnan(second)]))
        rows = 2 * one + same, 2 * other + same
        numbers = numbers_by_scores((probe_person, claimed_person), rows, a.people)
        return cls(
            (first, second), (one, other), numbers[probe_person], numbers[claimed_person], numbers
        )

    @property
    def people(self) -> int:
        """Number of subjects."""
        return len(self.numbers)

    @property
    def genuine_subjects(self) -> int:
        """Subjects with a genuine attempt."""
        made = ~np.isnan(self.values[0]) & self._genuine
        return len(np.unique(self.probe_person[made]))

    @stage("bootstrap")
    def points(
        self,
        system: int,
        weights: np.ndarray,
        points: VerificationPoints,
        measures: Sequence[CurveMeasure],
    ) -> dict[str, np.ndarray]:
        """Return measures of one system in weighted replicates, exactly.

        Parameters
        ----------
        system : int
            0 or 1.
        weights : array of whole numbers, shape (people, columns)
        points : VerificationPoints
            The operating points of the system, with the targets.
        measures : sequence of CurveMeasure
            Those to return.

        Returns
        -------
        dict of str to float64 array, shape (columns,) or (targets, columns)
        """
        layer, same = self.layers[system], self._genuine
        is_genuine = (layer >= 0) & same
        is_impostor = (layer >= 0) & ~same
        genuine = np.stack([layer[is_genuine] // 2, self.probe_person[is_genuine]], axis=1).astype(
            np.int32
        )
        genuine = genuine[np.argsort(genuine[:, 0], kind="stable")]
        distinct = int(genuine[-1, 0]) + 1 if len(genuine) else 0
        one, other = self.probe_person[is_impostor], self.claimed_person[is_impostor]
        low, high = np.minimum(one, other), np.maximum(one, other)
        key = (layer[is_impostor] * self.people + low) * self.people + high
        key, counts = np.unique(key, return_counts=True)
        pair = key % self.people**2
        impostor = np.stack(
            [key // self.people**2, pair // self.people, pair % self.people, counts], axis=1
        ).astype(np.int32)
        columns = weights.shape[1]
        corners = distinct + 1 if any(x.of_corners for x in measures) else 0
        step = max(1, min(_COLUMNS, _MOST_VALUES // max(corners, 1)))
        parts = defaultdict(list)
        for first in range(0, columns, step):
            whole = np.ascontiguousarray(weights[:, first : first + step], dtype=np.float64)
            width = whole.shape[1]
            written = kernel.ReplicatePoints(
                eer=np.empty(width),
                frr=np.empty((len(points.far_target), width)),
                auc=np.empty(width),
                corners=np.empty((2, corners, width)),
            )
            kernel.replicate_points(impostor, genuine, whole, points.far_target, written)
            curve = ReplicatedCurve(written, points.far_target)
            for measure in measures:
                parts[measure.name].append(measure.in_columns(curve, points, True))
            report(first + width, columns)
        return {name: np.concatenate(values, axis=-1) for name, values in parts.items()}

    def discordant(self, thresholds: tuple[float, float], impostors: bool) -> int:
        """Return the number of disjoint units decided differently at each system's threshold.

        - `thresholds`: as distances; NaN rejects everything
        - `impostors`: whether impostor decisions count. A unit is a subject with a genuine attempt
          that is decided differently, or two other subjects with such an impostor attempt
        """
        first, second = self.values
        accepted, accepted_by_other = first <= thresholds[0], second <= thresholds[1]
        differ = (accepted != accepted_by_other) | self._made_by_one
        if not impostors:
            differ &= self._genuine
        return count_units(self.probe_person[differ], self.claimed_person[differ], self.people)

    @stage("discordant subjects")
    def discordant_order(self) -> int:
        """Return the number of disjoint units with attempts in another order.

        A unit is the subject of a genuine attempt and those of an impostor attempt whose order
        differs between the systems.
        """
        alone, made = self._made_by_one, (self.layers[0] >= 0) & (self.layers[1] >= 0)
        is_genuine, is_impostor = made & self._genuine, made & ~self._genuine
        first, second = self.layers
        changes = OrderChanges(
            (first[is_genuine], second[is_genuine]),
            self.probe_person[is_genuine],
            (first[is_impostor], second[is_impostor]),
            (self.probe_person[is_impostor], self.claimed_person[is_impostor]),
            self.people,
        )
        probe_person = np.concatenate([self.probe_person[alone], changes.pairs[0]])
        claimed_person = np.concatenate([self.claimed_person[alone], changes.pairs[1]])
        return count_units(probe_person, claimed_person, self.people, changes)

    @property
    def _genuine(self) -> np.ndarray:
        return self.probe_person == self.claimed_person

    @property
    def _made_by_one(self) -> np.ndarray:
        return np.isnan(self.values[0]) != np.isnan(self.values[1])

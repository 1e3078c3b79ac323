"""Verification attempts of two systems side by side, and subjects with discordant decisions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bioeval.base.progress import report, stage
from bioeval.base.scalars import OPTIMA
from bioeval.kernels import bootstrap as kernel
from bioeval.tallies.by_subject import SubjectAttempts
from bioeval.tallies.disjoint_units import OrderChanges, count_units, layers
from bioeval.tallies.score_order import numbers_by_scores

#: Up to this many attempts, replicates of a comparison are exact.
EXACT_ATTEMPTS = 1 << 23

# Values of a temporary array, and replicates in one call of the kernel.
_ROOM = 1 << 24
_COLUMNS = 256


@dataclass(frozen=True)
class PairedAttempts:
    """The attempts of two systems in the same order, and their subjects.

    Attributes
    ----------
    values : pair of float64 arrays, shape (k,)
        Distances of each system; NaN = no attempt.
    layers : pair of int64 arrays, shape (k,)
        Their places among the genuine distances of the system, as in :func:`layers`.
    left, right : int64 arrays, shape (k,)
        The subjects of probe and template; equal for a genuine attempt.
    numbers : int64 array, shape (people,)
        The number that each subject has here, which follows from the scores alone.
    """

    values: tuple[np.ndarray, np.ndarray]
    layers: tuple[np.ndarray, np.ndarray]
    left: np.ndarray
    right: np.ndarray
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
        first, left, right = a.listed()
        second, _, _ = b.listed()
        same = left == right
        one, other = (layers(x, np.unique(x[same & ~np.isnan(x)])) for x in (first, second))
        rows = 2 * one + same, 2 * other + same
        numbers = numbers_by_scores((left, right), rows, a.people)
        return cls((first, second), (one, other), numbers[left], numbers[right], numbers)

    @property
    def people(self) -> int:
        """Number of subjects."""
        return len(self.numbers)

    @property
    def genuine_subjects(self) -> int:
        """Subjects with a genuine attempt."""
        made = ~np.isnan(self.values[0]) & self._genuine
        return len(np.unique(self.left[made]))

    @stage("bootstrap")
    def points(
        self, system: int, weights: np.ndarray, targets: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Return the operating points of one system in weighted replicates, exactly.

        Parameters
        ----------
        system : int
            0 or 1.
        weights : array of whole numbers, shape (people, columns)
        targets : float64 array, shape (t,)
            FAR targets.

        Returns
        -------
        dict of str to float64 array, shape (columns,) or (t, columns)
        """
        layer, same = self.layers[system], self._genuine
        own, others = ((layer >= 0) & x for x in (same, ~same))
        genuine = np.stack([layer[own] // 2, self.left[own]], axis=1).astype(np.int32)
        genuine = genuine[np.argsort(genuine[:, 0], kind="stable")]
        distinct = int(genuine[-1, 0]) + 1 if len(genuine) else 0
        one, other = self.left[others], self.right[others]
        low, high = np.minimum(one, other), np.maximum(one, other)
        key = (layer[others] * self.people + low) * self.people + high
        key, counts = np.unique(key, return_counts=True)
        pair = key % self.people**2
        impostor = np.stack(
            [key // self.people**2, pair // self.people, pair % self.people, counts], axis=1
        ).astype(np.int32)
        columns = weights.shape[1]
        corners = distinct + 1 if OPTIMA else 0
        step = max(1, min(_COLUMNS, _ROOM // max(corners, 1)))
        parts = []
        for first in range(0, columns, step):
            whole = np.ascontiguousarray(weights[:, first : first + step], dtype=np.float64)
            width = whole.shape[1]
            found = kernel.ReplicatePoints(
                eer=np.empty(width),
                frr=np.empty((len(targets), width)),
                auc=np.empty(width),
                corners=np.empty((2, corners, width)),
            )
            kernel.replicate_points(impostor, genuine, whole, targets, found)
            best = {scalar.name: scalar.over_points(*found.corners) for scalar in OPTIMA}
            parts.append({"eer": found.eer, "frr_at_far": found.frr, "auc": found.auc, **best})
            report(first + width, columns)
        return {name: np.concatenate([x[name] for x in parts], axis=-1) for name in parts[0]}

    def discordant(self, thresholds: tuple[float, float], impostors: bool) -> int:
        """Return the number of disjoint units decided differently at each system's threshold.

        Parameters
        ----------
        thresholds : pair of float
            As distances; NaN rejects everything.
        impostors : bool
            Whether impostor decisions count. A unit is a subject with a genuine attempt that is
            decided differently, or two other subjects with such an impostor attempt.
        """
        accepted = [
            np.zeros(len(values), dtype=bool) if math.isnan(t) else values <= t
            for values, t in zip(self.values, thresholds, strict=True)
        ]
        differ = (accepted[0] != accepted[1]) | self._made_by_one
        if not impostors:
            differ &= self._genuine
        return count_units(self.left[differ], self.right[differ], self.people)

    @stage("discordant subjects")
    def discordant_order(self) -> int:
        """Return the number of disjoint units with attempts in another order.

        A unit is the subject of a genuine attempt and those of an impostor attempt whose order
        differs between the systems.
        """
        alone, made = self._made_by_one, (self.layers[0] >= 0) & (self.layers[1] >= 0)
        own, others = made & self._genuine, made & ~self._genuine
        first, second = self.layers
        changes = OrderChanges(
            (first[own], second[own]), self.left[own],
            (first[others], second[others]), (self.left[others], self.right[others]), self.people,
        )  # fmt: skip
        left, right = (
            np.concatenate([side[alone], more])
            for side, more in zip((self.left, self.right), changes.pairs, strict=True)
        )
        return count_units(left, right, self.people, changes)

    @property
    def _genuine(self) -> np.ndarray:
        return self.left == self.right

    @property
    def _made_by_one(self) -> np.ndarray:
        return np.isnan(self.values[0]) != np.isnan(self.values[1])

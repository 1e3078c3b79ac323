"""Verification attempts of two systems side by side, and subjects with discordant decisions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bioeval.base.progress import report, stage
from bioeval.base.scalars import OPTIMA
from bioeval.kernels import paired_bootstrap as kernel
from bioeval.scores.about import disjoint_among
from bioeval.tallies.by_subject import SubjectAttempts

#: Up to this many attempts, replicates of a comparison are exact.
EXACT_ATTEMPTS = 1 << 23

# Values of a temporary array, and replicates in one call of the kernel.
_ROOM = 1 << 24
_COLUMNS = 256


@dataclass(frozen=True)
class PairedAttempts:
    """The attempts of two systems in the same order.

    Attributes
    ----------
    values : pair of float64 arrays, shape (k,)
        Distances of each system; NaN = no attempt.
    left, right : int32 arrays, shape (k,)
        The subjects of probe and template; equal for a genuine attempt.
    people : int
    """

    values: tuple[np.ndarray, np.ndarray]
    left: np.ndarray
    right: np.ndarray
    people: int

    @classmethod
    def of(cls, a: SubjectAttempts, b: SubjectAttempts) -> PairedAttempts | None:
        """List the attempts of two systems; None where there are too many to list."""
        if a.scores.layout != "pairs" and math.prod(a.scores.shape) > EXACT_ATTEMPTS:
            return None
        first, left, right = a.listed()
        second, _, _ = b.listed()
        return cls((first, second), left, right, a.people)

    @property
    def genuine_subjects(self) -> int:
        """Subjects with a genuine attempt."""
        made = ~np.isnan(self.values[0]) & self._genuine
        return len(np.unique(self.left[made]))

    @property
    def _genuine(self) -> np.ndarray:
        return self.left == self.right

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
        values = self.values[system]
        same = self._genuine
        own, others = (~np.isnan(values) & x for x in (same, ~same))
        distinct, place = np.unique(values[own], return_inverse=True)
        genuine = np.stack([place.reshape(-1), self.left[own]], axis=1).astype(np.int32)
        genuine = genuine[np.argsort(genuine[:, 0], kind="stable")]
        at = values[others]
        below = np.searchsorted(distinct, at)
        layer = below + np.searchsorted(distinct, at, side="right")
        one, other = self.left[others], self.right[others]
        low, high = np.minimum(one, other), np.maximum(one, other)
        key = (layer.astype(np.int64) * self.people + low) * self.people + high
        key, counts = np.unique(key, return_counts=True)
        pair = key % self.people**2
        impostor = np.stack(
            [key // self.people**2, pair // self.people, pair % self.people, counts], axis=1
        ).astype(np.int32)
        columns = weights.shape[1]
        corners = len(distinct) + 1 if OPTIMA else 0
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
        """Return the number of disjoint units with another decision at each system's threshold.

        Parameters
        ----------
        thresholds : pair of float
            As distances; NaN rejects everything.
        impostors : bool
            Whether impostor decisions count. A unit is a subject with a genuine attempt that is
            decided differently, or a pair of other subjects with such an impostor attempt; no
            subject is in two units.
        """
        accepted = [
            np.zeros(len(values), dtype=bool) if math.isnan(t) else values <= t
            for values, t in zip(self.values, thresholds, strict=True)
        ]
        differ = (accepted[0] != accepted[1]) | self._made_by_one
        subjects = np.unique(self.left[differ & self._genuine])
        if not impostors:
            return len(subjects)
        alive = np.ones(self.people, dtype=bool)
        alive[subjects] = False
        edges = differ & ~self._genuine & alive[self.left] & alive[self.right]
        return len(subjects) + disjoint_among(self.left[edges], self.right[edges], self.people)

    @stage("discordant subjects")
    def discordant_order(self) -> int:
        """Return the number of disjoint units with a genuine-impostor pair in another order.

        A unit is the subject of a genuine attempt and those of an impostor attempt whose order
        differs between the systems; no subject is in two units.
        """
        made = ~np.isnan(self.values[0]) & ~np.isnan(self.values[1])
        alive = np.ones(self.people, dtype=bool)
        alone = self._made_by_one
        subjects = np.unique(self.left[alone & self._genuine])
        alive[subjects] = False
        found = len(subjects)
        edges = alone & ~self._genuine & alive[self.left] & alive[self.right]
        for a, b in zip(self.left[edges].tolist(), self.right[edges].tolist(), strict=True):
            if alive[a] and alive[b]:
                alive[a] = alive[b] = False
                found += 1
        own, others = made & self._genuine, made & ~self._genuine
        first, second = self.values
        return found + units_in_another_order(
            (first[own], second[own]), self.left[own],
            (first[others], second[others]), (self.left[others], self.right[others]), alive,
        )  # fmt: skip

    @property
    def _made_by_one(self) -> np.ndarray:
        return np.isnan(self.values[0]) != np.isnan(self.values[1])


def units_in_another_order(
    genuine: tuple[np.ndarray, np.ndarray],
    owner: np.ndarray,
    impostor: tuple[np.ndarray, np.ndarray],
    between: tuple[np.ndarray, np.ndarray],
    alive: np.ndarray,
) -> int:
    """Return the number of disjoint units of subjects whose order differs between two systems.

    Parameters
    ----------
    genuine, impostor : pair of float64 arrays, shape (g,) and (i,)
        Distances of each system.
    owner : int array, shape (g,)
        The subject of each genuine attempt.
    between : pair of int arrays, shape (i,)
        The subjects of each impostor attempt.
    alive : bool array, shape (subjects,), changed
        The subjects that are in no unit so far.
    """
    order = np.argsort(genuine[0], kind="stable")
    first = genuine[0][order]
    ordered = kernel.OrderedGenuine(genuine[1][order], owner[order].astype(np.int32))
    ranked = kernel.RankedImpostors(
        first=np.searchsorted(first, impostor[0]),
        last=np.searchsorted(first, impostor[0], side="right"),
        distance=impostor[1],
        left=between[0].astype(np.int32),
        right=between[1].astype(np.int32),
    )
    return int(kernel.disjoint_units(ordered, ranked, alive))

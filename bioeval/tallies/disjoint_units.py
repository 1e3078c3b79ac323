"""Disjoint units of subjects, each of which is evidence that two systems differ.

A unit is one subject, two, or three: that of a genuine attempt and those of an impostor attempt.
Where the systems differ in the scores of `n` subjects alone, each unit has one of these, so that at
most `n` units are disjoint.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bioeval.base.engine import engine
from bioeval.kernels import disjoint_units as kernel
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import mates_among
from bioeval.tallies.score_order import summary


def unpaired_attempts(a: Scores, b: Scores) -> int:
    """Return the number of comparisons that only one of two systems made."""
    work, chosen = _UnpairedAttempts(a, b), engine()
    if chosen is None:
        return work.part(0, a.shape[0])
    found: int = chosen.count(work, None)
    return found


class _UnpairedAttempts:
    """Comparisons made by one system only, in blocks of rows that may be read in any order."""

    what = "failures"

    def __init__(self, a: Scores, b: Scores):
        self.scores, self.beside = a, (b,)
        self.readers = BlockReader(a), BlockReader(b)
        self.step = min(reader.rows_per_block() for reader in self.readers)

    def part(self, low: int, high: int) -> int:
        """Count rows ``low:high``."""
        alone = 0
        for first in range(low, high, self.step):
            last = min(first + self.step, high)
            blocks = [reader.block(first, last) for reader in self.readers]
            differ = np.isnan(blocks[0].values) != np.isnan(blocks[1].values)
            itself = blocks[0].self_position
            rows = np.nonzero(itself >= 0)[0]
            differ[rows, itself[rows]] = False
            alone += int(differ.sum())
        return alone


#: Of this many units and more, it is no longer tried to replace one by two.
ENOUGH = 16

Search = Callable[[np.ndarray, int], list[np.ndarray]]


def count_units(
    left: np.ndarray, right: np.ndarray, people: int, changes: OrderChanges | None = None
) -> int:
    """Return the number of disjoint units of subjects.

    Single subjects come first, then as many pairs of the others as there are, then units of three.
    Fewer than :data:`ENOUGH` are improved: one unit is replaced by two wherever that is possible.

    Parameters
    ----------
    left, right : int arrays, shape (k,)
        The units of one subject, where both are equal, and of two.
    changes : OrderChanges, optional
        Has the units of three.
    """
    alive = np.ones(people, dtype=bool)
    alive[left[left == right]] = False
    singles = int((~alive).sum())
    key = np.unique(np.minimum(left, right).astype(np.int64) * people + np.maximum(left, right))
    pairs = np.stack([key // max(people, 1), key % max(people, 1)])

    def search(some: np.ndarray, most: int) -> list[np.ndarray]:
        """Return disjoint units of some subjects, and remove their members from these."""
        one, other = pairs[:, some[pairs].all(axis=0)]
        mate = mates_among(one, other, people)
        found = [np.array([i, mate[i]]) for i in np.flatnonzero(mate > np.arange(people))]
        some[mate >= 0] = False
        if changes is not None and len(found) < most:
            found += list(changes.triples(some, most - len(found)))
        return found

    units = search(alive, people)
    while singles + len(units) < ENOUGH and _replace_one_by_two(units, alive, search):
        units += search(alive, people)
    return singles + len(units)


def _replace_one_by_two(units: list[np.ndarray], alive: np.ndarray, search: Search) -> bool:
    """Replace a unit by two if possible.

    `alive` are the subjects in no unit, among whom there is no other; it is changed.
    """
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

    Parameters
    ----------
    genuine, impostor : pairs of int64 arrays, shape (g,) and (i,)
        :func:`layers` of each system, of attempts that both made.
    owner : int array, shape (g,)
        The subject of each genuine attempt.
    between : pair of int arrays, shape (i,)
        The subjects of each impostor attempt.
    people : int

    Attributes
    ----------
    pairs : pair of int64 arrays
        The subjects of each impostor attempt in another order with a genuine one of theirs.
    """

    def __init__(
        self,
        genuine: tuple[np.ndarray, np.ndarray],
        owner: np.ndarray,
        impostor: tuple[np.ndarray, np.ndarray],
        between: tuple[np.ndarray, np.ndarray],
        people: int,
    ):
        if summary(impostor[1]) < summary(impostor[0]):
            genuine, impostor = genuine[::-1], impostor[::-1]
        owner = owner.astype(np.int64)
        sides = np.minimum(*between).astype(np.int64), np.maximum(*between).astype(np.int64)
        own = kernel.OrderedAttempts(genuine[0], genuine[1], owner, owner)
        self._own = _chosen(own, np.lexsort((own.second, own.first)))
        self._others = kernel.OrderedAttempts(impostor[0], impostor[1], *sides)
        by_owner = _chosen(self._own, np.argsort(self._own.left, kind="stable"))
        near = _marked(by_owner, np.bincount(owner, minlength=people), self._others)
        self.pairs = sides[0][near], sides[1][near]

    def triples(self, alive: np.ndarray, most: int) -> np.ndarray:
        """Return disjoint units of three subjects, int64 of shape (found, 3).

        `alive`, bool of shape (people,), is changed: the members of the units are taken out. There
        are at most `most` units.
        """
        own, others = (
            _chosen(x, np.flatnonzero(alive[x.left] & alive[x.right]))
            for x in (self._own, self._others)
        )
        none = np.zeros(len(others.left), dtype=np.int64)
        found = _marked(own, np.array([len(own.left)]), others._replace(left=none, right=none))
        others = _chosen(others, np.flatnonzero(found))
        others = _chosen(others, np.lexsort(others))
        units = np.empty((min(most, int(alive.sum()) // 2), 3), dtype=np.int64)
        return units[: kernel.take_order_changes(own, others, alive, units)]


def _marked(
    genuine: kernel.OrderedAttempts, sizes: np.ndarray, impostor: kernel.OrderedAttempts
) -> np.ndarray:
    """Mark impostor attempts that change order with a genuine attempt of a group."""
    found = np.empty(len(impostor.left), dtype=np.bool_)
    kernel.mark_order_changes(genuine, np.append(0, np.cumsum(sizes)), impostor, found)
    return found


def _chosen(attempts: kernel.OrderedAttempts, places: np.ndarray) -> kernel.OrderedAttempts:
    return kernel.OrderedAttempts(*(np.ascontiguousarray(x[places]) for x in attempts))


def layers(values: np.ndarray, genuine: np.ndarray) -> np.ndarray:
    """Return the places of distances among the distinct genuine ones, in ascending order.

    Layer ``2 j + 1`` is at ``genuine[j]``, and layer ``2 j`` below it; of NaN -1.
    """
    below = np.searchsorted(genuine, values)
    found = 2 * below + (np.append(genuine, np.nan)[below] == values)
    return np.where(np.isnan(values), -1, found)

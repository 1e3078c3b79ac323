"""Expected counts of verification against galleries of some templates of each subject.

A claim is accepted within a threshold with the chance that the score of the drawn templates is. So
each template (or each choice of several) is an attempt that counts by the chance that its score is
the claim's, and expected rates step at all of these scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bioeval.scores.blocks import Block, BlockReader
from bioeval.tallies.points import EqualError, ErrorCurve, equal_error
from bioeval.tallies.random_galleries.choices import DrawnChoices, EveryChoice
from bioeval.tallies.random_galleries.counts import SHIFT, FixedSums

# A rate that is a target but for the rounding of its sums is at most that target.
SLACK = 1 + 1e-12


# Chances are multiples of a unit that add up to one, so that sums over claims are exact.
UNIT = 2.0**52


class Cells(NamedTuple):
    """Scores of claims; `chance` (c, sizes) is the chance of each to be its claim's."""

    value: np.ndarray
    chance: np.ndarray
    genuine: np.ndarray
    draw: np.ndarray | None = None  # of each cell, where galleries are drawn


class NearestCells:
    """The templates of each subject; the nearest drawn one gives the score of a claim.

    The `j`-th nearest of `N` is the nearest of `n` drawn with chance ``C(N - j, n - 1) / C(N, n)``.
    """

    def __init__(self, reader: BlockReader, sizes: Sequence[int]):
        self.sizes = sizes
        starts = reader.gallery.starts
        counts = np.diff(starts)
        largest = int(counts.max())
        self._groups = [
            (groups, starts[groups][:, None] + np.arange(counts[groups[0]]))
            for groups in (np.flatnonzero(counts == n) for n in np.unique(counts))
        ]
        self._chance = np.zeros((largest + 1, largest, len(sizes)))
        self._known = {0}

    def chances(self, usable: np.ndarray) -> np.ndarray:
        """Return the chances by the number of usable templates, the place and the size."""
        for n in set(np.unique(usable).tolist()) - self._known:
            for s, size in enumerate(self.sizes):
                drawn = min(size, n)
                total = math.comb(n, drawn)
                within = [(total - math.comb(n - j, drawn)) / total for j in range(n + 1)]
                self._chance[n, :n, s] = steps_of(np.array(within))
            self._known.add(n)
        return self._chance

    def of_block(self, block: Block) -> Iterator[Cells]:
        """Yield the cells of a block, of all subjects with equally many templates together."""
        values = block.values.astype(np.float64)
        rows = np.flatnonzero(block.self_position >= 0)
        values[rows, block.self_position[rows]] = np.nan
        for groups, positions in self._groups:
            nearest = np.sort(values[:, positions], axis=2)
            usable = np.count_nonzero(~np.isnan(nearest), axis=2)
            place = np.arange(positions.shape[1])
            chance = self.chances(usable)[usable[..., None], place]
            own = np.broadcast_to((block.own[:, None] == groups)[..., None], nearest.shape)
            there = ~np.isnan(nearest)
            yield Cells(nearest[there], chance[there], own[there])


class ChoiceCells:
    """The choices of templates of each subject, one of which makes the score of a claim."""

    def __init__(self, choices: EveryChoice):
        self.choices, self.sizes = choices, [choices.size]

    def of_block(self, block: Block) -> Iterator[Cells]:
        """Yield the cells of a block of choices."""
        starts, there = block.starts, ~np.isnan(block.values)
        number = np.add.reduceat(there, starts[:-1], axis=1, dtype=np.int64)
        of_cell = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        place = np.arange(len(of_cell)) - starts[of_cell]  # choices that are missing are the last
        each = number[:, of_cell][there]
        place = np.broadcast_to(place, there.shape)[there]
        chance = (np.rint((place + 1) / each * UNIT) - np.rint(place / each * UNIT)) / UNIT
        own = (block.own[:, None] == of_cell)[there]
        draw = None
        if isinstance(self.choices, DrawnChoices):
            draw = np.broadcast_to(np.arange(len(of_cell)) % self.choices.draws, there.shape)[there]
        yield Cells(block.values[there], chance[:, None], own, draw)


@dataclass
class PointsAtTargets:
    """Operating points of an expected curve; NaN where a class has no attempt."""

    equal_error: EqualError
    frr_at_far: np.ndarray
    threshold_at_far: np.ndarray


class ExpectedClaims:
    """Sums the chances of claims over increasing thresholds, for several numbers of templates.

    `cells` yields the scores of a block. A second look, after :meth:`want`, keeps the impostor
    scores around the operating points.
    """

    form = "expected claims"

    def __init__(self, cells: NearestCells | ChoiceCells, thresholds: np.ndarray, draws: int = 0):
        self.cells, self.thresholds, self.draws = cells, thresholds, draws
        shape = len(thresholds) + 1, len(cells.sizes)
        self.impostor = FixedSums.zeros(*shape)
        self.last = np.full(shape, np.nan)  # the loosest impostor score in each bin
        self.attempts = np.zeros(2)  # impostor, genuine
        self._genuine: list[Cells] = []
        self._kept: list[Cells] = []
        self.wanted: np.ndarray | None = None
        self.by_draw = np.zeros((2, draws, shape[0]), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Add the claims of a block, or keep those of the wanted bins."""
        for cells in self.cells.of_block(block):
            bins = np.searchsorted(self.thresholds, cells.value)
            if self.wanted is not None:
                kept = ~cells.genuine & self.wanted[bins]
                self._kept.append(Cells(cells.value[kept], cells.chance[kept], kept[kept]))
                continue
            self.impostor.add(cells.chance, np.where(cells.genuine, -1, bins))
            self._genuine.append(Cells(*(x[cells.genuine] for x in cells[:3])))
            for s in range(len(self.cells.sizes)):
                may = ~cells.genuine & (cells.chance[:, s] > 0)
                np.fmax.at(self.last[:, s], bins[may], cells.value[may])
            for k, own in enumerate((~cells.genuine, cells.genuine)):
                self.attempts[k] += cells.chance[own, 0].sum()
                if cells.draw is not None:
                    np.add.at(self.by_draw[k], (cells.draw[own], bins[own]), 1)

    def result(self) -> ExpectedClaims:
        """Return the sums themselves."""
        return self

    @cached_property
    def numbers(self) -> tuple[int, int]:
        """Genuine and impostor attempts: the chances of a claim's scores add up to one."""
        impostor, genuine = np.rint(self.attempts).astype(int).tolist()
        return genuine, impostor

    @cached_property
    def _own(self) -> Cells:
        return _joined(self._genuine, len(self.cells.sizes))

    def errors(self, s: int, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected false rejects and false accepts at thresholds of the grid."""
        at = np.searchsorted(self.thresholds, thresholds)
        return self._fr(s, thresholds), self._ends(s)[at]

    def _ends(self, s: int) -> np.ndarray:
        """Return the expected false accepts up to the end of each bin."""
        return np.minimum(self._sums(s).values()[:, 0], self.numbers[1])

    def _sums(self, s: int) -> FixedSums:
        column = FixedSums(self.impostor.high[:, s : s + 1], self.impostor.low[:, s : s + 1])
        return column.accumulated(axis=0)

    def _fr(self, s: int, at: np.ndarray) -> np.ndarray:
        """Return the expected false rejects at each of some distances."""
        values, sums = _stepped(self._own.value, self._own.chance[:, s])
        every = FixedSums.zeros(1, 1)
        every.high[0, 0] = self.numbers[0] << SHIFT
        left = every.merge(FixedSums(-sums.high, -sums.low)).values()[:, 0]
        found = np.append(float(self.numbers[0]), left)
        return found[np.searchsorted(values, at, side="right")]

    def spread(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the standard errors of FRR and FAR over the drawn galleries."""
        at = np.searchsorted(self.thresholds, thresholds)
        found = []
        for k, attempts in ((1, self.numbers[0]), (0, self.numbers[1])):
            each = self.by_draw[k].cumsum(axis=1)[:, at] / (attempts or np.nan)
            many = self.draws > 1
            sd = each.std(axis=0, ddof=1) if many else np.full(len(at), np.nan)
            found.append(sd / math.sqrt(self.draws))
        return found[0], found[1]

    # -- operating points

    def want(self, targets: np.ndarray, thresholds: Sequence[float] = ()) -> None:
        """Want the impostor scores of the bins that hold operating points, or thresholds."""
        self.wanted = np.zeros(len(self.thresholds) + 1, dtype=bool)
        genuine, impostor = self.numbers
        self.wanted[np.searchsorted(self.thresholds, np.array(thresholds))] = True
        if not genuine or not impostor:
            return
        for s in range(len(self.cells.sizes)):
            fa = self._ends(s)
            fr = self._fr(s, np.append(self.thresholds, np.inf))
            held = ~np.isnan(self._last(s))
            self._want_around(int(np.argmax(fa * genuine >= fr * impostor)), held)
            for target in targets:
                beyond = fa / impostor > target * SLACK
                last = int(np.argmax(beyond)) if beyond.any() else len(fa)
                self._want_around(last, held)

    def _want_around(self, k: int, held: np.ndarray) -> None:
        """Want a bin, and the one before it that holds scores."""
        assert self.wanted is not None
        before = np.flatnonzero(held[:k])
        self.wanted[k : k + 1] = True
        self.wanted[before[-1:]] = True

    def _last(self, s: int) -> np.ndarray:
        """Return the loosest score in each bin, NaN where there is none."""
        own = self._own.value[self._own.chance[:, s] > 0]
        last = self.last[:, s].copy()
        np.fmax.at(last, np.searchsorted(self.thresholds, own), own)
        return last

    @cached_property
    def _near(self) -> Cells:
        return _joined(self._kept, len(self.cells.sizes))

    def curve(self, s: int) -> ErrorCurve:
        """Return the points of the expected curve: of the wanted bins all, of others the last."""
        assert self.wanted is not None
        genuine, impostor = self.numbers
        own = np.unique(self._own.value[self._own.chance[:, s] > 0])
        bins = np.searchsorted(self.thresholds, own)
        last, sums = self._last(s), self._sums(s)
        there = ~np.isnan(last) & ~self.wanted
        points, fa = [last[there]], [sums.values()[there, 0]]
        near = self._near
        of_bin = np.searchsorted(self.thresholds, near.value)
        for k in np.flatnonzero(self.wanted):
            inside = (of_bin == k) & (near.chance[:, s] > 0)
            values, more = _stepped(near.value[inside], near.chance[inside, s])
            every = np.union1d(values, own[bins == k])
            before = sums[k - 1 : k] if k else FixedSums.zeros(1, 1)
            found = np.append(before.values(), more.merge(before).values())
            points.append(every)
            fa.append(found[np.searchsorted(values, every, side="right")])
        at, accepted = np.concatenate(points), np.concatenate(fa)
        order = np.argsort(at)
        at, accepted = at[order], np.minimum(accepted[order], impostor)
        reject_all = -np.inf if not len(at) or at[0] > -np.inf else np.nan
        return ErrorCurve(
            np.append(reject_all, at),
            np.append(0.0, accepted),
            np.append(float(genuine), self._fr(s, at)),
            genuine,
            impostor,
        )

    def points(self, s: int, targets: np.ndarray) -> PointsAtTargets:
        """Return EER and FRR at FAR targets of the expected curve, after the second pass."""
        none = np.full(len(targets), np.nan)
        if not all(self.numbers):
            return PointsAtTargets(EqualError(), none, none)
        curve = self.curve(s)
        at = [int(np.flatnonzero(curve.fars <= target * SLACK)[-1]) for target in targets]
        return PointsAtTargets(equal_error(curve), curve.frrs[at], curve.threshold[at])

    def rates_at(self, s: int, threshold: float) -> tuple[float, float]:
        """Return FRR and FAR at a threshold whose bin was wanted."""
        genuine, impostor = self.numbers
        if math.isnan(threshold):
            return math.nan, math.nan
        curve = self.curve(s)
        at = max(int(np.searchsorted(curve.threshold[1:], threshold, side="right")), 0)
        frr = float(curve.fr[at]) / genuine if genuine else math.nan
        return frr, float(curve.fa[at]) / impostor if impostor else math.nan


def steps_of(within: np.ndarray) -> np.ndarray:
    """Return the steps of chances that rise to one, in units."""
    return np.diff(np.rint(within * UNIT)) / UNIT


def _stepped(values: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, FixedSums]:
    """Return distinct scores in increasing order, and the sums of the chances up to each."""
    distinct, at = np.unique(values, return_inverse=True)
    sums = FixedSums.zeros(len(distinct), 1)
    sums.add(np.ascontiguousarray(chance)[:, None], at.reshape(-1))
    return distinct, sums.accumulated(axis=0)


def _joined(parts: list[Cells], sizes: int) -> Cells:
    """Return the cells of several blocks as one."""
    nothing = Cells(np.empty(0), np.empty((0, sizes)), np.empty(0, dtype=bool))
    every = [nothing, *parts]
    return Cells(*(np.concatenate([getattr(x, f) for x in every]) for f in Cells._fields[:3]))

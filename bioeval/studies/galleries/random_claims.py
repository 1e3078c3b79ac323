"""Expected counts of verification against galleries of some templates of each subject.

A claim is accepted within a threshold with the chance that the score of the drawn templates is. So
each template (or each choice of several) is an attempt that counts by the chance that its score is
the claim's, and expected rates step at all of these scores. With a fusion other than the nearest,
choices of templates take the place of templates: of those of a subject one is drawn, all alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bioeval.base import Stream
from bioeval.scores import Block, BlockReader
from bioeval.tallies import (
    MOST_CHOICES,
    UNIT,
    ConcatenatedRows,
    Counts,
    EqualError,
    ErrorCurve,
    ExactSums,
    chances_of_nearest,
)

# Scores of choices that are made together.
CHOICE_CELLS = 1 << 21


def are_few(reader: BlockReader, size: int) -> bool:
    """Whether no subject has more than `MOST_CHOICES` choices of this many templates."""
    counts = np.unique(np.diff(reader.gallery.starts)).tolist()
    return all(math.comb(n, min(size, n)) <= MOST_CHOICES for n in counts)


class EveryChoice:
    """Blocks of the fused scores of every choice of `size` templates of each subject.

    Of a subject with fewer templates there is one choice, of all that it has. The scores of a
    subject increase; where fewer templates are usable, NaN takes the last places. `starts` are
    those of the choices.
    """

    in_order = True

    def __init__(self, reader: BlockReader, size: int, fusion: str, *, by_row: bool = False):
        self.reader, self.size, self.fusion, self.by_row = reader, size, fusion, by_row
        counts = np.diff(reader.gallery.starts)
        self._choices: dict[int, np.ndarray] = {}
        self.starts = np.concatenate([[0], np.cumsum([len(self._of(n)) for n in counts.tolist()])])

    def _of(self, n: int) -> np.ndarray:
        """Return the choices among `n` templates, each an increasing row."""
        if n not in self._choices:
            subsets = itertools.combinations(range(n), min(self.size, n))
            self._choices[n] = np.array(list(subsets), dtype=np.int64)
        return self._choices[n]

    def blocks(self, block: Block) -> Iterator[Block]:
        """Yield the rows of a block, a few at a time; with `by_row` one, with its own columns."""
        whole = len(block.values)
        rows = 1
        if not self.by_row:
            rows = max(1, CHOICE_CELLS // (int(self.starts[-1]) * self.size))
        for low in range(0, whole, rows):
            part = slice(low, min(low + rows, whole))
            values = block.values[part].astype(np.float64)
            at = block.probe_position[part]
            values[np.flatnonzero(at >= 0), at[at >= 0]] = np.nan
            fused, place = self._fused(values, block, low)
            yield Block(
                low=block.low + low,
                values=fused,
                columns=place[:1],
                starts=self.starts,
                probe_group=block.probe_group[part],
                mate_start=np.where(
                    block.probe_group[part] >= 0, self.starts[block.probe_group[part]], 0
                ),
                mate_stop=np.where(
                    block.probe_group[part] >= 0, self.starts[block.probe_group[part] + 1], 0
                ),
                probe_position=np.full(len(fused), -1, dtype=np.int64),
            )

    def _fused(self, values: np.ndarray, block: Block, low: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of the choices of some rows, and the columns of their nearest."""
        fused = np.full((len(values), int(self.starts[-1])), np.nan)
        place = np.zeros(fused.shape, dtype=np.int64)
        gone = np.isnan(values)
        for g, (start, stop) in enumerate(itertools.pairwise(block.starts.tolist())):
            whole = ~gone[:, start:stop].any(axis=1)
            alike = [(np.flatnonzero(whole), np.arange(start, stop))]
            for row in np.flatnonzero(~whole):
                alike.append((np.array([row]), start + np.flatnonzero(~gone[row, start:stop])))
            for rows, templates in alike:
                if len(rows) and len(templates):
                    choices = templates[self._of(len(templates))]
                    to = slice(self.starts[g], self.starts[g] + len(choices))
                    made = self._scores(values[rows], choices)
                    if not self.by_row:  # columns have no meaning
                        fused[rows, to] = np.sort(made.values.reshape(len(rows), -1), axis=1)
                        continue
                    row, columns = rows[0], block.columns[0][choices]
                    order = np.argsort(made.values[:, 0], kind="stable")
                    fused[row, to] = made.values[order, 0]
                    place[row, to] = columns[order, made.columns[order, 0]]
        return fused, place

    def _scores(self, values: np.ndarray, choices: np.ndarray) -> Block:
        """Return the fused scores of choices in some rows, one below the other."""
        size = choices.shape[1]
        each = np.ascontiguousarray(values[:, choices]).reshape(-1, size)
        return _rows(each, np.arange(size)[None], np.array([0, size])).fused(self.fusion)


class DrawnChoices(EveryChoice):
    """Blocks of the fused scores of some choices of each subject, drawn for each probe anew.

    The templates of a subject are put into a random order for each draw, of which the first are
    enrolled: other numbers of templates are of the same orders. Scores are in the order of the
    draws.
    """

    in_order = False

    def __init__(
        self,
        reader: BlockReader,
        size: int,
        fusion: str,
        *,
        draws: int,
        seed: np.random.SeedSequence,
        by_row: bool = False,
    ):
        """Prepare `draws` choices of each subject."""
        self.reader, self.size, self.fusion, self.by_row = reader, size, fusion, by_row
        self.draws, self.seed = draws, seed
        self.starts = np.arange(len(reader.gallery.subjects) + 1, dtype=np.int64) * draws

    def _fused(self, values: np.ndarray, block: Block, low: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of drawn choices from row `low` of a block on, and their columns."""
        starts, columns = block.starts, block.columns
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        ids = self.reader.scores.probe_ids[block.low + low :]
        fused = np.empty((len(values), int(self.starts[-1])))
        place = np.empty(fused.shape, dtype=np.int64)
        for i, row in enumerate(values):
            order = Stream(self.seed, int(ids[i])).uniforms(self.draws * len(row))
            order = order.reshape(self.draws, -1)
            order[:, np.isnan(row)] = 2.0  # after all that can be drawn
            sorted_ = np.lexsort((order, np.broadcast_to(group, order.shape)))
            chosen = np.empty(order.shape, dtype=bool)
            taken = np.arange(len(row)) - starts[group] < self.size
            np.put_along_axis(chosen, sorted_, np.broadcast_to(taken, order.shape), axis=1)
            made = _rows(np.where(chosen, row, np.nan), columns, starts).fused(self.fusion)
            fused[i], place[i] = made.values.T.ravel(), made.columns.T.ravel()
        return fused, place


def _rows(values: np.ndarray, columns: np.ndarray, starts: np.ndarray) -> Block:
    """Return rows to be fused."""
    none = np.full(len(values), -1, dtype=np.int64)
    return Block(0, values, columns, starts, none, none, none, none)


# A rate that is a target but for the rounding of its sums is at most that target.
SLACK = 1 + 1e-12


class ClaimCells(NamedTuple):
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
        """Group the subjects by their number of templates."""
        self.sizes = sizes
        starts = reader.gallery.starts
        counts = np.diff(starts)
        largest = int(counts.max())
        self._groups = []
        for n in np.unique(counts):
            groups = np.flatnonzero(counts == n)
            self._groups.append((groups, starts[groups][:, None] + np.arange(n)))
        self._chance = np.zeros((largest + 1, largest, len(sizes)))
        self._known = {0}

    def chances(self, usable: np.ndarray) -> np.ndarray:
        """Return the chances by the number of usable templates, the place and the size."""
        for n in set(np.unique(usable).tolist()) - self._known:
            for s, size in enumerate(self.sizes):
                self._chance[n, :n, s] = chances_of_nearest(n, size)
            self._known.add(n)
        return self._chance

    def of_block(self, block: Block) -> Iterator[ClaimCells]:
        """Yield the cells of a block, of all subjects with equally many templates together."""
        values = block.values.astype(np.float64)
        rows = np.flatnonzero(block.probe_position >= 0)
        values[rows, block.probe_position[rows]] = np.nan
        for groups, positions in self._groups:
            nearest = np.sort(values[:, positions], axis=2)
            usable = np.count_nonzero(~np.isnan(nearest), axis=2)
            place = np.arange(positions.shape[1])
            chance = self.chances(usable)[usable[..., None], place]
            genuine = np.broadcast_to(
                (block.probe_group[:, None] == groups)[..., None], nearest.shape
            )
            there = ~np.isnan(nearest)
            yield ClaimCells(nearest[there], chance[there], genuine[there])


class ChoiceCells:
    """The choices of templates of each subject, one of which makes the score of a claim."""

    def __init__(self, choices: EveryChoice):
        self.choices, self.sizes = choices, [choices.size]

    def of_block(self, block: Block) -> Iterator[ClaimCells]:
        """Yield the cells of a block of choices."""
        starts, there = block.starts, ~np.isnan(block.values)
        number = np.add.reduceat(there, starts[:-1], axis=1, dtype=np.int64)
        of_cell = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        place = np.arange(len(of_cell)) - starts[of_cell]  # choices that are missing are the last
        each = number[:, of_cell][there]
        place = np.broadcast_to(place, there.shape)[there]
        chance = (np.rint((place + 1) / each * UNIT) - np.rint(place / each * UNIT)) / UNIT
        genuine = (block.probe_group[:, None] == of_cell)[there]
        draw = None
        if isinstance(self.choices, DrawnChoices):
            draw = np.broadcast_to(np.arange(len(of_cell)) % self.choices.draws, there.shape)[there]
        yield ClaimCells(block.values[there], chance[:, None], genuine, draw)


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

    def __init__(self, cells: NearestCells | ChoiceCells, thresholds: np.ndarray, draws: int = 0):
        """Begin the sums, at zero."""
        self.cells, self.thresholds, self.draws = cells, thresholds, draws
        shape = len(thresholds) + 1, len(cells.sizes)
        self.impostor = ExactSums.of_chances(len(thresholds) + 1, len(cells.sizes))
        self.last = np.full(shape, np.nan)  # the loosest impostor score in each bin
        self.attempts = np.zeros(2)  # impostor, genuine
        self._genuine: list[ClaimCells] = []
        self._kept: list[ClaimCells] = []
        self.wanted: np.ndarray | None = None
        self.by_draw = np.zeros((2, draws, shape[0]), dtype=np.int64)

    def add(self, block: Block) -> None:
        """Add the claims of a block, or keep those of the wanted bins."""
        for cells in self.cells.of_block(block):
            bins = np.searchsorted(self.thresholds, cells.value)
            if self.wanted is not None:
                kept = ~cells.genuine & self.wanted[bins]
                self._kept.append(ClaimCells(cells.value[kept], cells.chance[kept], kept[kept]))
                continue
            self.impostor.add(cells.chance, np.where(cells.genuine, -1, bins))
            genuine = cells.genuine
            self._genuine.append(
                ClaimCells(cells.value[genuine], cells.chance[genuine], genuine[genuine])
            )
            for s in range(len(self.cells.sizes)):
                may = ~cells.genuine & (cells.chance[:, s] > 0)
                np.fmax.at(self.last[:, s], bins[may], cells.value[may])
            for k, of_class in enumerate((~genuine, genuine)):
                self.attempts[k] += cells.chance[of_class, 0].sum()
                if cells.draw is not None:
                    np.add.at(self.by_draw[k], (cells.draw[of_class], bins[of_class]), 1)

    def fresh(self) -> ExpectedClaims:
        """Return the same sums, of the same wanted bins, before a claim is added."""
        claims = ExpectedClaims(self.cells, self.thresholds, self.draws)
        claims.wanted = self.wanted
        return claims

    def counts(self) -> dict[str, Counts]:
        """Return what was added; see :mod:`bioeval.tallies.parts`."""
        genuine, near = (_joined(x, len(self.cells.sizes)) for x in (self._genuine, self._kept))
        rows = {
            "genuine": genuine.value,
            "genuine_chance": genuine.chance,
            "near": near.value,
            "near_chance": near.chance,
            "last": self.last[None],
            "attempts": self.attempts[None],
        }
        return {
            "rows": {name: ConcatenatedRows.of(values) for name, values in rows.items()},
            "impostor": self.impostor,
            "by_draw": self.by_draw,
        }

    def merge(self, other: dict[str, Counts]) -> None:
        """Add the claims of other rows."""
        rows = {name: joined.array() for name, joined in other["rows"].items()}
        for name, cells, genuine in (("genuine", self._genuine, True), ("near", self._kept, False)):
            flags = np.full(len(rows[name]), genuine)
            cells.append(ClaimCells(rows[name], rows[f"{name}_chance"], flags))
        self.last = np.fmax.reduce([self.last, *rows["last"]])
        self.attempts += rows["attempts"].sum(axis=0)
        self.impostor = self.impostor.merge(other["impostor"])
        self.by_draw += other["by_draw"]

    @cached_property
    def numbers(self) -> tuple[int, int]:
        """Genuine and impostor attempts: the chances of a claim's scores add up to one."""
        impostor, genuine = np.rint(self.attempts).astype(int).tolist()
        return genuine, impostor

    @cached_property
    def _genuine_cells(self) -> ClaimCells:
        return _joined(self._genuine, len(self.cells.sizes))

    def errors(self, s: int, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the expected false rejects and false accepts at thresholds of the grid."""
        at = np.searchsorted(self.thresholds, thresholds)
        return self._fr(s, thresholds), self._ends(s)[at]

    def _ends(self, s: int) -> np.ndarray:
        """Return the expected false accepts up to the end of each bin."""
        return np.minimum(self._sums(s).values()[:, 0], self.numbers[1])

    def _sums(self, s: int) -> ExactSums:
        return self.impostor[:, s : s + 1].accumulated(axis=0)

    def _fr(self, s: int, at: np.ndarray) -> np.ndarray:
        """Return the expected false rejects at each of some distances."""
        values, sums = _stepped(self._genuine_cells.value, self._genuine_cells.chance[:, s])
        left = sums.taken_from(self.numbers[0]).values()[:, 0]
        counts = np.append(float(self.numbers[0]), left)
        return counts[np.searchsorted(values, at, side="right")]

    def spread(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the standard errors of FRR and FAR over the drawn galleries."""
        at = np.searchsorted(self.thresholds, thresholds)
        spreads = []
        for k, attempts in ((1, self.numbers[0]), (0, self.numbers[1])):
            each = self.by_draw[k].cumsum(axis=1)[:, at] / (attempts or np.nan)
            sd = np.full(len(at), np.nan)
            if self.draws > 1:
                sd = each.std(axis=0, ddof=1)
            spreads.append(sd / math.sqrt(self.draws))
        return spreads[0], spreads[1]

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
        genuine = self._genuine_cells.value[self._genuine_cells.chance[:, s] > 0]
        last = self.last[:, s].copy()
        np.fmax.at(last, np.searchsorted(self.thresholds, genuine), genuine)
        return last

    @cached_property
    def _near(self) -> ClaimCells:
        return _joined(self._kept, len(self.cells.sizes))

    def curve(self, s: int) -> ErrorCurve:
        """Return the points of the expected curve: of the wanted bins all, of others the last."""
        assert self.wanted is not None
        genuine, impostor = self.numbers
        genuine_scores = np.unique(self._genuine_cells.value[self._genuine_cells.chance[:, s] > 0])
        bins = np.searchsorted(self.thresholds, genuine_scores)
        last, sums = self._last(s), self._sums(s)
        there = ~np.isnan(last) & ~self.wanted
        points, fa = [last[there]], [sums.values()[there, 0]]
        near = self._near
        of_bin = np.searchsorted(self.thresholds, near.value)
        for k in np.flatnonzero(self.wanted):
            inside = (of_bin == k) & (near.chance[:, s] > 0)
            values, more = _stepped(near.value[inside], near.chance[inside, s])
            every = np.union1d(values, genuine_scores[bins == k])
            before = ExactSums.of_chances(1, 1)
            if k > 0:
                before = sums[k - 1 : k]
            sums_up_to = np.append(before.values(), more.merge(before).values())
            points.append(every)
            fa.append(sums_up_to[np.searchsorted(values, every, side="right")])
        at, accepted = np.concatenate(points), np.concatenate(fa)
        order = np.argsort(at)
        at, accepted = at[order], np.minimum(accepted[order], impostor)
        reject_all = np.nan if len(at) and at[0] == -np.inf else -np.inf
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
        return PointsAtTargets(curve.equal_error(), curve.frrs[at], curve.threshold[at])

    def rates_at(self, s: int, threshold: float) -> tuple[float, float]:
        """Return FRR and FAR at a threshold whose bin was wanted."""
        genuine, impostor = self.numbers
        if math.isnan(threshold):
            return math.nan, math.nan
        curve = self.curve(s)
        at = max(int(np.searchsorted(curve.threshold[1:], threshold, side="right")), 0)
        frr, far = math.nan, math.nan
        if genuine:
            frr = float(curve.fr[at]) / genuine
        if impostor:
            far = float(curve.fa[at]) / impostor
        return frr, far


def _stepped(values: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, ExactSums]:
    """Return distinct scores in increasing order, and the sums of the chances up to each."""
    distinct, at = np.unique(values, return_inverse=True)
    sums = ExactSums.of_chances(len(distinct), 1)
    sums.add(np.ascontiguousarray(chance)[:, None], at.reshape(-1))
    return distinct, sums.accumulated(axis=0)


def _joined(parts: list[ClaimCells], sizes: int) -> ClaimCells:
    """Return the cells of several blocks as one."""
    value, chance, genuine = [np.empty(0)], [np.empty((0, sizes))], [np.empty(0, dtype=bool)]
    for cells in parts:
        value.append(cells.value)
        chance.append(cells.chance)
        genuine.append(cells.genuine)
    return ClaimCells(np.concatenate(value), np.concatenate(chance), np.concatenate(genuine))

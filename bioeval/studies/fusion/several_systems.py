"""Attempts of several systems that scored the same templates, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bioeval.base.kinds import Kind
from bioeval.base.memory import require_memory
from bioeval.counting.thresholds import require_values, to_user
from bioeval.scores.distances import farthest
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.requirements import require_all_scores
from bioeval.scores.row_memory import rows_per_block
from bioeval.scores.rows import read_rows, threads_for
from bioeval.studies.fusion.kernel import logistic_sums


@dataclass(frozen=True)
class Spread:
    """Mean, standard deviation (``ddof = 0``) and range of the finite scores of attempts."""

    number: int = 0
    mean: float = 0.0
    squares: float = 0.0  # sum of squared deviations
    low: float = math.inf
    high: float = -math.inf

    @property
    def sd(self) -> float:
        """The standard deviation; NaN without scores."""
        return math.sqrt(self.squares / self.number) if self.number else math.nan

    def add(self, values: np.ndarray) -> Spread:
        """Return the spread with more scores, all of them finite.

        Two samples are pooled as by Chan, Golub and LeVeque (1983).
        """
        if not len(values):
            return self
        low = float(values.min())
        # From the smallest score, so that equal scores have exactly their mean and no spread.
        deviation = values - low
        mean_deviation = float(deviation.mean())
        mean = low + mean_deviation
        squares = float(np.square(deviation - mean_deviation).sum())
        number = self.number + len(values)
        gap = 0.0
        if self.number:
            gap = mean - self.mean
            mean = self.mean + gap * len(values) / number
        return Spread(
            number,
            mean,
            self.squares + squares + gap * gap * self.number * len(values) / number,
            min(self.low, low),
            max(self.high, float(values.max())),
        )


class LogisticSums(NamedTuple):
    """Sums of a logistic regression; on the first axis, over impostor and genuine attempts.

    :func:`logistic_sums` defines them. `low` and `high` are the smallest and largest logits.
    """

    number: np.ndarray
    loss: np.ndarray
    gradient: np.ndarray
    hessian: np.ndarray
    low: np.ndarray
    high: np.ndarray


class SeveralSystems:
    """The scores of systems that compared the same templates, read side by side in blocks.

    All scores are read as similarities, which are negative distances. Errors name the `purpose` of
    the scores.
    """

    def __init__(self, systems: Sequence[Scores], purpose: str):
        for scores in systems:
            require_all_scores(scores)
            require_values(scores, purpose)
        self.systems = list(systems)

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the classes and the similarities of each block of rows.

        The classes are uint8 (rows, columns), 0 for what is no attempt; the similarities are
        float64 (systems, rows, columns).
        """
        first = self.systems[0]
        if first.layout == "pairs":
            rows = [scores.pair_distances()[None] for scores in self.systems]
            classes = np.where(first.genuine, Mask.GENUINE, Mask.IMPOSTOR)[None].astype(np.uint8)
            yield classes, self._stack(rows)
            return
        step = min(map(rows_per_block, self.systems))
        for low in range(0, first.shape[0], step):
            rows_of_block = slice(low, min(low + step, first.shape[0]))
            parts = [read_rows(scores, rows_of_block) for scores in self.systems]
            block = parts[0]
            classes = np.full(block.values.shape, Mask.IMPOSTOR, dtype=np.uint8)
            classes[block.mated] = Mask.GENUINE
            yield classes, self._stack([b.values for b in parts])

    def _stack(self, distances: list[np.ndarray]) -> np.ndarray:
        """Return the similarities of all systems; a rejected failure has the least similarity."""
        stack = np.empty((len(distances), *distances[0].shape))
        for k, (scores, values) in enumerate(zip(self.systems, distances, strict=True)):
            np.negative(farthest(values) if scores.nan == "reject" else values, out=stack[k])
        return stack

    def spreads(self) -> list[Spread]:
        """Return the spread of each system's finite scores, of both classes."""
        spreads = [Spread() for _ in self.systems]
        with threads_for(self.systems[0]):
            for classes, stack in self.blocks():
                for k, values in enumerate(stack):
                    spreads[k] = spreads[k].add(values[(classes > 0) & np.isfinite(values)])
        return spreads

    def logistic(
        self, centre: np.ndarray, inverse_scale: np.ndarray, weights: np.ndarray
    ) -> LogisticSums:
        """Return the sums of a logistic regression with these weights.

        Each score x of a system k is standardised to ``(x - centre[k]) * inverse_scale[k]``.
        """
        size = len(weights)
        # The last axis of `sums` has the number, the loss, the gradient (size), the upper triangle
        # of the Hessian row by row, and the lowest and the highest logit.
        width = 4 + size + size * (size + 1) // 2
        total = np.zeros((2, width - 2))
        low = np.full(2, np.inf)
        high = np.full(2, -np.inf)
        with threads_for(self.systems[0]):
            for classes, stack in self.blocks():
                sums = np.empty((len(classes), 2, width))
                logistic_sums(classes, stack, centre, inverse_scale, weights, sums)
                total += sums[..., :-2].sum(axis=0)
                low = np.minimum(low, sums[..., -2].min(axis=0))
                high = np.maximum(high, sums[..., -1].max(axis=0))
        number, loss, gradient, triangle = np.split(total, [1, 2, 2 + size], axis=1)
        i, j = np.triu_indices(size)
        hessian = np.zeros((2, size, size))
        hessian[:, i, j] = hessian[:, j, i] = triangle
        return LogisticSums(number[:, 0], loss[:, 0], gradient, hessian, low, high)


#: About so many new scores are computed at a time, to bound the memory.
_SCORES_AT_ONCE = 1 << 19

#: Returns new scores from the float64 scores of each system, and from the indices of their rows.
ScoreRule = Callable[[list[np.ndarray], np.ndarray], np.ndarray]


def derived_scores(systems: Sequence[Scores], rule: ScoreRule, kind: Kind, origin: str) -> Scores:
    """Return the scores that a rule computes from all systems, in the layout of the first system.

    A failed comparison that a system rejects enters the rule as the farthest score; where all
    systems failed, the new score is a failure, too. Where the rule has no value, as of infinities
    of both signs, the new score is the farthest one.
    """
    first = systems[0]
    derivation = _Derivation(systems, rule, kind)
    if first.layout == "pairs":
        rows = np.arange(first.shape[0])
        values = derivation.new_scores([scores.values for scores in systems], rows)
        return first.derived(values, kind, origin)
    probes, templates = first.shape
    require_memory(
        8 * probes * templates, f"{probes:,} x {templates:,} new scores", "expected fewer templates"
    )
    sources = [scores.cells for scores in systems]
    values = np.empty((probes, templates))
    step = max(1, _SCORES_AT_ONCE // templates)
    for low in range(0, probes, step):
        part = slice(low, min(low + step, probes))
        blocks = [source[part] for source in sources]
        values[part] = derivation.new_scores(blocks, np.arange(probes)[part])
    return first.derived(values, kind, origin)


class _Derivation(NamedTuple):
    """Systems, and the rule by which their scores become new scores."""

    systems: Sequence[Scores]
    rule: ScoreRule
    kind: Kind  # the kind of the new scores

    def new_scores(self, blocks: Sequence[np.ndarray], rows: np.ndarray) -> np.ndarray:
        inputs = []
        for scores, block in zip(self.systems, blocks, strict=True):
            values = np.asarray(block, dtype=np.float64)
            if scores.nan == "reject":
                values = np.where(np.isnan(values), to_user(np.inf, scores.kind), values)
            inputs.append(values)
        with np.errstate(all="ignore"):
            new_scores = self.rule(inputs, rows)
        is_undefined = np.isnan(new_scores) & ~np.any(np.isnan(inputs), axis=0)
        new_scores[is_undefined] = to_user(np.inf, self.kind)
        if self.systems[0].nan == "reject":
            new_scores[np.all(np.isnan(blocks), axis=0)] = np.nan
        return new_scores

"""Averages over all galleries of fewer subjects, and beta-binomial extrapolation to larger ones.

Each probe has its own chance that a non-mated subject is closer than its mate, or within a
threshold; over probes these chances follow a beta distribution, so that the number among ``M``
non-mated subjects is beta-binomial. Fitted by maximum likelihood to the subjects of the gallery,
the model predicts the numbers with more subjects.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from bioeval import MergeError
from bioeval.protocol import Search
from bioeval.scores import Block, BlockReader
from bioeval.studies.galleries import kernel
from bioeval.tallies import (
    Counter,
    Counts,
    IdentificationCounter,
    IdentificationTally,
    ThresholdCounter,
    require_alike,
)

MODEL = (
    "beta-binomial: the chance that a non-mated subject is closer than the mate (or within the "
    "threshold) is beta distributed over probes; fitted by maximum likelihood"
)

# Log odds of the mean chance, and logarithm of the sum of both parameters.
LEAST, MOST = np.array([-30.0, -10.0]), np.array([30.0, 18.0])

# Largest count fitted by itself; larger ones are censored.
CENSORED = 400


@dataclass(frozen=True)
class BetaBinomial:
    """Beta distribution of chances over probes, with mean ``a / (a + b)``."""

    a: float
    b: float

    @classmethod
    def fitted(cls, weights: np.ndarray, trials: int) -> BetaBinomial | None:
        """Fit by maximum likelihood; None if no subject is ever closer, or all always are.

        `weights` are the probes with 0, 1, ... of `trials` subjects closer. With fewer than
        ``trials + 1`` entries, the last one is censored: that number or more.
        """
        from scipy.special import betaln, gammaln, psi

        total = weights.sum()
        counts = np.arange(len(weights))
        mean = 0.0
        if total and trials:
            mean = float((weights * counts).sum() / total / trials)
        if not 0.0 < mean < 1.0:
            return None
        chosen = np.flatnonzero(weights)
        shares = weights / total
        rest = 0.0
        if len(weights) <= trials:  # the last one is censored
            chosen = np.flatnonzero(weights[:-1])
            rest = float(shares[-1])
        below = np.arange(len(weights) - 1)

        def choose(x: np.ndarray) -> np.ndarray:
            return gammaln(trials + 1.0) - gammaln(x + 1.0) - gammaln(trials - x + 1.0)

        def logs(x: np.ndarray, ways: np.ndarray, a: float, b: float) -> tuple[np.ndarray, ...]:
            """Return log chances of counts, and their derivatives in a and b."""
            values = ways + betaln(a + x, b + trials - x) - betaln(a, b)
            shared = psi(a + b) - psi(a + b + trials)
            return values, psi(a + x) - psi(a) + shared, psi(b + trials - x) - psi(b) + shared

        ways, ways_below = choose(chosen), choose(below)

        def negative_log_likelihood(point: np.ndarray) -> tuple[float, np.ndarray]:
            """Return it, and its slopes in the two coordinates of the search."""
            a, b = _shape(point)
            values, by_a, by_b = logs(chosen, ways, a, b)
            w = shares[chosen]
            likelihood = float(w @ values)
            slope_a = float(w @ by_a)
            slope_b = float(w @ by_b)
            if rest > 0.0:
                values, by_a, by_b = logs(below, ways_below, a, b)
                chances = np.exp(values)
                over = max(1.0 - float(chances.sum()), 1e-12)
                likelihood += rest * float(np.log(over))
                slope_a -= rest * float(chances @ by_a) / over
                slope_b -= rest * float(chances @ by_b) / over
            tilt = a * b / (a + b)
            return -likelihood, -np.array([tilt * (slope_a - slope_b), a * slope_a + b * slope_b])

        start = np.array([np.log(mean / (1.0 - mean)), 0.0])
        a, b = _shape(_lowest(negative_log_likelihood, start))
        return cls(a, b)

    def more_closer(self, seen: np.ndarray, trials: int, extra: int, limit: int) -> np.ndarray:
        """Return the chances of 0, 1, ... closer subjects among `extra`, by those seen closer.

        `seen` of the `trials` subjects so far were closer, and are included.
        """
        from scipy.special import betaln, gammaln

        new = np.arange(limit)[None] - seen[:, None]
        possible = (new >= 0) & (new <= extra)
        x = np.where(possible, new, 0)
        a, b = self.a + seen[:, None], self.b + trials - seen[:, None]
        logs = gammaln(extra + 1.0) - gammaln(x + 1.0) - gammaln(extra - x + 1.0)
        logs = logs + betaln(a + x, b + extra - x) - betaln(a, b)
        return np.where(possible, np.exp(logs), 0.0)

    def none_closer(self, trials: int, extra: int) -> float:
        """Return the chance that none of `extra` is closer, if none of `trials` is."""
        from scipy.special import betaln

        return float(
            np.exp(betaln(self.a, self.b + trials + extra) - betaln(self.a, self.b + trials))
        )


def _lowest(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]], point: np.ndarray
) -> np.ndarray:
    """Return the minimum of a function of two numbers with its gradient, by damped Newton steps."""
    value, slope = function(point)
    damping = 1.0
    for _ in range(200):
        sides = [function(point + step)[1] for step in np.eye(2) * 1e-5]
        with np.errstate(invalid="ignore"):  # infinite slopes lead nowhere, and end the search
            (p, q), (_, r) = (np.array(sides) - slope) / 1e-5
        while damping < 1e12:
            # Two equations, solved by hand; damped until they lead down.
            u, v = p + damping, r + damping
            determinant = u * v - q * q
            if u > 0 and determinant > 0:
                step = np.array([q * slope[1] - v * slope[0], q * slope[0] - u * slope[1]])
                new = np.clip(point + step / determinant, LEAST, MOST)
                new_value, new_slope = function(new)
                if new_value <= value:
                    break
            damping = max(4.0 * damping, 1e-6)
        else:
            return point
        moved = float(np.abs(new - point).max())
        point, value, slope = new, new_value, new_slope
        damping /= 10.0
        if moved < 1e-8:
            break
    return point


def _shape(point: np.ndarray) -> tuple[float, float]:
    """Return the parameters of the beta distribution from log odds and the log of their sum."""
    size = float(np.exp(point[1]))
    return size / (1.0 + float(np.exp(-point[0]))), size / (1.0 + float(np.exp(point[0])))


# Kinds of impostors: enrolled probes without their own subject, and unenrolled ones.
ENROLLED, UNENROLLED = 0, 1


@dataclass
class SizeTally:
    """Counts for averages over gallery sizes; merges by adding and concatenating."""

    ranks: IdentificationTally  # ranks among subjects, probe by probe
    thresholds: np.ndarray  # float64 (t,): increasing distances
    #: int64 (2, t, N + 1): impostor probes (enrolled, unenrolled) with 0, 1, ... candidate subjects
    #: within each threshold.
    candidates: np.ndarray

    def merge(self, other: SizeTally) -> SizeTally:
        """Return the tally of both sets of probes, against the same gallery."""
        require_alike(self, other, ("thresholds",))
        if self.candidates.shape != other.candidates.shape:
            raise MergeError("tallies of galleries of different numbers of subjects")
        return replace(
            self, ranks=self.ranks.merge(other.ranks), candidates=self.candidates + other.candidates
        )


class SizeCounter(Counter[SizeTally]):
    """Counts the ranks among subjects, and the candidates within each threshold."""

    def __init__(self, reader: BlockReader, search: Search, thresholds: np.ndarray):
        """Prepare empty counts of a search whose ranks count subjects."""
        self.reader = reader
        self.ranks = IdentificationCounter(reader, search)
        self.thresholds = thresholds
        self.within = ThresholdCounter(thresholds)
        subjects = len(reader.gallery.subjects)
        shape = (2, len(thresholds), subjects + 1)
        self.candidates = np.zeros(shape, dtype=np.int64)

    def add(self, block: Block) -> None:
        """Count a block of rows."""
        self.ranks.add(block)
        fused = block.fused(self.ranks.fusion)
        tables = self.within.by_row(fused.values, fused.mate_start, fused.mate_stop)
        counts = np.cumsum(tables[:, :-1], axis=1)
        rows = slice(block.low, block.low + len(counts))
        usable = self.ranks.facts.others[rows] > 0
        kind = np.where(block.probe_group >= 0, ENROLLED, UNENROLLED)
        kernel.add_counts(counts, np.where(usable, kind, -1), self.candidates)

    def fresh(self) -> Self:
        """Return the same counter before it has counted anything."""
        counter = copy(self)
        counter.ranks, counter.candidates = self.ranks.fresh(), np.zeros_like(self.candidates)
        return counter

    def counts(self, low: int, high: int) -> dict[str, Counts]:
        """Return the counts of rows ``low:high``; see :mod:`bioeval.tallies.parts`."""
        return {"ranks": self.ranks.counts(low, high), "candidates": self.candidates}

    def merge(self, other: dict[str, Counts], low: int, high: int) -> None:
        """Add the counts of rows ``low:high``."""
        self.ranks.merge(other["ranks"], low, high)
        self.candidates += other["candidates"]

    def result(self) -> SizeTally:
        """Return the tally."""
        return SizeTally(self.ranks.result(), self.thresholds, self.candidates)


class Sizes:
    """Rates over random galleries of any number of subjects, up to given ranks."""

    def __init__(
        self, tally: SizeTally, ties: str, ranks: int, kinds: tuple[int, ...], subjects: int
    ):
        """Weigh the probes by the subjects closer than their mate."""
        self.tally, self.ranks, self.kinds, self.subjects = tally, ranks, kinds, subjects
        chosen = np.nonzero(tally.ranks.mates > 0)[0]
        self.genuine = len(chosen)
        probes, rank, weights = tally.ranks.rank_weights(chosen, ties)
        bins = np.searchsorted(tally.thresholds, tally.ranks.mate[probes])
        # Weight of the probes with each number of closer subjects, by threshold; those beyond
        # every threshold in the last row.
        self.closer = np.zeros((len(tally.thresholds) + 1, subjects))
        np.add.at(self.closer, (bins, rank - 1), weights)
        # Candidates of an impostor: all subjects but its own.
        self.population = {ENROLLED: subjects - 1, UNENROLLED: subjects}
        self.impostors = sum(map(self._impostors, kinds))

    def _impostors(self, kind: int) -> int:
        table = self.tally.candidates[kind]
        if len(table):
            return int(table[0].sum())
        return 0

    def identified(self, size: int) -> np.ndarray:
        """Return the expected number at each rank or better, within each threshold and overall.

        The gallery's `size` includes the probe's own subject; the shape is (t + 1, k).
        """
        if size <= self.subjects:
            identified = np.empty((len(self.closer), self.ranks))
            kernel.drawn_marked(self.subjects - 1, size - 1, self.closer, self.ranks, identified)
        else:
            identified = self._beyond(self.closer, self.closer_model, self.subjects, size)
        return np.minimum(identified.cumsum(axis=0).cumsum(axis=1), self.genuine)

    def _beyond(
        self, closer: np.ndarray, model: BetaBinomial | None, known: int, size: int
    ) -> np.ndarray:
        """Return the expected numbers at each rank of a larger gallery, from the model."""
        if model is None:
            return np.full((len(closer), self.ranks), np.nan)
        # A probe with more closer subjects than ranks remains beyond them.
        seen = np.arange(min(self.ranks, closer.shape[1]))
        more = model.more_closer(seen, known - 1, size - known, self.ranks)
        return closer[:, : len(seen)] @ more

    @cached_property
    def closer_model(self) -> BetaBinomial | None:
        """The model of non-mated subjects closer than the mate."""
        return _fit(self.closer.sum(axis=0), self.subjects - 1)

    def accepted(self, size: int) -> np.ndarray:
        """Return the expected number of impostors with a candidate within each threshold.

        The gallery's `size` does not include the impostor's own subject.
        """
        total = np.zeros(len(self.tally.thresholds))
        for kind in self.kinds:
            table, population = self.tally.candidates[kind], self.population[kind]
            if not self._impostors(kind):
                continue
            if size <= population:
                total += table @ (1.0 - none_drawn(population, size, table.shape[1]))
                continue
            for t, counts in enumerate(table):
                total[t] += counts.sum() - counts[0] * self._none(kind, t, size - population)
        return total

    def far_is_exact(self, size: int) -> bool:
        """Whether FAR of a gallery size needs no model."""
        there = filter(self._impostors, self.kinds)
        return all(size <= self.population[kind] for kind in there)

    def _none(self, kind: int, t: int, extra: int) -> float:
        """Return the chance that no additional subject is within a threshold, if none is so far."""
        model = self._far_models[kind][t]
        if model is None:
            if self.tally.candidates[kind, t, 0] == 0:  # all have one within
                return 0.0
            return np.nan
        return model.none_closer(self.population[kind], extra)

    @cached_property
    def _far_models(self) -> dict[int, list[BetaBinomial | None]]:
        models = {}
        for kind in self.kinds:
            tables = self.tally.candidates[kind].astype(np.float64)
            models[kind] = [_fit(counts, self.population[kind]) for counts in tables]
        return models

    def validated(self, known: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the errors of CMS, shape (k,), and FAR (t,) predicted from `known` subjects."""
        limit = min(known, CENSORED)
        marked = np.empty((1, limit))
        everyone = self.closer.sum(axis=0, keepdims=True)
        kernel.drawn_marked(self.subjects - 1, known - 1, everyone, limit, marked)
        missing = max(0.0, self.genuine - float(marked.sum()))
        weights = marked[0]
        if limit < known:
            weights = np.append(weights, missing)
        model = _fit(weights, known - 1)
        predicted = self._beyond(marked, model, known, self.subjects)[0].cumsum()
        exact = self.identified(self.subjects)[-1]
        with np.errstate(invalid="ignore"):
            cms = (predicted - exact) / (self.genuine or np.nan)
        return cms, self._validated_far(known)

    def _validated_far(self, known: int) -> np.ndarray:
        """Return the errors of FAR alone, at each threshold."""
        error = np.zeros(len(self.tally.thresholds))
        for kind in self.kinds:
            table = self.tally.candidates[kind].astype(np.float64)
            population = self.population[kind]
            if not self._impostors(kind) or known >= population:
                continue
            limit = min(known + 1, CENSORED)
            marked = np.empty((len(table), limit))
            kernel.drawn_marked(population, known, table, limit, marked)
            for t, counts in enumerate(marked):
                weights = counts
                if limit <= known:
                    weights = np.append(counts, max(0.0, table[t].sum() - counts.sum()))
                model = _fit(weights, known)
                none = 1.0
                if table[t, 1:].any():
                    none = np.nan
                if model is not None:
                    none = model.none_closer(known, population - known)
                elif not table[t, 0]:
                    none = 0.0
                error[t] += table[t, 0] - counts[0] * none
        with np.errstate(invalid="ignore"):
            return error / (self.impostors or np.nan)


def none_drawn(population: int, drawn: int, count: int) -> np.ndarray:
    """Return the chance that none of 0, 1, ... subjects is drawn: C(M - c, n) / C(M, n)."""
    marked = np.arange(count - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.maximum(population - drawn - marked, 0) / (population - marked)
    return np.concatenate([[1.0], np.cumprod(np.where(marked < population, steps, 0.0))])


def _fit(weights: np.ndarray, trials: int) -> BetaBinomial | None:
    """Fit the model; counts at or above the largest are censored."""
    if trials < 1 or not len(weights):
        return None
    if len(weights) > CENSORED + 1:
        weights = np.append(weights[:CENSORED], weights[CENSORED:].sum())
    else:
        weights = weights[: trials + 1]
    return BetaBinomial.fitted(weights, trials)

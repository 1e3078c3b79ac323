"""Averages over all galleries of fewer subjects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.attempts.counting import Counter
from bioeval.attempts.counts import IdentificationTally
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.protocol.tasks import Search
from bioeval.scores.blocks import Block, BlockReader

# Kinds of impostors: enrolled probes without their own subject, and unenrolled ones.
ENROLLED, UNENROLLED = 0, 1


@dataclass
class SizeTally:
    """Counts for averages over gallery sizes."""

    ranks: IdentificationTally  # ranks among subjects, probe by probe
    thresholds: np.ndarray  # float64 (t,): increasing distances
    #: int64 (2, t, N + 1): impostor probes (enrolled, unenrolled) with 0, 1, ... candidate subjects
    #: within each threshold.
    candidates: np.ndarray


class SizeCounter(Counter[SizeTally]):
    """Counts the ranks among subjects, and the candidates within each threshold."""

    def __init__(self, reader: BlockReader, search: Search, thresholds: np.ndarray):
        """Prepare empty counts of a search whose ranks count subjects."""
        self.reader = reader
        self.ranks = IdentificationCounter(reader, search)
        self.thresholds = thresholds
        subjects = len(reader.gallery.subjects)
        shape = (2, len(thresholds), subjects + 1)
        self.candidates = np.zeros(shape, dtype=np.int64)

    def add(self, block: Block) -> None:
        """Count a block of rows."""
        self.ranks.add(block)
        fused = block.fused(self.ranks.fusion)
        last = len(self.thresholds)  # beyond all thresholds, or no attempt
        place = self.thresholds.searchsorted(fused.impostors().astype(np.float64))
        place += np.arange(len(place))[:, None] * (last + 1)
        within = np.bincount(place.reshape(-1), minlength=len(place) * (last + 1))
        counts = np.cumsum(within.reshape(-1, last + 1)[:, :-1], axis=1)
        rows = slice(block.low, block.low + len(counts))
        usable = self.ranks.facts["others"][rows] > 0
        kind = np.where(block.probe_group >= 0, ENROLLED, UNENROLLED)
        places = np.arange(len(self.thresholds)) * self.candidates.shape[2] + counts
        for k, table in enumerate(self.candidates):
            chosen = places[usable & (kind == k)].ravel()
            table += np.bincount(chosen, minlength=table.size).reshape(table.shape)

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
        identified = drawn_marked(self.subjects - 1, size - 1, self.closer, self.ranks)
        return np.minimum(identified.cumsum(axis=0).cumsum(axis=1), self.genuine)

    def accepted(self, size: int) -> np.ndarray:
        """Return the expected number of impostors with a candidate within each threshold.

        The gallery's `size` does not include the impostor's own subject; NaN of more subjects than
        there are without it.
        """
        total = np.zeros(len(self.tally.thresholds))
        for kind in self.kinds:
            table, population = self.tally.candidates[kind], self.population[kind]
            if not self._impostors(kind):
                continue
            if size > population:
                return np.full(len(total), np.nan)
            total += table @ (1.0 - none_drawn(population, size, table.shape[1]))
        return total


def drawn_marked(population: int, drawn: int, weights: np.ndarray, limit: int) -> np.ndarray:
    """Mix hypergeometric distributions of the number of marked among `drawn` of a population.

    Marked subjects are added one by one: if `j` of the first `r` are drawn, the next one is drawn
    with chance ``(drawn - j) / (population - r)``. All terms are positive. Row ``a``, of `limit`
    numbers, has the mixture by ``weights[a]``, those of 0, 1, ... marked subjects.
    """
    mixture, number = np.zeros((len(weights), limit)), np.arange(limit)
    row = (number == 0).astype(np.float64)
    for r in range(weights.shape[1]):
        mixture += weights[:, r, None] * row
        if population <= r:
            break
        chance = np.clip((drawn - number) / (population - r), 0.0, 1.0)
        taken = np.append(0.0, (row * chance)[:-1])
        row = row * (1.0 - chance) + taken
    return mixture


def none_drawn(population: int, drawn: int, count: int) -> np.ndarray:
    """Return the chance that none of 0, 1, ... subjects is drawn: C(M - c, n) / C(M, n)."""
    marked = np.arange(count - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.maximum(population - drawn - marked, 0) / (population - marked)
    return np.concatenate([[1.0], np.cumprod(np.where(marked < population, steps, 0.0))])

"""Tallies of galleries drawn at random for each probe."""

from __future__ import annotations

import numpy as np

from bioeval.base.random import seed_sequence
from bioeval.kernels import draw as kernel
from bioeval.scores.blocks import Block, BlockReader
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.random_galleries.counts import fewer_mates, grouped
from bioeval.tallies.random_galleries.options import Drawn, require_room

# Facts of each search.
FACTS = ("mate", "closer", "tied", "tied_before", "other")


# Points of a gallery's curves, about.
CURVES = 5_000


class SampledJob:
    """Draws galleries for each probe, and records the facts of each search in them."""

    form = "sampled galleries"

    def __init__(self, reader: BlockReader, drawn: Drawn):
        self.reader, self.drawn = reader, drawn
        shape = (drawn.repeats, reader.scores.shape[0])
        require_room(drawn.repeats, len(FACTS) * shape[1] + CURVES)
        self.facts = {
            name: np.zeros(shape, dtype=float if name in ("mate", "other") else np.int64)
            for name in FACTS
        }
        self.mates = np.zeros(shape[1], dtype=np.int64)
        self.others = np.zeros(shape[1], dtype=np.int64)
        self.fewer_mates = 0
        self.key = seed_sequence(drawn.random_state).generate_state(2, np.uint64)

    def add(self, block: Block) -> None:
        """Draw for the rows of a block."""
        rows = slice(block.low, block.low + len(block.values))
        shape = (self.drawn.repeats, len(block.values))
        found = {name: np.empty(shape, dtype=self.facts[name].dtype) for name in FACTS}
        probes = grouped(block, slice(None))
        self.fewer_mates += fewer_mates(probes, self.reader.enrolled[rows], self.drawn.size)
        facts = kernel.Facts(**found, mates=self.mates[rows], others=self.others[rows])
        kernel.draw_facts(
            probes,
            self.reader.scores.probe_ids[rows],
            self.drawn.size,
            self.key,
            facts,
        )
        for name in FACTS:
            self.facts[name][:, rows] = found[name]

    def result(self) -> list[IdentificationTally]:
        """Return the tally of each gallery."""
        return [self._tally(r) for r in range(self.drawn.repeats)]

    def _tally(self, r: int) -> IdentificationTally:
        facts = {name: self.facts[name][r] for name in FACTS}
        return IdentificationTally(
            about=self.reader.about,
            rank_unit="subject",
            fusion="min",
            enrolled=self.reader.enrolled,
            mates=self.mates,
            mates_tied=self.mates,
            others=self.others,
            nearest_mate=facts["mate"],
            nearest_other=facts["other"],
            **facts,
        )

"""Looks at all impostor scores again, in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bioeval.base.engine import engine
from bioeval.scores.blocks import Block, BlockReader
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.tallies.block_work import InBlocks
from bioeval.tallies.counters import ImpostorBlock
from bioeval.tallies.look import Look
from bioeval.tallies.verification_job import VerificationJob

Looks = Sequence[tuple[VerificationJob, Look]]


@dataclass(frozen=True, eq=False)
class ImpostorSweep:
    """The impostor scores of a job, in as many sweeps as are called for."""

    job: VerificationJob
    reader: BlockReader

    def __call__(self) -> Iterator[ImpostorBlock]:
        """Yield them."""
        return self.job.sweep(self.reader)


def look_at_all(looks: Looks, reader: BlockReader) -> None:
    """Look at all impostor scores of some jobs again, in one sweep."""
    chosen = engine()
    if are_pairs(reader.scores):
        for job, look in looks:
            for impostors in job.sweep(reader):
                look.add(*impostors)
    elif chosen is None or not reader.of_rows:
        for block in reader:
            _add(looks, block)
    else:
        work = LookWork(looks, reader)
        work.include(chosen.count(work, None))


def _add(looks: Looks, block: Block) -> None:
    for job, look in looks:
        for impostors in job.impostors(block):
            look.add(*impostors)


class LookWork(InBlocks):
    """Looks at impostor scores, in blocks of rows that may be looked at in any order."""

    what = "looks"

    def __init__(self, looks: Looks, reader: BlockReader):
        self.looks, self.reader = looks, reader
        starting = [(job, look) for job, look in looks if look.starts_with_any]
        for block in reader.blocks_of(0, reader.scores.shape[0]) if starting else ():
            _add(starting, block)
            starting = [(job, look) for job, look in starting if look.starts_with_any]
            if not starting:
                break

    @property
    def scores(self) -> Scores:
        """The scores."""
        return self.reader.scores

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Look at rows ``low:high``."""
        reader = self.reader.for_rows(low, high)
        looks = [(job, look.fresh()) for job, look in self.looks]
        for block in reader.blocks_of(low, high):
            _add(looks, block)
        return {str(i): look.counts() for i, (_, look) in enumerate(looks)}

    def include(self, found: dict[str, Any]) -> None:
        """Take in what was seen of all rows."""
        for i, (_, look) in enumerate(self.looks):
            look.include_counts(found[str(i)])

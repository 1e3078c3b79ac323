"""Second passes over all impostor scores, in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bioeval.base.engine import engine
from bioeval.scores.blocks import Block, BlockReader
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.tallies.block_work import InBlocks
from bioeval.tallies.counters import ImpostorBlock
from bioeval.tallies.second_pass import SecondPass
from bioeval.tallies.verification_job import VerificationJob

SecondPasses = Sequence[tuple[VerificationJob, SecondPass]]


@dataclass(frozen=True, eq=False)
class ImpostorSweep:
    """The impostor scores of a job, to be swept several times."""

    job: VerificationJob
    reader: BlockReader

    def __call__(self) -> Iterator[ImpostorBlock]:
        """Yield the scores."""
        return self.job.sweep(self.reader)


def take_second_passes(second_passes: SecondPasses, reader: BlockReader) -> None:
    """Read all impostor scores of some jobs again, in one sweep."""
    chosen = engine()
    if are_pairs(reader.scores):
        for job, second_pass in second_passes:
            for impostors in job.sweep(reader):
                second_pass.add(*impostors)
    elif chosen is None or not reader.of_rows:
        # Claims are a line of scores a block, whose sums depend on where blocks end.
        by_row = all(job.claims is None for job, _ in second_passes)
        for block in reader.blocks(None, in_place=by_row):
            _add(second_passes, block)
    else:
        work = SecondPassWork(second_passes, reader)
        work.include(chosen.count(work, None))


def _add(second_passes: SecondPasses, block: Block) -> None:
    for job, second_pass in second_passes:
        for impostors in job.impostors(block):
            second_pass.add(*impostors)


class SecondPassWork(InBlocks):
    """Second passes over impostor scores, in blocks of rows that are read in any order."""

    what = "looks"  # in the names of checkpoint files

    def __init__(self, second_passes: SecondPasses, reader: BlockReader):
        self.second_passes, self.reader = second_passes, reader
        starting = [pair for pair in second_passes if pair[1].starts_with_any]
        for block in reader.blocks_of(0, reader.scores.shape[0]) if starting else ():
            _add(starting, block)
            starting = [pair for pair in starting if pair[1].starts_with_any]
            if not starting:
                break

    @property
    def scores(self) -> Scores:
        """The scores."""
        return self.reader.scores

    def part(self, low: int, high: int) -> dict[str, Any]:
        """Read rows ``low:high``."""
        reader = self.reader.for_rows(low, high)
        second_passes = [(job, second_pass.fresh()) for job, second_pass in self.second_passes]
        for block in reader.blocks_of(low, high):
            _add(second_passes, block)
        return {str(i): second_pass.counts() for i, (_, second_pass) in enumerate(second_passes)}

    def include(self, found: dict[str, Any]) -> None:
        """Include the findings in all rows."""
        for i, (_, second_pass) in enumerate(self.second_passes):
            second_pass.include_counts(found[str(i)])

"""Identification: from blocks of scores to the ranks of each probe's best mate."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.errors import ProtocolError, require_choice
from bioeval.kernels import ranks as kernel
from bioeval.kernels.argument_groups import RankFacts
from bioeval.scores.arrays import parse_fusion
from bioeval.scores.blocks import Block, BlockReader, require_subjects
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.parts import ConcatenatedRows

if TYPE_CHECKING:
    from bioeval.tallies.left_out import LeftOut

RANK_UNITS = ("template", "subject")


def empty_facts(probes: int) -> RankFacts:
    """Return arrays of zeros for the facts of some probes."""
    floats = ("mate", "other")
    return RankFacts(
        *(np.zeros(probes, float if x in floats else np.int64) for x in RankFacts._fields)
    )


def facts_of_rows(facts: RankFacts, rows: slice) -> RankFacts:
    """Return views of the facts of some rows."""
    return RankFacts(*(values[rows] for values in facts))


def joined_facts(facts: RankFacts, low: int, high: int) -> dict[str, ConcatenatedRows]:
    """Return the facts of rows ``low:high``, to be joined with those of the next rows."""
    return {name: ConcatenatedRows.of(values[low:high]) for name, values in facts._asdict().items()}


def include_facts(facts: RankFacts, found: dict[str, ConcatenatedRows]) -> None:
    """Copy the facts of all rows into arrays."""
    for name, values in facts._asdict().items():
        values[:] = found[name].array()


class IdentificationJob:
    """Ranks each probe's best mate: the facts behind open- and closed-set identification.

    `fusion` is without meaning for ranks among templates.
    """

    form = "identification"

    def __init__(
        self,
        scores: Scores,
        reader: BlockReader,
        *,
        rank_unit: str = "template",
        fusion: str = "min",
    ):
        require_choice("rank_unit", rank_unit, RANK_UNITS)
        parse_fusion(fusion)
        if rank_unit == "subject":
            require_subjects(scores, "a rank among subjects")
        elif are_pairs(scores):
            require_subjects(scores, "identification")
        elif not scores.derives_subjects:
            raise ProtocolError(
                "the mask gives no consistent subjects: two templates that genuine cells connect "
                "also meet in an impostor cell. Identification needs labels"
            )
        self.scores, self.reader = scores, reader
        self.rank_unit, self.fusion = rank_unit, fusion
        self.facts = empty_facts(scores.shape[0])
        # Fused by the minimum, a subject is as far as its nearest template; for any other rule
        # the nearest templates are found separately.
        self.template_facts = (
            empty_facts(scores.shape[0])
            if rank_unit == "subject" and fusion != "min"
            else self.facts
        )
        #: What leaving each subject out changes, by tie policy, once intervals have needed it.
        self.left_out: dict[str, LeftOut] = {}

    def fresh(self) -> Self:
        """Return the same job before it has ranked anything."""
        job, apart = copy(self), self.template_facts is not self.facts
        job.facts = empty_facts(self.scores.shape[0])
        job.template_facts = empty_facts(self.scores.shape[0]) if apart else job.facts
        return job

    def counts(self, low: int, high: int) -> dict[str, Any]:
        """Return the facts of rows ``low:high``; see :mod:`bioeval.tallies.parts`."""
        return {name: joined_facts(facts, low, high) for name, facts in self._facts().items()}

    def include_counts(self, found: dict[str, Any]) -> None:
        """Include the facts of all rows."""
        for name, facts in self._facts().items():
            include_facts(facts, found[name])

    def _facts(self) -> dict[str, RankFacts]:
        apart = self.template_facts is not self.facts
        return {"facts": self.facts, **({"template_facts": self.template_facts} if apart else {})}

    def add(self, block: Block) -> None:
        """Rank the best mates of a block of rows."""
        rows = slice(block.low, block.low + len(block.values))
        if self.template_facts is not self.facts:
            _rank(block, facts_of_rows(self.template_facts, rows))
        if self.rank_unit == "subject":
            block = block.fused(self.fusion)
        _rank(block, facts_of_rows(self.facts, rows))

    def result(self) -> IdentificationTally:
        """Return the tally."""
        return IdentificationTally(
            about=self.reader.about,
            rank_unit=self.rank_unit,
            fusion=self.fusion if self.rank_unit == "subject" else "none",
            enrolled=self.reader.enrolled,
            nearest_mate=self.template_facts.mate,
            nearest_other=self.template_facts.other,
            **self.facts._asdict(),
        )


def _rank(block: Block, facts: RankFacts) -> None:
    kernel.rank_facts(
        block.values, block.columns, block.mate_start, block.mate_stop, block.self_position, facts
    )

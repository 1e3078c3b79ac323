"""Identification: from blocks of scores to the ranks of best mates, under the tie policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from bioeval.attempts.counting import Counter
from bioeval.attempts.counts import IdentificationTally
from bioeval.attempts.ranks import facts_of_block
from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, ProtocolError, subject
from bioeval.protocol.tasks import Search
from bioeval.scores.arrays import scored
from bioeval.scores.blocks import Block, BlockReader, require_subjects, require_templates
from bioeval.scores.matrix import are_pairs

if TYPE_CHECKING:
    from bioeval.attempts.left_out import LeftOut

# Ranks up to this many may extend beyond the end of the gallery, so that the curves of several
# galleries have the same length.
MOST_RANKS = 10_000


def check_max_rank(
    max_rank: int | None, gallery: int | None = None, input_name: str = "max_rank"
) -> None:
    """Raise :class:`DataError` unless `max_rank` is None or a number of ranks.

    `gallery` is the number of templates in the gallery, far beyond which there are no ranks;
    `input_name` is the place of a value that comes from a card.
    """
    if max_rank is None:
        return
    require_integer(input_name, max_rank, low=1)
    if gallery is not None and max_rank > max(gallery, MOST_RANKS):
        raise DataError(
            f"{subject(input_name)} is {max_rank}; expected at most {max(gallery, MOST_RANKS)}: "
            f"the gallery has {gallery} templates, and a curve is constant beyond"
        )


RankUnit = Literal["template", "subject"]

_BY_DEFAULT = Search()


class IdentificationCounter(Counter[IdentificationTally]):
    """Ranks each probe's best mate: the facts behind open- and closed-set identification."""

    def __init__(self, reader: BlockReader, search: Search = _BY_DEFAULT):
        """Prepare what a search needs of the scores; nothing is ranked yet."""
        scores = reader.scores
        self.search = search
        self.rank_unit, self.fusion = search.rank_unit, search.fusion
        require_templates(scores, "identification")
        if self.fuses:
            require_subjects(scores, "a rank among subjects")
        elif are_pairs(scores):
            require_subjects(scores, "identification")
        elif not scores._derives_subjects:
            raise ProtocolError(
                "the mask gives no consistent subjects: two templates that genuine cells connect "
                "also meet in an impostor cell. Identification needs labels"
            )
        self.scores, self.reader = scores, reader
        #: The facts of each probe by name. Fused by the minimum, a subject is as far as its nearest
        #: template; for any other rule the nearest templates are found separately.
        self.facts: dict[str, np.ndarray] = {}
        self.template_facts = self.facts if self.of_tiles else {}
        #: What leaving each subject out changes, by tie policy, once intervals have needed it.
        self.left_out: dict[str, LeftOut] = {}

    @property
    def fuses(self) -> bool:
        """Whether the templates of a subject are fused."""
        return self.rank_unit == "subject"

    @property
    def of_tiles(self) -> bool:
        """Whether ranks add up over tiles: a subject is as far as its nearest template."""
        return not self.fuses or self.fusion == "min"

    def add(self, block: Block) -> None:
        """Rank the best mates of a block of rows."""
        rows = slice(block.low, block.low + len(block.values))
        if not self.of_tiles:
            self.take(rows, facts_of_block(block), self.template_facts)
        if self.fuses:
            block = block.fused(self.fusion)
        self.take(rows, facts_of_block(block), self.facts)

    def take(
        self,
        rows: slice | np.ndarray,
        found: dict[str, np.ndarray],
        facts: dict[str, np.ndarray] | None = None,
    ) -> None:
        """Take the facts of some rows."""
        facts = self.facts if facts is None else facts
        for name, values in found.items():
            dtype = float if name in ("mate", "other") else np.int64
            if self.scores.nan == "reject" and name in ("mate", "other"):
                values = scored(values)
            facts.setdefault(name, np.zeros(self.scores.shape[0], dtype))[rows] = values

    def result(self) -> IdentificationTally:
        """Return the tally."""
        return IdentificationTally(
            about=self.reader.about,
            rank_unit=self.rank_unit,
            fusion=self.search.fused,
            enrolled=self.reader.enrolled,
            nearest_mate=self.template_facts["mate"],
            nearest_other=self.template_facts["other"],
            **self.facts,
        )

"""The distances by which a system in use decides claims."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from bioeval.base.memory import require_memory
from bioeval.scores.blocks import Block
from bioeval.scores.distances import with_failures
from bioeval.scores.excluded import left_out_by_protocol
from bioeval.scores.fusion_rules import Templates, order_of
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import blocks_of, threads_for


class ClaimDistances(NamedTuple):
    """Distances of claims, (attempts, claimed), and why some claims are no attempts."""

    distance: np.ndarray  # NaN where the claim is no attempt
    column: np.ndarray  # (claimed,): a column of the scores for each claimed subject or template
    own: np.ndarray  # (tries,): the distance of each try to its own subject; NaN if not compared
    lacks_tries: np.ndarray  # bool (attempts, claimed): whether tries of the claim are missing
    #: bool (attempts, claimed): whether every try has too few templates for the rule of fusion.
    lacks_templates: np.ndarray

    @property
    def is_attempt(self) -> np.ndarray:
        return ~np.isnan(self.distance)


class _TriesOfBlock(NamedTuple):
    """The tries in a block of rows, by the attempts to which they belong."""

    attempts: np.ndarray  # int64 (k,): the attempts that have tries in the block, ascending
    row: np.ndarray  # int64 (h,): rows of the block, with the tries of an attempt side by side
    starts: np.ndarray  # int64 (k,): the place in `row` of each attempt's first try

    @classmethod
    def from_attempts(cls, attempt_of_row: np.ndarray) -> Self:
        row = np.argsort(attempt_of_row, kind="stable")
        attempts, starts = np.unique(attempt_of_row[row], return_index=True)
        return cls(attempts, row, starts)

    def reduced(self, function: np.ufunc, values: np.ndarray) -> np.ndarray:
        """Reduce a row for each try, (h, n), to a row for each attempt, (k, n)."""
        return function.reduceat(values[self.row], self.starts, axis=0)


def claim_distances(
    scores: Scores, attempt_of_try: np.ndarray, templates: Templates, fusion: str
) -> ClaimDistances:
    """Return the distances of claims; a try is a row of the scores."""
    order = scores.gallery_order
    fuses = templates == "multi"
    column = order.columns[0][order.starts[:-1]] if fuses else order.columns[0]
    attempts = int(attempt_of_try.max()) + 1
    require_memory(
        8 * attempts * len(column),
        f"the claims of {attempts:,} attempts at {len(column):,} subjects",
        "select fewer probes",
    )
    has_tries = attempts < len(attempt_of_try)
    may_lack_tries = has_tries and not scores.completeness.nothing_missing
    may_lack_templates = fuses and order_of(fusion) > 1
    distance = np.full((attempts, len(column)), np.nan)  # of the nearest try
    own_distance = np.full(len(attempt_of_try), np.nan)
    # Whether a try is missing, and whether any try is compared with a template of the subject.
    lacks_tries, is_compared = np.zeros((2, *distance.shape), dtype=bool)
    with threads_for(scores):
        for block in blocks_of(scores):
            tries = _TriesOfBlock.from_attempts(attempt_of_try[block.probes])
            attempt = tries.attempts
            values = _in_float64(block.by_person(fusion) if fuses else block)
            distance[attempt] = np.fmin(distance[attempt], tries.reduced(np.fmin, values))
            if has_tries:
                by_subject = values if fuses else _in_float64(block.by_person("best"))
                own_group = order.probe_group[block.probes]
                own = by_subject[np.arange(len(own_group)), own_group]
                own_distance[block.probes] = np.where(own_group >= 0, own, np.nan)
            if may_lack_templates:
                has_score = ~np.isnan(block.by_person("best").values)
                is_compared[attempt] |= tries.reduced(np.logical_or, has_score)
            if may_lack_tries:
                is_missing = _missing_claims(scores, block, templates)
                lacks_tries[attempt] |= tries.reduced(np.logical_or, is_missing)
    lacks_templates = is_compared & np.isnan(distance)
    lacks_tries &= ~np.isnan(distance)
    distance[lacks_tries] = np.nan
    return ClaimDistances(distance, column, own_distance, lacks_tries, lacks_templates)


def _missing_claims(scores: Scores, block: Block, templates: str) -> np.ndarray:
    """Return which claims of tries are missing, bool (tries, claimed).

    A claim is missing if the try was compared with another subject, or template, and should have
    been compared with this one: a claim that the protocol leaves out is not missing.
    """
    is_left_out = left_out_by_protocol(scores, block.probes)[:, block.candidates]
    is_compared = ~np.isnan(block.values) & ~is_left_out
    starts = scores.gallery_order.starts
    if templates == "multi":
        is_compared = np.logical_or.reduceat(is_compared, starts[:-1], axis=1)
        is_left_out = np.logical_and.reduceat(is_left_out, starts[:-1], axis=1)
    return ~is_compared & ~is_left_out & is_compared.any(axis=1)[:, None]


def _in_float64(block: Block) -> np.ndarray:
    """Return a float64 copy of a block's distances, with infinite scores as in a float64 block."""
    values = block.values.astype(np.float64)
    if not block.rejected:
        return values
    failed = block.values == np.inf
    infinite = block.values == np.finfo(block.values.dtype).max
    values[infinite] = np.inf
    return with_failures(values, failed)

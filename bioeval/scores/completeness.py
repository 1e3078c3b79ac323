"""Whether each probe of a matrix was compared with all of the gallery.

A comparison is missing if it is masked, or failed where failures are no attempts
(``nan="exclude"``), unless the protocol leaves the comparison out: a template against itself, a
pair of `exclude`, junk and cameras of a convention. Lists of pairs and top-K lists do not say which
comparisons should be there, and count as complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bioeval.base.messages import Message
from bioeval.scores.arrays import row_spans
from bioeval.scores.excluded import has_rules, left_out_by_protocol
from bioeval.scores.people import columns_of_probes

if TYPE_CHECKING:
    from bioeval.scores.score_data import ScoreData


@dataclass(eq=False)
class Completeness:
    """The numbers of gallery templates that each probe was, and should have been, compared with.

    Attributes
    ----------
    compared, expected : int64 arrays, shape (probes,)
        Both are empty in :data:`COMPLETE`.
    incomplete : int
        Number of probes that were compared with some of the templates, but not with all.
    """

    compared: np.ndarray
    expected: np.ndarray

    def __post_init__(self) -> None:
        partly = (self.compared > 0) & (self.compared < self.expected)
        self.incomplete = int(np.count_nonzero(partly))

    @classmethod
    def from_scores(cls, scores: ScoreData) -> Completeness:
        """Count the comparisons of each probe; read scores only if comparisons may be missing."""
        failures = scores.nan == "exclude" and scores.dtype.kind == "f"
        if scores.layout in ("pairs", "top-k") or not (scores.has_mask or failures):
            return COMPLETE
        probe_count, gallery_count = scores.shape
        missing, left_out = np.zeros((2, probe_count), dtype=np.int64)
        rules = has_rules(scores)
        itself = columns_of_probes(scores)
        for low, high in row_spans(probe_count, gallery_count):
            absent = scores.cells.missing(low, high, scores.nan == "exclude")
            has_itself = np.flatnonzero(itself[low:high] >= 0)
            absent[has_itself, itself[low:high][has_itself]] = False
            if rules and absent.any():
                absent &= ~left_out_by_protocol(scores, np.arange(low, high))
            missing[low:high] = _true_by_row(absent)
        if not missing.any():
            return COMPLETE
        left_out[itself >= 0] = 1
        if rules:
            for low, high in row_spans(probe_count, gallery_count):
                rows = np.arange(low, high)
                left_out[rows] = _true_by_row(left_out_by_protocol(scores, rows))
        return cls(gallery_count - left_out - missing, gallery_count - left_out)

    def of_probes(self, probes: np.ndarray) -> Completeness:
        if self.nothing_missing:
            return self
        return Completeness(self.compared[probes], self.expected[probes])

    @property
    def nothing_missing(self) -> bool:
        """Whether no comparison of any probe is missing."""
        return not len(self.expected)

    @property
    def searches(self) -> int:
        """The number of probes with at least one comparison; 0 in :data:`COMPLETE`."""
        return int(np.count_nonzero(self.compared))

    @property
    def attrs(self) -> dict[str, int]:
        """The numbers of candidates as attributes of a result, if some probes are incomplete.

        They are the fewest and the most templates that a searching probe was compared with, and the
        most templates that a probe should have been compared with.
        """
        searches = self.compared > 0
        return {
            "incomplete_probes": self.incomplete,
            "candidates_least": int(self.compared[searches].min()),
            "candidates_most": int(self.compared[searches].max()),
            "candidates": int(self.expected[searches].max()),
        }

    def messages(self) -> list[Message]:
        if not self.incomplete:
            return []
        attrs = self.attrs
        return [
            Message(
                "candidates-missing",
                probes=attrs["incomplete_probes"],
                searches=self.searches,
                least=attrs["candidates_least"],
                most=attrs["candidates_most"],
                candidates=attrs["candidates"],
            )
        ]


#: The completeness of any number of probes of which no comparison is missing.
COMPLETE = Completeness(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _true_by_row(flags: np.ndarray) -> np.ndarray:
    # Faster than np.count_nonzero over an axis where few are true.
    places = np.flatnonzero(flags.reshape(-1))
    return np.bincount(places // flags.shape[1], minlength=len(flags))

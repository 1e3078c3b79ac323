"""Whether each probe was compared with all of the gallery.

A comparison is missing if it is masked, not listed, or failed where failures are no attempts
(``nan="exclude"``), unless the protocol itself leaves it out: a template against itself, what
`exclude` names, junk and cameras of a convention.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bioeval.base.messages import Message

if TYPE_CHECKING:
    from bioeval.scores.labelled_matrix import LabelledMatrix

# Cells that are looked at together.
_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class Completeness:
    """With how many gallery templates each probe was compared, of those it is to be compared with.

    - `compared`, `wanted` (int64 (m,)): both empty where nothing is missing
    """

    compared: np.ndarray
    wanted: np.ndarray

    @classmethod
    def of(cls, scores: LabelledMatrix) -> Completeness:
        """Count the comparisons of each probe; only where some may be missing is anything read."""
        none = np.zeros(0, dtype=np.int64)
        failures = scores.nan == "exclude" and scores.dtype.kind == "f"
        if scores.layout in ("pairs", "top-k") or not (scores._has_mask or failures):
            return cls(none, none)
        m, n = scores.shape
        missing, left_out = np.zeros((2, m), dtype=np.int64)
        step = max(1, _CELLS // n)
        for low in range(0, m, step):
            absent = scores._missing_rows(low, min(low + step, m))
            rows = np.flatnonzero(absent.any(axis=1))
            if len(rows):
                absent = absent[rows] & ~scores._left_out_by_protocol(low + rows)
                missing[low + rows] = np.count_nonzero(absent, axis=1)
        if not missing.any():
            return cls(none, none)
        for low in range(0, m, step):
            rows = np.arange(low, min(low + step, m))
            left_out[rows] = np.count_nonzero(scores._left_out_by_protocol(rows), axis=1)
        return cls(n - left_out - missing, n - left_out)

    def among(self, probes: np.ndarray) -> Completeness:
        """Return that of some probes, by a boolean choice."""
        if self.nothing_missing:
            return self
        return Completeness(self.compared[probes], self.wanted[probes])

    @property
    def nothing_missing(self) -> bool:
        """Whether all comparisons are there, of all probes."""
        return not len(self.wanted)

    @property
    def incomplete(self) -> int:
        """How many probes were compared with only a part of the gallery, but with some of it."""
        return int(np.count_nonzero((self.compared > 0) & (self.compared < self.wanted)))

    @property
    def searches(self) -> int:
        """How many probes were compared with anything, where some are incomplete."""
        return int(np.count_nonzero(self.compared))

    @property
    def attrs(self) -> dict[str, int]:
        """The numbers of candidates as attributes of a result; none where all are complete.

        They are the fewest and the most templates that a probe which searches was compared with,
        and the most that one should have been.
        """
        if not self.incomplete:
            return {}
        searches = self.compared > 0
        return {
            "incomplete_probes": self.incomplete,
            "candidates_least": int(self.compared[searches].min()),
            "candidates_most": int(self.compared[searches].max()),
            "candidates": int(self.wanted[searches].max()),
        }

    def messages(self) -> list[Message]:
        """Return the message of incomplete lists of candidates, if there are any."""
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

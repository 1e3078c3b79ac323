"""What a comparison is asked for, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.attempts.points import FAR_TARGETS
from bioeval.base.errors import Argument, ProtocolError, enumerated
from bioeval.protocol.tasks import OpenSet
from bioeval.scores.matrix import Scores
from bioeval.stats.options import IntervalMethod
from bioeval.studies.compare.measures import RANKS, ComparedRetrieval, ComparedSystem
from bioeval.studies.compare.wanted import WantedMeasures
from bioeval.tasks.reid.convention import Convention

# Options without effect on re-identification, and their defaults.
_DEFAULTS = {
    "fusion": "min",
    "rank_unit": "template",
    "ties": "pessimistic",
    "impostors": "auto",
}


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """How systems are compared."""

    wanted: WantedMeasures
    search: OpenSet
    interval: IntervalMethod
    gallery: str
    adjust: str
    #: The convention of re-identification, in place of verification and identification.
    rules: Convention | None
    protocol: Any
    #: Whether a system that cannot be read or compared is left out, with a message.
    leave_out: bool = False

    @property
    def for_each_person(self) -> IntervalMethod:
        """The options of the interval with weights for the data without each person."""
        return replace(self.interval, method="subject-bootstrap-bca")

    def count(self, scores: Scores) -> ComparedSystem:
        """Count the attempts of a system for verification and identification."""
        return ComparedSystem(scores, self.search, self.wanted)

    def count_queries(self, scores: Scores) -> ComparedRetrieval:
        """Count the queries of a system under the convention."""
        assert self.rules is not None
        ranks = {int(x) for x in self.wanted.numbers("cmc")}
        return ComparedRetrieval(scores, self.rules, self.gallery, tuple(sorted(ranks or RANKS)))


def refuse_unused(
    options: Sequence[str], targets: np.ndarray, at_frr: np.ndarray, convention: str
) -> None:
    """Raise :class:`ProtocolError` for options without effect on re-identification."""
    unused = []
    for (name, default), value in zip(_DEFAULTS.items(), options, strict=True):
        if value != default:
            unused.append(name)
    if not np.array_equal(targets, FAR_TARGETS):
        unused.append("far_targets")
    if len(at_frr):
        unused.append("frr_targets")
    if unused:
        raise ProtocolError(
            enumerated(map(Argument, unused), "and"),
            f" have no effect in a comparison of re-identification ({convention}); leave that out, "
            "or change the card",
        )

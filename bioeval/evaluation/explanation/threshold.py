"""The threshold of an explained row, and the entries of a list beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bioeval.base.kinds import larger_is_closer
from bioeval.evaluation.explanation.candidates import Candidate, ordered, tied_columns
from bioeval.evaluation.explanation.cells import Cell, RowCells
from bioeval.results.counters import Count
from bioeval.results.explanation import GENUINE, IMPOSTOR, LEFT_OUT, Entry
from bioeval.scores.template_fusion import parse_fusion

#: Most templates of a subject whose scores are listed beside its fused score.
MOST_LISTED = 3


@dataclass(frozen=True)
class RowThreshold:
    """A threshold as a distance (None without one), and the rule of acceptance in words."""

    distance: float | None
    kind: str

    def accepts(self, distance: float) -> bool | None:
        """Return whether a distance is accepted; None without a threshold. NaN rejects all."""
        return None if self.distance is None else distance <= self.distance

    @property
    def sign(self) -> int:
        """Factor that turns a distance into a score."""
        return -1 if larger_is_closer(self.kind) else 1


@dataclass(frozen=True)
class Lister:
    """Makes entries of the candidates of a row."""

    row: RowCells
    threshold: RowThreshold
    unit: str
    fusion: str

    def entries(self, candidates: Sequence[Candidate], ties: str) -> list[Entry]:
        """Return the list of candidates, followed by those that are left out."""
        tied = tied_columns(candidates)
        found = []
        for place, candidate in enumerate(ordered(candidates, ties), start=1):
            assert candidate.distance is not None
            entry = self._entry(candidate)
            found.append(
                replace(
                    entry,
                    place=place,
                    accepted=self.threshold.accepts(candidate.distance),
                    tied=candidate.column in tied,
                )
            )
        return found + [self._entry(c) for c in candidates if c.distance is None]

    def _entry(self, candidate: Candidate) -> Entry:
        """Return a candidate as an entry without a place."""
        usable = candidate.distance is not None
        score = candidate.cells[0].score
        reason = candidate.why
        if self.unit == "subject":
            score = None
            if candidate.distance is not None:
                score = self.threshold.sign * candidate.distance + 0.0
                reason = reason or self._fused(candidate)
        role = GENUINE if candidate.own else IMPOSTOR
        return Entry(
            place=None,
            column=candidate.decides,
            template=self.row.names[candidate.decides],
            subject=self.row.subjects[candidate.decides],
            score=score,
            role=role if usable else LEFT_OUT,
            reason=reason,
        )

    def _fused(self, candidate: Candidate) -> str:
        """Return the templates of which a fused score is made."""
        used = [cell for cell in candidate.cells if cell.distance is not None]
        if len(used) < 2:
            return ""
        method, k = parse_fusion(self.fusion)
        words = {"min": "nearest", "max": "farthest", "kth": f"number {k} by nearness"}
        which = words.get(method, method)
        if len(used) > MOST_LISTED:
            return f"{which} of {len(used)} templates"
        return f"{which} of " + ", ".join(f"{self.row.names[c.column]}: {_short(c)}" for c in used)


def _short(cell: Cell) -> str:
    return "NaN" if cell.score is None or cell.score != cell.score else f"{cell.score:.6g}"


def adding(
    entry: Entry, accepted: tuple[Count, ...], rejected: tuple[Count, ...], reason: str = ""
) -> Entry:
    """Return an entry that adds to some counters, with a reason put before its own."""
    return replace(
        entry,
        if_accepted=accepted,
        if_rejected=rejected,
        reason="; ".join(filter(None, (reason, entry.reason))),
    )

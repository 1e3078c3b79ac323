"""The ordered list of a probe: templates, or subjects by their fused score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bioeval.evaluation.explanation.cells import Cell
from bioeval.scores.template_fusion import parse_fusion
from bioeval.tallies.tie_policies import place_weights


@dataclass(frozen=True)
class Candidate:
    """An entry of a list: a template, or a subject with its templates.

    `column` is the template that ties of stable order go by, and `decides` the one that is shown;
    `distance` is None where it is not an attempt.
    """

    column: int
    decides: int
    group: int
    own: bool
    distance: float | None
    why: str = ""
    cells: tuple[Cell, ...] = ()


def templates(cells: Sequence[Cell]) -> list[Candidate]:
    """Return each template as a candidate."""
    return [Candidate(c.column, c.column, c.group, c.own, c.distance, c.why, (c,)) for c in cells]


def subjects(cells: Sequence[Cell], fusion: str) -> list[Candidate]:
    """Return each subject as a candidate, by the fused score of its usable templates."""
    groups: dict[int, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.group, []).append(cell)
    return [_subject(group, fusion) for group in groups.values()]


def _subject(cells: list[Cell], fusion: str) -> Candidate:
    usable = [cell for cell in cells if cell.distance is not None]
    first = cells[0]
    if not usable:
        reasons = "; ".join(dict.fromkeys(cell.why for cell in cells))
        return Candidate(
            first.column, first.column, first.group, first.own, None,
            f"no template of the subject is left ({reasons})", tuple(cells),
        )  # fmt: skip
    ordered = sorted(usable, key=lambda cell: (cell.distance, cell.column))
    nearest = ordered[0]
    distance = fused([cell.distance for cell in usable if cell.distance is not None], fusion)
    why, decides = "", nearest
    if distance is None:
        why = f"fewer than {parse_fusion(fusion)[1]} usable templates, for fusion {fusion}"
    elif nearest.distance != distance:
        decides = next((cell for cell in ordered if cell.distance == distance), nearest)
    return Candidate(
        nearest.column, decides.column, first.group, first.own, distance, why, tuple(cells)
    )


def fused(distances: Sequence[float], fusion: str) -> float | None:
    """Return the fused distance of a subject's templates, in the order of the gallery.

    None for the k-th smallest of fewer; with infinities of both signs, where a mean is undefined,
    infinity, which rejects at every threshold.

    Examples
    --------
    >>> fused([0.5, 0.25], "min"), fused([0.5, 0.25], "mean"), fused([0.5], "kth:2")
    (0.25, 0.375, None)
    """
    method, k = parse_fusion(fusion)
    if method == "min":
        return min(distances)
    if method == "max":
        return max(distances)
    if method == "kth":
        return sorted(distances)[k - 1] if len(distances) >= k else None
    if method == "median":
        inner = sorted(distances)[(len(distances) - 1) // 2 : len(distances) // 2 + 1]
        middle = inner[0] if inner[0] == inner[-1] else 0.5 * inner[0] + 0.5 * inner[-1]
    else:
        middle = 0.0
        for distance in distances:  # one by one: sum() compensates rounding, the counts do not
            middle += distance
        middle /= len(distances)
    return math.inf if math.isnan(middle) else middle


def ordered(candidates: Sequence[Candidate], ties: str) -> list[Candidate]:
    """Return the usable candidates in the order of the list.

    Of equally close ones, those of other subjects are first under pessimistic ties, the probe's own
    under optimistic ties; otherwise, and within, the order is that of the columns.
    """
    sign = {"pessimistic": 1, "optimistic": -1}.get(ties, 0)

    def key(candidate: Candidate) -> tuple[float, int, int]:
        assert candidate.distance is not None
        return candidate.distance, sign * candidate.own, candidate.column

    return sorted((c for c in candidates if c.distance is not None), key=key)


def places(facts: Sequence[int], ties: str) -> list[tuple[int, float]]:
    """Return the possible ranks of a best mate with their weights.

    `facts` are: others closer, others exactly as close, those of them in earlier columns, and mates
    exactly as close, itself among them.
    """
    closer, tied, before, mates = (np.array([x], dtype=np.int64) for x in facts)
    _, ranks, weights = place_weights(closer, tied, before, mates, ties)
    return list(zip(ranks.tolist(), weights.tolist(), strict=True))


def tied_columns(candidates: Sequence[Candidate]) -> set[int]:
    """Return the columns of candidates tied with one of the other role."""
    usable = [(c.distance, c) for c in candidates if c.distance is not None]
    own = {distance for distance, c in usable if c.own}
    others = {distance for distance, c in usable if not c.own}
    return {c.column for distance, c in usable if distance in (own & others)}

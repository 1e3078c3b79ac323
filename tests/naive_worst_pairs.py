"""The slow twin of the worst pairs, written from the definition alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import naive


class Pair(NamedTuple):
    """A listed pair."""

    comparison: str
    row: int
    column: int
    score: float
    label_error: bool


def worst_pairs(n: int, **given: Any) -> list[Pair]:
    """List the nearest impostor pairs and the farthest genuine pairs; `given` as in `naive`."""
    data = naive.read(**given)
    assert data.probe_labels is not None
    mirrored = data.all_against_all
    found = []
    for comparison in ("impostor", "genuine"):
        sign = 1 if comparison == "impostor" else -1
        every = [(i, naive.candidates(data, i, "template", "min")) for i in range(len(data.rows))]
        cells = [(i, c) for i, row in every for c in row]
        cells = [(i, c) for i, c in cells if c.mate == (comparison == "genuine")]
        cells.sort(key=lambda x: (sign * x[1].distance, x[0], x[1].column))
        listed: list[frozenset[int]] = []
        for i, cell in cells:
            both = frozenset((i, cell.column))
            if len(listed) == n or (mirrored and both in listed):
                continue
            listed.append(both)
            error = comparison == "impostor" and mutually_nearer(
                data, data.probe_labels[i], cell.subject
            )
            score = float(data.user(cell.distance))
            found.append(Pair(comparison, i, cell.column, score, error))
    return found


def mutually_nearer(data: naive.Data, a: Any, b: Any) -> bool:
    """Say whether two subjects are nearer to each other than to themselves, by every score."""
    within: dict[Any, list[Any]] = {a: [], b: []}
    across = []
    for label, row in zip(data.probe_labels or (), data.rows, strict=True):
        for cell in row:
            if label in (a, b) and cell.subject in (a, b):
                (within[label] if cell.mate else across).append(cell.distance)
    if not (within[a] and within[b]):
        return False
    return all(x < y for x in across for y in within[a] + within[b])

"""A naive implementation of the worst pairs, written from the definition alone."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import naive


class Pair(NamedTuple):
    """A listed pair."""

    comparison: str
    row: int
    column: int
    score: float


def worst_pairs(n: int, **given: Any) -> list[Pair]:
    """List the nearest impostor pairs and the farthest genuine pairs; `given` as in `naive`."""
    data = naive.read(**given)
    assert data.probe_labels is not None
    mirrored = data.all_against_all
    pairs = []
    for comparison in ("impostor", "genuine"):
        sign = 1 if comparison == "impostor" else -1
        candidates_of = [
            (i, naive.candidates(data, i, "template", "best")) for i in range(len(data.rows))
        ]
        cells = [(i, c) for i, row in candidates_of for c in row]
        cells = [
            (i, c)
            for i, c in cells
            if c.mate == (comparison == "genuine") and c.distance is not naive.FAILED
        ]
        cells.sort(key=lambda x: (sign * x[1].distance, x[0], x[1].column))
        listed: list[frozenset[int]] = []
        for i, cell in cells:
            pair = frozenset((i, cell.column))
            if len(listed) == n or (mirrored and pair in listed):
                continue
            listed.append(pair)
            score = float(data.user(cell.distance))
            pairs.append(Pair(comparison, i, cell.column, score))
    return pairs


def deciding_try(
    distances: Any,
    subjects: Sequence[Any],
    visits: Sequence[Any],
    claim: tuple[Any, Any, Any],
    enrolled: dict[Any, list[int]] | None,
) -> tuple[int, float]:
    """Return the row of the try that decides a claim (of equal tries the first), and its distance.

    A claim is the subject and visit of the tries, and the claimed subject. `enrolled` has the
    templates of each subject, which are no tries; if it is None, all templates are enrolled, and a
    visit is not compared with itself.
    """
    subject, visit, claimed = claim
    all_rows = range(len(subjects))
    tries = {i for i in all_rows if subjects[i] == subject and visits[i] == visit}
    if enrolled is None:
        templates = [j for j in all_rows if subjects[j] == claimed and j not in tries]
    else:
        templates = enrolled[claimed]
        tries -= {j for of_subject in enrolled.values() for j in of_subject}
    nearest = {i: min(distances[i][j] for j in templates) for i in tries}
    decisive = min(nearest.values())
    return min(i for i in tries if nearest[i] == decisive), decisive

"""The attempts of a list that names the templates of both sides, by plain loops over its lines.

Nothing here imports ``bioeval``. A pair of templates has one class. The same ordered pair counts
once, and twice with another score is an error; a-b and b-a are two attempts, or one where the list
is unordered, that with the first name first; a template compared with itself is not an attempt.
"""

import math
import re
from collections.abc import Sequence
from typing import Any


def same_score(a: float, b: float, within: float = 0.0) -> bool:
    """Whether two scores are equal, or within a distance; NaN is equal to NaN."""
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= within


def natural(name: Any) -> list[tuple[int, str]]:
    """Return a sort key of names in natural order: numbers as numbers, before other text."""
    parts = re.findall(r"\d+|\D+", str(name))
    return [(int(x), "") if x.isdigit() else (10**9, x) for x in parts]


def attempts(
    templates: Sequence[tuple[Any, Any]],
    scores: Sequence[float],
    genuine: Sequence[bool],
    keep: Sequence[str] = (),
    unordered: bool = False,
) -> list[int] | str:
    """Return the lines that are attempts, or the word of the error."""
    lines = range(len(scores))
    for i in lines:
        for j in range(i):
            if {*templates[i]} == {*templates[j]} and genuine[i] != genuine[j]:
                return "both genuine and impostor"
    again = set()
    for i in lines:
        for j in range(i):
            if "repeated" not in keep and templates[i] == templates[j]:
                again.add(i)
                if not same_score(scores[i], scores[j]):
                    return "different scores"
    if unordered:
        largest = max((abs(x) for x in scores if math.isfinite(x)), default=0.0)
        for i in lines:
            for j in range(i):
                turned = tuple(reversed(templates[i]))
                if i not in again and j not in again and turned == templates[j] != templates[i]:
                    if not same_score(scores[i], scores[j], 1e-5 * largest):
                        return "different scores"
                    first, second = map(natural, templates[i])
                    again.add(j if first < second else i)
    left = [i for i in lines if i not in again]
    if any(templates[i][0] == templates[i][1] and not genuine[i] for i in left):
        return "with itself"
    return [i for i in left if "self" in keep or templates[i][0] != templates[i][1]]


def in_both_orders(templates: Sequence[tuple[Any, Any]]) -> tuple[int, int]:
    """Return the pairs of two templates that are listed in both orders, and all pairs."""
    listed = {*templates}
    pairs = {frozenset(pair) for pair in listed if pair[0] != pair[1]}
    both_orders = {
        frozenset(pair) for pair in listed if pair[0] != pair[1] and pair[::-1] in listed
    }
    return len(both_orders), len(pairs)

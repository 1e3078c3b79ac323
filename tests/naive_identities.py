"""Slow twins of means by identity: the attempts of each identity are listed, and averaged in turn.

Arguments are those of ``naive`` and ``naive_reid``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import naive
import naive_reid


def mean_by_identity(attempts: Iterable[tuple[Any, Any]]) -> Any:
    """Average the values of pairs of an identity and a value; NaN without a pair."""
    values_of: dict[Any, list[Any]] = {}
    for identity, value in attempts:
        values_of.setdefault(identity, []).append(value)
    if not values_of:
        return math.nan
    each = [sum(values, Fraction(0)) / len(values) for values in values_of.values()]
    return sum(each, Fraction(0)) / len(each)


def identities(attempts: Iterable[tuple[Any, Any]]) -> int:
    """Return the number of identities of some attempts."""
    return len({identity for identity, _ in attempts})


def searches(
    *, unit: str = "template", fusion: str = "min", ties: str = "pessimistic",
    impostors: str = "auto", nobody: Sequence[Any] = (), **case: Any,
) -> tuple[list[tuple[Any, naive.Ranked]], list[tuple[Any, naive.Ranked]]]:  # fmt: skip
    """Return the genuine and the impostor attempts, each with its identity."""
    data = naive.read(**case)
    probes = list(zip(data.probe_labels, naive.ranked(data, unit, fusion, ties), strict=True))
    if impostors == "auto":
        some = any(not r.enrolled for _, r in probes)
        impostors = "unenrolled" if some else "leave-subject-out"
    genuine, impostor = [], []
    for identity, r in probes:
        if identity in nobody:
            continue
        if r.rank is not None:
            genuine.append((identity, r))
        plays = impostors == "both" or r.enrolled == (impostors == "leave-subject-out")
        if r.nearest_other is not None and (plays or data.all_against_all):
            impostor.append((identity, r))
    return genuine, impostor


def open_set(threshold: Any, sign: int = 1, **case: Any) -> tuple[Any, Any, float]:
    """Return DIR at rank 1, GRR and their geometric mean, by identity, at a user's threshold."""
    t = sign * naive.number(threshold)
    genuine, impostor = searches(**case)
    found = [(who, naive.within(r.rank, 1) * (r.best_mate <= t)) for who, r in genuine]
    rejected = [(who, int(r.nearest_other > t)) for who, r in impostor]
    detected, refused = mean_by_identity(found), mean_by_identity(rejected)
    return detected, refused, math.sqrt(detected * refused)


def cms(k: int, **case: Any) -> Any:
    """Return CMS at a rank by identity."""
    genuine, _ = searches(**case)
    return mean_by_identity((who, naive.within(r.rank, k)) for who, r in genuine)


def cmc(
    k: int, case: dict[str, Any], cameras: Any, *, removed: str, counts: str, ties: str,
    unmatched: str,
) -> Any:  # fmt: skip
    """Return the CMC at a rank by identity."""
    attempts = []
    labels = naive.read(**case).probe_labels
    for who, q in zip(labels, naive_reid.queries(case, cameras, removed), strict=True):
        if q.matches:
            at = naive_reid.counted(q, counts, ties)
            attempts.append((who, sum((w for r, w in at.items() if r <= k), Fraction(0))))
        elif unmatched == "zero":
            attempts.append((who, Fraction(0)))
    return mean_by_identity(attempts)


def of_predictions(
    truth: Sequence[Any], predicted: Sequence[Any], known: set[Any], new: Any
) -> tuple[float, float]:
    """Return BAKS and BAUS as AnimalCLEF 2025 scores predictions of the identity of each image.

    A predicted identity is right if it is that of a known animal; `new` is, of an unknown one.
    """
    of_known: dict[Any, list[bool]] = {}
    of_unknown: dict[Any, list[bool]] = {}
    for right, said in zip(truth, predicted, strict=True):
        if right in known:
            of_known.setdefault(right, []).append(said == right)
        else:
            of_unknown.setdefault(right, []).append(said == new)
    accuracy = []
    for group in (of_known, of_unknown):
        total = 0.0
        for answers in group.values():
            total += sum(answers) / len(answers)
        accuracy.append(total / len(group) if group else math.nan)
    return accuracy[0], accuracy[1]

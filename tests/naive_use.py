"""Slow twins of claims in use: tries of an attempt and choices of enrolled templates, by loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import numpy as np


class Claim(NamedTuple):
    """A claim: who makes it, as whom, and its score for each equally likely choice."""

    person: object
    claimed: object
    scores: list[float]


def fused(scores: Sequence[float], fusion: str) -> float:
    """The fused score of what is left of some templates; NaN where nothing is."""
    left = sorted(x for x in scores if not math.isnan(x))
    if fusion.startswith("kth:"):
        order = int(fusion[4:])
        return left[order - 1] if len(left) >= order else math.nan
    if not left:
        return math.nan
    rules = {"min": min, "max": max, "mean": lambda x: math.fsum(x) / len(x), "median": median}
    return float(rules[fusion](left))


def claims(
    values: np.ndarray,
    probes: Sequence,
    gallery: Sequence,
    *,
    visits: Sequence | None = None,
    square: bool = False,
    enrol: int = 0,
    fusion: str = "min",
) -> list[Claim]:
    """All claims: of each attempt at each subject, with every choice of its usable templates."""
    m = len(probes)
    visit_of = list(range(m)) if visits is None else list(visits)
    attempts: dict[tuple, list[int]] = {}
    for i in range(m):
        attempts.setdefault((probes[i], visit_of[i]), []).append(i)
    listed = []
    for (person, _), tries in attempts.items():
        for claimed in sorted(set(gallery), key=str):
            usable = []
            for j in range(len(gallery)):
                if gallery[j] != claimed:
                    continue
                own = square and (j in tries)
                if square and visits is not None and claimed == person:
                    own = own or visit_of[j] == visit_of[tries[0]]
                if not own and any(not math.isnan(values[i][j]) for i in tries):
                    usable.append(j)
            size = min(enrol or len(usable), len(usable))
            scores = []
            for choice in itertools.combinations(usable, size):
                each = [fused([values[i][j] for j in choice], fusion) for i in tries]
                score = fused(each, "min")
                if not math.isnan(score):
                    scores.append(score)
            if usable and scores:
                listed.append(Claim(person, claimed, scores))
    return listed


def accepted(claim: Claim, threshold: float) -> float:
    """Proportion of the choices with which a claim is accepted."""
    return sum(x <= threshold for x in claim.scores) / len(claim.scores)


def rates(listed: Sequence[Claim], threshold: float) -> tuple[float, float]:
    """FAR and FRR, each over the claims of its own class."""
    genuine = [accepted(x, threshold) for x in listed if x.person == x.claimed]
    impostor = [accepted(x, threshold) for x in listed if x.person != x.claimed]
    return math.fsum(impostor) / len(impostor), 1 - math.fsum(genuine) / len(genuine)


def points(listed: Sequence[Claim]) -> list[float]:
    """The thresholds of all points: reject-all, then each distinct score."""
    return [-math.inf, *sorted({x for claim in listed for x in claim.scores})]


def shares(listed: Sequence[Claim], threshold: float) -> dict[frozenset, float]:
    """Proportion accepted of the claims of each pair of people, both directions together."""
    of_pair: dict[frozenset, list[float]] = {}
    for claim in listed:
        if claim.person != claim.claimed:
            pair = frozenset([claim.person, claim.claimed])
            of_pair.setdefault(pair, []).append(accepted(claim, threshold))
    return {pair: math.fsum(x) / len(x) for pair, x in of_pair.items()}


def own_frr(listed: Sequence[Claim], threshold: float) -> dict:
    """FRR of each person's own claims."""
    own: dict[object, list[float]] = {}
    for claim in listed:
        if claim.person == claim.claimed:
            own.setdefault(claim.person, []).append(1 - accepted(claim, threshold))
    return {person: math.fsum(x) / len(x) for person, x in own.items()}

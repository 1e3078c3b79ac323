"""Checks of scores as a whole: their kind, and how many share a value."""

from __future__ import annotations

import numpy as np

from bioeval.base.kinds import PLURALS
from bioeval.evaluation.verification import verification
from bioeval.results.findings import Finding
from bioeval.results.support import judge_kind
from bioeval.scores.lattice import lattice_step
from bioeval.scores.matrix import Scores

# The most scores of a class by which the kind is judged.
_MOST_JUDGED = 200_000

# Ties are noted beyond this proportion of the scores; so few distinct scores are coarse.
_TIED, _COARSE = 0.05, 100

#: As many distinct scores in equal steps are the nature of whole numbers and of codes.
LEAST_LATTICE = 16


def kind_finding(
    scores: Scores, genuine: np.ndarray, impostor: np.ndarray, diagonal: int
) -> Finding:
    """Whether the scores are of the kind that is said."""
    if not len(genuine) or not len(impostor):
        message = f"{PLURALS[scores.kind]}; not checked without both classes"
        return Finding("kind", "ok", message)
    genuine, impostor = (x[:: max(1, len(x) // _MOST_JUDGED)] for x in (genuine, impostor))
    both = np.concatenate([genuine, impostor])
    flags = np.arange(len(both)) < len(genuine)
    eer = float(verification(Scores.from_pairs(both, flags), auc=False, far_targets=()).eer)
    people = min(len(genuine), len(scores.subjects) or len(genuine))
    severity, message, remedy = judge_kind(eer, scores.kind, people, diagonal=diagonal)
    count = len(both) if eer > 0.5 else 0
    return Finding("kind", severity, message, count, "", remedy)


def ties_finding(sample: np.ndarray) -> Finding:
    """Scores that several comparisons share."""
    values, counts = np.unique(sample, return_counts=True)
    if len(values) < 2:
        return Finding("ties", "ok", "too few scores to look for ties")
    tied = float(counts[counts > 1].sum() / counts.sum())
    message = f"{100 * tied:.3g} % of {len(sample):,} scores share their value with another"
    if tied <= _TIED:
        return Finding("ties", "ok", message)
    top = int(np.argmax(counts))
    where = f"{values[top]:.6g} is {100 * counts[top] / counts.sum():.3g} % of them"
    message += f", {len(values):,} distinct scores"
    remedy = "ties change ranks and thresholds: say how by `ties` (pessimistic unless you do)"
    if step := lattice_step(values, LEAST_LATTICE):
        message += f" in steps of {step:.6g}"
    elif values[0] >= 0 and lattice_step(values, LEAST_LATTICE, 2):
        message += ", square roots of equal steps"
    elif len(values) < min(_COARSE, len(sample) // 4):
        remedy = "quantised scores have few thresholds; give them with more digits. " + remedy
        return Finding("ties", "warning", message, int(counts[counts > 1].sum()), where, remedy)
    return Finding("ties", "note", message, int(counts[counts > 1].sum()), where, remedy)

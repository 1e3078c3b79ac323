"""Checks of scores as a whole: their kind, and how many share a value."""

from __future__ import annotations

import math

import numpy as np

from bioeval.base.kinds import PLURALS, larger_is_closer
from bioeval.evaluation.verification import verification
from bioeval.results.findings import Finding
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
    kinds = PLURALS[scores.kind]
    other = "distance" if larger_is_closer(scores.kind) else "similarity"
    if not len(genuine) or not len(impostor):
        return Finding("kind", "ok", f"{kinds}; not checked without both classes")
    genuine, impostor = (x[:: max(1, len(x) // _MOST_JUDGED)] for x in (genuine, impostor))
    both = np.concatenate([genuine, impostor])
    flags = np.arange(len(both)) < len(genuine)
    eer = float(verification(Scores.from_pairs(both, flags), auc=False, far_targets=()).eer)
    people = max(2, min(len(genuine), len(scores.subjects) or len(genuine)))
    margin = 1.0 / math.sqrt(people)  # two standard errors of a rate of one half
    message = f"{kinds}; EER about {100 * eer:.3g} %"
    if eer <= 0.5:
        weak = eer > 0.5 - margin / 2
        return Finding(
            "kind", "warning" if weak else "ok", message + (", near chance" if weak else ""), 0, "",
            "check labels and kind: the scores hardly tell people apart" if weak else "",
        )  # fmt: skip
    swap = f'`kind="{other}"` reads them the other way round'
    if diagonal > 0:
        return Finding(
            "kind", "error" if eer > 0.5 + margin else "warning",
            f"{message}: worse than chance, yet each template is nearest to itself", len(both), "",
            "the kind seems right and the labels wrong: check their order",
        )  # fmt: skip
    if eer > 0.5 + margin or (diagonal < 0 and eer > 0.5):
        proof = ", and each template is farthest from itself" if diagonal < 0 else ""
        return Finding(
            "kind", "error", f"{message}: worse than chance{proof}", len(both), "",
            f"{scores.kind} is likely the wrong kind: {swap}",
        )  # fmt: skip
    return Finding(
        "kind", "warning", f"{message}: no better than chance", len(both), "",
        f"check the labels, and the kind: {swap}",
    )  # fmt: skip


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

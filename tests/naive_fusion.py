"""Naive fusion of systems and score normalisation, from the definitions.

As in ``naive.py`` nothing here imports ``bioeval``. Scores are plain Python floats, larger is
closer, unless a function says otherwise.
"""

import math
import statistics
from collections.abc import Sequence


def mean_sd(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (``ddof = 0``) of finite values."""
    finite = [x for x in values if math.isfinite(x)]
    mean = math.fsum(finite) / len(finite)
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in finite) / len(finite))


def scaled(x: float, how: str, train: Sequence[float]) -> float:
    """One score (a similarity) on the common scale of several systems."""
    finite = [v for v in train if math.isfinite(v)]
    if how == "none":
        return x
    if how == "min-max":
        return (x - min(finite)) / (max(finite) - min(finite))
    mean, sd = mean_sd(finite)
    return (x - mean) / sd if how == "z" else 0.5 * (math.tanh(0.01 * (x - mean) / sd) + 1)


def fused(scores: Sequence[float], method: str | int, weights: Sequence[float] = ()) -> float:
    """One fused score."""
    if method == "product":
        return math.prod(min(1.0, max(0.0, x)) for x in scores)
    if method == "weighted":
        return sum(w * x for w, x in zip(weights, scores, strict=True))
    if method == "mean":
        return sum(scores) / len(scores)
    if method == "median":
        return statistics.median(scores)
    if isinstance(method, int):
        return sorted(scores)[method]
    return {"min": min, "max": max}[method](scores)


def rule_of_values(method: str, kind: str) -> str | int:
    """The rule that takes the same score, whatever the kind: min, max, or a place from below."""
    larger_is_closer = kind != "distance"
    if method in ("best", "worst"):
        return "max" if (method == "best") == larger_is_closer else "min"
    if method.startswith("kth:"):
        k = int(method[4:])
        return -k if larger_is_closer else k - 1
    return method


def normalised(
    score: float, gallery: tuple[float, float] | None, probe: tuple[float, float] | None
) -> float:
    """The mean of a score as normalised by each side's mean and standard deviation."""
    scaled_scores = [(score - mean) / sd for mean, sd in filter(None, (gallery, probe))]
    return sum(scaled_scores) / len(scaled_scores)

"""Naive calibration, fusion of systems and score normalisation, from the definitions.

As in ``naive.py`` nothing here imports ``bioeval``. Scores are plain Python floats, larger is
closer, unless a function says otherwise.
"""

import math
import statistics
from collections.abc import Sequence

INF = math.inf


def softplus(x: float) -> float:
    """``log(1 + e^x)``."""
    return x if x > 700 else math.log1p(math.exp(x))


def log_ratio(p: float) -> float:
    """``logit``, with infinite ends."""
    return -INF if p == 0 else INF if p == 1 else math.log(p / (1 - p))


def cllr(genuine: Sequence[float], impostor: Sequence[float]) -> float:
    """Cost of log-likelihood ratios, in bits."""
    genuine_cost = sum(softplus(-x) for x in genuine) / len(genuine)
    i = sum(softplus(x) for x in impostor) / len(impostor)
    return (genuine_cost + i) / 2 / math.log(2)


def cross_entropy(genuine: Sequence[float], impostor: Sequence[float], log_odds: float) -> float:
    """Empirical cross-entropy at prior log odds, in bits."""
    prior = 1 / (1 + math.exp(-log_odds))
    genuine_cost = sum(softplus(-x - log_odds) for x in genuine) / len(genuine)
    i = sum(softplus(x + log_odds) for x in impostor) / len(impostor)
    return (prior * genuine_cost + (1 - prior) * i) / math.log(2)


def pav(genuine: Sequence[float], impostor: Sequence[float]) -> dict[float, float]:
    """Posterior of each score: pool adjacent violators, equal scores together."""
    scores = sorted({*genuine, *impostor})
    blocks = [[[s], list(genuine).count(s), list(impostor).count(s)] for s in scores]

    def posterior(block: list) -> float:
        return block[1] / (block[1] + block[2])

    k = 0
    while k + 1 < len(blocks):
        if posterior(blocks[k]) >= posterior(blocks[k + 1]):
            members, genuine_number, i = blocks.pop(k + 1)
            blocks[k] = [blocks[k][0] + members, blocks[k][1] + genuine_number, blocks[k][2] + i]
            k = max(0, k - 1)
        else:
            k += 1
    return {s: posterior(block) for block in blocks for s in block[0]}


def pav_ratios(
    genuine: Sequence[float], impostor: Sequence[float], *, laplace: bool = False
) -> dict[float, float]:
    """Log-likelihood ratio of each score.

    With Laplace's rule one genuine and one impostor attempt are added at each end before pooling.
    """
    shift = math.log(len(genuine) / len(impostor))
    ends = [-INF, INF] if laplace else []
    pooled = pav([*genuine, *ends], [*impostor, *ends])
    return {s: log_ratio(p) - shift for s, p in pooled.items()}


def min_cllr(genuine: Sequence[float], impostor: Sequence[float]) -> float:
    """Cllr after isotonic regression."""
    ratios = pav_ratios(genuine, impostor)
    return cllr([ratios[s] for s in genuine], [ratios[s] for s in impostor])


def dcf(
    genuine: Sequence[float],
    impostor: Sequence[float],
    threshold: float,
    prior: float,
    costs: tuple[float, float],
) -> float:
    """Normalised decision cost, accepting at or above a threshold."""
    frr = sum(not x >= threshold for x in genuine) / len(genuine)
    far = sum(x >= threshold for x in impostor) / len(impostor)
    miss, accept = prior * costs[0], (1 - prior) * costs[1]
    return (miss * frr + accept * far) / min(miss, accept)


def act_dcf(
    genuine: Sequence[float], impostor: Sequence[float], prior: float, costs: tuple[float, float]
) -> float:
    """Cost at the Bayes threshold."""
    threshold = math.log(costs[1] * (1 - prior) / (costs[0] * prior))
    return dcf(genuine, impostor, threshold, prior, costs)


def min_dcf(
    genuine: Sequence[float], impostor: Sequence[float], prior: float, costs: tuple[float, float]
) -> float:
    """Cost at the best threshold: rejecting all, or at some score."""
    reject_all = prior * costs[0] / min(prior * costs[0], (1 - prior) * costs[1])
    scores = [x for x in {*genuine, *impostor} if x == x]  # NaN has failed
    costs_at_scores = [dcf(genuine, impostor, t, prior, costs) for t in scores]
    return min([reject_all, *costs_at_scores])


def primary(
    genuine: Sequence[float], impostor: Sequence[float], prior: float, costs: tuple[float, float]
) -> tuple[float, float]:
    """FRR + beta FAR at ln beta, and at the best threshold."""
    beta = costs[1] * (1 - prior) / (costs[0] * prior)

    def cost(threshold: float) -> float:
        frr = sum(not x >= threshold for x in genuine) / len(genuine)
        return frr + beta * sum(x >= threshold for x in impostor) / len(impostor)

    scores = [x for x in {*genuine, *impostor} if x == x]  # NaN has failed
    return cost(math.log(beta)), min([1.0, *map(cost, scores)])


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

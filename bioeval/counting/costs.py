"""Costs of decisions: weights of errors, least costs and the points that have them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from bioeval.counting.points import Corners

#: Names that label the costs of decisions, which are scalars by prior.
COST_LABELS = ("cost_prior", "cost_miss", "cost_false_accept")

# The largest number of points of nearly the same cost that are compared without rounding.
EXACT_COSTS = 1000


@lru_cache(256)
def costs_of_rates(prior: Any, miss: Any, accept: Any) -> tuple[int, int]:
    """Return the costs of FAR and of FRR, in a common unit in which they are whole numbers."""
    of_far = (1 - Fraction(prior)) * Fraction(accept)
    of_frr = Fraction(prior) * Fraction(miss)
    return of_far.numerator * of_frr.denominator, of_frr.numerator * of_far.denominator


def weights_of_errors(
    costs: Sequence[Any], genuine: np.ndarray, impostor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs of a false accept and of a false reject in each part, as Python integers.

    The unit may differ between parts. `costs` are (p, c_miss, c_fa), perhaps fractions; `genuine`
    and `impostor` (parts,) are the numbers of attempts, which must not be 0.
    """
    of_far, of_frr = costs_of_rates(*costs)
    return of_far * genuine.astype(object), of_frr * impostor.astype(object)


def rounded_weights(accept: np.ndarray, reject: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the costs of errors (parts,) as proportions of the larger cost, float64."""
    larger = np.maximum(np.maximum(accept, reject), 1)
    return (accept / larger).astype(np.float64), (reject / larger).astype(np.float64)


def cheapest(curve: Corners, accept: np.ndarray, reject: np.ndarray) -> np.ndarray:
    """Return the first point of least cost in each part, (parts,).

    `accept` and `reject` are the costs of a false accept and of a false reject. Costs that are
    nearly equal are compared without rounding.
    """
    of_fa, of_fr = map(curve.repeated, rounded_weights(accept, reject))
    cost = of_fa * curve.fa + of_fr * curve.fr
    least = np.minimum.reduceat(cost, curve.starts[:-1])
    near_least = np.flatnonzero(cost <= curve.repeated(least * (1 + 1e-12)))
    bounds = near_least.searchsorted(curve.starts)
    best = near_least[bounds[:-1]]
    for part in np.flatnonzero(bounds[1:] - bounds[:-1] > 1).tolist():
        candidates = near_least[bounds[part] : bounds[part + 1]]
        if len(candidates) > EXACT_COSTS:
            best[part] = candidates[cost[candidates].argmin()]
            continue
        errors = zip(curve.fa[candidates].tolist(), curve.fr[candidates].tolist(), strict=True)
        exact = [accept[part] * fa + reject[part] * fr for fa, fr in errors]
        best[part] = candidates[exact.index(min(exact))]
    return best


def trivial_cost(prior: Any, miss: Any, accept: Any) -> Any:
    """Return the cost of the better trivial decision, to reject all attempts or to accept all.

    A cost divided by it is normalised: a system as good as the prior alone has 1.
    """
    return np.minimum(prior * miss, (1 - prior) * accept)


def normalised_cost(least: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return least costs (..., costs), divided by the trivial cost of each row of `costs`.

    They are NaN where a trivial decision costs nothing.
    """
    trivial = trivial_cost(*np.transpose(costs))
    return np.where(trivial > 0, least / np.where(trivial > 0, trivial, 1), np.nan)


def least_costs(
    curve: Corners, costs: np.ndarray, genuine: np.ndarray, impostor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the least costs of each part, (parts, costs), and their strictest points.

    A cost is ``p c_miss FRR + (1 - p) c_fa FAR``; the rows of `costs` are (p, c_miss, c_fa), where
    p is the proportion of genuine attempts expected in use. The attempts (parts,) must not be 0.
    """
    best = np.empty((len(genuine), len(costs)), dtype=np.int64)
    least = np.empty(best.shape)
    for k, (prior, miss, accept) in enumerate(costs.tolist()):  # perhaps fractions
        best[:, k] = cheapest(curve, *weights_of_errors((prior, miss, accept), genuine, impostor))
        frr, far = curve.fr[best[:, k]] / genuine, curve.fa[best[:, k]] / impostor
        least[:, k] = float(prior * miss) * frr + float((1 - prior) * accept) * far
    return least, best

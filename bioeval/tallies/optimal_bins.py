"""In which bins of impostor counts an optimum over all operating points can lie.

Optima are the least of functions that increase with FAR and with FRR. In a bin FAR is at least that
of the bins before and FRR at least that of its upper edge; and some point is at least as good as
that at any edge. So most bins cannot hold the best point, and their scores need not be known.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bioeval.base.scalars import OPTIMA
from bioeval.tallies.points import hull_equal_error, hull_of
from bioeval.tallies.threshold_search import Attempts

# How much worse a bin may seem, for rounding.
SLACK = 1e-9

Objective = Callable[[np.ndarray, np.ndarray], np.ndarray]


def objectives(costs: np.ndarray, weights: Sequence[float]) -> Iterator[Objective]:
    """Yield functions of FAR and FRR whose least values are optima, costs, or on the hull.

    The hull is least where FAR has one of the `weights` and FRR the rest.
    """
    for scalar in OPTIMA:
        sign = -1.0 if scalar.best == "max" else 1.0
        assert scalar.of_rates is not None
        yield functools.partial(_signed, sign, scalar.of_rates)
    for p, miss, accept in [*costs.astype(float).tolist(), *((1 - w, 1.0, 1.0) for w in weights)]:
        yield functools.partial(_weighted, p * miss, (1 - p) * accept)


def _signed(sign: float, rates: Objective, far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    return sign * rates(far, frr)


def _weighted(miss: float, accept: float, far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    return miss * frr + accept * far


def optimal_bins(attempts: Attempts, costs: np.ndarray) -> np.ndarray:
    """Return the bins with genuine scores in which an optimum can lie, as flags."""
    accepted, rejected = np.cumsum(attempts.counts), attempts.false_rejects(attempts.edges)
    far0 = (accepted - attempts.counts) / attempts.impostor_attempts
    far, frr = accepted / attempts.impostor_attempts, rejected / attempts.genuine_attempts
    held = np.diff(rejected, prepend=attempts.genuine_attempts) < 0
    known = np.append(0.0, far), np.append(1.0, frr)
    wanted = np.zeros(len(far), dtype=bool)
    for objective in objectives(costs, ()):
        best = float(objective(*known).min())
        wanted |= objective(far0, frr) <= best + SLACK * abs(best)
    weights, least = _supporting(*known)
    lowest = hull_equal_error(np.append(0.0, far0), np.append(1.0, frr))
    # The least of the hull is concave in the weight: those that may be largest, and one beside.
    near = np.flatnonzero(least >= lowest - SLACK)
    for i in range(max(int(near[0]) - 1, 0), min(int(near[-1]) + 2, len(weights))):
        cost = weights[i] * far0 + (1 - weights[i]) * frr
        wanted |= cost <= least[i] + SLACK
    return wanted & held


def crossing_weight(far: np.ndarray, frr: np.ndarray) -> float:
    """Return the weight of FAR by which the hull is least where it meets the line FAR = FRR."""
    weights, least = _supporting(far, frr)
    return float(weights[np.argmax(least)])


def _supporting(far: np.ndarray, frr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of FAR by which two corners of the hull are alike, and their cost."""
    x, y = hull_of(np.append(far, 1.0), np.append(frr, 0.0))
    across, down = np.diff(x), -np.diff(y)
    weights = np.concatenate([[1.0], down / (down + across), [0.0]])
    cost = weights[1:-1] * x[:-1] + (1 - weights[1:-1]) * y[:-1]
    return weights, np.concatenate([[x[0]], cost, [y[-1]]])

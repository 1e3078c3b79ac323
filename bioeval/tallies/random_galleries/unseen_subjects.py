"""Beta-binomial extrapolation to larger galleries.

Each probe has its own chance that a non-mated subject is closer than its mate, or within a
threshold; over probes these chances follow a beta distribution, so that the number among ``M``
non-mated subjects is beta-binomial. Fitted by maximum likelihood to the subjects of the gallery,
the model predicts the numbers with more subjects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MODEL = (
    "beta-binomial: the chance that a non-mated subject is closer than the mate (or within the "
    "threshold) is beta distributed over probes; fitted by maximum likelihood"
)

# Log odds of the mean chance, and logarithm of the sum of both parameters.
LEAST, MOST = np.array([-30.0, -10.0]), np.array([30.0, 18.0])

# Largest count fitted by itself; larger ones are censored.
CENSORED = 400


@dataclass(frozen=True)
class BetaBinomial:
    """Beta distribution of chances over probes, with mean ``a / (a + b)``."""

    a: float
    b: float

    @classmethod
    def fitted(cls, weights: np.ndarray, trials: int) -> BetaBinomial | None:
        """Fit by maximum likelihood; None if no subject is ever closer, or all always are.

        `weights` are the probes with 0, 1, ... of `trials` subjects closer. With fewer than
        ``trials + 1`` entries, the last one is censored: that number or more.
        """
        from scipy.special import betaln, gammaln, psi

        total = weights.sum()
        counts = np.arange(len(weights))
        mean = float((weights * counts).sum() / total / trials) if total and trials else 0.0
        if not 0.0 < mean < 1.0:
            return None
        chosen = np.nonzero(weights[:-1] if len(weights) <= trials else weights)[0]
        shares = weights / total
        rest = float(shares[-1]) if len(weights) <= trials else 0.0
        below = np.arange(len(weights) - 1)

        def choose(x: np.ndarray) -> np.ndarray:
            return gammaln(trials + 1.0) - gammaln(x + 1.0) - gammaln(trials - x + 1.0)

        def logs(x: np.ndarray, ways: np.ndarray, a: float, b: float) -> tuple[np.ndarray, ...]:
            """Return log chances of counts, and their derivatives in a and b."""
            values = ways + betaln(a + x, b + trials - x) - betaln(a, b)
            shared = psi(a + b) - psi(a + b + trials)
            return values, psi(a + x) - psi(a) + shared, psi(b + trials - x) - psi(b) + shared

        ways, ways_below = choose(chosen), choose(below)

        def negative_log_likelihood(point: np.ndarray) -> tuple[float, np.ndarray]:
            a, b = _shape(point)
            values, by_a, by_b = logs(chosen, ways, a, b)
            w = shares[chosen]
            found, slope_a, slope_b = float(w @ values), float(w @ by_a), float(w @ by_b)
            if rest > 0.0:
                values, by_a, by_b = logs(below, ways_below, a, b)
                chances = np.exp(values)
                over = max(1.0 - float(chances.sum()), 1e-12)
                found += rest * float(np.log(over))
                slope_a -= rest * float(chances @ by_a) / over
                slope_b -= rest * float(chances @ by_b) / over
            tilt = a * b / (a + b)
            return -found, -np.array([tilt * (slope_a - slope_b), a * slope_a + b * slope_b])

        return cls(
            *_shape(_lowest(negative_log_likelihood, np.array([np.log(mean / (1.0 - mean)), 0.0])))
        )

    def more_closer(self, seen: np.ndarray, trials: int, extra: int, limit: int) -> np.ndarray:
        """Return the chances of 0, 1, ... closer subjects among `extra`, by those seen closer.

        `seen` of the `trials` subjects so far were closer, and are included.
        """
        from scipy.special import betaln, gammaln

        new = np.arange(limit)[None] - seen[:, None]
        possible = (new >= 0) & (new <= extra)
        x = np.where(possible, new, 0)
        a, b = self.a + seen[:, None], self.b + trials - seen[:, None]
        logs = gammaln(extra + 1.0) - gammaln(x + 1.0) - gammaln(extra - x + 1.0)
        logs = logs + betaln(a + x, b + extra - x) - betaln(a, b)
        return np.where(possible, np.exp(logs), 0.0)

    def none_closer(self, trials: int, extra: int) -> float:
        """Return the chance that none of `extra` is closer, if none of `trials` is."""
        from scipy.special import betaln

        return float(
            np.exp(betaln(self.a, self.b + trials + extra) - betaln(self.a, self.b + trials))
        )


def _lowest(
    function: Callable[[np.ndarray], tuple[float, np.ndarray]], point: np.ndarray
) -> np.ndarray:
    """Return the minimum of a function of two numbers, by damped Newton steps from a point.

    The function returns the value and the gradient.
    """
    value, slope = function(point)
    damping = 1.0
    for _ in range(200):
        sides = [function(point + step)[1] for step in np.eye(2) * 1e-5]
        with np.errstate(invalid="ignore"):  # infinite slopes lead nowhere, and end the search
            (p, q), (_, r) = (np.array(sides) - slope) / 1e-5
        while damping < 1e12:
            # Two equations, solved by hand; damped until they lead down.
            u, v = p + damping, r + damping
            determinant = u * v - q * q
            if u > 0 and determinant > 0:
                step = np.array([q * slope[1] - v * slope[0], q * slope[0] - u * slope[1]])
                new = np.clip(point + step / determinant, LEAST, MOST)
                new_value, new_slope = function(new)
                if new_value <= value:
                    break
            damping = max(4.0 * damping, 1e-6)
        else:
            return point
        moved = float(np.abs(new - point).max())
        point, value, slope = new, new_value, new_slope
        damping /= 10.0
        if moved < 1e-8:
            break
    return point


def _shape(point: np.ndarray) -> tuple[float, float]:
    """Return the parameters of the beta distribution from log odds and the log of their sum."""
    size = float(np.exp(point[1]))
    return size / (1.0 + float(np.exp(-point[0]))), size / (1.0 + float(np.exp(point[0])))

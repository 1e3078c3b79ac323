"""The ranks of best mates under the tie policies."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy

#: Orders of the tied that make each count a whole number.
PlainTies = Literal["pessimistic", "optimistic", "stable"]

Ties = Literal[PlainTies, "expected"]

#: The orders between which every number lies.
ENDS: tuple[str, str] = ("pessimistic", "optimistic")


def place_weights(
    closer: np.ndarray, tied: np.ndarray, before: np.ndarray, mates_tied: np.ndarray, ties: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (index, rank, weight) of best mates.

    The int64 arrays are, for each: others closer than the best mate, exactly as close, those of
    them before it in the gallery, and mates exactly as close, itself among them.

    Under every policy but ``"expected"`` a probe has one rank, of weight 1. Under
    ``"expected"``, with ``T`` candidates tied at the best mate's distance of which ``m`` are
    mates, the first mate is at the ``r``-th of the tied places with probability
    ``C(T - r, m - 1) / C(T, m)``.
    """
    every = np.arange(len(closer))
    if ties != "expected":
        behind = {"optimistic": np.zeros_like(tied), "pessimistic": tied, "stable": before}[ties]
        return every, 1 + closer + behind, np.ones(len(closer))
    times = tied + 1
    index = np.repeat(every, times)
    place = np.arange(len(index)) - np.repeat(np.cumsum(times) - times, times) + 1
    mates = mates_tied[index]
    total = mates + tied[index]
    weight = np.exp(_log_binomial(total - place, mates - 1) - _log_binomial(total, mates))
    weight[total == mates] = 1.0
    # The weights of a probe add up to 1; rounding in the logarithms is taken out.
    sums = np.bincount(index, weight, minlength=len(closer))
    return index, 1 + closer[index] + place - 1, weight / sums[index]


def _log_binomial(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    log_gamma = scipy.special.gammaln
    return log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0)

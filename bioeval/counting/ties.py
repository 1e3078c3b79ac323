"""The rule of ties: which equally near candidates are ranked before a mate.

Under pessimistic ties all of them are, under optimistic ties none, under stable ties those before
the mate in the gallery; under expected ties the mate is at each of the ranks with a chance.
"""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.protocol.tasks import PlainTies, Ties

#: The two orders of equal scores between which the numbers of all orders are.
ENDS: tuple[PlainTies, PlainTies] = ("pessimistic", "optimistic")


def tied_ahead(ties: Ties, tied: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return how many of the candidates exactly as close as a mate are ranked before it.

    The arguments count these candidates, and those of them before the mate in the gallery. Under
    ``"expected"`` ties, which have weights instead (:func:`place_weights`), it is as ``"stable"``.
    """
    return {"optimistic": np.zeros_like(tied), "pessimistic": tied}.get(ties, before)


def place_weights(
    closer: np.ndarray, tied: np.ndarray, before: np.ndarray, mates_tied: np.ndarray, ties: Ties
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ranks of best mates with their weights: arrays (index, rank, weight).

    The int64 arguments count, for each best mate: others closer than the mate; others exactly as
    close; these others before it in the gallery; and mates exactly as close, itself among them.

    Under every policy but ``"expected"`` a best mate has one rank, of weight 1. Under
    ``"expected"``, with ``T`` candidates tied at the best mate's distance of which ``m`` are mates,
    the first mate is the ``r``-th of the tied candidates with probability ``C(T - r, m - 1) /
    C(T, m)``.
    """
    index = np.arange(len(closer))
    if ties != "expected":
        return index, 1 + closer + tied_ahead(ties, tied, before), np.ones(len(closer))
    ranks_of_mate = tied + 1
    mate = np.repeat(index, ranks_of_mate)
    # 1, 2, ... for each mate: its place r among the candidates tied with it.
    first_entry = np.cumsum(ranks_of_mate) - ranks_of_mate
    position = np.arange(len(mate)) - np.repeat(first_entry, ranks_of_mate) + 1
    mates_of_tied = mates_tied[mate]  # m
    tied_in_all = mates_of_tied + tied[mate]  # T
    weight = np.exp(
        _log_binomial(tied_in_all - position, mates_of_tied - 1)
        - _log_binomial(tied_in_all, mates_of_tied)
    )
    weight[tied_in_all == mates_of_tied] = 1.0
    # The weights of a mate add up to 1: dividing by their sum removes rounding in the logarithms.
    sums = np.bincount(mate, weight, minlength=len(closer))
    return mate, closer[mate] + position, weight / sums[mate]


def _log_binomial(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    log_gamma = scipy.special.gammaln
    return log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0)

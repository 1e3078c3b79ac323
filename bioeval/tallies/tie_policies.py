"""Ranks of best mates under the tie policies, for open and closed set."""

from __future__ import annotations

import numpy as np
import scipy

from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.tallies.counts import IdentificationTally

TIES = ("pessimistic", "optimistic", "stable", "expected")


# Ranks up to this many may extend beyond the end of the gallery, so that the curves of several
# galleries have the same length.
MOST_RANKS = 10_000


def check_max_rank(max_rank: int | None, gallery: int | None = None) -> None:
    """Raise :class:`DataError` unless `max_rank` is None or a number of ranks.

    `gallery` is the number of templates in the gallery, far beyond which there are no ranks.
    """
    if max_rank is None:
        return
    require_integer("max_rank", max_rank, low=1)
    if gallery is not None and max_rank > max(gallery, MOST_RANKS):
        raise DataError(
            f"{Argument('max_rank')} is {max_rank}; expected at most {max(gallery, MOST_RANKS)}: "
            f"the gallery has {gallery} templates, and a curve is constant beyond"
        )


def rank_weights(
    tally: IdentificationTally, chosen: np.ndarray, ties: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (probe, rank, weight) of the best mates of the chosen probes; each must have one.

    Under every policy but ``"expected"`` a probe has one rank, of weight 1. Under
    ``"expected"``, with ``T`` candidates tied at the best mate's distance of which ``m`` are
    mates, the first mate is at the ``r``-th of the tied places with probability
    ``C(T - r, m - 1) / C(T, m)``.
    """
    index, ranks, weights = place_weights(
        tally.closer[chosen],
        tally.tied[chosen],
        tally.tied_before[chosen],
        tally.mates_tied[chosen],
        ties,
    )
    return chosen[index], ranks, weights


def place_weights(
    closer: np.ndarray, tied: np.ndarray, before: np.ndarray, mates_tied: np.ndarray, ties: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (index, rank, weight) of best mates; see :func:`rank_weights`.

    The int64 arrays are, for each: others closer than the best mate, exactly as close, those of
    them before it in the gallery, and mates exactly as close, itself among them.
    """
    require_choice("ties", ties, TIES)
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

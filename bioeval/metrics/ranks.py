"""Ranks of best mates under the tie policies, shared by open and closed set."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.special import gammaln

from bioeval.errors import DataError, require_choice
from bioeval.metrics.datasets import about_attrs, build
from bioeval.names import RANKS
from bioeval.tallies import IdentificationTally
from bioeval.thresholds import to_user

TIES = ("pessimistic", "optimistic", "stable", "expected")


def check_max_rank(max_rank: int | None) -> None:
    """Raise :class:`DataError` unless `max_rank` is None or a whole number of at least 1."""
    if max_rank is None:
        return
    whole = isinstance(max_rank, (int, np.integer)) and not isinstance(max_rank, bool)
    if not whole or max_rank < 1:
        raise DataError(f"max_rank is {max_rank!r}; expected None or a whole number >= 1")


def rank_weights(
    tally: IdentificationTally, chosen: np.ndarray, ties: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (probe, rank, weight) of the best mates of the chosen probes.

    Under every policy but ``"expected"`` a probe has one rank, of weight 1. Under
    ``"expected"``, with ``T`` candidates tied at the best mate's distance of which ``m`` are
    mates, the first mate stands at the ``r``-th of the tied places with probability
    ``C(T - r, m - 1) / C(T, m)``.

    Parameters
    ----------
    tally : IdentificationTally
    chosen : int array
        Probes, all of which have a usable mate.
    ties : str
        One of :data:`TIES`.
    """
    require_choice("ties", ties, TIES)
    closer, tied = tally.closer[chosen], tally.tied[chosen]
    if ties != "expected":
        before = {
            "optimistic": np.zeros_like(tied),
            "pessimistic": tied,
            "stable": tally.tied_before[chosen],
        }[ties]
        return chosen, 1 + closer + before, np.ones(len(chosen))
    probes = np.repeat(chosen, tied + 1)
    place = np.arange(len(probes)) - np.repeat(np.cumsum(tied + 1) - (tied + 1), tied + 1) + 1
    mates = np.repeat(tally.mates_tied[chosen], tied + 1)
    total = mates + np.repeat(tied, tied + 1)
    weight = np.exp(_log_binomial(total - place, mates - 1) - _log_binomial(total, mates))
    weight[total == mates] = 1.0
    # The weights of a probe add up to 1; rounding in the logarithms is taken out.
    sums = np.bincount(probes, weight, minlength=len(tally.mate))
    return probes, np.repeat(1 + closer, tied + 1) + place - 1, weight / sums[probes]


def _log_binomial(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def ranks_dataset(tally: IdentificationTally, ties: str) -> xr.Dataset:
    """Return what identification is made of, probe by probe."""
    chosen = np.nonzero(tally.mates > 0)[0]
    probes, ranks, weights = rank_weights(tally, chosen, ties)
    rank = np.full(len(tally.mate), np.nan)
    rank[chosen] = np.bincount(probes, weights * ranks, minlength=len(rank))[chosen]
    kind = tally.about.kind
    over = ("probe",)
    variables = {
        "identification_rank": (over, rank),
        "mate_distance": (over, to_user(tally.mate, kind)),
        "nearest_other": (over, to_user(tally.other, kind)),
        "closer": (over, tally.closer),
        "tied": (over, tally.tied),
        "mates": (over, tally.mates),
        "others": (over, tally.others),
        "enrolled": (over, tally.enrolled.astype(np.int64)),
    }
    attrs = about_attrs(tally.about, "ranks of the best mates", [])
    attrs |= {"rank_unit": tally.rank_unit, "fusion": tally.fusion, "ties": ties}
    return build(variables, RANKS, {"probe": np.arange(len(rank))}, attrs)

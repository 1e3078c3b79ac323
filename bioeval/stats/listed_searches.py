"""Confidence intervals of FAR and FRR of listed searches, whose distances have chances."""

from __future__ import annotations

import numpy as np

from bioeval.stats.bootstrap import SubjectMeans
from bioeval.stats.few_errors import Placed
from bioeval.stats.options import IntervalOptions
from bioeval.tallies.listed_searches import ListedSearches


def limits_of_searches(
    searches: ListedSearches, person: np.ndarray, threshold: float, options: IntervalOptions
) -> dict[str, tuple[float, float, float]]:
    """Return FAR and FRR at a distance, with their limits for other people in the same gallery.

    `person` is the person of each probe. The limits are those of
    :func:`bioeval.stats.identification.open_set_intervals` where each search has one distance.
    """
    options = options.for_this_gallery
    who, person = np.unique(person, return_inverse=True)
    person = person.reshape(-1)
    weights = options.weights(len(who))
    ends = {}
    for rate, some in (("far", searches.impostor), ("frr", searches.genuine)):
        attempts = np.bincount(person[np.unique(some.probe)], minlength=len(who))
        means = SubjectMeans(attempts, weights, options)
        there = some.where(~np.isnan(some.value))
        placed = Placed.of(person[there.probe], there.value, there.chance)
        low, high = means.limits_along(placed, np.array([threshold]))
        value = float(some.accepted_at(threshold)) / (some.number or np.nan)
        if rate == "frr":
            low, high, value = 1 - high, 1 - low, 1 - value
        ends[rate] = value, float(low[0]), float(high[0])
    return ends

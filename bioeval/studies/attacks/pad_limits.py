"""Intervals of attack detection: people, and the instruments of each species, are resampled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bioeval.base.errors import Argument, DataError
from bioeval.stats.independent import korn_graubard, largest_limits
from bioeval.stats.limits import Limits, drawn_variance, open_limits
from bioeval.stats.options import IntervalMethod
from bioeval.stats.people import ratio
from bioeval.studies.attacks.limits import (
    accepted_of_units,
    along,
    along_falling,
    crossings,
    drawn,
    independent,
    joined,
    sampled_points,
    species_limits,
)
from bioeval.studies.attacks.presentations import BONA_FIDE, Presentations


def presentation_limits(
    data: Presentations,
    units: Mapping[str, np.ndarray],
    options: IntervalMethod,
    places: np.ndarray,
    targets: np.ndarray,
) -> dict[str, Limits]:
    """Return the limits of rates at distances, of ``d_eer``, and of ``bpcer_at_apcer``.

    All but those of the pooled APCER are by Korn and Graubard.
    """
    if not units:
        raise DataError(
            Argument("interval", options.method),
            " resamples people or objects; give ",
            Argument("subjects"),
            " or ",
            Argument("instrument"),
        )
    curve = sampled_points(data.points.threshold[1:], data.d_eer.eer_threshold)
    every = np.unique(np.concatenate([places[~np.isnan(places)], curve]))
    columns, trials, rate, variance = 1 + options.replicates, [], [], []
    accepted_attacks = np.zeros((len(every) + 2, columns))
    for i in data.classes:
        here, codes, weights = data.members(i), [], []
        if "subjects" in units:
            codes.append(units["subjects"][here])
            weights.append(drawn(int(units["subjects"].max()) + 1, options, 0, columns))
        if i != BONA_FIDE and "instrument" in units:
            codes.append(np.unique(units["instrument"][here], return_inverse=True)[1])
            weights.append(drawn(len(np.unique(codes[-1])), options, 1 + i, columns))
        if not codes:
            codes.append(np.arange(here.sum()))
            weights.append(drawn(int(here.sum()), options, 0, columns))
        counts = accepted_of_units(data.distances[here], *joined(codes, weights), every)
        accepted, number = counts[:-1], counts[-1]
        if i != BONA_FIDE:
            accepted_attacks += counts
        replicates = ratio(number - accepted if i == BONA_FIDE else accepted, number)
        trials.append(independent(codes))
        rate.append(replicates[:, 0])
        variance.append(drawn_variance(replicates[:, 1:], trials[-1]))
    apcer, bpcer = np.stack(rate[:-1], axis=1), rate[-1]
    of_species = np.stack(variance[:-1], axis=1), data.number[:-1], np.array(trials[:-1])
    of_bona_fide = variance[-1], data.number[-1], trials[-1]
    confidence = options.confidence
    each, largest = species_limits(apcer, *of_species, data.counted, confidence)
    one_sided = korn_graubard(bpcer, *of_bona_fide, (1 + confidence) / 2)
    pooled = ratio(accepted_attacks[:-1], accepted_attacks[-1])
    of_rates = {
        "apcer_pooled": options.limits(pooled, min(trials[:-1])),
        "bpcer": open_limits(bpcer, *one_sided, trials[-1], confidence),
        "apcer_of_species": each,
        "apcer": largest,
    }
    # The first place is that of reject-all.
    place = np.where(np.isnan(places), 0, 1 + np.searchsorted(every, places))
    shown, back = np.unique(place, return_inverse=True)
    limits: dict[str, Limits] = {}
    for name, (low, high) in of_rates.items():
        low, high = low[shown], high[shown]
        if name != "apcer_pooled":
            low, high = (along_falling if name == "bpcer" else along)(low, high)
        limits[name] = low[back], high[back]
    # Half of what may miss at an end is that of APCER, half that of BPCER.
    level = 1 - (1 - confidence) / 4
    falling = (np.full(len(bpcer), np.nan),) * 2
    rising = along_falling(*korn_graubard(bpcer, *of_bona_fide, level))
    over = data.counted
    if over.any():
        variances, number, units_of = of_species
        falling = along(
            *largest_limits(apcer[:, over], variances[:, over], number[over], units_of[over], level)
        )
    if not np.isnan(data.d_eer.eer):
        largest_apcer = np.fmax.reduce(apcer[:, over], axis=1)
        curves = np.stack([largest_apcer, *falling], axis=1), np.stack([bpcer, *rising], axis=1)
        error = crossings(curves[0][1:], curves[1][1:], data.d_eer.eer)
        limits["d_eer"] = error[1], error[2]
    ends = []
    for ends_of_apcer, ends_of_bpcer in zip(falling, rising, strict=True):
        # APCER grows with the distance; before the first is the point that rejects all.
        within = np.searchsorted(ends_of_apcer, targets, side="right")
        at = np.append(1.0, ends_of_bpcer)[within]
        ends.append(np.where(np.isnan(ends_of_apcer).any() | np.isnan(at), np.nan, at))
    limits["bpcer_at_apcer"] = ends[0], ends[1]
    return limits

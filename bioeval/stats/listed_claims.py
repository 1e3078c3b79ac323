"""Confidence intervals of FAR and FRR of listed claims, whose scores have chances."""

from __future__ import annotations

import numpy as np

from bioeval.stats.bootstrap import SubjectMeans, ratio
from bioeval.stats.few_errors import FewErrors, Placed, Together
from bioeval.stats.jackknife import groups_of_people, jackknife_limits
from bioeval.stats.limits import Limits
from bioeval.stats.options import IntervalOptions
from bioeval.stats.verification import interpolated
from bioeval.tallies.listed_claims import ListedClaims
from bioeval.tallies.points import FAR_TARGETS
from bioeval.tallies.threshold_rules import Rule

#: Decimals of expected counts: chances are sums of floats.
_DIGITS = 9


def limits_of_claims(
    claims: ListedClaims, grid: np.ndarray, options: IntervalOptions
) -> dict[str, Limits]:
    """Return the limits of FAR and FRR at increasing distances, with people left out in turn.

    They are those of :func:`bioeval.stats.verification.verification_intervals` where each claim has
    one score.
    """
    chosen = [claims.chosen_by(Rule(rule, x)) for rule, x in _points()]
    wanted = np.append([point.threshold for point in chosen], grid)
    thresholds = claims.thresholds(wanted[~np.isnan(wanted)])
    return {"far": _far(claims, grid, thresholds, options), "frr": _frr(claims, grid, options)}


def _points() -> list[tuple[str, tuple[float, ...]]]:
    """Return the rules whose thresholds are among those of a curve."""
    return [("eer", ()), *(("far", (target,)) for target in FAR_TARGETS)]


def _far(
    claims: ListedClaims, grid: np.ndarray, thresholds: np.ndarray, options: IntervalOptions
) -> Limits:
    """Return the limits of FAR at some distances, from those at the thresholds of the curve."""
    impostor, number = claims.impostor, len(thresholds) + 1
    layer = np.searchsorted(thresholds, impostor.value)
    group, groups = groups_of_people(claims.no_person)
    wide = groups + 1
    each = np.zeros(number * wide)
    for person in (impostor.probe, impostor.claimed):
        each += np.bincount(layer * wide + group[person], impostor.chance, number * wide)
    together = group[impostor.probe] == group[impostor.claimed]  # left out once
    twice = layer[together] * wide + group[impostor.probe[together]]
    each -= np.bincount(twice, impostor.chance[together], number * wide)
    of_all = np.bincount(layer, impostor.chance, number)
    without = np.cumsum(of_all[:, None] - each.reshape(number, wide)[:, :-1], axis=0)
    # What rounding leaves over is no error of those who are left.
    accepted, without = np.round(np.cumsum(of_all), _DIGITS), np.round(without, _DIGITS)
    rate = ratio(accepted[:-1], np.broadcast_to(accepted[-1], accepted[:-1].shape))
    left = ratio(without[:-1], np.broadcast_to(without[-1], without[:-1].shape))
    sizes = [int(np.count_nonzero(~claims.no_person[side])) for side in claims.sides]
    fewest = min(filter(None, sizes), default=0)
    at = jackknife_limits(rate, left, options.confidence, claims.disjoint_pairs, fewest)
    far = impostor.accepted_at(grid) / (impostor.number or np.nan)
    return interpolated(far, rate, at, _few_pairs(claims, layer), options)


def _few_pairs(claims: ListedClaims, layer: np.ndarray) -> tuple[FewErrors, FewErrors]:
    """Return where few pairs of people are accepted, and where few are rejected."""
    impostor = claims.impostor
    of_people = ~(claims.no_person[impostor.probe] | claims.no_person[impostor.claimed])
    impostor, layer = impostor.where(of_people), layer[of_people]
    low = np.minimum(impostor.probe, impostor.claimed).astype(np.int64)
    pair = low * claims.people + np.maximum(impostor.probe, impostor.claimed)
    pairs, place = np.unique(pair, return_inverse=True)
    number = np.bincount(place.reshape(-1), impostor.chance, len(pairs))
    people = np.stack([pairs // claims.people, pairs % claims.people], axis=1)
    made = Together.of(number, people)

    def few(sign: int) -> FewErrors:
        return FewErrors.of(
            pair, sign * layer, impostor.chance, made, claims.disjoint_pairs, claims.people
        )

    return few(1), few(-1)


def _frr(claims: ListedClaims, grid: np.ndarray, options: IntervalOptions) -> Limits:
    """Return the limits of FRR at some distances."""
    genuine = claims.genuine
    weights = options.weights(len(claims.no_person), claims.no_person)
    number = np.rint(np.bincount(genuine.probe, genuine.chance, claims.people))
    means = SubjectMeans(number, weights, options, jackknife=True)
    placed = Placed.of(genuine.probe, genuine.value, genuine.chance)
    low, high = means.limits_along(placed, grid)
    return 1 - high, 1 - low

"""Intervals by subject of Cllr and of the actual costs."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, ProtocolError
from bioeval.base.messages import messages_of
from bioeval.base.progress import rows_reported
from bioeval.counting.by_subject import SubjectAttempts
from bioeval.counting.verification import Verifying
from bioeval.results.variables import Variable
from bioeval.scores.blocks import threads_for
from bioeval.scores.matrix import Scores
from bioeval.stats.limits import of_sum, percentile, student
from bioeval.stats.options import IntervalMethod
from bioeval.stats.people import bilinear_forms, linear_forms, ratio
from bioeval.stats.weights import groups_of_people, without_each
from bioeval.studies.calibration.counts import LOG2
from bioeval.tasks.verification_task import verification

# A rate, and its limits.
ENDS = ("", "_low", "_high")


def require_people(scores: Scores, options: IntervalMethod) -> None:
    """Raise :class:`ProtocolError` unless these are ratios of known subjects."""
    if scores.kind != "llr":
        raise ProtocolError(
            f"{Argument('interval', options.method)} is of Cllr and of actual costs, which only "
            f"log-likelihood ratios have, and these scores are a {scores.kind}; calibrate them "
            "first, or leave it out"
        )
    SubjectAttempts.require_people(scores, purpose=Argument("interval", options.method))


def with_intervals(
    ds: xr.Dataset,
    names: dict[str, Variable],
    scores: Scores,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result with the limits of Cllr and, at each prior, of the actual cost.

    Those of a cost are of a sum of two rates, each with its own limits, which are taken as
    independent (Zou and Donner 2008), as in :func:`bioeval.judge_threshold`.
    """
    bayes = ds["bayes_threshold"].values
    thresholds, place = np.unique(bayes, return_inverse=True)
    rates = verification(
        scores,
        thresholds=thresholds,
        far_targets=(),
        auc=False,
        interval=options,
    )
    limits = {"act_dcf": _cost_limits(ds, rates, place.reshape(-1))}
    limits["cllr"] = np.array(np.nan), np.array(np.nan)
    if math.isfinite(ds["cllr"].item()):
        with rows_reported():
            limits["cllr"] = _cllr_limits(scores, options)
    few = "interval-of-few-subjects"
    remarks = [x for x in messages_of(rates.attrs) if x.code == few]
    return options.added_to(ds, limits, names, remarks)


def _cost_limits(
    ds: xr.Dataset, rates: xr.Dataset, place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of the cost at each prior, from those of FRR and FAR at its threshold."""
    prior = ds["prior"].values
    costs = prior * ds.attrs["cost_miss"], (1 - prior) * ds.attrs["cost_false_accept"]
    frr, far = (
        [cost / np.minimum(*costs) * rates[f"{rate}{end}"].values[place] for end in ENDS]
        for cost, rate in zip(costs, ("frr", "far"), strict=True)
    )
    return of_sum((frr[0], frr[1], frr[2]), (far[0], far[1], far[2]), least=0.0)


def _cllr_limits(scores: Scores, options: IntervalMethod) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of Cllr.

    Without a person its genuine attempts are missing, and the impostor attempts on either side. In
    a replicate a genuine attempt of a person counts as often as the person was drawn, and an
    impostor attempt as often as both were, their product.
    """
    attempts = SubjectAttempts(Verifying(scores))
    people = attempts.people
    genuine = np.zeros((2, people))  # losses, and attempts
    keys, losses, numbers = [], [], []
    with threads_for(scores):
        for values, probe, claimed in attempts.listed_in_parts():
            values = np.where(np.isnan(values), np.inf, values)  # failed: a ratio of minus infinity
            same = probe == claimed
            genuine[0] += np.bincount(probe[same], np.logaddexp(0, values[same]), minlength=people)
            genuine[1] += np.bincount(probe[same], minlength=people)
            key = probe[~same].astype(np.int64) * people + claimed[~same]
            key, pair = np.unique(key, return_inverse=True)
            pair = pair.reshape(-1)
            keys.append(key)
            losses.append(np.bincount(pair, np.logaddexp(0, -values[~same]), minlength=len(key)))
            numbers.append(np.bincount(pair, minlength=len(key)))
    key, loss, number = map(np.concatenate, (keys, losses, numbers))
    probe, claimed = np.divmod(key, max(people, 1))
    if options.resamples:
        weights = options.weights(people, attempts.no_person)
        of_genuine = ratio(*linear_forms(genuine, weights))
        sums = [bilinear_forms(probe, claimed, x, weights) for x in (loss, number)]
        cllr = (of_genuine + ratio(*sums)) / (2 * LOG2)
        return percentile(cllr, options.confidence)
    group, groups = groups_of_people(attempts.no_person)
    one, other = group[probe], group[claimed]

    def columns(own: np.ndarray, of_pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sums over genuine, and over impostor attempts, without each person."""
        alone = np.bincount(group, own, groups + 1)
        each = np.bincount(one, of_pairs, groups + 1)
        each += np.bincount(other, of_pairs * (one != other), groups + 1)
        both = (alone, own.sum()), (each, of_pairs.sum())
        left = [without_each(x[:groups], np.array(total)) for x, total in both]
        return left[0], left[1]

    losses_of, made_of = columns(genuine[0], loss), columns(genuine[1], number)
    means = [ratio(*x) for x in zip(losses_of, made_of, strict=True)]
    cllr = (means[0] + means[1]) / (2 * LOG2)
    return student(cllr, options.confidence, bounds=(0.0, np.inf))

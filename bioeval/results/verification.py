"""Verification: GAR, FRR, FAR and GRR against the threshold."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.counting.points import EqualError, VerificationPoints, normalised_cost
from bioeval.counting.thresholds import to_user
from bioeval.counting.verification import Verified
from bioeval.results.dataset import (
    COSTS,
    Scalars,
    Variables,
    about_attrs,
    dataset,
    decisions,
    rate,
    with_dims,
)
from bioeval.results.support import (
    ComparedPeople,
    KindVerdict,
    support_messages,
    tie_message,
    without_attempts,
)
from bioeval.results.variables import (
    EQUAL_ERROR,
    POINTS,
    best_values,
    rates_of_scripts,
    verification_variables,
)
from bioeval.scores.provenance import disjoint_pairs


def verification_scalars(tally: Verified) -> Scalars:
    """Return the attempts and the operating points."""
    points = tally.points
    assert points is not None  # which have been found
    values: Variables = {
        "genuine_attempts": np.int64(tally.attempts.genuine_attempts),
        "impostor_attempts": np.int64(tally.attempts.impostor_attempts),
        "skipped_claims": np.int64(tally.skipped_claims),
    }
    people = None
    if tally.people is not None:
        people = tally.people.subjects, tally.people.disjoint_pairs
    elif sides := tally.about.people:
        people = sides[-1], disjoint_pairs(*sides)
    if people is not None:
        values |= {"subjects": np.int64(people[0]), "disjoint_pairs": np.int64(people[1])}
    values |= point_values(points, tally.about.kind, _independent(tally, points))
    labels = {"far_target": points.far_target, "cost": points.costs[:, 0]}
    if len(points.frr_target):
        labels["frr_target"] = points.frr_target
    return Scalars(with_dims(values, verification_variables()), labels)


def equal_error_values(error: EqualError, kind: str) -> Variables:
    """Return the EER, its threshold in the user's units, and its bracket."""
    return _in_units({name: getattr(error, name) for name in EQUAL_ERROR}, kind)


def _in_units(values: Variables, kind: str) -> Variables:
    """Return operating points with their thresholds in the user's units."""
    table = verification_variables()
    return {k: to_user(x, kind) if table[k].units == "score" else x for k, x in values.items()}


def point_values(points: VerificationPoints, kind: str, independent: float) -> Variables:
    """Return the operating points, thresholds in the user's units.

    Those that need every impostor score are left out where these were not counted; `independent`
    are the impostor attempts, each pair of a symmetric matrix once.
    """
    of_every = points.every_score
    left_out = () if of_every else ("eer_hull", "auc", "d_prime")
    values: Variables = {name: getattr(points.equal_error, name) for name in EQUAL_ERROR}
    values |= {name: getattr(points, name) for name in POINTS if name not in left_out}
    for scalar in best_values() if of_every else ():
        for name in (scalar.name, scalar.threshold):
            values[name] = points.optima.get(name, np.nan)
    values |= {
        "frr_at_far": points.frr_at_far,
        "threshold_at_far": points.threshold_at_far,
        "expected_false_accepts": independent * points.far_target,
    }
    if points.symmetric is not None:
        values["impostor_pairs"] = np.int64(independent)
    if len(points.costs) and of_every:
        values |= {
            "min_dcf": normalised_cost(points.min_cost, points.costs),
            "min_cost": points.min_cost,
            "min_cost_threshold": points.min_cost_threshold,
            **dict(zip(COSTS, points.costs.T, strict=True)),
        }
    if len(points.frr_target):
        values |= {"far_at_frr": points.far_at_frr, "threshold_at_frr": points.threshold_at_frr}
    return _in_units(values, kind)


def verification_dataset(tally: Verified) -> xr.Dataset:
    """Return counts and rates over the tally's thresholds.

    Each rate is over the attempts of its own class: GAR and FRR over the genuine, FAR and GRR
    over the impostor attempts. A rate without attempts is NaN.
    """
    points = tally.points
    assert points is not None
    thresholds, fa = tally.curve
    genuine, impostor = tally.attempts.genuine_attempts, tally.attempts.impostor_attempts
    every = np.append(thresholds, points.rows)
    thresholds, first = np.unique(every, return_index=True)
    fa = np.append(fa, points.rows_fa)[first]
    ga = np.searchsorted(tally.attempts.genuine, thresholds, side="right").astype(np.int64)
    unenrolled = tally.unenrolled
    if unenrolled is not None:
        accepted = np.searchsorted(unenrolled, thresholds, side="right").astype(np.int64)
    kind = tally.about.kind
    thresholds = to_user(thresholds, kind)
    if larger_is_closer(kind):
        thresholds, ga, fa = thresholds[::-1], ga[::-1], fa[::-1]
        if unenrolled is not None:
            accepted = accepted[::-1]
    scalars = verification_scalars(tally)
    rates = decisions(ga, genuine, fa, impostor, rates_of_scripts())
    variables = {**rates, **scalars.variables}
    if unenrolled is not None:
        variables["far_unenrolled"] = rate(accepted, len(unenrolled))
        variables["fa_unenrolled"] = accepted
        variables["unenrolled_attempts"] = len(unenrolled)
    coordinates = {"threshold": thresholds, **scalars.labels}
    coordinates.pop("cost", None)
    messages = _messages(tally, points, doubt_of_kind(tally, points.equal_error.eer))
    attrs = about_attrs(
        tally.about, "verification", f"verification, {tally.use.templates}-template", messages
    )
    attrs |= {**tally.use.attrs, "claims": tally.claims}
    if tally.people is not None:
        attrs["pairs_of_people"] = tally.people.pairs
    if tally.about.nan == "reject":
        attrs["failed_attempts"] = tally.attempts.missed + tally.attempts.missed_impostors
    return dataset(variables, verification_variables(), coordinates, attrs)


def _messages(tally: Verified, points: VerificationPoints, doubt: Message | None) -> list[Message]:
    """Return the messages of a result; of them a `doubt` about its labels and kind, if any."""
    genuine, impostor = tally.attempts.genuine_attempts, tally.attempts.impostor_attempts
    error = points.equal_error
    messages = [*tie_message("eer", (error.pessimistic, error.optimistic), "EER")]
    if not genuine:
        messages.append(without_attempts("genuine"))
    if not impostor:
        messages.append(without_attempts("impostor"))
    if tally.skipped_claims:
        messages.append(Message("claims-not-enrolled", claims=int(tally.skipped_claims)))
    if impostor:
        independent = _independent(tally, points)
        symmetric = bool(points.symmetric)
        people = ComparedPeople.of_tally(tally)
        messages += support_messages(points.far_target, independent, symmetric, "frr", people)
        pairs = genuine / 2 if symmetric else genuine
        messages += support_messages(points.frr_target, pairs, symmetric, "far", people, "frr")
    if doubt is not None:
        messages.append(doubt)
    return messages


def doubt_of_kind(tally: Verified, eer: float) -> Message | None:
    """Return the message of attempts near chance or below it; None where there is no doubt."""
    genuine, people = tally.attempts.genuine_attempts, ComparedPeople.of_tally(tally)
    return KindVerdict.doubt(
        eer,
        tally.about.kind,
        min(genuine, people.number if people and people.number else genuine),
        fused=tally.use.fused is not None or bool(tally.about.use),
        metric=tally.about.metric,
    )


def _independent(tally: Verified, points: VerificationPoints) -> float:
    """Return the impostor attempts, each pair of a symmetric matrix once."""
    return (
        tally.attempts.impostor_attempts / 2
        if points.symmetric
        else tally.attempts.impostor_attempts
    )

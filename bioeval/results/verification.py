"""Verification: GAR, FRR, FAR and GRR against the threshold."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.base.registry import names_of, scalar_registry
from bioeval.counting.points import VerificationPoints
from bioeval.counting.thresholds import to_user
from bioeval.counting.verification import Verified
from bioeval.results.dataset import (
    Scalars,
    Variables,
    about_attrs,
    along,
    build,
    decisions,
    rate,
)
from bioeval.results.support import (
    ComparedPeople,
    KindVerdict,
    support_messages,
    without_attempts,
)
from bioeval.results.ties import tie_message
from bioeval.scores.provenance import disjoint_pairs


def verification_scalars(tally: Verified) -> Scalars:
    """Return the attempts and the operating points."""
    points = points_of(tally)
    variables: Variables = {
        "genuine_attempts": ((), np.int64(tally.attempts.genuine_attempts)),
        "impostor_attempts": ((), np.int64(tally.attempts.impostor_attempts)),
        "skipped_claims": ((), np.int64(tally.skipped_claims)),
    }
    people = None
    if tally.people is not None:
        people = tally.people.subjects, tally.people.disjoint_pairs
    elif sides := tally.about.people:
        people = sides[-1], disjoint_pairs(*sides)
    if people is not None:
        subjects, pairs = people
        variables["subjects"] = (), np.int64(subjects)
        variables["disjoint_pairs"] = (), np.int64(pairs)
    numbers, labels = Scalars.of_points(points, tally.about.kind, _independent(tally, points))
    return Scalars(variables | numbers, labels)


def points_of(tally: Verified) -> VerificationPoints:
    """Return the operating points, which have been found."""
    assert tally.points is not None
    return tally.points


def verification_dataset(tally: Verified) -> xr.Dataset:
    """Return counts and rates over the tally's thresholds.

    Each rate is over the attempts of its own class: GAR and FRR over the genuine, FAR and GRR
    over the impostor attempts. A rate without attempts is NaN.
    """
    points = points_of(tally)
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
    rates = decisions(ga, genuine, fa, impostor, scalar_registry().at_threshold["task"])
    variables = {**rates, **scalars.variables}
    if unenrolled is not None:
        far_unenrolled = rate(accepted, len(unenrolled))
        variables |= along(("threshold",), far_unenrolled=far_unenrolled, fa_unenrolled=accepted)
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
    return build(variables, names_of("verification"), coordinates, attrs)


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
    return KindVerdict.doubt(
        eer,
        tally.about.kind,
        _people(tally),
        fused=tally.use.fused is not None or bool(tally.about.use),
        metric=tally.about.metric,
    )


def _people(tally: Verified) -> int:
    """Return the number of subjects, or of genuine attempts where these are fewer or unknown."""
    genuine, subjects = tally.attempts.genuine_attempts, 0
    if tally.people:
        subjects = tally.people.subjects
    elif tally.about.people:
        subjects = tally.about.people[2]
    return min(genuine, subjects or genuine)


def _independent(tally: Verified, points: VerificationPoints) -> float:
    """Return the impostor attempts, each pair of a symmetric matrix once."""
    return (
        tally.attempts.impostor_attempts / 2
        if points.symmetric
        else tally.attempts.impostor_attempts
    )

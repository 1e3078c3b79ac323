"""Verification: GAR, FRR, FAR and GRR against the threshold."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.errors import Message
from bioeval.base.kinds import Kind
from bioeval.counting.thresholds import in_order_of_scores, to_user
from bioeval.counting.verification import Verified
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Scalars, Variables, dataset, decisions, rate, variables_over
from bioeval.results.support import (
    note_thresholds_beyond_scores,
    support_messages,
    supported,
    tie_message,
    without_attempts,
)
from bioeval.results.variables import VERIFICATION, described, rates_of_scripts


def verification_scalars(verified: Verified) -> Scalars:
    """Return the attempts and the operating points."""
    values, labels = _variables_and_labels(verified)
    labels["cost"] = verified.points.wanted.costs[:, 0]
    return Scalars(values, labels, VERIFICATION)


def _variables_and_labels(verified: Verified) -> tuple[Variables, dict[str, np.ndarray]]:
    points = verified.points
    attempts = verified.attempts
    people = verified.compared
    requested = points.wanted
    values: Variables = {
        "genuine_attempts": np.int64(attempts.genuine_attempts),
        "impostor_attempts": np.int64(attempts.impostor_attempts),
        "skipped_claims": np.int64(verified.skipped_claims),
    }
    genuine, impostor = _genuine_pairs(verified), points.independent
    if people is not None:
        values |= {"subjects": np.int64(people.number), "disjoint_pairs": np.int64(people.disjoint)}
        genuine, impostor = min(genuine, people.number), min(impostor, people.pairs)
    values |= in_units(points.values, verified.about.kind)
    values["frr_at_far_supported"] = supported(requested.targets, impostor)
    labels = {"far_target": requested.targets}
    if len(requested.frr_targets):
        values["far_at_frr_supported"] = supported(requested.frr_targets, genuine)
        labels["frr_target"] = requested.frr_targets
    return values, labels


def in_units(values: Variables, kind: Kind) -> Variables:
    """Return operating points with their thresholds in the user's units."""
    thresholds = [x for x in values if described(VERIFICATION, x).units == "score"]
    return values | {name: to_user(values[name], kind) for name in thresholds}


def verification_dataset(verified: Verified) -> xr.Dataset:
    """Return counts and rates over the counted thresholds.

    Each rate is over the attempts of its own class: GAR and FRR over the genuine, FAR and GRR
    over the impostor attempts. A rate without attempts is NaN.
    """
    points = verified.points
    attempts = verified.attempts
    about = verified.about
    thresholds, fa = verified.curve
    thresholds, first = np.unique(np.append(thresholds, points.extra_thresholds), return_index=True)
    fa = np.append(fa, points.extra_accepted)[first]
    ga = attempts.genuine.searchsorted(thresholds, side="right")
    order = in_order_of_scores(about.kind)
    values, labels = _variables_and_labels(verified)
    sizes = attempts.genuine_attempts, attempts.impostor_attempts
    variables = decisions(ga[order], fa[order], *sizes, rates_of_scripts()) | values
    threshold_next = to_user(attempts.next_scores(thresholds), about.kind)[order]
    variables |= variables_over(("threshold",), threshold_next=threshold_next)
    if (unenrolled := verified.unenrolled) is not None:
        accepted = unenrolled.searchsorted(thresholds, side="right")[order]
        variables["far_unenrolled"] = rate(accepted, len(unenrolled))
        variables["fa_unenrolled"] = accepted
        variables["unenrolled_attempts"] = len(unenrolled)
    title = f"verification, {about.use_title or f'{verified.use.templates}-template'}"
    genuine, impostor = verified.attempts.genuine_attempts, verified.attempts.impostor_attempts
    points, people = verified.points, verified.compared
    error = points.equal_error
    messages = [*tie_message("eer", error.ends, "EER")]
    if not genuine:
        messages.append(without_attempts("genuine"))
    if not impostor:
        messages.append(without_attempts("impostor"))
    if verified.skipped_claims:
        messages.append(Message("claims-not-enrolled", claims=int(verified.skipped_claims)))
    if impostor:
        requested = points.wanted
        symmetric = bool(points.symmetric)
        messages += support_messages(
            requested.targets, points.independent, symmetric, "frr at far", people
        )
        pairs = _genuine_pairs(verified)
        number = None if people is None else people.number
        messages += support_messages(requested.frr_targets, pairs, symmetric, "far at frr", number)
    attrs = about_attrs(about, "verification", title, messages)
    attrs |= {**verified.use.attrs, "claims": verified.claims_of}
    if about.use_name and verified.use.templates == "single":
        attrs |= {"templates": about.use_name, "fusion": about.use_fusion}
    if verified.compared is not None and not verified.compares_all:
        attrs["pairs_of_people"] = verified.compared.pairs
    if about.nan == "reject":
        attrs["failed_attempts"] = attempts.missed + attempts.missed_impostors
    coordinates = {"threshold": to_user(thresholds, about.kind)[order], **labels}
    result = dataset(variables, VERIFICATION, coordinates, attrs)
    if isinstance(verified.requested_thresholds, np.ndarray):
        note_thresholds_beyond_scores(
            result, to_user(verified.requested_thresholds, about.kind).tolist()
        )
    return result


def _genuine_pairs(verified: Verified) -> float:
    genuine = verified.attempts.genuine_attempts
    return genuine / 2 if verified.points.symmetric else genuine

"""Verification of claims in use that are listed: means over all choices of enrolled templates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, ProtocolError
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message
from bioeval.base.registry import names_of, scalar_registry
from bioeval.results.dataset import about_attrs, build, decisions
from bioeval.scores.matrix import Scores
from bioeval.stats.listed_claims import limits_of_claims
from bioeval.stats.options import IntervalOptions
from bioeval.tallies.listed_claims import ListedClaims, Use, list_claims, scores_in_use
from bioeval.tallies.threshold_rules import Rule
from bioeval.tallies.thresholds import check_thresholds, to_internal, to_user

#: Thresholds of a curve, unless they are given.
_THRESHOLDS = 1000


def listed_verification(
    scores: Scores,
    use: Use,
    *,
    thresholds: Any,
    far_targets: np.ndarray,
    limits: IntervalOptions | None,
    unsupported: dict[str, Any],
    extra_thresholds: np.ndarray | None = None,
) -> xr.Dataset:
    """Return verification of claims in use; its `unsupported` options may not be given.

    See :func:`bioeval.verification`: counts are expected counts. The curves have rows at
    `extra_thresholds` too, in the units of the scores.
    """
    for name, value in unsupported.items():
        if value is not None:
            raise ProtocolError(
                Argument(name),
                " and ",
                Argument("enrol", use.enrol.number),
                " are both given, but means over all choices of templates have EER and FRR at the "
                "FAR targets alone; give one of them",
            )
    if limits is not None and limits.method != "subject-bootstrap":
        raise ProtocolError(
            Argument("interval", limits.method),
            " does not go with ",
            Argument("enrol", use.enrol.number),
            "; expected ",
            Argument("interval", "subject-bootstrap"),
        )
    scores = scores_in_use(scores, use)
    claims, messages, reader = list_claims(scores, use)
    reader.note_failure_codes()
    kind = scores.kind
    error, rules = claims.equal_error(), [Rule("far", (x,)) for x in far_targets.tolist()]
    at_far = np.array([claims.chosen_by(rule).threshold for rule in rules])
    grid = _grid(claims, thresholds, kind, np.append(at_far, error.eer_threshold))
    if extra_thresholds is not None:
        grid = np.union1d(grid, to_internal(extra_thresholds, kind))
    genuine, impostor = claims.genuine_attempts, claims.impostor_attempts
    fa, ga = claims.impostor.accepted_at(grid), claims.genuine.accepted_at(grid)
    rejected = [claims.errors_at(threshold)[1] / (genuine or math.nan) for threshold in at_far]
    variables = {
        **decisions(ga, genuine, fa, impostor, scalar_registry().at_threshold["task"]),
        **error.variables(kind),
        "frr_at_far": (("far_target",), np.array(rejected)),
        "threshold_at_far": (("far_target",), to_user(at_far, kind)),
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
        "impostor_pairs": impostor,
        "disjoint_pairs": claims.disjoint_pairs,
        "subjects": claims.people - int(claims.no_person.sum()),
    }
    if not genuine:
        messages.append(Message("no-genuine-attempt", rates=["gar", "frr"]))
    if not impostor:
        messages.append(Message("no-impostor-attempt", rates=["far", "grr"]))
    attrs = about_attrs(reader.about, "verification", "verification, multi-template", messages)
    attrs |= {"templates": use.templates, "fusion": use.fusion, "claims": "all"} | use.attrs()
    attrs["most_tries"] = claims.most_tries
    names = names_of("verification")
    coordinates = {"threshold": to_user(grid, kind), "far_target": far_targets}
    dataset = build(variables, names, coordinates, attrs)
    if limits is not None:
        of_rates = limits_of_claims(claims, grid, limits)
        of_rates |= {
            "gar": (1 - of_rates["frr"][1], 1 - of_rates["frr"][0]),
            "grr": (1 - of_rates["far"][1], 1 - of_rates["far"][0]),
        }
        people = claims.people - int(claims.no_person.sum())
        dataset = limits.added_to(dataset, of_rates, names, limits.few_people(people))
    if larger_is_closer(kind):
        return dataset.isel(threshold=slice(None, None, -1))
    return dataset


def _grid(claims: ListedClaims, thresholds: Any, kind: str, points: np.ndarray) -> np.ndarray:
    """Return thresholds as increasing distances: given ones, or even ones and the `points`."""
    chosen = check_thresholds(thresholds)
    if isinstance(chosen, np.ndarray):
        return to_internal(chosen, kind)
    finite = claims.value[np.isfinite(claims.value)]
    even = np.empty(0)
    if len(finite):
        even = np.linspace(finite[0], finite[-1], chosen or _THRESHOLDS)
    return np.union1d(even, points[np.isfinite(points)])

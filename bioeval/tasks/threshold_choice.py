"""The threshold that a rule chooses on all attempts, and the attempts accepted at thresholds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bioeval.attempts.passes import count_with_points
from bioeval.attempts.point_search import PointFinder
from bioeval.attempts.second_pass import PointsWanted
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.threshold_search import Attempts
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.errors import Argument, ProtocolError
from bioeval.scores.blocks import BlockReader, threads_for


def chosen_threshold(
    reader: BlockReader,
    rule: Rule,
    *,
    templates: str = "single",
    fusion: str = "min",
    missed: tuple[int, int] = (0, 0),
    argument: str = "threshold",
) -> float:
    """Return the distance that a rule chooses on all attempts; only a given one reads no score.

    `missed` are genuine and impostor attempts that no threshold accepts. NaN rejects
    all: the stricter thresholds are all taken by scores. The rule is named as `argument`.
    """
    scores = reader.scores
    rule = rule.as_distance(scores.kind)
    if rule.name == "fixed":
        return rule.values[0]
    counter = VerificationCounter(reader, templates=templates, fusion=fusion)
    targets = np.array(rule.values if rule.name == "far" else ())
    costs = np.array([rule.values]) if rule.name == "cost" else np.empty((0, 3))
    wanted = PointsWanted(targets, costs, rule.name in ("cost", "accuracy"))
    (tally,), second_passes = count_with_points(reader, [counter], wanted)
    tally = replace(tally, missed=missed)
    attempts = Attempts.of_cells(tally.genuine, tally.impostor, missed)
    genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
    if not (genuine and impostor):
        lacking = "impostor" if genuine else "genuine"
        raise ProtocolError(
            Argument(argument, str(rule)),
            f" is chosen on genuine and impostor attempts, and there is no {lacking} attempt; "
            "give a number",
        )
    if rule.name == "frr":
        strictest = attempts.at_frr(rule.values[0])
        if strictest is None:
            return np.nan
        return strictest
    if rule.name == "accuracy":  # each attempt weighs the same
        costs = np.array([[0.5, genuine, impostor]])
    wanted = replace(wanted, costs=costs)
    with threads_for(scores):
        points = PointFinder.points_of(
            tally,
            counter,
            wanted,
            symmetric=False,
            second_pass=second_passes.get(counter),
        )
    if rule.name == "eer":
        return points.equal_error.eer_threshold
    return float((points.threshold_at_far if rule.name == "far" else points.min_cost_threshold)[0])

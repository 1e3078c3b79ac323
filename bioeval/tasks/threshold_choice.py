"""The threshold that a rule chooses on all attempts, and the attempts accepted at thresholds."""

from __future__ import annotations

from bioeval.base.errors import ProtocolError
from bioeval.counting.threshold_rules import ChosenThreshold, Rule, choose, no_such_threshold
from bioeval.counting.verification import Use, verify
from bioeval.counting.wanted_points import PointsWanted
from bioeval.scores.distances import Templates
from bioeval.scores.matrix import Scores


def chosen_threshold(
    scores: Scores,
    rule: Rule,
    *,
    templates: Templates = "single",
    fusion: str = "best",
    argument: str = "threshold",
) -> ChosenThreshold:
    """Return the distance that a rule chooses on all attempts; a fixed threshold reads no score.

    The distance is NaN if all attempts must be rejected, but no threshold is below all scores.
    Errors name the rule by `argument`.
    """
    rule = rule.as_distance(scores.kind)
    if rule.name == "fixed":
        return ChosenThreshold(rule.values[0], True)
    attempts = verify(scores, Use(templates, fusion), wanted=PointsWanted.of_rule(rule)).attempts
    genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
    if not (genuine and impostor):
        lacking = "impostor" if genuine else "genuine"
        raise ProtocolError(
            f'`{argument}="{rule}"` is chosen on genuine and impostor attempts, and '
            f"there is no {lacking} attempt; give a number"
        )
    chosen = choose(rule, attempts)
    if not chosen.defined:
        reason = no_such_threshold(rule, attempts)
        raise ProtocolError(f'`{argument}="{rule}"`: of the thresholds {reason}; give a number')
    return chosen

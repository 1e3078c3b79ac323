"""The threshold that a rule chooses on all attempts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bioeval.base.errors import Argument, ProtocolError
from bioeval.scores.blocks import BlockReader, Progress, threads_for
from bioeval.tallies.point_search import ImpostorSweep, refine
from bioeval.tallies.second_pass import PointsWanted
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.threshold_rules import Rule
from bioeval.tallies.threshold_search import Attempts
from bioeval.tallies.verification_job import VerificationJob


def chosen_threshold(
    reader: BlockReader,
    rule: Rule,
    *,
    templates: str,
    fusion: str,
    missed: tuple[int, int] = (0, 0),
    progress: Progress | None = None,
) -> float:
    """Return the distance that a rule chooses on all attempts; only a given one reads no score.

    `missed` are genuine and impostor attempts that no threshold accepts. NaN rejects
    all: the stricter thresholds are all taken by scores.
    """
    scores = reader.scores
    rule = rule.as_distance(scores.kind)
    if rule.name == "fixed":
        return rule.values[0]
    job = VerificationJob(reader, templates=templates, fusion=fusion)
    targets = np.array(rule.values if rule.name == "far" else ())
    costs = np.array([rule.values]) if rule.name == "cost" else np.empty((0, 3))
    job.wanted = PointsWanted(targets, costs, rule.name in ("cost", "accuracy"))
    (tally,) = run_jobs(reader, [job], progress)
    tally = replace(tally, missed=missed)
    attempts = Attempts.of_cells(tally.genuine, tally.impostor, missed)
    genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
    if not (genuine and impostor):
        lacking = "impostor" if genuine else "genuine"
        raise ProtocolError(
            f"{Argument('threshold', str(rule))} is chosen on genuine and impostor attempts, and "
            f"there is no {lacking} attempt; give a number"
        )
    if rule.name == "frr":
        strictest = attempts.at_frr(rule.values[0])
        return np.nan if strictest is None else strictest
    if rule.name == "accuracy":  # each attempt weighs the same
        costs = np.array([[0.5, genuine, impostor]])
    wanted = PointsWanted(targets, costs, job.wanted.every_score)
    with threads_for(scores):
        points = refine(
            tally, ImpostorSweep(job), wanted, symmetric=False, second_pass=job.second_pass
        )
    if rule.name == "eer":
        return points.equal_error.eer_threshold
    return float((points.threshold_at_far if rule.name == "far" else points.min_cost_threshold)[0])

"""Who is confused with whom: the pairs of people that make the false accepts at a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.kinds import Kind
from bioeval.base.progress import stage
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import to_user
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.rows import attempted
from bioeval.showing.header import rule_in_words
from bioeval.showing.text import Text, say
from bioeval.stats.people import people_counts
from bioeval.studies.check.findings import Side
from bioeval.tasks.threshold_choice import chosen_threshold


@dataclass(frozen=True)
class ConfusedPair:
    """Two people that are taken for each other: their false accepts, and the nearest templates.

    Attributes
    ----------
    false_accepts, attempts : int
        Impostor attempts between the two that are accepted, and all of them, in both directions.
    score : float
        The score of the nearest templates of the two.
    probe, claimed : Side
    """

    false_accepts: int
    attempts: int
    score: float
    probe: Side
    claimed: Side


@dataclass(frozen=True)
class Confusions:
    """The pairs of people that make the false accepts at a threshold, the most first.

    Attributes
    ----------
    threshold : float
        In the units of the scores; `at` says where it comes from.
    next : float
        The nearest score that is not accepted at the threshold; NaN where it was given.
    false_accepts, pairs : int
        All false accepts, and the pairs of people that make them.
    listed : tuple of ConfusedPair
        The first of these pairs.
    use : str
        What an attempt is, of claims; empty where it is a single comparison.
    """

    threshold: float
    next: float
    kind: Kind
    at: Text
    false_accepts: int
    pairs: int
    listed: tuple[ConfusedPair, ...]
    use: str


@stage("looking who is confused with whom")
def confusions_at(
    scores: Scores, threshold: Any, most: int, claims: Scores | None
) -> Confusions | None:
    """Return who is confused with whom at a threshold; None where nobody can be named.

    Up to `most` pairs of people are listed. `threshold` is a number or a rule. False accepts are
    counted in `claims`, if there are any; the nearest templates are those of `scores`.
    """
    has_people = scores.layout not in ("pairs", "top-k") and knows_people(scores)
    if not has_people or scores.kind == "order":
        return None
    compared = scores if claims is None else claims
    rule = Rule.parse(threshold)
    try:
        chosen = chosen_threshold(compared, rule)
        threshold_used, threshold_next = chosen.in_units(scores.kind).values()
        counts = people_counts(compared, [threshold_used])
    except (DataError, ProtocolError):
        return None  # a class has no attempts, or comparisons failed: findings say so
    if math.isnan(threshold_used):
        return None
    # Both directions of a pair of people are one number, by which attempts and errors are added up.
    people = len(counts.people)
    low, high = np.sort(np.stack([counts.probe, counts.claimed]).astype(np.int64), axis=0)
    pair, index = np.unique(low * people + high, return_inverse=True)
    errors, attempts = (
        np.bincount(index, x, minlength=len(pair)).astype(np.int64)
        for x in (counts.impostor_accepted[0], counts.impostor_attempts)
    )
    listed = []
    for i in np.lexsort((pair, -errors))[:most].tolist():
        if errors[i]:
            two_people = [counts.people[person] for person in divmod(int(pair[i]), people)]
            listed.append(
                ConfusedPair(int(errors[i]), int(attempts[i]), *_nearest(scores, two_people))
            )
    return Confusions(
        threshold_used,
        threshold_next,
        scores.kind,
        ""
        if rule.name == "fixed"
        else say("{rule}, chosen on these data", rule=rule_in_words(rule)),
        int(errors.sum()),
        int((errors > 0).sum()),
        tuple(listed),
        compared.claims,
    )


def _nearest(scores: Scores, two_people: list[Any]) -> tuple[float, Side, Side]:
    """Return the score, the probe and the gallery template of the nearest impostor comparison."""
    probes = np.flatnonzero(np.isin(scores.probe_labels, two_people))
    gallery = np.flatnonzero(np.isin(scores.gallery_labels, two_people))
    values = attempted(scores.select(probes, gallery), 0, len(probes))
    values[scores.probe_labels[probes][:, None] == scores.gallery_labels[gallery]] = np.nan
    row, column = divmod(int(np.nanargmin(values)), values.shape[1])
    score = float(to_user(values[row, column], scores.kind))
    probe = Side.from_columns(scores.probe_labels, scores.probe_meta, int(probes[row]))
    return (
        score,
        probe,
        Side.from_columns(scores.gallery_labels, scores.gallery_meta, int(gallery[column])),
    )

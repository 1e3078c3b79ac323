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
    false_accepts, attempts = (
        np.bincount(index, x, minlength=len(pair)).astype(np.int64)
        for x in (counts.impostor_accepted[0], counts.impostor_attempts)
    )
    is_confused = false_accepts > 0
    listed = []
    for i in np.lexsort((pair, -false_accepts))[: min(most, is_confused.sum())].tolist():
        two_people = [counts.people[person] for person in divmod(int(pair[i]), people)]
        listed.append(_confused(scores, two_people, int(false_accepts[i]), int(attempts[i])))
    source: Text = ""
    if rule.name != "fixed":
        source = say("{rule}, chosen on these data", rule=rule_in_words(rule))
    return Confusions(
        threshold=threshold_used,
        next=threshold_next,
        kind=scores.kind,
        at=source,
        false_accepts=int(false_accepts.sum()),
        pairs=int(is_confused.sum()),
        listed=tuple(listed),
        use=compared.claims,
    )


def _confused(
    scores: Scores, two_people: list[Any], false_accepts: int, attempts: int
) -> ConfusedPair:
    probes = np.flatnonzero(np.isin(scores.probe_labels, two_people))
    gallery = np.flatnonzero(np.isin(scores.gallery_labels, two_people))
    distances = attempted(scores.select(probes, gallery), 0, len(probes))
    is_genuine = scores.probe_labels[probes][:, None] == scores.gallery_labels[gallery]
    distances[is_genuine] = np.nan
    i, j = divmod(int(np.nanargmin(distances)), distances.shape[1])
    return ConfusedPair(
        false_accepts,
        attempts,
        score=float(to_user(distances[i, j], scores.kind)),
        probe=Side.from_columns(scores.probe_labels, scores.probe_meta, int(probes[i])),
        claimed=Side.from_columns(scores.gallery_labels, scores.gallery_meta, int(gallery[j])),
    )

"""Claims by subject where any of several templates may be enrolled: means over all choices."""

from __future__ import annotations

import numpy as np

from bioeval import Scores
from bioeval.evaluation import ResultThreshold
from bioeval.scores import plain, threads_for
from bioeval.studies.zoo.counts import (
    AcceptedPairs,
    BySubject,
    GroupMeans,
    HalfMeans,
    SubjectTally,
)
from bioeval.tallies import list_claims, scores_in_use, to_internal

# Expected counts are sums of chances, whose rounding is smaller than this.
_ROUNDING = 1e-9


def _whole(counts: np.ndarray) -> np.ndarray:
    """Return expected counts, those that are whole numbers without the rounding of their sums."""
    nearest = np.rint(counts)
    return np.where(np.abs(counts - nearest) < _ROUNDING, nearest, counts)


def claims_by_subject(scores: Scores, study: ResultThreshold) -> SubjectTally:
    """Return the claims of a study by subject, with expected errors at its threshold.

    Scores of a claim count by their chances. There are no halves of templates, which every choice
    mixes.
    """
    use = study.parsed_use
    compared = scores_in_use(scores, use)
    with threads_for(scores):
        claims, _, reader = list_claims(compared, use)
    reader.note_failure_codes()
    people = claims.people
    (at,) = to_internal(np.array([study.value]), scores.kind)

    def by_subject(value: np.ndarray, who: np.ndarray, chance: np.ndarray) -> BySubject:
        """Return the claims of one role by subject."""

        def expected(weight: np.ndarray) -> np.ndarray:
            return np.bincount(who, weight, minlength=people)

        finite = np.isfinite(value)
        within = _whole(expected(np.where(value <= at, chance, 0.0)))
        total = expected(np.where(finite, chance * np.where(finite, value, 0.0), 0.0))
        made = np.rint(expected(chance)).astype(np.int64)
        known = _whole(expected(np.where(finite, chance, 0.0)))
        return BySubject(made, known, within, total)

    genuine, impostor = claims.genuine, claims.impostor
    pair = impostor.probe.astype(np.int64) * people + impostor.claimed
    pairs, place = np.unique(pair, return_inverse=True)
    accepted = np.bincount(place, np.where(impostor.value <= at, impostor.chance, 0.0))
    accepted = _whole(accepted)
    some = np.flatnonzero(accepted)
    none = np.full(people, np.nan)
    halves = GroupMeans(none[:, None], none[:, None], np.zeros(people, dtype=np.int64))
    return SubjectTally(
        about=reader.about,
        names=list(map(plain, claims.names)),
        threshold=float(at),
        genuine=by_subject(genuine.value, genuine.probe, genuine.chance),
        as_probe=by_subject(impostor.value, impostor.probe, impostor.chance),
        as_claimed=by_subject(impostor.value, impostor.claimed, impostor.chance),
        accepted=AcceptedPairs(*np.divmod(pairs[some], people), accepted[some]),
        goats=HalfMeans(none, none, np.zeros(people, dtype=np.int64)),
        wolves=halves,
        lambs=halves,
        pairs=(np.empty(0), np.empty(0, dtype=np.int64)),
    )

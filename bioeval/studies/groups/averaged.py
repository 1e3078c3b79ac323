"""Claims by group where any of several templates may be enrolled: means over all choices."""

from __future__ import annotations

import numpy as np

from bioeval.scores import Provenance
from bioeval.tallies import GroupTally, ListedClaims, Rule


def tally_of_claims(
    about: Provenance, claims: ListedClaims, group: np.ndarray, number: int, rule: Rule
) -> GroupTally:
    """Return claims by group at a given threshold, a distance; errors are expected counts.

    `group` (int64 (people,)) is the group of each person, below `number`.
    """
    genuine, impostor = claims.genuine, claims.impostor
    chosen = claims.chosen_by(rule)
    of_genuine = group[genuine.probe]
    of_pair = group[impostor.probe] * number + group[impostor.claimed]
    rejected = np.where(genuine.value <= chosen.threshold, 0.0, genuine.chance)
    accepted = np.where(impostor.value <= chosen.threshold, impostor.chance, 0.0)

    def expected(places: np.ndarray, chances: np.ndarray, *shape: int) -> np.ndarray:
        return np.bincount(places, chances, minlength=int(np.prod(shape))).reshape(shape)

    made = np.rint(expected(of_genuine, genuine.chance, number)).astype(np.int64)
    tried = np.rint(expected(of_pair, impostor.chance, number, number)).astype(np.int64)
    return GroupTally(
        about=about,
        chosen=chosen,
        false_rejects=expected(of_genuine, rejected, number),
        genuine_attempts=made,
        false_accepts=expected(of_pair, accepted, number, number),
        impostor_attempts=tried,
        within_groups=[claims.among(group == g) for g in range(number)],
        equal_error=claims.about_equal_error() if claims.defined else np.nan,
    )

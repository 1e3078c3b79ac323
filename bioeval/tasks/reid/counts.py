"""Tallies of re-identification: the ranks of the matches of each query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.protocol.tasks import Gom
from bioeval.scores.matrix import Scores, codes_of
from bioeval.scores.provenance import Provenance
from bioeval.scores.top_k import TopKScores
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.matches import MatchLists


@dataclass
class ReidTally:
    """Counts from which the measures of re-identification are computed, query by query."""

    about: Provenance
    rules: Convention
    #: bool (m,): whether the query's identity is in the gallery, the query itself not counted.
    enrolled: np.ndarray
    left_out: np.ndarray  # bool (m,): whether the query is junk or a distractor
    subject_of_query: np.ndarray  # int64 (m,): a number for the subject of each query
    removed_entries: np.ndarray  # int64 (m,): gallery entries removed from the query's list
    matches: MatchLists  # on the list for average precision and INP
    cmc_matches: MatchLists | None = None  # on the list for the CMC, if that is another one
    #: float64 (m, K): probability that the one match of a single-shot gallery is at rank 1 ... K.
    shots: np.ndarray | None = None
    shots_at_ends: np.ndarray | None = None  # (m, 2, K): that under pessimistic, optimistic ties
    #: int64 (m, 3): other identities with an entry closer than the best match, with the nearest
    #: exactly as close, and those of the latter in an earlier column.
    identities: np.ndarray | None = None
    thresholds: np.ndarray | None = None  # float64 (t,): increasing distances
    #: int64 (m, t): entries of the list of `matches` within each threshold.
    retrieved: np.ndarray | None = None
    labels: np.ndarray | None = None  # int or str (m,): the identity of each query
    names: list[str] | None = None  # the template of each query

    @property
    def absent(self) -> np.ndarray:
        """Which queries are of an identity that the gallery lacks, but for those left out."""
        return ~self.enrolled & ~self.left_out


def query_labels(scores: Scores | TopKScores) -> np.ndarray:
    """Return the label of each query: a number, or a text as Python writes it."""
    codes = codes_of(scores)
    values = codes.values
    if values.dtype.kind not in "iuU":
        listed = values.tolist()
        all_text = all(isinstance(x, str) for x in listed)
        values = np.array(listed if all_text else [*map(repr, listed)], dtype=str)
    return values[codes.probe]


@dataclass(kw_only=True)
class GomTally(ReidTally):
    """Gallery entries retrieved by each query within each threshold, for GOM.

    Distances and thresholds are normalised. Of the variant ``"reference"``, removed entries are
    counted at distance 1.
    """

    thresholds: np.ndarray
    retrieved: np.ndarray
    task: Gom
    #: ``(distance - low) / (high - low)`` is the normalised distance.
    low: float
    high: float

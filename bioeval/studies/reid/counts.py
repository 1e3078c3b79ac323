"""Tallies of re-identification that merge: the ranks of the matches of each query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bioeval import MergeError
from bioeval.base import Argument
from bioeval.scores import Provenance
from bioeval.studies.reid.matches import MatchLists, concatenated
from bioeval.tallies import require_alike


@dataclass
class ReidTally:
    """Counts from which the measures of re-identification are computed, query by query.

    Attributes
    ----------
    about : Provenance
    convention, removed, removed_for_ap, junk, cmc : str
        The rules of counting; tallies with other rules do not merge.
    shots_of : str
        For single gallery shots: the ties and the sampling.
    enrolled : bool array, shape (m,)
        Whether the query's identity is in the gallery, the query itself not counted.
    removed_entries : int64 array, shape (m,)
        Gallery entries removed from the query's list.
    matches : MatchLists
        On the list for average precision and INP.
    cmc_matches : MatchLists, optional
        On the list for the CMC, if that is another one.
    shots : float64 array, shape (m, K), optional
        Probability that the one match of a single-shot gallery is at rank 1 ... K.
    identities : int64 array, shape (m, 3), optional
        Other identities with an entry closer than the best match, with the nearest exactly as
        close, and those of the latter in an earlier column.
    thresholds : float64 array, shape (t,), optional
        Increasing distances.
    retrieved : int64 array, shape (m, t), optional
        Entries of the list of `matches` within each threshold.
    """

    form: ClassVar[str] = "reid"

    about: Provenance
    convention: str
    removed: str
    removed_for_ap: str
    junk: str
    cmc: str
    shots_of: str
    enrolled: np.ndarray
    removed_entries: np.ndarray
    matches: MatchLists
    cmc_matches: MatchLists | None = None
    shots: np.ndarray | None = None
    identities: np.ndarray | None = None
    thresholds: np.ndarray | None = None
    retrieved: np.ndarray | None = None

    def merge(self, other: ReidTally) -> ReidTally:
        """Concatenate the queries of both."""
        rules = ("convention", "removed", "removed_for_ap", "junk", "cmc", "shots_of")
        require_alike(self, other, rules)
        require_same_entries(self.thresholds, other.thresholds)
        names = ["enrolled", "removed_entries"]
        for name in ("shots", "identities", "retrieved"):
            if getattr(self, name) is not None:
                names.append(name)
        joined = concatenated([self, other], names)
        if self.cmc_matches is not None and other.cmc_matches is not None:
            joined["cmc_matches"] = MatchLists.joined([self.cmc_matches, other.cmc_matches])
        return replace(
            self,
            about=self.about.merge(other.about),
            matches=MatchLists.joined([self.matches, other.matches]),
            **joined,
        )


@dataclass
class GomTally:
    """Gallery entries retrieved by each query within each threshold, for GOM.

    Attributes
    ----------
    about : Provenance
    convention, removed, junk, variant : str
        The rules of counting; tallies with other rules do not merge. Of the variant
        ``"reference"``, removed entries are counted at distance 1.
    low, high : float
        ``(distance - low) / (high - low)`` is the normalised distance.
    thresholds : float64 array, shape (t,)
        Increasing, on the normalised scale.
    retrieved : int64 array, shape (m, t)
        Gallery entries within each threshold.
    enrolled : bool array, shape (m,)
    removed_entries : int64 array, shape (m,)
    matches : MatchLists
        With normalised distances.
    """

    form: ClassVar[str] = "gom"

    about: Provenance
    convention: str
    removed: str
    junk: str
    variant: str
    low: float
    high: float
    thresholds: np.ndarray
    retrieved: np.ndarray
    enrolled: np.ndarray
    removed_entries: np.ndarray
    matches: MatchLists

    def merge(self, other: GomTally) -> GomTally:
        """Concatenate the queries of both; distances must be on one scale."""
        require_alike(self, other, ("convention", "removed", "junk", "variant"))
        require_same_entries(self.thresholds, other.thresholds)
        mine, theirs = (self.low, self.high), (other.low, other.high)
        if mine != theirs:
            raise MergeError(
                f"tallies of GOM whose distances are scaled from {mine} and from {theirs}; count "
                f"all parts again on the scale of all: {Argument('normalize')} = "
                f"({min(mine + theirs)!r}, {max(mine + theirs)!r})"
            )
        return replace(self.append(other), about=self.about.merge(other.about))

    def append(self, other: GomTally) -> GomTally:
        """Append the queries of another data set, counted alike, with the provenance of both."""
        return replace(
            self,
            about=self.about.with_appended(other.about),
            matches=MatchLists.joined([self.matches, other.matches]),
            **concatenated([self, other], ("retrieved", "enrolled", "removed_entries")),
        )


def require_same_entries(mine: np.ndarray | None, theirs: np.ndarray | None) -> None:
    """Raise :class:`MergeError` unless entries were counted within the same thresholds."""
    same = mine is theirs is None
    if mine is not None and theirs is not None:
        same = np.array_equal(mine, theirs)
    if not same:
        raise MergeError("entries were retrieved at different thresholds; count both at the same")

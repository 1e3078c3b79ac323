"""The table of people: attempts, and accepted attempts, of each person against each other.

The numbers by people of all studies are sums over this table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bioeval.base.arguments import require_listed_numbers
from bioeval.base.options import require_memory
from bioeval.counting.people import CountedPeople, CountPeople
from bioeval.counting.reduce import reduce
from bioeval.counting.thresholds import require_values
from bioeval.counting.verification import Use
from bioeval.scores.distances import Templates
from bioeval.scores.matrix import Scores, require_all_scores
from bioeval.scores.people import require_people
from bioeval.stats.weighted_sums import by_subject


@dataclass(frozen=True, eq=False)
class PeopleCounts:
    """Attempts by person, and accepted ones at each threshold.

    Attributes
    ----------
    people : list
        The label of each person; distractors and junk are among them (`no_person`).
    no_person : bool array, shape (people,)
    thresholds : float64 array, shape (t,)
        In the units of the scores, as they were given.
    genuine_attempts : int64 array, shape (people,)
    genuine_accepted : int64 array, shape (t, people)
    probe, claimed : int32 arrays, shape (pairs,)
        The two people of each pair with impostor attempts, as indices into `people`. Pairs are
        sorted by `probe`, then by `claimed`.
    impostor_attempts : int64 array, shape (pairs,)
    impostor_accepted : int64 array, shape (t, pairs)
    """

    people: list
    no_person: np.ndarray
    thresholds: np.ndarray
    genuine_attempts: np.ndarray
    genuine_accepted: np.ndarray
    _counted: CountedPeople = field(repr=False)
    # (t,): index of each threshold among the counted, sorted ones; -1 for NaN.
    _row_of_threshold: np.ndarray = field(repr=False)

    @property
    def listed(self) -> bool:
        """Whether the attempts are listed pairs."""
        return self._counted.listed

    @property
    def sizes(self) -> np.ndarray:
        """The probes, and the gallery templates or claims, of each person; 0 for listed pairs."""
        return self._counted.sizes

    @cached_property
    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        return self._counted.pairs()

    @cached_property
    def probe(self) -> np.ndarray:
        """The person of the probe of each pair."""
        return (self._pairs[0] // len(self.people)).astype(np.int32)

    @cached_property
    def claimed(self) -> np.ndarray:
        """The claimed person of each pair."""
        return (self._pairs[0] % len(self.people)).astype(np.int32)

    @property
    def impostor_attempts(self) -> np.ndarray:
        """The number of impostor attempts of each pair."""
        return self._pairs[1]

    @cached_property
    def impostor_accepted(self) -> np.ndarray:
        """The number of impostor attempts of each pair that each threshold accepts."""
        (pairs, _) = self._pairs
        rows = self._counted.thresholds + len(self._row_of_threshold)
        needed = 8 * len(pairs) * rows
        require_memory(needed, f"a table of {len(pairs):,} pairs", "expected fewer thresholds")
        return _at_thresholds(self._counted.accepted_of_pairs(pairs), self._row_of_threshold)

    def table(self, counts: np.ndarray) -> np.ndarray:
        """Return counts of the pairs as a square: ``[person of the probe, claimed person]``."""
        people = len(self.people)
        require_memory(8 * people**2, f"a table of {people:,} people", "expected fewer people")
        square = np.zeros((people, people), dtype=counts.dtype)
        square[self.probe, self.claimed] = counts
        return square

    def of_groups(
        self, of_probe: np.ndarray, of_claimed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the accepted impostor attempts (t, g, h), and all impostor attempts (g, h).

        `of_probe` and `of_claimed` (people,) are the groups of people as probes and as claimed
        people, from 0.
        """
        accepted, attempts = self._counted.of_groups(of_probe, of_claimed)
        return _at_thresholds(accepted, self._row_of_threshold), attempts


def _at_thresholds(counts: np.ndarray, row_of_threshold: np.ndarray) -> np.ndarray:
    """Return the rows of counts, (t, ...), and 0 for row -1, a threshold that is NaN."""
    at_thresholds = np.zeros((len(row_of_threshold), *counts.shape[1:]), dtype=np.int64)
    at_thresholds[row_of_threshold >= 0] = counts[row_of_threshold[row_of_threshold >= 0]]
    return at_thresholds


def people_counts(
    scores: Scores,
    thresholds: Sequence[float] | np.ndarray = (),
    *,
    templates: Templates = "single",
    fusion: str = "best",
) -> PeopleCounts:
    """Count verification by the person of the probe and the person claimed, in one pass.

    Parameters
    ----------
    scores : Scores
        Scores with the subjects of all attempts: a matrix with labels, or pairs that name people.
    thresholds : sequence of float, shape (t,)
        Thresholds in the units of the scores, in any order. NaN accepts nothing.
    templates, fusion : str
        An attempt is of single templates, or of all of a person; see :func:`bioeval.verification`.

    Returns
    -------
    PeopleCounts
        Pairs of people that were never compared have no entry.

    Raises
    ------
    DataError
        If a threshold is no number.
    ProtocolError
        If the subjects of the attempts are unknown, or the scores are only an order.

    Notes
    -----
    Rates of a person, of groups of people or without a person, and weighted ones such as those of a
    bootstrap, are sums of these counts over sums of these counts: none needs the scores again. An
    all-against-all matrix has each comparison in both directions.

    Examples
    --------
    Which people are accepted as others, as the probe and as the claimed person:

    >>> import numpy as np, bioeval as be
    >>> scores = be.simulate(50, 4, random_state=3)
    >>> counts = be.stats.people_counts(scores, [be.verification(scores).eer_threshold.item()])
    >>> accepted = counts.impostor_accepted[0]
    >>> as_probe = np.bincount(counts.probe, accepted, minlength=50)
    >>> as_claimed = np.bincount(counts.claimed, accepted, minlength=50)
    >>> int(as_probe.sum()) == int(as_claimed.sum()) == int(accepted.sum())
    True
    >>> worst = int(np.argmax(as_probe / np.bincount(counts.probe, counts.impostor_attempts)))
    >>> counts.people[worst] in scores.subjects
    True
    """
    require_all_scores(scores)
    user_thresholds = require_listed_numbers(
        "thresholds", thresholds, "a number or several", lambda array: True
    )
    require_people(scores, "a table of people")
    require_values(scores, "a table of people")
    fused = Use(templates, fusion).of_kind(scores.kind).fused
    distances = -user_thresholds if scores.kind == "similarity" else user_thresholds
    # Each threshold is counted once, in increasing order.
    increasing, index = np.unique(distances[~np.isnan(distances)], return_inverse=True)
    row_of_threshold = np.full(len(distances), -1)
    row_of_threshold[~np.isnan(distances)] = index.reshape(-1)
    (counted,) = reduce(scores, CountPeople(increasing, fused))
    # (t + 1, people): the last row has all genuine attempts.
    accepted = by_subject(
        counted.genuine.distance, counted.genuine.person, increasing, counted.people
    ).cumsum(axis=0)
    return PeopleCounts(
        counted.names,
        counted.no_person,
        user_thresholds,
        accepted[-1],
        _at_thresholds(accepted, row_of_threshold),
        counted,
        row_of_threshold,
    )

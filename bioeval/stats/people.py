"""The table of people: attempts, and accepted attempts, of each person against each other.

Every number by people, of any study, is a sum of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bioeval.attempts.by_subject import PairCounts, SubjectAttempts, summed
from bioeval.attempts.thresholds import require_values
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.arguments import require_numbers
from bioeval.base.kinds import larger_is_closer
from bioeval.base.memory import require_memory
from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.matrix import Scores, require_scores

# Up to so many cells, a table of all pairs of people is counted into; of more, by pairs that occur.
_DENSE = 1 << 24

# Entries of pairs that are held before equal ones are added.
_HELD = 1 << 22


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
        The two people of each pair with impostor attempts, as places in `people`; in the order of
        the probes' people, and of these in that of the claimed ones.
    impostor_attempts : int64 array, shape (pairs,)
    impostor_accepted : int64 array, shape (t, pairs)
    """

    people: list
    no_person: np.ndarray
    thresholds: np.ndarray
    genuine_attempts: np.ndarray
    genuine_accepted: np.ndarray
    probe: np.ndarray
    claimed: np.ndarray
    impostor_attempts: np.ndarray
    impostor_accepted: np.ndarray

    def table(self, counts: np.ndarray) -> np.ndarray:
        """Return counts of the pairs as a square: ``[person of the probe, person claimed]``."""
        people = len(self.people)
        require_memory(8 * people**2, f"a table of {people:,} people", "expected fewer people")
        square = np.zeros((people, people), dtype=counts.dtype)
        square[self.probe, self.claimed] = counts
        return square

    def pairs(self, layer: np.ndarray, layers: int) -> PairCounts:
        """Return the attempts of pairs in layers, accepted at the first threshold and rejected.

        What is accepted of a pair is in its `layer`, and what is rejected so many `layers` beyond.
        """
        accepted = self.impostor_accepted[0]
        both = np.stack([accepted, self.impostor_attempts - accepted], axis=1).reshape(-1)
        place = np.flatnonzero(both)
        pair, rejected = np.divmod(place, 2)
        layers_of = layer[pair] + layers * rejected
        return PairCounts.of(self.probe[pair], self.claimed[pair], layers_of, both[place])

    def by_group(self, group: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return the sums of counts of the pairs: ``[group of the probe, group claimed]``.

        `group` is the group of each person, numbered from 0.
        """
        number = int(group.max(initial=-1)) + 1
        place = group[self.probe].astype(np.int64) * number + group[self.claimed]
        sums = np.bincount(place, counts, number**2)
        return np.rint(sums).astype(np.int64).reshape(number, number)


def people_counts(
    scores: Scores,
    thresholds: Sequence[float] | np.ndarray = (),
    *,
    templates: str = "single",
    fusion: str = "min",
) -> PeopleCounts:
    """Count verification by the person of the probe and the person claimed, in one pass.

    Parameters
    ----------
    scores : Scores
        With the subjects of all attempts: a matrix with labels, or pairs that name people.
    thresholds : sequence of float, shape (t,)
        In the units of the scores, in any order. NaN accepts nothing.
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
    require_scores(scores)
    at = require_numbers("thresholds", thresholds, "a number or several", lambda array: True)
    SubjectAttempts.require_people(scores, purpose="a table of people")
    require_values(scores, "a table of people")
    counter = VerificationCounter(BlockReader(scores), templates=templates, fusion=fusion)
    with threads_for(scores):
        return counts_of_attempts(SubjectAttempts(counter), at)


def counts_of_attempts(attempts: SubjectAttempts, thresholds: np.ndarray) -> PeopleCounts:
    """Return the table of some attempts; the thresholds are in the units of the scores."""
    people = attempts.people
    at = -thresholds if larger_is_closer(attempts.scores.kind) else thresholds
    layers, place = np.unique(at[~np.isnan(at)], return_inverse=True)
    counted = count_layers(attempts, layers)
    pair, of_pair = np.unique(counted.probe * people + counted.claimed, return_inverse=True)
    genuine = np.zeros((len(layers) + 1, people), dtype=np.int64)
    np.add.at(genuine, (np.searchsorted(layers, counted.genuine), counted.genuine_person), 1)
    impostor = np.zeros((len(layers) + 1, len(pair)), dtype=np.int64)
    np.add.at(impostor, (counted.layer, of_pair.reshape(-1)), counted.number)
    reached, reached_genuine = impostor.cumsum(axis=0), genuine.cumsum(axis=0)
    accepted = np.zeros((len(at), len(pair)), dtype=np.int64)
    accepted_genuine = np.zeros((len(at), people), dtype=np.int64)
    accepted[~np.isnan(at)] = reached[place.reshape(-1)]
    accepted_genuine[~np.isnan(at)] = reached_genuine[place.reshape(-1)]
    return PeopleCounts(
        people=attempts.names,
        no_person=attempts.no_person,
        thresholds=thresholds,
        genuine_attempts=reached_genuine[-1],
        genuine_accepted=accepted_genuine,
        probe=(pair // people).astype(np.int32),
        claimed=(pair % people).astype(np.int32),
        impostor_attempts=reached[-1],
        impostor_accepted=accepted,
    )


class LayeredPairs(NamedTuple):
    """Impostor attempts of pairs of people between thresholds, and the genuine scores.

    The entries are in the order of the people of the probes, of those claimed and of the layers.
    """

    probe: np.ndarray  # int64 (entries,)
    claimed: np.ndarray
    layer: np.ndarray
    number: np.ndarray
    genuine: np.ndarray  # distances
    genuine_person: np.ndarray


def count_layers(attempts: SubjectAttempts, layers: np.ndarray) -> LayeredPairs:
    """Count the attempts of each pair of people up to each of increasing distances, and beyond."""
    sink = _Pairs(attempts.people, len(layers) + 1)
    genuine, genuine_person = attempts.pass_over(layers, sink)
    pair, layer, count = sink.entries()
    probe, claimed = np.divmod(pair, max(attempts.people, 1))
    return LayeredPairs(probe, claimed, layer, count, genuine, genuine_person)


class _Pairs:
    """A sink that keeps the attempts of each pair of people in each layer.

    Of few people there is a count of all pairs; of more, entries of those that occur.
    """

    def __init__(self, people: int, layers: int):
        self.people, self.layers = people, layers
        cells = layers * people**2
        self._dense = np.zeros(cells, dtype=np.int64) if cells <= _DENSE else None
        self._entries = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        self._held = 0

    def add(self, pairs: PairCounts) -> None:
        """Add attempts of pairs of people."""
        pair = pairs.probe_person * self.people + pairs.claimed_person
        key = pair * self.layers + pairs.layer
        if self._dense is not None:
            np.add.at(self._dense, key, pairs.count)
            return
        self._entries.append((key, pairs.count))
        self._held += len(key)
        if self._held > max(_HELD, 2 * len(self._entries[0][0])):
            self._entries = [self._together()]
            self._held = 0

    def _together(self) -> tuple[np.ndarray, np.ndarray]:
        keys, counts = zip(*self._entries, strict=True)
        return summed(np.concatenate(keys), np.concatenate(counts))

    def entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the pair, the layer and the number of attempts of each entry, in order."""
        if self._dense is not None:
            key = np.flatnonzero(self._dense)
            count = self._dense[key]
        else:
            key, count = self._together()
        return *np.divmod(key, self.layers), count

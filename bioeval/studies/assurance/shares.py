"""Proportions accepted, of each pair of people or each person, at the strictest thresholds.

Of each pair of people it is the proportion of its attempts that are accepted, both directions
together; its mean over pairs is the FAR of a pair of people drawn at random. Of searches it is the
proportion of a person's searches that raise a false alarm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bioeval.base.messages import Message
from bioeval.counting.parts import Parts, parts_of
from bioeval.counting.people import CountPeople, summed
from bioeval.counting.reduce import OfEachBlock, reduce
from bioeval.counting.sorted_attempts import next_among
from bioeval.counting.thresholds import is_accepted
from bioeval.counting.verification import CollectAttempts
from bioeval.scores.matrix import Scores
from bioeval.studies.assurance.limits import PeopleMeans

# The largest distance: with this limit, all finite impostor scores are known.
_ALL = float(np.finfo(np.float64).max)


@dataclass(eq=False)
class Shares:
    """Proportions accepted of units, which are pairs of people or people, at impostor scores.

    - `thresholds` (float64 (k,)): distinct impostor scores, as increasing distances: the layers
    - `mean`, `accepted` (float64 (k,)): the mean over units, and the proportion of all impostor
      attempts, that are accepted at each of them
    - `impostors` (int): number of impostor attempts
    - `genuine` (float64): genuine scores, increasing; NaN, last, of those that failed
    - `genuine_person` (int64): the person of each
    - `beyond` (float): the next impostor score is above this one
    - `layer`, `share` (entries,): where a unit has attempts, and their part of those of the unit
    - `who` (roles, entries): the people of the unit of each entry
    - `units_of` (people,): number of units of each person
    - `people` (int64): those who are left out
    - `units`, `independent` (int): number of units, and of those that are independent
    - `over`, `event`: the units, and what the rate is of, in words
    - `fixed_gallery` (bool): whether the people of the gallery are not left out
    - `fewest` (int or None): people on the smaller side, where some are on both and others on one
    - `refusal` (Message or None): why nothing can be promised; None where something can
    """

    thresholds: np.ndarray
    mean: np.ndarray
    accepted: np.ndarray
    impostors: int
    genuine: np.ndarray
    genuine_person: np.ndarray
    beyond: float
    layer: np.ndarray
    share: np.ndarray
    who: np.ndarray
    units_of: np.ndarray
    people: np.ndarray
    units: int
    independent: int
    over: str = "pairs of people"
    event: str = "of the impostor attempts are accepted"
    fixed_gallery: bool = False
    fewest: int | None = None
    refusal: Message | None = None

    def loosest(self, layer: int) -> float:
        """Return the loosest score, genuine or impostor, that accepts what a layer accepts.

        Minus infinity, which rejects all, where no score is below the first impostor score; NaN
        where that is itself minus infinity.
        """
        after = layer + 1
        end = self.thresholds[after] if after < len(self.thresholds) else np.inf
        genuine = self.genuine[: np.searchsorted(self.genuine, end)]
        if after == len(self.thresholds) and self.beyond < _ALL:
            genuine = genuine[genuine <= self.beyond]
        genuine = genuine[np.isfinite(genuine)]
        layer_threshold = self.thresholds[layer] if layer >= 0 else -np.inf
        if layer < 0 and end == -np.inf:
            return math.nan
        return float(max(layer_threshold, genuine[-1] if len(genuine) else -np.inf))

    def next_score(self, layer: int, threshold: float) -> float:
        """Return the nearest score that the loosest threshold of a layer rejects.

        NaN where no score was looked at beyond it.
        """
        after = np.append(self.thresholds, math.nan)[layer + 1]
        return float(np.minimum(after, *next_among(threshold, self.genuine)))

    def frr(self, threshold: float) -> float:
        """Return the proportion of genuine attempts that a threshold rejects; NaN rejects all."""
        if not len(self.genuine):
            return math.nan
        return float((~(self.genuine <= threshold)).mean())

    def means(self, layers: np.ndarray) -> PeopleMeans:
        """Return the means at increasing layers, and how each depends on single people."""
        layers = np.asarray(layers)
        step = np.searchsorted(layers, self.layer)
        kept = step < len(layers)
        who, share, step = self.who[:, kept], self.share[kept], step[kept]
        n, k = len(self.units_of), len(layers)
        total = np.bincount(step, share, k).cumsum()
        roles = len(who)
        sums = np.bincount((step * n + who).reshape(-1), np.tile(share, roles), k * n)
        return PeopleMeans.of(
            total,
            self.units,
            sums.reshape(k, n).cumsum(axis=0)[:, self.people],
            self.units_of[self.people],
            number=self.units,
            independent=self.independent,
            sides=1 if self.fixed_gallery else roles,
            fewest=self.fewest,
        )


def pair_shares(scores: Scores, *, up_to: float | None = None, at: float | None = None) -> Shares:
    """Return the shares of pairs of people, of attempts with single templates.

    They are known for every threshold where the mean, and the proportion of all attempts, are
    `up_to` a rate; or at one distance.
    """
    parts = parts_of(scores, nearest=True)
    if at is not None:
        return _of_pairs(parts, np.array([at]), at)
    assert up_to is not None  # one of both is given
    (attempts,) = reduce(parts, CollectAttempts())
    cells = attempts.cells
    upto = cells.negative_infinite + np.cumsum(cells.counts)
    edges = np.append(cells.grid.edges, _ALL)
    part = 2 * up_to
    while True:
        place = min(int(np.searchsorted(upto, part * attempts.impostors)), len(upto))
        beyond = float(edges[place])
        near = _impostors_up_to(parts, beyond)
        lowest = np.full(min(int(cells.negative_infinite), 1), -np.inf)
        shares = _of_pairs(parts, np.unique(np.append(lowest, near)), beyond)
        enough = (np.minimum(shares.mean, shares.accepted) > up_to).any()
        if place == len(upto) or enough:
            return shares
        part *= 4


def _impostors_up_to(parts: Parts, limit: float) -> np.ndarray:
    """Return the impostor scores at most a distance."""

    def near(scores: np.ndarray) -> np.ndarray:
        return scores[is_accepted(scores, limit)]

    (scores,) = reduce(parts, OfEachBlock(near))
    return np.concatenate([np.empty(0), *scores])


def _of_pairs(parts: Parts, thresholds: np.ndarray, beyond: float) -> Shares:
    """Return the shares of pairs of people at some distances."""
    (counted,) = reduce(parts, CountPeople(thresholds))
    n, k = max(counted.people, 1), len(thresholds)

    def of_people(
        probe: np.ndarray, claimed: np.ndarray, *more: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Return pairs of two people, in either order, and what is known of them."""
        both = ~(counted.no_person[probe] | counted.no_person[claimed])
        pair = np.minimum(probe, claimed) * n + np.maximum(probe, claimed)
        return tuple(x[both] for x in (pair, *more))

    pair, number = counted.pairs()
    pairs, whole = summed(*of_people(*np.divmod(pair, n), number))
    near = counted.layer < k
    pair, layer, number = of_people(
        *(x[near] for x in (counted.probe, counted.claimed, counted.layer, counted.number))
    )
    key, count = summed(layer * n**2 + pair, number)
    layer, pair = np.divmod(key, n**2)
    share = count / whole[np.searchsorted(pairs, pair)]
    partners = np.bincount(np.concatenate(np.divmod(pairs, n)), minlength=counted.people)
    order = np.argsort(counted.genuine, kind="stable")
    shares = Shares(
        thresholds=thresholds,
        mean=np.cumsum(np.bincount(layer, share, k)) / max(len(pairs), 1),
        accepted=np.cumsum(np.bincount(layer, count, k)) / max(int(whole.sum()), 1),
        impostors=int(whole.sum()),
        genuine=counted.genuine[order],
        genuine_person=counted.genuine_person[order],
        beyond=beyond,
        layer=layer,
        share=share,
        who=np.array(np.divmod(pair, n)),
        units_of=partners,
        people=np.flatnonzero(partners),
        units=len(pairs),
        independent=0,
    )
    _find_independent(shares, counted)
    return shares


def _find_independent(shares: Shares, counted: CountPeople) -> None:
    """Find who is left out, and how many pairs of people are independent."""
    partners, pairs = shares.units_of, shares.units
    probing, enrolled = (counted.sizes > 0) & (partners > 0)
    n = len(shares.people)
    shares.independent = n // 2
    # Existing pairs can be divided into so many sets of disjoint pairs, plus one.
    of_missing = pairs // (int(partners.max(initial=0)) + 1)
    one_side = not counted.listed and (probing != enrolled).any()
    if one_side and not (probing & enrolled).any():
        shares.people, shares.fixed_gallery = np.flatnonzero(probing), True
        shares.independent = len(shares.people)
    elif pairs < n * (n - 1) // 2:
        shares.independent = of_missing
    if one_side and not shares.fixed_gallery:
        # Who is enrolled alone, or probes alone, has fewer partners than the others.
        shares.fewest = int(min(probing.sum(), enrolled.sum()))
    if shares.fewest is not None and shares.fewest < min(len(shares.people), 3):
        shares.refusal = _too_few(shares.fewest, "people on one side of the comparisons")
    elif len(shares.people) < 3:
        shares.refusal = _too_few(n, "people with impostor attempts")


def _too_few(people: int, who: str) -> Message:
    """Return the refusal of data with too few people to leave one out."""
    return Message("too-few-people-to-resample", people=people, who=who, needed=3)


def search_shares(other: np.ndarray, person: np.ndarray, genuine: np.ndarray) -> Shares:
    """Return the shares of people who are not enrolled, of searches of a fixed gallery.

    - `other`, `person`: of each search by such a person the nearest distance, and the person
    - `genuine`: distances of mates, infinite where they are not at rank 1
    """
    thresholds, layer = np.unique(other, return_inverse=True)
    _, who = np.unique(person, return_inverse=True)
    layer, who = layer.reshape(-1), who.reshape(-1)
    searches = np.bincount(who)
    n, k, over = len(searches), len(thresholds), "people who are not enrolled"
    share = 1 / searches[who]
    mean = np.cumsum(np.bincount(layer, share, k)) / max(n, 1)
    accepted = np.cumsum(np.bincount(layer, minlength=k)) / max(len(other), 1)
    genuine = np.sort(genuine, kind="stable")
    return Shares(
        thresholds=thresholds,
        mean=np.minimum(mean, 1.0),
        accepted=accepted,
        impostors=len(other),
        genuine=genuine,
        genuine_person=np.zeros(len(genuine), dtype=np.int64),
        beyond=_ALL,
        layer=layer,
        share=share,
        who=who[None],
        units_of=np.ones(n),
        people=np.arange(n),
        units=n,
        independent=n,
        over=over,
        event="of the searches by people who are not enrolled raise a false alarm",
        fixed_gallery=True,
        refusal=_too_few(n, over) if n < 3 else None,
    )

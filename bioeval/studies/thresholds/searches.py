"""Searches of a fixed gallery, by people who are enrolled and by others."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.judged import Judged
from bioeval.attempts.passes import count_together
from bioeval.base.errors import ProtocolError
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores, are_pairs, codes_of
from bioeval.studies.assurance.shares import Shares, search_shares
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.parts import Searched
from bioeval.studies.folds.results import Fold
from bioeval.studies.folds.splits import SplitPlan, plan_of


def searches_of_people(scores: Scores) -> Scores:
    """Return the searches of people; distractors and junk stay in the gallery.

    Raise :class:`ProtocolError` unless people who are not enrolled search a gallery.
    """
    wanted = (
        "a threshold of open set is for searches of a fixed gallery by people who are not enrolled"
    )
    if are_pairs(scores) or scores.layout != "probe-against-gallery":
        raise ProtocolError(
            f"{wanted}; of {scores.layout} the FAR depends on all who are enrolled at once. Give "
            "probes and a gallery"
        )
    people = scores._probe_people >= 0
    if np.isin(codes_of(scores).probe, codes_of(scores).gallery)[people].all():
        raise ProtocolError(f"{wanted}; all people of these probes are enrolled. Give others, too")
    if people.all():
        return scores
    return scores.select(probes=np.flatnonzero(people))


class Searches:
    """One search of each probe: distance and rank of its mate, or distance of the nearest other.

    - `person` (int64 (m,)): the person of each probe
    - `mated`, `unmated` (int64): probes of people who are enrolled and have a usable mate, and of
      people who are not enrolled
    - `mate`, `ranks`, `other`: of `mated` the distance and the rank of the mate, of `unmated` the
      distance of the nearest
    - `gallery` (int): the people who are enrolled
    """

    def __init__(self, scores: Scores, reader: BlockReader, options: FoldOptions):
        """Search for each probe in the whole gallery."""
        enrolled = np.unique(codes_of(scores).gallery)
        self.options, self.gallery = options, int((~scores._no_person[enrolled]).sum())
        self.person = codes_of(scores).probe
        (tally,) = count_together(reader, [IdentificationCounter(reader, options.search())])
        mated = np.flatnonzero(tally.mates > 0)
        self.mated, ranks, _ = tally.rank_weights(mated, options.ties)
        self.ranks, self.mate = np.rint(ranks).astype(np.int64), tally.mate[self.mated]
        self.unmated = tally.impostor_probes("unenrolled")
        self.other = tally.other[self.unmated]

    @property
    def people(self) -> int:
        """Number of people who search."""
        return len(np.unique(self.person))

    @property
    def unenrolled_people(self) -> int:
        """Number of people who search and are not enrolled."""
        return len(np.unique(self.person[self.unmated]))

    def plan(self, splitter: Any) -> SplitPlan:
        """Divide the people who search; those enrolled and those not enrolled alike."""
        enrolled = np.isin(self.person, self.person[self.mated])
        meta = {"enrolled": np.where(enrolled, "yes", "no")}
        return plan_of(splitter, len(self.person), self.person, None, meta)

    def shares(self) -> Shares:
        """Return the proportions of false alarms, of each person who is not enrolled."""
        genuine = np.where(self.ranks == 1, self.mate, np.inf)
        return search_shares(self.other, self.person[self.unmated], genuine)

    def part(self, probes: np.ndarray) -> Searched:
        """Return the searches of some probes."""
        inside = np.zeros(len(self.person), dtype=bool)
        inside[probes] = True
        mated = inside[self.mated]
        number = int(np.count_nonzero(mated))
        return Searched(
            mate=self.mate[mated],
            ranks=self.ranks[mated],
            weights=np.ones(number),
            other=self.other[inside[self.unmated]],
            genuine=number,
            gallery=self.gallery,
        )

    def judge_all(self) -> Judged:
        """Choose a threshold on all searches, and count them at it."""
        attempts = self.part(np.arange(len(self.person))).attempts()
        return Judged.of_listed(attempts, attempts, self.options.distance_rule)

    def folds(self, plan: SplitPlan) -> dict[tuple[int, int], Fold]:
        """Choose a threshold on the searches of some people, and judge it on those of others."""
        folds = {}
        for place in plan.places:
            split = plan.split(place)
            train, test = self.part(split.train), self.part(split.test)
            rule = self.options.distance_rule
            judged = Judged.of_listed(train.attempts(), test.attempts(), rule)
            made = Fold.of_judged(judged, split.sizes(self.person))
            folds[place] = made.with_searches(train, test, self.options.ranks)
        return folds

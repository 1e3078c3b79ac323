"""Searches of a fixed gallery, by people who are enrolled in it and by others."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import ProtocolError
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.evaluation.cross.parts import Searched
from bioeval.evaluation.cross.results import Fold
from bioeval.evaluation.cross.splits import SplitPlan, plan_of
from bioeval.evaluation.pairs_of_people import AttainableThresholds
from bioeval.results.identification import impostor_probes
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.stats.bootstrap import SubjectMeans, subject_weights, weight_columns
from bioeval.stats.options import IntervalOptions
from bioeval.stats.promise import PeopleMeans
from bioeval.tallies.identification_job import IdentificationJob, rank_weights
from bioeval.tallies.judged import Judged, judge_listed
from bioeval.tallies.sweep import run_jobs


class Searches:
    """One search of each probe: distance and rank of its mate, or distance of the nearest other.

    Attributes
    ----------
    person : int64 array, shape (m,)
        The person of each probe.
    mated, unmated : int64 arrays
        Probes of people who are enrolled and have a usable mate, and of people who are not
        enrolled.
    mate, ranks, other : arrays
        Of `mated` the distance and the rank of the mate, of `unmated` the distance of the nearest.
    """

    def __init__(
        self, scores: Scores, reader: BlockReader, options: FoldOptions, progress: Progress | None
    ):
        job = IdentificationJob(reader, rank_unit=options.rank_unit, fusion=options.fusion)
        (tally,) = run_jobs(reader, [job], progress)
        self.options, self.gallery = options, len(np.unique(scores.codes.gallery))
        self.person = scores.codes.probe
        mated = np.flatnonzero(tally.mates > 0)
        self.mated, ranks, _ = rank_weights(tally, mated, options.ties)
        self.ranks, self.mate = np.rint(ranks).astype(np.int64), tally.mate[self.mated]
        self.unmated = impostor_probes(tally, "unenrolled")
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

    def part(self, probes: np.ndarray) -> Searched:
        """Return the searches of some probes."""
        inside = np.zeros(len(self.person), dtype=bool)
        inside[probes] = True
        mated, unmated = inside[self.mated], inside[self.unmated]
        mate, ranks = self.mate[mated], self.ranks[mated]
        return Searched(mate, ranks, np.ones(len(mate)), self.other[unmated], len(mate))

    def judge_all(self) -> Judged:
        """Choose a threshold on all searches, and count them at it."""
        attempts = self.part(np.arange(len(self.person))).attempts()
        return judge_listed(attempts, attempts, self.options.distance_rule)

    def folds(self, plan: SplitPlan) -> dict[tuple[int, int], Fold]:
        """Choose a threshold on the searches of some people, and judge it on those of others."""
        found = {}
        for place in plan.places:
            split = plan.split(*place)
            train, test = self.part(split.train), self.part(split.test)
            judged = judge_listed(train.attempts(), test.attempts(), self.options.distance_rule)
            made = Fold.of_judged(judged, *split.sizes(self.person))
            made.galleries = self.gallery, self.gallery
            at = judged.chosen.threshold, self.options.ranks, made.defined
            made.detected = {"": test.detected(*at), "train_": train.detected(*at)}
            found[place] = made
        return found

    def by_subject(
        self, threshold: float, interval: IntervalOptions
    ) -> dict[str, tuple[float, float, float]]:
        """Return FAR and FRR at a threshold, with limits by resampling the people who search."""
        found = {}
        missed = ~((self.ranks == 1) & (self.mate <= threshold))
        for rate, probes, errors in (
            ("far", self.unmated, self.other <= threshold),
            ("frr", self.mated, missed),
        ):
            _, person = np.unique(self.person[probes], return_inverse=True)
            attempts = np.bincount(person.reshape(-1)).astype(np.float64)
            if not len(attempts):
                continue
            means = SubjectMeans(attempts, weight_columns(len(attempts), interval), interval)
            own = np.bincount(person.reshape(-1), errors.astype(np.float64))
            low, high = means.limits(own[None], cumulative=False)
            found[rate] = float(errors.mean()), float(low[0]), float(high[0])
        return found


class SearchShares(AttainableThresholds):
    """Proportions of searches that raise a false alarm, of each person who is not enrolled.

    The gallery is fixed, so that these people are independent. The attributes are those of
    :class:`PairShares`, with people in the place of pairs of people.
    """

    over = "people who are not enrolled"
    event = "of searches by people who are not enrolled raise a false alarm"
    fixed_gallery, exact, reason = True, False, ""
    beyond = float(np.finfo(np.float64).max)

    def __init__(self, searches: Searches):
        self.thresholds, layer = np.unique(searches.other, return_inverse=True)
        _, person = np.unique(searches.person[searches.unmated], return_inverse=True)
        self._layer, self._person = layer.reshape(-1), person.reshape(-1)
        self._own = np.bincount(self._person)
        n, k = len(self._own), len(self.thresholds)
        self.pairs = self.independent = n
        self.sides, self.impostors = [np.arange(n)], len(searches.other)
        if n < 3:
            self.reason = f"there are only {n} people who are not enrolled; at least 3 are needed"
        share = 1 / self._own[self._person]
        self.mean = np.cumsum(np.bincount(self._layer, share, k)) / max(n, 1)
        self.accepted = np.cumsum(np.bincount(self._layer, minlength=k)) / max(self.impostors, 1)
        self.genuine = np.sort(np.where(searches.ranks == 1, searches.mate, np.inf))

    def means(
        self, layers: np.ndarray, replicates: int, seed: np.random.SeedSequence
    ) -> PeopleMeans:
        """Return the means at increasing layers, without each person, and in replicates."""
        n, k = self.pairs, len(layers)
        step = np.searchsorted(layers, self._layer)
        kept = step < k
        alarms = np.bincount(step[kept] * n + self._person[kept], minlength=k * n).reshape(k, n)
        own = alarms.cumsum(axis=0) / self._own
        weights = subject_weights(n, replicates, seed).astype(np.float64)
        without = (own.sum(axis=1, keepdims=True) - own) / (n - 1)
        return PeopleMeans(own.mean(axis=1), without, own @ weights / n, n, n, (n,))


def require_fixed_gallery(scores: Scores) -> None:
    """Raise :class:`ProtocolError` unless people who are not enrolled search a gallery."""
    wanted = (
        "a threshold of open set is for searches of a fixed gallery by people who are not enrolled"
    )
    if are_pairs(scores) or scores.layout != "probe-against-gallery":
        raise ProtocolError(
            f"{wanted}; of {scores.layout} the FAR depends on all who are enrolled at once. Give "
            "probes and a gallery"
        )
    if np.isin(scores.codes.probe, scores.codes.gallery).all():
        raise ProtocolError(f"{wanted}; all people of these probes are enrolled. Give others, too")

"""The measures of two systems in each replicate, and the subjects decided differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from bioeval import stats
from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.finding import PointsWanted, points_of
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.left_out import LeftOut
from bioeval.attempts.passes import count_together
from bioeval.attempts.points import VerificationPoints, per_cent
from bioeval.attempts.symmetry import is_symmetric
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.errors import ProtocolError
from bioeval.base.messages import Message, messages_of
from bioeval.base.progress import rows_reported_to, stage
from bioeval.base.registry import scalar_registry
from bioeval.base.scalars import QUERY_MEANS, Scalar
from bioeval.document.scalars import name_of_scalar
from bioeval.protocol.tasks import OpenSet
from bioeval.results.query_means import QueryMean, QueryMeasures
from bioeval.results.support import ComparedPeople, RuleOf, support_messages
from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.matrix import Scores, are_pairs, codes_of
from bioeval.scores.top_k import TopKScores
from bioeval.stats.bootstrap import SubjectMeans
from bioeval.stats.error_curves import CurveMeasure
from bioeval.stats.identification import FEWEST, NewPeople, identification_replicates
from bioeval.stats.options import IntervalMethod
from bioeval.stats.verification import Replicates
from bioeval.studies.compare.counts import (
    ENOUGH,
    EXACT_ATTEMPTS,
    OrderChanges,
    PairedAttempts,
    count_units,
    layers,
    numbers_by_scores,
    ranks_among,
)
from bioeval.studies.compare.wanted import AT_THRESHOLD, WantedMeasures
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.intervals import QuerySubjects
from bioeval.tasks.reid.passes import RetrievalPass
from bioeval.tasks.reid.results import ReidOptions, reid_dataset, reid_measures, require_matches
from bioeval.tasks.reid.without_groups import RetrievalWithoutGroups

#: Populations that an interval is for: people left out as probes and in the gallery, or as probes
#: alone.
NEW_PEOPLE = "new people"
THIS_GALLERY = "this gallery"

# Far below the difference of one attempt in any countable number.
_ROUNDING = 1e-12

# With fewer subjects that can be listed with all their templates, all subjects are kept with some.
_MANY_SUBJECTS = 100


def place_of(target: float, prior: float, threshold: float, rank: int) -> float:
    """Return the one number that a measure is at; NaN without one."""
    for number in (target, prior, threshold):
        if not np.isnan(number):
            return number
    return float(rank) if rank else np.nan


@dataclass(frozen=True, kw_only=True)
class PairedMeasure:
    """A measure of two systems in each column of weights."""

    scalar: Scalar
    values: np.ndarray  # float64 (2, columns)
    #: Independent trials: subjects, or disjoint pairs of subjects; 0 where they cannot be
    #: resampled.
    trials: int
    attempt: float  # weight of one attempt in the measure; of the AUC, of one genuine-impostor pair
    #: Disjoint units of subjects that the systems decide differently, each at its own threshold.
    discordant: int
    #: Disjoint units of subjects with a genuine and an impostor attempt in another order. A few of
    #: them may move a threshold, and with it the decisions of many others.
    reordered: int
    target: float = np.nan  # FAR target (FRR target), NaN without one
    prior: float = np.nan  # of a cost, NaN without one
    threshold: float = np.nan  # that was given, NaN without one
    rank: int = 0  # of a CMC, or that lists are cut at; 0 without one
    made: float = np.inf  # impostor attempts (genuine attempts) of the system that made fewer
    population: str = NEW_PEOPLE  # that the interval is for
    #: The population of the replicates: that of the limits where nobody can be left out.
    drawn_for: str = NEW_PEOPLE

    @property
    def label(self) -> str:
        """The name of the measure, with its target or its rank."""
        return name_of_scalar(
            self.scalar,
            target=per_cent(self.target),
            prior=f"{self.prior:g}",
            threshold=f"{self.threshold:g}",
            rank=self.rank,
        )

    @property
    def at(self) -> float:
        """The target, prior, threshold or rank; NaN without one."""
        return place_of(self.target, self.prior, self.threshold, self.rank)

    @property
    def supported(self) -> bool:
        """Whether there are enough attempts for the target."""
        return RuleOf(3).supports(self.target, self.made)

    @property
    def evidence(self) -> int:
        """Number of independent pieces of evidence of a difference."""
        return min(self.discordant, self.reordered)

    @property
    def change(self) -> np.ndarray:
        """Difference, first minus second, in each column; below half an attempt it is 0."""
        change = self.values[0] - self.values[1]
        return np.where(np.abs(change) < self.attempt / 2, 0.0, change)

    @property
    def same(self) -> bool:
        """Whether both systems decide every attempt alike, in every replicate."""
        change = self.change
        drawn = change[~np.isnan(change)]
        return not self.discordant and bool(change[0] == 0) and not drawn.any()

    def bound(self, confidence: float) -> float:
        """Return the upper bound of the rate of subjects decided differently if none of them is."""
        return float(stats.zero_error_bound([max(self.trials, 1)], confidence)[0])


class ComparedSystem:
    """One system: its counters and its tallies."""

    def __init__(
        self,
        scores: Scores,
        search: OpenSet,
        asked: WantedMeasures,
    ):
        """Count the tasks of the measures `asked` for, as far as the scores support them."""
        self.scores, self.search, self.asked = scores, search, asked
        self.targets, self.frr_targets = asked.far_targets, asked.frr_targets
        self.thresholds = np.unique(
            [x for name in AT_THRESHOLD for x in asked.numbers(name)]
        )  # that were given, in the units of the scores
        self.reader = BlockReader(scores)
        counters: dict[str, Any] = {}
        costs = [(prior, 1.0, 1.0) for prior in sorted(set(asked.numbers("min_dcf")))]
        wanted = PointsWanted(
            self.targets,
            np.array(costs, dtype=np.float64).reshape(-1, 3),
            True,
            frr_targets=self.frr_targets,
            optima=scalar_registry().optima,
        )
        if scores.kind != "order" and asked.verification:
            given = self.thresholds if len(self.thresholds) else None
            counter = VerificationCounter(self.reader, thresholds=given)
            counters["verification"] = counter
        if not (are_pairs(scores) or scores._claims) and asked.identification:
            counters["identification"] = IdentificationCounter(self.reader, search)
        if not counters and not asked.functions:
            raise ProtocolError(
                "there is nothing to compare: pairs and claims have no identification, and scores "
                "that hold only an order no verification"
            )
        results: list[Any] = []
        if counters:
            results = count_together(self.reader, list(counters.values()), wanted)
        tallies = dict(zip(counters, results, strict=True))
        #: The counter of verification and both tallies; None where scores do not support a task.
        self.verification: VerificationCounter | None = counters.get("verification")
        self.claimed: Any = tallies.get("verification")
        self.searched: Any = tallies.get("identification")
        if self.claimed is not None:
            with threads_for(scores):
                self.claimed.points = points_of(
                    self.claimed.attempts,
                    wanted,
                    symmetric=False,
                    with_rows=not self.claimed.given,
                )

    @property
    def details(self) -> dict[str, str]:
        """How the attempts are evaluated, as attributes."""
        return {
            **{name: self.search[name] for name in ("rank_unit", "ties", "impostors")},
            "jackknifed": (
                "AUC, recognition rate: limits by the studentised jackknife by subject; DIR: the "
                "wider of these and percentiles"
            ),
        }

    def rank_one_without_each(self, numbers: np.ndarray, interval: IntervalMethod) -> np.ndarray:
        """Return the recognition rate and DIR at each FAR target without each person.

        Each person is left out as probe and from the gallery. The shape is (1 + targets, people),
        with people in the order of their `numbers`; those of no person stay.
        """
        with threads_for(self.scores), rows_reported_to(None):
            left_out = LeftOut.of(self.searched, self.reader, self.search.ties, ranks=1)
        ties, impostors = self.search.ties, self.search.impostors
        people = NewPeople(self.searched, left_out, ties, interval.for_new_people, impostors)
        recognised, at_far = people.without_each(self.targets)
        codes = LeftOut.subjects_of(self.scores)
        order = np.argsort(numbers[codes])
        order = order[~self.scores._no_person[codes[order]]]
        return np.concatenate([recognised[None], at_far])[:, order]

    @property
    def points(self) -> VerificationPoints:
        """The operating points of verification."""
        return self.claimed.points

    def by_subject(
        self, scores: Scores | None = None, numbers: np.ndarray | None = None
    ) -> SubjectAttempts:
        """Return attempts by subject, of all scores or a selection, in the order of `numbers`."""
        if scores is None:
            assert self.verification is not None
            return SubjectAttempts(self.verification, numbers)
        reader = BlockReader(scores)
        return SubjectAttempts(VerificationCounter(reader))

    @property
    def people(self) -> int:
        """All subjects of the verification attempts; of an order, those of the probes."""
        if self.verification is not None:
            return self.by_subject().people
        return len(np.unique(codes_of(self.scores).probe))

    @cached_property
    def both_ways(self) -> bool:
        """Whether each pair of templates makes two attempts of verification."""
        return is_symmetric(self.scores)

    @property
    def impostors(self) -> float:
        """Impostor attempts of verification, each pair of a symmetric matrix once."""
        return self.claimed.impostors / (2 if self.both_ways else 1)

    @property
    def genuine(self) -> float:
        """Genuine attempts of verification, each pair of a symmetric matrix once."""
        return len(self.claimed.genuine) / (2 if self.both_ways else 1)

    @property
    def impostor_searches(self) -> int:
        """Impostor attempts of open-set identification; 0 without any genuine one."""
        tally = self.searched
        if self.scores.kind == "order" or not (tally.mates > 0).any():
            return 0
        return len(tally.impostor_probes(tally.impostor_role(self.search.impostors)))

    @property
    def attempts(self) -> tuple[int, ...]:
        """Attempts of each class: genuine and impostor of verification, genuine searches."""
        numbers: tuple[int, ...] = ()
        if self.claimed is not None:
            numbers = len(self.claimed.genuine), self.claimed.impostors
        if self.searched is not None:
            numbers = *numbers, int((self.searched.mates > 0).sum())
        return numbers

    @property
    def remarks(self) -> list[Message]:
        """Messages of the targets that the attempts do not support."""
        warnings = []
        if self.claimed is not None and self.impostors:
            people = ComparedPeople.of_tally(self.claimed)
            if self._is_asked("frr_at_far"):
                warnings += support_messages(
                    self.targets, self.impostors, self.both_ways, "frr", people
                )
            warnings += support_messages(
                self.frr_targets, self.genuine, self.both_ways, "far", people, "frr"
            )
        if self.searched is not None and self.impostor_searches and self._is_asked("dir_at_far"):
            warnings += support_messages(self.targets, self.impostor_searches, False, "dir")
        return warnings

    def _is_asked(self, name: str) -> bool:
        """Whether a measure is among those that are compared."""
        return self.asked.chosen is None or self.asked.asks(name)

    def drawn_rank_one(
        self, person: np.ndarray, interval: IntervalMethod
    ) -> tuple[np.ndarray, np.ndarray, int, int]:
        """Return :func:`identification_replicates`, with the subjects of the probes resampled."""
        return identification_replicates(self.searched, person, self.search, self.targets, interval)

    def hits_within(self, rank: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return the hits of each probe up to a rank, and those within each FAR target's threshold.

        Of the shapes (probes,) and (targets, probes): 1 or 0, or fractions under expected ties; the
        threshold is the loosest with FAR at most the target.
        """
        tally, search = self.searched, self.search
        probes, ranks, weights = tally.rank_weights(np.nonzero(tally.mates > 0)[0], search.ties)
        first = ranks <= rank
        hits = np.bincount(probes[first], weights[first], minlength=len(tally.mate))
        non_mated = tally.impostor_probes(tally.impostor_role(search.impostors))
        nearest = np.sort(tally.other[non_mated])
        far = np.searchsorted(nearest, nearest, side="right") / max(len(nearest), 1)
        within = np.zeros((len(self.targets), len(hits)))
        for i, target in enumerate(self.targets):
            allowed = int((far <= target).sum())
            inside = tally.mate < nearest[allowed] if allowed < len(nearest) else True
            within[i] = hits * inside
        return hits, within


@dataclass(frozen=True)
class _Drawn:
    """Operating points of two systems in replicates of the same people."""

    points: tuple[dict[str, np.ndarray], dict[str, np.ndarray]]
    listed: PairedAttempts
    subjects: int  # with genuine attempts
    pairs: int  # disjoint pairs of subjects

    def both(self, name: str) -> np.ndarray:
        """Return the values of both systems, in the first axis."""
        return np.stack([self.points[0][name], self.points[1][name]])


def verification_measures(
    a: ComparedSystem,
    b: ComparedSystem,
    interval: IntervalMethod,
    measures: Sequence[CurveMeasure],
) -> Iterator[PairedMeasure]:
    """Yield measures of verification of both systems, in replicates of the same people.

    With at most :data:`EXACT_ATTEMPTS` attempts every replicate is counted exactly, so that one
    in which both systems decide alike has the same value for both.
    """
    with threads_for(a.scores):
        drawn = _drawn(a, b, interval, measures)
        listed, first, second = drawn.listed, a.points, b.points
        genuine = max(a.attempts[0], b.attempts[0])
        impostor = max(a.attempts[1], b.attempts[1])
        # The smallest change of a rate of each class, and of both.
        weights: dict[Any, float] = {
            ("genuine",): 1 / max(genuine, 1),
            ("impostor",): 1 / max(impostor, 1),
        }
        made = {"far": _fewer(a.impostors, b.impostors), "frr": _fewer(a.genuine, b.genuine)}
        mixed, order = min(drawn.subjects, drawn.pairs), listed.discordant_order()
        for measure in measures:
            values, attempt = drawn.both(measure.name), 1 / max(genuine, impostor, 1)
            if measure.name == "auc":
                attempt = 1 / max(genuine * impostor, 1)
            targets: Sequence[float] = [np.nan]
            if measure.targets is None:
                values = values[:, None]
            else:
                targets = measure.targets(first).tolist()
            thresholds = [(np.nan, np.nan)] * len(targets)
            if measure.thresholds is not None:
                both = (np.atleast_1d(measure.thresholds(x)) for x in (first, second))
                thresholds = list(zip(*(x.tolist() for x in both), strict=True))
            for i, target in enumerate(targets):
                discordant = order
                if measure.thresholds is not None:
                    discordant = listed.discordant(thresholds[i], measure.rate_of != ("genuine",))
                yield PairedMeasure(
                    scalar=measure.scalar,
                    values=values[:, i],
                    trials=drawn.subjects if measure.rate_of == ("genuine",) else mixed,
                    attempt=weights.get(measure.rate_of, attempt),
                    discordant=discordant,
                    reordered=order,
                    prior=target if measure.of_target == "prior" else np.nan,
                    target=target if measure.of_target in made else np.nan,
                    made=made.get(measure.of_target, np.inf),
                )


@stage("bootstrap")
def _drawn(
    a: ComparedSystem,
    b: ComparedSystem,
    interval: IntervalMethod,
    measures: Sequence[CurveMeasure],
) -> _Drawn:
    """Draw operating points of both systems: of listed attempts exactly, of more on a grid."""
    first, second = a.by_subject(), b.by_subject()
    paired = PairedAttempts.of(first, second)
    if paired is None:  # too many to list: on a grid, and decisions of some subjects alone
        none, rows = np.empty(0), _rows_of_probes(a, b)
        numbers = _numbers(a, rows)
        one = Replicates.of(a.claimed, a.by_subject(None, numbers), none, interval, measures)
        other = Replicates.of(b.claimed, b.by_subject(None, numbers), none, interval, measures)
        probes, gallery = _some_subjects(a.scores, numbers, rows)
        some = PairedAttempts.of(
            a.by_subject(a.scores.select(probes, gallery)),
            b.by_subject(b.scores.select(probes, gallery)),
        )
        assert some is not None
        return _Drawn((one.values, other.values), some, one.subjects, one.pairs)
    weights = interval.weights(len(first.no_person), first.no_person)
    points = (
        paired.points(0, weights, a.points, measures),
        paired.points(1, weights, b.points, measures),
    )
    for system, replicated in zip((a, b), points, strict=True):
        for measure in measures:
            replicated[measure.name][..., 0] = measure.on_the_data(system.points)
    return _Drawn(points, paired, interval.trials_of(paired.genuine_subjects), first.disjoint_pairs)


def identification_measures(
    a: ComparedSystem, b: ComparedSystem, interval: IntervalMethod, order: int | None, gallery: str
) -> Iterator[PairedMeasure]:
    """Yield the recognition rate and DIR at each FAR target, with the probes' people resampled.

    `order` is the number of disjoint units of verification in another order, None where it is not
    known: more people than that need not differ. Unless the `gallery` is fixed, the jackknife is
    that of people who are left out as probes and from the gallery.
    """
    numbers = _numbers(a, _rows_of_probes(a, b))
    person = _people(a.scores, numbers)
    recognised, at_far, _, trials = a.drawn_rank_one(person, interval)
    other_recognised, other_at_far, _, _ = b.drawn_rank_one(person, interval)
    (hits, at_hits), (other_hits, at_other_hits) = a.hits_within(), b.hits_within()
    attempt = 1 / max(a.attempts[-1], b.attempts[-1], 1)

    def differing(one: np.ndarray, other: np.ndarray) -> int:
        return len(np.unique(person[np.abs(one - other) > _ROUNDING]))

    drawn = np.stack(
        [
            np.concatenate([recognised[None], at_far]),
            np.concatenate([other_recognised[None], other_at_far]),
        ]
    )
    population = THIS_GALLERY
    if (
        gallery == "new"
        and int((~a.scores._no_person[LeftOut.subjects_of(a.scores)]).sum()) >= FEWEST
    ):
        population = NEW_PEOPLE
        without = np.stack([x.rank_one_without_each(numbers, interval) for x in (a, b)])
        drawn = np.concatenate([drawn[..., : 1 + interval.replicates], without], axis=-1)
    scalar = scalar_registry().compared["recognition_rate"]
    discordant = differing(hits, other_hits)
    if order is None:
        order = discordant
    yield PairedMeasure(
        scalar=scalar,
        values=drawn[:, 0],
        trials=trials,
        attempt=attempt,
        discordant=discordant,
        reordered=order,
        population=population,
        drawn_for=THIS_GALLERY,
    )
    if "order" in (a.scores.kind, b.scores.kind):
        return
    order = min(
        order, _searches_in_another_order(a, b, person, np.abs(hits - other_hits) > _ROUNDING)
    )
    scalar = scalar_registry().compared["dir_at_far"]
    for i, target in enumerate(a.targets.tolist()):
        yield PairedMeasure(
            scalar=scalar,
            values=drawn[:, 1 + i],
            trials=trials,
            attempt=attempt,
            discordant=differing(at_hits[i], at_other_hits[i]),
            reordered=order,
            target=target,
            made=_fewer(a.impostor_searches, b.impostor_searches),
            population=population,
            drawn_for=THIS_GALLERY,
        )


def _fewer(a: float, b: float) -> float:
    """Return the attempts of the system that made fewer; those that made none are left out."""
    return min(filter(None, (a, b)), default=np.inf)


def _searches_in_another_order(
    a: ComparedSystem, b: ComparedSystem, person: np.ndarray, differ: np.ndarray
) -> int:
    """Return the number of disjoint units of subjects whose searches are in another order.

    A unit is a subject with a probe that one system alone identifies at rank 1 (`differ`), or the
    subjects of an identified probe and of a non-mated search whose order differs.
    """
    first, second = a.searched, b.searched
    identified = (a.hits_within()[0] > _ROUNDING) & (b.hits_within()[0] > _ROUNDING)
    searches = np.zeros(len(person), dtype=bool)
    searches[first.impostor_probes(first.impostor_role(a.search.impostors))] = True
    searches &= second.others > 0
    distinct, other_distinct = np.unique(first.mate[identified]), np.unique(second.mate[identified])
    people = int(person.max(initial=-1)) + 1
    changes = OrderChanges(
        (layers(first.mate[identified], distinct), layers(second.mate[identified], other_distinct)),
        person[identified],
        (layers(first.other[searches], distinct), layers(second.other[searches], other_distinct)),
        (person[searches], person[searches]),
        people,
    )
    probe_person = np.concatenate([person[differ], changes.pairs[0]])
    claimed_person = np.concatenate([person[differ], changes.pairs[1]])
    return count_units(probe_person, claimed_person, people, changes)


def _rows_of_probes(a: ComparedSystem, b: ComparedSystem) -> tuple[np.ndarray, np.ndarray]:
    """Return the outcome of each system for each probe, as whole numbers."""
    rows = []
    for x in (a, b):
        tally = x.searched
        mate = ranks_among(tally.mate, tally.other)
        other = ranks_among(tally.other, tally.mate)
        hits = np.rint(x.hits_within()[0] * 1023).astype(np.int64)
        rows.append((mate * (2 * len(mate) + 1) + other) * 1024 + hits)
    return rows[0], rows[1]


def _people(scores: Scores, numbers: np.ndarray) -> np.ndarray:
    """Return the number of each probe's subject; -1 where it is of no person."""
    return np.where(scores._probe_people < 0, -1, numbers[codes_of(scores).probe])


def _numbers(a: ComparedSystem, rows: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return the number of the subject of each code, from the scores of the probes alone."""
    codes = codes_of(a.scores)
    return numbers_by_scores((codes.probe,), rows, len(codes.values))


def _some_subjects(
    scores: Scores, numbers: np.ndarray, rows: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return some probes and gallery templates, few enough to be listed.

    They are all those of some subjects; where few subjects would be left, some templates of all
    subjects, at least two of each. The numbers of the subjects and the rows of the probes decide.
    """
    probing, enrolled = codes_of(scores).probe, codes_of(scores).gallery
    probes_of = np.bincount(probing, minlength=len(numbers))
    templates_of = np.bincount(enrolled, minlength=len(numbers))
    drawn = np.argsort(numbers)
    drawn = drawn[(probes_of + templates_of)[drawn] > 0]
    made = np.cumsum(probes_of[drawn]) * np.cumsum(templates_of[drawn])
    kept = drawn[made <= EXACT_ATTEMPTS]
    if len(kept) < min(len(drawn), _MANY_SUBJECTS):
        probe = gallery = rows[0] + rows[1]
        if scores.layout != "all-against-all":
            gallery = np.zeros(len(enrolled))
        probe, gallery = _place_within(probing, probe), _place_within(enrolled, gallery)
        for step in range(2, max(probes_of.max(), templates_of.max()) + 1):
            probes = (probe % step == 0) | (probe < 2)
            templates = (gallery % step == 0) | (gallery < 2)
            if probes.sum() * templates.sum() <= EXACT_ATTEMPTS:
                return probes, templates
    return np.isin(probing, kept), np.isin(enrolled, kept)


def _place_within(codes: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the place of each template among those of its subject, in the order of a key."""
    order = np.lexsort((key, codes))
    first = np.searchsorted(codes[order], codes[order])
    place = np.empty(len(codes), dtype=np.int64)
    place[order] = np.arange(len(codes)) - first
    return place


#: Groups of people without each of which re-identification is counted anew. Of fewer people than
#: twice as many each is left out alone: groups of one and of two would not weigh the same.
GROUPS = 20

# Ranks of the CMC that are compared.
RANKS = (1, 5)

# Subjects, at most, whose queries are looked at for distances in another order.
_SUBJECTS = 4 * ENOUGH

# Attributes of a result that say how it was evaluated.
_DETAILS = ("convention", "removes", "junk", "cmc_counts", "ties", "ap", "unmatched_queries")


class ComparedRetrieval:
    """One system under a convention: the contribution of each query to each measure."""

    def __init__(
        self,
        scores: Scores,
        rules: Convention,
        gallery: str,
        ranks: Sequence[int],
    ):
        """Count the queries, and take the means that the convention defines."""
        self.scores, self.rules = scores, rules
        if isinstance(scores, TopKScores):
            self.no_person = scores._no_person
            from bioeval.tasks.lists.results import reid_of_lists

            dataset, measures = reid_of_lists(scores, rules)
        else:
            counter = RetrievalPass(scores, rules)
            self.no_person = scores._no_person | counter.lists.marked | counter.lists.distractors
            tally, options = counter.run(), ReidOptions(**rules.result_options())
            dataset = reid_dataset(tally, options)
            measures = reid_measures(tally, options, curves=False)
            if rules.unmatched == "skip":
                require_matches(dataset)
        self.counted = measures.counted
        self.people = len(np.unique(codes_of(scores).probe[self.counted]))
        self.attempts = (int(dataset["queries"]),)
        self.remarks = messages_of(dataset.attrs)
        self.details = {name: dataset.attrs[name] for name in _DETAILS}
        cut = rules.rank_k or int(dataset.get("rank_k", 0))
        self.ranks = ranks  # of the CMC
        self._named = partial(_named, cut=cut, ranks=dataset.sizes["rank"], compared=tuple(ranks))
        #: The means that `_named` chooses.
        self.measures = self._named(measures)
        #: Groups of people that are left out in turn, as queries and from the gallery: each person,
        #: or :data:`GROUPS` where there are more than twice as many. 0 where the gallery is fixed:
        #: that of top-K lists always is, since what comes after the last entry is not known.
        self.groups, by = 0, "by subject"
        searching = int((~self.no_person[np.unique(codes_of(scores).probe)]).sum())
        if gallery == "new" and searching >= FEWEST and not isinstance(scores, TopKScores):
            self.groups = searching
            if searching > 2 * GROUPS:
                self.groups, by = GROUPS, f"by {GROUPS} groups of subjects"
        self.details["jackknifed"] = f"all measures: limits by the studentised jackknife {by}"

    def without_each(self, numbers: np.ndarray) -> dict[tuple[str, int], np.ndarray]:
        """Return each mean without each group of people, as queries and in the gallery.

        The people of a group are next to each other by their `numbers`, which are random; those of
        no person stay.
        """
        codes = codes_of(self.scores)
        group = np.full(len(numbers), -1)
        searching = np.isin(np.arange(len(numbers)), codes.probe)
        for side in (searching, ~searching):  # each group has its part of both
            people = np.flatnonzero(side & ~self.no_person)
            people = people[np.argsort(numbers[people])]
            group[people] = np.arange(len(people)) * self.groups // max(len(people), 1)
        most = min(self.rules.max_rank, max(self.ranks))  # the ranks that are compared
        rules = replace(self.rules, max_rank=most)
        left_out = RetrievalWithoutGroups(self.scores, rules, group, self._named)
        with rows_reported_to(None):
            return dict(zip(self.measures, left_out.run([*self.measures.values()]), strict=True))

    @property
    def rows(self) -> np.ndarray:
        """The contributions of each query to all means, as whole numbers."""
        return np.sum(list(map(_whole, self.measures.values())), axis=0)

    def attempts_of(self, queries: np.ndarray) -> SubjectAttempts:
        """Return the comparisons of some queries with all of the gallery."""
        return SubjectAttempts(VerificationCounter(BlockReader(self.scores.select(probes=queries))))


def _named(
    measures: QueryMeasures, cut: int, ranks: int, compared: Sequence[int]
) -> dict[tuple[str, int], QueryMean]:
    """Return the means that are compared, by the names of their scalars and their ranks.

    Lists are cut at rank `cut`, if at all, and curves end at rank `ranks`.
    """
    named = {}
    for scalar in QUERY_MEANS.values():
        if (mean := measures.means.get(scalar.name)) is not None:
            named[scalar.name, cut if scalar.cut else 0] = mean
    for rank in compared:
        if rank <= ranks:
            named["cmc", rank] = measures.cmc.within(rank)
    return named


def retrieval_measures(
    a: ComparedRetrieval, b: ComparedRetrieval, interval: IntervalMethod
) -> Iterator[PairedMeasure]:
    """Yield the measures that both systems have, with the subjects of the queries resampled.

    Unless the gallery is fixed, the jackknife is that of people who are left out on both sides.
    """
    codes = codes_of(a.scores)
    numbers = numbers_by_scores((codes.probe,), (a.rows, b.rows), len(codes.values))
    owners = QuerySubjects(_people(a.scores, numbers), a.counted | b.counted, interval)
    order = _units_in_another_order(a, b, numbers)
    population, without = THIS_GALLERY, []
    if a.groups:
        population, without = NEW_PEOPLE, [x.without_each(numbers) for x in (a, b)]

    def drawn(mean: QueryMean) -> tuple[np.ndarray, SubjectMeans]:
        over, sums = owners.means_over(mean.counted), owners.sums(mean)
        return mean.scalar.unscaled(over.values(sums)[0]), over

    for (name, rank), first in a.measures.items():
        if (name, rank) not in b.measures:
            continue
        second = b.measures[name, rank]
        (one, over), (other, _) = drawn(first), drawn(second)
        values = np.stack([one, other])
        if a.groups:
            left_out = np.stack([x[name, rank] for x in without])
            values = np.concatenate([values[:, : 1 + interval.replicates], left_out], axis=1)
        differ = _contribute_differently(first, second) | (first.counted != second.counted)
        discordant = len(np.unique(owners.person[differ]))
        attempt = 2 * _ROUNDING
        if name == "cmc" and np.isin(np.nan_to_num([first.each, second.each]), (0, 1)).all():
            attempt = 1 / max(a.attempts[0], b.attempts[0], 1)
        yield PairedMeasure(
            scalar=scalar_registry().compared[name],
            rank=rank,
            values=values,
            trials=over.trials,
            attempt=attempt,
            discordant=discordant,
            reordered=discordant if order is None else order,
            population=population,
            drawn_for=THIS_GALLERY,
        )


def _contribute_differently(one: QueryMean, other: QueryMean) -> np.ndarray:
    """Mark the queries whose contributions to two means differ."""
    return np.abs(np.nan_to_num(one.each) - np.nan_to_num(other.each)) > _ROUNDING


def _units_in_another_order(
    a: ComparedRetrieval, b: ComparedRetrieval, numbers: np.ndarray
) -> int | None:
    """Return the number of disjoint units of subjects whose distances are in another order.

    Of the queries of some subjects who are decided differently, and all of the gallery; None where
    there are no distances that could be compared.
    """
    if isinstance(a.scores, TopKScores) or "order" in (a.scores.kind, b.scores.kind):
        return None
    differ = np.zeros(len(a.counted), dtype=bool)
    for key in a.measures.keys() & b.measures.keys():
        differ |= _contribute_differently(a.measures[key], b.measures[key])
        differ |= a.counted != b.counted
    if not differ.any():
        return 0
    person = numbers[codes_of(a.scores).probe]
    few = np.isin(person, np.unique(person[differ])[:_SUBJECTS])
    one, other = a.attempts_of(few & differ), b.attempts_of(few & differ)
    return PairedAttempts.listed(one, other).discordant_order()


def _whole(mean: QueryMean) -> np.ndarray:
    """Return the contribution of each query to a mean, as whole numbers."""
    return np.rint(np.nan_to_num(mean.each) * 2.0**40).astype(np.int64) + mean.counted

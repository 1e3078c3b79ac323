"""The measures of two systems in each replicate, and the subjects that they decide differently.

Of verification and identification, and of re-identification.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bioeval.base import COMPARED, OPTIMA, QUERY_MEANS, ProtocolError, Scalar, stage
from bioeval.evaluation import runner_of
from bioeval.results import RULE_OF_3, RULE_OF_30, ComparedPeople, QueryMean, support_warnings
from bioeval.scores import (
    BlockReader,
    Scores,
    TopKScores,
    are_pairs,
    codes_of,
    threads_for,
)
from bioeval.stats import (
    IntervalOptions,
    QuerySubjects,
    Replicates,
    identification_replicates,
    rank_one_decisions,
    sample_of,
    weight_columns,
)
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
from bioeval.studies.reid.convention import Convention
from bioeval.studies.reid.jobs import RetrievalJob
from bioeval.studies.reid.results import ReidOptions, reid_dataset, reid_measures, require_matches
from bioeval.tallies import (
    IdentificationJob,
    PointsWanted,
    SubjectAttempts,
    VerificationJob,
    VerificationPoints,
    is_symmetric,
    per_cent,
    refine,
    run_jobs,
)

# Far below the difference of one attempt in any countable number.
_ROUNDING = 1e-12

# With fewer subjects that can be listed with all their templates, all subjects are kept with some.
_MANY_SUBJECTS = 100


@dataclass(frozen=True)
class ComparisonOptions:
    """Data of a comparison: the attempts of each task."""

    templates: str = "single"
    fusion: str = "min"
    rank_unit: str = "template"
    ties: str = "pessimistic"
    impostors: str = "auto"


@dataclass(frozen=True)
class PairedMeasure:
    """A measure of two systems in each column of weights.

    Attributes
    ----------
    label : str
    scalar : Scalar
    values : float64 array, shape (2, columns)
    trials : int
        Independent trials: subjects, or disjoint pairs of subjects; 0 where they cannot be
        resampled.
    attempt : float
        Weight of one attempt in the measure; of the AUC, of one genuine-impostor pair.
    discordant : int
        Disjoint units of subjects that the systems decide differently, each at its own threshold.
    reordered : int
        Disjoint units of subjects with a genuine and an impostor attempt in another order. A few
        of them may move a threshold, and with it the decisions of many others.
    supported : bool
        Whether there are enough impostor attempts for its FAR target.
    weak : bool
        Whether fewer than 30 false accepts are expected at its FAR target.
    """

    label: str
    scalar: Scalar
    values: np.ndarray
    trials: int
    attempt: float
    discordant: int
    reordered: int
    supported: bool = True
    weak: bool = False

    @property
    def evidence(self) -> int:
        """Number of independent pieces of evidence of a difference."""
        return min(self.discordant, self.reordered)

    @property
    def change(self) -> np.ndarray:
        """Difference, first minus second, in each column; below half an attempt it is 0."""
        change = self.values[0] - self.values[1]
        return np.where(np.abs(change) < self.attempt / 2, 0.0, change)


class ComparedSystem:
    """One system: its jobs and its tallies."""

    def __init__(
        self,
        scores: Scores,
        options: ComparisonOptions,
        targets: np.ndarray,
        frr_targets: np.ndarray,
    ):
        self.scores, self.options = scores, options
        self.targets, self.frr_targets = targets, frr_targets
        self.reader = BlockReader(scores)
        self.verification: VerificationJob | None = None
        jobs: list[Any] = []
        if scores.kind != "order":
            self.verification = VerificationJob(
                self.reader, templates=options.templates, fusion=options.fusion
            )
            wanted = PointsWanted(targets, np.empty((0, 3)), True, frr_targets=frr_targets)
            self.verification.wanted = wanted
            jobs.append(self.verification)
        self.identifies = not are_pairs(scores)
        if self.identifies:
            jobs.append(
                IdentificationJob(self.reader, rank_unit=options.rank_unit, fusion=options.fusion)
            )
        if not jobs:
            raise ProtocolError("pairs that hold only an order cannot be compared")
        self.tallies = run_jobs(self.reader, jobs)
        if (job := self.verification) is not None:
            with threads_for(scores):
                first = self.tallies[0]
                first.points = refine(first, [job], wanted, symmetric=False)

    @property
    def details(self) -> dict[str, str]:
        """How the attempts are evaluated, as attributes."""
        return {
            **asdict(self.options),
            "jackknifed": (
                "AUC, recognition rate: limits by the studentised jackknife by subject; DIR: the "
                "wider of these and percentiles"
            ),
        }

    @property
    def points(self) -> VerificationPoints:
        """The operating points of verification."""
        operating_points: VerificationPoints = self.tallies[0].points
        return operating_points

    def by_subject(
        self, scores: Scores | None = None, numbers: np.ndarray | None = None
    ) -> SubjectAttempts:
        """Return the verification attempts by subject, of all scores or of a selection.

        `numbers`, of the codes of all scores, give the order of the subjects.
        """
        if scores is None:
            assert self.verification is not None
            return SubjectAttempts(self.verification, numbers)
        reader = BlockReader(scores)
        job = VerificationJob(reader, templates=self.options.templates, fusion=self.options.fusion)
        return SubjectAttempts(job)

    @property
    def people(self) -> int:
        """All subjects of the verification attempts; of an order, those of the probes."""
        if self.verification is not None:
            return self.by_subject().people
        return len(np.unique(codes_of(self.scores).probe))

    @property
    def both_ways(self) -> bool:
        """Whether each pair of templates makes two attempts of verification."""
        return self.options.templates == "single" and is_symmetric(self.scores)

    @property
    def impostors(self) -> float:
        """Impostor attempts of verification, each pair of a symmetric matrix once."""
        return self.tallies[0].impostor.total / (2 if self.both_ways else 1)

    @property
    def genuine(self) -> float:
        """Genuine attempts of verification, each pair of a symmetric matrix once."""
        return len(self.tallies[0].genuine) / (2 if self.both_ways else 1)

    @property
    def impostor_searches(self) -> int:
        """Impostor attempts of open-set identification; 0 without any genuine one."""
        tally = self.tallies[-1]
        if self.scores.kind == "order" or not (tally.mates > 0).any():
            return 0
        return len(tally.impostor_probes(tally.impostor_role(self.options.impostors)))

    @property
    def attempts(self) -> tuple[int, ...]:
        """Attempts of each class: genuine and impostor of verification, genuine searches."""
        numbers: tuple[int, ...] = ()
        if self.verification is not None:
            numbers = len(self.tallies[0].genuine), self.tallies[0].impostor.total
        if self.identifies:
            numbers = *numbers, int((self.tallies[-1].mates > 0).sum())
        return numbers

    @property
    def failure_codes(self) -> Sequence[str]:
        """Warnings of scores that may be failed comparisons."""
        return self.reader.failure_codes

    @property
    def remarks(self) -> list[str]:
        """Warnings of the targets that the attempts do not support."""
        warnings = []
        if self.verification is not None and self.impostors:
            people = ComparedPeople.of_tally(self.tallies[0])
            warnings += support_warnings(
                self.targets, self.impostors, self.both_ways, "FRR", people
            )
            warnings += support_warnings(
                self.frr_targets, self.genuine, self.both_ways, "FAR", people, "FRR"
            )
        if self.identifies and self.impostor_searches:
            warnings += support_warnings(self.targets, self.impostor_searches, False, "DIR")
        return warnings

    def rank_one(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rank-1 hits of each probe, and those within each FAR target's threshold."""
        options = self.options
        return rank_one_decisions(self.tallies[-1], options.ties, options.impostors, self.targets)


def verification_measures(
    a: ComparedSystem, b: ComparedSystem, interval: IntervalOptions
) -> Iterator[PairedMeasure]:
    """Yield EER, rates at each target and AUC of both systems, in replicates of the same people.

    With at most :data:`EXACT_ATTEMPTS` attempts every replicate is counted exactly, so that one
    in which both systems decide alike has the same value for both.
    """
    with threads_for(a.scores):
        drawn, some, subjects, pairs = _drawn(a, b, interval)
        points = a.points, b.points
        at_eer = points[0].equal_error.eer_threshold, points[1].equal_error.eer_threshold
        eer = np.stack([system["eer"] for system in drawn])
        frr = np.stack([system["frr_at_far"] for system in drawn])
        auc = np.stack([system["auc"] for system in drawn])
        genuine = max(a.attempts[0], b.attempts[0])
        impostor = max(a.attempts[1], b.attempts[1])
        mixed, order = min(subjects, pairs), some.discordant_order()
        yield PairedMeasure(
            COMPARED["eer"].label,
            COMPARED["eer"],
            eer,
            mixed,
            1 / max(genuine, impostor, 1),
            some.discordant(at_eer, True),
            order,
        )
        for i, target in enumerate(a.targets.tolist()):
            thresholds = points[0].threshold_at_far[i], points[1].threshold_at_far[i]
            made = [x.impostors for x in (a, b)]
            scalar = COMPARED["frr_at_far"]
            yield PairedMeasure(
                scalar.label.format(target=per_cent(target)),
                scalar,
                frr[:, i],
                subjects,
                1 / max(genuine, 1),
                some.discordant(thresholds, False),
                order,
                *_support(target, made),
            )
        for i, target in enumerate(a.frr_targets.tolist()):
            thresholds = points[0].threshold_at_frr[i], points[1].threshold_at_frr[i]
            scalar, made = COMPARED["far_at_frr"], [x.genuine for x in (a, b)]
            yield PairedMeasure(
                scalar.label.format(target=per_cent(target)),
                scalar,
                np.stack([system["far_at_frr"][i] for system in drawn]),
                mixed,
                1 / max(impostor, 1),
                some.discordant(thresholds, True),
                order,
                *_support(target, made),
            )
        yield PairedMeasure(
            COMPARED["auc"].label,
            COMPARED["auc"],
            auc,
            mixed,
            1 / max(genuine * impostor, 1),
            order,
            order,
        )
        for scalar in OPTIMA:
            if scalar.name in COMPARED:
                values = np.stack([system[scalar.name] for system in drawn])
                attempt = 1 / max(genuine, impostor, 1)
                yield PairedMeasure(scalar.label, scalar, values, mixed, attempt, order, order)


@stage("bootstrap")
def _drawn(
    a: ComparedSystem, b: ComparedSystem, interval: IntervalOptions
) -> tuple[list[dict[str, np.ndarray]], PairedAttempts, int, int]:
    """Return operating points of both systems in replicates, listed attempts, sample sizes.

    The sample sizes are subjects with genuine attempts, and disjoint pairs of subjects.
    """
    first, second = a.by_subject(), b.by_subject()
    paired = PairedAttempts.of(first, second)
    if paired is None:  # too many to list: on a grid, and decisions of some subjects alone
        none, rows = np.empty(0), _rows_of_probes(a, b)
        numbers = _numbers(a, rows)
        each = [
            Replicates.of(x.tallies[0], x.by_subject(None, numbers), none, interval) for x in (a, b)
        ]
        kept = _some_subjects(a.scores, numbers, rows)
        some = PairedAttempts.of(
            a.by_subject(a.scores.select(*kept)), b.by_subject(b.scores.select(*kept))
        )
        assert some is not None
        return [x.values for x in each], some, each[0].subjects, each[0].pairs
    weights = weight_columns(len(first.no_person), interval, first.no_person)
    drawn = [paired.points(k, weights, a.targets, a.frr_targets) for k in (0, 1)]
    for system, replicated in zip((a, b), drawn, strict=True):
        for name, value in Replicates.itself(system.points).items():
            replicated[name][..., 0] = value
    return drawn, paired, sample_of(paired.genuine_subjects), first.disjoint_pairs


def identification_measures(
    a: ComparedSystem, b: ComparedSystem, interval: IntervalOptions, order: int | None
) -> Iterator[PairedMeasure]:
    """Yield the recognition rate and DIR at each FAR target, with the probes' people resampled.

    `order` is the number of disjoint units of verification in another order, None where it is not
    known: more people than that need not differ.
    """
    person = _people(a.scores, _numbers(a, _rows_of_probes(a, b)))
    drawn = [
        identification_replicates(
            x.tallies[-1], person, x.options.ties, x.options.impostors, x.targets, interval
        )
        for x in (a, b)
    ]
    (hits, at_hits), (others, at_others) = a.rank_one(), b.rank_one()
    attempt = 1 / max(*(x.attempts[-1] for x in (a, b)), 1)

    def differing(one: np.ndarray, other: np.ndarray) -> int:
        return len(np.unique(person[np.abs(one - other) > _ROUNDING]))

    rank_one = np.stack([x[0] for x in drawn])
    scalar = COMPARED["recognition_rate"]
    trials = drawn[0][3]
    discordant = differing(hits, others)
    if order is None:
        order = discordant
    yield PairedMeasure(scalar.label, scalar, rank_one, trials, attempt, discordant, order)
    if "order" in (a.scores.kind, b.scores.kind):
        return
    at_far = np.stack([x[1] for x in drawn])
    order = min(order, _searches_in_another_order(a, b, person, np.abs(hits - others) > _ROUNDING))
    scalar = COMPARED["dir_at_far"]
    for i, target in enumerate(a.targets.tolist()):
        made = [x.impostor_searches for x in (a, b)]
        yield PairedMeasure(
            scalar.label.format(target=per_cent(target)),
            scalar,
            at_far[:, i],
            trials,
            attempt,
            differing(at_hits[i], at_others[i]),
            order,
            *_support(target, made),
        )


def _support(target: float, made: Sequence[float]) -> tuple[bool, bool]:
    """Return whether the attempts of both systems support a FAR target, and whether weakly."""
    attempts = min(filter(None, made), default=np.inf)
    return RULE_OF_3.supports(target, attempts), not RULE_OF_30.supports(target, attempts)


def _searches_in_another_order(
    a: ComparedSystem, b: ComparedSystem, person: np.ndarray, differ: np.ndarray
) -> int:
    """Return the number of disjoint units of subjects whose searches are in another order.

    A unit is a subject with a probe that one system alone identifies at rank 1 (`differ`), or the
    subjects of an identified probe and of a non-mated search whose order differs.
    """
    first, second = a.tallies[-1], b.tallies[-1]
    own = (a.rank_one()[0] > _ROUNDING) & (b.rank_one()[0] > _ROUNDING)
    searches = np.zeros(len(person), dtype=bool)
    searches[first.impostor_probes(first.impostor_role(a.options.impostors))] = True
    searches &= second.others > 0
    distinct = [np.unique(x.mate[own]) for x in (first, second)]
    mates = layers(first.mate[own], distinct[0]), layers(second.mate[own], distinct[1])
    others = layers(first.other[searches], distinct[0]), layers(second.other[searches], distinct[1])
    people = int(person.max(initial=-1)) + 1
    between = person[searches], person[searches]
    changes = OrderChanges(mates, person[own], others, between, people)
    left = np.concatenate([person[differ], changes.pairs[0]])
    right = np.concatenate([person[differ], changes.pairs[1]])
    return count_units(left, right, people, changes)


def _rows_of_probes(a: ComparedSystem, b: ComparedSystem) -> tuple[np.ndarray, np.ndarray]:
    """Return the outcome of each system for each probe, as whole numbers."""
    rows = []
    for x in (a, b):
        tally = x.tallies[-1]
        mate, other = ranks_among(tally.mate, tally.other)
        hits = np.rint(x.rank_one()[0] * 1023).astype(np.int64)
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
    sides = codes_of(scores).probe, codes_of(scores).gallery
    sizes = [np.bincount(side, minlength=len(numbers)) for side in sides]
    drawn = np.argsort(numbers)
    drawn = drawn[(sizes[0] + sizes[1])[drawn] > 0]
    made = np.cumsum(sizes[0][drawn]) * np.cumsum(sizes[1][drawn])
    kept = drawn[made <= EXACT_ATTEMPTS]
    if len(kept) >= min(len(drawn), _MANY_SUBJECTS):
        return np.isin(sides[0], kept), np.isin(sides[1], kept)
    probe = rows[0] + rows[1]
    if scores.layout == "all-against-all":
        gallery = probe
    else:
        gallery = np.zeros(len(sides[1]))
    places = _place_within(sides[0], probe), _place_within(sides[1], gallery)
    for step in range(2, max(size.max() for size in sizes) + 1):
        probes = (places[0] % step == 0) | (places[0] < 2)
        gallery = (places[1] % step == 0) | (places[1] < 2)
        if probes.sum() * gallery.sum() <= EXACT_ATTEMPTS:
            return probes, gallery
    return np.isin(sides[0], kept), np.isin(sides[1], kept)


def _place_within(codes: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the place of each template among those of its subject, in the order of a key."""
    order = np.lexsort((key, codes))
    first = np.searchsorted(codes[order], codes[order])
    place = np.empty(len(codes), dtype=np.int64)
    place[order] = np.arange(len(codes)) - first
    return place


# Ranks of the CMC that are compared.
_RANKS = (1, 5)

# Subjects, at most, whose queries are looked at for distances in another order.
_SUBJECTS = 4 * ENOUGH

# Attributes of a result that say how it was evaluated.
_DETAILS = ("convention", "removes", "junk", "cmc_counts", "ties", "ap", "unmatched_queries")


class ComparedRetrieval:
    """One system under a convention: the contribution of each query to each measure."""

    def __init__(self, scores: Scores, rules: Convention):
        self.scores = scores
        if isinstance(scores, TopKScores):
            dataset, measures = runner_of(scores).reid_of_lists(scores, rules)
        else:
            tally = RetrievalJob(scores, rules).run()
            options = ReidOptions(**rules.result_options())
            dataset, measures = reid_dataset(tally, options), reid_measures(tally, options)
            if rules.unmatched == "skip":
                require_matches(dataset)
        self.counted = measures.counted
        self.people = len(np.unique(codes_of(scores).probe[self.counted]))
        self.attempts = (int(dataset["queries"]),)
        self.remarks = str(dataset.attrs["warnings"]).splitlines()
        self.failure_codes: tuple[str, ...] = ()  # they are among the remarks
        self.details = {
            **{name: dataset.attrs[name] for name in _DETAILS},
            "jackknifed": "all measures: limits by the studentised jackknife by subject",
        }
        self.measures: dict[tuple[str, str], QueryMean] = {}
        cut = rules.rank_k or int(dataset.get("rank_k", 0))
        for scalar in QUERY_MEANS.values():
            if (mean := measures.means.get(scalar.name)) is not None:
                self.measures[scalar.name, scalar.label.format(rank=cut)] = mean
        for rank in _RANKS:
            if rank <= dataset.sizes["rank"]:
                label = COMPARED["cmc"].label.format(rank=rank)
                self.measures["cmc", label] = measures.cmc.within(rank)


def retrieval_measures(
    a: ComparedRetrieval, b: ComparedRetrieval, interval: IntervalOptions
) -> Iterator[PairedMeasure]:
    """Yield the measures that both systems have, with the subjects of the queries resampled."""
    codes = codes_of(a.scores)
    rows = [np.sum([_whole(mean) for mean in x.measures.values()], axis=0) for x in (a, b)]
    numbers = numbers_by_scores((codes.probe,), (rows[0], rows[1]), len(codes.values))
    owners = QuerySubjects(_people(a.scores, numbers), a.counted | b.counted, interval)
    order = _units_in_another_order(a, b, numbers)
    for key, first in a.measures.items():
        if key not in b.measures:
            continue
        second = b.measures[key]
        means = [owners.means_over(x.counted) for x in (first, second)]
        pairs = zip(means, (first, second), strict=True)
        values = np.stack([y.scalar.unscaled(x.values(owners.sums(y))[0]) for x, y in pairs])
        one = np.nan_to_num(first.each)
        other = np.nan_to_num(second.each)
        differ = (np.abs(one - other) > _ROUNDING) | (first.counted != second.counted)
        discordant = len(np.unique(owners.person[differ]))
        decisions = np.isin(np.concatenate([one, other]), (0, 1)).all() and key[0] == "cmc"
        if decisions:
            attempt = 1 / max(*a.attempts, *b.attempts, 1)
        else:
            attempt = 2 * _ROUNDING
        yield PairedMeasure(
            key[1],
            COMPARED[key[0]],
            values,
            means[0].trials,
            attempt,
            discordant,
            discordant if order is None else order,
        )


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
        one = np.nan_to_num(a.measures[key].each)
        other = np.nan_to_num(b.measures[key].each)
        differ |= (np.abs(one - other) > _ROUNDING) | (a.counted != b.counted)
    if not differ.any():
        return 0
    person = numbers[codes_of(a.scores).probe]
    few = np.isin(person, np.unique(person[differ])[:_SUBJECTS])
    attempts = []
    for x in (a, b):
        scores = x.scores.select(probes=few & differ)
        reader = BlockReader(scores)
        attempts.append(SubjectAttempts(VerificationJob(reader)))
    return PairedAttempts.listed(*attempts).discordant_order()


def _whole(mean: QueryMean) -> np.ndarray:
    """Return the contribution of each query to a mean, as whole numbers."""
    return np.rint(np.nan_to_num(mean.each) * 2.0**40).astype(np.int64) + mean.counted

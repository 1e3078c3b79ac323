"""What a threshold study counts: attempts in folds and on all data, and the people of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.attempts.judged import Judged
from bioeval.attempts.symmetry import is_symmetric
from bioeval.attempts.thresholds import to_user
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.results.dataset import Variables
from bioeval.results.support import ComparedPeople, KindVerdict, RuleOf
from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.matrix import Scores, are_pairs, knows_people
from bioeval.stats.options import IntervalMethod
from bioeval.studies.assurance.shares import Shares
from bioeval.studies.folds.folds import attempts_by_subject, verify
from bioeval.studies.folds.intervals import PooledRates
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.results import Ends, Fold, ends_by_subject
from bioeval.studies.folds.splits import PairSides, SplitPlan, SplitSides, plan_of_scores
from bioeval.studies.thresholds.searches import Searches
from bioeval.tasks.identification import open_set
from bioeval.tasks.verification_task import verification


@dataclass(frozen=True)
class Counts:
    """Data of a study: attempts in folds and on all data, the people, and their resamples."""

    plan: SplitPlan
    folds: dict[tuple[int, int], Fold]
    whole: Judged
    by_subject: dict[str, Ends]
    independent: int  # impostor attempts, each pair of a symmetric matrix once
    people: Variables  # numbers of people and of what is independent
    subjects: int  # people whose number makes the impostor attempts; 0 if unknown


@dataclass(frozen=True)
class ComparisonCounts(Counts):
    """Data of a study of verification: the rules of 3 and 30 count pairs of people of a FAR."""

    RULES_COUNT = "pairs of people, each once, however many templates it has"

    sides: SplitSides | PairSides
    compared: ComparedPeople | None  # where people are known
    remarks: Sequence[Message]

    def limits(self, rate: str) -> bool:
        """Whether the number of people limits a rate."""
        return rate == "far" or self.subjects > 0

    def there(self, rate: str) -> float:
        """Return what there is of what the rules count."""
        if rate == "frr":
            return self.subjects
        if self.compared is None:
            return self.independent
        return min(self.independent, self.compared.pairs)

    def people_for(self, attempts: int, rate: str) -> int:
        """Return the people that a number of attempts needs."""
        return ComparedPeople.least_with(attempts) if rate == "far" else attempts

    def needed(self, least: RuleOf, rate: str, target: float) -> dict[str, int]:
        """Return what a rule needs: people, or impostor attempts where these are fewer."""
        wanted = least.attempts_for(target)
        if rate == "frr":
            return {"people": wanted}
        if self.compared is None or self.compared.pairs > self.independent:
            return {"impostor attempts": wanted}
        enough = ComparedPeople.least_with(wanted)
        if enough <= self.compared.number:
            return {"pairs of people": wanted}
        return {"people": enough, "pairs of people": wanted}

    def doubt(self, scores: Scores, *, fused: bool) -> Message | None:
        """Return a doubt of the kind of the scores."""
        genuine = self.whole.test.genuine_attempts
        people = min(self.subjects or genuine, genuine)
        eer = self.whole.test.about_equal_error()
        return KindVerdict.doubt(eer, scores.kind, people, fused=fused, metric=scores._metric)


@dataclass(frozen=True)
class SearchCounts(Counts):
    """Data of a study of open set: the rules of 3 and 30 count people who are not enrolled."""

    RULES_COUNT = "people who are not enrolled, each once, however often a person searches"

    shares: Shares

    def limits(self, rate: str) -> bool:
        """Whether the number of people limits a rate."""
        return rate == "far"

    def there(self, rate: str) -> float:
        """Return what there is of what the rules count."""
        return self.subjects

    def people_for(self, attempts: int, rate: str) -> int:
        """Return the people that a number of attempts needs."""
        return attempts

    def needed(self, least: RuleOf, rate: str, target: float) -> dict[str, int]:
        """Return what a rule needs: people who are not enrolled."""
        return {"people who are not enrolled": least.attempts_for(target)}


def count_comparisons(
    scores: Scores,
    reader: BlockReader,
    splitter: Any,
    options: FoldOptions,
    interval: IntervalMethod,
) -> ComparisonCounts:
    """Count verification."""
    plan, sides = plan_of_scores(scores, splitter)
    folds, whole = verify(reader, plan, sides, options)
    assert whole is not None
    independent, subjects = whole.test.impostor_attempts, number_of_subjects(scores)
    if is_symmetric(scores):
        independent //= 2
    by_subject, remarks = _by_subject(scores, whole, interval)
    people: Variables = {}
    if subjects:
        people["subjects"] = subjects
    compared = ComparedPeople.of_scores(scores)
    if compared is not None:
        people["pairs_of_people"] = compared.pairs
    if knows_people(scores):
        people["disjoint_pairs"] = attempts_by_subject(scores).disjoint_pairs
    return ComparisonCounts(
        plan=plan,
        folds=folds,
        whole=whole,
        by_subject=by_subject,
        independent=independent,
        people=people,
        subjects=subjects,
        sides=sides,
        compared=compared,
        remarks=remarks,
    )


def count_searches(
    scores: Scores,
    reader: BlockReader,
    splitter: Any,
    options: FoldOptions,
    interval: IntervalMethod,
) -> SearchCounts:
    """Count searches of a fixed gallery."""
    searches = Searches(scores, reader, options)
    plan, whole = searches.plan(splitter), searches.judge_all()
    by_subject = {}
    if whole.chosen.defined and math.isfinite(whole.chosen.threshold):
        by_subject = _by_searcher(scores, whole, options, interval)
    unenrolled = searches.unenrolled_people
    return SearchCounts(
        plan=plan,
        folds=searches.folds(plan),
        whole=whole,
        by_subject=by_subject,
        independent=whole.test.impostor_attempts,
        people={"subjects": searches.people, "unenrolled_people": unenrolled},
        subjects=unenrolled,
        shares=searches.shares(),
    )


@stage("bootstrap")
def _by_subject(
    scores: Scores, whole: Judged, interval: IntervalMethod
) -> tuple[dict[str, Ends], Sequence[Message]]:
    """Return the bootstrapped rates at the threshold chosen on all data, and warnings."""
    if not whole.chosen.defined:
        return {}, []
    if not knows_people(scores):
        return {}, [Message("no-interval-by-subject", pattern=str(scores._subject_pattern))]
    pooled = PooledRates(scores, interval)
    with threads_for(scores):
        pooled.add(attempts_by_subject(scores), whole.chosen.threshold)
    if not math.isfinite(whole.chosen.threshold):
        return ends_by_subject(pooled), pooled.remarks()
    there = verification(
        scores,
        interval=interval,
        thresholds=[to_user(whole.chosen.threshold, scores.kind)],
        auc=False,
    )
    # One threshold of a curve, which shows how errors are correlated where few people err.
    return ends_by_subject(pooled, _limits_there(there)), pooled.remarks()


@stage("bootstrap")
def _by_searcher(
    scores: Scores, whole: Judged, options: FoldOptions, interval: IntervalMethod
) -> dict[str, Ends]:
    """Return FAR and FRR of open set at the threshold chosen on all data, with their limits."""
    checked: Any = {
        "rank_unit": options.rank_unit,
        "fusion": options.fusion,
        "ties": options.ties,
        "impostors": options.impostors,
        "interval": interval,
    }
    there = open_set(
        scores,
        **checked,
        thresholds=[to_user(whole.chosen.threshold, scores.kind)],
        max_rank=1,
    )
    return _limits_there(there)


def _limits_there(there: xr.Dataset) -> dict[str, Ends]:
    """Return FAR and FRR of a result at its one threshold, with their limits."""
    limits = {}
    for rate in ("far", "frr"):
        low, high = there[f"{rate}_low"].item(), there[f"{rate}_high"].item()
        limits[rate] = there[rate].item(), low, high
    return limits


def number_of_subjects(scores: Scores) -> int:
    """Return the number of subjects of a matrix, or of pairs; 0 where they are unknown."""
    if are_pairs(scores):
        return len(scores.subjects)
    return len(np.unique(SplitSides(scores).subject))

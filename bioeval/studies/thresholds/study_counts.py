"""The threshold of a study with its rates on all data, and its evaluation in folds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import ProtocolError
from bioeval.base.kinds import Kind
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.identification import Searches, search
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.threshold_rules import ChosenThreshold, Rule, choose
from bioeval.counting.thresholds import to_user
from bioeval.counting.too_few_templates import claims_lost
from bioeval.counting.verification import verify
from bioeval.counting.wanted_points import PointsWanted
from bioeval.protocol.tasks import OpenSet
from bioeval.results.dataset import Variables
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, people_of_probes, subject_pattern_of
from bioeval.scores.provenance import Provenance
from bioeval.scores.symmetry import is_symmetric
from bioeval.stats.aggregate import aggregate
from bioeval.stats.options import IntervalMethod
from bioeval.studies.assurance.judged_rates import SearchesOfOthers
from bioeval.studies.folds.cross_evaluate import cross_evaluate
from bioeval.studies.folds.folds import Searched, fold_of_searches, stacked
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.results import fold_dataset
from bioeval.studies.folds.splits import Samples, SamplesToDivide, SplitPlan
from bioeval.studies.thresholds.judged_threshold import rates_at
from bioeval.studies.thresholds.study_people import StudyPeople

#: The rates of a study.
RATES = ("far", "frr", "hter")

#: Statistics of each rate over the test parts of the folds, besides the mean.
FOLD_STATISTICS = ("sd", "pooled")


class CountedStudy(NamedTuple):
    """The threshold of a study with its rates on all data, and the evaluation in folds."""

    folds: xr.Dataset  # as of `cross_evaluate`
    chosen: ChosenThreshold
    attempts: Attempts  # all attempts, on which the threshold is chosen
    rates: Mapping[str, Any]  # rates of all attempts at the threshold, with limits
    variables: Variables  # numbers of people and pairs
    people: StudyPeople
    messages: Sequence[Message] = ()
    others: SearchesOfOthers | None = None  # None of single comparisons

    def variables_of_all_data(self, kind: Kind) -> Variables:
        """Return the threshold in units of the scores, and numbers of attempts and people."""
        values: Variables = {**self.chosen.in_units(kind)}
        for name in ("genuine_attempts", "impostor_attempts"):
            values[name] = getattr(self.attempts, name)
        return values | self.variables

    def rates_by_part(self) -> dict[str, list[float]]:
        """Return each rate of all data, and expected with new subjects: over ``all, test``."""
        over_folds = aggregate(self.folds, ("repeat", "fold"))
        mean_of_tests = over_folds.sel(part="test", statistic="mean")
        rates = {}
        for end in ("", "_low", "_high"):
            far, frr = (self.rates.get(f"{rate}{end}", math.nan) for rate in ("far", "frr"))
            for rate, on_all in zip(RATES, (far, frr, (far + frr) / 2), strict=True):
                rates[f"{rate}{end}"] = [on_all, mean_of_tests[f"{rate}{end}"].item()]
        for rate, statistic in itertools.product(RATES, FOLD_STATISTICS):
            value = over_folds[rate].sel(part="test", statistic=statistic).item()
            rates[f"{rate}_{statistic}"] = [math.nan, value]
        return rates


def count_comparisons(
    scores: Scores, rule: Rule, splitter: Any, interval: IntervalMethod
) -> CountedStudy:
    """Return a study of verification."""
    folds = cross_evaluate(scores, splitter, threshold=rule, interval=_method_over_folds(interval))
    distance_rule = rule.as_distance(scores.kind)
    verified = verify(scores, wanted=PointsWanted.of_rule(distance_rule))
    attempts, compared = verified.attempts, verified.compared
    chosen = choose(distance_rule, attempts)
    pairs = attempts.impostor_attempts // (2 if is_symmetric(scores) else 1)
    subjects = len(scores.subjects) if knows_people(scores) else 0
    rates, messages = _rates_on_all_data(scores, chosen, interval)
    variables: Variables = {"impostor_pairs": pairs}
    if subjects:
        variables["subjects"] = subjects
    if compared is not None:
        variables |= {"disjoint_pairs": compared.disjoint, "pairs_of_people": compared.pairs}
    return CountedStudy(
        folds,
        chosen,
        attempts,
        rates,
        variables,
        StudyPeople(subjects, pairs, compared),
        messages,
    )


def count_searches(
    scores: Scores,
    rule: Rule,
    splitter: Any,
    interval: IntervalMethod,
    search_options: Mapping[str, Any],
) -> CountedStudy:
    """Return a study of open-set identification, of people who are not enrolled."""
    task = OpenSet(impostors="unenrolled", **search_options)
    options = FoldOptions("open_set", rule, _method_over_folds(interval), search=task)
    person = scores.codes.probe
    gallery = int((~scores.codes.no_person[np.unique(scores.codes.gallery)]).sum())
    searches = search(scores, task)
    all_searches = Searched.of_part(searches, task, gallery, person)
    attempts = all_searches.attempts()
    chosen = choose(rule.as_distance(scores.kind), attempts)
    is_impostor = searches.impostor_probes("unenrolled")
    unenrolled = len(np.unique(person[is_impostor]))
    mates_at_rank_1 = np.where(all_searches.ranks == 1, all_searches.mate_distance, np.inf)
    return CountedStudy(
        _folds_of_searches(scores, searches, splitter, options, gallery),
        chosen,
        attempts,
        _rates_of_searches(scores, chosen, interval, search_options),
        {
            "impostor_pairs": attempts.impostor_attempts,
            "subjects": len(np.unique(person)),
            "unenrolled_people": unenrolled,
        },
        StudyPeople(unenrolled, attempts.impostor_attempts, is_search=True),
        others=SearchesOfOthers(searches.other[is_impostor], person[is_impostor], mates_at_rank_1),
    )


def _folds_of_searches(
    scores: Scores, searches: Searches, splitter: Any, options: FoldOptions, gallery: int
) -> xr.Dataset:
    """Return the evaluation in folds, which divide the people who search.

    People who are enrolled and people who are not are divided alike; the gallery of `gallery`
    subjects stays whole.
    """
    rule = options.rule.as_distance(scores.kind)
    person = scores.codes.probe
    is_enrolled = np.isin(person, person[searches.mates > 0])
    meta = {"enrolled": np.where(is_enrolled, "yes", "no")}
    plan = SplitPlan(splitter, SamplesToDivide(len(person), person, meta=meta))
    people, folds = Samples(person), []
    for split in plan.splits.values():
        train, test = (
            Searched.of_part(
                searches.select(part.probes), options.search, gallery, person[part.probes]
            )
            for part in (split.train, split.test)
        )
        folds.append(fold_of_searches(train, test, options, rule) | people.sizes(split))
    lost = claims_lost(scores, options.fused(scores.kind))
    about = Provenance.from_scores(scores).without_claims(*lost)
    return fold_dataset(stacked(folds), plan, about, options)


def searches_of_people(scores: Scores) -> Scores:
    """Return scores whose probes are all of people; distractors and junk stay in the gallery.

    Raise :class:`ProtocolError` unless people who are not enrolled search a gallery.
    """
    purpose = (
        "a threshold of open set is for searches of a fixed gallery by people who are not enrolled"
    )
    if scores.layout != "probe-against-gallery":
        raise ProtocolError(
            f"{purpose}; of {scores.layout} the FAR depends on all who are enrolled at once. Give "
            "probes and a gallery"
        )
    is_person = people_of_probes(scores) >= 0
    if np.isin(scores.codes.probe, scores.codes.gallery)[is_person].all():
        raise ProtocolError(f"{purpose}; all people of these probes are enrolled. Give others, too")
    if is_person.all():
        return scores
    return scores.select(probes=np.flatnonzero(is_person))


def _method_over_folds(interval: IntervalMethod) -> IntervalMethod:
    return IntervalMethod("nadeau-bengio", interval.confidence)


@stage("intervals")
def _rates_of_searches(
    scores: Scores,
    chosen: ChosenThreshold,
    interval: IntervalMethod,
    search_options: Mapping[str, Any],
) -> dict[str, Any]:
    from bioeval.tasks.identification import open_set

    if not (chosen.defined and math.isfinite(chosen.threshold)):
        return {}
    searched = open_set(
        scores,
        impostors="unenrolled",
        interval=interval,
        thresholds=[to_user(chosen.threshold, scores.kind)],
        max_rank=1,
        **search_options,
    )
    return {str(name): x.item() for name, x in searched.data_vars.items() if x.size == 1}


@stage("intervals")
def _rates_on_all_data(
    scores: Scores, chosen: ChosenThreshold, interval: IntervalMethod
) -> tuple[dict[str, Any], list[Message]]:
    if not chosen.defined:
        return {}, []
    has_people = knows_people(scores)
    rates, _ = rates_at(scores, chosen.threshold, interval if has_people else None)
    if not has_people:
        return rates, [Message("no-interval-by-subject", pattern=str(subject_pattern_of(scores)))]
    return rates, interval.few_people(len(scores.subjects))

"""The measures of re-identification of two systems in each replicate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bioeval.base.scalars import COMPARED
from bioeval.evaluation.compared_measures import PairedMeasure
from bioeval.protocol.reid import Convention
from bioeval.results.query_means import QueryMean
from bioeval.results.reid import ReidOptions, reid_dataset, reid_measures, require_matches
from bioeval.results.top_k import reid_of_lists
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.scores.matrix import Scores
from bioeval.scores.top_k import TopKScores
from bioeval.stats.bootstrap import ROUNDING
from bioeval.stats.options import IntervalOptions
from bioeval.stats.query_means import QuerySubjects
from bioeval.tallies.by_subject import SubjectAttempts
from bioeval.tallies.paired import ENOUGH, PairedAttempts, numbers_by_scores
from bioeval.tallies.reid_jobs import RetrievalJob
from bioeval.tallies.verification_job import VerificationJob

# Ranks of the CMC that are compared.
_RANKS = (1, 5)

# Subjects, at most, whose queries are looked at for distances in another order.
_SUBJECTS = 4 * ENOUGH

# Attributes of a result that say how it was evaluated.
_DETAILS = ("convention", "removes", "junk", "cmc_counts", "ties", "ap", "unmatched_queries")


class ComparedRetrieval:
    """One system under a convention: the contribution of each query to each measure."""

    def __init__(self, scores: Scores, rules: Convention, progress: Progress | None):
        self.scores = scores
        if isinstance(scores, TopKScores):
            found, measures = reid_of_lists(scores, rules)
        else:
            tally = RetrievalJob(scores, rules).run(progress)
            options = ReidOptions(**rules.result_options())
            found, measures = reid_dataset(tally, options), reid_measures(tally, options)
            if rules.unmatched == "skip":
                require_matches(found)
        self.counted = measures.counted
        self.people = len(np.unique(scores.codes.probe[self.counted]))
        self.attempts = (int(found["queries"]),)
        self.remarks = str(found.attrs["warnings"]).splitlines()
        self.failure_codes: tuple[str, ...] = ()  # they are among the remarks
        self.details = {
            **{name: found.attrs[name] for name in _DETAILS},
            "jackknifed": "all measures: limits by the studentised jackknife by subject",
        }
        self.measures: dict[tuple[str, str], QueryMean] = {}
        for name in ("mean_ap", "rank_k_mean_ap", "mean_inp"):
            if name in measures.means:
                cut = rules.rank_k or int(found.get("rank_k", 0))
                label = COMPARED[name].label.format(rank=cut)
                self.measures[name, label] = measures.means[name]
        for rank in _RANKS:
            if rank <= found.sizes["rank"]:
                label = COMPARED["cmc"].label.format(rank=rank)
                self.measures["cmc", label] = measures.cmc.within(rank)


def retrieval_measures(
    a: ComparedRetrieval, b: ComparedRetrieval, interval: IntervalOptions
) -> Iterator[PairedMeasure]:
    """Yield the measures that both systems have, with the subjects of the queries resampled."""
    codes = a.scores.codes
    rows = [np.sum([_whole(mean) for mean in x.measures.values()], axis=0) for x in (a, b)]
    numbers = numbers_by_scores((codes.probe,), (rows[0], rows[1]), len(codes.values))
    owners = QuerySubjects(numbers[codes.probe], a.counted | b.counted, interval)
    order = _units_in_another_order(a, b, numbers)
    for key, first in a.measures.items():
        if key not in b.measures:
            continue
        second = b.measures[key]
        means = [owners.means_over(x.counted) for x in (first, second)]
        sums = [owners.sums(x) for x in (first, second)]
        values = np.stack([x.values(y)[0] for x, y in zip(means, sums, strict=True)])
        one, other = (np.nan_to_num(x.each) for x in (first, second))
        differ = (np.abs(one - other) > ROUNDING) | (first.counted != second.counted)
        discordant = len(np.unique(owners.person[differ]))
        decisions = np.isin(np.concatenate([one, other]), (0, 1)).all() and key[0] == "cmc"
        attempt = 1 / max(*a.attempts, *b.attempts, 1) if decisions else 2 * ROUNDING
        yield PairedMeasure(
            key[1], COMPARED[key[0]], values, means[0].trials, attempt, discordant,
            discordant if order is None else order,
        )  # fmt: skip


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
        one, other = (np.nan_to_num(x.measures[key].each) for x in (a, b))
        differ |= (np.abs(one - other) > ROUNDING) | (a.counted != b.counted)
    if not differ.any():
        return 0
    person = numbers[a.scores.codes.probe]
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

"""Confidence intervals of re-identification and GOM, by the subjects of the queries.

A measure is a mean over queries, and the queries of a person are not independent. So a replicate of
the mean leaves out a person with all queries (jackknife), or draws the people anew (bootstrap). If
the persons A, A, B make three queries of average precision 1, 0.5 and 0, then mAP is 0.5, and its
jackknife replicates are 0 (without A) and 0.75 (without B). :func:`query_mean_intervals` turns the
replicates of each measure into limits; :class:`QueryReplicates` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy
import xarray as xr

from bioeval.base.errors import Message
from bioeval.results.query_means import MatchCurve, QueryMean, QueryMeasures
from bioeval.results.variables import Variable
from bioeval.stats.curve_thresholds import grid_of
from bioeval.stats.jackknife import Limits, percentile, student_of_proportion
from bioeval.stats.options import IntervalMethod
from bioeval.stats.rate_limits import Sample, limits_of_rate
from bioeval.stats.weighted_sums import (
    VALUES_AT_ONCE,
    by_subject,
    groups_of_people,
    kish,
    linear_forms,
    rates_without_each,
    ratio,
)

#: The largest value over the thresholds, at a threshold that is chosen anew in each replicate.
_LARGEST = {"mrep": "max_mrep", "mvp": "max_mvp", "f1": "max_f1"}

#: Areas under a curve over the thresholds.
_AREAS = {"mrep": "mrep_area", "mfr": "mfr_area"}


def query_mean_intervals(
    dataset: xr.Dataset,
    measures: QueryMeasures,
    subjects: np.ndarray | None,
    table: Mapping[str, Variable],
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result of re-identification or GOM with confidence intervals.

    `measures` come from the same counts as the result. `subjects` (queries,), -1 for no person, may
    be None for methods that do not use them. `table` describes the variables of the result.
    """
    options = options.for_this_gallery
    if not options.by_subject:
        return _with_independent_limits(dataset, measures, table, options)
    if subjects is None:
        raise TypeError(f"{options.method} intervals need the subjects of the queries")
    limits: dict[str, Limits] = {}
    queries = QueryReplicates(subjects, measures.counted, options)
    for name, curve in {"cmc": measures.cmc, **measures.curves}.items():
        means = dataset[name].values
        is_unknown = np.isnan(means)  # beyond the end of a list
        low, high = queries.curve_limits(curve, means, is_rate=name == "cmc")
        limits[name] = np.where(is_unknown, np.nan, low), np.where(is_unknown, np.nan, high)
    for name, mean in measures.means.items():
        replicates = queries.replicate_mean(mean)  # (1 or thresholds, 1 + replicates)
        low, high = queries.limits(replicates, mean.counted, is_rate=mean.values.dtype == bool)
        is_single = mean.values.ndim == 1
        limits[name] = (low[0], high[0]) if is_single else (low, high)
        if name in _AREAS:
            thresholds = dataset["threshold"].values
            width = thresholds[-1] - thresholds[0]
            limits[_AREAS[name]] = np.array(np.nan), np.array(np.nan)
            if 0 < width < np.inf:
                # The mean height is a proportion, as the limits of means expect; an area is not.
                mean_heights = np.trapezoid(replicates, thresholds / width, axis=0)
                low, high = queries.limits(mean_heights, mean.counted)
                limits[_AREAS[name]] = low * width, high * width
        if _LARGEST.get(name) in dataset:
            limits[_LARGEST[name]] = queries.limits(replicates.max(axis=0), mean.counted)
    remarks = [*options.few_people(queries.people), *options.groups(queries.people)]
    return options.added_to(dataset, limits, table, remarks)


def _with_independent_limits(
    dataset: xr.Dataset,
    measures: QueryMeasures,
    table: Mapping[str, Variable],
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result with limits of its proportions of queries, taken as independent.

    Such proportions are binomial; other means are not, and have no limits.
    """
    counts = measures.cmc.counts(dataset.sizes["rank"])
    queries = int(measures.cmc.counted.sum())
    limits = {"cmc": options.independent_limits(counts, queries)}
    for name, mean in measures.means.items():
        if mean.values.dtype == bool:
            queries = int(mean.counted.sum())
            limits[name] = options.independent_limits(mean.values.sum(axis=0), queries)
    remarks = [
        options.independence("queries"),
        Message(
            "no-interval",
            of="means of other values than proportions, such as mAP",
            why=f"{options.method} intervals are of proportions; choose an interval by subject "
            "with `interval`",
        ),
    ]
    return options.added_to(dataset, limits, table, remarks)


class QueryReplicates:
    """Replicates of means over queries: a column each, behind a column with the means themselves.

    A replicate leaves out a person or a group of people (jackknife), or draws the people again
    (bootstrap). Queries of no person, such as a distractor, are in every replicate.

    Parameters
    ----------
    subjects : ndarray of int64, shape (queries,)
        The person who makes each query; negative: no person.
    counted : ndarray of bool, shape (queries,)
        The queries that any mean is over: only their people are left out, or drawn.
    """

    def __init__(self, subjects: np.ndarray, counted: np.ndarray, options: IntervalMethod):
        persons = np.unique(subjects[counted])
        last_person = max(len(persons) - 1, 0)
        self.options = options
        #: int64 (queries,): index into `persons`; any index for queries that no mean counts.
        self.person = np.minimum(np.searchsorted(persons, subjects), last_person)
        self.no_person = persons < 0  # (persons,)
        self.people = int((~self.no_person).sum())
        #: int64 (queries,): the person, or the group of people, that replicates leave out or draw.
        self.unit = self.person
        self.units = len(persons)
        if not options.resamples:
            # Queries of no person, in no group, are one more unit, which is never left out.
            group, self.groups = groups_of_people(self.no_person)
            self.unit = group[self.person] if len(persons) else self.person
            self.units = self.groups + 1

    def independent_people(self, counted: np.ndarray) -> float:
        """Return the effective number of people (Kish 1965) who make the `counted` queries.

        It is below their number if some make more queries than others, and 0 for one person alone,
        from whom nothing about other people follows.
        """
        queries = np.bincount(self.person[counted], minlength=len(self.no_person))
        queries = queries[~self.no_person]
        return kish(queries) if np.count_nonzero(queries) > 1 else 0.0

    def _sample(self, counted: np.ndarray) -> Sample:
        """Return the `counted` queries, and how many independent people they are worth."""
        queries = np.bincount(self.unit[counted], minlength=self.units)
        shares = np.empty(0)
        if not self.options.resamples:
            of_group = queries[: self.groups]
            shares = of_group[of_group > 0] / max(queries.sum(), 1)
        people = self.independent_people(counted)
        return Sample(float(queries.sum()), people, 1, shares, least=people, most=people)

    def _replicate_sums(self, counted: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Return k means over the `counted` queries, (k, 1 + replicates).

        `sums` (k, units) are the sums of the values over the queries of each unit.
        """
        queries = np.bincount(self.unit[counted], minlength=self.units)
        if self.options.resamples:
            weights = self.options.weights(len(self.no_person), self.no_person)
            means = ratio(linear_forms(sums, weights), linear_forms(queries[None], weights))
        else:
            left_out = np.flatnonzero(queries[: self.groups])
            totals = sums.sum(axis=1), queries.sum()
            means = rates_without_each(sums[:, left_out], queries[left_out], *totals)
        # Fractional weights of expected ties may exceed 1 by rounding.
        return np.minimum(means, 1.0)

    def replicate_mean(self, mean: QueryMean) -> np.ndarray:
        """Return the replicates of a mean, (1, 1 + replicates), or (thresholds, 1 + replicates)."""
        columns = len(mean.query)
        values = mean.values if mean.values.ndim > 1 else mean.values[:, None]
        # (units, queries with a value): 1 where the query belongs to the unit.
        membership = scipy.sparse.csr_array(
            (np.ones(columns), (self.unit[mean.query], np.arange(columns))),
            shape=(self.units, columns),
        )
        return self._replicate_sums(mean.counted, (membership @ values).T)

    def replicate_curve(self, curve: MatchCurve, ranks: np.ndarray) -> np.ndarray:
        """Return the replicates of a curve at increasing ranks, (ranks, 1 + replicates)."""
        ranks_of_matches = curve.rank.astype(np.float64)
        layers = by_subject(
            ranks_of_matches,
            self.unit[curve.query],
            ranks.astype(np.float64),
            self.units,
            curve.weight,
        )
        # Layer i has the weights of matches at ranks up to ranks[i], beyond ranks[i - 1]; the last
        # layer has the weights beyond all `ranks`.
        sums = np.cumsum(layers[:-1], axis=0)
        if curve.per_rank:
            sums = sums / ranks[:, None]
        return self._replicate_sums(curve.counted, sums)

    def limits(
        self, replicates: np.ndarray, counted: np.ndarray, *, is_rate: bool = False
    ) -> Limits:
        """Return the limits of means, or of rates, over the `counted` queries."""
        confidence = self.options.confidence
        people = self.independent_people(counted)
        if self.options.resamples:
            return percentile(replicates, confidence, people)
        if is_rate:
            return limits_of_rate(replicates, self._sample(counted), confidence)
        return student_of_proportion(replicates, confidence, people)

    def curve_limits(self, curve: MatchCurve, means: np.ndarray, *, is_rate: bool) -> Limits:
        """Return the limits of the means of a curve at ranks 1, 2, ..."""
        if is_rate:
            replicates = self.replicate_curve(curve, grid_of(curve.rank.astype(np.float64)))
            return self.options.rate_curve(replicates, self._sample(curve.counted)).limits_at(means)
        ranks_at_once = max(1, VALUES_AT_ONCE // max(self.units, 1))  # bounds memory
        ranks = np.arange(1, len(means) + 1)
        lows, highs = [], []
        for first in range(0, len(ranks), ranks_at_once):
            replicates = self.replicate_curve(curve, ranks[first : first + ranks_at_once])
            low, high = self.limits(replicates, curve.counted)
            lows.append(low)
            highs.append(high)
        return np.concatenate(lows), np.concatenate(highs)

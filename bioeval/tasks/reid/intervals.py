"""Confidence intervals of re-identification and GOM, by the subjects of the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy
import xarray as xr

from bioeval.base.messages import Message
from bioeval.results.query_means import MatchCurve, QueryMean, QueryMeasures
from bioeval.results.variables import Variable
from bioeval.stats.curve_limits import grid_of
from bioeval.stats.limits import ROUNDING, Limits, limits_of_rate, percentile, student
from bioeval.stats.options import IntervalMethod
from bioeval.stats.people import VALUES_AT_ONCE, by_subject, linear_forms, ratio
from bioeval.stats.weights import groups_of_people, kish, without_each

#: The largest value over the thresholds, which is chosen anew in each column.
_LARGEST = {"mrep": "max_mrep", "mvp": "max_mvp", "f1": "max_f1"}

#: Areas under a curve over the thresholds.
_AREAS = {"mrep": "mrep_area", "mfr": "mfr_area"}


class QueryColumns:
    """Means over queries without each person who asks, or with these people drawn again.

    Queries of no person, such as a distractor, stay.
    """

    def __init__(self, subjects: np.ndarray, counted: np.ndarray, options: IntervalMethod):
        """Number the people of the queries that are counted."""
        persons = np.unique(subjects[counted])
        self.person = np.minimum(np.searchsorted(persons, subjects), max(len(persons) - 1, 0))
        self.no_person, self.options = persons < 0, options
        self.people = int((~self.no_person).sum())
        self.unit, self.units = self.person, len(persons)
        if not options.resamples and len(persons):
            group, self.units = groups_of_people(self.no_person)
            self.unit = group[self.person]

    def independent(self, counted: np.ndarray) -> float:
        """Return how many people with equal numbers of queries the queries of a mask are worth.

        One person alone says nothing of others: 0.
        """
        queries = np.bincount(self.person[counted], minlength=len(self.no_person))
        of_people = queries[~self.no_person]
        return kish(of_people) if np.count_nonzero(of_people) > 1 else 0.0

    def columns(self, counted: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Return means over the queries of a mask, (k, columns), from sums of units (k, units).

        The units are people, or the groups with which they are left out.
        """
        queries = np.bincount(self.unit[counted], minlength=sums.shape[1])
        if self.options.resamples:
            weights = self.options.weights(len(self.no_person), self.no_person)
            means = ratio(linear_forms(sums, weights), linear_forms(queries[None], weights))
        else:
            leave = np.flatnonzero(queries[: self.units])  # who asks
            remaining = without_each(queries[leave], queries.sum())
            means = ratio(without_each(sums[:, leave], sums.sum(axis=1)), remaining)
        # Fractional weights of expected ties may exceed 1 by rounding.
        return np.where(means > 1 - ROUNDING, np.minimum(means, 1.0), means)

    @property
    def _width(self) -> int:
        return self.units + (not self.options.resamples)

    def columns_of_mean(self, mean: QueryMean) -> np.ndarray:
        """Return a mean, or the means at k thresholds, in columns (k, columns)."""
        values_counted, values = len(mean.query), mean.values
        shape = self._width, values_counted
        owner = scipy.sparse.csr_array(
            (np.ones(values_counted), (self.unit[mean.query], np.arange(values_counted))),
            shape=shape,
        )
        sums = (owner @ (values if values.ndim > 1 else values[:, None])).T
        return self.columns(mean.counted, sums)

    def columns_of_curve(self, curve: MatchCurve, ranks: np.ndarray) -> np.ndarray:
        """Return the means at increasing ranks, (ranks, columns)."""
        place = curve.rank.astype(np.float64)
        layers = by_subject(
            place, self.unit[curve.query], ranks.astype(np.float64), self._width, curve.weight
        )
        sums = np.cumsum(layers[:-1], axis=0)
        if curve.per_rank:
            sums = sums / ranks[:, None]
        return self.columns(curve.counted, sums)

    def limits_of(self, columns: np.ndarray, counted: np.ndarray, *, rate: bool = False) -> Limits:
        """Return the limits of means, or of rates, over the queries of a mask."""
        confidence = self.options.confidence
        units = self.independent(counted)
        if self.options.resamples:
            return percentile(columns, confidence, units)
        if rate:
            return limits_of_rate(columns, float(counted.sum()), units, confidence, sides=1)
        return student(columns, confidence, units)

    def limits_of_curve(self, curve: MatchCurve, means: np.ndarray, *, rate: bool) -> Limits:
        """Return the limits of the means of a curve at ranks 1, 2, ..."""
        if rate:
            units = self.independent(curve.counted)
            queries = float(curve.counted.sum())
            columns = self.columns_of_curve(curve, grid_of(curve.rank.astype(np.float64)))
            return self.options.rate_curve(columns, queries, units, sides=1).limits_at(means)
        # Bounds memory.
        step = max(1, VALUES_AT_ONCE // max(self._width, 1))
        ranks = np.arange(1, len(means) + 1)
        parts = [
            self.limits_of(self.columns_of_curve(curve, ranks[k : k + step]), curve.counted)
            for k in range(0, len(ranks), step)
        ]
        low, high = zip(*parts, strict=True)
        return np.concatenate(low), np.concatenate(high)


def query_mean_intervals(
    dataset: xr.Dataset,
    measures: QueryMeasures,
    subjects: np.ndarray | None,
    names: Mapping[str, Variable],
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result of re-identification or GOM with confidence intervals.

    `measures` are of the same counts; the `subjects` of the queries may be None for methods that
    do not need them; `names` describe the variables of the result.
    """
    options = options.for_this_gallery
    if options.by_subject:
        if subjects is None:
            raise TypeError(f"{options.method} intervals need the subjects of the queries")
        owners = QueryColumns(subjects, measures.counted, options)
        limits, remarks = _by_subject(dataset, measures, owners)
    else:
        limits, remarks = _independent(dataset, measures, options)
    return options.added_to(dataset, limits, names, remarks)


def _by_subject(
    dataset: xr.Dataset, measures: QueryMeasures, owners: QueryColumns
) -> tuple[dict[str, Limits], Sequence[Message]]:
    limits = {}
    for name, curve in {"cmc": measures.cmc, **measures.curves}.items():
        means = dataset[name].values
        unknown = np.isnan(means)  # of lists that end before
        low, high = owners.limits_of_curve(curve, means, rate=name == "cmc")
        limits[name] = np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
    for name, mean in measures.means.items():
        columns = owners.columns_of_mean(mean)
        rate = mean.values.dtype == bool
        low, high = owners.limits_of(columns, mean.counted, rate=rate)
        if mean.values.ndim > 1:
            limits[name] = low, high
        else:
            limits[name] = low[0], high[0]
        if name in _AREAS:
            limits[_AREAS[name]] = _area_limits(
                owners, columns, mean.counted, dataset["threshold"].values
            )
        if _LARGEST.get(name) in dataset:
            limits[_LARGEST[name]] = owners.limits_of(columns.max(axis=0), mean.counted)
    remarks = [*owners.options.few_people(owners.people), *owners.options.groups(owners.people)]
    return limits, remarks


def _area_limits(
    owners: QueryColumns, columns: np.ndarray, counted: np.ndarray, tau: np.ndarray
) -> Limits:
    width = tau[-1] - tau[0]
    if not 0 < width < np.inf:
        return np.array(np.nan), np.array(np.nan)
    low, high = owners.limits_of(np.trapezoid(columns, tau / width, axis=0), counted)
    return low * width, high * width


def _independent(
    dataset: xr.Dataset, measures: QueryMeasures, options: IntervalMethod
) -> tuple[dict[str, Limits], Sequence[Message]]:
    """Return intervals of the proportions of queries; other means are not binomial."""
    counts = measures.cmc.counts(dataset.sizes["rank"])
    limits = {"cmc": options.independent_limits(counts, int(measures.cmc.counted.sum()))}
    for name, mean in measures.means.items():
        if mean.values.dtype == bool:
            number = int(mean.counted.sum())
            limits[name] = options.independent_limits(mean.values.sum(axis=0), number)
    return limits, [
        options.independence("queries"),
        Message(
            "no-interval",
            of="means of other values than proportions, such as mAP",
            why=f"{options.method} intervals are of proportions; choose an interval by subject "
            "with `interval`",
        ),
    ]

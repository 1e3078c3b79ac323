"""Confidence intervals of re-identification and GOM, by the subjects of the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy
import xarray as xr

from bioeval.base.messages import Message
from bioeval.results.query_means import QueryMean, QueryMeasures
from bioeval.results.variables import Variable
from bioeval.stats.bootstrap import SubjectMeans
from bioeval.stats.options import IntervalMethod

#: Lower and upper confidence limits.
Limits = tuple[np.ndarray, np.ndarray]

#: The largest value over the thresholds, which is chosen anew in each replicate.
_LARGEST = {"mrep": "max_mrep", "mvp": "max_mvp", "f1": "max_f1"}

#: Areas under a curve over the thresholds.
_AREAS = {"mrep": "mrep_area", "mfr": "mfr_area"}


class QuerySubjects:
    """The queries by subject, with the subjects' weights; those of no person are not resampled."""

    def __init__(self, subjects: np.ndarray, counted: np.ndarray, options: IntervalMethod):
        who = np.unique(subjects[counted])
        self.person = np.minimum(np.searchsorted(who, subjects), max(len(who) - 1, 0))
        self.no_person = who < 0
        self.units, self.options = len(who), options
        self.people = int((~self.no_person).sum())
        self.weights = options.weights(len(self.no_person), self.no_person)

    def means_over(self, counted: np.ndarray) -> SubjectMeans:
        """Return the means over the queries of a mask."""
        queries = np.bincount(self.person[counted], minlength=self.units)
        return SubjectMeans(queries, self.weights, self.options, self.no_person)

    def sums(self, mean: QueryMean) -> np.ndarray:
        """Return the sum of the values of each subject, shape (k, people)."""
        n, values = len(mean.query), mean.values
        owner = scipy.sparse.csr_array(
            (np.ones(n), (self.person[mean.query], np.arange(n))), shape=(self.units, n)
        )
        return (owner @ (values if values.ndim > 1 else values[:, None])).T


def query_mean_intervals(
    dataset: xr.Dataset,
    measures: QueryMeasures,
    subjects: np.ndarray | None,
    names: Mapping[str, Variable],
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result of re-identification or GOM with confidence intervals.

    `measures` are of the same tally; `subjects`, the subject of each query, may be None for methods
    that do not need it; `names` describe the variables of the result.
    """
    options = options.for_this_gallery
    if options.by_subject:
        if subjects is None:
            raise TypeError(f"{options.method} intervals need the subjects of the queries")
        owners = QuerySubjects(subjects, measures.counted, options)
        limits, remarks = _by_subject(dataset, measures, owners)
    else:
        limits, remarks = _independent(dataset, measures, options)
    return options.added_to(dataset, limits, names, remarks)


def _by_subject(
    dataset: xr.Dataset, measures: QueryMeasures, owners: QuerySubjects
) -> tuple[dict[str, Limits], Sequence[Message]]:
    """Return limits by resampling the subjects of queries, and warnings."""
    limits = {}
    for name, curve in {"cmc": measures.cmc, **measures.curves}.items():
        unknown = np.isnan(dataset[name].values)  # of lists that end before
        low, high = owners.means_over(curve.counted).limits_at_ranks(
            owners.person[curve.query],
            curve.rank,
            curve.weight,
            dataset.sizes["rank"],
            per_rank=curve.per_rank,
            proportion=name == "cmc",
        )
        limits[name] = np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
    for name, mean in measures.means.items():
        means, sums = owners.means_over(mean.counted), owners.sums(mean)
        low, high = means.limits(sums, cumulative=False)
        if mean.values.ndim > 1:
            limits[name] = low, high
        else:
            limits[name] = low[0], high[0]
        if name in _AREAS:
            limits[_AREAS[name]] = _area_limits(means, sums, dataset["threshold"].values)
        if _LARGEST.get(name) in dataset:
            largest = means.values(sums).max(axis=0)
            limits[_LARGEST[name]] = means.drawn_limits(largest)
    return limits, owners.options.few_people(owners.people)


def _area_limits(means: SubjectMeans, sums: np.ndarray, tau: np.ndarray) -> Limits:
    """Return the limits of the area under means over thresholds."""
    width = tau[-1] - tau[0]
    if not 0 < width < np.inf:
        return np.array(np.nan), np.array(np.nan)
    low, high = means.limits(np.trapezoid(sums, tau / width, axis=0)[None], cumulative=False)
    return low[0] * width, high[0] * width


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
            "with {arg.interval}",
        ),
    ]

"""Open-world re-identification by GOM: retrieval and verification within a threshold.

A query retrieves the gallery entries within the threshold tau. If three of its list "match,
non-match, match, match" are within tau, then TP = 2, FP = 1 and FN = 1::

    RP = (1/1 + 2/3) / 2            average precision of the retrieved entries
    VP = TP / (TP + FP + FN) = 1/2
    ReP = sqrt(RP VP)

A query whose identity is not in the gallery has the false rate FR = min(FP / B, 1) with a budget
B. The means over the queries are curves over tau: mRP, mVP, mReP, mFR.

In this file: the ranked lists of a few queries, to be drawn; the numbers that follow from the
curves (:func:`gom_from_curves`); the counts (:class:`GomCounts`); and the call :func:`gom`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import DataError, Message, ProtocolError, counted
from bioeval.base.progress import rows_reported
from bioeval.counting.mate_ranks import MatchLists
from bioeval.counting.order import float_of, ordinals_of
from bioeval.counting.reduce import Extent, parts_of, reduce
from bioeval.counting.searches import check_max_rank
from bioeval.counting.thresholds import check_thresholds, require_values, to_user
from bioeval.protocol.loading import load
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import Gom, GomVariant, PlainTies, Ties
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import dataset, rate
from bioeval.results.query_means import MatchCurve, QueryMean, QueryMeasures
from bioeval.results.support import rank_message
from bioeval.results.variables import GOM, GOM_MEANS, Variable, entries
from bioeval.scores.attempts import left_out_rows
from bioeval.scores.matrix import Scores, require_all_scores, require_scores, require_subjects
from bioeval.scores.rows import attempted
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.tasks.reid.candidates import (
    Candidates,
    Named,
    convention_of,
    kept_scores,
    with_options,
)
from bioeval.tasks.reid.measures import (
    CMC_WORDS,
    ReidCounts,
    RetrievedSets,
    average_precision,
    match_sum,
    no_match,
    places_of_first_match,
    precision_message,
    ranks_of,
    without_match,
)

# The most queries that are drawn, and the most ranks of each.
_QUERIES = 30
_RANKS = 40

RANKED = {
    "match": Variable(
        "whether the entry at the rank is a match (1) or not (0); -1 beyond the list", "1"
    ),
    "entry_score": Variable("score of the entry at the rank; NaN beyond the list", "score"),
    "average_precision": Variable(
        "average precision of the whole list; NaN without a match", "proportion"
    ),
    **entries(GOM, "rp", "vp", "rep", "fr"),
}


def lists_of_queries(
    scores: Scores, thresholds: Sequence[float], convention: Any, budget: int | None
) -> xr.Dataset:
    """Return the list of each query, nearest first, and its measures at the thresholds."""
    require_scores(scores)
    require_subjects(scores, "a ranked list")
    queries, templates = scores.shape
    if queries > _QUERIES:
        raise DataError(
            f"ranked lists of {counted(queries, 'queries')}; expected at most {_QUERIES}: "
            "scores.select(probes=[0, 1, 2])"
        )
    options = {"convention": convention, "scaled": False, "per_query": True, "budget": budget}
    at_thresholds = gom(scores, thresholds=thresholds, **options)
    whole_lists = gom(scores, thresholds=[np.inf], **options)

    # The nearest entries of each query among those that the convention keeps; arrays are (queries,
    # ranks) from here on. Removed entries are sorted last, and fill lists that are too short.
    rules = convention_of(convention, ("reid", "gom"))
    compared = kept_scores(with_exclusions(scores, convention), rules)
    values = attempted(compared, 0, queries)
    left_out = left_out_rows(compared, 0, queries)
    assert left_out is not None  # the convention is a mask
    is_kept = ~left_out
    order = np.argsort(np.where(is_kept, values, np.inf), axis=1, kind="stable")[:, :_RANKS]
    is_listed = np.take_along_axis(is_kept, order, axis=1)
    is_match = scores.codes.probe[:, None] == scores.codes.gallery[order]
    score = to_user(np.take_along_axis(values, order, axis=1), scores.kind)

    entry_dims = ("probe", "rank")
    variables = {
        "match": (entry_dims, np.where(is_listed, is_match.astype(np.int64), -1)),
        "entry_score": (entry_dims, np.where(is_listed, score, np.nan)),
        "average_precision": (("probe",), whole_lists["rp"].values[:, 0]),
    }
    for name in ("rp", "vp", "rep", "fr"):
        variables[name] = ("probe", "threshold"), at_thresholds[name].values
    coordinates = {
        "probe": np.arange(queries),
        "rank": np.arange(1, min(templates, _RANKS) + 1),
        "threshold": at_thresholds["threshold"].values,
    }
    attrs = {"result_type": "ranked-lists", "task": "ranked lists"}
    for name in ("system", "kind", "convention", "budget", "messages"):
        attrs[name] = at_thresholds.attrs[name]
    return dataset(variables, RANKED, coordinates, attrs)


# The measures of GOM that follow from its curves over the threshold.


# Curves may be published with two decimals: mReP may exceed its bound by the rounding of both.
_ROUNDING = 0.006


def gom_from_curves(
    threshold: Any,
    *,
    mrep: Any,
    mfr: Any,
    mrp: Any = None,
    mvp: Any = None,
    cmc: Any = None,
    name: str = "",
) -> xr.Dataset:
    """Return the measures of GOM that follow from published or saved curves.

    Parameters
    ----------
    threshold : increasing array of float, shape (t,)
        Thresholds of distances on the scale 0 ... 1.
    mrep : array of float, shape (t,)
        Mean re-identification precision: the mean over the queries of ``sqrt(RP VP)``. It does not
        follow from `mrp` and `mvp`: the root of the product of two means is larger than the mean
        of the roots, unless all queries have the same.
    mfr : array of float, shape (t,)
        Mean false rate of the queries whose identity is not in the gallery; NaN throughout if
        there are none.
    mrp, mvp : array of float, shape (t,), optional
        Mean ranking precision and mean verification precision.
    cmc : array of float, optional
        The CMC at ranks 1, 2 ...
    name : str
        Name of the system.

    Returns
    -------
    xarray.Dataset
        The curves over ``threshold`` and ``rank`` as they are given, with the names that
        :func:`gom` gives them, and the scalars ``mrep_area mfr_area tau_max tau_nz max_mrep``;
        with `mvp` ``max_mvp``; with `mrp` at a threshold of 1, where everything is retrieved,
        ``mean_ap``. Rates and areas are proportions.

    Raises
    ------
    DataError
        If a curve is not one of proportions at each threshold, a CMC falls, or `mrep` is larger
        than the root of `mrp` times `mvp`, which no queries give.

    Notes
    -----
    Definitions: Re-identification = Retrieval + Verification: Back to Essence and Forward with a
    New Metric (arXiv:2011.11506, 2020), whose Table 3 follows from the curves that its authors
    published; ``docs/reid.md``, "GOM".

    Examples
    --------
    >>> import bioeval as be
    >>> result = be.gom_from_curves([0, 0.5, 1], mrep=[0, 0.6, 0.4], mfr=[0, 0.2, 1])
    >>> float(result.max_mrep), float(result.tau_max), float(result.mfr_area)
    (0.6, 0.5, 0.35)
    """
    tau = check_thresholds(threshold, "threshold")
    means = _checked_means({"mrep": mrep, "mfr": mfr, "mrp": mrp, "mvp": mvp}, len(tau))
    scalars = summary_over_thresholds(tau, means)
    if "mrp" in means and (tau == 1.0).any():  # the whole list is retrieved
        scalars["mean_ap"] = means["mrp"][int(np.argmax(tau == 1.0))]
    variables: dict[str, Any] = {name: (("threshold",), x) for name, x in means.items()}
    variables |= scalars
    coordinates = {"threshold": tau}
    if cmc is not None:
        values = _checked_curve("cmc", cmc)
        if not (np.diff(values) >= 0).all():
            raise DataError("cmc falls, or holds NaN; expected the CMC at ranks 1, 2 ...")
        variables["cmc"] = (("rank",), values)
        coordinates["rank"] = np.arange(1, len(values) + 1)
    attrs = {"result_type": "gom", "task": "GOM", "system": name, "origin": "curves"}
    return dataset(variables, GOM, coordinates, attrs)


def _checked_means(curves: Mapping[str, Any], length: int) -> dict[str, np.ndarray]:
    """Return the curves that are given, with proportions at each threshold."""
    means = {}
    for name, curve in curves.items():
        if curve is not None or name in ("mrep", "mfr"):
            means[name] = _checked_curve(name, curve, length)
    for name, values in means.items():
        is_nan = np.isnan(values)
        if is_nan.any() and (name != "mfr" or not is_nan.all()):
            index = int(np.argmax(is_nan))
            raise DataError(f"{name}[{index}] is NaN; expected a proportion at each threshold")
    if "mrp" in means and "mvp" in means:
        excess = means["mrep"] - np.sqrt(means["mrp"] * means["mvp"])
        if (excess > _ROUNDING).any():
            i = int(np.argmax(excess))
            raise DataError(
                f"mrep[{i}] = {means['mrep'][i]:g} is larger than the root of mrp[{i}] = "
                f"{means['mrp'][i]:g} times mvp[{i}] = {means['mvp'][i]:g}; a mean of roots never "
                "is: check that the curves are of the same queries"
            )
    return means


def _checked_curve(name: str, values: Any, length: int | None = None) -> np.ndarray:
    expected = "a list of proportions" if length is None else f"{length} numbers, one per threshold"
    try:
        curve = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is not an array: {error}; expected {expected}") from None
    is_list = curve.dtype.kind in "iuf" and curve.ndim == 1
    has_length = curve.size > 0 if length is None else curve.size == length
    if not is_list or not has_length:
        raise DataError(
            f"{name} has shape {curve.shape} and dtype {curve.dtype}; expected {expected}"
        )
    is_outside = (curve < 0) | (curve > 1)
    if is_outside.any():
        i = int(np.argmax(is_outside))
        raise DataError(
            f"{name}[{i}] = {curve[i]:g}; expected proportions from 0 to 1 (divide per cent by 100)"
        )
    return curve.astype(np.float64)


def summary_over_thresholds(tau: np.ndarray, means: dict[str, np.ndarray]) -> dict[str, np.float64]:
    """Return areas, maxima and their thresholds of ``mvp mrep mfr f1`` over `tau`, or NaN.

    Areas are by the trapezoidal rule. ``tau_max`` is the first threshold with the largest mReP, and
    ``tau_nz`` the first with mFR above 0.
    """
    mrep, mfr = means["mrep"], means["mfr"]
    unknown = np.float64(np.nan)
    mrep_area = mfr_area = tau_nz = unknown
    if np.isfinite(tau).all():
        mrep_area = np.float64(np.trapezoid(mrep, tau))
        mfr_area = np.float64(np.trapezoid(mfr, tau))
    if not np.isnan(mfr).any() and (mfr > 0).any():
        tau_nz = tau[int(np.argmax(mfr > 0))]

    # Without queries with a match, mReP and the other two are NaN at every threshold.
    has_match = not np.isnan(mrep).any()

    def largest(name: str) -> np.float64:
        return means[name].max() if has_match else unknown

    def threshold_of_largest(name: str) -> np.float64:
        return tau[int(np.argmax(means[name]))] if has_match else unknown

    scalars = {
        "mrep_area": mrep_area,
        "mfr_area": mfr_area,
        "max_mrep": largest("mrep"),
        "tau_max": threshold_of_largest("mrep"),
        "tau_nz": tau_nz,
    }
    if "mvp" in means:
        scalars["max_mvp"] = largest("mvp")
    if "f1" in means:
        scalars["max_f1"] = largest("f1")
        scalars["tau_f1"] = threshold_of_largest("f1")
    return scalars


# Counts of GOM, and its measures over thresholds.


@dataclass(eq=False, kw_only=True)
class GomCounts(ReidCounts):
    """Gallery entries that each query retrieves within each threshold.

    Distances and thresholds are normalised. Under the variant ``"reference"``, removed entries are
    counted at distance 1.
    """

    thresholds: np.ndarray
    retrieved: np.ndarray
    task: Gom
    #: ``(distance - low) / (high - low)`` is the normalised distance.
    low: float
    high: float

    table: ClassVar[Mapping[str, Variable]] = GOM

    @classmethod
    def from_candidates_within(
        cls,
        candidates: Candidates,
        task: Gom,
        taus: np.ndarray,
        scaled: bool,
        *,
        per_query: bool = False,
    ) -> GomCounts:
        """Count the entries within each threshold.

        With `scaled`, all finite distances are scaled to 0 ... 1, the scale of the thresholds.
        """
        low, high = 0.0, 1.0
        if scaled:
            low, high = _extent(candidates.scores)
        # The scores are not scaled, which would take memory for all of them: the thresholds are
        # brought to their scale for counting, and the distances of matches to that of `taus` after.
        distances = _unscaled(taus, low, high - low)
        unscaled_counts = ReidCounts.from_candidates(candidates, distances, per_query=per_query)
        matches = unscaled_counts.matches
        scaled_distance = (matches.distance - low) / (high - low)
        matches = replace(matches, distance=scaled_distance, all_matches=matches.positives)
        fields = {"matches": matches, "thresholds": taus, "task": task, "low": low, "high": high}
        counts = cls(**vars(unscaled_counts) | fields)
        if task.variant == "reference":
            removed = candidates.removed_entries(candidates.rules.removed)
            removed[candidates.left_out] = 0
            first_at_one = np.searchsorted(taus, 1.0)
            counts.retrieved[:, first_at_one:] += removed[:, None]
        return counts

    @property
    def _thresholds_are_similarities(self) -> bool:
        """Whether the user's thresholds are similarities: normalised scores are distances."""
        is_normalised = (self.low, self.high) != (0.0, 1.0)
        return self.candidates.scores.kind == "similarity" and not is_normalised

    def dataset(self) -> xr.Dataset:
        """Return the measures of GOM; see :func:`bioeval.gom`."""
        candidates = self.candidates
        left_out = candidates.left_out
        matched = self.matches.counts > 0
        measures = self._over_distances()
        # The means, over thresholds or not, and the curves over ranks.
        with_match = int(measures.cmc.counted.sum())
        means = {name: mean.mean for name, mean in measures.means.items()}
        scalar_means = {name: means.pop(name) for name in GOM_MEANS}
        means["micro_f1"] = self._retrieved_sets.micro_f1()
        # How many queries have their first match within each threshold and rank.
        ranks, thresholds = self.task.max_rank, len(self.thresholds)
        distance = self.matches.distance[self.matches.starts[measures.cmc.query]]  # of the first
        first_threshold = np.searchsorted(self.thresholds, distance)
        is_counted = (first_threshold < thresholds) & (measures.cmc.rank <= ranks)
        cell = first_threshold[is_counted] * ranks + measures.cmc.rank[is_counted] - 1
        added = np.bincount(cell, minlength=thresholds * ranks).reshape(thresholds, ranks)
        within = added.cumsum(axis=0).cumsum(axis=1)
        variables: dict[str, Any] = {
            **{name: (("threshold",), values) for name, values in means.items()},
            "dir": (("threshold", "rank"), rate(within, with_match)),
            **summary_over_thresholds(self.thresholds, means),
            **scalar_means,
            "cmc": (("rank",), rate(measures.cmc.counts(ranks), with_match)),
            "queries": measures.means["mrep"].counted.sum(),
            "open_queries": candidates.absent.sum(),
            "skipped": (~matched & ~candidates.absent & ~left_out).sum(),
            "left_out": left_out.sum(),
            "removed": candidates.removed_entries(candidates.rules.removed).sum(),
        }
        coordinates = {
            "threshold": self.thresholds,
            "rank": np.arange(1, self.task.max_rank + 1),
        }
        if self.per_query:
            for name in ("rp", "vp", "rep", "fr"):
                variables[name] = (("probe", "threshold"), measures.means[f"m{name}"].by_query)
            coordinates["probe"] = np.arange(len(matched))
        rules = candidates.rules
        attrs = about_attrs(candidates.about(), "gom", "GOM", self._gom_messages()) | {
            "variant": self.task.variant,
            "budget": int(self.task.budget),
            "ties": self.task.ties,
            "normalised_low": float(self.low),
            "normalised_high": float(self.high),
            "normalised_span": float(self.high - self.low),
            "convention": rules.name,
            "removes": rules.removed,
            "junk": rules.junk_in_words,
        }
        result = dataset(variables, GOM, coordinates, attrs)
        if self._thresholds_are_similarities:
            result = result.isel(threshold=slice(None, None, -1))
            for name in ("threshold", "tau_max", "tau_nz", "tau_f1"):
                similarities = to_user(result[name].values, candidates.scores.kind)
                result[name] = result[name].copy(data=similarities)
        return result

    def _gom_messages(self) -> list[Message]:
        candidates, matches = self.candidates, self.matches
        messages = [*precision_message(matches, self.in_means(matches))]
        if matches.tied.any():
            max_rank = self.task.max_rank
            messages += rank_message("cmc", lambda ties: self._cmc(ties).means(max_rank), CMC_WORDS)
        thresholds = self.thresholds
        if self._thresholds_are_similarities:
            thresholds = to_user(thresholds, candidates.scores.kind)
        messages += self.thresholds_beyond_scores(thresholds)
        # Queries without a match, and a set of queries that is empty.
        searching = ~candidates.left_out
        matched = (matches.counts > 0)[searching]
        absent = candidates.absent[searching]
        lost = int((~matched & ~absent).sum())
        if lost and self.task.variant == "paper":
            messages.append(without_match(0, lost, "in neither set of queries"))
        if not matched.any():
            consequence = "mRP, mVP and mReP are not defined"
            rule = candidates.rules.removed
            messages.append(no_match(len(matched), int(absent.sum()), rule, consequence))
        if not absent.any():
            messages.append(Message("all-queries-in-gallery"))
        return messages

    def in_means(self, matches: MatchLists) -> np.ndarray:
        """Return which queries the means are over, bool (queries,).

        They are the queries with a match, or in the reference all that are not left out.
        """
        keeps_unmatched = self.task.variant == "reference"
        return (matches.counts > 0) | (keeps_unmatched & ~self.candidates.left_out)

    def measures(self, *, curves: bool = True) -> QueryMeasures:
        """Return the means over queries, at thresholds in the order of the user's."""
        measures = self._over_distances()
        if not self._thresholds_are_similarities:
            return measures
        means = dict(measures.means)
        for name, mean in measures.means.items():
            if mean.values.ndim > 1:
                means[name] = replace(mean, values=mean.values[:, ::-1])
        return replace(measures, means=means)

    def _cmc(self, ties: Ties) -> MatchCurve:
        return MatchCurve(self.matches.counts > 0, *places_of_first_match(self.matches, ties))

    def _over_distances(self) -> QueryMeasures:
        """Return the means over queries, at increasing thresholds as distances."""
        matches = self.matches
        ties = self.task.ties
        absent = self.candidates.absent
        matched, in_means = matches.counts > 0, self.in_means(matches)
        is_capped = self.task.variant == "reference"
        rp, vp = _per_threshold(self._retrieved_sets, ties, capped=is_capped)
        retrieves_any = self.retrieved > 0  # (queries, t), as rp and vp
        nearest = np.full(len(matched), np.inf)
        nearest[matched] = matches.distance[matches.starts[:-1][matched]]
        is_match_within = matched[:, None] & (nearest[:, None] <= self.thresholds)
        means = {
            "mrp": _mean(in_means, matched, rp),
            "mvp": _mean(in_means, matched, vp),
            "mrep": _mean(in_means, matched, np.sqrt(rp * vp)),
            **self._retrieved_sets.measures(in_means),
            "mfr": _mean(absent, absent, np.minimum(self.retrieved / self.task.budget, 1.0)),
            "far": _mean(absent, absent, retrieves_any),
            "ttr": _mean(matched, matched, retrieves_any),
            "ttr_identity": _mean(matched, matched, is_match_within),
            "ftr": _mean(absent, absent, retrieves_any),
            "mean_ap": _mean(in_means, matched, average_precision(matches, ties)),
            "mean_inp": _mean(in_means, matched, match_sum(matches, ties, "mean_inp")),
        }
        return QueryMeasures(self._cmc(ties), means)


def _mean(in_means: np.ndarray, has_value: np.ndarray, values: np.ndarray) -> QueryMean:
    """Return a mean of `values` (queries, ...) over the queries that have a value."""
    return QueryMean(in_means, np.flatnonzero(has_value), values[has_value])


def _per_threshold(
    retrieved_sets: RetrievedSets, ties: Ties, *, capped: bool
) -> tuple[np.ndarray, ...]:
    """Return RP and VP of each query, (queries, thresholds): Wang et al. 2020, arXiv:2011.11506.

    RP is the average precision of the retrieved list over its matches, 0 if it has none; ``VP = TP
    / (TP + FP + FN)``. If `capped`, entries behind the last match are no false positives, as in the
    paper's program.
    """
    matches = retrieved_sets.matches
    hits = retrieved_sets.hits
    ranks = ranks_of(matches, ties)
    retrieved = retrieved_sets.retrieved.astype(np.float64)
    if capped:
        # Rank of the last match of each query; 0 without a match.
        last_rank = np.zeros(len(retrieved))
        is_matched = matches.counts > 0
        last_rank[is_matched] = ranks[matches.starts[1:][is_matched] - 1]
        retrieved = np.minimum(retrieved, last_rank[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        rp = np.where(hits > 0, retrieved_sets.sums(matches.order / ranks) / hits, 0.0)
        vp = hits / (retrieved - hits + retrieved_sets.positives)
    return rp, vp


def _extent(scores: Scores) -> tuple[float, float]:
    """Return the smallest and the largest finite distance."""
    parts = parts_of(scores.replace(nan="exclude"), nearest=True, grouped=False)
    with rows_reported(to=None):
        ((low, high, *_),) = reduce(parts, Extent())
    if not low < high:
        raise DataError(
            "distances cannot be normalised: there are not two different finite ones; give "
            "scaled=False"
        )
    if not np.isfinite(high - low):
        raise DataError(
            f"distances cannot be normalised: they reach from {low:g} to {high:g}; scale them"
        )
    return low, high


def _unscaled(thresholds: np.ndarray, low: float, span: float) -> np.ndarray:
    """Return for each threshold the largest float64 ``x`` with ``(x - low) / span <= threshold``.

    The inverse ``low + threshold * span`` may be a rounding error off, which would move a score
    across its threshold. So the float64 numbers are bisected in their order: around 0, they are too
    many to try one by one from the inverse on.
    """
    if (low, span) == (0.0, 1.0):
        return thresholds
    # Positions in the order of floats: x is the last within a threshold, and before `beyond`.
    within = np.full(thresholds.shape, ordinals_of(np.array(-np.inf)))
    beyond = np.full(thresholds.shape, ordinals_of(np.array(np.inf)))
    with np.errstate(over="ignore"):
        while (beyond - 1 > within).any():
            # The mean of both, rounded down; their sum may overflow.
            middle = (within >> 1) + (beyond >> 1) + (within & beyond & 1)
            is_within = (float_of(middle) - low) / span <= thresholds
            within = np.where(is_within, middle, within)
            beyond = np.where(is_within, beyond, middle)
    return np.where(np.isfinite(thresholds), float_of(within), thresholds)


# Number of thresholds of GOM, unless others are given: 0, 1/100 ... 1.
DEFAULT_THRESHOLDS = 101


@warns_of_doubts
def gom(
    scores: Scores,
    *,
    thresholds: Any = None,
    budget: int | None = None,
    scaled: bool | None = None,
    variant: GomVariant | None = None,
    convention: Named = "market1501",
    ties: PlainTies | None = None,
    max_rank: int | None = None,
    interval: IntervalName | IntervalMethod | None = None,
    per_query: bool = False,
) -> xr.Dataset:
    """Evaluate open-world re-identification by GOM: retrieval and verification at a threshold.

    For a query with a match, everything within the threshold tau is retrieved: RP is the average
    precision of that list over the matches in it, VP is ``TP / (TP + FN + FP)``, and ReP is
    ``sqrt(RP VP)``. For a query whose identity is not in the gallery, FR is ``min(FP / B, 1)``.

    Parameters
    ----------
    scores : Scores
        Queries of people in the gallery, and of others, as rows of one matrix.
    thresholds : float or increasing array of float, optional
        Thresholds; the card's, or 0, 0.01 ... 1, by default. On that scale, or in the unit of the
        scores where distances are not scaled. Areas are over these.
    budget : int, optional
        Budget B of mFR: the number of false retrievals at which FR reaches 1. None: the card's, or
        3000.
    scaled : bool, optional
        Whether distances are first scaled to 0 ... 1 over all finite ones of the matrix. None: as
        the card says, or True.
    variant : {"paper", "reference"}, optional
        Definitions of the paper's text, or of the program of its figures. ``"reference"``:
        retrieved entries are counted up to the last match only, the means are over all queries, and
        removed entries stay at distance 1. None: the card's, or the paper's.
    convention : str, path or Protocol
        Card with [gom] or [reid], which defines the gallery of each query. Such as
        ``gom-market1501``; of ``[reid]`` only removal, junk and ties are used.
    ties : {"stable", "pessimistic", "optimistic"}
        Treatment of ties in place of the card's.
    max_rank : int, optional
        Number of ranks of CMC and DIR. None: the card's, or 10.
    interval
        As for :func:`reid`.
    per_query : bool
        Also return ``rp``, ``vp``, ``rep`` and ``fr`` over ``probe, threshold``.

    Returns
    -------
    xarray.Dataset
        - ``mrp``, ``mvp``, ``mrep``, ``mfr``, ``precision``, ``recall``, ``f1``, ``micro_f1``,
          ``far``, ``ttr``, ``ttr_identity`` and ``ftr`` over ``threshold``
        - ``dir`` over ``threshold, rank``, and ``cmc`` over ``rank``
        - ``mrep_area``, ``mfr_area``, ``max_mrep``, ``max_mvp``, ``max_f1``, ``mean_ap``,
          ``mean_inp``
        - ``tau_max``, ``tau_nz``, ``tau_f1``: thresholds
        - ``queries`` and ``open_queries``
        - ``skipped``: queries whose matches are all removed
        - ``left_out``: queries that are junk or distractors
        - ``removed``: gallery entries removed

        With an interval, all but ``dir``, ``micro_f1`` and the thresholds have ``_low`` and
        ``_high``.

    Notes
    -----
    Definitions: Re-identification = Retrieval + Verification: Back to Essence and Forward with a
    New Metric (arXiv:2011.11506); ``docs/reid.md``, "GOM".

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0.1, 0.2, 0.4, 0.7, 0.8], [0.4, 0.7, 0.75, 0.8, 0.9]]
    >>> scores = be.Scores(d, [1, 9], [1, 1, 1, 2, 3], probe_meta={"camera": [1, 1]},
    ...                    gallery_meta={"camera": [2, 2, 2, 2, 2]})
    >>> result = be.gom(scores, thresholds=[0.3, 0.6], budget=5, scaled=False)
    >>> result.mvp.values.round(2), result.mfr.values
    (array([0.67, 1.  ]), array([0. , 0.2]))
    """
    require_scores(scores)
    interval_method = interval_of(interval, takes_unit=True)
    per_query = require_flag("per_query", per_query)
    require_all_scores(scores)
    options = {"budget": budget, "variant": variant, "ties": ties, "max_rank": max_rank}
    counting = plan_gom(scores, convention, thresholds, scaled, **options)
    with rows_reported():
        counts = counting(per_query=per_query)
    result = counts.dataset()
    return result if interval_method is None else counts.with_intervals(result, interval_method)


def plan_gom(
    scores: Scores,
    convention: Named,
    thresholds: Any = None,
    scaled: bool | None = None,
    **options: Any,
) -> Callable[..., GomCounts]:
    """Check a card's task of GOM, and return the function that counts it.

    `options` are fields of the card's section; None leaves the card's value.
    """
    require_values(scores, "GOM")
    rules = convention_of(convention, ("gom", "reid"))
    task = load(convention).section("gom")
    if options.get("ties") is None:
        options["ties"] = rules.ties
    if isinstance(options["ties"], str) and options["ties"] == rules.ties == "expected":
        raise ProtocolError(
            f"the convention {rules.name} has expected ties, under which GOM is not defined; give "
            '`ties="stable"`, "pessimistic" or "optimistic"'
        )
    place = f"protocol {rules.name}: [gom] max_rank"
    if options.get("max_rank") is not None:
        place = "max_rank"
    task = with_options(task, **options)
    rules = with_options(rules, ties=task.ties)
    scores = with_exclusions(scores, rules)
    require_subjects(scores, "GOM")
    if thresholds is None:
        thresholds = task.thresholds
    if thresholds is None:
        thresholds = np.arange(DEFAULT_THRESHOLDS) / (DEFAULT_THRESHOLDS - 1.0)
    grid = check_thresholds(thresholds)
    if scaled is None:
        scaled = task.distances == "scaled"
    if not require_flag("scaled", scaled) and scores.kind == "similarity":
        grid = to_user(grid, scores.kind)[::-1]  # similarities as distances
    check_max_rank(task.max_rank, scores.shape[1], place)
    rules = replace(rules, removed_for_ap="as-above", cmc="first-match", max_rank=1)
    return partial(GomCounts.from_candidates_within, Candidates(scores, rules), task, grid, scaled)

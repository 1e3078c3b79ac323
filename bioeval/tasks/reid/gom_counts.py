"""Counts of GOM, and its measures over thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message
from bioeval.base.progress import rows_reported_to
from bioeval.counting.mate_ranks import MatchLists
from bioeval.counting.parts import parts_of
from bioeval.counting.reduce import Extent, reduce
from bioeval.counting.thresholds import to_user
from bioeval.protocol.choices import Ties
from bioeval.protocol.tasks import Gom
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import dataset, rate
from bioeval.results.query_means import MatchCurve, QueryMean, QueryMeasures
from bioeval.results.support import rank_message
from bioeval.results.variables import GOM, GOM_MEANS, Variable
from bioeval.scores.matrix import Scores
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.counts import (
    CMC_WORDS,
    ReidCounts,
    no_match,
    precision_message,
    without_match,
)
from bioeval.tasks.reid.gom_curves import summary_over_thresholds
from bioeval.tasks.reid.matches import (
    RetrievedSets,
    average_precision,
    match_sum,
    places_of_first_match,
    ranks_of,
)


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
        low, high = _ends(candidates.scores) if scaled else (0.0, 1.0)
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
            counts.retrieved[:, np.searchsorted(taus, 1.0) :] += removed[:, None]
        return counts

    @property
    def _thresholds_are_similarities(self) -> bool:
        kind = self.candidates.scores.kind
        return kind in LARGER_IS_CLOSER and (self.low, self.high) == (0.0, 1.0)

    def dataset(self) -> xr.Dataset:
        """Return the measures of GOM; see :func:`bioeval.gom`."""
        candidates = self.candidates
        left_out = candidates.left_out
        matched = self.matches.counts > 0
        measures = self._over_distances()
        variables = self._means_and_curves(measures) | {
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
        attrs = about_attrs(candidates.about(), "gom", "GOM", self._gom_messages())
        result = dataset(variables, GOM, coordinates, attrs | self._options())
        return self._over_similarities(result) if self._thresholds_are_similarities else result

    def _means_and_curves(self, measures: QueryMeasures) -> dict[str, Any]:
        with_match = int(measures.cmc.counted.sum())
        means = {name: mean.mean for name, mean in measures.means.items()}
        scalar_means = {name: means.pop(name) for name in GOM_MEANS}
        means["micro_f1"] = self._retrieved_sets.micro_f1()
        return {
            **{name: (("threshold",), values) for name, values in means.items()},
            "dir": (("threshold", "rank"), rate(self._identified(measures.cmc), with_match)),
            **summary_over_thresholds(self.thresholds, means),
            **scalar_means,
            "cmc": (("rank",), rate(measures.cmc.counts(self.task.max_rank), with_match)),
        }

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
        searching = ~candidates.left_out
        matched = (matches.counts > 0)[searching]
        absent = candidates.absent[searching]
        return messages + _missing(matched, absent, self.task.variant, candidates.rules.removed)

    def _over_similarities(self, result: xr.Dataset) -> xr.Dataset:
        result = result.isel(threshold=slice(None, None, -1))
        for name in ("threshold", "tau_max", "tau_nz", "tau_f1"):
            similarities = to_user(result[name].values, self.candidates.scores.kind)
            result[name] = result[name].copy(data=similarities)
        return result

    def _identified(self, cmc: MatchCurve) -> np.ndarray:
        """Return how many queries have a match within each threshold and rank.

        The counts are int64 (thresholds, ranks).
        """
        matches = self.matches
        ranks = self.task.max_rank
        thresholds = len(self.thresholds)
        distance = matches.distance[matches.starts[cmc.query]]
        first_threshold = np.searchsorted(self.thresholds, distance)
        is_counted = (first_threshold < thresholds) & (cmc.rank <= ranks)
        cell = first_threshold[is_counted] * ranks + cmc.rank[is_counted] - 1
        counts = np.bincount(cell, minlength=thresholds * ranks).reshape(thresholds, ranks)
        return counts.cumsum(axis=0).cumsum(axis=1)

    def _options(self) -> dict[str, str | int | float]:
        rules = self.candidates.rules
        return {
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
        matches = self.matches
        ties = self.task.ties
        absent = self.candidates.absent
        matched, in_means = matches.counts > 0, self.in_means(matches)
        rp, vp = _per_threshold(self._retrieved_sets, ties, capped=self.task.variant == "reference")
        retrieves_any = self.retrieved > 0
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


def _missing(matched: np.ndarray, absent: np.ndarray, variant: str, rule: str) -> list[Message]:
    """Return messages on queries without a match, and on a set of queries that is empty.

    The masks are over the queries that are not left out: queries with a match (`matched`), and
    queries of people who are not in the gallery (`absent`).
    """
    messages = []
    lost = int((~matched & ~absent).sum())
    if lost and variant == "paper":
        messages.append(without_match(0, lost, "in neither set of queries"))
    if not matched.any():
        consequence = "mRP, mVP and mReP are not defined"
        messages.append(no_match(len(matched), int(absent.sum()), rule, consequence))
    if not absent.any():
        messages.append(Message("all-queries-in-gallery"))
    return messages


def _ends(scores: Scores) -> tuple[float, float]:
    parts = parts_of(scores.replace(nan="exclude"), nearest=True, grouped=False)
    with rows_reported_to(None):
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

    All float64 numbers are bisected in their order: around 0, they are too many to try one by one.
    """
    if (low, span) == (0.0, 1.0):
        return thresholds
    # Positions in the order of floats: x is the last within a threshold, and before `beyond`.
    within = np.full(thresholds.shape, _order_of_floats(np.array(-np.inf)))
    beyond = np.full(thresholds.shape, _order_of_floats(np.array(np.inf)))
    with np.errstate(over="ignore"):
        while (beyond - 1 > within).any():
            middle = (within >> 1) + (beyond >> 1) + (within & beyond & 1)  # no overflow
            is_within = (_float_of_order(middle) - low) / span <= thresholds
            within = np.where(is_within, middle, within)
            beyond = np.where(is_within, beyond, middle)
    return np.where(np.isfinite(thresholds), _float_of_order(within), thresholds)


def _order_of_floats(x: np.ndarray) -> np.ndarray:
    """Return the position of float64 numbers in their order: neighbours differ by 1."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _float_of_order(order: np.ndarray) -> np.ndarray:
    return np.where(order < 0, order ^ np.int64(2**63 - 1), order).view(np.float64)

"""Counts of re-identification and of GOM: the ranks of the matches of each query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.progress import rows_reported_to
from bioeval.counting.identification import RankFacts, check_max_rank
from bioeval.counting.mate_ranks import MateRanks, Within
from bioeval.counting.parts import parts_of
from bioeval.counting.reduce import Extent, Reducer, reduce
from bioeval.counting.single_template import SingleShots
from bioeval.counting.thresholds import require_values, to_internal
from bioeval.protocol.tasks import Gom
from bioeval.scores.labels import NAME_COLUMNS, template_names
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.matches import MatchLists


@dataclass
class ReidCounts:
    """Counts from which the measures of re-identification are computed, query by query."""

    about: Provenance
    rules: Convention
    #: bool (m,): whether the query's identity is in the gallery, the query itself not counted.
    enrolled: np.ndarray
    left_out: np.ndarray  # bool (m,): whether the query is junk or a distractor
    subject_of_query: np.ndarray  # int64 (m,): a number for the subject of each query
    removed_entries: np.ndarray  # int64 (m,): gallery entries removed from the query's list
    matches: MatchLists  # on the list for average precision and INP
    cmc_matches: MatchLists | None = None  # on the list for the CMC, if that is another one
    #: The probability that the one match of a single-shot gallery is at rank 1 ... K, and under the
    #: ends of ties.
    shots: SingleShots | None = None
    identities: RankFacts | None = None  # of the best match, among other identities
    thresholds: np.ndarray | None = None  # float64 (t,): increasing distances
    #: int64 (m, t): entries of the list of `matches` within each threshold.
    retrieved: np.ndarray | None = None
    labels: np.ndarray | None = None  # int or str (m,): the identity of each query
    names: list[str] | None = None  # the template of each query

    @property
    def absent(self) -> np.ndarray:
        """Which queries are of an identity that the gallery lacks, but for those left out."""
        return ~self.enrolled & ~self.left_out


@dataclass(kw_only=True)
class GomCounts(ReidCounts):
    """Gallery entries retrieved by each query within each threshold, for GOM.

    Distances and thresholds are normalised. Of the variant ``"reference"``, removed entries are
    counted at distance 1.
    """

    thresholds: np.ndarray
    retrieved: np.ndarray
    task: Gom
    #: ``(distance - low) / (high - low)`` is the normalised distance.
    low: float
    high: float


def plan_reid(
    scores: Scores,
    rules: Convention,
    *,
    thresholds: np.ndarray | None = None,
    name_queries: bool = False,
) -> Callable[[], ReidCounts]:
    """Return what counts the ranks of each query's matches, under a convention.

    With `thresholds`, increasing ones in the units of the scores, the entries within each are
    counted too. With `name_queries` the counts know the label of each query.
    """
    taus = None
    if thresholds is not None:
        require_values(scores, "retrieval within a threshold")
        taus = to_internal(thresholds, scores.kind)
    candidates = Candidates(scores, rules)
    check_max_rank(rules.max_rank, scores.shape[1], rules.last_rank)
    return partial(count_candidates, candidates, taus, name_queries=name_queries)


def count_candidates(
    candidates: Candidates, taus: np.ndarray | None = None, *, name_queries: bool = False
) -> ReidCounts:
    """Count the candidates of queries; `taus` are distances."""
    scores, rules = candidates.scores, candidates.rules
    of_ap: list[Reducer] = [MateRanks()]
    if taus is not None:
        of_ap.append(Within(taus))
    of_cmc: list[Reducer] = []
    if rules.cmc == "identity-dedup":
        of_cmc.append(RankFacts("min"))
    parts = candidates.people if of_cmc else candidates.parts
    optional: dict[str, Any] = {}
    if rules.cmc == "single-gallery-shot":
        single = candidates.under(rules.removed, by_label=True)
        optional["shots"] = SingleShots.of(single, rules.max_rank, rules.ties)
    if rules.removed == rules.ap_removed:
        counted = reduce(parts(rules.removed), *of_ap, *of_cmc)
    else:
        counted = reduce(candidates.parts(rules.ap_removed), *of_ap)
        ranks, *more = reduce(parts(rules.removed), MateRanks(), *of_cmc)
        optional["cmc_matches"] = MatchLists.of(ranks)
        counted += more
    ranks, *counted = counted
    if taus is not None:
        optional["retrieved"] = counted.pop(0) * ~candidates.left_out[:, None]
    if of_cmc:
        optional["identities"] = counted.pop(0)
    if name_queries:
        optional["labels"] = query_labels(scores)
        if not {*NAME_COLUMNS}.isdisjoint(scores.probe_meta):
            optional["names"] = template_names(scores.probe_meta, scores.shape[0])
    return ReidCounts(
        about=candidates.about(),
        rules=rules,
        enrolled=candidates.enrolled,
        left_out=candidates.left_out,
        removed_entries=candidates.removed_entries(rules.removed),
        matches=MatchLists.of(ranks),
        thresholds=taus,
        subject_of_query=candidates.identity,
        **optional,
    )


def query_labels(scores: Scores) -> np.ndarray:
    """Return the label of each query: a number, or a text as Python writes it."""
    codes = scores.codes
    values = codes.values
    if values.dtype.kind not in "iuU":
        listed = values.tolist()
        all_text = all(isinstance(x, str) for x in listed)
        values = np.array(listed if all_text else [*map(repr, listed)], dtype=str)
    return values[codes.probe]


def plan_gom(
    scores: Scores, rules: Convention, task: Gom, taus: np.ndarray, *, scaled: bool
) -> Callable[[], GomCounts]:
    """Return what counts the entries retrieved within each threshold, under a convention.

    With `scaled`, distances are scaled to 0 ... 1 over all finite ones, as the thresholds are;
    of the variant ``"reference"``, a removed entry stays, at distance 1.
    """
    rules = replace(rules, removed_for_ap="as-above", cmc="first-match", max_rank=1)
    return partial(_count_gom, Candidates(scores, rules), task, taus, scaled)


def _count_gom(candidates: Candidates, task: Gom, taus: np.ndarray, scaled: bool) -> GomCounts:
    low, high = _ends(candidates.scores) if scaled else (0.0, 1.0)
    counted = count_candidates(candidates, unscaled(taus, low, high - low))
    counts = GomCounts(**{**vars(counted), "thresholds": taus}, task=task, low=low, high=high)
    counts.matches.distance = (counts.matches.distance - low) / (high - low)
    if task.variant == "reference":
        removed = np.where(counts.left_out, 0, counts.removed_entries)
        counts.retrieved[:, np.searchsorted(taus, 1.0) :] += removed[:, None]
    return counts


def _ends(scores: Scores) -> tuple[float, float]:
    """Return the smallest and the largest finite distance."""
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


def unscaled(thresholds: np.ndarray, low: float, span: float) -> np.ndarray:
    """Return for each threshold the largest float64 ``x`` with ``(x - low) / span`` at most it.

    Found by halving the range of all numbers: around 0 there are too many to go one by one.
    """
    if (low, span) == (0.0, 1.0):
        return thresholds
    within = np.full(thresholds.shape, _order(np.array(-np.inf)))
    beyond = np.full(thresholds.shape, _order(np.array(np.inf)))
    with np.errstate(over="ignore"):
        while (beyond - 1 > within).any():
            middle = (within >> 1) + (beyond >> 1) + (within & beyond & 1)
            inside = (_number(middle) - low) / span <= thresholds
            within, beyond = np.where(inside, middle, within), np.where(inside, beyond, middle)
    return np.where(np.isfinite(thresholds), _number(within), thresholds)


def _order(x: np.ndarray) -> np.ndarray:
    """Return integers in the order of float64 numbers, consecutive for neighbours."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _number(order: np.ndarray) -> np.ndarray:
    """Return the float64 number of an integer made by :func:`_order`."""
    return np.where(order < 0, order ^ np.int64(2**63 - 1), order).view(np.float64)

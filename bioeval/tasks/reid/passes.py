"""Passes of re-identification: over the queries' lists, for their ranks, and for GOM."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.options import OPTIONS
from bioeval.base.progress import rows_reported_to
from bioeval.counting.grids import guide_to
from bioeval.counting.identification import check_max_rank
from bioeval.counting.thresholds import require_values, to_internal
from bioeval.counting.tied_places import ENDS
from bioeval.protocol.tasks import Gom
from bioeval.scores.arrays import Mask, scored
from bioeval.scores.blocks import is_small, threads_for
from bioeval.scores.labels import NAME_COLUMNS, template_names
from bioeval.scores.matrix import Scores
from bioeval.tasks.reid import kernel
from bioeval.tasks.reid.candidate_lists import Lists, RankedRows, RowReader
from bioeval.tasks.reid.convention import Convention
from bioeval.tasks.reid.counts import GomTally, ReidTally, query_labels
from bioeval.tasks.reid.matches import MatchLists
from bioeval.tasks.reid.tiles import matches_by_squares


def kept_scores(scores: Scores, convention: Convention) -> Scores:
    """Return a view of scores without the cells that a convention removes."""
    return scores._masked(LazyMask(Lists(scores, convention), scores.mask))


class LazyMask:
    """Mask of a matrix under a convention, computed row by row as it is read."""

    ndim = 2

    def __init__(self, lists: Lists, mask: np.ndarray | None):
        self.lists, self.mask = lists, mask
        self.shape = lists.scores.shape

    def __getitem__(self, rows: Any) -> np.ndarray:
        """Return the mask of some rows: 0 ignore, 1 impostor, 2 genuine."""
        lists = self.lists
        candidates = lists.rules[lists.convention.removed]
        index = np.arange(self.shape[0])[rows]
        genuine = lists.query_identity[index, None] == lists.identity[None]
        mask = np.where(genuine, np.uint8(Mask.GENUINE), np.uint8(Mask.IMPOSTOR))
        mask[~candidates.kept[candidates.list_index[index]]] = Mask.IGNORE
        mask[lists.left_out[index]] = Mask.IGNORE
        if candidates.same_camera:
            here = lists.query_camera[index, None] == lists.camera[None]
            mask[genuine & here] = Mask.IGNORE
        if self.mask is not None:
            mask[self.mask[index] == Mask.IGNORE] = Mask.IGNORE
        return mask


# Nodes of Gauss and Legendre for the mean over the orders of tied identities.
NODES = 32


#: The matches under each rule, and what else is found of each query, by name.
ByRule = tuple[dict[str, MatchLists], dict[str, np.ndarray]]


class RetrievalPass:
    """Counts the ranks of each query's matches, under a convention.

    With `thresholds`, increasing ones in the units of the scores, the entries within each are
    counted too.
    """

    def __init__(
        self,
        scores: Scores,
        convention: Convention,
        *,
        thresholds: np.ndarray | None = None,
        name_queries: bool = False,
    ):
        """Prepare the lists; raise where the convention does not go with the scores.

        With `name_queries` the counts know the label of each query.
        """
        self.thresholds = None
        if thresholds is not None:
            require_values(scores, "retrieval within a threshold")
            self.thresholds = to_internal(thresholds, scores.kind)
        self.scores, self.convention = scores, convention
        self.lists, self.reader = Lists(scores, convention), RowReader(scores)
        #: The labels of the queries, where they are wanted, and the names of their templates.
        self.labels = query_labels(scores) if name_queries and scores._labelled else None
        named = name_queries and not {*NAME_COLUMNS}.isdisjoint(scores.probe_meta)
        self.names = template_names(scores.probe_meta, scores.shape[0]) if named else None
        check_max_rank(convention.max_rank, scores.shape[1], convention.last_rank)

    def run(self) -> ReidTally:
        """Count all queries in one pass."""
        convention, lists, taus = self.convention, self.lists, self.thresholds
        cmc_rule, ap_rule = convention.removed, convention.ap_removed
        of_identities = {"identity-dedup": "identities", "single-gallery-shot": "shots"}
        fact = of_identities.get(convention.cmc)
        with threads_for(self.scores):
            matches, found = None, dict[str, np.ndarray]()
            if fact is None and taus is None:
                matches = matches_by_squares(lists)
            if matches is None:
                matches, found = self._of_all_rows(fact)
        if taus is not None:
            found["retrieved"][lists.left_out] = 0
            if self.scores.nan == "reject":
                for its in matches.values():
                    its.distance = scored(its.distance)
        return ReidTally(
            about=lists.about(self.reader),
            rules=convention,
            enrolled=lists.enrolled,
            left_out=lists.left_out,
            removed_entries=lists.removed_entries(cmc_rule),
            matches=matches[ap_rule],
            cmc_matches=matches[cmc_rule] if cmc_rule != ap_rule else None,
            thresholds=taus,
            labels=self.labels,
            names=self.names,
            subject_of_query=lists.query_identity,
            **found,
        )

    def _of_all_rows(self, fact: str | None) -> ByRule:
        """Return the matches under each rule, and what else is wanted, read by rows."""
        m, client = self.scores.shape[0], OPTIONS["client"]
        if client is None or is_small(self.scores):
            return self._of_rows(range(m), fact=fact)
        from bioeval.counting.cluster import Sent, Workers

        workers = Workers(client, Sent(self), self.lists.parts, m)
        matches, found = zip(
            *workers.ask(functools.partial(RetrievalPass._of_rows, fact=fact)), strict=True
        )
        return (
            {rule: MatchLists.joined([x[rule] for x in matches]) for rule in self.lists.rules},
            {name: np.concatenate([x[name] for x in found]) for name in found[0]},
        )

    def _of_rows(self, part: range, *, fact: str | None) -> ByRule:
        """Return these of some rows."""
        matches: dict[str, list[MatchLists]] = {rule: [] for rule in self.lists.rules}
        found: dict[str, list[np.ndarray]] = {}
        for blocks in self.lists.ranked(self.reader, part=part):
            for ranked in blocks:
                matches[ranked.rule].append(ranked.matches)
                if ranked.rule == self.convention.removed and fact == "identities":
                    one_group = np.zeros(self.lists.identities, dtype=np.int64)
                    identities = self.identities_before(ranked, one_group, 1)[:, 0]
                    found.setdefault(fact, []).append(identities)
                if ranked.rule == self.convention.removed and fact == "shots":
                    found.setdefault(fact, []).append(self.single_shots(ranked, self.lists))
                    ends = found[fact][-1:] * len(ENDS)
                    if ranked.mates.tied.any():
                        ends = [self.single_shots(ranked, self.lists, ties) for ties in ENDS]
                    found.setdefault("shots_at_ends", []).append(np.stack(ends, axis=1))
                if ranked.rule == self.convention.ap_removed and self.thresholds is not None:
                    within = self._retrieved(ranked, self.thresholds)
                    found.setdefault("retrieved", []).append(within)
        return (
            {rule: MatchLists.joined(each) for rule, each in matches.items()},
            {name: np.concatenate(each) for name, each in found.items()},
        )

    def identities_before(self, ranked: RankedRows, group: np.ndarray, groups: int) -> np.ndarray:
        """Return the identities before the best match of each row, by their group.

        `group` (int64 (identities,)) is the group of each, below `groups`. The shape is (rows,
        groups, 3), as the columns of :attr:`ReidTally.identities`.
        """
        counts = np.empty((len(ranked.queries.values), groups, 3), dtype=np.int64)
        kernel.rank_identities(ranked.queries, ranked.columns, ranked.mates, group, counts)
        return counts

    def single_shots(self, ranked: RankedRows, lists: Lists, ties: str = "") -> np.ndarray:
        """Return the distribution of the rank of each row in galleries of one entry of each.

        The entries are those of `lists`, which has all matches; `ties` are the convention's unless
        given.
        """
        ties = ties or self.convention.ties
        nodes, weights = np.array([float(ties == "pessimistic")]), np.ones(1)
        if ties == "expected":
            nodes, weights = np.polynomial.legendre.leggauss(NODES)
            nodes, weights = (nodes + 1.0) / 2.0, weights / 2.0
        orders = kernel.TiedOrders(ties == "stable", nodes, weights)
        at_rank = np.empty((len(ranked.queries.values), self.convention.max_rank))
        columns = lists.rules[ranked.rule].columns
        kernel.single_shots(ranked.queries, columns, ranked.mates, orders, at_rank)
        return at_rank

    def _retrieved(self, ranked: RankedRows, thresholds: np.ndarray) -> np.ndarray:
        """Return the entries of each row's list within each threshold, a distance."""
        values, lists = ranked.queries.values, self.lists
        counts = np.empty((len(values), len(thresholds) + 1), dtype=np.int64)
        thresholds = self.reader.among_distances(thresholds)
        guide = guide_to(thresholds)
        kernel.count_retrieved(ranked.queries, ranked.columns, thresholds, guide, counts)
        row, column = lists.own_of(ranked.rows)
        gone = lists.listed(ranked.rule, row, column)[1]
        row = row[gone] - ranked.rows.start
        distance = values[row, column[gone]]
        there = ~np.isnan(distance)
        place = np.searchsorted(thresholds, distance[there].astype(np.float64))
        np.subtract.at(counts, (row[there], place), 1)
        return np.cumsum(counts, axis=1)[:, :-1]


class GomPass(RetrievalPass):
    """Counts the entries retrieved within each threshold, under a convention, for GOM.

    With `normalize`, distances are scaled to 0 ... 1 over all finite ones, as the thresholds are;
    of the variant ``"reference"``, a removed entry stays, at distance 1.
    """

    def __init__(
        self, scores: Scores, convention: Convention, task: Gom, taus: np.ndarray, normalize: bool
    ):
        """Prepare the lists."""
        plain = replace(convention, removed_for_ap="as-above", cmc="first-match", max_rank=1)
        super().__init__(scores, plain)
        self.task, self.taus, self.normalize = task, taus, normalize

    def run(self) -> GomTally:
        """Count all queries."""
        low, high = self._ends() if self.normalize else (0.0, 1.0)
        self.thresholds = unscaled(self.taus, low, high - low)
        tally = GomTally(**vars(super().run()), task=self.task, low=low, high=high)
        tally.thresholds = self.taus
        tally.matches.distance = (tally.matches.distance - low) / (high - low)
        if self.task.variant == "reference":
            removed = np.where(tally.left_out, 0, tally.removed_entries)
            tally.retrieved[:, np.searchsorted(self.taus, 1.0) :] += removed[:, None]
        return tally

    def _ends(self) -> tuple[float, float]:
        """Return the smallest and the largest finite distance."""
        low, high = np.inf, -np.inf
        with rows_reported_to(None), threads_for(self.scores):
            for rows, values in self.lists.blocks(self.reader):
                ends = np.empty((2, len(values)))
                kernel.finite_range(values, self.lists.self_column[rows], *ends)
                low, high = min(low, float(ends[0].min())), max(high, float(ends[1].max()))
        if not low < high:
            raise DataError(
                "distances cannot be normalised: there are not two different finite ones; give "
                "normalize=False"
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

"""Open set and GOM of top-K lists: exact where the lists determine them, else bounds.

An entry that is not listed is not closer than the last one that is. So a mate that is not listed
has a rank beyond the list and a distance from that of the last entry on; a listed one is known, but
for entries exactly as close as the last one. At a threshold that a list does not reach beyond, any
of the unlisted entries may be retrieved, in any order behind those that are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bioeval import DataError, ProtocolError, TopKScores
from bioeval.base import Argument, Name, names_of
from bioeval.document import Message
from bioeval.protocol import OpenSet
from bioeval.results import (
    MatchCurve,
    OpenSetAttempts,
    OpenSetCounts,
    OpenSetPoints,
    QueryMean,
    Variables,
    about_attrs,
    build,
    rate,
    support_messages,
)
from bioeval.scores import Provenance, codes_of
from bioeval.studies.lists.results import junk_codes, listed_matches
from bioeval.studies.reid.convention import Convention, left_out_notes, left_out_queries
from bioeval.studies.reid.matches import RetrievedSets, cut_messages
from bioeval.studies.reid.passes import unscaled
from bioeval.studies.reid.results import (
    GOM,
    GOM_MEANS,
    GomOptions,
    in_units_of_user,
    missing_messages,
    summary,
)
from bioeval.tallies import (
    IdentificationTally,
    check_max_rank,
    check_thresholds,
    role_of,
    to_user,
)

#: The dimensions of a variable, and its lower and upper bound.
Bounded = tuple[tuple[str, ...], Any, Any]


def bounded_variables(bounds: Mapping[str, Bounded]) -> Variables:
    """Return each variable ``X`` where its bounds are equal, NaN elsewhere, beside its bounds.

    Where it is known throughout, it stands alone; where it is known nowhere, its bounds
    ``X_at_least`` and ``X_at_most`` do.
    """
    variables = {}
    for name, (dims, one, other) in bounds.items():
        # A bound that is NaN, as a threshold that may not exist, leaves that side open.
        low, high = np.fmin(one, other), np.maximum(one, other)
        known = (low == high) | np.isnan(low)
        if known.all():
            variables[name] = dims, low
            continue
        if known.any():
            variables[name] = dims, np.where(known, low, np.nan)
        variables[f"{name}_at_least"], variables[f"{name}_at_most"] = (dims, low), (dims, high)
    return variables


def _bound_messages(variables: Variables, depth: int) -> list[Message]:
    """Return a message of the variables that lists of a depth only bound, in whole or in part."""
    bounded = []
    for bound in variables:
        name = bound.removesuffix("_at_least")
        if name != bound:
            bounded.append(f"{name} (in part)" if name in variables else name)
    return [Message("values-within-bounds", depth=depth, values=bounded)] if bounded else []


def with_bounds(names: Mapping[str, Name]) -> dict[str, Name]:
    """Return the names of variables with those of their bounds."""
    more: dict[str, Name] = {}
    for name, each in names.items():
        more |= each.bounds_of(name)
    return more | dict(names)


@dataclass(frozen=True)
class _Between:
    """Values of some probes, each between two."""

    low: np.ndarray
    high: np.ndarray

    def __getitem__(self, chosen: np.ndarray) -> _Between:
        return _Between(np.asarray(self.low[chosen]), np.asarray(self.high[chosen]))

    @property
    def open(self) -> np.ndarray:
        """Which of the values are not known."""
        return self.low < self.high

    def within(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest number of values at most each threshold."""
        least = np.sort(self.high[~np.isnan(self.high)])
        most = np.sort(self.low[~np.isnan(self.low)])
        return (
            np.searchsorted(least, grid, side="right"),
            np.searchsorted(most, grid, side="right"),
        )


def open_set(
    scores: TopKScores, task: OpenSet, thresholds: Any, far_targets: np.ndarray
) -> xr.Dataset:
    """Return open-set identification of top-K lists, with bounds where they end."""
    _require_open_set(task)
    check_max_rank(task.max_rank, scores.gallery_size)
    searches = _ListedSearches(scores, task)
    thresholds = check_thresholds(thresholds)
    grid = OpenSetPoints.thresholds_over(
        searches.known_mates, searches.known_impostors, thresholds, scores.kind
    )
    count = task.max_rank or min(scores.depth, scores.gallery_size)
    bounds, grid = searches.curves(grid, count)
    points, exact = searches.points(far_targets, count)
    attempts = searches.attempts()
    about = Provenance.of(scores)
    fixed = attempts.scalars(about, searches.role, far_targets, exact)
    fixed.variables.pop("tied")
    variables = bounded_variables(bounds | points | {"tied": ((), *searches.tied)})
    messages = list[Message]()
    if cut := searches.cut:
        messages.append(Message("mates-beyond-lists", searches=cut, depth=scores.depth))
    messages += _bound_messages(variables | fixed.variables, scores.depth)
    remarks = support_messages(far_targets, attempts.impostor, False, "dir")
    options = {
        "rank_unit": task.rank_unit,
        "fusion": task.fusion,
        "ties": task.ties,
        "impostors": searches.role,
        "depth": scores.depth,
    }
    attrs = attempts.attrs(about, options, messages, remarks)
    coordinates = {"threshold": grid, "rank": np.arange(1, count + 1), **fixed.labels}
    return build(variables | fixed.variables, with_bounds(names_of("open_set")), coordinates, attrs)


def _require_open_set(task: OpenSet) -> None:
    """Raise :class:`ProtocolError` for options that lists do not determine."""
    if task.ties == "expected":
        option, instead = "ties = 'expected'", "pessimistic ties"
    elif task.rank_unit == "subject" and task.fusion != "min":
        option, instead = f"fusion = {task.fusion!r}", "the nearest (min)"
    else:
        return
    raise ProtocolError(
        f"top-K lists do not determine identification with {option}; give a matrix of scores, or "
        f"{instead}"
    )


class _ListedSearches:
    """Best mates, their ranks and the nearest entries of top-K lists, each between two values."""

    def __init__(self, scores: TopKScores, task: OpenSet):
        """Find them, with as many unlisted entries behind each list as the gallery has more."""
        query, gallery = codes_of(scores).probe, codes_of(scores).gallery
        distance, last = scores._listed_distances("open-set identification")
        listed, entry = scores.indices >= 0, gallery[scores.indices]
        is_mate = (entry == query[:, None]) & listed
        every = np.bincount(gallery, minlength=len(codes_of(scores).values))
        self.kind, self.last = scores.kind, last
        in_gallery = scores._entry_of_query >= 0
        self.mates = every[query] - in_gallery
        self.enrolled = self.mates > 0
        self.strangers = len(query) - int(self.enrolled.sum())
        self.non_mates = scores.gallery_size - every[query]
        layout = "all-against-all" if in_gallery.all() else scores.layout
        self.role = role_of(layout, task.impostors, not self.strangers)
        # Of subjects, each once: by the first of its entries.
        other = listed & ~is_mate
        total = self.non_mates
        if task.rank_unit == "subject":
            other = other & _first_of_each(entry)
            total = (every > 0).sum() - (every[query] > 0)
        unlisted = total - other.sum(axis=1)
        self.mate = self._nearest(distance, is_mate, self.mates)
        self.nearest_other = self._nearest(distance, listed & ~is_mate, self.non_mates)
        self.nearest = self._nearest(distance, listed, self.mates + self.non_mates)
        self.rank, self._tie = self._ranks(distance, is_mate, other, unlisted, task.ties)

    def _nearest(self, distance: np.ndarray, those: np.ndarray, number: np.ndarray) -> _Between:
        """Return the distance of the nearest of a number of entries."""
        some = those.any(axis=1)
        first = distance[np.arange(len(distance)), np.argmax(those, axis=1)]
        low = np.where(some, first, np.where(number > 0, self.last, np.nan))
        return _Between(low, np.where(some | (number == 0), low, np.inf))

    def _ranks(
        self,
        distance: np.ndarray,
        is_mate: np.ndarray,
        other: np.ndarray,
        unlisted: np.ndarray,
        ties: str,
    ) -> tuple[_Between, _Between]:
        """Return the rank of each best mate, and whether others are exactly as close."""
        some, mate = is_mate.any(axis=1), self.mate.low[:, None]
        before = np.arange(is_mate.shape[1]) < np.argmax(is_mate, axis=1)[:, None]
        closer = (other & (distance < mate)).sum(axis=1)
        tied = (other & (distance == mate)).sum(axis=1)
        at_end = np.where(mate[:, 0] == self.last, unlisted, 0)
        behind = {"optimistic": closer, "pessimistic": closer + tied}
        least = behind.get(ties, (other & before).sum(axis=1))
        most = least + (at_end if ties == "pessimistic" else 0)
        all_listed = other.sum(axis=1)
        least = np.where(some, least, closer if ties == "optimistic" else all_listed)
        most = np.where(some, most, all_listed + unlisted)
        tie = _Between(
            (some & (tied > 0)).astype(np.int64),
            np.where(some, tied + at_end > 0, tied + unlisted > 0).astype(np.int64),
        )
        return _Between(1 + least, 1 + most), tie

    @property
    def mated(self) -> np.ndarray:
        """The probes that make a genuine attempt."""
        return np.flatnonzero(self.enrolled)

    @property
    def impostors(self) -> np.ndarray:
        """The probes that make an impostor attempt."""
        return IdentificationTally.of_role(self.non_mates > 0, self.enrolled, self.role)

    @property
    def known_mates(self) -> np.ndarray:
        """The distances of the best mates that are listed."""
        mate = self.mate[self.mated]
        return mate.low[~mate.open]

    @property
    def known_impostors(self) -> np.ndarray:
        """The distances of the impostor attempts that are listed."""
        other = self.nearest_other[self.impostors]
        return other.low[~other.open]

    @property
    def cut(self) -> int:
        """The number of mated searches whose best mate is not listed."""
        return int(self.mate[self.mated].open.sum())

    @property
    def tied(self) -> tuple[np.int64, np.int64]:
        """The smallest and the largest number of genuine attempts with a tie."""
        tie = self._tie[self.mated]
        return np.int64(tie.low.sum()), np.int64(tie.high.sum())

    def attempts(self) -> OpenSetAttempts:
        """Return the numbers of attempts."""
        return OpenSetAttempts(
            genuine=len(self.mated),
            impostor=len(self.impostors),
            tied=np.int64(0),
            targets=len(self.mated),
            non_targets=self.strangers,
            unmated=0,
        )

    def curves(self, grid: np.ndarray, count: int) -> tuple[dict[str, Bounded], np.ndarray]:
        """Return counts and rates over thresholds and ranks, and the user's thresholds."""
        mate, rank = self.mate[self.mated], self.rank[self.mated]
        sure = ~rank.open
        shape = len(grid), count
        last = np.searchsorted(grid, mate.high)
        first = np.searchsorted(grid, mate.low)
        detected = (_table(last[sure], rank.low[sure], shape), self._possible(first, rank, shape))
        identified = (
            _table(last, rank.high, shape).cumsum(axis=1),
            _table(first, rank.low, shape).cumsum(axis=1),
        )
        impostors = self.nearest_other[self.impostors].within(grid)
        targets = self.nearest[self.mated].within(grid)
        mates = mate.within(grid)
        strangers = self.nearest[~self.enrolled].within(grid)

        def side(i: int) -> tuple[Variables, np.ndarray]:
            """Return the curves of the least counts, or of the most."""
            return OpenSetCounts(
                attempts=self.attempts(),
                thresholds=grid,
                detected=detected[i],
                identified=identified[i],
                accepted=impostors[i],
                targets_within=targets[i],
                own_within=mates[i],
                non_targets_within=strangers[i],
            ).curves(self.kind)

        (least, shown), (most, _) = side(0), side(1)
        return {name: (dims, low, most[name][1]) for name, (dims, low) in least.items()}, shown

    @staticmethod
    def _possible(first: np.ndarray, rank: _Between, shape: tuple[int, int]) -> np.ndarray:
        """Return the attempts that may be detected at each threshold, exactly at each rank."""
        rows, count = shape
        change = np.zeros((rows + 1, count + 2), dtype=np.int64)
        np.add.at(change, (first, np.minimum(rank.low - 1, count)), 1)
        np.add.at(change, (first, np.minimum(rank.high, count + 1)), -1)
        return change.cumsum(axis=0).cumsum(axis=1)[:-1, :count]

    def points(self, targets: np.ndarray, count: int) -> tuple[dict[str, Bounded], Variables]:
        """Return the bounds of the operating points, and those that are known."""
        mate, rank = self.mate[self.mated], self.rank[self.mated]
        other = self.nearest_other[self.impostors]
        low, high = np.sort(other.low), np.sort(other.high)
        bounds = {}
        exact: Variables = {}
        latest = OpenSetPoints(mate.high, rank.high, np.ones(len(mate.low)), len(mate.low), high)
        from_ = other.low[other.open].min(initial=np.inf)
        unknown = mate.open | rank.open
        free = np.full(count, from_)  # the first distance at which anything is not known
        unknown &= rank.low <= count
        np.minimum.at(free, rank.low[unknown] - 1, mate.low[unknown])
        free = np.minimum.accumulate(free)
        error = latest.equal_error()
        if np.isnan(error.eer) or self._crossing(latest) < free[0]:
            exact |= error.variables(self.kind)
        else:
            least, most = self._error_bounds(mate, rank, low, high)
            exact |= {"eer_at_least": ((), least), "eer_at_most": ((), most)}
        shape = len(targets), count
        dirs, known = np.full((2, *shape), np.nan), np.zeros(shape, dtype=bool)
        for i, target in enumerate(targets if len(low) and len(mate.low) else ()):
            allowed = latest.allowed_errors(target)
            every = allowed == len(low)
            least = most = np.inf
            if not every:
                least, most = low[allowed], high[allowed]
            sure = rank.high[(mate.high < least) | every]
            maybe = rank.low[(mate.low < most) | every]
            for side, ranks in enumerate((sure, maybe)):
                hits = np.bincount(np.minimum(ranks, count + 1), minlength=count + 2)
                dirs[side, i] = hits[1:-1].cumsum() / len(mate.low)
            known[i] = (least == most) & (free >= most)
        bounds["dir_at_far"] = ("far_target", "rank"), *dirs
        threshold = np.where(known, latest.at_far(targets, count)[1], np.nan)
        exact["threshold_at_far"] = ("far_target", "rank"), to_user(threshold, self.kind)
        return bounds, exact

    @staticmethod
    def _crossing(points: OpenSetPoints) -> float:
        """Return the first threshold at which FAR is at least 1 - DIR at rank 1."""
        mate = np.sort(points.mate[points.ranks <= 1])
        at = np.union1d(mate, points.other)
        far = np.searchsorted(points.other, at, side="right") * points.genuine
        frr = (points.genuine - np.searchsorted(mate, at, side="right")) * len(points.other)
        return float(at[int(np.argmax(far >= frr))])

    @staticmethod
    def _error_bounds(
        mate: _Between, rank: _Between, low: np.ndarray, high: np.ndarray
    ) -> tuple[float, float]:
        """Return bounds of the EER, from the thresholds surely before and after the crossing."""
        sure, maybe = mate.high[rank.high <= 1], mate.low[rank.low <= 1]
        at = np.unique(np.concatenate([sure, maybe, low, high]))
        least_far = np.searchsorted(high, at, side="right") / len(low)
        most_far = np.searchsorted(low, at, side="right") / len(low)
        least_frr = 1 - np.searchsorted(np.sort(maybe), at, side="right") / len(mate.low)
        most_frr = 1 - np.searchsorted(np.sort(sure), at, side="right") / len(mate.low)
        before, after = most_far < least_frr, least_far >= most_frr
        least = max(least_far[before].max(initial=0.0), least_frr[after].max(initial=0.0))
        most = min(most_frr[before].min(initial=1.0), most_far[after].min(initial=1.0))
        return least, most


def _first_of_each(entry: np.ndarray) -> np.ndarray:
    """Return which entries of each list are the first of their identity."""
    order = np.argsort(entry, axis=1, kind="stable")
    ordered = np.take_along_axis(entry, order, axis=1)
    new = np.ones(entry.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.empty_like(new)
    np.put_along_axis(first, order, new, axis=1)
    return first


def _table(place: np.ndarray, rank: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return the attempts within each threshold, exactly at each rank.

    `place` is that of the first threshold within which each attempt is.
    """
    shape = shape[0] + 1, shape[1] + 1
    flat = place * shape[1] + np.minimum(rank, shape[1]) - 1
    table = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
    return table.cumsum(axis=0)[:-1, :-1]


def gom_of_lists(
    scores: TopKScores,
    rules: Convention,
    options: GomOptions,
    thresholds: np.ndarray,
    scale: bool | tuple[float, float],
) -> xr.Dataset:
    """Return the measures of GOM of lists; False for `scale` leaves distances as they are."""
    _require_gom(options, scale)
    chosen_ends = scale if isinstance(scale, tuple) else None
    ends = chosen_ends or (0.0, 1.0)
    lists = _RetrievedLists(scores, rules, thresholds, chosen_ends)
    measures = lists.measures(options)
    over = ("threshold",)
    bounds: dict[str, Bounded] = {}
    least, most = {}, {}
    for name, measure in measures.items():
        least[name], most[name] = measure.least.mean, measure.most.mean
        bounds[name] = () if name in GOM_MEANS else over, least[name], most[name]
    low, high = summary(thresholds, least), summary(thresholds, most)
    for name in ("mrep_area", "mfr_area", "max_mrep", "max_mvp", "max_f1"):
        bounds[name] = (), low[name], high[name]
    bounds["micro_f1"] = over, *lists.micro_f1()
    bounds["tau_nz"] = (), high["tau_nz"], low["tau_nz"]
    bounds |= lists.identified(options.max_rank)
    if options.per_query:
        for name in ("rp", "vp", "rep", "fr"):
            measure = measures[f"m{name}"]
            bounds[name] = ("probe", "threshold"), measure.least.each, measure.most.each
    variables = bounded_variables(bounds)
    for name, of in (("tau_max", "mrep"), ("tau_f1", "f1")):
        if (place := _first_largest(least[of], most[of])) is not None:
            variables[name] = thresholds[place]
    known, absent, left_out = lists.positives > 0, lists.absent, lists.left_out
    variables |= {
        "queries": known.sum(),
        "open_queries": absent.sum(),
        "skipped": (~known & ~absent & ~left_out).sum(),
        "left_out": left_out.sum(),
        "removed": (scores.gallery_size - lists.candidates).sum(),
    }
    notes: list[Message] = []
    notes += missing_messages(known[~left_out], absent[~left_out], options.variant)
    distractor_ids = (*rules.distractor_ids, *scores.distractor_ids)
    notes += left_out_notes(scores, distractor_ids, rules.junk_ids)
    if cut := lists.cut:
        notes.append(
            Message("lists-retrieved-whole", whole=cut, queries=len(known), depth=scores.depth)
        )
    notes += _bound_messages(variables, scores.depth)
    notes += cut_messages(lists.positives, scores.depth, "positives")
    attrs = about_attrs(Provenance.of(scores), "gom", "GOM", notes) | {
        "variant": options.variant,
        "budget": int(options.budget),
        "ties": "listed",
        "depth": scores.depth,
        "normalised_low": float(ends[0]),
        "normalised_high": float(ends[1]),
        "normalised_span": float(ends[1] - ends[0]),
        "convention": rules.name,
        "removes": rules.removed,
        "junk": rules.junk_in_words,
    }
    coordinates = {"threshold": thresholds, "rank": np.arange(1, options.max_rank + 1)}
    if options.per_query:
        coordinates["probe"] = np.arange(len(known))
    return in_units_of_user(build(variables, with_bounds(GOM), coordinates, attrs))


def _require_gom(options: GomOptions, scale: bool | tuple[float, float]) -> None:
    """Raise :class:`ProtocolError` for what top-K lists do not determine."""
    if scale is True:
        raise ProtocolError(
            "top-K lists do not have the largest distance, needed to normalise; give ",
            Argument("normalize"),
            " = (low, high), the smallest and the largest distance of the whole. False takes "
            'distances as they are (in a card, distances = "as-given")',
        )
    for name, word in (("variant", "paper"), ("ties", "stable")):
        if (value := getattr(options, name)) != word:
            raise ProtocolError(
                "top-K lists do not determine GOM with ",
                Argument(name, value),
                "; give ",
                Argument(name, word),
                ", or a matrix of scores",
            )


def _first_largest(low: np.ndarray, high: np.ndarray) -> int | None:
    """Return the place of the first largest value between bounds; None where it is not known."""
    if np.isnan(low).any():
        return None
    at = int(np.argmax(low))
    sure = (high[:at] < low[at]).all() and (high[at + 1 :] <= low[at]).all()
    return at if sure else None


class _UnlistedMatches:
    """Sums over unlisted matches of the precision at each, from the first to the last.

    The matches follow the entries of a list at once, or, of `behind`, all others.
    """

    def __init__(self, listed: np.ndarray, hits: np.ndarray, unlisted: np.ndarray):
        query = np.repeat(np.arange(len(hits)), unlisted)
        starts = np.cumsum(unlisted) - unlisted
        self.query, self.starts = query, starts
        self.order = np.arange(len(query)) - np.repeat(starts, unlisted) + 1
        self.precision = (hits[query] + self.order) / (listed[query] + self.order)
        self.total = np.bincount(query, self.precision, minlength=len(hits))

    def added_to(self, sums: np.ndarray) -> np.ndarray:
        """Return sums over all matches of each query, added in order of rank."""
        query = np.concatenate([np.arange(len(sums)), self.query])
        return np.bincount(query, np.concatenate([sums, self.precision]))

    def smallest_mean(self, hits: np.ndarray, sums: np.ndarray) -> np.ndarray:
        """Return the smallest mean precision of `hits` matches and any first of these."""
        least = np.where(hits > 0, sums / np.maximum(hits, 1), 0.0)
        running = np.cumsum(self.precision)
        before = np.append(0.0, running)[self.starts][self.query]
        mean = (sums[self.query] + running - before) / (hits[self.query] + self.order)
        np.minimum.at(least, self.query, mean)
        # Sums that run over all queries are rounded.
        return np.where(least > 0, np.maximum(least * (1 - 1e-9), 0.0), least)


class _Measure:
    """A mean over queries of values that lie between two."""

    def __init__(self, counted: np.ndarray, low: np.ndarray, high: np.ndarray):
        query = np.flatnonzero(counted)
        self.least = QueryMean(counted, query, low[counted])
        self.most = QueryMean(counted, query, high[counted])


class _RetrievedLists:
    """Retrieved entries of each query within each threshold, as far as its list determines them."""

    def __init__(
        self,
        scores: TopKScores,
        rules: Convention,
        thresholds: np.ndarray,
        ends: tuple[float, float] | None,
    ):
        """Count the entries on the lists within each threshold; `ends` become 0 and 1."""
        distance, last = scores._listed_distances("GOM")
        if ends is not None:
            self._require_within(scores.indices >= 0, distance, ends)
        low, high = ends or (0.0, 1.0)
        junk = junk_codes(scores, rules.junk_ids) if rules.junk == "remove" else []
        ids = (*rules.junk_ids, *rules.distractor_ids, *scores.distractor_ids)
        self.left_out = left_out_queries(scores, ids)
        lists = listed_matches(scores, rules.removed, junk, self.left_out)
        raw = unscaled(thresholds, low, high - low)
        self.thresholds, self.last, self.raw = thresholds, last, raw
        self.positives, self.candidates = lists.positives, lists.candidates
        enrolled = np.isin(codes_of(scores).probe, codes_of(scores).gallery)
        self.absent = ~enrolled & ~self.left_out
        self.first, self.hits, self.listed = lists.first, lists.listed, lists.depth
        self.sums = lists.match_sums()
        self.unlisted_matches = lists.positives - lists.listed
        self.non_matches = lists.candidates - lists.depth - self.unlisted_matches
        shape = len(last), len(raw) + 1
        row, _ = np.nonzero(lists.kept)
        flat = row * shape[1] + np.searchsorted(raw, distance[lists.kept])
        within = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
        self.retrieved = within.cumsum(axis=1)[:, :-1]
        self.retrieved[self.left_out] = 0
        distances = (distance[lists.hits] - low) / (high - low)
        self.matches = replace(lists.matches(), distance=distances)
        self.ranks = lists.ranks[lists.hits]
        unknown = (self.unlisted_matches + self.non_matches > 0)[:, None]
        self.open = (last[:, None] <= raw) & unknown & ~self.left_out[:, None]

    @staticmethod
    def _require_within(
        listed: np.ndarray, distance: np.ndarray, ends: tuple[float, float]
    ) -> None:
        """Raise :class:`DataError` where a listed distance is beyond those of the scale."""
        finite = distance[listed & np.isfinite(distance)]
        least, most = finite.min(initial=np.inf), finite.max(initial=-np.inf)
        if least < ends[0] or most > ends[1]:
            raise DataError(
                Argument("normalize"),
                f" is ({ends[0]:g}, {ends[1]:g}), but the listed distances reach from "
                f"{float(least)!r} to {float(most)!r}; give the smallest and the largest of the "
                "whole",
            )

    @property
    def cut(self) -> int:
        """The number of queries that retrieve their whole list within some threshold."""
        return int(self.open.any(axis=1).sum())

    def identified(self, max_rank: int) -> dict[str, Bounded]:
        """Return CMC, and DIR over threshold and rank."""
        known = self.positives > 0
        listed, lost = np.flatnonzero(self.first > 0), np.flatnonzero(known & (self.first == 0))
        place = np.searchsorted(self.thresholds, self.matches.distance[self.matches.starts[listed]])
        behind = np.searchsorted(self.raw, self.last[lost])
        total, shape = int(known.sum()), (len(self.raw), max_rank)
        first, nearest = self.first[listed], self.listed[lost] + 1
        least = _table(place, first, shape)
        most = _table(np.append(place, behind), np.append(first, nearest), shape)
        least, most = least.cumsum(axis=1), most.cumsum(axis=1)

        def cmc(lost_rank: np.ndarray) -> np.ndarray:
            query, rank = np.append(listed, lost), np.append(first, lost_rank)
            return rate(MatchCurve(known, query, rank, np.ones(total)).counts(max_rank), total)

        return {
            "dir": (("threshold", "rank"), rate(least, total), rate(most, total)),
            "cmc": (("rank",), cmc(nearest + self.non_matches[lost]), cmc(nearest)),
        }

    @property
    def beyond(self) -> tuple[np.ndarray, np.ndarray]:
        """The unlisted matches and others that may be within each threshold, of each query."""
        matches, non_matches = self.unlisted_matches[:, None], self.non_matches[:, None]
        return np.where(self.open, matches, 0), np.where(self.open, non_matches, 0)

    @cached_property
    def sets(self) -> RetrievedSets:
        """The listed entries within each threshold."""
        return RetrievedSets(self.matches, self.retrieved, self.thresholds)

    def micro_f1(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of F1 of the entries of all queries together."""
        (u, v), hits, listed = self.beyond, self.sets.hits, self.retrieved
        matched, whole = hits.sum(axis=0), listed.sum(axis=0) + self.positives.sum()
        more = u.sum(axis=0)
        with np.errstate(invalid="ignore"):
            return 2 * matched / (whole + v.sum(axis=0)), 2 * (matched + more) / (whole + more)

    def measures(self, options: GomOptions) -> dict[str, _Measure]:
        """Return the measures of GOM that are means over queries."""
        sets, positives, some = self.sets, self.positives[:, None], self.positives > 0
        (u, v), hits, listed = self.beyond, self.sets.hits, self.retrieved
        precision = self.matches.order / self.ranks
        sums = sets.sums(precision)
        all_sums = np.bincount(self.matches.query, precision, minlength=len(some))
        near = _UnlistedMatches(self.listed, self.hits, self.unlisted_matches)
        far = _UnlistedMatches(self.listed + self.non_matches, self.hits, self.unlisted_matches)
        with np.errstate(invalid="ignore", divide="ignore"):
            rp = np.where(hits > 0, sums / hits, 0.0)
            vp = hits / (listed - hits + positives)
            rep = np.sqrt(rp * vp)
            full = near.added_to(all_sums) / self.positives
            # A matrix adds the matches of each threshold first: its sum is rounded otherwise.
            slack = 1 + np.finfo(float).eps * (self.positives + 4)
            best_rp = np.maximum(np.where(self.hits > 0, all_sums / self.hits, 0.0), full) * slack
            best_rp = np.minimum(best_rp, 1.0)
            worst_rp = far.smallest_mean(self.hits, all_sums)
            most_sums = np.where(u > 0, (sums + near.total[:, None]) * slack[:, None], sums)

            def side(
                matched: np.ndarray, wrong: np.ndarray, end_rp: np.ndarray, end_sums: np.ndarray
            ) -> dict[str, np.ndarray]:
                """Return the values with these numbers of matches and others within thresholds."""
                taken, new_vp = matched + wrong, matched / (wrong + positives)
                new_rep = np.sqrt(np.minimum(end_sums / matched, 1.0) * new_vp)
                return {
                    "mrp": np.where(self.open & (u > 0), end_rp[:, None], rp),
                    "mvp": new_vp,
                    "mrep": np.where(self.open & (matched > 0), new_rep, rep),
                    "precision": np.where(taken > 0, matched / taken, 0.0),
                    "recall": matched / positives,
                    "f1": 2 * matched / (taken + positives),
                }

            low = side(hits, listed - hits + v, worst_rp, sums)
            high = side(hits + u, listed - hits, best_rp, most_sums)
            ap = far.added_to(all_sums) / self.positives, near.added_to(all_sums) / self.positives
        absent, budget = self.absent, options.budget
        something, more = listed > 0, listed + u + v > 0
        least_fr, most_fr = np.minimum(listed / budget, 1.0), (listed + u + v) / budget
        measures = {name: _Measure(some, low[name], high[name]) for name in low}
        measures |= {
            "mfr": _Measure(absent, least_fr, np.minimum(most_fr, 1.0)),
            "far": _Measure(absent, something, more),
            "ttr": _Measure(some, something, more),
            "ttr_identity": _Measure(some, hits > 0, hits + u > 0),
            "ftr": _Measure(absent, something, more),
        }
        for name in GOM_MEANS:
            measures[name] = _Measure(some, *np.sort(self.sums.get(name, ap), 0))
        return measures

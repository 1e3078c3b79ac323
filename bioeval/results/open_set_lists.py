"""Open-set identification of top-K lists: exact where the lists determine it, else bounds.

An entry that is not listed is not closer than the last one that is. So a mate that is not listed
has a rank beyond the list and a distance from that of the last entry on; a listed one is known, but
for entries exactly as close as the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from bioeval.base.errors import ProtocolError, counted, require_choice
from bioeval.base.variables import OPEN_SET
from bioeval.protocol.tasks import OpenSet
from bioeval.results.bounded import Bounded, bounded_variables, with_bounds
from bioeval.results.dataset import Variables, about_attrs, build
from bioeval.results.open_set import (
    OpenSetAttempts,
    OpenSetCounts,
    OpenSetPoints,
    impostor_gallery,
    open_set_thresholds,
    role_of,
)
from bioeval.results.support import equal_error_variables, support_warnings
from bioeval.scores.arrays import parse_fusion
from bioeval.scores.provenance import describe
from bioeval.scores.top_k import TopKScores
from bioeval.tallies.identification_job import RANK_UNITS
from bioeval.tallies.points import allowed_errors
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.tie_policies import TIES, check_max_rank

_NAMES = with_bounds(OPEN_SET) | OPEN_SET


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
        both = (np.sort(x[~np.isnan(x)]) for x in (self.high, self.low))
        least, most = (np.searchsorted(x, grid, side="right") for x in both)
        return least, most


def open_set_of_lists(
    scores: TopKScores,
    task: OpenSet,
    thresholds: np.ndarray | int | None,
    far_targets: np.ndarray,
) -> xr.Dataset:
    """Return open-set identification of top-K lists; see :func:`bioeval.open_set`."""
    _require_supported(task)
    check_max_rank(task.max_rank, scores.gallery_size)
    found = _ListedSearches(scores, task)
    grid = open_set_thresholds(found.known_mates, found.known_others, thresholds, scores.kind)
    count = task.max_rank or min(scores.depth, scores.gallery_size)
    given, grid = found.curves(grid, count)
    points, exact = found.points(far_targets, count)
    attempts = found.attempts()
    about = describe(scores)
    fixed = attempts.scalars(about, found.role, far_targets, exact)
    fixed.variables.pop("tied")
    variables = bounded_variables(given | points | {"tied": ((), *found.tied)})
    notes = []
    if cut := found.cut:
        notes.append(
            f"{counted(cut, 'mated searches')} without a listed mate among {scores.depth} entries: "
            "beyond the lists, rates are bounds ..._at_least and ..._at_most"
        )
    remarks = support_warnings(far_targets, attempts.impostor, False, "DIR")
    attrs = about_attrs(about, "open-set identification", [*notes, *attempts.warnings(remarks)])
    attrs |= {
        "rank_unit": task.rank_unit,
        "fusion": task.fusion,
        "ties": task.ties,
        "impostors": found.role,
        "depth": scores.depth,
        "genuine_gallery_subjects": about.gallery_subjects,
        "impostor_gallery_subjects": impostor_gallery(about.gallery_subjects, found.role),
    }
    coordinates = {
        "threshold": grid,
        "rank": np.arange(1, count + 1),
        **fixed.labels,
    }
    return build(variables | fixed.variables, _NAMES, coordinates, attrs)


def _require_supported(task: OpenSet) -> None:
    """Raise :class:`ProtocolError` for options that lists do not determine."""
    require_choice("rank_unit", task.rank_unit, RANK_UNITS)
    require_choice("ties", task.ties, TIES)
    parse_fusion(task.fusion)
    if task.ties == "expected" or (task.rank_unit == "subject" and task.fusion != "min"):
        name, word = ("ties", "expected") if task.ties == "expected" else ("fusion", task.fusion)
        raise ProtocolError(
            f"top-K lists do not determine identification with {name} = {word!r}; give a matrix "
            f"of scores, or {'pessimistic ties' if name == 'ties' else 'the nearest (min)'}"
        )


class _ListedSearches:
    """Best mates, their ranks and the nearest entries of top-K lists, each between two values."""

    def __init__(self, scores: TopKScores, task: OpenSet):
        query, gallery = scores.codes.probe, scores.codes.gallery
        distance, last = scores.listed_distances("open-set identification")
        listed, entry = scores.indices >= 0, gallery[scores.indices]
        own = (entry == query[:, None]) & listed
        every = np.bincount(gallery, minlength=len(scores.codes.values))
        self.kind, self.last = scores.kind, last
        self.mates = every[query]
        self.enrolled = self.mates > 0
        self.strangers = len(query) - int(self.enrolled.sum())
        self.others = scores.gallery_size - self.mates
        self.role = role_of(scores.layout, task.impostors, not self.strangers)
        # Of subjects, each once: by the first of its entries.
        other = listed & ~own
        total = self.others
        if task.rank_unit == "subject":
            other = other & _first_of_each(entry)
            total = (every > 0).sum() - self.enrolled
        unlisted = total - other.sum(axis=1)
        self.mate, self.nearest_other, self.nearest = (
            self._nearest(distance, x, n)
            for x, n in (
                (own, self.mates),
                (listed & ~own, self.others),
                (listed, np.full(len(query), scores.gallery_size)),
            )
        )
        self.rank, self._tie = self._ranks(distance, own, other, unlisted, task.ties)

    def _nearest(self, distance: np.ndarray, those: np.ndarray, number: np.ndarray) -> _Between:
        """Return the distance of the nearest of a number of entries."""
        some = those.any(axis=1)
        first = distance[np.arange(len(distance)), np.argmax(those, axis=1)]
        low = np.where(some, first, np.where(number > 0, self.last, np.nan))
        return _Between(low, np.where(some | (number == 0), low, np.inf))

    def _ranks(
        self,
        distance: np.ndarray,
        own: np.ndarray,
        other: np.ndarray,
        unlisted: np.ndarray,
        ties: str,
    ) -> tuple[_Between, _Between]:
        """Return the rank of each best mate, and whether others are exactly as close."""
        some, mate = own.any(axis=1), self.mate.low[:, None]
        before = np.arange(own.shape[1]) < np.argmax(own, axis=1)[:, None]
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
        usable = self.others > 0
        chosen = {"unenrolled": ~self.enrolled, "leave-subject-out": self.enrolled}
        return np.flatnonzero(usable & chosen.get(self.role, usable))

    @property
    def known_mates(self) -> np.ndarray:
        """The distances of the best mates that are listed."""
        mate = self.mate[self.mated]
        return mate.low[~mate.open]

    @property
    def known_others(self) -> np.ndarray:
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
        detected = (
            _table(mate.high[sure], rank.low[sure], grid, count),
            self._possible(mate, rank, grid, count),
        )
        identified = (
            _table(mate.high, rank.high, grid, count).cumsum(axis=1),
            _table(mate.low, rank.low, grid, count).cumsum(axis=1),
        )
        others = self.nearest_other[self.impostors].within(grid)
        ends = [self.nearest[self.mated], mate, self.nearest[~self.enrolled]]
        targets, own, strangers = (x.within(grid) for x in ends)
        sides = [
            OpenSetCounts(
                attempts=self.attempts(),
                thresholds=grid,
                detected=detected[i],
                identified=identified[i],
                accepted=others[i],
                targets_within=targets[i],
                own_within=own[i],
                non_targets_within=strangers[i],
            ).curves(self.kind)
            for i in (0, 1)
        ]
        (least, shown), (most, _) = sides
        return {k: (dims, low, most[k][1]) for k, (dims, low) in least.items()}, shown

    @staticmethod
    def _possible(mate: _Between, rank: _Between, grid: np.ndarray, count: int) -> np.ndarray:
        """Return the attempts that may be detected at each threshold, exactly at each rank."""
        first = np.searchsorted(grid, mate.low)
        change = np.zeros((len(grid) + 1, count + 2), dtype=np.int64)
        np.add.at(change, (first, np.minimum(rank.low - 1, count)), 1)
        np.add.at(change, (first, np.minimum(rank.high, count + 1)), -1)
        return change.cumsum(axis=0).cumsum(axis=1)[:-1, :count]

    def points(self, targets: np.ndarray, count: int) -> tuple[dict[str, Bounded], Variables]:
        """Return the bounds of the operating points, and those that are known."""
        mate, rank = self.mate[self.mated], self.rank[self.mated]
        other = self.nearest_other[self.impostors]
        low, high = np.sort(other.low), np.sort(other.high)
        bounds: dict[str, Bounded] = {}
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
            exact |= equal_error_variables(error, self.kind)
        else:
            ends = self._error_bounds(mate, rank, low, high)
            exact |= {f"eer_at_{x}": ((), y) for x, y in zip(("least", "most"), ends, strict=True)}
        shape = len(targets), count
        dirs, known = np.full((2, *shape), np.nan), np.zeros(shape, dtype=bool)
        for i, target in enumerate(targets if len(low) and len(mate.low) else ()):
            allowed = allowed_errors(float(target), len(low))
            every = allowed == len(low)
            least, most = (np.inf, np.inf) if every else (low[allowed], high[allowed])
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
        far = [np.searchsorted(x, at, side="right") / len(low) for x in (high, low)]
        frr = [
            1 - np.searchsorted(np.sort(x), at, side="right") / len(mate.low) for x in (maybe, sure)
        ]
        before, after = far[1] < frr[0], far[0] >= frr[1]
        least = max(far[0][before].max(initial=0.0), frr[0][after].max(initial=0.0))
        most = min(frr[1][before].min(initial=1.0), far[1][after].min(initial=1.0))
        return least, most


def _first_of_each(entry: np.ndarray) -> np.ndarray:
    """Return which entries of each list are the first of their identity."""
    order = np.argsort(entry, axis=1, kind="stable")
    ordered = np.take_along_axis(entry, order, axis=1)
    new = np.ones(entry.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    found = np.empty_like(new)
    np.put_along_axis(found, order, new, axis=1)
    return found


def _table(distance: np.ndarray, rank: np.ndarray, grid: np.ndarray, count: int) -> np.ndarray:
    """Return the attempts within each threshold, exactly at each rank."""
    shape = len(grid) + 1, count + 1
    flat = np.searchsorted(grid, distance) * shape[1] + np.minimum(rank, shape[1]) - 1
    found = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
    return found.cumsum(axis=0)[:-1, :-1]

"""Open-set identification: DIR(t, k) and FRR of the enrolled, FAR and GRR of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import require_choice
from bioeval.base.variables import OPEN_SET
from bioeval.results.dataset import about_attrs, build, max_ranks, rate
from bioeval.results.support import equal_error_variables, support_warnings
from bioeval.tallies.cells import cell_exponent
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.points import (
    FAR_TARGETS,
    Curve,
    EqualError,
    allowed_false_accepts,
    check_far_targets,
    equal_error,
)
from bioeval.tallies.thresholds import (
    DEFAULT_COUNT,
    check_thresholds,
    default_grid,
    linear_grid,
    to_internal,
    to_user,
    with_infinities,
)
from bioeval.tallies.tie_policies import check_max_rank, rank_weights

IMPOSTORS = ("auto", "unenrolled", "leave-subject-out", "both")

# DIR(t, k) is reported at every attainable rank up to this many thresholds x ranks.
DIR_LIMIT = 2_000_000


def impostor_role(tally: IdentificationTally, impostors: str) -> str:
    """Return who plays the impostor: ``"auto"`` resolved by the layout and the probes."""
    return role_of(tally.about.layout, impostors, bool(tally.enrolled.all()))


def role_of(layout: str, impostors: str, all_enrolled: bool) -> str:
    """Return who plays the impostor, from the layout and whether every probe is enrolled."""
    require_choice("impostors", impostors, IMPOSTORS)
    if layout == "all-against-all":
        return "leave-subject-out"
    if impostors != "auto":
        return impostors
    return "leave-subject-out" if all_enrolled else "unenrolled"


def impostor_probes(tally: IdentificationTally, role: str) -> np.ndarray:
    """Return the probes that make an impostor attempt."""
    usable = tally.others > 0
    if role == "unenrolled":
        usable = usable & ~tally.enrolled
    elif role == "leave-subject-out":
        usable = usable & tally.enrolled
    return np.nonzero(usable)[0]


def open_set_dataset(
    tally: IdentificationTally,
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    ties: str = "pessimistic",
    impostors: str = "auto",
    far_targets: Sequence[float] = FAR_TARGETS,
) -> xr.Dataset:
    """Return DIR over thresholds and ranks, FAR over thresholds.

    The genuine attempts are the enrolled probes with a usable mate; the impostor attempts are
    the probes whose subject is not, or is taken to be not, in the gallery.
    """
    check_max_rank(max_rank)
    role = impostor_role(tally, impostors)
    chosen = np.nonzero(tally.mates > 0)[0]
    probes, ranks, weights = rank_weights(tally, chosen, ties)
    mate, other = tally.mate[chosen], np.sort(tally.other[impostor_probes(tally, role)])
    kind = tally.about.kind
    grid = _grid(mate, other, check_thresholds(thresholds), kind)
    genuine, impostor = len(chosen), len(other)

    longest = int((tally.mates + tally.others).max(initial=0))
    count, note = max_ranks(longest, len(grid), max_rank, DIR_LIMIT)
    # A probe is detected from the first threshold that is not below its mate's distance.
    first = np.searchsorted(grid, tally.mate[probes])
    kept = (first < len(grid)) & (ranks <= count)
    flat = first[kept] * count + ranks[kept] - 1
    detected = np.bincount(flat, weights[kept], minlength=len(grid) * count)
    di = np.cumsum(detected.reshape(len(grid), count), axis=0)
    if ties != "expected":
        di = np.rint(di).astype(np.int64)
    identified = np.cumsum(di, axis=1)
    fa = np.searchsorted(other, grid, side="right").astype(np.int64)

    nearest = np.fmin(tally.nearest_mate, tally.nearest_other)
    targets, non_targets = int(tally.enrolled.sum()), int((~tally.enrolled).sum())
    ttr = rate(_within(nearest[tally.enrolled], grid), targets)
    ttr_identity = rate(_within(tally.nearest_mate[tally.enrolled], grid), targets)
    ftr = rate(_within(nearest[~tally.enrolled], grid), non_targets)

    grid = to_user(grid, kind)
    if kind == "similarity":
        grid, di, identified, fa = grid[::-1], di[::-1], identified[::-1], fa[::-1]
        ttr, ttr_identity, ftr = ttr[::-1], ttr_identity[::-1], ftr[::-1]
    points = OpenSetPoints(
        mate=tally.mate[probes], ranks=ranks, weights=weights, genuine=genuine, other=other
    )
    targets_of_far = check_far_targets(far_targets)
    dir_at_far, threshold_at_far = points.at_far(targets_of_far, count)
    both, over, per_target = ("threshold", "rank"), ("threshold",), ("far_target", "rank")
    dir_ = rate(identified, genuine)
    variables = {
        "dir": (both, dir_),
        "di": (both, di),
        "far": (over, rate(fa, impostor)),
        "grr": (over, rate(impostor - fa, impostor)),
        "frr": (over, rate(genuine - identified[:, 0], genuine)),
        "fa": (over, fa),
        "gr": (over, impostor - fa),
        "genuine_attempts": ((), np.int64(genuine)),
        "impostor_attempts": ((), np.int64(impostor)),
        "tied": ((), np.int64((tally.tied[chosen] > 0).sum())),
        "ttr": (over, ttr),
        "ttr_identity": (over, ttr_identity),
        "ftr": (over, ftr),
        "target_probes": ((), np.int64(targets)),
        "non_target_probes": ((), np.int64(non_targets)),
        **equal_error_variables(points.equal_error(), kind),
        "dir_at_far": (per_target, dir_at_far),
        "threshold_at_far": (per_target, to_user(threshold_at_far, kind)),
        "expected_false_accepts": (("far_target",), targets_of_far * impostor),
    }
    warnings = [note] if note else []
    if not genuine:
        warnings.append("no genuine attempt: DIR and FRR are not defined (NaN)")
    if not impostor:
        warnings.append("no impostor attempt: FAR and GRR are not defined (NaN)")
    if genuine and impostor:
        warnings += support_warnings(targets_of_far, impostor, False, "DIR")
    unmated = int((tally.enrolled & (tally.mates == 0)).sum())
    if unmated:
        warnings.append(f"{unmated} enrolled probes without a usable mate make no genuine attempt")
    attrs = about_attrs(tally.about, "open-set identification", warnings)
    attrs |= {
        "rank_unit": tally.rank_unit,
        "fusion": tally.fusion,
        "ties": ties,
        "impostors": role,
        "genuine_gallery_subjects": tally.about.gallery_subjects,
        "impostor_gallery_subjects": impostor_gallery(tally.about.gallery_subjects, role),
    }
    coordinates = {
        "threshold": grid,
        "rank": np.arange(1, count + 1),
        "far_target": targets_of_far,
    }
    return build(variables, OPEN_SET, coordinates, attrs)


@dataclass(frozen=True)
class OpenSetPoints:
    """Exact operating points: the thresholds are the scores of the attempts themselves.

    Attributes
    ----------
    mate, ranks, weights : arrays, shape (g,)
        Distance, rank and weight of best mates; several entries a probe under expected ties.
    genuine : int
        Genuine attempts.
    other : float64 array, shape (i,)
        Distances of the impostor attempts, increasing.
    """

    mate: np.ndarray
    ranks: np.ndarray
    weights: np.ndarray
    genuine: int
    other: np.ndarray

    def reject_all(self, points: np.ndarray) -> float:
        """Return the threshold that rejects everything; NaN if a point has that very value."""
        return float("nan") if (points == -np.inf).any() else float("-inf")

    def equal_error(self, rank: int = 1) -> EqualError:
        """Return where FAR and 1 - DIR(t, rank) cross."""
        if not self.genuine or not len(self.other):
            return EqualError()
        hits = self.ranks <= rank
        order = np.argsort(self.mate[hits], kind="stable")
        mate, weights = self.mate[hits][order], self.weights[hits][order]
        threshold = np.union1d(mate, self.other)
        taken = np.concatenate([[0.0], np.cumsum(weights)])
        found = taken[np.searchsorted(mate, threshold, side="right")]
        curve = Curve(
            np.concatenate([[self.reject_all(threshold)], threshold]),
            np.concatenate([[0], np.searchsorted(self.other, threshold, side="right")]),
            np.concatenate([[self.genuine], np.maximum(self.genuine - found, 0.0)]),
            self.genuine,
            len(self.other),
        )
        return equal_error(curve)

    def at_far(self, targets: np.ndarray, ranks: int) -> tuple[np.ndarray, np.ndarray]:
        """Return DIR at each FAR target and rank, and the loosest threshold that gives it."""
        dir_ = np.full((len(targets), ranks), np.nan)
        threshold = np.full((len(targets), ranks), np.nan)
        total = len(self.other)
        if not self.genuine or not total:
            return dir_, threshold
        inside = self.ranks <= ranks
        mate, rank, weights = self.mate[inside], self.ranks[inside] - 1, self.weights[inside]
        # Whether a point of a rank has the value -inf, that of rejecting all.
        lowest = np.zeros(ranks, dtype=bool)
        np.logical_or.at(lowest, rank, mate == -np.inf)
        lowest = np.logical_or.accumulate(lowest) | (self.other[0] == -np.inf)
        for i, target in enumerate(targets):
            allowed = allowed_false_accepts(float(target), total)
            if allowed < total:
                limit = self.other[allowed]
                below = mate < limit
                others = self.other[: np.searchsorted(self.other, limit)]
            else:
                below, others = np.ones(len(mate), dtype=bool), self.other
            found = np.cumsum(np.bincount(rank[below], weights[below], minlength=ranks))
            dir_[i] = np.minimum(found, self.genuine) / self.genuine
            loosest = np.full(ranks, -np.inf)
            np.maximum.at(loosest, rank[below], mate[below])
            loosest = np.maximum.accumulate(loosest)
            counted = np.zeros(ranks, dtype=bool)
            counted[rank[below]] = True
            counted = np.logical_or.accumulate(counted) | bool(len(others))
            if len(others):
                loosest = np.maximum(loosest, others[-1])
            none = np.where(lowest, np.nan, -np.inf)
            threshold[i] = np.where(counted, loosest, none)
        return dir_, threshold


def impostor_gallery(subjects: int, role: str) -> int | str:
    """Return how many subjects an impostor is compared with; 0 where that is not known."""
    if not subjects:
        return 0
    sizes: dict[str, int] = {"unenrolled": subjects, "leave-subject-out": subjects - 1}
    return sizes.get(role, f"{subjects - 1} or {subjects}")


def _within(distances: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Return how many distances are at most each threshold; NaN never is."""
    there = np.sort(distances[~np.isnan(distances)])
    return np.searchsorted(there, grid, side="right")


def _grid(
    mate: np.ndarray, other: np.ndarray, given: np.ndarray | int | None, kind: str
) -> np.ndarray:
    if isinstance(given, np.ndarray):
        return to_internal(given, kind)
    both = np.concatenate([mate, other])
    finite = both[np.isfinite(both)]
    low, high = finite.min(initial=np.inf), finite.max(initial=-np.inf)
    if given is None:
        low, high = float(low), float(high)
        exponent = cell_exponent(low, high) if low <= high else 0
        grid = default_grid(low, high, exponent, DEFAULT_COUNT)
    else:
        grid = linear_grid(float(low), float(high), given)
    return with_infinities(grid, bool((both == -np.inf).any()), bool((both == np.inf).any()))

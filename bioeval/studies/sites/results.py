"""Datasets of folded tallies: rates at their thresholds and ranks, bounds in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval import ProtocolError
from bioeval.base import QUERY_MEANS, Argument, larger_is_closer, names_of, scalar_registry
from bioeval.document import Message
from bioeval.evaluation import TaskCounts
from bioeval.results import (
    ClosedSetCounts,
    OpenSetAttempts,
    OpenSetCounts,
    QueryMean,
    Scalars,
    Variables,
    about_attrs,
    build,
    decisions,
    rate,
)
from bioeval.studies.lists.cut_lists import Bounded, bounded_variables, with_bounds
from bioeval.studies.reid.counts import GomTally, ReidTally
from bioeval.studies.reid.results import (
    GOM,
    REID,
    GomOptions,
    ReidOptions,
    gom_measures,
    is_turned,
    reid_measures,
    summary,
)
from bioeval.studies.sites.folded import (
    ENROLLED,
    NEAREST_MATE,
    STRANGER,
    TARGET,
    UNENROLLED,
    Folded,
    FoldedIdentification,
    FoldedQueries,
    FoldedVerification,
    value_counts,
)
from bioeval.tallies import FAR_TARGETS, check_targets, role_of, to_user

if TYPE_CHECKING:
    from bioeval.scores import BlockReader
    from bioeval.stats import IntervalOptions


def folded_verification(
    tally: FoldedVerification, far_targets: Sequence[float] = FAR_TARGETS
) -> xr.Dataset:
    """Return counts and rates at the thresholds, and bounds of the operating points."""
    ga, genuine = _running(tally.genuine)
    fa, impostor = _running(tally.impostor)
    targets = check_targets(far_targets)
    gar, far = rate(ga, genuine), rate(fa, impostor)
    low, high, dir_low, dir_high = OpenSetCounts.bounds_between(
        far, gar[:, None], np.ones(1), targets
    )
    kind = tally.about.kind
    thresholds = to_user(tally.thresholds, kind)
    if larger_is_closer(kind):
        thresholds, ga, fa = thresholds[::-1], ga[::-1], fa[::-1]
    variables: Variables = {
        **decisions(ga, genuine, fa, impostor, scalar_registry().at_threshold["task"]),
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
        "skipped_claims": tally.skipped_claims,
    }
    if sides := tally.about.people:
        variables["subjects"] = sides[-1]
        variables["disjoint_pairs"] = min(*sides[:2], sides[2] // 2)
    coordinates = {"threshold": thresholds, "far_target": targets}
    auc = _auc_bounds(tally)
    for name, dims, ends in (
        ("eer", (), (low, high)),
        ("auc", (), auc),
        ("frr_at_far", ("far_target",), (1 - dir_high[:, 0], 1 - dir_low[:, 0])),
    ):
        variables[f"{name}_at_least"] = (dims, ends[0])
        variables[f"{name}_at_most"] = (dims, ends[1])
    warnings = _messages(tally)
    if not genuine:
        warnings.append(Message("no-genuine-attempt", rates=["gar", "frr"]))
    if not impostor:
        warnings.append(Message("no-impostor-attempt", rates=["far", "grr"]))
    attrs = about_attrs(
        tally.about, "verification", f"verification, {tally.templates}-template", warnings
    )
    attrs |= {"templates": tally.templates, "fusion": tally.fusion, "claims": tally.claims}
    return build(variables, names_of("verification"), coordinates, attrs)


def folded_open_set(
    tally: FoldedIdentification,
    *,
    impostors: str = "auto",
    far_targets: Sequence[float] = FAR_TARGETS,
    **unused: Any,
) -> xr.Dataset:
    """Return DIR over thresholds and ranks, FAR over thresholds, and bounds of points."""
    about = tally.about
    role = role_of(about.layout, impostors, not tally.non_targets)
    rows = {"leave-subject-out": [ENROLLED], "unenrolled": [UNENROLLED]}
    chosen = rows.get(role, [ENROLLED, UNENROLLED])
    accepted, impostor = _running(tally.within[chosen].sum(axis=0))
    within = [_running(row)[0] for row in tally.within]
    table, genuine = _table(tally)
    identified, every = table[:-1, :-1], table[-1, :-1]
    counts = OpenSetCounts(
        attempts=OpenSetAttempts(
            genuine=genuine,
            impostor=impostor,
            tied=_tied(tally),
            targets=tally.targets,
            non_targets=tally.non_targets,
            unmated=tally.unmated_targets,
        ),
        thresholds=tally.thresholds,
        detected=np.diff(identified, axis=1, prepend=0),
        identified=identified,
        accepted=accepted,
        targets_within=within[TARGET],
        own_within=within[NEAREST_MATE],
        non_targets_within=within[STRANGER],
        ranks=tally.ranks,
    )
    targets = check_targets(far_targets)
    points = counts.bounds(every, targets)
    options = _options(tally) | {"impostors": role}
    return counts.dataset(points, targets, about, options, _messages(tally), [])


def folded_closed_set(
    tally: FoldedIdentification, *, unmated: str = "auto", **unused: Any
) -> xr.Dataset:
    """Return CMS over the ranks; probes without a usable mate raise, or are skipped."""
    table, genuine = _table(tally)
    counts = ClosedSetCounts(table[-1, :-1], genuine, tally.unmated, _tied(tally), tally.ranks)
    counts.require_mated(tally.about.layout, unmated, -1)
    return counts.dataset(tally.about, _options(tally) | {"unmated": unmated}, _joined(tally))


def _options(tally: FoldedIdentification) -> dict[str, str | int | float]:
    return {"rank_unit": tally.rank_unit, "fusion": tally.fusion, "ties": tally.ties}


def _tied(tally: FoldedIdentification) -> Any:
    """Return the tied attempts; NaN where unknown."""
    return np.int64(tally.tied) if tally.tied >= 0 else np.float64(np.nan)


def _messages(tally: FoldedVerification | FoldedIdentification) -> list[Message]:
    """Return what limits the numbers between thresholds and ranks."""
    return [Message("points-of-folded-counts"), *_joined(tally)]


def _joined(tally: FoldedVerification | FoldedIdentification) -> list[Message]:
    return [Message("bins-joined")] if tally.merged else []


def _table(tally: FoldedIdentification) -> tuple[np.ndarray, int]:
    """Return running counts over thresholds and ranks, and the genuine attempts."""
    return tally.di.cumsum(axis=0).cumsum(axis=1), tally.genuine


def _running(counts: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the number at or below each threshold, and the total."""
    running = np.cumsum(counts)
    return running[:-1], int(running[-1])


def _auc_bounds(tally: FoldedVerification) -> tuple[float, float]:
    """Return bounds of the AUC: pairs within one bin may be in either order."""
    genuine, impostor = tally.genuine.astype(np.float64), tally.impostor.astype(np.float64)
    pairs = genuine.sum() * impostor.sum()
    if not pairs:
        return np.nan, np.nan
    nearer = np.cumsum(genuine) - genuine
    sure = float((impostor * nearer).sum())
    return sure / pairs, (sure + float((impostor * genuine).sum())) / pairs


#: Means over queries that lie between 0 and 1: bounded by hundredths.
FOLDED_MEANS: tuple[str, ...] = tuple(
    x.name for x in QUERY_MEANS.values() if not x.cut and x.bounds == (0.0, 1.0)
)


def fold_reid(tally: ReidTally, options: dict[str, Any], ranks: np.ndarray) -> FoldedQueries:
    """Return the queries of re-identification by the value of each measure, and the first match."""
    chosen = ReidOptions(**options)
    if tally.cmc in ("allshots", "single-gallery-shot") or chosen.ties == "expected":
        raise ProtocolError(
            f"re-identification whose CMC counts {tally.cmc}, with {chosen.ties} ties, has "
            "weights of matches; they do not fold into whole numbers of queries"
        )
    measures = reid_measures(tally, chosen)
    curve = measures.cmc
    place = np.searchsorted(ranks, curve.rank)
    counted = int(curve.counted.sum())
    first = np.bincount(place, minlength=len(ranks) + 1)
    first[-1] += counted - len(place)
    rules = [tally.convention, tally.removed, tally.removed_for_ap, tally.junk, tally.cmc]
    rules += [chosen.ties, chosen.ap, chosen.unmatched]
    means = {name: measures.means[name] for name in FOLDED_MEANS}
    return FoldedQueries(
        about=tally.about,
        rules=" | ".join(["reid", *rules]),
        **_by_value(means),
        thresholds=np.empty(0),
        ranks=ranks,
        first=first,
        queries=counted,
        open_queries=int(tally.absent.sum()),
        skipped=len(curve.counted) - counted - int(tally.left_out.sum()),
    )


def fold_gom(tally: GomTally, options: dict[str, Any], thresholds: Any) -> FoldedQueries:
    """Return the queries of GOM by ReP, VP and FR at thresholds of the tally; None: at all."""
    chosen = GomOptions(**options)
    counted_at = tally.thresholds
    if is_turned(tally.about.kind, tally.low, tally.high):
        counted_at = to_user(counted_at, tally.about.kind)[::-1]
    taus = counted_at if thresholds is None else np.asarray(thresholds)
    at = np.searchsorted(counted_at, taus)
    if (counted_at[np.minimum(at, len(counted_at) - 1)] != taus).any():
        raise ProtocolError(
            "GOM was not counted at these thresholds (on the scale of its distances); give ",
            Argument("thresholds"),
            " among those of the tally",
        )
    means = gom_measures(tally, chosen).means
    rules = [tally.convention, tally.removed, tally.junk, tally.variant, f"B = {chosen.budget}"]
    scale = f"{tally.low!r} to {tally.high!r}"
    has_match, absent = tally.matches.counts > 0, tally.absent
    chosen_means = {}
    for name in ("mvp", "mrep", "mfr"):
        mean = means[name]
        chosen_means[name] = QueryMean(mean.counted, mean.query, mean.values[:, at])
    return FoldedQueries(
        about=tally.about,
        rules=" | ".join(["gom", *rules, chosen.ties, scale]),
        **_by_value(chosen_means),
        thresholds=taus.astype(np.float64),
        ranks=np.empty(0, dtype=np.int64),
        first=np.zeros(1, dtype=np.int64),
        queries=int(means["mrep"].counted.sum()),
        open_queries=int(absent.sum()),
        skipped=int((~has_match & ~absent & ~tally.left_out).sum()),
    )


def _by_value(means: dict[str, QueryMean]) -> dict[str, Any]:
    """Return the queries by the value of each mean, as attributes of :class:`FoldedQueries`."""
    rows = []
    for mean in means.values():
        rows += _rows(mean)
    values = np.array(rows).reshape(len(rows), -1)
    ends = np.ones(values.shape, dtype=bool)
    return {"measures": tuple(means), "values": values, "ends": ends}


def _rows(mean: QueryMean) -> list[np.ndarray]:
    """Return the queries by value, at each threshold where there are any."""
    without = int(mean.counted.sum()) - len(mean.query)
    rows = []
    for values in np.atleast_2d(mean.values.T):
        counts = value_counts(values)
        counts[0] += without
        rows.append(counts)
    return rows


def folded_queries(tally: FoldedQueries) -> xr.Dataset:
    """Return CMC at the ranks, and bounds of the means over queries."""
    lower, upper = tally.mean_bounds()
    bounds: dict[str, Bounded] = {}
    coordinates: dict[str, np.ndarray] = {}
    variables: Variables = {}
    if not len(tally.thresholds):
        result_type, task = "reid", "re-identification"
        for name in lower:
            bounds[name] = ((), lower[name][0], upper[name][0])
        # All ranks up to the last one counted at.
        ranks = np.arange(1, tally.ranks[-1] + 1) if len(tally.ranks) else tally.ranks
        known = rate(np.append(0, tally.first.cumsum()[:-1]), tally.queries)
        before = np.searchsorted(tally.ranks, ranks, side="right")
        after = np.searchsorted(tally.ranks, ranks) + 1
        bounds["cmc"] = ("rank",), known[before], known[after]
        coordinates["rank"] = ranks
        variables["not_in_gallery"] = tally.open_queries
    else:
        result_type, task = "gom", "GOM"
        for name in lower:
            bounds[name] = (("threshold",), lower[name], upper[name])
        coordinates["threshold"] = tally.thresholds
        low, high = summary(tally.thresholds, lower), summary(tally.thresholds, upper)
        for name in ("mrep_area", "mfr_area", "max_mrep", "max_mvp"):
            bounds[name] = ((), low[name], high[name])
        variables["open_queries"] = tally.open_queries
    variables |= {**bounded_variables(bounds), "queries": tally.queries, "skipped": tally.skipped}
    attrs = about_attrs(tally.about, result_type, task, [Message("means-within-bounds")])
    attrs["rules"] = tally.rules
    return build(variables, with_bounds(REID | GOM), coordinates, attrs)


def dataset(tally: Folded, node: str, options: dict[str, Any]) -> xr.Dataset:
    """Return the result of folded counts; `node` is the task, such as ``"open_set"``."""
    if isinstance(tally, FoldedQueries):
        return folded_queries(tally)
    if isinstance(tally, FoldedVerification):
        return folded_verification(tally, **options)
    make = folded_open_set if node == "open_set" else folded_closed_set
    return make(tally, **options)


def scalars(tally: Folded, node: str, options: dict[str, Any]) -> Scalars:
    """Return the numbers of the result of some counts."""
    return Scalars.of_dataset(dataset(tally, node, options))


def with_intervals(
    dataset: xr.Dataset,
    counts: TaskCounts,
    counter: Any,
    reader: BlockReader,
    options: IntervalOptions,
) -> Message:
    """Return that the result has no confidence intervals."""
    return Message("no-interval-of-folded-counts")

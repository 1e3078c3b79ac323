"""Re-identification and GOM folded into counts of queries: the counts, and bounds of the means."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, ProtocolError
from bioeval.results.bounded import Bounded, bounded_variables, with_bounds
from bioeval.results.dataset import Variables, about_attrs, build, rate
from bioeval.results.gom import GOM, GomOptions, gom_measures, summary
from bioeval.results.query_means import QueryMean
from bioeval.results.reid import REID, ReidOptions, reid_measures
from bioeval.tallies.folded import FoldedQueries, value_counts
from bioeval.tallies.reid_counts import GomTally, ReidTally

NO_MEANS = (
    "queries are counted by hundredths of each value: means lie within the bounds ..._at_least "
    "and ..._at_most"
)

_NAMES = with_bounds(REID | GOM) | REID | GOM


def fold_reid(tally: ReidTally, options: dict[str, Any], ranks: np.ndarray) -> FoldedQueries:
    """Return the queries of re-identification by AP, INP and the rank of the first match."""
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
    return _folded(
        tally,
        ("reid", *rules),
        {name: measures.means[name] for name in ("mean_ap", "mean_inp")},
        np.empty(0),
        (ranks, first),
        (counted, int((~tally.enrolled).sum()), len(curve.counted) - counted),
    )


def fold_gom(tally: GomTally, options: dict[str, Any], thresholds: Any) -> FoldedQueries:
    """Return the queries of GOM by ReP, VP and FR at thresholds of the tally; None: at all."""
    chosen = GomOptions(**options)
    taus = tally.thresholds if thresholds is None else np.asarray(thresholds)
    at = np.searchsorted(tally.thresholds, taus)
    if (tally.thresholds[np.minimum(at, len(tally.thresholds) - 1)] != taus).any():
        raise ProtocolError(
            "GOM was not counted at these thresholds (on the scale of its distances); give "
            f"{Argument('thresholds')} among those of the tally"
        )
    means = gom_measures(tally, chosen).means
    rules = [tally.convention, tally.removed, tally.junk, tally.variant, f"B = {chosen.budget}"]
    scale = f"{tally.low!r} to {tally.high!r}"
    found, absent = tally.matches.counts > 0, ~tally.enrolled
    return _folded(
        tally,
        ("gom", *rules, chosen.ties, scale),
        {
            name: QueryMean(x.counted, x.query, x.values[:, at])
            for name, x in means.items()
            if name in ("mrep", "mvp", "mfr")
        },
        taus,
        (np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)),
        (
            int(means["mrep"].counted.sum()),
            int(absent.sum()),
            int((~found & ~absent).sum()),
        ),
    )


def _folded(
    tally: ReidTally | GomTally,
    rules: tuple[str, ...],
    means: dict[str, QueryMean],
    thresholds: np.ndarray,
    ranked: tuple[np.ndarray, np.ndarray],
    numbers: tuple[int, int, int],
) -> FoldedQueries:
    rows = [row for mean in means.values() for row in _rows(mean)]
    values = np.array(rows).reshape(len(rows), -1)
    ranks, first = ranked
    queries, open_queries, skipped = numbers
    return FoldedQueries(
        about=tally.about,
        rules=" | ".join(rules),
        measures=tuple(means),
        thresholds=thresholds.astype(np.float64),
        values=values,
        ends=np.ones(values.shape, dtype=bool),
        ranks=ranks,
        first=first,
        queries=queries,
        open_queries=open_queries,
        skipped=skipped,
    )


def _rows(mean: QueryMean) -> list[np.ndarray]:
    """Return the queries by value, at each threshold where there are any."""
    without = int(mean.counted.sum()) - len(mean.query)
    found = []
    columns = mean.values.T if mean.values.ndim > 1 else mean.values[None]
    for values in columns:
        counts = value_counts(values)
        counts[0] += without
        found.append(counts)
    return found


def folded_queries(tally: FoldedQueries) -> xr.Dataset:
    """Return CMC at the ranks, and bounds of the means over queries."""
    bounds = tally.mean_bounds()
    means = not len(tally.thresholds)
    given: dict[str, Bounded] = {
        name: ((), low[0], high[0]) if means else (("threshold",), low, high)
        for name, (low, high) in bounds.items()
    }
    coordinates: dict[str, np.ndarray] = {}
    variables: Variables = {}
    if means:
        coordinates["rank"] = tally.ranks
        variables["cmc"] = ("rank",), rate(tally.first.cumsum()[:-1], tally.queries)
        variables["not_in_gallery"] = tally.open_queries
    else:
        coordinates["threshold"] = tally.thresholds
        ends = [
            summary(tally.thresholds, {name: each[i] for name, each in bounds.items()})
            for i in (0, 1)
        ]
        areas = ("mrep_area", "mfr_area", "max_mrep", "max_mvp")
        given |= {name: ((), ends[0][name], ends[1][name]) for name in areas}
        variables["open_queries"] = tally.open_queries
    variables |= {
        **bounded_variables(given),
        "queries": tally.queries,
        "skipped": tally.skipped,
    }
    task = "re-identification" if means else "GOM"
    attrs = about_attrs(tally.about, task, [NO_MEANS]) | {"rules": tally.rules}
    return build(variables, _NAMES, coordinates, attrs)

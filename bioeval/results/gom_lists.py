"""GOM of top-K lists: exact at thresholds that the lists reach beyond, bounds at the others.

A list holds all entries within its last distance, and nothing is known of the others but that they
are not closer. At a threshold that a list does not reach beyond, any of the unlisted entries may be
retrieved, in any order behind those that are listed.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.protocol.reid import Convention
from bioeval.results.bounded import Bounded, bounded_variables, with_bounds
from bioeval.results.dataset import about_attrs, build, rate
from bioeval.results.gom import GOM, GomOptions, missing_warnings, summary
from bioeval.results.query_means import MatchCurve, QueryMean, RetrievedSets, cut_warnings
from bioeval.results.top_k import junk_codes, listed_matches
from bioeval.scores.provenance import describe
from bioeval.scores.top_k import TopKScores
from bioeval.tallies.reid_counts import MatchLists
from bioeval.tallies.reid_jobs import unscaled

_NAMES = with_bounds(GOM)


def gom_of_lists(
    scores: TopKScores,
    rules: Convention,
    options: GomOptions,
    thresholds: np.ndarray,
    scale: bool | tuple[float, float],
) -> xr.Dataset:
    """Return the measures of GOM of top-K lists; see :func:`bioeval.gom`.

    `scale` are the distances that become 0 and 1, or False where they stay as they are.
    """
    _require_supported(options, scale)
    ends = scale if isinstance(scale, tuple) else (0.0, 1.0)
    found = _RetrievedLists(scores, rules, thresholds, ends)
    measures = found.measures(options)
    over = ("threshold",)
    given: dict[str, Bounded] = {}
    means = [
        {name: mean(side) for name, mean in measures.items()} for side in (found.least, found.most)
    ]
    scalars = ("mean_ap", "mean_inp")
    for name in measures:
        dims = () if name in scalars else over
        given[name] = dims, means[0][name], means[1][name]
    summaries = [summary(thresholds, each) for each in means]
    areas = ("mrep_area", "mfr_area", "max_mrep", "max_mvp", "max_f1")
    given |= {name: ((), summaries[0][name], summaries[1][name]) for name in areas}
    given["micro_f1"] = over, *found.micro_f1()
    given["tau_nz"] = (), summaries[1]["tau_nz"], summaries[0]["tau_nz"]
    given |= found.identified(options.max_rank)
    if options.per_query:
        for name in ("rp", "vp", "rep", "fr"):
            each = measures[f"m{name}"].each
            given[name] = ("probe", "threshold"), each(found.least), each(found.most)
    variables = bounded_variables(given)
    for name, of in (("tau_max", "mrep"), ("tau_f1", "f1")):
        if (place := _first_largest(means[0][of], means[1][of])) is not None:
            variables[name] = thresholds[place]
    known, absent = found.positives > 0, ~found.enrolled
    variables |= {
        "queries": known.sum(),
        "open_queries": absent.sum(),
        "skipped": (~known & ~absent).sum(),
        "removed": (scores.gallery_size - found.candidates).sum(),
    }
    notes = missing_warnings(known, absent, options.variant)
    if cut := found.cut:
        notes.append(
            f"{cut} of {len(known)} queries retrieve all {scores.depth} entries of their list at "
            "some threshold: from there on, rates are bounds ..._at_least and ..._at_most"
        )
    notes += cut_warnings(found.positives, scores.depth, "positives")
    attrs = about_attrs(describe(scores), "GOM", notes) | {
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
    return build(variables, _NAMES, coordinates, attrs)


def _require_supported(options: GomOptions, scale: bool | tuple[float, float]) -> None:
    """Raise :class:`ProtocolError` for what top-K lists do not determine."""
    if scale is True:
        raise ProtocolError(
            "top-K lists do not have the largest distance, needed to normalise; give "
            f"{Argument('normalize')} = (low, high), the smallest and the largest distance of "
            "the whole. False takes distances as they are (in a card, "
            'distances = "as-given")'
        )
    for name, word in (("variant", "paper"), ("ties", "stable")):
        if (found := getattr(options, name)) != word:
            raise ProtocolError(
                f"top-K lists do not determine GOM with {Argument(name, found)}; give "
                f"{Argument(name, word)}, or a matrix of scores"
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
        self.sides = [QueryMean(counted, np.flatnonzero(counted), x[counted]) for x in (low, high)]

    def __call__(self, side: int) -> np.ndarray:
        """Return the mean on a side."""
        return self.sides[side].mean

    def each(self, side: int) -> np.ndarray:
        """Return the value of each query on a side."""
        return self.sides[side].each


class _RetrievedLists:
    """Retrieved entries of each query within each threshold, as far as its list determines them."""

    least, most = 0, 1

    def __init__(
        self,
        scores: TopKScores,
        rules: Convention,
        thresholds: np.ndarray,
        ends: tuple[float, float],
    ):
        low, high = ends
        distance, last = scores.listed_distances("GOM")
        self._require_within(scores.indices >= 0, distance, ends)
        junk = junk_codes(scores, rules.junk_ids) if rules.junk == "remove" else []
        lists = listed_matches(scores, rules.removed, junk)
        raw = unscaled(thresholds, low, high - low)
        self.thresholds, self.last, self.raw = thresholds, last, raw
        self.positives, self.candidates = lists.positives, lists.candidates
        self.enrolled = np.isin(scores.codes.probe, scores.codes.gallery)
        self.first, self.hits, self.listed = lists.first, lists.listed, lists.depth
        self.unlisted_matches = lists.positives - lists.listed
        self.others = lists.candidates - lists.depth - self.unlisted_matches
        shape = len(last), len(raw) + 1
        row, _ = np.nonzero(lists.kept)
        flat = row * shape[1] + np.searchsorted(raw, distance[lists.kept])
        within = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
        self.retrieved = within.cumsum(axis=1)[:, :-1]
        ranks, starts = lists.ranks[lists.hits], np.concatenate([[0], np.cumsum(lists.listed)])
        none = np.zeros_like(ranks)
        matches = (distance[lists.hits] - low) / (high - low)
        self.matches = MatchLists(starts, matches, none, none, none)
        self.matches.closer = ranks - self.matches.order
        self.ranks = ranks
        unknown = (self.unlisted_matches + self.others > 0)[:, None]
        self.open = (last[:, None] <= raw) & unknown

    @staticmethod
    def _require_within(
        listed: np.ndarray, distance: np.ndarray, ends: tuple[float, float]
    ) -> None:
        """Raise :class:`DataError` where a listed distance is beyond those of the scale."""
        finite = distance[listed & np.isfinite(distance)]
        least, most = finite.min(initial=np.inf), finite.max(initial=-np.inf)
        if ends != (0.0, 1.0) and (least < ends[0] or most > ends[1]):
            raise DataError(
                f"{Argument('normalize')} is ({ends[0]:g}, {ends[1]:g}), but the listed distances "
                f"reach from {float(least)!r} to {float(most)!r}; give the smallest and the "
                "largest of the whole"
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
        total, shape = int(known.sum()), (len(self.raw) + 1, max_rank + 1)

        def counts(place: np.ndarray, rank: np.ndarray) -> np.ndarray:
            flat = place * shape[1] + np.minimum(rank, shape[1]) - 1
            found = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
            return found.cumsum(axis=0).cumsum(axis=1)[:-1, :-1]

        first, nearest = self.first[listed], self.listed[lost] + 1
        least = counts(place, first)
        most = counts(np.append(place, behind), np.append(first, nearest))
        curves = [
            MatchCurve(known, np.append(listed, lost), np.append(first, rank), np.ones(total))
            for rank in (nearest + self.others[lost], nearest)
        ]
        low, high = (rate(curve.counts(max_rank), total) for curve in curves)
        return {
            "dir": (("threshold", "rank"), rate(least, total), rate(most, total)),
            "cmc": (("rank",), low, high),
        }

    @property
    def beyond(self) -> tuple[np.ndarray, np.ndarray]:
        """The unlisted matches and others that may be within each threshold, of each query."""
        matches, others = self.unlisted_matches[:, None], self.others[:, None]
        return np.where(self.open, matches, 0), np.where(self.open, others, 0)

    @cached_property
    def sets(self) -> RetrievedSets:
        """The listed entries within each threshold."""
        return RetrievedSets(self.matches, self.retrieved, self.thresholds)

    def micro_f1(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of F1 of the entries of all queries together."""
        (u, v), hits, listed = self.beyond, self.sets.hits, self.retrieved
        found, whole = hits.sum(axis=0), listed.sum(axis=0) + self.positives.sum()
        more = u.sum(axis=0)
        with np.errstate(invalid="ignore"):
            return 2 * found / (whole + v.sum(axis=0)), 2 * (found + more) / (whole + more)

    def measures(self, options: GomOptions) -> dict[str, _Measure]:
        """Return the measures of GOM that are means over queries."""
        sets, positives, some = self.sets, self.positives[:, None], self.positives > 0
        (u, v), hits, listed = self.beyond, self.sets.hits, self.retrieved
        precision = self.matches.order / self.ranks
        sums = sets.sums(precision)
        all_sums = np.bincount(self.matches.query, precision, minlength=len(some))
        near = _UnlistedMatches(self.listed, self.hits, self.unlisted_matches)
        far = _UnlistedMatches(self.listed + self.others, self.hits, self.unlisted_matches)
        with np.errstate(invalid="ignore", divide="ignore"):
            rp = np.where(hits > 0, sums / hits, 0.0)
            vp = hits / (listed - hits + positives)
            rep = np.sqrt(rp * vp)
            full = near.added_to(all_sums) / self.positives
            complete = self.unlisted_matches == 0
            best_rp = np.maximum(np.where(self.hits > 0, all_sums / self.hits, 0.0), full)
            worst_rp = far.smallest_mean(self.hits, all_sums)
            most_sums = sums + np.where(u > 0, near.total[:, None], 0.0)
            sides = [
                {
                    "rp": np.where(self.open & (u > 0), end_rp[:, None], rp),
                    "vp": found / (listed + wrong - hits + positives),
                    "rep": np.where(
                        self.open, np.sqrt(end_sums / (listed + wrong - hits + positives)), rep
                    ),
                    "precision": np.where(taken > 0, found / taken, 0.0),
                    "recall": found / positives,
                    "f1": 2 * found / (taken + positives),
                }
                for found, wrong, taken, end_rp, end_sums in (
                    (hits, v, listed + v, worst_rp, sums),
                    (hits + u, np.zeros_like(v), listed + u, best_rp, most_sums),
                )
            ]
            last = np.zeros(len(some))
            last[self.hits > 0] = self.ranks[self.matches.starts[1:][self.hits > 0] - 1]
            behind = self.listed + self.unlisted_matches
            inp = [self.positives / np.where(complete, last, behind + x) for x in (self.others, 0)]
            ap = [x.added_to(all_sums) / self.positives for x in (far, near)]
        absent, budget = ~self.enrolled, options.budget
        something, more = listed > 0, listed + u + v > 0
        names = {"rp": "mrp", "vp": "mvp", "rep": "mrep"}
        found: dict[str, _Measure] = {
            names.get(name, name): _Measure(some, *(side[name] for side in sides))
            for name in sides[0]
        }
        return found | {
            "mfr": _Measure(
                absent, np.minimum(listed / budget, 1.0), np.minimum((listed + u + v) / budget, 1.0)
            ),
            "far": _Measure(absent, something, more),
            "ttr": _Measure(some, something, more),
            "ttr_identity": _Measure(some, hits > 0, hits + u > 0),
            "ftr": _Measure(absent, something, more),
            "mean_ap": _Measure(some, *ap),
            "mean_inp": _Measure(some, *inp),
        }

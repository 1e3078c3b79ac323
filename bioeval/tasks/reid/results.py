"""Re-identification: CMC, mAP and mINP under a convention, and GOM within a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any
from warnings import warn

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, ProtocolError, counted, received
from bioeval.base.kinds import larger_is_closer
from bioeval.base.messages import Message, MessageWarning, messages_of
from bioeval.base.version import __version__
from bioeval.counting.identification import ENDS
from bioeval.counting.thresholds import check_thresholds, to_user
from bioeval.results.dataset import about_attrs, dataset, rate
from bioeval.results.query_means import (
    OF_MATCH,
    OF_QUERY,
    OF_RANK,
    MatchCurve,
    QueryMean,
    QueryMeasures,
)
from bioeval.results.support import rank_message, tie_message
from bioeval.results.variables import GOM, GOM_MEANS, QUERY_MEANS, REID
from bioeval.tasks.reid.counts import GomCounts, ReidCounts
from bioeval.tasks.reid.matches import (
    TENTHS,
    MatchLists,
    RetrievedSets,
    average_precision,
    counted_places,
    cut_average_precision,
    cut_messages,
    first_places,
    interpolated_precision,
    match_places,
    match_sum,
    over_smaller,
    ranks_of,
)


def reid_dataset(counts: ReidCounts, *, per_query: bool = False) -> xr.Dataset:
    """Return the measures of re-identification; see :func:`bioeval.reid`."""
    rules = counts.rules
    ties, max_rank = rules.ties, rules.max_rank
    matched = counts.matches.counts > 0
    total, valid = len(matched), int(matched.sum())
    in_means = _counted(counts, counts.matches)
    queries = int(in_means.sum())
    ambiguous = _ambiguous(counts)

    measures = reid_measures(counts)
    counted = measures.cmc.counts(max_rank)
    if ties != "expected" and rules.cmc not in ("allshots", "single-gallery-shot"):
        counted = np.rint(counted).astype(np.int64)
    absent = int(counts.absent.sum())
    left_out = int(counts.left_out.sum())
    variables = {
        "cmc": (("rank",), rate(counted, int(measures.cmc.counted.sum()))),
        "cmc_count": (("rank",), counted),
        **{name: (_OVER.get(name, ()), x.mean) for name, x in measures.means.items()},
        **{name: (("rank",), x.means(max_rank)) for name, x in measures.curves.items()},
        "queries": queries,
        "skipped": total - left_out - queries,
        "unmatched": total - left_out - valid,
        "not_in_gallery": absent,
        "left_out": left_out,
        "removed": counts.removed_entries.sum(),
        "tied": ambiguous,
    }
    if counts.cmc_matches is not None:
        variables["cmc_queries"] = int(measures.cmc.counted.sum())
    if counts.about.people:
        variables["subjects"] = len(np.unique(counts.subject_of_query[in_means]))
    coordinates = {"rank": np.arange(1, max_rank + 1), "recall_level": RECALL_LEVELS}
    if (sets := _sets(counts)) is not None and counts.thresholds is not None:
        variables["micro_f1"] = ("threshold",), _in_order(sets.micro_f1(), counts)
        coordinates["threshold"] = _in_order(to_user(counts.thresholds, counts.about.kind), counts)
    if per_query:
        of_cmc = _matches_of_cmc(counts)
        query, rank, weight = first_places(of_cmc, ties)
        sums = np.bincount(query, rank * weight, minlength=total)
        first = np.where(of_cmc.counts > 0, sums, np.nan)
        for name, of_query in OF_QUERY.items():
            if name in measures.means:
                variables[of_query] = ("probe",), measures.means[name].each
        variables["first_match_rank"] = ("probe",), first
        variables["matches"] = ("probe",), counts.matches.counts
        variables["removed_entries"] = ("probe",), counts.removed_entries
        coordinates["probe"] = np.arange(total)
        if counts.labels is not None:
            variables["identity"] = ("probe",), counts.labels
        if counts.names is not None:
            variables["template"] = ("probe",), np.array(counts.names, dtype=str)
    messages = [*_tie_messages(counts)]
    if ties == "expected" and ambiguous:
        undefined = ["mAP", *(QUERY_MEANS[x].label for x in OF_MATCH if x not in OF_RANK)]
        undefined.append("interpolated precision")
        messages.append(Message("expected-ties", queries=ambiguous, measures=undefined))
    if rules.rank_k is not None:
        messages += cut_messages(counts.matches.counts, rules.rank_k, rules.rank_k_over)
    messages += _unmatched(total - left_out, valid, absent, rules.unmatched, rules.ap_removed)
    if valid and not _matches_of_cmc(counts).counts.any():
        consequence = "the CMC is not defined"
        messages.append(no_match(total - left_out, absent, rules.removed, consequence))
    attrs = about_attrs(counts.about, "reid", "re-identification", messages)
    attrs |= {**rules.attrs(), "ties": ties}
    names = REID
    if rules.cmc in ("single-gallery-shot", "identity-dedup"):
        words = f"{REID['cmc'].long_name}; on one entry of each identity, other measures on all"
        names = REID | {"cmc": replace(REID["cmc"], long_name=words)}
    return dataset(variables, names, coordinates, attrs)


#: The recall levels of interpolated precision.
RECALL_LEVELS = np.arange(TENTHS + 1) / TENTHS

#: Dimensions of means that are not single numbers.
_OVER = {
    "interpolated_precision": ("recall_level",),
    **dict.fromkeys(("precision", "recall", "f1"), ("threshold",)),
}


def reid_measures(counts: ReidCounts, *, curves: bool = True) -> QueryMeasures:
    """Return the measures of re-identification, by the contribution of each query.

    Without `curves`, of those that are curves the CMC alone.
    """
    matches, rules = counts.matches, counts.rules
    counted = _counted(counts, matches)
    cmc, means = _curve(counts), _means(counts, counted)
    if not curves:
        return QueryMeasures(cmc, means)
    query = np.flatnonzero(matches.counts)
    levels = np.full((len(counted), TENTHS + 1), np.nan)
    if rules.ties != "expected" or not _ambiguous(counts):
        levels = interpolated_precision(matches, _plain(rules.ties))
    means["interpolated_precision"] = QueryMean(counted, query, levels[query])
    over_ranks = ranked_curves(
        matches,
        counted,
        rules.ties,
        rules.max_rank,
        matches.counts,
        precision_over=rules.precision_over,
    )
    return QueryMeasures(cmc, means, over_ranks)


def _plain(ties: str) -> str:
    """Return a policy for lists without ties under expected ones: all are the same there."""
    return "stable" if ties == "expected" else ties


def _matches_of_cmc(counts: ReidCounts) -> MatchLists:
    """Return the matches on the list of the CMC."""
    return counts.matches if counts.cmc_matches is None else counts.cmc_matches


def _counted(counts: ReidCounts, matches: MatchLists) -> np.ndarray:
    """Return which queries are in the means over a list: those with a match on it, or all."""
    return (matches.counts > 0) | ((counts.rules.unmatched == "zero") & ~counts.left_out)


def ranked_curves(
    matches: MatchLists,
    counted: np.ndarray,
    ties: str,
    max_rank: int,
    positives: np.ndarray,
    *,
    precision_over: str,
) -> dict[str, MatchCurve]:
    """Return precision and recall over the ranks; `positives` are the matches in the gallery."""
    query, rank, weight = match_places(matches, ties, max_rank)
    precision = MatchCurve(counted, query, rank, weight, per_rank=True)
    if precision_over == "smaller":
        numbers = np.where(counted, positives, 0)
        precision = MatchCurve(counted, *over_smaller(query, rank, weight, numbers, max_rank))
    return {
        "precision_at_k": precision,
        "recall_at_k": MatchCurve(counted, query, rank, weight / positives[query]),
    }


def _ambiguous(counts: ReidCounts) -> int:
    """Return the number of queries with a non-match tied with one of their matches."""
    return len(np.unique(counts.matches.query[counts.matches.tied > 0]))


def _tie_messages(counts: ReidCounts) -> Iterator[Message]:
    """Yield the messages of mAP and of the CMC where the order of equal scores decides them."""
    lists, rules = counts.matches, counts.rules
    if rules.ap != "tied-once":
        yield from precision_message(lists, _counted(counts, lists), rules.ap)

    def curve(ties: str) -> np.ndarray:
        at_end = replace(counts, rules=replace(rules, ties=ties))
        if counts.shots is not None:
            at_end.shots = copy(counts.shots)
            at_end.shots.at_rank = counts.shots.at_ends[:, ENDS.index(ties)]
        return _curve(at_end).means(rules.max_rank)

    if _matches_of_cmc(counts).tied.any():
        yield from rank_message("cmc", curve, CMC_WORDS)


def precision_message(
    lists: MatchLists, counted: np.ndarray, form: str = "sum"
) -> Iterator[Message]:
    """Yield the message of mAP where the order of equal scores decides it."""
    if lists.tied.any():
        ends = [average_precision(lists, ties, form)[lists.counts > 0].sum() for ties in ENDS]
        yield from tie_message("mean_ap", (rate(x, int(counted.sum())) for x in ends), "mAP")


#: The names of the CMC at rank 1 and at others in messages.
CMC_WORDS = ("the rate at rank 1", "the rate at rank")


def _means(counts: ReidCounts, counted: np.ndarray) -> dict[str, QueryMean]:
    """Return the means, curves left out; NaN if ties leave them undefined."""
    matches, rules = counts.matches, counts.rules
    ties = _plain(rules.ties)
    undefined = rules.ties == "expected" and _ambiguous(counts) > 0
    nothing = np.full(len(matches.counts), np.nan)
    values: dict[str, np.ndarray] = {"mean_ap": nothing, **dict.fromkeys(OF_MATCH, nothing)}
    if not undefined or rules.ap == "tied-once":
        values["mean_ap"] = average_precision(matches, ties, rules.ap)
    for name in OF_MATCH:
        if not undefined:
            values[name] = match_sum(matches, ties, name)
        elif name in OF_RANK:
            values[name] = match_sum(matches, "expected", name)
    if rules.rank_k is not None:
        values["rank_k_mean_ap"] = nothing
        if not undefined:
            values["rank_k_mean_ap"] = cut_average_precision(
                matches, ties, rules.rank_k, rules.rank_k_over
            )
    query = np.flatnonzero(matches.counts)
    means = {name: QueryMean(counted, query, x[query]) for name, x in values.items()}
    if (sets := _sets(counts)) is not None:
        for name, mean in sets.measures(counted).items():
            means[name] = replace(mean, values=_in_order(mean.values, counts))
    return means


def _sets(counts: ReidCounts) -> RetrievedSets | None:
    """Return the measures of entries retrieved within thresholds, if these were counted."""
    if counts.thresholds is None or counts.retrieved is None:
        return None
    return RetrievedSets(counts.matches, counts.retrieved, counts.thresholds)


def _in_order(values: np.ndarray, counts: ReidCounts) -> np.ndarray:
    """Return values over increasing distances in the order of the user's thresholds."""
    return values[..., ::-1] if larger_is_closer(counts.about.kind) else values


def warn_of_cut_lists(result: xr.Dataset) -> None:
    """Warn where a query has more matches than fit into a list cut at rank K."""
    from bioeval.views.messages import sentence_about

    for message in messages_of(result.attrs):
        if message.code == "more-matches-than-places":
            warn(sentence_about(message), MessageWarning, stacklevel=3)


def require_matches(dataset: xr.Dataset) -> None:
    """Raise :class:`ProtocolError` with the reason if no query has a match for mAP."""
    from bioeval.views.messages import sentence_about

    if int(dataset["unmatched"]) + int(dataset["left_out"]) < int(dataset.attrs["probes"]):
        return
    message = next(x for x in messages_of(dataset.attrs) if x.code == NO_MATCH)
    raise ProtocolError(sentence_about(message))


#: The message of results in which no query has a match.
NO_MATCH = "no-query-with-match"


def no_match(queries: int, absent: int, rule: str, consequence: str) -> Message:
    """Return why no query has a match; `queries` are those that are no junk."""
    if not queries:
        why = "all queries are junk or distractors; give queries of people"
    elif absent == queries:
        why = (
            f"no identity of the {counted(queries, 'queries')} is in the gallery; check that both "
            "sides use the same labels"
        )
    else:
        why = (
            f"all matches of {queries - absent:,} of {counted(queries, 'queries')} are removed "
            f"({rule}) or failed, and {absent:,} have none in the gallery; check the cameras, and "
            "if all images are of one camera, choose a convention that removes none, such as "
            "vehicleid"
        )
    return Message(NO_MATCH, why=why, consequence=consequence)


def _curve(counts: ReidCounts) -> MatchCurve:
    """Return the counted matches of the queries on the list of the CMC."""
    over, rules = _matches_of_cmc(counts), counts.rules
    counted = _counted(counts, over)
    ties, max_rank = rules.ties, rules.max_rank
    if rules.cmc == "single-gallery-shot":
        assert counts.shots is not None
        query, place = np.indices((len(counted), max_rank)).reshape(2, -1)
        return MatchCurve(counted, query, 1 + place, counts.shots.at_rank[:, :max_rank].reshape(-1))
    if rules.cmc == "identity-dedup":
        assert counts.identities is not None
        query, facts = np.flatnonzero(over.counts), counts.identities
        closer, tied, before = facts.closer[query], facts.tied[query], facts.before[query]
        if ties == "expected":
            if tied.any():
                raise ProtocolError(
                    f"{int((tied > 0).sum())} queries have ties: a CMC over distinct identities "
                    "is not offered under expected ties; choose stable, pessimistic or optimistic"
                )
            ties = "stable"
        behind = {"pessimistic": tied, "optimistic": np.zeros_like(tied), "stable": before}
        return MatchCurve(counted, query, 1 + closer + behind[ties], np.ones(len(closer)))
    places = counted_places if rules.cmc == "allshots" else first_places
    return MatchCurve(counted, *places(over, ties))


def _unmatched(total: int, valid: int, absent: int, unmatched: str, rule: str) -> list[Message]:
    """Return messages of queries without a match, if there are any."""
    if not valid:
        consequence = "nothing can be ranked"
        if total and unmatched != "skip":
            consequence += ", and every mean is 0"
        return [no_match(total, absent, rule, consequence)]
    if valid == total:
        return []
    treatment = "left out" if unmatched == "skip" else "counted as 0 in every mean"
    return [without_match(absent, total - valid - absent, treatment)]


def without_match(absent: int, removed: int, treatment: str) -> Message:
    """Return how queries are treated whose matches are absent, or all removed."""
    whys = [f"{absent:,} not in the gallery"] if absent else []
    whys += [f"all matches of {removed:,} are removed"] if removed else []
    about = {"queries": absent + removed, "why": ", ".join(whys), "treatment": treatment}
    return Message("queries-without-match", **about)


# Curves may be published with two decimals.
_ROUNDED = 0.006


def gom_dataset(counts: GomCounts, *, per_query: bool = False) -> xr.Dataset:
    """Return the measures of GOM; see :func:`bioeval.gom`."""
    task, tau, matches = counts.task, counts.thresholds, counts.matches
    max_rank, variant = task.max_rank, task.variant
    matched, absent = matches.counts > 0, counts.absent
    measures = _over_distances(counts)
    cmc = measures.cmc
    means = {name: measure.mean for name, measure in measures.means.items()}
    within = np.searchsorted(tau, matches.distance[matches.starts[cmc.query]])
    kept = (within < len(tau)) & (cmc.rank <= max_rank)
    flat = within[kept] * max_rank + cmc.rank[kept] - 1
    identified = np.bincount(flat, minlength=len(tau) * max_rank).reshape(len(tau), max_rank)
    identified = identified.cumsum(axis=0).cumsum(axis=1)
    valid = int(matched.sum())
    single = {name: means.pop(name) for name in GOM_MEANS}
    means["micro_f1"] = RetrievedSets(
        counts.matches, counts.retrieved, counts.thresholds
    ).micro_f1()
    variables = {
        **{name: (("threshold",), values) for name, values in means.items()},
        "dir": (("threshold", "rank"), rate(identified, valid)),
        **summary_over_thresholds(tau, means),
        **single,
        "cmc": (("rank",), rate(cmc.counts(max_rank), valid)),
        "queries": measures.means["mrep"].counted.sum(),
        "open_queries": absent.sum(),
        "skipped": (~matched & ~absent & ~counts.left_out).sum(),
        "left_out": counts.left_out.sum(),
        "removed": counts.removed_entries.sum(),
    }
    coordinates = {"threshold": tau, "rank": np.arange(1, max_rank + 1)}
    if per_query:
        for name in ("rp", "vp", "rep", "fr"):
            variables[name] = (("probe", "threshold"), measures.means[f"m{name}"].each)
        coordinates["probe"] = np.arange(len(matched))
    kept = ~counts.left_out
    messages = [*precision_message(matches, matched | (variant == "reference") & kept)]
    if matches.tied.any():

        def curve(ties: str) -> np.ndarray:
            return MatchCurve(matched, *first_places(matches, ties)).means(max_rank)

        messages += rank_message("cmc", curve, CMC_WORDS)
    messages += missing_messages(matched[kept], absent[kept], variant, counts.rules.removed)
    attrs = about_attrs(counts.about, "gom", "GOM", messages)
    attrs |= {
        "variant": variant,
        "budget": int(task.budget),
        "ties": task.ties,
        "normalised_low": float(counts.low),
        "normalised_high": float(counts.high),
        "normalised_span": float(counts.high - counts.low),
        "convention": counts.rules.name,
        "removes": counts.rules.removed,
        "junk": counts.rules.junk_in_words,
    }
    return in_units_of_user(dataset(variables, GOM, coordinates, attrs))


def is_turned(kind: str, low: float, high: float) -> bool:
    """Whether thresholds of GOM are similarities: those of similarities that are not scaled."""
    return larger_is_closer(kind) and (low, high) == (0.0, 1.0)


def in_units_of_user(dataset: xr.Dataset) -> xr.Dataset:
    """Return measures of GOM over thresholds in the unit of the scores, if these are not scaled."""
    attrs = dataset.attrs
    if not is_turned(attrs["kind"], attrs["normalised_low"], attrs["normalised_high"]):
        return dataset
    turned = dataset.isel(threshold=slice(None, None, -1))
    for name in ("threshold", "tau_max", "tau_nz", "tau_f1"):
        if name in turned:
            turned[name] = turned[name].copy(data=to_user(turned[name].values, attrs["kind"]))
    return turned


def gom_measures(counts: GomCounts) -> QueryMeasures:
    """Return the measures of GOM that are means over queries; over thresholds in their order."""
    measures = _over_distances(counts)
    if not is_turned(counts.about.kind, counts.low, counts.high):
        return measures
    means = dict(measures.means)
    for name, mean in measures.means.items():
        if mean.values.ndim > 1:
            means[name] = replace(mean, values=mean.values[:, ::-1])
    return replace(measures, means=means)


def _over_distances(counts: GomCounts) -> QueryMeasures:
    """Return these means at increasing distances."""
    matches, ties = counts.matches, counts.task.ties
    matched, absent = matches.counts > 0, counts.absent
    capped = counts.task.variant == "reference"
    counted = matched | (capped & ~counts.left_out)
    sets = RetrievedSets(counts.matches, counts.retrieved, counts.thresholds)
    rp, vp = _per_threshold(sets, ties, capped=capped)
    something = counts.retrieved > 0
    nearest = np.full(len(matched), np.inf)
    nearest[matched] = matches.distance[matches.starts[:-1][matched]]
    within = matched[:, None] & (nearest[:, None] <= counts.thresholds)  # whether a match is

    def over(counted: np.ndarray, has: np.ndarray, values: np.ndarray) -> QueryMean:
        return QueryMean(counted, np.flatnonzero(has), values[has])

    means = {
        "mrp": over(counted, matched, rp),
        "mvp": over(counted, matched, vp),
        "mrep": over(counted, matched, np.sqrt(rp * vp)),
        **sets.measures(counted),
        "mfr": over(absent, absent, np.minimum(counts.retrieved / counts.task.budget, 1.0)),
        "far": over(absent, absent, something),
        "ttr": over(matched, matched, something),
        "ttr_identity": over(matched, matched, within),
        "ftr": over(absent, absent, something),
    }
    of_query = {
        "mean_ap": average_precision(matches, ties),
        "mean_inp": match_sum(matches, ties, "mean_inp"),
    }
    means |= {name: over(counted, matched, each) for name, each in of_query.items()}
    chosen, rank, weight = first_places(matches, ties)
    return QueryMeasures(MatchCurve(matched, chosen, rank, weight), means)


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
        Of distances on the scale 0 ... 1.
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
    first = threshold[0] if isinstance(threshold, (tuple, list)) and threshold else threshold
    tau = check_thresholds(threshold) if not isinstance(first, str) else None
    if not isinstance(tau, np.ndarray):
        raise DataError(
            f"threshold is {received(threshold)}; expected an increasing array of numbers, "
            "one threshold "
            "for each value of the curves"
        )
    means = {}
    for key, curve in {"mrep": mrep, "mfr": mfr, "mrp": mrp, "mvp": mvp}.items():
        if curve is not None or key in ("mrep", "mfr"):
            means[key] = _checked_curve(key, curve, len(tau))
    for key, values in means.items():
        lacking = np.isnan(values)
        if lacking.any() and (key != "mfr" or not lacking.all()):
            at = int(np.argmax(lacking))
            raise DataError(f"{key}[{at}] is NaN; expected a proportion at each threshold")
    if "mrp" in means and "mvp" in means:
        beyond = means["mrep"] - np.sqrt(means["mrp"] * means["mvp"])
        if (beyond > _ROUNDED).any():
            i = int(np.argmax(beyond))
            raise DataError(
                f"mrep[{i}] = {means['mrep'][i]:g} is larger than the root of mrp[{i}] = "
                f"{means['mrp'][i]:g} times mvp[{i}] = {means['mvp'][i]:g}; a mean of roots never "
                "is: check that the curves are of the same queries"
            )
    scalars = summary_over_thresholds(tau, means)
    if "mrp" in means and (at_one := np.flatnonzero(tau == 1.0)).size:
        scalars["mean_ap"] = means["mrp"][at_one[0]]
    variables: dict[str, Any] = {k: (("threshold",), values) for k, values in means.items()}
    variables |= scalars
    coordinates = {"threshold": tau}
    if cmc is not None:
        values = _checked_curve("cmc", cmc)
        if not (np.diff(values) >= 0).all():
            raise DataError("cmc falls, or holds NaN; expected the CMC at ranks 1, 2 ...")
        variables["cmc"], coordinates["rank"] = (("rank",), values), np.arange(1, len(values) + 1)
    attrs = {
        "result_type": "gom",
        "task": "GOM",
        "system": name,
        "origin": "curves",
        "bioeval_version": __version__,
    }
    return dataset(variables, GOM, coordinates, attrs)


def _checked_curve(name: str, values: Any, length: int | None = None) -> np.ndarray:
    """Return a curve of proportions as float64."""
    expected = "a list of proportions" if length is None else f"{length} numbers, one per threshold"
    try:
        curve = np.asarray(values)
    except ValueError as error:
        raise DataError(f"{name} is not an array: {error}; expected {expected}") from None
    right = curve.dtype.kind in "iuf" and curve.ndim == 1
    if not right or curve.size != (length or max(1, curve.size)):
        raise DataError(
            f"{name} has shape {curve.shape} and dtype {curve.dtype}; expected {expected}"
        )
    wrong = (curve < 0) | (curve > 1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"{name}[{i}] = {curve[i]:g}; expected proportions from 0 to 1 (divide per cent by 100)"
        )
    return curve.astype(np.float64)


def summary_over_thresholds(tau: np.ndarray, means: dict[str, np.ndarray]) -> dict[str, np.float64]:
    """Return areas, maxima and their thresholds of ``mvp mrep mfr f1`` over `tau`; NaN of none."""
    names = ["mrep_area", "mfr_area", "tau_max", "tau_nz", "max_mrep"]
    if "mvp" in means:
        names.append("max_mvp")
    if "f1" in means:
        names += ["max_f1", "tau_f1"]
    scalars = dict.fromkeys(names, np.float64(np.nan))
    mrep, mfr = means["mrep"], means["mfr"]
    if np.isfinite(tau).all():
        scalars["mrep_area"] = np.float64(np.trapezoid(mrep, tau))
        scalars["mfr_area"] = np.float64(np.trapezoid(mfr, tau))
    if not np.isnan(mfr).any() and (mfr > 0).any():
        scalars["tau_nz"] = tau[int(np.argmax(mfr > 0))]
    if np.isnan(mrep).any():
        return scalars
    scalars["tau_max"], scalars["max_mrep"] = tau[int(np.argmax(mrep))], mrep.max()
    if "mvp" in means:
        scalars["max_mvp"] = means["mvp"].max()
    if "f1" in means:
        scalars["max_f1"], scalars["tau_f1"] = means["f1"].max(), tau[int(np.argmax(means["f1"]))]
    return scalars


def _per_threshold(sets: RetrievedSets, ties: str, *, capped: bool) -> tuple[np.ndarray, ...]:
    """Return RP and VP of each query at each threshold."""
    matches, hits = sets.matches, sets.hits
    ranks = ranks_of(matches, ties)
    listed = sets.retrieved.astype(np.float64)
    if capped:
        last = np.zeros(len(listed))
        some = matches.counts > 0
        last[some] = ranks[matches.starts[1:][some] - 1]
        listed = np.minimum(listed, last[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        rp = np.where(hits > 0, sets.sums(matches.order / ranks) / hits, 0.0)
        return rp, hits / (listed - hits + sets.positives)


def missing_messages(
    matched: np.ndarray, absent: np.ndarray, variant: str, rule: str
) -> list[Message]:
    """Return messages of queries in no mean, and of measures without a query."""
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

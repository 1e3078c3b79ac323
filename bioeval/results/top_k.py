"""What a top-K list supports: CMC and average precision, exactly, as far down as it goes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import BioevalWarning, DataError, ProtocolError, require_choice, subject
from bioeval.base.variables import TOP_K
from bioeval.protocol.reid import Convention, cameras_of
from bioeval.results.dataset import about_attrs, build, rate
from bioeval.scores.about import describe
from bioeval.scores.labels import Codes
from bioeval.scores.top_k import TopKScores
from bioeval.tallies.reid_lists import require_ranks

if TYPE_CHECKING:
    import xarray as xr

REMOVED = ("same-id-same-camera", "same-camera", "none")


def top_k(
    scores: TopKScores,
    *,
    removed: str = "none",
    junk: str = "keep",
    junk_ids: Sequence[int] = (-1,),
    unmatched: str = "skip",
    rank_k: int | None = None,
    rank_k_over: str = "positives",
    max_rank: int | None = None,
    per_query: bool = False,
) -> xr.Dataset:
    """Evaluate top-K lists: CMC and rank-K mean average precision.

    Parameters
    ----------
    scores : TopKScores
    removed : {"none", "same-id-same-camera", "same-camera"}
        Which entries a query does not see. The rules of cameras need the metadata ``camera`` on
        both sides.
    junk : {"keep", "remove"}
        Whether entries that bear one of `junk_ids` stay as wrong entries, or leave.
    junk_ids : sequence of int
    unmatched : {"skip", "zero"}
        A query without a match in the gallery is left out of the means and counted, or counts 0.
    rank_k : int, optional
        Where the average precision of a list is cut; None takes as far as all lists are known,
        which is K where nothing is removed.
    rank_k_over : {"positives", "smaller"}
        The average precision of a cut list divides by all matches in the gallery (AI City), or
        by the smaller one of their number and `rank_k`.
    max_rank : int, optional
        The last rank of the CMC; None takes every rank that all lists tell.
    per_query : bool
        Whether to add ``rank_k_average_precision`` and ``first_match_rank`` over ``probe``.

    Returns
    -------
    xarray.Dataset
        ``cmc`` over ``rank``; scalars ``rank_k_mean_ap``, ``rank_k``, ``queries``, ``skipped``,
        ``beyond_lists``; and ``mean_ap`` and ``mean_inp`` of the whole gallery, NaN unless every
        match of every query is listed.

    Raises
    ------
    ProtocolError
        If a rank is asked for that some list does not reach, or cameras are needed and missing.
    DataError
        If an option has another value.

    Warns
    -----
    BioevalWarning
        If a query has more matches than its list has places: then even a perfect list has an
        average precision below 1.

    Notes
    -----
    A removed entry leaves its place to the next, so the ranks that a list tells become fewer.
    Definitions: Tang et al., CityFlow (CVPR 2019), "rank-K mAP"; Zheng et al. (ICCV 2015) for the
    rule of cameras; ``docs/formats.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> lists = be.TopKScores([[2, 1], [0, 1]], ["ann", "bob"], ["ann", "bob", "ann"])
    >>> found = be.top_k(lists)
    >>> found.cmc.values, float(found.rank_k_mean_ap)
    (array([0.5, 1. ]), 0.5)
    """
    if not isinstance(scores, TopKScores):
        raise DataError(f"scores is {type(scores).__name__}; expected bioeval.TopKScores")
    result = _lists_dataset(
        scores,
        removed=removed,
        junk=junk,
        junk_ids=junk_ids,
        unmatched=unmatched,
        rank_k=rank_k,
        rank_k_over=rank_k_over,
        max_rank=max_rank,
        per_query=per_query,
    )
    warn_of_short_lists(result)
    return result


#: What lists tell of a convention: the only values of these fields that they support.
_TOLD = {"cmc": "first-match", "ap": "sum", "removed_for_ap": "as-above", "ties": "stable"}


def reid_of_lists(
    scores: TopKScores,
    rules: Convention,
    *,
    max_rank: int | None = None,
    per_query: bool = False,
) -> xr.Dataset:
    """Evaluate top-K lists by a convention, as far as lists tell what it asks for.

    Parameters
    ----------
    scores : TopKScores
    rules : Convention
    max_rank : int, optional
        None takes the convention's, or as many ranks as all lists tell where these are fewer.
    per_query : bool

    Raises
    ------
    ProtocolError
        If the convention asks for what lists do not tell, or no query has a match left.
    """
    for name, word in _TOLD.items():
        if getattr(rules, name) != word:
            raise ProtocolError(
                f"the convention {rules.name} has {name} = {getattr(rules, name)!r}, which top-K "
                f"lists do not tell; they support {word!r}, or give a matrix of scores"
            )
    result = _lists_dataset(
        scores,
        removed=rules.removed,
        junk=rules.junk,
        junk_ids=rules.junk_ids,
        unmatched=rules.unmatched,
        rank_k=rules.rank_k,
        rank_k_over=rules.rank_k_over,
        max_rank=max_rank,
        per_query=per_query,
    )
    if rules.unmatched == "skip" and not int(result["queries"]):
        raise ProtocolError(
            f"none of the {len(scores.indices)} queries has a match in the gallery that the "
            f"convention leaves it (removed = {rules.removed!r}); check that both sides use the "
            "same labels, and the cameras"
        )
    if max_rank is None:
        result = result.isel(rank=slice(rules.max_rank))
    result.attrs |= {
        "convention": rules.name,
        "removes": rules.removed,
        "junk": rules.junk_in_words,
        "cmc_counts": rules.cmc,
        "ties": "listed",
        "ap": rules.ap,
        "unmatched_queries": rules.unmatched,
    }
    if rules.changed:
        result.attrs["changed"] = ", ".join(rules.changed)
    return result


def warn_of_short_lists(result: xr.Dataset) -> None:
    """Warn where a query has more matches than its list has places."""
    if int(result["beyond_lists"]):
        warnings.warn(result.attrs["warnings"].splitlines()[0], BioevalWarning, stacklevel=3)


def _lists_dataset(
    scores: TopKScores,
    *,
    removed: str,
    junk: str,
    junk_ids: Sequence[int],
    unmatched: str,
    rank_k: int | None,
    rank_k_over: str,
    max_rank: int | None,
    per_query: bool,
) -> xr.Dataset:
    """Return the measures of top-K lists; see :func:`top_k`."""
    if max_rank is not None:
        require_ranks(scores, require_integer("max_rank", max_rank, low=1))
    require_choice("removed", removed, REMOVED)
    require_choice("junk", junk, ("keep", "remove"))
    require_choice("unmatched", unmatched, ("skip", "zero"))
    require_choice("rank_k_over", rank_k_over, ("positives", "smaller"))
    found = _walk(scores, removed, _junk_codes(scores, junk_ids) if junk == "remove" else [])
    valid = found.positives > 0
    queries = int(valid.sum()) if unmatched == "skip" else len(valid)

    cmc_reach = found.reach(valid & (found.first == 0))
    last = _rank("max_rank", max_rank, cmc_reach, scores.depth)
    at_first = np.bincount(
        found.first[(found.first > 0) & (found.first <= last)], minlength=last + 1
    )
    counts = np.cumsum(at_first[1 : last + 1])

    ap_reach = found.reach(valid & (found.listed < found.positives))
    cut = _rank("rank_k", rank_k, ap_reach, scores.depth)
    total = np.where(valid, found.positives, 1)
    over = np.minimum(total, cut) if rank_k_over == "smaller" else total
    at_k = found.precisions(cut) / over

    complete = bool((found.listed >= found.positives).all())
    whole = found.precisions(None) / total
    inp = np.where(valid & (found.last > 0), total / np.maximum(found.last, 1), 0.0)
    beyond = int((found.positives > scores.depth).sum())
    skipped = int((~valid).sum())
    notes = []
    if beyond:
        notes.append(
            f"{beyond} of {len(valid)} queries have more matches in the gallery than the "
            f"{scores.depth} places of a list: even a perfect list has an average precision below 1"
        )
    if skipped:
        what = "were left out" if unmatched == "skip" else "count as 0"
        notes.append(f"{skipped} queries without a match in the gallery {what}")
    if not complete:
        notes.append("matches stand beyond the lists: mAP and mINP of the whole gallery are NaN")
    variables = {
        "cmc": (("rank",), rate(counts, queries)),
        "cmc_count": (("rank",), counts),
        "rank_k_mean_ap": ((), rate(at_k[valid].sum(), queries)),
        "rank_k": ((), np.int64(cut)),
        "mean_ap": ((), rate(whole[valid].sum(), queries) if complete else np.nan),
        "mean_inp": ((), rate(inp[valid].sum(), queries) if complete else np.nan),
        "queries": ((), np.int64(queries)),
        "skipped": ((), np.int64(skipped)),
        "beyond_lists": ((), np.int64(beyond)),
    }
    coordinates = {"rank": np.arange(1, last + 1)}
    if per_query:
        ranks = np.where(found.first > 0, found.first, np.nan)
        variables["rank_k_average_precision"] = (("probe",), np.where(valid, at_k, np.nan))
        variables["first_match_rank"] = (("probe",), ranks)
        coordinates["probe"] = np.arange(len(valid))
    attrs = about_attrs(describe(scores), "top-K lists", notes)
    attrs |= {
        "depth": scores.depth,
        "removed": removed,
        "junk": junk,
        "unmatched": unmatched,
        "rank_k_over": rank_k_over,
    }
    return build(variables, TOP_K, coordinates, attrs)


@dataclass(frozen=True)
class _Walk:
    """What is found along each list.

    Attributes
    ----------
    hits, ranks : (q, k)
        Whether an entry is a match that the query sees, and its rank among what it sees.
    positives, listed, first, last, depth : (q,)
        Matches in the gallery; those of them that are listed; the ranks of the first and of the
        last of these, 0 without any; and how many ranks the list tells.
    """

    hits: np.ndarray
    ranks: np.ndarray
    positives: np.ndarray
    listed: np.ndarray
    first: np.ndarray
    last: np.ndarray
    depth: np.ndarray

    def reach(self, open_: np.ndarray) -> int | None:
        """Return the last rank that all lists tell; None where every rank is told.

        `open_` says of which queries something is still to be found.
        """
        return int(self.depth[open_].min()) if open_.any() else None

    def precisions(self, cut: int | None) -> np.ndarray:
        """Return the sum of the precisions at the matches, up to a rank, for each query."""
        hits = self.hits if cut is None else self.hits & (self.ranks <= cut)
        precision = np.cumsum(hits, axis=1) / np.maximum(self.ranks, 1)
        return np.where(hits, precision, 0.0).sum(axis=1)


def _walk(scores: TopKScores, removed: str, junk: list[int]) -> _Walk:
    query, gallery = scores.codes.probe, scores.codes.gallery
    index = scores.indices
    is_listed = index >= 0
    own = gallery[index] == query[:, None]
    kept = is_listed & ~np.isin(gallery, junk)[index]
    usable = ~np.isin(gallery, junk)
    size = int(max(query.max(), gallery.max())) + 1
    positives = np.bincount(gallery[usable], minlength=size)[query]
    if removed != "none":
        cameras = Codes(*cameras_of(scores), "cameras")
        same_camera = cameras.gallery[index] == cameras.probe[:, None]
        kept &= ~(same_camera & (own | (removed == "same-camera")))
        width = int(max(cameras.probe.max(), cameras.gallery.max())) + 1
        seen, count = np.unique(
            gallery[usable] * width + cameras.gallery[usable], return_counts=True
        )
        wanted = query * width + cameras.probe
        at = np.minimum(np.searchsorted(seen, wanted), len(seen) - 1)
        if len(seen):
            positives = positives - np.where(seen[at] == wanted, count[at], 0)
    hits = kept & own
    ranks = np.cumsum(kept, axis=1)
    any_hit = hits.any(axis=1)
    rows = np.arange(len(index))
    last_place = index.shape[1] - 1 - np.argmax(hits[:, ::-1], axis=1)
    return _Walk(
        hits=hits,
        ranks=ranks,
        positives=positives,
        listed=hits.sum(axis=1),
        first=np.where(any_hit, ranks[rows, np.argmax(hits, axis=1)], 0),
        last=np.where(any_hit, ranks[rows, last_place], 0),
        depth=ranks[:, -1],
    )


def _junk_codes(scores: TopKScores, junk_ids: Sequence[int]) -> list[int]:
    """Return the codes of the junk ids; labels from text files are text."""
    if isinstance(junk_ids, str) or not isinstance(junk_ids, Iterable):
        raise DataError(f"junk_ids is {junk_ids!r}; expected a sequence, such as ({junk_ids!r},)")
    found = {scores.codes.code(label) for x in junk_ids for label in (x, str(x))}
    return sorted(found - {-1})


def _rank(name: str, asked: int | None, reach: int | None, depth: int) -> int:
    """Return the rank asked for, or the last one that all lists tell."""
    if asked is None:
        if reach == 0:
            raise ProtocolError(
                f"a list of {depth} places tells no rank at all: every entry is removed for its "
                "query, or it is empty; give longer lists, or a matrix of scores"
            )
        return depth if reach is None else reach
    rank = require_integer(name, asked, low=1)
    if reach is not None and rank > reach:
        raise ProtocolError(
            f"{subject(name)} is {rank}, and some list tells {reach} ranks only (of its {depth} "
            f"places, less those removed); expected at most {reach}, longer lists, or a matrix of "
            "scores"
        )
    return rank

"""Ranked lists of a few queries, to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, counted
from bioeval.counting.thresholds import to_user
from bioeval.protocol.pairs import with_exclusions
from bioeval.results.dataset import dataset
from bioeval.results.variables import GOM, Variable, entries
from bioeval.scores.attempts import left_out_rows
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import attempted
from bioeval.scores.score_data import require_scores, require_subjects
from bioeval.tasks.reid.candidates import kept_scores
from bioeval.tasks.reid.convention import convention_of
from bioeval.tasks.reid.gom import gom

# The most queries that are drawn, and the most ranks of each.
_QUERIES = 30
_RANKS = 40

RANKED = {
    "match": Variable(
        "whether the entry at the rank is a match (1) or not (0); -1 beyond the list", "1"
    ),
    "entry_score": Variable("score of the entry at the rank; NaN beyond the list", "score"),
    "average_precision": Variable(
        "average precision of the whole list; NaN without a match", "proportion"
    ),
    **entries(GOM, "rp", "vp", "rep", "fr"),
}


def lists_of_queries(
    scores: Scores, thresholds: Sequence[float], convention: Any, budget: int | None
) -> xr.Dataset:
    """Return the list of each query, nearest first, and its measures at the thresholds."""
    require_scores(scores)
    require_subjects(scores, "a ranked list")
    queries, templates = scores.shape
    if queries > _QUERIES:
        raise DataError(
            f"ranked lists of {counted(queries, 'queries')}; expected at most {_QUERIES}: "
            "scores.select(probes=[0, 1, 2])"
        )
    options = {"convention": convention, "scaled": False, "per_query": True, "budget": budget}
    at_thresholds = gom(scores, thresholds=thresholds, **options)
    whole_lists = gom(scores, thresholds=[np.inf], **options)
    rules = convention_of(convention, ("reid", "gom"))
    compared = kept_scores(with_exclusions(scores, convention), rules)
    values = attempted(compared, 0, queries)
    left_out = left_out_rows(compared, 0, queries)
    assert left_out is not None  # the convention is a mask
    is_kept = ~left_out
    order = np.argsort(np.where(is_kept, values, np.inf), axis=1, kind="stable")[:, :_RANKS]
    is_listed = np.take_along_axis(is_kept, order, axis=1)
    same_person = scores.codes.probe[:, None] == scores.codes.gallery[order]
    score = to_user(np.take_along_axis(values, order, axis=1), scores.kind)
    entry_dims = ("probe", "rank")
    variables = {
        "match": (entry_dims, np.where(is_listed, same_person.astype(np.int64), -1)),
        "entry_score": (entry_dims, np.where(is_listed, score, np.nan)),
        "average_precision": (("probe",), whole_lists["rp"].values[:, 0]),
        **{x: (("probe", "threshold"), at_thresholds[x].values) for x in ("rp", "vp", "rep", "fr")},
    }
    coordinates = {
        "probe": np.arange(queries),
        "rank": np.arange(1, min(templates, _RANKS) + 1),
        "threshold": at_thresholds["threshold"].values,
    }
    kept_attrs = ("system", "kind", "convention", "budget", "messages")
    attrs = {name: at_thresholds.attrs[name] for name in kept_attrs}
    return dataset(
        variables,
        RANKED,
        coordinates,
        {"result_type": "ranked-lists", "task": "ranked lists", **attrs},
    )

"""Recognition rates by the view of the probe and that of the gallery, and their means."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from bioeval import DataError, Scores, closed_set
from bioeval.base import Argument, Name, report, require_callable
from bioeval.document import Message
from bioeval.results import about_attrs, along, build
from bioeval.scores import (
    BlockReader,
    FusionRule,
    Progress,
    leaves_out_attacks,
    require_scores,
    require_subjects,
    template_columns,
)
from bioeval.tallies import RankUnit, Ties

BY_VIEW = {
    "probe_view": Name("view of the probes"),
    "gallery_view": Name("view of the gallery that is searched"),
    "recognition_rate": Name(
        "proportion of the probes of a view whose best mate is at rank 1 in the gallery of a view"
    ),
    "attempts": Name("probes of a view with a usable mate in the gallery of a view", "probes"),
    "skipped": Name("probes of a view without one, left out", "probes"),
    "mean_over_other_views": Name("mean of a probe view over all other gallery views"),
    "mean_across_views": Name("mean over the pairs of two different views"),
    "mean_within_views": Name("mean over the pairs of a view and itself"),
    "pairs_across_views": Name("pairs of two different views that the mean is over", "pairs"),
}


@leaves_out_attacks
def by_view(
    scores: Scores,
    view: Any = "view",
    *,
    rank_unit: RankUnit = "template",
    fusion: FusionRule = "min",
    ties: Ties = "pessimistic",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate closed-set identification by pairs of views, as for gait: rank 1, and its means.

    Each probe searches the gallery templates of one view at a time. The means are over pairs of
    views, whatever their numbers of probes; pairs of a view and itself are left out of the mean
    across views.

    Parameters
    ----------
    scores : Scores
        A matrix with labels.
    view : str, array_like, or pair of array_like
        A metadata column that both sides have; one value a template of all-against-all scores; or
        the values of the probes and those of the gallery.
    rank_unit, fusion, ties
        As for :func:`closed_set`.
    progress : callable, optional
        Called as ``progress(pairs_done, pairs)`` with pairs of views.

    Returns
    -------
    xarray.Dataset
        Over ``probe_view, gallery_view``, each sorted: ``recognition_rate`` (of the probes of the
        view with a usable mate in that gallery; NaN without one), ``attempts`` (their number),
        ``skipped``. Over ``probe_view``: ``mean_over_other_views``. Scalars ``mean_across_views``,
        ``mean_within_views``, ``pairs_across_views``. Rates are proportions; there are no
        intervals.

    Raises
    ------
    DataError
        If there are fewer than two views, or a value is missing.
    ProtocolError
        If the scores are a list of pairs, or have no labels.

    Notes
    -----
    The protocol of CASIA-B: Yu, Tan and Tan (ICPR 2006), with means over gallery views other than
    the probe's, as in GaitSet (Chao and others, AAAI 2019). A condition of the probes, such as
    carrying a bag, is chosen before: ``scores.select(probes=condition == "bg")``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[1, 5, 6, 2], [7, 2, 1, 3]]
    >>> scores = be.Scores(d, ["ann", "bob"], ["ann", "bob", "ann", "bob"],
    ...     probe_meta={"view": [0, 90]}, gallery_meta={"view": [0, 0, 90, 90]})
    >>> ds = be.by_view(scores)
    >>> ds.recognition_rate.values
    array([[1., 0.],
           [1., 0.]])
    >>> float(ds.mean_across_views), float(ds.mean_within_views)
    (0.5, 0.5)
    """
    require_scores(scores)
    scores._require_matrix()
    require_subjects(scores, "recognition by view")
    of_probes, of_gallery = template_columns(scores, view, "view")
    probe_views, probe_code = np.unique(of_probes, return_inverse=True)
    gallery_views, gallery_code = np.unique(of_gallery, return_inverse=True)
    if len({*probe_views.tolist(), *gallery_views.tolist()}) < 2:
        raise DataError(
            Argument("view"),
            f" has the one value {probe_views.tolist()[0]!r}; expected two views or more",
        )
    shape = len(probe_views), len(gallery_views)
    rates = np.full(shape, np.nan)
    attempts, skipped = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    tell = require_callable("progress", progress) or report
    for done, place in enumerate(np.ndindex(*shape), start=1):
        part = scores.select(
            probes=np.flatnonzero(probe_code == place[0]),
            gallery=np.flatnonzero(gallery_code == place[1]),
        )
        result = closed_set(
            part, max_rank=1, rank_unit=rank_unit, fusion=fusion, ties=ties, unmated="skip"
        )
        rates[place] = result["recognition_rate"].item()
        attempts[place] = result["attempts"].item()
        skipped[place] = result["skipped"].item()
        tell(done, rates.size)
    other = probe_views.astype(object)[:, None] != gallery_views.astype(object)
    known = ~np.isnan(rates)
    messages = []
    if not known.all():
        without = int((~known).sum())
        message = Message("view-pairs-without-attempts", without=without, pairs=known.size)
        messages.append(message)
    pairs = ("probe_view", "gallery_view")
    variables: dict[str, Any] = {
        **along(pairs, recognition_rate=rates, attempts=attempts, skipped=skipped),
        "mean_over_other_views": (("probe_view",), _mean(rates, known & other, axis=1)),
        "mean_across_views": _mean(rates, known & other),
        "mean_within_views": _mean(rates, known & ~other),
        "pairs_across_views": int((known & other).sum()),
    }
    attrs = about_attrs(BlockReader(scores).about, "by-view", "recognition by view", messages)
    attrs |= {"rank_unit": rank_unit, "fusion": fusion, "ties": ties}
    if isinstance(view, str):
        attrs["view"] = view
    coordinates = {"probe_view": probe_views, "gallery_view": gallery_views}
    return build(variables, BY_VIEW, coordinates, attrs)


def _mean(rates: np.ndarray, chosen: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Return the mean of chosen rates; NaN of none."""
    number = chosen.sum(axis=axis)
    total = np.where(chosen, rates, 0.0).sum(axis=axis)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)

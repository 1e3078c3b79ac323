"""Scores in the form that plots take: counts and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError
from bioeval.counting.thresholds import to_internal
from bioeval.counting.verification import verify
from bioeval.results.attributes import about_attrs
from bioeval.results.histogram import Histogram, ScoreHistograms, edges_of
from bioeval.scores.distances import as_distances
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.rows import attempted

# About how many impostor scores are sampled.
_SAMPLED_VALUES = 1 << 16

# The fewest and the most rows that are sampled.
_SAMPLED_ROWS = (8, 128)


def histograms_of(data: Any) -> dict[str, ScoreHistograms]:
    """Return the histograms of a system's scores, or of several systems' by name."""
    is_several = isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree)
    by_name = dict(data) if is_several else {"": data}
    if not by_name:
        raise DataError("be.plot.score_distributions got an empty mapping; expected name: data")
    return {str(name): _histograms(system) for name, system in by_name.items()}


def _histograms(data: Any) -> ScoreHistograms:
    if not isinstance(data, Scores):
        raise DataError(
            f"be.plot.score_distributions got {type(data).__name__}; expected Scores, or a mapping "
            "of name to Scores"
        )
    kind = data.kind
    verified = verify(data)
    attempts = verified.attempts
    edges = edges_of(attempts.genuine)
    counts = np.diff(attempts.genuine.searchsorted(edges, side="right"))
    genuine = Histogram.of_distances(edges, counts, attempts.genuine_attempts, kind)
    if attempts.listed:
        edges = edges_of(attempts.impostor.keys)
        accepted = attempts.false_accepts(edges)
    else:
        if data.layout == "pairs":
            impostor_sample = np.sort(as_distances(data.values[None, ~data.genuine], data.kind)[0])
        else:
            probes, templates = data.shape
            number = min(probes, np.clip(_SAMPLED_VALUES // templates, *_SAMPLED_ROWS))
            rows = np.linspace(0, probes - 1, number).astype(np.int64)
            sample = np.array([attempted(data, i, i + 1)[0] for i in rows.tolist()])
            if knows_people(data):
                sample = sample[data.codes.probe[rows][:, None] != data.codes.gallery]
            impostor_sample = np.sort(sample[~np.isnan(sample)])
        edges = edges_of(impostor_sample, attempts.even_counts.ends)
        # In the units of the user: to_internal is its own inverse.
        accepted = verify(data, thresholds=to_internal(edges, kind)).curve[1]
    impostor = Histogram.of_distances(edges, np.diff(accepted), attempts.impostor_attempts, kind)
    attempts_by_class = {"genuine_attempts": genuine.total, "impostor_attempts": impostor.total}
    about = xr.Dataset(attempts_by_class, attrs=about_attrs(verified.about, "histogram", "", ()))
    return ScoreHistograms({"genuine": genuine, "impostor": impostor}, about)


def plotted(scores: Any) -> list[tuple[str, str, Scores]]:
    """Return the plots of scores that ``save_all`` draws: plot, system and scores."""
    by_name = {} if scores is None else scores if isinstance(scores, Mapping) else {"": scores}
    plots = []
    for name, system in by_name.items():
        if not isinstance(system, Scores):
            raise DataError(
                f"scores is {type(system).__name__}; expected Scores, a mapping, or None"
            )
        if system.kind != "order" and system.layout != "top-k":  # a list has no scores of its own
            plots.append(("score_distributions", str(name), system))
        if system.layout not in ("pairs", "top-k"):
            plots.append(("matrix", str(name), system))
    return plots

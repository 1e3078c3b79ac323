"""Scores in the form that plots take: counts and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, ProtocolError
from bioeval.base.kinds import Kind, Layout
from bioeval.counting.thresholds import to_internal
from bioeval.counting.verification import verify
from bioeval.results.attributes import about_attrs
from bioeval.results.histogram import Histogram, ScoreHistograms, edges_of
from bioeval.scores.attempts import compared_cells
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
        impostor_sample = _sampled_impostors(data)
        edges = edges_of(impostor_sample, attempts.even_counts.ends)
        # In the units of the user: to_internal is its own inverse.
        accepted = verify(data, thresholds=to_internal(edges, kind)).curve[1]
    impostor = Histogram.of_distances(edges, np.diff(accepted), attempts.impostor_attempts, kind)
    attempts_by_class = {"genuine_attempts": genuine.total, "impostor_attempts": impostor.total}
    about = xr.Dataset(attempts_by_class, attrs=about_attrs(verified.about, "histogram", "", ()))
    return ScoreHistograms({"genuine": genuine, "impostor": impostor}, about)


def _sampled_impostors(scores: Scores) -> np.ndarray:
    """Return impostor scores as distances, sorted: all of a list, of a matrix some rows.

    Bins need the shape of the distribution alone. Rows are spread evenly over the probes, since
    neighbours are often of one person.
    """
    if scores.layout == "pairs":
        return np.sort(as_distances(scores.values[None, ~scores.genuine], scores.kind)[0])
    probes, templates = scores.shape
    number = min(probes, np.clip(_SAMPLED_VALUES // templates, *_SAMPLED_ROWS))
    rows = np.linspace(0, probes - 1, number).astype(np.int64)
    sample = np.array([attempted(scores, i, i + 1)[0] for i in rows.tolist()])
    if knows_people(scores):
        sample = sample[scores.codes.probe[rows][:, None] != scores.codes.gallery]
    return np.sort(sample[~np.isnan(sample)])


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


# -------------------------------------------------------------------------------- a matrix as image


#: Values that are read together.
BLOCK_VALUES = 1 << 19

# States of a pixel without finite scores.
EXCLUDED = 1  # no comparisons
FAILED = 2  # failures alone
INFINITE = 3  # infinite scores


@dataclass(frozen=True)
class MatrixImage:
    """A score matrix reduced to pixels, with probes as rows, and both sides sorted by subject.

    Pixel ``i`` of a side has the templates ``edges[i]:edges[i + 1]`` in the order of the image.
    """

    image: np.ndarray  # the mean of the finite scores of each pixel, NaN without any
    state: np.ndarray  # uint8: EXCLUDED, FAILED or INFINITE for pixels without a mean, else 0
    rows: np.ndarray  # the probes in the order of the image
    columns: np.ndarray  # the gallery templates in the order of the image
    row_edges: np.ndarray
    column_edges: np.ndarray
    row_labels: np.ndarray
    column_labels: np.ndarray
    kind: Kind
    name: str | None
    layout: Layout
    subjects: int | None


def matrix_image(scores: Scores, pixels: int) -> MatrixImage:
    """Reduce a matrix to at most `pixels` a side, reading it once in blocks of rows."""
    if not isinstance(scores, Scores):
        raise DataError(f"be.plot.matrix got {type(scores).__name__}; expected Scores")
    if scores.layout == "pairs":
        raise ProtocolError("be.plot.matrix needs a matrix; these are fixed pairs")
    # Subject by subject; probes whose subject is not in the gallery come last.
    probe, gallery = scores.codes.probe, scores.codes.gallery
    rows = columns = np.argsort(gallery, kind="stable")
    if probe is not gallery:
        rows = np.lexsort((np.arange(len(probe)), probe, ~np.isin(probe, gallery)))
    row_edges, column_edges = _edges(len(rows), pixels), _edges(len(columns), pixels)
    place = np.empty(len(rows), dtype=np.int64)  # of each probe in the order of the image
    place[rows] = np.arange(len(rows))
    pixel_of_probe = np.searchsorted(row_edges, place, side="right") - 1
    # Of each pixel: the sum of its finite scores, and its numbers of finite, failed and infinite.
    sums = np.zeros((4, len(row_edges) - 1, len(column_edges) - 1))
    chunk = scores.cells.row_chunk
    step = max(chunk, max(1, BLOCK_VALUES // len(columns)) // chunk * chunk)
    for low in range(0, len(rows), step):
        high = min(low + step, len(rows))
        values = scores.cells.read(low, high, columns).astype(np.float64)
        is_compared = compared_cells(scores, low, high, columns)
        is_finite = is_compared & np.isfinite(values)
        is_failed, is_infinite = is_compared & np.isnan(values), is_compared & np.isinf(values)
        cells = np.where(is_finite, values, 0.0), is_finite, is_failed, is_infinite
        for of_pixels, summed in zip(sums, cells, strict=True):
            sums_of_rows = np.add.reduceat(summed.astype(np.float64), column_edges[:-1], axis=1)
            np.add.at(of_pixels, pixel_of_probe[low:high], sums_of_rows)
    total, finite, failed, infinite = sums
    with np.errstate(invalid="ignore"):
        means = total / np.where(finite > 0, finite, np.nan)
    state = np.where(infinite > 0, INFINITE, np.where(failed > 0, FAILED, EXCLUDED))
    return MatrixImage(
        image=np.clip(means, -1e300, 1e300),  # so that the range of the image does not overflow
        state=np.where(finite > 0, 0, state).astype(np.uint8),
        rows=rows,
        columns=columns,
        row_edges=row_edges,
        column_edges=column_edges,
        row_labels=scores.probe_labels[rows],
        column_labels=scores.gallery_labels[columns],
        kind=scores.kind,
        name=scores.name,
        layout=scores.layout,
        subjects=len(scores.subjects) if knows_people(scores) else None,
    )


def _edges(length: int, pixels: int) -> np.ndarray:
    number = min(length, require_integer("pixels", pixels, low=1))
    return np.floor(np.linspace(0, length, number + 1)).astype(np.int64)

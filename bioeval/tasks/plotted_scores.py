"""Scores in the form that plots take: counts and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.attempts.cells import CellCounts, CellGrid
from bioeval.attempts.passes import count_together
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.errors import DataError, ProtocolError
from bioeval.results.histogram import FAR_OFF, ScoreHistograms, is_coarse, score_histograms
from bioeval.scores.arrays import as_distances
from bioeval.scores.blocks import BlockReader
from bioeval.scores.bona_fide import without_attacks
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.matrix_image import MatrixImage, reduced_matrix
from bioeval.scores.top_k import TopKScores

# Sampled values, about, and the least and the largest number of sampled rows.
SAMPLE_VALUES, SAMPLE_ROWS = 1 << 16, (8, 128)

# Pixels along the longer side of a matrix.
PIXELS = 600


def histograms_of(data: Any) -> dict[str, ScoreHistograms]:
    """Count the scores of a system, or of several by name."""
    several = isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree)
    by_name = dict(data) if several else {"": data}
    if not by_name:
        raise DataError("be.plot.score_distributions got an empty mapping; expected name: data")
    return {str(name): _histograms(one) for name, one in by_name.items()}


def _histograms(data: Any) -> ScoreHistograms:
    """Count single-template verification, once more where cells are too coarse."""
    if not isinstance(data, Scores):
        raise DataError(
            f"be.plot.score_distributions got {type(data).__name__}; expected Scores, or a mapping "
            "of name to Scores"
        )
    data = without_attacks(data)
    reader = BlockReader(data)
    counter = VerificationCounter(reader)
    counts = count_together(reader, [counter])[0]
    if is_coarse(counts) and (grid := _robust_grid(data)) is not None:
        counter = counter.fresh()
        counter.given = grid.boundaries
        (tally,) = count_together(reader, [counter])
        reached = tally.accepted
        below, above = int(reached[0]), tally.impostors - int(reached[-1])
        cells = CellCounts(grid.exponent, grid.first, np.diff(reached), below, above)
        attempts = replace(tally.attempts, counted_cells=cells.fitted())
        counts = replace(counts, attempts=attempts)
    return score_histograms(counts)


def _robust_grid(scores: Scores) -> CellGrid | None:
    """Return cells for impostor scores, without far outliers, from a sample."""
    if are_pairs(scores):
        sample = as_distances(scores.values[None, ~scores.genuine], scores.kind)[0]
    else:
        m, n = scores.shape
        rows = np.linspace(0, m - 1, min(m, np.clip(SAMPLE_VALUES // n, *SAMPLE_ROWS)))
        reader = BlockReader(scores)
        read = [reader.attempted(i, i + 1)[0] for i in rows.astype(np.int64).tolist()]
        sample = np.array(read)
        if scores._labelled:
            sample = sample[
                scores._codes.probe[rows.astype(np.int64)][:, None] != scores._codes.gallery
            ]
    sample = sample[np.isfinite(sample)]
    q1, q3 = np.quantile(sample, [0.25, 0.75]).tolist() if len(sample) else (0.0, 0.0)
    reach = FAR_OFF * (q3 - q1)
    if reach > 0:
        return CellGrid.covering(q1 - reach, q3 + reach)
    return None


def plotted(scores: Any) -> Iterator[tuple[str, str, Any]]:
    """Return the plots of scores that ``save_all`` draws: plot, system and data of its display."""
    by_name = {} if scores is None else scores if isinstance(scores, Mapping) else {"": scores}
    for one in by_name.values():
        if not isinstance(one, Scores):
            raise DataError(f"scores is {type(one).__name__}; expected Scores, a mapping, or None")
    # A top-K list has no matrix and no scores of its own.
    return _plotted({str(n): one for n, one in by_name.items() if not isinstance(one, TopKScores)})


def _plotted(scores: Mapping[str, Scores]) -> Iterator[tuple[str, str, Any]]:
    for name, one in scores.items():
        if one.kind != "order":
            yield "score_distributions", name, _histograms(one)
        if not are_pairs(one):
            yield "matrix", name, matrix_image(one, PIXELS)


def matrix_image(scores: Scores, pixels: int) -> MatrixImage:
    """Return the bona fide scores of a matrix, reduced to at most `pixels` a side."""
    if are_pairs(scores):
        raise ProtocolError("be.plot.matrix needs a matrix; these are fixed pairs")
    if not isinstance(scores, Scores):
        raise DataError(f"be.plot.matrix got {type(scores).__name__}; expected Scores")
    return reduced_matrix(without_attacks(scores), pixels)

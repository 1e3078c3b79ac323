"""A score matrix reduced to an image, sorted by subject."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.kinds import Kind, Layout
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.matrix import Scores

#: Values that are read together.
BLOCK_VALUES = 1 << 19

#: States of a pixel without finite scores: no comparisons, failures alone, or infinite scores.
EXCLUDED, FAILED, INFINITE = 1, 2, 3


@dataclass(frozen=True)
class MatrixImage:
    """A score matrix reduced to pixels, with probes as rows, and both sides sorted by subject.

    `image` is the mean of the finite scores of each pixel, NaN without any; `state` (uint8) is
    EXCLUDED, FAILED or INFINITE for pixels without a mean, else 0. `rows` and `columns` are the
    templates in the order of the image, and the labels are theirs. Pixel ``i`` has the templates
    ``edges[i]:edges[i + 1]`` of this order.
    """

    image: np.ndarray
    state: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    row_edges: np.ndarray
    column_edges: np.ndarray
    row_labels: np.ndarray
    column_labels: np.ndarray
    kind: Kind
    name: str | None
    layout: Layout
    subjects: int | None


def reduced_matrix(scores: Scores, pixels: int) -> MatrixImage:
    """Reduce a matrix to at most `pixels` a side, reading it once in blocks of rows."""
    rows, columns = _order(scores)
    row_edges, column_edges = _edges(len(rows), pixels), _edges(len(columns), pixels)
    image, state = _reduce(scores, rows, columns, row_edges, column_edges)
    return MatrixImage(
        image=image,
        state=state,
        rows=rows,
        columns=columns,
        row_edges=row_edges,
        column_edges=column_edges,
        row_labels=scores.probe_labels[rows],
        column_labels=scores.gallery_labels[columns],
        kind=scores.kind,
        name=scores.name,
        layout=scores.layout,
        subjects=len(scores.subjects) if scores._labelled else None,
    )


def _order(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    probe, gallery = scores.codes.probe, scores.codes.gallery
    columns = np.argsort(gallery, kind="stable")
    if probe is gallery:
        return columns, columns
    absent = ~np.isin(probe, gallery)
    return np.lexsort((np.arange(len(probe)), probe, absent)), columns


def _edges(length: int, pixels: int) -> np.ndarray:
    number = min(length, require_integer("pixels", pixels, low=1))
    return np.floor(np.linspace(0, length, number + 1)).astype(np.int64)


def _reduce(
    scores: Scores,
    rows: np.ndarray,
    columns: np.ndarray,
    row_edges: np.ndarray,
    column_edges: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    shape = (len(row_edges) - 1, len(column_edges) - 1)
    # The sum of finite scores, and the numbers of scores of each state.
    total, finite, failed, infinite = np.zeros((4, *shape))
    place = np.empty(len(rows), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    pixel = np.searchsorted(row_edges, place, side="right") - 1
    starts = column_edges[:-1]
    step = max(1, BLOCK_VALUES // len(columns))
    step = max(scores.cells.row_chunk, step // scores.cells.row_chunk * scores.cells.row_chunk)
    for low in range(0, len(rows), step):
        high = min(low + step, len(rows))
        values = scores.cells.read(low, high, columns).astype(np.float64)
        compared = scores.probe_ids[low:high, None] != scores.gallery_ids[columns]
        left_out = left_out_rows(scores, low, high, columns)
        if left_out is not None:
            compared &= ~left_out
        pixel_of_row = pixel[low:high]
        is_finite = compared & np.isfinite(values)
        for sums, summed in (
            (total, np.where(is_finite, values, 0.0)),
            (finite, is_finite),
            (failed, compared & np.isnan(values)),
            (infinite, compared & np.isinf(values)),
        ):
            np.add.at(
                sums, pixel_of_row, np.add.reduceat(summed.astype(np.float64), starts, axis=1)
            )
    with np.errstate(invalid="ignore"):
        image = total / np.where(finite > 0, finite, np.nan)
    image = np.clip(image, -1e300, 1e300)  # so that the range of the image does not overflow
    state = np.where(infinite > 0, INFINITE, np.where(failed > 0, FAILED, EXCLUDED))
    return image, np.where(finite > 0, 0, state).astype(np.uint8)

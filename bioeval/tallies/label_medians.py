"""Median distances of the probes to the templates of each label."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.label_medians import label_medians
from bioeval.scores.arrays import IGNORE, writable_alias
from bioeval.scores.blocks import Block, BlockReader, as_distances
from bioeval.scores.matrix import Scores


def block_medians(block: Block, found: np.ndarray) -> None:
    """Write the medians of a block of rows into those of all rows, (m, 3)."""
    values = writable_alias(np.ascontiguousarray(block.values, dtype=np.float64))
    rows = found[block.low : block.low + len(values)]
    columns = np.arange(values.shape[1])
    label_medians(values, columns, block.starts, block.own, block.self_position, rows)


def row_medians(reader: BlockReader, low: int, values: np.ndarray) -> np.ndarray:
    """Return the medians of rows of distances to all columns, from `low` on, (b, 3)."""
    gallery, rows = reader.gallery, slice(low, low + len(values))
    found = np.empty((len(values), 3))
    label_medians(
        writable_alias(values), gallery.columns[0], gallery.starts, gallery.own[rows],
        gallery.self_position[rows], found,
    )  # fmt: skip
    return found


def medians_to(values: np.ndarray) -> np.ndarray:
    """Return the median of each row of distances, (b, k), to one label."""
    none = np.full(len(values), -1)
    found = np.empty((len(values), 3))
    ends = np.array([0, values.shape[1]])
    values = np.ascontiguousarray(values)  # columns that were selected are not
    label_medians(values, np.arange(values.shape[1]), ends, none, none, found)
    return found[:, 1]


def attempted(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return the distances of rows ``low:high`` in float64, NaN where there is no attempt."""
    raw = scores.read_rows(low, high)
    values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
    values = np.array(values, dtype=np.float64, order="C")
    values[scores.probe_ids[low:high, None] == scores.gallery_ids] = np.nan
    if scores.has_mask:
        values[scores.read_mask(low, high) == IGNORE] = np.nan
    if scores.exclude:
        rows, columns = np.nonzero(scores.codes.probe[low:high, None] == scores.codes.gallery)
        gone = scores.excluded(low + rows, columns)
        values[rows[gone], columns[gone]] = np.nan
        if scores.enrolment_times is not None:
            rows = np.arange(low, high)[:, None]
            values[scores.enrolment_times.not_enrolled(rows, slice(None))] = np.nan
    return values

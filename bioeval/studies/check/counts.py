"""One pass over all scores for the checks of data; median distances to each label."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bioeval.base.kinds import larger_is_closer
from bioeval.base.progress import reporter, stage
from bioeval.scores.arrays import Mask
from bioeval.scores.blocks import Block, BlockReader, threads_for
from bioeval.scores.matrix import Scores, knows_people
from bioeval.studies.check.failure_codes import FailureCodeScan
from bioeval.studies.check.kernel import KINDS, label_medians, scan_rows


def block_medians(block: Block, medians: np.ndarray) -> None:
    """Write the medians of a block of rows into those of all rows, (m, 3)."""
    values = np.ascontiguousarray(block.values, dtype=np.float64)
    rows = medians[block.low : block.low + len(values)]
    columns = np.arange(values.shape[1])
    label_medians(values, columns, block.starts, block.probe_group, block.probe_position, rows)


def row_medians(reader: BlockReader, low: int, values: np.ndarray) -> np.ndarray:
    """Return the medians of rows of distances to all columns, from `low` on, (b, 3)."""
    gallery, rows = reader.gallery, slice(low, low + len(values))
    medians = np.empty((len(values), 3))
    label_medians(
        values,
        gallery.columns[0],
        gallery.starts,
        gallery.probe_group[rows],
        gallery.probe_position[rows],
        medians,
    )
    return medians


def medians_of_columns(
    values: np.ndarray, order: np.ndarray, starts: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """Return the medians of gallery templates, (k, 3), of their distances to all probes, (m, k).

    - `order`, `starts`: the probes, those of a label side by side, and where each label starts
    - `labels`: of the gallery templates, -1 where no probe has it
    """
    medians = np.empty((values.shape[1], 3))
    not_a_probe = np.full(values.shape[1], -1)
    label_medians(np.ascontiguousarray(values.T), order, starts, labels, not_a_probe, medians)
    return medians


def medians_to(values: np.ndarray) -> np.ndarray:
    """Return the median of each row of distances, (b, k), to one label."""
    none = np.full(len(values), -1)
    medians = np.empty((len(values), 3))
    ends = np.array([0, values.shape[1]])
    values = np.ascontiguousarray(values)  # columns that were selected are not
    label_medians(values, np.arange(values.shape[1]), ends, none, none, medians)
    return medians[:, 1]


#: Places that are kept of each kind of comparison.
SHOWN = 20

# Values, about, of the rows and columns by which symmetry is judged, and the most of either.
_SYMMETRY_VALUES, _SYMMETRY_LINES = 1 << 21, 1448

# The most genuine scores that are kept.
_MOST_GENUINE = 1 << 20


@dataclass
class DataScan:
    """Findings of a pass over the scores."""

    #: int64 (7,): of the comparisons, as :func:`bioeval.studies.check.kernel.scan_rows` counts
    #: them.
    counts: np.ndarray
    places: np.ndarray  # int64 (7, k, 2)
    #: float64 (m, 3) and (3, n): nearest and farthest finite distance and failed comparisons,
    #: without the diagonal of a square matrix.
    rows: np.ndarray
    columns: np.ndarray
    #: uint64 (m, 2) and (n,).
    row_digests: np.ndarray
    column_digests: np.ndarray
    #: float64 (m,): of a square matrix; distances of templates to themselves where both sides are
    #: the same.
    diagonal: np.ndarray
    same: bool  # whether the same templates are on both sides, in one order
    #: int64 (k,): the templates of which both directions are kept, where the same are on both
    #: sides.
    lines: np.ndarray
    #: float64 (k, n): distances of these templates as probes, and as gallery.
    forth: np.ndarray
    back: np.ndarray
    #: bool (2, k, n): which of both are attempts: not left out by a mask, an exclusion or a date.
    compared: np.ndarray
    reader: BlockReader
    #: Constant lines, with a sample of rows in the units of the scores.
    failure_codes: FailureCodeScan
    #: float64 (m, 3): of each row, as :func:`bioeval.studies.check.kernel.label_medians` writes
    #: them; empty without labels, and of scores that are only an order.
    medians: np.ndarray
    #: float64: genuine distances, at most about a million.
    genuine: np.ndarray = field(default_factory=lambda: np.empty(0))

    def cells(self, index: int) -> list[tuple[int, int]]:
        """Return row and column of the first comparisons of a kind."""
        number = min(int(self.counts[index]), SHOWN)
        rows, columns = self.places[index, :number].T.tolist()
        return list(zip(rows, columns, strict=True))


@stage("looking at the scores")
def scan(scores: Scores) -> DataScan:
    """Read every score of a matrix once."""
    reader = BlockReader(scores)
    m, n = scores.shape
    same = bool(m == n and np.array_equal(scores.probe_ids, scores.gallery_ids))
    most = min(_SYMMETRY_LINES, max(8, _SYMMETRY_VALUES // max(n, 1)))
    lines = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
    if not same or scores._streams:
        lines = lines[:0]
    judged = m if knows_people(scores) and scores.kind != "order" else 0
    scanned = DataScan(
        counts=np.zeros(KINDS, dtype=np.int64),
        places=np.zeros((KINDS, SHOWN, 2), dtype=np.int64),
        rows=np.empty((m, 3)),
        columns=np.repeat(np.array([[np.inf], [-np.inf], [0.0]]), n, axis=1),
        row_digests=np.empty((m, 2), dtype=np.uint64),
        column_digests=np.zeros(n, dtype=np.uint64),
        diagonal=np.empty(m if m == n else 0),
        same=same,
        lines=lines,
        forth=np.empty((len(lines), n)),
        back=np.empty((len(lines), n)),
        compared=np.ones((2, len(lines), n), dtype=bool),
        reader=reader,
        failure_codes=FailureCodeScan(scores, _self_columns(reader)),
        medians=np.empty((judged, 3)),
    )
    genuine = []
    with threads_for(scores):
        for low in range(0, m, reader.rows_per_block()):
            high = min(low + reader.rows_per_block(), m)
            genuine.append(_scan_rows(reader, scanned, low, high))
            reporter()(high, m)
    if genuine:
        scanned.genuine = np.concatenate(genuine)
    return scanned


def _scan_rows(reader: BlockReader, scanned: DataScan, low: int, high: int) -> np.ndarray:
    """Scan rows ``low:high``; return genuine distances in them."""
    scores, self_columns = reader.scores, scanned.failure_codes.self_columns[low:high]
    values = reader.given.distances(low, high, exact=False)
    values = np.ascontiguousarray(values, dtype=np.float64)
    mates = _mates(reader, low, high)
    state = _state(scores, low, high)
    labelled = knows_people(scores)
    if labelled:
        classes = (reader.codes.probe[low:high], reader.codes.gallery)
    else:
        classes = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    rows = np.arange(low, high)
    scan_rows(
        low,
        values,
        state,
        classes,
        self_columns,
        perfect_distance(scores.kind),
        scanned.rows[low:high],
        scanned.columns,
        (scanned.row_digests[low:high], scanned.column_digests),
        scanned.counts,
        scanned.places,
    )
    if len(scanned.diagonal):
        scanned.diagonal[low:high] = values[rows - low, rows]
    if len(scanned.lines):
        first, last = np.searchsorted(scanned.lines, [low, high])
        scanned.forth[first:last] = values[scanned.lines[first:last] - low]
        scanned.back[:, low:high] = values[:, scanned.lines].T
        if len(state):
            scanned.compared[0, first:last] = state[scanned.lines[first:last] - low] != Mask.IGNORE
            scanned.compared[1, :, low:high] = state[:, scanned.lines].T != Mask.IGNORE
    seen = np.where(state == Mask.IGNORE, np.nan, values) if len(state) else values
    scanned.failure_codes.add(low, seen, scanned.rows[low:high, :2])
    if len(scanned.medians):
        scanned.medians[low:high] = row_medians(reader, low, seen)
    kept = seen[mates] if labelled else seen[state == Mask.GENUINE]
    kept = kept[~np.isnan(kept)]
    return kept[:: max(1, scores.shape[0] // (high - low) * len(kept) // _MOST_GENUINE)]


def _self_columns(reader: BlockReader) -> np.ndarray:
    """Return the column of each probe itself, -1 for none."""
    position = reader.gallery.probe_position
    return np.where(position >= 0, reader.gallery.columns[0, position], -1)


def _mates(reader: BlockReader, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and columns of the cells of the probes' mates."""
    scores = reader.scores
    place, position = reader.same_subject_cells(low, high)
    column = reader.gallery.columns[0, position]
    different_template = scores.probe_ids[low + place] != scores.gallery_ids[column]
    return place[different_template], column[different_template]


def perfect_distance(kind: str) -> float:
    """Return the distance of equal templates; a guess for similarities, NaN if unknown."""
    return {"distance": 0.0, "similarity": -1.0}.get(kind, np.nan)


def sign_of(kind: str) -> float:
    """Return what turns a score into a distance, and back: -1 where larger scores are closer."""
    return -1.0 if larger_is_closer(kind) else 1.0


def _state(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return the comparisons of some rows as a mask; empty where the labels decide alone."""
    state = np.empty((0, 0), dtype=np.uint8)
    if scores._has_mask:
        state = np.array(scores._read_mask(low, high), dtype=np.uint8)
    if scores.exclude:
        if not len(state):
            state = np.full((high - low, scores.shape[1]), Mask.IMPOSTOR, dtype=np.uint8)
        state[scores._excluded_rows(low, high)] = Mask.IGNORE
    return state

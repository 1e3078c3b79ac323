"""One pass over all scores for the checks of data; median distances to each label."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.progress import reporter, stage
from bioeval.scores.arrays import Mask, as_distances
from bioeval.scores.excluded import excluded_rows
from bioeval.scores.matrix import Scores, require_all_scores
from bioeval.scores.people import knows_people
from bioeval.scores.rows import rows_per_block, threads_for

# Positions in `counts`, and in the first axis of `places`.
GENUINE, IMPOSTOR, FAILED, FARTHEST, NEAREST, PERFECT_GENUINE, PERFECT_IMPOSTOR = range(7)
KINDS = 7

# Of the finaliser of SplitMix64.
_ODD, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def label_medians(
    values: np.ndarray,
    columns: np.ndarray,
    starts: np.ndarray,
    label: np.ndarray,
    itself: np.ndarray | None = None,
) -> np.ndarray:
    """Return the median distance of each row to its own label, and the least to another, (b, 3).

    The median of an even number of distances is the lower of the two in the middle. Distances that
    are not finite are left out. Third is which label is the nearest, the first of equal ones and -1
    for none, where the median is NaN.

    - `values` (float64 (b, n)): distances, NaN where there is no attempt
    - `columns` (int64 (n,)): column of each position: label ``g`` has those at positions
      ``starts[g]:starts[g + 1]``
    - `label`, `itself` (int64 (b,)): the label of each row, and the position that is the probe
      itself; -1 for none
    """
    rows = np.arange(len(values))
    if itself is not None:
        values = values.copy()
        there = np.flatnonzero(itself >= 0)
        values[there, columns[itself[there]]] = np.nan
    sizes = np.diff(starts)
    to_label = np.full((len(values), len(sizes)), np.inf)
    for size in np.unique(sizes[sizes > 0]).tolist():
        labels = np.flatnonzero(sizes == size)
        cells = values[:, columns[starts[labels, None] + np.arange(size)]]
        cells = np.sort(np.where(np.isfinite(cells), cells, np.inf), axis=2)
        middle = (np.isfinite(cells).sum(axis=2) - 1) // 2
        to_label[:, labels] = np.take_along_axis(cells, middle[..., None].clip(0), axis=2)[..., 0]
    medians = np.empty((len(values), 3))
    medians[:, 0] = np.where(label >= 0, to_label[rows, label], np.inf)
    to_label[rows[label >= 0], label[label >= 0]] = np.inf
    medians[:, 2] = to_label.argmin(axis=1)
    medians[:, 1] = to_label[rows, medians[:, 2].astype(np.int64)]
    medians[medians[:, 1] == np.inf, 2] = -1
    medians[medians == np.inf] = np.nan
    return medians


#: Places that are kept of each kind of comparison.
SHOWN = 20

# Sampled values, about, and the least and the largest number of sampled rows.
_SAMPLE_VALUES, _SAMPLE_ROWS = 1 << 16, (8, 128)

# The most genuine scores that are kept.
_MOST_GENUINE = 1 << 20


@dataclass
class DataScan:
    """Findings of a pass over the scores."""

    scores: Scores
    #: int64 (7,): genuine, impostor, failed, infinitely far, infinitely near comparisons; genuine
    #: and impostor ones at the distance of equal templates. Row and column of the first of each.
    counts: np.ndarray
    places: np.ndarray  # int64 (7, k, 2)
    #: float64 (m, 4) and (4, n): nearest and farthest finite distance, failed and finite
    #: comparisons, without those of a template with itself.
    rows: np.ndarray
    columns: np.ndarray
    #: uint64 (m, 2) and (n,): of each row a digest, and the number of columns in it (of a probe
    #: that is a column itself without the nearest ones, of which a copy would be one); of each
    #: column a digest of the rows of other probes.
    row_digests: np.ndarray
    column_digests: np.ndarray
    #: float64 (m,): of a square matrix; distances of templates to themselves where both sides are
    #: the same.
    diagonal: np.ndarray
    same: bool  # whether the same templates are on both sides, in one order
    self_columns: np.ndarray  # int64 (m,): the column of each probe itself, -1 for none
    sampled: np.ndarray  # int64 (k,): rows of a sample
    #: float64 (k, n): their finite distances, NaN where there is no comparison.
    sample: np.ndarray
    #: float64 (m, 3): of each row, by :func:`label_medians`; empty without labels, and of scores
    #: that are only an order.
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
    require_all_scores(scores)
    m, n = scores.shape
    same = bool(m == n and np.array_equal(scores.probe_ids, scores.gallery_ids))
    least, most = _SAMPLE_ROWS
    rows = min(m, most, max(least, _SAMPLE_VALUES // n))
    sampled = np.unique(np.linspace(0, m - 1, rows).astype(np.int64))
    position = scores.gallery_order.probe_position
    judged = m if knows_people(scores) and scores.kind != "order" else 0
    scanned = DataScan(
        scores=scores,
        counts=np.zeros(KINDS, dtype=np.int64),
        places=np.zeros((KINDS, SHOWN, 2), dtype=np.int64),
        rows=np.empty((m, 4)),
        columns=np.repeat(np.array([[np.inf], [-np.inf], [0.0], [0.0]]), n, axis=1),
        row_digests=np.empty((m, 2), dtype=np.uint64),
        column_digests=np.zeros(n, dtype=np.uint64),
        diagonal=np.empty(m if m == n else 0),
        same=same,
        self_columns=np.where(position >= 0, scores.gallery_order.columns[0, position], -1),
        sampled=sampled,
        sample=np.full((len(sampled), n), np.nan),
        medians=np.empty((judged, 3)),
    )
    genuine = []
    with threads_for(scores):
        step = rows_per_block(scores)
        for low in range(0, m, step):
            high = min(low + step, m)
            genuine.append(_scan_rows(scores, scanned, low, high))
            reporter()(high, m)
    if genuine:
        scanned.genuine = np.concatenate(genuine)
    return scanned


def _scan_rows(scores: Scores, scanned: DataScan, low: int, high: int) -> np.ndarray:
    """Scan rows ``low:high``; return genuine distances in them."""
    self_columns = scanned.self_columns[low:high]
    raw = scores.cells.read(low, high)  # which need not be exact in float64
    values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
    values = np.ascontiguousarray(values, dtype=np.float64)
    mates = _mates(scores, low, high)
    state = _state(scores, low, high)
    labelled, place = knows_people(scores), np.arange(values.shape[1])
    attempt = place != self_columns[:, None]
    if len(state):
        attempt &= state != Mask.IGNORE
    if labelled:
        genuine = scores.codes.probe[low:high, None] == scores.codes.gallery
    else:
        genuine = state == Mask.GENUINE
    equal = values == perfect_distance(scores.kind)
    failed, finite = attempt & np.isnan(values), attempt & np.isfinite(values)
    of_kinds = (
        attempt & genuine,
        attempt & ~genuine,
        failed,
        attempt & (values == np.inf),
        attempt & (values == -np.inf),
        attempt & genuine & equal,
        attempt & ~genuine & equal,
    )
    for kind, cells in enumerate(of_kinds):
        before = min(int(scanned.counts[kind]), SHOWN)
        if kind > IMPOSTOR and before < SHOWN and cells.any():
            first_cells = np.argwhere(cells)[: SHOWN - before] + [low, 0]
            scanned.places[kind, before : before + len(first_cells)] = first_cells
        scanned.counts[kind] += np.count_nonzero(cells)
    near, far = np.where(finite, values, np.inf), np.where(finite, values, -np.inf)
    rows, columns = scanned.rows[low:high], scanned.columns
    rows[:, 0], rows[:, 1] = near.min(axis=1), far.max(axis=1)
    rows[:, 2], rows[:, 3] = failed.sum(axis=1), finite.sum(axis=1)
    columns[0] = np.minimum(columns[0], near.min(axis=0))
    columns[1] = np.maximum(columns[1], far.max(axis=0))
    columns[2:] += failed.sum(axis=0), finite.sum(axis=0)
    mixed = _mixed(values)
    alone = self_columns >= 0
    used = ~alone[:, None] | ((place != self_columns[:, None]) & (values != rows[:, :1]))
    odd = 2 * place.astype(np.uint64) + np.uint64(1)
    scanned.row_digests[low:high, 0] = (mixed * odd * used).sum(axis=1)
    scanned.row_digests[low:high, 1] = used.sum(axis=1)
    odd = 2 * np.arange(low, high).astype(np.uint64) + np.uint64(1)
    scanned.column_digests += (mixed * odd[:, None])[~alone].sum(axis=0)
    if len(scanned.diagonal):
        scanned.diagonal[low:high] = values[np.arange(high - low), np.arange(low, high)]
    attempted = np.where(state == Mask.IGNORE, np.nan, values) if len(state) else values
    first, last = np.searchsorted(scanned.sampled, [low, high])
    chosen = scanned.sampled[first:last] - low
    known = np.isfinite(attempted[chosen]) & (
        np.arange(attempted.shape[1]) != self_columns[chosen, None]
    )
    scanned.sample[first:last] = np.where(known, attempted[chosen], np.nan)
    if len(scanned.medians):
        gallery, part = scores.gallery_order, slice(low, high)
        scanned.medians[low:high] = label_medians(
            attempted,
            gallery.columns[0],
            gallery.starts,
            gallery.probe_group[part],
            gallery.probe_position[part],
        )
    kept = attempted[mates] if labelled else attempted[state == Mask.GENUINE]
    kept = kept[~np.isnan(kept)]
    return kept[:: max(1, scores.shape[0] // (high - low) * len(kept) // _MOST_GENUINE)]


def _mixed(values: np.ndarray) -> np.ndarray:
    """Return 64 well mixed bits of each number; all NaN and both zeros have the same."""
    bits = (np.where(np.isnan(values), np.nan, values) + 0.0).view(np.uint64)
    bits = (bits + _ODD) * _FIRST
    bits = (bits ^ (bits >> _SHIFT)) * _SECOND
    return bits ^ (bits >> _SHIFT)


def _mates(scores: Scores, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and columns of the cells of the probes' mates."""
    place, position = scores.gallery_order.same_subject_cells(slice(low, high))
    column = scores.gallery_order.columns[0, position]
    different_template = scores.probe_ids[low + place] != scores.gallery_ids[column]
    return place[different_template], column[different_template]


def perfect_distance(kind: str) -> float:
    """Return the distance of equal templates; a guess for similarities, NaN if unknown."""
    return {"distance": 0.0, "similarity": -1.0}.get(kind, np.nan)


def sign_of(kind: str) -> float:
    """Return what turns a score into a distance, and back: -1 where larger scores are closer."""
    return -1.0 if kind in LARGER_IS_CLOSER else 1.0


def _state(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return the comparisons of some rows as a mask; empty where the labels decide alone."""
    state = np.empty((0, 0), dtype=np.uint8)
    if scores.has_mask:
        state = np.array(scores.cells.read_mask(low, high), dtype=np.uint8)
    if scores.exclude:
        if not len(state):
            state = np.full((high - low, scores.shape[1]), Mask.IMPOSTOR, dtype=np.uint8)
        state[excluded_rows(scores, slice(low, high))] = Mask.IGNORE
    return state

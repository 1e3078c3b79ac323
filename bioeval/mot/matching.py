"""Matching of result boxes to targets, frame by frame, and of identities over a sequence.

Boxes of one frame can be paired if they overlap enough. Earlier pairings are kept while they
overlap; the rest is an assignment problem, which scipy solves. Pairs that outweigh the best others
of both boxes are paired at once: every best assignment contains them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from bioeval.kernels.overlaps import Frames, Pairing, count_overlaps, list_overlaps, match_frames
from bioeval.mot.sequence import Boxes

#: Relative tolerance of the threshold for rounding, since coordinates are decimals.
ROUNDING = 1e-12

#: Earlier pairings that are kept.
PAIRINGS = ("last-known", "previous-frame")

_EVER = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class Overlaps:
    """Pairs of boxes that overlap enough, in the order of the ground-truth boxes."""

    start: np.ndarray  # int64 (n + 1,): where the overlaps of each ground-truth box begin
    row: np.ndarray  # int64: the result box of each overlap
    iou: np.ndarray  # float64: intersection over union

    @property
    def truth(self) -> np.ndarray:
        """The ground-truth box of each overlap."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def at_least(self, least: float) -> Overlaps:
        """Return the overlaps with at least this intersection over union."""
        keep = self.iou >= least * (1 - ROUNDING)
        start = np.concatenate([[0], np.cumsum(keep)])[self.start]
        return Overlaps(start, self.row[keep], self.iou[keep])


def find_overlaps(truth: Boxes, result: Boxes, frames: int) -> Overlaps:
    """Find the pairs of boxes of a frame that overlap."""
    least = np.nextafter(0.0, 1.0)  # any at all
    begin = result.starts(frames)
    counts = np.zeros(len(truth), dtype=np.int64)
    count_overlaps(truth.box, truth.frame, result.box, begin, least, counts)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    row, iou = np.zeros(start[-1], dtype=np.int64), np.zeros(start[-1])
    list_overlaps(truth.box, truth.frame, result.box, begin, least, start, row, iou)
    return Overlaps(start, row, iou)


def serials(truth: Boxes, result: Boxes, camera: np.ndarray) -> np.ndarray:
    """Number the frames with boxes of both sides, skipping a number between two cameras.

    A frame without boxes of both has the number of the one before: nothing can be paired there,
    so it interrupts no pairing.
    """
    frames = len(camera)
    both = (np.diff(truth.starts(frames)) > 0) & (np.diff(result.starts(frames)) > 0)
    return (np.cumsum(both) + camera).astype(np.int64)


def match(
    truth: Boxes,
    result: Boxes,
    overlaps: Overlaps,
    serial: np.ndarray,
    pairing: str,
    keep: bool = True,
) -> np.ndarray:
    """Return the result box of each ground-truth box, or -1.

    Pairing ``"last-known"``: a target's last pairing is kept, however long ago, where both are
    present and overlap; then as many boxes as possible are matched, with the largest sum of
    overlaps. ``"previous-frame"``: only pairings of the frame before are kept; then the sum of
    overlaps is the largest. Without `keep`, no earlier pairing is kept.
    """
    frames = len(serial)
    begin = truth.starts(frames)
    targets = int(truth.code.max()) + 1 if len(truth) else 0
    most = int(np.diff(overlaps.start[begin]).max(initial=0))
    memory = 0 if not keep else _EVER if pairing == "last-known" else 1
    most_first = pairing == "last-known"
    # One pair more outweighs every overlap.
    weight = overlaps.iou + 2 if most_first else overlaps.iou
    frame_data = Frames(
        serial, begin, truth.code, result.code, overlaps.start, overlaps.row, weight
    )
    state = Pairing(
        last=np.full(targets, -1, dtype=np.int64),
        last_serial=np.full(targets, -2, dtype=np.int64),
        match=np.full(len(truth), -1, dtype=np.int64),
        taken=np.zeros(len(result), dtype=np.uint8),
        first=np.zeros(len(result)),
        second=np.zeros(len(result)),
        open_truth=np.zeros(most, dtype=np.int64),
        open_overlap=np.zeros(most, dtype=np.int64),
    )
    frame, competing = match_frames(0, False, memory, frame_data, state)
    while frame < frames:
        rows, edges = state.open_truth[:competing], state.open_overlap[:competing]
        columns = overlaps.row[edges]
        for i, j in _assign(rows, columns, overlaps.iou[edges], most_first):
            state.match[i], state.taken[j] = j, 1
        frame, competing = match_frames(frame, True, memory, frame_data, state)
    return state.match


def _assign(
    rows: np.ndarray, columns: np.ndarray, iou: np.ndarray, most_first: bool
) -> list[tuple[int, int]]:
    """Return the best assignment of competing boxes."""
    left, i = np.unique(rows, return_inverse=True)
    right, j = np.unique(columns, return_inverse=True)
    weight = np.zeros((len(left), len(right)))
    # With this much more for each pair, no sum of overlaps outweighs one pair more.
    weight[i, j] = iou + (1 + min(weight.shape) if most_first else 0)
    a, b = linear_sum_assignment(weight, maximize=True)
    real = weight[a, b] > 0
    return list(zip(left[a[real]].tolist(), right[b[real]].tolist(), strict=True))


def most_in_common(target: np.ndarray, identity: np.ndarray) -> int:
    """Return the largest number of overlaps under a one-to-one assignment (IDTP).

    `target` and `identity` are those of each overlap. Each target gets at most one identity, and
    each identity at most one target. The number of their overlaps that belong to such pairs is
    IDTP; since every other box is an error, a match of least cost has the most of them.
    """
    if not len(target):
        return 0
    rows, i = np.unique(target, return_inverse=True)
    columns, j = np.unique(identity, return_inverse=True)
    n, m = len(rows), len(columns)
    # A target may be left without identity: it has a further column of its own, of weight 1,
    # and the weight of an identity is 1 more than their overlaps.
    places = (
        np.concatenate([i.reshape(-1), np.arange(n)]),
        np.concatenate([j.reshape(-1), m + np.arange(n)]),
    )
    table = sparse.coo_array((np.ones(len(places[0])), places), shape=(n, m + n)).tocsr()
    table.sum_duplicates()
    table.data[table.indices < m] += 1
    weight = table[min_weight_full_bipartite_matching(table, maximize=True)].sum()
    return round(float(weight)) - n

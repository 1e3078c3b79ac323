"""Overlaps of ground-truth and result boxes, frame by frame, and the pairs without alternative."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange


class Frames(NamedTuple):
    """The boxes of all frames and their overlaps.

    Attributes
    ----------
    serial : int64 array, shape (frames,)
        Number of each frame, for the memory of pairings.
    start : int64 array, shape (frames + 1,)
        Where the ground-truth boxes of each frame begin.
    target, identity : int64 arrays, shapes (n,) and (m,)
        The target of each ground-truth box, and the identity of each result box.
    overlap_start : int64 array, shape (n + 1,)
        Where the overlaps of each ground-truth box begin.
    overlap_row : int64 array
        The result box of each overlap.
    """

    serial: np.ndarray
    start: np.ndarray
    target: np.ndarray
    identity: np.ndarray
    overlap_start: np.ndarray
    overlap_row: np.ndarray


class Pairing(NamedTuple):
    """The pairing so far, changed frame by frame.

    Attributes
    ----------
    last, last_serial : int64 arrays, shape (targets,)
        Each target's last identity, and the number of the frame of that pairing.
    match : int64 array, shape (n,)
        The result box of each ground-truth box, or -1.
    taken : uint8 array, shape (m,)
        Whether a result box is matched.
    degree : int64 array, shape (m,), zeros at first
        Unmatched ground-truth boxes that overlap each result box.
    open_truth, open_overlap : int64 arrays
        The competing ground-truth boxes of the current frame, and their overlaps.
    """

    last: np.ndarray
    last_serial: np.ndarray
    match: np.ndarray
    taken: np.ndarray
    degree: np.ndarray
    open_truth: np.ndarray
    open_overlap: np.ndarray


@njit(cache=True)
def _iou(a, b):
    """Return the intersection over the union of two boxes (left, top, width, height)."""
    a_right = a[0] + a[2]
    a_bottom = a[1] + a[3]
    b_right = b[0] + b[2]
    b_bottom = b[1] + b[3]
    wide = min(a_right, b_right) - max(a[0], b[0])
    high = min(a_bottom, b_bottom) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    both = wide * high
    # Sides as they come out of the sums, so that a box has an overlap of exactly 1 with itself.
    union = (a_right - a[0]) * (a_bottom - a[1]) + (b_right - b[0]) * (b_bottom - b[1]) - both
    return both / union if union > 0 else 0.0


@njit(parallel=True, cache=True)
def count_overlaps(truth, frame_of_truth, result, result_start, least, counts):
    """Count, for each ground-truth box, the result boxes of its frame that overlap it enough.

    Boxes are (left, top, width, height); the result boxes of frame ``f`` begin at
    ``result_start[f]``, and overlap enough if their intersection over union is at least `least`.
    """
    for i in prange(len(truth)):
        f = frame_of_truth[i]
        found = 0
        for j in range(result_start[f], result_start[f + 1]):
            if _iou(truth[i], result[j]) >= least:
                found += 1
        counts[i] = found


@njit(parallel=True, cache=True)
def list_overlaps(truth, frame_of_truth, result, result_start, least, start, row, iou):
    """Write the overlaps that :func:`count_overlaps` counted: result box, and IoU.

    Those of ground-truth box ``i`` begin at ``start[i]``.
    """
    for i in prange(len(truth)):
        f = frame_of_truth[i]
        k = start[i]
        for j in range(result_start[f], result_start[f + 1]):
            value = _iou(truth[i], result[j])
            if value >= least:
                row[k] = j
                iou[k] = value
                k += 1


@njit(cache=True)
def _keep_pairings(f, memory, frames, pairing):
    """Keep the earlier pairings that still overlap, in the order of the targets."""
    for i in range(frames.start[f], frames.start[f + 1]):
        t = frames.target[i]
        if pairing.last[t] < 0 or pairing.last_serial[t] < frames.serial[f] - memory:
            continue
        for k in range(frames.overlap_start[i], frames.overlap_start[i + 1]):
            j = frames.overlap_row[k]
            if not pairing.taken[j] and frames.identity[j] == pairing.last[t]:
                pairing.match[i] = j
                pairing.taken[j] = 1
                break


@njit(cache=True)
def _pair_without_alternative(f, frames, pairing):
    """Match the pairs that overlap nothing else; list the other overlaps, and return how many."""
    for i in range(frames.start[f], frames.start[f + 1]):
        if pairing.match[i] < 0:
            for k in range(frames.overlap_start[i], frames.overlap_start[i + 1]):
                pairing.degree[frames.overlap_row[k]] += 1
    competing = 0
    for i in range(frames.start[f], frames.start[f + 1]):
        if pairing.match[i] >= 0:
            continue
        free = 0
        at = -1
        for k in range(frames.overlap_start[i], frames.overlap_start[i + 1]):
            if not pairing.taken[frames.overlap_row[k]]:
                free += 1
                at = k
        if free == 1 and pairing.degree[frames.overlap_row[at]] == 1:
            # No other ground-truth box overlaps it, so none looks for it below.
            pairing.match[i] = frames.overlap_row[at]
            pairing.taken[frames.overlap_row[at]] = 1
        elif free > 0:
            for k in range(frames.overlap_start[i], frames.overlap_start[i + 1]):
                if not pairing.taken[frames.overlap_row[k]]:
                    pairing.open_truth[competing] = i
                    pairing.open_overlap[competing] = k
                    competing += 1
    return competing


@njit(cache=True)
def match_frames(f, resume, memory, frames, pairing):
    """Match frame after frame, up to one whose boxes compete and need an assignment.

    In each frame, earlier pairings that still overlap are kept, in the order of the targets, over a
    difference of `serial` up to `memory`; then pairs of boxes that overlap nothing else that is
    left. The remaining boxes compete. Go on with frame `f`, whose competing boxes have been matched
    meanwhile if `resume`. Return the frame that needs an assignment and the number of its competing
    overlaps; or the number of frames, and 0.
    """
    while f < len(frames.serial):
        if not resume:
            _keep_pairings(f, memory, frames, pairing)
            competing = _pair_without_alternative(f, frames, pairing)
            if competing > 0:
                return f, competing
        resume = False
        for i in range(frames.start[f], frames.start[f + 1]):
            if pairing.match[i] >= 0:
                pairing.last[frames.target[i]] = frames.identity[pairing.match[i]]
                pairing.last_serial[frames.target[i]] = frames.serial[f]
        f += 1
    return len(frames.serial), 0

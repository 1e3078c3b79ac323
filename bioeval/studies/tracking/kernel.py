"""Overlaps of ground-truth and result boxes, frame by frame, and the pairs that are certain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from bioeval.kernels.compiling import compiled, parallel_rows


class Frames(NamedTuple):
    """The boxes of all frames and their overlaps."""

    serial: np.ndarray  # int64 (frames,): number of each frame, for the memory of pairings
    start: np.ndarray  # int64 (frames + 1,): where the ground-truth boxes of each frame begin
    #: int64 (n,) and (m,): the target of each ground-truth box, and the identity of each result
    #: box.
    target: np.ndarray
    identity: np.ndarray
    overlap_start: np.ndarray  # int64 (n + 1,): where the overlaps of each ground-truth box begin
    overlap_row: np.ndarray  # int64: the result box of each overlap
    #: float64: what the pair adds to the sum that an assignment makes largest; above 0.
    weight: np.ndarray


class Pairing(NamedTuple):
    """The pairing so far, updated frame by frame."""

    #: int64 (targets,): each target's last identity, and the number of the frame of that pairing.
    last: np.ndarray
    last_serial: np.ndarray
    match: np.ndarray  # int64 (n,): the result box of each ground-truth box, or -1
    taken: np.ndarray  # uint8 (m,): whether a result box is matched
    #: float64 (m,): the two largest weights of each result box with unmatched ground-truth boxes.
    first: np.ndarray
    second: np.ndarray
    #: int64: the competing ground-truth boxes of the current frame, and their overlaps.
    open_truth: np.ndarray
    open_overlap: np.ndarray


@register_jitable
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


@parallel_rows("truth")
def count_overlaps(begin, end, truth, frame_of_truth, result, result_start, counts):
    """Count, for each ground-truth box, the result boxes of its frame that overlap it.

    Boxes are (left, top, width, height); the result boxes of frame ``f`` begin at
    ``result_start[f]``.
    """
    for i in range(begin, end):
        f = frame_of_truth[i]
        partner = 0
        for j in range(result_start[f], result_start[f + 1]):
            if _iou(truth[i], result[j]) > 0.0:
                partner += 1
        counts[i] = partner


@parallel_rows("truth")
def list_overlaps(begin, end, truth, frame_of_truth, result, result_start, start, row, iou):
    """Write the counted overlaps, result box and IoU; those of box ``i`` from ``start[i]`` on."""
    for i in range(begin, end):
        f = frame_of_truth[i]
        k = start[i]
        for j in range(result_start[f], result_start[f + 1]):
            value = _iou(truth[i], result[j])
            if value > 0.0:
                row[k] = j
                iou[k] = value
                k += 1


@register_jitable
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


@register_jitable
def _two_largest(f, frames, pairing):
    """Write the two largest weights of each remaining result box."""
    for i in range(frames.start[f], frames.start[f + 1]):
        for k in range(frames.overlap_start[i], frames.overlap_start[i + 1]):
            pairing.first[frames.overlap_row[k]] = 0.0
            pairing.second[frames.overlap_row[k]] = 0.0
    for i in range(frames.start[f], frames.start[f + 1]):
        if pairing.match[i] >= 0:
            continue
        for k in range(frames.overlap_start[i], frames.overlap_start[i + 1]):
            j = frames.overlap_row[k]
            if frames.weight[k] > pairing.first[j]:
                pairing.second[j] = pairing.first[j]
                pairing.first[j] = frames.weight[k]
            elif frames.weight[k] > pairing.second[j]:
                pairing.second[j] = frames.weight[k]


@register_jitable
def _pair_dominant(f, frames, pairing):
    """Pair boxes whose overlap exceeds the best others of both; return the number.

    Every best assignment contains them: in one that does not, this pair in place of those of its
    two boxes would make the sum larger.
    """
    partner = 0
    for i in range(frames.start[f], frames.start[f + 1]):
        if pairing.match[i] >= 0:
            continue
        at = -1
        most = 0.0
        other = 0.0
        for k in range(frames.overlap_start[i], frames.overlap_start[i + 1]):
            if pairing.taken[frames.overlap_row[k]]:
                continue
            if frames.weight[k] > most:
                other = most
                most = frames.weight[k]
                at = k
            elif frames.weight[k] > other:
                other = frames.weight[k]
        if at < 0:
            continue
        # Of the two largest weights of result box j, this is one, or smaller than both.
        j = frames.overlap_row[at]
        if most > other + pairing.second[j]:
            pairing.match[i] = j
            pairing.taken[j] = 1
            partner += 1
    return partner


@register_jitable
def _list_competing(f, frames, pairing):
    """List the overlaps of the remaining boxes, and return their number."""
    competing = 0
    for i in range(frames.start[f], frames.start[f + 1]):
        if pairing.match[i] >= 0:
            continue
        for k in range(frames.overlap_start[i], frames.overlap_start[i + 1]):
            if not pairing.taken[frames.overlap_row[k]]:
                pairing.open_truth[competing] = i
                pairing.open_overlap[competing] = k
                competing += 1
    return competing


@compiled
def match_frames(f, resume, memory, frames, pairing):
    """Match frame after frame, up to a frame whose boxes compete and need an assignment.

    In each frame, earlier pairings that still overlap are kept, in the order of the targets, over a
    difference of `serial` up to `memory`; then the pairs that every best assignment contains. The
    remaining boxes compete. Go on with frame `f`, whose competing boxes have been matched meanwhile
    if `resume`. Return the frame that needs an assignment and the number of its competing overlaps;
    or the number of frames, and 0.
    """
    while f < len(frames.serial):
        if not resume:
            _keep_pairings(f, memory, frames, pairing)
            _two_largest(f, frames, pairing)
            while _pair_dominant(f, frames, pairing) > 0:
                _two_largest(f, frames, pairing)
            competing = _list_competing(f, frames, pairing)
            if competing > 0:
                return f, competing
        resume = False
        for i in range(frames.start[f], frames.start[f + 1]):
            if pairing.match[i] >= 0:
                pairing.last[frames.target[i]] = frames.identity[pairing.match[i]]
                pairing.last_serial[frames.target[i]] = frames.serial[f]
        f += 1
    return len(frames.serial), 0

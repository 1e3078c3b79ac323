"""Boxes of two files, frame by frame: which overlap enough, and which pairs leave no choice."""

from __future__ import annotations

from numba import njit, prange


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
    """Count for each box of the truth the results of its frame that overlap it enough.

    Parameters
    ----------
    truth, result : float64 arrays, shape (n, 4) and (m, 4)
        Left, top, width, height.
    frame_of_truth : int64 array, shape (n,)
    result_start : int64 array, shape (frames + 1,)
        Where the results of each frame begin.
    least : float
        Smallest intersection over union.
    counts : int64 array, shape (n,), written
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
    """Write the overlaps that :func:`count_overlaps` counted.

    Parameters
    ----------
    start : int64 array, shape (n + 1,)
        Where the overlaps of each box of the truth begin.
    row : int64 array, written
        The result's row.
    iou : float64 array, written
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
def match_frames(
    f,
    resume,
    memory,
    serial,
    truth_start,
    target,
    identity,
    start,
    row,
    last,
    last_serial,
    match,
    taken,
    degree,
    open_truth,
    open_edge,
):
    """Match frame after frame, until one has boxes that compete: an assignment is needed there.

    In each frame, pairings of before that still overlap are kept, in the order of the targets;
    then pairs of boxes that overlap nothing else that is left. What remains, competes.

    Parameters
    ----------
    f : int
        The frame to go on with.
    resume : bool
        Whether the boxes of frame `f` that compete have been matched meanwhile.
    memory : int
        How many frames back a pairing may lie and be kept, by `serial`; 0 keeps none.
    serial : int64 array, shape (frames,)
        Number of each frame, for `memory`.
    truth_start : int64 array, shape (frames + 1,)
    target, identity : int64 arrays, shapes (n,) and (m,)
        Whose the boxes are.
    start, row : int64 arrays
        The overlaps of each box of the truth.
    last, last_serial : int64 arrays, shape (targets,), changed
        Each target's last identity, and when it had it.
    match : int64 array, shape (n,), written
        Row of the result, or -1.
    taken : uint8 array, shape (m,), changed
        Whether a result is matched.
    degree : int64 array, shape (m,), zeros, changed
        How many boxes of the truth each result could have.
    open_truth, open_edge : int64 arrays, written
        Boxes of the truth that compete, and their overlaps, where a frame needs an assignment.

    Returns
    -------
    frame, competing : int
        The frame that needs an assignment and the number of its overlaps that compete; or the
        number of frames, and 0.
    """
    frames = len(serial)
    while f < frames:
        first = truth_start[f]
        behind = truth_start[f + 1]
        if not resume:
            for i in range(first, behind):
                t = target[i]
                if last[t] < 0 or last_serial[t] < serial[f] - memory:
                    continue
                for k in range(start[i], start[i + 1]):
                    j = row[k]
                    if not taken[j] and identity[j] == last[t]:
                        match[i] = j
                        taken[j] = 1
                        break
            for i in range(first, behind):
                if match[i] < 0:
                    for k in range(start[i], start[i + 1]):
                        degree[row[k]] += 1
            competing = 0
            for i in range(first, behind):
                if match[i] >= 0:
                    continue
                free = 0
                at = -1
                for k in range(start[i], start[i + 1]):
                    if not taken[row[k]]:
                        free += 1
                        at = k
                if free == 1 and degree[row[at]] == 1:
                    # Nobody else can have it, so nobody asks for it below.
                    match[i] = row[at]
                    taken[row[at]] = 1
                elif free > 0:
                    for k in range(start[i], start[i + 1]):
                        if not taken[row[k]]:
                            open_truth[competing] = i
                            open_edge[competing] = k
                            competing += 1
            if competing > 0:
                return f, competing
        resume = False
        for i in range(first, behind):
            if match[i] >= 0:
                last[target[i]] = identity[match[i]]
                last_serial[target[i]] = serial[f]
        f += 1
    return frames, 0

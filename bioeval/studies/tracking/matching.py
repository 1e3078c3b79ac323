"""One sequence with integer codes for its identities, and the matching of its boxes.

Boxes of one frame can be paired if they overlap enough. Earlier pairings are kept while their boxes
overlap; pairing all other boxes is an assignment problem, which SciPy solves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.tracking.inputs import BoxRows, Pair

#: The distractor classes of MOT16 and later, whose matched result boxes are removed. In MOT20, they
#: include other vehicles.
DISTRACTORS = {"motchallenge": (2, 7, 8, 12), "mot20": (2, 6, 7, 8, 12)}

#: The class that is evaluated, if there are classes.
PEDESTRIAN = 1


@dataclass(frozen=True)
class Boxes:
    """Boxes in the order of frames, and in each frame in the order of identities."""

    code: np.ndarray  # int64 (n,): the target, or the identity of the result
    frame: np.ndarray  # int64 (n,): index among the frames with rows
    box: np.ndarray  # float64 (n, 4): left, top, width, height

    def __len__(self) -> int:
        return len(self.code)

    def select(self, keep: np.ndarray) -> Boxes:
        return Boxes(self.code[keep], self.frame[keep], np.ascontiguousarray(self.box[keep]))

    def starts(self, frames: int) -> np.ndarray:
        """Return the index of the first box of each frame, and last the number of boxes."""
        return np.searchsorted(self.frame, np.arange(frames + 1)).astype(np.int64)


@dataclass(frozen=True)
class Scene:
    """The boxes of one sequence, including boxes that are ignored."""

    name: str
    truth: Boxes
    result: Boxes
    target_ids: np.ndarray  # int64: the id of each code of the ground truth
    identity_ids: np.ndarray  # int64: the id of each code of the result
    counted: np.ndarray  # bool: whether a ground-truth box is evaluated; others are ignored
    distractor: np.ndarray  # bool: whether matches of a ground-truth box are removed
    category: np.ndarray  # int64: the class of each ground-truth box
    world: bool  # whether column 8 of the ground truth is a world coordinate instead of a class
    camera: np.ndarray  # int64: index of the camera of each frame with rows
    cameras: int
    frames: int  # number of frames, with and without rows
    frames_from: str  # place where the number is stated, in words
    notes: list[Message]  # remarks on the data


def make_scene(pair: Pair, ignored: str, classes: Sequence[int] | None, numbered: bool) -> Scene:
    """Order the rows of a sequence, and code its targets and identities.

    `classes` are the classes that are evaluated; None for the classes of the convention. Classes
    are `numbered` if a row of the ground truth, in any sequence, has a class from 1 up.
    """
    # A key for each frame of each camera; `frame_keys` are the keys with rows.
    sides = pair.truth, pair.result
    cameras = np.union1d(pair.truth.camera, pair.result.camera)
    stride = 1 + max(int(rows.frame.max(initial=0)) for rows in sides)
    keys = [np.searchsorted(cameras, rows.camera) * stride + rows.frame for rows in sides]
    frame_keys = np.union1d(*keys)
    orders, boxes, ids = [], [], []
    for rows, key in zip(sides, keys, strict=True):
        order = np.lexsort((rows.line, rows.identity, key))
        _refuse_repeated_ids(rows, key, order)
        distinct, code = np.unique(rows.identity, return_inverse=True)
        frame = np.searchsorted(frame_keys, key[order])
        boxes.append(Boxes(code.reshape(-1)[order], frame, np.ascontiguousarray(rows.box[order])))
        orders.append(order)
        ids.append(distinct)
    _refuse_frames_beyond_length(pair)
    counted, distractor = _evaluated_and_distractors(pair.truth, ignored, classes, numbered)
    frames, frames_from = len(frame_keys), "rows"
    if pair.frames is not None:
        frames = pair.frames * max(len(cameras), 1)
        frames_from = pair.frames_from
    return Scene(
        name=pair.name,
        truth=boxes[0],
        result=boxes[1],
        target_ids=ids[0],
        identity_ids=ids[1],
        counted=counted[orders[0]],
        distractor=distractor[orders[0]],
        category=pair.truth.category[orders[0]],
        world=pair.truth.world,
        camera=frame_keys // stride,
        cameras=len(cameras),
        frames=frames,
        frames_from=frames_from,
        notes=_remarks_on_rows(pair, counted),
    )


def _refuse_repeated_ids(rows: BoxRows, key: np.ndarray, order: np.ndarray) -> None:
    in_order, identity = key[order], rows.identity[order]
    again = np.flatnonzero((in_order[1:] == in_order[:-1]) & (identity[1:] == identity[:-1])) + 1
    if len(again):
        i = min(again, key=lambda i: rows.line[order[i]])
        row, before = order[i], order[i - 1]
        raise DataError(
            f"{rows.where(row)}: duplicate id {rows.identity[row]} in frame {rows.frame[row]}, "
            f"as in {rows.line[before]}; expected each id once in a frame "
            f"({counted(len(again), 'boxes')} too many)"
        )


def _evaluated_and_distractors(
    truth: BoxRows, ignored: str, classes: Sequence[int] | None, numbered: bool
) -> tuple[np.ndarray, np.ndarray]:
    counted = truth.flag != 0
    if classes is not None:
        counted &= np.isin(truth.category, classes)
    elif ignored in DISTRACTORS:
        # A box without a class counts as a pedestrian; 0 is a class only if classes are numbered.
        has_class = truth.category >= (0 if numbered else 1)
        counted &= ~has_class | (truth.category == PEDESTRIAN)
    if ignored == "count":
        return counted, np.zeros(len(truth), dtype=bool)
    if ignored == "remove":
        return counted, ~counted
    return counted, ~counted & np.isin(truth.category, DISTRACTORS[ignored])


def _refuse_frames_beyond_length(pair: Pair) -> None:
    for rows in (pair.truth, pair.result):
        if pair.frames is not None and (beyond := np.flatnonzero(rows.frame > pair.frames)).size:
            raise DataError(
                f"{rows.where(beyond[0])}: frame is {rows.frame[beyond[0]]}; expected at most "
                f"{pair.frames}, the length that is {pair.frames_from}"
            )


def _remarks_on_rows(pair: Pair, counted: np.ndarray) -> list[Message]:
    truth = pair.truth
    result = pair.result
    notes = [
        Message("no-boxes", side=side)
        for side, boxes in (("ground truth", counted.any()), ("result", len(result)))
        if not boxes
    ]
    if pair.frames is None and len(truth):
        last = int(truth.frame.max())
        if boxes_after := int(np.count_nonzero(result.frame > last)):
            notes.append(Message("boxes-beyond-truth", boxes=boxes_after, last=last))
    return notes


#: The relative tolerance of the threshold for rounding errors: coordinates are decimals.
ROUNDING = 1e-12

#: Which earlier pairings are kept.
EarlierPairing = Literal["last-known", "previous-frame"]


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
    """Find the pairs of boxes of the same frame that overlap."""
    pairs = [np.empty((2, 0), dtype=np.int64)]
    overlaps = [np.empty(0)]
    truth_starts = truth.starts(frames).tolist()
    result_starts = result.starts(frames).tolist()
    for (i, i_end), (j, j_end) in zip(pairwise(truth_starts), pairwise(result_starts), strict=True):
        if i < i_end and j < j_end:
            iou = _iou(truth.box[i:i_end, None].T, result.box[None, j:j_end].T).T
            pair = np.nonzero(iou > 0)
            overlaps.append(iou[pair])
            pairs.append(np.stack(pair) + [[i], [j]])
    box, row = np.concatenate(pairs, axis=1)
    start = np.searchsorted(box, np.arange(len(truth) + 1))
    return Overlaps(start, row, np.concatenate(overlaps))


def _iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the intersection over the union of boxes (left, top, width, height), (4, n)."""
    a_right = a[0] + a[2]
    a_bottom = a[1] + a[3]
    b_right = b[0] + b[2]
    b_bottom = b[1] + b[3]
    width = np.minimum(a_right, b_right) - np.maximum(a[0], b[0])
    height = np.minimum(a_bottom, b_bottom) - np.maximum(a[1], b[1])
    intersection = np.maximum(width, 0) * np.maximum(height, 0)
    # Widths are rounded like those of the intersection: the IoU of a box with itself is exactly 1.
    union = (
        (a_right - a[0]) * (a_bottom - a[1]) + (b_right - b[0]) * (b_bottom - b[1]) - intersection
    )
    return ratio(intersection, union)


def serials(truth: Boxes, result: Boxes, camera: np.ndarray) -> np.ndarray:
    """Return a serial number for each frame, by which consecutive frames differ by 1.

    Nothing can be paired in a frame without boxes of both sides: it has the number of the frame
    before, and interrupts no pairing. A number is skipped between two cameras, so that pairing
    ``"previous-frame"`` keeps nothing from one camera to the next.
    """
    frames = len(camera)
    has_both_sides = (np.diff(truth.starts(frames)) > 0) & (np.diff(result.starts(frames)) > 0)
    return (np.cumsum(has_both_sides) + camera).astype(np.int64)


def match(
    truth: Boxes,
    result: Boxes,
    overlaps: Overlaps,
    serial: np.ndarray,
    pairing: str,
    keep: bool = True,
) -> np.ndarray:
    """Return the result box of each ground-truth box, or -1.

    - pairing ``"last-known"``: a target's last pairing is kept, however old, if both are present
      and overlap; then as many boxes as possible are matched, with the largest sum of overlaps
    - pairing ``"previous-frame"``: only pairings of the frame before are kept; then boxes are
      matched with the largest sum of overlaps
    - without `keep`: no earlier pairing is kept
    """
    box_of = overlaps.truth.tolist()
    row_of = overlaps.row.tolist()
    iou_of = overlaps.iou.tolist()
    target = truth.code.tolist()
    identity = result.code.tolist()
    first_overlap = overlaps.start[truth.starts(len(serial))].tolist()
    matches: dict[int, int] = {}
    # The last identity of each target, and the serial number of its frame.
    last: dict[int, tuple[int, int]] = {}
    for frame, serial_of_frame in enumerate(serial.tolist()):
        candidates = list(range(first_overlap[frame], first_overlap[frame + 1]))
        used_rows = set[int]()
        pairs: list[tuple[int, int]] = []
        if keep:
            for k in candidates:
                box, row = box_of[k], row_of[k]
                last_identity, last_serial = last.get(target[box], (-1, -1))
                is_recent = pairing == "last-known" or last_serial >= serial_of_frame - 1
                if is_recent and last_identity == identity[row] and row not in used_rows:
                    pairs.append((box, row))
                    used_rows.add(row)
            kept = dict(pairs)
            candidates = [
                k for k in candidates if box_of[k] not in kept and row_of[k] not in used_rows
            ]
        pairs += _assign(
            [box_of[k] for k in candidates],
            [row_of[k] for k in candidates],
            [iou_of[k] for k in candidates],
            pairing == "last-known",
        )
        matches.update(pairs)
        last.update((target[box], (identity[row], serial_of_frame)) for box, row in pairs)
    matched = np.full(len(truth), -1, dtype=np.int64)
    matched[list(matches)] = list(matches.values())
    return matched


def _assign(
    boxes: list[int], rows: list[int], iou: list[float], most_pairs: bool
) -> list[tuple[int, int]]:
    """Return pairs of boxes and result rows with the largest sum of IoU, one-to-one.

    Candidates are (``boxes[k]``, ``rows[k]``). With `most_pairs`, the number of pairs is maximised
    before the sum.
    """
    if len(set(boxes)) == len(set(rows)) == len(boxes):  # there is no choice
        return list(zip(boxes, rows, strict=True))
    distinct_boxes, i = np.unique(boxes, return_inverse=True)
    distinct_rows, j = np.unique(rows, return_inverse=True)
    weight = np.zeros((len(distinct_boxes), len(distinct_rows)))
    weight[i, j] = iou
    if most_pairs:
        # An overlap is at most 1: with this addition, one more pair outweighs any sum of them.
        weight[i, j] += 1 + min(weight.shape)
    assigned_i, assigned_j = linear_sum_assignment(weight, maximize=True)
    is_pair = weight[assigned_i, assigned_j] > 0
    paired_boxes = distinct_boxes[assigned_i[is_pair]]
    paired_rows = distinct_rows[assigned_j[is_pair]]
    return list(zip(paired_boxes.tolist(), paired_rows.tolist(), strict=True))


def most_in_common(target: np.ndarray, identity: np.ndarray) -> int:
    """Return the largest number of overlaps of assigned pairs of a target and an identity (IDTP).

    `target` and `identity` are the codes of each overlap. Each target is assigned at most one
    identity, and each identity at most one target. All boxes outside of these overlaps are errors,
    so that the assignment with the fewest errors has the largest IDTP: Ristani et al. (2016).
    """
    if not len(target):
        return 0
    distinct_targets, i = np.unique(target, return_inverse=True)
    distinct_identities, j = np.unique(identity, return_inverse=True)
    targets = len(distinct_targets)
    identities = len(distinct_identities)
    # The weight of an identity is the number of overlaps plus 1. A target may stay without an
    # identity: it has one more column, of weight 1.
    cells = (
        np.concatenate([i.reshape(-1), np.arange(targets)]),
        np.concatenate([j.reshape(-1), identities + np.arange(targets)]),
    )
    shape = targets, identities + targets
    table = sparse.coo_array((np.ones(len(cells[0])), cells), shape=shape).tocsr()
    table.sum_duplicates()
    table.data[table.indices < identities] += 1
    weight = table[min_weight_full_bipartite_matching(table, maximize=True)].sum()
    return round(float(weight)) - targets


def fingerprint(scenes: Sequence[Scene]) -> str:
    """Return the numbers of boxes and a digest of all rows, independent of the order of rows."""
    digest = hashlib.sha256()
    truth = result = 0
    for scene in scenes:
        truth += len(scene.truth)
        result += len(scene.result)
        digest.update(f"{scene.name}||{scene.frames}".encode())
        for boxes, ids in ((scene.truth, scene.target_ids), (scene.result, scene.identity_ids)):
            for array in (ids[boxes.code], boxes.frame, boxes.box):
                digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(scene.camera.tobytes() + scene.counted.tobytes())
    return f"{truth} x {result} boxes {digest.hexdigest()[:16]}"

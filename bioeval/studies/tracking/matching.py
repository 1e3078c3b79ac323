"""One sequence as integer codes, and the matching of its boxes and identities.

Boxes of one frame can be paired if they overlap enough. Earlier pairings are kept while they
overlap; the rest is an assignment problem, which scipy solves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message
from bioeval.stats.people import ratio
from bioeval.studies.tracking.inputs import Pair, Rows, frames_of, in_order

#: Distractor classes of MOT16 and later: result boxes matched to one are removed. Those of MOT20
#: include other vehicles.
DISTRACTORS = {"motchallenge": (2, 7, 8, 12), "mot20": (2, 6, 7, 8, 12)}

#: The class evaluated, if there are classes.
PEDESTRIAN = 1


@dataclass(frozen=True)
class Boxes:
    """Boxes in the order of the frames, and of the identities in each."""

    code: np.ndarray  # int64 (n,): target or identity
    frame: np.ndarray  # int64 (n,): index of the scene's frame
    box: np.ndarray  # float64 (n, 4)

    def __len__(self) -> int:
        return len(self.code)

    def select(self, keep: np.ndarray) -> Boxes:
        """Return some of the boxes."""
        return Boxes(self.code[keep], self.frame[keep], np.ascontiguousarray(self.box[keep]))

    def starts(self, frames: int) -> np.ndarray:
        """Return where each frame's boxes begin, and where the last one's end."""
        return np.searchsorted(self.frame, np.arange(frames + 1)).astype(np.int64)


@dataclass(frozen=True)
class Scene:
    """The boxes of one sequence, ignored ones included, and remarks on the data (`notes`)."""

    name: str
    truth: Boxes
    result: Boxes
    target_ids: np.ndarray  # int64: the id of each code
    identity_ids: np.ndarray
    counted: np.ndarray  # bool: ground-truth boxes evaluated; the others are ignored
    distractor: np.ndarray  # bool: ground-truth boxes whose matches are removed
    category: np.ndarray  # int64: the class of ground-truth boxes
    camera: np.ndarray  # int64, of each frame with rows, in order: index into `cameras`
    number: np.ndarray  # int64, of each frame with rows: its number
    cameras: list[str]
    frames: int  # with and without rows
    frames_from: str
    notes: list[Message]


class _OrderedRows(NamedTuple):
    """Rows, a number of the frame of each over all cameras, and the order of frames and ids."""

    rows: Rows
    key: np.ndarray
    order: np.ndarray

    @classmethod
    def of(cls, rows: Rows, place: dict[str, int], stride: int) -> _OrderedRows:
        """Order rows; `place` is that of each camera, each of fewer frames than `stride`."""
        code = np.array([place[name] for name in rows.camera.tolist()], dtype=np.int64)
        key = code * stride + rows.frame
        return cls(rows, key, np.lexsort((rows.line, rows.identity, key)))

    def coded(self, units: np.ndarray) -> tuple[Boxes, np.ndarray]:
        """Return the boxes, with frames as places in `units`, and the id of each code."""
        ids, codes = np.unique(self.rows.identity, return_inverse=True)
        frame = np.searchsorted(units, self.key).astype(np.int64)
        boxes = Boxes(codes.reshape(-1).astype(np.int64), frame, self.rows.box)
        return boxes.select(self.order), ids


def make_scene(pair: Pair, ignored: str, numbered: bool) -> Scene:
    """Order the rows of a sequence and code its targets and identities.

    Classes are `numbered` if some row of the ground truth, in any sequence, has one from 1 up.
    """
    truth, result = pair.truth, pair.result
    cameras = in_order([*truth.camera.tolist(), *result.camera.tolist()])
    lengths = frames_of(pair, cameras)
    place = {name: i for i, name in enumerate(cameras)}
    stride = 1 + int(max(truth.frame.max(initial=0), result.frame.max(initial=0)))
    of_truth = _OrderedRows.of(truth, place, stride)
    of_result = _OrderedRows.of(result, place, stride)
    _check_twice(of_truth)
    _check_twice(of_result)
    units = np.union1d(of_truth.key, of_result.key)
    counted, distractor = _roles(truth, ignored, numbered)
    notes = _remarks(truth, result, counted, lengths)
    targets, target_ids = of_truth.coded(units)
    identities, identity_ids = of_result.coded(units)
    frames, frames_from = len(units), "rows"
    if lengths is not None:
        frames, frames_from = sum(lengths.values()), pair.frames_from
    return Scene(
        name=pair.name,
        truth=targets,
        result=identities,
        target_ids=target_ids,
        identity_ids=identity_ids,
        counted=counted[of_truth.order],
        distractor=distractor[of_truth.order],
        category=truth.category[of_truth.order],
        camera=units // stride,
        number=units % stride,
        cameras=cameras,
        frames=frames,
        frames_from=frames_from,
        notes=notes,
    )


def _check_twice(ordered: _OrderedRows) -> None:
    """Raise if an id occurs twice in a frame."""
    rows, order = ordered.rows, ordered.order
    key, identity = ordered.key[order], rows.identity[order]
    again = np.flatnonzero((key[1:] == key[:-1]) & (identity[1:] == identity[:-1])) + 1
    if not len(again):
        return
    i = min(again, key=lambda i: rows.line[order[i]])
    row, before = order[i], order[i - 1]
    where = f" of camera {rows.camera[row]}" if rows.camera[row] else ""
    raise DataError(
        f"{rows.where(row)}: duplicate id {rows.identity[row]} in frame {rows.frame[row]}{where} "
        f"(first on {rows.line_word} {rows.line[before]}); expected each id once in a frame "
        f"({counted(len(again), 'boxes')} too many)"
    )


def _roles(truth: Rows, ignored: str, numbered: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the ground-truth boxes that are evaluated, and of the distractors."""
    counted = truth.flag != 0
    if ignored == "count":
        return counted, np.zeros(len(truth), dtype=bool)
    if ignored == "remove":
        return counted, ~counted
    # A box without a class counts as of the evaluated class; 0 is none unless others have one.
    has_class = truth.category >= (0 if numbered else 1)
    counted = counted & (~has_class | (truth.category == PEDESTRIAN))
    return counted, ~counted & np.isin(truth.category, DISTRACTORS[ignored])


def _remarks(
    truth: Rows, result: Rows, counted: np.ndarray, lengths: dict[str, int] | None
) -> list[Message]:
    """Return remarks on unusual rows."""
    notes = []
    if not counted.any():
        notes.append(Message("no-boxes", side="ground truth"))
    if not len(result):
        notes.append(Message("no-boxes", side="result"))
    if lengths is None and len(truth) and len(result):
        late = int(np.count_nonzero(result.frame > truth.frame.max()))
        if late:
            last = int(truth.frame.max())
            notes.append(Message("boxes-beyond-truth", boxes=late, last=last))
    return notes


#: Relative tolerance of the threshold for rounding, since coordinates are decimals.
ROUNDING = 1e-12

#: Earlier pairings that are kept.
EarlierPairing = Literal["last-known", "previous-frame"]

# Pairs of boxes that are looked at together.
_TOGETHER = 1 << 20


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
    """Find the pairs of boxes of a frame that overlap, some frames at a time."""
    begin = result.starts(frames)
    number = np.diff(begin)[truth.frame]  # result boxes in the frame of each ground-truth box
    ends = np.cumsum(number)
    cuts = np.searchsorted(ends, np.arange(_TOGETHER, int(ends[-1:].sum()), _TOGETHER))
    places = np.unique([0, *cuts.tolist(), len(truth)]).tolist()
    left, begins_at = truth.box[:, 0].copy(), result.box[:, 0].copy()
    right, ends_at = left + truth.box[:, 2], begins_at + result.box[:, 2]
    boxes, rows, overlaps = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    for low, high in zip(places, places[1:], strict=False):
        box = np.repeat(np.arange(low, high), number[low:high])
        row = np.arange(len(box)) + (begin[truth.frame] - ends + number)[box] + (ends - number)[low]
        beside = np.minimum(right[box], ends_at[row]) > np.maximum(left[box], begins_at[row])
        box, row = box[beside], row[beside]  # most boxes of a crowd are far from each other
        iou = _iou(truth.box[box].T, result.box[row].T)
        boxes.append(box[iou > 0])
        rows.append(row[iou > 0])
        overlaps.append(iou[iou > 0])
    start = np.searchsorted(np.concatenate(boxes), np.arange(len(truth) + 1))
    return Overlaps(start, np.concatenate(rows), np.concatenate(overlaps))


def _iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the intersection over the union of boxes (left, top, width, height), (4, n)."""
    a_right, a_bottom, b_right, b_bottom = a[0] + a[2], a[1] + a[3], b[0] + b[2], b[1] + b[3]
    wide = np.minimum(a_right, b_right) - np.maximum(a[0], b[0])
    high = np.minimum(a_bottom, b_bottom) - np.maximum(a[1], b[1])
    both = np.maximum(wide, 0) * np.maximum(high, 0)
    # Sides as they come out of the sums, so that a box has an overlap of exactly 1 with itself.
    union = (a_right - a[0]) * (a_bottom - a[1]) + (b_right - b[0]) * (b_bottom - b[1]) - both
    return ratio(both, union)


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
    box, row, iou = overlaps.truth.tolist(), overlaps.row.tolist(), overlaps.iou.tolist()
    target, identity = truth.code.tolist(), result.code.tolist()
    start = overlaps.start[truth.starts(frames)].tolist()
    match: dict[int, int] = {}
    last: dict[int, tuple[int, int]] = {}  # each target's last identity, and the frame's number
    for frame, number in enumerate(serial.tolist()):
        edges, taken = list(range(start[frame], start[frame + 1])), set[int]()
        pairs: list[tuple[int, int]] = []
        if keep:
            for k in edges:
                before, when = last.get(target[box[k]], (-1, -1))
                recent = pairing == "last-known" or when >= number - 1
                if recent and before == identity[row[k]] and row[k] not in taken:
                    pairs.append((box[k], row[k]))
                    taken.add(row[k])
            kept = dict(pairs)
            edges = [k for k in edges if box[k] not in kept and row[k] not in taken]
        pairs += _assign(
            [box[k] for k in edges],
            [row[k] for k in edges],
            [iou[k] for k in edges],
            pairing == "last-known",
        )
        match.update(pairs)
        last.update((target[i], (identity[j], number)) for i, j in pairs)
    matched = np.full(len(truth), -1, dtype=np.int64)
    matched[list(match)] = list(match.values())
    return matched


def _assign(
    rows: list[int], columns: list[int], iou: list[float], most_first: bool
) -> list[tuple[int, int]]:
    """Return the best assignment of overlapping boxes."""
    if len(set(rows)) == len(set(columns)) == len(rows):  # nothing to choose between
        return list(zip(rows, columns, strict=True))
    left, i = np.unique(rows, return_inverse=True)
    right, j = np.unique(columns, return_inverse=True)
    weight = np.zeros((len(left), len(right)))
    weight[i, j] = iou
    if most_first:
        # With this much more for each pair, no sum of overlaps outweighs one pair more.
        weight[i, j] += 1 + min(weight.shape)
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


def fingerprint(scenes: Sequence[Scene]) -> str:
    """Return the numbers of boxes and a digest of all rows, independent of their order."""
    digest = hashlib.sha256()
    truth = result = 0
    for scene in scenes:
        truth += len(scene.truth)
        result += len(scene.result)
        digest.update(f"{scene.name}|{'|'.join(scene.cameras)}|{scene.frames}".encode())
        for boxes, ids in ((scene.truth, scene.target_ids), (scene.result, scene.identity_ids)):
            for array in (ids[boxes.code], boxes.frame, boxes.box):
                digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(scene.camera.tobytes() + scene.counted.tobytes())
    return f"{truth} x {result} boxes {digest.hexdigest()[:16]}"

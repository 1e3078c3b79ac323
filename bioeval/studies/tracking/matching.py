"""One sequence as integer codes, and the matching of its boxes and identities.

Boxes of one frame can be paired if they overlap enough. Earlier pairings are kept while they
overlap; the rest is an assignment problem, which scipy solves. Pairs that outweigh the best others
of both boxes are paired at once: every best assignment contains them.
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
from bioeval.studies.tracking.inputs import Pair, Rows, frames_of, in_order
from bioeval.studies.tracking.kernel import (
    Frames,
    Pairing,
    count_overlaps,
    list_overlaps,
    match_frames,
)

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
    lengths: dict[str, int] | None  # of the recording of each camera, where they are known
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


def make_scene(pair: Pair, ignored: str, duplicates: str, numbered: bool) -> Scene:
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
    _check_twice(of_truth, "raise")
    _check_twice(of_result, duplicates)
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
        lengths=lengths,
        notes=notes,
    )


def _check_twice(ordered: _OrderedRows, duplicates: str) -> None:
    """Raise if an id occurs twice in a frame, unless that is accepted."""
    rows, order = ordered.rows, ordered.order
    key, identity = ordered.key[order], rows.identity[order]
    again = np.flatnonzero((key[1:] == key[:-1]) & (identity[1:] == identity[:-1])) + 1
    if not len(again):
        return
    if duplicates == "accept":
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
    odd = int(np.count_nonzero((truth.flag != 0) & (truth.flag != 1)))
    if odd:
        notes.append(Message("flags-other-than-0-and-1", rows=odd))
    if not counted.any():
        notes.append(Message("no-boxes", side="ground truth"))
    if not len(result):
        notes.append(Message("no-boxes", side="result"))
    for rows, role in ((truth, "ground truth"), (result, "result")):
        flat = int(np.count_nonzero((rows.box[:, 2:] == 0).any(axis=1)))
        if flat:
            notes.append(Message("boxes-without-area", boxes=flat, side=role))
    strange = sorted(set(result.camera.tolist()) - set(truth.camera.tolist()))
    if strange and len(truth):
        number = int(np.isin(result.camera, strange).sum())
        notes.append(Message("cameras-without-truth", boxes=number, cameras=strange))
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
    begin = result.starts(frames)
    counts = np.zeros(len(truth), dtype=np.int64)
    count_overlaps(truth.box, truth.frame, result.box, begin, counts)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    row, iou = np.zeros(start[-1], dtype=np.int64), np.zeros(start[-1])
    list_overlaps(truth.box, truth.frame, result.box, begin, start, row, iou)
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
    if not keep:
        memory = 0
    elif pairing == "last-known":
        memory = _EVER
    else:
        memory = 1
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

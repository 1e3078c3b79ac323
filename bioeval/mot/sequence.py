"""One sequence: the boxes of ground truth and result as integer codes, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bioeval.base.errors import DataError
from bioeval.mot.boxes import Rows, in_order
from bioeval.mot.inputs import Pair, frames_of

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
    camera: np.ndarray  # int64, of each frame with rows, in order: index into `cameras`
    number: np.ndarray  # int64, of each frame with rows: its number
    cameras: list[str]
    frames: int  # with and without rows
    frames_from: str
    notes: list[str] = field(default_factory=list)


def make_scene(pair: Pair, ignored: str, duplicates: str) -> Scene:
    """Order the rows of a sequence and code its targets and identities."""
    truth, result = pair.truth, pair.result
    cameras = in_order([*truth.camera.tolist(), *result.camera.tolist()])
    lengths = frames_of(pair, cameras)
    place = {name: i for i, name in enumerate(cameras)}
    stride = 1 + max((int(rows.frame.max()) for rows in (truth, result) if len(rows)), default=0)
    keys, orders, notes = [], [], []
    for rows in (truth, result):
        code = np.array([place[name] for name in rows.camera.tolist()], dtype=np.int64)
        key = code * stride + rows.frame
        order = np.lexsort((rows.line, rows.place, rows.identity, key))
        notes += _check_twice(rows, key, order, duplicates if rows is result else "raise")
        keys.append(key)
        orders.append(order)
    units = np.unique(np.concatenate(keys))
    counted, distractor = _roles(truth, ignored)
    sides = []
    for rows, key, order in zip((truth, result), keys, orders, strict=True):
        ids, codes = np.unique(rows.identity, return_inverse=True)
        frame = np.searchsorted(units, key).astype(np.int64)
        boxes = Boxes(codes.reshape(-1).astype(np.int64), frame, rows.box).select(order)
        sides.append((boxes, ids))
    notes += _remarks(truth, result, counted, lengths)
    return Scene(
        name=pair.name,
        truth=sides[0][0],
        result=sides[1][0],
        target_ids=sides[0][1],
        identity_ids=sides[1][1],
        counted=counted[orders[0]],
        distractor=distractor[orders[0]],
        camera=units // stride,
        number=units % stride,
        cameras=cameras,
        frames=len(units) if lengths is None else sum(lengths.values()),
        frames_from=pair.frames_from if lengths is not None else "rows",
        notes=notes,
    )


def _check_twice(rows: Rows, key: np.ndarray, order: np.ndarray, duplicates: str) -> list[str]:
    """Raise if an id occurs twice in a frame, or return a remark where that is accepted."""
    key, identity = key[order], rows.identity[order]
    again = np.flatnonzero((key[1:] == key[:-1]) & (identity[1:] == identity[:-1])) + 1
    if not len(again):
        return []
    if duplicates == "accept":
        return [
            f"{len(again)} boxes of the result share an id with another box of their frame; each "
            "counts as a separate box"
        ]
    i = min(again, key=lambda i: (rows.place[order[i]], rows.line[order[i]]))
    row, before = order[i], order[i - 1]
    of = f" of camera {rows.camera[row]}" if rows.camera[row] else ""
    raise DataError(
        f"{rows.where(row)}: duplicate id {rows.identity[row]} in frame {rows.frame[row]}{of} "
        f"(first on {rows.line_word} {rows.line[before]}); expected each id once in a frame "
        f"({len(again)} boxes too many)"
    )


def _roles(truth: Rows, ignored: str) -> tuple[np.ndarray, np.ndarray]:
    """Return masks of the ground-truth boxes that are evaluated, and of the distractors."""
    counted = truth.flag != 0
    if ignored == "count":
        return counted, np.zeros(len(truth), dtype=bool)
    if ignored == "remove":
        return counted, ~counted
    # Classes are numbered from 1; a box without one counts as of the evaluated class.
    has_class = truth.category >= 1
    counted = counted & (~has_class | (truth.category == PEDESTRIAN))
    return counted, ~counted & np.isin(truth.category, DISTRACTORS[ignored])


def _remarks(
    truth: Rows, result: Rows, counted: np.ndarray, lengths: dict[str, int] | None
) -> list[str]:
    """Return remarks on unusual rows."""
    notes = []
    odd = int(np.count_nonzero((truth.flag != 0) & (truth.flag != 1)))
    if odd:
        notes.append(
            f"{odd} rows of the ground truth have a flag other than 0 (ignore) and 1; they count"
        )
    if not counted.any():
        notes.append("the ground truth has no box to evaluate")
    if not len(result):
        notes.append("the result has no box")
    for rows, what in ((truth, "ground truth"), (result, "result")):
        flat = int(np.count_nonzero((rows.box[:, 2:] == 0).any(axis=1)))
        if flat:
            notes.append(f"{flat} boxes of the {what} have no area and overlap nothing")
    strange = sorted(set(result.camera.tolist()) - set(truth.camera.tolist()))
    if strange and len(truth):
        number = int(np.isin(result.camera, strange).sum())
        notes.append(
            f"{number} boxes of the result are in cameras without ground truth "
            f"({', '.join(strange)}): false positives"
        )
    if lengths is None and len(truth) and len(result):
        late = int(np.count_nonzero(result.frame > truth.frame.max()))
        if late:
            notes.append(
                f"{late} boxes of the result are beyond frame {truth.frame.max()}, the last one of "
                "the ground truth: false positives"
            )
    return notes

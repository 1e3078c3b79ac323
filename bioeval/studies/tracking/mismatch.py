"""Why hardly a box of a result matches: coordinates or frame numbers of another convention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bioeval.base.messages import Message
from bioeval.studies.tracking.matching import Boxes, Scene, find_overlaps

#: A cause is looked for where fewer boxes of targets are matched, and is named where it would match
#: at least the second proportion of them (or of the boxes of the result, where these are fewer).
_FEW, _MOST = 0.1, 0.5

_CORNERS = (
    "the width and height of the {} were the right and bottom edges; write right - left and "
    "bottom - top"
)
_CENTRES = (
    "the left and top of the {} were the centre of the box; subtract half the width and half the "
    "height"
)


def mismatch(scene: Scene, matched: int, iou: float) -> list[Message]:
    """Return why hardly a box is matched at this overlap, of `matched` ones; empty if many are."""
    truth, result = scene.truth.select(scene.counted), scene.result
    boxes = min(len(truth), len(result))
    if matched >= _FEW * boxes:
        return []
    sizes = [float(np.abs(side.box).max()) for side in (truth, result)]
    if min(sizes) <= 1 and max(sizes) > 2:
        side = ("ground truth", "result")[int(np.argmin(sizes))]
        return [Message("normalised-boxes", side=side, largest=max(sizes))]
    for cause, other_truth, other_result in _causes(scene, truth, result):
        overlaps = find_overlaps(other_truth, other_result, len(scene.camera)).at_least(iou)
        would = min(len(np.unique(overlaps.truth)), len(np.unique(overlaps.row)))
        if would >= _MOST * boxes:
            return [Message("boxes-of-another-convention", boxes=would, cause=cause)]
    return [] if matched else [Message("no-matches", iou=iou)]


def _causes(scene: Scene, truth: Boxes, result: Boxes) -> Iterator[tuple[str, Boxes, Boxes]]:
    """Yield causes in words, with what to do, and the boxes as each would have them."""
    for cause, convert in ((_CORNERS, _from_corners), (_CENTRES, _centred)):
        yield cause.format("ground truth"), convert(truth), result
        yield cause.format("result"), truth, convert(result)
    first = [int(scene.number[side.frame].min()) for side in (truth, result)]
    for shift in dict.fromkeys((1, -1, first[0] - first[1])):
        cause = f"the frame numbers of the result changed by {shift:+}; count both sides from 1"
        yield cause, truth, _shifted(scene, result, shift)


def _from_corners(boxes: Boxes) -> Boxes:
    """Return boxes whose width and height are the right and the bottom edge."""
    box = boxes.box.copy()
    box[:, 2:] = np.maximum(box[:, 2:] - box[:, :2], 0)
    return replace(boxes, box=box)


def _centred(boxes: Boxes) -> Boxes:
    """Return boxes whose left and top are the centre."""
    box = boxes.box.copy()
    box[:, :2] -= box[:, 2:] / 2
    return replace(boxes, box=box)


def _shifted(scene: Scene, boxes: Boxes, shift: int) -> Boxes:
    """Return the boxes that lie in a frame with rows once their frame number grows by `shift`."""
    stride = int(scene.number.max()) + abs(shift) + 1
    key = scene.camera * stride + scene.number
    number = scene.number[boxes.frame] + shift
    wanted = scene.camera[boxes.frame] * stride + number
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    kept = (key[place] == wanted) & (number > 0)
    return replace(boxes, frame=place).select(kept)

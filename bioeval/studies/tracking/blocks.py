"""One long sequence as blocks of frames, each a sequence of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bioeval.base.errors import Argument, DataError
from bioeval.studies.tracking.matching import Scene


def cut(scene: Scene, blocks: int) -> list[Scene]:
    """Return a sequence as so many blocks of consecutive frames, of equal length within one frame.

    Targets and identities are cut as well: in another block they are others. The recording of each
    camera is cut by itself where its length is known; else all are cut alike, from the first frame
    with rows to the last one.
    """
    first, length = _recordings(scene)
    shortest = min(length.tolist(), default=0)
    if shortest < blocks:
        raise DataError(
            Argument("blocks"),
            f" is {blocks}; expected no more blocks than frames, of which there are {shortest}",
        )
    before = scene.number - first[scene.camera]  # frames before each frame with rows
    block_of = before * blocks // length[scene.camera]
    parts = []
    for block in range(blocks):
        # The smallest number of frames before a frame of this block, and of the next one.
        start = -(-block * length // blocks)
        end = -(-(block + 1) * length // blocks)
        inside = block_of == block
        truth = inside[scene.truth.frame]
        new_frame = np.cumsum(inside) - 1
        frames = int((end - start).sum()) if scene.lengths is not None else int(inside.sum())
        truth_boxes = scene.truth.select(truth)
        result_boxes = scene.result.select(inside[scene.result.frame])
        name = f"block {block + 1}"
        if len(set(zip(start.tolist(), end.tolist(), first.tolist(), strict=True))) == 1:
            name = f"frames {first[0] + start[0]}-{first[0] + end[0] - 1}"
        parts.append(
            replace(
                scene,
                name=name,
                truth=replace(truth_boxes, frame=new_frame[truth_boxes.frame]),
                result=replace(result_boxes, frame=new_frame[result_boxes.frame]),
                counted=scene.counted[truth],
                distractor=scene.distractor[truth],
                category=scene.category[truth],
                camera=scene.camera[inside],
                number=scene.number[inside],
                frames=frames,
                notes=[],
            )
        )
    return parts


def _recordings(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Return the first frame and the number of frames of the recording of each camera."""
    if scene.lengths is not None:
        lengths = [scene.lengths[camera] for camera in scene.cameras]
        return np.ones(len(lengths), dtype=np.int64), np.array(lengths, dtype=np.int64)
    cameras = len(scene.cameras)
    first = int(scene.number.min()) if len(scene.number) else 1
    last = int(scene.number.max(initial=0))
    return np.full(cameras, first), np.full(cameras, last - first + 1)

"""Track segments: maximal frame intervals of a target with one assigned identity, or none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.mot.sequence import Boxes, Scene

#: The identity of a segment in which the target is missed.
MISSED = -1


@dataclass(frozen=True)
class Segments:
    """Track segments; int64 arrays of shape (segments,), target by target.

    `target` and `identity` are ids, `camera` is an index into the scene's cameras, `first` and
    `last` are frames.
    """

    target: np.ndarray
    identity: np.ndarray
    camera: np.ndarray
    first: np.ndarray
    last: np.ndarray


def find_segments(scene: Scene, truth: Boxes, result: Boxes, matched: np.ndarray) -> Segments:
    """Divide the frames of each target where its identity changes or it is absent."""
    order = np.argsort(truth.code, kind="stable")
    target = truth.code[order]
    partner = matched[order]
    identity = np.full(len(order), MISSED, dtype=np.int64)
    identity[partner >= 0] = scene.identity_ids[result.code[partner[partner >= 0]]]
    unit = truth.frame[order]
    camera, number = scene.camera[unit], scene.number[unit]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (
        (target[1:] != target[:-1])
        | (identity[1:] != identity[:-1])
        | (camera[1:] != camera[:-1])
        | (number[1:] != number[:-1] + 1)
    )
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(order)) - 1 if len(first) else first
    return Segments(
        target=scene.target_ids[target[first]],
        identity=identity[first],
        camera=camera[first],
        first=number[first],
        last=number[last],
    )

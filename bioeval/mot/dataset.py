"""Dataset of tracking: totals, sequences, thresholds of HOTA, targets and track segments."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.variables import TRACKING, TRACKING_SPELLS, TRACKING_TARGETS, of_sequence
from bioeval.base.version import __version__
from bioeval.mot.hota import THRESHOLDS
from bioeval.mot.measures import Measured, rates
from bioeval.mot.sequence import Scene
from bioeval.results.dataset import build


def tracking_dataset(
    scenes: Sequence[Scene],
    measured: Sequence[Measured],
    options: dict[str, str | int | float],
    notes: Sequence[str],
    timeline: bool = False,
) -> xr.Dataset:
    """Return the Dataset; several sequences are listed beside the total."""
    total = _sum([part.counts for part in measured])
    whole = _values(total, _sum([part.hota for part in measured]))
    dims = {name: ("localisation_threshold",) * np.ndim(value) for name, value in whole.items()}
    variables: dict[str, tuple[tuple[str, ...], Any]] = {
        name: (dims[name], value) for name, value in whole.items()
    }
    coordinates: dict[str, np.ndarray] = {"localisation_threshold": THRESHOLDS}
    several = any(scene.name for scene in scenes)
    if several:
        parts = [_values(part.counts, part.hota) for part in measured]
        for name in whole:
            column = np.array([part[name] for part in parts])
            variables[f"sequence_{name}"] = (("sequence", *dims[name]), column)
        coordinates["sequence"] = np.array([scene.name for scene in scenes], dtype=str)
    coordinates["target"] = _named(scenes, [part.ids for part in measured])
    targets = _together([part.targets for part in measured])
    variables |= {name: (("target",), x) for name, x in targets.items()}
    cameras = max(len(scene.cameras) for scene in scenes)
    if timeline:
        segments = _together([part.segments for part in measured])
        found = [part.segments["spell_target"] for part in measured]
        segments["spell_target"] = _named(scenes, found)
        if cameras == 1:
            del segments["spell_camera"]
        variables |= {name: (("spell",), x) for name, x in segments.items()}
    names = {**TRACKING, **TRACKING_TARGETS, **TRACKING_SPELLS}
    names |= {f"sequence_{name}": of_sequence(TRACKING[name]) for name in whole}
    sources = list(dict.fromkeys(scene.frames_from for scene in scenes))
    remarks = [
        f"{scene.name}: {note}" if several else note for scene in scenes for note in scene.notes
    ]
    attrs: dict[str, str | int | float] = {
        "task": "tracking",
        **options,
        "frames_from": "; ".join(sources[:4] + (["..."] if len(sources) > 4 else [])),
        "cameras": cameras,
        "fingerprint": fingerprint(scenes),
        "bioeval_version": __version__,
        "warnings": "\n".join([*notes, *remarks, *_of_all(total, options, scenes)]),
    }
    return build(variables, names, coordinates, attrs)


def _sum(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Add up the counts of all sequences."""
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def _values(counts: dict[str, int | float], hota: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return counts and rates; the sum of the overlaps is reported as MOTP."""
    whole = {name: np.int64(value) for name, value in counts.items() if name != "overlap"}
    return {**rates(counts, hota), **whole}


def _named(scenes: Sequence[Scene], ids: Sequence[np.ndarray]) -> np.ndarray:
    """Return ids of targets; with several sequences, the sequence is a part of the name."""
    return np.concatenate(
        [
            np.array([f"{scene.name}/{i}" for i in part], dtype=str) if scene.name else part
            for scene, part in zip(scenes, ids, strict=True)
        ]
    )


def _together(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the variables of several sequences, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _of_all(
    counts: dict[str, int | float], options: dict[str, str | int | float], scenes: Sequence[Scene]
) -> list[str]:
    """Return remarks on ignored boxes and on the number of frames."""
    notes = []
    if counts["ignored_truth_boxes"]:
        removed = counts["removed_result_boxes"]
        on = {
            "count": "boxes of the result on them count as false positives",
            "remove": f"{removed} boxes of the result matched to them were removed",
        }.get(
            str(options["ignored"]),
            f"{removed} boxes of the result matched to distractors among them were removed, "
            "others count as false positives",
        )
        notes.append(f"{counts['ignored_truth_boxes']} boxes of the ground truth are ignored; {on}")
    unknown = [scene for scene in scenes if scene.frames_from == "rows"]
    if unknown:
        some = f" of {len(unknown)} of {len(scenes)} sequences"
        of = "" if len(unknown) == len(scenes) else some
        notes.append(f"the length{of} is not given: far and fp_per_frame are per frame with rows")
    elif counts["frames"] > counts["frames_with_rows"]:
        empty = counts["frames"] - counts["frames_with_rows"]
        notes.append(f"{empty} of {counts['frames']} frames have no rows")
    return notes


def fingerprint(scenes: Sequence[Scene]) -> str:
    """Return the numbers of boxes and a digest of all rows, independent of their order."""
    digest = hashlib.sha256()
    for scene in scenes:
        digest.update(f"{scene.name}|{'|'.join(scene.cameras)}|{scene.frames}".encode())
        for boxes, ids in ((scene.truth, scene.target_ids), (scene.result, scene.identity_ids)):
            for array in (ids[boxes.code], boxes.frame, boxes.box):
                digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(scene.camera.tobytes() + scene.counted.tobytes())
    truth = sum(len(scene.truth) for scene in scenes)
    result = sum(len(scene.result) for scene in scenes)
    return f"{truth} x {result} boxes {digest.hexdigest()[:16]}"

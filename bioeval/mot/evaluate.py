"""Evaluation of tracking."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_callable, require_flag, require_number
from bioeval.base.errors import require_choice
from bioeval.base.version import __version__
from bioeval.mot.inputs import parse_columns, read_pairs
from bioeval.mot.matching import DISTRACTORS, PAIRINGS, Scene, make_scene
from bioeval.mot.measures import (
    THRESHOLDS,
    TRACKING,
    TRACKING_SPELLS,
    TRACKING_TARGETS,
    Measured,
    measure,
    of_sequence,
    rates,
)
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
    """Return ids of targets; with several sequences, the name includes the sequence."""
    return np.concatenate(
        [
            np.array([f"{scene.name}/{i}" for i in part], dtype=str) if scene.name else part
            for scene, part in zip(scenes, ids, strict=True)
        ]
    )


def _together(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the variables of several sequences, concatenated."""
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
        notes.append(
            f"the number of frames{of} is not given: far and fp_per_frame are per frame with rows"
        )
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


#: Treatment of result boxes on ignored ground truth.
IGNORED = (*DISTRACTORS, "remove", "count")

#: Coverage of a mostly tracked target: at least 80 %, or more than 80 %.
MOSTLY_TRACKED = ("at-least", "more-than")


def tracking(
    truth: Any,
    result: Any,
    *,
    iou: float = 0.5,
    frames: Any = None,
    pairing: str = "last-known",
    mostly_tracked: str = "at-least",
    ignored: str = "motchallenge",
    duplicates: str = "raise",
    parts: str = "sequences",
    columns: str = "motchallenge",
    timeline: bool = False,
    progress: Callable[[str], None] | None = None,
) -> xr.Dataset:
    """Evaluate tracking: CLEAR MOT, identity measures and HOTA of boxes against a ground truth.

    Parameters
    ----------
    truth, result : path, array of shape (n, 6) or more, or mapping of str to either
        A file of rows ``frame, id, left, top, width, height`` (in pixels; further columns as in
        the MOTChallenge format, commas or blanks, plain or gzip); an array of such rows; a folder
        of sequences (``<sequence>/gt/gt.txt`` with ``<sequence>/seqinfo.ini``, or
        ``<sequence>.txt``; results as ``<sequence>.txt``); or files and arrays by name.
    iou : float, in (0, 1]
        Smallest intersection over union with which two boxes can be matched. HOTA has thresholds
        of its own.
    frames : int, or mapping of sequence (or camera) to int, optional
        Number of frames of a sequence (of each camera). Default: the length in ``seqinfo.ini``,
        else the number of frames with rows in either file, ignored rows included.
    pairing : {"last-known", "previous-frame"}
        Which pairings are kept before the rest is assigned: each target's last one, however long
        ago (Bernardin and Stiefelhagen; py-motmetrics), or only those of the frame before
        (MOT16; TrackEval).
    mostly_tracked : {"at-least", "more-than"}
        Whether a target that is covered for exactly 80 % of its frames is mostly tracked.
    ignored : {"motchallenge", "mot20", "remove", "count"}
        Treatment of result boxes matched to ignored ground truth (flag 0, or another class than
        1). ``"motchallenge"``: those on distractors (classes 2, 7, 8, 12;
        for ``"mot20"`` 6 too) are removed, others are false positives. ``"remove"``: all on rows
        with flag 0 are removed. ``"count"``: all are false positives. The last two ignore
        classes.
    duplicates : {"raise", "accept"}
        Whether an id that occurs twice in a frame of the result is an error, or two boxes of
        which either can be matched. In the ground truth it is always an error.
    parts : {"sequences", "cameras"}
        What the files of a folder, or the parts of a mapping, are. Cameras of one scene share the
        identities, but not frames.
    columns : str
        ``"motchallenge"``; ``"cityflow"`` (``camera, id, frame, left, top, width, height``); or
        names of columns in order, of ``camera frame id left top width height flag class``, and
        ``-`` for columns to ignore.
    timeline : bool
        Whether to list the track segments, the maximal frame intervals in which a target has one
        identity: over ``spell``, ``spell_target spell_identity first_frame last_frame`` (and
        ``spell_camera``), with identity -1 where the target is missed.
        :func:`bioeval.plot.timeline` draws them.
    progress : callable, optional
        Called with the name of each sequence before it is evaluated.

    Returns
    -------
    xarray.Dataset
        Scalars over everything: ``mota motp motp_distance recall precision far fp_per_frame idp
        idr idf1``, ``hota deta assa detre detpr assre asspr loca`` and the counts ``tp fn fp idsw
        fragmentations resumptions mt pt ml idtp idfn idfp frames frames_with_rows targets
        identities truth_boxes result_boxes ignored_truth_boxes removed_result_boxes``. Over
        ``localisation_threshold`` (0.05, 0.1, ... 0.95): ``hota_by_threshold``, likewise its seven
        parts, and ``tp_by_threshold``. Over ``target``: ``frames_present frames_covered coverage
        target_switches target_fragmentations state``. With several sequences, the scalars are of
        the summed counts, and each has a twin over ``sequence``, such as ``sequence_mota``. A rate
        with denominator 0 is NaN. The attribute ``warnings`` has one remark a line.

    Raises
    ------
    DataError
        If a row is malformed (with file and line), an id occurs twice in a frame, a row is beyond
        the last frame, or a sequence has no result.

    Notes
    -----
    ``mota = 1 - (fn + fp + idsw) / truth_boxes``; ``motp`` is the mean overlap of the matches and
    ``motp_distance`` the mean of 1 - overlap; ``far = (fn + fp + idsw) / frames``; ``idf1 =
    2 idtp / (2 idtp + idfp + idfn)``; ``hota`` is the mean over 19 localisation thresholds of
    ``sqrt(DetA * AssA)``, and has a matching of its own, by the alignment of whole tracks.
    ``docs/tracking.md`` has every definition.

    References
    ----------
    Bernardin, Stiefelhagen, "Evaluating multiple object tracking performance: the CLEAR MOT
    metrics", 2008. Milan et al., "MOT16", 2016. Ristani et al., "Performance measures and a data
    set for multi-target, multi-camera tracking", 2016. Tang et al., "CityFlow", 2019. Luiten et
    al., "HOTA: a higher order metric for evaluating multi-object tracking", 2021.

    Examples
    --------
    Two people; the tracker confuses them in the last of three frames:

    >>> import bioeval as be
    >>> truth = [(f, who, 100 * who, 0, 40, 80) for f in (1, 2, 3) for who in (1, 2)]
    >>> result = [(f, who if f < 3 else 3 - who, 100 * who, 0, 40, 80)
    ...           for f in (1, 2, 3) for who in (1, 2)]
    >>> ds = be.tracking(truth, result)
    >>> int(ds.idsw), round(float(ds.mota), 3), round(float(ds.idf1), 3)
    (2, 0.667, 0.667)
    >>> round(float(ds.hota), 3), float(ds.deta), round(float(ds.assa), 3)
    (0.632, 1.0, 0.4)
    """
    iou = require_number("iou", iou, above=0, high=1)
    require_choice("pairing", pairing, PAIRINGS)
    require_choice("mostly_tracked", mostly_tracked, MOSTLY_TRACKED)
    require_choice("ignored", ignored, IGNORED)
    require_choice("duplicates", duplicates, ("raise", "accept"))
    require_choice("parts", parts, ("sequences", "cameras"))
    require_callable("progress", progress)
    timeline = require_flag("timeline", timeline)
    pairs, notes = read_pairs(truth, result, frames, parse_columns(columns), parts)
    scenes, measured = [], []
    for pair in pairs:
        if progress is not None:
            progress(pair.name)
        scene = make_scene(pair, ignored, duplicates)
        scenes.append(scene)
        measured.append(measure(scene, iou, pairing, mostly_tracked))
    options: dict[str, str | int | float] = {
        "iou": iou,
        "pairing": pairing,
        "mostly_tracked": mostly_tracked,
        "ignored": ignored,
        "duplicates": duplicates,
    }
    return tracking_dataset(scenes, measured, options, notes, timeline)

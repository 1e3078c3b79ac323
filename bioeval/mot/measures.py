"""Counts of a sequence, which add up over sequences, and the rates computed from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from bioeval.mot.identity_assignment import most_in_common
from bioeval.mot.matching import find_overlaps, match, serials
from bioeval.mot.segments import Segments, find_segments
from bioeval.mot.sequence import Boxes, Scene

#: States of a target, by its coverage.
STATES = ("mostly lost", "partially tracked", "mostly tracked")

#: Coverage from which a target is mostly tracked, and below which it is mostly lost, as fractions.
_TRACKED, _LOST = (4, 5), (1, 5)


@dataclass(frozen=True)
class Counts:
    """Counts of one sequence, or of several by addition; ``bioeval.base.variables`` says of what.

    `overlap` is the sum of IoU over the matches.
    """

    frames: int = 0
    frames_with_rows: int = 0
    targets: int = 0
    identities: int = 0
    truth_boxes: int = 0
    result_boxes: int = 0
    tp: int = 0
    fn: int = 0
    fp: int = 0
    idsw: int = 0
    fragmentations: int = 0
    resumptions: int = 0
    mt: int = 0
    pt: int = 0
    ml: int = 0
    idtp: int = 0
    idfn: int = 0
    idfp: int = 0
    ignored_truth_boxes: int = 0
    removed_result_boxes: int = 0
    overlap: float = 0.0

    @classmethod
    def total(cls, parts: Iterable[Counts]) -> Counts:
        """Return the sums."""
        parts = list(parts)
        return cls(**{f.name: sum(getattr(part, f.name) for part in parts) for f in fields(cls)})


@dataclass(frozen=True)
class Targets:
    """Coverage and errors of each target; int64 arrays of shape (targets,).

    `present` and `covered` count frames; `state` is an index into `STATES`.
    """

    ids: np.ndarray
    present: np.ndarray
    covered: np.ndarray
    switches: np.ndarray
    fragments: np.ndarray
    resumptions: np.ndarray
    state: np.ndarray


@dataclass(frozen=True)
class Measured:
    """Measurements of one sequence."""

    counts: Counts
    targets: Targets
    segments: Segments


def measure(scene: Scene, iou: float, pairing: str, mostly_tracked: str) -> Measured:
    """Match a sequence and count."""
    frames = len(scene.camera)
    truth, result = scene.truth.select(scene.counted), scene.result
    if scene.distractor.any():
        result = result.select(_kept(scene, iou, pairing))
    overlaps = find_overlaps(truth, result, frames, iou)
    serial = serials(truth, result, scene.camera)
    matched = match(truth, result, overlaps, serial, pairing)
    targets = _targets(truth, result, matched, serial, scene.target_ids, mostly_tracked)
    both = matched >= 0
    tp = int(both.sum())
    # An identity may occur twice in a frame, if that is accepted; a target occurs once.
    common = np.stack([overlaps.truth, result.code[overlaps.row]], axis=1)
    rows, identities = np.unique(common, axis=0).T
    idtp = most_in_common(truth.code[rows], identities)
    states = np.bincount(targets.state, minlength=len(STATES))
    counts = Counts(
        frames=scene.frames,
        frames_with_rows=scene.frames_with_rows,
        targets=len(targets.ids),
        identities=len(np.unique(result.code)),
        truth_boxes=len(truth),
        result_boxes=len(result),
        tp=tp,
        fn=len(truth) - tp,
        fp=len(result) - tp,
        idsw=int(targets.switches.sum()),
        fragmentations=int(targets.fragments.sum()),
        resumptions=int(targets.resumptions.sum()),
        ml=int(states[0]),
        pt=int(states[1]),
        mt=int(states[2]),
        idtp=idtp,
        idfn=len(truth) - idtp,
        idfp=len(result) - idtp,
        ignored_truth_boxes=len(scene.truth) - len(truth),
        removed_result_boxes=len(scene.result) - len(result),
        overlap=float(overlaps.iou[overlaps.row == matched[overlaps.truth]].sum()),
    )
    return Measured(counts, targets, find_segments(scene, truth, result, matched))


def _kept(scene: Scene, iou: float, pairing: str) -> np.ndarray:
    """Return a mask of the result boxes that are not matched to a distractor.

    All ground-truth boxes take part, so that a box on a target remains with the target.
    """
    frames = len(scene.camera)
    overlaps = find_overlaps(scene.truth, scene.result, frames, iou)
    serial = serials(scene.truth, scene.result, scene.camera)
    matched = match(scene.truth, scene.result, overlaps, serial, pairing, keep=False)
    keep = np.ones(len(scene.result), dtype=bool)
    keep[matched[scene.distractor & (matched >= 0)]] = False
    return keep


def _targets(
    truth: Boxes,
    result: Boxes,
    matched: np.ndarray,
    serial: np.ndarray,
    ids: np.ndarray,
    mostly_tracked: str,
) -> Targets:
    """Count coverage, switches and fragments of each target over its frames."""
    codes, target = np.unique(truth.code, return_inverse=True)
    n = len(codes)
    order = np.argsort(target, kind="stable")  # the frames of each target, one after the other
    target = target.reshape(-1)[order]
    covered = matched[order] >= 0
    present = np.bincount(target, minlength=n)

    # The frames in which it is matched; events are counted between consecutive ones.
    place = np.flatnonzero(covered)
    owner = target[place]
    identity = result.code[matched[order][place]]
    when = serial[truth.frame[order][place]]
    again = owner[1:] == owner[:-1]

    def count(happened: np.ndarray) -> np.ndarray:
        return np.bincount(owner[1:][again & happened], minlength=n)

    hits = np.bincount(owner, minlength=n)
    return Targets(
        ids=ids[codes],
        present=present,
        covered=hits,
        switches=count(identity[1:] != identity[:-1]),
        fragments=count(np.diff(place) > 1),
        resumptions=count(np.diff(when) > 1),
        state=_states(hits, present, mostly_tracked),
    )


def _states(hits: np.ndarray, present: np.ndarray, mostly_tracked: str) -> np.ndarray:
    """Classify targets by coverage, in integers: exactly 80 % does not depend on rounding."""
    a, b = _TRACKED
    tracked = hits * b >= present * a if mostly_tracked == "at-least" else hits * b > present * a
    c, d = _LOST
    return np.where(hits * d < present * c, 0, np.where(tracked, 2, 1)).astype(np.int64)


def ratio(a: float, b: float) -> float:
    """Return ``a / b``, NaN if `b` is 0."""
    return a / b if b else float("nan")


def rates(counts: Counts) -> dict[str, float]:
    """Return the rates, each computed from counts once."""
    c = counts
    errors = c.fn + c.fp + c.idsw
    return {
        "mota": ratio(c.truth_boxes - errors, c.truth_boxes),
        "motp": ratio(c.overlap, c.tp),
        "motp_distance": ratio(c.tp - c.overlap, c.tp),
        "recall": ratio(c.tp, c.truth_boxes),
        "precision": ratio(c.tp, c.result_boxes),
        "far": ratio(errors, c.frames),
        "fp_per_frame": ratio(c.fp, c.frames),
        "idp": ratio(c.idtp, c.idtp + c.idfp),
        "idr": ratio(c.idtp, c.idtp + c.idfn),
        "idf1": ratio(2 * c.idtp, 2 * c.idtp + c.idfp + c.idfn),
    }

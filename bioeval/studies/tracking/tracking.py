"""Evaluation of tracking: counts of a sequence, its targets and track segments, and their rates."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag, require_integer, require_number
from bioeval.base.errors import Argument, DataError, Part, require_choice
from bioeval.base.messages import Message, message_attrs
from bioeval.base.progress import report
from bioeval.base.scalars import Name
from bioeval.base.version import __version__
from bioeval.results.dataset import along, build
from bioeval.stats.options import IntervalMethod
from bioeval.studies.tracking.blocks import cut
from bioeval.studies.tracking.inputs import parse_columns, read_pairs
from bioeval.studies.tracking.intervals import (
    FEWEST,
    SequenceSums,
    TrackingInterval,
    interval_attrs,
    interval_messages,
    videos_of,
)
from bioeval.studies.tracking.matching import (
    DISTRACTORS,
    PAIRINGS,
    ROUNDING,
    Boxes,
    EarlierPairing,
    Overlaps,
    Scene,
    find_overlaps,
    make_scene,
    match,
    most_in_common,
    serials,
)
from bioeval.studies.tracking.mismatch import mismatch
from bioeval.studies.tracking.scalars import MEASURES, OF_HOTA, Counts, MatchSums

TRACKING = {
    **MEASURES,
    **{f"{x.name}_by_threshold": x.by_threshold for x in OF_HOTA},
    "tp_by_threshold": Name("true positives in the matching of HOTA", "boxes"),
    "frames": Name("frames of the sequence; where its length is not given, those with rows"),
    "frames_with_rows": Name("frames with a row in either file"),
    "targets": Name("identities of the ground truth", "targets"),
    "identities": Name("identities of the result", "identities"),
    "truth_boxes": Name("boxes of targets", "boxes"),
    "result_boxes": Name("boxes of the result", "boxes"),
    "tp": Name("true positives: boxes of targets that are matched", "boxes"),
    "fn": Name("false negatives: boxes of targets that are not matched", "boxes"),
    "fp": Name("false positives: boxes of the result that are not matched", "boxes"),
    "idsw": Name(
        "identity switches: matches with another identity than the target's last", "boxes"
    ),
    "fragmentations": Name("times a target is missed, and matched again later"),
    "resumptions": Name("times a target is matched again after being missed or away (TrackEval)"),
    "mt": Name("mostly tracked targets: covered for 80 % of their frames", "targets"),
    "pt": Name("partially tracked targets", "targets"),
    "ml": Name("mostly lost targets: covered for less than 20 % of their frames", "targets"),
    "idtp": Name("boxes of targets under the one identity assigned to the target", "boxes"),
    "idfn": Name("other boxes of targets", "boxes"),
    "idfp": Name("other boxes of the result", "boxes"),
    "ignored_truth_boxes": Name("boxes of the ground truth that are ignored", "boxes"),
    "removed_result_boxes": Name("boxes of the result left out, on ignored ground truth", "boxes"),
}

for _name in MEASURES:
    TRACKING |= TRACKING[_name].ends_of(_name)

TRACKING_TARGETS = {
    "frames_present": Name("frames in which the target is present", "frames"),
    "frames_covered": Name("frames in which the target is matched", "frames"),
    "coverage": Name("proportion of the target's frames in which it is matched"),
    "target_switches": Name("identity switches of the target"),
    "target_fragmentations": Name("times the target is missed, and matched again later"),
    "state": Name("mostly tracked, partially tracked or mostly lost"),
}

TRACKING_DIMENSIONS = {
    "sequence": Name("sequence"),
    "target": Name("target: an identity of the ground truth, by its id"),
    "localisation_threshold": Name("localisation threshold alpha: smallest IoU of a match"),
}

TRACKING_SPELLS = {
    "spell_target": Name("target, by its id"),
    "spell_identity": Name("identity that it is followed under; -1 where it is missed"),
    "spell_camera": Name("camera"),
    "first_frame": Name("first frame of the spell"),
    "last_frame": Name("last frame of the spell"),
}


#: States of a target, by its coverage.
STATES = ("mostly lost", "partially tracked", "mostly tracked")

#: Coverage from which a target is mostly tracked, and below which it is mostly lost, as fractions.
_TRACKED, _LOST = (4, 5), (1, 5)


#: The identity of a segment in which the target is missed.
MISSED = -1


@dataclass(frozen=True)
class Measured:
    """Measurements of one sequence; ``bioeval.base.variables`` describes each variable.

    The counts add up over sequences, with `overlap`, the sum of IoU over the matches, and so do the
    sums of `hota`, of shape (thresholds,). The variables of `targets` have the shape (targets,),
    those of `segments` (segments,), target by target. ``target`` and ``spell_target`` are ids, with
    the name of the sequence if there are several.
    """

    counts: dict[str, int | float]
    hota: dict[str, np.ndarray]
    targets: dict[str, np.ndarray]
    segments: dict[str, np.ndarray]


def measure(scene: Scene, iou: float, pairing: str, mostly_tracked: str) -> Measured:
    """Match a sequence and count."""
    frames = len(scene.camera)
    truth, result = scene.truth.select(scene.counted), scene.result
    if scene.distractor.any():
        result = result.select(_kept(scene, iou, pairing))
    all_overlaps = find_overlaps(truth, result, frames)
    overlaps = all_overlaps.at_least(iou)
    serial = serials(truth, result, scene.camera)
    matched = match(truth, result, overlaps, serial, pairing)
    targets, resumptions = _targets(truth, result, matched, serial, mostly_tracked)
    tp = int((matched >= 0).sum())
    # An identity may occur twice in a frame, if that is accepted; a target occurs once.
    width = int(result.code.max(initial=0)) + 1
    common = np.unique(overlaps.truth * width + result.code[overlaps.row])
    rows, identities = np.divmod(common, width)
    idtp = most_in_common(truth.code[rows], identities)
    number = Counter(targets["state"].tolist())
    counts = {
        "frames": scene.frames,
        "frames_with_rows": frames,
        "targets": len(targets["state"]),
        "identities": len(np.unique(result.code)),
        "truth_boxes": len(truth),
        "result_boxes": len(result),
        "tp": tp,
        "fn": len(truth) - tp,
        "fp": len(result) - tp,
        "idsw": int(targets["target_switches"].sum()),
        "fragmentations": int(targets["target_fragmentations"].sum()),
        "resumptions": resumptions,
        "mt": number["mostly tracked"],
        "pt": number["partially tracked"],
        "ml": number["mostly lost"],
        "idtp": idtp,
        "idfn": len(truth) - idtp,
        "idfp": len(result) - idtp,
        "ignored_truth_boxes": len(scene.truth) - len(truth),
        "removed_result_boxes": len(scene.result) - len(result),
        "overlap": float(overlaps.iou[overlaps.row == matched[overlaps.truth]].sum()),
    }
    targets["target"] = _named(scene, scene.target_ids[np.unique(truth.code)])
    return Measured(
        counts,
        hota_sums(truth, result, all_overlaps, serial),
        targets,
        _segments(scene, truth, result, matched),
    )


def _kept(scene: Scene, iou: float, pairing: str) -> np.ndarray:
    """Return a mask of the result boxes that are not matched to a distractor.

    All ground-truth boxes take part, so that a box on a target remains with the target.
    """
    frames = len(scene.camera)
    overlaps = find_overlaps(scene.truth, scene.result, frames).at_least(iou)
    serial = serials(scene.truth, scene.result, scene.camera)
    matched = match(scene.truth, scene.result, overlaps, serial, pairing, keep=False)
    keep = np.ones(len(scene.result), dtype=bool)
    keep[matched[scene.distractor & (matched >= 0)]] = False
    return keep


def _targets(
    truth: Boxes, result: Boxes, matched: np.ndarray, serial: np.ndarray, mostly_tracked: str
) -> tuple[dict[str, np.ndarray], int]:
    """Return coverage and errors of each target over its frames, and the resumptions of all."""
    _, target = np.unique(truth.code, return_inverse=True)
    order = np.argsort(target, kind="stable")  # the frames of each target, one after the other
    target = target.reshape(-1)[order]
    covered = matched[order] >= 0
    present = np.bincount(target)

    # The frames in which it is matched; events are counted between consecutive ones.
    place = np.flatnonzero(covered)
    owner = target[place]
    identity = result.code[matched[order][place]]
    when = serial[truth.frame[order][place]]
    again = owner[1:] == owner[:-1]

    def count(happened: np.ndarray) -> np.ndarray:
        return np.bincount(owner[1:][again & happened], minlength=len(present))

    hits = np.bincount(owner, minlength=len(present))
    targets = {
        "frames_present": present,
        "frames_covered": hits,
        "coverage": hits / present,
        "target_switches": count(identity[1:] != identity[:-1]),
        "target_fragmentations": count(np.diff(place) > 1),
        "state": _states(hits, present, mostly_tracked),
    }
    return targets, int(count(np.diff(when) > 1).sum())


def _states(hits: np.ndarray, present: np.ndarray, mostly_tracked: str) -> np.ndarray:
    """Classify targets by coverage, in integers: exactly 80 % does not depend on rounding."""
    a, b = _TRACKED
    if mostly_tracked == "at-least":
        tracked = hits * b >= present * a
    else:
        tracked = hits * b > present * a
    c, d = _LOST
    state = np.where(tracked, 2, 1)
    state[hits * d < present * c] = 0
    return np.array(STATES, dtype=str)[state]


def _segments(
    scene: Scene, truth: Boxes, result: Boxes, matched: np.ndarray
) -> dict[str, np.ndarray]:
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
    last = np.append(first[1:], len(order))[: len(first)] - 1
    return {
        "spell_target": _named(scene, scene.target_ids[target[first]]),
        "spell_identity": identity[first],
        "first_frame": number[first],
        "last_frame": number[last],
        "spell_camera": np.array(scene.cameras, dtype=str)[camera[first]],
    }


def rates(counts: Counts, sums: MatchSums) -> dict[str, Any]:
    """Return the rates, each computed from counts once, and HOTA by threshold."""
    values: dict[str, Any] = {}
    for measure in MEASURES.values():
        values[measure.name] = float(measure.value(counts, sums))
    for measure in OF_HOTA:
        values[f"{measure.name}_by_threshold"] = measure.curve(counts, sums)
    return {**values, "tp_by_threshold": sums["tp"]}


# ------------------------------------------------------------------------- HOTA

# Boxes are matched by the alignment of whole tracks, at 19 localisation thresholds. What a sequence
# contributes adds up over sequences: its true positives, and of these the overlap and the
# association accuracy, recall and precision.

#: Localisation thresholds alpha: 0.05, 0.1, ... 0.95.
THRESHOLDS = np.arange(1, 20) / 20


def hota_sums(
    truth: Boxes, result: Boxes, overlaps: Overlaps, serial: np.ndarray
) -> dict[str, np.ndarray]:
    """Match the boxes for HOTA, and return sums over the matches at each threshold.

    `overlaps` are all above 0. Each frame is matched once, for all thresholds: with the largest sum
    of overlap times the alignment of target and identity over the sequence.
    """
    at, row, iou = overlaps.truth, overlaps.row, overlaps.iou
    width = int(result.code.max(initial=0)) + 1
    pairs, pair = np.unique(truth.code[at] * width + result.code[row], return_inverse=True)
    of_target = np.bincount(truth.code)[pairs // width]
    of_identity = np.bincount(result.code)[pairs % width]
    # An overlap counts by its proportion of all overlaps of the two boxes.
    around = np.bincount(at, iou, len(truth))[at] + np.bincount(row, iou, len(result))[row]
    in_common = np.bincount(pair, iou / (around - iou), len(pairs))
    alignment = in_common / (of_target + of_identity - in_common)
    weighted = replace(overlaps, iou=alignment[pair] * iou)
    matched = match(truth, result, weighted, serial, "previous-frame", keep=False)

    hit = np.flatnonzero(matched[at] == row)
    passed = np.searchsorted(THRESHOLDS * (1 - ROUNDING), iou[hit], side="right")
    levels = len(THRESHOLDS) + 1
    pairs_hit, pair_hit = np.unique(pair[hit], return_inverse=True)
    tpa = _at_thresholds(np.bincount(pair_hit * levels + passed, minlength=len(pairs_hit) * levels))
    target_boxes = of_target[pairs_hit, np.newaxis]
    identity_boxes = of_identity[pairs_hit, np.newaxis]
    return {
        "tp": tpa.sum(axis=0),
        "assa": (tpa * (tpa / (target_boxes + identity_boxes - tpa))).sum(axis=0),
        "assre": (tpa * (tpa / target_boxes)).sum(axis=0),
        "asspr": (tpa * (tpa / identity_boxes)).sum(axis=0),
        "loca": _at_thresholds(np.bincount(passed, iou[hit], levels))[0],
    }


def _at_thresholds(by_level: np.ndarray) -> np.ndarray:
    """Add up the amounts that pass each threshold, from the number of thresholds passed."""
    table = by_level.reshape(-1, len(THRESHOLDS) + 1)[:, 1:]
    return table[:, ::-1].cumsum(axis=1)[:, ::-1]


def tracking_dataset(
    scenes: Sequence[Scene],
    measured: Sequence[Measured],
    options: dict[str, str | int | float],
    notes: Sequence[Message],
    timeline: bool,
    confidence: float | None,
) -> xr.Dataset:
    """Return the Dataset; several sequences are listed beside the total.

    With a `confidence` the measures of all sequences together have intervals.
    """
    total = _combined([part.counts for part in measured], sum)
    whole = _values(total, _combined([part.hota for part in measured], sum))
    variables = {}
    for name, value in whole.items():
        variables[name] = ("localisation_threshold",) * np.ndim(value), value
    coordinates = {"localisation_threshold": THRESHOLDS}
    names = {**TRACKING_DIMENSIONS, **TRACKING, **TRACKING_TARGETS, **TRACKING_SPELLS}
    if scenes[0].name:
        columns = _combined([_values(part.counts, part.hota) for part in measured], np.array)
        for name, column in columns.items():
            variables[f"sequence_{name}"] = ("sequence", *variables[name][0]), column
            total_name = TRACKING[name]
            names[f"sequence_{name}"] = replace(
                total_name, long_name=f"{total_name.long_name}; of each sequence"
            )
        coordinates["sequence"] = np.array([scene.name for scene in scenes], dtype=str)
    targets = _combined([part.targets for part in measured], np.concatenate)
    coordinates["target"] = targets.pop("target")
    variables |= along(("target",), **targets)
    cameras, sources = 0, list[str]()
    for scene in scenes:
        cameras = max(cameras, len(scene.cameras))
        if scene.frames_from not in sources:
            sources.append(scene.frames_from)
    if len(sources) > 4:
        sources[4:] = ["..."]
    intervals: dict[str, str | int | float] = {}
    messages = messages_of_sequences(scenes, measured, options, notes)
    if confidence is not None:
        sequences = sums_of_sequences(scenes, measured)
        for name, measure in MEASURES.items():
            low, high = sequences.limits(measure, confidence)
            variables |= along((), **{f"{name}_low": low, f"{name}_high": high})
        messages += interval_messages(len(scenes), sequences.videos)
        intervals = interval_attrs(confidence, sequences.videos, options)
    if timeline:
        segments = _combined([part.segments for part in measured], np.concatenate)
        if cameras == 1:
            del segments["spell_camera"]
        variables |= along(("spell",), **segments)
    attrs = {
        "result_type": "tracking",
        "task": "tracking",
        **options,
        **intervals,
        "frames_from": "; ".join(sources),
        "cameras": cameras,
        **_classes(scenes),
        "fingerprint": fingerprint(scenes),
        "bioeval_version": __version__,
        **message_attrs(messages),
    }
    return build(variables, names, coordinates, attrs)


def messages_of_sequences(
    scenes: Sequence[Scene],
    measured: Sequence[Measured],
    options: dict[str, str | int | float],
    remarks: Sequence[Message],
) -> list[Message]:
    """Return remarks on the inputs, on each sequence, and on all of them together."""
    messages = [*remarks]
    for scene in scenes:
        about = [scene.name] if scene.name else []
        messages += [note.concerning(*about) for note in scene.notes]
    counts = _combined([part.counts for part in measured], sum)
    return [*messages, *_of_all(counts, options, scenes)]


def sums_of_sequences(scenes: Sequence[Scene], measured: Sequence[Measured]) -> SequenceSums:
    """Return the sums of all sequences, and without each video."""
    video, videos = videos_of(scene.name for scene in scenes)
    return SequenceSums([x.counts for x in measured], [x.hota for x in measured], video, videos)


def _combined(
    parts: Sequence[dict[str, Any]], combine: Callable[[list[Any]], Any]
) -> dict[str, Any]:
    """Return the values of all sequences as one, name by name."""
    by_name = defaultdict(list)
    for part in parts:
        for name, value in part.items():
            by_name[name].append(value)
    return {name: combine(values) for name, values in by_name.items()}


def _values(counts: dict[str, int | float], hota: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return counts and rates; the sum of the overlaps is reported as MOTP."""
    whole = {name: np.int64(value) for name, value in counts.items() if name != "overlap"}
    return {**rates(counts, hota), **whole}


def _named(scene: Scene, ids: np.ndarray) -> np.ndarray:
    """Return ids of targets; with several sequences, the name includes the sequence."""
    if not scene.name:
        return ids
    return np.array([f"{scene.name}/{i}" for i in ids], dtype=str)


def _of_all(
    counts: dict[str, int | float], options: dict[str, str | int | float], scenes: Sequence[Scene]
) -> list[Message]:
    """Return remarks on ignored boxes and on the number of frames."""
    notes = []
    by_class = options["ignored"] in DISTRACTORS
    if by_class and (zero := sum(int((x.category[~x.counted] == 0).sum()) for x in scenes)):
        notes.append(Message("class-0-ignored", boxes=zero))
    if boxes := int(counts["ignored_truth_boxes"]):
        removed = int(counts["removed_result_boxes"])
        if options["ignored"] == "count":
            notes.append(Message("ignored-boxes-counted", boxes=boxes))
        elif options["ignored"] == "remove":
            notes.append(Message("ignored-boxes-removed", boxes=boxes, removed=removed))
        else:
            notes.append(Message("distractor-boxes-removed", boxes=boxes, removed=removed))
    whole = scenes[:1] if "blocks" in options else scenes
    unknown = [scene.frames_from for scene in whole].count("rows")
    if unknown:
        notes.append(Message("frames-not-given", unknown=unknown, sequences=len(whole)))
    elif counts["frames"] > counts["frames_with_rows"]:
        frames = int(counts["frames"])
        empty = frames - int(counts["frames_with_rows"])
        notes.append(Message("frames-without-rows", empty=empty, frames=frames))
    return notes


def _classes(scenes: Sequence[Scene]) -> dict[str, str]:
    """Return the classes of the ground truth that are evaluated, and the others, as text."""
    evaluated, present = set[int](), set[int]()
    for scene in scenes:
        present |= set(scene.category.tolist())
        evaluated |= set(scene.category[scene.counted].tolist())
    if max(present, default=-1) < 0:
        return {}
    words = {}
    for name, classes in (("evaluated", evaluated), ("ignored", present - evaluated)):
        numbers = [str(x) for x in sorted(classes) if x >= 0]
        none = ["without class"] if min(classes, default=0) < 0 else []
        words[f"classes_{name}"] = ", ".join([*numbers, *none])
    return words


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


#: Treatment of result boxes on ignored ground truth.
Ignored = Literal["motchallenge", "mot20", "remove", "count"]
IGNORED: tuple[Ignored, ...] = get_args(Ignored)

#: Coverage of a mostly tracked target: at least 80 %, or more than 80 %.
MostlyTracked = Literal["at-least", "more-than"]
MOSTLY_TRACKED: tuple[MostlyTracked, ...] = get_args(MostlyTracked)


Duplicates = Literal["raise", "accept"]
Parts = Literal["sequences", "cameras"]


@dataclass(frozen=True)
class TrackingOptions:
    """Checked options of an evaluation of tracks; see :func:`tracking`."""

    iou: float
    pairing: EarlierPairing
    mostly_tracked: MostlyTracked
    ignored: Ignored
    duplicates: Duplicates
    parts: Parts
    columns: tuple[str, ...]
    blocks: int | None

    @classmethod
    def parse(
        cls,
        *,
        iou: float,
        pairing: EarlierPairing,
        mostly_tracked: MostlyTracked,
        ignored: Ignored,
        duplicates: Duplicates,
        parts: Parts,
        columns: str,
        blocks: int | None,
    ) -> TrackingOptions:
        """Check the arguments of a public function."""
        iou = require_number("iou", iou, above=0, high=1)
        require_choice("pairing", pairing, PAIRINGS)
        require_choice("mostly_tracked", mostly_tracked, MOSTLY_TRACKED)
        require_choice("ignored", ignored, IGNORED)
        require_choice("duplicates", duplicates, get_args(Duplicates))
        require_choice("parts", parts, get_args(Parts))
        if blocks is not None:
            blocks = require_integer("blocks", blocks, low=FEWEST)
        names = parse_columns(columns)
        return cls(iou, pairing, mostly_tracked, ignored, duplicates, parts, names, blocks)

    def attrs(self) -> dict[str, str | int | float]:
        """Return the attributes of a result."""
        options: dict[str, str | int | float] = {
            "iou": self.iou,
            "pairing": self.pairing,
            "mostly_tracked": self.mostly_tracked,
            "ignored": self.ignored,
            "duplicates": self.duplicates,
        }
        if self.blocks is not None:
            options["blocks"] = self.blocks
        return options

    def measured(
        self,
        truth: Any,
        result: Any,
        frames: Any,
        role: Part = "result",
        only: Collection[str] | None = None,
    ) -> tuple[list[Scene], list[Measured], list[Message]]:
        """Read and match each sequence, or `only` some, and return remarks on the inputs.

        Errors call the result by its `role`.
        """
        pairs, remarks = read_pairs(truth, result, frames, self.columns, self.parts, role, only)
        if self.blocks is not None and len(pairs) > 1:
            raise DataError(
                Argument("blocks", self.blocks),
                f" cuts one sequence, and there are {len(pairs)}; leave it out, since intervals "
                "are over the sequences",
            )
        numbered = any((pair.truth.category >= 1).any() for pair in pairs)
        scenes, measured = list[Scene](), list[Measured]()
        for pair in pairs:
            report(0, 0)
            whole = make_scene(pair, self.ignored, self.duplicates, numbered)
            parts = [whole] if self.blocks is None else cut(whole, self.blocks)
            counted = [measure(x, self.iou, self.pairing, self.mostly_tracked) for x in parts]
            matched = sum(int(x.counts["tp"]) for x in counted)
            whole.notes.extend(mismatch(whole, matched, self.iou))
            if self.blocks is not None:
                remarks += [*whole.notes, Message("blocks-of-one-sequence", blocks=self.blocks)]
            scenes += parts
            measured += counted
        return scenes, measured, remarks


def tracking(
    truth: Any,
    result: Any,
    *,
    iou: float = 0.5,
    frames: Any = None,
    pairing: EarlierPairing = "last-known",
    mostly_tracked: MostlyTracked = "at-least",
    ignored: Ignored = "motchallenge",
    duplicates: Duplicates = "raise",
    parts: Parts = "sequences",
    columns: str = "motchallenge",
    interval: TrackingInterval | None = None,
    confidence: float = IntervalMethod.CONFIDENCE,
    blocks: int | None = None,
    timeline: bool = False,
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
    interval : {"sequence-jackknife"}, optional
        Add confidence intervals of the measures of all sequences together: Student's, with the
        standard error of the jackknife over sequences, from 12 sequences on. The sequences of
        MOT17 that differ in ``-DPM``, ``-FRCNN`` and ``-SDP`` are one video, and are left out
        together.
    confidence : float
        Two-sided confidence of the intervals.
    blocks : int, at least 12, optional
        Cut a single long sequence into so many blocks of frames, each a sequence of its own:
        targets and identities are cut with it. All numbers are then of the blocks, and intervals
        are approximate.
    timeline : bool
        Whether to list the track segments, the maximal frame intervals in which a target has one
        identity: over ``spell``, ``spell_target spell_identity first_frame last_frame`` (and
        ``spell_camera``), with identity -1 where the target is missed.
        :func:`bioeval.plot.timeline` draws them.

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
        with denominator 0 is NaN. With an `interval`, each measure has ``_low`` and ``_high``, as
        ``mota_low``, NaN where there are none. :func:`bioeval.messages` gives the remarks on the
        data.

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
    options = TrackingOptions.parse(
        iou=iou,
        pairing=pairing,
        mostly_tracked=mostly_tracked,
        ignored=ignored,
        duplicates=duplicates,
        parts=parts,
        columns=columns,
        blocks=blocks,
    )
    if interval is not None:
        require_choice("interval", interval, get_args(TrackingInterval))
    confidence = IntervalMethod.check_confidence(confidence)
    timeline = require_flag("timeline", timeline)
    scenes, measured, notes = options.measured(truth, result, frames)
    return tracking_dataset(
        scenes,
        measured,
        options.attrs(),
        notes,
        timeline,
        confidence=None if interval is None else confidence,
    )

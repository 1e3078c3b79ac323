"""The counts of one sequence: matches, targets, and sums of HOTA."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_number
from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.base.progress import report
from bioeval.studies.tracking.inputs import LAYOUTS, Layout, Pair, SequenceSource, read_pairs
from bioeval.studies.tracking.matching import (
    DISTRACTORS,
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
from bioeval.studies.tracking.measures import SequenceSums

#: The states of a target, by increasing coverage.
STATES = ("mostly lost", "partially tracked", "mostly tracked")

#: The localisation thresholds alpha of HOTA: 0.05, 0.1, ... 0.95.
THRESHOLDS = np.arange(1, 20) / 20

#: How result boxes on ignored ground truth are treated.
Ignored = Literal["motchallenge", "mot20", "remove", "count"]

#: Whether a mostly tracked target is covered in at least 80 % of its frames, or in more.
MostlyTracked = Literal["at-least", "more-than"]


@dataclass(frozen=True)
class Measured:
    """The counts of one sequence, which add up over sequences."""

    counts: dict[str, int | float]  # ``overlap`` is the sum of IoU over the matches
    hota: dict[str, np.ndarray]  # sums over the matches at each threshold, (thresholds,)
    #: Variables of each target, (targets,); ``target`` is its id, behind the name of the sequence
    #: if there is one.
    targets: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The sequences of a result, their counts, and messages on them."""

    scenes: list[Scene]
    measured: list[Measured]
    sums: SequenceSums
    messages: list[Message]

    def class_attrs(self) -> dict[str, str | int]:
        """Return the evaluated and the ignored classes of the ground truth, as attributes."""
        evaluated, present = set[int](), set[int]()
        for scene in self.scenes:
            present |= set(scene.category.tolist())
            evaluated |= set(scene.category[scene.counted].tolist())
        return {
            "classes_evaluated": _listed_classes(evaluated),
            "classes_ignored": _listed_classes(present - evaluated),
            "world_coordinates": sum(scene.world for scene in self.scenes),
        }


def _listed_classes(classes: set[int]) -> str:
    numbers = [str(x) for x in sorted(classes) if x >= 0]
    none = ["without class"] if min(classes, default=0) < 0 else []
    return ", ".join([*numbers, *none])


@dataclass(frozen=True)
class TrackingOptions:
    """The options of an evaluation, checked; see :func:`bioeval.tracking`."""

    iou: float
    pairing: EarlierPairing
    mostly_tracked: MostlyTracked
    ignored: Ignored
    columns: Layout
    classes: tuple[int, ...] | None  # None for the classes of the convention

    def __post_init__(self) -> None:
        require_number("iou", self.iou, above=0, high=1)
        require_choice("pairing", self.pairing, get_args(EarlierPairing))
        require_choice("mostly_tracked", self.mostly_tracked, get_args(MostlyTracked))
        require_choice("ignored", self.ignored, get_args(Ignored))
        require_choice("columns", self.columns, LAYOUTS)
        if self.classes is not None and "class" not in LAYOUTS[self.columns]:
            raise DataError(
                f"`classes` is given, and `columns={self.columns}` has no column of classes"
            )

    def attrs(self) -> dict[str, str | int | float]:
        """Return the options as attributes of a result."""
        return {
            "iou": float(self.iou),
            "pairing": self.pairing,
            "mostly_tracked": self.mostly_tracked,
            "ignored": self.ignored,
        }

    def _require_classes(self, pairs: list[Pair]) -> None:
        present = set[int]().union(*(pair.truth.category.tolist() for pair in pairs))
        if missing := [x for x in self.classes or () if x not in present]:
            present_classes = _listed_classes(present) or "no rows"
            raise DataError(
                f"`classes` has {missing[0]}, which no row of the ground truth has; "
                f"its classes are: {present_classes}"
            )

    def evaluate(
        self,
        truths: Mapping[str, SequenceSource],
        results: Mapping[str, SequenceSource],
        frames: Mapping[str, int],
        role: str = "result",
    ) -> Evaluated:
        """Read, match and count each sequence; errors call the result `role`."""
        pairs, messages = read_pairs(
            truths, results, frames, self.columns, role, self.classes is not None
        )
        self._require_classes(pairs)
        numbered = any((pair.truth.category >= 1).any() for pair in pairs)
        scenes, measured = list[Scene](), list[Measured]()
        for pair in pairs:
            report(0, 0)
            scene = make_scene(pair, self.ignored, self.classes, numbered)
            counted, notes = self.measure(scene), scene.notes
            if not counted.counts["tp"] and len(scene.truth) and len(scene.result):
                notes = [*notes, Message("no-matches", iou=self.iou)]
            messages += [x.concerning(*filter(None, [scene.name])) for x in notes]
            scenes.append(scene)
            measured.append(counted)
        sums = SequenceSums.from_sequences(
            [x.name for x in scenes], [x.counts for x in measured], [x.hota for x in measured]
        )
        messages += self._remarks(scenes, sums)
        return Evaluated(scenes, measured, sums, messages)

    def _remarks(self, scenes: list[Scene], sums: SequenceSums) -> list[Message]:
        counts, _ = sums.total
        remarks = []
        by_class = self.ignored in DISTRACTORS
        if (
            by_class
            and self.classes is None
            and (class_0 := sum(int((x.category[~x.counted] == 0).sum()) for x in scenes))
        ):
            remarks.append(Message("class-0-ignored", boxes=class_0))
        if boxes := int(counts["ignored_truth_boxes"]):
            ignored_boxes = "distractors among them" if by_class else "them"
            treatment = f"are removed ({int(counts['removed_result_boxes']):,})"
            if self.ignored == "count":
                treatment = "count as false positives"
            about = {"which": ignored_boxes, "treatment": treatment}
            remarks.append(Message("ignored-boxes", boxes=boxes, **about))
        if unknown := [scene.frames_from for scene in scenes].count("rows"):
            remarks.append(Message("frames-not-given", unknown=unknown, sequences=len(scenes)))
        return remarks

    def measure(self, scene: Scene) -> Measured:
        """Match the boxes of a sequence and count."""
        frames = len(scene.camera)
        truth, result = scene.truth.select(scene.counted), scene.result
        if scene.distractor.any():
            result = result.select(self._is_on_no_distractor(scene))
        all_overlaps = find_overlaps(truth, result, frames)
        overlaps = all_overlaps.at_least(self.iou)
        serial = serials(truth, result, scene.camera)
        matched = match(truth, result, overlaps, serial, self.pairing)
        targets, resumptions = _counts_by_target(
            truth, result, matched, serial, self.mostly_tracked
        )
        tp = int((matched >= 0).sum())
        idtp = most_in_common(truth.code[overlaps.truth], result.code[overlaps.row])
        targets_by_state = Counter(targets["state"].tolist())
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
            "mt": targets_by_state["mostly tracked"],
            "pt": targets_by_state["partially tracked"],
            "ml": targets_by_state["mostly lost"],
            "idtp": idtp,
            "idfn": len(truth) - idtp,
            "idfp": len(result) - idtp,
            "ignored_truth_boxes": len(scene.truth) - len(truth),
            "removed_result_boxes": len(scene.result) - len(result),
            "overlap": float(overlaps.iou[overlaps.row == matched[overlaps.truth]].sum()),
        }
        ids = scene.target_ids[np.unique(truth.code)]
        if scene.name:
            ids = np.array([f"{scene.name}/{i}" for i in ids], dtype=str)
        targets["target"] = ids
        return Measured(counts, _hota_sums(truth, result, all_overlaps, serial), targets)

    def _is_on_no_distractor(self, scene: Scene) -> np.ndarray:
        """Return a mask of the result boxes that are not matched to a distractor.

        All ground-truth boxes are matched, so that a result box on a target stays with the target.
        """
        truth, result = scene.truth, scene.result
        overlaps = find_overlaps(truth, result, len(scene.camera)).at_least(self.iou)
        serial = serials(truth, result, scene.camera)
        matched = match(truth, result, overlaps, serial, self.pairing, keep=False)
        is_kept = np.ones(len(result), dtype=bool)
        is_kept[matched[scene.distractor & (matched >= 0)]] = False
        return is_kept


def _counts_by_target(
    truth: Boxes, result: Boxes, matched: np.ndarray, serial: np.ndarray, mostly_tracked: str
) -> tuple[dict[str, np.ndarray], int]:
    """Return variables of each target (targets,), and the number of times a target is resumed.

    `matched` (truth boxes,) has the result box of each truth box, -1 for none; `serial` numbers the
    frames. A target is resumed if there are frames with boxes between two of its matches.
    """
    # The boxes of each target, one target after the other, in the order of the frames.
    _, target = np.unique(truth.code, return_inverse=True)
    order = np.argsort(target, kind="stable")
    target = target.reshape(-1)[order]
    present = np.bincount(target)

    # The matched boxes, (matches,). An event happens between two consecutive matches of a target.
    box = np.flatnonzero(matched[order] >= 0)
    target_of_match = target[box]
    identity = result.code[matched[order][box]]
    frame = serial[truth.frame[order][box]]
    is_same_target = target_of_match[1:] == target_of_match[:-1]

    def count(is_event: np.ndarray) -> np.ndarray:
        """Return the number of events of each target; flags are between consecutive matches."""
        return np.bincount(target_of_match[1:][is_same_target & is_event], minlength=len(present))

    covered = np.bincount(target_of_match, minlength=len(present))
    targets = {
        "frames_present": present,
        "frames_covered": covered,
        "coverage": covered / present,
        "target_switches": count(identity[1:] != identity[:-1]),
        "target_fragmentations": count(np.diff(box) > 1),
        "state": _states(covered, present, mostly_tracked),
    }
    return targets, int(count(np.diff(frame) > 1).sum())


def _states(covered: np.ndarray, present: np.ndarray, mostly_tracked: str) -> np.ndarray:
    """Classify targets by their coverage, in integers, so that 80 % is exact."""
    is_tracked = 5 * covered > 4 * present
    if mostly_tracked == "at-least":
        is_tracked |= 5 * covered == 4 * present
    is_lost = 5 * covered < present
    return np.array(STATES, dtype=str)[np.where(is_lost, 0, np.where(is_tracked, 2, 1))]


def _hota_sums(
    truth: Boxes, result: Boxes, overlaps: Overlaps, serial: np.ndarray
) -> dict[str, np.ndarray]:
    """Match the boxes for HOTA, and return sums over the matches at each threshold.

    `overlaps` are all overlaps above 0. Each frame is matched once for all thresholds, with the
    largest sum of overlaps, each multiplied by the alignment of target and identity over the
    sequence. The sums add up over sequences: ``tp`` counts matches, ``loca`` sums overlaps,
    ``assa`` sums TPA / (TPA + FNA + FPA), ``assre`` TPA / (TPA + FNA), ``asspr`` TPA / (TPA + FPA).
    """
    tracks = _TrackPairs.from_overlaps(truth, result, overlaps)
    aligned = replace(overlaps, iou=tracks.alignment(overlaps)[tracks.pair] * overlaps.iou)
    matched = match(truth, result, aligned, serial, "previous-frame", keep=False)
    is_match = matched[overlaps.truth] == overlaps.row
    iou = overlaps.iou[is_match]
    # (matches,): how many thresholds the overlap of each match passes.
    passed = np.searchsorted(THRESHOLDS * (1 - ROUNDING), iou, side="right")
    levels = len(THRESHOLDS) + 1
    # (pairs with a match, thresholds): true positive associations.
    pairs, pair_of_match = np.unique(tracks.pair[is_match], return_inverse=True)
    tpa = _at_thresholds(
        np.bincount(pair_of_match * levels + passed, minlength=len(pairs) * levels)
    )
    target_boxes = tracks.target_boxes[pairs, np.newaxis]
    identity_boxes = tracks.identity_boxes[pairs, np.newaxis]
    return {
        "tp": tpa.sum(axis=0),
        "assa": (tpa * (tpa / (target_boxes + identity_boxes - tpa))).sum(axis=0),
        "assre": (tpa * (tpa / target_boxes)).sum(axis=0),
        "asspr": (tpa * (tpa / identity_boxes)).sum(axis=0),
        "loca": _at_thresholds(np.bincount(passed, iou, levels))[0],
    }


class _TrackPairs(NamedTuple):
    """The pairs of a target and an identity whose boxes overlap."""

    pair: np.ndarray  # int64 (overlaps,): the pair of each overlap
    target_boxes: np.ndarray  # int64 (pairs,): boxes of the target
    identity_boxes: np.ndarray  # int64 (pairs,): boxes of the identity

    @classmethod
    def from_overlaps(cls, truth: Boxes, result: Boxes, overlaps: Overlaps) -> _TrackPairs:
        identities = int(result.code.max(initial=0)) + 1
        key = truth.code[overlaps.truth] * identities + result.code[overlaps.row]
        distinct, pair = np.unique(key, return_inverse=True)
        target_boxes = np.bincount(truth.code)[distinct // identities]
        return cls(pair, target_boxes, np.bincount(result.code)[distinct % identities])

    def alignment(self, overlaps: Overlaps) -> np.ndarray:
        """Return the alignment of each pair, a soft Jaccard index of the two tracks.

        An overlap counts by its proportion of all overlaps of the two boxes: Luiten et al. (2021).
        """
        iou, box, row = overlaps.iou, overlaps.truth, overlaps.row
        of_both = np.bincount(box, iou)[box] + np.bincount(row, iou)[row]
        in_common = np.bincount(self.pair, iou / (of_both - iou), len(self.target_boxes))
        return in_common / (self.target_boxes + self.identity_boxes - in_common)


def _at_thresholds(by_passed: np.ndarray) -> np.ndarray:
    """Return the sums over matches that pass each threshold, (rows, thresholds).

    `by_passed`, flat, has for each row the sums over matches that pass exactly 0, 1, 2, ...
    thresholds.
    """
    table = by_passed.reshape(-1, len(THRESHOLDS) + 1)[:, 1:]
    return table[:, ::-1].cumsum(axis=1)[:, ::-1]

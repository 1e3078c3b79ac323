"""The counts of one sequence, the measures that they give, and the intervals of these."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from bioeval.base.arguments import require_choice, require_number
from bioeval.base.errors import DataError, Message, counted
from bioeval.base.progress import report
from bioeval.results.variables import Variable
from bioeval.stats.jackknife import student
from bioeval.stats.options import IntervalMethod
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.tracking.inputs import (
    BoxRows,
    Pair,
    SequenceSource,
    read_pairs,
)

# One sequence with integer codes for its identities, and the matching of its boxes.


#: The distractor classes of MOT16 and later, whose matched result boxes are removed. In MOT20, they
#: include other vehicles.
DISTRACTORS = {"motchallenge": (2, 7, 8, 12), "mot20": (2, 6, 7, 8, 12)}

#: The class that is evaluated, if there are classes.
PEDESTRIAN = 1


@dataclass(frozen=True)
class Boxes:
    """Boxes in the order of frames, and in each frame in the order of identities."""

    code: np.ndarray  # int64 (n,): the target, or the identity of the result
    frame: np.ndarray  # int64 (n,): index among the frames with rows
    box: np.ndarray  # float64 (n, 4): left, top, width, height

    def __len__(self) -> int:
        return len(self.code)

    def select(self, keep: np.ndarray) -> Boxes:
        return Boxes(self.code[keep], self.frame[keep], np.ascontiguousarray(self.box[keep]))

    def starts(self, frames: int) -> np.ndarray:
        """Return the index of the first box of each frame, and last the number of boxes."""
        return np.searchsorted(self.frame, np.arange(frames + 1)).astype(np.int64)


@dataclass(frozen=True)
class Scene:
    """The boxes of one sequence, including boxes that are ignored."""

    name: str
    truth: Boxes
    result: Boxes
    target_ids: np.ndarray  # int64: the id of each code of the ground truth
    identity_ids: np.ndarray  # int64: the id of each code of the result
    counted: np.ndarray  # bool: whether a ground-truth box is evaluated; others are ignored
    distractor: np.ndarray  # bool: whether matches of a ground-truth box are removed
    category: np.ndarray  # int64: the class of each ground-truth box
    world: bool  # whether column 8 of the ground truth is a world coordinate instead of a class
    frames_with_rows: int
    frames: int  # number of frames, with and without rows
    frames_from: str  # place where the number is stated, in words
    notes: list[Message]  # remarks on the data


def make_scene(pair: Pair, ignored: str, classes: Sequence[int] | None, numbered: bool) -> Scene:
    """Order the rows of a sequence, and code its targets and identities.

    `classes` are the classes that are evaluated; None for the classes of the convention. Classes
    are `numbered` if a row of the ground truth, in any sequence, has a class from 1 up.
    """
    frames_with_rows = np.union1d(pair.truth.frame, pair.result.frame)
    orders, boxes, ids = [], [], []
    for rows in (pair.truth, pair.result):
        order = np.lexsort((rows.line, rows.identity, rows.frame))
        _refuse_repeated_ids(rows, order)
        distinct, code = np.unique(rows.identity, return_inverse=True)
        frame = np.searchsorted(frames_with_rows, rows.frame[order])
        boxes.append(Boxes(code.reshape(-1)[order], frame, np.ascontiguousarray(rows.box[order])))
        orders.append(order)
        ids.append(distinct)
    for rows in (pair.truth, pair.result):
        if pair.frames is not None and (beyond := np.flatnonzero(rows.frame > pair.frames)).size:
            raise DataError(
                f"{rows.where(beyond[0])}: frame is {rows.frame[beyond[0]]}; expected at most "
                f"{pair.frames}, the length that is {pair.frames_from}"
            )
    counted, distractor = _evaluated_and_distractors(pair.truth, ignored, classes, numbered)
    frames, frames_from = len(frames_with_rows), "rows"
    if pair.frames is not None:
        frames, frames_from = pair.frames, pair.frames_from
    truth = pair.truth
    result = pair.result
    notes = [
        Message("no-boxes", side=side)
        for side, boxes in (("ground truth", counted.any()), ("result", len(result)))
        if not boxes
    ]
    if pair.frames is None and len(truth):
        last = int(truth.frame.max())
        if boxes_after := int(np.count_nonzero(result.frame > last)):
            notes.append(Message("boxes-beyond-truth", boxes=boxes_after, last=last))
    return Scene(
        name=pair.name,
        truth=boxes[0],
        result=boxes[1],
        target_ids=ids[0],
        identity_ids=ids[1],
        counted=counted[orders[0]],
        distractor=distractor[orders[0]],
        category=pair.truth.category[orders[0]],
        world=pair.truth.world,
        frames_with_rows=len(frames_with_rows),
        frames=frames,
        frames_from=frames_from,
        notes=notes,
    )


def _refuse_repeated_ids(rows: BoxRows, order: np.ndarray) -> None:
    in_order, identity = rows.frame[order], rows.identity[order]
    again = np.flatnonzero((in_order[1:] == in_order[:-1]) & (identity[1:] == identity[:-1])) + 1
    if len(again):
        i = min(again, key=lambda i: rows.line[order[i]])
        row, before = order[i], order[i - 1]
        raise DataError(
            f"{rows.where(row)}: duplicate id {rows.identity[row]} in frame {rows.frame[row]}, "
            f"as in {rows.line[before]}; expected each id once in a frame "
            f"({counted(len(again), 'boxes')} too many)"
        )


def _evaluated_and_distractors(
    truth: BoxRows, ignored: str, classes: Sequence[int] | None, numbered: bool
) -> tuple[np.ndarray, np.ndarray]:
    counted = truth.flag != 0
    if classes is not None:
        counted &= np.isin(truth.category, classes)
    elif ignored in DISTRACTORS:
        # A box without a class counts as a pedestrian; 0 is a class only if classes are numbered.
        has_class = truth.category >= (0 if numbered else 1)
        counted &= ~has_class | (truth.category == PEDESTRIAN)
    if ignored == "count":
        return counted, np.zeros(len(truth), dtype=bool)
    if ignored == "remove":
        return counted, ~counted
    return counted, ~counted & np.isin(truth.category, DISTRACTORS[ignored])


#: The relative tolerance of the threshold for rounding errors: coordinates are decimals.
ROUNDING = 1e-12

#: Which earlier pairings are kept.
EarlierPairing = Literal["last-known", "previous-frame"]


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
    """Find the pairs of boxes of the same frame that overlap."""
    pairs = [np.empty((2, 0), dtype=np.int64)]
    overlaps = [np.empty(0)]
    truth_starts = truth.starts(frames).tolist()
    result_starts = result.starts(frames).tolist()
    for (i, i_end), (j, j_end) in zip(pairwise(truth_starts), pairwise(result_starts), strict=True):
        if i < i_end and j < j_end:
            iou = _iou(truth.box[i:i_end, None].T, result.box[None, j:j_end].T).T
            pair = np.nonzero(iou > 0)
            overlaps.append(iou[pair])
            pairs.append(np.stack(pair) + [[i], [j]])
    box, row = np.concatenate(pairs, axis=1)
    start = np.searchsorted(box, np.arange(len(truth) + 1))
    return Overlaps(start, row, np.concatenate(overlaps))


def _iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the intersection over the union of boxes (left, top, width, height), (4, n)."""
    a_right = a[0] + a[2]
    a_bottom = a[1] + a[3]
    b_right = b[0] + b[2]
    b_bottom = b[1] + b[3]
    width = np.minimum(a_right, b_right) - np.maximum(a[0], b[0])
    height = np.minimum(a_bottom, b_bottom) - np.maximum(a[1], b[1])
    intersection = np.maximum(width, 0) * np.maximum(height, 0)
    # Widths are rounded like those of the intersection: the IoU of a box with itself is exactly 1.
    union = (
        (a_right - a[0]) * (a_bottom - a[1]) + (b_right - b[0]) * (b_bottom - b[1]) - intersection
    )
    return ratio(intersection, union)


def serials(truth: Boxes, result: Boxes, frames: int) -> np.ndarray:
    """Return a serial number for each frame, by which consecutive frames differ by 1.

    Nothing can be paired in a frame without boxes of both sides: it has the number of the frame
    before, and interrupts no pairing.
    """
    has_both_sides = (np.diff(truth.starts(frames)) > 0) & (np.diff(result.starts(frames)) > 0)
    return np.cumsum(has_both_sides)


def match(
    truth: Boxes,
    result: Boxes,
    overlaps: Overlaps,
    serial: np.ndarray,
    pairing: str,
    keep: bool = True,
) -> np.ndarray:
    """Return the result box of each ground-truth box, or -1.

    - pairing ``"last-known"``: a target's last pairing is kept, however old, if both are present
      and overlap; then as many boxes as possible are matched, with the largest sum of overlaps
    - pairing ``"previous-frame"``: only pairings of the frame before are kept; then boxes are
      matched with the largest sum of overlaps
    - without `keep`: no earlier pairing is kept
    """
    box_of = overlaps.truth.tolist()
    row_of = overlaps.row.tolist()
    iou_of = overlaps.iou.tolist()
    target = truth.code.tolist()
    identity = result.code.tolist()
    first_overlap = overlaps.start[truth.starts(len(serial))].tolist()
    matches: dict[int, int] = {}
    # The last identity of each target, and the serial number of its frame.
    last: dict[int, tuple[int, int]] = {}
    for frame, serial_of_frame in enumerate(serial.tolist()):
        candidates = list(range(first_overlap[frame], first_overlap[frame + 1]))
        used_rows = set[int]()
        pairs: list[tuple[int, int]] = []
        if keep:
            for k in candidates:
                box, row = box_of[k], row_of[k]
                last_identity, last_serial = last.get(target[box], (-1, -1))
                is_recent = pairing == "last-known" or last_serial >= serial_of_frame - 1
                if is_recent and last_identity == identity[row] and row not in used_rows:
                    pairs.append((box, row))
                    used_rows.add(row)
            kept = dict(pairs)
            candidates = [
                k for k in candidates if box_of[k] not in kept and row_of[k] not in used_rows
            ]
        pairs += _assign(
            [box_of[k] for k in candidates],
            [row_of[k] for k in candidates],
            [iou_of[k] for k in candidates],
            pairing == "last-known",
        )
        matches.update(pairs)
        last.update((target[box], (identity[row], serial_of_frame)) for box, row in pairs)
    matched = np.full(len(truth), -1, dtype=np.int64)
    matched[list(matches)] = list(matches.values())
    return matched


def _assign(
    boxes: list[int], rows: list[int], iou: list[float], most_pairs: bool
) -> list[tuple[int, int]]:
    """Return pairs of boxes and result rows with the largest sum of IoU, one-to-one.

    Candidates are (``boxes[k]``, ``rows[k]``). With `most_pairs`, the number of pairs is maximised
    before the sum.
    """
    if len(set(boxes)) == len(set(rows)) == len(boxes):  # there is no choice
        return list(zip(boxes, rows, strict=True))
    distinct_boxes, i = np.unique(boxes, return_inverse=True)
    distinct_rows, j = np.unique(rows, return_inverse=True)
    weight = np.zeros((len(distinct_boxes), len(distinct_rows)))
    weight[i, j] = iou
    if most_pairs:
        # An overlap is at most 1: with this addition, one more pair outweighs any sum of them.
        weight[i, j] += 1 + min(weight.shape)
    assigned_i, assigned_j = linear_sum_assignment(weight, maximize=True)
    is_pair = weight[assigned_i, assigned_j] > 0
    paired_boxes = distinct_boxes[assigned_i[is_pair]]
    paired_rows = distinct_rows[assigned_j[is_pair]]
    return list(zip(paired_boxes.tolist(), paired_rows.tolist(), strict=True))


def most_in_common(target: np.ndarray, identity: np.ndarray) -> int:
    """Return the largest number of overlaps of assigned pairs of a target and an identity (IDTP).

    `target` and `identity` are the codes of each overlap. Each target is assigned at most one
    identity, and each identity at most one target. All boxes outside of these overlaps are errors,
    so that the assignment with the fewest errors has the largest IDTP: Ristani et al. (2016).
    """
    if not len(target):
        return 0
    distinct_targets, i = np.unique(target, return_inverse=True)
    distinct_identities, j = np.unique(identity, return_inverse=True)
    targets = len(distinct_targets)
    identities = len(distinct_identities)
    # The weight of an identity is the number of overlaps plus 1. A target may stay without an
    # identity: it has one more column, of weight 1.
    cells = (
        np.concatenate([i.reshape(-1), np.arange(targets)]),
        np.concatenate([j.reshape(-1), identities + np.arange(targets)]),
    )
    shape = targets, identities + targets
    table = sparse.coo_array((np.ones(len(cells[0])), cells), shape=shape).tocsr()
    table.sum_duplicates()
    table.data[table.indices < identities] += 1
    weight = table[min_weight_full_bipartite_matching(table, maximize=True)].sum()
    return round(float(weight)) - targets


def fingerprint(scenes: Sequence[Scene]) -> str:
    """Return the numbers of boxes and a digest of all rows, independent of the order of rows."""
    digest = hashlib.sha256()
    truth = result = 0
    for scene in scenes:
        truth += len(scene.truth)
        result += len(scene.result)
        digest.update(f"{scene.name}||{scene.frames}".encode())
        for boxes, ids in ((scene.truth, scene.target_ids), (scene.result, scene.identity_ids)):
            for array in (ids[boxes.code], boxes.frame, boxes.box):
                digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(scene.counted.tobytes())
    return f"{truth} x {result} boxes {digest.hexdigest()[:16]}"


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
    classes: tuple[int, ...] | None  # None for the classes of the convention

    def __post_init__(self) -> None:
        require_number("iou", self.iou, above=0, high=1)
        require_choice("pairing", self.pairing, get_args(EarlierPairing))
        require_choice("mostly_tracked", self.mostly_tracked, get_args(MostlyTracked))
        require_choice("ignored", self.ignored, get_args(Ignored))

    def attrs(self) -> dict[str, str | int | float]:
        """Return the options as attributes of a result."""
        return {
            "iou": float(self.iou),
            "pairing": self.pairing,
            "mostly_tracked": self.mostly_tracked,
            "ignored": self.ignored,
        }

    def evaluate(
        self,
        truths: Mapping[str, SequenceSource],
        results: Mapping[str, SequenceSource],
        frames: Mapping[str, int],
        role: str = "result",
    ) -> Evaluated:
        """Read, match and count each sequence; errors call the result `role`."""
        pairs, messages = read_pairs(truths, results, frames, role, self.classes is not None)
        present = set[int]().union(*(pair.truth.category.tolist() for pair in pairs))
        if missing := [x for x in self.classes or () if x not in present]:
            present_classes = _listed_classes(present) or "no rows"
            raise DataError(
                f"`classes` has {missing[0]}, which no row of the ground truth has; "
                f"its classes are: {present_classes}"
            )
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
        messages += remarks
        return Evaluated(scenes, measured, sums, messages)

    def measure(self, scene: Scene) -> Measured:
        """Match the boxes of a sequence and count."""
        frames = scene.frames_with_rows
        truth, result = scene.truth.select(scene.counted), scene.result
        if scene.distractor.any():
            result = result.select(self._is_on_no_distractor(scene))
        all_overlaps = find_overlaps(truth, result, frames)
        overlaps = all_overlaps.at_least(self.iou)
        serial = serials(truth, result, frames)
        matched = match(truth, result, overlaps, serial, self.pairing)
        # The boxes of each target, one target after the other, in the order of the frames.
        _, target = np.unique(truth.code, return_inverse=True)
        order = np.argsort(target, kind="stable")
        target = target.reshape(-1)[order]
        present = np.bincount(target)

        # The matched boxes, (matches,). An event is between two consecutive matches of a target.
        box = np.flatnonzero(matched[order] >= 0)
        target_of_match = target[box]
        identity = result.code[matched[order][box]]
        frame = serial[truth.frame[order][box]]
        is_same_target = target_of_match[1:] == target_of_match[:-1]

        def count(is_event: np.ndarray) -> np.ndarray:
            """Return the number of events of each target; flags are between consecutive matches."""
            return np.bincount(
                target_of_match[1:][is_same_target & is_event], minlength=len(present)
            )

        covered = np.bincount(target_of_match, minlength=len(present))
        # The states by coverage, in integers, so that 80 % is exact.
        is_tracked = 5 * covered > 4 * present
        if self.mostly_tracked == "at-least":
            is_tracked |= 5 * covered == 4 * present
        is_lost = 5 * covered < present
        targets = {
            "frames_present": present,
            "frames_covered": covered,
            "coverage": covered / present,
            "target_switches": count(identity[1:] != identity[:-1]),
            "target_fragmentations": count(np.diff(box) > 1),
            "state": np.array(STATES, dtype=str)[np.where(is_lost, 0, np.where(is_tracked, 2, 1))],
        }
        # A target is resumed if there are frames with boxes between two of its matches.
        resumptions = int(count(np.diff(frame) > 1).sum())
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
        frames = scene.frames_with_rows
        overlaps = find_overlaps(truth, result, frames).at_least(self.iou)
        serial = serials(truth, result, frames)
        matched = match(truth, result, overlaps, serial, self.pairing, keep=False)
        is_kept = np.ones(len(result), dtype=bool)
        is_kept[matched[scene.distractor & (matched >= 0)]] = False
        return is_kept


def _hota_sums(
    truth: Boxes, result: Boxes, overlaps: Overlaps, serial: np.ndarray
) -> dict[str, np.ndarray]:
    """Match the boxes for HOTA, and return sums over the matches at each threshold.

    `overlaps` are all overlaps above 0. Each frame is matched once for all thresholds, with the
    largest sum of overlaps, each multiplied by the alignment of target and identity over the
    sequence. The sums add up over sequences: ``tp`` counts matches, ``loca`` sums overlaps,
    ``assa`` sums TPA / (TPA + FNA + FPA), ``assre`` TPA / (TPA + FNA), ``asspr`` TPA / (TPA + FPA).
    """
    # The pairs of a target and an identity whose boxes overlap: the pair of each overlap, and the
    # boxes of the two in each pair.
    box, row = overlaps.truth, overlaps.row
    identities = int(result.code.max(initial=0)) + 1
    key = truth.code[box] * identities + result.code[row]
    distinct, pair = np.unique(key, return_inverse=True)
    target_boxes = np.bincount(truth.code)[distinct // identities]
    identity_boxes = np.bincount(result.code)[distinct % identities]
    # The alignment of each pair, a soft Jaccard index of the two tracks: an overlap counts by its
    # proportion of all overlaps of the two boxes.
    of_both = np.bincount(box, overlaps.iou)[box] + np.bincount(row, overlaps.iou)[row]
    in_common = np.bincount(pair, overlaps.iou / (of_both - overlaps.iou), len(target_boxes))
    alignment = in_common / (target_boxes + identity_boxes - in_common)
    aligned = replace(overlaps, iou=alignment[pair] * overlaps.iou)
    matched = match(truth, result, aligned, serial, "previous-frame", keep=False)
    is_match = matched[overlaps.truth] == overlaps.row
    iou = overlaps.iou[is_match]
    # (matches,): how many thresholds the overlap of each match passes.
    passed = np.searchsorted(THRESHOLDS * (1 - ROUNDING), iou, side="right")
    levels = len(THRESHOLDS) + 1
    # (pairs with a match, thresholds): true positive associations.
    pairs, pair_of_match = np.unique(pair[is_match], return_inverse=True)
    tpa = _at_thresholds(
        np.bincount(pair_of_match * levels + passed, minlength=len(pairs) * levels)
    )
    target_boxes = target_boxes[pairs, np.newaxis]
    identity_boxes = identity_boxes[pairs, np.newaxis]
    return {
        "tp": tpa.sum(axis=0),
        "assa": (tpa * (tpa / (target_boxes + identity_boxes - tpa))).sum(axis=0),
        "assre": (tpa * (tpa / target_boxes)).sum(axis=0),
        "asspr": (tpa * (tpa / identity_boxes)).sum(axis=0),
        "loca": _at_thresholds(np.bincount(passed, iou, levels))[0],
    }


def _at_thresholds(by_passed: np.ndarray) -> np.ndarray:
    """Return the sums over matches that pass each threshold, (rows, thresholds).

    `by_passed`, flat, has for each row the sums over matches that pass exactly 0, 1, 2, ...
    thresholds.
    """
    table = by_passed.reshape(-1, len(THRESHOLDS) + 1)[:, 1:]
    return table[:, ::-1].cumsum(axis=1)[:, ::-1]


#: The counts of a sequence, or their sums over sequences, by name; ``overlap`` is the sum of IoU
#: over the matches. Each count is a number, or an array.
Counts = Mapping[str, Any]

#: Sums over the matches of HOTA, by name, each (..., localisation thresholds).
MatchSums = Mapping[str, np.ndarray]


def _measures(meanings: Mapping[str, tuple[str, str]], **details: Any) -> dict[str, Variable]:
    details = {"units": "proportion", "direction": "larger", **details}
    return {
        name: Variable(meaning, name=name, label=label, **details)
        for name, (label, meaning) in meanings.items()
    }


_PER_FRAME: dict[str, Any] = {
    **{"units": "per frame", "decimals": 3, "bounds": (0.0, np.inf), "direction": "smaller"},
    "detail": "verbose",
}

#: HOTA and its parts, at one localisation threshold.
HOTA = {
    **_measures(
        {
            "hota": ("HOTA", "higher order tracking accuracy: sqrt(DetA * AssA)"),
            "deta": ("DetA", "detection accuracy: TP / (TP + FN + FP)"),
            "assa": ("AssA", "association accuracy: mean over the TP of TPA / (TPA + FNA + FPA)"),
        }
    ),
    **_measures(
        {
            "detre": ("DetRe", "detection recall: TP / (TP + FN)"),
            "detpr": ("DetPr", "detection precision: TP / (TP + FP)"),
            "assre": ("AssRe", "association recall: mean over the TP of TPA / (TPA + FNA)"),
            "asspr": ("AssPr", "association precision: mean over the TP of TPA / (TPA + FPA)"),
        },
        detail="verbose",
    ),
    **_measures({"loca": ("LocA", "localisation accuracy: mean overlap (IoU) of the TP")}),
}

_MOTA = "multiple object tracking accuracy: 1 - (FN + FP + IDSW) / boxes of targets"
_MOTP = "multiple object tracking precision: mean overlap (IoU) of the matches"
_DISTANCE = "MOTP as a distance", "mean of 1 - IoU over the matches: MOTP as a distance"
_FAR = "errors/frame", "false alarm rate of CityFlow: FN + FP + IDSW in a frame"
_FP = "FP/frame", "false positives in a frame (FAF of MOTChallenge)"

#: Every measure by its name, in the order of the variables.
MEASURES: dict[str, Variable] = {
    **_measures({"mota": ("MOTA", _MOTA)}, bounds=(-np.inf, 1.0)),
    **_measures({"motp": ("MOTP", _MOTP)}),
    **_measures({"motp_distance": _DISTANCE}, direction="smaller", detail="data"),
    **_measures(
        {"recall": ("recall", "proportion of the boxes of targets that are matched")},
        out_of="truth_boxes",
    ),
    **_measures(
        {"precision": ("precision", "proportion of the boxes of the result that are matched")},
        out_of="result_boxes",
    ),
    **_measures({"far": _FAR}, **_PER_FRAME),
    **_measures({"fp_per_frame": _FP}, **_PER_FRAME),
    **_measures(
        {"idp": ("IDP", "identification precision: IDTP / (IDTP + IDFP)")}, out_of="result_boxes"
    ),
    **_measures(
        {"idr": ("IDR", "identification recall: IDTP / (IDTP + IDFN)")}, out_of="truth_boxes"
    ),
    **_measures(
        {"idf1": ("IDF1", "identification F1: 2 IDTP / (2 IDTP + IDFP + IDFN)")},
        out_of="truth_boxes result_boxes",
    ),
    **{
        name: replace(x, long_name=f"{x.long_name}; mean over localisation thresholds")
        for name, x in HOTA.items()
    },
}

#: The measures by which trackers are compared by default.
COMPARED = ("hota", "mota", "idf1")


def hota_at_alpha(counts: Counts, sums: MatchSums) -> dict[str, np.ndarray]:
    """Return HOTA and its parts at each localisation threshold, which is the last axis.

    ``HOTA = sqrt(DetA AssA)``; the descriptions in :data:`HOTA` have the formulas of the parts.
    Luiten et al. (2021), HOTA, *IJCV* 129.

    At a threshold without a match, AssA, AssRe and AssPr are 0 and LocA is 1, as in TrackEval:
    otherwise few means over thresholds would be defined. Without a match at any threshold they are
    NaN.
    """
    tp = sums["tp"]
    targets = np.asarray(counts["truth_boxes"])[..., None]
    identities = np.asarray(counts["result_boxes"])[..., None]
    detections = targets + identities - tp
    curves = {
        "hota": np.sqrt(ratio(sums["assa"], detections)),  # tp / detections * assa / tp
        "deta": ratio(tp, detections),
        "assa": ratio(sums["assa"], tp),
        "detre": ratio(tp, targets),
        "detpr": ratio(tp, identities),
        "assre": ratio(sums["assre"], tp),
        "asspr": ratio(sums["asspr"], tp),
        "loca": ratio(sums["loca"], tp),
    }
    unmatched = (tp == 0) & tp.any(axis=-1, keepdims=True)
    for name, value in {"assa": 0, "assre": 0, "asspr": 0, "loca": 1}.items():
        curves[name][unmatched] = value
    return curves


def values_of(counts: Counts, sums: MatchSums) -> dict[str, np.ndarray]:
    """Return every measure, in the shape of the counts; NaN where its denominator is 0.

    - Bernardin and Stiefelhagen (2008): ``MOTA = 1 - (FN + FP + IDSW) / GT`` for GT boxes of
      targets; MOTP is the mean overlap of the matches
    - Ristani et al. (2016): ``IDP = IDTP / (IDTP + IDFP)``, ``IDR = IDTP / (IDTP + IDFN)``, ``IDF1
      = 2 IDTP / (2 IDTP + IDFP + IDFN)``
    - Tang et al. (2019), CityFlow: ``far = (FN + FP + IDSW) / frames``
    """
    errors = counts["fn"] + counts["fp"] + counts["idsw"]
    twice_idtp = 2 * counts["idtp"]
    return {
        "mota": ratio(counts["truth_boxes"] - errors, counts["truth_boxes"]),
        "motp": ratio(counts["overlap"], counts["tp"]),
        "motp_distance": ratio(counts["tp"] - counts["overlap"], counts["tp"]),
        "recall": ratio(counts["tp"], counts["truth_boxes"]),
        "precision": ratio(counts["tp"], counts["result_boxes"]),
        "far": ratio(errors, counts["frames"]),
        "fp_per_frame": ratio(counts["fp"], counts["frames"]),
        "idp": ratio(counts["idtp"], counts["idtp"] + counts["idfp"]),
        "idr": ratio(counts["idtp"], counts["idtp"] + counts["idfn"]),
        "idf1": ratio(twice_idtp, twice_idtp + counts["idfp"] + counts["idfn"]),
        **{name: x.mean(axis=-1) for name, x in hota_at_alpha(counts, sums).items()},
    }


#: The method of the intervals of tracking.
METHOD = "sequence-jackknife"

#: Limits need at least this number of videos.
FEWEST = 12

# The detectors of MOT17, which has each video once for each of them.
_DETECTIONS = re.compile(r"-(?:DPM|FRCNN|SDP)$")


@dataclass(frozen=True)
class SequenceSums:
    """The counts and the sums of HOTA of sequences, as arrays over sequences.

    A video is one sequence, or several sequences of the same video with different detections, as in
    MOT17.
    """

    counts: Counts
    sums: MatchSums
    video: np.ndarray  # int64 (sequences,): the video of each sequence
    videos: int  # number of videos

    @classmethod
    def from_sequences(
        cls, names: Iterable[str], counts: Iterable[Counts], sums: Iterable[MatchSums]
    ) -> SequenceSums:
        videos = np.array([_DETECTIONS.sub("", name) for name in names])
        distinct, video = np.unique(videos, return_inverse=True)
        return cls(_stacked(counts), _stacked(sums), video.reshape(-1), len(distinct))

    @cached_property
    def total(self) -> tuple[Counts, MatchSums]:
        return (
            {name: values.sum(axis=0) for name, values in self.counts.items()},
            {name: values.sum(axis=0) for name, values in self.sums.items()},
        )

    def _sums_without(self, values: np.ndarray) -> np.ndarray:
        """Return, for each video, the sum over all other videos.

        It is the sum over the videos before it plus the sum over the videos after it. A difference,
        of the sum over all videos and the video, might not be exactly 0 if no other video has a
        match.
        """
        # By video, with a 0 before the first and after the last.
        by_video = np.zeros((self.videos + 2, *values.shape[1:]), dtype=values.dtype)
        np.add.at(by_video, 1 + self.video, values)
        before = np.cumsum(by_video, axis=0)[:-2]
        after = np.cumsum(by_video[::-1], axis=0)[::-1][2:]
        return before + after

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """Each measure of all sequences together."""
        return values_of(*self.total)

    @cached_property
    def sequence_values(self) -> dict[str, np.ndarray]:
        """Each measure of each sequence by itself, shape (sequences,)."""
        return values_of(self.counts, self.sums)

    @cached_property
    def values_without(self) -> dict[str, np.ndarray]:
        """Each measure without each video, shape (videos,)."""
        counts, sums = (
            {name: self._sums_without(values) for name, values in x.items()}
            for x in (self.counts, self.sums)
        )
        return values_of(counts, sums)

    def limits(self, name: str, confidence: float) -> tuple[float, float]:
        """Return the limits of a measure; NaN with fewer than `FEWEST` videos."""
        if self.videos < FEWEST:
            return np.nan, np.nan
        columns = np.append(self.values[name], self.values_without[name])
        low, high = student(columns, confidence, self.videos, MEASURES[name].bounds)
        return float(low), float(high)

    def attrs(self, method: IntervalMethod) -> dict[str, str | float]:
        """Return the attributes of intervals; empty if there are too few videos for intervals."""
        if self.videos < FEWEST:
            return {}
        return {
            "interval_method": METHOD,
            "confidence": method.confidence,
            "interval_unit": "sequences",
            "interval_for": "new sequences",
        }

    def messages(self) -> list[Message]:
        """Return messages on sequences of one video, and on too few sequences for intervals."""
        sequences, messages = len(self.video), []
        if self.videos < sequences:
            about = {"sequences": sequences, "videos": self.videos}
            messages.append(Message("sequences-of-one-video", **about))
        if self.videos < FEWEST:
            messages.append(Message("few-sequences", sequences=self.videos, needed=FEWEST))
        return messages


def _stacked(parts: Iterable[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    parts = list(parts)
    return {name: np.array([part[name] for part in parts]) for name in parts[0]}

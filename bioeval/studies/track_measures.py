"""The boxes of one sequence: their matches, what is counted of them, and the measures.

A target is a person of the ground truth, and an identity one of the result. In each frame, boxes of
targets and of identities are matched if they overlap enough. With two targets, of which the second
one is lost in frame 2 and found by another identity in frame 3::

    frame      1        2        3
    target A   1        1        1
    target B   2        -        3

there are 5 matches, one false negative (FN), and one identity switch (IDSW), so that MOTA is
1 - (1 + 0 + 1) / 6 (CLEAR MOT). For IDF1, each target has one identity all along: A has 1, with 3
boxes in common (IDTP), and B has 2, with one. :class:`Scene` has the boxes of a sequence,
:meth:`TrackingOptions.measure` counts, and :func:`values_of` makes measures of counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from bioeval.base.arguments import require_choice, require_number
from bioeval.base.errors import DataError, Message, counted
from bioeval.results.variables import Variable
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.boxes import BoxRows, SequenceRows

# One sequence with integer codes for its identities, and the matching of its boxes.


#: Which earlier pairings are kept.
EarlierPairing = Literal["last-known", "previous-frame"]

#: How result boxes on ignored ground truth are treated.
Ignored = Literal["motchallenge", "mot20", "remove", "count"]

#: Whether a mostly tracked target is covered in at least 80 % of its frames, or in more.
MostlyTracked = Literal["at-least", "more-than"]


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


class Scene:
    """The boxes of one sequence, including boxes that are ignored.

    - `truth`, `result`: the boxes; `target_ids`, `identity_ids`: the id of each of their codes
    - for each ground-truth box: whether it is `counted`, or else ignored; whether it is a
      `distractor`, whose matches are removed; its class, `category`
    - `world`: whether column 8 of the ground truth is a world coordinate instead of a class
    - `frames`: the number of frames, with and without rows; `frames_from`: where it is stated
    - `notes`: remarks on the data
    """

    def __init__(self, sequence: SequenceRows, options: TrackingOptions, numbered: bool):
        """Order the rows of a sequence, and code its targets and identities.

        Classes are `numbered` if a row of the ground truth, in any sequence, has a class from 1 up.
        """
        truth, result, frames = sequence.truth, sequence.result, sequence.frames
        frames_with_rows = np.union1d(truth.frame, result.frame)
        truth_order = _order_of_rows(truth)
        result_order = _order_of_rows(result)
        if frames is not None:
            for rows in (truth, result):
                beyond = np.flatnonzero(rows.frame > frames)
                if beyond.size:
                    raise DataError(
                        f"{rows.where(beyond[0])}: frame is {rows.frame[beyond[0]]}; expected at "
                        f"most {frames}, the length that is {sequence.frames_from}"
                    )
        self.name = sequence.name
        self.truth, self.target_ids = _coded_boxes(truth, truth_order, frames_with_rows)
        self.result, self.identity_ids = _coded_boxes(result, result_order, frames_with_rows)
        self.world = truth.world
        self.frames_with_rows = len(frames_with_rows)
        self.frames = self.frames_with_rows if frames is None else frames
        self.frames_from = "rows" if frames is None else sequence.frames_from

        # Which boxes of the ground truth are evaluated, and which are distractors.
        self.category = truth.category[truth_order]
        is_flagged = truth.flag[truth_order] != 0
        self.counted = is_flagged & _is_evaluated(self.category, options, numbered)
        self.distractor = ~self.counted
        if options.ignored == "count":  # no box of the result is removed
            self.distractor = np.zeros(len(self.counted), dtype=bool)
        elif options.ignored in DISTRACTORS:
            self.distractor &= np.isin(self.category, DISTRACTORS[options.ignored])

        self.notes: list[Message] = []
        if not self.counted.any():
            self.notes.append(Message("no-boxes", side="ground truth"))
        if not len(result):
            self.notes.append(Message("no-boxes", side="result"))
        if frames is None and len(truth):
            last = int(truth.frame.max())
            boxes_after = int(np.count_nonzero(result.frame > last))
            if boxes_after:
                self.notes.append(Message("boxes-beyond-truth", boxes=boxes_after, last=last))


def _order_of_rows(rows: BoxRows) -> np.ndarray:
    """Return the indices of the rows by frame and identity, each of which is once in a frame."""
    order = np.lexsort((rows.line, rows.identity, rows.frame))
    frame = rows.frame[order]
    identity = rows.identity[order]
    is_again = (frame[1:] == frame[:-1]) & (identity[1:] == identity[:-1])
    if is_again.any():
        raise _duplicate_id(rows, order, np.flatnonzero(is_again) + 1)
    return order


def _duplicate_id(rows: BoxRows, order: np.ndarray, again: np.ndarray) -> DataError:
    """Return the error about the first line of an id that its frame has already.

    `again` are the places in `order` of all such rows; the row before each has the same id, or is
    one of them.
    """
    first = min(again, key=lambda place: rows.line[order[place]])
    row = order[first]
    row_before = order[first - 1]
    return DataError(
        f"{rows.where(row)}: duplicate id {rows.identity[row]} in frame {rows.frame[row]}, as in "
        f"{rows.line[row_before]}; expected each id once in a frame "
        f"({counted(len(again), 'boxes')} too many)"
    )


def _coded_boxes(
    rows: BoxRows, order: np.ndarray, frames_with_rows: np.ndarray
) -> tuple[Boxes, np.ndarray]:
    """Return the boxes of the rows in this order, and the id of each of their codes."""
    ids, code = np.unique(rows.identity, return_inverse=True)
    frame = np.searchsorted(frames_with_rows, rows.frame[order])
    box = np.ascontiguousarray(rows.box[order])
    return Boxes(code.reshape(-1)[order], frame, box), ids


def _is_evaluated(category: np.ndarray, options: TrackingOptions, numbered: bool) -> np.ndarray:
    """Return whether the class of each box is evaluated, by `classes` or by the convention."""
    if options.classes is not None:
        return np.isin(category, options.classes)
    if options.ignored not in DISTRACTORS:
        return np.ones(len(category), dtype=bool)
    # A box without a class counts as a pedestrian; 0 is a class only if classes are numbered.
    lowest_class = 0 if numbered else 1
    return (category < lowest_class) | (category == PEDESTRIAN)


#: The relative tolerance of the threshold for rounding errors: coordinates are decimals.
ROUNDING = 1e-12


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
    ranges = zip(pairwise(truth_starts), pairwise(result_starts), strict=True)
    for (first_box, end_of_boxes), (first_row, end_of_rows) in ranges:
        if first_box == end_of_boxes or first_row == end_of_rows:
            continue
        # (4, boxes, 1) against (4, 1, result boxes).
        boxes = truth.box[first_box:end_of_boxes].T[:, :, np.newaxis]
        rows = result.box[first_row:end_of_rows].T[:, np.newaxis, :]
        iou = _iou(boxes, rows)
        pair = np.nonzero(iou > 0)
        overlaps.append(iou[pair])
        pairs.append(np.stack(pair) + [[first_box], [first_row]])
    box, row = np.concatenate(pairs, axis=1)
    start = np.searchsorted(box, np.arange(len(truth) + 1))
    return Overlaps(start, row, np.concatenate(overlaps))


def _iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the intersection over the union of boxes (left, top, width, height).

    The boxes are (4, ...), in shapes that broadcast; the result is without the first axis.
    """
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
    # Lists, over the overlaps and over the boxes: single elements of an array are slow to read.
    overlap_box = overlaps.truth.tolist()
    overlap_row = overlaps.row.tolist()
    overlap_iou = overlaps.iou.tolist()
    target = truth.code.tolist()
    identity = result.code.tolist()
    first_overlap = overlaps.start[truth.starts(len(serial))].tolist()
    matches: dict[int, int] = {}
    # The last identity of each target, and the serial number of its frame.
    last: dict[int, tuple[int, int]] = {}
    for frame, serial_of_frame in enumerate(serial.tolist()):
        candidates = list(range(first_overlap[frame], first_overlap[frame + 1]))
        # Step 1: earlier pairings are kept; of two targets that had one identity, the first's.
        kept: dict[int, int] = {}
        used_rows = set[int]()
        if keep:
            for k in candidates:
                box, row = overlap_box[k], overlap_row[k]
                last_identity, last_serial = last.get(target[box], (-1, -1))
                is_recent = pairing == "last-known" or last_serial >= serial_of_frame - 1
                if is_recent and last_identity == identity[row] and row not in used_rows:
                    kept[box] = row
                    used_rows.add(row)
            candidates = [
                k
                for k in candidates
                if overlap_box[k] not in kept and overlap_row[k] not in used_rows
            ]
        # Step 2: the other boxes are assigned to each other.
        assigned = _assign(
            [overlap_box[k] for k in candidates],
            [overlap_row[k] for k in candidates],
            [overlap_iou[k] for k in candidates],
            most_pairs=pairing == "last-known",
        )
        for box, row in (*kept.items(), *assigned):
            matches[box] = row
            last[target[box]] = identity[row], serial_of_frame
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


#: The states of a target, by increasing coverage.
STATES = ("mostly lost", "partially tracked", "mostly tracked")

#: The localisation thresholds alpha of HOTA: 0.05, 0.1, ... 0.95.
THRESHOLDS = np.arange(1, 20) / 20


@dataclass(frozen=True)
class TargetMatches:
    """The matches of a sequence, one target after the other, and of each in the order of frames."""

    boxes: np.ndarray  # int64 (targets,): number of boxes of each target, matched or not
    target: np.ndarray  # int64 (matches,): index of the target
    place: np.ndarray  # int64 (matches,): place among all boxes of targets in this order
    identity: np.ndarray  # int64 (matches,): identity of the result
    serial: np.ndarray  # int64 (matches,): serial number of the frame

    @classmethod
    def of(
        cls, truth: Boxes, result: Boxes, matched: np.ndarray, serial: np.ndarray
    ) -> TargetMatches:
        """Order the matches, given the result box of each ground-truth box, or -1."""
        _, target_of_box = np.unique(truth.code, return_inverse=True)
        target_of_box = target_of_box.reshape(-1)
        order = np.argsort(target_of_box, kind="stable")  # boxes are in the order of frames
        place = np.flatnonzero(matched[order] >= 0)
        matched_box = order[place]
        return cls(
            boxes=np.bincount(target_of_box),
            target=target_of_box[matched_box],
            place=place,
            identity=result.code[matched[matched_box]],
            serial=serial[truth.frame[matched_box]],
        )

    @property
    def covered(self) -> np.ndarray:
        """The number of matched boxes of each target, (targets,)."""
        return np.bincount(self.target, minlength=len(self.boxes))

    def events(self, is_event: np.ndarray) -> np.ndarray:
        """Return the number of events of each target, (targets,).

        `is_event` (matches - 1,) is a flag for each two consecutive matches; those of two targets
        are left out.
        """
        is_same_target = self.target[1:] == self.target[:-1]
        return np.bincount(self.target[1:][is_same_target & is_event], minlength=len(self.boxes))

    def states(self, mostly_tracked: MostlyTracked) -> np.ndarray:
        """Return the state of each target by its coverage, in integers, so that 80 % is exact."""
        if mostly_tracked == "at-least":
            is_tracked = 5 * self.covered >= 4 * self.boxes
        else:
            is_tracked = 5 * self.covered > 4 * self.boxes
        is_lost = 5 * self.covered < self.boxes
        lost, partially_tracked, tracked = range(len(STATES))
        state = np.full(len(self.boxes), partially_tracked)
        state[is_tracked] = tracked
        state[is_lost] = lost
        return np.array(STATES, dtype=str)[state]


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

    def measure(self, scene: Scene) -> tuple[Counts, MatchSums, dict[str, np.ndarray]]:
        """Match the boxes of a sequence; return its counts, its sums of HOTA, and its targets.

        The targets are variables, (targets,); ``target`` is the id, behind the name of the sequence
        if there is one.
        """
        frames = scene.frames_with_rows
        truth = scene.truth.select(scene.counted)
        result = self._without_boxes_on_distractors(scene)
        all_overlaps = find_overlaps(truth, result, frames)
        overlaps = all_overlaps.at_least(self.iou)
        serial = serials(truth, result, frames)
        matched = match(truth, result, overlaps, serial, self.pairing)
        matches = TargetMatches.of(truth, result, matched, serial)

        targets = {
            "frames_present": matches.boxes,
            "frames_covered": matches.covered,
            "coverage": matches.covered / matches.boxes,
            "target_switches": matches.events(matches.identity[1:] != matches.identity[:-1]),
            "target_fragmentations": matches.events(np.diff(matches.place) > 1),
            "state": matches.states(self.mostly_tracked),
        }
        # A target is resumed if there are frames with boxes between two of its matches.
        resumptions = matches.events(np.diff(matches.serial) > 1)
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
            "resumptions": int(resumptions.sum()),
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
        return counts, _hota_sums(truth, result, all_overlaps, serial), targets

    def _without_boxes_on_distractors(self, scene: Scene) -> Boxes:
        """Return the result boxes of a scene, without those that are matched to distractors."""
        if not scene.distractor.any():
            return scene.result
        # All ground-truth boxes are matched: a result box on a target stays with the target.
        overlaps = find_overlaps(scene.truth, scene.result, scene.frames_with_rows)
        serial = serials(scene.truth, scene.result, scene.frames_with_rows)
        matched = match(
            scene.truth, scene.result, overlaps.at_least(self.iou), serial, self.pairing, keep=False
        )
        is_kept = np.ones(len(scene.result), dtype=bool)
        is_kept[matched[scene.distractor & (matched >= 0)]] = False
        return scene.result.select(is_kept)


def _hota_sums(
    truth: Boxes, result: Boxes, overlaps: Overlaps, serial: np.ndarray
) -> dict[str, np.ndarray]:
    """Match the boxes for HOTA, and return sums over the matches at each threshold.

    `overlaps` are all overlaps above 0. Each frame is matched once for all thresholds, with the
    largest sum of overlaps, each multiplied by the alignment of target and identity over the
    sequence. The sums add up over sequences: ``tp`` counts matches, ``loca`` sums overlaps,
    ``assa`` sums TPA / (TPA + FNA + FPA), ``assre`` TPA / (TPA + FNA), ``asspr`` TPA / (TPA + FPA).
    """
    pair, target_boxes, identity_boxes = _track_pairs(truth, result, overlaps)

    # (pairs,): the alignment, a soft Jaccard index of the two tracks. An overlap counts by its
    # proportion of all overlaps of the two boxes.
    truth_overlap = np.bincount(overlaps.truth, overlaps.iou)[overlaps.truth]
    result_overlap = np.bincount(overlaps.row, overlaps.iou)[overlaps.row]
    proportion = overlaps.iou / (truth_overlap + result_overlap - overlaps.iou)
    in_common = np.bincount(pair, proportion, len(target_boxes))
    alignment = in_common / (target_boxes + identity_boxes - in_common)

    aligned = replace(overlaps, iou=alignment[pair] * overlaps.iou)
    matched = match(truth, result, aligned, serial, "previous-frame", keep=False)
    is_match = matched[overlaps.truth] == overlaps.row
    iou = overlaps.iou[is_match]
    # (matches,): how many thresholds the overlap of each match passes.
    passed = np.searchsorted(THRESHOLDS * (1 - ROUNDING), iou, side="right")
    levels = len(THRESHOLDS) + 1

    # (matched pairs, thresholds): the true positive associations, TPA, of a pair with a match.
    matched_pairs, row_of_match = np.unique(pair[is_match], return_inverse=True)
    matches_by_passed = np.zeros((len(matched_pairs), levels), dtype=np.int64)
    np.add.at(matches_by_passed, (row_of_match, passed), 1)
    tpa = _at_thresholds(matches_by_passed)
    tpa_and_fna = target_boxes[matched_pairs, np.newaxis]
    tpa_and_fpa = identity_boxes[matched_pairs, np.newaxis]
    # Each of the TPA matches of a pair adds the quotient of the pair.
    return {
        "tp": tpa.sum(axis=0),
        "assa": (tpa * (tpa / (tpa_and_fna + tpa_and_fpa - tpa))).sum(axis=0),
        "assre": (tpa * (tpa / tpa_and_fna)).sum(axis=0),
        "asspr": (tpa * (tpa / tpa_and_fpa)).sum(axis=0),
        "loca": _at_thresholds(np.bincount(passed, iou, levels)),
    }


def _track_pairs(
    truth: Boxes, result: Boxes, overlaps: Overlaps
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of a target and an identity whose boxes overlap in any frame.

    The pair of each overlap, int64 (overlaps,); the number of boxes of its target, in all frames,
    and of its identity, int64 (pairs,).
    """
    target = truth.code[overlaps.truth]
    identity = result.code[overlaps.row]
    # One number for each pair, its place in a table of all targets and identities: single numbers
    # are sorted faster than pairs of them.
    shape = int(truth.code.max(initial=0)) + 1, int(result.code.max(initial=0)) + 1
    place = np.ravel_multi_index((target, identity), shape)
    distinct_places, pair = np.unique(place, return_inverse=True)
    pair_target, pair_identity = np.unravel_index(distinct_places, shape)
    target_boxes = np.bincount(truth.code)[pair_target]
    identity_boxes = np.bincount(result.code)[pair_identity]
    return pair, target_boxes, identity_boxes


def _at_thresholds(by_passed: np.ndarray) -> np.ndarray:
    """Return the sums over matches that pass each threshold, (..., thresholds).

    `by_passed` (..., thresholds + 1) has sums over matches that pass exactly 0, 1, 2, ...
    thresholds. A threshold is passed by a match that passes as many, or more.
    """
    passes_any = by_passed[..., 1:]
    return passes_any[..., ::-1].cumsum(axis=-1)[..., ::-1]


#: The counts of a sequence, or their sums over sequences, by name; ``overlap`` is the sum of IoU
#: over the matches. Each count is a number, or an array.
Counts = Mapping[str, Any]

#: Sums over the matches of HOTA, by name, each (..., localisation thresholds).
MatchSums = Mapping[str, np.ndarray]


def _measure(name: str, label: str, meaning: str, **details: Any) -> Variable:
    """Return a proportion of which more is better, unless the details say otherwise."""
    details = {"units": "proportion", "direction": "larger", **details}
    return Variable(meaning, name=name, label=label, **details)


def _by_name(*measures: Variable) -> dict[str, Variable]:
    return {measure.name: measure for measure in measures}


_ASSA = "association accuracy: mean over the TP of TPA / (TPA + FNA + FPA)"
_ASSRE = "association recall: mean over the TP of TPA / (TPA + FNA)"
_ASSPR = "association precision: mean over the TP of TPA / (TPA + FPA)"

#: HOTA and its parts, at one localisation threshold.
HOTA = _by_name(
    _measure("hota", "HOTA", "higher order tracking accuracy: sqrt(DetA * AssA)"),
    _measure("deta", "DetA", "detection accuracy: TP / (TP + FN + FP)"),
    _measure("assa", "AssA", _ASSA),
    _measure("detre", "DetRe", "detection recall: TP / (TP + FN)", detail="verbose"),
    _measure("detpr", "DetPr", "detection precision: TP / (TP + FP)", detail="verbose"),
    _measure("assre", "AssRe", _ASSRE, detail="verbose"),
    _measure("asspr", "AssPr", _ASSPR, detail="verbose"),
    _measure("loca", "LocA", "localisation accuracy: mean overlap (IoU) of the TP"),
)

_MOTA = "multiple object tracking accuracy: 1 - (FN + FP + IDSW) / boxes of targets"
_MOTP = "multiple object tracking precision: mean overlap (IoU) of the matches"
_DISTANCE = "mean of 1 - IoU over the matches: MOTP as a distance"
_RECALL = "proportion of the boxes of targets that are matched"
_PRECISION = "proportion of the boxes of the result that are matched"
_FAR = "false alarm rate of CityFlow: FN + FP + IDSW in a frame"
_FP = "false positives in a frame (FAF of MOTChallenge)"
_IDF1 = "identification F1: 2 IDTP / (2 IDTP + IDFP + IDFN)"

_per_frame = partial(
    _measure,
    units="per frame",
    decimals=3,
    bounds=(0.0, np.inf),
    direction="smaller",
    detail="verbose",
)


def _mean_over_thresholds(measure: Variable) -> Variable:
    long_name = f"{measure.long_name}; mean over localisation thresholds"
    return replace(measure, long_name=long_name)


#: Every measure by its name, in the order of the variables.
MEASURES: dict[str, Variable] = _by_name(
    _measure("mota", "MOTA", _MOTA, bounds=(-np.inf, 1.0)),
    _measure("motp", "MOTP", _MOTP),
    _measure("motp_distance", "MOTP as a distance", _DISTANCE, direction="smaller", detail="data"),
    _measure("recall", "recall", _RECALL, out_of="truth_boxes"),
    _measure("precision", "precision", _PRECISION, out_of="result_boxes"),
    _per_frame("far", "errors/frame", _FAR),
    _per_frame("fp_per_frame", "FP/frame", _FP),
    _measure("idp", "IDP", "identification precision: IDTP / (IDTP + IDFP)", out_of="result_boxes"),
    _measure("idr", "IDR", "identification recall: IDTP / (IDTP + IDFN)", out_of="truth_boxes"),
    _measure("idf1", "IDF1", _IDF1, out_of="truth_boxes result_boxes"),
    *map(_mean_over_thresholds, HOTA.values()),
)


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

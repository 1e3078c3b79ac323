"""A naive implementation of ``bioeval.tracking``, written from the definitions alone.

Plain loops over rows ``(frame, id, left, top, width, height, flag, class)``; every matching
of a frame is tried, but for HOTA, where scipy assigns. Nothing here imports ``bioeval``. For a few
boxes in a few frames.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

DISTRACTORS = {"motchallenge": {2, 7, 8, 12}, "mot20": {2, 6, 7, 8, 12}}


class TieError(Exception):
    """Two matchings of a frame are equally good: the definition does not say which it is."""


def overlap(a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    """Intersection over union, exactly."""
    al, a_top, aw, ah, bl, bt, bw, bh = (Fraction(x) for x in (*a[2:6], *b[2:6]))
    wide = min(al + aw, bl + bw) - max(al, bl)
    high = min(a_top + ah, bt + bh) - max(a_top, bt)
    if wide <= 0 or high <= 0:
        return Fraction(0)
    return wide * high / (aw * ah + bw * bh - wide * high)


def matchings(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Every set of disjoint pairs."""
    if not pairs:
        yield ()
        return
    (i, j), further = pairs[0], pairs[1:]
    yield from matchings(further)
    for matching in matchings([(a, b) for a, b in further if a != i and b != j]):
        yield ((i, j), *matching)


def best(
    possible: dict[tuple[int, int], Fraction], most_first: bool
) -> tuple[tuple[int, int], ...]:
    """The matching with the largest sum of overlaps, with most pairs first if `most_first`."""

    def worth(pairs: tuple[tuple[int, int], ...]) -> tuple[Any, ...]:
        total = sum((possible[pair] for pair in pairs), Fraction(0))
        return (len(pairs), total) if most_first else (total,)

    ordered = sorted(matchings(list(possible)), key=worth, reverse=True)
    if len(ordered) > 1 and worth(ordered[0]) == worth(ordered[1]):
        raise TieError
    return ordered[0]


def possible_pairs(
    truth: Sequence[Any], result: Sequence[Any], least: Fraction
) -> dict[tuple[int, int], Fraction]:
    """The pairs of boxes that overlap enough."""
    overlaps = {}
    for i, target in enumerate(truth):
        for j, box in enumerate(result):
            value = overlap(target, box)
            if value >= least and value > 0:
                overlaps[i, j] = value
    return overlaps


def tracking(
    truth: Sequence[Any],
    result: Sequence[Any],
    iou: float = 0.5,
    frames: int | None = None,
    pairing: str = "last-known",
    mostly_tracked: str = "at-least",
    ignored: str = "motchallenge",
) -> dict[str, Any]:
    """Counts and rates (as fractions, None where there is nothing to divide by)."""
    least = Fraction(iou)
    most_first = pairing == "last-known"
    units = sorted({row[0] for row in [*truth, *result]})

    def counts(row: Sequence[Any]) -> bool:
        if ignored in DISTRACTORS and row[7] >= 1 and row[7] != 1:
            return False
        return row[6] != 0

    def removes(row: Sequence[Any]) -> bool:
        if ignored == "count" or counts(row):
            return False
        return ignored == "remove" or row[7] in DISTRACTORS[ignored]

    tp = fn = fp = idsw = removed = left_out = 0
    total = Fraction(0)
    last: dict[Any, Any] = {}  # target: its last identity
    before: dict[Any, Any] = {}  # the same, of the frame before with boxes of both
    matched_frames: dict[Any, list[bool]] = {}  # target: matched or not, in each of its frames
    when: dict[Any, list[int]] = {}  # target: number of the frames with both in which it is matched
    switches: dict[Any, int] = {}
    in_common: dict[Any, int] = {}
    identities: dict[Any, int] = {}
    number = 0
    evaluated: list[tuple[list[Any], list[Any]]] = []
    for unit in units:
        targets_here = sorted((row for row in truth if row[0] == unit), key=lambda row: row[1])
        boxes_here = sorted((row for row in result if row[0] == unit), key=lambda row: row[1])
        if any(removes(row) for row in targets_here):
            pairs = best(possible_pairs(targets_here, boxes_here, least), most_first)
            removed_boxes = {j for i, j in pairs if removes(targets_here[i])}
            removed += len(removed_boxes)
            boxes_here = [row for j, row in enumerate(boxes_here) if j not in removed_boxes]
        left_out += sum(not counts(row) for row in targets_here)
        targets_here = [row for row in targets_here if counts(row)]
        evaluated.append((targets_here, boxes_here))
        for row in boxes_here:
            identities[row[1]] = identities.get(row[1], 0) + 1
        possible = possible_pairs(targets_here, boxes_here, least)
        for i, j in possible:
            key = targets_here[i][1], boxes_here[j][1]
            in_common[key] = in_common.get(key, 0) + 1

        matching = []
        memory = last if pairing == "last-known" else before
        for i, row in enumerate(targets_here):
            for j, box in enumerate(boxes_here):
                free = all(b != j for _, b in matching)
                if memory.get(row[1]) == box[1] and (i, j) in possible and free:
                    matching.append((i, j))
        left = {
            (i, j): value
            for (i, j), value in possible.items()
            if all(a != i and b != j for a, b in matching)
        }
        matched = dict([*matching, *best(left, most_first)])

        if targets_here and boxes_here:
            number += 1
            before = {}
        for i, row in enumerate(targets_here):
            target = row[1]
            matched_frames.setdefault(target, []).append(i in matched)
            switches.setdefault(target, 0)
            if i in matched:
                identity = boxes_here[matched[i]][1]
                if target in last and last[target] != identity:
                    switches[target] += 1
                last[target] = before[target] = identity
                when.setdefault(target, []).append(number)
                total += possible[i, matched[i]]
        tp += len(matched)
        fn += len(targets_here) - len(matched)
        fp += len(boxes_here) - len(matched)
    idsw = sum(switches.values())

    fragments = {}
    states = {"mt": 0, "pt": 0, "ml": 0}
    for target, hits in matched_frames.items():
        runs = sum(hit and (k == 0 or not hits[k - 1]) for k, hit in enumerate(hits))
        fragments[target] = max(0, runs - 1)
        share = Fraction(sum(hits), len(hits))
        is_mostly_tracked = (
            share >= Fraction(4, 5) if mostly_tracked == "at-least" else share > Fraction(4, 5)
        )
        states["mt" if is_mostly_tracked else "ml" if share < Fraction(1, 5) else "pt"] += 1
    resumptions = sum(
        b > a + 1 for times in when.values() for a, b in zip(times, times[1:], strict=False)
    )
    idtp = max(sum(in_common[pair] for pair in pairs) for pairs in matchings(list(in_common)))
    boxes, found_boxes = tp + fn, tp + fp
    length = len(units) if frames is None else frames

    def ratio(a: Any, b: Any) -> Fraction | None:
        return Fraction(a) / b if b else None

    return {
        **{"tp": tp, "fn": fn, "fp": fp, "idsw": idsw, **states},
        "fragmentations": sum(fragments.values()),
        "resumptions": resumptions,
        **{"idtp": idtp, "idfn": boxes - idtp, "idfp": found_boxes - idtp},
        **{"truth_boxes": boxes, "result_boxes": found_boxes, "targets": len(matched_frames)},
        **{"identities": len(identities), "frames": length, "frames_with_rows": len(units)},
        **{"ignored_truth_boxes": left_out, "removed_result_boxes": removed},
        "mota": ratio(boxes - fn - fp - idsw, boxes),
        "motp": ratio(total, tp),
        "motp_distance": ratio(tp - total, tp),
        "recall": ratio(tp, boxes),
        "precision": ratio(tp, found_boxes),
        "far": ratio(fn + fp + idsw, length),
        "fp_per_frame": ratio(fp, length),
        "idp": ratio(idtp, found_boxes),
        "idr": ratio(idtp, boxes),
        "idf1": ratio(2 * idtp, boxes + found_boxes),
        **hota(evaluated),
    }


def hota(frames: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> dict[str, Any]:
    """HOTA (Luiten and other authors, 2021) of the boxes that are evaluated, frame by frame.

    First how well each target and identity are aligned over the sequence, then one assignment for
    each frame, then for each threshold the association of every true positive.
    """
    target_boxes: dict[Any, int] = {}
    identity_boxes: dict[Any, int] = {}
    in_common: dict[Any, float] = {}
    overlaps = [
        [[overlap(target, box) for box in result_boxes] for target in truth_boxes]
        for truth_boxes, result_boxes in frames
    ]
    for (truth_boxes, result_boxes), table in zip(frames, overlaps, strict=True):
        for row in truth_boxes:
            target_boxes[row[1]] = target_boxes.get(row[1], 0) + 1
        for row in result_boxes:
            identity_boxes[row[1]] = identity_boxes.get(row[1], 0) + 1
        for i, target in enumerate(truth_boxes):
            for place, box in enumerate(result_boxes):
                if table[i][place] > 0:
                    union = sum(table[i]) + sum(row[place] for row in table) - table[i][place]
                    key = target[1], box[1]
                    in_common[key] = in_common.get(key, 0) + float(table[i][place] / union)

    matches = []  # target, identity and overlap of each
    for (truth_boxes, result_boxes), table in zip(frames, overlaps, strict=True):
        score = np.zeros((len(truth_boxes), len(result_boxes)))
        for i, target in enumerate(truth_boxes):
            for place, box in enumerate(result_boxes):
                common_frames = in_common.get((target[1], box[1]), 0)
                alignment = common_frames / (
                    target_boxes[target[1]] + identity_boxes[box[1]] - common_frames
                )
                score[i, place] = alignment * table[i][place]
        for i, place in zip(*linear_sum_assignment(score, maximize=True), strict=True):
            matches.append((truth_boxes[i][1], result_boxes[place][1], table[i][place]))

    boxes, found_boxes = sum(target_boxes.values()), sum(identity_boxes.values())
    measures = "hota deta assa detre detpr assre asspr loca"
    curves: dict[str, list[Any]] = {f"{name}_at_alpha": [] for name in measures.split()}
    curves["tp_at_alpha"] = []
    any_match = any(value >= Fraction(1, 20) for *_, value in matches)
    for alpha in (Fraction(k, 20) for k in range(1, 20)):
        hits = [(target, identity) for target, identity, value in matches if value >= alpha]
        tp = len(hits)
        jaccard = recall = precision = 0.0
        for target, identity in hits:
            tpa = hits.count((target, identity))
            fna, fpa = target_boxes[target] - tpa, identity_boxes[identity] - tpa
            jaccard += tpa / (tpa + fna + fpa)
            recall += tpa / (tpa + fna)
            precision += tpa / (tpa + fpa)
        fn, fp = boxes - tp, found_boxes - tp
        none = 0.0 if any_match else None
        loca = 1.0 if any_match else None
        point = {
            "hota": sqrt(jaccard / (tp + fn + fp)) if boxes or found_boxes else None,
            "deta": tp / (tp + fn + fp) if boxes or found_boxes else None,
            "assa": jaccard / tp if tp else none,
            "detre": tp / (tp + fn) if boxes else None,
            "detpr": tp / (tp + fp) if found_boxes else None,
            "assre": recall / tp if tp else none,
            "asspr": precision / tp if tp else none,
            "loca": float(sum(v for *_, v in matches if v >= alpha) / tp) if tp else loca,
            "tp": tp,
        }
        for name, value in point.items():
            curves[f"{name}_at_alpha"].append(value)
    means = {
        name: None if None in (values := curves[f"{name}_at_alpha"]) else sum(values) / 19
        for name in measures.split()
    }
    return {**means, **curves}

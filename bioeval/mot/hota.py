"""HOTA: boxes matched by the alignment of whole tracks, at 19 localisation thresholds.

What a sequence contributes adds up over sequences: its true positives, and of these the overlap and
the association accuracy, recall and precision.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bioeval.mot.matching import ROUNDING, Overlaps, match
from bioeval.mot.sequence import Boxes

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
    found, of_found = np.unique(pair[hit], return_inverse=True)
    tpa = _at_thresholds(np.bincount(of_found * levels + passed, minlength=len(found) * levels))
    target_boxes, identity_boxes = of_target[found, np.newaxis], of_identity[found, np.newaxis]
    return {
        "tp": tpa.sum(axis=0),
        "assa": (tpa * (tpa / (target_boxes + identity_boxes - tpa))).sum(axis=0),
        "assre": (tpa * (tpa / target_boxes)).sum(axis=0),
        "asspr": (tpa * (tpa / identity_boxes)).sum(axis=0),
        "loca": _at_thresholds(np.bincount(passed, iou[hit], levels))[0],
    }


def _at_thresholds(by_level: np.ndarray) -> np.ndarray:
    """Add up what passes each threshold, given by the number of thresholds that are passed."""
    table = by_level.reshape(-1, len(THRESHOLDS) + 1)[:, 1:]
    return table[:, ::-1].cumsum(axis=1)[:, ::-1]


def hota_rates(
    sums: dict[str, np.ndarray], truth_boxes: float, result_boxes: float
) -> dict[str, Any]:
    """Return HOTA and its parts, by threshold and as means over the thresholds.

    Where a threshold has no match, AssA, AssRe and AssPr are 0 and LocA is 1, as in TrackEval, for
    else few means were defined; without a match at any threshold they are NaN.
    """
    tp = sums["tp"]

    def over(total: np.ndarray, count: Any) -> np.ndarray:
        return np.divide(total, count, out=np.full(tp.shape, np.nan), where=np.greater(count, 0))

    detections = truth_boxes + result_boxes - tp
    curves = {
        # sqrt(DetA * AssA), in which the number of matches cancels.
        "hota": np.sqrt(over(sums["assa"], detections)),
        "deta": over(tp, detections),
        "assa": over(sums["assa"], tp),
        "detre": over(tp, truth_boxes),
        "detpr": over(tp, result_boxes),
        "assre": over(sums["assre"], tp),
        "asspr": over(sums["asspr"], tp),
        "loca": over(sums["loca"], tp),
    }
    if tp.any():
        for name, value in (("assa", 0), ("assre", 0), ("asspr", 0), ("loca", 1)):
            curves[name][tp == 0] = value
    means = {name: float(values.mean()) for name, values in curves.items()}
    by_threshold = {f"{name}_by_threshold": values for name, values in curves.items()}
    return {**means, **by_threshold, "tp_by_threshold": tp}

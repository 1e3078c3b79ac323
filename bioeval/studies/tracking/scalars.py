"""The measures of tracking, one entry each: meaning, label, direction, and value from counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.results.variables import Variable

#: Counts of a sequence, or of several added up, by name; ``overlap`` is the sum of IoU over the
#: matches. Each is a number, or an array with those of several results.
Counts = Mapping[str, Any]

#: Sums over the matches of HOTA, by name, each of shape (..., localisation thresholds).
MatchSums = Mapping[str, np.ndarray]


_MEAN = "; mean over localisation thresholds"


@dataclass(frozen=True, kw_only=True)
class TrackingMeasure(Variable):
    """A measure of tracking, of sums over sequences; of HOTA, a mean over its thresholds.

    `without_match` is the value at a threshold without a match, as in TrackEval, for else few means
    were defined; without a match at any threshold it is NaN.
    """

    larger_is_better: bool = True
    of: Callable[[Counts, MatchSums], np.ndarray]
    of_hota: bool = False
    without_match: float | None = None

    def value(self, counts: Counts, sums: MatchSums) -> np.ndarray:
        """Return the measure of counts, of their shape; NaN where its denominator is 0."""
        if not self.of_hota:
            return self.of(counts, sums)
        return np.asarray(self.curve(counts, sums).mean(axis=-1))

    def curve(self, counts: Counts, sums: MatchSums) -> np.ndarray:
        """Return the value at each threshold of HOTA, the last axis."""
        values = self.of(counts, sums)
        if self.without_match is not None:
            unmatched = (sums["tp"] == 0) & sums["tp"].any(axis=-1, keepdims=True)
            values[unmatched] = self.without_match
        return values

    @property
    def by_threshold(self) -> Variable:
        """The variable of the values at each threshold."""
        return Variable(self.long_name.removesuffix(_MEAN))


def _over(total: Any, count: Any) -> np.ndarray:
    """Return quotients, NaN where nothing is below."""
    above, below = np.broadcast_arrays(total, count)
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0)


def _boxes(counts: Counts, name: str) -> np.ndarray:
    """Return a count, the same at each threshold."""
    return np.asarray(counts[name])[..., None]


def _detections(counts: Counts, sums: MatchSums) -> np.ndarray:
    """Return TP + FN + FP at each threshold."""
    return _boxes(counts, "truth_boxes") + _boxes(counts, "result_boxes") - sums["tp"]


def _errors(counts: Counts) -> Any:
    return counts["fn"] + counts["fp"] + counts["idsw"]


def _quotient(
    name: str, label: str, meaning: str, of: Callable[[Counts], tuple[Any, Any]], **more: Any
) -> TrackingMeasure:
    """Return a quotient of counts."""
    return TrackingMeasure(meaning, name=name, label=label, of=lambda c, _: _over(*of(c)), **more)


def _per_frame(
    name: str, label: str, meaning: str, unit: str, of: Callable[[Counts], Any]
) -> TrackingMeasure:
    return TrackingMeasure(
        meaning,
        unit,
        name=name,
        label=label,
        decimals=3,
        bounds=(0.0, np.inf),
        larger_is_better=False,
        of=lambda c, _: _over(of(c), c["frames"]),
    )


def _hota(
    name: str,
    label: str,
    meaning: str,
    of: Callable[[Counts, MatchSums], np.ndarray],
    without_match: float | None = None,
) -> TrackingMeasure:
    """Return HOTA, or a part of it."""
    return TrackingMeasure(
        meaning + _MEAN,
        name=name,
        label=label,
        of=of,
        of_hota=True,
        without_match=without_match,
    )


_MEASURES = (
    _quotient(
        "mota",
        "MOTA",
        "multiple object tracking accuracy: 1 - (FN + FP + IDSW) / boxes of targets",
        lambda c: (c["truth_boxes"] - _errors(c), c["truth_boxes"]),
        bounds=(-np.inf, 1.0),
    ),
    _quotient(
        "motp",
        "MOTP",
        "multiple object tracking precision: mean overlap (IoU) of the matches",
        lambda c: (c["overlap"], c["tp"]),
    ),
    _quotient(
        "motp_distance",
        "MOTP as a distance",
        "mean of 1 - IoU over the matches: MOTP as a distance",
        lambda c: (c["tp"] - c["overlap"], c["tp"]),
        larger_is_better=False,
    ),
    _quotient(
        "recall",
        "recall",
        "proportion of the boxes of targets that are matched",
        lambda c: (c["tp"], c["truth_boxes"]),
    ),
    _quotient(
        "precision",
        "precision",
        "proportion of the boxes of the result that are matched",
        lambda c: (c["tp"], c["result_boxes"]),
    ),
    _per_frame(
        "far",
        "errors/frame",
        "false alarm rate of CityFlow: FN + FP + IDSW in a frame",
        "errors/frame",
        _errors,
    ),
    _per_frame(
        "fp_per_frame",
        "FP/frame",
        "false positives in a frame (FAF of MOTChallenge)",
        "boxes/frame",
        lambda c: c["fp"],
    ),
    _quotient(
        "idp",
        "IDP",
        "identification precision: IDTP / (IDTP + IDFP)",
        lambda c: (c["idtp"], c["idtp"] + c["idfp"]),
    ),
    _quotient(
        "idr",
        "IDR",
        "identification recall: IDTP / (IDTP + IDFN)",
        lambda c: (c["idtp"], c["idtp"] + c["idfn"]),
    ),
    _quotient(
        "idf1",
        "IDF1",
        "identification F1: 2 IDTP / (2 IDTP + IDFP + IDFN)",
        lambda c: (2 * c["idtp"], 2 * c["idtp"] + c["idfp"] + c["idfn"]),
    ),
    _hota(
        "hota",
        "HOTA",
        "higher order tracking accuracy: sqrt(DetA * AssA)",
        # The number of matches cancels.
        lambda c, s: np.sqrt(_over(s["assa"], _detections(c, s))),
    ),
    _hota(
        "deta",
        "DetA",
        "detection accuracy: TP / (TP + FN + FP)",
        lambda c, s: _over(s["tp"], _detections(c, s)),
    ),
    _hota(
        "assa",
        "AssA",
        "association accuracy: mean over the TP of TPA / (TPA + FNA + FPA)",
        lambda c, s: _over(s["assa"], s["tp"]),
        without_match=0,
    ),
    _hota(
        "detre",
        "DetRe",
        "detection recall: TP / (TP + FN)",
        lambda c, s: _over(s["tp"], _boxes(c, "truth_boxes")),
    ),
    _hota(
        "detpr",
        "DetPr",
        "detection precision: TP / (TP + FP)",
        lambda c, s: _over(s["tp"], _boxes(c, "result_boxes")),
    ),
    _hota(
        "assre",
        "AssRe",
        "association recall: mean over the TP of TPA / (TPA + FNA)",
        lambda c, s: _over(s["assre"], s["tp"]),
        without_match=0,
    ),
    _hota(
        "asspr",
        "AssPr",
        "association precision: mean over the TP of TPA / (TPA + FPA)",
        lambda c, s: _over(s["asspr"], s["tp"]),
        without_match=0,
    ),
    _hota(
        "loca",
        "LocA",
        "localisation accuracy: mean overlap (IoU) of the TP",
        lambda c, s: _over(s["loca"], s["tp"]),
        without_match=1,
    ),
)

#: Every measure by its name, in the order of the variables.
MEASURES: dict[str, TrackingMeasure] = {x.name: x for x in _MEASURES}

#: Those of HOTA.
OF_HOTA = tuple(x for x in _MEASURES if x.of_hota)

#: The measures by which trackers are compared by default.
COMPARED = ("hota", "mota", "idf1")

"""The measures of tracking, one entry each: meaning, label, direction, and value from counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.scalars import Name, Scalar

#: Counts of a sequence, or of several added up, by name; ``overlap`` is the sum of IoU over the
#: matches. Each is a number, or an array with those of several results.
Counts = Mapping[str, Any]

#: Sums over the matches of HOTA, by name, each of shape (..., localisation thresholds).
MatchSums = Mapping[str, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class TrackingMeasure(Scalar):
    """A measure of tracking, of sums over sequences."""

    larger_is_better: bool = True

    def value(self, counts: Counts, sums: MatchSums) -> np.ndarray:
        """Return the measure of counts, of their shape; NaN where its denominator is 0."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class CountQuotient(TrackingMeasure):
    """A quotient of counts."""

    of_counts: Callable[[Counts], tuple[Any, Any]]  # numerator and denominator

    def value(self, counts: Counts, sums: MatchSums) -> np.ndarray:
        """Return the quotient; the sums of HOTA do not matter."""
        return _over(*self.of_counts(counts))


@dataclass(frozen=True, kw_only=True)
class MeanOverThresholds(TrackingMeasure):
    """A mean over the localisation thresholds of HOTA; `meaning` is that at one threshold.

    `without_match` is its value at a threshold without a match, as in TrackEval, for else few means
    were defined; without a match at any threshold it is NaN.
    """

    meaning: str
    at_thresholds: Callable[[Counts, MatchSums], np.ndarray]
    without_match: float | None

    def value(self, counts: Counts, sums: MatchSums) -> np.ndarray:
        """Return the mean."""
        return np.asarray(self.curve(counts, sums).mean(axis=-1))

    def curve(self, counts: Counts, sums: MatchSums) -> np.ndarray:
        """Return the value at each threshold, the last axis."""
        values = self.at_thresholds(counts, sums)
        if self.without_match is not None:
            unmatched = (sums["tp"] == 0) & sums["tp"].any(axis=-1, keepdims=True)
            values[unmatched] = self.without_match
        return values

    @property
    def by_threshold(self) -> Name:
        """The variable of the values at each threshold."""
        return Name(self.meaning)


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


def errors(counts: Counts) -> Any:
    """Return FN + FP + IDSW."""
    return counts["fn"] + counts["fp"] + counts["idsw"]


_COUNTED = (
    CountQuotient(
        "multiple object tracking accuracy: 1 - (FN + FP + IDSW) / boxes of targets",
        name="mota",
        label="MOTA",
        bounds=(-np.inf, 1.0),
        of_counts=lambda c: (c["truth_boxes"] - errors(c), c["truth_boxes"]),
    ),
    CountQuotient(
        "multiple object tracking precision: mean overlap (IoU) of the matches",
        name="motp",
        label="MOTP",
        of_counts=lambda c: (c["overlap"], c["tp"]),
    ),
    CountQuotient(
        "mean of 1 - IoU over the matches: MOTP as a distance",
        name="motp_distance",
        label="MOTP as a distance",
        larger_is_better=False,
        of_counts=lambda c: (c["tp"] - c["overlap"], c["tp"]),
    ),
    CountQuotient(
        "proportion of the boxes of targets that are matched",
        name="recall",
        label="recall",
        of_counts=lambda c: (c["tp"], c["truth_boxes"]),
    ),
    CountQuotient(
        "proportion of the boxes of the result that are matched",
        name="precision",
        label="precision",
        of_counts=lambda c: (c["tp"], c["result_boxes"]),
    ),
    CountQuotient(
        "false alarm rate of CityFlow: FN + FP + IDSW in a frame",
        "errors/frame",
        name="far",
        label="errors/frame",
        kind="number",
        decimals=3,
        bounds=(0.0, np.inf),
        larger_is_better=False,
        of_counts=lambda c: (errors(c), c["frames"]),
    ),
    CountQuotient(
        "false positives in a frame (FAF of MOTChallenge)",
        "boxes/frame",
        name="fp_per_frame",
        label="FP/frame",
        kind="number",
        decimals=3,
        bounds=(0.0, np.inf),
        larger_is_better=False,
        of_counts=lambda c: (c["fp"], c["frames"]),
    ),
    CountQuotient(
        "identification precision: IDTP / (IDTP + IDFP)",
        name="idp",
        label="IDP",
        of_counts=lambda c: (c["idtp"], c["idtp"] + c["idfp"]),
    ),
    CountQuotient(
        "identification recall: IDTP / (IDTP + IDFN)",
        name="idr",
        label="IDR",
        of_counts=lambda c: (c["idtp"], c["idtp"] + c["idfn"]),
    ),
    CountQuotient(
        "identification F1: 2 IDTP / (2 IDTP + IDFP + IDFN)",
        name="idf1",
        label="IDF1",
        of_counts=lambda c: (2 * c["idtp"], 2 * c["idtp"] + c["idfp"] + c["idfn"]),
    ),
)


def _of_hota(
    name: str,
    label: str,
    meaning: str,
    at_thresholds: Callable[[Counts, MatchSums], np.ndarray],
    without_match: float | None = None,
) -> MeanOverThresholds:
    """Return a part of HOTA."""
    return MeanOverThresholds(
        f"{meaning}; mean over localisation thresholds",
        name=name,
        label=label,
        meaning=meaning,
        at_thresholds=at_thresholds,
        without_match=without_match,
    )


OF_HOTA = (
    _of_hota(
        "hota",
        "HOTA",
        "higher order tracking accuracy: sqrt(DetA * AssA)",
        # The number of matches cancels.
        lambda c, s: np.sqrt(_over(s["assa"], _detections(c, s))),
    ),
    _of_hota(
        "deta",
        "DetA",
        "detection accuracy: TP / (TP + FN + FP)",
        lambda c, s: _over(s["tp"], _detections(c, s)),
    ),
    _of_hota(
        "assa",
        "AssA",
        "association accuracy: mean over the TP of TPA / (TPA + FNA + FPA)",
        lambda c, s: _over(s["assa"], s["tp"]),
        without_match=0,
    ),
    _of_hota(
        "detre",
        "DetRe",
        "detection recall: TP / (TP + FN)",
        lambda c, s: _over(s["tp"], _boxes(c, "truth_boxes")),
    ),
    _of_hota(
        "detpr",
        "DetPr",
        "detection precision: TP / (TP + FP)",
        lambda c, s: _over(s["tp"], _boxes(c, "result_boxes")),
    ),
    _of_hota(
        "assre",
        "AssRe",
        "association recall: mean over the TP of TPA / (TPA + FNA)",
        lambda c, s: _over(s["assre"], s["tp"]),
        without_match=0,
    ),
    _of_hota(
        "asspr",
        "AssPr",
        "association precision: mean over the TP of TPA / (TPA + FPA)",
        lambda c, s: _over(s["asspr"], s["tp"]),
        without_match=0,
    ),
    _of_hota(
        "loca",
        "LocA",
        "localisation accuracy: mean overlap (IoU) of the TP",
        lambda c, s: _over(s["loca"], s["tp"]),
        without_match=1,
    ),
)

#: Every measure by its name, in the order of the variables.
MEASURES: dict[str, TrackingMeasure] = {x.name: x for x in (*_COUNTED, *OF_HOTA)}

#: The measures by which trackers are compared by default.
COMPARED = ("hota", "mota", "idf1")

"""The measures of tracking: meaning, label, direction, and value from counts; their intervals.

A measure is a ratio of sums over sequences, or a mean of such ratios. Its limits are those of
Student, from its values without each video in turn (the jackknife). Sequences are taken as drawn
from many of their kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.messages import Message
from bioeval.results.variables import Variable
from bioeval.stats.limits import student
from bioeval.stats.options import IntervalMethod
from bioeval.stats.people import ratio

#: Counts of a sequence, or of several added up, by name; ``overlap`` is the sum of IoU over the
#: matches. Each is a number, or an array with those of several results.
Counts = Mapping[str, Any]

#: Sums over the matches of HOTA, by name, each of shape (..., localisation thresholds).
MatchSums = Mapping[str, np.ndarray]


def _measures(meanings: Mapping[str, tuple[str, str]], **more: Any) -> dict[str, Variable]:
    """Return variables from their labels and meanings."""
    more = {"units": "proportion", "direction": "larger", **more}
    return {
        name: Variable(words, name=name, label=label, **more)
        for name, (label, words) in meanings.items()
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
    """Return HOTA and its parts at each localisation threshold, the last axis.

    At a threshold without a match the parts of association are 0 and the localisation is 1, as in
    TrackEval, for else few means were defined; without a match at any threshold they are NaN.
    """
    tp = sums["tp"]
    targets = np.asarray(counts["truth_boxes"])[..., None]
    identities = np.asarray(counts["result_boxes"])[..., None]
    detections = targets + identities - tp
    curves = {
        "hota": np.sqrt(ratio(sums["assa"], detections)),  # the number of matches cancels
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
    """Return every measure, of the shape of the counts; NaN where its denominator is 0."""
    c = counts
    errors, with_identity = c["fn"] + c["fp"] + c["idsw"], 2 * c["idtp"]
    return {
        "mota": ratio(c["truth_boxes"] - errors, c["truth_boxes"]),
        "motp": ratio(c["overlap"], c["tp"]),
        "motp_distance": ratio(c["tp"] - c["overlap"], c["tp"]),
        "recall": ratio(c["tp"], c["truth_boxes"]),
        "precision": ratio(c["tp"], c["result_boxes"]),
        "far": ratio(errors, c["frames"]),
        "fp_per_frame": ratio(c["fp"], c["frames"]),
        "idp": ratio(c["idtp"], c["idtp"] + c["idfp"]),
        "idr": ratio(c["idtp"], c["idtp"] + c["idfn"]),
        "idf1": ratio(with_identity, with_identity + c["idfp"] + c["idfn"]),
        **{name: x.mean(axis=-1) for name, x in hota_at_alpha(counts, sums).items()},
    }


#: The method of the intervals of tracking.
METHOD = "sequence-jackknife"

#: With fewer sequences limits are not given.
FEWEST = 12

# The public detections of MOT17, which has each of its videos once for each of them.
_DETECTIONS = re.compile(r"-(?:DPM|FRCNN|SDP)$")


@dataclass(frozen=True)
class SequenceSums:
    """The counts and the sums of HOTA of sequences, in arrays with the sequences first.

    A video is one sequence, or those that show it with other detections, as in MOT17.
    """

    counts: Counts
    sums: MatchSums
    video: np.ndarray  # int64 (sequences,): the video of each
    videos: int

    @classmethod
    def of(
        cls, names: Iterable[str], counts: Iterable[Counts], sums: Iterable[MatchSums]
    ) -> SequenceSums:
        """Return the sums of sequences, from those of each."""
        videos = np.array([_DETECTIONS.sub("", name) for name in names])
        distinct, video = np.unique(videos, return_inverse=True)
        return cls(_stacked(counts), _stacked(sums), video.reshape(-1), len(distinct))

    @cached_property
    def total(self) -> tuple[Counts, MatchSums]:
        """The counts and sums of all sequences together."""
        return (
            {name: values.sum(axis=0) for name, values in self.counts.items()},
            {name: values.sum(axis=0) for name, values in self.sums.items()},
        )

    def _of_others(self, values: np.ndarray) -> np.ndarray:
        """Return for each video the sum over all others.

        It is that of the videos before it and after it: all less the video would not be 0 where no
        other has a match.
        """
        of_video = np.zeros((self.videos + 2, *values.shape[1:]), dtype=values.dtype)
        np.add.at(of_video, 1 + self.video, values)
        before = np.cumsum(of_video, axis=0)[:-2]
        after = np.cumsum(of_video[::-1], axis=0)[::-1][2:]
        return before + after

    @cached_property
    def values(self) -> dict[str, np.ndarray]:
        """Each measure of all sequences together."""
        return values_of(*self.total)

    @cached_property
    def of_each(self) -> dict[str, np.ndarray]:
        """Each measure of each sequence by itself, shape (sequences,)."""
        return values_of(self.counts, self.sums)

    @cached_property
    def without(self) -> dict[str, np.ndarray]:
        """Each measure without each video, shape (videos,)."""
        counts, sums = (
            {name: self._of_others(values) for name, values in x.items()}
            for x in (self.counts, self.sums)
        )
        return values_of(counts, sums)

    def limits(self, name: str, confidence: float) -> tuple[float, float]:
        """Return the limits of a measure, NaN where there are none."""
        if self.videos < FEWEST:
            return np.nan, np.nan
        columns = np.append(self.values[name], self.without[name])
        low, high = student(columns, confidence, self.videos, MEASURES[name].bounds)
        return float(low), float(high)

    def attrs(self, method: IntervalMethod) -> dict[str, str | float]:
        """Return the attributes of a result with intervals; none where there are too few."""
        if self.videos < FEWEST:
            return {}
        return {
            "interval_method": METHOD,
            "confidence": method.confidence,
            "interval_unit": "sequences",
            "interval_for": "new sequences",
        }

    def messages(self) -> list[Message]:
        """Return why there are no intervals, and what is left out at a time if not a sequence."""
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

"""The measures of tracking: their descriptions, their values from counts, and their intervals.

A measure is a ratio of sums over sequences, or a mean of such ratios. Its limits are Student's, by
a jackknife over videos. Sequences are taken as drawn at random from many sequences of their kind.
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
from bioeval.stats.weighted_sums import ratio

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

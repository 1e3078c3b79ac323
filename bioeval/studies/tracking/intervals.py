"""Intervals over sequences: the jackknife, which leaves out one sequence at a time.

A measure is a ratio of sums over sequences, or a mean of such ratios. Its standard error comes from
its values without each sequence, and its limits are Student's, with a degree of freedom less than
there are sequences (Tukey 1958; Efron and Tibshirani 1993, An introduction to the bootstrap,
chapter 11). Sequences are taken as drawn from many of their kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bioeval.base.messages import Message
from bioeval.stats.jackknife import student_limits
from bioeval.studies.tracking.scalars import Counts, MatchSums, TrackingMeasure

#: Methods of the intervals of tracking.
TrackingInterval = Literal["sequence-jackknife"]
METHOD: TrackingInterval = "sequence-jackknife"

#: With fewer sequences limits are not given: a simulation found them too narrow.
FEWEST = 12

#: What limits are for.
NEW_SEQUENCES = "new sequences"
PARTS_OF_SEQUENCE = "other parts of this sequence"

# The public detections of MOT17, which has each of its videos once for each of them.
_DETECTIONS = re.compile(r"-(?:DPM|FRCNN|SDP)$")


def videos_of(names: Iterable[str]) -> tuple[np.ndarray, int]:
    """Return the number of the video of each sequence, and how many videos there are.

    MOT17 has each video three times, with the detections of DPM, FRCNN and SDP.
    """
    videos = [_DETECTIONS.sub("", name) for name in names]
    distinct, video = np.unique(np.array(videos, dtype=object), return_inverse=True)
    return video.reshape(-1), len(distinct)


@dataclass(frozen=True)
class SequenceSums:
    """The sums of sequences: of all, and without each video.

    A video is one sequence, or those that show it with other detections.
    """

    counts: Sequence[Counts]  # of each sequence
    sums: Sequence[MatchSums]
    video: np.ndarray  # int64 (sequences,): the video of each
    videos: int

    @cached_property
    def _each(self) -> tuple[Counts, MatchSums]:
        """The counts and sums of each sequence, in arrays with the sequences first."""
        counts = {name: np.array([of[name] for of in self.counts]) for name in self.counts[0]}
        sums = {name: np.array([of[name] for of in self.sums]) for name in self.sums[0]}
        return counts, sums

    @cached_property
    def _without(self) -> tuple[Counts, MatchSums]:
        """The counts and sums without each video, in arrays with the videos first."""
        counts, sums = self._each
        return (
            {name: self._of_others(values) for name, values in counts.items()},
            {name: self._of_others(values) for name, values in sums.items()},
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

    def value(self, measure: TrackingMeasure) -> float:
        """Return the measure of all sequences together."""
        counts = {name: sum(of[name] for of in self.counts) for name in self.counts[0]}
        sums: dict[str, Any] = {}
        for name in self.sums[0]:
            sums[name] = sum(of[name] for of in self.sums)
        return float(measure.value(counts, sums))

    def without(self, measure: TrackingMeasure) -> np.ndarray:
        """Return the measure without each video, shape (videos,)."""
        return measure.value(*self._without)

    def of_each(self, measure: TrackingMeasure) -> np.ndarray:
        """Return the measure of each sequence by itself, shape (sequences,)."""
        return measure.value(*self._each)

    def limits(self, measure: TrackingMeasure, confidence: float) -> tuple[float, float]:
        """Return the limits of a measure, NaN where there are none."""
        if self.videos < FEWEST:
            return np.nan, np.nan
        return student_limits(
            self.value(measure), self.without(measure), confidence, measure.bounds
        )


def interval_attrs(
    confidence: float, videos: int, options: Mapping[str, Any]
) -> dict[str, str | int | float]:
    """Return the attributes of a result with these intervals; none where there are too few."""
    if videos < FEWEST:
        return {}
    cut = "blocks" in options
    return {
        "interval_method": METHOD,
        "confidence": confidence,
        "interval_unit": "blocks of frames" if cut else "sequences",
        "interval_for": PARTS_OF_SEQUENCE if cut else NEW_SEQUENCES,
    }


def interval_messages(sequences: int, videos: int) -> list[Message]:
    """Return why there are no intervals, and what is left out at a time if not a sequence."""
    messages = []
    if videos < sequences:
        messages.append(Message("sequences-of-one-video", sequences=sequences, videos=videos))
    if videos < FEWEST:
        messages.append(Message("few-sequences", sequences=videos, needed=FEWEST))
    return messages

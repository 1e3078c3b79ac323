"""Sums of sequences, and intervals over them: the jackknife leaves out one video at a time.

A measure is a ratio of sums over sequences, or a mean of such ratios. Its limits are those of
Student, from its values without each video. Sequences are taken as drawn from many of their kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bioeval.base.messages import Message
from bioeval.stats.limits import student
from bioeval.stats.options import IntervalMethod
from bioeval.studies.tracking.scalars import Counts, MatchSums, TrackingMeasure

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

    @cached_property
    def _without(self) -> tuple[Counts, MatchSums]:
        return (
            {name: self._of_others(values) for name, values in self.counts.items()},
            {name: self._of_others(values) for name, values in self.sums.items()},
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
        return float(measure.value(*self.total))

    def of_each(self, measure: TrackingMeasure) -> np.ndarray:
        """Return the measure of each sequence by itself, shape (sequences,)."""
        return measure.value(self.counts, self.sums)

    def without(self, measure: TrackingMeasure) -> np.ndarray:
        """Return the measure without each video, shape (videos,)."""
        return measure.value(*self._without)

    def limits(self, measure: TrackingMeasure, confidence: float) -> tuple[float, float]:
        """Return the limits of a measure, NaN where there are none."""
        if self.videos < FEWEST:
            return np.nan, np.nan
        columns = np.append(self.value(measure), self.without(measure))
        low, high = student(columns, confidence, self.videos, measure.bounds)
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

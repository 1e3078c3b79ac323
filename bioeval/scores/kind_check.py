"""Whether scores are of the stated kind, judged by the scores themselves.

Genuine attempts are closer than impostor attempts; otherwise the kind or the labels are wrong, and
every number is. So the messages of this file are in the results of all calls that count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.sampled import SampledAttempts

# The least AUC of fused claims whose scores are random. In a square matrix a genuine claim has one
# template less than an impostor claim, since the probe is left out: with 2 templates the nearest of
# 1 is nearer than the nearest of 2 in one third of cases.
_CHANCE_OF_FUSED = 1 / 3

# With n people, the AUC of random scores is below one half by more than this margin, divided by the
# square root of n, with a probability below 0.1 %. (Simulated, with labels that are shuffled.)
_MARGIN = 0.75

# Scores near chance are judged as if there were this number of people at least.
_LEAST_PEOPLE = 16

#: The codes of messages that the labels or the kind of the scores are doubtful, and so all results.
KIND_DOUBTS = ("near-chance", "labels-wrong", "kind-wrong", "kind-or-classes-wrong")


@dataclass(frozen=True)
class KindVerdict:
    """The verdict on the kind of scores: "ok", a warning or an error with its message."""

    severity: Literal["ok", "warning", "error"]
    message: Message | None = None

    @classmethod
    def from_scores(cls, scores: Scores) -> Self:
        """Judge a sample of the attempts; ranks and top-K lists cannot be judged and are "ok"."""
        if scores.kind == "order" or scores.layout == "top-k":
            return cls("ok")
        sample = SampledAttempts.from_scores(scores)
        if sample is None:
            return cls("ok")
        if not len(sample.genuine) or not len(sample.impostor):
            return cls("ok")
        auc = area_under_curve(sample.genuine, sample.impostor)
        # With a metric of bioeval the kind is certain, and only labels can be wrong.
        kind, metric, people = scores.kind, scores.metric, sample.people
        other_kind = "distance" if kind in LARGER_IS_CLOSER else "similarity"
        # Rounded, since the last digits of distances of embeddings depend on how they are read.
        about: dict[str, Any] = {"kind": kind, "auc": round(auc, 4)}
        margin = _MARGIN / math.sqrt(max(2, people))
        if auc < (_CHANCE_OF_FUSED if scores.claims else 0.5) - margin:
            if metric:
                return cls("error", Message("labels-wrong", **about, metric=metric))
            if not knows_people(scores):  # no labels make the classes, which may be exchanged
                return cls("error", Message("kind-or-classes-wrong", **about))
            return cls("error", Message("kind-wrong", **about, other=other_kind))
        near_chance = 0.5 + 1.0 / (2 * math.sqrt(max(_LEAST_PEOPLE, people)))
        if auc < near_chance:
            if metric and auc < 0.5:
                return cls("warning", Message("labels-wrong", **about, metric=metric))
            return cls("warning", Message("near-chance", **about, other=other_kind))
        return cls("ok")


def area_under_curve(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """Return the share of pairs of a genuine and an impostor attempt with the genuine one closer.

    A tie counts one half.
    """
    genuine = np.sort(genuine)
    closer = genuine.searchsorted(impostor, "left").sum()
    as_close = genuine.searchsorted(impostor, "right").sum()
    return float(closer + as_close) / (2 * len(genuine) * len(impostor))


def kind_notes(scores: Scores) -> list[Message]:
    message = KindVerdict.from_scores(scores).message
    return [] if message is None else [message]

"""Assured thresholds: a FAR that is kept, with a stated confidence, in people like these."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bioeval.base.arguments import check_confidence
from bioeval.base.errors import DataError
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.thresholds import to_user
from bioeval.results.support import people_with
from bioeval.results.variables import Variable
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, subject_pattern_of
from bioeval.studies.assurance.limits import shares_without_error
from bioeval.studies.assurance.shares import Shares

# Points at which the limit is computed, at most; the strictest has a tenth of the target.
POINTS, STRICTEST = 64, 0.1

# Difference between the mean over pairs of people and the proportion of attempts that is remarked.
_APART = 0.1

#: The messages that say why no threshold can be promised.
REFUSED = (
    "no-impostor-attempts",
    "too-few-people-to-resample",
    "strictest-threshold-above-target",
    "too-few-people-to-promise",
)

ASSURED: dict[str, Variable] = {
    "assured_threshold": Variable(
        "threshold whose FAR is assured to be at most the target", "score", shown="threshold"
    ),
    "assured_far": Variable(
        "FAR there, the mean over pairs of people; of open set over people not enrolled", iso="FMR"
    ),
    "assured_far_high": Variable("one-sided upper limit of it, at most the target", iso="FMR"),
    "assured_far_attempts": Variable("FAR there, of all attempts", iso="FMR"),
    "assured_frr": Variable("FRR there", iso="FNMR"),
    "frr_price": Variable("FRR there less that of the threshold these data alone would allow"),
    "people_estimated": Variable(
        "about how many people are needed to promise the target by a strict threshold, whose FAR "
        "here is people_far; a looser one needs more",
        "subjects",
    ),
    "people_far": Variable("FAR of the threshold for which people_estimated is given", iso="FMR"),
    "assured_people": Variable("people on whom the assured threshold rests", "subjects"),
    "point_threshold": Variable(
        "threshold at which the limit was computed", "score", shown="threshold"
    ),
    "point_far": Variable("FAR at this threshold, the same kind of mean as assured_far", iso="FMR"),
    "point_far_high": Variable("one-sided upper limit of it", iso="FMR"),
    "point_frr": Variable("FRR there", iso="FNMR"),
}


@dataclass
class Assured:
    """An assured threshold, as a distance; NaN where none can be promised, with the refusal."""

    shares: Shares
    threshold: float = math.nan
    next: float = math.nan  # the nearest score that it rejects
    far: float = math.nan
    high: float = math.nan
    attempts: float = math.nan
    frr: float = math.nan
    people_needed: float = math.nan  # about, to promise the target by a strict threshold
    far_of_strict: float = math.nan  # the FAR of that threshold
    refusal: Message | None = None
    points: np.ndarray = field(default_factory=lambda: np.empty((4, 0)))

    def described(self, kind: str, frr: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return variables and attributes; `frr` is that of the threshold of the data alone."""
        values = {
            "assured_threshold": to_user(self.threshold, kind),
            "assured_threshold_next": to_user(self.next, kind),
            "assured_far": self.far,
            "assured_far_high": self.high,
            "assured_far_attempts": self.attempts,
            "assured_frr": self.frr,
            "frr_price": self.frr - frr,
            "people_estimated": self.people_needed,
            "people_far": self.far_of_strict,
            "assured_people": len(self.shares.people),
        }
        points = to_user(self.points[0], kind), *self.points[1:]
        names = ("threshold", "far", "far_high", "frr")
        curves = {f"point_{name}": (("point",), x) for name, x in zip(names, points, strict=True)}
        against = " against this gallery" if self.shares.fixed_gallery else ""
        attrs = {
            "assured_for": f"people like these{against}",
            "assured_over": self.shares.over,
        }
        return values | curves, attrs


@stage("assured threshold")
def assured_threshold(shares: Shares, target: float, confidence: float) -> Assured:
    """Return the last threshold before the first whose upper limit is above the target."""
    assured = Assured(shares, refusal=shares.refusal)
    if not shares.impostors:
        assured.refusal = Message("no-impostor-attempts")
    if assured.refusal is not None:
        return assured
    last = int(np.searchsorted(shares.mean, target, side="right")) - 1
    layers = _layers_near(shares.mean, target, last)
    high = shares.means(layers).upper(confidence)
    # The limit at a threshold is at least that of all stricter ones, whose FAR is not larger. Few
    # errors there may give a wider limit, and a promise ends at the first limit above the target.
    high = np.maximum.accumulate(high)
    assured.points = _points(shares, layers, high)
    kept = int(np.argmax(np.append(high > target, True)))
    assured.people_needed, assured.far_of_strict = people_to_promise(shares, target, confidence)
    if not kept:
        assured.refusal = _refusal(shares, layers[0], float(high[0]), target, confidence)
        return assured
    layer = int(layers[kept - 1])
    assured.threshold = shares.loosest(layer)
    assured.next = shares.next_score(layer, assured.threshold)
    assured.high = float(high[kept - 1])
    assured.far = float(shares.mean[layer]) if layer >= 0 else 0.0
    assured.attempts = float(shares.accepted[layer]) if layer >= 0 else 0.0
    assured.frr = shares.frr(assured.threshold)
    return assured


def people_to_promise(shares: Shares, target: float, confidence: float) -> tuple[float, float]:
    """Return how many people are needed at the strictest threshold that is tried, and its FAR.

    They are no fewer than form the pairs that show the target without a false accept; NaN where
    no number is enough.
    """
    if shares.refusal is not None or not shares.impostors:
        return math.nan, math.nan
    last = int(np.searchsorted(shares.mean, target, side="right")) - 1
    means = shares.means(_layers_near(shares.mean, target, last)[:1])
    if means.mean[0] >= target:
        return math.nan, math.nan
    least = people_with(shares_without_error(target, confidence))
    people = float(max(means.people_to_settle(target, confidence), least))
    return people, float(means.mean[0])


def _points(shares: Shares, layers: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return thresholds, FAR, its limit and FRR at some of the layers, to be drawn."""
    known = np.flatnonzero(layers >= 0)
    at = np.array([shares.loosest(int(layer)) for layer in layers[known]])
    frr = [shares.frr(threshold) for threshold in at]
    return np.array([at, shares.mean[layers[known]], high[known], frr])


def _layers_near(mean: np.ndarray, target: float, last: int) -> np.ndarray:
    """Return the layers whose limits are computed, evenly in the logarithm of the mean."""
    if not len(mean):  # no threshold accepts an impostor
        return np.array([-1])
    first = max(int(np.searchsorted(mean, STRICTEST * target, side="right")) - 1, 0)
    if last - first < POINTS:
        return np.arange(first, max(first, last) + 1)
    log = np.log(mean[: last + 1])
    places = np.linspace(log[first], math.log(target), POINTS)
    return np.unique(np.searchsorted(log, places, side="right") - 1)


def _refusal(shares: Shares, layer: int, high: float, target: float, confidence: float) -> Message:
    """Return why no threshold can be promised."""
    far = float(shares.mean[layer]) if layer >= 0 else 0.0
    at: dict[str, Any] = {"far": far, "event": shares.event, "target": target}
    if far >= target:
        return Message("strictest-threshold-above-target", **at)
    people = {"confidence": confidence, "people": len(shares.people)}
    over = "people" if shares.over == "pairs of people" else shares.over
    return Message("too-few-people-to-promise", **at, high=high, **people, over=over)


def remarks_on(assured: Assured, scores: Scores) -> list[Message]:
    """Return the refusal, or what is remarked on the promise."""
    if assured.refusal is not None:
        return [assured.refusal]
    remarks = []
    if abs(assured.far - assured.attempts) > _APART * max(assured.far, assured.attempts):
        rates = {"far_of_means": assured.far, "far_of_attempts": assured.attempts}
        over = assured.shares.over
        remarks.append(Message("unequal-numbers-of-templates", **rates, over=over))
    if scores.is_derived:
        remarks.append(Message("assurance-of-derived-scores", origin=scores.origin))
    return remarks


def check_assurance(assure: Any, rule: Any) -> float:
    """Return the confidence of an assured threshold, or raise :class:`DataError`."""
    confidence = check_confidence(assure, "assure")
    if rule.name != "far" or not 0 < rule.values[0] < 1:
        raise DataError(
            f"`target` is {rule}; what can be assured is a FAR above 0 and below 1, "
            "such as far=0.01"
        )
    return confidence


def require_named_people(scores: Scores, purpose: str) -> None:
    """Raise :class:`DataError` unless the people of all attempts are known."""
    if knows_people(scores):
        return
    how = "give labels of probes and gallery"
    if scores.layout == "pairs":
        how = (
            "name them: columns subject_a and subject_b in a file, --subject-from "
            f"'{subject_pattern_of(scores)}', or subjects= to Scores.from_pairs"
        )
    raise DataError(
        f"{purpose} rests on the number of people, and the people of these scores are not known; "
        f"{how}"
    )

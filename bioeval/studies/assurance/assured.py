"""Assured thresholds, whose FAR does not exceed a target with a stated confidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.arguments import check_confidence
from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.thresholds import to_user
from bioeval.results.support import RuleOf, people_with
from bioeval.results.variables import Variable
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, subject_pattern_of
from bioeval.studies.assurance.judged_rates import FarCurve
from bioeval.studies.assurance.limits import shares_without_error

# The largest number of points that are drawn.
POINTS = 64

# The FAR of the strictest point that is drawn, as a fraction of the target.
STRICTEST = 0.1

# A message says that two kinds of FAR differ if they do by more than this fraction.
_APART = 0.1

#: The codes of messages that say why no threshold can be guaranteed.
REFUSED = (
    "no-impostor-attempts",
    "too-few-people-to-resample",
    "strictest-threshold-above-target",
    "too-few-people-to-promise",
)

ASSURED: dict[str, Variable] = {
    "assured_threshold": Variable(
        "threshold whose FAR is assured to be at most the target",
        "score",
        shown="threshold",
        label="assured threshold",
    ),
    "assured_far": Variable(
        "FAR at the assured threshold; in open-set identification, the mean over unenrolled people",
        "proportion",
        "FMR",
        label="{far} at the assured threshold",
        threshold="assured_threshold",
    ),
    "assured_far_high": Variable(
        "one-sided upper limit of assured_far, at most the target; the two people with the most "
        "errors are counted twice",
        "proportion",
        "FMR",
        label="upper limit of this {far}",
        detail="verbose",
    ),
    "assured_far_attempts": Variable(
        "FAR at the assured threshold, over all attempts",
        "proportion",
        "FMR",
        label="{far} at the assured threshold, of all attempts",
        detail="verbose",
        threshold="assured_threshold",
        out_of="impostor_attempts",
    ),
    "assured_frr": Variable(
        "FRR at the assured threshold",
        "proportion",
        "FNMR",
        label="{frr} at the assured threshold",
        threshold="assured_threshold",
        out_of="genuine_attempts",
    ),
    "frr_price": Variable(
        "FRR at the assured threshold minus FRR at the loosest threshold that keeps the target on "
        "these data",
        "proportion",
        label="{frr} that the assurance adds",
        detail="verbose",
    ),
    "people_estimated": Variable(
        "about how many people are needed to guarantee the target by a strict threshold, whose FAR "
        "here is people_far; a looser one needs more",
        "subjects",
        label="people who suffice, about, but only for a much stricter threshold",
        detail="verbose",
    ),
    "people_far": Variable(
        "FAR of the threshold for which people_estimated is given",
        "proportion",
        "FMR",
        label="{far} on these data at this much stricter threshold",
        detail="verbose",
    ),
    "assured_people": Variable(
        "people on whom the assured threshold rests",
        "subjects",
        label="people behind the assured threshold",
        detail="verbose",
    ),
    "point_threshold": Variable(
        "threshold at which the limit is drawn",
        "score",
        shown="threshold",
        detail="data",
        label="threshold",
    ),
    "point_far": Variable(
        "FAR at this threshold, the same kind of mean as assured_far",
        "proportion",
        "FMR",
        detail="data",
        label="{far}",
    ),
    "point_far_high": Variable(
        "one-sided upper limit of it",
        "proportion",
        "FMR",
        label="upper limit of the {far}",
        detail="data",
    ),
    "point_frr": Variable(
        "FRR at point_threshold", "proportion", "FNMR", detail="data", label="{frr}"
    ),
}


class DrawnPoints(NamedTuple):
    """The points at which the limits of FAR are drawn, float64 (points,)."""

    threshold: np.ndarray  # distances
    far: np.ndarray
    far_high: np.ndarray  # upper limits of FAR
    frr: np.ndarray


_NO_POINTS = DrawnPoints(*np.empty((4, 0)))


@dataclass(frozen=True)
class Assured:
    """An assured threshold; all numbers are NaN if the data guarantee none."""

    curve: FarCurve
    threshold: float = math.nan  # a distance
    next: float = math.nan  # the nearest score that it rejects
    far: float = math.nan
    high: float = math.nan  # the upper limit of `far`
    far_of_attempts: float = math.nan  # FAR of all attempts, in place of a mean over people
    frr: float = math.nan
    people_needed: float = math.nan  # about how many people guarantee the target strictly
    far_of_strict: float = math.nan  # the FAR of the strict threshold that `people_needed` is for
    refusal: Message | None = None  # why no threshold is guaranteed
    points: DrawnPoints = _NO_POINTS

    def described(self, kind: Kind, frr: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return variables and attributes; `frr` is the FRR at the threshold by the rule."""
        values = {
            "assured_threshold": to_user(self.threshold, kind),
            "assured_threshold_next": to_user(self.next, kind),
            "assured_far": self.far,
            "assured_far_high": self.high,
            "assured_far_attempts": self.far_of_attempts,
            "assured_frr": self.frr,
            "frr_price": self.frr - frr,
            "people_estimated": self.people_needed,
            "people_far": self.far_of_strict,
            "assured_people": self.curve.judged.people,
        }
        points = self.points._replace(threshold=to_user(self.points.threshold, kind))
        curves = {f"point_{name}": (("point",), x) for name, x in points._asdict().items()}
        against = " against this gallery" if self.curve.fixed_gallery else ""
        attrs = {
            "assured_for": f"people like these{against}",
            "assured_over": self.curve.over,
        }
        return values | curves, attrs


@stage("assured threshold")
def assured_threshold(curve: FarCurve, target: float) -> Assured:
    """Return the loosest threshold whose upper limit is at most the target."""
    refusal = curve.refusal if curve.impostors else Message("no-impostor-attempts")
    if refusal is not None:
        return Assured(curve, refusal=refusal)
    # About how many people guarantee the target by a strict threshold, whose FAR is a tenth of it;
    # NaN if no number is enough. At the least, their pairs show the target without a false accept.
    people_needed, far_of_strict = math.nan, math.nan
    strict = _strict_far(curve, target)
    if strict < target:
        least = people_with(shares_without_error(target, curve.judged.confidence))
        people_needed = float(max(curve.judged.people_to_settle(strict, target), least))
        far_of_strict = strict
    assured = Assured(
        curve,
        people_needed=people_needed,
        far_of_strict=far_of_strict,
        points=_points_to_draw(curve, target),
    )
    largest_far = curve.judged.limits.largest_rate(target)
    loosest = None if math.isnan(largest_far) else curve.loosest(largest_far)
    if loosest is None or not math.isfinite(loosest.threshold):
        return replace(assured, refusal=_refusal(curve, target))
    _, high = curve.judged.limits_at(loosest.far)
    return replace(
        assured,
        threshold=loosest.threshold,
        next=loosest.next,
        far=loosest.far,
        high=high,
        far_of_attempts=loosest.far_of_attempts,
        frr=loosest.frr,
    )


def _strict_far(curve: FarCurve, target: float) -> float:
    """Return the largest FAR of the curve up to a tenth of the target, or the smallest above 0."""
    rates = curve.far[(curve.far > 0) & np.isfinite(curve.thresholds)]
    if not len(rates):
        return 0.0
    return float(rates[max(int(np.searchsorted(rates, STRICTEST * target, side="right")) - 1, 0)])


def _points_to_draw(curve: FarCurve, target: float) -> DrawnPoints:
    is_drawn = (curve.far >= _strict_far(curve, target)) & (curve.far <= target)
    is_drawn &= (curve.far > 0) & np.isfinite(curve.thresholds)
    index = np.flatnonzero(is_drawn)
    if len(index) > POINTS:
        index = index[np.linspace(0, len(index) - 1, POINTS).astype(np.int64)]
    far = curve.far[index]
    _, high = curve.judged.limits.limits_at(far)
    return DrawnPoints(curve.thresholds[index], far, high, curve.frr[index])


def _refusal(curve: FarCurve, target: float) -> Message:
    far = _strict_far(curve, target)
    arguments: dict[str, Any] = {"far": far, "event": curve.event, "target": target}
    if far >= target:
        return Message("strictest-threshold-above-target", **arguments)
    judged = curve.judged
    people = {"confidence": judged.confidence, "people": judged.people}
    population = curve.over if curve.fixed_gallery else "people"
    high = judged.limits_at(far)[1]
    return Message("too-few-people-to-promise", **arguments, high=high, **people, over=population)


def kinds_of_people_absent(people: int) -> Message:
    """Return the message on kinds of people who may be absent among this number of people."""
    if people <= RuleOf(3):
        return Message("kinds-of-people-absent")
    return Message("kinds-of-people-absent", share=RuleOf(3) / people, people=people)


def remarks_on(assured: Assured, scores: Scores) -> list[Message]:
    """Return the refusal; or remarks on the guarantee, if a threshold is guaranteed."""
    if assured.refusal is not None:
        return [assured.refusal]
    remarks = [kinds_of_people_absent(assured.curve.judged.people)]
    far, far_of_attempts = assured.far, assured.far_of_attempts
    if abs(far - far_of_attempts) > _APART * max(far, far_of_attempts):
        rates = {"far_of_means": far, "far_of_attempts": far_of_attempts}
        population = assured.curve.over
        remarks.append(Message("unequal-numbers-of-templates", **rates, over=population))
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
    remedy = "give labels of probes and gallery"
    if scores.layout == "pairs":
        remedy = (
            "name them: columns subject_a and subject_b in a file, --subject-from "
            f"'{subject_pattern_of(scores)}', or subjects= to Scores.from_pairs"
        )
    raise DataError(
        f"{purpose} rests on the number of people, and the people of these scores are not known; "
        f"{remedy}"
    )

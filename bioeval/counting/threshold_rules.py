"""Rules that choose a threshold: EER, FAR or FRR target, least cost, accuracy, or a given one.

Thresholds are chosen at the scores of the training part themselves, never on a grid.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.base.arguments import as_float64, number_in, rate_in, require_array
from bioeval.base.errors import (
    DataError,
    nearest_name,
    received,
    subject,
)
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.points import (
    allowed_errors,
    cheapest,
    check_costs,
    crossed,
    per_cent,
    rounded_weights,
    warn_of_per_cent,
    weights_of_errors,
)
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.thresholds import to_user

#: How many numbers each rule has after its name.
RULES = {"eer": 0, "far": 1, "frr": 1, "cost": 3, "hter": 0, "accuracy": 0}

_EXPECTED = (
    "expected a number, eer, hter, accuracy, far=X, frr=X, min-dcf=PRIOR or "
    'cost=PRIOR,C_MISS,C_FA, such as 0.6, "far=0.001", "far=0.1%" or "far=1/1000"'
)


#: Rules by the rate that is not to be exceeded.
TARGETS = ("far", "frr")

# The threshold of minDCF is that of the least cost, by other names of the rule.
_MIN_DCF = ("min-dcf", "min_dcf", "mindcf")

_POINTS = {
    "eer": "the equal error rate",
    "far": "the smallest FRR with FAR at most {}",
    "frr": "the smallest FAR with FRR at most {}",
    "cost": "the least cost, prior {:g}, c_miss {:g}, c_fa {:g}",
    "accuracy": "the largest accuracy",
    "fixed": "the threshold {}",
    "none": "no threshold",
}


@dataclass(frozen=True)
class Rule:
    """A rule that chooses a threshold.

    The name is one of `RULES`, but ``"hter"``, which is a cost; ``"fixed"``, a given threshold; or
    ``"none"``: no threshold is chosen. The values are the FAR or FRR target; prior, c_miss and
    c_fa; or the threshold, in the user's units.
    """

    name: str
    values: tuple[float, ...] = ()

    def __str__(self) -> str:
        if self.values:
            return f"{self.name}={','.join(map(_exactly, self.values))}"
        return self.name

    @classmethod
    def written(cls, text: str) -> Rule:
        """Return the rule that :meth:`__str__` wrote, such as an attribute of a result."""
        name, _, values = text.partition("=")
        return cls(name, tuple(map(float, filter(None, values.split(",")))))

    @classmethod
    def parse(cls, threshold: Any, input_name: str = "threshold") -> Rule:
        """Return the rule that `threshold` is; `input_name` is its name in messages.

        A number is a given threshold, in the units of the scores. A rule is a text: its name, in
        any case, with its numbers, ``"far=0.001"``; a rate may be written ``0.1%`` or ``1/1000``.
        ``"min-dcf=0.01"`` is ``"cost=0.01,1,1"``: the least cost is at the threshold of minDCF.
        """
        if isinstance(threshold, cls):
            return threshold

        def wrong(expected: str = "") -> DataError:
            if not expected:
                expected = _EXPECTED
                if suggestion := nearest_name(str(threshold).partition("=")[0].strip(), RULES):
                    expected += f".{suggestion}"
            return DataError(f"{subject(input_name)} is {received(threshold)}; {expected}")

        name = "fixed"
        parts = [threshold]
        if isinstance(threshold, str) and not is_number(threshold):
            name, equals, numbers_text = threshold.partition("=")
            name = name.strip().lower()
            parts = numbers_text.split(",") if equals else []
            if name in _MIN_DCF:
                if not parts:
                    raise wrong("expected its prior, such as min-dcf=0.01")
                name = "cost"
                if len(parts) == 1:
                    parts = [*parts, "1", "1"]
            if RULES.get(name) != len(parts):
                raise wrong()
        elif not isinstance(threshold, str) and not is_real(threshold):
            raise wrong()
        read = rate_in if name in TARGETS else number_in
        try:
            values = tuple(read(x) if isinstance(x, str) else float(x) for x in parts)
        except (ValueError, ArithmeticError):
            raise wrong() from None
        if name in TARGETS and not 0 <= values[0] <= 1:
            raise wrong("expected a rate in [0, 1]")
        if name in TARGETS and "%" not in parts[0]:
            warn_of_per_cent(values, name)
        if name == "cost":
            check_costs(values)
        if name == "fixed" and math.isnan(values[0]):
            raise DataError(
                f"{subject(input_name)} is NaN; expected a number, in the units of the scores"
            )
        if name == "fixed" and not isinstance(threshold, str):
            as_float64(input_name, threshold)
        if name == "hter":
            return cls("cost", (0.5, 1.0, 1.0))
        return cls(name, values)

    def as_distance(self, kind: str) -> Rule:
        """Return the rule with its given threshold, if any, as a distance."""
        if self.name != "fixed" or kind not in LARGER_IS_CLOSER:
            return self
        return replace(self, values=(-self.values[0],))

    @property
    def words(self) -> str:
        """A description of the chosen point."""
        written = {"far": per_cent, "frr": per_cent, "fixed": _exactly}.get(self.name, float)
        return _POINTS[self.name].format(*map(written, self.values))

    def attrs(self, data: str = "the same data; errors there are optimistic") -> dict[str, str]:
        """Return the rule as attributes of a result, and the `data` that it chooses on."""
        return {
            "threshold_rule": str(self),
            "threshold_rule_in_words": self.words,
            "chosen_on": "given" if self.name == "fixed" else data,
        }


def _exactly(value: float) -> str:
    """Return a number as the shortest text that is read as the same number."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def is_real(value: Any) -> bool:
    """Say whether a value is a real number, such as an array without dimensions."""
    if getattr(value, "ndim", None) == 0:
        return require_array("threshold", value).dtype.kind in "iuf"
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_number(text: str) -> bool:
    """Say whether a text is a number, and no rule."""
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class ChosenThreshold:
    """A threshold chosen by a rule, and whether there were attempts to choose it on; or arrays.

    A threshold is NaN without them, and where everything is rejected although a score is -inf. The
    nearest score that it rejects is `next`, infinity where there is none, and NaN where it is not
    known, as of a threshold that was given.
    """

    threshold: Any = np.nan
    defined: Any = False
    next: Any = np.nan

    def in_units(self, kind: str, name: str = "threshold") -> dict[str, float]:
        """Return the threshold and the next score as variables, in the user's units."""
        return {name: to_user(self.threshold, kind), f"{name}_next": to_user(self.next, kind)}


def choose(rule: Rule, attempts: Attempts) -> ChosenThreshold:
    """Return the threshold of a rule; a given threshold is a distance."""
    chosen = choose_of_parts(rule, attempts.points)
    return ChosenThreshold(
        float(chosen.threshold[0]), bool(chosen.defined[0]), float(chosen.next[0])
    )


def choose_of_parts(rule: Rule, attempts: AttemptsOfParts) -> ChosenThreshold:
    """Return the thresholds of a rule, arrays (parts,)."""
    parts = len(attempts.defined)
    threshold = np.full(parts, np.nan)
    defined = attempts.defined
    if rule.name == "fixed":
        fixed = np.full(parts, rule.values[0])
        return ChosenThreshold(fixed, np.ones(parts, dtype=bool), threshold)
    if rule.name == "none":
        defined = np.zeros(parts, dtype=bool)
    elif rule.name == "eer":
        error = attempts.equal_error()
        threshold = error.eer_threshold
        defined = ~np.isnan(error.eer)
    elif rule.name == "far":
        threshold = attempts.at_far(np.array(rule.values))[1][:, 0]
    elif rule.name == "frr":
        strictest, has_one = attempts.at_frr(np.array(rule.values))
        threshold = strictest[:, 0]
        defined = has_one[:, 0]
    else:
        attempted = attempts.genuine_attempts, attempts.impostor_attempts
        curve = attempts.corners
        threshold = curve.threshold[cheapest(curve, *_weights(rule, *attempted))]
    threshold = np.where(defined, threshold, np.nan)
    return ChosenThreshold(threshold, defined, attempts.next_scores(threshold))


def no_such_threshold(rule: Rule, attempts: Attempts) -> str:
    """Return why a rule chooses no threshold on attempts of both classes."""
    aim = {"eer": "equal error rates", "frr": rule.words.partition(" with ")[2]}[rule.name]
    genuine = f"{attempts.missed:,} of {attempts.genuine_attempts:,} genuine"
    impostor = f"{attempts.missed_impostors:,} of {attempts.impostor_attempts:,} impostor attempts"
    return f"none has {aim}, because none accepts {genuine} and {impostor}"


def wanted_cells(
    rule: Rule, cells: np.ndarray, counts: np.ndarray, given: int, failed: tuple[int, int]
) -> np.ndarray:
    """Return, as flags, the cells whose impostor scores the choice of a threshold needs.

    Of the cells of genuine scores, increasing; of impostor scores counted by cell; `given` is the
    cell of a given threshold, and `failed` the attempts of each class without a score. Where all
    may be rejected, the first cell says what is at -inf.
    """
    is_needed = np.zeros(len(counts), dtype=bool)
    below = np.append(0, np.cumsum(counts))
    impostors = int(counts.sum()) + failed[1]
    attempts = len(cells) + failed[0]
    upto = below[1:]
    rejected = attempts - np.cumsum(np.bincount(cells, minlength=len(counts)))
    if rule.name == "fixed":
        is_needed[given] = True
    if rule.name in ("none", "fixed") or not (attempts and impostors):
        return is_needed
    if rule.name == "frr":
        needed = attempts - allowed_errors(rule.values[0], attempts)
        if needed <= len(cells):
            is_needed[cells[needed - 1] if needed else 0] = True
        return is_needed
    if rule.name in ("cost", "accuracy"):
        weights = _weights(rule, np.array([attempts]), np.array([impostors]))
        of_fa, of_fr = rounded_weights(*weights)
        filled = np.diff(rejected, prepend=attempts) < 0
        smallest = of_fa * below[:-1] + of_fr * rejected
        largest = of_fa * upto + of_fr * rejected
        none = float(of_fr[0] * attempts)
        best = min(none, largest[filled].min(initial=np.inf)) * (1 + 1e-9)
        filled &= smallest <= best
        filled[0] |= none <= best
        return filled
    if rule.name == "eer":
        last = int(np.count_nonzero(~crossed(upto[:-1], rejected[:-1], attempts, impostors)))
    else:
        last = int(upto.searchsorted(allowed_errors(rule.values[0], impostors), side="right"))
    # The score before may be of either class: others lie in its cell, of parts that are judged.
    genuine_before = cells[: cells.searchsorted(last)]
    counted = np.flatnonzero(counts[:last])
    is_needed[genuine_before[-1:]] = is_needed[counted[-1:]] = True
    if not len(genuine_before) and not len(counted):
        is_needed[0] = True
    if last < len(counts):
        is_needed[last] = True
    return is_needed


def _weights(
    rule: Rule, genuine: np.ndarray, impostors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    if rule.name == "accuracy":
        return np.ones(len(genuine), dtype=object), np.ones(len(genuine), dtype=object)
    return weights_of_errors(rule.values, np.maximum(genuine, 1), np.maximum(impostors, 1))

"""Rules that choose a threshold: EER, FAR or FRR target, least cost, accuracy, or a given one.

Thresholds are chosen at the scores of the training part themselves, never on a grid. A user writes
a rule, :class:`Rule` parses it, and :func:`choose` applies it to counted attempts::

    choose(Rule.parse("far=0.1%"), attempts).threshold

Attempts may be of several parts, such as folds or repetitions, which are computed at once: arrays
are then (parts, ...). The first section has the operating points of a result:
:class:`PointsWanted` says which, and :func:`point_values` computes them by name.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from bioeval.base.arguments import as_float64, number_in, rate_in, require_array
from bioeval.base.errors import DataError, named, nearest_name, received
from bioeval.base.kinds import Kind
from bioeval.counting.operating_points import (
    Attempts,
    AttemptsOfParts,
    EqualError,
    normalised_cost,
    rounded_weights,
)
from bioeval.counting.thresholds import check_costs, per_cent, to_user, warn_of_per_cent

if TYPE_CHECKING:
    from bioeval.results.variables import Variable


@dataclass(frozen=True, eq=False)
class PointsWanted:
    """The operating points that are wanted of attempts."""

    targets: np.ndarray  # FAR targets
    costs: np.ndarray  # rows (prior, c_miss, c_fa), whose least costs are wanted
    #: Whether points that need every score are wanted: AUC, d', the EER on the hull, the least
    #: costs and `optima`.
    every_score: bool
    thresholds: np.ndarray | None = None  # thresholds whose false accepts are wanted
    frr_targets: np.ndarray = field(default_factory=lambda: np.empty(0))
    optima: Sequence[Variable] = ()  # functions of FAR and FRR, whose best values are wanted

    #: Prior proportion of genuine attempts, cost of a false reject, cost of a false accept, for
    #: half the total error rate.
    DEFAULT_COSTS: ClassVar = ((0.5, 1.0, 1.0),)

    @classmethod
    def of_rule(cls, rule: Rule) -> PointsWanted:
        """Return the points that a rule of thresholds needs: FAR targets, or fixed thresholds."""
        targets = np.array(rule.values if rule.name == "far" else ())
        thresholds = np.array(rule.values) if rule.name == "fixed" else None
        return cls(targets, np.empty((0, 3)), False, thresholds)


@dataclass(frozen=True, eq=False)
class VerificationPoints:
    """Operating points of verification."""

    wanted: PointsWanted
    #: EER if genuine attempts come last among equal scores, and if they come first.
    eer_ends: tuple[float, float]
    #: Numbers, and arrays over targets and costs, by the names of a result; thresholds are
    #: distances, and undefined values NaN.
    values: dict[str, Any]
    symmetric: bool | None  # whether each pair was counted in both directions; None if unknown
    independent: float  # impostor attempts, each pair of a symmetric matrix once
    #: Finite thresholds of the curve besides its grid, and the false accepts there.
    extra_thresholds: np.ndarray
    extra_accepted: np.ndarray


#: The names of the thresholds around which scores are kept.
THRESHOLDS = (
    *("eer_threshold", "zero_far_threshold", "zero_frr_threshold"),
    *("threshold_at_far", "threshold_at_frr"),
)
OF_COSTS = "min_cost_threshold"


def point_values(
    attempts: AttemptsOfParts, wanted: PointsWanted, symmetric: Any, times: int = 1
) -> tuple[EqualError, dict[str, np.ndarray]]:
    """Return the EER, and the points of parts by name: (parts,), (parts, targets), (parts, costs).

    The names are the names of :class:`VerificationPoints`, except for the labels of costs. Each
    threshold has its next score as a further value, such as ``eer_threshold_next``.
    `symmetric`, perhaps (parts,), says whether each pair was counted in both directions; None if
    unknown. Each attempt stands for as many as `times`.
    """
    error = attempts.equal_error()
    values = error.values()
    if wanted.every_score:
        values["eer_hull"] = attempts.hull_equal_error()
        values["auc"] = attempts.auc()
        values["d_prime"] = attempts.d_prime()
        for x in wanted.optima:
            values[x.name], values[x.threshold] = attempts.optimum(x)
    # The points at FAR targets, at a FAR of 0 and at an FRR of 0.
    frr, threshold = attempts.at_far(np.append(0.0, wanted.targets))
    zero_frr, zero_frr_threshold = attempts.zero_frr()
    values |= {
        "zero_far": frr[:, 0],
        "zero_far_threshold": threshold[:, 0],
        "zero_frr": zero_frr,
        "zero_frr_threshold": zero_frr_threshold,
        "frr_at_far": frr[:, 1:],
        "threshold_at_far": threshold[:, 1:],
    }
    # A pair that was counted in both directions is one independent attempt.
    independent = times * attempts.impostor_attempts / np.where(symmetric, 2, 1)
    values["expected_false_accepts"] = independent[:, None] * wanted.targets
    if symmetric is not None:
        values["impostor_pairs"] = independent.astype(np.int64)
    if wanted.every_score and len(wanted.costs):
        least, threshold = attempts.least_costs(wanted.costs)
        values["min_dcf"] = normalised_cost(least, wanted.costs)
        values |= {"min_cost": least, OF_COSTS: threshold}
    if len(wanted.frr_targets):
        at_frr = attempts.far_at_frr(wanted.frr_targets)
        values["far_at_frr"], values["threshold_at_frr"] = at_frr
    names = [*THRESHOLDS, OF_COSTS, *(x.threshold for x in wanted.optima)]
    thresholds = {name: values[name] for name in names if name in values}
    return error, values | _next_scores(attempts, thresholds)


def _next_scores(
    attempts: AttemptsOfParts, thresholds: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the nearest score that each threshold rejects, as ``NAME_next`` and in its shape.

    Thresholds are (parts,) or (parts, targets). One search finds the scores of all.
    """
    columns = [x.reshape(len(x), -1) for x in thresholds.values()]
    next_scores = attempts.next_scores(np.concatenate(columns, axis=1))
    scores_by_name = {}
    begin = 0
    for name, threshold, columns_of_name in zip(
        thresholds, thresholds.values(), columns, strict=True
    ):
        end = begin + columns_of_name.shape[1]
        scores_by_name[f"{name}_next"] = next_scores[:, begin:end].reshape(threshold.shape)
        begin = end
    return scores_by_name


# ---------------------------------------------------------------------------------------- rules

#: The rules that choose a threshold.
RuleName = Literal["eer", "far", "frr", "cost", "accuracy", "fixed", "none"]

#: How many numbers follow the name of each rule, as a user writes it; ``"hter"`` is a cost.
RULES = {"eer": 0, "far": 1, "frr": 1, "cost": 3, "hter": 0, "accuracy": 0}

_EXPECTED = (
    "expected a number, eer, hter, accuracy, far=X, frr=X, min-dcf=PRIOR or "
    'cost=PRIOR,C_MISS,C_FA, such as 0.6, "far=0.001", "far=0.1%" or "far=1/1000"'
)


#: The words for data on which a threshold is chosen and its errors are counted as well.
SAME_DATA = "the same data, so errors are optimistic (too low)"

#: Rules whose number is the largest rate.
TARGETS = ("far", "frr")

# Names of minDCF, whose threshold is the threshold of least cost.
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

    ``"fixed"`` is a threshold given by the user, ``"none"`` no threshold. The values are the FAR or
    FRR target; prior, c_miss and c_fa; or the threshold, in the user's units.
    """

    name: RuleName
    values: tuple[float, ...] = ()

    def __str__(self) -> str:
        if self.values:
            return f"{self.name}={','.join(map(_exact_text, self.values))}"
        return self.name

    @classmethod
    def written(cls, text: str) -> Rule:
        """Return the rule from a text that :meth:`__str__` wrote, such as a result's attribute."""
        name, _, values = text.partition("=")
        return cls(cast("RuleName", name), tuple(map(float, filter(None, values.split(",")))))

    @classmethod
    def parse(cls, threshold: Any, input_name: str = "threshold") -> Rule:
        """Return the rule that a user gave as `threshold`; `input_name` is its name in messages.

        A number is a given threshold, in the units of the scores. A rule is a text: its name, in
        any case, with its numbers, ``"far=0.001"``; a rate may be written ``0.1%`` or ``1/1000``.
        ``"min-dcf=0.01"`` is ``"cost=0.01,1,1"``: the least cost is at the threshold of minDCF.
        """
        if isinstance(threshold, cls):
            return threshold
        name, texts = _name_and_numbers(threshold, input_name)
        read = rate_in if name in TARGETS else number_in
        try:
            values = tuple(read(x) if isinstance(x, str) else float(x) for x in texts)
        except (ValueError, ArithmeticError):
            raise _refused(threshold, input_name) from None
        if name in TARGETS and not 0 <= values[0] <= 1:
            raise _refused(threshold, input_name, "expected a rate in [0, 1]")
        if name in TARGETS and "%" not in texts[0]:
            warn_of_per_cent(values, name)
        if name == "cost":
            check_costs(values)
        if name == "fixed" and math.isnan(values[0]):
            raise DataError(
                f"{named(input_name)} is NaN; expected a number, in the units of the scores"
            )
        if name == "fixed" and not isinstance(threshold, str):
            as_float64(input_name, threshold)
        if name == "hter":
            return cls("cost", (0.5, 1.0, 1.0))
        return cls(cast("RuleName", name), values)

    def as_distance(self, kind: Kind) -> Rule:
        """Return the rule with its fixed threshold, if any, as a distance."""
        if self.name != "fixed" or kind != "similarity":
            return self
        return replace(self, values=(-self.values[0],))

    @property
    def words(self) -> str:
        """A description of the chosen point."""
        written = {"far": per_cent, "frr": per_cent, "fixed": _exact_text}.get(self.name, float)
        return _POINTS[self.name].format(*map(written, self.values))

    def attrs(self, data: str = SAME_DATA) -> dict[str, str]:
        """Return attributes of a result: the rule, and the `data` on which it chooses."""
        return {
            "threshold_rule": str(self),
            "threshold_rule_in_words": self.words,
            "chosen_on": "given" if self.name == "fixed" else data,
        }


def _name_and_numbers(threshold: Any, input_name: str) -> tuple[str, Sequence[Any]]:
    """Return the name of a rule, and the texts of as many numbers as it needs.

    A number, or its text, is the rule "fixed". Rules of minDCF are returned as costs.
    """
    if not isinstance(threshold, str):
        if is_real(threshold):
            return "fixed", [threshold]
        raise _refused(threshold, input_name)
    if is_number(threshold):
        return "fixed", [threshold]
    name, equals, numbers_text = threshold.partition("=")
    name = name.strip().lower()
    texts = numbers_text.split(",") if equals else []
    if name in _MIN_DCF:
        if not texts:
            raise _refused(threshold, input_name, "expected its prior, such as min-dcf=0.01")
        name = "cost"
        if len(texts) == 1:  # a prior alone: both errors cost 1
            texts = [*texts, "1", "1"]
    if RULES.get(name) != len(texts):
        raise _refused(threshold, input_name)
    return name, texts


def _refused(threshold: Any, input_name: str, expected: str = "") -> DataError:
    """Return the error for a threshold that is no rule; by default, it lists all rules."""
    if not expected:
        expected = _EXPECTED
        if suggestion := nearest_name(str(threshold).partition("=")[0].strip(), RULES):
            expected += f".{suggestion}"
    return DataError(f"{named(input_name)} is {received(threshold)}; {expected}")


def _exact_text(value: float) -> str:
    """Return the text of a number: six digits if they are exact, else as many as it has."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def is_real(value: Any) -> bool:
    """Return whether a value is a real number, or a zero-dimensional array of a real dtype."""
    if getattr(value, "ndim", None) == 0:
        return require_array("threshold", value).dtype.kind in "iuf"
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_number(text: str) -> bool:
    """Return whether a text is a number, and not a rule."""
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class ChosenThreshold:
    """A threshold chosen by a rule, or arrays of thresholds.

    A threshold is NaN if it is not `defined`, for lack of attempts, and if all attempts must be
    rejected but a score is -inf. `next` is the nearest score that the threshold rejects: infinity
    if there is none, NaN if it is unknown, as for a fixed threshold.
    """

    threshold: Any = np.nan
    defined: Any = False
    next: Any = np.nan

    def in_units(self, kind: Kind, name: str = "threshold") -> dict[str, float]:
        """Return the threshold and the next score as variables, in the user's units."""
        return {name: to_user(self.threshold, kind), f"{name}_next": to_user(self.next, kind)}


def choose(rule: Rule, attempts: Attempts | AttemptsOfParts) -> ChosenThreshold:
    """Return the threshold of a rule for a single part; a fixed threshold is a distance."""
    points = attempts.points if isinstance(attempts, Attempts) else attempts
    chosen = choose_of_parts(rule, points)
    return ChosenThreshold(
        float(chosen.threshold[0]), bool(chosen.defined[0]), float(chosen.next[0])
    )


def choose_of_parts(rule: Rule, attempts: AttemptsOfParts) -> ChosenThreshold:
    """Return the thresholds of a rule, arrays (parts,)."""
    parts = len(attempts.defined)
    target = np.array(rule.values)
    if rule.name == "fixed":
        # The next score is unknown: a fixed threshold needs no scores.
        unknown = np.full(parts, np.nan)
        return ChosenThreshold(np.full(parts, target[0]), np.ones(parts, dtype=bool), unknown)
    if rule.name == "none":
        threshold, defined = np.full(parts, np.nan), np.zeros(parts, dtype=bool)
    elif rule.name == "eer":
        error = attempts.equal_error()
        threshold, defined = error.eer_threshold, ~np.isnan(error.eer)
    elif rule.name == "far":
        _, threshold_at_far = attempts.at_far(target)
        threshold, defined = threshold_at_far[:, 0], attempts.defined
    elif rule.name == "frr":
        threshold_at_frr, is_defined_at_frr = attempts.at_frr(target)
        threshold, defined = threshold_at_frr[:, 0], is_defined_at_frr[:, 0]
    else:  # the least cost, or the largest accuracy
        threshold = attempts.corners.threshold[attempts.cheapest(_costs(rule))]
        defined = attempts.defined
    threshold = np.where(defined, threshold, np.nan)
    return ChosenThreshold(threshold, defined, attempts.next_scores(threshold))


def _costs(rule: Rule) -> Sequence[float] | None:
    """Return the costs of a rule of least cost; None if all errors cost the same."""
    return None if rule.name == "accuracy" else rule.values


def no_such_threshold(rule: Rule, attempts: Attempts | AttemptsOfParts) -> str:
    """Return why a rule chooses no threshold on attempts of both classes, of a single part."""
    aim = {"eer": "equal error rates", "frr": rule.words.partition(" with ")[2]}[rule.name]
    missed = int(np.sum(attempts.missed))
    missed_impostors = int(np.sum(attempts.missed_impostors))
    genuine = f"{missed:,} of {int(np.sum(attempts.genuine_attempts)):,}"
    impostor = f"{missed_impostors:,} of {int(np.sum(attempts.impostor_attempts)):,}"
    failed_attempts = f"{genuine} genuine and {impostor} impostor attempts"
    return f"none has {aim}, because none accepts failed attempts ({failed_attempts})"


def cells_of(rule: Rule, attempts: AttemptsOfParts) -> np.ndarray:
    """Return the cells whose impostor scores are needed to choose a threshold, int64 (k,).

    The scores of `attempts`, one part, are the cells of the scores. If all may be rejected, the
    first cell is needed, for scores of -inf.
    """
    if rule.name == "none" or not attempts.defined[0]:
        return np.empty(0, dtype=np.int64)
    if rule.name in ("cost", "accuracy"):
        curve = attempts.corners
        accept, reject = rounded_weights(*attempts.weights_of_errors(_costs(rule)))
        # The costs of the points of a cell are between these two.
        smallest = accept * curve.below + reject * curve.fr
        largest = accept * curve.fa + reject * curve.fr
        cells = curve.threshold[smallest <= largest.min() * (1 + 1e-9)]
    elif rule.name == "frr":
        strictest, is_defined = attempts.at_frr(np.array(rule.values))
        cells = strictest[is_defined]
    else:
        # The threshold may be the largest score of either class before the point. The cell of a
        # genuine score is needed because the threshold is applied to other parts, too, which may
        # have impostor scores in that cell.
        point = attempts.crossing()[0]
        if rule.name == "far":
            point = attempts.far_limits(np.array(rule.values))[0]
        _, genuine_before = attempts.genuine.largest_below(point)
        _, impostor_before = attempts.impostor.largest_below(point)
        cells = np.concatenate([genuine_before, impostor_before, point])
        if np.isnan(genuine_before).all() and np.isnan(impostor_before).all():
            cells = np.append(-np.inf, cells)  # no score is before: all may be rejected
        cells = cells[~np.isnan(cells)]
    return np.maximum(cells, 0).astype(np.int64)

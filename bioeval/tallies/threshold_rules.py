"""Which threshold: a rule, the cells in which its point can lie, and the point itself, exactly.

Thresholds are chosen at the scores of the training part themselves, never on a grid. Everything
here is a distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, nearest_name, subject
from bioeval.tallies.points import (
    EXACT_COSTS,
    Curve,
    allowed_false_accepts,
    check_costs,
    crossed,
    equal_error,
)
from bioeval.tallies.thresholds import edges_of

RULES = ("eer", "far", "cost", "hter", "accuracy", "fixed")

_EXPECTED = (
    "expected eer, accuracy, hter, far=X, cost=PRIOR,C_MISS,C_FA or fixed=T, such as far=0.001"
)


@dataclass(frozen=True)
class Rule:
    """How a threshold is chosen.

    Attributes
    ----------
    name : str
        One of `RULES`, but ``"hter"``, which is a cost.
    values : tuple of float
        The FAR target; prior, c_miss and c_fa; or the threshold, in the user's units.
    """

    name: str
    values: tuple[float, ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.name}={','.join(f'{x:g}' for x in self.values)}" if self.values else self.name
        )

    @property
    def words(self) -> str:
        """What it does, in words."""
        listed = [f"{x:g}" for x in self.values]
        if self.name == "eer":
            return "the equal error rate"
        if self.name == "far":
            return f"the smallest FRR with FAR at most {listed[0]}"
        if self.name == "cost":
            return f"the least cost, prior {listed[0]}, c_miss {listed[1]}, c_fa {listed[2]}"
        if self.name == "accuracy":
            return "the largest accuracy"
        return f"the threshold {listed[0]}"


def parse_rule(threshold: Any, what: str = "threshold") -> Rule:
    """Return the rule that `threshold` names, as a word, a tuple, or a text ``"far=0.001"``.

    `what` is its name in messages.
    """
    name: Any = threshold
    values: tuple[float, ...] = ()
    if isinstance(threshold, str):
        name, equals, rest = threshold.partition("=")
        try:
            values = tuple(float(word) for word in rest.split(",")) if equals else ()
        except ValueError:
            raise DataError(f"{subject(what)} is {threshold!r}; {_EXPECTED}") from None
    elif isinstance(threshold, (tuple, list)) and threshold:
        name, *given = threshold
        try:
            values = tuple(float(x) for x in given)
        except (TypeError, ValueError):
            raise DataError(f"{subject(what)} is {threshold!r}; {_EXPECTED}") from None
    elif isinstance(threshold, Rule):
        return threshold
    if not isinstance(name, str) or name not in RULES:
        near = nearest_name(name, RULES) if isinstance(name, str) else ""
        raise DataError(f"{subject(what)} is {threshold!r}; {_EXPECTED}.{near}")
    expected = {"far": 1, "cost": 3, "fixed": 1}.get(name, 0)
    if len(values) != expected:
        raise DataError(f"{subject(what)} is {threshold!r}; {_EXPECTED}")
    if name == "far" and not 0 <= values[0] <= 1:
        raise DataError(f"{subject(what)} is {threshold!r}; expected a rate in [0, 1]")
    if name == "cost":
        check_costs(values)
    if name == "fixed" and math.isnan(values[0]):
        raise DataError(f"{subject(what)} is NaN; expected a number, in the units of the scores")
    return Rule("cost", (0.5, 1.0, 1.0)) if name == "hter" else Rule(name, values)


@dataclass(frozen=True)
class Cells:
    """Cells ``((k - 1) w, k w]``, ``w = 2 ** exponent``, that cover the whole line.

    The first is open below and the last above. A single cell without an exponent is the line.
    """

    exponent: int = 0
    first: int = 0
    count: int = 1
    edges: np.ndarray = field(init=False, compare=False)

    def __post_init__(self) -> None:
        inner = edges_of(self.first, self.count - 1, self.exponent)
        object.__setattr__(self, "edges", np.append(inner, np.inf))

    def of(self, values: Any) -> Any:
        """Return the cell of each value, counted from the first."""
        return np.searchsorted(self.edges, values, side="left")

    def of_increasing(self, values: np.ndarray) -> np.ndarray:
        """Return the cell of each value, as `of` does, of values that increase."""
        upto = np.searchsorted(values, self.edges, side="right")
        return np.repeat(np.arange(self.count), np.diff(upto, prepend=0))

    def low(self, cell: int) -> float:
        """Return the lower end of a cell, not included (but for -inf)."""
        return float(self.edges[cell - 1]) if cell else -np.inf


WHOLE_LINE = Cells()


@dataclass
class Attempts:
    """The attempts of one part, by class.

    Attributes
    ----------
    genuine : float64 array
        Genuine scores, increasing.
    counts : int64 array
        Impostor scores in each cell.
    cells : Cells
    values, weights : arrays
        The distinct impostor scores in the cells that were looked into, increasing, and how often
        each occurs.
    missed : int
        Genuine attempts that no threshold accepts: in open set those whose mate is not first.
    """

    genuine: np.ndarray
    counts: np.ndarray
    cells: Cells
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    missed: int = 0

    @classmethod
    def listed(cls, genuine: np.ndarray, impostor: np.ndarray, missed: int = 0) -> Attempts:
        """Take scores that are all known."""
        made = cls(
            np.sort(genuine).astype(np.float64),
            np.array([len(impostor)]),
            WHOLE_LINE,
            missed=missed,
        )
        impostor = np.sort(impostor.astype(np.float64))
        made.look_into(impostor, np.ones(len(impostor), dtype=np.int64))
        return made

    def look_into(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Take the impostor scores of the cells that were looked into, in increasing order."""
        if len(values):
            starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
            values, weights = values[starts], np.add.reduceat(weights, starts)
        self.values, self.weights = values, weights

    @property
    def genuine_attempts(self) -> int:
        """How many genuine attempts there are."""
        return len(self.genuine) + self.missed

    @property
    def impostor_attempts(self) -> int:
        """How many impostor attempts there are."""
        return int(self.counts.sum())

    @property
    def defined(self) -> bool:
        """Whether both classes have attempts."""
        return self.genuine_attempts > 0 and self.impostor_attempts > 0

    def false_rejects(self, threshold: Any) -> Any:
        """Return the genuine attempts that are rejected."""
        return self.genuine_attempts - np.searchsorted(self.genuine, threshold, side="right")

    def false_accepts(self, threshold: Any) -> np.ndarray:
        """Return the impostor attempts that are accepted, of thresholds in cells looked into."""
        threshold = np.asarray(threshold, dtype=np.float64)
        before = np.concatenate([[0], np.cumsum(self.counts)])
        taken = np.concatenate([[0], np.cumsum(self.weights)]).astype(np.int64)
        cell = self.cells.of(threshold)
        lows = np.concatenate([[-np.inf], self.cells.edges[:-1]])[cell]
        start = np.where(cell == 0, 0, np.searchsorted(self.values, lows, side="right"))
        return before[cell] + taken[np.searchsorted(self.values, threshold, "right")] - taken[start]


@dataclass(frozen=True)
class Chosen:
    """A threshold that was chosen; NaN where there was nothing to choose it on.

    Attributes
    ----------
    threshold : float
        NaN as well where everything is rejected although a score is -inf.
    defined : bool
        Whether it could be chosen.
    """

    threshold: float = np.nan
    defined: bool = False

    def counts(self, attempts: Attempts) -> tuple[int, int]:
        """Return the false accepts and false rejects among some attempts."""
        if math.isnan(self.threshold):
            return 0, attempts.genuine_attempts
        accepted = attempts.false_accepts(self.threshold)
        return int(accepted), int(attempts.false_rejects(self.threshold))


def wanted_cells(rule: Rule, attempts: Attempts, fixed: float = np.nan) -> np.ndarray:
    """Return which cells must be looked into to choose a threshold, as a boolean array.

    Parameters
    ----------
    rule : Rule
    attempts : Attempts
        Of the training part.
    fixed : float
        The threshold of the rule ``"fixed"``, as a distance.
    """
    cells = attempts.cells
    wanted = np.zeros(cells.count, dtype=bool)
    if rule.name == "fixed":
        wanted[cells.of(fixed)] = True
    elif not attempts.defined:
        pass
    elif rule.name in ("eer", "far"):
        last = _crossing(attempts) if rule.name == "eer" else _past(attempts, rule.values[0])
        filled = np.nonzero(attempts.counts[:last])[0]
        wanted[(filled[-1] if len(filled) else 0) : last + 1] = True
    else:
        wanted[_cheap(rule, attempts)] = True
    return wanted


def _crossing(attempts: Attempts) -> int:
    """Return the first cell at whose upper edge FAR >= FRR."""
    taken = np.cumsum(attempts.counts)
    rejected = attempts.false_rejects(attempts.cells.edges)
    low, high = 0, len(taken) - 1
    while low < high:
        middle = (low + high) // 2
        classes = attempts.genuine_attempts, attempts.impostor_attempts
        if crossed(taken[middle], rejected[middle], *classes):
            high = middle
        else:
            low = middle + 1
    return low


def _past(attempts: Attempts, target: float) -> int:
    """Return the cell of the first false accept that is not allowed; the last cell if all are."""
    allowed = allowed_false_accepts(target, attempts.impostor_attempts)
    past = int(np.searchsorted(np.cumsum(attempts.counts), allowed, side="right"))
    return min(past, attempts.cells.count - 1)


def _cheap(rule: Rule, attempts: Attempts) -> np.ndarray:
    """Return the cells whose points may be the cheapest: those of genuine scores alone can be."""
    marks = _distinct(attempts.genuine)
    cell = attempts.cells.of(marks)
    before = np.concatenate([[0], np.cumsum(attempts.counts)])
    rejected = attempts.false_rejects(marks)
    least = _cost(rule, attempts, before[cell], rejected)
    most = _cost(rule, attempts, before[cell + 1], rejected)
    none = _cost(rule, attempts, 0, attempts.genuine_attempts)
    best = min(float(none), float(most.min(initial=np.inf))) * (1 + 1e-9)
    return np.concatenate([cell[least <= best], [0] if none <= best else []]).astype(np.int64)


def _weights(rule: Rule, attempts: Attempts) -> tuple[Fraction, Fraction]:
    """Return what a false accept and a false reject cost, in units that make them comparable."""
    if rule.name == "accuracy":
        return Fraction(1), Fraction(1)
    prior, miss, accept = map(Fraction, rule.values)
    genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
    return (1 - prior) * accept / impostor, prior * miss / genuine


def _cost(rule: Rule, attempts: Attempts, fa: Any, fr: Any) -> Any:
    per_accept, per_reject = map(float, _weights(rule, attempts))
    return per_accept * np.asarray(fa) + per_reject * np.asarray(fr)


def choose(rule: Rule, attempts: Attempts, wanted: np.ndarray, fixed: float = np.nan) -> Chosen:
    """Return the threshold of a rule.

    Parameters
    ----------
    rule, attempts, fixed
        As for :func:`wanted_cells`.
    wanted : bool array
        What :func:`wanted_cells` gave; the attempts have looked into these cells.
    """
    if rule.name == "fixed":
        return Chosen(fixed, True)
    if not attempts.defined:
        return Chosen()
    curve = _curve(attempts, wanted)
    if rule.name == "eer":
        return Chosen(equal_error(curve).eer_threshold, True)
    if rule.name == "far":
        allowed = allowed_false_accepts(rule.values[0], attempts.impostor_attempts)
        last = int(np.searchsorted(curve.fa, allowed, side="right")) - 1
        return Chosen(float(curve.threshold[last]), True)
    cost = _cost(rule, attempts, curve.fa, curve.fr)
    near = np.nonzero(cost <= cost.min() * (1 + 1e-12))[0]
    best = near[0]
    if cost.min() > 0 and len(near) <= EXACT_COSTS:  # rounding must not choose among equals
        per_accept, per_reject = _weights(rule, attempts)
        exact = [per_accept * int(curve.fa[i]) + per_reject * int(curve.fr[i]) for i in near]
        best = near[exact.index(min(exact))]
    return Chosen(float(curve.threshold[best]), True)


def _distinct(ordered: np.ndarray) -> np.ndarray:
    """Return the distinct values of an increasing array."""
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _curve(attempts: Attempts, wanted: np.ndarray) -> Curve:
    """Return the points in the cells that were looked into, and reject-all where it is one."""
    genuine = attempts.genuine[wanted[attempts.cells.of_increasing(attempts.genuine)]]
    threshold = np.concatenate([attempts.values, genuine])
    threshold.sort(kind="stable")  # two sorted parts are merged
    threshold = _distinct(threshold)
    fa, fr = attempts.false_accepts(threshold), attempts.false_rejects(threshold)
    if wanted[0]:
        lowest = len(threshold) and threshold[0] == -np.inf
        threshold = np.concatenate([[np.nan if lowest else -np.inf], threshold])
        fa, fr = np.append(0, fa), np.append(attempts.genuine_attempts, fr)
    return Curve(threshold, fa, fr, attempts.genuine_attempts, attempts.impostor_attempts)

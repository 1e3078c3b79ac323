"""FAR below what the people support, by a model of the closest impostor distances."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import xarray as xr

from bioeval.base.errors import Argument, DataError
from bioeval.base.kinds import larger_is_closer
from bioeval.base.progress import reported_to, stage
from bioeval.base.random import RandomState
from bioeval.base.scalars import Name
from bioeval.evaluation.assured import require_named_people
from bioeval.evaluation.pairs_of_people import PairShares
from bioeval.results.dataset import about_attrs, build
from bioeval.scores.blocks import Progress
from bioeval.scores.matrix import Scores, require_scores
from bioeval.stats.bootstrap import quantiles
from bioeval.stats.options import REPLICATES, IntervalOptions
from bioeval.tallies.threshold_rules import parse_rule
from bioeval.tallies.thresholds import check_thresholds, require_values, to_internal, to_user

#: The closest impostor attempts that are modelled, as proportions of all impostor attempts.
TAILS = (0.01, 0.03)

#: What the first of them has at least: pairs of templates, and people.
FEWEST_PAIRS, FEWEST_PEOPLE = 50, 10

#: Largest proportion of a tail that is tied, and largest standard error of ln FAR.
MOST_TIED, WIDEST = 0.01, 1.5

#: FAR is extrapolated to this proportion of 1 / m, m the number of independent pairs of people.
DEEPEST = 0.01

LABEL = (
    "extrapolated by a model, not measured: twins, relatives and look-alikes that are rarer than "
    "its tail are not in it"
)

EXTRAPOLATED = {
    "far": Name("FAR by a model, not measured", iso="FMR"),
    "far_low": Name("lower limit of the FAR of a model", iso="FMR"),
    "far_high": Name("upper limit of the FAR of a model", iso="FMR"),
}

# Logarithms of FAR at distances: estimate, lower and upper limit; NaN where refused.
_Model = Callable[[np.ndarray], np.ndarray]

_METRICS = re.compile(r" embeddings, metric (l1|l2|linf|cosine)\b")


@dataclass(frozen=True, eq=False)
class _Closest:
    """The closest impostor attempts, in the order of their distance, with their people.

    In all-against-all the two directions of a pair of templates are half an attempt each.
    """

    shares: PairShares
    distance: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    tied: np.ndarray  # attempts with the distance of others
    attempts: np.ndarray  # of each pair of people

    @classmethod
    def of(cls, scores: Scores, shares: PairShares) -> _Closest:
        low, high, layer, count, attempts = shares.closest()
        order = np.lexsort((high, low, layer))
        low, high, layer, count = (x[order] for x in (low, high, layer, count))
        ways = 2 if scores.layout == "all-against-all" else 1
        # Tied are those that others than the two directions of one pair have.
        ends = np.searchsorted(layer, [layer, layer + 1]) + [[0], [-1]]
        alike = (low[ends[0]] != low[ends[1]]) | (high[ends[0]] != high[ends[1]])
        alike |= np.bincount(layer, count)[layer] > ways
        distance = shares.thresholds[layer]
        count, attempts = count / ways, attempts / ways
        return cls(shares, distance, low, high, count, np.where(alike, count, 0.0), attempts)

    def up_to(self, proportion: float) -> tuple[float, int]:
        """Return the smallest distance with this proportion of attempts, and its entries."""
        reached = np.cumsum(self.count) >= proportion * self.attempts.sum() * (1 - 1e-12)
        if not reached.any():
            return np.inf, len(reached)
        u = float(self.distance[np.argmax(reached)])
        return u, int(np.searchsorted(self.distance, u, side="right"))

    def by_person(self, weight: np.ndarray) -> np.ndarray:
        """Return the sum over the first entries of each person."""
        n, k = len(self.attempts), len(weight)
        return np.bincount(self.low[:k], weight, n) + np.bincount(self.high[:k], weight, n)

    def refusal(self, natural: bool) -> str:
        """Return why nothing can be modelled; empty where something can."""
        if self.shares.reason or not self.attempts.sum():
            return self.shares.reason or "there are no impostor attempts"
        (u, first), (end, last) = map(self.up_to, TAILS)
        if not np.isfinite([u, end, self.distance[0]]).all():
            return "infinite scores are among the closest 3 % of impostor attempts"
        if natural and self.distance[0] <= 0:
            return (
                f"{np.ceil(self.count[self.distance <= 0].sum()):,.0f} pairs of templates of "
                "different people have a distance of 0 or less: copies or wrong labels, which "
                "bioeval check names"
            )
        pairs, people = (
            self.count[:first].sum(),
            np.count_nonzero(self.by_person(self.count[:first])),
        )
        if pairs < FEWEST_PAIRS or people < FEWEST_PEOPLE:
            return (
                f"the closest 1 % are {pairs:,g} pairs of templates of {people} people; at least "
                f"{FEWEST_PAIRS} pairs and {FEWEST_PEOPLE} people are needed"
            )
        tied = max(self.tied[:k].sum() / self.count[:k].sum() for k in (first, last))
        if tied > MOST_TIED:
            return (
                f"{100 * tied:.3g} % of the closest impostors have the same score as another, at "
                f"most {100 * MOST_TIED:g} % may; give scores that are not rounded"
            )
        return ""


def _power_law(closest: _Closest, confidence: float) -> _Model:
    """Return FAR from power laws of both tails, with the jackknife over people."""
    sides = closest.shares.sides
    students = scipy.special.stdtrit(min(map(len, sides)) - 1, (1 + confidence) / 2)
    total, own = closest.attempts.sum(), closest.attempts.sum(axis=0) + closest.attempts.sum(axis=1)
    fits = []
    for u, k in map(closest.up_to, TAILS):
        count = closest.count[:k]
        logs = count * np.log(u / closest.distance[:k])
        fit = np.log(count.sum() / total), count.sum() / logs.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            some = count.sum() - closest.by_person(count)
            level = np.log(some / (total - own))
            slope = some / (logs.sum() - closest.by_person(logs))
            squares = np.zeros((2, 2))
            for side in sides:
                squares += (len(side) - 1) * np.cov(level[side], slope[side], ddof=0)
        fits.append((u, *fit, squares))

    def at(distance: np.ndarray) -> np.ndarray:
        found = []
        for u, level, slope, ((a, b), (_, c)) in fits:
            with np.errstate(divide="ignore", invalid="ignore"):
                away = np.log(np.maximum(distance, 0) / u)
                error = np.sqrt(np.maximum(a + 2 * b * away + c * away**2, 0))
                far = np.where(error <= WIDEST, level + slope * away, np.nan)
            found.append((far, far - students * error, far + students * error))
        (far, low, high), (other, lower, higher) = found
        return np.array([(far + other) / 2, np.minimum(low, lower), np.maximum(high, higher)])

    return at


def _generalised_pareto(
    closest: _Closest, confidence: float, replicates: int, seed: np.random.SeedSequence
) -> _Model:
    """Return an upper limit of FAR: a percentile over the bootstrap of people of tails.

    Hosking and Wallis (1987): with ``a0`` the mean of the exceedances and ``a1`` that of their
    products with the proportion of larger ones, the shape is ``k = a0 / (a0 - 2 a1) - 2`` and the
    scale ``2 a0 a1 / (a0 - 2 a1)``.
    """
    u, last = closest.up_to(TAILS[-1])
    y = u - closest.distance[:last][::-1]  # how much closer than u, increasing
    low, high, count = (x[:last][::-1] for x in (closest.low, closest.high, closest.count))
    weights = closest.shares.weights(replicates, seed).astype(np.float64)
    whole = ((closest.attempts @ weights) * weights).sum(axis=0)
    fits = np.empty((3, replicates))
    with np.errstate(divide="ignore", invalid="ignore"):
        for b, w in enumerate(weights.T):
            copies = count * w[low] * w[high]
            number = copies.sum()
            larger = number - np.cumsum(copies) + (copies - 1) / 2
            a0, a1 = copies @ y / number, (copies * larger) @ y / (number * (number - 1))
            fits[:, b] = number / whole[b], a0 / (a0 - 2 * a1) - 2, 2 * a0 * a1 / (a0 - 2 * a1)
    rate, shape, scale = fits

    def at(distance: np.ndarray) -> np.ndarray:
        z = (u - distance)[:, None] / scale
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.where(shape == 0, -z, np.log1p(np.maximum(-shape * z, -1)) / shape)
            # A replicate without a fit has no tail that falls off.
            drawn = np.where(rate == 0, 0.0, rate * np.exp(np.where(np.isfinite(z), log, 0.0)))
            high = np.log(quantiles(drawn, np.full(len(drawn), (1 + confidence) / 2)))
        unknown = np.full(len(high), np.nan)
        return np.array([unknown, unknown, np.where(np.isfinite(high), high, np.nan)])

    return at


def _loosest(model: _Model, closest: _Closest, target: float, natural: bool) -> float:
    """Return the loosest distance whose upper limit is at most a target; NaN if none is."""
    u = closest.up_to(TAILS[-1])[0]
    span = u if natural else u - closest.distance[0]

    def within(steps: np.ndarray) -> np.ndarray:
        return model(_at(steps))[2] <= np.log(target)

    def _at(steps: np.ndarray) -> np.ndarray:
        return u * np.exp(-steps) if natural else u - span * np.expm1(steps)

    steps = np.linspace(0, 40 if natural else 8, 4001)
    found = within(steps)
    if not found.any():
        return np.nan
    first = int(np.argmax(found))
    outside, inside = steps[max(first - 1, 0)], steps[first]
    for _ in range(60):
        middle = (outside + inside) / 2
        outside, inside = (outside, middle) if within(np.array([middle]))[0] else (middle, inside)
    return float(_at(np.array([inside]))[0])


@stage("extrapolated FAR")
def extrapolate_far(
    scores: Scores,
    thresholds: Any,
    *,
    confidence: float = 0.95,
    zero: bool | None = None,
    templates: str = "single",
    fusion: str = "min",
    new_gallery: bool = False,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Estimate FAR below what the people support, by a model of the closest impostors.

    The number is a model's, never a measured rate: twins, relatives and look-alikes that are rarer
    than the tail are not in it.

    Parameters
    ----------
    scores : Scores
        With people: a matrix with labels, or a list whose lines name people.
    thresholds : float, increasing array of shape (k,), or rule
        ``"far=1e-4"`` finds the loosest threshold whose upper limit is at most this.
    confidence : float
        Of the interval from ``far_low`` to ``far_high``.
    zero : bool, optional
        Whether the scores are distances with a natural zero, which only equal templates reach.
        None: those computed from embeddings by l1, l2, linf or cosine are.
    templates, fusion
        As for :func:`bioeval.verification`.
    new_gallery : bool
        As for :func:`study_threshold`.
    replicates, random_state
        Of the bootstrap over people, for scores without a zero.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        ``far far_low far_high`` over ``threshold``, float64 proportions of impostor attempts;
        without a zero ``far_high`` alone. A refusal is NaN, with the attribute ``reason``.

    Raises
    ------
    DataError
        Bad options; scores whose people are not known; similarities with ``zero=True``.

    Notes
    -----
    With a zero: ``u`` is the smallest distance with 1 % (and with 3 %) of the impostor attempts,
    ``R`` the FAR there, ``a = K / sum ln(u / d)`` over the ``K`` distances up to it (Hill 1975,
    *Annals of Statistics* 3, 1163-1174), and ``FAR(t) = R (t / u)^a``, with limits ``FAR(t) exp(-+
    q s)``: ``s`` the jackknife standard error of ``ln FAR(t)`` over people, ``q`` Student's
    quantile. ``far`` is the geometric mean of both tails, the limits are the outer ones. Otherwise:
    a generalised Pareto tail of the closest 3 % (Hosking and Wallis 1987, *Technometrics* 29,
    339-349), and the percentile ``(1 + confidence) / 2`` over people.

    What is refused, how often the limits held, and how this departs from ISO/IEC 5152:2024, which
    is about such models: ``docs/uncertainty.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate_embeddings(60, 4, random_state=1).scores("l2")
    >>> found = be.extrapolate_far(scores, "far=0.001")
    >>> found.far_high.values.round(6), bool((found.far < found.far_high).all())
    (array([0.001]), True)
    """
    require_scores(scores)
    require_values(scores, "an extrapolated FAR")
    require_named_people(scores, "an extrapolated FAR")
    natural = _has_zero(scores, zero)
    target, distances = _wanted(thresholds, scores.kind)
    options = IntervalOptions.parse("subject-bootstrap", confidence, replicates, random_state)
    assert options is not None
    with reported_to(progress):
        shares = PairShares(
            scores, TAILS[-1], templates=templates, fusion=fusion, new_gallery=new_gallery
        )
    closest = _Closest.of(scores, shares)
    reason = closest.refusal(natural)
    if not reason and target is not None:
        reason = _out_of_reach(target, shares)
    logs = np.full((3, len(distances)), np.nan)
    if not reason:
        if natural:
            model = _power_law(closest, options.confidence)
        else:
            model = _generalised_pareto(closest, options.confidence, replicates, options.seed)
        if target is not None:
            distances = np.array([_loosest(model, closest, target, natural)])
        logs = model(distances)
        reason = _withhold(logs, distances, closest, natural)
    if larger_is_closer(scores.kind):
        distances, logs = distances[::-1], logs[:, ::-1]
    far, low, high = np.minimum(np.exp(logs), 1.0)
    over = ("threshold",)
    variables = {"far": (over, far), "far_low": (over, low), "far_high": (over, high)}
    attrs = about_attrs(shares.about, f"extrapolated FAR, {templates}-template", [LABEL])
    attrs |= {
        "model": "power laws from zero of the closest 1 % and 3 % of impostor attempts"
        if natural
        else "generalised Pareto tail of the closest 3 % of impostor attempts: upper limit alone",
        "confidence": options.confidence,
        "independent_pairs": shares.independent,
        "reason": reason,
    }
    return build(variables, EXTRAPOLATED, {"threshold": to_user(distances, scores.kind)}, attrs)


def _has_zero(scores: Scores, zero: bool | None) -> bool:
    """Whether the scores are distances with a natural zero."""
    if zero is None:
        made = not scores.is_derived and _METRICS.search(scores.origin)
        return scores.kind == "distance" and bool(made)
    if not isinstance(zero, bool):
        raise DataError(f"{Argument('zero')} is {zero!r}; expected True, False or None")
    if zero and scores.kind != "distance":
        raise DataError(
            f"{Argument('zero')} is True, but these scores are of kind {scores.kind}; only "
            "distances have a natural zero"
        )
    return zero


def _wanted(thresholds: Any, kind: str) -> tuple[float | None, np.ndarray]:
    """Return a FAR target, or None and increasing distances."""
    if isinstance(thresholds, str) or (isinstance(thresholds, tuple) and "far" in thresholds):
        rule = parse_rule(thresholds, "thresholds")
        if rule.name != "far" or not 0 < rule.values[0] < 1:
            raise DataError(f"{Argument('thresholds')} is {rule}; expected a FAR above 0, below 1")
        return rule.values[0], np.array([np.nan])
    number = isinstance(thresholds, (int, np.integer)) and not isinstance(thresholds, bool)
    given = check_thresholds(float(thresholds) if number else thresholds)
    if not isinstance(given, np.ndarray):
        raise DataError(f"{Argument('thresholds')} is {thresholds!r}; give one or several numbers")
    return None, to_internal(given, kind)


def _out_of_reach(target: float, shares: PairShares) -> str:
    """Return why a target is not extrapolated to; empty where it is."""
    if target >= TAILS[-1]:
        return f"FAR {100 * target:g} % is measured, not extrapolated: leave out the extrapolation"
    least = DEEPEST / max(shares.independent, 1)
    if target < least * (1 - 1e-12):
        return (
            f"FAR {100 * target:g} % is below {100 * least:.3g} %, a hundredth of what the "
            f"{shares.independent:,} independent pairs of people support; "
            f"{int(np.ceil(DEEPEST / target - 1e-9)):,} independent pairs are needed"
        )
    return ""


def _withhold(logs: np.ndarray, distances: np.ndarray, closest: _Closest, natural: bool) -> str:
    """Set refused thresholds to NaN, and return the reasons."""
    least = np.log(DEEPEST / max(closest.shares.independent, 1))
    above, below = distances > closest.up_to(TAILS[-1])[0], (distances <= 0) & natural
    wide = np.isnan(logs[2]) & ~above & ~below
    deep = logs[2] < least - 1e-12
    spread = f"the standard error of ln FAR over people is above {WIDEST:g}"
    reasons = {
        "looser than the closest 3 % of impostor attempts, where FAR is measured": above,
        "a distance of 0 or less": below,
        spread if natural else "the model ends before the threshold, with FAR 0": wide,
        "even the upper limit is below a hundredth of what the people support": deep & ~above,
    }
    logs[:, above | below | wide | deep] = np.nan
    n = len(distances)
    return "; ".join(
        f"{words} ({x.sum()} of {n} thresholds)" for words, x in reasons.items() if x.any()
    )

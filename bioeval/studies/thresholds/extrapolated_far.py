"""FAR below what the people support, by a model of the closest impostor distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
import xarray as xr

from bioeval import DataError, Scores
from bioeval.base import (
    Argument,
    Name,
    RandomState,
    Words,
    larger_is_closer,
    received,
    reported_to,
    stage,
)
from bioeval.document import Message
from bioeval.results import about_attrs, build
from bioeval.scores import FusionRule, Progress, leaves_out_attacks, require_scores
from bioeval.stats import IntervalOptions, quantiles
from bioeval.studies.assurance.assured import require_named_people
from bioeval.studies.assurance.pairs_of_people import PairShares
from bioeval.tallies import Rule, Templates, check_thresholds, require_values, to_internal, to_user

#: Closest impostors that are modelled, as proportions; pairs of templates and people of the first.
TAILS, FEWEST_PAIRS, FEWEST_PEOPLE = (0.01, 0.03), 50, 10

#: Most of a tail that is tied, largest standard error of ln FAR, smallest FAR as a part of 1 / m.
MOST_TIED, WIDEST, DEEPEST = 0.01, 1.5, 0.01

EXTRAPOLATED = {
    f"far{end}": Name(f"{words}FAR by a model, not measured", iso="FMR")
    for end, words in (("", ""), ("_low", "lower limit of the "), ("_high", "upper limit of the "))
}

#: What is drawn over thresholds: the model where it holds, and what was measured there.
DRAWN = {
    "model_threshold": Name("thresholds of the closest impostors, and below them", "score"),
    **{f"model_{name}": entry for name, entry in EXTRAPOLATED.items()},
    "measured_far": Name("FAR measured there, of all impostor attempts", iso="FMR"),
}

# Number of thresholds that are drawn.
_POINTS = 64

# Logarithms of FAR at distances: estimate, lower and upper limit; NaN where refused.
_Model = Callable[[np.ndarray], np.ndarray]

_METRICS = ("l1", "l2", "linf", "cosine")


class _Closest:
    """The closest impostors by distance; both directions of a pair of templates are half each."""

    def __init__(self, scores: Scores, shares: PairShares):
        """Take the distances up to the wider tail, with the people and attempts of each."""
        self.shares = shares
        self.ways = ways = 2 if scores.layout == "all-against-all" else 1
        low, high, layer, count, self.attempts = shares.closest()
        order = np.lexsort((high, low, layer))
        self.low = low = low[order]
        self.high = high = high[order]
        self.distance, self.count = shares.thresholds[layer[order]], count[order] / ways
        self.total = self.attempts.sum() / ways
        self.attempts_of_person = (self.attempts.sum(axis=0) + self.attempts.sum(axis=1)) / ways
        # Tied with others than the other direction of the same pair of templates.
        a, b = np.searchsorted(layer, [layer, layer + 1]) + [[0], [-1]]
        tied = (low[a] != low[b]) | (high[a] != high[b]) | (np.bincount(layer, count)[layer] > ways)
        self.tied = np.where(tied, self.count, 0.0)

    def up_to(self, proportion: float) -> tuple[float, int]:
        """Return the smallest distance with this proportion of attempts, and its entries."""
        reached = np.append(np.cumsum(self.count) >= proportion * self.total * (1 - 1e-12), True)
        u = float(np.append(self.distance, np.inf)[np.argmax(reached)])
        return u, int(np.searchsorted(self.distance, u, side="right"))

    def by_person(self, weight: np.ndarray) -> np.ndarray:
        """Return the sum over the first entries of each person."""
        n, k = len(self.attempts_of_person), len(weight)
        return np.bincount(self.low[:k], weight, n) + np.bincount(self.high[:k], weight, n)

    def refusal(self, natural: bool) -> Message | None:
        """Return why nothing can be modelled; None where something can."""
        if self.shares.refusal is not None:
            return self.shares.refusal
        if self.shares.fewest is not None:
            return Message("people-on-both-sides")
        if not self.total:
            return Message("no-impostor-attempts")
        (u, first), (end, last) = map(self.up_to, TAILS)
        if not np.isfinite([u, end, self.distance[0]]).all():
            return Message("infinite-closest-impostors", tail=TAILS[-1])
        zero = np.ceil(self.count[self.distance <= 0].sum())
        if natural and zero:
            return Message("impostors-at-zero", pairs=int(zero))
        tail = self.count[:first]
        pairs, people = tail.sum(), np.count_nonzero(self.by_person(tail))
        if pairs < FEWEST_PAIRS or people < FEWEST_PEOPLE:
            return Message(
                "tail-too-small",
                tail=TAILS[0],
                pairs=int(pairs),
                people=int(people),
                pairs_needed=FEWEST_PAIRS,
                people_needed=FEWEST_PEOPLE,
            )
        tied = max(self.tied[:k].sum() / self.count[:k].sum() for k in (first, last))
        if tied > MOST_TIED:
            return Message("closest-impostors-tied", tied=float(tied), most=MOST_TIED)
        return None


def _power_law(closest: _Closest, options: IntervalOptions) -> _Model:
    """Return FAR from power laws of both tails, with the jackknife over people."""
    sides = closest.shares.sides
    students = scipy.special.stdtrit(min(map(len, sides)) - 1, (1 + options.confidence) / 2)
    fits = []
    for u, k in map(closest.up_to, TAILS):
        count = closest.count[:k]
        logs = count * np.log(u / closest.distance[:k])
        fit = np.log(count.sum() / closest.total), count.sum() / logs.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            some = count.sum() - closest.by_person(count)
            level = np.log(some / (closest.total - closest.attempts_of_person))
            slope = some / (logs.sum() - closest.by_person(logs))
            squares = np.zeros((2, 2))
            for side in sides:
                squares += (len(side) - 1) * np.cov(level[side], slope[side], ddof=0)
        fits.append((u, *fit, squares))

    def at(distance: np.ndarray) -> np.ndarray:
        """Return the mean of both tails at some distances, and their outer limits."""
        tails = []
        for u, level, slope, ((a, b), (_, c)) in fits:
            with np.errstate(divide="ignore", invalid="ignore"):
                away = np.log(np.maximum(distance, 0) / u)
                error = np.sqrt(np.maximum(a + 2 * b * away + c * away**2, 0))
                far = np.where(error <= WIDEST, level + slope * away, np.nan)
            tails.append((far, far - students * error, far + students * error))
        (far, low, high), (other, lower, higher) = tails
        return np.array([(far + other) / 2, np.minimum(low, lower), np.maximum(high, higher)])

    return at


def _generalised_pareto(closest: _Closest, options: IntervalOptions) -> _Model:
    """Return an upper limit of FAR: a percentile of tails over the bootstrap of people.

    The moments: ``a0``, the mean exceedance, and ``a1``, that of the smaller of two, halved.
    """
    u, last = closest.up_to(TAILS[-1])
    y = u - closest.distance[:last][::-1]  # how much closer than u, increasing
    low = closest.low[:last][::-1]
    high = closest.high[:last][::-1]
    count = closest.count[:last][::-1]
    weights = closest.shares.weights(options.replicates, options.seed).astype(np.float64)
    whole = ((closest.attempts @ weights) * weights).sum(axis=0) / closest.ways
    rate, shape, scale = fits = np.empty((3, options.replicates))
    with np.errstate(divide="ignore", invalid="ignore"):
        for b, w in enumerate(weights.T):
            copies = count * w[low] * w[high]
            number = copies.sum()
            larger = number - np.cumsum(copies) + (copies - 1) / 2
            a0, a1 = copies @ y / number, (copies * larger) @ y / (number * (number - 1))
            fits[:, b] = number / whole[b], a0 / (a0 - 2 * a1) - 2, 2 * a0 * a1 / (a0 - 2 * a1)

    def at(distance: np.ndarray) -> np.ndarray:
        """Return the upper limit at some distances; the rest is NaN."""
        z = (u - distance)[:, None] / scale
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.where(shape == 0, -z, np.log1p(np.maximum(-shape * z, -1)) / shape)
            # A replicate without a fit has no tail that falls off.
            drawn = np.where(rate == 0, 0.0, rate * np.exp(np.where(np.isfinite(z), log, 0.0)))
            high = np.log(quantiles(drawn, np.full(len(drawn), (1 + options.confidence) / 2)))
        return np.array([high * np.nan, high * np.nan, np.where(np.isfinite(high), high, np.nan)])

    return at


def _loosest(model: _Model, closest: _Closest, target: float, natural: bool) -> np.ndarray:
    """Return the loosest distance whose upper limit is at most a target; NaN if none is."""
    u = closest.up_to(TAILS[-1])[0]

    def place(step: Any) -> np.ndarray:
        step = np.atleast_1d(step)
        if natural:
            return u * np.exp(-step)
        return u - (u - closest.distance[0]) * np.expm1(step)

    steps = np.linspace(0, 40 if natural else 8, 2001)
    kept = model(place(steps))[2] <= np.log(target)
    first = int(np.argmax(kept))
    outside, inside = steps[max(first - 1, 0)], steps[first]
    for _ in range(60):
        middle = (outside + inside) / 2
        within = model(place(middle))[2, 0] <= np.log(target)
        if within:
            inside = middle
        else:
            outside = middle
    if kept.any():
        return place(inside)
    return np.array([np.nan])


@leaves_out_attacks
@stage("extrapolated FAR")
def extrapolate_far(
    scores: Scores,
    thresholds: Any,
    *,
    confidence: float = 0.95,
    zero: bool | None = None,
    templates: Templates = "single",
    fusion: FusionRule = "min",
    new_gallery: bool = False,
    replicates: int = IntervalOptions.REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Estimate FAR below what the people support, by a model of the closest impostors.

    Twins, relatives and look-alikes that are rarer than the tail are not in the model.

    Parameters
    ----------
    scores : Scores
        With people.
    thresholds : float, increasing array of shape (k,), or rule
        ``"far=1e-4"`` finds the loosest threshold whose upper limit is at most this.
    confidence : float
        Of the interval from ``far_low`` to ``far_high``.
    zero : bool, optional
        Whether the scores are distances with a natural zero, which only equal templates reach.
        None: those computed from embeddings by l1, l2, linf or cosine are.
    templates, fusion, new_gallery
        As for :func:`study_threshold`.
    replicates, random_state
        Of the bootstrap over people, for scores without a zero.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        ``far far_low far_high`` over ``threshold``, float64 proportions of impostor attempts;
        without a zero ``far_high`` alone. A refusal is NaN, and :func:`messages` says why. To be
        drawn, over ``model``: ``model_threshold``, from the closest 3 % of impostors down, with
        ``model_far``, ``model_far_low``, ``model_far_high``, and with ``measured_far``.

    Raises
    ------
    DataError
        Bad options, or scores whose people are not known.

    Notes
    -----
    With a zero: ``u`` is the smallest distance with 1 % (and with 3 %) of the impostor attempts,
    ``R`` the FAR there, ``a = K / sum ln(u / d)`` over the ``K`` distances up to it (Hill 1975,
    *Annals of Statistics* 3), and ``FAR(t) = R (t / u)^a``, with limits ``FAR(t) exp(-+ q s)``:
    ``s`` the jackknife standard error of ``ln FAR(t)`` over people, ``q`` Student's quantile.
    ``far`` is the geometric mean of both tails, the limits are the outer ones. Otherwise: a
    generalised Pareto tail of the closest 3 % (Hosking and Wallis 1987, *Technometrics* 29), and
    the percentile ``(1 + confidence) / 2`` over people. Refusals, coverage, and departures from
    ISO/IEC 5152:2024, which is about such models: ``docs/uncertainty.md``.

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
    natural, (target, distances) = _has_zero(scores, zero), _wanted(thresholds, scores.kind)
    options = IntervalOptions.parse("subject-bootstrap", confidence, replicates, random_state)
    assert options is not None
    with reported_to(progress):
        shares = PairShares(
            scores, TAILS[-1], templates=templates, fusion=fusion, new_gallery=new_gallery
        )
    closest = _Closest(scores, shares)
    refusal = closest.refusal(natural) or _out_of_reach(target, shares)
    refused = [refusal] if refusal is not None else []
    logs, drawn = np.full((3, len(distances)), np.nan), np.empty((5, 0))
    if not refused:
        model = (_power_law if natural else _generalised_pareto)(closest, options)
        if target:
            distances = _loosest(model, closest, target, natural)
        logs, drawn = model(distances), _drawn(model, closest, natural)
        refused = _withhold(logs, distances, closest, natural)
        if np.isnan(distances).any():
            refused = [Message("no-threshold-below-target", target=target)]
    if larger_is_closer(scores.kind):
        distances, logs, drawn = distances[::-1], logs[:, ::-1], drawn[:, ::-1]
    rates = np.minimum(np.exp(logs), 1.0)
    variables = {x: (("threshold",), rate) for x, rate in zip(EXTRAPOLATED, rates, strict=True)}
    curves = to_user(drawn[0], scores.kind), *drawn[1:]
    variables |= {name: (("model",), x) for name, x in zip(DRAWN, curves, strict=True)}
    messages = [Message("extrapolated"), *refused]
    attrs = about_attrs(
        shares.about, "extrapolated-far", f"extrapolated FAR, {templates}-template", messages
    )
    by = "generalised Pareto tail of the closest 3 % of impostor attempts: upper limit alone"
    if natural:
        by = "power laws from zero of the closest 1 % and 3 % of impostor attempts"
    attrs |= {"model": by, "confidence": options.confidence}
    attrs["independent_pairs"] = shares.independent
    names = {**EXTRAPOLATED, **DRAWN}
    return build(variables, names, {"threshold": to_user(distances, scores.kind)}, attrs)


def _drawn(model: _Model, closest: _Closest, natural: bool) -> np.ndarray:
    """Return increasing distances from where the model ends to 3 %, its FAR, and the measured one.

    It ends where its upper limit is a hundredth of what the people support.
    """
    u = closest.up_to(TAILS[-1])[0]
    least = DEEPEST / max(closest.shares.independent, 1)
    (end,) = _loosest(model, closest, least, natural)
    if np.isnan(end):
        end = closest.distance[0]
    at = (np.geomspace if natural else np.linspace)(end, u, _POINTS)
    logs = model(at)
    _withhold(logs, at, closest, natural)
    reached = np.append(0.0, np.cumsum(closest.count)) / closest.total
    measured = reached[np.searchsorted(closest.distance, at, side="right")]
    return np.array([at, *np.minimum(np.exp(logs), 1.0), measured])


def _has_zero(scores: Scores, zero: bool | None) -> bool:
    """Whether the scores are distances with a natural zero."""
    if zero is None:
        computed = scores._metric in _METRICS and not scores._is_derived
        return scores.kind == "distance" and computed
    if zero is False or (zero is True and scores.kind == "distance"):
        return zero
    message = Words(Argument("zero"), f" is {received(zero)}, of scores of kind {scores.kind}")
    raise DataError(message, "; expected True, of distances alone, False or None")


def _wanted(thresholds: Any, kind: str) -> tuple[float | None, np.ndarray]:
    """Return a FAR target, or None and increasing distances."""
    if isinstance(thresholds, str) or (isinstance(thresholds, tuple) and "far" in thresholds):
        rule = Rule.parse(thresholds, "thresholds")
        if rule.name != "far" or not 0 < rule.values[0] < 1:
            raise DataError(Argument("thresholds"), f" is {rule}; expected a FAR above 0, below 1")
        return rule.values[0], np.array([np.nan])
    number = isinstance(thresholds, (int, np.integer)) and not isinstance(thresholds, bool)
    if number:
        thresholds = float(thresholds)
    given_thresholds = check_thresholds(thresholds)
    if not isinstance(given_thresholds, np.ndarray):
        raise DataError(
            Argument("thresholds"), f" is {received(thresholds)}; give one or several numbers"
        )
    return None, to_internal(given_thresholds, kind)


def _out_of_reach(target: float | None, shares: PairShares) -> Message | None:
    """Return why a target is not extrapolated to; None where it is."""
    least = DEEPEST / max(shares.independent, 1)
    if target is None or least * (1 - 1e-12) <= target < TAILS[-1]:
        return None
    if target >= TAILS[-1]:
        return Message("far-is-measured", target=target)
    needed = int(np.ceil(DEEPEST / target - 1e-9))
    if not shares.fixed_gallery:
        needed *= 2
    return Message("too-deep-to-extrapolate", target=target, least=least, people=needed)


def _withhold(
    logs: np.ndarray, distances: np.ndarray, closest: _Closest, natural: bool
) -> list[Message]:
    """Set refused thresholds to NaN, and return the reasons."""
    above, below = distances > closest.up_to(TAILS[-1])[0], (distances <= 0) & natural
    deep = logs[2] < np.log(DEEPEST / max(closest.shares.independent, 1)) - 1e-12
    none = np.isnan(logs[2]) & ~above & ~below
    messages = []
    more: dict[str, Any]
    for code, refused, more in (
        ("looser-than-the-tail", above, {"tail": TAILS[-1]}),
        ("thresholds-at-zero", below, {}),
        ("model-too-uncertain", none & natural, {"most": WIDEST}),
        ("model-without-errors", none & (not natural), {}),
        ("limit-too-deep", deep, {}),
    ):
        logs[:, refused] = np.nan
        if refused.any():
            more |= {"refused": int(refused.sum()), "thresholds": len(distances)}
            messages.append(Message(code, **more))
    return messages

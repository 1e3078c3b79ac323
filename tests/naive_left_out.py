"""Slow twin of intervals for new people: each person is taken out of the matrix, and all is counted
again from the definitions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import naive
import naive_few_errors
import scipy


def without(case: dict[str, Any], person: Any) -> dict[str, Any]:
    """Return the arguments of an all-against-all twin without the templates of a person."""
    labels = case["probe_labels"]
    kept = [i for i, label in enumerate(labels) if label != person]
    out = dict(case, probe_labels=[labels[i] for i in kept])
    for name in ("values", "mask"):
        if case[name] is not None:
            out[name] = [[case[name][i][j] for j in kept] for i in kept]
    return out


def of_each(case: dict[str, Any], evaluate: Any) -> list[Any]:
    """Return what is evaluated without each person in turn."""
    return [evaluate(without(case, person)) for person in dict.fromkeys(case["probe_labels"])]


def limits(
    rate: Any, others: Sequence[Any], trials: int, confidence: float = 0.95
) -> tuple[float, float]:
    """The jackknife on the logit scale, from the rate and the rates without each person."""
    n, same = len(others), len(set(others)) == 1
    rate, others = float(rate), [float(x) for x in others]
    if n < 3 or any(map(math.isnan, [rate, *others])):
        return math.nan, math.nan
    bound = 1 - (1 - confidence) ** (1 / trials)
    if rate < 1e-12:
        return 0.0, bound
    if rate > 1 - 1e-12:
        return 1 - bound, 1.0
    if same:
        return max(0.0, rate - bound), min(1.0, rate + bound)
    mean = sum(others) / n
    error = math.sqrt((n - 1) / n * sum((x - mean) ** 2 for x in others))
    half = float(scipy.stats.t.ppf((1 + confidence) / 2, n - 1)) * error / (rate * (1 - rate))
    middle = math.log(rate / (1 - rate))
    return tuple(
        1 / (1 + math.exp(-min(max(x, -700), 700))) for x in (middle - half, middle + half)
    )


def far_limits(
    rate: Any, others: Sequence[Any], trials: int, confidence: float = 0.95
) -> tuple[float, float]:
    """The jackknife of FAR, by the logits of the rates without each person.

    Where these are not all between 0 and 1, it is as wide as if one of the trials had erred, too.
    """
    low, high = limits(rate, others, trials, confidence)
    n = len(others)
    if math.isnan(low) or len(set(others)) == 1 or not 1e-12 < float(rate) < 1 - 1e-12:
        return low, high
    others = [float(x) for x in others]
    if min(others) > 0 and max(others) < 1:
        logits = [math.log(x / (1 - x)) for x in others]
        mean = sum(logits) / n
        error = math.sqrt((n - 1) / n * sum((x - mean) ** 2 for x in logits))
        half = float(scipy.stats.t.ppf((1 + confidence) / 2, n - 1)) * error
        middle = math.log(float(rate) / (1 - float(rate)))
        return 1 / (1 + math.exp(half - middle)), 1 / (1 + math.exp(-half - middle))
    one = naive_few_errors.clopper_pearson(1 / trials, trials, confidence)[1]
    if min(others) == 0:
        high = max(high, one)
    if max(others) == 1:
        low = min(low, 1 - one)
    return low, high


def at_least(
    ends: Sequence[tuple[float, float]], alone: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Raise upper limits along a curve of FAR to those `alone`, and to the ones before."""
    raised, most = [], 0.0
    for (low, high), (_, other) in zip(ends, alone, strict=True):
        if not math.isnan(high):
            most = high = max(most, high, other)
        raised.append((low, high))
    return raised


def joined(
    case: dict[str, Any],
    options: dict[str, Any],
    trials: int,
    points: Sequence[tuple[Any, tuple[float, float]]],
    rank: int | None = None,
    along: str = "distance",
) -> list[tuple[float, float]]:
    """The limits of FAR, or of DIR at a rank, or of CMS (`along` ranks) where few people err too.

    The points are of increasing distance (or rank), each with its limits by the jackknife.
    """
    if any(math.isnan(x) for _, ends in points for x in ends):
        return [ends for _, ends in points]
    hits: dict[Any, list[tuple[float, float]]] = {}
    attempts: dict[Any, float] = {}
    found = naive.ranked(naive.read(**case), options["unit"], options["fusion"], options["ties"])
    for r, person in zip(found, case["probe_labels"], strict=True):
        place = r.nearest_other if rank is None and along == "distance" else r.best_mate
        if place is None:
            continue
        attempts[person] = attempts.get(person, 0) + 1
        of = hits.setdefault(person, [])
        if along == "rank":
            ranks = r.rank if isinstance(r.rank, dict) else {r.rank: 1}
            of += [(float(k), float(x)) for k, x in ranks.items()]
        else:
            of.append((float(place), 1.0 if rank is None else float(naive.within(r.rank, rank))))
    return naive_few_errors.limits_along(
        hits, attempts, trials, [(float(t), *ends) for t, ends in points],
        proportion=trials / max(len(attempts), 1),
    )  # fmt: skip


def trials(case: dict[str, Any], options: dict[str, Any]) -> tuple[int, int]:
    """People with a genuine attempt, and disjoint pairs of people with impostor attempts."""
    data = naive.read(**case)
    found = naive.ranked(data, options["unit"], options["fusion"], options["ties"])
    both = list(zip(found, case["probe_labels"], strict=True))
    genuine = {person for r, person in both if r.rank is not None}
    impostor = {person for r, person in both if r.nearest_other is not None}
    return len(genuine), min(len(impostor), len(set(case["probe_labels"])) // 2)


def dir_at_far(
    case: dict[str, Any], target: float, rank: int, options: dict[str, Any]
) -> tuple[float, float]:
    """Limits of DIR at a FAR target, of distances.

    State ``j`` accepts the impostors up to the ``j``-th of their distances; a mate is found in it
    if it is below the next. The threshold is uncertain from the state below the lower limit of FAR
    to that above the upper one.
    """
    data = naive.read(**case)
    _, nearest, _ = naive.roles(data, options["unit"], options["fusion"], options["ties"], "auto")
    if not nearest:
        return math.nan, math.nan
    ends = sorted(set(nearest))
    strict = [math.nextafter(ends[0], -math.inf), *ends]
    loose = [*(math.nextafter(x, -math.inf) for x in ends), math.inf]
    people, pairs = trials(case, options)

    def rates(part: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        given = {**part, **options, "max_rank": rank}
        found = naive.open_set(**given, thresholds=loose)
        return naive.open_set(**given, thresholds=strict).far, [x[-1] for x in found.dir]

    far, dir_ = rates(case)
    apart = of_each(case, rates)
    alone = [far_limits(x, [a[0][j] for a in apart], pairs) for j, x in enumerate(far)]
    dir_limits = [limits(x, [a[1][j] for a in apart], people) for j, x in enumerate(dir_)]
    of_far = joined(case, options, pairs, list(zip(strict, alone, strict=True)))
    of_far = at_least(of_far, alone)
    dir_limits = joined(case, options, people, list(zip(loose, dir_limits, strict=True)), rank)
    if any(math.isnan(x) for pair in (*of_far, *dir_limits) for x in pair):
        return math.nan, math.nan

    def state(x: float) -> int:
        return max(j for j, rate in enumerate(far) if naive.at_most(rate, x))

    chosen = state(target)
    first = state(of_far[chosen][0]) - 1
    last = min(state(max(of_far[chosen][1], target)) + 1, len(far) - 1)
    value = float(dir_[chosen])
    below = value - (float(dir_[first]) if first >= 0 else 0.0)
    above = float(dir_[last]) - value
    low, high = dir_limits[chosen]
    return (
        max(0.0, value - math.hypot(below, value - low)),
        min(1.0, value + math.hypot(above, high - value)),
    )

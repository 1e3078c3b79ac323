"""``be.fuse``: one score of each comparison, from the scores of several systems.

Of the scores ``s[k]`` of a comparison in the systems ``k``, with a normalisation::

    x = [(sign[k] * s[k] - centre[k]) / width[k] for k in systems]  # sign: -1 of distances
    fused = sum(x) / len(x)  # or min(x), max(x), prod(x), sum(weight[k] * x[k])

Centre and width are those of a system's training scores. Without a normalisation, `x` are the
scores themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_number
from bioeval.base.errors import DataError, Message, counted, received
from bioeval.base.kinds import PLURALS
from bioeval.base.options import require_memory
from bioeval.counting.thresholds import require_values, to_user
from bioeval.scores.alignment import aligned, require_one_scale
from bioeval.scores.distances import farthest
from bioeval.scores.matrix import Scores, require_all_scores, require_scores
from bioeval.scores.people import people_of_both_sets
from bioeval.scores.rows import blocks_of, threads_for
from bioeval.scores.sampled import sampled
from bioeval.showing.messages import warn_of

FusionMethod = Literal["mean", "min", "max", "product", "weighted"]
Normalisation = Literal["none", "min-max", "z", "tanh"]

Systems = Mapping[str, Scores]

# About so many fused scores are computed at a time, to bound the memory.
_SCORES_AT_ONCE = 1 << 19


def fuse(
    systems: Systems,
    method: FusionMethod = "mean",
    *,
    normalise: Normalisation = "none",
    weights: Mapping[str, float] | None = None,
    train: Systems | None = None,
) -> Scores:
    """Fuse the scores of several systems over the same templates.

    Parameters
    ----------
    systems : mapping of str to Scores
        Scores with the same layout, shape and labels, in the same order; where they name their
        templates, as for :func:`compare`.
    method : {"mean", "min", "max", "product", "weighted"}
        Rule that fuses the scores: mean, min, max, product or weighted.

        - ``"mean"``, ``"min"``, ``"max"``: the mean, the smallest and the largest score
        - ``"product"``: of scores by ``normalise="min-max"``, clipped to [0, 1]
        - ``"weighted"``: the sum of weight times score
    normalise : {"none", "min-max", "z", "tanh"}
        Normalisation of the scores before fusion. The systems of ``"none"`` are of one kind, which
        the result keeps. With the others, scores enter as similarities, distances negated, and the
        result is a similarity. Over the finite scores of all training attempts:

        - ``"min-max"``: ``(s - min) / (max - min)``
        - ``"z"``: ``(s - mean) / sd``
        - ``"tanh"``: ``0.5 (tanh(0.01 (s - mean) / sd) + 1)``
    weights : mapping of str to float, optional
        Weights of the rule ``"weighted"``, one per system, 0 or more.
    train : mapping of str to Scores, optional
        Scores of other people, by the same names, over which a normalisation takes its parameters.
        Without, they come from the data themselves, which is optimistic: results say so.

    Returns
    -------
    Scores
        Over the same templates, in memory.

    Raises
    ------
    DataError
        If systems are not over the same templates, kinds are mixed, or training scores do not vary
        or are on another scale.
    ProtocolError
        If scores are an order only.

    Notes
    -----
    A failed comparison (NaN) of any system is one of the fused scores; where the policy is
    ``"reject"`` it enters as the farthest score. ``"tanh"`` takes mean and standard deviation of
    all attempts, not the Hampel estimates of genuine scores of Jain, Nandakumar and Ross (2005),
    Score normalization in multimodal biometric systems, *Pattern Recognition* 38, 2270-2285.
    See ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> a, b = (be.simulate(30, 3, random_state=seed) for seed in (0, 1))
    >>> fused = be.fuse({"face": a, "finger": b}, normalise="z")
    >>> fused.kind, bool(be.verification(fused).eer < be.verification(a).eer)
    ('similarity', True)
    """
    require_choice("method", method, get_args(FusionMethod))
    require_choice("normalise", normalise, get_args(Normalisation))
    if method == "product" and normalise != "min-max":
        raise DataError(
            '`method="product"` needs scores in [0, 1]; expected '
            f'`normalise="min-max"`, got `normalise="{normalise}"`'
        )
    if (method == "weighted") != (weights is not None):
        presence = "is missing" if weights is None else "is given"
        raise DataError(
            f"`weights` {presence}, and `method` is "
            f'{received(method)}; expected weights with `method="weighted"`, and '
            "only with it"
        )

    # The systems and their training scores, by the same names and of the same kinds.
    systems = _require_systems(systems)
    training = systems if train is None else _require_systems(train)
    if set(systems) != set(training):
        raise DataError(
            f"the systems are {', '.join(map(repr, systems))}; expected the systems of the "
            f"training data, {', '.join(map(repr, training))}"
        )
    for name, scores in systems.items():
        both = f"the scores of {name!r}", "its training scores"
        require_one_scale(scores, training[name], "the range", both)
    kinds = {name: scores.kind for name, scores in systems.items()}
    if normalise == "none" and len(set(kinds.values())) > 1:
        statements = [f"{name!r} holds {PLURALS[x]}" for name, x in kinds.items()]
        raise DataError(
            f"{', '.join(statements)}: they cannot be fused without normalisation; give "
            f"`normalise` as one of {', '.join(map(repr, get_args(Normalisation)[1:]))}"
        )
    weight_of = None if weights is None else _checked_weights(weights, systems)

    # The scale on which the scores of each system enter, and messages about it.
    remarks = dict.fromkeys(chain.from_iterable(x.remarks for x in systems.values()))  # each once
    scales: list[tuple[float, float, float]] = []
    if normalise != "none":
        for name, scores in systems.items():
            scales.append(_scale_of(training[name], normalise, name))
            for message in people_of_both_sets(training[name], scores):
                if message.arguments["who"] == "all attempts":
                    message = Message("trained-on-same-scores")
                remarks[message] = None
    elif method != "weighted":
        doubts = _other_scales(training, method)
        warn_of(doubts)
        remarks |= dict.fromkeys(doubts)

    # The fused scores, a block of rows, or of pairs, at a time.
    first = next(iter(systems.values()))
    kind = first.kind if normalise == "none" else "similarity"
    shape = first.shape
    require_memory(
        8 * math.prod(shape),
        f"{' x '.join(f'{number:,}' for number in shape)} new scores",
        "expected fewer templates",
    )
    sources = [x.values if x.layout == "pairs" else x.cells for x in systems.values()]
    farthest_scores = [to_user(np.inf, x.kind) for x in systems.values()]
    values = np.empty(shape)
    step = max(1, _SCORES_AT_ONCE // math.prod(shape[1:]))
    for low in range(0, shape[0], step):
        rows = slice(low, low + step)
        blocks = [np.asarray(source[rows], dtype=np.float64) for source in sources]
        has_failed = np.isnan(blocks)  # (systems, rows, ...)
        if first.nan == "reject":  # a failure enters as the farthest score
            blocks = [
                np.where(np.isnan(block), farthest_score, block)
                for block, farthest_score in zip(blocks, farthest_scores, strict=True)
            ]
        with np.errstate(all="ignore"):
            values[rows] = _fused(_normalised(blocks, scales, normalise), method, weight_of)
        # A rule has no value of infinities of both signs: the fused score is the farthest one.
        is_undefined = np.isnan(values[rows]) & ~np.isnan(blocks).any(axis=0)
        values[rows][is_undefined] = to_user(np.inf, kind)
        if first.nan == "reject":
            values[rows][has_failed.all(axis=0)] = np.nan

    origin = f"{method} of {', '.join(systems)}"
    if normalise != "none":
        origin += f", {normalise}-normalised"
    mixture = first.with_values(values, kind)._with(origin=origin, metric="", is_derived=True)
    return mixture.replace(name="fused").with_remarks(*remarks)


def _normalised(
    scores: Sequence[np.ndarray],
    scales: Sequence[tuple[float, float, float]],
    normalise: Normalisation,
) -> Sequence[np.ndarray]:
    """Return the scores of each system on its scale: sign, centre and width."""
    if normalise == "none":
        return scores
    normalised = [
        (sign * x - centre) / width for x, (sign, centre, width) in zip(scores, scales, strict=True)
    ]
    if normalise == "tanh":
        return [0.5 * (np.tanh(0.01 * x) + 1) for x in normalised]
    return normalised


def _fused(
    scores: Sequence[np.ndarray], method: FusionMethod, weights: Sequence[float] | None
) -> np.ndarray:
    """Return one score of each comparison, from the scores of each system."""
    if weights is not None:
        total = np.zeros(1)
        for weight, x in zip(weights, scores, strict=True):
            # A weight of 0 leaves out infinite scores, too; 0 times infinity would be NaN.
            total = total + (weight * x if weight else np.where(np.isnan(x), x, 0.0))
        return total
    if method == "mean":
        return reduce(np.add, scores) / len(scores)
    if method == "product":
        return reduce(np.multiply, (np.clip(x, 0.0, 1.0) for x in scores))
    extreme = np.minimum if method == "min" else np.maximum
    return 0.0 + extreme.reduce(scores)  # adding 0 takes the sign from a zero


def _require_systems(systems: Any) -> dict[str, Scores]:
    """Return systems by name, or raise :class:`DataError` unless they fit together."""
    if not isinstance(systems, Mapping) or len(systems) < 2:
        got = type(systems).__name__
        if isinstance(systems, Mapping):
            got = f"a mapping of {len(systems)}"
        raise DataError(
            f"systems is {got}; expected a mapping of name to Scores with two or more systems"
        )
    named = {str(name): scores for name, scores in systems.items()}
    for name, scores in named.items():
        require_scores(scores, f"system {name!r}")
        require_all_scores(scores)
        if scores.kind == "order":
            raise DataError(
                f"system {name!r} has only the order within each row; expected distance or "
                "similarity"
            )

    # Each system is aligned with the first one. With three or more systems this is done twice: the
    # first time, a later one may lack templates that earlier ones keep.
    first_name, *later_names = named
    rounds = 1 if len(later_names) == 1 else 2
    for name in later_names * rounds:
        first, second = named[first_name], named[name]
        try:
            if first.nan != second.nan:
                raise DataError(
                    f"`nan` is {first.nan!r} and {second.nan!r}; expected the same of both"
                )
            first, second, notes = aligned(first, second, (repr(first_name), repr(name)))
        except DataError as error:
            raise error.preceded_by(f"{first_name!r} and {name!r}: ") from None
        named[first_name] = first.with_remarks(*notes)
        named[name] = second
    return named


def _checked_weights(weights: Any, systems: Systems) -> list[float]:
    """Return the weight of each system, in the order of the systems."""
    if not isinstance(weights, Mapping):
        raise DataError(f"`weights` is {received(weights)}; expected a mapping of system to number")
    for name in weights:
        require_choice("`weights`: the system", name, tuple(systems))
    for name in systems:
        if name not in weights:
            raise DataError(f"`weights` has none for {name!r}")
    values = [require_number(f"the weight of {name!r}", weights[name]) for name in systems]
    negative = [name for name, x in zip(systems, values, strict=True) if x < 0]
    if negative:
        raise DataError(
            f"`weights`: the weight of {negative[0]!r} is {weights[negative[0]]!r}; "
            "expected 0 or more, since a negative weight turns the order of the scores; if their "
            "larger values mean the opposite, state their `kind`"
        )
    if not any(values) or not math.isfinite(sum(values)):
        raise DataError("`weights` are all 0; expected one that is not")
    return values


def _scale_of(scores: Scores, normalise: Normalisation, name: str) -> tuple[float, float, float]:
    """Return the sign, the centre and the width of the scale on which a system's scores enter.

    They are of the finite scores of all attempts: mean and standard deviation (``ddof = 0``), or,
    of min-max, the smallest score and the range.
    """
    require_values(scores, "fusion")
    blocks: Iterable[np.ndarray]
    if scores.layout == "pairs":
        blocks = [scores.pair_distances()]
    else:
        blocks = (block.values for block in blocks_of(scores, reported=False))
    number, mean = 0, 0.0
    squares = 0.0  # the sum of squared deviations from the mean
    low, high = math.inf, -math.inf
    with threads_for(scores):
        for distances in blocks:
            if scores.nan == "reject":
                distances = farthest(distances)
            values = -distances[np.isfinite(distances)].astype(np.float64)
            if not len(values):
                continue
            low_of_block = float(values.min())
            low, high = min(low, low_of_block), max(high, float(values.max()))
            # From the smallest score, so that equal scores have exactly their mean and no spread.
            deviation = values - values.min()
            mean_deviation = float(deviation.mean())
            mean_of_block = low_of_block + mean_deviation
            squares += float(np.square(deviation - mean_deviation).sum())
            # Two samples are pooled as by Chan, Golub and LeVeque (1983).
            if number:
                gap = mean_of_block - mean
                mean += gap * len(values) / (number + len(values))
                squares += gap * gap * number * len(values) / (number + len(values))
            else:
                mean = mean_of_block
            number += len(values)
    purpose = f"{normalise} normalisation of {name!r}"
    if not number:
        raise DataError(
            f"{purpose} needs attempts with finite scores, and the training data have none"
        )
    sd = math.sqrt(squares / number)
    if not sd > 0:
        raise DataError(
            f"{purpose} needs scores that differ, and all {counted(number, 'scores')} of "
            f"the training data are equal (standard deviation 0)"
        )
    sign = 1.0 if scores.kind == "similarity" else -1.0
    if normalise == "min-max":
        return sign, low, high - low
    return sign, mean, sd


# A system is on another scale if the range of its scores is at least this many times as wide.
_OTHER_SCALE = 10


def _other_scales(systems: Systems, method: str) -> list[Message]:
    """Return a message if one system decides alone, since its scores are on another scale."""
    ranges = {}
    for name, scores in systems.items():
        sample = sampled(scores)
        values = np.concatenate([sample.genuine, sample.impostor]) if sample else np.empty(0)
        values = to_user(values[np.isfinite(values)], scores.kind)
        if len(values) and values.min() < values.max():
            ranges[name] = float(values.min()), float(values.max())
    if len(ranges) < 2:
        return []
    narrow, *_, wide = sorted(ranges, key=lambda name: ranges[name][1] - ranges[name][0])
    (narrow_low, narrow_high), (wide_low, wide_high) = ranges[narrow], ranges[wide]
    is_much_wider = wide_high - wide_low >= _OTHER_SCALE * (narrow_high - narrow_low)
    # If ranges are disjoint, one system always has the closest score, and the other the farthest.
    are_disjoint = narrow_high < wide_low or wide_high < narrow_low
    if not is_much_wider and (method == "mean" or not are_disjoint):
        return []
    about = {"narrow_low": narrow_low, "narrow_high": narrow_high}
    about |= {"wide_low": wide_low, "wide_high": wide_high}
    return [Message("systems-of-other-scales", narrow=narrow, wide=wide, method=method, **about)]

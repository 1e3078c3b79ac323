"""Fusion of systems that scored the same templates: ``be.fuse`` and ``be.SystemFusion``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from typing import Any, Literal, Self, get_args

import numpy as np

from bioeval.base.arguments import require_choice, require_number
from bioeval.base.errors import DataError, received
from bioeval.base.kinds import LARGER_IS_CLOSER, PLURALS, Kind
from bioeval.base.messages import Message
from bioeval.counting.thresholds import to_user
from bioeval.partition.base import Parameters
from bioeval.scores.alignment import aligned
from bioeval.scores.fusion_rules import FUSIONS, FusionRule, by_closeness, parse_fusion
from bioeval.scores.matrix import Scores
from bioeval.scores.people import LearntFrom
from bioeval.scores.requirements import require_all_scores, require_scores
from bioeval.scores.sampled import SampledAttempts
from bioeval.showing.messages import warn_of
from bioeval.studies.fusion.logistic import LinearMap, fit_log_odds, require_spread
from bioeval.studies.fusion.several_systems import SeveralSystems, Spread, derived_scores

# The rules that fuse systems only.
_SystemRule = Literal["product", "weighted", "logistic"]

#: The rules that fuse systems: all rules that fuse templates, and a few more.
FusionMethod = Literal[FusionRule, _SystemRule]
METHODS = ("mean", *(rule for rule in FUSIONS if rule != "mean"), *get_args(_SystemRule))
Normalisation = Literal["none", "min-max", "z", "tanh"]
NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)

Systems = Mapping[str, Scores]


@dataclass(frozen=True)
class _Scale:
    """The scale on which a system's scores enter the fusion."""

    normalise: str
    sign: float  # -1 if scores are distances, else 1
    spread: Spread | None  # None leaves scores unchanged

    def scaled(self, scores: np.ndarray) -> np.ndarray:
        spread = self.spread
        if spread is None:
            return scores
        if self.normalise == "min-max":
            return (self.sign * scores - spread.low) / (spread.high - spread.low)
        standardised = (self.sign * scores - spread.mean) / spread.sd
        if self.normalise == "z":
            return standardised
        return 0.5 * (np.tanh(0.01 * standardised) + 1)


def _scales_of(systems: Systems, normalise: Normalisation) -> list[_Scale]:
    spreads: list[Spread | None] = [None] * len(systems)
    if normalise != "none":
        spreads = list(SeveralSystems(list(systems.values()), "fusion").spreads())
    scales = []
    for (name, scores), spread in zip(systems.items(), spreads, strict=True):
        if spread is not None:
            require_spread(spread, f"{normalise} normalisation of {name!r}")
        sign = 1.0 if scores.kind in LARGER_IS_CLOSER else -1.0
        scales.append(_Scale(normalise, sign, spread))
    return scales


# A system is on another scale if the range of its scores is at least this many times as wide.
_OTHER_SCALE = 10


class SystemFusion(Parameters):
    """Fused scores of several systems, with parameters learnt from training scores.

    Parameters
    ----------
    method : str
        Rule that fuses the scores: best, worst, mean, median, kth:K, min, max, product, weighted or
        logistic.

        - the first seven: the rules of :func:`verification`, over the systems' scores of a
          comparison; ``"kth:2"`` is the second closest, ``"min"`` the smallest
        - ``"product"``: of scores by ``normalise="min-max"``, clipped to [0, 1]
        - ``"weighted"``: the sum of weight times score
        - ``"logistic"``: the log-odds of a logistic regression, with the classes weighted to a
          prior of one half; always similarities
    normalise : {"none", "min-max", "z", "tanh"}
        Normalisation of the scores before fusion. The systems of ``"none"`` are of one kind, which
        the result keeps. With the others, scores enter as similarities, distances negated, and the
        result is a similarity. Over the finite scores of all training attempts:

        - ``"min-max"``: ``(s - min) / (max - min)``
        - ``"z"``: ``(s - mean) / sd``
        - ``"tanh"``: ``0.5 (tanh(0.01 (s - mean) / sd) + 1)``
    weights : mapping of str to float, optional
        Weights for ``"weighted"``, one per system, 0 or more.

    Attributes
    ----------
    systems_ : tuple of str
        The names of the systems.
    weights_ : dict of str to float
        Of ``"logistic"``, in the units of the scores as they enter.
    offset_ : float
    separable_ : bool
        Whether a penalty was needed, since the training classes are separable.

    Warns
    -----
    BioevalWarning
        If the training classes are separable; results of the fused scores say so too.

    Raises
    ------
    DataError
        If systems are not over the same templates, kinds are mixed, or training scores do not vary.
    ProtocolError
        If scores are an order only.

    Notes
    -----
    A failed comparison (NaN) of any system is one of the fused scores; where the policy is
    ``"reject"`` it enters as the farthest score. ``"tanh"`` takes mean and standard deviation of
    all attempts, not the Hampel estimates of genuine scores of Jain, Nandakumar and Ross (2005),
    Score normalization in multimodal biometric systems, *Pattern Recognition* 38, 2270-2285.

    Examples
    --------
    >>> import bioeval as be
    >>> systems = {x: be.simulate(30, 3, random_state=i) for i, x in enumerate(["face", "iris"])}
    >>> folds = be.partition.SubjectKFold(3)
    >>> fusion = be.SystemFusion("logistic")
    >>> fused = be.cross_evaluate(systems, folds, estimator=fusion, threshold="far=0.01")
    >>> face = be.cross_evaluate(systems["face"], folds, threshold="far=0.01")
    >>> bool((fused.frr.mean() < face.frr.mean()))
    True
    """

    def __init__(
        self,
        method: FusionMethod = "mean",
        normalise: Normalisation = "none",
        weights: Mapping[str, float] | None = None,
    ):
        """Check that the options fit together."""
        self._order = parse_fusion(method, "method", METHODS)[1]
        require_choice("normalise", normalise, NORMALISATIONS)
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
        self.method, self.normalise, self.weights = method, normalise, weights

    @property
    def learns(self) -> bool:
        """Whether the fusion learns anything from training scores."""
        return self.method == "logistic" or self.normalise != "none"

    def fit(self, X: Systems, y: Any = None) -> Self:
        """Learn from training scores.

        Parameters
        ----------
        X : mapping of str to Scores
        y : ignored

        Returns
        -------
        SystemFusion
        """
        systems = require_systems(X)
        kinds = {name: scores.kind for name, scores in systems.items()}
        if self.normalise == "none":
            _require_one_kind(kinds)
        names = tuple(systems)
        self.systems_, self._kinds = names, kinds
        if self._order > len(names):
            raise DataError(
                f"`method` is {received(self.method)}, but there are {len(names)} systems; "
                f"expected kth:{len(names)} or less"
            )
        self._line = None
        if self.weights is not None:
            self._line = LinearMap(_weights(self.weights, names), 0.0, False)
        self._scales = _scales_of(systems, self.normalise)
        remarks = []
        if self.normalise == "none" and self.method not in ("weighted", "logistic"):
            remarks += _other_scales(systems, self.method)
        if self.method == "logistic":
            scaled = list(systems.values())
            if self.normalise != "none":
                scaled = [
                    derived_scores([scores], partial(_scaled, scale), "similarity", "")
                    for scores, scale in zip(scaled, self._scales, strict=True)
                ]
            self._line = fit_log_odds(scaled)
            self.weights_ = dict(zip(names, self._line.weights.tolist(), strict=True))
            self.offset_ = self._line.offset
            self.separable_ = self._line.separable
            if self.separable_:
                remarks.append(Message("training-scores-separable"))
        training = systems.values() if self.learns else ()
        self._learnt_from = [*map(LearntFrom.from_scores, training)]
        self.remarks_ = tuple(remarks)
        warn_of(self.remarks_)
        return self

    def transform(self, X: Systems) -> Scores:
        """Return the fused scores.

        Parameters
        ----------
        X : mapping of str to Scores
            The systems that were trained on, of the same kinds.

        Returns
        -------
        Scores
        """
        if not hasattr(self, "systems_"):
            raise DataError("this SystemFusion is not fitted; call fit(training scores)")
        names = self.systems_
        systems = require_systems(X)
        if set(systems) != set(names):
            raise DataError(
                f"the systems are {', '.join(map(repr, systems))}; expected the systems of the "
                f"training data, {', '.join(map(repr, names))}"
            )
        for name in names:
            kind, trained = systems[name].kind, self._kinds[name]
            if kind != trained:
                raise DataError(
                    f"the scores of {name!r} are {PLURALS[kind]}, and its training "
                    f"scores {PLURALS[trained]}"
                )
        entering_kind = self._kinds[names[0]] if self.normalise == "none" else "similarity"
        kind = "similarity" if self.method == "logistic" else entering_kind
        origin = f"{self.method} of {', '.join(names)}"
        if self.normalise != "none":
            origin += f", {self.normalise}-normalised"
        fuse = partial(self._fuse, by_closeness(self.method, entering_kind), entering_kind)
        fused = derived_scores([systems[name] for name in names], fuse, kind, origin)
        remarks = dict.fromkeys(chain.from_iterable(x.remarks for x in systems.values()))
        remarks |= dict.fromkeys(self.remarks_)
        # A fusion by a fixed rule has learnt from no scores.
        for training, name in zip(self._learnt_from, names, strict=False):
            for message in training.people_in(systems[name]):
                if message.arguments["who"] == "all attempts":
                    message = Message("trained-on-same-scores")
                remarks[message] = None
        return fused.replace(name="fused").with_remarks(*remarks)

    def fit_transform(self, X: Systems, y: Any = None) -> Scores:
        """Fit to scores, and return the fused scores of the same comparisons.

        Parameters
        ----------
        X : mapping of str to Scores
        y : ignored

        Returns
        -------
        Scores
        """
        return self.fit(X).transform(X)

    def _fuse(
        self, rule: str, kind: Kind, blocks: list[np.ndarray], index: np.ndarray
    ) -> np.ndarray:
        scores = [scale.scaled(block) for scale, block in zip(self._scales, blocks, strict=True)]
        if self._line is not None:
            return self._line.fused(scores)
        if rule in _FUSED_BY:
            return _FUSED_BY[rule](scores)
        sign = -1.0 if kind in LARGER_IS_CLOSER else 1.0
        distances = np.sort([sign * x for x in scores], axis=0)
        rank = {"best": 0, "worst": -1}.get(rule, self._order - 1)
        # A comparison that failed in any system failed. NaN is sorted last.
        return np.where(np.isnan(distances[-1]), np.nan, 0.0 + sign * distances[rank])


#: The rules for which it does not matter which score is closer: functions of all systems' scores.
_FUSED_BY: dict[str, Callable[[Sequence[np.ndarray]], np.ndarray]] = {
    "mean": lambda scores: reduce(np.add, scores) / len(scores),
    "product": lambda scores: reduce(np.multiply, (np.clip(x, 0.0, 1.0) for x in scores)),
    "median": lambda scores: np.asarray(np.median(scores, axis=0)),
}


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
    method, normalise, weights
        As for :class:`SystemFusion`.
    train : mapping of str to Scores, optional
        Scores of other people, by the same names, that parameters and weights are learnt from.
        Without, they come from the data themselves, which is optimistic: results say so.

    Returns
    -------
    Scores
        Over the same templates, in memory.

    Raises
    ------
    DataError
        If systems are not over the same templates, kinds are mixed, or training scores do not vary.
    ProtocolError
        If scores are an order only.

    Examples
    --------
    >>> import bioeval as be
    >>> a, b = (be.simulate(30, 3, random_state=seed) for seed in (0, 1))
    >>> fused = be.fuse({"face": a, "finger": b}, normalise="z")
    >>> fused.kind, bool(be.verification(fused).eer < be.verification(a).eer)
    ('similarity', True)
    """
    fusion = SystemFusion(method, normalise, weights)
    require_systems(systems)
    return fusion.fit(systems if train is None else train).transform(systems)


def require_systems(systems: Any) -> dict[str, Scores]:
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
    first_name, *later_names = named
    # With several systems twice: the first time, a later system may lack templates of earlier ones.
    for _ in later_names[:2]:
        for name in later_names:
            where = f"{first_name!r} and {name!r}: "
            try:
                policies = named[first_name].nan, named[name].nan
                if policies[0] != policies[1]:
                    raise DataError(
                        f"`nan` is {policies[0]!r} and {policies[1]!r}; expected the same of both"
                    )
                first, second, notes = aligned(
                    named[first_name], named[name], (repr(first_name), repr(name))
                )
                named[first_name] = first.with_remarks(*notes)
                named[name] = second
            except DataError as error:
                raise error.preceded_by(where) from None
    return named


def _require_one_kind(kinds: Mapping[str, str]) -> None:
    if len(set(kinds.values())) > 1:
        statements = [f"{name!r} holds {PLURALS[kind]}" for name, kind in kinds.items()]
        raise DataError(
            f"{', '.join(statements)}: they cannot be fused without normalisation; give "
            f"`normalise` as one of {', '.join(map(repr, NORMALISATIONS[1:]))}"
        )


def _other_scales(systems: Mapping[str, Scores], method: str) -> list[Message]:
    """Return a message if one system decides alone, since its scores are on another scale."""
    ranges = {}
    for name, scores in systems.items():
        sample = SampledAttempts.from_scores(scores)
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


def _weights(weights: Any, names: tuple[str, ...]) -> np.ndarray:
    if not isinstance(weights, Mapping):
        raise DataError(f"`weights` is {received(weights)}; expected a mapping of system to number")
    for name in weights:
        require_choice("`weights`: the system", name, names)
    for name in names:
        if name not in weights:
            raise DataError(f"`weights` has none for {name!r}")
    values = [require_number(f"the weight of {name!r}", weights[name]) for name in names]
    if negative := [name for name, x in zip(names, values, strict=True) if x < 0]:
        raise DataError(
            f"`weights`: the weight of {negative[0]!r} is {weights[negative[0]]!r}; "
            "expected 0 or more, since a negative weight turns the order of the scores; if their "
            "larger values mean the opposite, state their `kind`"
        )
    if not any(values) or not math.isfinite(sum(values)):
        raise DataError("`weights` are all 0; expected one that is not")
    return np.array(values)


def _scaled(scale: _Scale, blocks: list[np.ndarray], index: np.ndarray) -> np.ndarray:
    """Return scaled scores for a fit; NaN for infinite scores, which tanh would make finite."""
    return np.where(np.isfinite(blocks[0]), scale.scaled(blocks[0]), np.nan)

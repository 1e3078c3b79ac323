"""``be.calibration``: what log-likelihood ratios cost, and what the same scores could reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy
import xarray as xr

from bioeval.base.arguments import require_listed_numbers
from bioeval.base.errors import DataError, ProtocolError, counted
from bioeval.base.kinds import noun_of
from bioeval.base.messages import Message, messages_of
from bioeval.base.progress import rows_reported, steps_reported
from bioeval.counting.costs import trivial_cost
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer, reduce
from bioeval.counting.targets import check_priors
from bioeval.counting.thresholds import to_user
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import dataset, rate
from bioeval.results.measure import Measure
from bioeval.results.support import actual_costs_above_1, without_attempts
from bioeval.results.variables import FOLDS, VERIFICATION, Variable, entries
from bioeval.scores.blocks import Block
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.distances import scored
from bioeval.scores.matrix import Scores
from bioeval.scores.people import People, require_people
from bioeval.scores.requirements import require_scores
from bioeval.scores.rows import threads_for
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.limits import limits_of_cost, percentile, student
from bioeval.stats.options import BY_PEOPLE, IntervalMethod, PeopleName, interval_of
from bioeval.stats.weighted_sums import bilinear_forms, linear_forms, ratio
from bioeval.stats.weights import groups_of_people, without_each
from bioeval.studies.calibration.counts import LOG2, CalibrationCounts, count_for_calibration
from bioeval.tasks.verification_task import verification

# Dimensions of variables.
PRIOR, ODDS, LLR, BLOCK = ("prior",), ("prior_log_odds",), ("llr",), ("pav_block",)

_rate = partial(Variable, units="proportion", direction="smaller")
_cost = partial(Variable, units="cost", direction="smaller")
_over_odds = partial(Variable, dims=ODDS, direction="smaller", detail="data")

CALIBRATION = {
    "pav_block": Variable("block of scores of equal posterior, from the strictest on", "1"),
    "llr": Variable("natural log-likelihood ratio", "1"),
    "prior_log_odds": Variable("natural log odds of the prior", "1"),
    "prior": Variable(
        "prior probability of a genuine attempt",
        "proportion",
        label="prior",
        title="Normalised decision cost: 1 is the cost of deciding by the prior alone",
    ),
    **entries(FOLDS, "cllr", "min_cllr"),
    "calibration_loss": Variable(
        "Cllr less its minimum", "bits", label="calibration loss, bits", direction="smaller"
    ),
    "c_primary": _cost(
        "mean over the priors of FRR + beta FAR at the Bayes threshold", label="Cprimary"
    ),
    "min_c_primary": _cost(
        "mean over the priors of the least FRR + beta FAR of any threshold",
        label="min Cprimary (optimistic)",
    ),
    "bayes_threshold": Variable(
        "log-likelihood ratio from which the Bayes decision accepts",
        "score",
        shown="threshold",
        dims=PRIOR,
        label="threshold",
    ),
    "far_at_bayes": _rate(
        "FAR at the Bayes threshold",
        iso="FMR",
        dims=PRIOR,
        out_of="impostor_attempts",
        threshold="bayes_threshold",
        label="{far}",
    ),
    "frr_at_bayes": _rate(
        "FRR at the Bayes threshold",
        iso="FNMR",
        dims=PRIOR,
        out_of="genuine_attempts",
        threshold="bayes_threshold",
        label="{frr}",
    ),
    "act_dcf": _cost(
        "normalised decision cost at the Bayes threshold",
        dims=PRIOR,
        threshold="bayes_threshold",
        label="cost at the threshold",
    ),
    "min_dcf": _cost(
        "normalised decision cost, the least of any threshold",
        dims=PRIOR,
        label="min cost (optimistic)",
    ),
    "bayes_error": _over_odds(
        "normalised Bayes error rate: act_dcf of equal costs", "cost", label="Bayes error rate"
    ),
    "min_bayes_error": _over_odds(
        "least normalised Bayes error rate: min_dcf of equal costs",
        "cost",
        label="min Bayes error rate",
    ),
    "ece": _over_odds("empirical cross-entropy", "bits", label="cross-entropy"),
    "min_ece": _over_odds(
        "empirical cross-entropy after isotonic regression", "bits", label="min cross-entropy"
    ),
    "reference_ece": Variable(
        "cross-entropy of the prior alone, without any score",
        "bits",
        dims=ODDS,
        label="cross-entropy of the prior",
        detail="data",
    ),
    "genuine_above": Variable(
        "proportion of the genuine attempts with a larger ratio",
        "proportion",
        dims=LLR,
        out_of="genuine_attempts",
    ),
    "impostor_above": Variable(
        "proportion of the impostor attempts with a larger ratio",
        "proportion",
        dims=LLR,
        out_of="impostor_attempts",
    ),
    "pav_llr": Variable("log-likelihood ratio of a block, by isotonic regression", "1", dims=BLOCK),
    "pav_low": Variable("smallest score of a block", "score", dims=BLOCK),
    "pav_high": Variable("largest score of a block", "score", dims=BLOCK),
    "pav_genuine": Variable("genuine attempts in a block", "attempts", dims=BLOCK),
    "pav_impostor": Variable("impostor attempts in a block", "attempts", dims=BLOCK),
    **entries(VERIFICATION, "genuine_attempts", "impostor_attempts"),
}

#: Natural log odds of the priors of the curves.
LOG_ODDS: np.ndarray = np.linspace(-10.0, 10.0, 81)

#: Natural log-likelihood ratios of a Tippett plot, from 10 decades below to 10 decades above even.
RATIOS = np.linspace(-10.0, 10.0, 201) * math.log(10)

# The index of the log odds 0, where the empirical cross-entropy is Cllr.
_EVEN_ODDS = len(LOG_ODDS) // 2

#: Default priors of the decision costs.
PRIORS = (0.5, 0.1, 0.01, 0.001)


def check_costs_of_errors(costs: Any) -> tuple[float, float]:
    """Return the costs of a miss and of a false accept."""
    miss, false_accept = require_listed_numbers(
        "costs",
        costs,
        "two numbers above 0, the costs of a miss and of a false accept",
        lambda costs: len(costs) == 2 and ((costs > 0) & (costs < np.inf)).all(),
    ).tolist()
    return miss, false_accept


def bayes_thresholds(priors: np.ndarray, costs: tuple[float, float]) -> np.ndarray:
    """Return, for each prior, the ratio from which accepting has the lower expected cost.

    The Bayes threshold is ``log(c_fa (1 - prior) / (c_miss prior))``: Bruemmer and du Preez (2006).
    """
    miss, false_accept = costs
    return np.array([math.log(false_accept * (1 - p) / (miss * p)) for p in priors.tolist()])


def _rounded_down_to_six_digits(thresholds: np.ndarray) -> np.ndarray:
    rounded = Context(prec=6, rounding=ROUND_FLOOR)
    return np.array([float(rounded.create_decimal(repr(x))) for x in thresholds.tolist()])


def _next_ratios(counts: CalibrationCounts, thresholds: np.ndarray) -> np.ndarray:
    """Return, for each threshold, the next number below the threshold rounded down to six digits.

    NaN where a score is between the two: there the threshold, if it is shown with six digits, would
    decide otherwise.
    """
    distances = 0.0 - thresholds
    rounded = 0.0 - _rounded_down_to_six_digits(thresholds)
    accepts_the_same = counts.false_accepts(distances) == counts.false_accepts(rounded)
    accepts_the_same &= counts.false_rejects(distances) == counts.false_rejects(rounded)
    return np.where(accepts_the_same, np.nextafter(0.0 - rounded, -np.inf), np.nan)


def _last_distances_above(ratios: np.ndarray) -> np.ndarray:
    return np.nextafter(0.0 - ratios, -np.inf)


def calibration_dataset(
    counts: CalibrationCounts, priors: np.ndarray, costs: tuple[float, float]
) -> xr.Dataset:
    """Return the result, without the actual costs where the scores are no log-likelihood ratios."""
    coordinates = {"prior": priors, "prior_log_odds": LOG_ODDS}
    values = _actual_costs(counts, priors, costs)
    if values:
        coordinates["llr"] = RATIOS
    values |= _least_costs(counts, priors, costs)
    if "cllr" in values:
        with np.errstate(invalid="ignore"):
            values["calibration_loss"] = values["cllr"] - values["min_cllr"]
    prior_of_odds = scipy.special.expit(LOG_ODDS)
    entr = scipy.special.entr
    values["reference_ece"] = (entr(prior_of_odds) + entr(1 - prior_of_odds)) / LOG2
    values["genuine_attempts"] = len(counts.genuine)
    values["impostor_attempts"] = counts.impostor_attempts
    attrs: dict[str, Any] = about_attrs(
        counts.about,
        "calibration",
        "calibration",
        _messages_on_costs(counts, priors, costs, values),
    )
    attrs |= {"cost_miss": costs[0], "cost_false_accept": costs[1]}
    attrs["chosen_on"] = "given"  # the Bayes thresholds depend on no scores
    attrs["definition"] = (
        "Cllr: Bruemmer and du Preez 2006; the minima are over monotone maps or thresholds on "
        "the same data (optimistic)"
    )
    names = dict.fromkeys((*CALIBRATION, *values))
    in_order = {name: values[name] for name in names if name in values}
    return dataset(in_order, CALIBRATION, coordinates, attrs, first=())


def _actual_costs(
    counts: CalibrationCounts, priors: np.ndarray, costs: tuple[float, float]
) -> dict[str, Any]:
    """Return the costs of the ratios as they are; empty if the scores are no ratios."""
    losses = counts.losses
    if losses is None:
        return {}
    thresholds = bayes_thresholds(priors, costs)
    frr, far = _frr_and_far(counts, 0.0 - thresholds)
    weight_frr, weight_far = _cost_weights(priors, costs)
    prior_of_odds = scipy.special.expit(LOG_ODDS)
    frr_at_odds, far_at_odds = _frr_and_far(counts, 0.0 + LOG_ODDS)
    weight_frr_at_odds, weight_far_at_odds = _cost_weights(prior_of_odds)
    frr_at_ratios, far_at_ratios = _frr_and_far(counts, _last_distances_above(RATIOS))
    ece = (prior_of_odds * losses.genuine + (1 - prior_of_odds) * losses.impostor) / LOG2
    return {
        "bayes_threshold": thresholds,
        "far_at_bayes": far,
        "frr_at_bayes": frr,
        "bayes_threshold_next": _next_ratios(counts, thresholds),
        "act_dcf": weight_frr * frr + weight_far * far,
        "c_primary": float((frr + _beta(priors, costs) * far).mean()),
        "bayes_error": weight_frr_at_odds * frr_at_odds + weight_far_at_odds * far_at_odds,
        "genuine_above": 1 - frr_at_ratios,
        "impostor_above": far_at_ratios,
        "ece": ece,
        "cllr": float(ece[_EVEN_ODDS]),
    }


def _least_costs(
    counts: CalibrationCounts, priors: np.ndarray, costs: tuple[float, float]
) -> dict[str, Any]:
    """Return the least costs of any threshold or monotone map, and the isotonic blocks.

    Costs are NaN unless both classes have attempts.
    """
    isotonic = counts.isotonic
    if isotonic is None:
        nan_over_odds = np.full(len(LOG_ODDS), np.nan)
        return {
            "min_dcf": np.full(len(priors), np.nan),
            "min_bayes_error": nan_over_odds,
            "min_c_primary": math.nan,
            "min_ece": nan_over_odds,
            "min_cllr": math.nan,
        }
    pooled = isotonic.pooled
    min_ece = pooled.cross_entropy(LOG_ODDS)
    low, high = (to_user(x, counts.about.kind) for x in (isotonic.low, isotonic.high))
    beta = _beta(priors, costs)
    return {
        "min_dcf": isotonic.least_cost(*_cost_weights(priors, costs)),
        "min_bayes_error": isotonic.least_cost(*_cost_weights(scipy.special.expit(LOG_ODDS))),
        "min_c_primary": float(isotonic.least_cost(np.ones(len(beta)), beta).mean()),
        "pav_low": np.minimum(low, high),
        "pav_high": np.maximum(low, high),
        "pav_llr": pooled.llr,
        "pav_genuine": pooled.genuine,
        "pav_impostor": pooled.impostor,
        "min_ece": min_ece,
        "min_cllr": float(min_ece[_EVEN_ODDS]),
    }


def _beta(priors: np.ndarray, costs: tuple[float, float]) -> np.ndarray:
    """Return the weight of FAR at each prior where FRR has the weight 1."""
    return costs[1] * (1 - priors) / (costs[0] * priors)


def _frr_and_far(counts: CalibrationCounts, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    frr = rate(counts.false_rejects(distances), len(counts.genuine))
    return frr, rate(counts.false_accepts(distances), counts.impostor_attempts)


def _cost_weights(
    prior: np.ndarray, costs: tuple[float, float] = (1.0, 1.0)
) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of FRR and FAR in a cost that is 1 for deciding without scores."""
    trivial = trivial_cost(prior, *costs)
    return prior * costs[0] / trivial, (1 - prior) * costs[1] / trivial


def _messages_on_costs(
    counts: CalibrationCounts,
    priors: np.ndarray,
    costs: tuple[float, float],
    values: dict[str, Any],
) -> list[Message]:
    messages = []
    if "cllr" not in values:
        nouns = noun_of(counts.about.kind, plural=True)
        messages.append(Message("scores-are-no-ratios", scores=nouns))
    elif values["cllr"] > 1:
        messages.append(Message("cllr-above-1"))
    if "act_dcf" in values:
        messages += actual_costs_above_1(values["act_dcf"], priors, *costs)
    genuine, impostor = counts.infinite
    if "cllr" in values and (genuine or impostor):
        where = f" ({genuine:,} genuine and {counted(impostor, 'impostor attempts')})"
        messages.append(Message("cllr-infinite", where=where))
    for name, attempts in (
        ("genuine", len(counts.genuine)),
        ("impostor", counts.impostor_attempts),
    ):
        if not attempts:
            messages.append(without_attempts(name))
    return messages


@warns_of_doubts
@leaves_out_attacks
def calibration(
    scores: Scores,
    priors: Sequence[float] = PRIORS,
    *,
    costs: tuple[float, float] = (1.0, 1.0),
    interval: PeopleName | IntervalMethod | None = None,
) -> xr.Dataset:
    """Evaluate scores as log-likelihood ratios: Cllr, and decision costs by prior.

    Parameters
    ----------
    scores : Scores
        Of ``kind="llr"``, natural log-likelihood ratios; of other kinds only the minima are given.
        The attempts are those of :func:`verification`.
    priors : sequence of float
        Priors of a genuine attempt, for the decision costs.
    costs : (float, float)
        Costs of a miss and of a false accept. A miss is a false reject.
    interval : {"people", "subject-bootstrap"}, optional
        Add intervals of Cllr and of the actual costs. They are for other subjects, and take the
        map to log-likelihood ratios as given; only scores of ``kind="llr"`` have them.

    Returns
    -------
    xarray.Dataset
        - ``cllr``, ``min_cllr`` and ``calibration_loss``, in bits
        - ``act_dcf`` over ``prior``: the cost at ``bayes_threshold``, with ``far_at_bayes`` and
          ``frr_at_bayes``; it is normalised by the cost of deciding by the prior alone
        - ``min_dcf`` over ``prior``: the least cost of any threshold, normalised in the same way
        - ``c_primary`` and ``min_c_primary``: means over the priors of ``FRR + beta FAR`` with
          ``beta = c_fa (1 - prior) / (c_miss prior)``
        - ``bayes_error``, ``min_bayes_error``, ``ece``, ``min_ece`` and ``reference_ece`` over
          ``prior_log_odds``
        - ``genuine_above`` and ``impostor_above`` over ``llr``
        - ``pav_llr``, ``pav_low``, ``pav_high``, ``pav_genuine`` and ``pav_impostor`` over
          ``pav_block``, the blocks of isotonic regression

        Values are NaN where a class has no attempt. With `interval`, ``cllr`` and ``act_dcf`` have
        ``_low`` and ``_high``.

    Raises
    ------
    DataError
        If priors or costs are outside their range, or the scores hold NaN and say nothing of it.
    ProtocolError
        If the scores are an order only, subjects are needed and not known, or an interval is asked
        for scores that are no log-likelihood ratios.

    Notes
    -----
    - Cllr: Bruemmer, N., du Preez, J. (2006). Application-independent evaluation of speaker
      detection. *Computer Speech and Language* 20, 230-275.
    - Cprimary: NIST 2016 Speaker Recognition Evaluation Plan, section 3, with the priors 0.01 and
      0.005.
    - All attempts count, in three passes over the scores; memory is that of the genuine scores.
    - More: ``docs/calibration.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> ratios = be.Calibrator().fit(scores).transform(scores)
    >>> found = be.calibration(ratios, priors=[0.5, 0.01])
    >>> print(f"{found.cllr.item():.3f} {found.min_cllr.item():.3f}")
    0.140 0.128
    """
    checked_priors = check_priors(priors)
    checked_costs = check_costs_of_errors(costs)
    if not len(checked_priors):
        raise DataError("`priors` is empty; expected at least one prior")
    require_scores(scores)
    intervals = interval_of(interval, BY_PEOPLE)
    if intervals is not None:
        require_ratios_of_people(scores, intervals)
    distances = np.empty(0)
    shifts = None
    if scores.kind == "llr":
        bayes = bayes_thresholds(checked_priors, checked_costs)
        thresholds = np.concatenate([bayes, _rounded_down_to_six_digits(bayes), -LOG_ODDS])
        distances = np.concatenate([0.0 - thresholds, _last_distances_above(RATIOS)])
        shifts = LOG_ODDS
    with steps_reported():
        counts = count_for_calibration(scores, wanted=distances, shifts=shifts)
    ds = calibration_dataset(counts, checked_priors, checked_costs)
    if intervals is None:
        return ds
    return with_intervals(ds, CALIBRATION, scores, intervals)


def require_ratios_of_people(scores: Scores, options: IntervalMethod) -> None:
    """Raise :class:`ProtocolError` unless the scores are ratios of known subjects."""
    if scores.kind != "llr":
        raise ProtocolError(
            f'`interval="{options.method}"` is of Cllr and of actual costs, which only '
            f"log-likelihood ratios have, and these scores are a {scores.kind}; calibrate them "
            "first, or leave it out"
        )
    require_people(scores, f'`interval="{options.method}"`')


def with_intervals(
    ds: xr.Dataset, names: dict[str, Variable], scores: Scores, options: IntervalMethod
) -> xr.Dataset:
    """Return a result with the limits of Cllr and, at each prior, of the actual cost.

    An actual cost is a weighted sum of two rates. Its limits are those of Zou and Donner (2008)
    from the limits of both rates, which are taken as independent, as in
    :func:`bioeval.judge_threshold`.
    """
    bayes = ds["bayes_threshold"].values
    thresholds, threshold_of_prior = np.unique(bayes, return_inverse=True)
    rates = verification(scores, thresholds=thresholds, far_targets=(), auc=False, interval=options)
    weights = _cost_weights(
        ds["prior"].values, (ds.attrs["cost_miss"], ds.attrs["cost_false_accept"])
    )
    rates_of_priors = rates.isel(threshold=threshold_of_prior.reshape(-1))
    limits = {"act_dcf": limits_of_cost(rates_of_priors, *weights)}
    limits["cllr"] = np.array(np.nan), np.array(np.nan)
    if math.isfinite(ds["cllr"].item()):
        with rows_reported():
            limits["cllr"] = _cllr_limits(scores, options)
    remarks = [x for x in messages_of(rates.attrs) if x.code == "interval-of-few-subjects"]
    return options.added_to(ds, limits, names, remarks)


class ImpostorLosses(NamedTuple):
    """Losses of impostor attempts by pair of people, (entries,): one or more of each pair."""

    probe: np.ndarray  # int64: the person of the probe
    claimed: np.ndarray  # int64: the person claimed
    loss: np.ndarray  # sum of the losses
    number: np.ndarray  # number of attempts


class LossesOfPeople(Reducer):
    """Sums of losses and numbers of attempts: genuine by person, impostor by pair of people.

    Attributes
    ----------
    people : People
        The people of both sides.
    genuine : float64 (2, people)
        The sum of the losses and the number of the genuine attempts of each person.
    impostor : ImpostorLosses
    """

    def prepare(self, parts: Parts) -> None:
        codes, mates = parts.scores.codes, parts.mates
        self.people = People(codes, codes.probe, codes.gallery)
        self._person_of_probe = self.people.of_code[codes.probe]
        self._person_of_template = self.people.of_code[codes.gallery]
        distances = scored(mates.distance) if mates.rejected else mates.distance
        # A failed genuine comparison has the log-likelihood ratio minus infinity.
        distances = np.where(np.isnan(distances), np.inf, distances)
        person = self._person_of_probe[mates.probe]
        losses = np.logaddexp(0, distances.astype(np.float64))
        sums_and_numbers = (np.bincount(person, x, self.people.number) for x in (losses, None))
        self.genuine = np.array([*sums_and_numbers], dtype=np.float64)
        self._impostor_of_block: dict[tuple[int, int], tuple[np.ndarray, ...]] = {}

    def fresh(self) -> Self:
        other = super().fresh()
        other._impostor_of_block = {}
        return other

    def add(self, block: Block) -> None:
        """Add the losses of the impostor attempts; a failed comparison has no loss."""
        people = self.people.number
        for side, part in enumerate(block.sides()):
            probe = self._person_of_probe[part.probe]
            claimed = self._person_of_template[part.gallery]
            has_score = ~np.isnan(part.values)
            # A pair of people has one number: `probe * people + claimed`.
            pair = np.broadcast_to(probe * people + claimed, has_score.shape)[has_score]
            pairs, index = np.unique(pair, return_inverse=True)
            index = index.reshape(-1)
            losses = np.logaddexp(0, -part.values[has_score].astype(np.float64))
            sums_and_numbers = (np.bincount(index, x, len(pairs)) for x in (losses, None))
            entries_of_block = (*np.divmod(pairs, max(people, 1)), *sums_and_numbers)
            self._impostor_of_block[part.order, side] = entries_of_block

    def merge(self, other: Self) -> None:
        self._impostor_of_block |= other._impostor_of_block

    def result(self) -> Self:
        blocks = [self._impostor_of_block[key] for key in sorted(self._impostor_of_block)]
        self.impostor = ImpostorLosses(*map(np.concatenate, zip(*blocks, strict=True)))
        return self


def _cllr_limits(scores: Scores, options: IntervalMethod) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of Cllr, by the jackknife or by the bootstrap over people.

    The jackknife leaves out a person at a time, with the genuine attempts of the person and the
    impostor attempts that have the person on either side. In a replicate of the bootstrap, a
    genuine attempt counts as often as its person was drawn, and an impostor attempt as often as
    the product of the numbers of both people.
    """
    with threads_for(scores):
        (losses,) = reduce(scores, LossesOfPeople())
    impostor = losses.impostor
    if not options.resamples:
        return student(_cllr_without_each(losses), options.confidence, bounds=(0.0, np.inf))
    no_person = losses.people.no_person
    weights = options.weights(len(no_person), no_person)
    genuine_mean = ratio(*linear_forms(losses.genuine, weights))
    impostor_sums = (
        bilinear_forms(impostor.probe, impostor.claimed, x, weights)
        for x in (impostor.loss, impostor.number)
    )
    cllr = (genuine_mean + ratio(*impostor_sums)) / (2 * LOG2)
    return percentile(cllr, options.confidence)


def _cllr_without_each(losses: LossesOfPeople) -> np.ndarray:
    """Return Cllr, and Cllr without each group of people, (1 + groups,)."""
    impostor = losses.impostor
    group, groups = groups_of_people(losses.people.no_person)
    probe_group, claimed_group = group[impostor.probe], group[impostor.claimed]
    is_of_two_groups = probe_group != claimed_group
    genuine_sums = []
    impostor_sums = []
    for by_person, by_pair in zip(losses.genuine, (impostor.loss, impostor.number), strict=True):
        genuine_of_group = np.bincount(group, by_person, groups + 1)
        impostor_of_group = np.bincount(probe_group, by_pair, groups + 1)
        impostor_of_group += np.bincount(claimed_group, by_pair * is_of_two_groups, groups + 1)
        genuine_sums.append(without_each(genuine_of_group[:groups], np.array(by_person.sum())))
        impostor_sums.append(without_each(impostor_of_group[:groups], np.array(by_pair.sum())))
    return (ratio(*genuine_sums) + ratio(*impostor_sums)) / (2 * LOG2)


def _measure_of_ratios(scores: Scores, name: str, *priors: Sequence[float]) -> float:
    if scores.kind != "llr":
        raise ProtocolError(
            f"{name} is of log-likelihood ratios, and these scores are a {scores.kind}; calibrate "
            'them first, or give `kind="llr"`'
        )
    return float(calibration(scores, *priors)[name].item())


MEASURES = (
    Measure(
        "cllr",
        lambda scores: _measure_of_ratios(scores, "cllr"),
        label="Cllr",
        decimals=4,
        meaning="cost of the log-likelihood ratios (Cllr), in bits",
    ),
    Measure(
        "min_cllr",
        lambda scores: calibration(scores).min_cllr.item(),
        label="min Cllr",
        decimals=4,
        meaning="Cllr after isotonic regression: the least by any monotone map, in bits",
    ),
    Measure(
        "act_dcf",
        lambda scores, prior: _measure_of_ratios(scores, "act_dcf", [prior]),
        label="actual DCF at prior {prior}",
        decimals=4,
        meaning="normalised cost of the decisions at the Bayes threshold of a prior",
        of_prior=True,
    ),
)

"""Comparison of two systems over the same data, with paired intervals by subject."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import scipy
import xarray as xr

from bioeval.base import (
    Argument,
    Client,
    DataError,
    Name,
    ProtocolError,
    RandomState,
    __version__,
    counted,
    require_choice,
    rows_told_to,
)
from bioeval.evaluation import distributable
from bioeval.protocol import with_exclusions
from bioeval.results import KIND_DOUBT, along, build, kind_doubt
from bioeval.scores import (
    BlockReader,
    FusionRule,
    Progress,
    Scores,
    TopKScores,
    are_pairs,
    as_row,
    leaves_out_attacks,
)
from bioeval.stats import IntervalOptions, confidence_limits, zero_error_bound
from bioeval.studies.compare.counts import unpaired_attempts
from bioeval.studies.compare.margins import (
    MARGINS,
    MarginConclusion,
    check_margin,
    margin_variables,
    within_margins,
)
from bioeval.studies.compare.measures import (
    ComparedRetrieval,
    ComparedSystem,
    ComparisonOptions,
    PairedMeasure,
    identification_measures,
    retrieval_measures,
    verification_measures,
)
from bioeval.studies.compare.paired_systems import aligned, numbered_as
from bioeval.studies.reid.convention import cameras_of, column_warnings, convention_of
from bioeval.studies.reid.reid import Named
from bioeval.tallies import (
    FAR_TARGETS,
    ImpostorProbes,
    RankUnit,
    Templates,
    Ties,
    check_targets,
    require_people,
)

COMPARISON = {
    "measure": Name("measure that two systems are compared by"),
    "value_a": Name("value of the first system"),
    "value_b": Name("value of the second system"),
    "difference": Name("first minus second"),
    "difference_low": Name("lower end of the interval of the difference"),
    "difference_high": Name("upper end of the interval of the difference"),
    "tolerance": Name("half the weight of one attempt: a smaller difference is rounding"),
    "p_value": Name("two-sided p-value of the difference alone"),
    "p_adjusted": Name("p-value adjusted for the number of measures by Holm's method"),
    "discordant_subjects": Name(
        "disjoint subjects, or sets of subjects, decided differently by the systems, each at "
        "its own threshold; of the AUC, with different placements",
        "subjects",
    ),
    "discordant_at_most": Name(
        "upper confidence bound of the proportion of subjects that are decided differently, if "
        "there are none"
    ),
    "better": Name("1 the first system is better, -1 the second, 0 no significant difference"),
    "undecided": Name(
        "why no system is better although p_value and interval show a difference, else empty"
    ),
    "supported": Name(
        "1, or 0 where the attempts are too few for the FAR or FRR target: no conclusion then"
    ),
}

#: Adjustments of the conclusions for the number of measures.
Adjustment = Literal["none", "holm"]
ADJUSTMENTS: tuple[Adjustment, ...] = get_args(Adjustment)

_SIDES = ("probe", "gallery template")


def _weak(measure: PairedMeasure) -> str:
    """Return why nothing is concluded below the rule of 3."""
    if measure.scalar.name == "far_at_frr":
        return "too few genuine attempts for this FRR"
    return "too few impostor attempts for this FAR"


@leaves_out_attacks
@distributable
def compare(
    a: Scores,
    b: Scores,
    *,
    templates: Templates = "single",
    fusion: FusionRule = "min",
    far_targets: Sequence[float] = FAR_TARGETS,
    frr_targets: Sequence[float] = (),
    rank_unit: RankUnit = "template",
    ties: Ties = "pessimistic",
    impostors: ImpostorProbes = "auto",
    confidence: float = IntervalOptions.CONFIDENCE,
    replicates: int = IntervalOptions.REPLICATES,
    random_state: RandomState = 0,
    adjust: Adjustment = "none",
    margin: float | Mapping[str, float] | None = None,
    protocol: Named | None = None,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Compare two systems that scored the same templates of the same people.

    The bootstrap is paired: each replicate draws the same subjects for both systems, so that the
    difficulty of the data that both have in common cancels in the difference.

    Parameters
    ----------
    a, b : Scores
        Of the same layout, shape and labels, in the same order. One may hold distances and the
        other similarities. Pairs need their subjects. Where both name their templates (the names of
        a list; metadata ``template`` of both sides of a matrix), or no two pairs have the same
        subjects, they may be in any order, and what one of them lacks is left out, with a warning.
    templates, fusion, far_targets, frr_targets
        As for :func:`verification`.
    rank_unit, ties, impostors
        As for :func:`open_set`.
    confidence : float
        Of each difference by itself.
    replicates, random_state
        As for :func:`verification`.
    adjust : {"none", "holm"}
        Whether ``better`` allows for the number of measures, by Holm's method.
    margin : float or mapping, optional
        Largest difference that does not matter, set before the data are seen: 0.01 is 1 percentage
        point of every measure, ``{"frr_at_far": 0.01}`` of FRR at each FAR target alone. Keys are
        ``eer auc frr_at_far far_at_frr recognition_rate dir_at_far``; with a protocol ``cmc`` and
        the means over queries, as ``mean_ap``.
    protocol : str, path or Protocol, optional
        A card with a ``[reid]`` section: compare re-identification by its convention, in place of
        verification and identification. Top-K lists are accepted as :func:`reid` does.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``, for one system after the other.
    client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    xarray.Dataset
        Over ``measure`` (EER, FRR at each FAR target, FAR at each FRR target, AUC, the recognition
        rate, DIR at each FAR target at rank 1; as far as the scores support them; with a protocol
        mAP, mINP, MRR, R-precision, NDCG, CMC(1) and CMC(5), and the mAP of cut lists): ``value_a
        value_b difference`` (a - b) ``difference_low difference_high p_value p_adjusted`` (Holm's),
        and ``better``: 1 where a is better, -1 where b is, 0 where there is no significant
        difference.
        ``p_value``, limits and ``better`` agree, or ``undecided`` says why not (else empty).
        ``tolerance``: half the weight of one attempt; a smaller difference is rounding.
        ``discordant_subjects``: subjects that the systems decide differently, each system at its
        own threshold; the p-value is at least that of a sign test of them, or of the disjoint sets
        of subjects whose scores are in another order, and with fewer than six ``better`` is 0.
        ``discordant_at_most``: where there
        are none, an upper bound on the proportion of such subjects, else NaN. ``supported`` is 0
        where the impostor attempts are too few for the FAR target, or the genuine ones for the FRR
        target (rule of 3), and ``better`` is 0 there. With a margin, ``margin`` (NaN without one),
        and of a against b 0 or 1: ``not_worse`` where the one-sided interval of the difference
        excludes that a is worse by the margin, ``equivalent`` where the two-sided interval of
        confidence ``2 * confidence - 1`` is within the margin on both sides. The attribute
        ``conclusions`` has a sentence for each measure, and ``verdicts`` what follows from it.

    Raises
    ------
    DataError
        If the two are not over the same data, or a margin is not above 0 and below 1, or is of a
        measure that the comparison does not have.
    ProtocolError
        If the subjects are not known, or an option has no effect under the protocol.
    CardError
        If the protocol has no ``[reid]`` section.

    Notes
    -----
    Paired resampling by subject; operating points are chosen anew for each system in each
    replicate. EER, FRR and FAR have percentile limits of the bootstrap; AUC, recognition rate and
    DIR those of the studentised jackknife (DIR: the wider of both), as all of re-identification.
    Where every decision is the same in both systems, the difference is exactly 0. A difference of
    others that is the same in every replicate has a bound by subjects. With several measures, one
    in twenty differs at 95 % by chance alone, unless ``adjust="holm"``, which does not concern
    ``not_worse`` and ``equivalent``: set the margin of the measure that counts. Where every
    decision is the same, a margin is compared with the bound by subjects (``discordant_at_most``).
    See ``docs/uncertainty.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> crowd = be.simulate_embeddings(50, 4, random_state=1)
    >>> found = be.compare(crowd.scores("l2"), crowd.scores("l1"))
    >>> print(found.attrs["conclusions"].splitlines()[2].partition(", difference ")[2])
    -4.67 pp [-8.67, 0.00]: no significant difference at 95 %.
    >>> found.discordant_subjects.sel(measure="FRR at FAR <= 10 %").item()
    2
    """
    interval = IntervalOptions.parse("subject-bootstrap", confidence, replicates, random_state)
    assert interval is not None
    require_choice("adjust", adjust, ADJUSTMENTS)
    given = check_margin(margin, interval.confidence)
    _require_scores(a, b)
    a, b, apart = aligned(a, b, _names(a, b))
    require_same(a, b)
    b = numbered_as(a, b)
    for scores in (a, b):
        require_people(scores)
    targets, at_frr = check_targets(far_targets), check_targets(frr_targets, "frr_targets")
    options = ComparisonOptions(templates, fusion, rank_unit, ties, impostors)
    columns = with_jackknife(interval)
    measures: list[PairedMeasure] = []
    if protocol is not None:
        rules = convention_of(protocol)
        a = with_exclusions(a, protocol)
        b = with_exclusions(b, protocol)
        _refuse_unused(options, targets, at_frr, rules.name)
        if rules.needs_cameras and not are_pairs(a):
            for first_side, second_side, where in zip(
                cameras_of(a), cameras_of(b), _SIDES, strict=True
            ):
                _require_equal(first_side, second_side, "cameras", where)
        with rows_told_to(progress):
            pair = ComparedRetrieval(a, rules), ComparedRetrieval(b, rules)
        measures += retrieval_measures(*pair, columns)
        conclusions = _conclusions(measures, interval, adjust, given)
        return _dataset(pair, conclusions, interval, adjust, apart)
    with rows_told_to(progress):
        first = ComparedSystem(a, options, targets, at_frr)
        second = ComparedSystem(b, options, targets, at_frr)
    if first.verification is not None and second.verification is not None:
        measures += verification_measures(first, second, columns)
    if first.identifies:
        order = None
        if measures:
            order = measures[0].reordered
        measures += identification_measures(first, second, columns, order)
    conclusions = _conclusions(measures, interval, adjust, given)
    return _dataset((first, second), conclusions, interval, adjust, apart)


def _require_scores(a: Any, b: Any) -> None:
    for what, scores in (("the first", a), ("the second", b)):
        if not isinstance(scores, Scores):
            raise DataError(f"{what} system is {type(scores).__name__}; expected bioeval.Scores")


def require_same(a: Any, b: Any) -> None:
    """Raise :class:`DataError` unless two systems scored the same templates in the same order."""
    _require_scores(a, b)
    if a.layout != b.layout or a.shape != b.shape:
        raise DataError(
            f"the systems are not over the same data: the first is {a.layout} {a.shape}, the "
            f"second {b.layout} {b.shape}"
        )
    if are_pairs(a) and are_pairs(b):
        _require_equal(a.genuine, b.genuine, "genuine flags", "pair")
        if a.pair_subjects is not None and b.pair_subjects is not None:
            for k in (0, 1):
                sides = a.pair_subjects[:, k], b.pair_subjects[:, k]
                _require_equal(*sides, "subjects", "pair")
        return
    for side, where in zip(("probe_labels", "gallery_labels"), _SIDES, strict=True):
        _require_equal(getattr(a, side), getattr(b, side), "labels", where)
    if isinstance(a, TopKScores):
        return
    own = BlockReader(a).gallery.self_position, BlockReader(b).gallery.self_position
    _require_equal(*own, "templates compared with themselves", "probe")


def _refuse_unused(
    options: ComparisonOptions, targets: np.ndarray, at_frr: np.ndarray, convention: str
) -> None:
    """Raise :class:`ProtocolError` for options without effect on re-identification."""
    default = asdict(ComparisonOptions())
    unused = [name for name, value in asdict(options).items() if value != default[name]]
    if not np.array_equal(targets, FAR_TARGETS):
        unused.append("far_targets")
    if len(at_frr):
        unused.append("frr_targets")
    if unused:
        raise ProtocolError(
            f"{' and '.join(str(Argument(name)) for name in unused)} have no effect in a "
            f"comparison of re-identification ({convention}); leave that out, or change the card"
        )


def _require_equal(a: np.ndarray, b: np.ndarray, what: str, where: str) -> None:
    left, right = a.tolist(), b.tolist()
    if left == right:
        return
    differ = [i for i, (x, y) in enumerate(zip(left, right, strict=True)) if x != y]
    i = differ[0]
    raise DataError(
        f"the systems are not over the same data: {what} differ at {len(differ)} of {len(left)} "
        f"places, the first is {where} {i} ({left[i]!r} and {right[i]!r}); expected the same "
        "templates in the same order"
    )


@dataclass(frozen=True)
class _Conclusion:
    """What is concluded about one measure."""

    measure: PairedMeasure
    interval: IntervalOptions
    low: float
    high: float
    p: float
    adjusted: float
    better: int
    undecided: str
    same: bool
    margin: MarginConclusion | None


def _conclusions(
    measures: list[PairedMeasure],
    interval: IntervalOptions,
    adjust: str,
    margin: float | dict[str, float] | None,
) -> list[_Conclusion]:
    """Decide for each measure whether the difference is significant."""
    limits = [_limits(measure, interval) for measure in measures]
    tested = [p if x.supported else np.nan for x, (_, _, p) in zip(measures, limits, strict=True)]
    adjusted_p = holm(np.array(tested, dtype=np.float64)).tolist()
    margins: Sequence[MarginConclusion | None] = [None] * len(measures)
    if margin is not None:
        margins = within_margins(measures, margin, _limits, interval)
    conclusions = []
    for measure, (low, high, p), adjusted, within in zip(
        measures, limits, adjusted_p, margins, strict=True
    ):
        better, undecided = 0, ""
        if p <= 1 - interval.confidence:
            better = int(np.sign(low + high))
        if not measure.scalar.larger_is_better:
            better = -better
        if better:
            undecided = _undecided(measure, adjusted if adjust == "holm" else 0.0, interval)
        conclusions.append(
            _Conclusion(
                measure,
                interval,
                low=low,
                high=high,
                p=p,
                adjusted=adjusted,
                better=0 if undecided else better,
                undecided=undecided,
                same=_is_same(measure),
                margin=within,
            )
        )
    return conclusions


def _undecided(measure: PairedMeasure, adjusted: float, interval: IntervalOptions) -> str:
    """Return why a significant difference is not declared, empty where it is."""
    if not measure.supported:
        return _weak(measure)
    if measure.evidence < least_discordant(interval.confidence):
        return _too_few(measure, interval)
    if adjusted > 1 - interval.confidence:
        return f"the p-value is {adjusted:.2g} after Holm's adjustment"
    return ""


def _too_few(measure: PairedMeasure, interval: IntervalOptions) -> str:
    number = counted(measure.evidence, "independent discordant subjects")
    return f"{number}, {least_discordant(interval.confidence)} needed"


def _is_same(measure: PairedMeasure) -> bool:
    """Return whether both systems decide every attempt alike, in every replicate."""
    change = measure.change
    return not measure.discordant and bool(change[0] == 0) and not np.any(change[~np.isnan(change)])


def _limits(measure: PairedMeasure, interval: IntervalOptions) -> tuple[float, float, float]:
    """Return the limits of the difference of a measure, and its p-value.

    The p-value is at most ``1 - confidence`` where the limits are beyond the tolerance, and nowhere
    else. It is at least that of a sign test of the independent discordant subjects; where this is
    too much, the limits are widened to 0.
    """
    change, tolerance = measure.change, measure.attempt / 2
    if np.isnan(change[0]) or not measure.trials:
        return np.nan, np.nan, np.nan
    if _is_same(measure):
        return 0.0, 0.0, 1.0
    low, high, p = percentile_limits(change, tolerance, interval)
    if measure.scalar.jackknife:
        jackknifed = jackknife_limits(change, tolerance, interval)
        if not np.isnan(jackknifed).any():
            wider = measure.scalar.jackknife == "wider"
            low, high = (
                (min(low, jackknifed[0]), max(high, jackknifed[1])) if wider else jackknifed[:2]
            )
            if wider:
                p = max(p, jackknifed[2])
            else:
                p = jackknifed[2]
    if high - low < tolerance:
        low, high, p = bounded_limits(low, high, tolerance, measure.trials, interval.confidence)
    p = max(p, sign_test_bound(measure.evidence))
    if p > 1 - interval.confidence:
        low, high = min(low, 0.0), max(high, 0.0)
    widest = measure.scalar.bounds[1] - measure.scalar.bounds[0]
    return max(low, -widest), min(high, widest), p


def _dataset(
    systems: tuple[ComparedSystem, ComparedSystem] | tuple[ComparedRetrieval, ComparedRetrieval],
    conclusions: list[_Conclusion],
    interval: IntervalOptions,
    adjust: str,
    apart: list[str],
) -> xr.Dataset:
    """Return the measures of both systems, and what is concluded about them."""
    first, second = systems
    measures = [x.measure for x in conclusions]
    a, b = first.scores, second.scores
    names = _names(a, b)
    people = first.people
    verdicts = [_verdict(x, names, people) for x in conclusions]
    said = [_sentence(x, names, text) for x, text in zip(conclusions, verdicts, strict=True)]
    trials = np.array([max(x.trials, 1) for x in measures])
    unseen = np.array([not x.discordant and x.trials > 0 and x.change[0] == 0 for x in measures])
    over = ("measure",)
    variables = {
        **along(
            over,
            value_a=np.array([x.values[0, 0] for x in measures]),
            value_b=np.array([x.values[1, 0] for x in measures]),
            difference=np.array([x.change[0] for x in measures]),
            difference_low=np.array([x.low for x in conclusions], dtype=np.float64),
            difference_high=np.array([x.high for x in conclusions], dtype=np.float64),
            tolerance=np.array([x.attempt / 2 for x in measures]),
            p_value=np.array([x.p for x in conclusions], dtype=np.float64),
            p_adjusted=np.array([x.adjusted for x in conclusions], dtype=np.float64),
            better=np.array([x.better for x in conclusions], dtype=np.int64),
            undecided=np.array([x.undecided for x in conclusions], dtype=object),
            discordant_subjects=np.array([x.discordant for x in measures], dtype=np.int64),
            discordant_at_most=np.where(
                unseen, zero_error_bound(trials, interval.confidence), np.nan
            ),
            supported=np.array([x.supported for x in measures], dtype=np.int64),
        ),
        **margin_variables([x.margin for x in conclusions if x.margin is not None]),
    }
    remarks = dict.fromkeys([*first.remarks, *second.remarks])
    if isinstance(first, ComparedSystem):
        remarks |= dict.fromkeys([*column_warnings(a), *column_warnings(b)])
    doubts = []
    for row, (name, system) in enumerate(zip(names, (first, second), strict=True)):
        for measure in measures:
            if measure.label == "EER":
                fused = first.details.get("templates") == "multi"
                eer = float(measure.values[row, 0])
                kind, origin = system.scores.kind, system.scores._origin
                doubt = kind_doubt(eer, kind, people, fused=fused, origin=origin, system=name)
                if doubt:
                    doubts.append(doubt)
    warnings = [*doubts, *apart, *interval.few_people(people), *remarks]
    for name, system in zip(names, (first, second), strict=True):
        notes = dict.fromkeys([*system.scores._remarks, *system.failure_codes])
        warnings += [f"{name}: {note}" for note in notes]
    if alone := _made_by_one(a, b):
        warnings.append(
            "the systems have different attempts: one of them alone made "
            f"{counted(alone, 'comparisons')} (failed comparisons, or masks or exclusions that "
            f"differ); attempts of each class: {_listed(first.attempts)} and "
            f"{_listed(second.attempts)}"
        )
    attrs: dict[str, str | int | float] = {
        "task": "comparison of two systems",
        "system_a": names[0],
        "system_b": names[1],
        "layout": a.layout,
        "kind_a": a.kind,
        "kind_b": b.kind,
        "exclude_a": ", ".join(a.exclude),
        "exclude_b": ", ".join(b.exclude),
        "subjects": people,
        **first.details,
        **interval.attrs(),
        "adjust": adjust,
        "fingerprint": f"{a.fingerprint}; {b.fingerprint}",
        "answer": _answer(conclusions, names, interval, adjust),
        "conclusions": "\n".join(said),
        "verdicts": "\n".join(verdicts),
        "bioeval_version": __version__,
        "warnings": "\n".join(warnings),
    }
    if doubts:
        attrs[KIND_DOUBT] = "\n".join(doubts)
    coordinates = {"measure": np.array([x.label for x in measures], dtype=object)}
    return build(variables, COMPARISON | MARGINS, coordinates, attrs)


def _made_by_one(a: Scores, b: Scores) -> int:
    """Return how many comparisons one of two systems made and the other did not."""
    if isinstance(a, TopKScores):
        return 0
    if not any(s.nan == "exclude" or s._has_mask or s.exclude for s in (a, b)):
        return 0
    if are_pairs(a):
        made = (~np.isnan(as_row(s.values, s.kind, s.nan)) for s in (a, b))
        return int((next(made) != next(made)).sum())
    return unpaired_attempts(a, b)


def _names(a: Scores, b: Scores) -> tuple[str, str]:
    """Return the names of the systems, distinct."""
    first, second = a.name or "a", b.name or "b"
    if first != second:
        return (first, second)
    return (f"{first} (a)", f"{second} (b)")


def _listed(attempts: Sequence[int]) -> str:
    return ", ".join(f"{n:,}" for n in attempts)


def _verdict(conclusion: _Conclusion, names: tuple[str, str], people: int) -> str:
    """Return the verdict on a measure in plain words."""
    measure, within = conclusion.measure, conclusion.margin
    if np.isnan(measure.values[:, 0]).any():
        return "not defined"
    if np.isnan(conclusion.low):
        return f"no conclusion with {counted(people, 'subjects')}"
    weak = ""
    if conclusion.same and not measure.supported:
        weak = _weak(measure)
    shown = ""
    if within is not None and measure.supported:
        if within.equivalent or conclusion.better <= 0:  # the better system is not worse
            shown = _margin_text(names[0], measure.scalar.percent, within)
        if (within.equivalent or within.not_worse) and not (conclusion.better or conclusion.same):
            return shown
    return "; ".join(filter(None, [_difference_verdict(conclusion, names), weak, shown]))


def _answer(
    conclusions: list[_Conclusion], names: tuple[str, str], interval: IntervalOptions, adjust: str
) -> str:
    """Return in a sentence in which measures a system is better."""
    tested = sum(not math.isnan(x.adjusted) for x in conclusions)
    after = f"{100 * interval.confidence:g} %, "
    if adjust == "holm":
        after += f"after Holm's adjustment for {counted(tested, 'tested measures')}"
    elif tested == 1:
        after += "one measure tested"
    else:
        after += f"each of {tested} tested measures alone"
    said = []
    for name, sign in zip(names, (1, -1), strict=True):
        labels = [x.measure.label for x in conclusions if x.better == sign]
        if len(labels) == tested > 1:
            said.append(f"{name} is better in all tested measures")
        elif labels:
            said.append(f"{name} is better in {_joined(labels)}")
    if not said:
        return f"No difference between {' and '.join(names)} can be shown ({after})."
    weak = _joined([x.measure.label for x in conclusions if x.better and x.measure.weak])
    few = ""
    if weak:
        few = f" Fewer than 30 errors are expected for {weak}."
    return f"{'; '.join(said)} ({after}).{few}"


def _joined(labels: list[str]) -> str:
    """Return labels in a row, the targets of one rate behind its name."""
    heads = [label.partition("<= ")[0] for label in labels]
    shown = [
        label.removeprefix(f"{head}<= ") if i and head == heads[i - 1] else label
        for i, (label, head) in enumerate(zip(labels, heads, strict=True))
    ]
    return ", ".join(label.removesuffix(", rank 1") for label in shown)


def _difference_verdict(conclusion: _Conclusion, names: tuple[str, str]) -> str:
    """Return the verdict on whether a measure differs."""
    measure, confidence = conclusion.measure, conclusion.interval.confidence
    if conclusion.same:
        return "every decision is the same"
    if conclusion.better:
        return f"{names[0] if conclusion.better > 0 else names[1]} is better"
    if not measure.supported:
        return f"no conclusion: {_weak(measure)}"
    if measure.evidence < least_discordant(confidence):
        return f"too few to decide: {_too_few(measure, conclusion.interval)}"
    if conclusion.undecided:
        return f"no conclusion: {conclusion.undecided}"
    return f"no significant difference at {100 * confidence:g} %"


def _sentence(conclusion: _Conclusion, names: tuple[str, str], verdict: str) -> str:
    """Return the conclusion about a measure as a sentence."""
    measure, confidence = conclusion.measure, conclusion.interval.confidence
    values = measure.values[:, 0]
    if np.isnan(values).any():
        return f"{measure.label}: {verdict}."
    scalar, width = measure.scalar, float(conclusion.high - conclusion.low)
    first = scalar.written_with_unit(float(values[0]), width)
    second = scalar.written_with_unit(float(values[1]), width)
    given = f"{measure.label}: {names[0]} {first}, {names[1]} {second}"
    if np.isnan(conclusion.low):
        return f"{given}: {verdict}."
    if conclusion.same:
        bound = float(zero_error_bound(measure.trials, confidence))
        same, *weak = verdict.split("; ")
        exactly = (
            f"the difference is exactly 0 (at most {100 * bound:.2f} % of people would be decided "
            f"differently, {100 * confidence:g} %)"
        )
        return f"{given}: {'; '.join([same, exactly, *weak])}."
    low = scalar.written(float(conclusion.low), width, "+")
    high = scalar.written(float(conclusion.high), width, "+")
    change = scalar.written_with_unit(float(measure.change[0]), width, "+")
    return f"{given}, difference {change} [{low}, {high}]: {verdict}."


#: Subjects that must be decided differently for a difference to be declared: with five, the most
#: extreme outcome of a two-sided sign test has a probability of 2 / 2^5 = 6.25 %.
LEAST_DISCORDANT = 6


def least_discordant(confidence: float) -> int:
    """Return the number of independent discordant subjects that significance needs."""
    return max(LEAST_DISCORDANT, math.ceil(1 - math.log2(1 - confidence)))


def sign_test_bound(units: int) -> float:
    """Return the smallest two-sided p-value of a sign test of independent units."""
    return min(1.0, 2.0 ** (1 - units))


def with_jackknife(options: IntervalOptions) -> IntervalOptions:
    """Return options whose columns of weights end with those of the jackknife."""
    return replace(options, method="subject-bootstrap-bca")


def percentile_limits(
    change: np.ndarray, tolerance: float, options: IntervalOptions
) -> tuple[float, float, float]:
    """Return the percentile limits of a bootstrapped difference, and its two-sided p-value.

    The p-value is the smallest ``1 - confidence`` at which the interval is beyond the tolerance, at
    least that of no replicate on the other side of 0.

    Parameters
    ----------
    change : float64 array, shape (columns,)
        In each column of :func:`bioeval.stats.bootstrap.weight_columns`.
    tolerance : float
        A difference of this size is rounding.
    """
    low, high = confidence_limits(change[None], replace(options, method="subject-bootstrap"))
    drawn = change[1 : 1 + options.replicates]
    drawn = np.sort(drawn[~np.isnan(drawn)])
    level = min(_level(drawn, tolerance), _level(-drawn[::-1], tolerance))
    p = min(1.0, 2 * max(level, 1 / (1 + len(drawn))))
    return float(low[0]), float(high[0]), p


def _level(ordered: np.ndarray, value: float) -> float:
    """Return the largest level whose quantile of sorted values is not above a value."""
    below, last = int(np.searchsorted(ordered, value, side="right")), len(ordered) - 1
    if not 0 < below <= last:
        return float(below > 0)
    before, after = ordered[below - 1], ordered[below]
    return float((below - 1 + (value - before) / (after - before)) / last)


def jackknife_limits(
    change: np.ndarray, tolerance: float, options: IntervalOptions
) -> tuple[float, float, float]:
    """Return the limits of a difference by the studentised jackknife, and its two-sided p-value.

    Without subject (or group of subjects) ``a`` the difference is ``x_a``; with ``m`` the mean of
    the ``n`` of these, ``V = (n - 1) / n * sum_a (x_a - m)^2``, and the limits are those of
    Student's t with ``n - 1`` degrees of freedom. The p-value is that of :func:`percentile_limits`.
    NaN where one of them is undefined, or where all are the same, which says nothing of their
    spread.
    """
    without = change[1 + options.replicates :]
    n = len(without)
    if n < 2 or np.isnan(without).any():
        return np.nan, np.nan, np.nan
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if not error > 0:
        return np.nan, np.nan, np.nan
    half = float(scipy.special.stdtrit(n - 1, 0.5 + options.confidence / 2)) * error
    value = float(change[0])
    p = float(2 * scipy.special.stdtr(n - 1, -max(abs(value) - tolerance, 0.0) / error))
    return value - half, value + half, p


def bounded_limits(
    low: float, high: float, tolerance: float, trials: int, confidence: float
) -> tuple[float, float, float]:
    """Return limits widened on both sides by a bound by subjects, and their p-value.

    As for a rate without an error among `trials` subjects: where every replicate has the same
    difference, resampling says nothing of its spread.
    """
    bound = float(zero_error_bound(trials, confidence))
    apart = min(max(low - tolerance, -high - tolerance, 0.0), 1.0)
    return low - bound, high + bound, (1 - apart) ** trials


def holm(p: np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's step-down method; NaN are left out.

    Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 65-70. Valid under any dependence of the tests.
    """
    out = np.full(len(p), np.nan)
    tested = np.nonzero(~np.isnan(p))[0]
    order = tested[np.argsort(p[tested], kind="stable")]
    factor = len(order) - np.arange(len(order))
    out[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factor))
    return out


def _margin_text(name: str, percent: bool, within: MarginConclusion) -> str:
    """Return in words by how much the first of two systems may be worse; empty without a margin."""
    if math.isnan(within.margin):
        return ""
    size = f"{within.margin:g}"
    if percent:
        size = f"{100 * within.margin:g} pp"
    if within.equivalent:
        return f"equivalent within {size}"
    if within.not_worse:
        return f"{name} is not worse by more than {size}"
    return f"{name} may be worse by more than {size}"

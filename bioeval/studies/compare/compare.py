"""Comparison of two systems over the same data, with paired intervals by subject."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.counts import ImpostorProbes
from bioeval.attempts.identification_counter import RankUnit
from bioeval.attempts.points import FAR_TARGETS, check_targets
from bioeval.attempts.tied_places import Ties
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.messages import Message, message_attrs
from bioeval.base.progress import rows_reported
from bioeval.base.scalars import Name
from bioeval.base.version import __version__
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import OpenSet
from bioeval.results.dataset import along, build
from bioeval.results.support import KindVerdict
from bioeval.scores.arrays import FusionRule
from bioeval.scores.blocks import BlockReader
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.top_k import TopKScores
from bioeval.stats.options import IntervalMethod
from bioeval.studies.calibration import measures as calibration_measures
from bioeval.studies.compare.counts import unpaired_attempts
from bioeval.studies.compare.described import DESCRIBED, describe, is_known
from bioeval.studies.compare.limits import (
    DifferenceLimits,
    difference_limits,
    least_discordant,
    population_of,
)
from bioeval.studies.compare.many import rank_systems
from bioeval.studies.compare.measures import (
    ComparedRetrieval,
    ComparedSystem,
    PairedMeasure,
    identification_measures,
    retrieval_measures,
    verification_measures,
)
from bioeval.studies.compare.options import ComparisonOptions, refuse_unused
from bioeval.studies.compare.paired_systems import aligned, numbered_as
from bioeval.studies.compare.section import attributes_in_words
from bioeval.studies.compare.systems import curves_asked_for, in_order, other_measures
from bioeval.studies.compare.wanted import WantedMeasures
from bioeval.tasks.reid import measures as reid_measures
from bioeval.tasks.reid.convention import cameras_of, column_warnings, convention_of
from bioeval.tasks.reid.reid import Named
from bioeval.views.messages import warn_of_kind

COMPARISON = {
    "measure": Name("measure that two systems are compared by"),
    "scalar": Name("name of the measure without its target and rank, as frr_at_far"),
    "target": Name("FAR or FRR target of the measure; NaN without one"),
    "prior": Name("prior probability of a genuine attempt, of a cost; NaN without one"),
    "at_threshold": Name("threshold of a rate at one that was given; NaN without one", "score"),
    "at_rank": Name("rank of a CMC, or that lists are cut at; NaN without one", "rank"),
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
    "independent_discordant": Name(
        "evidence of a difference: discordant_subjects, or disjoint sets of subjects with a "
        "genuine and an impostor attempt in another order where these are fewer",
        "subjects",
    ),
    "discordant_at_most": Name(
        "upper confidence bound of the proportion of subjects that are decided differently, if "
        "there are none"
    ),
    "better": Name("1 the first system is better, -1 the second, 0 no significant difference"),
    "undecided": Name(
        "why no system is better although p_value and interval show a difference: "
        "too-few-attempts, too-few-discordant, adjusted; else empty"
    ),
    "interval_for": Name(
        "population that the interval is for: new people, or other probes of the same people in "
        "this gallery"
    ),
    "attempts_for_target": Name(
        "impostor attempts (genuine ones for an FRR target) of the system that made fewer; NaN "
        "without a target",
        "attempts",
    ),
    "supported": Name(
        "1, or 0 where the attempts are too few for the FAR or FRR target: no conclusion then"
    ),
}

#: Adjustments of the conclusions for the number of measures.
Adjustment = Literal["none", "holm"]
ADJUSTMENTS: tuple[Adjustment, ...] = get_args(Adjustment)

#: Whether the gallery's people are left out with the probes', or the gallery is taken as it is.
ComparedGallery = Literal["new", "fixed"]
GALLERIES: tuple[ComparedGallery, ...] = get_args(ComparedGallery)

#: What becomes of a system that cannot be read, or has other data than the first.
InvalidSystem = Literal["raise", "leave-out"]
INVALID: tuple[InvalidSystem, ...] = get_args(InvalidSystem)

_SIDES = ("probe", "gallery template")


@leaves_out_attacks
def compare(
    a: Scores | Mapping[str, Any],
    b: Scores | None = None,
    *,
    measures: Sequence[Any] | str | None = None,
    fusion: FusionRule = "min",
    far_targets: Sequence[float] = FAR_TARGETS,
    frr_targets: Sequence[float] = (),
    rank_unit: RankUnit = "template",
    ties: Ties = "pessimistic",
    impostors: ImpostorProbes = "auto",
    gallery: ComparedGallery = "new",
    interval: str | IntervalMethod = "subject-bootstrap",
    adjust: Adjustment = "none",
    invalid: InvalidSystem = "raise",
    protocol: Named | None = None,
) -> xr.Dataset:
    """Compare systems that scored the same templates of the same people.

    Of two systems the result is a comparison, of any number by name a ranking. The people are the
    same in every replicate and for every system, so that the difficulty of the data that all have
    in common cancels in the differences.

    Parameters
    ----------
    a, b : Scores
        Two systems of the same layout, shape and labels, in the same order. One may hold distances
        and the other similarities. Pairs need their subjects. Where both name their templates (the
        names of a list; metadata ``template`` of both sides of a matrix), or no two pairs have the
        same subjects, they may be in any order, and what one of them lacks is left out, with a
        warning. Or `a` alone, a mapping of the name of each system to its scores, or to a function
        without arguments that reads them: then one system at a time is in memory.
    measures : sequence, optional
        What to compare: names as ``"eer"``, ``"frr_at_far=0.001"``, ``"far_at_frr=0.01"``,
        ``"auc"``, ``"eer_hull"``, ``"min_dcf=0.01"`` (at a prior), ``"frr_at_threshold=0.4"``,
        ``"far_at_threshold=0.4"``, ``"recognition_rate"``, ``"cms=5"`` (at a rank),
        ``"dir_at_far=0.01"``, ``"cllr"``, ``"min_cllr"`` and the best values of
        :func:`bioeval.scalar`; with a protocol ``"cmc=10"`` and the means over queries, as
        ``"mean_ap"``. Also a :class:`bioeval.Measure`, or a function of scores that returns a
        number of which less is better. By default EER, FRR at each FAR target, FAR at each FRR
        target, AUC, recognition rate and DIR.
    far_targets, frr_targets
        As for :func:`verification`.
    rank_unit, fusion, ties, impostors
        As for :func:`open_set`.
    gallery : {"new", "fixed"}
        The population of the intervals of identification and re-identification. ``"new"``: new
        people, enrolled and searched for; each person is left out as probe and from the gallery.
        ``"fixed"``: other probes in this gallery, whose people are not left out. It is always fixed
        for top-K lists. ``interval_for`` says which, for each measure.
    interval : "subject-bootstrap" or :class:`bioeval.stats.IntervalMethod`
        Of each difference by itself.
    adjust : {"none", "holm"}
        Whether ``better`` allows for the number of measures, by Holm's method.
    invalid : {"raise", "leave-out"}
        Of systems by name, whether one that cannot be read, or has other data than the first, is an
        error, or is left out with a warning.
    protocol : str, path or Protocol, optional
        A card with a ``[reid]`` section: compare re-identification by its convention, in place of
        verification and identification. Top-K lists are accepted as :func:`reid` does.

    Returns
    -------
    xarray.Dataset
        Of two systems over ``measure`` (EER, FRR at each FAR target, FAR at each FRR target, AUC,
        the recognition rate, DIR at each FAR target at rank 1; as far as the scores support them;
        with a protocol mAP, mINP, MRR, R-precision, MAP@R, NDCG, CMC(1) and CMC(5), and the mAP
        of cut lists):
        ``value_a value_b difference`` (a - b) ``difference_low difference_high p_value
        p_adjusted`` (Holm's), and ``better``: 1 where a is better, -1 where b is, 0 where there is
        no significant difference.
        ``p_value``, limits and ``better`` agree, or ``undecided`` says why not (else empty).
        ``tolerance``: half the weight of one attempt; a smaller difference is rounding.
        ``discordant_subjects``: subjects that the systems decide differently, each system at its
        own threshold; the p-value is at least that of a sign test of them, or of the disjoint sets
        of subjects whose scores are in another order, and with fewer than six ``better`` is 0.
        ``discordant_at_most``: where there
        are none, an upper bound on the proportion of such subjects, else NaN. ``supported`` is 0
        where the impostor attempts are too few for the FAR target, or the genuine ones for the FRR
        target (rule of 3), and ``better`` is 0 there. The attribute
        ``conclusions`` has a sentence for each measure, and ``verdicts`` what follows from it.

        Of systems by name, over ``system`` and ``measure``: ``value value_low value_high`` (the
        interval of the value by itself), ``rank`` (1 is the best), ``rank_low rank_high`` (the
        ranks that the system may have, at one confidence for all systems together) and ``letters``
        (systems that share one cannot be told apart). Over ``system``, ``other_system`` and
        ``measure``: ``difference difference_low difference_high`` (limits for all pairs together),
        ``p_value`` (adjusted for the number of pairs) and ``separated``: 1 where the system is
        better, -1 where it is worse, else 0. Of two systems the limits are those of the
        comparison.

    Raises
    ------
    DataError
        If the two are not over the same data.
    ProtocolError
        If the subjects are not known, or an option has no effect under the protocol.
    CardError
        If the protocol has no ``[reid]`` section.

    Notes
    -----
    Paired resampling by subject; operating points are chosen anew for each system in each
    replicate. EER, FRR and FAR have percentile limits of the bootstrap; AUC, recognition rate and
    DIR those of the studentised jackknife (DIR: the wider of both), as all of re-identification.
    The jackknife leaves out each person, or, of re-identification, each of 20 groups of more than
    40 people, whose rates are counted anew, all in one more pass over the scores.
    Where every decision is the same in both systems, the difference is exactly 0. A difference of
    others that is the same in every replicate has a bound by subjects. With several measures, one
    in twenty differs at 95 % by chance alone, unless ``adjust="holm"``.
    A system that was chosen because its figure is the best on these data, as the best of twelve
    epochs, looks better than it is, and ``better`` and the limits do not know of the others: choose
    it on other people than those of `a` and `b`. See ``docs/uncertainty.md``.

    Limits of all pairs of systems together are ``c`` standard errors wide: those of the jackknife,
    and where thresholds are chosen anew those of the bootstrap if they are larger. ``c`` is the
    quantile of the largest studentised difference (max-t, Romano and Wolf 2005), or rather
    Student's quantile that is as rare. Sets of ranks: Mogstad, Romano, Shaikh and Wilhelm (2024);
    letters: Piepho (2004). Pairs of systems that decide fewer than six people differently are not
    told apart. Several measures are separate families, unless ``adjust="holm"``.
    See ``docs/many-systems.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> crowd = be.simulate_embeddings(50, 4, random_state=1)
    >>> comparison = be.compare(crowd.scores("l2"), crowd.scores("l1"))
    >>> print(comparison.attrs["conclusions"].splitlines()[2].partition(", difference ")[2])
    -4.67 pp [-8.67, 0.00]: no significant difference at 95 %.
    >>> comparison.discordant_subjects.sel(measure="FRR at FAR <= 10 %").item()
    2

    Which of three metrics is the best?

    >>> crowd = be.simulate_embeddings(60, 4, within=0.8, random_state=1)
    >>> systems = {metric: crowd.scores(metric) for metric in ("l2", "l1", "cosine")}
    >>> ranking = be.compare(systems, measures=["frr_at_far=0.01"])
    >>> ranking["letters"].values[:, 0].tolist()
    ['b', 'b', 'a']
    """
    method = IntervalMethod.of(interval, ("subject-bootstrap",))
    assert method is not None
    require_choice("adjust", adjust, ADJUSTMENTS)
    require_choice("gallery", gallery, GALLERIES)
    require_choice("invalid", invalid, INVALID)
    targets, at_frr = check_targets(far_targets), check_targets(frr_targets, "frr_targets")
    rules = None
    if protocol is not None:
        rules = convention_of(protocol)
        if measures is None:
            how = [fusion, rank_unit, ties, impostors]
            refuse_unused(how, targets, at_frr, rules.name)
    options = ComparisonOptions(
        wanted=WantedMeasures.parse(
            measures,
            targets,
            at_frr,
            retrieval=rules is not None,
            functions=[*calibration_measures.MEASURES, *reid_measures.MEASURES],
        ),
        search=OpenSet(rank_unit=rank_unit, fusion=fusion, ties=ties, impostors=impostors),
        interval=method,
        gallery=gallery,
        adjust=adjust,
        rules=rules,
        protocol=protocol,
        leave_out=invalid == "leave-out",
    )
    if isinstance(a, Mapping):
        if b is not None:
            raise DataError(
                "systems are given by name and as ", Argument("b"), "; give one of both"
            )
        with rows_reported():
            return rank_systems(
                a,
                options,
                lambda x, y: _require_alike(x, y, options),
                lambda x, y: _compare_two(x, y, options),
            )
    return _compare_two(a, b, options)


def _compare_two(a: Any, b: Any, options: ComparisonOptions) -> xr.Dataset:
    """Return the comparison of two systems."""
    interval = options.interval
    _require_scores(a, b)
    a, b, apart = aligned(a, b, _names(a, b))
    _require_alike(a, b, options)
    b = numbered_as(a, b)
    for scores in (a, b):
        SubjectAttempts.require_people(scores)
    # With the last columns, those of the jackknife.
    columns, wanted = options.for_each_person, options.wanted
    compared: list[PairedMeasure] = []
    one: ComparedSystem | ComparedRetrieval
    other: ComparedSystem | ComparedRetrieval
    if options.rules is not None:
        a = with_exclusions(a, options.protocol)
        b = with_exclusions(b, options.protocol)
        with rows_reported():
            one, other = (options.count_queries(x) for x in (a, b))
        compared += retrieval_measures(one, other, columns)
    else:
        with rows_reported():
            one, other = options.count(a), options.count(b)
        if one.claimed is not None and other.claimed is not None:
            compared += verification_measures(one, other, columns, curves_asked_for(one, wanted))
        if one.searched is not None:
            order = compared[0].reordered if compared else None
            compared += identification_measures(one, other, columns, order, options.gallery)
        compared += other_measures(one, other, wanted, interval, options.gallery)
    asked = in_order(compared, wanted)
    if not asked:
        raise DataError(
            "none of the measures is defined for these systems: lists that end before the last "
            "match have no mAP, and pairs no identification"
        )
    conclusions = _conclusions(asked, interval, options.adjust)
    return _Comparison(one, other, conclusions, interval, options.adjust, apart).dataset()


def _require_scores(a: Any, b: Any) -> None:
    for ordinal, scores in (("the first", a), ("the second", b)):
        if not isinstance(scores, Scores):
            raise DataError(f"{ordinal} system is {type(scores).__name__}; expected bioeval.Scores")


def _require_alike(a: Any, b: Any, options: ComparisonOptions) -> None:
    """Raise :class:`DataError` unless systems have the same data, and cameras where they count."""
    require_same(a, b)
    if options.rules is not None and options.rules.needs_cameras and not are_pairs(a):
        for first_side, second_side, where in zip(
            cameras_of(a), cameras_of(b), _SIDES, strict=True
        ):
            _require_equal(first_side, second_side, "cameras", where)


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
                mine, theirs = a.pair_subjects[:, k], b.pair_subjects[:, k]
                _require_equal(mine, theirs, "subjects", "pair")
        return
    for side, where in zip(("probe_labels", "gallery_labels"), _SIDES, strict=True):
        _require_equal(getattr(a, side), getattr(b, side), "labels", where)
    if isinstance(a, TopKScores):
        return
    mine, theirs = BlockReader(a).gallery.probe_position, BlockReader(b).gallery.probe_position
    _require_equal(mine, theirs, "templates compared with themselves", "probe")


def _require_equal(a: np.ndarray, b: np.ndarray, column: str, where: str) -> None:
    """Raise :class:`DataError` naming the first place `where` two columns differ."""
    left, right = a.tolist(), b.tolist()
    if left == right:
        return
    differ = [i for i, (x, y) in enumerate(zip(left, right, strict=True)) if x != y]
    i = differ[0]
    raise DataError(
        f"the systems are not over the same data: {column} differ at {len(differ)} of {len(left)} "
        f"places, the first is {where} {i} ({left[i]!r} and {right[i]!r}); expected the same "
        "templates in the same order"
    )


@dataclass(frozen=True)
class _Conclusion:
    """What is concluded about one measure, NaN and 0 where nothing is."""

    measure: PairedMeasure
    interval: IntervalMethod
    limits: DifferenceLimits
    adjusted: float  # p-value
    better: int = 0
    undecided: str = ""

    def decided(self, adjust: str) -> _Conclusion:
        """Say which system is better, or why neither is although the difference is significant."""
        if not self.limits.p <= 1 - self.interval.confidence:
            return self
        better = int(np.sign(self.limits.low + self.limits.high))
        if not self.measure.scalar.larger_is_better:
            better = -better
        undecided = ""
        if better and not self.measure.supported:
            undecided = "too-few-attempts"
        elif better and self.measure.evidence < least_discordant(self.interval.confidence):
            undecided = "too-few-discordant"
        elif better and adjust == "holm" and self.adjusted > 1 - self.interval.confidence:
            undecided = "adjusted"
        if undecided:
            better = 0
        return replace(self, better=better, undecided=undecided)

    def variables(self) -> dict[str, float | str]:
        """Return the value of each variable of a comparison."""
        measure, at_most = self.measure, np.nan
        if not measure.discordant and measure.trials > 0 and measure.change[0] == 0:
            at_most = measure.bound(self.interval.confidence)
        attempts = measure.made if math.isfinite(measure.made) else np.nan
        return {
            "scalar": measure.scalar.name,
            "target": measure.target,
            "prior": measure.prior,
            "at_threshold": measure.threshold,
            "at_rank": measure.rank or np.nan,
            "value_a": measure.values[0, 0],
            "value_b": measure.values[1, 0],
            "difference": measure.change[0],
            "difference_low": self.limits.low,
            "difference_high": self.limits.high,
            "tolerance": measure.attempt / 2,
            "p_value": self.limits.p,
            "p_adjusted": self.adjusted,
            "better": self.better,
            "undecided": self.undecided,
            "discordant_subjects": measure.discordant,
            "independent_discordant": measure.evidence,
            "discordant_at_most": at_most,
            "interval_for": population_of(measure, self.interval),
            "attempts_for_target": attempts,
            "supported": int(measure.supported),
        }


def _conclusions(
    measures: list[PairedMeasure], interval: IntervalMethod, adjust: str
) -> list[_Conclusion]:
    """Decide for each measure whether the difference is significant."""
    limits = [difference_limits(measure, interval) for measure in measures]
    tested = np.full(len(measures), np.nan)
    for i, measure in enumerate(measures):
        if measure.supported:
            tested[i] = limits[i].p
    return [
        _Conclusion(measure, interval, difference, adjusted).decided(adjust)
        for measure, difference, adjusted in zip(
            measures, limits, holm(tested).tolist(), strict=True
        )
    ]


@dataclass(frozen=True)
class _Comparison:
    """Two systems, and what is concluded about their measures."""

    first: ComparedSystem | ComparedRetrieval
    second: ComparedSystem | ComparedRetrieval
    conclusions: list[_Conclusion]
    interval: IntervalMethod
    adjust: str
    apart: list[Message]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the systems, distinct."""
        return _names(self.first.scores, self.second.scores)

    def dataset(self) -> xr.Dataset:
        """Return the measures of both systems, and what is concluded about them."""
        labels = []
        columns: dict[str, Any] = defaultdict(list)
        scalars = [x.measure.scalar for x in self.conclusions]
        described = not all(is_known(x.name) for x in scalars)  # those of scripts are not
        for conclusion in self.conclusions:
            labels.append(conclusion.measure.label)
            for name, value in conclusion.variables().items():
                columns[name].append(value)
            if described:
                for name, value in describe(conclusion.measure.scalar).items():
                    columns[name].append(value)
        for name in ("prior", "at_threshold"):
            if np.isnan(columns[name]).all():
                del columns[name]
        for name in ("scalar", "undecided", "interval_for", "value_kind"):
            if name in columns:
                columns[name] = np.array(columns[name], dtype=object)
        variables = along(("measure",), **{name: np.array(x) for name, x in columns.items()})
        coordinates = {"measure": np.array(labels, dtype=object)}
        doubts = self._doubts()
        attrs = self._data() | {"bioeval_version": __version__}
        attrs |= message_attrs([*doubts, *self._warnings()])
        dataset = build(variables, COMPARISON | DESCRIBED, coordinates, attrs)
        return dataset.assign_attrs(attributes_in_words(dataset))

    def _data(self) -> dict[str, str | int | float]:
        """Return the attributes of the data and of the options."""
        a, b = self.first.scores, self.second.scores
        return {
            "result_type": "comparison",
            "task": "comparison of two systems",
            "system_a": self.names[0],
            "system_b": self.names[1],
            "layout": a.layout,
            "kind_a": a.kind,
            "kind_b": b.kind,
            "exclude_a": ", ".join(a.exclude),
            "exclude_b": ", ".join(b.exclude),
            "subjects": self.first.people,
            **self.first.details,
            **self.interval.attrs(),
            "adjust": self.adjust,
            "least_discordant": least_discordant(self.interval.confidence),
            "fingerprint": f"{a.fingerprint}; {b.fingerprint}",
            "fingerprint_a": a.fingerprint,
            "fingerprint_b": b.fingerprint,
        }

    def _doubts(self) -> list[Message]:
        """Return the doubts about the kind of the scores of each system."""
        people, fused = self.first.people, bool(self.first.scores._claims)
        doubts = []
        for measure in [x.measure for x in self.conclusions if x.measure.scalar.name == "eer"]:
            for name, system, eer in zip(
                self.names, (self.first, self.second), measure.values[:, 0].tolist(), strict=True
            ):
                kind, metric = system.scores.kind, system.scores._metric
                doubt = KindVerdict.doubt(eer, kind, people, fused=fused, metric=metric)
                if doubt is not None:
                    doubts.append(doubt.concerning(name))
                    warn_of_kind(doubts[-1])
        return doubts

    def _warnings(self) -> list[Message]:
        """Return the other warnings, those of one system with its name."""
        first, second = self.first, self.second
        a, b = first.scores, second.scores
        remarks = [*first.remarks, *second.remarks]
        if isinstance(first, ComparedSystem):
            remarks += [*column_warnings(a), *column_warnings(b)]
        warnings = [*self.apart, *self.interval.few_people(first.people), *dict.fromkeys(remarks)]
        for name, system in zip(self.names, (first, second), strict=True):
            warnings += [note.concerning(name) for note in system.scores._remarks]
        if alone := _made_by_one(a, b):
            warnings.append(
                Message(
                    "different-attempts",
                    comparisons=alone,
                    attempts_a=list(first.attempts),
                    attempts_b=list(second.attempts),
                )
            )
        return warnings


def _made_by_one(a: Scores, b: Scores) -> int:
    """Return how many comparisons one of two systems made and the other did not."""
    if isinstance(a, TopKScores):
        return 0
    if not any(s.nan == "exclude" or s._has_mask or s.exclude for s in (a, b)):
        return 0
    if are_pairs(a) and are_pairs(b):
        failed_a, failed_b = np.isnan(a._distances()), np.isnan(b._distances())
        return int((failed_a != failed_b).sum())
    return unpaired_attempts(a, b)


def _names(a: Scores, b: Scores) -> tuple[str, str]:
    """Return the names of the systems, distinct."""
    first, second = a.name or "a", b.name or "b"
    if first != second:
        return (first, second)
    return (f"{first} (a)", f"{second} (b)")


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

"""Comparison of systems over the same data: differences, ranks, and letters of the systems.

The definition::

    for system in systems:  # one after another, on the templates that all have in common
        for measure in measures:
            columns[measure, system] = value, *(value without each person for person in people)
    for measure in measures:
        for i, j in pairs of systems:
            difference[i, j] = columns[i, 0] - columns[j, 0]
            # Student's test of the jackknife of columns[i] - columns[j], adjusted for the pairs

In this file: :func:`compare`; the measures that are asked for (:class:`WantedMeasures`); the
measures of one system (:func:`by_attempts`, of re-identification :func:`by_queries`); the result
(:class:`ComparedMeasure`, :func:`comparison_dataset`); and results over folds.

``columns`` are ``(1 + people,)`` of a system, or ``(1 + groups,)`` where groups of people are left
out; statistics of a measure are ``(systems,)`` or ``(systems, systems)``. For measures at
thresholds that are chosen on the data, the value in each replicate is kept as well; replicates draw
people anew, the same people for all systems. A pair that decides differently on fewer than six
people (`discordant`) has no test.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import scipy
import xarray as xr

from bioeval.base.arguments import require_choice, require_text
from bioeval.base.errors import (
    BioevalError,
    DataError,
    Message,
    ProtocolError,
    backquoted,
    counted,
    enumerated,
    joined_messages,
    message_attrs,
    messages_of,
    received,
)
from bioeval.base.progress import reporter, rows_reported
from bioeval.counting.searches import Searches, Searching
from bioeval.counting.searches_without import LeftOut
from bioeval.counting.threshold_rules import PointsWanted, Rule
from bioeval.counting.thresholds import FAR_TARGETS, check_targets, to_internal
from bioeval.counting.verification import Verified, Verifying, count, to_verify
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import ImpostorProbes, OpenSet, RankUnit, Ties
from bioeval.results.beyond_scores import beyond_scores, following_scores
from bioeval.results.dataset import dataset
from bioeval.results.measure import Measure
from bioeval.results.query_means import QueryMean, QueryMeasures
from bioeval.results.support import (
    RuleOf,
    independent_trials,
    note_asked_targets,
    searching_people,
    support_messages,
)
from bioeval.results.variables import (
    COORDINATES,
    QUERY_MEANS,
    SUPPORTED,
    TARGETS,
    TASKS,
    VARIABLES,
    Variable,
    best_values,
)
from bioeval.scores.alignment import SIDES, aligned, numbered_as, require_equal, require_one_scale
from bioeval.scores.attempts import left_out
from bioeval.scores.distances import FusionRule, order_of, require_use_of_fusion
from bioeval.scores.matrix import Scores, require_all_scores
from bioeval.scores.people import (
    left_out_with,
    people_of_probes,
    require_people,
    units_of_people,
)
from bioeval.scores.provenance import Provenance, camera_notes, too_few_notes
from bioeval.scores.rows import threads_for
from bioeval.scores.sampled import is_symmetric
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.aggregate import attrs_of_interval
from bioeval.stats.error_curves import curve_measures
from bioeval.stats.jackknife import student
from bioeval.stats.options import BOOTSTRAP, PEOPLE, IntervalMethod, required_interval
from bioeval.stats.search_columns import FEWEST, SearchColumns
from bioeval.stats.simultaneous import Differences, discordant, least_discordant
from bioeval.stats.verification import VerificationColumns, VerificationLimits
from bioeval.stats.weighted_sums import ratio
from bioeval.tasks.reid.candidates import (
    Candidates,
    Convention,
    Named,
    cameras_of,
    convention_of,
)
from bioeval.tasks.reid.intervals import QueryReplicates
from bioeval.tasks.reid.measures import means_without_groups
from bioeval.tasks.reid.reid import plan_reid, require_matches

#: How conclusions are adjusted for the number of measures.
Adjustment = Literal["none", "holm"]

#: Limits of measures of tracking need at least this number of sequences.
FEWEST_SEQUENCES = 12

#: Scores, or a function that reads them, so that one system at a time is in memory.
System: TypeAlias = Scores | Callable[[], Scores]

#: The rates at a threshold that is given.
AT_THRESHOLD = {
    f"{name}_at_threshold": replace(
        VARIABLES[name],
        name=f"{name}_at_threshold",
        label=f"{{{name}}} at threshold {{threshold}}",
    )
    for name in ("frr", "far")
}

#: The same rates, each system at a threshold of its own.
AT_THRESHOLDS = {
    f"{name}_at_thresholds": replace(
        VARIABLES[name],
        name=f"{name}_at_thresholds",
        label=f"{{{name}}} at the threshold of each system",
        dims=(),
        threshold="",
    )
    for name in ("frr", "far")
}

#: CMS at a rank.
CMS_AT_RANK = replace(VARIABLES["cms"], label="{cms}({rank})")

#: The measures of identification.
IDENTIFICATION = ("recognition_rate", "cms", "dir_at_far")

#: For each measure with a number behind ``=``: a word for the number; and an example if a number
#: must be given, None if the targets of the call are the default.
_NUMBERS: dict[str, tuple[str, float | None]] = {
    "frr_at_far": ("a FAR target", None),
    "dir_at_far": ("a FAR target", None),
    "far_at_frr": ("an FRR target", None),
    "min_dcf": ("a prior", 0.01),
    **dict.fromkeys(("cms", "cmc"), ("a rank", 5)),
    "dir": ("a rank", None),  # of results over folds
    **dict.fromkeys(AT_THRESHOLD, ("a threshold", 0.5)),
    **dict.fromkeys(AT_THRESHOLDS, ("a threshold for each system", 0.5)),
}

# Number of groups of people: a function of the scores is computed anew without each group.
_GROUPS_OF_FUNCTIONS = 20

# The same of re-identification.
_GROUPS_OF_QUERIES = 100

# The ranks of the CMC that are compared by default.
_RANKS = (1, 5)

# The attributes of a result of re-identification that say how it was evaluated.
_DETAILS = ("convention", "removes", "junk", "cmc_counts", "ties", "ap", "unmatched_queries")

#: The name of the placeholder in the label of a measure, by the dimension of the number.
PLACES = {
    **dict.fromkeys(TARGETS, "target"),
    "cost": "prior",
    "threshold": "threshold",
    "rank": "rank",
}

#: The statistics of each measure, by the ends of the names: ``eer_difference`` belongs to ``eer``.
STATISTICS = {
    "low": Variable("lower end of the interval of the value, by itself"),
    "high": Variable("upper end of the interval of the value, by itself"),
    "supported": Variable(
        "of a measure at targets, costs, thresholds or ranks: 1, or 0 where people or attempts are "
        "too few for the target: no conclusion then; NaN where the measure was not asked for",
        "1",
    ),
    "rank": Variable("place of the value, 1 is the best; equal values have the same one", "1"),
    "rank_low": Variable("smallest rank that the system may have, for all systems together", "1"),
    "rank_high": Variable("largest rank that the system may have, for all systems together", "1"),
    "letters": Variable("systems that share a letter do not differ significantly"),
    "difference": Variable("value of the system minus that of the other system"),
    "difference_low": Variable(
        "lower limit of the difference; the limits hold for all pairs together"
    ),
    "difference_high": Variable(
        "upper limit of the difference; the limits hold for all pairs together"
    ),
    "t": Variable("t of the corrected resampled t-test, of results over folds", "1", decimals=3),
    "p_value": Variable(
        "two-sided p-value of the difference, adjusted for the number of pairs", "p"
    ),
    "p_adjusted": Variable(
        "p-value adjusted for the number of measures as well, by Holm's method",
        "p",
        detail="verbose",
    ),
    "separated": Variable(
        "1 where the system is shown to be better than the other one, -1 where it is shown to be "
        "worse, else 0",
        "1",
    ),
    "discordant": Variable(
        "people (of trackers: sequences) on whom the systems decide differently, at least",
        "subjects",
    ),
}

#: The statistics in the unit of the measure.
_IN_UNIT_OF_MEASURE = ("low", "high", "difference", "difference_low", "difference_high")

#: The statistics that tables of two systems show, and tables of more; others are in data alone.
_SHOWN_OF_TWO = ("difference", "t", "separated", "p_value", "p_adjusted")
_SHOWN_OF_MORE = (*_SHOWN_OF_TWO, "rank", "letters")

#: The dimensions that all measures have.
SYSTEMS = {
    "system": Variable("system", label="system"),
    "other_system": Variable("system that is subtracted", label="other system"),
}

#: The variables of a comparison; ``MEASURE`` stands for the name of a measure.
COMPARISON = {
    **SYSTEMS,
    "MEASURE": Variable("value of the system, in the unit of the measure"),
    **{f"MEASURE_{name}": about for name, about in STATISTICS.items()},
}


#: The population that limits hold for, if people are left out as probes and in the gallery.
NEW_PEOPLE = "new people"

#: The population that limits hold for, if people are left out as probes alone.
THIS_GALLERY = "this gallery"

NONE = np.empty(0)


@warns_of_doubts
def compare(
    a: Scores | xr.Dataset | Mapping[str, System | xr.Dataset],
    b: Scores | xr.Dataset | None = None,
    *,
    measures: Sequence[Any] | str | None = None,
    fusion: FusionRule = "best",
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] = (),
    rank_unit: RankUnit = "template",
    ties: Ties = "pessimistic",
    impostors: ImpostorProbes = "auto",
    interval: str | IntervalMethod = PEOPLE,
    adjust: Adjustment = "none",
    protocol: Named | None = None,
) -> xr.Dataset:
    """Compare two systems or more that scored the same templates of the same people.

    The people are the same for every system, so that the difficulty of the data that all have in
    common cancels in the differences.

    Parameters
    ----------
    a, b : Scores
        Two systems of the same layout, shape and labels, in the same order. One may hold distances
        and the other similarities. Pairs need their subjects.

        - Where both name their templates (the names of a list; metadata ``template``, ``name`` or
          names of files, of both sides of a matrix), or no two pairs have the same subjects, they
          may be in any order. Templates that one of them lacks are left out, with a warning.
        - `a` alone may be a mapping of the name of each system to its scores, or to a function
          without arguments that reads them: then one system at a time is in memory.
        - Results of :func:`cross_evaluate` over the same folds are compared by the corrected
          resampled t-test (see Notes); of the other options, they take `measures`, `interval` and
          `adjust`.
    measures : sequence, optional
        Measures to compare, such as eer, frr_at_far=0.001, auc, cms=5, mean_ap. Others are:

        - ``"far_at_frr=0.01"``, ``"eer_hull"``, ``"min_dcf=0.01"`` (at a prior),
          ``"frr_at_threshold=0.4"``, ``"far_at_threshold=0.4"``, and the best values of
          :func:`bioeval.scalar`
        - ``"frr_at_thresholds=0.4:7.2"``, ``"far_at_thresholds=0.4:7.2"``: a threshold for each
          system, in their order
        - ``"recognition_rate"``, ``"dir_at_far=0.01"``
        - with a protocol: ``"cmc=10"`` and the means over queries
        - a :class:`bioeval.Measure`, or a function of scores that returns a number of which less is
          better

        By default EER, FRR at each FAR target, FAR at each FRR target, AUC, recognition rate and
        DIR, as far as the scores support them; with a protocol CMC(1), CMC(5) and the means over
        queries.
    far_targets, frr_targets
        As for :func:`verification`.
    rank_unit, fusion, ties, impostors
        As for :func:`open_set`.
    interval : "people" or :class:`bioeval.stats.IntervalMethod`
        Intervals of each value by itself, and of all differences of a measure together; the method
        has the number and the seed of the replicates, where people are drawn again. For results
        over folds it is ``"nadeau-bengio"``.
    adjust : {"none", "holm"}
        Adjust the tests for the number of measures, by Holm's method. The adjustment also changes
        ``_separated``, ranks and letters.
    protocol : str, path or Protocol, optional
        Card of re-identification by which to compare. It has a ``[reid]`` section, in place of
        verification and identification. Top-K lists are accepted as :func:`reid` does.

    Returns
    -------
    xarray.Dataset
        Each measure under its name in a single evaluation over ``system``, such as ``eer``,
        ``frr_at_far``, ``dir_at_far``, ``cms`` or ``frr_at_threshold``; also over ``far_target``,
        ``frr_target``, ``cost``, ``threshold`` or ``rank`` where the measure is at one of them.
        With these endings of the name, over ``system``:

        - ``_low``, ``_high``: the interval of the value by itself
        - ``_rank``: 1 is the best
        - ``_rank_low``, ``_rank_high``: the ranks that the system may have, at one confidence for
          all systems together
        - ``_letters``: systems that share a letter do not differ significantly

        Over ``system`` and ``other_system``:

        - ``_difference``: system - other system
        - ``_difference_low``, ``_difference_high``: limits for all pairs together
        - ``_t``: t of the test of results over folds
        - ``_p_value``: adjusted for the number of pairs
        - ``_p_adjusted``: adjusted for the number of measures, too
        - ``_separated``: 1 where the system is better, -1 where it is worse, else 0
        - ``_discordant``: people on whom the systems decide differently, each at its own threshold.
          With fewer than six such people there are no limits, and ``_separated`` is 0.

        ``_supported``, over the targets alone, is 0 where the pairs of people, or the impostor
        attempts, are too few for the FAR target, or the people for the FRR target (rule of 3); then
        there are no limits. Where a measure was not asked for, as at the rank or target of another
        measure, all these variables are NaN.

    Raises
    ------
    DataError
        If systems are not over the same data.
    ProtocolError
        If the subjects are not known, or an option has no effect under the protocol.
    CardError
        If the protocol has no ``[reid]`` section.

    Notes
    -----
    The jackknife leaves out each person in turn, as a probe and from the gallery (for top-K lists,
    only as a probe: ``interval_for``), and chooses the operating points of each system anew.

    - Standard errors of differences come from this jackknife. EER, FRR at a FAR, FAR at a FRR and
      DIR at a FAR are quantiles: their standard errors come from people drawn again, the same for
      all systems.
    - Re-identification and functions of scores are computed anew without each person, or group of
      people (``jackknifed``): 100 groups of more than 200 people, and of more than 40 people 20 for
      functions.
    - Each pair has Student's test, with degrees of freedom after Satterthwaite, adjusted for the
      number of pairs: Holm (1979). The limits of all pairs hold together (Bonferroni), so that a
      pair that differs by its p-value may have limits that still include 0.
    - Sets of ranks: Mogstad, Romano, Shaikh and Wilhelm (2024). Letters: Piepho (2004).

    Results over folds are compared in the measures of each test part: ``far frr hter dir`` at the
    threshold of the training part, ``cms``, and the operating points of the test part itself. Let d
    and s² be mean and variance of the differences in J folds, with n1 subjects in training and n2
    in test: ``t = d / sqrt((1/J + n2/n1) s²)`` has J - 1 degrees of freedom. This is the corrected
    resampled t-test of Nadeau and Bengio (2003), a heuristic. Folds in which the measure of a
    system is not defined are left out. Splitter, folds and options must be the same in all results.

    With several measures, one in twenty differs at 95 % by chance alone, unless ``adjust="holm"``.
    A system that was chosen because its figure is the best on these data seems better than it is:
    report its figure on other people. See ``docs/uncertainty.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> crowd = be.simulate_embeddings(60, 4, within=0.8, random_state=1)
    >>> comparison = be.compare(crowd.scores("l2"), crowd.scores("linf"), measures="eer")
    >>> comparison["eer_separated"].isel(system=0, other_system=1).item()
    1

    Which of three metrics is the best?

    >>> systems = {metric: crowd.scores(metric) for metric in ("l2", "l1", "cosine")}
    >>> comparison = be.compare(systems, measures=["frr_at_far=0.01"])
    >>> comparison["frr_at_far_letters"].sel(far_target=0.01).values.tolist()
    ['b', 'b', 'a']
    """
    require_choice("adjust", adjust, get_args(Adjustment))
    by_name = _by_name(a, b)
    if any(isinstance(x, xr.Dataset | xr.DataTree) for x in by_name.values()):
        _require_folds(by_name)
        # The options of a comparison of scores, with their defaults.
        for name, option, default in (
            ("fusion", fusion, "best"),
            ("far_targets", far_targets, None),
            ("frr_targets", np.size(frr_targets), 0),
            ("rank_unit", rank_unit, "template"),
            ("ties", ties, "pessimistic"),
            ("impostors", impostors, "auto"),
            ("protocol", protocol, None),
        ):
            if not (isinstance(option, type(default)) and option == default):
                raise ProtocolError(
                    f"`{name}` has no effect on results of be.cross_evaluate; leave it out here, "
                    "and give it to be.cross_evaluate"
                )
        corrected = required_interval(FOLDS if interval == PEOPLE else interval, (FOLDS,))
        return _compared_folds(by_name, measures, corrected, adjust)
    method = required_interval(interval, (PEOPLE,), takes_unit=True)
    search = OpenSet(rank_unit=rank_unit, fusion=fusion, ties=ties, impostors=impostors)
    far_numbers = check_targets(FAR_TARGETS if far_targets is None else far_targets)
    frr_numbers = check_targets(frr_targets, "frr_targets")
    rules = convention_of(protocol, argument="protocol") if protocol is not None else None
    if rules is None:
        require_use_of_fusion(fusion, rank_unit == "subject", "compare", 'rank_unit="subject"')
    else:
        _refuse_unused(
            search,
            f"in a comparison of re-identification ({rules.name})",
            "or change the card",
            far_targets=far_targets is not None,
            frr_targets=len(frr_numbers) > 0,
        )
    wanted = WantedMeasures.parse(
        measures, far_numbers, frr_numbers, systems=len(by_name), retrieval=rules is not None
    )
    with rows_reported():
        scores, systems = _measure_all(by_name, wanted, search, method, rules, protocol)
    compared = _compared_measures(systems, method)
    attrs = _attrs_of_comparison(scores, systems, compared, wanted, method, adjust)

    messages = wanted.notes() + _messages_on_differing_data(systems)
    first = next(iter(systems.values()))
    messages += method.few_people(first.people)
    defined = {x.name for x in compared}
    undefined = dict.fromkeys(x.name for x in wanted.chosen if x.name not in defined)
    if undefined and measures is not None:
        messages.append(Message("measures-not-defined", measures=list(undefined)))
    messages += joined_messages({name: x.messages for name, x in systems.items()})
    comparison = comparison_dataset(list(systems), compared, attrs, messages)
    if measures is not None or far_targets is not None:
        note_asked_targets(comparison)
    return comparison


def _compared_measures(
    systems: Mapping[str, MeasuredSystem], method: IntervalMethod
) -> list[ComparedMeasure]:
    """Return the measures that are defined for all systems, with their differences."""
    # By name and label, as text: NaN, the label of a measure without one, is not equal to itself.
    by_key: dict[tuple[str, str], list[SystemMeasure]] = {}
    for system in systems.values():
        of_system = {(x.scalar.name, repr(float(x.label))): x for x in system.measures}
        for key, measure in of_system.items():
            by_key.setdefault(key, []).append(measure)
    compared = []
    for of_systems in by_key.values():
        if len(of_systems) == len(systems):
            people = discordant([x.own for x in of_systems], [x.shared for x in of_systems])
            compared.append(
                ComparedMeasure.from_systems(of_systems, people, method.confidence, PEOPLE)
            )
    if not compared:
        raise DataError(
            "none of the measures is defined for all systems: lists that end before the last "
            "match have no mAP, and pairs no identification"
        )
    return compared


def _attrs_of_comparison(
    scores: Scores,
    systems: Mapping[str, MeasuredSystem],
    compared: Sequence[ComparedMeasure],
    wanted: WantedMeasures,
    method: IntervalMethod,
    adjust: Adjustment,
) -> dict[str, Any]:
    """Return attributes on the data, which `scores` of one system have, and on the options."""
    codes = scores.codes
    first = next(iter(systems.values()))
    attrs: dict[str, Any] = {"layout": scores.layout, "exclude": ", ".join(left_out(scores))}
    if scores.claims:
        attrs |= {"use": scores.claims, "most_tries": scores.claim_attempts.most_tries}
    attrs["probes"] = scores.shape[0]
    attrs["probe_subjects"] = len(codes.people(codes.probe))
    attrs["gallery_subjects"] = len(codes.people(codes.gallery))
    if scores.layout != "pairs":
        attrs["gallery_templates"] = scores.shape[1]
    attrs |= {"subjects": first.people, **first.details}
    attrs["fingerprint"] = "; ".join(x.fingerprint for x in systems.values())
    attrs |= method.attrs()
    if any(x.method == BOOTSTRAP for x in compared):
        attrs |= {"replicates": method.replicates, "seed": str(method.seed.entropy)}
    attrs["adjust"] = adjust
    attrs["systems_compared"] = len(systems)
    attrs["least_discordant"] = least_discordant(method.confidence)
    # Thresholds of the systems, in words: "old 0.4, new 7.2".
    texts = []
    for thresholds in dict.fromkeys(x.thresholds for x in wanted.chosen if x.thresholds):
        by_system = zip(systems, thresholds, strict=True)
        texts.append(", ".join(f"{name} {threshold:.12g}" for name, threshold in by_system))
    if texts:
        attrs["thresholds_of_systems"] = "; ".join(texts)
    return attrs


def _messages_on_differing_data(systems: Mapping[str, MeasuredSystem]) -> list[Message]:
    """Return messages on attempts and templates that not all systems have."""
    name_of_first, first = next(iter(systems.items()))
    systems_by_attempts: dict[tuple[int, ...], list[str]] = {}
    left_out_by: dict[str, dict[str, int]] = {}  # by what is left out, and by system
    for name, system in systems.items():
        if system.attempts != first.attempts:
            systems_by_attempts.setdefault(system.attempts, []).append(name)
        for what, number in system.left_out.items():
            left_out_by.setdefault(what, {})[name] = number
    messages = []
    for attempts, names in systems_by_attempts.items():
        about = {"attempts": list(attempts), "attempts_of_first": list(first.attempts)}
        messages.append(Message("attempts-of-systems", systems=names, first=name_of_first, **about))
    for what, numbers in left_out_by.items():
        messages.append(Message("not-in-common", what=what, left_out=numbers))
    return messages


def _refuse_unused(search: OpenSet, where: str, remedy: str, **targets: bool) -> None:
    """Raise for options of identification, and `targets` that are given, which have no effect."""
    names = ("fusion", "rank_unit", "ties", "impostors")
    unused = [name for name in names if search[name] != OpenSet()[name]]
    unused += [name for name, is_given in targets.items() if is_given]
    if unused:
        verb, out = ("has", "it") if len(unused) == 1 else ("have", "them")
        raise ProtocolError(
            f"{enumerated(map(backquoted, unused))} {verb} no effect {where}; leave {out} out, "
            f"{remedy}"
        )


def _by_name(a: Any, b: Any) -> dict[str, Any]:
    """Return systems by their names; two systems without distinct names are called a and b."""
    results = (xr.Dataset, xr.DataTree)
    if isinstance(a, list | tuple):
        raise DataError(
            f"`a` is a {type(a).__name__} of {counted(len(a), 'systems')}; expected each system "
            'by its name, as in be.compare({"old": scores, "new": other_scores}), or two systems '
            "as be.compare(scores, other_scores)"
        )
    if isinstance(a, Mapping) and not isinstance(a, results):
        if b is not None:
            raise DataError(
                "systems are given by name and as `b`; give either a mapping, or `a` and `b`"
            )
        if len(a) < 2:
            raise DataError(f"a comparison needs two systems or more, and {len(a)} is given")
        return {**a}
    if b is None:
        raise DataError(
            "one system is given; expected two as `a` and `b`, or a mapping of the "
            "name of each system to its scores as `a` alone"
        )
    names = []
    for system, letter in ((a, "a"), (b, "b")):
        name = system.attrs.get("system") if isinstance(system, results) else None
        names.append(str(name or getattr(system, "name", "") or letter))
    if names[0] == names[1]:
        names = [f"{names[0]} (a)", f"{names[1]} (b)"]
    return dict(zip(names, (a, b), strict=True))


@dataclass(frozen=True)
class MeasuredSystem:
    """All measures of a system, and messages on it."""

    measures: list[SystemMeasure]
    people: int  # number of people who are left out in turn
    attempts: tuple[int, ...]  # number of attempts of each class
    details: dict[str, str]  # attributes that say how attempts are evaluated
    messages: list[Message]
    fingerprint: str = ""  # of all scores of the system
    #: The number of what other systems lack, and is left out, by its name.
    left_out: Mapping[str, int] = field(default_factory=dict)


def _measure_all(
    systems: Mapping[str, System],
    wanted: WantedMeasures,
    search: OpenSet,
    interval: IntervalMethod,
    rules: Convention | None,
    protocol: Any,
) -> tuple[Scores, dict[str, MeasuredSystem]]:
    """Read and measure the systems one after another; return the scores of one, and the measures.

    `rules` are of re-identification, or None. Each pass leaves fewer templates in common: if a
    system lacks some of those that earlier systems were measured on, all are read again.
    """
    first = next(iter(systems))
    reference: Scores | None = None  # the scores of a system on the templates in common so far
    is_complete = False
    while not is_complete:
        is_complete = True
        measured: dict[str, MeasuredSystem] = {}
        for place, (name, system) in enumerate(systems.items()):
            try:
                scores = _read_system(system)
                fingerprint = scores.fingerprint
                if rules is not None:
                    scores = with_exclusions(scores, protocol)
                require_people(scores, "comparing systems")
                common = scores
                messages: list[Message] = []
                left_out_here: dict[str, int] = {}
                if reference is not None:
                    if any(wanted.numbers(at_threshold) for at_threshold in AT_THRESHOLD):
                        require_one_scale(reference, scores, "a threshold", (first, name))
                    common, scores, notes = _aligned(reference, first, name, scores, rules)
                    is_complete &= common is reference
                    for message in notes:
                        if message.code != "not-in-common":
                            messages.append(message)
                            continue
                        number = message.arguments["left_out"][name]
                        if number:
                            left_out_here[message.arguments["what"]] = number
                reference = common
                if not is_complete:  # what is measured now would be measured again
                    continue
                messages += Provenance.from_scores(scores).notes
                with rows_reported(to=reporter()):
                    if rules is not None:
                        of_system = by_queries(scores, rules, wanted, interval)
                    else:
                        of_system = by_attempts(scores, wanted, search, interval, place)
                messages += of_system.messages
                measured[name] = replace(
                    of_system,
                    messages=list(dict.fromkeys(messages)),
                    fingerprint=fingerprint,
                    left_out=left_out_here,
                )
            except BioevalError as error:
                if str(error).startswith(f"{name}:"):  # the name of a file
                    raise
                raise error.preceded_by(f"{name}: ") from error
    assert reference is not None
    return reference, measured


def _read_system(system: System) -> Scores:
    scores = system() if callable(system) and not isinstance(system, Scores) else system
    if not isinstance(scores, Scores):
        raise DataError(
            f"the system is {received(scores)}; expected bioeval.Scores, or a function "
            "that reads them"
        )
    return scores


def _aligned(
    reference: Scores, first: str, name: str, scores: Scores, rules: Convention | None
) -> tuple[Scores, Scores, Sequence[Message]]:
    """Return the reference and the scores on the templates in common, and messages.

    The reference is the very same object if nothing of it is left out.
    """
    try:
        common, scores, messages = aligned(reference, scores, (first, name))
        if rules is not None and rules.needs_cameras and common.layout != "pairs":
            cameras = zip(cameras_of(common), cameras_of(scores), SIDES, strict=True)
            for mine, theirs, side in cameras:
                require_equal(mine, theirs, "cameras", side)
    except DataError as error:
        raise DataError(f"the system is not like {first}: {error}") from None
    return common, numbered_as(common, scores), messages


# The measures that are asked for, such as ``measures=["eer", "min_dcf=0.01"]``.


class Wanted(NamedTuple):
    """One measure that is asked for."""

    name: str
    at: float | None = None  # its target, prior, threshold or rank
    function: Measure | None = None  # a measure of scores, None of all other measures
    thresholds: tuple[float, ...] = ()  # a threshold for each system


def _wanted(measure: Any, known: Sequence[str]) -> Wanted:
    """Read ``"frr_at_far=0.01"``, or take a :class:`Measure`, or a function.

    `known` are the names of all measures.
    """
    if isinstance(measure, Measure):
        if measure.name in known:
            raise DataError(
                f"`measures` has a Measure called {measure.name}, and there is one "
                "of this name already"
            )
        return Wanted(measure.name, function=measure)
    if callable(measure):
        name = getattr(measure, "__name__", "")
        name = name if name.isidentifier() else "measure"  # a lambda has no name
        return Wanted(name, function=Measure(name, measure))

    name, equals, number = require_text("measures", measure).casefold().partition("=")
    name = name.replace("-", "_")
    text = name + equals + number
    if name in QUERY_MEANS and name not in known:
        raise DataError(
            f"`measures` has {name}, a measure of re-identification; give "
            '`protocol="market1501"` or another card of it'
        )
    if "cmc" in known and (rank := re.fullmatch(r"(?:rank|top|cmc)[-_@]?(\d+)", name)):
        raise DataError(f"`measures` has {name}; expected cmc={rank[1]}")
    require_choice("a measure of `measures`", name, known)
    noun, example = _NUMBERS.get(name, ("", None))
    if not equals:
        if example is not None:
            raise DataError(
                f"`measures` has {name}, which needs {noun}; expected as in {name}={example}"
            )
        return Wanted(name)
    if name in AT_THRESHOLDS:
        try:
            thresholds = tuple(map(float, number.split(":")))
        except ValueError:
            thresholds = ()
        if not thresholds or not np.isfinite(thresholds).all():
            raise DataError(
                f"`measures` has {received(text)}; expected {noun} behind =, as in {name}=0.4:7.2"
            )
        return Wanted(name, thresholds=thresholds)
    is_percentage = number.endswith("%")
    try:
        value = float(number.removesuffix("%")) / (100 if is_percentage else 1)
    except ValueError:
        value = np.nan
    is_valid = 0 <= value <= 1  # a target
    if noun == "":
        is_valid = False
    elif noun == "a rank":
        is_valid = value >= 1 and value == np.floor(value) < np.inf
    elif noun == "a threshold":
        is_valid = bool(np.isfinite(value)) and not is_percentage
    elif noun == "a prior":
        is_valid = 0 < value < 1
    if not is_valid:
        expected = f"{noun} behind =" if noun else f"{name} alone"
        expected = expected.replace("a rank", "a whole number from 1")
        raise DataError(f"`measures` has {received(text)}; expected {expected}")
    return Wanted(name, value)


@dataclass(frozen=True)
class WantedMeasures:
    """All measures that a comparison is asked for."""

    chosen: tuple[Wanted, ...]
    far_targets: np.ndarray
    frr_targets: np.ndarray

    @classmethod
    def parse(
        cls,
        measures: Sequence[Any] | str | None,
        far_targets: np.ndarray,
        frr_targets: np.ndarray,
        *,
        systems: int,
        retrieval: bool,
    ) -> WantedMeasures:
        """Read the measures of re-identification, or of verification and identification.

        `systems` is the number of systems.
        """
        if measures is None:
            usual = [x.name for x in curve_measures() if x.usual]
            names = (
                [*QUERY_MEANS, "cmc"] if retrieval else [*usual, "recognition_rate", "dir_at_far"]
            )
            return cls(tuple(map(Wanted, names)), far_targets, frr_targets)
        if isinstance(measures, str) or callable(measures) or isinstance(measures, Measure):
            measures = [measures]
        names = ["cmc", *QUERY_MEANS]
        if not retrieval:
            names = [*(x.name for x in curve_measures()), *AT_THRESHOLD, *AT_THRESHOLDS]
            names += IDENTIFICATION
        chosen = [_wanted(measure, names) for measure in measures]
        if not chosen:
            raise DataError("`measures` is empty; expected names such as eer")
        used = {*COORDINATES, *COMPARISON}
        used |= {f"{x.name}_{statistic}" for x in chosen for statistic in STATISTICS}
        for wanted in chosen:
            if wanted.name in used:
                raise DataError(
                    f"`measures` has a function called {wanted.name}, and results have this name "
                    'already; give be.Measure("other_name", function)'
                )
            if "/" in wanted.name:
                raise DataError(
                    f"`measures` has a function called {wanted.name}; expected a name without a "
                    "slash, which no variable of a netCDF file can have"
                )
            if wanted.thresholds and len(wanted.thresholds) != systems:
                raise DataError(
                    f"`measures` has {counted(len(wanted.thresholds), 'thresholds')} in "
                    f"{wanted.name} for {counted(systems, 'systems')}; expected a threshold for "
                    "each system"
                )
        of_each = {(x.name, x.thresholds) for x in chosen if x.thresholds}
        if twice := [x for x in AT_THRESHOLDS if sum(x == name for name, _ in of_each) > 1]:
            raise DataError(
                f"`measures` has {twice[0]} twice; expected it once, and a comparison of its own "
                "for other thresholds"
            )

        def targets(default: np.ndarray, *names: str) -> np.ndarray:
            """Return the targets of these measures; a bare name has the default targets."""
            requested = [x.at for x in chosen if x.name in names]
            stated = np.unique([x for x in requested if x is not None]).astype(np.float64)
            return np.union1d(default, stated) if None in requested else stated

        return cls(
            tuple(chosen),
            targets(far_targets, "frr_at_far", "dir_at_far"),
            targets(frr_targets, "far_at_frr"),
        )

    def asks(self, *names: str) -> bool:
        """Whether any of these measures is compared."""
        return any(x.name in names for x in self.chosen)

    def numbers(self, name: str) -> list[float]:
        """Return the targets, thresholds or ranks at which a measure is asked for, in order."""
        return [x.at for x in self.chosen if x.name == name and x.at is not None]

    def notes(self) -> list[Message]:
        """Return a message on each threshold at which only one of FRR and FAR is compared."""
        rates: dict[tuple[Any, ...], list[str]] = {}
        for x in self.chosen:
            if x.name in AT_THRESHOLD or x.name in AT_THRESHOLDS:
                rates.setdefault((x.at, x.thresholds), []).append(x.name)
        notes = []
        for (at, thresholds), names in rates.items():
            if len({*names}) == 1:
                rate, _, end = names[0].partition("_")
                other = "far" if rate == "frr" else "frr"
                numbers = ":".join(f"{x:.12g}" for x in thresholds or (at,))
                about = {"rate": rate, "other": other, "measure": f"{other}_{end}={numbers}"}
                notes.append(Message("one-rate-at-threshold", **about))
        return notes

    def in_order(self, measures: Sequence[SystemMeasure]) -> list[SystemMeasure]:
        in_order: dict[int, SystemMeasure] = {}  # each measure once
        for wanted in self.chosen:
            for measure in measures:
                is_at_number = wanted.at in (None, measure.label) or np.isnan(measure.label)
                if wanted.name == measure.scalar.name and is_at_number:
                    in_order[id(measure)] = measure
        return list(in_order.values())


# The measures of one system: verification, identification and functions of scores.


class AtThreshold(NamedTuple):
    """A rate at a threshold that is given."""

    name: str  # in AT_THRESHOLD or AT_THRESHOLDS
    threshold: float
    #: Empty for a threshold of each system, which is no place at which systems are compared.
    places: Mapping[str, float]


def by_attempts(
    scores: Scores,
    wanted: WantedMeasures,
    search: OpenSet,
    interval: IntervalMethod,
    place: int,
) -> MeasuredSystem:
    """Measure a system, whose place among the systems is `place`."""
    require_all_scores(scores)
    at_thresholds: list[AtThreshold] = []
    for name in AT_THRESHOLD:
        for threshold in wanted.numbers(name):
            at_thresholds.append(AtThreshold(name, threshold, {"threshold": threshold}))
    for x in wanted.chosen:
        if x.thresholds:
            at_thresholds.append(AtThreshold(x.name, x.thresholds[place], {}))
    verifying = _verification_to_count(scores, wanted, at_thresholds)
    searching = _searching_to_count(scores, wanted, search)
    functions = [x.function for x in wanted.chosen if x.function is not None]
    if not (verifying or searching or functions):
        raise ProtocolError(
            "there is nothing to compare: pairs and claims have no identification, and scores "
            "that hold only an order no verification"
        )

    # One pass over the scores counts both tasks.
    reducers = searching.reducers if searching else ()
    verified, facts = count(scores, [verifying] if verifying else [], *reducers)
    codes = scores.codes
    people = len(codes.people(codes.probe))
    measures: list[SystemMeasure] = []
    attempts: list[int] = []
    details: dict[str, str] = {}
    messages: list[Message] = []
    with threads_for(scores):
        for verification in verified:
            of_task, messages_of_task = _measured_verification(
                verification, wanted, interval, at_thresholds
            )
            measures += of_task
            messages += messages_of_task
            attempts.append(verification.attempts.genuine_attempts)
            attempts.append(verification.attempts.impostor_attempts)
            people = int((~verification.people.no_person).sum())
            if not scores.claims:
                details["templates"] = "single"
        if searching:
            searches = searching.result(*facts)
            of_task, messages_of_task = _measured_searches(
                searches, scores, wanted, search, interval
            )
            measures += of_task
            messages += messages_of_task
            attempts.append(int((searches.mates > 0).sum()))
            details |= {name: search[name] for name in ("rank_unit", "ties", "impostors")}
    if functions:
        everyone = codes.people(codes.probe, codes.gallery)
        groups, details["jackknifed"] = groups_left_out(len(everyone), _GROUPS_OF_FUNCTIONS)
        for function in functions:
            measures.append(_measured_function(function, scores, everyone, groups, interval))
    measures = wanted.in_order(measures)
    if any(x.scalar.name in IDENTIFICATION for x in measures):
        messages += scores.completeness.messages()
    messages += camera_notes(scores)
    return MeasuredSystem(measures, people, tuple(attempts), details, messages)


def _verification_to_count(
    scores: Scores, wanted: WantedMeasures, at_thresholds: Sequence[AtThreshold]
) -> Verifying | None:
    """Return what a pass over the scores counts for verification; None if it is not compared."""
    names = (*(x.name for x in curve_measures()), *AT_THRESHOLD, *AT_THRESHOLDS)
    if scores.kind == "order" or not wanted.asks(*names):
        return None
    priors = sorted(set(wanted.numbers("min_dcf")))
    points = PointsWanted(
        wanted.far_targets,
        np.array([(prior, 1, 1) for prior in priors]).reshape(-1, 3),
        True,
        frr_targets=wanted.frr_targets,
        optima=best_values(),
    )
    thresholds = np.unique([x.threshold for x in at_thresholds])
    return to_verify(scores, wanted=points, thresholds=thresholds if len(thresholds) else None)


def _searching_to_count(
    scores: Scores, wanted: WantedMeasures, search: OpenSet
) -> Searching | None:
    """Return what a pass over the scores counts for identification; None if it is not compared.

    Options of identification then have no effect, and are refused.
    """
    if scores.layout == "pairs" or scores.claims:
        data = "pairs" if scores.layout == "pairs" else "claims"
        remedy = "or give a matrix"
        _refuse_unused(search, f"on {data}, which have no identification", remedy)
        return None
    if not wanted.asks(*IDENTIFICATION):
        remedy = f"or compare a measure of identification, such as {IDENTIFICATION[0]}"
        _refuse_unused(search, "on these measures, of which none is of identification", remedy)
        return None
    return Searching(scores, search)


def _measured_function(
    function: Measure, scores: Scores, everyone: np.ndarray, groups: int, interval: IntervalMethod
) -> SystemMeasure:
    """Return a function of the scores, also without each of the groups of `everyone`."""
    codes = scores.codes
    columns = np.empty(1 + groups)
    columns[0] = function.value_of(scores)
    for g in range(groups):
        group = everyone[g::groups]
        probe_stays = ~np.isin(codes.probe, group)
        gallery_stays = ~np.isin(codes.gallery, group)
        if scores.layout == "pairs":
            remaining = scores.select(np.flatnonzero(probe_stays & gallery_stays))
        else:
            remaining = scores.select(np.flatnonzero(probe_stays), np.flatnonzero(gallery_stays))
        columns[1 + g] = function.value_of(remaining)
    return SystemMeasure(
        scalar=function.scalar,
        columns=columns,
        limits=limits_without(function.scalar, columns, groups, interval),
        own=columns[1:] - columns[0],
    )


def _measured_verification(
    verified: Verified,
    wanted: WantedMeasures,
    interval: IntervalMethod,
    at_thresholds: Sequence[AtThreshold],
) -> tuple[list[SystemMeasure], list[Message]]:
    """Return the measures of verification, and messages on them.

    A target that independent trials do not support has no limits, as in
    :func:`bioeval.verification`.
    """
    points = verified.find_points(
        symmetric=False, with_thresholds=verified.requested_thresholds is None
    )
    # In a symmetric matrix, each pair of templates is one attempt.
    symmetric = is_symmetric(verified.scores)
    genuine = verified.attempts.genuine_attempts / (1 + symmetric)
    impostor = verified.attempts.impostor_attempts / (1 + symmetric)
    compared = verified.compared
    people = None if compared is None else compared.number
    messages: list[Message] = []
    if impostor:
        if wanted.asks("frr_at_far"):
            messages += support_messages(
                wanted.far_targets, impostor, symmetric, "frr at far", compared
            )
        messages += support_messages(wanted.frr_targets, genuine, symmetric, "far at frr", people)
    trials = {
        "frr": independent_trials(genuine, people),
        "far": independent_trials(impostor, compared),
    }
    requested = [x for x in curve_measures() if wanted.asks(x.name) and x.is_defined(points)]
    has_quantiles = any(x.scalar.quantile for x in requested)
    counted = VerificationColumns(verified, points, interval, requested, drawn=has_quantiles)

    # Measures at thresholds that are chosen anew without each person, or at none.
    measures: list[SystemMeasure] = []
    limits_of = VerificationLimits(counted)
    limits, _ = limits_of.measures()
    for measure in requested:
        columns = np.atleast_2d(counted.without.values[measure.name])
        drawn = None
        if measure.scalar.quantile:
            drawn = np.atleast_2d(counted.replicates.values[measure.name])
        low, high = map(np.atleast_1d, limits[measure.name])
        dim = {"far": "far_target", "frr": "frr_target", "prior": "cost"}.get(measure.of_target)
        # A rate is of genuine or of impostor attempts, and other measures are of both.
        of_genuine = "genuine" in measure.rate_of or not measure.rate_of
        of_impostor = "impostor" in measure.rate_of or not measure.rate_of
        for i, target in enumerate(measure.numbers(points)):
            # By person, the false rejects and false accepts at the threshold of this target; a
            # measure without a threshold has placements of genuine attempts.
            if measure.threshold:
                thresholds = measure.own_thresholds(points)
                rejects, accepts = counted.errors_of_each(float(thresholds[i]))
                own = rejects if of_genuine else NONE
                shared = accepts if of_impostor else NONE
            else:
                own, shared = counted.placements_of_each(), NONE
            measures.append(
                SystemMeasure(
                    scalar=measure.scalar,
                    columns=columns[i],
                    limits=(float(low[i]), float(high[i])),
                    places={dim: target} if dim else {},
                    supported=RuleOf(3).supports(target, trials.get(measure.of_target, np.inf)),
                    drawn=NONE if drawn is None else drawn[i, 1:],
                    own=own,
                    shared=shared,
                )
            )

    # Rates at thresholds that are given.
    for name, threshold, places in at_thresholds:
        distance = float(to_internal(np.array([threshold]), verified.scores.kind)[0])
        far, frr = counted.at_threshold(distance)
        rejects, accepts = counted.errors_of_each(distance)
        if name.startswith("frr"):
            columns, curve, own, shared = frr, limits_of.curve.frr, rejects, NONE
        else:
            columns, curve, own, shared = far, limits_of.curve.far, NONE, accepts
        low, high = curve.limits_at(columns[0])
        following = following_scores(verified.scores, [threshold])
        messages += beyond_scores(threshold, float(far[0]), float(frr[0]), *following)
        measures.append(
            SystemMeasure(
                scalar={**AT_THRESHOLD, **AT_THRESHOLDS}[name],
                columns=columns,
                limits=(float(low), float(high)),
                places=places,
                own=own,
                shared=shared,
            )
        )
    return measures, messages


def _measured_searches(
    searches: Searches,
    scores: Scores,
    wanted: WantedMeasures,
    search: OpenSet,
    interval: IntervalMethod,
) -> tuple[list[SystemMeasure], list[Message]]:
    order = order_of(search.of_kind(scores.kind).fusion)
    messages = [*too_few_notes(*searches.about.too_few, order)]
    mated = int((searches.mates > 0).sum())
    # The searches without a mate, from which a FAR is computed, and who make them.
    role = searches.impostor_role(search.impostors)
    non_mated = len(searches.impostor_probes(role)) if scores.kind != "order" and mated else 0
    people = searching_people(searches.about, role)
    if non_mated and wanted.asks("dir_at_far"):
        messages += support_messages(wanted.far_targets, non_mated, False, "dir at far", people)

    # Each person is left out as probe and in the gallery; of few people, as probe alone.
    cms_ranks = {int(x) for x in wanted.numbers("cms")}
    ranks = sorted({1, *cms_ranks})
    units = units_of_people(scores, interval.unit)
    subjects = LeftOut.codes_of_units(scores)
    is_person = ~scores.codes.no_person[subjects]
    if units is not None:
        is_person = np.isin(LeftOut.codes_of_units(scores, units), units[subjects[is_person]])
    person = without_each = None
    is_used: slice | np.ndarray = slice(None)
    if int(is_person.sum()) < FEWEST:
        population = THIS_GALLERY
        person = people_of_probes(scores)
        person = left_out_with(scores, person, interval.unit)
    else:
        population = NEW_PEOPLE
        is_used = np.append(True, is_person)  # columns without a distractor are not used
        with rows_reported(to=None):
            without_each = LeftOut.from_searches(
                searches, scores, search.ties, ranks=ranks[-1], units=units
            )
    arguments = searches, search.ties, interval, search.impostors
    counted = SearchColumns(*arguments, person, without_each)

    measures = []
    for rank in ranks:
        cms = counted.cms(np.array([rank]))[0]
        low, high = counted.limits_at_ranks(np.array(rank), cms[0])
        recognised = SystemMeasure(
            scalar=VARIABLES["recognition_rate"],
            columns=cms[is_used],
            limits=(float(low), float(high)),
            own=as_whole_numbers(counted.hits_of_each(rank)),
            population=population,
        )
        if rank == 1:
            measures.append(recognised)
        if rank in cms_ranks:
            measures.append(replace(recognised, scalar=CMS_AT_RANK, places={"rank": rank}))
    if scores.kind == "order" or not len(wanted.far_targets):
        return measures, messages

    # DIR at rank 1 at each FAR target.
    trials = independent_trials(non_mated or np.inf, people)
    hits = np.array([counted.hits_of_each(1, target) for target in wanted.far_targets])
    value = ratio(hits.sum(axis=1), np.array(mated if non_mated else 0))
    at_far, (at_low, at_high) = counted.at_targets(counted.curve(), wanted.far_targets, value)
    drawn = np.empty((len(value), 0))
    if counted.new_people:
        drawn = counted.drawn_at_targets(wanted.far_targets, value, is_person)
    for i, target in enumerate(wanted.far_targets.tolist()):
        supported = RuleOf(3).supports(target, trials)
        lowest = float(at_low[i])
        if not (supported and target > 0 and non_mated) and not np.isnan(lowest):
            lowest = 0.0
        measures.append(
            SystemMeasure(
                scalar=VARIABLES["dir_at_far"],
                columns=at_far[i, is_used],
                limits=(lowest, float(at_high[i])),
                places={"far_target": target, "rank": 1},
                # Limits of 0 and 1: with so few searches, the threshold may be anywhere.
                supported=supported and not (lowest == 0 and at_high[i] == 1),
                drawn=drawn[i],
                own=as_whole_numbers(hits[i]),
                population=population,
            )
        )
    return measures, messages


def as_whole_numbers(hits: np.ndarray) -> np.ndarray:
    """Return fractions of hits in units of 2^-20, so that equal fractions are exactly equal."""
    return np.rint(hits * 2.0**20)


def groups_left_out(people: int, most: int) -> tuple[int, str]:
    """Return the number of groups of people that are left out in turn, and who they are, in words.

    `most` groups, or a group for each person: up to twice as many people, since groups of one
    person and of two would not weigh the same. In the order of their names, people are assigned to
    the groups in turn.
    """
    groups = people if people <= 2 * most else most
    return groups, "each person" if groups >= people else f"each of {groups} groups of people"


def limits_without(
    scalar: Variable, columns: np.ndarray, trials: int, interval: IntervalMethod
) -> tuple[float, float]:
    """Return the limits of a value by the jackknife over groups of people.

    `columns` are the value, and the values without each group. The limits are Student's; if the
    value has finite bounds, they are computed on the logit scale.
    """
    if len(columns) < 3 or np.isnan(columns).any():
        return np.nan, np.nan
    low, high = student(columns, interval.confidence, max(trials, 1), scalar.bounds)
    return float(low), float(high)


# The measures of re-identification of one system, which are means over its queries.


def by_queries(
    scores: Scores, rules: Convention, wanted: WantedMeasures, interval: IntervalMethod
) -> MeasuredSystem:
    counts = plan_reid(scores, rules)()
    dataset, measures = counts.dataset(), counts.measures(curves=False)
    if rules.unmatched == "skip":
        require_matches(dataset)
    ranks = sorted({int(x) for x in wanted.numbers("cmc")}) or _RANKS
    rank_k = rules.rank_k or int(dataset.get("rank_k", 0))  # where lists are cut, or 0

    def means_of(measures: QueryMeasures) -> dict[tuple[str, int], QueryMean]:
        """Return the means that are defined, by name and rank: 0 for means over the whole list."""
        means: dict[tuple[str, int], QueryMean] = {}
        for name in QUERY_MEANS:
            if (mean := measures.means.get(name)) is not None:
                means[name, rank_k if name == "rank_k_mean_ap" else 0] = mean
        for rank in ranks:
            if rank <= dataset.sizes["rank"]:
                means["cmc", rank] = measures.cmc.up_to_rank(rank)
        return means

    means = means_of(measures)
    details = {name: dataset.attrs[name] for name in _DETAILS}
    codes = scores.codes
    no_person = codes.of_no_person((*scores.no_person_ids, *rules.junk_ids, *rules.distractor_ids))

    # The means without each group of people, as probes and in the gallery; not of few people, and
    # not of top-K lists, whose gallery is fixed: entries after the last of a list are not known.
    searching = int((~no_person[np.unique(codes.probe)]).sum())
    means_without: dict[tuple[str, int], np.ndarray] | None = None
    if searching >= FEWEST and scores.layout != "top-k":
        groups, details["jackknifed"] = groups_left_out(searching, _GROUPS_OF_QUERIES)
        # People who search, and people who are only enrolled, are spread evenly over the groups.
        group_of_code = np.full(len(codes.values), -1)  # -1 for no person
        is_searching = np.isin(np.arange(len(group_of_code)), codes.probe)
        for is_in_role in (is_searching, ~is_searching):
            people = np.flatnonzero(is_in_role & ~no_person)
            group_of_code[people] = np.arange(len(people)) % groups
        short_rules = replace(rules, max_rank=min(rules.max_rank, max(ranks)))
        with rows_reported(to=None):
            values = means_without_groups(
                scores, short_rules, group_of_code, means_of, [*means.values()]
            )
        means_without = dict(zip(means, values, strict=True))

    # The measures, with limits by these groups, or else by people who search this gallery.
    is_person = ~no_person[codes.probe]
    queries = QueryReplicates(np.where(is_person, codes.probe, -1), measures.counted, interval)
    system_measures = []
    for (name, rank), mean in means.items():
        columns = queries.replicate_mean(mean)[0]
        low, high = map(float, queries.limits(columns, mean.counted))
        if means_without is not None:
            columns = np.append(columns[0], means_without[name, rank])
            trials = round(queries.independent_people(mean.counted))
            low, high = limits_without(VARIABLES[name], columns, trials, interval)
        # A counted query adds 1 to its person, so that systems with other queries differ.
        decided = np.nan_to_num(mean.by_query) + mean.counted
        system_measures.append(
            SystemMeasure(
                VARIABLES[name],
                columns,
                (low, high),
                {"rank": rank} if rank else {},
                own=as_whole_numbers(np.bincount(codes.probe[is_person], decided[is_person])),
                population=THIS_GALLERY if means_without is None else NEW_PEOPLE,
            )
        )
    messages = messages_of(dataset.attrs)
    about = Candidates(scores, rules).about()
    if about.searched is not None:
        messages = [*messages, *about.lists.messages()]
    return MeasuredSystem(
        wanted.in_order(system_measures),
        len(np.unique(codes.probe[measures.counted])),
        (int(dataset["queries"]),),
        details,
        messages,
    )


# The result: values, ranks, letters, and differences of pairs. Trackers are compared by it, too.


@dataclass(frozen=True)
class SystemMeasure:
    """One measure of one system."""

    scalar: Variable
    #: float64 (1 + people or groups,): the value, and the value without each person or group.
    columns: np.ndarray
    limits: tuple[float, float]  # the limits of the value by itself
    #: The target, prior, threshold or rank of the measure, by its dimension (see PLACES).
    places: Mapping[str, float] = field(default_factory=dict)
    supported: bool = True  # whether there are enough attempts for the target
    #: float64 (replicates,): the value with people drawn anew; empty unless it is a quantile.
    drawn: np.ndarray = field(default_factory=lambda: NONE)
    #: A number for each person: if two systems have the same, they decide the person's own
    #: attempts alike.
    own: np.ndarray = field(default_factory=lambda: NONE)
    #: The same for attempts of two people, which are in the numbers of both people.
    shared: np.ndarray = field(default_factory=lambda: NONE)
    population: str = NEW_PEOPLE  # the population that the limits hold for

    @property
    def label(self) -> float:
        """The target, prior, threshold or rank of the measure; NaN without a label."""
        return next(iter(self.places.values()), np.nan)


#: Arrays (systems,) or (systems, systems), by the ends of the names of variables.
_Statistics: TypeAlias = dict[str, np.ndarray]


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of all systems, and the differences between them."""

    scalar: Variable
    values: np.ndarray  # float64 (systems,)
    limits: np.ndarray  # float64 (systems, 2): the limits of each value by itself
    differences: Differences
    method: str  # the method of the limits of differences
    population: str  # the population that the limits hold for
    #: int64 (systems, systems): people on whom two systems differ; None of results over folds.
    discordant: np.ndarray | None = None
    t: np.ndarray | None = None  # float64 (systems, systems): of results over folds
    #: The target, prior, threshold or rank of the measure, by its dimension (see PLACES).
    places: Mapping[str, float] = field(default_factory=dict)
    supported: bool = True  # whether there are enough attempts for the target

    @classmethod
    def from_systems(
        cls,
        systems: Sequence[SystemMeasure],
        discordant: np.ndarray,
        confidence: float,
        method: str,
    ) -> ComparedMeasure:
        """Compare a measure of systems; `discordant` counts the people on whom two systems differ.

        `method` is the method of the limits, unless people are drawn again.
        """
        first = systems[0]
        smallest, largest = first.scalar.bounds
        supported = all(x.supported for x in systems)
        columns = np.stack([x.columns for x in systems])
        differences = Differences.from_columns(
            columns,
            (discordant >= least_discordant(confidence)) & supported,
            confidence,
            drawn=np.stack([x.drawn for x in systems]) if len(first.drawn) else None,
            widest=largest - smallest,
        )
        return cls(
            first.scalar,
            columns[:, 0],
            np.array([x.limits for x in systems]),
            differences,
            BOOTSTRAP if len(first.drawn) else method,
            first.population,
            discordant,
            places=first.places,
            supported=supported,
        )

    @property
    def name(self) -> str:
        return self.scalar.name

    def statistics(self, p_adjusted: np.ndarray, *, adjust: bool, confidence: float) -> _Statistics:
        """Return the values and their statistics, by the ends of the names of variables.

        `p_adjusted` are the p-values adjusted for the number of measures as well; conclusions are
        based on them if `adjust`.
        """
        between = self.differences
        if adjust:
            is_shown = np.nan_to_num(p_adjusted, nan=1.0) <= 1 - confidence
            between = replace(between, larger=np.where(is_shown, between.larger, 0))
        better = self.scalar.larger_is_better
        rank, rank_low, rank_high = between.ranks(better)
        defined = np.flatnonzero(~np.isnan(self.values))
        order = sorted(defined.tolist(), key=lambda i: (rank[i], i))
        optional = {"t": self.t, "discordant": self.discordant}
        return {
            "": self.values,
            "low": self.limits[:, 0],
            "high": self.limits[:, 1],
            "supported": np.array(int(self.supported)),
            "rank": rank,
            "rank_low": rank_low,
            "rank_high": rank_high,
            "letters": np.array(between.letters(order), dtype=object),
            "difference": between.difference,
            "difference_low": between.low,
            "difference_high": between.high,
            "p_value": between.p,
            "p_adjusted": p_adjusted,
            "separated": between.larger if better else -between.larger,
            **{name: values for name, values in optional.items() if values is not None},
        }


def comparison_dataset(
    systems: Sequence[str],
    measures: Sequence[ComparedMeasure],
    attrs: Mapping[str, str | int | float],
    messages: Sequence[Message],
) -> xr.Dataset:
    """Return measures over systems and over targets, priors, thresholds and ranks, with answers.

    `attrs` describe the data and the options, such as ``confidence`` and ``adjust``.
    """
    # The measures by name, each with its statistics; the labels by dimension.
    by_name: dict[str, list[tuple[ComparedMeasure, _Statistics]]] = {}
    labels: dict[str, list[float]] = {}
    is_adjusted, confidence = attrs["adjust"] == "holm", float(attrs["confidence"])
    all_adjusted = adjusted_for_measures([x.differences.p for x in measures])
    for measure, p_adjusted in zip(measures, all_adjusted, strict=True):
        statistics = measure.statistics(p_adjusted, adjust=is_adjusted, confidence=confidence)
        by_name.setdefault(measure.name, []).append((measure, statistics))
        for dim, label in measure.places.items():
            labels_of_dim = labels.setdefault(dim, [])
            if label not in labels_of_dim:
                labels_of_dim.append(label)

    # The variables: first the values of all measures, then each statistic.
    variables: dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, Any]]] = {}
    for statistic, (name, of_name) in itertools.product(("", *STATISTICS), by_name.items()):
        first, statistics = of_name[0]
        # Only a target may have too few people or attempts.
        if statistic not in statistics or (statistic == "supported" and not first.places):
            continue
        arrays = [statistics_at_label[statistic] for _, statistics_at_label in of_name]
        places = [measure.places for measure, _ in of_name]
        dims = (*[*SYSTEMS][: arrays[0].ndim], *first.places)
        variables[f"{name}_{statistic}" if statistic else name] = (
            dims,
            _over_labels(arrays, places, labels),
            _attrs_of_statistic(statistic, first, len(systems), is_adjusted),
        )

    coordinates = {name: np.array(systems, dtype=object) for name in SYSTEMS}
    coordinates |= {dim: np.array(labels_of_dim) for dim, labels_of_dim in labels.items()}
    if "cost" in labels:
        variables["cost_prior"] = ("cost",), coordinates["cost"], COORDINATES["cost_prior"].attrs
    all_attrs = {
        "result_type": "comparison",
        "task": "comparison of systems",
        **attrs,
        **message_attrs(messages),
    }
    ds = dataset(variables, SYSTEMS, coordinates, all_attrs, first=())
    outcomes = [
        (_outcome(statistics, systems, attrs), measure)
        for of_name in by_name.values()
        for measure, statistics in of_name
    ]
    return ds.assign_attrs(message_attrs(_answers(outcomes, messages), ds.attrs))


def _over_labels(
    arrays: Sequence[np.ndarray],
    places: Sequence[Mapping[str, float]],
    labels: Mapping[str, Sequence[float]],
) -> np.ndarray:
    """Return a statistic of a measure, whose arrays are at some places, over all labels.

    The dimensions of the labels are last: (systems, labels) or (systems, systems, labels). Where
    the measure was not asked for, the value is NaN, or an empty text.
    """
    shape_of_labels = tuple(len(labels[dim]) for dim in places[0])
    is_complete = len(arrays) == np.prod(shape_of_labels)
    dtype = arrays[0].dtype
    if dtype.kind == "i" and not is_complete:
        dtype = np.dtype(np.float64)
    values = np.empty((*arrays[0].shape, *shape_of_labels), dtype=dtype)
    if not is_complete:
        values[:] = "" if dtype.kind == "O" else np.nan
    for array, place in zip(arrays, places, strict=True):
        index: list[Any] = [labels[dim].index(label) for dim, label in place.items()]
        values[(..., *index)] = array
    return values


def _attrs_of_statistic(
    statistic: str, measure: ComparedMeasure, systems: int, is_adjusted: bool
) -> dict[str, Any]:
    """Return the attributes of a statistic of a measure, or of its values, which are ``""``."""
    scalar = measure.scalar
    limits_for = {"interval_for": measure.population}
    if not statistic:
        about = replace(scalar, dims=(), threshold="", shown="", detail="")
        return {**about.attrs_among(()), **limits_for}
    about = STATISTICS[statistic]
    if statistic in _IN_UNIT_OF_MEASURE:
        about = replace(about, units=scalar.units, decimals=scalar.decimals)
    shown = _SHOWN_OF_TWO if systems == 2 else _SHOWN_OF_MORE
    label = scalar.label if statistic in shown else ""
    about = replace(about, label=label, measure=measure.name, statistic=statistic)
    attrs = about.attrs
    if statistic == "difference":
        attrs = {**attrs, "interval_method": measure.method, **limits_for}
    # Tables show the p-values that the conclusions are based on.
    if is_adjusted and statistic == "p_value":
        attrs["detail"] = "verbose"
    if is_adjusted and statistic == "p_adjusted":
        del attrs["detail"]
    return attrs


def _answers(
    outcomes: Sequence[tuple[Message, ComparedMeasure]], messages: Sequence[Message]
) -> list[Message]:
    """Return the messages that say which systems are better, with all measures that say the same.

    A measure at a target that one of the `messages` calls uncertain is listed as such.
    """
    uncertain = set()
    for message in messages:
        if message.code == "target-uncertain":
            name = f"{message.arguments['rate']}_at_{message.arguments['chosen']}"
            uncertain |= {(name, target) for target in message.arguments["targets"]}
    measures_by_outcome: dict[Message, list[dict[str, Any]]] = {}
    for outcome, measure in outcomes:
        scalar = measure.scalar
        argument: dict[str, Any] = {"measure": measure.name, "label": scalar.label}
        if measure.name == "dir_at_far":
            argument["task"] = "identification"
        for dim, label in measure.places.items():
            if PLACES[dim] in (*scalar.places, "rank"):
                argument[PLACES[dim]] = label
        measures_by_outcome.setdefault(outcome, []).append(argument)
    answers = []
    for outcome, measures in measures_by_outcome.items():
        about = {**outcome.arguments, "measures": measures}
        doubted = [x for x in measures if (x["measure"], x.get("target")) in uncertain]
        if doubted and "best" in about:
            about["uncertain"] = doubted
        answers.append(Message(outcome.code, **about))
    return answers


def adjusted_for_measures(p_by_measure: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the p-values of several measures, adjusted by Holm's step-down method; NaN stays.

    The p-values of a measure are already adjusted for its pairs of systems. In a step, p-values are
    multiplied by the number of measures that remain; a measure is done with when all its pairs
    differ significantly, at its largest p-value. Valid under any dependence: Holm (1979), A simple
    sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.
    """
    largest = np.sort(
        [np.nanmax(p_values) for p_values in p_by_measure if not np.isnan(p_values).all()]
    )
    remaining = len(largest) - np.arange(len(largest))
    # The smallest level at which a step is reached: the steps before it are done at this level.
    level = np.append(0.0, np.maximum.accumulate(remaining * largest))[: len(largest)]
    all_adjusted = []
    for p_values in p_by_measure:
        steps = np.maximum(p_values[..., None] * remaining, level)
        adjusted = np.minimum(steps, 1.0).min(axis=-1, initial=1.0, where=~np.isnan(steps))
        all_adjusted.append(np.where(np.isnan(p_values), np.nan, adjusted))
    return all_adjusted


def _outcome(
    statistics: _Statistics, systems: Sequence[str], attrs: Mapping[str, str | int | float]
) -> Message:
    """Return the conclusion from a measure alone: the best systems, or why there is none."""
    rank, rank_low = statistics["rank"], statistics["rank_low"]
    order = [i for i in np.argsort(rank, kind="stable").tolist() if not np.isnan(rank[i])]
    if not order:
        return Message("systems-not-concluded", why="the values are not defined")
    if "interval_method" not in attrs:  # too few sequences have no intervals and limits
        why = f"there are fewer than {FEWEST_SEQUENCES} sequences"
        return Message("systems-not-concluded", why=why)
    if not statistics["supported"]:
        why = "these targets need more people or attempts"
        return Message("systems-not-concluded", why=why)
    # The systems that no other system is shown to be better than.
    best = [systems[i] for i in sorted(order) if rank_low[i] == 1]
    worse = [systems[i] for i in sorted(order) if rank_low[i] != 1]
    if len(best) == 1 and worse:
        return Message("system-better", best=best[0], worse=worse)
    if worse:
        return Message("systems-better", best=best, worse=worse, number=len(worse))
    # Two systems that differ, but on too few people to tell which is better.
    least = int(attrs["least_discordant"]) if "discordant" in statistics else 0
    too_few = []
    for pair in itertools.combinations(order, 2) if least else ():
        number = statistics["discordant"][pair]
        is_equal = not number and statistics["difference"][pair] == 0
        too_few.append(number < least and not is_equal)
    if too_few and all(too_few):
        noun = "sequences" if "sequences" in attrs else "people"
        why = f"the systems differ on fewer than {least} {noun}, too few for a test"
        return Message("systems-not-concluded", why=why)
    return Message("systems-not-different", systems=list(systems))


# Results of cross-evaluation over the same folds, by the corrected resampled t-test.

#: The method of limits over folds.
FOLDS = "nadeau-bengio"

#: The population of limits over folds.
_FOLDS_LIKE_THESE = "folds like these"

#: The measures of folds at the threshold of the training part, with their labels.
_AT_CHOSEN_THRESHOLD = {
    "far": "{far} at the threshold of training",
    "frr": "{frr} at the threshold of training",
    "hter": "HTER at the threshold of training",
    "accuracy": "accuracy at the threshold of training",
    "dir": "{dir} at rank {rank}, at the threshold of training",
}

#: The measures of folds without a threshold, and at thresholds chosen on the test part.
_OF_TEST_PARTS = (
    *("cms", "recognition_rate", "eer", "auc", "frr_at_far", "far_at_frr", "min_dcf"),
    "dir_at_far",
)

#: The attributes that results over the same folds have in common, with words for them.
_RECORDS = {
    "result_type": "the task",
    "splitter": "the splitter",
    "folds": "the folds",
    "templates": "`templates`",
    "threshold_rule": "the rule of the threshold",
    "claims": "the claims",
    "rank_unit": "`rank_unit`",
    "ties": "`ties`",
    "impostors": "`impostors`",
}


def _require_folds(systems: Mapping[str, Any]) -> None:
    for name, result in systems.items():
        dims = result.dims if isinstance(result, xr.Dataset) else ()
        if not {"repeat", "fold", "part"} <= {*dims} or "splitter" not in result.attrs:
            got = "a tree of results" if isinstance(result, xr.DataTree) else received(result)
            if isinstance(result, xr.Dataset | xr.DataTree) and "task" in result.attrs:
                got = f"a result ({result.attrs['task']})"
            raise DataError(
                f"the system {name} is {got}; expected results of "
                "be.cross_evaluate of all systems, or the scores of all systems, as in "
                "be.compare({name: scores, ...})"
            )


def _require_same_folds(results: Mapping[str, xr.Dataset]) -> None:
    (first, reference), *further = results.items()
    for name, result in further:
        for attribute, words in _RECORDS.items():
            values = [str(x.attrs.get(attribute, "")) for x in (reference, result)]
            if values[0] != values[1]:
                raise DataError(
                    f"{first} and {name} differ in {words}: {values[0] or 'none'}, and "
                    f"{values[1] or 'none'}; expected results over the same folds, of the same "
                    "samples with the same options"
                )
        if Rule.written(str(reference.attrs.get("threshold_rule", "none"))).name == "fixed":
            scales = [
                f"{x.attrs.get('kind')} {x.attrs.get('metric', '')}" for x in (reference, result)
            ]
            if scales[0] != scales[1]:
                raise DataError(
                    f"{first} and {name} have one threshold for two kinds of scores, "
                    f"{scales[0].strip()} and {scales[1].strip()}; expected a rule such as "
                    '`threshold="far=0.01"`'
                )


def _compared_folds(
    results: Mapping[str, xr.Dataset], measures: Any, interval: IntervalMethod, adjust: Adjustment
) -> xr.Dataset:
    _require_same_folds(results)
    first = next(iter(results.values()))
    tests = [x.sel(part="test") for x in results.values()]
    train, test = (np.nanmean(first["subjects"].sel(part=x).values) for x in ("train", "test"))
    test_to_train = float(test / train) if train else np.nan
    if not np.isfinite(test_to_train):
        raise DataError("the training parts are empty; expected folds with training and test parts")

    # The measures of all systems, in each fold: name and number, description, (systems, folds).
    known = [x for x in (*_AT_CHOSEN_THRESHOLD, *_OF_TEST_PARTS) if all(x in y for y in tests)]
    if measures is None:
        wanted = [Wanted(x) for x in known if x != "accuracy"]
    else:
        listed = [measures] if isinstance(measures, str) else [*measures]
        wanted = [_wanted(x, known) for x in listed]
    of_task = TASKS[str(first.attrs["result_type"]).replace("-", "_")]
    compared = []
    for measure in dict.fromkeys(wanted):
        name, number = measure.name, measure.at
        if name == "cms":
            scalar = CMS_AT_RANK
        else:
            scalar = {**VARIABLES, **of_task}[name]
            scalar = replace(scalar, name=name, label=_AT_CHOSEN_THRESHOLD.get(name, scalar.label))
        of_systems = [x[name] for x in tests]
        supported = [x[f"{name}{SUPPORTED}"] for x in tests if f"{name}{SUPPORTED}" in x]
        if name == "dir_at_far":
            of_systems = [x.sel(rank=1) for x in of_systems if 1 in x["rank"]]
            if len(of_systems) < len(tests):
                continue
        # The labels of the target or rank that all systems have; a single None without any.
        dim = next((str(x) for x in of_systems[0].dims if x not in ("repeat", "fold")), None)
        labels: list[Any] = [None]
        if dim is not None:
            labels = of_systems[0][dim].values.tolist()
            labels = [x for x in labels if all(x in of_system[dim] for of_system in of_systems)]
        if number is not None:
            if number not in labels:
                places = ", ".join(f"{x:g}" for x in labels) or "none"
                raise DataError(
                    f"`measures` has {name}={number:g}; these results have {name} at {places}"
                )
            labels = [number]
        for label in labels:
            at = {} if dim is None else {dim: label}
            is_supported = all(bool((x.sel(at) == 1).all()) for x in supported)
            values = np.stack([x.sel(at).values.ravel() for x in of_systems])
            compared.append(
                _measure_over_folds(scalar, at, values, test_to_train, interval, is_supported)
            )
    if not compared:
        raise DataError("the results have no measure in common")

    # The result; attributes on the data are those of the first system.
    names = [
        *("layout", "exclude", "probes", "probe_subjects", "gallery_subjects", "gallery_templates"),
        *("use", "templates", "splitter", "splitter_class", "experiment", "folds"),
    ]
    attrs: dict[str, Any] = {name: first.attrs[name] for name in names if name in first.attrs}
    fingerprints = [str(x.attrs.get("fingerprint", "")) for x in results.values()]
    attrs |= {"fingerprint": "; ".join(fingerprints), **attrs_of_interval(interval)}
    attrs |= {"adjust": adjust, "systems_compared": len(results)}
    notes = joined_messages({name: messages_of(x.attrs) for name, x in results.items()})
    return comparison_dataset([*results], compared, attrs, notes)


def _measure_over_folds(
    scalar: Variable,
    places: Mapping[str, float],
    values: np.ndarray,
    test_to_train: float,
    interval: IntervalMethod,
    is_supported: bool,
) -> ComparedMeasure:
    """Test the differences of systems in a measure; `values` are (systems, folds)."""
    values = values[:, ~np.isnan(values).any(axis=0)]
    k, folds = values.shape
    means = values.mean(axis=1) if folds else np.full(k, np.nan)

    def error_of(columns: np.ndarray) -> float:
        """Return the standard error of a mean over folds."""
        # Equal values, up to rounding, have no spread to estimate an error from.
        largest = np.abs(columns).max(initial=0)
        if not is_supported or folds < 2 or np.ptp(columns) <= 1e-12 * largest:
            return np.nan
        return float(columns.std(ddof=1) * np.sqrt(1 / folds + test_to_train))

    smallest, largest = scalar.bounds
    limits = np.full((k, 2), np.nan)
    for i, system in enumerate(values):
        if not np.isnan(error := error_of(system)):
            half = error * float(scipy.special.stdtrit(folds - 1, 0.5 + interval.confidence / 2))
            limits[i] = max(means[i] - half, smallest), min(means[i] + half, largest)

    # The test of each pair, row minus column; folds without spread have no test.
    row, column = np.triu_indices(k, 1)
    errors = np.array([error_of(x) for x in values[row] - values[column]])
    row, column, errors = (x[~np.isnan(errors)] for x in (row, column, errors))
    difference = (values[row] - values[column]).mean(axis=1) if len(row) else NONE
    tested = Differences.of_pairs(
        means,
        (row, column),
        difference,
        (errors, errors),
        np.full(len(row), folds - 1.0),
        interval.confidence,
        widest=largest - smallest,
    )
    t = np.full((k, k), np.nan)
    t[row, column] = difference / errors
    t[column, row] = -t[row, column]
    return ComparedMeasure(
        scalar,
        means,
        limits,
        tested,
        FOLDS,
        _FOLDS_LIKE_THESE,
        t=t,
        places=places,
        supported=is_supported,
    )

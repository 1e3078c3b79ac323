"""Comparison of systems over the same data: differences, ranks, and letters of the systems.

The definition::

    for system in systems:  # one after another, on the templates that all have in common
        for measure in measures:
            columns[measure, system] = value, *(value without each person for person in people)
    for measure in measures:
        for i, j in pairs of systems:
            difference[i, j] = columns[i, 0] - columns[j, 0]
            # Student's test of the jackknife of columns[i] - columns[j], adjusted for the pairs

In this file: :func:`compare`, and the comparison of results over folds. What is asked for, and the
measures of one system, are in :mod:`bioeval.studies.system_measures`; the tests of differences and
the result in :mod:`bioeval.studies.comparison`.

``columns`` are ``(1 + people,)`` of a system, or ``(1 + groups,)`` where groups of people are left
out; statistics of a measure are ``(systems,)`` or ``(systems, systems)``. For measures at
thresholds that are chosen on the data, the value in each replicate is kept as well; replicates draw
people anew, the same people for all systems. A pair that decides differently on fewer than six
people (`discordant`) has no test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy
import xarray as xr

from bioeval.base.arguments import require_choice
from bioeval.base.errors import (
    BioevalError,
    DataError,
    Message,
    ProtocolError,
    counted,
    joined_messages,
    messages_of,
    received,
)
from bioeval.base.progress import reporter, rows_reported
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import FAR_TARGETS, check_targets
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import ImpostorProbes, OpenSet, RankUnit, Ties
from bioeval.results.support import note_asked_targets
from bioeval.results.variables import SUPPORTED, TASKS, VARIABLES, Variable
from bioeval.scores.alignment import SIDES, aligned, numbered_as, require_equal, require_one_scale
from bioeval.scores.attempts import left_out
from bioeval.scores.distances import FusionRule, require_use_of_fusion
from bioeval.scores.matrix import Scores
from bioeval.scores.people import require_people
from bioeval.scores.provenance import Provenance
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.aggregate import attrs_of_interval
from bioeval.stats.options import BOOTSTRAP, PEOPLE, IntervalMethod, required_interval
from bioeval.stats.simultaneous import Differences, discordant, least_discordant
from bioeval.studies.comparison import NONE, ComparedMeasure, SystemMeasure, comparison_dataset
from bioeval.studies.system_measures import (
    AT_THRESHOLD,
    CMS_AT_RANK,
    MeasuredSystem,
    Wanted,
    WantedMeasures,
    by_attempts,
    by_queries,
    parse_measure,
    refuse_unused,
)
from bioeval.tasks.reid.candidates import Convention, Named, cameras_of, convention_of

#: How conclusions are adjusted for the number of measures.
Adjustment = Literal["none", "holm"]

#: Scores, or a function that reads them, so that one system at a time is in memory.
System: TypeAlias = Scores | Callable[[], Scores]


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
        refuse_unused(
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
        wanted = [parse_measure(x, known) for x in listed]
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

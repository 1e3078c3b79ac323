"""Comparison of systems over the same data: differences, ranks, and letters of the systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_choice
from bioeval.base.errors import (
    BioevalError,
    DataError,
    ProtocolError,
    backquoted,
    enumerated,
    received,
)
from bioeval.base.messages import Message
from bioeval.base.progress import reporter, rows_reported, rows_reported_to
from bioeval.counting.targets import FAR_TARGETS, check_targets
from bioeval.protocol.choices import ImpostorProbes, RankUnit, Ties
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import OpenSet
from bioeval.scores.alignment import SIDES, aligned, numbered_as, require_equal
from bioeval.scores.fusion_rules import FusionRule
from bioeval.scores.matrix import Scores
from bioeval.scores.people import require_people
from bioeval.scores.provenance import left_out
from bioeval.scores.scale import require_one_scale
from bioeval.scores.score_notes import notes_on_scores
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import BOOTSTRAP, PEOPLE, IntervalMethod, required_interval
from bioeval.stats.simultaneous import discordant, least_discordant
from bioeval.studies.compare.measures import MeasuredSystem, by_attempts
from bioeval.studies.compare.outcomes import with_answers
from bioeval.studies.compare.results import ComparedMeasure, SystemMeasure, comparison_dataset
from bioeval.studies.compare.retrieval import by_queries
from bioeval.studies.compare.wanted import AT_THRESHOLD, IDENTIFICATION, WantedMeasures
from bioeval.tasks.reid.candidates import Candidates
from bioeval.tasks.reid.convention import (
    Convention,
    Named,
    cameras_of,
    column_warnings,
    convention_of,
)

#: How conclusions are adjusted for the number of measures.
Adjustment = Literal["none", "holm"]
ADJUSTMENTS: tuple[Adjustment, ...] = get_args(Adjustment)

#: Scores, or a function that reads them, so that one system at a time is in memory.
System: TypeAlias = Scores | Callable[[], Scores]


@warns_of_doubts
def compare(
    a: Scores | Mapping[str, System],
    b: Scores | None = None,
    *,
    measures: Sequence[Any] | str | None = None,
    fusion: FusionRule = "best",
    far_targets: Sequence[float] = FAR_TARGETS,
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
    measures : sequence, optional
        Measures to compare, such as eer, frr_at_far=0.001, auc, cms=5, mean_ap. Others are:

        - ``"far_at_frr=0.01"``, ``"eer_hull"``, ``"min_dcf=0.01"`` (at a prior),
          ``"frr_at_threshold=0.4"``, ``"far_at_threshold=0.4"``, and the best values of
          :func:`bioeval.scalar`
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
        has the number and the seed of the replicates, where people are drawn again.
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

    - Standard errors of differences come from this jackknife. EER, FRR at a FAR and FAR at a FRR
      are quantiles: their standard errors come from people drawn again, the same for all systems.
    - Re-identification and functions of scores are computed anew without each person, or group of
      people (``jackknifed``): 100 groups of more than 200 people, and of more than 40 people 20 for
      functions.
    - Each pair has Student's test, with degrees of freedom after Satterthwaite, adjusted for the
      number of pairs: Holm (1979). The limits of all pairs hold together (Bonferroni), so that a
      pair that differs by its p-value may have limits that still include 0.
    - Sets of ranks: Mogstad, Romano, Shaikh and Wilhelm (2024). Letters: Piepho (2004).

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
    method = required_interval(interval, (PEOPLE,))
    require_choice("adjust", adjust, ADJUSTMENTS)
    search = OpenSet(rank_unit=rank_unit, fusion=fusion, ties=ties, impostors=impostors)
    targets = check_targets(far_targets), check_targets(frr_targets, "frr_targets")
    rules = convention_of(protocol, argument="protocol") if protocol is not None else None
    if rules is not None and measures is None:
        _refuse_options_unused_by_reid(search, *targets, rules.name)
    requested = WantedMeasures.parse(measures, *targets, retrieval=rules is not None)

    def measure(scores: Scores) -> MeasuredSystem:
        if rules is not None:
            return by_queries(scores, rules, requested, method)
        return by_attempts(scores, requested, search, method)

    with rows_reported():
        at_one_threshold = any(requested.numbers(name) for name in AT_THRESHOLD)
        systems = _Systems(_by_name(a, b), measure, rules, protocol, at_one_threshold)
        while not systems.measure_all():  # each pass leaves fewer templates in common
            systems = systems.for_next_pass()
    measures_of_all = systems.measures_of_all()
    compared = []
    for of_systems in measures_of_all:
        discordant_people = discordant([x.own for x in of_systems], [x.shared for x in of_systems])
        compared.append(
            ComparedMeasure.from_systems(of_systems, discordant_people, method.confidence, PEOPLE)
        )
    attrs: dict[str, Any] = {**systems.details(), **method.attrs()}
    if any(x.method == BOOTSTRAP for x in compared):
        attrs |= {"replicates": method.replicates, "seed": str(method.seed.entropy)}
    attrs |= {
        "adjust": adjust,
        "systems_compared": len(systems.measured),
        "least_discordant": least_discordant(method.confidence),
    }
    names = {of_systems[0].scalar.name for of_systems in measures_of_all}
    messages = systems.messages(requested, names, method)
    return with_answers(comparison_dataset(list(systems.measured), compared, attrs, messages))


def _refuse_options_unused_by_reid(
    search: OpenSet, far_targets: np.ndarray, frr_targets: np.ndarray, convention: str
) -> None:
    names = ("fusion", "rank_unit", "ties", "impostors")
    unused = [name for name in names if search[name] != OpenSet()[name]]
    if not np.array_equal(far_targets, FAR_TARGETS):
        unused.append("far_targets")
    if len(frr_targets):
        unused.append("frr_targets")
    if unused:
        verb, out = ("has", "it") if len(unused) == 1 else ("have", "them")
        raise ProtocolError(
            f"{enumerated(map(backquoted, unused))} {verb} no effect in a comparison of "
            f"re-identification ({convention}); leave {out} out, or change the card"
        )


def _by_name(a: Any, b: Any) -> Mapping[str, System]:
    """Return systems by their names; two systems without distinct names are called a and b."""
    if isinstance(a, Mapping):
        if b is not None:
            raise DataError(
                "systems are given by name and as `b`; give either a mapping, or `a` and `b`"
            )
        if len(a) < 2:
            raise DataError(f"a comparison needs two systems or more, and {len(a)} is given")
        return a
    names = [getattr(system, "name", "") or letter for system, letter in ((a, "a"), (b, "b"))]
    if names[0] == names[1]:
        names = [f"{names[0]} (a)", f"{names[1]} (b)"]
    return dict(zip(names, (a, b), strict=True))


class _Systems:
    """Systems, measured one after another on the templates that all have in common.

    - `rules`: None for verification and identification
    - `at_one_threshold`: whether rates at one threshold of all systems are compared
    - `reference`: scores on the templates that all systems have in common
    - `measured`: the measures of each system, by name
    """

    def __init__(
        self,
        systems: Mapping[str, System],
        measure: Callable[[Scores], MeasuredSystem],
        rules: Convention | None,
        protocol: Any,
        at_one_threshold: bool,
        reference: Scores | None = None,
    ):
        self.systems, self.measure = systems, measure
        self.rules, self.protocol = rules, protocol
        self.at_one_threshold = at_one_threshold
        self.reference = reference
        self.measured: dict[str, MeasuredSystem] = {}
        self.fingerprints: list[str] = []
        self._messages: dict[Message, list[str]] = {}
        self._left_out: dict[str, dict[str, int]] = {}

    def for_next_pass(self) -> _Systems:
        """Return the same systems, none of them measured, with the reference of this pass."""
        return _Systems(
            self.systems,
            self.measure,
            self.rules,
            self.protocol,
            self.at_one_threshold,
            self.reference,
        )

    def measure_all(self) -> bool:
        """Measure all systems on the templates of the reference.

        Return False if a system lacks some of them: earlier systems had too many templates then.
        """
        is_complete = True
        for name, system in self.systems.items():
            try:
                scores = self._read(name, system)
                common = scores
                if self.reference is not None:
                    common, scores = self._aligned(self.reference, name, scores)
                    is_complete &= common is self.reference
                self.reference = common
                if is_complete:
                    self._measure_system(name, scores)
            except BioevalError as error:
                if str(error).startswith(f"{name}:"):  # the name of a file
                    raise
                raise error.preceded_by(f"{name}: ") from error
        return is_complete

    def _read(self, name: str, system: System) -> Scores:
        scores = system() if callable(system) and not isinstance(system, Scores) else system
        if not isinstance(scores, Scores):
            raise DataError(
                f"the system is {received(scores)}; expected bioeval.Scores, or a function that "
                "reads them"
            )
        self.fingerprints.append(scores.fingerprint)
        if self.rules is not None:
            scores = with_exclusions(scores, self.protocol)
        require_people(scores, "comparing systems")
        return scores

    def _aligned(self, reference: Scores, name: str, scores: Scores) -> tuple[Scores, Scores]:
        first = next(iter(self.systems))
        if self.at_one_threshold:
            require_one_scale(reference, scores, "a threshold", (first, name))
        try:
            common, scores, messages = aligned(reference, scores, (first, name))
            if self.rules is not None and self.rules.needs_cameras and common.layout != "pairs":
                for mine, theirs, side in zip(
                    cameras_of(common), cameras_of(scores), SIDES, strict=True
                ):
                    require_equal(mine, theirs, "cameras", side)
        except DataError as error:
            raise DataError(f"the system is not like {first}: {error}") from None
        for message in messages:
            if message.code != "not-in-common":
                self._messages.setdefault(message, []).append(name)
            elif number := message.arguments["left_out"][name]:
                self._left_out.setdefault(message.arguments["what"], {})[name] = number
        return common, numbered_as(common, scores)

    def _measure_system(self, name: str, scores: Scores) -> None:
        with rows_reported_to(reporter()):
            system = self.measure(scores)
        self.measured[name] = system
        messages = [*notes_on_scores(scores), *system.messages]
        if self.rules is not None:
            about = Candidates(scores, self.rules).about()
            messages += about.lists.messages() if about.searched is not None else []
        elif any(measure.scalar.name in IDENTIFICATION for measure in system.measures):
            messages += scores.completeness.messages()
        if self.rules is None:
            messages += column_warnings(scores)
        for message in dict.fromkeys(messages):
            self._messages.setdefault(message, []).append(name)

    def measures_of_all(self) -> list[list[SystemMeasure]]:
        by_key = [{x.key: x for x in system.measures} for system in self.measured.values()]
        measures = [
            [system[key] for system in by_key]
            for key in by_key[0]
            if all(key in system for system in by_key)
        ]
        if not measures:
            raise DataError(
                "none of the measures is defined for all systems: lists that end before the last "
                "match have no mAP, and pairs no identification"
            )
        return measures

    def details(self) -> dict[str, str | int]:
        scores = self.reference
        assert scores is not None
        first = next(iter(self.measured.values()))
        codes = scores.codes
        sides = {
            "probes": scores.shape[0],
            "probe_subjects": len(codes.people(codes.probe)),
            "gallery_subjects": len(codes.people(codes.gallery)),
        }
        if scores.layout != "pairs":
            sides["gallery_templates"] = scores.shape[1]
        return {
            "layout": scores.layout,
            "exclude": ", ".join(left_out(scores)),
            **({"use": scores.claims} if scores.claims else {}),
            **sides,
            "subjects": first.people,
            **first.details,
            "fingerprint": "; ".join(self.fingerprints),
        }

    def messages(
        self, wanted: WantedMeasures, compared: set[str], interval: IntervalMethod
    ) -> list[Message]:
        first, system = next(iter(self.measured.items()))
        differing: dict[tuple[int, ...], list[str]] = {}
        for name, measured in self.measured.items():
            if measured.attempts != system.attempts:
                differing.setdefault(measured.attempts, []).append(name)
        messages = [
            Message(
                "attempts-of-systems",
                systems=names,
                first=first,
                attempts=list(attempts),
                attempts_of_first=list(system.attempts),
            )
            for attempts, names in differing.items()
        ]
        for entries, numbers in self._left_out.items():
            messages.append(Message("not-in-common", what=entries, left_out=numbers))
        messages += interval.few_people(system.people)
        undefined = dict.fromkeys(x.name for x in wanted.chosen or () if x.name not in compared)
        if undefined:
            messages.append(Message("measures-not-defined", measures=list(undefined)))
        for message, names in self._messages.items():
            if len(names) == len(self.measured):
                messages.append(message)
            else:
                messages += [message.concerning(name) for name in names]
        return messages

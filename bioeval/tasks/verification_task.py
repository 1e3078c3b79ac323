"""Verification: claims become attempts, counts and a labelled result; a rule chooses a threshold.

A claim is a probe that says who it is. An attempt is the score by which a claim is decided, genuine
if the claim is true, and impostor if not. Scores are distances here (similarities are negated)::

    gar = np.mean(genuine <= threshold)   # genuine and impostor: distances of the attempts
    far = np.mean(impostor <= threshold)

:func:`verification` counts attempts (`count`), finds operating points such as the EER
(`find_points`), and writes both (`VerificationTask.dataset`). A card does so for several tasks in
one pass (tasks/plan.py). Where a number comes from, step by step: docs/how-it-counts.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import Message, ProtocolError
from bioeval.base.progress import rows_reported
from bioeval.counting.threshold_rules import (
    ChosenThreshold,
    PointsWanted,
    Rule,
    VerificationPoints,
    choose,
    no_such_threshold,
)
from bioeval.counting.thresholds import (
    FAR_TARGETS,
    check_costs,
    check_targets,
    curve_thresholds,
    in_order_of_scores,
    to_user,
)
from bioeval.counting.verification import (
    UnenrolledClaims,
    Use,
    Verified,
    count,
    to_verify,
    verify,
)
from bioeval.results.attributes import about_attrs
from bioeval.results.beyond_scores import note_thresholds_beyond_scores
from bioeval.results.dataset import (
    Scalars,
    Variables,
    dataset,
    decisions,
    in_units,
    rate,
    variables_over,
)
from bioeval.results.support import (
    note_asked_targets,
    support_messages,
    supported,
    tie_message,
    without_attempts,
)
from bioeval.results.variables import VERIFICATION, best_values, rates_of_scripts
from bioeval.scores.distances import FusionRule, Templates, require_use_of_fusion
from bioeval.scores.matrix import Scores, require_all_scores
from bioeval.scores.people import ComparedPeople
from bioeval.scores.rows import threads_for
from bioeval.scores.sampled import is_symmetric
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of


@warns_of_doubts
def verification(
    scores: Scores,
    *,
    templates: Templates = "single",
    fusion: FusionRule = "best",
    thresholds: Any = None,
    n_thresholds: int | None = None,
    claims: Any = None,
    unenrolled_claims: UnenrolledClaims = "raise",
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] = (),
    costs: Sequence[tuple[float, float, float]] = PointsWanted.DEFAULT_COSTS,
    auc: bool = True,
    interval: IntervalName | IntervalMethod | None = None,
) -> xr.Dataset:
    """Evaluate verification: is the probe of the subject that it claims?

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, or a list of pairs.
    templates : {"single", "multi"}
        Whether a claim is compared with one template of the subject, or with all of them.
        ``"single"``: each comparison with a template is an attempt. ``"multi"``: each probe claims
        each subject once, by the fused score of that subject's templates.
    fusion : {"best", "mean", "worst", "median", "kth:K", "min", "max"}
        How the scores of a subject's templates are fused: best, mean, worst, median, kth:K, min or
        max. ``"best"`` takes the closest template (the smallest distance, the largest similarity),
        ``"worst"`` the farthest, ``"kth:2"`` the second closest; a claim of a subject with fewer
        templates is no attempt, and is counted. ``"min"`` and ``"max"`` take the smallest and the
        largest score, of either kind.
    thresholds : float or increasing array of float, optional
        Thresholds at which to report rates (0.5,0.62). In the units of the scores. None: about
        1,000 evenly spaced ones, and the operating points.
    n_thresholds : int, optional
        Number of thresholds of the curves. They are spread evenly from the smallest to the largest
        score, in place of `thresholds`.
    claims : sequence of shape (m,), pair (probe_index, subjects), or ClaimSampler, optional
        Explicit claims instead of all: one claimed subject for each probe, or any list; or claims
        drawn by :class:`bioeval.partition.ClaimSampler`.
    unenrolled_claims : {"raise", "skip"}
        Whether a claim of a subject without templates is an error, or is left out and counted.
    far_targets : sequence of float, optional
        FAR at which to report FRR. For each target, the smallest FRR with FAR at most the target,
        and its threshold; by default 0.1, 0.01, 0.001 and 0.0001.
    frr_targets : sequence of float
        FRR at which to report FAR. For each target, the smallest FAR with FRR at most the target,
        and its threshold; none by default.
    costs : sequence of (prior, c_miss, c_fa)
        For each triple, the least cost ``prior c_miss FRR + (1 - prior) c_fa FAR``; the default is
        the half total error rate.
    auc : bool
        Whether to also find AUC, d', the EER on the hull and the least costs. They take every
        impostor score, not only those near an operating point, and cost more than all the rest.
    interval : str or :class:`bioeval.stats.IntervalMethod`, optional
        Add confidence intervals, which hold for people who are drawn independently. None by
        default, since they take another pass over the scores. ``"people"`` leaves out each subject
        in turn and is recommended; ``"subject-bootstrap"`` draws subjects again, 2,000 times by
        default; ``"wilson"`` and ``"clopper-pearson"`` take attempts as independent, which attempts
        that share a subject are not. A name alone has confidence 0.95.

    Returns
    -------
    xarray.Dataset
        - ``gar``, ``frr`` (of the genuine attempts) and ``far``, ``grr`` (of the impostor attempts)
          over ``threshold``, with their counts ``ga``, ``fr``, ``fa``, ``gr``
        - ``genuine_attempts``, ``impostor_attempts`` and ``skipped_claims``
        - ``subjects``, ``impostor_pairs``, ``disjoint_pairs``: independent units
        - ``far_unenrolled``, ``fa_unenrolled``, ``unenrolled_attempts``: drawn claims by probes who
          are not enrolled; ``far`` does not count these claims
        - ``eer``, ``eer_threshold``, ``far_at_eer``, ``frr_at_eer``, ``eer_bracket_low``,
          ``eer_bracket_high``: the equal error rate
        - ``eer_hull``, ``auc``, ``d_prime``: measures of the whole curve
        - ``zero_far``, ``zero_frr``, with their thresholds
        - ``frr_at_far``, ``threshold_at_far`` and ``expected_false_accepts`` over ``far_target``
        - ``far_at_frr`` and ``threshold_at_frr`` over ``frr_target``
        - ``min_dcf``, ``min_cost`` and ``min_cost_threshold`` over ``cost``

        Operating points are exact: they are found at the scores themselves, never read off the
        thresholds. :func:`messages` names targets that the number of impostor attempts cannot
        support. Beside each threshold, with the ending ``_next``, is the nearest score that it does
        not accept. Where attempts are too many to be listed, this is exact at FAR targets and at
        ``zero_far``, and elsewhere this score or a number before it.

        With an interval, ``gar``, ``frr``, ``far``, ``grr``, ``frr_at_far`` and ``far_at_frr`` have
        ``_low`` and ``_high``; an interval by subject also has them for ``auc`` and ``eer``.

    Raises
    ------
    DataError
        Bad options, thresholds or claims; NaN under ``nan="raise"``.
    ProtocolError
        If the scores cannot support the task: order-only values, multi-template pairs.

    Notes
    -----
    Definitions: ISO/IEC 19795-1:2021 (false match rate, FMR; false non-match rate, FNMR); Jain,
    Ross and Nandakumar, Introduction to Biometrics (Springer 2011), chapter 1;
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> scores = be.Scores(d, ["ann", "ann", "bob", "bob"])
    >>> ds = be.verification(scores, thresholds=[1, 2, 3, 4])
    >>> ds.gar.values, ds.far.values
    (array([0.5, 1. , 1. , 1. ]), array([0.  , 0.  , 0.25, 0.5 ]))

    How far off may the EER be?

    >>> ds = be.verification(be.simulate(60, 4), interval="people")
    >>> print(f"{ds.eer:.3f} [{ds.eer_low:.3f}, {ds.eer_high:.3f}]")
    0.039 [0.022, 0.063]
    """
    interval_method = interval_of(interval, takes_unit=True)
    require_use_of_fusion(fusion, templates == "multi", "verification", 'templates="multi"')
    require_all_scores(scores)
    scores = scores.loaded()  # operating points may take another pass
    points = PointsWanted(
        targets=check_targets(FAR_TARGETS if far_targets is None else far_targets),
        costs=check_costs(costs),
        frr_targets=check_targets(frr_targets, "frr_targets"),
        every_score=require_flag("auc", auc),
        optima=best_values(),
    )
    asked = to_verify(
        scores,
        Use(templates, fusion),
        wanted=points,
        thresholds=curve_thresholds(thresholds, n_thresholds),
        claims=claims,
        unenrolled_claims=unenrolled_claims,
    )
    with rows_reported():
        (verified,), _ = count(scores, [asked])
        # Fused scores differ by direction: the templates of one side are fused.
        symmetric = templates == "single" and is_symmetric(scores)
        # Thresholds that the user did not choose also contain those of the operating points.
        with_thresholds = verified.requested_thresholds is None
        found = verified.find_points(symmetric=symmetric, with_thresholds=with_thresholds)
        task = VerificationTask(verified, found)
        result = task.dataset()
    if far_targets is not None:
        note_asked_targets(result)
    if interval_method is None:
        return result
    with threads_for(scores):
        return task.with_intervals(result, interval_method)


@dataclass(frozen=True, eq=False)
class VerificationTask:
    """The result of one verification, from its attempts and operating points."""

    verified: Verified
    points: VerificationPoints

    def scalars(self) -> Scalars:
        """Return the attempts and the operating points."""
        points, verified = self.points, self.verified
        attempts = verified.attempts
        wanted = points.wanted
        values = verification_numbers(
            in_units(points.values, verified.about.kind),
            wanted,
            attempts.genuine_attempts,
            attempts.impostor_attempts,
            symmetric=points.symmetric,
            people=verified.compared,
            skipped_claims=verified.skipped_claims,
        )
        labels = {"far_target": wanted.targets}
        if len(wanted.frr_targets):
            labels["frr_target"] = wanted.frr_targets
        labels["cost"] = wanted.costs[:, 0]
        return Scalars(values, labels, VERIFICATION)

    def dataset(self) -> xr.Dataset:
        """Return counts and rates over the counted thresholds.

        Each rate is over the attempts of its own class: GAR and FRR over the genuine, FAR and GRR
        over the impostor attempts. A rate without attempts is NaN.
        """
        points, verified = self.points, self.verified
        attempts, kind = verified.attempts, verified.about.kind
        # The thresholds (t,), as increasing distances, and the false accepts there: those of the
        # curve and those of the operating points, each once.
        grid, accepted_on_grid = verified.curve
        thresholds, first = np.unique(np.append(grid, points.extra_thresholds), return_index=True)
        false_accepts = np.append(accepted_on_grid, points.extra_accepted)[first]
        # A score at the threshold is accepted: side="right".
        genuine_accepts = attempts.genuine.searchsorted(thresholds, side="right")
        threshold_next = to_user(attempts.next_scores(thresholds), kind)

        # A result is in order of scores: for similarities, the order of distances is reversed.
        order = in_order_of_scores(kind)
        variables = decisions(
            genuine_accepts[order],
            false_accepts[order],
            attempts.genuine_attempts,
            attempts.impostor_attempts,
            rates_of_scripts(),
        )
        numbers, labels, _ = self.scalars()
        del labels["cost"]  # a result has the three numbers of a cost as variables over it
        variables |= numbers
        variables |= variables_over(("threshold",), threshold_next=threshold_next[order])
        if verified.unenrolled is not None:  # increasing distances of claims that were drawn
            accepted = verified.unenrolled.searchsorted(thresholds, side="right")[order]
            variables["far_unenrolled"] = rate(accepted, len(verified.unenrolled))
            variables["fa_unenrolled"] = accepted
            variables["unenrolled_attempts"] = len(verified.unenrolled)

        coordinates = {"threshold": to_user(thresholds, kind)[order], **labels}
        result = dataset(variables, VERIFICATION, coordinates, self._attrs())
        if isinstance(verified.requested_thresholds, np.ndarray):
            requested = to_user(verified.requested_thresholds, kind)
            note_thresholds_beyond_scores(result, requested.tolist())
        return result

    def _attrs(self) -> dict[str, Any]:
        """Return the attributes of the result: the data, the claims, messages, failures."""
        verified = self.verified
        about, people, attempts = verified.about, verified.compared, verified.attempts
        title = about.use_title or f"{verified.use.templates}-template"
        attrs = about_attrs(about, "verification", f"verification, {title}", self._messages())
        attrs |= {**verified.use.attrs, "claims": verified.claims_of}
        # Scores that are claims, or visits, were fused before they were read.
        if about.use_name and verified.use.templates == "single":
            attrs |= {"templates": about.use_name, "fusion": about.use_fusion}
        if people is not None and not verified.compares_all:
            attrs["pairs_of_people"] = people.pairs
        if about.nan == "reject":  # failures are attempts, which are never accepted
            attrs["failed_attempts"] = attempts.missed + attempts.missed_impostors
        return attrs

    def _messages(self) -> list[Message]:
        """Return what makes the numbers doubtful: ties, no attempts, targets without support."""
        points, verified = self.points, self.verified
        people, attempts = verified.compared, verified.attempts
        wanted = points.wanted
        messages = list(tie_message("eer", points.eer_ends, "EER"))
        if not attempts.genuine_attempts:
            messages.append(without_attempts("genuine"))
        if not attempts.impostor_attempts:
            messages.append(without_attempts("impostor"))
        if verified.skipped_claims:
            messages.append(Message("claims-not-enrolled", claims=int(verified.skipped_claims)))
        if attempts.impostor_attempts:  # without them no rate at a target has a value
            symmetric = bool(points.symmetric)  # None: unknown
            messages += support_messages(
                wanted.targets, points.independent, symmetric, "frr at far", people
            )
            # FAR at FRR is as certain as the FRR: its trials are genuine, one pair of templates
            # each, and at most one a person.
            genuine_pairs = attempts.genuine_attempts / (2 if symmetric else 1)
            number = None if people is None else people.number
            messages += support_messages(
                wanted.frr_targets, genuine_pairs, symmetric, "far at frr", number
            )
        return messages

    def with_intervals(self, dataset: xr.Dataset, interval_method: IntervalMethod) -> xr.Dataset:
        """Return the result with confidence intervals."""
        from bioeval.stats.verification import verification_intervals

        return verification_intervals(dataset, self.verified, self.points, interval_method)


def verification_numbers(
    points: Variables,
    wanted: PointsWanted,
    genuine: Any,
    impostor: Any,
    *,
    symmetric: Any,
    people: ComparedPeople | None,
    skipped_claims: Any,
) -> Variables:
    """Return the attempts and the operating points, of one part or of several.

    Of several parts, each number is an array (parts,), also in `people`, and points over targets
    are (parts, targets). `symmetric` says whether each pair was counted in both directions.
    """
    numbers: Variables = {
        "genuine_attempts": np.int64(genuine),
        "impostor_attempts": np.int64(impostor),
        "skipped_claims": np.int64(skipped_claims),
    }
    # Trials of a rate's support: each pair of templates once, and no more than people, or pairs of
    # them, since attempts that share people are alike.
    directions = np.where(symmetric, 2, 1)
    independent_genuine = genuine / directions
    independent_impostor = impostor / directions
    if people is not None:
        numbers["subjects"] = np.int64(people.number)
        numbers["disjoint_pairs"] = np.int64(people.disjoint)
        independent_genuine = np.minimum(independent_genuine, people.number)
        independent_impostor = np.minimum(independent_impostor, people.pairs)
    numbers |= points
    numbers["frr_at_far_supported"] = supported(wanted.targets, independent_impostor)
    if len(wanted.frr_targets):
        numbers["far_at_frr_supported"] = supported(wanted.frr_targets, independent_genuine)
    return numbers


def chosen_threshold(
    scores: Scores,
    rule: Rule,
    *,
    templates: Templates = "single",
    fusion: str = "best",
    argument: str = "threshold",
) -> ChosenThreshold:
    """Return the distance that a rule chooses on all attempts; a fixed threshold reads no score.

    The distance is NaN if all attempts must be rejected, but no threshold is below all scores.
    Errors name the rule by `argument`.
    """
    rule = rule.as_distance(scores.kind)
    if rule.name == "fixed":
        return ChosenThreshold(rule.values[0], True)
    attempts = verify(scores, Use(templates, fusion), wanted=PointsWanted.of_rule(rule)).attempts
    genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
    if not (genuine and impostor):
        lacking = "impostor" if genuine else "genuine"
        raise ProtocolError(
            f'`{argument}="{rule}"` is chosen on genuine and impostor attempts, and '
            f"there is no {lacking} attempt; give a number"
        )
    chosen = choose(rule, attempts)
    if not chosen.defined:
        reason = no_such_threshold(rule, attempts)
        raise ProtocolError(f'`{argument}="{rule}"`: of the thresholds {reason}; give a number')
    return chosen

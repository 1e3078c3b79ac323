"""Verification: claims become attempts, counts and a labelled result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.progress import rows_reported_to
from bioeval.base.random import RandomState
from bioeval.base.registry import scalar_registry
from bioeval.base.variables import IntervalMethod
from bioeval.evaluation.acceptance import Accept, accepted_by, check_accept, stricter
from bioeval.evaluation.fixed_target import Target, rates_added
from bioeval.results.verification import verification_dataset
from bioeval.scores.arrays import FusionRule
from bioeval.scores.blocks import BlockReader, Progress, threads_for
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, require_scores
from bioeval.stats.options import BANDS, Band, IntervalOptions
from bioeval.tallies.passes import count_with_points
from bioeval.tallies.point_search import PointFinder
from bioeval.tallies.points import FAR_TARGETS, check_costs, check_max_fars, check_targets
from bioeval.tallies.second_pass import PointsWanted
from bioeval.tallies.symmetry import is_symmetric
from bioeval.tallies.thresholds import to_internal
from bioeval.tallies.verification_counter import Templates, UnenrolledClaims, VerificationCounter
from bioeval.views.messages import warn_of_kinds


@leaves_out_attacks
def verification(
    scores: Scores,
    *,
    templates: Templates = "single",
    fusion: FusionRule = "min",
    thresholds: Any = None,
    accept: Accept = "at",
    claims: Any = None,
    unenrolled_claims: UnenrolledClaims = "raise",
    far_targets: Sequence[float] = FAR_TARGETS,
    frr_targets: Sequence[float] = (),
    target: Any = None,
    costs: Sequence[tuple[float, float, float]] = PointsWanted.COSTS,
    auc: bool = True,
    max_fars: Sequence[float] = (),
    interval: IntervalMethod | None = None,
    confidence: float = IntervalOptions.CONFIDENCE,
    replicates: int = IntervalOptions.REPLICATES,
    random_state: RandomState = 0,
    band: Band = BANDS[0],
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate verification: is the probe of the subject that it claims?

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, or a list of pairs.
    templates : {"single", "multi"}
        ``"single"``: each comparison with a template is an attempt. ``"multi"``: each probe
        claims each subject once, by the fused score of that subject's templates.
    fusion : {"min", "mean", "max", "median", "kth:K"}
        How a subject's templates are fused, in the sense of distances: ``"min"`` takes the
        nearest template (the largest similarity).
    thresholds : None, int or increasing array of float
        None: about 1,000 evenly spaced ones, and the operating points. A number: that many from
        the smallest to the largest score. An array, in the units of the scores: as given.
    accept : {"at", "beyond"}
        Whether a score equal to the threshold is accepted, or only one beyond it: ``d < t`` in
        place of ``d <= t``. Rates at `thresholds` then leave out scores that are equal to them; the
        operating points are the same, each at the next looser float. Scores must be finite.
    claims : sequence of shape (m,), pair (probe_index, subjects), or ClaimSampler, optional
        Explicit claims instead of all: one claimed subject for each probe, or any list; or claims
        drawn by :class:`bioeval.partition.ClaimSampler`.
    unenrolled_claims : {"raise", "skip"}
        Whether a claim of a subject without templates is an error, or is left out and counted.
    far_targets : sequence of float
        For each, the smallest FRR with FAR at most the target, and its threshold.
    frr_targets : sequence of float
        For each, the smallest FAR with FRR at most the target, and its threshold; none by default.
    target : str, float or tuple, optional
        A given threshold, ``"fixed=0.31"`` or ``("fixed", 0.31)``: FRR and FAR there are numbers of
        their own, each with an interval: by `interval`, else by ``"subject-bootstrap"``, or
        ``"wilson"`` where people are unknown. They take another pass over the scores.
    costs : sequence of (prior, c_miss, c_fa)
        For each, the least cost ``prior c_miss FRR + (1 - prior) c_fa FAR``; the default is the
        half total error rate.
    auc : bool
        Whether to also find AUC, d', the EER on the hull and the least costs. They take every
        impostor score, not only those near an operating point, and cost more than all the rest.
    max_fars : sequence of float
        For each, the area under the ROC from a FAR of 0 to this one, in (0, 1]; none by default.
        Each may take another pass over the scores.
    interval : None or str
        Method of the confidence intervals; none by default, since they take another pass over
        the scores. ``"subject-bootstrap"`` resamples subjects and is recommended (``...-bca`` and
        ``...-logit`` are variants); ``"analytic"`` has variances by subject in closed form;
        ``"wilson"`` and ``"clopper-pearson"`` take attempts as independent, which attempts that
        share a subject are not.
    confidence : float
        Confidence level of the two-sided intervals.
    replicates : int
        Number of resamples of the subjects.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        The same integer gives the same intervals on every platform.
    band : {"pointwise", "simultaneous"}
        Whether the limits of curves hold at each threshold by itself, or at all together; then
        ``gar_in_band frr_in_band far_in_band grr_in_band`` are 1 at thresholds with at least five
        errors and five other attempts, and limits elsewhere are pointwise. Needs a bootstrap.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        Over ``threshold``: rates ``gar frr`` (of the genuine attempts) and ``far grr`` (of the
        impostor attempts), counts ``ga fr fa gr``; scalars ``genuine_attempts``,
        ``impostor_attempts``, ``skipped_claims``, and independent units: ``impostor_pairs subjects
        disjoint_pairs``; of drawn claims ``far_unenrolled fa_unenrolled unenrolled_attempts``, of
        probes who are not enrolled, which are not in ``far``. Operating points, exact at the scores
        themselves and never read off the thresholds: ``eer eer_threshold far_at_eer frr_at_eer
        eer_bracket_low eer_bracket_high eer_hull auc d_prime zero_far zero_frr`` (with
        thresholds); over ``far_target``: ``frr_at_far threshold_at_far
        expected_false_accepts``; with a `target` ``fixed_threshold frr_at_fixed far_at_fixed``
        and their limits; over ``frr_target``: ``far_at_frr threshold_at_frr``; over
        ``max_far``: ``partial_auc partial_auc_standardised``; over
        ``cost``: ``min_dcf min_cost min_cost_threshold``. Targets that the number of impostor
        attempts cannot support are named by :func:`messages`. With an interval: ``_low``
        and ``_high`` of ``gar frr far grr frr_at_far far_at_frr auc eer`` (resampled only: the last
        two).

    Raises
    ------
    DataError
        Bad options, thresholds or claims; NaN under ``nan="raise"``.
    ProtocolError
        If the scores cannot support the task: order-only values, multi-template pairs.

    Notes
    -----
    Definitions: biometrics lecture, "verification"; ISO/IEC 19795-1 (FMR, FNMR);
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

    >>> ds = be.verification(be.simulate(60, 4), interval="subject-bootstrap")
    >>> print(f"{ds.eer:.3f} [{ds.eer_low:.3f}, {ds.eer_high:.3f}]")
    0.039 [0.024, 0.062]

    The area under the ROC up to a FAR of 1 %, as it is, and between 0.5 and 1:

    >>> ds = be.verification(be.simulate(60, 4), max_fars=[0.01])
    >>> print(f"{ds.partial_auc[0]:.5f} {ds.partial_auc_standardised[0]:.3f}")
    0.00682 0.840

    FRR at the threshold of a system in use:

    >>> ds = be.verification(be.simulate(60, 4), target="fixed=4")
    >>> print(f"{ds.frr_at_fixed:.3f} [{ds.frr_at_fixed_low:.3f}, {ds.frr_at_fixed_high:.3f}]")
    0.144 [0.101, 0.202]

    """
    limits = IntervalOptions.parse(interval, confidence, replicates, random_state, band)
    accept = check_accept(accept)
    require_scores(scores)
    wanted_target = Target.parse(target, confidence, replicates, random_state)
    threshold = None if wanted_target is None else wanted_target.threshold
    counted_at = stricter(thresholds, scores.kind, accept)
    targets, weights = check_targets(far_targets), check_costs(costs)
    at_frr = check_targets(frr_targets, "frr_targets")
    limits_of_area = check_max_fars(max_fars)

    def with_target(dataset: xr.Dataset) -> xr.Dataset:
        """Return the result with the rates at the threshold of the target."""
        assert wanted_target is not None and threshold is not None
        at = verification(
            scores,
            templates=templates,
            fusion=fusion,
            thresholds=[threshold],
            accept=accept,
            claims=claims,
            unenrolled_claims=unenrolled_claims,
            far_targets=(),
            auc=False,
            interval=interval or wanted_target.method(scores),
            confidence=confidence,
            replicates=replicates,
            random_state=random_state,
            band=band,
            progress=progress,
        )
        return rates_added(dataset, at, "verification", threshold)

    reader = BlockReader(scores)
    reader.scores = scores._held()  # operating points take a second pass
    scores = reader.scores
    counter = VerificationCounter(
        reader,
        templates=templates,
        fusion=fusion,
        thresholds=counted_at,
        claims=claims,
        unenrolled_claims=unenrolled_claims,
    )
    wanted = PointsWanted(
        targets,
        weights,
        require_flag("auc", auc),
        frr_targets=at_frr,
        max_fars=limits_of_area,
        optima=scalar_registry().optima,
    )
    if threshold is not None and counted_at is None:  # the curves have a row there
        there = to_internal(stricter([threshold], scores.kind, accept), scores.kind)
        wanted = replace(wanted, rows=there)
    with rows_reported_to(progress):
        (result,), second_passes = count_with_points(reader, [counter], wanted)
    symmetric = templates == "single" and is_symmetric(scores)
    with threads_for(scores):
        result.points = PointFinder.points_of(
            result,
            counter,
            wanted,
            symmetric=symmetric,
            second_pass=second_passes.get(counter),
        )
        dataset = warn_of_kinds(verification_dataset(result))
        if limits is not None:
            from bioeval.evaluation.task_counts import TaskCounts

            dataset = TaskCounts(result, {}).with_intervals(dataset, counter, reader, limits)
    dataset = accepted_by(dataset, scores.kind, accept)
    return dataset if threshold is None else with_target(dataset)

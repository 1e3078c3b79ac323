"""One task at a time: scores become attempts, counts and a labelled result."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import xarray as xr

from bioeval.base.engine import Client, refuse_engine
from bioeval.base.random import RandomState
from bioeval.evaluation.blocks.engine import distributable
from bioeval.evaluation.intervals import with_intervals
from bioeval.evaluation.task_counts import TaskCounts
from bioeval.evaluation.task_plan import TaskPlanner, sampled_identification
from bioeval.protocol.tasks import ClosedSet, OpenSet, Verification
from bioeval.results.ranks import ranks_dataset
from bioeval.results.verification import verification_dataset
from bioeval.scores.blocks import BlockReader, Progress, threads_for
from bioeval.scores.matrix import Scores
from bioeval.scores.transactions import reader_of, refuse_claims
from bioeval.stats.options import CONFIDENCE, REPLICATES, IntervalOptions
from bioeval.tallies.identification_job import IdentificationJob
from bioeval.tallies.look import PointsWanted
from bioeval.tallies.look_work import ImpostorSweep
from bioeval.tallies.point_search import refine
from bioeval.tallies.points import COSTS, FAR_TARGETS, check_costs, check_far_targets
from bioeval.tallies.random_galleries.counts import GalleryJob
from bioeval.tallies.random_galleries.options import Drawn, parse_drawn, refuse_interval
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.symmetry import is_symmetric
from bioeval.tallies.thresholds import check_thresholds


@distributable
def verification(
    scores: Scores,
    *,
    templates: str = "single",
    fusion: str = "min",
    thresholds: Any = None,
    claims: Any = None,
    unenrolled_claims: str = "raise",
    attempts: str | None = None,
    far_targets: Sequence[float] = FAR_TARGETS,
    costs: Sequence[tuple[float, float, float]] = COSTS,
    auc: bool = True,
    interval: str | None = None,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
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
    claims : sequence of shape (m,), pair (probe_index, subjects), or ClaimSampler, optional
        Explicit claims instead of all: one claimed subject for each probe, or any list; or claims
        drawn by :class:`bioeval.partition.ClaimSampler`.
    unenrolled_claims : {"raise", "skip"}
        Whether a claim of a subject without templates is an error, or is left out and counted.
    attempts : str, optional
        A metadata column of the probes: all probes of a subject with the same value make one
        attempt, a transaction, accepted if any of them is; with multi templates each is fused
        first. Where the probes are templates of the gallery, a transaction is not compared with
        its own. Not with `claims`.
    far_targets : sequence of float
        For each, the smallest FRR with FAR at most the target, and its threshold.
    costs : sequence of (prior, c_miss, c_fa)
        For each, the least cost ``prior c_miss FRR + (1 - prior) c_fa FAR``; the default is the
        half total error rate.
    auc : bool
        Whether to also find AUC, d', the EER on the hull and the least costs. They take every
        impostor score, not only those near an operating point, and cost more than all the rest.
    interval : None or str
        Method of the confidence intervals; none by default, since they take another sweep over
        the scores. ``"subject-bootstrap"`` resamples subjects and is recommended (``...-bca`` and
        ``...-logit`` are variants); ``"analytic"`` has variances by subject in closed form;
        ``"wilson"`` and ``"clopper-pearson"`` take attempts as independent, which attempts that
        share a subject are not.
    confidence : float
        Confidence level of the two-sided intervals; bands of curves are pointwise.
    replicates : int
        Number of resamples of the subjects.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        The same integer gives the same intervals on every platform.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.
    client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    xarray.Dataset
        Over ``threshold``: rates ``gar frr`` (of the genuine attempts) and ``far grr`` (of the
        impostor attempts), counts ``ga fr fa gr``; scalars ``genuine_attempts``,
        ``impostor_attempts``, ``skipped_claims``, and independent units: ``impostor_pairs subjects
        disjoint_pairs``; of drawn claims ``far_unenrolled fa_unenrolled unenrolled_attempts``, of
        probes who are not enrolled, which are not in ``far``. Operating points, exact at the scores
        themselves and never read off the thresholds: ``eer eer_threshold far_at_eer frr_at_eer
        eer_low eer_high eer_hull auc d_prime zero_far zero_frr`` (with thresholds); over
        ``far_target``: ``frr_at_far threshold_at_far expected_false_accepts``; over ``cost``:
        ``min_cost min_cost_threshold``. Targets that the number of impostor attempts cannot
        support are named in the attribute ``warnings``. With an interval: ``_low`` and ``_high``
        of ``gar frr far grr frr_at_far auc``, and ``eer_interval_low eer_interval_high``
        (resampled only: the last two, and AUC).

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
    >>> print(f"{ds.eer:.3f} [{ds.eer_interval_low:.3f}, {ds.eer_interval_high:.3f}]")
    0.039 [0.026, 0.052]

    Two tries each:

    >>> scores = be.Scores(d[:2], ["ann", "ann"], ["ann", "ann", "bob", "bob"],
    ...     probe_meta={"visit": [1, 1]})
    >>> ds = be.verification(scores, thresholds=[0, 3], attempts="visit")
    >>> int(ds.genuine_attempts), ds.gar.values
    (2, array([1., 1.]))
    """
    limits = IntervalOptions.parse(interval, confidence, replicates, random_state)
    targets, weights = check_far_targets(far_targets), check_costs(costs)
    refuse_claims(attempts, claims)
    if limits is not None and limits.needs_all_pairs:
        refuse_engine()  # before anything is counted
    reader = reader_of(scores, attempts, fusion if templates == "multi" else "min")
    scores = reader.scores
    options = Verification(fusion=fusion, unenrolled_claims=unenrolled_claims, attempts=attempts)
    planner = TaskPlanner(reader, check_thresholds(thresholds))
    job = planner.verification(templates, options, claims)
    job.wanted = PointsWanted(targets, weights, auc)
    (result,) = run_jobs(scores, reader, [job], progress)
    symmetric = templates == "single" and is_symmetric(scores)
    with threads_for(scores):
        result.points = refine(
            result, ImpostorSweep(job, reader), job.wanted, symmetric=symmetric, look=job.look
        )
        found = verification_dataset(result)
        if limits is not None:
            found = with_intervals(found, TaskCounts(result, {}), job, reader, limits)
    return found


@distributable
def open_set(
    scores: Scores,
    *,
    thresholds: Any = None,
    max_rank: int | None = None,
    rank_unit: str = "template",
    fusion: str = "min",
    ties: str = "pessimistic",
    impostors: str = "auto",
    far_targets: Sequence[float] = FAR_TARGETS,
    gallery: str | int = "all",
    sampling: str | int = "exact",
    interval: str | None = None,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Evaluate open-set identification: is the probe's subject enrolled, and which one is it?

    Parameters
    ----------
    scores : Scores
    thresholds : None, int or increasing array of float
        As for :func:`verification`; the default grid spans the distances of best mates and of
        the impostors' nearest templates.
    max_rank : int, optional
        Number of ranks. None gives every attainable rank while thresholds x ranks is at most
        2,000,000, else 100, and says so in the warnings.
    rank_unit : {"template", "subject"}
        Whether a rank counts templates (the lecture's) or subjects, each once by its fused
        score.
    fusion : str
        As for :func:`verification`; used with subject ranks.
    ties : {"pessimistic", "optimistic", "stable", "expected"}
        Rank of the best mate among candidates of other subjects exactly as close: after them,
        before them, in gallery order, or the mean over all orders.
    impostors : {"auto", "unenrolled", "leave-subject-out", "both"}
        Impostor attempts of probes against a gallery: the probes whose subject is not
        enrolled, each enrolled probe with its own subject taken out of the gallery, or both.
        ``"auto"``: the unenrolled if there is any, else leave-subject-out. All-against-all is
        always leave-subject-out.
    far_targets : sequence of float
        For each, the largest DIR with FAR at most the target, at every rank.
    gallery : {"all", "single"} or int
        ``"all"``: all templates are enrolled. ``"single"``: one template of each subject, drawn
        uniformly for each probe anew; a number: that many templates of each subject (all, where
        it has fewer), fused by the nearest, with subject ranks.
    sampling : {"exact"} or int
        For drawn galleries: the exact mean over all of them, or the number of galleries to draw
        at random.
    interval, confidence, replicates, random_state
        As for :func:`verification`. All-against-all, methods by subject give intervals for new
        people: each subject is left out, as a probe and from the gallery (a jackknife, without
        replicates). Of probes against a gallery, probe subjects are resampled and the gallery is
        fixed. The attribute ``interval_for`` says which. The seed is also that of `sampling`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.
    client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    xarray.Dataset
        ``dir di`` over ``threshold, rank``; ``far grr fa gr frr ttr ttr_identity ftr`` over
        ``threshold``; scalars ``genuine_attempts impostor_attempts genuine_subjects
        impostor_subjects tied target_probes non_target_probes``, ``eer`` (where FAR and 1 - DIR at
        rank 1 cross) with ``eer_threshold far_at_eer frr_at_eer eer_low eer_high``; ``dir_at_far
        threshold_at_far`` over
        ``far_target, rank``, exact at the scores themselves. With an interval: ``_low`` and
        ``_high`` of ``dir far grr frr dir_at_far`` (of the first ten ranks), and, resampled,
        ``eer_interval_low eer_interval_high``.

        Of drawn galleries, counts are expected counts (float64). The exact mean has bounds in
        place of operating points: ``eer_at_least eer_at_most dir_at_far_at_least
        dir_at_far_at_most``. Sampling adds to each rate ``_sd``, its spread between galleries,
        and ``_se``, the standard error of its mean, and ``far_by_gallery frr_by_gallery`` over
        ``repeat``.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If the scores cannot support the task.

    Notes
    -----
    Definitions: biometrics lecture, "open-set identification"; ISO/IEC 19795-1 (FPIR, FNIR);
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[1, 4, 6], [5, 3, 2], [4, 3, 5]]
    >>> scores = be.Scores(d, ["ann", "bob", "eve"], ["ann", "bob", "cat"])
    >>> ds = be.open_set(scores, thresholds=[1, 2, 3])
    >>> ds.dir.values
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5],
           [0.5, 1. , 1. ]])
    >>> ds.far.values
    array([0., 0., 1.])
    """
    limits = IntervalOptions.parse(interval, confidence, replicates, random_state)
    drawn = parse_drawn(gallery, sampling, random_state)
    options = OpenSet(
        impostors=impostors, rank_unit=rank_unit, fusion=fusion, ties=ties, max_rank=max_rank
    )
    targets = check_far_targets(far_targets)
    planner = TaskPlanner(BlockReader(scores), check_thresholds(thresholds), targets)
    return _identify(planner, options, drawn, limits, progress)


@distributable
def closed_set(
    scores: Scores,
    *,
    max_rank: int | None = None,
    rank_unit: str = "template",
    fusion: str = "min",
    ties: str = "pessimistic",
    unmated: str = "auto",
    gallery: str | int = "all",
    sampling: str | int = "exact",
    interval: str | None = None,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Evaluate closed-set identification: at which rank is the subject of each probe?

    Parameters
    ----------
    scores : Scores
    max_rank : int, optional
        Number of ranks; None gives every attainable one (up to 1,000,000).
    rank_unit, fusion, ties
        As for :func:`open_set`.
    unmated : {"auto", "raise", "skip"}
        What to do with probes without a usable mate. ``"auto"`` leaves them out and counts them
        in all-against-all, and is an error with probes against a gallery.
    gallery, sampling, interval, confidence, replicates, random_state
        As for :func:`open_set`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.
    client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    xarray.Dataset
        ``cms`` and ``cms_count`` over ``rank``; scalars ``recognition_rate`` (CMS at rank 1),
        ``attempts``, ``subjects``, ``skipped``, ``tied``. With an interval: ``cms_low cms_high
        recognition_rate_low recognition_rate_high``. Of drawn galleries, counts are expected
        counts (float64); sampling adds ``cms_sd cms_se`` and ``cms_by_gallery`` over ``repeat``.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If a probe has no usable mate and may not be skipped.

    Notes
    -----
    Definitions: biometrics lecture, "closed-set identification"; ISO/IEC 19795-1 (CMC);
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[1, 4, 6], [5, 3, 2]], ["ann", "bob"], ["ann", "bob", "cat"])
    >>> be.closed_set(scores).cms.values
    array([0.5, 1. , 1. ])

    One template of each subject, on average over all such galleries:

    >>> people = ["ann", "ann", "bob", "bob"]
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 3], [6, 3, 3, 0]]
    >>> be.closed_set(be.Scores(d, people), gallery="single").cms.values
    array([0.875, 1.   ])
    """
    limits = IntervalOptions.parse(interval, confidence, replicates, random_state)
    drawn = parse_drawn(gallery, sampling, random_state)
    options = ClosedSet(
        rank_unit=rank_unit, fusion=fusion, ties=ties, max_rank=max_rank, unmated=unmated
    )
    return _identify(TaskPlanner(BlockReader(scores)), options, drawn, limits, progress)


def _identify(
    planner: TaskPlanner,
    task: OpenSet | ClosedSet,
    drawn: Drawn,
    limits: IntervalOptions | None,
    progress: Progress | None,
) -> xr.Dataset:
    """Return the result of open-set or closed-set identification."""
    if drawn.size and limits is not None:
        refuse_interval(limits.method)
    job, options = planner.identification(task, drawn)
    if drawn.repeats and isinstance(job, GalleryJob):
        return sampled_identification(job, options, drawn, progress)
    reader = planner.reader
    (tally,) = run_jobs(reader.scores, reader, [job], progress)
    node = "open_set" if isinstance(task, OpenSet) else "closed_set"
    counts = TaskCounts(tally, options)
    found = counts.dataset(node)
    return found if limits is None else with_intervals(found, counts, job, reader, limits)


def ranks(
    scores: Scores,
    *,
    rank_unit: str = "template",
    fusion: str = "min",
    ties: str = "pessimistic",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Return the ranks, mates and nearest candidates of each probe.

    Parameters
    ----------
    scores, rank_unit, fusion, ties, progress
        As for :func:`open_set`. Order-only scores (``kind="order"``) are accepted.

    Returns
    -------
    xarray.Dataset
        Over ``probe``: ``identification_rank`` (NaN without a mate; the mean rank under
        ``"expected"`` ties), ``mate_distance``, ``nearest_other``, ``closer``, ``tied``,
        ``mates``, ``others``, ``enrolled``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[1, 4, 6], [5, 3, 2]], ["ann", "bob"], ["ann", "bob", "cat"])
    >>> be.ranks(scores).identification_rank.values
    array([1., 2.])
    """
    reader = BlockReader(scores)
    job = IdentificationJob(scores, reader, rank_unit=rank_unit, fusion=fusion)
    (result,) = run_jobs(scores, reader, [job], progress)
    return ranks_dataset(result, ties)

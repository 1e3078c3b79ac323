"""Identification, open-set and closed-set: searches become ranks, counts and a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import Argument, DataError, ProtocolError, received
from bioeval.base.progress import rows_reported_to
from bioeval.base.random import RandomState
from bioeval.base.scalars import Name
from bioeval.base.variables import OPEN_SET, IntervalMethod
from bioeval.evaluation.acceptance import Accept, accepted_by, check_accept, stricter
from bioeval.evaluation.task_counts import TaskCounts
from bioeval.evaluation.task_plan import TaskPlanner, runner_of
from bioeval.evaluation.threshold_choice import AttemptsWithin, attempts_within
from bioeval.protocol.tasks import ClosedSet, OpenSet, Search
from bioeval.results.dataset import about_attrs, along, build
from bioeval.results.identification import Unmated
from bioeval.scores.arrays import EnrolledTemplates, FusionRule
from bioeval.scores.blocks import BlockReader, Progress
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, require_scores
from bioeval.stats.options import BANDS, Band, IntervalOptions
from bioeval.tallies.counts import IdentificationTally, ImpostorProbes
from bioeval.tallies.identification_counter import IdentificationCounter, RankUnit
from bioeval.tallies.passes import count_together
from bioeval.tallies.points import FAR_TARGETS, check_targets
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.tied_places import Ties

RANKS = {
    "identification_rank": Name("rank of the best mate; NaN where there is none"),
    "mate_distance": Name("score of the best mate; NaN where there is none", "score"),
    "nearest_other": Name("score of the nearest candidate of another subject", "score"),
    "closer": Name("candidates of other subjects ranked before the best mate", "candidates"),
    "tied": Name("candidates of other subjects tied with the best mate", "candidates"),
    "mates": Name("usable mates", "candidates"),
    "others": Name("usable candidates of other subjects", "candidates"),
    "enrolled": Name("whether the probe's subject is in the gallery (1) or not (0)"),
}


def ranks_dataset(tally: IdentificationTally, ties: str) -> xr.Dataset:
    """Return rank, scores and candidates of each probe."""
    chosen = np.nonzero(tally.mates > 0)[0]
    probes, ranks, weights = tally.rank_weights(chosen, ties)
    rank = np.full(len(tally.mate), np.nan)
    rank[chosen] = np.bincount(probes, weights * ranks, minlength=len(rank))[chosen]
    kind = tally.about.kind
    over = ("probe",)
    variables = {
        **along(
            over,
            identification_rank=rank,
            mate_distance=to_user(tally.mate, kind),
            nearest_other=to_user(tally.other, kind),
            closer=tally.closer,
            tied=tally.tied,
            mates=tally.mates,
            others=tally.others,
            enrolled=tally.enrolled.astype(np.int64),
        )
    }
    attrs = about_attrs(tally.about, "ranks", "ranks of the best mates", [])
    attrs |= {"rank_unit": tally.rank_unit, "fusion": tally.fusion, "ties": ties}
    return build(variables, RANKS, {"probe": np.arange(len(rank))}, attrs)


@leaves_out_attacks
def open_set(
    scores: Scores,
    *,
    thresholds: Any = None,
    accept: Accept = "at",
    max_rank: int | None = None,
    rank_unit: RankUnit = "template",
    fusion: FusionRule = "min",
    ties: Ties = "pessimistic",
    impostors: ImpostorProbes = "auto",
    far_targets: Sequence[float] = FAR_TARGETS,
    gallery: EnrolledTemplates = "all",
    selectivity: bool | None = None,
    interval: IntervalMethod | None = None,
    confidence: float = IntervalOptions.CONFIDENCE,
    replicates: int = IntervalOptions.REPLICATES,
    random_state: RandomState = 0,
    band: Band = BANDS[0],
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate open-set identification: is the probe's subject enrolled, and which one is it?

    Parameters
    ----------
    scores : Scores
        Of top-K lists (:class:`TopKScores`) with distances, ``X`` is exact where it is not NaN, and
        lies between ``X_at_least`` and ``X_at_most`` where the lists end before it is known.
    thresholds : None, int or increasing array of float
        As for :func:`verification`; the default grid spans the distances of best mates and of
        the impostors' nearest templates.
    accept : {"at", "beyond"}
        As for :func:`verification`; not of top-K lists.
    max_rank : int, optional
        Number of ranks. None gives every attainable rank while thresholds x ranks is at most
        2,000,000, else 100, and says so in its messages.
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
    gallery : {"all", "single"}
        ``"all"``: all templates are enrolled. ``"single"``: one template of each subject, drawn
        uniformly for each probe anew; rates are the exact means over all such galleries.
    selectivity : bool, optional
        Whether to count the candidates within each threshold, which takes another pass over the
        scores. None: where `thresholds` are given and all templates are enrolled.
    interval, confidence, replicates, random_state, band
        As for :func:`verification`. All-against-all, methods by subject give intervals for new
        people: each subject is left out, as a probe and from the gallery (a jackknife, without
        replicates). Of probes against a gallery, probe subjects are resampled and the gallery is
        fixed. The attribute ``interval_for`` says which.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        ``dir di`` over ``threshold, rank``; ``far grr fa gr frr ttr ttr_identity ftr`` over
        ``threshold``; scalars ``genuine_attempts impostor_attempts genuine_subjects
        impostor_subjects tied target_probes non_target_probes``, ``eer`` (where FAR and 1 - DIR at
        rank 1 cross) with ``eer_threshold far_at_eer frr_at_eer eer_bracket_low
        eer_bracket_high``; ``dir_at_far threshold_at_far`` over ``far_target, rank``, exact at
        the scores themselves. With an interval: ``_low`` and
        ``_high`` of ``dir far grr frr dir_at_far`` (of the first ten ranks), and, resampled,
        of ``eer``. With `selectivity`, over ``threshold``:
        ``selectivity_non_mated selectivity_mated``, the mean number of candidates within the
        threshold, in the rank unit, of non-mated searches (the standard's selectivity) and of
        mated ones.

        With ``gallery="single"``, counts are expected counts (float64), and there are bounds in
        place of operating points: ``eer_at_least eer_at_most dir_at_far_at_least
        dir_at_far_at_most``.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If the scores cannot support the task.

    Notes
    -----
    Definitions: biometrics lecture, "open-set identification"; ISO/IEC 19795-1 (FPIR, FNIR,
    selectivity);
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
    limits = IntervalOptions.parse(interval, confidence, replicates, random_state, band)
    options = OpenSet(
        impostors=impostors,
        rank_unit=rank_unit,
        fusion=fusion,
        ties=ties,
        max_rank=max_rank,
        gallery=gallery,
    )
    targets = check_targets(far_targets)
    accept = check_accept(accept)
    if (runner := runner_of(scores)) is not None:
        if gallery != "all" or limits is not None or selectivity or accept != "at":
            scores._require_matrix()
        return runner.open_set(scores, options, thresholds, targets)
    require_scores(scores)
    counted_at = stricter(thresholds, scores.kind, accept)
    planner = TaskPlanner(BlockReader(scores), counted_at, targets)
    if selectivity is None:
        selectivity = thresholds is not None and gallery == "all"
    if require_flag("selectivity", selectivity) and gallery != "all":
        raise ProtocolError(
            Argument("selectivity"),
            " is not defined for galleries of one template of each subject (",
            Argument("gallery", gallery),
            "); leave one of them out",
        )
    with rows_reported_to(progress):
        dataset, tally = _identify(planner, options, limits)
    if selectivity:
        dataset = _with_selectivity(dataset, scores, tally)
    return accepted_by(dataset, scores.kind, accept)


@leaves_out_attacks
def closed_set(
    scores: Scores,
    *,
    max_rank: int | None = None,
    rank_unit: RankUnit = "template",
    fusion: FusionRule = "min",
    ties: Ties = "pessimistic",
    unmated: Unmated = "auto",
    gallery: EnrolledTemplates = "all",
    interval: IntervalMethod | None = None,
    confidence: float = IntervalOptions.CONFIDENCE,
    replicates: int = IntervalOptions.REPLICATES,
    random_state: RandomState = 0,
    band: Band = BANDS[0],
    progress: Progress | None = None,
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
    gallery, interval, confidence, replicates, random_state, band
        As for :func:`open_set`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        ``cms`` and ``cms_count`` over ``rank``; scalars ``recognition_rate`` (CMS at rank 1),
        ``attempts``, ``subjects``, ``skipped``, ``tied``. With an interval: ``cms_low cms_high
        recognition_rate_low recognition_rate_high``. With ``gallery="single"``, counts are expected
        counts (float64).

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
    limits = IntervalOptions.parse(interval, confidence, replicates, random_state, band)
    options = ClosedSet(
        rank_unit=rank_unit,
        fusion=fusion,
        ties=ties,
        max_rank=max_rank,
        unmated=unmated,
        gallery=gallery,
    )
    with rows_reported_to(progress):
        return _identify(TaskPlanner(BlockReader(scores)), options, limits)[0]


def _identify(
    planner: TaskPlanner,
    task: OpenSet | ClosedSet,
    limits: IntervalOptions | None,
) -> tuple[xr.Dataset, Any]:
    """Return the result of open-set or closed-set identification, and its counts."""
    if limits is not None and task.gallery == "single":
        raise DataError(
            Argument("interval"),
            f" is {received(limits.method)}, but intervals are of the whole gallery; give ",
            Argument("gallery", "all"),
            ", or leave ",
            Argument("interval"),
            " out",
        )
    counter, options = planner.identification(task)
    reader = planner.reader
    (tally,) = count_together(reader, [counter])
    node = "open_set" if isinstance(task, OpenSet) else "closed_set"
    counts = TaskCounts(tally, options)
    dataset = counts.dataset(node)
    if limits is None:
        return dataset, tally

    return counts.with_intervals(dataset, counter, reader, limits), tally


def _with_selectivity(
    dataset: xr.Dataset, scores: Scores, tally: IdentificationTally
) -> xr.Dataset:
    """Return a result with the mean number of candidates within each threshold.

    They are attempts of verification: of templates, or of subjects, as ranks count them. A
    non-mated search has the impostor attempts of its probe, a mated one all attempts.
    """
    over, thresholds = ("threshold",), dataset["threshold"].values
    unit, fusion = "single", "min"
    if tally.rank_unit == "subject":
        unit, fusion = "multi", tally.fusion
    searches = {
        "selectivity_non_mated": tally.impostor_probes(dataset.attrs["impostors"]),
        "selectivity_mated": np.flatnonzero(tally.mates > 0),
    }
    counted: dict[bytes, AttemptsWithin] = {}
    for name, probes in searches.items():
        means = np.full(len(thresholds), np.nan)
        if len(probes):
            key = probes.tobytes()
            if key not in counted:
                part = scores.select(probes=probes)
                counted[key] = attempts_within(part, thresholds, unit, fusion)
            there = counted[key]
            within = there.impostor + (there.genuine if name == "selectivity_mated" else 0)
            means = within / len(probes)
        dataset[name] = over, means, OPEN_SET[name].attrs()
    return dataset


@leaves_out_attacks
def ranks(
    scores: Scores,
    *,
    rank_unit: RankUnit = "template",
    fusion: FusionRule = "min",
    ties: Ties = "pessimistic",
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
    search = Search(rank_unit=rank_unit, fusion=fusion, ties=ties)
    reader = BlockReader(scores)
    with rows_reported_to(progress):
        (result,) = count_together(reader, [IdentificationCounter(reader, search)])
    return ranks_dataset(result, ties)

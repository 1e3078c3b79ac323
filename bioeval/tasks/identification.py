"""Identification, open-set and closed-set: searches become ranks, counts and a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, received
from bioeval.base.progress import rows_reported
from bioeval.counting.searches import Searches, check_max_rank, search
from bioeval.counting.thresholds import (
    FAR_TARGETS,
    CurveThresholds,
    check_targets,
    curve_thresholds,
    require_values,
    to_user,
)
from bioeval.protocol.tasks import (
    ClosedSet,
    EnrolledTemplates,
    ImpostorProbes,
    OpenSet,
    RankUnit,
    Search,
    Ties,
    Unmated,
)
from bioeval.results.attributes import about_attrs
from bioeval.results.closed_set import closed_set_counts, closed_set_dataset
from bioeval.results.dataset import Scalars, dataset, variables_over
from bioeval.results.open_set import open_set_dataset, open_set_scalars
from bioeval.results.support import note_asked_targets
from bioeval.results.variables import Variable
from bioeval.scores.distances import FusionRule, require_use_of_fusion
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.people import (
    knows_people,
    left_out_with,
    people_of_probes,
    require_people,
    units_of_people,
)
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod, IntervalName, interval_of
from bioeval.tasks.single_template_counts import SingleTemplateCounted

if TYPE_CHECKING:
    from bioeval.counting.searches_without import LeftOut

RANKS = {
    "subject": Variable("subject of the probe", label="subject"),
    "identification_rank": Variable(
        "rank of the best mate; NaN where there is none, or it failed",
        "1",
        label="rank",
        shown="6",
    ),
    "mate_distance": Variable(
        "score of the best mate; NaN where there is none", "score", label="best mate"
    ),
    "nearest_other": Variable(
        "score of the nearest candidate of another subject", "score", label="nearest other"
    ),
    "closer": Variable("candidates of other subjects ranked before the best mate", "candidates"),
    "tied": Variable("candidates of other subjects tied with the best mate", "candidates"),
    "mates": Variable("usable mates", "candidates"),
    "others": Variable("usable candidates of other subjects", "candidates"),
    "enrolled": Variable("whether the probe's subject is in the gallery (1) or not (0)", "1"),
}


@dataclass(frozen=True, eq=False)
class SearchCounted:
    """Open-set or closed-set identification."""

    scores: Scores
    searches: Searches
    task: OpenSet | ClosedSet
    #: The searches without each subject; a cache that tasks with the same searches share.
    left_out_by_ties: dict[str, LeftOut]
    far_targets: np.ndarray
    curve: CurveThresholds = None
    extra_distances: np.ndarray | None = None  # thresholds besides those of `curve`
    last_rank: int = 1  # the last rank of operating points, where there is no curve

    def scalars(self) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        task = self.task
        if isinstance(task, OpenSet):
            return open_set_scalars(
                self.searches,
                ties=task.ties,
                impostors=task.impostors,
                far_targets=self.far_targets,
                last_rank=min(self.last_rank, task.max_rank or self.last_rank),
            )
        counts, _ = closed_set_counts(
            self.searches, ties=task.ties, max_rank=task.max_rank, unmated=task.unmated
        )
        about = self.searches.about
        return counts.scalars(about.enrolled_subjects if about.people else None)

    def dataset(self) -> xr.Dataset:
        task = self.task
        if isinstance(task, OpenSet):
            return open_set_dataset(
                self.searches,
                thresholds=self.curve,
                max_rank=task.max_rank,
                ties=task.ties,
                impostors=task.impostors,
                far_targets=self.far_targets,
                extra_distances=self.extra_distances,
            )
        return closed_set_dataset(
            self.searches, max_rank=task.max_rank, ties=task.ties, unmated=task.unmated
        )

    def with_intervals(self, dataset: xr.Dataset, interval_method: IntervalMethod) -> xr.Dataset:
        """Return the result with confidence intervals.

        If all are against all and people are left out in turn, the intervals hold for new people,
        else for this gallery.
        """
        from bioeval.counting.searches_without import LeftOut
        from bioeval.stats.search_columns import search_intervals

        scores, unit = self.scores, interval_method.unit
        if not interval_method.by_subject:
            return search_intervals(dataset, self.searches, None, interval_method, None)
        require_people(scores, method=interval_method.method)
        people = left_out_with(scores, people_of_probes(scores), unit)
        codes = scores.codes
        same_people = scores.layout == "all-against-all" and np.array_equal(
            np.unique(codes.probe), np.unique(codes.gallery)
        )
        left_out = None
        if same_people and not interval_method.resamples and not codes.no_person.any():
            ties = self.task.ties
            if ties not in self.left_out_by_ties:
                # The subjects of a unit are left out together.
                self.left_out_by_ties[ties] = LeftOut.from_searches(
                    self.searches, scores, ties, units=units_of_people(scores, unit)
                )
            left_out = self.left_out_by_ties[ties]
        return search_intervals(dataset, self.searches, people, interval_method, left_out)


@warns_of_doubts
def open_set(
    scores: Scores,
    *,
    thresholds: Any = None,
    n_thresholds: int | None = None,
    max_rank: int | None = None,
    rank_unit: RankUnit = "template",
    fusion: FusionRule = "best",
    ties: Ties = "pessimistic",
    impostors: ImpostorProbes = "auto",
    far_targets: Sequence[float] | None = None,
    gallery: EnrolledTemplates = "all",
    interval: IntervalName | IntervalMethod | None = None,
) -> xr.Dataset:
    """Evaluate open-set identification: is the probe's subject enrolled, and which subject is it?

    Parameters
    ----------
    scores : Scores
    thresholds, n_thresholds
        As for :func:`verification`; the default grid spans the distances of best mates and of
        the impostors' nearest templates.
    max_rank : int, optional
        Number of ranks. None gives every attainable rank while thresholds x ranks is at most
        2,000,000, else 100, and says so in its messages.
    rank_unit : {"template", "subject"}
        Whether to rank templates, or subjects by their fused score.
    fusion : str
        As for :func:`verification`; used with subject ranks.
    ties : {"pessimistic", "optimistic", "stable", "expected"}
        Rank of a mate among candidates with exactly the same score. The mate is ranked after other
        subjects that are exactly as close, before them, in gallery order, or as the mean over all
        orders.
    impostors : {"auto", "unenrolled", "leave-subject-out", "both"}
        The probes whose searches are non-mated. With probes against a gallery: the probes whose
        subject is not enrolled, each enrolled probe with its own subject taken out of the gallery,
        or both. ``"auto"``: the unenrolled if there is any, else leave-subject-out. All-against-all
        is always leave-subject-out.
    far_targets : sequence of float, optional
        FAR targets: for each, the largest DIR with FAR at most the target, at every rank; by
        default those of :func:`verification`.
    gallery : {"all", "single"}
        ``"all"``: all templates are enrolled. ``"single"``: one template of each subject, drawn
        uniformly for each probe anew; rates are the exact means over all such galleries.
    interval
        As for :func:`verification`. All-against-all, ``"people"`` gives intervals for new people:
        each subject is left out, as a probe and from the gallery. With probes against a gallery,
        and with ``"subject-bootstrap"``, the gallery is fixed. The attribute ``interval_for`` says
        which.

    Returns
    -------
    xarray.Dataset
        - ``dir`` and ``di`` over ``threshold, rank``
        - ``far``, ``grr``, ``frr``, with ``fa`` and ``gr``, over ``threshold``
        - ``ttr``, ``ttr_identity`` and ``ftr`` over ``threshold``
        - ``genuine_attempts``, ``impostor_attempts``, ``genuine_subjects``, ``impostor_subjects``,
          ``target_probes``, ``non_target_probes``, ``tied``: numbers of searches, people and probes
        - ``eer``, where FAR and 1 - DIR at rank 1 cross, with ``eer_threshold``, ``far_at_eer``,
          ``frr_at_eer``, ``eer_bracket_low`` and ``eer_bracket_high``
        - ``dir_at_far`` and ``threshold_at_far`` over ``far_target, rank``, exact at the scores
          themselves

        With an interval, ``dir``, ``far``, ``grr``, ``frr`` and ``dir_at_far`` have ``_low`` and
        ``_high``. An interval by subject also has them for ``eer``; over ranks they are at ranks 1,
        5 and 10, which tables show, and NaN at other ranks.

        With ``gallery="single"``, counts are expected counts (float64), and ``eer_at_least``,
        ``eer_at_most``, ``dir_at_far_at_least`` and ``dir_at_far_at_most`` are bounds in place of
        operating points.

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If the scores cannot support the task.

    Notes
    -----
    Definitions: ISO/IEC 19795-1:2021 (false-positive and false-negative identification rate, FPIR
    and FNIR); Grother and Phillips, Models of large population recognition performance (CVPR
    2004), for DIR and FAR; ``docs/definitions.md``.

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
    interval_method = interval_of(interval, takes_unit=True)
    require_use_of_fusion(fusion, rank_unit == "subject", "open_set", 'rank_unit="subject"')
    options = OpenSet(
        impostors=impostors,
        rank_unit=rank_unit,
        fusion=fusion,
        ties=ties,
        max_rank=max_rank,
        gallery=gallery,
    )
    targets = check_targets(FAR_TARGETS if far_targets is None else far_targets)
    curve = curve_thresholds(thresholds, n_thresholds)
    with rows_reported():
        dataset = _identify(scores, options, interval_method, targets, curve)
    if far_targets is not None:
        note_asked_targets(dataset)
    return dataset


@warns_of_doubts
def closed_set(
    scores: Scores,
    *,
    max_rank: int | None = None,
    rank_unit: RankUnit = "template",
    fusion: FusionRule = "best",
    ties: Ties = "pessimistic",
    unmated: Unmated = "auto",
    gallery: EnrolledTemplates = "all",
    interval: IntervalName | IntervalMethod | None = None,
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
        Treatment of probes without a usable mate. ``"auto"`` leaves them out and counts them in
        all-against-all, and is an error with probes against a gallery.
    gallery, interval
        As for :func:`open_set`.

    Returns
    -------
    xarray.Dataset
        - ``cms`` and ``cms_count`` over ``rank``
        - ``recognition_rate``: CMS at rank 1
        - ``attempts``, ``skipped``, ``tied``: numbers of probes with a usable mate, of probes
          without, and of probes whose mate is tied with a non-mate
        - ``subjects``: the number of subjects of the probes, enrolled

        With an interval, ``cms`` and ``recognition_rate`` have ``_low`` and ``_high``. With
        ``gallery="single"``, counts are expected counts (float64).

    Raises
    ------
    DataError
        Bad options; NaN under ``nan="raise"``.
    ProtocolError
        If a probe has no usable mate and may not be skipped.

    Notes
    -----
    Definitions: ISO/IEC 19795-1:2021 (cumulative match characteristic, CMC); Grother and Phillips,
    Models of large population recognition performance (CVPR 2004); ``docs/definitions.md``.

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
    interval_method = interval_of(interval, takes_unit=True)
    require_use_of_fusion(fusion, rank_unit == "subject", "closed_set", 'rank_unit="subject"')
    options = ClosedSet(
        rank_unit=rank_unit,
        fusion=fusion,
        ties=ties,
        max_rank=max_rank,
        unmated=unmated,
        gallery=gallery,
    )
    with rows_reported():
        return _identify(scores, options, interval_method)


def _identify(
    scores: Scores,
    task: OpenSet | ClosedSet,
    interval_method: IntervalMethod | None,
    far_targets: np.ndarray | None = None,
    requested_thresholds: CurveThresholds = None,
) -> xr.Dataset:
    if interval_method is not None and task.gallery == "single":
        raise DataError(
            f"`interval` is {received(interval_method.method)}, but intervals are of the whole "
            "gallery, which here is single; count the whole gallery, or leave "
            "`interval` out"
        )
    require_scores(scores)
    check_max_rank(task.max_rank, scores.shape[-1])
    if isinstance(task, OpenSet):
        require_values(scores, "open-set identification")
    targets = np.empty(0) if far_targets is None else far_targets
    counted: SearchCounted | SingleTemplateCounted
    if task.gallery == "single":
        counted = SingleTemplateCounted.from_scores(scores, task, targets, requested_thresholds)
    else:
        counted = SearchCounted(
            scores, search(scores, task), task, {}, targets, requested_thresholds
        )
    dataset = counted.dataset()
    return dataset if interval_method is None else counted.with_intervals(dataset, interval_method)


@warns_of_doubts
def ranks(
    scores: Scores,
    *,
    rank_unit: RankUnit = "template",
    fusion: FusionRule = "best",
    ties: Ties = "pessimistic",
) -> xr.Dataset:
    """Return the ranks, mates and nearest candidates of each probe.

    Parameters
    ----------
    scores, rank_unit, fusion, ties
        As for :func:`open_set`. Order-only scores (``kind="order"``) are accepted.

    Returns
    -------
    xarray.Dataset
        Variables over ``probe``; as a table, the worst rank is first.

        - ``identification_rank``: NaN without a mate; the mean rank under ``"expected"`` ties
        - ``mate_distance``, ``nearest_other``: scores of the best mate and of the nearest candidate
          of another subject, in the units of the scores
        - ``closer``, ``tied``, ``mates``, ``others``: numbers of candidates
        - ``enrolled``: whether the subject is in the gallery
        - ``subject``: the subject, where labels name it

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[1, 4, 6], [5, 3, 2]], ["ann", "bob"], ["ann", "bob", "cat"])
    >>> be.ranks(scores).identification_rank.values
    array([1., 2.])
    """
    require_use_of_fusion(fusion, rank_unit == "subject", "ranks", 'rank_unit="subject"')
    options = Search(rank_unit=rank_unit, fusion=fusion, ties=ties)
    with rows_reported():
        searches = search(scores, options)
    # Rank, scores and candidates of each probe, and its subject where labels name it.
    subjects = scores.probe_labels if knows_people(scores) else None
    mated = np.nonzero(searches.mates > 0)[0]
    probes, ranks, weights = searches.rank_weights(mated, ties)
    rank = np.full(len(searches.mate), np.nan)
    rank[probes] = np.bincount(probes, weights * ranks, minlength=len(rank))[probes]
    kind = searches.about.kind
    dims = ("probe",)
    variables = variables_over(
        dims,
        identification_rank=rank,
        mate_distance=to_user(searches.mate, kind),
        nearest_other=to_user(searches.other, kind),
        closer=searches.closer,
        tied=searches.tied,
        mates=searches.mates,
        others=searches.others,
        enrolled=searches.enrolled.astype(np.int64),
    )
    if subjects is not None:
        variables |= variables_over(dims, subject=subjects.astype(str))
    attrs = about_attrs(searches.about, "ranks", "ranks of the best mates", [])
    attrs |= {"rank_unit": searches.rank_unit, "fusion": searches.fusion, "ties": ties}
    return dataset(variables, RANKS, {"probe": np.arange(len(rank))}, attrs)

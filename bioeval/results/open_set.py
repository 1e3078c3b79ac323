"""Open-set identification as a result: DIR over thresholds and ranks, FAR over thresholds.

If the mates of three probes are at the ranks 1, 1 and 3, and at the distances 0.2, 0.4 and 0.6,
then at the thresholds 0.3 and 0.7 `identified` is ``[[1, 1, 1], [2, 2, 3]]``, which over 3 is DIR.

:class:`OpenSetPoints` are the operating points, which are exact. :class:`OpenSetCounts` are the
counts at the thresholds of a curve, and :func:`open_set_dataset` makes the result of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import xarray as xr

from bioeval.base.errors import Message
from bioeval.base.kinds import Kind
from bioeval.counting.grids import ScoreExtent, grid_over
from bioeval.counting.operating_points import EqualError, RankedAttempts
from bioeval.counting.order import increasing
from bioeval.counting.searches import Searches
from bioeval.counting.sorted_scores import SortedScores
from bioeval.counting.thresholds import (
    CurveThresholds,
    in_order_of_scores,
    per_cent,
    to_internal,
    to_user,
)
from bioeval.counting.ties import ENDS
from bioeval.protocol.tasks import ImpostorProbes, Ties
from bioeval.results.attributes import about_attrs
from bioeval.results.beyond_scores import note_thresholds_beyond_scores
from bioeval.results.closed_set import RANK_LIMIT, ranks_to_report
from bioeval.results.dataset import Scalars, Variables, dataset, in_units, rate, variables_over
from bioeval.results.support import (
    independent_searches,
    searching_people,
    support_messages,
    supported,
    tie_message,
)
from bioeval.results.variables import OPEN_SET, SUPPORTED
from bioeval.scores.provenance import Provenance


@dataclass(frozen=True)
class OpenSetPoints:
    """The attempts of open-set searches, and their exact operating points, at every score.

    Each genuine attempt has a place for each rank that its best mate may have: one place, of weight
    1, unless ties are ``"expected"``. A mate tied with one other candidate then has two places, of
    weight 1/2 each.
    """

    mate_distance: np.ndarray  # (places,): distance of the best mate
    ranks: np.ndarray  # (places,): rank of the best mate
    weights: np.ndarray  # (places,): probability of the rank
    genuine: int  # number of genuine attempts
    impostor_distances: np.ndarray  # float64 (i,): increasing; NaN, failed attempts, last

    @classmethod
    def from_searches(cls, searches: Searches, ties: Ties, role: str) -> Self:
        """Return the attempts of searches; `role` is the name of the impostor probes."""
        mated = np.flatnonzero(searches.mates > 0)
        probes, ranks, weights = searches.rank_weights(mated, ties)
        impostors = np.sort(searches.other[searches.impostor_probes(role)])
        return cls(searches.mate[probes], ranks, weights, len(mated), impostors)

    @cached_property
    def ranked(self) -> RankedAttempts:
        """The attempts, as one part."""
        order = np.argsort(self.mate_distance, kind="stable")
        failed = np.count_nonzero(np.isnan(self.mate_distance))  # these are sorted last
        order = order[: len(order) - failed]
        weights = None if (self.weights == 1).all() else self.weights[order]
        mates = SortedScores.of_scores(self.mate_distance[order], weights)
        impostors = SortedScores.of_scores(increasing(self.impostor_distances))
        return RankedAttempts(
            mates, self.ranks[order], impostors, self.genuine, len(self.impostor_distances)
        )

    @cached_property
    def equal_error(self) -> EqualError:
        """The point at which FAR and 1 - DIR at rank 1 cross."""
        return self.ranked.first.equal_error()

    def at_far(self, targets: np.ndarray, ranks: int) -> tuple[np.ndarray, np.ndarray]:
        """Return DIR, and the loosest distance that gives it, each (targets, ranks)."""
        dir_, threshold = self.ranked.dir_at_far(targets, np.arange(1, ranks + 1))
        return dir_[0], threshold[0]

    def values(self, dir_: np.ndarray, threshold: np.ndarray, kind: Kind) -> Variables:
        """Return the EER, and the points of :meth:`at_far`, in the user's units."""
        points = points_of_searches(
            self.ranked, self.equal_error, dir_[None], threshold[None], kind
        )
        return {name: x[0] for name, x in points.items()}

    def next_scores(self, thresholds: Any) -> np.ndarray:
        """Return the nearest score, of impostors or of mates at any rank, that thresholds reject.

        It is infinity if a threshold accepts all scores, and NaN for NaN.
        """
        distances = np.asarray(thresholds, dtype=np.float64)[None]
        return self.ranked.every.next_scores(distances)[0]

    def finite_thresholds(self, at_far: np.ndarray) -> np.ndarray:
        """Return the finite thresholds of the EER and of the FAR targets at rank 1.

        `at_far` are those of :meth:`at_far`.
        """
        thresholds = np.append(at_far[:, 0], self.equal_error.eer_threshold)
        return thresholds[np.isfinite(thresholds)]


def points_of_searches(
    ranked: RankedAttempts, error: EqualError, dir_: np.ndarray, threshold: np.ndarray, kind: Kind
) -> Variables:
    """Return the EER of parts, and DIR at FAR targets with its thresholds, in the user's units.

    `dir_` and `threshold` are (parts, targets, ranks).
    """
    every = ranked.every
    return {
        **in_units(error.values(), kind),
        "eer_threshold_next": to_user(every.next_scores(error.eer_threshold), kind),
        "dir_at_far": dir_,
        "threshold_at_far": to_user(threshold, kind),
        "threshold_at_far_next": to_user(every.next_scores(threshold), kind),
    }


@dataclass(frozen=True)
class OpenSetAttempts:
    """Numbers of attempts of open-set identification, of one gallery, of many or of parts."""

    genuine: Any  # mated searches
    impostor: Any  # non-mated searches
    tied: Any  # int64 or float64: genuine attempts with a non-mate tied with the best mate
    targets: Any  # enrolled probes
    non_targets: Any  # probes who are not enrolled
    unmated: int = 0  # enrolled probes without a usable mate, for a message

    @classmethod
    def from_searches(cls, searches: Searches, points: OpenSetPoints) -> Self:
        return cls(
            genuine=points.genuine,
            impostor=len(points.impostor_distances),
            tied=np.int64(((searches.tied > 0) & (searches.mates > 0)).sum()),
            targets=int(searches.enrolled.sum()),
            non_targets=int((~searches.enrolled).sum()),
            unmated=int((searches.enrolled & (searches.mates == 0)).sum()),
        )

    def scalars(
        self, far_targets: np.ndarray, points: Variables, subjects: tuple[Any, Any] | None
    ) -> Scalars:
        """Return the numbers of attempts and of subjects, and the operating points.

        `subjects` are those of the genuine and of the impostor attempts; None if unknown.
        """
        values: Variables = {
            "genuine_attempts": np.int64(self.genuine),
            "impostor_attempts": np.int64(self.impostor),
            "tied": self.tied,
            "target_probes": np.int64(self.targets),
            "non_target_probes": np.int64(self.non_targets),
            **points,
            "expected_false_accepts": np.multiply.outer(self.impostor, far_targets),
        }
        _, searching = subjects or (0, 0)
        independent = independent_searches(self.impostor, searching)
        for name in ("dir_at_far", "dir_at_far_at_least", "dir_at_far_at_most"):
            if name in points:
                values[f"{name}{SUPPORTED}"] = supported(far_targets, independent)
        if subjects is not None:
            values["genuine_subjects"], values["impostor_subjects"] = map(np.int64, subjects)
        return Scalars(values, {"far_target": far_targets}, OPEN_SET)


def subjects_of_attempts(about: Provenance, impostors: ImpostorProbes) -> tuple[int, int] | None:
    """Return the subjects of genuine and of impostor attempts; None if they are unknown.

    `impostors` is the name of the impostor probes, not ``"auto"``.
    """
    if about.people is None:
        return None
    return about.enrolled_subjects, searching_people(about, impostors) or 0


@dataclass(frozen=True)
class OpenSetCounts:
    """Counts of open-set identification over thresholds, of one gallery or expected over many.

    A row of counts over ranks stands for one threshold, or for several that follow each other.
    """

    attempts: OpenSetAttempts
    thresholds: np.ndarray  # float64 (t,): increasing distances
    detected: np.ndarray  # (rows, ranks): accepted genuine attempts with the mate at the rank
    identified: np.ndarray  # (rows, ranks): the same, with the mate at the rank or better
    accepted: np.ndarray  # (t,): accepted impostor attempts
    targets_within: np.ndarray  # (t,): enrolled probes with any template within the threshold
    own_within: np.ndarray  # (t,): enrolled probes with a mate within the threshold
    non_targets_within: np.ndarray  # (t,): other probes with any template within the threshold
    repeats: np.ndarray | None = None  # int64 (rows,): thresholds of each row; None: one

    @classmethod
    def from_searches(
        cls,
        searches: Searches,
        points: OpenSetPoints,
        grid: np.ndarray,
        ranks: int,
        *,
        has_whole_weights: bool,
    ) -> Self:
        """Return the counts of searches at the thresholds of a grid, and at ranks up to `ranks`."""
        # A probe is detected from the first threshold that is not below its mate's distance.
        first_threshold = np.searchsorted(grid, points.mate_distance)
        is_detected = (first_threshold < len(grid)) & (points.ranks <= ranks)
        first_threshold = first_threshold[is_detected]
        rank = points.ranks[is_detected]
        weights = None  # all are 1, and counts are whole numbers
        if not has_whole_weights:
            weights = points.weights[is_detected]

        # A threshold at which no further probe is detected has the counts of the one before, and
        # shares its row. If two probes are detected first at the thresholds 2 and 4 of six, then
        # the rows of the thresholds are 0 0 1 1 2 2, and each row repeats twice.
        starts_row = np.zeros(len(grid) + 1, dtype=bool)
        starts_row[0] = True
        starts_row[-1] = True  # the end of the last row
        starts_row[first_threshold] = True
        repeats = np.diff(np.flatnonzero(starts_row))
        row_of_threshold = np.cumsum(starts_row) - 1
        rows = len(repeats)
        cell = row_of_threshold[first_threshold] * ranks + rank - 1  # of the table (rows, ranks)
        detected = np.bincount(cell, weights, minlength=rows * ranks).reshape(rows, ranks)
        np.cumsum(detected, axis=0, out=detected)  # the table may be large: sums replace it

        def number_within(distances: np.ndarray) -> np.ndarray:
            """Return the number of distances within each threshold; NaN is within none."""
            compared = np.sort(distances[~np.isnan(distances)])
            return np.searchsorted(compared, grid, side="right")

        nearest = np.fmin(searches.nearest_mate, searches.nearest_other)  # of any subject
        accepted = np.searchsorted(points.impostor_distances, grid, side="right")
        return cls(
            attempts=OpenSetAttempts.from_searches(searches, points),
            thresholds=grid,
            detected=detected,
            identified=np.cumsum(detected, axis=1),
            accepted=accepted.astype(np.int64),
            targets_within=number_within(nearest[searches.enrolled]),
            own_within=number_within(searches.nearest_mate[searches.enrolled]),
            non_targets_within=number_within(nearest[~searches.enrolled]),
            repeats=repeats,
        )

    def _at_thresholds(self, rows: np.ndarray) -> np.ndarray:
        """Return a row for each threshold."""
        if self.repeats is None:
            return rows
        return np.repeat(rows, self.repeats, axis=0)

    def curves(self, kind: Kind) -> tuple[Variables, np.ndarray]:
        """Return counts and rates as variables, and the thresholds in the user's units.

        ``DIR(t, k)`` is the proportion of the genuine attempts whose mate is within t at rank k or
        better, ``FRR(t) = 1 - DIR(t, 1)``, and ``FAR(t)`` the proportion of the impostor attempts
        with any candidate within t: FNIR and FPIR of ISO/IEC 19795-1. TTR and FTR are the
        proportions of enrolled probes, and of others, with any template within t (Zheng et al.
        2016, *IEEE TPAMI* 38); ``ttr_identity`` counts templates of the probe's subject alone.
        """
        genuine, impostor = self.attempts.genuine, self.attempts.impostor
        targets = self.attempts.targets
        at_rank_1 = self._at_thresholds(self.identified[:, 0])
        curves: Variables = {
            "dir": self._at_thresholds(rate(self.identified, genuine)),
            "di": self._at_thresholds(self.detected),
            "far": rate(self.accepted, impostor),
            "grr": rate(impostor - self.accepted, impostor),
            "frr": rate(genuine - at_rank_1, genuine),
            "fa": self.accepted,
            "gr": impostor - self.accepted,
            "ttr": rate(self.targets_within, targets),
            "ttr_identity": rate(self.own_within, targets),
            "ftr": rate(self.non_targets_within, self.attempts.non_targets),
        }
        order = in_order_of_scores(kind)
        thresholds = to_user(self.thresholds, kind)[order]
        return {name: values[order] for name, values in curves.items()}, thresholds

    def bounds(self, at_any_threshold: np.ndarray, far_targets: np.ndarray) -> Variables:
        """Return bounds of the operating points if only the rates at the thresholds are known.

        `at_any_threshold` (ranks,) is the number of genuine attempts at each rank or better,
        without a threshold. FAR and DIR grow with the threshold, from 0 below the first threshold,
        at the least, to the rates without a threshold.
        """
        genuine = self.attempts.genuine
        far = rate(self.accepted, self.attempts.impostor)  # (t,)
        dir_ = rate(self.identified, genuine)  # (t, ranks)
        if np.isnan(far).any() or np.isnan(dir_).any():  # no attempt of a class
            undefined = np.full((len(far_targets), dir_.shape[1]), np.nan)
            return _bounds(np.nan, np.nan, undefined, undefined)

        # A threshold that accepts nothing comes first, and one that accepts all comes last.
        far = np.concatenate([[0.0], far, [1.0]])
        dir_ = np.concatenate(
            [np.zeros((1, dir_.shape[1])), dir_, rate(at_any_threshold, genuine)[None]]
        )
        frr = 1.0 - dir_[:, 0]
        # The rates cross between this threshold and the one before: EER is at least FAR before
        # and FRR after, and at most FAR after and FRR before.
        crossed = int(np.argmax(far >= frr))
        eer_low = float(max(far[crossed - 1], frr[crossed]))
        eer_high = float(min(far[crossed], frr[crossed - 1]))
        # The loosest threshold that keeps the target gives DIR at least. The next one exceeds the
        # target: DIR is at most its.
        last_within = np.array([np.flatnonzero(far <= x)[-1] for x in far_targets], dtype=np.int64)
        first_beyond = np.minimum(last_within + 1, len(far) - 1)
        return _bounds(eer_low, eer_high, dir_[last_within], dir_[first_beyond])

    def dataset(
        self,
        points: Variables,
        far_targets: np.ndarray,
        about: Provenance,
        options: Mapping[str, Any],
        notes: Iterable[Message],
        notes_if_both_classes: Iterable[Message],
    ) -> xr.Dataset:
        """Return the result with its operating `points`, and the subjects that a search compares.

        `options` are attributes; ``impostors`` among them is not ``"auto"``. Both `notes` are
        messages; the second are left out without attempts of both classes.
        """
        attempts = self.attempts
        curves, grid = self.curves(about.kind)
        messages = [*notes]
        no_attempt = partial(Message, "no-attempt", task="identification")
        if not attempts.genuine:
            messages.append(no_attempt(what="genuine attempt", rates=["dir", "frr"]))
        if not attempts.impostor:
            messages.append(no_attempt(what="impostor attempt", rates=["far", "grr"]))
        if attempts.genuine and attempts.impostor:
            people = searching_people(about, options["impostors"])
            messages += notes_if_both_classes
            messages += support_messages(
                far_targets, attempts.impostor, False, "dir at far", people
            )
        if attempts.unmated:
            messages.append(Message("enrolled-without-mate", probes=attempts.unmated))
        # The number of subjects that an impostor attempt is compared with.
        enrolled = about.gallery_subjects  # 0 if unknown
        compared: int | str = f"{enrolled - 1} or {enrolled}"
        if not enrolled:
            compared = 0
        elif options["impostors"] == "unenrolled":
            compared = enrolled
        elif options["impostors"] == "leave-subject-out":
            compared = enrolled - 1
        attrs = {
            **about_attrs(about, "open-set", "open-set identification", messages),
            **options,
            "genuine_gallery_subjects": enrolled,
            "impostor_gallery_subjects": compared,
        }
        subjects = subjects_of_attempts(about, options["impostors"])
        scalars = attempts.scalars(far_targets, points, subjects)
        ranks = np.arange(1, self.detected.shape[1] + 1)
        coordinates = {"threshold": grid, "rank": ranks, **scalars.labels}
        return dataset({**curves, **scalars.variables}, OPEN_SET, coordinates, attrs)


def _bounds(
    eer_low: float, eer_high: float, dir_low: np.ndarray, dir_high: np.ndarray
) -> Variables:
    return {
        "eer_at_least": eer_low,
        "eer_at_most": eer_high,
        "dir_at_far_at_least": dir_low,
        "dir_at_far_at_most": dir_high,
    }


def open_set_dataset(
    searches: Searches,
    *,
    thresholds: CurveThresholds,
    max_rank: int | None,
    ties: Ties,
    impostors: ImpostorProbes,
    far_targets: np.ndarray,
    extra_distances: np.ndarray | None,
) -> xr.Dataset:
    """Return DIR over thresholds and ranks, FAR over thresholds.

    The genuine attempts are the enrolled probes with a usable mate; the impostor attempts are
    the probes whose subject is not, or is taken to be not, in the gallery. The operating points at
    rank 1 are added to default thresholds and, with `extra_distances`, to any thresholds.
    """
    role = searches.impostor_role(impostors)
    kind = searches.about.kind
    points = OpenSetPoints.from_searches(searches, ties, role)
    longest = int((searches.mates + searches.others).max(initial=0))
    # The number of ranks to report depends on the number of thresholds, and these on the points:
    # the points are found at more ranks, of which some are left out below.
    most_ranks = max_rank or max(1, min(longest, RANK_LIMIT))
    dir_, threshold_at_far = points.at_far(far_targets, most_ranks)

    if isinstance(thresholds, np.ndarray):
        grid = to_internal(thresholds, kind)
    else:
        scores = np.append(points.mate_distance, points.impostor_distances)
        grid = grid_over(ScoreExtent.from_scores(scores), number=thresholds)
    if thresholds is None or extra_distances is not None:
        grids = [grid, points.finite_thresholds(threshold_at_far)]
        if extra_distances is not None:
            grids.append(extra_distances)
        grid = np.unique(np.concatenate(grids))

    ranks, notes = ranks_to_report(longest, max_rank, len(grid))
    counts = OpenSetCounts.from_searches(
        searches, points, grid, ranks, has_whole_weights=ties != "expected"
    )
    options = {"rank_unit": searches.rank_unit, "fusion": searches.fusion}
    options |= {"ties": ties, "impostors": role}
    values = points.values(dir_[:, :ranks], threshold_at_far[:, :ranks], kind)
    next_scores = to_user(points.next_scores(grid), kind)[in_order_of_scores(kind)]
    values |= variables_over(("threshold",), threshold_next=next_scores)
    notes_on_ties = _tie_messages(searches, points, role, far_targets)
    result = counts.dataset(values, far_targets, searches.about, options, notes, notes_on_ties)
    if isinstance(thresholds, np.ndarray):
        note_thresholds_beyond_scores(result, thresholds)
    return result


def _tie_messages(
    searches: Searches, points: OpenSetPoints, role: str, far_targets: np.ndarray
) -> Iterator[Message]:
    """Yield the messages that equal scores decide EER, or DIR at the first such FAR target."""
    is_tied = (searches.tied > 0) & (searches.mates > 0)
    if not is_tied.any():
        # No rank depends on ties; but FAR and FRR may cross at scores of both classes.
        yield from tie_message("eer", np.ravel(points.equal_error.ends), "EER")
        return
    pessimistic, optimistic = ENDS
    mates_last = OpenSetPoints.from_searches(searches, pessimistic, role)
    mates_first = OpenSetPoints.from_searches(searches, optimistic, role)
    ends = mates_last.equal_error.ends[0].item(), mates_first.equal_error.ends[1].item()
    yield from tie_message("eer", ends, "EER")
    lowest, _ = mates_last.at_far(far_targets, 1)  # (targets, 1)
    highest, _ = mates_first.at_far(far_targets, 1)
    for index, target in enumerate(far_targets.tolist()):
        words = f"{{dir}} at {{far}} {per_cent(target)}"
        rates = lowest[index, 0], highest[index, 0]
        messages = [*tie_message("dir_at_far", rates, words, far_target=target)]
        if messages:
            yield from messages
            return


def open_set_distances(
    searches: Searches, ties: Ties, impostors: ImpostorProbes, far_targets: np.ndarray
) -> np.ndarray:
    """Return the finite thresholds of the operating points at rank 1, as distances."""
    points = OpenSetPoints.from_searches(searches, ties, searches.impostor_role(impostors))
    _, threshold_at_far = points.at_far(far_targets, 1)
    return points.finite_thresholds(threshold_at_far)


def open_set_scalars(
    searches: Searches,
    *,
    ties: Ties,
    impostors: ImpostorProbes,
    far_targets: np.ndarray,
    last_rank: int,
) -> Scalars:
    """Return the attempts, and the operating points at attainable ranks up to `last_rank`."""
    role = searches.impostor_role(impostors)
    points = OpenSetPoints.from_searches(searches, ties, role)
    longest = int((searches.mates + searches.others).max(initial=1))
    ranks = np.arange(1, min(longest, last_rank) + 1)
    dir_, threshold_at_far = points.at_far(far_targets, len(ranks))
    values = points.values(dir_, threshold_at_far, searches.about.kind)
    attempts = OpenSetAttempts.from_searches(searches, points)
    scalars = attempts.scalars(far_targets, values, subjects_of_attempts(searches.about, role))
    return scalars._replace(labels={**scalars.labels, "rank": ranks})

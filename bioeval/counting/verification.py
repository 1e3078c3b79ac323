"""Verification: which attempts are made, and how they are counted.

A claim is made by a probe, and names the person that it is compared with. An attempt is a claim, or
each comparison of two templates if templates are not fused (:class:`Use`). :class:`Verified` has
one verification: its options are checked first, :func:`count` then counts the attempts of one or
more verifications, and :meth:`Verified.find_points` derives operating points from them.
:class:`CollectAttempts` counts where each probe claims everybody; listed claims are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.kinds import Kind
from bioeval.counting.counted import AttemptCounter, ThreadCounts
from bioeval.counting.grids import grid_over
from bioeval.counting.operating_points import COST_LABELS, Attempts
from bioeval.counting.order import increasing
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Extent, Reducer, parts_of, reduce
from bioeval.counting.searches import (
    NO_CLAIMS_LOST,
    ClaimsLost,
    Searches,
    Searching,
    TooFewTemplates,
)
from bioeval.counting.threshold_rules import (
    OF_COSTS,
    THRESHOLDS,
    PointsWanted,
    VerificationPoints,
    point_values,
)
from bioeval.counting.thresholds import CurveThresholds, require_values, to_internal
from bioeval.scores.blocks import Block
from bioeval.scores.codes import cells_between
from bioeval.scores.distances import Templates, by_closeness, order_of, parse_fusion, scored
from bioeval.scores.joining import in_order
from bioeval.scores.keys import index_of
from bioeval.scores.matrix import Scores, require_all_scores, require_subjects
from bioeval.scores.people import ComparedPeople, People
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import blocks_of, threads_for

UnenrolledClaims = Literal["raise", "skip"]


@dataclass(frozen=True)
class Use:
    """Whether a claim is compared with single templates, or with all of the subject, fused."""

    templates: Templates = "single"
    fusion: str = "best"
    #: The fusion rule; None where every comparison of templates is an attempt.
    fused: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check both words."""
        require_choice("templates", self.templates, Templates)
        parse_fusion(self.fusion)
        object.__setattr__(self, "fused", self.fusion if self.templates == "multi" else None)

    def of_kind(self, kind: Kind) -> Use:
        """Return the use with the rule that fuses distances."""
        fusion = by_closeness(self.fusion, kind)
        return self if fusion == self.fusion else Use(self.templates, fusion)

    @property
    def attrs(self) -> dict[str, str]:
        """The attributes of results."""
        return {"templates": self.templates, "fusion": self.fused or "none"}


class Claims(NamedTuple):
    """Claims in the order of their probes."""

    probe: np.ndarray
    group: np.ndarray  # the claimed subject, as a group of the gallery's order


class CollectAttempts(Reducer):
    """The attempts of verification: comparisons of templates, or claims of people.

    - `fusion`: the rule by which the templates of a person are fused; None: each comparison is an
      attempt
    - `wanted`: the operating points that will be sought; few attempts have all points
    - `thresholds` (float64): increasing distances at which false accepts will be sought
    """

    def __init__(
        self,
        fusion: str | None = None,
        wanted: PointsWanted | None = None,
        thresholds: np.ndarray | None = None,
    ):
        self.fusion, self.wanted = fusion, wanted
        self.thresholds = np.empty(0) if thresholds is None else thresholds
        self.kept = np.empty(0)  # the scores of the one block, if they are few
        self.copies = 1  # attempts that each kept score stands for
        self.failed = 0

    def prepare(self, parts: Parts) -> None:
        genuine, self.missed = parts.mates.scores(self.fusion)
        self.genuine = increasing(genuine)
        self.counter: AttemptCounter | None = None  # None if the scores are few, and all kept
        if parts.few:
            return
        is_exact = self.fusion in (None, "best", "worst")
        dtype = parts.dtype if is_exact else np.dtype(np.float64)
        genuine = self.genuine.astype(np.float64)
        self.counter = AttemptCounter(dtype, self.wanted, self.thresholds, genuine, self.missed)
        sample = [x.ravel() for block in parts.sample() for x, _, _ in self._scores(block)]
        self.counter.prepare(sample, parts.size)
        self.counts: list[ThreadCounts] = []

    def fresh(self) -> Self:
        empty = super().fresh()
        empty.failed = 0
        if self.counter is not None:
            empty.counts = [self.counter.start()]
        return empty

    def add(self, block: Block) -> None:
        for side, (values, weight, failed) in enumerate(self._scores(block)):
            self.failed += weight * failed
            if self.counter is None:
                if self.fusion is None and is_mirrored(block, values):
                    self.copies = 2
                    row = np.arange(len(values))
                    values = values[row[:, None] < row]
                self.kept = values.ravel()
            else:
                order = 2 * block.order + side
                self.counter.count(self.counts[0], np.atleast_2d(values), order, weight)

    def _scores(self, block: Block) -> list[tuple[np.ndarray, int, int]]:
        """Return the scores of a block, how many attempts each stands for, and how many failed."""
        if self.fusion is None:
            scores, failed = block.scores()
            return [(scores, block.weight, failed)]
        claims = (side.by_person(self.fusion).scores() for side in block.sides())
        return [(scores, 1, failed) for scores, failed in claims]

    def merge(self, other: Self) -> None:
        self.failed += other.failed
        if self.counter is not None:
            self.counts += other.counts

    def finish_pass(self) -> bool:
        if self.counter is None:
            return False
        is_missing = self.counter.finish(self.counts, self.failed)
        self.counts = []
        return is_missing

    def result(self) -> Attempts:
        if self.counter is not None:
            return self.counter.attempts()
        impostor = increasing(self.kept)
        self.kept = np.empty(0)
        impostor = np.repeat(impostor, self.copies) if self.copies > 1 else impostor
        return Attempts.from_ordered(self.genuine, impostor, self.missed, self.failed)


def is_mirrored(block: Block, values: np.ndarray) -> bool:
    """Whether a block is symmetric to the last bit, without attempts on its diagonal."""
    if values.ndim < 2 or not np.array_equal(block.probes, block.candidates):
        return False
    bits = values.view(np.dtype(f"u{values.itemsize}"))
    if not (np.isnan(np.diagonal(values)).all() and np.array_equal(bits[0], bits[:, 0])):
        return False
    # A block above the diagonal and its mirror image at a time: columns are far apart in memory.
    return all(
        np.array_equal(bits[low : low + 64, low:], bits[low:, low : low + 64].T)
        for low in range(0, len(bits), 64)
    )


class Verified:
    """One verification: its options and, after :func:`count`, its attempts.

    Thresholds and claims are arguments of :func:`bioeval.verification`.

    - `attempts`, after :func:`count`
    - `parts`, after :func:`count`, if claims are not listed: the parts that were counted
    - `unenrolled`, after :func:`count`: the increasing scores of drawn claims by probes who are not
      enrolled; None without drawn claims
    - `points`, after :meth:`find_points`
    - `claims`: the claims, unless each probe claims everybody; `claims_of`: words that say which
    - `not_enrolled`: drawn claims by probes who are not enrolled
    - `skipped_claims`: the number of claims of people who are not enrolled
    """

    attempts: Attempts
    parts: Parts
    unenrolled: np.ndarray | None = None
    points: VerificationPoints
    claims: Claims | None = None
    not_enrolled: Claims | None = None
    claims_of: str = "all"
    skipped_claims: int = 0

    def __init__(
        self,
        scores: Scores,
        use: Use | None = None,
        *,
        wanted: PointsWanted | None = None,
        thresholds: CurveThresholds = None,
        claims: Any = None,
        unenrolled_claims: UnenrolledClaims = "raise",
        about: Provenance | None = None,
    ):
        require_all_scores(scores)
        use = (use or Use()).of_kind(scores.kind)
        require_choice("unenrolled_claims", unenrolled_claims, UnenrolledClaims)
        require_values(scores, "verification")
        if use.fused or claims is not None:
            require_subjects(scores, "explicit claims" if claims is not None else "multi-template")
        self.scores, self.use, self.wanted = scores, use, wanted
        if about is not None:
            self.about = about
        if claims is not None:
            # Claims that a user gave: listed, by name, drawn, or to be drawn by a sampler.
            from bioeval.partition.claims import ClaimSampler, DrawnClaims, parse_claims

            self.claims_of = "explicit"
            if isinstance(claims, ClaimSampler):
                self.claims_of = f"drawn by {claims!r}"
                claims = claims.draw(scores)
            if isinstance(claims, DrawnClaims):
                is_enrolled = claims.enrolled
                others = claims.probe[~is_enrolled], claims.subject[~is_enrolled]
                self.not_enrolled = Claims(*parse_claims(scores, others, "raise")[0])
                claims = claims.probe[is_enrolled], claims.subject[is_enrolled]
            if index_of(claims) is not None:
                ordered = in_order(claims, scores.keys(0), "`claims`")
                claims = ordered.values
                self.scores = scores.with_remarks(*ordered.remarks)
            parsed, self.skipped_claims = parse_claims(scores, claims, unenrolled_claims)
            self.claims = Claims(*parsed)
        #: The user's thresholds, as distances, or their number; None: the default.
        self.requested_thresholds = thresholds
        #: The thresholds of the curve, if they are known before the count.
        self.grid: np.ndarray | None = None
        if isinstance(thresholds, np.ndarray):
            self.requested_thresholds = self.grid = to_internal(thresholds, scores.kind)

    # -- attempts

    def reducer_for(self, parts: Parts) -> CollectAttempts:
        """Return the reducer that counts the attempts, if claims are not listed."""
        if isinstance(self.requested_thresholds, int) and not parts.few:
            (extent,) = reduce(parts, Extent(self.use.fused))
            self.grid = grid_over(extent, number=self.requested_thresholds)
        thresholds = np.empty(0) if self.grid is None else self.grid
        if self.wanted is not None and self.wanted.thresholds is not None:
            thresholds = np.union1d(thresholds, self.wanted.thresholds)
        return CollectAttempts(self.use.fused, self.wanted, thresholds)

    def read_claims(self, claims: Claims) -> None:
        """Read the attempts of listed claims."""
        rule = self.use.fused
        scores, claim = attempts_of_claims(self.scores, rule, claims)
        is_own = self.scores.gallery_order.probe_group[claims.probe] == claims.group
        self.attempts = Attempts.from_scores(scores[is_own[claim]], scores[~is_own[claim]])
        if (needed := order_of(rule)) > 1:
            lost = np.setdiff1d(attempts_of_claims(self.scores, "best", claims)[1], claim)
            lost_genuine = int(np.count_nonzero(is_own[lost]))
            self.about = self.about.without_claims(lost_genuine, len(lost) - lost_genuine, needed)
        if self.not_enrolled is not None:
            scores, _ = attempts_of_claims(self.scores, rule, self.not_enrolled)
            self.unenrolled = np.sort(scores)

    @cached_property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Thresholds (float64, increasing) of the curve, and the false accepts (int64) there."""
        attempts = self.attempts
        thresholds = self.grid
        if self.requested_thresholds is None:
            thresholds, accepted = attempts.default_curve()
            return thresholds, accepted.astype(np.int64)
        if thresholds is None:
            assert not isinstance(self.requested_thresholds, np.ndarray)
            thresholds = grid_over(attempts.extent(), number=self.requested_thresholds)
        return thresholds, attempts.false_accepts(thresholds).astype(np.int64)

    # -- operating points

    def find_points(
        self, points: PointsWanted | None = None, *, symmetric: bool | None, with_thresholds: bool
    ) -> None:
        """Find the operating points, by default all wanted points.

        `symmetric` says whether each pair was counted in both directions, None if unknown. The
        thresholds of the points become thresholds of the curve, too, if `with_thresholds`.
        """
        wanted = self.wanted if points is None else points
        assert wanted is not None
        attempts = self.attempts
        error, values_of_parts = point_values(attempts.points, wanted, symmetric)
        values: dict[str, Any] = {name: x[0] for name, x in values_of_parts.items()}
        if wanted.every_score and len(wanted.costs):
            values |= dict(zip(COST_LABELS, wanted.costs.T, strict=True))
        extra = np.empty(0)
        if attempts.defined and with_thresholds:
            found = [np.ravel(values[x]) for x in (*THRESHOLDS, OF_COSTS) if x in values]
            if wanted.thresholds is not None:
                found.append(wanted.thresholds)
            extra = np.concatenate(found)
            extra = extra[np.isfinite(extra)]
        last, first = error.ends
        self.points = VerificationPoints(
            wanted,
            (float(last[0]), float(first[0])),
            values,
            symmetric,
            attempts.impostor_attempts / (2 if symmetric else 1),
            extra,
            attempts.false_accepts(extra),
        )

    # -- data and people

    @cached_property
    def about(self) -> Provenance:
        return Provenance.from_scores(self.scores)

    @property
    def _sides(self) -> tuple[np.ndarray, np.ndarray]:
        codes = self.scores.codes
        if self.claims is None:
            return codes.probe, codes.gallery
        enrolled = self.scores.gallery_order.subjects
        return codes.probe[self.claims.probe], enrolled[self.claims.group]

    @cached_property
    def people(self) -> People:
        """The people of the attempts, numbered."""
        return People(self.scores.codes, *self._sides)

    @cached_property
    def compared(self) -> ComparedPeople | None:
        """How many people are compared; None if no template is of a person."""
        if self.claims is not None:
            return ComparedPeople.from_list(self.scores.codes, *self._sides, disjoint=True)
        if self.scores.layout != "pairs" and self.about.people is None:
            return None
        return ComparedPeople.from_scores(self.scores, disjoint=True)

    @property
    def compares_all(self) -> bool:
        """Whether everybody is compared with all people of the other side, as in a matrix."""
        people = self.about.people
        is_listed = self.scores.layout == "pairs"
        if is_listed or self.claims is not None or people is None or self.compared is None:
            return False
        return self.compared.pairs == ComparedPeople.from_sides(*people).pairs


def count(scores: Scores, verifying: Sequence[Verified], *further: Reducer) -> list[Any]:
    """Find the attempts of verifications in one pass; return the results of `further` reducers."""
    if not verifying and not further:
        return []
    by_blocks = [x for x in verifying if x.claims is None]  # listed claims are read by themselves
    fusions = {*(x.use.fused for x in by_blocks), *(x.fusion for x in further)}
    parts = parts_of(scores, nearest=fusions <= {None, "best"})
    too_few = {
        fusion: counter for fusion in fusions for counter in TooFewTemplates.counters(fusion)
    }
    reducers = [x.reducer_for(parts) for x in by_blocks]
    results = reduce(parts, *reducers, *too_few.values(), *further)
    attempts = results[: len(reducers)]
    results = results[len(reducers) :]
    lost_by_fusion = dict(zip(too_few, results, strict=False))
    for verified, attempts_of_one in zip(by_blocks, attempts, strict=True):
        verified.parts = parts
        verified.attempts = attempts_of_one
        lost: ClaimsLost = lost_by_fusion.get(verified.use.fused, NO_CLAIMS_LOST)
        verified.about = verified.about.without_claims(*lost)
    for verified in verifying:
        if verified.claims is not None:
            verified.read_claims(verified.claims)
    return results[len(too_few) :]


def count_searches(
    scores: Scores, verifying: Sequence[Verified], searching: Mapping[Any, Searching]
) -> dict[Any, Searches]:
    """Find the attempts of verifications, and search, in one pass; return the searches by key."""
    reducers = [reducer for x in searching.values() for reducer in x.reducers]
    facts = iter(count(scores, verifying, *reducers))
    return {key: x.result(*islice(facts, len(x.reducers))) for key, x in searching.items()}


def verify(scores: Scores, use: Use | None = None, **options: Any) -> Verified:
    """Count one verification, with the options of :class:`Verified`."""
    verified = Verified(scores, use, **options)
    count(scores, [verified])
    return verified


def attempts_of_claims(
    scores: Scores, fusion: str | None, claims: Claims
) -> tuple[np.ndarray, np.ndarray]:
    """Return the score of each attempt of listed claims, NaN if it failed, and its claim (int64).

    Each template of the claimed person makes one attempt, unless templates are fused.
    """
    attempts = [(np.empty(0), np.empty(0, dtype=np.int64))]
    with threads_for(scores):
        for block in blocks_of(scores):
            rows = block.order, block.order + len(block.values)
            low, high = claims.probe.searchsorted(rows)
            claim = np.arange(low, high)
            column = claims.group[low:high]  # of fused claims
            if fusion is None:
                assert block.columns is not None
                assert block.columns.starts is not None
                starts = block.columns.starts
                claim_of_cell, column = cells_between(starts[column], starts[column + 1])
                claim = claim[claim_of_cell]
            claimed = block if fusion is None else block.by_person(fusion)
            distance = claimed.values[claims.probe[claim] - block.order, column]
            is_attempt = ~np.isnan(distance)
            distance = distance[is_attempt]
            distance = scored(distance) if claimed.rejected else distance
            attempts.append((distance, claim[is_attempt]))
    distances, claims_of_attempts = map(np.concatenate, zip(*attempts, strict=True))
    return distances, claims_of_attempts

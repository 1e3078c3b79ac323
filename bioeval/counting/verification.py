"""Verification: which attempts are made, and how they are counted.

A claim is made by a probe, and names the person that it is compared with. An attempt is a claim, or
each comparison of two templates if templates are not fused (:class:`Use`). There are three steps::

    asked = to_verify(scores, Use("single"), wanted=wanted)  # checks the options
    (verified,), _ = count(scores, [asked])  # one pass, also for several verifications
    points = verified.find_points(symmetric=True, with_thresholds=True)

:class:`CollectAttempts` counts where each probe claims everybody; listed claims are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Verifying:
    """One verification that is to be counted; :func:`to_verify` checks its arguments."""

    scores: Scores
    use: Use
    wanted: PointsWanted | None  # the operating points
    #: The user's thresholds, as distances, or their number; None: the default.
    requested_thresholds: CurveThresholds
    claims: Claims | None = None  # None: each probe claims everybody
    claims_of: str = "all"  # which claims, in words
    not_enrolled: Claims | None = None  # drawn claims by probes who are not enrolled
    skipped_claims: int = 0  # the number of claims of people who are not enrolled
    provenance: Provenance | None = None  # if it is known, for `Verified.about`

    def grid_before(self, parts: Parts) -> np.ndarray | None:
        """Return the thresholds of the curve, if they are known before attempts are counted."""
        requested = self.requested_thresholds
        if isinstance(requested, int) and not parts.few:
            (extent,) = reduce(parts, Extent(self.use.fused))
            return grid_over(extent, number=requested)
        return requested if isinstance(requested, np.ndarray) else None

    def reducer(self, grid: np.ndarray | None) -> CollectAttempts:
        """Return the reducer that counts the attempts, if claims are not listed."""
        thresholds = np.empty(0) if grid is None else grid
        if self.wanted is not None and self.wanted.thresholds is not None:
            thresholds = np.union1d(thresholds, self.wanted.thresholds)
        return CollectAttempts(self.use.fused, self.wanted, thresholds)

    def verified(self, attempts: Attempts, **counted: Any) -> Verified:
        """Return the verification with its attempts; `counted` are further fields."""
        asked = {x.name: getattr(self, x.name) for x in fields(self)}
        return Verified(**asked, attempts=attempts, **counted)


def to_verify(
    scores: Scores,
    use: Use | None = None,
    *,
    wanted: PointsWanted | None = None,
    thresholds: CurveThresholds = None,
    claims: Any = None,
    unenrolled_claims: UnenrolledClaims = "raise",
    about: Provenance | None = None,
) -> Verifying:
    """Check a verification that is to be counted.

    Thresholds and claims are arguments of :func:`bioeval.verification`.
    """
    require_all_scores(scores)
    use = (use or Use()).of_kind(scores.kind)
    require_choice("unenrolled_claims", unenrolled_claims, UnenrolledClaims)
    require_values(scores, "verification")
    if use.fused or claims is not None:
        require_subjects(scores, "explicit claims" if claims is not None else "multi-template")
    if isinstance(thresholds, np.ndarray):
        thresholds = to_internal(thresholds, scores.kind)
    asked = Verifying(
        scores=scores, use=use, wanted=wanted, requested_thresholds=thresholds, provenance=about
    )
    if claims is None:
        return asked

    # Claims that a user gave: listed, by name, drawn, or to be drawn by a sampler.
    from bioeval.partition.claims import ClaimSampler, DrawnClaims, parse_claims

    claims_of = "explicit"
    if isinstance(claims, ClaimSampler):
        claims_of = f"drawn by {claims!r}"
        claims = claims.draw(scores)
    not_enrolled = None
    if isinstance(claims, DrawnClaims):
        is_enrolled = claims.enrolled
        others = claims.probe[~is_enrolled], claims.subject[~is_enrolled]
        not_enrolled = Claims(*parse_claims(scores, others, "raise")[0])
        claims = claims.probe[is_enrolled], claims.subject[is_enrolled]
    if index_of(claims) is not None:
        ordered = in_order(claims, scores.keys(0), "`claims`")
        claims = ordered.values
        asked = replace(asked, scores=scores.with_remarks(*ordered.remarks))
    parsed, skipped_claims = parse_claims(scores, claims, unenrolled_claims)
    return replace(
        asked,
        claims=Claims(*parsed),
        claims_of=claims_of,
        not_enrolled=not_enrolled,
        skipped_claims=skipped_claims,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Verified(Verifying):
    """One verification, and its attempts."""

    attempts: Attempts
    grid: np.ndarray | None = None  # see :meth:`Verifying.grid_before`
    parts: Parts | None = None  # that were counted; None for listed claims
    #: The increasing scores of drawn claims by probes who are not enrolled.
    unenrolled: np.ndarray | None = None
    #: Claims that have no score, since the claimed person has too few templates for the fusion.
    lost: ClaimsLost = NO_CLAIMS_LOST

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
        self, wanted: PointsWanted | None = None, *, symmetric: bool | None, with_thresholds: bool
    ) -> VerificationPoints:
        """Return the operating points, by default those that were wanted of the count.

        `symmetric` says whether each pair was counted in both directions, None if unknown. The
        thresholds of the points become thresholds of the curve, too, if `with_thresholds`.
        """
        wanted = self.wanted if wanted is None else wanted
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
        return VerificationPoints(
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
        """Facts of the scores, and the claims that are lost."""
        about = self.provenance or Provenance.from_scores(self.scores)
        return about.without_claims(*self.lost)

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


def count(
    scores: Scores, verifying: Sequence[Verifying], *further: Reducer
) -> tuple[list[Verified], list[Any]]:
    """Find the attempts of verifications in one pass; also return results of `further` reducers."""
    if not verifying and not further:
        return [], []
    by_blocks = [x for x in verifying if x.claims is None]  # listed claims are read by themselves
    fusions = {*(x.use.fused for x in by_blocks), *(x.fusion for x in further)}
    parts = parts_of(scores, nearest=fusions <= {None, "best"})
    too_few = {
        fusion: counter for fusion in fusions for counter in TooFewTemplates.counters(fusion)
    }
    grids = [x.grid_before(parts) for x in by_blocks]
    reducers = [x.reducer(grid) for x, grid in zip(by_blocks, grids, strict=True)]
    results = iter(reduce(parts, *reducers, *too_few.values(), *further))
    attempts_of_each = iter([*zip(islice(results, len(reducers)), grids, strict=True)])
    lost_by_fusion: dict[str | None, ClaimsLost] = dict(zip(too_few, results, strict=False))
    verified = []
    for asked in verifying:
        if asked.claims is not None:
            verified.append(_read_claims(asked, asked.claims))
            continue
        attempts, grid = next(attempts_of_each)
        lost = lost_by_fusion.get(asked.use.fused, NO_CLAIMS_LOST)
        verified.append(asked.verified(attempts, grid=grid, parts=parts, lost=lost))
    return verified, [*results]


def _read_claims(asked: Verifying, claims: Claims) -> Verified:
    """Return a verification with the attempts of its listed claims."""
    scores, rule = asked.scores, asked.use.fused
    distance, claim = attempts_of_claims(scores, rule, claims)
    is_own = scores.gallery_order.probe_group[claims.probe] == claims.group
    attempts = Attempts.from_scores(distance[is_own[claim]], distance[~is_own[claim]])
    lost = NO_CLAIMS_LOST
    if (needed := order_of(rule)) > 1:
        without_score = np.setdiff1d(attempts_of_claims(scores, "best", claims)[1], claim)
        lost_genuine = int(np.count_nonzero(is_own[without_score]))
        lost = (lost_genuine, len(without_score) - lost_genuine, needed)
    unenrolled = None
    if asked.not_enrolled is not None:
        unenrolled = np.sort(attempts_of_claims(scores, rule, asked.not_enrolled)[0])
    requested = asked.requested_thresholds
    grid = requested if isinstance(requested, np.ndarray) else None
    return asked.verified(attempts, grid=grid, unenrolled=unenrolled, lost=lost)


def count_searches(
    scores: Scores, verifying: Sequence[Verifying], searching: Mapping[Any, Searching]
) -> tuple[list[Verified], dict[Any, Searches]]:
    """Find the attempts of verifications, and search, in one pass; return the searches by key."""
    reducers = [reducer for x in searching.values() for reducer in x.reducers]
    verified, results = count(scores, verifying, *reducers)
    facts = iter(results)
    searches = {key: x.result(*islice(facts, len(x.reducers))) for key, x in searching.items()}
    return verified, searches


def verify(scores: Scores, use: Use | None = None, **options: Any) -> Verified:
    """Count one verification, with the options of :func:`to_verify`."""
    (verified,), _ = count(scores, [to_verify(scores, use, **options)])
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

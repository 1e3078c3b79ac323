"""Verification: which attempts are made, and how they are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.kinds import Kind
from bioeval.counting.counted import AttemptCounter, ThreadCounts
from bioeval.counting.order import increasing
from bioeval.counting.parts import Parts, parts_of
from bioeval.counting.reduce import Extent, Reducer, reduce
from bioeval.counting.sorted_attempts import Attempts
from bioeval.counting.thresholds import CurveThresholds, grid_over, require_values, to_internal
from bioeval.counting.too_few_templates import NO_CLAIMS_LOST, ClaimsLost, TooFewTemplates
from bioeval.counting.wanted_points import PointsWanted, VerificationPoints, points_of
from bioeval.scores.arrays import Templates, scored
from bioeval.scores.blocks import Block
from bioeval.scores.fusion_rules import by_closeness, order_of, parse_fusion
from bioeval.scores.gallery_order import cells_between
from bioeval.scores.matrix import Scores
from bioeval.scores.names import in_order, index_of
from bioeval.scores.people import ComparedPeople, People
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_all_scores, require_subjects
from bioeval.scores.rows import blocks_of, threads_for

UnenrolledClaims = Literal["raise", "skip"]


@dataclass(frozen=True)
class Use:
    """What a claim is compared with: single templates, or all of the subject, fused."""

    templates: Templates = "single"
    fusion: str = "best"
    #: The fusion rule; None where every comparison of templates is an attempt.
    fused: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse other words."""
        require_choice("templates", self.templates, Templates)
        parse_fusion(self.fusion)
        object.__setattr__(self, "fused", self.fusion if self.templates == "multi" else None)

    def of_kind(self, kind: Kind) -> Use:
        """Return the use with the rule that fuses distances."""
        return Use(self.templates, by_closeness(self.fusion, kind))

    @property
    def attrs(self) -> dict[str, str]:
        """The attributes of results."""
        return {"templates": self.templates, "fusion": self.fused or "none"}


class Claims(NamedTuple):
    """Claims that are made, in the order of their probes: the probe, and the subject claimed.

    Subjects are numbered as the groups of the gallery.
    """

    probe: np.ndarray
    group: np.ndarray


class CollectAttempts(Reducer):
    """The attempts of verification: comparisons of templates, or claims of people.

    Parameters
    ----------
    fusion : str, optional
        The rule by which the templates of a person are fused; None: each comparison is an attempt.
    wanted : PointsWanted, optional
        The operating points that will be asked for; few attempts answer all.
    thresholds : ndarray of float64
        Distances, increasing, at which false accepts will be asked for.
    further : ndarray
        Further impostor scores, such as scores of attacks; NaN is a failed attempt.
    """

    def __init__(
        self,
        fusion: str | None = None,
        wanted: PointsWanted | None = None,
        thresholds: np.ndarray | None = None,
        further: np.ndarray | None = None,
    ):
        self.fusion, self.wanted = fusion, wanted
        self.thresholds = np.empty(0) if thresholds is None else thresholds
        self.further = np.empty(0) if further is None else further[~np.isnan(further)]
        self.kept: list[np.ndarray] = []
        self.copies = 1  # attempts that each kept score stands for
        self.failed = 0 if further is None else len(further) - len(self.further)

    def prepare(self, parts: Parts) -> None:
        genuine, self.missed = parts.mates.scores(self.fusion)
        self.genuine = increasing(genuine)
        self.counter: AttemptCounter | None = None
        if parts.few:
            return
        is_exact = self.fusion in (None, "best", "worst") and not len(self.further)
        dtype = parts.dtype if is_exact else np.dtype(np.float64)
        self.genuine = self.genuine.astype(np.float64)
        self.counter = AttemptCounter(
            dtype, self.wanted, self.thresholds, self.genuine, self.missed
        )
        sample = [x.ravel() for block in parts.sample() for x, _, _ in self._scores(block)]
        self.counter.place(sample, parts.size)
        self.counter.prepare()
        self.counts = self._count_further()

    def _count_further(self) -> list[ThreadCounts]:
        if self.counter is None or not len(self.further):
            return []
        counts = self.counter.start()
        self.counter.count(counts, self.further[None], -1)
        return [counts]

    def fresh(self) -> Self:
        empty = super().fresh()
        empty.kept = []
        empty.failed = 0
        if self.counter is not None:
            empty.counts = [self.counter.start()]
        return empty

    def add(self, block: Block) -> None:
        for side, (values, weight, failed) in enumerate(self._scores(block)):
            self.failed += weight * failed
            if self.counter is None:
                if self.fusion is None and not len(self.further) and is_mirrored(block, values):
                    self.copies = 2
                    values = values[~np.tri(len(values), dtype=bool)]
                self.kept.append(values.ravel())
            else:
                number = 2 * block.number + side
                self.counter.count(self.counts[0], np.atleast_2d(values), number, weight)

    def _scores(self, block: Block) -> list[tuple[np.ndarray, int, int]]:
        """Return scores of a block, how many attempts each stands for, and how many failed."""
        if self.fusion is None:
            scores, failed = block.scores()
            return [(scores, block.weight, failed)]
        claims = (side.by_person(self.fusion).scores() for side in block.sides())
        return [(scores, 1, failed) for scores, failed in claims]

    def merge(self, other: Self) -> None:
        self.kept += other.kept
        self.failed += other.failed
        if self.counter is not None:
            self.counts += other.counts

    def finish_pass(self) -> bool:
        if self.counter is None:
            return False
        is_missing = self.counter.finish(self.counts, self.failed)
        self.counts = self._count_further()
        return is_missing

    def result(self) -> Attempts:
        if self.counter is not None:
            return self.counter.attempts()
        impostor = increasing(np.concatenate([np.empty(0, np.float16), *self.kept, self.further]))
        impostor = np.repeat(impostor, self.copies)
        return Attempts.from_ordered(self.genuine, impostor, self.missed, self.failed)


def is_mirrored(block: Block, values: np.ndarray) -> bool:
    """Whether few scores are the same both ways, to the last bit, and the diagonal has none."""
    if values.ndim < 2 or not np.array_equal(block.probes, block.candidates):
        return False
    bits = values.view(np.dtype(f"u{values.itemsize}"))
    if not (np.isnan(np.diagonal(values)).all() and np.array_equal(bits[0], bits[:, 0])):
        return False
    return np.array_equal(bits, bits.T)


class Verified:
    """One verification: its options and, after :func:`count`, its attempts.

    Thresholds and claims are as the user gives them; see :func:`bioeval.verification`. `further`
    are impostor scores besides, such as scores of attacks.
    """

    #: After :func:`count`: the attempts, and the scores (increasing) of drawn claims by probes who
    #: are not enrolled; None without drawn claims.
    attempts: Attempts
    unenrolled: np.ndarray | None = None
    #: The operating points, after :meth:`find_points`.
    points: VerificationPoints

    def __init__(
        self,
        scores: Scores,
        use: Use | None = None,
        *,
        wanted: PointsWanted | None = None,
        given: CurveThresholds = None,
        claims: Any = None,
        unenrolled_claims: UnenrolledClaims = "raise",
        further: np.ndarray | None = None,
        about: Provenance | None = None,
    ):
        require_all_scores(scores)
        use = (use or Use()).of_kind(scores.kind)
        require_choice("unenrolled_claims", unenrolled_claims, UnenrolledClaims)
        require_values(scores, "verification")
        if use.fused or claims is not None:
            require_subjects(scores, "explicit claims" if claims is not None else "multi-template")
        self.scores, self.use, self.wanted, self.further = scores, use, wanted, further
        if about is not None:
            self.about = about
        self.claims: Claims | None = None
        self.not_enrolled: Claims | None = None  # claims of probes who are not enrolled, drawn
        self.claims_of = "all" if claims is None else "explicit"
        self.skipped_claims = 0
        if claims is not None:
            self._take_claims(claims, unenrolled_claims)
        #: The user's thresholds, as distances, or their number; None is a default. And the
        #: thresholds of the curve, if they are known before.
        self.given = given
        self.grid: np.ndarray | None = None
        if isinstance(given, np.ndarray):
            self.given = self.grid = to_internal(given, scores.kind)

    def _take_claims(self, claims: Any, unenrolled: UnenrolledClaims) -> None:
        from bioeval.partition.claims import ClaimSampler, DrawnClaims, parse_claims

        if isinstance(claims, ClaimSampler):
            self.claims_of = f"drawn by {claims!r}"
            claims = claims.draw(self.scores)
        if isinstance(claims, DrawnClaims):
            enrolled = claims.enrolled
            not_enrolled = claims.probe[~enrolled], claims.subject[~enrolled]
            self.not_enrolled = Claims(*parse_claims(self.scores, not_enrolled, "raise")[0])
            claims = claims.probe[enrolled], claims.subject[enrolled]
        if index_of(claims) is not None:
            ordered = in_order(claims, self.scores.probe_names, "`claims`")
            self.scores = self.scores.with_remarks(*ordered.remarks)
            claims = ordered.values
        listed, self.skipped_claims = parse_claims(self.scores, claims, unenrolled)
        self.claims = Claims(*listed)

    # -- attempts

    def reducer_for(self, parts: Parts) -> CollectAttempts:
        """Return the reducer that counts the attempts, unless claims are listed."""
        if isinstance(self.given, int) and not parts.few:
            (extent,) = reduce(parts, Extent(self.use.fused))
            self.grid = grid_over(*extent, number=self.given)
        thresholds = np.empty(0) if self.grid is None else self.grid
        if self.wanted is not None and self.wanted.rows is not None:
            thresholds = np.union1d(thresholds, self.wanted.rows)
        return CollectAttempts(self.use.fused, self.wanted, thresholds, self.further)

    def take(self, attempts: Attempts, lost: ClaimsLost) -> None:
        """Take the result of :meth:`reducer_for`, and the claims that a fusion rule loses."""
        self.attempts = attempts
        self.about = self.about.without_claims(*lost)

    def read_claims(self, claims: Claims) -> None:
        """Read the attempts of listed claims."""
        values, claim = claimed(self.scores, self.use.fused, claims)
        is_own = self.scores.gallery_order.probe_group[claims.probe] == claims.group
        is_genuine = is_own[claim]
        self.attempts = Attempts.with_failures(values[is_genuine], values[~is_genuine])
        if (needed := order_of(self.use.fused)) > 1:
            lost = np.setdiff1d(claimed(self.scores, "best", claims)[1], claim)
            lost_genuine = int(np.count_nonzero(is_own[lost]))
            lost_impostor = len(lost) - lost_genuine
            self.about = self.about.without_claims(lost_genuine, lost_impostor, needed)
        if self.not_enrolled is not None:
            self.unenrolled = np.sort(claimed(self.scores, self.use.fused, self.not_enrolled)[0])

    @cached_property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Thresholds (float64, increasing) of the curve, and the false accepts (int64) there."""
        attempts = self.attempts
        thresholds = self.grid
        if self.given is None:
            thresholds, accepted = attempts.default_curve()
            return thresholds, accepted.astype(np.int64)
        if thresholds is None:
            assert not isinstance(self.given, np.ndarray)
            thresholds = grid_over(*attempts.extent(), number=self.given)
        return thresholds, attempts.false_accepts(thresholds).astype(np.int64)

    # -- operating points

    def find_points(
        self,
        points: PointsWanted | None = None,
        *,
        symmetric: bool | None,
        with_rows: bool,
    ) -> None:
        """Find the operating points, by default all wanted points; see :func:`points_of`."""
        points = self.wanted if points is None else points
        assert points is not None
        self.points = points_of(self.attempts, points, symmetric=symmetric, with_rows=with_rows)

    def replace_rows(self, rows: np.ndarray, attempts: Attempts) -> None:
        """Take thresholds as rows of the result; `attempts` know the false accepts there."""
        self.points = self.points.with_rows(rows, attempts)

    # -- data and people

    @cached_property
    def about(self) -> Provenance:
        """The provenance of the scores."""
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
        """How many people are compared; None where nobody is a person."""
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
    too_few = {fusion: y for fusion in fusions for y in TooFewTemplates.counters(fusion)}
    reducers = [x.reducer_for(parts) for x in by_blocks]
    results = reduce(parts, *reducers, *too_few.values(), *further)
    attempts = results[: len(reducers)]
    results = results[len(reducers) :]
    lost = dict(zip(too_few, results, strict=False))
    for verified, attempts_of in zip(by_blocks, attempts, strict=True):
        verified.take(attempts_of, lost.get(verified.use.fused, NO_CLAIMS_LOST))
    for verified in verifying:
        if verified.claims is not None:
            verified.read_claims(verified.claims)
    return results[len(too_few) :]


def verify(scores: Scores, use: Use | None = None, **options: Any) -> Verified:
    """Count one verification, with the options of :class:`Verified`."""
    verified = Verified(scores, use, **options)
    count(scores, [verified])
    return verified


def claimed(scores: Scores, fusion: str | None, claims: Claims) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of attempts of listed claims, NaN of failed attempts, and their claims.

    Each template of the claimed person makes one attempt, unless they are fused.
    """
    values = [np.empty(0)]
    claim_of_each = [np.empty(0, dtype=np.int64)]
    with threads_for(scores):
        for block in blocks_of(scores):
            low, high = np.searchsorted(
                claims.probe, [block.number, block.number + len(block.values)]
            )
            claim = np.arange(high - low)
            position = claims.group[low:high]
            if fusion is None:
                assert block.columns is not None
                assert block.columns.starts is not None
                starts = block.columns.starts
                claim, position = cells_between(starts[position], starts[position + 1])
            else:
                block = block.by_person(fusion)
            value = block.values[claims.probe[low:high][claim] - block.number, position]
            is_attempt = ~np.isnan(value)
            attempt = value[is_attempt]
            values.append(scored(attempt) if block.rejected else attempt)
            claim_of_each.append(claim[is_attempt] + low)
    return np.concatenate(values), np.concatenate(claim_of_each)

"""Verification: which attempts are made, what was counted of them, and whether twice."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from bioeval.base.errors import require_choice
from bioeval.counting.collect import CollectAttempts
from bioeval.counting.parts import Parts, parts_of
from bioeval.counting.points import VerificationPoints
from bioeval.counting.reduce import Extent, Reducer, reduce
from bioeval.counting.sorted_attempts import Attempts, PointsWanted
from bioeval.counting.thresholds import (
    DEFAULT_COUNT,
    CellCounts,
    cell_exponent,
    check_thresholds,
    default_grid,
    grid_over,
    joint_exponent,
    require_values,
    to_internal,
    with_infinities,
)
from bioeval.scores.arrays import Templates, parse_fusion, scored
from bioeval.scores.blocks import Block, cells_between
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.matrix import Scores, require_all_scores, require_subjects
from bioeval.scores.people import ComparedPeople, People, knows_people
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import blocks_of, give_back, is_mapped, threads_for

UnenrolledClaims = Literal["raise", "skip"]


@dataclass(frozen=True)
class Use:
    """What a claim is compared with: single templates, or all of the subject, fused."""

    templates: str = "single"
    fusion: str = "min"

    def __post_init__(self) -> None:
        """Refuse other words."""
        require_choice("templates", self.templates, Templates)
        parse_fusion(self.fusion)

    @property
    def fused(self) -> str | None:
        """The fusion rule; None where templates are compared one by one."""
        return self.fusion if self.templates == "multi" else None

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


@dataclass(eq=False)
class Verified:
    """The attempts of verification, and how they were made.

    `given` are the user's thresholds, as distances, or their number; None is a default. `grid` are
    the thresholds of the curve, if they were known before. `points` are found afterwards.
    """

    about: Provenance
    use: Use
    attempts: Attempts
    given: np.ndarray | int | None = None
    grid: np.ndarray | None = None
    claims: str = "all"
    skipped_claims: int = 0
    people: ComparedPeople | None = None  # where they are known
    unenrolled: np.ndarray | None = None  # scores of drawn claims by probes who are not enrolled
    points: VerificationPoints | None = None

    @cached_property
    def curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Thresholds (float64, increasing) of the curve, and the false accepts (int64) there."""
        attempts, thresholds = self.attempts, self.grid
        if self.given is None and attempts.near is not None:
            return _counted_curve(attempts)
        if thresholds is None:
            assert not isinstance(self.given, np.ndarray)
            thresholds = grid_over(*attempts.extent(), number=self.given)
        return thresholds, attempts.false_accepts(thresholds).astype(np.int64)


class Verifying:
    """Verification that is about to be counted.

    Thresholds and claims are as the user gives them; see :func:`bioeval.verification`. `more` are
    further impostor scores, such as those of attacks.
    """

    def __init__(
        self,
        scores: Scores,
        use: Use | None = None,
        *,
        wanted: PointsWanted | None = None,
        thresholds: Any = None,
        claims: Any = None,
        unenrolled_claims: str = "raise",
        more: np.ndarray | None = None,
        about: Provenance | None = None,
    ):
        """Check what is asked for; nothing is counted yet."""
        require_all_scores(scores)
        use = use or Use()
        require_choice("unenrolled_claims", unenrolled_claims, UnenrolledClaims)
        require_values(scores, "verification")
        if use.fused or claims is not None:
            require_subjects(scores, "explicit claims" if claims is not None else "multi-template")
        self.scores, self.use, self.wanted, self.more = scores, use, wanted, more
        self.about = about
        self.claims: Claims | None = None
        self.not_enrolled: Claims | None = None  # claims of probes who are not enrolled, drawn
        self.claims_of, self.skipped = "all" if claims is None else "explicit", 0
        if claims is not None:
            self._take_claims(claims, unenrolled_claims)
        self.given = check_thresholds(thresholds)
        self.grid: np.ndarray | None = None
        if isinstance(self.given, np.ndarray):
            self.given = self.grid = to_internal(self.given, scores.kind)

    def _take_claims(self, claims: Any, unenrolled: str) -> None:
        """Take explicit or drawn claims; of the latter, those of probes not enrolled apart."""
        from bioeval.partition.claims import ClaimSampler, DrawnClaims, parse_claims

        if isinstance(claims, ClaimSampler):
            self.claims_of = f"drawn by {claims!r}"
            claims = claims.draw(self.scores)
        if isinstance(claims, DrawnClaims):
            enrolled = claims.enrolled
            not_enrolled = claims.probe[~enrolled], claims.subject[~enrolled]
            self.not_enrolled = Claims(*parse_claims(self.scores, not_enrolled, "raise")[0])
            claims = claims.probe[enrolled], claims.subject[enrolled]
        listed, self.skipped = parse_claims(self.scores, claims, unenrolled)
        self.claims = Claims(*listed)

    def collecting(self, parts: Parts) -> CollectAttempts | None:
        """Return what counts its attempts; None of listed claims, which are read one by one."""
        if self.claims is not None:
            return None
        if isinstance(self.given, int) and not parts.few:
            (extent,) = reduce(parts, Extent(self.use.fused))
            self.grid = grid_over(*extent, number=self.given)
        thresholds = np.empty(0) if self.grid is None else self.grid
        if self.wanted is not None and self.wanted.rows is not None:
            thresholds = np.union1d(thresholds, self.wanted.rows)
        return CollectAttempts(self.use.fused, self.wanted, thresholds, self.more)

    def result(self, attempts: Attempts | None) -> Verified:
        """Return what was counted; of listed claims, it is read now."""
        unenrolled = None
        if attempts is None:
            assert self.claims is not None
            values, claim = claimed(self.scores, self.use.fused, self.claims)
            group = self.scores.gallery_order.probe_group[self.claims.probe]
            genuine = (group == self.claims.group)[claim]
            attempts = Attempts.with_failures(values[genuine], values[~genuine])
        if self.not_enrolled is not None:
            unenrolled = np.sort(claimed(self.scores, self.use.fused, self.not_enrolled)[0])
        about = self.about or Provenance.of(self.scores)
        return Verified(
            about,
            self.use,
            attempts,
            self.given,
            self.grid,
            self.claims_of,
            self.skipped,
            self._compared(about),
            unenrolled,
        )

    @property
    def _sides(self) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the people who probe, and of those who are claimed."""
        codes = self.scores.codes
        if self.claims is None:
            return codes.probe, codes.gallery
        enrolled = self.scores.gallery_order.subjects
        return codes.probe[self.claims.probe], enrolled[self.claims.group]

    @cached_property
    def people(self) -> People:
        """The people of the attempts, numbered."""
        return People(self.scores.codes, *self._sides)

    def _compared(self, about: Provenance) -> ComparedPeople | None:
        """Return the people who are compared, where they are known."""
        scores = self.scores
        if self.claims is not None:
            return ComparedPeople.listed(scores.codes, *self._sides, disjoint=True)
        if scores.layout != "pairs":
            sides = about.people
            return None if sides is None else ComparedPeople.of_sides(*sides)
        if not knows_people(scores):
            return None
        return ComparedPeople.listed(scores.codes, *self._sides, disjoint=True)


def count(
    scores: Scores, verifying: Sequence[Verifying], *further: Reducer
) -> tuple[list[Verified], list[Any]]:
    """Count verifications, and what other reducers count, in one pass over the scores."""
    if not verifying and not further:
        return [], []
    fusions = {x.fusion for x in further}
    for x in verifying:
        if x.claims is None:
            fusions.add(x.use.fused)
    parts = parts_of(scores, nearest=fusions <= {None, "min"})
    collecting = [x.collecting(parts) for x in verifying]
    reduced = reduce(parts, *filter(None, collecting), *further)
    counted, verified = iter(reduced), []
    for x, reducer in zip(verifying, collecting, strict=True):
        verified.append(x.result(None if reducer is None else next(counted)))
    return verified, [*counted]


def verify(scores: Scores, use: Use | None = None, **options: Any) -> Verified:
    """Count one verification; the options are those of :class:`Verifying`."""
    return count(scores, [Verifying(scores, use, **options)])[0][0]


def claimed(scores: Scores, fusion: str | None, claims: Claims) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of attempts of listed claims, NaN of one that failed, and the claims."""
    values, made = [np.empty(0)], [np.empty(0, dtype=np.int64)]
    with threads_for(scores):
        for block in blocks_of(scores):
            value, claim = gather_claims(block, claims, fusion)
            values.append(scored(value) if block.rejected else value)
            made.append(claim)
    return np.concatenate(values), np.concatenate(made)


def gather_claims(
    block: Block, claims: tuple[np.ndarray, np.ndarray], fusion: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of the claims of the rows of a block, and the claims' numbers.

    Claim ``c`` is made by the probe ``claims[0][c]`` for the group ``claims[1][c]``; each template
    of the group makes one attempt, unless they are fused.
    """
    probes, groups = claims
    low, high = np.searchsorted(probes, [block.number, block.number + len(block.values)])
    claim, position = np.arange(high - low), groups[low:high]
    if fusion is None:
        assert block.columns is not None
        assert block.columns.starts is not None
        starts = block.columns.starts
        claim, position = cells_between(starts[position], starts[position + 1])
    else:
        block = block.by_person(fusion)
    value = block.values[probes[low:high][claim] - block.number, position]
    there = ~np.isnan(value)
    return value[there], claim[there] + low


def curve_thresholds(genuine: np.ndarray, impostor: CellCounts) -> np.ndarray:
    """Return about 1,000 thresholds over both classes, on the edges of cells."""
    finite = genuine[np.isfinite(genuine)].astype(np.float64)
    ranges = [impostor.range]
    exponents = []
    if len(impostor.counts):
        exponents.append(impostor.exponent)
    if len(finite):
        ranges.append((float(finite[0]), float(finite[-1])))
        exponents.append(cell_exponent(*ranges[-1]))
    exponent = joint_exponent(max(exponents, default=0), ranges)
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    negative = impostor.negative_infinite > 0 or bool((genuine == -np.inf).any())
    positive = impostor.positive_infinite > 0 or bool((genuine == np.inf).any())
    return with_infinities(default_grid(low, high, exponent, DEFAULT_COUNT), negative, positive)


def _counted_curve(attempts: Attempts) -> tuple[np.ndarray, np.ndarray]:
    """Return thresholds at which attempts that were counted are known, and false accepts there."""
    assert attempts.near is not None
    thresholds = curve_thresholds(attempts.genuine, attempts.cells)
    at, accepted = attempts.near(thresholds[np.isfinite(thresholds)])
    if (thresholds == -np.inf).any():
        at = np.append(-np.inf, at)
        accepted = np.append(attempts.cells.negative_infinite, accepted)
    if (thresholds == np.inf).any():
        at, accepted = np.append(at, np.inf), np.append(accepted, attempts.impostors)
    return at, accepted.astype(np.int64)


# ----------------------------------------------------------------------------------------- symmetry

# Templates whose comparisons with each other say whether a square matrix is symmetric: few, since
# of a stored matrix their rows are read.
SYMMETRY_SAMPLE = 64

# Pairs of a list that are looked at together.
_PAIRS_AT_ONCE = 1 << 20


def is_symmetric(scores: Scores) -> bool:
    """Whether a square matrix seems symmetric, judged by sampled templates.

    So is a list whose impostor pairs have the same scores both ways, subject by subject. Only the
    rules of support use it: in a symmetric matrix each pair of templates is counted twice, so that
    half as many attempts are of their own.
    """
    n = scores.shape[0]
    if scores.layout == "pairs":
        return knows_people(scores) and _listed_both_ways(scores)
    if n < 2:
        return False
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    # Of a stored matrix, templates whose rows are in one chunk.
    cells = scores.cells
    sample = sample_of(min(n, max(cells.row_chunk, SYMMETRY_SAMPLE)) if cells.is_stored else n)
    if scores.exclude or cells.mask is not None:
        left_out = left_out_rows(scores.select(probes=sample, gallery=sample), 0, len(sample))
        if left_out is not None and (left_out != left_out.T).any():
            return False  # each pair once, or so
    source = cells.embeddings
    if source is not None:
        return not callable(source.metric)  # the named metrics are symmetric
    some = cells.select(sample, sample)
    rows, step = [], 1 if is_mapped(scores) else len(sample)
    for k in range(0, len(sample), step):
        rows.append(some.read(k, k + step))
        give_back(scores)
    values = np.concatenate(rows)
    return np.array_equal(values, values.T, equal_nan=True)


def _listed_both_ways(scores: Scores) -> bool:
    """Return whether the impostor pairs of each two subjects have the same scores both ways."""
    codes, people = scores.codes, np.uint64(len(scores.codes.values))
    sums = np.zeros(2, dtype=np.uint64)  # of keys of pairs, in either direction: in any order
    for low in range(0, len(codes.probe), _PAIRS_AT_ONCE):
        some = slice(low, low + _PAIRS_AT_ONCE)
        a, b = codes.probe[some].astype(np.uint64), codes.gallery[some].astype(np.uint64)
        value = np.asarray(scores.values[some], dtype=np.float64) + 0.0
        bits = np.where(np.isnan(value), np.nan, value).view(np.uint64)
        key = _mixed(_mixed(np.minimum(a, b) * people + np.maximum(a, b)) ^ bits)
        sums += [key[a < b].sum(dtype=np.uint64), key[a > b].sum(dtype=np.uint64)]
    return bool(sums[0] == sums[1] and sums[0])


def _mixed(x: np.ndarray) -> np.ndarray:
    """Return numbers whose bits all depend on all bits: the finaliser of SplitMix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@functools.lru_cache
def sample_of(n: int) -> np.ndarray:
    """Return a few increasing numbers below `n`."""
    sample = np.random.default_rng(0).choice(n, min(n, SYMMETRY_SAMPLE), replace=False)
    return np.sort(sample)

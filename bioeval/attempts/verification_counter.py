"""Verification: from blocks of scores to genuine and impostor attempts."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from bioeval.attempts.counters import gather_claims
from bioeval.attempts.counting import Counter
from bioeval.attempts.counts import ListedPeople, VerificationTally
from bioeval.attempts.lists import Attempts
from bioeval.attempts.thresholds import check_thresholds, require_values, to_internal
from bioeval.base.errors import require_choice
from bioeval.base.progress import report
from bioeval.scores.arrays import Mask, Templates, parse_fusion, scored
from bioeval.scores.blocks import Block, BlockReader, require_subjects
from bioeval.scores.matrix import are_pairs

UnenrolledClaims = Literal["raise", "skip"]


@dataclass(frozen=True)
class Claim:
    """What a claim is compared with, checked: single templates, or all of the subject, fused."""

    templates: str
    fusion: str

    def __post_init__(self) -> None:
        """Refuse other words."""
        require_choice("templates", self.templates, Templates)
        parse_fusion(self.fusion)

    @property
    def fused(self) -> str | None:
        """The fusion rule; None where templates are compared one by one."""
        return self.fusion if self.templates == "multi" else None

    @property
    def rule(self) -> tuple[str, int]:
        """The method and the order of the fusion: of ``"kth:2"`` they are ``("kth", 2)``."""
        return parse_fusion(self.fusion)

    @property
    def attrs(self) -> dict[str, str]:
        """The attributes of results."""
        return {"templates": self.templates, "fusion": self.fused or "none"}


class VerificationCounter(Counter[VerificationTally]):
    """The genuine and impostor attempts of verification.

    With ``templates="single"`` each template makes an attempt, with ``"multi"`` each subject by its
    fused score. Thresholds and claims are as the user gives them; see :func:`bioeval.verification`.
    """

    def __init__(
        self,
        reader: BlockReader,
        *,
        templates: str = "single",
        fusion: str = "min",
        thresholds: Any = None,
        claims: Any = None,
        unenrolled_claims: str = "raise",
    ):
        """Check the claims; nothing is counted yet."""
        Claim(templates, fusion)
        require_choice("unenrolled_claims", unenrolled_claims, UnenrolledClaims)
        scores = reader.scores
        require_values(scores, "verification")
        if templates == "multi" or claims is not None:
            require_subjects(scores, "explicit claims" if claims is not None else "multi-template")
        self.scores, self.templates, self.fusion = scores, templates, fusion
        self.reader = reader
        self.claims: tuple[np.ndarray, np.ndarray] | None = None
        self.unenrolled_probes: tuple[np.ndarray, np.ndarray] | None = None
        self.claims_of = "all" if claims is None else "explicit"
        self.skipped = 0
        if claims is not None:
            self._take_claims(claims, unenrolled_claims)
        self.unenrolled: list[np.ndarray] = []
        #: Further impostor scores, such as those of attacks; NaN is one that failed.
        self.more_impostors = np.empty(0)
        self.listed: list[tuple[np.ndarray, np.ndarray]] = []
        self.attempts: Attempts | None = None
        #: Thresholds of the user, as distances: increasing, or their number; None for a default.
        self.given = check_thresholds(thresholds)
        if isinstance(self.given, np.ndarray):
            self.given = to_internal(self.given, scores.kind)
        #: Thresholds of the curve and false accepts there, of attempts that are counted.
        self.curve: tuple[np.ndarray, np.ndarray] | None = None

    def _take_claims(self, claims: Any, unenrolled: str) -> None:
        """Take explicit or drawn claims; of the latter, those of probes not enrolled apart."""
        from bioeval.partition.claims import ClaimSampler, DrawnClaims, parse_claims

        if isinstance(claims, ClaimSampler):
            self.claims_of = f"drawn by {claims!r}"
            claims = claims.draw(self.scores)
        if isinstance(claims, DrawnClaims):
            enrolled = claims.enrolled
            not_enrolled = claims.probe[~enrolled], claims.subject[~enrolled]
            self.unenrolled_probes, _ = parse_claims(self.reader, not_enrolled, "raise")
            claims = claims.probe[enrolled], claims.subject[enrolled]
        self.claims, self.skipped = parse_claims(self.reader, claims, unenrolled)

    @property
    def fuses(self) -> bool:
        """Whether the templates of a subject are fused."""
        return self.templates == "multi"

    @property
    def of_tiles(self) -> bool:
        """Whether its attempts are those of tiles: all claims, by the nearest template at most."""
        nearest = not self.fuses or self.fusion == "min"
        plain = nearest and self.claims is None and self.scores._labelled
        return plain and not len(self.more_impostors)

    def fresh(self) -> Self:
        """Return the same counter before it has counted anything."""
        counter = copy(self)
        counter.unenrolled, counter.listed = [], []
        counter.attempts = counter.curve = None
        return counter

    # -- what is an attempt

    def of_pairs(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the genuine and the impostor scores of fixed trials, in pieces."""
        scores = self.scores
        assert are_pairs(scores)
        done = 0
        for values, genuine in scores._pieces():
            if scores.nan == "raise" and np.isnan(values).any():
                scores._distances()  # raises, with their number
            row = scores._distances(values)
            mates, others = row[genuine], row[~genuine]
            yield mates[mates == mates], others[others == others]
            done += len(values)
            report(done, scores.shape[0])

    def of_block(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return the genuine scores of a block of rows, and all impostor scores.

        The latter have NaN where there is no attempt; of a matrix they are in its rows.
        """
        if not self.scores._labelled:
            assert block.mask is not None
            genuine = block.values[block.mask == Mask.GENUINE]
            return genuine[genuine == genuine], np.where(
                block.mask == Mask.IMPOSTOR, block.values, block.values.dtype.type(np.nan)
            )
        if self.templates == "multi":
            block = block.fused(self.fusion)
        if self.claims is not None:
            value, claim = gather_claims(block, self.claims)
            probes, groups = self.claims
            same_person = block.probe_group[probes[claim] - block.low] == groups[claim]
            return value[same_person], value[~same_person]
        return block.genuine(), block.impostors()

    def of_strangers(self, block: Block) -> np.ndarray:
        """Return the scores of drawn claims by probes not enrolled, NaN for one that failed."""
        assert self.unenrolled_probes is not None
        if self.templates == "multi":
            block = block.fused(self.fusion)
        scores = gather_claims(block, self.unenrolled_probes)[0]
        return scored(scores) if block.rejected else scores

    def parts(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the genuine and the impostor scores in parts; of the latter NaN is none."""
        if are_pairs(self.scores):
            yield from self.of_pairs()
            return
        for block in self.reader:
            yield self.of_block(block)

    def impostors(self) -> Iterator[np.ndarray]:
        """Yield the impostor scores in parts; NaN is none, and what failed."""
        for _, impostors in self.parts():
            yield scored(impostors) if self.scores.nan == "reject" else impostors

    # -- listing

    def add(self, block: Block) -> None:
        """List the attempts of a block of rows."""
        self.listed.append(self.of_block(block))
        if self.unenrolled_probes is not None:
            self.unenrolled.append(self.of_strangers(block))

    def result(self) -> VerificationTally:
        """Return the tally."""
        attempts = self.attempts
        if attempts is None:
            genuine = [np.empty(0, dtype=np.float16), *(x for x, _ in self.listed)]
            impostor = [np.empty(0, dtype=np.float16), *(x[x == x] for _, x in self.listed)]
            if self.scores.nan == "reject":
                genuine, impostor = [*map(scored, genuine)], [*map(scored, impostor)]
            if len(self.more_impostors):
                impostor.append(self.more_impostors)
            self.listed = []
            attempts = Attempts.with_failures(np.concatenate(genuine), np.concatenate(impostor))
        return VerificationTally(
            about=self.reader.about,
            templates=self.templates,
            fusion=self.fusion if self.templates == "multi" else "none",
            claims=self.claims_of,
            attempts=attempts,
            grid=self.given,
            counted_curve=self.curve,
            skipped_claims=self.skipped,
            people=self._people(),
            unenrolled=None if self.unenrolled_probes is None else _increasing(self.unenrolled),
        )

    def _people(self) -> ListedPeople | None:
        """Return the subjects of pairs or claims; None if unknown."""
        if are_pairs(self.scores):
            if not self.scores._knows_subjects:
                return None
            codes = self.scores._pair_codes
            probe_person, claimed_person = codes.probe, codes.gallery
        elif self.claims is not None:
            codes, (probes, groups) = self.scores._codes, self.claims
            probe_person = codes.probe[probes]
            claimed_person = self.reader.gallery.subjects[groups]
        else:
            return None
        from bioeval.scores.disjoint import disjoint_among, distinct_pairs

        number, codes_in_use = len(codes.people(probe_person, claimed_person)), len(codes.values)
        people = ~(codes.no_person[probe_person] | codes.no_person[claimed_person])
        pairs = distinct_pairs(probe_person[people], claimed_person[people], codes_in_use)
        disjoint = disjoint_among(pairs[0], pairs[1], codes_in_use)
        return ListedPeople(number, pairs.shape[1], disjoint)


def _increasing(parts: list[np.ndarray]) -> np.ndarray:
    return np.sort(np.concatenate(parts or [np.empty(0)]))

"""Verification: from blocks of scores to genuine and impostor attempts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from bioeval.attempts.counters import (
    CellCounter,
    ImpostorBlock,
    ThresholdCounter,
    extent_among,
    gather,
    gather_claims,
    grid_over_attempts,
    impostor_scores,
)
from bioeval.attempts.counting import AttemptCounter, KernelCounters
from bioeval.attempts.counts import ListedPeople, VerificationTally
from bioeval.attempts.thresholds import check_thresholds, grid_over, require_values, to_internal
from bioeval.base.errors import require_choice
from bioeval.base.progress import report
from bioeval.scores.arrays import Mask, Templates, parse_fusion
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


class VerificationCounter(AttemptCounter[VerificationTally]):
    """Counts the genuine and impostor attempts of verification.

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
        self.genuine: list[np.ndarray] = []
        self.cells = CellCounter()
        self.threshold_counter: ThresholdCounter | None = None
        thresholds = check_thresholds(thresholds)
        if isinstance(thresholds, int):
            self.threshold_counter = ThresholdCounter(self._linear_grid(reader, thresholds))
        elif thresholds is not None:
            self.threshold_counter = ThresholdCounter(to_internal(thresholds, scores.kind))

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
    def farthest(self) -> bool:  # type: ignore[override]
        """Whether the templates of a subject are fused by the farthest."""
        return self.fuses and self.fusion == "max"

    @property
    def counts_selections(self) -> bool:
        """Whether all attempts are made, each scored by the nearest template at most."""
        nearest = not self.fuses or self.fusion == "min"
        return nearest and self.claims is None

    def fresh(self) -> Self:
        """Return the same counter before it has counted anything."""
        counter = copy(self)
        counter.genuine, counter.unenrolled, counter.cells = [], [], CellCounter()
        if self.threshold_counter is not None:
            counter.threshold_counter = copy(self.threshold_counter)
            counter.threshold_counter.counts = np.zeros_like(self.threshold_counter.counts)
        return counter

    def join_kernel(self, kernel: KernelCounters) -> bool:
        """Join the counters of verification; not with claims, nor by other rules of fusion."""
        if self.claims is not None or (self.fuses and self.fusion not in ("min", "max")):
            return False
        kernel.attempts.append(self)
        return True

    def _linear_grid(self, reader: BlockReader, number: int) -> np.ndarray:
        """Return evenly spaced thresholds over the range of all attempts, found in a pass."""
        if are_pairs(self.scores):
            every = itertools.chain.from_iterable(_rows_of(*x) for x in self.of_pairs())
            return grid_over(*extent_among(every), number=number)
        return grid_over_attempts(reader, self._rows_of_block, number)

    def _rows_of_block(self, block: Block) -> list[ImpostorBlock]:
        return _rows_of(*self.of_block(block))

    # -- what is an attempt

    def attempts(self, blocks: Iterable[Block]) -> Iterator[tuple[np.ndarray, list[ImpostorBlock]]]:
        """Yield the genuine and the impostor scores of blocks, or of listed pairs."""
        if are_pairs(self.scores):
            yield from self.of_pairs()
            return
        for block in blocks:
            yield self.of_block(block)

    def of_pairs(self) -> Iterator[tuple[np.ndarray, list[ImpostorBlock]]]:
        """Yield the attempts of fixed trials, in pieces."""
        scores = self.scores
        assert are_pairs(scores)
        done = 0
        for values, genuine in scores._pieces():
            if scores.nan == "raise" and np.isnan(values).any():
                scores._distances()  # raises, with their number
            row = scores._distances(values)
            yield _listed(row[genuine], row[~genuine])
            done += len(values)
            report(done, scores.shape[0])

    def of_block(self, block: Block) -> tuple[np.ndarray, list[ImpostorBlock]]:
        """Return the attempts of a block of rows."""
        if not self.scores._labelled:
            assert block.mask is not None
            return _listed(
                block.values[block.mask == Mask.GENUINE], block.values[block.mask == Mask.IMPOSTOR]
            )
        if self.templates == "multi":
            block = block.fused(self.fusion)
        if self.claims is not None:
            value, claim = gather_claims(block, self.claims)
            probes, groups = self.claims
            same_person = block.probe_group[probes[claim] - block.low] == groups[claim]
            return _listed(value[same_person], value[~same_person])
        genuine = gather(block.values, block.mate_start, block.mate_stop, block.probe_position)[0]
        return genuine, [ImpostorBlock(block.values, block.mate_start, block.mate_stop)]

    # -- counting

    def add(self, block: Block) -> None:
        """Count the attempts of a block of rows."""
        self._count(*self.of_block(block))
        if self.unenrolled_probes is not None:
            self.unenrolled.append(self.of_strangers(block))

    def of_strangers(self, block: Block) -> np.ndarray:
        """Return the scores of drawn claims by probes not enrolled, without NaN."""
        assert self.unenrolled_probes is not None
        if self.templates == "multi":
            block = block.fused(self.fusion)
        scores = gather_claims(block, self.unenrolled_probes)[0]
        return scores[scores == scores]

    def add_pairs(self) -> None:
        """Count fixed trials."""
        for attempts in self.of_pairs():
            self._count(*attempts)

    def _count(self, genuine: np.ndarray, impostors: list[ImpostorBlock]) -> None:
        self.genuine.append(genuine)
        for block in impostors:
            self.cells.add(block)
            if self.threshold_counter is not None:
                self.threshold_counter.add(block)

    def result(self) -> VerificationTally:
        """Return the tally."""
        return VerificationTally(
            about=self.reader.about,
            templates=self.templates,
            fusion=self.fusion if self.templates == "multi" else "none",
            claims=self.claims_of,
            genuine=_increasing(self.genuine),
            impostor=self.cells.cells,
            given=None if self.threshold_counter is None else self.threshold_counter.result(),
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
            probe_person, claimed_person, number = codes.probe, codes.gallery, len(codes.values)
            people = number
        elif self.claims is not None:
            probes, groups = self.claims
            probe_person = self.scores._codes.probe[probes]
            claimed_person = self.reader.gallery.subjects[groups]
            both = np.unique(np.concatenate([probe_person, claimed_person]))
            number, people = len(both), int(both.max(initial=-1)) + 1
        else:
            return None
        from bioeval.scores.disjoint import disjoint_among, distinct_pairs

        pairs = distinct_pairs(probe_person, claimed_person, people)
        disjoint = disjoint_among(pairs[0], pairs[1], people)
        return ListedPeople(number, pairs.shape[1], disjoint)

    def impostors(self, block: Block) -> list[ImpostorBlock]:
        """Return the impostor scores of a block again, for refinement."""
        if self.claims is None and self.templates == "multi" and self.fusion == "min":
            return [ImpostorBlock(*block.nearest())]
        if self.claims is None and self.templates == "single" and self.scores._labelled:
            return [ImpostorBlock(block.values, block.mate_start, block.mate_stop)]
        return self.of_block(block)[1]

    def impostors_again(self) -> Iterator[ImpostorBlock]:
        """Yield the impostor scores again, in a separate pass."""
        if are_pairs(self.scores):
            for _, impostors in self.of_pairs():
                yield from impostors
            return
        for block in self.reader:
            yield from self.impostors(block)

    def impostor_scores(self) -> np.ndarray:
        """Return all impostor scores, listed in a separate pass."""
        return np.concatenate([np.empty(0), *map(impostor_scores, self.impostors_again())])


def _rows_of(genuine: np.ndarray, impostors: list[ImpostorBlock]) -> list[ImpostorBlock]:
    """Return attempts of both classes as rows."""
    return [*impostors, ImpostorBlock.of_listed(genuine)]


def _increasing(parts: list[np.ndarray]) -> np.ndarray:
    return np.sort(np.concatenate(parts or [np.empty(0)]))


def _listed(genuine: np.ndarray, impostor: np.ndarray) -> tuple[np.ndarray, list[ImpostorBlock]]:
    """Return listed scores as attempts without NaN, impostor scores as one row."""
    genuine = genuine[genuine == genuine]
    if not len(impostor):
        return genuine, []
    return genuine, [ImpostorBlock.of_listed(np.ascontiguousarray(impostor))]

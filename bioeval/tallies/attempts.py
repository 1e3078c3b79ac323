"""From scores to tallies: what is an attempt, and of which class.

Each job takes the blocks of one sweep and counts its own attempts; :func:`run_blocks` runs any
number of jobs over the same sweep, and :mod:`bioeval.tallies.sweep` does it faster where it can.
The classes of attempts are defined in ``docs/definitions.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numba
import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError, require_choice
from bioeval.kernels import count as kernel_count
from bioeval.kernels import ranks as kernel_ranks
from bioeval.scores.arrays import GENUINE, IMPOSTOR
from bioeval.scores.blocks import Block, BlockReader, Progress, as_row, require_subjects
from bioeval.scores.labels import as_labels, plain
from bioeval.scores.matrix import PairScores, Scores
from bioeval.scores.template_fusion import parse_fusion
from bioeval.tallies.counts import (
    CellCounts,
    IdentificationTally,
    ThresholdCounts,
    VerificationTally,
)
from bioeval.tallies.thresholds import (
    cell_exponent,
    cell_of,
    check_thresholds,
    linear_grid,
    to_internal,
    with_infinities,
)

# Impostor scores: a block of values, and where each row's own subject starts and stops.
ImpostorBlock = tuple[np.ndarray, np.ndarray, np.ndarray]

RANK_UNITS = ("template", "subject")
TEMPLATES = ("single", "multi")
UNENROLLED_CLAIMS = ("raise", "skip")

# Places of the guide into thresholds: at least this many, and about four a threshold.
LEAST_GUIDE, LARGEST_GUIDE = 1 << 12, 1 << 20

# Cells compared to tell whether a square matrix is symmetric, for the rules of support.
SYMMETRY_SAMPLE = 2048


def run_blocks(
    scores: Scores, reader: BlockReader, jobs: Sequence[Any], progress: Progress | None = None
) -> list[Any]:
    """Run jobs over the blocks of one sweep and return their tallies, in order."""
    if isinstance(scores, PairScores):
        for job in jobs:
            job.add_pairs()
    else:
        for block in reader.blocks(progress):
            for job in jobs:
                job.add(block)
    return [job.result() for job in jobs]


# ------------------------------------------------------------------------- impostor counts


def _tables(width: int) -> np.ndarray:
    return np.zeros((numba.get_num_threads(), width), dtype=np.int64)


class CellCounter:
    """Counts scores into cells that widen as the range of the scores is seen."""

    def __init__(self) -> None:
        self.cells = CellCounts()

    def add(self, values: np.ndarray, own_start: np.ndarray, own_stop: np.ndarray) -> None:
        """Count the finite and infinite scores of a block, the rows' own subjects left out."""
        low, high = _finite_range(values, own_start, own_stop)
        infinite = _tables(2)
        exponent = first = width = 0
        if low <= high:
            exponent = cell_exponent(low, high)
            first = cell_of(low, exponent)
            width = cell_of(high, exponent) - first + 1
        tables = _tables(width)
        kernel_count.count_cells(
            values, own_start, own_stop, 2.0**exponent, 2.0**-exponent, first, tables, infinite
        )
        counts, (negative, positive) = tables.sum(axis=0), infinite.sum(axis=0)
        self.include(CellCounts(exponent, first, counts, int(negative), int(positive)))

    def include(self, counted: CellCounts) -> None:
        """Add what was counted elsewhere."""
        self.cells = self.cells.merge(counted)

    def result(self) -> CellCounts:
        """Return the counts."""
        return self.cells


def _finite_range(
    values: np.ndarray, own_start: np.ndarray, own_stop: np.ndarray
) -> tuple[float, float]:
    """Return the smallest and the largest finite score; (inf, -inf) if there is none."""
    if not values.size:
        return np.inf, -np.inf
    lows, highs = np.empty(len(values)), np.empty(len(values))
    kernel_count.finite_range(values, own_start, own_stop, lows, highs)
    return float(lows.min()), float(highs.max())


class ThresholdCounter:
    """Counts scores between given thresholds (internal, increasing)."""

    def __init__(self, thresholds: np.ndarray):
        self.thresholds = thresholds
        self.counts = np.zeros(len(thresholds) + 1, dtype=np.int64)
        self.base, self.scale, self.guide = guide_to(thresholds)

    def add(self, values: np.ndarray, own_start: np.ndarray, own_stop: np.ndarray) -> None:
        """Count the scores of a block, the rows' own subjects left out."""
        tables = _tables(len(self.counts))
        kernel_count.count_thresholds(
            values, own_start, own_stop, self.thresholds, self.base, self.scale, self.guide, tables
        )
        self.counts += tables.sum(axis=0)

    def result(self) -> ThresholdCounts:
        """Return the counts."""
        return ThresholdCounts(self.thresholds, self.counts)


def guide_to(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return base, scale and first threshold of each place; see ``count_thresholds``."""
    places = min(LARGEST_GUIDE, max(LEAST_GUIDE, 1 << (4 * len(thresholds)).bit_length()))
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = float(np.float64(places - 1) / (finite[-1] - base)) if len(finite) > 1 else 1.0
        place = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale, place = 0.0, np.zeros(len(thresholds))
    place = np.where(place > 0, np.minimum(place, places - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(place, np.arange(places + 1))


# ------------------------------------------------------------------------- verification


class VerificationJob:
    """Counts the genuine and impostor attempts of verification.

    Parameters
    ----------
    scores : Scores
    templates : {"single", "multi"}
        Whether each template, or each subject by its fused score, makes an attempt.
    fusion : str
        How a subject's templates are fused; without meaning for ``"single"``.
    thresholds : None, int or array
        As the user gives them.
    claims : optional
        Explicit claims; see :func:`bioeval.verification`.
    """

    def __init__(
        self,
        scores: Scores,
        reader: BlockReader,
        *,
        templates: str = "single",
        fusion: str = "min",
        thresholds: Any = None,
        claims: Any = None,
        unenrolled_claims: str = "raise",
    ):
        require_choice("templates", templates, TEMPLATES)
        require_choice("unenrolled_claims", unenrolled_claims, UNENROLLED_CLAIMS)
        parse_fusion(fusion)
        require_values(scores, "verification")
        if templates == "multi" or claims is not None:
            require_subjects(scores, "explicit claims" if claims is not None else "multi-template")
        self.scores, self.templates, self.fusion = scores, templates, fusion
        self.about = reader.about
        self.claims = None
        self.skipped = 0
        if claims is not None:
            self.claims, self.skipped = parse_claims(scores, reader, claims, unenrolled_claims)
        self.genuine: list[np.ndarray] = []
        self.cells = CellCounter()
        self.given: ThresholdCounter | None = None
        self.requested: int | None = None
        thresholds = check_thresholds(thresholds)
        if isinstance(thresholds, int):
            self.requested = thresholds
            self.given = ThresholdCounter(self._linear_grid(reader, thresholds))
        elif thresholds is not None:
            self.given = ThresholdCounter(to_internal(thresholds, scores.kind))

    def _linear_grid(self, reader: BlockReader, number: int) -> np.ndarray:
        """Find the range of all attempts in a sweep of its own."""
        low, high = np.inf, -np.inf
        infinite = set()
        none = np.zeros(1, dtype=np.int64)
        for genuine, impostors in self.attempts(reader):
            infinite |= {x for x in (-np.inf, np.inf) if (genuine == x).any()}
            for block in [*impostors, (genuine[None], none, none)]:
                least, most = _finite_range(*block)
                low, high = min(low, least), max(high, most)
            if not {-np.inf, np.inf} <= infinite:
                counter = CellCounter()
                for block in impostors:
                    counter.add(*block)
                counted = counter.result()
                if counted.negative_infinite:
                    infinite.add(-np.inf)
                if counted.positive_infinite:
                    infinite.add(np.inf)
        return with_infinities(
            linear_grid(low, high, number), -np.inf in infinite, np.inf in infinite
        )

    # -- what is an attempt

    def attempts(self, reader: BlockReader) -> Iterator[tuple[np.ndarray, list[ImpostorBlock]]]:
        """Yield the genuine scores and the blocks of impostor scores of a sweep of its own."""
        if isinstance(self.scores, PairScores):
            yield self.of_pairs()
            return
        for block in reader:
            yield self.of_block(block)

    def of_pairs(self) -> tuple[np.ndarray, list[ImpostorBlock]]:
        """Return the attempts of fixed trials."""
        scores = self.scores
        assert isinstance(scores, PairScores)
        row = as_row(scores.values, scores.kind, scores.nan)[0]
        return _listed(row[scores.genuine], row[~scores.genuine])

    def of_block(self, block: Block) -> tuple[np.ndarray, list[ImpostorBlock]]:
        """Return the attempts of a block of rows."""
        if not self.scores.labelled:
            assert block.mask is not None
            return _listed(
                block.values[block.mask == GENUINE], block.values[block.mask == IMPOSTOR]
            )
        if self.templates == "multi":
            block = block.fused(self.fusion)
        if self.claims is not None:
            return _listed(*self._claimed(block))
        out = np.empty(int((block.own_stop - block.own_start).sum()), dtype=block.values.dtype)
        filled = kernel_count.gather_own(
            block.values, block.own_start, block.own_stop, block.self_position, out
        )
        return out[:filled], [(block.values, block.own_start, block.own_stop)]

    def _claimed(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        assert self.claims is not None
        probes, groups = self.claims
        low, high = np.searchsorted(probes, [block.low, block.low + len(block.values)])
        rows, groups = probes[low:high] - block.low, groups[low:high]
        number = int(np.diff(block.starts)[groups].sum())
        genuine = np.empty(number, block.values.dtype)
        impostor = np.empty(number, block.values.dtype)
        g, i = kernel_count.gather_claims(
            block.values, block.starts, block.self_position, rows, groups, block.own,
            genuine, impostor,
        )  # fmt: skip
        return genuine[:g], impostor[:i]

    # -- counting

    def add(self, block: Block) -> None:
        """Count the attempts of a block of rows."""
        self._count(*self.of_block(block))

    def add_pairs(self) -> None:
        """Count fixed trials."""
        self._count(*self.of_pairs())

    def _count(self, genuine: np.ndarray, impostors: list[ImpostorBlock]) -> None:
        self.genuine.append(genuine)
        for block in impostors:
            self.cells.add(*block)
            if self.given is not None:
                self.given.add(*block)

    def result(self) -> VerificationTally:
        """Return the tally."""
        genuine = np.concatenate(self.genuine) if self.genuine else np.empty(0)
        return VerificationTally(
            about=self.about,
            templates=self.templates,
            fusion=self.fusion if self.templates == "multi" else "none",
            claims="all" if self.claims is None else "explicit",
            genuine=np.sort(genuine),
            impostor=self.cells.result(),
            given=None if self.given is None else self.given.result(),
            skipped_claims=self.skipped,
            requested=self.requested,
        )

    def impostors(self, block: Block) -> list[ImpostorBlock]:
        """Return the impostor scores of a block again, for refinement."""
        if self.templates == "multi" and self.fusion == "min" and self.claims is None:
            return [block.nearest()]
        return self.of_block(block)[1]

    def sweep(self, reader: BlockReader) -> Iterator[ImpostorBlock]:
        """Yield the impostor scores again, in a sweep of their own."""
        if isinstance(self.scores, PairScores):
            yield from self.of_pairs()[1]
            return
        for block in reader:
            yield from self.impostors(block)


def _listed(genuine: np.ndarray, impostor: np.ndarray) -> tuple[np.ndarray, list[ImpostorBlock]]:
    """Return listed scores as attempts: NaN left out, the impostor scores one row."""
    genuine = genuine[genuine == genuine]
    if not len(impostor):
        return genuine, []
    none = np.zeros(1, dtype=np.int64)
    return genuine, [(np.ascontiguousarray(impostor)[None], none, none)]


def is_symmetric(scores: Scores) -> bool:
    """Say whether a square matrix seems symmetric: the same both ways at sampled cells.

    Only the rules of support use it: in a symmetric matrix each pair of templates is counted
    twice, so that half as many attempts are of their own.
    """
    n = scores.shape[0]
    if isinstance(scores, PairScores) or n < 2:
        return False
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    rng = np.random.default_rng(0)
    i = rng.integers(0, n, SYMMETRY_SAMPLE)
    j = (i + rng.integers(1, n, SYMMETRY_SAMPLE)) % n
    mask = scores.mask
    if mask is not None and (mask[i, j] != mask[j, i]).any():
        return False  # each pair once, or so
    return scores.same_both_ways(i, j)


def parse_claims(
    scores: Scores, reader: BlockReader, claims: Any, unenrolled: str
) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """Return explicit claims as (probe, group) sorted by probe, and the number left out."""
    m = scores.shape[0]
    if isinstance(claims, tuple) and len(claims) == 2 and not isinstance(claims[0], (str, bytes)):
        probes, subjects = claims
        if m == 2 and np.ndim(probes) == 0:
            probes, subjects = np.arange(m), claims
    else:
        probes, subjects = np.arange(m), claims
    probes = np.asarray(probes)
    if probes.ndim != 1 or probes.dtype.kind not in "iu":
        raise DataError(
            "claims: the probe indices are not whole numbers; expected one claimed subject for "
            "each probe, or a pair (probe_index, subjects)"
        )
    labels = as_labels(subjects, "claims")
    if len(labels) != len(probes):
        raise DataError(
            f"claims has {len(labels)} subjects for {len(probes)} probes; expected one a probe"
        )
    wrong = (probes < 0) | (probes >= m)
    if wrong.any():
        raise DataError(
            f"claims name {int(wrong.sum())} probes outside 0..{m - 1}, the first is "
            f"{int(probes[np.argmax(wrong)])}"
        )
    groups = reader.gallery.group_of(scores.codes.codes_of(labels))
    missing = groups < 0
    if missing.any() and unenrolled == "raise":
        i = int(np.argmax(missing))
        raise DataError(
            f"{int(missing.sum())} claims are of subjects that are not enrolled, the first is "
            f"claim {i}: probe {int(probes[i])} claims {plain(labels[i])!r}."
            f"{scores.codes.nearest(labels[i])} {Argument('unenrolled_claims', 'skip')} leaves "
            "them out and counts them"
        )
    probes, groups = probes[~missing], groups[~missing]
    order = np.argsort(probes, kind="stable")
    return (probes[order].astype(np.int64), groups[order]), int(missing.sum())


def require_values(scores: Scores, task: str) -> None:
    """Raise :class:`ProtocolError` where thresholds across rows mean nothing."""
    if scores.kind == "order":
        raise ProtocolError(
            f"{task} compares scores of different rows with one threshold, but these scores hold "
            f"only the order within each row ({Argument('kind', 'order')}); closed_set and ranks "
            "can use them"
        )


# ------------------------------------------------------------------------- identification


class IdentificationJob:
    """Finds, for each probe, the facts that open- and closed-set identification follow from."""

    NAMES = (
        "mate", "closer", "tied", "tied_before", "mates_tied", "mates", "other", "others",
    )  # fmt: skip

    def __init__(
        self,
        scores: Scores,
        reader: BlockReader,
        *,
        rank_unit: str = "template",
        fusion: str = "min",
    ):
        require_choice("rank_unit", rank_unit, RANK_UNITS)
        parse_fusion(fusion)
        if rank_unit == "subject":
            require_subjects(scores, "a rank among subjects")
        elif isinstance(scores, PairScores):
            require_subjects(scores, "identification")
        elif not scores.derives_subjects:
            raise ProtocolError(
                "the mask gives no consistent subjects: two templates that genuine cells connect "
                "also meet in an impostor cell. Identification needs labels"
            )
        self.scores, self.reader, self.about = scores, reader, reader.about
        self.rank_unit, self.fusion = rank_unit, fusion
        m = scores.shape[0]
        self.facts = {
            name: np.zeros(m, dtype=float if name in ("mate", "other") else np.int64)
            for name in self.NAMES
        }

        # Fused by the minimum, the nearest subject stands at its nearest template; by any other
        # rule the nearest templates are found apart.
        self.templates_apart = rank_unit == "subject" and fusion != "min"
        self.nearest = (
            (np.zeros(m), np.zeros(m))
            if self.templates_apart
            else (self.facts["mate"], self.facts["other"])
        )

    def add(self, block: Block) -> None:
        """Find the facts of a block of rows."""
        rows = slice(block.low, block.low + len(block.values))
        if self.templates_apart:
            spare = {name: np.zeros_like(self.facts[name][rows]) for name in self.NAMES}
            spare["mate"], spare["other"] = self.nearest[0][rows], self.nearest[1][rows]
            self._find(block, spare)
        if self.rank_unit == "subject":
            block = block.fused(self.fusion)
        self._find(block, {name: self.facts[name][rows] for name in self.NAMES})

    def _find(self, block: Block, facts: dict[str, np.ndarray]) -> None:
        kernel_ranks.rank_facts(
            block.values, block.columns, block.own_start, block.own_stop, block.self_position,
            *(facts[name] for name in self.NAMES),
        )  # fmt: skip

    def result(self) -> IdentificationTally:
        """Return the tally."""
        return IdentificationTally(
            about=self.about,
            rank_unit=self.rank_unit,
            fusion=self.fusion if self.rank_unit == "subject" else "none",
            enrolled=self.reader.gallery.own >= 0,
            nearest_mate=self.nearest[0],
            nearest_other=self.nearest[1],
            **self.facts,
        )

"""From scores to tallies: what is an attempt, and of which class.

Each job takes the blocks of one sweep and counts its own attempts; :func:`count` runs any number
of jobs over the same sweep. What the classes are is said in ``docs/definitions.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numba
import numpy as np

from bioeval.blocks import Block, BlockReader, Progress, as_row, parse_fusion, require_subjects
from bioeval.errors import DataError, ProtocolError, require_choice
from bioeval.kernels import count as kernel_count
from bioeval.kernels import ranks as kernel_ranks
from bioeval.labels import _plain
from bioeval.scores import GENUINE, IMPOSTOR, PairScores, Scores
from bioeval.tallies import (
    About,
    CellCounts,
    IdentificationTally,
    TaskTally,
    ThresholdCounts,
    VerificationTally,
)
from bioeval.thresholds import check_thresholds, linear_grid, to_internal, with_infinities

RANK_UNITS = ("template", "subject")
TEMPLATES = ("single", "multi")
UNENROLLED_CLAIMS = ("raise", "skip")

# Places of the guide into the user's thresholds.
GUIDE = 1 << 12


class Job(Protocol):
    """Counts the attempts of one task, block by block."""

    def add(self, block: Block) -> None:
        """Count the attempts of a block of rows."""

    def result(self) -> TaskTally:
        """Return what was counted."""


def count(
    scores: Scores, jobs: Sequence[Job], reader: BlockReader, progress: Progress | None = None
) -> list[TaskTally]:
    """Run jobs over one sweep of the scores and return their tallies, in order."""
    for block in reader.blocks(progress):
        for job in jobs:
            job.add(block)
    return [job.result() for job in jobs]


def describe(scores: Scores) -> About:
    """Say where the counts of these scores come from."""
    pairs = isinstance(scores, PairScores)
    if pairs or not scores.labelled:
        probe_subjects = gallery_subjects = np.empty(0)
    else:
        probe_subjects = scores.codes.values[np.unique(scores.codes.probe)]
        gallery_subjects = np.unique(scores.codes.gallery)
    return About(
        name=scores.name or "",
        layout=scores.layout,
        kind=scores.kind,
        nan=scores.nan,
        probes=scores.shape[0],
        gallery_templates=0 if pairs else scores.shape[1],
        gallery_subjects=len(gallery_subjects),
        probe_subjects=frozenset(map(repr, probe_subjects.tolist())),
        fingerprints=(scores.fingerprint,),
        notes=tuple(_notes(scores)),
    )


def _notes(scores: Scores) -> list[str]:
    """Remark on what is legal but often a mistake."""
    notes: list[str] = []
    if isinstance(scores, PairScores) or not scores.labelled:
        return notes
    probe, gallery = scores.codes.probe, scores.codes.gallery
    if scores.layout == "probe-against-gallery":
        if not np.isin(probe, gallery).any():
            notes.append(
                "no probe's subject is in the gallery; check that both sides use the same labels "
                f"(probe labels are {scores.probe_labels.dtype}, gallery labels "
                f"{scores.gallery_labels.dtype})"
            )
        elif not np.isin(scores.probe_ids, scores.gallery_ids).any() and np.array_equal(
            probe, gallery
        ):
            notes.append(
                "probe and gallery labels are the same list; if these are the same templates, "
                "leave gallery_labels out so that no template is compared with itself"
            )
    if scores.layout == "all-against-all":
        sessions = scores.probe_meta.get("session")
        if sessions is not None and len(np.unique(sessions.astype(str))) > 1:
            notes.append(
                "templates of several sessions: pairs of the same session are counted too, and "
                "flatter the system"
            )
    return notes


# ------------------------------------------------------------------------- impostor counts


def _tables(width: int) -> np.ndarray:
    return np.zeros((numba.get_num_threads(), width), dtype=np.int64)


class CellCounter:
    """Counts scores into cells that widen as the range of the scores is seen."""

    def __init__(self) -> None:
        self.cells = CellCounts()

    def add(self, values: np.ndarray, own_start: np.ndarray, own_stop: np.ndarray) -> None:
        """Count the finite and infinite scores of a block, the rows' own subjects left out."""
        low, high = np.empty(len(values)), np.empty(len(values))
        kernel_count.finite_range(values, own_start, own_stop, low, high)
        smallest, largest = float(low.min()), float(high.max())
        if smallest < self.cells.low or largest > self.cells.high:
            self.cells = self.cells.widened(smallest, largest)
        cells = self.cells
        tables, infinite = _tables(len(cells.counts)), _tables(2)
        kernel_count.count_cells(
            values, own_start, own_stop, 2.0**cells.exponent, 2.0**-cells.exponent, cells.first,
            tables, infinite,
        )  # fmt: skip
        cells.counts += tables.sum(axis=0)
        cells.negative_infinite += int(infinite[:, 0].sum())
        cells.positive_infinite += int(infinite[:, 1].sum())

    def result(self) -> CellCounts:
        """Return the counts."""
        return self.cells


class ThresholdCounter:
    """Counts scores between given thresholds (internal, increasing)."""

    def __init__(self, thresholds: np.ndarray):
        self.thresholds = thresholds
        self.counts = np.zeros(len(thresholds) + 1, dtype=np.int64)
        self.base, self.scale, self.guide = _guide(thresholds)

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


def _guide(thresholds: np.ndarray) -> tuple[float, float, np.ndarray]:
    """Return base, scale and first threshold of each place; see ``count_thresholds``."""
    finite = thresholds[np.isfinite(thresholds)]
    base = float(finite[0]) if len(finite) else 0.0
    with np.errstate(all="ignore"):
        scale = float(np.float64(GUIDE - 1) / (finite[-1] - base)) if len(finite) > 1 else 1.0
        places = (thresholds - base) * scale
    if not np.isfinite(scale):
        scale, places = 0.0, np.zeros(len(thresholds))
    places = np.where(places > 0, np.minimum(places, GUIDE - 1), 0).astype(np.int64)
    return base, scale, np.searchsorted(places, np.arange(GUIDE + 1))


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
        self.claims = None
        self.skipped = 0
        if claims is not None:
            self.claims, self.skipped = parse_claims(scores, reader, claims, unenrolled_claims)
        self.genuine: list[np.ndarray] = []
        given = check_thresholds(thresholds)
        self.requested = given if isinstance(given, int) else None
        if isinstance(given, int):
            low, high, infinite = self._range(reader)
            grid = with_infinities(linear_grid(low, high, given), infinite[0], infinite[1])
            self.counter: CellCounter | ThresholdCounter = ThresholdCounter(grid)
        elif given is not None:
            self.counter = ThresholdCounter(to_internal(given, scores.kind))
        else:
            self.counter = CellCounter()

    def _range(self, reader: BlockReader) -> tuple[float, float, tuple[bool, bool]]:
        """Find the range of all attempts in a pass of its own, for a given number of thresholds."""
        self.counter = CellCounter()
        first = self.about_and_count(reader)
        self.genuine = []
        cells, genuine = first.impostor, first.genuine
        assert isinstance(cells, CellCounts)
        finite = genuine[np.isfinite(genuine)]
        low = min([cells.low, *finite[:1].tolist()])
        high = max([cells.high, *finite[-1:].tolist()])
        infinite = (
            cells.negative_infinite > 0 or bool((genuine == -np.inf).any()),
            cells.positive_infinite > 0 or bool((genuine == np.inf).any()),
        )
        return low, high, infinite

    def about_and_count(self, reader: BlockReader) -> VerificationTally:
        """Count everything in a sweep of its own."""
        if isinstance(self.scores, PairScores):
            self.add_pairs()
        else:
            for block in reader:
                self.add(block)
        return self.result()

    def add_pairs(self) -> None:
        """Count fixed trials."""
        scores = self.scores
        assert isinstance(scores, PairScores)
        row = as_row(scores.values, scores.kind, scores.nan)[0]
        self._add_values(row[scores.genuine], row[~scores.genuine])

    def add(self, block: Block) -> None:
        """Count the attempts of a block of rows."""
        if not self.scores.labelled:
            self._add_masked(block)
            return
        if self.templates == "multi":
            block = block.fused(self.fusion)
        if self.claims is not None:
            self._add_claims(block)
            return
        self.counter.add(block.values, block.own_start, block.own_stop)
        out = np.empty(int((block.own_stop - block.own_start).sum()), dtype=block.values.dtype)
        filled = kernel_count.gather_own(
            block.values, block.own_start, block.own_stop, block.self_position, out
        )
        self.genuine.append(out[:filled])

    def _add_masked(self, block: Block) -> None:
        for row, mask in zip(block.values, block.mask):  # type: ignore[arg-type]
            self._add_values(row[mask == GENUINE], row[mask == IMPOSTOR])

    def _add_claims(self, block: Block) -> None:
        assert self.claims is not None
        probes, subjects = self.claims
        low, high = np.searchsorted(probes, [block.low, block.low + len(block.values)])
        rows, groups = probes[low:high] - block.low, subjects[low:high]
        sizes = np.diff(block.starts)[groups]
        dtype = block.values.dtype
        genuine, impostor = np.empty(sizes.sum(), dtype), np.empty(sizes.sum(), dtype)
        g, i = kernel_count.gather_claims(
            block.values, block.starts, block.self_position, rows, groups, block.own,
            genuine, impostor,
        )  # fmt: skip
        self._add_values(genuine[:g], impostor[:i])

    def _add_values(self, genuine: np.ndarray, impostor: np.ndarray) -> None:
        self.genuine.append(genuine[genuine == genuine])
        if len(impostor):
            none = np.zeros(1, dtype=np.int64)
            self.counter.add(np.ascontiguousarray(impostor)[None], none, none)

    def result(self) -> VerificationTally:
        """Return the tally."""
        genuine = np.concatenate(self.genuine) if self.genuine else np.empty(0)
        return VerificationTally(
            about=describe(self.scores),
            templates=self.templates,
            fusion=self.fusion if self.templates == "multi" else "none",
            claims="all" if self.claims is None else "explicit",
            genuine=np.sort(genuine),
            impostor=self.counter.result(),
            skipped_claims=self.skipped,
            requested=self.requested,
        )


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
    labels = np.empty(len(subjects), dtype=object)
    labels[:] = [_plain(x) for x in subjects]
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
            f"claim {i}: probe {int(probes[i])} claims {labels[i]!r}."
            f'{scores.codes.nearest(labels[i])} unenrolled_claims="skip" leaves them out and '
            "counts them"
        )
    probes, groups = probes[~missing], groups[~missing]
    order = np.argsort(probes, kind="stable")
    return (probes[order].astype(np.int64), groups[order]), int(missing.sum())


def require_values(scores: Scores, task: str) -> None:
    """Raise :class:`ProtocolError` where thresholds across rows mean nothing."""
    if scores.kind == "order":
        raise ProtocolError(
            f"{task} compares scores of different rows with one threshold, but these scores hold "
            'only the order within each row (kind="order"); closed_set and ranks can use them'
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
        self.scores, self.reader = scores, reader
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
            about=describe(self.scores),
            rank_unit=self.rank_unit,
            fusion=self.fusion if self.rank_unit == "subject" else "none",
            enrolled=self.reader.gallery.own >= 0,
            nearest_mate=self.nearest[0],
            nearest_other=self.nearest[1],
            **self.facts,
        )

"""Counts over galleries with one template of each subject: exact means over all of them.

Each of a probe's usable mates is enrolled with equal chance, and of each other subject one usable
template. A template is usable if its comparison with the probe is an attempt (not NaN)::

    for a in mates of the probe:  # each is enrolled with chance 1 / mates
        p = [templates of s closer than a / templates of s for s in other subjects]
        chance of rank k += PB(k - 1; p) / mates  # PB: k - 1 successes in trials of chances p
    for t in thresholds:
        F = [templates of s within t / templates of s for s in other subjects]
        chance that a non-mate is accepted = 1 - product of (1 - F)

With mates at the distances 1 and 3, and one template of another subject at 2, the chance of rank 1
is 0.5, and so is that of rank 2. The compiled loops are in `kernels/single_template.py`; here the
chances of all probes are added up, for :mod:`bioeval.tasks.single_template_counts`
(:func:`count_single_templates`), or returned for each probe (:func:`chances_of_shots`). Both read
the probes in batches (:class:`ProbeBatch`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from bioeval.counting.grids import grid_over, guide_to
from bioeval.counting.order import runs
from bioeval.counting.reduce import Extent, reduce
from bioeval.counting.thresholds import CurveThresholds, to_internal
from bioeval.counting.ties import ENDS
from bioeval.kernels import single_template as kernel
from bioeval.protocol.tasks import Ties
from bioeval.scores.blocks import Block
from bioeval.scores.matrix import Scores
from bioeval.scores.people import are_enrolled, people_of_probes
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import among_distances, blocks_of, threads_for

# How many chances are computed together, so that memory does not grow with the ranks.
TILE_CHANCES = 1 << 20

POLICY = {
    "optimistic": kernel.OPTIMISTIC,
    "pessimistic": kernel.PESSIMISTIC,
    "stable": kernel.STABLE,
    "expected": kernel.EXPECTED,
}

# The rows of `SingleTemplateCounts.within`. The first two are the chance that a template of another
# subject is within the threshold, of enrolled and of other probes; `TARGET` that a template of any
# subject is, and `MATE` that the probe's mate is, both of enrolled probes.
ENROLLED, UNENROLLED, TARGET, MATE = range(4)


@dataclass(frozen=True, eq=False)
class SingleTemplateCounts:
    """Numbers of probes, and sums of chances over probes.

    A probe is enrolled if its subject is in the gallery, and mated if one of its mates is usable.
    Sums have a first axis of 2 (:func:`add_chances`); :func:`sums_of` returns them as float64.
    """

    about: Provenance
    ties: Ties
    thresholds: np.ndarray  # (t,): increasing distances; empty if only ranks are counted
    targets: int  # enrolled probes
    non_targets: int  # other probes
    genuine: int  # mated probes
    unmated: int  # other probes
    unmated_targets: int  # enrolled probes that are not mated
    unmated_people: int  # probes of known people that are not mated
    first_unmated: int  # the first of these probes; -1 if there is none
    impostors_enrolled: int  # enrolled probes with a usable template of another subject
    impostors_unenrolled: int  # other probes with one
    #: (2, t + 1, ranks): mates, by the first threshold that they are within, and by rank. The last
    #: row has the mates beyond all thresholds.
    at_ranks: np.ndarray
    #: The same under pessimistic and under optimistic ties; empty if there are no ties.
    at_ends: list[np.ndarray]
    tied: np.ndarray  # (2, 1, 1): mates with a template of another subject exactly as close
    within: np.ndarray  # (2, 4, t): rows `ENROLLED` to `MATE`


def count_single_templates(
    scores: Scores, *, ties: Ties, thresholds: np.ndarray, ranks: int
) -> SingleTemplateCounts:
    """Count ranks up to `ranks`, and what is within each of `thresholds` (increasing distances)."""
    about = Provenance.from_scores(scores).searching(scores)
    probes = scores.shape[0]
    is_enrolled = are_enrolled(scores)
    is_mated = np.zeros(probes, dtype=bool)
    has_competitor = np.zeros(probes, dtype=bool)  # a usable template of another subject
    limits = among_distances(scores, thresholds)
    grid = kernel.Grid(limits, *guide_to(limits))
    log_steps = _log_steps(int(np.diff(scores.gallery_order.starts).max()))
    rank_sums = _RankSums(scores, ties, limits, ranks)
    within = np.zeros((2, 4, len(thresholds)), dtype=np.int64)
    with threads_for(scores):
        for block in blocks_of(scores):
            for batch in batches_of(scores, block, ranks, len(thresholds)):
                is_mated[batch.probes] = rank_sums.add(batch)
                if len(thresholds):
                    has_competitor[batch.probes] = _add_within(
                        within, batch, is_enrolled[batch.probes], grid, log_steps
                    )
    is_unmated_person = ~is_mated & (people_of_probes(scores) >= 0)
    return SingleTemplateCounts(
        about=about,
        ties=ties,
        thresholds=thresholds,
        targets=int(is_enrolled.sum()),
        non_targets=int((~is_enrolled).sum()),
        genuine=int(is_mated.sum()),
        unmated=int((~is_mated).sum()),
        unmated_targets=int((~is_mated & is_enrolled).sum()),
        unmated_people=int(is_unmated_person.sum()),
        first_unmated=int(np.argmax(is_unmated_person)) if is_unmated_person.any() else -1,
        impostors_enrolled=int((has_competitor & is_enrolled).sum()),
        impostors_unenrolled=int((has_competitor & ~is_enrolled).sum()),
        at_ranks=rank_sums.at_ranks,
        at_ends=rank_sums.at_ends,
        tied=rank_sums.tied,
        within=within,
    )


class _RankSums:
    """The sums over mates of :class:`SingleTemplateCounts`, to which batches are added."""

    def __init__(self, scores: Scores, ties: Ties, limits: np.ndarray, ranks: int):
        self.ties, self.limits, self.ranks = ties, limits, ranks
        self.rejects_failed = scores.nan == "reject"
        # Only expected ties are integrated over the mate's place among the tied subjects.
        self.rules = _gauss_legendre_rules(
            len(scores.gallery_order.subjects) if ties == "expected" else 0
        )
        self.at_ranks = np.zeros((2, len(limits) + 1, ranks), dtype=np.int64)
        self.at_ends: list[np.ndarray] = []
        self.tied = np.zeros((2, 1, 1), dtype=np.int64)

    def add(self, batch: ProbeBatch) -> np.ndarray:
        """Add the mates of a batch, and return which of its probes have a usable mate."""
        ranked = batch.rank_mates(self.ties, self.rules, self.ranks)
        is_usable = ~np.isnan(ranked.distance)
        # A mate whose comparison failed is at no rank.
        is_failed = (ranked.distance == np.inf) & self.rejects_failed
        has_rank = is_usable & ~is_failed
        threshold_index = np.searchsorted(self.limits, ranked.distance)
        has_ties = bool(ranked.tied[is_usable].any())
        # Without ties, the chances are the same under each policy. So far they were, if this is the
        # first batch with ties: the sums under the two other policies start as copies.
        if has_ties and not self.at_ends:
            self.at_ends = [self.at_ranks.copy() for _ in ENDS]
        add_chances(self.at_ranks, ranked.chance, threshold_index, has_rank)
        add_chances(self.tied, ranked.tied[:, None], 0, is_usable)
        for ties_at_end, sums in zip(ENDS, self.at_ends, strict=False):
            if has_ties:
                ranked = batch.rank_mates(ties_at_end, self.rules, self.ranks)
            add_chances(sums, ranked.chance, threshold_index, has_rank)
        is_mated = np.zeros(len(batch.mates), dtype=bool)
        is_mated[batch.row_of_mate[is_usable]] = True
        return is_mated


def _add_within(
    within: np.ndarray,
    batch: ProbeBatch,
    is_enrolled: np.ndarray,
    grid: kernel.Grid,
    log_steps: np.ndarray,
) -> np.ndarray:
    """Add the chances of a batch's probes to `within`; return which probes have competitors."""
    probes, thresholds = len(batch.usable), len(grid.thresholds)
    chances = kernel.Chances(
        anyone=np.empty((probes, thresholds)),
        oneself=np.empty((probes, thresholds)),
        competitors=np.empty(probes, dtype=np.int64),
    )
    kernel.within_chances(batch.block, batch.usable, grid, log_steps, chances)  # fills `chances`
    non_mate, mate = chances.anyone, chances.oneself
    any_subject = non_mate + (1.0 - non_mate) * mate
    add_chances(within, non_mate, ENROLLED, is_enrolled)
    add_chances(within, non_mate, UNENROLLED, ~is_enrolled)
    add_chances(within, any_subject, TARGET, is_enrolled)
    add_chances(within, mate, MATE, is_enrolled)
    return chances.competitors > 0


def _log_steps(most_templates: int) -> np.ndarray:
    """Return ``log(1 - 1 / n)`` for n up to `most_templates`, and -inf for n < 2.

    If a subject has n templates beyond a threshold, one more template within it adds this to the
    logarithm of the chance that the subject's enrolled template is beyond it.
    """
    templates_beyond = np.arange(most_templates + 1)
    steps = np.full(len(templates_beyond), -np.inf)
    steps[2:] = np.log1p(-1.0 / templates_beyond[2:])
    return steps


def chances_of_shots(scores: Scores, ranks: int, ties: Ties) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance of each rank of a probe's mate, over galleries of one template a subject.

    The first array, float64 (m, ranks), is under a policy of ties, the second (m, 2, ranks) under
    pessimistic and optimistic ties. Each mate of a probe is enrolled with the same chance.
    """
    rules = _gauss_legendre_rules(len(scores.gallery_order.subjects))
    at_rank = np.zeros((scores.shape[0], ranks))
    at_ends = np.zeros((scores.shape[0], len(ENDS), ranks))
    with threads_for(scores):
        for block in blocks_of(scores, reported=False):
            for batch in batches_of(scores, block, ranks, 0):
                probe = batch.probes.start + batch.row_of_mate
                ranked = batch.rank_mates(ties, rules, ranks)
                has_ties = ranked.tied.any()
                np.add.at(at_rank, probe, ranked.chance)
                for end, ties_at_end in enumerate(ENDS):
                    if has_ties:
                        ranked = batch.rank_mates(ties_at_end, rules, ranks)
                    np.add.at(at_ends[:, end], probe, ranked.chance)
    return at_rank, at_ends


# ------------------------------------------------------------------------------ batches of probes


class ProbeBatch(NamedTuple):
    """The b probes of some rows of a block, so few that their chances fit into memory."""

    probes: slice  # of the scores
    block: kernel.GroupedBlock  # their distances, with the templates of a subject side by side
    usable: np.ndarray  # int64 (b, groups): usable templates of each subject
    mates: np.ndarray  # int64 (b,): mates of each probe, usable or not

    @property
    def row_of_mate(self) -> np.ndarray:
        """The row of the batch that each mate belongs to."""
        return np.repeat(np.arange(len(self.mates)), self.mates)

    def rank_mates(self, ties: Ties, rules: kernel.Rules, ranks: int) -> kernel.ExpectedRanks:
        """Return the chances of the first `ranks` ranks of all mates, probe by probe."""
        first = np.concatenate([[0], np.cumsum(self.mates)])
        mates = first[-1]
        ranked = kernel.ExpectedRanks(
            first, distance=np.empty(mates), tied=np.empty(mates), chance=np.empty((mates, ranks))
        )
        kernel.rank_chances(self.block, self.usable, POLICY[ties], rules, ranked)  # fills `ranked`
        return ranked


def batches_of(scores: Scores, block: Block, ranks: int, thresholds: int) -> Iterator[ProbeBatch]:
    """Yield the probes of a block of whole rows in batches, for so many ranks and thresholds."""
    gallery = scores.gallery_order
    mates = gallery.mate_stop[block.probes] - gallery.mate_start[block.probes]
    # The first row of each batch, and the end.
    bounds = [0]
    chances = 0
    for row, mates_of_row in enumerate(mates.tolist()):
        needed = mates_of_row * ranks + 3 * thresholds
        if row > bounds[-1] and chances + needed > TILE_CHANCES:
            bounds.append(row)
            chances = 0
        chances += needed
    for low, high in itertools.pairwise([*bounds, len(mates)]):
        probes = slice(block.order + low, block.order + high)  # `order` is the block's first row
        values = block.values[low:high].astype(np.float64, copy=False)
        starts = gallery.starts
        usable = np.add.reduceat(~np.isnan(values), starts[:-1], axis=1, dtype=np.int64)
        grouped = kernel.GroupedBlock(
            values, block.candidates, starts, group=gallery.probe_group[probes]
        )
        yield ProbeBatch(probes, grouped, usable, mates[low:high])


# ---------------------------------------------------------------------------------- sums of chances

# Floats would add up to another sum in another order. A chance is therefore rounded to a multiple
# of 2**-60, and kept as high * 2**-30 + low * 2**-60, two whole numbers: `low` is below 2**30, so
# that int64 holds the sums of fewer than 2**33 chances.
BITS = 30


def add_chances(
    sums: np.ndarray, chances: np.ndarray, rows: np.ndarray | int, is_counted: np.ndarray
) -> None:
    """Add some rows of `chances` (n, k) to `sums`, int64 (2, r, k): high and low parts.

    `rows` is the row of `sums` that each is added to; only those with `is_counted` are added.
    """
    counted = np.flatnonzero(is_counted)
    if len(counted) == 0:
        return
    row = np.broadcast_to(rows, len(chances))[counted]
    # Sorted by row: the chances of a row are side by side, and added at once.
    order = np.argsort(row, kind="stable")
    distinct_rows, bounds = runs(row[order])
    multiples = np.rint(chances[counted[order]] * 2.0 ** (2 * BITS)).astype(np.int64)
    low_bits = (1 << BITS) - 1
    sums[0, distinct_rows] += np.add.reduceat(multiples >> BITS, bounds[:-1], axis=0)
    sums[1, distinct_rows] += np.add.reduceat(multiples & low_bits, bounds[:-1], axis=0)


def sums_of(sums: np.ndarray) -> np.ndarray:
    """Return the sums of chances that :func:`add_chances` wrote, as float64, rounded once."""
    high, low = sums
    carry, remainder = np.divmod(low, 1 << BITS)
    return remainder * 2.0 ** (-2 * BITS) + (high + carry) * 2.0**-BITS


@lru_cache(maxsize=8)
def _gauss_legendre_rules(subjects: int) -> kernel.Rules:
    """Return quadrature rules on (0, 1) for up to `subjects` tied subjects.

    With m tied subjects, the kernel integrates a polynomial of degree m. A rule of n nodes is exact
    up to degree 2n - 1; of many subjects the polynomial is so smooth that fewer nodes give all
    digits (`add_ranks` in the kernel takes the first rule with as many nodes as it needs). The
    sizes of rules grow by a quarter, so that few are stored.
    """
    from scipy.special import roots_legendre

    largest = min(subjects // 2 + 1, 16 + int(6.0 * np.sqrt(subjects)))
    sizes = [1]
    while sizes[-1] < largest:
        sizes.append(max(sizes[-1] + 1, sizes[-1] * 5 // 4))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    nodes = np.empty(starts[-1])
    weights = np.empty(starts[-1])
    for low, high in itertools.pairwise(starts.tolist()):
        roots, root_weights = roots_legendre(high - low)
        nodes[low:high] = (roots + 1.0) / 2.0
        weights[low:high] = root_weights / root_weights.sum()
    return kernel.Rules(np.array(sizes), starts, nodes, weights)


# --------------------------------------------------------------------------------------- thresholds


def thresholds_over(
    scores: Scores, requested_thresholds: CurveThresholds, count: int | None = None
) -> np.ndarray:
    """Return thresholds as increasing distances.

    They are the `requested_thresholds`, or a requested number of thresholds, or about `count`, from
    the smallest to the largest finite score, which takes a pass over all scores.
    """
    if isinstance(requested_thresholds, np.ndarray):
        return to_internal(requested_thresholds, scores.kind)
    (extent,) = reduce(scores, Extent())
    return grid_over(extent, number=requested_thresholds, count=count)

"""Counts over galleries with one template of each subject: exact means over all of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np

from bioeval.counting.grids import grid_over, guide_to
from bioeval.counting.order import runs
from bioeval.counting.reduce import Extent, reduce
from bioeval.counting.thresholds import CurveThresholds, to_internal
from bioeval.counting.ties import ENDS
from bioeval.kernels import single_template as kernel
from bioeval.kernels.single_template import Chances, Grid, within_chances
from bioeval.protocol.tasks import Ties
from bioeval.scores.blocks import Block
from bioeval.scores.matrix import Scores
from bioeval.scores.people import are_enrolled, people_of_probes
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import among_distances, blocks_of, threads_for


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


# How many chances are computed together, so that memory does not grow with the ranks.
TILE_CHANCES = 1 << 20

# Chances are added as multiples of 2**-60, in two whole numbers of 30 bits each, so that a sum does
# not depend on the order.
BITS = 30

POLICY = {
    "optimistic": kernel.OPTIMISTIC,
    "pessimistic": kernel.PESSIMISTIC,
    "stable": kernel.STABLE,
    "expected": kernel.EXPECTED,
}

# The rows of the sums over thresholds.
ENROLLED, UNENROLLED, TARGET, MATE = range(4)


def add_chances(sums: np.ndarray, chances: np.ndarray, rows: np.ndarray) -> None:
    """Add each row of `chances` to a row of `sums`, int64 (2, r, k); row -1: to none."""
    order = np.argsort(rows, kind="stable")
    order = order[rows[order].searchsorted(0) :]
    numbers, bounds = runs(rows[order])
    if len(numbers):
        chance = np.rint(chances[order] * 2.0 ** (2 * BITS)).astype(np.int64)
        sums[0, numbers] += np.add.reduceat(chance >> BITS, bounds[:-1], axis=0)
        sums[1, numbers] += np.add.reduceat(chance & ((1 << BITS) - 1), bounds[:-1], axis=0)


def sums_of(sums: np.ndarray) -> np.ndarray:
    """Return the sums of chances that :func:`add_chances` wrote, as float64, rounded once."""
    carry, remainder = np.divmod(sums[1], 1 << BITS)
    return remainder * 2.0 ** (-2 * BITS) + (sums[0] + carry) * 2.0**-BITS


class SingleTemplateCounts:
    """Expected counts over all galleries of one template of each subject, as exact sums.

    Each of a probe's mates a is enrolled with equal chance. Then subject s is before a with the
    chance ``p_s``, the proportion of its templates closer than a, and the chance of rank k is the
    mean over a of the Poisson-binomial probability ``PB(k - 1; p_1, p_2, ...)``. An impostor is
    accepted at threshold t with the chance ``1 - prod_s (1 - F_s(t))``, where ``F_s(t)`` is the
    proportion of the templates of s within t. Without `thresholds` (increasing distances), only
    ranks are counted. Arrays of :func:`add_chances` have a first axis of 2.
    """

    genuine = 0  # probes with a usable mate
    unmated = 0  # probes without a usable mate
    unmated_targets = 0  # enrolled probes without a usable mate
    targets = 0  # enrolled probes
    non_targets = 0  # other probes
    impostors_enrolled = 0  # enrolled probes with a usable template of another subject
    impostors_unenrolled = 0  # other probes with a usable template
    unmated_people = 0  # probes of known people without a usable mate
    first_unmated = -1  # the first of these probes

    def __init__(self, scores: Scores, *, ties: Ties, thresholds: np.ndarray, ranks: int):
        self.scores, self.ties, self.thresholds, self.ranks = scores, ties, thresholds, ranks
        self.about = Provenance.from_scores(scores).searching(scores)
        self._enrolled = are_enrolled(scores)
        self._is_of_person = people_of_probes(scores) >= 0
        count = len(thresholds)
        #: (2, t + 1, ranks): genuine attempts by the first threshold not below their mate, and by
        #: rank.
        self.di = np.zeros((2, count + 1, ranks), dtype=np.int64)
        #: The sums of `di` under pessimistic and under optimistic ties; empty without ties.
        self.at_ends: list[np.ndarray] = []
        #: (2, 1, 1): genuine attempts with a non-mate exactly as close.
        self.tied = np.zeros((2, 1, 1), dtype=np.int64)
        #: (2, 4, t): rows `ENROLLED` to `MATE`, of probes with a template within each threshold: a
        #: template of another subject, for enrolled and for unenrolled probes; of any subject, and
        #: of their own subject, for enrolled probes.
        self.within = np.zeros((2, 4, count), dtype=np.int64)
        self._limits = among_distances(scores, thresholds)
        self._grid = Grid(self._limits, *guide_to(self._limits))
        most_tied = len(scores.gallery_order.subjects) if ties == "expected" else 0
        self._rules = _gauss_legendre_rules(most_tied)
        # ``log(1 - 1 / n)`` by the number n of a subject's templates beyond a threshold: one more
        # template within it adds this to the logarithm of the chance that the subject's template
        # in the gallery is beyond it; -inf for the last template (n < 2).
        templates_left = np.arange(int(np.diff(scores.gallery_order.starts).max()) + 1)
        self._steps = np.full(len(templates_left), -np.inf)
        self._steps[2:] = np.log1p(-1.0 / templates_left[2:])

    def count(self) -> Self:
        with threads_for(self.scores):
            for block in blocks_of(self.scores):
                self.add(block)
        return self

    def add(self, block: Block) -> None:
        enrolled = self._enrolled[block.probes]
        self.targets += int(enrolled.sum())
        self.non_targets += int((~enrolled).sum())
        for batch in batches_of(self.scores, block, self.ranks, len(self.thresholds)):
            is_enrolled = enrolled[batch.rows]
            self._rank(batch, is_enrolled, block.order + batch.rows.start)
            if len(self.thresholds):
                self._within(batch, is_enrolled)

    def _rank(self, batch: ProbeBatch, enrolled: np.ndarray, first_probe: int) -> None:
        ranks = batch.unwritten_ranks(self.ranks)
        batch.rank(self.ties, self._rules, ranks)
        is_mate = ~np.isnan(ranks.distance)
        # A mate whose comparison failed is at no rank.
        failed = (ranks.distance == np.inf) & (self.scores.nan == "reject")
        ranks.chance[failed] = 0.0
        threshold_index = np.where(is_mate, np.searchsorted(self._limits, ranks.distance), -1)
        has_ties = bool(ranks.tied[is_mate].any())
        # Without ties, the chances under pessimistic and optimistic ties equal the chances in `di`.
        # Their sums are kept from the first block with ties on, and begin as copies of `di`.
        if has_ties and not self.at_ends:
            self.at_ends.extend(self.di.copy() for _ in ENDS)
        add_chances(self.di, ranks.chance, threshold_index)
        for ties, sums in zip(ENDS, self.at_ends, strict=False):
            if has_ties:
                batch.rank(ties, self._rules, ranks)
                ranks.chance[failed] = 0.0
            add_chances(sums, ranks.chance, threshold_index)
        add_chances(self.tied, ranks.tied[:, None], np.where(is_mate, 0, -1))
        is_mated = np.zeros(len(batch.mates), dtype=bool)
        is_mated[batch.row_of_mate[is_mate]] = True
        self.genuine += int(is_mated.sum())
        self.unmated += int((~is_mated).sum())
        self.unmated_targets += int((~is_mated & enrolled).sum())
        is_of_person = self._is_of_person[first_probe : first_probe + len(is_mated)]
        is_unmated_person = ~is_mated & is_of_person
        self.unmated_people += int(is_unmated_person.sum())
        if self.first_unmated < 0 and is_unmated_person.any():
            self.first_unmated = first_probe + int(np.argmax(is_unmated_person))

    def _within(self, batch: ProbeBatch, enrolled: np.ndarray) -> None:
        shape = (len(batch.usable), len(self.thresholds))
        chances = Chances(
            anyone=np.empty(shape),
            oneself=np.empty(shape),
            competitors=np.empty(len(batch.usable), dtype=np.int64),
        )
        within_chances(batch.block, batch.usable, self._grid, self._steps, chances)
        anyone, oneself, competitors = chances
        self.impostors_enrolled += int((enrolled & (competitors > 0)).sum())
        self.impostors_unenrolled += int((~enrolled & (competitors > 0)).sum())
        any_subject = anyone + (1.0 - anyone) * oneself
        add_chances(self.within, anyone, np.where(enrolled, ENROLLED, UNENROLLED))
        add_chances(self.within, any_subject, np.where(enrolled, TARGET, -1))
        add_chances(self.within, oneself, np.where(enrolled, MATE, -1))


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
                probe = block.probes[batch.rows][batch.row_of_mate]
                ranks_of_mates = batch.unwritten_ranks(ranks)
                batch.rank(ties, rules, ranks_of_mates)
                has_ties = ranks_of_mates.tied.any()
                np.add.at(at_rank, probe, ranks_of_mates.chance)
                for end, ties_at_end in enumerate(ENDS):
                    if has_ties:
                        batch.rank(ties_at_end, rules, ranks_of_mates)
                    np.add.at(at_ends[:, end], probe, ranks_of_mates.chance)
    return at_rank, at_ends


class ProbeBatch(NamedTuple):
    """Some probes of a block, so few that the chances of their mates fit into memory."""

    rows: slice  # of the block
    block: kernel.GroupedBlock
    usable: np.ndarray  # int64 (b, groups): usable templates of each subject
    mates: np.ndarray  # int64 (b,): the number of mates of each probe

    @property
    def row_of_mate(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.mates)), self.mates)

    def unwritten_ranks(self, ranks: int) -> kernel.ExpectedRanks:
        first = np.concatenate([[0], np.cumsum(self.mates)])
        chance = np.empty((first[-1], ranks))
        return kernel.ExpectedRanks(first, np.empty(first[-1]), np.empty(first[-1]), chance)

    def rank(self, ties: Ties, rules: kernel.Rules, ranks: kernel.ExpectedRanks) -> None:
        """Write the ranks of mates under a policy of ties."""
        kernel.rank_chances(self.block, self.usable, POLICY[ties], rules, ranks)


def batches_of(scores: Scores, block: Block, ranks: int, thresholds: int) -> Iterator[ProbeBatch]:
    """Yield the probes of a block in batches, for so many ranks and thresholds."""
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
    for first, stop in itertools.pairwise([*bounds, len(mates)]):
        rows = slice(first, stop)
        values = block.values[rows].astype(np.float64, copy=False)
        group = gallery.probe_group[block.probes[rows]]
        starts = gallery.starts
        usable = np.add.reduceat(~np.isnan(values), starts[:-1], axis=1, dtype=np.int64)
        grouped = kernel.GroupedBlock(values, block.candidates, starts, group)
        yield ProbeBatch(rows, grouped, usable, mates[rows])


@lru_cache(maxsize=8)
def _gauss_legendre_rules(subjects: int) -> kernel.Rules:
    """Return quadrature rules on (0, 1) for up to `subjects` tied subjects.

    Their sizes grow by a quarter, so that few rules are stored; `kernel.add_ranks` says how many
    nodes a mate needs.
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

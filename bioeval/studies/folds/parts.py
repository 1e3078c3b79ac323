"""The attempts of a part of the scores, read once for all tasks; many are counted together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bioeval import partition
from bioeval.attempts.counts import IdentificationTally
from bioeval.attempts.finding import PointsWanted
from bioeval.attempts.folds import FoldAttempts, Subset
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.lists import Attempts
from bioeval.attempts.passes import count_together
from bioeval.attempts.points import normalised_cost
from bioeval.attempts.selections import (
    IdentificationRules,
    IndexSet,
    OrderedScores,
    SelectionAttempts,
    packed,
)
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.errors import DataError
from bioeval.results.identification import OpenSetPoints
from bioeval.scores.blocks import Block, BlockReader, threads_for
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.pairs import PairScores
from bioeval.scores.provenance import Provenance
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.splits import selected

# Cells of a part that is counted with others (of larger ones counting takes most of the time), and
# rows and columns of the parts that are looked at together.
CELLS, LOOKED_AT = 1 << 16, 1 << 20

# Cells of a part whose attempts are listed and sorted; a larger part is counted.
MOST_LISTED = 1 << 22

Points = dict[str, float | np.ndarray]

NOTHING = Attempts.listed(np.empty(0), np.empty(0))


def parts_of(
    scores: Scores, parts: Iterable[IndexSet], tasks: Sequence[FoldOptions], about: Provenance
) -> Iterator[FoldSide]:
    """Yield each part of a matrix, of rows and columns.

    Parts are counted together where they are small, and have as many cells as the matrix: to put
    its scores in order takes about as long.
    """
    rules = _rules(tasks)
    if math.prod(scores.shape) > OrderedScores.MOST or not OrderedScores.can_hold(scores):
        rules = None
    some: list[IndexSet] = []
    size = 0
    for part in parts:
        some.append(part)
        size += sum(map(len, part))
        if size >= LOOKED_AT:
            yield from _counted(scores, some, rules, about)
            some, size = [], 0
    yield from _counted(scores, some, rules, about)


def _counted(
    scores: Scores,
    parts: Sequence[IndexSet],
    rules: IdentificationRules | None,
    about: Provenance,
) -> Iterator[FoldSide]:
    """Yield some parts, those that are counted together with their attempts."""
    together = [part for part in parts if 0 < _cells(part) <= CELLS]
    attempts = iter(()) if rules is None else _attempts(scores, together, rules)
    for part in parts:
        counted = None
        if 0 < _cells(part) <= CELLS:
            counted = next(attempts, None)
        if counted is not None and counted.failed and scores.nan == "raise":
            counted = None
        yield FoldSide(scores, part, counted=counted, about=about)


def _cells(part: IndexSet) -> int:
    return math.prod(map(len, part))


def _rules(tasks: Sequence[FoldOptions]) -> IdentificationRules | None:
    """Return the rules of identification of tasks; None where they need another way of counting."""
    by_task = {options.task: options for options in tasks}
    for options in tasks:
        plain = options.ties in ("pessimistic", "optimistic") and options is by_task[options.task]
        if (
            options.fuses
            and options.fusion != "min"
            or options.task != "verification"
            and not plain
        ):
            return None
    if all(options.claims is not None for options in tasks):
        return None
    by_subject, ties_first = [False, False], [True, True]
    for place, task in enumerate(("open_set", "closed_set")):
        if task in by_task:
            by_subject[place] = by_task[task].fuses
            ties_first[place] = by_task[task].ties == "pessimistic"
    return IdentificationRules(tuple(by_subject), tuple(ties_first))


def _attempts(
    scores: Scores, parts: Sequence[IndexSet], rules: IdentificationRules
) -> Iterator[SelectionAttempts]:
    """Yield the attempts of parts, or nothing where their cells are fewer than the scores."""
    rows, columns, local = packed(parts)
    if len(rows) * len(columns) >= sum(map(_cells, parts)):
        return
    try:
        with threads_for(scores):
            ordered = OrderedScores.of(scores.select(rows, columns))
    except DataError:  # raised again where the parts are read
        return
    yield from ordered.attempts(local, rules)


@dataclass(frozen=True)
class Searched:
    """Identification attempts of one part.

    Of each genuine attempt the distance and the rank of the nearest mate, of each impostor attempt
    the distance of the nearest candidate; the number of probes without a mate, and of subjects in
    the gallery.
    """

    mate: np.ndarray
    ranks: np.ndarray
    other: np.ndarray
    skipped: int = 0
    gallery: int = 0

    def attempts(self) -> Attempts:
        """Return the attempts at rank 1; a mate at another rank is rejected at any threshold."""
        first = self.ranks == 1
        return Attempts.listed(self.mate[first], self.other, int((~first).sum()))

    def detected(self, threshold: float, ranks: np.ndarray) -> np.ndarray:
        """Return the genuine attempts accepted at each rank or better; none at NaN."""
        return ((self.mate <= threshold) & (self.ranks <= ranks[:, None])).sum(axis=1)

    def points(self, options: FoldOptions) -> Points:
        """Return the operating points of this part: EER and DIR at FAR, or CMS at rank 1."""
        number = len(self.mate)
        if options.task == "closed_set":
            return {"recognition_rate": (self.ranks == 1).sum() / number if number else math.nan}
        points = OpenSetPoints(self.mate, self.ranks, np.ones(number), number, np.sort(self.other))
        dir_, _ = points.at_far(options.targets, int(options.ranks[-1]))
        return {"eer": points.equal_error().eer, "dir_at_far": dir_[:, options.ranks - 1]}


def listed_attempts(scores: PairScores, index: np.ndarray) -> Attempts:
    """Return some pairs as attempts; failed comparisons are left out."""
    row = scores._distances()
    index = index[row[index] == row[index]]
    genuine = scores.genuine[index]
    return Attempts.listed(row[index[genuine]], row[index[~genuine]])


class _PartReader(BlockReader):
    """Reader of one part, without the checks that were made on the whole."""

    def look(self, low: int, values: np.ndarray) -> None:
        """Do nothing."""


class FoldSide:
    """One part of the scores: all of them, or some rows and columns; there may be none.

    Blocks of a part of at most `MOST_LISTED` cells are kept, so that every task finds them read.
    `counted` are its attempts where they were counted together with those of other parts.
    """

    def __init__(
        self,
        whole: Scores | None,
        places: IndexSet | None = None,
        *,
        counted: SelectionAttempts | None = None,
        about: Provenance | None = None,
    ):
        """Take a part; `about` is that of the whole."""
        self._whole, self._places = whole, places
        self.counted, self._about = counted, about
        self.claims: partition.DrawnClaims | None = None

    @cached_property
    def scores(self) -> Scores | None:
        """The scores of the part; None without probes or without a gallery."""
        if self._whole is None or self._places is None:
            return self._whole
        return selected(self._whole, self._places)

    @cached_property
    def reader(self) -> BlockReader:
        """The reader of this part."""
        assert self.scores is not None
        made = _PartReader(self.scores)
        if self._about is not None:  # what it is made of is the whole's, and costs to find out
            made.about = self._about
        return made

    def draw(self, sampler: partition.ClaimSampler, number: int, part: int) -> None:
        """Draw the claims that are its attempts."""
        if self.scores is not None:
            self.claims = sampler.draw(self.scores, number, part=part)

    @property
    def _is_listed(self) -> bool:
        """Whether its attempts of verification are few enough to be listed."""
        scores = self.scores
        return scores is None or self.claims is not None or math.prod(scores.shape) <= MOST_LISTED

    @cached_property
    def _kept(self) -> list[Block]:
        return list(self.reader)

    # -- verification

    def attempts(self, options: FoldOptions, rule: Rule) -> Attempts:
        """Return the attempts of verification; of a large part, as far as a rule needs them."""
        if self.counted is not None and self.claims is None:
            genuine, impostor = self.counted.places[options.templates]
            values = self.counted.values
            return Attempts.ordered(values[genuine], values[impostor])
        if self.scores is None:
            return NOTHING
        if are_pairs(self.scores):
            return listed_attempts(self.scores, np.arange(self.scores.shape[0]))
        if not self._is_listed:
            m, n = self.scores.shape
            in_one = np.zeros(m, dtype=np.int64), np.zeros(n, dtype=np.int64)
            whole = FoldAttempts(self.reader, options.templates, options.fusion, [in_one])
            return whole.of_parts([[Subset(0)]], rule)[0][0]
        counter = self._counter(options)
        genuine_blocks, impostor_blocks, strangers = [], [], [np.empty(0)]
        large = math.prod(self.scores.shape) > MOST_LISTED
        with threads_for(self.scores):
            for block in self.reader if large else self._kept:
                mated, impostors = counter.of_block(block)
                genuine_blocks.append(mated)
                impostor_blocks.append(impostors.reshape(-1))
                if counter.unenrolled_probes is not None:
                    strangers.append(counter.of_strangers(block))
        self._strangers = np.concatenate(strangers)
        return Attempts.listed(np.concatenate(genuine_blocks), np.concatenate(impostor_blocks))

    @property
    def unenrolled_probes(self) -> Attempts:
        """Attempts of drawn claims by probes who are not enrolled, found with the others."""
        return Attempts.listed(np.empty(0), getattr(self, "_strangers", np.empty(0)))

    def _counter(self, options: FoldOptions) -> VerificationCounter:
        return VerificationCounter(
            self.reader, templates=options.templates, fusion=options.fusion, claims=self.claims
        )

    def points(self, options: FoldOptions, attempts: Attempts) -> Points:
        """Return the operating points of verification of this part.

        Of `attempts`, unless some scores of these are not known.
        """
        targets, at_frr = options.targets, options.frr_targets
        costs = np.array([(prior, 1.0, 1.0) for prior in options.priors]).reshape(-1, 3)
        if attempts.marks is not None:
            if self.counted is not None or self._is_listed:
                attempts = self.attempts(options, options.rule)
            else:
                wanted = PointsWanted(targets, costs, True, frr_targets=at_frr)
                (tally,) = count_together(self.reader, [self._counter(options)], wanted)
                attempts = tally.attempts
        points: Points = {"eer": np.nan, "auc": np.nan, "frr_at_far": np.full(len(targets), np.nan)}
        if len(at_frr):
            points["far_at_frr"] = np.full(len(at_frr), np.nan)
        if len(costs):
            points["min_dcf"] = np.full(len(costs), np.nan)
        if attempts.defined:
            points = {"eer": attempts.equal_error().eer, "auc": attempts.auc()}
            points["frr_at_far"] = np.array([attempts.at_far(x)[0] for x in targets.tolist()])
            if len(at_frr):
                points["far_at_frr"] = np.array(
                    [attempts.far_at_frr(x)[0] for x in at_frr.tolist()]
                )
            if len(costs):
                points["min_dcf"] = normalised_cost(attempts.corners().least_costs(costs), costs)
        return points

    # -- identification

    def searched(self, options: FoldOptions) -> Searched:
        """Return the attempts of identification."""
        other, open_set = np.empty(0), options.task == "open_set"
        if self.counted is not None:
            ranks = self.counted.ranks[int(not open_set)]
            mated, gallery = ranks > 0, self.counted.subjects
            ranks, mate = ranks[mated], self.counted.mate[mated]
            if open_set:
                there = ~np.isnan(self.counted.other)
                enrolled = self.counted.enrolled
                other = self.counted.other[
                    IdentificationTally.of_role(there, enrolled, options.impostors)
                ]
        elif self.scores is None:
            return Searched(other, np.empty(0, dtype=np.int64), other)
        else:
            tally = self._ranked(options)
            mated, gallery = tally.mates > 0, len(self.reader.gallery.subjects)
            probes, places, _ = tally.rank_weights(np.flatnonzero(mated), options.ties)
            ranks, mate = np.rint(places).astype(np.int64), tally.mate[probes]
            if open_set:
                other = tally.other[tally.impostor_probes(options.impostors)]
        return Searched(mate, ranks, other, int((~mated).sum()), gallery)

    def _ranked(self, options: FoldOptions) -> IdentificationTally:
        """Return the ranks of all probes, for open and closed set."""
        key = options.rank_unit, options.fusion
        if key not in self._tallies:
            counter = IdentificationCounter(self.reader, options.search())
            if "_kept" in self.__dict__:
                with threads_for(self.reader.scores):
                    for block in self._kept:
                        counter.add(block)
                self._tallies[key] = counter.result()
            else:
                (self._tallies[key],) = count_together(self.reader, [counter])
        return self._tallies[key]

    @cached_property
    def _tallies(self) -> dict[tuple[str, str], IdentificationTally]:
        return {}
